"""The state of each replica over time, for readers and for charts.

Replay says what a line means. Role spans have what changed a replica's role, and ``Replica.changes`` has what changed
its log end offset and high watermark. This module carries that forward within the process of the broker. Replay reads
only some lines about progress. A timeline has the values of all of them, by ``LOG_ENDS``, which replay uses too.
"""

from __future__ import annotations

from operator import attrgetter

import polars as pl

from forensics.case import Case
from forensics.case.speakers import OF_ITSELF
from forensics.replay.confidence import Weakness, weighed, weighed_rows
from forensics.replay.facts.events import LOG_ENDS, PROGRESS
from forensics.replay.facts.partition_lines import OWN
from forensics.replay.facts.partition_rows import partition_rows
from forensics.replay.history import History, Role
from forensics.replay.roles.steps import StepKind
from parsers.schema import ROLES, Kind

LOADING = "loading"
"""A process has started and not yet learned its role."""
STOPPED = "stopped"
"""The process printed that its shutdown was complete."""
SILENT = "silent"
"""No line is between the last one of a process and the first of the next: nothing is known.

This says what a picture shows of a stretch of time; what absent lines prove, ``coverage`` says.
"""
DELETED = "deleted"
"""The replica was removed from this broker."""
ON_DISK = "on disk"
"""Contents of the files; they have no time of their own."""

TIMELINE: dict[str, pl.DataType] = {
    "replica": pl.Int32(),
    "run": pl.Int32(),
    "from": pl.Datetime("us", "UTC"),
    "to": pl.Datetime("us", "UTC"),
    "role": pl.String(),  # leader, follower, offline, or one of the states above
    "leader": pl.Int32(),
    "leader_epoch": pl.Int32(),
    "log_end_offset": pl.Int64(),
    "high_watermark": pl.Int64(),
    "log_start_offset": pl.Int64(),
    "isr": pl.String(),
    "confidence": pl.String(),  # proven; inferred where a value may have moved since it was printed; null when silent
    "log_end_exact": pl.Boolean(),  # false: at least this much
    "high_watermark_exact": pl.Boolean(),
    "event": pl.String(),  # kind of the observation that began the state
    "row": pl.UInt32(),  # that observation, and the ones behind each value
    "role_row": pl.UInt32(),
    "log_end_offset_row": pl.UInt32(),
    "high_watermark_row": pl.UInt32(),
    "log_start_offset_row": pl.UInt32(),
    "isr_row": pl.UInt32(),
}
"""One row a state of one replica; offsets follow Kafka, times are UTC microseconds."""

_EVENTS = (Kind.TRUNCATE_FULL, Kind.LOG_LOADED, Kind.CORRUPTION_CUT, Kind.LOG_DELETED)
_VALUES = ("role", "leader", "leader_epoch", "log_end_offset", "high_watermark", "log_start_offset", "isr")


def timeline(case: Case, history: History) -> pl.DataFrame:
    """The states of every replica of one incarnation of a partition.

    Args:
        case: what was taken in.
        history: the partition, as replay found it.

    Returns:
        Schema ``TIMELINE``, ordered by replica and, within one, as it happened. Values that the evidence does not give
        are null. The last row of a replica whose files are in the evidence has the role "on disk" and no time.
    """
    case = case.part_of(history.cluster)
    mine = case.observations.filter(pl.col("broker").is_in(sorted(history.replicas)))
    return closed(changes(case, history), spans(processes(mine), case.sources))


def changes(case: Case, history: History) -> pl.DataFrame:
    """Return the same as ``timeline``, except for the end of each process's last state, which needs all of its lines.

    Args:
        case: the evidence; of other partitions only the starts and stops of processes are needed.
        history: the partition, as replay found it.
    """
    case = case.part_of(history.cluster)
    rows = _high_watermarks(_ends(_roles(_rows(case, history))), history)
    states = _ends_cover_high_watermarks(_states(_others(rows)))
    disk = _on_disk(history)
    # Rows are numbered by broker and then in order, so one key sorts; files come after a replica's last row.
    last = states.group_by("replica").agg(pl.col("row").max().alias("_key"))
    keyed = [states.with_columns(pl.col("row").alias("_key")), disk.join(last, on="replica", how="left")]
    order = pl.concat(keyed).with_columns(pl.col("_key").fill_null(2**32 - 1))
    return order.sort("replica", "_key", maintain_order=True).drop("_key")


def _ends_cover_high_watermarks(states: pl.DataFrame) -> pl.DataFrame:
    """Raise a lower bound of a leader's log end offset to its high watermark, which its log cannot end below."""
    end, mark = pl.col("log_end_offset"), pl.col("high_watermark")
    bound = (pl.col("role") == "leader") & ~pl.col("log_end_exact") & (end < mark)
    return states.with_columns(pl.when(bound.fill_null(False)).then(mark).otherwise(end).alias("log_end_offset"))


def committed(frame: pl.DataFrame) -> pl.DataFrame:
    """The greatest high watermark that any replica has stated so far, by the brokers' clocks.

    Args:
        frame: a timeline.

    Returns:
        Columns from, high_watermark and row, one row each time it rises.
    """
    stated = (
        frame.filter(pl.col("from").is_not_null() & pl.col("high_watermark").is_not_null())
        .select("from", "high_watermark", pl.col("high_watermark_row").alias("row"))
        .sort("from", "high_watermark", "row", nulls_last=True)
        .with_columns(pl.col("high_watermark").cum_max())
    )
    rises = pl.col("high_watermark") > pl.col("high_watermark").shift(1, fill_value=-1)
    return stated.filter(rises)


# -- selection --------------------------------------------------------------------------------------------------------


_READ = ("row", "broker", "run", "starts_run", "kind", "time", "offset", "hw", "leo", "log_start", "isr")


def _is(*kinds: str) -> pl.Expr:
    return pl.col("kind").is_in([Kind(kind).value for kind in kinds])


def _rows(case: Case, history: History) -> pl.DataFrame:
    """Return each broker's lines about its own replica, and the starts and ends of its processes, in order."""
    observations, brokers = case.observations, sorted(history.replicas)
    about = observations.filter(
        (pl.col("topic") == history.topic)
        & (pl.col("partition") == history.partition)
        & pl.col("broker").is_in(brokers)
    )
    shown = _is(*OWN, *(kind for kind in PROGRESS if kind is not Kind.PRODUCED), Kind.LOG_START)
    about = partition_rows(about, metadata=True).filter(
        (pl.col("incarnation") == history.incarnation) & shown & OF_ITSELF & pl.col("line").is_not_null()
    )
    process = observations.filter(
        pl.col("topic").is_null()
        & pl.col("broker").is_in(brokers)
        & (pl.col("starts_run") | _is(Kind.SHUTDOWN_COMPLETE))
    )
    lives = about.group_by("broker").agg(pl.col("run").min().alias("_first"), pl.col("run").max().alias("_last"))
    process = process.join(lives, on="broker", how="inner")
    # Processes of other incarnations of the topic belong to another timeline.
    process = process.filter(
        (pl.col("run") >= pl.col("_first")) & ((pl.col("run") <= pl.col("_last")) | pl.lit(history.incarnation == 0))
    ).drop("_first", "_last")
    rows = pl.concat([about.select(_READ), process.select(_READ)]).sort("row")
    return _as_replayed(rows, history).with_columns(
        pl.col("time").forward_fill().cum_max().over("broker").alias("_when"), pl.col("run").fill_null(0)
    )


_ROLES = {"row": pl.UInt32(), "_role": pl.String(), "_leader": pl.Int32(), "_epoch": pl.Int32()}
_STARTS = {"row": pl.UInt32(), "_starts_at": pl.Int64()}
_ISRS = {"row": pl.UInt32(), "_states_isr": pl.Boolean()}
_CHANGES = {
    "row": pl.UInt32(),
    "_ends_at": pl.Int64(),
    "_exact": pl.Boolean(),
    "_stated": pl.Boolean(),
    "_end_row": pl.UInt32(),
    "_hw_at": pl.Int64(),
}
_UNKNOWN = -2
"""Stands for a leader that nothing names."""
_change = attrgetter("row", "end", "exact", "stated", "end_row", "hw")


def _as_replayed(rows: pl.DataFrame, history: History) -> pl.DataFrame:
    """Add what replay concluded from each line."""
    spans = [one for each in history.role_spans.values() for one in each]
    steps = [step for one in spans for step in one.steps if step.kind is StepKind.TRUNCATED_FULLY]
    found = (
        ([(ref.row, one.role.value, one.leader, one.epoch) for one in spans for ref in one.refs], _ROLES),
        ([(step.refs[0].row, step.target) for step in steps], _STARTS),
        ([(row, True) for row in {ref.row for one in spans for _, ref in one.isr}], _ISRS),
        ([_change(one) for replica in history.replicas.values() for one in replica.changes], _CHANGES),
    )
    for values, schema in found:
        rows = rows.join(pl.DataFrame(values, schema, orient="row"), on="row", how="left", maintain_order="left")
    return rows


# -- roles ------------------------------------------------------------------------------------------------------------


def _roles(rows: pl.DataFrame) -> pl.DataFrame:
    """Add role, leader and leader epoch."""
    role = (
        pl.when(pl.col("starts_run")).then(pl.lit(LOADING))
        .when(_is(Kind.SHUTDOWN_COMPLETE)).then(pl.lit(STOPPED))
        .when(_is(Kind.LOG_DELETED)).then(pl.lit(DELETED))
        .otherwise(pl.col("_role"))
    )  # fmt: skip
    return rows.with_columns(
        _carry(role).alias("role"),
        _carry(pl.when(role.is_not_null()).then(pl.col("row"))).alias("role_row"),
        _carry(pl.when(pl.col("_role").is_not_null()).then(pl.col("_leader").fill_null(_UNKNOWN)))
        .replace(_UNKNOWN, None)
        .alias("leader"),
        _carry(pl.col("_epoch")).alias("leader_epoch"),
    )


def _carry(value: pl.Expr) -> pl.Expr:
    """Carry a value forward from the row that states it, until the process ends."""
    return value.forward_fill().over("broker", "run")


_NONE = -(2**62)


def _stretches(rows: pl.DataFrame, fresh: pl.Expr, value: str, moves: str, *, up: bool) -> pl.DataFrame:
    """Divide each broker's rows into stretches and compute the value in each row.

    The value is the one with which the stretch began, or the extreme to which ``moves`` has moved it since.

    Args:
        rows: in order.
        fresh: true where a stretch begins.
        value: column with the value it begins with; null is none.
        moves: column with values that may only raise it, or only lower it.
        up: they raise it.

    Returns:
        The rows with ``_base`` (the value at the beginning) and ``_value``.
    """
    rows = rows.with_columns(fresh.fill_null(False).alias("_fresh"))
    rows = rows.with_columns(_count(pl.col("_fresh")).alias("_stretch"))
    moving = rows.filter(pl.col(moves).is_not_null()).select("row", "broker", "_stretch", pl.col(moves).alias("_moved"))
    moved = pl.col("_moved").cum_max() if up else pl.col("_moved").cum_min()
    moving = moving.with_columns(moved.over("broker", "_stretch")).select("row", "_moved")
    rows = rows.join(moving, on="row", how="left", maintain_order="left")
    begun = pl.when(pl.col("_fresh")).then(pl.col(value).fill_null(_NONE))
    rows = rows.with_columns(
        begun.forward_fill().over("broker").alias("_base"),
        pl.coalesce("_moved", pl.when(pl.col("_fresh")).then(_NONE)).forward_fill().over("broker").alias("_moved"),
    )
    known = [pl.when(pl.col(name) != _NONE).then(pl.col(name)).alias(name) for name in ("_base", "_moved")]
    extreme = pl.max_horizontal("_base", "_moved") if up else pl.min_horizontal("_base", "_moved")
    return rows.with_columns(known).with_columns(extreme.alias("_value")).drop("_stretch", "_fresh", "_moved")


def _count(mark: pl.Expr) -> pl.Expr:
    """How many rows of the broker up to this one are marked: numbers the stretches that marks begin."""
    return mark.fill_null(False).cast(pl.UInt32).cum_sum().over("broker")


# -- log end offset ---------------------------------------------------------------------------------------------------


def _ends(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the log end offset, and whether it may have grown unseen."""
    run = ["broker", "run"]
    in_role = pl.col("role").is_in([Role.LEADER.value, Role.FOLLOWER.value])
    stated = _states_end(least=False)
    rows = rows.with_columns(
        pl.when(stated >= 0).then(stated).otherwise(pl.col("_ends_at")).alias("_end_set"),
        pl.when(in_role).then(_states_end(least=True)).alias("_least"),
        _is(Kind.APPEND).any().over(run).alias("_sampled"),
    )
    states = pl.col("_end_set").is_not_null()
    rows = _stretches(rows, states | pl.col("starts_run"), "_end_set", "_least", up=True)
    # A logger that prints every append prints all of them.
    printed = pl.col("_sampled") & _carry(pl.when(states).then(pl.col("_stated").fill_null(True))).fill_null(True)
    grown = pl.col("_value").ne_missing(pl.col("_base"))
    known = pl.col("_value") >= 0
    rises = pl.col("_value").ne_missing(pl.col("_value").shift(1).over(run))
    repeats = (pl.col("leo") == pl.col("_value")) | _is(Kind.LOG_CREATED)
    at = pl.when(states).then(pl.coalesce("_end_row", "row")).when(rises | repeats).then(pl.col("row"))
    return rows.with_columns(
        (_is(Kind.TRUNCATE) & (pl.col("_end_row") == pl.col("row"))).fill_null(False).alias("_cuts"),
        pl.when(known).then(pl.col("_value")).alias("log_end_offset"),
        pl.when(known).then(_carry(at.cum_max().over(run))).alias("log_end_offset_row"),
        ((_carry(pl.col("_exact")) | printed) & ~grown).alias("log_end_exact"),
    ).drop("_base", "_value")


def _states_end(*, least: bool) -> pl.Expr:
    """Return the log end offset as lines about progress state it."""
    found = [pl.when(_is(kind)).then(pl.col(one.column)) for kind, one in LOG_ENDS.items() if one.least == least]
    return pl.coalesce(found)


_QUIET = pl.duration(seconds=1)
"""If a last process logs nothing for less than this before the evidence ends, it just had nothing to log."""


# -- high watermark and the rest --------------------------------------------------------------------------------------


def _high_watermarks(rows: pl.DataFrame, history: History) -> pl.DataFrame:
    """Compute the high watermark as printed.

    A truncation below it lowers it, and so may a leader with a lower one: a follower adopts the value that its leader
    sends with the records.
    """
    run = ["broker", "run"]
    sampled = _is(Kind.HW, Kind.LEADER_HW).any().over(run)
    rows = rows.join(_first_high_watermarks(history), on=["leader", "leader_epoch"], how="left", maintain_order="left")
    follows = _is(Kind.FETCHER_ADDED) & (pl.col("role") == Role.FOLLOWER.value).fill_null(False) & ~sampled
    open_ended = follows & pl.col("_leaders").is_null()
    stated = pl.when(_is(*PROGRESS)).then(pl.col("hw")).otherwise(pl.col("_hw_at"))
    rows = rows.with_columns(
        pl.when(~open_ended).then(stated).alias("_hw_set"),
        pl.when(pl.col("_cuts")).then(pl.col("offset")).when(follows).then(pl.col("_leaders")).alias("_took"),
        open_ended.alias("_open_ended"),
    )
    fresh = pl.col("_hw_set").is_not_null() | pl.col("starts_run") | pl.col("_open_ended")
    rows = _stretches(rows, fresh, "_hw_set", "_took", up=False)
    rows = rows.with_columns(pl.when(pl.col("_base").is_not_null()).then(pl.col("_value")).alias("_hw"))
    moving = pl.col("role").is_in([Role.LEADER.value, Role.FOLLOWER.value])
    lowered = pl.col("_hw") < pl.col("_base")
    return rows.with_columns(
        pl.col("_hw").alias("high_watermark"),
        pl.when(pl.col("_hw").is_not_null())
        .then(_carry(pl.when(pl.col("_hw_set").is_not_null()).then(pl.col("row"))))
        .alias("high_watermark_row"),
        ((sampled | ~moving) & ~lowered.fill_null(False)).alias("high_watermark_exact"),
    )


def _first_high_watermarks(history: History) -> pl.DataFrame:
    """Return the high watermark with which each epoch's leader began, if known: it never falls within the epoch."""
    found = [
        {"leader": broker, "leader_epoch": role_span.epoch, "_leaders": role_span.start_hw.value}
        for broker, spans in history.role_spans.items()
        for role_span in spans
        if role_span.role is Role.LEADER and role_span.start_hw is not None
    ]
    schema = {"leader": pl.Int32, "leader_epoch": pl.Int32, "_leaders": pl.Int64}
    return pl.DataFrame(found, schema=schema).group_by("leader", "leader_epoch").agg(pl.col("_leaders").min())


def _others(rows: pl.DataFrame) -> pl.DataFrame:
    """Log start offset and ISR."""
    created = pl.when(_is(Kind.LOG_CREATED)).then(0)
    # The line of a reset has the leader's log start offset.
    start = pl.coalesce("_starts_at", created, pl.when(~_is(Kind.FETCH_RESET)).then(pl.col("log_start")))
    received = pl.col("role").ne_missing(pl.lit(Role.LEADER.value)) & (~_is(*ROLES) | pl.col("_role").is_not_null())
    isr = pl.when(pl.col("_states_isr").fill_null(received)).then(pl.col("isr"))
    rows = rows.with_columns(start.alias("_start"), isr.alias("_isr"))
    return rows.with_columns(
        _carry(pl.col("_start")).alias("log_start_offset"),
        _carry(pl.when(pl.col("_start").is_not_null()).then(pl.col("row"))).alias("log_start_offset_row"),
        _carry(pl.col("_isr")).alias("isr"),
        _carry(pl.when(pl.col("_isr").is_not_null()).then(pl.col("row"))).alias("isr_row"),
    )


# -- states -----------------------------------------------------------------------------------------------------------


def processes(rows: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return first and last time of each process, and whether it logged that it stopped.

    Args:
        rows: observations of whole brokers, or some of them.
        keys: columns that distinguish clusters, if brokers of several are among them.

    Returns:
        Columns broker, run, first, last, ended, one row per process.
    """
    # A process prints its settings before the line that begins its run here.
    preamble = _is(Kind.BROKER_CONFIG, Kind.BROKER_VERSION)
    lines = rows.filter(pl.col("broker").is_not_null() & pl.col("time").is_not_null() & ~preamble)
    return lines.group_by(*keys, "broker", pl.col("run").fill_null(0)).agg(
        pl.col("time").min().alias("first"),
        pl.col("time").max().alias("last"),
        (pl.col("kind") == Kind.SHUTDOWN_COMPLETE.value).any().alias("ended"),
    )


def spans(found: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """How long each process is known to have run, and what came after it.

    Args:
        found: as ``processes`` gives it, of one cluster.
        sources: the cluster's files.

    Returns:
        Columns replica, run, ``_span_end``, ``_next``, ``_ended`` and ``_newest``: no later process is known.
    """
    logs = sources.filter(pl.col("format") == "broker-log")
    last = logs.group_by("broker").agg(pl.col("last_time").max().alias("_last"))
    close = sources.get_column("last_time").max()
    order = found.sort("broker", "run").join(last, on="broker", how="left", maintain_order="left")
    following = pl.col("first").shift(-1).over("broker")
    # The last process may have continued with lines that are not about replication.
    end = pl.when(following.is_null()).then(pl.max_horizontal("last", "_last")).otherwise(pl.col("last"))
    return order.select(
        pl.col("broker").alias("replica"),
        "run",
        end.alias("_span_end"),
        following.fill_null(pl.lit(close, dtype=pl.Datetime("us", "UTC"))).alias("_next"),
        pl.col("ended").alias("_ended"),
        (pl.col("run") == pl.col("run").max().over("broker")).alias("_newest"),
    )


def closed(states: pl.DataFrame, found: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Close states, and add the time between a process that stopped without a line and the next one.

    Args:
        states: result of ``changes``, of one partition or of several in sequence; may have been closed before.
        found: result of ``spans``.
        keys: columns that distinguish partitions, if there are several.
    """
    place = [*keys, "replica"]
    states = states.filter(pl.col("role").ne_missing(SILENT)).with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias("_at")
    )
    on_disk = pl.col("run").is_null()
    mine = states.filter(~on_disk).join(found, on=["replica", "run"], how="left", maintain_order="left")
    upcoming = pl.col("from").shift(-1).over(place)
    same_run = pl.col("run").shift(-1).over(place) == pl.col("run")
    until = (
        pl.when(same_run.fill_null(False)).then(upcoming)
        .when(pl.col("role") == STOPPED).then(pl.col("_next"))
        .otherwise(pl.max_horizontal("_span_end", "from"))
    )  # fmt: skip
    mine = mine.with_columns(until.alias("to"))
    # If a process stopped without a line, the state is unknown until the next one logs something.
    quiet = pl.col("_next") - pl.col("_span_end")
    unknown = ~pl.col("_ended") & pl.when(pl.col("_newest")).then(quiet > _QUIET).otherwise(quiet > pl.duration())
    gaps = mine.filter((pl.col("_at") == pl.col("_at").max().over(*place, "run")) & unknown)
    gaps = gaps.with_columns(
        pl.col("_span_end").alias("from"), pl.col("_next").alias("to"), pl.lit(SILENT).alias("role")
    )
    # Values, and positions of their lines in a table, are unknown then.
    kept = {*place, *_OF_GAPS, "_at"}
    blank = [name for name in states.columns if (name in TIMELINE or name.endswith("_at")) and name not in kept]
    gaps = gaps.with_columns(pl.lit(None, states.schema[name]).alias(name) for name in blank)
    parts = (mine, gaps, states.filter(on_disk))
    return pl.concat(part.select(states.columns) for part in parts).sort("_at", maintain_order=True).drop("_at")


_OF_GAPS = ("replica", "run", "from", "to", "role", "row")


def _states(rows: pl.DataFrame) -> pl.DataFrame:
    """Remove repeats: one row each time a value or the log changes."""
    blank = pl.col("role").is_in([DELETED, STOPPED]).fill_null(False)
    rows = rows.with_columns(
        pl.when(~blank).then(pl.col(name)).alias(name)
        for name in (*_VALUES[1:], "log_end_exact", "high_watermark_exact")
    )
    before = [
        pl.col(name).ne_missing(pl.col(name).shift(1).over("broker")) for name in (*_VALUES, "log_end_exact", "run")
    ]
    first = pl.int_range(pl.len()).over("broker") == 0
    event = pl.col("starts_run") | _is(Kind.SHUTDOWN_COMPLETE, *_EVENTS) | pl.col("_cuts")
    changed = rows.filter(pl.any_horizontal(first, event, *before))
    moved = ~pl.all_horizontal(pl.col(name).fill_null(True) for name in ("log_end_exact", "high_watermark_exact"))
    states = changed.with_columns(
        weighed_rows({Weakness.MAYBE_CHANGED: moved}).alias("confidence"),
        pl.col("kind").cast(pl.String).alias("event"),
        pl.col("_when").alias("from"),
        pl.col("broker").alias("replica"),
    )
    return _shaped(states)


def _shaped(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        pl.col(name).cast(dtype) if name in frame.columns else pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in TIMELINE.items()
    )


def _on_disk(history: History) -> pl.DataFrame:
    """Append the contents of the files."""
    found = []
    for broker, replica in sorted(history.replicas.items()):
        if not replica.on_disk and replica.checkpoint is None:
            continue
        checkpoint = replica.checkpoint
        found.append(
            {
                "replica": broker,
                "role": ON_DISK,
                "log_end_offset": replica.end if replica.on_disk else None,
                "high_watermark": checkpoint[0] if checkpoint is not None else None,
                "log_start_offset": replica.log_start if replica.on_disk else None,
                "high_watermark_row": checkpoint[1].row if checkpoint is not None else None,
                "confidence": weighed(()).value,
                "log_end_exact": True,
                "high_watermark_exact": True,
            }
        )
    return pl.DataFrame([{name: row.get(name) for name in TIMELINE} for row in found], schema=TIMELINE)
