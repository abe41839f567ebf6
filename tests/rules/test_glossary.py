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


def test_other_names_lead_to_a_word() -> None:
    assert {*SHORT.values()} <= {*GLOSSARY}
    assert not {*SHORT} & {*GLOSSARY}
