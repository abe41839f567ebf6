"""Nodes of ZooKeeper in which Kafka up to 3.9 keeps leader, ISR and epochs, as operators save them.

The nodes are ``/brokers/topics/T/partitions/N/state``, ``/controller`` and ``/controller_epoch`` (``kafka.zk``:
``TopicPartitionStateZNode``, ``ControllerZNode``, ``ControllerEpochZNode``; before 1.1 ``kafka.utils.ZkUtils``).
A transcript of ``zookeeper-shell`` names them in its commands. One JSON object may map paths to contents, or files are
in folders named as the nodes. A file with the contents of one state node may be named after its partition, as
``orders-0.json`` or ``orders/0/state``.

A node has neither a broker that states it nor a time: the times of its stat are those of the last write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "zookeeper-nodes"

_NODE: Final = re.compile(
    r"/(?:brokers/topics/(?P<topic>[A-Za-z0-9._-]+)/partitions/(?P<partition>[0-9]{1,9})/state"
    r"|(?P<other>controller_epoch|controller))(?![A-Za-z0-9._/-])"
)
_FILE: Final = re.compile(
    r"(?:^|/)(?:brokers/topics/(?P<topic>[A-Za-z0-9._-]+)/partitions/(?P<partition>[0-9]{1,9})/state"
    r"|(?P<other>controller_epoch|controller))(?:\.json|\.txt)?$"
)
_TOPIC: Final = r"(?!(?:broker|controller|host|kafka|node|server|state|zk|zookeeper)-)(?P<topic>[A-Za-z0-9._-]+?)"
_N: Final = r"(?P<partition>[0-9]{1,9})"
_CALLED: Final = "(?:get|partition|state|zk|zookeeper|zookeeper-shell)"
_ENDING: Final = "(?:[.](?:json|txt|log|out))?"
_PARTITION: Final = tuple(
    re.compile(rf"(?:^|/){pattern}$")
    for pattern in (
        rf"brokers(?P<sep>[._-])topics(?P=sep)(?P<topic>[A-Za-z0-9._-]+)(?P=sep)partitions(?P=sep){_N}(?P=sep)state{_ENDING}",
        rf"(?P<topic>[A-Za-z0-9._-]+)/partitions/{_N}/{_CALLED}{_ENDING}",
        rf"{_TOPIC}-{_N}(?:[-._](?:state|zk|zookeeper))?{_ENDING}",
        rf"{_TOPIC}-{_N}/(?:[^/]*[-._])?{_CALLED}{_ENDING}",
        rf"topics/{_TOPIC}/{_N}/state{_ENDING}",
        rf"{_TOPIC}/{_N}/state",
    )
)
"""Paths named after a partition: ``orders-0.json``, ``orders-0-state.txt``, ``orders-0/zk.txt``, ``orders/0/state``,
``orders/partitions/0/state``, ``brokers_topics_orders_partitions_0_state``. No topic is a host. Any two folders may be
above a ``state.txt``, so they do not name its partition.
"""

_OF_STATE: Final = ("controller_epoch", "leader", "version", "leader_epoch", "isr")
"""Fields of the state of a partition (``TopicPartitionStateZNode.encode``)."""

_MOST_LINES: Final = 100
"""Lines of one object that a tool has printed in several, at most."""

_KEY: Final = re.compile(
    r'\s*\{\s*"(?:/[^"/]+)*/(?:brokers/topics/[^"/]+/partitions/[0-9]+/state|controller_epoch|controller)"\s*:'
)
_STAT: Final = re.compile(r"^\s*(?P<name>dataVersion) = (?P<value>[0-9]{1,9})\s*$")
_EPOCH: Final = re.compile(r"^[0-9]{1,9}$")
_INT32: Final = 2**31


_NAMELESS: Final = (
    "the state of a partition in ZooKeeper ({}), and no name of the partition, as a shell does not print it: call the "
    "file after it, as in orders-0.json"
)
_ASKED: Final = re.compile(r"(?:^|[\]>+ ])get\s")
"""A command that prints what a node holds."""


class Node(NamedTuple):
    """One node as it was found.

    Attributes:
        line: of its contents, from 1.
        version: number of times that it was written (``dataVersion``, Kafka's zkVersion); None where not printed.
    """

    topic: str | None
    partition: int | None
    other: str | None
    content: str
    line: int
    version: int | None = None


def is_nodes(path: str, head: bytes) -> bool:
    """Return whether a file holds such nodes, by its path and its first bytes.

    A log may name a node as well. Contents as the node has them must be there.
    """
    named = _FILE.search(path)
    if named is not None and named["other"] == "controller_epoch":
        return any(_EPOCH.match(line.strip()) for line in head.decode("utf-8", "replace").splitlines())
    if named is not None and named["other"] == "controller":
        return b'"brokerid"' in head and any(line.lstrip().startswith(b"{") for line in head.splitlines())
    if named is not None:
        return b'"leader_epoch"' in head and b'"isr"' in head
    if b'"leader_epoch"' not in head and b'"brokerid"' not in head and b"controller_epoch" not in head:
        return False
    text = head.decode("utf-8", "replace")
    named_within = _KEY.match(text) is not None or any(_row(node) is not None for node in _nodes(text, path))
    return named_within or next(_states(text), None) is not None


def read_nodes(text: str, path: str) -> Reading:
    """Read all nodes of a file.

    Args:
        path: of the file, which may name its node.

    Returns:
        A ``topic_described`` for each node: leader, ISR, leader epoch and partition epoch of a partition, with the
        controller epoch as detail; without topic, ``replica`` is the controller of ``/controller``.

    Raises:
        NotThisFormat: there is no such node in it.
    """
    notices = Notices()
    rows: list[dict[str, Any]] = []
    found = False
    nodes = [*_nodes(text, path)]
    for node in nodes or _of_partition(text, path):
        found = True
        row = _row(node)
        if row is None:
            reason = f"a node of ZooKeeper with contents of another form: {_wrong(node)}"
            notices.add(reason, excerpt=node.content, line=node.line)
        else:
            rows.append({"kind": Kind.TOPIC_DESCRIBED, "message": NAME, "line": node.line, **row})
    if not found and (lines := [*_states(text)]):
        number, content = lines[0]
        notices.add(_NAMELESS.format(_shown(content)), excerpt=content, line=number)
    elif not found:
        raise NotThisFormat("no node of ZooKeeper with a leader or a controller")
    return Reading(observations(rows), notices.frame())


# -- where the nodes are ----------------------------------------------------------------------------------------------


def _nodes(text: str, path: str) -> Iterator[Node]:
    named = _FILE.search(path)
    if named is not None:
        return _printed(text, _found(named))
    whole = _loaded(text)
    if isinstance(whole, dict) and len({key[: node.start()] for key, node in _keys(whole)}) == 1:
        return _mapped(whole)
    return _printed(text, None)


def _of_partition(text: str, path: str) -> Iterator[Node]:
    """Yield the state node of a file that is named after its partition; nothing if it has several such nodes."""
    named, states = next((found for one in _PARTITION if (found := one.search(path))), None), [*_states(text)]
    if named is None or len(states) != 1:
        return
    (line, content), version = states[0], None
    for one in text.splitlines()[line:]:
        stat = _STAT.match(one)
        version = int(stat["value"]) if stat is not None else version
    yield Node(named["topic"], int(named["partition"]), None, content, line, version)


def _states(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are the contents of a state node and nothing else, with their numbers."""
    for number, line in _whole_objects(text.splitlines()):
        content = _loaded(line) if line.lstrip().startswith("{") and '"isr"' in line else None
        if isinstance(content, dict) and {*content} == {*_OF_STATE}:
            yield number, line.strip()


def _mapped(whole: dict[str, Any]) -> Iterator[Node]:
    """Nodes of one JSON object: path to contents, which may be a text."""
    for key, named in _keys(whole):
        value = whole[key]
        yield _found(named)._replace(content=value if isinstance(value, str) else json.dumps(value))


def _keys(whole: dict[str, Any]) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the keys that are paths of nodes. A path may begin with the chroot of the cluster, as /kafka."""
    for key in whole:
        named = _NODE.search(key)
        if named is not None and named.end() == len(key) and key.startswith("/"):
            yield key, named


def _printed(text: str, node: Node | None) -> Iterator[Node]:
    """Nodes of a transcript: a line that names the node, then its contents, then its stat where that was asked for."""
    transcript = _Transcript(node)
    for number, line in _whole_objects(text.splitlines()):
        yield from transcript.take(number, line)
    yield from (one for one in (transcript.waiting, transcript.asked) if one is not None and one.content)


@dataclass(slots=True)
class _Transcript:
    """A transcript, line by line.

    Attributes:
        node: the node that was named last, until its contents come.
        waiting: a node with its contents, whose stat may follow.
        asked: a node that a command prints, until its contents come; with what is there instead.
    """

    node: Node | None
    waiting: Node | None = None
    asked: Node | None = None

    def take(self, number: int, line: str) -> Iterator[Node]:
        """Take a line, and yield the nodes that are complete."""
        named = _NODE.search(line) if not line.startswith("{") else None
        stat = _STAT.match(line)
        if named is not None:
            yield from [self.asked] if self.asked is not None and self.asked.content else []
            self.node = _found(named)
            self.asked = self.node if _ASKED.search(line[: named.start()]) else None
        elif stat is not None and self.waiting is not None:
            self.waiting = self.waiting._replace(version=int(stat["value"]))
        elif self.node is not None and _is_content(line.strip(), self.node):
            yield from [self.waiting] if self.waiting is not None else []
            self.waiting, self.node, self.asked = self.node._replace(content=line.strip(), line=number), None, None
        elif self.asked is not None and not self.asked.content:
            self.asked = self.asked._replace(content=line.strip(), line=number)


def _whole_objects(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers; the lines of an object that a tool has printed in several are one."""
    at = 0
    while at < len(lines):
        count = _length(lines, at) if lines[at].strip().startswith("{") else 1
        yield at + 1, " ".join(line.strip() for line in lines[at : at + count])
        at += count


def _length(lines: Sequence[str], at: int) -> int:
    """The number of lines of the object that begins at one of them; 1 if it does not end."""
    for end in range(at + 1, min(at + _MOST_LINES, len(lines)) + 1):
        if lines[end - 1].rstrip().endswith("}") and _loaded("\n".join(lines[at:end])) is not None:
            return end - at
    return 1


def _found(named: re.Match[str]) -> Node:
    values = named.groupdict()
    partition = values["partition"]
    return Node(values["topic"], None if partition is None else int(partition), values.get("other"), "", 1)


def _is_content(line: str, node: Node) -> bool:
    return _EPOCH.match(line) is not None if node.other == "controller_epoch" else line.startswith("{")


# -- what they say ----------------------------------------------------------------------------------------------------


def _row(node: Node) -> dict[str, Any] | None:
    if node.other == "controller_epoch":
        return {"detail": f"controller_epoch={node.content}"} if _EPOCH.match(node.content) else None
    content = _loaded(node.content)
    if not isinstance(content, dict):
        return None
    if node.other == "controller":
        controller = _number(content.get("brokerid"))
        return None if controller is None else {"replica": controller, "detail": "controller"}
    return _state(node, content)


def _state(node: Node, content: dict[str, Any]) -> dict[str, Any] | None:
    if not all(fits(content.get(name)) for name, (_, fits) in _STATE.items()):
        return None
    controller = _number(content.get("controller_epoch"))
    return {
        "topic": node.topic,
        "partition": node.partition,
        "leader": content["leader"],
        "leader_epoch": content["leader_epoch"],
        "isr": ",".join(map(str, content["isr"])),
        "partition_epoch": node.version,
        "detail": None if controller is None else f"controller_epoch={controller}",
    }


def _wrong(node: Node) -> str:
    """Return what is wrong in the contents of a node that has no row, in words."""
    if node.other == "controller_epoch":
        return "no number"
    content = _loaded(node.content)
    if not isinstance(content, dict):
        return "no JSON object"
    wanted = _CONTROLLER if node.other == "controller" else _STATE
    return next((f'"{name}" is no {what}' for name, (what, fits) in wanted.items() if not fits(content.get(name))), "")


def _shown(text: str) -> str:
    """Return a state in words."""
    content = _loaded(text)
    state = content if isinstance(content, dict) else {}
    return f"leader {state.get('leader')}, leader epoch {state.get('leader_epoch')}, ISR {state.get('isr')}"


def _are_brokers(value: object) -> bool:
    return isinstance(value, list) and all(_number(one) is not None for one in value)


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _number(value: object, least: int = 0) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value < _INT32 else None


_STATE: Final[dict[str, tuple[str, Callable[[object], bool]]]] = {
    "leader": ("broker id, or -1", lambda value: _number(value, -1) is not None),
    "leader_epoch": ("leader epoch", lambda value: _number(value) is not None),
    "isr": ("list of broker ids", _are_brokers),
}
_CONTROLLER: Final[dict[str, tuple[str, Callable[[object], bool]]]] = {
    "brokerid": ("broker id", lambda value: _number(value) is not None),
}
"""Fields that a node must have: what each is, and whether a value is that."""
