"""Answers for lines that state known problems: what became of them, by later lines and by the copies.

Of corrupt records, what log recovery did there and whether a copy still has the records. Of a leader that could not
read its log, who leads now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

import polars as pl

from forensics.case import Case
from forensics.replay.history import History
from forensics.result import Result
from forensics.rules.finding import Severity, brokers_text
from forensics.rules.stated_problems import Problem
from parsers.schema import Kind

CORRUPT = "corrupt-record"
_OF_LEADERS = ("leader-storage-error", "leader-log-damaged")
"""Known problems of a leader, which are over where another broker leads later."""
_SOON = 60_000_000
"""Microseconds after the line of an error in which recovery logs what it did about it; it does so at once."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """A truncation by log recovery: on which broker, when (microseconds since 1970 UTC), and to which offset."""

    broker: int
    time: int
    offset: int


def outcomes(result: Result, problems: Sequence[Problem]) -> list[str]:
    """Return a sentence for each place of known problems of which the evidence shows what became of it."""
    return [*recovered(result, problems), *led_since(result, problems)]


def led_since(result: Result, problems: Sequence[Problem]) -> list[str]:
    """Return a sentence for each place of a leader's problem after which another broker began to lead."""
    asked = [one for one in problems if one.known.id in _OF_LEADERS and one.name is not None]
    histories = _histories(result) if asked else {}
    found = ((one, histories.get(one.name or "")) for one in asked)
    return [text for one, history in found if history is not None and (text := _led_since(result, history, one))]


def _led_since(result: Result, history: History, problem: Problem) -> str:
    """Return who leads since when, and that findings are about the partition; "" if no later leader is known."""
    now, leader = history.current, problem.values.get("leader")
    if now is None or now.time is None or problem.time is None or leader is None:
        return ""
    if now.leader in (None, -1, leader) or now.time <= problem.time:
        return ""
    when = datetime.fromtimestamp(now.time / 1e6, UTC)
    loud = any(
        one.severity is not Severity.INFO
        for one in result.findings
        if (one.topic, one.partition, one.incarnation) == (history.topic, history.partition, 0)
    )
    also = f". What came of it is in the findings about {history.name}" if loud else ""
    return f"broker {now.leader} leads {history.name} since {when:%H:%M:%S} UTC (leader epoch {now.epoch}){also}"


def recovered(result: Result, problems: Sequence[Problem]) -> list[str]:
    """Return a sentence for each place of known problems at which log recovery truncated what was corrupt.

    A problem names no cluster. So none is about a partition whose name several clusters of the evidence have.
    """
    asked = [one for one in problems if one.known.id == CORRUPT and one.name is not None]
    if not asked:
        return []
    histories = _histories(result)
    lines = _lines(result.case)
    cuts = [(histories.get(one.name or ""), _cut(lines, one)) for one in asked]
    return [_text(history, cut) for history, cut in cuts if history is not None and cut is not None]


def _histories(result: Result) -> dict[str, History]:
    """Return the partitions whose name only one cluster of the evidence has, by name."""
    named: dict[str, list[History]] = {}
    for one in result.partitions:
        if not one.history.incarnation:
            named.setdefault(one.history.name, []).append(one.history)
    return {name: found[0] for name, found in named.items() if len(found) == 1}


def _lines(case: Case) -> pl.DataFrame:
    """Return the lines in which log recovery says to which offset it truncated, in order."""
    known = ("broker", "topic", "partition", "time", "offset")
    rows = case.observations.filter(
        pl.col("kind") == Kind.CORRUPTION_CUT.value, pl.all_horizontal(pl.col(known).is_not_null())
    )
    return rows.select("broker", "topic", "partition", pl.col("time").cast(pl.Int64), "offset")


def _cut(lines: pl.DataFrame, problem: Problem) -> _Cut | None:
    """Return the truncation that follows soon after a line about corruption, if there is one."""
    if problem.time is None or problem.broker is None:
        return None
    rows = lines.filter(
        pl.col("broker") == problem.broker,
        pl.col("topic") == problem.topic,
        pl.col("partition") == problem.partition,
        pl.col("time").is_between(problem.time, problem.time + _SOON),
    )
    return _Cut(problem.broker, *rows.select("time", "offset").row(0)) if rows.height else None


_OUTCOMES: Mapping[tuple[bool, bool], str] = MappingProxyType(
    {
        (True, True): "{others} {have} the records from there on, and it fetched them again. No record is missing",
        (True, False): "{others} {have} the records from there on. Let one of them lead",
        (False, True): "What is there now was written later. No copy in the evidence has what was removed",
        (False, False): "No copy in the evidence has what was removed",
    }
)
"""The end of each answer, by whether another replica has them, and whether this one has records there."""


def _text(history: History, cut: _Cut) -> str:
    """Return what recovery did, and which copies have the records that it removed."""
    when = datetime.fromtimestamp(cut.time / 1e6, UTC)
    reaching = {
        broker: replica.lineage.epoch_at(cut.offset)
        for broker, replica in history.replicas.items()
        if replica.on_disk and (replica.held_end or 0) > cut.offset
    }
    before = [broker for broker, epoch in reaching.items() if _began_before(history, epoch, cut.time)]
    others = [broker for broker in before if broker != cut.broker]
    outcome = _OUTCOMES[bool(others), cut.broker in (before if others else reaching)].format(
        others=brokers_text(others).capitalize(), have="has" if len(others) == 1 else "have"
    )
    done = f"at {when:%H:%M:%S} UTC, log recovery of broker {cut.broker} truncated the log to {cut.offset}"
    return f"{history.name}: {done}. {outcome}"


def _began_before(history: History, epoch: int, time: int) -> bool:
    """Return whether a leader epoch began before a time, so that its records may be those that were there then."""
    begun = history.epochs.get(epoch)
    return begun is not None and begun.time is not None and begun.time < time
