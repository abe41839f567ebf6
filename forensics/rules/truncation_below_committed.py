"""A replica truncated records from its log that were committed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from forensics.case import Case
from forensics.replay.committed.proof import (
    CommittedProof,
    Loss,
    committed,
    losses,
    possible_losses,
    refetched,
    stated_by,
)
from forensics.replay.committed.surviving_copies import holders
from forensics.replay.committed.vanished_tails import vanished_tails
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.deletions import kept, log_start_at, may_be_deleted
from forensics.replay.facts.stale_dirs import left_behind
from forensics.replay.history import History, HwSource, HwStatement, Truncation, TruncationReason
from forensics.replay.inferences import joined
from forensics.replay.lineage import UNKNOWN, Range, differences, intersect, merge, size, subtract
from forensics.replay.played import TruncatedCommitted
from forensics.rules.causes import CauseId
from forensics.rules.finding import (
    HERE,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    count_text,
    epoch_text,
    judgement,
    offsets_text,
    place,
)
from forensics.rules.story import (
    BOTH_LOGS,
    committed_facts,
    held_texts,
    leader_fact,
    loss_cause,
    missing_logs,
    possible_loss_of,
    repeats_facts,
    times_stated,
    truncation_fact,
    truncations_of_unknown_extent,
)
from forensics.rules.wants import Artefact, Question, Want, from_offset, of, offsets_of

ID = "truncation-below-committed"

HELP = Help(
    finds=(
        """\
A replica truncated its log from log end offset ``end`` to ``target``. At least one truncated
record (offset, leader epoch) was below a high watermark that had been reached before.""",
        """\
The high watermark is one of the leader that wrote the record. Or the replica itself stated it
in the same leader epoch, for records that it had fetched from the leader of that epoch.""",
    ),
    matters=(
        """\
Producers with acks=all received an acknowledgement for committed records, and consumers may
have read them. If the new leader also lacked the records, the partition lost them, or is about
to lose them.""",
        """\
If the new leader had the records, the replica fetched them again. Then the truncation shows one
risk only: the replica could not have been elected safely in between.""",
    ),
    evidence=(
        """\
Truncation lines of the log (``Truncating log .. to offset``, ``Truncating to offset``) show the
target. Load lines and role lines show the log end offset before. High watermarks come from role
lines, restarts, checkpoint files and, before 0.11, from truncations to the high watermark.""",
        """\
If no log line gives the log end offset, the protocol implies a lower bound. A replica in the
ISR holds everything below a high watermark that is reached then (confidence: inferred).""",
    ),
    not_when=(
        """\
A leader wrote the records but they were never committed (acks=0 or acks=1 and a failover). The
cluster's high watermark may have passed these offsets in a later leader epoch: then the same
offset is another record.""",
        """\
A follower truncates below a high watermark of the same leader epoch before it has appended
anything from its leader. It takes over the leader's high watermark before it compares logs
(KAFKA-14704).""",
        """\
A line asks for a truncation beyond the end of the log, which removes nothing (logged up to
0.10.2).""",
    ),
    versions=(
        """\
All. Before 0.11, every follower truncates to its own high watermark. This also holds for an
inter-broker protocol or message format before 0.11. It is routine on restart, and a warning if
the replica fetched the records again.""",
        """\
The broker's own warning ``below high watermark`` is reliable in 2.0 to 2.3 and since 4.2. In
the versions between, the broker cannot log it (KAFKA-19474).""",
    ),
    to_do=(
        """\
If the finding is critical, copy the directory that it names under Keep. Do this before you
restart, reassign or delete anything.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Judge every truncation of the partition."""
    if history.played is not None:
        return judgement(ID, [_of_trace(history, one) for one in history.played.truncated], [])
    findings = []
    unclear: list[Want] = []
    for truncation in history.truncations:
        before = truncation.epoch if truncation.epoch >= 0 else None
        row = truncation.refs[0].row
        proof = committed(
            history,
            truncation.lineage,
            truncation.target,
            truncation.end,
            replica=truncation.replica,
            before=before,
            row=row,
        )
        own = _stated(history, truncation)
        known = merge([*proof.ranges, *own.ranges])
        start = log_start_at(history.facts.log_starts, truncation.replica, row)  # it held nothing below
        known = intersect(known, [(start, max(start, truncation.end))])
        ranges = tuple(kept(history, truncation.lineage, known, truncation.epoch))
        if ranges:
            statements = (*proof.statements, *own.statements)
            own_alone = bool(subtract(ranges, proof.ranges))
            alone = own_alone and truncation.own_hw is not None and truncation.own_hw.restored
            findings.append(_finding(history, truncation, ranges, statements, _gone(history, truncation), alone))
        elif proof.ranges:
            continue  # its leader had removed them before
        elif (possible_loss := possible_loss_of(history, truncation)) is not None:
            unclear.append(possible_loss)
    untold = [*unclear, *truncations_of_unknown_extent(history), *_vanished(history), *_uncut(history)]
    return judgement(ID, findings, [*untold, *missing_logs(history)])


def _of_trace(history: History, one: TruncatedCommitted) -> Finding:
    """Return the finding for a truncation that a complete trace states."""
    known = next((t for t in history.truncations if t.refs[0].row == one.ref.row), None)
    truncation = Truncation(
        replica=one.replica,
        epoch=one.epoch,
        leader=one.leader,
        target=one.target,
        end=one.end,
        end_exact=True,
        lineage=one.lineage,
        reason=known.reason if known is not None else TruncationReason.UNKNOWN,
        time=one.time,
        refs=known.refs if known is not None else (one.ref,),
    )
    statement = stated_by(one.commit, one.lineage)
    return _finding(history, truncation, one.ranges, (statement,), _gone(history, truncation), read_back_alone=False)


def _stated(history: History, truncation: Truncation) -> CommittedProof:
    """Return what a truncation removed below a high watermark that the same replica had stated before.

    A replica that was away while its topic was created again reads back the high watermark of another topic. A topic
    id rules that out.
    """
    own = truncation.own_hw
    if own is None or truncation.epoch in history.contested or (own.restored and history.topic_id is None):
        return CommittedProof((), ())
    first = (
        max(own.first, log_start_at(history.facts.log_starts, truncation.replica, own.ref.row)) if own.restored else 0
    )
    ranges = intersect([(truncation.target, own.end)], [(max(own.first, first), own.end)])
    statement = HwStatement(
        truncation.replica,
        UNKNOWN if own.restored else truncation.epoch,
        truncation.lineage,
        own.end,
        False,
        HwSource.READ_BACK if own.restored else HwSource.SAME_EPOCH,
        own.time,
        (own.ref,),
    )
    return CommittedProof(tuple(ranges), (statement,) if ranges else ())


def _uncut(history: History) -> list[Want]:
    """Return what would show whether a replica that lost records truncated them, if no line shows how they went.

    Its files are missing, and nothing shows it with records of the leader that lacked them, or of a later one. With
    such records it has reconciled with that leader, and its lines show how.
    """
    found = []
    removals = [
        (truncation.replica, truncation.target)
        for truncation in (*history.truncations, *history.truncations_of_unknown_extent)
    ]
    removals += [(shortened.replica, shortened.target) for shortened in history.shortened_logs]
    for loss in losses(history)[0]:
        had = {statement.replica for statement in loss.statements} - {loss.epoch.leader, *loss.holders}
        for broker in sorted(had):
            replica = history.replicas.get(broker)
            told = any(who == broker and target < loss.ranges[-1][1] for who, target in removals)
            if replica is None or replica.on_disk or told:
                continue
            if not replica.lineage.entries or replica.lineage.entries[-1][0] < loss.epoch.epoch:
                ways = (of([broker], Artefact.DATA_DIRECTORY), of([broker], Artefact.SERVER_LOG))
                found.append(Want(Question.TRUNCATED_LOST, ways, offsets=offsets_of(loss.ranges)))
    return found


def _there_again(history: History, truncation: Truncation, ranges: tuple[Range, ...]) -> bool:
    """Return whether the replica that truncated the records holds them again, in files of a later time.

    The files of the last leader must have the same records: the same epoch wrote them.
    """
    leader = history.current.leader if history.current is not None else None
    if leader is None or any(truncation.lineage.epoch_at(first) < 0 for first, _ in truncation.lineage.pieces(ranges)):
        return False
    held = holders(history, truncation.lineage, list(ranges))
    later = {
        broker: disk.lineage.entries[-1][0] for broker, disk in history.facts.disks.items() if disk.lineage.entries
    }
    return all(
        list(held.get(broker, ())) == list(ranges) and later.get(broker, UNKNOWN) >= truncation.epoch
        for broker in {truncation.replica, leader}
    )


def _still_had(history: History, truncation: Truncation) -> str:
    """Return what became of records that the leader of a truncation had, in words.

    A trace that states each append may state none of them again.
    """
    stated = history.played.truncated if history.played is not None else ()
    again = all(one.again for one in stated if one.ref.row == truncation.refs[0].row)
    return f"broker {truncation.leader} still had them{', and they were fetched again' if again else ''}"


def _gone(history: History, truncation: Truncation) -> list[Range]:
    """Return which records of the truncated log are lost: records of another log may be lost at the same offsets."""
    return [
        piece
        for loss in losses(history)[0]
        for first, end in loss.ranges
        for piece in subtract(
            [(first, end)], itertools.chain(*differences(loss.lineage, truncation.lineage, first, end))
        )
    ]


def _facts(
    history: History, truncation: Truncation, known: Sequence[Fact], without: Loss | None, lost: Sequence[Range]
) -> tuple[Fact, ...]:
    """The facts in order: a leader without the records began before this truncation of its follower, or after it."""
    cut = (truncation_fact(truncation), *repeats_facts(history, truncation))
    if without is None:
        return (*known, *cut)
    leads = leader_fact(without.epoch, tuple(lost))
    steps = (*cut, leads) if truncation.epoch < without.epoch.epoch else (leads, *cut)
    return (*known, *steps)


def _finding(
    history: History,
    truncation: Truncation,
    ranges: tuple[Range, ...],
    statements: tuple[HwStatement, ...],
    gone: list[Range],
    read_back_alone: bool,
) -> Finding:
    statement, lost = statements[0], intersect(ranges, gone)
    without = next((loss for loss in losses(history)[0] if lost and intersect(loss.ranges, lost)), None)
    times = times_stated(history, truncation)
    again = f" (logged {times:,} times)" if times > 1 else ""
    leader = f"broker {truncation.leader}"
    missed = subtract(ranges, refetched(history, truncation, ranges)[0])
    had = not missed
    begun = history.epochs[truncation.epoch].begins.low if truncation.epoch in history.epochs else 0
    beyond = intersect(
        intersect(missed, losses(history)[1]), [(begun, truncation.end)]
    )  # the leader began without them
    back = not lost and _there_again(history, truncation, ranges)
    settled = back or (not possible_losses(history) and not history.epoch_rollbacks and not beyond)
    bounded = _bounded(truncation)
    weak = {
        Weakness.END_BOUNDED: bounded,
        Weakness.HIGH_WATERMARK_IMPLIED: statement.implied,
        # In the process before, the follower may have taken over a high watermark too early (KAFKA-14704).
        Weakness.NOT_KNOWN_AS_COMMITTED: read_back_alone,
        Weakness.MAYBE_DELETED: may_be_deleted(history, truncation.lineage, ranges, truncation.epoch),
    }
    written = truncation.lineage.epoch_at(ranges[0][0])
    if lost:
        outcome = "the partition has lost them"
    elif back:
        outcome = "the broker has them again"
    elif settled:
        outcome = _still_had(history, truncation) if had else "the partition kept them"
    elif had:
        outcome = f"{leader} still had them then; whether the partition kept them is unknown"
    else:
        outcome = "whether the partition kept them is unknown"
    epoch = history.epochs.get(truncation.epoch)
    to_hw = truncation.reason is TruncationReason.HIGH_WATERMARK
    cause = CauseId.HW_TRUNCATION if to_hw else CauseId.UNKNOWN
    if cause is CauseId.UNKNOWN and epoch is not None and not had:
        cause = loss_cause(history, epoch, ranges[0][0], statement.epoch)
    if cause is CauseId.UNKNOWN and without is not None:  # its leader had followed one without them
        cause = loss_cause(history, without.epoch, lost[0][0], statement.epoch)
    return Finding(
        rule=ID,
        # Every follower truncates to its high watermark here; without evidence of a loss it is not reported as one.
        severity=Severity.CRITICAL
        if lost
        else Severity.WARNING
        if settled or truncation.reason is TruncationReason.HIGH_WATERMARK
        else Severity.ERROR,
        weak=weak_points(weak),
        **place(history),
        replicas=(truncation.replica,),
        epochs=tuple(sorted({e for e in (written, truncation.epoch) if e >= 0})),
        offsets=ranges,
        records=(size(ranges), size(ranges)),
        summary=(
            f"broker {truncation.replica} truncated committed {offsets_text(ranges)} ({count_text(ranges)}) from "
            f"its log in {epoch_text(truncation.epoch)}{again}: {outcome}"
        ),
        facts=_facts(history, truncation, committed_facts(statements, ranges[-1][1]), without, lost),
        before={"log_end_offset": truncation.end},
        after={"log_end_offset": truncation.target},
        inferences=(*held_texts(truncation), *_below_answer(truncation)),
        rests_on=joined(statement.by, truncation.by),
        uncertain=_why_below_answer(truncation),
        not_because=(
            "the leader epochs show that the removed records are the committed ones, not others at the same offsets",
        ),
        cause=cause,
        **advised(
            history.name,
            next_steps=(
                *([_where_to_read(history, lost)] if lost else [] if settled else [_before(history)]),
                *_what_tells(history, truncation),
            ),
        ),
        count=times,
    )


def _is_below_answer(truncation: Truncation) -> bool:
    """Return whether a replica truncated to less than its leader had answered."""
    return truncation.answer is not None and truncation.target < truncation.answer.end


def _below_answer(truncation: Truncation) -> tuple[str, ...]:
    """Return why a replica truncates below its leader's answer."""
    answer = truncation.answer
    if answer is None or not _is_below_answer(truncation):
        return ()
    return (
        (
            f"a follower truncates to the smaller of two ends of leader epoch {answer.epoch}: {answer.end} in its "
            f"leader's answer, {truncation.target} by its own leader-epoch-checkpoint (KIP-279)"
        ),
    )


def _why_below_answer(truncation: Truncation) -> tuple[str, ...]:
    """Return the two possible causes of a truncation below the leader's answer."""
    answer = truncation.answer
    if answer is None or not _is_below_answer(truncation):
        return ()
    replica, target = truncation.replica, truncation.target
    return (
        (
            f"the leader-epoch-checkpoint of broker {replica} may be wrong: leader epoch {answer.epoch} did not end at "
            f"{target} there"
        ),
        (
            f"broker {replica} may have had records of a later leader epoch from offset {target} on, which "
            f"{_leader_of(truncation)} does not have"
        ),
    )


def _what_tells(history: History, truncation: Truncation) -> tuple[str, ...]:
    """Return what would show which of the two possible causes it was."""
    if not _is_below_answer(truncation):
        return ()
    target = truncation.target
    return (
        (
            f"find an older copy of {HERE} of broker {truncation.replica}: its batches from offset {target} on "
            "name their leader epoch, and leader-epoch-checkpoint may name another"
        ),
        (
            f"read the leader epochs from offset {target} on in the segments of {_leader_of(truncation)} and of the "
            "other replicas: forensics inspect shows them"
        ),
    )


def _leader_of(truncation: Truncation) -> str:
    """Return the leader that a replica followed, in words."""
    return f"broker {truncation.leader}" if truncation.leader is not None else "its leader"


def _bounded(truncation: Truncation) -> bool:
    """Return whether only the protocol bounds the log end offset: a stated high watermark of its own would do so
    too.
    """
    return not truncation.end_exact and truncation.own_hw is None


def _vanished(history: History) -> list[Want]:
    """Return what would show whether replicas truncated records that they may have held, without a line about it."""
    return [
        Want(Question.HELD_BEYOND, (of([broker], *BOTH_LOGS),), offsets=from_offset(offset))
        for broker, offset in sorted(vanished_tails(history).items())
    ]


def _before(history: History) -> str:
    """Return what to do while it is unknown whether the records are lost."""
    return (
        f"copy the directory {HERE} of every replica to another disk before any broker is started again. Then collect "
        "the missing evidence"
    )


def _where_to_read(history: History, lost: list[Range]) -> str:
    """Return which finding describes the lost records, and whether a copy of them is left."""
    held = any(
        loss.holders or left_behind(history, loss.lineage, loss.ranges)
        for loss in losses(history)[0]
        if intersect(loss.ranges, lost)
    )
    copy = "it names the copy to keep" if held else "no copy in the evidence still has the records"
    return f"read the finding committed-data-lost of {HERE}: {copy}"


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="A replica truncated records from its log that were committed.",
    help=HELP,
)
