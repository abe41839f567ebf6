"""Silence: what the absence of a line proves is asked of the coverage, by the methods that license it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

ASKING = frozenset({"shown_missing", "is_shown_missing", "shown_missing_by", "known_missing", "missing_in"})
"""What tells of lines that are shown to be missing. Nothing shows that of a silent broker: no licence for silence."""

ALLOWED = {
    "forensics.replay.coverage": "defines them",
    "forensics.replay.omissions.last_leader": "controllers' lines may end where a replica's do",
    "forensics.replay.signs.suspicions": "suspects nothing where a line may be missing in between",
    "forensics.rules.committed_data_lost": "words whose lines it asks for",
    "forensics.rules.evidence_gap": "reports what shows that lines are missing",
    "forensics.rules.hw_regression": "words whose lines it asks for",
    "forensics.rules.story": "words whose lines it asks for",
}
"""Modules that may ask that, and what for."""

PACKAGES = ("forensics.replay", "forensics.rules")

BREACHES = """
def first(history):
    return history.coverage.shown_missing()

def second(self, coverage):
    return not coverage.is_shown_missing(1) or self.history.coverage.known_missing.get(1)

def third(history, judgement):
    return history.coverage.whole(1), judgement.missing

def under_another_name(history):
    known, ask = history.coverage, history.coverage.shown_missing_by
    later = known.missing_in(1, 2, 3), history.coverage.missing_in
    return ask(), later, getattr(known, "shown_missing")

NOBODY = Coverage().is_shown_missing(1)
"""


def asked(source: str) -> Iterator[str]:
    """What a module asks for lines that are shown to be missing, by whatever name it knows the coverage.

    The coverage's names for it are no other class's, so that no alias of a coverage or of its method hides them.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ASKING:
            yield node.attr
        elif isinstance(node, ast.Constant) and node.value in ASKING:
            yield str(node.value)  # getattr, attrgetter, methodcaller


def test_only_these_modules_ask_what_shows_that_lines_are_missing(sources: dict[str, str]) -> None:
    asking = {name for name, text in sources.items() if name.startswith(PACKAGES) and [*asked(text)]}
    assert asking == {*ALLOWED}


def test_what_logs_are_about_is_asked_by_the_method_of_the_coverage(sources: dict[str, str]) -> None:
    texts = {name: text for name, text in sources.items() if name.startswith("forensics.")}
    assert not [name for name, text in texts.items() if "coverage.printed" in text]


KNOWN_OF_BROKERS = frozenset({"server_log", "state_log", "complete", "unseen_process", "elections_known"})
"""What the case knows of a broker's lines, and what would say the same of a partition."""


def test_what_is_known_of_a_brokers_lines_reaches_replay_as_its_coverage(sources: dict[str, str]) -> None:
    reading = {
        (name, node.attr)
        for name, text in sources.items()
        if name.startswith(PACKAGES)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in KNOWN_OF_BROKERS
    }
    assert {attr for name, attr in reading if name != "forensics.replay.partitions"} == {"unseen_process"}
    assert {name for name, _ in reading} == {"forensics.replay.partitions", "forensics.replay.omissions.own_lines"}


@pytest.mark.parametrize("package", PACKAGES)
def test_silence_is_asked_of_the_coverage_alone(package: str, sources: dict[str, str]) -> None:
    """No other value says that a broker has lines, or that it has none."""
    texts = {name: text for name, text in sources.items() if name.startswith(package)}
    assert [name for name, text in texts.items() if "has_logs" in text or "LINES_MISSING" in text] == [
        name
        for name in ("forensics.replay.signs.stated", "forensics.replay.signs.went_back")
        if name.startswith(package)
    ], "the kind of a line that says itself that others were left out"


def test_a_breach_is_seen_under_any_name() -> None:
    assert {*asked(BREACHES)} == ASKING
    assert len([*asked(BREACHES)]) == 8
