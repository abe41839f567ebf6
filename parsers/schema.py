"""Every table that readers produce: column names, types and meanings, in one place.

Arrow and Spark types are derived from these. Offsets follow Kafka: ``leo`` is the next offset to be written, ``hw`` the
first offset that is not committed. Times are microseconds; readers give the time as printed, without a zone.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import polars as pl


class Kind(StrEnum):
    """Kind of an observation. The comment names the columns that carry its values beside topic and partition."""

    # -- the process ------------------------------------------------------------------------------------------------
    PROCESS_START = "process_start"  # a broker process begins (first line of a run); replica = broker id if printed
    PROCESS_STARTED = "process_started"  # start-up finished
    SHUTDOWN_BEGIN = "shutdown_begin"
    SHUTDOWN_COMPLETE = "shutdown_complete"  # missing before the next start: the process was killed or crashed
    START_FAILED = "start_failed"  # a process that stopped before it knew its broker id, and led nothing
    BROKER_NAMED = "broker_named"  # a line that states nothing else names its broker; only where no other row does
    BROKER_CLUSTER = "broker_cluster"  # detail = cluster id (KIP-78)
    BROKER_VERSION = "broker_version"  # detail = version
    BROKER_SYSTEM = "broker_system"  # detail = the system that wrote a trace, in words
    BROKER_CONFIG = "broker_config"  # detail = key=value, one setting
    CLEAN_RESTART = "clean_restart"  # clean-shutdown marker found; log_dir
    UNCLEAN_RESTART = "unclean_restart"  # no marker: logs are recovered; log_dir
    CONTROLLER_ACTIVE = "controller_active"  # replica = controller id, detail = controller epoch
    BROKER_FENCED = "broker_fenced"  # replica = broker that lost its session
    BROKER_UNFENCED = "broker_unfenced"  # KRaft: replica = broker that may lead and be in ISRs again
    BROKER_REGISTERED = "broker_registered"  # replica = broker, offset = broker epoch
    BROKER_CAUGHT_UP = "broker_caught_up"  # KRaft: replica = broker that has read the record of its registration
    DIR_FAILED = "dir_failed"  # log_dir
    DIR_EMPTY = "dir_empty"  # a starting process found no log in it; log_dir
    STORAGE_ERROR = "storage_error"  # reading or writing failed; log_dir, which then goes offline; detail = at what
    CHECKPOINT_ERROR = "checkpoint_error"  # a checkpoint could not be read or written; detail
    LOGS_NOT_CLOSED = "logs_not_closed"  # a stopping broker could not close a log; detail = the exception
    # -- loading a log ----------------------------------------------------------------------------------------------
    LOG_LOADED = "log_loaded"  # leo, log_start where printed; detail = how many segments, or that it was moved
    REMOVED_LOG_LOADED = "removed_log_loaded"  # of a directory whose name ends in -delete or -stray
    METADATA_LOADED = "metadata_loaded"  # KRaft: leo of the metadata log as a process loaded or truncated it; log_dir
    LOG_CREATED = "log_created"  # a new, empty log
    LOG_COPIED = "log_copied"  # to another directory of its broker, not in use there yet
    LOG_MOVED = "log_moved"  # the copy takes its place
    LOG_DELETED = "log_deleted"  # replica removed or renamed -delete
    DIRECTORY_DELETED = "directory_deleted"  # the files of a replica that had been renamed -delete; log_dir
    RECOVERY = "recovery"  # offset = base offset of the segment being recovered
    SEGMENT_MISSING = "segment_missing"  # an index whose segment is not there: offset = its base offset; log_dir
    SEGMENT_REPLACED = "segment_replaced"  # a file in the way of a new segment was deleted: offset = its base offset
    SEGMENT_DAMAGED = "segment_damaged"  # offset = base offset of the segment; detail = byte where the damage begins
    BYTES_CUT = "bytes_cut"  # bytes removed from a segment's end; offset = its base offset, detail = how many bytes
    CORRUPTION_CUT = "corruption_cut"  # offset = where recovery truncated the log = leo; detail = segment's base offset
    HW_LOADED = "hw_loaded"  # hw read back from the checkpoint, already clamped to the log
    HW_MISSING = "hw_missing"  # no checkpointed high watermark: starts at 0
    MESSAGE_FORMAT = (
        "message_format"  # offset = record format version (0, 1: no leader epochs), leo = state rebuilt up to
    )
    # -- roles ------------------------------------------------------------------------------------------------------
    LEADER_AND_ISR = "leader_and_isr"  # as received: leader, leader_epoch, isr, partition_epoch
    ROLE_SENT = "role_sent"  # a controller sends a broker roles: replica; detail; neither leader nor epoch
    METADATA_CACHED = "metadata_cached"  # UpdateMetadata: leader, leader_epoch, isr, partition_epoch where printed
    BECOME_LEADER = "become_leader"  # leader_epoch; leo, hw, isr, partition_epoch, previous_epoch where printed
    BECOME_FOLLOWER = "become_follower"  # leader_epoch; leader, leo, hw where printed (before reconciliation)
    ROLES_ANNOUNCED = "roles_announced"  # detail = how many partitions get a role next; 0 once all of them have it
    TRANSITION = "transition"  # one step of a role change; detail = leader|follower: step
    ROLE_UNCHANGED = "role_unchanged"  # transition skipped; hw where printed
    STALE_REQUEST = "stale_request"  # a leader epoch not higher than the known one was refused
    RECOVERING = "recovering"  # leader marked RECOVERING: it came from an unclean election (3.2+)
    # -- truncation -------------------------------------------------------------------------------------------------
    TRUNCATE = "truncate"  # offset = target
    TRUNCATE_NOOP = "truncate_noop"  # offset = target, leo
    TRUNCATE_PLAN = "truncate_plan"  # offset = planned target; hw, leo, leader_epoch where printed; detail = reason
    TRUNCATE_BELOW_HW = "truncate_below_hw"  # the broker's own warning: offset = target, hw
    TRUNCATE_FULL = "truncate_full"  # offset = new log start and leo
    TRUNCATE_FAILED = "truncate_failed"  # offset = target; the partition is no longer fetched
    # -- refusals ---------------------------------------------------------------------------------------------------
    TRUNCATION_REFUSED = "truncation_refused"  # the broker halts: offset = its own log end, leo = its leader's, leader
    APPEND_FAILED = "append_failed"  # a leader could not append what a producer sent; an exception follows
    APPEND_REFUSED = "append_refused"  # offset = first offset of the batch, leo = the log's end; log_start
    LOG_START_REFUSED = "log_start_refused"  # log_start = wanted, hw: above the high watermark it cannot go
    # -- failures ---------------------------------------------------------------------------------------------------
    CLUSTER_ID_MISMATCH = "cluster_id_mismatch"  # a directory of another cluster; log_dir where printed; detail
    BROKER_ID_MISMATCH = "broker_id_mismatch"  # a directory of another broker; replica = the id configured; detail
    INDEX_CORRUPT = "index_corrupt"  # an index ends the start of its broker; offset = its last; log_dir
    OFFSETS_GO_BACK = "offsets_go_back"  # while an index is built: offset, leo = behind the one before it; log_dir
    APPEND_OUT_OF_ORDER = "append_out_of_order"  # a batch whose own offsets go back; offset = its first where printed
    SEGMENT_TOO_SHORT = "segment_too_short"  # a segment ends before a byte that its index names; detail = which
    PRODUCER_UNKNOWN = "producer_unknown"  # its leader lacks what a producer wrote before; offset; detail = exception
    RECORD_CORRUPT = "record_corrupt"  # a record with a bad checksum or size; offset where printed; detail
    DISK_FULL = "disk_full"  # in the words of the operating system; detail
    DISK_ERROR = "disk_error"  # in the words of the operating system; detail
    FATAL_FAULT = "fatal_fault"  # a KRaft process ended itself; detail = its words
    FOREIGN_DIRECTORY = "foreign_directory"  # not a partition's, and its broker does not start; detail = its path
    BELOW_MIN_ISR = "below_min_isr"  # a write was refused; detail = min.insync.replicas
    PROBLEM = "problem"  # a failure that no other kind names; offset
    # -- fetching ---------------------------------------------------------------------------------------------------
    FETCHER_ADDED = "fetcher_added"  # leader, leader_epoch, offset = initial fetch offset
    FETCHER_REMOVED = "fetcher_removed"
    FETCH_RESET = "fetch_reset"  # offset = fetch offset before, leo = leader's end (or log_start = its start)
    FETCH_FENCED = "fetch_fenced"  # leader_epoch = the follower's
    FETCH_FAILED = "fetch_failed"  # the partition is no longer fetched
    FETCH_ERROR = "fetch_error"  # a follower's fetch failed: leader; offset = its fetch offset where printed; detail
    OUT_OF_RANGE = "out_of_range"  # the log asked does not hold the offset asked for: offset; its log_start and leo
    FETCH_OFFSET_SET = "fetch_offset_set"  # after that: offset = its fetch offset and log end before, leo = now
    EPOCH_REQUEST = "epoch_request"  # leader_epoch asked for
    EPOCH_REPLY = "epoch_reply"  # leader_epoch, offset = end offset answered
    # -- consumers, in their own words: previous_epoch = epoch of the record before their position ------------------
    CONSUMER_OUT_OF_RANGE = "consumer_out_of_range"  # offset = position, which the leader does not have
    CONSUMER_TRUNCATED = "consumer_truncated"  # offset = position, leo = where its epoch ends by the leader's answer
    CONSUMER_RESET = "consumer_reset"  # offset = new position
    CONSUMER_SET = "consumer_set"  # offset = position that the application set
    GROUP_DESCRIBED = "group_described"  # offset = committed position, leo = log end by its leader; detail = group
    GROUP_COMMITTED = (
        "group_committed"  # offset = committed position, none where it was removed; leader_epoch = of the last record
        # that was read, if stated; leo = where the log of the commits ended then; detail = group
    )
    # -- what exporters of metrics print: a value is of its time or before, by the clock of the server that scrapes ----
    HW_SCRAPED = "hw_scraped"  # hw, as a consumer gets it that asks for the end; detail = the series
    LEO_SCRAPED = "leo_scraped"  # leo of the log of replica, where labels name it; detail = the series
    LEADER_SCRAPED = "leader_scraped"  # leader; detail = the series
    GROUP_SCRAPED = "group_scraped"  # offset = committed position; detail = group
    # -- progress ---------------------------------------------------------------------------------------------------
    APPEND = "append"  # offset = first offset, leo after it
    LEO = "leo"  # leo
    STATE = "state"  # of a trace: a replica at one moment, any of hw, leo, log_start, lso, leader_epoch, isr
    CONSUMED = "consumed"  # of a trace: a consumer read up to offset, which replica served; hw = offset + 1
    FETCH_REFUSED = (
        "fetch_refused"  # leo = where a follower fetches, which its leader answered with an error; it retries
    )
    FOLLOWER_FETCHED = "follower_fetched"  # leo before the append, leader_hw = high watermark in the response
    HW = "hw"  # hw; hw_before where printed
    HW_REGRESSED = "hw_regressed"  # hw_before, hw: the broker's own warning
    HW_HELD = "hw_held"  # leader could not advance; hw; detail = the log end offsets it counted
    PRODUCED = (
        "produced"  # a producer's request; detail = acks=all|1|0, and the error of its answer; offset = first appended,
        # hw = the least that its acknowledgement by acks=all implies
    )
    LEADER_HW = "leader_hw"  # leader_hw as a follower received it; hw = what it set
    REMOTE_LEO = "remote_leo"  # replica = follower, leo = what its leader believes
    ACKS_AWAITED = "acks_awaited"  # the same, while a producer waits for the ISR (acks=all)
    EPOCH_ASSIGNED = "epoch_assigned"  # leader_epoch, offset = its start
    EPOCH_CUT = "epoch_cut"  # offset = epochs at or above it were removed
    EPOCH_CONFLICT = "epoch_conflict"  # leader_epoch, offset: an entry that contradicts older ones
    LOG_START = "log_start"  # log_start; detail = reason
    ROLLED = "rolled"  # offset = leo at the roll
    PRODUCER_SNAPSHOT = "producer_snapshot"  # offset = leo as it was taken: at a roll, on a clean stop and at recovery
    SEGMENTS_DELETED = "segments_deleted"  # offset = first base offset where printed; detail = reason
    COMPACTED = "compacted"  # offset = clean up to
    # -- ISR and elections ------------------------------------------------------------------------------------------
    ISR_SHRINK = "isr_shrink"  # isr = proposed, isr_before; hw, leo of the leader where printed
    ISR_EXPAND = "isr_expand"  # isr = proposed, isr_before
    ISR_COMMIT = "isr_commit"  # isr, partition_epoch
    ISR_REJECTED = "isr_rejected"
    ELECTION = "election"  # controller: leader, leader_epoch, isr, partition_epoch; detail = state it came from
    UNCLEAN_ELECTION = "unclean_election"  # leader, leader_epoch, isr where printed
    ELECTION_REQUESTED = "election_requested"  # somebody asked the controller for an election from outside the ISR
    PARTITION_CHANGED = "partition_changed"  # KRaft change: only the changed fields; isr_before
    PARTITION_CREATED = "partition_created"  # leader, leader_epoch, isr, partition_epoch
    PARTITION_REQUESTED = "partition_requested"  # a new topic was asked for; who leads is not decided yet
    PARTITION_OFFLINE = "partition_offline"
    TOPIC_REMOVED = "topic_removed"  # KRaft: the topic of this topic_id is no more; detail is its name
    REPLICA_STATE = "replica_state"  # replica; detail = new state
    # -- files ------------------------------------------------------------------------------------------------------
    HW_CHECKPOINT = "hw_checkpoint"  # hw; replication-offset-checkpoint
    RECOVERY_POINT = "recovery_point"  # offset; recovery-point-offset-checkpoint
    LOG_START_CHECKPOINT = "log_start_checkpoint"  # log_start
    CLEANER_CHECKPOINT = "cleaner_checkpoint"  # offset = first dirty offset
    EPOCH_ENTRY = "epoch_entry"  # leader-epoch-checkpoint: leader_epoch, offset = start
    PRODUCER_STATE = (
        "producer_state"  # one producer of a *.snapshot: offset = its last, leo = end of the state; detail = the rest
    )
    LOG_END = "log_end"  # leo, log_start of a log directory, read from its segments
    TOPIC_ID = "topic_id"  # partition.metadata
    TOPIC_ID_MISMATCH = "topic_id_mismatch"  # topic_id = of the log on disk; detail = of the role it received
    TOPIC_CONFIG = "topic_config"  # KRaft: detail = key=value, or the key alone where the setting was removed
    CLUSTER_CONFIG = "cluster_config"  # the same for all brokers of the cluster
    LINES_MISSING = "lines_missing"  # of an excerpt: lines are left out here; detail = the mark; no partition
    LOGGER_LEVEL = "logger_level"  # logging configuration: detail = logger=LEVEL
    TRACE = "trace"  # a trace claims to state each change of the replicas of its witness
    # -- what tools print of a running cluster ----------------------------------------------------------------------
    TOPIC_DESCRIBED = "topic_described"  # no time; leader, isr, detail = replicas=..; of ZooKeeper also epochs
    ELIGIBLE_DESCRIBED = "eligible_described"  # of a partition without a leader: isr = its eligible leader replicas
    QUORUM_DESCRIBED = (
        "quorum_described"  # leader, leader_epoch, hw of the metadata log; or replica, leo, detail = part and lag
    )
    REPLICAS_DIFFER = "replicas_differ"  # replica and another one at offset; detail = how, as a command says
    LOG_DIR_DESCRIBED = "log_dir_described"  # log_dir; detail = size=.. offsetLag=.., and "future"
    # -- what plugins state for their own rules ---------------------------------------------------------------------
    PLUGIN = "plugin"  # nothing is concluded from it; any column


SCRAPED = (Kind.HW_SCRAPED, Kind.LEO_SCRAPED, Kind.LEADER_SCRAPED, Kind.GROUP_SCRAPED)
"""Kinds that exporters of metrics state: no broker states them of its log."""

ROLES = (Kind.LEADER_AND_ISR, Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER)
"""Kinds of a broker's own lines about a new role."""

FAILURES = (
    Kind.CLUSTER_ID_MISMATCH,
    Kind.BROKER_ID_MISMATCH,
    Kind.INDEX_CORRUPT,
    Kind.OFFSETS_GO_BACK,
    Kind.APPEND_OUT_OF_ORDER,
    Kind.SEGMENT_TOO_SHORT,
    Kind.RECORD_CORRUPT,
    Kind.DISK_FULL,
    Kind.DISK_ERROR,
    Kind.FATAL_FAULT,
    Kind.FOREIGN_DIRECTORY,
    Kind.BELOW_MIN_ISR,
    Kind.PROBLEM,
)
"""Kinds that exceptions state, mostly behind a line that names the partition; ``offset`` is never a log's end."""

OBSERVATIONS: dict[str, pl.DataType] = {
    "topic": pl.String(),  # null where the fact concerns a whole broker
    "partition": pl.Int32(),
    "topic_id": pl.String(),  # 22 characters, where printed
    "replica": pl.Int32(),  # broker the fact is about; null = the broker that owns the source
    "witness": pl.Int32(),  # broker that states it, as printed in the line; null = the owner of the source
    "kind": pl.Enum([kind.value for kind in Kind]),
    "message": pl.String(),  # id of the message or format that gave the row, e.g. "L-21", "hw-checkpoint"
    "time": pl.Datetime("us"),  # as printed, zone not applied
    "leader": pl.Int32(),
    "leader_epoch": pl.Int32(),
    "previous_epoch": pl.Int32(),
    "partition_epoch": pl.Int32(),  # zkVersion in ZooKeeper mode
    "offset": pl.Int64(),
    "hw": pl.Int64(),
    "hw_before": pl.Int64(),
    "leader_hw": pl.Int64(),
    "leo": pl.Int64(),
    "log_start": pl.Int64(),
    "lso": pl.Int64(),  # last stable offset
    "isr": pl.String(),  # broker ids joined by ",", no blanks
    "isr_before": pl.String(),
    "log_dir": pl.String(),
    "checksum": pl.String(),  # of a record batch, as a trace states it: any text, another one for other records
    "detail": pl.String(),  # what has no column of its own; see ``parsers.details``
    "line": pl.Int64(),  # 1-based, text sources
    "byte": pl.Int64(),  # 0-based, binary sources; null for text
}
"""One fact that a source states about one replica (or one broker), with its place. ``source`` is added by the case."""

_LEAST_OF: dict[pl.DataType, int] = {pl.Int32(): -(2**31), pl.Int64(): -(2**63)}
LEAST = {name: _LEAST_OF[dtype] for name, dtype in OBSERVATIONS.items() if dtype in _LEAST_OF}
"""The least number that a column of observations can hold; it stands for one that the column cannot hold."""

BATCHES: dict[str, pl.DataType] = {
    "byte": pl.Int64(),  # where the batch begins in its file
    "size": pl.Int64(),  # whole batch with its 12 leading bytes
    "base_offset": pl.Int64(),
    "last_offset": pl.Int64(),
    "leader_epoch": pl.Int32(),  # null for message format v0 and v1, which carry none
    "magic": pl.Int8(),
    "crc": pl.UInt32(),
    "crc_ok": pl.Boolean(),  # null when not checked
    "records": pl.Int32(),
    "codec": pl.Int8(),  # 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
    "timestamp_type": pl.Int8(),  # 0 create time, 1 append time
    "transactional": pl.Boolean(),
    "control": pl.Boolean(),
    "producer_id": pl.Int64(),
    "producer_epoch": pl.Int16(),
    "base_sequence": pl.Int32(),
    "max_timestamp": pl.Int64(),  # milliseconds since 1970 UTC, -1 where there is none
    "delete_horizon": pl.Int64(),  # ms: when its tombstones may go, if the cleaner wrote it again for that (KIP-534)
}
"""One record batch header (v2), or one message or wrapper message (v0, v1)."""


class DamageKind(StrEnum):
    """Kind of damage in the log of a replica. The value is mostly the beginning of its description."""

    # -- within one segment file, as its reader notices it ------------------------------------------------------------
    TORN_TAIL = "torn tail"  # the file ends inside an entry
    ZERO_TAIL = "zero-filled tail"  # preallocated (log.preallocate), or lost when the power went
    BAD_LENGTH = "bad length"  # negative, too small, or beyond all that can be there
    BAD_MAGIC = "bad magic"  # no such message format
    BAD_CRC = "bad CRC"
    BAD_HEADER = "bad header"  # a header that contradicts itself
    BAD_WRAPPER = "unread wrapper"  # the messages inside a compressed v0 or v1 message could not be counted
    OUT_OF_RANGE = "offset outside the segment"
    OFFSETS_GO_BACK = "offsets go back"
    MISPLACED = "offsets contradict the batches around"  # no checksum covers the base offset of a batch
    SKIPPED = "records missing within a segment"  # two batches follow one another, and their offsets do not
    LONE_EPOCH = "leader epoch contradicts the batches around"  # no checksum covers the leader epoch of a batch
    # -- between the segments of one log ------------------------------------------------------------------------------
    GAP = "gap"  # a segment file is missing between two others
    RECORDS_MISSING = "records missing"  # the same, behind a damaged one: no file need be missing
    OVERLAP = "overlap"
    EPOCH_FALLS = "leader epoch falls"  # as offsets rise


NOTICES: dict[str, pl.DataType] = {
    "kind": pl.String(),  # a DamageKind, of what is wrong in a segment; else null
    "reason": pl.String(),
    "excerpt": pl.String(),  # at most 200 characters
    "line": pl.Int64(),
    "byte": pl.Int64(),
}
"""Something that is damaged or was recognised but could not be understood."""


def empty(schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """A table of the given schema with no rows."""
    made = _EMPTY.get(id(schema))
    return made if made is not None else pl.DataFrame(schema=schema)


_EMPTY = {id(schema): pl.DataFrame(schema=schema) for schema in (OBSERVATIONS, BATCHES, NOTICES)}
"""Made once: a scan of many small files asks for them thousands of times. By identity, as types are slow to hash."""


def beyond(columns: Iterable[str], schema: Mapping[str, pl.DataType]) -> pl.Expr:
    """Rows with a number that its column of the schema cannot hold, as damaged text has it."""
    named = [name for name in columns if name in schema]
    lost = (pl.col(name).is_not_null() & pl.col(name).cast(schema[name], strict=False).is_null() for name in named)
    return pl.any_horizontal(*lost)


NO_TOPIC_ID: Final = "A" * 22
"""16 zero bytes, as ids are printed: no id."""


def conform(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """The frame with exactly the columns of the schema, in its order; columns it lacks are null."""
    given = frame.schema
    if list(given.items()) == list(schema.items()):
        return frame
    return frame.select([_conformed(name, dtype, given.get(name)) for name, dtype in schema.items()])


@functools.cache
def _conformed(name: str, dtype: pl.DataType, given: pl.DataType | None) -> pl.Expr:
    """Return a column of a schema, from one of another type or from none: made once, as each file asks for each."""
    if given is None:
        return pl.lit(None, dtype=dtype).alias(name)
    return pl.col(name) if given == dtype else pl.col(name).cast(dtype)
