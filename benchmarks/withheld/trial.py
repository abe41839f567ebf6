"""One trial: evidence of a recorded cluster is withheld, and the answers are compared with those of the whole."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.same.corpus import Files
from benchmarks.same.cuts import Evidence, is_log
from benchmarks.withheld.edits import Edit
from benchmarks.withheld.ways import WAYS
from forensics.engines.local import scan
from forensics.errors import NothingUnderstood
from forensics.replay.confidence import decides
from forensics.replay.lineage import Range, merge, subtract
from forensics.rules.finding import Judgement, Verdict

RULES = (
    "committed-data-lost",
    "truncation-below-committed",
    "replica-divergence",
    "two-leaders-one-epoch",
    "unclean-election",
    "epoch-divergence",
    "hw-above-isr-member",
    "hw-regression",
    "leo-regression",
    "hw-above-leo",
)
"""Rules that are compared. Others are about a file itself, or about what is missing."""

OF_FILES: dict[str, tuple[str, ...]] = {"short_copies": ("hw-above-leo", "leo-regression", "epoch-divergence")}
"""Rules that do find something in what a way does to files."""

_STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)

WORST = ("committed-data-lost", "truncation-below-committed")


class Place(NamedTuple):
    """A rule and a partition."""

    cluster: str | None
    topic: str
    partition: int
    incarnation: int
    rule: str

    def __str__(self) -> str:
        """Return it in short."""
        life = f" (life {self.incarnation})" if self.incarnation else ""
        return f"{self.topic}-{self.partition}{life} {self.rule}"


Answers = Mapping[Place, Judgement]


def answers(files: Files, folder: Path) -> Answers:
    """Return what is answered of some evidence.

    Args:
        files: the evidence.
        folder: where it is written to; emptied first.
    """
    written(files, folder)
    try:
        result = scan([str(folder)], jobs=1)
    except NothingUnderstood:
        return {}
    return {
        Place(one.history.cluster, one.history.topic, one.history.partition, one.history.incarnation, rule): judgement
        for one in result.partitions
        for rule, judgement in one.judgements.items()
        if rule in RULES
    }


def last_line(files: Files) -> int | None:
    """Return the time of the last line of all logs, in microseconds since 1970 UTC; None if no line has a time."""
    stamps = [_STAMP.findall(content) for path, content in files.items() if is_log(path)]
    last = max((max(found) for found in stamps if found), default=None)
    if last is None:
        return None
    return int(datetime.strptime(last.decode() + "000+0000", "%Y-%m-%d %H:%M:%S,%f%z").timestamp() * 1e6)


def written(files: Files, folder: Path) -> None:
    """Write evidence to a folder, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


@dataclass(frozen=True, slots=True)
class Wrong:
    """An answer that the whole evidence denies.

    Attributes:
        kind: one of ``KINDS``.
        place: what it is about.
        text: what is answered.
    """

    kind: str
    place: Place
    text: str

    @property
    def key(self) -> tuple[str, Place]:
        """Key that it shares with the same wrong answer to other parts of the evidence."""
        return self.kind, self.place


def wrong(whole: Answers, part: Answers, end: int | None = None) -> Iterator[Wrong]:
    """Yield what is answered to a part of the evidence and contradicts what is answered to all of it.

    Args:
        whole, part: the answers.
        end: time of the last line in the part. What happened later is no part of the answer to it.
    """
    for place, judgement in part.items():
        others = [_until(end, other) for other in _of_same(whole, place)]
        for kind, contradicts in KINDS.items():
            told = [contradicts(other, judgement) for other in others]
            if told and all(told):
                yield Wrong(kind, place, told[-1])


def _until(end: int | None, one: Judgement) -> Judgement:
    """Return an answer without what was found to have happened after a time; then what it leaves open is not known."""
    late = [found for found in one.findings if end is not None and (found.span[1] or 0) > end]
    if one.verdict is not Verdict.VIOLATED or not late:
        return one
    found = tuple(each for each in one.findings if each not in late)
    decided = any(decides(each.confidence) for each in found)
    return replace(one, verdict=Verdict.VIOLATED if decided else Verdict.UNKNOWN, findings=found)


def _of_same(whole: Answers, place: Place) -> Iterator[Judgement]:
    """Yield what the whole evidence answers about a partition.

    Less evidence may not show that its topic was created again, nor which cluster it is of. Then any of them may be the
    one in question.
    """
    if place in whole and not any(other[1:3] == place[1:3] and other != place for other in _of_rule(whole, place.rule)):
        yield whole[place]
        return
    yield from (whole[other] for other in _of_rule(whole, place.rule) if other[1:3] == place[1:3])


def _of_rule(whole: Answers, rule: str) -> Iterator[Place]:
    return (place for place in whole if place.rule == rule)


def _false(whole: Judgement, part: Judgement) -> str:
    """Return what is found although the whole evidence shows that it is not so."""
    return _told(part) if part.verdict is Verdict.VIOLATED and whole.verdict is Verdict.CLEAN else ""


def _missed(whole: Judgement, part: Judgement) -> str:
    """Return what the whole evidence shows although it is called clean."""
    return _told(whole) if part.verdict is Verdict.CLEAN and whole.verdict is Verdict.VIOLATED else ""


def _beyond(whole: Judgement, part: Judgement) -> str:
    """Return offsets that are found beside those that the whole evidence shows."""
    if part.rule not in WORST or {whole.verdict, part.verdict} != {Verdict.VIOLATED}:
        return ""
    if any(finding.open_from is not None or not finding.offsets for finding in whole.findings):
        return ""
    more = subtract(_offsets(part, decided=True), _offsets(whole, decided=False))
    return f"{more} of: {_told(part)}; whole: {_told(whole)}" if more else ""


def _decided(whole: Judgement, part: Judgement) -> str:
    """Return what is found although the whole evidence leaves it open."""
    return _told(part) if part.verdict is Verdict.VIOLATED and whole.verdict is Verdict.UNKNOWN else ""


def _cleared(whole: Judgement, part: Judgement) -> str:
    """Return what the whole evidence leaves open although it is called clean."""
    open_ = part.verdict is Verdict.CLEAN and whole.verdict is Verdict.UNKNOWN
    return "; ".join(str(want) for want in whole.missing)[:300] if open_ else ""


KINDS: dict[str, Callable[[Judgement, Judgement], str]] = {
    "FALSE": _false,
    "MISS": _missed,
    "BEYOND": _beyond,
    "decided": _decided,
    "cleared": _cleared,
}
"""In capital letters: one of the two answers is wrong. The others may both be right as far as each evidence goes."""


def _offsets(one: Judgement, *, decided: bool) -> list[Range]:
    return merge(
        piece for finding in one.findings if not decided or decides(finding.confidence) for piece in finding.offsets
    )


def _told(one: Judgement) -> str:
    return " | ".join(
        f"{finding.severity.value}, {finding.confidence.value}: {finding.summary}"
        for finding in one.findings
        if decides(finding.confidence)
    )


def drawn(files: Files, seed: str, ways: Sequence[str]) -> tuple[str, list[Edit]]:
    """Return the ways of a trial in words, and its changes: the same on every machine.

    Args:
        files: the evidence.
        seed: of the trial.
        ways: names of ways to draw from.
    """
    random = Random(seed)
    names = random.sample(list(ways), k=min(len(ways), random.choice((1, 1, 2))))
    evidence = Evidence(files)
    if not evidence.brokers or not evidence.logs:
        return "", []
    return "+".join(names), [edit for name in names for edit in WAYS[name](evidence, random)]


def fewest(edits: Sequence[Edit], shows: Callable[[Sequence[Edit]], bool], tries: int = 60) -> list[Edit]:
    """Return some of the changes that are enough: none of them can be left out, as far as so many tries show.

    Args:
        edits: changes that show something.
        shows: whether others show it too.
        tries: how often to ask that.
    """
    left, size = list(edits), max(1, len(edits) // 2)
    while tries > 0:
        at, shrunk = 0, False
        while at < len(left) and tries > 0:
            less = left[:at] + left[at + size :]
            tries -= 1
            if less and shows(less):
                left, shrunk = less, True
            else:
                at += size
        if size == 1 and not shrunk:
            break
        size = max(1, size // 2)
    return left
