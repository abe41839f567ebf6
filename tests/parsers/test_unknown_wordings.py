"""A warning of a part that replicates is never dropped: it is read, or told as an unknown wording, with a count."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.read import read, read_unit
from parsers.schema import NOTICES, empty
from parsers.text import broker_log
from parsers.text.extract import extract
from parsers.text.frames import STOCK
from parsers.text.lines import Block
from tests.parsers.handing_over import source

TIME = "[2026-11-21 05:31:28,430]"
ODD = "[LogLoader partition={}, dir=/data] Found 3 strange things in segment 0"
KNOWN = f"{TIME} INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
LOGGERS = (
    "kafka.log.LogManager",
    "kafka.log.UnifiedLog$",
    "kafka.cluster.Partition",
    "kafka.controller.KafkaController",
    "kafka.raft.KafkaMetadataLog",
    "kafka.server.ReplicaManager",
    "kafka.server.ReplicaFetcherThread",
    "kafka.server.AbstractFetcherManager",
    "kafka.server.RemoteLeaderEndPoint",
    "kafka.server.LogDirFailureChannel",
    "kafka.server.DefaultAlterPartitionManager",
    "kafka.server.epoch.LeaderEpochFileCache",
    "kafka.server.checkpoints.OffsetCheckpointFile",
    "state.change.logger",
    "org.apache.kafka.raft.KafkaRaftClient",
    "org.apache.kafka.controller.QuorumController",
    "org.apache.kafka.storage.internals.log.LogLoader",
    "org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache",
    "ReplicaManager",
)
OTHERS = (
    "kafka.network.Processor",
    "kafka.server.KafkaApis",
    "kafka.server.BrokerMetadataCheckpoint",
    "kafka.coordinator.group.GroupMetadataManager",
    "org.apache.kafka.clients.NetworkClient",
    "org.apache.zookeeper.ClientCnxn",
    "com.example.kafka.log.Mine",
    "com.example.ReplicaManagerOfMine",
)


def noticed(*lines: str, name: str = "server.log") -> list[tuple[str, int]]:
    found = read(source(("\n".join(lines) + "\n").encode(), name))
    return [(row["reason"], row["line"]) for row in found.notices.iter_rows(named=True)]


@pytest.mark.parametrize("level", ["WARN", "ERROR", "FATAL"])
@pytest.mark.parametrize("logger", LOGGERS)
def test_a_warning_of_a_part_that_replicates_is_told(logger: str, level: str) -> None:
    line = f"{TIME} {level} [X id=1] Something that nobody foresaw ({logger})"
    assert noticed(KNOWN, line) == [(f"unknown wording: 1 {level} line of {logger}, not understood", 2)]


@pytest.mark.parametrize("level", ["INFO", "DEBUG", "TRACE"])
@pytest.mark.parametrize("logger", LOGGERS)
def test_what_is_no_warning_is_not_told(logger: str, level: str) -> None:
    assert noticed(KNOWN, f"{TIME} {level} [X id=1] WARN: an ERROR that nobody foresaw ({logger})") == []


@pytest.mark.parametrize("logger", OTHERS)
def test_warnings_of_other_parts_are_not_told(logger: str) -> None:
    assert noticed(KNOWN, f"{TIME} WARN [X id=1] Something that nobody foresaw ({logger})") == []


def test_warnings_that_begin_alike_are_one_notice_with_their_number_at_the_first() -> None:
    lines = [f"{TIME} WARN {ODD.format(f'orders-{number}')} (kafka.log.LogLoader)" for number in range(7)]
    other = f"{TIME} ERROR Could not close /data/orders-0 in time (kafka.log.LogManager)"
    found = read(source("\n".join([KNOWN, *lines[:4], other, *lines[4:], ""]).encode()))
    assert [(row["reason"], row["excerpt"], row["line"]) for row in found.notices.iter_rows(named=True)] == [
        ("unknown wording: 7 WARN lines like this of kafka.log.LogLoader, not understood", lines[0], 2),
        ("unknown wording: 1 ERROR line of kafka.log.LogManager, not understood", other, 6),
    ]
    assert (found.events, found.relevant, found.understood) == (9, 9, 1)


def test_a_known_warning_is_not_told_whether_it_states_anything_or_not() -> None:
    found = read(
        source(
            f"{TIME} ERROR Error while renaming dir for orders-0 in log dir /data (kafka.server.LogDirFailureChannel)\n"
            f"{TIME} ERROR Error when freeing index buffer (kafka.log.OffsetIndex)\n".encode()
        )
    )
    assert found.notices.is_empty()
    assert found.observations.get_column("kind").to_list() == ["storage_error"]
    assert (found.events, found.relevant, found.understood) == (2, 2, 2)


def test_a_warning_that_is_cut_is_told_once() -> None:
    whole = f"{TIME} WARN {ODD.format('orders-0')} (kafka.log.LogLoader)"
    assert noticed(whole[:-20], KNOWN, KNOWN) == [("a line whose end is truncated or overwritten", 1)]


def test_a_line_with_a_known_text_in_another_wording_is_told_as_that() -> None:
    line = f"{TIME} WARN [Log partition=orders-0, dir=/d] Corruption found in segment x (kafka.log.Log)"
    assert noticed(KNOWN, line) == [('recognised by "Corruption found in segment " but not understood', 2)]


def test_other_layouts_are_told_by_their_logger_or_by_the_prefix_of_the_message() -> None:
    odd = ODD.format("orders-0")
    first = [f"2026-11-21 05:31:28,43{n} INFO kafka.server.KafkaServer: [KafkaServer id=1] started" for n in range(3)]
    line = f"2026-11-21 05:31:29,430 WARN kafka.log.LogLoader: {odd}"
    assert noticed(*first, line) == [("unknown wording: 1 WARN line of kafka.log.LogLoader, not understood", 4)]
    bare = [f"2026-11-21 05:31:28,43{n} INFO [KafkaServer id=1] started" for n in range(3)]
    assert noticed(*bare, f"2026-11-21 05:31:29,430 WARN {odd}") == [
        ("unknown wording: 1 WARN line, not understood", 4)
    ]
    assert noticed(*bare, "2026-11-21 05:31:29,430 WARN Found 3 strange things") == []
    events = [{"timestamp": "2026-11-21T05:31:28.430Z", "level": "INFO", "message": "[KafkaServer id=1] started"}] * 3
    events.append({"timestamp": "2026-11-21T05:31:29.430Z", "level": "ERROR", "message": odd})
    logged = [json.dumps({**event, "logger_name": "kafka.log.LogLoader"}) for event in events]
    assert noticed(*logged) == [("unknown wording: 1 ERROR line of kafka.log.LogLoader, not understood", 4)]


def test_bytes_of_unknown_wordings_are_unknown() -> None:
    warning = f"{TIME} WARN {ODD.format('orders-0')} (kafka.log.LogLoader)"
    lines = [KNOWN, warning, "\tat kafka.log.LogLoader.load(LogLoader.scala:1)", warning, KNOWN]
    found = broker_log.classes(source("\n".join(lines).encode()))
    assert found.get_column("class").to_list() == ["understood", "unknown", "unknown", "unknown", "understood"]


def test_files_that_are_read_together_are_told_of_as_each_by_itself() -> None:
    texts = [
        "\n".join([KNOWN, *[f"{TIME} WARN {ODD.format(f'orders-{n}')} (kafka.log.LogLoader)" for n in range(count)]])
        for count in (2, 0, 5)
    ]
    sources = [source(text.encode(), f"{number}/server.log") for number, text in enumerate(texts)]
    together = read_unit(sources)
    for one, whole in zip(sources, together, strict=True):
        alone = read(one)
        assert alone.notices.equals(whole.notices)
        assert (alone.relevant, alone.understood) == (whole.relevant, whole.understood)
    assert [reading.notices.height for reading in together] == [1, 0, 1]


MESSAGES = st.sampled_from(
    [
        "[KafkaServer id=1] started",
        "Error when freeing index buffer",
        "[Log partition=orders-0, dir=/d] Truncating to offset 7",
        "[Log partition=orders-0, dir=/d] Truncating to offset",
        ODD.format("orders-0"),
        "Something else",
        "",
    ]
)
LINES = st.tuples(st.sampled_from(["INFO", "WARN", "ERROR", "FATAL"]), MESSAGES, st.sampled_from([*LOGGERS, *OTHERS]))


@given(st.lists(LINES, min_size=1, max_size=12))
def test_every_warning_of_a_part_that_replicates_is_read_or_told(said: list[tuple[str, str, str]]) -> None:
    lines = [f"{TIME} {level} {message} ({logger})" for level, message, logger in said]
    found = extract(Block(pl.Series(lines), 1, empty(NOTICES)), STOCK)
    read_or_told = {*found.read.to_list(), *found.unknown.to_list(), *found.notices.get_column("line").to_list()}
    warned = {number for number, (level, _, logger) in enumerate(said, 1) if level != "INFO" and logger not in OTHERS}
    assert warned <= read_or_told
    assert not set(found.read.to_list()) & set(found.unknown.to_list())
    grouped = found.notices.filter(pl.col("reason").str.starts_with("unknown wording")).get_column("reason")
    assert sum(int(re.findall("[0-9]+", reason)[0]) for reason in grouped) == found.unknown.len()
    assert found.relevant - found.understood == found.unknown.len() + found.notices.height - grouped.len()
