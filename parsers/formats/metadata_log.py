"""KRaft's metadata log (``__cluster_metadata-0``) and its snapshots: the controllers' decisions, in their order.

A segment is an ordinary v2 log whose batches have the controller epoch as leader epoch. A snapshot (``<end
offset>-<epoch>.checkpoint``, ``bootstrap.checkpoint``) is the same between two control records, and holds the state of
all records below its end offset (KIP-630, KIP-631).

Times are the batch's highest timestamp, in UTC: the controller's clock, the same for all records of a batch. Only
records below the quorum's high watermark are committed, and no file here has that: the tail of a copied log may have
been truncated later.

A change of a partition names only what it changes. The epochs are derived as in Kafka
(``PartitionRegistration.merge``): ``partition_epoch`` rises by one with each change, ``leader_epoch`` by one when a
leader is named, even the same one. That needs a base, the partition's own record in the log or in a snapshot, and an
unbroken log since. Without it they are null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import polars as pl

from parsers.details import AGAINST_SETTINGS, ELECTED_SAFELY, LAST_KNOWN, REPLICAS
from parsers.encodings import kraft_records
from parsers.encodings.checkpoint_file import INT32_MAX
from parsers.encodings.kraft_records import MetadataRecord, Unreadable
from parsers.errors import NotThisFormat
from parsers.formats.records import ControlRecord, Decoded, Record, decode_batch
from parsers.formats.segment import Data, SegmentScan, read_segment
from parsers.reading import Notices, observations
from parsers.schema import NOTICES, OBSERVATIONS, Kind

NAME: Final = "metadata-log"
SNAPSHOT: Final = "metadata-snapshot"
BOOTSTRAP_FILE: Final = "bootstrap.checkpoint"
ALLOWS: Final = "unclean.leader.election.enable"

_RECOVERING: Final = 1
_NO_CHANGE: Final = -2
_TOPIC, _BROKER = 2, 4  # ConfigResource.Type
_SECRET: Final = ("password", "secret", "jaas", "keystore.key", "credential", "token")
_ELIGIBLE: Final = "eligible.leader.replicas.version"
_LAST_TIME: Final = 253_402_300_799_999  # end of the year 9999, in milliseconds


class Partition(NamedTuple):
    """A partition as the records so far leave it."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    eligible: tuple[int, ...]  # eligible leader replicas (KIP-966): may lead without loss though not in the ISR
    last_known: tuple[int, ...]  # last ISR members, if the ISR is empty and no replica is eligible


class Pending(NamedTuple):
    """A record of an open metadata transaction; ``byte`` is None once the file that holds it is behind."""

    byte: int | None
    time: int
    record: MetadataRecord


@dataclass(slots=True)
class MetadataState:
    """State that the reader of the next segment needs from all before it.

    Attributes:
        next_offset: offset of the record that follows; None before anything was read.
        topics: name by topic id.
        partitions: by topic id and partition.
        features: level by feature, such as ``metadata.version``.
        pending: records of an open metadata transaction (KIP-868), which count once it ends; None outside of one.
        allowing: by topic, "" for the whole cluster and its brokers, whether an unclean election is allowed; None if
            records of settings may be missing.
        controller: controller that writes the log; None if unknown.
    """

    next_offset: int | None = None
    topics: dict[str, str] = field(default_factory=dict)
    partitions: dict[tuple[str, int], Partition] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    pending: list[Pending] | None = None
    allowing: dict[str, bool] | None = None
    controller: int | None = None

    def copy(self) -> MetadataState:
        """Return a copy that can be changed independently."""
        pending = None if self.pending is None else list(self.pending)
        return replace(
            self,
            topics=dict(self.topics),
            partitions=dict(self.partitions),
            features=dict(self.features),
            pending=pending,
            allowing=None if self.allowing is None else dict(self.allowing),
        )


@dataclass(frozen=True, slots=True)
class MetadataScan:
    """Contents of one file of the metadata log.

    Attributes:
        observations: rows of ``OBSERVATIONS``, in log order, with ``byte`` of their batch. ``message`` is this module's
            ``NAME``, or ``SNAPSHOT`` for the state in a snapshot, where PARTITION_CREATED has the partition at the
            snapshot's end.
        notices: rows of ``NOTICES``, those of the segment included.
        segment: the batches of the file.
        state: state for the next segment.
        whole: whether this is a snapshot with header and footer, and nothing is missing or damaged between them.
    """

    observations: pl.DataFrame
    notices: pl.DataFrame
    segment: SegmentScan
    state: MetadataState
    whole: bool = False


def read_metadata_log(
    data: Data,
    *,
    base_offset: int | None = None,
    state: MetadataState | None = None,
    limit: int | None = None,
) -> MetadataScan:
    """Read one segment of the metadata log.

    Args:
        data: the whole file.
        base_offset: the base offset in its name, if it has one.
        state: the state of the segment before this one, or of a snapshot; not changed. Records below its next offset
            are taken as read, so a segment may overlap a snapshot.
        limit: decompressed bytes of one batch that are accepted.

    Raises:
        NotThisFormat: not a segment, or one that holds other records than metadata.
    """
    reader = Reader(data, state.copy() if state else MetadataState(), NAME, base_offset, limit)
    reader.run()
    return reader.scan()


def read_metadata_snapshot(
    data: Data, *, end_offset: int | None, epoch: int | None = None, limit: int | None = None
) -> MetadataScan:
    """Read a snapshot of the metadata log, or ``bootstrap.checkpoint``.

    Args:
        data: the whole file.
        end_offset: the end offset in its name; 0 for ``bootstrap.checkpoint``; None when it is not known.
        epoch: the leader epoch in its name, which is that of each of its batches (``RecordsSnapshotWriter``); None if
            there is none.
        limit: decompressed bytes of one batch that are accepted.

    Raises:
        NotThisFormat: not such a file.
    """
    reader = Reader(data, MetadataState(), SNAPSHOT, 0, limit)
    reader.run()
    reader.check_snapshot_ends()
    fits = reader.check_snapshot_epoch(epoch)
    reader.state.next_offset = end_offset
    return replace(reader.scan(), whole=fits and reader.is_whole)


class Reader:
    """One pass over one file; ``_APPLY`` names the method for each record type."""

    def __init__(
        self, data: Data, state: MetadataState, message: str, base_offset: int | None, limit: int | None
    ) -> None:
        self.data = memoryview(data)
        self.segment = read_segment(data, base_offset=base_offset)
        self.state = state
        self.message = message
        self.limit = limit
        self.notices = Notices()
        self.rows: list[dict[str, Any]] = []
        self.times: list[int] = []
        self.controls: list[str] = []
        self.byte: int | None = 0
        self.time = -1
        self.controller_epoch = -1
        self.understood = self.refused = 0  # records

    def run(self) -> None:
        """Read every batch that its checksum vouches for."""
        follows = self.state.next_offset or 0
        if follows == 0 and self.state.allowing is None:
            self.state.allowing = {}  # records that are missing before the first one are found below
        columns = ("byte", "size", "base_offset", "last_offset", "leader_epoch", "max_timestamp", "crc_ok")
        for byte, size, first, last, epoch, time, crc_ok in self.segment.batches.select(columns).iter_rows():
            if not crc_ok:
                continue  # noted by the segment; the gap that it leaves is noted below
            self.byte, self.time, self.controller_epoch = byte, time, -1 if epoch is None else epoch
            if first > follows:
                self.forget(f"records {follows} to {first - 1} are missing")
            self._batch(decode_batch(self.data[byte : byte + size], limit=self.limit), follows)
            follows = max(last + 1, follows)
        if self.refused and not self.understood:
            raise NotThisFormat("the records in this log are not cluster metadata")
        self.state.next_offset = follows
        self._note_open_transaction()

    def _batch(self, decoded: Decoded, follows: int) -> None:
        """Apply the records of a batch from an offset on, then its control records."""
        for record in decoded.records:
            if record.offset >= follows:
                self._record(record)
        for control in decoded.controls:
            if control.offset >= follows:
                self._control(control)
        if decoded.problem is not None:
            self.forget(decoded.problem)

    def _record(self, record: Record) -> None:
        """Apply a record, if it can be decoded."""
        found = self._decode(record)
        if found is None:
            self.refused += 1
        else:
            self.understood += 1
            self.take(found)

    def _note_open_transaction(self) -> None:
        """Note records that do not count yet, because their metadata transaction is open at the end of the file."""
        if self.state.pending:
            reason = f"a metadata transaction is open at the end: {len(self.state.pending)} records do not count yet"
            self.notices.add(reason, byte=self.state.pending[0].byte)
            self.state.pending = [kept._replace(byte=None) for kept in self.state.pending]

    def scan(self) -> MetadataScan:
        """Return the result."""
        rows = observations(self.rows)
        times = pl.Series(self.times, dtype=pl.Int64)
        known = times.is_between(0, _LAST_TIME)
        time = pl.select(pl.when(known).then(times) * 1000).to_series().cast(pl.Datetime("us"))
        notices = pl.concat([self.segment.notices, self.notices.frame()]).sort("byte", maintain_order=True)
        return MetadataScan(
            rows.with_columns(time.alias("time")).select(OBSERVATIONS.keys()),
            notices.select(NOTICES.keys()),
            self.segment,
            self.state,
        )

    def check_snapshot_ends(self) -> None:
        """Note a snapshot that was not written to its end."""
        if "SNAPSHOT_FOOTER" not in self.controls:
            place = self.segment.valid_bytes
            self.notices.add("the snapshot has no footer: it is truncated, and state after this is missing", byte=place)
            self.state.partitions.clear()
            self.state.allowing = None

    def check_snapshot_epoch(self, epoch: int | None) -> bool:
        """Return whether the batches of a snapshot are of the leader epoch in its name, and note others."""
        others = [one for one in self.segment.batches.get_column("leader_epoch").unique().sort() if one != epoch]
        if epoch is None or not others:
            return True
        self.notices.add(f"the name of the snapshot states leader epoch {epoch}, its batches {others[0]}", byte=0)
        return False

    @property
    def is_whole(self) -> bool:
        """Return whether a snapshot begins with its header, ends with its footer, and has every batch between them."""
        batches = self.segment.batches
        follows = batches.get_column("last_offset").shift(1, fill_value=-1) + 1
        return (
            self.controls[:1] == ["SNAPSHOT_HEADER"]
            and self.controls[-1:] == ["SNAPSHOT_FOOTER"]
            and self.segment.valid_bytes == len(self.data)
            and bool((batches.get_column("crc_ok") & (batches.get_column("base_offset") == follows)).all())
        )

    def forget(self, why: str) -> None:
        """Drop what epochs are derived from, because a change may have been missed."""
        self.notices.add(f"{why}: epochs are not derived until the next full record of a partition", byte=self.byte)
        self.state.partitions.clear()
        self.state.pending = self.state.allowing = None

    def _decode(self, record: Record) -> MetadataRecord | None:
        value = record.value
        try:
            if value is None:
                raise Unreadable("the value is null")
            found = kraft_records.decode(value)
        except Unreadable as error:
            excerpt = "" if value is None else value[:61].hex()
            self.notices.add(f"record {record.offset}: {error}", excerpt=excerpt, byte=self.byte)
            # A change of a partition that cannot be read breaks the count of epochs; another type's record does not.
            if value is not None and value[1:2] == b"\5":
                self.state.partitions.clear()
            self.state.allowing = None
            return None
        for tag in found.strangers:
            self.notices.add(f"record {record.offset}: {found.name} has an unknown field, tag {tag}", byte=self.byte)
        return found

    def _control(self, control: ControlRecord) -> None:
        self.controls.append(control.type)
        if control.type != "LEADER_CHANGE" or control.value is None:
            return
        try:
            leader = kraft_records.decode_leader_change(control.value)
        except Unreadable as error:
            self.notices.add(f"record {control.offset}: LEADER_CHANGE: {error}", byte=self.byte)
            return
        self.state.controller = leader
        self.row(Kind.CONTROLLER_ACTIVE, replica=leader, detail=str(self.controller_epoch))

    def take(self, record: MetadataRecord) -> None:
        """Apply a record, or keep it back while a metadata transaction is open."""
        if record.name == "BeginTransactionRecord":
            self.state.pending = []
        elif record.name == "AbortTransactionRecord":
            self.state.pending = None
        elif record.name == "EndTransactionRecord":
            pending, self.state.pending = self.state.pending or [], None
            here = self.byte, self.time
            for self.byte, self.time, kept in pending:
                self._apply(kept)
            self.byte, self.time = here
        elif self.state.pending is not None:
            self.state.pending.append(Pending(self.byte, self.time, record))
        else:
            self._apply(record)

    def _apply(self, record: MetadataRecord) -> None:
        apply = _APPLY.get(record.name)
        if apply is not None:
            apply(self, record.fields)

    def row(self, kind: Kind, **columns: Any) -> None:
        """State one fact, at the place and time of the batch."""
        self.rows.append({"kind": kind, "message": self.message, "byte": self.byte, **columns})
        self.times.append(self.time)

    # -- topics and partitions ------------------------------------------------------------------------------------

    def _topic(self, fields: dict[str, Any]) -> None:
        self.state.topics[fields["topic_id"]] = fields["name"]

    def _topic_removed(self, fields: dict[str, Any]) -> None:
        topic_id = fields["topic_id"]
        name = self.state.topics.pop(topic_id, None)
        self.row(Kind.TOPIC_REMOVED, topic_id=topic_id, detail=name)
        if name is not None and self.state.allowing is not None:
            self.state.allowing.pop(name, None)
        for key in [key for key in self.state.partitions if key[0] == topic_id]:
            del self.state.partitions[key]

    def _partition(self, fields: dict[str, Any]) -> None:
        topic_id, partition = fields["topic_id"], fields["partition_id"]
        isr = fields["isr"] or ()
        self.state.partitions[topic_id, partition] = Partition(
            fields["leader"],
            fields["leader_epoch"],
            fields["partition_epoch"],
            isr,
            fields["eligible_leader_replicas"] or (),
            fields["last_known_elr"] or (),
        )
        self.row(
            Kind.PARTITION_CREATED,
            topic=self.state.topics.get(topic_id),
            topic_id=topic_id,
            partition=partition,
            leader=fields["leader"],
            leader_epoch=fields["leader_epoch"],
            partition_epoch=fields["partition_epoch"],
            isr=_ids(isr),
            detail=_details(fields),
        )

    def _partition_changed(self, fields: dict[str, Any]) -> None:
        key = (fields["topic_id"], fields["partition_id"])
        leader = None if fields["leader"] == _NO_CHANGE else fields["leader"]
        isr = fields["isr"]
        before = self.state.partitions.get(key)
        after = None if before is None else _changed(before, leader, fields)
        if after is not None:
            self.state.partitions[key] = after
        row = {
            "topic": self.state.topics.get(key[0]),
            "topic_id": key[0],
            "partition": key[1],
            "leader": leader,
            "leader_epoch": after.leader_epoch if after else None,
            "previous_epoch": before.leader_epoch if before and leader is not None else None,
            "partition_epoch": after.partition_epoch if after else None,
            "isr": None if isr is None else _ids(isr),
            "isr_before": _ids(before.isr) if before else None,
            "detail": _details(fields),
        }
        eligible = before is not None and leader in before.eligible and leader not in before.isr
        told = f"{ELECTED_SAFELY} {row['detail'] or ''}".rstrip() if eligible else row["detail"]
        self.row(Kind.PARTITION_CHANGED, **row | {"detail": told})
        if leader is not None and leader >= 0 and before and _unclean(leader, before, fields):
            detail = self._against_settings(row["topic"], row["detail"], leader, before)
            self.row(Kind.UNCLEAN_ELECTION, **row | {"detail": detail})

    def _against_settings(self, topic: str | None, detail: str | None, leader: int, before: Partition) -> str | None:
        """Return the detail of an unclean election, with its controller if no record of a setting allowed it then.

        With eligible leader replicas the last ISR member may be elected like this without any setting
        (PartitionChangeBuilder.canElectLastKnownLeader, 4.0).
        """
        allowing, controller = self.state.allowing, self.state.controller
        if self.state.features.get(_ELIGIBLE, 0) > 0 and leader in before.last_known:
            return f"{LAST_KNOWN}[{_ids(before.last_known)}] {detail or ''}".rstrip()
        if allowing is None or controller is None:
            return detail
        if topic is None or allowing.get(topic, allowing.get("", False)):
            return detail
        return f"{detail or ''} {AGAINST_SETTINGS}{controller}".lstrip()

    def _clear_eligible(self, fields: dict[str, Any]) -> None:
        name = fields["topic_name"]
        for key, partition in self.state.partitions.items():
            if not name or self.state.topics.get(key[0]) == name:
                self.state.partitions[key] = partition._replace(eligible=())

    # -- brokers and settings -------------------------------------------------------------------------------------

    def _broker(self, fields: dict[str, Any]) -> None:
        fenced = "fenced" if fields["fenced"] else "unfenced"
        leaving = " in-controlled-shutdown" if fields["in_controlled_shutdown"] else ""
        self.row(
            Kind.BROKER_REGISTERED,
            replica=fields["broker_id"],
            offset=fields["broker_epoch"],
            detail=f"{fenced}{leaving} incarnation={fields['incarnation_id']}",
        )

    def _broker_changed(self, fields: dict[str, Any]) -> None:
        detail = "in-controlled-shutdown" if fields["in_controlled_shutdown"] == 1 else None
        if fields["fenced"] == 1:
            self._broker_fenced(fields, detail)
        elif fields["fenced"] == -1:
            self._broker_unfenced(fields)

    def _broker_fenced(self, fields: dict[str, Any], detail: str | None = None) -> None:
        self.row(Kind.BROKER_FENCED, replica=fields["broker_id"], offset=fields["broker_epoch"], detail=detail)

    def _broker_unfenced(self, fields: dict[str, Any]) -> None:
        self.row(Kind.BROKER_UNFENCED, replica=fields["broker_id"], offset=fields["broker_epoch"])

    def _broker_unregistered(self, fields: dict[str, Any]) -> None:
        self._broker_fenced(fields, "unregistered")

    def _feature(self, fields: dict[str, Any]) -> None:
        self.state.features[fields["name"]] = fields["feature_level"]

    def _config(self, fields: dict[str, Any]) -> None:
        key, value, resource = fields["name"] or "", fields["value"], fields["resource_name"] or ""
        if value is not None and any(word in key.lower() for word in _SECRET):
            value = "(hidden)"
        detail = key if value is None else f"{key}={value}"
        if key == ALLOWS and fields["resource_type"] in (_TOPIC, _BROKER):
            self._allows(resource if fields["resource_type"] == _TOPIC else "", value)
        if fields["resource_type"] == _TOPIC:
            self.row(Kind.TOPIC_CONFIG, topic=resource, detail=detail)
        elif fields["resource_type"] == _BROKER and not resource:
            self.row(Kind.CLUSTER_CONFIG, detail=detail)
        elif fields["resource_type"] == _BROKER and resource.isascii() and resource.isdigit() and len(resource) < 10:
            self.row(Kind.BROKER_CONFIG, replica=int(resource), detail=detail)

    def _allows(self, topic: str, value: str | None) -> None:
        allowing = self.state.allowing
        if allowing is None:
            return
        if not topic:  # one of several brokers may still allow it
            allowing[topic] = allowing.get(topic, False) or _true(value)
        elif value is None:
            allowing.pop(topic, None)
        else:
            allowing[topic] = _true(value)


_APPLY: Final[dict[str, Callable[[Reader, dict[str, Any]], None]]] = {
    "RegisterBrokerRecord": Reader._broker,
    "UnregisterBrokerRecord": Reader._broker_unregistered,
    "TopicRecord": Reader._topic,
    "PartitionRecord": Reader._partition,
    "ConfigRecord": Reader._config,
    "PartitionChangeRecord": Reader._partition_changed,
    "FenceBrokerRecord": Reader._broker_fenced,
    "UnfenceBrokerRecord": Reader._broker_unfenced,
    "RemoveTopicRecord": Reader._topic_removed,
    "FeatureLevelRecord": Reader._feature,
    "BrokerRegistrationChangeRecord": Reader._broker_changed,
    "ClearElrRecord": Reader._clear_eligible,
}


def _changed(before: Partition, leader: int | None, fields: dict[str, Any]) -> Partition:
    """Return a partition after a change (``PartitionRegistration.merge``).

    Args:
        before: the partition until then.
        leader: the leader that the change names; None if it names none.
        fields: of the change; None is no change.
    """
    isr, eligible, last_known = fields["isr"], fields["eligible_leader_replicas"], fields["last_known_elr"]
    return Partition(
        before.leader if leader is None else leader,
        before.leader_epoch if leader is None else _above(before.leader_epoch),
        _above(before.partition_epoch),
        before.isr if isr is None else isr,
        before.eligible if eligible is None else eligible,
        before.last_known if last_known is None else last_known,
    )


def _unclean(leader: int, before: Partition, fields: dict[str, Any]) -> bool:
    """Return whether an election may have lost data: the new leader was neither in the ISR nor eligible.

    One more case is clean. The change that ends a reassignment may name a leader that joined the ISR in that same
    change (``PartitionChangeBuilder``). It replaces the replicas and does not mark the leader as recovering.
    """
    if leader in before.isr or leader in before.eligible:
        return False
    return fields["replicas"] is None or fields["leader_recovery_state"] == _RECOVERING


def _true(value: str | None) -> bool:
    return value is not None and value.strip().lower() == "true"


def _above(epoch: int) -> int:
    return epoch + 1 if epoch < INT32_MAX else -INT32_MAX - 1  # as Java's int does


def _ids(brokers: tuple[int, ...]) -> str:
    return ",".join(map(str, brokers))


def _details(fields: dict[str, Any]) -> str | None:
    """Return values without a column of their own. A full record names everything, so empty values are left out."""
    full = "leader_epoch" in fields
    parts = [
        f"{word}{_ids(fields[name])}"
        for word, name in (
            (REPLICAS, "replicas"),
            ("removing=", "removing_replicas"),
            ("adding=", "adding_replicas"),
            ("elr=", "eligible_leader_replicas"),
            ("last-known-elr=", "last_known_elr"),
        )
        if fields[name] is not None and (fields[name] or not full)
    ]
    recovery = fields["leader_recovery_state"]
    if recovery in (0, _RECOVERING) and (recovery or not full):
        parts.append("recovering" if recovery else "recovered")
    return " ".join(parts) or None
