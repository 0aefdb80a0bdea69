"""The sample shop holds everything that a demonstration of a crawl has to meet."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from protego import Protego
from selectolax.lexbor import LexborHTMLParser

from demo import build
from demo.content import Page, load
from demo.resources import Resource

SHOP = load()
SITE = build.build(SHOP)
PUBLIC = [page for page in SHOP.pages if not page.private]
VOID = {"br", "hr", "img", "input", "link", "meta"}
NAMES = [page.path for page in SHOP.pages]


def links(path: str) -> list[str]:
    base = f"https://{build.HOST}{path}"
    nodes = LexborHTMLParser(SITE[path].body.decode()).css("a[href]")
    return [urljoin(base, node.attributes["href"] or "") for node in nodes]


def followed(path: str) -> str:
    target = SITE[path].location if path in SITE else ""
    return target or path


class Balance(HTMLParser):
    """Fails on an element that is closed out of turn or never."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()


def test_thirty_pages_in_two_languages() -> None:
    assert len(PUBLIC) >= 30
    assert {page.language for page in PUBLIC} == {"it", "en"}
    assert min(sum(page.language == each for page in PUBLIC) for each in ("it", "en")) >= 15
    assert len(PUBLIC) <= 60, "E18: one crawl could not store all of them"


@pytest.mark.parametrize("path", NAMES)
def test_every_page_is_whole_html(path: str) -> None:
    text = SITE[path].body.decode()
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    tree = LexborHTMLParser(text)
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(ids) == len(set(ids))
    assert len(tree.css("h1")) == len(tree.css("header")) == len(tree.css("nav")) == len(tree.css("main")) == 1


@pytest.mark.parametrize("page", SHOP.pages, ids=NAMES)
def test_every_footer_has_hours_address_phone_mail_and_vat(page: Page) -> None:
    footer = LexborHTMLParser(SITE[page.path].body.decode()).css_first("body > footer")
    assert footer is not None
    text = footer.text()
    facts = SHOP.facts
    for fact in ("16:00-19:30", facts["street"], facts["phone"], facts["email"], facts["vat"]):
        assert fact in text


def test_texts_differ_from_page_to_page() -> None:
    for language in ("it", "en"):
        pages = [page for page in PUBLIC if page.language == language]
        assert len({page.title for page in pages}) == len({page.body for page in pages}) == len(pages)


def test_every_internal_link_stands_except_the_one_that_is_gone() -> None:
    broken = set()
    for page in SHOP.pages:
        for link in links(page.path):
            parts = urlsplit(link)
            if parts.scheme == "https" and parts.hostname == build.HOST and followed(parts.path) not in SITE:
                broken.add(parts.path)
    assert broken == {build.MISSING}


def test_every_public_page_is_reached_by_links_from_the_home_page() -> None:
    seen, waiting = set(), ["/"]
    while waiting:
        path = followed(waiting.pop())
        if path in seen or path not in NAMES:
            continue
        seen.add(path)
        waiting += [urlsplit(link).path for link in links(path) if urlsplit(link).hostname == build.HOST]
    assert {page.path for page in PUBLIC} <= seen
    assert {page.path for page in SHOP.pages if page.private} <= seen, "a disallowed page must be linked"


def test_robots_txt_disallows_the_private_pages_and_no_other() -> None:
    rules = Protego.parse(SITE["/robots.txt"].body.decode())
    for page in SHOP.pages:
        assert rules.can_fetch(f"https://{build.HOST}{page.path}", "EmaIngestBot") is not page.private, page.path
    assert list(rules.sitemaps) == [f"https://{build.HOST}/sitemap.xml"]


def test_the_sitemap_names_most_pages_and_leaves_some_to_be_found() -> None:
    named = set(re.findall(r"<loc>https://[^/]+([^<]+)</loc>", SITE["/sitemap.xml"].body.decode()))
    public = {page.path for page in PUBLIC}
    assert named < public
    assert len(named) >= 30


def test_links_that_a_crawler_must_not_follow_are_there() -> None:
    found = {link for page in SHOP.pages for link in links(page.path)}
    assert any(urlsplit(link).query for link in found)
    assert any(urlsplit(link).scheme == "https" and urlsplit(link).hostname != build.HOST for link in found)
    assert any(link.endswith(".pdf") for link in found)
    assert any(urlsplit(link).path in build.REDIRECTS for link in found)


def test_questions_stand_in_details_in_accordions_and_under_headings() -> None:
    details, panels, headings = 0, 0, 0
    for page in PUBLIC:
        tree = LexborHTMLParser(SITE[page.path].body.decode())
        details += len(tree.css("details > summary"))
        headings += sum(node.text().endswith("?") for node in tree.css("main h2"))
        for button in tree.css("button[aria-controls]"):
            panel = tree.css_first("#" + (button.attributes["aria-controls"] or ""))
            assert panel is not None
            assert "hidden" in panel.attributes
            panels += 1
    assert details >= 10
    assert panels >= 5
    assert headings >= 5


def test_structured_data_is_json_and_says_what_the_page_says() -> None:
    trees = [LexborHTMLParser(SITE[page.path].body.decode()) for page in PUBLIC]
    scripts = [node.text() for tree in trees for node in tree.css('script[type="application/ld+json"]')]
    types = [json.loads(text)["@type"] for text in scripts]
    assert {"LocalBusiness", "Product", "FAQPage"} == set(types)
    assert types.count("FAQPage") == 1
    assert types.count("Product") == 12


def test_prices_stand_in_tables() -> None:
    tree = LexborHTMLParser(SITE["/prodotti/orcio-per-olio/"].body.decode())
    cells = [node.text() for node in tree.css("td.price")]
    assert cells == ["28,00 €", "36,00 €", "94,00 €"]
    english = LexborHTMLParser(SITE["/en/products/oil-jar/"].body.decode())
    assert [node.text() for node in english.css("td.price")] == ["€28.00", "€36.00", "€94.00"]


def test_the_pdf_is_one_whose_table_of_objects_is_right() -> None:
    pdf = SITE["/listino-2025.pdf"].body
    assert pdf.startswith(b"%PDF-1.4\n")
    start = int(pdf.split(b"startxref\n")[1].split(b"\n")[0])
    assert pdf[start:].startswith(b"xref\n")
    offsets = [int(line[:10]) for line in pdf[start:].splitlines()[3:8]]
    assert all(pdf[offset:].startswith(b"%d 0 obj" % number) for number, offset in enumerate(offsets, 1))


def test_two_builds_are_the_same_bytes() -> None:
    assert build.build() == SITE


def test_a_directory_without_its_slash_is_redirected() -> None:
    assert build.finder(SITE)("/contatti") == Resource(status=301, location="/contatti/")
    assert build.finder(SITE)("/nowhere") is None
