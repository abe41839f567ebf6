"""The metadata log of real controllers, checked against what brokers printed; and logs that are cut or damaged."""

from __future__ import annotations

import re
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.metadata_log import MetadataScan, MetadataState, read_metadata_log, read_metadata_snapshot
from parsers.schema import NOTICES, OBSERVATIONS
from tests.parsers.formats.building import (
    DATA,
    TOPIC_ID_TEXT,
    batch,
    boundaries,
    change_record,
    metadata,
    partition_record,
    text,
    topic_record,
)

UNCLEAN = (DATA / "metadata-unclean.log").read_bytes()
TRAPS = (DATA / "metadata-traps.log").read_bytes()
BOOTSTRAP = (DATA / "bootstrap.checkpoint").read_bytes()
EPOCHS = ("kind", "partition", "leader", "leader_epoch", "partition_epoch", "isr", "isr_before", "detail")


def log(*values: bytes, first: int = 0) -> bytes:
    """A metadata log with one record a batch."""
    return b"".join(batch(first + number, [value], epoch=1) for number, value in enumerate(values))


def rows(scan: MetadataScan, *columns: str) -> list[tuple[Any, ...]]:
    return scan.observations.select(columns or EPOCHS).rows()


def partitions(scan: MetadataScan, topic: str) -> pl.DataFrame:
    return scan.observations.filter((pl.col("topic") == topic) & pl.col("partition").is_not_null())


# -- real logs ---------------------------------------------------------------------------------------------------------


def test_first_row() -> None:
    scan = read_metadata_log(UNCLEAN, base_offset=0)
    assert scan.observations.schema == pl.Schema(OBSERVATIONS)
    assert scan.notices.schema == pl.Schema(NOTICES)
    first = scan.observations.row(0, named=True)
    assert {name: value for name, value in first.items() if value is not None} == {
        "replica": 100,
        "kind": "controller_active",
        "message": "metadata-log",
        "time": datetime(2026, 11, 21, 4, 11, 6, 256000),  # noqa: DTZ001
        "detail": "1",
        "byte": 0,
    }
    created = scan.observations.filter(kind="partition_created").row(0, named=True)
    assert {name: value for name, value in created.items() if value is not None} == {
        "topic": "orders",
        "partition": 0,
        "topic_id": "jr7ToJr8QGqdwL9PS_3LOg",
        "kind": "partition_created",
        "message": "metadata-log",
        "time": datetime(2026, 11, 21, 4, 11, 13, 768000),  # noqa: DTZ001
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "isr": "1,2,3",
        "detail": "replicas=1,2,3",
        "byte": created["byte"],
    }
    assert created["byte"] in boundaries(UNCLEAN)


def test_an_unclean_election() -> None:
    """The controller logged it: isr: [1] -> [2], leader: -1 -> 2, leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4."""
    scan = read_metadata_log(UNCLEAN, base_offset=0)
    assert partitions(scan, "orders").select(EPOCHS).rows() == [
        ("partition_created", 0, 1, 0, 0, "1,2,3", None, "replicas=1,2,3"),
        ("partition_changed", 0, None, 0, 1, "1,3", "1,2,3", None),
        ("partition_changed", 0, None, 0, 2, "1", "1,3", None),
        ("partition_changed", 0, -1, 1, 3, None, "1", None),
        ("partition_changed", 0, 2, 2, 4, "2", "1", "recovering"),
        ("unclean_election", 0, 2, 2, 4, "2", "1", "recovering"),
        ("partition_changed", 0, None, 2, 5, "2,1", "2", "recovered"),
        ("partition_changed", 0, None, 2, 6, "2,1,3", "2,1", None),
    ]
    assert scan.observations.filter(kind="unclean_election")["previous_epoch"].to_list() == [1]
    assert scan.observations.filter(kind="topic_config").select("topic", "detail").rows() == [
        ("orders", "min.insync.replicas=1"),
        ("orders", "unclean.leader.election.enable=true"),
    ]
    registered = scan.observations.filter(kind="broker_registered").select("replica", "offset")
    fenced = scan.observations.filter(kind="broker_fenced").select("replica", "offset")
    assert registered.rows()[:3] == [(1, 11), (2, 15), (3, 17)]
    assert fenced.rows() == [(2, 15), (3, 17), (1, 11)]
    assert scan.state.features == {"metadata.version": 21}


def test_legal_changes_are_not_unclean() -> None:
    """Re-creation, a reassignment that ends with a leader from outside the old ISR, a preferred election."""
    scan = read_metadata_log(TRAPS, base_offset=0)
    assert scan.notices.is_empty()
    assert scan.observations.filter(kind="unclean_election").is_empty()
    moved = partitions(scan, "moved").select("leader", "leader_epoch", "partition_epoch", "isr", "isr_before", "detail")
    assert moved.rows() == [
        (1, 0, 0, "1,2", None, "replicas=1,2"),
        (None, 0, 1, None, "1,2", "replicas=3,2,1 removing=1 adding=3"),
        (3, 1, 2, "2,3", "1,2", "replicas=3,2 removing= adding="),
    ]
    orders = partitions(scan, "orders").filter(kind="partition_created")
    (removed,) = scan.observations.filter(kind="topic_removed")["topic_id"]
    assert removed == orders["topic_id"][0] != orders["topic_id"][1]
    assert orders["leader_epoch"].to_list() == [0, 0]


def printed_states(case: Path) -> set[tuple[str, int, int, int, int, str]]:
    """Topic, partition, leader, both epochs and ISR of each partition state that a broker logged."""
    pattern = re.compile(
        r"LeaderAndIsrPartitionState\(topicName='([^']+)', partitionIndex=(\d+), controllerEpoch=-1, leader=(-?\d+), "
        r"leaderEpoch=(\d+), isr=\[([\d, ]*)\], partitionEpoch=(\d+)"
    )
    found = set()
    for path in case.glob("broker-*/logs/*.log"):
        for topic, partition, leader, epoch, isr, version in pattern.findall(path.read_text(errors="replace")):
            found.add((topic, int(partition), int(leader), int(epoch), int(version), isr.replace(" ", "")))
    return found


def test_every_recorded_log_says_what_brokers_printed(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/__cluster_metadata-0/*.log"))
    if not paths:
        pytest.skip("no metadata log in this version")
    for path in paths:
        scan = read_metadata_log(path.read_bytes(), base_offset=int(path.stem))
        assert scan.notices.is_empty(), path
        assert scan.state.next_offset == scan.segment.log_end_offset
        assert scan.state.pending is None
    # The controller's log is the fullest. Changes carried forward give the state after each.
    (controller,) = evidence_case.glob("broker-100/data/__cluster_metadata-0/*.log")
    scan = read_metadata_log(controller.read_bytes(), base_offset=0)
    derived = (
        scan.observations.filter(pl.col("partition").is_not_null())
        .with_columns(pl.col("leader", "isr").forward_fill().over("topic_id", "partition"))
        .select("topic", "partition", "leader", "leader_epoch", "partition_epoch", "isr")
    )
    printed = printed_states(evidence_case)
    assert printed or derived.filter(pl.col("partition_epoch") > 0).is_empty()
    assert printed <= set(derived.rows())


def test_bootstrap_snapshot() -> None:
    scan = read_metadata_snapshot(BOOTSTRAP, end_offset=0)
    assert scan.notices.is_empty()
    assert scan.observations.is_empty()
    assert scan.state.features == {"metadata.version": 21}
    assert scan.state.next_offset == 0


# -- several files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("overlap", [0, 5])
def test_segments_one_after_another_say_what_one_says(overlap: int) -> None:
    whole = read_metadata_log(TRAPS, base_offset=0)
    offsets = whole.segment.batches["base_offset"].to_list()
    places = boundaries(TRAPS)
    for index in (1, 7, 40, 90):
        first = read_metadata_log(TRAPS[: places[index]], base_offset=0)
        begin = max(index - overlap, 0)
        second = read_metadata_log(TRAPS[places[begin] :], base_offset=offsets[begin], state=first.state)
        both = pl.concat([first.observations, second.observations]).drop("byte")
        # A transaction that spans the two files is reported as open by the first.
        assert second.notices.is_empty()
        assert both.equals(whole.observations.drop("byte")), index
        assert second.state == whole.state


def test_a_state_is_not_changed_by_reading_on() -> None:
    first = read_metadata_log(log(topic_record("t"), partition_record(0, (1, 2), 1, 0, 0)))
    copy = first.state.copy()
    read_metadata_log(log(change_record(0, leader=2), first=2), state=first.state)
    assert first.state == copy


def test_a_snapshot_is_a_base() -> None:
    header = batch(0, [b"\0" * 12], key=struct.pack(">hh", 0, 3), attributes=0x20)
    footer = batch(3, [b"\0" * 3], key=struct.pack(">hh", 0, 4), attributes=0x20)
    state = batch(1, [topic_record("t"), partition_record(0, (1, 2), 1, 7, 30)])
    snapshot = read_metadata_snapshot(header + state + footer, end_offset=500)
    assert snapshot.notices.is_empty()
    assert rows(snapshot, "kind", "message", "leader_epoch", "partition_epoch") == [
        ("partition_created", "metadata-snapshot", 7, 30)
    ]
    after = read_metadata_log(log(change_record(0, leader=2), first=500), base_offset=500, state=snapshot.state)
    assert after.notices.is_empty()
    assert rows(after, "topic", "leader_epoch", "partition_epoch", "isr_before") == [("t", 8, 31, "1,2")]

    cut = read_metadata_snapshot(header + state, end_offset=500)
    assert "no footer" in cut.notices["reason"][0]
    assert cut.state.partitions == {}


def test_without_a_base_epochs_are_not_guessed() -> None:
    scan = read_metadata_log(log(change_record(0, leader=2, isr=(2, 3)), first=50), base_offset=50)
    assert rows(scan) == [("partition_changed", 0, 2, None, None, "2,3", None, None)]
    assert scan.notices["reason"].to_list() == [
        "records 0 to 49 are missing: epochs are not derived until the next full record of a partition"
    ]


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_damaged_batch_breaks_the_derivation() -> None:
    base = log(topic_record("t"), partition_record(0, (1, 2), 1, 0, 0))
    lost = bytearray(log(change_record(0, leader=2), first=2))
    lost[-1] ^= 1
    after = log(change_record(0, leader=1), partition_record(0, (1,), 1, 4, 9), change_record(0, isr=(1, 2)), first=3)
    scan = read_metadata_log(base + lost + after)
    assert rows(scan, "kind", "leader_epoch", "partition_epoch") == [
        ("partition_created", 0, 0),
        ("partition_changed", None, None),
        ("partition_created", 4, 9),
        ("partition_changed", 4, 10),
    ]
    assert [reason.split(":")[0] for reason in scan.notices["reason"]] == ["bad CRC", "records 2 to 2 are missing"]


def test_records_that_cannot_be_read() -> None:
    base = (topic_record("t"), partition_record(0, (1, 2), 1, 0, 0))
    scan = read_metadata_log(log(*base, metadata(99), change_record(0, isr=(1,))))
    assert scan.notices["reason"].to_list() == ["record 2: record type 99 is unknown"]
    assert rows(scan, "leader_epoch", "partition_epoch") == [(0, 0), (0, 1)]
    # A change of an unknown version is one change more than was counted.
    newer = bytearray(change_record(0, leader=2))
    newer[2] = 9
    scan = read_metadata_log(log(*base, bytes(newer), change_record(0, isr=(1,))))
    assert "version 9 is unknown" in scan.notices["reason"][0]
    assert rows(scan, "leader_epoch", "partition_epoch") == [(0, 0), (None, None)]
    scan = read_metadata_log(log(*base, metadata(20, tags={4: b"x"})))
    assert scan.notices["reason"].to_list() == ["record 2: NoOpRecord has an unknown field, tag 4"]


def test_a_bomb_is_refused() -> None:
    import gzip

    bomb = batch(2, [b""], body=gzip.compress(bytes(1_000_000)), attributes=1)
    data = log(topic_record("t"), partition_record(0, (1, 2), 1, 0, 0)) + bomb
    scan = read_metadata_log(data + log(change_record(0, isr=(1,)), first=3), limit=100_000)
    assert "more than 100,000 bytes" in scan.notices["reason"][0]
    assert rows(scan, "partition_epoch")[-1] == (None,)


@pytest.mark.parametrize("name", ["v2-none.log", "v1-none.log", "v2-keyed.log"])
def test_logs_of_other_topics_are_refused(name: str) -> None:
    with pytest.raises(NotThisFormat):
        read_metadata_log((DATA / name).read_bytes(), base_offset=0)


@pytest.mark.parametrize("data", [b"0\n1\norders 0 1\n", b"[2024-03-01 10:22:41,107] INFO nothing here\n"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_metadata_log(data)


def test_a_snapshot_cut_at_every_byte() -> None:
    for cut in range(len(BOOTSTRAP)):
        scan = read_metadata_snapshot(BOOTSTRAP[:cut], end_offset=0)
        assert not scan.notices.is_empty(), cut


@given(st.integers(0, len(UNCLEAN)))
def test_cut_anywhere(cut: int) -> None:
    scan = read_metadata_log(UNCLEAN[:cut], base_offset=0)
    whole = read_metadata_log(UNCLEAN, base_offset=0).observations
    assert scan.observations.equals(whole.head(len(scan.observations)))
    open_transaction = scan.state.pending is not None
    assert scan.notices.is_empty() == (cut in boundaries(UNCLEAN) and not (open_transaction and scan.state.pending))


@given(st.integers(0, len(UNCLEAN) - 1), st.binary(min_size=1, max_size=30))
def test_overwritten_bytes_never_stop_the_reader(place: int, garbage: bytes) -> None:
    damaged = UNCLEAN[:place] + garbage + UNCLEAN[place + len(garbage) :]
    try:
        scan = read_metadata_log(damaged, base_offset=0)
    except NotThisFormat:
        assert place < 400
        return
    if scan.notices.is_empty():
        # Then only what no checksum covers was changed: offsets and controller epochs.
        intact = read_metadata_log(UNCLEAN, base_offset=0).observations
        other = pl.col("kind") != "controller_active"
        assert scan.observations.filter(other).equals(intact.filter(other))


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_values(values: list[bytes]) -> None:
    data = log(metadata(20), *(b"\1" + value for value in values))
    scan = read_metadata_log(data)
    assert scan.state.next_offset == len(values) + 1


# -- rules of the protocol ---------------------------------------------------------------------------------------------

BASE = (topic_record("t"), partition_record(0, (1, 2), 1, 5, 20, elr=(3,)))


def elections(*values: bytes) -> list[tuple[int, int]]:
    scan = read_metadata_log(log(*BASE, *values))
    assert scan.notices.is_empty()
    return scan.observations.filter(kind="unclean_election").select("leader", "leader_epoch").rows()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([change_record(0, leader=2, isr=(2,))], []),  # from the ISR
        ([change_record(0, leader=3, isr=(3,))], []),  # from the eligible leader replicas (KIP-966)
        ([change_record(0, elr=()), change_record(0, leader=3, isr=(3,))], [(3, 6)]),
        ([metadata(28, text("t")), change_record(0, leader=3, isr=(3,))], [(3, 6)]),  # eligibility was cleared
        ([metadata(28, text("")), change_record(0, leader=3, isr=(3,))], [(3, 6)]),
        ([metadata(28, text("other")), change_record(0, leader=3, isr=(3,))], []),
        ([change_record(0, leader=-1)], []),  # no leader is no election
        ([change_record(0, isr=(1,)), change_record(0, leader=2, isr=(2,), recovery=1)], [(2, 6)]),
        ([change_record(0, leader=4, isr=(4,), replicas=(4,))], []),  # the end of a reassignment
        ([change_record(0, leader=4, isr=(4,), replicas=(4,), recovery=1)], [(4, 6)]),
        ([change_record(1, leader=4, isr=(4,))], []),  # nothing is known of this partition
    ],
)
def test_unclean_elections(values: list[bytes], expected: list[tuple[int, int]]) -> None:
    assert elections(*values) == expected


def test_the_same_leader_again_is_a_new_epoch() -> None:
    scan = read_metadata_log(log(*BASE, change_record(0, leader=1), change_record(0, leader=-2), change_record(0)))
    assert rows(scan, "leader", "leader_epoch", "previous_epoch", "partition_epoch") == [
        (1, 5, None, 20),
        (1, 6, 5, 21),
        (None, 6, None, 22),
        (None, 6, None, 23),
    ]


def test_epochs_wrap_as_in_java() -> None:
    top = 2**31 - 1
    data = log(topic_record("t"), partition_record(0, (1,), 1, top, top), change_record(0, leader=1))
    assert rows(read_metadata_log(data), "leader_epoch", "partition_epoch")[-1] == (-(2**31), -(2**31))


def test_metadata_transactions() -> None:
    """KIP-868: records count when the transaction ends, and not at all when it is aborted."""
    begin, end, abort = metadata(23), metadata(24), metadata(25)
    change = change_record(0, isr=(1,))
    assert len(rows(read_metadata_log(log(*BASE, begin, change, end)))) == 2
    assert len(rows(read_metadata_log(log(*BASE, begin, change, abort)))) == 1

    first = read_metadata_log(log(*BASE, begin, change))
    assert len(rows(first)) == 1
    assert "transaction is open at the end: 1 records" in first.notices["reason"][0]
    second = read_metadata_log(log(end, change, first=4), state=first.state)
    assert rows(second, "kind", "partition_epoch", "byte") == [
        ("partition_changed", 21, None),
        ("partition_changed", 22, len(log(end, first=4))),
    ]


def test_settings() -> None:
    def setting(resource: int, name: str, key: str, value: str | None) -> bytes:
        return metadata(4, bytes([resource]) + text(name) + text(key) + text(value))

    scan = read_metadata_log(
        log(
            setting(2, "t", "min.insync.replicas", "2"),
            setting(2, "t", "min.insync.replicas", None),
            setting(4, "", "unclean.leader.election.enable", "true"),
            setting(4, "3", "log.cleaner.threads", "2"),
            setting(4, "3", "listener.name.x.ssl.keystore.password", "hunter2"),
            setting(16, "clients", "interval.ms", "2"),
        )
    )
    assert rows(scan, "kind", "topic", "replica", "detail") == [
        ("topic_config", "t", None, "min.insync.replicas=2"),
        ("topic_config", "t", None, "min.insync.replicas"),
        ("cluster_config", None, None, "unclean.leader.election.enable=true"),
        ("broker_config", None, 3, "log.cleaner.threads=2"),
        ("broker_config", None, 3, "listener.name.x.ssl.keystore.password=(hidden)"),
    ]


ALLOWS = "unclean.leader.election.enable"


ELIGIBLE = metadata(12, text("eligible.leader.replicas.version") + b"\0\1")


def setting_record(resource: int, name: str, value: str | None) -> bytes:
    return metadata(4, bytes([resource]) + text(name) + text(ALLOWS) + text(value))


@pytest.mark.parametrize(
    ("settings", "forced"),
    [
        ((), True),
        ((setting_record(2, "t", "false"),), True),
        ((setting_record(2, "other", "true"),), True),
        ((setting_record(2, "t", "true"), setting_record(2, "t", None)), True),
        ((setting_record(4, "", "true"), setting_record(2, "t", "false")), True),
        ((setting_record(2, "t", "true"),), False),
        ((setting_record(4, "", "TRUE"),), False),
        ((setting_record(4, "100", "true"),), False),
        ((setting_record(4, "", "true"), setting_record(4, "3", "false")), False),
        ((b"\1\4\0\1",), False),  # a setting that cannot be read
        ((ELIGIBLE,), True),
        ((ELIGIBLE, change_record(0, isr=(), leader=-1, last_known=(1,))), True),  # another was the last in the ISR
    ],
)
def test_an_unclean_election_that_no_setting_allowed(settings: tuple[bytes, ...], forced: bool) -> None:
    begun = topic_record("t"), partition_record(0, (1,), 1, 0, 0)
    data = log(*begun, *settings, change_record(0, isr=(2,), leader=2, recovery=1))
    scan = read_metadata_log(data, state=MetadataState(controller=100))
    (said,) = scan.observations.filter(kind="unclean_election").get_column("detail").to_list()
    assert said == ("recovering allowed-by-no-setting-of=100" if forced else "recovering")


def test_the_last_one_in_the_isr_may_be_elected_without_any_setting() -> None:
    """With eligible leader replicas (KIP-966); before them it has to be allowed."""
    begun = topic_record("t"), partition_record(0, (1, 2), 1, 0, 0)
    emptied = change_record(0, isr=(), leader=-1, last_known=(2,))
    elected = change_record(0, isr=(2,), leader=2, recovery=1, last_known=())
    for features, said in (((ELIGIBLE,), "lastKnownElr=[2]"), ((), "allowed-by-no-setting-of=100")):
        scan = read_metadata_log(log(*begun, *features, emptied, elected), state=MetadataState(controller=100))
        (detail,) = scan.observations.filter(kind="unclean_election").get_column("detail").to_list()
        assert said in detail


def test_settings_of_before_a_log_begins_or_that_are_missing_may_allow_an_election() -> None:
    begun = topic_record("t"), partition_record(0, (1,), 1, 0, 0)
    change = change_record(0, isr=(2,), leader=2, recovery=1)
    known = MetadataState(controller=100)
    hole = log(topic_record("t")) + log(begun[1], change, first=2)
    for data, state in (
        (log(*begun, change, first=7), MetadataState(7, controller=100)),
        (log(*begun, change, first=7), known),
        (hole, known),
        (log(*begun, change), MetadataState()),
    ):
        (said,) = read_metadata_log(data, state=state).observations.filter(kind="unclean_election")["detail"].to_list()
        assert said == "recovering"


def test_brokers_come_and_go() -> None:
    broker = struct.pack(">iq", 3, 111)
    scan = read_metadata_log(
        log(
            metadata(7, broker),
            metadata(8, broker),
            metadata(17, broker, version=1, tags={0: b"\1", 1: b"\1"}),
            metadata(17, broker, version=1, tags={0: b"\xff"}),
            metadata(17, broker, version=1, tags={1: b"\1"}),
            metadata(1, broker),
        )
    )
    assert rows(scan, "kind", "replica", "offset", "detail") == [
        ("broker_fenced", 3, 111, None),
        ("broker_unfenced", 3, 111, None),
        ("broker_fenced", 3, 111, "in-controlled-shutdown"),
        ("broker_unfenced", 3, 111, None),
        ("broker_fenced", 3, 111, "unregistered"),
    ]


def test_a_removed_topic_is_forgotten() -> None:
    scan = read_metadata_log(log(*BASE, metadata(9, bytes(range(16))), change_record(0, leader=2)))
    assert rows(scan, "kind", "topic", "topic_id", "detail")[1:] == [
        ("topic_removed", None, TOPIC_ID_TEXT, "t"),
        ("partition_changed", None, TOPIC_ID_TEXT, None),
    ]
    assert scan.state == MetadataState(next_offset=4, allowing={})


def test_times_that_are_none() -> None:
    data = b"".join(batch(n, [one], time=time) for n, (one, time) in enumerate(zip(BASE, (0, -1), strict=True)))
    assert rows(read_metadata_log(data), "time") == [(None,)]
    data = b"".join(batch(n, [one], time=2**62) for n, one in enumerate(BASE))
    assert rows(read_metadata_log(data), "time") == [(None,)]
