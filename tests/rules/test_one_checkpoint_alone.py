"""A checkpoint whose rows were exchanged states an offset of another partition: alone it proves nothing."""

from __future__ import annotations

import tarfile
from pathlib import Path

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence

RECORDED = Path(__file__).parents[1] / "cases" / "data" / "groupscalm-3.6.1.tar.xz"


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
