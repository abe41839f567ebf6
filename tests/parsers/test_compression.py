"""Codecs are undone within a limit, and damage is one kind of error."""

from __future__ import annotations

import contextlib
import gzip
import struct
import tracemalloc

import cramjam
import lz4.frame
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from parsers.encodings.compression import CODECS, CannotDecompress, decompress


def xerial(*blocks: bytes) -> bytes:
    """Snappy in the blocks that Java clients write."""
    body = b"".join(
        struct.pack(">i", len(raw)) + raw for raw in (bytes(cramjam.snappy.compress_raw(block)) for block in blocks)
    )
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + body


def java_zstd(data: bytes) -> bytes:
    """Java's streaming writer does not know the size when it writes the frame header."""
    return zstandard.ZstdCompressor(write_content_size=False).compress(data)


COMPRESS = {
    "gzip": (1, gzip.compress),
    "gzip of two members": (1, lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])),
    "snappy": (2, lambda data: bytes(cramjam.snappy.compress_raw(data))),
    "xerial": (2, lambda data: xerial(data[:9], data[9:])),
    "xerial of small blocks": (2, lambda data: xerial(*(data[n : n + 500_000] for n in range(0, len(data), 500_000)))),
    "lz4": (3, lz4.frame.compress),
    "lz4 without size": (3, lambda data: lz4.frame.compress(data, store_size=False)),
    "zstd": (4, java_zstd),
}


@pytest.mark.parametrize("name", COMPRESS)
@given(data=st.binary(max_size=3000))
def test_round_trip(name: str, data: bytes) -> None:
    codec, compress = COMPRESS[name]
    assert decompress(codec, compress(data), limit=3000) == data


def test_every_codec_is_tried() -> None:
    assert {codec for codec, _ in COMPRESS.values()} == set(CODECS) - {0}
    assert decompress(0, b"as it is") == b"as it is"


@pytest.mark.parametrize("name", COMPRESS)
def test_the_limit_is_exact(name: str) -> None:
    codec, compress = COMPRESS[name]
    assert len(decompress(codec, compress(bytes(1000)), limit=1000)) == 1000
    with pytest.raises(CannotDecompress, match="more than 999 bytes"):
        decompress(codec, compress(bytes(1000)), limit=999)


@pytest.mark.parametrize("name", COMPRESS)
def test_a_bomb_does_not_fill_memory(name: str) -> None:
    codec, compress = COMPRESS[name]
    bomb = compress(bytes(30_000_000))
    tracemalloc.start()
    with pytest.raises(CannotDecompress):
        decompress(codec, bomb, limit=1_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_a_snappy_block_that_lies_about_its_length() -> None:
    block = b"\xff\xff\xff\xff\x0f" + b"\0" * 20  # 4 GiB announced
    with pytest.raises(CannotDecompress, match="more than"):
        decompress(2, block)
    with pytest.raises(CannotDecompress, match="more than"):
        decompress(2, b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(block)) + block)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codecs(codec: int) -> None:
    with pytest.raises(CannotDecompress, match=f"unknown codec {codec}"):
        decompress(codec, b"x")


@pytest.mark.parametrize("name", ["gzip", "snappy", "xerial", "lz4"])
def test_cut_data_is_an_error(name: str) -> None:
    codec, compress = COMPRESS[name]
    whole = compress(bytes(range(256)) * 4)
    for cut in range(24, len(whole)):  # a cut may leave the xerial mark and whole blocks: then it is shorter
        try:
            body = decompress(codec, whole[:cut])
        except CannotDecompress:
            continue
        assert name == "xerial"
        assert len(body) < 1024


@given(st.sampled_from([1, 2, 3, 4]), st.sampled_from([0, 2]), st.binary(max_size=200))
def test_any_bytes(codec: int, magic: int, data: bytes) -> None:
    for sample in (data, b"\x82SNAPPY\0" + bytes(8) + data, b"\x04\x22\x4d\x18" + data, b"\x28\xb5\x2f\xfd" + data):
        with contextlib.suppress(CannotDecompress):
            assert len(decompress(codec, sample, limit=1000, magic=magic)) <= 1000
