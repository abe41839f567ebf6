"""A reader at night does not read the same twice: equal advice, equal restarts, and one ISR in two steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from forensics.reports import remarks
from forensics.reports.text import render
from forensics.result import Result
from forensics.rules.finding import Fact
from forensics.rules.unclean_election import _before
from tests.incident import Incident
from tests.rules.test_group_resets import two_losses


def test_equal_advice_of_two_incidents_is_printed_once(case: Callable[[str], Result]) -> None:
    result = case("incarn-4.1.1")
    text = render(result, width=200)
    assert "  Do first    the same as for __consumer_offsets-0, see above\n  2026-11-24, times in UTC" in text
    lone = [one for one in result.findings if one.topic == "stock"]
    assert "see above" not in render(replace(result, findings=lone), width=200)


def test_restarts_without_a_clean_stop_are_named_together(tmp_path: Path) -> None:
    incident = two_losses(tmp_path)
    incident[1].starts(300, killed=True)
    incident[2].starts(400, killed=True)
    _, besides = remarks.restarted(incident.scan())
    assert besides == (
        "besides, broker 1 started at 12:05:00 and broker 2 started at 12:06:40, and no line before shows a clean stop "
        "of either"
    )


def test_restarts_of_some_brokers_are_named_where_all_of_them_never_restarted_together(tmp_path: Path) -> None:
    unclean = (
        "INFO Attempting recovery for all logs in /d since no clean shutdown file was found (kafka.log.LogManager)"
    )
    alone = Incident(tmp_path / "alone")
    alone.elects(1, 0, 1, [1, 2])
    alone[1].creates(1).leads(1, 0, 0, 0, [1, 2])
    alone[2].creates(1).follows(1, 0, 1, 0, 0)
    alone[1].starts(20, killed=True).says(21, unclean)
    (said,) = remarks.restarted(alone.scan())
    assert said.startswith("restarts on ")
    assert said.endswith(" (UTC): broker 1 started at 12:00:20 after an unclean stop")
    lost = two_losses(tmp_path / "lost")
    lost[1].starts(800, killed=True).says(801, unclean)
    assert not [text for text in remarks.restarted(lost.scan()) if text.startswith("restarts on ")]


def test_an_isr_that_the_election_names_is_no_step_after_it() -> None:
    """Another broker may log the ISR before an election later than the controller logs the election."""
    changes = [Fact("shrank", isrs=((1, 2), (1,))), Fact("elected 2", isrs=((1,), (2,)))]
    last = Fact("the last ISR was [1]", isrs=((1,),))
    assert _before(changes, [last]) == changes
    other = Fact("the last ISR was [3]", isrs=((3,),))
    assert _before(changes, [other]) == [*changes, other]
    led = replace(last, broker=1)
    assert _before(changes, [led]) == [*changes, led]
    assert _before([], [last]) == [last]
