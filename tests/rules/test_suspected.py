"""What is suspected: the verdict stays unknown, and the line that speaks of a loss or a truncation leads the report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.signs.sign import Sign
from forensics.replay.signs.suspicions import SIGNS, suspicions
from forensics.reports.text import render
from forensics.rules import RULES
from forensics.rules.finding import Severity
from forensics.rules.suspects import SUSPECTS
from tests.incident import Incident

LOSS, CUT = "committed-data-lost", "truncation-below-committed"


def excerpt(tmp_path: Path, *, start: int, before: int = 80, epoch: int = 6) -> Incident:
    """Broker 1 led epoch 4 with a high watermark and then a later one; what was in between is not in the evidence."""
    incident = Incident(tmp_path, brokers=1)
    incident[1].opened = True
    incident[1].leads(10, 4, before, before, [1])
    incident[1].starts(50).opened = True
    incident[1].leads(60, epoch, start, start, [1])
    return incident


def test_every_sign_has_a_rule_that_suspects_and_every_rule_is_one() -> None:
    assert [*SIGNS] == [*Sign]
    assert {suspect.sign for suspect in SUSPECTS} == {*Sign}
    assert len({(suspect.sign, suspect.rule) for suspect in SUSPECTS}) == len(SUSPECTS)
    assert {suspect.rule for suspect in SUSPECTS} <= {rule.id for rule in RULES}
    assert all(suspect.otherwise for suspect in SUSPECTS), "what else could explain it"


def test_a_leader_that_begins_below_a_stated_high_watermark_is_suspected(tmp_path: Path) -> None:
    incident = excerpt(tmp_path, start=0)
    assert incident.verdict(LOSS) == "unknown"
    (finding,) = incident.findings(LOSS)
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", Severity.ERROR, ((0, 80),))
    assert finding.epochs == (4, 6)
    assert len({ref.row for ref in finding.refs}) == 2, "both lines are cited"
    assert any("created again" in other for other in finding.uncertain)
    page = render(incident.scan(), width=110)
    assert page.startswith("SUSPECTED in 1 of 1 partition: committed-data-lost")
    assert "\norders-0   SUSPECTED: COMMITTED DATA LOST   offsets 0 to 79 (80 offsets)" in page
    assert "CLEAN" not in page


@pytest.mark.parametrize(("start", "epoch"), [(80, 6), (95, 6), (40, 3)])
def test_no_suspicion_where_nothing_can_be_lost(start: int, epoch: int, tmp_path: Path) -> None:
    """A leader that begins at the high watermark or above it has all; an earlier epoch says nothing of a later one."""
    assert excerpt(tmp_path, start=start, epoch=epoch).findings(LOSS) == []


def begun_twice(tmp_path: Path, again: int, *, knew: int = -1) -> Incident:
    """Broker 1 leads epoch 4 from 80, and then from another offset; no line tells of a start in between."""
    incident = Incident(tmp_path, brokers=1)
    incident[1].leads(10, 4, 80, 80, [1])
    incident[1].epoch = knew
    incident[1].leads(60, 4, again, min(again, 80), [1])
    return incident


def test_an_epoch_that_its_leader_begins_twice(tmp_path: Path) -> None:
    """A process that knew no epoch before is another one than the one that began the epoch."""
    (finding,) = begun_twice(tmp_path, 30).findings(LOSS)
    assert (finding.confidence, finding.offsets, finding.epochs) == ("suspected", ((30, 80),), (4,))


@pytest.mark.parametrize(("again", "knew"), [(80, -1), (95, -1), (30, 3)])
def test_an_epoch_that_is_told_twice(again: int, knew: int, tmp_path: Path) -> None:
    """With all that was committed, or by the process that began it, nothing is lost."""
    assert begun_twice(tmp_path, again, knew=knew).findings(LOSS) == []


def test_a_follower_that_truncates_below_its_own_high_watermark_is_suspected(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=3)
    incident[2].follows(10, 13, 3, 80, 80).cuts(11, 50)
    assert incident.verdict(CUT) == "unknown"
    (finding,) = incident.findings(CUT)
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", Severity.ERROR, ((50, 80),))


@pytest.mark.parametrize(("release", "setting", "suspected"), [("3.9.1", 2, 0), ("3.9.1", 1, 1), ("", 2, 1)])
def test_a_leader_alone_commits_nothing_below_min_insync_replicas(
    release: str, setting: int, suspected: int, tmp_path: Path
) -> None:
    """By its last line leader 1 was alone in the ISR, and had more than leader 2 begins with. Before 3.7 a producer
    with acks=1 makes that committed too.
    """
    incident = Incident(tmp_path, brokers=2)
    incident.begins(50, f"min.insync.replicas={setting}")
    incident[1].shrinks(5, "1,2", "1", 50, 80, "(brokerId: 2, endOffset: 50)")
    incident.elects(20, 1, 2, [2])
    incident[2].leads(20, 1, 50, 50, [2])
    incident[1].starts(30).loads(31, 80).follows(32, 1, 2, 80, 50).cuts(33, 50)
    for log in tmp_path.rglob("*.log") if release else ():
        if log.parent.name == "logs":
            log.write_text(log.read_text().replace("Kafka version: 2.8.2", f"Kafka version: {release}"))
    found = [one.sign for one in suspicions(incident.history())]
    assert found.count(Sign.LED_WITHOUT_LAST_RECORDS) == suspected


def test_lines_of_two_files_are_in_no_order_where_the_clock_was_set_back(tmp_path: Path) -> None:
    """The truncation has an earlier time than the role, and follows a line of its own file with a later one."""
    incident = Incident(tmp_path, brokers=3)
    incident[2].follows(10, 13, 3, 80, 80).cuts(8, 50)
    assert incident.findings(CUT) == []


@pytest.mark.parametrize("target", [80, 90])
def test_a_truncation_at_the_high_watermark_or_above_is_routine(target: int, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=3)
    incident[2].follows(10, 13, 3, 100, 80).cuts(11, target)
    assert incident.findings(CUT) == []


def test_what_is_proven_is_not_suspected_besides(sample_traces: Path) -> None:
    for sample in ("kip101-0.10.2.2", "unclean-3.9.1"):
        findings = scan([str(sample_traces / sample)]).findings
        assert {LOSS, CUT} <= {finding.rule for finding in findings}
        assert "suspected" not in {finding.confidence for finding in findings}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_follower_may_fetch_in_an_epoch_before_it_receives_that(restarts: bool, tmp_path: Path) -> None:
    """It enters the epoch with more than its leader began that epoch with, and truncated to follow that leader before.
    A leader that had restarted may have lost what the follower has.
    """
    incident = Incident(tmp_path, brokers=2)
    incident.begins(50)
    incident.elects(10, 1, 2, [2])
    incident[2].leads(10, 1, 50, 50, [2])
    incident[1].starts(15).loads(16, 53).follows(17, 1, 2, 53, 50).cuts(18, 50)
    if restarts:
        incident[2].starts(25).loads(26, 60)
    incident.elects(30, 2, 2, [2, 1])
    incident[2].leads(30, 2, 60, 60, [2, 1])
    incident[1].follows(31, 2, 2, 70, 70)
    incident.elects(40, 3, 1, [1])
    incident[1].leads(40, 3, 90, 90, [1])
    incident[2].starts(45).loads(46, 90).follows(47, 3, 1, 90, 90)
    for broker in (1, 2):
        shutil.rmtree(incident[broker].data)
    assert bool(incident.findings(LOSS)) is restarts
    signs = {one.sign for one in suspicions(incident.history())}
    assert (Sign.BEGAN_BELOW_PRINTED in signs) is restarts


STARTS = (
    "INFO [Partition orders-0 broker={0}] orders-0 starts at Leader Epoch {1} from offset {2}. Previous Leader Epoch "
    "was: {3} (kafka.cluster.Partition)"
)


@pytest.mark.parametrize(("order", "suspected"), [((1, 2), True), ((2, 1), False)])
def test_a_leader_epoch_that_came_before_a_lower_one_lost_nothing_of_it(
    order: tuple[int, int], suspected: bool, tmp_path: Path
) -> None:
    """The lines of one broker are in order: after a restore of ZooKeeper a lower leader epoch may come later."""
    incident = Incident(tmp_path, brokers=1)
    starts = {1: 120, 2: 50}
    for at, epoch in enumerate(order):
        incident[1].starts(20 * at + 1).loads(20 * at + 2, starts[epoch])
        incident[1].says(20 * at + 3, STARTS.format(1, epoch, starts[epoch], 0))
    assert [one.offsets for one in incident.findings("committed-data-lost")] == ([((50, 120),)] if suspected else [])
