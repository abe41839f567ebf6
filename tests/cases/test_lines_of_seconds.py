"""Lines of some seconds are missing, as a rule on every broker; what was known before them does not hold behind them.

``holed-2.4.1``: tmp-0 is healthy; broker 1 comes up, follows in epoch 3 and stops within the gap, and returns to epoch
5 with a high watermark of epoch 3. ``second-3.9.1``: brokers 2 and 3 leave the ISR within the second that
is missing; broker 1 then commits alone what an unclean election loses. ``rackgap-2.5.1``: two brokers die at once, the
log of one lacks the seconds before, and no data is at hand. ``mixedgap-2.8.2``: one leaves the ISR in the gap.
``rollgap-0.11.0.3``, healthy, and ``isrgap-3.9.1``: one broker's first seconds, or some, are missing; no data.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from tests.cases.test_recorded import LOSS, unpacked
from tests.covering import missing_within


def test_a_high_watermark_of_an_untold_epoch_is_of_what_was_not_cut_since(tmp_path: Path) -> None:
    result = scan([str(unpacked("holed-2.4.1", tmp_path))])
    (partition,) = (one for one in result.partitions if (one.history.name, one.history.incarnation) == ("tmp-0", 0))
    assert partition.judgements[LOSS].verdict == "unknown"
    # Its process found a log that was not closed cleanly, though the process before it had shut down: a process without
    # lines is in between, or another directory was put in its place. So its high watermark is of no known log.
    assert not [s for s in partition.history.statements if (s.replica, s.high_watermark) == (1, 123)]
    assert all(step.put_back for step in partition.history.role_spans[1][0].steps)


def test_who_left_the_isr_unseen_before_its_leader_died_lacks_nothing_that_it_had(tmp_path: Path) -> None:
    result = scan([str(unpacked("second-3.9.1", tmp_path))])
    found = {(finding.rule, finding.cause) for finding in result.findings if finding.severity != "info"}
    assert (LOSS, "unclean-election") in found
    assert not {rule for rule, _ in found} & {"leo-regression"}
    assert "unflushed-tail" not in {cause for _, cause in found}


def test_who_follows_uncut_has_the_same_records_as_its_leader(tmp_path: Path) -> None:
    """Broker 2 lacks the lines of when it followed in epoch 2: its log seems to be of epoch 0 to its end.
    Broker 1, which led then, follows it in epoch 5 and was not cut.
    """
    result = scan([str(unpacked("rackgap-2.5.1", tmp_path))])
    (partition,) = (one for one in result.partitions if one.history.name == "orders-eu-0")
    assert partition.judgements[LOSS].verdict == "unknown"
    assert not partition.judgements[LOSS].findings
    assert missing_within(partition.history) == {1, 2}


def test_an_isr_of_an_epoch_that_its_leader_does_not_tell_of_is_not_known(tmp_path: Path) -> None:
    """Broker 2 died, and leader 1 went on alone in epoch 1, of which broker 2's return tells: an unclean election of
    broker 2 then lost [90, 180). Whether it had been in the ISR, and lost its end, is not to be told.
    """
    result = scan([str(unpacked("mixedgap-2.8.2", tmp_path))])
    (partition,) = (one for one in result.partitions if one.history.name == "compacted-x-0")
    (loss,) = partition.judgements[LOSS].findings
    assert (loss.offsets, loss.cause) == (((90, 180),), "unknown")
    for rule in ("leo-regression", "unclean-election"):
        assert (partition.judgements[rule].verdict, partition.judgements[rule].findings) == ("unknown", ())


@pytest.mark.parametrize("gone", ["logs", "logs/server.log", "logs/state-change.log", ""])
def test_what_a_follower_had_fetched_ahead_is_of_no_epoch_that_is_known(gone: str, tmp_path: Path) -> None:
    """Broker 2 was told of leader 1's epoch 3, from 46 on, when it had a record of it already; of leader 1 lines are
    missing, or everything. Nothing was lost.
    """
    folder = unpacked("compacted-2.3.1", tmp_path)
    left_out = folder / "broker-1" / gone
    shutil.rmtree(left_out) if left_out.is_dir() else left_out.unlink()
    verdicts = {one.history.name: one.judgements[LOSS] for one in scan([str(folder)]).partitions}
    assert verdicts["orders-0"].verdict == "unknown"
    assert not [finding for judgement in verdicts.values() for finding in judgement.findings]


def test_a_fork_below_what_was_deleted_needs_no_epochs_that_ran_backwards(tmp_path: Path) -> None:
    """Whose leader had deleted what lies below 29 kept its own there; server.log, which told of that, is missing."""
    folder = unpacked("delun-2.3.1", tmp_path)
    for log in folder.glob("broker-*/logs/server.log"):
        log.unlink()
    assert "epochs-put-back" not in {finding.cause for finding in scan([str(folder)]).findings}


def test_a_high_watermark_is_of_the_last_epoch_that_a_log_has_records_of(tmp_path: Path) -> None:
    """Broker 3 was told of epoch 0 alone and had fetched records of epoch 1, as its own line tells, when it stopped."""
    result = scan([str(unpacked("rollgap-0.11.0.3", tmp_path))])
    assert not [finding for finding in result.findings if finding.rule == LOSS]


@pytest.mark.parametrize(("marked", "cause"), [(True, "unclean-election"), (False, "unknown")])
def test_changes_of_the_isr_that_only_their_numbers_tell_may_have_taken_a_replica_out(
    marked: bool, cause: str, tmp_path: Path
) -> None:
    """Broker 1 lacks the lines in which it went on alone; leader epoch 1 is of partition epoch 3, two changes on.

    Broker 2 was marked as recovering when it took up epoch 2; without that line the numbers do not show why it led.
    """
    folder = unpacked("isrgap-3.9.1", tmp_path)
    if not marked:
        log = folder / "broker-2" / "logs" / "state-change.log"
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if b"was marked as RECOVERING" not in line))
    result = scan([str(folder)])
    (loss,) = (finding for finding in result.findings if finding.rule == LOSS)
    assert (loss.offsets, loss.cause) == (((30, 50),), cause)
    assert "leo-regression" not in {finding.rule for finding in result.findings}


def without(folder: Path, first: str, until: str) -> Path:
    """The same without the lines of a span on every broker."""
    for log in folder.glob("broker-*/logs/*.log"):
        kept, inside = [], False
        for line in log.read_text(errors="replace").splitlines(keepends=True):
            if line.startswith("[20"):
                inside = first <= line[1:24] < until
            kept += [] if inside else [line]
        log.write_text("".join(kept))
    return folder


def test_two_beginnings_of_an_epoch_may_come_of_a_deletion_in_lines_that_are_missing(tmp_path: Path) -> None:
    """Broker 1 keeps [20, 25) of epoch 0 below what its leader of epoch 2 had deleted by then."""
    folder = without(unpacked("retloss-3.9.1", tmp_path), "2026-11-24 02:38:46,942", "2026-11-24 02:39:01,942")
    assert "epochs-put-back" not in {finding.cause for finding in scan([str(folder)]).findings}


def test_a_change_of_the_isr_of_which_the_number_alone_is_left_makes_no_election_unclean(tmp_path: Path) -> None:
    folder = without(unpacked("chaos14-1.1.1", tmp_path), "2026-11-23 11:27:08,516", "2026-11-23 11:27:23,516")
    result = scan([str(folder)])
    assert not [finding for finding in result.findings if finding.rule == "unclean-election"]
    assert "unknown" in {partition.judgements["unclean-election"].verdict for partition in result.partitions}
