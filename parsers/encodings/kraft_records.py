"""The records of KRaft's metadata log: their framing, and the layouts that matter for replication.

A record's value is three unsigned varints (frame version, api key, version), then the message in Kafka's flexible
encoding. That has compact strings and arrays, and a section of tagged fields after each structure
(``AbstractApiMessageSerde``, KIP-482, KIP-631). Versions only add fields, so one layout serves all up to the newest
known one. Without a layout here, with a newer version or with bytes left over, a record is refused: nothing is guessed.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from parsers.errors import ParserError


class Unreadable(ParserError):
    """A record that no layout fits."""


class Cursor:
    """Reads Kafka's primitive types one after another; reading past the end is an error."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.place + count
        if count < 0 or end > len(self.data):
            raise Unreadable(f"{count} bytes are due at byte {self.place}, {len(self.data) - self.place} are there")
        taken = self.data[self.place : end]
        self.place = end
        return taken

    def unsigned_varint(self) -> int:
        """Seven bits a byte, lowest first, five bytes at most."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Unreadable(f"the varint that ends at byte {self.place} is too long")

    def tagged(self) -> list[tuple[int, bytes]]:
        """A section of tagged fields: tag and bytes of each."""
        return [(self.unsigned_varint(), self.take(self.unsigned_varint())) for _ in range(self.unsigned_varint())]


Type = Callable[[Cursor, int], Any]
"""Reads one value of a type; the second argument is the record's version, for structures that grew."""


def _packed(layout: str) -> Type:
    packed = struct.Struct(layout)
    return lambda cursor, _: packed.unpack(cursor.take(packed.size))[0]


int8 = _packed(">b")
int16 = _packed(">h")
uint16 = _packed(">H")
int32 = _packed(">i")
int64 = _packed(">q")
boolean = _packed(">?")


def uuid(cursor: Cursor, _: int) -> str:
    """An id as Kafka prints it: 22 characters of URL-safe base64."""
    return base64.urlsafe_b64encode(cursor.take(16)).decode("ascii").rstrip("=")


def string(cursor: Cursor, _: int) -> str | None:
    """A compact string; a length of 0 is null."""
    length = cursor.unsigned_varint()
    if length == 0:
        return None
    try:
        return cursor.take(length - 1).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"the string before byte {cursor.place} is not UTF-8") from error


def array(of: Type) -> Type:
    """A compact array; a length of 0 is null."""

    def read(cursor: Cursor, version: int) -> tuple[Any, ...] | None:
        length = cursor.unsigned_varint()
        if length - 1 > len(cursor.data) - cursor.place:  # an element has a byte or more
            raise Unreadable(f"an array of {length - 1} is due at byte {cursor.place}")
        return tuple(of(cursor, version) for _ in range(length - 1)) if length else None

    return read


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    Attributes:
        name: as in Kafka's schema, in snake case.
        type: how it is read.
        since: first version that has it.
        tag: number of a tagged field; None for one with a fixed place.
        default: value if the field is absent.
    """

    name: str
    type: Type
    since: int = 0
    tag: int | None = None
    default: Any = None


def structure(*fields: Field) -> Type:
    """A nested structure, with its own tagged fields."""
    return lambda cursor, version: _read(cursor, version, fields)[0]


def _read(cursor: Cursor, version: int, fields: tuple[Field, ...]) -> tuple[dict[str, Any], list[int]]:
    """The fields, and tags that no field has."""
    values: dict[str, Any] = {
        field.name: field.default if field.tag is not None or version < field.since else field.type(cursor, version)
        for field in fields
    }
    strangers = []
    for tag, data in cursor.tagged():
        known = next((field for field in fields if field.tag == tag), None)
        if known is None:
            strangers.append(tag)
            continue
        inner = Cursor(data)
        values[known.name] = known.type(inner, version)
        if inner.place != len(data):
            raise Unreadable(f"the field {known.name} has {len(data) - inner.place} bytes too many")
    return values, strangers


@dataclass(frozen=True, slots=True)
class Layout:
    """One record type.

    Attributes:
        name: of Kafka's schema.
        newest: highest version whose fields are listed.
        fields: in the order of the schema.
    """

    name: str
    newest: int
    fields: tuple[Field, ...]


_BROKERS: Final = array(int32)
_EMPTY: Final[tuple[int, ...]] = ()

LAYOUTS: Final[dict[int, Layout]] = {
    0: Layout(
        "RegisterBrokerRecord",
        3,
        (
            Field("broker_id", int32),
            Field("is_migrating_zk_broker", boolean, since=2, default=False),
            Field("incarnation_id", uuid),
            Field("broker_epoch", int64),
            Field(
                "end_points",
                array(
                    structure(
                        Field("name", string),
                        Field("host", string),
                        Field("port", uint16),
                        Field("security_protocol", int16),
                    )
                ),
            ),
            Field(
                "features",
                array(structure(Field("name", string), Field("min_supported", int16), Field("max_supported", int16))),
            ),
            Field("rack", string),
            Field("fenced", boolean),
            Field("in_controlled_shutdown", boolean, since=1, default=False),
            Field("log_dirs", array(uuid), since=3, tag=0, default=()),
        ),
    ),
    1: Layout("UnregisterBrokerRecord", 0, (Field("broker_id", int32), Field("broker_epoch", int64))),
    2: Layout("TopicRecord", 0, (Field("name", string), Field("topic_id", uuid))),
    3: Layout(
        "PartitionRecord",
        2,
        (
            Field("partition_id", int32),
            Field("topic_id", uuid),
            Field("replicas", _BROKERS),
            Field("isr", _BROKERS),
            Field("removing_replicas", _BROKERS),
            Field("adding_replicas", _BROKERS),
            Field("leader", int32),
            Field("leader_recovery_state", int8, tag=0, default=0),
            Field("leader_epoch", int32),
            Field("partition_epoch", int32),
            Field("directories", array(uuid), since=1, default=()),
            Field("eligible_leader_replicas", _BROKERS, since=2, tag=1, default=_EMPTY),
            Field("last_known_elr", _BROKERS, since=2, tag=2, default=_EMPTY),
        ),
    ),
    4: Layout(
        "ConfigRecord",
        0,
        (
            Field("resource_type", int8),
            Field("resource_name", string),
            Field("name", string),
            Field("value", string),
        ),
    ),
    5: Layout(
        "PartitionChangeRecord",
        2,
        (
            Field("partition_id", int32),
            Field("topic_id", uuid),
            # None in each: not changed
            Field("isr", _BROKERS, tag=0),
            Field("leader", int32, tag=1),
            Field("replicas", _BROKERS, tag=2),
            Field("removing_replicas", _BROKERS, tag=3),
            Field("adding_replicas", _BROKERS, tag=4),
            Field("leader_recovery_state", int8, tag=5),
            Field("eligible_leader_replicas", _BROKERS, since=2, tag=6),
            Field("last_known_elr", _BROKERS, since=2, tag=7),
            Field("directories", array(uuid), since=1, tag=8),
        ),
    ),
    7: Layout("FenceBrokerRecord", 0, (Field("broker_id", int32), Field("broker_epoch", int64))),
    8: Layout("UnfenceBrokerRecord", 0, (Field("broker_id", int32), Field("broker_epoch", int64))),
    9: Layout("RemoveTopicRecord", 0, (Field("topic_id", uuid),)),
    12: Layout("FeatureLevelRecord", 0, (Field("name", string), Field("feature_level", int16))),
    17: Layout(
        "BrokerRegistrationChangeRecord",
        2,
        (
            Field("broker_id", int32),
            Field("broker_epoch", int64),
            Field("fenced", int8, tag=0, default=0),
            Field("in_controlled_shutdown", int8, since=1, tag=1, default=0),
            Field("log_dirs", array(uuid), since=2, tag=2),
        ),
    ),
    20: Layout("NoOpRecord", 0, ()),
    23: Layout("BeginTransactionRecord", 0, (Field("name", string, tag=0),)),
    24: Layout("EndTransactionRecord", 0, ()),
    25: Layout("AbortTransactionRecord", 0, (Field("reason", string, tag=0),)),
    28: Layout("ClearElrRecord", 0, (Field("topic_name", string),)),
}
"""Layouts by api key (``MetadataRecordType``)."""

NOT_READ: Final = {
    10: "DelegationTokenRecord",
    11: "UserScramCredentialRecord",
    14: "ClientQuotaRecord",
    15: "ProducerIdsRecord",
    16: "RemoveFeatureLevelRecord",
    18: "AccessControlEntryRecord",
    19: "RemoveAccessControlEntryRecord",
    21: "ZkMigrationStateRecord",
    22: "RemoveUserScramCredentialRecord",
    26: "RemoveDelegationTokenRecord",
    27: "RegisterControllerRecord",
}
"""Records that are not about replication, some of them secrets: known by name, never decoded."""

_LEADER_CHANGE: Final = (Field("version", int16), Field("leader_id", int32))


class MetadataRecord(NamedTuple):
    """One decoded record.

    Attributes:
        name: of the record type.
        version: of the record.
        fields: values by field name; empty for the types of ``NOT_READ``.
        strangers: tags that this version's layout does not have.
    """

    name: str
    version: int
    fields: dict[str, Any]
    strangers: tuple[int, ...] = ()


def decode(value: bytes) -> MetadataRecord:
    """Decode the value of one record of the metadata log.

    Raises:
        Unreadable: not so framed, of an unknown type or version, or with too few or too many bytes.
    """
    cursor = Cursor(value)
    frame = cursor.unsigned_varint()
    if frame not in (0, 1):  # 0 in the 2.8 preview
        raise Unreadable(f"frame version {frame} is unknown")
    api_key, version = cursor.unsigned_varint(), cursor.unsigned_varint()
    if api_key in NOT_READ:
        return MetadataRecord(NOT_READ[api_key], version, {})
    layout = LAYOUTS.get(api_key)
    if layout is None:
        raise Unreadable(f"record type {api_key} is unknown")
    if version > layout.newest:
        raise Unreadable(f"{layout.name} of version {version} is unknown, {layout.newest} is the newest known")
    fields, strangers = _read(cursor, version, layout.fields)
    if cursor.place != len(value):
        raise Unreadable(f"{layout.name} of version {version} has {len(value) - cursor.place} bytes too many")
    return MetadataRecord(layout.name, version, fields, tuple(strangers))


def decode_leader_change(value: bytes) -> int:
    """The new active controller, from a LEADER_CHANGE control record; its voters are not read.

    Raises:
        Unreadable: too few bytes.
    """
    cursor = Cursor(value)
    leader: int = [field.type(cursor, 0) for field in _LEADER_CHANGE][1]
    return leader
