"""Omissions within the lines of one broker about its replica: which line always comes with which other one."""

from __future__ import annotations

from forensics.replay.coverage import Omission, Printed, Span


def _within(id_: str, says: str, source: str, *about: Printed) -> Omission:
    return Omission(id_, Span.WITHIN, says, source, frozenset(about or Printed))


EARLIER_ROLE = _within(
    "earlier-role",
    "a role in leader epoch {epoch} came before, and its lines are not there",
    "Partition.makeLeader and makeFollower print the leader epoch of the role before, from 0.11 on",
    Printed.ROLES,
)
FIRST_ROLE_AGAIN = _within(
    "first-role-again",
    "a process took up leader epoch {epoch} as its first role, after a role in epoch {served}",
    "Partition.makeLeader and makeFollower print -1 as the epoch before the first role of a process",
)
METADATA_AHEAD = _within(
    "metadata-ahead",
    "it received metadata of leader epoch {epoch}, but no line shows a role in it",
    "controllers send LeaderAndIsr with UpdateMetadata (ControllerChannelManager)",
)
NO_FETCHER = _within(
    "no-fetcher",
    "no line shows a fetcher starting in leader epoch {epoch}",
    "ReplicaManager.makeFollowers adds a fetcher for each follower (AbstractFetcherManager)",
)
NO_FETCHER_REMOVED = _within(
    "no-fetcher-removed",
    "no line shows that its fetcher was removed before it led epoch {epoch}",
    "ReplicaManager.makeLeaders and applyLocalLeadersDelta remove the fetcher of each partition that the broker is to "
    "lead, whether it has one or not, and AbstractFetcherManager prints them",
)
NO_LEADER_START = _within(
    "no-leader-start",
    "no line shows at which offset it began to lead epoch {epoch}",
    "Partition.makeLeader prints the log end offset, from 0.11 on",
)
STATE_REBUILT = _within(
    "state-rebuilt",
    "producer state was rebuilt, but no line shows the load or truncation before it",
    "Log.loadProducerState follows a load or a truncation",
    Printed.LOG,
)
TRUNCATION_PLANNED = _within(
    "truncation-planned",
    "a truncation was planned, but no line shows it being done",
    "ReplicaFetcherThread.truncate follows AbstractFetcherThread.getOffsetTruncationState",
    Printed.LOG,
)
RECOVERED = _within(
    "recovered",
    "a log was recovered, but no line shows its log end offset",
    "LogManager.loadLog prints the log end offset when it has recovered a log",
    Printed.LOG,
)
NO_LOAD = _within(
    "no-load",
    "no 'log loaded' line after this start",
    "LogManager.loadLog prints the log end offset of each log it finds",
)
LATER_ROLE = _within(
    "later-role",
    "it was in leader epoch {epoch}, but no line shows when it took that role",
    "ReplicaManager prints the leader epoch it has where it ignores a request or finds the leader unchanged",
    Printed.ROLES,
)
OTHER_LEADER = _within(
    "other-leader",
    "it had followed broker {leader}, but no line shows that role",
    "Partition.makeFollower finds the leader unchanged only if it followed it before",
    Printed.ROLES,
)
NO_REQUEST = _within(
    "no-request",
    "a LeaderAndIsr request was carried out, but no line shows that it arrived",
    "ReplicaManager.becomeLeaderOrFollower prints a request before its steps",
    Printed.ROLES,
)
SAME_EPOCH_AGAIN = _within(
    "same-epoch-again",
    "a new process took up leader epoch {epoch} again",
    "ReplicaManager.becomeLeaderOrFollower carries out rising leader epochs only",
)
FETCHER_OF_OTHER_ROLE = _within(
    "fetcher-of-other-role",
    "it fetched from broker {leader}, but no line shows that role",
    "a replica fetches from the leader it follows, in the epoch in which it follows it (AbstractFetcherManager)",
)
NOT_TRUNCATED = _within(
    "not-truncated",
    "no line shows a truncation before it fetched from broker {leader}",
    "ReplicaManager.makeFollowers truncates to the high watermark for each new leader, to 0.10.2",
)
FETCHED_AS_LEADER = _within(
    "fetched-as-leader",
    "it fetched as a follower, but no line shows from which leader",
    "ReplicaManager.makeLeaders stops the fetcher of a replica that leads",
)
GREW_BEFORE_ROLE = _within(
    "grew-before-role",
    "its log reached {end} before its first role, but was loaded with {found}",
    "a process appends nothing before it has a role (ReplicaManager)",
)
APPENDED_BELOW_END = _within(
    "appended-below-end",
    "its log ended at {end}, no line shows a truncation, and its next append was at {offset}",
    "Log.append writes behind the log end offset",
    Printed.LOG,
)
APPENDED_BEYOND_END = _within(
    "appended-beyond-end",
    "its log ended at {end}, but its next append was at {offset}",
    "Log.append of a leader gives the log end offset to the first record",
)
APPEND_JUMPED = _within(
    "append-jumped",
    "its log ended below {offset}, but its next append was there",
    "Log.append of a leader gives the log end offset to the first record",
)
HW_BEYOND_APPENDS = _within(
    "hw-beyond-appends",
    "its log ended at {end}, but its high watermark was {high_watermark}",
    "Log.updateHighWatermark keeps a high watermark within the log",
    Printed.LOG,
)
TRUNCATED_AS_FOLLOWER = _within(
    "truncated-as-follower",
    "its log was truncated to {offset}, as only a follower's is",
    "only a follower truncates its log (ReplicaFetcherThread, ReplicaManager.makeFollowers)",
)
TRUNCATED_AGAIN = _within(
    "truncated-again",
    "its log was truncated to {offset}, as for another leader",
    "ReplicaManager.makeFollowers truncates once for each leader, to 0.10.2",
)
TRUNCATED_BEYOND_APPENDS = _within(
    "truncated-beyond-appends",
    "its log ended at {end}, but was truncated to {offset}",
    "Log.truncateTo prints targets below the log end offset",
    Printed.LOG,
)
EPOCHS_TRUNCATED = _within(
    "epochs-truncated",
    "its leader epochs from offset {offset} on were removed, but no line shows a truncation",
    "LeaderEpochFileCache.truncateFromEnd follows a truncation of the log (Log.truncateTo)",
)
EPOCHS_FORGOTTEN = _within(
    "epochs-forgotten",
    "it had noted leader epoch {had}, then noted {epoch} after {current}, and no line shows what removed the others",
    "LeaderEpochFileCache.assign prints the latest epoch that the cache held, 0.11 to 1.1; a cache loses epochs at its "
    "end only by a truncation or with the log (Log.truncateTo, Log.truncateFullyAndStartAt, Log.delete)",
    Printed.LOG,
)
LATE_LOG = _within(
    "late-log",
    "it had started without this log, and no line shows where the log came from",
    "LogManager loads all logs before a broker has started (KafkaServer.startup, BrokerServer.startup)",
    Printed.LOG,
)
OPENED_AGAIN = _within(
    "opened-again",
    "a process opened its log, but no line shows that it started",
    "Partition.createLog reads the checkpointed high watermark once in a process",
)
NOT_OPENED = _within(
    "not-opened",
    "no line shows the high watermark with which its log was opened",
    "Partition.createLog prints it, from 2.4 on: if it is not there, no line of kafka.cluster.Partition may be",
    Printed.LOG,
)
CREATED_AGAIN = _within(
    "created-again",
    "a new log was created, but no line shows what became of the one in use",
    "LogManager.getOrCreateLog makes a log only where there is none",
)
ISR_CHANGED = _within(
    "isr-changed",
    "it changed the ISR, but no line shows that it led",
    "only a leader changes the ISR (Partition.maybeShrinkIsr, maybeExpandIsr)",
)
CLOCK_SET_BACK = _within(
    "clock-set-back",
    "its clock was set back, so lines of its log files may be in another order than they were written in",
    "each log file has a DailyRollingFileAppender of its own, and nothing but their times orders lines of two files",
)
UNSEEN_PROCESS = _within(
    "unseen-process",
    "the controller registered a process of it (broker epoch {broker_epoch}), but it has no line of that process",
    "ClusterControlManager.registerBroker gives each process a broker epoch",
    Printed.LOG,
)

OMISSIONS = (
    EARLIER_ROLE,
    FIRST_ROLE_AGAIN,
    METADATA_AHEAD,
    NO_FETCHER,
    NO_FETCHER_REMOVED,
    NO_LEADER_START,
    STATE_REBUILT,
    TRUNCATION_PLANNED,
    RECOVERED,
    NO_LOAD,
    LATER_ROLE,
    OTHER_LEADER,
    NO_REQUEST,
    SAME_EPOCH_AGAIN,
    FETCHER_OF_OTHER_ROLE,
    NOT_TRUNCATED,
    FETCHED_AS_LEADER,
    GREW_BEFORE_ROLE,
    APPENDED_BELOW_END,
    APPENDED_BEYOND_END,
    APPEND_JUMPED,
    HW_BEYOND_APPENDS,
    TRUNCATED_AS_FOLLOWER,
    TRUNCATED_AGAIN,
    TRUNCATED_BEYOND_APPENDS,
    EPOCHS_TRUNCATED,
    EPOCHS_FORGOTTEN,
    LATE_LOG,
    OPENED_AGAIN,
    NOT_OPENED,
    CREATED_AGAIN,
    ISR_CHANGED,
    CLOCK_SET_BACK,
    UNSEEN_PROCESS,
)
"""Evidence in a broker's own lines that others of them are missing, before the line or right after it."""
