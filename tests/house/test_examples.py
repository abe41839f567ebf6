"""The examples in docstrings hold."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest


def modules(repository: Path) -> list[str]:
    """Modules with an example."""
    files = [path for package in ("forensics", "parsers") for path in sorted((repository / package).rglob("*.py"))]
    named = [path.relative_to(repository).with_suffix("") for path in files if ">>> " in path.read_text("utf-8")]
    return [".".join(path.parts).removesuffix(".__init__") for path in named]


def test_examples_in_docstrings_hold(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)  # those of the library scan a sample
    tried = [(name, doctest.testmod(import_module(name), verbose=False)) for name in modules(repository)]
    assert [(name, found) for name, found in tried if found.failed] == []
    assert sum(found.attempted for _, found in tried) >= 100
