"""``forensics trace``."""

from __future__ import annotations

import click

from forensics.case import Case, Reading
from forensics.case.kept_files import written
from forensics.cli import reading
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


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", default="-", metavar="FILE.jsonl", help="Write there instead of to the terminal.")
@click.option("-p", "--partition", "names", multiple=True, metavar="TOPIC-N", help="Only of these; may be repeated.")
@reading.zone
@reading.skews
@reading.limits
def trace(paths: tuple[str, ...], output: str, names: tuple[str, ...], zone: str | None, skews: dict[int, int]) -> None:
    """Write what the evidence states, one statement a line as JSON, times in UTC.

    Its first line names the cluster and its brokers; it claims to be complete only where the evidence does. What was
    read in segments and checkpoint files follows, file by file. A scan of the result alone gives the answers that the
    evidence gave. It can be looked at with jq, and handed on without the records.

    Example: forensics trace incident/ -p orders-0 -o orders-0.jsonl
    """
    writable(output)
    case = local.take_in(paths, reading=Reading(zone, skews))
    lines = written(case, cluster=_cluster(case), names=names)
    pieces = (line + "\n" for line in lines)
    if output == "-":
        say_pieces(pieces)
    else:
        put_text(output, pieces, case.files)
