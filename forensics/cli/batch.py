"""``forensics batch``: the Spark job over an archive."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forensics import tables
from forensics.case import Reading
from forensics.case.order import moment
from forensics.cli import reading, speaking
from forensics.cli.examples import example
from forensics.cli.exits import NOT_JUDGED, failures_text
from forensics.cli.tuned import tuned
from forensics.named_files import no_file
from forensics.outputs import as_json, plain
from forensics.reports import jsonl
from forensics.rules.finding import Severity
from forensics.tuning import Tuning, tune

if TYPE_CHECKING:
    from forensics.engines.pipeline.explaining import Explained
    from forensics.result import Result

_SHOWN = 20


def _conf(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    for key, mark, _ in pairs:
        if not key or not mark:
            raise click.BadParameter(f"{key!r} is not KEY=VALUE, as in spark.executor.memory=4g")
        if not key.startswith("spark."):  # Spark would pass over it without a word
            raise click.BadParameter(f"{key!r} is no setting of Spark, whose names begin with spark.")
    return {key: value for key, _, value in pairs}


_MASTER = re.compile(r"local(?:\[[^\]]+\])?|yarn|[a-z0-9]+://.+")


def _master(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _MASTER.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no master; use one like local[*], spark://host:7077 or yarn")
    return value


def _shipped(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if Path(value).suffix not in (".zip", ".egg", ".py"):
            raise click.BadParameter(f"{value!r} is no Python code that Spark ships; give a .zip, .egg or .py")
        if why := no_file(value):
            raise click.BadParameter(f"{value!r} {why}; give a .zip, .egg or .py")
    return values


@click.command(epilog=example("forensics batch archive/ -o judged/ --master 'local[*]'", "forensics report judged/"))
@click.argument("paths", nargs=-1, required=True, metavar="ARCHIVE...")
@click.option("-o", "--output", "folder", required=True, metavar="DIR", help="Folder for the tables of the result.")
@reading.zone
@reading.skews
@reading.since
@reading.until
@reading.limits
@tuned
@click.option(
    "--master",
    metavar="URL",
    callback=_master,
    help="Spark master: local[*], spark://host:7077, yarn, k8s://..., sc://...",
)
@click.option("--conf", multiple=True, metavar="KEY=VALUE", callback=_conf, help="A setting of Spark. Can be repeated.")
@click.option(
    "--py-files",
    "shipped",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    callback=_shipped,
    metavar="ZIP",
    help="Python code to send to the workers. Can be repeated.",
)
@click.option(
    "--table-format",
    default="parquet",
    show_default=True,
    metavar="NAME",
    help="Format of the large tables, for Spark.",
)
@click.option("--timeline", "timelines", is_flag=True, help="Also write the states of all replicas as a table.")
@click.option("--split", type=click.IntRange(32), metavar="MB", help="Megabytes per read task.  [default: 64]")
@click.option("--partitions", type=click.IntRange(1), help="Number of replay tasks. Default: by the number of rows.")
@click.option(
    "--check-content", "check", is_flag=True, help="Hash all files again, even if size and time are the same."
)
@click.option("--explain", "explained", is_flag=True, help="Only show what would be read, in which tasks.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def batch(
    paths: tuple[str, ...],
    folder: str,
    zone: str | None,
    skews: dict[int, int],
    since: datetime | None,
    until: datetime | None,
    tuning: Tuning,
    master: str | None,
    conf: dict[str, str],
    shipped: tuple[str, ...],
    table_format: str,
    timelines: bool,
    split: int | None,
    partitions: int | None,
    check: bool,
    explained: bool,
    quiet: bool,
) -> None:
    """Scan a large archive on Spark; same results as `scan`. Files that an earlier batch read are not read again.

    Exit code: 0 nothing at or above --fail-on, 1 findings, 2 nothing could be read or understood. Exit code 3: no
    findings, but this program failed on a part of the evidence.
    """
    from forensics.engines.pipeline import batch as engine
    from forensics.engines.pipeline import job as jobs
    from forensics.engines.pipeline.explaining import explained as explain
    from forensics.engines.spark.executor import SparkExecutor
    from forensics.engines.spark.session import session
    from forensics.engines.stages.listing import SPLIT

    found = _Found()
    options = jobs.Options(
        reading=Reading(zone, skews, moment(since, zone), moment(until, zone)),
        topics=tuning.topics,
        split=SPLIT if split is None else split << 20,
        partitions=partitions,
        format=table_format,
        timelines=timelines,
        check=check,
        texts={
            "findings.jsonl": lambda result: _findings(tune(result, tuning)),
            "verdicts.jsonl": lambda result: _verdicts(tune(result, tuning)),
        },
        settings=_settings(tuning),
        each=lambda result: found.add(tune(result, tuning)),
        note=found.row,
        told=False,
    )

    def say(said: str) -> None:
        if not quiet:
            click.echo(f"forensics: {plain(said)}", err=True)

    job = jobs.prepared(paths, folder)
    result = None if explained else jobs.unchanged(job, options)
    if result is None:
        spark = session(master=master, conf=conf)
        for path in shipped:
            spark.addArtifacts(path, pyfile=True)
        if explained:
            speaking.say(_plan(explain(SparkExecutor(spark), job, options, say)))
            return
        result = engine.done(SparkExecutor(spark), job, options, say)
    else:
        say(jobs.NOTHING_NEW)
        found = _Found.of(job.output.open()["note"])
    stated = _stated(result, tuning, Path(folder), table_format)
    speaking.say(_told(result, found, folder, stated))
    failures = (result.failures[0], found.failed)
    if any(failures):
        click.echo(failures_text(*failures), err=True)
    if tuning.fails(stated.with_problems(found.worst), found.unknown):
        sys.exit(1)
    if any(failures):
        sys.exit(NOT_JUDGED)


def _settings(tuning: Tuning) -> str:
    """All that a user may tune, and that texts depend on."""
    severities = {rule: one.value for rule, one in tuning.severities.items()}
    known = {one.fingerprint: one.severity.value for one in tuning.known}
    chosen = [severities, sorted(tuning.disabled), tuning.topics, tuning.skip_topics, known]
    return json.dumps(chosen, sort_keys=True)


@dataclass(slots=True)
class _Found:
    """Counts over partitions, collected group by group.

    Attributes:
        partitions: how many there are.
        counts: findings by severity.
        unknown: the worst severity of any rule whose verdict is unknown.
        failed: partitions on which this program failed.
    """

    partitions: int = 0
    counts: Counter[Severity] = field(default_factory=Counter)
    unknown: Severity | None = None
    failed: int = 0

    @staticmethod
    def of(row: Mapping[str, Any]) -> _Found:
        """As a manifest keeps it."""
        counts = Counter({Severity(name): n for name, n in row["findings"].items()})
        unknown = row.get("unknown")
        worst = Severity(unknown) if unknown is not None else None
        return _Found(row["partitions"], counts, worst, row.get("failed", 0))

    def row(self) -> dict[str, Any]:
        """For a manifest."""
        found = {one.value: n for one, n in self.counts.items()}
        unknown = self.unknown.value if self.unknown is not None else None
        return {"partitions": self.partitions, "findings": found, "unknown": unknown, "failed": self.failed}

    def add(self, result: Result) -> None:
        """Count."""
        self.partitions += len(result.partitions)
        self.failed += result.failures[1]
        self.counts.update(finding.severity for finding in result.findings)
        open_ = [one for one in (self.unknown, result.unknown) if one is not None]
        self.unknown = min(open_, key=lambda one: one.rank, default=None)

    @property
    def worst(self) -> Severity | None:
        """The worst severity."""
        return min(self.counts, key=lambda one: one.rank, default=None)


def _findings(result: Result) -> Iterator[tuple[tuple[object, ...], str]]:
    return ((one.order, jsonl.line(one)) for one in result.findings)


def _verdicts(result: Result) -> Iterator[tuple[tuple[object, ...], str]]:
    for one in result.partitions:
        rows = tables.verdicts_of(one)
        yield one.order, "".join(as_json(row) + "\n" for row in rows)


def _plan(found: Explained) -> str:
    """Return what would be read, for people."""
    lines = [
        f"{found.files:,} files, {found.bytes / 1e6:,.1f} MB, {found.sources:,} sources in them",
        f"{found.known:,} sources were read before, {found.copies:,} are copies, {found.skipped:,} are not read",
        f"{found.tasks:,} tasks read {found.new:,} sources",
    ]
    for path, count in found.splits[:_SHOWN]:
        lines.append(f"  {plain(path)}: by ranges of bytes, in {count} tasks")
    for path, weight, why in found.giants[:_SHOWN]:
        lines.append(f"  {plain(path)}: about {weight / 1e6:,.0f} MB in one task: {why}")
    return "\n".join(lines) + "\n"


def _stated(result: Result, tuning: Tuning, folder: Path, table_format: str) -> Result:
    """The result with the known problems that lines state; they are read from tables that Parquet readers can read."""
    from forensics.engines.pipeline.stored import Stored
    from forensics.engines.stages.table import PARQUET

    if table_format != PARQUET:
        return result
    return tune(replace(result, problems=Stored(folder).problems()), tuning)


def _told(result: Result, found: _Found, folder: str, stated: Result) -> str:
    """Return the result of a batch, in a few lines."""
    told = ", ".join(f"{found.counts[one]:,} {one.value}" for one in Severity if found.counts[one]) or "none"
    lines = [f"{found.partitions:,} partitions judged; findings: {told}"]
    problems = Counter(one.known.severity for one in stated.problems)
    if problems:
        told = ", ".join(f"{problems[one]:,} {one.value}" for one in Severity if problems[one])
        lines.append(f"known problems that lines state: {told}")
    sources = result.case.sources
    for row in (
        sources.filter(sources["format"].is_in(["failed", "unreadable", "unknown"])).head(_SHOWN).iter_rows(named=True)
    ):
        lines.append(f"  not read: {plain(row['path'])} ({row['format']})")
    damaged = sources.filter(sources["notices"] > 0).sort("notices", "id", descending=[True, False])
    for path, count in damaged.select("path", "notices").head(_SHOWN).iter_rows():
        lines.append(f"  {count:,} notices: {plain(path)}")
    named = plain(shlex.quote(folder))
    lines.append(f"see: forensics report {named}   forensics timeline {named} -p TOPIC-N")
    return "\n".join(lines) + "\n"
