"""A finding with the places that show it: they decide whether it is proven."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forensics.replay.confidence import Bearer, Bearers, Weakness, borne
from forensics.replay.facts.directory import Ref
from forensics.rules import rule_of
from forensics.rules.finding import Evidence, Finding, States, all_of, brokers_text

VALUES = frozenset({States.COMMITTED, States.TRUNCATION, States.LOG_END, States.EPOCH_START, States.HOLE})
"""Values of which each needs its own bearers."""


def dated(finding: Finding, times: Mapping[int, int]) -> Finding:
    """Return a finding whose steps have the time of their line, if a line shows a step that names no time itself.

    A context of no broker is a note and no step, such as a setting of the topic.

    Args:
        finding: as its rule made it.
        times: of the lines, microseconds since 1970 UTC, by row.
    """
    facts = tuple(
        replace(fact, time=times.get(fact.refs[0].row if fact.refs[0].row is not None else -1))
        if fact.time is None and fact.refs and (fact.states is not States.CONTEXT or fact.broker is not None)
        else fact
        for fact in finding.facts
    )
    return finding if facts == finding.facts else replace(finding, facts=facts)


def proved(finding: Finding, evidence: Mapping[Ref, Evidence]) -> Finding:
    """A finding as its rule made it, with the place behind each reference; see ``shown``."""
    stated = _stated(finding, evidence)
    shown_by = {one for places in stated.values() for one in places}
    found = tuple(evidence[ref] for ref in finding.refs if ref in evidence)
    return shown(
        finding,
        tuple(one if one in shown_by else replace(one, bears=False) for one in found),
        {states: [one.bearer for one in places] for states, places in stated.items() if states in VALUES},
        _contradicting(finding, evidence),
    )


def _contradicting(finding: Finding, evidence: Mapping[Ref, Evidence]) -> dict[str, list[Bearer]]:
    """The bearers of each fact, in words, of a finding whose facts contradict each other."""
    if rule_of(finding.rule).bearers is not Bearers.AND_LINES:
        return {}
    resting = (fact for fact in finding.facts if fact.states is not States.CONTEXT and fact.broker is not None)
    return {
        f"that {brokers_text([fact.broker or 0], finding.controllers)} {fact.text}": [
            evidence[ref].bearer for ref in fact.refs if ref in evidence
        ]
        for fact in resting
    }


def _alone(alone: Mapping[str, Sequence[Bearer]], controllers: Sequence[int]) -> str:
    """Return which file alone shows which values, in words."""
    by_file: dict[str, list[str]] = {}
    for value, bearers in alone.items():
        by_file.setdefault(_file(bearers[0], controllers) if bearers else "one file", []).append(value)
    return "; ".join(f"only {file} shows {all_of(values)}" for file, values in by_file.items())


_FILES = {"segment": "segments", "epoch-checkpoint": "leader-epoch-checkpoint", "metadata-log": "__cluster_metadata"}
"""Names of files by their format, where a bearer does not name the part of its broker."""


def _file(bearer: Bearer, controllers: Sequence[int]) -> str:
    """Return the file that shows a value, in words; its path may be that of a copy."""
    name = bearer.part or _FILES.get(bearer.artefact, "")
    if bearer.broker is None or not name:
        return "one file"
    return f"{brokers_text([bearer.broker], controllers)}'s {name}"


def _stated(finding: Finding, evidence: Mapping[Ref, Evidence]) -> dict[States, tuple[Evidence, ...]]:
    """The places that show each value on which a finding rests."""
    resting = ((states, refs) for states, refs in finding.values.items() if states is not States.CONTEXT)
    return {states: tuple(evidence[ref] for ref in refs if ref in evidence) for states, refs in resting}


def shown(
    finding: Finding,
    evidence: tuple[Evidence, ...],
    values: Mapping[States, Iterable[Bearer]] = MappingProxyType({}),
    facts: Mapping[str, Iterable[Bearer]] = MappingProxyType({}),
) -> Finding:
    """A finding as its rule made it, with its evidence and with what is weak because of it.

    Args:
        finding: as its rule made it.
        evidence: the places that show it.
        values: the bearers of each value on which it rests. If one file alone states a value, a mistake in that file
            makes the finding wrong, whatever other files state about the other values.
        facts: the bearers of each fact, in words, if the facts contradict each other: the same counts for each.
    """
    found = replace(finding, evidence=evidence) if evidence != finding.evidence else finding
    needed = rule_of(finding.rule).bearers
    apart = Bearers.ONE if needed is Bearers.ONE else Bearers.TWO
    named = {f"the {states.value}": tuple(bearers) for states, bearers in values.items()}
    named |= {what: tuple(bearers) for what, bearers in facts.items()}
    alone = {what: bearers for what, bearers in named.items() if borne(bearers, apart)}
    weak = borne(found.bearers, needed, found.lines) or ((Weakness.ONE_BEARER,) if alone else ())
    if not weak:
        return found
    why = [f"{found.rule}: {one.value}" for one in weak]
    if alone:
        why = [f"{found.rule}: {_alone(alone, found.controllers)}"]
    open_ = () if Weakness.OTHERWISE_EXPLAINED in found.weak else tuple(why)
    return replace(found, weak=(*found.weak, *weak), unproven=open_)
