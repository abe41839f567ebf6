"""The plotly figure of one partition, and plotly's own script. The only module that imports plotly, and only when used.

A figure has its colours as CSS variables (the page's script inserts the values of the reader's colour scheme). Its
times are milliseconds since its start (the script adds the start and, if requested, the reader's zone). ``meta`` of a
trace defines what the script may do with it. ``only`` names the scale to which it applies, ``offsets`` marks values
that follow the scale, ``group`` is the key that turns it on and off.
"""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from forensics.replay.timeline import DELETED, SILENT, STOPPED
from forensics.reports.html.lanes import Chart, Lane, Mark, Reign, State
from forensics.reports.html.wording import THIN, number, offsets

LANE, STRIP, HUES, UNSEEN = 132, 34, 8, 60
"""Heights in pixels of a lane and of the strip of epochs; how many hues epochs take turns in; how many stretches
without a line are labelled in a lane."""

_UNSEEN = {SILENT: ("no line",), STOPPED: ("stopped",), DELETED: ("replica removed", "removed")}
"""Roles in which nothing is known of a log, in words."""

_ABSENT = ("no line of this broker about its replica", "no line")


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend.

    Attributes:
        group: of its traces, whose mark the entry shows.
        text: what they show.
        also: groups that are shown and hidden with it; pointing at their marks says what they are.
    """

    group: str
    text: str
    also: tuple[str, ...] = ()


KEYS = (
    Key("end", "log end offset", ("floor", "box", "dated")),
    Key("hw", "high watermark", ("bound",)),
    Key("cut", "truncated", ("start", "elected", "unclean")),
    Key("finding", "step of the story", ("band",)),
    Key("isr", "in the ISR"),
    Key("silent", "no log line"),
)
"""Every kind of trace, in the order of the legend; ``epoch`` has its names in the strip."""


def library() -> tuple[str, bytes]:
    """Plotly's script.

    Returns:
        The script, gzipped and in base64 (the same bytes each time), and its text in UTF-8, for a hash.
    """
    from plotly.offline import get_plotlyjs

    script = get_plotlyjs().encode("utf-8")
    return base64.b64encode(gzip.compress(script, 9, mtime=0)).decode("ascii"), script


def hue(epoch: int) -> int:
    """Number of the hue of a leader epoch."""
    return epoch % HUES


def figure(chart: Chart) -> dict[str, Any]:
    """Return the figure as plain values; ``checked`` shows whether plotly takes them."""
    made = _Figure(chart)
    made.build()
    return {"data": made.traces, "layout": made.layout}


def checked(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a figure as plotly understands it.

    Raises:
        ValueError: plotly does not know a property, or takes no such value for it.
    """
    import plotly.graph_objects as go

    known = go.Figure(**spec).to_plotly_json()
    known["layout"].pop("template", None)
    return dict(known)


@dataclass(frozen=True, slots=True)
class Label:
    """Words over a stretch of time, put where they can be seen: the page's script knows what part is shown, how wide.

    Attributes:
        start, end: the stretch, in milliseconds since the start of the chart.
        axis: the axis on which ``y`` counts.
        texts: the same in ever fewer words; the first that has room is shown, or none.
        side: "middle" of what is shown of the stretch, or its "left" end.
        only: the scale on which it makes sense, or "".
    """

    start: float
    end: float
    axis: str
    y: float
    texts: tuple[str, ...]
    colour: str
    side: str = "middle"
    card: bool = False
    only: str = ""


def labels(chart: Chart) -> list[dict[str, Any]]:
    """Epochs, offsets of findings, and what is known of stretches without a line."""
    found = []
    for reign in chart.reigns:
        words = (epoch_text(reign), f"epoch {reign.epoch}", str(reign.epoch))
        found.append(Label(reign.start, reign.end, "y", 0.5, words, f"var(--epoch-{hue(reign.epoch)}-ink)"))
    if _on_disk(chart):
        at, room = chart.length + _room(chart) * 0.18, _room(chart)
        found.append(Label(at, chart.length + room, "y", 0.5, ("on disk", "disk"), "var(--ink-2)"))
    found += _band_labels(chart)
    for place, lane in enumerate(chart.lanes):
        axis = f"y{place + 2 + len(chart.lanes)}"
        if not lane.states:
            found.append(Label(0, chart.length, axis, 0.5, _ABSENT, "var(--ink-2)", card=True))
        spans = [s for s in lane.states if s.role in _UNSEEN and s.end > s.start]
        for span in sorted(spans, key=lambda s: (s.start - s.end, s.start))[:UNSEEN]:
            texts = _UNSEEN[span.role]
            found.append(Label(span.start, span.end, axis, 0.5, texts, "var(--ink-2)", card=True))
    return [asdict(label) for label in found if label.end > label.start]


def _band_labels(chart: Chart) -> list[Label]:
    """The offsets of findings, in one line where they end too close to each other for two."""
    low, high = value_range(chart)
    found: list[Label] = []
    for band in sorted(chart.bands[:3], key=lambda band: (-band.end, band.first)):
        text = offsets([(band.first, band.end)])
        if found and (found[-1].y - band.end) / (high - low) * (LANE - 18) < 14:
            found[-1] = replace(found[-1], texts=(f"{found[-1].texts[0]}, {text}", found[-1].texts[-1]))
        else:
            tint = "var(--bad)" if band.grave else "var(--unknown)"
            found.append(Label(0, chart.length, "y2", band.end, (text,), tint, "left", only="offsets"))
    return found


def value_range(chart: Chart) -> tuple[float, float]:
    """One scale of offsets for all lanes, so that heights compare."""
    values = [v for lane in chart.lanes for s in lane.states for v in (s.log_end, s.high_watermark) if v is not None]
    for lane in chart.lanes:
        values += [v for v in (lane.disk_end, lane.disk_high_watermark) if v is not None]
        values += [mark.before for mark in lane.marks if mark.before is not None]
    values += [band.end for band in chart.bands]
    low, high = (min(values), max(values)) if values else (0, 1)
    # No offset is below 0, so nothing is drawn there but the strip of the ISR.
    room = max(high - low, 1) * 0.14
    return low - room, high + room * 1.4


def epoch_text(reign: Reign) -> str:
    """Return a leader epoch and its leader in words."""
    if reign.leader is None:
        leader = "leader unknown"
    else:
        leader = f"{reign.name} leads" if reign.leader >= 0 else "no leader"
    return f"epoch {reign.epoch}, {leader}"


def _on_disk(chart: Chart) -> bool:
    return any(lane.disk_end is not None or lane.disk_high_watermark is not None for lane in chart.lanes)


def _room(chart: Chart) -> float:
    """Return milliseconds beyond the end of the evidence, for files."""
    return max(chart.length * 0.085, 1)


def height(chart: Chart) -> int:
    """Pixels the figure needs."""
    return STRIP + LANE * len(chart.lanes) + 62


def escaped(text: str) -> str:
    """Text that plotly shows as it is: it reads some tags of HTML otherwise."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


Point = tuple[int | None, int | None, int]
"""Time, value and reference; None where a line ends."""


@dataclass
class _Walk:
    """How a value of a lane goes: where it is known, where only its least is, and its changes with exactness."""

    steady: list[Point] = field(default_factory=list)
    vague: list[Point] = field(default_factory=list)
    marks: list[tuple[int, int, int, bool]] = field(default_factory=list)
    previous: tuple[int, bool] | None = None

    def unknown(self) -> None:
        """Nothing states the value from here on."""
        self.steady.append((None, None, -1))
        self.previous = None

    def known(self, state: State, value: int, ref: int, *, exact: bool) -> None:
        """A state has the value, or at least that."""
        before = self.previous
        if before is not None and before[1] and value != before[0]:
            self.steady.append((state.start, before[0], -1))
        if before != (value, exact):
            self.marks.append((state.start, value, ref, exact))
        if exact:
            self.steady += [(state.start, value, ref), (state.end, value, ref)]
        else:
            self.steady.append((None, None, -1))
            self.vague += [(state.start, value, ref), (state.end, value, ref), (None, None, -1)]
        self.previous = (value, exact)


def _walked(lane: Lane, name: str) -> _Walk:
    walk = _Walk()
    for state in lane.states:
        value = getattr(state, name)
        exact = state.exact if name == "log_end" else state.high_watermark_exact
        ref = state.ref if name == "log_end" else state.high_watermark_ref
        if value is None:
            walk.unknown()
        else:
            walk.known(state, value, ref, exact=exact)
    return walk


@dataclass
class _Figure:
    chart: Chart
    traces: list[dict[str, Any]] = field(default_factory=list)
    layout: dict[str, Any] = field(default_factory=dict)

    def build(self) -> None:
        """Strip of epochs on top, then a lane a replica."""
        chart = self.chart
        total = STRIP + LANE * len(chart.lanes)
        room = _room(chart)
        disk = _on_disk(chart)
        self.at_disk = chart.length + room * 0.55
        self.layout.update(
            height=height(chart),
            margin={"l": self._margin(), "r": 10, "t": 6, "b": 46},
            separators=f".{THIN}",
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
            font={"color": "var(--ink-2)", "size": 11},
            hovermode="closest",
            hoverlabel={
                "align": "left",
                "bgcolor": "var(--card)",
                "bordercolor": "var(--line)",
                "font": {"color": "var(--ink)"},
            },
            showlegend=False,
            dragmode="zoom",
            xaxis={
                "type": "date",
                "range": [-chart.length * 0.015, chart.length + (room if disk else chart.length * 0.02)],
                "gridcolor": "var(--grid)",
                "linecolor": "var(--line)",
                "zeroline": False,
                "anchor": f"y{len(chart.lanes) + 1}" if chart.lanes else "y",
                "tickfont": {"color": "var(--ink-2)"},
                "nticks": 8,
                "tickangle": 0,
            },
            yaxis=self._flat(1 - STRIP / total + 0.004, 1),
            shapes=[],
            annotations=[],
        )
        self._strip(total)
        for place, lane in enumerate(chart.lanes):
            top = 1 - (STRIP + LANE * place) / total
            bottom = top - LANE / total
            self._lane(lane, place, (bottom + 9 / total, top - 9 / total))
        if disk:
            self._disk_zone(room)

    def _margin(self) -> int:
        """Room for the longest offset at the side."""
        return max(52, round(len(number(int(value_range(self.chart)[1]))) * 6.1) + 16)

    # -- axes -------------------------------------------------------------------------------------------------------

    def _flat(self, low: float, high: float, **more: Any) -> dict[str, Any]:
        return {
            "domain": [max(low, 0), min(high, 1)],
            "range": [0, 1],
            "fixedrange": True,
            "showticklabels": False,
            "showgrid": False,
            "zeroline": False,
            **more,
        }

    def _disk_zone(self, room: float) -> None:
        edge = self.chart.length + room * 0.18
        self.layout["shapes"].append(
            {"type": "line", "xref": "x", "yref": "paper", "x0": edge, "x1": edge, "y0": 0, "y1": 1}
            | {"line": {"color": "var(--line)", "width": 1, "dash": "dot"}, "layer": "below"}
        )

    # -- epochs -----------------------------------------------------------------------------------------------------

    def _strip(self, total: int) -> None:
        lanes = 1 - STRIP / total
        for reign in self.chart.reigns:
            if reign.end <= reign.start:
                continue
            text = epoch_text(reign)
            tint = hue(reign.epoch)
            self.traces.append(
                {
                    "type": "scatter",
                    "mode": "none",
                    "x": [reign.start, reign.end, reign.end, reign.start],
                    "y": [0.1, 0.1, 0.9, 0.9],
                    "fill": "toself",
                    "fillcolor": f"var(--epoch-{tint})",
                    "hoveron": "fills",
                    "hoverinfo": "text",
                    "text": text,
                    "name": text,
                    "yaxis": "y",
                    "xaxis": "x",
                    "meta": {"group": "epoch"},
                }
            )
            self.layout["shapes"].append(
                {"type": "rect", "xref": "x", "yref": "paper", "x0": reign.start, "x1": reign.end, "y0": 0, "y1": lanes}
                | {"fillcolor": f"var(--epoch-{tint}-wash)", "line": {"width": 0}, "layer": "below"}
            )

    # -- lanes ------------------------------------------------------------------------------------------------------

    def _lane(self, lane: Lane, place: int, domain: tuple[float, float]) -> None:
        y, flat = f"y{place + 2}", f"y{place + 2 + len(self.chart.lanes)}"
        low, high = value_range(self.chart)
        self.layout[f"yaxis{place + 2}"] = {
            "domain": list(domain),
            "range": [low, high],
            "fixedrange": True,
            "gridcolor": "var(--grid)",
            "zeroline": False,
            "nticks": 4,
            "tickfont": {"color": "var(--ink-2)", "size": 10},
            "tickformat": ",d",
        } | ({"dtick": 1} if high - low < 6 else {})
        self.layout[f"yaxis{place + 2 + len(self.chart.lanes)}"] = self._flat(*domain, overlaying=y)
        self.layout["annotations"].append(
            {"x": 0, "y": domain[1], "xref": "paper", "yref": "paper", "text": f"<b>{lane.name}</b>"}
            | {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "yshift": -5}
            | {"font": {"size": 12, "color": "var(--ink)"}}
        )
        self._bands(y)
        self._silent(lane, flat)
        self._boxes(lane, y)
        self._members(lane, flat)
        self._dated(lane, y)
        self._bound(y)
        self._values(lane, y)
        self._marks(lane, y, flat)
        self._disk(lane, y)

    def _add(self, y: str, group: str, x: list[Any], values: list[Any], **more: Any) -> None:
        if not x:
            return
        meta = {"group": group, "offsets": more.pop("offsets", False)}
        if "only" in more:
            meta["only"] = more.pop("only")
        trace = {"type": "scatter", "x": x, "y": values, "xaxis": "x", "yaxis": y, "meta": meta, "hoverinfo": "skip"}
        self.traces.append(trace | more)

    def _polygons(self, y: str, group: str, boxes: Sequence[tuple[float, float, float, float]], **more: Any) -> None:
        x: list[Any] = []
        values: list[Any] = []
        for left, right, low, high in boxes:
            if x:
                x.append(None)
                values.append(None)
            x += [left, right, right, left, left]
            values += [low, low, high, high, low]
        self._add(y, group, x, values, **({"mode": "lines", "line": {"width": 0}, "fill": "toself"} | more))

    def _bands(self, y: str) -> None:
        for grave, tint in ((True, "bad"), (False, "unknown")):
            bands = [band for band in self.chart.bands if band.grave is grave]
            boxes = [(0, self.at_disk, band.first, band.end) for band in bands]
            edge = {"color": f"var(--{tint}-line)", "width": 1, "dash": "dot"}
            self._polygons(y, "band", boxes, fillcolor=f"var(--{tint}-wash)", line=edge, only="offsets")

    def _silent(self, lane: Lane, flat: str) -> None:
        spans = [s for s in lane.states if s.role in _UNSEEN and s.end > s.start]
        first = lane.states[0].start if lane.states else self.chart.length
        boxes = [(s.start, s.end, 0, 1) for s in spans]
        if first > 0:
            boxes.insert(0, (0, first, 0, 1))
        pattern = {"shape": "/", "fgcolor": "var(--hatch)", "bgcolor": "rgba(0,0,0,0)", "size": 12, "solidity": 0.06}
        self._polygons(
            flat, "silent", boxes, fillpattern=pattern, hoveron="fills", hoverinfo="text",
            text=f"{lane.name} logged nothing about its replica here",
        )  # fmt: skip

    def _boxes(self, lane: Lane, y: str) -> None:
        """Draw boxes between two known log end offsets without a line in between: the true value is somewhere in the
        box.
        """
        boxes: list[tuple[float, float, float, float]] = []
        open_: tuple[int, int] | None = None
        for state in lane.states:
            if state.log_end is None:
                if state.role in _UNSEEN:
                    open_ = None  # hatched as a whole
                continue
            if open_ is not None and state.log_end > open_[1]:
                boxes.append((open_[0], state.start, open_[1], state.log_end))
            open_ = (state.start, state.log_end) if not state.exact else None
        if open_ is not None and lane.disk_end is not None and lane.disk_end > open_[1]:
            boxes.append((open_[0], self.at_disk, open_[1], lane.disk_end))
        edge = {"color": "var(--end-soft)", "width": 1, "dash": "dot"}
        self._polygons(
            y, "box", boxes, fillcolor="var(--end-wash)", line=edge, only="offsets", hoveron="fills", hoverinfo="text",
            text=f"{lane.name}: the log end offset rose somewhere in here; no line says when",
        )  # fmt: skip

    def _members(self, lane: Lane, flat: str) -> None:
        inside = [(a, b, 0.0, 0.05) for a, b, member in lane.members if member and b > a]
        outside = [(a, b, 0.0, 0.05) for a, b, member in lane.members if not member and b > a]
        self._polygons(flat, "isr", inside, fillcolor="var(--isr)")
        pattern = {"shape": "x", "fgcolor": "var(--unknown)", "bgcolor": "rgba(0,0,0,0)", "size": 5, "solidity": 0.2}
        self._polygons(flat, "isr", outside, fillpattern=pattern)
        for group, spans in (("in the ISR, as last logged", inside), ("not in the ISR, as last logged", outside)):
            x = [(a + b) / 2 for a, b, _, _ in spans]
            self._add(
                flat, "isr", x, [0.025] * len(x), mode="markers", marker={"size": 8, "opacity": 0},
                hoverinfo="text", text=[group] * len(x),
            )  # fmt: skip

    def _dated(self, lane: Lane, y: str) -> None:
        x, values = [at for at, _ in lane.dated], [end for _, end in lane.dated]
        self._add(
            y, "dated", x, values, mode="markers", offsets=True,
            marker={"size": 5, "symbol": "line-ew", "line": {"color": "var(--dated)", "width": 1}},
            hoverinfo="text", text=[f"a batch on disk up to offset {number(end)}, at its time stamp" for end in values],
        )  # fmt: skip

    def _bound(self, y: str) -> None:
        if not self.chart.bound:
            return
        x = [at for at, _ in self.chart.bound] + [self.chart.length]
        values = [hw for _, hw in self.chart.bound] + [self.chart.bound[-1][1]]
        line = {"color": "var(--bound)", "width": 1, "dash": "dashdot", "shape": "hv"}
        text = [f"greatest high watermark that any broker stated so far: {number(value)}" for value in values]
        self._add(y, "bound", x, values, mode="lines", line=line, offsets=True, hoverinfo="text", text=text)

    def _values(self, lane: Lane, y: str) -> None:
        for name, groups, noun, colour, widths, symbol, size in (
            ("high_watermark", ("hw", "hw"), "high watermark", "var(--hw)", (1.6, 1.4), "diamond-open", 8),
            ("log_end", ("end", "floor"), "log end offset", "var(--end)", (2.2, 1.6), "circle", 5),
        ):
            walk = _walked(lane, name)
            marks = walk.marks
            self._line(y, groups[0], walk.steady, {"color": colour, "width": widths[0]})
            self._line(y, groups[1], walk.vague, {"color": colour, "width": widths[1], "dash": "dot"})
            self._add(
                y, groups[0], [at for at, _, _, _ in marks], [value for _, value, _, _ in marks], mode="markers",
                offsets=True, hoverinfo="text", customdata=[ref for _, _, ref, _ in marks],
                marker={"size": size if len(marks) < 120 else 3, "symbol": symbol, "color": colour},
                text=[
                    f"{lane.name}: {noun} {'' if exact else 'at least '}{number(value)}"
                    for _, value, _, exact in marks
                ],
            )  # fmt: skip

    def _line(self, y: str, group: str, points: list[Point], line: dict[str, Any]) -> None:
        while points and points[0][0] is None:
            points.pop(0)
        clean: list[Point] = []
        for point in points:
            if point[0] is None and clean and clean[-1][0] is None:
                continue
            if clean and point == clean[-1]:
                continue
            clean.append(point)
        if any(at is not None for at, _, _ in clean):
            self._add(
                y,
                group,
                [at for at, _, _ in clean],
                [value for _, value, _ in clean],
                mode="lines",
                line=line,
                offsets=True,
            )

    def _marks(self, lane: Lane, y: str, flat: str) -> None:
        self._cuts(lane, y)
        for kind, symbol, colour in (("elected", "star", "var(--ink-2)"), ("unclean", "star-open", "var(--bad)")):
            chosen = [mark for mark in lane.marks if mark.kind == kind]
            self._symbols(flat, kind, chosen, [0.31] * len(chosen), symbol, colour, 11, lane)
        starts = [mark for mark in lane.marks if mark.kind == "start"]
        self._symbols(flat, "start", starts, [0.14] * len(starts), "triangle-right", "var(--ink-2)", 10, lane)
        steps = sorted((mark for mark in lane.marks if mark.kind == "finding"), key=lambda mark: mark.time)
        if steps:
            colour = "var(--bad)" if self.chart.grave else "var(--unknown)"
            self._symbols(
                flat, "finding", steps, self._stacked(steps), "circle", colour, 17, lane, mode="markers+text",
                texttemplate=[mark.label for mark in steps], textfont={"color": "var(--card)", "size": 10},
                textposition="middle center",
            )  # fmt: skip

    def _cuts(self, lane: Lane, y: str) -> None:
        for wrong, colour in ((False, "var(--ink-2)"), (True, "var(--bad)")):
            cuts = [mark for mark in lane.marks if mark.kind == "cut" and mark.wrong is wrong]
            x: list[Any] = []
            values: list[Any] = []
            for mark in cuts:
                x += [mark.time, mark.time, None]
                values += [mark.before, mark.value, None]
            self._add(y, "cut", x, values, mode="lines", line={"color": colour, "width": 2}, offsets=True)
            self._symbols(y, "cut", cuts, [m.value for m in cuts], "triangle-down", colour, 11, lane, offsets=True)

    def _stacked(self, marks: list[Mark]) -> list[float]:
        """Heights for marks, so that those close together do not hide each other."""
        heights: list[float] = []
        last: dict[float, float] = {}
        for mark in marks:
            free = [
                h for h in (0.86, 0.66, 0.46, 0.26) if mark.time - last.get(h, -math.inf) > self.chart.length * 0.022
            ]
            heights.append(free[0] if free else 0.86)
            last[heights[-1]] = mark.time
        return heights

    def _symbols(
        self,
        y: str,
        group: str,
        marks: list[Mark],
        values: list[Any],
        symbol: str,
        colour: str,
        size: int,
        lane: Lane,
        **more: Any,
    ) -> None:
        self._add(
            y, group, [mark.time for mark in marks], values, **({"mode": "markers"} | more),
            marker={"symbol": symbol, "size": size, "color": colour, "line": {"color": "var(--card)", "width": 1}},
            hoverinfo="text", text=[escaped(f"{lane.name}: {mark.text}") for mark in marks],
            customdata=[mark.ref for mark in marks],
        )  # fmt: skip

    def _disk(self, lane: Lane, y: str) -> None:
        for value, symbol, colour, noun, group in (
            (lane.disk_end, "circle", "var(--end)", "log end offset of the segments on disk", "end"),
            (lane.disk_high_watermark, "diamond-open", "var(--hw)", "high watermark in the checkpoint file", "hw"),
        ):
            if value is not None:
                self._add(
                    y, group, [self.at_disk], [value], mode="markers", offsets=True,
                    marker={"symbol": symbol, "size": 8, "color": colour}, hoverinfo="text",
                    text=f"{lane.name}: {noun}: {number(value)}",
                )  # fmt: skip
