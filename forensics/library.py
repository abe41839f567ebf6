"""The functions of ``import forensics``: a scan as Polars frames, Plotly figures and reports, for notebooks.

    import forensics

    scan = forensics.scan("evidence/")
    print(scan.answer)
    scan.findings.filter(pl.col("severity") == "critical").select("topic", "partition", "offsets", "summary")
    scan.timeline("orders-0").select("replica", "from", "role", "leader_epoch", "log_end_offset", "high_watermark")
    scan.figure("orders-0").show()

Frames have the columns of the tables that ``forensics scan --save`` writes (docs/outputs.md). Each is made when it is
asked for. ``forensics.spark`` has the functions for DataFrames of Spark.
"""

from __future__ import annotations

import html as escapes
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from os import PathLike, fsdecode, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from forensics import tables
from forensics.case import Reading
from forensics.case.frames import case_of
from forensics.case.order import known_zone, moment
from forensics.engines import local
from forensics.errors import NothingMatched, UnreadableInput
from forensics.pages import page
from forensics.repaired.former import former_scan
from forensics.replay.lineage import Range
from forensics.replay.timeline import timeline as states
from forensics.reports import REPORTS
from forensics.result import Partition, Result, finish
from forensics.rules import RULES
from forensics.rules.glossary import explained
from forensics.salvage import asked, recovered
from forensics.tuning import Tuning, tune, with_repair

if TYPE_CHECKING:
    from forensics.reports.html.notebook import Figure

Paths = str | PathLike[str] | Sequence[str | PathLike[str]]

_SHOWN: Final = 20
"""Findings in the table that a notebook shows."""
_PATHS: Final = "name files, folders or archives of evidence, such as 'incident/'"
_FRAMES: Final = {
    "polars": "call collect() of a lazy frame, or give the whole frame",
    "pandas": "convert it with polars.from_pandas",
    "pyarrow": "convert it with polars.from_arrow",
    "pyspark": "forensics.spark.judge takes DataFrames of Spark",
}
"""By the package of something that is no frame of Polars, what to do."""


class Scan:
    """A finished scan.

    Args:
        result: what an engine returned; ``Scan.result`` is for code of this package and may change.
    """

    def __init__(self, result: Result) -> None:
        self.result = result

    def __repr__(self) -> str:
        """Return the answer in short."""
        return f"<forensics.Scan: {self.answer}>"

    @cached_property
    def answer(self) -> str:
        """The first line of the summary: what was violated, in how many partitions."""
        return self.text().partition("\n")[0]

    @property
    def worst(self) -> str | None:
        """Severity of the worst finding: critical, error, warning or info; None without a finding."""
        worst = self.result.worst
        return None if worst is None else worst.value

    @property
    def partitions(self) -> list[str]:
        """Names of all partitions, as ``orders-0``, each once; those with the worst findings first."""
        return list(dict.fromkeys(one.history.name for one in self.result.partitions))

    # -- frames -----------------------------------------------------------------------------------------------------

    def table(self, name: str) -> pl.DataFrame:
        """Return a table by its name, as ``forensics scan --save`` writes it.

        Raises:
            NothingMatched: there is no such table.
        """
        found = next((one for one in tables.TABLES if one.name == name), None)
        if found is None:
            raise NothingMatched(f"no table {name}; there is {', '.join(one.name for one in tables.TABLES)}")
        return found.rows(self.result).select(pl.col(column).cast(dtype) for column, dtype in found.schema.items())

    @cached_property
    def sources(self) -> pl.DataFrame:
        """One row for each file, with its SHA-256."""
        return self.table("sources")

    @cached_property
    def observations(self) -> pl.DataFrame:
        """One row for each fact that a file states."""
        return self.table("observations")

    @cached_property
    def batches(self) -> pl.DataFrame:
        """One row for each record batch header."""
        return self.table("batches")

    @cached_property
    def notices(self) -> pl.DataFrame:
        """One row for each damaged place, and for what could not be understood."""
        return self.table("notices")

    @cached_property
    def findings(self) -> pl.DataFrame:
        """One row for each finding, the worst first."""
        return self.table("findings")

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row for each rule and partition: violated, clean, unknown or not-applicable, and what is missing."""
        return self.table("verdicts")

    def timeline(self, partition: str, *, cluster: str | None = None) -> pl.DataFrame:
        """Return the states of the replicas of a partition: one row from one change to the next.

        Args:
            partition: as ``orders-0``.
            cluster: its cluster, where several have such a partition.

        Raises:
            NothingMatched: there is no such partition.
        """
        chosen = [one.history for one in self._named(partition, cluster)]
        return tables.timelines(self.result.case, chosen, states)

    # -- for people -------------------------------------------------------------------------------------------------

    def report(self, name: str = "text") -> str:
        """Return a report by the name that ``--format`` gives it: text, markdown, json, html and others.

        Raises:
            NothingMatched: there is no such report.
        """
        found = next((one for one in REPORTS if one.name == name), None)
        if found is None:
            raise NothingMatched(f"no report {name}; there is {', '.join(one.name for one in REPORTS)}")
        return "".join(found.pieces(self.result))

    def text(self) -> str:
        """Return the summary for a terminal."""
        return self.report("text")

    def json(self) -> dict[str, Any]:
        """Return everything as plain values, by the contract ``forensics.scan/1``."""
        return dict(json.loads(self.report("json")))

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write all tables as Parquet into a folder, and return their paths.

        Raises:
            UnwritableOutput: the folder holds something else or evidence, or cannot be written.
        """
        return tables.save(self.result, Path(folder), self.result.case.files)

    def figure(self, partition: str, *, cluster: str | None = None) -> Figure:
        """Return the timeline of a partition as a Plotly figure: log ends, high watermarks, epochs, truncations.

        Args:
            partition: as ``orders-0``.
            cluster: its cluster, where several have such a partition.

        Raises:
            NothingMatched: there is no such partition.
        """
        from forensics.reports.html.notebook import of_partition

        return of_partition(self.result.case, self._named(partition, cluster)[0])

    def _repr_html_(self) -> str:
        """Return the answer and the worst findings, for a notebook."""
        columns = ("severity", "confidence", "rule", "topic", "partition", "summary")
        shown = self.findings.head(_SHOWN)
        rows = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in shown.select(columns).iter_rows())
        more = self.findings.height - shown.height
        rest = f"<p>and {more:,} more</p>" if more else ""
        table = f"<table><tr>{_cells(columns, 'th')}</tr>{rows}</table>{rest}" if rows else ""
        return f"<p><b>{escapes.escape(self.answer)}</b></p>{table}"

    # -- after a repair ---------------------------------------------------------------------------------------------

    def against(self, baseline: str | PathLike[str]) -> Scan:
        """Return this scan held against an earlier one. In ``findings``, ``known`` marks what the earlier one has.

        Args:
            baseline: what ``forensics scan --format json`` or ``--format jsonl`` wrote.

        Raises:
            BadBaseline: the file is something else.
        """
        path = fspath(baseline)
        former = former_scan(path)
        tuning = Tuning(baseline=path, known=former.findings, former=former)
        return Scan(with_repair(tune(self.result, tuning), tuning))

    @property
    def safe(self) -> str | None:
        """Return whether producers can go back: yes, no or unknown; None unless ``against`` returned this scan."""
        repair = self.result.repair
        return None if repair is None else repair.met.value

    # -- records ----------------------------------------------------------------------------------------------------

    def salvage(
        self,
        partition: str,
        offsets: Sequence[Range] = (),
        *,
        into: str | PathLike[str] | None = None,
        topic_id: str | None = None,
    ) -> dict[str, Any]:
        """Find records in the copies that still have them, and write them where a folder is named.

        Args:
            partition: as ``orders-0``.
            offsets: half-open ranges; none for those that the scan found lost, forked, or lacking in a replica.
            into: a new folder; None to write nothing.
            topic_id: of the topic, if several had its name in turn.

        Returns:
            What ``manifest.json`` holds (docs/salvage.md).

        Raises:
            NothingMatched: no replica lacks records and no offsets are named, or several topics had the name.
            UnusableOutput: the folder is not new, or is in the evidence.
        """
        topic, number = asked.split_name(partition)
        if any(first >= end for first, end in offsets):
            raise NothingMatched("a range of offsets ends before it begins, or where it does; use one like (50, 80)")
        case, inputs = self.result.case, self.result.inputs
        if offsets:
            held, lost = asked.in_copies(case, topic, number, offsets, topic_id=topic_id), None
        else:
            held, lost = asked.in_result(self.result, topic, number, topic_id=topic_id)
        written = recovered.recover(case, held, None if into is None else Path(into), lost, inputs)
        return recovered.document(case, held, written, lost)

    def _named(self, name: str, cluster: str | None) -> list[Partition]:
        """Return the incarnations of a partition, the one with the worst findings first."""
        mine = [one for one in self.result.partitions if one.history.name == name]
        mine = [one for one in mine if cluster is None or one.history.cluster == cluster]
        if not mine:
            there = ", ".join(self.partitions[:_SHOWN]) or "none"
            raise NothingMatched(f"no partition {name} in the evidence; there is {there}")
        return mine


def _cells(row: Sequence[object], tag: str) -> str:
    return "".join(f"<{tag}>{escapes.escape(str(value))}</{tag}>" for value in row)


def scan(
    paths: Paths,
    *,
    topics: Sequence[str] = (),
    tz: str | None = None,
    skew: Mapping[int, timedelta] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    jobs: int | None = None,
) -> Scan:
    """Read, replay and judge evidence: logs, data directories, checkpoints, traces and archives of them.

    Args:
        paths: files, folders or archives; they are only ever read.
        topics: patterns; only topics that match one are judged. None means all.
        tz: zone of printed times that name none. Default: inferred from a collector's times, else UTC.
        skew: by broker, what to add to its times.
        since, until: lines before and after are left out; times without a zone are in ``tz``, else UTC.
        jobs: how many files are read side by side. Default: one for each processor.

    Raises:
        UnreadableInput: a path does not exist.
        NothingUnderstood: nothing in the input is a broker's.
        NothingMatched: there is no such time zone.

    >>> found = scan("sample_traces/kip101-0.10.2.2")
    >>> found.worst, found.partitions
    ('critical', ['orders-0'])
    >>> found.findings.select("rule", "severity").row(0)
    ('committed-data-lost', 'critical')
    >>> found.salvage("orders-0")["lost"]
    {'offsets': [[50, 80]], 'gone': []}
    """
    try:
        known_zone("UTC" if tz is None else tz)
    except ValueError:
        raise NothingMatched(f"{tz!r} is no time zone; use one like Europe/Berlin, UTC or +02:00") from None
    given = _given(paths)
    shifts = {broker: round(shift / timedelta(microseconds=1)) for broker, shift in (skew or {}).items()}
    reading = Reading(tz, shifts, moment(since, tz), moment(until, tz))
    return Scan(local.scan(given, reading=reading, topics=topics, jobs=jobs))


def _given(paths: object) -> list[str]:
    """Return the paths of a scan.

    Raises:
        UnreadableInput: it is something else than paths, or none.
    """
    given: list[Any] = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, str | bytes) else [paths]
    if not given:
        raise UnreadableInput(f"no path was given; {_PATHS}")
    for one in given:
        if not isinstance(one, str | PathLike):
            raise UnreadableInput(f"{one!r} is no path; {_PATHS}")
    return [fsdecode(path) for path in given]


def judge(
    observations: pl.DataFrame,
    batches: pl.DataFrame | None = None,
    notices: pl.DataFrame | None = None,
    sources: pl.DataFrame | None = None,
    *,
    whole: bool = False,
) -> Scan:
    """Replay and judge rows that were read before: filtered, joined, or kept in a table of one's own.

    Rows that are missing lower the answers to unknown: without ``whole``, no absent line proves anything. Settings and
    ids of files that hold no observations are not in a frame, so ``scan`` may know more. ``forensics.replay`` is the
    same function.

    Args:
        observations: rows with the columns of ``Scan.observations``, of which ``kind``, ``line``, and ``path`` or
            ``source`` are needed. Times are UTC.
        batches: rows with the columns of ``Scan.batches``, all of each segment; None for none.
        notices: rows with the columns of ``Scan.notices``; needed beside batches.
        sources: the files, with ``id`` and ``path``; needed beside batches where these have no column ``path``. With
            ``sha256``, findings name the hashes, and quote the files that are still what they were.
        whole: each file of which there is a row is complete.

    Raises:
        UnreadableInput: a column is missing that carries the order of lines, or names their file; or what is given is
            no frame of Polars.

    >>> rows = scan("sample_traces/kip101-0.10.2.2").observations
    >>> judge(rows.filter(pl.col("topic") == "orders")).partitions
    ['orders-0']
    """
    _frame(observations, "observations")
    for name, optional in (("batches", batches), ("notices", notices), ("sources", sources)):
        if optional is not None:
            _frame(optional, name)
    case = case_of(observations, batches, notices, sources, whole=whole)
    with local.no_cycles():
        return Scan(finish((), case, local.judged(case)))


def _frame(given: object, name: str) -> None:
    """Make sure that something is a frame of Polars.

    Raises:
        UnreadableInput: it is something else.
    """
    if not isinstance(given, pl.DataFrame):
        what = type(given)
        then = _FRAMES.get(what.__module__.partition(".")[0], "give the frame of a scan, or one with its columns")
        raise UnreadableInput(f"{name}: a {what.__name__} is no polars.DataFrame; {then}")


def explain(word: str) -> str:
    """Return what a rule finds, why it matters and what to do; or what a word of Kafka means; or a page of the docs.

    Raises:
        NothingMatched: there is no such rule, and the word is not explained.

    >>> explain("committed-data-lost").splitlines()[0]
    "The log of the partition's current leader lacks records that were committed."
    """
    if (told := explained(word) or page(word)) is not None:
        return told
    found = next((rule for rule in RULES if rule.id == word), None)
    if found is None:
        raise NothingMatched(f"no rule {word}; there is {', '.join(rule.id for rule in RULES)}")
    return f"{found.summary}\n\n{found.help.text}"


__all__ = ["Scan", "explain", "judge", "scan"]
