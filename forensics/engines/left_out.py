"""Handling of failures of this program on a part of the evidence: the part is named, and the rest is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from forensics.case import Case, Reading, assemble
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from forensics.rules import RULES, not_judged
from forensics.rules.finding import Judgement
from parsers.containment import Defect, contained
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.read import FAILED, failed

Files = Sequence[tuple[Source, FileReading]]
Judged = tuple[History, list[Judgement]]

_MOST_LEFT_OUT: Final = 8
"""Files that are left out of a case one after another, before the failure counts as one of all files."""
_MOST_REPLAYS: Final = 256
"""Replays of a part of the partitions, in search of the one on which replay fails."""


def without_culprits(read: Callable[[], Files], reading: Reading | None, defect: Defect) -> Case | Defect:
    """A case without the files that this program fails to put together with the others, each named as failed.

    The shortest run of files from the first one on that fails ends with a culprit; it is found by halving.

    Args:
        read: reads all files again; what putting together failed on may have been changed by it.
        reading: how printed times are read.
        defect: on what it failed.

    Returns:
        The case, or the defect where leaving out single files does not help.
    """
    files = list(read())
    for _ in range(_MOST_LEFT_OUT):
        good, bad = 0, len(files)
        while bad - good > 1:
            half = (good + bad) // 2
            found = contained(lambda: assemble(_copies(files[:half]), reading))  # noqa: B023 - called at once
            if isinstance(found, Defect):
                bad, defect = half, found
            else:
                good = half
        source, culprit = files[bad - 1]
        if culprit.format == FAILED:
            return defect
        files[bad - 1] = (source, failed(defect))
        whole = contained(lambda: assemble(_copies(files), reading))
        if not isinstance(whole, Defect):
            return whole
        defect = whole
    return defect


def _copies(files: Files) -> list[tuple[Source, FileReading]]:
    """The readings as they were read: putting a case together changes them."""
    return [(source, replace(reading, properties=dict(reading.properties))) for source, reading in files]


def replayed(case: Case, replay: Callable[[Case], Sequence[History]]) -> tuple[list[History], list[Judged]]:
    """The histories of a case, and those of partitions on which replay fails, without anything in them.

    Args:
        case: one cluster's.
        replay: gives the histories of a case.

    Returns:
        Histories to be judged, and histories with their judgements: nothing could be judged.
    """
    found = contained(lambda: list(replay(case)))
    if not isinstance(found, Defect):
        return found, []
    good: list[History] = []
    failed_on: list[Judged] = []
    parts = [_partitions(case)]
    replays = 0
    while parts:
        some = parts.pop()
        replays += 1
        if replays <= _MOST_REPLAYS:
            found = contained(lambda: list(replay(_only(case, some))))  # noqa: B023 - called at once
        if not isinstance(found, Defect):
            good += found
            found = Defect("not tried", "forensics/engines/left_out.py")
        elif len(some) > 1 and replays <= _MOST_REPLAYS:
            half = len(some) // 2
            parts += [some[half:], some[:half]]
        else:
            failed_on += [_failed(case, topic, partition, found) for topic, partition in some]
    return good, failed_on


def _failed(case: Case, topic: str, partition: int, defect: Defect) -> Judged:
    return History(PartitionFacts(topic, partition, cluster=case.cluster)), [not_judged(rule, defect) for rule in RULES]


def gave_up(case: Case, partitions: Sequence[tuple[str, int]], why: Defect) -> list[Judged]:
    """Return the histories of partitions that could not be judged, with nothing in them.

    Args:
        case: one cluster's.
        partitions: topic and partition of each.
        why: what happened.
    """
    return [_failed(case, topic, partition, why) for topic, partition in partitions]


def _partitions(case: Case) -> list[tuple[str, int]]:
    named = [
        frame.select("topic", pl.col("partition").cast(pl.Int32))
        for frame in (case.sources, case.observations, case.batches)
    ]
    rows = pl.concat(named).drop_nulls().unique()
    return list(rows.sort("topic", "partition").iter_rows())


def _only(case: Case, some: Sequence[tuple[str, int]]) -> Case:
    """The case with what is about some partitions, and what is about none."""
    wanted = pl.DataFrame(some, schema={"topic": pl.String(), "partition": pl.Int32()}, orient="row")

    def kept(frame: pl.DataFrame) -> pl.DataFrame:
        mine = frame.join(wanted, on=["topic", "partition"], how="semi", maintain_order="left")
        return pl.concat([mine, frame.filter(pl.col("topic").is_null())])

    sources = kept(case.sources).sort("id")
    of_sources = sources.select(pl.col("id").alias("source"))
    return replace(
        case,
        sources=sources,
        observations=kept(case.observations).sort("row"),
        batches=case.batches.join(wanted, on=["topic", "partition"], how="semi", maintain_order="left"),
        notices=case.notices.join(of_sources, on="source", how="semi", maintain_order="left"),
        whole=case.whole or case,
    )
