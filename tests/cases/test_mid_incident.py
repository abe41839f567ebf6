"""Evidence taken in the middle of an incident, before anything is started again: what is told can still be acted on.

``kipmid-0.11.0.3``, with an inter-broker protocol before 0.11: a follower that cut to its late high watermark leads,
the others are dead; ``frozenled-1.1.1``, the same with nothing lost: a broker was elected while it was frozen, and
never knew; ``uncleanmid-4.1.1``, files copied within a second of a truncation; ``rollmid-0.10.2.2``, healthy, a broker
is down in a rolling restart.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.coverage import Span
from forensics.result import Result

DATA = Path(__file__).parent / "data"
LOSS = "committed-data-lost"
CUT = "truncation-below-committed"


def scanned(name: str) -> Result:
    return scan([str(DATA / f"{name}.tar.xz")])


def unknown(result: Result) -> set[tuple[str, str]]:
    answers = ((one.history.name, one.judgements) for one in result.partitions)
    return {(name, rule) for name, judged in answers for rule, one in judged.items() if one.verdict == "unknown"}


def test_the_checkpoint_of_a_dead_leader_tells_what_its_successor_lacks() -> None:
    """It is no later leader's: none had so much. Both copies that have the records are named, and not to be started."""
    result = scanned("kipmid-0.11.0.3")
    found = {finding.rule: finding for finding in result.findings}
    assert {*found} == {LOSS, CUT}
    assert {finding.offsets for finding in found.values()} == {((86, 137),)}
    assert (found[LOSS].replicas, found[LOSS].cause) == ((11, 12), "hw-truncation")
    assert (found[LOSS].keep or "").startswith("broker 11's copy of pay.v1_x-0 (broker 12 has the same records)")
    assert "restart or wipe broker 11" in found[LOSS].do_not[0]
    assert not unknown(result)


def test_a_leader_that_was_frozen_as_it_was_elected_lacks_no_lines() -> None:
    result = scanned("frozenled-1.1.1")
    assert not result.findings
    assert not unknown(result)


def test_a_checkpoint_from_right_before_a_truncation_is_not_of_the_log_after_it() -> None:
    result = scanned("uncleanmid-4.1.1")
    assert not [finding for finding in result.findings if finding.rule == "hw-above-leo"]
    (loss,) = (finding for finding in result.findings if finding.rule == LOSS)
    assert (loss.offsets, loss.cause) == (((51, 85),), "unclean-election")


def test_a_broker_that_is_down_in_a_rolling_restart_has_a_whole_log() -> None:
    """It was in the ISR once more in the epoch that took it out, while it shut down."""
    result = scanned("rollmid-0.10.2.2")
    assert {(finding.rule, finding.severity.value) for finding in result.findings} == {(CUT, "warning")}
    assert {rule for _, rule in unknown(result)} == {"uncommitted-truncation"}
    assert not any(p.history.coverage.shown_missing(Span.WITHIN, Span.AFTER) for p in result.partitions)


@pytest.mark.parametrize("left_out", [("broker-1/logs",), ("broker-2/logs", "broker-3"), ("broker-3",)])
def test_no_replica_is_said_to_have_records_that_it_may_have_fetched_anew(
    sample_traces: Path, tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    """Each follower truncated to 50 and fetched others up to 95: old segments alone do not show which they hold."""
    folder = tmp_path / "case"
    shutil.copytree(sample_traces / "kip101-0.10.2.2", folder)
    data = folder / "broker-1" / "data"
    segment = data / "orders-0" / "00000000000000000000.log"
    segment.write_bytes(segment.read_bytes()[:1840])
    (data / "replication-offset-checkpoint").write_text("0\n1\norders 0 80\n")
    for name in left_out:
        shutil.rmtree(folder / name)
    (found,) = (one for one in scan([str(folder)]).findings if one.rule == "hw-above-leo")
    assert (found.replicas, found.offsets, found.keep) == ((1,), ((50, 80),), None)
    assert "still ha" not in found.summary
