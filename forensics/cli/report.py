"""``forensics report``: the result of a batch, from its tables."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forensics.cli import reading
from forensics.cli.examples import example
from forensics.cli.exits import NOT_JUDGED, failures_text
from forensics.cli.speaking import say_pieces
from forensics.cli.tuned import tuned
from forensics.outputs import outside, put_text, writable
from forensics.reports import REPORTS
from forensics.reports.redaction import redact
from forensics.tuning import Tuning, tune


@click.command(epilog=example("forensics report judged/ --format html -o incident.html"))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([r.name for r in REPORTS]),
    default="text",
    show_default=True,
    help="Format of the output; `forensics explain outputs` describes them.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of the terminal.")
@tuned
@reading.redacted
def report(folder: Path, format_name: str, output: str | None, tuning: Tuning, redacted: bool) -> None:
    """Report the result of `forensics batch` from its tables, without Spark.

    An HTML page quotes the lines of files that still exist.

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 no batch was completed there. Exit code 3: no
    findings, but this program failed on a part of the evidence.
    """
    from forensics.engines.pipeline.stored import Stored

    writable(output, inputs=(tuning.baseline, tuning.config))
    report = next(report for report in REPORTS if report.name == format_name)
    result = tune(Stored(folder).result(whole=report.whole), tuning)
    outside((output,), result.inputs)
    evidence = result.case.files
    if redacted:
        result = redact(result)
    pieces = report.pieces(result)
    if output is None:
        say_pieces(pieces)
    else:
        put_text(output, pieces, evidence)
    if any(result.failures):
        click.echo(failures_text(*result.failures), err=True)
    if tuning.fails(result.worst, result.unknown):
        sys.exit(1)
    if any(result.failures):
        sys.exit(NOT_JUDGED)
