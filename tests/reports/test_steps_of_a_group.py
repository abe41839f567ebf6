"""Steps that one story gives for several partitions: what differs for one of them is told for it alone."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.reports.incidents import Incident
from forensics.reports.titles import own_steps
from forensics.rules.finding import FIRST, HERE, NUMBER, TOPIC, Action, Finding, Severity, advised

ASK = f"ask the owners of {HERE}"
RESET = Action(f"to reset such a group to offset {FIRST}, stop it first:", f"reset {TOPIC}:{NUMBER} --to {FIRST}")


def lost(name: str, first: int, steps: Sequence[str | Action] = (ASK, RESET)) -> Incident:
    """Offsets ``[first, 80)`` of a partition are lost."""
    topic, _, number = name.partition("-")
    said = advised(name, next_steps=steps, lost=[(first, 80)])
    found = Finding("committed-data-lost", Severity.CRITICAL, topic, int(number), "", offsets=((first, 80),), **said)
    return Incident(found)


def own(*group: Incident) -> list[tuple[str, str | None]]:
    return [(step.text, step.command) for step in own_steps(group, 9)]


def test_equal_steps_are_told_once() -> None:
    assert own(lost("orders-0", 50), lost("orders-1", 50)) == []


def test_another_offset_to_begin_at_is_told_for_its_partition() -> None:
    assert own(lost("orders-0", 50), lost("orders-1", 60)) == [
        ("for orders-1: to reset such a group to offset 60, stop it first:", "reset orders:1 --to 60")
    ]


def test_a_command_that_is_not_for_a_partition_is_left_out_there() -> None:
    assert own(lost("orders-0", 50), lost("orders-1", 50, [ASK])) == [
        (
            "for orders-1: leave out the step of orders-0 with this command, which is not for it:",
            "reset orders:0 --to 50",
        )
    ]


def test_a_command_of_its_own_takes_the_place_of_the_first_ones() -> None:
    other = Action(f"ask the tool about {HERE}:", f"ask {TOPIC}")
    assert own(lost("orders-0", 50), lost("orders-1", 50, [ASK, other])) == [
        ("for orders-1: ask the tool about orders-1:", "ask orders")
    ]
