"""``make fuzz-readers``: bytes for each reader and each container, guided by the lines that they reach (atheris).

Files of the sample traces are the seeds of the format that they have; other formats have seeds here. A reader may take
bytes or leave them, and note damage; it may not fail, hang or hand over tables that break their schema. Each format
runs in a process of its own, and what it found stays in the corpus for the next time. Exit code 1 where a format
failed; the file that made it is named.

    python -m benchmarks.fuzz.guided [--seconds N] [--format NAME]... [--corpus DIR]

Needs the package ``atheris``, which ``make fuzz-readers`` installs and ``make setup`` does not.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import lz4.frame
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
    "lz4": ("server.log.lz4", lambda _, data: lz4.frame.compress(data)),
    "bz2": ("server.log.bz2", lambda _, data: bz2.compress(data)),
    "xz": ("server.log.xz", lambda _, data: lzma.compress(data)),
}
"""Containers: what they are called, and how a file is put into one."""

_TRUNCATION = (
    "[2026-11-21 04:05:49,991] INFO [Log partition=orders-0, dir=/data] Truncating to 50 has no effect as the largest "
    "offset in the log is 49 (kafka.log.Log)\n"
)
_STATE = '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}'
_NODES = f"get -s /brokers/topics/a-b/partitions/0/state\n{_STATE}\ndataVersion = 7\n"
_TOPICS = "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tElr: 3\n"
_GROUPS = """\
GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
billing orders 0 40 50 10 - - -
"""
_LOG_DIRS = """\
Querying brokers for log directories information
{"version":1,"brokers":[{"broker":1,"logDirs":[{"logDir":"/d","error":null,"partitions":[\
{"partition":"a-0","size":12,"offsetLag":3,"isFuture":false}]}]}]}
"""
_LOG4J = "log4j.rootLogger=INFO, stdout\nlog4j.logger.state.change.logger=TRACE, stateChange\n"
_LOG4J2 = """\
Configuration:
  Loggers:
    Root:
      level: INFO
    Logger:
      - name: kafka
"""
_SCRAPED = 'kafka_topic_partition_current_offset{topic="orders",partition="3",instance="e:9308"} 213 1763698000000\n'
_ANSWER = """\
{"status":"success","data":{"resultType":"matrix","result":[{"metric":{\
"__name__":"kafka_topic_partition_current_offset","topic":"orders","partition":"0"},"values":[[1763698000,"213"]]}]}}
"""
_QUORUM = """\
ClusterId: a
LeaderId: 1
LeaderEpoch: 5
HighWatermark: 70
MaxFollowerLag: 0
CurrentVoters: [1,2,3]
CurrentObservers: []
"""
_LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4711\n"
TEXTS: dict[str, tuple[tuple[str, str], ...]] = {
    "command-output": (("topics.txt", _TOPICS), ("groups.txt", _GROUPS)),
    "excerpt": (("ticket.md", f"Broker 2:\n\n```\n{_TRUNCATION}```\n\nand broker 3:\n\n```\n{_TRUNCATION}```\n"),),
    "gc-log": (("kafkaServer-gc.log", "[2026-11-21T05:31:28.430+0000][gc,init] CardTable entry size: 512\n"),),
    "log-dirs": (("log-dirs.txt", _LOG_DIRS),),
    "log4j-config": (("log4j.properties", _LOG4J), ("log4j2.yaml", _LOG4J2)),
    "metrics": (("scrape.prom", _SCRAPED), ("answer.json", _ANSWER)),
    "pointer": (("server.log", _LFS), ("server.log", "../../.git/annex/objects/aa/bb/SHA256E-s12--00.log\n")),
    "quorum-describe": (("quorum.txt", _QUORUM),),
    "zookeeper-nodes": (("zk.txt", _NODES),),
}
"""Texts of the formats that no sample trace has, with a name for each."""


def seeds() -> dict[str, list[tuple[str, bytes]]]:
    """Files of the sample traces by format, and containers of them: the end of the path, and the first bytes."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    for source in walk([str(path) for path in sorted(SAMPLES.iterdir()) if path.is_dir()]):
        known = found.setdefault(read(source).format, [])
        if len(known) < SEEDS and not source.problem:
            with source.open() as stream:
                known.append(("/".join(Path(source.path).parts[-2:]), stream.read(LARGEST)))
    for name, texts in TEXTS.items():
        found[name] = [(path, text.encode()) for path, text in texts]
    found["deleted-segment"] = [(f"{path}.deleted", data) for path, data in found["segment"]]
    inside = [found["broker-log"][0], found["segment"][0], found["epoch-checkpoint"][0]]
    for name, (called, put) in CONTAINERS.items():
        found[name] = [(called, put(path, data)) for path, data in inside]
    return found


def one(path: str, data: bytes) -> list[str]:
    """Read bytes as a file of this path, whatever they contain.

    Returns:
        The formats of what was read: a container has several files.

    Raises:
        Failed: a reader failed.
    """
    formats = []
    for source in expand(Source(path, len(data), lambda: io.BytesIO(data))):
        reading = read(source)
        if reading.format == FAILED:
            raise Failed(f"{source.path}: {reading.notices.get_column('reason').to_list()}")
        formats.append(reading.format)
    return formats


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
