"""Nothing that a trace contains may end in a traceback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forensics.engines.local import scan
from parsers.formats.trace_jsonl import SCHEMA
from parsers.formats.trace_kinds import FIELDS, HEADER, STATEMENTS, TYPES
from parsers.schema import Kind
from tests.conftest import EVERYTHING

_SMALL = st.integers(0, 12)
_ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False),
    st.integers(-(1 << 70), 1 << 70),
    st.sampled_from(["", "{1, 2}", "1,2", "1,1", ",", "-1", "9999999999", "2026-01-01T10:00:00Z", "\u0000", "x" * 300]),
    st.lists(_SMALL, max_size=3),
    st.dictionaries(st.sampled_from(["hw", "a"]), _SMALL, max_size=2),
)
_TIMES = st.integers(0, 20).map(lambda second: f"2026-01-01T10:00:{second:02}Z")


def _plain(name: str) -> st.SearchStrategy[Any]:
    if name == "time":
        return _TIMES
    if name in ("isr", "isr_before"):
        return st.lists(st.integers(1, 3), max_size=3).map(lambda ids: ",".join(map(str, ids)))
    if TYPES[name].is_integer():
        return st.integers(1, 3) if name in ("witness", "replica", "leader") else _SMALL
    return st.sampled_from(["orders", "key=value", "acks=all"])


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """A line, mostly sound, with a field or two that are not."""
    statement = draw(st.sampled_from(STATEMENTS))
    names = {*statement.required, *draw(st.sets(st.sampled_from(FIELDS), max_size=4)), "witness", "time"}
    names -= {"kind", "message"}
    made = {name: draw(_plain(name)) for name in sorted(names)} | {"topic": "orders", "partition": 0}
    kind = draw(st.one_of(st.just(statement.kind), st.sampled_from([kind.value for kind in Kind])))
    odd = draw(st.dictionaries(st.sampled_from([*FIELDS, *HEADER, "ofset"]), _ODD, max_size=1))
    return {"schema": SCHEMA, "kind": kind, **made, **odd}


HEAD = {"schema": SCHEMA, "kind": "trace", "replicas": [1, 2, 3], "complete": True}

SOUND = {"schema": SCHEMA, "witness": 1, "kind": "process_start"}


@settings(
    max_examples=40 if EVERYTHING else 12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.booleans(), st.lists(lines(), min_size=1, max_size=25))
def test_any_trace_is_judged(tmp_path: Path, complete: bool, told: list[dict[str, Any]]) -> None:
    path = tmp_path / "trace.jsonl"
    head = HEAD | {"complete": complete}
    path.write_text("".join(json.dumps(line) + "\n" for line in [head, SOUND, *told]))
    result = scan([str(path)])
    assert result.case.sources.height == 1
