"""Restarts of all brokers within half a minute."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.case import Case
from forensics.case.restarts import SPAN, apart, controllers_too, together
from forensics.engines.local import take_in
from tests.conftest import NO_EVIDENCE, evidence_root

SOON = SPAN


@pytest.fixture(scope="module")
def case(sample_traces: Path) -> Case:
    return take_in([str(sample_traces / "unclean-3.9.1")])


def started(case: Case, starts: dict[int, list[int]]) -> list[tuple[int, int]]:
    """The first and last of the restarts, where the brokers started at these times."""
    for broker, times in starts.items():
        case.brokers[broker].starts[:] = times
    return [(one.first, one.last) for one in together(case)]


def test_restarts_of_all_brokers_of_a_recorded_cluster(case: Case) -> None:
    (one,) = together(case)
    assert one.brokers == (1, 2, 3)
    assert round((one.last - one.first) / 1e6) == 9


def test_only_restarts_of_all_soon_after_each_other_count(case: Case) -> None:
    begun = {1: [0], 2: [1], 3: [2]}
    hour = 120 * SOON
    assert started(case, begun) == []  # nothing shows that they ran before
    assert started(case, {1: [0, hour], 2: [1, hour + SOON], 3: [2, hour + 5]}) == [(hour, hour + SOON)]
    assert started(case, {1: [0, hour], 2: [1, hour + SOON + 1], 3: [2, hour + 5]}) == []
    assert started(case, {1: [0, hour], 2: [1, hour], 3: [2]}) == []
    twice = {broker: [0, hour + broker, 2 * hour + broker] for broker in (1, 2, 3)}
    assert started(case, twice) == [(hour + 1, hour + 3), (2 * hour + 1, 2 * hour + 3)]


def test_of_two_restarts_of_one_broker_the_nearer_one_counts(case: Case) -> None:
    hour, second = 120 * SOON, SOON // 30
    starts = {1: [0, hour + 20 * second], 2: [1, hour + 24 * second], 3: [2, hour, hour + 31 * second]}
    assert started(case, starts) == [(hour + 20 * second, hour + 31 * second)]
    assert apart(case, together(case)) == [(hour, 3)]


def test_controllers_that_restart_within_a_minute_are_named(case: Case) -> None:
    hour, minute = 120 * SOON, 2 * SOON
    started(case, {1: [0, hour], 2: [1, hour], 3: [2, hour + 5]})
    (one,) = together(case)
    (controller,) = (node for node in case.brokers.values() if node.only_controls)
    for starts, expected in (([7], []), ([7, hour - minute], [controller.id]), ([7, hour - minute - 1], [])):
        controller.starts[:] = starts
        assert controllers_too(case, one) == expected
    controller.starts[:] = [hour]  # its first start: nothing shows that it ran before
    assert controllers_too(case, one) == []


def test_other_restarts_are_those_of_one_broker_alone(case: Case) -> None:
    hour = 120 * SOON
    started(case, {1: [0, hour], 2: [1, hour // 2, hour], 3: [2, hour + 5, 2 * hour]})
    assert apart(case, together(case)) == [(hour // 2, 2), (2 * hour, 3)]


def test_a_broker_without_a_replica_does_not_count() -> None:
    """Broker 9 of this cluster is a controller that has no data, and was never restarted."""
    root = evidence_root()
    if root is None or not (root / "unclean-2.8.2").is_dir():
        pytest.skip(NO_EVIDENCE)
    (one,) = together(take_in([str(root / "unclean-2.8.2")]))
    assert (one.brokers, one.others) == ((1, 2, 3), (9,))
