"""The incarnation of its topic that a line is about: a topic may be deleted and created again under the same name."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import polars as pl

from forensics.case.speakers import OF_ITSELF
from forensics.replay.facts.log_numbers import LOG
from parsers.details import Transition
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import ROLES, Kind

_CLOCKS: Final = timedelta(seconds=10)
"""The clocks of brokers rarely differ by more."""

_EPOCH_KINDS: Final = (
    Kind.LEADER_AND_ISR,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.ELECTION,
    Kind.PARTITION_CREATED,
    Kind.METADATA_CACHED,
)
"""Kinds of line about the present topic's leader epochs."""

_RUN_UP: Final = (Kind.FETCHER_REMOVED.value, Kind.MESSAGE_FORMAT.value)
"""Kinds of line that a broker logs before it logs that a log is made: ReplicaManager.applyLocalLeadersDelta, 3.9, and
LogManager.getOrCreateLog, 2.8."""

_READ: Final = (
    LOG,
    "topic",
    "partition",
    "broker",
    "replica",
    "kind",
    "message",
    "detail",
    "time",
    "leader",
    "leader_epoch",
    "topic_id",
    "leo",
)
"""Columns of observations that tell incarnations apart."""

_ROLES: Final = (Kind.BECOME_LEADER.value, Kind.BECOME_FOLLOWER.value)


def incarnations(rows: pl.DataFrame) -> pl.DataFrame:
    """Number a topic's incarnations from the last (0) backwards.

    A topic that is deleted and created again has another topic id (KIP-516). If no id is printed, leader epoch 0 after
    a deletion shows another topic of the same name. A replica that was only moved away and back returns to a higher
    epoch. Without a line about a deletion, so does leader epoch 0 after a higher one. If a controller makes the
    partition once more, a new log in leader epoch 0 is enough. But in a trace, which states what the log holds, the log
    is also new or empty then: otherwise the topic's leader epochs were used again. A broker whose lines do not show
    when an incarnation began had no replica then, or has no later line: the other brokers' lines show it.

    Args:
        rows: observations by topic, partition, broker and row, with a number for each broker's log (``LOG``).
    """
    marking = _with_beginnings(rows.select(_READ).with_row_index("_row").filter(_marking()))
    none = pl.lit(0, dtype=pl.Int32)
    begun = marking.get_column("_begins").any()
    if not begun and not _several_ids(marking):
        return rows.with_columns(none.alias("incarnation"))
    # Marks are null in all other rows, and no incarnation begins there.
    marks = marking.select("_row", "_mark", "_id", "_begins")
    every = rows.select(_READ).with_row_index("_row").join(marks, on="_row", how="left", maintain_order="left")
    every = every.with_columns(pl.col("_begins").fill_null(False))
    every = _counted(every) if begun else _by_id(every.with_columns(none.alias("incarnation"), none.alias("_life")))
    return rows.with_columns(every.get_column("incarnation"))


def _marking() -> pl.Expr:
    """Filter for the rows that ``_with_beginnings`` reads: no other row has a mark, begins an incarnation, or decides
    whether one begins.
    """
    kinds = (*_EPOCH_KINDS, Kind.LOG_DELETED, Kind.PARTITION_REQUESTED, Kind.LOG_CREATED)
    marks = pl.col("kind").is_in([kind.value for kind in kinds]) | (pl.col("topic_id").str.len_chars() > 0)
    # With an empty log a trace begins an incarnation; rows up to the last one with records decide with which row.
    marks = marks | (_found_empty() & _traced()) | ((pl.col("leo") > 0) & _traced().any())
    return marks | (pl.col("leader") == -2) | (pl.col("detail") == Transition.DELETED.value)


def _with_beginnings(rows: pl.DataFrame) -> pl.DataFrame:
    """Mark the rows with which an incarnation begins (``_begins``), with what shows that.

    Columns:
        _mark: true if the row shows that a topic was deleted or created, false if it states a leader epoch.
        _id, _id_before: topic id of the row, and the last one before it.
        _begins: an incarnation begins.
        _made, _after_deletion: other marks.
    """
    names_epoch = _names_epoch()
    gone = (pl.col("kind") == Kind.LOG_DELETED.value) | (pl.col("leader") == -2) | _new()
    gone = gone | (pl.col("detail") == Transition.DELETED.value)
    rows = rows.with_columns(
        # the last of two events before this row
        pl.when(gone.fill_null(False)).then(True).when(names_epoch).then(False).otherwise(None).alias("_mark"),
        pl.when(pl.col("topic_id").str.len_chars() > 0).then(pl.col("topic_id")).otherwise(None).alias("_id"),
    )
    rows = rows.with_columns(
        _last_before(pl.col("_mark")).fill_null(False).alias("_after_deletion"),
        _last_before(pl.col("_id")).alias("_id_before"),
    )
    rows = _of_next_id(_made_for_next_id(rows))
    other_id = (pl.col("_id") != pl.col("_id_before")).fill_null(False)
    # If another line has begun that topic already, the role that follows does not begin a further one.
    again = names_epoch & (pl.col("leader_epoch") == 0) & pl.col("_after_deletion") & pl.col("_id").is_null()
    rows = rows.with_columns((other_id | again.fill_null(False) | pl.col("_made")).alias("_begins"))
    at = pl.int_range(pl.len(), dtype=pl.UInt32)
    rows = rows.with_columns(pl.col("_begins") | at.is_in(_made_at_epoch_0(rows).implode()))
    fell = at.is_in(_fell(rows).implode()) & pl.col("_id").is_null()
    rows = _with_empty_logs(rows.with_columns(fell.alias("_fell"), other_id.alias("_other_id")))
    return rows.with_columns(pl.col("_begins") | at.is_in(_taken_again(rows).implode())) if _several_ids(rows) else rows


def _fell(rows: pl.DataFrame) -> pl.Series:
    """Return the positions of roles in leader epoch 0 after one in a higher epoch, by the same message.

    A broker takes up a role only at a rising epoch (Partition.makeLeader), so falling epochs are of another topic.
    """
    taken = rows.select(LOG, "kind", "message", "leader_epoch", pl.col("_begins").cum_sum().alias("_begun"))
    roles = pl.col("kind").is_in(_ROLES)
    taken = taken.with_row_index("_at").filter(roles, pl.col("leader_epoch").is_not_null())
    if (
        taken.is_empty()
        or not taken.select(((pl.col("leader_epoch") == 0) & (pl.col(LOG) == pl.col(LOG).shift(1))).any()).item()
    ):
        return taken.get_column("_at").clear()
    before = pl.col("leader_epoch").shift(1).over([LOG, "_begun", "message"])
    return taken.filter(pl.col("leader_epoch") == 0, before > 0).get_column("_at")


def _made_at_epoch_0(rows: pl.DataFrame) -> pl.Series:
    """Return the positions of the first lines about a new log in leader epoch 0 that is of another topic.

    A cluster that is made again under the same id, with empty data directories, logs no deletion. Its topics are other
    ones if a broker had a higher epoch before, as epochs begin with 0 again
    (ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions, 2.8), or if a controller makes the partition. After a
    lost disk a log is new as well, but its partition continues in its epoch. The request for the role comes before the
    log.
    """
    made = (pl.col("kind") == Kind.LOG_CREATED.value) & ~_traced()
    epoch = pl.when(pl.col("kind").is_in([kind.value for kind in ROLES]) & OF_ITSELF).then("leader_epoch")
    lines = rows.select(LOG, "topic", "partition", "time", "_begins", epoch=epoch, made=made).with_row_index("_at")
    lines = lines.filter(pl.col("made") | pl.col("epoch").is_not_null() | pl.col("_begins"))
    if not lines.get_column("made").any():
        return lines.get_column("_at").clear()
    lines = _with_creations(lines, rows)
    higher = (pl.col("epoch") > 0).fill_null(False).cum_sum().over(LOG)
    lines = lines.with_columns(stretch=higher + pl.col("_made_before").cum_max().over(LOG).fill_null(0))
    begins = pl.col("made") | (pl.col("epoch") == 0).fill_null(False)
    stretches = lines.group_by(LOG, "stretch").agg(
        pl.col("made").any() & (pl.col("epoch") == 0).any() & ~pl.col("_begins").any(),
        pl.col("_at").filter(begins).min(),
    )
    known = lines.filter(pl.col("made") | pl.col("epoch").is_not_null())
    first = known.group_by(LOG).agg(pl.col("_at").min().alias("_first"))
    later = stretches.filter("made").join(first, on=LOG).filter(pl.col("_at") > pl.col("_first"))
    return later.get_column("_at").sort()


def _with_creations(lines: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add how often a controller had made the partition before each line with a time (``_made_before``).

    It logs each time in several lines. Clocks may differ, so the broker's own lines may seem earlier.
    """
    place = ["topic", "partition"]
    made = (
        rows.filter(_by_controller() & ~_traced(), pl.col("time").is_not_null())
        .select(*place, "time")
        .sort(*place, "time")
    )
    made = made.filter((pl.col("time").diff().over(place) > _CLOCKS).fill_null(True))
    made = made.with_columns(pl.int_range(1, pl.len() + 1).over(place).alias("_made_before")).sort("time")
    times = lines.select("_at", *place, pl.col("time") + _CLOCKS).drop_nulls("time").sort("time")
    found = times.join_asof(made, on="time", by=place, check_sortedness=False).select("_at", "_made_before")
    return lines.join(found, on="_at", how="left", maintain_order="left")


def _with_empty_logs(rows: pl.DataFrame) -> pl.DataFrame:
    """Take roles in leader epoch 0 after a higher one as beginnings; in a trace only those that begin an empty log.

    An incarnation that a trace states begins with the line by which the log is new or empty. That comes right before
    the first role.
    """
    rows = rows.with_columns(pl.col("_begins") | pl.col("_fell"))
    stated = pl.col("kind").is_in(_ROLES) & (pl.col("_fell") | pl.col("_other_id")) & _traced()
    roles = rows.with_row_index("_at").filter(stated).select("_at", "leo", "_fell").rows()
    begins, not_so = set[int](), set[int]()
    for at, leo, fell in roles:
        new = _new_log_before(rows, at) if not leo else None
        if new is not None:
            begins.add(new)
        if new is not None or (fell and leo != 0):
            not_so.add(at)
    if begins or not_so:
        at = pl.int_range(pl.len(), dtype=pl.UInt32)
        rows = rows.with_columns((pl.col("_begins") & ~at.is_in(list(not_so))) | at.is_in(list(begins)))
    return rows.drop("_fell", "_other_id")


def _new_log_before(rows: pl.DataFrame, at: int) -> int | None:
    """Return the position of the first line by which a log is new or empty, of those since it last was not.

    Args:
        rows: the rows.
        at: the position of a role.
    """
    found, row = None, at - 1
    log = rows.item(at, LOG)
    while row >= 0 and rows.item(row, LOG) == log:
        kind, leo = rows.item(row, "kind"), rows.item(row, "leo")
        if kind in _ROLES or (leo or 0) > 0:
            break
        if kind == Kind.LOG_CREATED or (kind == Kind.LOG_LOADED and leo == 0):
            found = row
        row -= 1
    return found


def _traced() -> pl.Expr:
    return (pl.col("message") == TRACE).fill_null(False)


def _found_empty() -> pl.Expr:
    return ((pl.col("kind") == Kind.LOG_LOADED.value) & (pl.col("leo") == 0)).fill_null(False)


def _taken_again(rows: pl.DataFrame) -> pl.Series:
    """Return the positions of roles in no higher epoch than the role before, under another leader.

    Only topics of which several ids are known count. Their roles need not name an id, and lines on the deletion may be
    missing. A process may take up its epoch again, but with the same leader.
    """
    several = pl.col("_id").drop_nulls().n_unique().over("topic", "partition") > 1
    roles = pl.col("kind").is_in(_ROLES)
    led = pl.when(pl.col("kind") == Kind.BECOME_LEADER.value).then("broker").otherwise("leader").alias("_led")
    taken = rows.select(
        LOG, "kind", "leader_epoch", led, pl.col("_begins").cum_sum().alias("_begun"), several.alias("_several")
    )
    taken = taken.with_row_index("_at").filter(roles, pl.col("_several"), pl.col("leader_epoch").is_not_null())
    epoch, leader = (pl.col(name) - pl.col(name).shift(1).over([LOG, "_begun"]) for name in ("leader_epoch", "_led"))
    return taken.filter(epoch <= 0, leader != 0).get_column("_at")


# Rows of a log are adjacent, so these look at the whole frame: a window would look at each of very many logs.


def _last_before(value: pl.Expr) -> pl.Expr:
    """Return the last value that is not null in the rows of the same log before each row."""
    first = pl.col(LOG).ne_missing(pl.col(LOG).shift(1))
    at = pl.when(value.is_not_null() | first).then(pl.int_range(pl.len())).forward_fill()
    return pl.when(~first).then(value.gather(at).shift(1))


def _next_from(value: pl.Expr) -> pl.Expr:
    """Return the first value that is not null in each row and the rows of the same log behind it."""
    last = pl.col(LOG).ne_missing(pl.col(LOG).shift(-1))
    return value.gather(pl.when(value.is_not_null() | last).then(pl.int_range(pl.len())).backward_fill())


def _next_after(value: pl.Expr) -> pl.Expr:
    """Return the first value that is not null in the rows of the same log behind each row."""
    last = pl.col(LOG).ne_missing(pl.col(LOG).shift(-1))
    return pl.when(~last).then(_next_from(value).shift(-1))


def _names_epoch() -> pl.Expr:
    return pl.col("kind").is_in([kind.value for kind in _EPOCH_KINDS]) & pl.col("leader_epoch").is_not_null()


def _by_controller() -> pl.Expr:
    """Return whether a controller with ZooKeeper states that it makes a partition.

    It logs that before it elects a leader (NonExistentPartition to NewPartition), in several files.
    """
    return (pl.col("kind") == Kind.PARTITION_CREATED.value) & pl.col("leader_epoch").is_null()


def _new() -> pl.Expr:
    """Return whether a row shows that a partition was created."""
    # Lines of the same moment in several files may be in any order.
    before = _last_before(pl.when(_by_controller()).then("time"))
    new = _by_controller() & ~(pl.col("time") - before <= _CLOCKS).fill_null(False)
    # So does a broker that takes the request for a new topic, if it is not refused.
    return new | ((pl.col("kind") == Kind.PARTITION_REQUESTED.value) & _is_carried_out())


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    """Number the incarnations of rows of which some begin one.

    Lines between the last line about a deletion and the first epoch of the next incarnation are about the next one. A
    broker removes a topic from its metadata first, and still logs what becomes of its log. A controller takes a deleted
    topic's replicas offline one by one, each in a further epoch of the old one. A broker logs some of what it does for
    the new log before it logs that it made it (``_RUN_UP``).
    """
    known = _names_epoch() | pl.col("_id").is_not_null() | pl.col("_begins")
    known = pl.when(known).then(pl.col("_begins")).otherwise(None)
    rows = rows.with_columns(_next_from(known).fill_null(False).alias("_next_begins"))
    further = (pl.col("leader_epoch") > 0).fill_null(False)
    mark = pl.when(pl.col("_begins")).then(False).otherwise("_mark")  # the next one has begun without a role
    waits = _last_before(mark).fill_null(False)
    deletions = pl.when(pl.col("_begins") | _new()).then(False).otherwise("_mark")
    remains = _next_from(deletions).fill_null(False)
    between = (waits & pl.col("_mark").is_null() & ~further & ~remains) | _new() | _run_up()
    early = between & pl.col("_next_begins") & ~pl.col("_begins")
    life = pl.col("_begins").cast(pl.Int32).cum_sum().over(LOG) + early.cast(pl.Int32)
    rows = rows.with_columns(life.alias("_life"))
    rows = rows.with_columns((pl.col("_life").max().over(LOG) - pl.col("_life")).alias("incarnation"))
    rows = _with_those_of_other_logs(rows)
    if rows.select(_traced().any()).item():
        rows = rows.with_columns(pl.col("incarnation") + _missed_the_last())
    return _by_id(rows)


def _run_up() -> pl.Expr:
    """Return whether a row is right before the first of an incarnation and about it, as no other row is between."""
    first = pl.when(pl.col("_begins") | ~pl.col("kind").is_in(_RUN_UP)).then("_begins")
    begun = pl.when(pl.col("_begins")).then("time")
    near = pl.col("time") >= _next_from(begun) - _CLOCKS
    return (near & _next_from(first)).fill_null(False)


def _with_those_of_other_logs(rows: pl.DataFrame) -> pl.DataFrame:
    """Count the incarnations too whose beginning a broker's own lines do not show, as it had no replica or was gone.

    The log with the most incarnations shows when they began. Files stay with the last incarnation: they are from the
    end of the evidence.
    """
    columns = (LOG, "topic", "partition", "time", "leader_epoch", "_id")
    # The first incarnation in a log may have begun at any time before, by another clock.
    known = pl.when(_names_epoch() | pl.col("_id").is_not_null()).then(True)
    later = pl.col("_begins") & _last_before(known).fill_null(False)
    timed = rows.select(*columns, later.alias("_begins"), (pl.col("time").is_not_null() & ~_traced()).alias("_in_log"))
    timed = timed.with_row_index("_at").filter("_in_log")
    unseen = _unseen_beginnings(timed)
    if unseen.is_empty():
        return rows
    early = pl.col("time") >= pl.col("_begun") - _CLOCKS
    of_old = (pl.col("leader_epoch") > 0).fill_null(False) & (pl.col("time") < pl.col("_begun"))
    mine = timed.select(LOG, "_at", "time", "leader_epoch").join(unseen, on=LOG)
    found = mine.filter(early & ~of_old).group_by(LOG, "_begun").agg(pl.col("_at").min().alias("_split"))
    mine = mine.join(found, on=[LOG, "_begun"], how="left").filter((pl.col("_at") < pl.col("_split")).fill_null(True))
    after = mine.group_by("_at").agg(pl.len().cast(pl.Int32).alias("_later"))
    rows = rows.with_row_index("_at").join(after, on="_at", how="left", maintain_order="left").drop("_at")
    more = pl.col("_later").fill_null(0)
    return rows.with_columns(pl.col("incarnation") + more, pl.col("_life") - more).drop("_later")


def _unseen_beginnings(timed: pl.DataFrame) -> pl.DataFrame:
    """Return when incarnations began (``_begun``) of which a log with earlier lines shows no beginning, by ``LOG``.

    Lines that name a topic id are assigned by that.
    """
    place = ["topic", "partition"]
    logs = timed.group_by(LOG, *place).agg(
        pl.col("time").min().alias("_first"),
        pl.col("_begins").sum().alias("_count"),
        pl.col("_id").is_null().all().alias("_nameless"),
    )
    fewer = pl.col("_count") < pl.col("_most")  # else each has its beginnings, perhaps by another clock
    fewest = logs.with_columns(pl.col("_count").max().over(place).alias("_most")).filter("_nameless", fewer)
    if fewest.is_empty():
        return fewest.select(LOG, pl.col("_first").alias("_begun"))
    most = logs.sort(pl.col("_count"), LOG, descending=[True, False]).unique(place, keep="first")
    beginnings = timed.filter("_begins").select(LOG, *place, pl.col("time").alias("_begun"))
    known = beginnings.join(most.select(LOG), on=LOG, how="semi").drop(LOG).sort(*place, "_begun")
    known = known.filter((pl.col("_begun").diff().over(place) > _CLOCKS).fill_null(True))
    known = known.with_columns(pl.col("_begun").shift(-1).over(place).alias("_next"))
    missing = fewest.join(known, on=place).filter(pl.col("_first") < pl.col("_begun") - _CLOCKS)
    seen = missing.join(beginnings.select(LOG, pl.col("_begun").alias("_own")), on=LOG).filter(
        pl.col("_own") >= pl.col("_begun") - _CLOCKS, (pl.col("_own") < pl.col("_next") - _CLOCKS).fill_null(True)
    )
    return missing.join(seen, on=[LOG, "_begun"], how="anti").select(LOG, "_begun")


def _missed_the_last() -> pl.Expr:
    """Return how many of the last incarnations the replica of each row has no line of, by a trace without topic ids.

    Its lines begin before the first new incarnation of any replica, so they are about the topic before.
    """
    place = ["topic", "partition"]
    begun = pl.col("time").filter(pl.col("_begins") & _traced()).min().over(place)
    before = pl.col("time").min().over(LOG) < begun
    replica = _traced().all().over(LOG) & pl.col("kind").is_in(_ROLES).any().over(LOG)
    nameless = pl.col("_id").is_null().all().over(place)
    fewer = pl.col("_life").filter(_traced()).max().over(place) - pl.col("_life").max().over(LOG)
    return pl.when((before & replica & nameless).fill_null(False)).then(fewer).otherwise(0)


def _is_carried_out() -> pl.Expr:
    """Return whether a broker made its log for a new topic it had asked for, not for a role it had been given before.

    A topic may exist already: of two brokers that create ``__consumer_offsets`` at once, ZooKeeper refuses one.
    That broker has printed "Topic creation" before (AdminZkClient.writeTopicPartitionAssignment, 2.0).
    """
    kind = pl.col("kind")
    role = kind.is_in([Kind.BECOME_LEADER.value, Kind.BECOME_FOLLOWER.value])
    asked = kind == Kind.PARTITION_REQUESTED.value
    made = pl.when(kind == Kind.LOG_CREATED.value).then(True).when(role | asked).then(False).otherwise(None)
    given = pl.when(kind == Kind.LEADER_AND_ISR.value).then(True).when(role).then(False).otherwise(None)
    made_next = _next_after(made).fill_null(False)
    given_last = _last_before(given).fill_null(False)
    return made_next & ~given_last


def _of_next_id(rows: pl.DataFrame) -> pl.DataFrame:
    """Assign roles without a topic id between two ids to one of them, if lines about the change are missing.

    After a deletion they are of the later topic, otherwise of the one whose id is logged closer in time. But epochs
    only rise: a role in a higher epoch than that in which the later topic begins on this broker is of the earlier one.
    """
    roles = pl.col("kind").is_in(_ROLES)
    later = _next_from(pl.col("_id"))
    between = roles & pl.col("_id").is_null() & (later != pl.col("_id_before")).fill_null(False)
    if not rows.select(between.any()).item():
        return rows
    since = pl.col("_id").is_not_null().cast(pl.Int32).cum_sum()
    rows = rows.with_columns(pl.when(roles).then("leader_epoch").alias("_epoch"), since.alias("_since"))
    begun = pl.col("_epoch").drop_nulls().first().over([LOG, "_since"])
    begins = pl.when(pl.col("_id").is_not_null()).then(begun).backward_fill().over(LOG)
    higher = (pl.col("leader_epoch") > begins).fill_null(False)
    at = pl.when(pl.col("_id").is_not_null()).then("time")
    before, after = at.forward_fill().over(LOG), at.backward_fill().over(LOG)
    nearer = (after - pl.col("time") < pl.col("time") - before).fill_null(False)
    of_later = between & ((nearer & ~higher) | pl.col("_after_deletion"))
    rows = rows.with_columns(pl.when(of_later).then(later).otherwise("_id").alias("_id")).drop("_epoch", "_since")
    return rows.with_columns(_last_before(pl.col("_id")).alias("_id_before"))


def _made_for_next_id(rows: pl.DataFrame) -> pl.DataFrame:
    """Assign new logs without a topic id to the next id, if the lines of the partition name another id before.

    A cluster that is made again under the same cluster id logs no deletion: its data directories were emptied. A leader
    logs no topic id, so the lines of its followers count, whose clocks may differ by a few seconds. ``_made`` marks
    these logs.
    """
    place = ["topic", "partition"]
    made = (pl.col("kind") == Kind.LOG_CREATED.value) & pl.col("_id").is_null() & pl.col("time").is_not_null()
    if not _several_ids(rows) or not rows.select(made.any()).item():
        return rows.with_columns(pl.lit(False).alias("_made"))
    rows = rows.with_row_index("_at")
    # A removed replica that a broker finds later is of a topic before.
    living = pl.col("kind") != Kind.LOG_DELETED.value
    ids = rows.filter(pl.col("_id").is_not_null(), pl.col("time").is_not_null(), living)
    ids = ids.select(*place, pl.col("time").alias("_when"), pl.col("_id").alias("_found")).sort("_when")
    logs = rows.filter(made).select("_at", *place, (pl.col("time") - _CLOCKS).alias("_when")).sort("_when")
    sides = [
        logs.join_asof(ids, on="_when", by=place, strategy=side, check_sortedness=False).select("_at", "_found")
        for side in ("backward", "forward")
    ]
    begins = pl.col("_found_next").is_not_null() & pl.col("_id_before").is_null()  # else another id begins it
    changed = sides[0].join(sides[1], on="_at", suffix="_next").filter(pl.col("_found") != pl.col("_found_next"))
    return (
        rows.join(changed.select("_at", "_found_next"), on="_at", how="left", maintain_order="left")
        .with_columns(pl.coalesce("_id", "_found_next").alias("_id"), begins.alias("_made"))
        .drop("_at", "_found_next")
        .with_columns(_last_before(pl.col("_id")).alias("_id_before"))
    )


def _several_ids(rows: pl.DataFrame) -> bool:
    """Return whether the lines of a partition name several topic ids, though no broker names two."""
    ids = rows.filter(pl.col("_id").is_not_null()).group_by("topic", "partition").agg(pl.col("_id").n_unique())
    return bool((ids.get_column("_id") > 1).any())


def _by_id(rows: pl.DataFrame) -> pl.DataFrame:
    """Correct incarnation numbers by topic id, because brokers that missed an incarnation count fewer of them.

    The id in a directory is that of the present incarnation. Other incarnations are ordered by their first line, and
    directories without lines by how many brokers have them: one that was down has the directory of a deleted topic.
    """
    place = ["topic", "partition"]
    known = rows.filter(pl.col("_id").is_not_null())
    if known.is_empty():
        return rows
    lives = (
        known.group_by(*place, "_id")
        .agg(
            (pl.col("kind") == Kind.TOPIC_ID.value).filter(pl.col("time").is_null()).any().alias("_on_disk"),
            pl.col("time").min().alias("_first"),
            pl.col("broker").n_unique().alias("_brokers"),
        )
        .sort(
            *place,
            "_on_disk",
            "_first",
            "_brokers",
            "_id",
            descending=[False, False, True, True, True, False],
            nulls_last=True,
        )
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int32).over(place).alias("_of_id"))
        .select(*place, "_id", "_of_id")
    )
    span = [LOG, "_life"]
    rows = rows.with_columns(pl.col("_id").forward_fill().backward_fill().over(span).alias("_life_id"))
    rows = rows.join(lives, left_on=[*place, "_life_id"], right_on=[*place, "_id"], how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("_of_id", "incarnation").alias("incarnation")).drop("_of_id", "_life_id")


def leaders_with_id(rows: pl.DataFrame) -> dict[tuple[str, int, int], list[tuple[int, int, str]]]:
    """Return the leaders whose own role lines name the topic id: by incarnation (leader epoch, broker, topic id)."""
    named = rows.filter(
        pl.col("kind") == Kind.BECOME_LEADER.value,
        pl.col("topic_id").str.len_chars() > 0,
        pl.col("leader_epoch").is_not_null(),
        OF_ITSELF,
    )
    found: dict[tuple[str, int, int], list[tuple[int, int, str]]] = {}
    for topic, partition, incarnation, *leader in named.select(
        "topic", "partition", "incarnation", "leader_epoch", "broker", "topic_id"
    ).iter_rows():
        epoch, broker, topic_id = leader
        found.setdefault((topic, partition, incarnation), []).append((epoch, broker, topic_id))
    return found


def topic_ids(rows: pl.DataFrame) -> dict[tuple[str, int, int], str]:
    """Return the topic id of each incarnation (topic, partition, incarnation) of which a line prints one."""
    known = rows.filter(pl.col("topic_id").is_not_null() & (pl.col("topic_id") != "")).select(
        "topic", "partition", "incarnation", "topic_id"
    )
    return {(t, p, i): name for t, p, i, name in known.unique(maintain_order=True).iter_rows()}
