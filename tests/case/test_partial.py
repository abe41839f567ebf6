"""What excerpts add to a case and must not add, and what lines of nobody leave open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from forensics.case.coverage import coverage
from forensics.case.partial import BRIEF
from forensics.engines.local import scan, take_in
from forensics.reports.remarks import one_folder
from forensics.reports.text import render
from forensics.result import Result
from parsers.excerpts.reading import BEGINS, BETWEEN, ENDS
from parsers.formats.trace_jsonl import write_trace
from tests.case.test_printers import verdicts

Write = Callable[[str, str], Path]

LINE = "[2026-03-01 12:{:02}:00,000] INFO {}\n"
NAMED = (
    "[Partition orders-0 broker={}] Log loaded for partition orders-0 with initial high watermark {} "
    "(kafka.cluster.Partition)"
)
CUT = "[Log partition=orders-0, dir={}] Truncating to offset {} (kafka.log.Log)"
MUTE = "Truncating log orders-0 to offset 50. (kafka.log.Log)"
DUMP = """[2026-03-01 12:{:02}:00,000] INFO KafkaConfig values:
\tbroker.id = {}
\tlog.dir = /tmp/kafka-logs
\tlog.dirs = {}
\tmin.insync.replicas = {}
 (kafka.server.KafkaConfig)
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def writes(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return tmp_path

    return writes


def owners(folder: Path) -> dict[str, int | None]:
    sources = take_in([str(folder)]).sources.filter(pl.col("format") != "archive")
    return {path.removeprefix(f"{folder}/"): broker for path, broker in sources.select("path", "broker").iter_rows()}


def cuts(folder: Path) -> list[tuple[int | None, int]]:
    """Who truncated to which offset, in the order of the offsets."""
    rows = take_in([str(folder)]).observations.filter(pl.col("kind") == "truncate")
    return sorted(rows.select("broker", "offset").rows(), key=lambda row: row[1])


# -- excerpts beside logs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1"])
def test_a_note_that_quotes_the_logs_at_hand_changes_no_answer(name: str, sample_traces: Path, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(sample_traces / name, folder)
    whole = scan([str(folder)])
    log = (folder / "broker-1/logs/server.log").read_text(encoding="utf-8").splitlines()
    (folder / "broker-1/notes.md").write_text("\n".join(["This is what we saw:", "", *(f"> {line}" for line in log)]))
    noted = scan([str(folder)])
    assert verdicts(noted) == verdicts(whole)
    assert [finding.fingerprint for finding in noted.findings] == [finding.fingerprint for finding in whole.findings]
    (row,) = noted.case.sources.filter(pl.col("path").str.contains("notes.md")).iter_rows(named=True)
    assert (row["format"], row["broker"]) == ("copy", 1)
    assert noted.case.brokers[1].server_log
    assert [r for r in noted.case.notices["reason"] if "left out, so that no line counts twice" in r]


def test_an_excerpt_of_another_time_counts_beside_logs(write: Write) -> None:
    write("broker-1/server.log", LINE.format(30, NAMED.format(1, 5)))
    folder = write("broker-1/ticket.txt", "> " + LINE.format(2, CUT.format("/d", 3)))
    assert cuts(folder) == [(1, 3)]
    case = take_in([str(folder)])
    assert not case.brokers[1].server_log


def test_lines_without_a_time_count_alone_and_not_beside_others(write: Write) -> None:
    folder = write("broker-1/ticket.txt", f"INFO {CUT.format('/d', 3)}\n")
    assert cuts(folder) == [(1, 3)]
    write("broker-1/server.log", LINE.format(30, NAMED.format(1, 5)))
    assert cuts(folder) == []
    assert [r for r in take_in([str(folder)]).notices["reason"] if "their order is unknown" in r]


def test_lines_without_a_time_stand_where_they_stand_in_the_excerpt(write: Write) -> None:
    lines = [f"INFO {NAMED.format(1, 5)}\n", LINE.format(2, CUT.format("/d", 3)), f"INFO {CUT.format('/d', 2)}\n"]
    case = take_in([str(write("ticket.txt", "".join(["```\n", *lines, "```\n"])))])
    said = case.observations.filter(pl.col("kind") != "lines_missing")
    assert said["kind"].to_list() == ["hw_loaded", "truncate", "truncate"]
    assert said["offset"].to_list() == [None, 3, 2]


def test_a_case_knows_its_holes(write: Write) -> None:
    first, second = LINE.format(1, NAMED.format(1, 5)), LINE.format(9, CUT.format("/d", 3))
    text = f"Broker 1:\n```\n{first}[...]\n{second}```\nbroker 1, log:\n```\n{LINE.format(20, MUTE)}```\n"
    case = take_in([str(write("ticket.txt", text))])
    assert case.holes.drop("source").rows() == [
        (1, 3, BEGINS),
        (1, 4, "[...]"),
        (1, 6, BETWEEN),
        (1, 9, ENDS),
    ]
    assert (case.brokers[1].server_log, case.brokers[1].state_log) == (False, False)
    assert take_in([str(write("broker-2/server.log", LINE.format(1, NAMED.format(2, 5))))]).holes.height == 4


@pytest.mark.parametrize("name", ["acks1-2.8.2", "flap-3.9.1"])
def test_nothing_is_clean_for_what_an_excerpt_does_not_say(name: str, sample_traces: Path, tmp_path: Path) -> None:
    """The same lines of a sound cluster, whole, and as somebody chose them."""
    for log in sorted((sample_traces / name).glob("broker-*/logs/*.log")):
        place = tmp_path / "whole" / log.relative_to(sample_traces / name)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(log, place)
    whole = scan([str(tmp_path / "whole")])
    for log in sorted((tmp_path / "whole").glob("broker-*/logs/*.log")):
        lines = log.read_text(encoding="utf-8")
        if lines.strip():
            log.write_text(f"```\n{lines}```\n", encoding="utf-8")
    chosen = scan([str(tmp_path / "whole")])
    rules = ("committed-data-lost", "truncation-below-committed", "replica-divergence", "leo-regression")
    said = {rule: verdicts(whole)["orders-0", rule] for rule in rules}
    assert "clean" in said.values()
    assert {verdicts(chosen)["orders-0", rule] for rule in rules} == {"unknown"}


def test_files_say_beside_an_excerpt_what_they_say_alone(sample_traces: Path, tmp_path: Path) -> None:
    """What is read from files needs no lines, so a few pasted ones do not make it unknown."""
    name = "flap-3.9.1"
    for data in (sample_traces / name).glob("broker-*/data"):
        shutil.copytree(data, tmp_path / data.parent.name / "data")
    alone = scan([str(tmp_path)])
    line = next(
        line
        for line in (sample_traces / name / "broker-1/logs/server.log").read_text(encoding="utf-8").splitlines()
        if "orders-0" in line
    )
    (tmp_path / "broker-1/ticket.txt").write_text(f"```\n{line}\n```\n", encoding="utf-8")
    pasted = scan([str(tmp_path)])
    assert not pasted.case.brokers[1].server_log
    rules = ("segment-damage", "checkpoint-contradiction", "stale-directory", "hw-above-leo")
    assert {verdicts(alone)["orders-0", rule] for rule in rules} == {"clean"}
    assert {verdicts(pasted)["orders-0", rule] for rule in rules} == {"clean"}
    assert verdicts(pasted)["orders-0", "truncation-below-committed"] == "unknown"


@pytest.mark.parametrize("before", ["", "broker4 | ", "[pod/kafka-4/kafka] ", "kafka-4 kafka "])
def test_a_few_lines_of_a_log_alone_are_no_whole_log(before: str, write: Write) -> None:
    """Nor are they where a collector's way of naming the writer stands before them."""
    lines = [before + LINE.format(minute % 60, NAMED.format(4, 50 + minute)) for minute in range(BRIEF + 1)]
    few = take_in([str(write("a/server.log", "".join(lines[:9])))])
    assert [broker.server_log for broker in few.brokers.values()] == [False]
    more = take_in([str(write("a/server.log", "".join(lines)))])
    assert [broker.server_log for broker in more.brokers.values()] == [True]


def test_the_coverage_calls_an_excerpt_one_and_says_that_the_release_is_unknown(write: Write) -> None:
    folder = write("ticket.txt", f"> {LINE.format(1, NAMED.format(1, 5))}> {LINE.format(9, CUT.format('/d', 3))}")
    result = scan([str(folder)])
    assert coverage(result.case).select("broker", "kind").rows() == [(1, "excerpt")]
    (line,) = [line.strip() for line in render(result, width=200).split("\n") if line.startswith("  broker 1 ")]
    assert line.startswith("broker 1  logs 12:01:00 to 12:09:00 (excerpt); release unknown")


def test_a_trace_of_an_excerpt_is_no_trace_of_all(write: Write) -> None:
    first, second = LINE.format(1, NAMED.format(1, 5)), LINE.format(2, NAMED.format(2, 5))
    folder = write("ticket.txt", f"```\n{first}{second}```\n")
    case = take_in([str(folder)])
    assert {number: broker.server_log for number, broker in case.brokers.items()} == {1: False, 2: False}
    trace = write("trace/trace.jsonl", "\n".join(write_trace(case.observations)) + "\n") / "trace"
    traced = take_in([str(trace)])
    assert {number: broker.server_log for number, broker in traced.brokers.items()} == {1: False, 2: False}


# -- whose lines ------------------------------------------------------------------------------------------------------


def test_parts_of_a_text_are_of_those_they_name(write: Write) -> None:
    lines = [f"broker1 | {LINE.format(1, NAMED.format(1, 5))}", f"kafka_2: {LINE.format(2, MUTE)}"]
    third, fourth = LINE.format(3, MUTE), LINE.format(4, MUTE)
    folder = write("ticket.txt", "".join(["we saw\n", *lines, "\nBroker 7:\n", third, "\nand then\n", fourth]))
    assert owners(folder) == {
        "ticket.txt!/broker1": 1,
        "ticket.txt!/kafka_2": 2,
        "ticket.txt!/broker-7": 7,
        "ticket.txt!/line 9": None,
    }


def test_names_that_are_not_their_brokers_numbers_tell_nothing(write: Write) -> None:
    lines = [f"kafka-0 | {LINE.format(1, NAMED.format(1, 5))}", f"kafka-1 | {LINE.format(2, MUTE)}"]
    folder = write("ticket.txt", "".join(["we saw\n", *lines]))
    assert owners(folder) == {"ticket.txt!/kafka-0": 1, "ticket.txt!/kafka-1": None}
    folder = write("ticket.txt", "".join(lines * 5))  # as a collector writes it
    assert owners(folder) == {"ticket.txt!/kafka-0": 1, "ticket.txt!/kafka-1": None}


def test_who_is_named_in_one_part_is_not_who_wrote_another(write: Write) -> None:
    text = f"```\n{LINE.format(1, NAMED.format(1, 5))}```\nand the other one\n```\n{LINE.format(2, MUTE)}```\n"
    folder = write("ticket.txt", text)
    assert owners(folder) == {"ticket.txt!/line 2": 1, "ticket.txt!/line 6": None}
    write("ticket.txt", "")
    both = [f"a | {LINE.format(1, NAMED.format(1, 5))}", f"b | {LINE.format(2, MUTE)}"]
    assert owners(write("all.log", "".join(both * 5))) == {"all.log!/a": 1, "all.log!/b": None, "ticket.txt": None}


def test_lines_of_nobody_are_a_fact_of_the_case(write: Write) -> None:
    case = take_in([str(write("a/server.log", LINE.format(1, MUTE) * 2))])
    assert case.unattributed == {("orders", 0): 2}
    assert [r for r in case.notices["reason"] if "nothing shows which broker logged these lines" in r]
    case = take_in([str(write("a/b/server.properties", "broker.id=3\n").parent / write("a/b/x", "").name)])
    assert case.unattributed == {("orders", 0): 2}


def test_lines_of_somebody_are_no_such_fact(write: Write, sample_traces: Path) -> None:
    assert take_in([str(write("broker-3/server.log", LINE.format(1, MUTE)))]).unattributed == {}
    assert take_in([str(sample_traces / "kip101-0.10.2.2")]).unattributed == {}


# -- several processes in one file ------------------------------------------------------------------------------------


def test_a_directory_tells_whose_line_it_is(write: Write) -> None:
    """Three brokers of one machine that were started from one installation write to one file."""
    text = "".join(DUMP.format(1, broker, f"/tmp/kafka-logs-{broker}", broker) for broker in (1, 2, 3))
    for minute, broker in ((2, 3), (3, 1), (4, 2), (5, 1)):
        text += LINE.format(minute, CUT.format(f"/tmp/kafka-logs-{broker}", 100 * minute + broker))
    text += LINE.format(6, MUTE)
    folder = write("server.log", text)
    assert cuts(folder) == [(None, 50), (3, 203), (1, 301), (2, 402), (1, 501)]
    case = take_in([str(folder)])
    assert {number: broker.settings["min.insync.replicas"] for number, broker in case.brokers.items()} == {
        1: "1",
        2: "2",
        3: "3",
    }
    assert case.unattributed == {("orders", 0): 1}
    assert [r for r in case.notices["reason"] if "1 that do not name theirs are left out" in r]


def test_a_directory_changes_hands_with_the_settings_of_the_next_process(write: Write) -> None:
    text = LINE.format(0, CUT.format("/a", 1))
    text += DUMP.format(1, 1, "/a,/b", 1) + DUMP.format(2, 2, "/c/", 1)
    text += LINE.format(3, CUT.format("/b", 2)) + LINE.format(4, CUT.format("/c", 3))
    text += DUMP.format(5, 4, "/b", 1) + LINE.format(6, CUT.format("/b", 4)) + LINE.format(7, CUT.format("/a", 5))
    text += LINE.format(8, CUT.format("/d", 6))
    assert cuts(write("server.log", text)) == [(1, 1), (1, 2), (2, 3), (4, 4), (1, 5), (None, 6)]


def test_settings_without_directories_of_their_own_have_the_one_of_kafka(write: Write) -> None:
    text = DUMP.format(1, 1, "null", 1) + DUMP.format(2, 2, "/c", 1) + LINE.format(3, CUT.format("/tmp/kafka-logs", 2))
    assert cuts(write("server.log", text + LINE.format(4, CUT.format("/c", 3)))) == [(1, 2), (2, 3)]


def test_a_file_of_one_broker_stays_its_own_wherever_its_logs_are(write: Write) -> None:
    text = DUMP.format(1, 1, "/a", 1) + LINE.format(2, CUT.format("/elsewhere", 2)) + LINE.format(3, MUTE)
    assert cuts(write("server.log", text)) == [(1, 2), (1, 50)]


# -- names ------------------------------------------------------------------------------------------------------------


def remarks(write: Write, *topics: str) -> tuple[list[str], Result]:
    lines = [LINE.format(1, NAMED.format(1, 5).replace("orders", topic)) for topic in topics]
    result = scan([str(write("broker-1/server.log", "".join(lines)))])
    return one_folder(result), result


def test_topics_that_share_directories_on_some_systems_are_told(write: Write) -> None:
    found, result = remarks(write, "orders", "Orders", "other")
    assert len(found) == 1
    assert found[0].startswith("topics Orders and orders differ in capital letters alone: on Windows and macOS their ")
    assert "differ in capital letters alone" in " ".join(render(result, width=400).split())
    assert remarks(write, "orders", "other")[0] == []
