"""Lines missing before a replica's first line or after its last one, as files and other brokers show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from forensics.replay.coverage import LinesAtHand, MissingLines, Omission, Printed, Span
from forensics.replay.facts.directory import NO_DISK, Disk
from forensics.replay.facts.events import Event
from forensics.replay.history import History
from forensics.replay.lineage import Lineage, differences
from forensics.replay.roles.steps import REMOVES, RoleSpan, StepKind
from parsers.formats.trace_jsonl import NAME as TRACE

FILES_KNOW_LATER_EPOCH = Omission(
    "files-know-later-epoch",
    Span.AFTER,
    "its files know leader epoch {known}, but its lines end in epoch {epoch}",
    "a leader epoch reaches a log by a role in it or by what was fetched in one (LeaderEpochFileCache.assign)",
)
IN_LATER_ISR = Omission(
    "in-later-isr",
    Span.AFTER,
    "it was in the ISR in epoch {later}, but its lines end in epoch {epoch}",
    "a replica joins the ISR by fetching in that epoch (Partition.maybeExpandIsr)",
)
BELOW_RECOVERY_POINT = Omission(
    "below-recovery-point",
    Span.AFTER,
    "its files end at {end}, its recovery point is {point}, and no line shows what removed the rest",
    "LogManager writes a recovery point only for what is flushed",
)
BELOW_LOADED = Omission(
    "below-loaded",
    Span.AFTER,
    "its files end at {end}, it had loaded {loaded}, and no line shows what removed the rest",
    "a clean stop flushes the log (LogManager.shutdown)",
)
GREW_AFTER_LOAD = Omission(
    "grew-after-load",
    Span.AFTER,
    "its files end at {end}, its last process loaded {loaded}, and no line shows a role of that process",
    "a log grows only as leader or follower (ReplicaManager)",
)
BELOW_REACHED = Omission(
    "below-reached",
    Span.AFTER,
    "its files end at {end}, its log had reached {reached}, and no line shows what removed the rest",
    "a log shrinks only by a truncation, a recovery or a deletion (UnifiedLog)",
)
HOLDS_CURRENT_EPOCH = Omission(
    "holds-current-epoch",
    Span.AFTER,
    "its files hold records of leader epoch {current}, but its lines end in epoch {epoch}",
    "a replica gets records of an epoch by a role in it (ReplicaFetcherThread)",
)
DIFFERS_UNEXPLAINED = Omission(
    "differs-unexplained",
    Span.AFTER,
    "its files differ from another replica's at {first}, and its lines do not show why",
    "two logs differ from where two leaders wrote (KIP-101)",
)
LINES_BEGIN_AFTER_ROLE = Omission(
    "lines-begin-after-role",
    Span.BEFORE,
    "its lines begin in leader epoch {epoch}, but it {role} in epoch {earlier}",
    "controllers send LeaderAndIsr of each epoch to every replica in its ISR (ControllerBrokerRequestBatch)",
)
LOG_WAS_THERE = Omission(
    "log-was-there",
    Span.BEFORE,
    "its lines begin in leader epoch {epoch}, but its log existed before",
    "LogManager prints that it makes a log",
)
NOT_CLAIMED = Omission(
    "not-claimed",
    Span.BEFORE,
    "its trace does not claim to state each change",
    "the first line of a trace of a Partition says what it is complete about (docs/trace-format.md)",
)
NOT_READ = Omission(
    "not-read",
    Span.BEFORE,
    "lines of its trace, or values in them, could not be read",
    "a trace of a Partition states what it claims only if each line and value can be read (docs/trace-format.md)",
)
OMISSIONS = (
    FILES_KNOW_LATER_EPOCH,
    IN_LATER_ISR,
    BELOW_RECOVERY_POINT,
    BELOW_LOADED,
    GREW_AFTER_LOAD,
    BELOW_REACHED,
    HOLDS_CURRENT_EPOCH,
    DIFFERS_UNEXPLAINED,
    LINES_BEGIN_AFTER_ROLE,
    LOG_WAS_THERE,
    NOT_CLAIMED,
    NOT_READ,
)
"""Evidence in files and other brokers' lines about the time before a replica's lines begin or after they end."""


@dataclass(frozen=True, slots=True)
class _Files:
    """A replica with its files and its lines.

    Attributes:
        last: the last leader epoch that its lines name, -1 for none.
    """

    broker: int
    disk: Disk
    spans: Sequence[RoleSpan]
    last: int


def not_claimed(broker: int, own: Sequence[Event], lines: LinesAtHand) -> Iterator[MissingLines]:
    """Yield a replica that only a trace describes, if the trace claims nothing of it."""
    claimed = lines.claimed or lines.claimed_within
    if own and not claimed and all(event.message == TRACE for event in own):
        yield (NOT_READ if lines.unread else NOT_CLAIMED).of(broker)


def end_early(history: History) -> Iterator[MissingLines]:
    """Yield replicas whose files, or other brokers' lines, show what happened after their lines end."""
    for one in _files(history):
        for detect in _OF_FILES:
            if (found := detect(history, one)) is not None:
                yield found


def end_early_by_records(history: History, logs: Mapping[int, Lineage]) -> Iterator[MissingLines]:
    """Yield the same where only replay shows it: it needs the start of the current epoch, and each replica's log.

    Args:
        history: the partition, replayed to its end.
        logs: log of each replica, as its lines imply.
    """
    yield from (found for one in _files(history) if (found := _current_epoch(history, one)) is not None)
    yield from _differ(history, logs)


def _files(history: History) -> Iterator[_Files]:
    for broker in sorted({*history.facts.disks, *history.role_spans}):
        spans, disk = history.role_spans.get(broker, []), history.facts.disks.get(broker, NO_DISK)
        yield _Files(broker, disk, spans, max((role_span.epoch for role_span in spans), default=-1))


def _later_epoch(history: History, one: _Files) -> MissingLines | None:
    shown = [epoch for epoch, _ in one.disk.lineage.entries] + [epoch for epoch, _, _ in one.disk.entries]
    latest = max(shown, default=-1)
    if one.last < 0 or latest <= one.last:
        return None
    if latest == one.last + 1 and _shutting_down(history, one.broker, latest):
        return None
    return FILES_KNOW_LATER_EPOCH.of(one.broker, {"known": latest}, epoch=one.last)


def _later_isr(history: History, one: _Files) -> MissingLines | None:
    if one.last < 0 or one.spans[-1].replica_removed:
        return None
    for later in history.epochs.naming.get(one.broker, ()):
        taken_out = later.epoch == one.last + 1 and _shutting_down(history, one.broker, later.epoch)
        joined = later.leader != one.broker and later.isr_from_leader
        if later.epoch > one.last and joined and not taken_out:
            return IN_LATER_ISR.of(one.broker, {"later": later.epoch}, epoch=one.last)
    return None


def _below_recovery_point(history: History, one: _Files) -> MissingLines | None:
    end, point = one.disk.end, one.disk.recovery_point[0] if one.disk.recovery_point is not None else 0
    if end is None or not one.spans or end >= point or one.disk.damage or _ended_below(one.spans, point):
        return None
    if _truncated_within_batch(one.spans, end):
        return None
    return BELOW_RECOVERY_POINT.of(one.broker, {"end": end, "point": point}, epoch=one.last)


def _below_loaded(history: History, one: _Files) -> MissingLines | None:
    end, loaded = one.disk.end, _flushed(one.spans)
    if end is None or end >= loaded or one.disk.damage:
        return None
    return BELOW_LOADED.of(one.broker, {"end": end, "loaded": loaded}, epoch=one.last)


def _grew_after_load(history: History, one: _Files) -> MissingLines | None:
    last = one.spans[-1].last_step if one.spans else None
    end, loaded = one.disk.end, last.target if last is not None and last.kind is StepKind.LOADED else None
    if loaded is None or end is None or end <= loaded or not history.coverage.has(one.broker, Printed.ROLES):
        return None
    return GREW_AFTER_LOAD.of(one.broker, {"end": end, "loaded": loaded}, epoch=one.last)


def _below_reached(history: History, one: _Files) -> MissingLines | None:
    end, checkpoint = one.disk.end, one.disk.checkpoint
    reached = one.spans[-1].end_low if one.spans and not one.spans[-1].steps else 0
    if end is None or checkpoint is None or checkpoint[0] > end or end >= reached or one.disk.damage:
        return None
    return BELOW_REACHED.of(one.broker, {"end": end, "reached": reached}, epoch=one.last)


def _current_epoch(history: History, one: _Files) -> MissingLines | None:
    current = history.current
    if current is None or current.leader is None or current.start is None or not 0 <= one.last < current.epoch:
        return None
    if not history.facts.identical_ranges(one.broker, current.leader, [(current.start, one.disk.end or 0)]):
        return None
    return HOLDS_CURRENT_EPOCH.of(one.broker, {"current": current.epoch}, epoch=one.last)


_OF_FILES: tuple[Callable[[History, _Files], MissingLines | None], ...] = (
    _later_epoch,
    _later_isr,
    _below_recovery_point,
    _below_loaded,
    _grew_after_load,
    _below_reached,
)


def _differ(history: History, logs: Mapping[int, Lineage]) -> Iterator[MissingLines]:
    """Yield pairs of replicas whose files differ although their lines imply the same records."""
    for fork in history.facts.forks:
        pair = (fork.left, fork.right)
        if not all(history.role_spans.get(broker) for broker in pair):
            continue
        first, end = fork.ranges[0]
        differ, unknown = differences(logs[fork.left], logs[fork.right], first, end)
        if not differ and not unknown:
            for broker in pair:
                yield DIFFERS_UNEXPLAINED.of(broker, {"first": first})


def begin_late(history: History) -> Iterator[MissingLines]:
    """Yield replicas that existed before their own lines begin, by others' lines or by a first epoch above 0."""
    for broker, spans in history.role_spans.items():
        roles = [role_span.epoch for role_span in spans if role_span.epoch >= 0]
        found = _begins_late(history, broker, min(roles)) if roles else None
        if found is not None:
            yield found


def _begins_late(history: History, broker: int, first: int) -> MissingLines | None:
    """Return the missing lines of one replica, whose first known role is in epoch ``first``."""
    earlier = next(iter(history.epochs.naming.get(broker, ())), None)
    if earlier is not None and earlier.epoch < first:
        role = "led" if earlier.leader == broker else "was in the ISR"
        return LINES_BEGIN_AFTER_ROLE.of(broker, {"role": role, "earlier": earlier.epoch}, epoch=first)
    if first > 0 and not history.replicas[broker].starts_empty:
        return LOG_WAS_THERE.of(broker, epoch=first)
    return None


def _ended_below(spans: Sequence[RoleSpan], end: int) -> bool:
    """Return whether a line shows that a log ended below an offset."""
    return any(
        step.kind in (*REMOVES, StepKind.LOADED) and step.target < end
        for role_span in spans
        for step in role_span.steps
    )


def _truncated_within_batch(spans: Sequence[RoleSpan], end: int) -> bool:
    """Return whether the last change of a log may be a truncation within a batch, that ends where its files end.

    The whole batch is removed, but the log end offset is the target (LogSegment.truncateTo, Log.truncateTo).
    """
    steps = [step for role_span in spans for step in role_span.steps]
    return bool(steps) and steps[-1].kind is StepKind.TRUNCATED and steps[-1].target > end


def _shutting_down(history: History, broker: int, number: int) -> bool:
    """Return whether an epoch removed a replica from the ISR because its broker requested its own shutdown.

    The broker does not receive that epoch and continues to fetch in it. It may even rejoin the ISR before it stops.
    """
    spans, epoch = history.role_spans.get(broker, []), history.epochs.get(number)
    leaves = bool(spans) and spans[-1].shut_down is not None
    return leaves and epoch is not None and epoch.elected_without(broker)


def _flushed(spans: Sequence[RoleSpan]) -> int:
    """Return the log end offset that no crash can undo: a clean shutdown flushed it, and no removal was logged
    since.
    """
    end = 0
    for step in (step for role_span in spans for step in role_span.steps):
        if step.kind is StepKind.LOADED:
            end = step.target if step.before is None else 0
        elif step.kind in REMOVES:
            end = 0
    return end
