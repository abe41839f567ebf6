"""Differences that are right: a list in TOML, each with its reason and the test that holds it.

A table ``[[difference]]`` has:

* ``why``: what changed and why the new answer is right, in one sentence;
* ``test``: the test that shows it, such as ``tests/rules/test_x.py::test_y``;
* ``base``: the newest commit that answers otherwise. The entry counts where that commit, or an ancestor of it, is
  compared with: later ones answer alike;
* which differences it is about: patterns of ``unit``, ``cut``, ``partition``, ``rule``, ``what``, ``old``, ``new`` and
  ``whole``, as ``Row`` has them. Each is a text or a list of texts, of which one has to fit; ``*`` is any text;
* ``with``: patterns of another difference that the same partition has in the same selection. Its ``rule`` is that of
  the entry unless it names one. A verdict that changes says little by itself: what it lacks now, or the finding that
  came, says which change it is;
* ``reworded``: pairs of a regular expression and what replaces it. The entry fits only where these replacements, each
  match replaced once, make of the old text exactly the new one. So another number that changed too is still reported.

* ``more``: true where the new value is a greater number than the old one.

An entry needs ``reworded``, or ``rule`` and ``what`` with ``old``, ``new``, ``more`` or ``with``, or ``unit`` in full
and ``with``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.same.differences import Row

LIST = Path(__file__).with_name("accepted.toml")
OF_SELECTION = ("unit", "cut")
OF_ROW = ("partition", "rule", "what", "old", "new", "whole")
ABOUT = ("why", "test", "base")

Patterns = dict[str, tuple[re.Pattern[str], ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """One entry of the list.

    Attributes:
        why, test, base: as in the file.
        patterns: by what they are of; one of each has to fit.
        others: patterns of a difference that the same partition must have too.
        reworded: expressions and what replaces them.
        more: whether the new value has to be a greater number.
    """

    why: str
    test: str
    base: str
    patterns: Patterns
    others: Patterns
    reworded: tuple[tuple[re.Pattern[str], str], ...]
    more: bool

    def fits(self, row: Row, unit: str, cut: str, beside: Sequence[Row]) -> bool:
        """Return whether the entry is about a difference.

        Args:
            row: the difference.
            unit, cut: the selection that it is of.
            beside: all differences of that selection.
        """
        return (
            _fit(self.patterns, {"unit": unit, "cut": cut, **_values(row)})
            and (not self.reworded or self._only_reworded(row))
            and (not self.more or _is_more(row))
            and (not self.others or any(self._stands_with(row, other) for other in beside))
        )

    def _stands_with(self, row: Row, other: Row) -> bool:
        same_rule = "rule" in self.others or other.rule == row.rule
        return same_rule and other.partition == row.partition and _fit(self.others, _values(other))

    def _only_reworded(self, row: Row) -> bool:
        return _reworded(row.old, self.reworded) == row.new


def _is_more(row: Row) -> bool:
    return row.old.isdecimal() and row.new.isdecimal() and int(row.new) > int(row.old)


def _values(row: Row) -> dict[str, str]:
    return {name: getattr(row, name) for name in OF_ROW}


def _fit(patterns: Patterns, values: dict[str, str]) -> bool:
    return all(any(one.fullmatch(values[name]) for one in some) for name, some in patterns.items())


def _reworded(text: str, pairs: Sequence[tuple[re.Pattern[str], str]]) -> str:
    """A text with each match replaced once, from left to right: what came in is not looked at again."""
    pieces, at = [], 0
    while found := [(match.start(), match, words) for one, words in pairs if (match := one.search(text, at))]:
        start, match, words = min(found, key=lambda each: each[0])
        pieces += [text[at:start], match.expand(words)]
        at = match.end()
    return "".join([*pieces, text[at:]])


def accepted(path: Path, counts: Callable[[str], bool] = lambda base: True) -> list[Accepted]:
    """The entries of a file that count.

    Args:
        path: TOML, as above.
        counts: whether entries of a base count.

    Raises:
        ValueError: an entry lacks something, or is so general that it would take what it does not mean.
    """
    found = []
    for table in tomllib.loads(path.read_text()).get("difference", []):
        try:
            one = _entry(table)
        except (TypeError, ValueError, re.error) as error:
            raise ValueError(f"{path}: {table.get('why', 'an entry')!r}: {error}") from error
        if counts(one.base):
            found.append(one)
    return found


def _entry(table: dict[str, Any]) -> Accepted:
    absent = [name for name in ABOUT if not isinstance(table.get(name), str) or not table[name]]
    if absent:
        raise ValueError(f"an entry needs {', '.join(absent)}")
    given = {name: value for name, value in table.items() if name not in (*ABOUT, "with", "reworded", "more")}
    others, reworded, more = table.get("with", {}), table.get("reworded", []), table.get("more") is True
    narrow = {"rule", "what"} <= given.keys() and (others or more or {"old", "new"} & given.keys())
    units = given.get("unit", "*")
    of_one = others and not any("*" in unit for unit in ([units] if isinstance(units, str) else units))
    if not (reworded or narrow or of_one):
        raise ValueError(
            "an entry needs `reworded`, or `rule` and `what` with `old`, `new`, `more` or `with`, or `unit` and `with`"
        )
    pairs = tuple((re.compile(expression), words) for expression, words in reworded)
    if any(expression.search("") for expression, _ in pairs):
        raise ValueError("an expression of `reworded` fits nothing at all")
    return Accepted(
        table["why"],
        table["test"],
        table["base"],
        _patterns(given, (*OF_SELECTION, *OF_ROW)),
        _patterns(others, OF_ROW),
        pairs,
        more,
    )


def _patterns(given: dict[str, str | list[str]], known: Sequence[str]) -> Patterns:
    unknown = sorted(given.keys() - set(known))
    if unknown:
        raise ValueError(f"unknown: {', '.join(unknown)}; known are {', '.join(known)}")
    return {name: tuple(map(_pattern, [some] if isinstance(some, str) else some)) for name, some in given.items()}


def _pattern(text: str) -> re.Pattern[str]:
    """A text in which only ``*`` stands for something else: brackets are frequent in what is compared."""
    if text and not text.strip("*"):
        raise ValueError("a pattern that fits everything is left out")
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL)
