"""Differences between two answers: rows, of which equal ones are counted once."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

Document = dict[str, Any]
Key = tuple[Any, ...]

# -- what may be written otherwise and mean the same -------------------------------------------------------------------


def places_of_facts(document: Document) -> None:
    """A fact names its evidence by path and line, not by its number in the list."""
    for finding in document.get("findings", []):
        pieces = finding.get("evidence", [])
        named = [f"{one['path']}:{one['line'] or one['byte']}" if isinstance(one, dict) else one for one in pieces]
        for fact in finding.get("facts", []):
            if isinstance(fact, dict):
                numbers = fact.get("evidence", [])
                fact["evidence"] = [named[one] if isinstance(one, int) else one for one in numbers]


def wants_as_text(document: Document) -> None:
    """Replace each missing item by its text: it may be a text, or an object with the text."""
    for partition in document.get("partitions", []):
        for verdict in partition.get("verdicts", {}).values():
            missing = verdict.get("missing", [])
            verdict["missing"] = [one["text"] if isinstance(one, dict) and "text" in one else one for one in missing]


def no_groups(document: Document) -> None:
    """Give a finding of a version that names no consumer groups an empty list of them."""
    for finding in document.get("findings", []):
        finding.setdefault("groups", [])


def no_plugins(document: Document) -> None:
    """Give the document of a version that names no plugins an empty list of them."""
    document.setdefault("plugins", [])


@dataclass(frozen=True, slots=True)
class Renamed:
    """A field that got another name.

    Attributes:
        where: ``findings`` or ``partitions``.
        old, new: its names.
    """

    where: str
    old: str
    new: str

    def __call__(self, document: Document) -> None:
        """Gives it the new name."""
        for one in document.get(self.where, []):
            if self.old in one:
                one[self.new] = one.pop(self.old)


NORMALISATIONS: tuple[Callable[[Document], None], ...] = (
    places_of_facts,
    wants_as_text,
    no_groups,
    no_plugins,
)
"""Done to the answers of both versions, in this order, before they are compared. A renamed field is one more line."""


# -- rows --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One difference.

    Attributes:
        rule: id of the rule, or the part of the document.
        what: ``verdict``, ``missing``, ``finding``, or a field.
        old, new: values before and after; "" for nothing.
        where: partition, and for a field of a finding its fingerprint.
        whole: of a verdict, the one that the later version gives on the whole evidence of the case; "" if it has none.
    """

    rule: str
    what: str
    old: str
    new: str
    where: str = ""
    whole: str = ""

    @property
    def partition(self) -> str:
        """The partition alone."""
        return _FINGERPRINT.sub("", self.where)

    @property
    def is_answer(self) -> bool:
        """Return whether it is about what is answered, not about the words and the quoted lines of the answer."""
        return _ANSWER.fullmatch(self.what) is not None

    @property
    def key(self) -> tuple[str, ...]:
        """Key that it shares with the same difference elsewhere: the words that changed, without numbers."""
        old, new = _changed(self.old.split(), self.new.split()) if self.old and self.new else (self.old, self.new)
        return (self.rule, *(_NUMBER.sub("#", text) for text in (self.what, old, new)))


def _changed(old: list[str], new: list[str]) -> tuple[str, str]:
    """Return the words that are in one text alone."""
    spans = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [(old[a:b], new[c:d]) for tag, a, b, c, d in spans if tag != "equal"]
    return " … ".join(" ".join(one) for one, _ in changed), " … ".join(" ".join(other) for _, other in changed)


_ANSWER = re.compile(
    r"verdict|finding|partition|cluster|protocol|error|severity|confidence|replicas\[\]|(offsets|records)\W.*|cause\.id"
)
_FINGERPRINT = re.compile(r" [0-9a-f]{16}$")
_NUMBER = re.compile(r"[0-9a-f]{16,64}|[A-Za-z0-9_-]{22}(?![\w-])|[0-9]+")


def rows(before: Document, after: Document) -> list[Row]:
    """The differences between two answers, which this changes: they are brought into one form."""
    if "error" in before or "error" in after:
        return list(_values(before.get("error", ""), after.get("error", ""), "document", "", "error"))
    for document in (before, after):
        for change in NORMALISATIONS:
            change(document)
    if before == after:
        return []
    found = list(_clusters(before, after))
    found += _partitions(before.pop("partitions", []), after.pop("partitions", []))
    found += _findings(before.pop("findings", []), after.pop("findings", []))
    found += _fields(before, after, "document", "")
    return found


def with_whole(found: Sequence[Row], whole: Mapping[tuple[str, str], str]) -> list[Row]:
    """Return rows with the verdicts on the whole evidence, as ``verdicts`` gives them."""
    return [replace(row, whole=whole.get((row.where, row.rule), "")) if row.what == "verdict" else row for row in found]


def verdicts(document: Document) -> dict[tuple[str, str], str]:
    """Return each verdict of an answer, by partition and rule."""
    return {
        (_named(_place(partition)), rule): str(verdict.get("verdict", ""))
        for partition in document.get("partitions", [])
        for rule, verdict in partition.get("verdicts", {}).items()
    }


def _clusters(before: Document, after: Document) -> Iterator[Row]:
    """Partitions of a cluster that had no name and has one now: it is given to those of before, and their findings."""
    one, other = (_by_key(document.get("partitions", []), _place) for document in (before, after))
    for place in [place for place in one if place not in other and place[0] is None]:
        named = [now for now in other if now not in one and now[1:] == place[1:]]
        if len(named) == 1:
            yield Row("partitions", "cluster", "", str(named[0][0]), _named(place))
            for each in (*before.get("partitions", []), *before.get("findings", [])):
                if _place(each) == place:
                    each["cluster"] = named[0][0]


def _partitions(before: list[Document], after: list[Document]) -> Iterator[Row]:
    old, new = _by_key(before, _place), _by_key(after, _place)
    for place in sorted({**old, **new}, key=str):
        one, other = old.get(place), new.get(place)
        where = _named(place)
        if one is None or other is None:
            yield Row("partitions", "partition", where if one else "", where if other else "", where)
            continue
        verdicts, others = one.pop("verdicts", {}), other.pop("verdicts", {})
        for rule in {**verdicts, **others}:
            yield from _verdicts(rule, verdicts.get(rule, {}), others.get(rule, {}), where)
        yield from _fields(one, other, "partitions", where)


def _verdicts(rule: str, before: Document, after: Document, where: str) -> Iterator[Row]:
    if before.get("verdict") != after.get("verdict"):
        yield Row(rule, "verdict", str(before.get("verdict", "")), str(after.get("verdict", "")), where)
    # Its findings are compared separately.
    rest = [{key: one[key] for key in one if key not in ("verdict", "findings")} for one in (before, after)]
    yield from _fields(rest[0], rest[1], rule, where)


def _findings(before: list[Document], after: list[Document]) -> Iterator[Row]:
    old, new = _by_key(before, lambda one: one["fingerprint"]), _by_key(after, lambda one: one["fingerprint"])
    gone = [one for key, one in old.items() if key not in new]
    come = [one for key, one in new.items() if key not in old]
    for key, one in old.items():
        if key in new:
            yield from _finding(one, new[key])
    # Another statement of the same rule and partition is likely the same one, changed.
    for one in gone:
        like = [other for other in come if (other["rule"], _place(other)) == (one["rule"], _place(one))]
        if like:
            come.remove(like[0])
            yield from _finding(one, like[0])
        else:
            yield Row(one["rule"], "finding", _in_short(one), "", _named(_place(one)))
    for other in come:
        yield Row(other["rule"], "finding", "", _in_short(other), _named(_place(other)))
    if [one["fingerprint"] for one in before] != [one["fingerprint"] for one in after] and old.keys() == new.keys():
        yield Row("document", "order of findings", "", "")


def _finding(before: Document, after: Document) -> Iterator[Row]:
    yield from _fields(before, after, before["rule"], f"{_named(_place(before))} {before['fingerprint']}")


def _in_short(finding: Document) -> str:
    return f"{finding.get('severity')}, {finding.get('confidence')}: {finding.get('summary')}"


def _by_key(many: list[Document], key: Callable[[Document], Any]) -> dict[Any, Document]:
    """By key; a second with the same one gets a number."""
    found: dict[Any, Document] = {}
    for one in many:
        name, number = key(one), 1
        while name in found:
            number += 1
            name = (key(one), number)
        found[name] = one
    return found


def _place(one: Document) -> Key:
    return (one.get("cluster"), one.get("topic"), one.get("partition"), one.get("incarnation"))


def _named(place: Key) -> str:
    _, topic, partition, incarnation = place if len(place) == 4 else (*place[0],)
    return f"{topic}-{partition}" + (f" (life {incarnation})" if incarnation else "")


def _fields(before: Document, after: Document, rule: str, where: str, path: str = "") -> Iterator[Row]:
    for name in {**before, **after}:
        yield from _values(before.get(name, ""), after.get(name, ""), rule, where, f"{path}{name}")


def _values(before: Any, after: Any, rule: str, where: str, path: str) -> Iterator[Row]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _fields(before, after, rule, where, f"{path}.")
    elif isinstance(before, list) and isinstance(after, list):
        yield from _lists(before, after, rule, where, path)
    else:
        yield Row(rule, path, _text(before), _text(after), where)


def _lists(before: list[Any], after: list[Any], rule: str, where: str, path: str) -> Iterator[Row]:
    """Yield entries that were added, removed or changed, and whether the rest is in another order."""
    old, new = [_text(one) for one in before], [_text(one) for one in after]
    if sorted(old) == sorted(new):
        yield Row(rule, f"order of {path}", " | ".join(old), " | ".join(new), where)
        return
    for tag, first, end, start, stop in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        pairs = _alike(old[first:end], new[start:stop])
        for one, other in pairs:
            yield from _values(before[first + one], after[start + other], rule, where, f"{path}[]")
        paired = {first + one for one, _ in pairs}, {start + other for _, other in pairs}
        yield from (Row(rule, f"{path}[]", old[at], "", where) for at in range(first, end) if at not in paired[0])
        yield from (Row(rule, f"{path}[]", "", new[at], where) for at in range(start, stop) if at not in paired[1])


def _alike(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Pairs of entries that are likely the same, changed: if one list is longer, those with most words in common."""
    if len(old) == len(new):
        return [(at, at) for at in range(len(old))]
    words = [set(text.split()) for text in old], [set(text.split()) for text in new]
    free = {(one, other) for one in range(len(old)) for other in range(len(new))}
    found = []
    while free:
        best = max(free, key=lambda pair: (_likeness(words[0][pair[0]], words[1][pair[1]]), -pair[0], -pair[1]))
        found.append(best)
        free = {pair for pair in free if pair[0] != best[0] and pair[1] != best[1]}
    return sorted(found)


def _likeness(one: set[str], other: set[str]) -> float:
    """The share of words that two texts have in common."""
    return len(one & other) / max(1, len(one | other))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


# -- counted -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Difference:
    """The same difference in one or many selections.

    Attributes:
        row: the first.
        selection: where that is.
        selections, units: in how many selections, of which cases and batches.
    """

    row: Row
    selection: str
    selections: int = 0
    units: set[str] = field(default_factory=set)


class Listed(Protocol):
    """An entry of a list of differences that are right."""

    def fits(self, row: Row, unit: str, cut: str, beside: Sequence[Row]) -> bool:
        """Return whether the entry is about a difference."""


@dataclass(slots=True)
class Report:
    """All differences.

    Attributes:
        listed: the ones that are right.
        found: the others, by what they have in common.
        differing: selections that differ otherwise than is listed.
        taken: how many rows each entry of the list took.
        answers: only count what is answered, not how it is worded.
    """

    listed: Sequence[Listed] = ()
    answers: bool = False
    found: dict[Key, Difference] = field(default_factory=dict)
    differing: int = 0
    taken: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Every entry is counted, also one that nothing fits."""
        self.taken = [0] * len(self.listed)

    def add(self, unit: str, cut: str, differences: Sequence[Row]) -> list[Row]:
        """Takes in the differences of one selection; gives those that are not listed."""
        open_ones = [row for row in differences if not self._takes(row, unit, cut, differences)]
        open_ones = [row for row in open_ones if row.is_answer or not self.answers]
        for key in dict.fromkeys(row.key for row in open_ones):
            row = next(row for row in open_ones if row.key == key)
            entry = self.found.setdefault(key, Difference(row, f"{unit}: {cut}"))
            entry.selections += 1
            entry.units.add(unit)
        self.differing += bool(open_ones)
        return open_ones

    def _takes(self, row: Row, unit: str, cut: str, beside: Sequence[Row]) -> bool:
        """Counts the first entry that a difference fits."""
        for number, one in enumerate(self.listed):
            if one.fits(row, unit, cut, beside):
                self.taken[number] += 1
                return True
        return False
