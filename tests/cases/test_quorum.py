"""The metadata log of recorded clusters of three controllers, 101 to 103, and brokers 1 and 2 (forked: broker 1 alone).

``quorumwiped-3.9.1``: two controllers lose their disks while the third lags, which then leads without what they had
committed. ``quorumrestored-3.9.1``: two are put back from older copies. ``quorumforked-3.9.1``: two are formatted again
while the third is down, which comes back and truncates all. ``quorumrolled-3.9.1`` (controllers 100 to 102, brokers 1
to 3): the same, and brokers had been restarted before, so that their second processes alone state what was committed.
Healthy: ``quorumonewiped-3.9.1``, the disk of one controller is replaced while the others run; ``quorumtail-3.9.1``, a
leader that had appended alone returns and truncates that.
"""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path

import pytest

from forensics.engines import large
from forensics.engines.local import scan
from forensics.reports import markdown, text
from forensics.reports.json_report import render
from forensics.result import Partition, Result
from forensics.rules.wants import Artefact
from tests.cases.test_recorded import unpacked
from tests.parsers.formats.building import batch, record

LOG = "__cluster_metadata-0"
LOSS, CUT, FORK, SHORTER = (
    "committed-data-lost", "truncation-below-committed", "replica-divergence", "leo-regression",
)  # fmt: skip
Told = set[tuple[str, tuple[tuple[int, int], ...]]]

TOLD: dict[str, Told] = {
    "quorumwiped-3.9.1": {
        (LOSS, ((51, 61),)), (FORK, ((51, 61),)), (SHORTER, ((0, 34),)), (SHORTER, ((0, 1),)),
    },
    "quorumrestored-3.9.1": {
        (LOSS, ((37, 76),)), (FORK, ((37, 76),)), (CUT, ((37, 76),)), (SHORTER, ((37, 44),)), (SHORTER, ((37, 49),)),
    },
    "quorumforked-3.9.1": {(LOSS, ((0, 21),)), (CUT, ((0, 21),)), (SHORTER, ((0, 11),)), (SHORTER, ((0, 1),))},
    "quorumrolled-3.9.1": {(LOSS, ((75, 161),)), (CUT, ((75, 161),)), (SHORTER, ((0, 161),)), (SHORTER, ((0, 9),))},
    "quorumonewiped-3.9.1": {(SHORTER, ((0, 1),))},
    "quorumtail-3.9.1": set(),
}  # fmt: skip


def of_log(result: Result) -> Partition:
    (found,) = (one for one in result.partitions if one.history.name == LOG)
    return found


def told(found: Partition) -> Told:
    return {(one.rule, one.offsets) for answer in found.judgements.values() for one in answer.findings}


@pytest.mark.parametrize("name", TOLD)
def test_whole_evidence_gives_what_happened(name: str, tmp_path: Path) -> None:
    found = of_log(scan([str(unpacked(name, tmp_path))]))
    assert told(found) == TOLD[name]
    lost = any(rule == LOSS for rule, _ in TOLD[name])
    assert found.judgements[LOSS].verdict == ("violated" if lost else "clean")


def test_the_advice_is_for_controllers(tmp_path: Path) -> None:
    found = of_log(scan([str(unpacked("quorumwiped-3.9.1", tmp_path))]))
    (loss,) = found.judgements[LOSS].findings
    assert loss.keep.startswith("brokers 1 and 2's copy") or "broker 1's copy" in loss.keep
    assert any("stop every controller" in str(step) for step in loss.next_steps)
    assert loss.cause == "voters-lost-records"
    assert "producers" not in " ".join(fact.text for fact in loss.facts)


@pytest.mark.parametrize("name", ["quorumwiped-3.9.1", "quorumrestored-3.9.1", "quorumtail-3.9.1"])
def test_every_engine_judges_it_alike(name: str, tmp_path: Path) -> None:
    folder = str(unpacked(name, tmp_path))
    assert render(scan([folder])) == render(large.scan([folder], jobs=1, memory=1 << 30))


def test_without_the_lines_of_a_voter_nothing_is_excluded(tmp_path: Path) -> None:
    folder = unpacked("quorumtail-3.9.1", tmp_path)
    for log in (folder / "broker-103" / "logs").iterdir():
        log.unlink()
    answer = of_log(scan([str(folder)])).judgements[LOSS]
    assert answer.verdict == "unknown"
    assert {(artefact, way.brokers) for want in answer.missing for way in want.ways for artefact in way.artefacts} == {
        (Artefact.SERVER_LOG, (103,))
    }


def test_brokers_alone_exclude_no_loss(tmp_path: Path) -> None:
    """They follow the leader of an epoch that none of their copies has, and nothing of that leader is there."""
    folder = unpacked("quorumwiped-3.9.1", tmp_path)
    for controller in folder.glob("broker-10*"):
        shutil.rmtree(controller)
    found = of_log(scan([str(folder)]))
    assert {found.judgements[rule].verdict for rule in (LOSS, CUT, FORK, SHORTER)} == {"unknown"}


def cut(folder: Path, controller: int, first: float, end: float) -> None:
    """Leave lines of a controller only from one share of its log to another."""
    log = folder / f"broker-{controller}" / "logs" / "server.log"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[int(first * len(lines)) : int(end * len(lines))]))


def test_lines_that_end_before_the_copy_of_their_node_exclude_no_truncation(tmp_path: Path) -> None:
    """Controller 102 truncated after its last line that is there; its copy has records of the next leader epoch."""
    folder = unpacked("quorumforked-3.9.1", tmp_path)
    cut(folder, 102, 0, 0.7)
    answer = of_log(scan([str(folder)])).judgements[CUT]
    assert answer.verdict == "unknown"
    assert ("later-lines", (102,)) in {(want.question, way.brokers) for want in answer.missing for way in want.ways}


def test_lines_that_begin_late_or_end_early_exclude_no_shorter_log(tmp_path: Path) -> None:
    """The lines by which two controllers are seen to load an empty log are gone."""
    folder = unpacked("quorumforked-3.9.1", tmp_path)
    cut(folder, 103, 0, 0.48)
    cut(folder, 101, 0.6, 1)
    answer = of_log(scan([str(folder)])).judgements[SHORTER]
    assert answer.verdict == "unknown"
    asked = {(want.question, way.brokers) for want in answer.missing for way in want.ways}
    assert asked == {("later-lines", (103,)), ("earlier-lines", (101,))}


def test_copies_alone_prove_no_loss_and_exclude_none(tmp_path: Path) -> None:
    """The copies differ, but no high watermark is in any file."""
    folder = unpacked("quorumwiped-3.9.1", tmp_path)
    for logs in folder.glob("broker-*/logs"):
        shutil.rmtree(logs)
    assert [one for one in scan([str(folder)]).partitions if one.history.name == LOG and told(one)] == []


def test_lines_alone_prove_it(tmp_path: Path) -> None:
    folder = unpacked("quorumrestored-3.9.1", tmp_path)
    for data in folder.glob("broker-*/data"):
        shutil.rmtree(data)
    found = of_log(scan([str(folder)]))
    assert {one.offsets for one in found.judgements[LOSS].findings} <= {((43, 76),), ((37, 76),)}
    assert found.judgements[LOSS].verdict in ("violated", "unknown")


def test_the_log_of_a_single_controller_is_not_listed_where_nothing_is_wrong(sample_traces: Path) -> None:
    result = scan([str(sample_traces / "unclean-3.9.1")])
    assert LOG not in {one.history.name for one in result.partitions}


@pytest.mark.parametrize("bit", [0, 3, 6])
def test_a_wrong_offset_in_one_copy_is_damage_and_no_fork(bit: int, tmp_path: Path) -> None:
    """No checksum covers the base offset of a batch."""
    folder = unpacked("quorumtail-3.9.1", tmp_path)
    segment = folder / "broker-103" / "data" / LOG / f"{0:020}.log"
    data, at = bytearray(segment.read_bytes()), 0
    for _ in range(60):  # a batch in the middle
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    data[at + 7] ^= 1 << bit
    segment.write_bytes(data)
    assert told(of_log(scan([str(folder)]))) == {("segment-damage", ())}


@pytest.mark.parametrize("left_out", ["LogLoader", "High watermark", "LogLoader|Starting SharedServer"])
def test_a_log_that_may_have_become_shorter_unseen_excludes_nothing(left_out: str, tmp_path: Path) -> None:
    folder = unpacked("quorumwiped-3.9.1", tmp_path)
    for broker in ("broker-1", "broker-2"):
        shutil.rmtree(folder / broker)
    for log in folder.glob("broker-*/logs/server.log"):
        kept = [line for line in log.read_text().splitlines(keepends=True) if not re.search(left_out, line)]
        log.write_text("".join(kept))
    assert of_log(scan([str(folder)])).judgements[LOSS].verdict == "unknown"


def test_a_start_whose_lines_are_missing_hides_no_shorter_log(tmp_path: Path) -> None:
    folder = unpacked("quorumwiped-3.9.1", tmp_path)
    log = folder / "broker-102" / "logs" / "server.log"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if "Starting SharedServer" not in line))
    assert (SHORTER, ((0, 1),)) in told(of_log(scan([str(folder)])))


def test_a_copy_that_ends_below_the_lines_of_its_node_is_asked_for_again(tmp_path: Path) -> None:
    folder = unpacked("quorumtail-3.9.1", tmp_path)
    segment = folder / "broker-103" / "data" / LOG / f"{0:020}.log"
    data, at = segment.read_bytes(), 0
    for _ in range(20):
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    segment.write_bytes(data[:at])
    answer = of_log(scan([str(folder)])).judgements[SHORTER]
    assert answer.verdict == "unknown"
    assert [way.brokers for want in answer.missing for way in want.ways] == [(103,)]


def _snapshot(epoch: int) -> bytes:
    """A snapshot without any state."""
    edges = [
        batch(place, [b""], body=record(0, b"\0\0\1", struct.pack(">hh", 0, kind)), attributes=0x20, epoch=epoch)
        for place, kind in ((0, 3), (1, 4))
    ]
    return b"".join(edges)


@pytest.mark.parametrize(
    ("content", "counts"),
    [(_snapshot(3), True), (_snapshot(2), False), (_snapshot(3)[:-1], False), (b"", False), (bytes(4096), False)],
    ids=["whole", "of another epoch", "without its end", "empty", "zeros"],
)
def test_the_name_of_a_snapshot_alone_shows_nothing(content: bytes, counts: bool, tmp_path: Path) -> None:
    """No snapshot is made above the high watermark, so a whole one of epoch 3 shows that its records were committed."""
    folder = unpacked("quorumtail-3.9.1", tmp_path)
    before = told(of_log(scan([str(folder)])))
    (folder / "broker-103" / "data" / LOG / f"{107:020}-{3:010}.checkpoint").write_bytes(content)
    found = told(of_log(scan([str(folder)])))
    assert found - before == ({(LOSS, ((106, 107),))} if counts else set())
    assert not before - found


def test_controllers_are_not_called_brokers(tmp_path: Path) -> None:
    result = scan([str(unpacked("quorumforked-3.9.1", tmp_path))])
    page = text.render(result, width=200)
    assert "The metadata log lost committed offsets 0 to 20 (21 offsets, perhaps more)" in page
    assert "controller 101 became leader (epoch 3) at offset 0 without them" in page
    assert "copy the data directories of all brokers and controllers" in page
    assert "controller 101's server.log" in markdown.render(result)  # why it is not proven
    # What is to be collected:
    assert "copies of __cluster_metadata-0 of controllers 101, 102 and 103 from before" in page
    assert not re.search("brokers? 10[123]", page)
    assert "0 records" not in page  # of which no copy is left to count them


def test_files_of_the_metadata_log_are_the_last_steps(tmp_path: Path) -> None:
    result = scan([str(unpacked("quorumwiped-3.9.1", tmp_path))])
    steps = re.findall(r"(?m)^   \d  (\S+(?: disk)?) +(\w+ \d+)", text.render(result, width=200))[:6]
    assert [when for when, _ in steps[3:]] == ["on disk"] * 3
    assert [who for _, who in steps[3:]] == ["controller 101", "broker 1", "broker 2"]


def test_a_truncation_of_records_that_no_line_shows_leaves_open_whether_they_were_committed(tmp_path: Path) -> None:
    """All logs begin when the incident is nearly over: a voter then truncates what it had of an earlier epoch."""
    case = unpacked("quorumforked-3.9.1", tmp_path)
    for log in case.rglob("*.log"):
        if log.parent.name == "logs":
            lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
            first = next((at for at, line in enumerate(lines) if line[:24] >= "[2026-11-28 20:48:53,60"), len(lines))
            log.write_text("".join(lines[first:]), encoding="utf-8")
    found = of_log(scan([str(case)]))
    assert told(found) == set()
    for rule in (LOSS, CUT, FORK):
        assert found.judgements[rule].verdict == "unknown"
    (want,) = found.judgements[LOSS].missing
    assert want.because is not None
    assert want.because.text == "they name no role of it before it truncated its log to 0 in leader epoch 3"
    assert [way.brokers for way in want.ways] == [(102,)]
