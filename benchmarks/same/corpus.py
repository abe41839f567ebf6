"""The recorded clusters that are compared: the samples, those of the tests, and those of the evidence folder."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.samples import unpacked

ROOT = Path(__file__).resolve().parent.parent.parent
NOT_EVIDENCE = (".json", ".md")
"""Endings of files beside the brokers' folders with the truth of a case."""

Files = dict[str, bytes]
"""Path below the case's folder -> content."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded cluster.

    Attributes:
        name: group and name, such as ``sample_traces/kip101-0.10.2.2``.
        path: its folder, or a tar archive of that folder.
    """

    name: str
    path: str

    @property
    def folder(self) -> str:
        """Its name without the group."""
        return self.name.rpartition("/")[2]

    def files(self) -> Files:
        """All of its evidence."""
        found = dict(_of_archive(Path(self.path)) if Path(self.path).is_file() else _of_folder(Path(self.path)))
        return {
            path: found[path] for path in sorted(found) if "/" in path or not path.endswith(NOT_EVIDENCE)
        }  # in this order on every machine


def _of_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _of_archive(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.removeprefix("./").partition("/")[2], content.read()


def outside() -> dict[str, Path]:
    """Return the folders of recorded clusters that are not part of the repository, by group."""
    set_by_hand = os.environ.get("FORENSICS_EVIDENCE")
    evidence = Path(set_by_hand) if set_by_hand else ROOT.parent / "shared" / "evidence"
    return {"evidence": evidence, "incidents": evidence.parent / "incidents"}


def recorded() -> list[Recorded]:
    """Return every available recorded cluster, in the order of their names within each group."""
    groups = {
        "sample_traces": sorted(path for path in unpacked().iterdir() if path.is_dir()),
        "data": sorted((ROOT / "tests" / "cases" / "data").glob("*.tar.xz")),
        **{group: _folders(folder) for group, folder in outside().items()},
    }
    return [
        Recorded(f"{group}/{path.name.removesuffix('.tar.xz')}", str(path))
        for group, paths in groups.items()
        for path in paths
    ]


def _folders(parent: Path) -> list[Path]:
    return sorted(path for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []


def digest(files: Files) -> str:
    """A hash of paths and contents."""
    found = hashlib.sha256()
    for path, content in sorted(files.items()):
        found.update(f"{path}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()
