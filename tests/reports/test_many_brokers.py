"""The cost of very many brokers: nothing looks through all of them again for each one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from forensics.case.brokers import Broker
from forensics.engines.local import judged, scan, take_in
from forensics.replay import protocol
from forensics.reports.text import render

ROLE = (
    "[2024-05-06 07:08:09,000] INFO [Broker id={0}] Leader t{0}-0 with topic id None starts at leader epoch 1 from "
    "offset {1} with partition epoch 1, high watermark {1}, ISR [{0}], adding replicas [] and removing replicas [] . "
    "Previous leader Some({0}) and previous leader epoch was 0. (state.change.logger)\n"
)


class Counted(tuple[Broker, ...]):
    """Brokers, and how often somebody began to look through them."""

    walks = 0

    def __iter__(self) -> Iterator[Broker]:
        Counted.walks += 1
        return super().__iter__()


class CountedById(dict[int, Broker]):
    """The same, by id."""

    walks = 0

    def values(self):  # type: ignore[no-untyped-def]
        CountedById.walks += 1
        return super().values()


def lines(folder: Path, brokers: int) -> list[str]:
    """A log with one line of each broker, about a partition of its own."""
    log = folder / f"{brokers}.log"
    log.write_text("".join(ROLE.format(broker, broker * 10) for broker in range(1, brokers + 1)))
    return [str(log)]


def test_a_report_looks_through_all_brokers_as_often_for_more_of_them(tmp_path: Path) -> None:
    walks = []
    for number in (20, 40):
        result = scan(lines(tmp_path, number))
        case = replace(result.case, everyone=Counted(result.case.everyone))
        Counted.walks = 0
        assert f"broker {number}" in render(replace(result, case=case))
        walks.append(Counted.walks)
    assert walks[0] == walks[1]


def test_rules_look_through_all_brokers_as_often_for_more_partitions(tmp_path: Path) -> None:
    walks = []
    for number in (20, 40):
        case = take_in(lines(tmp_path, number))
        case = replace(case, brokers=CountedById(case.brokers))
        CountedById.walks = 0
        assert len(judged(case)) == number
        walks.append(CountedById.walks)
    assert walks[0] == walks[1]


def test_brokers_that_state_the_same_are_asked_once() -> None:
    """Each part of large evidence asks for all brokers."""
    assert protocol.of(Broker(1, None, version="3.9.1")) is protocol.of(Broker(2, None, version="3.9.1"))
    assert protocol.of(Broker(1, None, version="3.9.1")) != protocol.of(Broker(2, None, version="0.10.2.2"))
