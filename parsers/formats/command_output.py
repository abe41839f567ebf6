"""Output of Kafka's commands about partitions and consumer groups, one after the other in any order.

A text may hold what ``kafka-topics --describe`` prints, ``kafka-consumer-groups --describe`` (to 0.8
``kafka-consumer-offset-checker``), ``kafka-leader-election`` and ``kafka-replica-verification``. Most of it has neither
time nor epoch.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from parsers.details import BY_COMMAND, REPLICAS
from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "command-output"

_NAME: Final = r"[A-Za-z0-9._-]+"

_PARTITION: Final = re.compile(
    rf"^\s*Topic: ?(?P<topic>{_NAME})\s+Partition: ?(?P<partition>[0-9]{{1,10}})\s+"
    r"Leader: ?(?P<leader>none|-?[0-9]{1,10})\s+Replicas: ?(?P<replicas>[0-9,]*)"
    r"\s+Isr: ?(?P<isr>[0-9,]*)(?:\s+Elr: ?(?P<elr>[0-9,]*|N/A))?"
)
"""A partition, of ``TopicCommand``; since 3.7 with the eligible leader replicas (KIP-966)."""
_TOPIC: Final = re.compile(
    rf"^\s*Topic: ?(?P<topic>{_NAME})\s+(?:TopicId: ?(?P<topic_id>[A-Za-z0-9_-]{{22}})\s+)?PartitionCount: ?[0-9]+"
)
"""A topic, of the same; since 2.8 with its id."""
_ELECTED: Final = re.compile(
    r"^\s*Successfully completed leader election \((?P<type>[A-Z]+)\) for partitions(?: (?P<listed>.*)|\s*\Z)"
)
"""Elections that took place, of ``LeaderElectionCommand`` (2.4 and later)."""
_LISTED: Final = re.compile(rf"^\s*{_NAME}-[0-9]{{1,9}}(?:,\s*{_NAME}-[0-9]{{1,9}})*,?\s*\Z")
"""More of its partitions, where people wrapped that line."""
_UNLIKE: Final = re.compile(
    rf"^(?:\S+ [0-9:,]+: )?partition (?:\[(?P<old>{_NAME},[0-9]{{1,10}})\]|(?P<tp>{_NAME}-[0-9]{{1,10}}))(?:: | )"
    r"(?P<how>replica (?P<one>[0-9]{1,10})'s offset (?P<offset>[0-9]{1,19}) doesn't match replica [0-9]+'s offset "
    r"[0-9]+|has unmatched checksum at offset (?P<at>[0-9]{1,19}); replica (?P<first>[0-9]{1,10})'s checksum [0-9]+; "
    r"replica [0-9]+'s checksum [0-9]+)"
)
"""Two replicas that differ, of ``ReplicaVerificationTool`` (0.8 and later)."""
_ROUTINE: Final = re.compile(
    r"^\s*(?:Valid replica already elected for partitions|Error completing leader election \(|"
    r"(?:\S+ [0-9:,]+: )?(?:verification process is started\.|max lag is )|"
    r"Note: This will not show information about old Zookeeper-based consumers|Consumer group '[^']*' has no |\$ |# )"
)
_HEADINGS: Final = {
    "GROUP": "group",
    "Group": "group",
    "TOPIC": "topic",
    "Topic": "topic",
    "PARTITION": "partition",
    "Pid": "partition",
    "CURRENT-OFFSET": "offset",
    "Offset": "offset",
    "LOG-END-OFFSET": "leo",
    "logSize": "leo",
}
"""Columns of a table of positions, by their headings: of ``ConsumerGroupCommand``, and of ``ConsumerOffsetChecker``."""
_WITH_BLANKS: Final = {"CURRENT OFFSET": "CURRENT-OFFSET", "LOG END OFFSET": "LOG-END-OFFSET"}
"""Headings as 0.9 prints them."""
_DRESSED: Final = re.compile(r"^[ \t]*(?:(?:>|&gt;) ?)+")
"""Marks of a quotation before a line."""
_RULE: Final = re.compile(r"^[\s|:+-]*-{3}[\s|:+-]*\Z")
"""The line below the head of a table, as Markdown has it."""
_CELL: Final = re.compile(r"[^\s,|]+")
_NUMBER: Final = re.compile(r"(?:-|[0-9]{1,19})\Z")
_BEGINS: Final = re.compile(
    rb"(?m)^[\s>]*Topic: ?[\w.-]+\s+(?:Partition: ?[0-9]+\s+Leader: |(?:TopicId: ?\S+\s+)?PartitionCount: ?[0-9])"
    rb"|^[\s>]*Successfully completed leader election \([A-Z]+\) for partitions\s"
    rb"|^[\s>|]*(?:GROUP[\s,|]+)?TOPIC[\s,|]+PARTITION[\s,|].*(?:LOG-END-OFFSET|LOG END OFFSET)"
    rb"|^[\s>|]*Group[\s|]+Topic[\s|]+Pid[\s|]+Offset[\s|]+logSize[\s|]"
    rb"|'s offset [0-9]+ doesn't match replica [0-9]+'s offset [0-9]"
    rb"|has unmatched checksum at offset [0-9]+; replica [0-9]"
)


def begins_output(head: bytes) -> bool:
    """Return whether the first bytes of a text hold a line of this format."""
    return _BEGINS.search(head) is not None


@dataclass(slots=True)
class _Output:
    """Rows that were read of a text.

    Attributes:
        columns: names of the columns of the table that the next lines belong to, or ().
        ids: topic ids by topic.
        unended: the election whose list may continue in the next line; None if the last line is of none.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    columns: Sequence[str] = ()
    ids: dict[str, str | None] = field(default_factory=dict)
    unended: re.Match[str] | None = None

    def takes(self, text: str, line: int) -> bool:
        """Read a line. Return whether it is of this format."""
        text = _DRESSED.sub("", text)
        election, self.unended = self.unended, None
        for pattern, read in _READERS:
            if (found := pattern.match(text)) is not None:
                self._add(line, read(found))
                self.columns = ()
                self.unended = found if pattern is _ELECTED and _goes_on(found["listed"]) else None
                return True
        if election is not None and _LISTED.match(text) is not None:
            self._add(line, _elections(election, text))
            self.unended = election if _goes_on(text) else None
            return True
        if (topic := _TOPIC.match(text)) is not None:
            self.ids.setdefault(topic["topic"], topic["topic_id"])
            return True
        return self._takes_position(text, line) or _ROUTINE.match(text) is not None

    def _add(self, line: int, rows: Iterator[dict[str, Any]]) -> None:
        self.rows += [{"message": NAME, "line": line, **row} for row in rows]

    def _takes_position(self, text: str, line: int) -> bool:
        if columns := _columns(text):
            self.columns = columns
            return True
        if not self.columns:
            return False
        if _RULE.match(text) is not None:
            return True
        cells = dict(zip(self.columns, _CELL.findall(text), strict=False))
        row = _position(cells)
        if row is None:
            self.columns = self.columns if not text.strip() else ()
            return False
        if row:
            self.rows.append({"message": NAME, "line": line, **row})
        return True


def own_lines(lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of this format in a text; none if none of them states anything."""
    output = _Output()
    found = [number for number, text in enumerate(lines, start=1) if output.takes(text, number)]
    return frozenset(found) if output.rows else frozenset()


def read_output(lines: Sequence[str]) -> Reading:
    """Read all of its lines.

    ``topic_described``, ``eligible_described``, ``group_described``, ``election_requested``, ``replicas_differ`` rows.

    Raises:
        NotThisFormat: no line gives any of them.
    """
    output, notices = _Output(), Notices()
    for number, text in enumerate(lines, start=1):
        if not output.takes(text, number) and text.strip():
            notices.add("no line of kafka-topics --describe or another command", excerpt=text, line=number)
    if not output.rows:
        raise NotThisFormat("no partition as one of Kafka's commands prints it")
    described = Kind.TOPIC_DESCRIBED
    ids = (output.ids.get(row["topic"]) if row["kind"] is described else None for row in output.rows)
    rows = [{**row, "topic_id": topic_id} for row, topic_id in zip(output.rows, ids, strict=True)]
    return Reading(observations(rows), notices.frame())


def _described(found: re.Match[str]) -> Iterator[dict[str, Any]]:
    place = {"topic": found["topic"], "partition": int(found["partition"])}
    leader = int(found["leader"].replace("none", "-1"))
    replicas = f"{REPLICAS}{found['replicas']}"
    yield {"kind": Kind.TOPIC_DESCRIBED, **place, "leader": leader, "isr": found["isr"], "detail": replicas}
    if leader < 0 and found["elr"] and found["elr"] != "N/A":
        yield {"kind": Kind.ELIGIBLE_DESCRIBED, **place, "isr": found["elr"]}


def _goes_on(listed: str | None) -> bool:
    """Return whether a line of an election that lists so much was wrapped."""
    return not (listed or "").strip() or (listed or "").rstrip().endswith(",")


def _elected(found: re.Match[str]) -> Iterator[dict[str, Any]]:
    yield from _elections(found, found["listed"] or "")


def _elections(found: re.Match[str], listed: str) -> Iterator[dict[str, Any]]:
    """Only elections from outside the ISR: one of the preferred leader is routine."""
    if found["type"] != "UNCLEAN":
        return
    for name in re.findall(rf"{_NAME}-[0-9]{{1,9}}", listed):
        topic, _, partition = name.rpartition("-")
        yield {"kind": Kind.ELECTION_REQUESTED, "topic": topic, "partition": int(partition), "detail": BY_COMMAND}


def _unlike(found: re.Match[str]) -> Iterator[dict[str, Any]]:
    topic, _, partition = (found["old"] or found["tp"]).replace(",", "-").rpartition("-")
    yield {
        "kind": Kind.REPLICAS_DIFFER,
        "topic": topic,
        "partition": int(partition),
        "replica": int(found["one"] or found["first"]),
        "offset": int(found["offset"] or found["at"]),
        "detail": found["how"],
    }


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[dict[str, Any]]]], ...]] = (
    (_PARTITION, _described),
    (_ELECTED, _elected),
    (_UNLIKE, _unlike),
)
"""Lines that state something by themselves, and what is read from each."""


def _columns(text: str) -> tuple[str, ...]:
    for blanks, dashes in _WITH_BLANKS.items():
        text = text.replace(blanks, dashes)
    names = tuple(_HEADINGS.get(cell, "") for cell in _CELL.findall(text))
    return names if {"topic", "partition", "offset", "leo"} <= {*names} else ()


def _position(cells: dict[str, str]) -> dict[str, Any] | None:
    """Return the row of a group's position; empty without one, None for another line."""
    values = [cells.get(name, "") for name in ("partition", "offset", "leo")]
    if re.fullmatch(_NAME, cells.get("topic", "")) is None or not all(_NUMBER.match(value) for value in values):
        return None
    if "-" in values:
        return {}
    partition, offset, end = (int(value) for value in values)
    return {
        "kind": Kind.GROUP_DESCRIBED,
        "topic": cells["topic"],
        "partition": partition,
        "offset": offset,
        "leo": end,
        "detail": cells.get("group"),
    }
