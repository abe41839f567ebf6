"""When leader epochs began: producer snapshots and batches against the logs of the same brokers."""

from __future__ import annotations

import shutil
import struct
from datetime import datetime
from pathlib import Path

import google_crc32c
import polars as pl
import pytest

from forensics.case import Case
from forensics.case.dates import EpochDate, chosen, epoch_dates
from forensics.engines import local
from parsers.schema import Kind
from tests.conftest import evidence_root

NONE = (-1, -1)


def snapshot(*producers: tuple[int, int, int, int]) -> bytes:
    """(last offset, time, coordinator epoch, first offset of the open transaction) of each."""
    body = struct.pack(">i", len(producers)) + b"".join(
        struct.pack(">qhiqiqiq", number, 0, 9, last, 4, time, coordinator, open_from)
        for number, (last, time, coordinator, open_from) in enumerate(producers)
    )
    return struct.pack(">hI", 1, google_crc32c.value(body)) + body


def replica(folder: Path, state: bytes, *epochs: tuple[int, int]) -> Case:
    """A broker's directory without segments."""
    place = folder / "broker-1" / "data" / "orders-0"
    place.mkdir(parents=True)
    (place.parent / "meta.properties").write_text("version=0\nbroker.id=1\n")
    entries = "".join(f"{epoch} {start}\n" for epoch, start in epochs)
    (place / "leader-epoch-checkpoint").write_text(f"0\n{len(epochs)}\n{entries}")
    (place / "00000000000000000100.snapshot").write_bytes(state)
    return local.take_in([str(folder)])


def dates(case: Case, broker: int = 1) -> tuple[EpochDate, ...]:
    return chosen(epoch_dates(case)["orders", 0, broker], None)


def test_a_snapshot_dates_the_epochs_of_its_last_batches(tmp_path: Path) -> None:
    state = snapshot((9, 1_000, *NONE), (19, 3_000, *NONE), (49, 7_000, *NONE))
    found = dates(replica(tmp_path, state, (0, 0), (2, 20), (3, 60)))
    assert found == (
        EpochDate(0, 0, None, 1_000, 3_000, True),
        EpochDate(2, 20, 3_000, 7_000, 7_000, True),
        EpochDate(3, 60, 7_000, None, None, False),
    )


def test_a_marker_dates_no_batch(tmp_path: Path) -> None:
    # the time of the second is that of the marker behind its batch, which may be of the next epoch
    state = snapshot((9, 1_000, *NONE), (19, 9_000, 5, -1), (15, 2_000, 5, 12), (-1, 4_000, *NONE))
    found = dates(replica(tmp_path, state, (0, 0), (1, 20)))
    assert found[0] == EpochDate(0, 0, None, 1_000, 2_000, True)
    assert found[1].not_before == 2_000


def test_each_producer_is_a_statement_and_damage_a_notice(tmp_path: Path) -> None:
    state = snapshot((9, 1_000, *NONE), (-1, 4_000, 3, -1))
    case = replica(tmp_path, state, (0, 0))
    rows = case.observations.filter(pl.col("kind") == Kind.PRODUCER_STATE.value)
    assert rows.select("broker", "topic", "partition", "offset", "leo", "byte").rows() == [
        (1, "orders", 0, 9, 100, 10),
        (1, "orders", 0, None, 100, 56),
    ]
    assert rows.get_column("detail")[0] == (
        "producer_id=0 producer_epoch=0 last_sequence=9 first_offset=5 timestamp=1000 coordinator_epoch=-1 "
        "transaction_offset=-1"
    )
    assert rows.get_column("time").null_count() == 2
    for number, (wrong, said) in enumerate(
        ((state[:-1] + b"\1", "bad CRC"), (b"\0\2" + state[2:], "version 1"), (b"", "zero bytes"))
    ):
        case = replica(tmp_path / f"wrong{number}", wrong, (0, 0))
        assert said in case.notices.get_column("reason").to_list()[0]
        assert case.observations.filter(pl.col("kind") == Kind.PRODUCER_STATE.value).is_empty()


@pytest.mark.parametrize("keep_segments", [True, False])
def test_dates_agree_with_the_logs_of_real_brokers(tmp_path: Path, keep_segments: bool) -> None:
    root = evidence_root()
    if root is None or not (root / "rolling-1.1.1").is_dir():
        pytest.skip("no recorded clusters here")
    shutil.copytree(root / "rolling-1.1.1", tmp_path / "case", copy_function=shutil.copyfile)
    if not keep_segments:
        for path in (tmp_path / "case").glob("broker-*/data/orders-0/*.log"):
            path.unlink()
    case = local.take_in([str(tmp_path / "case")])
    told = case.observations.filter(
        (pl.col("kind") == Kind.LEADER_AND_ISR.value) & (pl.col("topic") == "orders") & (pl.col("partition") == 0)
    )
    began = dict(told.group_by("leader_epoch").agg(pl.col("time").min()).iter_rows())
    for broker in (1, 2, 3):
        found = dates(case, broker)
        assert [date.epoch for date in found] == [0, 1, 2, 3, 4, 5]
        assert all(date.not_before is not None for date in found[1:])
        for date in found:
            moment: datetime = began[date.epoch]
            if date.not_before is not None:
                assert date.not_before <= moment.timestamp() * 1000
            # A record may be made before the epoch in which it is appended begins: epoch 1 has one.
            assert not (keep_segments and date.by_snapshot)
            assert keep_segments or date.by_snapshot == (date.first is not None)
