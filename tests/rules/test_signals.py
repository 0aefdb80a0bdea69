from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.rules.signals import Signal, input_refused, signals
from tests.rules.answers import answer


def test_A05_signals_are_recorded_with_their_source() -> None:
    headers = (("TDM-Reservation", "1"), ("X-Robots-Tag", "noai, noimageai"), ("Content-Usage", "train-ai=n"))
    metas = (("tdm-policy", "https://example.com/p"), ("robots", "index, noai"), ("description", "noai"))
    found = signals(answer(headers=headers), metas, (("content-signal", "ai-input=no"),))
    assert set(found) == {
        Signal("content-signal", "ai-input=no", "robots"),
        Signal("tdm-reservation", "1", "header"),
        Signal("content-usage", "train-ai=n", "header"),
        Signal("noai", "noai, noimageai", "header"),
        Signal("noimageai", "noai, noimageai", "header"),
        Signal("tdm-policy", "https://example.com/p", "meta"),
        Signal("noai", "index, noai", "meta"),
    }


def test_A05_a_customer_is_warned_of_ai_input_no_on_the_own_site() -> None:
    assert input_refused([Signal("content-signal", "search=yes, AI-input = no", "robots")])
    assert not input_refused([Signal("content-signal", "ai-train=no", "robots")])


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=700)), max_size=5))
def test_A05_any_headers_and_metas_are_read(pairs: list[tuple[str, str]]) -> None:
    assert len(signals(answer(headers=tuple(pairs)), pairs, pairs)) <= 50
