"""Values of the column ``detail`` that replay or rules use; elsewhere it holds words of the line, for people.

Readers write these values, and code that draws conclusions compares with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from parsers.encodings.checkpoint_file import integer


class Transition(StrEnum):
    """One step of carrying out a LeaderAndIsr or StopReplica request, as state-change.log prints it (to 3.9)."""

    LEADER_START = "leader: start"
    LEADER_FETCHERS_STOPPED = "leader: fetchers stopped"
    LEADER_DONE = "leader: done"
    FOLLOWER_START = "follower: start"
    FOLLOWER_FETCHERS_STOPPED = "follower: fetchers stopped"
    FOLLOWER_TRUNCATION = "follower: truncation step"
    FOLLOWER_FETCHER_STARTED = "follower: fetcher started"
    FOLLOWER_DONE = "follower: done"
    LEADER_UNAVAILABLE = "follower: leader unavailable"  # the follower stays without a leader
    STOPPED = "stop replica (delete=false)"
    DELETED = "stop replica (delete=true)"  # up to 2.5 logged where server.log reports the deletion


DONE = (Transition.LEADER_DONE, Transition.FOLLOWER_DONE)
"""The last step of a role change."""

ROLE_STEPS = (
    Transition.LEADER_START,
    Transition.LEADER_FETCHERS_STOPPED,
    Transition.FOLLOWER_START,
    Transition.FOLLOWER_FETCHERS_STOPPED,
    Transition.FOLLOWER_TRUNCATION,
    Transition.FOLLOWER_FETCHER_STARTED,
)
"""The steps of a role change before its last."""

SAME_LEADER = "follower: same leader"
"""Of an unchanged role: the follower receives a new leader epoch, or another ISR, of the leader that it follows."""

INITIAL_FETCH_OFFSET = "The initial fetch offset"
"""Of a planned truncation: the leader answered that it has none of the follower's epochs."""

MAPPED_FILE = "a fault in a memory-mapped file"
"""Of a disk error: the JVM could not read or write a page of an index."""

FILE_IN_USE = "another process uses the file"
"""Of a disk error: Windows does not rename or delete a file that is open or mapped, as the broker's own files are."""

SYSTEM_LIMITS = ("Too many open files", "Map failed")
"""Of a disk error: the process reached a limit of its operating system; the disk is sound."""

ALL_DIRS_FAILED = "all log dirs have failed"
"""Of a failed log directory: it was the last one in use, and the broker stops."""

FETCHED_OFFSET = "fetched offset"
"""Of a refused append: the offset is that of the fetch, which is not the log end offset of the follower."""

FUTURE_REPLICA = "future replica"
"""Of a fetch that failed: it copied a log into another directory of its own broker (KIP-113)."""

BATCH_OFFSETS = ("First offset", "First offset or last offset of the first batch")
"""Of a refused append: the offset is the first of the batch that was sent (``Log.append``, from 2.0; to 1.1)."""

LOADING = "logs loading: "
"""Begin of the detail of a storage error: what ended the start of a broker while it loaded its logs."""

RENAME_FAILED = "Error while renaming dir"
"""Of a storage error: a directory could not be renamed for its deletion."""

STALE_ZK_VERSION = "cached zkVersion not equal to that in zookeeper"
"""Of a refused ISR change: the partition's node had changed in ZooKeeper."""

NOT_TAKEN = (
    "Found invalid messages during fetch",
    "invalid messages",  # the same, to 1.0
    "Error while processing data",
    "Unexpected error occurred while processing data",
    "Replication is failing due to a message that is greater than replica.fetch.max.bytes",
)
"""Of a failed fetch: the leader sent records, and the follower could not take them."""

UNNAMED_ERROR = "Error"
"""Of a refused fetch: its leader answered with an error, which no exception below the line names."""

MOVED_ERRORS = (
    "NotLeaderForPartitionException",
    "NotLeaderOrFollowerException",  # since 2.6
    "UnknownTopicOrPartitionException",
    "UnknownTopicIdException",
    "InconsistentTopicIdException",
    "UnknownLeaderEpochException",
    "FencedLeaderEpochException",
    "ReplicaNotAvailableException",
    "LeaderNotAvailableException",
    "OffsetNotAvailableException",
)
"""Of a refused fetch: leadership moved, or the topic is being created or deleted (``Errors``)."""

STORAGE_ERRORS = ("KafkaStorageException",)
"""Of a refused fetch: a log directory of the leader failed."""

CORRUPT_ERRORS = ("CorruptRecordException", "InvalidRecordException", "InvalidMessageException")
"""Of a refused fetch: the leader found damaged records in its own log."""

DENIED_ERRORS = ("ClusterAuthorizationException", "TopicAuthorizationException")
"""Of a refused fetch: the leader does not let the broker of the follower fetch."""

NOT_ELECTED = (
    "failed to change state",
    "NewPartition to OnlinePartition failed",
    "OfflinePartition to OnlinePartition failed",
)
"""Of a partition that is offline: the controller tried to elect a leader, and no replica could lead."""

NOT_MOVED = (
    "OnlinePartition to OnlinePartition",
    "OnlinePartition to OnlinePartition failed",  # the same, to 1.0
)
"""Of a partition that has a leader: the controller tried to move leadership, and no other replica could lead."""

LEADER_MOVED = (
    "UNKNOWN_LEADER_EPOCH",
    "FENCED_LEADER_EPOCH",
    "NOT_LEADER_FOR_PARTITION",
    "NOT_LEADER_OR_FOLLOWER",  # since 2.6
)
"""Of an answer about a leader epoch: one of the two did not know of a change of leader yet (``Errors``)."""

INDEX_REBUILDS = ("index rebuilt", "segment recovered, index rebuilt")
"""Of a recovery: an index did not fit its segment. Up to 0.10 only the index is rebuilt; later the segment is checked
too."""

FROM_REMOTE = "from remote tier"
"""Of a log that restarts where its leader's segments begin: earlier records are in remote storage (KIP-405)."""

STRAY = "stray"
"""Of a deleted log: the controllers did not assign the replica to its broker, which sets it aside (KRaft)."""

STRAY_TOPIC = "stray: the controllers do not know the topic"
"""Of a deleted log: the same, because no topic has its id."""

MOVED = "moved between directories"
"""Of a log that was loaded in another directory of its broker while in use."""

APPEND_FAILED = "Error while appending records"
"""Of a log directory that failed while a broker appended to a log in it; the exception may follow."""

CLEANING_FAILED = "Unexpected exception thrown when cleaning log"
"""Of a problem: compaction of a partition ended."""

EPOCHS_OUT_OF_ORDER = ("not stored", "stored, later entries removed")
"""Of an epoch entry below the last one: what the broker did with it, up to 1.1 and from 2.0 on."""

REMOTE_STATE = "Couldn't build the state from remote store"
"""Of a problem: what a follower needs of records in remote storage is not there (KIP-405)."""

REMOTE_READ = "records were not read from remote storage"
"""Of a problem: a broker could not answer a consumer with records that are in remote storage alone (KIP-405)."""

REMOTE_COPY = "segments were not copied to remote storage"
"""Of a problem: a leader could not copy segments to remote storage (KIP-405)."""

CHECKPOINT_DAMAGED = "a checkpoint file is damaged"
"""Of a problem: a file of offsets or epochs is empty, or a part of it is missing."""

MOVED_TO_REMOTE = "OFFSET_MOVED_TO_TIERED_STORAGE"
"""Of a failed fetch: what it asks for is in remote storage alone (KIP-405)."""

SEGMENT_NOT_RENAMED = "a segment file cannot be renamed"
"""Of a problem: a broker could not mark the file of a segment for its deletion."""

NO_POSITION = "no committed position"
"""Of a problem: a consumer group has no committed position, so its consumer begins where it is configured to."""

OUT_OF_SEQUENCE = "out of order sequence number"
"""Of a producer that its leader does not know: a batch is missing before the one that the leader received (KIP-98)."""

SENT_DAMAGED = "sent by a producer"
"""Of a damaged record: it is in a batch of a producer, which the leader did not append."""

FETCHES_FROM_ITSELF = "a follower with the id of its leader"
"""Of a problem: a leader is asked for records by a follower with its own broker id."""

QUORUM_TRUNCATION = "truncation below the high watermark"
"""Of a problem: a node of the metadata quorum would have to remove records that it knows to be committed."""

QUORUM_CONTRADICTS = "another leader or epoch"
"""Of a problem: a node of the metadata quorum has another leader or epoch than the others."""

QUORUM_LEFT = "leadership of the metadata quorum given up"
"""Of a problem: a controller led the quorum and does not any longer."""

QUORUM_EVENT = "an event of the active controller failed"
"""Of a problem: the active controller met an exception, and takes back what is not committed."""

QUORUM_RECORD = "a record of the metadata log does not fit"
"""Of a problem: a node of KRaft cannot apply a record of the metadata log, which contradicts an earlier one."""

QUORUM_OTHER_CLUSTER = "another cluster id"
"""Of a problem: a node of the metadata quorum was answered that its cluster id is not that of the other."""

QUORUM_UNLED = "an epoch without a leader"
"""Of a problem: a node of the metadata quorum received a later epoch while it knew no leader of its own epoch."""

QUORUM_WAITS = "the high watermark of the metadata log is not known"
"""Of a problem: a node of KRaft waits for it before it starts."""

ID_IN_USE = "the broker id is registered"
"""Of a problem: the controller refuses a broker, because another process of its id has a session (KRaft)."""

NOT_READABLE = "a file of the log that the process may not read"
"""Of a problem: a log is not loaded, because of the owner or the permissions of one of its files."""

NO_TOPIC_ID = "a log without a topic id"
"""Of a problem: a broker of KRaft does not start, because a directory lacks its partition.metadata."""

NOT_FORMATTED = "no meta.properties"
"""Of a problem: a node of KRaft does not start, because its directories were never formatted, or are others."""

TWO_DIRECTORIES = "two directories of one replica"
"""Of a problem: a broker has two directories for one replica, and does not start."""

QUORUM_VOTES = "no majority of votes"
"""Of a problem: a node of the metadata quorum is a candidate again, after an election without a winner."""

QUORUM_REFUSED = "votes refused"
"""Of a problem: a majority of the metadata quorum refuses its votes to a candidate, or to a node that would be one."""

QUORUM_FEATURE = "a feature level above those of the release"
"""Of a problem: a node of KRaft is of an older release than a feature of its cluster, such as metadata.version."""

QUORUM_SNAPSHOT = "no snapshot for the start of the metadata log"
"""Of a problem: the metadata log of a node begins above the end of its latest snapshot."""

QUORUM_KEY = "another voter key than its own"
"""Of a problem: a node of the metadata quorum is addressed with a node id or directory id that it does not have."""

NOT_PAUSED = "Compaction cannot be paused"
"""Of a problem: a follower cannot empty its log, because the cleaner is paused for it already (KAFKA-3123)."""

SEGMENTS_MISSING = "log ends below its start"
"""Of a log that restarts at its log start offset: files of it are missing."""

EPOCH_REWRITTEN = "first epoch entry rewritten"
"""Of a log start offset to which the leader epoch cache was truncated, whether or not the log's start moved."""

BY_REQUEST = "by request"
"""Of an append logged where a producer's request is carried out, maybe after a later one of another producer."""

AMBIGUOUS = "ambiguous"
"""Of a high watermark: if it is 0, it may be the broker's value for another replica (up to 2.3)."""

CANDIDATE = "candidate"
"""Of an election: the live ISR member that the controller found, before the line about the elected leader (up to
1.0).
"""

OFFLINE_REPLICA = "OfflineReplica"
"""Of a replica's state in a ZooKeeper controller: its broker is gone, or received a request to stop it."""

ELECTED_SAFELY = "elected safely"
"""Of a change to a leader that was not in the ISR before, and has all committed records."""


class Claim(StrEnum):
    """A claim of the first line of a trace: it states every change of a replica."""

    ALL = "all"
    LOG = "log"  # every change of its log and its high watermark
    ROLES = "roles"  # every change of its role
    NOTHING = "nothing"  # it makes no such claim of the replica
    SINCE = "since"  # only from the time of the row on
    UNTIL = "until"  # only up to the time of the row


CUT = "cut"
"""Of the last entry of a checkpoint file: the rest of the file is missing."""
REPLICAS = "replicas="
"""With this the detail of a change begins that sets the replicas, as the end of a reassignment does."""

BY_COMMAND = "by kafka-leader-election"
"""Of a requested election: the command that asked for it printed that it took place."""

LAST_KNOWN = "lastKnownElr="
"""Prefix of the last ISR members in the detail of an unclean election from an empty ISR: ids in brackets. Controllers
print it like this, or with a colon and a blank (PartitionRegistration.toString, diff).
"""

AGAINST_SETTINGS = "allowed-by-no-setting-of="
"""With this, in the detail of an unclean election, the id of the controller begins that held it."""

COMPACT_POLICY = r"cleanup\.policy(?: -> |=)(?:\[[^\]]*|[^,]*)compact"
"""A pattern: with this among its properties a log was created for compaction."""

ALL_REPLICAS = "AllReplicas:"
"""With this the detail of a cached state begins that names all replicas, ids joined by ","."""

_CAUSE = re.compile(r"(?:^|: )([A-Za-z_][\w$]*(?:Exception|Error): .+)$")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)+([A-Za-z_][\w$]*(?:Exception|Error))")
_LAST_KNOWN = re.compile(rf"{LAST_KNOWN[:-1]}(?:=|: )\[([0-9, ]+)\]")
_ELIGIBLE = re.compile(r"(?:^| )elr=([0-9,]+)")
_AGAINST_SETTINGS = re.compile(rf"{AGAINST_SETTINGS}([0-9]{{1,10}})(?![0-9])")
_ALL_REPLICAS = re.compile(rf"(?:{ALL_REPLICAS}|{REPLICAS})([0-9]{{1,10}}(?:,[0-9]{{1,10}})*)")
_BROKERS = re.compile(r"[0-9,]+")
_END_OFFSET = re.compile(r"\bendOffset=([0-9]{1,19})(?![0-9])")
_COUNTED = re.compile(r"(?<![0-9])(-?[0-9]{1,19}) \[")
_EPOCH_ENTRY = re.compile(r"EpochEntry[(\[](?:epoch=)?([0-9]{1,10}), ?(?:startOffset=)?([0-9]{1,19})[)\]]")
_PROPERTY = re.compile(r"([a-z][a-z.]+)(?: -> |=)(\[[^\]]*\]|[^,]*)")


def last_known(detail: str | None) -> str | None:
    """The brokers that were last in the ISR, by the detail of an unclean election: ids joined by ",".

    >>> last_known("lastKnownElr: [1, 2]"), last_known("RECOVERING")
    ('1,2', None)
    """
    found = _LAST_KNOWN.match(detail or "")
    return found[1].replace(" ", "") if found is not None else None


def eligible(detail: str | None) -> str | None:
    """The eligible leader replicas (KIP-966) by the detail of a partition's change: ids joined by ","; None for none.

    >>> eligible("elr=1,2 last-known-elr=1"), eligible("elr= last-known-elr=")
    ('1,2', None)
    """
    found = _ELIGIBLE.search(detail or "")
    return found[1] if found is not None else None


def exception_in(detail: str | None) -> str | None:
    """The exception that a detail names, without its package; None if it names none.

    >>> exception_in("org.apache.kafka.common.errors.KafkaStorageException"), exception_in("Error getting offset")
    ('KafkaStorageException', None)
    """
    found = _EXCEPTION.fullmatch(detail or "")
    return found[1] if found is not None else None


def cause_in(detail: str | None) -> str | None:
    """The exception with its message with which a detail ends, as the cause of what failed; None if there is none.

    >>> cause_in("Error while flushing log: FileNotFoundException: /data/x (Not a directory)")
    'FileNotFoundException: /data/x (Not a directory)'
    >>> cause_in("Error while flushing log") is None
    True
    """
    found = _CAUSE.search(detail or "")
    return found[1] if found is not None else None


def elected_safely(detail: str | None) -> bool:
    """Return whether a change to a leader from outside the ISR is one that makes leaders with all committed records.

    Eligible leader replicas are such leaders (KIP-966). So is a replica that leads from the end of a reassignment on,
    of which the change sets the replicas too (PartitionChangeBuilder).

    >>> elected_safely("elected safely"), elected_safely("replicas=1,2"), elected_safely("elr=1")
    (True, True, False)
    """
    return (detail or "").startswith((ELECTED_SAFELY, REPLICAS))


def assigned(detail: str | None) -> tuple[int, ...]:
    """All replicas of a partition, by the detail of a cached or described state; none where it does not name them.

    >>> assigned("AllReplicas:1,2,3"), assigned("replicas=1,2"), assigned("sent")
    ((1, 2, 3), (1, 2), ())
    """
    found = _ALL_REPLICAS.fullmatch(detail or "")
    return tuple(int(broker) for broker in found[1].split(",")) if found is not None else ()


def voters(detail: str | None) -> frozenset[int]:
    """The voters of the metadata quorum, as a follower's line lists them; none where it lists none.

    >>> sorted(voters("101, 102")), voters(None)
    ([101, 102], frozenset())
    """
    named = (integer(part.strip()) for part in (detail or "").split(","))
    return frozenset(one for one in named if one is not None)


def against_settings(detail: str | None) -> int | None:
    """The controller that held an unclean election which no setting in the metadata log allowed."""
    found = _AGAINST_SETTINGS.search(detail or "")
    return int(found[1]) if found is not None else None


def names_brokers(detail: str | None) -> bool:
    """Return whether a warning of an unclean election names the live brokers, as it does up to 1.0."""
    return _BROKERS.fullmatch(detail or "") is not None


def counted_ends(detail: str | None) -> list[int]:
    """The log end offsets that a leader counted and could not advance its high watermark for (``HW_HELD``).

    >>> counted_ends("50 [0 : 1840],90 [0 : 3310]")
    [50, 90]
    """
    return [int(end) for end in _COUNTED.findall(detail or "")]


def answered_end(detail: str | None) -> int | None:
    """The end offset of a leader epoch in the answer that a planned truncation names (``TRUNCATE_PLAN``).

    >>> answered_end("EpochEndOffset(errorCode=0, partition=0, leaderEpoch=4, endOffset=470)"), answered_end(None)
    (470, None)
    """
    found = _END_OFFSET.search(detail or "")
    return int(found[1]) if found is not None else None


def epoch_entries(detail: str | None) -> list[tuple[int, int]]:
    """The leader epochs that a truncation removed from an epoch file, with their start offsets (``EPOCH_CUT``).

    >>> epoch_entries("[EpochEntry(epoch=2, startOffset=30), EpochEntry(epoch=4, startOffset=35)]")
    [(2, 30), (4, 35)]
    >>> epoch_entries("Set(EpochEntry(2,30))")
    [(2, 30)]
    """
    return [(int(epoch), int(start)) for epoch, start in _EPOCH_ENTRY.findall(detail or "")]


def log_properties(detail: str) -> dict[str, str]:
    """The properties with which a log was created; to 1.0 all are printed, later those that are no broker's default.

    >>> log_properties("cleanup.policy -> [compact, delete], min.insync.replicas -> 2")
    {'cleanup.policy': 'compact, delete', 'min.insync.replicas': '2'}
    """
    return {key: value.strip("[] ") for key, value in _PROPERTY.findall(detail)}


def ended_loading(detail: str | None) -> bool:
    """Return whether a storage error ended the start of a broker while it loaded its logs."""
    return detail is not None and detail.startswith(LOADING)


def segments(detail: str | None) -> int | None:
    """Return the number of segments of a loaded log, if the line states it."""
    return integer(detail or "")


def series_labels(of_cluster: Iterable[tuple[str, str]], others: Iterable[tuple[str, str]]) -> str:
    """Return the labels of a series of metrics as its detail has them behind its name.

    Args:
        of_cluster: names and values of labels that are the same of all series about one cluster.
        others: those that may differ within it.

    >>> series_labels([("cluster", "a")], [("instance", "x:9308")])
    '{cluster="a"}{instance="x:9308"}'
    """
    return "".join(f"{{{','.join(map(_label, labels))}}}" for labels in (of_cluster, others))


def _label(label: tuple[str, str]) -> str:
    name, value = label
    return f'{name}="{value}"'.replace("{", "\\x7b").replace("}", "\\x7d")


class SeriesName(NamedTuple):
    """A series of metrics, as a detail names it.

    Attributes:
        name: of the metric.
        of_cluster: labels that are the same of all series about one cluster, as text.
        others: those that may differ within it.
    """

    name: str
    of_cluster: str
    others: str

    @property
    def labels(self) -> str:
        """All labels, as people read them."""
        return ",".join(one for one in (self.of_cluster, self.others) if one)


def series_named(detail: str) -> SeriesName:
    """Return the series that a detail names.

    >>> series_named('up{cluster="a"}{}')
    SeriesName(name='up', of_cluster='cluster="a"', others='')
    """
    name, *labels = detail.replace("}", "").split("{")
    return SeriesName(name, *labels)
