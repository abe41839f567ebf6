"""Lines of brokers before 0.11, which name no release: a follower keeps what its leader lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.rules.finding import Finding

CLOCK = "2026-03-01 12:00:{:02},000"


def role(at: int, broker: int, leader: int, epoch: int, isr: str) -> str:
    state = f"PartitionState(controllerEpoch=1, leader={leader}, leaderEpoch={epoch}, isr=[{isr}], zkVersion={epoch}, "
    request = "from controller 9 epoch 1 for partition [orders,0] (state.change.logger)"
    kind = "leader" if leader == broker else "follower"
    head = f"[{CLOCK.format(at)}] TRACE Broker {broker}"
    return (
        f"{head} received LeaderAndIsr request {state}replicas=[1, 2]) correlation id {at} {request}\n"
        f"{head} handling LeaderAndIsr request correlationId {at} from controller 9 epoch 1 starting the "
        f"become-{kind} transition for partition orders-0 (state.change.logger)\n"
    )


def log(at: int, text: str) -> str:
    return f"[{CLOCK.format(at)}] INFO {text} (kafka.log.Log)\n"


def loaded(at: int, end: int) -> str:
    return log(at, f"Completed load of log orders-0 with 1 log segments and log end offset {end} in 21 ms")


def truncates(at: int, offset: int) -> str:
    return log(at, f"Truncating log orders-0 to offset {offset}.")


def found(folder: Path, *, began: int, kept: int, end: int = 55, epochs: tuple[int, int] = (0, 3)) -> list[Finding]:
    """Both brokers lost power. Broker 2 returned first, and led; broker 1, which had led before, followed it."""
    first, later = epochs
    lines = {
        1: [role(1, 1, 1, first, "1, 2"), loaded(30, end), role(31, 1, 2, later, "2"), truncates(31, kept)],
        2: [role(1, 2, 1, first, "1, 2"), truncates(1, 0), loaded(20, began), role(21, 2, 2, later, "2")],
    }
    for broker, texts in lines.items():
        path = folder / f"broker-{broker}" / "server.log"
        path.parent.mkdir(parents=True)
        path.write_text("".join(texts))
    (partition,) = scan([str(folder)]).partitions
    judged = partition.judgements["committed-data-lost"]
    assert judged.verdict.value == "unknown"
    return list(judged.findings)


def test_a_leader_that_began_below_the_high_watermark_of_its_follower_is_suspected(tmp_path: Path) -> None:
    (one,) = found(tmp_path, began=40, kept=55)
    assert (one.confidence.value, one.offsets) == ("suspected", ((40, 55),))
    assert "broker 1 then followed it, and truncated to 55" in one.summary.lower()


@pytest.mark.parametrize(("began", "kept", "end"), [(55, 55, 55), (40, 40, 55), (40, 38, 55), (60, 55, 55)])
def test_near_misses_stay_quiet(began: int, kept: int, end: int, tmp_path: Path) -> None:
    """The leader had as much; or the follower's high watermark was no higher than where its leader began."""
    assert found(tmp_path, began=began, kept=kept, end=end) == []
