"""The memory that comes back from the database is the memory that was (A03)."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

import bots
from agents.projection import project
from commands import lookups
from crawler.rules.actor import decide
from crawler.rules.site import Policy
from crawler.rules.tokens import token
from models import ids, topics
from models.mailbox import RESTORE, Message, RestoreSite, read
from models.state import Account, Head, Proof, Suspension, Validator
from models.web import Outcome
from stack.restore import SINK_GROUP, Known, known, messages
from tests.jobs import test_revisits as revisits
from tests.jobs.driver import TEXT, Play, not_found, page
from tests.jobs.test_revisits import Revisit, marked

PARTITIONS = topics.by_name()["site-mailbox"].partitions


def restored(engine: Engine, play: Play) -> Play:
    """The play's facts into the database, and what comes back from there into an empty memory."""
    with engine.begin() as connection:
        project(connection, [*play.facts, *play.contents])
    after = replace(play, requests=[], facts=[], contents=[], records={})
    for message in messages(known(engine, play.now), PARTITIONS, play.now):
        again = read(message.model_dump_json().encode())
        if again.site == play.site.head.site:
            after.commit(decide(after.site, again, play.now, play.policy))
    return after


def shop(bot: str = "ema") -> Play:
    policy = Policy(bots.load(bot), b"k" * 32)
    mine = token(policy.token_key, bot, "acme", "shop.example", 1_800_000_000.0)
    file = policy.profile.proofs.file
    paths = {file.path if file else "": (200, TEXT, mine.encode()), "/robots.txt": not_found("")}
    return Play(lambda path: paths.get(path) or page(f"page {path}", "/a"), policy=policy)


def proved(bot: str = "ema") -> Play:
    play = shop(bot)
    play.say("verification-requested")
    play.run()
    assert play.of("verified")
    return play


def same(play: Play, after: Play) -> None:
    """All that decides what a site may do; not the sub-millisecond rests of times."""
    kept = {"accounts", "suspended", "blocked", "listed", "starts", "pause_until", "strikes"}
    assert rounded(after.site.head.model_dump(include=kept)) == rounded(play.site.head.model_dump(include=kept))


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def test_A03_E13_a_verified_site_crawls_again(engine: Engine) -> None:
    play = proved()
    after = restored(engine, play)
    assert after.site.head.accounts["acme"].proof == play.site.head.accounts["acme"].proof
    after.say("crawl-requested")
    assert after.of("crawl-decided")[0].accepted
    rival = restored(engine, play)
    rival.say("crawl-requested", account="rival")
    assert rival.of("crawl-decided")[0].refusal == "unverified"


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (["suspend-site"], "suspended"),
        (["suspend-site", "resume-site"], None),
        (["block-site"], "blocked"),
        (["block-site", "suspend-site", "resume-site"], "blocked"),
        (["block-site", "unblock-site"], None),
        (["withdraw-verification"], "unverified"),
    ],
)
def test_A03_E25_W13_what_staff_said_still_holds(engine: Engine, said: list[str], refusal: str | None) -> None:
    play = proved()
    for kind in said:
        play.now += 1
        play.say(kind)
    after = restored(engine, play)
    after.say("crawl-requested")
    assert after.of("crawl-decided")[0].refusal == refusal
    assert bool(after.site.head.suspended) is bool(play.site.head.suspended)


def test_A03_E02_E21_E22_settings_and_the_day_s_starts_come_back(engine: Engine) -> None:
    play = proved()
    play.say("address-saved", note="site=shop.example", scope=("https://shop.example/a",), schedule=False)
    for number in range(4):
        play.say("crawl-requested", by=f"b{number}")
        play.run()
    play.say("start-crawl")
    play.run()
    after = restored(engine, play)
    same(play, after)
    account = after.site.head.accounts["acme"]
    assert (account.note, account.scope, account.schedule) == (
        "site=shop.example",
        ("https://shop.example/a",),
        False,
    )
    after.say("crawl-requested")
    after.run()
    after.say("crawl-requested")
    assert [fact.refusal for fact in after.of("crawl-decided")] == [None, "cap"]


def test_A03_E07_the_day_s_address_checks_come_back(engine: Engine) -> None:
    play, most = Play(page), bots.load("ema").address_check.per_site_day
    for number in range(most + 2):
        play.say("address-saved", path=f"/{number}")
        play.run()
    after = restored(engine, play)
    assert sorted(map(set, after.site.head.checks.values())) == sorted(map(set, play.site.head.checks.values()))
    after.say("address-saved", path="/more")
    assert after.of("address-checked")[0].outcome == "site_limit"


def test_A03_W06_a_pause_comes_back_until_it_is_over(engine: Engine) -> None:
    play = Play(lambda path: (503, {"Retry-After": "3600"}, b""), policy=Policy(bots.load("wembi"), b"k" * 32))
    play.say("list-site")
    play.say("start-crawl")
    play.step()
    assert play.site.head.pause_until > play.now + 3000
    after = restored(engine, play)
    same(play, after)
    after.say("start-crawl")
    before = after.now
    after.step()
    assert after.now - before > 3000


def test_A03_C01_C06_a_confirmation_comes_back_and_a_lost_proof_does_not(engine: Engine) -> None:
    play = proved("certant")
    play.say("site-confirmed", by="carl")
    same(play, restored(engine, play))
    play.handler = not_found
    play.now += 60
    play.say("crawl-requested")
    play.run()
    assert play.of("proof-rechecked")[0].result == "absent"
    after = restored(engine, play)
    same(play, after)
    assert after.site.head.accounts["acme"].proof is None


@pytest.mark.parametrize(("answer", "above"), [(not_found, 25), (lambda _: Outcome.TIMEOUT, None)])
@pytest.mark.parametrize("plan", ["trial", "paid"])
def test_A03_C06_a_crawl_that_was_lost_after_it_found_no_proof_still_removes(
    engine: Engine, answer: Any, above: int | None, plan: str
) -> None:
    """The proof is off file, so no later crawl would look for it: the removal is this crawl's, or nobody's."""
    play = proved("certant")
    play.say("site-confirmed", by="carl")
    file = play.profile.proofs.file
    assert file is not None
    shop = play.handler
    play.handler = lambda path: answer(path) if path == file.path else shop(path)
    play.now += 60
    play.say("crawl-requested", plan=plan)
    while not play.of("proof-rechecked"):
        play.step()
    ended = restored(engine, play).of("crawl-ended")
    assert [fact.end for fact in ended] == ["failed"]
    assert ended[0].remove_above == (above and {"trial": 25, "paid": 100}[plan])


def test_A03_C06_what_an_earlier_crawl_found_is_nothing_to_a_later_one(engine: Engine) -> None:
    play = proved("certant")
    play.say("site-confirmed", by="carl")
    there = play.handler
    play.handler = not_found
    play.say("crawl-requested")
    play.run()
    assert play.of("crawl-ended")[-1].remove_above == 25
    play.handler = there
    play.now += 60
    play.say("verification-requested")
    play.run()
    play.say("crawl-requested")
    while len(play.of("proof-rechecked")) < 2:
        play.step()
    assert play.of("proof-rechecked")[-1].result == "found"
    assert restored(engine, play).of("crawl-ended")[-1].remove_above is None


def test_A03_a_proof_and_an_attestation_come_back_as_the_stronger(engine: Engine) -> None:
    play = proved()
    play.now += 60
    play.say("attest-site", kept_at="drawer 3")
    after = restored(engine, play)
    assert after.site.head.accounts["acme"].proof.method == "token_file"  # type: ignore[union-attr]


def test_A03_A04_a_crawl_that_ran_ends_once_and_can_be_asked_for_again(engine: Engine) -> None:
    play = proved()
    play.say("crawl-requested")
    for _ in range(3):
        play.step()
    after = restored(engine, play)
    ended = after.of("crawl-ended")
    assert [(fact.crawl, fact.end) for fact in ended] == [(play.of("crawl-decided")[0].crawl, "failed")]
    assert ended[0].requests["page"] == play.site.head.jobs[0].requests["page"]
    after.say("crawl-requested")
    after.run()
    assert [fact.end for fact in after.of("crawl-ended")] == ["failed", "completed"]
    with engine.begin() as connection:
        project(connection, after.facts)
    assert not restored(engine, after).of("crawl-ended")


# --- conditional GET


def marked_shop() -> tuple[Revisit, dict[str, Any]]:
    pages: dict[str, Any] = {
        "/robots.txt": (200, TEXT, b""), "/": marked(page("home", "/a", "/b", "/c")), "/a": marked(page("a", "/")),
        "/b": page("b"), "/c": marked(page("c"), ETag='"c"'),
    }  # fmt: skip
    return revisits.shop(pages), pages


def remembered(play: Play) -> dict[tuple[str, str], Any]:
    return {key: rounded(slot.validator.model_dump()) for key, slot in play.site.validators.items()}


def test_A03_W09_validators_come_back_as_they_were(engine: Engine) -> None:
    play, pages = marked_shop()
    revisits.run(play)
    pages["/a"] = marked(page("another a"), ETag='"new"')
    revisits.run(play)
    assert len(remembered(play)) == 3
    after = restored(engine, play)
    assert remembered(after) == remembered(play)
    after.restart()
    assert remembered(after) == remembered(play)
    again = revisits.run(after)
    outcomes = revisits.outcomes(after, again)
    assert [outcomes[path] for path in ("/", "/a", "/b", "/c")] == [
        "not_modified",
        "not_modified",
        "ok",
        "not_modified",
    ]


def test_A03_W09_a_page_whose_last_reading_failed_comes_back_without(engine: Engine) -> None:
    play, pages = marked_shop()
    revisits.run(play)
    pages["/c"] = (500, TEXT, b"")
    revisits.run(play)
    after = restored(engine, play)
    assert remembered(after) == remembered(play)
    assert ("acme", "https://shop.example/c") not in remembered(after)


def test_A03_E25_W09_erased_pages_come_back_without(engine: Engine) -> None:
    play, _ = marked_shop()
    revisits.run(play)
    held = remembered(play)
    play.say("erase-site")
    assert held
    assert not remembered(restored(engine, play))


def test_A03_E25_W09_what_was_erased_since_the_loss_does_not_come_back() -> None:
    play, _ = marked_shop()
    revisits.run(play)
    old_ones = tuple(slot.validator for slot in play.site.validators.values())
    play.say("erase-site")
    put_back(play, validators=old_ones)
    assert not play.site.validators


def test_A03_W09_newer_validators_stand() -> None:
    play, _ = marked_shop()
    revisits.run(play)
    held = remembered(play)
    older = [slot.validator.model_copy(update={"etag": '"old"', "at": 1.0}) for slot in play.site.validators.values()]
    put_back(play, validators=tuple(older))
    assert remembered(play) == held


def test_A03_W09_many_validators_come_in_messages_that_a_mailbox_reads() -> None:
    links = tuple(f"/{number:07}" for number in range(300))
    many = [
        Validator(account="acme", url=f"https://shop.example/{n}", etag='"x"', crawl="c", at=float(n), links=links)
        for n in range(2_010)
    ]
    found = messages({"shop.example": Known(validators=many)}, PARTITIONS, 0.0)
    play, _ = marked_shop()
    for message in found:
        again = read(message.model_dump_json().encode())
        if again.site == "shop.example":
            play.commit(decide(play.site, again, play.now, play.policy))
    assert {url for _, url in play.site.validators} == {f"https://shop.example/{n}" for n in range(10, 2_010)}
    assert play.site.head.validators == 2_000


def test_W09_a_crawl_s_pages_are_those_it_read_and_those_it_found_unchanged(engine: Engine) -> None:
    play, pages = marked_shop()
    first = revisits.run(play)
    pages["/a"] = marked(page("another a"), ETag='"new"')
    second = revisits.run(play)
    facts = [*play.facts, *play.contents]
    for seed in range(4):  # facts and contents come in any order, and twice
        random.Random(seed).shuffle(facts)
        with engine.begin() as connection:
            project(connection, facts[:50])
        with engine.begin() as connection:
            project(connection, facts)
        with engine.connect() as connection:
            held = connection.execute(lookups.pages_of(UUID(second))).mappings().all()
            newest = connection.execute(lookups.newest_crawl_with_pages("shop.example")).scalar_one()
            ago = connection.execute(lookups.pages_of(UUID(first))).mappings().all()
            progress = connection.execute(lookups.progress(UUID(second))).mappings().one()
        crawls = {row["url"].rpartition("example")[2]: str(row["crawl"]) for row in held}
        assert crawls == {"/": first, "/a": second, "/b": second, "/c": first}
        assert str(newest) == second
        assert {str(row["crawl"]) for row in ago} == {first}
        assert len(ago) == progress["pages"] == 4
        assert all(row["seen_at"] > row["fetched_at"] for row in held if str(row["crawl"]) == first)


# --- what came since the loss


SAID = Suspension(at=5.0, by="ann", reason="so")


def put_back(play: Play, **said: Any) -> None:
    message = Message.model_validate(
        {
            "id": str(len(play.facts)) + str(said), "type": RESTORE, "site": "shop.example", "host": "shop.example",
            "start": "https://shop.example/", "origin": {"topic": "t", "partition": 0, "offset": 0}, "said_at": 0.0,
            "data": RestoreSite(**said).model_dump(mode="json"),
        }
    )  # fmt: skip
    play.commit(decide(play.site, message, play.now, play.policy))


def old(play: Play, **more: Any) -> Account:
    proof = Proof(method="dns", host="shop.example", at=play.now - 1000)
    return Account(host="shop.example", start="https://shop.example/", proof=proof, saved_at=play.now - 900, **more)


def test_A03_a_withdrawal_since_the_loss_stands() -> None:
    play = shop()
    play.say("withdraw-verification")
    put_back(play, accounts={"acme": old(play)})
    assert play.site.head.accounts["acme"].proof is None


def test_A03_a_suspension_that_is_put_back_ends_what_has_begun_since() -> None:
    play = proved()
    play.say("crawl-requested")
    put_back(play, suspended=SAID)
    assert play.of("crawl-ended")[0].end == "suspended"
    play.run()
    assert play.site.head.stopped


def test_A03_the_newer_settings_stand_and_a_cut_scope_is_not_lost_to_a_command_of_staff() -> None:
    play = shop()
    play.say("attest-site", kept_at="drawer 3")
    put_back(play, accounts={"acme": old(play, scope=("https://shop.example/a",))})
    assert play.site.head.accounts["acme"].scope == ("https://shop.example/a",)
    play.say("address-saved", scope=None)
    put_back(play, accounts={"acme": old(play, scope=("https://shop.example/a",))})
    assert play.site.head.accounts["acme"].scope is None


def test_A03_starts_are_united() -> None:
    play = proved()
    play.say("crawl-requested")
    day = next(iter(play.site.head.starts))
    mine = play.site.head.starts[day]
    put_back(play, starts={day: ("x", *mine)})
    assert set(play.site.head.starts[day]) == {"x", *mine}
    assert len(play.site.head.starts[day]) == 2


def test_A03_a_marker_is_no_site_and_goes_last() -> None:
    names = [ids.marker_of(partition, PARTITIONS) for partition in range(PARTITIONS)]
    assert [ids.partition_of(name, PARTITIONS) for name in names] == list(range(PARTITIONS))
    found = messages({}, PARTITIONS, 0.0)
    assert [message.site for message in found] == names
    play = shop()
    play.site = replace(play.site, head=Head(site=names[0], partition=0))
    play.commit(decide(play.site, found[0], play.now, play.policy))
    assert play.site.head.marker
    assert not play.step()


def test_the_sink_s_group_is_the_one_that_restore_looks_at() -> None:
    from agents.sink import APP_ID  # noqa: PLC0415 - the stack must not know the agents; this test may

    assert APP_ID == SINK_GROUP
