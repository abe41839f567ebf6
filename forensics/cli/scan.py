"""``forensics scan``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from forensics import tables
from forensics.case import Reading
from forensics.case.order import METADATA_TOPIC, moment
from forensics.cli import reading
from forensics.cli.examples import example
from forensics.cli.exits import NOT_JUDGED, failures_text
from forensics.cli.progress import shown
from forensics.cli.speaking import say, say_pieces, shows_style
from forensics.cli.tuned import tuned
from forensics.engines import local
from forensics.errors import NothingMatched
from forensics.outputs import outside, put_text, writable
from forensics.repaired.conditions import Met
from forensics.reports import REPORTS, html, text
from forensics.reports.redaction import redact
from forensics.reports.titles import first_names
from forensics.result import Result
from forensics.tuning import Tuning, tune, with_repair

_SHOWN = 12
"""Topics named where a filter fits none."""

_LONGEST = 249
"""Characters that the name of a topic may have (``Topic.MAX_NAME_LENGTH``)."""


def _listed(names: Sequence[str]) -> str:
    """Return the first of some names; a filter that is longer than a topic's name can be is cut off."""
    shown = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..." for name in names]
    return first_names(shown, _SHOWN)


def _named(result: Result, skews: dict[int, int], tuning: Tuning, *, hinted: bool) -> None:
    """A mistyped filter must not pass for a clean answer.

    Args:
        result: the answers.
        skews: of which brokers the times are shifted.
        tuning: what topics are asked for.
        hinted: the error may name topics of the evidence.
    """
    known = {broker.id for broker in result.case.everyone}
    strangers = sorted(set(skews) - known)
    if strangers:
        there = ", ".join(map(str, sorted(known))) or "none"
        raise NothingMatched(f"--skew: no broker {strangers[0]} in the evidence; there are: {there}")
    if (tuning.topics or tuning.skip_topics) and not result.partitions:
        topics = result.case.observations.get_column("topic").drop_nulls().unique().sort().to_list()
        there = f"; there are: {_listed(topics) or 'none'}" if hinted else ""
        if tuning.topics:
            raise NothingMatched(f"no topic in the evidence matches {_listed(tuning.topics)}{there}")
        if set(topics) - {METADATA_TOPIC}:
            raise NothingMatched(f"every topic in the evidence is left out by {_listed(tuning.skip_topics)}{there}")


def _needs_rows(page: str | None, folder: str | None, baseline: str | None) -> bool:
    """Return whether all rows are needed at once: for a page, tables, or to compare the copies with a baseline."""
    return page is not None or folder is not None or baseline is not None


def _code(result: Result, tuning: Tuning) -> int:
    """Return the exit code."""
    producers = tuning.keeps_away(result.repair)
    if tuning.fails(result.worst, result.unknown) or producers is Met.NO:
        return 1
    return NOT_JUDGED if any(result.failures) or producers is Met.UNKNOWN else 0


@click.command(epilog=example("forensics scan incident/ --topic 'orders*' --report incident.html"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([r.name for r in REPORTS]),
    default="text",
    show_default=True,
    help="Format of the output; `forensics explain outputs` describes them.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of the terminal.")
@reading.zone
@reading.skews
@reading.since
@reading.until
@reading.limits
@tuned
@click.option(
    "--report",
    "page",
    type=click.Path(dir_okay=False),
    metavar="FILE.html",
    help="Also write the report as one HTML page.",
)
@click.option(
    "--save",
    "folder",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Also write all facts and findings as Parquet tables into this folder.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many files, and processes for large evidence, to work on in parallel. Default: one for each processor.",
)
@reading.memory
@click.option(
    "--tmp",
    "temporary",
    type=click.Path(exists=True, file_okay=False, writable=True),
    metavar="DIR",
    help="Folder for these rows. Default: the system's own for temporary files.",
)
@reading.redacted
def scan(
    paths: tuple[str, ...],
    format_name: str,
    output: str | None,
    zone: str | None,
    skews: dict[int, int],
    since: datetime | None,
    until: datetime | None,
    tuning: Tuning,
    page: str | None,
    folder: str | None,
    jobs: int | None,
    memory: int,
    temporary: str | None,
    redacted: bool,
) -> None:
    """Find lost, truncated or forked committed data in logs, data directories and checkpoints.

    PATH is a folder, a file, an archive, a URL, or - for standard input.

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 nothing could be read or understood. Exit code 3: no
    findings, but this program failed on a part of the evidence. An INCONCLUSIVE answer is 0; with --fail-on unknown it
    is 1. With --baseline also: 1 producers cannot go back yet, 3 not shown whether they can.
    """
    report = next(report for report in REPORTS if report.name == format_name)
    writable(output, page, inputs=(tuning.baseline, tuning.config))
    reading.in_order(since, until)
    if folder is not None:
        tables.usable(Path(folder))
    outside((output, page, folder, temporary), paths)
    how = Reading(zone, skews, moment(since, zone), moment(until, zone))
    with shown() as progress:
        found = local.scan(
            paths,
            reading=how,
            topics=tuning.topics,
            progress=progress,
            jobs=jobs,
            memory=None if report.whole or _needs_rows(page, folder, tuning.baseline) else memory,
            temporary=temporary,
            lasting=True,
        )
    result = with_repair(tune(found, tuning), tuning)
    _named(result, skews, tuning, hinted=not redacted)
    evidence = result.case.files
    if output == "-":
        output = None
    if redacted:
        result = redact(result)
    if output is None and format_name == "text":
        say(text.render(result, styled=shows_style()))
    elif output is None:
        say_pieces(report.pieces(result))
    else:
        put_text(output, report.pieces(result), evidence)
    if page is not None:
        put_text(page, [html.render(result)], evidence)
    if folder is not None:
        tables.save(result, Path(folder), evidence)
    if any(result.failures):
        click.echo(failures_text(*result.failures), err=True)
    if code := _code(result, tuning):
        sys.exit(code)
