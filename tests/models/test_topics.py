"""`topics.yaml`: what every topic must be, and what a mistake in the list says."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.topics import TopicsError, by_name, load

HOUR = 3_600_000
ENTRY = "{name: NAME, about: x, key: KEY, schema: S, partitions: PARTS, retention: KEEP, cleanup: delete}"


def write(folder: Path, *entries: str) -> Path:
    path = folder / "topics.yaml"
    path.write_text("topics:\n" + "".join(f"  - {entry}\n" for entry in entries))
    return path


def entry(name: str = "a", key: str = "any", parts: str = "1", keep: str = "1h") -> str:
    filled = ENTRY.replace("NAME", name).replace("KEY", key).replace("PARTS", parts)
    return filled.replace("KEEP", keep)


def test_all_topics_of_a_site_have_the_same_partitions() -> None:
    keyed = [topic for topic in load() if topic.key == "site"]
    assert {topic.name for topic in keyed} == {
        "site-mailbox",
        "licet-worker-sites-changelog",
        "site-events",
        "page-fetched",
        "pages-listed",
    }
    assert {topic.partitions for topic in keyed} == {12}


def test_content_leaves_the_broker_within_73_hours() -> None:
    for name in ("page-fetched", "pages-listed"):
        configs = by_name()[name].configs()
        assert int(configs["retention.ms"]) + int(configs["segment.ms"]) <= 73 * HOUR


def test_memory_is_compacted_only_and_facts_are_kept() -> None:
    changelog = by_name()["licet-worker-sites-changelog"].configs()
    assert (changelog["cleanup.policy"], changelog["retention.ms"]) == ("compact", "-1")
    facts = by_name()["site-events"].configs()
    assert (facts["cleanup.policy"], facts["retention.ms"]) == ("delete", "-1")


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([entry(parts="0")], ["topic a", "partitions", "0"]),
        ([entry(keep="3 weeks")], ["topic a", "retention", "forever"]),
        ([entry(key="host")], ["topic a", "key", "'site' or 'any'"]),
        ([entry(), entry()], ["a more than once"]),
        ([entry("a", "site", "3"), entry("b", "site", "4")], ["[3, 4]"]),
        (["just-a-name"], ["just-a-name"]),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, entries: list[str], words: list[str]) -> None:
    with pytest.raises(TopicsError) as caught:
        load(write(tmp_path, *entries))
    assert all(word in str(caught.value) for word in words), caught.value
