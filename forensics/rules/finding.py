"""Results of rules: findings with their evidence, and a verdict of three values."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Final, TypedDict, Unpack

from forensics.case import Case, Origin
from forensics.replay.confidence import Bearer, Bearers, Confidence, Weakness, decides, weighed
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.inferences import Inferred
from forensics.replay.lineage import Range, size
from forensics.rules.causes import Cause, CauseId, cause_for
from forensics.rules.wants import Want


class Severity(StrEnum):
    """Severity of a finding, worst first."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANKS[self]


_RANKS: Final = {severity: rank for rank, severity in enumerate(Severity)}


class Verdict(StrEnum):
    """The answer of a rule for one partition. No evidence is never ``clean``."""

    VIOLATED = "violated"
    UNKNOWN = "unknown"
    CLEAN = "clean"
    NOT_APPLICABLE = "not applicable"  # the evidence is of a kind that cannot show it, such as bytes in a trace


@dataclass(frozen=True, slots=True)
class Evidence:
    """One piece of evidence.

    Attributes:
        path: file.
        sha256: its hash.
        line: 1-based line, or None.
        byte: 0-based byte, or None.
        text: text at that position.
        note: what it shows.
        broker: broker that logged it or owns the file, or None.
        artefact: format of the file.
        excerpt: the file is a piece of an excerpt.
        part: what of its broker wrote it; see ``Bearer``.
        beside: other files of its broker that hold the same line.
        bears: whether the finding rests on it.
    """

    path: str
    sha256: str | None
    line: int | None
    byte: int | None
    text: str
    note: str = ""
    broker: int | None = None
    artefact: str = ""
    excerpt: bool = False
    part: str = ""
    beside: tuple[str, ...] = ()
    bears: bool = True

    @property
    def bearer(self) -> Bearer:
        """The file, as it counts for a proof."""
        return Bearer(self.broker, self.artefact, self.path, self.excerpt, self.part, self.beside)


class States(StrEnum):
    """The value that a fact states, of those on which a finding rests."""

    STEP = "step"  # what happened, without one of these
    COMMITTED = "committed offset"
    TRUNCATION = "truncation point"
    LOG_END = "log end offset"
    EPOCH_START = "log end offset with which the leader began"
    HOLE = "hole in a log"
    CONTEXT = "context"  # nothing that the finding rests on: what else follows for the reader


@dataclass(frozen=True, slots=True)
class Fact:
    """One step of a finding's story.

    Attributes:
        text: what happened.
        broker: where, or None.
        time: when, microseconds since 1970 UTC, or None.
        refs: the evidence.
        states: the value that it states.
        isrs: each ISR that it names, and the eligible leader replicas if it names some, as sorted broker ids.
        general: the same for partitions to which the same happened, where its words name values of one; "" for the
            words themselves.
    """

    text: str
    broker: int | None = None
    time: int | None = None
    refs: tuple[Ref, ...] = ()
    states: States = States.STEP
    isrs: tuple[tuple[int, ...], ...] = ()
    general: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do.

    Attributes:
        text: what, as an imperative; it ends with a colon where a command follows.
        command: the shell command that does it, to be pasted as it is; or None.
        on_evidence: the same over the evidence that was scanned, with ``EVIDENCE`` where its paths belong; None where
            there is no such command. ``salvage_paths`` puts it into the place of the command.
        general: what it is for any partition, where its words name values of one; "" for the words themselves.
    """

    text: str
    command: str | None = None
    on_evidence: str | None = None
    general: str = ""

    @property
    def sentence(self) -> str:
        """Text and command as one sentence.

        >>> Action("read it:", "cd copy").sentence, Action("stop broker 1").sentence
        ('read it: cd copy', 'stop broker 1')
        """
        return self.text if self.command is None else f"{self.text} {self.command}"


HERE: Final = "\0"
"""Advice has it where the name of the partition belongs. No path and no name of a topic can contain it."""


WHEN: Final = "\1"
"""Advice has it where a span of time of the incident belongs, such as ``between 12:00:01 and 12:00:09 UTC``."""


LOST: Final = "\2"
"""Advice has it where options of a command belong that name the lost offsets, such as ``--offsets 50..80``, or
``--offsets 50..`` to the end of the log."""


EVIDENCE: Final = "\3"
"""A command has it where the paths of the evidence belong, which a rule does not know."""


TOPIC: Final = "\4"
"""A command has it where the topic of the partition belongs, as a shell reads it."""


NUMBER: Final = "\5"
"""A command has it where the number of the partition within its topic belongs."""


FIRST: Final = "\6"
"""Advice has it where the offset belongs at which a consumer group is to begin again."""


class Advised(TypedDict):
    """The fields of a finding that advise."""

    keep: str | None
    next_steps: tuple[Action, ...]
    do_not: tuple[str, ...]
    advice: tuple[str | None, ...]
    when: str
    written: tuple[int, int] | None
    reset_to: int | None


class Values(TypedDict, total=False):
    """Values of a partition that advice names.

    Attributes:
        when: the span of time that takes the place of ``WHEN``.
        written: the same in microseconds since 1970 UTC.
        lost: the offsets that take the place of ``LOST``: half-open ranges, of which the last may have no end.
        reset_to: the offset that takes the place of ``FIRST``.
    """

    when: str
    written: tuple[int, int] | None
    lost: Iterable[tuple[int, int | None]]
    reset_to: int | None


def advised(
    name: str,
    *,
    keep: str | None = None,
    next_steps: Iterable[str | Action] = (),
    do_not: Iterable[str] = (),
    **values: Unpack[Values],
) -> Advised:
    """Return the fields that advise, with the name of the partition, and the advice as it holds for any partition.

    Args:
        name: topic and partition, as ``orders-0``.
        keep: which copy to keep.
        next_steps: safe actions, first first; those without a command are given by their text.
        do_not: actions that would destroy evidence or the last copy.
        values: what else they name of the partition.

    All of them name the partition by ``HERE`` alone, its topic by ``TOPIC``, and its number by ``NUMBER``.

    >>> advised("orders-0", keep=f"broker 1's copy of {HERE}")["keep"]
    "broker 1's copy of orders-0"
    """
    return Advice(keep=keep, next_steps=next_steps, do_not=do_not).of(name, **values)


class Advice:
    """Advice as it holds for any partition; what it names of the partition is left open, as in ``advised``.

    Args:
        keep, next_steps, do_not: as ``advised`` takes them.
    """

    def __init__(
        self, *, keep: str | None = None, next_steps: Iterable[str | Action] = (), do_not: Iterable[str] = ()
    ) -> None:
        self._keep = keep
        self._steps = tuple(step if isinstance(step, Action) else Action(step) for step in next_steps)
        self._never = tuple(do_not)
        self._general = (keep, *(step.sentence for step in self._steps), None, *self._never)

    def of(self, name: str, **values: Unpack[Values]) -> Advised:
        """Return the fields that advise about a partition. What names nothing of it is the same object for all.

        Args:
            name, values: as ``advised`` takes them.
        """
        when, reset_to = values.get("when", ""), values.get("reset_to")
        topic, _, number = name.rpartition("-")
        given = {
            HERE: name,
            WHEN: when,
            LOST: " ".join(f"--offsets {first}..{'' if end is None else end}" for first, end in values.get("lost", ())),
            TOPIC: shlex.quote(topic),
            NUMBER: number,
            FIRST: str(reset_to) if reset_to is not None else "",
        }
        named = partial(_filled, given=given)
        return Advised(
            keep=named(self._keep) if self._keep is not None else None,
            next_steps=tuple(_step(step, named) for step in self._steps),
            do_not=tuple(map(named, self._never)),
            advice=self._general,
            when=when,
            written=values.get("written"),
            reset_to=reset_to,
        )


def _filled(general: str, given: Mapping[str, str]) -> str:
    for left_open, value in given.items():
        general = general.replace(left_open, value)
    return general


def _step(step: Action, named: Callable[[str], str]) -> Action:
    """Return a step with what it leaves open filled in."""
    text = named(step.text)
    if step.command is None and step.on_evidence is None:
        return step if text == step.text else replace(step, text=text)
    command, on_evidence = (named(one) if one is not None else None for one in (step.command, step.on_evidence))
    return replace(step, text=text, command=command, on_evidence=on_evidence)


class Place(TypedDict):
    """The fields of a finding that name an incarnation of a partition, and the origin of its evidence."""

    topic: str
    partition: int
    topic_id: str | None
    cluster: str | None
    incarnation: int
    origin: Origin
    controllers: tuple[int, ...]


def sourced(text: str, source: str, origin: Origin) -> str:
    """Return a sentence about what brokers do, with its source in Kafka where the brokers are of Kafka.

    >>> sourced("it truncates to its own end", "KIP-279", Origin.FILES)
    'it truncates to its own end (KIP-279)'
    """
    return f"{text} ({source})" if origin.of_kafka else text


def place(history: History) -> Place:
    """Return the fields that name a history's partition."""
    return Place(
        topic=history.topic,
        partition=history.partition,
        topic_id=history.topic_id,
        cluster=history.cluster,
        incarnation=history.incarnation,
        origin=history.origin,
        controllers=tuple(sorted(history.controllers)),
    )


@dataclass(frozen=True, slots=True)
class GroupReset:
    """A consumer group that has read lost records.

    Attributes:
        group: its name.
        position: that it committed last.
        restart: offset from which it should restart.
    """

    group: str
    position: int
    restart: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation, or one piece of information.

    Attributes:
        rule: id of the rule.
        severity: how bad.
        topic, partition, topic_id, cluster: where.
        origin: where the evidence of it comes from, which decides the words for causes and advice.
        controllers: nodes with a replica that are controllers and no brokers.
        replicas: brokers it concerns.
        epochs: leader epochs it concerns.
        offsets: half-open ranges.
        open_from: first offset that it is about, where it names no offsets because their end is unknown; or None.
        records: least and greatest number of records, the latter None if unknown; None if it does not apply.
        maybe_to: offset below which all is that may be lost besides, where that is known; or None.
        summary: one sentence.
        did: the summary without the replica that it begins with, where several replicas may have done the same; or "".
        facts: the story, in causal order.
        before, after: values that changed, by name.
        inferences: conclusions from the protocol that were not read from evidence.
        rests_on: ids of the inferences on which its values rest, as docs/how-it-judges.md lists them.
        uncertain: what the evidence leaves open about this finding.
        unproven: why it is not proven, where that follows from the files that show it.
        not_because: legal look-alikes that were ruled out, and why.
        cause: see ``causes.CAUSES``; None where records did not go.
        keep: which copy to keep, or None.
        no_copy: records may be gone, and no copy in the evidence has them.
        next_steps: safe actions, first first.
        do_not: actions that would destroy evidence or the last copy.
        groups: consumer groups that have read lost records, with the offset from which each should restart.
        when: the span of time that its advice names; "" for none.
        written: the same, microseconds since 1970 UTC; or None.
        reset_to: the offset at which a step lets consumer groups begin again; or None.
        advice: these three as they hold for any partition (``advised``), to see which partitions need the same.
        count: how many times the same happened.
        subject: what distinguishes it from others of the same rule, place, replicas, epochs and offsets.
        weak: what is weak about it: why it is not proven.
        evidence: the place behind each reference of the facts.
    """

    rule: str
    severity: Severity
    topic: str
    partition: int
    summary: str
    topic_id: str | None = None
    cluster: str | None = None
    incarnation: int = 0
    origin: Origin = Origin.FILES
    controllers: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()
    epochs: tuple[int, ...] = ()
    offsets: tuple[Range, ...] = ()
    open_from: int | None = None
    records: tuple[int, int | None] | None = None
    maybe_to: int | None = None
    did: str = ""
    facts: tuple[Fact, ...] = ()
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    inferences: tuple[str, ...] = ()
    rests_on: tuple[Inferred, ...] = ()
    uncertain: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    not_because: tuple[str, ...] = ()
    cause: CauseId | None = None
    keep: str | None = None
    no_copy: bool = False
    next_steps: tuple[Action, ...] = ()
    do_not: tuple[str, ...] = ()
    groups: tuple[GroupReset, ...] = ()
    advice: tuple[str | None, ...] = ()
    when: str = ""
    written: tuple[int, int] | None = None
    reset_to: int | None = None
    count: int = 1
    subject: str = ""
    weak: tuple[Weakness, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Stable between scans of the same incident: rule, place, replicas, epochs, offsets and subject."""
        parts = (
            self.rule,
            self.cluster,
            self.topic_id or self.topic,
            self.partition,
            # the number of later incarnations may change, a topic id does not
            self.incarnation if self.topic_id is None else 0,
            self.replicas,
            self.epochs,
            self.offsets,
            *([self.subject] if self.subject else []),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]

    @property
    def known_cause(self) -> Cause | None:
        """The cause in the words of the system that the evidence is of, if there is one."""
        return cause_for(self.cause, self.origin) if self.cause is not None else None

    @property
    def confidence(self) -> Confidence:
        """Proven, inferred or suspected; the verdict of a rule that only suspects is unknown."""
        return weighed(self.weak)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Return all doubts: what the evidence leaves open, then why the finding is not proven."""
        return (*self.uncertain, *self.unproven)

    @property
    def general_steps(self) -> dict[str, Action]:
        """Return the next steps by what they are for any partition."""
        texts = (text for text in self.advice[1:] if text is not None)
        return {step.general or text: step for text, step in zip(texts, self.next_steps, strict=False)}

    @property
    def refs(self) -> tuple[Ref, ...]:
        """All evidence, in the order of the facts, each piece once."""
        return tuple(dict.fromkeys(ref for fact in self.facts for ref in fact.refs))

    @property
    def values(self) -> dict[States, tuple[Ref, ...]]:
        """The evidence of each value that the facts state."""
        found: dict[States, dict[Ref, None]] = {}
        for fact in self.facts:
            found.setdefault(fact.states, {}).update(dict.fromkeys(fact.refs))
        return {states: tuple(refs) for states, refs in found.items()}

    @property
    def bearers(self) -> tuple[Bearer, ...]:
        """The files that show the values on which the finding rests: which files of which brokers, each once."""
        return tuple(dict.fromkeys(one.bearer for one in self.evidence if one.bears))

    @property
    def lines(self) -> tuple[int, ...]:
        """How many lines or batches show each fact on which the finding rests."""
        resting = (fact for fact in self.facts if fact.states is not States.CONTEXT)
        return tuple(len({(ref.row, ref.source, ref.byte) for ref in fact.refs}) for fact in resting)

    @property
    def span(self) -> tuple[int | None, int | None]:
        """First and last time of the facts."""
        times = [fact.time for fact in self.facts if fact.time is not None]
        return (min(times), max(times)) if times else (None, None)

    @property
    def order(self) -> tuple[object, ...]:
        """A total order: worst first, then by place."""
        return (
            self.severity.rank,
            self.cluster or "",
            self.topic,
            self.partition,
            self.incarnation,
            self.rule,
            self.offsets,
            self.replicas,
            self.epochs,
            self.summary,
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """A rule's answer for one partition.

    Attributes:
        rule: its id.
        verdict: violated, clean, unknown, or not applicable.
        findings: what it found; ``clean`` may come with warnings and infos.
        missing: what is not known, and the evidence that would show it (``wording.want_text``), each once.
    """

    rule: str
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    missing: tuple[Want, ...] = ()

    def with_each(self, changed: Callable[[Finding], Finding]) -> Judgement:
        """Return the answer with what is made of each finding; itself where nothing changes."""
        findings = tuple(map(changed, self.findings))
        same = all(one is before for one, before in zip(findings, self.findings, strict=True))
        return self if same else replace(self, findings=findings)


def with_each(answers: Iterable[Judgement], changed: Callable[[Finding], Finding]) -> list[Judgement]:
    """Return answers with what is made of each of their findings."""
    return [one.with_each(changed) if one.findings else one for one in answers]


def judgement(rule: str, findings: Iterable[Finding], missing: Iterable[Want]) -> Judgement:
    """Return the answer of a rule: violated with findings, else unknown if something is missing, else clean.

    What is only suspected decides nothing.
    """
    found, wanted = tuple(findings), tuple(dict.fromkeys(missing))
    decided = any(decides(finding.confidence) for finding in found)
    verdict = Verdict.VIOLATED if decided else Verdict.UNKNOWN if wanted else Verdict.CLEAN
    return Judgement(rule, verdict, found, wanted)


class Part(StrEnum):
    """One part of the explanation of a rule. Its value is the heading."""

    FINDS = "What it finds"
    MATTERS = "Why it matters"
    EVIDENCE = "Evidence"
    NOT_WHEN = "Not a finding when"
    VERSIONS = "Versions"
    TO_DO = "What to do"


@dataclass(frozen=True, slots=True)
class Help:
    """The explanation of a rule: under each heading the paragraphs, in lines as a terminal shows them.

    Code is between pairs of backquotes.
    """

    finds: tuple[str, ...]
    matters: tuple[str, ...]
    evidence: tuple[str, ...]
    not_when: tuple[str, ...]
    versions: tuple[str, ...]
    to_do: tuple[str, ...]

    @property
    def parts(self) -> dict[Part, tuple[str, ...]]:
        """The paragraphs by heading, in the order shown."""
        return {
            Part.FINDS: self.finds,
            Part.MATTERS: self.matters,
            Part.EVIDENCE: self.evidence,
            Part.NOT_WHEN: self.not_when,
            Part.VERSIONS: self.versions,
            Part.TO_DO: self.to_do,
        }

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(f"## {part}\n" + "\n\n".join(texts) for part, texts in self.parts.items())


NO_ISR = "the trace states no ISR"
"""Why rules about the ISR are not applicable to a trace."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One invariant.

    Attributes:
        id: its name, the bad pattern in words.
        severity: of its worst finding.
        judge: gives the answer for one partition.
        summary: what it finds, in one sentence.
        help: what explains it.
        bearers: what a proof of its findings takes.
        about_files: it asks what bytes and directories hold, so that a trace cannot answer.
        about_records: it compares records, so that a trace answers only if it states every append of every replica.
        about_isr: it compares with the ISR, so that a complete trace answers only if it states one.
        not_applicable: why it is not applicable, where it is not.
        words: what a violation is, in a few words, if the id has abbreviations.
        elsewhere: takes an answer and returns what gives the same one for other partitions, of which no more is known;
            None if such a partition has to be judged by itself.
    """

    id: str
    severity: Severity
    judge: Callable[[History, Case], Judgement]
    summary: str
    help: Help
    bearers: Bearers = Bearers.TWO
    about_files: bool = False
    about_records: bool = False
    about_isr: bool = False
    not_applicable: str = "a trace has no bytes and no files"
    words: str = ""
    elsewhere: Callable[[Judgement], Callable[[History], Judgement]] | None = None

    @property
    def title(self) -> str:
        """The name of a violation in a headline: the words of the id, by which ``forensics explain`` finds it."""
        return f"{self.words.upper()} ({self.id})" if self.words else self.id.replace("-", " ").upper()

    @property
    def heading(self) -> str:
        """The title with a capital letter at its beginning and in abbreviations alone."""
        return sentence(self.name if self.words else self.id.replace("-", " ")).removesuffix(".")

    @property
    def phrase(self) -> str:
        """The name of a violation in words alone, within a sentence."""
        return self.words or self.id.replace("-", " ")

    @property
    def label(self) -> str:
        """The name of a violation in words alone, with a capital letter at its beginning."""
        return sentence(self.phrase).removesuffix(".")

    @property
    def name(self) -> str:
        """The id, after a few words for it if it has abbreviations."""
        return f"{self.words} ({self.id})" if self.words else self.id


def sentence(text: str, *, capital: bool = True) -> str:
    """Return a text as a sentence, with its full stop; "" for no text. A partition at its beginning stays as it is.

    >>> sentence("broker 1 truncated its log"), sentence("hw-above-leo: x.", capital=False)
    ('Broker 1 truncated its log.', 'hw-above-leo: x.')
    >>> sentence("pay-events-0 has no leader")
    'pay-events-0 has no leader.'
    >>> sentence("")
    ''
    """
    if not text:
        return ""
    named = text.split(" ", 1)[0].rpartition("-")[2].isdecimal()
    first = text[:1].upper() if capital and not named else text[:1]
    return f"{first}{text[1:]}{'' if text.endswith(('.', ':', '?')) else '.'}"


MOST_RANGES: Final = 10
"""So many ranges of offsets are named in a sentence. ``Finding.offsets`` has all of them."""


def span_text(ranges: tuple[Range, ...] | list[Range]) -> str:
    """Offsets in words, with both ends; of many ranges the first ones, and where the last one ends.

    >>> span_text([(50, 80), (90, 91)])
    '50 to 79, 90'
    >>> span_text([(at, at + 1) for at in range(0, 40, 2)])
    '0, 2, 4, 6, 8, 10, 12, 14, 16, 18 and 10 more ranges up to 38'
    """
    shown = ranges[:MOST_RANGES]
    text = ", ".join(f"{first} to {end - 1}" if end - first > 1 else f"{first}" for first, end in shown)
    left = len(ranges) - len(shown)
    return f"{text} and {left:,} more range{'' if left == 1 else 's'} up to {ranges[-1][1] - 1}" if left else text


def offsets_text(ranges: tuple[Range, ...] | list[Range]) -> str:
    """Offsets in words, with their noun.

    >>> offsets_text([(50, 80)]), offsets_text([(1, 2)])
    ('offsets 50 to 79', 'offset 1')
    """
    return f"offset{'' if size(ranges) == 1 else 's'} {span_text(ranges)}"


def epoch_text(number: int) -> str:
    """Return a leader epoch in words, also if it is unknown."""
    return f"leader epoch {number}" if number >= 0 else "an unknown leader epoch (no log line names it)"


LOG: Final[Mapping[bool, str]] = MappingProxyType({False: "the partition", True: "the metadata log"})
"""Names of what lost records: of a partition of a topic, and of the metadata log."""


def brokers_text(nodes: Sequence[int], controllers: Collection[int] = ()) -> str:
    """Brokers in words, and controllers beside them.

    Args:
        nodes: their ids.
        controllers: nodes that are controllers and no brokers; see ``History.controllers``.

    >>> brokers_text([1]), brokers_text([2, 3]), brokers_text([1, 2, 3])
    ('broker 1', 'brokers 2 and 3', 'brokers 1, 2 and 3')
    >>> brokers_text([1, 2, 101], {101, 102})
    'brokers 1 and 2 and controller 101'
    """
    kinds = {
        "broker": [str(node) for node in nodes if node not in controllers],
        "controller": [str(node) for node in nodes if node in controllers],
    }
    named = [f"{kind}{'' if len(ids) == 1 else 's'} {all_of(ids)}" for kind, ids in kinds.items() if ids]
    return " and ".join(named)


def all_of(things: Sequence[str]) -> str:
    """Return several things in words.

    >>> all_of([]), all_of(["a"]), all_of(["a", "b", "c"])
    ('', 'a', 'a, b and c')
    """
    if not things:
        return ""
    return " and ".join(filter(None, (", ".join(things[:-1]), things[-1])))


def any_of(nodes: Sequence[int]) -> str:
    """Return one of several nodes in words.

    >>> any_of([1]), any_of([1, 3]), any_of([1, 2, 3])
    ('1', '1 or 3', '1, 2 or 3')
    """
    ids = [*map(str, nodes)]
    return " or ".join(filter(None, (", ".join(ids[:-1]), *ids[-1:])))


def count_text(ranges: tuple[Range, ...] | list[Range]) -> str:
    """Return the number of offsets, in words."""
    number = size(ranges)
    return f"{number:,} offset{'' if number == 1 else 's'}"


def counted_text(ranges: tuple[Range, ...] | list[Range]) -> str:
    """Return offsets in words, with their number if they are several ranges.

    >>> counted_text([(50, 80)]), counted_text([(1, 3), (5, 6)])
    ('offsets 50 to 79', 'offsets 1 to 2, 5 (3 offsets)')
    """
    return offsets_text(ranges) if len(ranges) == 1 else f"{offsets_text(ranges)} ({count_text(ranges)})"


def perhaps_text(end: int | None) -> str:
    """Return that more may be lost than is shown, and up to where, if that is known.

    >>> perhaps_text(None), perhaps_text(297)
    (', perhaps more', ', perhaps to offset 296')
    """
    return ", perhaps more" if end is None else f", perhaps to offset {end - 1}"


def records_text(least: int, most: int) -> str:
    """Return the number of records, in words.

    >>> records_text(1, 1), records_text(0, 6)
    ('1 record', '0 to 6 records')
    """
    if least == most:
        return f"{least:,} record{'' if least == 1 else 's'}"
    return f"{least:,} to {most:,} records"
