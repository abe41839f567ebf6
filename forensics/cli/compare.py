"""``forensics compare``."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Set

import click

from forensics.case.not_read import not_read
from forensics.cli import reading
from forensics.cli.choosing import formats
from forensics.cli.examples import example
from forensics.cli.exits import NOT_JUDGED
from forensics.cli.speaking import say
from forensics.engines import local
from forensics.errors import UnreadableInput
from forensics.outputs import as_json
from forensics.reports import comparison


@click.command(epilog=example("forensics compare incident/ -p orders-0"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-p", "--partition", "name", metavar="TOPIC-N", help="Compare only this partition, and show all of it.")
@formats("text", "json", help="Output format.")
@reading.limits
def compare(paths: tuple[str, ...], name: str | None, format_name: str) -> None:
    """Compare replicas by their segments and checkpoints on disk.

    It compares and does not judge: records that were never committed may differ. `forensics scan` judges.

    Exit code: 0 the copies are the same, 1 two copies hold different records at one offset, 2 no copy was found. Exit
    code 3: unknown, because a segment is damaged, a file cannot be read, offsets are missing, or there is only one
    copy.
    """
    case = local.take_in(paths)
    every = comparison.comparisons(case)
    found = [one for one in every if name is None or one.name == name]
    if not found:
        raise UnreadableInput(_why(paths, name, sorted({one.name for one in every})))
    if format_name == "json":
        say(as_json(comparison.document(case, found), indent=1) + "\n")
    else:
        say(comparison.render(case, found, full=name is not None))
    outcomes = {one.outcome for one in found if one.compared or one.damaged}
    code = _code(outcomes | {comparison.Outcome.UNKNOWN for _ in not_read(case)[:1]})
    if code:
        sys.exit(code)


def _code(outcomes: Set[comparison.Outcome]) -> int:
    """Return the exit code; unknown if nothing could be compared."""
    if comparison.Outcome.DIFFERENT in outcomes:
        return 1
    return NOT_JUDGED if comparison.Outcome.UNKNOWN in outcomes or not outcomes else 0


def _why(paths: tuple[str, ...], name: str | None, names: list[str]) -> str:
    """Why there is nothing to compare, and what there is."""
    if not names:
        return f"no replica in {', '.join(paths)}: compare needs segments or checkpoints; give the data directories"
    near = difflib.get_close_matches(name or "", names, n=5, cutoff=0.3) or names[:5]
    return f"no partition {name} on disk in the evidence; there is {', '.join(near)}"
