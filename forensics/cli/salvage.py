"""``forensics salvage``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path

import click
import polars as pl

from forensics.case import Case
from forensics.cli import reading
from forensics.cli.choosing import formats
from forensics.cli.examples import example
from forensics.cli.speaking import say
from forensics.engines import local
from forensics.errors import NothingMatched, UnreadableInput
from forensics.outputs import as_json
from forensics.replay.lineage import Range
from forensics.reports import salvage_text
from forensics.salvage import asked, recovered
from forensics.salvage.asked import Lost
from forensics.salvage.copies import Holding, copies
from parsers.formats.log_directory import DELETED_SEGMENT

_RANGE = re.compile(r"([0-9]{1,19})\.\.([0-9]{1,19})?")


def _partition(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, int]:
    try:
        return asked.split_name(value)
    except NothingMatched as error:
        raise click.BadParameter(str(error)) from None


def _ranges(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> list[Range]:
    ranges = []
    for value in values:
        found = _RANGE.fullmatch(value)
        if found is None:
            raise click.BadParameter(
                f"{value!r} is no range of offsets; use one like 50..80, which ends before 80, or 50.."
            )
        first, end = int(found[1]), int(found[2]) if found[2] else asked.TO_THE_END
        if end > asked.TO_THE_END:
            raise click.BadParameter(f"{value!r}: no offset is above {asked.TO_THE_END - 1}")
        if first >= end:
            raise click.BadParameter(f"{value!r} holds no offset: the end is not part of a range; use one like 50..80")
        ranges.append((first, end))
    return ranges


@click.command(epilog=example("forensics salvage incident/ -p orders-0 -o recovered/"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "-p", "--partition", "name", required=True, metavar="TOPIC-N", callback=_partition, help="Partition of the records."
)
@click.option(
    "--offsets",
    "ranges",
    multiple=True,
    metavar="A..B",
    callback=_ranges,
    help="Offsets from A up to, and not with, B; A.. to the end of the longest copy. Can be repeated. Default: those "
    "that a scan finds lost, forked, or lacking in a replica.",
)
@click.option("--finding", metavar="FINDING", help="The offsets of one finding: a fingerprint, or a rule.")
@click.option("--cluster", metavar="ID", help="Only copies of this cluster, where the evidence has several.")
@click.option(
    "--topic-id", metavar="ID", help="Only the topic with this id, where a topic was deleted and created again."
)
@click.option("-o", "--output", metavar="DIR", help="New folder for the records.")
@click.option("--dry-run", is_flag=True, help="Say what there is and what is gone, and write nothing.")
@formats("text", "json", help="Output format; json is what manifest.json holds.")
@reading.limits
def salvage(
    paths: tuple[str, ...],
    name: tuple[str, int],
    ranges: list[Range],
    finding: str | None,
    cluster: str | None,
    topic_id: str | None,
    output: str | None,
    dry_run: bool,
    format_name: str,
) -> None:
    """Get records back from the copies that still have them: lost ones, or any offsets.

    Each version of the records gets a folder: whole batches as a segment that a broker reads, byte for byte, and the
    records with keys, values and headers in records.jsonl. Copies that hold the same go together. A segment that its
    broker renamed *.log.deleted is a copy too: the broker removes it when it starts.

    Exit code: 0 each of the records is in a copy, 1 some are in none, 2 nothing to salvage.
    """
    _check(paths, ranges, finding, output, dry_run=dry_run)
    into = None if output is None or dry_run else Path(output)
    case, held, lost = _found(paths, name, ranges, finding, cluster, topic_id)
    written = recovered.recover(case, held, into, lost, paths)
    if format_name == "json":
        say(as_json(recovered.document(case, held, written, lost), indent=1) + "\n")
    else:
        say(salvage_text.render(case, held, written, lost, None if into is None else str(output).rstrip("/")))
    if held.gone or (lost is not None and lost.gone):
        raise SystemExit(1)


def _check(
    paths: Sequence[str], ranges: Sequence[Range], finding: str | None, output: str | None, *, dry_run: bool
) -> None:
    """Make sure that the options fit together, and that the folder is new, before anything is read."""
    if output is None and not dry_run:
        raise click.UsageError("name a new folder for the records with -o DIR, or use --dry-run")
    if ranges and finding:
        raise click.UsageError("--offsets and --finding both say which records; give one of them")
    if output is not None:
        recovered.refuse(Path(output), paths)


def _found(
    paths: Sequence[str],
    name: tuple[str, int],
    ranges: Sequence[Range],
    finding: str | None,
    cluster: str | None,
    topic_id: str | None,
) -> tuple[Case, Holding, Lost | None]:
    """Return the evidence, and what it holds of the offsets that the user or findings name."""
    if ranges:
        case, lost = local.take_in(paths), None
        held = asked.in_copies(case, *name, ranges, cluster, topic_id)
    else:
        result = local.scan(paths, topics=[name[0]])
        case = result.case
        held, lost = asked.in_result(result, *name, finding, cluster, topic_id)
    _usable(case, held, paths)
    return case, held, lost


def _usable(case: Case, held: Holding, paths: Sequence[str]) -> None:
    """Make sure that there is a copy, and of one cluster.

    Raises:
        UnreadableInput: there is none, or of several clusters.
    """
    name = held.name
    known = sorted({one.cluster for one in held.copies if one.cluster is not None})
    if len(known) > 1:
        raise UnreadableInput(f"{name}: several clusters have it; name one with --cluster: {', '.join(known)}")
    if held.copies or held.others:
        return
    if held.cluster is not None and copies(case, held.topic, held.partition, ()):
        raise UnreadableInput(f"no segment of {name} is of cluster {held.cluster}")
    there = (
        case.sources.filter(pl.col("format").is_in(["segment", DELETED_SEGMENT]))
        .select("topic", "partition")
        .drop_nulls()
        .unique()
    )
    names = sorted(f"{topic}-{partition}" for topic, partition in there.iter_rows())
    near = difflib.get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]
    hint = f"; there is {', '.join(near)}" if near else ": give the data directories of the brokers"
    raise UnreadableInput(f"no segment of {name} in {', '.join(paths)}{hint}")
