"""Only one function may catch everything: what it catches is a defect, and is reported as one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ALLOWED = "parsers/containment.py"
EVERYTHING = {"Exception", "BaseException"}


def catches_everything(source: str) -> list[int]:
    """Lines of handlers that catch any exception."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            kinds = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
            if any(kind is None or (isinstance(kind, ast.Name) and kind.id in EVERYTHING) for kind in kinds):
                found.append(node.lineno)
        elif isinstance(node, ast.Call) and "suppress" in ast.unparse(node.func):
            found += [node.lineno for kind in node.args if isinstance(kind, ast.Name) and kind.id in EVERYTHING]
    return found


def test_one_place_catches_everything() -> None:
    places = {
        path.relative_to(ROOT).as_posix(): lines
        for folder in ("parsers", "forensics")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (lines := catches_everything(path.read_text()))
    }
    assert {path: len(lines) for path, lines in places.items()} == {ALLOWED: 1}


@pytest.mark.parametrize(
    ("handler", "caught"),
    [
        ("except Exception:", True),
        ("except (OSError, Exception) as error:", True),
        ("except BaseException:", True),
        ("except:", True),
        ("except OSError:", False),
    ],
)
def test_what_counts_as_everything(handler: str, caught: bool) -> None:
    assert bool(catches_everything(f"try:\n    pass\n{handler}\n    pass\n")) == caught
