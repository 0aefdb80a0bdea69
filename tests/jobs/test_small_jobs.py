"""The address check (E07) and the token file (E09), as pure machines."""

from __future__ import annotations

import pytest

from crawler.rules.tokens import issued
from models.web import Kind, Outcome
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found, page

PATH = "/.well-known/ema-site-verification.txt"


def mine(play: Play, account: str = "acme") -> str:
    return issued(play.policy.token_key, "ema", account, play.host, play.now).token


def verified(answer: Answer | Outcome | dict[str, Answer]) -> Play:
    paths = answer if isinstance(answer, dict) else {PATH: answer}
    play = Play(lambda path: paths.get(path, not_found(path)))  # type: ignore[union-attr]
    play.say("verification-requested")
    play.run()
    return play


@pytest.mark.parametrize("status", [200, 204, 301, 404, 405, 500, 503])
def test_E07_one_head_any_status_answers(status: int) -> None:
    play = Play(lambda _: (status, {"Location": "/elsewhere"}, b""))
    play.say("address-saved")
    play.run()
    assert [(r.method, r.kind, r.timeout) for _, _, r in play.requests] == [("HEAD", Kind.ADDRESS_CHECK, 5.0)]
    assert play.of("address-checked")[0].answers


def test_E07_the_same_address_again_sends_nothing() -> None:
    play = Play(page)
    for _ in range(3):
        play.say("address-saved")
        play.run()
    assert len(play.requests) == 1
    assert len(play.of("settings-saved")) == 3


def test_E07_no_answer_is_recorded_as_such() -> None:
    play = Play(lambda _: Outcome.TIMEOUT)
    play.say("address-saved")
    play.run()
    fact = play.of("address-checked")[0]
    assert (fact.answers, fact.outcome) == (False, "timeout")


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"# our proof\r\n", b" \t"])
def test_E09_a_line_with_the_token_proves(before: bytes) -> None:
    play = Play(not_found)
    play.handler = lambda path: (200, TEXT, before + mine(play).encode() + b"\n") if path == PATH else not_found(path)
    play.say("verification-requested")
    play.run()
    assert play.asked() == [PATH]
    assert play.of("verified")[0].account == "acme"


def test_E05_E09_another_accounts_token_proves_nothing() -> None:
    play = Play(not_found)
    play.handler = lambda path: (200, TEXT, mine(play, "other").encode()) if path == PATH else not_found(path)
    play.say("verification-requested")
    play.run()
    assert not play.of("verified")
    assert play.of("verification-failed")[0].result == "absent"


def test_E09_the_token_must_end_within_the_first_1024_bytes() -> None:
    for padding, proved in ((1024 - 33, True), (1024 - 20, False)):
        play = Play(not_found)
        body = b"x" * padding + b"\n" + mine(play).encode()
        play.handler = lambda path, body=body: (200, TEXT, body)  # type: ignore[misc]
        play.say("verification-requested")
        play.run()
        assert bool(play.of("verified")) is proved


def test_E09_two_redirects_within_the_site_are_followed_and_no_third() -> None:
    for hops, proved in ((2, True), (3, False)):
        play = Play(not_found)
        last = f"/h{hops}"

        def handler(path: str, play: Play = play, last: str = last) -> Answer:
            if path == last:
                return 200, TEXT, mine(play).encode()
            number = int(path[2:]) if path.startswith("/h") else 0
            return 302, {"Location": f"/h{number + 1}"}, b""

        play.handler = handler
        play.say("verification-requested")
        play.run()
        assert bool(play.of("verified")) is proved
        assert len(play.requests) == 3


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (not_found(""), "absent"),
        ((200, HTML, b"<html>"), "absent"),
        ((302, {"Location": "https://other.example/x"}, b""), "absent"),
        ((302, {"Location": "http://[::1"}, b""), "absent"),
        ((500, TEXT, b""), "undetermined"),
        (Outcome.TIMEOUT, "undetermined"),
        (Outcome.REFUSED_ADDRESS, "undetermined"),
    ],
)
def test_E09_a_proof_that_is_not_there_has_a_named_result(answer: Answer | Outcome, result: str) -> None:
    play = verified(answer)
    fact = play.of("verification-failed")[0]
    assert fact.result == result
    assert len(fact.reason) > 20
    assert "refused_address" not in fact.reason


def test_E12_proof_reads_do_not_consult_robots_and_keep_nothing() -> None:
    play = verified((200, TEXT, b"something else"))
    assert play.asked() == [PATH]
    assert [content.type for content in play.contents] == ["url-named"]


def test_E13_a_later_failing_check_does_not_remove_the_proof() -> None:
    play = Play(not_found)
    play.verify()
    play.say("verification-requested")
    play.run()
    assert play.of("verification-failed")
    assert play.site.head.accounts["acme"].proof is not None


def test_E13_only_staff_withdraw_and_what_ran_on_the_proof_ends() -> None:
    play = Play(lambda path: not_found(path) if path == "/robots.txt" else page(path, "/a"))
    play.verify()
    play.say("crawl-requested", requester="customer")
    play.step()
    play.say("withdraw-verification", by="anna", reason="sold")
    assert play.of("crawl-ended")[0].end == "failed"
    play.say("crawl-requested", requester="customer")
    assert play.of("crawl-decided")[-1].refusal == "unverified"


def test_E11_an_attestation_is_the_weaker_proof_and_names_who_and_where() -> None:
    play = Play(not_found)
    play.say("attest-site", by="anna", kept_at="drawer 3")
    fact = play.of("verified")[0]
    assert (fact.method, fact.weaker, fact.by, fact.kept_at) == ("attestation", True, "anna", "drawer 3")
    play.verify()
    play.say("attest-site", by="anna", kept_at="drawer 3")
    assert play.site.head.accounts["acme"].proof.method == "token_file"  # type: ignore[union-attr]


def test_E01_E03_the_headers_are_these_and_no_others() -> None:
    play = Play(page)
    play.say("address-saved", note="site=shop.example")
    play.verify()
    play.say("verification-requested")
    play.say("crawl-requested", requester="customer")
    play.run()
    names = {name for _, _, request in play.requests for name, _ in request.headers}
    assert names == {"User-Agent", "Accept", "Accept-Encoding"}
    assert {r.method for _, _, r in play.requests if r.kind is not Kind.ADDRESS_CHECK} == {"GET"}


def test_E02_a_refused_note_keeps_the_one_before_it_and_names_the_rule() -> None:
    play = Play(page)
    play.say("address-saved", note="site=shop.example")
    play.say("address-saved", note="Googlebot")
    fact = play.of("settings-saved")[-1]
    assert fact.note == "site=shop.example"
    assert fact.refused["note"]


@pytest.mark.parametrize("kind", ["crawl-requested", "verification-requested", "address-saved"])
def test_A03_a_message_delivered_again_changes_nothing(kind: str) -> None:
    play = Play(page)
    play.verify()
    play.say(kind, message_id="11111111-1111-1111-1111-111111111111")
    head, told = play.site.head, len(play.facts)
    play.say(kind, message_id="11111111-1111-1111-1111-111111111111")
    assert play.site.head == head
    assert len(play.facts) == told


def test_E21_five_starts_a_day_the_schedule_counts_and_staff_are_not_capped() -> None:
    play = Play(page)
    play.verify()
    for number in range(6):
        play.say("crawl-requested", requester="schedule" if number == 2 else "customer")
        play.run()
    decided = play.of("crawl-decided")
    assert [fact.refusal for fact in decided] == [None] * 5 + ["cap"]
    play.say("start-crawl", by="anna")
    assert play.of("crawl-decided")[-1].accepted
    play.run()
    play.now += 86_400
    play.say("crawl-requested", requester="customer")
    assert play.of("crawl-decided")[-1].accepted


def test_E05_another_accounts_proof_opens_nothing() -> None:
    play = Play(page)
    play.verify("other")
    play.say("crawl-requested", requester="customer")
    assert play.of("crawl-decided")[0].refusal == "unverified"
    assert not play.step()


def test_E23_every_decision_is_an_audit_fact_refusals_too() -> None:
    play = Play(page)
    play.say("crawl-requested", requester="customer", by="console user 7")
    fact = play.of("crawl-decided")[0]
    assert (fact.accepted, fact.verified, fact.proof, fact.requested_by) == (False, False, None, "console user 7")
    play.verify()
    play.say("crawl-requested", requester="customer", by="console user 7")
    fact = play.of("crawl-decided")[1]
    assert (fact.accepted, fact.verified, fact.proof) == (True, True, "token_file")
    assert fact.verified_at is not None
