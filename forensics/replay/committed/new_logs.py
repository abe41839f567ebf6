"""Empty logs where a replica may have had another one before."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.coverage import Printed
from forensics.replay.history import History, Role
from forensics.replay.leader_epochs import Epoch
from forensics.replay.roles.steps import LogBefore, RoleSpan, Step, StepKind


@dataclass(frozen=True, slots=True)
class BegunEmpty:
    """A log that begins empty in a later leader epoch, although another replica has earlier records.

    Attributes:
        replica: broker id.
        epoch: the leader epoch.
    """

    replica: int
    epoch: int


def begun_empty(history: History) -> list[BegunEmpty]:
    """Return the logs of leaders and of former members of the ISR that begin empty after others had records."""
    starts = {broker: _first_named(spans) for broker, spans in sorted(history.role_spans.items())}
    return [
        BegunEmpty(broker, first.epoch)
        for broker, first in starts.items()
        if first is not None and _is_late_and_empty(history, first) and _others_had_records(history, first)
    ]


def _first_named(spans: list[RoleSpan]) -> RoleSpan | None:
    """Return the first role of a replica whose leader epoch is known."""
    return next((one for one in spans if one.epoch >= 0), None)


def _is_late_and_empty(history: History, first: RoleSpan) -> bool:
    """Return whether a replica that led or was in the ISR began a later epoch than 0 with an empty log."""
    if first.epoch == 0 or first.start_end != 0:
        return False
    return first.role is Role.LEADER or _was_member(history, first.replica, first.epoch)


def _others_had_records(history: History, first: RoleSpan) -> bool:
    """Return whether another replica had records in an earlier epoch, and none shows this log with records before."""
    others = (one for broker, spans in history.role_spans.items() if broker != first.replica for one in spans)
    earlier = any(one.epoch < first.epoch and one.end_low > 0 for one in others)
    return earlier and history.replicas[first.replica].starts_empty


def _was_member(history: History, broker: int, number: int) -> bool:
    """Return whether lines of any broker show that a replica led or was in the ISR before an epoch."""
    earlier = history.epochs.before(number)
    return any(epoch.leader == broker or any(broker in isr for isr, _ in epoch.isr) for epoch in earlier)


def replacements(history: History, broker: int) -> list[Step]:
    """Return new, empty logs that replaced a former one; a log of a new topic is created empty too and does not
    count.
    """
    return [
        step
        for role_span in history.role_spans.get(broker, ())
        for step in role_span.steps
        if step.kind is StepKind.CREATED and (step.before is not None or _was_member(history, broker, role_span.epoch))
    ]


def last_leader_replaced_log(history: History) -> Epoch | None:
    """Return the last epoch if its leader, alone in the ISR, got a new log after it had led; else None.

    No other replica has what it committed beyond their own logs, and no later leader shows it. Without its lines about
    roles, its empty log shows it if any replica states a high watermark.
    """
    epoch = history.current
    if epoch is None or epoch.leader is None:
        return None
    return epoch if _replaced_alone(history, epoch, epoch.leader) or _is_empty(history, epoch.leader) else None


def _replaced_alone(history: History, epoch: Epoch, leader: int) -> bool:
    """Return whether a leader got a new log after it had led an epoch, alone in the ISR."""
    if epoch.last_isr != frozenset({leader}):
        return False
    spans = history.role_spans.get(leader, [])
    led = [at for at, one in enumerate(spans) if one.epoch == epoch.epoch and one.role is Role.LEADER]
    since = spans[led[-1] :] if led else []
    new = replacements(history, leader)
    return any(step in new and step.end is None for role_span in since for step in role_span.steps)


def _is_empty(history: History, leader: int) -> bool:
    """Return whether a leader's files are empty below a stated high watermark, and its lines name no role of it."""
    disk = history.facts.disks.get(leader)
    if disk is None or disk.end != 0 or history.coverage.has(leader, Printed.ROLES):
        return False
    return any(statement.high_watermark > 0 for statement in history.statements)


def replaced_unmeasured(history: History) -> list[int]:
    """Return replicas with a new, empty log, if no line states how long the log before it was."""
    known = [shortened.refs for shortened in history.shortened_logs]
    return [
        broker
        for broker in sorted(history.role_spans)
        if any(
            step.before is not LogBefore.DIR_FAILED and step.end is None and step.refs not in known
            for step in replacements(history, broker)
        )
    ]
