"""Replicas whose lines leave out what files and other brokers tell: where they begin too late or end too early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forensics.replay.committed import doubts
from forensics.replay.directory import Disk
from forensics.replay.history import History
from forensics.replay.lineage import Lineage, differences
from forensics.replay.steps import REMOVES, StepKind, Tenure


def uncovered(history: History, logs: Mapping[int, Lineage]) -> dict[int, str]:
    """Replicas whose files show what happened after their lines end, and how."""
    found: dict[int, str] = {}
    for broker, disk in history.disks.items():
        spans = history.tenures.get(broker, [])
        told = max((tenure.epoch for tenure in spans), default=-1)
        shown = [epoch for epoch, _ in disk.lineage.entries] + [epoch for epoch, _, _ in disk.entries]
        taken_out = max(shown, default=-1) == told + 1 and _shutting_down(history, broker, told + 1)
        if told >= 0 and shown and max(shown) > told and not taken_out:
            found[broker] = f"its files know leader epoch {max(shown)}, its lines end in epoch {told}"
        later = _served_later(history, broker, told) if told >= 0 and not spans[-1].given_up else None
        if later is not None:
            found.setdefault(broker, f"it was in the ISR in epoch {later}, its lines end in epoch {told}")
        point = disk.recovery_point[0] if disk.recovery_point is not None else 0
        if disk.end is not None and spans and disk.end < point and not disk.damage and not _shorter(spans, point):
            why = f"its files end at {disk.end}, its recovery point is {point}, and no line tells what removed the rest"
            found.setdefault(broker, why)
        end = _flushed(spans)
        if disk.end is not None and disk.end < end and not disk.damage:
            why = f"its files end at {disk.end}, it had loaded {end}, and no line tells what removed the rest"
            found.setdefault(broker, why)
        loaded = _served_untold(spans, disk)
        if loaded is not None and history.replicas[broker].state_log:
            why = f"its files end at {disk.end}, its last process loaded {loaded}, and no line tells of a role of it"
            found.setdefault(broker, why)
        had = spans[-1].end_low if spans and not spans[-1].steps else 0
        went_on = disk.checkpoint is not None and disk.end is not None and disk.checkpoint[0] <= disk.end
        if went_on and disk.end is not None and disk.end < had and not disk.damage:
            why = f"its files end at {disk.end}, its log had reached {had}, and no line tells what removed the rest"
            found.setdefault(broker, why)
    current = history.current
    if current is not None and current.leader is not None and current.start is not None:
        for broker, disk in history.disks.items():
            told = max((tenure.epoch for tenure in history.tenures.get(broker, ())), default=-1)
            theirs = [(current.start, disk.end or 0)]
            if 0 <= told < current.epoch and history.alike(broker, current.leader, theirs):
                found.setdefault(
                    broker, f"its files hold records of leader epoch {current.epoch}, its lines end in epoch {told}"
                )
    for fork in history.forks:
        pair = (fork.left, fork.right)
        if not all(history.tenures.get(broker) for broker in pair):
            continue
        first, end = fork.ranges[0]
        differ, unknown = differences(logs[fork.left], logs[fork.right], first, end)
        if not differ and not unknown:
            for broker in pair:
                why = f"its files differ from another replica's at {first}, its lines do not say why"
                found.setdefault(broker, why)
    return found


def _served_untold(spans: Sequence[Tenure], disk: Disk) -> int | None:
    """The end of the log that a replica's last process loaded, where its files have more and no line tells of a role
    of that process.
    """
    last = spans[-1].steps[-1] if spans and spans[-1].steps else None
    loaded = last.target if last is not None and last.kind is StepKind.LOADED else None
    return loaded if loaded is not None and disk.end is not None and disk.end > loaded else None


def unbegun(history: History) -> dict[int, str]:
    """Replicas that were there before their own lines begin: others tell it, or the first epoch was over by then."""
    found: dict[int, str] = {}
    for broker, spans in history.tenures.items():
        roles = [tenure.epoch for tenure in spans if tenure.epoch >= 0]
        if not roles:
            continue
        for number, epoch in sorted(history.epochs.items()):
            if number < min(roles) and (epoch.leader == broker or any(broker in isr for isr, _ in epoch.isr)):
                what = "led" if epoch.leader == broker else "was in the ISR"
                found[broker] = f"its lines begin in leader epoch {min(roles)}, and it {what} in epoch {number}"
                break
        if broker not in found and min(roles) > 0 and not history.replicas[broker].starts_empty:
            found[broker] = f"its lines begin in leader epoch {min(roles)}, and its log was there before"
    return found


def bereft(history: History) -> dict[int, int]:
    """Replicas that had what was committed while they were in the ISR, whose files do not reach beyond an offset at
    which it is open whether committed records are gone, and whose lines end before and tell of no loss: if they lost
    any, the lines on it are missing. Broker id -> offset.
    """
    found: dict[int, int] = {}
    for doubt in doubts(history):
        for broker, disk in history.disks.items():
            spans = history.tenures.get(broker, [])
            served = any(
                broker in isr for n, epoch in history.epochs.items() if n <= doubt.before.epoch for isr, _ in epoch.isr
            )
            told = any(step.kind in (*REMOVES, StepKind.LOADED) for tenure in spans for step in tenure.steps)
            silent = bool(spans) and max(tenure.epoch for tenure in spans) < doubt.after.epoch
            if served and silent and not told and disk.end is not None and disk.end <= doubt.first:
                found.setdefault(broker, doubt.first)
    return found


def _shorter(spans: Sequence[Tenure], end: int) -> bool:
    """Whether a line tells that a log ended below an offset once it had been there before."""
    return any(
        step.kind in (*REMOVES, StepKind.LOADED) and step.target < end for tenure in spans for step in tenure.steps
    )


def _served_later(history: History, broker: int, told: int) -> int | None:
    """A later epoch in which a leader itself counted a replica in its ISR."""
    for number, epoch in sorted(history.epochs.items()):
        taken_out = number == told + 1 and _shutting_down(history, broker, number)
        counted = epoch.leader != broker and epoch.isr_own and any(broker in isr for isr, _ in epoch.isr)
        if number > told and counted and not taken_out:
            return number
    return None


def _shutting_down(history: History, broker: int, number: int) -> bool:
    """Whether an epoch took a replica out of the ISR as its broker asked for its own shutdown: it is not told of that
    epoch, fetches on in it, and may come into the ISR once more before it is gone.
    """
    spans, epoch = history.tenures.get(broker, []), history.epochs.get(number)
    leaves = bool(spans) and spans[-1].shut_down is not None
    return leaves and epoch is not None and epoch.isr_elected and broker not in (epoch.first_isr or ())


def _flushed(spans: Sequence[Tenure]) -> int:
    """The end of a log that no crash takes back: a clean stop flushed it, and no line tells of a removal since."""
    end = 0
    for step in (step for tenure in spans for step in tenure.steps):
        if step.kind is StepKind.LOADED:
            end = step.target if step.before is None else 0
        elif step.kind in REMOVES:
            end = 0
    return end
