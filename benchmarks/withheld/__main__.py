"""``make withheld``: withhold evidence of recorded clusters at random, and compare the answers with those of the whole.

Each wrong answer is printed once, with the trial (case and seed) and the fewest changes that show it. FALSE is an alarm
that the whole evidence denies, MISS a violation called clean, BEYOND a loss of offsets that were not lost. Exit code 1
if there is any. ``--case NAME --seed N --trials 1 --keep DIR`` makes a trial again and keeps its evidence.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from benchmarks.same.__main__ import matches
from benchmarks.same.corpus import Files, Recorded, recorded
from benchmarks.same.cuts import Evidence
from benchmarks.withheld.edits import Edit, edited
from benchmarks.withheld.trial import OF_FILES, Answers, Place, Wrong, answers, drawn, fewest, last_line, written, wrong
from benchmarks.withheld.ways import WAYS
from forensics.rules.finding import Judgement


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments."""
    parser = argparse.ArgumentParser("python -m benchmarks.withheld", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--trials", type=int, help="stop after so many")
    parser.add_argument("--seed", type=int, default=1, help="of the first trial; the next ones count on")
    parser.add_argument("--case", action="append", default=[], metavar="GLOB", help="only these cases")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only these ways")
    parser.add_argument("--all", action="store_true", help="also print what one evidence leaves open")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the evidence of each wrong answer")
    return parser.parse_args(given)


def chosen(patterns: Sequence[str]) -> list[Recorded]:
    """Return the cases that match, in which brokers have logs."""
    return [one for one in recorded() if not patterns or any(matches(one.name, pattern) for pattern in patterns)]


class Hunt:
    """Trials, and what was found in them.

    Attributes:
        found: how often each wrong answer was given.
        counts: number of trials and of wrong answers by kind.
    """

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.ways = options.way or list(WAYS)
        self.found: Counter[tuple[str, ...]] = Counter()
        self.counts: Counter[str] = Counter()
        self._wholes: dict[str, tuple[Files, Answers]] = {}

    def run(self, cases: Sequence[Recorded], seeds: Iterator[int]) -> None:
        """Make trials until the time is over."""
        end = time.monotonic() + self.options.seconds
        for seed in seeds:
            if time.monotonic() > end:
                break
            self.trial(Random(seed).choice(cases), seed)

    def whole(self, case: Recorded) -> tuple[Files, Answers]:
        """Return all evidence of a case, and the answers to it."""
        if case.name not in self._wholes:
            files = case.files()
            usable = Evidence(files)
            known = answers(files, self.folder) if usable.brokers and usable.logs else {}
            self._wholes[case.name] = files if known else {}, known
        return self._wholes[case.name]

    def trial(self, case: Recorded, seed: int) -> None:
        """Withhold some evidence of a case, and print what is answered wrongly."""
        files, known = self.whole(case)
        name, edits = drawn(files, f"{case.name}:{seed}", self.ways) if files else ("", [])
        if not edits:
            return
        self.counts["trials"] += 1
        for one in self._wrong(files, known, name, edits):
            key = (case.name, one.kind, one.place.topic, str(one.place.partition), one.place.rule)
            self.counts[one.kind] += 1
            self.found[key] += 1
            if self.found[key] == 1:
                self._print(case, seed, name, edits, one)

    def _wrong(self, files: Files, known: Answers, name: str, edits: Sequence[Edit]) -> list[Wrong]:
        expected = {rule for way in name.split("+") for rule in OF_FILES.get(way, ())}
        left = edited(files, edits)
        known = {**known, **self._of_others(edits)}
        return [
            one
            for one in wrong(known, answers(left, self.folder), last_line(left))
            if one.place.rule not in expected and (one.kind.isupper() or self.options.all)
        ]

    def _of_others(self, edits: Sequence[Edit]) -> Answers:
        """Return the answers to what the changes add of other clusters."""
        found: dict[Place, Judgement] = {}
        for edit in edits:
            found |= answers(edit.beside, self.folder) if edit.beside else {}
        return found

    def _print(self, case: Recorded, seed: int, name: str, edits: Sequence[Edit], one: Wrong) -> None:
        files, known = self.whole(case)
        least = fewest(edits, lambda some: any(one.key == each.key for each in self._wrong(files, known, name, some)))
        print(f"{one.kind} {case.name} {one.place} (seed {seed}, {name})\n    {one.text}", flush=True)
        for edit in least[:12]:
            print(f"    {edit.text}")
        print(f"    … {len(least) - 12} more" if len(least) > 12 else "", flush=True)
        if self.options.keep is not None:
            written(edited(files, least), self.options.keep / f"{case.folder}-{seed}")


def main(given: Sequence[str] | None = None) -> int:
    """Run trials, print what is wrong."""
    options = arguments(given)
    cases = chosen(options.case)
    if not cases:
        print("no such case", file=sys.stderr)
        return 2
    seeds = itertools.count(options.seed)
    with tempfile.TemporaryDirectory(prefix="withheld-") as folder:
        hunt = Hunt(options, Path(folder) / "evidence")
        hunt.run(cases, itertools.islice(seeds, options.trials))
    print(", ".join(f"{count:,} {what}" for what, count in hunt.counts.items()) or "no trials")
    return 1 if any(kind.isupper() for kind in hunt.counts) else 0


if __name__ == "__main__":
    sys.exit(main())
