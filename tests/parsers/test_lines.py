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

from parsers import limits, lines
from parsers.lines import Block


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


def test_a_file_without_line_ends_is_cut() -> None:
    found = list(lines.blocks(io.BytesIO(b"x" * (3 << 20)), block_bytes=1 << 20))
    assert sum(block.notices.height for block in found) + len(found) >= 3
