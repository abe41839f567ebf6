"""Segments of several brokers without any high watermark: differences that no uncommitted tail explains."""

from __future__ import annotations

import gzip
import struct
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import google_crc32c
import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Confidence, Finding, Severity
from tests.incident import Node, Span, batch
from tests.parsers.formats.building import message

RULE = "replica-divergence"
CHAOS = Path(__file__).parents[1] / "cases" / "data" / "chaos12-0.10.2.2.tar.xz"
OLD, NEW = [(at, at, 0) for at in range(50)], [(at, at, 2) for at in range(80, 95)]
LED_1, LED_2 = [(at, at, 0) for at in range(50, 80)], [(at, at, 1) for at in range(50, 80)]


def copy(folder: Path, broker: int, spans: Sequence[Span], other: Iterable[Span] = (), hw: int | None = None) -> Path:
    """A directory of the partition, as a rule alone; some batches have other records, and those of each epoch.

    With a high watermark there is an epoch file too: without it a replica may have deleted the records before.
    """
    node = Node(folder, broker, "orders-0")
    differ = {*other}
    path = node.segment(())
    path.write_bytes(b"".join(batch(*span, salt=b"%d %d" % (span in differ, span[2])) for span in spans))
    if hw is not None:
        node.checkpoint(hw).epochs(*sorted({epoch: first for first, _, epoch in reversed(spans)}.items()))
    return path


def found(folder: Path) -> list[Finding]:
    (partition,) = scan([str(folder)]).partitions
    judged = partition.judgements[RULE]
    assert judged.verdict.value == "unknown"
    return list(judged.findings)


@pytest.mark.parametrize("odd", [1, 2, 3])
def test_other_records_of_one_epoch_are_suspected(odd: int, tmp_path: Path) -> None:
    """A leader writes each offset of its epoch once."""
    spans = [*OLD, *LED_1]
    for broker in (1, 2, 3):
        copy(tmp_path, broker, spans, spans[10:20] if broker == odd else ())
    (one,) = found(tmp_path)
    assert (one.confidence, one.severity, one.offsets) == (Confidence.SUSPECTED, Severity.ERROR, ((10, 20),))
    assert (one.replicas, one.epochs) == ((1, 2, 3), (0,))
    assert f"broker {odd} has other records" in one.summary.lower()


def test_other_records_of_one_epoch_are_suspected_at_the_end(tmp_path: Path) -> None:
    """No matter that the difference goes on to the end of both: nothing truncates within an epoch."""
    spans = [*OLD, *LED_1]
    copy(tmp_path, 1, spans)
    copy(tmp_path, 2, spans, spans[70:])
    (one,) = found(tmp_path)
    assert one.offsets == ((70, 80),)


def test_a_difference_behind_which_both_agree_is_suspected(tmp_path: Path) -> None:
    for broker, middle in ((1, LED_1), (2, LED_2), (3, LED_2)):
        copy(tmp_path, broker, [*OLD, *middle, *NEW])
    (one,) = found(tmp_path)
    assert (one.confidence, one.offsets, one.epochs) == (Confidence.SUSPECTED, ((50, 80),), (0, 1))
    assert one.summary.lower().startswith("broker 1 has other records than brokers 2 and 3 at offsets 50 to 79")


@pytest.mark.parametrize("tail", [LED_1, LED_1[:10], [*LED_1, *((at, at, 0) for at in range(80, 200))]])
def test_a_tail_that_its_broker_has_yet_to_truncate_is_none(tail: list[Span], tmp_path: Path) -> None:
    """Broker 1 led leader epoch 0 and has not come back: nobody else had what it wrote last."""
    copy(tmp_path, 1, [*OLD, *tail])
    for broker in (2, 3):
        copy(tmp_path, broker, [*OLD, *LED_2, *NEW])
    assert found(tmp_path) == []


def test_a_replica_that_is_behind_is_none(tmp_path: Path) -> None:
    for broker, end in ((1, 95), (2, 30), (3, 95)):
        copy(tmp_path, broker, [*OLD, *LED_2, *NEW][:end])
    assert found(tmp_path) == []


def _with_horizon(path: Path, batches: Iterable[int]) -> None:
    """Let the cleaner note a delete horizon in the first batches of a segment, and keep all of their records."""
    data, at = bytearray(path.read_bytes()), 0
    for _ in batches:
        size = 12 + struct.unpack_from(">i", data, at + 8)[0]
        attributes = struct.unpack_from(">h", data, at + 21)[0]
        struct.pack_into(">h", data, at + 21, attributes | 64)
        struct.pack_into(">q", data, at + 27, 1_800_000_000_000)
        struct.pack_into(">I", data, at + 17, google_crc32c.value(bytes(data[at + 21 : at + size])))
        at += size
    path.write_bytes(data)


@pytest.mark.parametrize("known", [False, True])
def test_a_delete_horizon_is_no_other_record(known: bool, tmp_path: Path) -> None:
    """A cleaner writes a batch with tombstones again to note when they may go (KIP-534), each broker at its time."""
    for broker in (1, 2):
        path = copy(tmp_path, broker, OLD, hw=50 if known else None)
        if broker == 2:
            _with_horizon(path, range(10))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements[RULE].findings == ()


@pytest.mark.parametrize(
    ("middle", "other", "confidence", "offsets"),
    [
        (LED_1, LED_1[10:20], Confidence.INFERRED, (60, 70)),
        (LED_1, LED_1[10:], Confidence.INFERRED, (60, 80)),
        (LED_2, (), Confidence.PROVEN, (50, 80)),
    ],
    ids=["of one epoch, before equal ones", "of one epoch, at the end", "of two epochs"],
)
def test_below_high_watermarks_it_is_shown(
    middle: list[Span], other: list[Span], confidence: Confidence, offsets: tuple[int, int], tmp_path: Path
) -> None:
    """Within one leader epoch, replication leaves no other records: one file may hold wrong bytes."""
    copy(tmp_path, 1, [*OLD, *LED_1], hw=80)
    copy(tmp_path, 2, [*OLD, *middle], other, hw=80)
    (partition,) = scan([str(tmp_path)]).partitions
    (one,) = partition.judgements[RULE].findings
    assert (one.confidence, one.offsets) == (confidence, (offsets,))


@pytest.mark.parametrize("shared", [0, 1])
def test_two_logs_with_nothing_in_common_are_no_proof(shared: int, tmp_path: Path) -> None:
    """One may be the log of another partition, copied to a wrong directory."""
    spans = [*OLD, *LED_1]
    copy(tmp_path, 1, spans, hw=80)
    copy(tmp_path, 2, [*spans[:shared], *((at, at, 1) for at in range(shared, 80))], hw=80)
    (partition,) = scan([str(tmp_path)]).partitions
    (one,) = partition.judgements[RULE].findings
    assert one.confidence is (Confidence.PROVEN if shared else Confidence.INFERRED)
    assert one.offsets == ((shared, 80),)


def test_of_many_differences_the_first_are_named(tmp_path: Path) -> None:
    spans = [(at, at, at // 100) for at in range(200)]
    copy(tmp_path, 1, spans, hw=200)
    copy(tmp_path, 2, spans, spans[1::2], hw=200)
    (partition,) = scan([str(tmp_path)]).partitions
    (one,) = partition.judgements[RULE].findings
    assert one.offsets == tuple((at, at + 1) for at in range(1, 200, 2))
    assert "offsets 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 and 90 more ranges up to 199 (100 offsets)" in one.summary


@pytest.mark.parametrize(
    ("began", "confidence"),
    [(None, Confidence.INFERRED), (20, Confidence.INFERRED), (40, Confidence.PROVEN)],
    ids=["never", "elsewhere", "where they part"],
)
def test_messages_without_epochs_part_where_a_leader_began(
    began: int | None, confidence: Confidence, tmp_path: Path
) -> None:
    """Messages of format v1 state no leader epoch: a segment may end with messages of another partition."""
    for broker in (1, 2):
        other = b"other" if broker == 2 else b""
        data = [message(at, b"%d" % at + other * (at >= 40), time=1_000 + at) for at in range(80)]
        node = Node(tmp_path, broker, "orders-0").checkpoint(80)
        node.segment(()).write_bytes(b"".join(data))
        if began is not None and broker == 1:
            node.leads(5, 1, began, began, [1, 2])
    (partition,) = scan([str(tmp_path)]).partitions
    (one,) = partition.judgements[RULE].findings
    assert (one.confidence, one.offsets) == (confidence, ((40, 80),))


@pytest.mark.parametrize("blocks", [1, 20])
def test_the_head_of_another_partition_is_no_proof(blocks: int, tmp_path: Path) -> None:
    """The first messages of v1 are another partition's, as a copy that was resumed on a wrong file leaves them: every
    log begins at offset 0, and so does its first leader epoch.
    """
    with tarfile.open(CHAOS) as archive:
        archive.extractall(tmp_path, filter="data")
    segment = next(tmp_path.rglob("broker-3/data/orders-0/00000000000000000000.log"))
    other = next(tmp_path.rglob("broker-3/data/orders-1/00000000000000000000.log")).read_bytes()
    own = segment.read_bytes()
    ends = sorted(boundaries(own) & boundaries(other))
    assert len(ends) > blocks
    segment.write_bytes(other[: ends[blocks]] + own[ends[blocks] :])
    found = [one for one in scan([str(tmp_path)]).findings if one.rule == RULE and one.partition == 0]
    assert [one.offsets[0][0] for one in found] == [0] * len(found) != []
    assert {one.confidence for one in found} == {Confidence.INFERRED}


def test_the_tail_of_another_partition_where_a_follower_truncated_is_no_proof(tmp_path: Path) -> None:
    """Broker 1 truncated to 78 and followed broker 2: what it has above is its leader's, so no log parts there."""
    with tarfile.open(CHAOS) as archive:
        archive.extractall(tmp_path, filter="data")
    segment = next(tmp_path.rglob("broker-1/data/orders-0/00000000000000000000.log"))
    other = next(tmp_path.rglob("broker-1/data/orders-1/00000000000000000000.log")).read_bytes()
    own = segment.read_bytes()
    end = sorted(boundaries(own))[77]
    assert end in boundaries(other)
    segment.write_bytes(own[:end] + other[end:])
    (one,) = (one for one in scan([str(tmp_path)]).findings if one.rule == RULE and one.partition == 0)
    assert (one.offsets[0][0], one.confidence) == (78, Confidence.INFERRED)


def test_a_batch_whose_leader_epoch_is_damage_is_no_fork(tmp_path: Path) -> None:
    """The head of another segment has a leader epoch that the batches behind it, and the epoch file, contradict."""
    rest = [(at, at, 4) for at in range(3, 20)]
    copy(tmp_path, 1, [(0, 2, 4), *rest], hw=20)
    copy(tmp_path, 2, [(0, 2, 6), *rest], {(0, 2, 6)}, hw=20)
    for broker in (1, 2):
        epochs = tmp_path / f"broker-{broker}" / "data" / "orders-0" / "leader-epoch-checkpoint"
        epochs.write_text("0\n1\n4 0\n")
    (partition,) = scan([str(tmp_path)]).partitions
    found = [one for answer in partition.judgements.values() for one in answer.findings if one.rule != "segment-damage"]
    assert {one.rule for one in found} >= {RULE}
    assert {one.rule for one in found if one.confidence is Confidence.PROVEN} == {"evidence-gap"}


def boundaries(data: bytes) -> set[int]:
    """The places at which messages of formats v0 and v1 end."""
    places, at = set[int](), 0
    while at + 12 <= len(data):
        at += 12 + int(struct.unpack_from(">i", data, at + 8)[0])
        places.add(at)
    return places


@pytest.mark.parametrize(("middle", "epochs"), [([*LED_1], (0,)), ([*LED_2, *NEW], (0, 1))])
def test_above_high_watermarks_what_stays_different_is_suspected(
    middle: list[Span], epochs: tuple[int, ...], tmp_path: Path
) -> None:
    """Checkpoints are written every 5 seconds, and nothing truncates such a record: the high watermark passes it."""
    copy(tmp_path, 1, [*OLD, *LED_1, *middle[30:]], hw=50)
    copy(tmp_path, 2, [*OLD, *middle], LED_1, hw=50)
    (one,) = found(tmp_path)
    assert (one.confidence, one.offsets, one.epochs) == (Confidence.SUSPECTED, ((50, 80),), epochs)


def test_above_high_watermarks_a_tail_is_none(tmp_path: Path) -> None:
    copy(tmp_path, 1, [*OLD, *LED_1], hw=50)
    copy(tmp_path, 2, [*OLD, *LED_2, *NEW], hw=50)
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements[RULE].findings == ()


def wrapper(offsets: range) -> bytes:
    """A compressed message of format v1 around some records."""
    inner = b"".join(message(at, b"%d" % offset, time=1_700_000_000_000 + offset) for at, offset in enumerate(offsets))
    return message(offsets[-1], gzip.compress(inner, mtime=0), attributes=1, time=1_700_000_000_000 + offsets[-1])


@pytest.mark.parametrize("hw", [None, 30])
@pytest.mark.parametrize("left", [range(2, 8), range(4, 10), range(6)])
def test_what_a_cleaner_left_of_a_compressed_message_is_no_other_record(
    left: range, hw: int | None, tmp_path: Path
) -> None:
    """It puts what it keeps into one of its own (MemoryRecords.filterTo), on each broker at its time."""
    rest = [range(10, 20), range(20, 30)]
    for broker, first in ((1, range(10)), (2, left)):
        copy(tmp_path, broker, (), hw=hw).write_bytes(b"".join(map(wrapper, (first, *rest))))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements[RULE].findings == ()


def test_other_compressed_messages_at_the_same_offsets_are_suspected(tmp_path: Path) -> None:
    rest = [range(10, 20), range(20, 30)]
    for broker, first in ((1, [range(10)]), (2, [range(4), range(4, 10)])):
        copy(tmp_path, broker, ()).write_bytes(b"".join(map(wrapper, (*first, *rest))))
    (one,) = found(tmp_path)
    assert one.offsets == ((0, 10),)
