"""Short logs, of which a host has thousands: read together, they say what each says by itself."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest

from parsers import read
from parsers.files.sources import Source
from parsers.text import broker_log
from parsers.walk import walk
from tests.conftest import in_full
from tests.parsers.formats.building import DATA
from tests.parsers.handing_over import LAYOUTS, WRAPPINGS, tar


def pieces(sample_traces: Path, folder: Path) -> list[Source]:
    """Short rotated logs of several versions, cut anywhere, among them what is no log, or no ordinary one."""
    logs = [path for path in sorted(sample_traces.glob("*/broker-*/logs/*.log")) if "request" not in path.name][::5]
    for number, path in enumerate(logs):
        lines = path.read_bytes().splitlines(keepends=True)
        for part in range(3):
            begin = (len(lines) * part) // 4
            (folder / f"{path.name}.{number}-{part}").write_bytes(b"".join(lines[begin : begin + 90]))
    stock = logs[0].read_bytes()[:3000]
    (folder / "server.log.cri").write_text(WRAPPINGS["cri"](stock.decode().splitlines()))
    (folder / "server.log.other-layout").write_text(LAYOUTS["ISO, Z"](stock.decode().splitlines()))
    (folder / "server.log.crlf").write_bytes(stock.replace(b"\n", b"\r\n"))
    (folder / "server.log.zeros").write_bytes(stock + b"\0" * 50 + stock)
    (folder / "server.log.no-text").write_bytes(stock.replace(b"INFO", b"IN\xffO", 3))
    (folder / "server.log.mark").write_bytes(b"\xef\xbb\xbf" + stock)
    (folder / "server.log.none").write_bytes(b"nothing\nto read\n")
    (folder / "server.log.empty").write_bytes(b"")
    (folder / "server.log.dump").write_bytes(stock[:-1] + b"\n[2026-11-21 04:11:00,000] INFO KafkaConfig values: \n")
    (folder / "server.log.dump-goes-on").write_bytes(b"\tbroker.id = 5\n\tmin.insync.replicas = 7\n" + stock)
    (folder / "kafka-request.log").write_bytes((DATA / "request-1.1.1.log").read_bytes())
    (folder / "meta.properties").write_text("version=0\nbroker.id=1\n")
    return list(walk([str(folder)]))


@in_full("a short log is read by itself without it")
def test_short_logs_read_together_say_what_each_says_by_itself(sample_traces: Path, tmp_path: Path) -> None:
    sources = pieces(sample_traces, tmp_path)
    single = [read.read(source) for source in sources]
    units = read.with_neighbours(sources, read.units(sources))
    assert sorted(number for unit in units for number in unit) == list(range(len(sources)))
    assert len(units) < len(sources) / 10
    seen = 0
    for unit in units:
        for number, found in zip(unit, read.read_unit([sources[n] for n in unit]), strict=True):
            alone = single[number]
            for field in fields(found):
                one, other = getattr(found, field.name), getattr(alone, field.name)
                same = one.equals(other) if isinstance(one, pl.DataFrame) else one == other
                assert same, (sources[number].path, field.name)
            seen += found.observations.height
    assert seen > 100


def test_what_lies_between_short_logs_does_not_part_them_but_where_it_is_read_forwards(tmp_path: Path) -> None:
    log = (LINE.format(1, 11, END)).encode()
    files = {"a/server.log": log, "b/00000000000000000000.log": b"", "c/server.log": log, "d/server.log": log}
    for name, data in files.items():
        (tmp_path / "plain" / name).parent.mkdir(parents=True)
        (tmp_path / "plain" / name).write_bytes(data)
    (tmp_path / "all.tar.gz").write_bytes(tar(files, "gz"))

    def grouped(path: Path) -> list[list[str]]:
        sources = [one for one in walk([str(path)]) if not one.container]
        units = read.with_neighbours(sources, read.units(sources))
        return [[Path(sources[number].path).parent.name for number in unit] for unit in units]

    assert grouped(tmp_path / "plain") == [["a", "c", "d"], ["b"]]
    assert grouped(tmp_path / "all.tar.gz") == [["a"], ["b"], ["c", "d"]]


def test_a_file_that_goes_away_costs_its_neighbours_nothing(sample_traces: Path, tmp_path: Path) -> None:
    sources = pieces(sample_traces, tmp_path)[:6]
    Path(sources[2].path).unlink()
    found = read.read_unit(sources)
    assert [reading.format for reading in found].count("unreadable") == 1
    assert found[2].format == "unreadable"
    assert found[3].observations.equals(read.read(sources[3]).observations)


def test_a_layout_that_prints_no_logger_is_not_called_cut(tmp_path: Path) -> None:
    whole = "[2026-11-21 04:11:{:02},000] INFO Truncating log orders-0 to offset {}. (kafka.log.Log)\n"
    mute = "[2026-11-21 04:12:{:02},000] INFO something was said\n"
    (tmp_path / "server.log").write_text(
        "".join([*(whole.format(n, n) for n in range(9)), *map(mute.format, range(40))])
    )
    (tmp_path / "cut.log").write_text(
        "".join([*(whole.format(n, n) for n in range(9)), mute.format(1), whole.format(9, 9)])
    )
    cut, server = (read.read(found).notices.get_column("reason").to_list() for found in walk([str(tmp_path)]))
    assert server == []
    assert cut == ["a line whose end is truncated or overwritten"]


LINE = "[2026-11-21 04:11:{:02},000] INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to offset {}{}"
END = " (kafka.log.UnifiedLog)\n"


@pytest.mark.parametrize(
    ("text", "offsets", "reasons"),
    [
        (LINE.format(1, 11, END) + LINE.format(2, 14, ""), [11], ["a line whose end is truncated or overwritten"]),
        (
            LINE.format(1, 14, "\n") + LINE.format(2, 22, END),
            [22],
            ["a line whose end is truncated or overwritten"],
        ),
        (
            LINE.format(1, 14, "") + LINE.format(2, 22, END),
            [22],
            ["another event begins within the line; its incomplete part is left out"],
        ),
        (LINE.format(1, 11, END) + LINE.format(2, 140, END).rstrip("\n"), [11, 140], []),
    ],
    ids=["at the end", "within", "run on", "whole without a line end"],
)
def test_a_number_that_may_lack_digits_is_not_read(
    text: str, offsets: list[int], reasons: list[str], tmp_path: Path
) -> None:
    (tmp_path / "server.log").write_text(text)
    (tmp_path / "large.log").write_text("".join(LINE.format(0, 11, END) for _ in range(2000)) + text)
    large, short = list(walk([str(tmp_path)]))
    for found in (read.read(large), read.read(short), *broker_log.together([short])):
        assert found is not None
        assert found.observations.get_column("offset").to_list()[-len(offsets) :] == offsets
        assert found.notices.get_column("reason").to_list() == reasons
