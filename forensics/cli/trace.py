"""``forensics trace``."""

from __future__ import annotations

import click

from forensics.case import Case, Reading
from forensics.case.kept_files import written
from forensics.cli import reading
from forensics.cli.examples import example
from forensics.cli.speaking import say_pieces
from forensics.engines import local
from forensics.outputs import put_text, writable


def _cluster(case: Case) -> str | None:
    """Return the cluster id, or None if none is known.

    Raises:
        UsageError: the evidence is of several clusters.
    """
    names = sorted({broker.cluster for broker in case.everyone if broker.cluster is not None})
    if len(names) > 1:
        shown = ", ".join(names)
        raise click.UsageError(f"the evidence is of {len(names)} clusters ({shown}): give the paths of one of them")
    return next(iter(names), None)


@click.command(epilog=example("forensics trace incident/ -p orders-0 -o orders-0.jsonl"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", default="-", metavar="FILE.jsonl", help="Write to this file instead of the terminal.")
@click.option(
    "-p", "--partition", "names", multiple=True, metavar="TOPIC-N", help="Only this partition. Can be repeated."
)
@reading.zone
@reading.skews
@reading.limits
def trace(paths: tuple[str, ...], output: str, names: tuple[str, ...], zone: str | None, skews: dict[int, int]) -> None:
    """Write the statements of the evidence as a trace: one statement per line, as JSON, with times in UTC.

    It also has what segments and checkpoint files show, without the records themselves. A scan of the trace alone gives
    the same answers as a scan of the evidence. You can read it with jq, and send it to others without the logs.

    It claims to be complete only if the evidence does.
    """
    writable(output)
    case = local.take_in(paths, reading=Reading(zone, skews))
    lines = written(case, cluster=_cluster(case), names=names)
    pieces = (line + "\n" for line in lines)
    if output == "-":
        say_pieces(pieces)
    else:
        put_text(output, pieces, case.files)
