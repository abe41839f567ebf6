"""How fast ``forensics scan`` is, as ratios measured side by side in one run.

Two measurements on real broker logs, multiplied:

* whole scan of default-level logs against ``grep -cE`` of the same phrases on the same files;
* observations per second on replication-level logs, and the peak memory of the process.

With ``--base REV`` the working tree and another revision judge the same generated evidence instead, in turn. With
``--jobs N`` one process and N of them scan the same generated evidence, in turn.

    python -m benchmarks.scan [--base REV | --jobs N] [--megabytes MB] [EVIDENCE]
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import versions
from benchmarks.same.sides import NoSuchRevision, base

ROOT = Path(__file__).resolve().parent.parent
EVIDENCE = ROOT.parent / "shared" / "evidence"
DEFAULT_CASE = "unclean-3.9.1"
TRACE_CASE = "rolling-3.9.1-replication"
TARGET_BYTES = 300_000_000
COMPARED_BYTES, COMPARED_TRACE_BYTES = 4_000_000, 20_000_000
"""Two versions read and judge this five times each in about two minutes."""
RUNS = 3


def multiply(case: Path, target: Path, size: int, first: int = 0) -> int:
    """Write the logs of a case again with each line that names the topic repeated for many topics.

    The order of lines is kept and topic ids are made distinct, so each copy is a partition with the same history.

    Args:
        case: the case to copy.
        target: where to.
        size: bytes of it, about.
        first: the first topic's number; other numbers make another cluster, without equal files.

    Returns:
        Bytes written.
    """
    logs = [path for path in sorted(case.rglob("*.log")) if path.parent.name == "logs"]
    naming = sum(len(line) for path in logs for line in path.read_bytes().splitlines(True) if b"orders" in line)
    copies = max(1, size // max(naming, 1))
    written = 0
    for path in logs:
        place = target / path.relative_to(case)
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as out:
            for line in path.read_bytes().splitlines(True):
                if b"orders" not in line:
                    written += out.write(line)
                    continue
                for number in range(first, first + copies):
                    name = b"orders%06d" % number
                    text = line.replace(b"orders", name)
                    text = re.sub(rb"\b[A-Za-z0-9_-]{22}\b", lambda m, n=number: b"%08d" % n + m[0][8:], text)
                    written += out.write(text)
    return written


def timed(command: list[str]) -> tuple[float, str]:
    """Wall seconds of a command, and what it printed."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return time.perf_counter() - begin, done.stdout


_CHILD = """
import json, resource, sys, time
from forensics.engines import local
begin = time.perf_counter()
case = local.take_in(sys.argv[1:])
read = time.perf_counter()
from forensics.replay.partitions import histories
from forensics.rules import RULES
found = histories(case)
replayed = time.perf_counter()
for history in found:
    for rule in RULES:
        rule.judge(history, case)
judged = time.perf_counter()
print(json.dumps({"observations": case.observations.height, "partitions": len(found), "read": read - begin,
    "replay": replayed - read, "rules": judged - replayed,
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser("make bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("evidence", type=Path, nargs="?", default=EVIDENCE, help="folder of recorded clusters")
    parser.add_argument("--jobs", type=int, metavar="N", help="scan with one process and with N, in turn")
    parser.add_argument("--megabytes", type=int, default=126, metavar="MB", help="of evidence, with --jobs")
    parser.add_argument("--base", metavar="REV", help="measure the judging of this revision beside the working tree's")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Print the ratios."""
    options = arguments(given)
    try:
        commit = base(options.base) if options.base else ""
    except NoSuchRevision as error:
        print(f"make bench: {error}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        if commit:
            against_base(commit, options.evidence, Path(folder))
        elif options.jobs:
            against_one_process(options.evidence, Path(folder), options.jobs, options.megabytes * 1_000_000)
        else:
            against_grep(options.evidence, Path(folder))
    return 0


def against_one_process(evidence: Path, folder: Path, jobs: int, size: int) -> None:
    """Print what scans with one process and with several take: seconds, processor seconds of all, and memory.

    On a machine that is busy with other things, processor seconds show more than seconds: they are what dividing costs.
    """
    size = multiply(evidence / DEFAULT_CASE, folder / "default", size)
    print(f"default-level logs of {DEFAULT_CASE}, {size / 1e6:,.0f} MB; {os.cpu_count()} processors")
    found: dict[int, list[tuple[float, float, float]]] = {1: [], jobs: []}
    outputs = set()
    for _ in range(RUNS):
        for count, runs in found.items():
            out = folder / f"out-{count}.txt"
            command = [sys.executable, "-m", "forensics", "scan", str(folder / "default"), "--jobs", str(count)]
            begin = time.perf_counter()
            running = subprocess.Popen([*command, "-o", str(out)], stdout=subprocess.DEVNULL)
            _, _, used = os.wait4(running.pid, 0)
            took = time.perf_counter() - begin
            runs.append((took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
            outputs.add(out.read_bytes())
            print(f"  --jobs {count}: {took:6.2f} s, {runs[-1][1]:6.2f} s of processors, {runs[-1][2]:,.0f} MB")
    assert len(outputs) == 1, "the number of processes changed the answer"
    one, more = ([sorted(run[n] for run in runs)[RUNS // 2] for n in range(3)] for runs in found.values())
    names = ("seconds", "of processors", "memory of the largest process")
    told = (f"{name} {b / a:.2f}" for name, a, b in zip(names, one, more, strict=True))
    print(f"  --jobs {jobs} against 1, medians of {RUNS}: {', '.join(told)}")


def against_base(commit: str, evidence: Path, folder: Path) -> None:
    """Print how long the working tree and another revision take to judge a partition."""
    default, traces = folder / "default", folder / "traces"
    size = multiply(evidence / DEFAULT_CASE, default, COMPARED_BYTES)
    of_traces = multiply(evidence / TRACE_CASE, traces, COMPARED_TRACE_BYTES)
    versions.compare(
        commit,
        {
            f"default-level logs of {DEFAULT_CASE}, {size / 1e6:,.0f} MB": default,
            f"replication-level logs of {TRACE_CASE}, {of_traces / 1e6:,.0f} MB": traces,
        },
    )


def against_grep(evidence: Path, folder: Path) -> None:
    """Print how long a scan takes, beside ``grep``, and how much memory."""
    from parsers.messages import MESSAGES

    phrases = "|".join(re.escape(literal) for message in MESSAGES for literal in message.literals)
    big = folder / "default"
    size = multiply(evidence / DEFAULT_CASE, big, TARGET_BYTES)
    files = [str(path) for path in sorted(big.rglob("*.log"))]
    (folder / "phrases").write_text("\n".join(phrases.split("|")))
    print(f"default-level logs: {size / 1e6:,.0f} MB in {len(files)} files, {len(phrases.split('|'))} phrases")
    ratios = []
    for _ in range(RUNS):
        grep, _ = timed(["grep", "-cE", phrases, *files])
        scan, _ = timed([sys.executable, "-m", "forensics", "scan", str(big), "-o", f"{folder}/out.txt"])
        ratios.append(scan / grep)
        print(f"  grep -cE {grep:6.2f} s   forensics scan {scan:6.2f} s   ratio {scan / grep:5.1f}")
    print(f"  ratio, median of {RUNS}: {sorted(ratios)[RUNS // 2]:.1f}")
    traces = folder / "traces"
    size = multiply(evidence / TRACE_CASE, traces, TARGET_BYTES)
    for _ in range(RUNS):
        _, out = timed([sys.executable, "-c", _CHILD, str(traces)])
        print(f"replication-level logs, {size / 1e6:,.0f} MB: {out.strip()}")
    print(f"peak memory of the largest child: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
