"""Checkpoint files that somebody pasted into a ticket are read as the files that they were."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from forensics.engines.local import scan
from parsers.excerpts.files import files
from parsers.files.sources import Source

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
