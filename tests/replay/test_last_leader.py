"""When the last leader that the evidence names is known to have led to the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import EpochRollback, History, Role, Truncation, TruncationReason
from forensics.replay.interval import Interval
from forensics.replay.leader_epochs import Epoch, LeaderEpochs
from forensics.replay.lineage import Lineage
from forensics.replay.omissions.last_leader import elections_complete, last_leader, maybe_controllers, roles_not_seen
from forensics.replay.omissions.unknown_writers import UNKNOWN_WRITER
from forensics.replay.partition_protocol import PartitionProtocol
from forensics.replay.roles.steps import RoleSpan
from tests.covering import whole, without

LINE = Ref(row=1)
BOTH = frozenset({1, 2})
NO_DATA: frozenset[int] = frozenset()


def history() -> History:
    """Broker 1 led epoch 0 and broker 2 leads epoch 1; every line of both is in the evidence."""
    found = History(PartitionFacts("orders", 0), coverage=whole(1, 2))
    found.epochs = LeaderEpochs(
        {
            number: Epoch(number, leader=leader, leader_took_up=True, isr=[(BOTH, LINE)])
            for number, leader in enumerate((1, 2))
        }
    )
    found.role_spans = {2: [RoleSpan(2, 1, 1, Role.LEADER, leader=2, refs=[LINE])]}
    return found


def roles_missing(found: History) -> None:
    found.coverage = without(found.coverage, 1, Printed.ROLES)


def epochs_back(found: History) -> None:
    found.epoch_rollbacks = [EpochRollback("leader epoch 1 came again", 1, None, (LINE,))]


def two_leaders(found: History) -> None:
    found.epochs[1].other_leaders = {1: LINE}


def written_by_another(found: History) -> None:
    found.coverage = found.coverage.lowered([UNKNOWN_WRITER.of(1, {"broker": 1, "first": 10})])


def truncated_unseen(found: History) -> None:
    reason = TruncationReason.UNKNOWN
    found.truncations_of_unknown_extent = [
        Truncation(2, -1, None, 10, Interval(10), Lineage(), reason, None, (LINE,)),
    ]


def no_leader(found: History) -> None:
    found.epochs = LeaderEpochs({0: Epoch(0, leader=-1)})


@pytest.mark.parametrize(
    "happens", [roles_missing, epochs_back, two_leaders, written_by_another, truncated_unseen, no_leader]
)
def test_a_later_leader_may_have_followed(happens: Callable[[History], None]) -> None:
    found = history()
    assert last_leader(found, NO_DATA) == 2
    happens(found)
    assert last_leader(found, NO_DATA) is None


def test_elections_by_controllers_replace_the_roles_of_a_replica() -> None:
    found = history()
    roles_missing(found)
    found.coverage = found.coverage.with_elections(True)
    assert roles_not_seen(found) == [1]
    assert last_leader(found, NO_DATA) == 2
    assert not elections_complete(found, 2, [1]), "broker 1 may have been the next controller"
    found.coverage = without(found.coverage, 2, Printed.ROLES)
    assert last_leader(found, NO_DATA) is None, "the lines of the last leader may end before those of the controllers"


@pytest.mark.parametrize(
    ("kraft", "with_data", "electors"), [(False, NO_DATA, [1]), (False, frozenset({1}), []), (True, NO_DATA, [])]
)
def test_with_zookeeper_a_broker_without_any_evidence_may_be_the_next_controller(
    kraft: bool, with_data: frozenset[int], electors: list[int]
) -> None:
    found = history()
    found.protocol = PartitionProtocol(kraft=kraft)
    found.coverage = whole(2)
    assert maybe_controllers(found, with_data) == electors
