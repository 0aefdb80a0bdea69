"""One page in, one Reading out."""

from __future__ import annotations

from crawler.reading.page import page_text, read_html

PAGE = """<html lang=en-GB><head><title> A  shop </title>
<base href="/b/"><meta name=ROBOTS content=noindex>
<link rel=canonical href="/c"></head><body><nav><a href=x>X</a></nav><h1>H</h1>
<p>a <a rel="nofollow" href="y">b</a> <a href="mailto:a@b.example">Mail us</a>
<ul><li>one<li>two<ul><li>three</ul></ul>
<table><tr><th>a<th>b<tr><td>1<td>2</table><dl><dt>t<dd>d</dl>
<details><summary>Are you open?</summary>Yes</details>"""


def test_links_are_resolved_against_the_base_and_carry_nofollow() -> None:
    reading = read_html(PAGE, "https://shop.example/q/")
    assert [(link.href, link.nofollow) for link in reading.links] == [
        ("https://shop.example/b/x", False),
        ("https://shop.example/b/y", True),
    ]


def test_the_head_is_read() -> None:
    reading = read_html(PAGE, "https://shop.example/q/")
    assert (reading.title, reading.language, reading.canonical) == (
        "A shop",
        "en-gb",
        "https://shop.example/c",
    )
    assert reading.metas == (("robots", "noindex"),)


def test_markdown_has_headings_lists_tables_and_terms() -> None:
    text = read_html(PAGE, "https://shop.example/q/").markdown
    assert "# H\n" in text
    assert "- one\n- two\n  - three\n" in text
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in text
    assert "t: d" in text
    assert "Mail us (a@b.example)" in text


def test_E28_a_closed_details_is_a_pair() -> None:
    (pair,) = read_html(PAGE, "https://shop.example/q/").pairs
    assert (pair.question, pair.answer, pair.source) == ("Are you open?", "Yes", "details")


def test_E28_bytes_are_decoded_first() -> None:
    assert page_text("<p>Caf\u00e9 \u00e0 Paris</p>".encode("latin-1")) == "Caf\u00e9 \u00e0 Paris"
