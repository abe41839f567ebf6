"""Put the page together: one file, no request, at most five million bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import jinja2

from forensics.reports import markdown, remarks
from forensics.reports.advice import FORKED, LOST
from forensics.reports.groups import repeat_text
from forensics.reports.html import answer, brokers, figures, lanes, moments, overview, story, tables, wording
from forensics.reports.recovered import outcomes
from forensics.reports.titles import first_names, nodes_text, source_of
from forensics.result import Partition, Result
from forensics.rules import ranks
from forensics.rules.finding import Severity, Verdict
from forensics.rules.glossary import GLOSSARY
from forensics.rules.stated_problems import Problem
from forensics.version import __version__

LARGEST = 5_000_000
"""Bytes of a page, whatever the evidence."""

PANELS, CALM, PANEL_BYTES = 240, 12, 1_900_000
"""Partitions with a chart, of them without a finding, and the bytes all charts together may take as the page has them.
"""

_SCRIPTS = ("boot.js", "chart.js", "overview.js", "logview.js", "panel.js", "map.js", "search.js")

PLACES, NAMED = 3, 6
"""Numbers of places shown and of partitions named for one known problem."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The charts of one partition.

    Attributes:
        anchor: id of its element.
        name: the partition.
        what: severity of its worst finding, "clean", or "unknown" where a rule could not be judged.
        packed: what the scripts draw, as JSON, gzipped and in base64.
        drawn: the chart, and ``view`` the logs side by side.
    """

    anchor: str
    name: str
    what: str
    packed: str
    drawn: lanes.Chart
    view: moments.LogView | None

    @property
    def height(self) -> int:
        """Pixels of the chart."""
        return figures.height(self.drawn)

    @property
    def tables(self) -> tuple[tables.Table, ...]:
        """The chart in words."""
        return tables.tables(self.drawn)


def render(result: Result) -> str:
    """Return the whole page. It includes findings of a baseline, because it shows what happened, not what is new."""
    said = answer.said_of_settings(result)
    result = _worst_first(result.whole())
    panels = _panels(result)
    page = _page(result, panels, said)
    while len(page.encode("utf-8")) > LARGEST and panels:
        panels = dict(list(panels.items())[: len(panels) // 2])
        page = _page(result, panels, said)
    return page


def _page(result: Result, panels: dict[int, Panel], said: tuple[str, ...]) -> str:
    bundle, script = figures.library() if panels else ("", b"")
    own = _own_script()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(own.encode())}" + (f" {_hash(script)}" if panels else ""),
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    anchors = {position: panel.anchor for position, panel in panels.items()}
    numbers = {position: number for number, position in enumerate(panels)}
    top = answer.answer(result, anchors)
    mapped = overview.verdict_map(result, numbers, anchors)
    told = story.stories(result)
    held = brokers.brokers(result, anchors)
    long = top.span[0] is not None and top.span[1] is not None and top.span[1] - top.span[0] > 86_400_000_000
    context = {
        "answer": top,
        "problems": said_by_lines(result, wording.shortener(result.inputs)),
        "remarks": said,
        "stories": told,
        "panel": next(iter(panels.values()), None),
        "panels": list(panels.values()),
        "undrawn": len(result.partitions) - len(panels),
        "held": held,
        "map": mapped,
        "map_written": overview.WRITTEN,
        "coverage": overview.covered(result.case),
        "clocks": overview.clocks(result.case),
        "far": [wording.sentence(wording.plain(text)) for text in remarks.apart(result)],
        "settings": overview.settings(result),
        "method": overview.method(result),
        "keys": figures.KEYS,
        "words": list(GLOSSARY.items()),
        "policy": policy,
        "style": _asset("style.css"),
        "dark": _asset("dark.css"),
        "script": own,
        "bundle": bundle,
        "data": _island(
            {
                "map": [[row.name, row.letters, row.panel] for row in mapped.rows],
                "rules": [r.id for r in mapped.rules],
                "markdown": _summary(result),
                "panels": [[panel.anchor, panel.name, panel.what] for panel in panels.values()],
            }
        ),
        "charts": _island([panel.packed for panel in panels.values()]),
        "version": __version__,
        "long": long,
        "partitions": len(result.partitions),
        "nodes": wording.plain(nodes_text(result.case.everyone)),
    }
    return _environment().get_template("page.html.jinja").render(context)


def _summary(result: Result) -> str:
    """Return the summary in Markdown, the same in whatever order the folders were named, and no line without end."""
    text = markdown.render(replace(result, inputs=tuple(sorted(result.inputs))))
    return "".join(f"{wording.plain(line)}\n" for line in text.splitlines())


def _worst_first(result: Result) -> Result:
    """Partitions as a reader of the page wants them: what was found, then what is open, then what is calm."""
    return replace(result, partitions=sorted(result.partitions, key=_urgency))


def _urgency(partition: Partition) -> tuple[int, int]:
    """Return a sort key: the worst severity, then the rule, as the incidents of other reports are in order."""
    worst, open_ = partition.worst, partition.verdicts(Verdict.UNKNOWN)
    if worst <= Severity.WARNING.rank:
        found = (f for judgement in partition.judgements.values() for f in judgement.findings)
        places = ranks()
        return worst, min(places[f.rule] for f in found if f.severity.rank == worst)
    asked = sum(rule in open_ for rule in (LOST, FORKED))
    return len(Severity) + (0 if asked else 1 if open_ else 2), -asked


# -- panels -----------------------------------------------------------------------------------------------------------


def _panels(result: Result) -> dict[int, Panel]:
    """Return the charts by the position of their partitions, the worst first, as many as fit."""
    short = wording.shortener(result.inputs)
    charts = []
    chosen = _chosen(result)
    for position in chosen:
        partition = result.partitions[position]
        chart, frame = lanes.chart(result.case, partition, short)
        interesting = [offset for band in chart.bands for offset in (band.first, band.end)]
        holders = [lane.replica for lane in chart.lanes]
        charts.append((chart, moments.log_view(partition.history, frame, holders, interesting)))
    lanes.cite(result.case, (chart for chart, _ in charts), result.quote)
    clusters = [p.history.cluster for p in result.partitions]
    called, anchor = wording.namer(clusters), wording.anchorer(clusters)
    panels: dict[int, Panel] = {}
    spent = 0
    for position, (chart, view) in zip(chosen, charts, strict=True):
        history = result.partitions[position].history
        panel = _panel(result.partitions[position], chart, view, called(history), anchor(history))
        spent += len(panel.packed)
        if panels and spent > PANEL_BYTES:
            break
        panels[position] = panel
    return panels


def _chosen(result: Result) -> list[int]:
    """Positions of the partitions to draw: worst first, and of many alike one of each kind before the second of any."""
    seen: dict[tuple[object, ...], int] = {}
    order = []
    for position, partition in enumerate(result.partitions):
        findings = [f for j in partition.judgements.values() for f in j.findings if f.severity is not Severity.INFO]
        kind = (partition.worst, *sorted({(f.rule, f.cause or "") for f in findings}))
        seen[kind] = seen.get(kind, -1) + 1
        order.append((_urgency(partition), seen[kind], position))
    ordered = [position for _, _, position in sorted(order)]
    affected = [p for p in ordered if result.partitions[p].worst <= Severity.WARNING.rank]
    others = [p for p in ordered if result.partitions[p].worst > Severity.WARNING.rank]
    return [*affected[:PANELS], *others[:CALM]]


def _panel(partition: Partition, drawn: lanes.Chart, view: moments.LogView | None, name: str, anchor: str) -> Panel:
    chart = {
        "figure": figures.figure(drawn),
        "labels": figures.labels(drawn),
        "zero": drawn.zero // 1000,
        "length": drawn.length,
        "focus": drawn.focus,
        "references": drawn.references,
        "bound": drawn.bound,
        "steps": [asdict(step) for step in drawn.steps],
        "reigns": [[reign.epoch, reign.start, reign.end] for reign in drawn.reigns],
        "cuts": sorted({mark.time for lane in drawn.lanes for mark in lane.marks if mark.kind == "cut"}),
        "grave": drawn.grave,
        "height": figures.height(drawn),
        "dropped": drawn.dropped,
        "replicas": len(drawn.lanes),
        "tables": [asdict(table) for table in tables.tables(drawn)],
        "view": asdict(view) if view is not None else None,
    }
    worst = partition.worst
    what = list(Severity)[worst].value if worst <= Severity.WARNING.rank else "clean"
    if what == "clean" and partition.verdicts(Verdict.UNKNOWN):
        what = "unknown"
    return Panel(anchor, name, what, _packed(chart), drawn, view)


def _packed(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")


# -- what single lines say --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stated:
    """A known problem that lines state, at its first places.

    Attributes:
        title, severity, means, issues: as of the problem.
        records: what it means for records, where log recovery does not answer it for each place; "" if it does.
        answers: what log recovery did at its places, as sentences.
        steps: what to do first; none where each place has an answer.
        never: what not to do.
        named: the partitions, if there are several.
        places: what is stated, with the line and its text; ``more`` is how many places are left out.
    """

    title: str
    severity: str
    means: str
    records: str
    answers: tuple[str, ...]
    issues: str
    steps: tuple[str, ...]
    never: tuple[str, ...]
    named: str
    places: tuple[tuple[str, str, str], ...]
    more: int


def said_by_lines(result: Result, short: Callable[[str], str]) -> tuple[Stated, ...]:
    """Known problems for the page, in the order of their table."""
    return tuple(_stated(result, group, short) for group in remarks.by_problem(result.problems))


def _stated(result: Result, group: Sequence[Problem], short: Callable[[str], str]) -> Stated:
    known = group[0].known
    names = list(dict.fromkeys(one.name for one in group if one.name is not None))
    others = remarks.repeated(group)
    again = [repeat_text(others)] if others else []
    places = tuple(_place(one, short) for one in remarks.shown_of(group, PLACES))
    answered = outcomes(result, group)
    steps = (*remarks.first_steps(group), *again) if len(answered) < len(group) else ()
    never = group[0].do_not if len(answered) < len(group) else ()
    return Stated(
        known.title,
        "routine" if known.routine else known.severity.value,
        wording.plain(group[0].means),
        wording.sentence(known.records.meaning) if len(answered) < len(group) else "",
        tuple(f"{wording.plain(one)}." for one in dict.fromkeys(answered)),
        "; ".join(known.issues),
        tuple(wording.sentence(wording.plain(step)) for step in steps),
        tuple(wording.sentence(wording.plain(step)) for step in never),
        wording.plain(first_names(names, NAMED)) if len(names) > 1 else "",
        places,
        len(group) - len(places),
    )


def _place(problem: Problem, short: Callable[[str], str]) -> tuple[str, str, str]:
    """Return what is stated at one place of a problem, with the line and its text, each "" if there is none."""
    states = wording.sentence(wording.plain(problem.states))
    if not problem.evidence:
        return states, "", ""
    piece = problem.evidence[0]
    return states, wording.plain(f"{short(piece.path)}:{piece.line}"), wording.plain(piece.text)


# -- parts ------------------------------------------------------------------------------------------------------------


def _island(value: Any) -> str:
    """Return JSON that is safe inside a script element: without any character that HTML could read."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escape in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character, escape)
    return text


def _hash(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode('ascii')}'"


def _asset(name: str) -> str:
    return resources.files("forensics.reports.html").joinpath(name).read_text("utf-8")


@cache
def _own_script() -> str:
    return "\n".join(_asset(name) for name in _SCRIPTS)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("forensics.reports.html", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": wording.number,
        "brief": wording.brief,
        "plural": wording.plural,
        "iso": wording.iso,
        "clock": wording.clock,
        "hue": figures.hue,
        "source": source_of,
    }
    return environment
