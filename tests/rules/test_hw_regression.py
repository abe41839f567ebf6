"""The words for each way in which a high watermark went back."""

from __future__ import annotations

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Regression, RegressionKind
from forensics.rules.causes import CauseId
from forensics.rules.finding import Severity
from forensics.rules.hw_regression import _WORDS, _finding


def regression(kind: RegressionKind, after: int, before: int = 80) -> Regression:
    return Regression(1, 2, before, after, kind, None, (Ref(row=5, note="a line about a {directory}"),))


@pytest.mark.parametrize(
    ("place", "one", "summary", "fact"),
    [
        (
            0,
            regression(RegressionKind.MOVED, 0),
            (
                "broker 1 restarted with its log in another directory. The checkpoint file there has no high watermark "
                "of this partition; it was 80 or higher before"
            ),
            "a line about a {directory}",
        ),
        (
            1,
            regression(RegressionKind.CHECKPOINT, 50),
            "broker 1 restarted after a clean stop with high watermark 50; it was 80 or higher before",
            "restarted with high watermark 50; before the stop it was 80 or higher",
        ),
        (
            2,
            regression(RegressionKind.CHECKPOINT, 0, before=0),
            "broker 1 restarted with records but without its checkpointed high watermark",
            "restarted without a checkpointed high watermark, although its log has records",
        ),
        (
            3,
            regression(RegressionKind.CHECKPOINT_FILE, 50),
            "broker 1 restarted with high watermark 50; its checkpoint file had 80",
            "restarted with high watermark 50; its checkpoint file had 80",
        ),
        (
            4,
            regression(RegressionKind.PROCESS, 50),
            (
                "the high watermark of broker 1 fell from 80 to 50 within one process; it did not follow a leader in "
                "between"
            ),
            "had high watermark 80, then 50",
        ),
        (
            5,
            regression(RegressionKind.FOLLOWER, 50),
            (
                "the high watermark of broker 1, a follower, fell from 80 to 50 within leader epoch 2; that of its "
                "leader did not fall"
            ),
            "had received high watermark 80 from its leader, then had 50",
        ),
        (
            6,
            regression(RegressionKind.LED_ON, 50),
            "the high watermark of broker 1 fell from 80 to 50 as it led on, in leader epoch 2",
            "had high watermark 80, then 50 as it took up leader epoch 2",
        ),
        (
            7,
            regression(RegressionKind.LEADER, 50),
            "the high watermark of broker 1, the leader, fell from 80 to 50 within leader epoch 2",
            "had high watermark 80, then 50",
        ),
    ],
)
def test_the_first_words_that_fit_are_used(place: int, one: Regression, summary: str, fact: str) -> None:
    words = _WORDS[place][1]
    assert next(at for at, (fit, _) in enumerate(_WORDS) if fit(one)) == place
    found = _finding(History(PartitionFacts("orders", 0)), [one, one])
    assert (found.summary, found.facts[0].text, found.count) == (summary, fact, 2)
    assert (found.severity, found.cause) == (words.severity, words.cause)
    assert "{" not in found.next_steps[0].text


def test_each_kind_has_words() -> None:
    kinds = [regression(kind, after) for kind in RegressionKind for after in (0, 50)]
    assert {next(at for at, (fit, _) in enumerate(_WORDS) if fit(one)) for one in kinds} == {*range(len(_WORDS))}
    assert [words.severity for _, words in _WORDS] == [Severity.WARNING, *[Severity.ERROR] * 7]
    assert [words.cause for _, words in _WORDS] == [*[CauseId.MANUAL_EDIT] * 4, *[CauseId.UNKNOWN] * 4]
