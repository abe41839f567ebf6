"""Judging by several processes: every partition is judged in one of them, and only the results are returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

import polars as pl

from forensics.engines import codec, local
from forensics.engines.kept import KeptHistory
from forensics.engines.left_out import Judged, gave_up
from forensics.engines.parts import Common, Division, Packed
from forensics.engines.workers import Load, Workers
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from forensics.rules.finding import Judgement, Severity
from parsers.containment import Defect

_PARTS: Final = 4
"""Parts for each process: all of them are busy to the end, about."""
_LEAST: Final = 100_000
_MOST: Final = 400_000
"""Bounds of the weight of a part: below, its fixed costs would count; above, its histories take memory."""


class _Part(NamedTuple):
    """Some partitions of a cluster: ``topic``, ``partition``."""

    division: Division
    keys: pl.DataFrame


class _Row(NamedTuple):
    """The results for one partition, as JSON where they are large."""

    topic: str
    partition: int
    topic_id: str | None
    cluster: str | None
    incarnation: int
    holders: frozenset[int]
    history: str
    judgements: tuple[str, ...]

    def kept(self) -> KeptHistory:
        """Return the history."""
        names = PartitionFacts(self.topic, self.partition, self.topic_id, self.cluster, self.incarnation)
        return KeptHistory.of(self.history, names, self.holders)


def judged(divisions: Sequence[Division], jobs: int, progress: local.Progress | None = None) -> list[Judged]:
    """Return what ``local.judged`` returns, in the same order; of histories only the names are read.

    Args:
        divisions: the partitions of each cluster.
        jobs: how many processes judge.
        progress: called after each part.
    """
    weight = min(max(sum(one.weight for one in divisions) // (jobs * _PARTS), _LEAST), _MOST)
    parts = [_Part(division, keys) for division in divisions for keys in division.parts(weight)]
    found: dict[int, list[Judged]] = {id(division): _quick(division) for division in divisions}
    known: dict[str, Judgement] = {}  # most partitions have the answers of many others
    done, total = 0, sum(part.keys.height for part in parts)
    findings: Counter[Severity] = Counter()
    say = progress if progress is not None else lambda _: None
    say(local.Step(done, total, judging=True))
    with Workers(jobs) as workers:
        for part, rows in _answers(workers, parts):
            answers = [_read(one, known) if isinstance(one, _Row) else one for one in rows]
            found[id(part.division)] += answers
            done += part.keys.height
            findings.update(_severities(answers))
            say(local.Step(done, total, judging=True, findings=dict(findings)))
    order = attrgetter("topic", "partition", "incarnation")
    return [one for mine in found.values() for one in sorted(mine, key=lambda one: order(one[0]))]


def _severities(answers: Iterable[Judged]) -> Iterator[Severity]:
    """Return the severity of each finding."""
    return (one.severity for _, judgements in answers for judgement in judgements for one in judgement.findings)


def _quick(division: Division) -> list[Judged]:
    """Return the results for partitions that are of no part."""
    return [one for quick in division.packed([division.quick]) for one in local.judged(division.common.case(quick))]


def _answers(workers: Workers, parts: list[_Part]) -> Iterator[tuple[_Part, Sequence[_Row | Judged]]]:
    """Yield what is found in each part. A part on which a worker dies is tried again in two halves."""
    again: list[_Part] = []
    for number, found in workers.ask(_judge, _loads(parts), _judge_here):
        if isinstance(found, Defect):
            division, keys = parts[number]
            half = (keys.height + 1) // 2
            again += [_Part(division, some) for some in (keys[:half], keys[half:]) if some.height]
        else:
            yield parts[number], found
    for number, found in workers.ask(_judge, _loads(again)) if again else ():
        division, keys = again[number]
        failed = isinstance(found, Defect)
        yield again[number], gave_up(division.case, keys.rows(), found) if failed else found


def _loads(parts: Sequence[_Part]) -> Iterator[Load]:
    for _, some in groupby(parts, key=lambda part: id(part.division)):
        mine = list(some)
        common = mine[0].division.common
        yield from (Load(common, (part,)) for part in mine[0].division.packed([part.keys for part in mine]))


def _judge(common: Common, part: Packed) -> list[_Row]:
    """Judge a part: the work of a worker."""
    with local.no_cycles():
        judged = local.judged(common.case(part))
        different = {id(one): one for _, found in judged for one in found}
        texts = {number: codec.encode(one) for number, one in different.items()}
        return [_row(history, [texts[id(one)] for one in found]) for history, found in judged]


def _judge_here(common: Common, part: Packed) -> list[Judged]:
    """Judge a part in this process. Its histories are kept as those of other parts are: they take much less memory."""
    return [(_row(history).kept(), found) for history, found in local.judged(common.case(part))]


def _row(history: History, judgements: Iterable[str] = ()) -> _Row:
    return _Row(
        history.topic,
        history.partition,
        history.topic_id,
        history.cluster,
        history.incarnation,
        history.holders,
        codec.encode(history),
        tuple(judgements),
    )


def _read(row: _Row, known: dict[str, Judgement]) -> Judged:
    return row.kept(), [_judgement(text, known) for text in row.judgements]


def _judgement(text: str, known: dict[str, Judgement]) -> Judgement:
    """Return an answer; one without findings, which names no partition, is in memory once."""
    if text in known:
        return known[text]
    found = codec.decode_judgement(text)
    if not found.findings:
        known[text] = found
    return found
