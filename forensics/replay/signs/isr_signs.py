"""Signs that a leader came from outside the ISR: the last ISR that a leader before it stated does not have it.

The lines of an excerpt rarely number the changes of a partition, so the ISR may have grown again in lines that are
missing. A suspicion names that; the rule ``unclean-election`` decides where the evidence is whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import broker_set
from forensics.replay.facts.printed_hws import PrintedHw
from forensics.replay.facts.refusals import Complaint
from forensics.replay.history import History, Role, Truncation, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import elected_with_others, isr_before
from forensics.replay.protocol import Answer
from forensics.replay.signs.sign import Sign, Suspicion
from parsers.schema import Kind


class _Last(NamedTuple):
    """The last ISR that a leader stated before another one began.

    Attributes:
        line: the line.
        isr: its members.
        reached: log end offset of the broker that stated it, or None, and its high watermark, if a line states them.
        near: the broker that stated it logs next that it follows the other one, or somebody put its line and that of
            the election into one text.
    """

    line: PrintedHw
    isr: frozenset[int]
    reached: tuple[int | None, int]
    near: bool


def led_from_outside(history: History) -> Iterator[Suspicion]:
    """Yield leaders that are not in the last ISR that a leader before them stated."""
    for epoch, last in _from_outside(history):
        if not epoch.unclean:
            yield _suspicion(Sign.LED_FROM_OUTSIDE_ISR, history, epoch, last, None, None)


def lacks_records_of_last_isr(history: History) -> Iterator[Suspicion]:
    """Yield such leaders that begin below the log end offset of a broker that was alone in the ISR.

    A leader that is alone in the ISR commits what it appends, unless min.insync.replicas forbids it. From 3.7 on a
    higher one forbids that for all producers, and before only for those with acks=all (KIP-966).
    """
    if history.protocol.hw_needs_min_isr is Answer.YES and (history.facts.min_insync_replicas or 1) > 1:
        return
    for epoch, last in _from_outside(history):
        start, (end, committed) = _start(history, epoch, last.line.broker), last.reached
        if last.isr != {last.line.broker} or start is None or end is None:
            continue
        if committed <= start < end:  # what is lost below the high watermark is another sign
            yield _suspicion(Sign.LED_WITHOUT_LAST_RECORDS, history, epoch, last, start, end)


def fell_to_unclean_leader(history: History) -> Iterator[Suspicion]:
    """Yield high watermarks that fell to the offset at which a leader elected from outside the ISR had begun.

    A replica truncated its log to that of the new leader then, and had more committed. The line may not name its
    broker: only the leader itself cannot have logged it.
    """
    for epoch in (one for one in history.epochs.values() if one.unclean):
        yield from _fell_to_start(history, epoch, Sign.FELL_TO_UNCLEAN_LEADER, ())


def fell_to_recovered_leader(history: History) -> Iterator[Suspicion]:
    """Yield the same of leaders that began where log recovery had truncated a log, by a line that names no broker.

    If the line names its broker, another sign reports it.
    """
    cut = [one for one in history.facts.complaints if one.kind == Kind.CORRUPTION_CUT and one.broker is None]
    for epoch in (one for one in history.epochs.values() if not one.unclean and one.epoch > 0):
        found = [one for one in cut if one.offset == epoch.start and not _is_later(one, epoch)]
        if found:
            ref = Ref(row=found[-1].row, note=f"log recovery truncated a log to {found[-1].offset}")
            yield from _fell_to_start(history, epoch, Sign.FELL_TO_RECOVERED_LEADER, (ref,))


def _fell_to_start(history: History, epoch: Epoch, sign: Sign, refs: tuple[Ref, ...]) -> Iterator[Suspicion]:
    """Yield the high watermarks that fell to the start of an epoch after it had begun, but not its leader's own."""
    for one in history.facts.complaints if epoch.start is not None else ():
        fell = one.kind == Kind.HW_REGRESSED and one.broker != epoch.leader and _is_later(one, epoch)
        if fell and one.hw is not None and one.hw == epoch.start and one.hw < (one.hw_before or 0):
            ref = Ref(row=one.row, note=f"high watermark {one.hw_before}")
            yield Suspicion(
                sign, epoch.leader, one.broker, epoch.epoch, -1, one.hw, one.hw_before, one.time,
                tuple(dict.fromkeys((ref, *refs, *epoch.refs))),
            )  # fmt: skip


def _is_later(one: Complaint, epoch: Epoch) -> bool:
    """Return whether a line is later than the begin of an epoch: by the times of both, else by their places."""
    if one.time is not None and epoch.time is not None:
        return one.time >= epoch.time
    return one.row > max((ref.row or 0 for ref in epoch.refs), default=0)


def plans_of_last_isr(history: History, epoch: Epoch) -> Iterator[PrintedHw]:
    """Yield plans of members of the last ISR to truncate for an unclean leader.

    Only those where no line about the log itself shows that they did it, or that it had no effect.
    """
    members = isr_before(history, epoch) or frozenset()
    lines = history.facts.printed_hws
    carried_out = {
        (broker, step.target) for broker, spans in history.role_spans.items() for one in spans for step in one.steps
    }
    in_vain = {(one.broker, one.offset) for one in lines if one.kind == Kind.TRUNCATE_NOOP}
    for one in lines:
        place = one.broker, one.offset
        planned = one.kind == Kind.TRUNCATE_PLAN and one.broker in members - {epoch.leader}
        later = (one.time or 0) > (epoch.time or 0) > 0 and one.leader in (None, epoch.leader)
        if planned and later and one.offset is not None and place not in carried_out | in_vain:
            yield one


def _suspicion(
    sign: Sign, history: History, epoch: Epoch, last: _Last, first: int | None, end: int | None
) -> Suspicion:
    line = last.line
    since = _led_in(history, line)
    stated = Ref(row=line.row, note=f"ISR {line.isr}")
    return Suspicion(
        sign, epoch.leader, line.broker, epoch.epoch, since, first or 0, end, epoch.time, (stated, *epoch.refs[:1]),
        isr=last.isr,
    )  # fmt: skip


def _led_in(history: History, line: PrintedHw) -> int:
    """Return the last leader epoch in which a broker led before a line of it, or -1."""
    spans = history.role_spans.get(line.broker, ())
    led = [one.epoch for one in spans if one.refs and (one.refs[0].row or 0) <= line.row and one.role is Role.LEADER]
    return line.leader_epoch if line.leader_epoch is not None else max(led, default=-1)


def _start(history: History, epoch: Epoch, broker: int) -> int | None:
    """Return the offset at which a leader began; if no line states it, the one to which a broker truncated for it."""
    if epoch.start is not None:
        return epoch.start
    removed: tuple[Truncation, ...] = (*history.truncations, *history.truncations_of_unknown_extent)
    cut = (one.target for one in removed if one.replica == broker and one.epoch == epoch.epoch)
    return min(cut, default=None)


@once
def _from_outside(history: History) -> Sequence[tuple[Epoch, _Last]]:
    """Return epochs whose leader is not in the last ISR that a leader before stated, with that ISR."""
    found = []
    for epoch in history.epochs.values() if not history.epoch_rollbacks else ():
        if epoch.epoch > 0 and epoch.leader is not None and epoch.leader >= 0 and _is_open(history, epoch):
            last = _last_stated(history, epoch)
            if last is not None and _fits(history, epoch, last):
                found.append((epoch, last))
    return found


def _is_open(history: History, epoch: Epoch) -> bool:
    """Return whether nothing shows that the leader of an epoch was elected from the ISR."""
    before = isr_before(history, epoch)
    clean = epoch.safe or (epoch.changed and not epoch.unclean) or elected_with_others(history, epoch)
    return not clean and len(epoch.first_isr or ()) < 2 and (before is None or epoch.leader not in before)


def _fits(history: History, epoch: Epoch, last: _Last) -> bool:
    """Return whether a leader may have been elected without being in the ISR stated before.

    With all that the leader before had then, it had caught up, so the ISR grew again in a line that is missing.
    """
    end, _ = last.reached
    caught_up = end is not None and epoch.start is not None and epoch.start >= end
    return epoch.leader not in last.isr and not caught_up and (epoch.first_isr is not None or last.near)


def _last_stated(history: History, epoch: Epoch) -> _Last | None:
    """Return the last ISR that a leader stated before an epoch, if no other broker led in between.

    None if that change of the ISR was refused, if the replica was deleted since, or if logs lack an epoch in between.
    """
    lines = [one for one in history.facts.printed_hws if one.broker != epoch.leader and _before(history, one, epoch)]
    stated = [one for one in lines if one.isr]
    last = max(stated, key=lambda one: (one.time or 0, one.row), default=None)
    if last is None or (last.time is None and len({one.broker for one in stated}) > 1):
        return None
    if _undone(last, lines) or _led_since(history, last, epoch):
        return None
    pasted = len({one.text for one in history.facts.printed_hws}) == 1
    between = range(_led_in(history, last) + 1, epoch.epoch)
    if not pasted and any(number not in history.epochs for number in between):
        return None  # lines are missing in which the ISR may have grown
    near = _follows_next(history, last, epoch) or pasted
    return _Last(last, broker_set(last.isr) or frozenset(), _reached(last, stated), near)


def _undone(last: PrintedHw, lines: Sequence[PrintedHw]) -> bool:
    """Return whether a later line of a broker shows that a change of the ISR was refused, or its replica deleted."""
    since = (one for one in lines if one.broker == last.broker and one.row > last.row)
    return any(one.kind in (Kind.ISR_REJECTED, Kind.LOG_DELETED) for one in since)


def _reached(last: PrintedHw, stated: Sequence[PrintedHw]) -> tuple[int | None, int]:
    """Return the log end offset and the high watermark that a broker stated with an ISR; a line that it was committed
    states neither.
    """
    own = [one for one in stated if one.broker == last.broker and one.isr == last.isr and one.end is not None]
    return (own[-1].end, own[-1].value or 0) if own else (None, 0)


def _before(history: History, line: PrintedHw, epoch: Epoch) -> bool:
    """Return whether a line was logged before a leader began.

    The order comes from its leader epoch, or from the order of its broker's own lines. Otherwise it comes from the
    times of lines in one text: clocks of lines in different files may differ.
    """
    if line.leader_epoch is not None:
        return line.leader_epoch < epoch.epoch
    own = (one for one in history.role_spans.get(line.broker, ()) if one.refs and one.epoch >= epoch.epoch)
    later = next(own, None)
    if later is not None:
        return line.row < (later.refs[0].row or 0)
    texts = {one.text for one in history.facts.printed_hws}
    return len(texts) == 1 and line.time is not None and epoch.time is not None and line.time < epoch.time


def _led_since(history: History, last: PrintedHw, epoch: Epoch) -> bool:
    """Return whether another broker led after an ISR was stated and before an epoch. Its ISR is another one."""
    others = (one for one in history.epochs.before(epoch.epoch) if one.leader not in (None, -1, last.broker))
    return any((one.time or 0) >= (last.time or 0) or not _known_before(last, one) for one in others)


def _known_before(last: PrintedHw, epoch: Epoch) -> bool:
    """Return whether an epoch began before an ISR was stated."""
    by_epoch = last.leader_epoch is not None and epoch.epoch < last.leader_epoch
    return by_epoch or (epoch.time is not None and last.time is not None and epoch.time < last.time)


def _follows_next(history: History, last: PrintedHw, epoch: Epoch) -> bool:
    """Return whether the next role that a broker logs after a line is that of a follower in an epoch."""
    spans = [one for one in history.role_spans.get(last.broker, ()) if one.refs and (one.refs[0].row or 0) > last.row]
    return any(one.epoch == epoch.epoch and one.role is Role.FOLLOWER for one in itertools.islice(spans, 1))
