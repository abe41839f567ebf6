from __future__ import annotations

import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import lines
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


def test_a_block_of_line_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_LINES", 1000)
    blocks = list(lines.blocks(io.BytesIO(b"\n" * 4500 + b"end\n")))
    assert max(block.lines.len() for block in blocks) <= 1000
    assert [block.first_line for block in blocks] == [
        1 + sum(sizes) for sizes in itertools.accumulate([[0], *[[b.lines.len()] for b in blocks[:-1]]])
    ]
    assert collected(blocks)[-1] == (4501, "end")


def test_bytes_that_are_no_text_cost_one_line() -> None:
    (block,) = lines.blocks(io.BytesIO(b"one\n\xff\xfe two\nthree\0\n"))
    assert block.lines.to_list() == ["one", "\ufffd\ufffd two", "three\ufffd"]
    assert block.notices.get_column("line").to_list() == [2, 3]


def test_a_file_without_line_ends_is_cut() -> None:
    found = list(lines.blocks(io.BytesIO(b"x" * (3 << 20)), block_bytes=1 << 20))
    assert sum(block.notices.height for block in found) + len(found) >= 3
