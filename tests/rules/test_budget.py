from __future__ import annotations

import pytest

import bots
from crawler.rules.budget import Limits, Spent, allows, limits
from models.profile import Phase
from models.web import Kind

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))


def test_E18_a_whole_site_crawl_keeps_60_pages_of_120_requests_and_five_sitemaps() -> None:
    assert limits(EMA, "site") == Limits(60, 120, 0, 5, 0)


def test_E18_a_listed_scope_fetches_60_and_20_more_for_their_pairs() -> None:
    assert limits(EMA, "listed") == Limits(60, 60, 20, 0, 0)


def test_E18_a_listing_reads_five_sitemaps_and_one_homepage() -> None:
    limit = limits(EMA, "listing")
    assert (limit.sitemap_requests, limit.page_requests) == (5, 1)
    assert allows(limit, Spent(), Kind.PAGE)
    assert not allows(limit, Spent(page_requests=1), Kind.PAGE)


def test_E18_the_last_request_is_the_120th() -> None:
    limit = limits(EMA, "site")
    assert allows(limit, Spent(pages=59, page_requests=119), Kind.PAGE)
    assert not allows(limit, Spent(pages=59, page_requests=120), Kind.PAGE)
    assert not allows(limit, Spent(pages=60, page_requests=70), Kind.PAGE)
    assert allows(limit, Spent(sitemap_requests=4), Kind.SITEMAP)
    assert not allows(limit, Spent(sitemap_requests=5), Kind.SITEMAP)
    assert not allows(limit, Spent(), Kind.LLMS_TXT)


def test_E18_pages_for_pairs_only_have_their_own_twenty() -> None:
    limit = limits(EMA, "listed")
    assert allows(limit, Spent(pages=60, page_requests=60, pairs_requests=19), Kind.PAGE, pairs_only=True)
    assert not allows(limit, Spent(pairs_requests=20), Kind.PAGE, pairs_only=True)


def test_E18_a_tightened_page_limit_takes_requests_with_it() -> None:
    assert limits(EMA.tightened({"budget": {"pages": 10}}), "site").page_requests == 20


def test_W10_at_most_2000_pages_a_run() -> None:
    limit = limits(WEMBI, "site")
    assert (limit.pages, limit.page_requests) == (2000, 2000)


def test_W08_one_request_for_llms_txt_in_a_whole_site_crawl_and_for_no_other_bot() -> None:
    assert allows(limits(WEMBI, "site"), Spent(), Kind.LLMS_TXT)
    assert not allows(limits(WEMBI, "site"), Spent(llms_txt_requests=1), Kind.LLMS_TXT)
    assert not allows(limits(WEMBI, "listed"), Spent(), Kind.LLMS_TXT)
    assert not allows(limits(CERTANT, "site", "paid", proved=True), Spent(), Kind.LLMS_TXT)


@pytest.mark.parametrize(
    ("plan", "proved", "pages"),
    [("trial", False, 25), ("paid", False, 100), ("trial", True, 1000), ("paid", True, 5000), (None, False, 25)],
)
def test_C02_pages_by_plan_and_proof(plan: str | None, proved: bool, pages: int) -> None:
    assert limits(CERTANT, "site", plan, proved=proved).pages == pages  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "phase", "seconds"),
    [
        (Kind.PAGE, Phase.CRAWL, 30),
        (Kind.ROBOTS, Phase.CRAWL, 30),
        (Kind.SITEMAP, Phase.CRAWL, 30),
        (Kind.PAGE, Phase.LISTING, 6),
        (Kind.ROBOTS, Phase.LISTING, 6),
        (Kind.SITEMAP, Phase.LISTING, 6),
        (Kind.HOMEPAGE_PROOF, Phase.PROOF, 8),
        (Kind.TOKEN_FILE, Phase.PROOF, 8),
        (Kind.ADDRESS_CHECK, Phase.ADDRESS_CHECK, 5),
    ],
)
def test_E17_timeouts_of_whole_requests(kind: Kind, phase: Phase, seconds: float) -> None:
    assert EMA.timeout(kind, phase) == seconds


def test_E09_E10_E20_bytes_that_are_read() -> None:
    assert EMA.max_bytes(Kind.TOKEN_FILE) == 1024
    assert EMA.max_bytes(Kind.HOMEPAGE_PROOF) == 512 * 1024
    assert EMA.max_bytes(Kind.PAGE) == 2_000_000
    assert EMA.max_bytes(Kind.ADDRESS_CHECK) == 0


def test_E04_pages_and_xml_sitemaps_only() -> None:
    assert EMA.media_types(Kind.PAGE) == {"text/html", "application/xhtml+xml"}
    sitemaps = EMA.media_types(Kind.SITEMAP)
    assert sitemaps is not None
    assert "text/plain" not in sitemaps
    assert EMA.media_types(Kind.ROBOTS) is None
