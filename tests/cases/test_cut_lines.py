"""Single lines of real logs that are missing: no answer turns wrong, and whole logs lack none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import polars as pl

from forensics.engines.local import read_files
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.schema import Kind
from tests.cases.test_cut_evidence import wrong
from tests.cases.test_cut_kinds import judged
from tests.conftest import EVERYTHING
from tests.covering import missing_within

TELLING = (
    Kind.LEADER_AND_ISR,
    Kind.BECOME_LEADER,
    Kind.BECOME_FOLLOWER,
    Kind.TRUNCATE,
    Kind.LOG_LOADED,
    Kind.FETCHER_ADDED,
    Kind.ISR_EXPAND,
    Kind.ISR_COMMIT,
)
TRIES = 4 if EVERYTHING else 2
Files = list[tuple[Source, FileReading]]


def lines(files: Files) -> list[tuple[int, int]]:
    """File and line of everything that tells of a role or a log."""
    return [
        (number, line)
        for number, (_, reading) in enumerate(files)
        if reading.format == "broker-log"
        for line in reading.observations.filter(
            pl.col("kind").is_in([kind.value for kind in TELLING]) & pl.col("topic").is_not_null()
        )
        .get_column("line")
        .unique(maintain_order=True)
    ]


def without(files: Files, gone: set[tuple[int, int]]) -> Files:
    kept = []
    for number, (source, reading) in enumerate(files):
        mine = [line for file, line in gone if file == number]
        left = reading.observations.filter(~pl.col("line").is_in(mine).fill_null(False))
        kept.append((source, replace(reading, observations=left)))
    return kept


def test_a_missing_line_makes_no_answer_wrong(evidence_case: Path) -> None:
    files = read_files([str(evidence_case)])
    whole = judged(without(files, set()))
    assert [gaps for partition in whole.partitions if (gaps := missing_within(partition.history))] == []
    random, places = Random(evidence_case.name), lines(files)
    said = {}
    for size in (1,) * TRIES + (3,) * TRIES:
        gone = set(random.sample(places, min(size, len(places))))
        named = tuple(sorted((files[number][0].path, line) for number, line in gone))
        said[named] = wrong(evidence_case, judged(without(files, gone)))
    assert {what: answers for what, answers in said.items() if answers} == {}
