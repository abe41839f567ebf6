"""What is written."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from forensics.outputs import Alike, Named, as_json, members_as_json, place

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4))
def test_an_object_is_written_in_parts_as_it_is_whole(value: dict[str, object]) -> None:
    parts = [(name, iter(one) if isinstance(one, list) else one) for name, one in value.items()]
    text = "".join(members_as_json(parts))
    assert json.loads(text) == value
    assert text == as_json(value, indent=1)


@given(st.lists(st.text(), max_size=3), st.text(), st.text())
def test_what_differs_in_some_texts_alone_is_written_as_it_is_whole(others: list[str], name: str, number: str) -> None:
    def of(name: str, number: str) -> dict[str, object]:
        return {
            "missing": [*others, f"before {name} after {number}{name}", "\\\\u00000;", f"\\\\{name}"],
            "empty": [],
            "number": number,
        }

    alike = Alike(of(place(0), place(1)))
    for found in (Named(alike, [name, number]), Named(alike, [name, number])):  # its text is made once
        text = "".join(members_as_json([("a", {"b": found})]))
        assert text == as_json({"a": {"b": of(name, number)}}, indent=1)
