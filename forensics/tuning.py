"""User settings for reports: severities, disabled rules, topics, and known findings.

They are applied in one place, between the rules and the reports, for every engine. Nothing here changes a verdict: a
disabled rule was not asked, a known finding is counted, and every report shows what was changed.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from forensics.case.topics import matches
from forensics.errors import BadConfiguration
from forensics.named_files import text
from forensics.outputs import evidence_around
from forensics.repaired.changed import clusters_of, has_changed
from forensics.repaired.conditions import Met
from forensics.repaired.former import FormerFinding, FormerScan
from forensics.repaired.since import Repair, since
from forensics.result import Changes, Partition, Result, evidence_of
from forensics.rules import RULES, rule_of
from forensics.rules.finding import Finding, Judgement, Severity
from parsers.limits import SETTINGS

FILE = "forensics.toml"
PROJECT = "pyproject.toml"
FAIL_ON = ("critical", "error", "warning", "unknown", "never")
NEVER, UNKNOWN = "never", "unknown"


@dataclass(frozen=True, slots=True)
class Tuning:
    """Everything that can be tuned without code.

    Attributes:
        severities: severity of a rule, by its id. Findings as severe as the rule by itself get it, milder ones keep
            theirs unless this is milder still.
        disabled: rules that are off.
        topics: patterns; only topics that match one are judged. None means all.
        skip_topics: patterns of topics that are left out.
        fail_on: least severity that lets the exit code be 1; "unknown" (as "error", and where a question of that
            severity or above stays unknown); or "never".
        baseline: a former output (JSON or JSON lines) whose findings are known, or None.
        known: those findings.
        former: the scan that wrote them, as ``former_scan`` reads it.
        config: the file all this comes from, or None.
        asks_repair: whether the baseline was named for this run alone, so that the exit code says whether producers can
            go back. A baseline in a setting is a list of known findings.
    """

    severities: Mapping[str, Severity] = field(default_factory=dict)
    disabled: frozenset[str] = frozenset()
    topics: tuple[str, ...] = ()
    skip_topics: tuple[str, ...] = ()
    fail_on: str = "error"
    baseline: str | None = None
    known: tuple[FormerFinding, ...] = ()
    former: FormerScan = field(default_factory=FormerScan)
    config: str | None = None
    asks_repair: bool = False

    def fails(self, worst: Severity | None, unknown: Severity | None) -> bool:
        """Return whether the exit code is 1.

        Args:
            worst: severity of the worst finding that is not known.
            unknown: the worst severity of any rule whose verdict is unknown.
        """
        if self.fail_on == NEVER:
            return False
        asked = (worst, unknown) if self.fail_on == UNKNOWN else (worst,)
        least = Severity.ERROR if self.fail_on == UNKNOWN else Severity(self.fail_on)
        return any(one is not None and one.rank <= least.rank for one in asked)

    def keeps_away(self, repair: Repair | None) -> Met:
        """Return what the exit code reports about producers: no is 1, unknown is 3, or 1 if unknown fails a run."""
        if repair is None or not self.asks_repair or self.fail_on == NEVER:
            return Met.YES
        return Met.NO if repair.met is Met.UNKNOWN and self.fail_on == UNKNOWN else repair.met


# -- from a file ----------------------------------------------------------------------------------------------------


def find(folder: Path, evidence: Iterable[str] = ()) -> tuple[Path | None, Path | None]:
    """Return the configuration of a folder, and one there that does not count because it is part of the evidence.

    That is ``forensics.toml``, else a ``pyproject.toml`` with a table ``[tool.forensics]``. Evidence is written by
    others: it cannot say which of its findings are shown. Its files are not even opened here.

    Args:
        folder: the working directory.
        evidence: paths that the user named.

    Raises:
        BadConfiguration: a ``pyproject.toml`` is not TOML.
    """
    given = list(evidence)
    for name, counts in ((FILE, lambda _: True), (PROJECT, _has_ours)):
        path = folder / name
        if not path.is_file():
            continue
        if evidence_around(path, given) is not None or evidence_around(folder, given) is not None:
            return None, path
        if counts(path):
            return path, None
    return None, None


def load(path: Path) -> Tuning:
    """Read a configuration.

    Args:
        path: ``forensics.toml``, or a ``pyproject.toml`` with a table ``[tool.forensics]``.

    Raises:
        BadConfiguration: the file cannot be read or is not TOML; a key or a rule is not known; a value is of the wrong
            kind. The text names file and key.
    """
    document = _toml(path)
    table = _ours(document, path) if path.name == PROJECT else document
    if table is None:
        raise BadConfiguration(f"{path}: has no table [tool.forensics]; add it, or name another file")
    prefix = "tool.forensics." if path.name == PROJECT else ""
    said: dict[str, Any] = {"config": str(path)}
    for key, value in table.items():
        where = f"{path}: {prefix}{key}"
        if key not in _KEYS:
            raise BadConfiguration(f"{where}: no such key{_near(key, _KEYS)}; there is {', '.join(_KEYS)}")
        name, read = _KEYS[key]
        said[name] = read(value, where)
    if said.get("baseline") is not None:
        said["baseline"] = str(path.parent / said["baseline"])
    return Tuning(**said)


def rule_id(name: str, where: str) -> str:
    """A rule's id, checked.

    Raises:
        BadConfiguration: there is no such rule.
    """
    ids = [rule.id for rule in RULES]
    if name not in ids:
        raise BadConfiguration(f"{where}: there is no rule {name!r}{_near(name, ids)}; see `forensics rules`")
    return name


def severity(name: str, where: str) -> Severity:
    """A severity, checked.

    Raises:
        BadConfiguration: there is no such severity.
    """
    try:
        return Severity(name)
    except ValueError:
        raise BadConfiguration(f"{where}: {name!r} is no severity; use one of {', '.join(Severity)}") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text(path, SETTINGS))
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}; name a file that can be read, or use --isolated") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfiguration(f"{path}: not TOML: {error}; correct it, or use --isolated") from None


def _has_ours(path: Path) -> bool:
    return _ours(_toml(path), path) is not None


def _ours(document: dict[str, Any], path: Path) -> dict[str, Any] | None:
    tool = document.get("tool")
    table = tool.get("forensics") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise BadConfiguration(f"{path}: tool.forensics: must be a table")
    return table


def _near(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadConfiguration(f'{where}: must be a list of texts, as in ["one", "two"]')
    return tuple(value)


def _rules(value: object, where: str) -> frozenset[str]:
    return frozenset(rule_id(name, where) for name in _texts(value, where))


def _severities(value: object, where: str) -> dict[str, Severity]:
    if not isinstance(value, dict):
        raise BadConfiguration(f'{where}: must be a table, as in [severity] with leo-regression = "warning"')
    return {rule_id(rule, where): severity(level, f"{where}.{rule}") for rule, level in value.items()}


def _fail_on(value: object, where: str) -> str:
    if value not in FAIL_ON:
        raise BadConfiguration(f"{where}: {value!r} is none of {', '.join(FAIL_ON)}")
    return str(value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise BadConfiguration(f'{where}: must be a text, as in {where.rpartition(".")[2].rpartition(": ")[2]} = "..."')
    return value


_KEYS = {
    "severity": ("severities", _severities),
    "disable": ("disabled", _rules),
    "topics": ("topics", _texts),
    "skip-topics": ("skip_topics", _texts),
    "fail-on": ("fail_on", _fail_on),
    "baseline": ("baseline", _text),
}


# -- applied --------------------------------------------------------------------------------------------------------


def tune(result: Result, tuning: Tuning) -> Result:
    """Apply the user's settings to a result."""
    partitions, told = result.partitions, result.whole().findings
    if tuning.severities or tuning.disabled or tuning.topics or tuning.skip_topics:
        partitions = _tuned(partitions, tuning)
        found = (f for p in partitions for judgement in p.judgements.values() for f in judgement.findings)
        told = sorted(found, key=lambda one: one.order)
    new, known, gone = _compared(told, tuning.known) if tuning.known else (told, [], 0)
    return replace(
        result,
        partitions=partitions,
        findings=new,
        known=known,
        changes=Changes(
            config=tuning.config,
            severities={rule.id: tuning.severities[rule.id] for rule in RULES if rule.id in tuning.severities},
            disabled=tuple(rule.id for rule in RULES if rule.id in tuning.disabled),
            topics=tuning.topics,
            skipped_topics=tuning.skip_topics,
            baseline=tuning.baseline,
            gone=gone,
        ),
        problems=[one for one in result.problems if one.topic is None or _wanted(one.topic, tuning)],
    )


def with_repair(result: Result, tuning: Tuning) -> Result:
    """Add what became of the findings of the baseline, if one is named; the rows of the result are in memory."""
    if tuning.baseline is None:
        return result
    evidence = partial(evidence_of, result.case)
    repair = since(
        tuning.baseline,
        tuning.known,
        result.partitions,
        result.findings,
        evidence,
        changed=has_changed(result.case, tuning.former),
    )
    now = clusters_of(result.case)
    if now and tuning.former.clusters and not now & tuning.former.clusters:
        repair = replace(repair, partitions=(), clusters=(tuple(sorted(tuning.former.clusters)), tuple(sorted(now))))
    return replace(result, repair=repair)


def _tuned(partitions: Iterable[Partition], tuning: Tuning) -> list[Partition]:
    """Return the partitions of the topics that are wanted, with the user's severities, worst first."""
    made: dict[int, Finding] = {}

    def rated(one: Judgement) -> Judgement:
        findings = tuple(made.setdefault(id(f), _rated(f, tuning.severities)) for f in one.findings)
        return replace(one, findings=findings)

    def judgements(partition: Partition) -> dict[str, Judgement]:
        asked = ((rule, one) for rule, one in partition.judgements.items() if rule not in tuning.disabled)
        return {rule: rated(one) if one.findings else one for rule, one in asked}

    wanted = (one for one in partitions if _wanted(one.history.topic, tuning))
    return sorted((Partition(one.history, judgements(one)) for one in wanted), key=lambda one: one.order)


def _wanted(topic: str, tuning: Tuning) -> bool:
    if tuning.topics and not matches(topic, tuning.topics):
        return False
    return not matches(topic, tuning.skip_topics)


def _rated(one: Finding, severities: Mapping[str, Severity]) -> Finding:
    wanted = severities.get(one.rule)
    if wanted is None or (one.severity is not rule_of(one.rule).severity and one.severity.rank >= wanted.rank):
        return one
    return replace(one, severity=wanted)


def _compared(told: Sequence[Finding], baseline: Iterable[FormerFinding]) -> tuple[list[Finding], list[Finding], int]:
    """Return the findings that a baseline lacks, those that it has, and how many of it were not found any more.

    A finding that became worse since then is new.
    """
    before = {one.fingerprint: one.severity for one in baseline}
    new: list[Finding] = []
    known: list[Finding] = []
    found = set()
    for one in told:
        fingerprint = one.fingerprint
        found.add(fingerprint)
        was = before.get(fingerprint)
        (known if was is not None and one.severity.rank >= was.rank else new).append(one)
    return new, known, len(before.keys() - found)
