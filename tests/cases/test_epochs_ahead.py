"""A follower fetches what its leader writes in its next epoch before it is told of that epoch."""

from __future__ import annotations

import shutil
from pathlib import Path

from forensics.engines.local import scan
from tests.cases.test_recorded import LOSS, open_questions, unpacked


def test_a_record_of_the_next_epoch_is_not_of_the_one_before(tmp_path: Path) -> None:
    """Broker 2 had offset 46, where leader 1 began epoch 3, before it was told of that; broker 1's lines are gone."""
    folder = unpacked("compacted-2.3.1", tmp_path)
    shutil.rmtree(folder / "broker-1" / "logs")
    result = scan([str(folder)])
    assert not [f.summary for f in result.findings if f.severity in ("critical", "error")]
    assert LOSS in open_questions(result)
