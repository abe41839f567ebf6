"""The two versions: copied to folders of their own, run in processes of their own, their answers kept."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.same import side
from benchmarks.same.corpus import ROOT, Recorded, digest
from benchmarks.same.runs import Batch

Unit = Recorded | Batch
Call = tuple[Any, ...]
"""A function and its arguments."""
PACKAGES = ("forensics", "parsers")
BESIDE = ("tests/model/batches.py",)
"""Files of a version besides its packages: it reads many runs of the model at once."""
MODEL = ("forensics/model/", "tests/model/batches.py")
"""Files on which the evidence of a run depends."""
KEPT = 12
"""Versions whose answers are kept, the latest used."""
LATEST_USE = "used"


class NoSuchRevision(ValueError):
    """Git does not know a revision."""


def git(*arguments: str) -> str:
    """Return the output of git.

    Raises:
        NoSuchRevision: it fails.
    """
    said = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if said.returncode:
        raise NoSuchRevision(said.stderr.strip())
    return said.stdout.strip()


def base(revision: str | None) -> str:
    """The commit to compare with: the one that is named, else where this branch left ``main``."""
    if revision:
        return git("rev-parse", "--verify", f"{revision}^{{commit}}")
    return git("merge-base", "HEAD", "main")


def is_part_of(revision: str, later: str) -> bool:
    """Return whether a revision is a later one or an ancestor of it.

    Raises:
        NoSuchRevision: git does not know one of them.
    """
    return git("merge-base", revision, base(later)) == base(revision)


@dataclass(frozen=True, slots=True)
class Side:
    """One version of the code.

    Attributes:
        name: ``before`` or ``after``.
        folder: folder of its packages.
        key: hash of all its files.
        model: hash of those that make runs of the model.
    """

    name: str
    folder: str
    key: str
    model: str


def copied(name: str, room: Path, revision: str | None) -> Side:
    """A version in a folder of its own: of a revision, or with None of the working tree as it is now."""
    folder = room / name
    folder.mkdir()
    if revision is None:
        for package in PACKAGES:
            shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
        for path in BESIDE:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
    else:
        there = [path for path in (*PACKAGES, *BESIDE) if git("ls-tree", revision, path)]
        archive = room / f"{name}.tar"
        git("archive", "--output", str(archive), revision, "--", *there)
        shutil.unpack_archive(archive, folder, filter="data")
        archive.unlink()
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    model = {path: content for path, content in files.items() if path.startswith(MODEL)}
    return Side(name, str(folder.resolve()), digest(files), digest(model))


def around() -> str:
    """A hash of what answers depend on besides the version and the evidence: this driver and the libraries."""
    drivers = ("corpus.py", "cuts.py", "runs.py", "side.py")
    found = digest({name: Path(__file__).with_name(name).read_bytes() for name in drivers})
    return hashlib.sha256(f"{found} {platform.python_version()} {version('polars')}".encode()).hexdigest()


@dataclass(slots=True)
class Answered:
    """Location of the answers of one version to one unit.

    Attributes:
        path: file with them.
        hash: of them all.
        count: how many selections.
    """

    path: Path
    hash: str
    count: int


@dataclass(slots=True)
class Work:
    """Work to do, and where answers are kept.

    Attributes:
        cache: folder of answers.
        quick: only a few removals in each case.
        jobs: processes at a time.
        say: called with progress messages.
    """

    cache: Path
    quick: bool
    jobs: int
    say: Callable[[str], None]
    _around: str = field(default_factory=around)

    def played(self, batches: Sequence[Batch], model: Side) -> dict[str, Path]:
        """The evidence of runs, played by the model of one version where it is not kept yet: file by batch."""
        folder = self.cache / "runs" / hashlib.sha256(f"{model.model} {self._around}".encode()).hexdigest()[:16]
        _touch(folder)
        files = {batch.name: folder / f"{batch.name.removeprefix('model/')}-{batch.seeds[1]}.zst" for batch in batches}
        missing = [batch for batch in batches if not files[batch.name].exists()]
        self._each("runs of the model", model, [(side.play, batch, str(files[batch.name])) for batch in missing])
        return files

    def answers(self, version: Side, units: Sequence[Unit], runs: dict[str, Path]) -> dict[str, Answered]:
        """Return the answers of a version, computed only if they are not kept yet: by unit."""
        folder = self.cache / "answers" / version.key[:16]
        _touch(folder)
        places = {unit.name: folder / f"{self._key(unit, runs)}.zst" for unit in units}
        missing: list[Call] = [
            (side.answer, unit, self.quick, str(runs.get(unit.name, "")), str(places[unit.name]))
            for unit in units
            if not side.summary(places[unit.name]).exists()
        ]
        self._each(version.name, version, missing)
        return {name: _answered(place) for name, place in places.items()}

    def _key(self, unit: Unit, runs: dict[str, Path]) -> str:
        if isinstance(unit, Recorded):
            content = digest(unit.files())
        else:
            content = hashlib.sha256(runs[unit.name].read_bytes()).hexdigest()
        mode = "quick" if self.quick and isinstance(unit, Recorded) else "full"
        return hashlib.sha256(f"{self._around} {unit.name} {mode} {content}".encode()).hexdigest()[:24]

    def _each(self, what: str, version: Side, calls: Sequence[Call]) -> None:
        """Makes each call in processes of a version."""
        if not calls:
            return
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            min(self.jobs, len(calls)), mp_context=spawn, initializer=side.become, initargs=(version.folder,)
        ) as pool:
            started = [pool.submit(*call) for call in calls]
            try:
                for number, future in enumerate(as_completed(started), start=1):
                    future.result()
                    self.say(f"{what}: {number} of {len(calls)}")
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _answered(place: Path) -> Answered:
    found = json.loads(side.summary(place).read_text())
    return Answered(place, found["hash"], found["count"])


def _touch(folder: Path) -> None:
    """Notes that a folder is in use, and removes those that have not been used for the longest time."""
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
    for old in others[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
