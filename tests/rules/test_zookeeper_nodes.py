"""Nodes of ZooKeeper as evidence: rules use leader, ISR and epochs that an operator saved."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.confidence import Confidence
from forensics.rules.finding import Judgement, Verdict
from tests.rules.traced import LEADS, Line, said, text

HEAD = {"kind": "trace", "replicas": [1, 2], "cluster": "one", "release": "2.8.2", "complete": True}
WRITES = [
    *LEADS,
    said(1, 1, "append", offset=0, leo=10),
    said(2, 2, "append", offset=0, leo=10),
    said(3, 1, "hw", hw=10),
]
ALONE = [
    said(4, 1, "isr_shrink", isr="1", isr_before="1,2", leo=10, hw=10),
    said(4, 1, "isr_commit", isr="1", partition_epoch=5),
]


def node(leader: int, epoch: int, *isr: int, version: int | None = None) -> str:
    """A transcript of zookeeper-shell."""
    state = {"controller_epoch": 7, "leader": leader, "version": 1, "leader_epoch": epoch, "isr": isr}
    stat = "" if version is None else f"dataVersion = {version}\n"
    return f"get -s /brokers/topics/orders/partitions/0/state\n{json.dumps(state)}\n{stat}"


def judged(folder: Path, lines: list[Line], *nodes: str) -> dict[str, Judgement]:
    (folder / "trace.jsonl").write_text(text(lines))
    for number, content in enumerate(nodes):
        (folder / f"zookeeper-{number}.txt").write_text(content)
    (partition,) = scan([str(folder)]).partitions
    return partition.judgements


@pytest.mark.parametrize(("leader", "verdict"), [(1, Verdict.CLEAN), (2, Verdict.VIOLATED)])
def test_a_node_names_the_leader_of_an_epoch(leader: int, verdict: Verdict, tmp_path: Path) -> None:
    found = judged(tmp_path, [HEAD, *WRITES], node(leader, 3, 1, 2))["two-leaders-one-epoch"]
    assert found.verdict is verdict
    paths = {evidence.path.rpartition("/")[2] for finding in found.findings for evidence in finding.evidence}
    assert paths == ({"trace.jsonl", "zookeeper-0.txt"} if found.findings else set())
    # One line alone names broker 2, and a digit of it may be damaged.
    assert {finding.confidence for finding in found.findings} <= {Confidence.INFERRED}


@pytest.mark.parametrize(("lines", "verdict"), [(WRITES, Verdict.CLEAN), ([*WRITES, *ALONE], Verdict.VIOLATED)])
def test_a_node_names_a_leader_from_outside_the_isr(lines: list[Line], verdict: Verdict, tmp_path: Path) -> None:
    """In both cases broker 2 leads epoch 4 alone, by the node; in one it had left the ISR before."""
    found = judged(tmp_path, [HEAD, *lines], node(2, 4, 2, version=6))["unclean-election"]
    assert found.verdict is verdict


def test_nodes_alone_prove_no_unclean_election(tmp_path: Path) -> None:
    """The ISR may have changed between the two times at which the node was saved."""
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "zk.txt").write_text(node(1, 3, 1, 2))
    (tmp_path / "zk.txt").write_text(node(3, 4, 3))
    (partition,) = scan([str(tmp_path)]).partitions
    assert partition.judgements["unclean-election"].verdict is Verdict.UNKNOWN
    assert partition.judgements["two-leaders-one-epoch"].verdict is not Verdict.VIOLATED


@pytest.mark.parametrize(("epoch", "suspected"), [(3, True), (4, False)])
def test_two_states_of_a_node_with_one_epoch_and_two_leaders_are_a_suspicion(
    epoch: int, suspected: bool, tmp_path: Path
) -> None:
    """The topic may have been created again in between: nothing in the node shows it."""
    for number, content in enumerate((node(2, 3, 1, 2, version=4), node(1, epoch, 1, version=5))):
        (tmp_path / f"zookeeper-{number}.txt").write_text(content)
    (partition,) = scan([str(tmp_path)]).partitions
    findings = partition.judgements["two-leaders-one-epoch"].findings
    expected = [("leader epoch 3 may have 2 leaders: brokers 1 and 2", Confidence.SUSPECTED)] if suspected else []
    assert [(one.summary, one.confidence) for one in findings] == expected


def test_nodes_that_contradict_each_other_prove_nothing_beside_whole_logs(sample_traces: Path, tmp_path: Path) -> None:
    """One of them may be of another cluster, in a folder of its own."""
    shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "prod")
    for folder, leader in (("prod", 2), ("staging", 1)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "zk.txt").write_text(node(leader, 1, 1, 2, version=4))
    found = next(one for one in scan([str(tmp_path)]).partitions if one.history.name == "orders-0").judgements
    assert [one.confidence for one in found["two-leaders-one-epoch"].findings] == [Confidence.SUSPECTED]
