"""``--redact``: a house's names are in every file, and in nothing that leaves it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from forensics.engines import local
from forensics.reports import REPORTS, Report
from forensics.reports.html import render
from forensics.reports.redaction import Redactor, redact
from forensics.result import Result
from forensics.tables import TABLES, save
from tests.cli.conftest import Run, run
from tests.conftest import in_full
from tests.engines.without_spark import run as batch
from tests.reports.html.conftest import LOSS_AND_FORK

__all__ = ["run"]

TOPIC, HOST, ADDRESS, SIX = "acme-payroll.v2", "kafka-prod7.acme.example", "10.20.30.40", "2001:db8::acde"
SAID = (
    f"for clientId=acme-billing-app, principal=User:acme-svc at /{ADDRESS}:50412 and [{SIX}]:9092 "
    f"from {HOST}:9093 (id: 7 rack: null) in /data/acme/disk1/{TOPIC}-0 with "
    "transactionalId acme-tx and groupId=acme-group, beside kafka-prod7, backup.acme.example, fe80::acde:1 and "
    "db1.acme.com; java.net.UnknownHostException: acme3; principal=User:CN=acme-svc,OU=acme ops,O=Acme username=acme-u "
    "password=acme-p; RequestHeader(apiKey=FETCH, apiVersion=13, clientId=night shift of acme, correlationId=3) "
    "[Consumer clientId=bills: acme #2, groupId=all of acme] FetchRequest(clusterId=acme-c, rackId=acme-r, "
    "topics=[FetchTopic(topic=acme-third)]) authorizationID=acme-a; resource = Topic:LITERAL:acme-fourth for request"
)
POSITIONS = f"""\
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID     HOST         CLIENT-ID
acme-g9         {TOPIC}  0          4000            50              -    -               -            -
acme g8         {TOPIC}  0          4001            50              -    acme-m-1-1a2b3c /10.20.30.40 acme-cl9
"""
SECRETS = ("acme", "payroll", ADDRESS, SIX, "kafka-prod7", "acde")
SETTINGS = f"""
advertised.listeners=PLAINTEXT://{HOST}:9092,ACME://acme-db1:9093
log.dirs=/data/acme/disk1,/acme-mnt/disk2
broker.rack=acme-rack
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,ACME:SSL
inter.broker.listener.name=ACME
zookeeper.connect=acme-zk:2181,zk2.acme.example:2181/acme-root
controller.quorum.voters=1@acme-c1:9093,2@acme-c2:9093
ssl.keystore.location=/etc/acme/keys.jks
ssl.keystore.password=acme-p
sasl.jaas.config=com.acme.LoginModule required username="acme-u" password="acme-p";
super.users=User:acme-admin;User:CN=acme
authorizer.class.name=com.acme.Authorizer
"""
LINES = f"""\
INFO [SocketServer brokerId=1] Acceptor for EndPoint(acme-e,9092,ListenerName(ACME),SSL) (kafka.network.SocketServer)
WARN Connection to node 2 (acme-node/{ADDRESS}:9092) could not be established. (org.apache.kafka.clients.NetworkClient)
INFO Initialized transactionalId acme-tx with producerId 2000 (kafka.coordinator.transaction.TransactionCoordinator)
INFO [Log partition={TOPIC}-3, dir=/data/acme/d] Truncating to 5 has no effect as the largest offset in the log is 3 \
(kafka.log.Log)
ERROR Error while loading log dir /data/acme/disk1 (kafka.log.LogManager)
INFO Kafka version : 0.10.2.2-acme3 (org.apache.kafka.common.utils.AppInfoParser)
WARN Attempting to send response via channel for which there is no open connection, connection id \
2001:db8:0:0:0:0:0:acde:9092-2001:db8:0:0:0:0:acde:7:51310-3 (kafka.network.Processor)
INFO A session from /2001:db8:0:0:0:0:0:acde:51310 and fe80:0:0:0:0:0:0:acde%eth0:51310 (kafka.network.Acceptor)
"""
"""What a broker of the house prints, and is set up with: each line names the house."""


@pytest.fixture(scope="module")
def house(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A real case of a house that names its topics, machines, people and folders after itself."""
    folder = tmp_path_factory.mktemp("acme") / "acme-incident (march)"
    shutil.copytree(sample_traces / LOSS_AND_FORK, folder)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.parent.name == "logs" or (path.is_file() and path.suffix != ".log"):
            found = path.read_bytes().replace(b"orders", TOPIC.encode())
            if path.parent.name == "logs":
                found = found.replace(b"(kafka.log.Log)", SAID.encode() + b" (kafka.log.Log)")
            path.write_bytes(found)
        if path.name == "orders-0":
            path.rename(path.with_name(f"{TOPIC}-0"))
    for properties in folder.glob("broker-*/server.properties"):
        with properties.open("a", encoding="utf-8") as stream:
            stream.write(SETTINGS)
    log = folder / "broker-2" / "logs" / "server.log"
    damaged = f"[2026-11-21 04:06:50,000] INFO Partition [{TOPIC},0] on broker acme: Shrinking ISR (kafka.cluster)\n"
    printed = "".join(f"[2026-11-21 04:06:51,000] {line}\n" for line in LINES.splitlines())
    log.write_text(log.read_text(encoding="utf-8") + damaged + printed, encoding="utf-8")
    log.rename(log.with_name(f"server.log.{HOST}"))
    (folder / "groups.txt").write_text(POSITIONS)
    (folder / "broker-3").rename(folder / f"broker-3-{HOST}")
    return local.scan([str(folder)])


def leaks(said: str) -> list[str]:
    said = re.sub(r'<script type="text/plain".*?</script>', "", said, flags=re.DOTALL)
    return [said[max(m.start() - 60, 0) : m.end() + 60] for s in SECRETS for m in re.finditer(re.escape(s), said, re.I)]


def test_the_house_is_named_where_nothing_is_redacted(house: Result) -> None:
    page = render(house)
    assert house.findings
    assert all(secret in page for secret in ("acme-billing-app", ADDRESS, TOPIC, HOST, "/data/acme/disk1"))


@pytest.mark.parametrize("report", REPORTS, ids=[report.name for report in REPORTS])
def test_no_report_names_it_when_redacted(report: Report, house: Result) -> None:
    told = "".join(report.pieces(house))
    assert any(secret in told for secret in SECRETS), "nothing to redact, so the test shows nothing"
    assert leaks("".join(report.pieces(redact(house)))) == []


def test_no_part_of_a_line_names_it_when_redacted(house: Result) -> None:
    """Reports show parts of lines; here are whole ones, with names that contain spaces."""
    redactor = Redactor(house)
    assert [leak for line in (SAID, *LINES.splitlines()) for leak in leaks(redactor.text(line))] == []


@pytest.fixture(scope="module")
def saved(house: Result, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of each table of ``--save --redact``, with what Parquet keeps beside the rows."""
    folder = tmp_path_factory.mktemp("saved")
    save(redact(house), folder)
    return {path.name: f"{pl.read_parquet(path).write_json()}{path.read_bytes()!r}" for path in folder.iterdir()}


@pytest.mark.parametrize("table", [table.name for table in TABLES])
def test_no_saved_table_names_it_when_redacted(table: str, saved: dict[str, str]) -> None:
    assert leaks(saved[f"{table}.parquet"]) == []


def test_nothing_that_a_command_writes_names_it_when_redacted(house: Result, tmp_path: Path) -> None:
    """Standard output, files, messages: everything at once, as a user asks for it."""
    page, out = tmp_path / "page.html", tmp_path / "out.txt"
    options = ["--redact", "--report", str(page), "--save", str(tmp_path / "tables"), "-o", str(out)]
    command = [sys.executable, "-m", "forensics", "scan", *house.inputs, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    written = [path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == len(TABLES) + 2
    assert leaks("".join((done.stdout, done.stderr, *written))) == []


@pytest.mark.parametrize("option", ["--topic", "--skip-topic"])
def test_no_error_names_a_topic_when_redacted(option: str, sample_traces: Path, run: Run) -> None:
    pattern = "none" if option == "--topic" else "o*"
    asked = run("scan", sample_traces / LOSS_AND_FORK, option, pattern, "--isolated")
    assert (asked.code, "there are: orders" in asked.err) == (2, True)
    redacted = run("scan", sample_traces / LOSS_AND_FORK, option, pattern, "--isolated", "--redact")
    assert (redacted.code, "orders" in redacted.err) == (2, False)


@pytest.mark.parametrize("alone", [False, True], ids=["a folder", "files"])
def test_a_path_without_a_folder_is_redacted(
    *, alone: bool, sample_traces: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a user gives it who stands in the folder above: nothing but the scan shows that the word is a path."""
    case = Path(shutil.copytree(sample_traces / LOSS_AND_FORK, tmp_path / "k7zz"))
    given = [case.name]
    if alone:
        logs = sorted(case.rglob("server.log"))
        for number, log in enumerate((logs[0], *logs)):
            shutil.copy(log, tmp_path / f"k7zz-{number}.log")
        given = [path.name for path in sorted(tmp_path.glob("*.log"))]
    monkeypatch.chdir(tmp_path)
    for report in ("text", "json"):
        assert "k7zz" in run("scan", *given, "--format", report, "--isolated").out
        assert "k7zz" not in run("scan", *given, "--format", report, "--isolated", "--redact").out


PART = f"{TOPIC}-0"
SHOWN = {
    "trace": (["trace"], []),
    "part of a trace": (["trace"], ["-p", PART]),
    "timeline": (["timeline"], ["-p", PART, "--lines", "--width", "200"]),
    "timeline, jsonl": (["timeline"], ["-p", PART, "--format", "jsonl"]),
}


@pytest.mark.parametrize("what", SHOWN)
def test_no_trace_and_no_timeline_names_it_when_redacted(what: str, house: Result, run: Run) -> None:
    command, options = SHOWN[what]
    assert leaks(run(*command, *house.inputs, *options).out), "nothing to redact, so the test shows nothing"
    redacted = run(*command, *house.inputs, *options, "--redact")
    assert (redacted.code, leaks(redacted.out + redacted.err)) == (0, [])


@in_full("outputs of a scan are searched without it")
def test_nothing_that_is_made_of_tables_names_it_when_redacted(house: Result, tmp_path: Path, run: Run) -> None:
    """A batch keeps the names; a report and a timeline of its tables have none."""
    out = tmp_path / "batch"
    batch(house.inputs[0], out)
    asked = [["report", out, "--format", one.name] for one in REPORTS]
    asked += [["timeline", out, "-p", PART, "--lines", "--format", one] for one in ("text", "jsonl")]
    for one in asked:
        assert leaks(run(*one).out), "nothing to redact, so the test shows nothing"
        redacted = run(*one, "--redact")
        assert leaks(redacted.out + redacted.err) == [], one


def test_a_private_build_is_named_by_its_release(house: Result) -> None:
    case = redact(house).case
    assert {broker.version for broker in house.case.everyone} == {"0.10.2.2", "0.10.2.2-acme3"}
    assert {broker.version for broker in case.everyone} == {"0.10.2.2", "0.10.2.2-build1"}
    assert [b.release for b in case.everyone] == [b.release for b in house.case.everyone]
    text = Redactor(house).text("Kafka version : 0.10.2.2-acme3 at 0.10.2.3")
    assert re.fullmatch(r"Kafka version : 0\.10\.2\.2-build1 at host[0-9]", text)


def test_a_redacted_trace_states_each_release(sample_traces: Path, run: Run) -> None:
    """A release of four numbers, such as 0.10.2.2, looks like an address."""
    lines = map(json.loads, run("trace", sample_traces / "kip101-0.10.2.2", "--redact").out.splitlines())
    assert {one["detail"] for one in lines if one.get("kind") == "broker_version"} == {"0.10.2.2"}


def renamed(case: Path, folder: Path) -> Path:
    """A copy of a case whose brokers keep their logs, and have their programs, where no other house has them."""
    copy = Path(shutil.copytree(case, folder / "vault-of-k7zz"))
    for path in copy.rglob("*"):
        if path.is_file() and not re.fullmatch(r"[0-9]{20}.*", path.name):
            path.write_bytes(path.read_bytes().replace(b"/srv/kafka", b"/k7zz/disks"))
    return copy


def named_in(case: Path) -> set[str]:
    """Names that a case gives away: its folder and those above it, its disks, its topics and its cluster."""
    names = {case.name, "k7zz", *(part for part in case.parts if re.match("pytest-|test_", part))}
    for path in case.rglob("*"):
        if path.is_dir() and re.fullmatch(r"(?!__).+-[0-9]+", path.name) and path.parent.name.startswith("data"):
            names.add(path.name.rpartition("-")[0])
        if path.name == "meta.properties":
            names |= set(re.findall(r"^cluster\.id=(\S+)$", path.read_text(), re.MULTILINE))
        if path.name == "partition.metadata" and not path.parent.name.startswith("__"):
            names |= set(re.findall(r"^topic_id: (\S+)$", path.read_text(), re.MULTILINE))
    return names


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "zkback-2.8.2", "txn-4.1.1"])
def test_no_output_names_what_a_case_names(name: str, sample_traces: Path, tmp_path: Path) -> None:
    """Names are collected from the evidence itself, whatever they are."""
    case = renamed(sample_traces / name, tmp_path)
    names = named_in(case)
    assert len(names) > 2
    redacted = redact(local.scan([str(case)]))
    tables = tmp_path / "tables"
    save(redacted, tables)
    told = {report.name: "".join(report.pieces(redacted)) for report in REPORTS}
    told |= {path.name: pl.read_parquet(path).write_json() for path in tables.iterdir()}
    found = [(name, output) for output, said in told.items() for name in sorted(names) if name in plain(said)]
    assert found == []


@pytest.mark.parametrize("name", ["kip101-0.10.2.2", "unclean-3.9.1", "zkback-2.8.2"])
def test_no_trace_and_no_timeline_names_what_a_case_names(
    name: str, sample_traces: Path, tmp_path: Path, run: Run
) -> None:
    case = renamed(sample_traces / name, tmp_path)
    names = named_in(case)
    found = local.scan([str(case)])
    partition = max(found.partitions, key=lambda one: len(one.history.epochs)).history.name
    asked = {
        "trace": ["trace", case],
        "part of a trace": ["trace", case, "-p", partition],
        "timeline": ["timeline", case, "-p", partition, "--lines", "--width", "200"],
        "timeline, jsonl": ["timeline", case, "-p", partition, "--format", "jsonl"],
    }
    told = {what: run(*one, "--redact").out for what, one in asked.items()}
    assert all(any(one in run(*asked[what]).out for one in names) for what in told), "nothing to redact"
    assert [(one, what) for what, said in told.items() for one in sorted(names) if one in said] == []
    lines = {what: said.count("\n") for what, said in told.items() if what != "timeline"}  # it wraps long paths
    assert lines == {what: run(*asked[what]).out.count("\n") for what in lines}


def test_a_redacted_trace_is_judged_as_the_trace(sample_traces: Path, tmp_path: Path, run: Run) -> None:
    case = renamed(sample_traces / "kip101-0.10.2.2", tmp_path)

    def answers(*options: str) -> list[tuple[object, ...]]:
        path = tmp_path / "trace.jsonl"
        assert run("trace", case, "-o", path, *options).code == 0
        found = local.scan([str(path)]).findings
        return sorted((one.rule, one.severity, one.confidence, one.replicas, one.offsets, one.epochs) for one in found)

    assert answers("--redact") == answers()


def plain(said: str) -> str:
    """A text without the libraries of a page, which have words of their own."""
    return re.sub(r"<script.*?</script>|<style.*?</style>", "", said, flags=re.DOTALL)


def test_kafka_speaks_on(house: Result) -> None:
    said = (
        "java.net.UnknownHostException in org.apache.kafka.common.utils.Utils, kafka.log.Log, state.change.logger: "
        "min.insync.replicas=1 zookeeper.connection.timeout.ms=6000 at 04:06:36,540 epoch 3 offset 5 C:9 L=4, leader=3"
    )
    assert Redactor(house).text(said) == said


def test_the_story_can_still_be_followed(house: Result) -> None:
    page = render(redact(house))
    for finding in house.findings:
        for evidence in finding.evidence:
            if evidence.line is not None:
                assert f"line {evidence.line}" in page
        assert all(f"Broker {fact.broker}" in page for fact in finding.facts if fact.broker is not None)
    assert "topic1-0" in page
    assert "server.log" in page


@pytest.mark.parametrize("ending", ["", ".*-stray", f".{'0a' * 16}-delete"])
def test_a_directory_of_a_partition_is_known_as_one(ending: str, house: Result) -> None:
    folder = Redactor(house).path(f"/data/{TOPIC}-0{ending}").rpartition("/")[2]
    assert re.fullmatch(r"topic[0-9]+-0" + re.escape(ending), folder)
