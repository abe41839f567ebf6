"""The steps of findings beside a timeline, and the span of time around one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import polars as pl

from forensics.case import Case
from forensics.outputs import as_json
from forensics.reports.incidents import Incident, Step, incidents, story
from forensics.rules.finding import Finding, Severity
from forensics.tables import timelines

SCHEMA: Final = "forensics.timeline/1"
AROUND: Final = 5_000_000
"""Microseconds before the first and after the last step of a finding."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One step of a finding.

    Attributes:
        number: its place among the steps of its incident, as a scan numbers them.
        step: what happened.
        lead: the worst finding of the incident.
    """

    number: int
    step: Step
    lead: Finding

    @property
    def time(self) -> int | None:
        """Return its time, or that of the step beside it, in microseconds since 1970 UTC; None for the files."""
        return None if self.step.on_disk or not self.step.placed[0] else self.step.placed[0]

    @property
    def text(self) -> str:
        """Return the step in words."""
        return self.step.text


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a timeline to show.

    Attributes:
        since, until: microseconds since 1970 UTC; None for no bound.
        marks: steps of findings, in the order of time.
    """

    since: int | None = None
    until: int | None = None
    marks: tuple[Mark, ...] = field(default=())

    def has(self, time: datetime | None) -> bool:
        """Return whether a time is within the bounds; what has no time always is."""
        return time is None or self._within(micros_of(time))

    def _within(self, micros: int) -> bool:
        return (self.since is None or micros >= self.since) and (self.until is None or micros <= self.until)

    @property
    def steps(self) -> tuple[Mark, ...]:
        """Return the steps within the bounds, and those that files show."""
        return tuple(mark for mark in self.marks if mark.time is None or self._within(mark.time))

    def around(self) -> Shown:
        """Return the same, from a little before the first step to a little after the last."""
        times = [mark.time for mark in self.marks if mark.time is not None]
        if not times:
            return self
        return Shown(min(times) - AROUND, max(times) + AROUND, self.marks)


def marks(findings: Sequence[Finding]) -> tuple[Mark, ...]:
    """Return the steps of findings of one partition, by time; what only files show comes last."""
    found = [mark for one in incidents(findings) for mark in _marks(one)]
    return tuple(sorted(found, key=lambda mark: (mark.time is None, mark.time or 0)))


def _marks(incident: Incident) -> Iterator[Mark]:
    for number, step in enumerate(story(incident.findings).steps, 1):
        yield Mark(number, step, incident.lead)


def incident_of(findings: Sequence[Finding], name: str) -> list[Finding]:
    """Return the findings of the incidents that a finding belongs to.

    Args:
        findings: of one partition.
        name: a rule, or the beginning of a fingerprint.
    """
    loud = [one for one in findings if one.severity is not Severity.INFO or one.rule == name]
    return [
        finding
        for one in incidents(loud)
        if any(name in (f.rule, f.fingerprint[: len(name)]) for f in one.findings)
        for finding in one.findings
    ]


def micros_of(time: datetime) -> int:
    """Return microseconds since 1970 UTC."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def lines(case: Case, history: Any, frame: pl.DataFrame, shown: Shown) -> Iterator[str]:
    """Yield the states of each replica as lines of JSON, by the contract ``forensics.timeline/1``.

    Args:
        case: what was taken in.
        history: the partition.
        frame: its timeline.
        shown: the part to show, and the steps beside it.
    """
    table = timelines(case, [history], lambda _case, _history: frame)
    steps = _steps_by_state(table, shown.marks)
    for number, row in enumerate(table.iter_rows(named=True)):
        if not shown.has(row["from"]):
            continue
        place = row["at"] or {}
        source = place.get("source")
        values = {name: _plain(row[name]) for name in _FIELDS}
        isr = [int(one) for one in row["isr"].split(",")] if row["isr"] else None
        where = {"path": case.path(source) if source is not None else None, "line": place.get("line")}
        yield as_json({"schema": SCHEMA, **values, "isr": isr, **where, "steps": steps.get(number, [])}) + "\n"


_FIELDS: Final = (
    *("cluster", "topic", "topic_id", "partition", "incarnation", "replica", "run", "from", "to", "role", "leader"),
    *("leader_epoch", "log_end_offset", "log_end_exact", "high_watermark", "high_watermark_exact"),
    *("log_start_offset", "confidence", "event"),
)


def _steps_by_state(table: pl.DataFrame, found: Sequence[Mark]) -> Mapping[int, list[dict[str, Any]]]:
    """Return the steps by the number of the state in which they happened."""
    begun: dict[int, list[tuple[int, int]]] = {}
    for number, (replica, time) in enumerate(table.select("replica", "from").iter_rows()):
        if time is not None:
            begun.setdefault(replica, []).append((micros_of(time), number))
    steps: dict[int, list[dict[str, Any]]] = {}
    for mark in found:
        time, broker = mark.step.fact.time, mark.step.fact.broker
        mine = (
            [number for start, number in begun.get(broker, ()) if start <= time]
            if broker is not None and time is not None
            else []
        )
        if mine:
            said = {"finding": mark.lead.fingerprint, "rule": mark.lead.rule, "step": mark.number}
            steps.setdefault(mine[-1], []).append({**said, "text": mark.step.fact.text})
    return steps


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value
