"""Two log directories of one broker: which it used last is decided for the directory, not for each partition in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.replay.facts.directory import Disk, Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from tests.incident import Incident

LOSS, STALE = "committed-data-lost", "stale-directory"
EARLY, LATE = "Tue Sep 23 16:03:21 IST 2025", "Tue Sep 23 16:26:36 IST 2025"


def two(
    tmp_path: Path, old: dict[str, int], new: dict[str, int], *, dates: tuple[str, str] = (EARLY, LATE), hw: int = 3
) -> Incident:
    """Broker 1 with the directories ``data`` and ``data2``: how many records each partition has in them."""
    incident = Incident(tmp_path, brokers=1)
    node = incident[1]
    for name, ends, date in (("data", old, dates[0]), ("data2", new, dates[1])):
        root = node.folder / name
        root.mkdir(exist_ok=True)
        (root / "meta.properties").write_text(f"#\n#{date}\nversion=0\nbroker.id=1\ncluster.id=test\n")
        for partition, end in ends.items():
            node.partition = partition
            node.segment([(0, end - 1, 0)] if end else [], directory=name)
    node.partition = incident.partition
    node.checkpoint(hw)
    return incident


def live(incident: Incident, partition: str = "orders-0") -> str:
    """The directory that is taken as live."""
    (found,) = (one.history for one in incident.scan().partitions if one.history.name == partition)
    return Path(found.facts.disks[1].directory or "").parent.name


def test_a_directory_that_was_first_used_later_is_live_as_a_whole(tmp_path: Path) -> None:
    """The longer log of one partition does not make another directory live."""
    incident = two(tmp_path, {"orders-0": 3, "pay-0": 0}, {"orders-0": 0, "pay-0": 4})
    assert (live(incident), live(incident, "pay-0")) == ("data2", "data2")
    (stale,) = incident.findings(STALE)
    assert "meta.properties was written last" in stale.inferences[0]
    (lost,) = incident.findings(LOSS)
    assert (lost.confidence, lost.offsets) == ("suspected", ((0, 3),))


@pytest.mark.parametrize(
    ("new", "dates"),
    [
        ({"orders-0": 0, "pay-0": 0}, (EARLY, LATE)),  # started on an empty directory by mistake
        ({"orders-0": 0, "pay-0": 4}, (LATE, LATE)),  # a copy has the same date
        ({"orders-0": 0, "pay-0": 4}, (EARLY, LATE.replace("IST", "UTC"))),  # of another zone
        ({"orders-0": 0, "pay-0": 4}, ("", LATE)),
    ],
)
def test_where_nothing_tells_it_of_the_directory_each_partition_decides(
    new: dict[str, int], dates: tuple[str, str], tmp_path: Path
) -> None:
    incident = two(tmp_path, {"orders-0": 3, "pay-0": 1}, new, dates=dates)
    assert live(incident) == "data"
    assert incident.findings(LOSS) == []


def test_what_the_broker_printed_as_log_dirs_last_is_live(tmp_path: Path) -> None:
    incident = two(tmp_path, {"orders-0": 3}, {"orders-0": 0}, dates=(LATE, EARLY))
    text = "INFO KafkaConfig values: \n\tbroker.id = 1\n\tlog.dirs = /srv/{}\n (kafka.server.KafkaConfig)"
    for at, name in ((1, "data"), (50, "data2")):
        incident[1].says(at, text.format(name))
    assert live(incident) == "data2"
    (stale,) = incident.findings(STALE)
    assert "that the broker logged last as log.dirs" in stale.inferences[0]


def test_where_the_broker_used_both_that_tells_nothing(tmp_path: Path) -> None:
    incident = two(tmp_path, {"orders-0": 3}, {"orders-0": 0}, dates=(EARLY, EARLY))
    incident[1].says(
        1, "INFO KafkaConfig values: \n\tbroker.id = 1\n\tlog.dirs = /srv/data,/srv/data2\n (kafka.server.KafkaConfig)"
    )
    assert live(incident) == "data"


def test_what_is_on_another_replica_is_not_lost(tmp_path: Path) -> None:
    incident = Incident(tmp_path, brokers=2)
    incident[2].segment([(0, 2, 0)])
    one = two(tmp_path / "more", {"orders-0": 3, "pay-0": 0}, {"orders-0": 0, "pay-0": 4})
    (one.folder / "broker-2").mkdir(exist_ok=True)
    incident[2].folder.joinpath("data").rename(one.folder / "broker-2" / "data")
    assert [found for found in one.findings(LOSS) if found.confidence == "suspected"] == []


def stale(incident: Incident) -> list[tuple[str, str]]:
    """The findings of the rule, by partition, and its verdict for each partition."""
    partitions = incident.scan().partitions
    return sorted(
        (one.history.name, f"{one.judgements[STALE].verdict}, {len(one.judgements[STALE].findings)}")
        for one in partitions
    )


def test_a_log_directory_left_behind_is_one_finding(tmp_path: Path) -> None:
    incident = two(tmp_path, {"orders-0": 3, "pay-0": 0, "__own-0": 0}, {"orders-0": 0, "pay-0": 4, "__own-0": 1})
    assert stale(incident) == [("__own-0", "violated, 0"), ("orders-0", "violated, 1"), ("pay-0", "violated, 0")]
    (finding,) = incident.findings(STALE)
    assert "log directories with orders-0 and 2 more partitions" in finding.summary
    assert finding.do_not[0].startswith(f"wipe {incident[1].folder / 'data'} before")


def test_directories_that_are_decided_one_by_one_are_a_finding_each(tmp_path: Path) -> None:
    incident = two(tmp_path, {"orders-0": 3, "pay-0": 0}, {"orders-0": 0, "pay-0": 4}, dates=(LATE, LATE))
    assert stale(incident) == [("orders-0", "violated, 1"), ("pay-0", "violated, 1")]


def test_a_checkpoint_alone_shows_no_directory(tmp_path: Path) -> None:
    """The checkpoint names a partition whose directory nobody collected."""
    incident = Incident(tmp_path, brokers=1)
    incident[1].checkpoint(3)
    assert incident.verdict(STALE) == "unknown"
    assert incident.missing(STALE) == ["broker 1's data directory of orders-0 (segments and checkpoints)"]


def test_any_file_of_a_replica_shows_it() -> None:
    line = Ref(row=1)
    files = (
        Disk(directory="broker-1/data/orders-0"),
        Disk(checkpoint=(0, line)),
        Disk(recovery_point=(0, line)),
        Disk(entries=((0, 0, line),)),
    )
    for disk in files:
        history = History(PartitionFacts("orders", 0, disks={1: disk, 2: Disk()}))
        assert history.members == {1}
