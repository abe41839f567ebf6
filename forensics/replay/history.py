"""Facts about one partition, as replay finds them and rules judge them, each with its evidence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar, cast

from forensics.case import Origin
from forensics.replay.coverage import Coverage
from forensics.replay.facts.directory import Copy, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.inferences import Inferred
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.partition_protocol import AS_NOW, PartitionProtocol
from forensics.replay.partition_states import PartitionStates
from forensics.replay.signs.line_signs import NO_SIGNS, LineSigns
from forensics.replay.signs.stated import NOTHING, Stated

if TYPE_CHECKING:
    from forensics.replay.leadership.state_changes import StateChanged
    from forensics.replay.quorum.voting import Quorum
    from forensics.replay.roles.steps import RoleSpan
    from forensics.replay.traces.results import Played


T = TypeVar("T")


class Role(StrEnum):
    """Role of a replica in a role span."""

    LEADER = "leader"
    FOLLOWER = "follower"
    OFFLINE = "offline"  # it received an epoch without a leader


class TruncationReason(StrEnum):
    """Offset to which a replica truncated its log."""

    HIGH_WATERMARK = "high watermark"  # its own (a follower before KIP-101, or one without leader epochs)
    LEADER_EPOCH = "leader epoch"  # where its leader's epoch ends (KIP-101, KIP-279)
    LEADER_END_OFFSET = "leader's end offset"  # its fetch offset was beyond the log of its leader
    LOG_START = "log start offset"  # all removed: its log, or that of its leader, starts above what it had
    REMOTE_LOG_END = "remote log's end"  # all removed: what is below is in remote storage (KIP-405)
    UNKNOWN = "unknown"  # no line names it


class ShortenedBy(StrEnum):
    """Event after which a log was found shorter, with no truncation in between."""

    CLEAN_RESTART = "clean restart"  # loaded by a process after one that had stopped cleanly
    UNCLEAN_RESTART = "unclean restart"  # loaded by a process after one that had not
    RECOVERY = "recovery"  # log recovery removed what it found to be corrupt
    VOTER_RESTART = "restart of a voter"  # loaded by a process of the metadata quorum: a voter flushes what it has
    NEW_LOG = "new log"  # an empty log was created in its place
    LATER_LOOK = "later look"  # found so after its process had ended; no process has loaded it since
    DIR_FAILURE = "log directory failure"  # the same, after its log directory had failed
    NO_LINE = "no line"  # a complete trace states both lengths, and nothing in between


class HwSource(StrEnum):
    """The kind of evidence that states a high watermark."""

    PRINTED = "printed"  # a line prints it
    PRINTED_BY_LEADER = "printed-by-leader"  # the same, of the leader of the epoch that it is about
    SAME_EPOCH = "same-epoch"  # the replica that truncates stated it before, in the same leader epoch
    CHECKPOINT = "checkpoint"  # replication-offset-checkpoint
    SNAPSHOT = "snapshot"  # it is at least this: a node has a snapshot of the metadata log up to there
    LEFT_BEHIND = "left-behind"  # that file in a directory that is not the live one
    READ_BACK = "read-back"  # the first role after a restart begins with it, so it was reached before
    KEPT = "kept"  # a later role of the same process begins with it, so it was reached before
    ACKNOWLEDGED = "acknowledged"  # it is at least this: the records below were acknowledged with acks=all
    CONSUMED = "consumed"  # it is at least this: a consumer read the records below
    READ_BY_GROUP = "read-by-group"  # it is at least this: a consumer group committed the position behind a record
    SCRAPED = "scraped"  # it was this at the scrape or before: an exporter of metrics printed it
    ALONE_IN_ISR = "alone-in-isr"  # a leader alone in the ISR commits what it appends
    STEPPED_DOWN = "stepped-down"  # a leader had it as it began to follow another one


class RegressionKind(StrEnum):
    """In which way a high watermark went back."""

    LEADER = "leader"  # a leader's, within one epoch and run
    LED_ON = "led on"  # a leader's, as it took up the next epoch in the same run, by a complete trace
    PROCESS = "process"  # a leader's, below what its process had before it led, by a complete trace
    FOLLOWER = "follower"  # a follower's, below what it had received in the same role, by a complete trace
    CHECKPOINT = "checkpoint"  # its checkpoint file was lost, emptied or put back
    CHECKPOINT_FILE = "checkpoint file"  # below what its checkpoint file had before it was killed, by a complete trace
    MOVED = "moved"  # the log is in another directory, whose checkpoint file never named it


@dataclass(frozen=True, slots=True)
class Regression:
    """A high watermark that went back where it may not.

    Attributes:
        replica: broker id.
        epoch: leader epoch.
        before, after: the two values; ``before`` is the least it had been.
        kind: in which way it went back.
        time: microseconds since 1970 UTC, or None.
        refs: evidence.
        role_by_clock: the lines of the values do not state the role. That the replica led then follows from the times
            of another file.
        maybe_reordered: the later value is of a request log. A broker writes a line there when it has sent the response
            (RequestChannel.Response), so two reads of the log may have their lines in another order.
    """

    replica: int
    epoch: int
    before: int
    after: int
    kind: RegressionKind
    time: int | None
    refs: tuple[Ref, ...]
    role_by_clock: bool = False
    maybe_reordered: bool = False


@dataclass(frozen=True, slots=True)
class HwAboveIsrMember:
    """A leader's high watermark above the log end offset of a replica that was in the ISR.

    Attributes:
        leader: the leader.
        epoch: leader epoch.
        replica: the replica behind.
        high_watermark: the leader's.
        end: the replica's log end offset, as the leader knew it or a trace states it.
        time: microseconds since 1970 UTC, or None.
        refs: evidence.
        removed: with that line the leader removed it from the ISR.
    """

    leader: int
    epoch: int
    replica: int
    high_watermark: int
    end: int
    time: int | None
    refs: tuple[Ref, ...]
    removed: bool = True


@dataclass(frozen=True, slots=True)
class Deletion:
    """Records that a leader removed from the beginning of its log, by retention or by request.

    Attributes:
        replica: broker id.
        epoch: leader epoch in which it did.
        log_start: first offset that it kept.
        ref: evidence.
    """

    replica: int
    epoch: int
    log_start: int
    ref: Ref


@dataclass(frozen=True, slots=True)
class OwnHw:
    """A high watermark that a replica stated of records in its own log.

    Attributes:
        first: first offset of these records.
        end: the high watermark, within its log.
        ref: the line.
        time: microseconds since 1970 UTC, or None.
        restored: its process read the value back when it loaded the log, before it followed anybody. Otherwise it was
            stated of records that the replica has from the leader of its role.
    """

    first: int
    end: int
    ref: Ref
    time: int | None
    restored: bool = False


@dataclass(frozen=True, slots=True)
class EpochAnswer:
    """The answer of a leader to a follower that is about to truncate: where a leader epoch ends in the leader's log.

    Attributes:
        epoch: leader epoch that the answer is about.
        end: its end offset in the leader's log.
    """

    epoch: int
    end: int


@dataclass(frozen=True, slots=True)
class Truncation:
    """Records removed from the end of one replica's log.

    Attributes:
        replica: broker id.
        epoch: leader epoch in which it happened (that of the role span).
        leader: leader it then followed, or None.
        target: new log end offset.
        before: log end offset before.
        lineage: the log before.
        reason: offset to which the replica truncated.
        time: microseconds since 1970 UTC, or None.
        refs: evidence.
        repeats: number of identical truncations that followed.
        last: time and line of the last of them; None if none followed.
        own_hw: a high watermark above the target that the replica had stated before, about the removed records.
        answer: the answer of its leader that made it truncate, if a line states it.
    """

    replica: int
    epoch: int
    leader: int | None
    target: int
    before: Interval
    lineage: Lineage
    reason: TruncationReason
    time: int | None
    refs: tuple[Ref, ...]
    repeats: int = 0
    last: tuple[int | None, Ref] | None = None
    own_hw: OwnHw | None = None
    answer: EpochAnswer | None = None

    @property
    def end(self) -> int:
        """The least that the log end offset before can have been."""
        return self.before.low


@dataclass(frozen=True, slots=True)
class HwStatement:
    """A high watermark: the records below it, in the log of the leader it came from, are committed.

    Attributes:
        replica: broker that stated it.
        epoch: leader epoch in which it was reached; UNKNOWN if only the replica's own log is known.
        lineage: the log it is about.
        high_watermark: first offset that is not committed.
        how: what states it.
        time: when it was stated, microseconds since 1970 UTC, or None. It may have been reached earlier.
        refs: evidence.
        earlier: it was read back by a later role span than the one that reached it.
        by: inferences by which it is about this log.
        group: consumer group whose position shows it; ``replica`` is the leader of the epoch then.
    """

    replica: int
    epoch: int
    lineage: Lineage
    high_watermark: int
    how: HwSource
    time: int | None
    refs: tuple[Ref, ...]
    earlier: bool = False
    by: tuple[Inferred, ...] = ()
    group: str | None = None

    @property
    def implied(self) -> bool:
        """Return whether no line or file states it: the protocol implies it."""
        return self.how is HwSource.ALONE_IN_ISR


@dataclass(frozen=True, slots=True)
class ShortenedLog:
    """A log that was found shorter than it was known to be, with no truncation in between.

    Attributes:
        replica: broker id.
        epoch: leader epoch in which it reached ``end``.
        before: log end offset before. Where its own lines do not give it, its ISR membership implies a lower bound, or
            what a follower had fetched from it.
        target: log end offset that was found.
        lineage: the log before.
        time: when it was found, microseconds since 1970 UTC.
        refs: evidence.
        fetched_by: that follower.
        cause: event after which the log was shorter.
        dir_failed: its log directory had failed before.
        dir_empty: line that its log directory held no log as its process started, or None.
        dir_older: lines that show that the directory is older than the process before had left it.
    """

    replica: int
    epoch: int
    before: Interval
    target: int
    lineage: Lineage
    time: int | None
    refs: tuple[Ref, ...]
    cause: ShortenedBy = ShortenedBy.CLEAN_RESTART
    fetched_by: int | None = None
    dir_failed: bool = False
    dir_empty: Ref | None = None
    dir_older: tuple[Ref, ...] = ()

    @property
    def failure(self) -> Ref | None:
        """The line that its log directory had failed, which is the last of its evidence; None if none had."""
        return self.refs[-1] if self.dir_failed and len(self.refs) > 1 else None

    @property
    def end(self) -> int:
        """The least that the log end offset before can have been."""
        return self.before.low


@dataclass(frozen=True, slots=True)
class EpochRollback:
    """A sign that leader epochs went back, so that their order is not the order of the leaders.

    Attributes:
        text: what shows it, in words.
        epoch: the epoch that came again, or came after a higher one.
        time: microseconds since 1970 UTC, or None.
        refs: evidence.
        of_lines: leader epochs that the lines of all replicas show are in order nevertheless, if no line is missing.
    """

    text: str
    epoch: int
    time: int | None
    refs: tuple[Ref, ...]
    of_lines: bool = False


@dataclass(frozen=True, slots=True)
class StateChange:
    """A line of a replica and the values that it changed. Role spans have what changed its role and its ISR.

    Attributes:
        row: the line.
        end: log end offset from here on, or the least that it can be; -1 if it is unknown. None, with the next three:
            as before.
        exact: the log ends there.
        stated: the log ended there; records may have been appended since.
        end_row: the line that states the end.
        hw: high watermark that the line states, or None.
    """

    row: int
    end: int | None
    exact: bool | None
    stated: bool | None
    end_row: int | None
    hw: int | None


@dataclass(slots=True)
class Replica:
    """One replica at the end of the evidence.

    Attributes:
        broker: broker id.
        lineage: its log.
        end: log end offset, or None.
        log_start: first offset it holds.
        checkpoint: high watermark in its checkpoint file, with its evidence.
        on_disk: whether its segments are in the evidence.
        stated_end: log end offset with which the lines of a trace end that claims to state each change, or None.
        first_time: time of its earliest line about the partition.
        directory: path of its data directory in the evidence.
        changes: what its lines changed of its state, in order. Those about progress are left out: replay reads only
            some of them.
    """

    broker: int
    lineage: Lineage = field(default_factory=Lineage)
    end: int | None = None
    log_start: int = 0
    checkpoint: tuple[int, Ref] | None = None
    on_disk: bool = False
    first_time: int | None = None
    last_time: int | None = None
    directory: str | None = None
    starts_empty: bool = False
    magic: int | None = None
    end_refs: tuple[Ref, ...] = ()
    stated_end: int | None = None
    changes: list[StateChange] = field(default_factory=list)

    @property
    def held_end(self) -> int | None:
        """Log end offset by its files, else by a complete trace."""
        return self.end if self.end is not None else self.stated_end


@dataclass(frozen=True, slots=True)
class TruncatedThenLed:
    """A follower that truncated its log and led next, and another replica that then removed more to follow it.

    Attributes:
        replica: broker id of the first.
        target: offset to which it truncated.
        other: broker id of the second.
        end: log end offset with which the second loaded its log before it truncated.
        time: when the first led, microseconds since 1970 UTC, or None.
        refs: the lines: the load of the second, then those of the first, then the truncation of the second.
    """

    replica: int
    target: int
    other: int
    end: int
    time: int | None
    refs: tuple[Ref, ...]


@dataclass(slots=True)
class History:
    """Everything replay concludes about one incarnation of a partition, beside the facts that it read."""

    facts: PartitionFacts
    protocol: PartitionProtocol = AS_NOW
    signs: LineSigns = NO_SIGNS
    replicas: dict[int, Replica] = field(default_factory=dict)
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    truncations: list[Truncation] = field(default_factory=list)
    truncations_of_unknown_extent: list[Truncation] = field(
        default_factory=list
    )  # truncations that may have removed nothing
    shortened_logs: list[ShortenedLog] = field(default_factory=list)
    statements: list[HwStatement] = field(default_factory=list)
    read_by_groups: list[HwStatement] = field(default_factory=list)  # by positions of consumer groups, highest first
    scraped: list[HwStatement] = field(default_factory=list)  # by exporters of metrics, highest first
    role_spans: dict[int, list[RoleSpan]] = field(default_factory=dict)
    regressions: list[Regression] = field(default_factory=list)
    members_behind: list[HwAboveIsrMember] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)  # what the absence of a line proves, for each replica
    only_elected: frozenset[int] = frozenset()  # epochs of which nothing but the election shows the leader
    epoch_rollbacks: list[EpochRollback] = field(
        default_factory=list
    )  # signs that the order of epochs is not that of leaders
    isr_commits: dict[int, list[int]] = field(default_factory=dict)  # partition epochs that leaders committed, by epoch
    states: PartitionStates = field(default_factory=PartitionStates)
    copies: dict[int, Copy] = field(default_factory=dict)  # of replicas whose segments are in the evidence
    deletions: list[Deletion] = field(default_factory=list)  # what leaders removed from the beginning of the log
    regressions_in_doubt: list[Regression] = field(default_factory=list)  # while lines of their broker are missing
    members_in_doubt: list[HwAboveIsrMember] = field(default_factory=list)  # the same
    truncated_then_led: list[TruncatedThenLed] = field(default_factory=list)  # where no line names a leader epoch
    changes: tuple[StateChanged, ...] = field(default=(), repr=False, compare=False)  # of leader and ISR, in order
    quorum: Quorum | None = None  # of the metadata log, whose leaders are elected by majority
    stated: Stated = NOTHING  # statements that break an invariant by themselves
    # what a complete trace decides, where its lines decide it
    played: Played | None = field(default=None, repr=False, compare=False)
    # the same up to where the trace contradicts itself; what it claims does not count then
    doubted: Played | None = field(default=None, repr=False, compare=False)
    answers: dict[str, object] = field(default_factory=dict, repr=False, compare=False)  # answers computed before
    # topic and partition of the first one of the case of which the same is known, so that the rules answer the same
    alike: tuple[str, int] | None = field(default=None, repr=False, compare=False)

    def whole_with_files(self, broker: int | None) -> bool:
        """Return whether all lines of a broker about its replica, and the replica's segments, are in the evidence."""
        replica = self.replicas.get(broker) if broker is not None else None
        return replica is not None and replica.on_disk and self.coverage.whole(broker)

    def log_lines_complete(self, role_span: RoleSpan) -> bool:
        """Return whether an absent line about a replica's log is proof within one of its roles."""
        return self.coverage.log_lines_complete(role_span.replica, role_span.epoch, role_span.run)

    @property
    def controllers(self) -> frozenset[int]:
        """Nodes with a replica that are controllers and no brokers: there are some of the metadata log alone."""
        return self.quorum.controllers if self.quorum is not None else frozenset()

    @property
    def members(self) -> frozenset[int]:
        """Every broker that the evidence names as a replica: by its files or its roles, in an ISR, or as a leader.

        A file without a segment shows one too: a broker writes checkpoints of its own replicas alone. A broker that a
        trace lists, and claims nothing of, counts as well.
        """
        # A controller logs partitions of which it holds no replica.
        found = {b for b, disk in self.facts.disks.items() if disk.shows_replica} | self.facts.listed
        found |= {b for b, replica in self.replicas.items() if replica.directory is not None or self.role_spans.get(b)}
        return frozenset(found | self.epochs.naming.keys())

    @property
    def holders(self) -> frozenset[int]:
        """Every broker that led the partition or was in its ISR; none of the metadata log, which has no ISR."""
        if self.quorum is not None:
            return frozenset()
        return frozenset(self.epochs.naming)

    @property
    def members_whole(self) -> bool:
        """Return whether an absent line of any replica is proof, within its lines."""
        return self.members <= self.coverage.whole_replicas()

    @property
    def taken_up(self) -> list[Epoch]:
        """The leader epochs that a leader took up, in order.

        One that must have existed although no line names it (``Coverage.unnamed``) is among them, with nothing known.
        """
        named = (epoch for epoch in self.epochs.values() if epoch.leader_took_up)
        if not self.coverage.unnamed:
            return [*named]
        return sorted((*named, *map(Epoch, self.coverage.unnamed)), key=lambda epoch: epoch.epoch)

    def led_before(self, number: int) -> Epoch | None:
        """Return the last leader epoch below a number for which a leader is known, or None.

        Another broker may have led since then, in an epoch that no line names (``Coverage.unnamed_between``).
        """
        return next((one for one in reversed(self.epochs.before(number)) if one.leader not in (None, -1)), None)

    @property
    def seen_by_clients(self) -> list[HwStatement]:
        """High watermarks that only clients saw: they bound from below, and leave nothing open."""
        return [*self.read_by_groups, *self.scraped]

    @property
    def contested(self) -> frozenset[int]:
        """Epochs with two leaders: an epoch does not show which of them wrote a record."""
        return self.epochs.contested

    @property
    def topic(self) -> str:
        """As in the facts."""
        return self.facts.topic

    @property
    def partition(self) -> int:
        """As in the facts."""
        return self.facts.partition

    @property
    def topic_id(self) -> str | None:
        """As in the facts."""
        return self.facts.topic_id

    @property
    def cluster(self) -> str | None:
        """As in the facts."""
        return self.facts.cluster

    @property
    def incarnation(self) -> int:
        """As in the facts."""
        return self.facts.incarnation

    @property
    def origin(self) -> Origin:
        """As in the facts."""
        return self.facts.origin

    @property
    def name(self) -> str:
        """As in the facts."""
        return self.facts.name

    @property
    def current(self) -> Epoch | None:
        """The last epoch with a leader that took it up, by number."""
        led = (one for one in reversed(self.epochs.values()) if one.leader_took_up and one.leader not in (None, -1))
        return next(led, None)


_QUESTIONS: set[str] = set()
"""Names of the questions that are answered once for each history."""


def once(question: Callable[[History], T]) -> Callable[[History], T]:
    """Decorator: compute the answer once for each history, because several rules ask for it.

    Replay itself must not ask: what it has not found yet would be missing from the answer. The answer is kept by the
    name of the question, so no two questions have one name.
    """
    name = question.__name__
    assert name not in _QUESTIONS, name
    _QUESTIONS.add(name)

    @functools.wraps(question)
    def asked(history: History) -> T:
        if name not in history.answers:
            history.answers[name] = question(history)
        return cast("T", history.answers[name])

    return asked
