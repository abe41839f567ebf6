"""Code of a worker process of one version: the only module here that calls ``forensics`` and ``parsers``.

It uses a few entry points, which both versions must have. These are ``forensics.engines.local.scan``,
``forensics.reports.json_report``, and for runs of the model ``taken`` and ``played`` of ``tests/model/batches.py``,
which is copied with its version. If one of them is renamed, this module must know both names.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pickle
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import zstandard

from benchmarks.same.corpus import Files, Recorded
from benchmarks.same.cuts import AT_RANDOM, WHOLE, Cut, Evidence, planned
from benchmarks.same.runs import Batch

Document = dict[str, Any]
Answers = list[tuple[str, Document]]
"""Name of each selection, and what was answered."""


class WrongSide(RuntimeError):
    """A package was imported from another place than the version that is judged."""


def become(folder: str) -> None:
    """Make this process one of the version in the folder, before anything of it is imported."""
    os.environ["POLARS_MAX_THREADS"] = "1"  # as many processes as cores run already
    os.environ["TZ"] = "UTC"
    time.tzset()
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    sys.path.insert(0, folder)
    import forensics
    import parsers

    for package in (forensics, parsers):
        if not str(package.__file__).startswith(folder + os.sep):
            raise WrongSide(f"{package.__name__} was imported from {package.__file__}, not from {folder}")
    _read_once()


def _end_with(parent: int) -> None:
    """Ends this process once its parent is gone, which it would wait for without end."""
    while os.getppid() == parent:
        time.sleep(2)
    os._exit(1)


def _read_once() -> None:
    """Reads a file that many selections of a case have in common once: most of a scan is reading."""
    from parsers import read

    whole: Callable[[Sequence[Any]], list[Any]] = read.read_unit
    known: dict[tuple[object, ...], Any] = {}

    def read_unit(sources: Sequence[Any]) -> list[Any]:
        from dataclasses import replace

        if any(source.problem or source.container for source in sources):
            return whole(sources)
        keys: list[tuple[object, ...]] = [(source.path, source.stored, source.sha256()) for source in sources]
        if "__cluster_metadata" in sources[0].path:  # the files of this directory continue each other
            keys = [(number, *keys) for number in range(len(keys))]
            missing = [] if all(key in known for key in keys) else list(range(len(keys)))
        else:
            missing = [number for number, key in enumerate(keys) if key not in known]
        if missing:
            known.update(zip([keys[n] for n in missing], whole([sources[n] for n in missing]), strict=True))
        return [replace(known[key]) for key in keys]

    read.read_unit = read_unit
    _forget.append(known.clear)


ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Folder for selections: in memory, if possible."""
_forget: list[Callable[[], None]] = []


# -- recorded clusters -------------------------------------------------------------------------------------------------


def judge_case(case: Recorded, quick: bool) -> Answers:
    """The answers to all selections of a case."""
    files = case.files()
    found: Answers = []
    with tempfile.TemporaryDirectory(prefix="same-", dir=ROOM) as room, contextlib.chdir(room):
        _write(files, Path("whole"))
        for number, cut in enumerate(planned(files, case.name, quick)):
            # The folder that is scanned has the same name each time, as paths are part of what is answered.
            with _selected(cut, files, f"{number}") as folder, contextlib.chdir(folder):
                found.append((cut.name, _scanned(cut == WHOLE)))
    for forget in _forget:
        forget()
    return found


def _write(files: Files, folder: Path) -> None:
    for path, content in files.items():
        place = folder / "case" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


@contextlib.contextmanager
def _selected(cut: Cut, files: Files, name: str) -> Iterator[str]:
    """Provide a folder with the remaining evidence; unchanged files are links."""
    if cut == WHOLE:
        yield "whole"
        return
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=".") as room:
        folder = Path(room, "case")
        folder.mkdir()
        for parent in sorted({str(PurePosixPath(path).parent) for path in files if path not in cut.files}):
            (folder / parent).mkdir(parents=True, exist_ok=True)
        for path, content in cut.left(files).items():
            if content is files[path]:
                os.link(Path("whole", "case", path), folder / path)
            else:
                (folder / path).write_bytes(content)
        yield room


def _scanned(everything: bool) -> Document:
    """The answer to the folder ``case``: the whole document, or partitions and findings."""
    from forensics.engines.local import scan
    from forensics.reports import json_report

    try:
        result = scan(["case"])
    except Exception as error:  # noqa: BLE001 -- a crash is an answer that the other version may not give
        return _failed(error)
    return dict(json_report.document(result)) if everything else _documents(result)


def _failed(error: Exception) -> Document:
    """The answer of a scan that gave none: its error, and where it came up."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return {"error": f"{type(error).__name__}: {error} ({Path(place.filename).name}, {place.name})"}


def _documents(result: Any) -> Document:
    """Partitions and findings alone: much less work than the whole document."""
    from forensics.reports import json_report

    return {
        "partitions": [json_report._partition(partition) for partition in result.partitions],
        "findings": [json_report.finding_document(finding) for finding in result.findings],
    }


# -- runs of the model -------------------------------------------------------------------------------------------------


def play_batch(batch: Batch) -> bytes:
    """The evidence of each run, packed: the files of both versions are those of one model."""
    from forensics.model import random_runs
    from tests.model import batches

    weights = getattr(random_runs, batch.kind.weights)
    schedules = [batches.drawn(seed, weights=weights, settled=batch.kind.settled) for seed in range(*batch.seeds)]
    made: list[Files] = []
    if batch.logging == "trace":
        runs = [each.play(batch.protocol, place) for place, each in enumerate(schedules)]
        made = [{f"run-{place}/trace.jsonl": run.observations().encode()} for place, run in enumerate(runs)]
    else:
        made = [dict(content) for _, content in batches.played(schedules, batch.protocol, batch.logging)]
    if batch.kind.cut:
        made = [_cut(files, seed) for files, seed in zip(made, range(*batch.seeds), strict=True)]
    return zstandard.compress(pickle.dumps(made), 3)


def _cut(files: Files, seed: int) -> Files:
    random = Random(seed)
    return random.choice(AT_RANDOM)(Evidence(files), random).left(files)


def judge_batch(batch: Batch, evidence: str) -> Answers:
    """The answers to each run of a batch; ``evidence`` is the file with what ``play_batch`` made."""
    from forensics.engines.local import judged
    from forensics.result import finish
    from tests.model import batches

    content: list[Files] = pickle.loads(zstandard.decompress(Path(evidence).read_bytes()))
    try:
        with batches.no_cycles():
            case = batches.taken(content)
            whole = _documents(finish(["runs"], case, judged(case)))
    except Exception as error:  # noqa: BLE001 -- as above
        return [(f"seed {seed}", _failed(error)) for seed in range(*batch.seeds)]
    topics: dict[str, Document] = {}
    for kind in ("partitions", "findings"):
        for one in whole[kind]:
            topics.setdefault(one["topic"], {"partitions": [], "findings": []})[kind].append(one)
    nothing: Document = {"partitions": [], "findings": []}
    return [(f"seed {seed}", topics.get(f"run-{place}", nothing)) for place, seed in enumerate(range(*batch.seeds))]


# -- what is handed back -----------------------------------------------------------------------------------------------


@functools.cache
def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=6, write_checksum=True)


def summary(place: Path) -> Path:
    """Return the file beside kept answers with their number and their hash. It is written last."""
    return place.with_suffix(".json")


def answer(unit: Recorded | Batch, quick: bool, evidence: str, target: str) -> None:
    """Judges a unit and keeps the answers in a file."""
    found = judge_case(unit, quick) if isinstance(unit, Recorded) else judge_batch(unit, evidence)
    text = "".join(json.dumps(one, sort_keys=True, ensure_ascii=False) + "\n" for one in found).encode()
    keep(target, _compressor().compress(text))
    about = {"unit": unit.name, "hash": hashlib.sha256(text).hexdigest(), "count": len(found)}
    keep(str(summary(Path(target))), json.dumps(about).encode())


def play(batch: Batch, target: str) -> None:
    """Plays a batch and keeps its evidence in a file."""
    keep(target, play_batch(batch))


def keep(target: str, content: bytes) -> None:
    """Writes a file whole or not at all."""
    place = Path(target)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
        file.write(content)
    Path(file.name).replace(place)


def answers(path: Path) -> Answers:
    """The answers that ``answer`` kept."""
    text = zstandard.ZstdDecompressor().decompress(path.read_bytes(), max_output_size=1 << 31).decode()
    return [(name, document) for name, document in map(json.loads, text.splitlines())]
