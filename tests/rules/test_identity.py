from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.identity import NoteRefused, NoteRule, check_note, user_agent

EMA = bots.load("ema")
CASES = json.loads((Path(__file__).parent.parent / "data" / "note_cases.json").read_text())


def test_E01_the_user_agent_is_exactly_this() -> None:
    assert user_agent(EMA) == "EmaIngestBot/1.0 (+https://www.puglieseweb.com/crawler)"


def test_E01_a_note_stands_inside_the_brackets() -> None:
    note = check_note("site=example.com", EMA)
    assert user_agent(EMA, note) == ("EmaIngestBot/1.0 (+https://www.puglieseweb.com/crawler; site=example.com)")


@given(st.text(max_size=200))
def test_E01_no_note_can_replace_token_version_or_link(note: str) -> None:
    try:
        sent = user_agent(EMA, check_note(note, EMA))
    except NoteRefused:
        return
    head = "EmaIngestBot/1.0 (+https://www.puglieseweb.com/crawler"
    assert sent.startswith(head)
    assert sent.endswith(")")
    assert sent.count("(") == sent.count(")") == 1
    assert sent.isascii()
    assert sent.isprintable()


@pytest.mark.parametrize("bot", ["wembi", "certant"])
def test_E01_other_bots_send_token_version_and_link(bot: str) -> None:
    profile = bots.load(bot)
    assert user_agent(profile) == f"{profile.identity.token}/1.0 (+{profile.identity.page})"


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_E02_notes_that_read_like_a_crawler_are_refused_and_others_not(case: dict[str, object]) -> None:
    try:
        check_note(str(case["note"]), EMA)
        refused = False
    except NoteRefused:
        refused = True
    assert refused is case["refused"]


def test_E02_brackets_semicolons_and_control_characters_are_stripped() -> None:
    assert check_note("  a (b) [c] {d} <e>; f\t\x00\x9f\u200b  g ", EMA) == "a b c d e f g"


def test_E02_the_note_is_cut_to_80_characters() -> None:
    assert check_note("x" * 200, EMA) == "x" * 80


@pytest.mark.parametrize(
    "note", ["Google(b)ot", "Goo\u200bglebot", "G;o;o;g;l;e;b;o;t", "y" * 70 + " Googlebotanical"]
)
def test_E02_the_final_form_is_what_is_checked(note: str) -> None:
    with pytest.raises(NoteRefused):
        check_note(note, EMA)


@pytest.mark.parametrize(
    ("note", "rule"),
    [
        ("Chrome/120", NoteRule.PRODUCT),
        ("Googlebot", NoteRule.CRAWLER_NAME),
        ("Uptime Robot", NoteRule.CRAWLER_NAME),
        ("G\u043e\u043eglebot", NoteRule.CRAWLER_NAME),
        ("claude b\u043ft", NoteRule.NOT_ASCII),
        ("a bot", NoteRule.CRAWLER_SHAPE),
        ("brandnewbot", NoteRule.CRAWLER_SHAPE),
        ("caffè", NoteRule.NOT_ASCII),
    ],
)
def test_E02_the_error_names_the_rule(note: str, rule: NoteRule) -> None:
    with pytest.raises(NoteRefused) as caught:
        check_note(note, EMA)
    assert caught.value.rule is rule
    assert rule in str(caught.value)


@pytest.mark.parametrize("note", ["WhatsApp us", "Yeti coolers", "Sonic toys", "shop robot team", "", "   "])
def test_E02_what_a_shop_may_well_say_passes(note: str) -> None:
    assert check_note(note, EMA) == note.strip()


def test_E02_bots_without_notes_take_none() -> None:
    with pytest.raises(NoteRefused) as caught:
        check_note("site=example.com", bots.load("wembi"))
    assert caught.value.rule is NoteRule.NOT_ALLOWED


@given(st.text(max_size=300))
def test_E02_a_note_in_its_final_form_stays_as_it_is(note: str) -> None:
    try:
        final = check_note(note, EMA)
    except NoteRefused:
        return
    assert len(final) <= 80
    assert check_note(final, EMA) == final
