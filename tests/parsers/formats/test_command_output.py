"""Output of Kafka's commands, as people paste it: of one command, of several, and between lines of logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from parsers.errors import NotThisFormat
from parsers.formats.command_output import begins_output, own_lines, read_output
from parsers.schema import Kind

TOPIC = "\tTopic: ledger\tPartition: 3\tLeader: {}\tReplicas: 4,5,6\tIsr: {}"
SESSION = f"""$ bin/kafka-topics.sh --describe --topic ledger --bootstrap-server localhost:9092
{TOPIC.format("none", "4")}
$ bin/kafka-leader-election.sh --election-type UNCLEAN --topic ledger --partition 3
Successfully completed leader election (UNCLEAN) for partitions ledger-3, ledger-7
{TOPIC.format("5", "5")}
"""
TABLES = {
    "4": """GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID     HOST
billing         ledger          3          391             205             -186  -               -
billing         ledger          4          -               17              -     -               -
""",
    "1.0": """TOPIC     PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID   HOST          CLIENT-ID
ledger    3          391             205             -186  consumer-1-a  /10.0.0.4     consumer-1
-         -          -               -               -     consumer-2-b  /10.0.0.5     consumer-2
""",
    "0.9": """GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
billing, ledger, 3, 391, 205, -186, consumer-1_/10.0.0.4
billing, ledger, 4, unknown, 17, unknown, none
""",
    "0.8": """Group           Topic          Pid Offset   logSize  Lag     Owner
billing         ledger         3   391      205      -186    none
""",
    "quoted": """> TOPIC     PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID   HOST
> ledger    3          391             205             -186  -             -
""",
    "verbose": """GROUP    TOPIC   PARTITION  LEADER-EPOCH  CURRENT-OFFSET  LOG-END-OFFSET  LAG   CONSUMER-ID
billing  ledger  3          6             391             205             -186  -
""",
}


@pytest.mark.parametrize("release", TABLES)
def test_positions_of_groups(release: str) -> None:
    text = TABLES[release]
    assert begins_output(text.encode())
    rows = read_output(text.splitlines()).observations
    assert rows.select("kind", "topic", "partition", "offset", "leo", "line").rows() == [
        ("group_described", "ledger", 3, 391, 205, 2)
    ]


def test_a_table_in_markdown() -> None:
    text = (
        "| GROUP | TOPIC | PARTITION | CURRENT-OFFSET | LOG-END-OFFSET |\n|---|---|---|---|---|\n"
        "| b | ledger | 3 | 391 | 205 |\n"
    )
    assert begins_output(text.encode())
    reading = read_output(text.splitlines())
    assert reading.notices.is_empty()
    assert reading.observations.select("topic", "partition", "offset", "leo").rows() == [("ledger", 3, 391, 205)]


def test_a_quoted_description() -> None:
    text = f"> {TOPIC.format('none', '4')}\n"
    assert begins_output(text.encode())
    assert read_output(text.splitlines()).observations.select("leader", "isr").rows() == [(-1, "4")]


def test_several_commands_in_one_text() -> None:
    reading = read_output(SESSION.splitlines())
    assert reading.notices.is_empty()
    assert reading.observations.select("kind", "topic", "partition", "leader", "isr", "line").rows() == [
        ("topic_described", "ledger", 3, -1, "4", 2),
        ("election_requested", "ledger", 3, None, None, 4),
        ("election_requested", "ledger", 7, None, None, 4),
        ("topic_described", "ledger", 3, 5, "5", 5),
    ]


@pytest.mark.parametrize("first", ["", " ledger-3,"], ids=["at once", "within the list"])
def test_elections_whose_line_was_wrapped(first: str) -> None:
    text = f"Successfully completed leader election (UNCLEAN) for partitions{first}\nledger-7, my.topic-2,\n x-0\ny-4\n"
    assert begins_output(text.encode())
    rows = read_output(text.splitlines()).observations
    named = [f"{topic}-{partition}" for topic, partition in rows.select("topic", "partition").rows()]
    assert named == [*(["ledger-3"] if first else []), "ledger-7", "my.topic-2", "x-0"]  # the list had ended


@pytest.mark.parametrize("partition", ["ledger-3", "[ledger,3]"])
def test_replicas_that_differ(partition: str) -> None:
    lines = (
        "2026-03-01 10:22:11,014: verification process is started.",
        f"2026-03-01 10:22:41,107: partition {partition}: replica 4's offset 50 doesn't match replica 5's offset 51",
    )
    rows = read_output(lines).observations
    assert rows.select("kind", "topic", "partition", "replica", "offset").rows() == [
        (Kind.REPLICAS_DIFFER.value, "ledger", 3, 4, 50)
    ]


def test_a_table_ends_where_another_line_follows() -> None:
    """Numbers further below are no positions."""
    text = [*TABLES["1.0"].splitlines(), "and then", "ledger 3 900 100 -800 consumer-1"]
    assert read_output(text).observations.height == 1
    assert own_lines(text) == {1, 2, 3}


@pytest.mark.parametrize("text", ["GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG", "Topic: a b", ""])
def test_another_text(text: str) -> None:
    with pytest.raises(NotThisFormat):
        read_output([text])


LINE = (
    "[2022-05-04 10:00:01,000] INFO [Broker id=4] Leader ledger-3 starts at leader epoch 4 from offset 205 with high "
    "watermark 205 ISR [4,5] addingReplicas [] removingReplicas []. Previous leader epoch was 3. (state.change.logger)"
)


def test_output_between_lines_of_a_log(tmp_path: Path) -> None:
    """Both are read, each line at its place in the text."""
    ticket = tmp_path / "ticket.md"
    ticket.write_text(
        f"Hi, we see this:\n\n```\n{LINE}\n```\n\nand\n\n```\n{TABLES['4']}{TOPIC.format('4', '4')}\n```\n"
    )
    result = scan([str(ticket)])
    assert [(one.known.id, one.name) for one in result.problems] == [
        ("group-above-log-end", "ledger-3"),
        ("isr-shrunk-to-one", "ledger-3"),
    ]
    lines = {one.evidence[0].line for one in result.problems}
    assert lines == {11, 13}
    lost = [one for one in result.findings if one.rule == "committed-data-lost"]
    assert [(one.offsets, one.confidence) for one in lost] == [(((205, 391),), "suspected")]


def test_a_group_behind_its_log_is_no_problem(tmp_path: Path) -> None:
    table = tmp_path / "groups.txt"
    table.write_text(
        TABLES["4"].replace("391             205             -186", "205             391             186 ")
    )
    result = scan([str(table)])
    assert (result.problems, result.findings) == ([], [])
