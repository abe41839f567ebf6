"""Words for what would answer a question where traces alone are the evidence: lines of a trace, by kind and field.

A producer of traces need not be a broker of Kafka, so no sentence names a file or a tool of Kafka. The parts in braces
are those of ``wording``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from forensics.rules.finding import all_of
from forensics.rules.wants import Artefact, Question

_LOG, _ROLES = "append, truncate and hw", "become_leader and become_follower"
_ALL = f"become_leader, become_follower, {_LOG}"
WIDER_CLAIM = (
    '"complete" without "kinds" for {brokers} in the first line of the trace: what it claims leaves other kinds of '
    "line open, such as those of the ISR and deletions"
)
_CLAIMED = 'and "complete" in the first line for them'

OF_FILES = frozenset(
    {
        *(Question.WHOLE_DIRECTORIES, Question.EARLIER_SEGMENTS, Question.MISSING_SEGMENTS, Question.LATER_SEGMENTS),
        *(Question.UNTORN_SEGMENTS, Question.COMPACTED, Question.STILL_SERVED, Question.SAME_RECORDS),
        *(Question.CHECKPOINT, Question.CHECKPOINT_AND_LOG, Question.EPOCH_FILE, Question.EPOCH_FILE_AGAIN),
        *(Question.EPOCH_FILE_NOT_EMPTY, Question.HIGH_WATERMARK, Question.HIGH_WATERMARK_REACHED),
        *(Question.HIGH_WATERMARK_LATER, Question.COMMITTED_APART, Question.COMMITTED_AT, Question.LAST_STABLE_ORDER),
        *(Question.HIGH_WATERMARK_ORDER, Question.GROUPS_HAD_READ, Question.FAILED_DISK_HAS, Question.VOTERS_HAD),
    }
)
"""Questions about files that are in the evidence: where a trace is all of it, none of them is asked."""

SENTENCES: Mapping[Question, str] = MappingProxyType(
    {
        Question.PROGRAM_REPAIRED: "a repaired version of this program, which failed on {partition}: {because}",
        Question.OWN_RECORDS: (
            "what clients of {partition} know of their positions: on {replicas}, {because} has the same log, so lines "
            "do not show whose records they are about"
        ),
        Question.READABLE_TRACE: (
            "a trace of {partition} of which each line can be read, so that what it claims counts: the notices name "
            "the lines"
        ),
        Question.CONSISTENT_TRACE: (
            "a trace of {partition} that does not contradict itself, so that what it claims counts: {because}"
        ),
        Question.ITS_LINES: f"every line of {{brokers}} of the kinds {{its_kinds}} about {{partition}}, {_CLAIMED}",
        Question.LINES_BETWEEN: (
            "every line of {brokers} of the kinds {its_kinds} about {partition}: lines are missing ({because})"
        ),
        Question.EARLIER_LINES: f"every line of {{brokers}} of the kinds {{its_kinds}}, {_CLAIMED}: {{because}}",
        Question.LATER_LINES: "later lines of {brokers} of the kinds {its_kinds}: {because}",
        Question.WIDER_CLAIM: WIDER_CLAIM,
        Question.ANY_LINES: f"lines of the kinds {_ALL} about {{partition}}",
        Question.UNNAMED_EPOCHS: (
            f"lines of {{brokers}} of the kinds {_ROLES} and log_loaded between leader epochs {{epoch}} and "
            "{last_epoch}: no line names {epochs_between}, or shows whether its log was loaded again then"
        ),
        Question.ITS_FILES: (
            'every line of {brokers} of the kinds append, truncate and epoch_entry about {partition}, and "complete" '
            "in the first line for them"
        ),
        Question.ANY_FILES: "lines of the kinds append, truncate and epoch_entry about {partition}",
        Question.ANOTHER_COPY: (
            'lines of kind append about {partition} of another replica, with "leader_epoch" or "checksum". If only '
            "{replicas} has one, a line of kind partition_created shows it"
        ),
        Question.TWO_COPIES: (
            'lines of kind append about {partition} of two replicas or more, with "leader_epoch" or "checksum"'
        ),
        Question.ANY_SEGMENTS: "lines of kind append about {partition}",
        Question.WHICH_REPLICAS: (
            '"replicas" in the first line, or a line of kind partition_created with "isr": which replicas {partition} '
            "has. Then lines of kind append of each"
        ),
        Question.READ_WHILE_RUNNING: "later lines of kind append about {partition}: no replica has committed {offsets}",
        Question.ANY_LEADER: "a line of kind become_leader or election: no line names a leader of {partition}",
        Question.CURRENT_LEADER: "a line of kind become_leader or election: who leads {partition}",
        Question.LATER_LEADER: (
            f"later lines of {{brokers}} of the kinds {_ROLES}, or lines of kind election: whether {{partition}} had "
            "a later leader"
        ),
        Question.LATER_LEADER_UNSEEN: (f"lines of {{brokers}} of the kinds {_ROLES}: whether there was a later leader"),
        Question.LEADER_AFTER: (
            f"later lines of {{brokers}} of the kinds {_ROLES}, or lines of kind election: who led {{partition}} "
            "after epoch {epoch} ({because})"
        ),
        Question.LEADERS_OF_EPOCHS: (
            'lines of kind become_leader or election: who led {partition} in "leader_epoch" {some_epochs}'
        ),
        Question.LEADER_FOLLOWED: (
            'a line of {brokers} of kind become_follower with "leader": which leader it followed when it truncated to '
            "{first}"
        ),
        Question.LEADERS_IN_ORDER: (
            "what was done to the leader epochs of {partition} and when, and how far its clients had come: they "
            "decreased ({because}), so the order of its leaders is unknown"
        ),
        Question.WENT_ON_WITH: (
            "what clients of that time know of {offsets}: which of the leaders of leader epoch {epoch} the partition "
            "continued with"
        ),
        Question.STILL_LED: (
            f"later lines of {{brokers}} of the kinds {_ROLES}: whether it still led epoch {{epoch}} when its high "
            "watermark changed from {end} to {first}{bracketed_because}"
        ),
        Question.EPOCH_GIVEN_TWICE: (
            "every line of {brokers} of kind become_leader: whether any leader epoch of {partition} has a second leader"
        ),
        Question.TOPIC_DELETED: (
            "lines of the kind topic_removed: whether somebody deleted {topic} on purpose, and when, because its "
            "replicas on {replicas} were removed"
        ),
        Question.CREATED_AGAIN: (
            '"topic_id" in the lines of {brokers}: whether {partition} was deleted and created again, because leader '
            "epoch {epoch} has {leaders} leaders"
        ),
        Question.WHICH_LIFE: (
            '"topic_id" in each line: the topic of {partition} was deleted and created again, and lines of leader '
            "epoch {epoch} may be about either"
        ),
        Question.ISR_BEFORE: (
            'a line of kind isr_commit, election or partition_created with "isr": the ISR of {partition} just before '
            "leader epoch {epoch}"
        ),
        Question.ELIGIBLE: (
            'a line of kind election or isr_commit with "isr" from before: whether {leader} was an eligible leader '
            "replica (the ISR may have been empty)"
        ),
        Question.ANY_HIGH_WATERMARK: (
            'a high watermark of {partition}: a line of kind hw, or "high_watermark" in another line'
        ),
        Question.HIGH_WATERMARK_BEFORE: (
            "lines of broker {broker_id} of kind hw: the high watermark of broker {broker_id}, the leader, before "
            "{replicas} truncated to {first}"
        ),
        Question.COMMITTED_BEFORE: (
            "lines of {brokers_or_replicas} of kind hw or produced: how far {leader} had "
            "committed when {last_leader} began at offset {first}"
        ),
        Question.COMMITTED_BEFORE_NEW_LOG: (
            "lines of {brokers_or_replicas} of kind hw or produced: how far {leader} had "
            "committed before its log was created again"
        ),
        Question.HELD_ELSEWHERE: (
            "lines of {brokers} of the kinds append and truncate: whether another replica of {partition} has "
            "{offsets}, which broker {replica}, the leader, lacked after its restart"
        ),
        Question.EPOCH_START: (
            'a line of kind become_leader with "log_end_offset": the log end offset with which {leader} began'
        ),
        Question.END_BEFORE_TRUNCATION: (
            '"log_end_offset" in the line of kind truncate of {brokers}, or in the line before: its log end offset '
            "before it truncated to {first}"
        ),
        Question.END_BEFORE_LEADING: (
            'a line of {brokers} with "log_end_offset" from before that start: its log end offset before the restart '
            "in leader epoch {epoch}{after_first}"
        ),
        Question.HELD_BEFORE_NEW_LOG: (
            'earlier lines of {brokers} with "log_end_offset": how much of {partition} it had before it restarted with '
            "an empty log"
        ),
        Question.HELD_BEFORE_EPOCH: (
            "earlier lines of {brokers}: whether it had any records of {partition} before leader epoch {epoch}, in "
            "which its log begins empty"
        ),
        Question.HELD_BEYOND: (
            "later lines of {brokers} of the kinds append and truncate: whether it ever held records of {partition} "
            "from offset {first} on. They may have been committed, and it does not have them now"
        ),
        Question.TRUNCATED_LOST: (
            "later lines of {brokers} of the kinds truncate and log_loaded: whether it truncated {offsets}, which it "
            "once held"
        ),
        Question.TAIL_REMOVED: (
            "every line of {brokers} of the kinds truncate and log_loaded: what removed the end of its log of "
            "{partition}. It was loaded with log end offset {first}, but its recovery point is {end}"
        ),
        Question.EPOCHS_OF_RECORDS: (
            'lines of {brokers} of kind append with "leader_epoch", or of kind epoch_entry: the leader epochs of '
            "{offsets}"
        ),
        Question.WRITER_OF_RECORDS: (
            "lines of {brokers_or_replicas} of the kinds become_leader and append: which leader wrote {offsets}"
        ),
        Question.WRITER_OF_OLD_RECORDS: (
            "lines of {brokers_or_replicas} of the kinds become_leader and append: which leader wrote {offsets}"
        ),
    }
)
"""The sentence for each question that can be open where traces alone are the evidence."""

_KINDS: Mapping[Artefact, tuple[str, ...]] = MappingProxyType(
    {
        Artefact.SERVER_LOG: ("append", "truncate", "hw"),
        Artefact.STATE_CHANGE_LOG: ("become_leader", "become_follower"),
        Artefact.CONTROLLER_LOG: ("election", "isr_commit"),
        Artefact.METADATA_LOG: ("election", "isr_commit"),
        Artefact.PARTITION_LOGGER: ("hw", "state"),
        Artefact.FETCHER_LOGGER: ("truncate", "state"),
        Artefact.SEGMENTS: ("append",),
        Artefact.LISTING: ("append",),
        Artefact.DATA_DIRECTORY: ("append", "truncate", "epoch_entry"),
        Artefact.LOG_DIRECTORY: ("append", "truncate", "epoch_entry"),
        Artefact.FAILED_LOG_DIRECTORY: ("append",),
        Artefact.HW_CHECKPOINT: ("hw", "hw_checkpoint"),
        Artefact.RECOVERY_CHECKPOINT: ("recovery_point",),
        Artefact.CLEANER_CHECKPOINT: ("log_start",),
        Artefact.EPOCH_CHECKPOINT: ("epoch_entry",),
        Artefact.CHECKPOINTS: ("hw_checkpoint", "epoch_entry"),
        Artefact.TOPIC_DESCRIPTION: ("partition_created",),
    }
)
"""Kinds of line of a trace that show what an artefact of Kafka shows. What people know is in no trace."""


def its_kinds(artefacts: Iterable[Artefact]) -> str:
    """Return the kinds of line by which a replica states what its logs of some kinds would, in words."""
    found = {*artefacts}
    if not found >= {Artefact.SERVER_LOG, Artefact.STATE_CHANGE_LOG}:
        return _ROLES if Artefact.STATE_CHANGE_LOG in found else _LOG
    return _ALL


def kinds_text(artefacts: Iterable[Artefact]) -> str:
    """Return the lines of a trace that show what some artefacts show, in words; "" if there are none."""
    kinds = list(dict.fromkeys(kind for what in artefacts for kind in _KINDS.get(what, ())))
    return f"lines of kind {all_of(kinds)}" if kinds else ""
