"""Texts in place of files that a store of large files keeps elsewhere: no file of a broker, and no damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Severity
from parsers.read import read
from parsers.walk import walk

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "5e" * 32 + "\nsize 10485760\n"
ANNEX = "/annex/objects/SHA256E-s2048--" + "7b" * 32 + ".log\n"
TOPIC_ID = "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n"
SEGMENT = "00000000000000000000.log"


def directory(tmp_path: Path, files: dict[str, str]) -> Path:
    folder = tmp_path / "data"
    for name, text in {"meta.properties": "version=0\nbroker.id=4\ncluster.id=blue\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LFS, "Git LFS pointer: the file itself, of 10,485,760 bytes, is not here; run git lfs pull"),
        (LFS.partition("size")[0], "Git LFS pointer: the file itself is not here; run git lfs pull"),
        (ANNEX, "git-annex pointer: the file itself is not here; run git annex get"),
        ("../../.git" + ANNEX, "git-annex pointer: the file itself is not here; run git annex get"),
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        f"pears-0/{SEGMENT}",
        f"__cluster_metadata-0/{SEGMENT}",
        "replication-offset-checkpoint",
        "pears-0/leader-epoch-checkpoint",
        "server.log",
    ],
)
def test_a_pointer_is_named_and_is_no_damage(text: str, reason: str, name: str, tmp_path: Path) -> None:
    folder = directory(tmp_path, {name: text, "pears-0/partition.metadata": TOPIC_ID})
    found = scan([str(folder)])
    case = found.case
    mine = case.sources.filter(case.sources.get_column("path").str.ends_with(name)).row(0, named=True)
    assert (mine["format"], mine["broker"]) == ("pointer", 4)
    assert case.notices.get_column("reason").to_list() == [reason]
    assert case.batches.is_empty()
    assert {finding.severity for finding in found.findings} <= {Severity.INFO}


@pytest.mark.parametrize("text", [LFS.replace("git-lfs", "git-lsf"), f" {LFS}", f"{ANNEX}more\n", LFS + "#" * 2000])
def test_what_only_resembles_one_is_read_as_what_it_is_named(text: str, tmp_path: Path) -> None:
    folder = directory(tmp_path, {f"pears-0/{SEGMENT}": text, "pears-0/partition.metadata": TOPIC_ID})
    (source,) = (one for one in walk([str(folder)]) if one.name == SEGMENT)
    assert read(source).format == "segment"
    assert any(finding.rule == "segment-damage" for finding in scan([str(folder)]).findings)
