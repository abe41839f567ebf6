"""Compare all verdicts and findings of the working tree with those of another revision.

    python -m benchmarks.same [--base REV] [--quick] [--answers] [--only GLOB] [--accepted FILE]

Exit code 0: no difference except those that are listed as right; 1: others; 2: it could not be done.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import zip_longest
from pathlib import Path

from benchmarks.same import side, sides
from benchmarks.same.accepted import LIST, Accepted, accepted
from benchmarks.same.corpus import ROOT, outside, recorded
from benchmarks.same.cuts import WHOLE
from benchmarks.same.differences import Report, Row, rows, verdicts, with_whole
from benchmarks.same.runs import Batch, batches

WIDEST = 400
"""Characters of a value that are shown."""


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments."""
    parser = argparse.ArgumentParser("make same", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base", metavar="REV", help="what is compared with (default: where the branch left main)")
    parser.add_argument("--quick", action="store_true", help="every case, a few cuts of each, 400 runs of the model")
    parser.add_argument(
        "--answers", action="store_true", help="compare verdicts and what findings are about, not how they are worded"
    )
    parser.add_argument("--only", metavar="GLOB", action="append", help="only cases and batches whose name matches")
    parser.add_argument("--runs", type=int, metavar="N", help="runs of the model (default: 10,000, quick 400)")
    parser.add_argument(
        "--accepted", type=Path, metavar="FILE", default=LIST, help="list of differences that are right"
    )
    parser.add_argument("--rows", type=int, default=60, metavar="N", help="differences to print (default: 60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--fresh", action="store_true", help="judge anew what was judged before: both versions")
    parser.add_argument("--cache", type=Path, default=Path(os.environ.get("SAME_CACHE", ROOT / ".same")))
    return parser.parse_args(given)


def units(options: argparse.Namespace) -> list[sides.Unit]:
    """Return what is compared, in the order of the report."""
    count = options.runs if options.runs is not None else (400 if options.quick else 10_000)
    every: list[sides.Unit] = [*recorded(), *batches(count)]
    return [unit for unit in every if not options.only or any(matches(unit.name, pattern) for pattern in options.only)]


def matches(name: str, pattern: str) -> bool:
    """Return whether a pattern fits a name, or its last part."""
    return fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern)


def compare(
    names: Sequence[str],
    before: dict[str, sides.Answered],
    after: dict[str, sides.Answered],
    report: Report,
    log: Path,
) -> int:
    """Add all differences to the report, write each to the log, and return the number of selections."""
    count = 0
    with log.open("w") as out:
        for name in names:
            old, new = before[name], after[name]
            count += max(old.count, new.count)
            if old.hash == new.hash:
                continue
            pairs = zip_longest(side.answers(old.path), side.answers(new.path), fillvalue=("", {}))
            whole: dict[tuple[str, str], str] = {}
            for (cut, one), (same, other) in pairs:
                if cut != same:
                    raise AssertionError(f"{name}: selections differ: {cut!r}, {same!r}")
                whole = verdicts(other) if cut == WHOLE.name else whole
                for row in report.add(name, cut, with_whole(rows(one, other), whole)):
                    shown = {"unit": name, "cut": cut, "partition": row.where, "rule": row.rule, "what": row.what}
                    shown |= {"old": row.old, "new": row.new, "whole": row.whole}
                    out.write(json.dumps(shown, ensure_ascii=False) + "\n")
    return count


def shown(row: Row) -> list[str]:
    """A difference in lines."""
    head = f"{row.rule} · {row.what}"
    if row.what == "verdict":
        return [f"{head}: {row.old or '(none)'} → {row.new or '(none)'}"]
    return [head, *(f"    {mark} {_cut(text)}" for mark, text in (("-", row.old), ("+", row.new)) if text)]


def _cut(text: str) -> str:
    text = text.replace("\n", "\\n")
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}… ({len(text):,} characters)"


def tell(report: Report, limit: int) -> None:
    """Prints every difference, verdicts first, then the most frequent."""
    entries = sorted(report.found.values(), key=lambda one: (one.row.what != "verdict", -one.selections, one.row.key))
    for entry in entries[:limit]:
        first, *rest = shown(entry.row)
        print(f"{entry.selections:>6} in {len(entry.units):>3}  {first}")
        print(
            "\n".join([*(f"{'':15}{line}" for line in rest), f"{'':15}    e.g. {entry.selection}, {entry.row.where}"])
        )
    if len(entries) > limit:
        print(f"… and {len(entries) - limit:,} more: --rows {len(entries)} shows all")


def tell_accepted(listed: Sequence[Accepted], report: Report) -> None:
    """Prints each entry of the list with how often it was met, in one line each, and those that nothing fits last."""
    for one, count in sorted(zip(listed, report.taken, strict=True), key=lambda pair: -pair[1]):
        print(f"accepted: {f'{count:,} ×' if count else 'NOTHING FITS'} {one.why} [{one.test}]")


def tell_absent() -> None:
    """Prints which groups of recorded clusters are not on this machine, so that they were not compared."""
    for group, folder in outside().items():
        if not folder.is_dir():
            print(
                f"make same: not compared: {group}, as there is no folder {folder} (set FORENSICS_EVIDENCE)",
                file=sys.stderr,
            )


def main(given: Sequence[str] | None = None) -> int:
    """Print what differs; exit code 1 if anything does."""
    options = arguments(given)
    begin = time.monotonic()
    progress = _progress(begin)
    try:
        revision = sides.base(options.base)
        listed = accepted(options.accepted, partial(sides.is_part_of, revision))
        report = Report(listed, answers=options.answers)
    except (sides.NoSuchRevision, ValueError, OSError) as error:
        print(f"make same: {error}", file=sys.stderr)
        return 2
    chosen = units(options)
    if not chosen:
        print(f"make same: no case or batch matches {', '.join(options.only)}", file=sys.stderr)
        return 2
    tell_absent()
    options.cache.mkdir(parents=True, exist_ok=True)
    log = options.cache / "differences.jsonl"
    with tempfile.TemporaryDirectory(prefix="same-sides-") as room:
        before, after = sides.copied("before", Path(room), revision), sides.copied("after", Path(room), None)
        work = sides.Work(options.cache, options.quick, options.jobs, progress)
        if options.fresh:
            work.cache = Path(room)
            before, after = replace(before, key="before"), replace(after, key="after")
        runs = work.played([unit for unit in chosen if isinstance(unit, Batch)], after)
        old, new = (work.answers(one, chosen, runs) for one in (before, after))
        progress("")
        count = compare([unit.name for unit in chosen], old, new, report, log)
    tell(report, options.rows)
    tell_accepted(listed, report)
    print(
        f"{count:,} selections of {len(chosen):,} cases and batches compared with {revision[:10]}, "
        f"{report.differing:,} differ ({len(report.found):,} differences) in {time.monotonic() - begin:.0f} s"
        + (f"; each is in {log}" if report.differing else "")
        + (f"; {sum(report.taken):,} differences more are accepted" if listed else "")
    )
    return 1 if report.differing else 0


def _progress(begin: float) -> Callable[[str], None]:
    """Return a function that reports progress: on one line of a terminal, else once a minute."""
    told = begin

    def say(text: str) -> None:
        nonlocal told
        now = time.monotonic()
        line = f"{text} ({now - begin:.0f} s)" if text else ""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif line and now - told > 60:
            told = now
            print(line, file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # so that processes and folders are cleared away
    sys.exit(main())
