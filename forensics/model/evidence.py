"""Writes the files that the brokers of a run leave behind: logs as their version prints them, checkpoints, segments,
configuration.

The layout is the one of collected evidence: ``broker-N/{logs,data}/`` and ``broker-N/server.properties``. Times are
UTC. Files that only the model can write are beside the brokers: the run as a trace (``trace.jsonl``, which a scan reads
like any other evidence), the model's own events (``events.jsonl``) and the truth (``truth.json``).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from forensics.model.cluster import PARTITION
from forensics.model.exporter import FOLDER as METRICS
from forensics.model.exporter import metrics_text
from forensics.model.groups import FOLDER as OFFSETS
from forensics.model.groups import offsets_segment
from forensics.model.run import Logging, Run
from forensics.model.segments import segment
from forensics.model.state import CHECKPOINTS, Checkpoint, Disk, Replica
from forensics.model.trace import moment, to_jsonl
from forensics.model.wording import Scene, Words, wording_of

SEGMENT = "00000000000000000000.log"
GARBLED = 16
"""Zeros in a checkpoint that was destroyed."""


def log_lines(run: Run, logging: Logging) -> dict[tuple[int, str], list[str]]:
    """Every line of every log file: (broker, file name) -> lines, in the order of the events."""
    return _said(run, wording_of(run.protocol.kafka)(Scene(run.cluster, run.name, run.seed), logging))


def _said(run: Run, words: Words) -> dict[tuple[int, str], list[str]]:
    files: dict[tuple[int, str], list[str]] = {}
    at, stamp = -1, ""
    for event in run.cluster.trace:
        if event.broker is None:
            continue
        if event.at != at:
            at = event.at
            stamp = moment(at).strftime("%Y-%m-%d %H:%M:%S,") + f"{at % 1000:03d}"
        for name, line in words.words(event):
            lines = files.setdefault((event.broker, name), [])
            lines.append(f"[{stamp}] {line.level} {line.text} ({line.logger})")
            if line.after:
                lines.append(line.after)
    return files


def checkpoint(entries: Iterable[tuple[object, ...]]) -> str:
    """An offset or epoch checkpoint: version 0, the count, the entries."""
    rows = [" ".join(map(str, entry)) for entry in entries]
    return "\n".join(["0", str(len(rows)), *rows, ""])


def _checkpoint(
    disk: Disk, name: Checkpoint, entries: Sequence[tuple[object, ...]]
) -> Iterator[tuple[str, str | bytes]]:
    """Yield a checkpoint file as it is on disk: whole, empty, zeros, or absent."""
    damage = disk.damage.get(name)
    if damage == "garbled":
        yield CHECKPOINTS[name], bytes(GARBLED)
    elif damage != "lost":
        yield CHECKPOINTS[name], "" if damage == "empty" else checkpoint(entries)


def _data(run: Run, scene: Scene, replica: Replica) -> Iterator[tuple[str, str | bytes]]:
    """The files of one broker's log directory: path in it, and content."""
    disk = replica.disk
    partition = (scene.topic, PARTITION)
    stamp = moment(0).strftime("%a %b %d %H:%M:%S UTC %Y")
    if run.protocol.kraft:
        properties = [
            f"node.id={replica.broker}",
            f"directory.id={scene.directory_id(replica.broker)}",
            "version=1",
            f"cluster.id={scene.cluster_id}",
        ]
    else:
        # 0.10 to 2.0 know the cluster's id and do not write it here
        properties = [f"broker.id={replica.broker}", "version=0"]
        if run.protocol.kafka >= "2.8":
            properties.append(f"cluster.id={scene.cluster_id}")
    yield "meta.properties", "\n".join(["#", f"#{stamp}", *properties, ""])
    yield "cleaner-offset-checkpoint", ""
    offsets: dict[Checkpoint, int | None] = {"hw": disk.hw, "recovery_point": disk.recovery_point}
    if run.protocol.epochs:
        offsets["log_start"] = disk.log_start
    for name, offset in offsets.items():
        yield from _checkpoint(disk, name, [] if offset is None else [(*partition, offset)])
    if disk.clean:
        marker = f'{{"version":0,"brokerEpoch":{run.cluster.controller.broker_epochs[replica.broker]}}}'
        yield ".kafka_cleanshutdown", marker if run.protocol.kafka >= "3.7" else ""
    if not replica.on_disk:
        return
    folder = scene.tp
    yield f"{folder}/{SEGMENT}", segment(replica.log, run.protocol.magic)
    if run.protocol.epochs:
        for path, content in _checkpoint(disk, "epochs", disk.epochs):
            yield f"{folder}/{path}", content
    if run.protocol.kafka >= "2.8":
        yield f"{folder}/partition.metadata", f"version: 0\ntopic_id: {scene.topic_id}"


def _metrics(run: Run) -> dict[str, str]:
    """Return the scrapes of the exporter as a file; none without scrapes."""
    scraped, topic = run.cluster.exporter, run.cluster.topic
    return {f"{METRICS}/{topic}.prom": metrics_text(scraped, topic, PARTITION)} if scraped.scrapes else {}


def files(run: Run, logging: Logging) -> dict[str, bytes]:
    """A run's evidence: path below the folder of the evidence -> content. The same run gives the same bytes.

    Raises:
        ValueError: No such logging preset.
    """
    if logging not in ("default", "replication"):
        raise ValueError(f"no logging preset {logging!r}; there are default and replication")
    words = wording_of(run.protocol.kafka)(Scene(run.cluster, run.name, run.seed), logging)
    said = _said(run, words)
    found: dict[str, str | bytes] = {}
    controllers = sorted({broker for broker, _ in said} - set(run.cluster.assigned))
    for broker in (*run.cluster.assigned, *controllers):
        folder = f"broker-{broker}"
        found[f"{folder}/server.properties"] = "".join(
            f"{key}={value}\n" for key, value in words.values(broker).items()
        )
        replica = run.cluster.brokers[broker].replica if broker in run.cluster.brokers else Replica(broker)
        for path, content in _data(run, words.scene, replica):
            found[f"{folder}/data/{path}"] = content
    if run.cluster.groups.commits:
        path = f"data/{OFFSETS}/{SEGMENT}"
        commits = offsets_segment(run.cluster.groups.commits, run.cluster.topic, PARTITION, run.protocol)
        found |= {f"broker-{broker}/{path}": commits for broker in run.cluster.assigned}
    found |= _metrics(run)
    for (broker, name), lines in said.items():
        found[f"broker-{broker}/logs/{name}"] = "\n".join(lines) + "\n"
    return {path: content.encode() if isinstance(content, str) else content for path, content in found.items()}


def write_run(run: Run, directory: Path, logging: Logging) -> None:
    """Writes a run's evidence, trace, events and truth. Folders of its brokers that are there already are replaced.

    Raises:
        ValueError: No such logging preset.
    """
    content = files(run, logging)
    directory.mkdir(parents=True, exist_ok=True)
    for folder in sorted({path.split("/")[0] for path in content}):
        shutil.rmtree(directory / folder, ignore_errors=True)
        if folder != METRICS:
            (directory / folder / "logs").mkdir(parents=True)
    for path, data in content.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(data)
    (directory / "trace.jsonl").write_text(run.observations())
    (directory / "events.jsonl").write_text(to_jsonl(run.cluster.trace))
    truth = run.truth() | {"logging": logging}
    (directory / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
