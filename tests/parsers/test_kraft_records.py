"""The layouts of metadata records, each with a record of its newest version built by hand."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.encodings.kraft_records import LAYOUTS, NOT_READ, Unreadable, decode, decode_leader_change
from tests.parsers.formats.building import (
    TOPIC_ID,
    TOPIC_ID_TEXT,
    change_record,
    compact,
    metadata,
    partition_record,
    text,
    topic_record,
    unsigned,
)

BROKER = struct.pack(">iq", 3, 111)
REGISTER = (
    struct.pack(">i?", 3, False)
    + TOPIC_ID
    + struct.pack(">q", 111)
    + (unsigned(2) + text("PLAINTEXT") + text("host") + struct.pack(">Hh", 9092, 0) + unsigned(0))
    + (unsigned(2) + text("metadata.version") + struct.pack(">hh", 1, 21) + unsigned(0))
    + text(None)
    + b"\1\0"
)
DIRECTORIES = unsigned(2) + TOPIC_ID

# A record of the newest version of each layout, and the values that it must give.
EXAMPLES: dict[int, tuple[bytes, dict[str, object]]] = {
    0: (
        metadata(0, REGISTER, version=3, tags={0: DIRECTORIES}),
        {"broker_id": 3, "broker_epoch": 111, "fenced": True, "log_dirs": (TOPIC_ID_TEXT,), "rack": None},
    ),
    1: (metadata(1, BROKER), {"broker_id": 3, "broker_epoch": 111}),
    2: (topic_record("orders"), {"name": "orders", "topic_id": TOPIC_ID_TEXT}),
    3: (
        partition_record(7, (1, 2), 2, 5, 9, elr=(3,)),
        {"partition_id": 7, "isr": (1, 2), "leader": 2, "leader_epoch": 5, "eligible_leader_replicas": (3,)},
    ),
    4: (
        metadata(4, b"\2" + text("orders") + text("retention.ms") + text(None)),
        {"resource_type": 2, "resource_name": "orders", "name": "retention.ms", "value": None},
    ),
    5: (
        change_record(7, isr=(2,), leader=-1, elr=(1, 3), recovery=1),
        {"partition_id": 7, "isr": (2,), "leader": -1, "replicas": None, "eligible_leader_replicas": (1, 3)},
    ),
    7: (metadata(7, BROKER), {"broker_id": 3, "broker_epoch": 111}),
    8: (metadata(8, BROKER), {"broker_id": 3, "broker_epoch": 111}),
    9: (metadata(9, TOPIC_ID), {"topic_id": TOPIC_ID_TEXT}),
    12: (metadata(12, text("metadata.version") + b"\0\x15"), {"name": "metadata.version", "feature_level": 21}),
    17: (
        metadata(17, BROKER, version=2, tags={0: b"\xff", 2: DIRECTORIES}),
        {"broker_id": 3, "fenced": -1, "in_controlled_shutdown": 0, "log_dirs": (TOPIC_ID_TEXT,)},
    ),
    20: (metadata(20), {}),
    23: (metadata(23, tags={0: text("Bootstrap")}), {"name": "Bootstrap"}),
    24: (metadata(24), {}),
    25: (metadata(25, tags={0: text("why")}), {"reason": "why"}),
    28: (metadata(28, text("")), {"topic_name": ""}),
}


def test_every_layout_has_an_example() -> None:
    assert EXAMPLES.keys() == LAYOUTS.keys()
    assert not NOT_READ.keys() & LAYOUTS.keys()


@pytest.mark.parametrize("api_key", LAYOUTS)
def test_examples(api_key: int) -> None:
    value, expected = EXAMPLES[api_key]
    record = decode(value)
    layout = LAYOUTS[api_key]
    assert (record.name, record.version, record.strangers) == (layout.name, layout.newest, ())
    assert set(record.fields) == {field.name for field in layout.fields}
    assert record.fields.items() >= expected.items()


@pytest.mark.parametrize("api_key", LAYOUTS)
def test_cut_at_every_byte(api_key: int) -> None:
    value, _ = EXAMPLES[api_key]
    for cut in range(len(value)):
        with pytest.raises(Unreadable):
            decode(value[:cut])


@pytest.mark.parametrize("api_key", LAYOUTS)
def test_what_is_not_known_is_refused(api_key: int) -> None:
    value, _ = EXAMPLES[api_key]
    with pytest.raises(Unreadable, match="1 bytes too many"):
        decode(value + b"\0")
    newer = value[:2] + unsigned(LAYOUTS[api_key].newest + 1) + value[3:]
    with pytest.raises(Unreadable, match="is unknown"):
        decode(newer)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"none-0-",
        metadata(99),
        b"\2" + metadata(20)[1:],
        b"\xff" * 20,
        metadata(2, unsigned(3) + b"\xff\xff" + TOPIC_ID),
        metadata(5, bytes(20), tags={0: compact(1, 2) + b"\0"}),
        metadata(3, bytes(20) + unsigned(2**31)),
    ],
)
def test_values_that_no_layout_fits(value: bytes) -> None:
    with pytest.raises(Unreadable):
        decode(value)


def test_older_versions_lack_fields() -> None:
    record = decode(
        metadata(3, struct.pack(">i", 0) + TOPIC_ID + compact(1) * 2 + compact() * 2 + struct.pack(">iii", 1, 0, 0))
    )
    assert record.fields["directories"] == ()
    assert record.fields["eligible_leader_replicas"] == ()
    preview = decode(b"\0" + change_record(0, leader=2)[1:])  # frame version 0, as 2.8 wrote
    assert preview.fields["leader"] == 2


def test_unknown_tags_are_told() -> None:
    assert decode(metadata(20, tags={5: b"x"})).strangers == (5,)


def test_secrets_are_not_decoded() -> None:
    record = decode(metadata(11, b"salt and hash"))
    assert (record.name, record.fields) == ("UserScramCredentialRecord", {})


def test_leader_change() -> None:
    assert decode_leader_change(struct.pack(">hi", 0, 100) + compact(1)) == 100
    with pytest.raises(Unreadable):
        decode_leader_change(b"\0\0\0")


@given(st.binary(max_size=60), st.sampled_from([b"", *(bytes((1, key)) for key in LAYOUTS)]))
def test_any_bytes(data: bytes, head: bytes) -> None:
    try:
        record = decode(head + data)
    except Unreadable as error:
        reason = str(error)
        assert reason
    else:
        assert record.name
