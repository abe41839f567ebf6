"""When lost records were written: the span of time of which applications are asked to send records again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from forensics.case import Case
from forensics.replay.committed.failed_directories import failed_after_leading
from forensics.replay.committed.open_losses import more_lost
from forensics.replay.committed.proof import Loss
from forensics.replay.history import History, HwSource, Role
from forensics.replay.leader_epochs import Epoch
from forensics.rules.finding import brokers_text
from parsers.schema import Kind

_SECOND = 1_000_000
_Moment = tuple[int, str]
"""Microseconds since 1970 UTC, and what shows it."""


@dataclass(frozen=True, slots=True)
class Written:
    """The time in which lost records were written.

    Attributes:
        first, last: its ends, microseconds since 1970 UTC: whole milliseconds, outwards.
        text: the time in words, and what shows each end.
    """

    first: int
    last: int
    text: str


def written_between(history: History, case: Case, loss: Loss) -> Written | None:
    """Return in which time the lost records were written and what shows it; None if the evidence does not show it."""
    epoch = history.epochs.get(loss.lineage.epoch_at(loss.ranges[0][0]))
    if epoch is None or epoch.time is None or (until := _before(history, case, loss)) is None:
        return None
    since = _after(history, case, loss, (epoch.time, f"Leader epoch {epoch.epoch} began at"), until[0])
    if since[0] > until[0]:
        return None
    whole = (since[0] // 1_000 * 1_000, -(-until[0] // 1_000) * 1_000)  # both ends are within the span that is printed
    first, last = (datetime.fromtimestamp(time / 1e6, UTC) for time in whole)
    day = "" if first.date() == last.date() else f"{last:%Y-%m-%d} "
    text = (
        f"between {first:%Y-%m-%d} {_clock(first)} and {day}{_clock(last)} UTC{_if_zone(case)}. {since[1]} the "
        f"earlier time. At the later one, {until[1]}{_leader_gone(history, case, loss, whole)}"
    )
    return Written(*whole, text)


def _leader_gone(history: History, case: Case, loss: Loss, whole: tuple[int, int]) -> str:
    """Return when the controller found the leader that wrote the last of them gone, as a further sentence.

    That is no bound: a leader that has lost its controller may still append, and answer acks=all alone in its ISR. If
    another one led after it, lost records may be of that one too.

    Args:
        history: the partition.
        case: the case.
        loss: the loss.
        whole: the time in which the records were written.

    Returns:
        The sentence; "" where no line shows it.
    """
    last = history.epochs.get(loss.lineage.epoch_at(loss.ranges[-1][1] - 1))
    later = _last_before(history, loss.epoch.epoch)
    if last is None or last.leader is None or (later is not None and later.epoch > last.epoch):
        return ""
    found = [one.time for one in history.changes if last.epoch < one.epoch and last.leader in one.gone]
    time = min((time for time in (*found, _fenced(case, last.leader, whole)) if time is not None), default=None)
    if time is None or not whole[0] <= time < whole[1] - _SECOND:
        return ""
    did = "fenced" if history.protocol.kraft else "had found"
    gone = "" if history.protocol.kraft else " gone"
    at = datetime.fromtimestamp(time / 1e6, UTC)
    return (
        f". The controller {did} their leader, {brokers_text([last.leader], history.controllers)},{gone} at "
        f"{_clock(at)}: most likely none was written after that"
    )


def _fenced(case: Case, leader: int, whole: tuple[int, int]) -> int | None:
    """Return when a controller first logged, within a span of time, that a broker's session ended for good.

    A controller that was put back from a copy finds the same once more, and later.
    """
    rows = case.observations.filter(
        pl.col("kind").is_in([Kind.BROKER_FENCED.value, Kind.BROKER_UNFENCED.value]) & (pl.col("replica") == leader)
    )
    times = rows.select(pl.col("time").cast(pl.Int64), pl.col("kind").cast(pl.String)).drop_nulls().sort("time")
    inside = [(time, kind) for time, kind in times.iter_rows() if whole[0] <= time < whole[1]]
    back = max((time for time, kind in inside if kind == Kind.BROKER_UNFENCED.value), default=-1)
    return min((time for time, kind in inside if kind == Kind.BROKER_FENCED.value and time > back), default=None)


def _last_before(history: History, epoch: int) -> Epoch | None:
    """Return the last epoch before another one that a broker may have led, or None.

    A broker that is elected while it is down, and returns in a later epoch, never led.
    """
    led = [one for one in history.epochs.values() if one.epoch < epoch and one.leader not in (None, -1)]
    acted = [one for one in led if _led_until(history, one) or not history.coverage.throughout(one.leader)]
    return max(acted, key=lambda one: one.epoch, default=None)


def _clock(time: datetime) -> str:
    return f"{time:%H:%M:%S}.{time.microsecond // 1_000:03}"


def _after(history: History, case: Case, loss: Loss, begun: _Moment, until: int) -> _Moment:
    """Return the last known time after which the lost records were written.

    Their leader epoch had begun, and the record before them was written: its timestamp is the clock of its producer, or
    of its leader. A producer may have created the next ones before a new leader could append them. So the timestamp of
    the record right before them counts, also if their leader epoch began later. A high watermark shows no such time:
    records above it may be written already.

    Args:
        history: the partition.
        case: the case.
        loss: the loss.
        begun: when their leader epoch began.
        until: time before which they were written; a timestamp after it is of a clock that is wrong.
    """
    first = loss.ranges[0][0]
    stamped = _stamp_before(history, case, first)
    if stamped is None or stamped[1] > until or (stamped[0] < first - 1 and stamped[1] <= begun[0]):
        return begun
    offset, time = stamped
    return time, f"Offset {offset}, the last record before them, is of"


def _stamp_before(history: History, case: Case, first: int) -> tuple[int, int] | None:
    """Return an offset that a replica still holds below another, and its timestamp in microseconds; the last such one.

    Only the first and the last batch of a leader epoch in a segment count: Spark keeps no others of a partition with
    very many, and an answer must not depend on what runs it.
    """
    segments = [source for disk in history.facts.disks.values() for source in disk.segments]
    sound = case.batches.filter(
        pl.col("source").is_in(segments), pl.col("last_offset").is_not_null(), pl.col("crc_ok").fill_null(True)
    )
    base, of_epoch = pl.col("base_offset"), ("source", "leader_epoch")
    ends = (base == base.min().over(of_epoch)) | (base == base.max().over(of_epoch))
    held = sound.filter(ends).filter(pl.col("last_offset") < first, pl.col("max_timestamp") >= 0)
    if held.is_empty():
        return None
    offset, time = held.sort("last_offset", "max_timestamp").select("last_offset", "max_timestamp").row(-1)
    return offset, time * 1_000


def _before(history: History, case: Case, loss: Loss) -> _Moment | None:
    """Return a time before which the lost records were written, and what happened then.

    A line printed then that they were committed. Or their leader could write no more, as its log directory had failed
    or its process had ended, or a leader began without them: this is all that holds if more may be lost.
    """
    failed = [*_directory_failed(history, case, loss), *_leaders_restarted(history, case, loss)]
    leader = brokers_text([loss.epoch.leader], history.controllers) if loss.epoch.leader is not None else "a leader"
    begun = [(loss.epoch.time, f"{leader} began leader epoch {loss.epoch.epoch} without them")]
    stated = [
        (one.time, f"broker {one.replica} logged high watermark {one.high_watermark}")
        for one in loss.statements
        if one.how in _OF_THE_TIME and one.high_watermark >= loss.ranges[-1][1]
    ]
    every = [*begun, *failed] if more_lost(history, loss).any_near else [*begun, *failed, *stated]
    return min(((time, event) for time, event in every if time is not None), default=None)


def _directory_failed(history: History, case: Case, loss: Loss) -> list[tuple[int | None, str]]:
    """Return when the log directory of the last leader before the one that lacks the records failed, if it did."""
    last = _last_before(history, loss.epoch.epoch)
    found = failed_after_leading(history, case, last.leader, last.epoch) if last is not None else None
    return [(found.time, f"the log directory of broker {found.broker} failed")] if found is not None else []


def _leaders_restarted(history: History, case: Case, loss: Loss) -> list[tuple[int | None, str]]:
    """Return when the last of the brokers that may have written lost records had started again, if all of them had.

    By then each process that led has ended. When it ended is unknown: a leader may append for long without a line.
    """
    wrote = loss.lineage.epoch_at(loss.ranges[0][0])
    if history.quorum is not None or history.coverage.unnamed_between(wrote, loss.epoch.epoch):
        return []
    led = [one for one in history.epochs.values() if wrote <= one.epoch < loss.epoch.epoch and one.leader != -1]
    if not all(one.leader is not None and history.coverage.throughout(one.leader) for one in led):
        return []
    acted = [_led_until(history, one) for one in led]
    ended = [(_next_start(case, *one), one[0]) for one in acted if one is not None]
    if not ended or any(time is None for time, _ in ended):
        return []
    time, broker = max((time, broker) for time, broker in ended if time is not None)
    return [(time, f"broker {broker}, which had led before, started again")]


def _led_until(history: History, epoch: Epoch) -> tuple[int, int] | None:
    """Return the leader of an epoch and its last line as such; None if no line of its shows it as leader.

    A leader that is down while it is elected writes nothing.
    """
    spans = [one for one in history.role_spans.get(epoch.leader or 0, ()) if one.epoch == epoch.epoch]
    times = [one.acted_time or one.time for one in spans if one.role is Role.LEADER]
    return (spans[0].replica, max(time or 0 for time in times)) if times else None


def _next_start(case: Case, broker: int, since: int) -> int | None:
    """Return when the first process of a broker after a moment began, or None."""
    known = case.brokers.get(broker)
    return min((time for time in known.starts if time > since), default=None) if known is not None else None


_OF_THE_TIME = frozenset({HwSource.PRINTED, HwSource.PRINTED_BY_LEADER})
"""Statements of high watermarks at the time at which they were reached, or soon after."""


def _if_zone(case: Case) -> str:
    """Return on which time zone a time rests, if lines name none."""
    zone = case.reading.assumed
    rests = not case.traces_alone and zone in case.sources.get_column("zone")
    return f" (if the logs are in {zone})" if rests else ""
