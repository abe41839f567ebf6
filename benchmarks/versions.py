"""How fast two revisions judge the same evidence, measured in turn in one run: ``make bench BASE=REV``.

Both versions are copied to folders of their own, as ``make same`` does. Evidence is generated once, by the working
tree, and each process of either version reads the same files. Pairs of processes run one after the other, base and
working tree first in turn, so that what else the machine does meets both alike. Times are CPU seconds of the process,
with one thread of polars: another process on the machine does not count.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.same.sides import Side, copied

PAIRS = 5

# It keeps to a few entries, which both versions must have: where one is renamed, this is the place for both names.
_CHILD = """
import json, resource, sys, time
import forensics, parsers
from forensics.engines import local
from forensics.replay.partitions import histories
from forensics.rules import judgements
folder, evidence = sys.argv[1:]
for package in (forensics, parsers):
    assert package.__file__.startswith(folder), package.__file__
case = local.take_in([evidence])
with local.no_cycles():
    read = time.process_time()
    found = [(history, part) for part in case.parts for history in histories(part)]
    replayed = time.process_time()
    for history, part in found:
        judgements(history, part)
    judged = time.process_time()
print(json.dumps({"partitions": len(found), "read": read, "replay": replayed - read, "rules": judged - replayed,
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""


@dataclass(frozen=True, slots=True)
class Timed:
    """One process that read and judged evidence.

    Attributes:
        partitions: histories that were judged.
        read, replay, rules: CPU seconds until all files were read, to replay all partitions, to ask all rules.
        peak_mb: largest resident memory, in MiB.
    """

    partitions: int
    read: float
    replay: float
    rules: float
    peak_mb: float

    @property
    def judging(self) -> float:
        """CPU milliseconds to replay and judge one partition."""
        return (self.replay + self.rules) / self.partitions * 1000


def timed(side: Side, evidence: Path) -> Timed:
    """Reads and judges evidence in a process of one version.

    Raises:
        RuntimeError: the process failed.
    """
    around = os.environ | {"PYTHONPATH": side.folder, "PYTHONDONTWRITEBYTECODE": "", "POLARS_MAX_THREADS": "1"}
    command = [sys.executable, "-c", _CHILD, side.folder, str(evidence)]
    done = subprocess.run(command, cwd=side.folder, env=around, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{side.name} failed: {done.stderr.strip()}")
    return Timed(**json.loads(done.stdout))


def pairs(
    before: Side,
    after: Side,
    evidence: Path,
    count: int = PAIRS,
    measure: Callable[[Side, Path], Timed] = timed,
) -> list[tuple[Timed, Timed]]:
    """Both versions in turn; every other pair begins with the other one."""
    found = []
    for number in range(count):
        if number % 2:
            second, first = measure(after, evidence), measure(before, evidence)
        else:
            first, second = measure(before, evidence), measure(after, evidence)
        found.append((first, second))
    return found


def told(what: str, measured: Sequence[tuple[Timed, Timed]]) -> str:
    """The medians of both versions in lines; ratios are medians of the ratios of each pair."""
    before, after = ([pair[number] for pair in measured] for number in (0, 1))
    partitions = sorted({one.partitions for one in before} | {one.partitions for one in after})
    lines = [f"{what}: {' or '.join(f'{number:,}' for number in partitions)} partitions, {len(measured)} pairs"]
    for name, unit, value in (
        ("judging a partition", "ms", lambda one: one.judging),
        ("  replay", "ms", lambda one: one.replay / one.partitions * 1000),
        ("  rules", "ms", lambda one: one.rules / one.partitions * 1000),
        ("reading all", "s", lambda one: one.read),
        ("peak memory", "MB", lambda one: one.peak_mb),
    ):
        ratios = [value(new) / value(old) for old, new in measured]
        lines.append(
            f"  {name:<20} base {statistics.median(map(value, before)):8.2f} {unit:<2}"
            f"   working tree {statistics.median(map(value, after)):8.2f} {unit:<2}"
            f"   ratio {statistics.median(ratios):5.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    return "\n".join(lines)


def compare(commit: str, evidence: dict[str, Path]) -> None:
    """Print how long both versions take, for each folder of evidence.

    Args:
        commit: what the working tree is compared with.
        evidence: folders of evidence by what they are.
    """
    with tempfile.TemporaryDirectory(prefix="bench-sides-") as room:
        before, after = copied("base", Path(room), commit), copied("tree", Path(room), None)
        print(f"working tree against {commit[:10]}, CPU time, medians of {PAIRS}", flush=True)
        for what, folder in evidence.items():
            print(told(what, pairs(before, after, folder)), flush=True)
