"""Clusters that were upgraded, broker by broker, within the evidence; each healthy but for tails of acks=1.

``upgrade-0.10.2.2``: to 1.1.1 and 2.3.1, protocol and message format raised in between, so that leaders gave followers
v1 messages of what they held as v2; ``upgrade-0.11.0.3``: to 2.4.1 and 2.8.2, the controller at times a replica itself;
``freeze-2.3.1``: no upgrade, brokers frozen beyond session and lag, two of a pair at once.
"""

from __future__ import annotations

import zlib
from pathlib import Path

import polars as pl
import pytest

from forensics.case.skew import skew
from forensics.engines.local import scan, take_in
from tests.cases.test_recorded import unpacked
from tests.covering import missing_within
from tests.incident import Incident

CASES = ("upgrade-0.10.2.2", "upgrade-0.11.0.3", "freeze-2.3.1")


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_alarming_and_no_line_is_missing(name: str, tmp_path: Path) -> None:
    result = scan([str(unpacked(name, tmp_path))])
    assert {f.rule for f in result.findings if f.severity in ("error", "critical")} == set()
    assert "evidence-gap" not in {finding.rule for finding in result.findings}
    for partition in result.partitions:
        assert not missing_within(partition.history)
        assert not partition.history.epoch_rollbacks


def test_what_a_leader_converted_is_no_other_record(tmp_path: Path) -> None:
    """Broker 2 of ``upgrade-0.10.2.2`` has [420, 508) of orders-1 as single v1 messages, the others as v2 batches."""
    result = scan([str(unpacked("upgrade-0.10.2.2", tmp_path))])
    (partition,) = (one for one in result.partitions if one.history.name == "orders-1")
    batches = result.case.batches.filter(topic="orders", partition=1).filter(pl.col("base_offset").is_between(420, 507))
    assert set(batches.select("broker", "magic").unique().iter_rows()) == {(1, 2), (2, 1), (3, 2)}
    assert partition.history.facts.forks == ()
    assert partition.judgements["replica-divergence"].verdict == "clean"
    assert partition.judgements["epoch-divergence"].verdict == "clean"


def test_an_old_message_of_another_time_is_another_record(tmp_path: Path) -> None:
    """The same, had one of the messages another time than the record of the batch has."""
    folder = unpacked("upgrade-0.10.2.2", tmp_path)
    case = take_in([str(folder)])
    of_two = case.batches.filter(topic="orders", partition=1, broker=2)
    byte, size = of_two.filter(base_offset=423).select("byte", "size").row(0)
    path = folder / "broker-2" / "data" / "orders-1" / "00000000000000000000.log"
    data = bytearray(path.read_bytes())
    at = byte + 12 + 4 + 1 + 1  # offset and size, checksum, magic, attributes
    time = int.from_bytes(data[at : at + 8], "big") + 1
    data[at : at + 8] = time.to_bytes(8, "big")
    data[byte + 12 : byte + 16] = zlib.crc32(bytes(data[byte + 16 : byte + size])).to_bytes(4, "big")
    path.write_bytes(bytes(data))
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-1")
    assert [fork.ranges for fork in partition.history.facts.forks] == [((420, 424),), ((420, 424),)]


@pytest.mark.parametrize("name", CASES)
def test_clocks_of_one_machine_do_not_seem_apart(name: str, tmp_path: Path) -> None:
    case = take_in([str(unpacked(name, tmp_path))])
    found = skew(case.observations)
    assert found.get_column("consistent").all()
    assert found.filter(pl.col("low") > 0).is_empty()
    assert found.filter(pl.col("high") < 0).is_empty()


@pytest.mark.parametrize(("before", "topics"), [("A" * 22, 1), ("zK_lD2xDSU2iWulO9XyZNQ", 2)])
def test_a_topic_that_is_given_its_id_is_no_other_topic(before: str, topics: int, tmp_path: Path) -> None:
    """A controller gives ids to the topics that have none once inter.broker.protocol.version is 2.8 (KIP-516)."""
    incident = Incident(tmp_path, brokers=2)
    incident.begins(50)
    for at, topic_id in ((10, before), (20, "CD9asPXwRzGGq6FkdEjAFQ")):
        data = f"PartitionData(topicId={topic_id}, fetchOffset=50, logStartOffset=0, maxBytes=1048576, "
        asked = f"{{orders-0={data}currentLeaderEpoch=Optional[0], lastFetchedEpoch=Optional[0])}}"
        incident[2].says(
            at, "WARN [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Error in response for fetch request "
            f"(type=FetchRequest, replicaId=2, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={asked}, "
            "isolationLevel=READ_UNCOMMITTED, removed=, replaced=, metadata=(sessionId=INVALID, epoch=INITIAL), "
            "rackId=) (kafka.server.ReplicaFetcherThread)"
        )  # fmt: skip
    assert len([one for one in incident.scan().partitions if one.history.name == "orders-0"]) == topics
