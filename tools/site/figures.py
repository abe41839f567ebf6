"""Figures of the site: a partition as a scan shows it, and a run of the reference model step by step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import forensics
from forensics.model.protocol import PROTOCOLS, VARIANTS
from forensics.model.run import ReplicaView, Run, Step
from forensics.model.scenarios import SCENARIOS
from forensics.model.walkthrough import said

SCRIPT = "assets/plotly.min.js"
"""Plotly itself, once for all pages."""
ASKED = re.compile(
    r"^<!-- figure of: forensics (?:scan (?P<path>\S+) -p (?P<partition>\S+)"
    r"|simulate (?P<name>\S+) --protocol (?P<protocol>\S+)) -->$",
    re.MULTILINE,
)
"""The place of a figure: the command that tells the same in words."""
SECTION = re.compile(r"^## (?P<protocol>[a-z0-9.-]+): (?P<rest>.*)$", re.MULTILINE)

EPOCHS: Final = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#bab0ac")
"""Colours of records, by the leader epoch that wrote them."""
SCALES: Final = ((16, 30, 1), (40, 14, 5), (100, 7, 10))
"""How long the longest log is at most, with the size of a record in pixels and the offsets between two ticks.

A longer log has no figure.
"""
MOST: Final = SCALES[-1][0]
ROW: Final = 78
"""Pixels for a replica."""


# -- a run of the model --------------------------------------------------------------------------------------------


@cache
def run(name: str, protocol: str) -> Run:
    """Return a story as the model plays it under a protocol."""
    story = next(one for one in SCENARIOS if one.name == name)
    return story.run(next(one for one in (*PROTOCOLS, *VARIANTS) if one.name == protocol))


def drawable(one: Run) -> bool:
    """Return whether the logs of a run are short enough to be drawn record by record."""
    return bool(one.steps) and all(view.log_end_offset <= MOST for step in one.steps for view in step.replicas)


def story(one: Run) -> dict[str, Any]:
    """Return a figure with a slider: the log of each replica after each step, with its high watermark."""
    brokers = sorted({view.broker for step in one.steps for view in step.replicas})
    lanes = {broker: len(brokers) - number for number, broker in enumerate(brokers)}
    longest = max(3, *(view.log_end_offset for step in one.steps for view in step.replicas))
    written = _writers(one)
    frames: list[dict[str, Any]] = [
        {
            "name": str(number),
            "data": _drawn(step, lanes, written[number - 1]),
            "layout": {"title": _title(one, number)},
        }
        for number, step in enumerate(one.steps, 1)
    ]
    controls = [_control(frame["name"]) for frame in frames]
    layout = {
        "title": _title(one, 1),
        "height": 190 + ROW * len(brokers),
        "margin": {"l": 130, "r": 20, "t": 96, "b": 90},
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "font": {"color": "#222222", "size": 13},
        "xaxis": {"range": [-0.6, longest + 0.6], "dtick": _scale(longest)[1], "title": {"text": "offset"},
                  "zeroline": False, "gridcolor": "#eeeeee", "fixedrange": True},
        "yaxis": {"range": [0.4, len(brokers) + 0.6], "tickvals": list(lanes.values()),
                  "ticktext": [f"broker {broker}" for broker in lanes], "zeroline": False, "showgrid": False,
                  "fixedrange": True},
        "showlegend": False,
        "sliders": [{"active": 0, "steps": controls, "currentvalue": {"prefix": "step "}, "pad": {"t": 44}}],
    }  # fmt: skip
    return {"data": frames[0]["data"], "layout": layout, "frames": frames}


def _scale(longest: int) -> tuple[int, int]:
    """Return the size of a record in pixels, and the offsets between two ticks."""
    return next((size, tick) for most, size, tick in SCALES if longest <= most)


def _control(name: str) -> dict[str, Any]:
    options = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {"label": name, "method": "animate", "args": [[name], options]}


def _title(one: Run, number: int) -> dict[str, Any]:
    """Return the sentence of a step, and below it what brokers decided in it."""
    step = one.steps[number - 1]
    events = one.cluster.trace.events[step.first_event : step.after_event]
    notes = list(said(events, versioned=one.protocol.truncates_by != "epoch"))
    lines = [f"<b>{number}.</b> {step.text[0].upper()}{step.text[1:]}", *(f"<i>{note}</i>" for note in notes[:2])]
    return {"text": "<br>".join(_wrapped(line) for line in lines), "x": 0, "xref": "container", "pad": {"l": 12},
            "font": {"size": 13}, "y": 0.97, "yanchor": "top"}  # fmt: skip


def _wrapped(text: str, width: int = 105) -> str:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "<br>".join([*lines, line])


def _drawn(step: Step, lanes: Mapping[int, int], written: Mapping[int, Sequence[int]]) -> list[dict[str, Any]]:
    """Return the traces of one step: records, high watermarks, and what each replica is."""
    x, y, names, colours, hovers = [], [], [], [], []
    for view in step.replicas:
        for offset, (value, epoch) in enumerate(zip(view.values, written[view.broker], strict=False)):
            x.append(offset)
            y.append(lanes[view.broker])
            names.append(value if len(view.values) <= 16 else "")
            colours.append(EPOCHS[epoch % len(EPOCHS)])
            hovers.append(f"broker {view.broker}, offset {offset}: {value}, written in leader epoch {epoch}")
    records = {"type": "scatter", "mode": "markers+text", "x": x, "y": y, "text": names, "hovertext": hovers,
               "hoverinfo": "text", "textfont": {"color": "#ffffff", "size": 12},
               "marker": {"symbol": "square", "size": _scale(max(map(len, written.values()), default=0))[0],
                          "color": colours}}  # fmt: skip
    return [records, _marks(step, lanes), _roles(step, lanes)]


def _marks(step: Step, lanes: Mapping[int, int]) -> dict[str, Any]:
    """Return the high watermarks as lines: all records to the left of one are committed, as its replica knows."""
    x: list[float | None] = []
    y: list[float | None] = []
    for view in step.replicas:
        mark = view.checkpointed_hw if view.high_watermark is None else view.high_watermark
        if mark is not None:
            x += [mark - 0.5, mark - 0.5, None]
            y += [lanes[view.broker] - 0.32, lanes[view.broker] + 0.32, None]
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": "#d62728", "width": 4},
            "hoverinfo": "skip"}  # fmt: skip


def _roles(step: Step, lanes: Mapping[int, int]) -> dict[str, Any]:
    texts = [_role(view) for view in step.replicas]
    return {"type": "scatter", "mode": "text", "x": [-0.5] * len(texts), "text": texts, "textposition": "top right",
            "y": [lanes[view.broker] + 0.28 for view in step.replicas], "hoverinfo": "skip",
            "textfont": {"color": "#444444", "size": 12}}  # fmt: skip


def _role(view: ReplicaView) -> str:
    """Return what a replica is after a step, with its high watermark and log end offset."""
    end = f"log end offset {view.log_end_offset}"
    if not view.up:
        disk = (
            "no high watermark on disk"
            if view.checkpointed_hw is None
            else f"high watermark on disk {view.checkpointed_hw}"
        )
        return f"down, {end}, {disk}"
    role = f"{view.role} (leader epoch {view.leader_epoch})" if view.role else "no role yet"
    isr = f", ISR {', '.join(map(str, view.isr))}" if view.isr else ""
    return f"{role}, {end}, high watermark {view.high_watermark}{isr}"


def _writers(one: Run) -> list[dict[int, list[int]]]:
    """Return after each step, for each broker, the leader epoch that wrote each record of its log.

    Before leader epochs were in the log a replica does not know it itself; the model's leaders do.
    """
    known: dict[str, int] = {}
    made = []
    for step in one.steps:
        for view in step.replicas:
            for value in view.values if view.role == "leader" else ():
                known.setdefault(value, view.leader_epoch)
        made.append({view.broker: [known.get(value, 0) for value in view.values] for view in step.replicas})
    return made


# -- pages ---------------------------------------------------------------------------------------------------------


def html(figure: Any, number: int) -> str:
    """Return a figure as HTML that draws it with the script of the site."""
    import plotly.io

    piece = plotly.io.to_html(
        figure,
        include_plotlyjs=False,
        full_html=False,
        auto_play=False,
        validate=False,
        div_id=f"figure-{number}",
        config={"displaylogo": False, "responsive": True, "displayModeBar": False},
    )
    return f'<div class="figure">{" ".join(piece.split(chr(10)))}</div>'


@cache
def _scan(path: str) -> forensics.Scan:
    return forensics.scan(path, jobs=1)


def with_figures(text: str, script: str, repository: Path) -> str:
    """Return a page with a figure in each place that asks for one.

    Args:
        text: of the page.
        script: where Plotly is, as seen from the page.
        repository: the root of the checkout.
    """
    numbers = iter(range(1, 1000))

    def drawn(found: re.Match[str]) -> str:
        if found["path"]:
            return html(_scan(str(repository / found["path"])).figure(found["partition"]), next(numbers))
        return html(story(run(found["name"], found["protocol"])), next(numbers))

    made = ASKED.sub(drawn, text)
    if made == text:
        return text
    head, _, rest = made.partition("\n")
    return f'{head}\n\n<script src="{script}"></script>\n{rest}'


def asking(text: str, name: str) -> str:
    """Return the page of a story with a place for a figure in each section that has steps."""

    def ask(found: re.Match[str]) -> str:
        protocol = found["protocol"]
        return f"{found[0]}\n\n<!-- figure of: forensics simulate {name} --protocol {protocol} -->"

    parts = re.split(r"(?m)^(?=## )", text)
    return "".join(
        SECTION.sub(ask, part, count=1)
        if (found := SECTION.match(part)) and "**1. " in part and drawable(run(name, found["protocol"]))
        else part
        for part in parts
    )
