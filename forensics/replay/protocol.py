"""Broker behaviours that differ between releases of Kafka: one table, and the answers for one broker.

A row of ``BEHAVIOURS`` is one thing that brokers of some releases do and others do not. All code in replay that depends
on a release uses this module; docs/protocol.md shows the table.

The reference model (``forensics.model.protocol``) uses the same names for the same behaviours. It shares only the
names: neither module imports the other, so that each can show the other to be wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from forensics.case.brokers import INTER_BROKER, MESSAGE_FORMAT, Broker, Process, Release, version_of


class Answer(Enum):
    """An answer about a behaviour. Callers compare with ``is``, so that ``OPEN`` is never read as no."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    """The evidence does not decide: the release, or a setting that enables the behaviour, is unknown or inexact."""


class Asked(Enum):
    """The releases for which a behaviour must hold, if a broker was upgraded or downgraded within the evidence."""

    PRESENT = "the release that it logged last"
    EVERY = "every release that it ran, and every inter-broker protocol"
    ANY = "any release that it ran, or any inter-broker protocol"
    PROCESS = "the release that it logged last; and by process, what that process logged"
    NEVER = "nothing: replay allows for it in every release"


class Releases(NamedTuple):
    """A range of releases: from ``since`` up to but not including ``until``; None is no limit.

    A limit that is the first release of a minor version is written without its last number: (3, 4) is 3.4.0.
    """

    since: Release | None
    until: Release | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One row of the table: it holds if the release is in one of the ranges and every gate is passed.

    Attributes:
        name: field of ``Protocol``, and name of the same behaviour in the reference model.
        says: what the broker does.
        releases: ranges in which it does so, disjoint and rising.
        unknown: the answer of the ranges if the release is unknown.
        source: KIP, KAFKA issue, or Kafka's class and the release it was read in.
        asked: the releases for which it must hold.
        inter_broker: lowest ``inter.broker.protocol.version``. If its configuration is in the evidence and states none,
            the broker uses that of its release. With KRaft ``metadata.version`` replaces it; its lowest value, 3.0-IV1,
            passes every gate here.
        message_format: lowest ``log.message.format.version``. If batches are in the evidence, they alone decide. With
            KRaft, and from inter-broker protocol 3.0 on, brokers ignore it and write the newest format (KIP-724).
        feature: finalized feature and its lowest level. The metadata log states levels (FeatureLevelRecord), and each
            holds from its record on: its parser uses that level for an unclean election at that moment. An answer here
            is one for all of the evidence, so no level is handed to this table, and such a row never answers ``YES``.
        setting: a broker with this setting does so in any release that has it, see ``optional``.
        optional: releases in which the setting decides. If it may be set and is not stated, the answer is ``OPEN``.
        needs: behaviours without which it does not.
        unless: behaviours with which it does not.
    """

    name: str
    says: str
    releases: tuple[Releases, ...]
    unknown: Answer
    source: str
    asked: Asked = Asked.PRESENT
    inter_broker: Release | None = None
    message_format: Release | None = None
    feature: tuple[str, int] | None = None
    setting: str | None = None
    optional: tuple[Releases, ...] = ()
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


BEHAVIOURS: tuple[Behaviour, ...] = (
    Behaviour(
        name="kraft",
        says="The broker follows the metadata log of a KRaft controller. Without it, a controller that writes to "
        "ZooKeeper sends it LeaderAndIsr requests.",
        releases=(Releases((4, 0), None),),
        setting="process.roles",
        optional=(Releases((2, 8), (4, 0)),),
        unknown=Answer.OPEN,
        source="KIP-500: from 2.8 on; KIP-833: 4.0 has no other mode",
    ),
    # -- truncation ---------------------------------------------------------------------------------------------------
    Behaviour(
        name="truncates_by_epoch",
        says="A new follower truncates to where its last leader epoch ends in its leader's log. Without it, it "
        "truncates to its own high watermark.",
        releases=(Releases((0, 11), None),),
        inter_broker=(0, 11),
        message_format=(0, 11),
        unknown=Answer.OPEN,
        asked=Asked.PROCESS,
        source="KIP-101, KAFKA-1211",
    ),
    Behaviour(
        name="answers_with_epoch",
        says="A leader's answer to OffsetsForLeaderEpoch names the epoch that it is about: its last one up to the one "
        "asked for. The follower asks again until both logs agree.",
        releases=(Releases((2, 0), None),),
        inter_broker=(2, 0),
        needs=("truncates_by_epoch",),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KIP-279, KAFKA-6361",
    ),
    Behaviour(
        name="always_truncates_as_follower",
        says="A broker truncates each time it becomes follower and logs it, even if it removes nothing.",
        releases=(Releases(None, (0, 11)),),
        unknown=Answer.OPEN,
        source="ReplicaManager.makeFollowers, 0.10.2.2",
    ),
    Behaviour(
        name="truncates_on_fetch",
        says="A follower fetches at once, with its last epoch in the request, and truncates to the diverging epoch in "
        "the response. Without it, it asks with OffsetsForLeaderEpoch before it fetches.",
        releases=(Releases((2, 8), None),),
        inter_broker=(2, 7),
        needs=("truncates_by_epoch",),
        unknown=Answer.OPEN,
        source="KIP-595; KAFKA-10554: leaders of 2.7 answer so, followers act on it since 2.8.0",
    ),
    Behaviour(
        name="takes_hw_before_truncation",
        says="A follower whose log diverges takes over the leader's high watermark first and truncates afterwards. In "
        "between, its high watermark covers records of its own that were never committed.",
        releases=(Releases((2, 8), (3, 3, 3)), Releases((3, 4), (3, 4, 1))),
        needs=("truncates_on_fetch",),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KAFKA-14704: fixed in 3.3.3, 3.4.1 and 3.5.0; the branches 2.8 to 3.2 had no release after the fix",
    ),
    Behaviour(
        name="hw_survives_truncation",
        says="A truncation leaves the high watermark in memory where it was, even above the new log end offset, until "
        "the next fetch.",
        releases=(Releases(None, (2, 4)),),
        unknown=Answer.OPEN,
        asked=Asked.ANY,
        source="kafka.cluster.Replica up to 2.3.1; KAFKA-8457 and Log.updateHighWatermark, 2.4.0",
    ),
    Behaviour(
        name="skips_same_leader",
        says="A follower that learns of a new epoch of the leader it has neither restarts its fetcher nor truncates.",
        releases=(Releases(None, (2, 0, 1)),),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KAFKA-7164: fixed in 2.0.1 and 2.1.0",
    ),
    # -- fetching -----------------------------------------------------------------------------------------------------
    Behaviour(
        name="starts_fetching_at_leo",
        says="The offset in `Added fetcher` is the follower's log end offset.",
        releases=(Releases(None, (1, 1)),),
        unknown=Answer.OPEN,
        asked=Asked.EVERY,
        source="ReplicaManager.makeFollowers, 1.0.2",
    ),
    Behaviour(
        name="starts_fetching_at_hw",
        says="The offset in `Added fetcher` is the follower's high watermark. Where a follower truncates on fetch, it "
        "is the log end offset, or still the high watermark if its log has no leader epochs.",
        releases=(Releases((1, 1), None),),
        unless=("truncates_on_fetch",),
        unknown=Answer.OPEN,
        asked=Asked.EVERY,
        source="ReplicaManager.makeFollowers, 1.1.0 to 2.7.2; ReplicaManager.initialFetchOffset, 2.8.0",
    ),
    Behaviour(
        name="fences_stale_epochs",
        says="A follower's requests carry the leader epoch that it knows. A leader refuses any other than its own.",
        releases=(Releases((2, 1), None),),
        inter_broker=(2, 1),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KIP-320; ReplicaFetcherThread.fetchRequestVersion, 2.1.1",
    ),
    Behaviour(
        name="fences_fetch_sessions",
        says="A leader refuses a fetch of another leader epoch, also within a fetch session. So only a fetch that "
        "already waits at the leader is answered in a later epoch than the follower knows.",
        releases=(Releases((2, 5), None),),
        inter_broker=(2, 1),
        needs=("truncates_by_epoch",),
        unknown=Answer.OPEN,
        asked=Asked.EVERY,
        source="KIP-320; KAFKA-9338: up to 2.4 FetchSession forgets the epoch of the request. Kafka fences without "
        "epochs in the log too; replay does not build on that",
    ),
    # -- high watermark and ISR ---------------------------------------------------------------------------------------
    Behaviour(
        name="hw_needs_min_isr",
        says="A leader's high watermark does not rise while the ISR is smaller than min.insync.replicas.",
        releases=(Releases((3, 7), None),),
        unknown=Answer.OPEN,
        source="KIP-966; Partition.maybeIncrementLeaderHW, 3.7.0",
    ),
    Behaviour(
        name="hw_passes_fenced",
        says="A leader's high watermark does not wait for a replica outside the ISR whose broker is fenced. Without "
        "it, it waits for each one that has caught up within replica.lag.time.max.ms.",
        releases=(Releases((3, 6), None),),
        needs=("kraft",),
        unknown=Answer.OPEN,
        source="KAFKA-15021; Partition.isReplicaIsrEligible, 3.6.2",
    ),
    Behaviour(
        name="joins_below_epoch_start",
        says="A leader lets a follower into the ISR that has reached its high watermark, though not the start of its "
        "leader epoch.",
        releases=(Releases(None, (2, 0, 1)),),
        unless=("kraft",),
        unknown=Answer.OPEN,
        asked=Asked.ANY,
        source="KAFKA-7128: fixed in 2.0.1 and 2.1.0",
    ),
    Behaviour(
        name="empties_isr",
        says="If unclean elections are enabled, the controller takes a dead replica out of the ISR even if it is the "
        "last member.",
        releases=(Releases(None, (1, 1)),),
        unless=("kraft",),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KafkaController.removeReplicaFromIsr, 1.0.2; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1.0",
    ),
    Behaviour(
        name="keeps_epoch_on_shrink",
        says="A KRaft controller keeps the leader epoch when a replica leaves the ISR and the leader stays.",
        releases=(Releases((3, 6), None),),
        feature=("metadata.version", 12),
        needs=("kraft",),
        unknown=Answer.OPEN,
        asked=Asked.NEVER,
        source="KAFKA-15021: PartitionChangeBuilder.triggerLeaderEpochBumpForIsrShrinkIfNeeded; level 12 is 3.6-IV0",
    ),
    Behaviour(
        name="bumps_epoch_on_death",
        says="The controller raises the leader epoch when it takes a dead replica out of the ISR, even if the leader "
        "stays.",
        releases=(Releases(None, None),),
        unless=("keeps_epoch_on_shrink",),
        unknown=Answer.YES,
        asked=Asked.NEVER,
        source="KafkaController.removeReplicaFromIsr, 1.0.2; ReplicaStateMachine.doRemoveReplicasFromIsr, 1.1.0",
    ),
    Behaviour(
        name="elects_from_elr",
        says="The controller may elect a leader from the eligible leader replicas, which have all committed records.",
        releases=(Releases((4, 0), None),),
        feature=("eligible.leader.replicas.version", 1),
        needs=("kraft",),
        unknown=Answer.OPEN,
        source="KIP-966",
    ),
    # -- its log directories ------------------------------------------------------------------------------------------
    Behaviour(
        name="keeps_stray_replicas",
        says="A broker renames the directory of a replica whose topic the controllers do not know to -stray, and does "
        "not delete it.",
        releases=(Releases((3, 6, 1), None),),
        unknown=Answer.OPEN,
        source="KAFKA-15605",
    ),
    # -- what it logs -------------------------------------------------------------------------------------------------
    Behaviour(
        name="logs_leader_start",
        says="A leader logs the offset at which its leader epoch starts.",
        releases=(Releases((0, 11), None),),
        unknown=Answer.OPEN,
        asked=Asked.EVERY,
        source="Partition.makeLeader, 0.11.0.0",
    ),
    Behaviour(
        name="logs_opened_log",
        says="A broker logs the high watermark with which it opens a partition's log, once in a process.",
        releases=(Releases((2, 4), None),),
        unknown=Answer.OPEN,
        asked=Asked.EVERY,
        source="Partition.createLog, 2.4.0",
    ),
    Behaviour(
        name="logs_isr_commits",
        says="A leader logs at INFO which of the ISRs that it proposed were committed.",
        releases=(Releases((2, 4), None),),
        unknown=Answer.OPEN,
        source="Partition, 2.4.0; up to 2.3 at TRACE",
    ),
)
"""Every behaviour that differs between releases and that replay knows."""

_NAMED: Mapping[str, Behaviour] = {row.name: row for row in BEHAVIOURS}
_SETTINGS = {row.setting for row in BEHAVIOURS if row.setting is not None}


@dataclass(frozen=True, slots=True)
class Protocol:
    """Behaviour of one broker: an answer for each row of ``BEHAVIOURS``, in that order."""

    kraft: Answer = Answer.OPEN
    truncates_by_epoch: Answer = Answer.OPEN
    always_truncates_as_follower: Answer = Answer.OPEN
    truncates_on_fetch: Answer = Answer.OPEN
    hw_survives_truncation: Answer = Answer.OPEN
    starts_fetching_at_leo: Answer = Answer.OPEN
    starts_fetching_at_hw: Answer = Answer.OPEN
    fences_fetch_sessions: Answer = Answer.OPEN
    hw_needs_min_isr: Answer = Answer.OPEN
    hw_passes_fenced: Answer = Answer.OPEN
    joins_below_epoch_start: Answer = Answer.OPEN
    elects_from_elr: Answer = Answer.OPEN
    keeps_stray_replicas: Answer = Answer.OPEN
    logs_leader_start: Answer = Answer.OPEN
    logs_opened_log: Answer = Answer.OPEN
    logs_isr_commits: Answer = Answer.OPEN
    old_runs: frozenset[int] = field(default=frozenset())
    """Processes that did not truncate by epoch, even if the broker did later."""

    def truncates_to_hw(self, run: int) -> bool:
        """Return whether a process of the broker, as a new follower, truncates to its own high watermark."""
        return self.truncates_by_epoch is Answer.NO or run in self.old_runs


UNKNOWN_BROKER = Protocol()
"""Behaviour that replay assumes for a broker without any evidence."""


def of(broker: Broker | None, magic: int | None = None) -> Protocol:
    """Return the behaviour of a broker.

    Args:
        broker: what is known of it, or None.
        magic: newest message format among the partition's batches in the evidence, or None without batches.
    """
    processes = broker.processes if broker is not None else {}
    truncates = {run: _answer("truncates_by_epoch", _of_process(process)) for run, process in processes.items()}
    old = frozenset(run for run, found in truncates.items() if found is Answer.NO)
    known = _protocol(_of_broker(broker, magic), _ran(broker, magic))
    return replace(known, old_runs=old) if old else known


@functools.lru_cache(maxsize=1_000)  # most brokers of a cluster state the same
def _protocol(stated: _Stated, ran: frozenset[_Stated]) -> Protocol:
    """Return the behaviour of a broker by what it states and what each of its processes stated."""
    asked = (row for row in BEHAVIOURS if row.asked is not Asked.NEVER)
    return Protocol(old_runs=frozenset(), **{row.name: _of_all(row, stated, ran) for row in asked})


def answer(name: str, broker: Broker | None, magic: int | None = None) -> Answer:
    """Return whether a broker shows the behaviour of that name; for ``magic`` see ``of``."""
    return _of_all(_NAMED[name], _of_broker(broker, magic), _ran(broker, magic))


def _of_all(row: Behaviour, stated: _Stated, ran: frozenset[_Stated]) -> Answer:
    """Return whether a behaviour holds, for one or for each of the processes of a broker, as its row asks."""
    if row.asked not in (Asked.EVERY, Asked.ANY):
        return _answer(row.name, stated)
    found = [_answer(row.name, one) for one in ran or [stated]]
    return every(found) if row.asked is Asked.EVERY else some(found)


def _ran(broker: Broker | None, magic: int | None) -> frozenset[_Stated]:
    """Return what each process of a broker stated, and the same for each further release that it printed."""
    if broker is None or not (broker.processes or broker.releases):
        return frozenset()
    stated, processes = _of_broker(broker, magic), broker.processes.values()
    further = broker.releases - {process.release for process in processes}
    return frozenset(
        [*(_as_process(stated, process) for process in processes), *(stated._replace(release=one) for one in further)]
    )


def _as_process(stated: _Stated, process: Process) -> _Stated:
    """Return the same with what a process logged. An upgrade raises the release and the protocol one by one."""
    return stated._replace(
        release=process.release or stated.release,
        inter_broker=process.inter_broker or stated.inter_broker,
        message_format=process.message_format or stated.message_format,
    )


def within(ranges: Iterable[Releases], release: Release) -> Answer:
    """Return whether a release is in one of the ranges.

    ``OPEN`` if that depends on a missing last number, as with (3, 3) for 3.3.x.
    """
    first, behind = release, (*release[:-1], release[-1] + 1)
    found = []
    for since, until in ranges:
        after = since is None or since <= first
        before = until is None or behind <= until
        apart = (since is not None and behind <= since) or (until is not None and until <= first)
        found.append(Answer.YES if after and before else Answer.NO if apart else Answer.OPEN)
    return some(found)


def every(answers: Iterable[Answer]) -> Answer:
    """Return ``YES`` if all are ``YES``, ``NO`` if one is ``NO``, otherwise ``OPEN``."""
    found = {*answers}
    return Answer.NO if Answer.NO in found else Answer.OPEN if Answer.OPEN in found else Answer.YES


def some(answers: Iterable[Answer]) -> Answer:
    """Return ``YES`` if one is ``YES``, ``NO`` if all are ``NO``, otherwise ``OPEN``."""
    return _OPPOSITE[every(_OPPOSITE[one] for one in answers)]


_OPPOSITE = {Answer.YES: Answer.NO, Answer.NO: Answer.YES, Answer.OPEN: Answer.OPEN}


class _Stated(NamedTuple):
    """Facts in the evidence about one broker or process that decide on its behaviours.

    Attributes:
        release, inter_broker, message_format: as the broker states them.
        magic: newest message format among the partition's batches, or None without batches.
        settings: what is known of the settings that decide.
        configured: a setting that is not known has its default.
    """

    release: Release | None = None
    inter_broker: Release | None = None
    message_format: Release | None = None
    magic: int | None = None
    settings: frozenset[tuple[str, str]] = frozenset()
    configured: bool = False

    @property
    def at_least(self) -> Release | None:
        """Return a release that the broker's own is not below.

        A broker refuses an inter-broker protocol of a later release than its own, and a message format of a later
        release than its inter-broker protocol (KafkaConfig).
        """
        return max((one for one in (self.inter_broker, self.message_format) if one is not None), default=None)


def _of_broker(broker: Broker | None, magic: int | None) -> _Stated:
    if broker is None:
        return _Stated(magic=magic)
    inter_broker, message_format = (version_of(broker.settings.get(key)) for key in (INTER_BROKER, MESSAGE_FORMAT))
    settings = frozenset((name, broker.settings[name]) for name in _SETTINGS if name in broker.settings)
    return _Stated(broker.release, inter_broker, message_format, magic, settings, broker.configured)


def _of_process(process: Process) -> _Stated:
    return _Stated(process.release, process.inter_broker, process.message_format)


@functools.lru_cache(maxsize=10_000)  # rows ask for each other, and most brokers of a cluster state the same
def _answer(name: str, stated: _Stated) -> Answer:
    """Return the answer of the row with a name for one release."""
    row = _NAMED[name]
    if row.setting is not None and (decided := _by_setting(row, row.setting, stated)) is not None:
        return decided
    if row.message_format is not None and stated.magic is not None:
        return Answer.YES if stated.magic >= _FORMAT_2 else Answer.NO
    return every(
        (
            _by_release(row.releases, stated, row.unknown),
            _speaks(row, stated),
            _writes(row, stated),
            Answer.YES if row.feature is None else Answer.OPEN,  # a level may change within the evidence
            *(_answer(other, stated) for other in row.needs),
            *(_OPPOSITE[_answer(other, stated)] for other in row.unless),
        )
    )


_FORMAT_2 = 2
"""Message format that stores the leader epoch with each batch (0.11, KIP-98 and KIP-101)."""
_METADATA_VERSION = (3, 0)
"""Lowest ``metadata.version``; inter-broker protocol from which brokers ignore the message format (KIP-724)."""


def _by_setting(row: Behaviour, setting: str, stated: _Stated) -> Answer | None:
    """Return the answer of ``process.roles``; None if it is known to be unset, or if a release has no such setting."""
    known = dict(stated.settings)
    if known.get(setting, "").strip("[] "):
        return Answer.YES
    if _below_kraft(stated):
        return Answer.NO
    if setting in known or stated.configured:
        return None
    always = _by_release(row.releases, stated, Answer.OPEN)
    may = some((always, _by_release(row.optional, stated, Answer.OPEN)))
    return None if always is Answer.YES or may is Answer.NO else Answer.OPEN


def _below_kraft(stated: _Stated) -> bool:
    """Return whether a broker states an inter-broker protocol below the first one of KRaft.

    There is no reason to set one with KRaft, which ignores it and warns (KafkaConfig, 3.3).
    """
    return stated.inter_broker is not None and stated.inter_broker < _METADATA_VERSION


def _by_release(ranges: Iterable[Releases], stated: _Stated, unknown: Answer) -> Answer:
    """Return whether a broker's release is in one of the ranges; ``unknown`` if nothing is known of it."""
    if stated.release is not None:
        return within(ranges, stated.release)
    return unknown if stated.at_least is None else _from_on(ranges, stated.at_least)


def _from_on(ranges: Iterable[Releases], least: Release) -> Answer:
    """Return whether each release that is not below the given one is in one of the ranges."""
    left = [one for one in ranges if one.until is None or one.until > least]
    if not left:
        return Answer.NO
    return Answer.YES if any(since is None or since <= least for since, until in left if until is None) else Answer.OPEN


def _speaks(row: Behaviour, stated: _Stated) -> Answer:
    """Return whether the gate of the inter-broker protocol is passed."""
    if row.inter_broker is None:
        return Answer.YES
    return some((_by_metadata_version(stated), _speaks_at_least(row.inter_broker, stated)))


def _writes(row: Behaviour, stated: _Stated) -> Answer:
    """Return whether the gate of the message format is passed."""
    if row.message_format is None:
        return Answer.YES
    ignored = (_by_metadata_version(stated), _speaks_at_least(_METADATA_VERSION, stated))
    return some((*ignored, _reaches(stated.message_format, row.message_format, stated)))


def _by_metadata_version(stated: _Stated) -> Answer:
    """Return whether ``metadata.version`` decides, so that the broker ignores both settings (KIP-778, KIP-724)."""
    since = _by_release((Releases(_METADATA_VERSION, None),), stated, Answer.OPEN)
    return every((_answer("kraft", stated), since))


def _speaks_at_least(least: Release, stated: _Stated) -> Answer:
    """Return whether the inter-broker protocol is of a release or a later one; it is not below the message format."""
    if stated.inter_broker is None and stated.message_format is not None and stated.message_format >= least:
        return Answer.YES
    return _reaches(stated.inter_broker, least, stated)


def _reaches(setting: Release | None, least: Release, stated: _Stated) -> Answer:
    """Return whether a setting is of a release or a later one. It is not above the broker's own, which is its default.

    Where neither the setting nor the whole configuration is in the evidence, it may be of any release up to that.
    """
    if setting is not None:
        return Answer.NO if setting < least else Answer.YES
    default = _by_release((Releases(least, None),), stated, Answer.OPEN)
    return default if stated.configured or default is Answer.NO else Answer.OPEN
