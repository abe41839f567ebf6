"""server.log alone, up to 1.1: no line names a leader epoch, but a replica truncated and led soon after (KIP-101)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Finding

LOSS, TRUNCATED = "committed-data-lost", "truncation-below-committed"
Lines = dict[int, list[str]]


def at(second: int, text: str) -> str:
    return f"[2026-03-01 12:{second // 60:02}:{second % 60:02},000] INFO {text}"


def truncates(second: int, offset: int) -> str:
    return at(second, f"Truncating log orders-0 to offset {offset}. (kafka.log.Log)")


def fetches(second: int, broker: int, leader: int, offset: int) -> str:
    to = f"List([orders-0, initOffset {offset} to broker BrokerEndPoint({leader},h,9092)] )"
    return at(second, f"[ReplicaFetcherManager on broker {broker}] Added fetcher for partitions {to} "
              "(kafka.server.ReplicaFetcherManager)")  # fmt: skip


def loads(second: int, end: int) -> str:
    return at(
        second, f"Completed load of log orders-0 with 1 log segments and log end offset {end} in 3 ms (kafka.log.Log)"
    )


def expands(second: int, broker: int, out: str, into: str) -> str:
    change = f"Expanding ISR for partition orders-0 from {out} to {into}"
    return at(second, f"Partition [orders,0] on broker {broker}: {change} (kafka.cluster.Partition)")


def swap() -> Lines:
    """Broker 3 follows 2 and truncates to 50, then leads; broker 2 restarts with 80, and truncates to follow 3."""
    return {
        2: [loads(30, 80), truncates(31, 50), fetches(31, 2, 3, 50)],
        3: [truncates(11, 50), fetches(11, 3, 2, 50), expands(32, 3, "3", "3,2")],
    }


def found(tmp_path: Path, lines: Lines, rule: str = LOSS) -> list[Finding]:
    for broker, said in lines.items():
        (tmp_path / f"broker-{broker}").mkdir()
        first = [at(0, "Kafka version : 0.10.2.2 (org.apache.kafka.common.utils.AppInfoParser)")]
        (tmp_path / f"broker-{broker}" / "server.log").write_text("\n".join([*first, *said, ""]))
    (partition,) = scan([str(tmp_path)]).partitions
    return list(partition.judgements[rule].findings)


@pytest.mark.parametrize("rule", [LOSS, TRUNCATED])
def test_a_replica_that_truncated_and_led_is_suspected(rule: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, swap(), rule)
    assert one.confidence.value == "suspected"
    assert one.offsets == ((50, 80),)
    assert one.replicas == (3,)
    assert not any("by leader epoch" in other for other in one.uncertain), "0.10.2 does not"


def fetched_again(lines: Lines) -> None:
    lines[3][2:2] = [at(20, "Rolled new log segment for 'orders-0' in 3 ms. (kafka.log.Log)")]
    lines[2][:0] = [expands(15, 2, "2", "2,3")]  # its leader let it in with all of it


def led_later(lines: Lines) -> None:
    lines[2] = [loads(110, 80), truncates(111, 50), fetches(111, 2, 3, 50)]
    lines[3][-1] = expands(112, 3, "3", "3,2")


def higher_checkpoint(lines: Lines) -> None:
    """Broker 2 read back a high watermark of 78: broker 3 had fetched by then."""
    lines[2][1:] = [truncates(31, 78), fetches(31, 2, 3, 78)]


def removed_nothing(lines: Lines) -> None:
    lines[2][0] = loads(30, 50)


def followed_another(lines: Lines) -> None:
    lines[2][2] = fetches(31, 2, 1, 50)


def did_not_lead(lines: Lines) -> None:
    lines[3].pop()


@pytest.mark.parametrize(
    "happens", [fetched_again, led_later, higher_checkpoint, removed_nothing, followed_another, did_not_lead]
)
def test_a_restart_that_loses_nothing_stays_quiet(happens: Callable[[Lines], None], tmp_path: Path) -> None:
    lines = swap()
    happens(lines)
    assert found(tmp_path, lines) == []
