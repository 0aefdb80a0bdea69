from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.frontier import (
    Candidate,
    Links,
    Trap,
    is_page,
    links_taken,
    ordered,
    rank,
    rank_of_link,
    rank_of_sitemap,
    takes_links,
    trap_of,
)
from crawler.rules.urls import UrlRefused, canonical
from crawler.rules.vocabulary import Topic

EMA, WEMBI = bots.load("ema"), bots.load("wembi")
SITE = "https://example.com"
ORDER = {
    "english": "/contact-us /opening-hours /delivery-information /returns-policy /faq /pricing /terms-and-conditions",
    "italian": "/contatti /orari-di-apertura /spedizioni /resi-e-rimborsi /domande-frequenti /listino-prezzi"
    " /condizioni-di-vendita",
    "german": "/kontakt /%C3%B6ffnungszeiten /versand /widerrufsbelehrung /h%C3%A4ufige-fragen /preise /agb",
    "french": "/nous-contacter /horaires /livraison /retours /questions-fr%C3%A9quentes /tarifs /cgv",
    "spanish": "/contacto /horarios /gastos-de-envio /devoluciones /preguntas-frecuentes /precios"
    " /condiciones-generales",
}


@pytest.mark.parametrize("language", ORDER)
def test_E18_what_an_email_assistant_needs_comes_first(language: str) -> None:
    paths = ORDER[language].split()
    urls = [SITE + path for path in ("/", *paths, "/red-shoe-42", "/blog/2024/05/red", "/cart", "/a/b/a/b/a/b")]
    shuffled = random.Random(1).sample(urls, len(urls))
    assert [c.url for c in ordered([Candidate(url) for url in shuffled])] == urls


@pytest.mark.parametrize(
    "path", ["/contact-lenses", "/shop/contact-lenses", "/blog/how-we-contact-people", "/returning-artist-show"]
)
def test_E18_a_topic_word_in_passing_is_no_topic(path: str) -> None:
    assert rank_of_link(SITE + path, "", 1) > rank_of_link(SITE + "/terms", "", 1)


def test_E18_the_words_of_a_link_count_like_its_path() -> None:
    assert rank_of_link(SITE + "/p/17", "Öffnungszeiten", 1) < rank_of_link(SITE + "/p/16", "Neu: rote Schuhe", 1)
    assert rank_of_link(SITE + "/contact", "read our blog", 1) == rank_of_link(SITE + "/contact", "", 1)


def test_E18_depth_then_the_sitemaps_priority() -> None:
    assert rank_of_link(SITE + "/x", "", 1) < rank_of_link(SITE + "/x", "", 2)
    assert rank_of_sitemap(SITE + "/x", 0.9) < rank_of_sitemap(SITE + "/x", None) < rank_of_sitemap(SITE + "/x", 0.1)


def test_W07_the_sitemaps_pages_come_before_those_linked_from_them() -> None:
    linked = rank_of_link(SITE + "/contact", "Contact", 1, wave=1)
    assert linked > rank_of_sitemap(SITE + "/a/b/a/b/a/b", 0.0)


def test_W07_one_check_of_linked_pages_which_a_run_can_switch_off_or_widen() -> None:
    taken = WEMBI.discovery
    assert links_taken(taken, sitemap_found=True) is Links.UNLISTED_ONCE
    assert links_taken(taken, sitemap_found=True, check=False) is Links.NONE
    assert links_taken(taken, sitemap_found=True, follow=True) is Links.ALL
    assert links_taken(taken, sitemap_found=False) is Links.ALL
    assert links_taken(EMA.discovery, sitemap_found=True) is Links.ALL


def test_W07_links_on_the_extra_pages_are_not_followed() -> None:
    assert takes_links(Links.UNLISTED_ONCE, wave=0)
    assert not takes_links(Links.UNLISTED_ONCE, wave=1)
    assert takes_links(Links.ALL, wave=1)
    assert not takes_links(Links.NONE, wave=0)


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/a/a/a", Trap.REPEATED),
        ("/a/b/a/b", Trap.REPEATED),
        ("/a/b/c/a/b", None),
        ("/calendar/2031/07", Trap.CALENDAR),
        ("/blog/2031/07", None),
        ("/x;jsessionid=1", Trap.SESSION),
        ("/x/0123456789abcdef0123456789abcdef/y", Trap.SESSION),
        ("/" + "x" * 600, Trap.LONG),
        ("/" + "/".join(f"s{i}" for i in range(13)), Trap.DEEP),
        ("/en/shop/shoes/red", None),
    ],
)
def test_E18_traps_are_known_and_come_last(path: str, trap: Trap | None) -> None:
    assert trap_of(SITE + path, 1) is trap
    if trap:
        assert rank_of_link(SITE + path, "contact", 1) > rank_of_link(SITE + "/cart", "", 9)


def test_E18_too_many_links_away_is_a_trap() -> None:
    assert trap_of(SITE + "/x", 17) is Trap.DEEP


@pytest.mark.parametrize("path", ["/a.pdf", "/a.JPG", "/feed.xml", "/x.json", "/a.css?v=1"])
def test_E04_what_is_no_page_by_its_name_is_not_asked_for(path: str) -> None:
    assert not is_page(SITE + path)
    assert all(is_page(SITE + page) for page in ("/a.pdf/about", "/a.html", "/"))


@given(st.lists(st.text(alphabet="abc/-%C3A9contat2031", max_size=20), max_size=8), st.randoms())
def test_E18_the_order_depends_on_the_candidates_alone(paths: list[str], rng: random.Random) -> None:
    urls = set()
    for path in paths:
        try:
            urls.add(canonical(f"{SITE}/{path}"))
        except UrlRefused:
            continue
    candidates = [Candidate(url) for url in sorted(urls)]
    shuffled = rng.sample(candidates, len(candidates))
    assert ordered(shuffled) == ordered(candidates)


@given(st.text(max_size=300), st.integers(0, 10**6), st.floats(allow_nan=False), st.integers(0, 1))
def test_any_candidate_has_an_exact_rank(anchor: str, depth: int, priority: float, wave: int) -> None:
    number = rank(Candidate(SITE + "/x", depth, anchor, priority, wave))
    assert number == int(number)
    assert 0 <= number < 2**53


def test_topics_are_in_the_order_that_letters_ask_for() -> None:
    assert list(Topic)[:7] == [
        Topic.CONTACT, Topic.HOURS, Topic.DELIVERY, Topic.RETURNS, Topic.FAQ, Topic.PRICES, Topic.TERMS,
    ]  # fmt: skip
