"""What grep printed of many logs says what they say, as far as it left nothing out; else answers stay open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.engines.local import scan
from forensics.errors import NothingUnderstood
from forensics.result import Result
from parsers import read
from parsers.containers import expand
from parsers.files.sources import Source
from tests.parsers.handing_over import source

Line = Callable[[str, int, str, bool], str]
"""A line of grep's output, from path, number, text, and whether it matched."""

WAYS: dict[str, Line] = {
    "-r": lambda path, number, line, _: f"{path}:{line}",
    "-rn": lambda path, number, line, _: f"{path}:{number}:{line}",
    "-rn, around": lambda path, number, line, hit: f"./{path}{':' if hit else '-'}{number}{':' if hit else '-'}{line}",
    "-r, around": lambda path, number, line, hit: f"/evidence/{path}{':' if hit else '-'}{line}",
    "zgrep": lambda path, number, line, _: f"{path}.2026-11-21-04.gz:{line}",
    "--color": lambda path, number, line, _: f"\x1b[35m\x1b[K{path}\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K{line}",
}


def printed(trace: Path, way: Line, wanted: Callable[[str], bool] = lambda line: True) -> str:
    out = []
    for log in sorted(trace.glob("broker-*/logs/*.log")):
        path = str(log.relative_to(trace))
        for number, line in enumerate(log.read_text().splitlines(), start=1):
            if wanted(line):
                out.append(way(path, number, line, line.startswith("[20")))
    return "\n".join(out) + "\n"


def verdicts(result: Result) -> dict[tuple[str, str], str]:
    return {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }


def logs(trace: Path) -> list[str]:
    return [str(path) for path in sorted(trace.glob("broker-*/logs/*.log"))]


@pytest.mark.parametrize("way", WAYS)
def test_output_of_everything_says_what_the_logs_say(way: str, sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / "kip101-0.10.2.2"
    path = tmp_path / "found.txt"
    path.write_text(printed(trace, WAYS[way]))
    plain, found = scan(logs(trace)), scan([str(path)])
    assert verdicts(found) == verdicts(plain)
    assert sorted(f.fingerprint for f in found.findings) == sorted(f.fingerprint for f in plain.findings)
    assert found.case.notices.is_empty()
    own = [(one.rpartition("!/")[2], broker) for one, broker in found.case.sources.select("path", "broker").iter_rows()]
    assert all(broker == int(path[path.index("broker-") + 7]) for path, broker in own if "server.log" in path)


@pytest.mark.parametrize("way", ["-r", "-rn"])
@pytest.mark.parametrize("word", ["orders-0", "WARN", "ISR"])
@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1"])
def test_a_search_leaves_answers_open_and_makes_none_wrong(
    name: str, word: str, way: str, sample_traces: Path, tmp_path: Path
) -> None:
    path = tmp_path / "found.txt"
    path.write_text(printed(sample_traces / name, WAYS[way], lambda line: word in line))
    told = verdicts(scan(logs(sample_traces / name)))
    try:
        found = scan([str(path)])
    except NothingUnderstood:  # nothing of it speaks of replication
        return
    assert "were left out by grep, or may have been" in found.case.notices["reason"][0]
    wrong = {place: said for place, said in verdicts(found).items() if said not in (told.get(place, said), "unknown")}
    assert not wrong


def members(text: str) -> list[Source]:
    return list(expand(source(text.encode(), "found.txt")))


EVENT = "[2026-01-01 00:00:00,{0:03}] INFO Truncating log orders-0 to offset {0}. (kafka.log.Log)"


def test_context_lines_find_their_file_by_the_longest_path() -> None:
    logs = ["a/server.log", "a/server.log-20260101"]
    text = "".join(f"{log}:{EVENT.format(1)}\n{log}-\tat x.Y(Z.scala:1)\n--\n" for log in logs) * 3
    whole, *parts = members(text)
    assert whole.container == "output of grep"
    for part, log in zip(parts, logs, strict=True):
        assert part.path == f"found.txt!/{log}"
        with part.open() as stream:
            assert stream.read().decode() == f"{EVENT.format(1)}\n\tat x.Y(Z.scala:1)\n" * 3


def test_what_grep_did_not_print_is_said() -> None:
    text = f"a/server.log:5:{EVENT.format(1)}\n" * 9 + "Binary file b/server.log matches\nwhat\n"
    whole, part = members(text)
    assert whole.notes == (
        "1 lines do not name their file and are left out",
        "grep took 1 files for binary and printed none of their lines: grep -a does",
        "lines of 1 of 1 files were left out by grep, or may have been: give the logs, or grep -rn '' of them",
    )
    assert part.stored == "part of a log, by grep"


@pytest.mark.parametrize(
    "text",
    [
        (EVENT.format(1) + "\n") * 20,
        "java.io.IOException: gone at 10:22:41\n" + (EVENT.format(1) + "\n") * 20,
        "10.0.0.1:9092 was up at 2026-01-01 10:22:41\n" * 20,
        "2026-01-01T00:00:00.000Z stdout F x\n" * 20,
        "see a.b: c\n" * 20,
        "",
    ],
)
def test_other_texts_are_left_alone(text: str) -> None:
    (found,) = members(text)
    assert found.container == ""


@given(st.binary(max_size=300))
def test_no_bytes_crash_it(data: bytes) -> None:
    for found in expand(source(f"a/x.log:{EVENT.format(1)}\n".encode() * 3 + data, "x")):
        if not found.container:
            read.read(found)
