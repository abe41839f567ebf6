"""The table of the samples: a row for each, and the rules that a row names find something there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.result import Result
from forensics.rules import RULES

ROW = re.compile(r"(?m)^\| \[([^\]]+)\]\(([^)]+)\) \|([^|]*)\|([^|]*)\|([^|]*)\|$")


@pytest.fixture(scope="module")
def rows(sample_traces: Path) -> dict[str, tuple[str, ...]]:
    found = ROW.findall((sample_traces / "README.md").read_text("utf-8"))
    return {name: tuple(cell.strip() for cell in cells) for name, *cells in found}


def test_each_sample_has_a_row(rows: dict[str, tuple[str, ...]], sample_traces: Path) -> None:
    folders = {one.name for one in sample_traces.iterdir() if one.is_dir()} - {"written"}
    assert set(rows) == folders
    assert [name for name, cells in rows.items() if cells[0] != f"{name}/README.md" or not all(cells)] == []


def test_the_rules_that_a_row_names_find_something(
    some_sample: Path, rows: dict[str, tuple[str, ...]], scanned: Callable[[Path], Result]
) -> None:
    named = set(re.findall(r"`([a-z-]+)`", rows[some_sample.name][-1])) & {rule.id for rule in RULES}
    found = {finding.rule for finding in scanned(some_sample).findings}
    assert named - found == set()
