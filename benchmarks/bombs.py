"""Cost of hostile or enormous evidence: time and peak memory of ``forensics scan`` for one input of each kind.

Each input is made in a temporary directory and scanned by a process of its own, which is stopped after a time limit.
The table shows what is wanted beside what was measured, how the scan ended and the first thing that it noticed. Times
are of this machine and its other work; memory is not.

    python -m benchmarks.bombs [--only NAME] [--seconds N] [--tmp DIR] [--format text]
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import google_crc32c
import zstandard

LINE = (
    b"[2024-05-06 07:08:09,%03d] INFO [Log partition=orders-%d, dir=/data] Truncating to %d has no effect as the "
    b"largest offset in the log is %d (kafka.log.Log)\n"
)
VERSION = b"[2024-05-06 07:08:09,000] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)\n"
GIB = 1 << 30
WRITTEN = 1_700_000_000_000  # milliseconds


@dataclass(frozen=True, slots=True)
class Bomb:
    """One input.

    Attributes:
        name: how to ask for it.
        says: what it is.
        seconds: time that it may take; None where only an end is wanted.
        gib: memory that it may take, in GiB.
        make: writes it into a folder.
    """

    name: str
    says: str
    seconds: int | None
    gib: float
    make: Callable[[Path], None]


def _put(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _lines(size: int) -> bytes:
    lines, written, number = [], 0, 0
    while written < size:
        lines.append(LINE % (number % 1000, number % 50, number, number))
        written += len(lines[-1])
        number += 1
    return b"".join(lines)


def _epochs(rows: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        body = "\n".join(f"{epoch} {epoch * 10}" for epoch in range(rows))
        _put(folder, "broker-1/data/orders-0/leader-epoch-checkpoint").write_text(f"0\n{rows}\n{body}\n")

    return make


def _zstd_lines(folder: Path) -> None:
    data = _lines(2 << 20) * 100
    _put(folder, "broker-1/server.log.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress(data))


def _gz_lines(folder: Path) -> None:
    part = _lines(4 << 20)
    with gzip.open(_put(folder, "broker-1/server.log.gz"), "wb", 9) as file:
        for _ in range(256):
            file.write(part)


def _zip_epochs(folder: Path) -> None:
    with zipfile.ZipFile(_put(folder, "broker-1/data.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(100_000):
            archive.writestr(f"data/topic{number}-0/leader-epoch-checkpoint", "0\n2\n0 0\n1 10\n")


def _positions(folder: Path) -> None:
    """A text below the limit ``excerpt``, in which each row looks as if names preceded an event."""
    rows = "".join(f"g{number} orders {number % 50} {number} {number + 1} 1 - - -\n" for number in range(7_000))
    head = "\nGROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID\n"
    _put(folder, "groups.txt").write_text(head + rows)
    _put(folder, "broker-1/data/replication-offset-checkpoint").write_text("0\n1\norders 0 100\n")


def _topics(folder: Path) -> None:
    body = "\n".join(f"topic{number} 0 {number}" for number in range(200_000))
    _put(folder, "broker-1/data/replication-offset-checkpoint").write_text(f"0\n200000\n{body}\n")


def _elections(folder: Path) -> None:
    """State-change logs of three brokers that led one partition in turn, 2,000 times."""
    for broker in (1, 2, 3):
        with _put(folder, f"broker-{broker}/logs/state-change.log").open("w") as out:
            for epoch in range(1, 2_001):
                leader, before, end = epoch % 3 + 1, (epoch - 1) % 3 + 1, epoch * 10
                role, reached, now = (
                    "Follower orders-0",
                    f" and high watermark {end - 5}",
                    f"Current leader is {leader}. ",
                )
                if leader == broker:
                    isr = "ISR [1,2,3], adding replicas [] and removing replicas [] "
                    role, reached, now = "Leader orders-0 with topic id None", f", high watermark {end - 5}, {isr}", ""
                at = datetime.fromtimestamp(WRITTEN / 1000 + epoch, UTC)
                out.write(
                    f"[{at:%Y-%m-%d %H:%M:%S},000] INFO [Broker id={broker}] {role} starts at leader epoch "
                    f"{epoch} from offset {end} with partition epoch {epoch}{reached}. {now}"
                    f"Previous leader Some({before}) and previous leader epoch was {epoch - 1}. (state.change.logger)\n"
                )


def _truncations(folder: Path) -> None:
    """Logs of two brokers that led one partition in turn, and truncated what the other had, in 2,000 leader epochs."""
    for broker in (1, 2):
        logs = [_put(folder, f"broker-{broker}/logs/{name}.log") for name in ("server", "state-change")]
        with logs[0].open("wb") as server, logs[1].open("w") as roles:
            server.write(VERSION.replace(b"2024", b"2020"))
            for epoch in range(1, 2_001):
                at = f"[{datetime.fromtimestamp(WRITTEN / 1000 + epoch, UTC):%Y-%m-%d %H:%M:%S},000] INFO "
                server.write(f"{at}{_TRUNCATION.format(broker, 3 - broker, epoch)}\n".encode())
                role = _ROLES[epoch % 2 == broker % 2].format(broker, epoch, epoch + 3, 3 - broker)
                roles.write(
                    f"{at}{role} Previous leader Some(1) and previous leader epoch was {epoch - 1}. "
                    "(state.change.logger)\n"
                )


_TRUNCATION = (
    "[ReplicaFetcher replicaId={0}, leaderId={1}, fetcherId=0] Truncating partition orders-0 with "
    "TruncationState(offset={2}, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, "
    "partition=0, leaderEpoch={2}, endOffset={2}) (kafka.server.ReplicaFetcherThread)"
)
_FOLLOWS = (
    "[Broker id={0}] Follower orders-0 starts at leader epoch {1} from offset {2} with partition epoch {1} and high "
    "watermark {2}. Current leader is {3}."
)
_LEADS = (
    "[Broker id={0}] Leader orders-0 with topic id None starts at leader epoch {1} from offset {2} with partition "
    "epoch {1}, high watermark {2}, ISR [{0}], adding replicas [] and removing replicas [] ."
)
_ROLES = (_FOLLOWS, _LEADS)


def _indexes(folder: Path) -> None:
    for number in range(200_000):
        _put(folder, f"broker-1/data/topic{number % 2000}-0/{number:020}.index").write_bytes(b"\0" * 8)


def _alike(folder: Path) -> None:
    beginning = _lines(8 << 10)
    for number in range(20_000):
        _put(folder, f"broker-1/logs/server.log.{number}").write_bytes(beginning + LINE % (0, 7, number, number))


def _batch(base: int, body: bytes, attributes: int, records: int, epoch: int = 0) -> bytes:
    covered = struct.pack(">hiqqqhii", attributes, records - 1, WRITTEN, WRITTEN, -1, -1, -1, records)
    covered += body
    return struct.pack(">qiibI", base, 9 + len(covered), epoch, 2, google_crc32c.value(covered)) + covered


def _unlike_copies(folder: Path) -> None:
    """Two copies of a partition whose batches differ at every second of 16,000 offsets."""
    for broker in (1, 2):
        body = [_record(b"%d" % broker), _record(b"0")]
        with _put(folder, f"broker-{broker}/data/orders-0/00000000000000000000.log").open("wb") as file:
            for number in range(16_000):
                file.write(_batch(number, body[number % 2], 0, 1))
        _put(folder, f"broker-{broker}/data/replication-offset-checkpoint").write_text("0\n1\norders 0 16000\n")


def _unlike_epochs(folder: Path) -> None:
    """Five copies of a partition that name another leader epoch for every second of 12,000 batches."""
    body = _record(b"0")
    for broker in range(1, 6):
        with _put(folder, f"broker-{broker}/data/orders-0/00000000000000000000.log").open("wb") as file:
            for number in range(12_000):
                file.write(_batch(number, body, 0, 1, number // 2 * 2 + number % 2 * (broker % 2)))


def _unlike_partitions(folder: Path) -> None:
    """Three copies of 1,000 partitions, each with a batch of its own within its log."""
    for broker in (1, 2, 3):
        logs = [
            _batch(0, _record(b"0"), 0, 1),
            _batch(1, _record(b"%d" % broker), 0, 1),
            _batch(2, _record(b"0"), 0, 1),
        ]
        for number in range(1_000):
            log = _put(folder, f"broker-{broker}/data/orders-{number}/00000000000000000000.log")
            log.write_bytes(b"".join(logs))
        rows = "".join(f"orders {number} 3\n" for number in range(1_000))
        _put(folder, f"broker-{broker}/data/replication-offset-checkpoint").write_text(f"0\n1000\n{rows}")


def _record(value: bytes) -> bytes:
    content = bytes((0, 0, 0, 1, len(value) * 2)) + value + b"\0"  # attributes, two deltas, no key, value, no headers
    return bytes((len(content) * 2,)) + content


def _batches(folder: Path) -> None:
    zeros = zstandard.ZstdCompressor().compress(b"\0" * (60 << 20))
    with _put(folder, "broker-1/data/orders-0/00000000000000000000.log").open("wb") as file:
        for number in range(300):
            file.write(_batch(number * 10, zeros, 4, 10))
    with _put(folder, "broker-1/data/__cluster_metadata-0/00000000000000000000.log").open("wb") as file:
        for number in range(300):
            file.write(_batch(number * 10, zeros, 4, 10))


def _zstd_zeros(folder: Path) -> None:
    with (
        _put(folder, "broker-1/server.log.zst").open("wb") as file,
        zstandard.ZstdCompressor().stream_writer(file) as out,
    ):
        out.write(VERSION + _lines(1 << 20))
        for _ in range(5300):
            out.write(b"\0" * (1 << 20))


def _of_megabytes(name: str, megabyte: bytes, count: int, head: bytes = b"") -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with _put(folder, name).open("wb") as file:
            file.write(head)
            for _ in range(count):
                file.write(megabyte)

    return make


def _sparse(folder: Path) -> None:
    with _put(folder, "broker-1/data/orders-0/00000000000000000000.log").open("wb") as file:
        file.truncate(5 * GIB)


def _huge_batch(folder: Path) -> None:
    with _put(folder, "broker-1/data/orders-0/00000000000000000000.log").open("wb") as file:
        file.write(struct.pack(">qiibI", 0, (1 << 31) - 20, 0, 2, 0))
        file.truncate((1 << 31) - 8)


def _deep(folder: Path) -> None:
    _put(folder, "trace.jsonl").write_bytes(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n")
    _put(folder, "broker-1/server.log").write_bytes(b'{"log":' * 100_000 + b'"x"' + b"}" * 100_000 + b"\n")


BOMBS = (
    Bomb("epochs-25k", "leader-epoch-checkpoint of 25,000 rows", 10, 1, _epochs(25_000)),
    Bomb("epochs-1m", "leader-epoch-checkpoint of 1,000,000 rows", 10, 1, _epochs(1_000_000)),
    Bomb("zstd-lines", "zstd of 205 MB of lines that match", 60, 4, _zstd_lines),
    Bomb("gz-lines", "gzip of 1 GB of lines that match", None, 6, _gz_lines),
    Bomb("zip-epochs", "zip of 100,000 epoch checkpoints", 240, 1, _zip_epochs),
    Bomb("positions", "output of kafka-consumer-groups with 7,000 rows", 10, 1, _positions),
    Bomb("topics", "checkpoint of 200,000 topics", 20, 1, _topics),
    Bomb("elections", "logs of three brokers, 2,000 leader epochs of one partition", 10, 1, _elections),
    Bomb("truncations", "logs of two brokers that truncate in each of 2,000 leader epochs", 20, 1, _truncations),
    Bomb("unlike-copies", "two copies that differ at 8,000 places", 10, 1, _unlike_copies),
    Bomb("unlike-epochs", "five copies whose leader epochs alternate, 12,000 batches", 10, 1, _unlike_epochs),
    Bomb("unlike-partitions", "three copies of 1,000 partitions that differ", 20, 1, _unlike_partitions),
    Bomb("indexes", "200,000 small index files", 20, 1, _indexes),
    Bomb("alike", "20,000 logs that differ in their last line alone", 60, 1, _alike),
    Bomb("batches", "600 compressed batches of 60 MB each, half of them of metadata", 100, 2, _batches),
    Bomb("zstd-zeros", "zstd of a log's head and 5.3 GB of zeros", 114, 1, _zstd_zeros),
    Bomb("long-line", "a line of 1 GB", 20, 1, _of_megabytes("broker-1/server.log", b"x" * (1 << 20), 1000, VERSION)),
    Bomb("zeros", "1 GB of zero bytes", 30, 2, _of_megabytes("broker-1/server.log", b"\0" * (1 << 20), 1000, VERSION)),
    Bomb("sparse", "a sparse segment of 5 GB", 20, 1, _sparse),
    Bomb("huge-batch", "a batch of 2 GB", 20, 1, _huge_batch),
    Bomb("deep-json", "JSON 100,000 deep", 10, 1, _deep),
)
"""Every input, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and memory of a scan, and how it ended; other work does not change ``busy``, the time of processors."""

    seconds: float
    busy: float
    gib: float
    end: str
    noticed: str


def measured(folder: Path, seconds: int, form: str) -> Cost:
    """Scan a folder in a process of its own."""
    with tempfile.TemporaryFile() as out:
        command = [sys.executable, "-m", "forensics", "scan", str(folder), "--format", form]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE) as process:
            timer = _Timer(process, seconds)
            _, status, usage = os.wait4(process.pid, 0)
            took = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            said = process.stderr.read().decode("utf-8", "replace").strip().splitlines() if process.stderr else []
            timer.off()
        out.seek(0)
        noticed = _noticed(out.read())
    code = process.returncode
    end = f"stopped after {seconds} s" if timer.rang else f"exit {code}"
    return Cost(
        took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / (1 << 20), end, noticed or (said[-1] if said else "")
    )


class _Timer:
    """Kills a process that takes too long."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: int) -> None:
        import threading

        self.rang = False
        self._process = process
        self._timer = threading.Timer(seconds, self._ring)
        self._timer.start()

    def _ring(self) -> None:
        self.rang = True
        self._process.kill()

    def off(self) -> None:
        self._timer.cancel()


def _noticed(output: bytes) -> str:
    try:
        notices = json.loads(output)["notices"]
    except (ValueError, KeyError):
        return ""
    return f"{notices['count']} notices: {notices['examples'][0]['reason']}" if notices["count"] else "no notice"


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=[bomb.name for bomb in BOMBS], action="append")
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--tmp", type=Path, help="where the inputs are made")
    parser.add_argument("--make", type=Path, help="only make the input, in this folder")
    parser.add_argument("--format", default="json", help="of the scan's output")
    parser.add_argument("--rows", action="store_true", help="print no head of the table")
    asked = parser.parse_args(arguments)
    if asked.make is not None:
        next(bomb for bomb in BOMBS if bomb.name in asked.only).make(asked.make)
        return
    if not asked.rows:
        print(
            "| input | wanted | time | of processors | memory | end | noticed |\n|---|---|---|---|---|---|---|",
            flush=True,
        )
    bombs = [bomb for bomb in BOMBS if not asked.only or bomb.name in asked.only]
    for bomb in bombs:
        if len(bombs) > 1:  # the output of one scan, which is read here, would be counted as memory of the next
            again = ["--seconds", str(asked.seconds), "--format", asked.format]
            again += ["--tmp", str(asked.tmp)] if asked.tmp is not None else []
            row = [sys.executable, "-m", "benchmarks.bombs", "--rows", "--only", bomb.name, *again]
            subprocess.run(row, check=True)
        else:
            print(_row(bomb, asked.tmp, asked.seconds, asked.format), flush=True)


def _row(bomb: Bomb, tmp: Path | None, seconds: int, form: str) -> str:
    """Make an input, scan it, and return its row of the table."""
    folder = Path(tempfile.mkdtemp(dir=tmp))
    try:
        made = [sys.executable, "-m", "benchmarks.bombs", "--only", bomb.name, "--make", str(folder)]
        subprocess.run(made, check=True)  # its memory would be counted as that of the scan (``ru_maxrss``)
        cost = measured(folder, seconds, form)
    finally:
        shutil.rmtree(folder)
    wanted = f"{f'{bomb.seconds} s, ' if bomb.seconds else ''}{bomb.gib:g} GiB"
    found = f"{cost.seconds:.1f} s | {cost.busy:.1f} s | {cost.gib:.2f} GiB | {cost.end} | {cost.noticed[:120]}"
    return f"| {bomb.says} | {wanted} | {found} |"


if __name__ == "__main__":
    main()
