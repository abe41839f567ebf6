"""Phrases that readers had to read twice must not come back, and sentences of what a scan prints stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PHRASES = {
    "with which it returned": "restarted with high watermark 80",
    "still held by": "broker 1 still has them",
    "its lines do not lead to": "its log lines do not reach",
    "no line tells": "no log line names it",
    "would settle what is unknown": "Collect this to get an answer:",
    "see unknown below": "INCONCLUSIVE: …; missing evidence is listed below",
    "clean everywhere": "found no violation",
    "files of other kinds": "files ignored (type not recognised)",
    "printed times read as": "timestamps without a zone were read as",
    "silent: no line": "(no log lines until restart)",
    "do not keep one distance": "broker 2's log times are 9 h 0 m off: wrong --tz?",
    "the election is called unclean": "the controller logged this election as unclean",
    "so a leader alone answers them": "acks=all gave no protection",
    "of the epochs before are not in its log": "became leader at offset 50, without offsets 50 to 79",
    "consumers that read them": "downstream systems that consumed these records",
    "never     do not": "Do not",
    "all brokers that say": "same on every broker that reports it",
    "Not a look-alike": "Why this isn't a false alarm",
    "no batch came to its end": "no completed batch in this directory",
    "with the answers of a scan": "same results as scan",
    "above a high watermark of the two": "committed or not: unknown, no checkpoint given",
}
"""What was printed once, and what to write instead."""

PLACES = ("forensics/", "README.md", "tests/golden/", "CHANGELOG.md")

LONGEST = 45
"""Words in a sentence that a scan prints. A sentence may contain a list of rules or brokers."""


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_text_has_the_phrase(phrase: str, repository: Path, files: tuple[str, ...]) -> None:
    found = [
        name
        for name in files
        if name.startswith(PLACES)
        and name.endswith((".py", ".md", ".txt", ".jinja", ".js"))
        and phrase in " ".join((repository / name).read_text(encoding="utf-8").split())
    ]
    assert found == [], f"write: {PHRASES[phrase]}"


def test_offsets_name_both_ends(repository: Path, files: tuple[str, ...]) -> None:
    """Half-open ranges belong in JSON and in tables that say so."""
    golden = [name for name in files if name.startswith("tests/golden/") and name.endswith(".txt")]
    assert golden
    found = [name for name in golden if re.search(r"\[[0-9]+, [0-9]+\)", (repository / name).read_text("utf-8"))]
    assert found == []


def test_sentences_of_a_scan_are_short(repository: Path, files: tuple[str, ...]) -> None:
    """Blocks are told apart by their indentation; a quoted line, a command and a list of rules are no sentence."""
    long = []
    for name in (name for name in files if name.startswith("tests/golden/") and name.endswith(".txt")):
        story = (repository / name).read_text("utf-8").partition("\nEvidence\n")[0]
        blocks = re.split(r"\n(?= {0,4}\S| {2}\S| {12}cd )", story)
        for block in blocks:
            words = " ".join(
                line for line in block.splitlines() if not re.match(r" {14,}|  (violated|unknown) in", line)
            )
            long += [one for one in re.split(r"(?<=[.:;]) ", words) if len(one.split()) > LONGEST]
    assert long == []
