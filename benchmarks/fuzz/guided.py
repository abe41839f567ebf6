"""``make fuzz-readers``: bytes for each reader and each container, guided by the lines that they reach (atheris).

Files of the sample traces are the seeds of the format that they have. A reader may take bytes or leave them, and note
damage; it may not fail, hang or hand over tables that break their schema. Each format runs in a process of its own, and
what it found stays in the corpus for the next time. Exit code 1 where a format failed; the file that made it is named.

    python -m benchmarks.fuzz.guided [--seconds N] [--format NAME]... [--corpus DIR]

Needs the package ``atheris``, which ``make fuzz-readers`` installs and ``make setup`` does not.
"""

from __future__ import annotations

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import zstandard

from parsers.containers import expand
from parsers.files.sources import Source
from parsers.read import FAILED, read
from parsers.walk import walk
from tools.samples import unpacked

ROOT = Path(__file__).parents[2]
SAMPLES = unpacked()
SEEDS = 40
"""Seeds of one format: more of them are alike."""
LARGEST = 64 << 10
"""Bytes of a seed; longer files are read so far."""


class Failed(Exception):
    """A reader failed, and what contains failures reported that."""


def _tar(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _zip(name: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


CONTAINERS: dict[str, tuple[str, Callable[[str, bytes], bytes]]] = {
    "tar": ("bundle.tar", _tar),
    "tar.gz": ("bundle.tar.gz", lambda name, data: gzip.compress(_tar(name, data), mtime=0)),
    "zip": ("bundle.zip", _zip),
    "gz": ("server.log.gz", lambda _, data: gzip.compress(data, mtime=0)),
    "zst": ("server.log.zst", lambda _, data: zstandard.ZstdCompressor().compress(data)),
}
"""Containers: what they are called, and how a file is put into one."""


def seeds() -> dict[str, list[tuple[str, bytes]]]:
    """Files of the sample traces by format, and containers of them: the end of the path, and the first bytes."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for source in walk([str(path) for path in sorted(SAMPLES.iterdir()) if path.is_dir()]):
        known = found.setdefault(read(source).format, [])
        if len(known) < SEEDS and not source.problem:
            with source.open() as stream:
                known.append(("/".join(Path(source.path).parts[-2:]), stream.read(LARGEST)))
    inside = [found["broker-log"][0], found["segment"][0], found["epoch-checkpoint"][0]]
    for name, (called, put) in CONTAINERS.items():
        found[name] = [(called, put(path, data)) for path, data in inside]
    return found


def one(path: str, data: bytes) -> int:
    """Read bytes as a file of this path, whatever they contain.

    Returns:
        How many files were read: a container has several.

    Raises:
        Failed: a reader failed.
    """
    count = 0
    for source in expand(Source(path, len(data), lambda: io.BytesIO(data))):
        reading = read(source)
        if reading.format == FAILED:
            raise Failed(f"{source.path}: {reading.notices.get_column('reason').to_list()}")
        count += 1
    return count


def _guided(path: str, corpus: Path, seconds: int) -> None:
    """Let atheris make bytes until the time is over; it ends the process."""
    import atheris

    atheris.instrument_all()
    limits = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=4096", f"-max_len={LARGEST}"]
    arguments = [*limits, "-print_final_stats=1", f"-artifact_prefix={corpus}.failed-", str(corpus)]
    atheris.Setup([sys.argv[0], *arguments], lambda data: one(path, data) and None)
    atheris.Fuzz()


def _ran(name: str, files: list[tuple[str, bytes]], corpus: Path, seconds: int) -> tuple[int, str]:
    """Run one format in a process of its own: how many inputs were tried, and how it failed, or ""."""
    corpus.mkdir(parents=True, exist_ok=True)
    for number, (_, data) in enumerate(files):
        (corpus / f"seed-{number:03}").write_bytes(data)
    module = [sys.executable, "-m", "benchmarks.fuzz.guided", "--run", files[0][0], "--corpus", str(corpus)]
    ran = subprocess.run(
        [*module, "--seconds", str(seconds)], capture_output=True, text=True, errors="replace", check=False
    )
    tried = re.search(r"stat::number_of_executed_units:\s*([0-9]+)", ran.stderr)
    written = re.search(r"Test unit written to (\S+)", ran.stderr)
    failed = ""
    if ran.returncode:
        error = [line for line in ran.stderr.splitlines() if "Failed:" in line or "Error" in line or "ERROR" in line]
        failed = f"{name}: {written[1] if written else 'no input'}: {(error or ['ended without a word'])[0][:300]}"
    return int(tried[1]) if tried else 0, failed


def _formats(asked: list[str], known: dict[str, list[tuple[str, bytes]]]) -> Iterator[str]:
    for name in asked or sorted(known):
        if name not in known:
            raise SystemExit(f"{name} is no format that a sample has; use {', '.join(sorted(known))}")
        yield name


def main() -> int:
    """Run every format that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz.guided")
    parser.add_argument("--seconds", type=int, default=60, help="for each format")
    parser.add_argument("--format", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--corpus", type=Path, default=ROOT / "out" / "corpus")
    parser.add_argument("--run", help="internal: the path of the file that the bytes are read as")
    asked = parser.parse_args()
    if asked.run is not None:
        _guided(asked.run, asked.corpus, asked.seconds)
    known = seeds()
    failures = 0
    for name in _formats(asked.format, known):
        tried, failed = _ran(name, known[name], asked.corpus / name, asked.seconds)
        failures += bool(failed)
        sys.stdout.write(f"{name:24} {tried:9,} inputs  {failed or 'no failure'}\n")
        sys.stdout.flush()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
