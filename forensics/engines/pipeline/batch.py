"""The batch over an archive: list, read, put together, replay, judge, write. The answers are those of a scan."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Final, NamedTuple

import polars as pl

from forensics import tables
from forensics.case import Case
from forensics.case.case import SOURCES, checkpointed, in_window
from forensics.case.twins import Twin
from forensics.engines import codec
from forensics.engines.inputs import nothing_understood
from forensics.engines.local import Step, no_cycles
from forensics.engines.pipeline.closing import Closing, Former, timeline
from forensics.engines.pipeline.damage import reading
from forensics.engines.pipeline.executor import Executor, Given, Stage, Tasks
from forensics.engines.pipeline.finishing import Finish, Part, cited, completed
from forensics.engines.pipeline.job import (
    NOTHING_NEW,
    Job,
    Options,
    Say,
    asked,
    prepared,
    told,
    unchanged,
)
from forensics.engines.pipeline.output import Output, judge_version, parser_version
from forensics.engines.pipeline.shuffling import Shuffling
from forensics.engines.pipeline.stored import LargeTables
from forensics.engines.pipeline.watching import EVERY, SHOWN_EVERY, Judged, sentence, watched
from forensics.engines.stages import answers
from forensics.engines.stages import context as contexts
from forensics.engines.stages.context import FACTS, NO_UNIT, SURVEY, Context, Facts
from forensics.engines.stages.deriving import (
    TABLES,
    Derive,
    about_partitions,
    columns,
    digest_columns,
    digested,
    in_folders,
    survey_columns,
    table,
    written,
)
from forensics.engines.stages.judging import JUDGED, KEY, Judge
from forensics.engines.stages.listing import File, Listing, Look
from forensics.engines.stages.plan import Piece, Plan, Unit, planned
from forensics.engines.stages.reading import opened
from forensics.engines.stages.rows import RAW, narrowed, plain
from forensics.engines.stages.table import PARQUET, PART, Rows, Table
from forensics.engines.stages.work import (
    DIGESTS,
    LOOKED,
    PROCESSES,
    QUOTED,
    READ,
    JudgeAll,
    LookInto,
    Place,
    Processes,
    Quote,
    Read,
    Survey,
)
from forensics.result import Result, ordered, plugins_asked, problems_of
from parsers import read
from parsers.files.sources import Source
from parsers.filled import filled

_HASHED_TOGETHER: Final = 256 << 20
_WAVE: Final = 512
"""Read tasks after which what was read is kept for good, should the run be killed."""
_TASKS_OF_SLOT: Final = 2
"""Read tasks for each that can run at the same time, at least: one may take longer than others."""
_ANSWERS: Final = "answers"
"""Folder of judged partitions, until they are put in order."""


class Batch:
    """One run.

    Args:
        executor: runs the tasks.
        paths: the archive.
        output: where the tables are.
        options: the user's options.
        say: called with progress messages.
    """

    def __init__(
        self, executor: Executor, paths: Sequence[str], output: Output, options: Options, say: Say = lambda _: None
    ) -> None:
        self.executor = executor
        self.paths = paths
        self.output = output
        self.options = options
        self.say = say
        self._zone = options.reading.assumed
        self.key = f"{parser_version()} {self._zone}"
        self.manifest = output.manifest()
        self.generation = (self.manifest or {"generation": 0})["generation"] + 1
        self.folder = output.tables(self.generation)
        self.tables = {name: table(name, self.folder, options.format) for name in TABLES}

    def _watched(self, look: Callable[[], Step]) -> AbstractContextManager[None]:
        """Within the block, show how far a stage is."""
        progress = self.options.progress
        if progress is not None:
            return watched(look, progress, SHOWN_EVERY, at_end=True)
        return watched(look, lambda step: self.say(sentence(step)), EVERY)

    # -- listing ------------------------------------------------------------------------------------------------------

    def listed(self, files: list[File], *, hashed: bool = True) -> Listing:
        """Return the contents of the archive; only what changed since the last run is opened.

        Args:
            files: of the archive.
            hashed: read new files to their end for their hashes; else only their first bytes.
        """
        known = self._known()
        keys = [(file.path, file.real, file.size, file.changed, file.problem) for file in files]
        seen = {order: known[key] for order, key in enumerate(keys) if key in known}
        new = [(order, file) for order, file in enumerate(files) if order not in seen]
        if new:
            total = sum(file.size for _, file in new)
            self.say(f"looking into {len(new):,} new files of {len(files):,}, {total / 1e6:,.1f} MB")
            stage = Stage("look into files", Tasks(_together(new)), LookInto(hashed), LOOKED)
            rows = self.executor.run(stage).iter_rows()
            seen |= {order: (digest, looks) for order, digest, looks in rows}
        in_order = [seen[order] for order in range(len(files))]
        looks = [[Look.of(row) for row in json.loads(text)] for _, text in in_order]
        return Listing(files, [digest for digest, _ in in_order], looks)

    def _known(self) -> dict[tuple[str, str, int, int, str], tuple[str | None, str]]:
        if self.manifest is None or self.manifest["parser"] != parser_version() or self.options.check:
            return {}
        rows = self.output.read_table(self.manifest["generation"], "files")
        names = ("path", "real", "size", "changed", "problem")
        return {
            (path, os.fsdecode(real), size, changed, problem): (digest, looks)
            for path, real, size, changed, problem, digest, looks in rows.select(*names, "sha256", "looks").iter_rows()
        }

    # -- reading ------------------------------------------------------------------------------------------------------

    def plan(self, listing: Listing, copied: Mapping[int, Twin], facts: Mapping[int, Facts]) -> Plan:
        """Find the rows of every source, and plan the reading of those that were not read yet.

        Args:
            listing: the archive; its units are filled in, new ones for what is to be read.
            copied: positions of copies.
            facts: of what was read before, by unit.
        """
        had: dict[str, list[int]] = {}  # of files that are alike any will do
        for unit in sorted(facts):
            if not facts[unit].again:
                had.setdefault(facts[unit].identity, []).append(unit)
        whole = {one.identity for one in facts.values() if one.again}
        new: list[Unit] = []
        first = self.output.next_run() << 32
        identities = self._identities(listing, copied)

        def unit_of(position: int, file: File, look: Look) -> int:
            identity = identities.get(position)
            if identity is None:
                return NO_UNIT
            if read_before := had.get(identity):
                return read_before.pop(0)
            new.append(Unit(first + len(new), file, look, identity))
            return new[-1].number

        positions = count()
        listing.units = [
            [unit_of(next(positions), file, look) for look in looks]
            for file, looks in zip(listing.files, listing.looks, strict=True)
        ]
        in_one_go = [unit.number for unit in new if unit.identity in whole]
        least = _TASKS_OF_SLOT * self.executor.slots
        return planned(new, split=self.options.split, whole=in_one_go, least=least)

    def _identities(self, listing: Listing, copied: Mapping[int, Twin]) -> dict[int, str]:
        """Return a key for the rows of each source that is read, by its position: from its content and its name.

        Readers use the name of a file and of its folder, never further up. So a file that was moved is recognised.
        """
        whose = [(digest, look) for digest, looks in zip(listing.digests, listing.looks, strict=True) for look in looks]
        wanted = [
            position
            for position, (_, look) in enumerate(whose)
            if position not in copied and not look.problem and not look.container
        ]
        found = {}
        # The files of a metadata log continue each other: the rows of one depend on all.
        for group in read.units([whose[position][1].source() for position in wanted]):
            members = [wanted[number] for number in group]
            of = [whose[n] for n in members]
            together = [[*_content(digest, look), look.called, *look.path.split("/")[-2:]] for digest, look in of]
            for place, position in enumerate(members):
                found[position] = sha256(json.dumps([place, together]).encode()).hexdigest()
        return found

    def read(self, plan: Plan) -> None:
        """Carry a plan out, and keep what was read."""
        # The run by which the units are numbered: the numbers show whose rows are kept.
        run = plan.pieces[0].units[0].number >> 32
        done, total = 0, sum(piece.weight for piece in plan.pieces)
        rows = 0
        for wave, start in enumerate(range(0, len(plan.tasks), _WAVE)):
            pieces = plan.tasks[start : start + _WAVE]
            into = _read_into(self.output.wave(run, wave))
            stage = Stage("read", Tasks([[piece.row() for piece in task] for task in pieces]), Read(self._zone), READ)
            with self._watched(partial(self._read_by_now, pieces)):
                self.executor.store(into, stage)
            self.output.keep_run(run, self.key, wave)
            done += sum(piece.weight for task in pieces for piece in task)
            headers = self.executor.read(Rows([into], ["header"], "facts")).get_column("header")
            rows += sum(json.loads(header)["observations"] for header in headers)
            self.say(f"read {done / 1e6:,.1f} of {total / 1e6:,.1f} MB, {rows:,} observations so far")

    def _read_by_now(self, tasks: Sequence[Sequence[Piece]]) -> Step:
        """How far a wave is: of its tasks, those that begin first are taken to end first."""
        done = tasks[: round(self.executor.share() * len(tasks))]
        weight, whole = (sum(piece.weight for task in some for piece in task) for some in (done, tasks))
        return Step(sum(map(len, done)), sum(map(len, tasks)), weight, whole)

    def facts(self) -> dict[int, Facts]:
        """Facts of all that was read by now, by unit."""
        read_ = [_read_into(wave) for run in self.output.runs(self.key) for wave in self.output.waves(run)]
        if not read_:
            return {}
        return contexts.merged(self.executor.read(Rows(read_, list(RAW["facts"]), "facts")).select(FACTS))

    def raw(self, listing: Listing, name: str, wanted: Sequence[str]) -> Rows:
        """Rows of a table as they were read."""
        runs = sorted({unit >> 32 for unit in listing.flat_units if unit != NO_UNIT})
        return Rows([_read_into(wave) for run in runs for wave in self.output.waves(run)], wanted, name)

    # -- tables -------------------------------------------------------------------------------------------------------

    def context(self, listing: Listing, copied: Mapping[int, Twin], facts: Mapping[int, Facts]) -> Context:
        """Return what concerns many partitions."""
        made_ = contexts.draft(listing.flat, listing.flat_units, facts, copied, self.options.reading)
        surveyed = pl.DataFrame(schema=SURVEY)
        if made_.starts.height or in_window(made_.reading) is not None:
            rows = self.raw(listing, "observations", survey_columns())
            surveyed = self.executor.run(Stage("survey", rows, Survey(Derive.of(made_, made_.starts)), SURVEY))
        return contexts.settled(made_, surveyed)

    def write_tables(self, listing: Listing, context: Context) -> None:
        """Write observations, batches and notices."""
        derive = Derive.of(context, context.lines.filter("starts_run"))
        for name, into in self.tables.items():
            rows = self.raw(listing, name, columns(name))
            stages = [Stage(f"place {name}", rows, Place(derive, name), written(name))]
            if name == "notices" and context.notices.height:
                found = in_folders(name, self.more_notices(context))
                stages.append(Stage("notices of sources", Given(narrowed(found, written(name))), None, written(name)))
            self.executor.store(into, *stages)

    def digests(self, context: Context) -> pl.DataFrame:
        """Return a digest of the rows of each partition, schema ``DIGESTS``."""
        sources = narrowed(context.sources, plain(SOURCES)).select(digest_columns(SOURCES))
        stored = [Rows([into], digest_columns(TABLES[name])) for name, into in self.tables.items()]
        found = [digested(sources, KEY), *(self.executor.digested(rows, KEY) for rows in stored)]
        sums = pl.col("n").sum(), pl.col("one").bitwise_xor(), pl.col("two").bitwise_xor()
        together = pl.concat(narrowed(rows, DIGESTS) for rows in found).filter(about_partitions())
        return together.group_by(KEY).agg(*sums)

    def more_notices(self, context: Context) -> pl.DataFrame:
        """Return the notices of the assembly, as rows of the table ``notices``."""
        sources = context.sources.select(
            pl.col("id").alias("source"), "path", "cluster", "broker", "topic", "partition"
        )
        found = context.notices.join(sources, on="source", how="left", maintain_order="left")
        return narrowed(found.with_columns(pl.lit(_LAST_SPLIT, pl.Int32).alias("split")), TABLES["notices"])

    def check_format(self) -> None:
        """Make sure that the format of the tables can be written, before hours of work.

        Raises:
            UnusableOutput: it cannot.
        """
        if self.options.format == PARQUET:
            return
        probe = self.folder / "probe"
        try:
            self.executor.check(self.options.format, probe)
        finally:
            shutil.rmtree(probe, ignore_errors=True)

    # -- replay and rules ---------------------------------------------------------------------------------------------

    def judge(self, listing: Listing, context: Context) -> list[Part]:
        """Replay and judge every partition whose rows, or whose brokers' facts, changed.

        Args:
            listing: the archive.
            context: what concerns many partitions.

        Returns:
            Judged partitions; newly judged ones have evidence without hashes and lines.
        """
        judge = Judge.of(context, self.options.topics, timelines=self.options.timelines)
        digests = self._digests(self.digests(context), judge)
        known = self._judged_before()
        touched = digests.join(known, on=[*KEY, "digest"], how="anti", nulls_equal=True)
        untouched = digests.join(known, on=[*KEY, "digest"], how="semi", nulls_equal=True)
        before: list[Part] = []
        if self.manifest is not None and untouched.height:
            files = self.output.files_of(self.manifest["generation"], "partitions")
            changed = self._changed(listing)
            before = [Part(file, untouched.select(KEY), changed) for file in files]
        self.output.write_table(self.generation, "digests", digests)
        self.say(f"judging {_partitions(touched):,} partitions of {_partitions(digests):,}")
        found = Table(self.folder / _ANSWERS, JUDGED)
        if touched.height:
            self._judge_into(found, judge, context, touched)
        if self.options.timelines:
            self._close_timelines(context, [found] if touched.height else [], untouched)
        return [*before, *map(Part, found.files())]

    def _close_timelines(self, context: Context, found: Sequence[Table], untouched: pl.DataFrame) -> None:
        rows = Rows([self.tables["observations"]], list(TABLES["observations"]))
        how = {"first": "min", "last": "max", "ended": "max"}
        stage = Stage("find when processes ran", rows, Processes(), PROCESSES)
        processes = self.executor.summed([stage], ("cluster", "broker", "run"), how)
        former = None
        if self.manifest is not None and untouched.height:
            before = self.manifest["generation"]
            judged = self.output.small_table(before, "partitions", JUDGED)
            former = Former(judged, self.output.read_table(before, "sources"), untouched)
        Closing(self.executor, timeline(self.folder))(context, processes, found, former)

    def _changed(self, listing: Listing) -> frozenset[str]:
        """Return sources whose content changed since the run before: a line with the same statement may look
        different.
        """
        assert self.manifest is not None
        rows = self.output.read_table(self.manifest["generation"], "files").select("sha256", "looks")
        before = {look["path"]: digest for digest, looks in rows.iter_rows() for look in json.loads(looks)}
        now = zip(listing.digests, listing.looks, strict=True)
        return frozenset(
            look.path
            for digest, looks in now
            for look in looks
            if digest is None or before.get(look.path, "") != digest
        )

    def _judge_into(self, into: Table, judge: Judge, context: Context, touched: pl.DataFrame) -> None:
        """Store what is found of partitions."""
        shuffling = Shuffling(self.tables, narrowed(context.sources, plain(SOURCES)))
        stages = shuffling(touched, self.options.partitions, partial(JudgeAll, judge))
        with self._watched(Judged(into, _partitions(touched))):
            self.executor.store(into, *stages)

    def _digests(self, found: pl.DataFrame, judge: Judge) -> pl.DataFrame:
        """Return a hash of everything that the answer for each partition depends on, and the number of its rows."""
        found = found.sort(KEY, nulls_last=True)
        common = {}
        for name in found.get_column("cluster").unique().to_list():
            # When a broker's processes began is in the rows that it concerns.
            mine = [
                codec.encode(replace(b, starts=[])) for b in judge.everyone if judge.clusters < 2 or b.cluster == name
            ]
            data = sorted(judge.with_data.get(name if judge.clusters > 1 else None, ()))
            stops = judge.stops_of(name).drop("source").rows()  # the number of a source may be another in each run
            kept = sorted(checkpointed(judge.sources_of(name)))
            said = repr((judge_version(), mine, stops, data, kept, judge.clusters > 1, judge.topics, judge.reading))
            common[name] = sha256(said.encode()).hexdigest()
        shared = pl.DataFrame(
            {"cluster": list(common), "common": list(common.values())},
            schema={"cluster": pl.String, "common": pl.String},
        )
        found = found.join(shared, on="cluster", how="left", nulls_equal=True, maintain_order="left")
        return found.select(*KEY, "n", filled("{}:{}:{}:{}", "n", "one", "two", "common").alias("digest"))

    def _judged_before(self) -> pl.DataFrame:
        """The digest of each partition that a former run looked at."""
        if self.manifest is None or (self.options.timelines and not self.manifest.get("timelines")):
            return pl.DataFrame(schema={**{name: JUDGED[name] for name in KEY}, "digest": pl.String()})
        return self.output.read_table(self.manifest["generation"], "digests")

    # -- evidence -----------------------------------------------------------------------------------------------------

    def finish(self, listing: Listing, case: Case, parts: Sequence[Part]) -> int:
        """Write the results, with the text of the cited places, read again from the files.

        Returns:
            The number of findings.
        """
        texts, hashes = self.quoted(listing, parts)
        done = Finish(self.output, self.generation, self.paths, case, self.options.texts, self.options.each)
        done.add(parts, texts, hashes)
        done.close()
        shutil.rmtree(self.output.tables(self.generation) / _ANSWERS, ignore_errors=True)
        return done.findings

    def quoted(self, listing: Listing, parts: Sequence[Part]) -> tuple[answers.Texts, dict[str, str | None]]:
        """Return the text of the places that judged partitions cite, and the hashes of these files by path."""
        lines, batches = cited(parts)
        texts, hashes = self._lines(listing, lines)
        texts.update(self._batches(batches))
        return texts, hashes

    def _lines(self, listing: Listing, wanted: Mapping[str, set[int]]) -> tuple[answers.Texts, dict[str, str | None]]:
        if not wanted:
            return {}, {}
        tasks: dict[str, list[str]] = {}
        for file, looks, units in zip(listing.files, listing.looks, listing.units, strict=True):
            for look, unit in zip(looks, units, strict=True):
                if look.path in wanted:
                    piece = Piece((Unit(unit, file, look),)).row()
                    tasks.setdefault(file.path, []).append(json.dumps([piece, sorted(wanted[look.path])]))
        stage = Stage("quote", Tasks(list(tasks.values())), Quote(), QUOTED)
        found = self.executor.run(stage)
        texts: answers.Texts = {}
        hashes: dict[str, str | None] = {}
        for path, line, text, digest in found.iter_rows():
            hashes[path] = digest
            if line:
                texts[path, line, None] = text
        return texts, hashes

    def _batches(self, wanted: Mapping[str, set[int]]) -> answers.Texts:
        """Texts of batches that are not among the rows of the partition, as those of the metadata log."""
        if not wanted:
            return {}
        of_files = ("path", sorted(wanted))
        rows = self.executor.read(Rows([self.tables["batches"]], list(TABLES["batches"]), where=of_files))
        return answers.batch_quotes(rows, wanted)


def _partitions(keys: pl.DataFrame) -> int:
    """Return how many partitions there are; rows about a topic as a whole have a key too."""
    return keys.get_column("partition").count()


def _together(files: Sequence[tuple[int, File]]) -> list[list[str]]:
    """Return what ``LookInto`` takes of files, many small ones in one task."""
    tasks: list[list[str]] = []
    weight = 0
    for order, file in sorted(files, key=lambda one: -one[1].size):
        if not tasks or weight + file.size > _HASHED_TOGETHER:
            tasks.append([])
            weight = 0
        tasks[-1].append(json.dumps([order, file.path, file.real, file.size, file.changed, file.problem]))
        weight += file.size + (1 << 18)
    return tasks


_LAST_SPLIT: Final = (1 << 31) - 1


def _read_into(wave: Path) -> Table:
    """Return the rows that a wave read, of all tables."""
    return Table(wave, READ, (PART,))


def batch(
    executor: Executor, paths: Sequence[str], folder: str, options: Options | None = None, say: Say = lambda _: None
) -> Result:
    """Judge an archive, and write all tables; if it was judged before, only what changed is read and judged.

    Args:
        executor: runs the tasks.
        paths: files and directories of evidence; only ever read.
        folder: where the tables are written.
        options: other options.
        say: called with progress messages.

    Raises:
        UnreadableInput: a path does not exist.
        UnusableOutput: the folder holds something else.
        UnwritableOutput: the folder cannot be written.
        NothingUnderstood: nothing in the archive is a broker's.
    """
    job, options = prepared(paths, folder), options or Options()
    if (result := unchanged(job, options)) is not None:
        say(NOTHING_NEW)
        return result
    return done(executor, job, options, say)


def done(executor: Executor, job: Job, options: Options | None = None, say: Say = lambda _: None) -> Result:
    """Do what ``batch`` does, whether or not anything is new; what is damaged in the folder is named."""
    with job.output.alone():
        return reading(
            job.output, lambda: _batch(Batch(executor, job.paths, job.output, options or Options(), say), job)
        )


def scanned(executor: Executor, job: Job, options: Options) -> Result:
    """Return the result of a batch, and no tables."""
    with job.output.alone():
        run = Batch(executor, job.paths, job.output, options)
        found = _judged(run, job)
        texts, hashes = run.quoted(found.listing, found.parts)
        with no_cycles():
            judged = list(completed(found.parts, texts, hashes))
            context = found.context
            files = list(map(opener_of(found.listing), range(len(found.listing.flat))))
            tables_ = LargeTables(run.folder)
            case = tables_.summary(context.sources, context.brokers, options.reading, files, context.lives)
            return replace(ordered(job.paths, case, judged), problems=problems_of(case))


class _Found(NamedTuple):
    """Results of a run before anything is written for users.

    Attributes:
        listing: the archive.
        context: what concerns many partitions.
        parts: judged partitions.
        hashes: of each source, as far as they are known.
    """

    listing: Listing
    context: Context
    parts: list[Part]
    hashes: list[str | None]


def _judged(run: Batch, job: Job) -> _Found:
    run.output.clear(run.generation)
    run.check_format()
    listing = run.listed(job.files, hashed=run.options.hashed)
    copied = contexts.twins(listing.flat, opener_of(listing))
    facts = run.facts()
    while (plan := run.plan(listing, copied, facts)).tasks:
        run.read(plan)  # what turns out not to be readable by ranges is read again, in one go
        facts = run.facts()
    context = run.context(listing, copied, facts)
    mine = [facts[unit] for unit in listing.flat_units if unit != NO_UNIT]
    rows = sum(one.observations + one.batches for one in mine)
    if rows <= context.left:
        raise nothing_understood(run.paths, len(listing.flat))
    lines, notices = sum(one.reading.lines for one in mine), sum(one.notices for one in mine)
    run.say(f"{len(mine):,} sources read: {lines:,} lines, {rows:,} observations and batches, {notices:,} notices")
    run.write_tables(listing, context)
    parts = run.judge(listing, context)
    return _Found(listing, context, parts, _hashes(listing, copied, facts) if run.options.hashed else [])


def _hashes(listing: Listing, copied: Mapping[int, Twin], facts: Mapping[int, Facts]) -> list[str | None]:
    found = [
        facts[unit].sha256 if unit != NO_UNIT else look.digest
        for look, unit in zip(listing.flat, listing.flat_units, strict=True)
    ]
    for copy, twin in copied.items():
        found[copy] = opener_of(listing)(copy).sha256() if twin.part else found[twin.of]
    return found


def _batch(run: Batch, job: Job) -> Result:
    found = _judged(run, job)
    nothing = pl.DataFrame()
    context = found.context
    case = Case(context.sources, nothing, nothing, nothing, {}, run.options.reading, everyone=context.brokers)
    run.say(f"{run.finish(found.listing, case, found.parts):,} findings")
    _commit(run, job, found.listing, context, found.hashes)
    return told(run.output, run.generation, run.paths, run.options)


def _content(digest: str | None, look: Look) -> tuple[object, ...]:
    """Return what no other content of a source has in common with it."""
    return (look.path, look.index) if digest is None else (digest, look.index)


def opener_of(listing: Listing) -> Callable[[int], Source]:
    """Return what gives a source, to be opened when it is asked, by its position in the archive."""
    whose = [(file, look) for file, looks in zip(listing.files, listing.looks, strict=True) for look in looks]
    return lambda number: opened(Unit(NO_UNIT, *whose[number]))


def _commit(run: Batch, job: Job, listing: Listing, context: Context, hashes: Sequence[str | None]) -> None:
    output, generation = run.output, run.generation
    small = {table.name: table for table in tables.TABLES}
    seen = [json.dumps([look.row() for look in looks]) for looks in listing.looks]
    files = pl.DataFrame(
        [
            # A name may be any bytes.
            (file.path, os.fsencode(file.real), file.size, file.changed, file.problem, digest, looks)
            for file, digest, looks in zip(listing.files, listing.digests, seen, strict=True)
        ],
        schema=["path", "real", "size", "changed", "problem", "sha256", "looks"],
        orient="row",
    )
    output.write_table(generation, "files", files)
    sources = context.sources.with_columns(pl.Series("sha256", hashes, pl.String))
    output.write_table(generation, "sources", _cast(sources, small["sources"]))
    brokers = [codec.encode(broker) for broker in context.brokers]
    output.commit(
        {
            "generation": generation,
            "parser": parser_version(),
            "judge": judge_version(),
            "shape": codec.shape(),
            "plugins": [asdict(plugin) for plugin in plugins_asked()],
            "inputs": list(run.paths),
            "tables": run.options.format,
            "zone": run.options.reading.zone,
            "skew": sorted(run.options.reading.skew.items()),
            "since": run.options.reading.since,
            "until": run.options.reading.until,
            "topics": list(run.options.topics),
            "timelines": run.options.timelines,
            "brokers": brokers,
            "lives": context.lives.cast({"from": pl.Int64}).rows(),
            "asked": asked(job, run.options),
            "made": output.files_in(generation),
            "note": dict(run.options.note()),
        },
        live={unit >> 32 for unit in listing.flat_units if unit != NO_UNIT},
    )


def _cast(frame: pl.DataFrame, table: tables.Table) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(dtype) for name, dtype in table.schema.items())
