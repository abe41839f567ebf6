from __future__ import annotations

import gzip
import io
import itertools
import zlib
from collections.abc import Callable

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from parsers import limits
from parsers.text import lines
from parsers.text.lines import Block, plain


def collected(blocks: list[Block]) -> list[tuple[int, str]]:
    return [row for block in blocks for row in block.frame().select("line", "text").rows()]


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufffd"), max_size=30)), st.integers(1, 50)
)
def test_lines_keep_text_and_number_however_they_are_cut(texts: list[str], size: int) -> None:
    data = "\n".join(texts).encode()
    found = collected(list(lines.blocks(io.BytesIO(data), block_bytes=size)))
    wanted = data.decode().split("\n")
    if wanted[-1] == "":
        wanted.pop()
    assert found == list(enumerate(wanted, start=1))


def test_a_block_of_line_ends_is_cut() -> None:
    with limits.moved({"lines": 1000}):
        blocks = list(lines.blocks(io.BytesIO(b"\n" * 4500 + b"end\n")))
    assert max(block.lines.len() for block in blocks) <= 1000
    assert [block.first_line for block in blocks] == [
        1 + sum(sizes) for sizes in itertools.accumulate([[0], *[[b.lines.len()] for b in blocks[:-1]]])
    ]
    assert collected(blocks)[-1] == (4501, "end")


@pytest.mark.parametrize("data", [b"one", b"one\ntwo", b"one\ntwo\nthree"])
def test_a_last_line_without_an_end_is_of_the_block_before_it(data: bytes) -> None:
    (block,) = lines.blocks(io.BytesIO(data))
    assert block.lines.to_list() == data.decode().split("\n")
    assert block.unended
    (block,) = lines.blocks(io.BytesIO(data + b"\n"))
    assert not block.unended
    kept = list(lines.blocks(io.BytesIO(data), ends=False))
    assert [text for block in kept for text in block.lines] == data.decode().split("\n")[:-1]


def test_bytes_that_are_no_text_cost_one_line() -> None:
    (block,) = lines.blocks(io.BytesIO(b"one\n\xff\xfe two\nthree\0\n"))
    assert block.lines.to_list() == ["one", "\ufffd\ufffd two", "three\ufffd"]
    assert block.notices.get_column("line").to_list() == [2, 3]


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress, zstandard.compress])
def test_a_block_that_begins_like_a_compressed_file_is_not_expanded(compress: Callable[[bytes], bytes]) -> None:
    data = compress(b"hidden\n" * 1000)
    found = collected(list(lines.blocks(io.BytesIO(b"first\n" + data + b"\nlast"), block_bytes=6)))
    assert (found[0], found[-1][1]) == ((1, "first"), "last")
    assert "hidden" not in [text for _, text in found]
    assert collected(list(lines.blocks(io.BytesIO(b"x\x9c is text\n(yes)")))) == [(1, "x\ufffd is text"), (2, "(yes)")]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=6),
    st.integers(1, 30),
    st.booleans(),
    st.sampled_from(["x", "é", "😀", "\0"]),
)
def test_a_line_beyond_its_limit_is_one_line_however_it_is_cut(
    lengths: list[int], size: int, ended: bool, letter: str
) -> None:
    texts = [letter * length for length in lengths]
    data = ("\n".join(texts) + "\n" * ended).encode()
    with limits.moved({"line": 10}):
        found = list(lines.blocks(io.BytesIO(data), block_bytes=size, sized=True))
    shown = letter.replace("\0", "\ufffd")
    wanted = texts if ended or texts[-1] else texts[:-1]
    rows = collected(found)
    assert [number for number, _ in rows] == list(range(1, len(wanted) + 1))
    assert all(set(text) <= {shown} for _, text in rows)
    sizes = [size for block in found if block.sizes is not None for size in block.sizes]
    assert sum(sizes) == len(data)
    assert sizes[:-1] == [len(text.encode()) + 1 for text in wanted[:-1]]
    named = [row["line"] for block in found for row in block.notices.rows(named=True) if "longer" in row["reason"]]
    long = [number for number, text in enumerate(wanted, 1) if len(text.replace("\0", "\ufffd").encode()) > 10]
    assert named == long


def test_a_file_without_line_ends_is_one_long_line_of_which_little_is_kept() -> None:
    (block,) = lines.blocks(io.BytesIO(b"x" * (3 << 20) + b"\nnext\n"), block_bytes=1 << 20, sized=True)
    assert block.lines.to_list() == ["x" * 2000, "next"]
    assert block.notices.get_column("line").to_list() == [1]
    assert block.sizes is not None
    assert block.sizes.to_list() == [(3 << 20) + 1, 5]


@pytest.mark.parametrize("escape", ["\x1b", "#033", "^[", "\\u001b", "\\033", ""])
def test_colours_are_removed_however_the_escape_character_is_written(escape: str) -> None:
    coloured = f"{escape}[36mkafka-1  |{escape}[0m [2024-03-01 10:22:41,107] {escape}[1;31mERROR{escape}[0m x (a.B)"
    assert plain(coloured.encode()) == b"kafka-1  | [2024-03-01 10:22:41,107] ERROR x (a.B)"


def test_brackets_alone_are_no_colours() -> None:
    assert plain(b"waited [31m of [90m (a.B)") == b"waited [31m of [90m (a.B)"
    assert plain(b"[0m] waited") == b"[0m] waited"
