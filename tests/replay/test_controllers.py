"""Brokers that received more requests than the controllers' lines send: later elections may be missing in them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.replay.omissions.controllers import ELECTED_LAST
from forensics.replay.omissions.last_leader import roles_not_seen
from tests.incident import Incident

SENT = "Sending LeaderAndIsr request to broker 2 with 0 become-leader and 1 become-follower partitions"
HANDLED = (
    "Handling LeaderAndIsr request correlationId 1 from controller 9 for 1 partitions",
    "Finished LeaderAndIsr request in 5ms correlationId 1 from controller 9 for 1 partitions",
)
STATE = (
    "PartitionState(controllerEpoch=1, leader=1, leaderEpoch=0, isr=1,2,3, zkVersion=0, replicas=1,2,3, isNew=false)"
)
SENT_EACH = f"Sending become-follower LeaderAndIsr request {STATE} to broker 2 for partition orders-0"
RECEIVED = f"Received LeaderAndIsr request {STATE} correlation id 1 from controller 9 epoch 1 for partition orders-0"


def incident(folder: Path, sent: list[str], received: list[str], *, at: float = 0.001) -> Incident:
    """Broker 1 leads, and broker 3's lines are not in the evidence: the controller's show that it led no epoch."""
    made = Incident(folder)
    made.begins(80)
    for text in sent:
        made[9].says(1, f"INFO [Controller id=9 epoch=1] {text} (state.change.logger)", log="state-change")
    for number, text in enumerate(received):
        made[2].says(1 + at * number, f"INFO [Broker id=2] {text} (state.change.logger)", log="state-change")
    shutil.rmtree(made[3].folder / "logs")
    return made


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        pytest.param([SENT, SENT], [*HANDLED, *HANDLED], id="one more request"),
        pytest.param([SENT_EACH], [RECEIVED, RECEIVED], id="one more for the partition"),
    ],
)
def test_a_request_that_no_controller_sends(sent: list[str], received: list[str], tmp_path: Path) -> None:
    made = incident(tmp_path, sent, received)
    assert not made.history().coverage.elections
    assert made.verdict("unclean-election") == "unknown"


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        pytest.param([SENT, SENT, SENT], [*HANDLED, *HANDLED], id="each request is sent"),
        pytest.param([SENT, SENT], [*HANDLED], id="a broker that was down did not get one"),
        pytest.param([SENT_EACH], [RECEIVED], id="sent for the partition"),
        pytest.param([], [*HANDLED, RECEIVED], id="the controller does not log what it sends"),
    ],
)
def test_each_request_is_sent(sent: list[str], received: list[str], tmp_path: Path) -> None:
    made = incident(tmp_path, sent, received)
    assert made.history().coverage.elections
    assert made.verdict("unclean-election") == "clean"


def test_a_request_that_two_copies_of_a_log_hold_is_one(tmp_path: Path) -> None:
    made = incident(tmp_path, [SENT, SENT], [*HANDLED, *HANDLED], at=0)
    assert made.history().coverage.elections


def test_the_controllers_lines_may_begin_after_those_of_a_broker(tmp_path: Path) -> None:
    """Of a log that is rotated often, what came before the partition is gone."""
    made = Incident(tmp_path)
    for text in (*HANDLED, *HANDLED):
        made[2].says(0.5, f"INFO [Broker id=2] {text} (state.change.logger)", log="state-change")
    made.begins(80)
    made[9].says(1, f"INFO [Controller id=9 epoch=1] {SENT} (state.change.logger)", log="state-change")
    assert made.history().coverage.elections


ELECTED = "changed partition [orders,0] from OfflinePartition to OnlinePartition with leader 2"
METADATA = (
    "sending UpdateMetadata request (Leader:{leader},ISR:1,LeaderEpoch:{epoch},ControllerEpoch:1) to broker 1 with "
    "correlationId 3 for partition [orders,0]"
)
NO_LEADER, LED_AGAIN = METADATA.format(leader=-1, epoch=1), METADATA.format(leader=2, epoch=2)


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        pytest.param([NO_LEADER, ELECTED], {2}, id="the election is its last line"),
        pytest.param([NO_LEADER, ELECTED, LED_AGAIN], set(), id="what it sends names the epoch"),
        pytest.param([LED_AGAIN], set(), id="a request alone"),
    ],
)
def test_an_election_as_the_last_line_of_a_controller(lines: list[str], missing: set[int], tmp_path: Path) -> None:
    made = Incident(tmp_path)
    made.begins(80)
    for number, text in enumerate(lines):
        made[9].says(5 + number, f"TRACE Controller 9 epoch 1 {text} (state.change.logger)", log="state-change")
    assert {*made.history().coverage.shown_missing_by(ELECTED_LAST)} == missing


@pytest.mark.parametrize(("leader", "second", "open_"), [(-1, 9, True), (-1, 3, False), (1, 9, False)])
def test_a_broker_that_starts_after_all_lines_of_controllers(
    leader: int, second: int, open_: bool, tmp_path: Path
) -> None:
    """Only while the partition has no leader, the start leaves open who leads next."""
    made = Incident(tmp_path)
    made.begins(80)
    state = STATE if leader == 1 else STATE.replace("leader=1", "leader=-1").replace("leaderEpoch=0", "leaderEpoch=1")
    text = SENT_EACH.replace(STATE, state)
    for line in (text, SENT):
        made[9].says(5, f"INFO [Controller id=9 epoch=1] {line} (state.change.logger)", log="state-change")
    made[2].starts(second)
    history = made.history()
    assert (2 in history.facts.starting) is (second > 5)
    assert (2 in roles_not_seen(history)) is open_
