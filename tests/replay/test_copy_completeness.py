"""A segment file that was left out of a copy looks like one that a disk lost: what tells them apart."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from tests.incident import Incident


def short(incident: Incident) -> None:
    """Broker 2's copy ends at 60; its high watermark is 100."""
    incident.begins(100)
    incident[2].segment([(0, 59, 0)])


def test_a_log_whose_every_segment_is_told_of_lost_its_end(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    assert incident.verdict("hw-above-leo") == "violated"


def test_a_segment_that_began_at_the_end_may_have_been_left_out(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    incident[2].rolls(5, 60)
    assert incident.verdict("hw-above-leo") == "unknown"
    assert "a segment began at offset 60" in incident.missing("hw-above-leo")[0]


@pytest.mark.parametrize(("files", "verdict"), [(1, "violated"), (2, "unknown")])
def test_the_segments_that_it_was_loaded_from_decide(files: int, verdict: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    incident[2].rolls(5, 60).starts(20).loads(20, 60 if files == 1 else 100, files=files)
    incident[2].follows(21, 0, 1, 60 if files == 1 else 100, 60)
    assert incident.verdict("hw-above-leo") == verdict


def without_logs(incident: Incident) -> Incident:
    for node in incident.nodes.values():
        shutil.rmtree(node.folder / "logs")
    return incident


def test_without_lines_the_other_replicas_show_that_no_segment_began_there(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    assert without_logs(incident).verdict("hw-above-leo") == "violated"


@pytest.mark.parametrize("parted", [False, True])
def test_without_lines_nothing_tells_whether_a_segment_began_there(parted: bool, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    if parted:
        incident[2].segment([(0, 19, 0)])
        incident[2].segment([(40, 59, 0)], base=40)
    for number in (1, 3):
        incident[number].segment([(0, 59, 0)])
        incident[number].segment([(60, 99, 0)], base=60)
    assert without_logs(incident).verdict("hw-above-leo") == "unknown"


@pytest.mark.parametrize("what", ["index", "timeindex", "snapshot"])
def test_what_lies_there_without_its_segment_shows_that_it_was_there(what: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    short(incident)
    (incident[2].data / "orders-0" / f"{60:020}.{what}").write_bytes(b"")
    assert without_logs(incident).verdict("hw-above-leo") == "unknown"
    assert f"{60:020}.{what}" in incident.missing("hw-above-leo")[0]


def parted(incident: Incident, *, files: int) -> None:
    """Nobody has what broker 1, the leader, lacks between two segments; its next process counts its files."""
    incident.begins(100)
    incident[1].segment([(0, 29, 0)])
    incident[1].segment([(60, 99, 0)], base=60)
    incident[1].rolls(5, 30).rolls(6, 60)
    if files:
        incident[1].starts(20).loads(20, 100, files=files).leads(21, 1, 100, 100, [1, 2, 3])
        incident.elects(20, 1, 1, [1, 2, 3])
        for number in (2, 3):
            incident[number].follows(21, 1, 1, 100, 100)


def test_a_segment_that_the_leader_itself_lacks_is_lost_to_readers(tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    parted(incident, files=2)
    (found,) = incident.findings("committed-data-lost")
    assert (found.offsets, found.replicas, found.confidence.value) == (((30, 60),), (2, 3), "inferred")
    assert "broker 2" in (found.keep or "")
    assert "broker 3 has the same records" in (found.keep or "")
    assert incident.verdict("segment-damage") == "violated"


@pytest.mark.parametrize("files", [0, 3])
def test_a_segment_that_the_leader_had_is_missing_from_the_copy(files: int, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    parted(incident, files=files)
    assert incident.verdict("committed-data-lost") == "unknown"
    assert incident.verdict("segment-damage") == "unknown"
    assert "offsets 30 to 59" in incident.missing("segment-damage")[0]
    (found,) = incident.findings("segment-damage")
    assert found.severity.value == "warning"
    assert incident.verdict("epoch-divergence") == "clean"


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_a_sound_cluster_whose_last_segment_was_not_collected(broker: int, sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / "traps-0.10.2.2", tmp_path / "evidence")
    (tmp_path / "evidence" / f"broker-{broker}" / "data" / "compacted-0" / f"{200:020}.log").unlink()
    found = next(p for p in scan([str(tmp_path)]).partitions if p.history.name == "compacted-0")
    assert found.judgements["hw-above-leo"].verdict is Verdict.UNKNOWN
    assert found.judgements["committed-data-lost"].verdict is not Verdict.VIOLATED


@pytest.mark.parametrize(("shows", "verdict"), [("epochs", "unknown"), ("index", "unknown"), ("", "clean")])
def test_first_segments_that_were_left_out_of_the_copy(shows: str, verdict: str, tmp_path: Path) -> None:
    incident = Incident(tmp_path)
    incident.begins(100)
    (incident[1].data / "orders-0" / f"{0:020}.log").unlink()
    incident[1].segment([(40, 99, 0)], base=40)
    incident[1].epochs((0, 0 if shows == "epochs" else 40))
    if shows == "index":
        (incident[1].data / "orders-0" / f"{0:020}.index").write_bytes(b"")
    for rule in ("segment-damage", "committed-data-lost"):
        assert incident.verdict(rule) == verdict
    missing = incident.missing("segment-damage")
    assert ["segments of orders-0 below offset 40" in wish for wish in missing] == ([True] if shows else [])


def test_another_copy_may_hold_what_its_copy_lacks(tmp_path: Path) -> None:
    """Leader 1 lacks [30, 60), as its count says; of broker 2 that file may have been left out."""
    incident = Incident(tmp_path)
    parted(incident, files=2)
    (incident[2].data / "orders-0" / f"{0:020}.log").unlink()
    incident[2].segment([(0, 29, 0)])
    incident[2].segment([(60, 99, 0)], base=60)
    (found,) = incident.findings("committed-data-lost")
    assert found.replicas == (3,)
    keep = (
        "broker 3's copy of orders-0. It is the only one in the evidence with the lost records; the evidence may lack "
        "segments of broker 2"
    )
    assert (found.keep or "").startswith(keep)
    assert any("broker 2" in never for never in found.do_not)
