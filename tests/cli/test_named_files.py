"""Files that the user names beside the evidence: pipes, sockets and devices are refused, and nothing is waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.named_files import contents
from parsers.limits import SETTINGS, Limit
from tests.cli.conftest import Run

KINDS = ["pipe", "socket", "device", "folder"]


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Path]:
    """A folder with a file of each kind that is none."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(tmp_path)  # the name of a socket has at most 107 bytes
        listening.bind("socket")
        os.chdir(here)
        yield tmp_path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        "scan nothing --baseline FILE",
        "scan nothing --config FILE",
        "simulate --schedule FILE --protocol hw -o out",
        "produce FILE --bootstrap-server localhost:1 --topic t",
        "batch nothing -o out --py-files FILE",
    ],
)
def test_what_is_no_file_is_refused(command: str, kind: str, strange: Path, run: Run) -> None:
    file = strange / kind
    if "--py-files" in command:
        file = file.rename(file.with_name(f"{kind}.zip")) if kind != "device" else file
        if kind == "device":
            (strange / "device.zip").symlink_to("/dev/zero")
            file = strange / "device.zip"
    ran = run(*(file if word == "FILE" else word for word in command.split()))
    assert (ran.code, ran.out) == (2, "")
    # click words a folder by itself
    assert kind in ran.err or "directory" in ran.err
    assert "Traceback" not in ran.err
    assert "defect" not in ran.err


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, run: Run) -> None:
    with (tmp_path / "large.toml").open("wb") as out:
        out.truncate(5 << 30)
    ran = run("scan", "nothing", "--config", tmp_path / "large.toml")
    assert (ran.code, "is larger than 16 MiB (--limit settings=… moves this bound)" in ran.err) == (2, True)


def test_a_file_that_grows_while_it_is_read_is_not_read_to_its_end(tmp_path: Path) -> None:
    """Such files have no size, as those in /proc."""
    whole = Path("/proc/self/status")
    if not whole.exists():
        pytest.skip("no such file here")
    with pytest.raises(OSError, match="is larger"):
        contents(whole, Limit("status", 10, True, "", ""))
    assert contents(whole, SETTINGS)


@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_is_no_file_cannot_be_watched(kind: str, strange: Path, run: Run) -> None:
    ran = run("watch", strange / kind, "--for", "1s")
    assert (ran.code, ran.out) == (2, "")
    assert f"is a {kind}, not a regular file; give folders" in ran.err


@pytest.mark.parametrize("command", ["scan", "inspect", "trace"])
def test_an_empty_path_is_not_this_folder(command: str, run: Run) -> None:
    """As an unset variable of a shell gives it."""
    ran = run(command, "")
    assert (ran.code, ran.out) == (2, "")
    assert "an empty path: no such file or directory" in ran.err
