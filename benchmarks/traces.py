"""Random runs of the model, judged from their traces alone and compared with what really happened.

Each run is played under every protocol and written as a trace. The whole trace is judged, which claims to be complete.
The same trace is judged with some lines of one broker dropped, where the claim is about the others. The whole trace is
judged once more with one line added that breaks a rule. For each protocol the table shows the runs, the answers, the
share of decided ones (violated at exactly the right offsets, or clean), and the missed and wrong ones. Either ends the
program with 1.

    python -m benchmarks.traces [--runs N] [--first SEED] [--protocol NAME]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from forensics.model import PROTOCOLS
from forensics.model.protocol import Protocol
from forensics.model.trace import Event
from forensics.replay.partitions import histories
from forensics.rules import RULES, judged
from forensics.rules.finding import Judgement
from tests.model import batches

BATCH = 20
"""Runs that are judged by one scan."""

ASKED = (
    *batches.QUESTIONS,
    "hw-above-leo",
    "epoch-divergence",
    "two-leaders-one-epoch",
    "hw-regression",
    "leo-regression",
    "lso-above-hw",
    "hw-above-isr-member",
    "unclean-election",
)
"""Rules whose answers are compared."""

WHOLE, LESS, FAULTY = "whole", "lines dropped", "fault added"
"""The kinds of trace."""

Lines = list[dict[str, Any]]
Verdicts = Mapping[str, Judgement]


class Told(NamedTuple):
    """One answer to one question about one run.

    Attributes:
        rule: the rule that answers.
        kind: ``right``, ``unknown``, ``in part`` (violated, with less than all offsets), ``missed`` (clean, although
            violated) or ``wrong``.
    """

    rule: str
    kind: str


def regressions(lines: Lines) -> dict[str, bool]:
    """Return, from every step of a run, whether a log was found shorter than it was, and whether a leader's high
    watermark fell or a checkpointed one was gone.
    """
    ends: dict[int, int] = {}
    led: dict[int, int] = {}
    kept: dict[int, int] = {}
    found = {"leo-regression": False, "hw-regression": False}
    for line in lines:
        witness, kind = line.get("witness", -1), line["kind"]
        end = 0 if kind == "log_created" else line.get("log_end_offset")
        if kind == "truncate":
            ends[witness] = min(ends.get(witness, 0), line["offset"])
        elif end is not None and "replica" not in line:
            loaded = kind in ("log_loaded", "log_created", "log_end")
            found["leo-regression"] |= loaded and end < ends.get(witness, 0)
            ends[witness] = end
        found["hw-regression"] |= _fell(led, witness, line)
        found["hw-regression"] |= kind == "hw_missing" and witness in kept and ends.get(witness, 0) > 0
        if kind == "hw_loaded" and witness in kept:
            found["hw-regression"] |= line["high_watermark"] < min(kept[witness], ends.get(witness, 0))
        if kind == "hw_checkpoint":
            kept[witness] = line["high_watermark"]
        if kind == "log_created":
            kept.pop(witness, None)
    return found


def _fell(led: dict[int, int], witness: int, line: dict[str, Any]) -> bool:
    """Note the high watermark of a leader; return whether it is below that before, in the same leadership."""
    if line["kind"] in ("process_start", "become_follower"):
        led.pop(witness, None)
    if line["kind"] == "become_leader":
        led[witness] = line.get("high_watermark", 0)
    if witness not in led or line["kind"] != "hw":
        return False
    before, led[witness] = led[witness], line["high_watermark"]
    return led[witness] < before


def of_isr(events: Iterable[Event]) -> dict[str, bool]:
    """Return, from the model's own states, whether a leader came from outside the ISR, and whether the newest leader
    stated a high watermark above the log of a member.
    """
    ends: dict[int, int] = {}
    isr: list[int] = []
    newest = -1
    found = {"unclean-election": False, "hw-above-isr-member": False}
    for event in events:
        found["unclean-election"] |= bool(event.facts.get("unclean"))
        state, broker = event.state, event.broker
        if event.kind in _STATE_ISR:
            isr = event.facts["isr"]
        if broker is None or "log_end_offset" not in state:
            continue
        ends[broker] = (
            event.facts["leo"] if event.kind == "starts" and event.facts["found"] else state["log_end_offset"]
        )
        newest = max(newest, state["leader_epoch"])
        if event.kind in _STATE_HW and state["role"] == "leader" and state["leader_epoch"] == newest:
            behind = [one for one in isr if one != broker and ends.get(one, 0) < state["high_watermark"]]
            found["hw-above-isr-member"] |= bool(behind)
    return found


_STATE_HW = ("leads", "hw_raised", "isr_proposed")
_STATE_ISR = ("topic_created", "partition_online", "partition_changed", "isr_without", "isr_committed")


def truths(truth: dict[str, Any], lines: Lines, events: Iterable[Event]) -> dict[str, bool]:
    """Rule -> whether it is violated, for the rules that are asked besides the three questions."""
    return {
        "lso-above-hw": False,
        **of_isr(events),
        "hw-above-leo": bool(truth["expect"].get("hw_above_leo")),
        "epoch-divergence": truth["expect"]["diverged"],
        "two-leaders-one-epoch": False,
        **regressions(lines),
    }


def dropped(lines: Lines, random: Random) -> Lines:
    """Return the lines without some of one broker, of which the trace then no longer claims to state each change."""
    head, *rest = lines
    broker = random.choice(head["replicas"])
    own = [number for number, line in enumerate(rest) if line.get("witness") == broker]
    lost = set(random.sample(own, min(len(own), random.choice((1, 3, 10, len(own))))))
    others = [one for one in head["replicas"] if one != broker]
    return [head | {"complete": others}, *(line for number, line in enumerate(rest) if number not in lost)]


def _line_added(rule: str, line: dict[str, Any]) -> dict[str, Any] | None:
    """Return a line that breaks a rule right behind another one, or None if it cannot follow it."""
    kept = {
        name: line[name] for name in ("schema", "time", "witness", "topic", "partition", "topic_id") if name in line
    }
    hw, end = line.get("high_watermark", -1), line.get("log_end_offset", -1)
    leads, isr = line["kind"] == "become_leader", line.get("isr", "").split(",")
    if rule == "lso-above-hw" and leads and hw >= 0:
        return kept | {"kind": "state", "last_stable_offset": hw + 1}
    if rule == "hw-above-leo" and line["kind"] == "append":
        return kept | {"kind": "state", "log_end_offset": end, "high_watermark": end + 1}
    if rule == "hw-above-isr-member" and leads and len(isr) > 1:
        return kept | {"kind": "hw", "high_watermark": 1 << 20}
    if rule == "hw-regression" and leads and hw > 0:
        return kept | {"kind": "hw", "high_watermark": hw - 1}
    if rule == "two-leaders-one-epoch" and line["kind"] == "become_follower" and line.get("leader", -1) >= 0:
        return kept | {"kind": "become_leader", "leader_epoch": line["leader_epoch"], "log_end_offset": end}
    return None


ADDED = ("lso-above-hw", "hw-above-leo", "hw-above-isr-member", "hw-regression", "two-leaders-one-epoch")
"""Rules that runs of the model hardly break: a line is added that breaks one of them."""


def faulty(lines: Lines, seed: int) -> tuple[str, Lines]:
    """Return a rule, and the lines with one more that breaks it; "" if such a line can follow none."""
    rule = ADDED[seed % len(ADDED)]
    places = [(at, made) for at, line in enumerate(lines) if (made := _line_added(rule, line)) is not None]
    led = {line["leader_epoch"] for line in lines if line["kind"] == "become_leader"}
    if rule == "two-leaders-one-epoch":
        places = [(at, made) for at, made in places if made["leader_epoch"] in led]
    if not places:
        return "", lines
    at, made = Random(seed).choice(places)
    return rule, [*lines[: at + 1], made, *lines[at + 1 :]]


def _of_faults(whole: Sequence[Lines], schedules: Sequence[batches.Schedule], run: str) -> Counter[Told]:
    """Judge traces with an added fault; each must be found."""
    pairs = [faulty(lines, one.seed) for lines, one in zip(whole, schedules, strict=True)]
    verdicts = judgements(["".join(json.dumps(line) + "\n" for line in lines) for _, lines in pairs])
    counts = Counter[Told]()
    for place, ((rule, _), one) in enumerate(zip(pairs, schedules, strict=True)):
        if rule:
            said = {each[rule].verdict.value for each in verdicts.get(f"run-{place}", [])}
            told = Told(rule, _kind(said, so=True))
            counts.update([told])
            _tell([told], FAULTY, f"{run}, seed {one.seed}")
    return counts


def answers(
    verdicts: Sequence[Verdicts], truth: dict[str, Any], lines: Lines, events: Iterable[Event]
) -> Iterator[Told]:
    """Compare the verdicts on a partition with what is so."""
    for one in batches.compared([dict(each) for each in verdicts], truth):
        yield Told(one.rule, _KINDS.get(one.kind, "wrong" if one.wrong else "right"))
    for rule, so in truths(truth, lines, events).items():
        yield Told(rule, _kind({each[rule].verdict.value for each in verdicts}, so=so))


_KINDS = {"unknown, violated": "unknown", "unknown, clean": "unknown", "violated in part": "in part"}


def _kind(said: set[str], *, so: bool) -> str:
    if "violated" not in said and ("unknown" in said or not said):
        return "unknown"
    if so and "violated" not in said:
        return "missed"
    return "right" if ("violated" in said) == so else "wrong"


def judgements(content: Sequence[str]) -> dict[str, list[dict[str, Judgement]]]:
    """The verdicts on each topic of several traces, all judged by one scan."""
    files = [{f"run-{place}/trace.jsonl": text.encode()} for place, text in enumerate(content)]
    found: dict[str, list[dict[str, Judgement]]] = {}
    for part in batches.taken(files).parts:
        for history in histories(part):
            asked = {rule.id: judged(rule, history, part) for rule in RULES if rule.id in ASKED}
            found.setdefault(history.topic, []).append(asked)
    return found


def compare(
    protocol: Protocol, schedules: Sequence[batches.Schedule], *, less: bool = True
) -> dict[str, Counter[Told]]:
    """Play runs of a protocol; return the answers for whole traces and, if asked, for those with lines dropped."""
    runs = [one.play(protocol, place) for place, one in enumerate(schedules)]
    whole = [[json.loads(line) for line in run.observations().splitlines()] for run in runs]
    traces = {WHOLE: whole}
    if less:
        pairs = zip(whole, schedules, strict=True)
        traces[LESS] = [dropped(lines, Random(one.seed)) for lines, one in pairs]
    found: dict[str, Counter[Told]] = {FAULTY: _of_faults(whole, schedules, protocol.name)}
    for name, told in traces.items():
        verdicts = judgements(["".join(json.dumps(line) + "\n" for line in lines) for lines in told])
        counts = found.setdefault(name, Counter())
        for place, (run, one) in enumerate(zip(runs, schedules, strict=True)):
            given = list(answers(verdicts.get(f"run-{place}", []), run.truth(), whole[place], run.cluster.trace))
            counts.update(given)
            _tell(given, name, f"{protocol.name}, seed {one.seed}")
    return found


def _tell(given: Sequence[Told], name: str, run: str) -> None:
    """Print the answers of a run that are wrong, and those that a whole trace leaves open."""
    for one in given:
        if one.kind in ("missed", "wrong") or (one.kind != "right" and name == WHOLE):
            print(f"{run}, {name}: {one.rule} {one.kind}", file=sys.stderr)


def table(counts: Mapping[tuple[str, str], Counter[Told]], runs: int) -> str:
    """One line for each protocol and kind of trace."""
    names = ("runs", "answers", "decided", "in part", "unknown", "missed", "wrong")
    rows = [f"{'protocol':9} {'trace':14}" + "".join(f"{name:>9}" for name in names)]
    for (protocol, name), told in counts.items():
        of = Counter[str]()
        for one, count in told.items():
            of[one.kind] += count
        share = f"{of['right'] / max(1, of.total()):.1%}"
        shown = [str(runs), str(of.total()), share, *(str(of[kind]) for kind in names[3:])]
        rows.append(f"{protocol:9} {name:14}" + "".join(f"{one:>9}" for one in shown))
    return "\n".join(rows)


def by_rule(counts: Mapping[tuple[str, str], Counter[Told]]) -> str:
    """One line for each rule and kind of answer that is not right."""
    found = Counter[str]()
    for (_, name), told in counts.items():
        found.update({f"{name}: {one.rule} {one.kind}": count for one, count in told.items() if one.kind != "right"})
    return "\n".join(f"{count:6}  {text}" for text, count in sorted(found.items()))


def main() -> int:
    """Play, judge, compare and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.traces", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="runs of each protocol")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first run")
    parser.add_argument("--protocol", choices=[one.name for one in PROTOCOLS], help="only this one")
    asked = parser.parse_args()
    total: dict[tuple[str, str], Counter[Told]] = {}
    for protocol in PROTOCOLS:
        if asked.protocol not in (None, protocol.name):
            continue
        for first in range(asked.first, asked.first + asked.runs, BATCH):
            seeds = range(first, min(first + BATCH, asked.first + asked.runs))
            for name, told in compare(protocol, [batches.drawn(seed) for seed in seeds]).items():
                total.setdefault((protocol.name, name), Counter()).update(told)
    print(table(total, asked.runs))
    print(by_rule(total))
    return 1 if any(one.kind in ("missed", "wrong") for told in total.values() for one in told) else 0


if __name__ == "__main__":
    raise SystemExit(main())
