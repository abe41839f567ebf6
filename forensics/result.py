"""Result of a scan: what engines make and reports show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from forensics.case import quotes
from forensics.case.partial import IN_EXCERPT
from forensics.case.quotes import Place
from forensics.replay.confidence import LOG_IN_TRACE
from forensics.rules import RULES
from forensics.rules.finding import Evidence, Finding, Judgement, Severity, Verdict, with_each
from forensics.rules.proof import dated, proved
from forensics.rules.stated_problems import Problem, stated
from forensics.rules.wants import Question
from forensics.salvage_paths import SalvagePaths
from parsers.formats.metadata_log import NAME as METADATA_LOG
from parsers.formats.offset_checkpoint import NAME as OFFSET_CHECKPOINT
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages import MESSAGES
from parsers.messages.logs import LOG_OF
from parsers.plugins import Plugin, installed
from parsers.read import FAILED, TAKERS
from parsers.text.broker_log import NAME as LOG

if TYPE_CHECKING:
    from forensics.case import Case
    from forensics.repaired.since import Repair
    from forensics.replay.facts.directory import Ref
    from forensics.replay.history import History


@dataclass(slots=True)
class Partition:
    """One incarnation of a partition with the answer of every rule.

    Attributes:
        history: what replay found.
        judgements: by rule id, in the order of the rules.
    """

    history: History
    judgements: dict[str, Judgement]

    @property
    def worst(self) -> int:
        """Rank of its worst finding; past the last severity when it has none."""
        ranks = [f.severity.rank for j in self.judgements.values() for f in j.findings]
        return min(ranks, default=len(Severity))

    @property
    def failed(self) -> bool:
        """Return whether this program failed on it, so that its verdicts do not show what the evidence shows."""
        wanted = (want for judgement in self.judgements.values() for want in judgement.missing)
        return any(want.question is Question.PROGRAM_REPAIRED for want in wanted)

    @property
    def order(self) -> tuple[object, ...]:
        """A total order: worst first, then by name."""
        one = self.history
        return (self.worst, one.cluster or "", one.topic, one.partition, one.incarnation)

    def verdicts(self, verdict: Verdict) -> list[str]:
        """Return the rules with a verdict."""
        return [rule for rule, judgement in self.judgements.items() if judgement.verdict is verdict]


@dataclass(frozen=True, slots=True)
class SameAnswers:
    """Partitions for which each rule has the same answer, except the names and values in its findings.

    Attributes:
        first: the first of them.
        places: the positions of all of them among the partitions of a result, rising.
    """

    first: Partition
    places: list[int]


def _sameness(one: Partition) -> tuple[object, ...]:
    """Return what partitions with the same answers have in common. Equal answers without findings are one object."""
    answers = (
        (answer.rule, answer.verdict, id(answer.missing), *((f.severity, f.confidence) for f in answer.findings))
        if answer.findings
        else id(answer)
        for answer in one.judgements.values()
    )
    return (one.history.incarnation > 0, *answers)


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes by the user's settings, applied between rules and reports. Reports show them, so that no reader is
    misled.

    Attributes:
        config: the configuration file that was read, or None.
        severities: severity given to a rule, by its id.
        disabled: rules that were not asked, in the order of the rules.
        topics, skipped_topics: patterns that topics had to match, and must not match.
        baseline: file with the findings that are known, or None.
        gone: how many findings of that file were not found any more.
    """

    config: str | None = None
    severities: dict[str, Severity] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    skipped_topics: tuple[str, ...] = ()
    baseline: str | None = None
    gone: int = 0


def plugins_asked() -> tuple[Plugin, ...]:
    """Return the plugins of this process, after all that change an answer were loaded: so what is wrong is known."""
    found = installed()
    if found:
        for table in (TAKERS, MESSAGES, RULES):
            len(table)
        found = installed()
    return found


@dataclass(slots=True)
class Result:
    """A finished scan.

    Attributes:
        inputs: paths as the user gave them.
        case: the evidence.
        partitions: every partition, worst first, then by name.
        findings: every finding with its evidence, worst first.
        quote: returns the text at places of the evidence, for reports that read it again.
        known: findings that a baseline hides: in the judgements, but not in ``findings``.
        changes: what the user's settings changed.
        problems: known problems that single lines state, whatever the verdicts are; errors first.
        repair: what became of the findings of a baseline, if it was asked for.
        redacted: whether names are replaced by pseudonyms.
        plugins: what other packages added when the evidence was judged: they change answers.
    """

    inputs: tuple[str, ...]
    case: Case
    partitions: list[Partition]
    findings: list[Finding] = field(default_factory=list)
    quote: Callable[[Case, Iterable[Place]], dict[Place, str]] = quotes.quote
    known: list[Finding] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    problems: list[Problem] = field(default_factory=list)
    repair: Repair | None = None
    redacted: bool = False
    plugins: tuple[Plugin, ...] = field(default_factory=plugins_asked)
    _same: list[SameAnswers] | None = field(default=None, init=False, repr=False, compare=False)
    _members: dict[tuple[int, ...], list[Partition]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def same_answers(self) -> Sequence[SameAnswers]:
        """The partitions by their answers: of hundreds of thousands, few have an answer of their own."""
        if self._same is None:
            groups: dict[tuple[object, ...], SameAnswers] = {}
            for place, one in enumerate(self.partitions):
                groups.setdefault(_sameness(one), SameAnswers(one, [])).places.append(place)
            self._same = list(groups.values())
        return self._same

    def having(self, holds: Callable[[Partition], bool]) -> Sequence[Partition]:
        """Return the partitions of which something holds, in their order; the same list where they are the same.

        Args:
            holds: asked of one of those with the same answers. It must depend on these, and on whether the topic was
                created again, alone.
        """
        return self.members(tuple(number for number, one in enumerate(self.same_answers) if holds(one.first)))

    def members(self, groups: tuple[int, ...]) -> Sequence[Partition]:
        """Return the partitions of some of ``same_answers``, in their order; the same list for the same groups.

        Args:
            groups: their numbers, rising.
        """
        if groups not in self._members:
            places = sorted(place for number in groups for place in self.same_answers[number].places)
            self._members[groups] = [self.partitions[place] for place in places]
        return self._members[groups]

    @property
    def worst(self) -> Severity | None:
        """Severity of the worst finding that is not known, or error where a line states a known problem so severe."""
        return self.with_problems(self.findings[0].severity if self.findings else None)

    def with_problems(self, worst: Severity | None) -> Severity | None:
        """The worse of a severity and of error, where a line states a known problem so severe."""
        errors = [Severity.ERROR for one in self.problems if one.known.severity is Severity.ERROR]
        found = [*([worst] if worst is not None else []), *errors[:1]]
        return min(found, key=lambda one: one.rank, default=None)

    @property
    def unknown(self) -> Severity | None:
        """The worst severity of any rule whose verdict is unknown for a partition."""
        severities = {rule.id: rule.severity for rule in RULES}
        verdicts = (judgement for same in self.same_answers for judgement in same.first.judgements.values())
        open_ = {severities[one.rule] for one in verdicts if one.verdict is Verdict.UNKNOWN}
        return min(open_, key=lambda one: one.rank, default=None)

    @property
    def failures(self) -> tuple[int, int]:
        """On how many files and on how many partitions this program failed: nothing was concluded from them."""
        files = self.case.sources.filter(pl.col("format") == FAILED).height
        return files, sum(len(same.places) for same in self.same_answers if same.first.failed)

    @property
    def left_out(self) -> list[str]:
        """Return a sentence for each thing of a plugin that could not be used."""
        return [said for plugin in self.plugins for said in plugin.problems]

    def whole(self) -> Result:
        """The same with known findings among the findings: for reports of what happened, not of what is new."""
        if not self.known:
            return self
        return replace(self, findings=sorted([*self.findings, *self.known], key=lambda f: f.order), known=[])


def finish(inputs: Sequence[str], case: Case, judged: Sequence[tuple[History, Sequence[Judgement]]]) -> Result:
    """Order everything and attach the evidence behind each fact."""
    findings = [finding for _, judgements in judged for judgement in judgements for finding in judgement.findings]
    refs = {ref for finding in findings for ref in finding.refs}
    evidence, times = evidence_of(case, refs), times_of(case, refs)

    def proven(finding: Finding) -> Finding:
        return proved(dated(finding, times), evidence)

    shown = ((history, with_each(found, proven)) for history, found in judged)
    return replace(ordered(inputs, case, shown), problems=problems_of(case))


def times_of(case: Case, refs: Iterable[Ref]) -> dict[int, int]:
    """Return the times of the lines behind some references, microseconds since 1970 UTC, by row.

    A batch of the metadata log has the time at which its controller decided; other files have no such time.
    """
    rows = {ref.row for ref in refs if ref.row is not None}
    timed = pl.col("line").is_not_null() | (pl.col("message") == METADATA_LOG)
    cited = case.observations.filter(pl.col("row").is_in(rows) & timed)
    return dict(cited.select("row", pl.col("time").cast(pl.Int64)).drop_nulls().iter_rows())


def problems_of(case: Case) -> list[Problem]:
    """Known problems that the lines of a case state, with the first lines of each."""
    found = stated(case)
    evidence = evidence_of(case, {ref for one in found for ref in one.refs}) if found else {}
    return [replace(one, evidence=tuple(evidence[ref] for ref in one.refs if ref in evidence)) for one in found]


def ordered(inputs: Sequence[str], case: Case, judged: Iterable[tuple[History, Sequence[Judgement]]]) -> Result:
    """A result of judgements whose findings have their evidence."""
    paths = SalvagePaths(inputs, case)
    partitions = [
        Partition(history, {answer.rule: answer for answer in paths.filled(found)}) for history, found in judged
    ]
    partitions.sort(key=lambda one: one.order)
    whole = [f for p in partitions for j in p.judgements.values() for f in j.findings]
    return Result(tuple(inputs), case, partitions, sorted(whole, key=lambda finding: finding.order))


def evidence_of(case: Case, refs: set[Ref]) -> dict[Ref, Evidence]:
    """Return what is at places of the evidence, with the texts."""
    where = located(case, refs)
    texts = quotes.quote(case, where.values())
    hashes = {source: _hash(case, source) for source in {place.source for place in where.values()}}
    borne = borne_by(case, where)
    return {
        ref: Evidence(case.path(p.source), hashes[p.source], p.line, p.byte, texts.get(p, ""), ref.note, *borne[ref])
        for ref, p in where.items()
    }


class Source(NamedTuple):
    """The source of a piece of evidence, as ``Evidence`` has it."""

    broker: int | None
    artefact: str
    excerpt: bool
    part: str = ""
    beside: tuple[str, ...] = ()


def borne_by(case: Case, where: Mapping[Ref, Place]) -> dict[Ref, Source]:
    """The source of each piece of evidence."""
    files = {
        number: Source(broker, name, piece)
        for number, broker, name, piece in case.sources.select("id", "broker", "format", IN_EXCERPT).iter_rows()
    }
    rows = {ref.row for ref in where if ref.row is not None}
    cited = case.observations.filter(pl.col("row").is_in(rows))
    said = {row: (broker, message) for row, broker, message in cited.select("row", "broker", "message").iter_rows()}
    beside = _beside(case, cited)
    found = {}
    for ref, place in where.items():
        source = files[place.source]
        if ref.row is not None:
            broker, message = said.get(ref.row, (None, None))
            repeated = source.artefact == TRACE and message in LOG_OF
            artefact = LOG_IN_TRACE if repeated else source.artefact
            source = Source(broker, artefact, source.excerpt, _part(artefact, message))
            source = source._replace(beside=beside.get(ref.row, ()))
        found[ref] = source
    return found


def _part(artefact: str, message: str | None) -> str:
    """Return the part of its broker that wrote a line; see ``Bearer``."""
    if artefact in (LOG, LOG_IN_TRACE):
        return LOG_OF.get(message or "", "")
    return message or "" if artefact == OFFSET_CHECKPOINT else ""


_SAME_LINE = (
    *("broker", "time", "kind", "message", "topic", "partition", "replica", "leader", "leader_epoch", "offset", "hw"),
    *("leo", "log_start", "isr", "log_dir", "detail"),
)


def _beside(case: Case, cited: pl.DataFrame) -> dict[int, tuple[str, ...]]:
    """Other files that hold the same line of the same broker, by row."""
    cited = cited.filter(pl.all_horizontal(pl.col("line", "time", "broker").is_not_null()))
    if cited.is_empty():
        return {}
    times = cited.get_column("time").unique().implode()
    alike = case.observations.filter(pl.col("time").is_in(times)).select("source", *_SAME_LINE)
    pairs = (
        cited.select("row", "source", *_SAME_LINE)
        .join(alike, on=_SAME_LINE, how="inner", nulls_equal=True)
        .filter(pl.col("source") != pl.col("source_right"))
        .select("row", "source_right")
        .unique()
        .sort("row", "source_right")
    )
    paths: dict[int, str] = dict(case.sources.select("id", "path").iter_rows())
    found: dict[int, tuple[str, ...]] = {}
    for row, source in pairs.iter_rows():
        found[row] = (*found.get(row, ()), paths[source])
    return found


def located(case: Case, refs: set[Ref]) -> dict[Ref, Place]:
    """Return the place of each piece of evidence."""
    rows = quotes.places(case, (ref.row for ref in refs if ref.row is not None))
    where: dict[Ref, Place] = {}
    for ref in refs:
        if ref.row is not None:
            if ref.row in rows:
                where[ref] = rows[ref.row]
        elif ref.source is not None:
            where[ref] = Place(ref.source, None, ref.byte)
    return where


def _hash(case: Case, source: int) -> str | None:
    try:
        return case.files[source].sha256()
    except OSError:
        return None
