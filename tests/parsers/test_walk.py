"""The files below the paths that a user names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from parsers.walk import walk

DEPTH = 1_200


def test_no_depth_of_folders_ends_a_walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``os.walk`` of Python 3.11 calls itself for each folder: a thousand of them in one another were its end."""
    (tmp_path / "server.log").write_text("one")
    monkeypatch.chdir(tmp_path)
    for _ in range(DEPTH):
        Path("d").mkdir()
        os.chdir("d")
    Path("state-change.log").write_text("two")
    os.chdir(tmp_path)
    deepest = "/".join(["d"] * DEPTH)
    try:
        found = [source.path for source in walk([str(tmp_path)])]
    finally:
        Path(deepest, "state-change.log").unlink()
        os.removedirs(deepest)  # what cleans up behind a test calls itself too
    assert [path.removeprefix(f"{tmp_path}/") for path in found] == ["server.log", f"{deepest}/state-change.log"]
