"""Traces of evidence as people handle them: filtered, sorted, handed in twice, or beside another one that overlaps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forensics.engines import local
from forensics.result import Result
from tests.cases.test_traces_of_evidence import answers, written

Line = dict[str, Any]

CASE = "kip101-0.10.2.2"
LOSS = ["committed-data-lost", "replica-divergence", "truncation-below-committed"]


@pytest.fixture(scope="module")
def whole(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The trace of a cluster that lost and forked [50, 80)."""
    return written(sample_traces / CASE, tmp_path_factory.mktemp("trace") / "t.jsonl").read_text()


def violated(result: Result) -> list[str]:
    (partition,) = result.partitions
    return [rule for rule, judged in partition.judgements.items() if judged.verdict.value == "violated"]


def unknown(result: Result) -> set[str]:
    (partition,) = result.partitions
    return {rule for rule, judged in partition.judgements.items() if judged.verdict.value == "unknown"}


def scanned(folder: Path, **files: str) -> Result:
    for name, text in files.items():
        (folder / f"{name}.jsonl").write_text(text)
    return local.scan([str(folder)])


def changed(text: str, change: Callable[[Line], Line | None]) -> str:
    kept = (change(json.loads(line)) for line in text.splitlines())
    return "".join(json.dumps(line) + "\n" for line in kept if line is not None)


def backwards(line: Line) -> Line:
    return dict(reversed(line.items()))


@pytest.mark.parametrize("write", [lambda t: changed(t, backwards), lambda t: "\ufeff" + t, lambda t: t + "\n\n"])
def test_the_order_of_fields_and_marks_around_lines_change_nothing(
    write: Callable[[str], str], whole: str, tmp_path: Path
) -> None:
    result = scanned(tmp_path, t=write(whole))
    assert violated(result) == LOSS
    assert unknown(result) == set()
    assert result.case.notices.is_empty()


@pytest.mark.parametrize("gone", ["batches", "epoch_entry", "hw_checkpoint"])
def test_a_file_of_which_a_filter_left_out_lines_counts_as_not_there(gone: str, whole: str, tmp_path: Path) -> None:
    """Without its batches a segment would look empty, and nothing would part two empty logs."""
    text = changed(whole, lambda line: None if line["kind"] == gone else line)
    left_out = sum(json.loads(line)["kind"] == gone for line in whole.splitlines())
    result = scanned(tmp_path, t=text)
    if left_out:
        assert set(result.case.notices.get_column("reason").str.extract("(the file is left out)")) == {
            "the file is left out"
        }
    assert set(violated(result)) <= {*LOSS, "evidence-gap"}
    assert {"replica-divergence", "segment-damage"} <= unknown(result) or gone != "batches"


@pytest.mark.parametrize("times", [2, 3])
def test_a_trace_that_was_written_twice_into_one_file_is_one(times: int, whole: str, tmp_path: Path) -> None:
    assert violated(scanned(tmp_path, t=whole * times)) == LOSS


def without_settings(line: Line) -> Line | None:
    return None if line["kind"] == "broker_config" else line


def of_broker_2(line: Line) -> Line | None:
    return line if line["kind"] == "trace" or 2 in (line.get("witness"), line.get("replica")) else None


@pytest.mark.parametrize("change", [without_settings, of_broker_2, backwards])
def test_two_traces_that_overlap_tell_each_event_once(
    change: Callable[[Line], Line | None], whole: str, tmp_path: Path
) -> None:
    result = scanned(tmp_path, t=whole, other=changed(whole, change))
    assert violated(result) == LOSS
    assert unknown(result) == set()


def of_other_cluster(line: Line) -> Line:
    return {**line, "cluster": "another-one"} if line["kind"] == "trace" else line


def test_equal_files_of_two_clusters_are_two(whole: str, tmp_path: Path) -> None:
    text = changed(
        changed(whole, of_other_cluster),
        lambda line: {**line, "detail": "another-one"} if line["kind"] == "broker_cluster" else line,
    )
    text = text.replace(json.loads(whole.splitlines()[0])["cluster"], "another-one")
    result = scanned(tmp_path, t=whole, other=text)
    assert sorted({partition.history.cluster or "" for partition in result.partitions}) == sorted(
        {"another-one", json.loads(whole.splitlines()[0])["cluster"]}
    )
    for partition in result.partitions:
        assert [r for r, judged in partition.judgements.items() if judged.verdict.value == "violated"] == LOSS


def parts_of_logs(folder: Path, share: float) -> Iterator[Path]:
    for log in sorted([*folder.rglob("server.log"), *folder.rglob("state-change.log")]):
        rows = log.read_text().splitlines(keepends=True)
        tail = log.with_name(f"{log.stem}-tail.log")
        tail.write_text("".join(rows[int(len(rows) * share) :]))
        yield tail


@pytest.mark.parametrize("case", [CASE, "unclean-0.10.2.2", "unclean-3.9.1"])
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8])
def test_the_end_of_a_log_beside_the_log_changes_nothing(
    case: str, share: float, sample_traces: Path, tmp_path: Path
) -> None:
    """Somebody saved the last lines, and somebody else the whole log."""
    shutil.copytree(sample_traces / case, tmp_path / case, ignore=shutil.ignore_patterns("README.md", "truth.json"))
    wanted = answers(local.scan([str(tmp_path)]))
    assert list(parts_of_logs(tmp_path, share))
    assert answers(local.scan([str(tmp_path)])) == wanted
