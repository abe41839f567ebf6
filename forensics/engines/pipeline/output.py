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
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, BinaryIO, Final

import polars as pl

from forensics import parquet
from forensics.engines.stages.rows import Schema
from forensics.engines.stages.table import Table
from forensics.errors import UnreadableInput, UnusableOutput, UnwritableOutput
from forensics.named_files import contents, no_file, opened
from forensics.outputs import evidence_around
from forensics.version import __version__
from parsers import limits, plugins
from parsers.limits import BASELINE, SETTINGS

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

FORMAT: Final = "forensics.batch/1"
MANIFEST: Final = "manifest.json"
READS: Final = "reads"
_SUM: Final = "sha256"
_SUMS: Final = "files"
_SMALL: Final = re.compile(r"part-[0-9]{5}[.]parquet")
"""Files that ``write_table`` writes."""
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
            if why := no_file(self.folder / _LOCK):
                raise UnusableOutput(f"{self.folder / _LOCK}: {why}, which no batch made; name another folder")
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
            UnusableOutput: the folder holds something else, or the manifest or a small table is damaged.
        """
        path = self.folder / MANIFEST
        try:
            said = json.loads(contents(path, BASELINE).decode("utf-8"))
        except FileNotFoundError:
            self._refuse_strangers()
            return None
        except OSError as error:
            raise UnusableOutput(f"{path}: cannot be read ({error.strerror}); name another folder") from None
        except (ValueError, RecursionError):
            raise self._damaged(path) from None
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            raise UnusableOutput(f"{path}: is not of {FORMAT}; name another folder")
        if said.pop(_SUM, None) != _sum_of(said):
            raise self._damaged(path)
        self._check_small_tables(said)
        return said

    def _refuse_strangers(self) -> None:
        others = sorted(entry.name for entry in self.folder.iterdir()) if self.folder.is_dir() else []
        strange = [name for name in others if name != READS and not name.startswith(("tables-", "."))]
        if strange:
            raise UnusableOutput(
                f"{self.folder}: holds {strange[0]}, which no batch wrote; name a new folder: nothing is ever "
                "written over"
            )

    def _check_small_tables(self, manifest: dict[str, Any]) -> None:
        for name, known in manifest[_SUMS].items():
            path = self.tables(manifest["generation"]) / name
            if _hash(path) != known:
                raise self._damaged(path)

    def _damaged(self, path: Path) -> UnusableOutput:
        step = f"delete {'it' if path.name == MANIFEST else self.folder / MANIFEST}"
        return UnusableOutput(
            f"{path}: is damaged; {step} and run forensics batch into the folder again: what was read is not read again"
        )

    def tables(self, generation: int) -> Path:
        """Return the folder of a generation's tables."""
        return self.folder / f"tables-{generation:06}"

    def reads(self, run: int) -> Path:
        """Return the folder of the rows that a run read."""
        return self.folder / READS / f"{run:06}"

    def runs(self, key: str) -> list[int]:
        """Runs with complete rows that the same parser read in the same way."""
        return [run for run, keys in self.kept_runs().items() if key in keys]

    def kept_runs(self) -> dict[int, set[str]]:
        """Return the runs with complete rows, in order, each with parser and settings of its waves.

        A wave that is not known to be complete is read again.
        """
        found: dict[int, set[str]] = {}
        for path in sorted((self.folder / READS).glob("[0-9]*.json")):
            number = path.name.partition(".")[0]
            with contextlib.suppress(OSError, ValueError, RecursionError, AttributeError):
                if number.isdigit() and (key := json.loads(contents(path, SETTINGS)).get("key")) is not None:
                    found.setdefault(int(number), set()).add(str(key))
        return found

    def next_run(self) -> int:
        """A number that no run has had."""
        names = [path.name.partition(".")[0] for path in (self.folder / READS).glob("*")]
        return max((int(name) for name in names if name.isdigit()), default=0) + 1

    def keep_run(self, run: int, key: str, wave: int = 0) -> None:
        """Record that all rows of a wave of a run are complete.

        Args:
            run: its number.
            key: parser and settings.
            wave: its number.
        """
        self._write(self.folder / READS / f"{run:06}.{wave:05}.json", [json.dumps({"key": key}).encode()])

    def wave(self, run: int, wave: int) -> Path:
        """Return the folder of the rows that a wave of a run read."""
        return self.reads(run) / f"wave-{wave:05}"

    def waves(self, run: int) -> list[Path]:
        """Return the folders of the complete waves of a run."""
        names = sorted((self.folder / READS).glob(f"{run:06}.*.json"))
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
            parquet.write(frame, path)
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
        place = self.tables(manifest["generation"])
        small = sorted(path for path in place.glob("*/part-*.parquet") if _SMALL.fullmatch(path.name))
        sums = {path.relative_to(place).as_posix(): _hash(path) for path in small}
        said = json.loads(json.dumps({"format": FORMAT, **manifest, _SUMS: sums}))
        text = json.dumps({**said, _SUM: _sum_of(said)}, indent=1) + "\n"
        self._write(self.folder / MANIFEST, [text.encode()])
        kept = self.tables(manifest["generation"]).name
        for path in self.folder.glob("tables-*"):
            if path.name != kept:
                shutil.rmtree(path, ignore_errors=True)
        for path in sorted((self.folder / READS).glob("*")):
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


def _sum_of(manifest: dict[str, Any]) -> str:
    """Return the hash of a manifest, whatever its spaces."""
    return sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _hash(path: Path) -> str:
    """Return the hash of a file; "" if it cannot be read."""
    try:
        state = path.stat()
        return _hash_of(path, state.st_ino, state.st_size, state.st_mtime_ns)
    except OSError:
        return ""


@functools.lru_cache(maxsize=4096)
def _hash_of(path: Path, *_state: int) -> str:
    with opened(path) as stream:
        return file_digest(stream, "sha256").hexdigest()


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
