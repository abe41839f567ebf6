"""``make fuzz``: damage files of sample traces and recorded clusters by chance, for as long as is asked.

What fails is printed with its seed, and written with all counts to a file; ``--seed`` and ``--trials 1`` make a trial
again. Exit code 1 where anything was raised, took too long, or was proven by damage alone.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from shutil import copytree

from benchmarks.fuzz.mutations import MUTATIONS
from benchmarks.fuzz.trial import Outcome, Subject, trial
from tools.samples import unpacked

ROOT = Path(__file__).parents[2]
SAMPLES = unpacked()
FAILURES = ("raised", "contained defects", "too slow", "false proofs", "verdicts of other partitions")
RECORDED = ROOT / "tests" / "cases" / "data"


def cases(names: Sequence[str], folders: Sequence[Path] = ()) -> list[Path]:
    """Sample traces and recorded clusters, by name.

    Args:
        names: which; all of them where none is named.
        folders: folders of further recorded clusters.
    """
    further = (path for folder in folders for path in folder.iterdir())
    found = (*SAMPLES.iterdir(), *RECORDED.glob("*.tar.xz"), *further)
    return sorted(path for path in found if not names or _name(path) in names if path.is_dir() or path.suffix == ".xz")


def _name(path: Path) -> str:
    return path.name.removesuffix(".tar.xz")


def prepared(path: Path, folder: Path) -> Path:
    """A copy of a case in a folder; two cases may have one name."""
    target = Path(tempfile.mkdtemp(dir=folder)) / _name(path)
    if path.is_dir():
        copytree(path, target)
    else:
        with tarfile.open(path) as archive:
            archive.extractall(target, filter="data")
    return target


def main() -> int:
    """Run trials, print their outcomes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--trials", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first trial; the next ones count on")
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time that a scan may take")
    parser.add_argument("--evidence", type=Path, action="append", default=[], help="folder of more recorded clusters")
    parser.add_argument("--case", action="append", default=[], help="only these cases")
    names = [mutation.name for mutation in MUTATIONS]
    parser.add_argument("--mutation", action="append", choices=names, help="only these ways of damage")
    parser.add_argument("--healthy", action="store_true", help="only cases in which nothing went wrong")
    parser.add_argument("--out", type=Path, help="file for every outcome that is not fine, as JSON lines")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        return _run(asked, cases(asked.case, asked.evidence), Path(made))


def _run(asked: argparse.Namespace, folders: Sequence[Path], made: Path) -> int:
    counts: Counter[str] = Counter()
    by_mutation: Counter[tuple[str, str]] = Counter()
    last = asked.seed - 1
    for seed, healthy, outcome in _outcomes(asked, folders, made):
        last = seed
        if outcome is None:
            continue
        counts["scans"] += 1
        counts["of healthy evidence"] += healthy
        for what in said(outcome):
            counts[what] += 1
            by_mutation[outcome.mutation, what] += 1
            print(f"seed {outcome.seed}: {what}: {outcome.case}/{outcome.file}, {outcome.mutation}")
            print(f"  {outcome.raised or '; '.join((*outcome.failed, *outcome.proofs, *outcome.strayed))}", flush=True)
        if asked.out is not None and [*said(outcome)]:
            with asked.out.open("a") as stream:
                stream.write(json.dumps(asdict(outcome)) + "\n")
    print(f"seeds {asked.seed} to {last}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    for (mutation, what), count in by_mutation.most_common():
        print(f"  {count:5} {what}: {mutation}")
    return int(any(counts[what] for what in FAILURES))


def _outcomes(
    asked: argparse.Namespace, folders: Sequence[Path], made: Path
) -> Iterator[tuple[int, bool, Outcome | None]]:
    """Yield the seed of each trial, whether its case is healthy, and what came of it; None if nothing was damaged."""
    mutations = [one for one in MUTATIONS if not asked.mutation or one.name in asked.mutation]
    subjects: dict[Path, Subject] = {}
    end = time.monotonic() + asked.seconds
    for seed in itertools.count(asked.seed):
        if time.monotonic() > end or (asked.trials is not None and seed >= asked.seed + asked.trials):
            return
        folder = folders[seed % len(folders)]
        if folder not in subjects:
            subjects[folder] = Subject.of(prepared(folder, made))
        subject = subjects[folder]
        left = asked.healthy and not subject.healthy
        yield seed, subject.healthy, None if left else trial(subject, seed, limit=asked.limit, mutations=mutations)


def said(outcome: Outcome) -> list[str]:
    """Return what is wrong about an outcome."""
    wrong = {
        "raised": bool(outcome.raised),
        "contained defects": bool(outcome.failed),
        "too slow": outcome.slow,
        "false proofs": bool(outcome.proofs) and not outcome.forged,
        "proofs of forged records": bool(outcome.proofs) and outcome.forged,
        "verdicts of other partitions": bool(outcome.strayed),
    }
    return [what for what, is_so in wrong.items() if is_so]


if __name__ == "__main__":
    sys.exit(main())
