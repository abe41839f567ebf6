"""Files as they should not be: nothing blocks, nothing crashes, and nothing is passed over in silence."""

from __future__ import annotations

import gc
import gzip
import itertools
import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from parsers import read
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.walk import walk
from tests.parsers.formats.building import batch
from tests.parsers.handing_over import COMPRESSIONS, CONTAINERS, source, tar, zipped

LINE = "[2026-11-21 04:11:{0:02},000] INFO Truncating log orders-0 to offset {0}. (kafka.log.Log)\n"
LOG = "".join(LINE.format(second) for second in range(40))


def readings(*paths: Path) -> dict[str, FileReading]:
    return {found.path: read.read(found) for found in walk([str(path) for path in paths])}


def reasons(reading: FileReading) -> list[str]:
    return reading.notices["reason"].to_list()


def test_pipes_and_sockets_are_named_and_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket may be short only
        try:
            listening.bind("sock.log")
        finally:
            os.chdir(here)
        (tmp_path / "server.log").write_text(LOG)
        for given in (tmp_path, tmp_path / "pipe.log"):
            said = subprocess.run(
                [sys.executable, "-m", "forensics", "inspect", str(given)],
                capture_output=True,
                text=True,
                timeout=600,
                check=True,
            )
            assert "not a regular file" in said.stdout
        assert "not a regular file" in subprocess.run(
            [sys.executable, "-m", "forensics", "inspect", "/dev/zero"],
            capture_output=True, text=True, timeout=600, check=True,
        ).stdout  # fmt: skip


def test_links_are_followed_nowhere_and_said_where_they_lead_out(tmp_path: Path) -> None:
    inside, outside = tmp_path / "given", tmp_path / "other"
    inside.mkdir()
    outside.mkdir()
    (outside / "server.log").write_text(LOG)
    (inside / "loop").symlink_to(inside)
    (inside / "up").symlink_to("..")
    (inside / "data").symlink_to(outside)
    (inside / "server.log").symlink_to(outside / "server.log")
    (inside / "gone.log").symlink_to(inside / "nowhere.log")
    found = {path.rpartition("/")[2]: reasons(reading) for path, reading in readings(inside).items()}
    elsewhere = ["a link that leads elsewhere, not followed; give its target as well"]
    assert found == {"data": elsewhere, "server.log": elsewhere, "up": elsewhere}
    # Given as well, the target is read, once.
    given = readings(inside, outside)
    assert [path for path, reading in given.items() if reading.format == "broker-log"] == [str(outside / "server.log")]


def test_folders_that_cannot_be_listed_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "closed" / "logs").mkdir(parents=True)
    (tmp_path / "open" / "server.log").write_text(LOG)
    scandir = os.scandir

    def refusing(path: str = ".") -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = readings(tmp_path)
    assert reasons(found[str(tmp_path / "closed")]) == ["a folder that cannot be listed: Permission denied"]
    assert found[str(tmp_path / "open" / "server.log")].format == "broker-log"


def test_a_file_that_cannot_be_opened_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "server.log"
    path.write_text(LOG)
    monkeypatch.setattr(os, "access", lambda *_: False)
    (reading,) = readings(tmp_path).values()
    assert (reading.format, reasons(reading)) == ("unreadable", ["cannot be read: permission denied"])


def test_a_file_that_goes_away_is_said(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LOG)
    (found,) = walk([str(tmp_path)])
    path.unlink()
    reading = read.read(found)
    assert (reading.format, reasons(reading)) == ("unreadable", ["cannot be read: No such file or directory"])


def test_a_file_that_grows_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LOG)
    (found,) = walk([str(tmp_path)])
    with path.open("a") as stream:
        stream.write(LINE.format(59) + LINE.format(58)[:30])  # the last line is being written
    reading = read.read(found)
    assert reading.observations["offset"].to_list() == [*range(40), 59]
    assert reading.relevant == reading.understood == 41


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_log_in_another_encoding_is_read(encoding: str, end: str, tmp_path: Path) -> None:
    mark = {"utf-16-le": "\ufeff", "utf-16-be": "\ufeff"}.get(encoding, "")
    data = (mark + LOG.replace("\n", end)).encode(encoding)
    for name, stored in (("a.log", data), ("b.log.gz", gzip.compress(data))):
        (tmp_path / name).write_bytes(stored)
    for path, reading in readings(tmp_path).items():
        assert reading.format == "broker-log", path
        assert reading.observations["offset"].to_list() == list(range(40))
        assert reading.relevant == 40


def test_zeros_of_a_crash_are_noticed_and_the_rest_is_read(tmp_path: Path) -> None:
    half = len(LOG) // 2
    (tmp_path / "begin.log").write_bytes(b"\0" * 9000 + b"\n" + LOG.encode())
    (tmp_path / "middle.log").write_bytes(LOG[:half].encode() + b"\0" * 5000 + LOG[half:].encode())
    (tmp_path / "near.log").write_bytes(LINE.format(1).encode() + b"\0" * 50 + b"\n" + LOG.encode())
    (tmp_path / "end.log").write_bytes(LOG.encode() + b"\0" * 5000)
    for path, reading in readings(tmp_path).items():
        assert reading.format == "broker-log", path
        assert 39 <= reading.observations.height <= 41
        lost = ["a line about replication whose beginning is truncated or overwritten"] if "middle" in path else []
        assert reasons(reading) == ["bytes that are not UTF-8 text were replaced", *lost], path
        assert reading.relevant - reading.understood == len(lost)


def test_one_line_without_end_is_no_log_and_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes(b"x" * (40 << 20))
    (reading,) = readings(tmp_path).values()
    assert (reading.format, len(reasons(reading))) == ("unknown", 1)


def test_a_huge_line_among_others_is_noticed(tmp_path: Path) -> None:
    later = LOG.replace("04:11:", "04:12:")
    (tmp_path / "server.log").write_text(LOG + "y" * (3 << 20) + "\n" + later)
    (reading,) = readings(tmp_path).values()
    assert reading.observations.height == 80
    assert reasons(reading) == ["line longer than 1 MiB (--limit line=… moves this bound)"]


@pytest.mark.parametrize("size", [0, 1, 17])
@pytest.mark.parametrize(
    "name",
    ["server.log", "00000000000000000000.log", "replication-offset-checkpoint", "meta.properties", "a.tar.gz", "x"],
)
def test_next_to_nothing_is_listed(name: str, size: int, tmp_path: Path) -> None:
    (tmp_path / "orders-0").mkdir()
    (tmp_path / "orders-0" / name).write_bytes(b"\x1f" * size)
    (reading,) = readings(tmp_path).values()
    assert reading.format
    assert reading.observations.is_empty()


# Streams of a nested archive are kept for its next member and closed with it, when the collector comes to them.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("container", [*CONTAINERS, *COMPRESSIONS])
def test_a_cut_archive_says_so_and_gives_what_is_there(container: str, tmp_path: Path) -> None:
    files = {f"broker-{n}/server.log": (LOG + os.urandom(60_000).hex() + "\n").encode() for n in range(1, 5)}
    whole = (
        CONTAINERS[container](files)
        if container in CONTAINERS
        else COMPRESSIONS[container](files["broker-1/server.log"])
    )
    for share in (0.1, 0.5, 0.9):
        path = tmp_path / f"bundle-{share}"
        path.write_bytes(whole[: int(len(whole) * share)])
        found = readings(path)
        assert any(reasons(reading) for reading in found.values()), (container, share)


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="open files are not listed here")
@pytest.mark.parametrize("container", CONTAINERS)
def test_files_are_closed_when_nothing_needs_them(container: str, tmp_path: Path) -> None:
    """Also without the collector, which closes files in an order of its own."""
    path = tmp_path / "bundle"
    path.write_bytes(CONTAINERS[container]({"broker-1/server.log": LOG.encode(), "broker-2/server.log": LOG.encode()}))
    readings(path)  # the first time, libraries open files of their own
    gc.collect()
    gc.disable()
    try:
        before = list(Path("/dev/fd").iterdir())
        readings(path)
        assert len(list(Path("/dev/fd").iterdir())) == len(before)
    finally:
        gc.enable()


def test_archives_in_archives_end() -> None:
    data = zipped({"server.log": LOG.encode()})
    for _ in range(6):
        data = tar({"a.zip": data}, "gz")
    problems = [found.problem for found in members(data)]
    assert any("2 archives are around" in problem for problem in problems)


def members(data: bytes) -> list[Source]:
    from parsers.containers import expand

    return list(expand(source(data, "bundle")))


@pytest.mark.parametrize("name", ["00000000000000000000.log", "server.log", "replication-offset-checkpoint", "a.tar"])
def test_a_file_that_becomes_shorter_while_it_is_read_is_told_and_ends_nothing(name: str, tmp_path: Path) -> None:
    """A live broker cuts segments and log rotation copies and truncates: between finding, opening and reading."""
    segment = b"".join(batch(first, [b"x" * 100] * 10) for first in range(0, 1000, 10))
    data = {"server.log": LOG.encode() * 40, "replication-offset-checkpoint": b"0\n1\norders 0 5\n" + b" " * 90_000}
    content = data.get(name, segment) if name != "a.tar" else tar({"orders-0/00000000000000000000.log": segment})
    path = tmp_path / "orders-0" / name
    path.parent.mkdir()
    for keep in (0, len(content) // 2):
        for when in ("found", "opened", "read"):
            path.write_bytes(content)
            found = list(walk([str(tmp_path)]))[-1]
            first = found.open()
            if when == "read":
                first.read(1)
                first.seek(0)
            os.truncate(path, keep)
            if when == "found":
                first.close()
                first = found.open()
            opened = itertools.chain([first], iter(found.open, None))
            reading = read.read(replace(found, open=lambda opened=opened: next(opened)))  # type: ignore[misc]
            assert any("became shorter while it was read" in reason for reason in reasons(reading)), (keep, when)


def test_a_scan_survives_a_segment_that_is_cut_meanwhile(tmp_path: Path) -> None:
    """In a process of its own, because a mapped file that is cut would end this one."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    (folder / "00000000000000000000.log").write_bytes(b"".join(batch(first, [b"x" * 100]) for first in range(400)))
    script = f"""
import os, sys
from parsers.takers import data_files
from parsers.read import read
from parsers.walk import walk
path = {str(folder / "00000000000000000000.log")!r}
original = data_files.read_segment
def cut(data, **named):
    os.truncate(path, 5000)
    return original(data, **named)
data_files.read_segment = cut
(found,) = walk([path])
print(read(found).notices["reason"].to_list())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "became shorter while it was read" in done.stdout
