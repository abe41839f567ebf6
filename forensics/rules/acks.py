"""Acknowledgements: had lost records been acknowledged to producers with acks=all?"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.case import Case
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History, HwSource, HwStatement
from forensics.replay.leadership.elections import isr_stated_by_leader
from forensics.rules.finding import Fact, States
from parsers.encodings.checkpoint_file import INT32_MAX, integer

_SETTING = "min.insync.replicas"


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
            "producers with acks=all are affected: they received an acknowledgement",
            refs=answered.refs,
            states=States.COMMITTED,
        )
    least, told, refs = _least(history, case, written)
    isrs = [isr for n in written if n in history.epochs for isr in history.epochs[n].isr]
    sizes = {len(isr) for isr, _ in isrs if isr}
    known = bool(written) and all(n in history.epochs and history.epochs[n].isr for n in written)
    if least <= 1:
        return Fact(
            f"acks=all gave no protection: {told}, so the leader acknowledges alone",
            refs=refs,
            states=States.CONTEXT,
        )
    if known and min(sizes, default=0) >= least:
        smallest = min((isr for isr, _ in isrs if isr), key=len)
        refs += tuple(ref for isr, ref in isrs if isr == smallest)[:1]
        return Fact(
            f"producers with acks=all are affected: {told} and the ISR was {isr_text(smallest)}, so they received an "
            "acknowledgement",
            refs=refs,
            states=States.CONTEXT,
        )
    if (
        known
        and max(sizes, default=0) < least
        and all(isr_stated_by_leader(history, history.epochs[n]) for n in written)
    ):
        refs += tuple(ref for _, ref in isrs)[:1]
        return Fact(
            f"producers with acks=all are not affected: {told} and the ISR was smaller, so they received an error",
            refs=refs,
            states=States.CONTEXT,
        )
    which = "for part of that time the ISR was smaller" if known else "the evidence does not show the ISR at that time"
    return Fact(f"producers with acks=all may be affected: {told}, and {which}", refs=refs, states=States.CONTEXT)


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
