"""Signs that a replica truncated its log below a high watermark that its own broker had stated.

The high watermark may be one of the same role, or one that a line prints by itself, even where no line names the role.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from forensics.replay.committed.all_committed import has_all_committed
from forensics.replay.facts.deletions import log_start_at
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.printed_hws import PrintedHw
from forensics.replay.history import History, TruncationReason, once
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from forensics.replay.signs.sign import Sign, Suspicion
from parsers.schema import Kind

_SECOND = 1_000_000
"""Microseconds."""


def truncated_below_own(history: History) -> Iterator[Suspicion]:
    """Yield followers that truncate below a high watermark that they printed or read back in the same role, even where
    no line names the role.

    What their leader had deleted from the beginning of the log before is not at stake. Nor is what a leader with all
    committed records lacked, see ``_removes_nothing_committed``.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for role_span in spans:
            known = highest_stated(role_span)
            step = _truncation_below(role_span, known) if known is not None else None
            if known is None or step is None or _removes_nothing_committed(history, role_span, step):
                continue
            first = max(step.target, log_start_at(history.facts.log_starts, broker, known.ref.row))
            if first < known.value:
                yield Suspicion(
                    Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK, broker, broker, role_span.epoch, -1,
                    first, known.value, step.time, tuple(dict.fromkeys((known.ref, *step.refs))), target=step.target,
                )  # fmt: skip


def _truncation_below(role_span: RoleSpan, known: Sample) -> Step | None:
    """Return the first truncation of a role below a high watermark that was stated before it."""
    below = (step for step in role_span.steps if step.kind is StepKind.TRUNCATED and step.target < known.value)
    before = (step for step in below if (known.ref.row or 0) <= (step.refs[-1].row or 0))
    return next((step for step in before if not _set_back(known.time, step)), None)


def _set_back(stated: int | None, step: Step) -> bool:
    """Return whether a truncation has an earlier time than the high watermark that was stated before it.

    The clock was set back, so the two may be in another order if they are lines of two files.

    Args:
        stated: when, in microseconds since 1970 UTC, or None.
        step: the truncation.
    """
    return stated is not None and step.time is not None and step.time < stated


def _removes_nothing_committed(history: History, role_span: RoleSpan, step: Step) -> bool:
    """Return whether a truncation only removes what its leader never had, and that leader had all committed records.

    Then the high watermark was its leader's, which a follower may adopt before it truncates (KAFKA-14704). That holds
    for the first truncation of a role, to the start of the leader's epoch or above. The leader's lines must be whole,
    and those of each leader before: ``has_all_committed`` asks that. If it does not decide, this is False.
    """
    epoch = history.epochs.get(role_span.epoch)
    first = role_span.steps[0] if role_span.steps else None
    if epoch is None or epoch.start is None or first is not step or not history.coverage.whole(epoch.leader):
        return False
    led = [one for one in history.epochs.before(epoch.epoch + 1) if one.leader not in (None, -1)]
    had = all(has_all_committed(history, *two) for two in itertools.pairwise(led))
    return had and len(led) > 1 and role_span.replica != epoch.leader and step.target >= epoch.start


def highest_stated(role_span: RoleSpan) -> Sample | None:
    """The highest high watermark that a replica printed or read back in a role."""
    stated = (role_span.hw, role_span.start_hw, role_span.read_back)
    return max((one for one in stated if one is not None), key=lambda sample: sample.value, default=None)


@once
def truncated_below_printed(history: History) -> Sequence[Suspicion]:
    """Return replicas that truncate below a high watermark that their broker printed, in whatever role.

    One line may state both (ReplicaFetcherThread.truncate, 2.0 to 2.3; UnifiedLog, from 4.2 on), or the high watermark
    fell with the truncation.
    """
    below = [
        _truncated(history, one, value, one.offset, None)
        for one, value in printed(history)
        if one.kind == Kind.TRUNCATE_BELOW_HW and one.offset is not None and one.offset < value
    ]
    since = (found for _, spans in sorted(history.role_spans.items()) for found in _truncated_since(history, spans))
    return (*below, *since, *_planned_below(history))


def _planned_below(history: History) -> Iterator[Suspicion]:
    """Yield truncations by leader epoch below a high watermark that the same process printed, where the line about the
    log itself is missing. A truncation "has no effect" if the log had already ended below.
    """
    processes: dict[tuple[int, int], list[PrintedHw]] = {}
    for one in history.facts.printed_hws:
        processes.setdefault((one.broker, one.run), []).append(one)
    for (broker, _), lines in processes.items():
        carried_out = {step.target for span in history.role_spans.get(broker, ()) for step in span.steps}
        plans = [at for at, one in enumerate(lines) if one.kind == Kind.TRUNCATE_PLAN and one.offset is not None]
        for before, at in itertools.pairwise((-1, *plans)):
            if lines[at].offset not in carried_out:  # else the line about the log itself is judged
                yield from _planned(history, lines[at], lines[before + 1 : at], lines[at + 1 :])


def _planned(
    history: History, plan: PrintedHw, before: Sequence[PrintedHw], after: Sequence[PrintedHw]
) -> Iterator[Suspicion]:
    """Yield the suspicion of a planned truncation, if its process printed a higher high watermark since the one before,
    or one that fell with it.

    Args:
        history: the partition.
        plan: line about the truncation.
        before: lines of the process since its last plan.
        after: its later lines.
    """
    target = plan.offset if plan.offset is not None else -1
    step = Step(StepKind.TRUNCATED, target, None, 0, None, plan.time, (Ref(row=plan.row),))
    found = [(one, one.value) for one in before if one.value is not None]
    known = _highest(*found, _fell_with(history, plan.broker, step))
    in_vain = any(one.kind == Kind.TRUNCATE_NOOP and one.offset == target for one in after)
    if known is not None and plan.value is None and target < known[1] and not in_vain:
        yield _truncated(history, *known, target, step)


def _truncated_since(history: History, spans: Sequence[RoleSpan]) -> Iterator[Suspicion]:
    """Yield truncations of one replica below a high watermark printed since its log was last changed."""
    since = -1
    for role_span, step in ((span, step) for span in spans for step in span.steps):
        until = step.refs[-1].row or 0
        known = _stated_before(history, role_span, step, since) if _by_epoch(step) else None
        below = known is not None and step.target < known[1]
        if known is not None and below and not _removes_nothing_committed(history, role_span, step):
            yield _truncated(history, *known, step.target, step, role_span.epoch)
        since = until


def _stated_before(history: History, role_span: RoleSpan, step: Step, since: int) -> tuple[PrintedHw, int] | None:
    """Return the highest high watermark that a process printed since a row and before it truncated, and its line."""
    before = _highest_printed(history, role_span, since, step)
    return _highest(before, None if _adopted(role_span, step) else _fell_with(history, role_span.replica, step))


def _adopted(role_span: RoleSpan, step: Step) -> bool:
    """Return whether a high watermark that fell with a truncation is one that the follower adopted in the same role.

    Its role began with no more than it was truncated to, and this is the first truncation of that role. A follower may
    adopt its leader's high watermark before it truncates, for records that only the leader has (KAFKA-14704).
    """
    start = role_span.start_hw
    return start is not None and start.value <= step.target and role_span.steps[:1] == [step]


def _by_epoch(step: Step) -> bool:
    """Return whether a step may be a truncation to the end of the leader's log.

    Before KIP-101 a follower truncates to its own high watermark, which it may have read back from an old checkpoint.
    """
    return step.kind is StepKind.TRUNCATED and step.reason is not TruncationReason.HIGH_WATERMARK


def _highest_printed(history: History, role_span: RoleSpan, since: int, step: Step) -> tuple[PrintedHw, int] | None:
    """Return the highest high watermark that the process of a role printed between a row and a truncation, and its
    line.
    """
    until = step.refs[-1].row or 0
    lines = _printed_by(history).get(role_span.replica, [])
    between = lines[bisect_right(lines, since, key=_row) : bisect_left(lines, until, key=_row)]
    own = (one for one in between if one[0].run == role_span.run and one[0].kind != Kind.HW_REGRESSED)
    return _highest(*(one for one in own if not _set_back(one[0].time, step)))


def _highest(*found: tuple[PrintedHw, int] | None) -> tuple[PrintedHw, int] | None:
    """Return the highest of some high watermarks, each with its line; None without any."""
    return max((one for one in found if one is not None), key=lambda one: one[1], default=None)


def _fell_with(history: History, broker: int, step: Step) -> tuple[PrintedHw, int] | None:
    """Return the line about a high watermark that fell to the target of a truncation in the same second, if any.

    Of lines without times it is the first one behind the truncation.
    """
    lines = _fell_by(history).get(broker, [])
    later = lines[bisect_right(lines, step.refs[-1].row or 0, key=_row) :]
    return next((one for one in later if one[0].after == step.target and _at_once(step, one[0])), None)


def _at_once(step: Step, later: PrintedHw) -> bool:
    if step.time is None or later.time is None:
        return step.time is later.time
    return later.time - step.time < _SECOND


def _truncated(
    history: History, known: PrintedHw, value: int, target: int, step: Step | None, epoch: int = -1
) -> Suspicion:
    """Return the suspicion of a truncation below a printed high watermark; no step if one line states both."""
    first = max(target, log_start_at(history.facts.log_starts, known.broker, known.row))
    ref = Ref(row=known.row, note=f"high watermark {value}")
    refs, time = (step.refs, step.time) if step is not None else ((ref,), known.time)
    return Suspicion(
        Sign.TRUNCATED_BELOW_PRINTED, known.broker, known.broker, epoch, -1, min(first, value), value, time,
        (ref, *refs), target=target,
    )  # fmt: skip


@once
def printed(history: History) -> Sequence[tuple[PrintedHw, int]]:
    """Return lines that print a high watermark, each with its value."""
    return tuple((one, one.value) for one in history.facts.printed_hws if one.value is not None)


@once
def _printed_by(history: History) -> dict[int, list[tuple[PrintedHw, int]]]:
    """Return the same by broker, in the order of the rows."""
    found: dict[int, list[tuple[PrintedHw, int]]] = {}
    for one, value in sorted(printed(history), key=_row):
        found.setdefault(one.broker, []).append((one, value))
    return found


@once
def _fell_by(history: History) -> dict[int, list[tuple[PrintedHw, int]]]:
    """Return those of them that fell."""
    return {
        broker: [one for one in lines if one[0].kind == Kind.HW_REGRESSED]
        for broker, lines in _printed_by(history).items()
    }


def _row(one: tuple[PrintedHw, int]) -> int:
    return one[0].row
