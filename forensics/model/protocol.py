"""The replication protocols side by side: one row of differences each.

| name | Kafka | a new follower |
|---|---|---|
| ``hw`` | up to 0.10 | truncates its log to its own high watermark |
| ``epoch`` | 0.11–1.1 (KIP-101) | asks where its newest epoch ended on the leader, truncates to that |
| ``epoch-279`` | 2.0–2.7 (KIP-279, KIP-320) | the same with (epoch, end) in the answer, repeated until both agree |
| ``fetch`` | 2.8 on (KIP-595) | fetches with the epoch of its last record; the answer names the diverging epoch |

Each row is one version of Kafka, whose wording and small rules (ISR, HW) it follows: ``epoch-279`` is 2.8.2 with an
inter-broker protocol below 2.7, which keeps the old request. If another version of the same protocol differs, it is a
row of its own among the variants. ``epoch-279-2.0`` is 2.0.0, whose leaders and followers are those of 1.1 except for
the new answer; the rest of ``epoch-279`` came with 2.0.1 and 2.1. ``fetch-14704`` is 2.8.2 as released, before that
issue was fixed.

Replay (``forensics.replay.protocol``) uses the same names for the same behaviours. The two share only these names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from forensics.model.state import NO_EPOCH, NO_OFFSET, EpochCache


class UnknownName(KeyError):
    """An unknown name. The text lists the known ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class EpochQuestion(NamedTuple):
    """A follower's OffsetsForLeaderEpoch request, as far as it is about the partition."""

    version: int
    leader_epoch: int
    """Epoch whose end is asked for: the newest in the follower's cache, -1 if there is none."""
    current_leader_epoch: int | None
    """Epoch that the follower believes to be the leader's; from version 2 (2.1, KIP-320) stale ones are refused."""
    replica: int | None
    """The follower, from version 3 (2.3, KIP-392)."""


class EpochEnd(NamedTuple):
    """An answer to OffsetsForLeaderEpoch. Version 0 of the response (0.11–1.1) had no epoch: it is then -1."""

    epoch: int
    end: int


@dataclass(frozen=True, slots=True)
class Protocol:
    """Behaviour of one generation of Kafka where generations differ."""

    name: str
    kafka: str
    """The version whose wording the evidence has."""
    mode: Literal["zk", "kraft"]
    summary: str
    inter_broker: str
    """``inter.broker.protocol.version`` or, with KRaft, ``metadata.version``."""
    magic: Literal[1, 2]
    """Message format on disk; only format 2 stores the leader epoch."""
    truncates_by: Literal["hw", "epoch", "epoch-279", "fetch"]
    asks_by: Literal[0, 1, 3, 4] | None
    """Version of OffsetsForLeaderEpoch its followers send, which follows from ``inter_broker``; None: they never do."""
    epoch_entry: Literal["never", "first-append", "becoming-leader"]
    """When a leader's epoch cache gets its entry: since 2.0.1 (KAFKA-7415) as soon as it leads. From then on an entry
    also drops those it contradicts, and an epoch older than the cache ends where the cache begins."""
    hw_survives_truncation: bool
    """Up to 2.3 the HW lived beside the log, and a truncation left it where it was, even above the new end."""
    fences_stale_epochs: bool
    """From 2.1 (KIP-320) requests carry the leader epoch the follower knows, and stale ones are refused."""
    skips_same_leader: bool
    """Up to 2.0.0 a follower that receives a new epoch under the same leader neither restarts its fetcher nor
    reconciles (KAFKA-7164).
    """
    joins_below_epoch_start: bool
    """Up to 2.0.0 a follower entered the ISR with LEO >= HW; since 2.0.1 and 2.1 it needs the start of the leader's
    epoch too (KAFKA-7128)."""
    halts_on_short_leader: bool
    """Up to 2.0.0 a broker that would have to truncate below a shorter leader halts itself, unless unclean elections
    are allowed (KAFKA-7414).
    """
    halts_on_failed_dir: bool
    """From 1.0 (KIP-112) a broker whose last log directory failed, by a checkpoint it cannot read, ends itself."""
    hw_needs_min_isr: bool
    """From 3.7 (KIP-966) the HW does not advance while the ISR is smaller than ``min.insync.replicas``."""
    caught_up_by_offset: bool
    """From 2.1 a follower at the leader's end offset is in sync however long ago it last fetched."""
    takes_hw_before_truncation: bool
    """KAFKA-14704: a diverging follower adopts the leader's HW first and truncates afterwards (2.8 to 3.3.2; 3.4.0)."""
    bumps_epoch_on_death: bool
    """ZooKeeper mode: the controller raises the leader epoch when it takes a dead replica out of the ISR."""
    empties_isr: bool
    """Up to 1.0 the last member of the ISR leaves it too when it dies, unless unclean elections are off
    (``KafkaController.removeReplicaFromIsr``); since 1.1 it stays."""
    lag_ms: int
    """``replica.lag.time.max.ms``: 10 s up to 2.4, 30 s since."""
    unclean_default: bool
    """Default of ``unclean.leader.election.enable``: true up to 0.10.2."""

    @property
    def epochs(self) -> bool:
        """True if logs store leader epochs at all."""
        return self.magic == 2

    @property
    def kraft(self) -> bool:
        """True if brokers follow the metadata log of a KRaft controller."""
        return self.mode == "kraft"

    @property
    def truncates_by_epoch(self) -> bool:
        """True if a new follower truncates to where its epoch ends on its leader, not to its own HW (KIP-101)."""
        return self.truncates_by != "hw"

    @property
    def answers_with_epoch(self) -> bool:
        """True if a leader's answer names the epoch whose end it gives (KIP-279)."""
        return self.truncates_by in ("epoch-279", "fetch")

    @property
    def truncates_on_fetch(self) -> bool:
        """True if the answer to a fetch shows the follower where its log diverges (KIP-595)."""
        return self.truncates_by == "fetch"

    @property
    def cache_drops_contradicted(self) -> bool:
        """True if the epoch cache is that of 2.0.1 on, see ``epoch_entry``."""
        return self.epoch_entry == "becoming-leader"


HW = Protocol(
    name="hw",
    kafka="0.10.2.2",
    mode="zk",
    summary="truncation to the high watermark (up to 0.10)",
    inter_broker="0.10.2-IV0",
    magic=1,
    truncates_by="hw",
    asks_by=None,
    epoch_entry="never",
    hw_survives_truncation=True,
    fences_stale_epochs=False,
    skips_same_leader=True,
    joins_below_epoch_start=True,
    halts_on_short_leader=True,
    halts_on_failed_dir=False,
    hw_needs_min_isr=False,
    caught_up_by_offset=False,
    takes_hw_before_truncation=False,
    bumps_epoch_on_death=True,
    empties_isr=True,
    lag_ms=10_000,
    unclean_default=True,
)

EPOCH = replace(
    HW,
    name="epoch",
    kafka="1.1.1",
    summary="leader epochs, one question (KIP-101, 0.11 to 1.1)",
    inter_broker="1.1-IV0",
    magic=2,
    truncates_by="epoch",
    asks_by=0,
    epoch_entry="first-append",
    halts_on_failed_dir=True,
    empties_isr=False,
    unclean_default=False,
)

EPOCH_279 = replace(
    EPOCH,
    name="epoch-279",
    kafka="2.8.2",
    summary="leader epochs, asked until both logs agree (KIP-279 and KIP-320, 2.0 to 2.7)",
    inter_broker="2.6-IV0",
    truncates_by="epoch-279",
    asks_by=3,
    epoch_entry="becoming-leader",
    hw_survives_truncation=False,
    fences_stale_epochs=True,
    skips_same_leader=False,
    joins_below_epoch_start=False,
    halts_on_short_leader=False,
    caught_up_by_offset=True,
    lag_ms=30_000,
)

FETCH = replace(
    EPOCH_279,
    name="fetch",
    kafka="3.9.1",
    mode="kraft",
    summary="truncation decided by the fetch itself (KIP-595, 2.8 on)",
    inter_broker="3.9-IV0",
    truncates_by="fetch",
    asks_by=4,
    hw_needs_min_isr=True,
    bumps_epoch_on_death=False,
)

PROTOCOLS: tuple[Protocol, ...] = (HW, EPOCH, EPOCH_279, FETCH)

EPOCH_279_2_0 = replace(
    EPOCH,
    name="epoch-279-2.0",
    kafka="2.0.0",
    summary="the same in its first version: no fencing, the ISR entered below the epoch's start (2.0.0)",
    inter_broker="2.0-IV1",
    truncates_by="epoch-279",
    asks_by=1,
)

FETCH_14704 = replace(
    FETCH,
    name="fetch-14704",
    kafka="2.8.2",
    mode="zk",
    inter_broker="2.8-IV1",
    summary="as fetch, with the high watermark taken before the truncation (KAFKA-14704, 2.8 to 3.4.0)",
    hw_needs_min_isr=False,
    takes_hw_before_truncation=True,
    bumps_epoch_on_death=True,
)

VARIANTS: tuple[Protocol, ...] = (EPOCH_279_2_0, FETCH_14704)
"""Versions that differ from the one that stands for their protocol."""

EVERY: tuple[Protocol, ...] = (HW, EPOCH, EPOCH_279_2_0, EPOCH_279, FETCH_14704, FETCH)
"""Protocols and variants, by age."""


def named(name: str) -> Protocol:
    """The protocol or variant of that name.

    Raises:
        UnknownName: No such protocol; the message lists those there are.
    """
    for protocol in EVERY:
        if protocol.name == name:
            return protocol
    raise UnknownName(f"no protocol {name!r}; there are {', '.join(p.name for p in EVERY)}")


# -- OffsetsForLeaderEpoch --------------------------------------------------------------------------------------------


def question(protocol: Protocol, cache: EpochCache, current: int, replica: int) -> EpochQuestion | None:
    """Return a follower's request to its leader before it fetches, or None without one.

    Up to 2.0 it sends one even without an epoch (``ReplicaFetcherThread.buildLeaderEpochRequest``). From 2.1 it then
    truncates to its HW at once (``AbstractFetcherThread.maybeTruncate``). With truncation on fetch only a log without
    epochs would have to send one.
    """
    version = protocol.asks_by
    if version is None or (not cache.entries and protocol.kafka >= "2.1"):
        return None
    return EpochQuestion(version, cache.latest, current if version >= 2 else None, replica if version >= 3 else None)


def answer(protocol: Protocol, cache: EpochCache, asked: int, leo: int) -> EpochEnd:
    """Return the end of epoch ``asked`` in a log: a leader's reply, and from 2.0 a follower's look at its own log.

    Up to 1.1 (``LeaderEpochFileCache.endOffsetFor`` of 1.1.1): the LEO for the newest epoch, else the start of the
    first later epoch, undefined for epochs outside the cache. From 2.0.0 the answer names the largest epoch not above
    the requested one. From 2.0.1 an epoch older than the cache ends where the cache begins.
    """
    entries = cache.entries
    if asked == NO_EPOCH or not entries:
        return EpochEnd(NO_EPOCH, NO_OFFSET)
    versioned = protocol.answers_with_epoch
    if asked == entries[-1][0]:
        return EpochEnd(asked if versioned else NO_EPOCH, leo)
    later = [start for epoch, start in entries if epoch > asked]
    earlier = [epoch for epoch, _ in entries if epoch <= asked]
    if not later:
        return EpochEnd(NO_EPOCH, NO_OFFSET)
    if not earlier:
        return EpochEnd(asked, later[0]) if protocol.cache_drops_contradicted else EpochEnd(NO_EPOCH, NO_OFFSET)
    return EpochEnd(earlier[-1] if versioned else NO_EPOCH, later[0])


class Cut(NamedTuple):
    """A follower's truncation after an answer."""

    to: int
    done: bool
    """False: it must ask again, its log has no such epoch."""
    why: Literal["epoch", "unknown", "unknown-epoch"]


def cut_by_answer(protocol: Protocol, cache: EpochCache, reply: EpochEnd, leo: int, hw: int) -> Cut:
    """Return where a follower with this cache and LEO truncates to, given its leader's reply.

    The rules of ``ReplicaFetcherThread.maybeTruncate`` (0.11–1.1) and
    ``AbstractFetcherThread.getOffsetTruncationState`` (2.0 on, used by truncation on fetch as well).
    """
    if reply.end == NO_OFFSET:
        return Cut(min(hw, leo), True, "unknown")
    if protocol.truncates_by == "epoch":
        return Cut(min(reply.end, leo), True, "epoch")
    own = answer(protocol, cache, reply.epoch, leo)
    if own.end == NO_OFFSET:
        return Cut(min(reply.end, leo), True, "epoch")
    if own.epoch != reply.epoch:
        return Cut(min(own.end, leo), False, "unknown-epoch")
    return Cut(min(own.end, reply.end, leo), True, "epoch")


def diverges(protocol: Protocol, cache: EpochCache, leo: int, fetch_offset: int, last_epoch: int) -> EpochEnd | None:
    """The diverging epoch a leader puts into a fetch response, if any (``Partition.readRecords``, KIP-595).

    Raises:
        LookupError: The leader cannot place the epoch: the follower gets OFFSET_OUT_OF_RANGE.
    """
    if not protocol.truncates_on_fetch or last_epoch == NO_EPOCH:
        return None
    reply = answer(protocol, cache, last_epoch, leo)
    if reply.end == NO_OFFSET or reply.epoch == NO_EPOCH:
        raise LookupError(last_epoch)
    return reply if reply.epoch < last_epoch or reply.end < fetch_offset else None
