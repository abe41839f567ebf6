"""The lines of a log whose layout changes are read by the layouts that it has, and by no other."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from parsers.file_reading import FileReading, joined
from parsers.text import broker_log, frames, layouts, lines
from parsers.text.layouts import Layouts
from parsers.walk import walk
from tests.cases.relaid import LAYOUTS, relaid

END = " (kafka.log.UnifiedLog)\n"
STOCK = "[2026-11-21 04:11:{:02},000] INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to offset {}" + END
OTHER = "[2026-11-21 04:11:{:02},000] INFO [SocketServer listener=x] Started (kafka.network.SocketServer)\n"


def read(text: str, folder: Path, *, large: bool = False) -> FileReading:
    """As one of several short logs or as a large one, which say the same."""
    (folder / "server.log").write_text(text)
    (source,) = walk([str(folder)])
    (short,) = broker_log.together([source])
    whole = joined(list(broker_log.parts(source)))
    assert short is not None
    assert short.observations.equals(whole.observations)
    assert short.notices.equals(whole.notices)
    assert (short.frame, short.relevant, short.understood) == (whole.frame, whole.relevant, whole.understood)
    return whole


def offsets(reading: FileReading) -> list[int]:
    return reading.observations.get_column("offset").to_list()


def text_of(numbers: range) -> str:
    return "".join(STOCK.format(number, number) + OTHER.format(number) for number in numbers)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_line_is_read_once_in_its_order(layout: str, tmp_path: Path) -> None:
    first, then = text_of(range(5)), relaid(text_of(range(5, 10)), layout, "all")
    found = read(first + then + text_of(range(10, 15)), tmp_path)
    assert offsets(found) == list(range(15))
    assert found.observations.get_column("line").to_list() == list(range(1, 31, 2))
    assert found.observations.get_column("time").is_sorted()
    assert found.observations.get_column("time").n_unique() == 15
    assert (found.relevant, found.understood, found.lines) == (15, 15, 30)
    assert found.notices.filter(found.notices["reason"].str.contains("zone").not_()).is_empty()


def test_the_layouts_are_named_in_the_order_in_which_they_begin(tmp_path: Path) -> None:
    text = text_of(range(3)) + relaid(text_of(range(3, 6)), "bars", "all") + relaid(text_of(range(6, 9)), "cri", "all")
    assert read(text, tmp_path).frame == "log4j; bars; log4j in cri"


def test_lines_of_a_layout_that_is_not_known_are_told_of(tmp_path: Path) -> None:
    clock_only = "".join(
        f"04:11:{n:02} INFO [UnifiedLog partition=orders-0, dir=/d] Truncating to offset {n}\n" for n in range(5, 9)
    )
    found = read(text_of(range(5)) + clock_only, tmp_path)
    assert offsets(found) == list(range(5))
    assert (found.relevant, found.understood) == (9, 5)
    assert found.frame == f"log4j; {layouts.NOT_KNOWN}"
    assert found.notices.select("reason", "line").rows() == [
        ("4 lines look like events of a layout that is not known, the first here: not understood", 11)
    ]


def test_times_that_name_a_zone_behind_such_that_do_not_are_told_of(tmp_path: Path) -> None:
    found = read(text_of(range(5)) + relaid(text_of(range(5, 9)), "zone", "all"), tmp_path)
    assert found.zone is None
    (reason,) = found.notices.get_column("reason").to_list()
    assert "name their zone" in reason
    assert offsets(found) == list(range(9))


@pytest.mark.parametrize(
    "goes_on",
    [
        "\tat kafka.log.Log.truncateTo(Log.scala:1)\n",
        "java.io.IOException: Truncating to offset 7\n",  # speaks of replication, but has no time
        "2026-11-21 04:11:09,000 INFO a word of another program\n",  # an event, but of nothing that is looked for
        "unclean.leader.election.enable = false\n",
    ],
)
def test_what_goes_on_from_an_event_is_no_other_layout(goes_on: str, tmp_path: Path) -> None:
    found = read(text_of(range(5)) + goes_on * 3 + text_of(range(5, 9)), tmp_path)
    assert found.frame == frames.STOCK.name
    assert offsets(found) == list(range(9))
    assert found.notices.is_empty()


def test_settings_printed_in_the_second_layout_belong_to_its_broker(tmp_path: Path) -> None:
    dump = "2026-11-21 04:11:09,000 INFO KafkaConfig values: \n\tbroker.id = 7\n\tx.y = 1\n"
    found = read(text_of(range(5)) + dump + text_of(range(5, 9)) + "\tbroker.id = 8\n", tmp_path)
    assert found.observations.get_column("detail").drop_nulls().to_list() == ["broker.id=7"]


def test_a_dump_of_settings_over_two_blocks_goes_on_in_its_layout() -> None:
    text = text_of(range(2)) + "2026-11-21 04:11:09,000 INFO KafkaConfig values: \n\tbroker.id = 7\n"
    known = Layouts((), frames.STOCK)
    said: list[str | None] = []
    for part in (text, "\tnode.id = 7\n" + text_of(range(2)), "\tlog.dir = /d\n"):
        block = next(lines.blocks(io.BytesIO(part.encode())))
        for portion in known.portions(block):
            said += portion.found.observations.get_column("detail").drop_nulls().to_list()
    assert said == ["broker.id=7", "node.id=7"]


@pytest.mark.parametrize("layout", ["logger first", "strimzi, brackets", "thread"])
def test_events_that_begin_as_the_stock_layout_does(layout: str, tmp_path: Path) -> None:
    """Few or many among stock lines: neither is cut, and a prefix of Kafka's own is no thread."""
    for few in (3, 40):
        text = text_of(range(20)) + "".join(relaid(STOCK.format(n, n), layout, "all") for n in range(20, 20 + few))
        found = read(text, tmp_path)
        assert offsets(found) == list(range(20 + few))
        assert found.notices.is_empty()


def test_every_line_of_a_log_of_two_layouts_has_a_class(tmp_path: Path) -> None:
    text = text_of(range(5)) + relaid(text_of(range(5, 10)), "bars", "all")
    (tmp_path / "server.log").write_text(text)
    (source,) = walk([str(tmp_path)])
    assert broker_log.classes(source).get_column("class").to_list() == ["understood", "irrelevant"] * 10


def test_no_more_layouts_are_looked_for_than_a_log_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(layouts, "_MOST", 1)
    found = read(text_of(range(5)) + relaid(text_of(range(5, 9)), "bars", "all"), tmp_path)
    assert (found.relevant, found.understood, found.notices.height) == (9, 5, 1)
