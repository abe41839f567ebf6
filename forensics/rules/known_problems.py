"""Known problems: what single log lines state, what that means for records, and what to fetch next.

Replay needs many lines; a ticket often has twenty. Each entry of ``KNOWN_PROBLEMS`` explains lines by themselves. It
names the observations that it recognises, the Kafka issues behind them, and the next steps. An entry never changes a
verdict, and proves nothing about lines that are not in the evidence.
"""

from __future__ import annotations

from forensics.rules.client_lines import CLIENTS
from forensics.rules.command_lines import COMMANDS
from forensics.rules.election_lines import ELECTIONS
from forensics.rules.fetcher_lines import FETCHERS
from forensics.rules.finding import Severity
from forensics.rules.leader_error_lines import LEADER_ERRORS
from forensics.rules.problem_entry import (
    KnownProblem,
    Records,
    Row,
    above_zero,
    detail_is,
    detail_is_not,
    in_temporary,
    less,
    one_of_several,
    shares_directory,
    without,
)
from forensics.rules.quorum_lines import QUORUM
from forensics.rules.replica_lines import REPLICAS, is_set_back
from forensics.rules.routine_lines import ROUTINE
from parsers.details import (
    ALL_DIRS_FAILED,
    CHECKPOINT_DAMAGED,
    FETCHED_OFFSET,
    FILE_IN_USE,
    FROM_REMOTE,
    LEADER_MOVED,
    MAPPED_FILE,
    MOVED_TO_REMOTE,
    NOT_MOVED,
    NOT_TAKEN,
    RENAME_FAILED,
    STALE_ZK_VERSION,
    SYSTEM_LIMITS,
)
from parsers.schema import Kind

_COPY = "copy {directory} of {who} to another disk before you start or wipe a broker, or move a partition"
_LEADER_LOG = "collect server.log and the segments of {where} from {leader}: they show why its log ends there"
_ELECTION = "collect controller.log and state-change.log around that time: they show how {leader} was elected"
_CAUSE = "collect the 50 lines before the first of these: they hold the exception that names the cause"
_CAUSE_BELOW = "collect the lines after the first of these: they hold the exception that names the cause"
_DISK = "check the disk, mount, owner and permissions of {log_dir} on {who}"
_KEEP_DIRS = "wipe the directory: its replicas may be the only copies"


def to_high_watermark(row: Row) -> bool:
    """Return whether a replica truncates to its own high watermark, which is not 0."""
    return row["hw"] is not None and above_zero(row)


KNOWN_PROBLEMS: tuple[KnownProblem, ...] = (
    # -- a log that is not its own -------------------------------------------------------------------------------------
    KnownProblem(
        id="shared-directory",
        title="Two topics in one directory",
        severity=Severity.ERROR,
        kinds=(Kind.MESSAGE_FORMAT, Kind.LOG_LOADED),
        when=shares_directory,
        states="{who} has {where} and {shares} in one directory: their names differ only in case",
        records=Records.AT_STAKE,
        means=(
            "Windows and macOS ignore case in file names, Kafka does not. Both logs write to the same files. They "
            "overwrite or delete each other's records, and the offsets of each may be the other's."
        ),
        fetch=(
            _COPY,
            "copy what consumers still read of both topics to topics whose names differ in more than case",
            "run the broker on Linux before you use such names again",
        ),
        always=True,
    ),
    # -- a log that does not fit its leader's --------------------------------------------------------------------------
    KnownProblem(
        id="truncation-refused",
        title="Truncation refused",
        severity=Severity.ERROR,
        kinds=(Kind.TRUNCATION_REFUSED,),
        states=(
            "{who} stopped rather than truncate {where}: its log ends at {offset}, but the log of {leader} at {leo}"
        ),
        records=Records.AT_STAKE,
        means=(
            "Offsets {stake} are on {who} and not on {leader}. The leader lost the end of its log, or a replica "
            "outside the ISR was elected. What is below a high watermark that was stated is committed."
        ),
        fetch=(_COPY, _LEADER_LOG, _ELECTION),
        issues=(
            "KAFKA-3410 (0.9: the follower halts)",
            "KAFKA-7414 (fixed in 2.1: the broker no longer stops for this)",
        ),
        stake=("leo", "offset"),
        always=True,
    ),
    KnownProblem(
        id="out-of-order-append",
        title="Offsets out of order in a batch",
        severity=Severity.ERROR,
        kinds=(Kind.APPEND_OUT_OF_ORDER,),
        states="a follower cannot append what its leader sent for {where}: its offsets do not rise",
        records=Records.AT_STAKE,
        means=(
            "In the leader's own log, offsets do not rise. Followers stop and leave the ISR. From then "
            "on, only the leader has what producers write."
        ),
        fetch=(
            (
                "run kafka-dump-log --deep-iteration on the leader's segment of {where}: it shows where offsets do not "
                "rise"
            ),
            "copy the leader's directory of {where} before the leader is restarted or moved",
            "collect server.log of the leader from the minute before the first of these lines",
        ),
        issues=("KAFKA-19407 (a race in the leader's append; reported for 3.3.2)",),
        always=True,
    ),
    KnownProblem(
        id="fetch-offset-mismatch",
        title="Follower stopped: fetched offset is not its log end",
        severity=Severity.WARNING,
        kinds=(Kind.APPEND_REFUSED,),
        when=lambda row: row["detail"] == FETCHED_OFFSET and less("offset", "leo")(row),
        states="{who} fetched {where} from offset {offset}, but its log ends at {leo}",
        records=Records.NOTHING_LOST,
        means=(
            "The follower started a fetch before an earlier one had ended. It no longer replicates {where} until it "
            "gets a new leader epoch or restarts. Its log and its leader's stay as they are."
        ),
        fetch=(
            "check the ISR of {where}: while this follower has stopped, there are fewer copies",
            "restart the follower, or move leadership, to start its fetcher again",
            "collect server.log of {who} from its last role change of {where} on",
        ),
        issues=("KAFKA-13266 (KRaft before 3.0; fixed in 3.0)",),
        always=True,
    ),
    KnownProblem(
        id="append-refused",
        title="Append refused: offset below the log end",
        severity=Severity.ERROR,
        kinds=(Kind.APPEND_REFUSED,),
        when=detail_is_not(FETCHED_OFFSET),
        states="a follower refused a batch of {where} from offset {offset}: its own log already ends at {leo}",
        records=Records.AT_STAKE,
        means=(
            "The follower already has records at offsets {stake}, and its leader sends records for the same offsets. "
            "The leader wrote other records there, or the follower did not truncate although it had to."
        ),
        fetch=(
            _COPY,
            "compare the segments of {where} on the follower and its leader from offset {offset} (forensics compare)",
            "collect server.log and state-change.log of both from the last change of leader on",
        ),
        stake=("offset", "leo"),
        always=True,
    ),
    KnownProblem(
        id="fetch-offset-went-back",
        title="Follower ahead of its leader",
        severity=Severity.WARNING,
        kinds=(Kind.FETCH_OFFSET_SET,),
        when=is_set_back,
        states=(
            "a follower of {where} fetched from offset {offset}, which its leader does not have, and starts again at "
            "{leo}"
        ),
        records=Records.AT_STAKE,
        means=(
            "The follower has offsets {stake} and its leader does not; the follower removes them. The leader's log is "
            "shorter than before, or it was deleted up to {leo} and fetched again."
        ),
        fetch=(
            "collect the high watermark of {where} before: replication-offset-checkpoint, or server.log of any replica",
            _ELECTION,
            "copy the directories of {where} on all replicas before another restart",
        ),
        issues=(
            "KAFKA-1806 (reported for 0.8.1: a fetch above the log end of the new leader)",
            "KIP-101 (0.11: truncation by leader epoch)",
        ),
        stake=("leo", "offset"),
        unjudged=True,
    ),
    KnownProblem(
        id="high-watermark-fell",
        title="High watermark fell",
        severity=Severity.WARNING,
        kinds=(Kind.HW_REGRESSED,),
        when=without("offset"),
        states="the high watermark of {where} on {who} fell from {hw_before} to {hw}",
        records=Records.AT_STAKE,
        means=(
            "Offsets {stake} counted as committed on {who}. Its new leader has a lower high watermark. Records are "
            "lost only if the log of that leader lacks them."
        ),
        fetch=(
            "collect server.log and state-change.log of the leader: the offset at which it began its leader epoch",
            "collect the segments of {where} on the leader, for offsets {stake}",
            _COPY,
        ),
        issues=(
            (
                "KAFKA-14704 (from 2.7 on, if no line shows that it asked for the end of an epoch: a follower takes "
                "over a high watermark before it truncates; fixed in 3.3.3, 3.4.1, 3.5.0)"
            ),
        ),
        stake=("hw", "hw_before"),
        unjudged=True,
    ),
    KnownProblem(
        id="truncation-below-high-watermark",
        title="Truncated below its high watermark",
        severity=Severity.WARNING,
        kinds=(Kind.TRUNCATE_BELOW_HW,),
        states="{who} truncates {where} to offset {offset}, below its high watermark {hw}",
        records=Records.AT_STAKE,
        means=(
            "Offsets {stake} counted as committed on {who}. It truncates them because the log of its leader ends "
            "earlier. Records are lost if no replica in the ISR has them."
        ),
        fetch=(
            "collect server.log and state-change.log of the leader: the offset at which it began its leader epoch",
            "collect the segments of {where} on the leader, for offsets {stake}",
            _COPY,
        ),
        stake=("offset", "hw"),
        unjudged=True,
    ),
    KnownProblem(
        id="truncation-to-high-watermark",
        title="Truncation to the own high watermark",
        severity=Severity.WARNING,
        kinds=(Kind.TRUNCATE_PLAN,),
        when=to_high_watermark,
        states="{who} begins to follow {leader} and truncates {where} to its own high watermark, {offset}",
        records=Records.UNKNOWN,
        means=(
            "The replica does not know whether records above its high watermark are committed: a follower's high "
            "watermark is one fetch behind. Before 0.11 (KIP-101), or with an older protocol, it may truncate "
            "committed records."
        ),
        fetch=(
            "collect the log end offset of {where} on {who} before, and where {leader} began its leader epoch",
            "collect the high watermark of {where} on the former leader",
        ),
        issues=("KIP-101 (0.11: truncation by leader epoch)",),
    ),
    KnownProblem(
        id="unclean-election",
        title="Unclean leader election",
        severity=Severity.ERROR,
        kinds=(Kind.UNCLEAN_ELECTION,),
        states="the controller elected a leader for {where} from outside the ISR",
        records=Records.AT_STAKE,
        means="Records that only the former ISR had are lost, unless one of its members still has its log.",
        fetch=(
            "copy the directories of {where} on all former ISR members before they restart: they truncate then",
            "collect their segments and replication-offset-checkpoint",
        ),
    ),
    KnownProblem(
        id="invalid-messages-fetched",
        title="Follower fetched damaged records",
        severity=Severity.WARNING,
        kinds=(Kind.FETCH_REFUSED, Kind.FETCH_ERROR),
        when=detail_is("Found invalid messages during fetch", "invalid messages"),
        states="{who} fetched damaged records of {where} from {leader}, and did not write them",
        records=Records.UNREADABLE,
        means=(
            "The follower tries again from the same offset. If the line repeats, the leader's segment is damaged "
            "there, and the follower falls behind. If not, the leader was truncating, or the bytes changed on the way. "
            "If the records of several leaders arrive damaged at one follower, its network or memory is faulty."
        ),
        fetch=(
            "check whether the line repeats with the same offset",
            "run kafka-dump-log on the segment of {where} with that offset, on the leader and on every other replica",
            "keep the replicas of {where} that are in the ISR: one of them may have undamaged records",
        ),
    ),
    # -- what is damaged on disk ---------------------------------------------------------------------------------------
    KnownProblem(
        id="offsets-go-back-in-log",
        title="Offsets in a log do not rise",
        severity=Severity.ERROR,
        kinds=(Kind.OFFSETS_GO_BACK,),
        states="the log of {where} on {who} has offset {offset} after higher offsets: its index cannot be built",
        records=Records.AT_STAKE,
        means=(
            "The replica has records of two leaders, one after the other. It kept records that its new leader did not "
            "have, and appended after them. The broker does not start. Which of the records were committed is unknown."
        ),
        fetch=(
            _COPY,
            "run kafka-dump-log on the segment and on the same one of another replica, and compare (forensics compare)",
            "then let the broker start without this replica's directory: it fetches from its leader again",
        ),
        issues=("KAFKA-3919 (acks=1 and a power loss; before KIP-101, fixed in 0.11)",),
        stake=("offset", "leo"),
        always=True,
    ),
    KnownProblem(
        id="segment-ends-early",
        title="Segment is shorter than its index",
        severity=Severity.ERROR,
        kinds=(Kind.SEGMENT_TOO_SHORT,),
        states="a segment of {where} on {who} ends before {detail}, where its index points",
        records=Records.UNREADABLE,
        means=(
            "The file system lost the end of the file, or never had it. Records from {at} on cannot be read from this "
            "broker. Other replicas may have them. File systems that are not POSIX (GlusterFS, some NFS) do this."
        ),
        fetch=(
            "check which other replicas of {where} are in the ISR, and move leadership to one of them",
            _COPY,
            "check the file system and the storage below it",
        ),
        always=True,
    ),
    *REPLICAS,
    *QUORUM,
    *LEADER_ERRORS,
    KnownProblem(
        id="index-corrupt",
        title="Broker does not start: corrupt index",
        severity=Severity.ERROR,
        kinds=(Kind.INDEX_CORRUPT,),
        states="an index file of {where} on {who} does not fit its segment, and the broker did not start",
        records=Records.NOTHING_LOST,
        means="The broker builds an index from its segment, and the line does not report a damaged segment. An unclean "
        "stop leaves such an index.",
        fetch=(
            "delete the .index and .timeindex files of that segment, and start the broker: it rebuilds them",
            "keep the .log files",
            "stop the broker with SIGTERM, not SIGKILL, from then on",
        ),
        issues=("KAFKA-1554 (reported for 0.8.1; since 0.9 the broker rebuilds such an index)",),
        always=True,
    ),
    KnownProblem(
        id="recovery-truncated",
        title="Log recovery truncated a log",
        severity=Severity.WARNING,
        kinds=(Kind.CORRUPTION_CUT, Kind.BYTES_CUT),
        states="log recovery of {who} truncated the end of {where}{from_offset}",
        records=Records.AT_STAKE,
        means="This replica lost what it had not flushed before the stop. Another replica in the ISR has it.",
        fetch=(
            "collect the log end offset of {where} before the stop, and of the other replicas",
            "check whether this replica became leader next: if so, its shorter log counts",
        ),
        unjudged=True,
    ),
    KnownProblem(
        id="fatal-fault",
        title="Process stopped: fatal fault",
        severity=Severity.ERROR,
        kinds=(Kind.FATAL_FAULT,),
        states="{who} stopped itself: {detail}",
        records=Records.UNKNOWN,
        means=(
            "A controller or broker of a KRaft cluster could not continue with the metadata log. Either its own copy "
            "is damaged or of another cluster, or a record in it does not fit. Records of topics stay as they are."
        ),
        fetch=(
            "collect the exception right behind the line: it names what does not fit",
            "copy the __cluster_metadata-0 directory of {who} before it is wiped or the process is formatted again",
            "collect kafka-metadata-quorum describe --status, and meta.properties of every controller",
        ),
        issues=("KAFKA-14275 (a controller stops at each record that it cannot apply)",),
        always=True,
        beside=("release-below-metadata-version",),
        part_of=("topic-id-missing", "file-not-readable"),
    ),
    # -- disks ---------------------------------------------------------------------------------------------------------
    KnownProblem(
        id="disk-full",
        title="Disk full",
        severity=Severity.ERROR,
        kinds=(Kind.DISK_FULL,),
        states="{who} could not write: no space left on the disk",
        records=Records.NOTHING_LOST,
        means=(
            "The write that failed was not acknowledged by {who}. The log directory goes offline, and with the last "
            "one the broker stops. Records written before are still there."
        ),
        fetch=(
            "free space, or grow the volume; do not delete segment files by hand",
            "check the ISR of the partitions in that directory before you restart the broker",
        ),
        issues=("KIP-112 (1.0: a failed directory goes offline by itself)",),
        always=True,
    ),
    KnownProblem(
        id="io-error",
        title="Disk error",
        severity=Severity.ERROR,
        kinds=(Kind.DISK_ERROR,),
        when=detail_is_not(MAPPED_FILE, FILE_IN_USE, *SYSTEM_LIMITS),
        states="the operating system of {who} answered {detail}",
        records=Records.UNKNOWN,
        means="The disk or its mount fails. The log directory goes offline; what is on it may be unreadable.",
        fetch=(
            "read the kernel's log (dmesg) of that machine at that time",
            "check the ISR of the partitions in that directory: do their other replicas have all records?",
        ),
        do_not=(_KEEP_DIRS,),
        issues=("KIP-112 (1.0: a failed directory goes offline by itself)",),
        always=True,
    ),
    KnownProblem(
        id="rename-refused",
        title="Directory cannot be renamed",
        severity=Severity.ERROR,
        kinds=(Kind.STORAGE_ERROR,),
        when=detail_is(RENAME_FAILED),
        states="{who} could not rename the directory of {where} to delete it, and takes {log_dir} offline",
        records=Records.NOTHING_LOST,
        means=(
            "A topic was being deleted. Windows and SMB shares (Azure Files, Docker on Windows) refuse to rename a "
            "directory with open files. The log directory fails for it, and with the last one the broker stops."
        ),
        fetch=(
            "run the broker on Linux with a local or block disk; on Windows or SMB each deletion may stop it",
            "delete what is left of {where}, and its -delete directory, while the broker is stopped",
        ),
        do_not=("delete topics there meanwhile",),
        issues=("KAFKA-1194 and KAFKA-6203 (Windows, which Kafka does not support fully)",),
        always=True,
    ),
    KnownProblem(
        id="temporary-directory",
        title="Log directory is in a temporary one",
        severity=Severity.ERROR,
        kinds=(Kind.STORAGE_ERROR, Kind.CHECKPOINT_ERROR),
        when=in_temporary,
        states="{who} could not read or write in {log_dir}, which is in a temporary directory: {detail}",
        records=Records.AT_STAKE,
        means=(
            "Many systems delete files in /tmp: when they start, or when a file was not used for days. Then segments "
            "are gone while the broker runs, and it takes the directory offline."
        ),
        fetch=(
            "look which files of the directory are left, and copy it",
            "check which other replicas have the records, and keep these: without one, what was deleted is lost",
            "set log.dirs to a directory that nothing empties: /tmp/kafka-logs is only a sample setting",
        ),
        always=True,
        of_directory=True,
    ),
    KnownProblem(
        id="storage-error",
        title="Log directory cannot be read or written",
        severity=Severity.ERROR,
        kinds=(Kind.STORAGE_ERROR, Kind.CHECKPOINT_ERROR),
        when=detail_is_not(RENAME_FAILED),
        states="{who} could not read or write in its log directory: {detail}",
        records=Records.UNKNOWN,
        means="The directory goes offline, and with the last one the broker stops.",
        fetch=(_DISK,),
        unless_named=(_CAUSE_BELOW,),
        do_not=(_KEEP_DIRS,),
        of_directory=True,
        issues=("KIP-112 (1.0: a failed directory goes offline by itself)",),
        always=True,
    ),
    KnownProblem(
        id="all-log-dirs-failed",
        title="Broker stopped: all log directories failed",
        severity=Severity.ERROR,
        kinds=(Kind.DIR_FAILED,),
        when=detail_is(ALL_DIRS_FAILED),
        states="{who} stopped, because all its log directories have failed: {log_dir}",
        records=Records.UNKNOWN,
        means=(
            "The stop itself removes no record. The lines before it show a failed read or write: a full or broken "
            "disk, a missing mount, a directory that was moved away, or files that belong to another user."
        ),
        fetch=(_CAUSE, _DISK),
        do_not=(_KEEP_DIRS,),
        of_directory=True,
        issues=("KIP-112 (1.0: the broker stops with its last log directory)",),
        always=True,
    ),
    KnownProblem(
        id="log-dir-failed",
        title="Log directory failed",
        severity=Severity.WARNING,
        kinds=(Kind.DIR_FAILED,),
        when=detail_is_not(ALL_DIRS_FAILED),
        states="{who} took {log_dir} offline",
        records=Records.UNKNOWN,
        means="Its replicas are offline until the broker restarts with a directory that works.",
        fetch=(_CAUSE, _DISK),
        do_not=(_KEEP_DIRS,),
        of_directory=True,
        issues=("KIP-112 (1.0: a failed directory goes offline by itself)",),
        always=True,
        part_of=("all-log-dirs-failed", "storage-error", "temporary-directory"),
    ),
    KnownProblem(
        id="logs-not-closed",
        title="Logs not closed as the broker stopped",
        severity=Severity.WARNING,
        kinds=(Kind.LOGS_NOT_CLOSED,),
        states="{who} could not close its logs: {detail}",
        records=Records.UNKNOWN,
        means=(
            "The directory gets no mark of a clean stop, so its logs are recovered at the next start. If it is "
            "offline, a read or write had failed before: a full or broken disk, a mount, or files of another user."
        ),
        fetch=(_CAUSE_BELOW, "check disk, mount, owner and permissions of the log directory that it names"),
        do_not=(_KEEP_DIRS,),
        issues=("KAFKA-13773 (a full disk while logs are recovered counted as a clean stop; fixed in 3.3)",),
        part_of=("all-log-dirs-failed", "storage-error", "temporary-directory", "disk-full", "io-error"),
    ),
    KnownProblem(
        id="checkpoint-damaged",
        title="Checkpoint file is damaged",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(CHECKPOINT_DAMAGED),
        states="{who} could not read a checkpoint file{in_directory}: it is empty or cut off",
        records=Records.UNKNOWN,
        means=(
            "A full disk, a crash of the host or a kill left a part of the file. Segments hold the records, not "
            "this file. Before 1.0 the broker does not start, later its log directory goes offline. Without the file a "
            "high watermark begins at 0, or all logs are recovered."
        ),
        fetch=(
            "free space on the disk, and copy the file before you change it",
            "move the damaged file away, and start the broker while another replica of its partitions is in the ISR",
            "keep .log files and leader-epoch-checkpoint as they are",
        ),
        always=True,
    ),
    # -- directories of somebody else ----------------------------------------------------------------------------------
    KnownProblem(
        id="inconsistent-cluster-id",
        title="Data directory of another cluster",
        severity=Severity.ERROR,
        kinds=(Kind.CLUSTER_ID_MISMATCH,),
        states="{who} did not start: {detail}",
        records=Records.NOTHING_LOST,
        means=(
            "The data directory was written in another cluster. Either the address of ZooKeeper or of the controllers "
            "is wrong, or these lost their data and created a new cluster. The broker does not start, and keeps its "
            "records."
        ),
        fetch=(
            "check zookeeper.connect or controller.quorum.voters, and whether ZooKeeper's volume was replaced",
            "restore ZooKeeper's or the controllers' data; only that brings the topics back",
            "delete meta.properties only where the old topics are not wanted: it joins the broker to the other cluster",
        ),
        issues=("KAFKA-7335 (the check, since 2.4)",),
        always=True,
    ),
    KnownProblem(
        id="inconsistent-broker-id",
        title="Data directory of another broker",
        severity=Severity.ERROR,
        kinds=(Kind.BROKER_ID_MISMATCH,),
        states="a broker did not start: {detail}",
        records=Records.NOTHING_LOST,
        means="The directory belongs to another broker id: volumes were exchanged, or the id was changed.",
        fetch=("mount the directory at the broker that it belongs to",),
        do_not=("edit meta.properties to make it start",),
        always=True,
    ),
    KnownProblem(
        id="inconsistent-topic-id",
        title="Replica of another topic of the same name",
        severity=Severity.ERROR,
        kinds=(Kind.TOPIC_ID_MISMATCH,),
        states="{who} has a log of {where} with topic id {topic_id}, and the controller sent another topic id",
        records=Records.UNKNOWN,
        means=(
            "The topic was deleted and created again, or ZooKeeper lost its data and the topic was created again. The "
            "directory belongs to the old topic, so the broker does not use it for the new one."
        ),
        fetch=(
            "copy {directory} if records of the old topic are still wanted",
            "collect partition.metadata of {where} on every broker, and the creation in controller.log",
            "then move the old directory away and restart the broker",
        ),
        always=True,
    ),
    KnownProblem(
        id="foreign-directory",
        title="Broker does not start: foreign directory",
        severity=Severity.ERROR,
        kinds=(Kind.FOREIGN_DIRECTORY,),
        states="{who} did not start: {detail} is not the directory of a partition",
        records=Records.NOTHING_LOST,
        means=(
            "Each directory in log.dirs must belong to a partition. If log.dirs is the root of a volume, it contains "
            "lost+found. Other names come from another program, or the volume is mounted at another place than before."
        ),
        fetch=(
            "set log.dirs to a directory below the root of the volume, and move the partitions' directories there",
            "check whether another program writes to the volume, and move {detail} away while the broker is stopped",
            "check that the volume is mounted where it was before: the records may be one directory deeper",
        ),
        always=True,
    ),
    # -- ISR -----------------------------------------------------------------------------------------------------------
    KnownProblem(
        id="cached-zkversion",
        title="ISR change refused: stale zkVersion",
        severity=Severity.WARNING,
        kinds=(Kind.ISR_REJECTED,),
        when=detail_is(STALE_ZK_VERSION),
        states=(
            "{who} could not change the ISR of {where} in ZooKeeper: its version {partition_epoch} is not the current "
            "one"
        ),
        records=Records.AT_STAKE,
        means=(
            "Another broker or the controller changed the partition meanwhile, mostly after a lost ZooKeeper session. "
            "Until the broker receives the change, it may believe that it leads. It later truncates what producers "
            "with acks=1 write to it in that time."
        ),
        fetch=(
            "collect controller.log and state-change.log: who leads {where}, since which leader epoch",
            "restart the broker that repeats the line, if it does not stop (before 1.1)",
            "look for expired ZooKeeper sessions in server.log before the first of these lines",
        ),
        issues=("KAFKA-2729 (fixed in 1.1)",),
        unjudged=True,
    ),
    KnownProblem(
        id="isr-change-refused",
        title="ISR change refused",
        severity=Severity.INFO,
        kinds=(Kind.ISR_REJECTED,),
        when=detail_is_not(STALE_ZK_VERSION),
        states="a change of the ISR of {where} was refused: {detail}",
        records=Records.UNKNOWN,
        means=(
            "The leader had an older leader epoch or partition epoch than the controller, or the replica to be added "
            "is not eligible: its broker is fenced, stops or was restarted. The ISR stays as it was, and the leader "
            "tries again. A broker that no longer leads later truncates what only it has."
        ),
        fetch=(
            "if it continues for minutes: collect the controller's log and state-change.log of the leader",
            "check which leader epoch the controller has for {where} (kafka-topics --describe for its leader)",
        ),
        issues=("KIP-497 (2.7: the controller changes ISRs)", "KIP-903 (3.5: the broker epoch of the replica)"),
        leads=True,
    ),
    *COMMANDS,
    *ELECTIONS,
    *FETCHERS,
    KnownProblem(
        id="isr-shrunk-to-one",
        title="ISR shrunk to one replica",
        severity=Severity.WARNING,
        kinds=(Kind.ISR_SHRINK, Kind.METADATA_CACHED, Kind.TOPIC_DESCRIBED),
        when=one_of_several,
        states="the ISR of {where} is {isr} alone",
        records=Records.AT_STAKE,
        means=(
            "No other replica is in sync. If this one fails, the partition is offline, or an unclean election loses "
            "records that the others do not have. {uncommitted}"
        ),
        fetch=(
            "collect server.log of the followers that left: why they stopped fetching",
            "check min.insync.replicas: if it is 1, this replica alone acknowledges acks=all",
        ),
        do_not=("stop the remaining replica before another one is in the ISR",),
        stake=("hw", "leo"),
    ),
    KnownProblem(
        id="below-min-isr",
        title="Write refused: too few replicas in sync",
        severity=Severity.WARNING,
        kinds=(Kind.BELOW_MIN_ISR,),
        states="a write to {where} was refused: fewer than {detail} replicas are in sync",
        records=Records.NOTHING_LOST,
        means=(
            "Producers with acks=all, transactions and consumer groups get an error, and nothing is written, until "
            "min.insync.replicas ({detail}) are in the ISR."
        ),
        fetch=(
            "collect the replicas and the ISR of {where} (kafka-topics --describe)",
            "collect server.log of the replicas that are not in the ISR: why they stopped fetching",
            "raise the replication factor if it is below min.insync.replicas, as for internal topics of one broker",
        ),
    ),
    # -- who asks for what is not there --------------------------------------------------------------------------------
    *CLIENTS,
    KnownProblem(
        id="leader-not-moved",
        title="Leadership could not be moved",
        severity=Severity.INFO,
        kinds=(Kind.PARTITION_OFFLINE,),
        when=detail_is(*NOT_MOVED),
        states="the controller could not move leadership of {where} to another replica: its leader stays",
        records=Records.NOTHING_LOST,
        means=(
            "The preferred leader is not in the ISR, or a broker shuts down that is alone in the ISR. In the second "
            "case the partition is offline from its stop to its next start."
        ),
        fetch=(
            "collect the ISR of {where} (kafka-topics --describe): why other replicas are not in it",
            "start the brokers that are missing from the ISR before you stop its leader",
        ),
        leads=True,
    ),
    # -- transient -----------------------------------------------------------------------------------------------------
    KnownProblem(
        id="leader-epoch-unknown",
        title="Leader does not know the epoch yet",
        severity=Severity.INFO,
        kinds=(Kind.EPOCH_REPLY,),
        when=detail_is(*LEADER_MOVED),
        states="{who} asked {leader} about {where}, and {leader} answered {detail}",
        records=Records.NOTHING_LOST,
        means=(
            "One of the two received the leader epoch before the other. The follower asks again. For some seconds "
            "after a change of leader this is routine."
        ),
        fetch=(
            "if it continues for minutes: collect state-change.log of {leader} and controller.log",
            "check that the controller reaches {leader}",
        ),
        issues=("KIP-320 (2.1: the epoch in requests)",),
    ),
    KnownProblem(
        id="fetch-moved-to-remote",
        title="Fetch below the leader's local log",
        severity=Severity.INFO,
        kinds=(Kind.FETCH_ERROR,),
        when=detail_is(MOVED_TO_REMOTE),
        states="a follower asked {leader} for {where} from offset {offset}, which is in remote storage alone",
        records=Records.NOTHING_LOST,
        means=(
            "Routine with tiered storage: the follower reads what describes these records from remote storage, and "
            "begins its log where its leader's local log begins."
        ),
        fetch=("if it repeats: collect the log of the remote storage plugin of the follower",),
        issues=("KIP-405 (3.6: tiered storage)",),
    ),
    KnownProblem(
        id="fetch-refused",
        title="Leader refused a fetch",
        severity=Severity.INFO,
        kinds=(Kind.FETCH_REFUSED, Kind.FETCH_ERROR),
        when=detail_is_not(*NOT_TAKEN, FROM_REMOTE),
        states="a follower's fetch of {where} from {leader} was answered with an error",
        records=Records.NOTHING_LOST,
        means=(
            "Leadership moved, or the topic is being created or deleted. The follower receives the new leader next. It "
            "tries again by itself, and keeps its records."
        ),
        fetch=(
            "if it continues for minutes: compare the leader in kafka-topics --describe with the one it asks",
            "collect state-change.log of both",
        ),
    ),
    *ROUTINE,
)
"""Every known problem, errors first, routine last. The first one that recognises an observation counts."""

BY_ID = {one.id: one for one in KNOWN_PROBLEMS}
