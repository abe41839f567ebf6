"""Writes what the brokers of a run leave behind: logs in their version's words, checkpoints, segments, configuration.

The layout is the one of collected evidence: ``broker-N/{logs,data}/`` and ``broker-N/server.properties``. Times are
UTC. The trace (``trace.jsonl``) and the truth (``truth.json``) lie beside the brokers; no reader of evidence may look
at them.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from forensics.model.cluster import PARTITION, TOPIC
from forensics.model.run import Logging, Run
from forensics.model.segments import segment
from forensics.model.state import Replica
from forensics.model.trace import moment, to_jsonl
from forensics.model.wording import Scene, Words, wording_of

SEGMENT = "00000000000000000000.log"


def log_lines(run: Run, logging: Logging) -> dict[tuple[int, str], list[str]]:
    """Every line of every log file: (broker, file name) -> lines, in the order of the events."""
    scene = Scene(run.cluster, run.name, run.seed)
    words = wording_of(run.protocol.kafka)(scene, logging)
    files: dict[tuple[int, str], list[str]] = {}
    for event in run.cluster.trace:
        if event.broker is None:
            continue
        stamp = moment(event.at).strftime("%Y-%m-%d %H:%M:%S,") + f"{event.at % 1000:03d}"
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


def _write_data(run: Run, words: Words, replica: Replica, data: Path) -> None:
    scene, disk = words.scene, replica.disk
    partition = (TOPIC, PARTITION)
    stamp = moment(0).strftime("%a %b %d %H:%M:%S UTC %Y")
    if run.protocol.mode == "kraft":
        properties = [
            f"node.id={replica.broker}",
            f"directory.id={scene.directory_id(replica.broker)}",
            "version=1",
            f"cluster.id={scene.cluster_id}",
        ]
    else:
        # 0.10 and 1.x know the cluster's id and do not write it here
        properties = [f"broker.id={replica.broker}", "version=0"]
        if run.protocol.kafka >= "2":
            properties.append(f"cluster.id={scene.cluster_id}")
    (data / "meta.properties").write_text("\n".join(["#", f"#{stamp}", *properties, ""]))
    (data / "cleaner-offset-checkpoint").write_text("")
    known = [] if disk.hw is None else [(*partition, disk.hw)]
    (data / "replication-offset-checkpoint").write_text(checkpoint(known))
    flushed = [] if disk.recovery_point is None else [(*partition, disk.recovery_point)]
    (data / "recovery-point-offset-checkpoint").write_text(checkpoint(flushed))
    if run.protocol.epochs:
        (data / "log-start-offset-checkpoint").write_text(checkpoint([]))
    if disk.clean:
        marker = f'{{"version":0,"brokerEpoch":{run.cluster.controller.broker_epochs[replica.broker]}}}'
        (data / ".kafka_cleanshutdown").write_text(marker if run.protocol.kafka >= "3.7" else "")
    if not replica.on_disk:
        return
    folder = data / f"{TOPIC}-{PARTITION}"
    folder.mkdir()
    (folder / SEGMENT).write_bytes(segment(replica.log, run.protocol.magic))
    if run.protocol.epochs:
        (folder / "leader-epoch-checkpoint").write_text(checkpoint(disk.epochs))
    if run.protocol.kafka >= "2.8":
        (folder / "partition.metadata").write_text(f"version: 0\ntopic_id: {scene.topic_id}")


def write_run(run: Run, directory: Path, logging: Logging) -> None:
    """Writes a run's evidence, trace and truth. The same run gives the same bytes.

    Raises:
        ValueError: No such logging preset.
    """
    if logging not in ("default", "replication"):
        raise ValueError(f"no logging preset {logging!r}; there are default and replication")
    directory.mkdir(parents=True, exist_ok=True)
    words = wording_of(run.protocol.kafka)(Scene(run.cluster, run.name, run.seed), logging)
    files = log_lines(run, logging)
    controllers = sorted({broker for broker, _ in files} - set(run.cluster.assigned))
    for broker in (*run.cluster.assigned, *controllers):
        folder = directory / f"broker-{broker}"
        if folder.exists():
            shutil.rmtree(folder)
        (folder / "logs").mkdir(parents=True)
        (folder / "data").mkdir()
        settings = "".join(f"{key}={value}\n" for key, value in words.values(broker).items())
        (folder / "server.properties").write_text(settings)
        replica = run.cluster.brokers[broker].replica if broker in run.cluster.brokers else Replica(broker)
        _write_data(run, words, replica, folder / "data")
    for (broker, name), lines in files.items():
        (directory / f"broker-{broker}" / "logs" / name).write_text("\n".join(lines) + "\n")
    (directory / "trace.jsonl").write_text(to_jsonl(run.cluster.trace))
    truth = run.truth() | {"logging": logging}
    (directory / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
