"""``forensics rules`` and ``forensics explain``: the rules in their own words, each told in the same six parts."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from forensics.cli import cli
from forensics.pages import PAGES
from forensics.rules import RULES
from forensics.rules.finding import Rule, Severity
from forensics.rules.glossary import explained
from tests.cli.conftest import Run

PARTS = ["What it finds", "Why it matters", "Evidence", "Not a finding when", "Versions", "What to do"]


def parts_of(doc: str) -> dict[str, str]:
    """Heading to text, and the first line under an empty heading."""
    first, *rest = re.split(r"^## (.+)$", doc.strip(), flags=re.MULTILINE)
    return {"": first.strip()} | {rest[n].strip(): rest[n + 1].strip() for n in range(0, len(rest), 2)}


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_is_explained_in_six_parts(rule: Rule, run: Run) -> None:
    ran = run("explain", rule.id)
    assert (ran.code, ran.err) == (0, "")
    told = parts_of(ran.out)
    assert list(told) == ["", *PARTS]
    assert all(len(text.split()) >= (1 if part == "Versions" else 4) for part, text in told.items()), told
    assert told[""].endswith(".")
    assert "\n" not in told[""]


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_explains_itself_in_values(rule: Rule) -> None:
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert [part.value for part in rule.help.parts] == PARTS
    for paragraphs in rule.help.parts.values():
        assert paragraphs
        for paragraph in paragraphs:
            assert paragraph == paragraph.strip() != ""
            assert "\n\n" not in paragraph
            assert not paragraph.startswith("#")
            assert paragraph.endswith(".")
            assert paragraph.count("``") % 2 == 0


def test_every_rule_is_listed_with_its_severity(run: Run) -> None:
    lines = run("rules").out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]
    for line, rule in zip(lines, RULES, strict=True):
        assert Severity(line.split()[1]) is rule.severity
        assert line.endswith(rule.summary)


def texts(command: click.Command, context: click.Context) -> dict[str, str]:
    """The help of a command and of those below it, by their names."""
    found = {context.command_path: command.get_help(context)}
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        one = command.get_command(context, name)
        assert one is not None
        found |= texts(one, click.Context(one, context, name, terminal_width=10_000, max_content_width=10_000))
    return found


def test_a_help_text_names_no_file_that_a_wheel_lacks(run: Run) -> None:
    every = texts(cli, click.Context(cli, info_name="forensics"))
    assert len(every) > 10
    assert {name for name, text in every.items() if re.search(r"docs/|packaging/|README", text)} == set()
    named = {word for text in every.values() for word in re.findall(r"`forensics explain ([a-z-]+)`", text)}
    assert named >= {"outputs", "schedules", "trace-format", "damaged-evidence"}
    for word in named:
        assert run("explain", word).code == 0


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_printed_as_it_is(name: str, run: Run, repository: Path) -> None:
    assert run("explain", name).out == (repository / PAGES[name]).read_text("utf-8").rstrip() + "\n"
    assert explained(name) is None
    assert name not in {rule.id for rule in RULES}


def test_an_unexplained_part_is_seen() -> None:
    assert list(parts_of("A.\n\n## What it finds\nx\n\n## Versions\nAll.\n")) == ["", "What it finds", "Versions"]


def test_a_name_of_several_words_needs_no_quotes(run: Run) -> None:
    quoted = run("explain", "high watermark")
    assert quoted.code == 0
    assert run("explain", "high", "watermark").out == quoted.out
    assert "no name 'heigh watermark'; did you mean high watermark?" in run("explain", "heigh", "watermark").err
