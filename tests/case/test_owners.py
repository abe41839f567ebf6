"""Whose file it is: what a file says of itself counts more than what lies beside it, folder names count least."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.case.owners import by_folder
from forensics.engines.local import scan, take_in
from forensics.rules.finding import Finding
from parsers.schema import Kind

PRINTED = "[2026-03-01 12:00:00,000] INFO [KafkaServer id={0}] started (kafka.server.KafkaServer)\n"
MUTE = "[2026-03-01 12:00:00,000] INFO Truncating log orders-0 to offset 50. (kafka.log.Log)\n"
META = "version=0\nbroker.id={0}\ncluster.id={1}\n"
META_KRAFT = "version=1\nnode.id={0}\ncluster.id={1}\n"

Write = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def writes(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    return writes


def owners(folder: Path) -> dict[str, int | None]:
    sources = take_in([str(folder)]).sources
    names = (path.removeprefix(f"{folder}/") for path in sources["path"])
    return dict(zip(names, sources["broker"].to_list(), strict=True))


def clusters(folder: Path) -> dict[str, str | None]:
    sources = take_in([str(folder)]).sources
    names = (path.removeprefix(f"{folder}/") for path in sources["path"])
    return dict(zip(names, sources["cluster"].to_list(), strict=True))


def test_meta_properties_decides_for_all_below_it(write: Write, tmp_path: Path) -> None:
    write("broker-7/d/meta.properties", META.format(3, "c"))
    write("broker-7/d/replication-offset-checkpoint", "0\n1\norders 0 5\n")
    write("broker-7/d/orders-0/leader-epoch-checkpoint", "0\n1\n0 0\n")
    assert set(owners(tmp_path).values()) == {3}


def test_kraft_names_it_a_node(write: Write, tmp_path: Path) -> None:
    write("x/meta.properties", META_KRAFT.format(101, "c"))
    write("x/replication-offset-checkpoint", "0\n1\norders 0 5\n")
    assert set(owners(tmp_path).values()) == {101}


def test_a_log_is_its_printers_whatever_the_folder_says(write: Write, tmp_path: Path) -> None:
    write("broker-7/server.log", PRINTED.format(2) + MUTE)
    assert owners(tmp_path) == {"broker-7/server.log": 2}


def test_a_log_that_names_nobody_belongs_to_its_neighbours_printer(write: Write, tmp_path: Path) -> None:
    write("a/server.log", PRINTED.format(2))
    write("a/old/server.log.1", MUTE)
    write("b/server.log", PRINTED.format(3))
    assert owners(tmp_path) == {"a/server.log": 2, "a/old/server.log.1": 2, "b/server.log": 3}


def test_settings_beside_a_log_name_its_broker(write: Write, tmp_path: Path) -> None:
    write("a/config/server.properties", "broker.id=4\nlog.dirs=/d\n")
    write("a/server.properties", "broker.id=4\n")
    write("a/logs/server.log", MUTE)
    assert owners(tmp_path)["a/logs/server.log"] == 4


@pytest.mark.parametrize("folder", ["broker-5", "kafka5", "node_5", "Kafka-5", "prod-kafka-5", "server.5"])
def test_a_folders_name_is_the_last_resort(folder: str, write: Write, tmp_path: Path) -> None:
    write(f"{folder}/server.log", MUTE)
    assert owners(tmp_path) == {f"{folder}/server.log": 5}


@pytest.mark.parametrize("folder", ["logs", "2026-03-01", "incident-17", "broker", "broker-5-old"])
def test_a_number_in_a_name_is_not_yet_a_broker(folder: str, write: Write, tmp_path: Path) -> None:
    write(f"{folder}/server.log", MUTE)
    assert owners(tmp_path) == {f"{folder}/server.log": None}


@pytest.mark.parametrize(
    ("prefix", "folder", "broker"),
    [
        ("kafka-5  | ", "all", 5),
        ("[pod/prod-kafka-5/kafka] ", "all", 5),
        ("kafka-5  | ", "broker-4", 4),  # a collector's name for it is the last resort
        ("kafka  | ", "all", None),
    ],
)
def test_the_only_writer_that_a_collector_names_is_the_owner(
    prefix: str, folder: str, broker: int | None, write: Write, tmp_path: Path
) -> None:
    write(f"{folder}/all.log", "".join(f"{prefix}{line}" for line in (MUTE, MUTE.replace("12:00", "12:01"))))
    assert owners(tmp_path) == {f"{folder}/all.log": broker}


def test_two_brokers_logs_in_one_folder_stay_apart(write: Write, tmp_path: Path) -> None:
    write("all/kafka-a.log", PRINTED.format(1) + MUTE)
    write("all/kafka-b.log", PRINTED.format(2) + MUTE)
    write("all/kafka-c.log", MUTE)
    assert owners(tmp_path) == {"all/kafka-a.log": 1, "all/kafka-b.log": 2, "all/kafka-c.log": None}


def test_two_log_directories_of_one_broker_are_one_brokers(write: Write, tmp_path: Path) -> None:
    for number, name in enumerate(("disk1", "disk2")):
        write(f"{name}/meta.properties", META.format(3, "c"))
        write(f"{name}/replication-offset-checkpoint", f"0\n1\norders {number} 5\n")
    assert set(owners(tmp_path).values()) == {3}


def test_a_brokers_logs_are_of_the_cluster_its_data_names(write: Write, tmp_path: Path) -> None:
    write("b1/data/meta.properties", META.format(1, "blue"))
    write("b1/logs/server.log", PRINTED.format(1))
    write("b2/data/meta.properties", META.format(2, "green"))
    write("b2/logs/server.log", PRINTED.format(2))
    found = clusters(tmp_path)
    assert (found["b1/logs/server.log"], found["b2/logs/server.log"]) == ("blue", "green")


def test_the_only_cluster_is_everyones(write: Write, tmp_path: Path) -> None:
    write("b1/data/meta.properties", META.format(1, "blue"))
    write("b2/logs/server.log", PRINTED.format(2))
    assert clusters(tmp_path)["b2/logs/server.log"] == "blue"


# -- on real evidence ------------------------------------------------------------------------------


def told(findings: list[Finding]) -> list[tuple[object, ...]]:
    return sorted((f.fingerprint, f.severity.value, f.confidence.value) for f in findings)


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "powerloss-0.11.0.3"])
def test_real_files_find_their_broker_without_folder_names(name: str, sample_traces: Path, tmp_path: Path) -> None:
    """Folders are called after nothing: ids come from the files, and the findings are the same."""
    trace = sample_traces / name
    for number, folder in enumerate(sorted(trace.glob("broker-*"), reverse=True)):
        shutil.copytree(folder, tmp_path / f"{'abcd'[number]}-host")
    hidden, whole = scan([str(tmp_path)]), scan([str(trace)])
    assert told(hidden.findings) == told(whole.findings)
    assert sorted(hidden.case.brokers) == sorted(whole.case.brokers)


def test_wrong_folder_names_mislead_nobody(sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "unclean-3.9.1"
    for real, shown in ((1, 2), (2, 3), (3, 1), (100, 7)):
        shutil.copytree(trace / f"broker-{real}", tmp_path / f"broker-{shown}")
    assert told(scan([str(tmp_path)]).findings) == told(scan([str(trace)]).findings)


@pytest.mark.parametrize(
    ("folder", "broker"),
    [
        ("KAFKA-7104", None),
        ("KAFKA-16305-logs", None),
        ("KAFKA-3", 3),
        ("kafka-1001", 1001),
        ("kafka-7104/kafka-2", 2),
        ("KAFKA-7104/kafka-2", 2),
    ],
)
def test_a_folder_named_after_a_ticket_is_no_brokers(folder: str, broker: int | None) -> None:
    names = folder.split("/")
    above = tuple("/".join(names[: n + 1]) for n in reversed(range(len(names))))
    assert by_folder(above) == broker


DUMP = (
    "Dumping /var/lib/kafka/data/{topic}/00000000000000000000.log\nLog starting offset: 0\n"
    "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1795234275812 size: 70 magic: 2 compresscodec: none crc: {crc} isvalid: true\n"
)


@pytest.mark.parametrize(
    ("name", "broker"),
    [
        ("broker-2-dump.txt", 2),
        ("broker2_dump-log.txt", 2),
        ("orders-0-on-kafka-2.out", 2),
        ("dumps/node_2.orders-0.txt", 2),
        ("dump.txt", None),
        ("kafka-3.9.1-dump.txt", None),
        ("kafka-1-and-kafka-2-dumps.txt", None),
        ("broker-2/dump-of-kafka-1.txt", 2),
    ],
)
def test_the_output_of_a_tool_may_be_named_after_its_broker(
    name: str, broker: int | None, write: Write, tmp_path: Path
) -> None:
    write(name, DUMP.format(topic="orders-0", crc=1))
    assert set(owners(tmp_path).values()) <= {broker, None}
    assert {one for one in owners(tmp_path).items() if one[1] is not None or "!" in one[0]} >= {
        (f"{name}!/var/lib/kafka/data/orders-0/00000000000000000000.log", broker)
    }


def test_a_topic_in_the_name_of_a_dump_is_no_broker(write: Write, tmp_path: Path) -> None:
    write("replica-5-broker-2.txt", DUMP.format(topic="replica-5", crc=1))
    assert set(owners(tmp_path).values()) == {2}


def test_dumps_beside_one_another_are_compared(write: Write, tmp_path: Path) -> None:
    """No file but the dumps names a broker. Two have another record in the same leader epoch."""
    for broker, crc in ((1, 7), (2, 8)):
        write(f"kafka-{broker}-dump.txt", DUMP.format(topic="orders-0", crc=crc))
    result = scan([str(tmp_path)])
    assert [(one.rule, one.confidence.value, one.offsets) for one in result.findings if one.rule != "evidence-gap"] == [
        ("replica-divergence", "suspected", ((0, 1),))
    ]


ROUTINE = (
    "[2026-03-01 12:00:00,000] INFO [QuorumController id={0}] In the new epoch 2, the leader is (none). "
    "(org.apache.kafka.controller.QuorumController)\n"
)
"""A line that adds nothing to others."""


def test_a_routine_line_names_its_broker_where_no_other_line_does(write: Write, tmp_path: Path) -> None:
    write("one.log", ROUTINE.format(4) + MUTE)
    write("two.log", ROUTINE.format(4) + ROUTINE.format(5) + MUTE)
    assert owners(tmp_path) == {"one.log": 4, "two.log": None}


def test_a_routine_line_adds_no_row_where_another_line_names_the_broker(write: Write, tmp_path: Path) -> None:
    write("one.log", ROUTINE.format(4) + PRINTED.format(4))
    assert Kind.BROKER_NAMED.value not in take_in([str(tmp_path)]).observations.get_column("kind").to_list()
