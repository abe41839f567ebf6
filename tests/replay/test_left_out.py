"""Lines of several brokers in one file that name none of them: what such a line may say is not ruled out."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan, take_in
from forensics.replay.coverage import Span
from forensics.replay.omissions.left_out import LINES_LEFT_OUT, left_out
from forensics.reports import json_report
from forensics.result import Result
from forensics.rules.finding import Confidence, Verdict
from tests.case.test_printers import by_time
from tests.engines.without_spark import run

ROLES = (
    "TRACE [Broker id={0}] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='pears', "
    "partitionIndex=0, controllerEpoch=1, leader=1, leaderEpoch=0, isr=[1, 2], partitionEpoch=0, replicas=[1, 2], "
    "addingReplicas=[], removingReplicas=[], isNew=true, leaderRecoveryState=0) correlation id 1 from controller 9 "
    "epoch 1 (state.change.logger)"
)
LEADS = (
    "INFO [Partition pears-0 broker=1] pears-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1,2] "
    "addingReplicas [] removingReplicas [] . Previous leader None and previous leader epoch was -1. "
    "(kafka.cluster.Partition)"
)
FETCHES = (
    "INFO [ReplicaFetcherManager on broker 2] Added fetcher to broker 1 for partitions HashMap(pears-0 -> "
    "InitialFetchState(None,BrokerEndPoint(id=1, host=b1:9092),0,0)) (kafka.server.ReplicaFetcherManager)"
)
NOBODYS = (
    "INFO [LocalLog partition=pears-0, dir=/srv/kafka] Rolled new log segment at offset 40 in 2 ms. "
    "(kafka.log.LocalLog)"
)


def judged(tmp_path: Path, *lines: str) -> Result:
    text = "".join(f"[2026-03-02 08:00:{at:02},000] {line}\n" for at, line in enumerate(lines))
    (tmp_path / "server.log").write_text(text, encoding="utf-8")
    return scan([str(tmp_path)])


def test_a_line_that_names_no_broker_may_be_of_each_that_speaks_there(tmp_path: Path) -> None:
    lines = (ROLES.format(1), ROLES.format(2), LEADS, FETCHES)
    (whole,) = judged(tmp_path, *lines).partitions
    assert whole.history.coverage.shown_missing_by(LINES_LEFT_OUT) == {}
    (partition,) = judged(tmp_path, *lines, NOBODYS, NOBODYS).partitions
    found = partition.history.coverage.shown_missing_by(LINES_LEFT_OUT)
    assert {broker: one.text for broker, one in found.items()} == dict.fromkeys(
        (1, 2),
        "several brokers wrote to one log file, and 2 lines there about this partition name no broker",
    )
    assert {one.span for one in found.values()} == {Span.WITHIN}
    assert not partition.history.coverage.whole(1)


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "zombie-1.1.1"])
def test_nothing_about_such_a_partition_is_clean_of_loss(name: str, sample_traces: Path, tmp_path: Path) -> None:
    files = sorted((sample_traces / name).glob("broker-[1-3]/logs/*.log"))
    (tmp_path / "all.log").write_text(by_time(files), encoding="utf-8")
    found = scan([str(tmp_path)])
    some = left_out(found.case)
    assert some
    for partition in found.partitions:
        place = partition.history.topic, partition.history.partition
        if place in some and some[place].brokers:
            assert partition.judgements["committed-data-lost"].verdict is not Verdict.CLEAN
            proven = partition.judgements["committed-data-lost"].findings
            assert all(one.confidence is not Confidence.PROVEN for one in proven), name


def test_a_log_of_one_broker_leaves_none_out(sample_traces: Path) -> None:
    assert left_out(take_in([str(sample_traces / "unclean-3.9.1")])) == {}


def test_tasks_of_a_batch_leave_out_the_same(sample_traces: Path, tmp_path: Path) -> None:
    """Also where a partition has so many rows that those which cannot matter are dropped on the way."""
    files = sorted((sample_traces / "unclean-3.9.1").glob("broker-[1-3]/logs/*.log"))
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "all.log").write_text(by_time(files), encoding="utf-8")
    path = str(tmp_path / "case")
    found = run(path, tmp_path / "out", split=1, partitions=3, together=60)
    assert json_report.render(found) == json_report.render(scan([path]))
