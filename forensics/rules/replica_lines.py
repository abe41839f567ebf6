"""Lines about the files, the leader epochs and the compaction of one replica: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records, Row, detail_is, detail_is_not, less
from parsers.details import (
    CLEANING_FAILED,
    EPOCHS_OUT_OF_ORDER,
    FETCHES_FROM_ITSELF,
    FILE_IN_USE,
    MAPPED_FILE,
    NO_TOPIC_ID,
    NOT_PAUSED,
    NOT_READABLE,
    REMOTE_COPY,
    REMOTE_READ,
    REMOTE_STATE,
    SEGMENT_NOT_RENAMED,
    SEGMENTS_MISSING,
    SENT_DAMAGED,
    STRAY,
    STRAY_TOPIC,
    SYSTEM_LIMITS,
    TWO_DIRECTORIES,
    ended_loading,
)
from parsers.schema import Kind

_COPY = "copy {directory} of {who} to another disk before you start or wipe a broker, or move a partition"
_DUMP = "run kafka-dump-log on the segment of every replica of {where}: it names batches that are not valid"


def is_behind_log_start(row: Row) -> bool:
    """Return whether a follower fetched below the log start of its leader."""
    return less("offset", "log_start")(row) or less("offset", "leo")(row)


def is_set_back(row: Row) -> bool:
    """Return whether a follower's fetch offset was set back to the log end of its leader, as far as lines state."""
    return less("leo", "offset")(row) and row["log_start"] is None


def is_set_to_leaders_start(row: Row) -> bool:
    """Return whether a follower's fetch offset was set back to the log start of its leader."""
    return less("leo", "offset")(row) and row["log_start"] == row["leo"]


REPLICAS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="truncation-and-lower-high-watermark",
        title="Truncated below its high watermark",
        severity=Severity.ERROR,
        kinds=(Kind.HW_REGRESSED,),
        when=less("offset", "hw_before"),
        states="{who} truncated {where} to offset {offset}, and its high watermark fell from {hw_before} to {hw}",
        records=Records.AT_STAKE,
        means=(
            "Offsets {stake} counted as committed on {who}, and its log lacks them now. They are lost if the log of "
            "its leader lacks them too."
        ),
        fetch=(
            "collect server.log and state-change.log of the leader: the offset at which it began its leader epoch",
            "collect the segments of {where} on the leader, for offsets {stake}",
            _COPY,
        ),
        stake=("offset", "hw_before"),
        always=True,
    ),
    KnownProblem(
        id="segments-missing",
        title="Segment files are missing",
        severity=Severity.ERROR,
        kinds=(Kind.TRUNCATE_FULL,),
        when=detail_is(SEGMENTS_MISSING),
        states="{who} found that the log of {where} ends below its start, {offset}, and emptied it",
        records=Records.AT_STAKE,
        means=(
            "The newest segments are gone: somebody or something deleted files, or the disk lost them. Records from "
            "{offset} on are no longer on {who}. If it leads, or no other replica has them, they are lost."
        ),
        fetch=(
            "check which other replicas of {where} have records from offset {offset} on, and keep these",
            "find out what deleted the files: a script, a clean-up job, a mount",
        ),
        do_not=("let {who} lead {where} before it has fetched them",),
        issues=("KAFKA-10101 (2.7: the epoch file is cleared too)",),
        always=True,
    ),
    KnownProblem(
        id="stray-topic",
        title="Replica of a topic that the controllers do not know",
        severity=Severity.WARNING,
        kinds=(Kind.LOG_DELETED,),
        when=detail_is(STRAY_TOPIC),
        states="{who} has a replica of {where} up to offset {leo}, and no topic of the cluster has its topic id",
        records=Records.UNKNOWN,
        means=(
            "If the topic was deleted while {who} was down, this is routine. If the controllers lost their metadata "
            "or were formatted again, nearly all topics of {who} are in such lines, also __consumer_offsets. Then this "
            "replica may be the only copy. Before 3.6.1 a broker may delete it a minute later. Since then it renames "
            "the directory to -stray and keeps it."
        ),
        fetch=(
            (
                "if the topic was not deleted on purpose: copy {where}.*-stray of {who}. Before 3.6.1 the directory "
                "keeps its name, and {who} soon deletes it: then stop {who}, and copy {directory}"
            ),
            "run kafka-topics --describe for {where}: another topic id shows that it was created again",
            "copy the __cluster_metadata-0 directory of every controller, and collect their server.log",
        ),
        do_not=("delete -stray directories before the topic is complete elsewhere",),
        issues=(
            "KAFKA-15605 (since 3.6.1 and 3.7 brokers keep such directories)",
            "KAFKA-14616 (topics created again while a broker was down; fixed in 3.7.1)",
        ),
        always=True,
    ),
    KnownProblem(
        id="stray-replica",
        title="Replica that is not assigned to its broker",
        severity=Severity.INFO,
        kinds=(Kind.LOG_DELETED,),
        when=detail_is(STRAY),
        states=(
            "{who} has a replica of {where} that the controllers did not assign to it, or that has no topic id, and "
            "sets it aside"
        ),
        records=Records.UNKNOWN,
        means=(
            "Routine if the replica moved to other brokers, or its topic was deleted, while {who} was down. Not if its "
            "partition.metadata was lost: then it may have records that others lack. The directory gets a name that "
            "ends in -stray, and the broker does not delete it (before 3.6.1 it may)."
        ),
        fetch=(
            "run kafka-topics --describe for {where}: are its replicas in the ISR, and is the topic id the same?",
            "if the topic is missing there: copy {directory} of {who}, and see what happened to the controllers",
        ),
        do_not=("delete -stray directories before the partition is complete elsewhere",),
        issues=("KAFKA-15605 (since 3.6.1 and 3.7 brokers keep such directories)",),
        leads=True,
        beside=("stray-topic",),
    ),
    KnownProblem(
        id="logs-not-loaded",
        title="Broker does not start: a log cannot be loaded",
        severity=Severity.ERROR,
        kinds=(Kind.STORAGE_ERROR,),
        when=lambda row: ended_loading(row["detail"]),
        states="{who} did not start, because it could not load its logs: {detail}",
        records=Records.UNKNOWN,
        means=(
            "The exception names what does not fit: a segment, an index, a directory or its files. Other replicas of "
            "the partition may have its records. The broker meets the same at each start."
        ),
        fetch=(
            "collect the exception with its stack trace below the line, and the lines before it: they name the log",
            "copy the directory of that log to another disk before you change anything in it",
            "check which other replicas of that partition are in the ISR",
        ),
        do_not=("wipe the directory: its replicas may be the only copies",),
        always=True,
        part_of=(
            "file-not-readable",
            "two-directories",
            "foreign-directory",
            "index-corrupt",
            "offsets-go-back-in-log",
            "corrupt-record",
            "disk-full",
            "io-error",
            "system-limit",
            "file-in-use",
            "index-fault",
            "checkpoint-damaged",
        ),
    ),
    KnownProblem(
        id="topic-id-missing",
        title="Broker does not start: a replica without a topic id",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(NO_TOPIC_ID),
        states="{who} did not start: the directory of {where} has no partition.metadata; its log ends at {leo}",
        records=Records.NOTHING_LOST,
        means=(
            "The file has the topic id. It is missing if the host failed right after the topic was created, or if the "
            "directory was copied in part. The metadata log of the broker is sound."
        ),
        fetch=(
            "copy {directory} of {who}",
            "if the log ends at 0, or other replicas are in the ISR: move the directory away while the broker is down",
            "if it has records that no other replica has: restore partition.metadata with the id of the topic",
        ),
        issues=("KAFKA-16814 (fixed in 3.7.1 and 3.8: such a directory is set aside as stray)",),
        always=True,
    ),
    KnownProblem(
        id="file-not-readable",
        title="Broker does not start: a file that it may not read",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(NOT_READABLE),
        states="{who} may not read a file of {where}{in_directory}, and did not load its log",
        records=Records.NOTHING_LOST,
        means=(
            "The file belongs to another user, or its permissions forbid it. That is so after a container image runs as"
            " another user, or after files were copied or restored as root. Its content may be sound."
        ),
        fetch=(
            "check owner and permissions of all files in {directory} on {who}: the user of the process needs them",
            "correct them (chown -R, chmod -R u+rw; fsGroup in Kubernetes), and start the process",
        ),
        do_not=("wipe or format the directory to get the process started",),
        always=True,
    ),
    KnownProblem(
        id="two-directories",
        title="Broker does not start: two directories of one replica",
        severity=Severity.ERROR,
        kinds=(Kind.PROBLEM,),
        when=detail_is(TWO_DIRECTORIES),
        states="{who} has two directories of {where} in its log.dirs, and did not start",
        records=Records.AT_STAKE,
        means=(
            "A move between directories ended halfway, or somebody copied a directory. Or a directory failed, its "
            "replica was created again in another one, and then the first returned. The two need not have the same "
            "records, and one may be older."
        ),
        fetch=(
            "copy both directories, and compare them (forensics compare)",
            "compare the longer one with the other replicas of {where}, before you keep one of the two",
            "collect the lines about {where} since the last start, from all log directories",
        ),
        do_not=("delete one of them before both are copied: the shorter one may be the one in use",),
        issues=("KIP-113 (1.1: moves between directories)",),
        always=True,
    ),
    KnownProblem(
        id="corrupt-produce",
        title="Damaged records of a producer refused",
        severity=Severity.INFO,
        kinds=(Kind.RECORD_CORRUPT,),
        when=detail_is(SENT_DAMAGED),
        states="a producer sent damaged records to {where}, and {who} did not append them",
        records=Records.NOTHING_LOST,
        means=(
            "A leader checks the bytes of a batch before it writes. They did not match their checksum when they "
            "arrived: the producer's library wrote them wrongly, or they changed on the way. The log has none of them."
        ),
        fetch=(
            "check whether the producer sent the records again, and with success",
            "find the library and version of the producer, and report it if the line repeats",
        ),
        leads=True,
        always=True,
    ),
    KnownProblem(
        id="corrupt-record",
        title="Corrupt record",
        severity=Severity.ERROR,
        kinds=(Kind.RECORD_CORRUPT,),
        when=detail_is_not(SENT_DAMAGED),
        states="a record of {where}{at_offset} is damaged: {detail}",
        records=Records.UNREADABLE,
        means=(
            "The bytes do not match their checksum: a crash in the middle of a write, or a faulty disk or memory. If "
            "log recovery found this, the broker truncated its log there, and a follower fetches the records again. "
            "Otherwise consumers and followers stop there. If all replicas have the same bytes, the leader wrote them "
            "that way."
        ),
        fetch=(
            (
                'if "Corruption found" follows the line, the broker has truncated its log already: its directory '
                "has no more of these records. If not, copy {directory} on all replicas to another disk before you "
                "start or wipe a broker, or move a partition"
            ),
            _DUMP,
            "skip the offset in the consumer only if no replica has the undamaged record",
        ),
        always=True,
    ),
    KnownProblem(
        id="file-in-use",
        title="Windows does not let the broker rename its files",
        severity=Severity.ERROR,
        kinds=(Kind.DISK_ERROR,),
        when=detail_is(FILE_IN_USE),
        states="Windows did not let {who} rename or delete a file of its log that is in use",
        records=Records.NOTHING_LOST,
        means=(
            "Brokers rename segments and indexes while these are mapped into memory, when they compact or delete old "
            "ones; Windows refuses that. The log directory goes offline, and with the last one the broker stops. It "
            "meets the same at each start."
        ),
        fetch=(
            "run the broker on Linux, in WSL 2 or in a container, on a disk that is not shared with Windows",
            "until then, switch off what renames files: log.cleaner.enable=false (before 4.0), log.retention.ms=-1",
            "copy the log directory before you delete anything in it: its replicas may be the only copies",
        ),
        issues=("KAFKA-1194 (Windows, which Kafka does not support fully)",),
        always=True,
    ),
    KnownProblem(
        id="system-limit",
        title="Limit of the operating system reached",
        severity=Severity.ERROR,
        kinds=(Kind.DISK_ERROR,),
        when=detail_is(*SYSTEM_LIMITS),
        states="the operating system of {who} answered {detail}: a limit of the process is reached, the disk is sound",
        records=Records.NOTHING_LOST,
        means=(
            "Each segment needs open files and mapped indexes, and each connection a file. The broker counts this as a "
            "failure of its disk: the log directory goes offline, and with the last one the broker stops."
        ),
        fetch=(
            '"Too many open files": raise LimitNOFILE (ulimit -n) of the service to 100000 or more',
            '"Map failed": raise vm.max_map_count (sysctl) to 262144 or more',
            "count segments and connections: too many partitions or short segments reach any limit",
        ),
        always=True,
    ),
    KnownProblem(
        id="index-fault",
        title="Index cannot be written: disk full or gone",
        severity=Severity.ERROR,
        kinds=(Kind.DISK_ERROR,),
        when=detail_is(MAPPED_FILE),
        states="the operating system did not let {who} read or write a memory-mapped index",
        records=Records.UNKNOWN,
        means=(
            "The disk is full, or it fails or was taken away: indexes are mapped into memory, and the system has no "
            "page for the file. A record that was being appended is not acknowledged. The log directory stays "
            "online, because the broker does not count this error as one of its disk."
        ),
        fetch=(
            "run df on the log directories of {who}, and read the kernel's log (dmesg) of that time",
            "free space or restore the mount, then restart {who}: it checks the end of its logs",
            "before that, check the ISR of its partitions: do their other replicas have all records?",
        ),
        always=True,
    ),
    KnownProblem(
        id="segment-not-renamed",
        title="Segment file cannot be renamed",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(SEGMENT_NOT_RENAMED),
        states="{who} could not rename the file of the segment of {where} that begins at offset {offset}",
        records=Records.NOTHING_LOST,
        means=(
            "Retention or compaction marks a segment by its name before it deletes it. Windows refuses to rename an "
            "open file. Up to 0.11 the broker then stops or retries at each run, and the disk fills up."
        ),
        fetch=(
            "run the broker on Linux with a local or block disk",
            "check who may rename files there, and whether another program holds them open",
        ),
        do_not=("rename or delete segment files by hand while the broker runs",),
        issues=("KAFKA-1194 (Windows, which Kafka does not support fully)",),
        leads=True,
    ),
    KnownProblem(
        id="damage-found",
        title="Log recovery found damaged records",
        severity=Severity.WARNING,
        kinds=(Kind.SEGMENT_DAMAGED,),
        states="log recovery of {who} found a damaged record in a segment of {where} that begins at offset {offset}",
        records=Records.AT_STAKE,
        means=(
            "It truncates the segment there, also what is undamaged behind it. Another replica in the ISR has these "
            "records. If this replica becomes leader next, its shorter log counts."
        ),
        fetch=(
            "collect the log end offset of {where} that the next lines state, and those of the other replicas",
            "check whether this replica became leader next",
            "check the disk and the memory of {who}, unless it had been killed",
        ),
        unjudged=True,
        beside=("recovery-truncated",),
    ),
    KnownProblem(
        id="compaction-stopped",
        title="Compaction stopped",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(CLEANING_FAILED),
        states="{who} no longer compacts {where}: its cleaner met an error",
        records=Records.UNKNOWN,
        means=(
            "The partition is left out until the broker restarts, and its log grows. The exception names the cause; "
            "often it is a damaged record."
        ),
        fetch=("collect the exception below the line", _DUMP, "check the free space of the disk"),
        leads=True,
    ),
    KnownProblem(
        id="epoch-begins-below",
        title="Leader epoch begins below an earlier one",
        severity=Severity.WARNING,
        kinds=(Kind.EPOCH_CONFLICT,),
        when=less("offset", "leo"),
        states=(
            "leader epoch {leader_epoch} of {where} begins at offset {offset} on {who}, below {leo}, where one before "
            "it had begun"
        ),
        records=Records.AT_STAKE,
        means=(
            "The log of {who} had reached further in the epoch before, and was truncated or lost its end. Records "
            "from {offset} on are not those that it had."
        ),
        fetch=(
            "collect server.log of {who} before that: what truncated its log",
            "compare the segments of {where} on all replicas from offset {offset} on (forensics compare)",
            "collect controller.log and state-change.log around that time: how the leader was elected",
        ),
        always=True,
    ),
    KnownProblem(
        id="epochs-out-of-order",
        title="Leader epochs out of order",
        severity=Severity.WARNING,
        kinds=(Kind.EPOCH_CONFLICT,),
        when=detail_is(*EPOCHS_OUT_OF_ORDER),
        states=(
            "{who} got records of {where} with leader epoch {leader_epoch} at offset {offset}, after it had a later one"
        ),
        records=Records.UNKNOWN,
        means=(
            "Leader epochs rise along a log. A leader that was replaced wrote on, or the controller's state went back "
            "to an older copy. Followers may truncate to a wrong offset."
        ),
        fetch=(
            "collect leader-epoch-checkpoint of {where} from every replica",
            "compare the segments of {where} on all replicas (forensics compare)",
            "collect controller.log and state-change.log of the last changes of leader",
        ),
        always=True,
    ),
    KnownProblem(
        id="fetches-from-itself",
        title="Broker fetches from itself",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(FETCHES_FROM_ITSELF),
        states="{who}, the leader of {where}, was asked for its records by a follower with its own broker id",
        records=Records.NOTHING_LOST,
        means=(
            "Another broker of that id runs, or the address that a broker advertises leads back to the one that asks. "
            "Its followers then fetch nothing, and stay out of the ISR."
        ),
        fetch=(
            "check whether two brokers run with the broker.id of {who}",
            "check advertised.listeners of all brokers: each must lead to its own broker, not to 0.0.0.0 or localhost",
            "check the ISR of {where}: there are fewer copies meanwhile",
        ),
    ),
    KnownProblem(
        id="remote-state-missing",
        title="Follower cannot begin from remote storage",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(REMOTE_STATE),
        states="a follower cannot build its state of {where} from remote storage",
        records=Records.UNKNOWN,
        means=(
            "Its leader keeps earlier records in remote storage alone, and what describes them is missing there or "
            "cannot be read. The follower does not fetch and stays out of the ISR."
        ),
        fetch=(
            "collect the exception below the line, and the log of the remote storage plugin",
            "check the ISR of {where}: the leader may have the only local copy",
            "check whether segments of {where} were deleted in remote storage",
        ),
        always=True,
    ),
    KnownProblem(
        id="remote-read-failed",
        title="Records not read from remote storage",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(REMOTE_READ),
        states="{who} could not answer a consumer of {where} with records that are in remote storage alone",
        records=Records.UNKNOWN,
        means=(
            "The store, or the way to it, failed; or segments were deleted there. Local copies of these records no "
            "longer exist. Consumers of newer records are not concerned."
        ),
        fetch=(
            "collect the exception below the line, and the log of the remote storage plugin",
            "list the segments of {where} in the store: are any missing?",
            "check whether it continues: a failure of the store passes, a deleted segment does not return",
        ),
        issues=("KIP-405 (3.6: tiered storage)",),
        always=True,
    ),
    KnownProblem(
        id="remote-copy-failed",
        title="Segments not copied to remote storage",
        severity=Severity.WARNING,
        kinds=(Kind.PROBLEM,),
        when=detail_is(REMOTE_COPY),
        states="{who}, the leader of {where}, could not copy segments to remote storage",
        records=Records.NOTHING_LOST,
        means=(
            "The broker tries again. Segments that are not copied stay on the local disk, whatever retention says: the "
            "log grows until a copy succeeds or the disk is full."
        ),
        fetch=(
            "collect the exception below the line: it names the cause, such as the store or a missing file",
            "watch the free space of the log directory on {who}",
        ),
        do_not=("delete local segments by hand: they are the only copies",),
    ),
    KnownProblem(
        id="log-not-restarted",
        title="Follower cannot begin its log again",
        severity=Severity.INFO,
        kinds=(Kind.PROBLEM,),
        when=detail_is(NOT_PAUSED),
        states="a follower of {where} has to begin its log again, and fails at that: its cleaner holds the log",
        records=Records.NOTHING_LOST,
        means=(
            "Its leader had deleted what it needs. It tries again and again, does not fetch, and stays out of the ISR, "
            "also after a restart."
        ),
        fetch=(
            "check the ISR of {where}: there are fewer copies meanwhile",
            "upgrade the broker",
            "or stop it, move its directory of {where} away, and start it: it fetches from its leader again",
        ),
        issues=("KAFKA-3123 (reported for 0.9)",),
        leads=True,
    ),
    KnownProblem(
        id="log-fetched-again",
        title="Follower deleted its log and fetches it again",
        severity=Severity.INFO,
        kinds=(Kind.FETCH_OFFSET_SET,),
        when=is_set_to_leaders_start,
        states=(
            "a follower of {where} fetched from offset {offset}, was answered out of range, and begins again at the "
            "log start of {leader}, {leo}"
        ),
        records=Records.UNKNOWN,
        means=(
            "The follower deletes all of its records and fetches them from its leader again; until then there is one "
            "copy less. The log of its leader does not end at {leo}. A leader of 0.8 may answer so by mistake while "
            "records are appended, or its log was shorter for a moment after an unclean election."
        ),
        fetch=(
            "keep {leader} running until the follower is in the ISR of {where} again",
            "collect controller.log and state-change.log from before: was {leader} elected shortly before, uncleanly?",
            "upgrade to 0.9 or later",
        ),
        issues=(
            "KAFKA-2477 (0.8: a leader answers out of range by mistake; fixed in 0.9)",
            "KAFKA-2143 (0.8: the follower begins at the log start of its leader; fixed in 0.9)",
        ),
        leads=True,
    ),
    KnownProblem(
        id="isr-member-behind",
        title="Member of the ISR below the high watermark",
        severity=Severity.WARNING,
        kinds=(Kind.ISR_SHRINK,),
        when=less("offset", "hw"),
        states=(
            "{who} removed a replica from the ISR of {where} whose log ended at {offset}, below its own high watermark "
            "{hw}"
        ),
        records=Records.AT_STAKE,
        means=(
            "A member of the ISR has all committed records. This one had lost the end of its log, or began empty. If "
            "the leader had failed before this line, an election from the ISR could have lost offsets {stake}."
        ),
        fetch=(
            "collect server.log of the replica that left, from its last start on: what its log had when it was loaded",
            "compare the copies of {where}: forensics compare",
        ),
        do_not=("stop the leader before all members of the ISR have fetched past {hw}",),
        stake=("offset", "hw"),
    ),
    KnownProblem(
        id="behind-log-start",
        title="Follower behind its leader's log start",
        severity=Severity.INFO,
        kinds=(Kind.FETCH_RESET, Kind.FETCH_OFFSET_SET),
        when=is_behind_log_start,
        states="{who} fetched {where} from offset {offset}, which its leader had deleted: it begins again further on",
        records=Records.NOTHING_LOST,
        means=(
            "Retention or a request had deleted records before the follower fetched them. Routine for a replica that "
            "was away for long."
        ),
        fetch=("check retention of the topic", "if the follower was never away: collect server.log of {leader}"),
    ),
)
"""Lines about one replica, errors first."""
