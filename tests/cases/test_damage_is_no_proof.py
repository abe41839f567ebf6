"""Damage in one file of a healthy cluster proves nothing but the damage: two independent bearers are needed."""

from __future__ import annotations

import re
import shutil
import struct
from itertools import permutations
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.model import scenario
from forensics.replay.confidence import Confidence
from forensics.result import Result
from forensics.rules.finding import Severity

HEALTHY = "rotated-2.8.2"
SEGMENT = "data/payments-0/00000000000000000000.log"
ABOUT_DAMAGE = {"segment-damage"}


@pytest.fixture
def case(sample_traces: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sample_traces / HEALTHY, tmp_path / HEALTHY))


def proven(result: Result) -> set[str]:
    """Rules of findings of severity error or critical that say to be proven."""
    return {
        f.rule for f in result.findings if f.severity.rank <= Severity.ERROR.rank and f.confidence is Confidence.PROVEN
    }


def reasons(result: Result) -> list[str]:
    return [str(reason) for reason in result.case.notices["reason"].to_list()]


def places(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        found.append(at)
        at += 12 + struct.unpack_from(">i", data, at + 8)[0]
    return found


def test_the_case_is_healthy(case: Path) -> None:
    assert proven(scan([str(case)])) == set()


@pytest.mark.parametrize("which", ["first", "middle", "last"])
@pytest.mark.parametrize(
    ("field", "byte", "bit"),
    [
        ("base offset", 7, 0),
        ("base offset", 6, 1),
        ("base offset", 2, 5),
        ("leader epoch", 15, 1),
        ("leader epoch", 12, 6),
    ],
)
@pytest.mark.parametrize("broker", [1, 2, 3])
def test_one_bit_of_what_no_checksum_covers(
    broker: int, field: str, byte: int, bit: int, which: str, case: Path
) -> None:
    if broker > 1 and which != "middle":
        pytest.skip("each replica once, one of them thoroughly")
    path = case / f"broker-{broker}" / SEGMENT
    data = bytearray(path.read_bytes())
    batches = places(bytes(data))
    at = {"first": batches[0], "middle": batches[len(batches) // 2], "last": batches[-1]}[which]
    data[at + byte] ^= 1 << bit
    path.write_bytes(data)
    result = scan([str(case)])
    assert proven(result) <= ABOUT_DAMAGE, field
    assert result.failures == (0, 0)


def test_an_epoch_file_whose_second_row_is_torn(case: Path) -> None:
    for path in sorted(case.glob("broker-*/data/payments-0/leader-epoch-checkpoint")):
        before = path.read_text()
        rows = before.splitlines()
        if len(rows) < 4:
            continue
        path.write_text(f"0\n2\n{rows[2]}\n{rows[3][:1]}")
        result = scan([str(case)])
        assert proven(result) == set()
        assert any("entries are announced" in reason for reason in reasons(result))
        path.write_text(before)


@pytest.mark.parametrize("kept", [0.3, 0.7])
def test_the_head_of_a_segment_is_cut_off(kept: float, case: Path) -> None:
    path = case / "broker-2" / SEGMENT
    data = path.read_bytes()
    batches = places(data)
    path.write_bytes(data[batches[int(len(batches) * (1 - kept))] :])
    result = scan([str(case)])
    assert proven(result) <= ABOUT_DAMAGE


def test_one_digit_of_one_line_makes_no_second_leader(sample_traces: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sample_traces / "zombie-1.1.1", tmp_path / "case"))
    before = proven(scan([str(folder)]))
    for path in sorted(folder.glob("broker-*/logs/state-change.log")):
        lines = path.read_text().splitlines(keepends=True)
        for place, line in enumerate(lines):
            if "LeaderAndIsr request PartitionState(" in line and "leader=-" not in line:
                start = line.index("leader=") + len("leader=")
                lines[place] = f"{line[:start]}7{line[start + 1 :]}"
                path.write_text("".join(lines))
                result = scan([str(folder)])
                assert proven(result) <= before
                assert any("not understood" in reason for reason in reasons(result))
                return
    pytest.fail("no line names a leader beside its replicas")


def test_one_digit_that_names_another_replica_as_leader_proves_no_second_one(
    sample_traces: Path, tmp_path: Path
) -> None:
    """Nothing in the line contradicts it, and another broker's log names the right leader: two files, but one line."""
    folder = Path(shutil.copytree(sample_traces / "zombie-1.1.1", tmp_path / "case"))
    before = proven(scan([str(folder)]))
    for broker in (1, 2, 3):
        path = folder / f"broker-{broker}/logs/state-change.log"
        whole = path.read_text()
        lines = whole.splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if "LeaderAndIsr request PartitionState(" in line)
        led = re.search("leader=([123]),", lines[at])
        assert led is not None
        lines[at] = lines[at].replace(led[0], f"leader={int(led[1]) % 3 + 1},", 1)
        path.write_text("".join(lines))
        assert proven(scan([str(folder)])) <= before
        path.write_text(whole)


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("tail", ["torn", "zeros"])
def test_a_log_that_ends_within_a_batch_or_in_zeros(tail: str, kept: float, case: Path) -> None:
    """A checkpointed high watermark above its end is proof of a loss only where the file ends as a broker ended it."""
    for broker in (1, 2, 3):
        path = case / f"broker-{broker}" / SEGMENT
        data = path.read_bytes()
        end = places(data)[int(len(places(data)) * kept)]
        path.write_bytes(data[: end + 11] if tail == "torn" else data[:end] + bytes(len(data) - end))
        assert proven(scan([str(case)])) <= ABOUT_DAMAGE
        path.write_bytes(data)


@pytest.mark.parametrize("way", ["twice", "moved"])
@pytest.mark.parametrize("log", ["server.log", "state-change.log"])
def test_blocks_of_lines_twice_or_in_another_order(log: str, way: str, case: Path) -> None:
    """As shippers with at-least-once delivery leave them: a process seems to begin, lead and truncate again."""
    for broker, share, count in ((1, 0.1, 40), (2, 0.3, 200), (3, 0.5, 5), (1, 0.6, 1000), (2, 0.8, 40)):
        path = min((case / f"broker-{broker}/logs").glob(f"{log}*"))
        whole = path.read_text()
        lines = whole.splitlines(keepends=True)
        at = int(len(lines) * share)
        block, rest = lines[at : at + count], lines[at + count :]
        again = [*block, *rest[:20], *block, *rest[20:]] if way == "twice" else [*rest[:20], *block, *rest[20:]]
        path.write_text("".join([*lines[:at], *again]))
        result = scan([str(case)])
        assert proven(result) <= ABOUT_DAMAGE, (broker, share, count)
        assert result.failures == (0, 0)
        path.write_text(whole)


def test_a_broker_id_replaced_in_the_log_of_a_controller_proves_no_second_leader(tmp_path: Path) -> None:
    """Several lines of it name the other leader then. A row of an epoch file names no leader, so it is no witness."""
    for seed in range(3):
        run = scenario("random").run("fetch-14704", seed=seed)
        case = tmp_path / str(seed)
        run.write(case, logging="replication")
        (case / "trace.jsonl").unlink()
        log = case / "broker-10/logs/state-change.log"  # of the first controller
        before = log.read_text()
        for leader, other in permutations((1, 2, 3), 2):
            log.write_text(re.sub(rf"leader={leader}\b", f"leader={other}", before))
            assert "two-leaders-one-epoch" not in proven(scan([str(case)]))
