"""Facts and texts come by different topics: however the two are interleaved, the same rows (I12, F31).

Each topic keeps the order of a site; only between them, and in the size of batches, do a sink that follows and a
replay from the beginning differ.
"""

from __future__ import annotations

import random

import pytest
from sqlalchemy import Engine

from models import events, ids
from models.events import Fact
from tests.sink.histories import SITE, START, URLS, apply, dump, history, page, topic_of
from tests.sink.test_replay import empty

LATER = ids.job_id("crawl", "after the erasure")


def life() -> list[Fact]:
    """A whole history, an erasure, and the same URLs named and read again, as the sink meets them."""
    erasure = events.Erased(
        id=ids.event_id("erased", "1"), at=START + 500, site=SITE, until=START + 500, by="ann", reason="asked"
    )
    again = [events.named(SITE, url, START + 900) for url in URLS[:2]]
    return [*history(), erasure, *again, page(URLS[0], LATER, at=START + 901)]


def interleaved(facts: list[Fact], dice: random.Random) -> list[Fact]:
    """The topics in some other order between them, each in its own."""
    queues = [[fact for fact in facts if (topic_of(fact) == "site-events") is told] for told in (True, False)]
    found: list[Fact] = []
    while left := [queue for queue in queues if queue]:
        queue = dice.choice(left)
        size = dice.randint(1, len(queue))
        found += queue[:size]
        del queue[:size]
    return found


@pytest.mark.parametrize("batch", [1, 1000])
@pytest.mark.parametrize("told", [True, False])
def test_I12_E25_what_was_named_again_after_an_erasure_is_there_whichever_topic_is_read_first(
    engine: Engine, told: bool, batch: int
) -> None:
    apply(engine, life(), batch=1)
    expected = dump(engine)
    assert (len(expected["urls"]), len(expected["pages"])) == (2, 1)
    empty(engine)
    apply(engine, sorted(life(), key=lambda fact: (topic_of(fact) == "site-events") is not told), batch=batch)
    assert dump(engine) == expected


@pytest.mark.parametrize("seed", range(6))
def test_I12_F31_topics_interleaved_anyhow_give_the_same_rows(engine: Engine, seed: int) -> None:
    apply(engine, life(), batch=1)
    expected = dump(engine)
    empty(engine)
    dice = random.Random(seed)
    apply(engine, interleaved(life(), dice), batch=dice.choice((1, 3, 7, 200)))
    assert dump(engine) == expected
