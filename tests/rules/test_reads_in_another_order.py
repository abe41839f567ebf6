"""High watermarks by a request log. Its lines are written when responses have been sent, so two may be interchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.incident import Incident, Node

RULE = "hw-regression"


def fetches(node: Node, at: float, follower: int, offset: int, high_watermark: int) -> None:
    """Add a follower's fetch, and the leader's response, to the request log."""
    asked = {"partition": 0, "currentLeaderEpoch": 0, "fetchOffset": offset, "lastFetchedEpoch": 0, "logStartOffset": 0}
    answered = {"partitionIndex": 0, "errorCode": 0, "highWatermark": high_watermark, "lastStableOffset": -1}
    line = {
        "isForwarded": False,
        "requestHeader": {"requestApiKey": 1, "requestApiVersion": 12, "requestApiKeyName": "FETCH"},
        "request": {
            "replicaId": follower, "sessionId": 0, "sessionEpoch": -1,
            "topics": [{"topic": "orders", "partitions": [asked]}],
            "forgottenTopicsData": [],
        },
        "response": {
            "errorCode": 0, "sessionId": 0, "responses": [{"topic": "orders", "partitions": [answered]}],
        },
        "connection": f"127.0.0.1:9092-127.0.0.1:4000{follower}-0",
    }  # fmt: skip
    node.says(
        at,
        f"DEBUG Completed request:{json.dumps(line, separators=(',', ':'))} (kafka.request.logger)",
        log="kafka-request",
    )


def follows_up(tmp_path: Path) -> Incident:
    incident = Incident(tmp_path)
    incident.begins(20)
    fetches(incident[1], 5, 2, 20, 20)
    return incident


def test_responses_that_were_sent_in_another_order_show_no_fall(tmp_path: Path) -> None:
    """Broker 3's fetch was read before broker 2's, and its response was sent behind it."""
    incident = follows_up(tmp_path)
    fetches(incident[1], 5.001, 3, 18, 18)
    assert not incident.findings(RULE)
    (missing,) = incident.missing(RULE)
    assert incident.verdict(RULE) == "unknown"
    assert "its request log has high watermark 20, then 18, but its lines may have another order" in missing


@pytest.mark.parametrize("value", [18, 25])
def test_what_server_log_states_later_is_in_order(value: int, tmp_path: Path) -> None:
    incident = follows_up(tmp_path)
    incident[1].says(
        9, f"DEBUG [Partition orders-0 broker=1] High watermark updated to {value} [0 : 900] (kafka.cluster.Partition)"
    )
    assert bool(incident.findings(RULE)) is (value < 20)
