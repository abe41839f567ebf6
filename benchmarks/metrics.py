"""Share of lost records that metrics of exporters decide: runs judged without and with their scrapes.

    python -m benchmarks.metrics [--runs 60] [--logging default] [--protocols fetch,...] [--alone]

Each run is judged without metrics, with those of kafka_exporter alone, and with the log end offsets of brokers too.
With ``--alone`` leaders are often alone in the ISR. Runs of the model are random schedules in which an exporter is
scraped, by a server whose clock is minutes apart. For each protocol it prints in how many of the runs that lost
committed records the loss is found. Then in how many of the others the answer is clean, and the number of wrong
answers.
"""

from __future__ import annotations

from collections import Counter

from benchmarks.groups import LOSS, STEPS, TOGETHER, parser, show, whole
from forensics.model.exporter import FOLDER, LOG_END
from forensics.model.random_runs import SCRAPED, SCRAPED_ALONE
from tests.model import batches


def without(_: int, content: batches.Files) -> batches.Files:
    """The evidence without metrics."""
    return {path: data for path, data in content.items() if not path.startswith(f"{FOLDER}/")}


def without_log_ends(_: int, content: batches.Files) -> batches.Files:
    """The evidence without log end offsets of brokers."""
    kept = {path: data.split(b"\n") for path, data in content.items() if path.startswith(f"{FOLDER}/")}
    log_end = LOG_END.encode()
    return content | {
        path: b"\n".join(line for line in lines if not line.startswith(log_end)) for path, lines in kept.items()
    }


JUDGED = {"without": without, "hw": without_log_ends, "with": whole}
"""With which metrics each run is judged."""


def counted(
    protocol: str, logging: str, runs: int, *, first: int = 9000, weights: dict[str, int] = SCRAPED
) -> dict[str, Counter[str]]:
    """Answers to the question of lost records, by kind, with each of ``JUDGED``, and wrong answers to any question."""
    found: dict[str, Counter[str]] = {how: Counter() for how in JUDGED}
    for start in range(first, first + runs, TOGETHER):
        seeds = range(start, min(start + TOGETHER, first + runs))
        schedules = [batches.drawn(seed, STEPS, weights, settled=seed % 2 == 0) for seed in seeds]
        played = batches.played(schedules, protocol, logging)  # type: ignore[arg-type]
        for counts, lose in zip(found.values(), JUDGED.values(), strict=True):
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
    options.add_argument("--alone", action="store_true", help="leaders are often alone in the ISR")
    chosen = options.parse_args()
    for protocol in chosen.protocols.split(","):
        weights = SCRAPED_ALONE if chosen.alone else SCRAPED
        counts = counted(protocol, chosen.logging, chosen.runs, first=chosen.first, weights=weights)
        for how, found in counts.items():
            show(protocol, how, found)


if __name__ == "__main__":
    main()
