"""Common tables of both formats of the request log: fetches, what they request and what is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from parsers.filled import filled
from parsers.reading import EXCERPT
from parsers.schema import NOTICES, Kind, conform, empty

RELEVANT: Final = (
    "FETCH",
    "PRODUCE",
    "OFFSET_FOR_LEADER_EPOCH",
    "LEADER_AND_ISR",
    "UPDATE_METADATA",
    "ALTER_PARTITION",
    "ALTER_ISR",
)
"""Requests about replication. ALTER_PARTITION was called ALTER_ISR up to 3.1."""

API_KEYS: Final = {
    0: "PRODUCE",
    1: "FETCH",
    4: "LEADER_AND_ISR",
    6: "UPDATE_METADATA",
    23: "OFFSET_FOR_LEADER_EPOCH",
    56: "ALTER_PARTITION",
}

METADATA_TOPIC_ID: Final = "AAAAAAAAAAAAAAAAAAAAAQ"
METADATA_TOPIC: Final = "__cluster_metadata"

FETCHES: Final[dict[str, pl.DataType]] = {
    "line": pl.Int64(),
    "time": pl.Datetime("us"),
    "follower": pl.Int32(),  # -1 a consumer
    "session": pl.Int64(),  # 0 none
}
"""One row a FETCH; ``session`` is the one that it opened or belongs to."""

ASKED: Final[dict[str, pl.DataType]] = {
    "line": pl.Int64(),
    "topic": pl.String(),
    "topic_id": pl.String(),
    "partition": pl.Int32(),
    "fetch_offset": pl.Int64(),
    "leader_epoch": pl.Int32(),
    "log_start": pl.Int64(),
}
"""One row a partition that a FETCH names."""

ANSWERED: Final[dict[str, pl.DataType]] = {
    "line": pl.Int64(),
    "topic": pl.String(),
    "topic_id": pl.String(),
    "partition": pl.Int32(),
    "error": pl.Int32(),
    "hw": pl.Int64(),
    "lso": pl.Int64(),
    "log_start": pl.Int64(),
    "diverging_epoch": pl.Int32(),
    "diverging_end": pl.Int64(),
}
"""One row a partition in the answer to a FETCH."""

FORGOTTEN: Final[dict[str, pl.DataType]] = {
    "line": pl.Int64(),
    "topic": pl.String(),
    "topic_id": pl.String(),
    "partition": pl.Int32(),
}
"""One row a partition that leaves its fetch session."""

STATED: Final[dict[str, pl.DataType]] = {
    "line": pl.Int64(),
    "time": pl.Datetime("us"),
    "kind": pl.String(),
    "message": pl.String(),
    "topic": pl.String(),
    "topic_id": pl.String(),
    "partition": pl.Int32(),
    "replica": pl.Int32(),
    "leader": pl.Int32(),
    "leader_epoch": pl.Int32(),
    "previous_epoch": pl.Int32(),
    "partition_epoch": pl.Int32(),
    "offset": pl.Int64(),
    "hw": pl.Int64(),
    "isr": pl.String(),
    "detail": pl.String(),
}
"""Rows of other requests, as they go into the observations."""


@dataclass(slots=True)
class Requests:
    """Contents of one block of a request log.

    Attributes:
        fetches, asked, answered, forgotten, stated: see the tables of these names.
        relevant: requests about replication.
        understood: those of them that could be read.
        notices: schema ``NOTICES``, for the others.
    """

    fetches: pl.DataFrame = field(default_factory=lambda: empty(FETCHES))
    asked: pl.DataFrame = field(default_factory=lambda: empty(ASKED))
    answered: pl.DataFrame = field(default_factory=lambda: empty(ANSWERED))
    forgotten: pl.DataFrame = field(default_factory=lambda: empty(FORGOTTEN))
    stated: pl.DataFrame = field(default_factory=lambda: empty(STATED))
    relevant: int = 0
    understood: int = 0
    notices: pl.DataFrame = field(default_factory=lambda: empty(NOTICES))


def unread(rows: pl.DataFrame, reason: str) -> pl.DataFrame:
    """Notices for requests that could not be read."""
    found = rows.select(
        pl.lit(reason).alias("reason"), pl.col("request").str.slice(0, EXCERPT).alias("excerpt"), "line"
    )
    return conform(found, NOTICES)


def named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the one topic named whose id is fixed."""
    return rows.with_columns(
        pl.when(pl.col("topic_id") == METADATA_TOPIC_ID).then(pl.lit(METADATA_TOPIC)).otherwise("topic").alias("topic")
    )


def produced(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what producers requested and were answered, schema ``STATED``.

    An answer without error to acks=all is sent once the leader's high watermark has passed all that the request
    appended (DelayedProduce, Partition.checkEnoughReplicasReachOffset), and enough replicas are in sync. The number of
    records is not printed, so only the first of them is proven committed. An answer to acks=1 proves nothing of the
    kind.

    Args:
        rows: columns line, time, topic, topic_id, partition, acks, offset and error; the last two null without an
            answer.
    """
    acks = pl.when(pl.col("acks") == -1).then(pl.lit("all")).otherwise(pl.col("acks").cast(pl.String))
    sound = (pl.col("error") == 0) & (pl.col("offset") >= 0)
    failed = pl.when(pl.col("error") != 0).then(filled(" error {}", "error")).otherwise(pl.lit(""))
    return conform(
        rows.filter(pl.col("acks").is_not_null()).with_columns(
            pl.when(sound).then("offset").alias("offset"),
            pl.when(sound & (pl.col("acks") == -1)).then(pl.col("offset") + 1).alias("hw"),
            pl.concat_str(pl.lit("acks="), acks, failed).alias("detail"),
            pl.lit(Kind.PRODUCED.value).alias("kind"),
            pl.lit("request-produce").alias("message"),
        ),
        STATED,
    )
