"""CSV of findings, for spreadsheets: a row for each finding, the most severe first. Its columns are those of the table.

Ranges of offsets are half-open, ``50..80``. Several values in one cell are separated by "; ". Times are UTC, in
ISO 8601. No cell begins a formula, whatever the evidence contains.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from forensics.outputs import no_formula, plain
from forensics.result import Result
from forensics.tables import FINDING_ROWS, finding_row


def _joined(values: Iterable[object]) -> str:
    return "; ".join(map(str, values))


def _offsets(ranges: Iterable[Mapping[str, int]]) -> str:
    return _joined(f"{one['first']}..{one['end']}" for one in ranges)


def _values(values: Iterable[Mapping[str, object]]) -> str:
    return _joined(f"{one['name']}={one['value']}" for one in values)


def _facts(facts: Iterable[Mapping[str, object]]) -> str:
    return _joined(one["text"] for one in facts)


def _places(evidence: Iterable[Mapping[str, object]]) -> str:
    return _joined(dict.fromkeys(_place(one) for one in evidence))


def _place(one: Mapping[str, object]) -> str:
    if one["line"] is not None:
        return f"{one['path']}:{one['line']}"
    return str(one["path"]) if one["byte"] is None else f"{one['path']} byte {one['byte']}"


_IN_WORDS: Final[Mapping[str, Callable[[Any], str]]] = MappingProxyType(
    {
        "offsets": _offsets,
        "before": _values,
        "after": _values,
        "facts": _facts,
        "evidence": _places,
    }
)
"""How a list of structures is written in a cell, by column."""


def render(result: Result) -> str:
    """Return the table, its header first."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, tuple(FINDING_ROWS), lineterminator="\n")
    writer.writeheader()
    for finding, known in [*((one, False) for one in result.findings), *((one, True) for one in result.known)]:
        row = finding_row(finding, known=known)
        writer.writerow({name: _cell(name, value) for name, value in row.items()})
    return stream.getvalue()


def _cell(name: str, value: Any) -> object:
    if name in _IN_WORDS:
        value = _IN_WORDS[name](value)
    elif isinstance(value, list):
        value = _joined(value)
    elif isinstance(value, datetime):
        return value.isoformat(timespec="microseconds")
    return no_formula(plain(value)) if isinstance(value, str) else value
