"""Traces of two clusters in one case are never compared, though their brokers and topics have the same names."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Severity, Verdict
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


def test_the_folders_of_the_brokers_of_one_cluster_stay_together(tmp_path: Path) -> None:
    """The third broker has a trace in one of the two clusters alone."""
    traces = {
        f"{name}/logs/broker-{line['witness']}/trace.jsonl": [head(replicas=[1, 2, 3]), line]
        for name, ids in (("prod", (1, 2, 3)), ("staging", (2, 1)))
        for line in led_by(*ids)
    }
    result = scan([written(tmp_path / "all", traces)])
    of = {one.history.cluster: sorted(one.history.role_spans) for one in result.partitions}
    assert of == {"folder prod": [1, 2, 3], "folder staging": [1, 2]}
    for name in ("prod", "staging"):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(tmp_path / "all" / name / "logs", "logs")
    packed = scan([str(tmp_path / "prod.tar.gz"), str(tmp_path / "staging.tar.gz")])
    assert [one.history.cluster for one in packed.partitions] == ["folder prod.tar.gz", "folder staging.tar.gz"]


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


def test_other_witnesses_in_two_files_of_one_folder_are_of_one_cluster(tmp_path: Path) -> None:
    result = scan([written(tmp_path, {"1.jsonl": led_by(1, 2), "2.jsonl": [said(9, 3, "hw", hw=0)]})])
    assert len(result.partitions) == 1


def test_a_broker_that_only_the_first_line_names_does_not_speak(tmp_path: Path) -> None:
    """Each broker writes a trace of its own, and names all replicas in the first line."""
    one, two = led_by(1, 2)
    two = two | {"kind": "become_leader"}
    first = {"replicas": [1, 2], "release": "3.9.1", "settings": {"min.insync.replicas": 1}}
    traces = {f"{line['witness']}/t.jsonl": [head(**first, complete=[line["witness"]]), line] for line in (one, two)}
    result = scan([written(tmp_path, traces)])
    (partition,) = result.partitions
    assert partition.history.cluster is None
    assert any(f.rule == "two-leaders-one-epoch" for f in result.findings)
    assert result.case.notices.is_empty()


def test_a_trace_without_a_cluster_is_not_of_the_cluster_of_another_folder(tmp_path: Path) -> None:
    traces = {"one/t.jsonl": [head(cluster="a"), *led_by(1, 2)], "two/t.jsonl": led_by(2, 1)}
    result = scan([written(tmp_path, traces)])
    assert [partition.history.cluster for partition in result.partitions] == ["a", "folder two"]
    assert not any(f.rule == "two-leaders-one-epoch" for f in result.findings)
    (told,) = result.case.notices.get_column("reason").to_list()
    assert "other evidence of broker 1 is in one/t.jsonl" in told


def test_a_trace_without_a_cluster_is_of_the_one_that_other_brokers_name(tmp_path: Path) -> None:
    one, two = led_by(1, 2)
    result = scan([written(tmp_path, {"one/t.jsonl": [head(cluster="a"), one], "two/t.jsonl": [two]})])
    (partition,) = result.partitions
    assert (partition.history.cluster, sorted(partition.history.replicas)) == ("a", [1, 2])


def test_each_first_line_in_a_file_begins_the_trace_of_its_cluster(tmp_path: Path) -> None:
    lines = [
        head(cluster="a"),
        *led_by(1, 2),
        head(cluster="b"),
        *led_by(2, 1),
        head(cluster="b"),
        said(9, 2, "hw", hw=0),
    ]
    result = scan([written(tmp_path, {"t.jsonl": lines})])
    assert [partition.history.cluster for partition in result.partitions] == ["a", "b"]
    assert not any(f.rule == "two-leaders-one-epoch" for f in result.findings)
    assert result.case.notices.is_empty()


def test_first_lines_of_one_cluster_do_not_split_a_file(tmp_path: Path) -> None:
    one, two = led_by(1, 2)
    lines = [head(cluster="a", complete=[1], replicas=[1]), one, head(cluster="a", complete=[2], replicas=[2]), two]
    (partition,) = scan([written(tmp_path, {"t.jsonl": lines})]).partitions
    assert partition.history.coverage.claimed == {1, 2}


def _of_broker(folder: Path, sample_traces: Path, *, with_ids: bool = True) -> None:
    """Copy the logs and data of a recorded cluster to a folder."""
    ids = [] if with_ids else ["meta.properties", "controller.log", "server.log"]
    shutil.copytree(sample_traces / "zombie-1.1.1", folder, ignore=shutil.ignore_patterns("README.md", *ids))


@pytest.mark.parametrize("witnesses", [(1, 2), (2, 1)])
@pytest.mark.parametrize(("place", "name"), [("y/t.jsonl", "folder y"), ("t.jsonl", "file t.jsonl")])
@pytest.mark.parametrize("with_ids", [True, False])
def test_a_trace_with_a_witness_that_has_logs_is_not_of_their_cluster(
    tmp_path: Path, sample_traces: Path, place: str, name: str, with_ids: bool, witnesses: tuple[int, int]
) -> None:
    _of_broker(tmp_path / "x", sample_traces, with_ids=with_ids)
    alone = scan([str(tmp_path / "x")])
    append = said(1, witnesses[0], "append", offset=0, leo=7)
    result = scan([written(tmp_path, {place: [*led_by(*witnesses), append]})])
    assert name in [partition.history.cluster for partition in result.partitions]
    assert len(result.partitions) == 2
    alarms = [sorted(f.rule for f in one.findings if f.severity > Severity.INFO) for one in (result, alone)]
    assert alarms[0] == alarms[1]
    told = [reason for reason in result.case.notices.get_column("reason") if "names no cluster" in reason]
    assert len(told) == 1
    assert "other evidence of broker 1 is in x/broker-1" in told[0]


def test_a_trace_of_another_broker_is_of_the_cluster_of_the_logs_beside_it(tmp_path: Path, sample_traces: Path) -> None:
    _of_broker(tmp_path / "x", sample_traces)
    result = scan([written(tmp_path, {"y/t.jsonl": [said(0, 7, "become_follower", leader=1, leader_epoch=0, leo=0)]})])
    assert len(result.partitions) == 1


@pytest.mark.parametrize("first", [[head(replicas=[1, 2], complete=True)], []])
def test_the_same_witness_in_two_files_of_one_folder_is_of_two_clusters(first: list[Line], tmp_path: Path) -> None:
    result = scan(
        [written(tmp_path, {f"{n}.jsonl": [*first, *led_by(*ids)] for n, ids in (("a", (1, 2)), ("b", (2, 1)))})]
    )
    assert [partition.history.cluster for partition in result.partitions] == ["file a.jsonl", "file b.jsonl"]
    assert not any(f.rule == "two-leaders-one-epoch" for f in result.findings)
    told = result.case.notices.get_column("reason").to_list()
    assert [reason.partition(":")[0].rpartition(" ")[2] for reason in told] == ["b.jsonl", "a.jsonl"]


def rotated(folder: Path, names: list[str], *, again: bool = False, topic: str = "orders") -> str:
    """A healthy complete trace that was rotated; the names of its pieces, the oldest first.

    Args:
        folder: where.
        names: of as many pieces.
        again: the last piece begins before the one before it has ended.
        topic: its topic.
    """
    lines = [head(replicas=[1, 2], complete=True), *led_by(1, 2)]
    lines += [said(1, 1, "append", offset=0, leo=10), said(2, 2, "append", offset=0, leo=10)]
    lines += [said(1.5 if again else 3, 1, "hw", hw=10), said(4, 2, "hw", hw=10)]
    lines = [line | {"topic": topic} if "topic" in line else line for line in lines]
    ends = [*(3, 5, 6)[: len(names) - 1], len(lines)]
    return written(folder, {name: lines[at:end] for name, at, end in zip(names, [0, *ends], ends, strict=False)})


@pytest.mark.parametrize(
    "names",
    [
        ["trace.jsonl.2", "trace.jsonl.1", "trace.jsonl"],
        ["trace.jsonl.1", "trace.jsonl.2", "trace.jsonl"],
        ["trace.jsonl", "trace.jsonl.1", "trace.jsonl.2"],
        ["trace.jsonl.12", "trace.jsonl.11"],
        ["trace.jsonl.2026-01-01", "trace.jsonl.2026-01-03", "trace.jsonl"],
        ["trace.jsonl-20260101", "trace.jsonl"],
    ],
)
def test_the_pieces_of_a_rotated_trace_are_one_trace(names: list[str], tmp_path: Path) -> None:
    result = scan([rotated(tmp_path, names)])
    (partition,) = result.partitions
    assert partition.history.cluster is None
    assert {one.verdict for one in partition.judgements.values()} == {Verdict.CLEAN, Verdict.NOT_APPLICABLE}
    assert result.case.notices.is_empty()


@pytest.mark.parametrize("names", [["trace.jsonl.3", "trace.jsonl.1", "trace.jsonl"], ["trace.jsonl.2", "trace.jsonl"]])
def test_where_a_piece_of_a_rotated_trace_is_missing_its_claim_does_not_count(names: list[str], tmp_path: Path) -> None:
    result = scan([rotated(tmp_path, names)])
    (partition,) = result.partitions
    assert partition.judgements["committed-data-lost"].verdict is Verdict.UNKNOWN
    assert all("a piece of this trace is missing" in reason for reason in result.case.notices["reason"])
    assert result.case.notices.height == len(names)


@pytest.mark.parametrize(
    ("names", "again"), [(["a.jsonl", "b.jsonl"], False), (["run-1.jsonl", "run-2.jsonl"], False), (None, True)]
)
def test_other_files_of_one_folder_with_one_witness_are_of_two_clusters(
    names: list[str] | None, again: bool, tmp_path: Path
) -> None:
    result = scan([rotated(tmp_path, names or ["trace.jsonl.2", "trace.jsonl.1", "trace.jsonl"], again=again)])
    assert sum("names no cluster" in reason for reason in result.case.notices["reason"]) == len(names or "abc")
    assert len({partition.history.cluster for partition in result.partitions}) == len(names or "abc")


def test_rotated_traces_of_two_folders_are_of_two_clusters(tmp_path: Path) -> None:
    for name in ("one", "two"):
        rotated(tmp_path / name, ["trace.jsonl.1", "trace.jsonl"], topic=name)
    result = scan([str(tmp_path)])
    assert [partition.history.cluster for partition in result.partitions] == ["folder one", "folder two"]
    assert {one.judgements["committed-data-lost"].verdict for one in result.partitions} == {Verdict.CLEAN}


@pytest.mark.parametrize(
    ("second", "decided"),
    [
        (head(cluster="a", replicas=[1, 2], complete=[2]), True),
        (head(cluster="a", replicas=[1, 2]), False),  # nobody claims broker 2
    ],
)
def test_each_broker_may_write_a_trace_that_lists_all_of_them(second: Line, decided: bool, tmp_path: Path) -> None:
    """A trace that lists a replica, and has no line about it, takes no claim of another trace away."""
    leads, follows = led_by(1, 2)
    first = head(cluster="a", replicas=[1, 2], complete=[1])
    (partition,) = scan(
        [written(tmp_path, {"broker-1.jsonl": [first, leads], "broker-2.jsonl": [second, follows]})]
    ).partitions
    assert (partition.judgements["two-leaders-one-epoch"].verdict is Verdict.CLEAN) == decided


def test_a_trace_with_lines_about_a_replica_takes_its_claim_away(tmp_path: Path) -> None:
    leads, follows = led_by(1, 2)
    first = head(cluster="a", replicas=[1, 2], complete=[1, 2])
    second = head(cluster="a", replicas=[1, 2], complete=[1])
    traces = {"broker-1.jsonl": [first, leads], "broker-2.jsonl": [second, follows]}
    (partition,) = scan([written(tmp_path, traces)]).partitions
    assert partition.judgements["two-leaders-one-epoch"].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("third", "verdict"), [(False, Verdict.UNKNOWN), (True, Verdict.CLEAN)])
def test_a_broker_that_is_listed_and_that_no_trace_claims_may_have_led(
    third: bool, verdict: Verdict, tmp_path: Path
) -> None:
    """Each broker writes its own trace, and that of broker 3 may be missing."""
    leads, follows = led_by(1, 2)
    lines = {1: [leads], 2: [follows], **({3: []} if third else {})}
    heads = {broker: head(cluster="a", replicas=[1, 2, 3], complete=[broker]) for broker in lines}
    traces = {f"broker-{broker}/trace.jsonl": [heads[broker], *own] for broker, own in lines.items()}
    (partition,) = scan([written(tmp_path, traces)]).partitions
    assert partition.judgements["two-leaders-one-epoch"].verdict is verdict
    assert partition.judgements["committed-data-lost"].verdict is verdict
