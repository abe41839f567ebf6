"""The folder of a batch: read rows, tables generation by generation, and the manifest that names the valid one.

New files are written beside the existing ones; the manifest is replaced last, by a rename. So a run that is killed
leaves the former files unchanged, and the next run finds the rows that it had read.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, BinaryIO, Final

import polars as pl

from forensics.engines.stages.rows import Schema
from forensics.engines.stages.table import Table
from forensics.errors import UnreadableInput, UnusableOutput, UnwritableOutput
from forensics.outputs import evidence_around
from forensics.version import __version__
from parsers import limits, plugins

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT: Final = "forensics.batch/1"
MANIFEST: Final = "manifest.json"
_READS: Final = "reads"
_LOCK: Final = ".lock"


@dataclass(frozen=True, slots=True)
class Output:
    """A folder for the tables of a batch.

    Attributes:
        folder: its path.
    """

    folder: Path

    def apart_from(self, paths: Iterable[str]) -> None:
        """Make sure that the folder is no part of the evidence: its files would be read the next time.

        Raises:
            UnusableOutput: it is in one of the paths.
        """
        if (path := evidence_around(self.folder, paths)) is not None:
            raise UnusableOutput(
                f"{self.folder}: lies in the archive {path}, and evidence is never written to; name a folder "
                "outside of it"
            )

    def writable(self) -> None:
        """Make sure, without writing, that the folder is one, and free, or can be made.

        Raises:
            UnusableOutput: another batch is at work in it.
            UnwritableOutput: it cannot be written.
        """
        there = next(path for path in (self.folder, *self.folder.parents) if path.exists())
        if not there.is_dir():
            raise _unwritable(there, NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        if not os.access(there, os.W_OK | os.X_OK):
            raise _unwritable(there, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        if (self.folder / _LOCK).exists():
            with self.alone():
                pass

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder where it is missing, and keep other batches out of it; a lock goes when its process does.

        Raises:
            UnusableOutput: another batch is at work in it.
            UnwritableOutput: it cannot be written.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            held = (self.folder / _LOCK).open("ab")
        except OSError as error:
            raise _unwritable(self.folder, error) from None
        with held:
            if _locked(held) is False:
                raise UnusableOutput(
                    f"{self.folder}: another batch is at work in it; wait for its end, or name another folder"
                )
            yield

    @property
    def abandoned(self) -> bool:
        """Return whether the process that worked in the folder is gone; False where that is unknown."""
        try:
            with (self.folder / _LOCK).open("r+b") as held:
                return _locked(held) is True
        except OSError:
            return False

    def manifest(self) -> dict[str, Any] | None:
        """Return the manifest of the last completed run; None before the first.

        Raises:
            UnusableOutput: the folder holds something else.
        """
        path = self.folder / MANIFEST
        try:
            said = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            others = sorted(entry.name for entry in self.folder.iterdir()) if self.folder.is_dir() else []
            strange = [name for name in others if name != _READS and not name.startswith(("tables-", "."))]
            if strange:
                raise UnusableOutput(
                    f"{self.folder}: holds {strange[0]}, which no batch wrote; name a new folder: nothing is ever "
                    "written over"
                ) from None
            return None
        except (OSError, ValueError) as error:
            raise UnusableOutput(f"{path}: cannot be read ({error}); name another folder") from None
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            raise UnusableOutput(f"{path}: is not of {FORMAT}; name another folder")
        return said

    def tables(self, generation: int) -> Path:
        """Return the folder of a generation's tables."""
        return self.folder / f"tables-{generation:06}"

    def reads(self, run: int) -> Path:
        """Return the folder of the rows that a run read."""
        return self.folder / _READS / f"{run:06}"

    def runs(self, key: str) -> list[int]:
        """Runs with complete rows that the same parser read in the same way."""
        found = set()
        for path in (self.folder / _READS).glob("[0-9]*.json"):
            if json.loads(path.read_text("utf-8")).get("key") == key:
                found.add(int(path.name.partition(".")[0]))
        return sorted(found)

    def next_run(self) -> int:
        """A number that no run has had."""
        names = [path.name.partition(".")[0] for path in (self.folder / _READS).glob("*")]
        return max((int(name) for name in names if name.isdigit()), default=0) + 1

    def keep_run(self, run: int, key: str, wave: int = 0) -> None:
        """Record that all rows of a wave of a run are complete.

        Args:
            run: its number.
            key: parser and settings.
            wave: its number.
        """
        self._write(self.folder / _READS / f"{run:06}.{wave:05}.json", [json.dumps({"key": key}).encode()])

    def wave(self, run: int, wave: int) -> Path:
        """Return the folder of the rows that a wave of a run read."""
        return self.reads(run) / f"wave-{wave:05}"

    def waves(self, run: int) -> list[Path]:
        """Return the folders of the complete waves of a run."""
        names = sorted((self.folder / _READS).glob(f"{run:06}.*.json"))
        return [self.wave(run, int(path.name.split(".")[1])) for path in names]

    def write_all(self, generation: int, name: str, pieces: Iterable[bytes]) -> None:
        """Write a text piece by piece."""
        self._write(self.tables(generation) / name, pieces)

    def write_table(self, generation: int, name: str, frame: pl.DataFrame, number: int = 0) -> None:
        """Write a file of a small table of a generation that does not count yet."""
        folder = self.tables(generation) / name
        path = folder / f"part-{number:05}.parquet"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            frame.write_parquet(path, compression="zstd")
        except OSError as error:
            raise _unwritable(path, error) from None

    def files_of(self, generation: int, name: str) -> list[Path]:
        """Files of a small table, in order."""
        return sorted((self.tables(generation) / name).glob("*.parquet"))

    def small_table(self, generation: int, name: str, schema: Schema) -> Table:
        """Return a small table for tasks."""
        return Table(self.tables(generation) / name, schema)

    def read_table(self, generation: int, name: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """A small table, or some columns of it."""
        files = self.files_of(generation, name)
        wanted = None if columns is None else list(columns)
        return pl.read_parquet(files, columns=wanted, hive_partitioning=False, glob=False)

    def left(self, generation: int) -> int:
        """How many files a generation has; -1 where a killed run left another beside it."""
        if any(path != self.tables(generation) for path in self.folder.glob("tables-*")):
            return -1
        return self.files_in(generation)

    def files_in(self, generation: int) -> int:
        """How many files a generation has, in all its folders."""
        return sum(len(files) for _, _, files in os.walk(self.tables(generation)))

    def clear(self, generation: int) -> None:
        """Remove what a killed run left of a generation."""
        shutil.rmtree(self.tables(generation), ignore_errors=True)

    def commit(self, manifest: dict[str, Any], *, live: set[int]) -> None:
        """Make a generation the valid one, and remove what is not needed any more.

        Args:
            manifest: data for the next run and for reports.
            live: runs whose rows are still used.
        """
        said = json.dumps({"format": FORMAT, **manifest}, indent=1) + "\n"
        self._write(self.folder / MANIFEST, [said.encode()])
        kept = self.tables(manifest["generation"]).name
        for path in self.folder.glob("tables-*"):
            if path.name != kept:
                shutil.rmtree(path, ignore_errors=True)
        for path in sorted((self.folder / _READS).glob("*")):
            name = path.name.partition(".")[0]
            if name.isdigit() and int(name) not in live:
                path.unlink() if path.is_file() else shutil.rmtree(path, ignore_errors=True)

    def open(self) -> dict[str, Any]:
        """Return the manifest of a folder that is to be read.

        Raises:
            UnreadableInput: there is no such folder.
            UnusableOutput: no batch was completed there.
        """
        if not self.folder.is_dir():
            raise UnreadableInput(f"{self.folder}: no such folder; give one that `forensics batch -o` wrote")
        said = self.manifest()
        if said is None:
            raise UnusableOutput(
                f"{self.folder}: no completed batch in this directory; run forensics batch -o {self.folder}"
            )
        return said

    def _write(self, path: Path, pieces: Iterable[bytes]) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.with_name(f".{path.name}.{os.getpid()}")
            with beside.open("wb") as out:
                out.writelines(pieces)
            beside.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from None


def _locked(held: BinaryIO) -> bool | None:
    """Lock an open file; return whether it is this process's now. None means that there are no locks here."""
    found = None
    if fcntl is not None:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = True
        except OSError as error:
            found = False if error.errno in (errno.EAGAIN, errno.EACCES) else None
    return found


def _unwritable(path: Path, error: OSError) -> UnwritableOutput:
    return UnwritableOutput(f"{path}: {error.strerror or error}; name a folder that can be written, with room in it")


def parser_version() -> str:
    """Return the version of the readers: rows of another version, or read within other limits, are not used again."""
    moved = limits.said()
    version = _version("parsers", "forensics.engines.pipeline", "forensics.engines.stages")
    return with_plugins(f"{version} within {moved}" if moved else version)


def judge_version() -> str:
    """Return the version of replay and rules: answers of another version are not used again."""
    return with_plugins(_version("forensics"))


def with_plugins(version: str) -> str:
    """Return a version with the plugins that are installed: they change what is read, and what is found."""
    return f"{version} with {added}" if (added := plugins.said()) else version


@functools.cache
def _version(*packages: str) -> str:
    digest = sha256()
    for package in packages:
        for name, data in sorted(_code(resources.files(package), package)):
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return f"{__version__}+{digest.hexdigest()[:16]}"


def _code(folder: Traversable, name: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _code(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            found.append((f"{name}/{entry.name}", entry.read_bytes()))
    return found
