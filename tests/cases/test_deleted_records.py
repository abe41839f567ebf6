"""What a leader had removed before a failure, by retention or as a client asked, is not lost by that.

``retforked-3.9.1``: leader 1 is alone in the ISR at 50 (``exp``: 120). It deletes all of ``delall``, ``delpart`` up to
30, and retention takes ``exp`` up to 50; then broker 2, which ended at 20, is elected from outside the ISR.
``retloss-3.9.1``: the same once broker 1 is back.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Weakness
from tests.cases.test_recorded import LOSS, unpacked

CUT = "truncation-below-committed"
LOST = {"delpart-0": ((30, 50),), "exp-0": ((50, 120),), "plain-0": ((20, 50),)}


@pytest.mark.parametrize("name", ["retforked-3.9.1", "retloss-3.9.1"])
def test_only_what_was_there_is_lost(name: str, tmp_path: Path) -> None:
    result = scan([str(unpacked(name, tmp_path))])
    found = {f"{f.topic}-{f.partition}": f for f in result.findings if f.rule == LOSS}
    assert {name: finding.offsets for name, finding in found.items()} == LOST
    assert {name: finding.records for name, finding in found.items()} == {
        "delpart-0": (20, 20), "exp-0": (70, 70), "plain-0": (30, 30)
    }  # fmt: skip
    cut = {f"{f.topic}-{f.partition}": f.offsets for f in result.findings if f.rule == CUT}
    assert cut == ({} if name == "retforked-3.9.1" else LOST)


def test_what_was_deleted_is_not_suspected_to_be_gone(tmp_path: Path) -> None:
    """All of ``delall`` was deleted; broker 1 was killed, read back an older log start offset, and truncated to 25."""
    folder = unpacked("retloss-3.9.1", tmp_path)
    for log in (folder / "broker-3" / "logs").iterdir():
        log.unlink()
    found = {f"{f.topic}-{f.partition}": f.offsets for f in scan([str(folder)]).findings if f.rule == CUT}
    assert found == LOST


def test_without_the_line_that_tells_of_it_the_records_count_as_lost(tmp_path: Path) -> None:
    folder = unpacked("retforked-3.9.1", tmp_path)
    log = folder / "broker-1" / "logs" / "server.log"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if "to 30 due to client delete records" not in line))
    found = {f"{f.topic}-{f.partition}": f.offsets for f in scan([str(folder)]).findings if f.rule == LOSS}
    assert found == {**LOST, "delpart-0": ((20, 50),)}


def test_a_fork_that_a_log_without_epochs_kept_is_no_epoch_given_out_twice(tmp_path: Path) -> None:
    """Deleted to its end, the log of broker 1 has no epoch any more: back, it is cut to its leader's end at 25."""
    result = scan([str(unpacked("retloss-3.9.1", tmp_path))])
    (partition,) = (one for one in result.partitions if one.history.name == "delall-0")
    assert partition.history.epoch_rollbacks == []
    (fork,) = partition.judgements["replica-divergence"].findings
    assert (fork.offsets, fork.cause) == (((20, 25),), "unclean-election")


def test_what_the_missing_lines_of_a_leader_may_tell_is_not_proven(tmp_path: Path) -> None:
    """The logs of broker 1 begin with its restart, so that the deletions are not told. All of ``delall`` was gone.

    On its way back broker 1 says where its log of ``exp`` begins: nothing below that was truncated. It truncates
    ``delall`` to the end of its leader's log, as a replica without leader epochs does: so that log may have been empty.
    """
    folder = unpacked("retloss-3.9.1", tmp_path)
    for name, rotated in {"server.log": 536, "state-change.log": 22}.items():
        log = folder / "broker-1" / "logs" / name
        log.write_text("".join(log.read_text().splitlines(keepends=True)[rotated:]))
    told = [one for one in scan([str(folder)]).findings if one.rule in (LOSS, CUT)]
    suspected = [one for one in told if one.confidence == "suspected"]
    assert {(f.rule, f"{f.topic}-{f.partition}"): f.offsets for f in suspected} == {
        (LOSS, "delall-0"): ((20, 25),),
        (CUT, "delall-0"): ((25, 50),),
        (LOSS, "delpart-0"): ((20, 50),),
        (LOSS, "exp-0"): ((20, 120),),
        (LOSS, "plain-0"): ((20, 50),),
    }
    assert all(any("deleted" in text for text in one.uncertain) for one in suspected)
    found = [one for one in told if one.confidence != "suspected"]
    assert {(f.rule, f"{f.topic}-{f.partition}"): f.offsets for f in found} == {
        (CUT, "delpart-0"): ((20, 50),),
        (CUT, "exp-0"): ((50, 120),),
        (CUT, "plain-0"): ((20, 50),),
    }
    assert {one.confidence for one in found} == {"inferred"}
    assert all(Weakness.MAYBE_DELETED in one.weak for one in found)
