"""Lines that are routine by themselves: what they state, and when they would be a bad sign after all."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import (
    KnownProblem,
    Records,
    above_zero,
    detail_is,
    first_epoch,
    has_leader,
    led_from_isr,
    less,
    no_detail,
    zero,
)
from parsers.details import INDEX_REBUILDS
from parsers.schema import Kind

NOTHING_TO_DO = "nothing to do for these lines"

ROUTINE: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="truncation",
        title="Log truncated",
        severity=Severity.INFO,
        kinds=(Kind.TRUNCATE, Kind.TRUNCATE_PLAN, Kind.TRUNCATE_FULL),
        when=above_zero,
        states="{who} truncates {where} to offset {offset}",
        records=Records.UNKNOWN,
        means=(
            "This replica removes its records from {offset} on. That is routine for records that were not committed, "
            "or that the leader has. The line does not show which records they are."
        ),
        fetch=(
            "collect the log end offset and the high watermark of {where} on {who} before that",
            "collect the leader epoch and start offset of the leader that it followed",
            "copy the directories of {where} on the other replicas",
        ),
        leads=True,
        beside=(
            "truncation-below-high-watermark",
            "truncation-and-lower-high-watermark",
            "high-watermark-fell",
        ),
    ),
    KnownProblem(
        id="truncation-without-effect",
        title="Truncation without effect",
        severity=Severity.INFO,
        kinds=(Kind.TRUNCATE_NOOP,),
        states="{who} had to truncate {where} to {offset}, but its log ends at {leo}: it removed nothing",
        records=Records.NOTHING_LOST,
        means="Routine when a replica becomes a follower.",
        fetch=(NOTHING_TO_DO,),
    ),
    KnownProblem(
        id="truncation-to-zero",
        title="Truncation to 0 of a new replica",
        severity=Severity.INFO,
        kinds=(Kind.TRUNCATE_PLAN, Kind.TRUNCATE),
        when=zero("offset"),
        states="{who} begins to follow with {where} at offset 0",
        records=Records.NOTHING_LOST,
        means="Routine for a replica that is new or empty: there is nothing to remove.",
        fetch=(NOTHING_TO_DO, "if the log was not empty before: collect its last log end offset"),
    ),
    KnownProblem(
        id="index-rebuilt",
        title="Index rebuilt after an unclean stop",
        severity=Severity.INFO,
        kinds=(Kind.RECOVERY,),
        when=detail_is(*INDEX_REBUILDS),
        states="{who} found an index of {where} that does not fit its segment, and rebuilds it",
        records=Records.NOTHING_LOST,
        means="Routine after a broker was killed. Only the index is rebuilt, from the segment.",
        fetch=(
            "stop the broker with SIGTERM and enough time (container grace period)",
            "if it restarts in a loop: collect its last lines before each start",
        ),
    ),
    KnownProblem(
        id="log-recovery",
        title="Log recovery after an unclean stop",
        severity=Severity.INFO,
        kinds=(Kind.RECOVERY, Kind.UNCLEAN_RESTART),
        when=no_detail,
        states="{who} checks the last segments of its logs, because it was not stopped cleanly",
        records=Records.UNKNOWN,
        means="Routine after a broker was killed. Lines about truncated bytes or segments would show a loss.",
        fetch=("collect the lines about log end offsets before the stop, to see whether one is lower now",),
    ),
    KnownProblem(
        id="first-leader-epoch",
        title="First leader of a new partition",
        severity=Severity.INFO,
        kinds=(Kind.BECOME_LEADER,),
        when=first_epoch,
        states="{who} leads {where} in leader epoch 0 from offset 0",
        records=Records.NOTHING_LOST,
        means="Routine at the creation of a topic.",
        fetch=(NOTHING_TO_DO,),
    ),
    KnownProblem(
        id="leader-elected",
        title="Leader elected from the ISR",
        severity=Severity.INFO,
        kinds=(Kind.ELECTION,),
        when=led_from_isr,
        states="the controller elected {leader} for {where}; the ISR is {isr}",
        records=Records.NOTHING_LOST,
        means="Routine when a broker stops or starts, or when leadership returns to the preferred replica.",
        fetch=(NOTHING_TO_DO, "if it happens often: collect server.log of the leader before"),
    ),
    KnownProblem(
        id="partition-created",
        title="Partition created",
        severity=Severity.INFO,
        kinds=(Kind.PARTITION_CREATED,),
        when=has_leader,
        states="the controller created {where} with {leader}",
        records=Records.NOTHING_LOST,
        means="Routine for a new topic, and for a topic that was deleted and is created again.",
        fetch=(NOTHING_TO_DO, "if the topic is not new: collect controller.log from before"),
    ),
    KnownProblem(
        id="new-replica",
        title="New replica",
        severity=Severity.INFO,
        kinds=(Kind.HW_MISSING, Kind.LOG_CREATED),
        states="{who} has a new replica of {where}, without a checkpointed high watermark",
        records=Records.NOTHING_LOST,
        means=(
            "Routine for a new partition or a replica that is added. It is a bad sign only if it had records before."
        ),
        fetch=(NOTHING_TO_DO, "if the replica is not new: collect server.log from before the restart"),
    ),
    KnownProblem(
        id="consumer-position-set",
        title="Position of a consumer set by its application",
        severity=Severity.INFO,
        kinds=(Kind.CONSUMER_SET,),
        states="the application set the position of a consumer of {where}",
        records=Records.NOTHING_LOST,
        means=(
            "Routine. Kafka Connect, MirrorMaker 2 and Kafka Streams read topics of their own from the start at each "
            "start. Other applications seek on purpose. The log of the topic is not concerned."
        ),
        fetch=("read the application's code or configuration if it should have begun at a committed position",),
        beside=("consumer-behind-log-start", "fetch-out-of-range", "consumer-diverged", "group-without-position"),
    ),
    KnownProblem(
        id="replica-deleted",
        title="Replica deleted",
        severity=Severity.INFO,
        kinds=(Kind.LOG_DELETED,),
        states="{who} deleted its replica of {where}",
        records=Records.UNKNOWN,
        means="Routine at the end of a reassignment or when a topic is deleted. The other replicas hold the records.",
        fetch=('check that the ISR had the new replicas before that ("Expanding ISR", kafka-topics --describe)',),
        beside=("stray-topic", "stray-replica"),
    ),
    KnownProblem(
        id="directory-deleted",
        title="Files of a removed replica deleted",
        severity=Severity.INFO,
        kinds=(Kind.DIRECTORY_DELETED,),
        states="{who} deleted the files of a replica of {where} that it had removed before",
        records=Records.UNKNOWN,
        means=(
            "A minute before (file.delete.delay.ms) the broker renamed the directory to -delete: the topic was "
            "deleted, or the replica moved to another broker or directory. If the topic was deleted, its records are "
            "gone by request; a topic created again under this name begins at offset 0."
        ),
        fetch=(
            'collect server.log of the minute before that ("is scheduled for deletion"), and controller.log',
            "run kafka-topics --describe for {where}: another topic id, or no topic, shows that it was deleted",
            "read the authorizer's log or ask the owners of applications and tools: who deleted it",
        ),
        leads=True,
        beside=("replica-deleted",),
    ),
    KnownProblem(
        id="log-loaded-shorter",
        title="Log loaded shorter than before",
        severity=Severity.INFO,
        kinds=(Kind.LOG_LOADED,),
        when=less("leo", "offset"),
        states="{who} loaded the log of {where} up to {leo}, and the load before had found it up to {offset}",
        records=Records.UNKNOWN,
        means=(
            "No line in between removes {stake}. Lines may be missing. Otherwise a host lost what was not flushed, or "
            "somebody replaced the directory."
        ),
        fetch=(
            "collect all lines between the two loads, and the high watermark of {where} before the second",
            "copy the directories of {where} on the other replicas before another restart",
        ),
        stake=("leo", "offset"),
        leads=True,
    ),
    KnownProblem(
        id="empty-log-loaded",
        title="Empty log loaded",
        severity=Severity.INFO,
        kinds=(Kind.LOG_LOADED,),
        when=zero("leo"),
        states="{who} loaded the log of {where}: it is empty",
        records=Records.NOTHING_LOST,
        means="Routine for a topic without records. It is a bad sign only if the replica had records before.",
        fetch=(NOTHING_TO_DO,),
    ),
    KnownProblem(
        id="retention",
        title="Old segments deleted",
        severity=Severity.INFO,
        kinds=(Kind.SEGMENTS_DELETED,),
        when=lambda row: row["detail"] is not None and "retention" in row["detail"],
        states="{who} deleted segments of {where} ({detail})",
        records=Records.NOTHING_LOST,
        means=(
            "Routine: retention deletes whole segments from the start of the log. A segment is old by the newest "
            "timestamp of its records, or by its file's time if they have none (largestTime=0)."
        ),
        fetch=("if it came too early: read the timestamps of the records (kafka-dump-log), and retention.ms",),
    ),
    KnownProblem(
        id="log-start-moved",
        title="Log start offset moved",
        severity=Severity.INFO,
        kinds=(Kind.LOG_START,),
        when=lambda row: bool(row["log_start"]),
        states="{who} deleted the records of {where} below offset {log_start}",
        records=Records.NOTHING_LOST,
        means=(
            "Routine: retention, kafka-delete-records, or a leader whose log starts there. Consumers that read below "
            "it are out of range."
        ),
        fetch=(NOTHING_TO_DO,),
    ),
    KnownProblem(
        id="fetch-fenced",
        title="Follower waits for its new leader",
        severity=Severity.INFO,
        kinds=(Kind.FETCH_FENCED,),
        states="{who} fetched {where} from {leader} in a leader epoch that is not the leader's, and waits",
        records=Records.NOTHING_LOST,
        means="Routine when leadership moves: the controller informs one of the two first.",
        fetch=("if it continues for minutes: collect state-change.log of {leader} and controller.log",),
        issues=("KIP-320 (2.1: the epoch in requests)",),
    ),
    KnownProblem(
        id="broker-stopping",
        title="Broker stops in order",
        severity=Severity.INFO,
        kinds=(Kind.SHUTDOWN_BEGIN,),
        states="{who} began to stop, and hands over the partitions that it leads",
        records=Records.NOTHING_LOST,
        means="Routine. An operator, a container platform, or an error of the broker itself is the reason.",
        fetch=("collect the lines before it, if the stop was not planned",),
    ),
    KnownProblem(
        id="isr-shrunk",
        title="ISR shrunk",
        severity=Severity.INFO,
        kinds=(Kind.ISR_SHRINK,),
        states="the ISR of {where} shrinks from {isr_before} to {isr}",
        records=Records.NOTHING_LOST,
        means="A follower stopped fetching or fell behind. The other members of the ISR continue.",
        fetch=("collect server.log of the broker that left: it was restarted, slow, or lost its session",),
    ),
    KnownProblem(
        id="isr-expanded",
        title="ISR expanded",
        severity=Severity.INFO,
        kinds=(Kind.ISR_EXPAND,),
        states="the ISR of {where} grows to {isr}",
        records=Records.NOTHING_LOST,
        means="Routine: a replica has caught up.",
        fetch=(NOTHING_TO_DO,),
    ),
)
"""Entries of ``known_problems`` of severity info that a healthy cluster prints too."""
