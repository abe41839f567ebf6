"""What a broker printed says the same in whatever layout, and where the layout changes within a file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from forensics.engines.local import scan
from tests.cases.relaid import LAYOUTS, WHERE, relaid
from tests.conftest import EVERYTHING, alike
from tools.samples import unpacked

SAMPLES = unpacked()

CASES = ("kip101-0.10.2.2", "zombie-1.1.1", "unclean-3.9.1")
"""Without CI=1 each is given another third of the layouts."""


Answers = dict[tuple[str, int, str], tuple[str, list[str]]]


def answers(folder: Path) -> Answers:
    return {
        (one.history.name, one.history.incarnation, rule): (judged.verdict, [f.summary for f in judged.findings])
        for one in scan([str(folder)]).partitions
        for rule, judged in one.judgements.items()
    }


def copied(case: str, folder: Path, *, with_data: bool = True) -> Path:
    shutil.copytree(SAMPLES / case, folder, ignore=None if with_data else shutil.ignore_patterns("data"))
    return folder


@pytest.fixture(scope="session")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Answers]:
    """What a sample answers as it is, with its data or without, scanned once for all layouts."""

    @cache
    def asked(case: str, *, with_data: bool = True) -> Answers:
        return answers(copied(case, tmp_path_factory.mktemp("whole") / case, with_data=with_data))

    return asked


@pytest.mark.parametrize(
    ("case", "layout"),
    [
        (case, layout)
        for number, case in enumerate(CASES)
        for place, layout in enumerate(LAYOUTS)
        if EVERYTHING or place % (2 * len(CASES)) == number
    ],
)
def test_a_layout_that_begins_half_way_changes_no_answer(
    case: str, layout: str, tmp_path: Path, wanted: Callable[..., Answers]
) -> None:
    folder = copied(case, tmp_path / case)
    for log in folder.glob("broker-*/logs/*.log"):
        log.write_text(relaid(log.read_text(), layout, "last half"))
    assert answers(folder) == wanted(case)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("layout", alike(["logger first", "strimzi", "zone", "cri"], 2))
def test_logs_alone_are_read_wherever_another_layout_stands(
    layout: str, where: str, tmp_path: Path, wanted: Callable[..., Answers]
) -> None:
    case = "powerloss-0.11.0.3"
    folder = copied(case, tmp_path / case, with_data=False)
    for log in folder.glob("broker-*/logs/*.log"):
        log.write_text(relaid(log.read_text(), layout, where))
    assert answers(folder) == wanted(case, with_data=False)


def test_a_log_of_many_layouts_in_turn(tmp_path: Path, wanted: Callable[..., Answers]) -> None:
    """Lines of four layouts take turns."""
    folder = copied("kip101-0.10.2.2", tmp_path / "all")
    for log in folder.glob("broker-*/logs/*.log"):
        text = log.read_text()
        for layout in ("json layout", "bars", "thread before"):
            text = relaid(text, layout, "mixed")  # what is in another layout already is no event for it
        log.write_text(text)
    assert answers(folder) == wanted("kip101-0.10.2.2")


def test_who_printed_lines_that_cannot_be_read_did_more_than_is_told(tmp_path: Path) -> None:
    """From half way on, the brokers print the time of day alone: what their logs leave open is unknown, not clean."""
    folder = copied("acks1-2.8.2", tmp_path / "logs", with_data=False)
    assert answers(folder)["orders-0", 0, "committed-data-lost"][0] == "clean"
    for log in folder.glob("broker-*/logs/*.log"):
        log.write_text(relaid(log.read_text(), "clock", "last half"))
    assert answers(folder)["orders-0", 0, "committed-data-lost"][0] == "unknown"
