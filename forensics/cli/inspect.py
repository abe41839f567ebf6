"""``forensics inspect``."""

from __future__ import annotations

import sys

import click

from forensics.cli import reading
from forensics.cli.speaking import say
from forensics.engines import local
from forensics.outputs import as_json
from forensics.reports import inspect_text


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--coverage",
    is_flag=True,
    help="One line a file: lines that matter and were understood, and all bytes by what became of them.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Of --coverage.",
)
@click.option("--rows", type=click.IntRange(0), default=20, show_default=True, help="Statements shown of each file.")
@click.option(
    "--at-least",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="With --coverage: exit with 1 where less was understood.",
)
@reading.limits
def inspect(paths: tuple[str, ...], coverage: bool, format_name: str, rows: int, at_least: float | None) -> None:
    """Say what each file is and what it says, without judging.

    Lines that matter are those with a fragment of a message that the catalogue knows. Archives are looked into.

    Every byte of a file, decompressed, is understood, irrelevant (of a known kind, nothing of replication), damaged or
    unknown.

    Example: forensics inspect broker-1/data/orders-0/leader-epoch-checkpoint
    """
    files = local.read_files(paths)
    if format_name == "json" and not coverage:
        raise click.UsageError("--format json is for --coverage")
    if not coverage:
        say(inspect_text.render(files, rows=rows))
        return
    if format_name == "json":
        say(as_json(inspect_text.coverage_document(files), indent=1) + "\n")
    else:
        say(inspect_text.render_coverage(files))
    relevant = sum(found.relevant for _, found in files)
    understood = sum(found.understood for _, found in files)
    if at_least is not None and 100 * understood < at_least * relevant:
        sys.exit(1)
