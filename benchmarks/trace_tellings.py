"""The same run in other lines: high watermarks in lines of other kinds, one witness for all replicas, a wrong time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from parsers.formats.trace_kinds import OF_ITSELF

Line = dict[str, Any]

OBSERVER: Final = 99
"""The witness that states what all replicas do."""

_PLACE: Final = ("schema", "time", "witness", "topic", "partition", "topic_id")
_ROLES: Final = ("become_leader", "become_follower")
_ENDS: Final = {"append": "log_end_offset", "truncate": "offset", "log_loaded": "log_end_offset"}


def observed(lines: list[Line]) -> list[Line]:
    """Return the lines with one witness for all that the replicas state of themselves."""
    head, *rest = lines
    return [head, *(_by_observer(line) if line["kind"] in OF_ITSELF else line for line in rest)]


def _by_observer(line: Line) -> Line:
    return line | {"witness": OBSERVER, "replica": line["witness"]}


TOLD: Final = ("state", "leo", "consumed", "produced", "acknowledged", "leader_hw", "follower_fetched", "hw_checkpoint")
"""Ways to state a high watermark instead, one for all of a run."""

JUDGED: Final = ("committed-data-lost", "truncation-below-committed")
"""Rules that ask what leaders have committed, and not what a follower or a checkpoint file has of it."""


def otherwise(lines: list[Line], random: Random) -> list[Line]:
    """Return a run in which lines of one other kind alone state the high watermarks that leaders reach in a role."""
    state, way = _State(), random.choice(TOLD)
    told: list[Line] = []
    for line in lines:
        if line["kind"] == "hw" and state.rises(line):
            told.append(_other(line, state, way))
        elif line["kind"] not in _STATING:
            told.append(_without_hw(line))
        state.take(line)
    return told


_STATING: Final = ("hw", "leader_hw", "hw_checkpoint", "hw_loaded", "hw_regressed")
"""Kinds that state nothing but a high watermark."""


def _without_hw(line: Line) -> Line:
    """Return a line that states no high watermark but that with which a leader begins."""
    if line["kind"] == "become_leader":
        return line
    kept = {name: value for name, value in line.items() if name not in ("high_watermark", "leader_high_watermark")}
    return kept | {"detail": "acks=1"} if line["kind"] == "produced" else kept


@dataclass(slots=True)
class _State:
    """Roles, log ends, records and high watermarks so far, by broker, and the last ISR with its leader epoch.

    A record is its leader epoch and its checksum, by offset.
    """

    roles: dict[int, Line] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    hws: dict[int, int] = field(default_factory=dict)
    records: dict[int, dict[int, tuple[int, str]]] = field(default_factory=dict)
    isr: tuple[int, str] | None = None

    def take(self, line: Line) -> None:
        """Take one line."""
        broker, kind = line.get("witness", -1), line["kind"]
        if kind == "process_start":
            self.roles.pop(broker, None)
            self.hws.pop(broker, None)
        if kind in _ROLES:
            self.roles[broker] = line
            self.ends[broker] = line["log_end_offset"]
        if kind in _ENDS:
            self.ends[broker] = line[_ENDS[kind]]
        if kind in ("log_created", "truncate_full"):
            self.records[broker] = {}
        self._write(broker, line)
        if kind in ("become_leader", "isr_commit", "election", "partition_changed", "partition_created"):
            epoch = line.get("leader_epoch", self.roles.get(broker, {}).get("leader_epoch"))
            self.isr = (epoch, line["isr"]) if "isr" in line else self.isr
        if "high_watermark" in line:
            self.hws[broker] = line["high_watermark"]

    def _write(self, broker: int, line: Line) -> None:
        log, end = self.records.setdefault(broker, {}), self.ends.get(broker, 0)
        if line["kind"] == "append":
            one = line["leader_epoch"], line["checksum"]
            log |= dict.fromkeys(range(line["offset"], end), one)
        self.records[broker] = {offset: one for offset, one in log.items() if offset < end}

    def entries(self, place: Line) -> Iterator[Line]:
        """Yield the epoch entries of each log; none if leader epochs do not tell all records apart."""
        logs = [*self.records.values()]
        if any(
            one[0] == log[at][0] and one != log[at]
            for log in logs
            for two in logs
            for at, one in two.items()
            if at in log
        ):
            return
        for broker, log in sorted(self.records.items()):
            epochs = [(offset, log[offset][0]) for offset in sorted(log)]
            for at, (offset, epoch) in enumerate(epochs):
                if at == 0 or epochs[at - 1][1] != epoch:
                    said = {"kind": "epoch_entry", "leader_epoch": epoch, "offset": offset}
                    yield place | {"witness": broker} | said

    def rises(self, line: Line) -> bool:
        """Return whether a high watermark is above the last one of its leader, which leads."""
        broker = line["witness"]
        leads = self.roles.get(broker, {}).get("kind") == "become_leader"
        return leads and line["high_watermark"] > self.hws.get(broker, 0)

    def followers(self, leader: int) -> Iterator[int]:
        """Yield those that follow a leader in its epoch."""
        epoch = self.roles[leader]["leader_epoch"]
        for broker, role in sorted(self.roles.items()):
            if role["kind"] == "become_follower" and (role.get("leader"), role["leader_epoch"]) == (leader, epoch):
                yield broker


def _other(line: Line, state: _State, way: str) -> Line:
    """Return a line that states the high watermark of another one in some way, or as a state if no replica follows."""
    kept = {name: line[name] for name in _PLACE if name in line}
    hw, broker = line["high_watermark"], line["witness"]
    follower = next(state.followers(broker), None)
    own = {"kind": way, "high_watermark": hw}
    if way == "leo":
        own["log_end_offset"] = state.ends[broker]
    elif way == "consumed":
        own = {"kind": way, "offset": hw - 1}
    elif way == "produced":
        own |= {"offset": hw - 1, "detail": "acks=all"}
    elif way == "acknowledged":
        own = {"kind": "produced", "offset": hw - 1, "detail": "acks=all"}
    elif way in ("leader_hw", "follower_fetched"):
        own = {"kind": "state", "high_watermark": hw}
        if follower is not None:
            own = {"kind": way, "witness": follower, "leader_high_watermark": hw}
            own |= {"log_end_offset": state.ends[follower]} if way == "follower_fetched" else {}
    return kept | own


def from_the_middle(lines: list[Line], random: Random) -> list[Line]:
    """Return the lines from some moment on, as somebody writes them who begins while the cluster is running.

    What each replica has at that moment is stated first: where its log ends, mostly its high watermark, and its role.
    The trace claims to be complete from that moment on. No line says what the records from before are.
    """
    return _from(lines, random, entries=False)


def with_entries(lines: list[Line], random: Random) -> list[Line]:
    """Return the lines from some moment on, with the epoch entries of each log at that moment."""
    return _from(lines, random, entries=True)


def _from(lines: list[Line], random: Random, *, entries: bool) -> list[Line]:
    head, *rest = lines
    times = sorted({line["time"] for line in rest if "time" in line})
    since = times[random.randrange(len(times) - 1)] if len(times) > 1 else times[0]
    state = _State()
    before = [line for line in rest if line["time"] <= since]
    for line in before:
        state.take(line)
    place = {"time": since, **_place(rest)}
    first = [*_present(state, place, random), *(state.entries(place) if entries else ())]
    claim = [{"replicas": head["replicas"], "from": since}]
    return [head | {"complete": claim}, *first, *(line for line in rest if line["time"] > since)]


def _place(lines: list[Line]) -> Line:
    named = next((line for line in lines if "topic_id" in line), next(line for line in lines if "topic" in line))
    return {name: named[name] for name in ("schema", "topic", "partition", "topic_id") if name in named}


def _present(state: _State, place: Line, random: Random) -> Iterator[Line]:
    """Yield what each replica has: in lines of their own before the roles, or in those of the roles."""
    apart, known = random.random() < 0.5, random.random() < 0.8
    lines: list[tuple[int, Line]] = []
    for broker, end in sorted(state.ends.items()):
        own = place | {"witness": broker}
        values: Line = {"log_end_offset": end}
        if known and broker in state.hws:
            values["high_watermark"] = state.hws[broker]
        role = state.roles.get(broker)
        names = ("kind", "leader", "leader_epoch")
        said = {name: role[name] for name in names if name in role} if role is not None else {}
        if state.isr is not None and (said.get("kind"), said.get("leader_epoch")) == ("become_leader", state.isr[0]):
            said["isr"] = state.isr[1]
        if apart or not said:
            lines.append((0, own | {"kind": "state"} | values))
            values = {}
        if said:
            lines.append((1, own | said | values))
    yield from (line for _, line in sorted(lines, key=lambda one: one[0]))


def mistimed(lines: list[Line], random: Random) -> list[Line]:
    """Return the lines, one of them with the time of another, or with none."""
    head, *rest = lines
    at, other = random.randrange(len(rest)), random.randrange(len(rest))
    rest[at] = rest[at] | {"time": rest[other]["time"]}
    if random.random() < 0.3:
        del rest[at]["time"]
    return [head, *rest]
