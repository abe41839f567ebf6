"""The figure of one partition for a notebook: what the page draws, in light colours and with times instead of spans."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from forensics.case import Case
from forensics.case.quotes import quote
from forensics.reports.html import figures, lanes
from forensics.result import Partition

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["Figure", "of_partition"]

_VARIABLE: Final = re.compile(r"var\((--[a-z0-9-]+)\)")
_SET: Final = re.compile(r"(--[a-z0-9-]+):\s*([^;]+);")
_TITLE_HEIGHT: Final = 34
"""Pixels above the lanes for the name of the partition."""


def of_partition(case: Case, partition: Partition) -> Figure:
    """Return the timeline of a partition as a Plotly figure, with the lines behind its steps."""
    import plotly.graph_objects as go

    chart, _ = lanes.chart(case, partition)
    lanes.cite(case, [chart], quote)
    spec = _coloured(figures.figure(chart))
    zero = chart.zero / 1000
    for trace in spec["data"]:
        trace["x"] = [None if value is None else value + zero for value in trace["x"]]
    layout = spec["layout"]
    layout["xaxis"]["range"] = [value + zero for value in layout["xaxis"]["range"]]
    for shape in layout["shapes"]:
        if shape["xref"] == "x":
            shape |= {"x0": shape["x0"] + zero, "x1": shape["x1"] + zero}
    layout["title"] = {"text": figures.escaped(partition.history.name), "x": 0, "font": {"size": 14}}
    layout["margin"]["t"] += _TITLE_HEIGHT
    layout["height"] += _TITLE_HEIGHT
    return go.Figure(**spec)


def _coloured(value: Any) -> Any:
    """Return a value of the figure with the colours of the page's light theme in place of their names."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _colours()[found[1]], value)
    if isinstance(value, dict):
        return {name: _coloured(one) for name, one in value.items()}
    return [_coloured(one) for one in value] if isinstance(value, list) else value


@cache
def _colours() -> Mapping[str, str]:
    """Return the colours of the light theme, by their names in the page's style sheet."""
    style = (resources.files("forensics.reports.html") / "style.css").read_text("utf-8")
    first: dict[str, str] = {}
    for name, colour in _SET.findall(style):
        first.setdefault(name, colour.strip())
    return first
