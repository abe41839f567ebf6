"""Salvaged records written to a new topic of a running cluster, with their timestamps and headers, each once.

The topic has one partition, in which the records keep their order. What is in it already decides what is still sent:
the records there must be the first ones of the file, and the rest follows. So a run that was interrupted can be
repeated, whatever its report holds. Within a run the producer is idempotent (KIP-98).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, Final, NamedTuple, Protocol

from forensics.errors import ForensicsError, UnusableOutput
from forensics.salvage.records import Kept
from forensics.salvage.transactions import State
from parsers.formats.records import Record

_TOGETHER: Final = 1000
"""Records that are sent before their acknowledgements are waited for."""
_LARGEST: Final = 1 << 30  # bytes of a request: the broker decides what it takes
_CONFIGS: Final = {
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
    "max.message.bytes": str(100 << 20),
}
"""Settings of a new topic: timestamps are old, and retention would remove the records at once; records may be large."""
_WAIT_MS: Final = 10_000
_NO_VALUE: Final = "a header has no value, which the client cannot send"
_INSTEAD: Final = (
    "Send such headers with an empty value (--null-headers empty), or leave these records out (--null-headers skip)"
)


class NullHeaders(StrEnum):
    """Treatment of headers without a value, which brokers hold and the client cannot send (kafka-python 3.0)."""

    EMPTY = "empty"  # send them with a value of no bytes
    SKIP = "skip"  # leave their records out


class NotProduced(ForensicsError):
    """Records could not be sent; the text says why, and what to do."""


class Acknowledged(NamedTuple):
    """A record that is in the topic.

    Attributes:
        offset: its offset in the log that it was salvaged from.
        there: its offset in the new topic.
        before: it was there before this run.
    """

    offset: int
    there: int
    before: bool


class Target(Protocol):
    """The partition to which records are written."""

    def content(self) -> Iterator[tuple[int, Record]]:
        """The records in it, with their offsets, in order."""

    def send(self, record: Record) -> Callable[[], int]:
        """Send a record; return what waits for its acknowledgement and gives its offset."""


@dataclass(slots=True)
class Report:
    """The outcome for the records.

    Attributes:
        acknowledged: those in the topic, in order.
        left_out: how many were not to be sent, by what became of their transaction.
        skipped: places of records that were left out because a header has no value.
        emptied: how many records were to be sent with an empty value in headers that have none.
        undated: records without a timestamp, to which the broker gave the time at which they arrived.
    """

    acknowledged: list[Acknowledged] = field(default_factory=list)
    left_out: dict[State, int] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    emptied: int = 0
    undated: int = 0


def produce(
    kept: Iterable[Kept],
    target: Target,
    report: Report,
    *,
    uncommitted: bool = False,
    null_headers: NullHeaders | None = None,
) -> None:
    """Send records that are not in the topic yet.

    Args:
        kept: the records, in order.
        target: where to.
        report: filled in as records are acknowledged, so that it is right when an error ends this.
        uncommitted: send records of aborted and unfinished transactions, too.
        null_headers: what to do with headers without a value; None refuses them.

    Raises:
        UnusableOutput: the topic holds other records.
        NotProduced: a record was not acknowledged, or cannot be sent as it is.
    """
    rest = _sendable(kept, report, null_headers, uncommitted=uncommitted)
    for there, found in target.content():
        wanted = next(rest, None)
        if wanted is None or not _same(wanted.record, found):
            what = "more records than these" if wanted is None else f"another record than {wanted.where}"
            raise UnusableOutput(f"the topic holds {what} at offset {there}; name a new topic, or an empty one")
        report.acknowledged.append(Acknowledged(wanted.record.offset, there, before=True))
    while part := list(islice(rest, _TOGETHER)):
        waiting = [(one, target.send(one.record)) for one in part]
        for one, wait in waiting:
            report.acknowledged.append(Acknowledged(one.record.offset, wait(), before=False))


def refuse_null_headers(kept: Iterable[Kept], *, uncommitted: bool = False) -> None:
    """Make sure that the client can send all records that are to be sent as they are.

    Raises:
        NotProduced: it cannot.
    """
    first, lacking, count = "", 0, 0
    for one in kept:
        if _is_asked(one, uncommitted=uncommitted):
            count += 1
            if _lacks_value(one.record):
                first, lacking = first or one.where, lacking + 1
    if lacking:
        raise NotProduced(f"{first}: {_NO_VALUE}; it is so in {lacking:,} of {count:,} records. {_INSTEAD}")


def _sendable(
    kept: Iterable[Kept], report: Report, null_headers: NullHeaders | None, *, uncommitted: bool
) -> Iterator[Kept]:
    """Yield the records that are to be sent, and count the others.

    Raises:
        NotProduced: a header has no value, and ``null_headers`` is None.
    """
    for one in kept:
        if not _is_asked(one, uncommitted=uncommitted):
            assert one.transaction is not None
            report.left_out[one.transaction] = report.left_out.get(one.transaction, 0) + 1
            continue
        sent = _with_values(one, report, null_headers) if _lacks_value(one.record) else one
        if sent is not None:
            report.undated += sent.record.timestamp < 0
            yield sent


def _with_values(one: Kept, report: Report, null_headers: NullHeaders | None) -> Kept | None:
    """Return a record with a value in each header, or None if it is to be left out."""
    if null_headers is None:
        raise NotProduced(f"{one.where}: {_NO_VALUE}. {_INSTEAD}")
    if null_headers is NullHeaders.SKIP:
        report.skipped.append(one.where)
        return None
    report.emptied += 1
    headers = tuple((name, value or b"") for name, value in one.record.headers)
    return one._replace(record=one.record._replace(headers=headers))


def _is_asked(one: Kept, *, uncommitted: bool) -> bool:
    return uncommitted or one.transaction not in (State.ABORTED, State.OPEN)


def _lacks_value(record: Record) -> bool:
    return any(value is None for _, value in record.headers)


def _same(wanted: Record, found: Record) -> bool:
    """Return whether a record in the topic is the wanted one; one without a timestamp got another there."""
    return (wanted.key, wanted.value, wanted.headers) == (
        found.key,
        found.value,
        found.headers,
    ) and wanted.timestamp in (
        -1,
        found.timestamp,
    )


class KafkaTarget:
    """Partition 0 of a topic of a running cluster (brokers from 0.11 on, which know idempotent producers and headers).

    Args:
        servers: addresses of brokers, ``host:port``.
        topic: the topic; it is made if it is missing.
        replication: replicas of a new topic; -1 for what the brokers have as default (2.4+).
        settings: more settings of the client, such as ``security_protocol``, with the names of kafka-python.

    Raises:
        NotProduced: no broker answers, or the topic cannot be used.
    """

    def __init__(self, servers: str, topic: str, *, replication: int = -1, settings: Mapping[str, str] = {}) -> None:
        import kafka

        self._kafka = kafka
        self._topic = topic
        self._settings = {"bootstrap_servers": servers.split(","), **_typed(settings)}
        self._place = kafka.TopicPartition(topic, 0)
        with _told(f"no broker at {servers} can be used", "look at --bootstrap-server and --config"):
            self.made = self._made(replication)
            self._producer = kafka.KafkaProducer(
                enable_idempotence=True,
                acks="all",
                max_request_size=_LARGEST,
                value_serializer=_value_of_record(),
                **self._settings,
            )

    def _made(self, replication: int) -> bool:
        """Make the topic if it is missing; return whether it was made."""
        admin = self._kafka.KafkaAdminClient(**self._settings)
        try:
            if self._topic in admin.list_topics():
                count = len(admin.describe_topics([self._topic])[0]["partitions"])
                if count != 1:
                    raise UnusableOutput(f"topic {self._topic} has {count} partitions; name a new topic, or one with 1")
                return False
            wanted = {"num_partitions": 1, "replication_factor": replication, "configs": _CONFIGS}
            admin.create_topics({self._topic: wanted}, wait_for_metadata=True)
            return True
        finally:
            admin.close()

    def content(self) -> Iterator[tuple[int, Record]]:
        """Yield the records of the partition, with their offsets, up to its present end."""
        consumer = self._kafka.KafkaConsumer(**self._settings)
        try:
            consumer.assign([self._place])
            end = consumer.end_offsets([self._place])[self._place]
            consumer.seek_to_beginning(self._place)
            while consumer.position(self._place) < end:
                for found in consumer.poll(timeout_ms=_WAIT_MS).get(self._place, ()):
                    headers = tuple((name, value) for name, value in found.headers)
                    yield found.offset, Record(found.offset, found.timestamp, found.key, found.value, headers)
        finally:
            consumer.close()

    def send(self, record: Record) -> Callable[[], int]:
        """Send a record."""
        stamp = None if record.timestamp < 0 else record.timestamp
        with _told(f"offset {record.offset}", _AGAIN):
            future = self._producer.send(
                self._topic, record, record.key, list(record.headers), partition=0, timestamp_ms=stamp
            )

        def wait() -> int:
            with _told(f"offset {record.offset}", _AGAIN):
                return int(future.get().offset)

        return wait

    def close(self) -> None:
        """Close the connections."""
        self._producer.close()


def _value_of_record() -> Any:
    """Return a serializer of records: the client refuses a record with neither key nor value before it asks it."""
    from kafka.serializer import Serializer

    class ValueOfRecord(Serializer):  # type: ignore[misc]
        def serialize(self, topic: str, headers: object, data: Record) -> bytes | None:
            return data.value

    return ValueOfRecord()


def _typed(settings: Mapping[str, str]) -> dict[str, Any]:
    """Return settings of the client with the types of their defaults: a command line gives text."""
    import kafka

    defaults = kafka.KafkaProducer.DEFAULT_CONFIG
    return {name: _value(text, defaults.get(name)) for name, text in settings.items()}


def _value(text: str, default: object) -> object:
    """Return a setting with the type of its default.

    >>> _value("1000", 30000), _value("false", True), _value("SSL", "PLAINTEXT")
    (1000, False, 'SSL')
    """
    if isinstance(default, bool):
        return text.lower() in ("true", "1", "yes")
    if isinstance(default, int | float) and re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    return text


_AGAIN: Final = "what was acknowledged is in the report; mend that and run it again"
_LARGE: Final = "raise max.message.bytes of the topic, or message.max.bytes of the brokers, and run it again"


@contextlib.contextmanager
def _told(what: str, then: str) -> Iterator[None]:
    """Make one sentence of an error of the client.

    Args:
        what: that failed.
        then: what to do.

    Raises:
        NotProduced: it failed.
    """
    from kafka.errors import KafkaError, MessageSizeTooLargeError

    try:
        yield
    except MessageSizeTooLargeError:
        raise NotProduced(f"{what}: the record is larger than the topic allows; {_LARGE}") from None
    except (KafkaError, ValueError, TypeError, OSError) as error:
        said = " ".join(str(error).split())
        raise NotProduced(f"{what}: {said or type(error).__name__}; {then}") from None
