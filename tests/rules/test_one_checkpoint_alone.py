"""A checkpoint whose rows were exchanged, or that is another broker's, states offsets of another log: alone it proves
nothing.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence, Weakness

SAMPLE = Path(__file__).parents[2] / "sample_traces" / "oldcopies-3.9.1.tar.xz"
RECORDED = Path(__file__).parents[1] / "cases" / "data" / "groupscalm-3.6.1.tar.xz"
STOPPED = RECORDED.with_name("frozenled-1.1.1.tar.xz")


def test_a_checkpoint_alone_does_not_prove_what_it_states(tmp_path: Path) -> None:
    with tarfile.open(RECORDED) as archive:
        archive.extractall(tmp_path, filter="data")
    (checkpoint,) = tmp_path.rglob("broker-3/data/replication-offset-checkpoint")
    rows = checkpoint.read_text()
    assert "__consumer_offsets 0 6\n" in rows
    assert "__consumer_offsets 1 105\n" in rows
    rows = rows.replace("__consumer_offsets 0 6\n", "__consumer_offsets 0 105\n")
    checkpoint.write_text(rows.replace("__consumer_offsets 1 105\n", "__consumer_offsets 1 6\n"))
    (one,) = (one for one in scan([str(tmp_path)]).findings if one.rule == "hw-above-leo")
    assert (one.topic, one.partition, one.offsets) == ("__consumer_offsets", 0, ((6, 105),))
    assert one.confidence is Confidence.INFERRED


@pytest.mark.parametrize(
    ("recovery_point", "lines", "confidence"),
    [
        (45, "", Confidence.PROVEN),
        (20, "Wrote producer snapshot at offset 45", Confidence.PROVEN),
        (20, "", Confidence.INFERRED),
    ],
)
def test_something_else_of_the_broker_has_to_show_that_its_log_was_longer(
    tmp_path: Path, recovery_point: int, lines: str, confidence: Confidence
) -> None:
    """The checkpoints of brokers 2 and 3 are alike, so broker 3's may be a copy of broker 2's, put in a wrong place."""
    with tarfile.open(SAMPLE) as archive:
        archive.extractall(tmp_path, filter="data")
    own, other = (next(tmp_path.rglob(f"broker-{number}/data/replication-offset-checkpoint")) for number in (3, 2))
    assert own.read_bytes() == other.read_bytes()
    (points,) = tmp_path.rglob("broker-3/data/recovery-point-offset-checkpoint")
    assert "orders 0 45\n" in points.read_text()
    points.write_text(points.read_text().replace("orders 0 45\n", f"orders 0 {recovery_point}\n"))
    (log,) = tmp_path.rglob("broker-3/logs/server.log")
    kept = [line for line in log.read_text().splitlines(keepends=True) if lines or "at offset 45" not in line]
    assert not lines or lines in "".join(kept)
    log.write_text("".join(kept))
    (one,) = (one for one in scan([str(tmp_path)]).findings if one.rule == "hw-above-leo")
    assert (one.replicas, one.offsets, one.confidence) == ((3,), ((20, 45),), confidence)


@pytest.mark.parametrize("batches", [0, 3])
def test_a_segment_that_ends_between_two_batches_may_have_been_cut_as_it_was_copied(
    tmp_path: Path, batches: int
) -> None:
    with tarfile.open(STOPPED) as archive:
        archive.extractall(tmp_path, filter="data")
    (segment,) = tmp_path.rglob("broker-1/data/orders-1/00000000000000000000.log")
    data = segment.read_bytes()
    assert len(data) == 7 * 36  # seven records of one size
    segment.write_bytes(data[: batches * 36])
    (one,) = (one for one in scan([str(tmp_path)]).findings if one.rule == "hw-above-leo")
    assert (one.replicas, one.offsets, one.confidence) == ((1,), ((batches, 7),), Confidence.INFERRED)
    assert one.weak == (Weakness.END_BY_SEGMENT,)
