"""The lines that replay reads of each partition: which kinds, thinned to those that can matter, as events in order.

A logger at TRACE may print a million lines about progress (high watermark and log end offset). Between two events that
change a role or a log, only the last and the greatest values can matter.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from forensics.case import Case
from forensics.replay.facts.dir_failures import of_directory
from forensics.replay.facts.events import PROGRESS, Event, events, in_groups
from forensics.replay.facts.lines_of_brokers import of_process
from forensics.replay.facts.log_numbers import LOG, numbered
from parsers.details import DONE, ROLE_STEPS
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.formats.zookeeper_nodes import NAME as ZOOKEEPER
from parsers.schema import Kind

OWN = (
    Kind.LEADER_AND_ISR,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.LOG_LOADED,
    Kind.RECOVERY,
    Kind.CORRUPTION_CUT,
    Kind.LOG_CREATED,
    Kind.LOG_DELETED,
    Kind.LOG_MOVED,
    Kind.DIR_FAILED,
    Kind.STORAGE_ERROR,
    Kind.HW_LOADED,
    Kind.TRUNCATE_BELOW_HW,
    Kind.TRUNCATE,
    Kind.TRUNCATE_NOOP,
    Kind.TRUNCATE_FULL,
    Kind.TRUNCATE_PLAN,
    Kind.FETCHER_ADDED,
    Kind.FETCH_RESET,
    Kind.EPOCH_ASSIGNED,
    Kind.ISR_SHRINK,
    Kind.ISR_EXPAND,
    Kind.ISR_COMMIT,
    Kind.ISR_REJECTED,
    Kind.ROLE_UNCHANGED,
    Kind.HW_MISSING,
    Kind.HW_REGRESSED,
)
"""Kinds of line about a broker's own replica that change a role or a log, or bound a committed offset."""

CLUSTER = (
    Kind.ELECTION,
    Kind.UNCLEAN_ELECTION,
    Kind.PARTITION_CREATED,
    Kind.PARTITION_CHANGED,
    Kind.METADATA_CACHED,
    Kind.RECOVERING,
    Kind.ELECTION_REQUESTED,
)
"""Kinds of line about a partition's leader and ISR from brokers that are not its replicas."""

JUMPED = "not where the append before it ended"
"""Detail of an append that does not begin at the end of the append before it."""

NOBODY = -1
"""Stands for the broker of an event that no broker states."""


def of_replicas(rows: pl.DataFrame) -> pl.DataFrame:
    """Return lines about replicas of their own brokers, without those of a controller that commits an ISR.

    In a trace another witness than the leader may state that. One that states nothing else of a partition holds no
    replica of it.
    """
    commits = (pl.col("kind") == Kind.ISR_COMMIT.value) & (pl.col("message") == TRACE)
    if rows.filter(commits).is_empty():
        return rows
    return rows.filter(~commits.fill_null(False).all().over("topic", "partition", "incarnation", "broker"))


def nodes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the states of partitions that nodes of ZooKeeper hold, with ``NOBODY`` as broker: of the present topic."""
    stating = (pl.col("message") == ZOOKEEPER) & pl.col("topic").is_not_null() & pl.col("leader_epoch").is_not_null()
    stated = rows.filter(stating)
    stated = stated.with_columns(
        pl.lit(NOBODY, dtype=stated.schema["broker"]).alias("broker"),
        pl.lit(0, dtype=stated.schema["run"]).alias("run"),
        pl.lit(0, dtype=pl.Int32).alias("incarnation"),
    )
    return numbered(stated)


def thin(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove progress that cannot matter, and repeats of the same truncation.

    Four lines of each kind can matter between two other lines of a log: the last, the first, the first with the highest
    high watermark, and the first with a lower one than before. The first counts where it is a high watermark held back,
    because it shows where a leader began. It counts where it is an append, because it shows where the log ended before.
    Each append counts that does not begin where the one before it ended.

    Args:
        rows: observations with the number of their log, those of each log in order.

    Returns:
        Log by log.
    """
    rows = rows.sort(LOG, maintain_order=True)
    progress = pl.col("kind").is_in([k.value for k in PROGRESS])
    moving = rows.select(
        "row", LOG, "kind", "hw", "offset", "leo", "detail", told_by().alias("_by"),
        (~progress).cast(pl.UInt32).cum_sum().alias("_stretch"),
    ).filter(progress)  # fmt: skip
    if moving.is_empty():
        return rows
    moving = numbered(moving, (LOG, "_stretch", "kind", "_by"), "_span").drop(LOG, "_stretch", "_by")
    moving = moving.sort("_span", "row")
    spans = moving.group_by("_span").agg(
        pl.col("kind").first(),
        pl.col("row").min().alias("_first"),
        pl.col("row").max(),
        pl.col("hw").max().alias("_peak"),
    )
    begins = pl.col("kind").is_in([Kind.HW_HELD.value, Kind.APPEND.value])
    stating = moving.drop_nulls("hw").join(
        spans.select("_span", "_peak"), on="_span", how="left", maintain_order="left"
    )
    # Compared with the line before in the order of spans, not in a window: there may be half a million spans.
    lower = (pl.col("hw") < pl.col("hw").shift(1)) & (pl.col("_span") == pl.col("_span").shift(1))
    jumping = moving.filter(pl.col("kind") == Kind.APPEND.value).select("row", with_jumps(["_span"]))
    jumping = jumping.filter(pl.col("detail") == JUMPED)
    kept = [
        spans.get_column("row"),
        spans.filter(begins).get_column("_first"),
        *(stating.filter(one).unique("_span", keep="first").get_column("row") for one in (_is_peak(), lower)),
        jumping.get_column("row"),
    ]
    rows = rows.filter(~progress | pl.col("row").is_in(pl.concat(kept).implode()))
    jumps = pl.col("row").is_in(jumping.get_column("row").implode())
    return rows.with_columns(pl.when(jumps).then(pl.lit(JUMPED)).otherwise("detail").alias("detail"))


def _is_peak() -> pl.Expr:
    return pl.col("hw") == pl.col("_peak")


def with_jumps(span: Sequence[str]) -> pl.Expr:
    """Return ``detail``; mark an append that does not begin where the one before it ended, which a leader's does.

    Args:
        span: columns that separate spans of one message.
    """
    appends = (pl.col("kind") == Kind.APPEND.value) & pl.col("detail").is_null()
    jumps = (appends & (pl.col("offset") > pl.col("leo").shift(1).over(span))).fill_null(False)
    return pl.when(jumps).then(pl.lit(JUMPED)).otherwise("detail").alias("detail")


def told_by() -> pl.Expr:
    """Return which message reports a rolled segment or an append, null for all others.

    One message reports a rolled segment, another a snapshot; one reports each append, another a producer's. None of
    them replaces the other.
    """
    return pl.when(pl.col("kind").is_in([Kind.ROLLED.value, Kind.APPEND.value])).then(pl.col("message"))


def telling(own: pl.DataFrame) -> pl.DataFrame:
    """Remove steps of requests whose receipt is logged, and repeats of cached metadata.

    They show nothing about missing lines.

    Args:
        own: observations with the number of their log, log by log and in order.
    """
    step, cached = pl.col("kind") == Kind.TRANSITION.value, pl.col("kind") == Kind.METADATA_CACHED.value
    if not own.select((step | cached).any()).item():
        return own  # as with KRaft
    place = [LOG, "run"]
    received = (
        pl.when(pl.col("kind") == Kind.LEADER_AND_ISR.value)
        .then(True)
        .when(step & pl.col("detail").is_in(DONE))
        .then(False)
        .otherwise(None)
    )
    own = own.with_columns(received.forward_fill().shift(1).over(place).fill_null(False).alias("_received"))
    known = pl.col("detail").is_in(ROLE_STEPS)
    carried_out = step & pl.col("_received") & known
    first = pl.struct(*place, "leader_epoch", cached.alias("_cached")).is_first_distinct()
    return own.filter(~carried_out.fill_null(False) & (~cached | first)).drop("_received")


def of_processes(case: Case) -> dict[int, list[Event]]:
    """Return the lines of each broker about its own processes."""
    rows = case.observations.filter(of_process() & ~of_directory() & pl.col("topic").is_null())
    found: dict[int, list[Event]] = {}
    for event in events(rows.sort("row")):
        found.setdefault(event.broker, []).append(event)
    return found


def first_stated(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep the first time each broker states the same epoch and ISR, of lines that repeat them."""
    each = pl.when(pl.col("kind") == Kind.ELECTION_REQUESTED.value).then("row")
    rows = rows.with_columns(each.alias("_each")).unique(
        subset=[
            "_each",
            "topic",
            "partition",
            "incarnation",
            "broker",
            "kind",
            "leader",
            "leader_epoch",
            "partition_epoch",
            "isr",
        ],
        keep="first",
        maintain_order=True,
    )
    return rows.drop("_each")


def events_of(rows: pl.DataFrame) -> dict[tuple[str, int, int, int], list[Event]]:
    """Return lines as events, in order, by topic, partition, incarnation and broker.

    Args:
        rows: observations with the number of their log.
    """
    return in_groups(rows.sort(LOG, "row"), ("topic", "partition", "incarnation", "broker"), events)
