"""A follower that fetches once more from a topic that is being deleted, before its own log is deleted."""

from __future__ import annotations

from pathlib import Path

from tests.incident import Incident


def test_lines_before_the_log_is_deleted_are_about_the_deleted_topic(tmp_path: Path) -> None:
    """Each broker was asked to delete its replica before. Then the topic is created again under the same name."""
    incident = Incident(tmp_path)
    incident.begins(20)
    for broker in (1, 2, 3):
        node = incident[broker]
        node.says(
            10,
            f"TRACE [Broker id={broker}] Handling stop replica (delete=true) for partition orders-0 "
            "(state.change.logger)",
            log="state-change",
        )
        if broker != 1:
            node.says(
                10.01,
                f"ERROR [ReplicaFetcher replicaId={broker}, leaderId=1, fetcherId=0] Error for partition orders-0 at "
                "offset 20 (kafka.server.ReplicaFetcherThread)\n"
                "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this "
                "topic-partition.",
            )
        node.says(
            10.1,
            "INFO Log for partition orders-0 is renamed to /d/orders-0.ddd7db341ba845a0bf33834cf2af4238-delete and is "
            "scheduled for deletion (kafka.log.LogManager)",
        )
        node.epoch = -1
    incident.elects(30, 0, 2, [1, 2, 3])
    for broker in (2, 1, 3):
        node = incident[broker].creates(30)
        if broker == 2:
            node.leads(30, 0, 0, 0, [1, 2, 3])
        else:
            node.follows(30, 0, 2, 0, 0)
        node.segment([(0, 9, 0)])
        node.checkpoint(10)
    assert len(incident.scan().partitions) > 1
    assert not incident.findings("leo-regression")
