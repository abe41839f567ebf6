"""One metadata log out of the copies of all nodes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from forensics.case import Case
from forensics.engines import local
from tests.parsers.formats.building import batch, change_record, partition_record, topic_record

BASE = (topic_record("orders"), partition_record(0, (1, 2, 3), 1, 4, 20))
CHANGES = tuple(change_record(0, leader=2 + number % 2) for number in range(4))


def log(*values: bytes, first: int = 0, epoch: int = 1) -> bytes:
    return b"".join(batch(first + number, [value], epoch=epoch) for number, value in enumerate(values))


def node(root: Path, number: int, data: bytes, voters: tuple[int, ...] = (1, 2, 3)) -> None:
    """The data directory of a KRaft node."""
    folder = root / f"node-{number}" / "data"
    (folder / "__cluster_metadata-0").mkdir(parents=True)
    (folder / "meta.properties").write_text(f"version=1\nnode.id={number}\ncluster.id=Zz\n")
    (folder / "__cluster_metadata-0" / "00000000000000000000.log").write_bytes(data)
    state = {"leaderId": 1, "leaderEpoch": 1, "votedId": -1, "currentVoters": [{"voterId": v} for v in voters]}
    (folder / "__cluster_metadata-0" / "quorum-state").write_text(json.dumps(state | {"data_version": 0}))


def changes(case: Case) -> list[tuple[int, int]]:
    """Node whose copy a change was taken from, and the partition epoch it led to."""
    rows = case.observations.filter((pl.col("message") == "metadata-log") & (pl.col("kind") == "partition_changed"))
    return rows.sort("partition_epoch").select("broker", "partition_epoch").rows()


def test_equal_copies_are_taken_once(tmp_path: Path) -> None:
    for number in (1, 2, 3, 9):
        node(tmp_path, number, log(*BASE, *CHANGES))
    case = local.take_in([str(tmp_path)])
    assert changes(case) == [(1, 21), (1, 22), (1, 23), (1, 24)]
    assert case.notices.is_empty()
    # the bytes of every copy are kept
    assert case.batches.group_by("broker").len().get_column("len").to_list() == [6] * 4


def test_the_end_that_no_majority_holds_is_no_fact(tmp_path: Path) -> None:
    node(tmp_path, 1, log(*BASE, *CHANGES))
    node(tmp_path, 2, log(*BASE, *CHANGES[:2]))
    node(tmp_path, 3, log(*BASE, *CHANGES[:1]))
    case = local.take_in([str(tmp_path)])
    assert [epoch for _, epoch in changes(case)] == [21, 22]
    (reason,) = case.notices.get_column("reason")
    assert "records 4 to 5 are not known to be committed" in reason
    assert "(1, 2, 3)" in reason


def test_an_end_that_was_overruled_is_no_fact(tmp_path: Path) -> None:
    """Node 1 led epoch 1 and wrote what nobody took; epoch 2 went another way."""
    node(tmp_path, 1, log(*BASE, CHANGES[0], CHANGES[1], CHANGES[2]))
    other = log(*BASE, CHANGES[0]) + log(change_record(0, leader=3, isr=(3,)), first=3, epoch=2)
    node(tmp_path, 2, other)
    node(tmp_path, 3, other)
    case = local.take_in([str(tmp_path)])
    assert [epoch for _, epoch in changes(case)] == [21, 22]
    last = case.observations.filter((pl.col("partition_epoch") == 22) & (pl.col("message") == "metadata-log"))
    assert last.select("leader", "isr").rows() == [(3, "3")]


def test_a_printed_high_watermark_vouches_for_the_end(tmp_path: Path) -> None:
    node(tmp_path, 1, log(*BASE, *CHANGES))
    node(tmp_path, 2, log(*BASE))
    node(tmp_path, 3, log(*BASE))
    line = (
        "[2024-03-01 10:22:41,107] DEBUG [RaftManager id=1] Leader high watermark updated from "
        "Optional[LogOffsetMetadata(offset=2, metadata=Optional.empty)] to LogOffsetMetadata(offset=4, "
        "metadata=Optional.empty) based on indexOfHw 1 and voters [] (org.apache.kafka.raft.LeaderState)"
    )
    answer = {
        "requestHeader": {"requestApiKeyName": "FETCH"},
        "request": {"replicaId": 2, "sessionId": 0, "sessionEpoch": -1, "topics": []},
        "response": {
            "errorCode": 0,
            "responses": [
                {
                    "topicId": "AAAAAAAAAAAAAAAAAAAAAQ",
                    "partitions": [{"partitionIndex": 0, "errorCode": 0, "highWatermark": 4}],
                }
            ],
        },
    }
    body = json.dumps(answer, separators=(",", ":"))
    request = f"[2024-03-01 10:22:41,107] DEBUG Completed request:{body} (kafka.request.logger)"
    (tmp_path / "node-1" / "server.log").write_text(f"{line}\n{request}\n")
    assert [epoch for _, epoch in changes(local.take_in([str(tmp_path)]))] == [21, 22]


@pytest.mark.parametrize("voters", [(), (5, 6, 7)])
def test_without_the_voters_all_counts(tmp_path: Path, voters: tuple[int, ...]) -> None:
    node(tmp_path, 1, log(*BASE, *CHANGES), voters)
    node(tmp_path, 2, log(*BASE, *CHANGES[:1]), voters)
    assert [epoch for _, epoch in changes(local.take_in([str(tmp_path)]))] == [21, 22, 23, 24]


def test_settings_are_those_of_the_broker_they_name(tmp_path: Path) -> None:
    from tests.parsers.formats.building import metadata, text

    setting = metadata(4, b"\4" + text("2") + text("log.flush.interval.ms") + text("7"))
    node(tmp_path, 1, log(*BASE, setting), (1,))
    node(tmp_path, 2, log(*BASE, setting), (1,))
    brokers = local.take_in([str(tmp_path)]).brokers
    assert {number: broker.settings.get("log.flush.interval.ms") for number, broker in brokers.items()} == {
        1: None,
        2: "7",
    }


@pytest.mark.parametrize("at", [16, 17, 61])
@pytest.mark.parametrize("damage", [b"\0", b"\1", b"\x7f"])
def test_a_batch_that_its_checksum_does_not_vouch_for_ranks_no_copy(at: int, damage: bytes, tmp_path: Path) -> None:
    """A batch of format 0 or 1 has no leader epoch; that of a damaged one may be any."""
    whole = log(*BASE, *CHANGES)
    last = len(log(*BASE, *CHANGES[:-1]))
    for number in (1, 2, 3):
        node(tmp_path, number, whole)
    torn = tmp_path / "node-3" / "data" / "__cluster_metadata-0" / "00000000000000000000.log"
    torn.write_bytes(whole[: last + at] + damage + whole[last + at + 1 :])
    case = local.take_in([str(tmp_path)])
    assert case.sources.filter(pl.col("format") == "failed").is_empty()
    assert [epoch for _, epoch in changes(case)] == [21, 22, 23, 24]
