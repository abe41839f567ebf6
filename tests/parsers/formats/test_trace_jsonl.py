from __future__ import annotations

import json

import jsonschema
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.trace_jsonl import FIELDS, SCHEMA, json_schema, read_trace, write_trace
from parsers.read import read
from parsers.schema import OBSERVATIONS, Kind, conform
from tests.parsers.handing_over import source

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\x85\u2028\u2029"), max_size=20)
_INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
_INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


def _value(name: str) -> st.SearchStrategy[object]:
    if name == "kind":
        return st.sampled_from([kind.value for kind in Kind])
    if name == "time":
        return st.datetimes()
    return _TEXT if OBSERVATIONS[name] == pl.String else _INT32 if OBSERVATIONS[name] == pl.Int32 else _INT64


@st.composite
def observations(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(
        st.lists(
            st.fixed_dictionaries(
                {"kind": _value("kind"), "message": _TEXT},
                optional={name: _value(name) for name in FIELDS if name not in ("kind", "message")},
            ),
            min_size=1,
            max_size=8,
        )
    )
    return pl.DataFrame(rows, schema={name: OBSERVATIONS[name] for name in FIELDS})


def lines(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_row_index("line", offset=1)


@given(observations())
def test_what_is_written_is_read_again(table: pl.DataFrame) -> None:
    written = list(write_trace(table))
    validator = jsonschema.Draft202012Validator(json_schema())
    for line in written:
        content = json.loads(line)
        if "partition" not in content or "topic" in content:
            content.pop("isr", None), content.pop("isr_before", None)  # any text here, broker ids there
            assert [error.message for error in validator.iter_errors(content)] == []
    found = read_trace(lines(written))
    assert found.notices.is_empty()
    assert found.observations.drop("byte").equals(
        conform(table, OBSERVATIONS).drop("byte").with_columns(pl.int_range(1, pl.len() + 1).alias("line"))
    )


def test_the_schema_names_every_field_and_kind() -> None:
    properties = json_schema()["properties"]
    assert tuple(properties) == ("schema", *FIELDS)
    assert properties["kind"]["enum"] == [kind.value for kind in Kind]
    assert properties["schema"] == {"const": SCHEMA}
    for name in FIELDS:
        if OBSERVATIONS[name].is_integer():
            assert properties[name]["maximum"] == (1 << (31 if OBSERVATIONS[name] == pl.Int32 else 63)) - 1


def test_the_witness_is_the_broker_that_states_a_row() -> None:
    table = pl.DataFrame([{"kind": "hw", "hw": 3}], schema={**{n: OBSERVATIONS[n] for n in FIELDS}}).with_columns(
        pl.lit(5, dtype=pl.Int32).alias("broker")
    )
    assert json.loads(next(write_trace(table))) == {"schema": SCHEMA, "witness": 5, "kind": "hw", "hw": 3}


def test_what_is_wrong_is_told_and_the_rest_counts() -> None:
    good = json.dumps({"schema": SCHEMA, "kind": "hw", "hw": 3, "time": "2024-03-01T11:22:41.107+01:00", "more": [1]})
    bad = [
        "{",
        json.dumps({"schema": "other/1", "kind": "hw"}),
        json.dumps({"schema": SCHEMA, "kind": "no such"}),
        json.dumps({"schema": SCHEMA, "kind": "hw", "hw": "three"}),
        json.dumps({"schema": SCHEMA, "kind": "hw", "partition": 1 << 40}),
    ]
    undated = json.dumps({"schema": SCHEMA, "kind": "hw", "hw": 4, "time": "yesterday"})
    reading = read(source("\n".join([good, *bad, "", undated, good]).encode(), "trace.jsonl"))
    assert (reading.format, reading.zone) == ("trace", "UTC")
    assert reading.observations.get_column("line").to_list() == [1, 8, 9]
    assert reading.notices.get_column("line").to_list() == [2, 3, 4, 5, 6, 8]
    assert (reading.lines, reading.first_time) == (9, 1709288561107000)


def test_another_file_is_refused() -> None:
    assert read(source(b'{"schema":"other/1"}\n', "x.jsonl")).format == "unknown"


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(noise: bytes) -> None:
    head = json.dumps({"schema": SCHEMA, "kind": "hw", "hw": 3}).encode()
    reading = read(source(head + b"\n" + noise, "trace.jsonl"))
    assert reading.format == "trace"
    assert reading.observations.height >= 1
