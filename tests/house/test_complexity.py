"""Functions are simple: a cognitive complexity of at most 15. ``make lint`` counts, and there are no exceptions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXCEPTIONS = "complexipy-snapshot.json"
"""Functions in this file would be above the limit and pass."""

SIMPLE = "def f(a):\n    return a\n"


def nested(depth: int) -> str:
    """A function of so many loops, one in the other: 1 + 2 + 3 ... points."""
    loops = "".join(f"{'    ' * level}for _ in a:\n" for level in range(1, depth + 1))
    return f"def g(a):\n{loops}{'    ' * (depth + 1)}print(a)\n"


def hidden(files: dict[str, str]) -> list[str]:
    """Files that take functions out of the count."""
    asking = [name for name, text in files.items() if name.endswith(".py") and "complexipy" in text]
    return [*asking, *(name for name in files if name.endswith(EXCEPTIONS))]


def test_no_function_is_an_exception(repository: Path, files: tuple[str, ...]) -> None:
    counted = [name for name in files if name.startswith(("forensics/", "parsers/", "tools/")) and name.endswith(".py")]
    texts = {name: (repository / name).read_text(encoding="utf-8") for name in counted}
    assert hidden(texts | {name: "" for name in files if not name.endswith(".py")}) == []


# -- the guard can fail --------------------------------------------------------------------------------------------


def test_an_exception_is_seen() -> None:
    assert hidden({"parsers/a.py": SIMPLE, "parsers/b.toml": ""}) == []
    assert hidden({"parsers/a.py": f"{SIMPLE}  # complexipy: ignore"}) == ["parsers/a.py"]
    assert hidden({EXCEPTIONS: "[]"}) == [EXCEPTIONS]


@pytest.fixture
def house(repository: Path, tmp_path: Path) -> Path:
    """A small project with the settings of this one."""
    shutil.copy(repository / "pyproject.toml", tmp_path)
    for package in ("parsers", "forensics", "tools"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "a.py").write_text(SIMPLE)
    return tmp_path


def count(folder: Path) -> int:
    command = [str(Path(sys.executable).with_name("complexipy")), "--color", "no"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=60).returncode


@pytest.mark.parametrize("package", ["parsers", "forensics", "tools"])
@pytest.mark.parametrize(("depth", "code"), [(5, 0), (6, 1)])  # 15 points, and 21
def test_a_function_above_the_limit_is_seen(house: Path, package: str, depth: int, code: int) -> None:
    assert count(house) == 0
    (house / package / "a.py").write_text(nested(depth))
    assert count(house) == code
