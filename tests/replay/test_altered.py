"""Copies of a log of which a part is gone, empty, or not what a leader wrote."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.facts.disks import rising
from forensics.replay.lineage import UNKNOWN, Lineage
from forensics.result import Partition
from parsers.schema import DamageKind
from tests.incident import Incident

BATCHES = [(first, first + 9, 0) for first in range(0, 60, 10)] + [
    (first, first + 9, 1) for first in range(60, 100, 10)
]


@pytest.mark.parametrize(
    ("stated", "believed"),
    [
        (((0, 0), (1, 60)), ((0, 0), (1, 60))),
        (((0, 0), (1, 20), (0, 30), (1, 60)), ((0, 0), (UNKNOWN, 20), (1, 60))),  # one batch too high
        (((0, 0), (1, 60), (0, 70), (1, 80)), ((0, 0), (UNKNOWN, 60), (1, 80))),  # or too low
        (((0, 0), (2, 20), (1, 60)), ((0, 0), (UNKNOWN, 20))),  # which of the two is not told
        (((0, 0), (UNKNOWN, 20), (0, 30)), ((0, 0), (UNKNOWN, 20), (0, 30))),
    ],
)
def test_epochs_are_believed_as_far_as_they_rise(
    stated: tuple[tuple[int, int], ...], believed: tuple[tuple[int, int], ...]
) -> None:
    assert rising(Lineage(stated)) == Lineage(believed)


@pytest.mark.parametrize(("first", "epoch"), [(20, 1), (50, 1), (60, 0), (90, 0), (90, 7)])
def test_an_epoch_that_was_altered_in_one_copy_makes_no_other_record_of_it(
    first: int, epoch: int, tmp_path: Path
) -> None:
    """The checksum of a batch does not cover its leader epoch."""
    incident = Incident(tmp_path)
    incident.begins(60)
    incident.succeeds(20, 1, 2, 60, 3, 1)
    for broker in (1, 2, 3):
        incident[broker].segment(BATCHES)
        incident[broker].epochs((0, 0), (1, 60)).checkpoint(100)
    incident[2].segment([(one, last, epoch if one == first else of) for one, last, of in BATCHES])
    assert [incident.findings(rule) for rule in ("committed-data-lost", "replica-divergence")] == [[], []]
    assert incident.verdict("epoch-divergence") == "violated"
    assert incident.history().facts.disks[2].lineage.epoch_at(first) < 0  # which of the two it was is not known


def partition(trace: Path) -> Partition:
    (found,) = (one for one in scan([str(trace)]).partitions if one.history.name == "orders-0")
    return found


def retain(segment: Path, start: int) -> None:
    """What retention leaves from an offset on."""
    left, at = segment.read_bytes(), 0
    while struct.unpack_from(">q", left, at)[0] < start:
        at += 12 + struct.unpack_from(">i", left, at + 8)[0]
    segment.unlink()
    (segment.parent / f"{start:020}.log").write_bytes(left[at:])


@pytest.mark.parametrize(("start", "told", "whole"), [(45, ((50, 80),), True), (60, ((60, 80),), False)])
def test_where_a_copy_begins_is_not_where_a_leader_began(
    start: int, told: tuple[tuple[int, int], ...], whole: bool, sample_traces: Path, tmp_path: Path
) -> None:
    """Before 0.11 a leader's beginning shows where its copy parts from an older one: if both are there below."""
    trace = Path(shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "trace"))
    retain(trace / "broker-1/data/orders-0/00000000000000000000.log", start)
    (loss,) = partition(trace).judgements["committed-data-lost"].findings
    assert (loss.offsets, not loss.uncertain) == (told, whole)


def test_an_empty_segment_is_no_copy_to_compare_with_or_to_rely_on(sample_traces: Path, tmp_path: Path) -> None:
    """Brokers 2 and 3 hold other records at [50, 80) than broker 1 had: they do not still have what it lacks."""
    trace = Path(shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "trace"))
    (trace / "broker-1/data/orders-0/00000000000000000000.log").write_bytes(b"")
    found = partition(trace)
    (lacking,) = found.judgements["hw-above-leo"].findings
    assert (lacking.replicas, lacking.keep) == ((1,), None)
    assert found.judgements["replica-divergence"].verdict == "unknown"


@pytest.mark.parametrize("left", [True, False])
def test_a_copy_in_which_the_cleaner_left_no_record_does_not_hold_them(left: bool, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(100)
    incident.succeeds(20, 1, 2, 60)
    incident[1].shrinks(10, "1,2,3", "1,3", 100, 100, "(brokerId: 2, endOffset: 60)")
    incident[2].segment([(0, 59, 0), (60, 79, 1)])
    incident[2].epochs((0, 0), (1, 60)).checkpoint(80)
    for broker in (1, 3):
        incident[broker].segment([(0, 59, 0), *([(60, 99, 0)] if left else []), (100, 109, 0)])
        incident[broker].epochs((0, 0)).checkpoint(100).checkpoint(100, "cleaner")
    (loss,) = incident.findings("committed-data-lost")
    assert loss.replicas == ((1, 3) if left else ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\n2\n0 0\n1 60\n", None),
        ("0\n2\n1 60\n0 0\n", "the one in the evidence is damaged"),
        ("0\n3\n0 0\n1 60\n", "the one in the evidence is damaged"),
        ("0\n0\n", "the one in the evidence is empty"),
        ("", "the one in the evidence is empty"),
    ],
)
def test_an_epoch_file_that_is_damaged_or_empty_leaves_the_question_open(
    text: str, said: str | None, tmp_path: Path
) -> None:
    incident = Incident(tmp_path)
    incident.begins(60)
    for broker in (1, 2, 3):
        incident[broker].segment(BATCHES)
        incident[broker].epochs((0, 0), (1, 60)).checkpoint(100)
    (incident[2].data / "orders-0" / "leader-epoch-checkpoint").write_text(text)
    missing = [wish for wish in incident.missing("epoch-divergence") if "broker 2's leader-epoch-checkpoint" in wish]
    assert incident.verdict("epoch-divergence") == ("unknown" if said else "clean")
    assert [said in wish for wish in missing if said] == ([True] if said else [])


@pytest.mark.parametrize(("deleted", "differing"), [(0, [((60, 80),)]), (70, [((70, 80),)]), (80, [])])
def test_what_is_deleted_by_request_is_no_divergence(
    deleted: int, differing: list[tuple[tuple[int, int], ...]], tmp_path: Path
) -> None:
    """The records stay in the first segment; the checkpoint that says where the log starts is written once a minute."""
    incident = Incident(tmp_path)
    incident.begins(60)
    incident.succeeds(20, 2, 2, 60, 3)
    for broker in (1, 2, 3):
        epoch, salt = (1, b"other") if broker == 1 else (2, b"")
        incident[broker].segment([(0, 59, 0)])
        incident[broker].segment([(60, 69, epoch), (70, 79, epoch)], base=60, salt=salt)
        incident[broker].segment([(80, 99, 2)], base=80)
        incident[broker].epochs((0, 0), (2, 60)).checkpoint(100)
        if deleted and broker > 1:
            incident[broker].says(
                30,
                f"INFO [Log partition=orders-0, dir=/data] Incrementing log start offset to {deleted} (kafka.log.Log)",
            )
    assert [finding.offsets for finding in incident.findings("replica-divergence")] == differing


@pytest.mark.parametrize(("other", "damaged"), [(0, False), (1, True)], ids=["the same epoch", "another epoch"])
def test_an_epoch_below_the_one_before_is_no_flipped_bit_if_another_replica_has_it_too(
    other: int, damaged: bool, tmp_path: Path
) -> None:
    """Up to 1.1 a follower may fetch records of epoch 0 behind its own of epoch 1 (KIP-279), and does not note it."""
    incident = Incident(tmp_path, brokers=2)
    incident[1].segment([(0, 3, 0), (4, 6, other)])
    incident[2].segment([(0, 3, 1), (4, 6, 0)])
    incident[2].epochs((1, 0))
    found = [finding for finding in incident.findings("segment-damage") if finding.replicas == (2,)]
    assert [DamageKind.LONE_EPOCH in finding.summary for finding in found] == ([True] if damaged else [])
