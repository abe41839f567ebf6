from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.request_log import MARK, RequestLog
from parsers.read import read
from parsers.schema import Kind
from tests.parsers.formats.building import DATA
from tests.parsers.handing_over import source


def rows(name: str) -> pl.DataFrame:
    reading = read(source((DATA / name).read_bytes(), "kafka-request.log"))
    assert reading.format == "broker-log"
    assert reading.relevant == reading.understood
    return reading.observations.filter(pl.col("message").str.starts_with("request"))


def told(found: pl.DataFrame, kind: Kind, *columns: str) -> list[tuple[object, ...]]:
    return found.filter(pl.col("kind") == kind.value).select("line", *columns).rows()


def test_text_with_answers() -> None:
    found = rows("request-1.1.1.log")
    assert told(
        found, Kind.LEADER_AND_ISR, "topic", "partition", "leader", "leader_epoch", "isr", "partition_epoch"
    ) == [(1, "orders", 0, 1, 0, "1,2", 0)]
    assert told(found, Kind.METADATA_CACHED, "leader", "leader_epoch", "isr", "partition_epoch") == [
        (2, 1, 0, "1,2", 0)
    ]
    # asked for epoch -1, which no log has
    assert told(found, Kind.EPOCH_REPLY, "replica", "previous_epoch", "offset") == [(3, 2, -1, -1)]
    leos = told(found, Kind.REMOTE_LEO, "replica", "leo", "log_start", "detail")
    assert leos[:2] == [(4, 2, 0, 0, None), (7, 2, 0, 0, "unchanged since line 4")]
    assert [row[2] for row in leos] == sorted(row[2] for row in leos)
    assert told(found, Kind.HW, "hw")[0] == (4, 0)


def test_text_without_answers() -> None:
    found = rows("request-0.11.0.3.log")
    assert set(found.get_column("kind")) == {Kind.LEADER_AND_ISR.value, Kind.REMOTE_LEO.value}
    assert told(found, Kind.REMOTE_LEO, "topic", "replica", "leo")[0][1:] in {("orders", 2, 0), ("orders", 3, 0)}


def test_json_of_2_8() -> None:
    found = rows("request-2.8.2.log")
    states = told(found, Kind.LEADER_AND_ISR, "topic", "topic_id", "partition", "leader", "leader_epoch", "isr")
    assert states[0][1:] == ("orders", "xhmFtA74RqWKbr7rx7M1Yw", 0, 1, 0, "1,2,3")
    altered = found.filter(pl.col("message") == "request-alter-partition")
    state = ("kind", "topic", "partition", "leader", "leader_epoch", "isr", "partition_epoch")
    assert altered.select(state).row(0) == ("metadata_cached", "orders", 2, 3, 1, "3,2,1", 2)
    assert all(topic == "orders" for _, topic in told(found, Kind.HW, "topic"))


def test_json_of_4_1() -> None:
    found = rows("request-4.1.1.log")
    by_id = found.filter(pl.col("topic_id") == "5SQSDlaoR7a6jXpzuC774g")
    assert by_id.get_column("topic").null_count() == by_id.height > 10
    assert told(found, Kind.EPOCH_REPLY, "replica", "leader_epoch", "offset", "detail") == [(11, 3, 0, 28, "diverging")]
    assert told(found, Kind.FETCH_FENCED, "topic", "replica", "leader_epoch") == [(12, "__cluster_metadata", 1, 0)]
    assert told(found, Kind.METADATA_CACHED, "leader", "isr")[0][0] == 13


def fetch(epoch: int, topics: object, answers: object = (), session: int = 7, **more: object) -> str:
    request = {"replicaId": 2, "sessionId": session if epoch else 0, "sessionEpoch": epoch, "topics": topics, **more}
    response = {"errorCode": 0, "sessionId": session, "responses": list(answers)}  # type: ignore[call-overload]
    return MARK + json.dumps(
        {"requestHeader": {"requestApiKeyName": "FETCH"}, "request": request, "response": response},
        separators=(",", ":"),
    )


def asked(*partitions: tuple[int, int]) -> list[dict[str, object]]:
    return [{"topic": "t", "partitions": [{"partition": p, "fetchOffset": offset} for p, offset in partitions]}]


def answered(partition: int, hw: int, error: int = 0) -> dict[str, object]:
    inner = {"partitionIndex": partition, "errorCode": error, "highWatermark": hw}
    return {"topic": "t", "partitions": [inner]}


def replayed(*messages: str, block: int = 100) -> pl.DataFrame:
    log = RequestLog()
    every = pl.DataFrame(
        {"line": range(1, len(messages) + 1), "message": messages},
        schema={"line": pl.Int64, "message": pl.String},
    ).with_columns(pl.from_epoch(pl.col("line"), time_unit="s").cast(pl.Datetime("us")).alias("time"))
    for part in every.iter_slices(block):
        assert log.add(part).is_empty()
    assert log.relevant == log.understood == len(messages)
    return log.finish()


@pytest.mark.parametrize("block", [1, 2, 100])
def test_a_partition_that_a_request_leaves_out_is_fetched_on(block: int) -> None:
    found = replayed(
        fetch(0, asked((0, 5), (1, 9))),
        fetch(1, []),
        fetch(2, asked((0, 6))),
        fetch(3, []),
        fetch(4, [], forgottenTopicsData=[{"topic": "t", "partitions": [1]}]),
        fetch(5, []),
        fetch(0, asked((0, 6)), session=8),
        fetch(1, [], session=8),
        block=block,
    )
    assert found.select("line", "partition", "leo", "detail").rows() == [
        (1, 0, 5, None),
        (1, 1, 9, None),
        (2, 0, 5, "unchanged since line 1"),
        (3, 0, 6, None),
        (4, 1, 9, "unchanged since line 1"),  # forgotten by the request after
        (6, 0, 6, "unchanged since line 3"),
        (7, 0, 6, None),
        (8, 0, 6, "unchanged since line 7"),
    ]


def test_an_error_ends_what_was_known_of_a_partition() -> None:
    found = replayed(
        fetch(0, asked((0, 5))),
        fetch(1, [], [answered(0, -1, error=74)]),
        fetch(2, []),
    )
    assert found.filter(pl.col("kind") == "remote_leo").select("line", "detail").rows() == [(1, None)]


def test_a_consumer_is_no_follower() -> None:
    found = replayed(fetch(0, asked((0, 5)), [answered(0, 4)], replicaId=-1))
    assert found.select("kind", "hw").rows() == [("hw", 4)]


def test_requests_that_cannot_be_read_are_told() -> None:
    log = RequestLog()
    good = fetch(0, asked((0, 5)))
    messages = [good[: len(good) // 2], good.replace("[{", '"x",[{', 1), good.replace(":5", ':"five"'), good]
    messages += [
        "Completed request:RequestHeader(apiKey=FETCH, apiVersion=7, clientId=x, correlationId=1) -- {replica_id=2"
    ]
    table = pl.DataFrame({"line": [1, 2, 3, 4, 5], "message": messages}).with_columns(
        pl.lit(None, dtype=pl.Datetime("us")).alias("time")
    )
    notices = log.add(table)
    assert (log.relevant, log.understood) == (5, 1)
    assert sorted(notices.get_column("line").to_list()) == [1, 2, 3, 5]
    assert log.finish().get_column("line").to_list() == [4]


@given(st.text(max_size=200), st.integers(0, 400), st.integers(0, 400))
def test_no_request_crashes_the_reader(noise: str, place: int, end: int) -> None:
    log = RequestLog()
    lines = (DATA / "request-1.1.1.log").read_text().splitlines()[3:5] + (
        DATA / "request-4.1.1.log"
    ).read_text().splitlines()[:2]
    spoilt = [line[26:][: 40 + place] + noise + line[26:][40 + place : 900 - end] for line in lines]
    spoilt = [line[line.find(MARK) :] for line in spoilt]
    table = pl.DataFrame({"line": [*range(len(spoilt))], "message": spoilt}).with_columns(
        pl.lit(None, dtype=pl.Datetime("us")).alias("time")
    )
    notices = log.add(table)
    assert log.understood + notices.height >= log.relevant
    log.finish()


@pytest.mark.parametrize(
    ("version", "told_of"),
    [
        ("0.10.2.2", [("orders", "acks=all", 2), ("orders", "acks=1", 2), ("other", "acks=0", 2)]),
        ("0.11.0.3", [(None, "acks=all", 2), (None, "acks=1", 2), (None, "acks=0", 2)]),  # names no partitions
        *[
            (
                version,
                [
                    ("orders", "acks=all", 2),
                    ("orders", "acks=1", 2),
                    ("other", "acks=0", 2),
                    ("other", "acks=all error 19", 1),
                ],
            )
            for version in ("1.1.1", "2.8.2", "4.1.1")
        ],
    ],
)
def test_what_producers_asked_for(version: str, told_of: list[tuple[str | None, str, int]]) -> None:
    found = rows(f"request-produce-{version}.log").filter(pl.col("kind") == Kind.PRODUCED.value)
    counted = found.group_by("topic", "detail", maintain_order=True).len().rows()
    assert counted == told_of
    answered = found.filter(pl.col("offset").is_not_null())
    assert answered.is_empty() == version.startswith("0.")
    assert answered.get_column("detail").unique().sort().to_list() in ([], ["acks=1", "acks=all"])
    # only acks=all, answered without an error, bounds the high watermark: behind the first record it appended
    bound = (pl.col("detail") == "acks=all") & pl.col("offset").is_not_null()
    assert found.filter(bound).select((pl.col("hw") == pl.col("offset") + 1).all()).item()
    assert found.filter(~bound).get_column("hw").null_count() == found.filter(~bound).height


def test_an_answer_without_an_offset_proves_nothing() -> None:
    def produce(acks: int, error: int, base: int, **more: object) -> str:
        request = {"acks": acks, "topicData": [{"topicId": "A" * 22, "partitionData": [{"index": 3}]}]}
        inner = {"index": 3, "errorCode": error, "baseOffset": base, **more}
        response = {"responses": [{"topicId": "A" * 22, "partitionResponses": [inner]}]}
        header = {"requestApiKeyName": "PRODUCE"}
        text = json.dumps({"requestHeader": header, "request": request, "response": response}, separators=(",", ":"))
        return MARK + text

    found = replayed(produce(-1, 0, 7), produce(-1, 0, -1), produce(-1, 20, 9), produce(1, 0, 9), produce(2, 0, 9))
    assert found.select("topic_id", "partition", "offset", "hw", "detail").rows() == [
        ("A" * 22, 3, 7, 8, "acks=all"),
        ("A" * 22, 3, None, None, "acks=all"),
        ("A" * 22, 3, None, None, "acks=all error 20"),
        ("A" * 22, 3, 9, None, "acks=1"),
        ("A" * 22, 3, 9, None, "acks=2"),
    ]
