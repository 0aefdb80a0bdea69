"""What kind of page it looks like: from the page alone, and never from whose page it is."""

from __future__ import annotations

from crawler.reading.kind import NAMES, kind_numbers, path_of
from crawler.reading.regions import settle
from crawler.reading.visible import shown_pairs
from crawler.reading.walk import walk

HOT = "".join(f'<li><a href="/q/{n}">How do I mend lamp number {n} of my collection?</a></li>' for n in range(4))
OTHER = "".join(
    f'<li><a href="/q/9{n}">A lamp that never was mended, and why it was not, part {n}</a></li>' for n in range(9)
)


def _numbers(html: str) -> dict[str, float]:
    tree = walk(html)
    return dict(zip(NAMES, kind_numbers(tree, settle(tree)), strict=True))


def test_the_kind_is_told_by_marks_path_and_declared_types() -> None:
    page = (
        '<head><link rel=canonical href="https://any.example/forum/thread-7"><meta property="og:type" content="website">'
        '<script type="application/ld+json">{"@type": "BreadcrumbList"}</script></head>'
        "<div class=comments><p>I mended it.</p></div><p>How did you?</p><pre>ls -l</pre>"
    )
    numbers = _numbers(page)
    told = [
        name
        for name in ("forum path", "docs path", "og website", "breadcrumb data", "faq data")
        if numbers[f"page: {name}"]
    ]
    assert told == ["forum path", "og website", "breadcrumb data"]
    assert 0 < numbers["page: comment share"] < 1
    assert 0 < numbers["page: pre"] < 1


def test_a_page_of_nothing_has_all_numbers() -> None:
    assert len(_numbers("")) == len(NAMES)


def test_of_an_address_only_the_path_counts() -> None:
    page = '<link rel=canonical href="https://{}/a">x'
    assert _numbers(page.format("forum.example")) == _numbers(page.format("docs.shop.example"))
    assert path_of("https://forum.example") == "/"
    assert path_of("") == ""


def test_E28_a_list_of_other_threads_is_no_pair() -> None:
    tree = walk(f"<main><h1>Lamps</h1></main><h4>Questions and answers</h4><ul>{HOT}{OTHER}</ul>")
    assert list(shown_pairs(tree, settle(tree))) == []
