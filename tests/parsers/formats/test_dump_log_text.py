from __future__ import annotations

import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.engines.local import read_files, scan
from parsers.containers import expand
from parsers.errors import NotThisFormat
from parsers.file_reading import FileReading
from parsers.formats.dump_log_text import read_dump_log
from parsers.formats.segment import read_segment
from parsers.read import read
from parsers.schema import Kind
from parsers.takers.metadata_files import belongs
from parsers.walk import walk
from tests.parsers.formats.building import DATA
from tests.parsers.handing_over import source

VERSIONS = ("0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9.1", "4.1.1")
"""Each has a dump as that version's tool prints it, with the records, of the same few batches or more."""

PATH = "/srv/kafka/broker-1/data/orders-0/00000000000000000000.log"


def lines(version: str) -> list[str]:
    return (DATA / f"dump-{version}.txt").read_text().splitlines()


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version(version: str) -> None:
    found = read_dump_log(pl.Series(lines(version)))
    assert found.path == PATH
    assert found.file is not None
    assert found.file.base_offset == 0
    assert found.notices.is_empty()
    table = found.batches
    assert table.get_column("base_offset").to_list() == list(range(table.height))
    assert table.get_column("last_offset").to_list() == list(range(table.height))
    assert found.log_end == table.height >= 3
    step = 36 if version == "0.10.2.2" else 70
    assert table.get_column("byte").to_list() == [step * number for number in range(table.height)]
    assert set(table.get_column("codec")) == {0}
    assert set(table.get_column("crc_ok")) == {True}
    assert set(table.get_column("magic")) == {1 if version == "0.10.2.2" else 2}
    if version == "0.10.2.2":
        assert table.get_column("leader_epoch").null_count() == table.height
    elif version != "1.1.1":  # with the records, 0.11 to 2.1 may print them without their batches, so without epochs
        assert set(table.get_column("leader_epoch")) == {0}


def test_a_delete_horizon_is_read() -> None:
    """It is there if the cleaner noted when the tombstones of a batch may go (KIP-534), from 3.1 on."""
    text = "\n".join(lines("3.9.1")).replace("OptionalLong.empty", "OptionalLong[1718093461000]", 1).splitlines()
    found = read_dump_log(pl.Series(text)).batches
    assert found.get_column("delete_horizon").to_list() == [1718093461000, *[None] * (found.height - 1)]


def test_a_dump_and_its_segment_agree() -> None:
    """``v1-none.log`` as 0.10.2.2 prints it: the columns that both have are the same."""
    segment = read_segment((DATA / "v1-none.log").read_bytes(), base_offset=0)
    text = [
        f"offset: {row['base_offset']} position: {row['byte']} CreateTime: {row['max_timestamp']} isvalid: true "
        f"payloadsize: 3 magic: {row['magic']} compresscodec: NoCompressionCodec crc: {row['crc']} payload: crc: 1 x"
        for row in segment.batches.iter_rows(named=True)
    ]
    found = read_dump_log(pl.Series(["Dumping orders-0/00000000000000000000.log", "Starting offset: 0", *text]))
    columns = [
        "byte",
        "base_offset",
        "last_offset",
        "leader_epoch",
        "magic",
        "crc",
        "records",
        "codec",
        "max_timestamp",
    ]
    assert found.batches.select(columns).equals(segment.batches.select(columns))
    assert found.log_end == segment.log_end_offset


def test_what_the_tool_says_of_damage_is_told() -> None:
    found = read_dump_log(
        pl.Series([*lines("3.9.1"), "Found 24 invalid bytes at the end of 00000000000000000000.log", "what is this"])
    )
    assert found.notices.get_column("reason").to_list() == ["torn tail: the dump says so", "no line of kafka-dump-log"]
    cut = read_dump_log(pl.Series([lines("3.9.1")[0], lines("3.9.1")[2][:40]]))
    assert cut.notices.get_column("reason").to_list() == ["an entry of kafka-dump-log that is incomplete"]
    assert cut.batches.is_empty()


def test_payloads_cannot_pose_as_headers() -> None:
    good = lines("0.10.2.2")[2]
    found = read_dump_log(pl.Series([good, f"{good} payload: magic: 9 crc: 5 baseOffset: 77 lastOffset: 99"]))
    assert found.batches.get_column("last_offset").to_list() == [0, 0]
    assert found.batches.get_column("magic").to_list() == [1, 1]


def test_several_segments_in_one_text(tmp_path: Path) -> None:
    one, other = lines("3.9.1"), lines("2.8.2")
    other[0] = other[0].replace("broker-1/data/orders-0", "broker-2/data/a.b-c-12")
    path = tmp_path / "pasted.txt"
    path.write_text(
        "\n".join([*one, *other, "Dumping /x/orders-0/00000000000000000000.index", "offset: 5 position: 70"])
    )
    whole, *parts = walk([str(path)])
    assert whole.container == "kafka-dump-log"
    assert [part.path for part in parts] == [
        f"{path}!{PATH}",
        f"{path}!{PATH.replace('broker-1/data/orders-0', 'broker-2/data/a.b-c-12')}",
        f"{path}!/x/orders-0/00000000000000000000.index",
    ]
    found = [read(part) for part in parts]
    assert [(r.format, r.topic, r.partition) for r in found] == [
        ("dump-log", "orders", 0),
        ("dump-log", "a.b-c", 12),
        ("irrelevant", None, None),
    ]


def test_a_dump_that_does_not_say_its_partition() -> None:
    reading = read(source("\n".join(lines("3.9.1")[1:]).encode(), "dump.txt"))
    assert (reading.format, reading.topic) == ("dump-log", None)
    assert "does not name its partition" in reading.notices.item(0, "reason")


def test_a_foreign_file_is_refused() -> None:
    with pytest.raises(NotThisFormat):
        read_dump_log(pl.Series(["[2024-03-01 10:22:41,107] INFO x (a.B)"]))


@given(st.sampled_from(VERSIONS), st.integers(0, 2000), st.text(max_size=60))
def test_no_cut_and_no_noise_crash_it_or_pass_in_silence(version: str, at: int, noise: str) -> None:
    text = "\n".join(lines(version))
    spoilt = text[:at] + noise
    try:
        found = read_dump_log(pl.Series(spoilt.split("\n"), dtype=pl.String))
    except NotThisFormat:
        return
    assert found.batches.height <= len(lines(version)) + len(noise)


def test_values_without_what_belongs_to_the_record() -> None:
    """``--skip-record-metadata`` prints keys and values alone."""
    reading = read(source((DATA / "dump-4.1.1-values.txt").read_bytes(), "dump.txt"))
    found = read_dump_log(pl.Series((DATA / "dump-4.1.1-values.txt").read_text().splitlines()))
    assert reading.format == "dump-log"
    assert found.notices.is_empty()
    assert found.batches.get_column("base_offset").to_list() == [0, 1, 2, 3][: found.batches.height]


def test_a_dump_of_the_metadata_log_is_read_as_text(tmp_path: Path) -> None:
    """Its path in the text has the name of a segment, ``kafka-dump-log --cluster-metadata-decoder`` printed it."""
    path = tmp_path / "dump.txt"
    path.write_bytes((DATA / "dump-4.1.1-metadata.txt").read_bytes())
    archive, dump = walk([str(path)])
    assert archive.container == "kafka-dump-log"
    assert not belongs(dump)
    reading = read(dump)
    assert (reading.format, reading.topic) == ("metadata-log", "__cluster_metadata")
    assert reading.batches.get_column("base_offset").to_list() == [0, 1, 8]
    assert reading.notices.is_empty()


def decoded() -> bytes:
    """The metadata log of the sample of an unclean election, printed with ``--cluster-metadata-decoder``."""
    return (DATA / "dump-4.1.1-unclean-metadata.txt").read_bytes()


def of_dump(data: bytes) -> FileReading:
    (found,) = [read(file) for file in expand(source(data, "dump.txt")) if not file.container]
    return found


def test_a_decoded_dump_says_what_the_metadata_log_says(sample_traces: Path) -> None:
    folder = sample_traces / "unclean-3.9.1" / "broker-1" / "data" / "__cluster_metadata-0"
    (_, plain) = read_files([str(folder / "00000000000000000000.log")])[0]
    dumped = of_dump(decoded())
    assert dumped.format == plain.format == "metadata-log"
    assert dumped.observations.equals(plain.observations)
    assert dumped.observations.height > 20
    assert "unclean_election" in dumped.observations.get_column("kind").to_list()
    assert dumped.zone == plain.zone == "UTC"
    assert dumped.notices.is_empty()


def test_a_decoded_dump_without_what_belongs_to_a_record() -> None:
    """``--skip-record-metadata`` prints a control record as an empty line."""
    bare = re.sub(rb"(?m)^\| offset: .*?(?: (payload: .*)|LeaderChange: .*)?$", rb" \1", decoded())
    found, whole = of_dump(re.sub(rb"(?m)^ $", b"", bare)), of_dump(decoded())
    kind = pl.col("kind") != Kind.CONTROLLER_ACTIVE.value
    assert found.format == "metadata-log"
    assert found.observations.filter(kind).equals(whole.observations.filter(kind))
    assert found.notices.is_empty()


def test_a_dumped_snapshot_of_the_metadata_log_is_a_notice() -> None:
    name = b"Dumping /d/__cluster_metadata-0/00000000000000000071-0000000003.checkpoint\n"
    _, _, rest = decoded().partition(b"\n")
    found = of_dump(name + rest)
    assert found.observations.is_empty()
    assert "give the file itself" in found.notices.get_column("reason")[0]


def test_a_decoded_dump_alone_is_judged(sample_traces: Path, tmp_path: Path) -> None:
    for broker in (1, 2, 3, 100):
        logs = tmp_path / f"broker-{broker}" / "logs"
        shutil.copytree(sample_traces / "unclean-3.9.1" / f"broker-{broker}" / "logs", logs)
    (tmp_path / "dump.txt").write_bytes(decoded())
    result = scan([str(tmp_path)])
    told = result.case.observations.filter(pl.col("kind") == Kind.UNCLEAN_ELECTION.value)
    assert told.select("topic", "partition", "leader").unique().rows() == [("orders", 0, 2)]
    assert "unclean-election" in {finding.rule for finding in result.findings}


def test_a_decoded_dump_with_a_hole_derives_no_epochs_behind_it() -> None:
    lines = decoded().split(b"\n")
    change = next(n for n, line in enumerate(lines) if b"PARTITION_CHANGE_RECORD" in line)
    whole = of_dump(b"\n".join(lines)).observations
    for spoilt in (lines[:change] + lines[change + 1 :], [*lines[:change], lines[change][:-30], *lines[change + 1 :]]):
        found = of_dump(b"\n".join(spoilt))
        assert found.format == "metadata-log"
        assert found.notices.height == 1
        behind = found.observations.filter(pl.col("kind") == "partition_changed").get_column("leader_epoch")
        assert behind.null_count() == behind.len() < whole.filter(pl.col("kind") == "partition_changed").height


def judged(folder: Path, text: str) -> dict[str, str]:
    """What the rules say of the only replica: there is a dump of it, and the checkpoint of its high watermark."""
    data = folder / "broker-1"
    data.mkdir()
    end = read_dump_log(pl.Series(lines("3.9.1"))).log_end
    (data / "meta.properties").write_text("version=1\nnode.id=1\n")
    (data / "replication-offset-checkpoint").write_text(f"0\n1\norders 0 {end}\n")
    (data / "dump.txt").write_text(text)
    (data / "state-change.log").write_text(
        "[2024-05-06 07:08:09,000] INFO [Broker id=1] Leader orders-0 with topic id None starts at leader epoch 0 from "
        "offset 0 with partition epoch 0, high watermark 0, ISR [1], adding replicas [] and removing replicas []. "
        "Previous leader None and previous leader epoch was -1. (state.change.logger)\n"
    )
    (partition,) = scan([str(folder)]).partitions
    return {rule: judgement.verdict.value for rule, judgement in partition.judgements.items()}


@pytest.mark.parametrize("around", ["{}", "{}```\n", "$ kafka-dump-log.sh --files x\n{}[root@kafka-1 ~]$ \n"])
def test_what_was_pasted_with_a_dump_is_no_damage(around: str, tmp_path: Path) -> None:
    told = judged(tmp_path, around.format("\n".join([*lines("3.9.1"), ""])))
    assert told["hw-above-leo"] == "clean"
    assert told["segment-damage"] == "clean"


@pytest.mark.parametrize("behind", ["lastOffset: ", "crc: 2", "isvalid: t"])
def test_a_dump_that_is_cut_does_not_tell_where_the_log_ends(behind: str, tmp_path: Path) -> None:
    text = "\n".join(lines("3.9.1"))
    cut = text[: text.rindex(behind) + len(behind)]
    told = judged(tmp_path, cut)
    assert told["hw-above-leo"] == "unknown"
    assert told["segment-damage"] == "unknown"


def test_a_batch_that_the_dump_calls_invalid_is_damage(tmp_path: Path) -> None:
    told = judged(tmp_path, "\n".join([*lines("3.9.1"), ""]).replace("isvalid: true", "isvalid: false", 1))
    assert told["segment-damage"] == "violated"


@pytest.mark.parametrize("number", ["29314083135", "-1"])
def test_a_number_that_no_batch_has_is_damage(number: str) -> None:
    head, _, good = lines("0.10.2.2")[:3]
    odd = re.sub(r"crc: [0-9]+", f"crc: {number}", good)
    found = read_dump_log(pl.Series([head, odd, good]))
    assert len(found.batches) == 1
    assert found.notices.get_column("reason").to_list() == [
        "an entry of kafka-dump-log with a number that no batch has"
    ]
