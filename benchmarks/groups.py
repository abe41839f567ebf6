"""Share of lost records that positions of consumer groups decide: runs judged without and with ``__consumer_offsets``.

    python -m benchmarks.groups [--runs 60] [--logging default] [--protocols fetch,...]

Runs of the model are random schedules in which groups read, lag and are reset by hand. For each protocol it prints in
how many of the runs that lost committed records the loss is found. Then in how many of the others the answer is clean,
and the number of wrong answers.
"""

from __future__ import annotations

import argparse
from collections import Counter

from forensics.model import PROTOCOLS, VARIANTS
from forensics.model.groups import FOLDER
from forensics.model.random_runs import READ
from tests.model import batches

LOSS = "committed-data-lost"
TOGETHER = 60
STEPS = 80


def without(_: int, content: batches.Files) -> batches.Files:
    """The evidence without the positions of groups."""
    return {path: data for path, data in content.items() if f"/{FOLDER}/" not in path}


def whole(_: int, content: batches.Files) -> batches.Files:
    """All of it."""
    return content


def counted(protocol: str, logging: str, runs: int, *, first: int = 7000, groups: bool) -> Counter[str]:
    """Answers to the question of lost records, by kind, and wrong answers to any question."""
    found: Counter[str] = Counter()
    for start in range(first, first + runs, TOGETHER):
        seeds = range(start, min(start + TOGETHER, first + runs))
        schedules = [batches.drawn(seed, STEPS, READ, settled=seed % 2 == 0) for seed in seeds]
        lose = whole if groups else without
        for seed, answers in zip(seeds, batches.answers(schedules, protocol, logging, lose), strict=True):  # type: ignore[arg-type]
            for answer in answers:
                if answer.rule == LOSS:
                    found[answer.kind] += 1
                if answer.wrong:
                    found["wrong"] += 1
                    print(f"WRONG {protocol} {logging} seed {seed}: {answer.wrong}")
    return found


def parser(text: str | None) -> argparse.ArgumentParser:
    """Options of a benchmark that judges runs without and with a witness.

    Args:
        text: what the benchmark is, in its first line.
    """
    found = argparse.ArgumentParser(description=text.splitlines()[0] if text else "")
    found.add_argument("--runs", type=int, default=60)
    found.add_argument("--logging", choices=("default", "replication"), default="default")
    found.add_argument("--protocols", default=",".join(one.name for one in (*PROTOCOLS, *VARIANTS)))
    return found


def show(protocol: str, how: str, found: Counter[str]) -> None:
    """Print the shares of one protocol, without or with the witness."""
    lost = found["violated"] + found["violated in part"] + found["unknown, violated"]
    clean = found["clean"] + found["unknown, clean"]
    told = f"{how:8} lost: {lost - found['unknown, violated']}/{lost} found"
    told += f" ({found['violated']} to the offset)"
    print(f"{protocol:14} {told}; clean: {found['clean']}/{clean}; wrong: {found['wrong']}", flush=True)


def main() -> None:
    """Count and print."""
    chosen = parser(__doc__).parse_args()
    for protocol in chosen.protocols.split(","):
        for groups in (False, True):
            found = counted(protocol, chosen.logging, chosen.runs, groups=groups)
            show(protocol, "with" if groups else "without", found)


if __name__ == "__main__":
    main()
