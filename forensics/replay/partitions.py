"""From the case's tables to one history for each partition: selection, order and incarnations, then replay.

All work before replay is expressions over frames. A logger at TRACE may print a million lines about progress (high
watermark and log end offset). These are thinned first: between two events that change a role or a log, only the last
and the greatest values can matter.
"""

from __future__ import annotations

import functools
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import timedelta
from operator import itemgetter
from typing import Final

import polars as pl

from forensics.case import Case
from forensics.case.brokers import Broker
from forensics.case.partial import texts
from forensics.case.speakers import OF_ITSELF
from forensics.replay import protocol
from forensics.replay.bare import Bare
from forensics.replay.coverage import LinesAtHand, Printed
from forensics.replay.facts.compaction import with_skipped
from forensics.replay.facts.deletions import deletions, log_starts, stated_starts
from forensics.replay.facts.dir_failures import failures, with_failures
from forensics.replay.facts.dir_failures import told as of_directory
from forensics.replay.facts.directory import Disk, Ref, newest_magic
from forensics.replay.facts.disks import disks
from forensics.replay.facts.events import COLUMNS, PROGRESS, Event, as_values
from forensics.replay.facts.forks import forks
from forensics.replay.facts.log_dir_moves import carried, homes, without_copies
from forensics.replay.facts.printed_hws import printed_hws
from forensics.replay.facts.refusals import complaints
from forensics.replay.history import BrokerFacts, History
from forensics.replay.leadership.epoch_rollback import stated_twice
from forensics.replay.leadership.isr_removal_epochs import removals
from forensics.replay.omissions.left_out import left_out, may_be_theirs
from forensics.replay.omissions.own_lines import JOURNAL, JUMPED
from forensics.replay.played import Played, play, without_records
from forensics.replay.reconstruct import reconstruct
from forensics.replay.signs.last_stable import NOT_STATED, last_stable
from forensics.replay.signs.stated import NOTHING, stated
from forensics.replay.signs.went_back import went_back
from parsers.details import DONE, ROLE_STEPS, Transition, against_settings, log_properties
from parsers.encodings.checkpoint_file import INT32_MAX, integer
from parsers.formats.metadata_log import ALLOWS
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

MIN_INSYNC = "min.insync.replicas"

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


def histories(case: Case, *, internal: bool = False) -> list[History]:
    """Replay every partition of a case.

    Args:
        case: the evidence.
        internal: include the metadata quorum's own log, which has other rules (KIP-595).

    Returns:
        One history for each incarnation of each partition, ordered by cluster, topic, partition and incarnation.
    """
    of_topics = case.observations.filter(pl.col("topic").is_not_null())
    rows = of_topics.filter(pl.col("broker").is_not_null())
    if not internal:
        rows = rows.filter(pl.col("topic") != "__cluster_metadata")
    rows = incarnations(without_copies(rows.sort("topic", "partition", "broker", "row")))
    twice = stated_twice(rows)
    disk, segments = disks(case)
    forked, compared = forks(segments, case.batches, disk)
    # A line about what a controller sent to a broker does not show what the broker did.
    own = _thin(rows.filter(pl.col("kind").is_in([k.value for k in (*OWN, *PROGRESS, *JOURNAL)]) & OF_ITSELF))
    sent = (pl.col("kind") == Kind.LEADER_AND_ISR.value) & ~OF_ITSELF
    cluster = rows.filter(pl.col("kind").is_in([k.value for k in CLUSTER]) | sent)
    cluster = _first_stated(cluster)
    own_events = _events(pl.concat([_telling(own), _lagging(rows)]))
    processes, failed = _processes(case), failures(case)
    cluster_events = _events(cluster)
    nodes = _events(_nodes(of_topics))
    ids, nobodys = _topic_ids(rows), left_out(case)
    led_with_id = _leaders_with_id(rows)
    removed, starts, begun, stood = removals(rows), log_starts(rows), stated_starts(rows), homes(rows)
    complained = complaints(rows, of_topics.filter(pl.col("broker").is_null()))
    printed = printed_hws(rows, texts(case))
    spoken = (*own_events, *cluster_events, *nodes)
    keys = {(topic, partition, inc) for topic, partition, inc, _ in spoken} | {*complained}
    by_themselves = stated(rows, case.complete, _keep_hw(case))
    played, holes = play(rows, case.complete), without_records(rows, case.complete)
    stable = last_stable(rows, case.complete)
    back = went_back(rows)
    keys |= by_themselves.keys() | back.keys()
    bare = Bare(keys.union(ids, led_with_id, removed, starts, begun, printed, played, holes, stable))
    bare.but({*map(itemgetter(0, 1), stood), *forked, *compared, *nobodys})
    keys |= {(topic, partition, 0) for topic, partition in disk if internal or topic != "__cluster_metadata"}
    lives = Counter((topic, partition) for topic, partition, _ in keys)

    @functools.cache
    def facts_of(broker: int, magic: int | None) -> BrokerFacts:
        return _facts(case.brokers.get(broker), magic)

    result = []
    for topic, partition, incarnation in sorted(keys):
        live = incarnation == 0
        if (like := bare.like((topic, partition, incarnation), disk)) is not None:
            result.append(like)
            continue
        replicas = _files_of((topic, partition, incarnation), disk, keys, own_events)
        named = History(
            topic,
            partition,
            topic_id=ids.get((topic, partition, incarnation)),
            cluster=_cluster(case),
            incarnation=incarnation,
            lives=lives[topic, partition],
            leaders_with_id=frozenset(led_with_id.get((topic, partition, incarnation), ())),
            removed=removed.get((topic, partition, incarnation), {}),
            epoch_rollbacks=twice.get((topic, partition, incarnation), []),
            compared=compared.get((topic, partition), frozenset()) if live else frozenset(),
        )
        told = [
            event
            for broker in case.brokers
            for event in cluster_events.get((topic, partition, incarnation, broker), ())
        ]
        told += nodes.get((topic, partition, incarnation, NOBODY), [])
        members = _members(told)
        events = {
            broker: found
            for broker in case.brokers
            if (found := own_events.get((topic, partition, incarnation, broker)))
            # Brokers cache metadata of partitions of which they hold no replica.
            and (broker in members or broker in replicas or any(event.kind != Kind.METADATA_CACHED for event in found))
        }
        for broker in events.keys() & processes.keys():
            events[broker] = list(heapq.merge(events[broker], processes[broker]))
        events |= with_failures((topic, partition, incarnation), events, failed, stood, case)
        magic = newest_magic(replicas)
        facts = {broker: facts_of(broker, magic) for broker in {*events, *replicas}}
        _made_with(named, events.values())
        named.log_dirs = _changed_dirs(case, events)
        named.min_insync_replicas = _min_insync_replicas(named, [case.brokers.get(broker) for broker in members])
        replicas = with_skipped(named, replicas, case)
        forks_of = forked.get((topic, partition), []) if live else []
        missing = may_be_theirs(nobodys.get((topic, partition)), {*events, *replicas})
        history = reconstruct(named, events, told, replicas, forks_of, facts, missing)
        history.stated = by_themselves.get((topic, partition, incarnation), NOTHING)
        history.went_back = back.get((topic, partition, incarnation), [])
        history.last_stable = stable.get((topic, partition, incarnation), NOT_STATED)
        history.without_records = holes.get((topic, partition, incarnation), {})
        _take_played(history, played.get((topic, partition, incarnation)))
        history.deletions = deletions(history, starts.get((topic, partition, incarnation), []))
        history.log_starts = begun.get((topic, partition, incarnation), [])
        history.complaints = complained.get((topic, partition, incarnation), [])
        history.printed_hws = printed.get((topic, partition, incarnation), [])
        history.regressions = [
            carried(one, stood.get((topic, partition, incarnation, one.replica), [])) for one in history.regressions
        ]
        _forced(history, told, case)
        bare.add(history)
        result.append(history)
    return result


def _take_played(history: History, played: Played | None) -> None:
    """Set what a complete trace decides, and add what the lines of logs alone would leave open.

    The trace counts if it is about every replica, and no data directory is in the evidence beside it.
    """
    stated_whole = history.members and history.members <= history.coverage.claimed
    if played is None or not stated_whole or any(one.directory is not None for one in history.disks.values()):
        return
    history.played = played
    history.members_behind = [*played.isr.behind.values()] if played.isr is not None else []
    rows = {ref.row for one in history.regressions for ref in one.refs}
    history.regressions += [one for one in played.fallen if one.refs[-1].row not in rows]
    rows = {ref.row for one in history.shortened_logs for ref in one.refs}
    history.shortened_logs += [one for one in played.shortened if one.refs[-1].row not in rows]


def _keep_hw(case: Case) -> frozenset[int]:
    """Return brokers of which a truncation is known to leave the high watermark in memory."""
    told = {number: protocol.of(broker).hw_survives_truncation for number, broker in case.brokers.items()}
    return frozenset(number for number, kept in told.items() if kept is protocol.Answer.YES)


def _forced(history: History, told: Sequence[Event], case: Case) -> None:
    """Mark unclean elections that no setting allowed: none in the metadata log, none of the controller's."""
    for event in told:
        epoch = history.epochs.get(event.leader_epoch) if event.leader_epoch is not None else None
        found = against_settings(event.detail) if event.kind == Kind.UNCLEAN_ELECTION else None
        if epoch is None or found is None or history.properties.get(ALLOWS, "false") != "false":
            continue
        controller = case.brokers.get(found)
        # If the broker's settings are in the evidence, a missing setting has its default: false (KIP-106).
        if controller is not None and "controller" in controller.settings.get("process.roles", ""):
            epoch.forced = controller.settings.get(ALLOWS, "false").strip().lower() == "false"
    # A controller with ZooKeeper holds a requested election before it does anything else (KIP-460).
    for asked in told:
        if asked.kind == Kind.ELECTION_REQUESTED:
            later = [e for e in told if e.kind == Kind.ELECTION and e.broker == asked.broker and e.row > asked.row]
            epoch = history.epochs.get(later[0].leader_epoch) if later and later[0].leader_epoch is not None else None
            if epoch is not None:
                epoch.forced = True
                epoch.asked.append(Ref(row=asked.row, note="an election from outside the ISR was asked for"))


def _changed_dirs(case: Case, spoken: Iterable[int]) -> dict[int, tuple[tuple[int, str], ...]]:
    """Return when brokers printed which ``log.dirs``, for brokers that changed it."""
    told = {broker: case.brokers[broker].log_dirs for broker in sorted(spoken)}
    return {broker: tuple(dirs) for broker, dirs in told.items() if len(dirs) > 1}


def _made_with(history: History, events: Iterable[Iterable[Event]]) -> None:
    """Set the properties printed when a replica's log was last created (LogManager.getOrCreateLog).

    If no such line exists, there are none.
    """
    made = (e for own in events for e in own if e.kind == Kind.LOG_CREATED and e.detail is not None)
    last = max(made, key=lambda event: (bool(event.detail), event.time or 0, event.row), default=None)
    if last is not None and last.detail is not None:
        history.properties = log_properties(last.detail)
        history.properties_ref = Ref(row=last.row, note="properties of the log")


def _files_of(
    key: tuple[str, int, int],
    disk: Mapping[tuple[str, int], dict[int, Disk]],
    keys: Set[tuple[str, int, int]],
    own_events: Iterable[tuple[str, int, int, int]],
) -> dict[int, Disk]:
    """Return the files of each replica of an incarnation: those of the present one, as files of others are gone."""
    topic, partition, incarnation = key
    replicas = disk.get((topic, partition), {}) if incarnation == 0 else {}
    if (topic, partition, 1) not in keys:
        return replicas
    return _of_this_life(replicas, {life[3] for life in own_events if life[:3] == (topic, partition, 0)})


def _of_this_life(replicas: dict[int, Disk], speaking: set[int]) -> dict[int, Disk]:
    """Return the files of the present topic: a broker without a replica may still have a checkpoint of a deleted topic.

    Args:
        replicas: files of each broker.
        speaking: brokers with lines about the present topic.
    """
    return {b: found for b, found in replicas.items() if found.directory is not None or b in speaking}


def _min_insync_replicas(history: History, brokers: Sequence[Broker | None]) -> int | None:
    """Return min.insync.replicas, if the topic states it, or all brokers that held the partition state the same."""
    own = history.properties.get(MIN_INSYNC)
    stated = {own} if own else {b.settings.get(MIN_INSYNC) if b is not None else None for b in brokers}
    value = next(iter(stated)) if len(stated) == 1 else None
    return integer(value, most=INT32_MAX) if value is not None else None


def _members(told: Iterable[Event]) -> set[int]:
    """Return brokers that are named as leader or member of the ISR."""
    isrs = {event.isr for event in told if event.isr}
    return {int(broker) for isr in isrs for broker in isr.split(",")} | {
        event.leader for event in told if event.leader is not None
    }


def _cluster(case: Case) -> str | None:
    names = {broker.cluster for broker in case.brokers.values() if broker.cluster is not None}
    return next(iter(names)) if len(names) == 1 else None


def _facts(broker: Broker | None, magic: int | None) -> BrokerFacts:
    """Return facts about a broker; ``magic`` is the newest message format of the partition's batches."""
    return BrokerFacts(protocol=protocol.of(broker, magic), lines=_lines(broker))


def _lines(broker: Broker | None) -> LinesAtHand:
    """Return what is known of a broker's lines, for any replica."""
    if broker is None:
        return LinesAtHand(frozenset())
    claim = broker.claim
    log, roles = (broker.server_log, broker.state_log) if claim is None else (claim.log, claim.roles)
    return LinesAtHand(
        printed=frozenset(what for what, there in ((Printed.LOG, log), (Printed.ROLES, roles)) if there),
        claimed=broker.complete,
        claimed_within=claim is not None,
        unseen_process=broker.unseen_process,
    )


_CLOCKS: Final = timedelta(seconds=10)
"""The clocks of brokers rarely differ by more."""


def incarnations(rows: pl.DataFrame) -> pl.DataFrame:
    """Number a topic's incarnations from the last (0) backwards.

    A topic that is deleted and created again has another topic id (KIP-516). If no id is printed, leader epoch 0 after
    a deletion shows another topic of the same name. A replica that was only moved away and back returns to a higher
    epoch.
    """
    place = ["topic", "partition", "broker"]
    heard = pl.col("kind").is_in([k.value for k in _EPOCH_KINDS]) & pl.col("leader_epoch").is_not_null()
    # A controller that creates a partition logs that before it elects a leader (NonExistentPartition to NewPartition).
    new = (pl.col("kind") == Kind.PARTITION_CREATED.value) & pl.col("leader_epoch").is_null()
    # So does a broker that takes the request for a new topic, if it is not refused.
    new = new | ((pl.col("kind") == Kind.PARTITION_REQUESTED.value) & _is_carried_out(place))
    gone = pl.col("kind").is_in([Kind.LOG_DELETED.value, Kind.TOPIC_REMOVED.value]) | (pl.col("leader") == -2) | new
    gone = gone | (pl.col("detail") == Transition.DELETED.value)
    rows = rows.with_columns(
        # the last of two events before this row
        pl.when(gone.fill_null(False)).then(True).when(heard).then(False).otherwise(None).alias("_mark"),
        pl.when(pl.col("topic_id").str.len_chars() > 0).then(pl.col("topic_id")).otherwise(None).alias("_id"),
    )
    rows = rows.with_columns(
        pl.col("_mark").forward_fill().shift(1).over(place).fill_null(False).alias("_after_deletion"),
        pl.col("_id").forward_fill().shift(1).over(place).alias("_id_before"),
    )
    rows = _of_next_id(_made_for_next_id(rows))
    other_id = (pl.col("_id") != pl.col("_id_before")).fill_null(False)
    # A broker takes up a role only at a rising epoch (Partition.makeLeader), so falling epochs are of another topic.
    taken = pl.when(pl.col("kind").is_in([Kind.BECOME_LEADER.value, Kind.BECOME_FOLLOWER.value])).then("leader_epoch")
    # If another line has begun that topic already, the role that follows does not begin a further one.
    anew = heard & (pl.col("leader_epoch") == 0) & pl.col("_after_deletion") & pl.col("_id").is_null()
    rows = rows.with_columns((other_id | anew.fill_null(False) | pl.col("_made")).alias("_begins"))
    rows = rows.with_columns(pl.col("_begins").cast(pl.Int32).cum_sum().over(place).alias("_begun"))
    fell = (taken == 0) & (taken.forward_fill().shift(1).over([*place, "_begun", "message"]) > 0)
    rows = rows.with_columns(pl.col("_begins") | (fell & pl.col("_id").is_null()).fill_null(False)).drop("_begun")
    if rows.get_column("_begins").any():
        # Lines between a deletion and the first epoch of the next incarnation are about the next one. But a controller
        # takes a deleted topic's replicas offline one by one, each in a further epoch of the old one.
        told = pl.when(heard | pl.col("_id").is_not_null()).then(pl.col("_begins")).otherwise(None)
        rows = rows.with_columns(told.backward_fill().over(place).fill_null(False).alias("_next_begins"))
        further = (pl.col("leader_epoch") > 0).fill_null(False)
        mark = pl.when(pl.col("_begins")).then(False).otherwise("_mark")  # the next one has begun without a role
        waits = mark.forward_fill().shift(1).over(place).fill_null(False)
        between = (waits & pl.col("_mark").is_null() & ~further) | new
        early = between & pl.col("_next_begins") & ~pl.col("_begins")
        life = pl.col("_begins").cast(pl.Int32).cum_sum().over(place) + early.cast(pl.Int32)
        rows = rows.with_columns(life.alias("_life"))
        rows = rows.with_columns((pl.col("_life").max().over(place) - pl.col("_life")).alias("incarnation"))
        rows = _by_id(rows).drop("_next_begins", "_life")
    else:
        none = pl.lit(0, dtype=pl.Int32)
        rows = rows.with_columns(none.alias("incarnation"), none.alias("_life"))
        rows = (_by_id(rows) if _several_ids(rows) else rows).drop("_life")
    return rows.drop("_mark", "_id", "_after_deletion", "_id_before", "_begins", "_made")


def _is_carried_out(place: list[str]) -> pl.Expr:
    """Return whether a broker made its log for a new topic it had asked for, not for a role it had been given before.

    A topic may exist already: of two brokers that create ``__consumer_offsets`` at once, ZooKeeper refuses one.
    That broker has printed "Topic creation" before (AdminZkClient.writeTopicPartitionAssignment, 2.0).
    """
    kind = pl.col("kind")
    role = kind.is_in([Kind.BECOME_LEADER.value, Kind.BECOME_FOLLOWER.value])
    asked = kind == Kind.PARTITION_REQUESTED.value
    made = pl.when(kind == Kind.LOG_CREATED.value).then(True).when(role | asked).then(False).otherwise(None)
    given = pl.when(kind == Kind.LEADER_AND_ISR.value).then(True).when(role).then(False).otherwise(None)
    made_next = made.backward_fill().shift(-1).over(place).fill_null(False)
    given_last = given.forward_fill().shift(1).over(place).fill_null(False)
    return made_next & ~given_last


def _of_next_id(rows: pl.DataFrame) -> pl.DataFrame:
    """Assign roles without a topic id between two ids to one of them, if lines about the change are missing.

    After a deletion they are of the later topic, otherwise of the one whose id is logged closer in time.
    """
    place = ["topic", "partition", "broker"]
    role = pl.col("kind").is_in([Kind.BECOME_LEADER.value, Kind.BECOME_FOLLOWER.value]) & pl.col("_id").is_null()
    told = pl.when(pl.col("_id").is_not_null()).then("time")
    before, after = told.forward_fill().over(place), told.backward_fill().over(place)
    nearer = (after - pl.col("time") < pl.col("time") - before).fill_null(False)
    later = pl.col("_id").backward_fill().over(place)
    between = (later != pl.col("_id_before")).fill_null(False)
    return rows.with_columns(
        pl.when(role & between & (nearer | pl.col("_after_deletion"))).then(later).otherwise("_id").alias("_id")
    ).with_columns(pl.col("_id").forward_fill().shift(1).over(place).alias("_id_before"))


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
    ids = rows.filter(pl.col("_id").is_not_null(), pl.col("time").is_not_null())
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
        .with_columns(pl.col("_id").forward_fill().shift(1).over([*place, "broker"]).alias("_id_before"))
    )


def _several_ids(rows: pl.DataFrame) -> bool:
    """Return whether the lines of a partition name several topic ids, though no broker names two."""
    ids = rows.filter(pl.col("_id").is_not_null()).group_by("topic", "partition").agg(pl.col("_id").n_unique())
    return bool((ids.get_column("_id") > 1).any())


def _by_id(rows: pl.DataFrame) -> pl.DataFrame:
    """Correct incarnation numbers by topic id, because brokers that missed an incarnation count fewer of them.

    The id in a directory is that of the present incarnation. Other incarnations are ordered by their first line.
    """
    place = ["topic", "partition"]
    known = rows.filter(pl.col("_id").is_not_null())
    lives = (
        known.group_by(*place, "_id")
        .agg(
            (pl.col("kind") == Kind.TOPIC_ID.value).filter(pl.col("time").is_null()).any().alias("_on_disk"),
            pl.col("time").min().alias("_first"),
        )
        .sort(*place, "_on_disk", "_first", "_id", descending=[False, False, True, True, False], nulls_last=True)
        .with_columns(pl.int_range(pl.len(), dtype=pl.Int32).over(place).alias("_of_id"))
        .select(*place, "_id", "_of_id")
    )
    span = [*place, "broker", "_life"]
    rows = rows.with_columns(pl.col("_id").forward_fill().backward_fill().over(span).alias("_life_id"))
    rows = rows.join(lives, left_on=[*place, "_life_id"], right_on=[*place, "_id"], how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("_of_id", "incarnation").alias("incarnation")).drop("_of_id", "_life_id")


_EPOCH_KINDS = (
    Kind.LEADER_AND_ISR,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.ELECTION,
    Kind.PARTITION_CREATED,
    Kind.METADATA_CACHED,
)


def _leaders_with_id(rows: pl.DataFrame) -> dict[tuple[str, int, int], list[tuple[int, int, str]]]:
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


def _topic_ids(rows: pl.DataFrame) -> dict[tuple[str, int, int], str]:
    known = rows.filter(pl.col("topic_id").is_not_null() & (pl.col("topic_id") != "")).select(
        "topic", "partition", "incarnation", "topic_id"
    )
    return {(t, p, i): name for t, p, i, name in known.unique(maintain_order=True).iter_rows()}


NOBODY = -1
"""Stands for the broker of an event that no broker states."""


def _nodes(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the states of partitions that nodes of ZooKeeper hold, with ``NOBODY`` as broker: of the present topic."""
    told = rows.filter((pl.col("message") == ZOOKEEPER) & pl.col("leader_epoch").is_not_null())
    return told.with_columns(
        pl.lit(NOBODY, dtype=told.schema["broker"]).alias("broker"),
        pl.lit(0, dtype=told.schema["run"]).alias("run"),
        pl.lit(0, dtype=pl.Int32).alias("incarnation"),
    )


def _lagging(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the followers' log end offsets that a leader logs when it shrinks the ISR.

    In a trace each value of a line of a log has a line of its own, with the message and the time of that line.
    """
    shrinks, told = pl.col("kind") == Kind.ISR_SHRINK.value, pl.col("kind") == Kind.REMOTE_LEO.value
    repeated = shrinks & (pl.col("message") != TRACE)
    same = ["source", "broker", "topic", "partition", "message", "time"]
    by_line = rows.filter(told).join(rows.filter(shrinks), on=["source", "line"], how="semi")
    by_message = rows.filter(told).join(rows.filter(repeated), on=same, how="semi")
    return pl.concat([by_line, by_message]).unique("row").sort("topic", "partition", "broker", "row")


def _thin(rows: pl.DataFrame) -> pl.DataFrame:
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


def _telling(own: pl.DataFrame) -> pl.DataFrame:
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

    These are: it started, it began to shut down, a directory failed, and in a trace that it had not stopped cleanly. In
    logs the last one is reported for a directory, and for each replica in its recovery lines. Traces made from logs do
    the same.
    """
    kind = pl.col("kind")
    whole = (pl.col("message") == TRACE) & pl.col("log_dir").is_null()
    unclean = (kind == Kind.UNCLEAN_RESTART.value) & whole
    told = kind.is_in([Kind.PROCESS_STARTED.value, Kind.SHUTDOWN_BEGIN.value])
    return (told | unclean | of_directory()) & pl.col("broker").is_not_null()


def _processes(case: Case) -> dict[int, list[Event]]:
    """Return the lines of each broker about its own processes."""
    rows = case.observations.filter(of_process() & ~of_directory() & pl.col("topic").is_null())
    found: dict[int, list[Event]] = {}
    for values in rows.sort("row").select(as_values(COLUMNS)).iter_rows():
        event = Event._make(values)
        found.setdefault(event.broker, []).append(event)
    return found


def _first_stated(rows: pl.DataFrame) -> pl.DataFrame:
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


def _events(rows: pl.DataFrame) -> dict[tuple[str, int, int, int], list[Event]]:
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
