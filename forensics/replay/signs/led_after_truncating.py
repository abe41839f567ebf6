"""Signs that a member of the ISR truncated its log, and led before it fetched again: by its own high watermark, as
KIP-101 describes, or by log recovery.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from forensics.replay.committed.led_next import led_after, led_next
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History, Role, Truncation, TruncationReason, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind
from forensics.replay.signs.sign import Sign, Suspicion

_MAY_BE_OWN: Final = (TruncationReason.HIGH_WATERMARK, TruncationReason.UNKNOWN)


def led_after_truncating(history: History) -> Iterator[Suspicion]:
    """Yield members of the ISR that truncated to their own high watermark as followers, and led next.

    What they truncated may be committed.
    """
    for one in history.truncations:
        after = led_next(history, one)
        if after is None:
            continue
        first = max(one.target, after.begins.low)
        if first < one.end:
            refs = (*one.before.because[:1], *one.refs, *after.refs[:1])
            yield Suspicion(
                Sign.LED_AFTER_TRUNCATING, one.replica, one.replica, after.epoch, one.epoch, first, one.end, after.time,
                tuple(dict.fromkeys(refs)), target=one.target,
            )  # fmt: skip


def led_while_another_had_more(history: History) -> Iterator[Suspicion]:
    """Yield the same where no line names a leader epoch, or shows how long the log was before it was truncated, by what
    another replica then removed to follow it.
    """
    for one in history.truncated_then_led:
        yield Suspicion(
            Sign.LED_WHILE_ANOTHER_HAD_MORE, one.replica, one.other, -1, -1, one.target, one.end, one.time, one.refs,
            target=one.target,
        )  # fmt: skip
    judged = {(one.replica, one.epoch) for one in history.truncations if led_next(history, one) is not None}
    for cut in history.truncations:
        span, step = _truncated_before_it_led(history, cut) or (None, None)
        if span is None or step is None or (span.replica, span.epoch) in judged:
            continue  # else the length of its own log is known, and what it removed itself counts
        yield Suspicion(
            Sign.LED_WHILE_ANOTHER_HAD_MORE, span.replica, cut.replica, cut.epoch, span.epoch, step.target, cut.end,
            step.time, (*_loaded(history, cut), *step.refs), target=step.target, followed=cut.refs,
        )  # fmt: skip


def _truncated_before_it_led(history: History, one: Truncation) -> tuple[RoleSpan, Step] | None:
    """Return where the leader that a replica truncated to follow had truncated as a member of the ISR, just before it
    led: to its own high watermark, or where nothing shows to what, below the end of that replica's log.

    A replica that truncated less far may have done so because the leader had fetched its records again. It had if its
    log reached that end when it began to lead.
    """
    for span, step in _steps_before(history, one):
        may_be_own = step.kind is StepKind.TRUNCATED and step.reason in _MAY_BE_OWN
        if may_be_own and step.time is not None and one.target <= step.target < one.end:
            after = led_after(history, span.replica, span.epoch, step.time)
            lacked = after is not None and after.time is not None and after.begins.low < one.end
            if lacked and not _to_its_leaders_start(history, span, step):
                return span, step
    return None


def _to_its_leaders_start(history: History, span: RoleSpan, step: Step) -> bool:
    """Return whether a follower truncated to where its leader's epoch begins: it removed what that leader did not have,
    whatever its own high watermark was. If that leader lacked committed records, it is a sign about that leader.
    """
    epoch = history.epochs.get(span.epoch)
    if epoch is None or epoch.leader in (None, -1, span.replica):
        return False
    # An epoch file shows it too, where lines of that leader are missing.
    noted = ((number, start) for disk in history.facts.disks.values() for number, start, _ in disk.entries)
    return step.target == epoch.start or (epoch.epoch, step.target) in noted


@once
def _steps_before_leading(history: History) -> Mapping[tuple[int | None, int], Sequence[tuple[RoleSpan, Step]]]:
    """Return the steps of each replica in roles after which it led next, by the replica and that leader epoch."""
    led = history.taken_up
    numbers = [epoch.epoch for epoch in led]
    found: dict[tuple[int | None, int], list[tuple[RoleSpan, Step]]] = {}
    for span in itertools.chain.from_iterable(history.role_spans.values()):
        at = bisect_right(numbers, span.epoch)
        if span.steps and at < len(led) and led[at].leader == span.replica:
            found.setdefault((span.replica, numbers[at]), []).extend((span, step) for step in span.steps)
    return found


def _steps_before(history: History, one: Truncation) -> Sequence[tuple[RoleSpan, Step]]:
    """Return the steps of the leader that a replica truncated to follow, in the role before it led."""
    return _steps_before_leading(history).get((one.leader, one.epoch), ())


def recovered_while_another_had_more(history: History) -> Iterator[Suspicion]:
    """Yield members of the ISR whose log recovery found corruption, and that led next, where another replica then
    removed records to follow them.

    The corrupt bytes show that the member had more; how much, nothing shows. What each other replica had may be
    committed.
    """
    ends: dict[tuple[int, int], list[tuple[Truncation, RoleSpan, Step]]] = {}
    for cut in history.truncations:
        span, step = _recovered_before_it_led(history, cut) or (None, None)
        if span is not None and step is not None:
            ends.setdefault((span.replica, cut.epoch), []).append((cut, span, step))
    for found in ends.values():
        cut, span, step = min(found, key=lambda one: (one[0].end, one[0].replica))
        yield Suspicion(
            Sign.RECOVERED_WHILE_ANOTHER_HAD_MORE, span.replica, cut.replica, cut.epoch, span.epoch, step.target,
            cut.end, step.time, (*_loaded(history, cut), *step.refs), target=step.target, followed=cut.refs,
            more=end_may_be_gone(history, cut.replica, cut.end, cut.refs[0]),
        )  # fmt: skip


def _recovered_before_it_led(history: History, one: Truncation) -> tuple[RoleSpan, Step] | None:
    """Return where log recovery had truncated the leader that a replica truncated to follow, just before it led.

    If lines show how long that log was, it is another sign. A replica that truncates to where its leader's log ends
    shows that the leader had not fetched again; one that truncates to its own high watermark does not.
    """
    for span, step in _steps_before(history, one):
        if step.recovered_from_unknown_end and one.target <= step.target < one.end:
            time = step.time if one.reason in _MAY_BE_OWN else None
            if led_after(history, span.replica, span.epoch, time) is not None:
                return span, step
    return None


def member_came_back_shorter(history: History) -> Iterator[Suspicion]:
    """Yield followers in the ISR that restarted after an unclean stop and led next, where each other member of that ISR
    removed records to follow them.

    The stop may have taken the end of a log, and with it what the other members had. Or the follower had not fetched
    that yet, so that it was not committed.
    """
    by_epoch: dict[int, list[Truncation]] = {}
    for one in history.truncations:
        by_epoch.setdefault(one.epoch, []).append(one)
    for epoch in history.taken_up:
        removed = [one for one in by_epoch.get(epoch.epoch, ()) if one.leader == epoch.leader]
        found = _loaded_after_unclean_stop(history, epoch, removed[0]) if removed else None
        least = _least_removed(history, *found, removed) if found is not None else None
        if found is not None and least is not None:
            span, step = found
            yield Suspicion(
                Sign.MEMBER_CAME_BACK_SHORTER, span.replica, least.replica, epoch.epoch, span.epoch, step.target,
                least.end, step.time, (*_loaded(history, least), *step.refs), target=step.target,
                followed=least.refs, more=end_may_be_gone(history, least.replica, least.end, least.refs[0]),
            )  # fmt: skip


def _least_removed(history: History, span: RoleSpan, step: Step, removed: Sequence[Truncation]) -> Truncation | None:
    """Return the truncation of the log that ended first, if each other member of an ISR removed records, the leader and
    another follower at least; else None.
    """
    before = history.epochs.get(span.epoch)
    members = ((before.last_isr if before is not None else None) or frozenset()) - {span.replica}
    ends = {one.replica: one for one in removed if one.target <= step.target < one.end}
    if before is None or not members - {before.leader} or not members <= ends.keys():
        return None  # a leader alone always may have more
    return min((ends[member] for member in members), key=lambda one: (one.end, one.replica))


def _loaded_after_unclean_stop(history: History, epoch: Epoch, one: Truncation) -> tuple[RoleSpan, Step] | None:
    """Return where the leader of an epoch had loaded its log after an unclean stop as a follower, and began with it."""
    for span, step in reversed(_steps_before(history, one)):
        if step.kind is StepKind.LOADED:
            follower = span.role is Role.FOLLOWER and step.before is LogBefore.UNCLEAN_STOP
            return (span, step) if follower and step.target == epoch.start else None
    return None


def end_may_be_gone(history: History, replica: int, end: int, ref: Ref) -> bool:
    """Return whether a log that ended at an offset may have been longer before its process started.

    It may if the process loaded it with that end after an unclean stop, or in an older directory.

    Args:
        history: the partition.
        replica: the replica.
        end: its log end offset.
        ref: the line of the replica by which it had that end.
    """
    until = ref.row or 0
    spans = history.role_spans.get(replica, ())
    steps = (step for span in spans for step in span.steps if step.kind is StepKind.LOADED and step.refs)
    before = [step for step in steps if (step.refs[0].row or 0) < until]
    return bool(before) and before[-1].may_lack_end and before[-1].target == end


def _loaded(history: History, one: Truncation) -> tuple[Ref, ...]:
    """Return the line that shows how long a log was before it was truncated: another one, that which loaded it, or that
    of the truncation itself.
    """
    if one.before.because:
        return one.before.because[:1]
    until = one.refs[0].row or 0
    loads = [
        ref
        for span in history.role_spans.get(one.replica, ())
        for step in span.steps
        if step.kind is StepKind.LOADED and step.target == one.end
        for ref in step.refs[:1]
        if (ref.row or 0) < until
    ]
    return (*loads[-1:], *one.refs[:1])[:1]
