"""Questions that several rules ask of one partition are answered once, and not kept after the last rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import take_in
from forensics.replay.history import History, once
from forensics.replay.partitions import histories
from forensics.rules import RULES, judgements


def test_an_answer_is_computed_once_for_each_history(sample_traces: Path) -> None:
    asked: list[str] = []

    @once
    def question_of_a_test(history: History) -> int:
        asked.append(history.name)
        return len(asked)

    (one,) = histories(take_in([str(sample_traces / "kip101-0.10.2.2")]))
    assert (question_of_a_test(one), question_of_a_test(one), len(asked)) == (1, 1, 1)
    one.answers.clear()
    assert question_of_a_test(one) == 2


def test_no_two_questions_have_one_name() -> None:
    def losses(history: History) -> None:
        """Named like a question about the records that are gone."""

    with pytest.raises(AssertionError, match="losses"):
        once(losses)


def test_answers_are_dropped_once_all_rules_have_asked(sample_traces: Path) -> None:
    case = take_in([str(sample_traces / "kip101-0.10.2.2")])
    (one,) = histories(case)
    for rule in RULES:
        rule.judge(one, case)
    assert one.answers
    judgements(one, case)
    assert one.answers == {}
