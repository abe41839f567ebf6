"""Every byte that is handed in is accounted for: understood, irrelevant, damaged or of an unknown kind, and said so."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from forensics.case import Case
from forensics.engines import local

TRACES = ("kip101-0.10.2.2", "unclean-3.9.1", "txn-4.1.1")
NOISE = random.Random(7).randbytes(900)

Spoil = Callable[[bytes], bytes]


def line(number: int, change: Spoil) -> Spoil:
    """Change one line of a log: the ``number``-th that tells where a log was truncated or a leader began, or such."""

    def spoil(data: bytes) -> bytes:
        lines = data.split(b"\n")
        marks = (b"Truncating", b"starts at", b"Completed load of", b"Loading producer state", b"Log loaded for")
        told = [place for place, text in enumerate(lines) if any(mark in text for mark in marks)]
        place = told[number % len(told)]
        lines[place] = change(lines[place])
        return b"\n".join(lines)

    return spoil


# What it is, the file in the case, what is done to it, and a part of the notice, or the format it must be listed as.
JUNK: tuple[tuple[str, str, Spoil, str], ...] = (
    ("a core dump", "broker-1/core.4711", lambda data: NOISE, "unknown"),
    ("words", "notes.txt", lambda data: b"we restarted it at ten\n", "unknown"),
    ("a strange file", "broker-1/data/orders-0/what", lambda data: NOISE, "unknown"),
    ("an index", "broker-1/data/orders-0/00000000000000000000.index", lambda data: NOISE, "irrelevant"),
    ("a segment of noise", "broker-1/data/orders-0/00000000000000009999.log", lambda data: NOISE, "bad"),
    ("a tail of noise", "broker-1/data/orders-0/00000000000000000000.log", lambda data: data + NOISE, "bad"),
    (
        "a tail of zeros",
        "broker-2/data/orders-0/00000000000000000000.log",
        lambda d: d + bytes(999),
        "zero-filled tail",
    ),
    ("a list that goes on", "broker-1/data/replication-offset-checkpoint", lambda d: d + b"noise\n", "not an entry"),
    ("no log", "broker-1/logs/server.log.1", lambda data: NOISE, "nothing in it was recognised"),
    ("noise in a log", "broker-2/logs/server.log", line(1, lambda text: text + b"\n" + NOISE[:90]), "not UTF-8"),
    ("a beginning that is gone", "broker-1/logs/server.log", line(0, lambda text: text[14:]), "beginning is truncated"),
    (
        "a beginning overwritten",
        "broker-3/logs/server.log",
        line(1, lambda text: b"X" + text[1:]),
        "beginning is truncated",
    ),
    ("an end that is gone", "broker-1/logs/server.log", line(1, lambda text: text[:60]), "end is truncated"),
    ("a byte overwritten", "broker-1/logs/server.log", line(2, lambda t: t.replace(b"a", b"\xff")), "not UTF-8"),
)


@pytest.fixture
def copied(request: pytest.FixtureRequest, sample_traces: Path, tmp_path: Path) -> Path:
    """A copy of a sample."""
    folder = tmp_path / "case"
    shutil.copytree(sample_traces / request.param, folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def told(case: Case) -> dict[str, list[str]]:
    """What is said of each file: its format, and its notices."""
    said = {str(path): [str(form)] for path, form in case.sources.select("path", "format").iter_rows()}
    for source, reason in case.notices.select("source", "reason").iter_rows():
        said[case.path(source)].append(str(reason))
    return said


@pytest.mark.parametrize("copied", TRACES, indirect=True)
def test_every_byte_is_listed_once_and_junk_is_named(copied: Path) -> None:
    before = told(local.take_in([str(copied)]))
    for _, file, spoil, _ in JUNK:
        path = copied / file
        path.write_bytes(spoil(path.read_bytes() if path.exists() else b""))
    case = local.take_in([str(copied)])
    files = [path for path in copied.rglob("*") if path.is_file()]
    assert case.sources.height == len(files)
    assert case.sources.get_column("bytes").sum() == sum(path.stat().st_size for path in files)
    after = told(case)
    for name, file, _, said in JUNK:
        assert any(said in text for text in after[str(copied / file)]), (name, after[str(copied / file)])
    touched = {str(copied / file) for _, file, _, _ in JUNK}
    assert {path: text for path, text in after.items() if path not in touched} == {
        path: text for path, text in before.items() if path not in touched
    }


@pytest.mark.parametrize("copied", ["unclean-3.9.1"], indirect=True)
def test_the_batches_of_a_segment_and_its_damage_make_up_its_bytes(copied: Path) -> None:
    path = copied / "broker-1" / "data" / "orders-0" / "00000000000000000000.log"
    data = path.read_bytes()
    path.write_bytes(data + NOISE)
    case = local.take_in([str(copied)])
    (source,) = case.sources.filter(pl.col("path") == str(path)).get_column("id")
    read = case.batches.filter(pl.col("source") == source)
    assert read.get_column("size").sum() == len(data)
    (notice,) = case.notices.filter(pl.col("source") == source).iter_rows(named=True)
    assert notice["byte"] == len(data)
    assert "900 bytes" in notice["reason"]


def test_lines_of_a_log_are_events_or_go_on_from_one(sample_traces: Path) -> None:
    case = local.take_in([str(sample_traces / "unclean-3.9.1")])
    logs = case.sources.filter(pl.col("format") == "broker-log")
    assert logs.select((pl.col("understood") == pl.col("relevant")).all()).item()
    assert logs.select((pl.col("relevant") <= pl.col("events")).all()).item()
    assert logs.select((pl.col("events") <= pl.col("lines")).all()).item()
    assert case.sources.filter(pl.col("format").is_in(["unknown", "unreadable"])).get_column("path").to_list() == [
        str(sample_traces / "unclean-3.9.1" / name) for name in ("README.md", "truth.json")
    ]
