"""Acknowledgements: had lost records been acknowledged to producers with acks=all?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from forensics.case import Case
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.leadership.elections import isr_known_to_end, isr_may_have_changed, isrs_stated
from forensics.rules.finding import Fact, States
from parsers.encodings.checkpoint_file import INT32_MAX, integer

_SETTING = "min.insync.replicas"
_ISRS = 3  # in one sentence, the last ones
_ACKNOWLEDGED = "the leader acknowledged these records, even to producers with acks=all, so they do not send them again"


def acks_facts(
    history: History, case: Case, written: Sequence[int], statements: Sequence[HwStatement]
) -> tuple[Fact, ...]:
    """Return ``acks_fact``; nothing for another system than Kafka, unless an acknowledgement is stated.

    Such a system has no ``min.insync.replicas``. Nor has the metadata log, to which no producer writes.
    """
    if history.quorum is not None:
        return ()
    stated = any(one.how is HwSource.ACKNOWLEDGED for one in statements)
    return (acks_fact(history, case, written, statements),) if history.origin.of_kafka or stated else ()


def acks_fact(history: History, case: Case, written: Sequence[int], statements: Sequence[HwStatement]) -> Fact:
    """Return what producers with acks=all had received for committed records that are gone.

    A leader acknowledges a record once its high watermark has passed it and its ISR has at least
    ``min.insync.replicas`` members. Otherwise it rejects the request (ReplicaManager.appendRecords,
    Partition.checkEnoughReplicasReachOffset, Kafka 0.9 and later).

    Args:
        history: the partition.
        case: the evidence.
        written: leader epochs in which the records were written.
        statements: high watermarks that prove they were committed.
    """
    answered = next((s for s in statements if s.how is HwSource.ACKNOWLEDGED), None)
    if answered is not None:
        return Fact(
            _ACKNOWLEDGED,
            refs=answered.refs,
            states=States.COMMITTED,
        )
    return _by_isr(history, written, *_least(history, case, written))


def _by_isr(history: History, written: Sequence[int], least: int, needs: str, refs: tuple[Ref, ...]) -> Fact:
    """Return the same by the setting and the ISR of the time in which the records were written.

    Args:
        history: the partition.
        written: leader epochs in which the records were written.
        least, needs, refs: as ``_least`` returns them.
    """
    isrs = [] if _may_have_shrunk(history, written) else _isrs(history, written)
    sizes = [len(isr) for isr, _ in isrs if isr] or [0]
    if min(sizes) < 2 and least <= 1:
        return _alone(needs, refs, isrs)
    if isrs and min(sizes) >= least:
        smallest = min((isr for isr, _ in isrs if isr), key=len)
        with_two = _WITH_TWO[least < 2 <= min(sizes)]
        text = f"{_ACKNOWLEDGED}. The ISR was {_in_order(isrs)}, and {needs}{with_two}"
        return Fact(text, refs=(*refs, *_line_of(isrs, smallest)), states=States.CONTEXT, general=_general(needs))
    if isrs and max(sizes) < least and _stated_by_leaders(history, written):
        refs += _line_of(isrs)
        text = f"are not affected: {needs} and the ISR was smaller, so they received an error"
    else:
        unknown = "the evidence does not show the ISR at that time"
        which = "for part of that time the ISR was smaller" if isrs else unknown
        text = f"may have received an acknowledgement for these records: {needs}, and {which}"
    return Fact(f"producers with acks=all {text}", refs=refs, states=States.CONTEXT)


_WITH_TWO = {True: ". A value of 2 would not have prevented that", False: ""}
"""Words about a setting of 2, by whether the leader would have acknowledged with that too."""


def _stated_by_leaders(history: History, written: Sequence[int]) -> bool:
    return all(isr_known_to_end(history, history.epochs[n]) for n in written)


def _may_have_shrunk(history: History, written: Sequence[int]) -> bool:
    return any(isr_may_have_changed(history, history.epochs[n]) for n in written if n in history.epochs)


def _isrs(history: History, written: Sequence[int]) -> list[tuple[frozenset[int], Ref | None]]:
    """Return each ISR of some leader epochs, in order; none unless an ISR of each of them is known."""
    stated = [isrs_stated(history, history.epochs[n]) for n in written if n in history.epochs]
    return list(itertools.chain.from_iterable(stated)) if len(stated) == len(written) and all(stated) else []


def _line_of(isrs: Sequence[tuple[frozenset[int], Ref | None]], which: frozenset[int] | None = None) -> tuple[Ref, ...]:
    """Return the first line that states one of these ISRs, or any of them; nothing if the leader states none."""
    return tuple(ref for isr, ref in isrs if ref is not None and which in (None, isr))[:1]


def _alone(needs: str, refs: tuple[Ref, ...], isrs: Sequence[tuple[frozenset[int], Ref | None]]) -> Fact:
    """Return what acks=all was worth if the leader may acknowledge alone: that depends on the ISR at that time.

    Args:
        needs: the setting, in words.
        refs: where it is stated.
        isrs: each ISR of that time, in order; empty if not all are known.
    """
    ordered = _changes(isrs)
    if not ordered:
        text = f"{_ACKNOWLEDGED}: {needs}. The ISR at that time is unknown, so the leader may have acknowledged alone"
    elif len(ordered) == 1:
        isr = isr_text(ordered[0])
        text = f"acks=all gave no protection: {needs} and the ISR was {isr}: the leader acknowledged alone"
    else:
        text = f"{_ACKNOWLEDGED}. The ISR was {_in_order(isrs)}, and {needs}"
        refs += _line_of(isrs, ordered[-1])
        return Fact(text, refs=refs, states=States.CONTEXT, general=_general(needs))
    return Fact(text, refs=refs, states=States.CONTEXT)


def _general(needs: str) -> str:
    """Return that records were acknowledged, without the ISRs: brokers lead different partitions of one topic."""
    return f"{_ACKNOWLEDGED}: {needs}"


def _changes(isrs: Sequence[tuple[frozenset[int], Ref | None]]) -> list[frozenset[int]]:
    return [isr for isr, _ in itertools.groupby(isr for isr, _ in isrs if isr)]


def _in_order(isrs: Sequence[tuple[frozenset[int], Ref | None]]) -> str:
    """Return the last ISRs of several, one after the other, in words."""
    return ", then ".join(map(isr_text, _changes(isrs)[-_ISRS:]))


def _least(history: History, case: Case, written: Sequence[int]) -> tuple[int, str, tuple[Ref, ...]]:
    """Return the number of replicas that had to be in the ISR, the same in words, and where it is stated."""
    value = integer(history.facts.properties.get(_SETTING, ""), most=INT32_MAX)
    if value is not None:
        refs = (history.facts.properties_ref,) if history.facts.properties_ref is not None else ()
        return value, f"{_SETTING} was {value}", refs
    leaders = [history.epochs[n].leader for n in written if n in history.epochs]
    for broker in (case.brokers.get(leader) for leader in leaders if leader is not None):
        value = integer(broker.settings.get(_SETTING, ""), most=INT32_MAX) if broker is not None else None
        if value is not None:
            return value, f"{_SETTING} of broker {broker.id} is {value}" if broker is not None else "", ()
    return 1, f"{_SETTING} is 1 unless it was set", ()
