"""The same run in fewer and in more words: optional fields left out, and lines added that repeat what is so.

A field is left out only where the lines before state its value, so that the same answers follow from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

Line = dict[str, Any]

_PLACE: Final = ("schema", "time", "witness", "topic", "partition", "topic_id")
_ELECTED: Final = ("partition_created", "partition_changed", "election", "unclean_election")
_ABOUT_ISR: Final = (*_ELECTED, "become_leader", "isr_commit", "isr_shrink", "isr_expand", "isr_rejected")
_SHARE: Final = 0.5
"""So many of the fields that can be left out are."""
_ADDED: Final = 0.1
"""Behind so many lines of a replica another one is added."""


@dataclass(slots=True)
class _Replica:
    """One replica so far.

    Attributes:
        role: the line of its role; None while its process has none.
        end: log end offset.
        hw: high watermark as stated last; None where the process or the log is another one since.
        starts: first offset of each leader epoch in its log, in order.
    """

    role: Line | None = None
    end: int = 0
    hw: int | None = None
    starts: list[tuple[int, int]] = field(default_factory=list)

    @property
    def leads(self) -> bool:
        """Return whether it leads."""
        return self.role is not None and self.role["kind"] == "become_leader"

    def take(self, line: Line) -> None:
        """Take one of its lines."""
        kind = line["kind"]
        if kind == "process_start":
            self.role = self.hw = None
        elif kind in ("become_leader", "become_follower"):
            self.role = line
        elif kind == "append":
            self._appends(line["log_end_offset"], line["leader_epoch"])
        elif kind in ("truncate", "log_loaded"):
            self._ends(line["offset"] if kind == "truncate" else line["log_end_offset"])
        elif kind in ("log_created", "truncate_full"):
            self.end, self.starts, self.hw = line.get("offset", 0), [], None
        self.hw = line["high_watermark"] if kind in _HWS and "high_watermark" in line else self.hw

    def _appends(self, end: int, epoch: int) -> None:
        if not self.starts or self.starts[-1][0] < epoch:  # an epoch file has no lower one behind another
            self.starts.append((epoch, self.end))
        self.end = end

    def _ends(self, end: int) -> None:
        if end < self.end:
            self.hw = None
        self.end, self.starts = end, [one for one in self.starts if one[1] < end]


_HWS: Final = ("become_leader", "become_follower", "hw", "leader_hw", "hw_loaded", "isr_shrink", "isr_expand")
"""Kinds in which a replica states its own high watermark at this moment."""


def terse(lines: list[Line], random: Random) -> list[Line]:
    """Return the lines of a run, some without fields that others state, and some followed by more lines."""
    replicas: dict[int, _Replica] = {}
    isr: str | None = None
    told: list[Line] = []
    for at, line in enumerate(lines):
        one = replicas.setdefault(line.get("witness", -1), _Replica())
        gone = {name for name in _spare(line, one, isr) if random.random() < _SHARE}
        if line["kind"] in _ELECTED and random.random() < _SHARE and _stated_by_role(line, lines[at + 1 :]):
            gone.add("isr")
        told.append({name: value for name, value in line.items() if name not in gone})
        one.take(line)
        if line["kind"] in (*_ELECTED, "become_leader", "isr_commit"):
            isr = told[-1].get("isr", isr if line["kind"] == "become_leader" else None)
        if line["kind"] in _AGAIN and random.random() < _ADDED:
            told += _more(line, one, isr, random)
    return told


def _spare(line: Line, one: _Replica, isr: str | None) -> Iterator[str]:
    """Yield the fields of a line whose values the lines before state."""
    kind = line["kind"]
    if kind in ("become_leader", "become_follower", "isr_shrink", "isr_expand") and line["log_end_offset"] == one.end:
        yield "log_end_offset"
    if kind in _HWS and kind not in ("hw", "hw_loaded") and one.hw is not None and line["high_watermark"] == one.hw:
        yield "high_watermark"
    if kind == "become_leader" and line["isr"] == isr:
        yield "isr"
    if kind == "append":
        yield from _of_append(line, one)
    yield from _ALWAYS.get(kind, ())


_ALWAYS: Final[Mapping[str, Sequence[str]]] = {
    "isr_shrink": ("isr_before",),
    "isr_expand": ("isr_before",),
    "isr_commit": ("partition_epoch",),
    "become_leader": ("partition_epoch",),
    "become_follower": ("partition_epoch",),
}
"""Fields whose values other lines state as well."""


def _of_append(line: Line, one: _Replica) -> Iterator[str]:
    """Yield the fields of an append that follow from the log and the role of its replica."""
    if line["offset"] == one.end:
        yield "offset"
    if one.leads:
        yield "leader_epoch"


def _stated_by_role(line: Line, later: Sequence[Line]) -> bool:
    """Return whether the next line about the ISR is that of the role of the elected leader, with the same ISR."""
    following = next((one for one in later if one["kind"] in _ABOUT_ISR), None)
    if following is None or following["kind"] != "become_leader" or "isr" not in line:
        return False
    same = ("leader_epoch", "isr")
    return following["witness"] == line["leader"] and all(following[name] == line[name] for name in same)


_AGAIN: Final = ("append", "truncate", "hw", "leader_hw", "become_leader", "become_follower", "follower_fetched")
"""Kinds of line behind which others may be added."""


def _more(line: Line, one: _Replica, isr: str | None, random: Random) -> Iterator[Line]:
    """Yield lines that state once more what is so of a replica."""
    kept = {name: line[name] for name in _PLACE if name in line}
    way = random.choice(("state", "leo", "role", "entries"))
    hw = {"high_watermark": one.hw} if one.hw is not None and random.random() < _SHARE else {}
    if way == "state":
        epoch = {} if one.role is None else {"leader_epoch": one.role["leader_epoch"]}
        stated = hw | epoch | ({"isr": isr} if one.leads and isr is not None else {})
        yield kept | {"kind": way, "log_end_offset": one.end} | stated
    elif way == "leo":
        yield kept | {"kind": way, "log_end_offset": one.end} | hw
    elif way == "entries":
        yield from (kept | {"kind": "epoch_entry", "leader_epoch": epoch, "offset": at} for epoch, at in one.starts)
    elif one.role is not None and (one.leads or line is one.role):
        of_role = {name: one.role[name] for name in ("kind", "leader", "leader_epoch") if name in one.role}
        members = {"isr": isr} if one.leads and isr is not None and random.random() < _SHARE else {}
        yield kept | of_role | {"log_end_offset": one.end} | members | hw
