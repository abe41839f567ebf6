"""``forensics report``: the result of a batch, from its tables."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from forensics.cli.speaking import say_pieces
from forensics.cli.tuned import tuned
from forensics.outputs import put_text, writable
from forensics.reports import REPORTS
from forensics.reports.redaction import redact
from forensics.tuning import Tuning, tune


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
@click.option(
    "--format", "format_name", type=click.Choice([r.name for r in REPORTS]), default="text", show_default=True
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write there instead of to the terminal.")
@tuned
@click.option(
    "--redact", "redacted", is_flag=True, help="Write pseudonyms for topics, hosts, paths, ids and clients, everywhere."
)
def report(folder: Path, format_name: str, output: str | None, tuning: Tuning, redacted: bool) -> None:
    """Report the result of forensics batch from its tables, without Spark. A page quotes evidence that still exists.

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 no batch was completed there.

    Example: forensics report judged/ --format html -o incident.html
    """
    from forensics.engines.spark.stored import Stored

    writable(output)
    result = tune(Stored(folder).result(whole=format_name == "html"), tuning)
    if redacted:
        result = redact(result)
    pieces = next(report for report in REPORTS if report.name == format_name).pieces(result)
    if output is None:
        say_pieces(pieces)
    else:
        put_text(output, pieces)
    if tuning.fails(result.worst, result.unknown):
        sys.exit(1)
