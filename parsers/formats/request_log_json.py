"""Requests written as JSON (2.8+): one object a request, fields named as in the protocol's definitions.

A field that the request's version lacks is absent, and so is a tagged field that has its default. Topics go by name to
FETCH 12, by id from 13 on (3.1+).
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from parsers.encodings.json_lines import decode
from parsers.encodings.request_tables import (
    ANSWERED,
    ASKED,
    FETCHES,
    FORGOTTEN,
    RELEVANT,
    STATED,
    Requests,
    named,
    produced,
    unread,
)
from parsers.filled import filled
from parsers.schema import Kind, conform, empty

NAME: Final = "request-log-json"

_I = pl.Int64()
_S = pl.String()


def _list(**fields: Any) -> pl.List:
    return pl.List(pl.Struct(fields))


_FETCH_REQUEST: Final = pl.Struct(
    {
        "replicaId": _I,
        "replicaState": pl.Struct({"replicaId": _I}),
        "sessionId": _I,
        "sessionEpoch": _I,
        "topics": _list(
            topic=_S,
            topicId=_S,
            partitions=_list(partition=_I, currentLeaderEpoch=_I, fetchOffset=_I, logStartOffset=_I),
        ),
        "forgottenTopicsData": _list(topic=_S, topicId=_S, partitions=pl.List(_I)),
    }
)
_PARTITION_ANSWER: Final = {
    "errorCode": _I,
    "highWatermark": _I,
    "lastStableOffset": _I,
    "logStartOffset": _I,
    "divergingEpoch": pl.Struct({"epoch": _I, "endOffset": _I}),
}
_FETCH_RESPONSE: Final = pl.Struct(
    {
        "errorCode": _I,
        "sessionId": _I,
        "responses": _list(
            topic=_S,
            topicId=_S,
            partitions=_list(partitionIndex=_I, **_PARTITION_ANSWER),
            partitionResponses=_list(partition=_I, **_PARTITION_ANSWER),  # to 2.8
        ),
    }
)
_STATES: Final = _list(
    topicName=_S,
    partitionIndex=_I,
    leader=_I,
    leaderEpoch=_I,
    isr=pl.List(_I),
    zkVersion=_I,
    partitionEpoch=_I,
)
_STATES_REQUEST: Final = pl.Struct(
    {"topicStates": _list(topicName=_S, topicId=_S, partitionStates=_STATES), "ungroupedPartitionStates": _STATES}
)
_ERROR_RESPONSE: Final = pl.Struct({"errorCode": _I})
_ALTER_REQUEST: Final = pl.Struct(
    {
        "brokerId": _I,
        "topics": _list(
            name=_S,
            topicName=_S,
            topicId=_S,
            partitions=_list(
                partitionIndex=_I,
                newIsr=pl.List(_I),
                newIsrWithEpochs=_list(brokerId=_I),
                leaderEpoch=_I,
                partitionEpoch=_I,
                currentIsrVersion=_I,
            ),
        ),
    }
)
_ALTER_RESPONSE: Final = pl.Struct(
    {
        "errorCode": _I,
        "topics": _list(
            name=_S,
            topicName=_S,
            topicId=_S,
            partitions=_list(
                partitionIndex=_I,
                errorCode=_I,
                leaderId=_I,
                leaderEpoch=_I,
                isr=pl.List(_I),
                partitionEpoch=_I,
                currentIsrVersion=_I,
            ),
        ),
    }
)
_EPOCH_REQUEST: Final = pl.Struct(
    {
        "replicaId": _I,
        "topics": _list(topic=_S, name=_S, partitions=_list(partition=_I, partitionIndex=_I, leaderEpoch=_I)),
    }
)
_EPOCH_RESPONSE: Final = pl.Struct(
    {
        "topics": _list(
            topic=_S,
            name=_S,
            partitions=_list(partition=_I, partitionIndex=_I, errorCode=_I, leaderEpoch=_I, endOffset=_I),
        )
    }
)
_PRODUCE_REQUEST: Final = pl.Struct(
    {"acks": _I, "topicData": _list(name=_S, topicId=_S, partitionData=_list(index=_I))}
)
_PRODUCE_RESPONSE: Final = pl.Struct(
    {"responses": _list(name=_S, topicId=_S, partitionResponses=_list(index=_I, errorCode=_I, baseOffset=_I))}
)
_NO_ANSWER: Final = '"response":"",'
"""Text of a request that is not answered (acks=0)."""
_SHAPES: Final[dict[str, tuple[pl.Struct, pl.Struct]]] = {
    "FETCH": (_FETCH_REQUEST, _FETCH_RESPONSE),
    "PRODUCE": (_PRODUCE_REQUEST, _PRODUCE_RESPONSE),
    "LEADER_AND_ISR": (_STATES_REQUEST, _ERROR_RESPONSE),
    "UPDATE_METADATA": (_STATES_REQUEST, _ERROR_RESPONSE),
    "ALTER_PARTITION": (_ALTER_REQUEST, _ALTER_RESPONSE),
    "ALTER_ISR": (_ALTER_REQUEST, _ALTER_RESPONSE),
    "OFFSET_FOR_LEADER_EPOCH": (_EPOCH_REQUEST, _EPOCH_RESPONSE),
}


def read(rows: pl.DataFrame) -> Requests:
    """Read the requests of one block.

    Args:
        rows: columns line, time, request (what follows ``Completed request:``).
    """
    api = pl.col("request").str.extract(r'"requestApiKeyName":"([A-Z_]+)"')
    rows = rows.with_columns(api.alias("api")).filter(pl.col("api").is_in(RELEVANT))
    result = Requests(relevant=rows.height)
    notices = []
    stated = []
    for name, (request, response) in _SHAPES.items():
        chosen = rows.filter(pl.col("api") == name)
        if chosen.is_empty():
            continue
        good, bad = _decoded(chosen, request, response)
        if bad.height:
            notices.append(unread(bad, f"a {name} request that is no complete JSON object of the known shape"))
        result.understood += good.height
        if name == "FETCH":
            _fetches(good, result)
        elif name in ("LEADER_AND_ISR", "UPDATE_METADATA"):
            stated.append(_states(good, name))
        elif name == "OFFSET_FOR_LEADER_EPOCH":
            stated.append(_epochs(good))
        elif name == "PRODUCE":
            stated.append(_produced(good))
        else:
            stated.extend(_alterations(good))
    if notices:
        result.notices = pl.concat(notices)
    if stated:
        result.stated = pl.concat(stated)
    return result


def _decoded(rows: pl.DataFrame, request: pl.Struct, response: pl.Struct) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows with ``request`` and ``response`` as structs, and the rows that are not as expected."""
    shape = pl.Struct({"request": request, "response": response})
    answered = rows.with_columns(pl.col("request").str.replace(_NO_ANSWER, '"response":{},', literal=True))
    found, broken = decode(answered.rename({"request": "text"}), "text", shape)
    return found.select("line", "time", "found").unnest("found"), broken.rename({"text": "request"})


def _topics(rows: pl.DataFrame, column: str, inner: str = "partitions") -> pl.DataFrame:
    """One row a partition, its topic's and its own fields as columns."""
    found = (
        rows.explode(column, empty_as_null=True, keep_nulls=True).filter(pl.col(column).is_not_null()).unnest(column)
    )
    found = found.explode(inner, empty_as_null=True, keep_nulls=True).filter(pl.col(inner).is_not_null())
    return found.unnest(inner) if isinstance(found.schema[inner], pl.Struct) else found


def _ids(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.List(pl.String)).list.join(",")


def _fetches(rows: pl.DataFrame, result: Requests) -> None:
    request, response = pl.col("request").struct, pl.col("response").struct
    follower = pl.coalesce(
        request.field("replicaState").struct.field("replicaId"), request.field("replicaId"), pl.lit(-1, dtype=pl.Int64)
    )
    asked_for, opened = request.field("sessionId").fill_null(0), response.field("sessionId").fill_null(0)
    session = pl.when(asked_for > 0).then(asked_for).otherwise(opened)
    result.fetches = conform(rows.select("line", "time", follower.alias("follower"), session.alias("session")), FETCHES)
    asked = _topics(rows.select("line", request.field("topics").alias("topics")), "topics")
    result.asked = conform(
        named(
            asked.rename({"topicId": "topic_id", "fetchOffset": "fetch_offset", "currentLeaderEpoch": "leader_epoch"})
        ).with_columns(_known("logStartOffset").alias("log_start"), _known("leader_epoch")),
        ASKED,
    )
    forgotten = _topics(rows.select("line", request.field("forgottenTopicsData").alias("topics")), "topics")
    result.forgotten = conform(named(forgotten.rename({"topicId": "topic_id", "partitions": "partition"})), FORGOTTEN)
    answers = rows.select("line", response.field("responses").alias("topics"))
    parts = []
    for inner, index in (("partitions", "partitionIndex"), ("partitionResponses", "partition")):
        other = "partitionResponses" if inner == "partitions" else "partitions"
        found = answers.explode("topics", empty_as_null=True, keep_nulls=True).filter(pl.col("topics").is_not_null())
        found = found.unnest("topics").drop(other)
        found = found.explode(inner, empty_as_null=True, keep_nulls=True).filter(pl.col(inner).is_not_null())
        found = (
            found.unnest(inner)
            .rename({index: "partition"} if index != "partition" else {})
            .rename({"topicId": "topic_id", "errorCode": "error", "highWatermark": "hw", "lastStableOffset": "lso"})
        )
        diverging = pl.col("divergingEpoch").struct
        parts.append(
            conform(
                named(found).with_columns(
                    _known("logStartOffset").alias("log_start"),
                    _known("hw"),
                    _known("lso"),
                    diverging.field("epoch").alias("diverging_epoch"),
                    diverging.field("endOffset").alias("diverging_end"),
                ),
                ANSWERED,
            )
        )
    result.answered = pl.concat(parts)


def _known(column: str) -> pl.Expr:
    """The value, null where it is the protocol's -1 for none."""
    return pl.when(pl.col(column) >= 0).then(pl.col(column)).alias(column)


def _states(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Return LEADER_AND_ISR and UPDATE_METADATA: the state that the controller sent this broker; refused requests have
    none.
    """
    accepted = rows.filter(pl.col("response").struct.field("errorCode").fill_null(0) == 0)
    request = pl.col("request").struct
    grouped = accepted.select("line", "time", request.field("topicStates").alias("topics"))
    found = grouped.explode("topics", empty_as_null=True, keep_nulls=True).filter(pl.col("topics").is_not_null())
    found = found.select(
        "line",
        "time",
        pl.col("topics").struct.field("topicName").alias("topic"),
        pl.col("topics").struct.field("topicId").alias("topic_id"),
        pl.col("topics").struct.field("partitionStates").alias("states"),
    )
    flat = accepted.select(
        "line",
        "time",
        pl.lit(None, dtype=pl.String).alias("topic"),
        pl.lit(None, dtype=pl.String).alias("topic_id"),
        request.field("ungroupedPartitionStates").alias("states"),
    )
    both = pl.concat([found, flat]).explode("states", empty_as_null=True, keep_nulls=True)
    both = both.filter(pl.col("states").is_not_null()).unnest("states")
    kind = Kind.LEADER_AND_ISR if name == "LEADER_AND_ISR" else Kind.METADATA_CACHED
    return conform(
        both.with_columns(
            pl.coalesce("topic", "topicName").alias("topic"),
            pl.col("partitionIndex").alias("partition"),
            pl.col("leaderEpoch").alias("leader_epoch"),
            pl.coalesce("partitionEpoch", "zkVersion").alias("partition_epoch"),
            _ids("isr").alias("isr"),
            pl.lit(kind.value).alias("kind"),
            pl.lit(f"request-{name.lower().replace('_', '-')}").alias("message"),
        ).filter(pl.col("leader") >= 0 if kind is Kind.LEADER_AND_ISR else pl.lit(True)),
        STATED,
    )


def _alterations(rows: pl.DataFrame) -> list[pl.DataFrame]:
    """ALTER_PARTITION, in the controller's log: what it made of a leader's change of the ISR."""
    leader = pl.col("request").struct.field("brokerId")
    answers = rows.select(
        "line", "time", leader.alias("replica"), pl.col("response").struct.field("topics").alias("topics")
    )
    found = _topics(answers, "topics")
    if found.is_empty():
        return [empty(STATED)]
    found = found.with_columns(
        pl.coalesce("name", "topicName").alias("topic"),
        pl.col("topicId").alias("topic_id"),
        pl.col("partitionIndex").alias("partition"),
        pl.col("leaderEpoch").alias("leader_epoch"),
        pl.coalesce("partitionEpoch", "currentIsrVersion").alias("partition_epoch"),
        pl.lit("request-alter-partition").alias("message"),
    )
    good = found.filter(pl.col("errorCode") == 0).with_columns(
        pl.col("leaderId").alias("leader"),
        _ids("isr").alias("isr"),
        pl.lit(Kind.METADATA_CACHED.value).alias("kind"),
        pl.lit(None, dtype=pl.Int64).alias("replica"),
    )
    refused = found.filter(pl.col("errorCode") != 0).with_columns(
        pl.lit(Kind.ISR_REJECTED.value).alias("kind"),
        pl.lit(None, dtype=pl.String).alias("isr"),
        pl.lit(None, dtype=pl.Int64).alias("leader_epoch"),
        pl.lit(None, dtype=pl.Int64).alias("partition_epoch"),
        filled("error {}", "errorCode").alias("detail"),
    )
    return [conform(good, STATED), conform(refused, STATED)]


def _epochs(rows: pl.DataFrame) -> pl.DataFrame:
    """OFFSET_FOR_LEADER_EPOCH: where an epoch ends in this leader's log; ``previous_epoch`` is the one asked for."""
    request, response = pl.col("request").struct, pl.col("response").struct
    place = ["line", "topic", "partition"]
    named_topic = pl.coalesce("topic", "name").alias("topic")
    index = pl.coalesce("partition", "partitionIndex").alias("partition")
    asked = _topics(rows.select("line", request.field("topics").alias("topics")), "topics").select(
        "line", named_topic, index, pl.col("leaderEpoch").alias("previous_epoch")
    )
    told = _topics(
        rows.select(
            "line", "time", request.field("replicaId").alias("replica"), response.field("topics").alias("topics")
        ),
        "topics",
    ).with_columns(named_topic, index)
    told = told.filter(pl.col("errorCode") == 0).join(asked, on=place, how="left", maintain_order="left")
    return conform(
        told.with_columns(
            _known("leaderEpoch").alias("leader_epoch"),
            pl.col("endOffset").alias("offset"),
            pl.when(pl.col("replica") >= 0).then("replica").alias("replica"),
            pl.lit(Kind.EPOCH_REPLY.value).alias("kind"),
            pl.lit("request-offset-for-leader-epoch").alias("message"),
        ),
        STATED,
    )


def _produced(rows: pl.DataFrame) -> pl.DataFrame:
    """PRODUCE: partitions with their answers, or as the request names them where there is none (acks=0)."""
    request, response = pl.col("request").struct, pl.col("response").struct
    acks = request.field("acks").alias("acks")
    place = [pl.col("name").alias("topic"), pl.col("topicId").alias("topic_id")]
    place.append(pl.col("index").alias("partition"))
    answers = rows.select("line", "time", acks, response.field("responses").alias("topics"))
    answered = _topics(answers, "topics", "partitionResponses").with_columns(
        *place, pl.col("errorCode").alias("error"), pl.col("baseOffset").alias("offset")
    )
    asked = rows.select("line", "time", acks, request.field("topicData").alias("topics"))
    sent = _topics(asked, "topics", "partitionData").with_columns(place)
    mute = sent.join(answered, on="line", how="anti", maintain_order="left")
    columns = ["line", "time", "topic", "topic_id", "partition", "acks"]
    return produced(pl.concat([answered.select(*columns, "error", "offset"), mute.select(columns)], how="diagonal"))
