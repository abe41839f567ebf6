"""Rows on their way between Spark and Polars: plain types only, and the types of the tables again on the other side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import polars as pl
import pyarrow as pa

from parsers.schema import BATCHES, NOTICES, OBSERVATIONS

Schema = Mapping[str, Any]

_NARROW: Final = (pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Int32)
_WIDE: Final = (pl.UInt32, pl.Int64, pl.Datetime)


def plain(schema: Schema) -> dict[str, pl.DataType]:
    """The schema in types that Spark has: enumerations as text, times as microseconds, no unsigned numbers."""
    return {name: _plain(dtype) for name, dtype in schema.items()}


def _plain(dtype: pl.DataType) -> pl.DataType:
    if isinstance(dtype, _NARROW):
        return pl.Int32()
    if isinstance(dtype, _WIDE):
        return pl.Int64()
    if isinstance(dtype, pl.Enum):
        return pl.String()
    return dtype


_PLACE: Final = {
    "unit": pl.Int64(),  # one source as read in one run
    "split": pl.Int32(),  # its range of bytes, counted from 0
    "seq": pl.Int64(),  # place in the split
}

RAW: Final[dict[str, dict[str, pl.DataType]]] = {
    "observations": {**_PLACE, "when": pl.Int64(), **plain(OBSERVATIONS)},  # when: greatest time so far in the split
    "batches": {**_PLACE, **plain(BATCHES)},
    "notices": {**_PLACE, **plain(NOTICES)},
    "facts": {
        "unit": pl.Int64(),
        "split": pl.Int32(),
        "header": pl.String(),
        "context": pl.Binary(),
        "names": pl.Binary(),
        "keys": pl.Binary(),
    },
}
"""Columns of what read tasks give, by table."""

_DDL: Final = {
    pl.String: "string",
    pl.Int32: "int",
    pl.Int64: "bigint",
    pl.Boolean: "boolean",
    pl.Binary: "binary",
    pl.Datetime: "timestamp",
}
_ARROW: Final = {
    pl.String: pa.string(),
    pl.Int32: pa.int32(),
    pl.Int64: pa.int64(),
    pl.Boolean: pa.bool_(),
    pl.Binary: pa.binary(),
    pl.Datetime: pa.timestamp("us", "UTC"),
}


def ddl(schema: Schema) -> str:
    """A plain schema, or one of a table with lists and times, as Spark writes it.

    >>> ddl({"a": pl.Int32(), "b": pl.List(pl.Struct({"c": pl.Datetime("us", "UTC")}))})
    '`a` int, `b` array<struct<`c`: timestamp>>'
    """
    return ", ".join(f"`{name}` {_ddl(dtype)}" for name, dtype in schema.items())


def _ddl(dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.Struct):
        return f"struct<{', '.join(f'`{field.name}`: {_ddl(_made(field.dtype))}' for field in dtype.fields)}>"
    if isinstance(dtype, pl.List):
        return f"array<{_ddl(_made(dtype.inner))}>"
    return _DDL[type(dtype)]


def _made(dtype: Any) -> pl.DataType:
    return dtype if isinstance(dtype, pl.DataType) else dtype()


def arrow_schema(schema: Schema) -> Any:
    """The same as Arrow's."""
    return pa.schema([(name, _arrow(dtype)) for name, dtype in schema.items()])


def _arrow(dtype: pl.DataType) -> Any:
    if isinstance(dtype, pl.Struct):
        return pa.struct([(field.name, _arrow(_made(field.dtype))) for field in dtype.fields])
    if isinstance(dtype, pl.List):
        return pa.list_(_arrow(_made(dtype.inner)))
    return _ARROW[type(dtype)]


def narrowed(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """The columns of a plain schema, in its order; what the frame lacks is null."""
    return frame.select(
        [
            _to_plain(name, frame.schema[name], dtype) if name in frame.columns else pl.lit(None, dtype).alias(name)
            for name, dtype in schema.items()
        ]
    )


def _to_plain(name: str, given: pl.DataType, wanted: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    is_time = isinstance(given, pl.Datetime) and not isinstance(wanted, pl.Datetime)
    return column.dt.epoch("us") if is_time else column.cast(wanted)


def restored(frame: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """Plain columns in the types of their table; others stay."""
    return frame.with_columns(
        pl.col(name).cast(dtype)
        for name, dtype in schema.items()
        if name in frame.columns and frame.schema[name] != dtype
    )


def batches(frame: pl.DataFrame, schema: Schema, *, rows: int = 1 << 16) -> Iterator[Any]:
    """A frame as Arrow batches of a plain schema, for ``mapInArrow``."""
    if frame.is_empty():
        return
    table = narrowed(frame, schema).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(arrow_schema(schema))
    yield from table.to_batches(max_chunksize=rows)


def completed(batch: Any, schema: Schema) -> Any:
    """An Arrow batch with all columns of a plain schema, in its order; what it lacks is null."""
    there = set(batch.schema.names)
    columns = [
        batch.column(name) if name in there else pa.nulls(batch.num_rows, _arrow(dtype))
        for name, dtype in schema.items()
    ]
    return pa.record_batch(columns, schema=arrow_schema(schema))


def chunks(incoming: Iterable[Any], *, rows: int = 250_000) -> Iterator[pl.DataFrame]:
    """Arrow batches as frames of about that many rows: an expression costs the same for ten rows as for thousands."""
    held: list[Any] = []
    count = 0
    for batch in incoming:
        if batch.num_rows:
            held.append(batch)
            count += batch.num_rows
        if count >= rows:
            yield frame(held)
            held, count = [], 0
    if held:
        yield frame(held)


def frame(found: list[Any]) -> pl.DataFrame:
    """Arrow batches as one frame."""
    made = pl.from_arrow(pa.Table.from_batches(found))
    assert isinstance(made, pl.DataFrame)
    return made
