"""Many runs of the model judged by one scan: each has brokers, a controller and a topic of its own.

What a scan of a small cluster costs is mostly what it costs to read a file, however small. Here the lines of all runs
are read as one text, and what they say is handed back to the files they stand in; from there on it is the scan that
users get. ``test_oracle.py`` holds that a run is judged in company as it is alone.
"""

from __future__ import annotations

import contextlib
import gc
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import polars as pl

from forensics.case import Case, assemble
from forensics.model.evidence import files
from forensics.model.protocol import Protocol, named
from forensics.model.random_runs import CRUEL, Op, Setting, schedule, setting, tell_schedule
from forensics.model.run import Logging, Run, Scenario
from forensics.model.wording.words import uuid_of
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.rules import RULES
from forensics.rules.finding import Judgement
from parsers import read
from parsers.file_reading import FileReading
from parsers.files.sources import Source

WHOLE = re.compile(rb"\[20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] ")
"""How a log begins that begins with a whole event."""
ALIKE = ("cleaner-offset-checkpoint", "log-start-offset-checkpoint", ".kafka_cleanshutdown")
APART = 100
"""From one run's broker ids to the next one's."""
CLUSTER = uuid_of("cluster", "of all runs")
QUESTIONS = ("truncation-below-committed", "committed-data-lost", "replica-divergence")
Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A run to be played: its setting and operations, with brokers 1, 2, 3.

    Attributes:
        settled: all faults end at last; else the scene is left as it is.
    """

    drawn: Setting
    ops: tuple[Op, ...]
    seed: int = 0
    settled: bool = True

    def play(self, protocol: Protocol | str, place: int = 0) -> Run:
        """Plays it with the brokers and the topic of that number."""
        rules = named(protocol) if isinstance(protocol, str) else protocol
        first = APART * place
        drawn = self.drawn._replace(brokers=tuple(first + broker for broker in self.drawn.brokers))
        moved = [op._replace(one=op.one and first + op.one, two=op.two and first + op.two) for op in self.ops]
        names = {
            "topic": f"run-{place}",
            "controller": first + (9 if rules.mode == "zk" else 50),
            "cluster_id": CLUSTER,
            "settled": self.settled,
        }
        return Scenario(f"run-{place}", "", lambda stage: tell_schedule(stage, drawn, moved, **names)).run(
            rules, self.seed
        )


def drawn(seed: int, steps: int = 40, weights: dict[str, int] = CRUEL, *, settled: bool = True) -> Schedule:
    """The schedule of a seed: that of the scenario ``random``, unless other weights are given."""
    cast = setting(seed)
    return Schedule(cast, tuple(schedule(seed, steps, cast.brokers, weights)), seed, settled)


# -- reading -----------------------------------------------------------------------------------------------------------


def taken(evidence: Sequence[Files]) -> Case:
    """Everything as one case."""
    sources = [
        Source(path, len(data), lambda data=data: io.BytesIO(data), beginning=data[:4096])  # type: ignore[misc]
        for content in evidence
        for path, data in sorted(content.items())
    ]
    data = [data for content in evidence for _, data in sorted(content.items())]
    texts = {n: data[n] for n, source in enumerate(sources) if source.parent == "logs" and data[n]}
    # What begins or ends within a line is read by itself.
    texts = {n: text for n, text in texts.items() if WHOLE.match(text) and text.endswith(b"\n")}
    texts = {n: text for n, text in texts.items() if WHOLE.match(text, text.rfind(b"\n[20") + 1)}
    found = dict(zip(texts, lines_of(list(texts.values())), strict=True))
    same: dict[tuple[str, bytes], FileReading] = {}
    for number, source in enumerate(sources):
        if number not in found:
            found[number] = _read(source, data[number], same)
    return assemble([(source, found[number]) for number, source in enumerate(sources)])


def _read(source: Source, data: bytes, same: dict[tuple[str, bytes], FileReading]) -> FileReading:
    """A file's own reading; what is alike in many runs, byte by byte, is read once."""
    segment = source.name.endswith(".log")
    if not segment and source.name not in ALIKE:
        return read.read(source)
    known = same.get((source.name, data)) or same.setdefault((source.name, data), read.read(source))
    return replace(known, topic=source.parent.rpartition("-")[0]) if segment else replace(known)


def lines_of(texts: Sequence[bytes]) -> list[FileReading]:
    """Readings of logs, read as one."""
    whole = b"".join(texts)
    if not whole:
        return []
    reading = read.read(Source("server.log", len(whole), lambda: io.BytesIO(whole)))
    counts = [text.count(b"\n") for text in texts]
    starts = [0, *accumulate(counts)]
    begins = pl.Series("line", [start + 1 for start in starts], dtype=pl.Int64)
    rows = reading.observations
    cuts = rows.get_column("line").search_sorted(begins).to_list()
    number = begins.search_sorted(rows.get_column("line"), side="right").cast(pl.Int64) - 1
    rows = rows.with_columns(pl.col("line") - begins.gather(number) + 1)
    return [
        FileReading(
            "broker-log",
            observations=rows.slice(first, after - first),
            lines=count,
            events=count,
            relevant=after - first,
            understood=after - first,
            first_time=printed(text, text.find(b"[")),
            last_time=printed(text, text.rfind(b"\n[20") + 1),
            frame=reading.frame,
        )
        for text, count, first, after in zip(texts, counts, cuts, cuts[1:], strict=False)
    ]


def printed(text: bytes, at: int) -> int:
    """The time of the event that begins there, as printed, microseconds since 1970."""
    moment = datetime.fromisoformat(text[at + 1 : at + 24].decode().replace(",", ".")).replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1_000_000 + moment.microsecond


# -- judging -----------------------------------------------------------------------------------------------------------


def offsets(ranges: Iterable[Iterable[int]]) -> set[int]:
    """Every offset of half-open ranges."""
    return {offset for first, end in ranges for offset in range(first, end)}


def questions(truth: dict[str, Any]) -> dict[str, tuple[bool, set[int]]]:
    """Rule -> whether it is violated, and at which offsets."""
    cut = [span for cutting in truth["truncations"] for span in cutting["committed_offsets"]]
    return {
        "truncation-below-committed": (truth["expect"]["truncated_below_hw"], offsets(cut)),
        "committed-data-lost": (truth["expect"]["lost_committed"], offsets(truth["lost_committed_offsets"])),
        "replica-divergence": (truth["expect"]["diverged"], offsets(truth["diverged_below_hw"])),
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What a scan answers to one question, against what is so."""

    rule: str
    verdict: str
    named: frozenset[int]
    violated: bool
    concerned: frozenset[int]

    @property
    def wrong(self) -> str:
        """What the scan states that is not so; "" where it states nothing wrong."""
        if self.verdict == "clean" and self.violated:
            return f"{self.rule}: clean, but it is violated at {sorted(self.concerned)}"
        if self.verdict == "violated" and not self.violated:
            return f"{self.rule}: violated at {sorted(self.named)}, but it is not"
        if self.verdict == "violated" and not self.named <= self.concerned:
            besides, rightly = sorted(self.named - self.concerned), sorted(self.named & self.concerned)
            return f"{self.rule}: names {besides} besides {rightly}"
        return ""

    @property
    def kind(self) -> str:
        """The answer in a word."""
        if self.wrong:
            return f"WRONG-{self.verdict.upper()}" if self.violated != (self.verdict == "violated") else "WRONG-OFFSETS"
        if self.verdict == "unknown":
            return "unknown, violated" if self.violated else "unknown, clean"
        return self.verdict if self.verdict == "clean" or self.named == self.concerned else "violated in part"


def compared(judgements: Sequence[dict[str, Judgement]], truth: dict[str, Any]) -> list[Answer]:
    """The verdicts on all lives of a partition against the truth."""
    found = []
    for rule, (violated, concerned) in questions(truth).items():
        judged = [one[rule] for one in judgements]
        verdicts = {judgement.verdict.value for judgement in judged} or {"unknown"}
        verdict = next(v for v in ("violated", "unknown", "clean", "not applicable") if v in verdicts)
        named = frozenset(o for j in judged for f in j.findings for o in offsets(f.offsets))
        if rule == "committed-data-lost" and verdict == "violated":
            # What no replica has is lost, though the truth has no leader yet that began without it.
            concerned |= named & offsets(truth["in_no_log"])
            violated = bool(concerned)
        found.append(Answer(rule, verdict, named, violated, frozenset(concerned)))
    return found


def judged(case: Case) -> Iterator[tuple[History, dict[str, Judgement]]]:
    """Every life of every partition, with the answers to the three questions."""
    for part in case.parts:
        for history in histories(part):
            yield history, {rule.id: rule.judge(history, part) for rule in RULES if rule.id in QUESTIONS}


def answers(
    schedules: Sequence[Schedule],
    protocol: Protocol | str,
    logging: Logging,
    lose: Callable[[int, Files], Files] = lambda _, content: content,
) -> list[list[Answer]]:
    """The three answers for each run, all judged by one scan.

    Args:
        lose: what is left of the evidence of each run, by its number.
    """
    found = played(schedules, protocol, logging)
    return answered([(run, lose(number, content)) for number, (run, content) in enumerate(found)])


def played(schedules: Sequence[Schedule], protocol: Protocol | str, logging: Logging) -> list[tuple[Run, Files]]:
    """Each run and its evidence."""
    with no_cycles():
        runs = [each.play(protocol, place) for place, each in enumerate(schedules)]
        return [(run, files(run, logging)) for run in runs]


def answered(runs: Sequence[tuple[Run, Files]]) -> list[list[Answer]]:
    """The three answers for each run, all judged by one scan, from what is given of its evidence."""
    with no_cycles():
        found: dict[str, list[dict[str, Judgement]]] = {}
        for history, verdicts in judged(taken([content for _, content in runs])):
            found.setdefault(history.topic, []).append(verdicts)
        return [compared(found.get(f"run-{place}", []), run.truth()) for place, (run, _) in enumerate(runs)]


@contextlib.contextmanager
def no_cycles() -> Iterator[None]:
    """Without the collector, as a scan runs: it would walk millions of young objects again and again."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# -- shrinking ---------------------------------------------------------------------------------------------------------


def smaller(ops: Sequence[Op]) -> list[tuple[Op, ...]]:
    """Schedules that are simpler by one step: a stretch left out (long ones first), a number made 0."""
    found = []
    length = len(ops)
    while length:
        found += [(*ops[:at], *ops[at + length :]) for at in range(0, len(ops), length)]
        length //= 2
    found += [(*ops[:at], op._replace(number=0), *ops[at + 1 :]) for at, op in enumerate(ops) if op.number]
    return found


def shrunk(
    case: Schedule, protocol: Protocol | str, logging: Logging, wanted: Callable[[list[Answer]], bool]
) -> Schedule:
    """The smallest schedule found whose answers are still as wanted; candidates are judged by the batch."""
    going = True
    while going:
        going = False
        candidates = [replace(case, ops=ops) for ops in smaller(case.ops)]
        for at in range(0, len(candidates), 32):
            part = candidates[at : at + 32]
            hits = [n for n, given in enumerate(answers(part, protocol, logging)) if wanted(given)]
            if hits:
                case, going = part[hits[0]], True
                break
    return case


def told(case: Schedule) -> str:
    """A schedule as a test may state it."""
    ops = []
    for op in case.ops:
        parts = list(op)
        while len(parts) > 1 and not parts[-1]:
            parts.pop()
        ops.append(tuple(parts))
    return f"Setting{tuple(case.drawn)}, {ops}"
