"""Segments of real brokers, and every way in which one can be damaged."""

from __future__ import annotations

import gzip
import io
import json
import struct
from dataclasses import replace
from pathlib import Path

import cramjam
import lz4.frame
import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from forensics.collect import headers
from parsers.errors import NotThisFormat
from parsers.formats import segment
from parsers.formats.segment import read_segment
from parsers.schema import BATCHES, NOTICES, DamageKind
from tests.parsers.formats.building import DATA, batch, boundaries, message
from tests.parsers.handing_over import source

LOGS = sorted(path.name for path in DATA.glob("*.log") if not path.name.startswith("request-"))
V2 = (DATA / "v2-gzip.log").read_bytes()
V1 = (DATA / "v1-gzip.log").read_bytes()


def reasons(scan: segment.SegmentScan) -> list[str]:
    assert all(reason.startswith(kind) for kind, reason in scan.notices.select("kind", "reason").iter_rows())
    return scan.notices["kind"].to_list()


# -- real segments ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOGS)
def test_real_segments_are_read_whole(name: str) -> None:
    data = (DATA / name).read_bytes()
    scan = read_segment(data, base_offset=0)
    assert scan.batches.schema == pl.Schema(BATCHES)
    assert scan.notices.schema == pl.Schema(NOTICES)
    assert scan.notices.is_empty()
    assert scan.batches["byte"].to_list() == boundaries(data)[:-1]
    assert scan.batches["crc_ok"].all()
    assert scan.valid_bytes == scan.size == len(data)
    assert scan.log_end_offset == scan.recovery_end_offset == scan.batches["last_offset"].max() + 1


def test_every_real_segment_is_read_whole(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/*/*.log"))
    if not paths:
        pytest.skip("this case keeps no segments")
    for path in paths:
        scan = read_segment(path.read_bytes(), base_offset=int(path.stem))
        assert scan.notices.is_empty(), path
        assert scan.valid_bytes == path.stat().st_size, path


def test_first_row_v2() -> None:
    scan = read_segment((DATA / "compacted.log").read_bytes())
    assert scan.magic == {2}
    # Compaction kept 7 of these records; the header's count and offsets stay those of the batch.
    assert scan.batches.row(0, named=True) == {
        "byte": 0,
        "size": 299,
        "base_offset": 160,
        "last_offset": 199,
        "leader_epoch": 0,
        "magic": 2,
        "crc": struct.unpack_from(">I", (DATA / "compacted.log").read_bytes(), 17)[0],
        "crc_ok": True,
        "records": 7,
        "codec": 0,
        "timestamp_type": 0,
        "transactional": False,
        "control": False,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "max_timestamp": struct.unpack_from(">q", (DATA / "compacted.log").read_bytes(), 35)[0],
        "delete_horizon": None,
    }


def test_first_row_v1() -> None:
    data = (DATA / "v1-lz4.log").read_bytes()
    scan = read_segment(data)
    assert scan.magic == {1}
    assert scan.batches.row(0, named=True) == {
        "byte": 0,
        "size": 3038,
        "base_offset": 0,
        "last_offset": 119,
        "leader_epoch": None,
        "magic": 1,
        "crc": struct.unpack_from(">I", data, 12)[0],
        "crc_ok": True,
        "records": 120,
        "codec": 3,
        "timestamp_type": 0,
        "transactional": False,
        "control": False,
        "producer_id": None,
        "producer_epoch": None,
        "base_sequence": None,
        "max_timestamp": struct.unpack_from(">q", data, 18)[0],
        "delete_horizon": None,
    }


def test_a_delete_horizon_is_the_base_timestamp_of_its_batch() -> None:
    """The cleaner sets bit 6 of the attributes then (KIP-534)."""
    data = bytearray((DATA / "compacted.log").read_bytes())
    struct.pack_into(">h", data, 21, struct.unpack_from(">h", data, 21)[0] | 64)
    struct.pack_into(">q", data, 27, 1_718_093_461_000)
    assert read_segment(bytes(data)).batches["delete_horizon"].to_list() == [1_718_093_461_000]


def test_headers_that_are_collected_have_the_delete_horizon() -> None:
    data = bytearray((DATA / "compacted.log").read_bytes())

    def collected() -> str:
        return "".join(headers.lines(source(bytes(data), "00000000000000000160.log")))

    assert " deleteHorizonMs: OptionalLong.empty " in collected()
    struct.pack_into(">h", data, 21, 64)
    struct.pack_into(">q", data, 27, 1_718_093_461_000)
    assert " deleteHorizonMs: OptionalLong[1718093461000] " in collected()


@pytest.mark.parametrize("name", [name for name in LOGS if name.startswith("v") and "keyed" not in name])
def test_batches_of_every_codec_hold_all_offsets_once(name: str) -> None:
    scan = read_segment((DATA / name).read_bytes())
    spans = scan.batches.select("base_offset", "last_offset", "records")
    offsets = [offset for first, last, _ in spans.iter_rows() for offset in range(first, last + 1)]
    expected = len(json.loads((DATA / "codecs.json").read_text())[name.removesuffix(".log").split("-")[1]])
    assert offsets == list(range(expected))
    assert spans["records"].sum() == expected


def test_forked_replicas_differ_where_they_were_forked() -> None:
    """A leader that came back kept [50, 80), which the two others had lost and written anew (KIP-101)."""
    ours, theirs = (
        read_segment((DATA / name).read_bytes()).batches.select("base_offset", "crc", "max_timestamp")
        for name in ("kip101-broker-1.log", "kip101-broker-2.log")
    )
    both = ours.join(theirs, on="base_offset", suffix="_other", maintain_order="left")
    differing = both.filter(pl.col("crc") != pl.col("crc_other"))["base_offset"]
    assert differing[0] == 50
    # Magic and time are under the checksum but the offset is not: equal values at one time would hide the fork.
    assert both.filter(pl.col("base_offset") < 50).select((pl.col("crc") == pl.col("crc_other")).all()).item()


class Trickle(io.RawIOBase):
    """A stream that gives little at once."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.rest = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        count = min(len(buffer), 700, len(self.rest))
        buffer[:count] = self.rest[:count]
        self.rest = self.rest[count:]
        return count


@pytest.mark.parametrize("step", [1000, 1 << 20])
@pytest.mark.parametrize("spoil", ["whole", "torn", "zeros", "length", "magic", "zeros between", "checksums"])
@pytest.mark.parametrize("name", ["v1-gzip.log", "v2-zstd.log", "kip101-broker-1.log"])
def test_a_stream_says_what_its_bytes_say(name: str, spoil: str, step: int) -> None:
    data = bytearray((DATA / name).read_bytes())
    middle = boundaries(bytes(data))[len(boundaries(bytes(data))) // 2]
    if spoil == "torn":
        del data[-7:]
    elif spoil == "zeros":
        data += bytes(3 << 20)
    elif spoil == "length":
        data[middle + 8 : middle + 12] = b"\x00\x7f\xff\xff"
    elif spoil == "magic":
        data[middle + 16] = 9
    elif spoil == "zeros between":
        data[middle:middle] = bytes(5000)
    elif spoil == "checksums":
        for place in boundaries(bytes(data))[:-1]:
            data[place + 20] ^= 1
    whole = read_segment(bytes(data), base_offset=0)
    for stream in (io.BytesIO(data), Trickle(bytes(data))):
        scan = read_segment(stream, base_offset=0, step=step)
        assert scan.batches.equals(whole.batches)
        assert scan.notices.equals(whole.notices)
        assert replace(scan, batches=whole.batches, notices=whole.notices) == whole


def test_without_crc_check() -> None:
    scan = read_segment(V2, verify_crc=False)
    assert scan.batches["crc_ok"].null_count() == len(scan.batches)
    assert scan.log_end_offset == 125


def test_an_empty_segment_ends_where_it_begins() -> None:
    scan = read_segment(b"", base_offset=42)
    assert (scan.log_end_offset, scan.recovery_end_offset, scan.valid_bytes, scan.magic) == (42, 42, 0, frozenset())
    assert scan.batches.is_empty()
    assert scan.notices.is_empty()
    assert read_segment(b"").log_end_offset is None


# -- another format ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"[2024-03-01 10:22:41,107] INFO nothing of a segment (kafka.Kafka)\n" * 9,
        b"0\n1\norders 0 80\n",
        bytes(4096),
        gzip.compress(V2),
        b"\x7fELF" + bytes(range(256)),
    ],
)
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_segment(data)


def test_foreign_bytes_under_a_segment_name_are_damage() -> None:
    scan = read_segment(b"[2024-03-01 10:22:41,107] INFO nothing of a segment\n", base_offset=0)
    assert scan.batches.is_empty()
    assert scan.valid_bytes == 0
    assert len(scan.notices) == 1


# -- the end of the file ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["compacted.log", "v2-keyed.log", "v2-gzip.log", "v1-gzip.log"])
def test_cut_at_every_byte(name: str) -> None:
    data = (DATA / name).read_bytes()
    whole = read_segment(data, base_offset=0).batches
    places = boundaries(data)
    # All of a small file; of a larger one the head of its first batch, and its last batches.
    middle = range(300, places[-5]) if len(data) > 1000 else range(0)
    for cut in sorted(set(range(len(data))) - set(middle)):
        scan = read_segment(data[:cut], base_offset=0)
        kept = max(index for index, place in enumerate(places) if place <= cut)
        assert scan.batches.equals(whole.head(kept)), cut
        assert scan.valid_bytes == places[kept], cut
        assert scan.log_end_offset == (whole["last_offset"][kept - 1] + 1 if kept else 0), cut
        if cut == places[kept]:
            assert scan.notices.is_empty(), cut
        else:
            # A cut inside a leading run of zero bytes looks like one.
            assert reasons(scan) in ([DamageKind.TORN_TAIL], [DamageKind.ZERO_TAIL]), cut
            assert scan.notices["byte"].to_list() == [places[kept]], cut


def test_a_torn_tail_names_the_offsets_that_were_cut() -> None:
    data = batch(10, [b"a"]) + batch(11, [b"b", b"c", b"d"])
    (reason,) = read_segment(data[:-1]).notices["reason"]
    assert reason == "torn tail: 72 of 73 bytes are there, of offsets 11 to 13"


@pytest.mark.parametrize("zeros", [1, 11, 12, 61, 5_000_000])
def test_a_zero_filled_tail_is_not_damage_of_batches(zeros: int) -> None:
    scan = read_segment(V2 + bytes(zeros))
    assert reasons(scan) == [DamageKind.ZERO_TAIL]
    assert scan.notices["byte"].to_list() == [scan.valid_bytes] == [len(V2)]
    assert scan.log_end_offset == 125


def test_zero_bytes_amid_data_are_told_from_a_zero_filled_tail() -> None:
    after = batch(200, [b"x"])
    scan = read_segment(V2 + bytes(4096) + after)
    assert reasons(scan) == [DamageKind.BAD_LENGTH]
    (reason,) = scan.notices["reason"]
    assert "4,103 zero bytes" in reason  # the offset 200 begins with 7 more
    assert f"offsets 200 to 200 stands at byte {len(V2) + 4096}, out of Kafka's reach" in reason
    assert scan.log_end_offset == 125


# -- lengths and formats ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 1, 13])
def test_impossible_lengths(length: int) -> None:
    bad = bytearray(batch(125, [b"x"]))
    struct.pack_into(">i", bad, 8, length)
    scan = read_segment(V2 + bad)
    assert reasons(scan) == [DamageKind.BAD_LENGTH]
    assert scan.notices["byte"].to_list() == [len(V2)]
    assert scan.log_end_offset == 125


@pytest.mark.parametrize("length", [14, 21, 48])
def test_lengths_too_small_for_their_format(length: int) -> None:
    bad = bytearray(batch(125, [b"x"]))
    struct.pack_into(">i", bad, 8, length)
    scan = read_segment(V2 + bad)
    assert reasons(scan) == [DamageKind.BAD_LENGTH]
    assert scan.notices["byte"].to_list() == [len(V2)]
    assert scan.valid_bytes == len(V2)


def test_a_lying_length_is_told_from_a_torn_tail() -> None:
    huge = bytearray(batch(125, [b"x" * 500]))
    struct.pack_into(">i", huge, 8, 2**31 - 1)
    assert reasons(read_segment(V2 + huge)) == [DamageKind.BAD_LENGTH]

    # A smaller lie is found by the batches that follow where the length says there is none.
    small = bytearray(batch(125, [b"x"]))
    struct.pack_into(">i", small, 8, 5000)
    assert reasons(read_segment(V2 + small)) == [DamageKind.TORN_TAIL]
    scan = read_segment(V2 + small + batch(126, [b"y", b"z"]))
    assert reasons(scan) == [DamageKind.BAD_LENGTH]
    assert f"offsets 126 to 127 stands at byte {len(V2) + len(small)}" in scan.notices["reason"][0]
    assert scan.log_end_offset == 125


@pytest.mark.parametrize("magic", [-1, 3, 127])
def test_unknown_message_formats(magic: int) -> None:
    bad = bytearray(batch(125, [b"x"]))
    struct.pack_into("b", bad, 16, magic)
    scan = read_segment(V2 + bad + batch(126, [b"y"]))
    assert reasons(scan) == [DamageKind.BAD_MAGIC]
    assert f"message format {magic};" in scan.notices["reason"][0]
    assert "offsets 126 to 126" in scan.notices["reason"][0]
    assert scan.magic == {2}


# -- checksums and headers --------------------------------------------------------------------------------------------


def test_a_bad_checksum_amid_good_batches() -> None:
    first, second, third = batch(0, [b"a"]), bytearray(batch(1, [b"b"])), batch(2, [b"c"])
    second[-1] ^= 1
    scan = read_segment(first + second + third)
    assert scan.batches["crc_ok"].to_list() == [True, False, True]
    assert reasons(scan) == [DamageKind.BAD_CRC]
    assert scan.notices["byte"].to_list() == [len(first)]
    assert scan.valid_bytes == len(first)
    assert (scan.recovery_end_offset, scan.log_end_offset) == (1, 3)


@pytest.mark.parametrize(
    "bad",
    [
        batch(125, [b"x"], last_delta=-1),
        batch(125, [b"x"], count=-1),
        batch(125, [b"x"], count=2),
        batch(125, [b"x"], attributes=5),
        batch(-5, [b"x"]),
        message(125, b"x", attributes=4),
    ],
)
def test_headers_that_contradict_themselves(bad: bytes) -> None:
    scan = read_segment(V2 + bad)
    assert DamageKind.BAD_HEADER in reasons(scan)
    assert set(scan.notices["byte"]) == {len(V2)}
    assert scan.notices["reason"].null_count() == 0
    assert scan.valid_bytes == len(V2)
    assert len(scan.batches) == len(boundaries(V2))


def test_offsets_that_go_back() -> None:
    first, second, third = batch(5, [b"a", b"b"]), batch(6, [b"c"]), batch(7, [b"d"])
    scan = read_segment(first + second + third)
    assert scan.notices.select("reason", "byte").rows() == [("offsets go back: 6 to 6 after 6", len(first))]
    assert scan.log_end_offset == 8


def test_offsets_that_go_back_more_than_once() -> None:
    scan = read_segment(V2 * 3, base_offset=0)
    assert reasons(scan) == ["offsets go back"] * 2


def test_gaps_are_legal() -> None:
    assert read_segment(batch(0, [b"a"]) + batch(90, [b"b"])).notices.is_empty()


@pytest.mark.parametrize(("base_offset", "first"), [(100, 99), (100, 100 + 2**31)])
def test_offsets_that_the_file_cannot_hold(base_offset: int, first: int) -> None:
    scan = read_segment(batch(first, [b"a"]), base_offset=base_offset)
    assert reasons(scan) == [DamageKind.OUT_OF_RANGE]
    assert scan.log_end_offset == base_offset


@given(st.sampled_from([V2, V1]), st.data())
def test_one_flipped_bit_is_noticed(data: bytes, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(data) - 1), label="byte")
    bit = draw.draw(st.integers(0, 7), label="bit")
    damaged = bytearray(data)
    damaged[place] ^= 1 << bit
    scan = read_segment(damaged, base_offset=0)
    begins = max(entry for entry in boundaries(data)[:-1] if entry <= place)
    inside = place - begins
    # No checksum covers offset and leader epoch: Kafka writes them after the producer has computed it.
    uncovered = inside < 8 or (data is V2 and 12 <= inside < 16)
    assert uncovered or not scan.notices.is_empty()
    assert uncovered or scan.valid_bytes == begins
    before = scan.batches.filter(pl.col("byte") < begins)
    assert before.equals(read_segment(data, base_offset=0).batches.filter(pl.col("byte") < begins))


@given(st.sampled_from([V2, V1]), st.data())
def test_overwritten_stretches_never_stop_the_reader(data: bytes, draw: st.DataObject) -> None:
    place = draw.draw(st.integers(0, len(data) - 1))
    garbage = draw.draw(st.binary(min_size=1, max_size=80))
    damaged = data[:place] + garbage + data[place + len(garbage) :]
    for verify_crc in (True, False):
        scan = read_segment(damaged, base_offset=0, verify_crc=verify_crc)
        assert 0 <= scan.valid_bytes <= scan.size == len(damaged)
        if scan.valid_bytes < len(damaged):
            assert not scan.notices.is_empty()


@given(st.binary(max_size=300), st.sampled_from([0, 7, None]))
def test_any_bytes(data: bytes, base_offset: int | None) -> None:
    try:
        scan = read_segment(data, base_offset=base_offset)
    except NotThisFormat:
        assert base_offset is None
    else:
        assert scan.valid_bytes == len(data) or not scan.notices.is_empty()


# -- message formats v0 and v1 ----------------------------------------------------------------------------------------


def test_wrappers_have_absolute_offsets_inside_v0_and_relative_ones_inside_v1() -> None:
    v0 = gzip.compress(b"".join(message(offset, b"v", magic=0) for offset in (40, 41, 42)))
    v1 = lz4.frame.compress(b"".join(message(offset, b"v") for offset in (1, 2, 4)))  # compaction removed 0 and 3
    data = message(42, v0, magic=0, attributes=1) + message(47, v1, attributes=3) + batch(48, [b"x"])
    scan = read_segment(data)
    assert scan.notices.is_empty()
    assert scan.magic == {0, 1, 2}
    rows = scan.batches.select("base_offset", "last_offset", "records", "magic", "timestamp_type", "max_timestamp")
    assert rows.rows() == [
        (40, 42, 3, 0, None, -1),
        (44, 47, 3, 1, 0, 1_700_000_000_000),
        (48, 48, 1, 2, 0, 1_700_000_000_000),
    ]


def test_offsets_inside_v0_are_taken_as_they_are() -> None:
    inside = gzip.compress(b"".join(message(offset, b"v", magic=0) for offset in (40, 41)))
    scan = read_segment(message(45, inside, magic=0, attributes=1))
    assert scan.batches.select("base_offset", "last_offset", "records").row(0) == (40, 45, 2)


def test_lz4_wrappers_of_v0_have_a_wrong_header_checksum() -> None:
    """Kafka 0.8 and 0.9 computed it over the wrong bytes (KAFKA-3160)."""
    frame = bytearray(lz4.frame.compress(message(7, b"v", magic=0), content_checksum=False, store_size=False))
    frame[6] ^= 0x5A
    with pytest.raises(RuntimeError):
        lz4.frame.decompress(bytes(frame))
    scan = read_segment(message(7, bytes(frame), magic=0, attributes=3))
    assert scan.notices.is_empty()
    assert scan.batches.select("base_offset", "last_offset", "records").row(0) == (7, 7, 1)
    # Format v1 has the right checksum, so there a wrong one is damage.
    assert reasons(read_segment(message(7, bytes(frame), magic=1, attributes=3))) == [DamageKind.BAD_WRAPPER]


def test_a_wrapper_above_the_limit_leaves_its_first_offset_unknown() -> None:
    bomb = gzip.compress(bytes(1_000_000))
    first, after = message(9, bomb, attributes=1), message(10, b"x")
    scan = read_segment(first + after, limit=100_000)
    assert reasons(scan) == [DamageKind.BAD_WRAPPER]
    assert "more than 100,000 bytes" in scan.notices["reason"][0]
    assert scan.batches.select("base_offset", "last_offset", "records").rows() == [(None, 9, None), (10, 10, 1)]
    assert scan.log_end_offset == 11


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"not gzip",
        gzip.compress(b""),
        gzip.compress(message(0, b"v"))[:-9],
        gzip.compress(message(0, b"v")[:-3]),
        gzip.compress(struct.pack(">qi", 0, -1) + bytes(20)),
        gzip.compress(message(-(2**62), b"v") + message(2**62, b"v")),
    ],
)
def test_wrappers_that_cannot_be_looked_into(value: bytes | None) -> None:
    scan = read_segment(message(5, value, attributes=1))
    assert reasons(scan) == [DamageKind.BAD_WRAPPER]
    assert scan.batches.select("base_offset", "last_offset", "records").row(0) == (None, 5, None)
    assert scan.log_end_offset == 6


def test_a_batch_is_never_decompressed() -> None:
    """A scan of v2 reads headers; a bomb inside costs nothing and is no finding."""
    bomb = zstandard.compress(bytes(50_000_000)), cramjam.snappy.compress_raw(bytes(1000)), b"not gzip"
    data = b"".join(batch(n, [b""], body=bytes(body), attributes=4 - n) for n, body in enumerate(bomb))
    assert read_segment(data, limit=1).notices.is_empty()
