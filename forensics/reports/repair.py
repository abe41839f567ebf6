"""Sentences about the state after a repair, for every report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from forensics.repaired.conditions import Met
from forensics.repaired.since import Checked, Outcome, Point, Repair
from forensics.reports.answer import Tone
from forensics.reports.titles import first_names
from forensics.rules.finding import offsets_text

NAMED = 3  # partitions of one line
ABSENT: Final = "Nothing in the evidence is about this partition: add the copies of its replicas"

WORDS: Final = {
    Met.YES: "yes",
    Met.NO: "NO",
    Met.UNKNOWN: "not shown",
    Met.NOT_APPLICABLE: "no matter",
}
"""The state of a condition, in a word or two."""

TONES: Final = {Met.YES: Tone.CLEAN, Met.NO: Tone.VIOLATED, Met.UNKNOWN: Tone.DOUBT, Met.NOT_APPLICABLE: Tone.CLEAN}


def headline(repair: Repair) -> str:
    """Return whether producers can go back."""
    if repair.clusters is not None:
        before, now = (first_names(list(names), NAMED) for names in repair.clusters)
        return f"NOT SHOWN: {repair.baseline} is of another cluster, {before}; the evidence is of {now}"
    if not repair.partitions:
        return "NOTHING TO CHECK: the earlier scan found nothing above information"
    lacking = [one for one in repair.partitions if one.met is repair.met]
    names = first_names([one.name for one in lacking], NAMED)
    if repair.met is Met.NO:
        return f"NOT YET: keep producers away from {_of(len(lacking), len(repair.partitions))}: {names}"
    if repair.met is Met.UNKNOWN:
        shown = _of(len(lacking), len(repair.partitions))
        return f"NOT SHOWN: these copies do not show whether producers can go back to {shown}: {names}"
    return f"PRODUCERS CAN GO BACK to {names}: every condition held when these copies were taken"


def _of(some: int, every: int) -> str:
    noun = f"partition{'' if every == 1 else 's'}"
    return f"{some:,} {noun}" if some == every else f"{some:,} of {every:,} {noun}"


def counts(repair: Repair) -> str:
    """Return how many earlier findings there were, and what became of them."""
    number = len(repair.since)
    each = [f"{count:,} {outcome.value}" for outcome in Outcome if (count := repair.outcomes(outcome))]
    return f"{number:,} finding{'' if number == 1 else 's'} in {repair.baseline}: {', '.join(each) or 'none to follow'}"


def outcomes(repair: Repair) -> list[tuple[Outcome, str, str]]:
    """Return what became of earlier findings: the outcome, the rule, and the first places."""
    found: dict[tuple[Outcome, str], list[str]] = {}
    for one in repair.since:
        former = one.former
        offsets = f" ({offsets_text(former.offsets)})" if former.offsets else ""
        place = f"{former.topic}-{former.partition}{offsets}" if former.topic is not None else former.fingerprint
        found.setdefault((one.outcome, former.rule or "(the file names no rule)"), []).append(place)
    order = list(Outcome)
    return [
        (outcome, rule, first_names([_times(place, count) for place, count in Counter(places).items()], NAMED))
        for (outcome, rule), places in sorted(found.items(), key=lambda one: (order.index(one[0][0]), one[0][1]))
    ]


def _times(place: str, count: int) -> str:
    return place if count == 1 else f"{place}, {count:,} findings"


def point_text(point: Point) -> str:
    """Return one condition and why it holds or not."""
    return f"{point.condition.text}: {point.text}" if point.text else point.condition.text


def several_clusters(repair: Repair) -> bool:
    """Return whether the partitions are of several clusters, so that their names alone do not tell them apart."""
    return len({one.cluster for one in repair.partitions}) > 1


def alike(partitions: Iterable[Checked]) -> list[list[Checked]]:
    """Return partitions with the same states of all conditions together, those where one does not hold first."""
    groups: dict[tuple[Met, ...], list[Checked]] = {}
    for one in partitions:
        groups.setdefault(tuple(point.met for point in one.points), []).append(one)
    order = [Met.NO, Met.UNKNOWN, Met.YES]
    return sorted(groups.values(), key=lambda group: order.index(group[0].met))
