"""Findings of suspected violations: the verdict is unknown, but a line or file suggests a violation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from forensics.case import Case, Origin
from forensics.replay import protocol
from forensics.replay.committed.surviving_copies import may_still_hold
from forensics.replay.confidence import Weakness
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History
from forensics.replay.protocol import Answer
from forensics.replay.signs.each_once import each_once
from forensics.replay.signs.sign import Suspicion
from forensics.replay.signs.suspicions import suspicions
from forensics.rules.causes import CauseId
from forensics.rules.copying import copy_before_start
from forensics.rules.electable import led_next_facts, with_changes
from forensics.rules.finding import (
    FIRST,
    HERE,
    Action,
    Fact,
    Finding,
    Judgement,
    Rule,
    Severity,
    Verdict,
    advised,
    brokers_text,
    epoch_text,
    offsets_text,
    perhaps_text,
    place,
    sourced,
    span_text,
)
from forensics.rules.other_directories import explained, look_in
from forensics.rules.rescue import salvage
from forensics.rules.story import CAUSE_OF, fork_cause
from forensics.rules.suspect import (
    BY_EPOCH,
    CLOCKS,
    ELIGIBLE,
    HW,
    IN_TRACES,
    OF_OTHER,
    SOURCES,
    STALE_EPOCH,
    TWO_CLUSTERS,
    TWO_TOPICS,
    Suspect,
)
from forensics.rules.suspects import SUSPECTS
from forensics.rules.wants import Want
from forensics.rules.wording import verb, want_text


def with_suspected(history: History, case: Case, judged: Sequence[Judgement], rules: Sequence[Rule]) -> list[Judgement]:
    """The judgements of a partition, with what is suspected where a verdict is unknown."""
    unknown = {one.rule for one in judged if one.verdict is Verdict.UNKNOWN}
    if unknown.isdisjoint(suspect.rule for suspect in SUSPECTS):
        return list(judged)
    found = suspicions(history)
    if not found:
        return list(judged)
    severities = {rule.id: rule.severity for rule in rules}
    return [
        replace(one, findings=(*one.findings, *more))
        if one.rule in unknown and (more := _findings(history, case, one, found, severities[one.rule]))
        else one
        for one in judged
    ]


def _findings(
    history: History, case: Case, judgement: Judgement, found: Sequence[Suspicion], severity: Severity
) -> list[Finding]:
    """Return the suspicions of one rule, each range once: of several signs the first in the table counts."""
    worded = {suspect.sign: suspect for suspect in SUSPECTS if suspect.rule == judgement.rule}
    kept = each_once(
        (one for sign in worded for one in found if one.sign is sign),
        (piece for finding in judgement.findings for piece in finding.offsets),
    )
    return [_finding(history, case, worded[one.sign], one, severity, judgement.missing) for one in kept]


def _failed(one: Suspicion) -> tuple[str, ...]:
    """Return what a failed log directory explains."""
    if one.shortened is None or not one.shortened.dir_failed:
        return ()
    return (f"the log directory of broker {one.replica} had failed before, so its new log began empty",)


def _values(history: History, one: Suspicion) -> dict[str, object]:
    """Return the values for the placeholders of a suspicion's sentences."""
    leader = one.witness if one.replica != one.witness else None
    return {
        "name": HERE,
        "replica": one.replica,
        "witness": one.witness,
        "since": one.since,
        "leader": f"broker {leader}" if leader is not None else "its leader",
        "other": f"broker {one.witness}"
        if one.witness is not None
        else "a replica (the line does not name its broker)",
        "stater": f"broker {one.witness}" if one.witness != one.replica else "it",
        "in_epoch": f" (leader epoch {one.epoch})" if one.epoch >= 0 else "",
        "written": epoch_text(one.since),
        "asked": f"broker {one.replica}" if one.replica is not None else "the leader",
        "first": one.first,
        "end": one.end,
        "first_kept": one.end,
        "target": one.target if one.target is not None else one.first,
        "isr": isr_text(one.isr) if one.isr is not None else "",
        "role": epoch_text(one.epoch),
        "later": one.epoch,
        "span": span_text([(one.first, one.end)]) if one.end is not None else "",
        "offsets": offsets_text(one.offsets) if one.end is not None else "",
        "more": perhaps_text(None) if one.more else "",
        "finders": brokers_text([each.broker for each in one.stray]),
        "too": "restarted after an unclean stop too, and " if one.more else "",
        **_sides(one),
    }


def _sides(one: Suspicion) -> dict[str, str]:
    """Return the two groups of brokers whose copies differ."""
    others, odd = one.sides or ((), ())
    have = "has" if len(odd) == 1 else "have"
    return {"odd": brokers_text(odd), "have": have, "others": brokers_text(others)} if odd else {}


def _replicas(one: Suspicion) -> tuple[int, ...]:
    if one.stray:
        return tuple(each.broker for each in one.stray)
    if one.sides is not None:
        return tuple(sorted((*one.sides[0], *one.sides[1])))
    return (one.replica,) if one.replica is not None else ()


_GONE = {
    False: "No replica in the evidence still has them",
    True: "If there were such records, no replica in the evidence has them",
}
"""That no copy is left, by whether it is unknown that there were records."""


def _kept(one: Suspicion, case: Case) -> str:
    """Return which directories to keep of a topic that the controllers do not know, with their paths if they are known.

    A broker has one log directory, or the evidence does not show in which of several the replica is.
    """
    nodes = [(broker, case.brokers.get(broker)) for broker in one.kept]
    folders = [node.folders if node is not None else () for _, node in nodes]
    if all(len(own) == 1 for own in folders):
        places = zip(folders, one.kept, strict=True)
        named = ", ".join(f"{shlex.quote(own[0])}/{HERE}.*-stray of broker {broker}" for own, broker in places)
    else:
        named = f"{HERE}.*-stray of {brokers_text(one.kept)}"
    if all(protocol.of(node).keeps_stray_replicas is Answer.YES for _, node in nodes):
        return f"{named}: brokers have given this name to the directories, and do not delete them"
    return (
        f"{named}: brokers have given this name to the directories. Before 3.6.1 they keep the name {HERE}, and a "
        "broker may delete them within minutes"
    )


def _copy(history: History, one: Suspicion, held: Sequence[int]) -> str:
    """Return the step that copies what is left."""
    if one.kept:
        return f"before any broker is started again, copy {HERE}.*-stray of {brokers_text(one.kept)} to another disk"
    return copy_before_start(held, history.origin)


def _may_hold(history: History, one: Suspicion) -> tuple[int, ...] | None:
    """Return the replicas that may still have what another leader began without; None where no leader did, or where
    no line or file names a replica.
    """
    if one.stray:
        return one.kept
    if one.sides is not None:
        return _replicas(one)
    return may_still_hold(history, one.first, one.epoch) if 0 <= one.since < one.epoch else None


def _holders(held: Sequence[int], history: History) -> str:
    """Return the replicas that may still have the records, in words: each, or those that the evidence does not name."""
    if not held:
        return "another replica that was in the ISR"
    named = brokers_text(held, history.controllers)
    return named if len(held) == 1 else f"any of {named}"


def _general(want: Want) -> str:
    """Return what a want is for any partition, whichever the brokers and offsets are that its sentence names."""
    return f"{verb(want)} {want.question}, from {FIRST} on"


def _facts(suspect: Suspect, one: Suspicion, values: Mapping[str, object]) -> tuple[Fact, ...]:
    """Return the lines, in order: what the witness stated before has a line of its own."""
    shows = suspect.shows.format_map(values)
    if one.stray:
        return (*_found_stray(suspect, one), *_deleted_stray(one))
    first, *later = one.refs
    had = suspect.had or ("had high watermark {end}" if suspect.before == HW and one.end is not None else "")
    if not had or not later:
        return (Fact(shows, broker=one.replica, time=one.time, refs=one.refs),)
    since = f" in {epoch_text(one.since)}" if one.since >= 0 else ""
    return (
        Fact(f"{had.format_map(values)}{since}", broker=one.witness, refs=(first,)),
        Fact(shows, broker=one.replica, time=one.time, refs=tuple(later)),
        *_followed(one),
    )


def _found_stray(suspect: Suspect, one: Suspicion) -> Iterator[Fact]:
    """Yield that brokers found their replica of a topic that the controllers do not know, each with its own log end."""
    for each, ref in zip(one.stray, one.refs, strict=True):
        yield Fact(suspect.shows.format(end=each.leo), broker=each.broker, time=each.time, refs=(ref,))


def _deleted_stray(one: Suspicion) -> Iterator[Fact]:
    """Yield that they deleted it then."""
    for each in one.stray:
        if each.deleted is not None:
            yield Fact("deleted this replica", broker=each.broker, refs=(Ref(row=each.deleted),))


def _followed(one: Suspicion) -> tuple[Fact, ...]:
    """Return how the witness lost what it had, where lines show it."""
    text = f"truncated its log to follow broker {one.replica}"
    return (Fact(text, broker=one.witness, refs=one.followed),) if one.followed else ()


def _otherwise(history: History, suspect: Suspect, one: Suspicion) -> tuple[str, ...]:
    """Return what else could explain a suspicion; of what holds for many of them, what holds for this one.

    Lines of several brokers may be of two clusters, unless the lines of all of them name the cluster or topic by id.
    """
    brokers = {broker for broker in (one.replica, one.witness) if broker is not None}
    compared = len(brokers) > 1 and len(one.refs) > 1 and one.sides is None
    apart = not brokers <= history.facts.with_ids
    applies = {
        CLOCKS: one.witness != one.replica,
        ELIGIBLE: history.protocol.may_elect_from_elr,
        BY_EPOCH: not history.protocol.truncates_to_hw,
        STALE_EPOCH: 0 <= one.since < one.epoch,
        TWO_CLUSTERS: apart,
        TWO_TOPICS: apart,
    }
    others = [other for other in suspect.otherwise if applies.get(other, True)]
    return (*others, *([TWO_CLUSTERS] if compared and apart and TWO_CLUSTERS not in others else []))


def _worded(text: str, history: History) -> str:
    """Return a step or another explanation in the words of the system, with its source in Kafka if there is one."""
    if history.origin is not Origin.FILES and text in IN_TRACES:
        return IN_TRACES[text]
    if not history.origin.of_kafka:
        return OF_OTHER.get(text, text)
    return sourced(text, SOURCES[text], history.origin) if text in SOURCES else text


def _cause(history: History, suspect: Suspect, one: Suspicion) -> CauseId:
    if one.sides is not None:
        return fork_cause(history, one.offsets)
    return CAUSE_OF[one.shortened.cause] if one.shortened is not None else suspect.cause


def _finding(
    history: History, case: Case, suspect: Suspect, one: Suspicion, severity: Severity, missing: Sequence[Want]
) -> Finding:
    held = _may_hold(history, one)
    gone = held is not None and not held and one.moved is None
    values = _values(history, one) | {"holders": _holders(held or (), history)}
    return Finding(
        rule=suspect.rule,
        severity=list(Severity)[min(severity.rank + 1 + suspect.usual, len(Severity) - 1)],
        weak=(Weakness.OTHERWISE_EXPLAINED,),
        **place(history),
        replicas=_replicas(one),
        epochs=tuple(sorted({epoch for epoch in (one.since, one.epoch) if epoch >= 0})),
        offsets=one.offsets,
        records=(0, None) if one.more else None,
        summary=suspect.summary.format_map(values) + (f". {_GONE[one.end is None]}" if gone else ""),
        no_copy=gone,
        open_from=one.first if one.end is None else None,
        facts=tuple(with_changes(_facts(suspect, one, values), led_next_facts(history, one))),
        before={suspect.before: one.end} if one.end is not None and suspect.before else {},
        after={suspect.after: one.first if one.target is None else one.target} if suspect.after else {},
        inferences=(
            *((explained(one.replica, one.moved),) if one.moved is not None and one.replica is not None else ()),
            *_failed(one),
        ),
        uncertain=tuple(
            f"perhaps {_worded(other, history).format_map(values)}" for other in _otherwise(history, suspect, one)
        ),
        cause=_cause(history, suspect, one),
        **advised(
            history.name,
            keep=_kept(one, case) if one.kept else None,
            next_steps=(
                *(() if gone else (_copy(history, one, held or ()),)),
                *((look_in(one.replica, one.moved),) if one.moved is not None and one.replica is not None else ()),
                *(_worded(step, history).format_map(values) for step in suspect.settle),
                *(Action(f"{verb(want)} {want_text(want, HERE)}", general=_general(want)) for want in missing[:3]),
                *((salvage(history, one.kept, ending=".*-stray"),) if one.kept else ()),
            ),
            # Where each replica's data shows that it has not the records, nothing is to be kept.
            do_not=() if gone else tuple(_worded(what, history).format_map(values) for what in suspect.do_not),
            lost=one.offsets if one.kept else (),
        ),
        subject=suspect.sign.name,
    )
