"""Series of Kafka exporters: which names are known, what a sample of each states, and which samples are kept.

The names are those of the JMX exporter as it is mostly configured (by Strimzi too), of kafka_exporter and of kminion.
What an exporter calls the current offset or the high water mark of a partition is what a consumer gets that asks for
its end (ListOffsets): the high watermark. ``LogEndOffset`` is the log end offset of one broker's replica.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from parsers.details import series_labels
from parsers.schema import Kind

NAME: Final = "metrics"
"""Name of the format in ``sources``, and of the message in observations."""

_TOPIC_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_NUMBER: Final = re.compile(r"[0-9]{1,9}\Z")
_INT32: Final = 1 << 31
_EXACT: Final = 1 << 53
"""Values are floating point numbers: above this, not each whole number is one."""
_LATEST: Final = 253402300799  # the year 9999, in seconds
_MILLISECONDS: Final = 100_000_000_000  # a time at or above this is not in seconds
_KEPT: Final = 64
"""Samples of one rise that are kept at most."""


class _States(Enum):
    """Kinds of series, by what they state."""

    HIGH_WATERMARK = auto()
    LOG_END = auto()
    LEADER = auto()
    POSITION = auto()


_SERIES: Final = {
    "kafka_topic_partition_current_offset": _States.HIGH_WATERMARK,  # kafka_exporter
    "kafka_topic_partition_high_water_mark": _States.HIGH_WATERMARK,  # kminion, behind its name or a chosen one
    "kafka_minion_topic_partition_high_water_mark": _States.HIGH_WATERMARK,  # Kafka Minion, as kminion was called
    "kafka_topic_partition_leader": _States.LEADER,
    "kafka_consumergroup_current_offset": _States.POSITION,
    "kafka_log_log_logendoffset": _States.LOG_END,
}
_PREFIXED: Final = re.compile(r"[a-z0-9_]*_(kafka_topic_partition_high_water_mark)\Z")
_OF_KAFKA: Final = re.compile(r"(?:[a-z0-9]+_)?kafka_|jmx_exporter_|kafka:")
"""Names of other series about Kafka, which state nothing here."""
_TOPIC: Final = ("topic", "topic_name")
_PARTITION: Final = ("partition", "partition_id")
_GROUP: Final = ("consumergroup", "group_id", "group")
_BROKER: Final = ("broker", "broker_id", "brokerid", "kafka_broker_id", "node_id")
_POD: Final = ("strimzi_io_pod_name", "pod", "pod_name", "kubernetes_pod_name")
_OF_STRIMZI: Final = "strimzi_io_"
_ORDINAL: Final = re.compile(r"[a-z0-9.-]*-([0-9]{1,9})\Z")
"""A broker as its pod is called by Strimzi: behind the last hyphen is its id. Others count pods from 0, and the brokers
in them from another number."""
_FUTURE: Final = ("is_future", "is-future", "isFuture")
"""Of a log that is copied to another directory of its broker (KIP-113): it is not yet the replica's log."""
_WITHIN_CLUSTER: Final = frozenset(
    ("instance", "pod", "pod_name", "kubernetes_pod_name", "container", "endpoint", "node", "host", "ip", "replica",
     "prometheus_replica", "prometheus", "service", "job", "app", "pod_template_hash", "name", "node_name", "node_ip",
     "strimzi_io_pod_name", "strimzi_io_pool_name", "strimzi_io_broker_role", "strimzi_io_controller_role",
     "controller_revision_hash", "statefulset_kubernetes_io_pod_name", "apps_kubernetes_io_pod_index", *_BROKER)
)  # fmt: skip
"""Labels that may differ within one cluster: an exporter that starts again, a second one, or that of another broker."""


class Sample(NamedTuple):
    """One value of one series.

    Attributes:
        name: of the series.
        labels: its labels, without the name.
        value: as printed.
        time: microseconds since 1970 UTC, or None.
        line: its number, from 1; None in JSON.
    """

    name: str
    labels: Mapping[str, str]
    value: str
    time: int | None
    line: int | None


def microseconds(time: float) -> int | None:
    """Return a time as an exporter or a server prints it, in seconds or milliseconds; None if it is none."""
    seconds = time / 1000 if time >= _MILLISECONDS else time
    return round(seconds * 1_000_000) if 0 < seconds <= _LATEST else None


def is_kafka(name: str) -> bool:
    """Return whether a name is that of a series about Kafka, known here or not."""
    return _OF_KAFKA.match(name.lower()) is not None


def _states(sample: Sample) -> _States | None:
    name = sample.name.lower().removesuffix("_value")
    if name == "kafka_log_log":  # the JMX exporter without rules of its own
        return _States.LOG_END if sample.labels.get("name") == "LogEndOffset" else None
    if (found := _PREFIXED.match(name)) is not None:
        name = found[1]
    return _SERIES.get(name)


@dataclass(slots=True)
class _Run:
    """Samples of a series that do not fall, thinned where they are many."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    step: int = 1
    count: int = 0

    def add(self, row: dict[str, Any], *, same: bool) -> None:
        """Add the next one. The last one is always kept; of equal ones, the first and the last."""
        if same and len(self.rows) > 1 and self.rows[-2]["value"] == row["value"]:
            self.rows[-1] = row
            return
        if len(self.rows) > 1 and self.count % self.step:
            self.rows[-1] = row
        else:
            self.rows.append(row)
        self.count += 1
        if len(self.rows) > _KEPT:
            del self.rows[1:-1:2]
            self.step *= 2


_Key = tuple[_States, str, int, str, str, str]


class SeriesRows:
    """Collects what samples state, series by series. Memory grows with the series, and hardly with the samples.

    Attributes:
        of_kafka: how many samples of series about Kafka were seen.
    """

    def __init__(self) -> None:
        self.of_kafka = 0
        self._runs: dict[_Key, list[_Run]] = {}

    def add(self, sample: Sample) -> str | None:
        """Take a sample. Return what is wrong with it, or None."""
        if not is_kafka(sample.name):
            return None
        self.of_kafka += 1
        states = _states(sample)
        if states is None:
            return None
        topic, partition = _label(sample, _TOPIC), _label(sample, _PARTITION)
        if topic is None or partition is None:
            return None  # a sum over partitions, as a query makes it
        if states is _States.LOG_END and _label(sample, _FUTURE) == "true":
            return None
        if _TOPIC_NAME.match(topic) is None or _NUMBER.match(partition) is None or int(partition) >= _INT32:
            return "its labels name no topic and partition"
        value = _whole(sample.value)
        if value is None:
            return f"{sample.value} is no offset"
        if value < 0 or value is _STALE:
            return None  # -1 stands for no position, and NaN for a series that ended
        if sample.time is None:
            return "it has no time"
        self._keep(sample, states, (topic, int(partition)), value)
        return None

    def _keep(self, sample: Sample, states: _States, place: tuple[str, int], value: int) -> None:
        group = _label(sample, _GROUP) or "" if states is _States.POSITION else ""
        if states is _States.POSITION and not group:
            return
        labels = _others(sample, group=states is _States.POSITION)
        key = (states, *place, group, labels, sample.name)
        runs = self._runs.setdefault(key, [_Run()])
        row = {"value": value, "time": sample.time, "line": sample.line, "broker": _broker(sample.labels)}
        last = runs[-1].rows[-1] if runs[-1].rows else None
        if last is not None and (sample.time or 0) < last["time"]:
            runs.append(_Run())  # another file was added behind, or another scrape
        elif last is not None and (value < last["value"] or (states is _States.LEADER and value != last["value"])):
            runs.append(_Run())
        runs[-1].add(row, same=last is not None and value == last["value"])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of ``OBSERVATIONS`` for each sample that is kept, in the order of their times by series."""
        return [
            _row(key, row) for key, runs in self._runs.items() for run in runs for row in run.rows
        ]  # fmt: skip


def _row(key: _Key, kept: dict[str, Any]) -> dict[str, Any]:
    states, topic, partition, group, labels, name = key
    row = {"topic": topic, "partition": partition, "message": NAME, "time": kept["time"], "line": kept["line"]}
    series = f"{name}{labels}"
    value = kept["value"]
    if states is _States.POSITION:
        return row | {"kind": Kind.GROUP_SCRAPED, "offset": value, "detail": group}
    if states is _States.LOG_END:
        return row | {"kind": Kind.LEO_SCRAPED, "leo": value, "replica": kept["broker"], "detail": series}
    if states is _States.LEADER:
        return row | {"kind": Kind.LEADER_SCRAPED, "leader": min(value, _INT32 - 1), "detail": series}
    return row | {"kind": Kind.HW_SCRAPED, "hw": value, "detail": series}


_STALE: Final = -(1 << 62)


def _whole(text: str) -> int | None:
    """Return a value as a whole number; ``_STALE`` of none, None if it is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    if value != value:
        return _STALE
    return int(value) if abs(value) < _EXACT and value == int(value) else None


def _label(sample: Sample, names: tuple[str, ...]) -> str | None:
    return next((sample.labels[name] for name in names if sample.labels.get(name)), None)


def _others(sample: Sample, *, group: bool) -> str:
    """Return the labels that name neither the partition nor the group, in order: those of the cluster, and the rest."""
    said = (*_TOPIC, *_PARTITION, *(_GROUP if group else ()))
    others = sorted((name, value) for name, value in sample.labels.items() if name not in said)
    return series_labels(
        [one for one in others if one[0] not in _WITHIN_CLUSTER], [one for one in others if one[0] in _WITHIN_CLUSTER]
    )


def _broker(labels: Mapping[str, str]) -> int | None:
    """Return the broker that labels name: by its id, or by a pod that Strimzi calls after it; None if they do not."""
    for name in _BROKER:
        if _NUMBER.match(value := labels.get(name, "")) is not None:
            return int(value)
    pods = _POD if any(name.startswith(_OF_STRIMZI) for name in labels) else ()
    found = (_ORDINAL.match(labels.get(name, "")) for name in pods)
    return next((int(one[1]) for one in found if one is not None), None)
