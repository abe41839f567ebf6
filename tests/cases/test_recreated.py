"""``recreated-4.0.0``: topics deleted and created again while broker 3, which has replicas of the old ones, is down.

Broker 3 comes back, finds the old replicas stray, leads some of the new ones, and loads both kinds when it starts once
more. Nothing is lost since the topics were created again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports import markdown, text
from forensics.reports.html.answer import answer
from forensics.result import Result

DATA = Path(__file__).parent / "data"
AGAIN = ("again-0", "again-1", "again-2", "again-3", "one-0", "one-1")


@cache
def scanned() -> Result:
    return scan([str(DATA / "recreated-4.0.0.tar.xz")])


def test_both_lives_of_each_topic_are_known() -> None:
    found = sorted((one.history.name, one.history.incarnation) for one in scanned().partitions)
    assert [one for one in found if one[0] in AGAIN] == [(name, life) for name in AGAIN for life in (0, 1)]


@pytest.mark.parametrize("rule", ["committed-data-lost", "truncation-below-committed", "leo-regression"])
def test_nothing_is_lost_and_nothing_is_open(rule: str) -> None:
    assert {one.judgements[rule].verdict.value for one in scanned().partitions} == {"clean"}


def test_replicas_of_a_topic_that_the_controllers_removed_are_no_problem() -> None:
    assert [problem.known.id for problem in scanned().problems] == []


def test_only_records_that_were_not_committed_were_truncated() -> None:
    (name,) = {one.topic for one in scanned().findings if one.rule == "uncommitted-truncation"}
    assert name == "keep"


def test_the_first_line_says_that_nothing_was_lost() -> None:
    """What is open of other rules, because the evidence has no data of internal topics, stands behind that."""
    first = text.render(scanned(), width=200).splitlines()[0]
    assert first.startswith(
        "INCONCLUSIVE: no committed data was lost, but replica-divergence cannot be ruled out in 3 of"
    )


def test_a_ticket_has_no_empty_sentence() -> None:
    assert "." not in markdown.render(scanned()).splitlines()


def test_the_page_has_no_empty_sentence() -> None:
    assert answer(scanned(), {}).after == ""
