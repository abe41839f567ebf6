"""The files of a cluster, given one by one in any order: an answer does not depend on how the shell sorted them."""

from __future__ import annotations

import random
import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports.json_report import document

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("case", ["jbodmid-1.1.1", "lastcopy-4.1.1"])
def test_the_order_in_which_files_are_given_does_not_count(case: str, tmp_path: Path) -> None:
    """A broker with two checkpoints of one partition, and two lines of one moment, each of which an answer may name."""
    with tarfile.open(DATA / f"{case}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    given = [str(path) for path in tmp_path.rglob("*") if path.is_file()]
    answers = [told([str(tmp_path)])]
    for seed in (1, 2):
        random.Random(seed).shuffle(given)
        answers.append(told(given))
    assert answers[1:] == answers[:1] * 2


def told(paths: list[str]) -> dict[str, object]:
    """What the JSON report says of a scan, but for the paths as they were given."""
    return {key: value for key, value in document(scan(paths)).items() if key != "inputs"}
