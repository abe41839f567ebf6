"""All random runs of the oracle judged from their traces alone.

A whole trace is decided: each answer equals the model's truth, to the offset. So is one whose replicas begin with
records, one that states high watermarks in lines of other kinds, one of a single witness, and one with fields left out
and lines added that repeat what is so. With lines of one broker or of some kinds dropped and the claim narrowed, an
answer may be unknown, but it may not be wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from benchmarks.trace_faults import ADDED
from benchmarks.trace_tellings import JUDGED
from benchmarks.traces import (
    ASKED,
    BEGUN,
    ENTRIES,
    FAULTY,
    LESS,
    MIDDLE,
    MISTIMED,
    OBSERVED,
    OF_KINDS,
    OTHERWISE,
    TERSE,
    WHOLE,
    Told,
    compare,
)
from forensics.model import PROTOCOLS, VARIANTS
from forensics.model.protocol import Protocol
from forensics.model.random_runs import AT_ONCE, CHANGING, OPEN_ENDED, RUINOUS, Setting, schedule
from tests.conftest import EVERYTHING
from tests.model.batches import Schedule, drawn
from tests.model.test_oracle import ALL, LOGGINGS, RUNS, chunks

BY_NAME = {protocol.name: protocol for protocol in ALL}
TOGETHER = 50
"""Traces that are judged by one scan."""

SOME = range(len(PROTOCOLS)) if EVERYTHING else [len(PROTOCOLS) - 1]
"""Protocols whose runs take long: all with CI=1, else the last one."""

LESS_RUNS = max(10 if EVERYTHING else 5, RUNS // 20)
"""Runs of each protocol that are judged with lines dropped."""


def undecided(protocol: Protocol, schedules: Sequence[Schedule]) -> list[Told]:
    """Answers to whole traces that are not exactly right; fails without an answer to each question on each run."""
    found: list[Told] = []
    for at in range(0, len(schedules), TOGETHER):
        part = schedules[at : at + TOGETHER]
        told = compare(protocol, part, [WHOLE])[WHOLE]
        assert told.total() == len(part) * len(ASKED)
        found += [one for one in told.elements() if one.kind != "right"]
    return found


@pytest.mark.parametrize(("protocol", "logging", "seeds"), chunks())
def test_whole_traces_are_decided(protocol: str, logging: str, seeds: range) -> None:
    assert undecided(BY_NAME[protocol], [drawn(seed) for seed in seeds]) == []


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=[variant.name for variant in VARIANTS])
def test_whole_traces_of_variants_are_decided(number: int) -> None:
    first = 900_000 + 1_000 * number
    assert undecided(VARIANTS[number], [drawn(seed) for seed in range(first, first + RUNS // 5)]) == []


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_whole_traces_with_damaged_checkpoints_are_decided(number: int) -> None:
    first = 910_000 + 10_000 * number
    schedules = [drawn(seed, weights=RUINOUS) for seed in range(first, first + RUNS // 4)]
    assert undecided(PROTOCOLS[number], schedules) == []


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_whole_traces_of_unfinished_runs_are_decided(number: int) -> None:
    firsts = [950_000 + 10_000 * number + 5_000 * at for at in range(len(LOGGINGS))]
    schedules = [drawn(first + n, settled=False) for first in firsts for n in range(RUNS // 8)]
    assert undecided(PROTOCOLS[number], schedules) == []


@pytest.mark.parametrize("number", range(len(PROTOCOLS)), ids=[protocol.name for protocol in PROTOCOLS])
def test_whole_traces_with_transactions_are_decided(number: int) -> None:
    first = 990_000 + 1_000 * number
    schedules = [drawn(seed, weights=OPEN_ENDED) for seed in range(first, first + RUNS // 8)]
    assert undecided(PROTOCOLS[number], schedules) == []


def at_once(seed: int) -> Schedule:
    """A run in which a leader may come back before its session ends, and lead on in its epoch."""
    return drawn(seed, weights=AT_ONCE)


@pytest.mark.parametrize("number", SOME)
def test_whole_traces_of_brokers_that_start_at_once_are_decided(number: int) -> None:
    first = 1_100_000 + 1_000 * number
    schedules = [at_once(seed) for seed in range(first, first + RUNS // 8)]
    assert undecided(PROTOCOLS[number], [*schedules, at_once(1_100_015)]) == []


def changing(seed: int) -> Schedule:
    """A run in which many brokers become leader one after the other."""
    steps = tuple(schedule(seed, 40, (1, 2, 3), CHANGING))
    return Schedule(Setting((1, 2, 3), 1, True), steps, seed, bool(seed % 2))


@pytest.mark.parametrize("number", SOME)
def test_what_of_a_loss_is_over_is_told(number: int) -> None:
    """In one run of six a later leader has what one before it lacked, mostly a part of it."""
    first = 1_000_000 + 1_000 * number
    schedules = [changing(seed) for seed in range(first, first + max(50 if EVERYTHING else 25, RUNS // 5))]
    found = compare(PROTOCOLS[number], schedules, [WHOLE, LESS])
    assert {one.kind for one in found[WHOLE] if one.rule == "committed-data-lost"} == {"right"}
    assert {"missed", "wrong"}.isdisjoint(one.kind for one in found[LESS] if one.rule == "committed-data-lost")
    over = [one for each in schedules for loss in each.play(PROTOCOLS[number]).truth()["losses"]
            for one in loss["served_again"]]  # fmt: skip
    assert len(over) > 3


@pytest.mark.parametrize("number", SOME)
def test_a_fault_that_is_added_is_found(number: int) -> None:
    first = 4_000_000 + 1_000 * number
    runs = max(60 if EVERYTHING else 15, LESS_RUNS)  # some kinds of fault find no place in many runs
    found = compare(PROTOCOLS[number], [drawn(seed) for seed in range(first, first + runs)], [FAULTY])[FAULTY]
    assert set() < {one.rule for one in found} <= set(ADDED)
    assert not EVERYTHING or {one.rule for one in found} == set(ADDED)
    assert {one.kind for one in found} == {"right"}


@pytest.mark.parametrize("number", SOME)
def test_traces_with_lines_dropped_or_with_records_before_are_never_judged_wrongly(number: int) -> None:
    first = 2_000 + number * LESS_RUNS
    found = compare(PROTOCOLS[number], [drawn(seed) for seed in range(first, first + LESS_RUNS)])
    for name in (LESS, OF_KINDS, MIDDLE, ENTRIES):
        assert [one for one in found[name] if one.kind in ("missed", "wrong")] == [], name
    # What was before a claim is known by the epoch entries of each log.
    forks = [one.kind for one in found[ENTRIES].elements() if one.rule == "replica-divergence"]
    assert forks.count("right") > 0.8 * len(forks)
    assert found[BEGUN].total() >= len(ASKED)  # a run that loses a log or a checkpoint cannot be moved
    assert {one.kind for one in found[BEGUN]} == {"right"}
    for name, rules in ((OTHERWISE, JUDGED), (OBSERVED, ASKED), (TERSE, ASKED)):
        assert found[name].total() == LESS_RUNS * len(rules)
        assert {one.kind for one in found[name]} == {"right"}, name
    mistimed = Counter(one.kind for one in found[MISTIMED].elements())
    assert mistimed.keys() <= {"right", "unknown"}
    assert mistimed["right"] > 0.8 * mistimed.total()  # a wrong time seldom decides


@pytest.mark.parametrize(
    ("protocol", "made", "seed", "kind"),
    [
        # Without the line that begins epoch 1 in its cache, a follower still has its leader's records of that epoch.
        ("epoch", drawn, 2_128, LESS),
        # A truncation within a batch removed the batch: offsets 0 and 1 have no records that could differ.
        ("epoch", drawn, 3_100_290, LESS),
        # A follower that has not heard of its leader's new epoch fetches that epoch's records.
        ("hw", drawn, 3_200_095, LESS),
        # A log that was found shorter at the end has no record above that could differ.
        ("epoch-279", changing, 1_002_128, LESS),
        ("epoch-279", changing, 1_002_132, LESS),
        # The claim leaves open which high watermarks were kept, which ISR there was, and that an election was unclean.
        ("hw", drawn, 43_042, OF_KINDS),
        ("hw", drawn, 50_071, OF_KINDS),
        ("hw", drawn, 50_728, OF_KINDS),
        # A follower states where one leader epoch begins in its log, and not where the next one does.
        ("epoch-279", drawn, 50_277, OF_KINDS),
        ("epoch", drawn, 60_852, OF_KINDS),
        # Without roles in the claim, whether a leader still had the records is open.
        ("hw", drawn, 7_049, OF_KINDS),
        # A log is loaded twice, the second time shorter, and no line shows that a process started in between.
        ("epoch", at_once, 1_101_007, OF_KINDS),
    ],
)
def test_single_runs_that_were_judged_wrongly(
    protocol: str, made: Callable[[int], Schedule], seed: int, kind: str
) -> None:
    found = compare(BY_NAME[protocol], [made(seed)], [kind])[kind]
    assert [one for one in found if one.kind in ("missed", "wrong")] == []


@pytest.mark.parametrize(
    ("protocol", "seed"),
    [
        # The ISR of an epoch is in its leader's role alone; another role of the same epoch leaves it out.
        ("epoch-279", 121),
        ("fetch", 126),
    ],
)
def test_single_runs_with_other_fields(protocol: str, seed: int) -> None:
    assert {one.kind for one in compare(BY_NAME[protocol], [drawn(seed)], [TERSE])[TERSE]} == {"right"}


def test_single_runs_that_were_left_open() -> None:
    """A checkpoint of 3 from which 0 is read back is a regression; a directory that is removed holds no copy.

    In seed 2 a leader that was killed has lost an entry of its epoch file, and answers that an epoch ends later.
    """
    damaged = drawn(930_068, weights=RUINOUS)
    removed = drawn(975_099, settled=False)
    assert undecided(BY_NAME["epoch-279"], [damaged, removed, drawn(2)]) == []


def test_a_leader_that_was_told_of_its_successor_late_lacks_only_what_was_stated_then() -> None:
    """A paused leader follows in epoch 4, whose records a broker that still leads epoch 1 does not have."""
    assert undecided(BY_NAME["epoch"], [drawn(920_003, weights=RUINOUS)]) == []


def test_truncations_to_one_offset_that_removed_other_records_are_told_apart() -> None:
    """A follower removes four records of epoch 0, fetches four of epoch 1, which are committed, and removes them.

    In the other runs it removes the same records once before they are committed, and once after.
    """
    assert undecided(BY_NAME["hw"], [drawn(seed) for seed in (100_216, 430, 100_496, 100_821)]) == []
