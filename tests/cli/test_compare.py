"""``forensics compare``: what lies on the disks, side by side."""

from __future__ import annotations

import os
import re
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.conftest import Ran, Run
from tests.conftest import evidence_root
from tests.incident import Incident, batch

OFFSET = {"type": "integer", "minimum": 0}
RANGE = {"type": "array", "minItems": 2, "maxItems": 2, "items": OFFSET}
MAYBE = {"type": ["integer", "null"], "minimum": 0}


def thing(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def many(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT = {"type": ["string", "null"]}
CONTRACT = thing(
    schema={"const": "forensics.compare/1"},
    partitions=many(
        thing(
            outcome={"enum": ["same", "different", "unknown"]},
            cluster=TEXT,
            topic={"type": "string"},
            partition=OFFSET,
            replicas=many(
                thing(
                    broker=OFFSET,
                    directory=TEXT,
                    log_start_offset=MAYBE,
                    log_end_offset=MAYBE,
                    high_watermark_checkpoint=MAYBE,
                    epochs=many(RANGE),
                    epoch_checkpoint=many(RANGE),
                    epoch_dates=many(
                        thing(
                            leader_epoch=OFFSET,
                            start_offset=OFFSET,
                            not_before_ms=MAYBE,
                            first_record_ms=MAYBE,
                            last_record_ms=MAYBE,
                            by={"enum": ["producer-snapshot", "batches"]},
                        )
                    ),
                    magic=MAYBE,
                    batches=OFFSET,
                    records=OFFSET,
                    offsets_without_batch=OFFSET,
                    compacted={"type": "boolean"},
                    not_in_segments={"anyOf": [RANGE, {"type": "null"}]},
                    damage=many(thing(text={"type": "string"}, path=TEXT, byte=MAYBE)),
                    stale_directories=many({"type": "string"}),
                )
            ),
            pairs=many(
                thing(
                    brokers=RANGE,
                    common=RANGE,
                    unknown_because=TEXT,
                    differ=many(RANGE),
                    first={
                        "anyOf": [
                            {"type": "null"},
                            many(
                                thing(
                                    broker=OFFSET,
                                    base_offset=OFFSET,
                                    last_offset=OFFSET,
                                    leader_epoch=MAYBE,
                                    path={"type": "string"},
                                    byte=OFFSET,
                                )
                            ),
                        ]
                    },
                    differ_below_both_high_watermarks={"anyOf": [many(RANGE), {"type": "null"}]},
                )
            ),
        )
    ),
    not_read=many(thing(path={"type": "string"}, reason={"type": "string"})),
)


def test_a_file_that_cannot_be_read_is_told_and_leaves_it_unknown(run: Run, tmp_path: Path) -> None:
    """The copies that could be read are the same."""
    for broker in (1, 2, 3):
        segment = tmp_path / f"broker-{broker}" / "data" / "orders-0" / f"{0:020}.log"
        segment.parent.mkdir(parents=True)
        segment.write_bytes(batch(0, 1, 0)) if broker < 3 else os.mkfifo(segment)
    ran = run("compare", tmp_path)
    assert (ran.code, f"not read: {segment}: not a regular file" in ran.out) == (3, True)
    assert compared(run, tmp_path, code=3)["not_read"][0]["path"] == str(segment)


def compared(run: Run, folder: Path, *options: object, code: int) -> dict[str, Any]:
    return contracted(run("compare", folder, "--format", "json", *options), code)


def contracted(ran: Ran, code: int) -> dict[str, Any]:
    assert (ran.code, ran.err) == (code, "")
    assert [error.message for error in Draft202012Validator(CONTRACT).iter_errors(ran.document)] == []
    return ran.document


def partition(document: dict[str, Any], name: str = "orders-0") -> dict[str, Any]:
    return next(one for one in document["partitions"] if f"{one['topic']}-{one['partition']}" == name)


def pairs(one: dict[str, Any]) -> dict[tuple[int, int], dict[str, Any]]:
    return {tuple(pair["brokers"]): pair for pair in one["pairs"]}


# -- real clusters ---------------------------------------------------------------------------------


def test_a_fork_is_told_with_both_batches(run: Run, sample_traces: Path) -> None:
    folder = sample_traces / "kip101-0.10.2.2"
    one = partition(compared(run, folder, code=1))
    found = pairs(one)
    assert set(found) == {(1, 2), (1, 3), (2, 3)}
    assert found[2, 3]["differ"] == []
    assert found[1, 3]["differ"] == found[1, 3]["differ_below_both_high_watermarks"] == [[50, 80]]
    assert found[1, 3]["common"] == [0, 95]
    left, right = found[1, 3]["first"]
    for side, broker in ((left, 1), (right, 3)):
        assert (side["broker"], side["base_offset"], side["last_offset"]) == (broker, 50, 50)
        data = Path(side["path"]).read_bytes()
        assert struct.unpack_from(">q", data, side["byte"]) == (50,)
    assert [r["high_watermark_checkpoint"] for r in one["replicas"]] == [94, 94, 95]


def test_the_text_says_the_same(run: Run, sample_traces: Path) -> None:
    ran = run("compare", sample_traces / "kip101-0.10.2.2", "-p", "orders-0")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "orders-0   REPLICAS DIFFER"
    assert lines[1].split()[:3] == ["broker", "log", "start"]
    assert lines[2].split() == ["1", "0", "95", "94", "95", "."]
    assert (
        "  brokers 1 and 2 differ at offsets 50 to 79 (30 offsets, 30 of them below both checkpointed high watermarks)"
        in lines
    )
    assert any(line.endswith("00000000000000000000.log byte 1840") for line in lines)
    assert "  brokers 2 and 3: no difference at offsets 0 to 94" in lines
    assert re.search(r"\[[0-9]+, [0-9]+\)", ran.out) is None, "half-open ranges are for JSON"


def test_what_is_alike_is_a_line(run: Run, sample_traces: Path) -> None:
    ran = run("compare", sample_traces / "traps-0.10.2.2")
    assert ran.code == 0
    assert "orders-0   3 replicas, no difference at offsets 0 to 14" in ran.out.splitlines()
    marked = "compacted-0   3 replicas, no difference at offsets 0 to 239; compacted: brokers 1, 2 and 3"
    assert marked in ran.out.splitlines()
    whole = run("compare", sample_traces / "traps-0.10.2.2", "-p", "compacted-0").out
    assert "broker 1: compacted up to offset 200" in whole
    assert "brokers 1 and 2: no difference at offsets 0 to 239, where both hold the same batch" in whole


def test_epochs_stand_beside_the_ends(run: Run, sample_traces: Path) -> None:
    folder = sample_traces / "unclean-3.9.1"
    one = partition(compared(run, folder, code=0))
    assert all(replica["epochs"] == replica["epoch_checkpoint"] == [[0, 0], [2, 30]] for replica in one["replicas"])
    assert "0 from 0, 2 from 30" in run("compare", folder, "-p", "orders-0").out


def test_every_recorded_case_keeps_the_contract(trace: Path, run: Run) -> None:
    ran = run("compare", trace, "--format", "json")
    if ran.code == 2:
        assert "compare needs segments" in ran.err
        return
    contracted(ran, ran.code)
    assert evidence_root() is not None or trace.parent.name == "sample_traces"


# -- by hand ---------------------------------------------------------------------------------------


def test_a_tail_above_a_high_watermark_is_said_to_be_one(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[1].segment([(0, 9, 0), (10, 14, 0)])
    incident[2].segment([(0, 9, 0), (10, 12, 1)])
    incident[1].checkpoint(10)
    incident[2].checkpoint(13)
    found = pairs(partition(compared(run, tmp_path, code=1)))
    assert found[1, 2]["differ"] == [[10, 13]]
    assert found[1, 2]["differ_below_both_high_watermarks"] == []
    assert (
        "differ at offsets 10 to 12 (3 offsets, not below both checkpointed high watermarks)"
        in run("compare", tmp_path).out
    )


def test_offsets_in_no_segment_and_in_no_batch_are_said(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    for number in (1, 2):
        path = incident[number].segment([])
        path.with_name(f"{20:020}.log").write_bytes(batch(20, 29, 0) + batch(35, 39, 0))
        path.unlink()
    (incident[1].data / "log-start-offset-checkpoint").write_text("0\n1\norders 0 5\n")
    one = partition(compared(run, tmp_path, code=3))
    assert one["outcome"] == "unknown"
    assert "cleaner-offset-checkpoint is missing" in one["pairs"][0]["unknown_because"]
    first, second = one["replicas"]
    assert first["not_in_segments"] == [5, 20]
    assert second["not_in_segments"] is None
    assert (second["offsets_without_batch"], second["compacted"]) == (5, False)
    assert (second["batches"], second["records"]) == (2, 15)
    text = run("compare", tmp_path, "-p", "orders-0").out
    assert "broker 1: offsets 5 to 19 belong to its log but are in no segment here: in tiered storage, or" in text
    assert "broker 2: 5 offsets are in no batch: compaction removed them, or batches are lost" in text
    for number in (1, 2):
        (incident[number].data / "cleaner-offset-checkpoint").write_text("0\n1\norders 0 40\n")
    assert partition(compared(run, tmp_path, code=0))["outcome"] == "same"
    assert "broker 2: 5 offsets are in no batch: compaction may have" in run("compare", tmp_path, "-p", "orders-0").out


def test_damage_and_another_directory_are_said(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[1].segment([(0, 9, 0)])
    torn = incident[2].segment([(0, 9, 0), (10, 19, 0)])
    torn.write_bytes(torn.read_bytes()[:-3])
    incident[1].segment([(0, 4, 0)], directory="old")
    text = run("compare", tmp_path, "-p", "orders-0").out
    assert "broker 1: stale directory" in text
    assert "broker-2/data/orders-0/00000000000000000000.log byte" in text


def test_a_bad_batch_is_neither_no_difference_nor_compaction(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=3)
    paths = [incident[number].segment([(0, 9, 0), (10, 19, 0), (20, 29, 0)]) for number in (1, 2, 3)]
    bytes_ = bytearray(paths[1].read_bytes())
    bytes_[len(batch(0, 9, 0)) + 40] ^= 1  # in the second batch, behind its checksum
    paths[1].write_bytes(bytes_)
    one = partition(compared(run, tmp_path, code=3))
    assert [(side["compacted"], bool(side["damage"])) for side in one["replicas"]] == [
        (False, False),
        (False, True),
        (False, False),
    ]
    (line,) = run("compare", tmp_path).out.splitlines()
    why = "damaged batches of broker 2 cannot be read; the rest is the same"
    assert line == f"orders-0   3 replicas, DAMAGED on broker 2, UNKNOWN because {why}"
    whole = run("compare", tmp_path, "-p", "orders-0").out
    assert f"brokers 1 and 2: unknown because {why}" in whole
    assert "brokers 1 and 3: no difference at offsets 0 to 29" in whole
    assert "broker 2: 10 offsets are in no batch: its segments are damaged" in whole


def test_without_a_checkpoint_nothing_is_called_committed(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[1].segment([(0, 9, 0), (10, 14, 0)])
    incident[2].segment([(0, 9, 0), (10, 12, 1)])
    incident[1].checkpoint(10)
    assert pairs(partition(compared(run, tmp_path, code=1)))[1, 2]["differ_below_both_high_watermarks"] is None
    text = " ".join(run("compare", tmp_path).out.split())
    assert "committed or not: unknown, replication-offset-checkpoint of broker 2 is missing)" in text


def test_logs_without_a_common_offset_are_not_called_the_same(run: Run, tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[1].segment([(0, 9, 0)])
    empty = incident[2].segment([])
    empty.with_name(f"{20:020}.log").write_bytes(batch(20, 29, 0))
    empty.unlink()
    ran = run("compare", tmp_path)
    assert ran.code == 3
    assert (
        "UNKNOWN because their logs have no offset in common; log end offsets differ: broker 1 10, broker 2 30"
        in ran.out
    )


def test_each_name_has_its_cluster_where_there_are_several(run: Run, tmp_path: Path, sample_traces: Path) -> None:
    for name in ("unclean-3.9.1", "flap-3.9.1"):
        shutil.copytree(sample_traces / name, tmp_path / name)
    *lines, gap, hint = run("compare", tmp_path).out.splitlines()
    assert (len(lines), gap) == (2, "")
    assert hint == "Copies without a difference may all lack committed records: forensics scan shows whether they do."
    assert all(re.match(r"orders-0 of cluster \S+   \d replicas, no difference", line) for line in lines)


def test_one_replica_alone_is_said_to_be_alone(run: Run, tmp_path: Path) -> None:
    Incident(tmp_path, brokers=2)[1].segment([(0, 9, 0)])
    ran = run("compare", tmp_path)
    assert ran.code == 3
    assert ran.out == "orders-0   nothing to compare: segments of broker 1 alone\n"


def test_many_partitions_are_counted(run: Run, tmp_path: Path) -> None:
    """Fifty that are alike and thirty that differ: the worst are told whole, the rest named or counted."""
    incident = Incident(tmp_path, brokers=2)
    for number in (1, 2):
        data = incident[number].data
        for partition_number in range(80):
            folder = data / f"orders-{partition_number}"
            folder.mkdir()
            epoch = number if partition_number >= 50 else 0
            (folder / f"{0:020}.log").write_bytes(batch(0, 9, epoch, salt=bytes([epoch])))
    lines = run("compare", tmp_path).out.splitlines()
    assert sum("REPLICAS DIFFER" in line for line in lines) == 30
    assert sum("brokers 1 and 2 differ at offsets 0 to 9 (10 offsets" in line for line in lines) == 20
    assert sum("no difference at offsets 0 to 9" in line for line in lines) == 40
    assert lines[-3] == "... and 10 more without a known difference: --format json has them all"
    assert lines[-1].startswith("forensics scan shows whether the records that differ were committed")
    assert len(compared(run, tmp_path, code=1)["partitions"]) == 80


# -- what is wrong ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-p", "order-0"], "no partition order-0 on disk in the evidence; there is orders-0"),
        (["--format", "xml"], "'xml' is not one of"),
    ],
)
def test_wrong_usage(options: list[str], said: str, run: Run, sample_traces: Path) -> None:
    ran = run("compare", sample_traces / "kip101-0.10.2.2", *options)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_logs_alone_cannot_be_compared(run: Run, sample_traces: Path) -> None:
    ran = run("compare", sample_traces / "kip101-0.10.2.2" / "broker-1" / "logs")
    assert ran.code == 2
    assert "compare needs segments or checkpoints" in ran.err
