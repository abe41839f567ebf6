"""Wants: what would settle a question that the evidence leaves open, as files of brokers and their contents.

A want consists of values; ``forensics.rules.wording`` writes it in words. It does not name its partition: two
partitions that lack the same have equal wants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from forensics.case import Origin
from forensics.replay.coverage import MissingLines
from forensics.replay.lineage import Range


class Artefact(StrEnum):
    """Something to collect. The value is its name in sentences."""

    SERVER_LOG = "server.log"
    STATE_CHANGE_LOG = "state-change.log"
    CONTROLLER_LOG = "the controller's log"
    METADATA_LOG = "__cluster_metadata"
    PARTITION_LOGGER = "kafka.cluster.Partition"  # at DEBUG or TRACE, for as long as it was
    FETCHER_LOGGER = "kafka.server.ReplicaFetcherThread"  # at TRACE
    SEGMENTS = "segments"
    LISTING = "a listing"  # of a directory: which segment files there were
    DATA_DIRECTORY = "data directory"  # of the partition
    LOG_DIRECTORY = "log directories"  # whole, with the checkpoint files beside the partitions
    FAILED_LOG_DIRECTORY = "log directory that failed"
    HW_CHECKPOINT = "replication-offset-checkpoint"
    RECOVERY_CHECKPOINT = "recovery-point-offset-checkpoint"
    CLEANER_CHECKPOINT = "cleaner-offset-checkpoint"
    EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
    CHECKPOINTS = "checkpoint files"
    SETTINGS = "server.properties"
    TOPIC_DESCRIPTION = "kafka-topics.sh --describe"
    GROUP_POSITIONS = "__consumer_offsets-*"  # the folders of all its partitions
    CLIENTS = "producers and consumers"  # what they know: how far they had come
    OPERATORS = "operators"  # what they know: what was done, and when


class Question(StrEnum):
    """A question that an answer would settle. ``wording`` has a sentence for each."""

    PROGRAM_REPAIRED = "program-repaired"  # this program failed before it could judge
    OWN_RECORDS = "own-records"  # of a partition that has one directory with another one
    READABLE_TRACE = "readable-trace"  # lines of the present one could not be read
    CONSISTENT_TRACE = "consistent-trace"  # the present one contradicts itself
    # -- what one broker did ------------------------------------------------------------------------------------------
    ITS_LINES = "its-lines"  # no line of one log is in the evidence
    LINES_BETWEEN = "lines-between"  # some are missing between those in the evidence
    EARLIER_LINES = "earlier-lines"
    LATER_LINES = "later-lines"
    WIDER_CLAIM = "wider-claim"  # a trace claims to state some kinds of them, and no others
    ANY_LINES = "any-lines"  # no replica is known
    UNNAMED_EPOCHS = "unnamed-epochs"  # whether its log was loaded in leader epochs that no line names
    # -- what it holds ------------------------------------------------------------------------------------------------
    ITS_FILES = "its-files"
    ANY_FILES = "any-files"
    ANOTHER_COPY = "another-copy"
    TWO_COPIES = "two-copies"
    ANY_SEGMENTS = "any-segments"
    WHICH_REPLICAS = "which-replicas"
    WHOLE_DIRECTORIES = "whole-directories"  # only its own folder is in the evidence
    EARLIER_SEGMENTS = "earlier-segments"
    MISSING_SEGMENTS = "missing-segments"  # between those in the evidence
    LATER_SEGMENTS = "later-segments"
    UNTORN_SEGMENTS = "untorn-segments"
    COMPACTED = "compacted"  # whether the topic ever was
    READ_WHILE_RUNNING = "read-while-running"  # whether files were copied while brokers ran
    STILL_SERVED = "still-served"  # contents of damaged segments
    SAME_RECORDS = "same-records"  # as other replicas have, in damaged segments
    # -- checkpoint files ---------------------------------------------------------------------------------------------
    CHECKPOINT = "checkpoint"
    CHECKPOINT_AND_LOG = "checkpoint-and-log"
    EPOCH_FILE = "epoch-file"
    EPOCH_FILE_AGAIN = "epoch-file-again"  # the present one is damaged
    EPOCH_FILE_NOT_EMPTY = "epoch-file-not-empty"  # the present one is empty
    # -- who led ------------------------------------------------------------------------------------------------------
    ANY_LEADER = "any-leader"
    CURRENT_LEADER = "current-leader"
    LATER_LEADER = "later-leader"
    LATER_LEADER_UNSEEN = "later-leader-unseen"  # by a broker without any line in the evidence
    LEADER_AFTER = "leader-after"  # there was one
    LEADERS_OF_EPOCHS = "leaders-of-epochs"
    LEADER_FOLLOWED = "leader-followed"  # by a replica that truncated
    LEADERS_IN_ORDER = "leaders-in-order"
    WENT_ON_WITH = "went-on-with"  # with which of several leaders of one epoch
    STILL_LED = "still-led"
    EPOCH_GIVEN_TWICE = "epoch-given-twice"
    TOPIC_DELETED = "topic-deleted"  # on purpose: the controllers do not know it
    CREATED_AGAIN = "created-again"  # which would explain several leaders of one epoch
    WHICH_LIFE = "which-life"  # of a topic that was created again
    ISR_BEFORE = "isr-before"
    ELIGIBLE = "eligible"  # whether a leader was an eligible leader replica (KIP-966)
    # -- what was committed -------------------------------------------------------------------------------------------
    ANY_HIGH_WATERMARK = "any-high-watermark"
    HIGH_WATERMARK = "high-watermark"
    HIGH_WATERMARK_REACHED = "high-watermark-reached"
    HIGH_WATERMARK_LATER = "high-watermark-later"  # than that of a checkpoint below a difference
    HIGH_WATERMARK_BEFORE = "high-watermark-before"  # a truncation
    COMMITTED_BEFORE = "committed-before"  # another leader began
    COMMITTED_BEFORE_NEW_LOG = "committed-before-new-log"
    GROUPS_HAD_READ = "groups-had-read"  # which shows what was committed, by positions that brokers still have
    FAILED_DISK_HAS = "failed-disk-has"  # files that show what was committed
    COMMITTED_APART = "committed-apart"  # where segments differ
    COMMITTED_AT = "committed-at"  # an offset with two leader epochs
    VOTERS_HAD = "voters-had"  # of the metadata log, before their logs became shorter
    HELD_ELSEWHERE = "held-elsewhere"  # whether another copy has what a leader restarted without
    LAST_STABLE_ORDER = "last-stable-order"  # of reads in a request log, which may not have their order
    HIGH_WATERMARK_ORDER = "high-watermark-order"  # the same of high watermarks
    # -- how long a log was, and who wrote it -------------------------------------------------------------------------
    EPOCH_START = "epoch-start"
    END_BEFORE_TRUNCATION = "end-before-truncation"
    END_BEFORE_LEADING = "end-before-leading"
    HELD_BEFORE_NEW_LOG = "held-before-new-log"
    HELD_BEFORE_EPOCH = "held-before-epoch"
    HELD_BEYOND = "held-beyond"
    TRUNCATED_LOST = "truncated-lost"  # whether a replica truncated lost records
    TAIL_REMOVED = "tail-removed"  # what removed the end of a log below its recovery point
    EPOCHS_OF_RECORDS = "epochs-of-records"
    WRITER_OF_RECORDS = "writer-of-records"
    WRITER_OF_OLD_RECORDS = "writer-of-old-records"  # in a message format without leader epochs


@dataclass(frozen=True, slots=True)
class Collect:
    """One way to an answer.

    Attributes:
        artefacts: what to collect.
        brokers: from which brokers, all of them; empty if unknown, or if it belongs to no broker.
    """

    artefacts: tuple[Artefact, ...]
    brokers: tuple[int, ...] = ()


class Shows(StrEnum):
    """Kind of evidence that something is missing."""

    LINES = "lines"  # a broker that logs one thing also logs another, which is not there
    DAMAGE = "damage"  # what its files hold
    COPY = "copy"  # what the copy of a directory lacks
    EPOCHS = "epochs"  # leader epochs ran backwards
    SHARED = "shared"  # another partition has the same directory
    CONTRADICTION = "contradiction"  # lines of a trace that claims to state each change
    FAILURE = "failure"  # this program failed


@dataclass(frozen=True, slots=True)
class Reason:
    """Evidence that something is missing. It names no line, so that reasons of two partitions may be equal.

    Attributes:
        shows: what shows it.
        which: id of the ``Omission``, or a ``DamageKind``; empty where there is but one of the kind.
        text: the same in words, with the particulars.
    """

    shows: Shows
    which: str = ""
    text: str = ""


def lines_missing(lines: MissingLines) -> Reason:
    """The reason that lines of a replica are missing."""
    return Reason(Shows.LINES, lines.shown_by, lines.text)


def copy_lacks(text: str) -> Reason | None:
    """The reason that the copy of a directory is not whole, if there is one."""
    return Reason(Shows.COPY, text=text) if text else None


@dataclass(frozen=True, slots=True)
class Want:
    """Something unknown, and what would show it.

    Attributes:
        question: what is unknown.
        ways: ways to an answer, the best first; one of them is enough.
        replicas: brokers that the question is about, if they are not the brokers to collect from.
        offsets: offsets that it is about, half-open; None for an unknown end.
        epochs: leader epochs that it is about, each with its leader, if known.
        topic: the topic, if the question is about the whole topic.
        because: what shows that something is missing, if anything does.
        controllers: nodes that are controllers and no brokers, if the question is about the metadata log.
        origin: where the evidence of the partition comes from: if from traces alone, lines of a trace would answer.
    """

    question: Question
    ways: tuple[Collect, ...] = ()
    replicas: tuple[int, ...] = ()
    offsets: tuple[tuple[int, int | None], ...] = ()
    epochs: tuple[tuple[int, int | None], ...] = ()
    topic: str = ""
    because: Reason | None = None
    controllers: tuple[int, ...] = ()
    origin: Origin = Origin.FILES

    @property
    def order(self) -> tuple[object, ...]:
        """A total order by what is unknown and what to collect, so that reports need not sort by words."""
        reason = self.because
        return (
            list(Question).index(self.question),
            [([list(Artefact).index(what) for what in way.artefacts], way.brokers) for way in self.ways],
            self.replicas,
            [(first, end is None, end or 0) for first, end in self.offsets],
            [(number, leader is None, leader or 0) for number, leader in self.epochs],
            self.topic,
            (reason.shows, reason.which, reason.text) if reason is not None else (),
            list(Origin).index(self.origin),
            self.controllers,
        )

    @property
    def brokers(self) -> tuple[int, ...]:
        """Brokers to collect from, in any of the ways."""
        return tuple(dict.fromkeys(broker for way in self.ways for broker in way.brokers))

    @property
    def artefacts(self) -> tuple[Artefact, ...]:
        """Artefacts to collect, in any of the ways."""
        return tuple(dict.fromkeys(artefact for way in self.ways for artefact in way.artefacts))


def of(brokers: Iterable[int | None], *artefacts: Artefact) -> Collect:
    """Return what to collect from some brokers; unknown brokers are left out."""
    return Collect(artefacts, tuple(broker for broker in brokers if broker is not None and broker >= 0))


def anywhere(*artefacts: Artefact) -> Collect:
    """Return what to collect from any broker."""
    return Collect(artefacts)


def of_evidence(wants: Iterable[Want], origin: Origin) -> tuple[Want, ...]:
    """Return the wants for evidence of an origin: each asks for what that can have."""
    return tuple(one if one.origin is origin else replace(one, origin=origin) for one in wants)


def offsets_of(ranges: Iterable[Range]) -> tuple[tuple[int, int | None], ...]:
    """Ranges as a want states them."""
    return tuple(ranges)


def from_offset(first: int) -> tuple[tuple[int, int | None], ...]:
    """The offsets from one on."""
    return ((first, None),)
