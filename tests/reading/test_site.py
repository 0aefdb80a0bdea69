"""A site as one text, in whatever order its pages come."""

from __future__ import annotations

import itertools

from crawler.reading.page import read_html
from crawler.reading.site import SiteText, site_text

FRAME = (
    "<header><nav><a href=/>Home</a> <a href=/news>News</a> <a href=/shop>Shop</a></nav></header><main>{}</main>"
    "<footer><p>Open Mon-Fri 9:00-17:00</p><p>Call +44 1353 000000</p><p>© Crumb Ltd, company 123456</p></footer>"
)
TEXTS = (
    "Bread is baked at night.",
    "Rolls cost £1.20 each.",
    "Cakes are made to order.",
    "We deliver to Ely on Fridays.",
    "Our flour is from Norfolk.",
)
PAGES = [(f"/{n}.html", FRAME.format(f"<h1>Page number {n}</h1><p>{text * 12}</p>")) for n, text in enumerate(TEXTS)]


def test_E28_what_every_page_repeats_stands_once() -> None:
    text = site_text(PAGES)
    for fact in ("Open Mon-Fri 9:00-17:00", "+44 1353 000000", "company 123456"):
        assert text.count(fact) == 1
    for own in TEXTS:
        assert own in text
    assert "News" not in text


def test_E28_pages_one_at_a_time_and_in_any_order_give_the_same_parts() -> None:
    readings = {path: read_html(html, "https://a.example" + path) for path, html in PAGES}
    seen = set()
    for order in itertools.islice(itertools.permutations(readings), 0, 120, 17):
        site = SiteText()
        for path in order:
            site.put(path, readings[path])
        seen.add((tuple(site.page(path) for path in sorted(readings)), frozenset(site.facts().split("\n"))))
    assert len(seen) == 1


def test_E28_a_page_that_is_read_again_replaces_its_first_reading() -> None:
    site = SiteText()
    for path, html in PAGES:
        site.put(path, read_html(html, "https://a.example" + path))
    before = site.text()
    site.put(
        "/0.html",
        read_html(FRAME.format("<h1>Page number 0</h1><p>We have moved to Soham.</p>"), "https://a.example/0.html"),
    )
    assert "moved to Soham" in site.page("/0.html")
    assert TEXTS[0] not in site.text()
    site.put("/0.html", read_html(PAGES[0][1], "https://a.example/0.html"))
    assert sorted(site.text().split("\n")) == sorted(before.split("\n"))


def test_E28_a_page_that_is_gone_leaves_nothing() -> None:
    site = SiteText()
    for path, html in PAGES:
        site.put(path, read_html(html, "https://a.example" + path))
    for path, _ in PAGES:
        site.drop(path)
    assert (site.text(), len(site), site.repeated()) == ("", 0, frozenset())


def test_E28_under_four_pages_nothing_is_called_repeated() -> None:
    text = site_text(PAGES[:2])
    assert "+44 1353 000000" in text
    assert text.count(TEXTS[0]) == 12
