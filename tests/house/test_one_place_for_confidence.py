"""How sure a conclusion is, is weighed in one module: all others only name what is weak, and reports show it."""

from __future__ import annotations

import ast
import importlib.util
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import forensics

WEIGHS = "forensics.replay.confidence"


def _modules() -> Iterator[str]:
    for one in pkgutil.walk_packages(forensics.__path__, "forensics."):
        if one.name != WEIGHS and not one.name.startswith("forensics.reports."):
            yield one.name


def members(source: str) -> list[int]:
    """Lines that name a member of Confidence."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Confidence"
    ]


def test_no_other_module_decides_what_is_proven() -> None:
    deciding = {}
    for module in _modules():
        found = importlib.util.find_spec(module)
        assert found is not None
        assert found.origin is not None
        if lines := members(Path(found.origin).read_text(encoding="utf-8")):
            deciding[module] = lines
    assert deciding == {}


def test_the_check_sees_a_member() -> None:
    assert members("made = Finding(confidence=Confidence.PROVEN)") == [1]
