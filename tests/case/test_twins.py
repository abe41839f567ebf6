"""Evidence handed in twice, and topics named by id alone."""

from __future__ import annotations

import gzip
import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.case import twins
from forensics.case.topics import named
from forensics.case.twins import COPY, copies
from forensics.engines import local
from parsers.files.sources import Source
from parsers.schema import OBSERVATIONS, Kind
from parsers.walk import walk
from tests.conftest import in_full
from tests.parsers.handing_over import folder, tar

TRACE = "kip101-0.10.2.2"


def test_a_file_that_goes_while_copies_are_looked_for(case: Path) -> None:
    """Its reader names it as any file that cannot be read."""
    logs = [case / f"broker-{broker}" / "logs" / "server.log" for broker in (1, 2)]
    shutil.copy(logs[0], logs[1])
    sources = [one for one in walk([str(case)]) if one.name == "server.log"]
    assert copies(sources)
    for missing in range(12):
        left = iter(range(missing))
        gone = [replace(one, open=partial(opened_if_left, left, one.open), beginning=None) for one in sources]
        assert copies(gone) is not None


def opened_if_left(left: Iterator[int], inner: Callable[[], BinaryIO]) -> BinaryIO:
    if next(left, None) is None:
        raise FileNotFoundError(2, "No such file or directory")
    return inner()


def findings(*paths: Path) -> list[tuple[str, object, object]]:
    return [(f.rule, f.offsets, f.replicas) for f in local.scan([str(path) for path in paths]).findings]


@pytest.fixture
def case(sample_traces: Path, tmp_path: Path) -> Path:
    """A case that may be changed."""
    shutil.copytree(sample_traces / TRACE, tmp_path / "case", ignore=shutil.ignore_patterns("README.md", "truth.json"))
    return tmp_path / "case"


def copied(root: Path) -> set[str]:
    files = local.read_files([str(root)])
    for source, found in files:
        if found.format == COPY:
            assert "counted once" in found.notices.item(0, "reason"), source.path
    return {source.path.removeprefix(f"{root}/") for source, found in files if found.format == COPY}


@in_full("recorded clusters are judged whole without it")
def test_nothing_in_a_healthy_case_is_a_copy(sample_traces: Path) -> None:
    """Replicas hold equal segments and checkpoints: these are not one file twice."""
    for root in sorted(path for path in sample_traces.iterdir() if path.is_dir()):
        assert copied(root) == set(), root.name


def test_a_whole_case_twice_is_one_case(case: Path) -> None:
    wanted = findings(case)
    bundle = case / "again.tar.gz"
    bundle.write_bytes(tar(folder(case), "gz"))
    assert findings(case) == wanted
    kept = [found.format for _, found in local.read_files([str(case)])]
    logs = len([path for path in case.rglob("*.log") if path.parent.name == "logs"])
    assert (kept.count("broker-log"), kept.count("segment")) == (logs, 3)
    assert kept.count(COPY) >= logs + 3


def test_a_rotated_log_and_its_compressed_copy(case: Path) -> None:
    log = case / "broker-1" / "logs" / "server.log"
    (log.parent / "server.log.2026-11-21-04.gz").write_bytes(gzip.compress(log.read_bytes()))
    assert copied(case) == {"broker-1/logs/server.log.2026-11-21-04.gz"}


@pytest.mark.parametrize("share", [0.02, 0.6, 0.97])
def test_logs_copied_while_the_brokers_went_on(case: Path, share: float) -> None:
    """What stands at the beginning of a later copy is counted once: its lines do not look like others that are lost."""
    wanted = findings(case)
    earlier = set()
    for log in sorted(case.rglob("logs/*.log")):
        data = log.read_bytes()
        copy = case / "earlier" / log.relative_to(case)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(data[: max(int(len(data) * share), data.index(b"\n") + 1)])  # cut within a line, too
        earlier.add(str(copy.relative_to(case)))
    assert copied(case) == earlier
    assert findings(case) == wanted


def test_earlier_copies_of_one_log_stand_for_nothing(case: Path, tmp_path: Path) -> None:
    log = case / "broker-1" / "logs" / "server.log"
    data = log.read_bytes()
    lines = data.splitlines(keepends=True)
    wanted = findings(case)
    beside = log.parent / "server.log.bak"
    beside.write_bytes(b"".join(lines[:20]))
    (log.parent / "server.log.1.gz").write_bytes(gzip.compress(b"".join(lines[:30])))
    (case / "bundle.tar.gz").write_bytes(tar({"broker-1/logs/server.log": b"".join(lines[:40])}, "gz"))
    shutil.copy(beside, log.parent / "server.log.bak2")
    names = {f"broker-1/logs/server.log.{name}" for name in ("bak", "bak2", "1.gz")}
    assert copied(case) == {*names, "bundle.tar.gz!/broker-1/logs/server.log"}
    (said,) = [f.notices for source, f in local.read_files([str(case)]) if source.path == str(beside)]
    assert said.get_column("reason").to_list() == [f"an earlier copy of {log}, which begins with it: counted once"]
    assert findings(case) == wanted
    beside.write_bytes(b"".join([*lines[:19], lines[20]]))  # a line less: another log
    assert copied(case) == {*names, "bundle.tar.gz!/broker-1/logs/server.log"} - {"broker-1/logs/server.log.bak"}


def test_logs_of_two_brokers_may_begin_alike(tmp_path: Path) -> None:
    lines = [
        f"[2026-03-01 12:00:0{n},000] INFO Truncating log orders-0 to offset {n}. (kafka.log.Log)\n" for n in "123"
    ]
    for name, count in (("broker-1", 2), ("broker-2", 3), ("broker-1-later", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "server.log").write_text("".join(lines[:count]))
    assert copied(tmp_path) == {"broker-1/server.log", "broker-2/server.log"}
    shutil.rmtree(tmp_path / "broker-1-later")
    assert copied(tmp_path) == set()


def test_a_copied_directory_that_differs_is_kept_whole(case: Path) -> None:
    data = case / "broker-1" / "data"
    shutil.copytree(data, case / "old" / "data")
    assert copied(case) == {str(p.relative_to(case)) for p in (case / "old").rglob("*") if p.is_file()}
    segment = next((case / "old" / "data" / "orders-0").glob("*.log"))
    segment.write_bytes(segment.read_bytes()[:-40])
    assert {path for path in copied(case) if "orders-0" in path} == set()


@pytest.mark.parametrize("place", [".", "dumps/of-today"])
def test_a_dump_stands_in_for_a_segment_only(place: str, case: Path) -> None:
    wanted = findings(case)
    for number in (1, 2, 3):
        (path,) = (case / f"broker-{number}" / "data" / "orders-0").glob("*.log")
        (found,) = [r for _, r in local.read_files([str(path)])]
        text = "".join(
            f"offset: {row['base_offset']} position: {row['byte']} CreateTime: {row['max_timestamp']} isvalid: true "
            f"payloadsize: 2 magic: 1 compresscodec: NONE crc: {row['crc']}\n"
            for row in found.batches.iter_rows(named=True)
        )
        dump = case / f"broker-{number}" / place / "dump.txt"
        dump.parent.mkdir(parents=True, exist_ok=True)
        dump.write_text(f"Dumping /data/orders-0/{path.name}\nStarting offset: 0\n{text}")
    assert findings(case) == wanted  # both at hand: the dumps are left out
    result = local.scan([str(case)])
    notes = result.case.notices.filter(pl.col("reason").str.contains("dump of its segments is not used"))
    assert notes.height == 3
    for number in (1, 2, 3):
        shutil.rmtree(case / f"broker-{number}" / "data" / "orders-0")
    assert findings(case) == wanted  # the dumps alone say the same


def test_a_dump_of_another_cluster_is_no_copy(case: Path) -> None:
    """Its broker has the same id, its partition the same name."""
    other = case / "green"
    other.mkdir()
    (other / "meta.properties").write_text("version=0\nbroker.id=1\ncluster.id=green\n")
    (other / "dump.txt").write_text(
        "Dumping /data/orders-0/00000000000000000000.log\nStarting offset: 0\noffset: 0 position: 0 CreateTime: 1 "
        "isvalid: true payloadsize: 2 magic: 1 compresscodec: NONE crc: 7\n"
    )
    found = local.take_in([str(case)])
    (dump,) = found.sources.filter(pl.col("format") == "dump-log").rows(named=True)
    assert (dump["cluster"], dump["broker"], dump["notices"]) == ("green", 1, 0)
    assert found.batches.filter(pl.col("source") == dump["id"]).height == 1


def test_topics_get_their_names_by_id() -> None:
    role, removed = Kind.BECOME_LEADER.value, Kind.TOPIC_REMOVED.value
    rows = pl.DataFrame(
        [
            ("a", "A" * 22, role),
            (None, "A" * 22, role),
            (None, "A" * 22, removed),  # is about each partition of the topic
            (None, "B" * 22, role),
            (None, None, role),
            ("b", None, role),
        ],
        schema={"topic": pl.String, "topic_id": pl.String, "kind": OBSERVATIONS["kind"]},
        orient="row",
    )
    found = named(rows.with_columns(pl.lit(None, dtype=OBSERVATIONS["hw"]).alias("hw")))
    assert found.get_column("topic").to_list() == ["a", "a", None, None, None, "b"]
    assert found.columns == ["topic", "topic_id", "kind", "hw"]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3000) | st.sampled_from([0, 1024, 2048, 3072])), max_size=12)
)
def test_many_logs_that_begin_alike_are_compared_as_few_are(cuts: list[tuple[int, int]]) -> None:
    """Beginnings of three texts that differ at last at byte 1,500, of any lengths, of known and unknown brokers."""
    line = "[2024-05-06 07:08:09,000] INFO Truncating log orders-0 to offset 5. (kafka.log.Log)\n"
    texts = [(line * 48)[:1_500] + f"{number}" * 3_000 for number in range(3)]
    contents = [texts[text][: 4_500 - cut].encode() for text, cut in cuts]
    sources = [
        Source(f"broker-{n % 2}/{n}.log" if n % 3 else f"{n}.log", len(data), partial(io.BytesIO, data))
        for n, data in enumerate(contents)
    ]
    found = []
    for few in (64, 0):
        with patch.object(twins, "_FEW", few):
            found.append(copies(sources, opening=lambda _: b"alike", is_log=lambda _: True))
    assert found[0] == found[1]


def test_a_source_that_cannot_be_read_is_no_copy() -> None:
    from forensics.case.twins import copies

    def broken() -> object:
        raise OSError(5, "Input/output error")

    assert copies([Source("a.log", 3, broken), Source("b.log", 3, broken)]) == {}  # type: ignore[arg-type]
