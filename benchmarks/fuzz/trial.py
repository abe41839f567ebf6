"""One trial: a file of a case is damaged, the case is scanned, and the outcome is checked.

Nothing may be raised, and nothing may take longer than its limit. On healthy evidence no finding of severity error or
critical may be proven, except about the damage itself. A checksum that is corrected is no accident: findings after such
a change are counted separately. A file in the directory of one partition may change no answer about another partition.
"""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType

from benchmarks.fuzz.mutations import MUTATIONS, Mutation
from forensics.engines.local import scan
from forensics.errors import NothingUnderstood
from forensics.replay.confidence import Confidence
from forensics.result import Result
from forensics.rules.finding import Finding, Severity
from forensics.rules.wants import Question
from parsers.formats.log_directory import split_directory

ABOUT_DAMAGE = frozenset(("segment-damage", "checkpoint-contradiction"))
"""Rules about damaged files themselves."""

SUBJECTS = frozenset((("epoch-divergence", "file"),))
"""Rules, and the subject of their findings about a damaged file itself."""

Place = tuple[str | None, str, int, int]
"""Cluster, topic, partition and incarnation."""

_OF_ALL = frozenset(("__cluster_metadata", "__consumer_offsets", "__transaction_state"))
"""Topics whose files are about other partitions too."""

_BY_THE_CLOCK = 10
"""How many times longer a scan may take by the clock than its processors work."""


class TooSlow(KeyboardInterrupt):
    """A scan took longer than its limit; as an interrupt it is let through by what contains defects."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a trial.

    Attributes:
        case, file: what was damaged.
        mutation: how.
        seed: by which the trial can be repeated.
        seconds: duration of the scan.
        raised: traceback of an exception, or "".
        failed: places at which a defect was contained.
        slow: it took longer than its limit.
        proofs: findings, on healthy evidence, that claim to be proven and can only come from the damage.
        strayed: partitions with other verdicts than before, though the file is in the directory of another one.
        forged: the mutation corrected the checksums.
    """

    case: str
    file: str
    mutation: str
    seed: int
    seconds: float
    raised: str = ""
    failed: tuple[str, ...] = ()
    slow: bool = False
    proofs: tuple[str, ...] = ()
    strayed: tuple[str, ...] = ()
    forged: bool = False


@dataclass(slots=True)
class Subject:
    """A case to be damaged.

    Attributes:
        folder: its folder; its files are changed and restored.
        healthy: nothing went wrong in it.
        files: its files.
        known: findings that are proven without damage.
        verdicts: without damage.
    """

    folder: Path
    healthy: bool
    files: list[Path]
    known: frozenset[tuple[str, str, int]]
    verdicts: dict[Place, tuple[str, ...]]

    @staticmethod
    def of(folder: Path) -> Subject:
        """A case as it is, scanned once."""
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "truth.json")
        result = scan([str(folder)])
        healthy = not any(f.severity.rank <= Severity.ERROR.rank for f in result.findings)
        return Subject(folder, healthy, files, frozenset(map(_key, _proven(result))), _verdicts(result))


def _verdicts(result: Result) -> dict[Place, tuple[str, ...]]:
    """Return the verdicts of each partition, in the order of the rules."""
    return {
        (one.history.cluster, one.history.topic, one.history.partition, one.history.incarnation): tuple(
            judgement.verdict.value for judgement in one.judgements.values()
        )
        for one in result.partitions
    }


def _strayed(subject: Subject, path: Path, result: Result) -> Iterator[str]:
    """Yield the partitions whose verdicts a damaged file changed, if it is in the directory of another one.

    A partition that only damage makes up counts for nothing: there are no verdicts before. The folders at the top are
    those of brokers, whose names look like those of partitions.
    """
    own = split_directory(path.parent.name)
    if own is None or path.parent.parent == subject.folder or own.topic in _OF_ALL:
        return
    for place, verdicts in _verdicts(result).items():
        if place[1:3] != (own.topic, own.partition) and subject.verdicts.get(place, verdicts) != verdicts:
            yield f"{place[1]}-{place[2]}"


def _proven(result: Result) -> Iterator[Finding]:
    for finding in result.findings:
        if finding.severity.rank <= Severity.ERROR.rank and finding.confidence is Confidence.PROVEN:
            yield finding


def _key(finding: Finding) -> tuple[str, str, int]:
    return finding.rule, finding.topic, finding.partition


def trial(subject: Subject, seed: int, *, limit: float, mutations: Sequence[Mutation] = MUTATIONS) -> Outcome | None:
    """Damage one random file of a case, scan the case and restore the file.

    Args:
        subject: the case.
        seed: of the random generator.
        limit: seconds of processor time that the scan may take.
        mutations: one of them is chosen.

    Returns:
        The outcome; None if the mutation has nothing to change in the file.
    """
    chance = Random(seed)
    mutation = chance.choice(mutations)
    fitting = [path for path in subject.files if mutation.fits.search(f"/{path.relative_to(subject.folder)}")]
    if not fitting:
        return None
    path = chance.choice(fitting)
    before = path.read_bytes()
    after = mutation.of(before, chance, _another(path, fitting, chance) if mutation.mixes else b"")
    if after is None or after == before:
        return None
    try:
        path.write_bytes(after)
        return _scanned(subject, path, mutation, seed, limit)
    finally:
        path.write_bytes(before)


def _another(path: Path, fitting: Sequence[Path], chance: Random) -> bytes:
    """Return the bytes of another file of the same name, or none."""
    others = [other for other in fitting if other.name == path.name and other != path]
    return chance.choice(others).read_bytes() if others else b""


def _scanned(subject: Subject, path: Path, mutation: Mutation, seed: int, limit: float) -> Outcome:
    began = time.monotonic()
    raised, slow = "", False
    failed, proofs, strayed = list[str](), list[str](), list[str]()
    try:
        with limited(limit):
            result = scan([str(subject.folder)])
        failed = list(_failures(result))
        strayed = list(_strayed(subject, path, result))
        if subject.healthy:
            new = [f for f in _proven(result) if not _about_damage(f) and _key(f) not in subject.known]
            proofs = [f"{f.rule} {f.topic}-{f.partition}: {f.summary}" for f in new]
    except TooSlow:
        slow = True
    except NothingUnderstood:
        pass
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - what the trial looks for
        raised = traceback.format_exc()
    return Outcome(
        case=subject.folder.name,
        file=str(path.relative_to(subject.folder)),
        mutation=mutation.name,
        seed=seed,
        seconds=time.monotonic() - began,
        raised=raised,
        failed=tuple(failed),
        slow=slow,
        proofs=tuple(proofs),
        strayed=tuple(strayed),
        forged=mutation.forged,
    )


def _about_damage(finding: Finding) -> bool:
    return finding.rule in ABOUT_DAMAGE or (finding.rule, finding.subject) in SUBJECTS


def _failures(result: Result) -> Iterator[str]:
    for partition in result.partitions:
        for judgement in partition.judgements.values():
            yield from {one.because for one in judgement.missing if one.question is Question.PROGRAM_REPAIRED}
    broken = result.case.sources.filter(result.case.sources["format"] == "failed").get_column("id").to_list()
    notices = result.case.notices
    yield from notices.filter(notices["source"].is_in(broken)).get_column("reason").to_list()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Stop the block after so much time of processors; and after ten times as much time of the clock.

    On a machine that does other work a scan takes longer by the clock. What waits for ever uses no processor.

    Raises:
        TooSlow: the block took longer.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, _BY_THE_CLOCK * seconds),
    )
    before = [signal.signal(number, stop) for _, number, _ in timers]
    for timer, _, allowed in timers:
        signal.setitimer(timer, allowed)
    try:
        yield
    finally:
        for timer, _, _ in timers:
            signal.setitimer(timer, 0)
        for (_, number, _), handler in zip(timers, before, strict=True):
            signal.signal(number, handler)
