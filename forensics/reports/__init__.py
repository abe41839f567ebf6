"""Findings to text, JSON and pages. A report computes no verdict of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from forensics.reports import findings_csv, html, json_report, jsonl, markdown, openmetrics, sarif, text, timesketch
from forensics.result import Result
from parsers.containment import guarded
from parsers.plugins import Group, Table, fitting, returned


@dataclass(frozen=True, slots=True)
class Report:
    """One way to write a result.

    Attributes:
        name: value of ``--format``.
        what: for the help text.
        render: makes the whole text.
        parts: makes it in parts; None if it is never large.
        whole: it shows rows of the case, so it needs all of them.
    """

    name: str
    what: str
    render: Callable[[Result], str]
    parts: Callable[[Result], Iterable[str]] | None = None
    whole: bool = False

    def pieces(self, result: Result) -> Iterable[str]:
        """The text in pieces, so that a large one is never in memory as a whole."""
        return self.parts(result) if self.parts is not None else (self.render(result),)


BUILT_IN: tuple[Report, ...] = (
    Report("text", "a summary for the terminal", text.render),
    Report("markdown", "a summary for a ticket", markdown.render),
    Report("json", "everything, by the contract forensics.scan/1", json_report.render, json_report.pieces),
    Report("jsonl", "one finding a line, by the contract forensics.finding/1", jsonl.render),
    Report("csv", "one finding a row, for spreadsheets", findings_csv.render),
    Report("sarif", "SARIF 2.1.0, for code hosts, editors and gates", sarif.render),
    Report("timesketch", "CSV of dated facts, for Timesketch and other timelines", timesketch.render),
    Report("openmetrics", "OpenMetrics text, for alerts on repeated scans", openmetrics.render),
    Report("html", "the incident report, one page for a browser", html.render, whole=True),
)
"""The reports of this program, the default first."""


def _admitted(entry: object, plugin: str) -> Report:
    """Return the report of a plugin as it is used.

    Raises:
        Unfit: it is no ``Report``, or has no id.
    """
    report = fitting(entry, Report, lambda one: one.name)

    def pieces(result: Result) -> Iterable[str]:
        for piece in report.pieces(result):
            yield returned(piece, str, f"the report {report.name}")

    def render(result: Result) -> str:
        return "".join(pieces(result))

    return replace(report, render=guarded(render, plugin), parts=None)


REPORTS: Table[Report] = Table(BUILT_IN, Group.REPORTS, name=lambda one: one.name, admit=_admitted)
"""Every report: those of plugins come last."""
