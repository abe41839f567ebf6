"""Bytes for one reader: what it may do with them, and what it may not."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from benchmarks.fuzz import guided
from parsers import read
from parsers.files.streams import CODECS, codec_of
from tests.conftest import EVERYTHING

CASE = "kip101-0.10.2.2"
SEGMENT = "orders-0/00000000000000000000.log"


@pytest.fixture
def segment(sample_traces: Path) -> bytes:
    return (sample_traces / CASE / "broker-1" / "data" / SEGMENT).read_bytes()


@pytest.mark.parametrize("name", guided.CONTAINERS)
def test_a_container_holds_what_is_put_into_it(name: str, segment: bytes) -> None:
    called, put = guided.CONTAINERS[name]
    assert guided.one(called, put(SEGMENT, segment))


@pytest.mark.parametrize("name", guided.TEXTS)
def test_a_text_has_the_format_that_it_is_a_seed_of(name: str) -> None:
    for path, text in guided.TEXTS[name]:
        formats = guided.one(path, text.encode())
        assert formats == (["archive", "broker-log", "broker-log"] if name == "excerpt" else [name])


@pytest.mark.parametrize("name", guided.TEXTS)
@pytest.mark.parametrize("number", ["9" * 5000, "9" * 20, "-1"])
def test_no_number_in_a_text_is_too_long_for_its_reader(name: str, number: str) -> None:
    for path, text in guided.TEXTS[name]:
        for found in re.finditer("[0-9]+", text):
            guided.one(path, f"{text[: found.start()]}{number}{text[found.end() :]}".encode())


@pytest.mark.skipif(not EVERYTHING, reason="reads all sample traces")
def test_each_format_and_each_codec_has_seeds() -> None:
    seeds = guided.seeds()
    assert {taker.format for taker in read.BUILT_IN} - set(seeds) == set()
    heads = [data for name in guided.CONTAINERS for _, data in seeds[name]]
    assert {codec.name for head in heads if (codec := codec_of(head)) is not None} == {one.name for one in CODECS}


def test_damage_is_taken_and_a_failure_is_seen(segment: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert guided.one(SEGMENT, segment[:1000] + b"\xff" * 50 + segment[1050:]) == ["segment"]

    def fails(*_: object) -> None:
        raise ZeroDivisionError("made by a test")

    takers = tuple(dataclasses.replace(taker, read=fails) for taker in read.TAKERS)
    monkeypatch.setattr(read, "TAKERS", takers)
    with pytest.raises(guided.Failed, match="ZeroDivisionError: made by a test"):
        guided.one(SEGMENT, segment)
