"""The part of the terminal's summary about what to collect: files of brokers, and what somebody may have saved."""

from __future__ import annotations

from collections.abc import Sequence

from forensics.case.partial import excerpts_alone
from forensics.reports.collecting import COLLECT, SAVED, Wanted, answered, commands, saved, still, wanted, where
from forensics.reports.terminal import Page, Style
from forensics.reports.titles import of_cluster
from forensics.result import Partition, Result
from forensics.rules.finding import Severity

WISHES = 10  # of what would answer open questions; of more than these, the first
FIRST_WISHES = 4
NEXT = 3  # things to fetch after an excerpt


class Wishes(Page):
    """Lines about what would answer the open questions of a result."""

    def __init__(self, result: Result, columns: int) -> None:
        super().__init__(columns)
        self.result = result
        self.pasted = excerpts_alone(result.case)
        self.clusters = result.case.parts if len(result.case.parts) > 1 else ()
        self._names: dict[int, Sequence[str]] = {}

    def of_cluster(self, cluster: str | None) -> str:
        """The cluster, if the evidence has several."""
        return of_cluster(cluster) if self.clusters else ""

    def wishes(self) -> None:
        """Print what would answer the open questions, most useful first, and the commands that collect it.

        What several partitions need is printed once. For an excerpt these are the few things to fetch next, unless
        they were printed above.
        """
        found = wanted(self.result)
        if not found or (self.pasted and self.advised()):
            return
        if self.pasted:
            self.wished("Collect next:", sorted(found, key=lambda one: one.by_use), NEXT)
        else:
            self.wished(COLLECT, still(found))
            self.commands(found)
            self.saved(found)
        self.blank()

    def commands(self, found: Sequence[Wanted]) -> None:
        """Print the commands that collect what is wanted, one a broker."""
        shell = commands(self.result, found)
        if shell:
            self.put("  ", where(shell))
        for command in shell:
            self.row(f"  {command.where}: {command.line}")

    def wished(self, heading: str, found: Sequence[Wanted], most: int = WISHES) -> None:
        """Print a heading and what is wanted, the first of many."""
        if found:
            self.row(heading, Style.BOLD)
        shown = len(found) if len(found) <= WISHES else FIRST_WISHES
        for one in found[: min(shown, most)]:
            self.put("  - ", one.named(self.names(one.partitions)))
        if len(found) > shown:
            self.row(f"  ... and {len(found) - shown:,} more: --format json has them all")

    def saved(self, found: Sequence[Wanted]) -> None:
        """Print what exists only if somebody saved it, each kind of it once, and the questions that it answers."""
        some = saved(found)
        if some.means:
            self.row(SAVED, Style.BOLD)
        for letter, text in some.means.items():
            self.put(f"  {letter}. ", text)
        for letters, asked in some.asked:
            self.row(f"  {answered(letters, len(asked))}:")
            shown = len(asked) if len(asked) <= FIRST_WISHES + 1 else FIRST_WISHES
            for one in asked[:shown]:
                self.put("  - ", one.named(self.names(one.partitions), alone=True))
            if len(asked) > shown:
                self.row(f"  ... and {len(asked) - shown:,} more: --format json has them all")

    def names(self, partitions: Sequence[Partition]) -> Sequence[str]:
        """Return the names of some partitions, each once; kept, as many wants are of one list of ``Result.members``."""
        if id(partitions) not in self._names:
            called = (f"{one.history.name}{self.of_cluster(one.history.cluster)}" for one in partitions)
            self._names[id(partitions)] = list(dict.fromkeys(called))
        return self._names[id(partitions)]

    def advised(self) -> bool:
        """Return whether a finding or a known problem has named what to fetch next."""
        told = any(finding.severity is not Severity.INFO and finding.next_steps for finding in self.result.findings)
        return told or any(not one.known.routine and one.fetch for one in self.result.problems)
