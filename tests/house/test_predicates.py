"""Predicates: a function of replay or rules that answers yes or no changes nothing that it was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

PACKAGES = ("forensics.replay", "forensics.rules")

ANSWERS = frozenset({"bool", "bool | None", "Answer"})

CHANGES = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "setdefault",
        "sort",
        "update",
    }
)
"""Methods that change what they are called of."""

BREACHES = """
def marks(history) -> bool:
    history.gaps[1] = "missing"
    return True

def counts(self) -> bool | None:
    self.asked += 1

def adds(found: set[int]) -> Answer:
    found.add(1)

def keeps(found: dict[int, list[int]]) -> bool:
    found[1].append(2)

def is_pure(found) -> bool:
    own = []
    own.append(1)
    own[0] = 2
    return bool(own)

def fills(found) -> None:
    found.add(1)
"""


def changes(function: ast.FunctionDef) -> Iterator[str]:
    """What a function changes that it did not make itself."""
    made = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(function):
        changed: list[ast.expr] = []
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed = [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
            changed = [node.func.value]
        for one in changed:
            inner = one
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if not isinstance(inner, ast.Name) or inner.id not in made:
                yield ast.unparse(one)


def impure(source: str) -> list[tuple[str, str]]:
    """Predicates of a module that change something: name, and what it changes."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    predicates = [one for one in found if one.returns is not None and ast.unparse(one.returns) in ANSWERS]
    return [(one.name, what) for one in predicates for what in changes(one)]


def test_no_predicate_changes_what_it_is_given(sources: dict[str, str]) -> None:
    texts = {name: text for name, text in sources.items() if name.startswith(PACKAGES)}
    assert {name: found for name, text in texts.items() if (found := impure(text))} == {}


def test_a_predicate_that_changes_something_is_seen() -> None:
    assert impure(BREACHES) == [
        ("marks", "history.gaps"),
        ("counts", "self"),
        ("adds", "found"),
        ("keeps", "found[1]"),
    ]
