"""Contents of a partition's charts, as plain values: one lane per replica, marks, epochs, and logs at chosen
moments.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

import polars as pl

from forensics.case import Case
from forensics.case.quotes import LONGEST, Place, places
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import broker_set
from forensics.replay.history import History, Replica, Truncation
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Range
from forensics.replay.timeline import DELETED, ON_DISK, SILENT, STOPPED, committed, timeline
from forensics.reports import incidents
from forensics.reports.html.story import step_anchor, steps_of, tone_of
from forensics.reports.html.thinning import thin
from forensics.reports.html.wording import micros, plain
from forensics.result import Partition
from forensics.rules.finding import Finding, Severity, brokers_text
from parsers.schema import Kind

Quote = Callable[[Case, Iterable[Place]], dict[Place, str]]
"""Gives the text at places of the evidence; a redacted report gives the redacted text."""

Reference = tuple[str, int | None, str]
"""Source of a value: path, line number, and the line itself, or "" if it is not quoted."""

POINTS, EPOCHS, BANDS, QUOTED = 700, 60, 12, 80
"""Per replica the states drawn; per partition the epochs, the offset ranges of findings, and the lines quoted."""

_CHANGES = (
    Kind.TRUNCATE,
    Kind.TRUNCATE_FULL,
    Kind.LOG_LOADED,
    Kind.CORRUPTION_CUT,
    Kind.LOG_DELETED,
    Kind.PROCESS_START,
    Kind.SHUTDOWN_COMPLETE,
)


@dataclass(frozen=True, slots=True)
class State:
    """A row of the timeline that is drawn; times in milliseconds since the start of the chart."""

    start: int
    end: int
    role: str
    epoch: int | None
    leader: int | None
    log_end: int | None
    exact: bool
    high_watermark: int | None
    high_watermark_exact: bool
    isr: str | None
    event: str
    ref: int  # index into Chart.references, or -1
    high_watermark_ref: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened on one replica.

    Attributes:
        kind: "cut", "start", "elected", "unclean" (elected outside the ISR), "finding".
        label: number of the step in the story, or "".
        wrong: a finding that is shown in red blames it.
    """

    kind: str
    time: int
    text: str
    value: int | None = None
    before: int | None = None
    label: str = ""
    ref: int = -1
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the worst incident, as its story numbers it.

    Attributes:
        time: milliseconds since the start of the chart, or None.
        who: the broker or the controller, in words.
        anchor: id of the step in the story.
        on_disk: files show it, as they were when they were copied.
    """

    number: int
    time: int | None
    broker: int | None
    who: str
    text: str
    anchor: str
    ref: int = -1
    on_disk: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """One replica; ``name`` is its broker or controller in words."""

    replica: int
    name: str
    states: tuple[State, ...]
    marks: tuple[Mark, ...]
    dated: tuple[tuple[int, int], ...]  # (time stamp, last offset + 1) of record batches on disk
    members: tuple[tuple[int, int, bool], ...]  # (from, to, in the ISR as last stated)
    disk_end: int | None
    disk_high_watermark: int | None


@dataclass(frozen=True, slots=True)
class Reign:
    """A leader epoch; its leader is -1 for none, and None if unknown, and ``name`` the same in words."""

    epoch: int
    leader: int | None
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Band:
    """Offsets of a finding."""

    first: int
    end: int
    title: str
    grave: bool = True


@dataclass(slots=True)
class Chart:
    """One partition.

    Attributes:
        zero: start of the chart, microseconds since 1970 UTC.
        length: milliseconds from there to the end of the evidence.
        references: behind the points, in the order of the evidence.
        quoted: places whose text is still wanted, by their index in ``references``.
        dropped: states that were left out by thinning.
        focus: the time the worst finding spans, or None.
        steps: of the worst incident.
        grave: the worst finding is shown in red.
    """

    zero: int
    length: int
    lanes: list[Lane] = field(default_factory=list)
    reigns: list[Reign] = field(default_factory=list)
    bands: list[Band] = field(default_factory=list)
    bound: list[tuple[int, int]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    quoted: dict[int, Place] = field(default_factory=dict)
    dropped: int = 0
    focus: tuple[int, int] | None = None
    steps: list[Step] = field(default_factory=list)
    grave: bool = False


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A chart in the making, with what its lanes are made of.

    Attributes:
        case: what was taken in.
        history: the partition.
        chart: the chart.
        kept: rows of the timeline that are drawn.
        refs: number in ``chart.references`` of each observation that is drawn.
        blamed: observations that findings shown in red cite.
    """

    case: Case
    history: History
    chart: Chart
    kept: pl.DataFrame
    refs: dict[int, int]
    blamed: Set[int]

    def reference(self, evidence: Iterable[Ref]) -> int:
        """Return the number of the first observation of some evidence that is drawn, or -1."""
        return next((self.refs[ref.row] for ref in evidence if ref.row in self.refs), -1)


def chart(case: Case, partition: Partition, short: Callable[[str], str] = str) -> tuple[Chart, pl.DataFrame]:
    """Collect what is drawn.

    Args:
        case: what was taken in.
        partition: which one.
        short: makes a path short enough to show.

    Returns:
        The chart, its lines not yet quoted, and the timeline it was made of.
    """
    history = partition.history
    case = case.part_of(history.cluster)
    frame = timeline(case, history)
    findings = [f for j in partition.judgements.values() for f in j.findings]
    timed = frame.filter(pl.col("from").is_not_null())
    zero, end = _extent(case, timed)
    drawn = Chart(zero, max((end - zero) // 1000, 1))
    cited = _rows(findings)
    kept, drawn.dropped = _thinned(timed, cited)
    proofs = (ref.row for epoch in history.epochs.values() for ref in epoch.refs[:1] + epoch.unclean[:1])
    refs = _references(case, drawn, kept, cited, {row for row in proofs if row is not None}, short)
    drawn.reigns = _reigns(history, drawn)
    drawn.bands = _bands(findings)
    drawn.bound = [(_ms(drawn, t), hw) for t, hw in committed(kept).select("from", "high_watermark").iter_rows()]
    worst = min(findings, key=lambda f: f.order, default=None)
    drawn.focus = _focus(drawn, worst)
    drawn.grave = _grave(worst)
    drawn.steps = _steps(findings, drawn, refs)
    drawing = _Drawing(case, history, drawn, kept, refs, _rows(filter(_grave, findings)))
    brokers = holders(history, frame)
    members = _members(frame, history.epochs.values(), brokers, drawn)
    drawn.lanes = [_lane(drawing, broker, members.get(broker, ())) for broker in brokers]
    return drawn, frame


def cite(case: Case, charts: Iterable[Chart], quote: Quote) -> None:
    """Put the text of their lines into the charts: all at once, so that each file is read once.

    Args:
        case: what was taken in.
        charts: as ``chart`` made them.
        quote: gives the text at places of the evidence.
    """
    charts = list(charts)
    texts = quote(case, {place for one in charts for place in one.quoted.values()})
    for one in charts:
        for number, place in one.quoted.items():
            path, line, _ = one.references[number]
            text = texts.get(place, "")
            one.references[number] = (path, line, plain(text) + (" …" if len(text) >= LONGEST else ""))
        one.quoted.clear()


def holders(history: History, frame: pl.DataFrame) -> list[int]:
    """Return brokers that hold or held a replica, also those without evidence.

    A controller that only logs about the partition has no log to draw.
    """
    acting = frame.filter(
        pl.col("role").is_in(["leader", "follower", "offline", ON_DISK]) | pl.col("log_end_offset").is_not_null()
    )
    found = set(acting.get_column("replica").to_list())
    for epoch in history.epochs.values():
        found.update(member for isr, _ in epoch.isr for member in isr)
        found.add(epoch.leader if epoch.leader is not None else -1)
    return sorted(broker for broker in found if broker >= 0)


def _extent(case: Case, timed: pl.DataFrame) -> tuple[int, int]:
    """First and last moment: of the partition where its lines have times, else of the case."""
    times = [micros(t) for t in (timed.get_column("from").min(), timed.get_column("to").max()) if t is not None]  # type: ignore[arg-type]
    if len(times) < 2:
        sources = case.sources
        times = [
            micros(t)  # type: ignore[arg-type]
            for t in (sources.get_column("first_time").min(), sources.get_column("last_time").max())
            if t is not None
        ]
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else (0, 0)


def _ms(drawn: Chart, time: object) -> int:
    value = time if isinstance(time, int) else micros(time)  # type: ignore[arg-type]
    return ((value if value is not None else drawn.zero) - drawn.zero) // 1000


def _thinned(timed: pl.DataFrame, cited: set[int]) -> tuple[pl.DataFrame, int]:
    wanted = sorted(cited)
    columns = ("row", "role_row", "log_end_offset_row", "high_watermark_row", "isr_row")
    flagged = timed.with_columns(
        pl.any_horizontal(
            pl.col(name).is_in(wanted) & (pl.col(name) != pl.col(name).shift(1).over("replica")).fill_null(True)
            for name in columns
        )
        .fill_null(False)
        .alias("_keep"),
        (
            pl.col("event").is_in([kind.value for kind in _CHANGES])
            | (pl.col("role") != pl.col("role").shift(1).over("replica"))
            | (pl.col("leader_epoch") != pl.col("leader_epoch").shift(1).over("replica"))
            | (pl.col("isr") != pl.col("isr").shift(1).over("replica"))
        )
        .fill_null(True)
        .alias("_change"),
    )
    parts = []
    for _, rows in flagged.group_by("replica", maintain_order=True):
        # What was left out between two states that stay is covered by the one before.
        fewer = thin(rows, POINTS, values=("log_end_offset", "high_watermark"), keep="_keep", changes="_change")
        if fewer.height < rows.height:
            last = rows.get_column("to")[-1]
            fewer = fewer.with_columns(
                pl.when(pl.col("from").shift(-1) > pl.col("to")).then(pl.col("from").shift(-1))
                .otherwise(pl.col("to")).fill_null(last).alias("to")
            )  # fmt: skip
        parts.append(fewer)
    if not parts:
        return timed, 0
    kept = pl.concat(parts)
    return kept, timed.height - kept.height


def _references(
    case: Case, drawn: Chart, kept: pl.DataFrame, cited: set[int], elected: set[int], short: Callable[[str], str]
) -> dict[int, int]:
    """Number the lines behind the drawn values; those of changes are to be quoted, findings and elections first."""
    wanted = kept.select("row", "high_watermark_row", "log_end_offset_row").unpivot().get_column("value").drop_nulls()
    found = places(case, {*wanted.unique().to_list(), *elected})
    changes = (
        kept.filter(pl.col("_change")).get_column("row").drop_nulls().to_list() if "_change" in kept.columns else []
    )
    first = [row for row in found if row in cited] + [row for row in found if row in elected]
    ordered = list(dict.fromkeys(first + [row for row in changes if row in found]))
    numbers: dict[int, int] = {}
    for row in sorted(found):
        numbers[row] = len(drawn.references)
        drawn.references.append((plain(short(case.path(found[row].source))), found[row].line, ""))
    drawn.quoted = {numbers[row]: found[row] for row in ordered[:QUOTED]}
    return numbers


def _state(row: dict[str, object], drawn: Chart, refs: Mapping[int, int]) -> State:
    def ref(name: str) -> int:
        value = row[name]
        return refs.get(value, -1) if isinstance(value, int) else -1

    known = row["role"] not in (SILENT, STOPPED, DELETED)
    return State(
        start=_ms(drawn, row["from"]),
        end=max(_ms(drawn, row["to"]), _ms(drawn, row["from"])),
        role=str(row["role"]),
        epoch=row["leader_epoch"],  # type: ignore[arg-type]
        leader=row["leader"],  # type: ignore[arg-type]
        log_end=row["log_end_offset"] if known else None,  # type: ignore[arg-type]
        exact=bool(row["log_end_exact"]),
        high_watermark=row["high_watermark"] if known else None,  # type: ignore[arg-type]
        high_watermark_exact=bool(row["high_watermark_exact"]),
        isr=row["isr"],  # type: ignore[arg-type]
        event=str(row["event"] or ""),
        ref=ref("log_end_offset_row") if row["log_end_offset_row"] == row["row"] else ref("row"),
        high_watermark_ref=ref("high_watermark_row"),
    )


def _reigns(history: History, drawn: Chart) -> list[Reign]:
    """Leader epochs by the earliest time at which anyone states them."""
    begun: dict[int, int] = {}
    for number, time in [
        *((e.epoch, e.time) for e in history.epochs.values()),
        *((t.epoch, t.time) for role_spans in history.role_spans.values() for t in role_spans),
    ]:
        if time is not None and number in history.epochs:
            begun[number] = min(time, begun.get(number, time))
    dated = [history.epochs[number] for number in sorted(begun)][-EPOCHS:]
    starts = [min(max(_ms(drawn, begun[e.epoch]), 0), drawn.length) for e in dated]
    # By number, not by clock: an epoch never begins before the one below it.
    for position in range(1, len(starts)):
        starts[position] = max(starts[position], starts[position - 1])
    ends = [*starts[1:], drawn.length][: len(starts)]
    return [
        Reign(e.epoch, e.leader, brokers_text([] if e.leader is None else [e.leader], history.controllers), start, end)
        for e, start, end in zip(dated, starts, ends, strict=True)
    ]


def _bands(findings: list[Finding]) -> list[Band]:
    bands: dict[Range, Band] = {}
    for finding in sorted(findings, key=lambda f: f.order):
        if finding.severity.rank > Severity.WARNING.rank:
            continue
        for first, end in finding.offsets:
            bands.setdefault((first, end), Band(first, end, finding.rule, _grave(finding)))
    return list(bands.values())[:BANDS]


def _rows(findings: Iterable[Finding]) -> set[int]:
    """Return the observations that findings cite."""
    return {ref.row for finding in findings for ref in finding.refs if ref.row is not None}


def _grave(finding: Finding | None) -> bool:
    return finding is not None and tone_of(finding) == "bad"


def _steps(findings: list[Finding], drawn: Chart, refs: dict[int, int]) -> list[Step]:
    """Return the steps of the worst incident, as its story on the page numbers them."""
    loud = [finding for finding in findings if finding.severity is not Severity.INFO]
    told = incidents.incidents(sorted(loud, key=lambda f: f.order))[:1]
    return [
        Step(
            place,
            _ms(drawn, one.fact.time) if one.fact.time is not None else None,
            one.fact.broker,
            one.who,
            plain(one.fact.text),
            step_anchor(incident.lead, place),
            next((refs[ref.row] for ref in one.fact.refs if ref.row in refs), -1),
            one.on_disk,
        )
        for incident in told
        for place, one in enumerate(steps_of(incident.findings), start=1)
    ]


def _focus(drawn: Chart, finding: Finding | None) -> tuple[int, int] | None:
    if finding is None:
        return None
    first, last = finding.span
    if first is None or last is None:
        return None
    return _ms(drawn, first), _ms(drawn, last)


def _lane(drawing: _Drawing, broker: int, members: Iterable[tuple[int, int, bool]]) -> Lane:
    replica = drawing.history.replicas.get(broker, Replica(broker))
    rows = drawing.kept.filter(pl.col("replica") == broker)
    return Lane(
        broker,
        brokers_text([broker], drawing.history.controllers),
        tuple(_state(row, drawing.chart, drawing.refs) for row in rows.iter_rows(named=True)),
        tuple(_marks(drawing, broker, rows)),
        tuple(_dated(drawing.case, drawing.history, broker, drawing.chart)),
        tuple(members),
        replica.end if replica.on_disk else None,
        replica.checkpoint[0] if replica.checkpoint is not None else None,
    )


def _marks(drawing: _Drawing, broker: int, rows: pl.DataFrame) -> Iterator[Mark]:
    """Yield everything that happened on a replica, kind by kind."""
    drawn = drawing.chart
    for cut in drawing.history.truncations:
        if cut.replica == broker and cut.time is not None:
            yield _truncation(drawing, cut, _ms(drawn, cut.time))
    starts = rows.filter(pl.col("event") == Kind.PROCESS_START.value).select("from", "row")
    for time, row in starts.iter_rows():
        yield Mark("start", _ms(drawn, time), "process started", ref=drawing.refs.get(row, -1))
    for reign in drawn.reigns:
        if reign.leader == broker:
            yield _election(drawing, reign)
    for step in drawn.steps:
        if step.broker == broker and step.time is not None:
            yield Mark("finding", step.time, step.text, label=str(step.number), ref=step.ref)


def _truncation(drawing: _Drawing, cut: Truncation, time: int) -> Mark:
    at_least = "" if cut.before.is_exact else "at least "
    times = f", {cut.repeats + 1} times" if cut.repeats else ""
    return Mark(
        "cut",
        time,
        f"truncated its log from {at_least}{cut.end} to {cut.target}{times}",
        cut.target,
        max(cut.end, cut.target),
        ref=drawing.reference(cut.refs),
        wrong=any(ref.row in drawing.blamed for ref in cut.refs),
    )


def _election(drawing: _Drawing, reign: Reign) -> Mark:
    """Return the moment at which a replica became the leader of a drawn epoch."""
    epoch = drawing.history.epochs[reign.epoch]
    parts = (
        f"elected leader of epoch {reign.epoch}",
        "though not in the ISR" if epoch.unclean else None,
        f"from offset {epoch.start}" if epoch.start is not None else None,
        f"ISR {','.join(map(str, sorted(epoch.first_isr)))}" if epoch.first_isr is not None else None,
    )
    text = ", ".join(part for part in parts if part is not None)
    ref = drawing.reference((epoch.unclean or epoch.refs)[:1])
    return Mark("unclean" if epoch.unclean else "elected", reign.start, text, ref=ref)


def _dated(case: Case, history: History, broker: int, drawn: Chart) -> list[tuple[int, int]]:
    """When the batches on disk were made, by the clock of their producer or, with LogAppendTime, of their leader."""
    if history.incarnation or case.batches.is_empty():
        return []
    live = case.sources.filter(pl.col("directory_state") == "current").get_column("id")
    rows = case.batches.filter(
        (pl.col("topic") == history.topic)
        & (pl.col("partition") == history.partition)
        & (pl.col("broker") == broker)
        & pl.col("source").is_in(live.implode())
        & (pl.col("max_timestamp") >= 0)
        & pl.col("crc_ok").fill_null(True)
    ).select((pl.col("max_timestamp") - drawn.zero // 1000).alias("at"), (pl.col("last_offset") + 1).alias("end"))
    rows = rows.filter(pl.col("at").is_between(0, drawn.length)).sort("end")
    flags = rows.with_columns(pl.lit(False).alias("_keep"), pl.lit(False).alias("_change"))
    fewer = thin(flags, 200, values=("at",), keep="_keep", changes="_change")
    return list(fewer.select("at", "end").iter_rows())


def _isr_moments(stated: pl.DataFrame, epochs: Iterable[Epoch]) -> list[tuple[int, int, frozenset[int]]]:
    """Return each ISR with its time (microseconds since 1970 UTC) and leader epoch, in order.

    Args:
        stated: states in which replicas state an ISR.
        epochs: leader epochs with what others state.
    """
    told = set(stated.get_column("leader_epoch").to_list())
    moments = [
        (micros(time) or 0, epoch, broker_set(isr) or frozenset())
        for time, epoch, isr in stated.select("from", "leader_epoch", "isr").iter_rows()
    ]
    moments += [
        (one.time, one.epoch, one.first_isr)
        for one in epochs
        if one.epoch not in told and one.time is not None and one.first_isr is not None
    ]
    moments.sort(key=lambda moment: moment[:2])
    highest = list(itertools.accumulate((epoch for _, epoch, _ in moments), max))
    return [moment for moment, most in zip(moments, highest, strict=True) if moment[1] >= most]


def _members(
    frame: pl.DataFrame, epochs: Iterable[Epoch], brokers: list[int], drawn: Chart
) -> dict[int, list[tuple[int, int, bool]]]:
    """Return who was in the ISR: each statement holds until the next, and one of an older epoch changes nothing.

    Of an epoch of which no replica states an ISR, a controller or the metadata log may state the one it began with.
    """
    stated = (
        frame.filter(pl.col("isr").is_not_null() & pl.col("from").is_not_null() & pl.col("leader_epoch").is_not_null())
        .filter(
            pl.any_horizontal(
                pl.col(name).ne_missing(pl.col(name).shift(1).over("replica"))
                for name in ("isr", "leader_epoch", "role")
            )
        )
        .with_columns((pl.col("role") != "leader").alias("_follows"))
        .sort("from", "leader_epoch", "_follows", "replica", "row")
        .filter(pl.col("leader_epoch") >= pl.col("leader_epoch").cum_max())
        # A follower receives a change after its leader made it: it counts only if the leader's line is missing.
        .filter(~pl.col("_follows") | pl.col("_follows").all().over("leader_epoch"))
        .filter((pl.col("isr") != pl.col("isr").shift(1)).fill_null(True))
    )
    moments = _isr_moments(stated, epochs)
    starts = [min(max((time - drawn.zero) // 1000, 0), drawn.length) for time, _, _ in moments]
    spans: dict[int, list[tuple[int, int, bool]]] = {}
    for start, end, (_, _, inside) in zip(starts, [*starts[1:], drawn.length], moments, strict=False):
        for broker in brokers:
            known = spans.setdefault(broker, [])
            if known and known[-1][2] == (broker in inside):
                known[-1] = (known[-1][0], end, known[-1][2])
            else:
                known.append((start, end, broker in inside))
    return spans


__all__ = ["ON_DISK", "Band", "Chart", "Lane", "Mark", "Quote", "Reign", "State", "chart"]
