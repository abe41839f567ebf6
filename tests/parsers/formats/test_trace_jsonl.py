from __future__ import annotations

import json

import jsonschema
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.formats.trace_jsonl import FIELDS, SCHEMA, json_schema, read_trace, write_header, write_trace
from parsers.formats.trace_kinds import (
    COLUMN_OF,
    FILE_LINES,
    HEADER,
    OF_FILE_LINES,
    OF_FILES,
    OF_PRODUCER,
    STATEMENTS,
    TYPES,
    Statement,
)
from parsers.formats.trace_kinds import json_schema as made_schema
from parsers.read import read
from parsers.schema import OBSERVATIONS, Kind, conform
from tests.parsers.handing_over import source

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\x85\u2028\u2029"), max_size=20)
_INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
_INT64 = st.integers(-(1 << 63), (1 << 63) - 1)

READ_AS_OTHERS = (Kind.TRACE, Kind.STATE, Kind.CONSUMED, *OF_FILES)
"""Kinds of which the reader makes other rows."""


def _value(name: str) -> st.SearchStrategy[object]:
    if name == "kind":
        return st.sampled_from([kind.value for kind in Kind if kind not in READ_AS_OTHERS])
    if name in ("isr", "isr_before"):
        return st.lists(st.integers(0, 999_999_999), max_size=4).map(lambda ids: ",".join(map(str, ids)))
    if name == "time":
        return st.datetimes()
    return _TEXT if TYPES[name] == pl.String else _INT32 if TYPES[name] == pl.Int32 else _INT64


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
    return pl.DataFrame(rows, schema=TYPES).rename(COLUMN_OF)


def lines(texts: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"text": texts}, schema={"text": pl.String}).with_row_index("line", offset=1)


@given(observations())
def test_what_is_written_is_read_again(table: pl.DataFrame) -> None:
    written = list(write_trace(table))
    validator = jsonschema.Draft202012Validator(json_schema())
    for line in written:
        content = json.loads(line)
        if "partition" not in content or "topic" in content:
            assert [error.message for error in validator.iter_errors(content)] == []
    found = read_trace(lines(written))
    assert found.notices.is_empty()
    assert found.observations.drop("byte").equals(
        conform(table, OBSERVATIONS).drop("byte").with_columns(pl.int_range(1, pl.len() + 1).alias("line"))
    )


def test_the_schema_names_every_field_and_kind() -> None:
    properties = json_schema()["properties"]
    assert tuple(properties) == ("schema", *FIELDS, *HEADER, *OF_FILE_LINES)
    assert properties["kind"]["enum"] == [*(kind.value for kind in Kind), *FILE_LINES]
    assert properties["schema"] == {"const": SCHEMA}
    for name in FIELDS:
        if TYPES[name].is_integer():
            assert properties[name]["maximum"] == (1 << (31 if TYPES[name] == pl.Int32 else 63)) - 1


def test_the_schema_in_the_package_is_made_of_the_table() -> None:
    assert json_schema() == made_schema()


def test_the_witness_is_the_broker_that_states_a_row() -> None:
    table = pl.DataFrame([{"kind": "hw", "hw": 3}], schema=OBSERVATIONS).with_columns(
        pl.lit(5, dtype=pl.Int32).alias("broker")
    )
    assert json.loads(next(write_trace(table))) == {"schema": SCHEMA, "witness": 5, "kind": "hw", "high_watermark": 3}


def own(**fields: object) -> str:
    """A line of a trace that is written as such."""
    place = {"topic": "orders", "partition": 0, "witness": 1, "time": "2024-03-01T11:22:41.107+01:00"}
    return json.dumps({"schema": SCHEMA, **place, **fields})


GOOD = own(kind="hw", high_watermark=3, more=[1])


def test_what_is_wrong_is_told_and_the_rest_counts() -> None:
    bad = [
        "{",
        json.dumps({"schema": "other/1", "kind": "hw"}),
        json.dumps({"schema": SCHEMA, "kind": "no such"}),
        own(kind="hw", high_watermark="three"),
        own(kind="hw", high_watermark=3, partition=1 << 40),
    ]
    undated = own(kind="hw", high_watermark=4, time="yesterday")
    reading = read(source("\n".join([GOOD, *bad, "", undated, GOOD]).encode(), "trace.jsonl"))
    assert (reading.format, reading.zone) == ("trace", "UTC")
    assert reading.observations.get_column("line").to_list() == [1, 8, 9]
    assert reading.notices.get_column("line").to_list() == [2, 3, 4, 5, 6, 8]
    assert (reading.lines, reading.first_time) == (9, 1709288561107000)


@pytest.mark.parametrize(
    ("line", "reason", "counts"),
    [
        (own(kind="hw"), 'a line of kind hw needs "high_watermark": the line is left out', False),
        (own(kind="hw", time="9999-12-31T23:59:59-01:00"), 'a line of kind hw needs "high_watermark": the', False),
        (own(kind="hw", hw=3), 'a line of kind hw needs "high_watermark": "hw" may be meant as it', False),
        (own(kind="append", high_watermark=3, leo=3), 'a line of kind append needs "log_end_offset": "leo" may', False),
        (own(kind="hw", high_watermark=(1 << 63) - 1), 'a number beyond its column: "high_watermark"', False),
        (own(kind="hw", high_watermark=3, leo=3), 'no field "leo" is known: "log_end_offset" may be meant', True),
        (own(kind="hw", high_watermark=3, logEndOffset=3), 'no field "logEndOffset" is known: "log_end_of', True),
        (own(kind="truncate", ofset=3), 'a line of kind truncate needs "offset": "ofset" may be meant as it', False),
        (
            own(kind="become_leader", leader_epoch=1, log_end_ofset=3),
            'no field "log_end_ofset" is known: "log_end_offset" may be meant',
            True,
        ),
        (
            own(kind="hw", high_watermark=3, log_end_offset=None),
            '"log_end_offset" is null: leave a field without a value out',
            True,
        ),
        (own(kind="truncate", offset=-3), '"offset" is negative: the line is left out', False),
        (own(kind="hw", high_watermark=3, partition=-1), '"partition" is negative: the line is left out', False),
        (
            own(kind="leader_and_isr", leader=1, leader_epoch=5, witness=-1),
            '"witness" is negative: the line is left out',
            False,
        ),
        (GOOD.replace('"high_watermark": 3', '"high_watermark": 3.0e0'), '"high_watermark" is not a whole', False),
        (GOOD.replace('"high_watermark": 3', f'"high_watermark": {1 << 53}.0'), '"high_watermark" is not a w', False),
        (own(kind="hw", high_watermark=3.5), '"high_watermark" is not a whole number: the line is left out', False),
        (own(kind="hw", high_watermark=True), '"high_watermark" is not a whole number: the line is left out', False),
        (own(kind="isr_shrink", isr=[1, 2]), '"isr" is not a string: the line is left out', False),
        (own(kind="isr_shrink", isr="{1, 2}"), '"isr" is no list of broker ids joined by commas, as in "1,2,3"', False),
        (own(kind="hw", high_watermark=3, time="2024-03-01T10:22:41Z"), '"time" runs backwards', True),
        (own(kind="log_start_checkpoint"), 'a line of kind log_start_checkpoint needs "log_start_offset"', False),
        (own(kind="recovery_point", message="recovery-point"), 'a line of kind recovery_point needs "offset"', False),
        ("[1]", "no JSON object", False),
        ("[" * 5000, "no JSON object", False),
        (
            own(kind="hw", high_watermark=float("nan")),
            '"high_watermark" is not a whole number: the line is left',
            False,
        ),
        (
            own(kind="hw", high_watermark=float("inf")),
            '"high_watermark" is not a whole number: the line is left',
            False,
        ),
        (own(kind="hw", high_watermark="3"), '"high_watermark" is not a whole number: the line is left out', False),
        (
            own(kind="hw", high_watermark={"a": 3}),
            '"high_watermark" is not a whole number: the line is left out',
            False,
        ),
        (own(kind="hw", high_watermark=1 << 63), 'a number beyond its column: "high_watermark": the line is', False),
        (own(kind="hw", high_watermark=3, topic=7), '"topic" is not a string: the line is left out', False),
        (own(kind="hw", high_watermark=3, topic=None), 'a line of kind hw needs "topic": the line is left out', False),
        (own(kind="hw", high_watermark=3, time="2024-13-01T10:22:41Z"), "a time that is not ISO 8601", True),
        (own(kind="hw", high_watermark=3, time=1709288561), "a time that is not ISO 8601", False),
        (own(kind="become_leader", leader_epoch=-1), '"leader_epoch" is negative: the line is left out', False),
        (own(kind="become_ledaer", leader_epoch=1), 'an unknown kind "become_ledaer": "become_leader" may', False),
        (own(high_watermark=3), 'a line needs a "kind": the line is left out', False),
        (own(kind="append", offset=9, log_end_offset=4), 'a line of kind append has an "offset" that is not', False),
        (own(kind="log_end", log_end_offset=4, log_start_offset=5), '"log_end_offset" is below "log_start_off', False),
        (
            own(kind="state", last_stable_offset=4, log_start_offset=5),
            '"last_stable_offset" is below "log_start_',
            False,
        ),
        (
            own(kind="state", high_watermark=4, log_start_offset=5),
            '"high_watermark" is below "log_start_offset": no replica deletes',
            True,
        ),
        (own(kind="isr_expand", isr="1", isr_before="1,2"), 'a line of kind isr_expand: "isr" lacks a broker', True),
        (own(kind="isr_shrink", isr="1,3", isr_before="1,2"), 'a line of kind isr_shrink: "isr" has a broker', True),
        (own(kind="become_leader", leader_epoch=3, isr="2"), 'a line of kind become_leader: "isr" lacks', True),
        (own(kind="hw", high_watermark=3, topic=""), '"topic" is no name of a topic: 1 to 249 of the', False),
        (own(kind="hw", high_watermark=3, topic=".."), '"topic" is no name of a topic', False),
        (own(kind="hw", high_watermark=3, topic="a/../b\0"), '"topic" is no name of a topic', False),
        (own(kind="hw", high_watermark=3, topic="a" * 250), '"topic" is no name of a topic', False),
        (own(kind="state"), "a line of kind state has none of its fields: high_watermark, log_end_offset,", False),
        (own(kind="truncate", offset=8, log_end_offset=6), 'a line of kind truncate has an "offset" above', False),
        (own(kind="become_follower", leader=1, leader_epoch=3), "a line of kind become_follower names its own", False),
        (own(kind="isr_shrink", isr="1,1,2"), '"isr" names a broker twice: the line is left out', False),
        (GOOD[:-1] + ', "high_watermark": 4}', '"high_watermark" is there twice: the line is left out', False),
        (own(kind="append", log_end_offset=4, acks="all"), 'no field "acks" is known: "detail" has it, as in', True),
        (own(kind="append", log_end_offset=4, detail="acks=7"), '"detail" is not acks=0, acks=1 or acks=all', True),
        (
            own(kind="produced", offset=4, high_watermark=9, detail="acks=1"),
            '"high_watermark" of an acknowledgement is read with "detail":"acks=all" only',
            True,
        ),
    ],
)
def test_each_line_is_checked_against_its_kind(line: str, reason: str, counts: bool) -> None:
    reading = read(source("\n".join([GOOD, line, GOOD]).encode(), "trace.jsonl"))
    told = reading.notices.filter(pl.col("reason").str.starts_with(reason))
    assert told.get_column("line").to_list() == [2], reading.notices.get_column("reason").to_list()
    assert reading.observations.get_column("line").to_list() == ([1, 2, 3] if counts else [1, 3])


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        own(kind="hw", high_watermark=3, time="2024-03-01T09:00:00Z", witness=2),
        own(kind="epoch_reply", leader_epoch=-1, offset=-1),
        own(kind="become_follower", leader=-1, leader_epoch=3),
        own(kind="become_leader", leader_epoch=3, isr=""),
        own(kind="hw", message="P-20", time="2024-03-01T09:00:00Z"),
        own(kind="truncate", offset=6, log_end_offset=6),
        own(kind="append", log_end_offset=4, detail="acks=all"),
        own(kind="truncate", offset=6, detail='said "high_watermark": 3, "high_watermark": 4'),
        own(kind="state", isr="1"),
        own(kind="isr_expand", isr="1,2", isr_before="1"),
        own(kind="isr_shrink", isr="1", isr_before="1,2"),
        own(kind="become_leader", leader_epoch=3, isr="2,1"),
        own(kind="state", high_watermark=5, log_start_offset=5),
        own(kind="hw", high_watermark=3.0, topic="a" * 249, partition=0.0),
    ],
    ids=[
        *("unlike any field", "another witness", "none", "no leader", "an empty ISR", "of a log, late"),
        *(
            "nothing truncated",
            "acks",
            "a text with fields",
            "an ISR alone",
            "a larger ISR",
            "a smaller ISR",
            "a leader in its ISR",
            "all deleted",
            "whole numbers with a point",
        ),
    ],
)
def test_near_misses_of_bad_lines(line: str) -> None:
    reading = read(source("\n".join([GOOD, line, GOOD]).encode(), "trace.jsonl"))
    assert reading.notices.is_empty(), reading.notices.get_column("reason").to_list()
    assert reading.observations.height == 3


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.kind.value)
def test_every_kind_is_as_the_table_says(statement: Statement) -> None:
    values = {
        name: "1,2" if name.startswith("isr") else "words" if name in ("detail", "checksum") else 7 for name in FIELDS
    }
    if statement.kind in OF_PRODUCER:
        values["detail"] = "acks=1"
    values["log_end_offset"] = 8
    given = {name: values[name] for name in (*statement.needs, *statement.may)}
    validator = jsonschema.Draft202012Validator(json_schema())
    assert not list(validator.iter_errors(json.loads(own(kind=statement.kind.value, **given))))
    for name in statement.needs:
        less = own(kind=statement.kind.value, **{other: value for other, value in given.items() if other != name})
        assert list(validator.iter_errors(json.loads(less)))
        reading = read(source("\n".join([GOOD, less]).encode(), "trace.jsonl"))
        assert f'needs "{name}"' in reading.notices.get_column("reason")[0]


@pytest.mark.parametrize(
    "line",
    [
        own(kind="isr_commit", partition_epoch=-5),
        own(kind="append", log_end_offset=4, detail="acks=2"),
        own(kind="produced", offset=4, detail="all"),
    ],
)
def test_the_schema_refuses_what_a_scan_reports(line: str) -> None:
    assert list(jsonschema.Draft202012Validator(json_schema()).iter_errors(json.loads(line)))
    assert not read(source("\n".join([GOOD, line]).encode(), "trace.jsonl")).notices.is_empty()


def test_the_first_line_says_of_what_the_others_are() -> None:
    settings = {"min.insync.replicas": "2"}
    head = write_header(release="3.9.1", cluster="one", replicas=[1, 2], settings=settings, complete=[1])
    jsonschema.validate(json.loads(head), json_schema())
    reading = read(source("\n".join([head, GOOD]).encode(), "trace.jsonl"))
    assert reading.notices.is_empty()
    rows = reading.observations.select(pl.col("kind").cast(pl.String), "witness", "detail").rows()
    assert rows == [
        ("broker_cluster", 1, "one"),
        ("broker_cluster", 2, "one"),
        ("broker_system", 1, "kafka"),
        ("broker_version", 1, "3.9.1"),
        ("broker_config", 1, "min.insync.replicas=2"),
        ("trace", 1, "all"),
        ("broker_system", 2, "kafka"),
        ("broker_version", 2, "3.9.1"),
        ("broker_config", 2, "min.insync.replicas=2"),
        ("trace", 2, "nothing"),
        ("hw", 1, None),
    ]
    # What was read is written with the same claim.
    assert json.loads(next(write_trace(reading.observations))) == {
        "schema": SCHEMA, "kind": "trace", "system": "kafka", "replicas": [1, 2], "complete": [1],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"complete": True}, 'a trace that is "complete" names its "replicas"'),
        (
            {"complete": [{"kinds": ["append"]}], "replicas": [1]},
            '"complete" names only a part of the kinds of a group',
        ),
        ({"complete": True, "replicas": [1.0]}, None),
        ({"complete": [3], "replicas": [1, 2]}, '"complete" names broker 3, which is not in "replicas"'),
        ({"replicas": "1,2"}, '"replicas" is not a list of broker ids, as in [1,2,3]'),
        ({"replicas": [-1]}, '"replicas" is not a list of broker ids'),
        ({"replicas": [1.5]}, '"replicas" is not a list of broker ids'),
        ({"replica_ids": [1]}, None),
        ({"replcas": [1]}, 'no field "replcas" is known: "replicas" may be meant'),
        ({"protocol": "raft"}, '"protocol" is not "hw" or "epoch"'),
        ({"cluster": None}, '"cluster" is not a text of one or more characters'),
        ({"settings": {"a": [1]}}, '"settings" is not an object of settings by name'),
        ({"settings": [], "complete": "yes"}, '"settings" is not an object of settings by name'),
        ({"complete": "yes"}, '"complete" is not true, false, or a list of broker ids'),
        ({"complete": [{"kind": ["append"]}]}, '"complete" has the unknown field "kind": "kinds" may be meant'),
        ({"complete": [{"kinds": ["appendd"]}]}, '"complete" names the unknown kind "appendd": "append" may be meant'),
        ({"complete": [{"kinds": "append"}]}, '"complete" has "kinds" that are not a list of kinds'),
        ({"complete": [{"replicas": 1}]}, '"complete" has "replicas" that are not a list of broker ids'),
        ({"complete": [{"to": "2026-01-01"}]}, '"complete" has "from" or "to" that is not ISO 8601 with a zone'),
        ({"settings": {"min.insync.replicas": "two"}}, '"settings" has min.insync.replicas=two, which is no value'),
        ({"settings": {"min.insync.replicas": 2, "unclean.leader.election.enable": False}}, None),
        (
            {"complete": [{"replicas": [1], "from": "2026-01-01T10:00:00Z", "to": "2026-01-01T09:00:00Z"}]},
            '"complete" has "from" that is after "to"',
        ),
    ],
)
def test_what_is_wrong_in_the_first_line(fields: dict[str, object], reason: str | None) -> None:
    head = json.dumps({"schema": SCHEMA, "kind": "trace", **fields})
    reading = read(source("\n".join([head, GOOD]).encode(), "trace.jsonl"))
    told = reading.notices.get_column("reason").to_list()
    assert told[0].startswith(reason) if reason else not told or told[0].startswith("no field")


def test_another_file_is_refused() -> None:
    assert read(source(b'{"schema":"other/1"}\n', "x.jsonl")).format == "unknown"


@given(st.binary(max_size=200))
def test_no_bytes_crash_it(noise: bytes) -> None:
    reading = read(source(GOOD.encode() + b"\n" + noise, "trace.jsonl"))
    assert reading.format == "trace"
    assert reading.observations.height >= 1


def test_a_line_without_a_witness_is_left_out_if_others_have_one() -> None:
    named = {"schema": SCHEMA, "time": "2026-01-01T10:00:00Z", "witness": 1, "kind": "hw", "topic": "t", "partition": 0}
    nobodys = {name: value for name, value in named.items() if name != "witness"}
    lines = [json.dumps({**one, "high_watermark": 4}) for one in (named, nobodys)]
    found = read(source("\n".join(lines).encode(), "trace.jsonl"))
    assert found.observations.get_column("line").to_list() == [1]
    assert found.notices.select("line", "reason").rows() == [
        (2, 'a line needs a "witness": the broker that states it: the line is left out')
    ]
    # A file in the folder of a broker need not name it.
    assert read(source(lines[1].encode(), "broker-1/trace.jsonl")).notices.is_empty()


@pytest.mark.parametrize(
    ("line", "sound"),
    [
        (own(kind="state"), False),
        (own(kind="state", isr="1"), True),
        (own(kind="hw", high_watermark=3, topic=".."), False),
        (own(kind="hw", high_watermark=3, topic="a/b"), False),
        (own(kind="hw", high_watermark=3, topic="..a"), True),
        (own(kind="hw", high_watermark=3.0), True),
    ],
)
def test_the_schema_says_what_the_reader_does(line: str, sound: bool) -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    assert validator.is_valid(json.loads(line)) == sound
    assert read(source("\n".join([GOOD, line]).encode(), "trace.jsonl")).notices.is_empty() == sound


@pytest.mark.parametrize(
    "damaged", [b"# a comment\n" * 4, b'{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n', b'\n{\n"a":1\n}\n']
)
def test_lines_before_the_first_one_of_a_trace_are_damage(damaged: bytes) -> None:
    line = b'{"schema":"forensics.trace/1","time":"2026-01-01T10:00:00Z","witness":1,"kind":"process_start"}\n'
    reading = read(source(damaged + 5 * line, "trace.jsonl"))
    assert reading.observations.height == 5
    assert reading.notices.get_column("line").drop_nulls().to_list()


@pytest.mark.parametrize(("detail", "hw"), [("acks=all", 9), ("acks=-1", 9), ("acks=1", None), (None, None)])
def test_only_an_acknowledgement_of_all_replicas_shows_a_high_watermark(detail: str | None, hw: int | None) -> None:
    """A leader acknowledges acks=1 before any follower has the records."""
    stated = {} if detail is None else {"detail": detail}
    found = read(source(own(kind="produced", offset=4, high_watermark=9, **stated).encode(), "trace.jsonl"))
    assert found.observations.get_column("hw").to_list() == [hw]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[\n{line},\n{line}\n]", "jq -c '.[]' t.json > trace.jsonl"),
        ("[{line},{line}]", "jq -c '.[]' t.json > trace.jsonl"),
        ("{indented}\n{indented}\n", "jq -c . t.json > trace.jsonl"),
    ],
    ids=["array over several lines", "array in one line", "indented"],
)
def test_objects_that_are_not_one_a_line_are_told(text: str, said: str) -> None:
    line = own(kind="hw", high_watermark=9)
    content = text.replace("{line}", line).replace("{indented}", json.dumps(json.loads(line), indent=2))
    found = read(source(content.encode(), "t.json"))
    assert found.format == "unknown"
    assert [reason.partition(": ")[2] for reason in found.notices.get_column("reason")] == [said]
