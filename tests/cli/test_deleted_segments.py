"""Segments that a broker renamed ``*.log.deleted``: a place to find lost records, and no part of any log."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from forensics.model.segments import segment as written
from forensics.model.state import Batch, Log
from parsers import read
from parsers.walk import files
from tests.cli.conftest import Run
from tests.incident import batch
from tools.samples import unpacked

UNCLEAN = unpacked() / "unclean-3.9.1"
KIP101 = unpacked() / "kip101-0.10.2.2"
LOST = range(30, 50)
DELETED = "00000000000000000030.log.deleted"
BESIDE = ("30.index", "30.timeindex", "30.txnindex", "50.snapshot")


def lost_segment() -> bytes:
    """Offsets 30 to 49 of leader epoch 0, which ``unclean-3.9.1`` lost, as broker 1 had them in a segment."""
    log = Log()
    log.batches = [Batch(offset, offset + 1, 0, (f"lost-{offset}",), 0, "all") for offset in LOST]
    return written(log, 2)


def with_deleted(into: Path, case: Path = UNCLEAN) -> Path:
    """A copy of the case, in which broker 1 renamed its segment with the lost offsets instead of truncating in it."""
    shutil.copytree(case, into, ignore=shutil.ignore_patterns("truth.json", "README.md"))
    partition = into / "broker-1" / "data" / "orders-0"
    (partition / DELETED).write_bytes(lost_segment())
    for name in BESIDE:
        offset, _, kind = name.partition(".")
        (partition / f"{int(offset):020}.{kind}.deleted").write_bytes(b"\0" * 12)
    return into


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_deleted(tmp_path_factory.mktemp("deleted") / "case")


_SCANNED: dict[Path, dict[str, Any]] = {}


def answers(run: Run, path: Path) -> dict[str, Any]:
    """All that a scan concludes, without words of advice; of each evidence once."""
    if path not in _SCANNED:
        _SCANNED[path] = _answers(run("scan", path, "--format", "json", "--fail-on", "never").document)
    return _SCANNED[path]


def _answers(document: dict[str, Any]) -> dict[str, Any]:
    return {
        "verdicts": [(one["topic"], one["partition"], one["verdicts"]) for one in document["partitions"]],
        "findings": [
            {k: one[k] for k in ("fingerprint", "rule", "severity", "confidence", "offsets", "records", "replicas")}
            for one in document["findings"]
        ],
    }


def test_a_deleted_segment_changes_no_verdict(run: Run, case: Path) -> None:
    found = answers(run, case)
    assert found == answers(run, UNCLEAN)
    assert found["findings"][0]["offsets"] == [[30, 50]]


def test_the_scan_names_it_as_the_copy_to_keep(run: Run, case: Path) -> None:
    before = run("scan", UNCLEAN, "--format", "json").document["findings"]
    (lost,) = [
        one
        for one in run("scan", case, "--format", "json").document["findings"]
        if one["rule"] == "committed-data-lost"
    ]
    path = f"broker-1/data/orders-0/{DELETED}"
    assert "A deleted segment of broker 1 has them." in lost["summary"]
    assert path in lost["keep"]
    first = lost["next_steps"][0]
    assert path in first
    assert "removes it when it starts" in first
    assert any(text.startswith("start broker 1 before you have copied") for text in lost["do_not"])
    assert not any(DELETED in json.dumps(one) for one in before)


def test_salvage_gives_the_lost_records_byte_for_byte(run: Run, case: Path, tmp_path: Path) -> None:
    into = tmp_path / "recovered"
    ran = run("salvage", case, "-p", "orders-0", "-o", into, "--format", "json")
    assert ran.code == 0, ran.err
    side = ran.document["sides"][0]
    assert (side["lost"], side["records"], side["leader_epochs"]) == ([[30, 50]], 20, [0])
    (copy,) = side["copies"]
    assert copy["state"] == "deleted-segments"
    assert copy["directory"].endswith(DELETED)
    assert (into / "broker-1" / "orders-0" / "00000000000000000030.log").read_bytes() == lost_segment()
    lines = [json.loads(line) for line in (into / "broker-1" / "records.jsonl").read_text().splitlines()]
    assert [(one["offset"], one["value"]) for one in lines] == [(offset, f"lost-{offset}") for offset in LOST]
    said = run("salvage", case, "-p", "orders-0", "--dry-run").out
    assert "3 copies and 1 deleted segment in the evidence" in said
    assert f"{DELETED} (deleted: its broker removes it when it starts)" in said


def test_the_lost_records_of_a_real_log_come_back_from_a_deleted_segment(run: Run, tmp_path: Path) -> None:
    """The bytes that broker 1 of kip101 wrote, as broker 3 would have them if it had rolled its log at offset 50."""
    folder, whole = tmp_path / "case", tmp_path / "whole"
    shutil.copytree(KIP101, whole)
    original = (whole / "broker-1/data/orders-0/00000000000000000000.log").read_bytes()[1840:2940]
    shutil.copytree(whole, folder)
    (folder / "broker-3/data/orders-0/00000000000000000050.log.deleted").write_bytes(original)
    assert answers(run, folder) == answers(run, whole)
    shutil.rmtree(folder / "broker-1" / "data")
    into = tmp_path / "recovered"
    ran = run("salvage", folder, "-p", "orders-0", "--offsets", "50..80", "-o", into, "--format", "json")
    assert ran.code == 0, ran.err
    (side,) = [one for one in ran.document["sides"] if one["copies"][0]["state"] == "deleted-segments"]
    recovered = into / side["folder"] / "orders-0" / "00000000000000000050.log"
    assert recovered.read_bytes() == original


@pytest.mark.parametrize("own", [True, False])
def test_a_deleted_directory_is_named_if_it_is_of_the_same_topic(run: Run, tmp_path: Path, own: bool) -> None:
    folder = tmp_path / "case"
    shutil.copytree(UNCLEAN, folder)
    data = folder / "broker-2" / "data"
    left = data / f"orders-0.{'0123456789abcdef' * 2}-delete"
    left.mkdir()
    (left / "00000000000000000030.log").write_bytes(lost_segment())
    metadata = (data / "orders-0" / "partition.metadata").read_text()
    (left / "partition.metadata").write_text(metadata if own else "version: 0\ntopic_id: gVALHyhWRNOLVG3R7J71Bg\n")
    found = run("scan", folder, "--format", "json").document["findings"]
    summary = next(one["summary"] for one in found if one["rule"] == "committed-data-lost")
    assert ("A deleted directory of broker 2 has them." in summary) is own
    if own:
        assert answers(run, folder) == answers(run, UNCLEAN)


def test_messages_without_leader_epochs_may_be_the_lost_ones(run: Run, tmp_path: Path) -> None:
    """Broker 1 truncated offsets 56 to 69, which no copy has, and still has 42 to 55."""
    folder = tmp_path / "case"
    shutil.copytree(unpacked() / "unclean-0.10.2.2", folder)
    log = Log()
    log.batches = [Batch(offset, offset + 1, 0, ("lost",), 0, "all") for offset in range(56, 70)]
    name = "00000000000000000056.log.deleted"
    (folder / "broker-1/data/orders-0" / name).write_bytes(written(log, 1))
    found = run("scan", folder, "--format", "json").document["findings"]
    steps = next(one["next_steps"] for one in found if one["rule"] == "committed-data-lost")
    assert any(f"{name} of broker 1 to another disk. It may have offsets 56 to 69, and" in step for step in steps)


def test_segments_that_were_deleted_at_different_times_are_not_mixed(run: Run, case: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(case, folder)
    other = b"".join(batch(offset, offset, 1, salt=b"x") for offset in range(40, 55))
    (folder / "broker-1/data/orders-0/00000000000000000040.log.deleted").write_bytes(other[:-5])
    assert answers(run, folder) == answers(run, UNCLEAN)
    document = run("salvage", folder, "-p", "orders-0", "--dry-run", "--format", "json").document
    found = [(one["leader_epochs"], one["offsets"], one["lost"]) for one in document["sides"]]
    assert found == [
        ([0], [[30, 50]], [[30, 50]]),
        ([2], [[30, 45]], []),
        ([1], [[40, 50]], []),
    ]


def test_a_bundle_has_its_headers_or_all_of_it(run: Run, case: Path, tmp_path: Path) -> None:
    headers, whole = tmp_path / "headers.tar", tmp_path / "whole.tar"
    run("collect", case, "-o", headers)
    run("collect", case, "-o", whole, "--with-segments")
    assert b"lost-30" not in headers.read_bytes()
    expected = answers(run, case)
    for bundle in (headers, whole):
        assert answers(run, bundle) == expected
        found = run("scan", bundle, "--format", "json").document["findings"]
        assert any("deleted segment of broker 1 has them" in one["summary"] for one in found)
    ran = run("salvage", whole, "-p", "orders-0", "-o", tmp_path / "recovered")
    assert ran.code == 0, ran.err
    assert (tmp_path / "recovered/broker-1/orders-0/00000000000000000030.log").read_bytes() == lost_segment()
    # A dump has no records to give.
    assert run("salvage", headers, "-p", "orders-0", "--dry-run").code == 2


def test_a_trace_of_the_evidence_keeps_it(run: Run, case: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    run("trace", case, "-o", trace)
    assert '"format":"deleted-segment"' in trace.read_text().replace(": ", ":")
    assert answers(run, trace)["verdicts"] == answers(run, case)["verdicts"]
    found = run("scan", trace, "--format", "json").document["findings"]
    assert any("deleted segment of broker 1 has them" in one["summary"] for one in found)


def test_an_earlier_copy_of_a_folder_is_a_copy_with_a_deleted_segment_too(run: Run, case: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(UNCLEAN, folder)
    shutil.copytree(case / "broker-1" / "data", folder / "broker-1" / "data-copied-before")
    assert answers(run, folder) == answers(run, UNCLEAN)
    assert run("salvage", folder, "-p", "orders-0", "--dry-run").code == 0


def test_inspect_says_what_it_is(run: Run, case: Path) -> None:
    said = run("inspect", case / "broker-1/data/orders-0" / DELETED).out
    assert "deleted-segment (record batches that a broker is about to remove)" in said
    assert "partition orders-0, deleted: no part of its log, and removed when the broker starts" in said
    assert "offsets from 30, log end offset 50, 20 batches" in said


@pytest.mark.parametrize(
    ("place", "name", "expected"),
    [
        ("orders-0", DELETED, "deleted-segment"),
        ("orders-0", DELETED.replace("deleted", "cleaned"), "irrelevant"),
        ("orders-0", DELETED.replace("deleted", "swap"), "irrelevant"),
        ("orders-0", DELETED.replace("log", "index"), "irrelevant"),
        ("__cluster_metadata-0", DELETED, "irrelevant"),
        ("elsewhere", DELETED, "irrelevant"),
    ],
)
def test_only_a_segment_that_is_to_be_removed_is_read(tmp_path: Path, place: str, name: str, expected: str) -> None:
    path = tmp_path / place / name
    path.parent.mkdir()
    path.write_bytes(lost_segment())
    found = read.read(next(iter(files([str(path)]))))
    assert found.format == expected
    assert found.batches.height == (20 if expected == "deleted-segment" else 0)
    assert found.directory_state != "current"


@pytest.mark.parametrize("size", [0, 1, 40, 700])
def test_a_torn_one_is_read_as_far_as_it_goes_and_noted(tmp_path: Path, size: int) -> None:
    path = tmp_path / "orders-0" / DELETED
    path.parent.mkdir()
    path.write_bytes(lost_segment()[:size])
    found = read.read(next(iter(files([str(path)]))))
    assert found.format == "deleted-segment"
    assert found.notices.height == (1 if size else 0)
