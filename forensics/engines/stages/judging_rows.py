"""The work of a task that judges rows of many partitions: rows of observations in, rows of one table out."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from forensics import tables
from forensics.case import Case
from forensics.case.frames import case_of
from forensics.engines import local
from forensics.engines.stages.rows import frame
from forensics.replay.timeline import timeline
from forensics.result import Result, finish

_OF_ONE_CASE: Final = ("row", "at")
"""Ends of the names of columns that hold numbers of one case: each task has its own."""


def _timeline(result: Result) -> pl.DataFrame:
    return tables.timelines(result.case, [one.history for one in result.partitions], timeline)


TABLES: Final[Mapping[str, tuple[dict[str, pl.DataType], Callable[[Result], pl.DataFrame]]]] = MappingProxyType(
    {
        **{
            table.name: (dict(table.schema), table.rows)
            for table in tables.TABLES
            if table.name in ("findings", "verdicts")
        },
        "timeline": (
            {name: of for name, of in tables.TIMELINE_ROWS.items() if name.rpartition("_")[2] not in _OF_ONE_CASE},
            _timeline,
        ),
    }
)
"""Columns of each table, and what makes it of a finished scan."""


@dataclass(frozen=True, slots=True)
class JudgeRows:
    """The work of a task.

    Attributes:
        table: name of the table that it gives.
        shared: rows about whole brokers, as Arrow IPC, which belong to the rows of every task.
        whole: each file is complete.
    """

    table: str
    shared: bytes
    whole: bool

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows of the table for the partitions of a task."""
        batches = [batch for batch in incoming if batch.num_rows]
        if not batches:
            return
        rows = pl.concat([frame(batches), pl.read_ipc(io.BytesIO(self.shared))], how="vertical_relaxed")
        yield from _batches(self.rows(case_of(rows, whole=self.whole)))

    def rows(self, case: Case) -> pl.DataFrame:
        """Return the rows of the table."""
        schema, made = TABLES[self.table]
        with local.no_cycles():
            found = made(finish((), case, local.judged(case)))
        return found.select(pl.col(name).cast(dtype) for name, dtype in schema.items())


def packed(rows: pl.DataFrame) -> bytes:
    """Return rows as Arrow IPC."""
    whole = io.BytesIO()
    rows.write_ipc(whole, compat_level=pl.CompatLevel.oldest())
    return whole.getvalue()


def _batches(rows: pl.DataFrame) -> Iterator[Any]:
    """Yield the rows as Arrow batches with the types that Spark knows."""
    import pyarrow as pa

    table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
    yield from table.cast(pa.schema([(field.name, _small(field.type)) for field in table.schema])).to_batches()


def _small(dtype: Any) -> Any:
    """Return an Arrow type with 32-bit offsets, also within it: others are not what Spark expects."""
    import pyarrow as pa

    if pa.types.is_large_string(dtype):
        return pa.string()
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        return pa.list_(_small(dtype.value_type))
    if pa.types.is_struct(dtype):
        return pa.struct([(field.name, _small(field.type)) for field in dtype])
    return dtype


def spark_types(schema: Mapping[str, Any]) -> str:
    """Return the columns of a table as Spark writes their types.

    >>> spark_types({"a": pl.Int32(), "b": pl.List(pl.Struct({"c": pl.Datetime("us", "UTC")}))})
    '`a` int, `b` array<struct<`c`: timestamp>>'
    """
    return ", ".join(f"`{name}` {_spark_type(dtype)}" for name, dtype in schema.items())


_SIMPLE: Final[Mapping[Any, str]] = MappingProxyType(
    {
        pl.String: "string",
        pl.Int32: "int",
        pl.Int64: "bigint",
        pl.UInt32: "bigint",
        pl.Boolean: "boolean",
        pl.Datetime: "timestamp",
    }
)


def _spark_type(dtype: Any) -> str:
    if isinstance(dtype, pl.List):
        return f"array<{_spark_type(dtype.inner)}>"
    if isinstance(dtype, pl.Struct):
        return f"struct<{', '.join(f'`{field.name}`: {_spark_type(field.dtype)}' for field in dtype.fields)}>"
    return _SIMPLE[dtype if isinstance(dtype, type) else type(dtype)]
