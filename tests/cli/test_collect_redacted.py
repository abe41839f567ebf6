"""``forensics collect --redact``: no byte of the bundle has a name, and a scan of it answers as one of the host."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.local import scan
from tests.cli.conftest import Run
from tests.cli.test_collect import members
from tests.committed import commit
from tests.replay.test_group_reads import READ, power_loss
from tests.reports.html.test_redacted import SECRETS, TOPIC, house, named_in, renamed
from tools.samples import unpacked

__all__ = ["house"]

SAMPLES = unpacked()


def answers(path: Path) -> tuple[Any, ...]:
    """All that a scan concludes, without names."""
    result = scan([str(path)]).whole()
    findings = [
        (f.rule, f.severity, f.confidence, f.partition, f.replicas, f.offsets, f.records, f.epochs, f.cause)
        for f in result.findings
    ]
    verdicts = [
        (p.history.partition, p.history.incarnation, sorted((r, j.verdict) for r, j in p.judgements.items()))
        for p in result.partitions
    ]
    return sorted(map(repr, findings)), sorted(map(repr, verdicts))


def bundled(run: Run, case: Path, into: Path, *options: str) -> dict[str, bytes]:
    """The files of a redacted bundle."""
    ran = run("collect", case, "-o", into, "--redact", *options)
    assert ran.code == 0, ran.err
    found = members(into)
    # The name of the host that packs it may be any word of Kafka's: the manifest is looked at by itself.
    assert json.loads(found["collected.json"])["host"]["name"] is None
    return found


def naming(found: dict[str, bytes], names: set[str]) -> list[tuple[str, str]]:
    """Each name that is in a file or in its path."""
    return [
        (name, path)
        for path, data in found.items()
        for name in sorted(names)
        if name.lower() in path.lower() or name.lower().encode() in data.lower()
    ]


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "txn-4.1.1"])
def test_no_byte_names_the_case_and_a_scan_answers_alike(run: Run, tmp_path: Path, name: str) -> None:
    """Names are collected from the evidence itself: topics, ids, disks, and the folders that hold it."""
    case = renamed(SAMPLES / name, tmp_path)
    names = named_in(case)
    assert len(names) > 2
    bundle = tmp_path / "bundle.tar"
    found = bundled(run, case, bundle)
    assert naming(found, names) == []
    everything = {str(path.relative_to(case)): path.read_bytes() for path in case.rglob("*") if path.is_file()}
    assert {one for one, _ in naming(everything, names)} >= {"k7zz"}, "nothing to redact, so the test shows nothing"
    assert answers(bundle) == answers(case)
    assert not [one for one in scan([str(bundle)]).case.notices.get_column("reason") if "metadata records" in one]


def test_no_byte_names_a_house_that_names_itself_everywhere(run: Run, house: Any, tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.tar.gz"
    found = bundled(run, house.inputs[0], bundle)
    assert naming(found, {*SECRETS, TOPIC}) == []
    assert answers(bundle) == answers(house.inputs[0])


def test_names_are_the_same_in_each_file(run: Run, tmp_path: Path) -> None:
    found = bundled(run, SAMPLES / "unclean-3.9.1", tmp_path / "bundle.tar")
    folders = {path.rpartition("/")[0] for path in found if path.endswith("partition.metadata")}
    (topic,) = {one.rpartition("/")[2] for one in folders if "__cluster_metadata" not in one}
    assert topic == "topic1-0"
    checkpoints = [data for path, data in found.items() if path.endswith("replication-offset-checkpoint")]
    assert all(b"\ntopic1 0 45\n" in data for data in checkpoints)
    ids = {data.split()[-1] for path, data in found.items() if path.endswith("topic1-0/partition.metadata")}
    (topic_id,) = ids
    assert re.fullmatch(rb"id[0-9]{19}A", topic_id)
    logs = b"".join(data for path, data in found.items() if path.endswith("state-change.log"))
    assert b"topic1-0 with topic id Some(" + topic_id in logs
    assert b'"topic_id":"' + topic_id in found["statements.jsonl"]


def test_the_manifest_says_so_and_names_nothing(run: Run, tmp_path: Path) -> None:
    case = renamed(SAMPLES / "unclean-3.9.1", tmp_path)
    found = bundled(run, case, tmp_path / "bundle.tar")
    manifest = json.loads(found["collected.json"])
    assert manifest["redacted"] is True
    assert manifest["kafka"] == ["3.9.1"]
    assert naming({"": found["collected.json"]}, named_in(case)) == []
    forms = {(one["what"], one["form"]) for one in manifest["files"] if one["name"]}
    assert forms >= {
        ("broker-log", "redacted"),
        ("segment", "headers"),
        ("server-properties", "masked"),
        ("metadata-log", "statements"),
        ("quorum-state", "statements"),
        ("producer-snapshot", "whole"),
    }
    assert {one["name"] for one in manifest["files"] if one["name"]} | {"collected.json"} == set(found)
    # A hash of an original would show whether a guessed name is the right one.
    originals = {path.read_bytes() for path in case.rglob("replication-offset-checkpoint")}
    assert not {one["sha256"] for one in manifest["files"]} & {_sha256(data) for data in originals}


def _sha256(data: bytes) -> str:
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_a_host_is_known_by_what_a_later_file_shows(run: Run, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(SAMPLES / "kip101-0.10.2.2", case)
    for broker, line in (
        (1, "WARN zebra-7 did not answer (org.apache.kafka.clients.NetworkClient)"),
        (3, "WARN Connection to zebra-7.herd.example:9092 failed (org.apache.kafka.clients.NetworkClient)"),
    ):
        with (case / f"broker-{broker}" / "logs" / "server.log").open("a") as stream:
            stream.write(f"[2026-11-21 04:07:00,000] {line}\n")
    found = bundled(run, case, tmp_path / "bundle.tar")
    assert naming(found, {"zebra", "herd"}) == []
    said = b"".join(found.values())
    (host,) = set(re.findall(rb"WARN (host[0-9]+) did not answer", said))
    assert b"Connection to " + host + b":9092 failed" in said


def test_groups_and_their_members_have_other_names(run: Run, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(SAMPLES / "kip101-0.10.2.2", case)
    log = case / "broker-1" / "logs" / "server.log"
    lines = (
        "[GroupCoordinator 1]: Preparing to rebalance group zebra-pay in state Empty with old generation 3",
        "[GroupCoordinator 1]: Member zebra-app-5e1c1f9f-8a53 in group zebra-pay has failed, removing it",
        "[GroupMetadataManager brokerId=1] Group zebra-pay transitioned to Dead in generation 4",
    )
    with log.open("a") as stream:
        stream.writelines(f"[2026-11-21 04:07:00,000] INFO {line} (kafka.coordinator.group)\n" for line in lines)
    found = bundled(run, case, tmp_path / "bundle.tar")
    assert naming(found, {"zebra"}) == []
    (said,) = [data.decode() for path, data in found.items() if path.endswith("broker-1/logs/server.log")]
    assert len(re.findall(r"[Gg]roup (client[0-9]+) (?:in state|has failed|transitioned)", said)) == 3


def test_what_groups_read_is_packed_without_their_names(run: Run, tmp_path: Path) -> None:
    """``__consumer_offsets`` holds names in records; a loss that only a group's position shows is found again."""
    evidence, bundle = tmp_path / "evidence", tmp_path / "bundle.tar"
    power_loss(evidence)
    commit(evidence, *READ)
    assert b"billing" in b"".join(path.read_bytes() for path in evidence.rglob("*.log"))
    assert naming(bundled(run, evidence, bundle), {"billing", "orders"}) == []
    assert answers(bundle) == answers(evidence)
    assert "committed-data-lost" in repr(answers(bundle)[0])


def test_a_compressed_log_is_packed_as_text_without_names(run: Run, tmp_path: Path) -> None:
    import gzip

    case = tmp_path / "case"
    shutil.copytree(SAMPLES / "kip101-0.10.2.2", case)
    log = case / "broker-1" / "logs" / "server.log"
    log.with_name("server.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    bundle = tmp_path / "bundle.tar"
    found = bundled(run, case, bundle)
    (said,) = [data for path, data in found.items() if "broker-1/logs/server.log" in path]
    assert b"Truncating log topic1-0 to offset 80" in said
    assert b"orders" not in said
    assert answers(bundle) == answers(case)


def test_records_cannot_be_redacted(run: Run, tmp_path: Path) -> None:
    ran = run("collect", SAMPLES / "kip101-0.10.2.2", "-o", tmp_path / "a.tar", "--redact", "--with-segments")
    assert ran.code == 2
    assert "--redact cannot replace names in the values of records: leave out --with-segments" in ran.err
    assert not (tmp_path / "a.tar").exists()


def test_a_deleted_segment_is_packed_as_its_headers(run: Run, tmp_path: Path) -> None:
    case = tmp_path / "case"
    shutil.copytree(SAMPLES / "kip101-0.10.2.2", case)
    log = case / "broker-1/data/orders-0/00000000000000000000.log"
    shutil.copy(log, log.with_name("00000000000000000000.log.deleted"))
    found = bundled(run, case, tmp_path / "bundle.tar")
    ending = "/topic1-0/00000000000000000000.log.deleted.headers.txt"
    (dump,) = [data for path, data in found.items() if path.endswith(ending)]
    assert dump.startswith(b"Dumping ")
    assert b"/broker-1/data/topic1-0/00000000000000000000.log.deleted\n" in dump
