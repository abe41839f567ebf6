"""The model, driven through the steps of recorded clusters, comes to what the real brokers came to.

What is beyond its words ``BEYOND`` says. Where the recorded run left something to chance (how many
records were in flight when a follower stood still, how many were written during restarts) only the conclusions are
compared, else every number.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics.model import Scenario, faults, scenario
from forensics.model.run import Stage

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
PROTOCOL = {"0.10.2.2": "hw", "1.1.1": "epoch", "3.9.1": "fetch"}
CODECS = ("codecs-0.10.2.2", "codecs-1.1.1", "codecs-3.9.1")
BEYOND = (
    "compression, keys, tombstones and headers: the model's records are plain values",
    "compaction, deleted records, reassignment (other topics of traps): no cleaner, one partition on fixed brokers",
    "a topic that is deleted and created again: one life, here the second",
)
"""What of the recorded steps it cannot play. Nothing else of a case is left out."""
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


def acks1(stage: Stage) -> None:
    """The steps of the recorded run: its followers fetched one of the twelve records before they stood still."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(30)
    cluster.catch_up()
    cluster.wait(5_500)
    cluster.produce(1, acks="1")
    for broker in (2, 3):
        cluster.fetch(broker)
        faults.pause(cluster, broker)
    cluster.produce(11, acks="1")
    faults.crash(cluster, 1)
    for broker in (2, 3):
        faults.resume(cluster, broker)
    faults.notice(cluster, 1)
    cluster.catch_up()
    cluster.produce(10)
    cluster.catch_up()
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    stage.note("all is over")


def created_again(stage: Stage) -> None:
    """The second life of the topic: a controlled restart of its leader, and leadership given back to it."""
    cluster = stage.cast(2, 3, 1, min_isr=2, unclean=False)
    cluster.produce(20)
    cluster.catch_up()
    faults.stop(cluster, 2)
    cluster.catch_up()
    cluster.restart(2)
    cluster.catch_up()
    faults.prefer(cluster, 2)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    stage.note("all is over")


@pytest.mark.parametrize(("case", "steps"), [("acks1-3.9.1", acks1), ("traps-3.9.1", created_again)])
def test_steps_that_are_no_story(case: str, steps: Callable[[Stage], None], evidence: Path) -> None:
    real = recorded(evidence, case)
    run = Scenario(case, "", steps).run("fetch")
    model = run.truth()
    assert {key: model[key] for key in COMPARED} == {key: real[key] for key in COMPARED}
    assert model["expect"] == real["expect"]
    for broker, node in run.cluster.brokers.items():
        path = evidence / case / f"broker-{broker}" / "data" / "orders-0" / "leader-epoch-checkpoint"
        assert node.replica.disk.epochs == entries(path)


@pytest.mark.parametrize("case", CODECS)
def test_records_in_any_codec_are_on_both_replicas(case: str, evidence: Path) -> None:
    """Each topic took 120 records and 5 more, on brokers 1 and 2."""
    real = recorded(evidence, case)
    topics = sorted({record["topic"] for record in real["records"] if record["topic"].startswith("codec-")})
    assert topics

    def steps(stage: Stage) -> None:
        cluster = stage.cast(1, 2)
        for count in (120, 5):
            cluster.produce(count)
            cluster.catch_up()
        stage.note("all is written")

    run = Scenario(case, "", steps).run(PROTOCOL[real["kafka"]])
    model = run.truth()
    assert model["expect"] == {key: real["expect"][key] for key in model["expect"]}
    for topic in topics:
        offsets = [record["offset"] for record in real["records"] if record["topic"] == topic]
        assert offsets == [record.offset for record in run.cluster.consume()]


def entries(path: Path) -> list[tuple[int, int]]:
    """Epochs of a real ``leader-epoch-checkpoint``."""
    return [(int(epoch), int(offset)) for epoch, offset in map(str.split, path.read_text().splitlines()[2:])]


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
            real = entries(path)
            if name == "failover-truncation":
                assert [offset for _, offset in node.replica.disk.epochs] == [offset for _, offset in real], case
            else:
                assert node.replica.disk.epochs == real, case


def test_every_recorded_case_is_played(evidence: Path) -> None:
    played = {*SAME, *HEALTHY, *CODECS, "acks1-3.9.1", "traps-3.9.1"}
    cases = {folder.name for folder in evidence.iterdir() if (folder / "truth.json").is_file()}
    assert cases - played == set()
