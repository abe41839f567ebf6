"""Options of the data source that leave out rows and columns: what is left out never passes through the JVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Final

import polars as pl

from forensics.case.topics import matches
from forensics.errors import UnreadableInput
from parsers.schema import Kind

_BEGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Filter:
    """An option that leaves out rows.

    Attributes:
        option: its name.
        column: that it looks at; a table without it is not filtered.
        parse: the value of the option as a user writes it; raises ``ValueError`` with what would be right.
        keeps: which rows it keeps, of a value; what is null in the column is left out.
    """

    option: str
    column: str
    parse: Callable[[str], Any]
    keeps: Callable[[pl.Series, Any], pl.Series]


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[int]:
    if not all(part.isascii() and part.isdigit() for part in _names(text)):
        raise ValueError("use numbers separated by commas, like 0,3")
    return [int(part) for part in _names(text)]


def _kinds(text: str) -> list[str]:
    known = [kind.value for kind in Kind]
    for name in _names(text):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ValueError(f"there is no kind {name!r}" + (f"; did you mean {near[0]}?" if near else ""))
    return _names(text)


def _moment(text: str) -> int:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("use a time in ISO 8601, like 2026-03-01T12:00:00+00:00") from None
    return ((time if time.tzinfo is not None else time.replace(tzinfo=UTC)) - _BEGIN) // timedelta(microseconds=1)


def _of_patterns(column: pl.Series, patterns: list[str]) -> pl.Series:
    names = [name for name in column.drop_nulls().unique() if matches(name, patterns)]
    return column.is_in(names)


FILTERS: Final = (
    Filter("topics", "topic", _names, _of_patterns),
    Filter("partitions", "partition", _numbers, lambda column, wanted: column.is_in(wanted)),
    Filter("kinds", "kind", _kinds, lambda column, wanted: column.is_in(wanted)),
    Filter("brokers", "witness", _numbers, lambda column, wanted: column.is_in(wanted)),
    Filter("since", "time", _moment, lambda column, wanted: column >= wanted),
    Filter("until", "time", _moment, lambda column, wanted: column <= wanted),
)
"""Options that leave out rows, in the order in which they are asked; times are microseconds since 1970 UTC."""

COLUMNS: Final = "columns"
"""Option with the names of the columns that are wanted, separated by commas."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows and columns that are wanted.

    Attributes:
        values: of filters, by the name of the option.
        columns: names; none for all.
    """

    values: Mapping[str, Any]
    columns: tuple[str, ...] = ()

    @staticmethod
    def of(options: Mapping[str, str], schema: Mapping[str, pl.DataType]) -> Wanted:
        """Return what options ask for of a table with a schema.

        Raises:
            UnreadableInput: an option has a value that it cannot have.
        """
        values = {}
        for one in FILTERS:
            text = options.get(one.option, "")
            try:
                value = one.parse(text) if text else None
            except ValueError as error:
                raise UnreadableInput(f"{one.option}={text!r}: {error}") from None
            if value:
                values[one.option] = value
        columns = tuple(_names(options.get(COLUMNS, "")))
        for name in columns:
            if name not in schema:
                raise UnreadableInput(f"{COLUMNS}: there is no column {name!r}; there are {', '.join(schema)}")
        return Wanted(values, columns)

    def schema(self, schema: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        """Return the wanted columns, in the order in which they were named."""
        return {name: schema[name] for name in self.columns or schema}

    def rows(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return the wanted rows."""
        for one in FILTERS:
            if one.option in self.values and one.column in found.columns:
                column = found.get_column(one.column)
                if column.dtype == pl.Categorical or isinstance(column.dtype, pl.Enum):
                    column = column.cast(pl.String)
                found = found.filter(one.keeps(column, self.values[one.option]).fill_null(False))
        return found
