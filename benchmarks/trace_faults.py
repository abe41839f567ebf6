"""Faults that runs of the model hardly have, added to their traces; and runs that begin with records.

A fault is a line that breaks a rule, lines that fork a log, or a line that contradicts those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, Final

from forensics.rules.finding import Judgement, Verdict

Lines = list[dict[str, Any]]

GAP: Final = "nothing is clean"
"""In place of a rule: the trace contradicts itself, so no rule may be clean."""

FORK: Final = "replica-divergence"

UNLED: Final = "an epoch without a leader"
FALSE_ANSWER: Final = "a false answer where an epoch ends"
"""In place of a rule: a line that the lines of leaders refute, so no rule may be clean."""

OTHER_BATCH: Final = "replica-divergence by a checksum"
"""In place of a rule: a follower states another checksum than its leader. Records that are not committed are a gap."""

HW_ALONE: Final = "hw-above-leo by a follower's line of its high watermark alone"

LOST_CHECKPOINT: Final = "hw-regression by a clean stop"
"""In place of a rule: a process that stopped cleanly wrote its high watermark, and the next one finds none."""

BEFORE_FORK: Final = "replica-divergence before the run"
"""In place of a rule: the records with which two replicas begin are of other leader epochs, by their entries alone."""

_PLACE: Final = ("schema", "time", "witness", "topic", "partition", "topic_id")


def _behind(rule: str, line: dict[str, Any]) -> dict[str, Any] | None:
    """Return a line that breaks a rule right behind another one, or None if it cannot follow it."""
    kept = {name: line[name] for name in _PLACE if name in line}
    hw, end = line.get("high_watermark", -1), line.get("log_end_offset", -1)
    leads, isr = line["kind"] == "become_leader", line.get("isr", "").split(",")
    if rule == "lso-above-hw" and leads and hw >= 0:
        return kept | {"kind": "state", "last_stable_offset": hw + 1}
    if rule == "hw-above-leo" and line["kind"] == "append":
        return kept | {"kind": "state", "log_end_offset": end, "high_watermark": end + 1}
    if rule == "hw-above-isr-member" and leads and len(isr) > 1:
        return kept | {"kind": "hw", "high_watermark": 1 << 20}
    if rule == "hw-regression" and (leads or line["kind"] == "hw") and hw > 0:
        return kept | {"kind": "hw", "high_watermark": hw - 1}
    if rule == "two-leaders-one-epoch" and line["kind"] == "become_follower" and line.get("leader", -1) >= 0:
        return kept | {"kind": "become_leader", "leader_epoch": line["leader_epoch"], "log_end_offset": end}
    if rule == "leo-regression" and line["kind"] == "append":
        return kept | {"kind": "state", "log_end_offset": end - 1}
    if rule == "epoch-divergence" and line["kind"] == "append":
        return kept | {"kind": "epoch_entry", "leader_epoch": line["leader_epoch"], "offset": end}
    if rule == HW_ALONE and line["kind"] == "leader_hw":
        return kept | {"kind": "hw", "high_watermark": 1 << 20}
    if rule == UNLED and line["kind"] == "append":
        return kept | {"kind": "epoch_assigned", "leader_epoch": line["leader_epoch"] + 1_000, "offset": end}
    if rule == GAP and line["kind"] == "append":
        return kept | {"kind": "append", "offset": end + 4, "log_end_offset": end + 9}
    return None


DRAWN: Final = (
    "lso-above-hw",
    "hw-above-leo",
    "hw-above-isr-member",
    "hw-regression",
    "two-leaders-one-epoch",
    "leo-regression",
    "epoch-divergence",
    GAP,
    FORK,
    HW_ALONE,
    UNLED,
    FALSE_ANSWER,
    OTHER_BATCH,
)
"""Rules that are broken by lines that are added, one in each run."""

ADDED: Final = (*DRAWN, BEFORE_FORK, LOST_CHECKPOINT)
"""Rules that are broken."""


def faulty(lines: Lines, seed: int) -> tuple[str, Lines]:
    """Return a rule, and the lines with some more that break it; "" if such lines can follow none."""
    rule = DRAWN[seed % len(DRAWN)]
    made = _with(rule, lines, seed)
    return (rule if made else "", made or lines)


def forked_before(lines: Lines, _: int) -> tuple[str, Lines]:
    """Return a run that begins with records that are forked; "" with the lines if it cannot begin with records."""
    forked = _of_other_epochs(begun(lines))
    return (BEFORE_FORK if forked else "", forked or lines)


def without_checkpoint(lines: Lines, _: int) -> tuple[str, Lines]:
    """Return a run in which a process finds no high watermark after a clean stop; "" if none stopped cleanly."""
    without = _without_checkpoint(lines)
    return (LOST_CHECKPOINT if without else "", without or lines)


def _with(rule: str, lines: Lines, seed: int) -> Lines:
    """Return the lines with some more that break a rule; nothing if such lines can follow none."""
    if rule in _MADE:
        return _MADE[rule](lines, seed)
    places = [(at, made) for at, line in enumerate(lines) if (made := _behind(rule, line)) is not None]
    led = {line["leader_epoch"] for line in lines if line["kind"] == "become_leader"}
    if rule == "two-leaders-one-epoch":
        places = [(at, made) for at, made in places if made["leader_epoch"] in led]
    if rule == "epoch-divergence":
        places = [(at, made) for at, made in places if _begins_epoch(lines, at)]
    if not places:
        return []
    at, one = Random(seed).choice(places)
    return [*lines[: at + 1], one, *lines[at + 1 :]]


def _begins_epoch(lines: Lines, at: int) -> bool:
    """Return whether an append is the first of its leader epoch by its broker, and no process has loaded the log."""
    one = lines[at]
    before = [line for line in lines[:at] if line.get("witness") == one["witness"]]
    again = any(line["kind"] == "log_loaded" for line in before)
    return not again and not any(
        line["kind"] == "append" and line.get("leader_epoch") == one["leader_epoch"] for line in before
    )


def _with_fork(lines: Lines, _: int) -> Lines:
    """Return the lines with those of a fork behind them; nothing if no log can fork."""
    added = [*_forked(lines)]
    return [*lines, *added] if added else []


def _forked(lines: Lines) -> Iterator[dict[str, Any]]:
    """Yield lines after which a follower and its leader hold records of two epochs at the end of equal logs."""
    roles: dict[int, dict[str, Any]] = {}
    ends: dict[int, int] = {}
    for line in lines:
        if line["kind"] in ("become_leader", "become_follower"):
            roles[line["witness"]] = line
        if line["kind"] == "process_start":
            roles.pop(line["witness"], None)
        if line["kind"] == "log_end":
            ends[line["witness"]] = line["log_end_offset"]
    for follower, role in sorted(roles.items()):
        leader = role.get("leader", -1)
        led = roles.get(leader, {})
        if role["kind"] == "become_leader" or led.get("kind") != "become_leader":
            continue
        if led["leader_epoch"] != role["leader_epoch"] or ends.get(follower) != ends.get(leader):
            continue
        kept = {name: role[name] for name in _PLACE if name in role} | {"time": lines[-1]["time"]}
        first, epoch = ends[leader], role["leader_epoch"]
        for broker, written in ((follower, epoch + 1), (leader, epoch)):
            own = kept | {"witness": broker}
            yield own | {"kind": "append", "offset": first, "log_end_offset": first + 5, "leader_epoch": written}
        for broker in (leader, follower):
            yield kept | {"witness": broker, "kind": "hw", "high_watermark": first + 5}
        return


def _of_other_batch(lines: Lines, seed: int) -> Lines:
    """Return the lines with another checksum in a record batch that a follower has of its leader; nothing without."""
    batches = {at: (line.get("offset"), line.get("checksum")) for at, line in enumerate(lines)}
    following = dict(_following(lines))
    written = {(lines[at]["witness"], batch) for at, batch in batches.items() if at not in following and batch[1]}
    places = [at for at, leader in following.items() if (leader, batches[at]) in written]
    if not places:
        return []
    at = Random(seed).choice(places)
    return [*lines[:at], lines[at] | {"checksum": "another"}, *lines[at + 1 :]]


def _with_false_answer(lines: Lines, seed: int) -> Lines:
    """Return the lines with an answer where a leader epoch ends, far above the log of the leader; nothing without."""
    places = [*_following(lines)]
    if not places:
        return []
    at, leader = Random(seed).choice(places)
    kept = {name: lines[at][name] for name in _PLACE if name in lines[at]}
    answer = kept | {"kind": "epoch_reply", "leader": leader, "leader_epoch": 0, "offset": 1 << 20}
    return [*lines[: at + 1], answer, *lines[at + 1 :]]


def _following(lines: Lines) -> Iterator[tuple[int, int]]:
    """Yield the appends of followers whose leader leads in their epoch by the lines before, with that leader."""
    roles: dict[int, dict[str, Any]] = {}
    for at, line in enumerate(lines):
        broker = line.get("witness", -1)
        if line["kind"] in ("become_leader", "become_follower"):
            roles[broker] = line
        if line["kind"] == "process_start":
            roles.pop(broker, None)
        role = roles.get(broker, {})
        led = roles.get(role.get("leader", -1), {})
        leads = led.get("kind") == "become_leader" and led["leader_epoch"] == role["leader_epoch"]
        if line["kind"] == "append" and role.get("kind") == "become_follower" and leads:
            yield at, role["leader"]


def _without_checkpoint(lines: Lines) -> Lines:
    """Return the lines with no high watermark read back after a clean stop; nothing if no process stopped cleanly."""
    for at, line in enumerate(lines):
        broker = line.get("witness")
        if line["kind"] == "hw_loaded" and line["high_watermark"] > 0:
            own = [one["kind"] for one in lines[:at] if one.get("witness") == broker]
            stopped = [kind for kind in own if kind in ("clean_restart", "unclean_restart", "hw")][-2:]
            if stopped == ["hw", "clean_restart"]:
                missing = {name: line[name] for name in _PLACE if name in line} | {"kind": "hw_missing"}
                kept = [one for one in lines[:at] if (one["kind"], one.get("witness")) != ("hw_checkpoint", broker)]
                return [*kept, missing, *lines[at + 1 :]]
    return []


_MADE: Final[Mapping[str, Callable[[Lines, int], Lines]]] = {
    FORK: _with_fork,
    OTHER_BATCH: _of_other_batch,
    FALSE_ANSWER: _with_false_answer,
}
"""Makers of faults that are no single line behind another one."""


def found(rule: str, verdicts: Mapping[str, Judgement]) -> bool:
    """Return whether the answers are those that an added fault must have."""
    if rule == LOST_CHECKPOINT:
        return verdicts["hw-regression"].verdict is Verdict.VIOLATED
    if rule == BEFORE_FORK:
        apart = verdicts[FORK].findings, verdicts["epoch-divergence"].findings
        return all(any((FORKED, ENTRIES[-1][1]) in one.offsets for one in found) for found in apart)
    undecided = Verdict.CLEAN not in {one.verdict for one in verdicts.values()}
    if rule in (GAP, UNLED, FALSE_ANSWER):
        return undecided
    if rule == OTHER_BATCH:
        return undecided or verdicts[FORK].verdict is Verdict.VIOLATED
    if rule == HW_ALONE:
        return verdicts["hw-above-leo"].verdict is Verdict.VIOLATED
    return verdicts[rule].verdict is Verdict.VIOLATED


BEFORE: Final = 1_000
"""Records with which each replica begins in a run that is moved."""

ENTRIES: Final = ((0, 0), (1, 400), (2, 700))
"""Leader epochs of these records, each with its first offset."""

FORKED: Final = 600
"""First offset of the last of these epochs in a log that is forked."""

_OFFSETS: Final = (
    "offset",
    "log_end_offset",
    "high_watermark",
    "high_watermark_before",
    "leader_high_watermark",
    "last_stable_offset",
)


def begun(lines: Lines) -> Lines:
    """Return a run whose replicas begin with records: each offset of the run is so much higher.

    Nothing if a log is created twice, or a checkpoint is gone: then the records before the run are lost as well.
    """
    created = [line["witness"] for line in lines if line["kind"] == "log_created"]
    if len(created) > len({*created}) or not created:
        return []
    moved: Lines = []
    new: set[int] = set()
    for line in lines:
        if line["kind"] == "log_created":
            new.add(line["witness"])
            kept = {name: line[name] for name in _PLACE if name in line}
            moved.append(kept | {"kind": "log_loaded", "log_end_offset": BEFORE})
            moved += [kept | {"kind": "epoch_entry", "leader_epoch": one, "offset": at} for one, at in ENTRIES]
        elif line["kind"] == "hw_missing":
            if line["witness"] not in new:
                return []
            new.discard(line["witness"])
            moved.append(line | {"kind": "hw_loaded", "high_watermark": BEFORE})
        else:
            moved.append(_moved(line))
    return moved


def _of_other_epochs(lines: Lines) -> Lines:
    """Return a moved run in which the last epoch before it begins earlier in one of the logs; nothing without two."""
    last = [at for at, line in enumerate(lines) if line["kind"] == "epoch_entry" and line["offset"] == ENTRIES[-1][1]]
    if len(last) < 2:
        return []
    at = last[0]
    return [*lines[:at], lines[at] | {"offset": FORKED}, *lines[at + 1 :]]


def _moved(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with its offsets and epochs moved. An unknown end is -1; numbers of brokers are no offsets."""
    if line.get("leader_epoch", -1) >= 0:
        line = line | {"leader_epoch": line["leader_epoch"] + len(ENTRIES)}
    if line["kind"] in ("broker_registered", "broker_fenced") or line.get("offset", 0) < 0:
        return line
    return line | {name: line[name] + BEFORE for name in _OFFSETS if name in line and line[name] >= 0}


Answer = tuple[Verdict, tuple[tuple[tuple[tuple[int, int], ...], str], ...]]


def answer(judgement: Judgement, by: int = 0) -> Answer:
    """Return a verdict with the offsets of its findings, each so much lower.

    The severity of a truncation says whether the partition lost the records, so it is compared as well.
    """
    severe = judgement.rule == "truncation-below-committed"
    found = (
        (tuple((first - by, end - by) for first, end in finding.offsets), finding.severity.value if severe else "")
        for finding in judgement.findings
    )
    return judgement.verdict, tuple(sorted(found))
