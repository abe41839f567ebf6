"""Outcome of one scenario under each protocol, side by side."""

from __future__ import annotations

from typing import Any

from forensics.model.protocol import EVERY, Protocol
from forensics.model.run import Run, Scenario
from forensics.model.scenarios import scenario
from forensics.model.schedule import StepRefused


class Outcomes(list[dict[str, Any]]):
    """Outcomes of one scenario under each protocol: a list of rows with the keys of ``COLUMNS``; ``str`` draws the
    table.
    """

    COLUMNS = (
        "protocol",
        "committed data lost",
        "fork",
        "truncated below committed",
        "acked by all, then lost",
        "log ends",
    )

    @property
    def alike(self) -> bool:
        """Return whether the protocol made no difference to committed records."""
        return len({(row["committed data lost"], row["fork"]) for row in self}) == 1

    def __str__(self) -> str:
        rows = [self.COLUMNS, *(tuple(str(row[column]) for column in self.COLUMNS) for row in self)]
        widths = [max(len(row[n]) for row in rows) for n in range(len(self.COLUMNS))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        refused = [f"\n{row['refused']}. Its outcome is that of the steps before." for row in self if row["refused"]]
        return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:], *refused])


def spans(ranges: list[list[int]]) -> str:
    """Offset ranges for a reader: ``[50, 80)``, or ``-`` for none."""
    return ", ".join(f"[{first}, {end})" for first, end in ranges) or "-"


ENDED_EARLY = frozenset({"steps", "refused"})
"""Columns about a run that ended before its story did."""


def outcome(run: Run, refused: str = "") -> dict[str, Any]:
    """One row of ``Outcomes``, with ``steps``, how many were recorded, and ``refused``, why the run ended before its
    story did.
    """
    truth = run.truth()
    return {
        "protocol": run.protocol.name,
        "committed data lost": spans(truth["lost_committed_offsets"]),
        "fork": spans(truth["diverged_below_hw"]),
        "truncated below committed": "; ".join(
            f"broker {cut['broker']}: {cut['from']} to {cut['to']}{' (fetched again)' if cut['fetched_again'] else ''}"
            for cut in truth["truncations"]
        )
        or "-",
        "acked by all, then lost": spans(truth["lost_acked_all"]),
        "log ends": " ".join(f"{broker}:{end}" for broker, end in truth["replica_ends"].items()),
        "steps": len(run.steps) if refused else None,
        "refused": refused,
    }


def played(story: Scenario, protocol: Protocol, seed: int, steps: int | None) -> dict[str, Any]:
    """A row of ``Outcomes``; a schedule is played up to the step that cannot be done under the protocol."""
    try:
        return outcome(story.run(protocol, seed, steps))
    except StepRefused as refused:
        return outcome(story.run(protocol, seed, refused.step - 1), str(refused))


def what_if(story: Scenario | str, seed: int = 0, steps: int | None = None) -> Outcomes:
    """Runs a scenario, or its first steps, under every protocol and variant and puts the outcomes side by side.

    Args:
        story: the scenario, or the name of a known one.

    Raises:
        UnknownName: No scenario of that name.
    """
    told = scenario(story) if isinstance(story, str) else story
    return Outcomes(played(told, protocol, seed, steps) for protocol in EVERY)


def telling_seeds(first: int, steps: int | None = None, count: int = 3, among: int = 1_000) -> list[int]:
    """Return seeds of ``random`` under which protocols have different outcomes, from ``first`` on.

    Args:
        among: How many seeds are tried; fewer than ``count`` may be found.
    """
    found: list[int] = []
    for seed in range(first, first + among):
        if len(found) == count:
            break
        if not what_if("random", seed, steps).alike:
            found.append(seed)
    return found
