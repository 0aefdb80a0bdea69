"""Which records of the changelog count: whatever a frozen process writes late, a reader sees what the owner has."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from agents.fences import Fence, Reading, claim_key, epoch_of

CLAIM = claim_key(0)


@dataclass
class Record:
    key: bytes
    value: bytes | None
    headers: list[tuple[str, bytes]]


def claim(epoch: int, owner: str) -> Record:
    fence = Fence(epoch, owner)
    return Record(CLAIM, fence.to_bytes(), fence.headers)


def record(epoch: int, key: bytes, value: bytes | None) -> Record:
    return Record(key, value, Fence(epoch).headers if epoch else [])


def read(*records: Record) -> Reading:
    reading = Reading()
    reading.take(records)
    return reading


def test_a_claim_survives_its_bytes() -> None:
    assert Fence.from_bytes(Fence(7, "worker-1@ab12").to_bytes()) == Fence(7, "worker-1@ab12")
    assert epoch_of(Fence(7, "x").headers) == 7
    assert epoch_of([("trace", b"1"), ("e", b"3")]) == 3
    assert epoch_of([]) == 0


def test_A03_a_record_of_a_lower_epoch_behind_a_claim_does_not_count() -> None:
    found = read(claim(1, "a"), record(1, b"s|h", b"old"), claim(2, "b"), record(1, b"s|h", b"late"))
    assert found.values[b"s|h"] == b"old"
    assert found.hidden == {b"s|h"}


def test_A03_a_late_tombstone_deletes_nothing() -> None:
    found = read(claim(1, "a"), record(1, b"s|f", b"chunk"), claim(2, "b"), record(1, b"s|f", None))
    assert found.values[b"s|f"] == b"chunk"


def test_A03_what_was_deleted_does_not_come_back() -> None:
    found = read(claim(1, "a"), record(1, b"s|f", b"chunk"), claim(2, "b"), record(2, b"s|f", None),
                 record(1, b"s|f", b"late"))  # fmt: skip
    assert found.values[b"s|f"] is None
    assert found.hidden == {b"s|f"}


def test_A03_of_two_claims_of_one_epoch_the_first_counts() -> None:
    found = read(claim(1, "a"), claim(2, "b"), claim(2, "c"))
    assert found.fence == Fence(2, "b")
    assert found.hidden == {CLAIM}


def test_A03_what_is_written_again_hides_nothing_any_more() -> None:
    found = read(claim(1, "a"), record(1, b"k", b"1"), claim(2, "b"), record(1, b"k", b"0"), record(2, b"k", b"1"))
    assert (found.values[b"k"], found.hidden) == (b"1", set())


def test_A03_a_fence_whose_claim_was_compacted_away_is_known_by_its_records() -> None:
    found = read(record(5, b"k", b"new"), record(4, b"k", b"late"))
    assert (found.values[b"k"], found.fence) == (b"new", Fence(5))
    assert found.fence.next("b") == Fence(6, "b")


def test_A03_a_site_of_which_nothing_newer_is_left_keeps_what_there_is() -> None:
    """Compaction took the newer head before anybody wrote it again: better an old suspension than none."""
    assert read(claim(5, "a"), record(4, b"k", b"late")).values[b"k"] == b"late"


def test_records_of_an_older_version_count_until_the_first_claim() -> None:
    found = read(record(0, b"k", b"1"), claim(1, "a"), record(0, b"k", b"2"))
    assert found.values[b"k"] == b"1"


@dataclass
class Owner:
    """A process that may be frozen: what it sends arrives when it likes, in its order."""

    fence: Fence
    memory: dict[bytes, bytes | None]
    sending: list[Record] = field(default_factory=list)

    def write(self, key: bytes, value: bytes | None) -> None:
        self.memory[key] = value
        self.sending.append(Record(key, value, self.fence.headers))


keys = st.sampled_from([b"a|h", b"b|h", b"b|f"])
values = st.one_of(st.none(), st.binary(min_size=1, max_size=2))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 3)),
        st.tuples(st.just("write"), st.integers(0, 9), keys, values),
        st.tuples(st.just("arrive"), st.integers(0, 9)),
        st.tuples(st.just("mend")),
    ),
    max_size=60,
)


@given(steps)
def test_A03_whoever_reads_sees_what_the_last_owner_has(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    """Owners come one after the other; the ones before go on writing, late, and their claims arrive late too.

    The log is compacted at any time at which the owner has written again what was hidden (min.compaction.lag.ms).
    """
    log: list[Record] = []
    owners: list[Owner] = []
    late: list[Record] = []
    for step in steps:
        if step[0] == "take":  # each of these read the log, and its claim is on its way or frozen
            reading = read(*log)
            for rival in range(step[1]):
                late += [claim(reading.fence.epoch + 1, f"rival-{rival}")]
            fence = reading.fence.next(f"owner-{len(owners)}")
            log.append(Record(CLAIM, fence.to_bytes(), fence.headers))
            reading = read(*log)
            if reading.fence == fence:  # else it ends
                owners.append(Owner(fence, reading.values))
        elif owners and step[0] == "write":
            owners[step[1] % len(owners)].write(step[2], step[3])
        elif step[0] == "arrive":
            queues = [owner.sending for owner in owners] + [late]
            queue = queues[step[1] % len(queues)]
            if queue:
                log.append(queue.pop(0))
        elif owners and step[0] == "mend":
            owner = owners[-1]
            log += owner.sending
            owner.sending.clear()
            log += [Record(key, owner.memory.get(key), owner.fence.headers) for key in sorted(read(*log).hidden)]
            newest = {record.key: record for record in log}
            log = [record for record in log if newest[record.key] is record]
    if owners:
        last = owners[-1]
        log += last.sending
        found = read(*log)
        assert found.fence == last.fence
        # what nobody ever wrote may be a frozen process's alone
        assert {key: value for key, value in found.values.items() if key in last.memory} == last.memory
