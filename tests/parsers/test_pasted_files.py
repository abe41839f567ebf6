"""Checkpoint files that somebody pasted into a ticket are read as the files that they were."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from forensics.engines.local import scan
from parsers.containers import expand
from parsers.excerpts.files import files
from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.read import read
from parsers.schema import Kind

EPOCHS = "0\n3\n0 0\n1 50\n2 30\n"
MARKS = "0\n2\nledger 3 500\norders 0 77\n"


def pasted(text: str) -> dict[str, bytes]:
    """Content of each pasted file, by its path."""
    data = text.encode()
    source = Source("ticket.txt", len(data), lambda: io.BytesIO(data))
    return {one.path.removeprefix("ticket.txt!/"): one.open().read() for one in files(source, source.head())}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f"leader-epoch-checkpoint of ledger-3 on broker 2:\n\n{EPOCHS}", "broker-2/ledger-3/leader-epoch-checkpoint"),
        (
            f"root@kafka-4:/# cat /data/ledger-3/leader-epoch-checkpoint\n{EPOCHS}root@kafka-4:/#",
            "broker-4/ledger-3/leader-epoch-checkpoint",
        ),
        (
            f"Broker 5:\n\n```\n$ cat ledger-3/leader-epoch-checkpoint\n```\n```\n{EPOCHS}```\n",
            "broker-5/ledger-3/leader-epoch-checkpoint",
        ),
        (f"> ledger-3/leader-epoch-checkpoint\n> {EPOCHS.replace(chr(10), chr(10) + '> ')}",
         "ledger-3/leader-epoch-checkpoint"),
    ],
    ids=["words", "prompt", "heading and fences", "quoted"],
)  # fmt: skip
def test_an_epoch_file_has_the_path_that_its_line_names(text: str, path: str) -> None:
    assert pasted(text) == {path: EPOCHS.encode()}


def test_a_file_of_offsets_belongs_to_a_broker() -> None:
    text = (
        f"our broker 1, replication-offset-checkpoint:\n```\n{MARKS}```\nand recovery-point-offset-checkpoint\n{MARKS}"
    )
    assert pasted(text) == {
        "broker-1/replication-offset-checkpoint": MARKS.encode(),
        "recovery-point-offset-checkpoint": MARKS.encode(),
    }


@pytest.mark.parametrize(
    "text",
    [
        "leader-epoch-checkpoint is empty on broker 2\nwe have 3 brokers\n",
        f"what is this?\n{EPOCHS}",
        f"a leader-epoch-checkpoint of some partition\n{EPOCHS}",
        f"replication-offset-checkpoint of broker 1\n{EPOCHS}",
        "replication-offset-checkpoint of broker 1\n0\n2\nnothing here\n",
        f"replication-offset-checkpoint of broker 1\na\nb\nc\nd\ne\n{MARKS}",
    ],
    ids=["words alone", "no name", "no partition", "of another file", "no entries", "too far below"],
)
def test_what_is_no_such_file_is_left_alone(text: str) -> None:
    assert pasted(text) == {}


def test_a_pasted_file_is_judged(tmp_path: Path) -> None:
    """Epochs that fall in one file are a sign by themselves, and nothing that a ticket shows is clean."""
    ticket = tmp_path / "ticket.txt"
    ticket.write_text(f"leader-epoch-checkpoint of ledger-3 on broker 2:\n{EPOCHS}")
    (partition,) = scan([str(ticket)]).partitions
    (finding,) = partition.judgements["epoch-divergence"].findings
    assert (finding.replicas, finding.offsets, finding.epochs) == ((2,), ((30, 50),), (1, 2))
    assert "clean" not in {one.verdict for one in partition.judgements.values()}


PATH = "/data/ledger-3/00000000000000000000.log"
BATCH = (
    "baseOffset: 0 lastOffset: 4 count: 5 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 2 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: 1709288561107 size: 120 magic: 2 compresscodec: none crc: 17 isvalid: true"
)
DUMP = f"Dumping {PATH}\nLog starting offset: 0\n{BATCH}"
ELECTED = (
    "[2026-03-01 10:22:41,107] INFO [QuorumController id=9] UNCLEAN partition change for ledger-3 with topic ID "
    "a1HR-deaSAyN1A9yxOyFuw: isr: [4] -> [5], leader: -1 -> 5, leaderRecoveryState: RECOVERED -> RECOVERING, "
    "leaderEpoch: 1 -> 2, partitionEpoch: 3 -> 4 (org.apache.kafka.controller.ReplicationControlManager)"
)
DESCRIBED = "Topic: ledger\tPartition: 3\tLeader: {}\tReplicas: 4,5\tIsr: {}"
FENCE = "```"


def parts(text: str) -> dict[str, tuple[str, FileReading]]:
    """Format and reading of each part of a pasted text, by its path; not of the text as a whole."""
    data = text.encode()
    found = expand(Source("ticket.txt", len(data), lambda: io.BytesIO(data)))
    readings = {one.path: read(one) for one in found if not one.container}
    return {path: (reading.format, reading) for path, reading in readings.items()}


@pytest.mark.parametrize("mark", ["", "> ", "    "], ids=["plain", "quoted", "indented"])
def test_lines_beside_a_dump_are_read_too(mark: str) -> None:
    pasted = f"The controller:\n{FENCE}\n{ELECTED}\n{FENCE}\nand on broker 5:\n{FENCE}\n{DUMP}\n{FENCE}\nWhy?\n"
    found = parts("".join(f"{mark}{line}\n" for line in pasted.splitlines()))
    kinds = {path.removeprefix("ticket.txt!/"): kind for path, (kind, _) in found.items()}
    assert kinds == {PATH[1:]: "dump-log", "ticket.txt": "broker-log"}
    (_, dump), (_, log) = found[f"ticket.txt!{PATH}"], found["ticket.txt!/ticket.txt"]
    assert (dump.log_end, dump.notices.height) == (5, 0)
    assert Kind.UNCLEAN_ELECTION.value in log.observations["kind"].to_list()


def test_a_line_of_a_record_is_no_line_of_a_log() -> None:
    """The last record may be of a topic that log lines are sent to, and a payload may have several lines."""
    found = parts(f"Look:\n{DUMP}\n| offset: 0 keySize: -1 valueSize: 9 payload: first\n{ELECTED}\n\nThanks!\n")
    assert {kind for kind, _ in found.values()} == {"dump-log"}


def test_output_of_a_command_directly_below_log_lines() -> None:
    found = parts(f"{ELECTED}\n{DESCRIBED.format(5, 5)}\n")
    assert {kind for kind, _ in found.values()} == {"broker-log", "command-output"}


def test_a_whole_log_with_the_output_of_a_command_is_no_excerpt() -> None:
    found = parts("".join(f"{ELECTED}\n" for _ in range(150)) + f"{DESCRIBED.format(5, 5)}\n")
    log = next(reading for kind, reading in found.values() if kind == "broker-log")
    assert (log.lines, log.frame) == (151, "log4j")
    assert len(found) == 2


def test_fences_and_words_around_the_output_of_a_command() -> None:
    """Words are no damage; a line of the output that is not understood is."""
    damaged = DESCRIBED.format(5, 5).replace("Replicas", "Repl")
    text = f"Before:\n{FENCE}\n{DESCRIBED.format(4, 4)}\n{FENCE}\nafter a restart:\n{FENCE}\n{damaged}\n{FENCE}\n"
    ((_, reading),) = parts(text).values()
    assert reading.observations["isr"].to_list() == ["4"]
    assert reading.notices["line"].to_list() == [7]


def test_an_isr_without_former_members_beside_a_dump(tmp_path: Path) -> None:
    one, other = DESCRIBED.format(4, 4), DESCRIBED.format(5, 5)
    text = f"{FENCE}\n{one}\n{FENCE}\nthen\n{FENCE}\n{other}\n{FENCE}\nand\n{FENCE}\n{DUMP}\n{FENCE}\n"
    (tmp_path / "ticket.txt").write_text(text)
    assert "isr-described-apart" in {one.known.id for one in scan([str(tmp_path)]).problems}


@pytest.mark.parametrize("before", ["1 | ", "kafka_7 | "])
def test_a_line_behind_a_prefix_among_words(before: str) -> None:
    """A page numbers the lines of a block by itself: a number is no name of a writer."""
    found = parts(f"controller 日志\n{before}{ELECTED}\n可以看到 ISR 变了\n")
    ((path, (kind, reading)),) = found.items()
    assert Kind.UNCLEAN_ELECTION.value in reading.observations["kind"].to_list()
    assert (kind, path) == ("broker-log", "ticket.txt" if before[0] == "1" else "ticket.txt!/kafka_7")


def test_words_alone_are_no_lines() -> None:
    found = parts("controller 日志\n1 | 可以看到 leader 2 -> 3\n1 | ISR: 1,2\n")
    assert [kind for kind, _ in found.values()] == ["unknown"]
