"""The evidence a run writes: real formats, the brokers' words, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from pathlib import Path

import google_crc32c
import pytest

from forensics.model import EVERY as ALL
from forensics.model import SCENARIOS, Protocol, Run, scenario
from forensics.model.evidence import log_lines
from forensics.model.segments import segment
from forensics.model.trace import epoch_ms
from forensics.model.wording import WORDINGS, wording_of

EVERY = pytest.mark.parametrize("protocol", ALL, ids=lambda p: p.name)
STAMPED = re.compile(
    r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*) \(([\w.$]+)\)", re.DOTALL
)


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@EVERY
@pytest.mark.parametrize("logging", ["default", "replication"])
def test_same_seed_same_bytes(protocol: Protocol, logging: str, tmp_path: Path) -> None:
    for name, seed in (("failover-truncation", 0), ("random", 5)):
        for copy in ("one", "two"):
            scenario(name).run(protocol, seed).write(tmp_path / name / copy, logging)  # type: ignore[arg-type]
        assert tree(tmp_path / name / "one") == tree(tmp_path / name / "two")
    scenario("random").run(protocol, 6).write(tmp_path / "other", logging)  # type: ignore[arg-type]
    assert tree(tmp_path / "other") != tree(tmp_path / "random" / "one")


def test_unknown_logging_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="default and replication"):
        scenario("loss").run("hw").write(tmp_path, "loud")  # type: ignore[arg-type]


@EVERY
def test_layout(protocol: Protocol, tmp_path: Path) -> None:
    scenario("power-loss").run(protocol).write(tmp_path)
    controller = 100 if protocol.kraft else 9
    assert {p.name for p in tmp_path.iterdir()} == {
        "broker-1",
        "broker-2",
        f"broker-{controller}",
        "events.jsonl",
        "trace.jsonl",
        "truth.json",
    }
    for broker in (1, 2):
        folder = tmp_path / f"broker-{broker}"
        assert (folder / "server.properties").read_text().startswith("log.dirs=")
        assert (folder / "logs" / "server.log").stat().st_size
        assert (folder / "logs" / "state-change.log").stat().st_size
        assert (folder / "data" / "meta.properties").is_file()
        assert (folder / "data" / "replication-offset-checkpoint").read_text() == "0\n1\norders 0 25\n"
        names = {p.name for p in (folder / "data" / "orders-0").iterdir()}
        assert "00000000000000000000.log" in names
        assert ("leader-epoch-checkpoint" in names) == protocol.epochs
        assert ("partition.metadata" in names) == (protocol.kafka >= "2.8")
    assert (tmp_path / f"broker-{controller}" / "logs" / "controller.log").stat().st_size


@EVERY
def test_truth_has_the_shape_of_recorded_cases(protocol: Protocol, tmp_path: Path) -> None:
    scenario("fork").run(protocol).write(tmp_path)
    truth = json.loads((tmp_path / "truth.json").read_text())
    recorded = {"scenario", "kafka", "mode", "logging", "topic", "acked", "lost_acked", "lost_acked_all", "lost_count"}
    assert recorded | {"diverged_offsets", "replica_ends", "readable", "expect", "actions"} <= truth.keys()
    assert truth["replica_ends"] == {"1": 3, "2": 3}
    assert truth["expect"].keys() == {"truncated_below_hw", "lost_committed", "diverged"}


@EVERY
def test_trace_is_one_observation_a_line(protocol: Protocol, tmp_path: Path) -> None:
    run = scenario("loss").run(protocol)
    run.write(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert len(rows) == len(run.cluster.trace.events)
    assert [row["n"] for row in rows] == list(range(len(rows)))
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    stated = [row for row in rows if "state" in row]
    assert stated
    assert all({"role", "leader_epoch", "log_end_offset", "high_watermark"} <= row["state"].keys() for row in stated)


# -- segments ---------------------------------------------------------------------------------------------------------


def read_back(data: bytes) -> list[tuple[int, str | None, int, bool]]:
    """(offset, value, timestamp, control) of each record, by the public client library."""
    from kafka.record import MemoryRecords

    found = []
    records = MemoryRecords(data)
    while (batch := records.next_batch()) is not None:
        control = getattr(batch, "is_control_batch", False)
        for record in batch:
            value = None if control or record.value is None else record.value.decode()
            found.append((record.offset, value, record.timestamp, bool(control)))
    return found


@EVERY
@pytest.mark.parametrize("name", ["failover-truncation", "open-transaction", "unclean-election"])
def test_segments_are_read_by_the_client_library(protocol: Protocol, name: str) -> None:
    run = scenario(name).run(protocol)
    for node in run.cluster.brokers.values():
        log = node.replica.log
        expected = [
            (offset, None if batch.marker else value, epoch_ms(batch.at), bool(batch.marker))
            for batch in log.batches
            for offset, value in enumerate(batch.values, batch.base)
        ]
        assert read_back(segment(log, protocol.magic)) == expected


def test_batch_headers_carry_epoch_and_crc() -> None:
    log = scenario("fast-failover").run("fetch").cluster.replica(1).log
    data, position = segment(log, 2), 0
    for batch in log.batches:
        base, length, epoch, magic, crc = struct.unpack_from(">qiibI", data, position)
        end = position + 12 + length
        assert (base, epoch, magic) == (batch.base, batch.epoch, 2)
        assert crc == google_crc32c.value(data[position + 21 : end])
        assert struct.unpack_from(">i", data, position + 23)[0] == batch.end - batch.base - 1
        position = end
    assert position == len(data)
    assert {batch.epoch for batch in log.batches} == {0, 2}


def test_transaction_markers_are_control_batches() -> None:
    run = scenario("open-transaction").run("fetch")
    data, position, kinds = segment(run.cluster.replica(1).log, 2), 0, []
    while position < len(data):
        base, length = struct.unpack_from(">qi", data, position)
        attributes, producer = (
            struct.unpack_from(">h", data, position + 21)[0],
            struct.unpack_from(">q", data, position + 43)[0],
        )
        kinds.append((base, bool(attributes & 0x10), bool(attributes & 0x20), producer))
        position += 12 + length
    assert kinds == [
        (0, False, False, -1),
        (3, True, False, 7),
        (5, False, False, -1),
        (6, True, True, 7),
        (7, True, False, 8),
        (9, True, True, 8),
    ]


# -- words -----------------------------------------------------------------------------------------------------------


def all_runs(protocol: Protocol) -> list[Run]:
    return [story.run(protocol) for story in SCENARIOS] + [
        scenario("random").run(protocol, seed) for seed in range(1, 13)
    ]


@EVERY
def test_lines_are_stamped_and_named(protocol: Protocol) -> None:
    for lines in log_lines(scenario("unclean-election").run(protocol), "replication").values():
        for line in lines:
            assert STAMPED.fullmatch(line) or line.startswith("kafka.common.")


@EVERY
def test_default_logging_is_a_part_of_replication_logging(protocol: Protocol) -> None:
    run = scenario("power-loss").run(protocol)
    quiet, loud = log_lines(run, "default"), log_lines(run, "replication")
    for file, lines in quiet.items():
        if file[1] == "controller.log":
            continue  # KRaft prints another line instead when DEBUG is on
        assert set(lines) <= set(loud[file])
    assert sum(map(len, loud.values())) > 2 * sum(map(len, quiet.values()))


SILENT = {
    "action": "what operators and clients did",
    "acked": "clients",
    "refused": "clients",
    "checkpoints_hw": "checkpoints leave no line",
    "flushes": "only the offset checkpoint tells",
    "asks_epoch": "seen in the answer",
    "hw_held_min_isr": "TRACE only, one line a fetch",
    "sends_metadata": "seen where it arrives",
    "isr_altered": "up to 2.6 leaders write the ISR themselves",
    "reads_for": "recorded by the line that follows",
    "fetches": "not printed as offsets before 1.1",
    "sends_state": "in KRaft there is no request",
    "epoch_refused": "KRaft fetches only",
    "fetch_refused": "errors of old fetchers are exceptions",
    "isr_refused": "the controller says it",
    "follows_again": "only KRaft",
    "isr_without": "said since 2.6",
}
"""Kinds of events for which a version may have no words, and why."""


@EVERY
def test_every_kind_of_event_is_worded_or_known_to_be_silent(protocol: Protocol) -> None:
    kinds = {event.kind for run in all_runs(protocol) for event in run.cluster.trace}
    words = wording_of(protocol.kafka)
    unworded = kinds - set(words.kinds) - set(SILENT)
    assert unworded == set()
    for kind in words.kinds:
        assert callable(getattr(words, kind)), kind


def test_versions_are_those_of_the_protocols() -> None:
    assert {words.version for words in WORDINGS} == {protocol.kafka for protocol in ALL}


def plain(line: str) -> str:
    """A line without what differs from run to run: numbers, ids, names of Scala collections, dumps of records."""
    line = re.sub(r"(?<![\w-])[A-Za-z0-9_-]{22}(?![\w-])", "ID", line)
    line = re.sub(r"orders-\d", "orders-P", line).replace("[orders,0]", "[orders,P]")
    line = re.sub(r"-?\d+", "N", line)
    line = re.sub(r"\b(?:Hash)?(Set|Map)\(", r"\1(", line)
    line = re.sub(r"\b(?:List|Vector|ArrayBuffer|Buffer)\(", "List(", line)
    line = re.sub(
        r"replica N: \(offset=N,? segment=\[N:N\]\)(?:, replica N: \(offset=N,? segment=\[N:N\]\))*", "REPLICAS", line
    )
    line = re.sub(r"N(?: ?, ?N)+", "N", line)
    line = re.sub(r"\[\((?:offset=N,)?record=.*\)\]", "[RECORDS]", line)
    line = re.sub(
        r"isLocal: (?:true|false); lastCaughtUpTimeMs: N(?:; \w+: (?:N \[N : N\]|\(offset=N segment=\[N:N\]\)))*",
        "REPLICA",
        line,
    )
    line = re.sub(r"(?:,?ReplicaId: N; Topic: orders; Partition: N; REPLICA)+", "REPLICAS", line)
    line = re.sub(r"N \[N : N\](?:,N \[N : N\])*", "AT", line)
    return re.sub(r"\b(?:true|false)\b", "BOOL", line)


# Lines for which no cluster was recorded: each is in the sources of its version (kafka-evidence, by its id there).
UNSEEN: dict[str, tuple[str, ...]] = {
    "0.10.2.2": (
        "out of range; reset offset",  # F-06
        "reset its fetch offset from",  # F-07
        "Exiting because log truncation is not allowed",  # F-10
        "skipped the become-",  # S-30
        "Shrinking ISR for partition",  # P-30
        "There's potential data loss",  # C-20
        "ISR:,LeaderEpoch",  # an ISR that its last member left
        '"isr":[]',
        "isr=[], ",
        "from OnlinePartition to OnlinePartition with leader",  # C-01
        "hut down",  # RM-9, M-15, V-06
        "hutdown",
        "hutting down",
    ),
    "1.1.1": (
        "Exiting because log truncation is not allowed",
        "skipped the become-follower",
        "Error while processing data",
    ),
    "2.0.0": ("Exiting because log truncation is not allowed",),
    "2.8.2": (
        "Cleared entries",  # E-09
        "Shrinking ISR from",  # P-32
        "since clean shutdown file was found",  # M-03
        "from OnlinePartition to OnlinePartition with state",  # C-02
        "unknown to the replica",  # F-16
        "marked as failed",  # F-27
        "Partition orders-P has an older epoch",  # F-23
        "Retrying leaderEpoch request",  # F-20
        "Unexpected error occurred while processing data",  # F-28
        "associated leader epoch N",  # S-22, S-23
        "Failed to update ISR",  # P-42
        "hut down",
        "hutdown",
        "hutting down",
        "out of range",
        "Reset fetch offset",
        "Based on replica's leader epoch",
    ),
    "3.9.1": (
        "Cleared entries",
        "electLeaders",  # K-08
        "enterControlledShutdown",  # K-08
        "leaderRecoveryState: RECOVERING -> RECOVERED",  # K-03
        "(under-min-isr)",  # S-04
        "Shrinking ISR from",  # P-33
        "Rejecting AlterPartition",  # K-06
        "Becoming the active controller",
        "has an older epoch",
        "marked as failed",
        "Unexpected error occurred while processing data",
        "out of range",
        "Reset fetch offset",
    ),
}


# Versions of which no cluster was kept: what brokers printed when a replica was elected uncleanly, when a follower that
# had not heard of the last high watermark came to lead, when one lost its unflushed tail, and at restarts.
HEARD = {"2.0.0": "heard-2.0.0.txt"}


@pytest.mark.parametrize("words", WORDINGS, ids=lambda w: w.version)
def test_words_are_those_of_real_brokers(words: type, evidence: Path) -> None:
    """Each line the model writes was printed by a real broker of that version, numbers aside, or is listed above."""
    version: str = words.version  # type: ignore[attr-defined]
    real: dict[str, set[str]] = {}
    for path in evidence.glob(f"*{version}*/broker-*/logs/*.log"):
        with path.open(errors="replace") as lines:
            real.setdefault(path.name, set()).update(line[26:].rstrip("\n") for line in lines)
    real = {name: set(map(plain, texts)) for name, texts in real.items()}
    if version in HEARD:
        for line in (Path(__file__).parent / HEARD[version]).read_text().splitlines():
            name, _, text = line.partition(" ")
            real.setdefault(name, set()).add(text)
    assert real, "no recorded cluster of that version"
    said: dict[str, set[str]] = {}
    for protocol in (p for p in ALL if p.kafka == version):
        for run in all_runs(protocol):
            for logging in ("default", "replication"):
                for (_, name), lines in log_lines(run, logging).items():  # type: ignore[arg-type]
                    firsts = (line.split("\n")[0] for line in lines)
                    said.setdefault(name, set()).update(first[26:] for first in firsts if first.startswith("["))
    missing = {text for name, texts in said.items() for text in set(map(plain, texts)) - real[name]}
    unseen = [
        text for text in missing if not any(part in text for part in UNSEEN[version]) and "KafkaConfig" not in text
    ]
    assert unseen == []
