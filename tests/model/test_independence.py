"""The model is an oracle: it imports nothing of what it judges. Its pages in the docs are those of its runs."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from forensics.model import walkthrough

pages = cache(walkthrough.pages)


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


BESIDE = {"google_crc32c": "*", "yaml": "schedule_file.py", "forensics.named_files": "schedule_file.py"}
"""What else may be imported, and where: checksums; for the schedules that users write, YAML and what opens the file."""


def test_only_the_standard_library_and_checksums(repository: Path) -> None:
    import sys

    for path in (repository / "forensics" / "model").rglob("*.py"):
        for name in imports(path):
            top = name.split(".")[0]
            known = top in sys.stdlib_module_names or BESIDE.get(name) in ("*", path.name)
            assert known or name.startswith("forensics.model"), f"{path.name} imports {name}"


def test_no_clock_no_thread(repository: Path) -> None:
    for path in (repository / "forensics" / "model").rglob("*.py"):
        assert not imports(path) & {"time", "threading", "asyncio", "multiprocessing", "secrets", "uuid"}, path.name


@pytest.mark.parametrize("name", sorted(pages()))
def test_pages_are_generated(name: str, repository: Path) -> None:
    written = (repository / "docs" / "walkthroughs" / name).read_text()
    assert written == pages()[name], "run: python -m forensics.model.walkthrough docs/walkthroughs"


def test_no_stray_page(repository: Path) -> None:
    assert {p.name for p in (repository / "docs" / "walkthroughs").iterdir()} == set(pages())
