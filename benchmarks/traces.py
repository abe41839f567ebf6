"""Random runs of the model, judged from their traces alone and compared with what really happened.

Each run is played under every protocol and written as a trace. The whole trace is judged, which claims to be complete.
The same trace is judged with some lines of one broker dropped, where the claim is about the others. It is judged with
lines of some kinds dropped, where the claim is about other kinds, and from the middle on, where the claim is about the
time since. The latter is also judged with epoch entries, which say what the records from before are. The whole trace is
judged once more with lines added that break a rule or contradict it, and once as a run that begins with records. It is
also judged with its high watermarks in lines of other kinds, with one witness for all replicas, and with the time of
one line wrong. And it is judged with optional fields left out, and with lines added that repeat what is so.

For each protocol the table shows the runs, the answers, the share of decided ones (violated at exactly the right
offsets, or clean), and the missed and wrong ones. Either ends the program with 1. The last columns are the answers
about rules that a run violates, and how many of these were found violated.

    python -m benchmarks.traces [--runs N] [--first SEED] [--protocol NAME]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from benchmarks import terse_traces, trace_faults, trace_tellings
from forensics.model import PROTOCOLS
from forensics.model.cluster import Cluster
from forensics.model.protocol import Protocol
from forensics.model.trace import Event
from forensics.replay.facts.directory import Ref
from forensics.replay.lineage import intersect
from forensics.replay.partitions import histories
from forensics.replay.truncations.removals import Fate
from forensics.rules import RULES, judged
from forensics.rules.committed_data_lost import SERVED_AGAIN
from forensics.rules.finding import LOG, Finding, Judgement, Severity, Verdict
from forensics.rules.truncation_below_committed import OUTCOMES
from parsers.details import Claim
from parsers.formats.trace_kinds import CLAIMED_BY
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
    "uncommitted-truncation",
)
"""Rules whose answers are compared."""

WHOLE, LESS, FAULTY, BEGUN = "whole", "lines dropped", "fault added", "begun late"
OTHERWISE, OBSERVED, MISTIMED, TERSE = "other kinds", "one witness", "a wrong time", "other fields"
OF_KINDS, MIDDLE, ENTRIES = "kinds dropped", "from the middle", "with entries"
"""The kinds of trace."""

Lines = list[dict[str, Any]]
Verdicts = Mapping[str, Judgement]


class Told(NamedTuple):
    """One answer to one question about one run.

    Attributes:
        rule: the rule that answers.
        kind: ``right``, ``unknown``, ``in part`` (violated, with less than all offsets), ``missed`` (clean, although
            violated) or ``wrong``.
        violated: the run violates the rule.
    """

    rule: str
    kind: str
    violated: bool = False


def of_states(cluster: Cluster) -> dict[str, bool]:
    """Return whether two leaders or a regression occurred, from the model's own states.

    A log regressed if it became shorter without a truncation. A high watermark regressed if that of a leader fell, or
    a checkpointed one was gone.
    """
    states = _States()
    for event in cluster.trace:
        states.take(event)
    had = {broker for broker, end in states.ends.items() if end > 0}
    for node in cluster.brokers.values():
        end = node.replica.log.end if node.replica.on_disk else 0
        states.shorter |= node.id in had and end < states.ends[node.id]
    return {
        "two-leaders-one-epoch": any(len(brokers) > 1 for brokers in states.leaders.values()),
        "leo-regression": states.shorter,
        "hw-regression": states.hw_fell,
    }


@dataclass(slots=True)
class _States:
    """The states of all replicas so far.

    Attributes:
        leaders: brokers that led, by leader epoch.
        ends: log end offset by broker.
        led: of a broker that leads, its leader epoch and high watermark.
        kept: checkpointed high watermark by broker.
        shorter, hw_fell: whether a log, or a high watermark, was lower than before where it may not be.
    """

    leaders: dict[int, set[int]] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    led: dict[int, tuple[int, int]] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    shorter: bool = False
    hw_fell: bool = False

    def take(self, event: Event) -> None:
        """Take one event with the state after it."""
        broker, state = event.broker, event.state
        if broker is None or "log_end_offset" not in state:
            return
        loaded = event.kind == "starts" and event.facts["found"]
        end = event.facts["leo"] if loaded else state["log_end_offset"]
        self.shorter |= event.kind != "cut" and end < self.ends.get(broker, 0)
        self.ends[broker] = end
        self._checkpoint(event, broker, end)
        if event.kind == "starts" or state["role"] != "leader":
            self.led.pop(broker, None)
            return
        epoch, hw = state["leader_epoch"], state["high_watermark"]
        self.leaders.setdefault(epoch, set()).add(broker)
        before = self.led.get(broker, (-1, 0))
        self.hw_fell |= before[0] == epoch and hw < before[1]
        self.led[broker] = epoch, hw

    def _checkpoint(self, event: Event, broker: int, end: int) -> None:
        """Compare the high watermark that a process reads back with the one in its checkpoint."""
        if event.kind == "log_created":
            self.kept.pop(broker, None)
        elif event.kind == "checkpoints_hw":
            self.kept[broker] = event.facts["hw"]
        elif event.kind == "hw_loaded" and broker in self.kept:
            gone = event.facts["found"] is None
            self.hw_fell |= end > 0 if gone else event.facts["hw"] < min(self.kept[broker], end)


def of_isr(cluster: Cluster) -> dict[str, bool]:
    """Return, from the model's own states, whether a leader came from outside the ISR, and whether the high watermark
    of the newest leader was above the log of a member. The logs that disks hold at the end count, too.
    """
    ends: dict[int, int] = {}
    isr: list[int] = []
    newest, leader, hw = -1, None, 0
    unclean = above = False
    for event in cluster.trace:
        unclean |= bool(event.facts.get("unclean"))
        state, broker = event.state, event.broker
        if event.kind in _STATE_ISR:
            isr = event.facts["isr"]
        if event.facts.get("leader", leader) != leader and event.kind in _STATE_ISR:
            leader = None  # until the new one takes its epoch up
        if broker is not None and "log_end_offset" in state:
            loaded = event.kind == "starts" and event.facts["found"]
            ends[broker] = event.facts["leo"] if loaded else state["log_end_offset"]
            newest = max(newest, state["leader_epoch"])
            if event.kind in _STATE_HW and state["role"] == "leader" and state["leader_epoch"] == newest:
                leader, hw = broker, state["high_watermark"]
        above |= leader is not None and _behind(ends, isr, leader, hw)
    left = {node.id: node.replica.log.end if node.replica.on_disk else 0 for node in cluster.brokers.values()}
    above |= leader is not None and _behind(ends | left, isr, leader, hw)
    return {"unclean-election": unclean, "hw-above-isr-member": above}


def _behind(ends: Mapping[int, int], isr: Iterable[int], leader: int, high_watermark: int) -> bool:
    """Return whether the log of a member of the ISR ends below the high watermark of its leader."""
    return any(ends.get(one, 0) < high_watermark for one in isr if one != leader)


_STATE_HW = ("leads", "hw_raised", "isr_proposed")
_STATE_ISR = ("topic_created", "partition_online", "partition_changed", "isr_without", "isr_committed")


def truths(truth: dict[str, Any], cluster: Cluster) -> dict[str, bool]:
    """Rule -> whether it is violated, for the rules that are asked besides the three questions."""
    return {
        "lso-above-hw": _unstable(cluster.trace),
        **of_isr(cluster),
        "hw-above-leo": bool(truth["expect"].get("hw_above_leo")),
        "epoch-divergence": truth["expect"]["diverged"] or _unlike_below_alike(cluster),
        **of_states(cluster),
    }


def _unlike_below_alike(cluster: Cluster) -> bool:
    """Return whether two logs have different records at one offset, and the same record at a higher one."""
    logs = [{one.offset: one for one in node.replica.log.records()} for node in cluster.brokers.values()]
    for one, two in combinations(logs, 2):
        both = one.keys() & two.keys()
        alike = [at for at in both if one[at] == two[at]]
        if any(one[at] != two[at] for at in both if at < max(alike, default=0)):
            return True
    return False


def _unstable(events: Iterable[Event]) -> bool:
    """Return, from the model's own states, whether a last stable offset is above the high watermark."""
    return any(event.state.get("last_stable_offset", -1) > event.state.get("high_watermark", 0) for event in events)


def dropped(lines: Lines, random: Random) -> Lines:
    """Return the lines without some of one broker, of which the trace then no longer claims to state each change."""
    head, *rest = lines
    broker = random.choice(head["replicas"])
    own = [number for number, line in enumerate(rest) if line.get("witness") == broker]
    lost = set(random.sample(own, min(len(own), random.choice((1, 3, 10, len(own))))))
    others = [one for one in head["replicas"] if one != broker]
    return [head | {"complete": others}, *(line for number, line in enumerate(rest) if number not in lost)]


def of_kinds(lines: Lines, random: Random) -> Lines:
    """Return a trace that claims to state each change of the roles, of the logs, or of both, and lacks lines of others.

    Lines of other kinds are left out at random.
    """
    head, *rest = lines
    groups = random.choice(([Claim.ROLES], [Claim.LOG], [Claim.ROLES, Claim.LOG], [Claim.ROLES, Claim.LOG]))
    kinds = [kind.value for group in groups for kind in CLAIMED_BY[group]]
    share = random.choice((0.1, 0.3, 1.0))
    kept = (line for line in rest if line["kind"] in kinds or random.random() >= share)
    return [head | {"complete": [{"kinds": kinds}]}, *kept]


_FAULTS: tuple[Callable[[Lines, int], tuple[str, Lines]], ...] = (
    trace_faults.faulty,
    trace_faults.forked_before,
    trace_faults.without_checkpoint,
)


def _of_faults(whole: Sequence[Lines], schedules: Sequence[batches.Schedule], run: str) -> Counter[Told]:
    """Judge traces with an added fault; each must be found."""
    return sum((_of_fault(fault, whole, schedules, run) for fault in _FAULTS), Counter[Told]())


def _of_fault(
    fault: Callable[[Lines, int], tuple[str, Lines]],
    whole: Sequence[Lines],
    schedules: Sequence[batches.Schedule],
    run: str,
) -> Counter[Told]:
    pairs = [fault(lines, one.seed) for lines, one in zip(whole, schedules, strict=True)]
    verdicts = judgements(["".join(json.dumps(line) + "\n" for line in lines) for _, lines in pairs])
    counts = Counter[Told]()
    for place, ((rule, _), one) in enumerate(zip(pairs, schedules, strict=True)):
        if rule:
            judged = verdicts.get(f"run-{place}", [])
            told = Told(rule, "right" if any(trace_faults.found(rule, each) for each in judged) else "missed")
            counts.update([told])
            _tell([told], FAULTY, f"{run}, seed {one.seed}")
    return counts


def _of_begun(
    whole: Sequence[Lines],
    verdicts: Mapping[str, Sequence[Verdicts]],
    schedules: Sequence[batches.Schedule],
    run: str,
) -> Counter[Told]:
    """Judge runs that begin with records: each answer must be that of the run itself, at higher offsets."""
    moved = [trace_faults.begun(lines) for lines in whole]
    text = ["".join(json.dumps(line) + "\n" for line in lines) for lines in moved]
    found = judgements([lines for lines in text if lines])
    counts = Counter[Told]()
    for place in (at for at, lines in enumerate(moved) if lines):
        topic = f"run-{place}"
        for own, other in zip(verdicts.get(topic, ()), found.get(topic, ()), strict=True):
            told = [_same(rule, own[rule], other[rule]) for rule in ASKED]
            counts.update(told)
            _tell(told, BEGUN, f"{run}, seed {schedules[place].seed}")
    return counts


def _same(rule: str, own: Judgement, other: Judgement) -> Told:
    """Compare the answer about a run with that about the run moved to higher offsets."""
    if trace_faults.answer(own) == trace_faults.answer(other, trace_faults.BEFORE):
        return Told(rule, "right")
    return Told(rule, "unknown" if other.verdict is Verdict.UNKNOWN else "wrong")


def answers(
    verdicts: Sequence[Verdicts], truth: dict[str, Any], cluster: Cluster, *, whole: bool = True
) -> Iterator[Told]:
    """Compare the verdicts on a partition with what is so.

    Args:
        verdicts: by incarnation.
        truth, cluster: of the run.
        whole: the trace states everything. Else it need not show that a loss is over, but may not deny it.
    """
    truth_of_page = _with_what_is_kept(_with_what_no_log_has(truth), cluster)
    for one in batches.compared([dict(each) for each in verdicts], truth_of_page):
        kind = _KINDS.get(one.kind, "wrong" if one.wrong else "right")
        if one.rule == "committed-data-lost" and kind == "right" and not _over_rightly(verdicts, truth, whole=whole):
            kind = "wrong"
        if one.rule == "truncation-below-committed" and not _kept_rightly(verdicts, truth):
            kind = "wrong"
        yield Told(one.rule, kind, one.violated)
    for each in verdicts[:1] or ({},):
        yield _apart(each)
    for rule, so in truths(truth_of_page, cluster).items():
        yield Told(rule, _kind({each[rule].verdict.value for each in verdicts}, so=so), so)


_KEPT = OUTCOMES[Fate.KEPT].format(log=LOG[False])
"""The end of a summary by which the partition kept what a replica truncated, as the rule words it."""

Over = dict[int | None, set[int]]
"""Offsets of lost records: by the leader epoch since which they are there again, or None."""


def _over_rightly(verdicts: Sequence[Verdicts], truth: dict[str, Any], *, whole: bool) -> bool:
    """Return whether the findings call the right losses over, each since the right leader epoch."""
    told, so = _over(verdicts), _over_by_truth(truth)
    return told == so if whole else told.get(None, set()) <= so.get(None, set())


def _kept_rightly(verdicts: Sequence[Verdicts], truth: dict[str, Any]) -> bool:
    """Return whether what findings call kept by the partition is there at the end, and what they call lost was lost.

    Two leaders may have committed other records at the same offsets, of which one is there again: these do not count.
    """
    again = [span for loss in truth["losses"] for one in loss["served_again"] for span in one["offsets"]]
    lost = batches.offsets([*truth["lost_committed_offsets"], *truth["in_no_log"]])
    missing = batches.offsets([*truth["missing_committed_offsets"], *truth["in_no_log"]]) - batches.offsets(again)
    for one in (one for each in verdicts for one in each["truncation-below-committed"].findings):
        removed = batches.offsets(one.offsets)
        if one.summary.endswith(_KEPT) and removed & missing:
            return False
        if one.severity is Severity.CRITICAL and not removed & lost:
            return False
    return True


def _over(verdicts: Sequence[Verdicts]) -> Over:
    """Return which losses the findings call over, and which not."""
    found: Over = {}
    for one in (one for each in verdicts for one in each["committed-data-lost"].findings):
        found.setdefault(one.after.get(SERVED_AGAIN), set()).update(batches.offsets(one.offsets))
    return found


def _over_by_truth(truth: dict[str, Any]) -> Over:
    """Return which losses are over by the logs of the model."""
    found: Over = {}
    for one in (one for loss in truth["losses"] for one in loss["served_again"]):
        found.setdefault(one["leader_epoch"], set()).update(batches.offsets(one["offsets"]))
    missing = batches.offsets([*truth["missing_committed_offsets"], *truth["in_no_log"]])
    return found | ({None: missing} if missing else {})


def _with_what_no_log_has(truth: dict[str, Any]) -> dict[str, Any]:
    """Return the truth in which committed records that no replica has are lost, though no leader began without them."""
    lost = [*truth["lost_committed_offsets"], *truth["in_no_log"]]
    return truth | {"lost_committed_offsets": lost, "expect": truth["expect"] | {"lost_committed": bool(lost)}}


def _with_what_is_kept(truth: dict[str, Any], cluster: Cluster) -> dict[str, Any]:
    """Return the truth in which a replica diverges that keeps other records of an epoch than another has committed.

    No truncation by leader epochs removes them. The model counts records only if both replicas count them as committed.
    """
    nodes = [node.replica for node in cluster.brokers.values()]
    logs = [({one.offset: one for one in replica.log.records()}, replica.hw) for replica in nodes]
    kept = {
        at
        for (one, hw), (two, other) in combinations(logs, 2)
        for at in one.keys() & two.keys()
        if at < max(hw, other) and one[at].epoch == two[at].epoch and one[at] != two[at]
    }
    spans = [*truth["diverged_below_hw"], *([at, at + 1] for at in sorted(kept))]
    return truth | {"diverged_below_hw": spans, "expect": truth["expect"] | {"diverged": bool(spans)}}


def _apart(verdicts: Verdicts) -> Told:
    """Compare the findings about truncations: no record that one removed is both committed and not committed."""
    rule, other = "uncommitted-truncation", "truncation-below-committed"
    if rule not in verdicts or verdicts[rule].verdict is Verdict.UNKNOWN:
        return Told(rule, "unknown")
    twice = any(
        not _refs(one).isdisjoint(_refs(two)) and intersect(one.offsets, two.offsets)
        for one in verdicts[rule].findings
        for two in verdicts[other].findings
    )
    return Told(rule, "wrong" if twice else "right")


def _refs(finding: Finding) -> set[Ref]:
    """The lines of a finding."""
    return {ref for fact in finding.facts for ref in fact.refs}


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


_TELLINGS: Mapping[str, Callable[[Lines, Random], Lines]] = {
    WHOLE: lambda lines, _: lines,
    LESS: dropped,
    OF_KINDS: of_kinds,
    MIDDLE: trace_tellings.from_the_middle,
    ENTRIES: trace_tellings.with_entries,
    OTHERWISE: trace_tellings.otherwise,
    OBSERVED: lambda lines, _: trace_tellings.observed(lines),
    MISTIMED: trace_tellings.mistimed,
    TERSE: terse_traces.terse,
}
"""The traces of a run whose answers are compared with what is so, each made of the whole one."""

_NOT_WHOLE = (LESS, OF_KINDS, MIDDLE, ENTRIES)
"""Those that leave some answers open."""
_LATER = (MIDDLE, ENTRIES)
"""Those that begin while the cluster is running."""

EVERY = (FAULTY, WHOLE, BEGUN, LESS, OF_KINDS, MIDDLE, ENTRIES, OTHERWISE, OBSERVED, MISTIMED, TERSE)


def compare(
    protocol: Protocol, schedules: Sequence[batches.Schedule], kinds: Collection[str] = EVERY
) -> dict[str, Counter[Told]]:
    """Play runs of a protocol; return the answers by kind of trace.

    Args:
        protocol: the protocol.
        schedules: the runs.
        kinds: the kinds of trace that are judged; ``BEGUN`` only beside ``WHOLE``.
    """
    runs = [one.play(protocol, place) for place, one in enumerate(schedules)]
    whole = [[json.loads(line) for line in run.observations().splitlines()] for run in runs]
    found: dict[str, Counter[Told]] = {}
    if FAULTY in kinds:
        found[FAULTY] = _of_faults(whole, schedules, protocol.name)
    for name in (name for name in _TELLINGS if name in kinds):
        told = [_TELLINGS[name](lines, Random(one.seed)) for lines, one in zip(whole, schedules, strict=True)]
        if name in _NOT_WHOLE:
            told = [_alone(lines, place) for place, lines in enumerate(told)]
        verdicts = judgements(["".join(json.dumps(line) + "\n" for line in lines) for lines in told])
        found[name] = Counter()
        if name == WHOLE and BEGUN in kinds:
            found[BEGUN] = _of_begun(whole, verdicts, schedules, protocol.name)
        for place, (run, one) in enumerate(zip(runs, schedules, strict=True)):
            told_of = verdicts.get(f"run-{place}", [])
            given = list(answers(told_of, run.truth(), run.cluster, whole=name not in _NOT_WHOLE))
            given = [one for one in given if name != OTHERWISE or one.rule in trace_tellings.JUDGED]
            given = [one for one in given if name not in _LATER or not _was_before(one, told_of)]
            found[name].update(given)
            _tell(given, name, f"{protocol.name}, seed {one.seed}")
    return found


def _alone(lines: Lines, place: int) -> Lines:
    """Return a trace as one of a cluster of its own: of traces of one cluster, only what each of them claims counts."""
    head, *rest = lines
    return [head | {"cluster": f"{head['cluster']}-{place}"}, *rest]


def _was_before(told: Told, verdicts: Sequence[Verdicts]) -> bool:
    """Return whether a trace that begins in the middle rightly shows no violation: it may have been before.

    What replicas have at the end does not depend on when it begins.
    """
    shown = any(each[told.rule].verdict is Verdict.VIOLATED for each in verdicts if told.rule in each)
    return told.violated and not shown and told.rule != "replica-divergence"


def _tell(given: Sequence[Told], name: str, run: str) -> None:
    """Print the answers of a run that are wrong, and those that a trace with all lines leaves open."""
    for one in given:
        if one.kind in ("missed", "wrong") or (one.kind != "right" and name not in (*_NOT_WHOLE, MISTIMED)):
            print(f"{run}, {name}: {one.rule} {one.kind}", file=sys.stderr)


def table(counts: Mapping[tuple[str, str], Counter[Told]], runs: int) -> str:
    """One line for each protocol and kind of trace."""
    names = ("runs", "answers", "decided", "in part", "unknown", "missed", "wrong", "violated", "found")
    rows = [f"{'protocol':9} {'trace':14}" + "".join(f"{name:>9}" for name in names)]
    for (protocol, name), told in counts.items():
        of = Counter[str]()
        for one, count in told.items():
            of[one.kind] += count
        share = f"{of['right'] / max(1, of.total()):.1%}"
        broken = Counter({one: count for one, count in told.items() if one.violated})
        found = sum(count for one, count in broken.items() if one.kind in ("right", "in part"))
        shown = [
            str(runs),
            str(of.total()),
            share,
            *(str(of[kind]) for kind in names[3:7]),
            str(broken.total()),
            str(found),
        ]
        rows.append(f"{protocol:9} {name:14}" + "".join(f"{one:>9}" for one in shown))
    return "\n".join(rows)


def by_rule(counts: Mapping[tuple[str, str], Counter[Told]]) -> str:
    """One line for each rule and kind of answer that is not right."""
    found = Counter[str]()
    for (_, name), told in counts.items():
        for one, count in told.items():
            found.update({f"{name}: {one.rule} {one.kind}": count} if one.kind != "right" else {})
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
