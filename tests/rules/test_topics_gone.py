"""A topic that the controllers no longer know: brokers find their replicas stray as they start (KRaft)."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines import large
from forensics.engines.local import scan
from forensics.reports import markdown, text
from forensics.reports.collecting import wanted
from forensics.reports.json_report import render
from forensics.rules.causes import CauseId
from forensics.rules.finding import Judgement, Severity
from forensics.rules.wants import Artefact, Question
from tests.cases.test_recorded import unpacked
from tests.incident import Incident

LOSS = "committed-data-lost"
TOPIC_ID, LATER_ID = "UYZI6pwWQ4GVdQyfFrwMlA", "qT65uGXyTWqsF6FiUgV8Bg"
REMOVED = f"INFO [QuorumController id=9] Replayed RemoveTopicRecord for topic {{topic}} with ID {TOPIC_ID}."
CONTROLLER = "(org.apache.kafka.controller.ReplicationControlManager)"


def stray(incident: Incident, end: int, *, why: str = "") -> str:
    """Return the line of a broker that finds the replica stray."""
    topic, _, partition = incident.partition.rpartition("-")
    why = why or f"the topicId {TOPIC_ID} does not exist in the metadata image"
    return (
        f"INFO Found stray log dir Log(dir=/d/{incident.partition}, topicId={TOPIC_ID}, topic={topic}, "
        f"partition={partition}, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset={end}): {why} "
        "(kafka.server.metadata.BrokerMetadataPublisher$)"
    )


def topic_gone(folder: Path, *, stray_on: tuple[int, ...] = (1, 2, 3), end: int = 80) -> Incident:
    """All brokers restart after their controllers lost the topic, and some of them find their replica stray."""
    incident = Incident(folder)
    for number in (1, 2, 3):
        node = incident[number].creates(1)
        if number == 1:
            node.leads(1, 0, 0, 0, [1, 2, 3])
        else:
            node.follows(1, 0, 1, 0, 0)
        node.starts(20).loads(22, end)
        if number in stray_on:
            node.says(23 + number, stray(incident, end))
    return incident


def answer(incident: Incident) -> Judgement:
    """Return the answer about lost records of the incident's partition."""
    return incident.partition_of(incident.scan()).judgements[LOSS]


def test_a_topic_that_every_replica_finds_gone_is_suspected(tmp_path: Path) -> None:
    (finding,) = answer(topic_gone(tmp_path / "in")).findings
    assert (finding.offsets, finding.replicas, finding.severity) == (((0, 80),), (1, 2, 3), Severity.ERROR)
    assert finding.cause == CauseId.VOTERS_LOST_RECORDS
    assert finding.keep.startswith("orders-0.*-stray of brokers 1, 2 and 3")
    assert [fact.broker for fact in finding.facts] == [1, 2, 3]
    steps = [str(step) for step in finding.next_steps]
    assert any("find out whether somebody deleted topic orders on purpose" in step for step in steps)
    assert any("salvage" in step and "/orders-0.*-stray -p" in step and "--offsets 0..80" in step for step in steps)


@pytest.mark.parametrize(("release", "kept"), [("3.9.1", ", and do not delete them"), ("3.6.0", ". Before 3.6.1 they")])
def test_the_directories_to_keep_are_paths_to_be_copied(release: str, kept: str, tmp_path: Path) -> None:
    """Each broker has one log directory. A release before 3.6.1 may delete them."""
    incident = topic_gone(tmp_path / "in")
    for number in (1, 2, 3):
        incident[number].says(21, f"INFO Kafka version: {release} (org.apache.kafka.common.utils.AppInfoParser)")
        (tmp_path / "in" / f"broker-{number}" / "server.properties").write_text(
            f"broker.id={number}\nlog.dirs=/d{number}\n"
        )
    (finding,) = answer(incident).findings
    assert finding.keep.startswith("/d1/orders-0.*-stray of broker 1, /d2/orders-0.*-stray of broker 2, /d3/orders-0")
    assert f"brokers have given this name to the directories{kept}" in finding.keep
    first = next(line for line in markdown.render(incident.scan()).splitlines() if line.startswith("**Before anything"))
    assert "each directory of all brokers whose name ends in -stray (/d1/" in first.replace("\\", "")


@pytest.mark.parametrize(("release", "asked"), [("3.9.1", False), ("3.6.0", True)])
def test_a_directory_that_was_renamed_is_not_asked_for_by_its_old_name(
    release: str, asked: bool, tmp_path: Path
) -> None:
    """Since 3.6.1 it ends in -stray; before, it keeps its name until it is deleted (KAFKA-15605)."""
    incident = topic_gone(tmp_path / "in")
    for number in (1, 2, 3):
        incident[number].says(21, f"INFO Kafka version: {release} (org.apache.kafka.common.utils.AppInfoParser)")
    wants = [one.want for one in wanted(incident.scan())]
    assert any(Artefact.DATA_DIRECTORY in want.artefacts for want in wants) == asked
    assert Question.TOPIC_DELETED in {want.question for want in wants}


@pytest.mark.parametrize("on", [(1,), (2, 3)])
def test_another_replica_may_still_serve_it(tmp_path: Path, on: tuple[int, ...]) -> None:
    """The others may have deleted theirs on demand, or still lead: unknown, and no alarm."""
    told = answer(topic_gone(tmp_path / "in", stray_on=on))
    assert (told.verdict, told.findings) == ("unknown", ())
    assert Question.TOPIC_DELETED in {want.question for want in told.missing}


def renamed(incident: Incident) -> str:
    """Return the line of a broker that deletes a replica."""
    name = incident.partition
    deleted = f"INFO Log for partition {name} is renamed to /d/{name}.{'0' * 32}-delete and is scheduled for deletion"
    return f"{deleted} (kafka.log.LogManager)"


def removed_by_controller(incident: Incident) -> None:
    """The controllers carry out the deletion."""
    topic = incident.partition.rpartition("-")[0]
    incident[9].says(15, f"{REMOVED.format(topic=topic)} {CONTROLLER}", log="controller")


def removed_up_to_3_5(incident: Incident) -> None:
    """The same, in the words of earlier releases."""
    topic = incident.partition.rpartition("-")[0]
    line = f"INFO [Controller 9] Removed topic {topic} with ID {TOPIC_ID}. {CONTROLLER}"
    incident[9].says(15, line, log="controller")


@pytest.mark.parametrize("deletes", [removed_by_controller, removed_up_to_3_5])
def test_a_deleted_topic_is_none(tmp_path: Path, deletes: object) -> None:
    incident = topic_gone(tmp_path / "in")
    assert callable(deletes)
    deletes(incident)
    assert Question.TOPIC_DELETED not in {want.question for want in answer(incident).missing}
    assert answer(incident).findings == ()


def test_nor_is_one_that_a_broker_deletes_by_order(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in", stray_on=(1, 2))
    incident[3].says(15, renamed(incident))
    assert answer(incident).findings == ()


def test_nor_is_one_without_records(tmp_path: Path) -> None:
    assert answer(topic_gone(tmp_path / "in", end=0)).findings == ()


def test_another_topic_of_the_case_was_deleted(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in")
    line = f"{REMOVED.format(topic='audit').replace(TOPIC_ID, LATER_ID)} {CONTROLLER}"
    incident[9].says(15, line, log="controller")
    assert len(answer(incident).findings) == 1


def test_the_engine_for_large_evidence_has_the_same(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in")
    removed_by_controller(incident)
    small = render(incident.scan())
    assert small == render(large.scan([str(tmp_path / "in")], jobs=1, memory=1 << 30))


def test_a_recorded_cluster_whose_controllers_lost_a_topic(tmp_path: Path) -> None:
    """``quorumrolled-3.9.1``: the metadata log lost the records of topic ``late``, whose replicas are all there."""
    result = scan([str(unpacked("quorumrolled-3.9.1", tmp_path))])
    found = {
        one.history.name: [(finding.offsets, finding.replicas) for finding in one.judgements[LOSS].findings]
        for one in result.partitions
        if one.history.topic == "late"
    }
    assert found == {name: [(((0, 225),), (1, 2, 3))] for name in ("late-0", "late-1")}
    for told in (text.render(result), markdown.render(result)):
        said = " ".join(told.replace("\\", "").split())
        assert all(f"/late-0.*-stray of broker {number}" in said for number in (1, 2, 3))


def test_a_topic_that_is_served_again_is_none(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in")
    incident[1].leads(40, 1, 80, 80, [1])
    assert answer(incident).findings == ()


def test_a_topic_of_the_same_name_that_was_made_since_hides_nothing(tmp_path: Path) -> None:
    """Nobody deleted the former one: its records are in the directories that the brokers set aside."""
    incident = topic_gone(tmp_path / "in")
    for number in (1, 2, 3):
        made = f"INFO [Broker id={number}] Creating new partition {incident.partition} with topic id {LATER_ID}."
        node = incident[number].says(59, f"{made} (state.change.logger)", log="state-change").creates(60)
        if number == 1:
            node.leads(61, 0, 0, 0, [1, 2, 3])
        else:
            node.follows(61, 0, 1, 0, 0)
    found = {
        one.history.incarnation: [finding.offsets for finding in one.judgements[LOSS].findings]
        for one in incident.scan().partitions
    }
    assert found == {0: [], 1: [((0, 80),)]}
    (finding,) = (one for one in incident.scan().findings if one.rule == LOSS)
    assert any(f"--topic-id {TOPIC_ID}" in str(step) for step in finding.next_steps)


def test_up_to_3_6_brokers_delete_what_they_find_so(tmp_path: Path) -> None:
    """No copy is left on the two that did; the one that is down for good, or newer, has the last."""
    incident = topic_gone(tmp_path / "in")
    name = incident.partition
    for number in (1, 2):
        renamed = (
            f"INFO Log for partition {name} is renamed to /d/{name}.{'0' * 32}-delete and is scheduled for deletion"
        )
        incident[number].says(29, f"{renamed} (kafka.log.LogManager)")
    (finding,) = answer(incident).findings
    assert (finding.offsets, finding.replicas) == (((0, 80),), (1, 2, 3))
    assert finding.keep.startswith("orders-0.*-stray of broker 3:")
    assert [(fact.broker, fact.text) for fact in finding.facts if "deleted" in fact.text] == [
        (1, "deleted this replica"), (2, "deleted this replica"),
    ]  # fmt: skip


def test_where_all_of_them_do_no_copy_is_left(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in")
    name = incident.partition
    for number in (1, 2, 3):
        renamed = (
            f"INFO Log for partition {name} is renamed to /d/{name}.{'0' * 32}-delete and is scheduled for deletion"
        )
        incident[number].says(29, f"{renamed} (kafka.log.LogManager)")
    (finding,) = answer(incident).findings
    assert (finding.keep, finding.no_copy) == (None, True)
    assert finding.summary.endswith("No replica in the evidence still has them")


def test_each_broker_has_its_own_log_end(tmp_path: Path) -> None:
    incident = topic_gone(tmp_path / "in", stray_on=(1, 2))
    incident[3].says(26, stray(incident, 75))
    (finding,) = answer(incident).findings
    assert [fact.text.rpartition(" ")[2] for fact in finding.facts] == ["80", "80", "75"]
    assert finding.offsets == ((0, 80),)
