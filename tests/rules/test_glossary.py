"""Words of Kafka are explained to readers who do not know Kafka."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from forensics.cli import cli
from forensics.rules.glossary import GLOSSARY, SHORT, explained


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


def test_other_names_lead_to_a_word() -> None:
    assert {*SHORT.values()} <= {*GLOSSARY}
    assert not {*SHORT} & {*GLOSSARY}
