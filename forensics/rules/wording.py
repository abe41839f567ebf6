"""Words for what rules conclude: the one place where a want or a high watermark becomes a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from forensics.case import Origin
from forensics.replay.history import HwSource, HwStatement
from forensics.replay.interval import Interval
from forensics.rules import trace_wording
from forensics.rules.finding import all_of, brokers_text, offsets_text
from forensics.rules.wants import Artefact, Question, Want

CLIENTS = "committed consumer offsets (__consumer_offsets-* of any broker) or acknowledged producer offsets"
"""The offsets by which clients know how far a partition had committed."""

OF_COMMITS = frozenset({Question.HIGH_WATERMARK_BEFORE, Question.COMMITTED_BEFORE, Question.COMMITTED_BEFORE_NEW_LOG})
"""Questions about what a leader had committed: their sentences begin with the question."""

_NAMED = 5
"""Leader epochs that a sentence names at most."""

SENTENCES: Mapping[Question, str] = MappingProxyType(
    {
        Question.PROGRAM_REPAIRED: "a repaired version of this program, which failed on {partition}: {because}",
        Question.OWN_RECORDS: (
            "{clients} of {partition}: on {replicas}, {because} has the "
            "same directory, so lines and files do not show whose records they are about"
        ),
        Question.READABLE_TRACE: (
            "a trace of {partition} of which each line can be read, in the order of its times, so that what it claims "
            "counts: the notices name the lines"
        ),
        Question.CONSISTENT_TRACE: (
            "a trace of {partition} that does not contradict itself, so that what it claims counts: {because}"
        ),
        Question.ITS_LINES: "{brokers}'s {artefacts}",
        Question.LINES_BETWEEN: (
            "{brokers}'s complete server.log and state-change.log, with rotated files: log lines are missing "
            "({because})"
        ),
        Question.EARLIER_LINES: "{brokers}'s earlier server.log and state-change.log: {because}",
        Question.LATER_LINES: "{brokers}'s later server.log and state-change.log: {because}",
        Question.WIDER_CLAIM: trace_wording.WIDER_CLAIM,
        Question.ANY_LINES: "server.log and state-change.log of the replicas of {partition}",
        Question.UNNAMED_EPOCHS: (
            "{brokers}'s server.log and state-change.log between leader epochs {epoch} and {last_epoch}, with rotated "
            "files: no log line names {epochs_between}, or shows whether its log was loaded again then"
        ),
        Question.ITS_FILES: "{brokers}'s data directory of {partition} (segments and checkpoints)",
        Question.ANY_FILES: "data directories of {partition}",
        Question.ANOTHER_COPY: (
            "the segments of {partition} of another replica. If only {replicas} has one, the state-change.log or the "
            "controller's log of its creation shows it"
        ),
        Question.TWO_COPIES: "the segments of {partition} of two replicas or more",
        Question.ANY_SEGMENTS: "segments of {partition}",
        Question.WHICH_REPLICAS: (
            "a state-change.log, the controller's log or the output of kafka-topics.sh --describe: which replicas "
            "{partition} has. Then the segments of each"
        ),
        Question.WHOLE_DIRECTORIES: (
            "the complete log directories of {brokers}: the evidence has only the folder of {partition}"
        ),
        Question.EARLIER_SEGMENTS: (
            "{brokers}'s segments of {partition} below offset {end}: the copy may lack them ({because})"
        ),
        Question.MISSING_SEGMENTS: (
            "a listing of {brokers}'s directory of {partition}, or the segment files of {offsets}: the "
            "copy may "
            "lack them{bracketed_because}"
        ),
        Question.LATER_SEGMENTS: (
            "a listing of {brokers}'s directory of {partition}: whether it has a segment file from offset {first} on "
            "that was not collected{bracketed_because}. Or its server.log from its next start on, which shows the log "
            "end offset"
        ),
        Question.UNTORN_SEGMENTS: (
            "the complete segments of {brokers}: they end at {first}, but its high watermark was {end}"
        ),
        Question.COMPACTED: (
            "the cleaner-offset-checkpoint and server.properties of the brokers, and the server.log of the time when "
            "the log was created: whether {topic} was ever compacted. Segments of {replicas} skip {offsets}"
        ),
        Question.READ_WHILE_RUNNING: (
            "new copies of {partition} from stopped brokers: no copy has the committed {offsets}. If "
            "the brokers "
            "were stopped when the files were copied, these offsets are lost"
        ),
        Question.STILL_SERVED: (
            "{segments_again}: whether the leader, broker {replica}, can still read its damaged segments ({because})"
        ),
        Question.SAME_RECORDS: (
            "a new copy of {brokers}'s segments of {partition}: is the damage on its disk, or only in this copy "
            "({because})?"
        ),
        Question.CHECKPOINT: "{brokers}'s {artefacts} from the directory of {partition}",
        Question.CHECKPOINT_AND_LOG: "{artefacts} of {partition} from one directory",
        Question.EPOCH_FILE: "{brokers}'s leader-epoch-checkpoint of {partition}",
        Question.EPOCH_FILE_AGAIN: (
            "{brokers}'s leader-epoch-checkpoint of {partition} again: the one in the evidence is damaged, and "
            "a notice "
            "names the line"
        ),
        Question.EPOCH_FILE_NOT_EMPTY: (
            "{brokers}'s leader-epoch-checkpoint of {partition} again: the one in the evidence is empty"
        ),
        Question.ANY_LEADER: "a state-change.log or the controller's log: no log line names a leader of {partition}",
        Question.CURRENT_LEADER: (
            "a replica's state-change.log, the controller's log, or its segments: who leads {partition}"
        ),
        Question.LATER_LEADER: (
            "the complete state-change.log of {brokers}, or {elector}: whether {partition} had a later leader"
        ),
        Question.LATER_LEADER_UNSEEN: "{brokers}'s state-change.log: whether there was a later leader",
        Question.LEADER_AFTER: (
            "the complete state-change.log of {brokers}, or {elector} of that time: who led {partition} after epoch "
            "{epoch} ({because})"
        ),
        Question.LEADERS_OF_EPOCHS: (
            "{state_change_or}the controller's log of that time: who led {partition} in leader epoch {some_epochs}"
        ),
        Question.LEADER_FOLLOWED: "{brokers}'s state-change.log: which leader it followed when it truncated to {first}",
        Question.LEADERS_IN_ORDER: (
            "what was done to ZooKeeper or the metadata log and when, and {clients} of that time: "
            "leader epochs of {partition} were used again ({because}), as after a restore from an older copy, so the "
            "order of its leaders is unknown"
        ),
        Question.WENT_ON_WITH: (
            "{clients} of that time, for {offsets}: which of the leaders of leader epoch {epoch} the partition "
            "continued with"
        ),
        Question.STILL_LED: (
            "{brokers}'s later server.log and state-change.log at INFO: whether it still led epoch {epoch} when its "
            "high watermark changed from {end} to {first} ({because})"
        ),
        Question.EPOCH_GIVEN_TWICE: (
            "the complete state-change.log of {brokers}: whether any leader epoch of {partition} has a second leader"
        ),
        Question.TOPIC_DELETED: (
            "whether somebody deleted topic {topic} on purpose, and when: {replicas} found that the controllers do not "
            "know it"
        ),
        Question.CREATED_AGAIN: (
            "the server.log and state-change.log of {brokers}: whether {partition} was deleted and created again, "
            "because leader epoch {epoch} has {leaders} leaders"
        ),
        Question.WHICH_LIFE: (
            "the complete server.log and state-change.log of every replica of that time: the topic of {partition} was "
            "deleted and created again, and log lines of leader epoch {epoch} may be about either. These brokers log "
            "no topic id"
        ),
        Question.ISR_BEFORE: (
            "{all_lines_or}{elector_of_then}: the ISR of {partition} just before broker {leader_id} became leader "
            "(epoch {epoch})"
        ),
        Question.ELIGIBLE: (
            "__cluster_metadata, or the controller's log of that time: whether {leader} was an eligible leader replica "
            "(the ISR may have been empty)"
        ),
        Question.ANY_HIGH_WATERMARK: (
            "a high watermark of {partition}: replication-offset-checkpoint or server.log of its replicas"
        ),
        Question.HIGH_WATERMARK: (
            "replication-offset-checkpoint of {brokers}: its high watermark, because its segments differ from "
            "the other "
            "replica's at {offsets}"
        ),
        Question.HIGH_WATERMARK_REACHED: (
            "replication-offset-checkpoint of {brokers}: how high its high watermark was, because its segments differ "
            "from the other replica's at {offsets}"
        ),
        Question.HIGH_WATERMARK_LATER: (
            "server.log of {brokers} and a later replication-offset-checkpoint: whether their high watermark passed "
            "{offsets}, where their segments differ and neither of them will truncate"
        ),
        Question.HIGH_WATERMARK_BEFORE: (
            "{witness}whether {leader} had committed records from offset {first} on, which {replicas} truncated "
            "later{or_else}"
        ),
        Question.COMMITTED_BEFORE: (
            "{witness}whether {leader} had committed records from offset {first} on, before {next_began}{or_else}"
        ),
        Question.COMMITTED_BEFORE_NEW_LOG: (
            "{witness}how far {leader} had committed before its log was created again{or_else}"
        ),
        Question.GROUPS_HAD_READ: (
            "{artefacts} of {brokers}, before compaction removes older positions: how far consumer groups have read "
            "may show what was committed in {partition}"
        ),
        Question.FAILED_DISK_HAS: (
            "{brokers}'s {artefacts}, if it can be read: its replication-offset-checkpoint and segments show what was "
            "committed in {partition}"
        ),
        Question.COMMITTED_APART: (
            "server.log and replication-offset-checkpoint of that time: how far {leader} had committed, because its "
            "records at {offsets} differ from another replica's"
        ),
        Question.COMMITTED_AT: (
            "{brokers}'s replication-offset-checkpoint: whether offset {first} was committed, because two "
            "replicas have "
            "different leader epochs there"
        ),
        Question.VOTERS_HAD: (
            "copies of {partition} of {replicas} from before their logs became shorter, and what was done to their "
            "disks: how far it was committed"
        ),
        Question.HELD_ELSEWHERE: (
            "the data directory of {partition} and the complete logs of {brokers}: whether another copy has "
            "{offsets}, which broker {replica}, the leader, lacked after its restart"
        ),
        Question.LAST_STABLE_ORDER: (
            "the *.snapshot files of {partition} of {brokers}: its request log has last stable offset {end}, then "
            "{first}, but its lines may have another order than the reads"
        ),
        Question.HIGH_WATERMARK_ORDER: (
            "server.log of {brokers} with kafka.cluster.Partition at DEBUG: its request log has high watermark {end}, "
            "then {first}, but its lines may have another order than the reads"
        ),
        Question.EPOCH_START: "{log_or_trace}: the log end offset with which {leader} began",
        Question.END_BEFORE_TRUNCATION: (
            "kafka.server.ReplicaFetcherThread at TRACE on {brokers}: its log end offset before it truncated to {first}"
        ),
        Question.END_BEFORE_LEADING: (
            "{brokers}'s log end offset before it restarted and led epoch {epoch}{after_first}: a copy of its segments "
            "of then, or its log of then with kafka.cluster.Partition at DEBUG shows it"
        ),
        Question.HELD_BEFORE_NEW_LOG: (
            "{brokers}'s server.log at TRACE, or its segments of that time: how much of {partition} it had before it "
            "restarted with an empty log"
        ),
        Question.HELD_BEFORE_EPOCH: (
            "{brokers}'s earlier server.log and state-change.log: whether it had any records of {partition} before "
            "leader epoch {epoch}, in which its log begins empty"
        ),
        Question.HELD_BEYOND: (
            "{brokers}'s later server.log and state-change.log: whether it ever held records of {partition} from "
            "offset {first} on. They may have been committed, and it does not have them now"
        ),
        Question.TRUNCATED_LOST: (
            "{brokers}'s data directory of {partition}, or its later server.log: whether it truncated "
            "{offsets}, which it once held"
        ),
        Question.TAIL_REMOVED: (
            "{brokers}'s complete server.log and state-change.log, with rotated files: what removed the end of its log "
            "of {partition}. It was loaded with log end offset {first}, but its recovery point is {end}"
        ),
        Question.EPOCHS_OF_RECORDS: (
            "segments or leader-epoch-checkpoint of {brokers}: the leader epochs of {offsets}"
        ),
        Question.WRITER_OF_RECORDS: (
            "server.log and state-change.log of {brokers_or_replicas} of that time: which leader wrote "
            "{offsets} (the segments in the evidence do not show it)"
        ),
        Question.WRITER_OF_OLD_RECORDS: (
            "server.log and state-change.log of {brokers_or_replicas} of that time: which leader wrote "
            "{offsets} (this message format has no leader epochs)"
        ),
    }
)
"""The sentence for each question, with the parts of ``_PARTS`` in braces."""

SAVED: Mapping[Question, str] = MappingProxyType(
    {
        **{question: SENTENCES[question] for question in OF_COMMITS},
        Question.EPOCH_START: "the log end offset with which {leader} began",
        Question.END_BEFORE_TRUNCATION: "the log end offset of {brokers} before it truncated to {first}",
        Question.END_BEFORE_LEADING: (
            "the log end offset of {brokers} before it restarted and led epoch {epoch}{after_first}"
        ),
        Question.HELD_BEFORE_NEW_LOG: ("how much of {partition} {brokers} had, before a restart with an empty log"),
        Question.HIGH_WATERMARK_ORDER: (
            "whether the high watermark of {brokers} fell from {end} to {first}: lines of its request log may have "
            "another order than the reads"
        ),
    }
)
"""Questions alone, without what would answer them: of those that only logs or copies of that time may answer."""

_OF_TRACES = {**SENTENCES, **trace_wording.SENTENCES}

_SENTENCES: Mapping[Origin, Mapping[Question, str]] = MappingProxyType(
    {Origin.FILES: SENTENCES, Origin.TRACE: _OF_TRACES, Origin.OTHER_SYSTEM: _OF_TRACES}
)
"""The sentences for each kind of evidence."""


STATED: Mapping[HwSource, str] = MappingProxyType(
    {
        HwSource.PRINTED: "logged {mark}",
        HwSource.PRINTED_BY_LEADER: "logged {mark} as leader",
        HwSource.SAME_EPOCH: "had {mark}: a line of that leader epoch states it",
        HwSource.SNAPSHOT: "had {mark}: a snapshot of the metadata log reaches to it",
        HwSource.CHECKPOINT: "has {mark} in its checkpoint file: everything below {end} had been committed",
        HwSource.LEFT_BEHIND: "has {mark} in the checkpoint file of a directory that it no longer uses",
        HwSource.READ_BACK: "restarted and read back {mark}: everything below {end} had been committed before",
        HwSource.KEPT: "began another role with {mark}: everything below {end} had been committed before",
        HwSource.ALONE_IN_ISR: (
            "had log end offset {end}{where}: it had led alone in the ISR, so everything below {end} was committed"
        ),
        HwSource.STEPPED_DOWN: "stopped leading with {mark}",
    }
)
"""The words for each source of a high watermark; ``stated_text`` has those for an acknowledgement."""


def stated_text(statement: HwStatement) -> str:
    """Return what a broker did or had that shows a high watermark."""
    reached = "reached in " if statement.how in (HwSource.READ_BACK, HwSource.KEPT) else ""
    where = f" ({reached}leader epoch {statement.epoch})" if statement.epoch >= 0 else ""
    end = statement.high_watermark
    if statement.how is HwSource.ACKNOWLEDGED:
        return f"acknowledged offset {end - 1}{where} to a producer with acks=all: the high watermark was above it"
    if statement.how is HwSource.CONSUMED:
        return f"sent offset {end - 1}{where} to a consumer: the high watermark was above it"
    if statement.how is HwSource.READ_BY_GROUP:
        return f"consumer group {statement.group} read offset {end - 1}{where}: the high watermark was above it"
    if statement.how is HwSource.SCRAPED:
        return f"an exporter of metrics printed {end}{where} as the partition's end: everything below was committed"
    return STATED[statement.how].format(mark=f"high watermark {end}{where}", end=end, where=where)


def bound_text(offset: Interval) -> str:
    """Return an offset in words of which a line or the protocol gives a lower bound at least.

    >>> bound_text(Interval.at(80)), bound_text(Interval(80))
    ('80', '80 or higher')
    """
    return f"{offset.low}" if offset.is_exact else f"{offset.low} or higher"


def want_text(want: Want, partition: str, again: str | None = None, *, alone: bool = False) -> str:
    """Return what would settle a question, as a sentence for an operator.

    Args:
        want: what is wanted.
        partition: name of the partition.
        again: its name from the second mention on; None for the same.
        alone: only the question, of those in ``SAVED``.
    """
    sentence = SAVED[want.question] if alone else _SENTENCES[want.origin][want.question]
    return sentence.format_map(_Parts(want, partition, again or partition, alone=alone))


def saved_means(wants: Iterable[Want]) -> dict[tuple[Artefact, ...], str]:
    """Return what exists only if somebody saved it then, by the kinds of evidence that one way to an answer asks for.

    Args:
        wants: the questions.
    """
    of_kind: dict[tuple[Artefact, ...], set[int]] = {}
    for way in (way for want in wants for way in want.ways):
        of_kind.setdefault(way.artefacts, set()).update(way.brokers)
    return {
        kinds: words.format(whose=f" of {brokers_text(sorted(of_kind[kinds]))}" if of_kind[kinds] else "")
        for kinds, words in _MEANS.items()
        if kinds in of_kind
    }


def want_texts(wants: Sequence[Want], partition: str) -> tuple[str, ...]:
    """Return ``want_text`` for several wants of one partition."""
    return tuple(want_text(want, partition) for want in wants)


def names_partition(want: Want, *, alone: bool = False) -> bool:
    """Return whether a want's sentence names its partition, or its question ``alone`` does."""
    parts = _Parts(want, "", "", alone=alone)
    (SAVED[want.question] if alone else _SENTENCES[want.origin][want.question]).format_map(parts)
    return parts.asked


class _Parts(dict[str, str]):
    """Parts of a sentence, computed on demand; the partition has a shorter name from its second mention on.

    Attributes:
        asked: whether the sentence has named its partition.
    """

    def __init__(self, want: Want, partition: str, again: str, *, alone: bool = False) -> None:
        super().__init__({"or_else": ""} if alone else {})
        self._want, self._names = want, [again, partition]
        self.asked = False

    def __missing__(self, key: str) -> str:
        if key == "partition":
            self.asked = True
            return self._names.pop() if len(self._names) > 1 else self._names[0]
        if key in _CHOICES:
            return _CHOICES[key](self._want).format_map(self)
        return _PARTS[key](self._want)


def _leader(role: tuple[int, int | None]) -> str:
    number, leader = role
    return f"broker {leader} (leader of epoch {number})" if leader is not None else f"the leader of epoch {number}"


def _next_began(want: Want) -> str:
    (_, leader), (number, later) = want.epochs[0], want.epochs[-1]
    if leader is not None and leader == later:
        return f"it began leader epoch {number} at that offset"
    return f"{_leader(want.epochs[-1])} began at that offset"


def _numbers(roles: Sequence[tuple[int, int | None]]) -> str:
    return ", ".join(str(number) for number, _ in roles)


def _between(want: Want) -> str:
    between = want.epochs[1:-1]
    return f"epoch{'' if len(between) == 1 else 's'} {_numbers(between)}"


def _reason(want: Want) -> str:
    return want.because.text if want.because is not None else ""


_PARTS: Mapping[str, Callable[[Want], str]] = MappingProxyType(
    {
        "topic": lambda want: want.topic,
        "clients": lambda _: CLIENTS,
        "because": _reason,
        "bracketed_because": lambda want: f" ({_reason(want)})" if want.because else "",
        "colon_because": lambda want: f": {_reason(want)}" if want.because else "",
        "brokers": lambda want: brokers_text(want.brokers, want.controllers),
        "broker_id": lambda want: str(want.brokers[0]),
        "brokers_or_replicas": lambda want: (
            brokers_text(want.brokers, want.controllers) if want.brokers else "the replicas"
        ),
        "replicas": lambda want: brokers_text(want.replicas, want.controllers),
        "replica": lambda want: str(want.replicas[0]),
        "artefacts": lambda want: " and ".join(want.artefacts),
        "its_kinds": lambda want: trace_wording.its_kinds(want.artefacts),
        "offsets": lambda want: offsets_text([(first, end) for first, end in want.offsets if end is not None]),
        "first": lambda want: str(want.offsets[0][0]),
        "after_first": lambda want: f" (it was {want.offsets[0][0]} after that)" if want.offsets else "",
        "end": lambda want: str(want.offsets[-1][1]),
        "epoch": lambda want: str(want.epochs[0][0]),
        "last_epoch": lambda want: str(want.epochs[-1][0]),
        "epochs_between": _between,
        "some_epochs": lambda want: _numbers(want.epochs[:_NAMED]) + (" and more" if len(want.epochs) > _NAMED else ""),
        "leaders": lambda want: str(len(want.epochs)),
        "leader": lambda want: _leader(want.epochs[0]),
        "leader_id": lambda want: str(want.epochs[0][1]),
        "next_began": _next_began,
        "last_leader": lambda want: _leader(want.epochs[-1]),
        "owner": lambda want: f"{brokers_text(want.brokers)}'s" if want.brokers else "the replicas' earlier",
    }
)
"""Parts that a sentence may use, from a want's values."""


def verb(want: Want) -> str:
    """Return the verb before a want's sentence: what somebody may have saved then need not exist."""
    if want.question is Question.TOPIC_DELETED:
        return "find out"
    if Artefact.PARTITION_LOGGER not in want.artefacts:
        return "collect"
    return "find out" if want.origin is Origin.FILES and want.question in OF_COMMITS else "look for"


def _witness(want: Want) -> str:
    return "" if Artefact.PARTITION_LOGGER in want.artefacts else f"{{owner}} {all_of(want.artefacts)}: "


def _or_else(want: Want) -> str:
    if Artefact.PARTITION_LOGGER not in want.artefacts:
        return ""
    where = "; its log directory that failed" if Artefact.FAILED_LOG_DIRECTORY in want.artefacts else ""
    return (
        ". Any one of these shows it. Brokers may still have: __consumer_offsets-*, with the positions of groups in "
        f"{{partition}}{where}. Only if somebody saved it: {{owner}} replication-offset-checkpoint or segments of "
        "then; its log of then with kafka.cluster.Partition at DEBUG; offsets that producers had acknowledged; metrics"
    )


_COPY = "a copy of {what}{{whose}} from that time: a backup, or a snapshot of a volume"
_LOG = "server.log{{whose}} of that time with {what}"
_PARTITION, _FETCHER = Artefact.PARTITION_LOGGER, Artefact.FETCHER_LOGGER

_MEANS: Mapping[tuple[Artefact, ...], str] = MappingProxyType(
    {
        (Artefact.HW_CHECKPOINT,): _COPY.format(what=Artefact.HW_CHECKPOINT),
        (Artefact.SEGMENTS,): _COPY.format(what=Artefact.SEGMENTS),
        (_PARTITION,): _LOG.format(what=f"{_PARTITION} at DEBUG or TRACE"),
        (_PARTITION, _FETCHER): _LOG.format(what=f"{_PARTITION} and {_FETCHER} at TRACE"),
        (_FETCHER,): _LOG.format(what=f"{_FETCHER} at TRACE"),
        (Artefact.CLIENTS,): (
            "metrics of kafka_exporter or kminion, or what applications logged of offsets: that producers had "
            "acknowledged, or that consumers read"
        ),
    }
)
"""Words for evidence that exists only if somebody saved it, by the kinds that one way to an answer asks for."""


def _segments_again(want: Want) -> str:
    if Artefact.LISTING in want.artefacts:
        return "a listing of broker {replica}'s directory of {partition}, or its server.log from its last start on"
    return "a new copy of broker {replica}'s segments of {partition}, and how far consumers can read there"


def _log_or_trace(want: Want) -> str:
    if Artefact.PARTITION_LOGGER in want.artefacts:
        return "{owner} log of that time with kafka.cluster.Partition and kafka.server.ReplicaFetcherThread at TRACE"
    return "{owner} server.log and segments"


def _elector(want: Want) -> str:
    return "__cluster_metadata" if Artefact.METADATA_LOG in want.artefacts else "the controller's log"


def _elector_of_then(want: Want) -> str:
    metadata = Artefact.METADATA_LOG in want.artefacts
    log = "the controller's log of that time"
    return f"__cluster_metadata, or {log}" if metadata else log


_CHOICES: Mapping[str, Callable[[Want], str]] = MappingProxyType(
    {
        "witness": _witness,
        "or_else": _or_else,
        "segments_again": _segments_again,
        "log_or_trace": _log_or_trace,
        "elector": _elector,
        "elector_of_then": _elector_of_then,
        "all_lines_or": lambda want: (
            "the complete state-change.log and server.log of {brokers}, or " if want.brokers else ""
        ),
        "state_change_or": lambda want: "the complete state-change.log of {brokers}, or " if want.brokers else "",
    }
)
"""Parts whose text depends on what is to be collected."""
