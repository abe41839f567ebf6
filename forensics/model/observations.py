"""A run as a trace: what a source that prints everything would have stated, one observation a line.

The format is the one of ``docs/trace-format.md`` (``forensics.trace/1``), which any system with high watermarks and
epochs can write. Unlike the logs a trace leaves nothing out, so the rules can answer every question from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from zlib import crc32

from forensics.model.cluster import PARTITION, Broker, Cluster
from forensics.model.trace import Event, moment

SCHEMA = "forensics.trace/1"

Facts = dict[str, Any]


def _ids(brokers: list[int]) -> str:
    return ",".join(map(str, brokers))


def _state(facts: Facts) -> Facts:
    """Leader, epoch, ISR and partition epoch, as far as they are there."""
    found = {key: facts[key] for key in ("leader", "leader_epoch", "partition_epoch") if key in facts}
    return found | ({"isr": _ids(facts["isr"])} if "isr" in facts else {})


def _starts(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "process_start", {}
    if facts["found"]:
        yield ("clean_restart" if facts["clean"] else "unclean_restart"), {}
        yield "log_loaded", {"leo": facts["leo"]}


def _cannot_load(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "process_start", {}
    yield from _unreadable(facts)


def _unreadable(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "checkpoint_error", {"detail": f"while reading checkpoint file {facts['file']}"}


def _told(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield ("stale_request" if facts["stale"] else "leader_and_isr"), _state(facts)


def _hw_loaded(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield ("hw_missing", {}) if facts["found"] is None else ("hw_loaded", {"hw": facts["hw"]})


def _leads(facts: Facts) -> Iterator[tuple[str, Facts]]:
    stated = {"leader_epoch": facts["epoch"], "leo": facts["start"], "isr": _ids(facts["isr"])}
    if facts["hw"] >= 0:
        stated["hw"] = facts["hw"]
    yield "become_leader", stated | {"partition_epoch": facts["partition_epoch"]}


def _follows(facts: Facts) -> Iterator[tuple[str, Facts]]:
    stated = {"leader": facts["leader"], "leader_epoch": facts["epoch"], "leo": facts["leo"]}
    yield "become_follower", stated | {"hw": max(facts["hw"], 0), "partition_epoch": facts["partition_epoch"]}


def _cut(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "leo", {"leo": facts["end"]}
    yield "truncate", {"offset": facts["to"]}
    if facts["dropped"]:
        yield "epoch_cut", {"offset": facts["to"]}
    if facts["hw"] < facts["hw_before"]:
        yield "hw_regressed", {"hw": facts["hw"], "hw_before": facts["hw_before"]}


def _appends(facts: Facts) -> Iterator[tuple[str, Facts]]:
    """State each batch, as the log keeps it."""
    for batch in facts["batches"]:
        checksum = f"{crc32(' '.join(batch.values).encode()):08x}"
        stated = {"offset": batch.base, "leo": batch.end, "leader_epoch": batch.epoch, "checksum": checksum}
        yield "append", stated | ({"detail": f"acks={facts['acks']}"} if facts["acks"] else {})


def _acknowledged(facts: Facts) -> Iterator[tuple[str, Facts]]:
    stated = {"offset": facts["first"], "detail": f"acks={facts['acks']}"}
    yield "produced", stated | ({"hw": facts["end"]} if facts["acks"] == "all" else {})


def _isr_proposed(facts: Facts) -> Iterator[tuple[str, Facts]]:
    kind = "isr_shrink" if facts["out"] else "isr_expand"
    stated = {"isr": _ids(facts["isr"]), "isr_before": _ids(facts["was"]), "leo": facts["leo"]}
    yield kind, stated | ({"hw": facts["hw"]} if facts["hw"] >= 0 else {})


def _partition_online(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "election", _state(facts) | {"detail": facts["before"]}
    if facts["unclean"]:
        yield "unclean_election", _state(facts)


def _partition_changed(facts: Facts) -> Iterator[tuple[str, Facts]]:
    yield "partition_changed", _state(facts) | {"isr_before": _ids(facts["was_isr"])}
    if facts["unclean"]:
        yield "unclean_election", _state(facts)


Stated = Callable[[Facts], Iterator[tuple[str, Facts]]]


def _one(kind: str, *names: str, **renamed: str) -> Stated:
    """One observation: facts of the same name, and renamed ones (``their="ours"``)."""

    def state(facts: Facts) -> Iterator[tuple[str, Facts]]:
        yield kind, {name: facts[name] for name in names} | {new: facts[old] for new, old in renamed.items()}

    return state


STATED: dict[str, Stated] = {
    "starts": _starts,
    "cannot_load": _cannot_load,
    "hw_unreadable": _unreadable,
    "stopping": _one("shutdown_begin"),
    "stopped": _one("shutdown_complete"),
    "told": _told,
    "log_created": _one("log_created"),
    "hw_loaded": _hw_loaded,
    "leads": _leads,
    "leads_again": _one("role_unchanged", "hw"),
    "follows": _follows,
    "fetcher_added": _one("fetcher_added", "leader", "offset", leader_epoch="epoch"),
    "hears_epoch": _one("epoch_reply", leader_epoch="epoch", offset="end"),
    "diverges": _one("epoch_reply", leader_epoch="epoch", offset="end"),
    "cut": _cut,
    "cut_nothing": _one("truncate_noop", offset="to", leo="end"),
    "fetch_reset": _one("fetch_reset", "leader", "offset", leo="to"),
    "stuck": _one("fetch_failed", "offset"),
    "appends": _appends,
    "acked": _acknowledged,
    "receives": _one("follower_fetched", "leo", "leader_hw"),
    "hw_taken": _one("leader_hw", "leader_hw", "hw"),
    "hw_raised": _one("hw", hw="new"),
    "records_leo": _one("remote_leo", "leo", replica="follower"),
    "epoch_assigned": _one("epoch_assigned", leader_epoch="epoch", offset="start"),
    "isr_proposed": _isr_proposed,
    "isr_committed": lambda facts: iter([("isr_commit", _state(facts))]),
    "isr_refused": _one("isr_rejected"),
    "checkpoints_hw": _one("hw_checkpoint", "hw"),
    "controller_started": lambda facts: iter([("controller_active", {"detail": str(facts["epoch"])})]),
    "broker_up": _one("broker_registered", replica="id", offset="broker_epoch"),
    "broker_down": _one("broker_fenced", replica="id"),
    "topic_created": lambda facts: iter([("partition_created", _state(facts))]),
    "partition_offline": _one("partition_offline"),
    "partition_online": _partition_online,
    "partition_changed": _partition_changed,
    "isr_without": lambda facts: iter([("partition_changed", _state(facts))]),
}
"""Observations of each kind of event. Other kinds state nothing."""

OF_THE_BROKER = frozenset(
    (
        "process_start",
        "checkpoint_error",
        "clean_restart",
        "unclean_restart",
        "shutdown_begin",
        "shutdown_complete",
        "controller_active",
        "broker_registered",
        "broker_fenced",
    )
)
"""Observations about a process or a broker, not about the partition."""


NAMES = {
    "hw": "high_watermark",
    "hw_before": "high_watermark_before",
    "leader_hw": "leader_high_watermark",
    "leo": "log_end_offset",
    "log_start": "log_start_offset",
}
"""Fields of a trace whose name is longer than that of the fact."""


def head(cluster: Cluster, cluster_id: str) -> dict[str, Any]:
    """The first line: of what all the others are, and that they leave nothing out."""
    replicas = sorted(cluster.brokers)
    said = {"system": "model of Kafka", "release": cluster.protocol.kafka, "cluster": cluster_id, "replicas": replicas}
    settings: Facts = {
        "min.insync.replicas": cluster.min_isr,
        "unclean.leader.election.enable": cluster.unclean,
    }
    if cluster.protocol.mode == "kraft":
        settings["process.roles"] = "broker"
    return {"schema": SCHEMA, "kind": "trace", **said, "settings": settings, "complete": True}


def _witnessed(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the events; the leader of the records is the witness of an acknowledgement."""
    leaders: dict[int, int] = {}
    for event in events:
        if event.kind == "leads" and event.broker is not None:
            leaders[event.facts["epoch"]] = event.broker
        yield event._replace(broker=leaders.get(event.facts["epoch"])) if event.kind == "acked" else event


def _checkpoint_found(node: Broker) -> list[int]:
    """Return the high watermark in the file of a broker that is down. A running one has stated what it wrote."""
    return [node.replica.disk.hw] if node.replica.disk.hw is not None and not node.up else []


def _last_stable(event: Event, told: dict[int | None, tuple[int, int]]) -> Iterator[tuple[str, Facts]]:
    """State the last stable offset of a leader when it or the high watermark changed, once it was another one.

    Args:
        event: a step.
        told: the two values that were stated last, by broker.
    """
    if event.state.get("role") != "leader":
        told.pop(event.broker, None)
        return
    hw = event.state["high_watermark"]
    now = hw, event.state.get("last_stable_offset", hw)
    if hw >= 0 and now != told.get(event.broker) and (event.broker in told or now[0] != now[1]):
        told[event.broker] = now
        yield "state", {"high_watermark": now[0], "last_stable_offset": now[1]}


def observations(cluster: Cluster, topic_id: str) -> Iterator[dict[str, Any]]:
    """Yield every observation of a run, in the order in which things happened; then the files at the end.

    Args:
        topic_id: Id of the topic; left out for versions without topic ids.
    """
    named: Facts = {"topic": cluster.topic, "partition": PARTITION}
    if cluster.protocol.kafka >= "2.8":
        named["topic_id"] = topic_id
    stable: dict[int | None, tuple[int, int]] = {}
    for event in _witnessed(cluster.trace):
        state = STATED.get(event.kind)
        if state is None or event.broker is None:
            continue
        for kind, facts in (*state(event.facts), *_last_stable(event, stable)):
            yield _line(event, kind, ({} if kind in OF_THE_BROKER else named) | facts)
    had_log = {event.broker for event in cluster.trace if event.kind == "log_created"}
    for node in cluster.brokers.values():
        last = Event(cluster.now, node.id, "end", {}, {})
        for kind, facts in _left(node, had_log=node.id in had_log):
            yield _line(last, kind, named | facts)


def _left(node: Broker, *, had_log: bool) -> Iterator[tuple[str, Facts]]:
    """State what the directory of a replica holds at the end of the run."""
    replica = node.replica
    if replica.on_disk:
        yield "log_end", {"leo": replica.log.end, "log_start": 0}
        for hw in _checkpoint_found(node):
            yield "hw_checkpoint", {"hw": hw}
        for epoch, start in replica.disk.epochs:
            yield "epoch_entry", {"leader_epoch": epoch, "offset": start}
    elif had_log:
        yield "log_end", {"leo": 0, "log_start": 0}  # it was removed


def _line(event: Event, kind: str, facts: Facts) -> Facts:
    time = moment(event.at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    named = {NAMES.get(name, name): value for name, value in facts.items()}
    return {"schema": SCHEMA, "time": time, "witness": event.broker, "kind": kind, **named}


def to_lines(cluster: Cluster, topic_id: str, cluster_id: str) -> str:
    """The trace as text: one JSON object a line."""
    lines = (head(cluster, cluster_id), *observations(cluster, topic_id))
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
