"""All brokers crashed: the leader that recovered its log has less than every other replica, which then truncate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Finding

LOSS = "committed-data-lost"
Lines = dict[int, list[str]]
UNCLEAN = "Recovering unflushed segment 0. 0/1 recovered for orders-0. (kafka.log.LogLoader)"


def at(second: int, text: str) -> str:
    return f"[2026-03-01 12:00:{second:02},000] INFO {text}"


def loads(second: int, broker: int, end: int, *, crashed: bool = True) -> list[str]:
    prefix = f"[LogLoader partition=orders-0, dir=/srv/broker-{broker}/data]"
    return [
        *([at(second, f"{prefix} {UNCLEAN}")] if crashed else []),
        at(
            second, f"Completed load of Log(dir=/srv/broker-{broker}/data/orders-0, topicId=tg28Q26mRGSTwxQdBvWzdw, "
            f"topic=orders, partition=0, highWatermark=0, lastStableOffset=0, logStartOffset=0, logEndOffset={end}) "
            f"with 1 segments, local-log-start-offset 0 and log-end-offset {end} in 9ms (1/1 completed in "
            f"/srv/broker-{broker}/data) (kafka.log.LogManager)"
        ),
    ]  # fmt: skip


def leads(second: int, start: int) -> str:
    role = f"starts at leader epoch 3 from offset {start} with partition epoch 3, high watermark 50, ISR [2]"
    rest = "adding replicas [] and removing replicas [] . Previous leader Some(-1) and previous leader epoch was 2."
    name = "Leader orders-0 with topic id Some(tg28Q26mRGSTwxQdBvWzdw)"
    return at(second, f"[Broker id=2] {name} {role}, {rest} (state.change.logger)")


def follows(second: int, broker: int, end: int, target: int) -> list[str]:
    return [
        at(second, f"[Broker id={broker}] Follower orders-0 starts at leader epoch 3 from offset {end} with partition "
           "epoch 3 and high watermark 50. Current leader is 2. Previous leader Some(2) and previous leader epoch was "
           "3. (state.change.logger)"),
        at(second, f"[ReplicaFetcher replicaId={broker}, leaderId=2, fetcherId=0] Truncating partition orders-0 with "
           f"TruncationState(offset={target}, completed=true) due to leader epoch and offset EpochEndOffset("
           f"errorCode=0, partition=0, leaderEpoch=0, endOffset={target}) (kafka.server.ReplicaFetcherThread)"),
        at(second, f"[UnifiedLog partition=orders-0, dir=/srv/broker-{broker}/data] Truncating to offset {target} "
           "(kafka.log.UnifiedLog)"),
    ]  # fmt: skip


def crash() -> Lines:
    return {
        2: [*loads(1, 2, 80), leads(3, 80)],
        1: [*loads(5, 1, 92), *follows(6, 1, 92, 80)],
        3: [*loads(8, 3, 90), *follows(9, 3, 90, 80)],
    }


def found(tmp_path: Path, lines: Lines) -> list[Finding]:
    path = tmp_path / "ticket.md"
    path.write_text("\n".join(["```", *(f"kafka-{b}: {line}" for b, said in lines.items() for line in said), "```"]))
    (partition,) = scan([str(path)]).partitions
    return list(partition.judgements[LOSS].findings)


def test_a_leader_that_recovered_less_than_all_others_is_suspected(tmp_path: Path) -> None:
    (one,) = found(tmp_path, crash())
    assert one.confidence.value == "suspected"
    assert one.offsets == ((80, 90),)
    assert (one.replicas, one.cause) == ((2,), "unflushed-tail")


def clean(lines: Lines) -> None:
    lines[2] = [*loads(1, 2, 80, crashed=False), leads(3, 80)]


def one_other(lines: Lines) -> None:
    del lines[3]


def other_had_no_more(lines: Lines) -> None:
    lines[3] = [*loads(8, 3, 80), follows(9, 3, 80, 80)[0]]


def led_with_more(lines: Lines) -> None:
    """It fetched after it had recovered: its log is that of another leader."""
    lines[2] = [*loads(1, 2, 70), leads(3, 80)]


@pytest.mark.parametrize("happens", [clean, one_other, other_had_no_more, led_with_more])
def test_a_change_of_leader_with_uncommitted_tails_stays_quiet(
    happens: Callable[[Lines], None], tmp_path: Path
) -> None:
    lines = crash()
    happens(lines)
    assert found(tmp_path, lines) == []
