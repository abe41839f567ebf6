"""Texts for users: no phrase that readers had to read twice, no private word, and short sentences.

Users read what a scan prints, the pages of ``forensics explain``, causes, known problems, help texts and the docs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from forensics.cli import COMMANDS, cli
from forensics.rules import RULES
from forensics.rules.causes import CAUSES
from forensics.rules.known_problems import KNOWN_PROBLEMS
from forensics.rules.wording import SENTENCES, STATED
from tests.house.test_words import PRIVATE

PHRASES = {
    "with which it returned": "restarted with high watermark 80",
    "still held by": "broker 1 still has them",
    "its lines do not lead to": "its log lines do not reach",
    "no line tells": "no log line names it",
    "would settle what is unknown": "Collect this to get an answer:",
    "see unknown below": "INCONCLUSIVE: …; what to collect is listed below",
    "clean everywhere": "found no violation",
    "files of other kinds": "files ignored (type not recognised)",
    "printed times read as": "timestamps without a zone were read as",
    "silent: no line": "(no log lines until restart)",
    "do not keep one distance": "broker 2's log times are 9 h 0 m off: wrong --tz?",
    "the election is called unclean": "the controller elected broker N and logged the election as unclean",
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

LONGEST = 25
"""Words in a sentence that a scan prints, without the lists of rules."""


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


# -- texts for users -----------------------------------------------------------------------------------------------

WORDS = 25
"""Words in a sentence of a text for users. A list after a colon is a sentence of its own."""

PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/")
WRITTEN_ELSEWHERE = ("docs/messages.md",)  # Kafka's own words

KNOWN = {"docs/trace-format.md": (10, 3), "docs/walkthroughs/": (0, 0)}
"""Private words and long sentences that are left. The numbers may only become less; other texts have none."""

CODE = re.compile(r"``.*?``|`[^`\n]*`", re.DOTALL)


def plain(text: str) -> str:
    """A text without code, and without what has the form of Markdown."""
    text = re.sub(r"(?ms)^ *```.*?^ *```\n?", "\n", text)
    text = re.sub(r"(?s)<!--.*?-->|\{\w+\}", "", text)
    text = re.sub(r"(?m)^(#+ .*)$", r"\1\n", text)
    return re.sub(r"\]\([^)]*\)", "]", CODE.sub("\u2026", text))


def blocks(text: str) -> Iterator[str]:
    """Paragraphs, items of lists and cells of tables."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\. ))", plain(text)):
        stripped = block.strip()
        yield from stripped.strip("|").split("|") if stripped.startswith("|") else [" ".join(block.split())]


def wrong_words(text: str) -> list[str]:
    """Private words, with what to write instead."""
    return [
        f"{match[0]!r}: write {private.instead}"
        for block in blocks(text)
        for private in PRIVATE
        for match in re.finditer(private.regex, block, re.IGNORECASE)
    ]


def long_sentences(text: str) -> list[str]:
    """Sentences with more than ``WORDS`` words; code is no word."""
    return [
        sentence
        for block in blocks(text)
        for sentence in re.split(r"(?<=[.!?:;])\s+", block)
        if len([word for word in sentence.split() if re.search(r"\w", word)]) > WORDS
    ]


def explained() -> dict[str, str]:
    """Texts of rules, causes and known problems, and sentences about what is wanted."""
    found = {f"explain {rule.id}": f"{rule.summary}\n\n{rule.help.text}" for rule in RULES}
    found |= {f"cause {one.id}": f"{one.text}.\n\n{one.versions}.\n\n{one.prevention}." for one in CAUSES}
    for one in KNOWN_PROBLEMS:
        texts = (one.title, one.states, one.means, *one.fetch, one.records.value)
        found[f"known problem {one.id}"] = "\n\n".join(texts)
    found |= {f"want {question.name}": text for question, text in SENTENCES.items()}
    return found | {f"high watermark {source.name}": text for source, text in STATED.items()}


def helped() -> dict[str, str]:
    """Help texts of commands and options."""
    found = {f"line of {name}": line for name, (_, line) in COMMANDS.items()}
    for name in ("", *COMMANDS):
        command = cli.get_command(click.Context(cli), name) if name else cli
        assert command is not None
        options = [one.help or "" for one in command.params if isinstance(one, click.Option)]
        found[f"help of {name}"] = "\n\n".join([command.help or "", *options])
    return found


def pages(repository: Path, files: tuple[str, ...]) -> dict[str, str]:
    """What is to be read beside the program."""
    return {
        name: (repository / name).read_text(encoding="utf-8")
        for name in files
        if name.startswith(PAGES) and name.endswith(".md") and not name.startswith(WRITTEN_ELSEWHERE)
    }


def faults(texts: dict[str, str]) -> dict[str, list[str]]:
    """What is wrong in texts, beyond what is known of each."""
    found = {}
    for name, text in texts.items():
        words, long = wrong_words(text), long_sentences(text)
        known = next((counts for start, counts in KNOWN.items() if name.startswith(start)), (0, 0))
        found[name] = [*(words if len(words) > known[0] else ()), *(long if len(long) > known[1] else ())]
    return {name: wrong for name, wrong in found.items() if wrong}


def test_explanations_are_plain() -> None:
    assert faults(explained()) == {}


def test_help_texts_are_plain() -> None:
    assert faults(helped()) == {}


def test_pages_are_plain(repository: Path, files: tuple[str, ...]) -> None:
    texts = pages(repository, files)
    assert {"README.md", "docs/logs.md", "docs/adr/0004-three-valued-verdicts.md"} <= set(texts)
    assert faults(texts) == {}


WAS = (
    "Producers with acks=all were told that these records are safe, and consumers may have read them.",
    "A leader's uncommitted tail was cut after a failover (acks=0/1).",
    "Where the role lines of a replica are not all at hand, the answer is violated or unknown.",
    "An election whose ISR nobody tells is neither clean nor a hit.",
    "a replica came back without the end of its log: power loss or a crash of the host",
    "`--tz` stands over what a collector's times tell",
    "What is done with damaged evidence: reading goes on, and a notice says so.",
    "word " * 24 + "and one more word",
)
"""Texts of this program as they were once."""


@pytest.mark.parametrize("text", WAS)
def test_what_was_written_once_would_fail(text: str) -> None:
    assert faults({"": text}) != {}


def test_code_and_lists_are_no_long_sentences() -> None:
    assert faults({"": "Run `told cut anew` " + "word " * 23 + "end."}) == {}
    assert faults({"": "| " + "word " * 20 + "| " + "word " * 20 + "|"}) == {}
    assert faults({"": "```sh\ntold\n```\n- one\n- two"}) == {}
    assert faults({"": "word " * 26}) != {}
