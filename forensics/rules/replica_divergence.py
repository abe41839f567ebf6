"""Two replicas hold different records at the same committed offsets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from forensics.case import Case
from forensics.replay.committed.proof import committed, possible_losses
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import Fork
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.lineage import Range, intersect, size, subtract
from forensics.replay.omissions.last_leader import last_leader
from forensics.replay.played import Apart
from forensics.replay.roles.steps import RoleSpan, StepKind
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
    count_text,
    judgement,
    offsets_text,
    place,
    span_text,
)
from forensics.rules.story import fork_cause, missing_data, replicas_not_named
from forensics.rules.wants import Artefact, Question, Reason, Shows, Want, of, offsets_of
from parsers.schema import DamageKind

ID = "replica-divergence"

HELP = Help(
    finds=(
        """\
The segments of two replicas hold different records at the same offsets. The records have
different leader epochs, or batches of equal offsets have different checksums. The offsets are
below the high watermark of both replicas.""",
    ),
    matters=(
        """\
Consumers read one record or the other, depending on which replica leads. At least one of the
two records was committed, and some consumers cannot read it.""",
        """\
Kafka does not notice this: a follower compares offsets or leader epochs only at the end of its
log.""",
    ),
    evidence=(
        """\
The record batch headers of both replicas show the first and last offset, the leader epoch
(message format v2) and the checksum. A follower appends the batches of its leader unchanged, so
batches with equal offsets must be equal.""",
        """\
With one copy the answer is unknown, unless the evidence shows that the partition had only one
replica.""",
    ),
    not_when=(
        """\
One replica has no batch at these offsets: compaction, retention, delete-records, or it has not
caught up. Compaction rewrote a batch of the same leader epoch. The offsets are above the high
watermark of one replica: an old leader truncates such records when it follows the new leader.""",
        """\
A batch is damaged: ``segment-damage`` reports it. It cannot be compared, so the answer is unknown.""",
    ),
    versions=(
        """\
Mostly before 0.11, where a former leader keeps uncommitted records when it returns (KIP-101).
In later versions only if leader epoch files are lost.""",
    ),
    to_do=(
        """\
Keep both copies. The finding names the replica that has the record that was committed first:
producers received an acknowledgement for that one.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Judge the differences between the replicas' segments."""
    groups: dict[tuple[Range, ...], list[Fork]] = {}
    unclear: list[Want] = []
    for fork in history.facts.forks:
        bounds = {broker: _bound(history, broker) for broker in (fork.left, fork.right)}
        unknown = [broker for broker, hw in bounds.items() if hw is None]
        if unknown:
            ways = (of(unknown, Artefact.HW_CHECKPOINT),)
            unclear.append(Want(Question.HIGH_WATERMARK, ways, offsets=offsets_of(fork.ranges)))
            continue
        known = {broker: hw for broker, hw in bounds.items() if hw is not None}
        both, either = min(known.values()), max(known.values())
        inside = tuple(intersect(fork.ranges, [(0, both)]))
        end = fork.ranges[-1][1]
        unsure = [b for b, hw in known.items() if history.replicas[b].checkpoint is None and hw < end]
        if history.current is not None and subtract(intersect(fork.ranges, [(0, either)]), inside):
            # Records that the last leader wrote since its checkpoint, up to 5 s ago, may be committed too.
            unsure += [b for b, hw in known.items() if b == history.current.leader and hw < end and b not in unsure]
        if unsure and subtract(fork.ranges, inside):
            ways = (of(unsure, Artefact.HW_CHECKPOINT),)
            unclear.append(Want(Question.HIGH_WATERMARK_REACHED, ways, offsets=offsets_of(fork.ranges)))
        unclear += _undecided(history, fork, inside)
        if inside:
            groups.setdefault(inside, []).append(fork)
    findings = tuple(
        _finding(history, case, ranges, alike)
        for ranges, forks in sorted(groups.items())
        for alike in _between_two(history, ranges, forks)
    )
    missing = [*unclear, *_cut_short(history), *_damaged(history), *missing_data(history, case)]
    return judgement(ID, findings, missing or replicas_not_named(history))


def _by_trace(history: History, case: Case, apart: Sequence[Apart]) -> Judgement:
    """Judge which sides have different committed records, by the appends of a complete trace."""
    groups: dict[tuple[Range, ...], list[Fork]] = {}
    for one in apart:
        left, right = ((p.first, p.end - 1, p.writer[0]) for p in (one.left_piece, one.right_piece))
        fork = Fork(one.left, one.right, one.ranges, one.left_ref, one.right_ref, left, right)
        groups.setdefault(one.ranges, []).append(fork)
    findings = [
        _finding(history, case, ranges, alike)
        for ranges, forks in sorted(groups.items())
        for alike in ([forks] if _are_two_sides(forks) else [[fork] for fork in forks])
    ]
    return judgement(ID, findings, [])


def _are_two_sides(forks: list[Fork]) -> bool:
    """Return whether the brokers form two groups, each of which has the same records."""
    sides = _sides(forks)
    return all(sides[fork.left] != sides[fork.right] for fork in forks)


def _between_two(history: History, ranges: tuple[Range, ...], forks: list[Fork]) -> list[list[Fork]]:
    """Group the differences at some offsets into two sides; if there are three logs, keep each difference separate."""
    sides = _sides(forks)
    for one, two in itertools.combinations(sorted(sides), 2):
        if sides[one] == sides[two] and intersect(history.facts.diverging_ranges(one, two), ranges):
            return [[fork] for fork in forks]
    return [forks]


def _cut_short(history: History) -> list[Want]:
    """Return a want for replicas whose segments end below their checkpoint, torn or empty: the rest cannot be
    compared.
    """
    return [
        Want(
            Question.UNTORN_SEGMENTS,
            (of([broker], Artefact.SEGMENTS),),
            offsets=((replica.end, replica.checkpoint[0]),),
        )
        for broker, replica in sorted(history.replicas.items())
        if replica.on_disk and replica.end is not None and replica.checkpoint is not None
        if replica.end < replica.checkpoint[0]
        if history.facts.disks[broker].damage
        or history.facts.disks[broker].bases[-1:] == (replica.end,)  # its last file is empty
    ]


_UNREADABLE = frozenset(
    {
        DamageKind.BAD_CRC,
        DamageKind.BAD_LENGTH,
        DamageKind.BAD_MAGIC,
        DamageKind.BAD_HEADER,
        DamageKind.BAD_WRAPPER,
    }
)
"""Kinds of damage behind which a replica's records are not those of its leader, or cannot be read."""


def _damaged(history: History) -> list[Want]:
    """Return a want for replicas with damaged batches: these cannot be compared with those of other replicas."""
    found = []
    for broker, disk in sorted(history.facts.disks.items()):
        worst = next((damage for damage in disk.damage if damage.kind in _UNREADABLE), None)
        others = any(other.end is not None for number, other in history.facts.disks.items() if number != broker)
        if worst is not None and others:
            because = Reason(Shows.DAMAGE, worst.kind.value, worst.text)
            found.append(Want(Question.SAME_RECORDS, (of([broker], Artefact.SEGMENTS),), because=because))
    return found


def _undecided(history: History, fork: Fork, inside: tuple[Range, ...]) -> list[Want]:
    """Return a want if one side may have been committed without a high watermark in the evidence.

    Batches without a leader epoch (message formats v0 and v1) may be of any.
    """
    rest = subtract(fork.ranges, inside)
    epochs = {fork.left_batch[2], fork.right_batch[2]}
    return [
        Want(
            Question.COMMITTED_APART,
            (of([possible_loss.before.leader], Artefact.SERVER_LOG, Artefact.HW_CHECKPOINT),),
            offsets=offsets_of(rest),
            epochs=((possible_loss.before.epoch, possible_loss.before.leader),),
        )
        for possible_loss in possible_losses(history)
        if (None in epochs or possible_loss.before.epoch in epochs)
        and any(possible_loss.end is None or first < possible_loss.end for first, _ in rest)
    ][:1]


def _bound(history: History, broker: int) -> int | None:
    """Return how far a replica's records are known to be committed, or None.

    The bound is its own high watermark, or that of another replica with the same records (a follower's own is one fetch
    behind).
    """
    own, end = _stated(history, broker), history.replicas[broker].end
    bounds = [own] if own is not None else []
    for one, two in sorted(history.facts.compared) if end is not None else ():
        if broker not in (one, two):
            continue
        other = two if broker == one else one
        theirs, until = _stated(history, other), history.replicas[other].end
        if theirs is None or end is None or until is None:
            continue
        apart = (first for first, _ in history.facts.diverging_ranges(one, two))
        bounds.append(min(theirs, end, until, *apart))  # beyond its end nothing was compared
    replica = history.replicas[broker]
    if bounds and end is not None and not history.truncates_to_hw:
        # What a leader committed without it, though it holds the records of that log.
        proven = committed(history, replica.lineage, replica.log_start, end).ranges
        bounds += [stop for first, stop in proven[:1] if first == replica.log_start]
    return max(bounds, default=None)


def _stated(history: History, broker: int) -> int | None:
    """Return the replica's high watermark: its checkpoint, or the highest it stated of the log that it has."""
    replica = history.replicas[broker]
    stated = [_of_what_is_left(history, s) for s in history.statements if s.replica == broker]
    if replica.checkpoint is not None:
        stated.append(replica.checkpoint[0])
    return max(stated, default=None)


def _of_what_is_left(history: History, statement: HwStatement) -> int:
    """Return a replica's high watermark, within what its next processes found.

    A process begins with the high watermark of the checkpoint file, and with no higher one than its log has records.
    """
    if not statement.refs or statement.how is HwSource.CHECKPOINT:
        return statement.high_watermark
    row = statement.refs[0].row or 0
    later = (value for at, value in _found_by_processes(history.role_spans.get(statement.replica, ())) if at > row)
    return min((statement.high_watermark, *later))


def _found_by_processes(spans: Sequence[RoleSpan]) -> Iterator[tuple[int, int]]:
    """Yield each log end offset and high watermark with which a process of a replica began, with its row."""
    for one, two in itertools.zip_longest(spans, spans[1:]):
        for step in one.steps:
            if step.kind in (StepKind.LOADED, StepKind.CREATED):
                yield step.refs[0].row or 0, step.target
        if two is not None and two.run != one.run and two.start_hw is not None:
            yield two.start_hw.ref.row or 0, two.start_hw.value


def _finding(history: History, case: Case, ranges: tuple[Range, ...], forks: list[Fork]) -> Finding:
    leader = last_leader(history, case.with_data)
    sides = _sides(forks)
    odd = tuple(sorted(broker for broker, side in sides.items() if side == 1))
    even = tuple(sorted(broker for broker, side in sides.items() if side == 0))
    if leader in odd:
        odd, even = even, odd
    facts = []
    for broker in sorted(sides):
        fork = next(f for f in forks if broker in (f.left, f.right))
        base, last, epoch = fork.left_batch if broker == fork.left else fork.right_batch
        ref: Ref = fork.left_ref if broker == fork.left else fork.right_ref
        dated = f" of leader epoch {epoch}" if epoch is not None and epoch >= 0 else ""
        where = offsets_text([(base, last + 1)])
        facts.append(Fact(f"has a different record batch at {where}{dated}", broker=broker, refs=(ref,)))
    follows = (
        f". {brokers_text(even).capitalize()} {'has' if len(even) == 1 else 'have'} the records of the current leader"
        if leader in even
        else ""
    )
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        **place(history),
        replicas=tuple(sorted(sides)),
        epochs=tuple(
            sorted({e for f in forks for e in (f.left_batch[2], f.right_batch[2]) if e is not None and e >= 0})
        ),
        offsets=ranges,
        records=(size(ranges), size(ranges)),
        summary=(
            f"{brokers_text(odd)} has other records than {brokers_text(even)} at committed offsets "
            f"{span_text(ranges)} ({count_text(ranges)}){follows}"
            if len(odd) == 1
            else f"{brokers_text(odd)} have other records than {brokers_text(even)} at committed offsets "
            f"{span_text(ranges)} ({count_text(ranges)}){follows}"
        ),
        facts=tuple(facts),
        not_because=(
            "both replicas have an undamaged batch there, below the high watermark of both"
            if history.played is None
            else "the trace states every append: both replicas have a record there, committed in its own log",
        ),
        cause=fork_cause(history, ranges),
        **advised(
            history.name,
            keep=f"both versions of {HERE}: {brokers_text(odd)}, and {brokers_text(even)}",
            next_steps=(
                f"copy the directory of {HERE} from each of {brokers_text(tuple(sorted(sides)))} before any restart",
            ),
            do_not=(
                (
                    "delete one copy to make the replicas equal: it may be the only one with records that were "
                    "acknowledged to producers"
                ),
            ),
        ),
    )


def _sides(forks: list[Fork]) -> dict[int, int]:
    """Two-colour the brokers: those on one side of every difference, and those on the other."""
    sides: dict[int, int] = {}
    for fork in forks:
        if fork.left in sides:
            sides.setdefault(fork.right, 1 - sides[fork.left])
        elif fork.right in sides:
            sides[fork.left] = 1 - sides[fork.right]
        else:
            sides[fork.left], sides[fork.right] = 0, 1
    return sides


def _by_files_or_trace(history: History, case: Case) -> Judgement:
    """Judge the replicas' segments, or what a complete trace states of their records."""
    return judge(history, case) if history.played is None else _by_trace(history, case, history.played.apart)


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=_by_files_or_trace,
    summary="Two replicas hold different records at the same committed offsets.",
    help=HELP,
    about_records=True,
)
