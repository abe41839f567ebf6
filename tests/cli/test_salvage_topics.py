"""What ``forensics salvage`` reads by default, and what it leaves out: copies of another topic with the same name."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.incident import batch
from tools.samples import unpacked

SAMPLES = unpacked()
UNCLEAN = SAMPLES / "unclean-3.9.1"
OTHER_ID = "gVALHyhWRNOLVG3R7J71Bg"
SEGMENT = "00000000000000000000.log"


def salvaged(run: Run, *arguments: object, code: int) -> dict[str, Any]:
    """What ``--format json`` prints."""
    ran = run("salvage", *arguments, "--dry-run", "--format", "json")
    assert ran.code == code, ran.err
    return ran.document


def test_committed_records_that_one_replica_lacks_are_taken_from_the_other(run: Run, tmp_path: Path) -> None:
    """Nothing is lost yet: the finding hw-above-leo names the offsets, and a copy has them."""
    case = SAMPLES / "crashscene-1.1.1"
    (found,) = [
        one for one in run("scan", case, "--format", "json").document["findings"] if one["rule"] == "hw-above-leo"
    ]
    document = salvaged(run, case, "-p", f"{found['topic']}-{found['partition']}", code=0)
    assert document["offsets"] == found["offsets"]
    assert document["gone"] == []
    assert document["lost"] is None


def test_records_that_one_replica_lacks_are_wanted_where_the_partition_lost_none(run: Run) -> None:
    case = SAMPLES / "oldlog-2.8.2"
    (found,) = [
        one for one in run("scan", case, "--format", "json").document["findings"] if one["rule"] == "leo-regression"
    ]
    assert salvaged(run, case, "-p", "orders-0", code=0)["offsets"] == found["offsets"]


@pytest.fixture
def two_topics(tmp_path: Path) -> tuple[Path, str]:
    """A case with the directory of a deleted topic of the same name, and the id of the topic that has it now."""
    folder = tmp_path / "case"
    shutil.copytree(UNCLEAN, folder)
    data = folder / "broker-2" / "data"
    left = data / f"orders-0.{'0123456789abcdef' * 2}-delete"
    left.mkdir()
    (left / SEGMENT).write_bytes(batch(0, 59, 0))
    (left / "partition.metadata").write_text(f"version: 0\ntopic_id: {OTHER_ID}\n")
    named = (data / "orders-0" / "partition.metadata").read_text().split()[-1]
    return folder, named


def test_a_copy_of_another_topic_with_the_name_is_left_out_and_named(run: Run, two_topics: tuple[Path, str]) -> None:
    folder, topic_id = two_topics
    document = salvaged(run, folder, "-p", "orders-0", code=1)
    assert document["topic_id"] == topic_id
    assert [one["topic_id"] for one in document["other_topics"]] == [OTHER_ID]
    assert "delete" not in {copy["state"] for side in document["sides"] for copy in side["copies"]}
    text = run("salvage", folder, "-p", "orders-0", "--dry-run").out
    assert f"orders-0 of the topic with topic id {topic_id}: offsets" in text
    assert "Left out, because they are of another topic of this name:" in text
    assert f"(delete), topic id {OTHER_ID}" in text
    assert "another topic" not in run("salvage", UNCLEAN, "-p", "orders-0", "--dry-run").out


def test_offsets_of_several_topics_with_one_name_need_a_topic_id(run: Run, two_topics: tuple[Path, str]) -> None:
    """Offsets 50 to 59 are in the copy of one topic only: the other one's are not these records."""
    folder, topic_id = two_topics
    asked = (folder, "-p", "orders-0", "--offsets", "40..60")
    ran = run("salvage", *asked, "--dry-run")
    assert ran.code == 2
    assert "several topics had the name orders in turn; name one with --topic-id: " in ran.err
    assert f"{topic_id} (" in ran.err
    assert f"{OTHER_ID} (" in ran.err
    assert salvaged(run, *asked, "--topic-id", OTHER_ID, code=0)["gone"] == []
    assert salvaged(run, *asked, "--topic-id", topic_id, code=1)["gone"]
    unknown = run("salvage", *asked, "--topic-id", "x", "--dry-run")
    assert unknown.code == 2
    assert f"no copy of orders-0 with topic id x; there is {topic_id}" in unknown.err


def test_empty_segments_are_copies_without_a_record(run: Run, tmp_path: Path) -> None:
    for broker, content in ((1, b""), (2, batch(0, 4, 0))):
        folder = tmp_path / f"broker-{broker}" / "data" / "orders-0"
        folder.mkdir(parents=True)
        (folder / SEGMENT).write_bytes(content)
    asked = ("-p", "orders-0", "--offsets", "0..7", "--dry-run")
    ran = run("salvage", tmp_path, *asked)
    assert ran.code == 1
    assert "wanted; 2 copies in the evidence, 1 of them without a record\n" in ran.out
    assert "(the longest has log end offset 5): offsets 5 to 6" in ran.out
    other = tmp_path / "broker-1" / "data" / "orders-1"
    other.mkdir()
    (other / SEGMENT).write_bytes(batch(0, 4, 0))
    alone = run("salvage", tmp_path / "broker-1", *asked)
    assert alone.code == 1
    assert "wanted; 1 copy in the evidence, without a record\n" in alone.out
    assert "In no copy of this evidence: offsets 0 to 6 (7 offsets)." in alone.out
