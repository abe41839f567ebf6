"""Bytes by what became of them: they add up to each file's content, in every dress, and damage lands where it is."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import read
from parsers.containers import expand
from parsers.files.sources import Source
from parsers.ledger import Bytes, ledger
from tests.conftest import alike
from tests.parsers.handing_over import LAYOUTS, WRAPPINGS, source, tar

NOISE = random.Random(7).randbytes(900)
GOOD = "[2024-03-01 10:22:41,107] INFO [Partition t-0 broker=1] Shrinking ISR from 1,2 to 1 (kafka.cluster.Partition)"
STRANGE = "[2024-03-01 10:22:41,108] INFO [Partition t-0 broker=1] Shrinking ISR somehow (kafka.cluster.Partition)"
OTHER = "[2024-03-01 10:22:41,109] ERROR Some words (kafka.Some)\njava.lang.Exception: x\n\tat kafka.A.b(A.scala:1)"


def told(file: Source) -> Bytes:
    return ledger(file, read.read(file))


def test_lines_of_a_log_go_with_their_event() -> None:
    text = "\n".join(["\tat kafka.B.c(B.scala:2)", GOOD, OTHER, STRANGE, GOOD, ""])
    assert told(source(text.encode())) == Bytes(
        understood=2 * len(GOOD) + 2, irrelevant=len(OTHER) + 1, unknown=len(STRANGE) + 1 + 25
    )


def test_a_damaged_line_is_damaged_alone() -> None:
    bad = b"x\xff\xfe" + NOISE[:50].replace(b"\n", b"")
    text = b"\n".join([GOOD.encode(), bad, b"\tat kafka.B.c(B.scala:2)", GOOD.encode()]) + b"\r\n"
    assert told(source(text)) == Bytes(understood=len(text) - len(bad) - 1, damaged=len(bad) + 1)


@pytest.mark.parametrize("name", alike([*WRAPPINGS, *LAYOUTS]))
def test_the_bytes_of_a_log_add_up_in_any_dress(name: str, sample_traces: Path) -> None:
    lines = (sample_traces / "unclean-3.9.1/broker-1/logs/server.log").read_text(encoding="utf-8").splitlines()
    data = {**WRAPPINGS, **LAYOUTS}[name](lines).encode()
    found = told(source(data))
    assert found.all == len(data)
    assert found.damaged == 0
    assert found.understood > found.irrelevant > found.unknown


def test_encodings_and_compression_count_content() -> None:
    text = "\n".join([GOOD, "\x1b[32m" + OTHER, ""])
    for data in (text.encode("utf-8-sig"), text.replace("\n", "\r\n").encode()):
        assert told(source(data)).all == len(data)
        (file,) = expand(source(gzip.compress(data), "server.log.gz"))
        assert told(file).all == len(data)


def test_a_segment_and_its_tail(sample_traces: Path) -> None:
    path = sample_traces / "unclean-3.9.1/broker-1/data/orders-0/00000000000000000000.log"
    data = path.read_bytes()
    name = "orders-0/00000000000000000000.log"
    assert told(source(data, name)) == Bytes(understood=len(data))
    assert told(source(data + NOISE, name)) == Bytes(understood=len(data), damaged=len(NOISE))
    wrong = bytearray(data)
    wrong[-1] ^= 1
    last = int(read.read(source(data, name)).batches.get_column("size")[-1])
    assert told(source(bytes(wrong), name)) == Bytes(understood=len(data) - last, damaged=last)


def test_small_files() -> None:
    good = b"0\n1\norders 0 5\n"
    assert told(source(good, "replication-offset-checkpoint")) == Bytes(understood=len(good))
    more = told(source(good + b"noise\n", "replication-offset-checkpoint"))
    assert more == Bytes(understood=len(good), damaged=6)
    assert told(source(b"\0\1" + NOISE, "orders-0/00000000000000000005.snapshot")) == Bytes(damaged=902)
    assert told(source(NOISE, "orders-0/00000000000000000005.index")) == Bytes(irrelevant=900)
    assert told(source(NOISE, "core.7")) == Bytes(unknown=900)


def test_an_archive_is_counted_by_itself() -> None:
    data = tar({"server.log": GOOD.encode()})
    archive, member = expand(source(data, "x.tar"))
    assert told(archive).all == len(data)
    assert told(member) == Bytes(understood=len(GOOD))


@pytest.mark.parametrize("name", ["bundle-unclean-2.8.2", "unclean-0.10.2.2", "txn-4.1.1"])
def test_every_file_of_a_sample(name: str, sample_traces: Path) -> None:
    for path in sorted((sample_traces / name).rglob("*")):
        if path.is_file() and path.stat().st_size < 1 << 20:
            for file in expand(source(path.read_bytes(), str(path))):
                if not file.stored or file.container:
                    assert told(file).all == file.size, path


@given(
    st.lists(st.sampled_from([GOOD, OTHER, STRANGE, "", "x\0y", "\ufeff", "a\rb", "\u2028z"]), max_size=9),
    st.binary(max_size=40),
    st.sampled_from(["server.log", "leader-epoch-checkpoint", "x-0/leader-epoch-checkpoint", "server.properties"]),
)
def test_any_text_adds_up(lines: list[str], noise: bytes, name: str) -> None:
    data = "\n".join(lines).encode() + noise
    file = source(data, name)
    reading = read.read(file)
    assert ledger(file, reading).all == len(data)
