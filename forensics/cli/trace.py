"""``forensics trace``."""

from __future__ import annotations

from collections.abc import Iterable

import click

from forensics.case import Case, Reading
from forensics.case.kept_files import written
from forensics.cli import reading
from forensics.cli.examples import example
from forensics.cli.speaking import say_pieces, warn_of_unread
from forensics.engines import local
from forensics.outputs import outside, put_text, writable
from forensics.reports.redaction import Redactor
from forensics.result import Result
from forensics.rules.stated_problems import stated


def _parts(case: Case, asked: str | None) -> list[tuple[str | None, Case]]:
    """Return the clusters of the evidence, each with its part; only one of them if the user names it.

    Raises:
        UsageError: the evidence is not of that cluster.
    """
    named = [(_cluster(part), part) for part in case.parts]
    if asked is None:
        return named
    wanted = [one for one in named if one[0] == asked]
    if not wanted:
        shown = ", ".join(sorted(name for name, _ in named if name is not None)) or "none that is named"
        raise click.UsageError(f'no evidence of the cluster "{asked}"; its clusters: {shown}')
    return wanted


def _cluster(part: Case) -> str | None:
    names = {broker.cluster for broker in part.everyone if broker.cluster is not None}
    return next(iter(names)) if len(names) == 1 else None


def _tell_left_out(parts: Iterable[Case]) -> None:
    """Print which problems log lines state by themselves: a trace has no kind for these."""
    problems = {one.known.title: None for part in parts for one in stated(part) if not one.known.routine}
    if problems:
        titles = "; ".join(problems)
        click.echo(f"not in the trace, only in a scan of the evidence: what log lines state ({titles})", err=True)


@click.command(epilog=example("forensics trace incident/ -p orders-0 -o orders-0.jsonl"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("-o", "--output", default="-", metavar="FILE.jsonl", help="Write to this file instead of the terminal.")
@click.option(
    "-p", "--partition", "names", multiple=True, metavar="TOPIC-N", help="Only this partition. Can be repeated."
)
@click.option("--cluster", metavar="ID", help="Only this cluster, where the evidence is of several.")
@reading.zone
@reading.skews
@reading.limits
@reading.redacted
def trace(
    paths: tuple[str, ...],
    output: str,
    names: tuple[str, ...],
    cluster: str | None,
    zone: str | None,
    skews: dict[int, int],
    redacted: bool,
) -> None:
    """Write the statements of the evidence as a trace: one statement per line, as JSON, with times in UTC.

    It also has what segments and checkpoint files show, without the records themselves. In a scan of the trace alone
    each rule gives the same answers as in a scan of the evidence. You can read it with jq, and send it to others
    without the logs. Problems that single log lines state, such as a failed disk, are not in it: they are named.

    It claims to be complete only if the evidence does. Where the evidence is of several clusters, their traces follow
    each other, and a scan tells them apart.
    """
    writable(output)
    outside((output,), paths)
    case = local.take_in(paths, reading=Reading(zone, skews))
    evidence, setting = case.files, None
    if redacted:
        redactor = Redactor(Result(paths, case, []))
        case, names = redactor.case(case), tuple(map(redactor.partition, names))
        cluster = redactor.cluster(cluster) if cluster is not None else None
        setting = redactor.setting
    parts = _parts(case, cluster)
    pieces = (line + "\n" for name, part in parts for line in written(part, cluster=name, names=names, setting=setting))
    if output == "-":
        say_pieces(pieces)
    else:
        put_text(output, pieces, evidence)
    _tell_left_out(part for _, part in parts)
    warn_of_unread(case)
