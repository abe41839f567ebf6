"""A partition's directory that is in the evidence twice, copied at two times, is no second directory of the broker.

The evidence of ``unclean-3.9.1`` gets another copy of broker 2's ``orders-0``: equal, earlier, or of other records,
with and without the files of its log directory.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.result import Result
from forensics.rules.finding import Verdict

SEGMENT = "00000000000000000000.log"
EPOCH_AT = 15
"""Last byte of the leader epoch in a batch of format v2."""


def _equal(copy: Path) -> None:
    """Leave the copy as it is."""


def _earlier(copy: Path) -> None:
    """Take half of the bytes of the segment away, as before they were written."""
    data = (copy / "orders-0" / SEGMENT).read_bytes()
    (copy / "orders-0" / SEGMENT).write_bytes(data[: len(data) // 2])


def _other(copy: Path) -> None:
    """Change the leader epoch of the first batch, so that the copy has one that the live directory lacks."""
    data = bytearray((copy / "orders-0" / SEGMENT).read_bytes())
    data[EPOCH_AT] += 1
    (copy / "orders-0" / SEGMENT).write_bytes(bytes(data))


def _evidence(sample_traces: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return evidence with a second copy of a directory, and the log directory of the copy."""
    shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "evidence")
    (data,) = {one.parent for one in (tmp_path / "evidence").glob("broker-2/**/orders-0")}
    copy = tmp_path / "evidence" / "later" / "broker-2" / "data"
    shutil.copytree(data / "orders-0", copy / "orders-0")
    return data, copy


@pytest.mark.parametrize("change", [_equal, _earlier])
def test_a_copy_without_its_log_directory_changes_no_finding(
    change: Callable[[Path], None], sample_traces: Path, scanned: Callable[[Path], Result], tmp_path: Path
) -> None:
    _, copy = _evidence(sample_traces, tmp_path)
    change(copy)
    result = scan([str(tmp_path / "evidence")])
    before = scanned(sample_traces / "unclean-3.9.1")
    assert [(one.rule, one.offsets, one.confidence) for one in result.findings] == [
        (one.rule, one.offsets, one.confidence) for one in before.findings
    ]
    (partition,) = (one for one in result.partitions if one.history.name == "orders-0")
    assert partition.judgements["stale-directory"].verdict is Verdict.UNKNOWN, "only its meta.properties would show it"
    assert len(partition.history.facts.disks[2].stale) == 1


@pytest.mark.parametrize(
    ("change", "identity", "found"),
    [
        (_other, None, True),
        (_other, "same", False),
        (_equal, "other", True),
        (_earlier, "other", True),
    ],
)
def test_the_files_of_the_log_directory_show_whether_it_is_another_one(
    change: Callable[[Path], None], identity: str | None, found: bool, sample_traces: Path, tmp_path: Path
) -> None:
    data, copy = _evidence(sample_traces, tmp_path)
    change(copy)
    if identity is not None:
        text = (data / "meta.properties").read_text()
        changed = text.replace("directory.id=dgl", "directory.id=abc") if identity == "other" else text
        (copy / "meta.properties").write_text(changed)
    (partition,) = (one for one in scan([str(tmp_path / "evidence")]).partitions if one.history.name == "orders-0")
    assert bool(partition.judgements["stale-directory"].findings) == found


def test_a_checkpoint_of_another_time_is_not_about_the_log_of_this_one(sample_traces: Path, tmp_path: Path) -> None:
    """Only the checkpoints were collected again, while the broker ran: they are ahead of the segments."""
    data, copy = _evidence(sample_traces, tmp_path)
    shutil.rmtree(copy / "orders-0")
    (copy / "replication-offset-checkpoint").write_text("0\n1\norders 0 1000\n")
    (partition,) = (one for one in scan([str(tmp_path / "evidence")]).partitions if one.history.name == "orders-0")
    assert partition.judgements["hw-above-leo"].verdict is Verdict.CLEAN
    (data / "replication-offset-checkpoint").unlink()
    (partition,) = (one for one in scan([str(tmp_path / "evidence")]).partitions if one.history.name == "orders-0")
    assert partition.judgements["hw-above-leo"].findings
