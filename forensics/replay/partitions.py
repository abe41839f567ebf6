"""From the case's tables to one history for each partition: what is read of all of them, then replay of each.

All work before replay is expressions over frames.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, fields, replace
from operator import itemgetter
from typing import Final

import polars as pl

from forensics.case import Case
from forensics.case.brokers import Broker
from forensics.case.order import METADATA_TOPIC
from forensics.case.partial import texts
from forensics.case.speakers import OF_ITSELF
from forensics.replay import protocol
from forensics.replay.bare import Bare
from forensics.replay.broker_facts import BrokerFacts
from forensics.replay.coverage import LinesAtHand, Printed
from forensics.replay.facts.compaction import with_skipped
from forensics.replay.facts.deleted_segments import DeletedSegment, deleted_segments
from forensics.replay.facts.deletions import deletions, log_starts, stated_starts
from forensics.replay.facts.dir_failures import failures
from forensics.replay.facts.directory import Disk, Ref, newest_magic
from forensics.replay.facts.directory_lines import DirectoryLines, with_directory_lines
from forensics.replay.facts.disks import disks
from forensics.replay.facts.events import PROGRESS, Event
from forensics.replay.facts.forks import forks
from forensics.replay.facts.group_positions import GroupPosition, group_positions
from forensics.replay.facts.ids import Ids
from forensics.replay.facts.incarnations import leaders_with_id, topic_ids
from forensics.replay.facts.isr import members
from forensics.replay.facts.lines_of_brokers import removed_topics
from forensics.replay.facts.log_dir_moves import Homes, carried, homes
from forensics.replay.facts.partition_facts import Fork, PartitionFacts
from forensics.replay.facts.partition_lines import (
    CLUSTER,
    NOBODY,
    OWN,
    events_of,
    first_stated,
    nodes,
    of_processes,
    of_replicas,
    telling,
    thin,
)
from forensics.replay.facts.partition_rows import lagging, partition_rows
from forensics.replay.facts.printed_hws import PrintedHw, printed_hws
from forensics.replay.facts.put_back_dirs import put_back
from forensics.replay.facts.refusals import Complaint, complaints
from forensics.replay.facts.scrapes import EndSeries, Series, scraped_ends, scrapes
from forensics.replay.facts.stray_replicas import StrayReplica, stray_replicas
from forensics.replay.facts.trace_lines import OfBrokers
from forensics.replay.history import EpochRollback, History, ShortenedLog, Truncation
from forensics.replay.interval import Interval
from forensics.replay.leadership.epoch_rollback import handed_out_again
from forensics.replay.leadership.isr_removal_epochs import removals
from forensics.replay.leadership.state_changes import SessionLine, broker_sessions, fenced_to_end, state_changes
from forensics.replay.lineage import Range
from forensics.replay.omissions.announced_roles import due, not_named
from forensics.replay.omissions.controllers import Requests, elected_last, requests, starting
from forensics.replay.omissions.cut_short import Ends, ends, roles_outside
from forensics.replay.omissions.left_out import LeftOut, left_out, may_be_theirs
from forensics.replay.omissions.own_lines import JOURNAL, WITH_OTHERS
from forensics.replay.protocol import Protocol
from forensics.replay.quorum.metadata_history import metadata_history
from forensics.replay.reconstruct import reconstruct
from forensics.replay.signs.disagreement import Disagreement
from forensics.replay.signs.last_stable import NOT_STATED, LastStable, last_stable
from forensics.replay.signs.line_signs import NO_SIGNS, LineSigns
from forensics.replay.signs.stated import NOTHING, Stated, stated
from forensics.replay.signs.traced_apart import traced_apart
from forensics.replay.signs.unlike_appends import UnlikeAppends, unlike_appends
from forensics.replay.signs.went_back import went_back
from forensics.replay.traces.by_partition import appended, clean_starts, play, unclean_starts
from forensics.replay.traces.missing_offsets import without_records
from forensics.replay.traces.results import NO_DECISION, Played
from forensics.replay.traces.single_replicas import Alone, play_alone
from forensics.replay.traces.wrong_times import in_each_order
from parsers.details import BY_COMMAND, against_settings, log_properties
from parsers.encodings.checkpoint_file import INT32_MAX, integer
from parsers.formats.metadata_log import ALLOWS
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind

_ONE_LIFE: Final = frozenset({0})
"""Incarnations of a partition whose topic was never created again."""

MIN_INSYNC = "min.insync.replicas"

Place = tuple[str, int, int]
"""Topic, partition and incarnation."""


def histories(case: Case) -> list[History]:
    """Replay every partition of a case.

    Args:
        case: the evidence of one cluster.

    Returns:
        One history for each incarnation of each partition, ordered by topic, partition and incarnation; last that of
        the metadata log, if there is one to judge.
    """
    read = _Read.of(case)
    bare = Bare(read.known_besides)
    bare.but(
        {
            *map(itemgetter(0, 1), read.homes),
            *read.forks,
            *read.compared,
            *read.left_out,
            *read.positions,
            *read.scrapes,
            *read.scraped_ends,
        }
    )
    found = []
    for place in read.places:
        history = bare.like(place, read.disks)
        if history is None:
            history = read.replayed(place)
            bare.add(history)
        found.append(history)
    metadata = metadata_history(case)
    return found if metadata is None else [*found, metadata]


@dataclass(frozen=True, slots=True)
class _Beside:
    """Facts about incarnations that other lines or files name: alone they do not make it one that is replayed.

    Attributes:
        topic_ids, leaders_with_id, removed, log_starts, printed_hws, stray_replicas, without_records: as
            ``PartitionFacts`` has them.
        deleted: log start offsets that deletions state, as ``deletions`` takes them.
        last_stable, unlike_appends, played: what lines show by themselves.
        alone: what single replicas decide, where a trace claims every change of some replicas only.
        doubted: a trace contradicts itself about these, so that what it claims does not count.
        appended: a trace states appends to their logs.
    """

    topic_ids: Mapping[Place, str]
    leaders_with_id: Mapping[Place, list[tuple[int, int, str]]]
    removed: Mapping[Place, dict[int, frozenset[int]]]
    deleted: Mapping[Place, list[tuple[int, int, int]]]
    log_starts: Mapping[Place, list[tuple[int, int, int]]]
    printed_hws: Mapping[Place, list[PrintedHw]]
    stray_replicas: Mapping[Place, list[StrayReplica]]
    without_records: Mapping[Place, Mapping[int, tuple[Range, ...]]]
    last_stable: Mapping[Place, LastStable]
    unlike_appends: Mapping[Place, list[UnlikeAppends]]
    played: Mapping[Place, Played]
    alone: Mapping[Place, Alone]
    doubted: frozenset[Place]
    appended: Set[Place]

    @staticmethod
    def of(rows: pl.DataFrame, case: Case, keep: frozenset[int]) -> _Beside:
        """Read a case.

        Args:
            rows: observations of partitions that name a broker, with ``incarnation``.
            case: the evidence.
            keep: brokers of releases in which a truncation leaves the high watermark in memory.
        """
        # Only of Kafka it is known that a clean stop stores the high watermark.
        others = {one.id for one in case.brokers.values() if one.of_other_system}
        clean = frozenset(start for start in clean_starts(case.observations) if start[0] not in others)
        since = {broker for broker, (first, _) in case.logs_claimed.items() if first is not None}
        brokers = OfBrokers(clean, keep, since)
        claimed = [one.id for one in case.brokers.values() if one.complete or one.claim is not None]
        decides = case.complete if not case.listed else frozenset[int]()  # others may have led, or have replicas
        played = in_each_order(play(rows, decides, brokers), rows, decides, claimed, brokers)
        alone = play_alone(rows, case.complete, brokers, played.keys())
        wrong = {place: one.contradiction for place, one in alone.items() if one.contradiction is not None}
        played |= {place: replace(NO_DECISION, contradiction=one) for place, one in wrong.items()}
        doubted = frozenset(place for place, one in played.items() if one.contradiction is not None)
        names = topic_ids(rows)
        return _Beside(
            topic_ids=names,
            leaders_with_id=leaders_with_id(rows),
            removed=removals(rows),
            deleted=log_starts(rows),
            log_starts=stated_starts(rows),
            printed_hws=printed_hws(rows, texts(case)),
            stray_replicas=stray_replicas(rows, names, removed_topics(case.observations)),
            without_records=without_records(rows, case.complete, doubted),
            last_stable=last_stable(rows, case.complete, doubted),
            unlike_appends=unlike_appends(rows),
            played=played,
            alone=alone,
            doubted=doubted,
            appended=appended(rows),
        )

    @property
    def places(self) -> frozenset[Place]:
        """The incarnations that any of them is about."""
        return frozenset[Place]().union(*(getattr(self, one.name) for one in fields(self)))


@dataclass(frozen=True, slots=True)
class _Read:
    """Everything read of the partitions of a case before any of them is replayed.

    Attributes:
        case: the evidence.
        cluster: its cluster id, or None.
        places: the incarnations that are replayed, in order.
        known_besides: incarnations of which more is known than what files on disk show.
        lives: incarnations of each partition.
        disks, deleted, forks, compared, left_out: by topic and partition: files, what brokers were about to remove,
            differences between segments, pairs of brokers whose segments were compared, lines that name no broker.
        ends: where the server.log of each broker begins and ends, if its roles have a file of their own.
        roles_due: brokers whose log ends before all roles that it announces, and how many it does not name.
        requests: what controllers with ZooKeeper sent, and what brokers received.
        starting: brokers that started after the controllers' lines.
        of_id: incarnation, by topic, partition and topic id.
        own, of_cluster, nodes: events by place and broker: about the broker's own replica, by controllers and metadata
            caches, in nodes of ZooKeeper.
        speakers: by place, the brokers with events in ``own`` or ``of_cluster``, in the order of the case.
        processes, directories: each broker's lines about its processes, and about its log directories.
        homes: by place and broker, the log directories that lines name.
        complaints: by place, as ``PartitionFacts`` has them.
        sessions: by controller, its lines about brokers' sessions.
        stated_twice, stated, disagreements: by place, what lines show by themselves.
        positions: that consumer groups committed, by topic and partition.
        scrapes: high watermarks as exporters printed them, by topic and partition.
        scraped_ends: log end offsets as exporters printed them, by topic and partition, and by broker.
        ids: brokers that name the ids of the cluster and its topics.
        beside: facts about places that other lines or files name.
        protocols: what each broker does, if the message format of a partition's batches is not known.
        brokers: facts about a broker for a message format, with or without the claim of its trace, once they are
            computed.
    """

    case: Case
    cluster: str | None
    places: Sequence[Place]
    known_besides: Set[Place]
    lives: Mapping[tuple[str, int], Set[int]]
    disks: Mapping[tuple[str, int], dict[int, Disk]]
    deleted: Mapping[tuple[str, int], tuple[DeletedSegment, ...]]
    of_id: Mapping[tuple[str, int, str | None], int]
    forks: Mapping[tuple[str, int], list[Fork]]
    compared: Mapping[tuple[str, int], frozenset[tuple[int, int]]]
    left_out: Mapping[tuple[str, int], LeftOut]
    ends: Mapping[int, Ends]
    roles_due: Mapping[int, int]
    requests: Requests
    starting: frozenset[int]
    own: Mapping[tuple[str, int, int, int], list[Event]]
    of_cluster: Mapping[tuple[str, int, int, int], list[Event]]
    nodes: Mapping[tuple[str, int, int, int], list[Event]]
    speakers: Mapping[Place, Sequence[int]]
    processes: Mapping[int, list[Event]]
    directories: DirectoryLines
    homes: Homes
    complaints: Mapping[Place, list[Complaint]]
    sessions: Mapping[int, Sequence[SessionLine]]
    stated_twice: Mapping[Place, list[EpochRollback]]
    stated: Mapping[Place, Stated]
    disagreements: Mapping[Place, list[Disagreement]]
    positions: Mapping[tuple[str, int], tuple[GroupPosition, ...]]
    scrapes: Mapping[tuple[str, int], tuple[Series, ...]]
    scraped_ends: Mapping[tuple[str, int], Mapping[int, tuple[EndSeries, ...]]]
    ids: Ids
    beside: _Beside
    protocols: Mapping[int, Protocol]
    brokers: dict[tuple[int, int | None, bool], BrokerFacts] = field(default_factory=dict)

    @staticmethod
    def of(case: Case) -> _Read:
        """Read a case."""
        rows = partition_rows(case.observations)
        disk, segments = disks(case)
        forked, compared = forks(segments, case.batches, disk)
        # A line about what a controller sent to a broker does not show what the broker did.
        wanted = pl.col("kind").is_in([k.value for k in (*OWN, *PROGRESS, *JOURNAL)]) & OF_ITSELF
        own = thin(of_replicas(rows.filter(wanted)))
        others = (~pl.col("kind").is_in([k.value for k in WITH_OTHERS])).any()
        own = own.filter(others.over("topic", "partition", "incarnation", "broker"))
        sent = (pl.col("kind") == Kind.LEADER_AND_ISR.value) & ~OF_ITSELF
        cluster = first_stated(rows.filter(pl.col("kind").is_in([k.value for k in CLUSTER]) | sent))
        by_broker = (
            events_of(pl.concat([telling(own), lagging(rows)])),
            events_of(cluster),
            events_of(nodes(case.observations)),
        )
        complained = complaints(
            rows, case.observations.filter(pl.col("topic").is_not_null(), pl.col("broker").is_null())
        )
        known = {number: protocol.of(broker) for number, broker in case.brokers.items()}
        keep = _keep_hw(known)
        beside = _Beside.of(rows, case, keep)
        by_themselves = stated(rows, case.logs_claimed, keep, beside.doubted, unclean_starts(case.observations))
        back = went_back(rows)
        for place, found in traced_apart(rows).items():
            back.setdefault(place, []).extend(found)
        named = {place[:3] for events in by_broker for place in events}.union(complained, by_themselves, back)
        named |= _traced(rows)
        of_id: dict[tuple[str, int, str | None], int] = {
            (*place[:2], topic_id): place[2] for place, topic_id in beside.topic_ids.items()
        }
        present = {
            (*place, of_id.get((*place, one.topic_id), 0))
            for place, replicas in disk.items()
            if place[0] != METADATA_TOPIC
            for one in replicas.values()
        }
        lives: dict[tuple[str, int], frozenset[int]] = {}
        for topic, partition, incarnation in named | present:
            before = lives.get((topic, partition))
            once = _ONE_LIFE if incarnation == 0 else frozenset({incarnation})  # one object for nearly all of them
            lives[topic, partition] = once if before is None else before | once
        return _Read(
            case=case,
            cluster=case.cluster,
            places=sorted(named | present),
            known_besides=named | beside.places,
            lives=lives,
            disks=disk,
            deleted=deleted_segments(case),
            of_id=of_id,
            forks=forked,
            compared=compared,
            left_out=left_out(case),
            ends=ends(case.sources),
            roles_due=due(case.sources),
            requests=requests(case.observations, rows),
            starting=starting(case.observations),
            own=by_broker[0],
            of_cluster=by_broker[1],
            nodes=by_broker[2],
            speakers=_speakers(case, itertools.chain(by_broker[0], by_broker[1])),
            processes=of_processes(case),
            directories=_of_directories(case),
            homes=homes(rows),
            complaints=complained,
            sessions=broker_sessions(case.observations),
            stated_twice=handed_out_again(rows),
            stated=by_themselves,
            disagreements=back,
            positions=group_positions(case.observations),
            scrapes=scrapes(case.observations),
            scraped_ends=scraped_ends(case.observations),
            ids=Ids.of(case, rows),
            beside=beside,
            protocols=known,
        )

    def replayed(self, place: Place) -> History:
        """Replay one incarnation of a partition."""
        files = self._files(place)
        cluster = [
            event for broker in self.speakers.get(place, ()) for event in self.of_cluster.get((*place, broker), ())
        ]
        cluster += self.nodes.get((*place, NOBODY), [])
        members = _members(cluster)
        events = self._events(place, members | files.keys())
        facts = self._facts(place, files, events, members | (events.keys() & self.case.complete))
        facts = replace(
            facts,
            requests_unsent=self.requests.exceed(place, cluster, events),
            starting=self.starting & events.keys(),
            listed=self.case.listed,
        )
        changes = state_changes(cluster, events, self.sessions)
        facts = replace(facts, fenced=fenced_to_end(changes, self.sessions))
        magic = newest_magic(files)
        claims = place not in self.beside.doubted
        brokers = {broker: self._broker(broker, magic, claims=claims) for broker in {*events, *files}}
        missing = [
            *may_be_theirs(self.left_out.get(place[:2]), brokers.keys()),
            *not_named(self.roles_due, brokers.keys()),
            *elected_last(cluster, brokers.keys()),
            *roles_outside(self.ends, {broker: events[broker] for broker in events.keys() & brokers.keys()}),
        ]
        signs = self._signs(place)
        history = reconstruct(facts, events, cluster, brokers, signs, self.stated_twice.get(place, ()), missing)
        history.stated = self.stated.get(place, NOTHING)
        _take_played(history, self.beside.played.get(place))
        if not _has_data(history):
            _add_own(history, self.beside.alone.get(place, Alone()))
        history.deletions = deletions(history, self.beside.deleted.get(place, []))
        stood = self.homes
        history.regressions = [carried(one, stood.get((*place, one.replica), [])) for one in history.regressions]
        history.changes = changes
        _forced(history, cluster, self.case)
        return history

    def _signs(self, place: Place) -> LineSigns:
        disagreements, appends = self.disagreements.get(place), self.beside.unlike_appends.get(place)
        last_stable = self.beside.last_stable.get(place)
        if not disagreements and not appends and last_stable is None:
            return NO_SIGNS
        return LineSigns(
            tuple(disagreements or ()), tuple(appends or ()), NOT_STATED if last_stable is None else last_stable
        )

    def _events(self, place: Place, replicas: Set[int]) -> dict[int, list[Event]]:
        """Return each broker's own lines about its replica, with those about its process and its log directories.

        Args:
            place: the incarnation.
            replicas: brokers that are named as replicas, or have files of it.
        """
        events = {
            broker: found
            for broker in self.speakers.get(place, ())
            if (found := self.own.get((*place, broker)))
            # Brokers cache metadata of partitions of which they hold no replica.
            and (broker in replicas or any(event.kind != Kind.METADATA_CACHED for event in found))
        }
        # A trace that claims each change of a replica states by silence that its log is empty.
        if self.case.complete:
            named = replicas | _members(itertools.chain.from_iterable(events.values()))
            events |= {broker: [] for broker in named & self.case.complete - events.keys()}
        for broker in events.keys() & self.processes.keys():
            events[broker] = sorted((*events[broker], *self.processes[broker]))
        return events | with_directory_lines(place, events, self.directories, self.homes, self.case)

    def _facts(
        self, place: Place, files: Mapping[int, Disk], events: Mapping[int, Sequence[Event]], members: Iterable[int]
    ) -> PartitionFacts:
        topic, partition, incarnation = place
        brokers = self.case.brokers
        alone = incarnation == 0 and len(self.lives[topic, partition]) == 1
        pairs = self.compared.get((topic, partition), frozenset())
        properties, made = _made_with(events.values())
        facts = PartitionFacts(
            topic,
            partition,
            topic_id=self.beside.topic_ids.get(place),
            cluster=self.cluster,
            incarnation=incarnation,
            lives=len(self.lives[topic, partition]),
            leaders_with_id=frozenset(self.beside.leaders_with_id.get(place, ())),
            disks=files,
            deleted_segments=self._deleted(place),
            forks=tuple(one for one in self.forks.get((topic, partition), ()) if {one.left, one.right} <= files.keys()),
            compared=frozenset(pair for pair in pairs if files.keys() >= {*pair}),
            removed=self.beside.removed.get(place, {}),
            properties=properties,
            properties_ref=made,
            log_dirs=_changed_dirs(self.case, events),
            min_insync_replicas=_min_insync_replicas(properties, [brokers.get(broker) for broker in members]),
            without_records=self.beside.without_records.get(place, {}),
            log_starts=tuple(self.beside.log_starts.get(place, ())),
            complaints=tuple(self.complaints.get(place, ())),
            printed_hws=tuple(self.beside.printed_hws.get(place, ())),
            stray_replicas=tuple(self.beside.stray_replicas.get(place, ())),
            positions=self.positions.get((topic, partition), ()) if alone else (),
            scrapes=self.scrapes.get((topic, partition), ()) if alone else (),
            scraped_ends=self.scraped_ends.get((topic, partition), {}) if alone else {},
            with_ids=self.ids.at(place),
            origin=self.case.origin,
            appends_stated=place in self.beside.appended,
        )
        return replace(facts, disks=with_skipped(facts, self.case))

    def _deleted(self, place: Place) -> tuple[DeletedSegment, ...]:
        """Return what brokers were about to remove of an incarnation; of several, only directories state which."""
        mine = self.beside.topic_ids.get(place)
        alone = len(self.lives[place[:2]]) == 1
        return tuple(
            one
            for one in self.deleted.get(place[:2], ())
            if (mine is not None and one.topic_id == mine) or (alone and None in (one.topic_id, mine))
        )

    def _files(self, place: Place) -> dict[int, Disk]:
        """Return the files of each replica of an incarnation: those of the present one, as files of others are gone.

        A broker that was down as the topic was deleted still has the directory of another topic id. A broker without a
        replica may still have a checkpoint of a deleted topic.
        """
        topic, partition, incarnation = place
        known = self.disks.get((topic, partition), {})
        files = {b: d for b, d in known.items() if self.of_id.get((topic, partition, d.topic_id), 0) == incarnation}
        if incarnation or 1 not in self.lives[topic, partition]:
            return files
        return {
            broker: disk
            for broker, disk in files.items()
            if disk.directory is not None or (topic, partition, 0, broker) in self.own
        }

    def _broker(self, broker: int, magic: int | None, *, claims: bool) -> BrokerFacts:
        """Return facts about a broker.

        Args:
            broker: broker id.
            magic: the newest message format of the partition's batches.
            claims: whether what its trace claims counts.
        """
        key = broker, magic, claims
        if key not in self.brokers:
            of = self.case.brokers.get(broker)
            claimed = of is not None and (of.complete or of.claim is not None)
            lines = _lines(of) if claims or not claimed else LinesAtHand(frozenset())
            known = self.protocols.get(broker) if magic is None else None
            other = of is not None and of.of_other_system
            self.brokers[key] = BrokerFacts(known or protocol.of(of, magic), lines, other)
        return self.brokers[key]


def _of_directories(case: Case) -> DirectoryLines:
    """Return each broker's lines about log directories that failed, were empty, or were found older, in their order."""
    failed, older = failures(case), put_back(case)
    return {
        broker: sorted((*failed.get(broker, ()), *older.get(broker, ()))) for broker in failed.keys() | older.keys()
    }


def _has_data(history: History) -> bool:
    """Return whether a data directory of the partition is in the evidence."""
    return any(one.directory is not None for one in history.facts.disks.values())


def _take_played(history: History, played: Played | None) -> None:
    """Set what a complete trace decides, and add what the lines of logs alone would leave open.

    The trace counts if it is about every replica, and no data directory is in the evidence beside it.
    """
    if played is None or _has_data(history):
        return
    if played.contradiction is not None:
        history.doubted = played
    elif history.members and history.members <= history.coverage.claimed:
        history.played = played
        history.shortened_logs = _shown(history.shortened_logs, played)
        history.members_behind = [*played.isr.behind.values()] if played.isr is not None else []
    else:
        return
    _add_played(history, played)


def _shown(found: Iterable[ShortenedLog], played: Played) -> list[ShortenedLog]:
    """Return the logs that became shorter by the lines of a complete trace: beside them nothing is inferred."""
    shown = {ref.row for one in played.shortened for ref in one.refs}
    return [one for one in found if any(ref.row in shown for ref in one.refs)]


def _add_played(history: History, played: Played) -> None:
    """Add what a trace shows line by line to what is known without it."""
    stated_by_lines = {one.epoch for one in history.stated.epoch_starts}
    starts = (one for one in played.epoch_starts if one.epoch not in stated_by_lines)
    history.stated = replace(history.stated, epoch_starts=(*history.stated.epoch_starts, *starts))
    _add_own(history, Alone(played.above, played.fallen, played.shortened))
    _set_log_ends(history, played)


def _set_log_ends(history: History, played: Played) -> None:
    """Set how long each log was before a truncation; leave out those that removed nothing.

    Those that removed all are among them then.
    """
    known: list[Truncation] = []
    unknown: list[Truncation] = []
    for one in history.truncations:
        _add_with_end(one, played, known, known)
    for one in history.truncations_of_unknown_extent:
        _add_with_end(one, played, known, unknown)
    rows = {ref.row for one in (*known, *unknown) for ref in one.refs}
    known += [one.truncation for row, one in played.removed.items() if one.ranges and row not in rows]
    history.truncations, history.truncations_of_unknown_extent = known, unknown


def _add_with_end(one: Truncation, played: Played, known: list[Truncation], others: list[Truncation]) -> None:
    """Add a truncation with the log end offset before it, if a complete trace shows that; else to the ``others``."""
    end = _log_end(one, played)
    if end is None:
        others.append(one)
    elif end > one.target:
        known.append(replace(one, before=Interval.at(end)))


def _log_end(truncation: Truncation, played: Played) -> int | None:
    """Return the log end offset before a truncation, by the lines of a complete trace."""
    removed = (played.removed.get(ref.row) for ref in truncation.refs if ref.row is not None)
    return next((one.truncation.end for one in removed if one is not None), None)


def _add_own(history: History, found: Alone) -> None:
    """Add what the lines of single replicas show, unless it is known."""
    stated_by_lines = {one.replica for one in history.stated.hw_above_leo}
    above = (one for one in found.above if one.replica not in stated_by_lines)
    history.stated = replace(history.stated, hw_above_leo=(*history.stated.hw_above_leo, *above))
    rows = {ref.row for one in history.regressions for ref in one.refs}
    history.regressions += [one for one in found.fallen if one.refs[-1].row not in rows]
    rows = {ref.row for one in history.shortened_logs for ref in one.refs}
    history.shortened_logs += [one for one in found.shortened if one.refs[-1].row not in rows]


def _keep_hw(known: Mapping[int, Protocol]) -> frozenset[int]:
    """Return brokers of which a truncation is known to leave the high watermark in memory."""
    return frozenset(number for number, one in known.items() if one.hw_survives_truncation is protocol.Answer.YES)


def _forced(history: History, cluster: Sequence[Event], case: Case) -> None:
    """Mark unclean elections that no setting allowed: none in the metadata log, none of the controller's."""
    for event in cluster:
        if event.kind == Kind.UNCLEAN_ELECTION:
            _mark_against_settings(history, event, case)
        elif event.kind == Kind.ELECTION_REQUESTED and event.detail != BY_COMMAND:
            _mark_requested(history, event, cluster)


def _mark_against_settings(history: History, event: Event, case: Case) -> None:
    epoch = history.epochs.get(event.leader_epoch) if event.leader_epoch is not None else None
    found = against_settings(event.detail)
    if epoch is None or found is None or history.facts.properties.get(ALLOWS, "false") != "false":
        return
    controller = case.brokers.get(found)
    # If the broker's settings are in the evidence, a missing setting has its default: false (KIP-106).
    if controller is not None and "controller" in controller.settings.get("process.roles", ""):
        epoch.forced = controller.settings.get(ALLOWS, "false").strip().lower() == "false"


def _mark_requested(history: History, asked: Event, cluster: Sequence[Event]) -> None:
    """A controller with ZooKeeper holds a requested election before it does anything else (KIP-460)."""
    later = (e for e in cluster if e.kind == Kind.ELECTION and e.broker == asked.broker and e.row > asked.row)
    held = next(later, None)
    epoch = history.epochs.get(held.leader_epoch) if held is not None and held.leader_epoch is not None else None
    if epoch is not None:
        epoch.forced = True
        epoch.asked.append(Ref(row=asked.row, note="an election from outside the ISR was asked for"))


def _changed_dirs(case: Case, spoken: Iterable[int]) -> dict[int, tuple[tuple[int, str], ...]]:
    """Return when brokers printed which ``log.dirs``, for brokers that changed it."""
    named = {broker: case.brokers[broker].log_dirs for broker in sorted(spoken)}
    return {broker: tuple(dirs) for broker, dirs in named.items() if len(dirs) > 1}


def _made_with(events: Iterable[Iterable[Event]]) -> tuple[dict[str, str], Ref | None]:
    """Return the properties printed when a replica's log was last created (LogManager.getOrCreateLog), and the line."""
    made = (e for own in events for e in own if e.kind == Kind.LOG_CREATED and e.detail is not None)
    last = max(made, key=lambda event: (bool(event.detail), event.time or 0, event.row), default=None)
    if last is None or last.detail is None:
        return {}, None
    return log_properties(last.detail), Ref(row=last.row, note="properties of the log")


def _min_insync_replicas(properties: Mapping[str, str], brokers: Sequence[Broker | None]) -> int | None:
    """Return min.insync.replicas, if the topic states it, or all brokers that held the partition state the same."""
    own = properties.get(MIN_INSYNC)
    stated = {own} if own else {b.settings.get(MIN_INSYNC) if b is not None else None for b in brokers}
    value = next(iter(stated)) if len(stated) == 1 else None
    return integer(value, most=INT32_MAX) if value is not None else None


def _traced(rows: pl.DataFrame) -> set[Place]:
    """Return the incarnations that lines of traces are about: each is judged, whatever its lines state."""
    found = rows.filter((pl.col("message") == TRACE) & pl.col("partition").is_not_null())
    return {*found.select("topic", "partition", "incarnation").unique().iter_rows()}


def _speakers(case: Case, keys: Iterable[tuple[str, int, int, int]]) -> dict[Place, list[int]]:
    """Return the brokers of a case that have events about each place, in the order of the case.

    Args:
        case: the evidence.
        keys: places and brokers with events.
    """
    order = {broker: number for number, broker in enumerate(case.brokers)}
    found: dict[Place, set[int]] = {}
    for topic, partition, incarnation, broker in keys:
        if broker in order:
            found.setdefault((topic, partition, incarnation), set()).add(broker)
    return {place: sorted(brokers, key=order.__getitem__) for place, brokers in found.items()}


def _members(events: Iterable[Event]) -> set[int]:
    """Return brokers that are named as leader or member of the ISR."""
    leaders, isrs = set[int](), set[str]()
    for event in events:
        if event.leader is not None:
            leaders.add(event.leader)
        if event.isr:
            isrs.add(event.isr)
    return leaders.union(*map(members, isrs))


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
        unread=broker.unread,
    )
