"""Functions are simple: a cognitive complexity of at most 15, but for those of ``complexipy-snapshot.json``.

``make lint`` counts. Here: the list of exceptions does not grow, and a function that becomes worse is seen.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SNAPSHOT = "complexipy-snapshot.json"
LIMIT = 15
EXCEPTIONS = 137
"""How many functions are above the limit today. They may only become less."""

SIMPLE = "def f(a):\n    return a\n"


def nested(depth: int) -> str:
    """A function of so many loops, one in the other: 1 + 2 + 3 ... points."""
    loops = "".join(f"{'    ' * level}for _ in a:\n" for level in range(1, depth + 1))
    return f"def g(a):\n{loops}{'    ' * (depth + 1)}print(a)\n"


def exceptions(snapshot: Path) -> dict[str, int]:
    """Complexity by file and function."""
    return {
        f"{file['path']}:{function['name']}": function["complexity"]
        for file in json.loads(snapshot.read_text(encoding="utf-8"))
        for function in file["functions"]
    }


def test_exceptions_only_become_less(repository: Path) -> None:
    found = exceptions(repository / SNAPSHOT)
    assert len(found) <= EXCEPTIONS
    assert [name for name, complexity in found.items() if complexity <= LIMIT] == []


def test_nobody_hides_a_function_from_the_count(repository: Path, files: tuple[str, ...]) -> None:
    counted = [name for name in files if name.startswith(("forensics/", "parsers/")) and name.endswith(".py")]
    asking = [name for name in counted if "complexipy" in (repository / name).read_text(encoding="utf-8")]
    assert asking == []


# -- the guard can fail --------------------------------------------------------------------------------------------


@pytest.fixture
def house(repository: Path, tmp_path: Path) -> Path:
    """A small project with the settings of this one and one function that is above the limit."""
    shutil.copy(repository / "pyproject.toml", tmp_path)
    for package, text in (("parsers", SIMPLE), ("forensics", nested(6))):
        (tmp_path / package).mkdir()
        (tmp_path / package / "a.py").write_text(text)
    assert count(tmp_path, "--snapshot-create") == 0
    assert exceptions(tmp_path / SNAPSHOT) == {"forensics/a.py:g": 21}
    return tmp_path


def count(folder: Path, *options: str) -> int:
    command = [str(Path(sys.executable).with_name("complexipy")), "--color", "no", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60).returncode


def test_what_is_known_passes(house: Path) -> None:
    assert count(house) == 0


def test_a_known_function_that_becomes_worse_is_seen(house: Path) -> None:
    (house / "forensics" / "a.py").write_text(nested(7))
    assert count(house) == 1


def test_another_function_above_the_limit_is_seen(house: Path) -> None:
    (house / "parsers" / "a.py").write_text(nested(6))
    assert count(house) == 1
    (house / "parsers" / "a.py").write_text(nested(5))  # 15 points
    assert count(house) == 0


def test_what_became_simpler_is_taken_off_the_list(house: Path) -> None:
    (house / "forensics" / "a.py").write_text(SIMPLE)
    assert count(house) == 0
    assert exceptions(house / SNAPSHOT) == {}
