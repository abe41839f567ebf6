"""The lines that replay reads of each partition: which kinds, thinned to those that can matter, as events in order.

A logger at TRACE may print a million lines about progress (high watermark and log end offset). Between two events that
change a role or a log, only the last and the greatest values can matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from forensics.case import Case
from forensics.replay.facts.dir_failures import told as of_directory
from forensics.replay.facts.events import COLUMNS, PROGRESS, Event, as_values
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


def nodes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the states of partitions that nodes of ZooKeeper hold, with ``NOBODY`` as broker: of the present topic."""
    told = rows.filter((pl.col("message") == ZOOKEEPER) & pl.col("leader_epoch").is_not_null())
    return told.with_columns(
        pl.lit(NOBODY, dtype=told.schema["broker"]).alias("broker"),
        pl.lit(0, dtype=told.schema["run"]).alias("run"),
        pl.lit(0, dtype=pl.Int32).alias("incarnation"),
    )


def lagging(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the followers' log end offsets that a leader logs when it shrinks the ISR.

    In a trace each value of a line of a log has a line of its own, with the message and the time of that line.
    """
    shrinks, told = pl.col("kind") == Kind.ISR_SHRINK.value, pl.col("kind") == Kind.REMOTE_LEO.value
    repeated = shrinks & (pl.col("message") != TRACE)
    same = ["source", "broker", "topic", "partition", "message", "time"]
    by_line = rows.filter(told).join(rows.filter(shrinks), on=["source", "line"], how="semi")
    by_message = rows.filter(told).join(rows.filter(repeated), on=same, how="semi")
    return pl.concat([by_line, by_message]).unique("row").sort("topic", "partition", "broker", "row")


def thin(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove progress that cannot matter, and repeats of the same truncation."""
    place = ["topic", "partition", "incarnation", "broker"]
    progress = pl.col("kind").is_in([k.value for k in PROGRESS])
    rows = rows.sort(*place, "row").with_columns((~progress).cast(pl.UInt32).cum_sum().alias("_stretch"))
    moving = rows.filter(progress)
    if moving.is_empty():
        return rows.drop("_stretch")
    span = [*place, "_stretch", "kind", "_by"]
    moving = moving.with_columns(told_by().alias("_by")).with_columns(
        (pl.col("hw") == pl.col("hw").max().over(span)).alias("_peak"),
        (pl.col("hw") < pl.col("hw").cum_max().over(span)).alias("_lower"),
    )
    last = pl.col("row") == pl.col("row").max().over(span)
    # Not `filter(...).min().over(span)`: that evaluates each of half a million spans separately.
    first_peak, first_lower = (
        pl.col("row") == pl.when(pl.col(what)).then(pl.col("row")).min().over(span) for what in ("_peak", "_lower")
    )
    # The first value held back shows where a leader began, the first append where the log ended before.
    begins = pl.col("kind").is_in([Kind.HW_HELD.value, Kind.APPEND.value])
    first = begins & (pl.col("row") == pl.col("row").min().over(span))
    moving = moving.with_columns(with_jumps(span))
    kept = moving.filter(
        last | first | first_peak.fill_null(False) | first_lower.fill_null(False) | (pl.col("detail") == JUMPED)
    )
    return pl.concat([rows.filter(~progress), kept.drop("_peak", "_lower", "_by")]).sort(*place, "row").drop("_stretch")


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
    """
    step = pl.col("kind") == Kind.TRANSITION.value
    place = ["topic", "partition", "incarnation", "broker", "run"]
    received = (
        pl.when(pl.col("kind") == Kind.LEADER_AND_ISR.value)
        .then(True)
        .when(step & pl.col("detail").is_in(DONE))
        .then(False)
        .otherwise(None)
    )
    own = own.sort("topic", "partition", "broker", "row").with_columns(
        received.forward_fill().shift(1).over(place).fill_null(False).alias("_received")
    )
    known = pl.col("detail").is_in(ROLE_STEPS)
    carried_out = step & pl.col("_received") & known
    cached = pl.col("kind") == Kind.METADATA_CACHED.value
    first = pl.struct(*place, "leader_epoch", cached.alias("_cached")).is_first_distinct()
    return own.filter(~carried_out.fill_null(False) & (~cached | first)).drop("_received")


def of_process() -> pl.Expr:
    """Filter for lines about a broker's process as a whole, which apply to each of its replicas.

    These are: it started, it began to shut down or had done so, a directory failed, and in a trace that it had not
    stopped cleanly. In logs the last one is reported for a directory, and for each replica in its recovery lines.
    Traces made from logs do the same.
    """
    kind = pl.col("kind")
    whole = (pl.col("message") == TRACE) & pl.col("log_dir").is_null()
    unclean = (kind == Kind.UNCLEAN_RESTART.value) & whole
    told = kind.is_in([Kind.PROCESS_STARTED.value, Kind.SHUTDOWN_BEGIN.value, Kind.SHUTDOWN_COMPLETE.value])
    return (told | unclean | of_directory()) & pl.col("broker").is_not_null()


def of_processes(case: Case) -> dict[int, list[Event]]:
    """Return the lines of each broker about its own processes."""
    rows = case.observations.filter(of_process() & ~of_directory() & pl.col("topic").is_null())
    found: dict[int, list[Event]] = {}
    for values in rows.sort("row").select(as_values(COLUMNS)).iter_rows():
        event = Event._make(values)
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
    """Return lines as events, in order, by topic, partition, incarnation and broker."""
    place = ["topic", "partition", "incarnation", "broker"]
    wanted = rows.sort(*place, "row").select(
        "topic",
        "partition",
        "incarnation",
        *as_values(COLUMNS),
    )
    found: dict[tuple[str, int, int, int], list[Event]] = {}
    position = COLUMNS.index("broker")
    for topic, partition, incarnation, values in _rows(wanted):
        event = Event._make(values)
        found.setdefault((topic, partition, incarnation, values[position]), []).append(event)
    return found


def _rows(frame: pl.DataFrame) -> Iterator[tuple[str, int, int, tuple]]:  # type: ignore[type-arg]
    for row in frame.iter_rows():
        yield row[0], row[1], row[2], row[3:]
