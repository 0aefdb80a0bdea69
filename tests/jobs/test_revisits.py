"""Conditional GET (W09; RFC 9110 13), in virtual time: what is sent, what a 304 means, and when nothing is sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.fetch.verdict import of_status
from crawler.rules import jobs, validators
from crawler.rules.site import Policy
from models import ids
from models.profile import Profile
from models.state import Validator, validator_key
from models.web import Kind, Outcome, Request, Response
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found, page

WEMBI = Policy(bots.load("wembi"), b"k" * 32)
OLD = "Tue, 01 Dec 2026 00:00:00 GMT"
"""Weeks before the play's clock."""
URL_A = "https://shop.example/a"
MARKS: Mapping[str, str] = {"ETag": 'W/"1"', "Last-Modified": OLD}


@dataclass
class Revisit(Play):
    """A play whose answers see the request's headers, and whose outcomes the fetcher's own rule gives."""

    site_says: Callable[[Request], Answer | Outcome] = field(default=lambda _: (404, HTML, b""))

    def answer(self, request: Request) -> Response:
        said = self.site_says(request)
        self.handler = lambda _: said
        response = super().answer(request)
        if isinstance(said, Outcome) or said[0] != 304:
            return response
        outcome = of_status(request, 304, None)
        return Response(outcome, response.started_at, response.ended_at, self.took, 304, tuple(said[1].items()))


def path_of(request: Request) -> str:
    return "/" + request.url.split("/", 3)[3]


def honest(pages: dict[str, Answer]) -> Callable[[Request], Answer | Outcome]:
    """An origin as RFC 9110 13.2.2 has it: the tag first, then the date; a page without either is sent whole."""

    def says(request: Request) -> Answer | Outcome:
        said = pages.get(path_of(request), not_found(""))
        sent, here = dict(request.headers), dict(said[1])
        asked = sent.get("If-None-Match")
        same = asked == here["ETag"] if asked and "ETag" in here else False
        if asked is None and "If-Modified-Since" in sent:
            same = sent["If-Modified-Since"] == here.get("Last-Modified")
        return (304, {"ETag": here.get("ETag", "")}, b"") if same else said

    return says


def marked(said: Answer, **marks: str) -> Answer:
    status, headers, body = said
    return status, {**headers, **(marks or MARKS)}, body


def shop(pages: dict[str, Answer], policy: Policy = WEMBI) -> Revisit:
    pages = pages if "/robots.txt" in pages else {"/robots.txt": (200, TEXT, b""), **pages}
    play = Revisit(not_found, policy, site_says=honest(pages))
    play.say("list-site")
    return play


def run(play: Play, account: str = "acme") -> str:
    """A crawl to its end; its id."""
    play.say("start-crawl", account=account)
    decided = play.of("crawl-decided")[-1]
    assert decided.accepted, decided
    play.run()
    return str(decided.crawl)


def sent(play: Play, path: str) -> dict[str, str]:
    """The conditions of the last request for a path."""
    last = [request for _, _, request in play.requests if path_of(request) == path][-1]
    return {name: value for name, value in last.headers if name.startswith("If-")}


def outcomes(play: Play, crawl: str) -> dict[str, str]:
    """Path -> outcome of its last request in a crawl."""
    names = {ids.url_id(request.url): path_of(request) for _, _, request in play.requests}
    return {names[fact.url_id]: fact.outcome for fact in play.of("request-ended") if fact.job == crawl and fact.sent}


def cut_short(play: Play, path: str) -> None:
    """Up to the intent for `path`, whose answer nobody hears."""
    while True:
        plan = jobs.plan(play.site, play.now, play.policy)
        if isinstance(plan, jobs.Done):
            play.commit(plan.change)
        elif isinstance(plan, jobs.Send) and path_of(plan.request) == path:  # type: ignore[arg-type]
            play.commit(jobs.intend(play.site, plan, "w", play.now).change)
            return
        else:
            assert play.step()


def test_W09_the_next_crawl_says_back_what_the_site_said_and_a_304_keeps_the_page() -> None:
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"), ETag='"2"')})
    first = run(play)
    assert (sent(play, "/"), sent(play, "/a")) == ({}, {})
    play.restart()
    second = run(play)
    assert sent(play, "/") == {"If-None-Match": 'W/"1"', "If-Modified-Since": OLD}
    assert sent(play, "/a") == {"If-None-Match": '"2"'}
    told = {fact.page_id for fact in play.of("page-unchanged") if fact.crawl == second}
    assert told == {ids.page_id(first, f"https://shop.example{path}") for path in ("/", "/a")}
    ends = {fact.crawl: fact for fact in play.of("crawl-ended")}
    assert (ends[second].end, ends[second].pages, ends[second].requests["page"]) == ("completed", 2, 2)
    assert ends[second].outcomes["not_modified"] == 2
    assert [fact.crawl for fact in play.contents if fact.type == "page-fetched"] == [first, first]


def test_W09_a_third_crawl_still_names_the_text_that_the_first_one_read() -> None:
    play = shop({"/": marked(page("home"))})
    first = run(play)
    run(play)
    run(play)
    assert {fact.page_id for fact in play.of("page-unchanged")} == {ids.page_id(first, "https://shop.example/")}
    assert len(play.of("page-unchanged")) == 2


def test_W05_W09_a_304_is_a_request_like_any_other() -> None:
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"))})
    run(play)
    play.requests.clear()
    run(play)
    gaps = [later[0] - earlier[1] for earlier, later in zip(play.requests, play.requests[1:], strict=False)]
    assert min(gaps) >= 3.0


def test_W07_W09_an_unchanged_page_leads_to_what_it_led_to() -> None:
    hidden = page("home", "/a", "/b?utm_source=x", "https://elsewhere.example/")
    pages = {"/": marked(hidden), "/a": page("a", "/deep"), "/b": page("b"), "/deep": page("deep")}
    play = shop(pages)
    run(play)
    play.restart()
    again = run(play)
    assert outcomes(play, again) == {
        "/": "not_modified", "/a": "ok", "/b": "ok", "/deep": "ok", "/sitemap.xml": "http_4xx",
        "/llms.txt": "http_4xx",
    }  # fmt: skip


def test_W07_W09_links_marked_nofollow_stay_unfollowed() -> None:
    status, headers, body = page("home", "/a")
    nofollow = body.replace(b"</main>", b"<a rel='nofollow' href='/no'>no</a></main>")
    play = shop({"/": marked((status, headers, nofollow)), "/a": page("a"), "/no": page("no")})
    run(play)
    run(play)
    assert "/no" not in play.asked()


def test_W09_a_changed_page_is_read_and_asked_for_by_its_new_version() -> None:
    pages = {"/robots.txt": (200, TEXT, b""), "/": marked(page("home"))}
    play = shop(pages)
    run(play)
    pages["/"] = marked(page("another home"), ETag='"new"')
    second = run(play)
    run(play)
    assert sent(play, "/") == {"If-None-Match": '"new"'}
    assert play.of("page-unchanged")[-1].page_id == ids.page_id(second, "https://shop.example/")


@pytest.mark.parametrize(
    "failed",
    [(500, HTML, b""), (404, HTML, b""), Outcome.TIMEOUT, (301, {"Location": "/a"}, b""), (200, TEXT, b"text"),
     (200, HTML, b"<p></p>")],
)  # fmt: skip
def test_W09_after_a_reading_that_failed_the_page_is_asked_for_in_full(failed: Answer | Outcome) -> None:
    pages: dict[str, Any] = {
        "/robots.txt": (200, TEXT, b""), "/": page("home", "/a", "/p"), "/a": page("a"), "/p": marked(page("p")),
    }  # fmt: skip
    play = shop(pages)
    run(play)
    says = play.site_says
    play.site_says = lambda request: failed if path_of(request) == "/p" else says(request)
    run(play)
    assert sent(play, "/p")
    play.site_says = says
    play.restart()
    assert outcomes(play, run(play))["/p"] == "ok"
    assert sent(play, "/p") == {}
    run(play)
    assert sent(play, "/p")


def test_W09_a_304_that_nobody_asked_for_is_an_error() -> None:
    play = shop({"/": page("home", "/a"), "/a": (304, HTML, b"")})
    crawl = run(play)
    assert outcomes(play, crawl)["/a"] == "http_other"
    assert play.of("crawl-ended")[-1].pages == 1
    assert not play.of("page-unchanged")


def test_W09_a_site_of_nothing_but_304s_is_a_failed_crawl_when_nothing_is_held() -> None:
    play = shop({"/": (304, {"ETag": '"x"'}, b"")})
    run(play)
    assert (play.of("crawl-ended")[-1].end, play.of("crawl-ended")[-1].pages) == ("failed", 0)


def test_E25_W09_what_is_erased_is_asked_for_in_full() -> None:
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"))})
    run(play)
    assert len(play.site.validators) == 2
    play.say("erase-site")
    assert not [key for key in play.records if "|v|" in key]
    play.say("resume-site")
    play.restart()
    again = run(play)
    assert set(outcomes(play, again).values()) >= {"ok"}
    assert "not_modified" not in outcomes(play, again).values()


def test_E25_W09_a_deletion_that_was_cut_short_is_made_again_in_full() -> None:
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"))})
    run(play)
    kept = {key: value for key, value in play.records.items() if "|v|" in key}
    orphan = validator_key("shop.example", play.site.head.validators)  # its head was never written
    play.say("erase-site", "e1")
    play.records.update(kept)
    play.records[orphan] = next(iter(kept.values()))
    play.records = {key: value for key, value in play.records.items() if not key.endswith("|s")}
    play.restart()
    play.say("erase-site", "e1")
    assert not [key for key in play.records if "|v|" in key]


def test_E05_W09_another_account_s_pages_are_no_ground_for_a_304() -> None:
    play = shop({"/": marked(page("home"))})
    run(play)
    other = run(play, account="rival")
    assert sent(play, "/") == {}
    assert outcomes(play, other)["/"] == "ok"
    for account in ("acme", "rival"):
        run(play, account)
        assert sent(play, "/")


def test_W09_an_answer_to_a_second_attempt_is_not_remembered() -> None:
    """The first attempt may have told another version, and the first copy of a page is the one that is stored."""
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"))})
    play.say("start-crawl")
    cut_short(play, "/a")
    play.run()
    assert [fact.outcome for fact in play.of("request-ended") if fact.url_id == ids.url_id(URL_A)] == [
        "interrupted", "ok",
    ]  # fmt: skip
    assert set(play.site.validators) == {("acme", "https://shop.example/")}
    run(play)
    assert sent(play, "/a") == {}
    assert outcomes(play, run(play))["/a"] == "not_modified"


@pytest.mark.parametrize("bot", ["ema", "certant"])
def test_A01_W09_no_other_bot_asks_conditionally(bot: str) -> None:
    play = shop({"/": marked(page("home"))}, Policy(bots.load(bot), b"k" * 32))
    for _ in range(2):
        play.verify()
        play.say("site-confirmed")
        play.say("start-crawl")
        play.run()
    assert not [name for _, _, request in play.requests for name, _ in request.headers if name.startswith("If-")]
    assert not [key for key in play.records if "|v|" in key]


def test_W09_it_can_be_switched_off() -> None:
    off: Profile = WEMBI.profile.tightened({"discovery": {"conditional_get": False}})
    play = shop({"/": marked(page("home"))})
    run(play)
    play.policy = Policy(off, b"k" * 32)
    run(play)
    assert sent(play, "/") == {}
    assert not [key for key in play.records if "|v|" in key]  # they were of the text before


# --- which validators are any good


def response(**headers: str | tuple[str, ...]) -> Response:
    lines = [(name.replace("_", "-"), value) for name, given_ in headers.items() for value in _each(given_)]
    return Response(Outcome.OK, 0.0, 1_800_000_000.0, 0.1, 200, tuple(lines))


def _each(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("tag", ['"x"', 'W/"x"', '""', '"' + "x" * 500 + '"'])
def test_W09_a_tag_goes_back_as_it_came(tag: str) -> None:
    assert validators.etag_of(response(ETag=tag)) == tag


@pytest.mark.parametrize(
    "tag", ["*", "x", 'w/"x"', '"x", "y"', '"a b"', '"é"', '"' + "x" * 501 + '"', '"x" ', ('"x"', '"y"'), ""]
)
def test_W09_what_is_no_single_tag_is_not_kept(tag: Any) -> None:
    assert validators.etag_of(response(ETag=tag)) is None


@given(st.text(max_size=600))
def test_W09_whatever_a_site_says_a_condition_is_one_short_ascii_line(text: str) -> None:
    known = Validator(
        account="a", url="u", crawl="c", at=0.0, etag=validators.etag_of(response(ETag=text)),
        modified=validators.modified_of(response(Last_Modified=text)),
    )  # fmt: skip
    for _, value in validators.headers(known):
        assert value == text
        assert value.isascii()
        assert value.isprintable()
        assert len(value) <= 504


def test_W09_a_date_that_tells_no_versions_apart_is_not_kept() -> None:
    """RFC 9110 8.8.2.2: what changed in the second in which it was sent may change in it again."""
    assert validators.modified_of(response(Last_Modified=OLD, Date=OLD)) is None
    assert validators.modified_of(response(Last_Modified=OLD, Date="Tue, 01 Dec 2026 00:00:01 GMT")) == OLD
    assert validators.modified_of(response(Last_Modified=OLD)) == OLD
    assert validators.modified_of(response(Last_Modified="Tue Dec  1 00:00:00 2026")) is None  # RFC 9110 5.6.7
    assert validators.modified_of(response(Last_Modified="yesterday")) is None


# --- bounds


def test_W09_a_page_with_too_many_links_is_asked_for_in_full() -> None:
    many = [f"/{'x' * 200}{number}" for number in range(90)]
    play = shop({"/": marked(page("home", *many))})
    run(play)
    run(play)
    assert sent(play, "/") == {}


def test_W09_a_site_has_a_cap_and_the_least_recently_seen_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validators, "MOST", 3)
    names = [f"/p{number}" for number in range(6)]
    play = shop({"/": page("home", *names), **{name: marked(page(f"page {name}")) for name in names}})
    run(play)
    assert play.site.head.validators == 3
    assert len([key for key in play.records if "|v|" in key]) == 3
    seen = {slot.validator.url.rpartition("/")[2] for slot in play.site.validators.values()}
    assert seen == {name[1:] for name in [path for path in play.asked(Kind.PAGE) if path in names][-3:]}
    play.restart()
    assert len(play.site.validators) == 3


def test_W09_a_record_is_far_below_the_broker_s_limit() -> None:
    links = validators.links_to_keep(f"https://shop.example/{number:07}" for number in range(1_700))
    assert links is not None
    known = Validator(
        account="a" * 200, url="https://shop.example/" + "x" * 2_000, etag='"' + "x" * 500 + '"', modified=OLD,
        crawl="c" * 36, at=1.0, fingerprint="f" * 136, links=links,
    )  # fmt: skip
    assert len(known.model_dump_json()) < 30_000


def test_C06_W09_removed_pages_lose_their_validators() -> None:
    """No bot has both rules; a profile that had them would not be told a 304 for a page that was removed."""
    play = shop({"/": marked(page("home", "/a")), "/a": marked(page("a"))})
    run(play)
    play.say("start-crawl")
    jobs = tuple(job.model_copy(update={"remove_above": 1}) for job in play.site.head.jobs)
    play.site = play.site.__class__(
        play.site.head.model_copy(update={"jobs": jobs}), play.site.seen, play.site.robots, play.site.frontiers,
        play.site.cached, play.site.validators,
    )  # fmt: skip
    play.run()
    assert not [key for key in play.records if "|v|" in key]
