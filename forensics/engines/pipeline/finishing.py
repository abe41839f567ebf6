"""From judged partitions to tables, texts and the result: part by part.

What is in order at the end waits on disk until all parts are there. The driver holds one part, what findings cite, and
a key for each finding and partition; never all histories, nor all findings with their evidence.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import polars as pl

from forensics import tables
from forensics.case import Case
from forensics.engines import codec
from forensics.engines.kept import KeptHistory
from forensics.engines.left_out import Judged
from forensics.engines.local import no_cycles
from forensics.engines.pipeline.output import Output
from forensics.engines.stages import answers
from forensics.engines.stages.judging import JUDGED, KEY
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.result import Result, ordered
from forensics.rules.finding import Judgement

Key = tuple[object, ...]

Lines = Callable[[Result], Iterable[tuple[Key, str]]]
"""Returns text for some partitions, each piece with the key by which the pieces of all parts are ordered."""

_TOGETHER: Final = 2_000
"""Partitions of a part, about."""
_ROWS: Final = 50_000
"""Rows of a file of a table that is put in order."""


@dataclass(frozen=True, slots=True)
class Part:
    """Judged partitions in a file.

    Attributes:
        file: its path, Parquet.
        keys: only these partitions, by ``KEY``; None for all.
        changed: paths of files that are not what they were when the partitions were judged.
    """

    file: Path
    keys: pl.DataFrame | None = None
    changed: frozenset[str] = frozenset()

    def rows(self, columns: Sequence[str] = tuple(JUDGED)) -> pl.DataFrame:
        """Return some columns of ``JUDGED``, with those that say how many findings there are and which."""
        wanted = list(dict.fromkeys([*KEY, "findings", "judgements", *columns]))
        found = pl.read_parquet(self.file, columns=wanted, hive_partitioning=False, glob=False)
        if self.keys is not None:
            found = found.join(self.keys, on=list(KEY), how="semi", nulls_equal=True, maintain_order="left")
        if self.changed:
            texts = [
                answers.forgotten(text, self.changed) if findings else text
                for findings, text in found.select("findings", "judgements").iter_rows()
            ]
            found = found.with_columns(pl.Series("judgements", texts, pl.String))
        return found.select(*columns)


@dataclass(slots=True)
class Waiting:
    """Bytes that wait in a file until they are asked for in the order of their keys.

    Attributes:
        file: its path.
    """

    file: Path
    _places: list[tuple[Key, int, int]] = field(default_factory=list)
    _end: int = 0

    def add(self, found: Iterable[tuple[Key, bytes]]) -> None:
        """Let them wait."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab") as out:
            for key, data in found:
                self._places.append((key, self._end, len(data)))
                self._end += out.write(data)

    def __iter__(self) -> Iterator[bytes]:
        if not self._places:
            return
        self._places.sort(key=lambda place: place[0])
        with self.file.open("rb") as stream:
            for _, begin, size in self._places:
                stream.seek(begin)
                yield stream.read(size)


def cited(parts: Sequence[Part]) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    """Places whose text is yet to be read, as ``answers.cited`` has them."""
    lines: dict[str, set[int]] = {}
    batches: dict[str, set[int]] = {}
    for part in parts:
        texts = part.rows(("findings", "judgements")).filter(pl.col("findings") > 0).get_column("judgements")
        for mine, found in zip((lines, batches), answers.cited(map(json.loads, texts)), strict=True):
            for path, places in found.items():
                mine.setdefault(path, set()).update(places)
    return lines, batches


class Finish:
    """Writes the results of parts.

    Args:
        output: where.
        generation: of the tables.
        inputs: paths as the user gave them.
        case: sources and brokers.
        texts: texts to be written beside the tables, by name.
        each: called with every part.
    """

    def __init__(
        self,
        output: Output,
        generation: int,
        inputs: Sequence[str],
        case: Case,
        texts: Mapping[str, Lines],
        each: Callable[[Result], None],
    ) -> None:
        self.output = output
        self.generation = generation
        self.inputs = inputs
        self.case = case
        self.texts = texts
        self.each = each
        self.findings = 0
        folder = output.tables(generation)
        self.waiting = {name: Waiting(folder / f".{name}") for name in ("findings", "verdicts", *texts)}

    def add(self, parts: Sequence[Part], texts: answers.Texts, hashes: Mapping[str, str | None]) -> None:
        """Write parts.

        Args:
            parts: judged partitions.
            texts: text at the cited places.
            hashes: of the files, by path.
        """
        for number, rows in enumerate(_together(parts)):
            with no_cycles():
                done, judged = _completed(rows, texts, hashes)
                self.output.write_table(self.generation, "partitions", done, number)
                self._add(ordered(self.inputs, self.case, judged))

    def _add(self, result: Result) -> None:
        self.findings += len(result.findings)
        self.waiting["findings"].add((one.order, pickle.dumps(tables.finding_row(one))) for one in result.findings)
        self.waiting["verdicts"].add(
            (one.order, pickle.dumps(list(tables.verdicts_of(one)))) for one in result.partitions
        )
        for name, lines in self.texts.items():
            self.waiting[name].add((key, text.encode()) for key, text in lines(result))
        self.each(result)

    def close(self) -> None:
        """Put all in order."""
        if not self.output.files_of(self.generation, "partitions"):
            self.output.write_table(self.generation, "partitions", pl.DataFrame(schema=JUDGED))
        rows: dict[str, Iterator[dict[str, Any]]] = {
            "findings": map(pickle.loads, self.waiting["findings"]),
            "verdicts": chain.from_iterable(map(pickle.loads, self.waiting["verdicts"])),
        }
        for table in tables.TABLES:
            number = 0
            while table.name in rows:
                some = list(islice(rows[table.name], _ROWS))
                if number and not some:
                    break
                frame = pl.DataFrame(some, schema=table.schema, orient="row")
                self.output.write_table(self.generation, table.name, frame, number)
                number += 1
        for name in self.texts:
            self.output.write_all(self.generation, name, self.waiting[name])
        for one in self.waiting.values():
            one.file.unlink(missing_ok=True)


def judged_of(rows: pl.DataFrame) -> Iterator[Judged]:
    """Yield the results of replay and rules in rows of ``JUDGED``; histories are decoded when they are asked."""
    for history, findings, text in zip(_histories(rows), rows["findings"], rows["judgements"], strict=True):
        yield history, codec.decode_judgements(text) if findings else _without_findings(text)


def _histories(rows: pl.DataFrame) -> Iterator[KeptHistory]:
    names = ("topic", "partition", "topic_id", "cluster", "incarnation", "holders", "history")
    for *named, holders, history in rows.select(names).iter_rows():
        yield KeptHistory.of(history, PartitionFacts(*named), frozenset(json.loads(holders)))


def completed(parts: Sequence[Part], texts: answers.Texts, hashes: Mapping[str, str | None]) -> Iterator[Judged]:
    """Yield what ``judged_of`` yields, with the text of cited places.

    Args:
        parts: judged partitions.
        texts: text at the cited places.
        hashes: of the files, by path.
    """
    for rows in _together(parts):
        _, judged = _completed(rows, texts, hashes)
        yield from judged


def _together(parts: Iterable[Part]) -> Iterator[pl.DataFrame]:
    held: list[pl.DataFrame] = []
    for part in parts:
        rows = part.rows()
        if rows.height:
            held.append(rows)
        if sum(rows.height for rows in held) >= _TOGETHER:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _completed(
    rows: pl.DataFrame, texts: answers.Texts, hashes: Mapping[str, str | None]
) -> tuple[pl.DataFrame, list[Judged]]:
    """Return rows with the text of cited places, and what they contain, as ``judged_of`` yields it."""
    told: list[str] = []
    judged: list[Judged] = []
    for history, findings, text in zip(_histories(rows), rows["findings"], rows["judgements"], strict=True):
        if findings:
            found = json.loads(text)
            answers.complete([found], texts, hashes)
            told.append(codec.written(found))
            judged.append((history, codec.judgements_of(found)))
        else:
            told.append(text)
            judged.append((history, _without_findings(text)))
    return rows.with_columns(pl.Series("judgements", told, pl.String)), judged


@lru_cache(maxsize=1_000)
def _without_findings(text: str) -> list[Judgement]:
    """Most partitions have the answers of many others."""
    return codec.decode_judgements(text)
