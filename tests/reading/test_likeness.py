"""Near duplicates, thin pages and soft 404s take no place among the kept."""

from __future__ import annotations

import pytest

from crawler.reading.dupes import fingerprint, is_near_duplicate, resemblance
from crawler.reading.page import read_html
from crawler.reading.site import line_key

WORDS = [f"word{n}" for n in range(400)]
TEXT = " ".join(WORDS)


def test_E18_the_same_text_is_one_page() -> None:
    assert is_near_duplicate(fingerprint("A", TEXT), fingerprint("B", TEXT.upper()))


def test_E18_a_changed_sidebar_is_the_same_page_under_one_heading() -> None:
    other = " ".join([*WORDS[:380], "something", "else", "at", "the", "end"])
    assert is_near_duplicate(fingerprint("A", TEXT), fingerprint("A", other))


def test_E18_another_product_of_one_template_is_another_page() -> None:
    other = " ".join(f"other{n}" if n % 20 < 2 else word for n, word in enumerate(WORDS))
    first, second = fingerprint("Red chair", TEXT), fingerprint("Blue chair", other)
    assert 0.3 < resemblance(first, second) < 0.95
    assert not is_near_duplicate(first, second)


def test_E18_different_texts_do_not_resemble() -> None:
    assert resemblance(fingerprint("A", TEXT), fingerprint("A", TEXT.replace("word", "term"))) < 0.2


@pytest.mark.parametrize(
    "page",
    [
        "<title>Page not found</title><h1>Oops</h1><p>Try the search.</p>",
        "<title>Shop</title><h1>404</h1><p>Nothing here, sorry about that, go back to the start page please.</p>",
        "<title>Seite nicht gefunden</title><p>Die Seite gibt es nicht mehr. Bitte suchen Sie weiter.</p>",
        "<title>Shop</title><p>Loading</p>",
        "<title>Shop</title><div id=root></div><script>start()</script>",
    ],
)
def test_E18_thin_pages_and_soft_404s(page: str) -> None:
    assert read_html(page, "https://a.example/").thin


@pytest.mark.parametrize(
    "page",
    [
        "<title>Contact</title><p>Call +44 1353 000000</p>",
        "<title>Hours</title><p>Mon 9:00</p>",
        "<title>Soup</title><p>Soup € 4,50</p>",
        "<title>What a 404 means</title><h1>404 not found</h1><p>" + "The page explains an error. " * 80 + "</p>",
    ],
)
def test_E18_a_short_page_with_a_fact_is_not_thin(page: str) -> None:
    assert not read_html(page, "https://a.example/").thin


def test_lines_are_compared_by_letters_and_digits() -> None:
    assert line_key("- **Opening hours:** 9–17 ") == line_key("OPENING HOURS 9 17")
