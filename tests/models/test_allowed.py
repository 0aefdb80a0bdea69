"""Mistakes are told in our own words, whatever the library calls them."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from pydantic import ValidationError

import bots
from models import intake
from models.allowed import allowed
from models.ceilings import ProfileError
from models.settings import Settings, SettingsError, load
from models.wire import Unreadable
from tests.authority.events import raw

FOREIGN = re.compile(
    r"pydantic|Input should|Value error|valid (string|integer|number|list|tuple)|greater than|less than or|ensure"
)
WRONG: tuple[Any, ...] = (
    None,
    "",
    "x" * 9000,
    -1,
    0,
    10**9,
    1.5,
    "nan",
    "many",
    True,
    [],
    ["x"],
    {},
    {"a": 1},
    b"\xff",
)


@pytest.mark.parametrize("key", Settings.model_fields)
@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:12])
def test_a_setting_of_any_wrong_type_is_told_in_our_words(key: str, value: Any) -> None:
    try:
        load(None, {}, **{key: value})
    except SettingsError as error:
        assert not FOREIGN.search(str(error).partition("allowed is")[2]), error


@pytest.mark.parametrize("value", WRONG, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    "field", ["budget", "budget.pages", "pace.crawl.delay", "gate.schedule", "media.page", "egress.ipv4"]
)
def test_a_profile_s_field_of_any_wrong_type_is_told_in_our_words(field: str, value: Any) -> None:
    wanted: Any = value
    for name in reversed(field.split(".")):
        wanted = {name: wanted}
    try:
        bots.load("ema").tightened(wanted)
    except ProfileError as error:
        assert not FOREIGN.search(error.allowed), error


@pytest.mark.parametrize("value", WRONG[:-1], ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("field", ["account", "address", "note", "scope", "schedule"])
def test_an_event_s_field_of_any_wrong_type_is_told_in_our_words(field: str, value: Any) -> None:
    said: dict[str, Any] = {"account": "acme", "address": "shop.example", field: value}
    try:
        intake.read("address-saved", raw("address-saved", **said))
    except Unreadable as error:
        assert not FOREIGN.search(str(error).partition("allowed is")[2]), error


def test_an_envelope_without_an_id_is_told_in_our_words() -> None:
    with pytest.raises(ValidationError) as caught:
        intake.Envelope.model_validate({"id": "seven", "type": "x", "data": {}})
    assert allowed(caught.value.errors()[0]) == "a UUID"
    assert intake.Envelope.model_validate({"id": str(uuid.uuid4()), "type": "x", "data": {}})
