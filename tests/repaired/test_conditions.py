"""What must hold before producers go back: each condition on recorded copies, as they are and with a change."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics import scan
from forensics.repaired.conditions import CONDITIONS, Answer, Known, Met

Change = Callable[[Path], None]


NOTHING_KNOWN = Known()


def answers(folder: Path, known: Known = NOTHING_KNOWN) -> dict[str, Answer]:
    (partition,) = scan(folder).result.partitions
    asked = ((one.id, one.ask(partition.history, known)) for one in CONDITIONS)
    return {name: answer for name, answer in asked if answer is not None}


def segment(broker: int) -> str:
    return f"broker-{broker}/data/orders-0/00000000000000000000.log"


def nothing(_folder: Path) -> None:
    pass


def without_broker_3(folder: Path) -> None:
    shutil.rmtree(folder / "broker-3" / "data")


def without_data(folder: Path) -> None:
    for broker in (1, 2, 3):
        shutil.rmtree(folder / f"broker-{broker}" / "data")


def without_checkpoints(folder: Path) -> None:
    for file in folder.glob("*/data/replication-offset-checkpoint"):
        file.unlink()


def one_bit(folder: Path) -> None:
    file = folder / segment(2)
    content = bytearray(file.read_bytes())
    content[100] ^= 1  # within the records of the first batch
    file.write_bytes(content)


def first_batches_gone(folder: Path) -> None:
    """Batches of the middle are taken out of the file."""
    file = folder / segment(2)
    content = file.read_bytes()
    starts = boundaries(content)
    file.write_bytes(content[: starts[2]] + content[starts[4] :])


def shorter(folder: Path) -> None:
    file = folder / segment(3)
    content = file.read_bytes()
    file.write_bytes(content[: boundaries(content)[-1]])


def shorter_leader(folder: Path) -> None:
    file = folder / segment(2)
    content = file.read_bytes()
    file.write_bytes(content[: boundaries(content)[-1]])


def shorter_without_checkpoints(folder: Path) -> None:
    shorter(folder)
    without_checkpoints(folder)


def epoch_left_out(folder: Path) -> None:
    file = folder / "broker-3/data/orders-0/leader-epoch-checkpoint"
    version, count, *entries = file.read_text().splitlines()
    file.write_text("\n".join([version, str(int(count) - 1), entries[0], *entries[2:], ""]))


def epoch_file_gone(folder: Path) -> None:
    (folder / "broker-3/data/orders-0/leader-epoch-checkpoint").unlink()


def second_directory(folder: Path) -> None:
    shutil.copytree(folder / "broker-2/data", folder / "broker-2/data2")
    shorter_copy = folder / "broker-2/data2/orders-0/00000000000000000000.log"
    shorter_copy.write_bytes(shorter_copy.read_bytes()[: boundaries(shorter_copy.read_bytes())[3]])


def boundaries(content: bytes) -> list[int]:
    """Where each batch begins."""
    found, place = [], 0
    while place + 12 <= len(content):
        found.append(place)
        place += 12 + int.from_bytes(content[place + 8 : place + 12])
    return found


RETURNED, FORKED, TRACE = "unclean-3.9.1", "kip101-2.8.2-ibp0.10.2", "written/healthy"

CASES: tuple[tuple[str, Change, str, Met, str], ...] = (
    (RETURNED, nothing, "nothing-new", Met.YES, ""),
    (RETURNED, nothing, "every-copy", Met.YES, "brokers 1, 2 and 3"),
    (RETURNED, without_broker_3, "every-copy", Met.UNKNOWN, "the copy of broker 3 is not in the evidence"),
    (RETURNED, without_data, "every-copy", Met.UNKNOWN, "no copy of the partition"),
    (RETURNED, nothing, "same-records", Met.YES, "offsets 0 to 44 in all 3 copies"),
    (RETURNED, without_broker_3, "same-records", Met.YES, "offsets 0 to 44 in both copies"),
    (RETURNED, without_checkpoints, "same-records", Met.YES, "offsets 0 to 44 in all 3 copies"),
    (RETURNED, shorter, "same-records", Met.UNKNOWN, "the log ends at 44 on broker 3, below the high watermark 45"),
    (RETURNED, shorter_without_checkpoints, "same-records", Met.UNKNOWN, "no copy has a high watermark"),
    (RETURNED, one_bit, "same-records", Met.UNKNOWN, "missing or damaged within the log of broker 2"),
    (RETURNED, first_batches_gone, "same-records", Met.UNKNOWN, "missing or damaged within the log of broker 2"),
    (FORKED, nothing, "same-records", Met.NO, "hold different records at offsets 30 to 47, below the high watermark"),
    (RETURNED, nothing, "continuous-epochs", Met.YES, "up to leader epoch"),
    (RETURNED, epoch_left_out, "continuous-epochs", Met.NO, "broker 3: leader-epoch-checkpoint lacks leader epoch"),
    (RETURNED, epoch_file_gone, "continuous-epochs", Met.YES, "up to leader epoch"),
    (FORKED, nothing, "continuous-epochs", Met.NOT_APPLICABLE, "message format is before v2"),
    ("written/kip-101", nothing, "continuous-epochs", Met.NO, "leader epoch 2 starts at offset 1 on broker 1 and at 2"),
    (RETURNED, nothing, "nothing-alone", Met.YES, ""),
    (RETURNED, shorter, "nothing-alone", Met.YES, ""),
    (RETURNED, shorter_leader, "nothing-alone", Met.UNKNOWN, "it was copied later, or is ahead"),
    (FORKED, nothing, "nothing-alone", Met.NO, "broker 1 has records at offsets 30 to 47 that broker 3, the leader,"),
    (RETURNED, nothing, "sound-segments", Met.YES, ""),
    (RETURNED, one_bit, "sound-segments", Met.NO, "broker 2: bad CRC"),
    (RETURNED, first_batches_gone, "sound-segments", Met.NO, "broker 2: records missing within a segment"),
    (TRACE, nothing, "sound-segments", Met.NOT_APPLICABLE, "a trace has no segments"),
    (RETURNED, nothing, "one-directory", Met.YES, ""),
    (RETURNED, second_directory, "one-directory", Met.NO, "broker 2 has another directory of the partition"),
    (TRACE, nothing, "one-directory", Met.NOT_APPLICABLE, "a trace has no directories"),
    (TRACE, nothing, "same-records", Met.YES, "in both copies"),
)


@pytest.mark.parametrize(("name", "change"), list(dict.fromkeys(case[:2] for case in CASES)))
def test_each_condition(name: str, change: Change, sample_traces: Path, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(sample_traces / name, folder)
    change(folder)
    found = answers(folder)
    for _, _, condition, met, text in (case for case in CASES if case[:2] == (name, change)):
        answer = found[condition]
        assert (answer.met, text in answer.text) == (met, True), (condition, answer)
        assert answer.refs or met is not Met.NO or name.startswith("written/"), condition


def test_each_condition_is_seen_to_hold_and_not_to_hold() -> None:
    seen = {(condition, met is Met.YES) for _, _, condition, met, _ in CASES}
    asked = {one.id for one in CONDITIONS} - {"nothing-new", "new-copies"}  # which test_since.py asks
    assert seen >= {(one, holds) for one in asked for holds in (True, False)}


def test_without_a_copy_only_its_absence_is_told(sample_traces: Path, tmp_path: Path) -> None:
    shutil.copytree(sample_traces / RETURNED, tmp_path / "case")
    without_data(tmp_path / "case")
    assert list(answers(tmp_path / "case")) == ["nothing-new", "every-copy"]


def test_a_replica_that_the_earlier_scan_names_must_be_there(sample_traces: Path) -> None:
    answer = answers(sample_traces / RETURNED, Known(replicas=frozenset((1, 2, 7))))["every-copy"]
    assert (answer.met, "the copy of broker 7 is not" in answer.text) == (Met.UNKNOWN, True)


def test_the_page_lists_the_conditions_in_their_order(repository: Path) -> None:
    page = (repository / "docs" / "after-repair.md").read_text("utf-8")
    rows = [f"| `{one.id}` | {one.text} |" for one in CONDITIONS]
    assert "\n".join(rows) in page
