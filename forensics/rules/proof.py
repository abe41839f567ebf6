"""A finding with the places that show it: they decide whether it is proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from forensics.replay.confidence import Bearers, Weakness, borne
from forensics.replay.directory import Ref
from forensics.rules import RULES
from forensics.rules.finding import Evidence, Finding, States

_NEEDED: Mapping[str, Bearers] = {rule.id: rule.bearers for rule in RULES}


def proved(finding: Finding, evidence: Mapping[Ref, Evidence]) -> Finding:
    """A finding as its rule made it, with the place behind each reference; see ``shown``."""
    bearing = {ref for states, refs in finding.values.items() if states is not States.CONTEXT for ref in refs}
    return shown(
        finding,
        tuple(
            evidence[ref] if ref in bearing else replace(evidence[ref], bears=False)
            for ref in finding.refs
            if ref in evidence
        ),
    )


def shown(finding: Finding, evidence: tuple[Evidence, ...]) -> Finding:
    """A finding as its rule made it, with its evidence and with what is weak because of it.

    Args:
        finding: as its rule made it.
        evidence: the places that show it.
    """
    found = replace(finding, evidence=evidence)
    weak = borne(found.bearers, _NEEDED[finding.rule], found.lines)
    if not weak:
        return found
    open_ = () if Weakness.OTHERWISE_EXPLAINED in found.weak else tuple(f"{found.rule}: {one.value}" for one in weak)
    return replace(found, weak=(*found.weak, *weak), uncertain=(*found.uncertain, *open_))
