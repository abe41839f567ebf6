"""``forensics inspect``."""

from __future__ import annotations

import math
import sys

import click

from forensics.cli import reading
from forensics.cli.choosing import formats
from forensics.cli.examples import example
from forensics.cli.speaking import say
from forensics.engines import local
from forensics.outputs import as_json
from forensics.reports import inspect_text

MOST_ROWS = (1 << 31) - 1
"""More statements than any file has."""


def _percent(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):  # which is outside of no range
        raise click.BadParameter(f"{value} is not in the range 0<=x<=100.")
    return value


@click.command(epilog=example("forensics inspect broker-1/data/orders-0/ --records 10"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--coverage",
    is_flag=True,
    help="Print one line per file: relevant lines, understood lines, and what became of its bytes.",
)
@formats("text", "json", help="Format of --coverage.")
@click.option(
    "--rows", type=click.IntRange(0, MOST_ROWS), default=20, show_default=True, help="Statements to show of each file."
)
@click.option(
    "--records",
    type=click.IntRange(0, MOST_ROWS),
    default=0,
    metavar="N",
    help="List the first N record batches of each segment, and every batch with a wrong checksum.",
)
@click.option(
    "--at-least",
    type=click.FloatRange(0, 100),
    callback=_percent,
    metavar="PERCENT",
    help="With --coverage: exit with code 1 if less than this share of the relevant lines was understood.",
)
@reading.limits
def inspect(
    paths: tuple[str, ...], coverage: bool, format_name: str, rows: int, records: int, at_least: float | None
) -> None:
    """Show the format and the contents of each file, without judging. Archives are opened.

    A line is relevant if it contains a piece of a message that forensics knows. With --coverage, every byte of a file
    is counted as understood, irrelevant (nothing about replication), damaged or unknown.
    """
    files = local.read_files(paths)
    if format_name == "json" and not coverage:
        raise click.UsageError("--format json is for --coverage")
    if not coverage:
        say(inspect_text.render(files, rows=rows, records=records))
        return
    if format_name == "json":
        say(as_json(inspect_text.coverage_document(files), indent=1) + "\n")
    else:
        say(inspect_text.render_coverage(files))
    relevant = sum(found.relevant for _, found in files)
    understood = sum(found.understood for _, found in files)
    if at_least is not None and 100 * understood < at_least * relevant:
        sys.exit(1)
