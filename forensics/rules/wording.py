"""Words for what rules conclude: the one place where a want or a high watermark becomes a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from forensics.replay.history import HwSource, HwStatement
from forensics.rules.finding import brokers_text, span_text
from forensics.rules.wants import Artefact, Question, Want

_NAMED = 5
"""Leader epochs that a sentence names at most."""

SENTENCES: Mapping[Question, str] = MappingProxyType(
    {
        Question.PROGRAM_REPAIRED: "a repaired version of this program, which failed on {partition}: {because}",
        Question.ITS_LINES: "{brokers}'s {artefacts}",
        Question.LINES_BETWEEN: (
            "{brokers}'s server.log and state-change.log whole, rotated files too: lines are missing ({because})"
        ),
        Question.EARLIER_LINES: "{brokers}'s earlier server.log and state-change.log: {because}",
        Question.LATER_LINES: "{brokers}'s later server.log and state-change.log: {because}",
        Question.ANY_LINES: "server.log and state-change.log of the replicas of {partition}",
        Question.UNNAMED_EPOCHS: (
            "{brokers}'s server.log and state-change.log between leader epochs {epoch} and {last_epoch}, rotated files "
            "too: nobody tells of {epochs_between}, nor whether its log was loaded again then"
        ),
        Question.ITS_FILES: "{brokers}'s data directory of {partition} (segments and checkpoints)",
        Question.ANY_FILES: "data directories of {partition}",
        Question.ANOTHER_COPY: (
            "the segments of {partition} of another replica; or, if it has only the one of {replicas}, the "
            "state-change.log or the controller's log of its creation"
        ),
        Question.TWO_COPIES: "the segments of {partition} of two replicas or more",
        Question.ANY_SEGMENTS: "segments of {partition}",
        Question.WHICH_REPLICAS: (
            "which replicas {partition} has (a state-change.log, the controller's log or what kafka-topics.sh "
            "--describe printed), and the segments of each"
        ),
        Question.WHOLE_DIRECTORIES: (
            "the log directories of {brokers} as a whole: of {partition} its own folder alone is at hand"
        ),
        Question.EARLIER_SEGMENTS: (
            "{brokers}'s segments of {partition} below offset {end}, which may have been left out of the copy: "
            "{because}"
        ),
        Question.MISSING_SEGMENTS: (
            "a listing of {brokers}'s directory of {partition}, or the segment files of offsets {offsets}, which may "
            "have been left out of the copy{colon_because}"
        ),
        Question.LATER_SEGMENTS: (
            "whether {brokers}'s directory of {partition} has a segment file from offset {first} on that was not "
            "collected{bracketed_because}: list it, or its server.log from its next start on, which says with what end "
            "it was loaded"
        ),
        Question.UNTORN_SEGMENTS: (
            "the segments of {brokers} whole: they end at {first}, and its high watermark was {end}"
        ),
        Question.COMPACTED: (
            "whether {topic} was ever compacted, as segments of {replicas} skip offsets {offsets}: the "
            "cleaner-offset-checkpoint and server.properties of its brokers, and the server.log of when its log was "
            "made"
        ),
        Question.READ_WHILE_RUNNING: (
            "whether the files of {partition} were copied while their brokers ran, as no copy has the committed "
            "offsets {offsets}: if none did, these are lost; copies made again, of stopped brokers"
        ),
        Question.STILL_SERVED: (
            "whether leader {replica} can still serve what its damaged segments held ({because}): {segments_again}"
        ),
        Question.CHECKPOINT: "{brokers}'s {artefacts} from the directory of {partition}",
        Question.CHECKPOINT_AND_LOG: "{artefacts} of {partition} from one directory",
        Question.EPOCH_FILE: "{brokers}'s leader-epoch-checkpoint of {partition}",
        Question.EPOCH_FILE_AGAIN: (
            "{brokers}'s leader-epoch-checkpoint of {partition} once more: the one at hand is damaged, which a notice "
            "tells with its line"
        ),
        Question.EPOCH_FILE_NOT_EMPTY: (
            "{brokers}'s leader-epoch-checkpoint of {partition} once more: the one at hand is empty"
        ),
        Question.ANY_LEADER: "any line about the leaders of {partition}: state-change.log or the controller's log",
        Question.CURRENT_LEADER: (
            "who leads {partition}: a replica's state-change.log, the controller's log, or its segments"
        ),
        Question.LATER_LEADER: (
            "whether another leader of {partition} followed: the whole state-change.log of {brokers}, or {elector}"
        ),
        Question.LATER_LEADER_HEARD: "{brokers}'s state-change.log: whether another leader followed",
        Question.LEADER_AFTER: (
            "who led {partition} after epoch {epoch} ({because}): the whole state-change.log of {brokers}, or "
            "{elector} of then"
        ),
        Question.LEADERS_OF_EPOCHS: (
            "who led {partition} in leader epoch {some_epochs}: {state_change_or}the controller's log of then"
        ),
        Question.LEADER_FOLLOWED: ("what {brokers} followed when it truncated to {first}: its state-change.log"),
        Question.LEADERS_IN_ORDER: (
            "in what order the leaders of {partition} followed one another: leader epochs ran backwards ({because}), "
            "as when ZooKeeper or the metadata log is put back from an older copy; what was done to it and when, and "
            "how far producers and consumers had come"
        ),
        Question.WENT_ON_WITH: (
            "which of its leaders the partition went on with in leader epoch {epoch}, as to offsets {offsets}: what "
            "producers and consumers of that time say"
        ),
        Question.STILL_LED: (
            "{brokers}'s server.log and state-change.log at INFO from then on: whether it still led epoch {epoch} when "
            "its high watermark went from {end} to {first} ({because})"
        ),
        Question.EPOCH_GIVEN_TWICE: (
            "the whole state-change.log of {brokers}: whether a leader epoch of {partition} that another broker led "
            "was given out there too"
        ),
        Question.CREATED_AGAIN: (
            "the server.log and state-change.log of {brokers}: whether {partition} was deleted and created anew, for "
            "leader epoch {epoch} has {leaders} leaders"
        ),
        Question.WHICH_LIFE: (
            "to which life of {partition} each line on leader epoch {epoch} belongs: the topic was deleted and created "
            "anew, and these brokers print no topic id; server.log and state-change.log of every replica of then, "
            "without holes"
        ),
        Question.ISR_BEFORE: (
            "the ISR of {partition} just before leader {leader_id} began epoch {epoch}: {all_lines_or}{elector_of_then}"
        ),
        Question.ELIGIBLE: (
            "whether {leader} was an eligible leader replica (the ISR may have been empty): __cluster_metadata, or the "
            "controller's log of then"
        ),
        Question.ANY_HIGH_WATERMARK: (
            "any high watermark of {partition}: replication-offset-checkpoint or server.log of its replicas"
        ),
        Question.HIGH_WATERMARK: (
            "the high watermark of {brokers}, whose segments differ from the other's at {offsets}: "
            "replication-offset-checkpoint"
        ),
        Question.HIGH_WATERMARK_REACHED: (
            "how far the high watermark of {brokers} had come, whose segments differ from the other's at {offsets}: "
            "replication-offset-checkpoint"
        ),
        Question.HIGH_WATERMARK_BEFORE: (
            "the high watermark of leader {broker_id} before {replicas} was cut to {first}: broker {broker_id}'s "
            "server.log and replication-offset-checkpoint, or kafka.cluster.Partition at DEBUG there"
        ),
        Question.COMMITTED_BEFORE: (
            "how far {leader} had committed when {last_leader} began at offset {first}: {witnesses}"
        ),
        Question.COMMITTED_BEFORE_NEW_LOG: "how far {leader} had committed before its log was made anew: {witnesses}",
        Question.COMMITTED_APART: (
            "how far {leader} had committed, whose records at {offsets} differ from another replica's: its server.log "
            "and replication-offset-checkpoint of then"
        ),
        Question.COMMITTED_AT: (
            "{brokers}'s replication-offset-checkpoint: whether offset {first}, to which two replicas give two leader "
            "epochs, was committed"
        ),
        Question.HELD_ELSEWHERE: (
            "whether another copy has offsets {offsets}, which leader {replica} came back without: the data directory "
            "of {partition} and the whole logs of {brokers}"
        ),
        Question.EPOCH_START: "the log end offset with which {leader} began: {log_or_trace}",
        Question.END_BEFORE_TRUNCATION: (
            "the log end offset of {brokers} before it was told to truncate to {first}: "
            "kafka.server.ReplicaFetcherThread at TRACE on {brokers}"
        ),
        Question.END_BEFORE_LEADING: (
            "how far the log of {brokers} reached before it came back to lead epoch {epoch}{from_first}: its segments "
            "from before that start, or its log of then with kafka.cluster.Partition at DEBUG"
        ),
        Question.HELD_BEFORE_NEW_LOG: (
            "how much of {partition} {brokers} held before it came back with an empty log: its server.log at TRACE, or "
            "its segments of that time"
        ),
        Question.HELD_BEFORE_EPOCH: (
            "{brokers}'s earlier server.log and state-change.log: whether it held any of {partition} before leader "
            "epoch {epoch}, in which its log begins empty"
        ),
        Question.HELD_BEYOND: (
            "whether {brokers} ever held records of {partition} from offset {first} on, which may have been committed "
            "and which it does not hold: its later server.log and state-change.log"
        ),
        Question.TRUNCATED_LOST: (
            "whether {brokers} cut offsets {offsets}, which it had had: its data directory of {partition}, or its "
            "later server.log"
        ),
        Question.TAIL_REMOVED: (
            "what removed the end of {brokers}'s log of {partition} before it was loaded with {first}, as its recovery "
            "point is {end}: its server.log and state-change.log whole, rotated files too"
        ),
        Question.EPOCHS_OF_RECORDS: (
            "the leader epochs of offsets {offsets}: segments or leader-epoch-checkpoint of {brokers}"
        ),
        Question.WRITER_OF_RECORDS: (
            "which leader wrote offsets {offsets}: server.log and state-change.log of {brokers_or_replicas} of then "
            "(the segments at hand do not say it)"
        ),
        Question.WRITER_OF_OLD_RECORDS: (
            "which leader wrote offsets {offsets}: server.log and state-change.log of {brokers_or_replicas} of then "
            "(this message format has no epochs)"
        ),
    }
)
"""The sentence for each question, with the parts of ``_PARTS`` in braces."""


STATED: Mapping[HwSource, str] = MappingProxyType(
    {
        HwSource.PRINTED: "printed",
        HwSource.PRINTED_BY_LEADER: "printed by the leader",
        HwSource.SAME_EPOCH: "stated in the same leader epoch",
        HwSource.CHECKPOINT: "in the checkpoint file",
        HwSource.LEFT_BEHIND: "in the checkpoint file of a directory left behind",
        HwSource.READ_BACK: "with which it returned",
        HwSource.ALONE_IN_ISR: "because the leader was alone in the ISR",
        HwSource.STEPPED_DOWN: "when it gave way",
    }
)
"""The sources of a high watermark; of one that an acknowledgement implies ``stated_text`` says more."""


def stated_text(statement: HwStatement) -> str:
    """A high watermark, and what states it."""
    where = f" of leader epoch {statement.epoch}" if statement.epoch >= 0 else ""
    if statement.how is HwSource.ACKNOWLEDGED:
        last = statement.high_watermark - 1
        return f"offset {last}{where} acknowledged to a producer with acks=all: the high watermark had passed it"
    return f"high watermark {statement.high_watermark}{where}, {STATED[statement.how]}"


def want_text(want: Want, partition: str, again: str | None = None) -> str:
    """Return what would settle a question, as a sentence for an operator.

    Args:
        want: what is wanted.
        partition: name of the partition.
        again: its name from the second mention on; None for the same.
    """
    return SENTENCES[want.question].format_map(_Parts(want, partition, again or partition))


def want_texts(wants: Sequence[Want], partition: str) -> tuple[str, ...]:
    """Return ``want_text`` for several wants of one partition."""
    return tuple(want_text(want, partition) for want in wants)


def names_partition(want: Want) -> bool:
    """Return whether a want's sentence names its partition."""
    parts = _Parts(want, "", "")
    SENTENCES[want.question].format_map(parts)
    return parts.asked


class _Parts(dict[str, str]):
    """Parts of a sentence, computed on demand; the partition has a shorter name from its second mention on.

    Attributes:
        asked: whether the sentence has named its partition.
    """

    def __init__(self, want: Want, partition: str, again: str) -> None:
        super().__init__()
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
    return f"leader {leader} of epoch {number}" if leader is not None else f"the leader of epoch {number}"


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
        "because": _reason,
        "bracketed_because": lambda want: f" ({_reason(want)})" if want.because else "",
        "colon_because": lambda want: f": {_reason(want)}" if want.because else "",
        "brokers": lambda want: brokers_text(want.brokers),
        "broker_id": lambda want: str(want.brokers[0]),
        "brokers_or_replicas": lambda want: brokers_text(want.brokers) if want.brokers else "the replicas",
        "replicas": lambda want: brokers_text(want.replicas),
        "replica": lambda want: str(want.replicas[0]),
        "artefacts": lambda want: " and ".join(want.artefacts),
        "offsets": lambda want: span_text([(first, end) for first, end in want.offsets if end is not None]),
        "first": lambda want: str(want.offsets[0][0]),
        "from_first": lambda want: f" from offset {want.offsets[0][0]}" if want.offsets else "",
        "end": lambda want: str(want.offsets[-1][1]),
        "epoch": lambda want: str(want.epochs[0][0]),
        "last_epoch": lambda want: str(want.epochs[-1][0]),
        "epochs_between": _between,
        "some_epochs": lambda want: _numbers(want.epochs[:_NAMED]) + (" and more" if len(want.epochs) > _NAMED else ""),
        "leaders": lambda want: str(len(want.epochs)),
        "leader": lambda want: _leader(want.epochs[0]),
        "leader_id": lambda want: str(want.epochs[0][1]),
        "last_leader": lambda want: _leader(want.epochs[-1]),
        "owner": lambda want: f"{brokers_text(want.brokers)}'s" if want.brokers else "the replicas' earlier",
    }
)
"""Parts that a sentence may use, from a want's values."""


def _witnesses(want: Want) -> str:
    if Artefact.PARTITION_LOGGER not in want.artefacts:
        return "{owner} server.log, replication-offset-checkpoint and segments"
    where = " in its log directory that failed" if Artefact.FAILED_LOG_DIRECTORY in want.artefacts else ""
    return (
        f"a copy of {{owner}} replication-offset-checkpoint or segments from before its next start{where}, its log of "
        "then with kafka.cluster.Partition at DEBUG, or how far consumers of {partition} had read"
    )


def _segments_again(want: Want) -> str:
    if Artefact.LISTING in want.artefacts:
        return "a listing of its directory of {partition}, or its server.log from its last start on"
    return "its segments copied again, and how far consumers of {partition} can read there"


def _log_or_trace(want: Want) -> str:
    if Artefact.PARTITION_LOGGER in want.artefacts:
        return "its log of then with kafka.cluster.Partition and kafka.server.ReplicaFetcherThread at TRACE"
    return "its server.log and segments"


def _elector(want: Want) -> str:
    return "__cluster_metadata" if Artefact.METADATA_LOG in want.artefacts else "the controller's log"


def _elector_of_then(want: Want) -> str:
    metadata = Artefact.METADATA_LOG in want.artefacts
    return "__cluster_metadata, or the controller's log of then" if metadata else "the controller's log of then"


_CHOICES: Mapping[str, Callable[[Want], str]] = MappingProxyType(
    {
        "witnesses": _witnesses,
        "segments_again": _segments_again,
        "log_or_trace": _log_or_trace,
        "elector": _elector,
        "elector_of_then": _elector_of_then,
        "all_lines_or": lambda want: (
            "the whole state-change.log and server.log of {brokers}, or " if want.brokers else ""
        ),
        "state_change_or": lambda want: "the whole state-change.log of {brokers}, or " if want.brokers else "",
    }
)
"""Parts whose text depends on what is to be collected."""
