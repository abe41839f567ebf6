"""``forensics scan -``: lines that somebody pasted."""

from __future__ import annotations

import io
import sys

import pytest

from tests.cli.conftest import Run
from tests.rules.test_known_problems import SHOWN

TICKET = """\
Hi, after a restart of one of our brokers we see this:

Broker 2:
```
[2024-05-14 09:13:11,301] INFO [ReplicaFetcherManager on broker 2] Added fetcher for partitions \
List([orders-0, initOffset 90 to broker BrokerEndPoint(3,h3,9092)] ) (kafka.server.ReplicaFetcherManager)
...
[2024-05-14 09:13:11,402] INFO [Log partition=orders-0, dir=/data] Truncating to offset 50 (kafka.log.Log)
```
"""


@pytest.fixture
def pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TICKET.encode())))


@pytest.mark.usefixtures("pasted")
def test_a_ticket_is_judged(run: Run) -> None:
    ran = run("scan", "-", "--format", "json")
    assert ran.code == 0
    (partition,) = ran.document["partitions"]
    assert partition["topic"] == "orders"
    assert {
        one["verdict"] for rule, one in partition["verdicts"].items() if rule not in ("evidence-gap", "lso-above-hw")
    } == {"unknown"}
    assert [(source["path"], source["broker"], source["format"]) for source in ran.document["sources"]] == [
        ("-", None, "archive"),
        ("-!/broker-2", 2, "broker-log"),
    ]
    assert ran.document["coverage"][0]["kind"] == "excerpt"
    assert ran.document["notices"]["count"] == 0


@pytest.mark.usefixtures("pasted")
def test_the_summary_says_what_it_rests_on(run: Run) -> None:
    ran = run("scan", "-")
    assert "broker 2  logs at 09:13:11 (excerpt); release unknown" in ran.out
    assert "0 notices" in ran.out


@pytest.mark.usefixtures("pasted")
def test_inspect_counts_prose(run: Run) -> None:
    ran = run("inspect", "-")
    assert "  8 lines, 4 of prose and fences, 2 events; 2 may be about replication, 2 understood (100.00 %)" in ran.out
    assert "  layout log4j in an excerpt; times without a zone" in ran.out
    assert "line 6  lines_missing detail=..." in ran.out


@pytest.mark.parametrize("text", ["Hi all,\n\nwe lost data, I think.\n\nThanks\n", "```\nsome code\n```\n", ""])
def test_prose_alone_is_nothing(text: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ran = run("scan", "-")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        "forensics: nothing in - was understood (1 file). Give logs or data directories of brokers"
    )


@pytest.mark.parametrize(
    ("known", "code"),
    [("truncation-refused", 1), ("all-log-dirs-failed", 1), ("isr-shrunk-to-one", 0), ("first-leader-epoch", 0)],
)
def test_only_errors_fail_a_scan(known: str, code: int, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = "\n".join(["We see this:", "```", *SHOWN[known].lines, "```", ""])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ticket.encode())))
    ran = run("scan", "-")
    assert ran.code == code
    assert "What the lines say:" in ran.out
