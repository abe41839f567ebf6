"""What a finding names as its cause is in the evidence; where it is not, the cause is unknown."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import google_crc32c
import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Judgement, Verdict
from tests.cases.test_cut_evidence import brokers, lines_during
from tests.incident import Incident, wishes
from tools.samples import unpacked

SAMPLES = unpacked()


def causes(case: Path, room: Path, *left_out: str) -> dict[str, set[str | None]]:
    """Of the findings of each rule, without the files that fit a pattern."""
    shutil.copytree(case, room / case.name)
    for pattern in ("truth.json", *left_out):
        for path in sorted((room / case.name).glob(pattern)):
            path.unlink()
    (found,) = (p for p in scan([str(room / case.name)]).partitions if p.history.name == "orders-0")
    return {rule: {f.cause for f in j.findings} for rule, j in found.judgements.items() if j.findings}


def test_an_unclean_election_where_logs_part_is_the_cause(tmp_path: Path) -> None:
    found = causes(SAMPLES / "unclean-0.10.2.2", tmp_path, "broker-1/logs/server.log")
    assert found["replica-divergence"] == {"unclean-election"}


def test_an_old_version_alone_is_no_cause(evidence: Path, tmp_path: Path) -> None:
    """Broker 2 lost power; no line that is left tells how it came back, nor of a truncation."""
    found = causes(evidence / "powerloss-0.10.2.2", tmp_path, "broker-2/logs/server.log")
    assert found["committed-data-lost"] == found["replica-divergence"] == {"unknown"}


@pytest.mark.parametrize("name", ["unclean-0.10.2.2", "kip101-0.10.2.2"])
def test_segments_alone_show_no_cause(name: str, tmp_path: Path) -> None:
    assert causes(SAMPLES / name, tmp_path, "*/logs/*")["replica-divergence"] == {"unknown"}


def another_topic_allows(trace: Path) -> None:
    """As if the setting of orders had been that of another topic: so only a command can have forced the election."""
    for path in trace.glob("broker-*/data/__cluster_metadata-0/*.log"):
        path.chmod(0o644)
        path.write_bytes(sealed(path.read_bytes().replace(b"orders\x1funclean.leader", b"others\x1funclean.leader")))
    for path in trace.glob("broker-*/logs/server.log"):
        path.chmod(0o644)
        path.write_text(path.read_text().replace(", unclean.leader.election.enable=true}", "}"))


def sealed(log: bytes) -> bytes:
    """Batches of format v2 with checksums that fit."""
    made, at = bytearray(log), 0
    while at < len(made):
        end = at + 12 + int.from_bytes(made[at + 8 : at + 12])
        made[at + 17 : at + 21] = google_crc32c.value(bytes(made[at + 21 : end])).to_bytes(4)
        at = end
    return bytes(made)


@pytest.mark.parametrize(
    ("own", "cause"),
    [
        ("", "forced-election"),
        ("unclean.leader.election.enable=false\n", "forced-election"),
        ("unclean.leader.election.enable=true\n", "unclean-election"),
        (None, "unclean-election"),
    ],
)
def test_a_command_is_the_cause_of_an_election_that_no_setting_allowed(
    own: str | None, cause: str, tmp_path: Path
) -> None:
    trace = tmp_path / "evidence"
    shutil.copytree(SAMPLES / "unclean-3.9.1", trace)
    another_topic_allows(trace)
    settings = trace / "broker-100" / "server.properties"
    settings.chmod(0o644)
    if own is None:
        settings.unlink()
    else:
        settings.write_text(settings.read_text() + own)
    found = [f for f in scan([str(trace)]).findings if f.rule in ("committed-data-lost", "unclean-election")]
    assert {finding.rule for finding in found} == {"committed-data-lost", "unclean-election"}
    assert {finding.cause for finding in found} == {cause}
    steps = [step for finding in found for step in finding.next_steps if "unclean.leader.election.enable" in step.text]
    assert bool(steps) == (cause == "unclean-election")


def judged_without(case: Path, room: Path, first: float, last: float) -> dict[str, Judgement]:
    """Without the lines of all brokers in a span of time, seconds since 1970; the data is whole."""
    shutil.copytree(case, room / case.name)
    for log in (log for broker in brokers(room / case.name) for log in (broker / "logs").iterdir()):
        lines = log.read_bytes()
        log.chmod(0o644)
        log.write_bytes(b"".join([*lines_during(lines, None, first), *lines_during(lines, last, None)]))
    (found,) = (p for p in scan([str(room / case.name)]).partitions if p.history.name == "orders-0")
    return dict(found.judgements)


@pytest.fixture
def trace_of(request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """A recorded cluster by name, among the samples or in the evidence folder."""

    def find(name: str) -> Path:
        return SAMPLES / name if (SAMPLES / name).is_dir() else request.getfixturevalue("evidence") / name

    return find


def test_a_log_that_came_back_shorter_in_a_span_without_lines_was_not_truncated(evidence: Path, tmp_path: Path) -> None:
    """Leader epochs go from 0 to 2, and the broker that led then goes on as if its process had never ended."""
    found = judged_without(evidence / "powerloss-0.10.2.2", tmp_path, 1795234051.0, 1795234064.1)
    for rule in ("committed-data-lost", "replica-divergence"):
        assert {finding.cause for finding in found[rule].findings} == {"unknown"}
    for rule in ("leo-regression", "truncation-below-committed"):
        assert found[rule].verdict is Verdict.UNKNOWN
        assert any("broker 2's complete server.log" in wish and "epoch 1" in wish for wish in wishes(found[rule]))
    (gap,) = found["evidence-gap"].findings
    assert any(fact.broker == 2 and "no line names epoch 1" in fact.text and fact.refs for fact in gap.facts)


CREATED_AND_CUT_OFF = {
    "crashscene-1.1.1": (1795247701.568, 1795247703.598),
    "crashscene-0.10.2.2": (1795237872.279, 1795237872.806),
}
"""The rest of the lines on the creation of the topic."""


@pytest.mark.parametrize("name", CREATED_AND_CUT_OFF)
def test_the_creation_of_a_topic_is_no_wiped_disk(name: str, trace_of: Callable[[str], Path], tmp_path: Path) -> None:
    found = judged_without(trace_of(name), tmp_path, *CREATED_AND_CUT_OFF[name])
    (above,) = found["hw-above-leo"].findings
    assert above.cause == "unflushed-tail"
    assert found["leo-regression"].verdict is Verdict.UNKNOWN
    assert not any("empty log" in wish for wish in wishes(found["leo-regression"]))


@pytest.mark.parametrize(("end", "cause"), [(0, "wiped-disk"), (60, "unknown")])
def test_an_empty_log_in_the_place_of_another_is_a_wiped_disk(end: int, cause: str, tmp_path: Path) -> None:
    """Unless it has grown since: what it lacks now may have gone later."""
    incident = Incident(tmp_path)
    incident.begins(100)
    incident[2].rolls(5, 60)
    incident[2].starts(10)
    incident[2].creates(11).follows(11, 0, 1, 0, 0).segment([(0, end - 1, 0)] if end else [])
    (above,) = incident.findings("hw-above-leo")
    assert (above.replicas, above.offsets, above.cause) == ((2,), ((end, 100),), cause)
