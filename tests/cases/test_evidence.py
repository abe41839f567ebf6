"""What a finding cites is really there: the line, the bytes, the hash, and the numbers it is cited for."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from forensics.case.quotes import LONGEST
from forensics.result import Result
from forensics.rules.finding import Evidence, Fact, Finding

Scanned = Callable[[Path], Result]


@lru_cache(maxsize=64)
def content(path: str) -> bytes:
    return Path(path).read_bytes()


def line_of(evidence: Evidence) -> str:
    assert evidence.line is not None
    line = content(evidence.path).split(b"\n")[evidence.line - 1]
    return line.rstrip(b"\r").decode("utf-8", errors="replace")


def batch_at(data: bytes, byte: int) -> tuple[int, int, int, int | None, int]:
    """Base offset, last offset, message format, leader epoch and checksum of the batch at a place of a segment.

    Written from Kafka's description of the formats, apart from the parser: v0 and v1 are ``offset, size, crc, magic``,
    v2 is ``base offset, size, leader epoch, magic, crc, attributes, last offset delta``. A message of v0 or v1 stands
    alone.
    """
    offset, _, third = struct.unpack_from(">qii", data, byte)
    magic = data[byte + 16]
    if magic < 2:
        return offset, offset, magic, None, third & 0xFFFFFFFF
    crc, _, delta = struct.unpack_from(">Ihi", data, byte + 17)
    return offset, offset + delta, magic, third, crc


def numbers(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"\d+", text)}


def cited(finding: Finding) -> Iterator[tuple[Fact, list[Evidence]]]:
    places = dict(zip(finding.refs, finding.evidence, strict=True))
    for fact in finding.facts:
        yield fact, [places[ref] for ref in fact.refs]


# -- the place -------------------------------------------------------------------------------------


def test_a_cited_line_stands_in_its_file(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        for evidence in finding.evidence:
            assert evidence.sha256 == hashlib.sha256(content(evidence.path)).hexdigest()
            if evidence.line is not None:
                assert evidence.text == line_of(evidence)[:LONGEST]
                assert evidence.text.strip()


def test_a_cited_batch_stands_at_its_byte(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        for evidence in finding.evidence:
            if evidence.line is not None or "__cluster_metadata" in evidence.path:
                continue
            assert evidence.byte is not None
            said = re.match(
                r"batch of format v(\d): offsets? (\d+)(?: to (\d+))?, \d+ records?"
                r"(?:, leader epoch (-?\d+))?, crc ([0-9a-f]{8})",
                evidence.text,
            )
            assert said, evidence
            base, last, magic, epoch, crc = batch_at(content(evidence.path), evidence.byte)
            assert int(said[1]) == magic
            assert int(said[3] or said[2]) == last
            assert int(said[2]) == base or magic < 2
            assert (None if said[4] is None else int(said[4])) == epoch
            assert int(said[5], 16) == crc


# -- the claim -------------------------------------------------------------------------------------

# Wording of a fact, and which of its numbers a cited line or batch must contain.
CLAIMS = (
    re.compile(
        r"^(?:logged|had|has|restarted and read back|began another role with|stopped leading with|stated) "
        r"high watermark (\d+)"
    ),
    re.compile(r"^acknowledged offset (\d+)"),
    re.compile(r"truncated (?:its log|it) from(?: at least)? \d+ to (\d+)"),
    re.compile(r"became leader \(leader epoch (\d+)"),
    re.compile(r"became leader \(leader epoch \d+\) at offset (\d+)"),
    re.compile(r"^restarted (?:after a clean stop )?with log end offset (\d+)"),
    re.compile(r"^has a different record batch at offsets? (\d+)"),
)


def claims(fact: Fact) -> list[int]:
    return [int(found[1]) for claim in CLAIMS if (found := claim.search(fact.text))]


def borne_out(fact: Fact, evidence: list[Evidence]) -> list[int]:
    """Numbers that a fact claims and none of its evidence contains."""
    whole = [line_of(e) if e.line is not None else e.text for e in evidence]
    seen = set().union(*(numbers(text) for text in whole))
    return [number for number in claims(fact) if number not in seen]


def test_a_fact_is_borne_out_by_what_it_cites(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        for fact, evidence in cited(finding):
            if claims(fact):
                assert evidence, f"{finding.rule}: nothing is cited for {fact.text!r}"
                assert borne_out(fact, evidence) == [], f"{finding.rule}: {fact.text!r} cites {evidence}"


EMPTY_DIRECTORY = "No logs found to be loaded in "
BROKER_SESSION = re.compile(
    r"Fencing broker [0-9]+|Broker failure callback for [0-9]+|New broker startup callback for [0-9]+"
    r"|Replayed RegisterBrokerRecord |The request from broker [0-9]+ to unfence|has been unfenced"
    r"|Registered broker [0-9]+ at"
)


def test_a_line_is_cited_for_its_own_topic(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        for evidence in finding.evidence:
            if evidence.line is not None and re.search(r"\.log(\.[0-9]+)?$", evidence.path):
                line = line_of(evidence)
                # These lines explain, and are about a whole log directory or a broker: they bear no value.
                explains = EMPTY_DIRECTORY in line or BROKER_SESSION.search(line)
                assert finding.topic in line or (explains and not evidence.bears)
            elif evidence.line is not None and evidence.path.endswith("-offset-checkpoint"):
                assert line_of(evidence).split(" ")[:2] == [finding.topic, str(finding.partition)]
            elif "__cluster_metadata" not in evidence.path:
                assert f"/{finding.topic}-{finding.partition}" in evidence.path


def test_a_broker_speaks_in_its_own_file(sample: Path, scanned: Scanned) -> None:
    """A cut, or a high watermark it returned with, is proven by the very broker's files."""
    for finding in scanned(sample).findings:
        for fact, evidence in cited(finding):
            if any(word in fact.text for word in ("truncated its log from", "everything below", "checkpoint")):
                assert {re.search(r"/broker-(\d+)/", e.path)[1] for e in evidence} == {str(fact.broker)}  # type: ignore[index]


def test_a_story_is_told_in_causal_order(sample: Path, scanned: Scanned) -> None:
    """On one broker, what is told later did not happen earlier."""
    for finding in scanned(sample).findings:
        told: dict[int, int] = {}
        for fact in finding.facts:
            if fact.broker is not None and fact.time is not None:
                assert told.get(fact.broker, fact.time) <= fact.time, finding
                told[fact.broker] = fact.time


def test_every_serious_finding_has_proof(trace: Path, scanned: Scanned) -> None:
    for finding in scanned(trace).findings:
        if finding.severity.value in ("critical", "error"):
            assert 1 <= len(finding.evidence) <= 20, finding.rule
            assert finding.summary.count("\n") == 0


# -- these checks can fail -------------------------------------------------------------------------


def test_a_number_that_is_not_there_is_noticed(sample_traces: Path, scanned: Scanned) -> None:
    result = scanned(sample_traces / "kip101-0.10.2.2")
    finding = next(f for f in result.findings if f.rule == "truncation-below-committed")
    pairs = [(fact, evidence) for fact, evidence in cited(finding) if claims(fact)]
    assert len(pairs) == 3
    for fact, evidence in pairs:
        wrong = Fact(re.sub(r"\b(50|80)\b", "51", fact.text), fact.broker, fact.time, fact.refs)
        assert borne_out(wrong, evidence) == [51]


@pytest.mark.parametrize("byte", [0, 1])
def test_a_batch_is_read_from_its_very_byte(byte: int, sample_traces: Path) -> None:
    segment = sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "orders-0" / "00000000000000000000.log"
    base, last, magic, _, _ = batch_at(segment.read_bytes(), byte)
    assert (base == 0 and magic == 2 and last >= 0) == (byte == 0)
