"""Complete traces whose answers were written down before they were scanned: two protocols of Kafka, and Raft.

All traces of a protocol are topics of one file, so that one scan judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from tests.rules.traced import Line, text

Step = tuple[int, str, dict[str, Any]]
Want = dict[str, tuple[tuple[int, int], ...]]


def step(kind: str, *names: str) -> Callable[..., Step]:
    """A maker of steps of one kind: the broker, and the values of some fields in their order."""
    return lambda broker, *values, **more: (broker, kind, dict(zip(names, values, strict=False)) | more)


leads = step("become_leader", "leader_epoch", "leo", "hw", "isr")
follows = step("become_follower", "leader", "leader_epoch", "leo", "hw")
appends = step("append", "offset", "leo")
hw = step("hw", "hw")
truncates = step("truncate", "offset")
loads = step("log_loaded", "leo")
reads = step("hw_loaded", "hw")
shrinks = step("isr_shrink", "isr")
commits = step("isr_commit", "isr")
consumed = step("consumed", "offset")
deletes = step("log_start", "log_start")


def all_append(first: int, end: int, *brokers: int) -> list[Step]:
    return [appends(broker, first, end) for broker in brokers]


def restart(broker: int, *then: Step, clean: bool = False) -> list[Step]:
    kinds = ("process_start", "clean_restart" if clean else "unclean_restart")
    return [*((broker, kind, {}) for kind in kinds), *then]


TWO = [leads(1, 3, 0, 0, "1,2"), follows(2, 1, 3, 0, 0)]
THREE = [leads(1, 3, 0, 0, "1,2,3"), follows(2, 1, 3, 0, 0), follows(3, 1, 3, 0, 0)]
HEALTHY = [*TWO, *all_append(0, 10, 1, 2), hw(1, 10), hw(2, 10)]

LOST = ("committed-data-lost", "truncation-below-committed")

BY_EPOCH: dict[str, tuple[Sequence[Step], Want]] = {
    "a-tail-that-was-not-committed": (
        [
            *THREE, appends(1, 0, 10), *all_append(0, 6, 2, 3), hw(1, 6), leads(2, 4, 6, 6, "2,3"),
            follows(3, 2, 4, 6, 6), follows(1, 2, 4, 10, 6), truncates(1, 6), *all_append(6, 9, 2, 3, 1), hw(2, 9),
        ],
        {"uncommitted-truncation": ((6, 10),)},
    ),
    "an-unclean-election": (
        [
            *THREE, *all_append(0, 4, 1, 2, 3), shrinks(1, "1,2"), commits(1, "1,2"), *all_append(4, 8, 1, 2), hw(1, 8),
            (9, "unclean_election", {"leader": 3, "leader_epoch": 4, "isr": "3"}), leads(3, 4, 4, 4, "3"),
            follows(1, 3, 4, 8, 8), follows(2, 3, 4, 8, 8), truncates(1, 4), truncates(2, 4),
            *all_append(4, 5, 3, 1, 2), hw(3, 5),
        ],
        {"committed-data-lost": ((4, 8),), "truncation-below-committed": ((4, 8),), "unclean-election": ()},
    ),
    "retention-and-a-new-follower": (
        [
            *TWO, *all_append(0, 200, 1, 2), hw(1, 200), deletes(1, 100), deletes(2, 100), follows(3, 1, 3, 0, 0),
            (3, "truncate_full", {"offset": 100}), appends(3, 100, 200), (1, "isr_expand", {"isr": "1,2,3"}),
        ],
        {},
    ),
    "all-removed-of-which-nothing-was-committed": (
        [*TWO, appends(1, 0, 10), leads(2, 4, 0, 0, "2"), follows(1, 2, 4, 10, 0), (1, "truncate_full", {"offset": 0})],
        {"uncommitted-truncation": ((0, 10),)},
    ),
    "all-removed-of-which-a-part-was-committed": (
        [
            *TWO, *all_append(0, 4, 1, 2), appends(1, 4, 10), hw(1, 4), leads(2, 4, 4, 4, "2"),
            follows(1, 2, 4, 10, 4), (1, "truncate_full", {"offset": 0}), appends(1, 0, 4),
        ],
        {"truncation-below-committed": ((0, 4),), "uncommitted-truncation": ((4, 10),)},
    ),
    "epochs-without-records": (
        [
            *THREE, *all_append(0, 5, 1, 2, 3), hw(1, 5), leads(2, 4, 5, 5, "1,2,3"), follows(1, 2, 4, 5, 5),
            follows(3, 2, 4, 5, 5), leads(1, 9, 5, 5, "1,2,3"), follows(2, 1, 9, 5, 5), follows(3, 1, 9, 5, 5),
            *all_append(5, 8, 1, 2, 3), hw(1, 8),
        ],
        {},
    ),
    "a-smaller-isr-that-was-refused": (
        [
            *TWO, appends(1, 0, 10), appends(2, 0, 5), hw(1, 5), shrinks(1, "1"), hw(1, 10), (1, "isr_rejected", {}),
            appends(2, 5, 10), shrinks(1, "1"), commits(1, "1"),
        ],
        {"hw-above-isr-member": ((5, 10),)},
    ),
    "a-last-stable-offset-too-high": ([*HEALTHY, (2, "state", {"hw": 10, "lso": 12})], {"lso-above-hw": ((10, 12),)}),
    "a-follower-that-lost-its-tail": (
        [*HEALTHY, *restart(2, loads(2, 8), reads(2, 8)), follows(2, 1, 3, 8, 8), appends(2, 8, 10)],
        {"leo-regression": ((8, 10),), "hw-above-isr-member": ((8, 10),)},
    ),
    "a-leader-that-lost-its-tail": (
        [
            *HEALTHY, *restart(1, loads(1, 7), reads(1, 7)), leads(1, 4, 7, 7, "1,2"), follows(2, 1, 4, 10, 10),
            truncates(2, 7),
        ],
        dict.fromkeys(("leo-regression", "committed-data-lost", "truncation-below-committed"), ((7, 10),)),
    ),
    "acks-of-one-replica": (
        [
            *TWO, appends(1, 0, 10, detail="acks=1"), (1, "produced", {"offset": 0, "detail": "acks=1"}),
            leads(2, 4, 0, 0, "2"), follows(1, 2, 4, 10, 0), truncates(1, 0),
        ],
        {"uncommitted-truncation": ((0, 10),)},
    ),
    "what-a-consumer-read": (
        [
            *TWO, appends(1, 0, 10), appends(2, 0, 5), shrinks(1, "1"), commits(1, "1"), consumed(1, 9),
            leads(2, 4, 5, 0, "2"), follows(1, 2, 4, 10, 0), truncates(1, 5),
        ],
        {"committed-data-lost": ((5, 10),), "truncation-below-committed": ((5, 10),), "unclean-election": ()},
    ),
    "a-role-that-is-stated-again": (
        [
            *TWO, *all_append(0, 10, 1, 2), hw(1, 10), leads(1, 3, 10, 10, "1,2"), follows(2, 1, 3, 10, 0),
            *all_append(10, 12, 1, 2), hw(1, 12),
        ],
        {},
    ),
    "a-truncation-above-the-own-high-watermark": (
        [*TWO, *all_append(0, 10, 1, 2), hw(1, 10), hw(2, 4), truncates(2, 6), appends(2, 6, 10)],
        {"truncation-below-committed": ((6, 10),), "hw-above-isr-member": ((6, 10),)},
    ),
    "a-tail-that-was-kept": (
        # KIP-279: the leader of epoch 5 answers with its own epoch 3, and broker 2 keeps what it wrote in epoch 4.
        [
            *THREE, *all_append(0, 5, 1, 2, 3), hw(1, 5), leads(2, 4, 5, 5, "2,3"), follows(3, 2, 4, 5, 5),
            appends(2, 5, 7), leads(3, 5, 5, 5, "3"), appends(3, 5, 6), follows(2, 3, 5, 7, 5), appends(3, 6, 8),
            appends(2, 7, 8), hw(3, 8), hw(2, 8),
        ],
        {"replica-divergence": ((5, 7),), "epoch-divergence": ((5, 7),)},
    ),
}  # fmt: skip
BY_HW: dict[str, tuple[Sequence[Step], Want]] = {
    "a-fork-below-both": (
        [
            *TWO, *all_append(0, 5, 1, 2), hw(1, 5), hw(2, 3), *restart(2, loads(2, 5), reads(2, 3)),
            follows(2, 1, 3, 5, 3), truncates(2, 3), leads(2, 4, 3, 3, "2"), appends(2, 3, 6), hw(2, 6),
            follows(1, 2, 4, 5, 5), appends(1, 5, 6), hw(1, 6),
        ],
        dict.fromkeys((*LOST, "replica-divergence", "epoch-divergence", "hw-above-isr-member"), ((3, 5),)),
    ),
    "a-restart-that-fetches-again": (
        [
            *TWO, *all_append(0, 5, 1, 2), hw(1, 5), hw(2, 3), *restart(2, loads(2, 5), reads(2, 3), clean=True),
            follows(2, 1, 3, 5, 3), truncates(2, 3), appends(2, 3, 5), hw(2, 5),
        ],
        {"truncation-below-committed": ((3, 5),), "hw-above-isr-member": ((3, 5),)},
    ),
}  # fmt: skip
RAFT = [leads(1, 2, 0), follows(2, 1, 2, 0), follows(3, 1, 2, 0)]
BY_RAFT: dict[str, tuple[Sequence[Step], Want]] = {
    "conflicting-entries": (
        [
            *RAFT, *all_append(0, 5, 1, 2, 3), appends(1, 5, 7), hw(1, 5), leads(2, 3, 5), follows(3, 2, 3, 5),
            follows(1, 2, 3, 7), truncates(1, 5), *all_append(5, 6, 2, 1, 3), hw(2, 6),
        ],
        {"uncommitted-truncation": ((5, 7),)},
    ),
    "a-snapshot-for-a-slow-follower": (
        [
            *RAFT, *all_append(0, 18, 1, 2), appends(3, 0, 6), hw(1, 18), deletes(1, 14),
            (3, "truncate_full", {"offset": 16, "log_start": 16}), appends(3, 16, 18), leads(3, 3, 18),
            follows(1, 3, 3, 18), follows(2, 3, 3, 18), *all_append(18, 19, 3, 1, 2), hw(3, 19),
        ],
        {},
    ),
    "a-follower-that-begins-again-without-a-snapshot": (
        [
            *RAFT, *all_append(0, 18, 1, 2), appends(3, 0, 6), hw(1, 18), (3, "truncate_full", {"offset": 16}),
            appends(3, 16, 18), leads(3, 3, 18),
        ],
        {"committed-data-lost": ((0, 16),), "truncation-below-committed": ((0, 6),)},
    ),
    "committed-entries": (
        [
            *RAFT, *all_append(0, 5, 1, 2), appends(3, 0, 3), hw(1, 5), leads(3, 3, 3), follows(1, 3, 3, 5),
            truncates(1, 3), *all_append(3, 4, 3, 1),
        ],
        {"committed-data-lost": ((3, 5),), "truncation-below-committed": ((3, 5),)},
    ),
}  # fmt: skip

FILES: dict[str, tuple[Line, Mapping[str, tuple[Sequence[Step], Want]]]] = {
    "epoch": ({"system": "kafka", "protocol": "epoch"}, BY_EPOCH),
    "hw": ({"system": "kafka", "protocol": "hw"}, BY_HW),
    "raft": ({"system": "raftd", "protocol": "epoch"}, BY_RAFT),
}
OF_PROCESS = ("process_start", "clean_restart", "unclean_restart")


def lines_of(topic: str, number: int, steps: Sequence[Step]) -> list[Line]:
    """The lines of a topic; each topic has an hour of its own, as processes are of all topics of a file."""
    made: list[Line] = []
    for at, (broker, kind, values) in enumerate(steps):
        place = {} if kind in OF_PROCESS else {"topic": topic, "partition": 0}
        time = f"2026-01-01T{number:02}:00:{at:02}Z"
        made.append({"time": time, "witness": broker, "kind": kind, **place, **values})
    return made


@pytest.mark.parametrize("protocol", FILES)
def test_each_answer_is_the_one_written_down(protocol: str, tmp_path: Path) -> None:
    head, traces = FILES[protocol]
    for number, (topic, (steps, _)) in enumerate(traces.items()):
        first = {"kind": "trace", "cluster": topic, "replicas": [1, 2, 3], "complete": True, **head}
        (tmp_path / f"{topic}.jsonl").write_text(text([first, *lines_of(topic, number, steps)]))
    found: dict[str, Want] = {}
    for partition in scan([str(tmp_path)]).partitions:
        answers = partition.judgements
        assert Verdict.UNKNOWN not in {one.verdict for one in answers.values()}, partition.history.topic
        found[partition.history.topic] = {
            rule: tuple(sorted({offsets for one in answer.findings for offsets in one.offsets}))
            for rule, answer in answers.items()
            if answer.findings
        }
    assert found == {topic: want for topic, (_, want) in traces.items()}
