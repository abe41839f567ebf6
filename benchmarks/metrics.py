"""Share of lost records that metrics of an exporter decide: runs judged without and with its scrapes.

    python -m benchmarks.metrics [--runs 60] [--logging default] [--protocols fetch,...]

Runs of the model are random schedules in which an exporter is scraped, by a server whose clock is minutes apart. For
each protocol it prints in how many of the runs that lost committed records the loss is found. Then in how many of the
others the answer is clean, and the number of wrong answers.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.groups import LOSS, STEPS, TOGETHER, parser, show, whole
from forensics.model.exporter import FOLDER
from forensics.model.random_runs import SCRAPED
from tests.model import batches


def without(_: int, content: batches.Files) -> batches.Files:
    """The evidence without metrics."""
    return {path: data for path, data in content.items() if not path.startswith(f"{FOLDER}/")}


def counted(protocol: str, logging: str, runs: int, *, first: int = 9000) -> tuple[Counter[str], Counter[str]]:
    """Answers to the question of lost records, by kind, without and with metrics, and wrong answers to any question."""
    found: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    for start in range(first, first + runs, TOGETHER):
        seeds = range(start, min(start + TOGETHER, first + runs))
        schedules = [batches.drawn(seed, STEPS, SCRAPED, settled=seed % 2 == 0) for seed in seeds]
        played = batches.played(schedules, protocol, logging)  # type: ignore[arg-type]
        for counts, lose in zip(found, (without, whole), strict=True):
            given = batches.answered([(run, lose(number, content)) for number, (run, content) in enumerate(played)])
            for seed, answers in zip(seeds, given, strict=True):
                counts.update(answer.kind for answer in answers if answer.rule == LOSS)
                for answer in answers:
                    counts["wrong"] += bool(answer.wrong)
                    if answer.wrong:
                        print(f"WRONG {protocol} {logging} seed {seed}: {answer.wrong}")
    return found


def main() -> None:
    """Count and print."""
    options = parser(__doc__)
    options.add_argument("--first", type=int, default=9000)
    chosen = options.parse_args()
    for protocol in chosen.protocols.split(","):
        counts = counted(protocol, chosen.logging, chosen.runs, first=chosen.first)
        for how, found in zip(("without", "with"), counts, strict=True):
            show(protocol, how, found)


if __name__ == "__main__":
    main()
