"""Silence: what the absence of a line proves is asked of the coverage, by the methods that license it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

ASKING = frozenset({"shown_missing", "is_shown_missing", "missing"})
"""What tells of lines that are shown to be missing. Nothing shows that of a silent broker: no licence for silence."""

ALLOWED = {
    "forensics.replay.coverage": "defines them",
    "forensics.replay.crosscheck": "a statement of a broker without lines is about its files",
    "forensics.replay.epoch_start": "lines that show from which offset on a leader's records are of no known epoch",
    "forensics.replay.reconstruct": "replicas whose lines on falling high watermarks are left out",
    "forensics.rules.committed_data_lost": "words whose lines it asks for",
    "forensics.rules.evidence_gap": "reports what shows that lines are missing",
    "forensics.rules.hw_above_leo": "a copy that is known to be whole needs no lines, unless they show that it is not",
    "forensics.rules.hw_regression": "words whose lines it asks for",
    "forensics.rules.replica_divergence": "a leader whose files show that its lines end early is not named as current",
    "forensics.rules.story": "words whose lines it asks for",
    "forensics.rules.unclean_election": "where lines are shown to end early, those of who elects may end there too",
}
"""Modules that may ask that, and what for."""

PACKAGES = ("forensics.replay", "forensics.rules")

BREACHES = """
def first(history):
    return history.coverage.shown_missing()

def second(self, coverage):
    return not coverage.is_shown_missing(1) or self.history.coverage.missing.get(1)

def third(history, judgement):
    return history.coverage.whole(1), judgement.missing
"""


def asked(source: str) -> Iterator[str]:
    """Functions that ask a coverage for lines that are shown to be missing."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr in ASKING and _is_coverage(node.value):
                yield function.name


def _is_coverage(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("coverage", "self")


def test_only_these_modules_ask_what_shows_that_lines_are_missing(sources: dict[str, str]) -> None:
    asking = {name for name, text in sources.items() if name.startswith(PACKAGES) and [*asked(text)]}
    assert asking == {*ALLOWED}


@pytest.mark.parametrize("package", PACKAGES)
def test_silence_is_asked_of_the_coverage_alone(package: str, sources: dict[str, str]) -> None:
    """No other value says that a broker has lines, or that it has none."""
    texts = {name: text for name, text in sources.items() if name.startswith(package)}
    assert [name for name, text in texts.items() if "has_logs" in text or "LINES_MISSING" in text] == [
        name for name in ("forensics.replay.stated",) if name.startswith(package)
    ], "of stated, the kind of a line that says itself that others were left out"


def test_a_breach_is_seen() -> None:
    assert [*asked(BREACHES)] == ["first", "second", "second"]
