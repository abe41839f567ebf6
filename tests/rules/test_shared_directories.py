"""Two topics whose names differ only in case have one directory on Windows: nothing about either's log is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.case.partial import BRIEF
from forensics.engines.local import scan
from forensics.reports import json_report
from forensics.result import Result
from forensics.rules.finding import Severity, Verdict
from forensics.rules.wants import Question
from tests.engines.without_spark import run

WINDOWS, MAC, LINUX = "C:\\kafka\\data", "/opt/homebrew/var/lib/kafka-logs", "/srv/kafka/data"
DEFAULT = "\\tmp\\kafka-logs"
"""The directory of the stock settings, on Windows."""


def opens(name: str, end: int, folder: str, *, created: bool = False) -> str:
    """What a broker of 2.8 prints as it opens a log: one that it found as it started, or a new one."""
    log = f"INFO [Log partition={name}, dir={folder}]"
    loads = f"{log} Loading producer state till offset {end} with message format version 2 (kafka.log.Log)"
    last = f"INFO Created log for partition {name} in {folder}/{name} with properties {{}} (kafka.log.LogManager)"
    if not created:
        last = (
            f"{log} Completed load of log with 1 segments, log start offset 0 and log end offset {end} (kafka.log.Log)"
        )
    return f"{loads}\n{last}"


def leads(name: str, end: int, epoch: int) -> str:
    """The role that it gets next."""
    return (
        f"INFO [Broker id=1] Leader {name} starts at leader epoch {epoch} from offset {end} with high watermark {end} "
        f"ISR [1] addingReplicas [] removingReplicas []. Previous leader epoch was {epoch - 1}. (state.change.logger)"
    )


def grown(folder: str, one: str = "Orders-0", other: str = "orders-0") -> list[str]:
    """Three processes: as they start, they find one directory with the records of both topics, and make the other."""
    ends = (0, 9, 4)
    return [
        line
        for epoch, end in enumerate(ends)
        for line in (
            "INFO [KafkaServer id=1] started (kafka.server.KafkaServer)",
            opens(one, end, folder, created=epoch == 0),
            leads(one, end, epoch),
            opens(other, end, folder, created=True),
            leads(other, end, epoch),
        )
    ]


def written(folder: Path, lines: list[str]) -> str:
    """A folder with the logs of broker 1: one event each second, and enough routine lines to be no excerpt."""
    logs = folder / "broker-1" / "logs"
    logs.mkdir(parents=True)
    beat = "INFO [Controller id=1] Processing automatic preferred replica election (kafka.controller.KafkaController)"
    pieces = [piece for event in lines for piece in event.split("\n")] + [beat] * BRIEF
    timed = [f"[2024-05-02 09:{n // 60:02}:{n % 60:02},000] {piece}\n" for n, piece in enumerate(pieces)]
    for name, of_roles in (("server", False), ("state-change", True)):
        (logs / f"{name}.log").write_text("".join(one for one in timed if ("state.change" in one) is of_roles))
    return str(folder)


def loud(result: Result) -> list[str]:
    return [one.rule for one in result.findings if one.severity in (Severity.ERROR, Severity.CRITICAL)]


@pytest.mark.parametrize("folder", [WINDOWS, MAC, DEFAULT])
def test_nothing_is_concluded_from_a_directory_of_two_topics(folder: str, tmp_path: Path) -> None:
    result = scan([written(tmp_path, grown(folder))])
    assert loud(result) == []
    assert [
        (one.known.id, one.name, one.broker) for one in result.problems if one.known.severity is Severity.ERROR
    ] == [("shared-directory", "Orders-0", 1)]
    for partition in result.partitions:
        answer = partition.judgements["committed-data-lost"]
        assert (answer.verdict, answer.missing[0].replicas) == (Verdict.UNKNOWN, (1,))
        assert answer.missing[0].question is Question.OWN_RECORDS
        assert Question.OWN_RECORDS not in [one.question for one in partition.judgements["unclean-election"].missing]


@pytest.mark.parametrize(("folder", "other"), [(LINUX, "orders-0"), (WINDOWS, "orders-1"), (WINDOWS, "orders.v2-0")])
def test_directories_of_their_own_are_judged(folder: str, other: str, tmp_path: Path) -> None:
    result = scan([written(tmp_path, grown(folder, other=other))])
    assert "committed-data-lost" in loud(result)
    assert "shared-directory" not in [one.known.id for one in result.problems]


def test_a_topic_that_came_after_the_other_shares_nothing(tmp_path: Path) -> None:
    one, other = grown(WINDOWS, other="Orders-0"), grown(WINDOWS, one="orders-0")
    result = scan([written(tmp_path, [*one, *other])])
    assert loud(result).count("committed-data-lost") == 2
    assert "shared-directory" not in [one.known.id for one in result.problems]


def test_a_batch_answers_the_same(tmp_path: Path) -> None:
    folder = written(tmp_path / "case", grown(WINDOWS))
    assert json_report.render(run(folder, tmp_path / "out")) == json_report.render(scan([folder]))
