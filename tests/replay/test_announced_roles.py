"""A copy of a broker's log that broke off amid the roles that it announces: the end is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.coverage import Span
from parsers.file_reading import roles_due
from tests.incident import Incident, Node

TRANSITIONING = "Transitioning {} partition(s) to local followers."
HANDLING = "Handling LeaderAndIsr request correlationId 5 from controller 9 for {} partitions"
FOLLOWER = "Follower {} starts at leader epoch 1 from offset 80 with high watermark 80. Previous leader epoch was 0."
SKIPPED = (
    "Skipped the become-follower state change after marking its partition as follower with correlation id 5 from "
    "controller 9 epoch 1 for partition {} (last update controller epoch 1) since the new leader 2 is the same as the "
    "old leader"
)
FINISHED = "Finished LeaderAndIsr request in 5ms correlationId 5 from controller 9 for 2 partitions"
STARTED = "Started fetchers as part of become-follower for 2 partitions"


def says(node: Node, *texts: str) -> None:
    for text in texts:
        node.says(1.5, f"INFO [Broker id={node.number}] {text} (state.change.logger)", log="state-change")


def ended(folder: Path, *texts: str) -> set[int]:
    incident = Incident(folder)
    incident.begins(80)
    says(incident[3], *texts)
    coverage = incident.history().coverage
    return {broker for broker in (1, 2, 3) if coverage.is_shown_missing(broker, Span.AFTER)}


@pytest.mark.parametrize("announced", [TRANSITIONING, HANDLING])
def test_a_log_ends_before_all_roles_that_it_announces(announced: str, tmp_path: Path) -> None:
    assert ended(tmp_path / "none", announced.format(1)) == {3}
    assert ended(tmp_path / "one of two", announced.format(2), FOLLOWER.format("pay-0")) == {3}
    assert ended(tmp_path / "again", announced.format(1), FOLLOWER.format("pay-0"), announced.format(1)) == {3}


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param([TRANSITIONING.format(1), FOLLOWER.format("pay-0")], id="taken up"),
        pytest.param([HANDLING.format(1), SKIPPED.format("pay-0")], id="skipped"),
        pytest.param([HANDLING.format(2), FOLLOWER.format("pay-0"), FINISHED], id="finished"),
        pytest.param([TRANSITIONING.format(2), FOLLOWER.format("pay-0"), STARTED], id="fetchers started"),
        pytest.param([FOLLOWER.format("pay-0"), FOLLOWER.format("pay-1")], id="nothing announced"),
    ],
)
def test_a_log_states_all_roles_that_it_announces(texts: list[str], tmp_path: Path) -> None:
    assert ended(tmp_path, *texts) == set()


def test_roles_go_on_in_the_next_file_of_a_rotated_log(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(80)
    says(incident[3], TRANSITIONING.format(2), FOLLOWER.format("pay-0"))
    rotated = incident[3].folder / "logs" / "state-change.log"
    rotated.rename(rotated.with_name("state-change.log.1"))
    incident[3].says(
        1.6, f"INFO [Broker id=3] {FOLLOWER.format('pay-1')} (state.change.logger)", log="state-change"
    )  # fmt: skip
    assert not incident.history().coverage.is_shown_missing(3, Span.AFTER)


def test_roles_are_counted_over_the_parts_of_a_log() -> None:
    assert roles_due([(0, None), (3, None)]) == (3, None)
    assert roles_due([(1, 2), (2, None)]) == (1, 0)
    assert roles_due([(1, 5), (2, None), (1, 4), (1, None)]) == (1, 3)
