"""The records that brokers of three versions wrote with every codec, and batches that lie about their content."""

from __future__ import annotations

import gzip
import itertools
import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers import limits
from parsers.errors import NotThisFormat
from parsers.formats.records import ControlRecord, Decoded, Record, decode_batch
from parsers.formats.segment import read_segment
from tests.parsers.formats.building import DATA, batch, boundaries, message, record

CODECS = json.loads((DATA / "codecs.json").read_text(encoding="utf-8"))


def batches(data: bytes) -> list[bytes]:
    places = boundaries(data)
    return [data[begin:end] for begin, end in itertools.pairwise(places)]


def read_all(data: bytes) -> list[Record]:
    records: list[Record] = []
    for one in batches(data):
        decoded = decode_batch(one)
        assert decoded.problem is None
        records += decoded.records
    return records


@pytest.mark.parametrize("name", ["v2-none", "v1-gzip"])
def test_a_batch_is_read_up_to_the_limit(name: str) -> None:
    (first, *_) = (one for one in batches((DATA / f"{name}.log").read_bytes()) if len(decode_batch(one).records) > 2)
    with limits.moved({"records": 2}):
        decoded = decode_batch(first)
    assert len(decoded.records) <= 2
    assert "--limit records=" in (decoded.problem or "")


@pytest.mark.parametrize("name", sorted(p.stem for p in DATA.glob("v[12]-*.log") if "keyed" not in p.name))
def test_every_codec_gives_back_what_was_written(name: str) -> None:
    written = CODECS[name.split("-")[1]]
    records = read_all((DATA / f"{name}.log").read_bytes())
    assert [(record.offset, record.value.decode()) for record in records if record.value] == list(enumerate(written))
    times = [record.timestamp for record in records]
    assert 1_700_000_000_000 < times[0] <= times[-1]


def test_every_recorded_cluster_gives_back_what_was_written(evidence_case: Path) -> None:
    truth = json.loads((evidence_case / "truth.json").read_text(encoding="utf-8"))
    if "records" not in truth:
        pytest.skip("this case does not list its records")
    topics = {entry["topic"] for entry in truth["records"]}
    seen = 0
    for path in sorted(evidence_case.glob("broker-*/data/*/*.log")):
        topic = path.parent.name.rpartition("-")[0]
        if topic not in topics:
            continue
        written = [(entry["offset"], entry["value"]) for entry in truth["records"] if entry["topic"] == topic]
        records = read_all(path.read_bytes())
        assert [(record.offset, (record.value or b"").decode()) for record in records] == written, path
        seen += 1
    assert seen >= len(topics)


def test_keys_tombstones_and_headers() -> None:
    records = read_all((DATA / "v2-keyed.log").read_bytes())
    assert records[0] == Record(0, 1795238198768, b"k0", None, (("h", b"\x00\xff"), ("n", None)))
    assert len(records) == 40
    assert {record.value is None for record in records} == {True, False}


def test_compaction_leaves_the_offsets_of_what_stays() -> None:
    data = (DATA / "compacted.log").read_bytes()
    records = read_all(data)
    offsets = [record.offset for record in records]
    assert len(offsets) == 7
    assert offsets == sorted(set(offsets))
    assert offsets[0] >= 160
    assert offsets[-1] <= 199


def test_transaction_markers() -> None:
    key, value = struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 12)
    commit = bytearray(batch(9, [value], key=key, attributes=0x30))
    struct.pack_into(">qh", commit, 43, 4711, 2)
    assert decode_batch(commit) == Decoded(
        controls=(ControlRecord(9, 1_700_000_000_000, "COMMIT", 1, 4711, 2, 12, value),)
    )
    abort = decode_batch(batch(9, [b""], key=struct.pack(">hh", 0, 0), attributes=0x30)).controls[0]
    assert (abort.type, abort.coordinator_epoch) == ("ABORT", None)
    unknown = decode_batch(batch(9, [b""], key=struct.pack(">hh", 0, 77), attributes=0x20)).controls[0]
    assert (unknown.type, unknown.type_id) == ("UNKNOWN(77)", 77)


def test_control_records_of_the_metadata_quorum() -> None:
    decoded = [decode_batch(one) for one in batches((DATA / "bootstrap.checkpoint").read_bytes())]
    assert [control.type for one in decoded for control in one.controls] == ["SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    assert [len(one.records) for one in decoded] == [0, 1, 0]


def test_wrapped_messages() -> None:
    inner = b"".join(message(offset, b"%d" % offset, time=100 + offset) for offset in (0, 1, 3))
    create = decode_batch(message(53, gzip.compress(inner), attributes=1))
    assert [(r.offset, r.timestamp, r.value) for r in create.records] == [
        (50, 100, b"0"),
        (51, 101, b"1"),
        (53, 103, b"3"),
    ]
    append = decode_batch(message(53, gzip.compress(inner), attributes=9, time=999))
    assert [r.timestamp for r in append.records] == [999, 999, 999]
    v0 = b"".join(message(offset, b"v", magic=0) for offset in (52, 53))
    absolute = decode_batch(message(53, gzip.compress(v0), magic=0, attributes=1))
    assert [(r.offset, r.timestamp) for r in absolute.records] == [(52, -1), (53, -1)]
    assert decode_batch(message(5, None)).records == (Record(5, 1_700_000_000_000, None, None),)


@pytest.mark.parametrize(
    "data",
    [
        batch(0, [b""], body=gzip.compress(bytes(1_000_000)), attributes=1),
        message(0, gzip.compress(bytes(1_000_000)), attributes=1),
    ],
)
def test_bombs_are_refused(data: bytes) -> None:
    assert read_segment(data, limit=10_000).batches["crc_ok"].all()
    decoded = decode_batch(data, limit=10_000)
    assert decoded.records == ()
    assert decoded.problem == "gzip data expands to more than 10,000 bytes"


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (batch(0, [b"a", b"b"], count=1_000_000_000, last_delta=2**30), 2),
        (batch(0, [b"a", b"b"], count=1), 1),
        (batch(0, [b"a"], body=record(0, b"a")[:-2]), 0),
        (batch(0, [b"a"], body=b"\xff" * 30), 0),
        (batch(0, [b"a"], body=b"junk", attributes=1), 0),
        (batch(0, [b"a"], key=b"\0", attributes=0x20), 0),
        (batch(0, [b"a"], attributes=0x20), 0),
        (batch(0, [b"a"], attributes=7), 0),
        (message(0, b"junk", attributes=1), 0),
        (message(0, gzip.compress(message(0, b"x", attributes=2)), attributes=1), 0),
        (message(0, gzip.compress(message(0, b"x")[:-1]), attributes=1), 0),
    ],
)
def test_batches_that_lie_about_their_content(data: bytes, kept: int) -> None:
    decoded = decode_batch(data)
    assert decoded.problem
    assert len(decoded.records) + len(decoded.controls) == kept


@pytest.mark.parametrize("data", [b"", b"x" * 100, batch(0, [b"a"])[:-1], batch(0, [b"a"]) + b"x", bytes(61)])
def test_bytes_that_are_not_one_batch(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        decode_batch(data)


@given(st.sampled_from(sorted(p.name for p in DATA.glob("v[12]-*.log"))), st.data())
def test_damage_never_stops_the_reader(name: str, draw: st.DataObject) -> None:
    one = bytearray(batches((DATA / name).read_bytes())[0])
    garbage = draw.draw(st.binary(min_size=1, max_size=15))
    place = draw.draw(st.integers(17, len(one) - len(garbage)))
    one[place : place + len(garbage)] = garbage
    decoded = decode_batch(one, limit=1_000_000)
    assert decoded.problem or decoded.records or decoded.controls or one[57:61] == bytes(4)
