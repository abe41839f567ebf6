"""One table of the files to collect: from which broker, for what span, and who needs them for which question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forensics.case import Origin
from forensics.case.trace_clusters import cluster_text
from forensics.replay.lineage import Range
from forensics.reports import collecting
from forensics.reports.answer import present
from forensics.reports.html.wording import Namer, namer, number, offsets, plain
from forensics.reports.titles import first_names
from forensics.result import Partition, Result
from forensics.rules import ranks
from forensics.rules.finding import Verdict
from forensics.rules.trace_wording import kinds_text
from forensics.rules.wants import Artefact, Collect, Want
from forensics.rules.wording import CLIENTS, want_text

ROWS, SENTENCES, NAMED, SPANS, COMMANDS, QUESTIONS = 24, 12, 3, 3, 12, 4
"""Rows of the table, wants in sentences, partitions and spans named in a row, commands and questions shown."""

_SPOKEN = {
    Artefact.DATA_DIRECTORY: "the partition's data directory",
    Artefact.CLIENTS: CLIENTS,
    Artefact.OPERATORS: "what operators did, and when",
}
"""Artefacts that are no file of that name."""


_Positions = Mapping[str | None, tuple[int, ...]]
"""As ``collecting.with_positions`` gives them."""


@dataclass(frozen=True, slots=True)
class Row:
    """One file of one broker, or of several that are needed together.

    Attributes:
        broker: whose, in words.
        files: what to collect; ``instead`` names what would do as well.
        spans: offsets and leader epochs that it must cover, or "" for all it has.
        partitions: who needs it, and ``more`` of them that are not named.
        rules: the questions, by the rules that ask them.
        first_of: the rules that no row before asks: links from the table of rules lead here.
    """

    broker: str
    files: str
    instead: str
    spans: str
    partitions: tuple[str, ...]
    more: int
    rules: tuple[str, ...]
    first_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """One want in a sentence.

    Attributes:
        what: the sentence, for the first partition.
        rules: what it would settle.
        where: the first partition; ``more`` is how many others want the same of their own.
    """

    what: str
    rules: tuple[str, ...]
    where: str
    more: int


@dataclass(frozen=True, slots=True)
class Saved:
    """Questions that only what somebody saved answers.

    Attributes:
        answered: which of it answers them, by their letters, as the beginning of a sentence.
        questions: the first of them, each with its partitions; ``more`` is how many are left out.
    """

    answered: str
    questions: tuple[tuple[str, str], ...]
    more: int


@dataclass(frozen=True, slots=True)
class Missing:
    """Everything that would settle an open question.

    Attributes:
        rows: the table of what brokers still have; ``more`` is how many rows are left out.
        means: what exists only if somebody saved it, with a letter each, and ``saved`` what that answers.
        asked: the first wants in sentences; ``asked_more`` is how many are left out.
        commands: shell commands that collect the files, one a broker.
    """

    rows: tuple[Row, ...]
    more: int
    means: tuple[tuple[str, str], ...]
    saved: tuple[Saved, ...]
    asked: tuple[Asked, ...]
    asked_more: int
    commands: tuple[collecting.Command, ...]


@dataclass(slots=True)
class _Gathered:
    way: Collect
    origin: Origin = Origin.FILES
    instead: dict[str, None] = field(default_factory=dict)
    spans: dict[str, None] = field(default_factory=dict)
    partitions: dict[str, None] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)


def missing(result: Result) -> Missing:
    """Return what is missing, what most partitions need first."""
    called = namer([p.history.cluster for p in result.partitions])
    positions = collecting.with_positions(result)
    rows = _gathered(result, positions, called)
    ordered = sorted(rows.items(), key=lambda item: -len(item[1].partitions))
    asked, found = _asked(result, positions, called), collecting.wanted(result)
    saved = collecting.saved(found)
    return Missing(
        _linked(_row(key, row) for key, row in ordered[:ROWS]),
        max(len(ordered) - ROWS, 0),
        tuple((letter, plain(text)) for letter, text in saved.means.items()),
        tuple(_saved(letters, some, called) for letters, some in saved.asked),
        tuple(asked[:SENTENCES]),
        max(len(asked) - SENTENCES, 0),
        tuple(
            collecting.Command(plain(one.where), plain(one.line))
            for one in collecting.commands(result, found)[:COMMANDS]
        ),
    )


def _saved(letters: tuple[str, ...], asked: Sequence[collecting.Wanted], called: Namer) -> Saved:
    """Return the questions that some of what somebody saved answers."""
    questions = []
    for one in asked[:QUESTIONS]:
        names = list(dict.fromkeys(called(partition.history) for partition in one.partitions))
        questions.append((plain(one.text(names, number(len(names)), alone=True)), first_names(names, NAMED)))
    answered = collecting.answered(letters, len(asked))
    return Saved(answered, tuple(questions), max(len(asked) - QUESTIONS, 0))


def _linked(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows, each with the rules that it is the first to name."""
    found: list[Row] = []
    known: set[str] = set()
    for row in rows:
        found.append(replace(row, first_of=tuple(rule for rule in row.rules if rule not in known)))
        known.update(row.rules)
    return tuple(found)


def _gathered(result: Result, positions: _Positions, called: Namer) -> dict[tuple[object, ...], _Gathered]:
    """Return what to collect by cluster, brokers and files."""
    several = len({p.history.cluster for p in result.partitions}) > 1
    rows: dict[tuple[object, ...], _Gathered] = {}
    for partition in present(result):
        cluster = partition.history.cluster if several else None
        for rule, want in _still(result, positions, partition):
            way = next(iter(want.ways), Collect((), want.replicas))
            row = rows.setdefault(
                (cluster, way.brokers, way.artefacts, want.origin), _Gathered(way, origin=want.origin)
            )
            row.instead.update(dict.fromkeys(_files(other, want.origin) for other in want.ways[1:]))
            row.spans[_span(want)] = None
            row.partitions[called(partition.history)] = None
            row.rules[rule] = None
    return rows


def _wants(result: Result, partition: Partition) -> list[tuple[str, Want]]:
    return [
        (rule, want)
        for rule, judgement in partition.judgements.items()
        if judgement.verdict is Verdict.UNKNOWN
        for want in judgement.missing
        if not collecting.renamed(result, partition, want)
    ]


def _still(result: Result, positions: _Positions, partition: Partition) -> list[tuple[str, Want]]:
    """Return what brokers still have that would answer a question, with the rule that asks it."""
    return [
        (rule, one)
        for rule, want in _wants(result, partition)
        for one in (collecting.kept(positions, partition, want) if collecting.only_if_saved(want) else [want])
    ]


def _row(key: tuple[object, ...], row: _Gathered) -> Row:
    cluster, numbers, *_ = key
    where = f" of {plain(cluster_text(str(cluster)))}" if cluster is not None else ""
    ids = ", ".join(str(one) for one in numbers) if isinstance(numbers, tuple) else ""
    spans = [span for span in row.spans if span]
    rest = f" and {number(len(spans) - SPANS)} more" if len(spans) > SPANS else ""
    named = list(row.partitions)
    places = ranks()
    return Row(
        (ids or "any") + where,
        _files(row.way, row.origin) or "anything about it",
        ", or ".join(one for one in row.instead if one),
        "; ".join(spans[:SPANS]) + rest,
        tuple(named[:NAMED]),
        max(len(named) - NAMED, 0),
        tuple(sorted(row.rules, key=lambda rule: places.get(rule, len(places)))),
    )


def _files(way: Collect, origin: Origin) -> str:
    if origin is not Origin.FILES:
        people = (_SPOKEN[what] for what in way.artefacts if what in (Artefact.CLIENTS, Artefact.OPERATORS))
        return plain(" and ".join(one for one in (kinds_text(way.artefacts), *people) if one))
    return plain(" and ".join(_SPOKEN.get(what, what.value) for what in way.artefacts))


def _span(want: Want) -> str:
    parts = []
    epochs = sorted({epoch for epoch, _ in want.epochs if epoch >= 0})
    if epochs:
        parts.append(f"leader epoch{'s' if len(epochs) > 1 else ''} {_from_to(epochs[0], epochs[-1])}")
    if want.offsets:
        parts.append(f"offsets {', '.join(_offsets(first, end) for first, end in want.offsets[:2])}")
    return ", ".join(parts)


def _from_to(first: int, last: int) -> str:
    return number(first) if first == last else f"{number(first)} to {number(last)}"


def _offsets(first: int, end: int | None) -> str:
    if end is None:
        return f"from {number(first)} on"
    only: Range = (first, end)
    return offsets([only])


def _asked(result: Result, positions: _Positions, called: Namer) -> list[Asked]:
    """Return each want once for all partitions that have it; what most need comes first."""
    first: dict[Want, tuple[str, str]] = {}
    rules: dict[Want, dict[str, None]] = {}
    where: dict[Want, set[str]] = {}
    uses: dict[Want, int] = {}
    for partition in present(result):
        name = called(partition.history)
        for rule, want in _still(result, positions, partition):
            first.setdefault(want, (want_text(want, partition.history.name), name))
            rules.setdefault(want, {})[rule] = None
            where.setdefault(want, set()).add(name)
            uses[want] = uses.get(want, 0) + 1
    ordered = sorted(first, key=lambda want: (-uses[want], want.order))
    return [Asked(plain(first[one][0]), tuple(rules[one]), first[one][1], len(where[one]) - 1) for one in ordered]
