"""Words of Kafka are explained to readers who do not know Kafka."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.rules import RULES
from forensics.rules.glossary import GLOSSARY, SHORT, explained

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize("word", [*GLOSSARY, *SHORT])
def test_a_word_is_explained_as_a_rule_is(word: str) -> None:
    for written in (word, word.upper()):
        shown = CliRunner().invoke(cli, ["explain", written])
        assert (shown.exit_code, shown.stdout) == (0, f"{explained(word)}\n")


def test_another_word_is_answered_with_the_nearest_rule() -> None:
    shown = CliRunner().invoke(cli, ["explain", "comited-data-lost"])
    assert shown.exit_code == 2
    assert "did you mean committed-data-lost?" in shown.output


def test_a_near_word_is_suggested_and_the_list_is_named() -> None:
    shown = CliRunner().invoke(cli, ["explain", "folower"])
    assert shown.exit_code == 2
    assert "did you mean follower? `forensics explain` lists them" in shown.output


def test_without_a_name_rules_and_words_are_listed() -> None:
    shown = CliRunner().invoke(cli, ["explain"])
    assert shown.exit_code == 0
    assert "  leo-regression              A replica's log became shorter" in shown.stdout
    words = shown.stdout.partition("Words:\n")[2].partition("\n\n")[0]
    assert {" ".join(word.split()) for word in words.split(",")} == {*GLOSSARY, *SHORT}


@pytest.mark.parametrize("said", ["COMMITTED DATA LOST", "committed-data-lost", " Committed  data lost"])
def test_a_rule_is_found_by_the_words_of_its_headline(said: str) -> None:
    shown = CliRunner().invoke(cli, ["explain", said])
    assert shown.stdout.startswith("The log of the partition's current leader lacks records")


@pytest.mark.parametrize(
    ("form", "word"), [("truncated", "truncate"), ("epochs", "leader epoch"), ("high watermarks", "high watermark")]
)
def test_other_forms_of_a_word_are_explained(form: str, word: str) -> None:
    assert explained(form) == GLOSSARY[word]


def test_a_name_that_begins_as_an_issue_does_is_none() -> None:
    assert explained("KAFKA-3410") == explained("KIP-101") == GLOSSARY["KIP"]
    assert explained("kafka-request.log") == GLOSSARY["kafka-request.log"]
    assert explained("kafka-of-somebody") is None


def test_other_names_lead_to_a_word() -> None:
    assert {*SHORT.values()} <= {*GLOSSARY}
    assert not {*SHORT} & {*GLOSSARY}


@pytest.mark.parametrize("number", ["KIP-101", "kip-966", "KAFKA-7128"])
def test_a_proposal_and_an_issue_are_explained_by_number(number: str) -> None:
    assert explained(number) == GLOSSARY["ELR" if number == "kip-966" else "KIP"]


def test_a_word_that_is_only_used_in_an_explanation_leads_there() -> None:
    shown = CliRunner().invoke(cli, ["explain", "cleanup.policy"])
    assert (shown.exit_code, "did you mean compaction, where it is used?" in shown.output) == (2, True)


def test_capital_letters_do_not_hide_what_is_near() -> None:
    assert "did you mean follower?" in CliRunner().invoke(cli, ["explain", "FOLOWER"]).output


_NOT_OF_KAFKA = {"UTC", "MB", "INFO", "WARN", "ERROR", "HOST", "PATH", "NAME", "GROUP", "RULE", "CLEAN", "WARNING"}


def test_each_abbreviation_of_a_screen_is_explained() -> None:
    """What rules shout in a headline is explained as a rule; this is about the words between."""
    shown = "".join(one.read_text(encoding="utf-8") for one in sorted(GOLDEN.glob("*.txt")))
    titles = {word for rule in RULES for word in rule.title.split()} | {"SUSPECTED:"}
    said = [line for line in shown.splitlines() if not titles & {*line.split()}]
    found = {word for line in said for word in re.findall(r"(?<![\w.-])[A-Z]{2,}(?![\w-])", line)}
    assert {"ISR", "CRC"} & found
    assert {one for one in found - _NOT_OF_KAFKA if explained(one) is None} == set()
