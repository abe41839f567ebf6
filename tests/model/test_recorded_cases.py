"""The model, driven through the steps of recorded clusters, comes to what the real brokers came to.

Two sorts of case are beyond its words, ``BEYOND`` says which. Where the recorded run left something to chance (how many
records were in flight when a follower stood still, how many were written during restarts) only the conclusions are
compared, else every number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forensics.model import scenario

# recorded case -> the model's story and protocol with the same steps and numbers
SAME = {
    "kip101-0.10.2.2": ("failover-truncation", "hw"),
    "kip101-0.10.2.2-replication": ("failover-truncation", "hw"),
    "kip101-2.8.2": ("failover-truncation", "fetch-14704"),
    "powerloss-0.10.2.2": ("power-loss", "hw"),
    "powerloss-2.8.2-replication": ("power-loss", "fetch-14704"),
    "powerloss-3.9.1-replication": ("power-loss", "fetch"),
    "crashscene-0.10.2.2": ("crash-scene", "hw"),
    "crashscene-3.9.1": ("crash-scene", "fetch"),
    "unclean-1.1.1-replication": ("unclean-election", "epoch"),
    "unclean-2.8.2": ("unclean-election", "fetch-14704"),
    "unclean-3.9.1": ("unclean-election", "fetch"),
    "unclean-3.9.1-request": ("unclean-election", "fetch"),
}
HEALTHY = {"rolling-1.1.1": "epoch", "rolling-3.9.1-replication": "fetch", "rolling-4.1.1-replication": "fetch"}
BEYOND = {
    "traps": "a topic that is deleted and created again, compacted, cut from the front or moved: the model has one "
    "partition with one life, on fixed brokers, and no cleaner",
    "codecs": "compression, keys, tombstones and headers: nothing happens to the replicas; the model's records are "
    "plain values",
}
COMPARED = (
    "acked",
    "acked_all",
    "lost_acked",
    "lost_acked_all",
    "lost_count",
    "diverged_offsets",
    "replica_ends",
    "readable",
)


def recorded(evidence: Path, case: str) -> dict[str, Any]:
    folder = evidence / case
    if not folder.is_dir():
        pytest.skip(f"{case} is not among the evidence")
    truth: dict[str, Any] = json.loads((folder / "truth.json").read_text())
    return truth


@pytest.mark.parametrize("case", SAME)
def test_same_steps_same_outcome(case: str, evidence: Path) -> None:
    real = recorded(evidence, case)
    name, protocol = SAME[case]
    model = scenario(name).run(protocol).truth()
    assert {key: model[key] for key in COMPARED} == {key: real[key] for key in COMPARED}
    assert model["expect"] == real["expect"]


def test_acks1_loses_the_tail_and_nothing_else(evidence: Path) -> None:
    """The real run's followers fetched one of the twelve records before they stood still; else it is the same."""
    real = recorded(evidence, "acks1-3.9.1")
    model = scenario("acks1-failover").run("fetch").truth()
    assert model["expect"] == real["expect"]
    assert model["lost_acked_all"] == real["lost_acked_all"] == []
    assert model["lost_acked"][0][1] == real["lost_acked"][0][1]


@pytest.mark.parametrize("case", HEALTHY)
def test_healthy_restarts_lose_nothing(case: str, evidence: Path) -> None:
    real = recorded(evidence, case)
    model = scenario("rolling-restart").run(HEALTHY[case]).truth()
    assert model["expect"] == real["expect"]
    assert model["lost_acked"] == real["lost_acked"] == []


def test_epochs_rise_as_on_real_brokers(evidence: Path) -> None:
    """The leader epochs in the checkpoints, and with them the controller's counting, are the real ones."""
    for case, (name, protocol) in SAME.items():
        if protocol == "hw" or not (evidence / case).is_dir():
            continue
        run = scenario(name).run(protocol)
        for broker, node in run.cluster.brokers.items():
            path = evidence / case / f"broker-{broker}" / "data" / "orders-0" / "leader-epoch-checkpoint"
            real = [tuple(map(int, line.split())) for line in path.read_text().splitlines()[2:]]
            if name == "failover-truncation":
                assert [offset for _, offset in node.replica.disk.epochs] == [offset for _, offset in real], case
            else:
                assert node.replica.disk.epochs == real, case


def test_every_recorded_case_is_played_or_beyond_words(evidence: Path) -> None:
    played = {*SAME, *HEALTHY, "acks1-3.9.1"}
    cases = {folder.name for folder in evidence.iterdir() if (folder / "truth.json").is_file()}
    assert {case for case in cases - played if case.partition("-")[0] not in BEYOND} == set()
