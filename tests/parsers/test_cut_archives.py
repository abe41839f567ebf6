"""Archives that broke off on their way: what is whole is read, what is missing is said, and where."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from parsers import limits, read
from parsers.containers import expand
from parsers.files import streams
from parsers.files.sources import Source
from parsers.walk import walk
from tests.parsers.handing_over import COMPRESSIONS, source, tar, zipped

FILES = {f"broker-1/logs/server.log.{n}": random.Random(n).randbytes(20_000).hex().encode() for n in range(8)}


class Pipe(io.RawIOBase):
    """What cannot seek: a zip written to it has sizes and checksums behind its files."""

    def __init__(self) -> None:
        super().__init__()
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.data += data
        return len(data)


def piped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip as servers and Java programs stream it."""
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", method) as archive:  # type: ignore[arg-type]
        for name, data in files.items():
            archive.writestr(name, data)
    return bytes(pipe.data)


ZIPS: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "deflated": zipped,
    "stored": lambda files: zipped(files, zipfile.ZIP_STORED),
    "bzip2": lambda files: zipped(files, zipfile.ZIP_BZIP2),
    "piped": piped,
    "piped, stored": lambda files: piped(files, zipfile.ZIP_STORED),
    "piped, bzip2": lambda files: piped(files, zipfile.ZIP_BZIP2),
}
OUTER: dict[str, Callable[[bytes], bytes]] = {
    "alone": lambda data: data,
    "tar": lambda data: tar({"inner": data}),
    "zip": lambda data: zipped({"inner": data}),
    "zip, stored": lambda data: zipped({"inner": data}, zipfile.ZIP_STORED),
    **{f"tar.{name}": (lambda data, name=name: tar({"inner": data}, name)) for name in COMPRESSIONS},  # type: ignore[misc]
}


def headers(data: bytes) -> list[int]:
    """Where the headers of a zip's files stand."""
    return [place for place in range(len(data)) if data.startswith(b"PK\x03\x04", place)]


def contents(sources: list[Source]) -> tuple[int, list[str]]:
    """How many files came out whole, and what was said of archives and of files that came out cut."""
    whole = 0
    said: list[str] = []
    for found in sources:
        if found.container or found.problem:
            said += read.read(found).notices["reason"].to_list()
            continue
        wanted = FILES[found.path.rpartition("!/")[2]]
        with found.open() as stream:
            data = stream.read()
            if data == wanted:
                whole += 1
            else:
                assert wanted.startswith(data), found.path
                said.append(streams.problem_of(stream))
    return whole, said


@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("kind", ZIPS)
def test_of_a_cut_zip_the_whole_files_are_read(kind: str, outer: str, tmp_path: Path) -> None:
    data = ZIPS[kind](FILES)
    end = len(data) * 3 // 5
    whole = sum(place < end for place in headers(data)[1:])
    path = tmp_path / "bundle"
    path.write_bytes(OUTER[outer](data[:end]))
    for sources in (list(walk([str(path)])), list(expand(source(path.read_bytes(), "bundle")))):
        found, said = contents(sources)
        assert found == whole
        assert [note for note in said if "has no directory" in note and f"server.log.{whole}, at byte {end:,}" in note]
        assert any("the zip ends inside this file" in note for note in said)


@pytest.mark.parametrize("inner", ["tar", "tar.gz", "zip"])
@pytest.mark.parametrize("outer", ["tar.gz", "tar.lz4", "tar.zst", "tar.xz", "tar"])
def test_an_archive_that_is_cut_around_another_gives_what_is_whole(outer: str, inner: str) -> None:
    data = {"tar": tar, "tar.gz": lambda files: tar(files, "gz"), "zip": zipped}[inner](FILES)  # type: ignore[operator]
    handed = OUTER[outer](data)
    whole, said = contents(list(expand(source(handed[: len(handed) * 3 // 5], "bundle"))))
    assert 2 <= whole <= 5
    assert any("ends inside" in note for note in said)


def test_a_zip_cut_inside_its_directory_loses_nothing() -> None:
    data = zipped(FILES)
    whole, said = contents(list(expand(source(data[:-30], "a.zip"))))
    assert whole == len(FILES)
    assert f"from byte {data.index(b'PK' + bytes([1, 2])):,} on is cut" in said[0]


def test_a_cut_at_the_end_of_a_file_is_told() -> None:
    data = zipped(FILES)
    third = headers(data)[3]
    whole, said = contents(list(expand(source(data[:third], "a.zip"))))
    assert whole == 3
    assert said[0].endswith(f"it ends at byte {third:,}")
    one = tar({"server.log": b"x" * 512})
    archive, found = expand(source(one[:1024], "a.tar"))
    assert found.open().read() == b"x" * 512
    (said,) = archive.notes
    assert said.startswith("it ends at byte 1,024 without the mark of an end; files may be missing here")


@pytest.mark.parametrize("make", [zipped, piped], ids=["sizes before", "sizes behind"])
def test_damage_costs_one_file_of_a_zip_without_directory(make: Callable[[dict[str, bytes]], bytes]) -> None:
    data = bytearray(make(FILES))
    places = headers(data)
    data[places[2] + 9000 : places[2] + 9040] = b"\xff" * 40  # inside the content
    data[places[4] : places[4] + 4] = b"XXXX"  # a header
    sources = list(expand(source(bytes(data[: places[7]]), "a.zip")))
    good, cut, said = 0, 0, list(sources[0].notes)
    for found in sources[1:]:
        with found.open() as stream:
            content = stream.read()
            good += content == FILES[found.path.rpartition("!/")[2]]
            if problem := streams.problem_of(stream):
                cut += 1
                said.append(problem)
    assert (good, cut) == (5, 1)
    assert any(f"no header at byte {places[4]:,}" in note for note in said)
    assert any("damaged" in note or "checksum" in note for note in said[1:])


def test_a_wrong_checksum_is_told() -> None:
    data = bytearray(zipped({"server.log": b"x" * 5000}, zipfile.ZIP_STORED))
    data[100] ^= 1
    _, found = expand(source(bytes(data[:-10]), "a.zip"))
    with found.open() as stream:
        assert len(stream.read()) == 5000
        assert "checksum" in streams.problem_of(stream)


def test_the_directory_of_a_zip_inside_is_not_taken_for_the_outer_ones() -> None:
    inner = zipped({"wrong.log": b"y" * 50}, zipfile.ZIP_STORED)
    data = zipped({"server.log": b"x" * 2000, "inner.zip": inner}, zipfile.ZIP_STORED)
    cut = data[: data.index(b"PK\x05\x06") + 22]  # right behind the inner one's end
    found = {s.path: s for s in expand(source(cut, "a.zip"))}
    assert found["a.zip!/server.log"].open().read() == b"x" * 2000
    assert found["a.zip!/inner.zip!/wrong.log"].open().read() == b"y" * 50
    assert "no directory" in found["a.zip"].notes[0]


def test_sizes_of_zip64_are_read_from_their_field() -> None:
    body = b"x" * 3000
    extra = struct.pack("<2H2Q", 1, 16, len(body), len(body))
    header = struct.pack("<4s5H3I2H", b"PK\x03\x04", 45, 0, 0, 0, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 10, len(extra))
    archive, found = expand(source(header + b"server.log" + extra + body, "a.zip"))
    assert found.size == 3000
    assert "1 files" in archive.notes[0]


def test_what_cannot_be_read_of_a_zip_without_directory_is_told() -> None:
    data = bytearray(zipped(FILES)[:-30])
    data[6] |= 1  # a password
    second = data.index(b"PK\x03\x04", 4)
    data[second + 8] = 93  # zstd, which few tools read
    problems = [s.problem for s in expand(source(bytes(data), "a.zip")) if s.problem]
    assert len(problems) == 2
    assert "encrypted" in problems[0]
    assert "method 93" in problems[1]


def test_a_bomb_does_not_expand_while_its_end_is_looked_for() -> None:
    with limits.moved({"expanded": 1 << 20}):
        archive, found = expand(source(piped({"server.log": b"\0" * (8 << 20)})[:-40], "a.zip"))
    assert found.size < 6 << 20
    assert archive.notes


@pytest.mark.parametrize("stored", ["tar", "tar.gz", "log.gz"])
def test_a_segment_that_is_cut_does_not_tell_where_the_log_ends(
    stored: str, sample_traces: Path, tmp_path: Path
) -> None:
    whole = sample_traces / "unclean-3.9.1"
    segment = whole / "broker-1" / "data" / "orders-0" / "00000000000000000000.log"
    if stored == "log.gz":
        shutil.copytree(whole, tmp_path / "case")
        copy = tmp_path / "case" / segment.relative_to(whole)
        packed = gzip.compress(copy.read_bytes())
        copy.unlink()
        copy.with_name(f"{copy.name}.gz").write_bytes(packed[: len(packed) // 2])
    else:
        packed_to = io.BytesIO()
        with tarfile.open(fileobj=packed_to, mode="w") as archive:
            for path in sorted(whole.rglob("*")):
                if path.is_file() and path != segment:
                    archive.add(path, path.relative_to(whole))
            archive.add(segment, segment.relative_to(whole))
        data = packed_to.getvalue()
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            begin = archive.getmember(str(segment.relative_to(whole))).offset_data
        data = data[: begin + 1000]
        (tmp_path / f"case.{stored}").write_bytes(gzip.compress(data) if stored == "tar.gz" else data)
    (partition,) = scan([str(tmp_path)]).partitions
    told = {rule: judgement.verdict.value for rule, judgement in partition.judgements.items()}
    assert told["hw-above-leo"] == "unknown"
    assert told["segment-damage"] == "unknown"
    assert told["checkpoint-contradiction"] == "unknown"


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "a wrong sum": lambda data: data[:150] + b"?" + data[151:],
    "no magic": lambda data: data[:100] + bytes(412) + data[512:],
    "zeros": lambda data: bytes(512) + data[512:],
    "text": lambda data: b"x" * 512 + data[512:],
}


@pytest.mark.parametrize("compress", [None, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_first_header_costs_one_file(how: str, compress: Callable[[bytes], bytes] | None) -> None:
    data = DAMAGED[how](tar(FILES))
    name = "a.tar" if compress is None else "a.tgz"
    whole, said = contents(list(expand(source(data if compress is None else compress(data), name))))
    assert whole == len(FILES) - 1
    if how != "zeros":
        assert said[0].startswith("no header at byte 0, where one must be; files may be missing here")


def test_no_text_and_no_segment_is_taken_for_an_archive(tmp_path: Path) -> None:
    inside = tar({"server.log": b"x"})
    files = {
        "logs/server.log": b"[2026-11-21 04:11:02,000] INFO ustar " * 50,
        "logs/server.log.zip": b"[2026-11-21 04:11:02,000] INFO no zip\n" * 50,
        "data/orders-0/00000000000000000000.log": b"x" * 512 + inside,
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert [one.container for one in walk([str(tmp_path)])] == [""] * len(files)


@pytest.mark.parametrize("stub", [b"#!/bin/sh\nexit 1\n", b"MZ" + bytes(70_000), b"\x7fELF" + bytes(5000)])
def test_a_zip_behind_a_program_is_read(stub: bytes, tmp_path: Path) -> None:
    (tmp_path / "bundle.exe").write_bytes(stub + zipped(FILES))
    whole, said = contents(list(walk([str(tmp_path)])))
    assert whole == len(FILES)
    assert said == [f"{len(stub):,} bytes are before the zip, as of a program that unpacks it: they are not read"]
