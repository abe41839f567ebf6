"""What can be written is what the documentation says can be written."""

from __future__ import annotations

import re
from pathlib import Path

from forensics.reports import REPORTS
from forensics.tables import FORMAT, TABLES


def first_cells(text: str, heading: str) -> list[str]:
    """The first column of the first table after a heading."""
    part = text.partition(heading)[2]
    return re.findall(r"^\| `([a-z]+)` \|", part.partition("\n## ")[0], re.MULTILINE)


def test_every_format_and_table_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "outputs.md").read_text("utf-8")
    assert sorted(first_cells(text, "# What a scan writes")) == sorted(report.name for report in REPORTS)
    assert first_cells(text, "## Tables") == [table.name for table in TABLES]
    assert FORMAT in text


def test_the_default_comes_first() -> None:
    assert REPORTS[0].name == "text"
    assert len({report.name for report in REPORTS}) == len(REPORTS)
    assert all(report.what for report in REPORTS)
