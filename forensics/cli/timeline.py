"""``forensics timeline``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.case import Case, Reading
from forensics.case.order import moment
from forensics.cli import reading
from forensics.cli.choosing import formats
from forensics.cli.examples import example
from forensics.cli.speaking import page, say_pieces, warn_of_unread
from forensics.engines import local
from forensics.engines.left_out import replayed
from forensics.errors import DefectOfProgram, NothingMatched, UnreadableInput
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline as replay
from forensics.reports import timeline_steps, timeline_text
from forensics.reports.redaction import Redactor
from forensics.reports.timeline_steps import Shown
from forensics.result import Result, finish
from forensics.rules import judgements
from forensics.rules.finding import Finding, Severity

if TYPE_CHECKING:
    from forensics.engines.pipeline.stored import Stored

Part = tuple[History, list[Finding]]
"""A partition and what was found in it."""


@click.command(epilog=example("forensics timeline incident/ -p orders-0 --around committed-data-lost"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-p", "--partition", "name", required=True, metavar="TOPIC-N", help="Partition to show.")
@click.option("--around", metavar="FINDING", help="Show only the time around one finding: a rule or a fingerprint.")
@click.option("--from", "since", type=reading.Moment(), help="First time to show; without a zone, that of --tz.")
@click.option("--to", "until", type=reading.Moment(), help="Last time to show.")
@click.option("--lines", "cite", is_flag=True, help="Name the file and line that show each change.")
@formats("text", "jsonl", help="jsonl: one state of one replica per line.")
@reading.zone
@reading.skews
@reading.limits
@reading.redacted
@click.option("--width", type=click.IntRange(60, 10_000), help="Columns of the output. Default: those of the terminal.")
def timeline(
    paths: tuple[str, ...],
    name: str,
    around: str | None,
    since: datetime | None,
    until: datetime | None,
    cite: bool,
    format_name: str,
    zone: str | None,
    skews: dict[int, int],
    width: int | None,
    redacted: bool,
) -> None:
    """Show the replicas of a partition side by side over time: role, log end offset, high watermark, ISR.

    The steps of findings are between the rows, with the numbers that `forensics scan` gives them. On a terminal, a long
    table opens in a pager.
    """
    tables = _tables(paths)
    if tables is not None and (zone or skews):
        raise click.UsageError("--tz and --skew have no effect on tables, whose times are UTC: give them to the batch")
    case = local.take_in(paths, reading=Reading(zone, skews)) if tables is None else tables.case(name)
    chosen = _chosen(name, case, tables, hinted=not redacted)
    found = _findings(paths, case, chosen) if tables is None else tables.result().findings
    parts = [(history, _of(found, history)) for history in chosen]
    if around is not None:
        parts = _around(around, parts)
    reading.in_order(since, until)
    span = (moment(since, zone), moment(until, zone))
    frames = [replay(case, history) for history, _ in parts]
    if redacted:
        case, parts = _redacted(paths, case, parts)
    warn_of_unread(case)
    shown = [
        (history, frame, _shown(findings, around, span))
        for (history, findings), frame in zip(parts, frames, strict=True)
    ]
    if format_name == "jsonl":
        for history, frame, part in shown:
            say_pieces(timeline_steps.lines(case, history, frame, part))
        return
    texts = [
        timeline_text.render(case, history, frame, width=width, cite=cite, shown=part) for history, frame, part in shown
    ]
    page("\n".join(texts))


def _redacted(paths: Sequence[str], case: Case, parts: Sequence[Part]) -> tuple[Case, list[Part]]:
    """Return the case and the partitions to show with pseudonyms."""
    redactor = Redactor(Result(tuple(paths), case, []))
    return redactor.case(case), [
        (redactor.history(history), list(map(redactor.finding, findings))) for history, findings in parts
    ]


def _chosen(name: str, case: Case, tables: Stored | None, *, hinted: bool) -> list[History]:
    """Return the incarnations of a partition, in every cluster that has it.

    Args:
        name: topic and partition.
        case: the evidence.
        tables: those of a batch, or None.
        hinted: the error may name partitions of the evidence.

    Raises:
        UnreadableInput: there is none.
        DefectOfProgram: replay fails on it.
    """
    every = _replayed(name, case)
    chosen = sorted((h for h in every if h.name == name), key=lambda h: (h.cluster or "", -h.incarnation))
    if not chosen:
        names = sorted({history.name for history in every}) if tables is None else tables.names()
        near = (difflib.get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]) if hinted else []
        hint = f"; there is {', '.join(near)}" if near else ""
        raise UnreadableInput(f"no partition {name} in the evidence{hint}")
    return chosen


def _replayed(name: str, case: Case) -> list[History]:
    """Return all partitions on which replay does not fail.

    Raises:
        DefectOfProgram: it fails on the one that is to be shown.
    """
    every: list[History] = []
    for part in case.parts:
        good, failed = replayed(part, histories)
        every += good
        for why in [judged[0].missing[0].because for history, judged in failed if history.name == name][:1]:
            raise DefectOfProgram(f"{name} cannot be replayed: {why.text if why is not None else 'unknown'}")
    return every


def _findings(paths: Sequence[str], case: Case, chosen: Sequence[History]) -> list[Finding]:
    """Return what the rules find in these partitions."""
    return finish(paths, case, [(one, judgements(one, case.part_of(one.cluster))) for one in chosen]).findings


def _of(findings: Sequence[Finding], history: History) -> list[Finding]:
    """Return the findings of one incarnation of a partition."""
    key: Callable[[Finding | History], tuple[object, ...]] = lambda one: (  # noqa: E731
        *(one.cluster, one.topic, one.topic_id, one.partition, one.incarnation),
    )
    return [one for one in findings if key(one) == key(history)]


def _around(name: str, parts: Sequence[tuple[History, list[Finding]]]) -> list[tuple[History, list[Finding]]]:
    """Return the partitions with the incident that a finding belongs to.

    Raises:
        NothingMatched: none of them has such a finding.
    """
    found = [(history, timeline_steps.incident_of(findings, name)) for history, findings in parts]
    if any(findings for _, findings in found):
        return [(history, findings) for history, findings in found if findings]
    there = dict.fromkeys(f"{one.rule} ({one.fingerprint})" for _, findings in parts for one in findings)
    raise NothingMatched(f"--around: no finding {name} of this partition; there is {', '.join(there) or 'none'}")


def _shown(findings: Sequence[Finding], around: str | None, span: tuple[int | None, int | None]) -> Shown:
    """Return the part of a timeline to show: what the user gave comes before what a finding takes."""
    loud = [one for one in findings if around is not None or one.severity is not Severity.INFO]
    shown = Shown(*span, timeline_steps.marks(loud))
    if around is None:
        return shown
    wide = shown.around()
    return Shown(wide.since if span[0] is None else span[0], wide.until if span[1] is None else span[1], shown.marks)


def _tables(paths: tuple[str, ...]) -> Stored | None:
    """The tables that a batch wrote, where it is these that are asked for."""
    if len(paths) == 1 and (Path(paths[0]) / "manifest.json").is_file():
        from forensics.engines.pipeline.stored import Stored, holds

        if holds(Path(paths[0])):
            return Stored(Path(paths[0]))
    return None
