"""A finished batch read again from its tables, without Spark and without the evidence."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import polars as pl

from forensics.case import Case, Reading
from forensics.case.brokers import Broker
from forensics.case.case import SOURCES
from forensics.case.lives import DIVIDED, LIVES, changes
from forensics.case.partial import excerpts_alone
from forensics.engines import codec, local
from forensics.engines.left_out import Judged
from forensics.engines.pipeline.clocks import skew
from forensics.engines.pipeline.damage import reading, refuse_no_files
from forensics.engines.pipeline.finishing import judged_of
from forensics.engines.pipeline.output import FORMAT, MANIFEST, Output
from forensics.engines.stages import answers
from forensics.engines.stages.deriving import TABLES, table
from forensics.engines.stages.judging import JUDGED, POSITION, observations_of, table_of
from forensics.engines.stages.listing import File, Look
from forensics.engines.stages.plan import Unit
from forensics.engines.stages.reading import opened
from forensics.errors import UnusableOutput
from forensics.named_files import contents
from forensics.result import Result, ordered, problems_of
from forensics.rules.finding import Finding, with_each
from forensics.rules.known_problems import KNOWN_PROBLEMS
from forensics.rules.proof import shown
from forensics.rules.stated_problems import Problem, looked_at, stated
from forensics.version import __version__
from parsers import plugins
from parsers.files.sources import Source
from parsers.limits import BASELINE
from parsers.schema import BATCHES, Kind

_SHOWN: Final = [Kind.TOPIC_CONFIG.value, Kind.CLUSTER_CONFIG.value]
"""Kinds of line that reports show whatever partition they name."""
_OF_ACKS: Final = [Kind.PRODUCED.value, Kind.ACKS_AWAITED.value]
"""Kinds of line about what producers asked for; each thing that they asked for is shown once."""


def holds(folder: Path) -> bool:
    """Return whether a folder was written by a batch; a damaged one has tables beside its manifest."""
    if any(folder.glob("tables-[0-9]*")):
        return True
    try:
        said = json.loads(contents(folder / MANIFEST, BASELINE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("format") == FORMAT


def answers_of(output: Output, generation: int) -> list[Judged]:
    """Return the results of replay and rules for every partition; histories are decoded when they are asked."""
    with local.no_cycles():
        rows = output.read_table(generation, "partitions", [name for name in JUDGED if name != "states"])
        return list(judged_of(rows))


@dataclass(frozen=True, slots=True)
class LargeTables:
    """Rows of observations, batches and notices.

    Attributes:
        folder: of the tables.
    """

    folder: Path

    def scan(self, name: str) -> pl.LazyFrame:
        """Rows of a table in plain types."""
        schema = TABLES[name]
        files = table(name, self.folder).files()
        if not files:
            return pl.DataFrame(schema=schema).lazy()
        rows = pl.scan_parquet(files, hive_partitioning=False, glob=False)
        found = rows.collect_schema()
        return rows.select(
            pl.col(column).dt.epoch("us") if isinstance(found[column], pl.Datetime) else pl.col(column).cast(dtype)
            for column, dtype in schema.items()
        )

    def summary(
        self,
        sources: pl.DataFrame,
        brokers: Sequence[Broker],
        reading: Reading,
        files: Sequence[Source],
        lives: pl.DataFrame,
    ) -> Case:
        """Return the case without batches, and with the rows alone that reports show or look at beside the findings.

        Args:
            sources: schema ``SOURCES``.
            brokers: of all clusters.
            reading: how printed times were read.
            files: to be quoted from, by id.
            lives: periods of logs of several clusters, schema ``LIVES``.
        """
        rows = self.scan("observations")
        shared = sources.filter(pl.col("broker").is_null()).get_column("id").cast(pl.Int32).to_list()
        spans = (
            rows.filter(pl.col("broker").is_not_null() & pl.col("source").is_in(shared))
            .group_by("source", "broker")
            .agg(pl.col("time").min().alias("first"), pl.col("time").max().alias("last"))
        )
        nothing = pl.DataFrame()
        excerpt = excerpts_alone(Case(sources, nothing, nothing, nothing, {}, reading))
        kind = pl.col("kind")
        parts = [
            rows.filter(pl.col("topic").is_null() | kind.is_in(_SHOWN)),
            rows.filter(kind.is_in(_OF_ACKS)).filter(pl.struct("kind", "topic", "detail").is_first_distinct()),
            looked_at(rows, excerpt=excerpt),
        ]
        case = answers.summary(
            sources,
            brokers,
            reading,
            files,
            events=pl.concat([part.collect() for part in parts]).unique(POSITION, maintain_order=True).lazy(),
            spans=spans.collect(),
            names=rows.filter(pl.col("topic").is_not_null()).select("topic_id", "topic").unique().collect(),
            notices=self.scan("notices").collect(),
        )
        case = self.divided(case, lives)
        case.__dict__["skew"] = skew(rows, sources, lives)
        return case

    def divided(self, case: Case, lives: pl.DataFrame) -> Case:
        """Return the case with the periods of logs of several clusters."""
        if lives.is_empty():
            return case
        several = lives.get_column("source").unique().to_list()
        lines = self.scan("observations").filter(pl.col("source").is_in(several))
        found = lines.select("source", "line", "cluster").drop_nulls("line").sort("source", "line", maintain_order=True)
        return replace(case, lives=lives, divided=changes(found.collect(), "cluster").cast(pl.Schema(DIVIDED)))


def _same_plugins(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Make sure that the plugins that judged are those of this process: a report needs the rules of its findings.

    Raises:
        UnusableOutput: they are not.
    """
    judged = ", ".join(f"{one['name']} {one['version']}" for one in manifest.get("plugins", ()))
    if judged != plugins.said():
        raise UnusableOutput(
            f"{folder}: was judged {f'with {judged}' if judged else 'without plugins'}, and this installation has "
            f"{plugins.said() or 'no plugins'}: install the same, use --no-plugins, or run the batch into it again"
        )


P = ParamSpec("P")
T = TypeVar("T")


def _naming_damage(method: Callable[Concatenate[Stored, P], T]) -> Callable[Concatenate[Stored, P], T]:
    """Return a method that names the damaged file if it fails because of one; see ``damage.reading``."""

    @functools.wraps(method)
    def reads(self: Stored, /, *given: P.args, **named: P.kwargs) -> T:
        return reading(self.output, lambda: method(self, *given, **named))

    return reads


class Stored:
    """The tables of a batch. If a file of them is damaged, each method raises ``UnusableOutput``.

    Args:
        folder: output folder of ``forensics batch -o``.

    Raises:
        UnreadableInput: there is no such folder.
        UnusableOutput: no batch was completed there, its manifest or a small table is damaged, or its tables are of
            another format than Parquet.
    """

    def __init__(self, folder: Path) -> None:
        self.output = Output(folder)
        self.manifest: Mapping[str, Any] = self.output.open()
        if self.manifest["tables"] != "parquet":
            raise UnusableOutput(
                f"{folder}: its tables are {self.manifest['tables']}; read them with Spark, or write Parquet"
            )
        if self.manifest.get("shape") != codec.shape():
            raise UnusableOutput(
                f"{folder}: was written by another version of forensics ({self.manifest.get('judge')}), this is "
                f"{__version__}; run the batch into it again: what was read and is still valid is not read again"
            )
        _same_plugins(folder, self.manifest)
        self.generation: int = self.manifest["generation"]
        skew = {int(broker): shift for broker, shift in self.manifest["skew"]}
        window = (self.manifest.get("since"), self.manifest.get("until"))
        self.reading = Reading(self.manifest["zone"], skew, *window)
        self._rows = LargeTables(self.output.tables(self.generation))
        refuse_no_files(self.output, (path for name in TABLES for path in table(name, self._rows.folder).files()))

    @_naming_damage
    def result(self, *, whole: bool = False) -> Result:
        """Return the result of the batch.

        Args:
            whole: with all observations and batches, for reports that replay partitions again; else only with what all
                reports need, which is small.
        """
        judged = answers_of(self.output, self.generation)
        if not whole:
            case = self.summary()
            return replace(ordered(self.manifest["inputs"], case, judged), problems=problems_of(case))
        # Rows have numbers of their own here, so replay is run again; evidence is what was read then.
        evidence = {
            (finding.cluster, finding.fingerprint, finding.summary): finding.evidence
            for _, judgements in judged
            for judgement in judgements
            for finding in judgement.findings
        }
        case = self.case()
        wanted = {(h.cluster, h.topic, h.partition, h.incarnation) for h, _ in judged}

        def proven(finding: Finding) -> Finding:
            found = evidence.get((finding.cluster, finding.fingerprint, finding.summary), ())
            return shown(finding, found)

        again = [
            (history, with_each(judgements, proven))
            for history, judgements in local.judged(case)
            if (history.cluster, history.topic, history.partition, history.incarnation) in wanted
        ]
        return replace(ordered(self.manifest["inputs"], case, again), problems=problems_of(case))

    @_naming_damage
    def summary(self) -> Case:
        """The case as ``LargeTables.summary`` gives it."""
        return self._rows.summary(self.sources(), self._brokers(), self.reading, self.files(), self._lives())

    @_naming_damage
    def problems(self) -> list[Problem]:
        """Return known problems that the lines of the logs state, without the text of these lines.

        Only rows that an entry may recognise are read, so an exception does not get the partition of its event.
        """
        kinds = sorted({kind.value for known in KNOWN_PROBLEMS for kind in known.kinds})
        rows = self.scan("observations").filter(pl.col("kind").cast(pl.String).is_in(kinds))
        nothing = pl.DataFrame(schema={"source": pl.UInt32(), "line": pl.Int64()})
        return stated(Case(self.sources(), observations_of(rows.collect()), nothing, nothing, {}, self.reading))

    @_naming_damage
    def names(self) -> list[str]:
        """Partitions that were judged."""
        rows = self.output.read_table(self.generation, "partitions").select("topic", "partition").unique()
        return sorted(f"{topic}-{partition}" for topic, partition in rows.iter_rows())

    @_naming_damage
    def case(self, name: str | None = None) -> Case:
        """The case as a scan has it.

        Args:
            name: a partition, as ``orders-0``: only its rows, those about whole brokers, and the first and last
                of each process; None for all.
        """
        wanted = pl.lit(True)
        if name is not None:
            topic, _, partition = name.rpartition("-")
            wanted = (pl.col("topic") == topic) & (pl.col("partition").cast(pl.String) == partition)
            wanted |= pl.col("topic").is_null()
        brokers = self._brokers()
        case = Case(
            self.sources(),
            observations_of(
                self.scan("observations")
                .filter(wanted if name is None else wanted | self._ends())
                .collect(engine="streaming")
            ),
            table_of(self.scan("batches").filter(wanted).collect(engine="streaming"), "batches", BATCHES),
            answers.notices_of(self.scan("notices").collect()),
            {broker.id: broker for broker in brokers},
            self.reading,
            self.files(),
            tuple(brokers),
        )
        return self._rows.divided(case, self._lives())

    def _brokers(self) -> list[Broker]:
        return [codec.decode_broker(text) for text in self.manifest["brokers"]]

    def _lives(self) -> pl.DataFrame:
        """Return the periods of logs of several clusters, schema ``LIVES``."""
        rows = self.manifest.get("lives", [])
        return pl.DataFrame(rows, schema=["source", "from", "cluster"], orient="row").cast(pl.Schema(LIVES))

    def _ends(self) -> pl.Expr:
        """Filter for rows with the first or the last time that a process of a broker stated."""
        place = (pl.col("cluster"), pl.col("broker"), pl.col("run"))
        # A process prints its settings before the line that begins its run.
        preamble = pl.col("kind").is_in([Kind.BROKER_CONFIG.value, Kind.BROKER_VERSION.value])
        rows = self.scan("observations").filter(pl.col("broker").is_not_null() & pl.col("time").is_not_null())
        spans = rows.filter(~preamble).group_by(place).agg(pl.col("time").min(), pl.col("time").max().alias("_last"))
        found = spans.collect(engine="streaming")
        ends = pl.concat([found.drop("_last"), found.drop("time").rename({"_last": "time"})])
        return pl.struct(*place, "time").is_in(ends.select(pl.struct(*place, "time")).to_series().implode())

    def sources(self) -> pl.DataFrame:
        """Schema ``SOURCES``."""
        found = self.output.read_table(self.generation, "sources")
        # A scan hashes what it cites; the table has the hash of each file.
        return found.select(pl.col(name).cast(dtype) for name, dtype in SOURCES.items()).with_columns(
            pl.lit(None, pl.String).alias("sha256")
        )

    def scan(self, name: str) -> pl.LazyFrame:
        """Rows of a table in plain types."""
        return self._rows.scan(name)

    def files(self) -> list[Source]:
        """Sources to be quoted from, by id; opened only when asked."""
        rows = self.output.read_table(self.generation, "files")
        found = []
        for path, real, size, changed, problem, looks in rows.select(
            "path", "real", "size", "changed", "problem", "looks"
        ).iter_rows():
            file = File(path, os.fsdecode(real), size, changed, problem)
            found += [opened(Unit(0, file, Look.of(row))) for row in json.loads(looks)]
        # Reports show the hashes of the judged files, whether or not these still exist.
        hashes = self.output.read_table(self.generation, "sources").sort("id").get_column("sha256")
        return [replace(source, digest=digest) for source, digest in zip(found, hashes, strict=True)]
