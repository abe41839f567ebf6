"""Bounds that a user may move: each is in the documentation, holds where it is moved, and is named if it is hit."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import limits, walk
from parsers.limits import LIMITS
from parsers.read import read
from tests.conftest import ROOT

Put = Callable[[Path], object]


def zipped(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, b"\0" * 8192)
    return data.getvalue()


def in_tar(name: str, content: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return data.getvalue()


def put(name: str, content: bytes) -> Put:
    def at(folder: Path) -> object:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        return file.write_bytes(content)

    return at


LOG = b"[2024-01-01 00:00:00,000] INFO Kafka version: 2.8.0 (org.apache.kafka.common.utils.AppInfoParser)\n"
ISR = LOG + (
    b"[2024-01-01 00:00:01,000] INFO [Partition orders-0 broker=1] Expanding ISR from 1,2 to 1,2,3 "
    b"(kafka.cluster.Partition)\n"
)
OFFSETS = b"0\n3\na 0 1\nb 0 1\nc 0 1\n"
EXPORT = b"[%s]" % b",\n".join(b'{"pod": "%d", "message": "%s"}' % (n % 2, LOG.strip()) for n in range(9))
SHUFFLED = b"".join(LOG.replace(b"00:00:00", b"00:%02d:00" % (59 - n)) for n in range(60))
EPOCHS = b"0\n3\n0 0\n1 10\n2 20\n"

HIT: dict[str, tuple[str, Put, str]] = {
    "line": ("line=64", put("server.log", LOG * 3), "line longer than 64 bytes"),
    "members": ("members=1", put("a.zip", zipped("a.log", "b.log")), "only its first 1 files"),
    "archives": ("archives=1", put("a.tar", in_tar("b.tar", in_tar("server.log", LOG))), "1 archives are around"),
    "layers": ("layers=1", put("server.log.gz.gz", gzip.compress(gzip.compress(LOG))), "more than 1 times over"),
    "expanded": ("expanded=1KiB", put("server.log.gz", gzip.compress(LOG + b"\n" * (2 << 20))), "more than 500-fold"),
    "ratio": ("ratio=2", put("a.zip", zipped("server.log")), "more than 2-fold"),
    "zip": ("zip=64", put("a.zip.gz", gzip.compress(zipped("server.log"))), "a zip of more than 64 bytes"),
    "whole": ("whole=4", put("orders-0/leader-epoch-checkpoint", EPOCHS), "larger than 4 bytes"),
    "rows": (
        "rows=2",
        put("replication-offset-checkpoint", b"0\n3\na 0 1\nb 0 1\nc 0 1\n"),
        "only the first 2 partitions",
    ),
    "brokers": ("brokers=2", put("server.log", ISR), "1,2,3 is no isr that can be, as more than 2 are too many"),
    "topic": ("topic=2", put("replication-offset-checkpoint", b"0\n1\nabc 0 1\n"), "as more than 2 are too many"),
    "epochs": ("epochs=2", put("orders-0/leader-epoch-checkpoint", EPOCHS), "only the last 2 are used"),
    "excerpt": ("excerpt=16", put("server.log", b"nothing of a broker\n" * 9), "split the text into files of 16 bytes"),
    "export": ("export=64", put("export.json", EXPORT), "an export of a log store, and has more than 64 bytes"),
    "writers": (
        "writers=1",
        put("all.log", b"".join(b"./%d/server.log:" % n + LOG for n in range(9))),
        "names more than 1",
    ),
    "reordered": ("reordered=64", put("server.log", SHUFFLED), "not put in order"),
}
"""For each limit: a setting, evidence that hits it, and what is told."""

ELSEWHERE = {
    "lines": "tests/parsers/test_lines.py",
    "metadata": "takes a metadata log of a recorded cluster: see below",
    "batch": "tests/parsers/formats/test_segment.py",
    "records": "tests/parsers/formats/test_records.py",
    "alike": "see below",
    "reason": "see below",
    "stdin": "see below",
    "baseline": "see below",
    "settings": "tests/cli/test_named_files.py",
}


def test_every_limit_is_tested() -> None:
    assert sorted([*HIT, *ELSEWHERE]) == sorted(limit.name for limit in LIMITS)


def notices(folder: Path) -> list[str]:
    found: list[str] = []
    for source in walk.walk([str(folder)]):
        reading = read(source)
        found += [source.problem, *source.notes, *reading.notices.get_column("reason").to_list()]
    return found


@pytest.mark.parametrize("name", HIT)
def test_a_limit_that_is_hit_is_named_with_what_moves_it(name: str, tmp_path: Path) -> None:
    setting, fill, told = HIT[name]
    fill(tmp_path)
    moved = limits.parse([setting])
    if name == "ratio":
        moved["expanded"] = 1
    assert not [reason for reason in notices(tmp_path) if "--limit" in reason], "nothing is bounded unless moved"
    with limits.moved(moved):
        said = [reason for reason in notices(tmp_path) if told in reason]
        option = "ratio" if name == "expanded" else name
        assert said
        assert f"--limit {option}=" in said[0]


def test_a_metadata_log_beyond_its_limit_is_named(sample_traces: Path) -> None:
    folder = next((sample_traces / "txn-4.1.1").rglob("__cluster_metadata-0"))
    assert not [reason for reason in notices(folder) if "--limit" in reason]
    with limits.moved({"metadata": 4096}):
        said = [reason for reason in notices(folder) if reason]
        found = [read(source) for source in walk.walk([str(folder)]) if source.name.endswith(".log")]
    assert [reason for reason in said if "only its first 4 KiB are read (--limit metadata=" in reason]
    assert not [reason for reason in said if "torn tail" in reason], "the file is longer than what was read"
    assert {kind for one in found for kind in one.notices.get_column("kind")} == {"torn tail"}, "its end is not known"


def test_notices_beyond_alike_become_one(tmp_path: Path) -> None:
    put("replication-offset-checkpoint", b"0\n9\n" + b"".join(b"t %d x\n" % n for n in range(9)))(tmp_path)
    many = notices(tmp_path)
    with limits.moved({"alike": 2}):
        few = notices(tmp_path)
    assert len(few) < len(many)
    assert any(
        "9 like this in the file, this is the first; --limit alike=… moves this bound)" in reason for reason in few
    )


def test_a_notice_is_no_longer_than_its_limit(tmp_path: Path) -> None:
    put("replication-offset-checkpoint", b"0\n1\nabc 0 1\n")(tmp_path)
    with limits.moved({"topic": 2, "reason": 30}):
        assert [reason for reason in notices(tmp_path) if reason] == [
            "1 statement is left out: a nam… (--limit reason=… moves this bound)"
        ]


def test_standard_input_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(LOG)

    monkeypatch.setattr("sys.stdin", Stdin)
    with limits.moved({"stdin": 20}):
        (source,) = walk.files(["-"])
    assert source.notes == ("only the first 20 bytes of standard input is used (--limit stdin=… moves this bound)",)


@pytest.mark.parametrize(("limit", "option"), [("baseline", "--baseline"), ("settings", "--config")])
def test_a_file_beside_the_evidence_beyond_its_limit(limit: str, option: str, tmp_path: Path) -> None:
    put("server.log", ISR)(tmp_path)
    (tmp_path / "given").write_text("# nothing\n" * 9)
    command = [sys.executable, "-m", "forensics", "scan", tmp_path / "server.log", option, tmp_path / "given"]
    done = subprocess.run([*command, "--limit", f"{limit}=64"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, f"is larger than 64 bytes (--limit {limit}=" in done.stderr) == (2, True)


def test_a_process_inherits_what_was_moved() -> None:
    code = "from parsers.limits import LINE; print(LINE.value)"
    with limits.moved({"line": 4096}):
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "4096"


@given(st.dictionaries(st.sampled_from([limit.name for limit in LIMITS]), st.integers(1, 1 << 40)))
def test_what_is_said_is_read_back(values: dict[str, int]) -> None:
    with limits.moved(values):
        assert limits.inherited() == values
        assert {limit.name: limit.value for limit in LIMITS} == {
            limit.name: values.get(limit.name, limit.default) for limit in LIMITS
        }
    assert limits.said() == ""


def test_the_documentation_has_every_limit() -> None:
    text = (ROOT / "docs" / "damaged-evidence.md").read_text("utf-8")
    rows = [f"| `{limit.name}` | {limit.bounds} | {limit.shown} | {limit.beyond} |" for limit in LIMITS]
    assert "\n".join(rows) in text
