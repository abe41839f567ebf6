"""Steps that one story gives for several partitions: what differs for one of them is told for it alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from forensics.reports.groups import alike, only_some, own_notes, own_steps, steps_of
from forensics.reports.incidents import Incident, nearly
from forensics.rules.finding import FIRST, HERE, NUMBER, TOPIC, Action, Fact, Finding, Severity, States, advised

ASK = f"ask the owners of {HERE}"
RESET = Action(f"to reset such a group to offset {FIRST}, stop it first:", f"reset {TOPIC}:{NUMBER} --to {FIRST}")


def lost(name: str, first: int, steps: Sequence[str | Action] = (ASK, RESET)) -> Incident:
    """Offsets ``[first, 80)`` of a partition are lost."""
    topic, _, number = name.partition("-")
    said = advised(name, next_steps=steps, lost=[(first, 80)], reset_to=first)
    found = Finding("committed-data-lost", Severity.CRITICAL, topic, int(number), "", offsets=((first, 80),), **said)
    return Incident(found)


def own(*group: Incident) -> list[tuple[str, str | None]]:
    return [(step.text, step.command) for step in own_steps(group)]


def test_equal_steps_are_told_once() -> None:
    assert own(lost("orders-0", 50), lost("orders-1", 50)) == []


def test_another_offset_to_begin_at_is_in_the_table() -> None:
    group = lost("orders-0", 50), lost("orders-1", 60)
    assert own(*group) == []
    assert alike(group) == [
        ("partition", "offsets", "records", "reset to"),
        ("orders-0", "50 to 79", "30 offsets", "50"),
        ("orders-1", "60 to 79", "20 offsets", "60"),
    ]
    assert [step.text for step in steps_of(group, group[0].lead.next_steps)] == [
        "ask the owners of orders-0",
        (
            "do that for the other partition too (its values are in the table above) before you go on, and likewise "
            "with each step below"
        ),
        "to reset such a group to offset 50, stop it first:",
    ]


def test_another_time_of_the_same_offsets_is_in_the_table() -> None:
    """Times are whole seconds, outwards. The day is there where it is not the same."""
    one, same, later, tomorrow = (
        Incident(replace(lost(f"orders-{number}", 50).lead, written=(start * 1_000, end * 1_000)))
        for number, (start, end) in enumerate([(1_001, 2_001), (1_999, 2_999), (500, 2_000), (86_400_000, 86_400_001)])
    )
    assert alike((one, same)) == []
    assert alike((one, later))[1:] == [
        ("orders-0", "50 to 79", "30 offsets", "50", "00:00:01 to 00:00:03"),
        ("orders-2", "50 to 79", "30 offsets", "50", "00:00:00 to 00:00:02"),
    ]
    assert [row[-3:] for row in alike((one, tomorrow))] == [
        ("day written", "reset to", "written (UTC)"),
        ("1970-01-01", "50", "00:00:01 to 00:00:03"),
        ("1970-01-02", "50", "00:00:00 to 00:00:01"),
    ]


def test_a_step_of_several_other_partitions_is_told_once() -> None:
    copy = f"copy {HERE}"
    group = [lost("orders-0", 50), *(lost(f"orders-{number}", 50, [ASK, RESET, copy]) for number in (1, 2, 4))]
    assert own(*group) == [("for orders-1, and likewise for orders-2, orders-4: copy orders-1", None)]


def test_a_step_with_values_of_one_partition_is_general() -> None:
    """Its words name brokers and offsets, and it is the same step for both."""
    one, other = (
        lost(f"orders-{number}", 50, [Action(f"find out whether broker {number} had {HERE}", general="find out")])
        for number in (1, 2)
    )
    assert own(one, other) == []


def test_a_note_of_some_partitions_names_them() -> None:
    """Topics have settings of their own; which brokers were in the ISR is no difference."""

    def noted(name: str, isr: str, least: int) -> Incident:
        text, needs = f"the ISR was {isr}, and min.insync.replicas was {least}", f"min.insync.replicas was {least}"
        fact = Fact(text, states=States.CONTEXT, general=needs)
        return Incident(replace(lost(name, 50).lead, facts=(fact,)))

    group = [noted("on-0", "[1]", 1), noted("on-1", "[2]", 1), *(noted(f"safe-{n}", "[1,2]", 2) for n in (0, 1))]
    assert own_notes(group) == ["for safe-0, safe-1: the ISR was [1,2], and min.insync.replicas was 2"]
    assert own_notes(group[:2]) == []


def test_what_happened_at_another_time_is_apart() -> None:
    """All partitions lost records in two outages, a minute apart: two stories, the earlier one first."""

    def at(name: str, second: int) -> Incident:
        began = Fact("became leader", broker=2, time=second * 1_000_000, states=States.EPOCH_START)
        return Incident(replace(lost(name, 50).lead, facts=(began,)))

    found = [at("orders-0", 100), at("orders-0", 40), at("orders-1", 110), at("orders-1", 41), at("orders-2", 125)]
    told = [[(one.lead.partition, one.moment) for one in group] for group in nearly(found)]
    assert told == [
        [(0, 40_000_000), (1, 41_000_000)],
        [(0, 100_000_000), (1, 110_000_000), (2, 125_000_000)],
    ]


def test_a_rule_that_only_some_of_a_group_violate_is_named() -> None:
    one, two = lost("orders-0", 50), lost("orders-1", 60)
    two.others.append(Finding("hw-regression", Severity.WARNING, "orders", 1, "", offsets=((60, 80),)))
    assert nearly([one, two]) == [[one, two]]
    assert only_some([one, two]) == ["in orders-1 also high watermark went back (hw-regression)"]


def test_a_command_that_is_not_for_a_partition_is_left_out_there() -> None:
    assert own(lost("orders-0", 50), lost("orders-1", 50, [ASK])) == [
        ("for orders-1: leave out the step of orders-0 that has a command, which is not for it", None)
    ]


def test_a_command_of_its_own_takes_the_place_of_the_first_ones() -> None:
    other = Action(f"ask the tool about {HERE}:", f"ask {TOPIC}")
    assert own(lost("orders-0", 50), lost("orders-1", 50, [ASK, other])) == [
        ("for orders-1: ask the tool about orders-1:", "ask orders")
    ]


def test_a_table_without_room_has_what_steps_need() -> None:
    first, other = (
        Incident(replace(lost(f"orders-{number}", 50 + number).lead, epochs=(1, 2), replicas=(3,))) for number in (0, 1)
    )
    heads = {room: alike((first, other), room)[0] for room in (None, 80, 50, 10)}
    needed = ("partition", "offsets", "records", "reset to")
    assert heads == {
        None: (*needed[:3], "epochs", "broker", needed[3]),
        80: (*needed[:3], "epochs", "broker", needed[3]),
        50: (*needed[:3], "broker", needed[3]),
        10: needed,
    }


def test_a_step_about_what_all_have_in_common_is_not_repeated() -> None:
    check = "check broker 3's host for a power failure"
    one = lost("a-0", 50, [check]), lost("a-1", 60, [check])
    assert [step.text for step in steps_of(one, one[0].lead.next_steps)] == [check]
    two = lost("a-0", 50, [ASK]), lost("a-1", 60, [ASK])
    assert [step.text for step in steps_of(two, two[0].lead.next_steps)][1:] == ["do the same for the other partition"]
