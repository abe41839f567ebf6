"""Leader epochs contradict each other in a log, between a log and its epoch file, or between replicas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from forensics.case import Case
from forensics.replay.committed.divergence import doubts
from forensics.replay.committed.epochs_apart import BatchesApart, EpochsApart, apart_by_batches, apart_by_lines
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.directory import Damage, Disk
from forensics.replay.history import EpochRollback, History
from forensics.replay.leadership.epoch_file import RefutedEntry, first_fall, refuted_entry
from forensics.replay.leadership.epoch_rollback import begun_twice
from forensics.replay.lineage import Range
from forensics.replay.traces.broken_invariants import EpochsFall, EpochStarts
from forensics.replay.traces.results import Played
from forensics.replay.traces.unlike_logs import Apart
from forensics.rules.causes import CauseId
from forensics.rules.copying import copy_before_start
from forensics.rules.finding import (
    HERE,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    brokers_text,
    judgement,
    place,
)
from forensics.rules.story import (
    all_claimed,
    fork_cause,
    replicas_not_named,
    unless_deleted,
    unstated_data,
    where_deleted,
)
from forensics.rules.wants import Artefact, Question, Want, of

ID = "epoch-divergence"

HELP = Help(
    finds=(
        """\
One of these contradictions: in one log, the leader epoch falls as offsets rise. The segments of
a replica contradict its ``leader-epoch-checkpoint``. The batches of two replicas give one
offset different leader epochs, below both high watermarks.""",
        """\
In a trace: one leader epoch has entries with two start offsets, in one replica or in two. Or two
leaders begin to write it at two offsets. If the trace claims to state every change of both
replicas, its log lines are compared as batches are: also records that are not committed, if both
replicas have the same record above them. Two records of one leader epoch at one offset, by their
checksums, contradict it too: one leader writes each epoch, and it writes each offset once.""",
    ),
    matters=(
        """\
Followers use leader epochs to find where their log differs from the leader's (KIP-101,
KIP-279). If an epoch file does not describe its log, a replica truncates too much or too
little. The next failover can then lose or fork data.""",
    ),
    evidence=(
        """\
``partitionLeaderEpoch`` of the record batches, and the entries of ``leader-epoch-checkpoint``.
In a trace, ``epoch_assigned`` and ``epoch_entry``.""",
    ),
    not_when=(
        """\
The last entry has no batch yet: a leader's own epoch before its first record. Followers lack a
leader epoch that has no record. The first entry begins at the log start offset: retention and
delete-records rewrite it.""",
        """\
The file is empty or lacks its first epochs: an old message format, a new replica, or a recovery
in 2.1 to 2.5, which skipped epoch 0. Entries are at or beyond the log end offset after a crash:
3.8 and later write the file asynchronously.""",
    ),
    versions=(
        """\
0.11 and later with message format v2. Older records have no leader epochs, so their files never
contradict. A trace has the epoch of each append. Up to 1.1, an unclean election, or two
elections in quick succession, can leave a follower with records that its leader never had
(KIP-279). The leader epochs then fall after these records.""",
    ),
    to_do=(
        """\
Copy the directory of every replica first. The replica that contradicts must not lead: if it does,
let another member of the ISR that has all records become leader.""",
        """\
Then stop the broker of the replica that contradicts, move its directory of the partition away,
and start the broker. It fetches the whole partition again from the leader.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Compare each replica's epochs with themselves, and with the others'."""
    batches = apart_by_batches(history)
    apart = [one.fork for one in batches if one.committed]
    between = [unless_deleted(history, [one.fork], _batches_apart(history, one)) for one in batches if one.committed]
    findings = [
        *_within(history),
        *(_two_starts(history, one) for one in history.stated.epoch_starts),
        *(between or [_twice(history, twice) for twice in begun_twice(history)]),
    ]
    missing = [*where_deleted(history, apart), *unstated_data(history, case), *_unread(history, case)]
    missing += _unchecked(batches)
    if history.played is not None:
        findings += _by_trace(history, history.played)
    else:
        lines = apart_by_lines(history)
        findings += [_lines_apart(history, one.replicas, one.ranges) for one in lines if one.ranges]
        missing += [_undecided(one) for one in lines if one.undecided]
    if not missing and not all_claimed(history):
        missing = replicas_not_named(history)
    return judgement(ID, findings, missing)


def _by_trace(history: History, played: Played) -> Iterator[Finding]:
    """Yield what a complete trace shows: different records, and entries that fall along a log."""
    yield from (_records_apart(history, one) for one in (*played.apart, *played.below_alike, *played.written_twice))
    yield from (_entries_fall(history, one) for one in played.falls)


def _within(history: History) -> Iterator[Finding]:
    """Yield what contradicts itself in the files of one replica: its batches, or its batches and its epoch file."""
    for broker, disk in sorted(history.facts.disks.items()):
        for fall in disk.falls[:1]:
            yield _falling(history, broker, fall, first_fall(disk.stated))
        refuted = refuted_entry(disk)
        if refuted is not None:
            yield _file(history, broker, refuted)


def _undecided(one: EpochsApart) -> Want:
    """Return what would show the leader epochs of offsets for which lines do not decide."""
    return Want(Question.EPOCHS_OF_RECORDS, (of(one.replicas, Artefact.SEGMENTS),), offsets=one.undecided)


def _records_apart(history: History, apart: Apart) -> Finding:
    """Return a finding for two replicas with different records, by the appends of a complete trace."""
    found = _lines_apart(history, (apart.left, apart.right), apart.ranges)
    epochs = [piece.writer[0] for piece in (apart.left_piece, apart.right_piece)]
    first = apart.ranges[0][0]
    whose = brokers_text((apart.left, apart.right))
    if epochs[0] != epochs[1]:
        summary = f"{whose} give offset {first} the leader epochs {epochs[0]} and {epochs[1]}"
    else:
        summary = f"{whose} hold two different records of leader epoch {epochs[0]} at offset {first}"
    refs = (apart.left_ref, apart.right_ref)
    facts = tuple(
        Fact(f"offset {first} is of leader epoch {epoch}", broker=broker, refs=(ref,))
        for broker, epoch, ref in zip((apart.left, apart.right), epochs, refs, strict=True)
    )
    return replace(found, weak=(), inferences=(), epochs=tuple(sorted({*epochs})), summary=summary, facts=facts)


def _lines_apart(history: History, pair: tuple[int, int], ranges: tuple[Range, ...]) -> Finding:
    first = ranges[0][0]
    epochs = [history.replicas[broker].lineage.epoch_at(first) for broker in pair]
    refs = [tuple(history.epochs[epoch].refs) if epoch in history.epochs else () for epoch in epochs]
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=(Weakness.EPOCHS_FROM_LINES,),
        **place(history),
        replicas=pair,
        epochs=tuple(sorted(epochs)),
        offsets=ranges,
        subject="lines",
        summary=f"{brokers_text(pair)} have different leader epochs at offset {first}: {epochs[0]} and {epochs[1]}",
        facts=tuple(
            Fact(f"wrote offset {first} in leader epoch {epoch}", broker=broker, refs=where)
            for broker, epoch, where in zip(pair, epochs, refs, strict=True)
        ),
        inferences=("the log lines of appends and truncations imply the contents of each log",),
        cause=fork_cause(history, ranges),
        **advised(history.name, next_steps=(copy_before_start(pair, history.origin),)),
    )


def _unread(history: History, case: Case) -> list[Want]:
    """Return wants for epoch files without which epochs cannot be compared."""
    asked = {
        broker: _epoch_file(disk, whole=f"{disk.directory}/leader-epoch-checkpoint" in case.checkpointed)
        for broker, disk in sorted(history.facts.disks.items())
    }
    return [
        Want(question, (of([broker], Artefact.EPOCH_CHECKPOINT),))
        for broker, question in asked.items()
        if question is not None
    ]


def _unchecked(batches: Iterable[BatchesApart]) -> list[Want]:
    """Return wants for high watermarks that would show whether batches of two leader epochs were committed."""
    return [
        Want(Question.COMMITTED_AT, (of([broker], Artefact.HW_CHECKPOINT),), offsets=((first, first + 1),))
        for one in batches
        for first in [one.fork.ranges[0][0]]
        for broker in one.unchecked
    ]


def _epoch_file(disk: Disk, *, whole: bool) -> Question | None:
    """Return the question about a replica's epoch file, or None.

    Args:
        disk: files of the replica.
        whole: its epoch file is in the evidence, and nothing in it is damaged.
    """
    # A replica without records has no epochs either (LeaderEpochFileCache.truncateFromStart).
    emptied = disk.end is not None and disk.log_start >= disk.end
    if disk.lineage.entries and not disk.entries and not (whole and emptied):
        return Question.EPOCH_FILE_NOT_EMPTY if whole else Question.EPOCH_FILE
    # Without segments it is unknown to which directory the file belongs.
    damaged = disk.entries and not whole and disk.directory is not None
    return Question.EPOCH_FILE_AGAIN if damaged else None


def _file(history: History, broker: int, refuted: RefutedEntry) -> Finding:
    epoch = refuted.epoch
    text = (
        f"offset {refuted.offset} has leader epoch {epoch} in the segments and leader epoch {refuted.noted} in "
        "leader-epoch-checkpoint"
    )
    named = epoch in history.epochs and bool(history.epochs[epoch].refs)
    lone = epoch in history.facts.disks[broker].lone_epochs and not named
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=(Weakness.ONE_BATCH,) if lone else (),
        **place(history),
        replicas=(broker,),
        subject="file",
        summary=f"broker {broker}'s leader-epoch-checkpoint contradicts its own log: {text}",
        facts=(Fact(text, broker=broker, refs=refuted.refs),),
        inferences=(f"leader epoch {epoch} is right, although only one batch states it and no log line names it",)
        if lone
        else (),
        not_because=("that offset has a batch of another leader epoch, so it is not an epoch without records",),
        cause=CauseId.DAMAGED_EPOCH_FILE,
        **advised(
            history.name,
            next_steps=(
                f"copy broker {broker}'s directory of {HERE} to another disk before the broker is started again",
            ),
        ),
    )


def _falling(history: History, broker: int, fall: Damage, fell: int | None) -> Finding:
    forks = [fork for fork in history.facts.forks if broker in (fork.left, fork.right)]
    ends = [fork.ranges for fork in forks if any(end == fell for _, end in fork.ranges)]
    cause = fork_cause(history, ends[0]) if ends else CauseId.UNKNOWN
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=(broker,),
        subject="fall",
        summary=f"leader epochs decrease along broker {broker}'s log: {fall.text}",
        facts=(Fact(fall.text, broker=broker, refs=(fall.ref,)),),
        inferences=(
            (
                "it kept records that its leader never had, and fetched more after them. Up to 1.1, a leader that "
                "never had a leader epoch answers with the start of the next one, and the follower truncates nothing "
                "(KIP-279)"
            ),
        )
        if ends
        else (),
        cause=cause,
        **advised(
            history.name,
            next_steps=(
                (
                    f"copy broker {broker}'s directory of {HERE} to another disk before the broker is started "
                    "again, and compare it with another replica's (forensics compare)"
                ),
            ),
        ),
        count=len(history.facts.disks[broker].falls),
    )


def _entries_fall(history: History, fall: EpochsFall) -> Finding:
    """Return a finding for epoch entries of one log that cannot be those of one epoch file."""
    entries = (fall.later, fall.earlier)
    epochs = tuple(sorted(epoch for epoch, _, _ in entries))
    (later, start, _), (earlier, above, _) = entries
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=(fall.replica,),
        epochs=epochs,
        offsets=((start, above),),
        subject="fall",
        summary=(
            f"leader epochs decrease along broker {fall.replica}'s log: its epoch entries start leader epoch {later} "
            f"at offset {start}, and leader epoch {earlier} at {above}"
        ),
        facts=tuple(Fact(f"stated {ref.note}", broker=fall.replica, refs=(ref,)) for _, _, ref in entries),
        not_because=("the trace states no truncation between the two entries",),
        cause=CauseId.UNKNOWN,
        **advised(history.name, next_steps=(copy_before_start((fall.replica,), history.origin),)),
    )


def _twice(history: History, twice: EpochRollback) -> Finding:
    """One epoch that begins at two offsets."""
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        epochs=(twice.epoch,),
        subject="begun twice",
        summary=f"{twice.text}: the controller assigned it twice",
        facts=(Fact(twice.text, refs=twice.refs),),
        not_because=(
            "both offsets have batches of that leader epoch, and neither log was compacted or truncated from its start",
        ),
        cause=CauseId.EPOCHS_PUT_BACK,
        **advised(history.name, next_steps=(copy_before_start((), history.origin),)),
    )


def _two_starts(history: History, several: EpochStarts) -> Finding:
    """One epoch with several first offsets, by entries or by the appends of two leaders."""
    epoch = several.epoch
    offsets = " and ".join(str(offset) for offset, _, _ in several.starts)
    replicas = tuple(sorted({replica for _, replica, _ in several.starts}))
    starts = "starts" if len(replicas) == 1 else "start"
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=replicas,
        epochs=(epoch,),
        offsets=((several.starts[0][0], several.starts[-1][0]),),
        subject="two starts",
        summary=f"{brokers_text(replicas)} {starts} leader epoch {epoch} at offsets {offsets}",
        facts=tuple(Fact(f"stated {ref.note}", broker=replica, refs=(ref,)) for _, replica, ref in several.starts),
        not_because=("no replica with a later start states that it removed the beginning of its log",),
        cause=CauseId.EPOCHS_PUT_BACK if history.epoch_rollbacks else CauseId.UNKNOWN,
        **advised(history.name, next_steps=(copy_before_start(replicas, history.origin),)),
    )


def _batches_apart(history: History, one: BatchesApart) -> Finding:
    """Replicas whose batches give one offset two epochs, committed on both sides."""
    fork, (left, right) = one.fork, one.epochs
    pair, offset = (fork.left, fork.right), fork.ranges[0][0]
    sides = ((left, fork.left, fork.left_batch, fork.left_ref), (right, fork.right, fork.right_batch, fork.right_ref))
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=weak_points(doubts(history, [fork])),
        **place(history),
        replicas=pair,
        epochs=tuple(sorted(one.epochs)),
        offsets=fork.ranges,
        summary=f"{brokers_text(pair)} have different leader epochs at offset {offset}: {left} and {right}",
        facts=tuple(
            Fact(f"has leader epoch {epoch} from offset {batch[0]} on", broker=broker, refs=(ref,))
            for epoch, broker, batch, ref in sides
        ),
        cause=fork_cause(history, fork.ranges),
        **advised(history.name, next_steps=(copy_before_start(pair, history.origin),)),
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    summary="Leader epochs contradict each other in a log, between a log and its epoch file, or between replicas.",
    help=HELP,
)
