"""The state of each replica over time, for readers and for charts.

``role_spans`` keeps what a rule needs; this module keeps every change. It uses expressions over frames: rows of one
replica in the order of the case, with each value carried forward within the process of its broker. Lines have the same
effect in both: a role line gives the log end offset and the high watermark before reconciliation, a truncation sets the
log end offset, a load gives what a new process found.
"""

from __future__ import annotations

import polars as pl

from forensics.case import Case
from forensics.case.speakers import OF_ITSELF
from forensics.replay import protocol
from forensics.replay.confidence import Weakness, weighed, weighed_rows
from forensics.replay.facts.directory import newest_magic
from forensics.replay.facts.events import PROGRESS
from forensics.replay.facts.incarnations import incarnations
from forensics.replay.facts.log_numbers import LOG, numbered
from forensics.replay.facts.partition_lines import OWN
from forensics.replay.history import History, Role
from forensics.replay.protocol import Answer
from parsers.details import AMBIGUOUS
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

_EVENTS = (Kind.TRUNCATE, Kind.TRUNCATE_FULL, Kind.LOG_LOADED, Kind.CORRUPTION_CUT, Kind.LOG_DELETED)
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
    brokers = sorted(history.replicas)
    rows = _rows(case, history, brokers)
    rows = _ends(_roles(rows), history)
    rows = _high_watermarks(rows, history, case)
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


_PLACE = ("topic", "partition", "topic_id", "replica", "line", "message")
_READ = (
    *("row", "broker", "run", "starts_run", "kind", "time", "leader", "leader_epoch", "offset", "hw", "leo"),
    *("log_start", "isr", "detail"),
)


def _is(*kinds: Kind) -> pl.Expr:
    return pl.col("kind").is_in([kind.value for kind in kinds])


def _rows(case: Case, history: History, brokers: list[int]) -> pl.DataFrame:
    """Return each broker's lines about its own replica, and the starts and ends of its processes, in order."""
    observations = case.observations.select(*_PLACE, *_READ)
    about = observations.filter(
        (pl.col("topic") == history.topic)
        & (pl.col("partition") == history.partition)
        & pl.col("broker").is_in(brokers)
    )
    # One partition's rows are those of one log after the other, once they are in the order of brokers.
    about = numbered(about.sort("broker", maintain_order=True), ("topic", "partition", "broker"))
    about = incarnations(about).drop(LOG)
    about = about.filter(
        (pl.col("incarnation") == history.incarnation)
        & _is(
            *OWN,
            *(kind for kind in PROGRESS if kind is not Kind.PRODUCED),
            Kind.LOG_START,
            Kind.HW_REGRESSED,
            Kind.HW_MISSING,
        )
        & OF_ITSELF
        & pl.col("line").is_not_null()
    ).drop("incarnation")
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
    magic = newest_magic(history.facts.disks)
    known = {b: protocol.of(case.brokers[b], magic) for b in brokers if b in case.brokers}
    at_leo = [b for b, one in known.items() if one.starts_fetching_at_leo is Answer.YES]
    at_hw = [b for b, one in known.items() if one.starts_fetching_at_hw is Answer.YES]
    rows = pl.concat([about, process]).sort("row")
    return rows.select(_READ).with_columns(
        pl.col("time").forward_fill().cum_max().over("broker").alias("_when"),
        pl.col("broker").is_in(at_leo).alias("_starts_at_leo"),
        pl.col("broker").is_in(at_hw).alias("_starts_at_hw"),
        pl.col("run").fill_null(0),
    )


# -- roles ------------------------------------------------------------------------------------------------------------


def _roles(rows: pl.DataFrame) -> pl.DataFrame:
    """Role, leader and leader epoch; orders of an older epoch were refused and change nothing."""
    names_role = _is(*ROLES) & pl.col("leader_epoch").is_not_null()
    # Up to 2.5 a new, empty log is logged as a load, after the role that requires it.
    created = _is(Kind.LOG_LOADED) & (pl.col("leo") == 0) & (names_role.cum_sum().over("broker", "run") > 0)
    rest = (_is(Kind.LOG_LOADED, Kind.LOG_DELETED) & ~created.fill_null(False)) | pl.col("starts_run")
    rows = rows.with_columns(
        names_role.alias("_names_role"),
        pl.when(rest).then(True).when(names_role).then(False).otherwise(None).alias("_mark"),
        _count(rest).alias("_rest"),
    )
    known = pl.when(pl.col("_names_role")).then(pl.col("leader_epoch"))
    rows = rows.with_columns(
        known.cum_max().forward_fill().shift(1).over("broker", "_rest").alias("_epoch_before"),
        pl.col("_mark").forward_fill().shift(1).over("broker").fill_null(True).alias("_at_rest"),
    )
    taken = pl.col("_names_role") & (pl.col("leader_epoch") >= pl.col("_epoch_before").fill_null(-1))
    rows = rows.with_columns(taken.alias("_taken"))
    leads = _is(Kind.BECOME_LEADER) | (pl.col("leader") == pl.col("broker"))
    role = (
        pl.when(pl.col("starts_run")).then(pl.lit(LOADING))
        .when(_is(Kind.SHUTDOWN_COMPLETE)).then(pl.lit(STOPPED))
        .when(_is(Kind.LOG_DELETED)).then(pl.lit(DELETED))
        .when(~pl.col("_taken")).then(None)
        .when(leads.fill_null(False)).then(pl.lit(Role.LEADER.value))
        .when(pl.col("leader") < 0).then(pl.lit(Role.OFFLINE.value))
        .otherwise(pl.lit(Role.FOLLOWER.value))
    )  # fmt: skip
    run = ["broker", "run"]
    rows = rows.with_columns(role.alias("_role"))
    begins = pl.col("_taken") & (pl.col("_at_rest") | (pl.col("leader_epoch") > pl.col("_epoch_before").fill_null(-1)))
    return rows.with_columns(
        begins.alias("_begins"),
        pl.col("_role").forward_fill().over(run).alias("role"),
        _carry(pl.when(pl.col("_role").is_not_null()).then(pl.col("row"))).alias("role_row"),
        _carry(
            pl.when(pl.col("_role") == Role.LEADER.value)
            .then(pl.col("broker"))
            .when(pl.col("_taken"))
            .then(pl.col("leader"))
        ).alias("_leader"),
        _carry(pl.when(pl.col("_taken")).then(pl.col("leader_epoch"))).alias("_epoch"),
    )


def _carry(value: pl.Expr) -> pl.Expr:
    """Carry a value forward from the row that states it, until the process ends."""
    return value.forward_fill().over("broker", "run")


_NONE = -(2**62)


def _stretches(rows: pl.DataFrame, fresh: pl.Expr, value: str, lower: str) -> pl.DataFrame:
    """Divide each broker's rows into stretches and compute the value in each row.

    The value is the one with which the stretch began, or the lowest to which ``lower`` has reduced it since.

    Args:
        rows: in order.
        fresh: true where a stretch begins.
        value: column with the value it begins with; null is none.
        lower: column with values that may only lower it.

    Returns:
        The rows with ``_fresh``, ``_base`` (the value at the beginning) and ``_value``.
    """
    rows = rows.with_columns(fresh.fill_null(False).alias("_fresh"))
    rows = rows.with_columns(_count(pl.col("_fresh")).alias("_stretch"))
    # Few rows lower anything: only their stretches are groups.
    lowering = rows.filter(pl.col(lower).is_not_null()).select("row", "broker", "_stretch", pl.col(lower).alias("_low"))
    lowering = lowering.with_columns(pl.col("_low").cum_min().over("broker", "_stretch")).select("row", "_low")
    rows = rows.join(lowering, on="row", how="left", maintain_order="left")

    def held(name: str) -> pl.Expr:
        begun = pl.when(pl.col("_fresh")).then(pl.col(name).fill_null(_NONE))
        return begun if name == value else pl.coalesce(pl.col(name), begun)

    rows = rows.with_columns(
        held(value).forward_fill().over("broker").alias("_base"),
        held("_low").forward_fill().over("broker").alias("_low"),
    )
    known = [pl.when(pl.col(name) != _NONE).then(pl.col(name)).alias(name) for name in ("_base", "_low")]
    return (
        rows.with_columns(known)
        .with_columns(pl.min_horizontal("_base", "_low").alias("_value"))
        .drop("_stretch", "_low")
    )


def _count(mark: pl.Expr) -> pl.Expr:
    """How many rows of the broker up to this one are marked: numbers the stretches that marks begin."""
    return mark.fill_null(False).cast(pl.UInt32).cum_sum().over("broker")


# -- log end offset ---------------------------------------------------------------------------------------------------


def _ends(rows: pl.DataFrame, history: History) -> pl.DataFrame:
    """The log end offset: what lines state, shortened by truncations, and whether it may have grown unseen."""
    end = (
        pl.when(_is(Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)).then(pl.when(pl.col("_taken")).then(pl.col("leo")))
        .when(_is(Kind.CORRUPTION_CUT, Kind.TRUNCATE_FULL)).then(pl.col("offset"))
        # A line logged after the reset gives the offset of before.
        .when(_is(Kind.FETCH_RESET)).then(pl.when(pl.any_horizontal(pl.col("leo", "log_start").is_not_null()))
                                          .then(pl.col("offset")))
        .when(_is(Kind.LOG_CREATED)).then(pl.lit(0, dtype=pl.Int64))
        .when(_is(Kind.FETCHER_ADDED) & pl.col("_starts_at_leo")).then(pl.col("offset"))
        .when(_is(Kind.LEADER_AND_ISR, Kind.TRUNCATE, Kind.LOG_DELETED, Kind.ROLE_UNCHANGED)).then(None)
        .otherwise(pl.col("leo"))
    )  # fmt: skip
    run = ["broker", "run"]
    rows = rows.with_columns(
        pl.when(end >= 0).then(end).alias("_end_set"),
        pl.when(_is(Kind.TRUNCATE)).then(pl.col("offset")).alias("_cut"),
        _is(Kind.APPEND).any().over(run).alias("_sampled"),
    )
    # A new role span in a running process: its log end offset is not printed.
    lost = pl.col("_begins") & ~pl.col("_at_rest") & ~pl.col("_sampled") & pl.col("_end_set").is_null()
    fresh = pl.col("_end_set").is_not_null() | lost | pl.col("starts_run")
    rows = _stretches(rows, fresh, "_end_set", "_cut").rename({"_value": "_end"})
    # Before 0.11 the line is logged even if nothing is removed.
    before = pl.when(~pl.col("_fresh")).then(pl.col("_end").shift(1).over("broker"))
    truncations = pl.col("_cut").is_not_null() & (before.is_null() | (pl.col("_cut") < before))
    states = pl.col("_end_set").is_not_null() | truncations.fill_null(False)
    leads = (pl.col("role") == Role.LEADER.value).fill_null(False)
    grows = _is(Kind.FETCHER_ADDED, *_AT_LEAST) | lost
    exact = pl.when(grows).then(False).when(states).then(True)
    # A follower's fetcher reconciles first and then appends what it fetches. Up to 2.0.0 the fetcher is not added again
    # if only the epoch of its leader has changed. Then a truncation, even without effect, is the first sign of it,
    # unless its fetches are printed.
    prints_fetches = _is(Kind.FOLLOWER_FETCHED).any().over(run)
    reconciles = _is(Kind.TRUNCATE, Kind.TRUNCATE_NOOP) & pl.lit(not history.truncates_to_hw) & ~prints_fetches
    fetches = (
        pl.when(_is(Kind.FETCHER_ADDED) | reconciles)
        .then(True)
        .when(pl.col("_begins") | pl.col("starts_run"))
        .then(False)
    )
    return rows.with_columns(
        truncations.fill_null(False).alias("_cuts"),
        _carry(pl.col("_end")).alias("log_end_offset"),
        _carry(pl.when(states).then(pl.col("row"))).alias("log_end_offset_row"),
        (pl.col("_sampled") | (_carry(exact) & ~_carry(fetches).fill_null(False) & ~leads)).alias("log_end_exact"),
    )


_QUIET = pl.duration(seconds=1)
"""If a last process logs nothing for less than this before the evidence ends, it just had nothing to log."""
_AT_LEAST = (
    Kind.LEADER_HW,
    Kind.FOLLOWER_FETCHED,
    Kind.ROLLED,
    Kind.PRODUCER_SNAPSHOT,
    Kind.ISR_SHRINK,
    Kind.ISR_EXPAND,
)


# -- high watermark and the rest --------------------------------------------------------------------------------------


def _high_watermarks(rows: pl.DataFrame, history: History, case: Case) -> pl.DataFrame:
    """Compute the high watermark as printed.

    A truncation below it lowers it, and so may a leader with a lower one: a follower adopts the value that its leader
    sends with the records.
    """
    ambiguous = (pl.col("detail") == AMBIGUOUS).fill_null(False) & (pl.col("hw") == 0)
    own_target = _is(Kind.TRUNCATE) & (pl.col("role") != Role.LEADER.value) & pl.lit(history.truncates_to_hw)
    stated = (
        pl.when(_is(Kind.HW_LOADED) & ambiguous).then(None)
        .when(_is(*ROLES) & ~pl.col("_taken")).then(None)
        .when(_is(Kind.FETCHER_ADDED) & pl.col("_starts_at_hw")).then(pl.col("offset"))
        .when(_is(Kind.HW_MISSING)).then(pl.lit(0, dtype=pl.Int64))
        # Before KIP-101 a follower truncates to its own high watermark, so the target shows it.
        .when(own_target & pl.col("_first_cut")).then(pl.col("offset"))
        .otherwise(pl.col("hw"))
    )  # fmt: skip
    run = ["broker", "run"]
    rows = rows.with_columns(_count(pl.col("_begins")).alias("_tenure"))
    rows = rows.with_columns(
        (pl.col("_cut").is_not_null() & (pl.col("_cut").is_not_null().cum_sum().over("broker", "_tenure") == 1)).alias(
            "_first_cut"
        )
    )
    sampled = _is(Kind.HW, Kind.LEADER_HW).any().over(run)
    rows = rows.join(_first_high_watermarks(history), on=["_leader", "_epoch"], how="left", maintain_order="left")
    follows = _is(Kind.FETCHER_ADDED) & (pl.col("role") == Role.FOLLOWER.value).fill_null(False) & ~sampled
    open_ended = follows & pl.col("_leaders").is_null()
    rows = rows.drop("_fresh", "_base").with_columns(
        pl.when(~open_ended).then(stated).alias("_hw_set"),
        pl.when(pl.col("_cuts")).then(pl.col("_cut")).when(follows).then(pl.col("_leaders")).alias("_took"),
        open_ended.alias("_open_ended"),
    )
    fresh = pl.col("_hw_set").is_not_null() | pl.col("starts_run") | pl.col("_open_ended")
    rows = _stretches(rows, fresh, "_hw_set", "_took")
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
        {"_leader": broker, "_epoch": role_span.epoch, "_leaders": role_span.start_hw.value}
        for broker, spans in history.role_spans.items()
        for role_span in spans
        if role_span.role is Role.LEADER and role_span.start_hw is not None
    ]
    schema = {"_leader": pl.Int32, "_epoch": pl.Int32, "_leaders": pl.Int64}
    return pl.DataFrame(found, schema=schema).group_by("_leader", "_epoch").agg(pl.col("_leaders").min())


def _others(rows: pl.DataFrame) -> pl.DataFrame:
    """Log start offset and ISR."""
    start = (
        pl.when(_is(Kind.TRUNCATE_FULL)).then(pl.col("offset"))
        .when(_is(Kind.LOG_CREATED)).then(pl.lit(0, dtype=pl.Int64))
        .otherwise(pl.col("log_start"))
    )  # fmt: skip
    isr = pl.when(~_is(*ROLES) | pl.col("_taken")).then(pl.col("isr"))
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
        pl.col("_leader").alias("leader"),
        pl.col("_epoch").alias("leader_epoch"),
        pl.col("_when").alias("time"),
    ).with_columns(
        pl.when(~blank).then(pl.col(name)).alias(name)
        for name in (*_VALUES[1:], "log_end_exact", "high_watermark_exact")
    )
    before = [
        pl.col(name).ne_missing(pl.col(name).shift(1).over("broker")) for name in (*_VALUES, "log_end_exact", "run")
    ]
    first = pl.int_range(pl.len()).over("broker") == 0
    event = pl.col("starts_run") | _is(Kind.SHUTDOWN_COMPLETE, *_EVENTS[1:]) | pl.col("_cuts")
    changed = rows.filter(pl.any_horizontal(first, event, *before))
    moved = ~pl.all_horizontal(pl.col(name).fill_null(True) for name in ("log_end_exact", "high_watermark_exact"))
    states = changed.with_columns(
        weighed_rows({Weakness.MAYBE_CHANGED: moved}).alias("confidence"),
        pl.col("kind").cast(pl.String).alias("event"),
        pl.col("time").alias("from"),
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
