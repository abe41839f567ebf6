"""A log read by ranges of its bytes gives the rows of one read in one go."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from parsers.errors import NotByRanges
from parsers.file_reading import FileReading, joined
from parsers.files.sources import Place, Source
from parsers.text import broker_log, lines
from parsers.text.broker_log import Range, parts, parts_of_range, ranges

STEP = 4096


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of some kilobytes, so that a small log has many."""
    monkeypatch.setattr(broker_log, "STEP", STEP)
    monkeypatch.setattr(broker_log, "_LOOK_BACK", 512)
    monkeypatch.setattr(broker_log, "_SAMPLE_BYTES", STEP)
    whole = lines.blocks
    monkeypatch.setattr(lines, "blocks", lambda stream, **more: whole(stream, **({"block_bytes": STEP} | more)))


def source(path: Path) -> Source:
    size = path.stat().st_size
    place = Place(str(path), 0, size)
    return Source(str(path), size, place.open, place=place)


def by_ranges(path: Path, wanted: int) -> FileReading:
    """Read by ranges, with the lines numbered on from one to the next."""
    log = source(path)
    assert log.place is not None
    found: list[FileReading] = []
    before = 0
    for one in ranges(log.size, wanted):
        part = joined([*parts_of_range(log, log.place, one), FileReading(broker_log.NAME)])
        onward = (pl.col("line") + before).alias("line")
        part.observations = part.observations.with_columns(onward)
        part.notices = part.notices.with_columns(onward)
        before += part.lines
        found.append(part)
    assert len(found) > 1
    return joined(found)


def same(one: FileReading, two: FileReading) -> None:
    assert_frame_equal(one.observations, two.observations)
    assert_frame_equal(one.notices, two.notices)
    for name in ("frame", "zone", "lines", "events", "relevant", "understood", "first_time", "last_time"):
        assert getattr(one, name) == getattr(two, name), name


@pytest.mark.parametrize("wanted", [STEP, 7 * STEP])
def test_ranges_give_what_one_reading_gives(some_sample: Path, wanted: int) -> None:
    logs = [log for log in sorted(some_sample.glob("*/logs/server.log*")) if log.stat().st_size > 2 * wanted]
    for log in logs:
        try:
            same(by_ranges(log, wanted), joined(list(parts(source(log)))))
        except NotByRanges:
            assert b"Completed request:" in log.read_bytes()


def test_a_dump_of_settings_over_a_boundary_belongs_to_its_broker(tmp_path: Path) -> None:
    head = "[2026-03-01 12:00:00,000] INFO "
    text = f"{head}Kafka version: 2.8.2 (org.apache.kafka.common.utils.AppInfoParser)\n"
    text += f"{head}KafkaConfig values: \n" + "\tx.y = 1\n" * 600 + "\tbroker.id = 7\n" + "\tx.y = 1\n" * 700
    text += f"{head}started (kafka.server.KafkaServer)\n\tbroker.id = 8\n" + f"{head}more (kafka.x.Y)\n" * 200
    path = tmp_path / "server.log"
    path.write_text(text)
    found = by_ranges(path, STEP)
    assert found.observations.get_column("detail").to_list() == ["2.8.2", "broker.id=7"]
    same(found, joined(list(parts(source(path)))))


def test_lines_longer_than_a_range_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    head = b"[2026-03-01 12:00:00,000] INFO "
    path.write_bytes(
        (head + b"one (a.B)\n") * 300 + head + b"x" * 9000 + b"\n" + b"\xff\0\r\n" + (head + b"two (a.B)\n") * 300
    )
    same(by_ranges(path, STEP), joined(list(parts(source(path)))))


def test_what_sessions_reach_over_is_read_in_one_go(tmp_path: Path) -> None:
    line = (
        "[2026-03-01 12:00:00,000] DEBUG Completed request:RequestHeader(apiKey=FETCH, apiVersion=11, clientId=b, "
        "correlationId=1) -- {replica_id=2,max_wait_time=500,min_bytes=1,max_bytes=10,isolation_level=0,session_id=5,"
        "session_epoch=1,topics=[],forgotten_topics_data=[],rack_id=},response:{throttle_time_ms=0,error_code=0,"
        "session_id=5,responses=[]} from connection 1-2:3-4;totalTime:1 (kafka.request.logger)\n"
    )
    path = tmp_path / "kafka-request.log"
    path.write_text(line * 100)
    assert joined(list(parts(source(path)))).relevant
    with pytest.raises(NotByRanges, match="sessions"):
        by_ranges(path, STEP)


def test_a_log_without_beginnings_of_events_is_read_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_log, "_FARTHEST", 1024)
    path = tmp_path / "server.log"
    path.write_text("[2026-03-01 12:00:00,000] ERROR x (a.B)\n" + "\tat a.b.C(D.java:1)\n" * 3000)
    with pytest.raises(NotByRanges, match="begins an event"):
        by_ranges(path, STEP)


@pytest.mark.parametrize("size", [0, 1, STEP, 10 * STEP + 1, 100 * STEP - 1])
def test_ranges_follow_each_other(size: int) -> None:
    found = ranges(size, 3 * STEP)
    assert found[0].begin == 0
    assert found[-1].end is None
    assert [one.end for one in found[:-1]] == [one.begin for one in found[1:]]
    assert all(one.begin % STEP == 0 for one in found)
    assert found == [Range(0, None)] or found[-1].begin < size
