"""How long a log was: bounds, and what bears them out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History, Replica, Role, ShortenedLog
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.roles.log_ends import follower_end, left_end, log_end, next_end, reached_end, shortened_to
from forensics.replay.roles.steps import RoleSpan, Sample, Step, StepKind
from tests.covering import holed, whole

LINE, FILE = Ref(row=7), Ref(source=1, byte=100)


def history(*, end: int | None = 40) -> History:
    """Broker 2 leads epoch 0 to the end, and its files end there; broker 1 follows it from offset 30."""
    found = History(PartitionFacts("orders", 0))
    found.role_spans = {
        1: [RoleSpan(1, 0, 0, Role.FOLLOWER, 2, start_end=30, start_low=30, start_ref=LINE)],
        2: [RoleSpan(2, 0, 0, Role.LEADER, 2)],
    }
    found.replicas = {1: Replica(1, end=35), 2: Replica(2, end=end, end_refs=(FILE,))}
    found.epochs = LeaderEpochs({0: Epoch(0, leader=2, leader_took_up=True)})
    found.coverage = whole(1, 2)
    return found


def test_a_bound_names_the_file_or_line_that_shows_it() -> None:
    found = history()
    assert log_end(found, 2, 0) == Interval.at(40, FILE)
    found.role_spans[2].append(RoleSpan(2, 1, 0, Role.FOLLOWER, 1, start_end=38, start_low=38, start_ref=LINE))
    assert log_end(found, 2, 0) == Interval.at(38, LINE)


def test_nothing_bounds_the_log_of_an_unknown_replica() -> None:
    assert log_end(history(), None, 0) == log_end(history(), 3, 0) == log_end(history(), 2, 5) == Interval()


@pytest.mark.parametrize(("end", "most"), [(40, 40), (20, 30), (None, None)])
def test_a_follower_has_what_it_began_with_and_what_its_leader_has(end: int | None, most: int | None) -> None:
    found = history(end=end)
    assert follower_end(found, found.role_spans[1][0]) == most


def test_only_a_follower_is_bounded_by_its_leader() -> None:
    found = history()
    assert follower_end(found, found.role_spans[2][0]) is None
    assert follower_end(found, None) is None


def test_bounds_only_narrow() -> None:
    known = Interval(10, 40, (FILE,))
    assert known.at_least(5) is known
    assert known.at_most(50, LINE) is known
    assert known.at_least(20).at_most(20, LINE) == Interval.at(20, FILE, LINE)
    assert (known.exact, Interval.at(20).exact, Interval().exact) == (None, 20, None)


@pytest.mark.parametrize(
    ("leader", "shut_down", "most"),
    [(1, None, None), (1, 9, 40), (2, None, 40)],
    ids=["another leads, and it may have crashed", "it shut down", "nobody else was elected"],
)
def test_files_of_a_broker_that_may_have_crashed_bound_nothing(
    leader: int, shut_down: int | None, most: int | None
) -> None:
    """A power loss takes what was not flushed: the files of a broker that stays down may end below its log."""
    found = history()
    found.role_spans[2][0].shut_down = shut_down
    found.epochs[1] = Epoch(1, leader=leader, leader_took_up=True)
    assert log_end(found, 2, 0).high == most


def step(kind: StepKind, target: int, row: int, end: int | None = None) -> Step:
    return Step(kind, target, end, 0, None, 5, (Ref(row=row),))


def test_what_a_log_reached_is_exact_only_where_a_trace_claims_each_change() -> None:
    found = history()
    found.role_spans[2] = [RoleSpan(2, 0, 0, Role.LEADER, 2, end_low=40), RoleSpan(2, 0, 1, Role.LEADER, 2, end_low=35)]
    assert reached_end(found, 2, 0) == Interval(40)
    found.coverage = replace(whole(2), claimed=frozenset({2}))
    assert reached_end(found, 2, 0) == Interval.at(40)
    assert reached_end(found, 2, 1) == reached_end(found, None, 0) == Interval()


def test_a_role_leaves_what_the_next_load_or_the_next_role_finds() -> None:
    one = RoleSpan(2, 0, 0, Role.LEADER, 2)
    two = RoleSpan(2, 1, 0, Role.LEADER, 2, time=9, start_end=38, start_ref=LINE)
    assert left_end(one, None) is None
    assert left_end(one, two) == Sample(38, LINE, 9)
    one.steps = [step(StepKind.TRUNCATED, 20, 3), step(StepKind.LOADED, 30, 4)]
    assert left_end(one, two) == Sample(30, Ref(row=4), 5)


def test_a_load_shows_no_end_of_a_log_that_others_show_to_have_been_longer() -> None:
    """Nothing is recovered after a clean stop, nor of a copy that a clean stop had left."""
    found = history()
    loaded = step(StepKind.LOADED, 30, 4)
    found.role_spans[2] = [RoleSpan(2, 0, 0, Role.LEADER, 2, steps=[loaded]), RoleSpan(2, 1, 1, Role.LEADER, 2)]
    assert log_end(found, 2, 0) == Interval.at(30, *loaded.refs)
    found.shortened_logs = [ShortenedLog(2, 0, Interval(35), 30, Lineage(), 5, loaded.refs)]
    assert log_end(found, 2, 0).high is None


def test_the_log_after_a_role_was_as_short_as_any_line_says() -> None:
    found = history()
    assert next_end(found, 2, 0) == Interval()
    after = RoleSpan(2, 1, 0, Role.FOLLOWER, 1, start_end=38, steps=[step(StepKind.TRUNCATED, 20, 8, end=36)])
    found.role_spans[2].append(after)
    assert next_end(found, 2, 0) == Interval(high=36)  # what it was truncated to is of the time after
    found.role_spans[2][0].steps = [step(StepKind.LOADED, 33, 4)]
    assert next_end(found, 2, 0) == Interval(high=33)


def test_a_log_is_shortened_by_removals_and_may_be_where_lines_are_missing() -> None:
    found = history()
    led = found.role_spans[2][0]
    led.steps = [step(StepKind.LOADED, 5, 3), step(StepKind.TRUNCATED, 20, 4), step(StepKind.CREATED, 0, 6)]
    assert shortened_to(found, [led], until=6) == 20  # a load shows what there was, and removes nothing
    assert shortened_to(found, [led]) == 0
    led.steps = led.steps[:1]
    assert shortened_to(found, [led]) is None
    found.coverage = holed(found.coverage, 2)
    assert shortened_to(found, [led]) == 0
