"""What a finding names as its cause is in the evidence; where it is not, the cause is unknown."""

from __future__ import annotations

import shutil
from pathlib import Path

import google_crc32c
import pytest

from forensics.engines.local import scan

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"


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
    steps = [step for finding in found for step in finding.next_steps if "unclean.leader.election.enable" in step]
    assert bool(steps) == (cause == "unclean-election")
