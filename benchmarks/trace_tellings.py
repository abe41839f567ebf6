"""The same run in other lines: high watermarks in lines of other kinds, and one witness for all replicas."""

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


def otherwise(lines: list[Line], random: Random) -> list[Line]:
    """Return the lines with half of those of kind ``hw`` left out, and their values in lines of other kinds."""
    state = _State()
    told: list[Line] = []
    for at, line in enumerate(lines):
        if line["kind"] == "hw" and state.rises(line) and random.random() < 0.5:
            told.append(random.choice([*_other(line, state, lines[at + 1 :])]))
        else:
            told.append(line)
        state.take(line)
    return told


@dataclass(slots=True)
class _State:
    """Roles, log ends and high watermarks so far, by broker."""

    roles: dict[int, Line] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    hws: dict[int, int] = field(default_factory=dict)

    def take(self, line: Line) -> None:
        """Take one line."""
        broker, kind = line.get("witness", -1), line["kind"]
        if kind == "process_start":
            self.roles.pop(broker, None)
        if kind in _ROLES:
            self.roles[broker] = line
            self.ends[broker] = line["log_end_offset"]
        if kind in _ENDS:
            self.ends[broker] = line[_ENDS[kind]]
        if "high_watermark" in line:
            self.hws[broker] = line["high_watermark"]

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


def _other(line: Line, state: _State, later: list[Line]) -> Iterator[Line]:
    """Yield lines of other kinds that state the high watermark of a line."""
    kept = {name: line[name] for name in _PLACE if name in line}
    hw, broker = line["high_watermark"], line["witness"]
    yield kept | {"kind": "state", "high_watermark": hw}
    yield kept | {"kind": "consumed", "offset": hw - 1}
    yield kept | {"kind": "produced", "offset": hw - 1, "detail": "acks=all"}
    for follower in state.followers(broker):
        own = kept | {"witness": follower, "leader_high_watermark": hw}
        yield own | {"kind": "leader_hw"}
        yield own | {"kind": "follower_fetched", "log_end_offset": state.ends[follower]}
    following = next((one for one in later if one.get("witness") == broker and one["kind"] in _WRITTEN), {})
    if following.get("kind") == "hw_checkpoint" and following["high_watermark"] >= hw:
        yield kept | {"kind": "hw_checkpoint", "high_watermark": hw}  # the file holds no less afterwards


_WRITTEN: Final = ("hw_checkpoint", "process_start")
