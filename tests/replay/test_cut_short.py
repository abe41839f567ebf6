"""A copy of a broker's logs that broke off: its own other lines show that the end is missing."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import take_in
from forensics.replay.coverage import Printed, Span
from forensics.replay.partitions import histories
from tests.incident import Incident, Node


def started(node: Node, at: float) -> None:
    node.says(at, f"INFO [KafkaServer id={node.number}] started (kafka.server.KafkaServer)")


def healthy(tmp_path: Path) -> Incident:
    """Broker 1 led epoch 0, and broker 2 leads epoch 1; all have the log."""
    incident = Incident(tmp_path)
    for node in incident.nodes.values():
        started(node, 0.5)
    incident.begins(80)
    incident.succeeds(20, 1, 2, 80, 1, 3)
    return incident


def fetchers(node: Node, at: float) -> None:
    node.says(
        at, f"INFO [ReplicaFetcherManager on broker {node.number}] Removed fetcher for partitions Set(orders-0) "
        "(kafka.server.ReplicaFetcherManager)"
    )  # fmt: skip


def ended(incident: Incident) -> set[int]:
    coverage = incident.history().coverage
    return {broker for broker in (1, 2, 3) if coverage.is_shown_missing(broker, Span.AFTER)}


def role(incident: Incident) -> None:
    """What broker 3 logs about a role, without the line about its fetchers."""
    incident[3].says(
        40, "INFO [Broker id=3] Follower orders-0 starts at leader epoch 2 from offset 80 with high watermark 80. "
        "Previous leader epoch was 1. (state.change.logger)", log="state-change",
    )  # fmt: skip


def leads(incident: Incident) -> None:
    """What broker 3 logs to state-change.log about a role as leader."""
    incident[3].says(
        40, "INFO [Broker id=3] Leader orders-0 starts at leader epoch 2 from offset 80 with high watermark 80 ISR "
        "[3] addingReplicas [] removingReplicas []. Previous leader epoch was 1. (state.change.logger)",
        log="state-change",
    )  # fmt: skip


@pytest.mark.parametrize("cut", [role, leads])
def test_the_end_of_a_log_is_missing(cut: Callable[[Incident], None], tmp_path: Path) -> None:
    incident = healthy(tmp_path)
    cut(incident)
    shutil.rmtree(incident[9].folder)  # without the controller's lines, those of each broker decide
    assert ended(incident) == {3}
    assert incident.verdict("unclean-election") == "unknown"


def nothing(_: Incident) -> None:
    pass


def whole_start(incident: Incident) -> None:
    incident[3].starts(40)
    started(incident[3], 42)


def failed_start(incident: Incident) -> None:
    incident[3].starts(40)
    incident[3].says(41, "INFO [KafkaServer id=3] shutting down (kafka.server.KafkaServer)")
    incident[3].says(42, "INFO [KafkaServer id=3] shut down completed (kafka.server.KafkaServer)")


def whole_role(incident: Incident) -> None:
    role(incident)
    fetchers(incident[3], 40)


def role_long_after_removal(incident: Incident) -> None:
    """A request of many partitions: all fetchers are removed first, and each role is a line of its own."""
    fetchers(incident[3], 25)
    leads(incident)


def metadata(incident: Incident) -> None:
    """A broker caches metadata of others, and its server.log has no line about that."""
    incident[3].says(
        60, "INFO [Broker id=3] Add 1 partitions and deleted 0 partitions from metadata cache in response to "
        "UpdateMetadata request sent by controller 9 epoch 1 with correlation id 9 (state.change.logger)",
        log="state-change",
    )  # fmt: skip


@pytest.mark.parametrize("goes_on", [nothing, whole_start, failed_start, whole_role, role_long_after_removal, metadata])
def test_nothing_shows_that_a_log_ends_early(goes_on: Callable[[Incident], None], tmp_path: Path) -> None:
    incident = healthy(tmp_path)
    goes_on(incident)
    assert ended(incident) == set()


def test_a_broker_that_never_prints_the_end_of_a_start_may_have_started(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(80)
    incident[3].starts(40)
    assert ended(incident) == set()


def test_a_server_log_that_begins_after_a_role_lacks_the_lines_on_it(tmp_path: Path) -> None:
    incident = healthy(tmp_path)
    log = incident[3].folder / "logs" / "server.log"
    kept = [line for line in log.read_text().splitlines(keepends=True) if "Added fetcher" in line]
    log.write_text("".join(kept[-1:]))  # the role of epoch 0 came before
    coverage = incident.history().coverage
    assert [one.epoch for one in coverage.known_missing[3] if one.shown_by == "begins-after-role"] == [0]
    assert not coverage.is_shown_missing(2, Span.WITHIN)


@pytest.mark.parametrize("there", [True, False])
def test_a_role_as_leader_without_the_removal_of_its_fetcher_lacks_lines(there: bool, tmp_path: Path) -> None:
    """Whether lines are missing does not depend on times: server.log has lines before and after."""
    incident = healthy(tmp_path)
    if there:
        fetchers(incident[3], 39)
    leads(incident)
    started(incident[3], 80)
    coverage = incident.history().coverage
    assert coverage.has(3, Printed.LOG) == there
    assert [one.shown_by for one in coverage.known_missing.get(3, ())] == ["no-fetcher-removed"] * (not there)


WIPED = Path(__file__).parents[1] / "cases" / "data" / "wipelead-0.11.0.3.tar.xz"
"""Brokers with ZooKeeper: state-change.log has requests and their steps, server.log where a leader epoch begins."""


@pytest.mark.parametrize(
    ("begins", "missing"),
    [
        ("Removed fetcher for partitions payments.eu-west_1-0", frozenset[int]()),  # the first line about a role
        ("Partition [payments.eu-west_1,0] on broker 1: payments.eu-west_1-0 starts at Leader Epoch 1", frozenset({1})),
        ("starting (kafka.server.KafkaServer)", frozenset({1})),  # of the second process
    ],
)
def test_a_log_that_begins_after_a_request_was_carried_out(
    begins: str, missing: frozenset[int], tmp_path: Path
) -> None:
    """The second process found an empty log directory: what the first one had is in the lines that are missing."""
    with tarfile.open(WIPED) as archive:
        archive.extractall(tmp_path, filter="data")
    (log,) = tmp_path.rglob("broker-1/logs/server.log")
    text = log.read_text()
    at = text.rindex(begins) if "KafkaServer" in begins else text.index(begins)
    log.write_text(text[text.rindex("\n", 0, at) + 1 :])
    (steps,) = tmp_path.rglob("broker-1/logs/state-change.log")
    lines = steps.read_text().splitlines(keepends=True)
    steps.write_text("".join(line for line in lines if "07:51:41" not in line))
    (history,) = (one for one in histories(take_in([str(tmp_path)])) if one.name == "payments.eu-west_1-0")
    assert {b for b in (1, 2) if history.coverage.is_shown_missing(b, Span.BEFORE)} == missing
