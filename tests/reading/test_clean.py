"""Clean text: what PostgreSQL and JSON take."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.clean import MAX_TEXT, clean_line, clean_text


@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_E28_text_is_safe_for_postgresql_and_json(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    assert json.loads(json.dumps(cleaned).encode("utf-8")) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert clean_text(cleaned) == cleaned
    assert "\n" not in clean_line(text)


def test_E28_text_is_bounded_even_where_normalisation_lengthens_it() -> None:
    assert len(clean_text("\ufb2c" * MAX_TEXT)) == MAX_TEXT


def test_tabs_and_newlines_stay_and_carriage_returns_become_newlines() -> None:
    assert clean_text("a\tb\r\nc\rd\u202e\u200b") == "a\tb\nc\nd"
