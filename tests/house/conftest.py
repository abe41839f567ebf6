"""The files of the repository, for tests about the repository itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

NOT_OURS = {".git", ".venv", "__pycache__", "build", "dist"}


@pytest.fixture(scope="session")
def files(repository: Path) -> tuple[str, ...]:
    """Paths, relative to the root, of all files that are or would be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if (repository / ".git").exists():
        said = subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout
        names = said.decode().split("\0")
    else:  # an unpacked source archive
        names = [
            path.relative_to(repository).as_posix()
            for path in repository.rglob("*")
            if not NOT_OURS.intersection(path.parts)
        ]
    found = tuple(sorted({name for name in names if name and (repository / name).is_file()}))
    assert "pyproject.toml" in found
    return found


@pytest.fixture(scope="session")
def sources(repository: Path, files: tuple[str, ...]) -> dict[str, str]:
    """Text of each Python file of the two packages, by module name."""
    return {
        module_name(name): (repository / name).read_text(encoding="utf-8")
        for name in files
        if name.endswith(".py") and name.startswith(("forensics/", "parsers/"))
    }


def module_name(path: str) -> str:
    """``forensics/rules/__init__.py`` -> ``forensics.rules``."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
