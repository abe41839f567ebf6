"""Advice for several findings that are reported together: what to keep, what to do first and what never to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from types import MappingProxyType
from typing import Final, TypeVar

from forensics.replay.confidence import decides
from forensics.replay.lineage import Range, merge, subtract
from forensics.rules.finding import Finding, span_text

T = TypeVar("T")

LOST, FORKED = "committed-data-lost", "replica-divergence"
"""The two questions an operator asks first."""


def advisers(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings whose advice counts, among those reported together: a second loss may have its only copy
    elsewhere.

    These are every loss, and every fork with offsets that no loss covers. If none of them names a copy to keep, the
    first finding that does is added. If there is none of them, the first finding counts.
    """
    lost = [f for f in findings if f.rule == LOST]
    forked = [f for f in findings if f.rule == FORKED and (not lost or subtract(f.offsets, merged(lost)))]
    told = [*lost, *forked]
    if not any(f.keep for f in told):
        told += [f for f in findings if f.keep][:1]
    return told or [findings[0]]


def merged(findings: Iterable[Finding]) -> list[Range]:
    """The offsets of all of them."""
    return merge(chain.from_iterable(f.offsets for f in findings))


def copies(findings: Sequence[Finding]) -> list[tuple[str, list[Range]]]:
    """Each copy to keep once, with the offsets for which."""
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.keep:
            found.setdefault(finding.keep, []).append(finding)
    return [(text, merged(of)) for text, of in found.items()]


NO_COPY: Final = MappingProxyType(
    {
        True: "none: no replica in the evidence has these records",
        False: "none: if there were such records, no replica in the evidence has them",
    }
)
"""The words under Keep, for a loss without any copy, by whether one is shown. The steps name what else may have the
records."""


def none_left(findings: Sequence[Finding]) -> str:
    """Return that no copy is left, if records are lost and no finding names a copy of them; else ""."""
    lost = [one for one in findings if one.rule == LOST]
    shown = any(decides(one.confidence) for one in lost)
    gone = shown or any(one.no_copy for one in lost)
    return NO_COPY[shown] if gone and not any(finding.keep for finding in findings) else ""


def kept_texts(findings: Sequence[Finding]) -> list[str]:
    """Return what to keep, each copy once, with its offsets if there are several; or that no copy is left."""
    found = copies(findings)
    if gone := none_left(findings):
        return [gone]
    return [f"{span_text(at)}: {text}" if len(found) > 1 else text for text, at in found]


def each_first(advice: Iterable[Sequence[T]]) -> list[T]:
    """Return the first item of each list, then the second of each, without repeats: all copies are made before one is
    read.
    """
    rounds = chain.from_iterable(zip_longest(*advice))
    return list(dict.fromkeys(word for word in rounds if word is not None))
