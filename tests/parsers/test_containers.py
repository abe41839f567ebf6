from __future__ import annotations

import gzip
import io
import os
import subprocess
import tarfile
import zipfile
import zlib
from functools import cache
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from parsers import limits, read
from parsers.containers import expand
from parsers.file_reading import FileReading
from parsers.files import streams
from parsers.files.sources import Source
from parsers.walk import in_reading_order, walk
from tests.conftest import EVERYTHING
from tests.parsers.handing_over import COMPRESSIONS, CONTAINERS, folder, source, tar, zipped

TRACE = "unclean-3.9.1"


def readings(sources: list[Source]) -> dict[str, FileReading]:
    """What each file says, by path; archives left out."""
    found: dict[str, FileReading] = {}
    for unit in read.units(sources):
        for number, reading in zip(unit, read.read_unit([sources[n] for n in unit]), strict=True):
            if reading.format != read.ARCHIVE:
                found[sources[number].path] = reading
    return found


@cache
def plain_readings(root: Path) -> dict[str, FileReading]:
    """What each file of a folder says."""
    return readings(list(walk([str(root)])))


def same(one: FileReading, other: FileReading) -> bool:
    """Whether two files say the same."""
    tables = ("observations", "batches", "notices")
    values = ("format", "topic", "partition", "properties", "base_offset", "log_end", "understood", "first_time")
    return all(getattr(one, name).equals(getattr(other, name)) for name in tables) and all(
        getattr(one, name) == getattr(other, name) for name in values
    )


@pytest.mark.parametrize(
    ("container", "on_disk"),
    [
        pytest.param(container, on_disk, id=f"{container}-{'file' if on_disk else 'stream'}")
        for number, container in enumerate(CONTAINERS)
        for on_disk in (True, False)
        if EVERYTHING or on_disk == number % 2
    ],
)
def test_an_archive_says_what_its_folder_says(
    container: str, on_disk: bool, sample_traces: Path, tmp_path: Path
) -> None:
    root = sample_traces / TRACE
    plain = plain_readings(root)
    files = {f"{TRACE}/{name}": data for name, data in reversed(folder(root).items())}
    data = CONTAINERS[container](files)
    path = tmp_path / "bundle.bin"  # told by content, not by name
    path.write_bytes(data)
    sources = list(walk([str(path)])) if on_disk else list(expand(source(data, "bundle.bin")))
    found = readings(sources)
    by_end = {name.rpartition(f"!/{TRACE}/")[2].removesuffix(".gz"): reading for name, reading in found.items()}
    wanted = {name.removeprefix(f"{root}/"): reading for name, reading in plain.items()}
    assert by_end
    assert set(by_end) == set(wanted)
    assert [name for name in wanted if not same(by_end[name], wanted[name])] == []
    # members come as a walk through the folder would give them
    members = [s.path.rpartition(f"!/{TRACE}/")[2].removesuffix(".gz") for s in sources if not s.container]
    assert members == [s.path.removeprefix(f"{root}/") for s in walk([str(root)])]
    assert sum(s.notes != () for s in sources) == 0


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_compressed_file_keeps_its_name_and_content(compression: str, sample_traces: Path, tmp_path: Path) -> None:
    log = sample_traces / TRACE / "broker-1" / "logs" / "server.log"
    path = tmp_path / f"server.log.{compression}"
    path.write_bytes(COMPRESSIONS[compression](log.read_bytes()))
    (found,) = walk([str(path)])
    assert (found.path, found.name, found.container) == (str(path), "server.log", "")
    assert same(read.read(found), read.read(next(walk([str(log)]))))
    assert found.sha256() == next(walk([str(log)])).sha256()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_parts_in_a_row_are_one_content(compression: str) -> None:
    compress = COMPRESSIONS[compression]
    (found,) = expand(source(compress(b"one\n") + compress(b"two\n"), f"x.{compression}"))
    with found.open() as stream:
        assert stream.read() == b"one\ntwo\n"
        assert streams.problem_of(stream) == ""


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_cut_file_is_read_up_to_the_cut(compression: str, sample_traces: Path) -> None:
    logs = sorted((sample_traces).glob("*/broker-*/logs/server.log"))
    data = b"".join(log.read_bytes() for log in logs[:12])
    stored = COMPRESSIONS[compression](data)
    (found,) = expand(source(stored[: len(stored) * 3 // 4], f"server.log.{compression}"))
    reading = read.read(found)
    notices = reading.notices.get_column("reason").to_list()
    if compression == "bz2":  # one block of 900 kB: nothing is to be had of a part of it
        assert reading.format in ("unknown", "broker-log")
    else:
        assert reading.format == "broker-log"
        assert 0 < reading.understood < read.read(source(data)).understood
    assert any("ends inside the compressed data" in notice for notice in notices)


def test_damage_ends_a_stream_and_is_told() -> None:
    stored = bytearray(gzip.compress(os.urandom(400_000)))
    stored[200_000:200_010] = b"\xff" * 10
    (found,) = expand(source(bytes(stored), "server.log.gz"))
    with found.open() as stream:
        read_bytes = len(stream.read())
        assert read_bytes > 100_000
        assert "damaged" in streams.problem_of(stream) or read_bytes == 400_000
        assert streams.problem_of(stream) != ""


def test_bytes_behind_the_compressed_data_are_told() -> None:
    (found,) = expand(source(gzip.compress(b"x") + b"rest", "a.gz"))
    with found.open() as stream:
        assert stream.read() == b"x"
        assert "further bytes follow" in streams.problem_of(stream)


def test_padding_behind_the_compressed_data_is_passed_over() -> None:
    (found,) = expand(source(gzip.compress(b"x") + b"\0" * 200_000, "a.gz"))
    with found.open() as stream:
        assert stream.read() == b"x"
        assert streams.problem_of(stream) == ""


@pytest.mark.parametrize("compression", ["gz", "zst", "xz", "bz2"])
def test_a_bomb_is_not_expanded_without_end(compression: str) -> None:
    (found,) = expand(source(COMPRESSIONS[compression](b"\0" * (64 << 20)), f"server.log.{compression}"))
    largest = total = 0
    with limits.moved({"expanded": 8 << 20}), found.open() as stream:
        while data := stream.read(1 << 20):
            largest, total = max(largest, len(data)), total + len(data)
        assert "not read on" in streams.problem_of(stream)
    assert largest <= 1 << 20
    assert total < 40 << 20


def test_a_bomb_in_a_zip_is_refused_by_its_sizes() -> None:
    with limits.moved({"expanded": 1 << 20}):
        _, found = expand(source(zipped({"server.log": b"\0" * (8 << 20)}), "a.zip"))
    assert "would expand" in found.problem
    assert read.read(found).format == read.UNREADABLE


def test_too_many_layers_are_left_alone() -> None:
    once = gzip.compress(gzip.compress(gzip.compress(b"x")))
    (found,) = expand(source(once, "a.gz.gz.gz"))
    assert "times over" in found.problem
    deep = tar({"b.tar": tar({"c.tar": tar({"server.log": b"x"})})})
    assert [s.container for s in expand(source(deep, "a.tar"))] == ["tar", "tar in tar", ""]
    assert "2 archives are around this one" in list(expand(source(deep, "a.tar")))[-1].problem


@pytest.mark.parametrize("make", [tar, zipped], ids=["tar", "zip"])
def test_names_that_lead_out_of_an_archive_stay_in_it(make: object) -> None:
    names = ["../../etc/passwd", "/absolute/id", "a/../../b", "x\x1b[31m.log", "c\\..\\d"]
    archive, *found = expand(source(make(dict.fromkeys(names, b"x")), "bad"))  # type: ignore[operator]
    assert [s.path for s in found] == [
        "bad!/x\\x1b[31m.log",
        "bad!/a/b",
        "bad!/absolute/id",
        "bad!/c/d",
        "bad!/etc/passwd",
    ]
    assert any("lead out of the archive" in note for note in archive.notes)
    assert [s.open().read() for s in found] == [b"x"] * 5


def test_links_and_devices_are_counted_not_followed() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, kind, target in (("link", tarfile.SYMTYPE, "/etc/passwd"), ("pipe", tarfile.FIFOTYPE, "")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, target
            archive.addfile(info)
        info = tarfile.TarInfo("server.log")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
        info = tarfile.TarInfo("hard.log")
        info.type, info.linkname = tarfile.LNKTYPE, "server.log"
        archive.addfile(info)
    found = list(expand(source(out.getvalue(), "a.tar")))
    assert [(s.path, s.notes) for s in found] == [
        ("a.tar", ("1 links are not followed", "1 entries are neither files nor folders")),
        ("a.tar!/hard.log", ()),
        ("a.tar!/server.log", ()),
    ]
    assert found[1].open().read() == b"x"


@pytest.mark.parametrize("format_", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names(format_: int) -> None:
    name = "/".join(["topic-" + "x" * 240 + "-0"] * 2) + "/00000000000000000000.log"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format_) as archive:
        info = tarfile.TarInfo(name)
        info.size = 3
        archive.addfile(info, io.BytesIO(b"abc"))
    _, found = expand(source(out.getvalue(), "a.tar"))
    assert found.path == f"a.tar!/{name}"
    assert found.open().read() == b"abc"


def test_the_last_of_equal_names_counts() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for data in (b"old", b"newer"):
            info = tarfile.TarInfo("server.log")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    archive_, found = expand(source(out.getvalue(), "a.tar"))
    assert found.open().read() == b"newer"
    assert any("again under the same name" in note for note in archive_.notes)


def test_a_cut_tar_gives_what_is_whole(tmp_path: Path) -> None:
    whole = tar({"a.log": b"a" * 2000, "b.log": b"b" * 2000})
    for data, where in ((whole[: 512 + 2048 + 512 + 700], "b.log: 700 of 2,000"), (whole[:4000], "")):
        path = tmp_path / "cut.tar"
        path.write_bytes(data)
        archive, *found = walk([str(path)])
        assert [s.path.rpartition("/")[2] for s in found] == ["a.log", "b.log"]
        assert found[0].open().read() == b"a" * 2000
        assert any(where in note for note in archive.notes)
    stored = gzip.compress(whole[: 512 + 2048 + 512 + 700])
    _, _, second = expand(source(stored, "cut.tar.gz"))
    with second.open() as stream:
        assert stream.read() == b"b" * 700
        assert "1,300 bytes before the end" in streams.problem_of(stream)


def test_a_damaged_header_costs_one_file() -> None:
    data = bytearray(tar({"a.log": b"a", "b.log": b"b", "c.log": b"c"}))
    data[1024:1034] = b"\xff" * 10
    archive, *found = expand(source(bytes(data), "a.tar"))
    assert [s.path for s in found] == ["a.tar!/a.log", "a.tar!/c.log"]
    assert any("no header at byte 1,024" in note for note in archive.notes)


def test_a_zip_that_is_locked_or_damaged_is_told() -> None:
    data = zipped({"server.log": b"x" * 5000})
    locked = bytearray(data)
    locked[6] |= 1
    locked[data.index(b"PK\x01\x02") + 8] |= 1
    _, found = expand(source(bytes(locked), "a.zip"))
    assert "encrypted" in found.problem
    broken = bytearray(zipped({"server.log": os.urandom(5000)}, zipfile.ZIP_STORED))
    broken[200] ^= 0xFF
    _, found = expand(source(bytes(broken), "a.zip"))
    with found.open() as stream:
        stream.read()
        assert "damaged here" in streams.problem_of(stream)


@pytest.mark.parametrize("layout", ["gnu", "pax"])
@pytest.mark.parametrize("pieces", [1, 30])
def test_a_sparse_file_in_a_tar_is_named(layout: str, pieces: int, tmp_path: Path) -> None:
    """Its archive holds the pieces alone, which are no log; what follows it is read."""
    with (tmp_path / "a.log").open("wb") as file:
        for number in range(pieces):
            file.seek((number + 1) * 200_000)
            file.write(b"x")
    (tmp_path / "b.log").write_bytes(b"b")
    names = (["a.log"], ["a.log", "b.log"])
    for name in names:
        pack = ["tar", "--sparse", f"--format={layout}", "-C", str(tmp_path), "-cf", str(tmp_path / "a.tar"), *name]
        subprocess.run(pack, check=True)
        archive, *found = expand(source((tmp_path / "a.tar").read_bytes(), "a.tar"))
        assert archive.notes == ("1 sparse files are not read; pack without --sparse",)
        assert [one.path for one in found] == [f"a.tar!/{one}" for one in name[1:]]


def test_an_error_without_text_is_named() -> None:
    class Ends(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise EOFError

    watched = streams.Watched(Ends(), (EOFError,))  # type: ignore[arg-type]
    assert watched.read(10) == b""
    assert streams.problem_of(watched).startswith("the archive is damaged here (the data ends too early); 0 bytes")  # type: ignore[arg-type]


def test_members_of_a_compressed_tar_cost_one_pass() -> None:
    opened = 0
    data = tar({f"{number}.log": os.urandom(400_000) for number in range(6)}, "gz")

    def opener() -> io.BytesIO:
        nonlocal opened
        opened += 1
        return io.BytesIO(data)

    sources = [s for s in expand(Source("a.tar.gz", len(data), opener)) if not s.container]
    before = opened
    contents = {}
    for number in in_reading_order(sources):
        with sources[number].open() as stream:
            contents[number] = len(stream.read())
    assert set(contents.values()) == {400_000}
    assert opened == before + 1


def test_large_members_are_not_kept_in_memory() -> None:
    data = tar({"small.log": b"x" * 1000, "large.log": b"y" * 1_000_000}, "gz")
    _, large, small = expand(source(data, "a.tar.gz"))
    assert small.digest is not None
    assert large.digest is not None
    held = [cell for cell in (large.open, small.open) if type(cell).__name__ == "_Bytes"]
    assert [len(cell.data) for cell in held] == [1000]  # type: ignore[attr-defined]
    assert large.sha256() == large.digest
    with large.open() as stream:
        assert len(stream.read()) == 1_000_000


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch, sample_traces: Path) -> None:
    root = sample_traces / TRACE

    class Stdin:
        buffer = io.BytesIO(tar({f"{TRACE}/{name}": data for name, data in folder(root).items()}, "zst"))

    monkeypatch.setattr("sys.stdin", Stdin)
    found = list(walk(["-"]))
    assert found[0].container == "tar in zstd"
    assert len(found) - 1 == len(folder(root))
    assert found[1].path.startswith(f"-!/{TRACE}/")


def test_binary_data_that_adds_up_is_no_tar() -> None:
    """A producer snapshot whose bytes, taken with their signs, add up to the sum that a tar's header lacks."""
    head = bytearray(b"\x00\x01" + bytes(510))
    head[400:402] = (255, 1)  # -1 and 1
    missing = -(256 + sum(byte - 256 if byte > 127 else byte for byte in head))
    for index in range(200, 400):
        step = max(-128, min(0, missing))
        head[index], missing = step % 256, missing - step
    assert missing == 0
    assert tarfile.TarInfo.frombuf(bytes(head), "utf-8", "surrogateescape")  # the library falls for it
    name = "orders-0/00000000000000000180.snapshot"
    assert [found.path for found in expand(source(bytes(head) + bytes(600), name))] == [name]


def test_jars_are_not_looked_into() -> None:
    (found,) = expand(source(zipped({"a.class": b"x"}), "libs/kafka.jar"))
    assert read.read(found).format == read.IRRELEVANT


def test_links_in_folders_are_followed_only_if_named(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "outside.log").write_text("x")
    (tmp_path / "case" / "server.log").write_text("x")
    (tmp_path / "case" / "link.log").symlink_to(tmp_path / "outside.log")
    (tmp_path / "case" / "inner.log").symlink_to(tmp_path / "case" / "server.log")
    found = {s.name: s.problem for s in walk([str(tmp_path / "case")])}
    assert set(found) == {"link.log", "server.log"}
    assert "not followed" in found["link.log"]
    assert [s.problem for s in walk([str(tmp_path / "case" / "link.log")])] == [""]


def test_names_that_are_no_text_are_shown(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/server-\xff.log")).write_text("x")
    (found,) = walk([str(tmp_path)])
    assert found.path.endswith("server-\\xff.log")
    with found.open() as stream:
        assert stream.read() == b"x"


@given(st.binary(max_size=3000), st.sampled_from(["gz", "zst", "lz4", "bz2", "xz", "tar", "zip"]))
def test_no_archive_crashes_the_reader(noise: bytes, kind: str) -> None:
    data = (
        COMPRESSIONS[kind](noise)
        if kind in COMPRESSIONS
        else (tar if kind == "tar" else zipped)({"server.log": noise, "a/b.log": b"x"})
    )
    spoilt = bytearray(data)
    for place, value in enumerate(noise[:12]):
        spoilt[(place * 7919 + value * 31) % len(spoilt)] ^= value
    for candidate in (data, bytes(spoilt), bytes(spoilt[: len(spoilt) // 2])):
        for found in expand(source(candidate, f"x.{kind}")):
            reading = read.read(found)
            assert reading.format
            assert isinstance(reading.notices, pl.DataFrame)


def test_zstd_frames_larger_than_memory_allows_are_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=29, compression_level=1)
    writer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    data = writer.compress(b"x" * 100) + writer.flush()
    (found,) = expand(source(data, "a.zst"))
    with found.open() as stream:
        assert stream.read() in (b"", b"x" * 100)


def test_the_codec_is_told_by_content() -> None:
    assert streams.codec_of(b"BZh is how this text begins") is None
    assert streams.codec_of(zlib.compress(b"x")) is None
    for name, compress in COMPRESSIONS.items():
        codec = streams.codec_of(compress(b"some text"))
        assert codec is not None
        assert f".{name}" in codec.suffixes
