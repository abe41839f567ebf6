"""Lines that people paste are read as the log they come from; a log as a program wrote it is left alone."""

from __future__ import annotations

import functools
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parsers import limits, read
from parsers.containers import expand
from parsers.excerpts import catalogue, kinds, pieces
from parsers.excerpts.dissect import dissected
from parsers.excerpts.dressings import DRESSINGS, undressed
from parsers.excerpts.escapes import ESCAPES, unescaped
from parsers.excerpts.gate import may_be_excerpt, times_out_of_order
from parsers.excerpts.headings import HEADINGS, heading
from parsers.excerpts.reading import BEGINS, BETWEEN, ENDS, HOLE
from parsers.excerpts.times import EDITED
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.ledger import ledger
from parsers.schema import Kind
from parsers.text.extract import relevant
from parsers.text.time_order import out_of_order
from parsers.text.wrappings import PREFIXES
from tests.conftest import alike
from tests.parsers.handing_over import LAYOUTS, WRAPPINGS
from tests.parsers.pasted import BEFORE, PASTES, Paste, at_blanks, bare, quotes_mixed, text
from tools.samples import unpacked

LOGS = (
    "kip101-0.10.2.2/broker-1/logs/server.log",
    "zombie-1.1.1/broker-2/logs/server.log",
    "powerloss-0.11.0.3/broker-1/logs/server.log",
    "acks1-2.8.2/broker-2/logs/server.log",
    "unclean-3.9.1/broker-3/logs/state-change.log",
    "hwback-4.1.1/broker-1/logs/server.log",
)
EVENT = re.compile(r"^\[\d{4}-.*\) *$|^\[\d{4}-.* \([\w.$]+\)$")
MUTE = "Truncating log orders-0 to offset 50. (kafka.log.Log)"
LINE = "[2024-03-01 10:22:{:02},107] INFO {} (kafka.log.Log)"


def source(content: str, path: str = "-") -> Source:
    data = content.encode()
    return Source(path, len(data), lambda: io.BytesIO(data))


def readings(content: str, path: str = "-") -> dict[str, FileReading]:
    """What each part of a text says, by path."""
    return {one.path: read.read(one) for one in expand(source(content, path)) if not one.container}


def statements(content: str, *, timeless: bool = False) -> Counter[tuple[object, ...]]:
    """All that a text says of replication, wherever it stands."""
    rows = pl.concat([reading.observations for reading in readings(content).values()])
    rows = rows.filter(pl.col("kind") != Kind.LINES_MISSING.value)
    return Counter(rows.drop("line", *(["time"] if timeless else [])).rows())


@functools.cache
def window(log: str, most: int = 14) -> tuple[str, ...]:
    """Whole events of a real log, of one line each, from where most of them speak of replication."""
    lines = (unpacked() / log).read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if EVENT.match(line)]
    speaks = relevant(pl.Series(lines)).to_list()
    begin = max(range(max(len(lines) - most, 0) + 1), key=lambda at: (sum(speaks[at : at + most]), -at))
    return tuple(lines[begin : begin + most])


# -- the tables -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dressing", [one for one in DRESSINGS if one.example], ids=lambda one: one.name)
def test_a_dressing_is_taken_off_its_example_and_not_off_what_looks_alike(dressing: object) -> None:
    found = undressed(dressing.example)  # type: ignore[attr-defined]
    assert found is not None
    assert [one.name for one in found.dressings] == [dressing.name]  # type: ignore[attr-defined]
    assert found.event.timed
    near = undressed(dressing.near_miss)  # type: ignore[attr-defined]
    assert near is None or dressing not in near.dressings
    assert dissected(dressing.near_miss).signs == set()  # type: ignore[attr-defined]


COLLECTED = {
    "cri": "cri",
    "syslog": "syslog",
    "journal-iso": "journal, ISO",
    "journal-full": "journal, full",
    "journal-unix": "journal, unix",
    "journal": "journal",
    "logcli": "logcli",
    "fluent-bit-stdout": "fluent bit, terminal",
    "tai64n": "multilog",
    "supervisor": "supervisor-stdout",
    "stream": "aws logs tail",
    "second time": "second time",
    "kubectl": "kubectl",
    "kubetail": "kubetail",
    "compose": "compose",
    "stern": "stern, all namespaces",
    "timestamped": "double time",
}
"""What collectors put before a line, and what tests call it."""


@pytest.mark.parametrize("prefix", COLLECTED)
def test_what_a_collector_put_before_a_line_comes_off_inside_of_a_quote(prefix: str) -> None:
    assert prefix in {one.name for one in PREFIXES}
    lines = list(window(LOGS[0]))
    content = text([f"> {line}" for line in WRAPPINGS[COLLECTED[prefix]](lines).split("\n")])
    assert statements(content) == statements(text(lines))


@pytest.mark.parametrize("escape", ESCAPES, ids=lambda one: one.name)
def test_an_escape_is_undone_in_its_example_and_not_in_what_looks_alike(escape: object) -> None:
    content, names = unescaped(escape.example)  # type: ignore[attr-defined]
    assert escape.name in names  # type: ignore[attr-defined]
    assert any(undressed(line) is not None for line in content.split("\n"))
    assert unescaped(escape.near_miss) == (escape.near_miss, ())  # type: ignore[attr-defined]


@pytest.mark.parametrize("edited", EDITED, ids=lambda one: one.name)
def test_an_edited_time_is_taken_for_one_in_its_example_alone(edited: object) -> None:
    event = kinds.event_of(edited.example)  # type: ignore[attr-defined]
    assert event is not None
    assert event.sign == edited.name  # type: ignore[attr-defined]
    assert event.text.endswith("INFO Truncating log orders-0 to offset 50. (kafka.log.Log)")
    near = kinds.event_of(edited.near_miss)  # type: ignore[attr-defined]
    assert near is None or near.sign == ""


@pytest.mark.parametrize("mark", [*kinds.FENCES, *kinds.LEFT_OUT], ids=lambda one: one.name)
def test_a_mark_is_one_and_what_looks_alike_is_none(mark: kinds.Mark) -> None:
    assert mark.pattern.match(mark.example)
    assert not mark.pattern.match(mark.near_miss)
    fence = mark in kinds.FENCES
    assert (kinds.fence_of(mark.example) is not None) is fence
    assert kinds.left_out(mark.example) is not fence
    assert not kinds.left_out(mark.near_miss)


@pytest.mark.parametrize("one", HEADINGS, ids=lambda one: one.name)
def test_a_heading_names_a_writer_and_a_sentence_does_not(one: object) -> None:
    assert heading(one.example) == one.writer  # type: ignore[attr-defined]
    assert heading(one.near_miss) == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "writer"),
    [
        ("Broker 1:", "broker-1"),
        ("**broker-12 log**", "broker-12"),
        ("Logs from broker 3 (old leader):", "broker-3"),
        ("On the follower, node 2:", "broker-2"),
        ("the new leader (broker id=4)", "broker-4"),
        ("server-2.log:", "server-2.log"),
        ("Broker 1 follows broker 2:", ""),
        ("Then broker 1 crashed.", ""),
        ("kafka 2.8:", ""),
        ("kafka@broker-3:/opt/kafka/logs$ tail -n 20 state-change.log", "broker-3/opt/kafka/logs/state-change.log"),
        ("root@b2:~# zgrep -h orders-0 /var/log/kafka/server.log.1.gz | less", "b2/var/log/kafka/server.log.1.gz"),
        ("me@laptop:~/broker1> sudo cat server.log", "laptop/~/broker1/server.log"),
        ("docker logs kafka-2 2>&1 | grep orders", "kafka-2"),
        ("me@laptop:~$ docker compose logs --no-color --tail 50 broker3", "broker3"),
        ("$ oc -n kafka logs pod/kafka-0 -c kafka", "kafka-0"),
        ("root@b2:~# grep orders-0 nothing", ""),
        ("I looked at docker logs kafka-2 and saw nothing", ""),
        ("mail me@kafka-2.example.org > cat server.log", ""),
    ],
)
def test_headings(line: str, writer: str) -> None:
    assert heading(line) == writer


@pytest.mark.parametrize("junk", ["f0" * 120_000, "a/" * 120_000, "> " * 120_000, "(" * 240_000])
def test_a_line_of_many_characters_is_read_in_time_that_grows_with_it(junk: str) -> None:
    """A pattern that goes back and forth over such a line would take hours."""
    event = "[2024-01-01 00:00:00,000] INFO [Log partition=a-0, dir=/d] Truncating to offset 5 (kafka.log.Log)\n"
    found = dissected(f"Broker 1:\n\n{event}{junk}\n{event}")
    assert [line.text for line in found.lines if line.begins] == [event.strip()] * 2


@pytest.mark.parametrize(
    "line",
    ["....", "…", ". . .", "[…]", "<snip>", "[snip]", "-- snip --", "*snip*", "(cut)", "[truncated]",
     "(many similar lines)",
     "... 12 lines ...", "12 lines omitted", "[... some more lines ...]", "some lines removed for brevity", "etc."],
)  # fmt: skip
def test_marks_for_lines_that_are_left_out(line: str) -> None:
    assert kinds.left_out(line)


@pytest.mark.parametrize(
    "line",
    ["... 12 more", "\tat kafka.log.Log.append(Log.scala:12)", "... 3 common frames omitted", "Truncating log", "more",
     "[2024-03-01 10:22:41,107] INFO x (a.B)", "Caused by: java.io.IOException: cut", "removed the broker"],
)  # fmt: skip
def test_no_marks_for_lines_that_are_left_out(line: str) -> None:
    assert not kinds.left_out(line)


# -- each class, and several at once ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", alike(PASTES, 2))
def test_pasted_lines_say_what_the_log_says(name: str) -> None:
    paste = PASTES[name]
    for log in LOGS:
        lines = list(window(log))
        wanted = statements(text(lines), timeless=paste.timeless)
        assert wanted
        assert statements(text(paste.dress(lines)), timeless=paste.timeless) == wanted, log


@functools.cache
def real_lines() -> tuple[str, ...]:
    """One line of each message of each cluster's logs that states something and is whole by itself."""
    found: dict[tuple[str, str], str] = {}
    for cluster in sorted({log.partition("/")[0] for log in LOGS}):
        for log in sorted((unpacked() / cluster).glob("broker-*/logs/*.log")):
            lines = log.read_text(encoding="utf-8").splitlines()
            rows = read.read(source(log.read_text(encoding="utf-8"))).observations
            for number, message in rows.select("line", "message").unique(maintain_order=True).iter_rows():
                if EVENT.match(line := lines[number - 1]):
                    found.setdefault((cluster, message), line)
    return tuple(found.values())


def left_out(content: str) -> bool:
    """Whether a line is left out, and said to be, as it may be whole in two ways."""
    return any("are left out" in note for part in expand(source(content, "-")) for note in part.notes)


@functools.cache
def said_alone(line: str, *, timeless: bool) -> Counter[tuple[object, ...]]:
    return statements(line + "\n", timeless=timeless)


def stacked(chosen: Sequence[str]) -> list[Paste]:
    """Ways of pasting in the order of their layers: of times, of breaks and of escapes one each."""
    found: dict[object, Paste] = {}
    for name in chosen:
        paste = PASTES[name]
        found[paste.layer if paste.layer in (0, 1, 2, 5) else name] = paste
    if 5 in found and "file" in chosen:
        found.pop(1, None)  # to tell the files of what grep printed, its lines have to be there
    return sorted(found.values(), key=lambda paste: paste.layer)


def test_a_number_at_the_break_of_a_line_is_no_line_number_where_other_lines_have_none() -> None:
    error = "[timestamp] ERROR [ReplicaFetcherThread-0-1], Error for partition\n[orders,0] to broker\n"
    rest = "1:org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this\n"
    end = "topic-partition. (kafka.server.ReplicaFetcherThread)\n"
    whole = (
        f"{error}{rest}{end}".replace("broker\n", "broker ").replace("\n[orders", " [orders").replace("this\n", "this ")
    )
    assert statements(f"{error}{rest}{end}") == statements(whole) != Counter()
    numbered = f"7:{rest[2:]}8:{end}"
    assert dissected(numbered).lines[0].text.startswith("org.apache")  # all lines have one


@given(
    st.lists(st.integers(0, 10_000), min_size=2, max_size=4, unique=True),
    st.lists(st.sampled_from(sorted(PASTES)), min_size=1, max_size=3, unique=True),
)
@example(places=[0, 159], chosen=["file", "backticks"])
def test_real_lines_in_any_stack_of_dressings_say_what_they_say(places: list[int], chosen: list[str]) -> None:
    pool = real_lines()
    assert len(pool) > 150
    lines = list(dict.fromkeys(pool[place % len(pool)] for place in places))
    # An object of JSON with one event is a layout of a log, as collectors write it, and not an excerpt.
    stack = stacked([name for name in chosen if name != "JSON" or len(lines) > 1])
    timeless = any(paste.timeless for paste in stack)
    dressed = lines
    for paste in stack:
        dressed = paste.dress(dressed)
    wanted = sum((said_alone(line, timeless=timeless) for line in lines), Counter())
    found = statements(text(dressed), timeless=timeless)
    assert found == wanted or (found < wanted and left_out(text(dressed))), text(dressed)


def test_the_level_may_be_gone() -> None:
    for log in LOGS:
        lines = list(window(log))
        without = [re.sub(r"^(\[[^\]]*\]) [A-Z]+ +", r"\1 ", line) for line in lines]
        assert statements(text(["```", *without, "```"])) == statements(text(lines)), log


def test_messages_alone_are_read() -> None:
    for log in LOGS:
        lines = list(window(log))
        wanted = statements(text(lines), timeless=True)
        assert statements(text([bare(line) for line in lines]), timeless=True) == wanted
        assert statements(text([f"> {bare(line)}" for line in lines]), timeless=True) == wanted


@pytest.mark.parametrize("width", [60, 72, 78, 100])
def test_what_a_mail_program_wraps_in_a_quote_is_joined(width: int) -> None:
    for log in LOGS:
        lines = list(window(log))
        wrapped = at_blanks(width)([f"> {line}" for line in lines])
        assert statements(text(wrapped)) == statements(text(lines)), log


_AT = "2019-03-01 10:00:01.123  INFO 1 --- [ntainer#0-0-C-1] o.a.k.c.consumer.internals.Fetcher       : [Consumer "
SPRING = [
    f"{_AT}clientId=consumer-1, groupId=g] Fetch offset 1500 is out of range for partition orders-0, resetting offset",
    f"{_AT}clientId=consumer-1, groupId=g] Resetting offset for partition orders-0 to offset 1200.",
]
"""Two lines of an application in the layout of Spring Boot: the logger is before the message."""


@pytest.mark.parametrize("width", range(70, 190, 7))
def test_lines_of_a_client_are_joined_where_a_terminal_broke_them(width: int) -> None:
    broken = [line[at : at + width] for line in SPRING for at in range(0, len(line), width)]
    (reading,) = readings(text(broken)).values()
    assert reading.observations["offset"].drop_nulls().to_list() == [1500, 1200]


def test_a_message_below_its_logger_and_its_end_are_of_one_event() -> None:
    """No sentence of a person: what follows is of the same source."""
    logger = "INFO o.a.k.c.c.internals.Fetcher - [Consumer clientId=consumer-1, groupId=g]"
    lines = [
        *(logger, "Fetch offset 1500 is out of range for partition orders-0,", "resetting offset"),
        *(logger, "Resetting offset for partition orders-0 to offset 1200."),
    ]
    (reading,) = readings(text(lines)).values()
    assert reading.observations["offset"].drop_nulls().to_list() == [1500, 1200]


def test_quotes_of_quotes() -> None:
    lines = list(window(LOGS[0]))
    assert statements(text(quotes_mixed(lines))) == statements(text(lines))


# -- logs that nobody touched -----------------------------------------------------------------------------------------


@functools.cache
def whole_logs() -> tuple[tuple[str, ...], ...]:
    logs = sorted(unpacked().glob("*/broker-*/logs/*.log"))
    return tuple(tuple(log.read_text(encoding="utf-8").splitlines()) for log in logs if log.stat().st_size > 500)


def is_excerpt(content: str, name: str = "server.log") -> bool:
    whole = source(content, name)
    return pieces.pieces(whole, whole.head()) is not None


def test_no_whole_log_is_an_excerpt() -> None:
    for lines in whole_logs():
        assert not is_excerpt(text(list(lines)))


@given(st.integers(0, 10_000), st.integers(0, 100_000), st.integers(1, 80))
def test_no_window_of_a_log_is_an_excerpt_and_none_is_changed(place: int, begin: int, count: int) -> None:
    lines = whole_logs()[place % len(whole_logs())]
    begin %= len(lines)
    content = text(list(lines[begin : begin + count]))
    assert not is_excerpt(content)
    found = dissected(content)
    assert found.signs == set()
    assert [line.text for line in found.lines if line.begins] == [
        line for line in content.split("\n") if kinds.event_of(line) is not None
    ]


def test_a_stack_trace_is_no_broken_line() -> None:
    content = (
        "[2026-11-21 08:08:52,796] INFO Shutdown completed (kafka.server.ClientQuotaManager)\n"
        "org.apache.kafka.common.errors.KafkaStorageException: Error while reading checkpoint file "
        "/srv/kafka/data/orders-0/leader-epoch-checkpoint\n"
        "Caused by: java.nio.charset.MalformedInputException: Input length = 1\n"
        "\tat java.base/java.nio.charset.CoderResult.throwException(CoderResult.java:274)\n"
    )
    assert dissected(content).signs == set()


@pytest.mark.parametrize("name", alike([*WRAPPINGS, *LAYOUTS]))
def test_what_collectors_make_of_logs_and_other_layouts_are_no_excerpts(name: str) -> None:
    for log in LOGS[:4]:
        lines = (unpacked() / log).read_text(encoding="utf-8").splitlines()[:400]
        assert not is_excerpt({**WRAPPINGS, **LAYOUTS}[name](lines) + "\n"), log


@pytest.mark.parametrize(
    "content",
    [
        "",
        "some words\n\nand others, we think\n",
        "- a\n- b\n",
        "```\ncode\n```\n",
        "> quoted\n",
        "key = value\n",
        "[2024-03-01] a day\n",
        '{"body": "a\\nb"}\n',
        "INFO: see below\n",
        "1. first\n2. second\n",
    ],
)
def test_texts_without_lines_of_logs_are_no_excerpts(content: str) -> None:
    assert not is_excerpt(content, "ticket.txt")


@pytest.mark.parametrize("name", ["report.json", "server.properties", "Broker.java", "notes.yaml"])
def test_files_that_nobody_pastes_into_are_left_alone(name: str) -> None:
    quoted = text([f"> {line}" for line in window(LOGS[0])])
    assert is_excerpt(quoted, "ticket.md")
    assert is_excerpt(quoted, "-")
    assert not is_excerpt(quoted, name)


def test_large_texts_are_left_alone() -> None:
    quoted = text([f"> {line}" for line in window(LOGS[0])])
    assert not is_excerpt(quoted * (limits.EXCERPT.value // len(quoted) + 1), "ticket.md")


@given(st.binary(max_size=400))
def test_no_bytes_crash_it(data: bytes) -> None:
    may_be_excerpt(data)
    for content in (data, b"> [2024-03-01 10:22:41,107] INFO Truncating log a-0 to offset 5. (kafka.log.Log)\n" + data):
        whole = Source("-", len(content), lambda content=content: io.BytesIO(content))
        for found in expand(whole):
            if not found.container:
                read.read(found)


@given(st.text("> `~.-*[]{}()\n\\nuINFO0123456789:,x\"'&lt;</b>", max_size=300))
def test_no_text_crashes_it(content: str) -> None:
    dissected(content)
    readings(content + "\n" + LINE.format(1, "Truncating log orders-0 to offset 50."))


# -- where lines are missing ------------------------------------------------------------------------------------------


def holes(content: str) -> list[tuple[int, str]]:
    """Where lines are missing, but for the beginning and the end of each piece, where they always are."""
    found = []
    for reading in readings(content).values():
        rows = reading.observations.filter(pl.col("kind") == Kind.LINES_MISSING.value)
        assert set(rows["message"]) <= {HOLE}
        details = rows["detail"].to_list()
        assert (details.count(BEGINS), details.count(ENDS)) == ((1, 1) if reading.observations.height else (0, 0))
        found += [row for row in rows.select("line", "detail").rows() if row[1] not in (BEGINS, ENDS)]
    return sorted(found)


def test_lines_are_missing_before_the_first_and_behind_the_last_line() -> None:
    (reading,) = readings(text(["prose that we wrote", "```", ONE, TWO, "```"])).values()
    rows = reading.observations.select("kind", "line").rows()
    assert rows == [("lines_missing", 3), ("truncate", 3), ("truncate", 4), ("lines_missing", 4)]
    assert (reading.observations["detail"][0], reading.observations["detail"][-1]) == (BEGINS, ENDS)


ONE, TWO, THREE = (LINE.format(number, f"Truncating log orders-{number} to offset 50.") for number in (1, 2, 3))


@pytest.mark.parametrize(
    "mark", ["...", "…", "[...]", "(snip)", "<snip>", "[… 40 lines …]", "--", "some lines omitted"]
)
def test_a_mark_between_lines_is_a_row(mark: str) -> None:
    assert holes(text([ONE, mark, TWO])) == [(2, mark)]
    assert holes(text([f"> {ONE}", f"> {mark}", f"> {TWO}"])) == [(2, mark)]
    assert holes(text(["```", ONE, TWO, mark, mark, THREE, "```"])) == [(4, mark)]


def test_marks_before_and_behind_all_lines_are_rows() -> None:
    assert holes(text(["...", ONE, TWO, "..."])) == [(1, "..."), (4, "...")]


def test_nothing_is_missing_where_nothing_says_so() -> None:
    assert holes(text(["```", ONE, TWO, "```"])) == []
    trace = ["java.io.IOException: x", "\tat a.b(C.java:1)", "\t... 12 more", "... 3 common frames omitted"]
    assert holes(text(["```", ONE, *trace, TWO, "```"])) == []


def test_an_excerpt_without_a_statement_has_no_rows() -> None:
    idle = "[2024-03-01 10:22:41,107] INFO Awaiting (kafka.network.Acceptor)"
    (reading,) = readings(text([idle, "...", idle])).values()
    assert reading.observations.is_empty()


def test_what_is_read_of_a_piece_is_called_an_excerpt() -> None:
    (reading,) = readings(text(["```", ONE, "...", TWO, "```"])).values()
    assert (reading.format, reading.frame) == ("broker-log", "log4j in an excerpt")
    assert (reading.lines, reading.events, reading.understood, reading.prose) == (5, 2, 2, 2)
    assert reading.notices.is_empty()


def test_every_byte_of_a_piece_is_of_a_class() -> None:
    other = "[2024-03-01 10:22:41,107] ERROR Some words (kafka.Some)"
    strange = "[2024-03-01 10:22:41,107] INFO [Partition t-0 broker=1] Shrinking ISR somehow (kafka.cluster.Partition)"
    lines = ["prose that we wrote", "```", ONE, "...", other, "\tat a.b(C.java:1)", strange, f"INFO {MUTE}", "```"]
    (one,) = expand(source(text(lines), "ticket.txt"))
    sizes = {line: len(line.encode()) + 1 for line in lines}
    told = ledger(one, read.read(one))
    assert told.all == one.size == sum(sizes.values()) + 4
    assert told.unknown == sizes[strange]
    assert told.understood == sizes[ONE] + sizes["..."] + sizes[f"INFO {MUTE}"]
    assert told.damaged == 0


# -- whose lines ------------------------------------------------------------------------------------------------------


def kept(content: str) -> dict[str, list[int]]:
    """Numbers of the lines that state something, by what the piece is called."""
    return {
        path.rpartition("!/")[2]: sorted(set(reading.observations["line"]))
        for path, reading in readings(content).items()
    }


def test_lines_with_names_go_to_their_writers_and_others_to_nobody() -> None:
    found = kept(text([f"broker1 | {ONE}", f"broker2 | {TWO}", THREE, f"broker1 | {THREE}", "-- some words we add"]))
    assert found == {"broker1": [1, 4], "broker2": [2], "line 3": [3]}


def test_stretches_between_fences_and_prose_stay_apart() -> None:
    lines = ["the leader:", "```", ONE, "```", "and the follower:", "```", TWO, "...", THREE, "```"]
    assert kept(text(lines)) == {"line 3": [3], "lines 7 to 9": [7, 8, 9]}
    assert holes(text(lines)) == [(8, "...")]


def test_a_heading_names_whose_lines_follow_once() -> None:
    lines = ["Broker 1:", "```", ONE, "```", "```", TWO, "```", "==> broker-3/logs/server.log <==", THREE]
    assert kept(text(lines)) == {"broker-1": [3], "line 6": [6], "broker-3/logs/server.log": [9]}


@pytest.mark.parametrize("fence", ["", "```"])
def test_a_shell_session_names_whose_lines_follow(fence: str) -> None:
    """In a block too: what somebody typed is no part of the event before."""
    one, two = "[root@kafka-1 logs]# tail -1 server.log", "[root@kafka-2 logs]# grep orders-0 server.log | head"
    lines = [fence, one, ONE, two, TWO, "$ docker logs kafka-3", THREE, fence]
    assert kept(text(lines)) == {"kafka-1/logs/server.log": [3], "kafka-2/logs/server.log": [5], "kafka-3": [7]}


def test_a_command_names_whose_lines_follow_behind_a_word_for_output() -> None:
    command = ["```bash", "docker logs kafka-1 --since 2m 2>&1 | grep -i trunc", "```"]
    for word in ("**Output:**", "Result", "**결과**", ""):
        assert kept(text([*command, "", word, "", "```", ONE, "```"])) == {"kafka-1": [8]}, word
    for words in ("And on the other broker:", "**broker 2:**", "which printed nothing, but later:"):
        assert "kafka-1" not in kept(text([*command, "", words, "", "```", ONE, "```"])), words
    twice = [*command, "**Output:**", "```", ONE, "```", "**Output:**", "```", TWO, "```"]
    assert kept(text(twice)) == {"kafka-1": [6], "line 10": [10]}


def test_names_with_underscores_that_markdown_escapes_are_whole_again() -> None:
    line = (
        "[2024-03-01 10:22:41,107] INFO [Log partition=\\_\\_consumer\\_offsets-7, dir=D:\\\\kafka\\\\data] Truncating "
        "to offset 50 (kafka.log.Log)"
    )
    (row,) = [reading.observations for reading in readings(text(["we saw", line])).values()]
    (found,) = row.filter(pl.col("kind") == Kind.TRUNCATE.value).select("topic", "partition", "log_dir").rows()
    assert found == ("__consumer_offsets", 7, "D:\\kafka\\data")


def _one_event(lines: list[str]) -> list[tuple[object, ...]]:
    (reading,) = readings(text(lines)).values()
    found = reading.observations.filter(pl.col("kind") == Kind.TRUNCATE.value)
    return found.select("line", "time", "topic", "offset").rows()


MESSAGE = "[UnifiedLog partition=orders-0, dir=/d] Truncating to offset 50"
SHOWN = [
    "{",
    '  "@timestamp": "2024-03-01T10:22:41.107Z",',
    '  "level": "WARN",',
    '  "logger": "org.apache.kafka.storage.internals.log.UnifiedLog",',
    f'  "message": "{MESSAGE}"',
    "}",
]
WHEN = datetime(2024, 3, 1, 10, 22, 41, 107000)  # noqa: DTZ001 - UTC, as all times of observations


def test_an_event_that_a_viewer_shows_as_an_object_has_its_time() -> None:
    assert _one_event(["We found this:", "```json", *SHOWN, "```"]) == [(3, WHEN, "orders", 50)]
    assert _one_event(["We found this:", *(f"> {line}" for line in SHOWN)]) == [(2, WHEN, "orders", 50)]
    hit = ["{", '  "_id": "x",', '  "_source": {', *(f"  {line}" for line in SHOWN[1:-1]), "  }", "}"]
    assert _one_event(["We found this:", *hit]) == [(2, WHEN, "orders", 50)]


def test_an_object_without_level_is_no_layout() -> None:
    shown = [line for line in SHOWN if "level" not in line]
    assert _one_event(["We found this:", *shown]) == [(2, None, "orders", 50)]


def test_the_pod_in_an_object_names_whose_line_it_is() -> None:
    for name in ('"kubernetes": {"pod": {"name": "kafka-2"}}', '"kubernetes.pod_name": "kafka-2"', '"pod": "kafka-2"'):
        shown = ["{", f"  {name},", *SHOWN[1:]]
        assert [*kept(text(["We found this:", *shown]))] == ["kafka-2"], name


def test_a_backslash_of_windows_before_a_name_stays() -> None:
    line = "[2024-03-01 10:22:41,107] INFO [Log partition=_x-7, dir=D:\\_data] Truncating to offset 50 (kafka.log.Log)"
    (row,) = [reading.observations for reading in readings(text(["we saw", line])).values()]
    assert row.filter(pl.col("kind") == Kind.TRUNCATE.value)["log_dir"].to_list() == ["D:\\_data"]


def test_two_stretches_of_one_writer_have_lines_missing_between_them() -> None:
    lines = ["Broker 1:", "```", ONE, "```", "**broker 1, log**", "```", TWO, "```"]
    assert holes(text(lines)) == [(4, BETWEEN)]
    assert kept(text(lines)) == {"broker-1": [3, 4, 7]}


def test_settings_go_on_with_their_writer() -> None:
    dump = ["[2024-03-01 10:22:41,107] INFO KafkaConfig values: ", "\tbroker.id = 4", "\tlog.dirs = /data"]
    dump = [*dump, " (kafka.server.KafkaConfig)"]
    for paste in ("bar", "quoted", "indented", "colon"):
        found = statements(text(["prose that we wrote", *PASTES[paste].dress([*dump, ONE])]))
        assert found == statements(text([*dump, ONE])), paste


# -- wrapped lines ----------------------------------------------------------------------------------------------------

LONG = (
    "[2024-03-01 10:22:41,107] INFO [Log partition=orders-0, dir=/srv/kafka/broker-1/data/disk] Truncating to offset "
    "{} (kafka.log.Log)"
)


def offsets(content: str) -> list[int]:
    rows = pl.concat([reading.observations for reading in readings(content).values()])
    return rows.filter(pl.col("kind") == Kind.TRUNCATE.value)["offset"].to_list()


def test_a_number_that_a_terminal_cut_is_whole_again() -> None:
    line = LONG.format(123456)
    width = line.index("456 (kafka")
    others = [LONG.format(number) for number in (100000, 200000, 300000)]
    lines = [line[at : at + width] for line in [*others, line] for at in range(0, len(line), width)]
    assert offsets(text(lines)) == [100000, 200000, 300000, 123456]


def test_a_number_that_may_have_been_cut_is_left_out_and_said() -> None:
    line = LONG.format(123456)
    cut = line.index("456 (kafka")
    content = text(["> " + ONE, line[:cut], line[cut:]])
    assert offsets(content) == [50]
    notices = [reason for reading in readings(content).values() for reason in reading.notices["reason"]]
    assert notices == ["lines that were wrapped within a number, or may have been, are left out: 2"]


def test_a_name_of_a_class_that_a_terminal_cut_behind_a_dot_is_whole_again() -> None:
    refused = (
        "[2024-03-01 10:22:41,107] ERROR [ReplicaFetcherThread-0-1], Error for partition [orders,0] to broker 1:"
        "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this "
        "topic-partition. (kafka.server.ReplicaFetcherThread)"
    )
    width = refused.index("common.errors")
    content = text([ONE, *(refused[at : at + width] for at in range(0, len(refused), width))])
    assert statements(content) == said_alone(ONE, timeless=False) + said_alone(refused, timeless=False)


def test_prose_behind_a_line_is_no_piece_of_it() -> None:
    content = text([ONE, "Then we restarted it (the broker).", TWO])
    assert offsets(content) == [50, 50]
    assert sum(reading.prose for reading in readings(content).values()) == 1


# -- order ------------------------------------------------------------------------------------------------------------


def test_lines_in_another_order_are_read_by_their_times() -> None:
    lines = [
        line.replace(":22:", f":{minute}:") for minute, line in zip(range(22, 40), [ONE, TWO, THREE] * 6, strict=True)
    ]
    (reading,) = readings(text(lines[::-1])).values()
    assert reading.frame == "log4j in an excerpt"
    assert statements(text(lines[::-1])) == statements(text(lines))
    times = reading.observations["time"].to_list()
    assert (times[0], times[-1]) == (None, None)
    assert times[1:-1] == sorted(times[1:-1])
    assert reading.notices["reason"].to_list() == [
        "its lines are in another order than their times: read in the order of their times"
    ]


@pytest.mark.parametrize("dress", ["{}", "> {}"])
def test_the_last_line_first_within_a_second(dress: str) -> None:
    """Lines of one moment stand in reverse order too."""
    lines = [ONE.replace(":01,107", f":01,{107 + at // 2}").replace("50", str(50 + at)) for at in range(12)]
    (reading,) = readings(text([dress.format(line) for line in lines[::-1]])).values()
    assert reading.observations.drop_nulls("offset")["offset"].to_list() == list(range(50, 62))


def test_lines_of_threads_side_by_side_keep_their_order() -> None:
    times = (107, 106, 108, 107, 109, 110, 109, 111, 112, 113, 114, 115, 116, 117)
    lines = [ONE.replace(":01,107", f":01,{time}").replace("50", str(50 + at)) for at, time in enumerate(times)]
    (reading,) = readings(text([f"> {line}" for line in lines])).values()
    assert reading.observations.drop_nulls("offset")["offset"].to_list() == list(range(50, 64))


def test_logs_one_after_another_keep_their_order() -> None:
    lines = [*window(LOGS[0]), *window(LOGS[0])]
    assert not is_excerpt(text(lines))


def test_words_before_lines_are_prose_not_damage() -> None:
    (reading,) = readings(text([*BEFORE, ONE])).values()
    assert (reading.prose, reading.notices.height) == (3, 0)


def test_a_ticket_beside_other_files_keeps_its_path_and_hash(tmp_path: Path) -> None:
    content = text([f"> {ONE}"])
    (found,) = expand(source(content, "ticket.txt"))
    assert (found.path, found.container) == ("ticket.txt", "")
    assert found.sha256() == source(content).sha256()


def test_what_a_line_holds_is_found_by_its_beginning() -> None:
    """In the order of the catalogue: each literal alone, and right before the next one."""
    literals = list(catalogue._by_literal())
    for line in (*literals, *map("".join, itertools.pairwise(literals))):
        assert catalogue._held(f"[{line}") == [literal for literal in literals if literal in line], line


# -- columns, blotted names and dots within a line ---------------------------------------------------------------------

_TWO = [
    LINE.format(5, "Truncating log orders-0 to offset 50."),
    LINE.format(6, "Truncating log payments-3 to offset 70."),
]


def _split(line: str) -> tuple[str, str, str, str]:
    found = re.match(r"^\[(.*?)\] (\w+) (.*) \((.*)\)$", line)
    assert found is not None
    time, level, message, logger = found.groups()
    return time, level, message, logger


def test_tables_with_a_column_for_the_time_are_read_as_the_log() -> None:
    rows = [_split(line) for line in _TWO]
    two = ["| time | line |", "|---|---|", *(f"| {time} | {level} {said} ({by}) |" for time, level, said, by in rows)]
    three = [f"| {time} | {level} | {said} ({by}) |" for time, level, said, by in rows]
    quoted = [f'"{time}","{level}","{by}","{said}"' for time, level, said, by in rows]
    for lines in (two, three, quoted):
        assert statements(text(lines)) == statements(text(_TWO)), lines


def test_blotted_names_become_names_and_are_told() -> None:
    for blotted, name in (("<topic>", "topic"), ("****", "xxxx"), ("eu.***.v1", "eu.xxx.v1")):
        lines = [line.replace("orders", blotted) for line in _TWO]
        assert statements(text(lines)) == statements(text([line.replace("orders", name) for line in _TWO]))
        (found,) = readings(text(lines)).values()
        (reason,) = found.notices.get_column("reason").to_list()
        assert reason.startswith("names of topics are blotted out")


def test_dots_between_two_words_are_taken_out_and_dots_in_a_number_are_not() -> None:
    elided = [line.replace(" to offset", " … to offset") for line in _TWO]
    assert statements(text(elided)) == statements(text(_TWO))
    cut = [line.replace("offset 50", "offset 5...") for line in _TWO]
    assert statements(text(cut))[next(iter(statements(text(_TWO[:1]))))] == 0


def test_one_bound_says_whether_lines_stand_out_of_order() -> None:
    second = 1_000_000
    joined = [second, second, -3600 * second, second, second]  # two logs, one behind the other
    threads = [1000, -1000, 2000, -1000, 3000, second]  # go back by less than a second, in fewer than half of the lines
    # Lines that several workers handed on, beside a clock that was set back three times.
    workers = [second, -1000, second, 2000, -1000, 4 * second, -2 * second, 3 * second] * 3
    clock = [*[second] * 8, 2000, 4 * second, -2 * second, 3 * second] * 3
    shown = ((joined, False), (threads, False), ([-second * 2] * 4, True), ([-1000] * 4, True), (workers, True))
    for steps, expected in (*shown, (clock, False)):
        moment = datetime(2024, 3, 1, 10, tzinfo=UTC)
        stamps = [moment := moment + timedelta(microseconds=step) for step in (0, *steps)]
        lines = [f"[{one:%Y-%m-%d %H:%M:%S},{one.microsecond // 1000:03}] INFO x (a.B)" for one in stamps]
        assert out_of_order(steps) is expected
        assert times_out_of_order(text(lines).encode()) is expected


@pytest.mark.parametrize(
    "line", ["g7 orders 7 7 8 1 - - -", "payroll  acme.orders  3  40  50  10  app-1-1a2b  /10.1.2.3  app"]
)
def test_what_cannot_begin_an_event_is_not_taken_apart(line: str) -> None:
    """Rows of tables look as if many names preceded them, so each costs more than a hundred looks at an event."""
    asked: list[str] = []
    assert undressed(line, asked.append) is None
    assert asked == []
