"""``--redact``: a house's names are in every file, and in nothing that leaves it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.reports import json_report, text
from forensics.reports.html import render
from forensics.reports.redaction import Redactor, redact
from forensics.result import Result
from tests.reports.html.conftest import LOSS_AND_FORK

TOPIC, HOST, ADDRESS, SIX = "acme-payroll.v2", "kafka-prod7.acme.example", "10.20.30.40", "2001:db8::acde"
SAID = (
    f"for clientId=acme-billing-app, principal=User:acme-svc at /{ADDRESS}:50412 and [{SIX}]:9092 "
    f"from {HOST}:9093 (id: 7 rack: null) in /data/acme/disk1/{TOPIC}-0 with "
    "transactionalId acme-tx and groupId=acme-group, beside kafka-prod7, backup.acme.example, fe80::acde:1 and "
    "db1.acme.com; java.net.UnknownHostException: acme3; principal=User:CN=acme-svc,OU=acme ops,O=Acme username=acme-u "
    "password=acme-p"
)
SECRETS = ("acme", "payroll", ADDRESS, SIX, "kafka-prod7", "acde")


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
            stream.write(f"\nadvertised.listeners=PLAINTEXT://{HOST}:9092\nlog.dirs=/data/acme/disk1\n")
    log = folder / "broker-2" / "logs" / "server.log"
    damaged = f"[2026-11-21 04:06:50,000] INFO Partition [{TOPIC},0] on broker acme: Shrinking ISR (kafka.cluster)\n"
    log.write_text(log.read_text(encoding="utf-8") + damaged, encoding="utf-8")
    log.rename(log.with_name(f"server.log.{HOST}"))
    (folder / "broker-3").rename(folder / f"broker-3-{HOST}")
    return local.scan([str(folder)])


def leaks(said: str) -> list[str]:
    said = re.sub(r'<script type="text/plain".*?</script>', "", said, flags=re.DOTALL)
    return [said[max(m.start() - 60, 0) : m.end() + 60] for s in SECRETS for m in re.finditer(re.escape(s), said, re.I)]


def test_the_house_is_named_where_nothing_is_redacted(house: Result) -> None:
    page = render(house)
    assert house.findings
    assert all(secret in page for secret in ("acme-billing-app", ADDRESS, TOPIC, HOST, "/data/acme/disk1"))


@pytest.mark.parametrize("report", ["html", "json", "text"])
def test_no_report_names_it_when_redacted(report: str, house: Result) -> None:
    redacted = redact(house)
    made = {
        "html": lambda: render(redacted),
        "json": lambda: json.dumps(json_report.document(redacted)),
        "text": lambda: text.render(redacted),
    }
    assert leaks(made[report]()) == []


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
                assert f"line {evidence.line:,}".replace(",", "\u202f") in page
        assert all(f"Broker {fact.broker}" in page for fact in finding.facts if fact.broker is not None)
    assert "topic1-0" in page
    assert "server.log" in page
