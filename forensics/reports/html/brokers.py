"""An index of brokers: what happened on each of them, over all partitions."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from forensics.case.brokers import Broker
from forensics.case.trace_clusters import cluster_text
from forensics.replay.history import History, Truncation
from forensics.reports import incidents
from forensics.reports.html.story import step_anchor, steps_of, tone_of
from forensics.reports.html.wording import anchored, micros, namer, plain
from forensics.reports.titles import node_name
from forensics.result import Result
from forensics.rules.finding import Severity
from parsers.schema import Kind

ROWS, NAMED, BROKERS = 80, 6, 200
"""Rows of a broker, partitions named in a row, and brokers in the index."""

TOGETHER, STARTING = 2_000_000, 10_000_000
"""Microseconds within which the same on several partitions is one row, and within which a process starts or stops."""

_PROCESS = {
    Kind.PROCESS_START.value: "its process started",
    Kind.SHUTDOWN_BEGIN.value: "began to shut down",
    Kind.SHUTDOWN_COMPLETE.value: "shut down cleanly",
}
"""Events of a whole broker, in words."""


@dataclass(slots=True)
class Happened:
    """One row: what happened on a broker, and to which partitions.

    Attributes:
        time: microseconds since 1970 UTC, or None.
        text: what, with the values of the first partition.
        step: id of the step in a story, or "".
        tone: "bad" or "warn" where a finding is made of it, else "".
        places: name and anchor of partitions; the anchor is "" for one without a chart.
        more: how many partitions are not named.
        on_disk: files show it, as they were when they were copied.
        varies: the text is that of the first partition; in others its values differ.
    """

    time: int | None
    text: str
    step: str = ""
    tone: str = ""
    places: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0
    on_disk: bool = False
    varies: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """One broker.

    Attributes:
        anchor: id of its element.
        name: what it is called, with the cluster if there are several.
        version: of Kafka, or "".
        led: how many partitions it led at any time, and ``held`` of how many it had a replica.
        bad: rows that a finding is made of.
        rows: what happened, in order of time.
        more: how many rows are left out.
    """

    anchor: str
    name: str
    version: str
    led: int
    held: int
    bad: int
    rows: tuple[Happened, ...]
    more: int


@dataclass(frozen=True, slots=True)
class _Event:
    cluster: str | None
    broker: int
    time: int | None
    text: str
    kind: Hashable  # equal for the same on several partitions
    place: tuple[str, str] | None = None
    step: str = ""
    tone: str = ""
    on_disk: bool = False
    placed: int = 0  # where it belongs among events with a time

    @property
    def order(self) -> tuple[object, ...]:
        return (
            self.on_disk,
            self.placed if self.time is None else self.time,
            not self.step,
            self.place or ("", ""),
            self.text,
        )


def brokers(result: Result, anchors: Mapping[int, str]) -> tuple[Held, ...]:
    """Return every broker with what happened there.

    Args:
        result: a finished scan.
        anchors: ids of the elements of partitions with a chart, by their position in the result.
    """
    events: dict[tuple[str | None, int], list[_Event]] = {}
    for event in _events(result, anchors):
        events.setdefault((event.cluster, event.broker), []).append(event)
    histories: dict[str | None, list[History]] = {}
    for partition in result.partitions:
        histories.setdefault(partition.history.cluster, []).append(partition.history)
    everyone = sorted(result.case.everyone, key=lambda b: (b.cluster or "", b.id))[:BROKERS]
    several = len(result.case.parts) > 1
    return tuple(
        _held(one, _rows(events.get((one.cluster, one.id), [])), histories.get(one.cluster, []), several=several)
        for one in everyone
    )


def _held(one: Broker, rows: list[Happened], histories: list[History], *, several: bool) -> Held:
    kept = _kept(rows)
    cluster = one.cluster or "unknown"
    return Held(
        anchored(f"broker-{one.id}" + (f"@{cluster}" if several else "")).partition("/")[2],
        f"{node_name(one).capitalize()}{f' of {plain(cluster_text(cluster))}' if several else ''}",
        plain(one.version or ""),
        sum(any(epoch.leader == one.id for epoch in history.epochs.values()) for history in histories),
        sum(one.id in history.replicas for history in histories),
        sum(row.tone == "bad" for row in rows),
        tuple(kept),
        len(rows) - len(kept),
    )


Places = Mapping[tuple[object, ...], tuple[str, str]]
"""Name and anchor of each partition."""


def _events(result: Result, anchors: Mapping[int, str]) -> Iterator[_Event]:
    called = namer([p.history.cluster for p in result.partitions])
    places = {
        _key(partition.history): (called(partition.history), anchors.get(position, ""))
        for position, partition in enumerate(result.partitions)
    }
    told: set[tuple[object, ...]] = set()
    recovered = _recovered(result)
    for event in _of_incidents(result, places):
        told.add((event.place, event.broker, event.time))
        yield event
    for partition in result.partitions:
        place = places[_key(partition.history)]
        for event in itertools.chain(
            _of_partition(partition.history, place), _cuts(partition.history, recovered, place)
        ):
            if (event.place, event.broker, event.time) not in told:
                yield event
    yield from _processes(result)


def _of_incidents(result: Result, places: Places) -> Iterator[_Event]:
    loud = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    for story, group in enumerate(incidents.grouped(incidents.incidents(loud))):
        for number, incident in enumerate(group):
            yield from _of_incident(incident, story, places, linked=number == 0)


def _of_incident(incident: incidents.Incident, story: int, places: Places, *, linked: bool) -> Iterator[_Event]:
    """The steps of an incident; equal incidents have equal kinds of steps."""
    lead = incident.lead
    tone = tone_of(lead)
    for place, step in enumerate(steps_of(incident.findings), start=1):
        fact = step.fact
        if fact.broker is not None:
            kind = (story, incident.findings.index(step.finding), step.finding.facts.index(fact))
            anchor = step_anchor(lead, place) if linked else ""
            where = places[incidents.incarnation_of(lead)]
            yield _Event(
                *(lead.cluster, fact.broker, fact.time, plain(fact.text), kind, where, anchor, tone, step.on_disk),
                placed=step.placed[0],
            )


def _of_partition(history: History, place: tuple[str, str]) -> Iterator[_Event]:
    """Truncations, and when each leader began."""
    for cut in history.truncations:
        if cut.time is not None:
            yield _Event(history.cluster, cut.replica, cut.time, _cut(cut), "truncated", place)
    for epoch in history.epochs.values():
        if epoch.leader is not None and epoch.leader >= 0 and epoch.time is not None:
            text = f"became leader of epoch {epoch.epoch}" + (", though not in the ISR" if epoch.unclean else "")
            yield _Event(
                history.cluster, epoch.leader, epoch.time, text, ("led", epoch.epoch, bool(epoch.unclean)), place
            )


_Recoveries = Mapping[tuple[str | None, str, int], Sequence[tuple[int, int | None, int]]]
"""Log recoveries that found corruption, by cluster, topic and partition: broker, time, and where the log ends then."""


def _recovered(result: Result) -> _Recoveries:
    found: dict[tuple[str | None, str, int], list[tuple[int, int | None, int]]] = {}
    for part in result.case.parts:
        named = part.sources.get_column("cluster").drop_nulls().to_list()
        rows = part.observations.filter(pl.col("kind") == Kind.CORRUPTION_CUT.value)
        columns = ("topic", "partition", "broker", "time", "offset")
        for topic, number, broker, time, offset in rows.select(columns).drop_nulls().iter_rows():
            key = (named[0] if named else None, topic, number)
            found.setdefault(key, []).append((broker, micros(time), offset))
    return found


def _cuts(history: History, recovered: _Recoveries, place: tuple[str, str]) -> Iterator[_Event]:
    """Return the log recoveries of a partition that found corruption; lines do not name a topic by its id."""
    if not history.incarnation:
        for broker, time, offset in recovered.get((history.cluster, history.topic, history.partition), ()):
            text = f"log recovery found corruption and truncated its log to {offset}"
            yield _Event(history.cluster, broker, time, text, "recovered", place)


def _cut(cut: Truncation) -> str:
    return f"truncated its log from {'' if cut.before.is_exact else 'at least '}{cut.end} to {cut.target}"


def _processes(result: Result) -> Iterator[_Event]:
    for part in result.case.parts:
        named = part.sources.get_column("cluster").drop_nulls().to_list()
        rows = part.observations.filter(pl.col("kind").is_in(list(_PROCESS)) & pl.col("time").is_not_null())
        for kind, broker, time in rows.select("kind", "broker", "time").drop_nulls().iter_rows():
            yield _Event(named[0] if named else None, broker, micros(time), _PROCESS[kind], kind)


def _rows(events: list[_Event]) -> list[Happened]:
    """Put the same on several partitions at about one time together."""
    rows: list[Happened] = []
    last: dict[Hashable, Happened] = {}
    for event in sorted(events, key=lambda one: one.order):
        row = last.get(event.kind)
        if row is None or not _near(row.time, event.time, STARTING if event.place is None else TOGETHER):
            row = last[event.kind] = Happened(event.time, event.text, event.step, event.tone, on_disk=event.on_disk)
            rows.append(row)
        if event.place is not None and event.place not in row.places:
            row.places.append(event.place)
        row.step = row.step or event.step
        row.varies = row.varies or row.text != event.text
    for row in rows:
        row.more = max(len(row.places) - NAMED, 0)
        del row.places[NAMED:]
    return rows


def _near(time: int | None, other: int | None, apart: int) -> bool:
    if time is None or other is None:
        return time is other
    return other - time <= apart


def _kept(rows: list[Happened]) -> list[Happened]:
    """Return the rows for which there is room, steps of findings first; the order stays that of time."""
    if len(rows) <= ROWS:
        return rows
    chosen = sorted(range(len(rows)), key=lambda place: (not rows[place].tone, place))[:ROWS]
    return [rows[place] for place in sorted(chosen)]


def _key(history: History) -> tuple[object, ...]:
    return (history.cluster, history.topic, history.topic_id, history.partition, history.incarnation)
