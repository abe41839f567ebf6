"""Requests written as structs (up to 2.7): ``{name=value,name=[v,v],..}``, neither quoted nor escaped.

They are read as a series of tokens, a topic and then its partitions, because structs may hold whole records whose text
could be anything. Names of fields are those of real brokers: 0.11 and 1.1 have ``epoch`` for the session epoch and
``forgetten_topics_data``; 2.7 has the names of the generated protocol.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.encodings.request_tables import (
    ANSWERED,
    API_KEYS,
    ASKED,
    FETCHES,
    FORGOTTEN,
    RELEVANT,
    STATED,
    Requests,
    produced,
    unread,
)
from parsers.schema import Kind, conform, empty

NAME: Final = "request-log-text"

_HEADER: Final = r"^(?:RequestHeader\(apiKey=(?P<name>[A-Z_]+)|\{api_key=(?P<key>[0-9]+))"
_TOPIC: Final = r"(?:topic|topic_name|name)=(?P<topic>[A-Za-z0-9._-]+)"
_ASKED: Final = (
    r"\{partition=(?P<partition>[0-9]+),(?:current_leader_epoch=(?P<leader_epoch>-?[0-9]+),)?"
    r"fetch_offset=(?P<fetch_offset>-?[0-9]+)(?:,last_fetched_epoch=-?[0-9]+)?(?:,log_start_offset=(?P<log_start>-?[0-9]+))?"
)
_ANSWERED: Final = (
    r"\{partition=(?P<partition>[0-9]+),error_code=(?P<error>-?[0-9]+),high_watermark=(?P<hw>-?[0-9]+)"
    r"(?:,last_stable_offset=(?P<lso>-?[0-9]+))?(?:,log_start_offset=(?P<log_start>-?[0-9]+))?"
    r"(?:,diverging_epoch=\{epoch=(?P<diverging_epoch>-?[0-9]+),end_offset=(?P<diverging_end>-?[0-9]+))?"
)
_STATE: Final = (
    r"(?:partition|partition_index)=(?P<partition>[0-9]+),controller_epoch=-?[0-9]+,leader=(?P<leader>-?[0-9]+),"
    r"leader_epoch=(?P<leader_epoch>-?[0-9]+),isr=\[(?P<isr>[0-9,]*)\],(?:zk_version|partition_epoch)="
    r"(?P<partition_epoch>-?[0-9]+)"
)
_ALTERED: Final = (
    r"\{partition_index=(?P<partition>[0-9]+),error_code=(?P<error>-?[0-9]+),leader_id=(?P<leader>-?[0-9]+),"
    r"leader_epoch=(?P<leader_epoch>-?[0-9]+),isr=\[(?P<isr>[0-9,]*)\],current_isr_version=(?P<partition_epoch>-?[0-9]+)"
)
_APPENDED: Final = (
    r"\{(?:partition|index)=(?P<partition>[0-9]+),error_code=(?P<error>-?[0-9]+),base_offset=(?P<offset>-?[0-9]+)"
)
_SENT: Final = r"[\[,]([A-Za-z0-9._-]+)-([0-9]+)=[0-9]+"
_EPOCH_ASKED: Final = (
    r"\{partition(?:_id|_index)?=(?P<partition>[0-9]+),(?:current_leader_epoch=-?[0-9]+,)?"
    r"leader_epoch=(?P<previous_epoch>-?[0-9]+)"
)
_EPOCH_TOLD: Final = (
    r"\{error_code=(?P<error>-?[0-9]+),partition(?:_id|_index)?=(?P<partition>[0-9]+),"
    r"(?:leader_epoch=(?P<leader_epoch>-?[0-9]+),)?end_offset=(?P<offset>-?[0-9]+)"
)


def read(rows: pl.DataFrame) -> Requests:
    """Read the requests of one block.

    Args:
        rows: columns line, time, request (what follows ``Completed request:``).
    """
    rows = rows.with_columns(pl.col("request").str.extract_groups(_HEADER).alias("_h")).unnest("_h")
    keyed = pl.col("key").cast(pl.Int32, strict=False).replace_strict(API_KEYS, default=None, return_dtype=pl.String)
    rows = rows.with_columns(pl.coalesce("name", keyed).alias("api")).filter(pl.col("api").is_in(RELEVANT))
    parts = rows.with_columns(
        pl.col("request")
        .str.extract_groups(r"^[^ ]+(?: [A-Za-z]+=[^ ]*)* -- (?P<body>.*) from connection ")
        .alias("_b")
    ).unnest("_b")
    cut = parts.filter(pl.col("body").is_null())
    parts = parts.filter(pl.col("body").is_not_null()).with_columns(
        pl.col("body").str.extract(r"^(.*?),response:").fill_null(pl.col("body")).alias("asked"),
        pl.col("body").str.extract(r"^.*?,response:(.*)$").alias("answer"),
    )
    result = Requests(relevant=rows.height, understood=parts.height)
    if cut.height:
        result.notices = unread(cut, "a request that is incomplete")
    _fetches(parts.filter(pl.col("api") == "FETCH"), result)
    result.stated = pl.concat(
        [
            _states(parts.filter(pl.col("api") == "LEADER_AND_ISR"), Kind.LEADER_AND_ISR, "request-leader-and-isr"),
            _states(parts.filter(pl.col("api") == "UPDATE_METADATA"), Kind.METADATA_CACHED, "request-update-metadata"),
            _alterations(parts.filter(pl.col("api").is_in(["ALTER_ISR", "ALTER_PARTITION"]))),
            _epochs(parts.filter(pl.col("api") == "OFFSET_FOR_LEADER_EPOCH")),
            _produced(parts.filter(pl.col("api") == "PRODUCE")),
        ]
    )
    return result


def _tokens(rows: pl.DataFrame, column: str, pattern: str) -> pl.DataFrame:
    """One row a match of the pattern, with its groups and the ``topic`` that was named last before it."""
    unnamed = pl.Series([f"{_TOPIC}|{pattern}"]).str.replace_all(r"\?P<[a-z_]+>", "?:", literal=False)[0]
    found = (
        rows.select("line", "time", pl.col(column).str.extract_all(unnamed).alias("_token"))
        .explode("_token", empty_as_null=True, keep_nulls=True)
        .filter(pl.col("_token").is_not_null())
        .with_columns(
            pl.col("_token")
            .str.extract(rf"^{_TOPIC.replace('?P<topic>', '')}$")
            .forward_fill()
            .over("line")
            .alias("topic"),
            pl.col("_token").str.extract_groups(pattern).alias("_g"),
        )
        .unnest("_g")
        .filter(pl.col("partition").is_not_null())
        .with_columns(pl.lit(None, dtype=pl.String).alias("topic_id"))
    )
    numbers = [
        pl.col(name).cast(pl.Int64, strict=False)
        for name in found.columns
        if name not in ("line", "time", "topic", "topic_id", "isr", "_token")
    ]
    return found.with_columns(numbers)


def _known(column: str) -> pl.Expr:
    return pl.when(pl.col(column) >= 0).then(pl.col(column)).alias(column)


def _fetches(rows: pl.DataFrame, result: Requests) -> None:
    if rows.is_empty():
        return
    number = pl.col("asked").str.extract(r"^\{replica_id=(-?[0-9]+)").cast(pl.Int64, strict=False)
    asked_for = pl.col("asked").str.extract(r",session_id=([0-9]+)").cast(pl.Int64, strict=False).fill_null(0)
    opened = pl.col("answer").str.extract(r"[{,]session_id=([0-9]+)").cast(pl.Int64, strict=False).fill_null(0)
    session = pl.when(asked_for > 0).then(asked_for).otherwise(opened)
    result.fetches = conform(
        rows.select("line", "time", number.fill_null(-1).alias("follower"), session.alias("session")), FETCHES
    )
    wanted = rows.with_columns(
        pl.col("asked").str.extract(r"^(.*?),forg[eo]tten_topics_data=").fill_null(pl.col("asked"))
    )
    result.asked = conform(
        _tokens(wanted, "asked", _ASKED).with_columns(_known("leader_epoch"), _known("log_start")), ASKED
    )
    left = rows.with_columns(pl.col("asked").str.extract(r",forg[eo]tten_topics_data=(.*)$").alias("asked"))
    forgotten = (
        left.select(
            "line",
            pl.col("asked").str.extract_all(r"\{topic=[A-Za-z0-9._-]+,partitions=\[[0-9,]*\]").alias("_topic"),
        )
        .explode("_topic", empty_as_null=True, keep_nulls=True)
        .filter(pl.col("_topic").is_not_null())
        .with_columns(
            pl.col("_topic").str.extract(r"topic=([A-Za-z0-9._-]+)").alias("topic"),
            pl.col("_topic").str.extract(r"\[([0-9,]*)\]").str.split(",").alias("partition"),
        )
        .explode("partition", empty_as_null=True, keep_nulls=True)
        .with_columns(pl.col("partition").cast(pl.Int32, strict=False), pl.lit(None, dtype=pl.String).alias("topic_id"))
        .filter(pl.col("partition").is_not_null())
    )
    result.forgotten = conform(forgotten, FORGOTTEN)
    result.answered = conform(
        _tokens(rows, "answer", _ANSWERED).with_columns(_known("log_start"), _known("hw"), _known("lso")), ANSWERED
    )


def _accepted(rows: pl.DataFrame) -> pl.DataFrame:
    error = pl.col("answer").str.extract(r"^\{(?:throttle_time_ms=[0-9]+,)?error_code=([0-9-]+)")
    return rows.filter(error.fill_null("0") == "0")


def _states(rows: pl.DataFrame, kind: Kind, message: str) -> pl.DataFrame:
    if rows.is_empty():
        return empty(STATED)
    found = _tokens(_accepted(rows), "asked", _STATE)
    if kind is Kind.LEADER_AND_ISR:
        found = found.filter(pl.col("leader") >= 0)
    return conform(found.with_columns(pl.lit(kind.value).alias("kind"), pl.lit(message).alias("message")), STATED)


def _alterations(rows: pl.DataFrame) -> pl.DataFrame:
    if rows.is_empty():
        return empty(STATED)
    found = _tokens(_accepted(rows), "answer", _ALTERED).filter(pl.col("error") == 0)
    kind, message = pl.lit(Kind.METADATA_CACHED.value), pl.lit("request-alter-partition")
    return conform(found.with_columns(kind.alias("kind"), message.alias("message")), STATED)


def _epochs(rows: pl.DataFrame) -> pl.DataFrame:
    if rows.is_empty():
        return empty(STATED)
    follower = pl.coalesce(
        pl.col("asked").str.extract(r"^\{replica_id=([0-9]+)"),
        pl.col("request").str.extract(r"(?:clientId|client_id)=broker-([0-9]+)-fetcher"),
    )
    asked = _tokens(rows, "asked", _EPOCH_ASKED).select("line", "topic", "partition", "previous_epoch")
    found = _tokens(rows, "answer", _EPOCH_TOLD).filter(pl.col("error") == 0)
    found = found.join(asked, on=["line", "topic", "partition"], how="left", maintain_order="left")
    found = found.join(
        rows.select("line", follower.cast(pl.Int32, strict=False).alias("replica")), on="line", maintain_order="left"
    )
    kind, message = pl.lit(Kind.EPOCH_REPLY.value), pl.lit("request-offset-for-leader-epoch")
    return conform(
        found.with_columns(_known("leader_epoch"), kind.alias("kind"), message.alias("message")),
        STATED,
    )


def _produced(rows: pl.DataFrame) -> pl.DataFrame:
    """PRODUCE: partitions with their answers, or as the request names them where there is none (acks=0, to 0.11)."""
    if rows.is_empty():
        return empty(STATED)
    acks = pl.col("asked").str.extract(r"[{,]acks=(-?[0-9]+)").cast(pl.Int64, strict=False).alias("acks")
    sizes = pl.col("asked").str.extract(r"partitionSizes=(\[.*?\])")
    sent = (
        rows.select("line", "time", acks, sizes.str.extract_all(_SENT).alias("_sent"))
        .explode("_sent", empty_as_null=True, keep_nulls=True)
        .with_columns(
            pl.col("_sent").str.extract(_SENT, 1).alias("topic"),
            pl.col("_sent").str.extract(_SENT, 2).cast(pl.Int64, strict=False).alias("partition"),
        )
        .drop("_sent")
    )
    place = ["line", "topic", "partition"]
    answers = _tokens(rows.filter(pl.col("answer").is_not_null()), "answer", _APPENDED)
    answered = answers.select(*place, "time", "topic_id", "error", "offset").join(
        rows.select("line", acks), on="line", maintain_order="left"
    )
    mute = sent.join(answered, on="line", how="anti", maintain_order="left")  # 0.11 only counts the partitions
    return produced(pl.concat([answered, mute], how="diagonal"))
