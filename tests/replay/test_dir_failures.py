"""A log directory that failed explains what became of every replica in it, whether the line lists them or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.roles.steps import LogBefore
from tests.incident import Incident, Node

LOSS, SHORTER = "committed-data-lost", "leo-regression"
EXPLAINED, UNEXPLAINED = "its log directory had failed", "no log line explains the difference"


def fails(node: Node, at: float, log_dir: str = "/d") -> None:
    """What a broker prints of a directory that fails before it serves anything from it."""
    node.says(at, f"INFO [ReplicaManager broker={node.number}] Stopping serving replicas in dir {log_dir} "
              "(kafka.server.ReplicaManager)")  # fmt: skip
    node.says(at, f"ERROR Shutdown broker because all log dirs in {log_dir} have failed (kafka.log.LogManager)")


def alone(tmp_path: Path, *, failed: str | None = "/d", end: int = 0, hw: int = 80, epoch: int = 5) -> Incident:
    """Broker 1 leads epoch 4 alone, up to 80; then its directory fails, and its next process finds another log."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.loads(5, 80).leads(10, 4, 80, hw, [1])
    if failed is not None:
        fails(node, 40, failed)
    node.starts(50)
    if end:
        node.loads(55, end)
    else:
        node.creates(58)
    node.leads(60, epoch, end, end, [1])
    return incident


def test_a_directory_that_failed_before_a_log_came_back_empty_is_the_cause(tmp_path: Path) -> None:
    incident = alone(tmp_path)
    (finding,) = incident.findings(SHORTER)
    assert EXPLAINED in finding.summary
    assert any("log dir" in one.text.lower() or "in dir" in one.text for one in finding.evidence), "with that line"


def test_a_directory_that_failed_before_a_log_came_back_shorter_is_the_cause(tmp_path: Path) -> None:
    (finding,) = alone(tmp_path, end=30).findings(SHORTER)
    assert EXPLAINED in finding.summary
    assert finding.offsets == ((30, 80),)


@pytest.mark.parametrize("failed", [None, "/other"])
def test_another_directory_that_failed_explains_nothing(failed: str | None, tmp_path: Path) -> None:
    (finding,) = alone(tmp_path, failed=failed).findings(SHORTER)
    assert UNEXPLAINED in finding.summary


def test_a_directory_that_came_back_whole_explains_nothing_later(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.loads(5, 80).leads(10, 4, 80, 80, [1])
    fails(node, 40)
    node.starts(50).loads(55, 80).leads(60, 5, 80, 80, [1])
    node.starts(90).creates(95).leads(99, 6, 0, 0, [1])
    (finding,) = incident.findings(SHORTER)
    assert UNEXPLAINED in finding.summary


def test_a_directory_that_failed_while_the_log_was_empty_explains_nothing_later(tmp_path: Path) -> None:
    """It is created again empty, grows, is loaded with its records, and only then is a new log created."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1].creates(5).starts(6).loads(7, 0)
    fails(node, 10)
    node.starts(20).creates(25)
    node.starts(30).loads(35, 3)
    node.starts(50).creates(58)
    (finding,) = incident.findings(SHORTER)
    assert UNEXPLAINED in finding.summary


EMPTY = "its log directory held no log"


@pytest.mark.parametrize(("found", "words"), [("/d", EMPTY), ("/other", UNEXPLAINED), (None, UNEXPLAINED)])
def test_a_process_that_found_no_log_in_the_directory_explains_a_new_log(
    found: str | None, words: str, tmp_path: Path
) -> None:
    incident = Incident(tmp_path, brokers=1)
    node = incident[1].loads(5, 80).leads(10, 4, 80, 80, [1]).starts(50)
    if found is not None:
        node.says(51, f"INFO No logs found to be loaded in {found} (kafka.log.LogManager)")
    node.creates(58).leads(60, 5, 0, 0, [1])
    (finding,) = incident.findings(SHORTER)
    assert words in finding.summary
    assert any("No logs found" in one.text for one in finding.evidence) is (words == EMPTY)


def test_an_earlier_process_that_found_no_log_explains_nothing(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    node = incident[1].starts(1).says(2, "INFO No logs found to be loaded in /d (kafka.log.LogManager)")
    node.creates(5).leads(10, 4, 0, 0, [1]).starts(30).loads(35, 80).leads(40, 5, 80, 80, [1])
    node.starts(50).creates(58).leads(60, 6, 0, 0, [1])
    assert [UNEXPLAINED in one.summary for one in incident.findings(SHORTER)] == [True]


def test_what_the_only_member_of_the_isr_had_committed_is_suspected_to_be_lost(tmp_path: Path) -> None:
    """Even where it does not lead again."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.loads(5, 80).leads(10, 4, 80, 80, [1])
    fails(node, 40)
    node.starts(50).creates(58)
    findings = [one for one in incident.findings(LOSS) if one.confidence == "suspected"]
    assert [(one.offsets, one.cause) for one in findings] == [(((0, 80),), "wiped-disk")]
    assert any("had failed" in one for one in findings[0].inferences)


def test_what_a_leader_with_others_in_its_isr_had_is_with_them(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.loads(5, 80).leads(10, 4, 80, 80, [1, 2])
    fails(node, 40)
    node.starts(50).creates(58)
    assert [one for one in incident.findings(LOSS) if one.confidence == "suspected"] == []


def test_what_was_deleted_from_the_beginning_of_the_log_is_not_lost(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.says(
        5, "INFO Completed load of Log(dir=/d/orders-0, topic=orders, partition=0, highWatermark=0, "
        "lastStableOffset=0, logStartOffset=78, logEndOffset=80) with 1 segments in 9ms (1/1 loaded in /d) "
        "(kafka.log.LogManager)",
    )  # fmt: skip
    node.leads(10, 4, 80, 80, [1]).starts(50).creates(58).leads(60, 6, 0, 0, [1])
    assert {one.offsets for one in (*incident.findings(LOSS), *incident.findings(SHORTER))} == {((78, 80),)}


def test_settings_with_slashes_name_directories_with_backslashes(tmp_path: Path) -> None:
    """On Windows log.dirs may be C:/data, and brokers print C:\\data."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    node.says(1, "INFO KafkaConfig values: \n\tbroker.id = 1\n\tlog.dirs = C:/data\n (kafka.server.KafkaConfig)")
    node.creates(5).leads(10, 4, 80, 80, [1])
    fails(node, 40, "C:\\data")
    node.starts(50).creates(58).leads(60, 6, 0, 0, [1])
    (finding,) = incident.findings(SHORTER)
    assert EXPLAINED in finding.summary


def starts_4_1(node: Node, at: float) -> None:
    """A new process of a release that is KRaft only."""
    node.epoch, node.opened = -1, False
    node.says(at, f"INFO [BrokerServer id={node.number}] Starting broker (kafka.server.BrokerServer)")
    node.says(at, "INFO Kafka version: 4.1.1 (org.apache.kafka.common.utils.AppInfoParser)")


def replaced_behind_its_role(tmp_path: Path, *, failed: bool) -> Incident:
    """Broker 2 gets a new log in epoch 0, in which it followed before: its role has a line before the new log has one.

    It fetches up to 40, is killed, and its next process reads back high watermark 30.
    """
    incident = Incident(tmp_path, brokers=2)
    for node in incident.nodes.values():
        (node.folder / "logs" / "server.log").unlink()  # of a release with ZooKeeper
        starts_4_1(node, 1)
    incident[1].creates(5).leads(6, 0, 0, 0, [1, 2])
    node = incident[2].creates(5).follows(6, 0, 1, 0, 0)
    if failed:
        fails(node, 20)
    starts_4_1(node, 30)
    node.says(
        32, "INFO [Broker id=2] Follower orders-0 starts at leader epoch 0 from offset 0 with high watermark 0. "
        "Previous leader epoch was -1. (state.change.logger)", log="state-change"
    ).creates(32)  # fmt: skip
    node.says(
        32.1, "INFO [ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions Map(orders-0 -> "
        "InitialFetchState(BrokerEndPoint(id=1, host=h:9092),0,0)) (kafka.server.ReplicaFetcherManager)"
    )  # fmt: skip
    starts_4_1(node, 50)
    node.loads(51, 40).follows(52, 1, 1, 40, 30)
    incident[1].leads(51.5, 1, 40, 40, [1, 2])
    return incident


@pytest.mark.parametrize("failed", [True, False])
def test_what_a_later_process_reads_back_was_not_in_the_log_before_the_new_one(failed: bool, tmp_path: Path) -> None:
    incident = replaced_behind_its_role(tmp_path, failed=failed)
    assert incident.findings(SHORTER) == []
    (step,) = incident.history().role_spans[2][0].steps
    assert step.before is (LogBefore.DIR_FAILED if failed else LogBefore.REPLACED)
    assert not any(one.dir_failed for one in incident.history().role_spans[2]), "it has a log again"
    assert any("empty" in text for text in incident.missing(SHORTER)) is not failed
