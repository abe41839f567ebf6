"""Lines about what clients and followers ask for and their leader does not have: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, detail_is, in_range, less
from parsers.details import NO_POSITION, OUT_OF_SEQUENCE
from parsers.schema import Kind

_ELECTION = "collect controller.log and state-change.log around that time: they show how {leader} was elected"

CLIENTS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="producer-out-of-sequence",
        title="Producer's batches out of order",
        severity=Severity.INFO,
        kinds=(Kind.PRODUCER_UNKNOWN,),
        when=detail_is(OUT_OF_SEQUENCE),
        states="the leader of {where} does not have the batch before the one that an idempotent producer sent to it",
        records=Records.UNKNOWN,
        means=(
            "Either an earlier batch of the producer failed, and it sends that again: then this is routine. Or the "
            "leader had it and lost it, as after an election from outside the ISR: then the producer stops with this "
            "error."
        ),
        fetch=(
            "check whether the producer continued after that, or failed",
            _ELECTION,
            "compare the log end offset of {where} with what consumers have read",
        ),
        issues=("KIP-98 (0.11: sequence numbers)",),
        leads=True,
    ),
    KnownProblem(
        id="producer-unknown",
        title="Leader does not know a producer",
        severity=Severity.WARNING,
        kinds=(Kind.PRODUCER_UNKNOWN,),
        states="the leader of {where} does not have what a producer wrote to it before: {detail}",
        records=Records.AT_STAKE,
        means=(
            "Its log lost the producer's last records, or retention deleted them. For a producer that writes rarely "
            "the second is routine."
        ),
        fetch=(
            "check retention of {where}, and how long the producer had not written",
            _ELECTION,
            "compare the log end offset of {where} with what consumers have read",
        ),
        issues=("KIP-360 (2.5: a producer whose id is unknown continues by itself)",),
        always=True,
    ),
    KnownProblem(
        id="append-failed",
        title="Leader could not append",
        severity=Severity.WARNING,
        kinds=(Kind.APPEND_FAILED,),
        states="{who}, the leader of {where}, could not append what a producer sent",
        records=Records.NOTHING_LOST,
        means="The producer got an error, not an acknowledgement. The exception below the line names the cause.",
        fetch=(
            "collect the exception below the line, and the 50 lines before it",
            "check disk space, mount and permissions of the log directories of {who}",
        ),
        beside=(
            "producer-out-of-sequence",
            "producer-unknown",
            "io-error",
            "disk-full",
            "corrupt-record",
            "corrupt-produce",
        ),
    ),
    KnownProblem(
        id="consumer-diverged",
        title="Consumer found its position truncated",
        severity=Severity.WARNING,
        kinds=(Kind.CONSUMER_TRUNCATED,),
        when=less("leo", "offset"),
        states=(
            "a consumer of {where} had read leader epoch {previous_epoch} up to offset {offset}, and in the log of "
            "{leader} that epoch ends at {leo}"
        ),
        records=Records.AT_STAKE,
        means=(
            "The leader answered where the epoch of the consumer's last record ends in its log "
            "(OffsetsForLeaderEpoch). It has other records at offsets {stake}, or none. A consumer reads only "
            "committed records, so {leader} lacks some, unless the application set the position and its epoch."
        ),
        fetch=(
            "collect server.log and the segments of {where} from {leader}: they show why its log lacks these records",
            "collect server.log of all replicas of {where} since the last change of leader",
            "find out where the position comes from: when was {offset} read or committed?",
        ),
        issues=("KIP-320 (2.1: consumers detect truncation; Java clients from 2.3)",),
        stake=("leo", "offset"),
    ),
    KnownProblem(
        id="fetch-above-log-end",
        title="Fetch beyond the log end",
        severity=Severity.WARNING,
        kinds=(Kind.OUT_OF_RANGE,),
        when=less("leo", "offset"),
        states="a client or follower asked for offset {offset} of {where}, whose log ends at {leo}",
        records=Records.AT_STAKE,
        means=(
            "The log is shorter than a position that was read or committed before: it lacks offsets {stake}. The log "
            "was truncated, lost its end or was created again. Or the position belongs to another cluster."
        ),
        fetch=(
            "collect server.log of all replicas of {where} since the last change of leader",
            "find out where the position comes from: when was {offset} read or committed?",
            "stop consumers with auto.offset.reset=latest: they skip records",
        ),
        issues=("KAFKA-1806 (reported for 0.8.1: a fetch above the log end of the new leader)",),
        stake=("leo", "offset"),
    ),
    KnownProblem(
        id="fetch-below-log-start",
        title="Fetch below the log start",
        severity=Severity.INFO,
        kinds=(Kind.OUT_OF_RANGE,),
        when=less("offset", "log_start"),
        states="a client or follower asked for offset {offset} of {where}, whose log begins at {log_start}",
        records=Records.NOTHING_LOST,
        means=(
            "Records below {log_start} were deleted by retention or request. A new follower or a slow consumer asks "
            "for them, and begins at {log_start}. After a reassignment in 2.4.0 a new leader may answer this by "
            "mistake."
        ),
        fetch=(
            "check retention and DeleteRecords of the topic",
            "in 2.4.0: look for a new replica that led before it had a high watermark",
        ),
        issues=("KAFKA-9491 (a new replica leads with high watermark 0; 2.4.0, fixed in 2.4.1 and 2.5)",),
        leads=True,
    ),
    KnownProblem(
        id="consumer-behind-log-start",
        title="Consumer behind the log start",
        severity=Severity.INFO,
        kinds=(Kind.CONSUMER_OUT_OF_RANGE,),
        when=less("offset", "leo"),
        states="position {offset} of a consumer of {where} was out of range, and it was reset to {leo}",
        records=Records.UNKNOWN,
        means=(
            "The log reaches beyond the position, so the position was below the log start: retention or a request had "
            "deleted its records. The consumer skips what is in between and was not read."
        ),
        fetch=(
            "check retention of {where}, and how long the consumer had been stopped or slow",
            "check auto.offset.reset of the consumer: latest skips records that are still there",
            "collect log start and log end of {where} at that time",
        ),
        leads=True,
    ),
    KnownProblem(
        id="group-without-position",
        title="Consumer group without a committed position",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(NO_POSITION),
        states="a consumer group has no committed position in {where}, and begins where auto.offset.reset says",
        records=Records.NOTHING_LOST,
        means=(
            "With latest it skips what was written meanwhile; with earliest it reads all again. The topic "
            "keeps its records. Routine for a new group, or a new group.id. Otherwise its positions were removed. "
            "Kafka does that after offsets.retention.minutes without a member (7 days, before 2.0 one day), or when "
            "the topic is deleted. Or __consumer_offsets lost records."
        ),
        fetch=(
            "find out whether the group had committed before, and when (its group.id in older logs)",
            "check offsets.retention.minutes, and how long the group had no member",
            "if many groups lack positions at once: collect the evidence of the partitions of __consumer_offsets",
        ),
        issues=("KIP-186 (2.0: positions are kept for 7 days)", "KIP-211 (2.1: while a group has members)"),
        leads=True,
    ),
    KnownProblem(
        id="fetch-out-of-range",
        title="Consumer position out of range",
        severity=Severity.INFO,
        kinds=(Kind.OUT_OF_RANGE, Kind.CONSUMER_OUT_OF_RANGE),
        when=in_range,
        states="a client asked for offset {offset} of {where}, and the broker answered that it is out of range",
        records=Records.UNKNOWN,
        means=(
            "The line does not show whether the offset is too low or too high, or it logs a range that contains the "
            "offset."
        ),
        fetch=(
            "collect log start, high watermark and log end of {where} at that time",
            "check auto.offset.reset of the consumer: it decides what is skipped",
        ),
        leads=True,
    ),
)
"""Producers and readers: warnings first."""
