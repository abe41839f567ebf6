"""A log that was rotated between two lines of one millisecond is read as the one that it was."""

from __future__ import annotations

import itertools
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from tools.samples import unpacked

SAMPLES = unpacked()
TIME = re.compile(r"\[20[0-9]{2}-[0-9]{2}-[0-9]{2} ([0-9:,]+)\]")
PARTS = 4


def answers(folder: Path) -> dict[tuple[str, int, str], tuple[str, list[str]]]:
    return {
        (one.history.name, one.history.incarnation, rule): (judged.verdict, [f.summary for f in judged.findings])
        for one in scan([str(folder)]).partitions
        for rule, judged in one.judgements.items()
    }


def rotate(log: Path, name: Callable[[str, int], str]) -> int:
    """Leave a log in up to four parts, each cut between lines of one time; returns how often it was cut."""
    lines = log.read_text().splitlines(keepends=True)
    times = [found[1] if (found := TIME.match(line)) else None for line in lines]
    ties = [n for n, (one, two) in enumerate(itertools.pairwise(times), start=1) if one is not None and one == two]
    cuts = sorted({ties[len(ties) * part // PARTS] for part in range(1, PARTS)}) if ties else []
    for age, (begin, end) in enumerate(itertools.pairwise([0, *cuts])):
        log.with_name(name(log.name, len(cuts) - age)).write_text("".join(lines[begin:end]))
    log.write_text("".join(lines[cuts[-1] if cuts else 0 :]))
    return len(cuts)


@pytest.mark.parametrize(
    "name",
    [
        lambda log, age: f"{log}.{age}",  # log4j 1: the greatest number is the oldest
        lambda log, age: f"{log}.{PARTS - age}",  # log4j 2: the greatest number is the latest
        lambda log, age: f"{log}.2026-11-21-{20 - age}",
        lambda log, age: f"{log.removesuffix('.log')}-2026-11-21-{20 - age}.log",
    ],
    ids=["log4j1", "log4j2", "hourly", "dated"],
)
@pytest.mark.parametrize("case", ["kip101-0.10.2.2", "powerloss-0.11.0.3", "prematureisr-1.1.1", "unclean-3.9.1"])
def test_where_a_log_was_cut_changes_no_answer(case: str, name: Callable[[str, int], str], tmp_path: Path) -> None:
    folder = tmp_path / case
    shutil.copytree(SAMPLES / case, folder)
    whole = answers(folder)
    assert sum(rotate(log, name) for log in sorted(folder.glob("broker-*/logs/*.log"))) > PARTS
    assert answers(folder) == whole
