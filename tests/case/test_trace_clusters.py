"""Traces of two clusters in one case are never compared, though their brokers and topics have the same names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forensics.engines.local import scan
from tests.rules.traced import Line, said, text


def led_by(*witnesses: int) -> list[Line]:
    leader, *followers = witnesses
    isr = ",".join(map(str, witnesses))
    lines = [said(0, leader, "become_leader", leader_epoch=3, leo=0, isr=isr)]
    return lines + [said(0, one, "become_follower", leader=leader, leader_epoch=3, leo=0) for one in followers]


def head(**fields: Any) -> Line:
    return {"kind": "trace", **fields}


def written(folder: Path, traces: dict[str, list[Line]]) -> str:
    for name, lines in traces.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(lines))
    return str(folder)


def test_the_same_witness_in_two_folders_is_of_two_clusters(tmp_path: Path) -> None:
    result = scan([written(tmp_path, {"one/trace.jsonl": led_by(1, 2), "two/trace.jsonl": led_by(2, 1)})])
    clusters = [partition.history.cluster for partition in result.partitions]
    assert clusters == ["folder one", "folder two"]
    assert not any(f.rule == "two-leaders-one-epoch" for f in result.findings)
    told = result.case.notices.get_column("reason").to_list()
    assert len(told) == 2
    assert all("names no cluster" in reason for reason in told)


def test_other_witnesses_in_two_folders_are_of_one_cluster(tmp_path: Path) -> None:
    one, two = led_by(1, 2)
    result = scan([written(tmp_path, {"one/trace.jsonl": [one], "two/trace.jsonl": [two]})])
    (partition,) = result.partitions
    assert (partition.history.cluster, sorted(partition.history.replicas)) == (None, [1, 2])
    assert result.case.notices.is_empty()


def test_cluster_ids_tell_traces_of_one_folder_apart(tmp_path: Path) -> None:
    traces = {f"{name}.jsonl": [head(cluster=name), *led_by(*ids)] for name, ids in (("a", (1, 2)), ("b", (2, 1)))}
    result = scan([written(tmp_path, traces)])
    assert [partition.history.cluster for partition in result.partitions] == ["a", "b"]
    assert not any(f.rule == "two-leaders-one-epoch" for f in result.findings)


def test_one_cluster_id_makes_one_cluster_of_two_folders(tmp_path: Path) -> None:
    traces = {f"{name}/t.jsonl": [head(cluster="a"), *led_by(*ids)] for name, ids in (("x", (1, 2)), ("y", (2, 1)))}
    result = scan([written(tmp_path, traces)])
    (partition,) = result.partitions
    assert partition.history.cluster == "a"
    assert set(partition.history.epochs[3].other_leaders) == {2}


def test_two_files_of_one_folder_are_of_one_cluster(tmp_path: Path) -> None:
    result = scan([written(tmp_path, {"1.jsonl": led_by(1, 2), "2.jsonl": [said(9, 1, "hw", hw=0)]})])
    assert len(result.partitions) == 1
