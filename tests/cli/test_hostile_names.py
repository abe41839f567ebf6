"""What steers a terminal or turns the reading order leaves no output as it is, and what cannot be read is named."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import tarfile
import zipfile
from pathlib import Path

import polars as pl
import pytest

from forensics.engines.local import scan
from forensics.reports import REPORTS, Report
from forensics.result import Result
from forensics.tables import save
from tests.cli.conftest import Run

STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
HOSTILE = "\x9b31m\u202eevil\u2066\u200e\u200f\u061c\u200b\ufeff\x1b[2J"
LINE = "[2026-11-21 04:11:02,000] INFO Truncating log orders-0 to offset 5. (kafka.log.Log)\n"


@pytest.fixture(scope="module")
def hostile(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A real loss, whose lines, folders and files have names that steer whoever looks at them."""
    folder = tmp_path_factory.mktemp("hostile") / f"case{HOSTILE}".replace("\x1b[2J", "\x1b[2J=1+1")
    shutil.copytree(sample_traces / "kip101-0.10.2.2", folder)
    for log in folder.glob("broker-*/logs/*.log"):
        log.write_text(log.read_text().replace("(kafka.log.Log)", f"{HOSTILE} (kafka.log.Log)"))
    first = folder / "broker-2" / "logs" / "server.log"
    first.rename(first.with_name(f"server.log.{HOSTILE}"))
    (folder / "broker-9").rename(folder / f"broker-9{HOSTILE}")
    (folder / f"=cmd{HOSTILE}.log").write_text(f"{HOSTILE}\n")
    return scan([str(folder)])


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_no_format_lets_it_through(report: Report, hostile: Result) -> None:
    told = "".join(report.pieces(hostile))
    # OpenMetrics has neither paths nor lines; tests/reports/test_openmetrics.py has a hostile topic.
    assert ("evil" in told) == (report.name != "openmetrics"), "nothing hostile is told, so the test shows nothing"
    assert STEERS.findall(re.sub(r"<script.*?</script>", "", told, flags=re.DOTALL)) == []


ASKED: dict[str, list[str]] = {
    "compare": ["-p", "orders-0"],
    "inspect": ["--records", "3"],
    "inspect coverage": ["--coverage"],
    "inspect json": ["--coverage", "--format", "json"],
    "timeline": ["-p", "orders-0", "--lines"],
    "timeline jsonl": ["-p", "orders-0", "--format", "jsonl"],
    "timeline nothing": ["-p", HOSTILE],
    "trace": [],
    "trace nothing": ["--cluster", HOSTILE],
    "scan output": ["-o", f"/none{HOSTILE}/out"],
    "scan nothing": [],
    "scan option": ["--fail-on", HOSTILE],
}


@pytest.mark.parametrize("what", ASKED)
def test_no_command_lets_it_through(what: str, hostile: Result, run: Run) -> None:
    """Neither in what it shows, nor in a sentence about what it cannot do."""
    (folder,) = hostile.inputs
    path = next(Path(folder).glob("=cmd*")) if what == "scan nothing" else folder
    done = run(what.split(maxsplit=1)[0], path, *ASKED[what])
    assert "evil" in done.out + done.err
    assert STEERS.findall(done.out + done.err) == []


def archived(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


def compressed(times: int) -> bytes:
    data = LINE.encode()
    for _ in range(times):
        data = gzip.compress(data)
    return data


def tarred(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


NAMED: dict[str, tuple[str, bytes, str]] = {
    "gzip ten times": ("server.log.gz", compressed(10), "compressed more than 2 times over"),
    "zip in zip in zip": (
        "a.zip",
        archived("b.zip", archived("c.zip", archived("server.log", LINE.encode()))),
        "2 archives are around this one",
    ),
    "zip in tar in zip": (
        "a.zip",
        archived("b.tar", tarred("c.zip", archived("server.log", LINE.encode()))),
        "2 archives are around this one",
    ),
    "UTF-16 without its mark": ("server.log", (LINE * 3).encode("utf-16-le"), "a text in UTF-16"),
    "UTF-32": ("server.log", (LINE * 3).encode("utf-32"), "a text in UTF-32"),
    "RAR": ("logs.rar", b"Rar!\x1a\x07\x01\0" + bytes(400), "a RAR archive, which is not read: unpack it (unrar x)"),
    "7z": ("server.log", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(400), "a 7z archive, which is not read: unpack it (7z x)"),
    "cpio": ("logs", b"070701" + b"0" * 400, "a cpio archive, which is not read"),
    "encrypted": ("logs.tar.gz", b"Salted__" + bytes(range(200)), "encrypted by openssl, which is not read"),
    "no tar": ("logs.tar", bytes(range(256)) * 9, "named like a tar, but its first bytes are not those of one"),
    "no gzip": ("logs.tar.gz", b"\0\0" + compressed(1)[2:], "named like a gzip, but its first bytes"),
    "no tar in gzip": ("logs.tgz", gzip.compress(bytes(range(256)) * 9), "named like a compressed tar, but its"),
    "no zip": ("logs.zip", b"\0\0" + archived("server.log", b"x")[2:40], "named like a zip, but its first bytes"),
    "an empty tar": ("logs.tar.xz", b"", "named like an xz, but empty: copy it again"),
    "offsets of a topic": ("offsets.txt", b"orders:0:120\norders:1:98\n", "output of kafka-get-offsets, which is not"),
    "offsets below the command": (
        "ticket.txt",
        b"Today:\n$ kafka-run-class.sh kafka.tools.GetOffsetShell --topic orders\norders:0:120,80,0\nis all.",
        "output of kafka-get-offsets, which is not",
    ),
    "UTF-32 without its mark": ("server.log", (LINE * 3).encode("utf-32-be"), "a text in UTF-32"),
}


@pytest.mark.parametrize("what", NAMED)
def test_what_is_not_read_is_named_with_its_reason(what: str, tmp_path: Path, run: Run) -> None:
    name, data, reason = NAMED[what]
    (tmp_path / name).write_bytes(data)
    alone = run("scan", tmp_path)
    assert alone.code == 2
    assert reason in alone.err
    (tmp_path / "sound.log").write_text(LINE * 20)
    beside = run("scan", tmp_path, "--format", "json").document
    assert [one["reason"] for one in beside["notices"]["examples"] if reason in one["reason"]]


def test_a_pipe_is_named_and_nobody_waits_for_it(tmp_path: Path, run: Run) -> None:
    os.mkfifo(tmp_path / "server.log")
    assert "not a regular file" in run("scan", tmp_path).err


@pytest.mark.parametrize("command", [("timeline", "-p", "orders-0"), ("trace",)], ids=lambda words: words[0])
def test_a_command_without_notices_names_what_is_not_read(
    command: tuple[str, ...], sample_traces: Path, tmp_path: Path, run: Run
) -> None:
    """Only on standard error: a trace is read by programs."""
    cluster = sample_traces / "kip101-0.10.2.2"
    assert "not read" not in run(*command, cluster).err
    for number in range(7):
        os.mkfifo(tmp_path / f"server.log.{number}")
    ran = run(*command, cluster, tmp_path)
    assert (ran.code, "server.log." in ran.out) == (0, False)
    named = [f"not read: {tmp_path}/server.log.{number}: not a regular file" for number in range(5)]
    named.append("not read: 2 more; forensics inspect --coverage names them")
    assert [line for line in ran.err.splitlines() if line.startswith("not read")] == named


def test_many_equal_notices_of_a_file_are_one_row(tmp_path: Path, run: Run) -> None:
    bad = "[2026-11-21 04:11:02,000] INFO Truncating log orders-0 to offset x{}. (kafka.log.Log)\n"
    (tmp_path / "server.log").write_text(LINE * 20 + "".join(bad.format(n) for n in range(400)))
    found = run("scan", tmp_path, "--format", "json").document["notices"]
    several = [one["reason"] for one in found["examples"] if "like this in the file" in one["reason"]]
    assert len(several) == 1
    assert "(400 like this in the file" in several[0]
    assert found["count"] <= 2


@pytest.mark.parametrize("names", [["a", "b", "c"], ["c", "a", "b"], ["b", "c", "a"]])
def test_the_order_of_single_files_changes_no_citation(names: list[str], sample_traces: Path, run: Run) -> None:
    """Files named one by one, in any order: findings cite the same places, equal lines of two files among them."""
    case = sample_traces / "kip101-0.10.2.2"
    files = sorted(str(path) for path in case.rglob("*") if path.is_file() and path.suffix != ".md")
    parts = {"a": files[::3], "b": files[1::3], "c": files[2::3]}
    given = [file for name in names for file in parts[name]]

    def cited(paths: list[str]) -> list[object]:
        findings = run("scan", *paths, "--format", "json").document["findings"]
        return [(one["fingerprint"], [(e["path"], e["line"], e["byte"]) for e in one["evidence"]]) for one in findings]

    assert cited(given) == cited(files)


def test_saved_tables_can_be_read_whatever_names_contain(hostile: Result, tmp_path: Path) -> None:
    save(hostile, tmp_path)
    for path in tmp_path.iterdir():
        pl.read_parquet(path)


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_no_format_lets_a_version_through(report: Report, sample_traces: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sample_traces / "kip101-0.10.2.2", tmp_path / "case")
    version = "INFO Kafka version : 0.10.2.2\x1b]8;;<img\u202e (org.apache.kafka.common.utils.AppInfoParser)"
    for log in folder.glob("broker-[123]/logs/server.log"):
        log.write_text(f"{log.read_text()}[2026-11-21 04:06:50,000] {version}\n")
    told = re.sub(r"<script.*?</script>", "", "".join(report.pieces(scan([str(folder)]))), flags=re.DOTALL)
    assert STEERS.findall(told) == []
    assert report.name not in ("html", "markdown") or not re.search(r"8;;<img", told)
