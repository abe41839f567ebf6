"""The line format of Java properties files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.encodings.java_properties import entries
from parsers.reading import Notices


def values(data: bytes) -> dict[str, str]:
    return {key: entry.value for key, entry in entries(data, Notices())[0].items()}


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("a=1", "a", "1"),
        ("a = 1", "a", "1"),
        ("a: 1", "a", "1"),
        ("a 1", "a", "1"),
        ("a\t=\t1 ", "a", "1 "),
        ("  a=b=c:d", "a", "b=c:d"),
        ("a", "a", ""),
        ("a=", "a", ""),
        (r"a\=b\:c\ d=1", "a=b:c d", "1"),
        (r"a=x\ty\nz\\", "a", "x\ty\nz\\"),
        (r"a=\u00e9\q", "a", "éq"),
        (r"a=\u00", "a", "u00"),
        ("a=1,\\\n   2,\\\n3", "a", "1,2,3"),
        ("a=1\\", "a", "1"),
        ("log.dirs=C\\:\\\\kafka", "log.dirs", "C:\\kafka"),
    ],
)
def test_one_entry(line: str, key: str, value: str) -> None:
    for end in ("", "\n", "\r\n"):
        assert values(line.replace("\n", end or "\n").encode() + end.encode()) == {key: value}


def test_comments_lines_and_repeats() -> None:
    notices = Notices()
    found, comments = entries(b"#\n# Sat Nov 21\n! b\n\na=1\nb=2\na=3\n", notices)
    assert comments == ["", "Sat Nov 21", "b"]
    assert {key: tuple(entry) for key, entry in found.items()} == {"a": ("3", 7), "b": ("2", 6)}
    assert notices.frame().select("reason", "line").rows() == [("'a' stands here again; line 5 does not count", 7)]


def test_bytes_that_are_not_utf8_are_latin1() -> None:
    assert values("a=é".encode()) == values("a=é".encode("latin-1")) == {"a": "é"}


def test_zero_bytes_are_noted() -> None:
    notices = Notices()
    found, _ = entries(b"a=1\n" + bytes(30), notices)
    assert set(found) == {"a"}
    assert notices.frame()["line"].to_list() == [2]


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    entries(data, Notices())
