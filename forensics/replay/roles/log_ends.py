"""How long a replica's log was, at each moment that replay asks about.

``log_end`` answers for the end of a replica's part in a leader epoch, and ``reached_end`` for the whole of that part.
``left_end`` answers for what one role left to the next, and ``next_end`` for the time until the log changed again.
``shortened_to`` answers how far removals went. What others state bounds a log from below too: see
``truncations.held_ends``.

A log end offset that a line states is exact. Between two such lines a log only grows, unless a line shows a removal
(``Log.truncateTo``, a load, a new log). So the next exact log end offset, if nothing was removed before it, is the most
that the log held. That no line shows a removal is a conclusion from absent lines, so the coverage has to allow it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from forensics.replay.coverage import Span
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History, Role, once
from forensics.replay.interval import Interval
from forensics.replay.roles.steps import REMOVES, RoleSpan, Sample, Step, StepKind


def log_end(history: History, broker: int | None, epoch: int) -> Interval:
    """Return how long a replica's log was when its part in a leader epoch ended: before anything was removed from it.

    There is no upper bound in four cases. Lines of the replica are missing. A crash may have taken the end of the log.
    The next process began with another, empty log. The broker may have crashed and stayed down.
    """
    if broker is None or not (after := _from_its_end(history, broker, epoch)):
        return Interval()
    for position, one in enumerate(after):
        if position and one.start_end is not None:
            return _bound(one.start_end, one.start_ref, grown=position > 1)
        if one.steps:
            step = one.steps[0]
            whole = passed_on_whole(history, broker, step)
            return _bound(step.target if whole else step.end, *step.refs, grown=position > 0)
        if one.run != after[min(position + 1, len(after) - 1)].run:
            return Interval()  # no load line: the next process began with another, empty log
    return Interval() if _may_have_crashed(history, after[-1]) else _by_files(history, broker, grown=len(after) > 1)


def follower_end(history: History, role_span: RoleSpan | None) -> int | None:
    """Return the most that a follower's log can have held when its role ended; None if unknown, or for another role.

    A follower has what it began with, and fetches only what its leader has.
    """
    if role_span is None or role_span.role is not Role.FOLLOWER:
        return None
    epoch = history.epochs.get(role_span.epoch)
    end = log_end(history, epoch.leader, epoch.epoch).high if epoch is not None else None
    return max(end, role_span.start_low) if end is not None else None


def reached_end(history: History, broker: int | None, epoch: int) -> Interval:
    """Return the greatest log end offset that a replica had in a leader epoch.

    It is exact if a trace claims to state each change of the replica.
    """
    spans = history.role_spans.get(broker, ()) if broker is not None else ()
    most = max((one.end_low for one in spans if one.epoch == epoch), default=None)
    if most is None:
        return Interval()
    return Interval.at(most) if broker in history.coverage.claimed else Interval(most)


def left_end(role_span: RoleSpan, after: RoleSpan | None) -> Sample | None:
    """Return the log end offset that a role left, with its line. The next load of the log states it, or the next role.

    None if no line states it.
    """
    for load in role_span.loads:
        return Sample(load.target, load.refs[0], load.time)
    if after is None or after.start_end is None or after.start_ref is None:
        return None
    return Sample(after.start_end, after.start_ref, after.time)


def next_end(history: History, broker: int, epoch: int) -> Interval:
    """Return how long a replica's log was after its part in a leader epoch, until it changed in a later one: the upper
    bound is the lowest log end offset that lines state of that time.
    """
    spans = history.role_spans.get(broker, ())
    found = [step.target for role_span in spans if role_span.epoch == epoch for step in role_span.steps]
    after = next((role_span for role_span in spans if role_span.epoch > epoch), None)
    if after is not None:
        found += [end for end in (after.start_end, *(step.end for step in after.steps[:1])) if end is not None]
    return Interval(high=min(found)) if found else Interval()


def shortened_to(history: History, spans: Iterable[RoleSpan], until: int | None = None) -> int | None:
    """Return the lowest offset to which a log was shortened while its broker ran, in some roles; None if it was not.

    It is 0 if lines of these roles are missing: a removal that no line shows may have removed all.

    Args:
        history: the partition.
        spans: the roles, of one replica.
        until: row of a line of the replica; only removals before it count. None for all.
    """
    asked = [*spans]
    if not all(map(history.log_lines_complete, asked)):
        return 0
    removals = (step for role_span in asked for step in role_span.steps if step.kind in REMOVES)
    return min((s.target for s in removals if until is None or (s.refs[0].row or 0) < until), default=None)


def _from_its_end(history: History, broker: int, epoch: int) -> Sequence[RoleSpan]:
    """Return a replica's role spans from its last one in an epoch on; none if its lines do not show its log there."""
    spans = history.role_spans.get(broker, [])
    here = _places_by_epoch(history).get((broker, epoch), ())
    return spans[here[-1] :] if here and history.coverage.whole(broker) and ended_whole(history, broker, here) else ()


@once
def _places_by_epoch(history: History) -> dict[tuple[int, int], list[int]]:
    """Return the positions of role spans among those of their replica, by replica and leader epoch."""
    found: dict[tuple[int, int], list[int]] = {}
    for broker, spans in history.role_spans.items():
        for position, one in enumerate(spans):
            found.setdefault((broker, one.epoch), []).append(position)
    return found


def _bound(end: int | None, *because: Ref | None, grown: bool) -> Interval:
    """Return the interval below a later log end offset; the same value if the log cannot have grown since."""
    if end is None:
        return Interval()
    there = tuple(ref for ref in because if ref is not None)
    return Interval(0 if grown else end, end, there)


def _may_have_crashed(history: History, last: RoleSpan) -> bool:
    """Return whether a broker may have crashed in its last role, so that its files lack what was not flushed.

    Its log does not show that it shut down, and a later leader was elected without it.
    """
    later = history.epochs.after(last.epoch)
    return last.shut_down is None and any(epoch.leader not in (None, -1, last.replica) for epoch in later)


def _by_files(history: History, broker: int, *, grown: bool) -> Interval:
    """The same of a replica whose files are the next that shows it.

    The last segment may be missing from a copy. Or the log was shortened after the last line in the evidence.
    """
    replica, copy = history.replicas[broker], history.copies.get(broker)
    if (copy is not None and copy.end is False) or not history.coverage.whole(broker, Span.AFTER):
        return Interval()
    return _bound(replica.end, *replica.end_refs, grown=grown)


def may_have_lost_end(step: Step) -> bool:
    """Return whether a process may have loaded less than its log had: after a crash, or in an older directory.

    Log recovery truncates at the first corrupt batch and deletes all segments behind it (LogLoader.recoverSegment).
    """
    return (step.kind is StepKind.LOADED and step.may_lack_end) or step.kind is StepKind.RECOVERY_TRUNCATED


def passed_on_whole(history: History, broker: int, step: Step) -> bool:
    """Return whether a process loaded all of the log that the process before had left.

    A clean stop alone does not show that: another directory may be in the place of the one that was left. Then what
    other replicas have of the log may show that it was longer.
    """
    shorter = (one for one in history.shortened_logs if one.replica == broker and one.end > one.target)
    return step.found_all and not any(one.refs[:1] == step.refs[:1] for one in shorter)


def ended_whole(history: History, broker: int, here: Sequence[int]) -> bool:
    """Return whether every process in an epoch, except the last, passed its whole log on to the next process.

    A leader may crash and restart within its epoch, before its ZooKeeper session expires. The log that the next process
    finds does not show how long the log was before the crash.

    Args:
        history: the partition.
        broker: the replica.
        here: positions of its role spans that are in the epoch.
    """
    spans = history.role_spans.get(broker, [])
    ended = [one for one, two in itertools.pairwise(here) if spans[one].run != spans[two].run]
    return all(bool(spans[one].steps) and passed_on_whole(history, broker, spans[one].steps[0]) for one in ended)
