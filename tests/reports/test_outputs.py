"""What is written."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from forensics.outputs import NAME, Alike, Named, as_json, members_as_json

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


@given(st.lists(st.text(), max_size=3), st.text().filter(lambda name: NAME not in name))
def test_what_differs_in_a_name_alone_is_written_as_it_is_whole(texts: list[str], name: str) -> None:
    texts = [*texts, f"before {NAME} after {NAME}", "\\\\u0000", f"\\\\{NAME}"]
    alike = Alike({"missing": texts, "empty": []})
    named = [text.replace(NAME, name) for text in texts]
    for found in (Named(alike, name), Named(alike, name)):  # its text is made once
        whole = {"a": {"b": {"missing": named, "empty": []}}}
        assert "".join(members_as_json([("a", {"b": found})])) == as_json(whole, indent=1)
