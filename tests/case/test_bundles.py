"""Bundles as the usual tools make them: whose each file is, and the same answers as from plain folders.

The layouts are those of Strimzi's ``tools/report.sh``, of logs on a Kubernetes node, of hosts copied side by side as
support tools of Confluent Platform and Ansible do, of the support bundle of Confluent for Kubernetes, of ``kubectl cp``
and of ``rpk debug bundle``; real brokers printed what they hold. What Confluent's Diagnostics Bundle Tool puts where is
not documented: an archive a host, a folder a component and what it collects below stand in for it.
"""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan, take_in
from forensics.result import Result
from tests.case.test_printers import by_time
from tests.parsers.handing_over import HEAD, LAYOUTS, WRAPPINGS, tar, zipped

TRACE = "unclean-3.9.1"
UID = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"
MUTE = "[2026-11-21 04:11:00,000] INFO Truncating log mute-0 to offset 5. (kafka.log.Log)\n"
Files = dict[str, str | bytes]


def stdout(broker: Path) -> list[str]:
    """What a broker prints to standard output where all its loggers go there."""
    logs = [path for path in sorted(broker.glob("logs/*.log")) if "request" not in path.name]
    return by_time(logs).splitlines()


def number(broker: Path) -> str:
    return broker.name.removeprefix("broker-")


def data(broker: Path, folder: str) -> Files:
    root = broker / "data"
    return {f"{folder}/{path.relative_to(root)}": path.read_bytes() for path in root.rglob("*") if path.is_file()}


def strimzi(broker: Path) -> Files:
    """Pod logs in one folder, settings in another; what ran before the last restart in ``.log.0``."""
    pod = f"my-cluster-kafka-{number(broker)}"
    lines = stdout(broker)
    restarts = [at for at, line in enumerate(lines) if "Starting broker" in line or "Starting controller" in line]
    cut = restarts[-1] if len(restarts) > 1 else 0
    layout = LAYOUTS["thread last"]
    files: Files = {
        f"reports/podlogs/{pod}-kafka.log": layout(lines[cut:]),
        f"reports/podlogs/{pod}-tls-sidecar.log": "Starting Stunnel\n",
        f"reports/configs/{pod}.cfg": (broker / "server.properties").read_text(),
        f"reports/pods/{pod}.yaml": f"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {pod}\n",
        "reports/events/events.txt": "LAST SEEN   TYPE   REASON\n",
    }
    return files | ({f"reports/podlogs/{pod}-kafka.log.0": layout(lines[:cut])} if cut else {})


def node(broker: Path) -> Files:
    """``/var/log/pods`` of a Kubernetes node: CRI lines, a file a restart of the container."""
    folder = f"var/log/pods/kafka_my-cluster-kafka-{number(broker)}_{UID}/kafka"
    lines = stdout(broker)
    half = next(at for at in range(len(lines) // 2, len(lines)) if HEAD.match(lines[at]))
    cri = WRAPPINGS["cri"]
    return {f"{folder}/0.log": cri(lines[:half]) + "\n", f"{folder}/1.log": cri(lines[half:]) + "\n"}


def hosts(broker: Path) -> Files:
    """Hosts side by side, each with its own ``etc`` and ``var``."""
    host = f"bundle-2026-11-21/kafka{'abcdefgh'[int(number(broker)) % 8]}.example.com"
    logs = {f"{host}/var/log/kafka/{path.name}": path.read_bytes() for path in broker.glob("logs/*.log")}
    return {
        **logs,
        f"{host}/etc/kafka/server.properties": (broker / "server.properties").read_bytes(),
        **data(broker, f"{host}/var/lib/kafka/data"),
    }


def rpk(broker: Path) -> Files:
    """Logs of pods as text files beside what the tool asked the cluster."""
    pod = f"kafka-{number(broker)}"
    return {
        f"logs/{pod}.txt": "\n".join(stdout(broker)) + "\n",
        "kafka.json": '[{"Name":"metadata","Response":{"Cluster":"x","Topics":{}}}]',
        "data-dir.txt": '{"/var/lib/redpanda/data":{"size":"4096"}}',
        "proc/cpuinfo": "processor : 0\n",
    }


def confluent(broker: Path) -> Files:
    """Confluent for Kubernetes: pod logs and what the operator made, by component."""
    pod = f"kafka-{number(broker)}"
    return {
        f"support-bundle-ns-confluent/clusters-resources/kafka/{pod}.log": "\n".join(stdout(broker)) + "\n",
        "support-bundle-ns-confluent/clusters-resources/kafka/kafka-shared-config.yaml": "apiVersion: v1\n",
        "support-bundle-ns-confluent/events.yaml": "apiVersion: v1\nitems: []\n",
    }


def diagnostics(broker: Path) -> Files:
    """An archive a host, in it a folder a process with its logs and settings."""
    process = f"diagnostics-output/kafka.Kafka-{14711 + int(number(broker))}"
    files: dict[str, bytes] = {
        f"{process}/logs/{path.name}.gz": gzip.compress(path.read_bytes()) for path in broker.glob("logs/*.log")
    }
    files[f"{process}/configs/server.properties"] = (broker / "server.properties").read_bytes()
    files["diagnostics-output/io.confluent.connect-99/logs/connect.log"] = b"no broker's\n"
    return {f"host-{'abcdefgh'[int(number(broker)) % 8]}/diagnostics-output.tar.gz": tar(files, "gz")}


def copied(broker: Path) -> Files:
    """``kubectl cp`` of a pod's log directory and its output, folder by folder."""
    pod = f"copies/my-cluster-kafka-{number(broker)}"
    return {f"{pod}/stdout.txt": "\n".join(stdout(broker)) + "\n"} | data(
        broker, f"{pod}/data-0/kafka-log{number(broker)}"
    )


BUNDLES: dict[str, Callable[[Path], Files]] = {
    "strimzi": strimzi,
    "node": node,
    "hosts": hosts,
    "rpk": rpk,
    "confluent": confluent,
    "diagnostics": diagnostics,
    "kubectl cp": copied,
}


def bundled(way: str, trace: Path, path: Path) -> Path:
    files: Files = {}
    for broker in sorted(trace.glob("broker-*")):
        files |= BUNDLES[way](broker)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def told(result: Result) -> tuple[dict[tuple[str, str], str], list[str]]:
    verdicts = {
        (partition.history.name, rule): judgement.verdict.value
        for partition in result.partitions
        for rule, judgement in partition.judgements.items()
    }
    return verdicts, sorted(f"{f.rule} {f.severity} {f.partition} {f.offsets}" for f in result.findings)


@pytest.mark.parametrize("way", BUNDLES)
def test_a_bundle_says_what_its_brokers_said(way: str, sample_traces: Path, tmp_path: Path) -> None:
    trace = sample_traces / TRACE
    found = scan([str(bundled(way, trace, tmp_path / "report.zip"))])
    parts = (
        ("logs", "server.properties") if way in ("strimzi", "diagnostics") else ("logs", "server.properties", "data")
    )
    parts = ("logs",) if way in ("node", "rpk", "confluent") else parts
    parts = ("logs", "data") if way == "kubectl cp" else parts
    plain = scan([str(path) for part in parts for path in sorted(trace.glob(f"broker-*/{part}"))])
    assert told(found) == told(plain)
    assert sorted(found.case.brokers) == sorted(plain.case.brokers)
    noticed = {found.case.path(source) for source in found.case.notices["source"].to_list()}
    # logs, but no broker's
    assert all("tls-sidecar" in path or "connect" in path for path in noticed)


@pytest.mark.parametrize("way", BUNDLES)
def test_every_file_of_a_broker_is_known_as_its_own(way: str, sample_traces: Path, tmp_path: Path) -> None:
    case = take_in([str(bundled(way, sample_traces / TRACE, tmp_path / "report.zip"))])
    known = case.sources.filter(~case.sources["format"].is_in(["archive", "unknown", "irrelevant"]))
    assert known["broker"].null_count() == 0
    for path, broker in known.select("path", "broker").iter_rows():
        if found := re.search(r"kafka-(\d+)", path):
            assert broker == int(found[1]), path


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("reports/podlogs/c-kafka-2-kafka.log.0", {"reports/configs/c-kafka-2.cfg": "node.id=7\n"}),
        ("reports/podlogs/c-pool-2-kafka.log", {"reports/configs/c-pool-2.cfg": "node.id=7\n"}),
        ("a.example.com/var/log/kafka/old.log", {"a.example.com/etc/kafka/server.properties": "broker.id=7\n"}),
        ("logs/kafka-7-previous.txt", {}),
        ("logs/kafka-7.log.2026-11-21-04", {}),
        (f"pods/ns_x-broker-7_{UID}/kafka/0.log", {}),
        ("reports/podlogs/c-dual-role-7-kafka.log", {}),
        ("support-bundle-ns-confluent/clusters-resources/kafka/kafka-7.log", {}),
        ("copied/c-brokers-3-x/data-0/kafka-log7/replication-offset-checkpoint", {}),
        ("kafka-7/var/lib/kafka/data/replication-offset-checkpoint", {}),
    ],
)
def test_a_file_that_names_nobody_is_told_by_what_lies_around_it(
    path: str, beside: dict[str, str], tmp_path: Path
) -> None:
    other = "[2026-11-21 04:00:00,000] INFO [BrokerServer id=3] Starting broker (kafka.server.BrokerServer)\n"
    for name, text in {path: MUTE, "z.example.com/var/log/kafka/server.log": other, **beside}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("0\n1\nmute 0 5\n" if path == name and path.endswith("-checkpoint") else text)
    sources = take_in([str(tmp_path)]).sources
    owner = dict(zip(sources["path"].to_list(), sources["broker"].to_list(), strict=True))
    assert owner[str(tmp_path / path)] == 7


@pytest.mark.parametrize("name", ["broker-7.tar.gz", "Kafka7.zip", "node_7.tar", "x-broker-7.tgz"])
def test_an_archive_of_a_broker_is_told_by_its_name(name: str, tmp_path: Path) -> None:
    pack = zipped if name.endswith("zip") else tar
    compress = gzip.compress if name.endswith("gz") else bytes
    (tmp_path / name).write_bytes(compress(pack({"logs/server.log": MUTE.encode()})))
    (tmp_path / "3").mkdir()
    (tmp_path / "3" / "server.log").write_text(MUTE.replace("mute", "other"))
    sources = take_in([str(tmp_path)]).sources
    assert sources.filter(sources["format"] == "broker-log")["broker"].to_list() == [7, None]


@pytest.mark.parametrize(
    "path",
    [
        "logs/kafka-2026.log",
        "logs/kafka-20261121.log",
        "a.example.com/var/log/kafka/x.log",
        "reports/podlogs/c-x-1.log",
        "support-bundle-ns-confluent/clusters-resources/kraftcontroller/kraftcontroller-0.log",
        "support-bundle-ns-confluent/clusters-resources/zookeeper/zookeeper-0.log",
        "webserver-1/logs/server.log",
        "copied/kafka-logs-1/replication-offset-checkpoint",  # may be a second disk as well
    ],
)
def test_no_name_is_better_than_a_wrong_one(path: str, tmp_path: Path) -> None:
    beside = {
        "b.example.com/etc/kafka/server.properties": "broker.id=7\n",
        "b.example.com/var/log/kafka/server.log": MUTE,
        "reports/configs/c-x-2.cfg": "node.id=8\n",
    }
    for name, text in {path: MUTE, **beside}.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("0\n1\nmute 0 5\n" if path == name and path.endswith("-checkpoint") else text)
    sources = take_in([str(tmp_path)]).sources
    owner = dict(zip(sources["path"].to_list(), sources["broker"].to_list(), strict=True))
    assert owner[str(tmp_path / path)] is None
    assert owner[str(tmp_path / "b.example.com/var/log/kafka/server.log")] == 7


@pytest.mark.parametrize(("name", "notices"), [("kafka-request.log", 0), ("log-cleaner.log", 0), ("server.log", 1)])
def test_an_empty_log_is_told_of_where_a_broker_writes_at_its_start(name: str, notices: int, tmp_path: Path) -> None:
    (tmp_path / name).touch()
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\norders 0 7\n")
    assert take_in([str(tmp_path)]).sources.get_column("notices").sum() == notices
