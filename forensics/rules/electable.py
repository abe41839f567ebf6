"""The steps that led to an election: which brokers were gone, how the ISR shrank, and so who could be elected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.state_changes import StateChanged, chain
from forensics.replay.signs.sign import Suspicion
from forensics.rules.finding import Fact, States, brokers_text


def electable_facts(history: History, since: int, elected: Epoch | None) -> list[Fact]:
    """Return the changes of leader and ISR that led to an election, in order, each as a fact.

    No finding rests on them. An election that is called unclean is a fact of the rule about that.

    Args:
        history: the partition.
        since: leader epoch in which they begin at the earliest.
        elected: the epoch of the election; None if it is unknown.
    """
    found = chain(history.changes, since, elected) if elected is not None else ()
    unclean = elected is not None and bool(elected.unclean or elected.asked)
    return [
        Fact(
            change_text(history, one),
            broker=one.by_leader,
            time=one.time,
            refs=(*((one.back,) if one.back is not None else one.gone_refs[:1]), one.ref),
            states=States.CONTEXT,
            isrs=isrs_of(one),
        )
        for one in found
        if one.time is not None and not (unclean and elected is not None and one.epoch == elected.epoch)
    ]


def with_changes(facts: Sequence[Fact], changes: Iterable[Fact]) -> list[Fact]:
    """Return the facts of a story with such changes among them, each behind the last fact that is not later.

    A story may begin with a line that states later what was before.
    """
    merged = [*facts]
    for one in changes:
        at = one.time if one.time is not None else math.inf
        times = [(n, other.time) for n, other in enumerate(merged) if other.time is not None]
        sooner = [n + 1 for n, time in times if time <= at]
        later = [n for n, time in times if time > at]
        merged.insert((sooner[-1:] or later[:1] or [len(merged)])[0], one)
    return merged


def led_next_facts(history: History, one: Suspicion) -> list[Fact]:
    """Return the same for the election of a replica that led without the records of a suspicion, if it did."""
    epoch = history.epochs.get(one.epoch)
    led = epoch is not None and epoch.leader == one.replica and 0 <= one.since < one.epoch
    return electable_facts(history, one.since, epoch) if led else []


def change_of(history: History, rows: Iterable[int | None]) -> StateChanged | None:
    """Return the change that one of these rows states, if any does."""
    wanted = {*rows}
    return next((one for one in history.changes if one.ref.row in wanted), None)


def change_text(history: History, one: StateChanged) -> str:
    """Return a change in words, after the broker where its leader made it."""
    return next(words(history, one) for applies, words in _WORDS if applies(one))


def isrs_of(one: StateChanged) -> tuple[tuple[int, ...], ...]:
    """Return the ISR before and after a change, and the eligible leader replicas from then on, as far as it has them.

    Of an election that leaves the ISR as it is, the words name the members alone.
    """
    return tuple(tuple(sorted(isr)) for isr in (one.before, one.isr, one.eligible) if isr is not None)


def _controller(history: History, one: StateChanged, then: str = " and") -> str:
    """Return the first words about a controller, after which brokers it found gone it did something.

    Args:
        history: the partition.
        one: what it changed.
        then: what comes before that.
    """
    if not one.gone:
        return "the controller"
    verb, adjective = ("fenced", "") if history.protocol.kraft else ("found", " gone")
    return f"the controller {verb} {brokers_text(one.gone)}{adjective}{then}"


def _shrank(one: StateChanged) -> str:
    """Return how the ISR became smaller, in words."""
    return f"shrank the ISR from {isr_text(one.before or frozenset())} to {isr_text(one.isr or frozenset())}"


def _alone(isr: frozenset[int] | None, broker: int | None) -> bool:
    """Return whether a broker is the only member of an ISR."""
    return broker is not None and isr == frozenset((broker,))


def _by_leader(history: History, one: StateChanged) -> str:
    return f"{_shrank(one)}{': it was alone in it' if _alone(one.isr, one.by_leader) else ''}"


def _emptied(history: History, one: StateChanged) -> str:
    known = f" (ELR {isr_text(one.eligible)})" if one.eligible else ""
    did = _shrank(one) if one.removed else "elected no broker from the empty ISR"
    return f"{_controller(history, one)} {did}{known}: no broker led (leader epoch {one.epoch})"


def _without_leader(history: History, one: StateChanged) -> str:
    isr = one.isr or frozenset()
    did = f" and {_shrank(one)}" if one.removed and one.gone else f" {_shrank(one)}" if one.removed else ""
    only = f"Only {brokers_text(sorted(isr))} was in the ISR, so no other could lead"
    rest = only if len(isr) == 1 else f"The ISR was {isr_text(isr)}"
    found = f"{_controller(history, one, '')}{did or _LEFT[bool(one.gone)]}"
    return f"{found}: no broker led (leader epoch {one.epoch}). {rest}"


_LEFT: Final = {True: "", False: " elected no broker"}
"""Words for an act of a controller after which no broker led, by whether it found brokers gone."""


def _elected(history: History, one: StateChanged) -> str:
    if _alone(one.before, one.leader):
        how = ", the only member of the ISR"
    elif one.removed and (one.isr or frozenset()) <= (one.before or frozenset()):
        how = f" and {_shrank(one)}"
    elif one.removed:
        how = f", with ISR {isr_text(one.isr or frozenset())} in place of {isr_text(one.before or frozenset())}"
    else:
        how = f", ISR {isr_text(one.isr)}" if one.isr is not None else ""
    if one.back is not None:
        return f"broker {one.leader} returned, and the controller elected it (leader epoch {one.epoch}){how}"
    then = "," if one.removed and not _alone(one.before, one.leader) else " and"
    return f"{_controller(history, one, then)} elected broker {one.leader} (leader epoch {one.epoch}){how}"


def _changed(history: History, one: StateChanged) -> str:
    did = _shrank(one) if one.removed else f"set the ISR to {isr_text(one.isr or frozenset())}"
    return f"{_controller(history, one)} {did}"


_WORDS: Final[Sequence[tuple[Callable[[StateChanged], bool], Callable[[History, StateChanged], str]]]] = (
    (lambda one: one.by_leader is not None, _by_leader),
    (lambda one: one.elects and one.leader == -1 and not one.isr, _emptied),
    (lambda one: one.elects and one.leader == -1, _without_leader),
    (lambda one: one.elects and one.leader != one.led, _elected),
    (lambda one: True, _changed),
)
"""How each kind of change is worded: the first that applies."""
