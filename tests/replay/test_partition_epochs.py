"""Changes of the ISR that partition epochs count and no line of the leader shows."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.events import Event, has_server_log
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.omissions.partition_epochs import isr_changes_not_stated
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.reports import json_report
from parsers.schema import Kind
from tests.covering import whole, without
from tests.incident import Incident
from tests.numbered import numbered

LINE = Ref(row=1)


def history(*isrs: set[int], states: tuple[int, ...]) -> History:
    """Leader epoch 4, led by broker 1, which states these ISRs; lines state these partition epochs."""
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    epoch = Epoch(4, leader=1, isr=[(frozenset(isr), LINE) for isr in isrs], isr_from_leader=True)
    found.epochs, found.states = LeaderEpochs({4: epoch}), numbered(dict.fromkeys(states, (4, None)))
    return found


def test_a_leader_that_changed_the_isr_more_often_than_it_shows_lacks_lines() -> None:
    (missing,) = isr_changes_not_stated(history({1, 2}, {1, 2}, states=(7, 9)))
    assert (missing.replica, missing.epoch) == (1, 4)
    assert "rose from 7 to 9 in leader epoch 4, but its lines show 0" in missing.text


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(history({1, 2}, {1}, {1, 2}, states=(7, 9)), id="it shows each"),
        pytest.param(history({1, 2}, {1}, {1, 2}, states=(9,)), id="one number says nothing"),
        pytest.param(history({1, 2}, {1}, {1, 2}, states=(7, 8)), id="a change that was refused"),
    ],
)
def test_nothing_is_missing(one: History) -> None:
    assert not [*isr_changes_not_stated(one)]


def test_commits_of_a_leader_are_numbered_one_after_the_other() -> None:
    """So is the first one of leader epoch 0, as the partition was created with number 0."""
    one = history({1, 2}, {1}, {1, 2}, states=(9,))
    one.isr_commits = {4: [7, 9]}
    (missing,) = isr_changes_not_stated(one)
    assert "rose from 7 to 9" in missing.text
    one.isr_commits = {4: [8, 9]}
    assert not [*isr_changes_not_stated(one)]
    one.epochs[4].epoch, one.isr_commits = 0, {0: [2]}
    one.epochs, one.states = LeaderEpochs({0: one.epochs[4]}), numbered({2: (0, None)})
    (missing,) = isr_changes_not_stated(one)
    assert "rose from 0 to 2" in missing.text


def test_others_may_change_the_state_with_kraft_and_a_file_that_is_not_there_shows_nothing() -> None:
    one = history({1, 2}, states=(7, 9))
    one.protocol = PartitionProtocol(maybe_kraft=True)
    assert not [*isr_changes_not_stated(one)]
    one.protocol, one.coverage = PartitionProtocol(), without(whole(1, 2), 1, Printed.LOG)
    assert not [*isr_changes_not_stated(one)]


def test_a_recorded_leader_whose_shrink_is_not_there_is_not_whole(sample_traces: Path, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(sample_traces / "frozenctl-2.8.2", case)
    log = case / "broker-1" / "logs" / "server.log"
    shrunk = re.compile(r"^.*orders-0.*(?:Shrinking ISR from 1,2 to 1|ISR updated to 1 and version).*\n", re.MULTILINE)
    text, count = shrunk.subn("", log.read_text(encoding="utf-8"))
    assert count == 2
    log.write_text(text, encoding="utf-8")
    (partition,) = json_report.document(scan([str(case)]))["partitions"]
    assert partition["verdicts"]["hw-above-isr-member"]["verdict"] == "unknown"  # the whole sample: violated


@pytest.mark.parametrize(
    ("message", "kind", "there"),
    [("L-05", Kind.LOG_LOADED, True), ("S-01", Kind.BECOME_LEADER, False), ("P-01", Kind.SHUTDOWN_BEGIN, False)],
)
def test_lines_about_a_process_are_not_about_its_replicas_logs(message: str, kind: Kind, there: bool) -> None:
    blank: dict[str, object] = dict.fromkeys(Event._fields)
    event = Event(**(blank | {"row": 0, "broker": 1, "run": 0, "kind": kind.value, "message": message}))  # type: ignore[arg-type]
    assert has_server_log([event]) is there


SKIPPED = (
    "INFO [Broker id=3] Skipped the become-follower state change for orders-0 with topic id "
    "Some(Zx1yQ2w3R4e5T6y7U8i9Oa) and partition state LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, "
    "controllerEpoch=-1, leader=1, leaderEpoch=0, isr=[{isr}], partitionEpoch={number}, replicas=[1, 2, 3], "
    "addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already a follower with "
    "leader epoch 0. (state.change.logger)"
)
LEADS = (
    "INFO [Broker id=3] Leader orders-0 with topic id Some(Zx1yQ2w3R4e5T6y7U8i9Oa) starts at leader epoch 1 from "
    "offset 50 with partition epoch {number}, high watermark 50, ISR [3], adding replicas [] and removing replicas [] "
    ". Previous leader None and previous leader epoch was -1. (state.change.logger)"
)
REMOVED = (
    "INFO [ReplicaFetcherManager on broker 3] Removed fetcher for partitions Set(orders-0) "
    "(kafka.server.ReplicaFetcherManager)"
)


@pytest.mark.parametrize(("number", "falls"), [(2, True), (3, True), (4, False)])
def test_a_partition_epoch_that_falls_as_the_leader_epoch_rises_shows_a_restore(
    number: int, falls: bool, tmp_path: Path
) -> None:
    """Broker 3 had left the ISR; a restored controller does not know that, and elects it. Only its lines are there."""
    incident = Incident(tmp_path)
    node = incident[3].creates(1).follows(1, 0, 1, 0, 0)
    node.says(9, SKIPPED.format(isr="1, 3", number=1), log="state-change")
    node.says(10, SKIPPED.format(isr="1, 2", number=3), log="state-change")
    node.starts(40).loads(40, 50).says(41, LEADS.format(number=number), log="state-change")
    node.segment([(0, 49, 0), (50, 59, 1)])
    node.epochs((0, 0), (1, 50)).checkpoint(60)
    text = f"broker 3 states partition epoch 3 in leader epoch 0, and {number} in leader epoch 1"
    assert incident.verdict("committed-data-lost") == "unknown"
    assert any(text in one for one in incident.missing("committed-data-lost")) is falls


def test_with_the_lines_of_all_replicas_leader_epochs_that_rose_are_in_order(tmp_path: Path) -> None:
    """Broker 1 led epoch 0 and follows in epoch 1, by its own lines; so a restored controller changes nothing here."""
    incident = Incident(tmp_path, brokers=3)
    former, node = incident[1], incident[3]
    former.creates(1).leads(1, 0, 0, 0, [1, 3])
    node.creates(1).follows(1, 0, 1, 0, 0)
    node.says(9, SKIPPED.format(isr="1, 3", number=1), log="state-change")
    node.says(10, SKIPPED.format(isr="1", number=3), log="state-change")
    former.starts(40).loads(40, 60)
    node.starts(40).loads(40, 50).opens(41, 40).says(41, REMOVED).says(41, LEADS.format(number=2), log="state-change")
    former.follows(42, 1, 3, 60, 60).cuts(43, 50)
    for one in (former, node):
        one.segment([(0, 49, 0), (50, 59, 1)])
        one.epochs((0, 0), (1, 50)).checkpoint(60)
    assert not any("were used again" in one for one in incident.missing("committed-data-lost"))
    assert [one.offsets for one in incident.findings("committed-data-lost")] == [((50, 60),)]
    assert incident.verdict("committed-data-lost") == "violated"
