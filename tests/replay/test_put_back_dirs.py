"""A metadata log that ends before the registration of an earlier process shows that the directory is an older one."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.confidence import Confidence
from tests.incident import Incident, Node

LOST, SHORTER = "committed-data-lost", "leo-regression"
OLDER = "older data directory"


def loads_metadata(node: Node, at: float, end: int, log_dir: str = "/d") -> None:
    """What a process prints of the metadata log in its directory."""
    node.says(
        at, f"INFO [LogLoader partition=__cluster_metadata-0, dir={log_dir}] Loading producer state till offset {end} "
        "with message format version 2 (kafka.log.UnifiedLog$)"
    )  # fmt: skip


def registers(node: Node, at: float, epoch: int, *, caught_up: bool = True) -> None:
    """What a process prints as it registers, and as it has read the record of that."""
    name = f"[BrokerLifecycleManager id={node.number}]"
    node.says(
        at, f"INFO {name} Successfully registered broker {node.number} with broker epoch {epoch} "
        "(kafka.server.BrokerLifecycleManager)"
    )  # fmt: skip
    if caught_up:
        node.says(
            at, f"INFO {name} The broker has caught up. Transitioning from STARTING to RECOVERY. "
            "(kafka.server.BrokerLifecycleManager)"
        )  # fmt: skip


def restarted(
    tmp_path: Path,
    *,
    first: int = 80,
    end: int = 80,
    metadata: int = 104,
    log_dir: str = "/d",
    caught_up: bool = True,
    later: int = 223,
    killed: bool = False,
    recovers: bool = False,
    roles: int = 2,
) -> Incident:
    """Broker 1 leads epoch 4 alone with broker epoch 117, and its next process finds its directories as they are.

    Args:
        tmp_path: where the evidence is written.
        first: log end offset with which it begins epoch 4.
        end: log end offset that the next process finds.
        metadata: where the metadata log ends then; 0 if it was created again.
        log_dir: directory of the metadata log.
        caught_up: the first process read the record of its registration.
        later: broker epoch of the next process.
        killed: the first process did not stop.
        recovers: the next process recovers its log.
        roles: epochs that the broker leads.
    """
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    loads_metadata(node, 1, 100, log_dir)
    node.loads(5, first)
    registers(node, 6, 117, caught_up=caught_up)
    node.leads(10, 4, first, first, [1]).starts(50, killed=killed)
    loads_metadata(node, 51, 0, log_dir)
    if metadata:
        loads_metadata(node, 52, metadata, log_dir)
    registers(node, 53, later)
    if recovers:
        node.says(
            54, "INFO [LogLoader partition=orders-0, dir=/d] Recovering unflushed segment 0 (kafka.log.LogLoader)"
        )
    node.loads(55, end)
    if roles > 1:
        node.leads(60, 5, end, end, [1])
    return incident


def signs(incident: Incident) -> list[str]:
    """The suspected losses, by what they say."""
    return [finding.summary for finding in incident.findings(LOST)]


def test_a_leader_with_an_older_directory_may_have_lost_records(tmp_path: Path) -> None:
    incident = restarted(tmp_path)
    (finding,) = incident.findings(LOST)
    assert "a data directory that is older" in finding.summary
    assert finding.confidence is Confidence.SUSPECTED
    texts = [one.text for one in finding.evidence]
    assert any("__cluster_metadata-0" in text and "till offset 104" in text for text in texts)
    assert any("broker epoch 117" in text for text in texts)
    assert incident.verdict(LOST) == "unknown"


@pytest.mark.parametrize(
    "but",
    [
        {"metadata": 118},  # it has the record at 117
        {"metadata": 0},  # the metadata log alone was created again
        {"log_dir": "/other"},  # the partition is in another directory
        {"caught_up": False},  # the first process may not have read as far
        {"later": 110},  # the controllers' log went back, and each broker follows it
    ],
    ids=lambda but: next(iter(but)),
)
def test_what_looks_like_it_shows_nothing(but: dict[str, int], tmp_path: Path) -> None:
    incident = restarted(tmp_path, **but)  # type: ignore[arg-type]
    assert signs(incident) == []
    steps = [step for span in incident.history().role_spans[1] for step in span.steps]
    assert steps
    assert [step.dir_older for step in steps] == [()] * len(steps)


def test_a_log_that_is_known_to_be_shorter_is_told_with_the_directory(tmp_path: Path) -> None:
    incident = restarted(tmp_path, first=80, end=50)
    (finding,) = incident.findings(SHORTER)
    assert finding.offsets == ((50, 80),)
    assert any(OLDER in fact.text for fact in finding.facts)


def test_after_an_unclean_stop_the_metadata_log_may_have_lost_its_own_end(tmp_path: Path) -> None:
    """What was not flushed may be gone of both logs, so that nothing shows another directory."""
    incident = restarted(tmp_path, killed=True, recovers=True)
    assert not any("a data directory that is older" in said for said in signs(incident))


def test_a_copy_of_a_running_broker_is_recovered_although_its_broker_stopped(tmp_path: Path) -> None:
    (said,) = signs(restarted(tmp_path, recovers=True))
    assert "a data directory that is older" in said


def test_a_directory_of_before_a_new_log_shows_no_loss_behind_its_end(tmp_path: Path) -> None:
    """Broker 1 led with a new, empty log, while its volume was not mounted. It came back, with more than was lost."""
    assert signs(restarted(tmp_path, first=0, end=80)) == []


def test_a_broker_that_leads_no_more_is_not_suspected(tmp_path: Path) -> None:
    assert signs(restarted(tmp_path, roles=1)) == []
