"""``forensics trace``."""

from __future__ import annotations

import click
import polars as pl

from forensics.case import Case, Reading
from forensics.cli import reading
from forensics.cli.speaking import say_pieces
from forensics.engines import local
from forensics.outputs import put_text, writable
from parsers.formats.trace_jsonl import write_trace


def _cluster(case: Case) -> str | None:
    """The cluster id, where all of the evidence is of one cluster."""
    names = {broker.cluster for broker in case.everyone}
    return next(iter(names)) if len(names) == 1 else None


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", default="-", metavar="FILE.jsonl", help="Write there instead of to the terminal.")
@click.option("-p", "--partition", "names", multiple=True, metavar="TOPIC-N", help="Only of these; may be repeated.")
@reading.zone
@reading.skews
@reading.limits
def trace(paths: tuple[str, ...], output: str, names: tuple[str, ...], zone: str | None, skews: dict[int, int]) -> None:
    """Write what the evidence states, one statement a line as JSON, times in UTC.

    Its first line names the cluster and its brokers; it claims to be complete only where the evidence does. The result
    can be scanned in place of the logs it was made from, looked at with jq, and handed on without them.
    Record batches are not in it: hand on segments as files.

    Example: forensics trace incident/ -p orders-0 -o orders-0.jsonl
    """
    writable(output)
    case = local.take_in(paths, reading=Reading(zone, skews))
    rows = case.observations
    if names:
        of_broker = pl.col("topic").is_null() & pl.col("topic_id").is_null()
        rows = rows.filter(of_broker | pl.format("{}-{}", "topic", "partition").is_in(names))
    lines = write_trace(rows, cluster=_cluster(case), replicas=sorted(case.brokers))
    pieces = (line + "\n" for line in lines)
    if output == "-":
        say_pieces(pieces)
    else:
        put_text(output, pieces, case.files)
