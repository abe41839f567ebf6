"""``forensics timeline``."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forensics.case import Reading
from forensics.cli import reading
from forensics.cli.speaking import say
from forensics.engines import local
from forensics.errors import UnreadableInput
from forensics.replay.partitions import histories
from forensics.replay.timeline import timeline as replay
from forensics.reports import timeline_text

if TYPE_CHECKING:
    from forensics.engines.spark.stored import Stored


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-p", "--partition", "name", required=True, metavar="TOPIC-N", help="Partition to show.")
@click.option("--lines", "cite", is_flag=True, help="Name the file and line behind each change.")
@reading.zone
@reading.skews
@reading.limits
@click.option("--width", type=click.IntRange(60), help="Columns of the output; the terminal's unless given.")
def timeline(
    paths: tuple[str, ...], name: str, cite: bool, zone: str | None, skews: dict[int, int], width: int | None
) -> None:
    """Show a partition's replicas side by side, time down: role, log end offset, high watermark, ISR.

    Example: forensics timeline incident/ -p orders-0 --lines
    """
    tables = _tables(paths)
    if tables is not None and (zone or skews):
        raise click.UsageError("--tz and --skew have no effect on tables, whose times are UTC: give them to the batch")
    case = local.take_in(paths, reading=Reading(zone, skews)) if tables is None else tables.case(name)
    every = [history for part in case.parts for history in histories(part)]
    chosen = sorted((h for h in every if h.name == name), key=lambda h: (h.cluster or "", -h.incarnation))
    if not chosen:
        names = sorted({history.name for history in every}) if tables is None else tables.names()
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise UnreadableInput(f"no partition {name} in the evidence{hint}")
    texts = [timeline_text.render(case, history, replay(case, history), width=width, cite=cite) for history in chosen]
    say("\n".join(texts))


def _tables(paths: tuple[str, ...]) -> Stored | None:
    """The tables that a batch wrote, where it is these that are asked for."""
    if len(paths) == 1 and (Path(paths[0]) / "manifest.json").is_file():
        from forensics.engines.spark.stored import Stored, holds

        if holds(Path(paths[0])):
            return Stored(Path(paths[0]))
    return None
