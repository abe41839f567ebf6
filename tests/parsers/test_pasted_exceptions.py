"""Exceptions and messages that people paste by themselves: without their event, wrapped, glued, in a sentence."""

from __future__ import annotations

import polars as pl
import pytest

from parsers.schema import FAILURES, NOTICES, Kind, empty
from parsers.text.extract import extract
from parsers.text.frames import STOCK
from parsers.text.lines import Block
from tests.parsers.test_excerpts import offsets, readings, statements, text

EVENT = (
    "[2024-03-01 10:22:41,107] ERROR [ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Unexpected error occurred "
    "while processing data for partition sales-7 at offset 130 (kafka.server.ReplicaFetcherThread)"
)
CLASS = "java.lang.IllegalStateException: "
MISMATCH = "Offset mismatch for partition sales-7: fetched offset = 130, log end offset = 131."
FRAMES = ("\tat kafka.server.ReplicaFetcherThread.processPartitionData(ReplicaFetcherThread.scala:194)",)
WRONG = (
    "kafka.common.InvalidOffsetException: Attempt to append an offset (130) to position 12 no larger than the last "
    "offset appended (151) to /data/sales-7/00000000000000000000.index."
)
REFUSED = (
    "Exiting because log truncation is not allowed for partition sales-7, Current leader 2's latest offset 130 is less "
    "than replica 3's latest offset 151"
)


def kinds(content: str) -> list[str]:
    """What the text states, without the rows for lines that are missing."""
    rows = [row for one in readings(content).values() for row in one.observations.iter_rows(named=True)]
    return [row["kind"] for row in rows if row["kind"] != Kind.LINES_MISSING.value]


def refused(content: str) -> list[tuple[str | None, int | None, int | None]]:
    rows = [row for one in readings(content).values() for row in one.observations.iter_rows(named=True)]
    return [(row["topic"], row["offset"], row["leo"]) for row in rows if row["kind"] == Kind.APPEND_REFUSED.value]


@pytest.mark.parametrize("begins", ["", "Caused by: "])
@pytest.mark.parametrize("around", [("```", "```"), ("`", "`"), (">", ""), ("{noformat}", "{noformat}")])
def test_an_exception_without_its_event_is_read(begins: str, around: tuple[str, str]) -> None:
    lines = [f"{begins}{CLASS}{MISMATCH}", *FRAMES]
    if around[0] == "`":
        lines[0], lines[-1] = "`" + lines[0], lines[-1] + "`"
    elif around[0] == ">":
        lines = [f"> {line}" for line in lines]
    else:
        lines = [around[0], *lines, around[1]]
    assert refused(text(["What is this?", *lines])) == [("sales", 130, 131)]


@pytest.mark.parametrize("opening", ["", "`"])
def test_an_exception_behind_the_time_of_a_collector_is_no_event(opening: str) -> None:
    """Each line has that time, an exception has no other, and somebody opened a quote that nobody closed."""
    lines = [EVENT, f"{CLASS}{MISMATCH}", *FRAMES, EVENT.replace(":41,", ":43,"), f"{CLASS}{MISMATCH}"]
    dressed = [f"2024-03-01T10:22:4{at}.107000865Z {line}" for at, line in enumerate(lines, start=1)]
    content = text([f"{opening}{dressed[0]}", *dressed[1:]])
    assert refused(content) == [("sales", 130, 131)] * 2
    assert kinds(content).count(Kind.FETCH_REFUSED.value) == 2


def test_an_exception_is_read_once_behind_its_event_and_by_itself() -> None:
    behind = text(["```", EVENT, f"{CLASS}{MISMATCH}", *FRAMES, "```"])
    assert refused(behind) == [("sales", 130, 131)]
    assert refused(text(["```", f"{CLASS}{MISMATCH}", *FRAMES, EVENT, "```"])) == [("sales", 130, 131)]


def test_an_unknown_exception_is_nothing() -> None:
    assert kinds(text(["```", "java.lang.IllegalStateException: Nobody knows this", *FRAMES, "```"])) == []


@pytest.mark.parametrize("quote", ["", "> "])
@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_wrapped_exception_is_whole_again(width: int, quote: str) -> None:
    words, lines = WRONG.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    content = text(
        ["We see:", f"{quote}{{noformat}}", *(f"{quote}{line.strip()}" for line in lines), f"{quote}{FRAMES[0]}"]
    )
    (row,) = [
        row
        for one in readings(content).values()
        for row in one.observations.iter_rows(named=True)
        if row["kind"] in FAILURES
    ]
    assert (row["topic"], row["partition"], row["offset"], row["leo"]) == ("sales", 7, 130, 152)


def test_an_exception_is_not_joined_with_its_frames() -> None:
    content = text(["```", EVENT, "java.io.IOException: No space left on device", "at a.B.c(D.scala:1)", "```"])
    rows = [row for one in readings(content).values() for row in one.observations.iter_rows(named=True)]
    assert [row["line"] for row in rows if row["kind"] in FAILURES] == [3]


def test_a_message_alone_that_is_wrapped_is_whole_again() -> None:
    place = REFUSED.index("Current")
    content = text([REFUSED[:place], f"{REFUSED[place:]} (kafka.server.ReplicaFetcherThread)"])
    assert statements(content) == statements(text([f"{REFUSED} (kafka.server.ReplicaFetcherThread)"]))
    assert kinds(content).count(Kind.TRUNCATION_REFUSED.value) == 1


def test_an_exception_glued_to_its_event_is_read() -> None:
    glued = f"{EVENT}{CLASS}{MISMATCH} {FRAMES[0].strip()} at scala.Option.foreach(Option.scala:437)"
    assert refused(text(["```", glued, "```"])) == [("sales", 130, 131)]
    assert refused(text(["```", EVENT, "```"])) == []


def test_groups_of_digits_are_one_number() -> None:
    line = "[2024-03-01 10:22:41,107] INFO Truncating log sales-7 to offset {}. (kafka.log.Log)"
    assert offsets(text(["```", line.format("11,396,282"), "```"])) == [11396282]
    assert offsets(text(["```", line.format("11396282"), "```"])) == [11396282]


def test_isr_lists_are_no_groups_of_digits() -> None:
    line = "[2024-03-01 10:22:41,107] INFO [Partition sales-7 broker=100] Shrinking ISR from 100,200,300 to 100,200 "
    rows = [
        row
        for one in readings(text(["```", f"{line}(kafka.cluster.Partition)", "```"])).values()
        for row in one.observations.iter_rows(named=True)
    ]
    assert [(row["isr_before"], row["isr"]) for row in rows if row["isr"]] == [("100,200,300", "100,200")]


def test_two_messages_alone_stay_two() -> None:
    first = "Shrinking ISR for partition [sales,7] from 3,1,2 to 3,2"
    second = "Cached zkVersion [27] not equal to that in zookeeper, skip updating ISR (kafka.cluster.Partition)"
    assert kinds(text([f"Broker 1 was removed first, {first}", f"and then: {second}"])) == [
        "isr_shrink",
        "isr_rejected",
    ]


def test_a_sentence_that_quotes_nothing_known_is_prose() -> None:
    assert kinds(text(["We looked, and then: Truncating is what we feared.", "", "```", EVENT, "```"])) == [
        "fetch_refused"
    ]


QUOTED = (
    "Shrinking ISR from 2,1,3 to 2. Leader: (highWatermark: 85, endOffset: 90). Out of sync replicas: (brokerId: 1)."
)


@pytest.mark.parametrize(("prefix", "rows"), [("", 1), ("[Partition sales7] ", 0), ("[x] ", 0)])
def test_a_quoted_message_has_no_other_prefix(prefix: str, rows: int) -> None:
    """What stands in brackets before it is the prefix of another message, or a damaged one."""
    line = f"[2024-03-01 10:22:41,107] INFO {prefix}{QUOTED} (kafka.cluster.Partition)"
    found = extract(Block(pl.Series([line]), 1, empty(NOTICES)), STOCK)
    assert (found.observations.height, found.notices.height) == (rows, 1 - rows)


CLEANED = "[2024-03-01 10:22:41,107] ERROR Failed to clean up log for sales-7 in dir C:\\k due to IOException (kafka.X)"
IN_USE = (
    "java.nio.file.FileSystemException: C:\\k\\sales-7\\00000000000000000000.timeindex.cleaned -> "
    "C:\\k\\sales-7\\00000000000000000000.timeindex.swap: The process cannot access the file because it is being used "
    "by another process"
)


@pytest.mark.parametrize("broken", [" -> |", " process |", " -> | process |", "timeindex.sw|"])
def test_an_exception_of_windows_that_was_broken_is_whole_again(broken: str) -> None:
    whole = IN_USE
    for piece in [one for one in broken.split("|") if one]:
        cut = whole.index(piece, whole.rindex("\n") + 1 if "\n" in whole else 0) + len(piece)
        whole = f"{whole[:cut].rstrip(' ')}\n{whole[cut:]}"
    trace = "\tat sun.nio.fs.WindowsException.translateToIOException(WindowsException.java:86)"
    lines = ["What is this?", "```", CLEANED, *whole.split("\n"), trace, "```"]
    assert kinds(text(lines)) == [Kind.STORAGE_ERROR.value, Kind.DISK_ERROR.value]


def test_lines_below_an_unknown_exception_are_no_part_of_it() -> None:
    lines = ["```", CLEANED, "java.nio.file.FileSystemException: C:\\k\\sales-7", "that is on the share", "```"]
    assert kinds(text(lines)) == [Kind.STORAGE_ERROR.value]


@pytest.mark.parametrize(
    "sentence",
    [
        "It stops with `{}` since then",
        'the error is: "{}", and nothing else',
        "El servidor falla con el error “{}”",
        "we got « {} » on it",
    ],
)
def test_an_event_that_is_quoted_in_a_sentence_is_read(sentence: str) -> None:
    full = "ERROR Error while appending records to sales-7 in dir /srv/k (kafka.server.LogDirFailureChannel)"
    assert kinds(text([sentence.format(full)])) == [Kind.STORAGE_ERROR.value]
    assert kinds(text([sentence.format(f"{full} java.io.IOException: No space left on device")])) == [
        Kind.STORAGE_ERROR.value,
        Kind.DISK_FULL.value,
    ]
    assert not kinds(text(["```", EVENT, "```", sentence.format("an error of the broker, but which one")]))[1:]
