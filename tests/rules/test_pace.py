from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.pace import DAY, Asked, PaceState, after, gap, is_refusal, retry_after
from models.profile import Phase, Profile
from models.web import Kind, Outcome, Response
from tests.rules.answers import answer

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))
NOW = 1_000_000_000.0
LISTING = Asked(phase=Phase.LISTING)
OWN = Asked(own_site=True)


def refused(*headers: tuple[str, str], status: int = 429, elapsed: float = 0.1) -> Response:
    return answer(status, headers=headers, elapsed=elapsed, at=NOW)


def told(value: str) -> Response:
    return refused(("Retry-After", value))


def test_E16_at_least_a_second_in_a_crawl_and_half_a_second_in_a_listing() -> None:
    assert gap(EMA, Asked(), 0.0, None) == 1.0
    assert gap(EMA, LISTING, 0.0, None) == 0.5
    assert gap(EMA, Asked(phase=Phase.PROOF), 0.0, None) == 1.0


def test_E16_one_request_at_a_time_for_each_job() -> None:
    assert EMA.pace.max_in_flight == 1
    assert EMA.pace.scope == "job"


@pytest.mark.parametrize(
    ("asked_for", "honoured"), [(0.2, 1.0), (5.0, 5.0), (10.0, 10.0), (600.0, 10.0), (1e9, 10.0)]
)
def test_E15_crawl_delay_is_honoured_up_to_ten_seconds(asked_for: float, honoured: float) -> None:
    assert gap(EMA, Asked(), 0.2, asked_for) == honoured


@pytest.mark.parametrize("status", [429, 503])
def test_E19_the_same_page_at_most_twice_more_the_wait_doubling(status: int) -> None:
    state, waits, retries = PaceState(), [], []
    for attempt in range(4):
        decision = after(state, refused(status=status), Asked(attempt=attempt), EMA, None, NOW)
        state = decision.state
        waits.append(decision.wait_seconds)
        retries.append(decision.retry)
    assert retries == [True, True, False, False]
    assert waits[:2] == [1.0, 2.0]


def test_E19_the_wait_is_never_more_than_twelve_seconds() -> None:
    slow = EMA.tightened({"pace": {"crawl": {"delay": 8}}})
    assert after(PaceState(), refused(), Asked(attempt=1), slow, None, NOW).wait_seconds == 12.0
    crawl_delay = after(PaceState(), refused(), Asked(attempt=1), EMA, 10.0, NOW)
    assert crawl_delay.wait_seconds == 12.0


def test_E19_a_retry_after_of_twelve_seconds_is_honoured_and_above_there_is_no_retry() -> None:
    twelve = after(PaceState(), told("12"), Asked(), EMA, None, NOW)
    assert (twelve.retry, twelve.wait_seconds) == (True, 12.0)
    thirteen = after(PaceState(), told("13"), Asked(), EMA, None, NOW)
    assert (thirteen.retry, thirteen.wait_seconds) == (False, 1.0)


def test_E19_no_retry_where_the_pace_itself_is_above_the_cap() -> None:
    slow = EMA.tightened({"pace": {"crawl": {"delay": 15}}})
    assert not after(PaceState(), refused(), Asked(), slow, None, NOW).retry


@pytest.mark.parametrize("status", [404, 410, 403, 500, 502])
def test_E19_nothing_else_is_retried(status: int) -> None:
    assert not after(PaceState(), answer(status), Asked(), EMA, None, NOW).retry
    assert not after(PaceState(), answer(None), Asked(), EMA, None, NOW).retry


@pytest.mark.parametrize("kind", [k for k in Kind if k is not Kind.PAGE])
def test_E19_only_pages_are_retried(kind: Kind) -> None:
    for profile in (EMA, WEMBI, CERTANT):
        assert not after(PaceState(), refused(), Asked(kind), profile, None, NOW).retry


def test_E19_the_crawl_goes_on() -> None:
    decision = after(PaceState(), refused(), Asked(attempt=2), EMA, None, NOW)
    assert decision.pause_until is None


@pytest.mark.parametrize("profile", [EMA, WEMBI, CERTANT], ids=lambda p: p.name)
def test_E26_a_challenge_is_no_rate_limit_and_is_never_retried(profile: Profile) -> None:
    challenge = refused(("cf-mitigated", "challenge"), ("Retry-After", "5"))
    assert not is_refusal(challenge)
    assert not after(PaceState(), challenge, Asked(), profile, None, NOW).retry


def test_W05_three_seconds_three_response_times_or_the_crawl_delay() -> None:
    assert gap(WEMBI, Asked(), 0.2, None) == 3.0
    assert gap(WEMBI, Asked(), 4.0, None) == 12.0
    assert gap(WEMBI, Asked(), 4.0, 30.0) == 30.0
    assert gap(WEMBI, Asked(), 0.2, 3600.0) == 3600.0


def test_W05_on_the_operators_own_sites_half_a_second_and_one_response_time() -> None:
    assert gap(WEMBI, OWN, 0.1, None) == 0.5
    assert gap(WEMBI, OWN, 2.0, None) == 2.0
    assert gap(EMA, OWN, 0.1, None) == 1.0


def test_W04_one_at_a_time_for_the_site_across_runs() -> None:
    assert WEMBI.pace.scope == "site"
    assert WEMBI.pace.max_in_flight == 1


@pytest.mark.parametrize("status", [429, 503])
def test_W06_retry_after_is_honoured_as_a_pause_of_the_site(status: int) -> None:
    decision = after(PaceState(), refused(("Retry-After", "1000"), status=status), Asked(), WEMBI, None, NOW)
    assert decision.wait_seconds == 1000
    assert decision.pause_until == NOW + 1000


def test_W06_repeated_refusals_pause_the_whole_site_up_to_a_day() -> None:
    state, now, pauses = PaceState(), NOW, []
    for _ in range(20):
        decision = after(state, refused(), Asked(), WEMBI, None, now)
        assert decision.pause_until is not None
        pauses.append(decision.pause_until - now)
        state, now = decision.state, decision.pause_until
    assert pauses[:4] == [3, 6, 12, 24]
    assert pauses[-1] == DAY
    assert max(pauses) == DAY


def test_W06_an_answer_ends_the_row_of_refusals() -> None:
    state = after(PaceState(), refused(), Asked(), WEMBI, None, NOW).state
    assert state.strikes == 1
    assert after(state, answer(None), Asked(), WEMBI, None, NOW).strikes == 1
    assert after(state, answer(200), Asked(), WEMBI, None, NOW).strikes == 0


@pytest.mark.parametrize("profile", [WEMBI, CERTANT], ids=lambda p: p.name)
def test_W06_C10_a_pause_only_grows(profile: Profile) -> None:
    paused = PaceState(strikes=5, pause_until=NOW + 80_000)
    assert after(paused, told("400"), Asked(), profile, None, NOW).pause_until == NOW + 80_000
    assert after(paused, answer(200), Asked(), profile, None, NOW).pause_until == NOW + 80_000


def test_W06_the_pause_is_the_sites() -> None:
    assert WEMBI.refusal.pause_scope == "site"
    assert WEMBI.refusal.pause_cap == DAY


@pytest.mark.parametrize(("asked_for", "honoured"), [(None, 0.5), (2.0, 2.0), (10.0, 10.0), (11.0, 10.0)])
def test_C08_crawl_delay_is_waited_up_to_ten_seconds(asked_for: float | None, honoured: float) -> None:
    assert gap(CERTANT, Asked(), 0.1, asked_for) == honoured


def test_C10_retry_after_is_waited_for() -> None:
    decision = after(PaceState(), told("200"), Asked(), CERTANT, None, NOW)
    assert (decision.wait_seconds, decision.retry, decision.pause_until) == (200, True, None)


def test_C10_repeated_it_slows_down_then_pauses_and_tells_until_when() -> None:
    state, slow, paused = PaceState(), [], []
    for _ in range(5):
        decision = after(state, refused(), Asked(), CERTANT, None, NOW)
        state = decision.state
        slow.append(decision.slow)
        paused.append(decision.pause_until is not None)
    assert slow[0] == 0
    assert slow[1] == 1
    assert paused == [False, False, False, True, True]
    assert gap(CERTANT, Asked(), 0.1, None, slow=1) == 1.0
    assert state.pause_until is not None
    assert state.pause_until > NOW


def test_C10_a_long_retry_after_pauses_the_crawl() -> None:
    assert after(PaceState(), told("301"), Asked(), CERTANT, None, NOW).pause_until == NOW + 301


def test_C11_two_pages_a_second_and_four_in_flight() -> None:
    assert CERTANT.pace.crawl.delay == 0.5
    assert CERTANT.pace.max_in_flight == 4


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0), ("007", 7), ("120", 120), ("86401", DAY), ("9" * 5000, DAY), ("-5", None), ("1.5", None),
        ("", None), ("soon", None), ("5 apples", None), ("\u0663", None), ("1e3", None),
        ("2026-01-01T00:00:00Z", None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37),
        ("Sun, 06 Nov 1994 08:48:00 GMT", 0), ("Thu, 01 Jan 2099 00:00:00 GMT", DAY),
    ],
)  # fmt: skip
def test_W06_retry_after_in_all_its_forms(value: str, seconds: float | None) -> None:
    date = ("Date", "Sun, 06 Nov 1994 08:49:00 GMT")
    assert retry_after(refused(("Retry-After", value), date), NOW) == seconds


def test_W06_the_sites_own_clock_cancels_the_skew() -> None:
    site = datetime.fromtimestamp(NOW, UTC) + timedelta(hours=5)
    headers = (("Retry-After", format_datetime(site + timedelta(seconds=90), usegmt=True)),)
    assert retry_after(refused(*headers, ("Date", format_datetime(site, usegmt=True))), NOW) == 90
    assert retry_after(refused(*headers), NOW) == 5 * 3600 + 90


def test_W06_of_several_the_longest_counts() -> None:
    assert retry_after(refused(("Retry-After", "5"), ("retry-after", "50"), ("Retry-After", "x")), NOW) == 50


@given(st.text(max_size=70), st.text(max_size=40))
def test_W06_any_retry_after_is_a_day_at_most_or_nothing(value: str, date: str) -> None:
    seconds = retry_after(refused(("Retry-After", value), ("Date", date)), NOW)
    assert seconds is None or 0 <= seconds <= DAY


_ANSWERS = st.builds(
    lambda status, seconds, elapsed: answer(
        status, headers=() if seconds is None else (("Retry-After", str(seconds)),), elapsed=elapsed
    ),
    st.sampled_from([200, 200, 304, 404, 429, 429, 503, 500, None]),
    st.none() | st.integers(0, 10**6),
    st.floats(0, 30),
)


@given(
    st.sampled_from([EMA, WEMBI, CERTANT]),
    st.lists(_ANSWERS, max_size=25),
    st.none() | st.floats(0, 100),
    st.booleans(),
    st.booleans(),
)
def test_E16_E19_W05_W06_C08_C10_never_early_never_beyond_the_caps_a_pause_only_grows(
    profile: Profile, history: list[Response], robots_delay: float | None, own: bool, overlapping: bool
) -> None:
    state, now, attempt = PaceState(), NOW, 0
    for response in history:
        asked = Asked(attempt=attempt, own_site=own)
        decision = after(state, response, asked, profile, robots_delay, now)
        rule = profile.pace.own_sites if own and profile.pace.own_sites else profile.pace.crawl
        cap = math.inf if rule.crawl_delay_cap is None else rule.crawl_delay_cap
        floor = max(rule.delay, rule.response_factor * response.elapsed, min(robots_delay or 0.0, cap))
        assert decision.wait_seconds >= floor
        if decision.retry:
            assert is_refusal(response)
            assert attempt < profile.refusal.retries
            assert profile.name != "ema" or decision.wait_seconds <= 12
        if is_refusal(response) and (seconds := retry_after(response, now)) is not None and decision.retry:
            assert decision.wait_seconds >= seconds
        if state.pause_until is not None:
            assert decision.pause_until is not None
            assert decision.pause_until >= state.pause_until
        if decision.pause_until is not None and decision.pause_until != state.pause_until:
            assert decision.pause_until - now <= DAY
        attempt = attempt + 1 if decision.retry else 0
        state, now = decision.state, now + (0.1 if overlapping else decision.wait_seconds)  # C11: four in flight


def test_the_state_is_what_the_decision_says() -> None:
    decision = after(PaceState(), refused(), Asked(), CERTANT, None, NOW)
    assert decision.state == PaceState(1, 0, None)
    assert after(PaceState(), answer(200, outcome=Outcome.OK), Asked(), CERTANT, None, NOW).strikes == 0
