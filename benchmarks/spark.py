"""Growth of ``forensics batch`` with its archive, against ``forensics scan`` of the same archive in the same run.

Archives are made of recorded clusters, repeated over many topics: default-level and replication-level logs of several
brokers. Printed for each size are seconds of a scan in a process of its own, and seconds of a batch in a running
session. Further columns are the greatest memory of the JVM and of all Python workers together (proportional set size,
from /proc), and whether the answers are the same bytes. Seconds of processor time are printed beside those of the
clock: on a machine that others use too, only they can be compared. A last archive has 90 % of its rows in one
partition.

    python -m benchmarks.spark [--sizes 0.5,1,2,4] [--master local[2]] [--evidence DIR] [--no-scan]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.scan import EVIDENCE, multiply
from forensics import tables
from forensics.reports import jsonl
from forensics.result import Result

DEFAULT_CASE = "unclean-3.9.1"
TRACE_CASE = "rolling-3.9.1-replication"
SKEWED_CASE = "rolling-4.1.1-replication"


def archive(evidence: Path, folder: Path, gigabytes: float) -> int:
    """Make an archive: three quarters of default-level logs, one quarter of replication-level ones, in many clusters.

    Returns:
        Its bytes.
    """
    wanted = int(gigabytes * 1e9)
    each = min(wanted, 500_000_000)
    made = number = 0
    while made < wanted:
        cluster = folder / f"cluster-{number:03}"
        made += multiply(evidence / DEFAULT_CASE, cluster / "quiet", int(0.75 * each), number * 100_000)
        made += multiply(evidence / TRACE_CASE, cluster / "chatty", int(0.25 * each), number * 1_000)
        number += 1
    return _size(folder)


def skewed(evidence: Path, folder: Path, gigabytes: float) -> int:
    """Make an archive with nine tenths of its rows about one partition: one broker's log, its times moved on and on."""
    case = evidence / SKEWED_CASE
    log = max(case.glob("broker-*/logs/server.log"), key=lambda path: path.stat().st_size)
    place = folder / log.parent.parent.name / "logs" / "server.log"
    place.parent.mkdir(parents=True)
    body = [line for line in log.read_bytes().splitlines(True) if b"orders-0" in line and line.startswith(b"[20")]
    with place.open("wb") as out:
        out.write(log.read_bytes())
        day = 0
        while out.tell() < gigabytes * 0.9e9:
            day += 1
            date = b"[%04d-%02d-%02d" % (2030 + day // 336, 1 + day // 28 % 12, 1 + day % 28)
            out.writelines(date + line[11:] for line in body)
    multiply(evidence / DEFAULT_CASE, folder / "others", int(gigabytes * 0.1e9))
    return _size(folder)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


Lines = Iterator[tuple[tuple[object, ...], str]]


class Watch(threading.Thread):
    """Watches memory and processor time of this process and all below it."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.java = self.python = self.one = 0
        self.times: dict[int, float] = {}
        self.done = threading.Event()

    @property
    def seconds(self) -> float:
        """Processor time by now."""
        self._look()
        return sum(self.times.values())

    def _look(self) -> None:
        for pid in [os.getpid(), *_below(os.getpid())]:
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                self.times[pid] = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")

    def run(self) -> None:
        while not self.done.wait(0.5):
            self._look()
            java = python = one = 0
            for pid in _below(os.getpid()):
                try:
                    name = Path(f"/proc/{pid}/comm").read_text().strip()
                    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                except OSError:
                    continue
                size = next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0) >> 10
                if name == "java":
                    java += size
                else:
                    python += size
                    one = max(one, size)
            self.java, self.python, self.one = max(self.java, java), max(self.python, python), max(self.one, one)


def _below(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found, open_ = [], [pid]
    while open_:
        children = parents.get(open_.pop(), [])
        found += children
        open_ += children
    return found


def _of_children() -> float:
    """Processor time of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(begin: float) -> Callable[[str], None]:
    """Print the messages of a batch, with the seconds since it began."""
    return lambda said: print(f"    {time.perf_counter() - begin:6.1f} s  {said}", flush=True)


def findings(result: Result) -> Lines:
    """Return the command's output for findings."""
    return ((one.order, jsonl.line(one)) for one in result.findings)


def verdicts(result: Result) -> Lines:
    """Return the command's output for verdicts."""
    for one in result.partitions:
        yield one.order, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in tables.verdicts_of(one))


def main() -> int:
    """Print the figures."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sizes", default="0.5,1,2,4", help="gigabytes of the archives")
    asked.add_argument(
        "--skewed", type=float, default=0.5, help="gigabytes of the archive with one hot partition; 0: none"
    )
    asked.add_argument("--master", default="local[2]")
    asked.add_argument("--evidence", type=Path, default=EVIDENCE)
    asked.add_argument("--no-scan", action="store_true", help="do not scan for comparison")
    said = asked.parse_args()
    from forensics.engines.pipeline.batch import Options, batch
    from forensics.engines.pipeline.stored import Stored
    from forensics.engines.spark.executor import SparkExecutor
    from forensics.engines.spark.session import session
    from forensics.reports import json_report

    options = Options(
        texts={"findings.jsonl": findings, "verdicts.jsonl": verdicts}, told=False
    )  # as the command has them

    begin = time.perf_counter()
    conf = {"spark.ui.enabled": "false", "spark.driver.memory": "2g"}
    spark = session(master=said.master, conf=conf)
    spark.range(1).count()
    print(f"session start {time.perf_counter() - begin:.1f} s, {said.master}, spark.driver.memory 2g", flush=True)
    jobs = [(float(size), archive, "") for size in said.sizes.split(",") if size]
    if said.skewed:
        jobs.append((said.skewed, skewed, " skewed"))
    with tempfile.TemporaryDirectory() as temporary:
        for number, (size, make, what) in enumerate(jobs):
            folder, out = Path(temporary) / f"archive-{number}", Path(temporary) / f"out-{number}"
            folder.mkdir()
            total = make(said.evidence, folder, size)
            memory = Watch()
            memory.start()
            before = memory.seconds
            begin = time.perf_counter()
            batch(SparkExecutor(spark), [str(folder)], str(out), options, told(begin))
            seconds = time.perf_counter() - begin
            used = memory.seconds - before
            memory.done.set()
            line = f"{total / 1e9:5.2f} GB{what}: batch {seconds:6.1f} s, {used:.1f} s of processor time"
            line += f", JVM {memory.java:,} MB, Python workers {memory.python:,} MB (one {memory.one:,} MB)"
            if not said.no_scan:
                text = Path(temporary) / "scan.json"
                begin, worked = time.perf_counter(), _of_children()
                command = [sys.executable, "-m", "forensics", "scan", str(folder), "--format", "json", "-o", str(text)]
                subprocess.run(command, check=False)
                local, worked = time.perf_counter() - begin, _of_children() - worked
                same = text.read_text("utf-8") == json_report.render(Stored(out).result())
                line += (
                    f"; scan {local:.1f} s, {worked:.1f} s of processor time; ratio {seconds / local:.2f}, "
                    f"of processor time {used / worked:.2f}; answers {'the same' if same else 'DIFFERENT'}"
                )
            begin = time.perf_counter()
            batch(SparkExecutor(spark), [str(folder)], str(out), options)
            line += f"; run again {time.perf_counter() - begin:.1f} s"
            print(line, flush=True)
            subprocess.run(["rm", "-rf", str(folder), str(out)], check=True)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
