"""A sign that a host lost what it had not flushed: a leader recovered its log with less than all others had."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.facts.directory import Ref
from forensics.replay.history import History, Role, Truncation
from forensics.replay.leadership.elections import isr_before
from forensics.replay.roles.steps import LogBefore, RoleSpan, StepKind
from forensics.replay.signs.sign import Sign, Suspicion

_OTHERS = 2
"""As many followers with more than their leader are no coincidence: a leader is elected from the ISR."""


def recovered_leader_had_less(history: History) -> Iterator[Suspicion]:
    """Yield leaders that recovered their log after an unclean stop and led next, while all others had more.

    Those truncated to follow it. That is routine after a clean change of leader: what only followers and the former
    leader have may not be committed. Here the new leader may have had it, and lost it with its host.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for at, span in enumerate(spans):
            if span.role is Role.LEADER and span.start_end is not None and _recovered(spans[: at + 1], span.start_end):
                yield from _others_had_more(history, broker, span, span.start_end)


def _others_had_more(history: History, broker: int, span: RoleSpan, start: int) -> Iterator[Suspicion]:
    cut = [one for one in history.truncations if _to_follow(one, broker, span.epoch, start)]
    if not cut or not _are_all_others(history, broker, span.epoch, {one.replica for one in cut}):
        return
    witness = min(cut, key=lambda one: one.end)
    refs = (Ref(row=witness.refs[-1].row, note=f"log end offset {witness.end} before"), *span.refs[:1])
    yield Suspicion(
        Sign.RECOVERED_LEADER_HAD_LESS, broker, witness.replica, span.epoch, -1, start, witness.end, span.time,
        tuple(dict.fromkeys(refs)), target=start,
    )  # fmt: skip


def _recovered(spans: list[RoleSpan], start: int) -> bool:
    """Return whether the last change of a log before a role is its load after an unclean stop, with this end."""
    steps = [step for span in spans[:-1] for step in span.steps]
    served = [span for span in spans[:-1] if span.role is not Role.OFFLINE and span.run == spans[-1].run]
    last = steps[-1] if steps else None
    crashed = last is not None and last.kind is StepKind.LOADED and last.before is LogBefore.UNCLEAN_STOP
    return crashed and last is not None and last.target == start and last.end is None and not served


def _to_follow(one: Truncation, leader: int, epoch: int, start: int) -> bool:
    return one.replica != leader and one.epoch == epoch and one.target <= start < one.end


def _are_all_others(history: History, leader: int, number: int, cut: set[int]) -> bool:
    """Return whether all other members of the ISR before an epoch truncated, or two replicas if that ISR is unknown."""
    epoch = history.epochs.get(number)
    members = isr_before(history, epoch) if epoch is not None else None
    if members is not None and len(members) > 1:
        return leader in members and members - {leader} <= cut
    return len(cut) >= _OTHERS
