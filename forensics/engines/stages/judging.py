"""Work of a replay task: sorted rows of whole partitions in, the results of replay and rules out.

The functions are those of the local engine. Small partitions are processed together, because an expression costs the
same for one as for a thousand. If one is too large for memory, its rows are thinned as they arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import polars as pl

from forensics import tables
from forensics.case import Case, Reading
from forensics.case.brokers import Broker
from forensics.case.case import SOURCES
from forensics.case.lives import by_cluster
from forensics.case.order import METADATA_TOPIC
from forensics.case.quotes import batch_texts
from forensics.engines import codec, local
from forensics.engines.stages.context import Context
from forensics.engines.stages.deriving import TABLES, about_partitions
from forensics.engines.stages.packing import packed, unpacked
from forensics.engines.stages.rows import chunks, narrowed, plain, restored
from forensics.engines.stages.thinning import headers, thinned
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.lines_of_brokers import lines_of_brokers
from forensics.replay.history import History
from forensics.replay.timeline import changes
from forensics.result import borne_by, located, times_of
from forensics.rules.finding import Evidence, Judgement
from forensics.rules.proof import dated, proved
from parsers.formats.consumer_offsets import TOPIC as CONSUMER_OFFSETS
from parsers.schema import BATCHES, NOTICES, OBSERVATIONS

SOURCE, OBSERVATION, BATCH, NOTICE = range(4)
"""Values of the column ``tag``: which table a row is of."""

KEY: Final = ("cluster", "topic", "partition")
SORTED: Final = (*KEY, "tag", "by", "ordered", "rank", "source", "line", "byte", "split", "seq")

POSITION: Final = ("cluster", "broker", "ordered", "rank", "source", "line", "byte", "split", "seq")
"""Columns that put the rows of the table ``observations`` in the order of a case."""

PLACED: Final[dict[str, pl.DataType]] = {
    "tag": pl.Int32(),
    "cluster": pl.String(),
    "topic": pl.String(),
    "partition": pl.Int32(),
    "broker": pl.Int32(),
    "by": pl.Int32(),  # the broker, whose rows follow one another; of batches none: those of one offset do
    "ordered": pl.Int64(),  # of batches the base offset
    "rank": pl.Int32(),
    "source": pl.Int32(),
    "line": pl.Int64(),
    "byte": pl.Int64(),
    "split": pl.Int32(),
    "seq": pl.Int64(),
}
"""Columns that rows of all tables have when they are brought together."""


def _others(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in PLACED)


PAYLOAD: Final[Mapping[str, tuple[str, ...]]] = {
    # One column for each table: of a row of another table it takes no room.
    "sources": _others(SOURCES),
    "observations": _others((*OBSERVATIONS, "run", "starts_run")),
    "batches": _others(BATCHES),
    "notices": _others(NOTICES),
}
"""Columns of each table beyond the common ones, in a column of the table's name; in the order of the tags."""

_TYPES: Final[Mapping[str, Mapping[str, pl.DataType]]] = {"sources": plain(SOURCES), **TABLES}

CARRIED: Final[dict[str, pl.DataType]] = {
    **PLACED,
    **{table: pl.Struct({name: _TYPES[table][name] for name in names}) for table, names in PAYLOAD.items()},
}
"""Rows of all tables on their way to the task that judges their partition."""

JUDGED: Final[dict[str, pl.DataType]] = {
    "cluster": pl.String(),
    "topic": pl.String(),
    "partition": pl.Int32(),
    "incarnation": pl.Int32(),
    "topic_id": pl.String(),
    "holders": pl.String(),
    "findings": pl.Int32(),
    "history": pl.String(),
    "judgements": pl.String(),
    "states": pl.Binary(),
}
"""One row per incarnation of a partition: brokers that hold a copy, number of findings, the results of replay and
rules, as JSON, and the states of its replicas, packed, if they are wanted.
"""

STATES: Final = tables.TIMELINE_PLACES
"""States of replicas; their ends are unknown until all logs of their brokers are read."""

BROUGHT: Final[dict[str, pl.DataType]] = {"bucket": pl.Int32(), "rows": pl.Binary()}
"""Rows of ``CARRIED`` that are judged by one task, packed: the way through the JVM costs one what it costs many."""

_AT_ONCE: Final = 100_000
_NEVER_CITED: Final = ("irrelevant", "unknown", "archive", "copy", "unreadable", "failed")


@dataclass(frozen=True, slots=True)
class Judge:
    """Work of a replay task. Everything it needs is part of it.

    Attributes:
        reading: how printed times are interpreted.
        sources: sources that belong to no single partition, packed.
        stops: shutdown lines of brokers, rows of observations that belong to no single partition, packed.
        everyone: all brokers.
        clusters: how many the case has.
        with_data: brokers with a data directory in the evidence, by cluster.
        topics: patterns; only topics that match one are judged. None means all.
        timelines: return the states of replicas as well.
        together: rows of small partitions that are judged at once, about.
        most: rows of one partition that are kept unchanged; beyond it they are thinned.
        commits: sources of ``__consumer_offsets``, packed: findings about other partitions cite them.
    """

    reading: Reading
    sources: bytes
    stops: bytes
    everyone: tuple[Broker, ...]
    clusters: int
    with_data: Mapping[str | None, frozenset[int]]
    topics: tuple[str, ...] = ()
    timelines: bool = False
    together: int = 200_000
    most: int = 150_000
    commits: bytes = b""

    @staticmethod
    def of(context: Context, topics: tuple[str, ...] = (), *, timelines: bool = False) -> Judge:
        """From what the driver knows."""
        sources = by_cluster(context.sources, context.lives)
        of_many = pl.col("topic").is_null() | (pl.col("topic") == METADATA_TOPIC)
        wide = sources.filter(of_many & ~pl.col("format").is_in(_NEVER_CITED))
        clusters = sources.get_column("cluster").drop_nulls().n_unique()
        names = sources.get_column("cluster").unique().to_list() if clusters > 1 else [None]
        shell = Case(sources, pl.DataFrame(), pl.DataFrame(), pl.DataFrame(), {}, context.reading)
        with_data = {}
        for name in names:
            mine = sources if clusters < 2 else sources.filter(pl.col("cluster").eq_missing(pl.lit(name, pl.String)))
            with_data[name] = replace(shell, sources=mine).with_data
        stops = packed(narrowed(_stops(context), TABLES["observations"]))
        commits = packed(sources.filter(pl.col("topic") == CONSUMER_OFFSETS))
        judge = Judge(context.reading, packed(wide), stops, context.brokers, clusters, with_data, topics, timelines)
        return replace(judge, commits=commits)

    def frames(self, incoming: Iterable[Any]) -> Iterator[pl.DataFrame]:
        """Judge partitions whose rows arrive in sequence, each one's rows in order.

        Args:
            incoming: Arrow batches of ``PLACED`` and ``PAYLOAD``, sorted by ``SORTED``.

        Returns:
            Rows of ``JUDGED``, many partitions at a time.
        """
        yield from self.of_frames(chunks(incoming, rows=min(self.together, _AT_ONCE)))

    def of_frames(self, arriving: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """The same, of rows that are frames already."""
        for rows in whole_partitions(arriving, together=self.together, most=self.most):
            with local.no_cycles():
                yield self.judged(rows)

    def judged(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the results for all partitions among the rows; schema ``JUDGED``."""
        names = rows.get_column("cluster").unique().to_list()
        found = [
            row
            for name in sorted(names, key=lambda name: (name is None, name))
            for row in self._of_cluster(name, rows.filter(pl.col("cluster").eq_missing(pl.lit(name, pl.String))))
        ]
        return pl.DataFrame(found, schema=JUDGED, orient="row")

    def _of_cluster(self, name: str | None, rows: pl.DataFrame) -> Iterator[tuple[object, ...]]:
        """Yield rows of ``JUDGED`` for the partitions of a cluster."""
        case = self.case(rows, name)
        judged = local.judged(case, self.topics)
        # Looked up for all partitions at once: each look goes over all rows.
        refs = {ref for _, judgements in judged for one in judgements for f in one.findings for ref in f.refs}
        evidence, times = (evidence_of(self._citing(case), refs), times_of(case, refs)) if refs else ({}, {})
        states = self._states(case, [history for history, _ in judged])
        for history, judgements in judged:
            yield (
                name,
                history.topic,
                history.partition,
                history.incarnation,
                history.topic_id,
                codec.written(sorted(history.holders)),
                sum(len(judgement.findings) for judgement in judgements),
                codec.encode(_lasting(history)),
                codec.encode_judgements([_proven(judgement, evidence, times) for judgement in judgements]),
                states.get((history.topic, history.partition, history.incarnation)),
            )

    def _citing(self, case: Case) -> Case:
        """Return a case of some partitions that lists the sources of ``__consumer_offsets`` too."""
        also = unpacked(self.commits)
        if also.is_empty():
            return case
        return replace(case, sources=pl.concat([case.sources, also]).unique("id", keep="first", maintain_order=True))

    def _states(self, case: Case, histories: Sequence[History]) -> dict[tuple[object, ...], bytes]:
        """Return the states of each partition's replicas, packed, by topic, partition and incarnation."""
        if not self.timelines:
            return {}
        states = tables.timelines(case, iter(histories), changes).select(*STATES)
        by = ("topic", "partition", "incarnation")
        parts = states.partition_by(by, as_dict=True, maintain_order=True)
        return {key: packed(part) for key, part in parts.items()}

    def case(self, rows: pl.DataFrame, cluster: str | None) -> Case:
        """A case of some partitions of one cluster, with what concerns all of them."""
        part = cluster if self.clusters > 1 else None
        wide, stops = self.sources_of(cluster), self.stops_of(cluster)
        everyone = self.everyone
        if self.clusters > 1:
            everyone = tuple(broker for broker in everyone if broker.cluster == cluster)
        own = restored(_of(rows, SOURCE).select(*SOURCES), SOURCES).join(wide, on="id", how="anti")
        case = Case(
            pl.concat([wide, own]).sort("id"),
            observations_of(pl.concat([_of(rows, OBSERVATION), stops], how="diagonal")),
            table_of(_of(rows, BATCH), "batches", BATCHES),
            table_of(_of(rows, NOTICE), "notices", NOTICES),
            {broker.id: broker for broker in everyone},
            self.reading,
            everyone=everyone,
        )
        case.__dict__["with_data"] = self.with_data[part]
        return case

    def sources_of(self, cluster: str | None) -> pl.DataFrame:
        """The sources of a cluster that belong to no one partition."""
        wide = unpacked(self.sources)
        return wide.filter(pl.col("cluster").eq_missing(pl.lit(cluster, pl.String))) if self.clusters > 1 else wide

    def stops_of(self, cluster: str | None) -> pl.DataFrame:
        """Return the shutdown lines of a cluster's brokers, as rows of the table ``observations``."""
        stops = unpacked(self.stops)
        return stops.filter(pl.col("cluster").eq_missing(pl.lit(cluster, pl.String))) if self.clusters > 1 else stops


def _stops(context: Context) -> pl.DataFrame:
    """Lines of brokers that name no partition and that each one's replay reads, as rows of ``observations``.

    Those that end a process are among them, which timelines show.
    """
    run = pl.col("starts_run").cast(pl.Int32).cum_sum().over("_cluster", "broker").alias("run")
    found = context.lines.with_columns(run, pl.col("_when").alias("ordered"), pl.col("_rank").alias("rank"))
    return lines_of_brokers(found, ["_cluster"])


def carried(table: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of a table that are about partitions, as they are brought together; schema ``CARRIED``."""
    wanted = about_partitions()
    if table == "batches":
        rows = rows.with_columns(pl.col("base_offset").alias("ordered"))
    else:
        rows = rows.with_columns(pl.col("broker").alias("by"))
    tag = pl.lit(list(PAYLOAD).index(table), pl.Int32).alias("tag")
    there = [name for name in PLACED if name in rows.columns]
    return narrowed(rows.filter(wanted).select(*there, pl.struct(PAYLOAD[table]).alias(table), tag), CARRIED)


def brought(rows: pl.DataFrame, buckets: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    """Rows of ``CARRIED`` by the bucket of their partition; those whose partition has none are left out."""
    found = rows.join(buckets, on=list(KEY), how="inner", nulls_equal=True, maintain_order="left")
    parts = found.partition_by("bucket", as_dict=True, include_key=False, maintain_order=True)
    yield from ((bucket, part) for (bucket,), part in parts.items())


def arrived(incoming: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Rows of whole partitions in order, some at a time, from Arrow batches of ``BROUGHT`` in the order of buckets."""
    held: list[pl.DataFrame] = []
    last = None
    for batch in incoming:
        for bucket, data in zip(batch.column("bucket").to_pylist(), batch.column("rows"), strict=True):
            if held and bucket != last:
                yield from _in_order(held)
                held = []
            last = bucket
            held.append(unpacked(data.as_py()))
    if held:
        yield from _in_order(held)


def _in_order(held: list[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    return pl.concat(held).sort(*SORTED, nulls_last=True, maintain_order=True).iter_slices(_AT_ONCE)


def _of(rows: pl.DataFrame, tag: int) -> pl.DataFrame:
    """Rows of one table, with its columns."""
    name = list(PAYLOAD)[tag]
    others = [other for other in PAYLOAD if other != name]
    return rows.filter(pl.col("tag") == tag).drop(others).unnest(name)


def _thinned(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of one partition without observations and headers of batches that cannot matter."""
    kept = thinned(_of(rows, OBSERVATION)).with_columns(
        pl.struct(PAYLOAD["observations"]).cast(rows.schema["observations"]).alias("observations")
    )
    tag = pl.col("tag")
    held = rows.filter(tag == BATCH).filter(headers(_of(rows, BATCH)))
    parts = [rows.filter(tag < OBSERVATION), kept.select(*PLACED, "observations"), held, rows.filter(tag > BATCH)]
    return pl.concat(parts, how="diagonal").select(rows.columns)


def observations_of(rows: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Rows of the table ``observations`` as a case has them: in order and numbered."""
    typed = OBSERVATIONS | {"source": pl.UInt32()}
    ordered = rows.lazy().sort(POSITION, nulls_last=True, maintain_order=True).with_row_index("row")
    # In one query, which frees what it does not need any more.
    return (
        ordered.select(
            "row",
            *(pl.col(name).cast(typed[name]) for name in OBSERVATIONS if name != "time"),
            pl.col("time").cast(OBSERVATIONS["time"]).dt.replace_time_zone("UTC"),
            pl.col("source").cast(typed["source"]),
            "broker",
            "starts_run",
            "run",
        )
        .select("row", *OBSERVATIONS, "source", "broker", "starts_run", "run")
        .collect()
    )


def table_of(rows: pl.DataFrame, table: str, schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Rows of a table as a case has them: in the order of its files."""
    more = ("source", "broker", "topic", "partition") if table == "batches" else ("source",)
    rows = rows.sort("source", "split", "seq", nulls_last=True, maintain_order=True)
    return restored(rows.select(*schema, *more), {**schema, "source": pl.UInt32()})


def whole_partitions(incoming: Iterable[pl.DataFrame], *, together: int, most: int) -> Iterator[pl.DataFrame]:
    """Rows of partitions that are complete, many small ones at a time.

    A partition of more rows than ``most`` is thinned while it comes, and again once what was left has doubled: each row
    is looked at a few times, however many there are.
    """
    done: list[pl.DataFrame] = []
    last = _Unfinished(most)
    for rows in incoming:
        if rows.is_empty():
            continue
        done += last.add(rows)
        if done and _height(done) + last.height >= together:
            yield pl.concat(done)
            done = []
        last.thin()
    if done or last.parts:
        yield pl.concat([*done, *last.parts])


class _Unfinished:
    """Rows of one partition that may not be complete.

    Attributes:
        parts: its rows, in order.
    """

    def __init__(self, most: int) -> None:
        """Begin with none.

        Args:
            most: rows that are kept unchanged.
        """
        self.parts: list[pl.DataFrame] = []
        self._most = self._limit = most

    @property
    def height(self) -> int:
        """Return how many rows there are."""
        return _height(self.parts)

    def add(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """Take the rows that come next, and return those of partitions that are complete now."""
        is_last = pl.all_horizontal([pl.col(name).eq_missing(pl.col(name).last()) for name in KEY])
        others = rows.filter(~is_last)
        another = bool(self.parts) and self.parts[-1].select(KEY).row(-1) != rows.select(KEY).row(-1)
        if not others.height and not another:
            self.parts.append(rows)
            return []
        complete = [*self.parts, others]
        self.parts, self._limit = [rows.filter(is_last) if others.height else rows], self._most
        return complete

    def thin(self) -> None:
        """Leave out rows that cannot matter, if there are too many."""
        if self.height > self._limit:
            self.parts = [_thinned(pl.concat(self.parts))]
            self._limit = max(self._most, 2 * self.height)


def _height(frames: Iterable[pl.DataFrame]) -> int:
    return sum(frame.height for frame in frames)


def _lasting(history: History) -> History:
    history.answers.clear()
    return history


def _proven(judgement: Judgement, evidence: Mapping[Ref, Evidence], times: Mapping[int, int]) -> Judgement:
    """Return the judgement with the places that prove its findings; the text at these places is not yet read."""
    return judgement.with_each(lambda finding: proved(dated(finding, times), evidence))


def evidence_of(case: Case, refs: set[Ref]) -> dict[Ref, Evidence]:
    """The place behind each piece of evidence, without hash and without the text of lines."""
    where = located(case, refs)
    texts = batch_texts(case, where.values())
    paths = dict(case.sources.select("id", "path").iter_rows())
    borne = borne_by(case, where)
    return {
        ref: Evidence(paths[place.source], None, place.line, place.byte, texts.get(place, ""), ref.note, *borne[ref])
        for ref, place in where.items()
    }
