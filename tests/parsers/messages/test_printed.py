"""Each wording as brokers of each version printed it, at stock logging and with the replication loggers turned up.

``printed/VERSION-LOGGING.log`` holds one line of each wording that recorded brokers of that version were seen to print,
sorted by time; lines of more than 700 bytes are left out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.read import read
from parsers.text import frames, lines
from parsers.walk import walk
from tests.parsers.messages.listing import load, wordings

FILES = sorted(Path(__file__).with_name("printed").glob("*.log"))
VERSIONS = ("0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9.1", "4.1.1")


def test_every_version_is_there_at_both_loggings() -> None:
    assert {path.stem for path in FILES} == {
        f"{version}-{logging}" for version in VERSIONS for logging in ("default", "replication")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_is_understood_and_gives_what_it_is_known_for(path: Path) -> None:
    (source,) = walk([str(path)])
    reading = read(source)
    count = len(path.read_text().splitlines())
    assert count > 50
    assert reading.notices.is_empty()
    assert reading.lines == reading.events == reading.relevant == reading.understood == count
    with path.open("rb") as stream:
        rows = frames.split(next(lines.blocks(stream)).frame(), frames.STOCK)
    found = {wording for wording, _ in wordings(rows)}
    assert len(found) == count
    seen, version = load(), path.stem.rpartition("-")[0]
    assert [wording for wording in sorted(found) if version not in seen[wording]["versions"]] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_turned_up_loggers_say_more(version: str) -> None:
    def kinds(logging: str) -> set[str]:
        (source,) = walk([str(Path(__file__).with_name("printed") / f"{version}-{logging}.log")])
        return set(read(source).observations["kind"].to_list())

    assert kinds("replication") - kinds("default")
    assert "hw" in kinds("replication")
