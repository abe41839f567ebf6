"""Offsets that a segment skips: damage where no cleaner can have taken them, legal where one may have."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Verdict
from tests.incident import Incident

DATA = Path(__file__).parents[1] / "cases" / "data"


def skipping(
    folder: Path, broker: int, *, policy: str = "", cleaner: str | None = "0\n0\n", settings: str = ""
) -> Incident:
    """[10, 20) is missing in the middle of a segment of one broker; the others have it."""
    incident = Incident(folder)
    for number in (1, 2, 3):
        node = incident[number]
        (node.folder / "server.properties").write_text(f"broker.id={number}\n{settings}")
        if cleaner is not None:
            (node.data / "cleaner-offset-checkpoint").write_text(cleaner)
    incident.begins(30, policy)
    for number in (1, 2, 3):
        spans = [(0, 9, 0), (10, 19, 0), (20, 29, 0)]
        incident[number].segment(spans if number != broker else [spans[0], spans[2]])
    return incident


def test_a_leader_that_skips_committed_records_has_lost_them(tmp_path: Path) -> None:
    incident = skipping(tmp_path, 1)
    (found,) = incident.findings("committed-data-lost")
    assert (found.offsets, found.replicas, found.confidence.value) == (((10, 20),), (2, 3), "inferred")
    assert "broker 1, the current leader, has no batch with them. Brokers 2 and 3 still have them." in found.summary
    assert "no cleaner took them" in found.not_because[0]
    (damage,) = incident.findings("segment-damage")
    assert (damage.severity.value, damage.replicas) == ("error", (1,))
    assert "a batch ends at 10, the next in its file begins at 20" in damage.summary
    assert damage.facts[0].refs[0].byte == 69  # the batch behind the hole


def test_a_follower_that_skips_records_is_damaged_and_nothing_is_lost(tmp_path: Path) -> None:
    incident = skipping(tmp_path, 2)
    assert incident.verdict("committed-data-lost") == "clean"
    (damage,) = incident.findings("segment-damage")
    assert (damage.severity.value, damage.replicas) == ("error", (2,))


@pytest.mark.parametrize(
    "legal",
    [
        {"policy": "cleanup.policy=compact"},
        {"policy": "cleanup.policy -> [compact,delete], min.insync.replicas -> 2"},
        {"cleaner": "0\n1\norders 0 25\n"},
    ],
)
def test_a_cleaner_may_have_taken_them(legal: dict[str, str], tmp_path: Path) -> None:
    incident = skipping(tmp_path, 1, **legal)  # type: ignore[arg-type]
    assert incident.verdict("committed-data-lost") == "clean"
    assert incident.verdict("segment-damage") == "clean"


@pytest.mark.parametrize("open_", [{"cleaner": None}, {"settings": "log.cleanup.policy=compact\n"}])
def test_it_is_not_known_whether_a_cleaner_took_them(open_: dict[str, str | None], tmp_path: Path) -> None:
    incident = skipping(tmp_path, 1, **open_)  # type: ignore[arg-type]
    for rule in ("committed-data-lost", "segment-damage"):
        assert (incident.verdict(rule), incident.findings(rule)) == ("unknown", [])
        (wish,) = incident.missing(rule)
        assert wish.endswith("whether orders was ever compacted. Segments of broker 1 skip offsets 10 to 19")


@pytest.mark.parametrize("name", ["compacted-2.3.1", "compacted-2.7.2"])
def test_segments_of_compacted_topics_are_whole_without_the_cleaners_file(name: str, tmp_path: Path) -> None:
    """Whoever copies the folders of partitions alone leaves it out; the properties of the log tell."""
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    left_out = [path for path in tmp_path.rglob("cleaner-offset-checkpoint") if path.unlink() is None]
    assert left_out
    for partition in scan([str(tmp_path)]).partitions:
        assert partition.judgements["segment-damage"].verdict is Verdict.CLEAN
        assert partition.judgements["committed-data-lost"].verdict is Verdict.CLEAN
        assert not partition.judgements["segment-damage"].findings


def test_folders_of_a_compacted_topic_alone_are_not_called_damaged(tmp_path: Path) -> None:
    with tarfile.open(DATA / "compacted-2.7.2.tar.xz") as archive:
        archive.extractall(tmp_path / "whole", filter="data")
    for folder in (tmp_path / "whole").glob("*/broker-*/data/orders-0"):
        shutil.copytree(folder, tmp_path / "part" / folder.parts[-3] / "data" / "orders-0")
    (partition,) = scan([str(tmp_path / "part")]).partitions
    assert partition.judgements["segment-damage"].verdict is Verdict.UNKNOWN
    assert not partition.judgements["segment-damage"].findings
