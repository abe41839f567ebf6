"""How long a log was: bounds, and what bears them out."""

from __future__ import annotations

import pytest

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import Epoch, History, Replica, Role
from forensics.replay.interval import Interval
from forensics.replay.roles.log_ends import follower_end, log_end
from forensics.replay.roles.steps import RoleSpan
from tests.covering import whole

LINE, FILE = Ref(row=7), Ref(source=1, byte=100)


def history(*, end: int | None = 40) -> History:
    """Broker 2 leads epoch 0 to the end, and its files end there; broker 1 follows it from offset 30."""
    found = History(PartitionFacts("orders", 0))
    found.role_spans = {
        1: [RoleSpan(1, 0, 0, Role.FOLLOWER, 2, start_end=30, start_low=30, start_ref=LINE)],
        2: [RoleSpan(2, 0, 0, Role.LEADER, 2)],
    }
    found.replicas = {1: Replica(1, end=35), 2: Replica(2, end=end, end_refs=(FILE,))}
    found.epochs = {0: Epoch(0, leader=2, leader_took_up=True)}
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
