"""The findings that are certain while evidence grows, each once.

Files are read one after another, so a scan of files that are being written may compare a checkpoint of now with a
segment of a moment ago. Such a finding is gone in the next scan.
"""

from __future__ import annotations

from collections.abc import Iterable

from forensics.replay.confidence import decides
from forensics.replay.lineage import subtract
from forensics.rules.finding import Finding, Severity


class Certain:
    """Decides which findings of a scan are reported.

    Args:
        known: findings that need not be reported, with their severity, by fingerprint.
        suspected: report suspected findings too.
    """

    def __init__(self, known: Iterable[tuple[str, Severity]] = (), *, suspected: bool = False) -> None:
        self._known = dict(known)
        self._suspected = suspected
        self._reported: list[Finding] = []
        self._before: frozenset[str] = frozenset()

    @property
    def reported(self) -> tuple[Finding, ...]:
        """Every finding that was reported, in that order."""
        return tuple(self._reported)

    def new(self, findings: Iterable[Finding], *, still: bool) -> list[Finding]:
        """Return the findings of a scan that are certain now and were not reported before.

        Args:
            findings: all that the scan found.
            still: nothing was written while the scan read. Else a finding counts if the scan before had it too.
        """
        loud = [one for one in findings if self._loud(one)]
        certain = [one for one in loud if still or one.fingerprint in self._before]
        self._before = frozenset(one.fingerprint for one in loud)
        new = [one for one in certain if not self._is_known(one)]
        self._reported += new
        return new

    def _loud(self, one: Finding) -> bool:
        return one.severity is not Severity.INFO and (self._suspected or decides(one.confidence))

    def _is_known(self, one: Finding) -> bool:
        """Return whether a finding was reported, or a baseline has it, and is not worse since.

        As the evidence grows, the same incident may get more lines and another fingerprint, at the same offsets.
        """
        known = self._known.get(one.fingerprint)
        if known is not None and one.severity.rank >= known.rank:
            return True
        return any(_covers(before, one) for before in self._reported)


def _covers(before: Finding, one: Finding) -> bool:
    same = ("rule", "cluster", "topic", "topic_id", "partition", "incarnation")
    if any(getattr(before, name) != getattr(one, name) for name in same) or one.severity.rank < before.severity.rank:
        return False
    if before.fingerprint == one.fingerprint:
        return True
    return bool(one.offsets) and set(before.replicas) >= set(one.replicas) and not subtract(one.offsets, before.offsets)
