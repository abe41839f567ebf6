"""Partitions to which the same happened at one time: a table of what differs, and the steps for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from forensics.reports.incidents import Incident, seconds_apart, story
from forensics.reports.titles import RANGES, earlier, how_many, name_of, rule_name, runs, title_of, together
from forensics.rules.finding import (
    FIRST,
    LOST,
    WHEN,
    Action,
    Fact,
    Finding,
    States,
    all_of,
    span_text,
)

OWN_STEPS = 6
"""Steps that are for some partitions of a group alone, of which more are not printed."""
OWN_NOTES = 4
"""Notes that are for some partitions of a group alone, of which more are not printed."""
GAP = 2
"""Spaces between the columns of a table."""
_SECOND = 1_000_000


def same_elsewhere(group: Sequence[Incident]) -> str:
    """Return a sentence about the other partitions with the story of the first, or ""."""
    others = [one.lead for one in group[1:]]
    if not others:
        return ""
    apart = seconds_apart(group)
    when = f", up to {apart:,} seconds earlier or later" if apart > 1 else ""
    if _differ(group):
        count = partitions_of(group)
        losses = f", {len(group):,} losses" if len(group) > count else ""
        places = f"{count:,} partition{'' if count == 1 else 's'}{losses}"
        return f"The same in {places}{when}{total(one.lead for one in group)}"
    where = f"{len(others):,} other partition{'' if len(others) == 1 else 's'}"
    named = runs(others)
    same = ", the same offsets" if group[0].lead.offsets else ""
    return f"The same in {where}{same}{when}{total(others)}: {named}{earlier(others[0].incarnation)}"


def partitions_of(group: Iterable[Incident]) -> int:
    """Return how many partitions a group has: one of them may have two losses at one time."""
    return len({name_of(one.lead) for one in group})


def total(leads: Iterable[Finding]) -> str:
    """Return how many records partitions lost together, in brackets; "" where there may be none."""
    count = together(leads)
    return f" ({count})" if count else ""


def group_title(group: Sequence[Incident]) -> tuple[str, bool]:
    """Return the title of the incidents of a group, and whether it is that of each of them.

    It has their offsets if all have the same, else how many records they lost together.
    """
    titles = list(dict.fromkeys("   ".join(title_of(one)[:-1]) for one in group))
    if len(titles) == 1:
        return titles[0], True
    return f"{title_of(group[0])[0]}{total([one.lead for one in group])}", False


def only_some(group: Sequence[Incident]) -> list[str]:
    """Return a sentence for each rule that found something in other partitions of a group alone, and in which."""
    first, found = {one.rule for one in group[0].findings}, dict[str, list[Finding]]()
    for incident in group[1:]:
        for one in incident.others:
            if one.rule not in first:
                found.setdefault(one.rule, []).append(one)
    return [f"in {runs(findings)} also {rule_name(findings[0])}" for findings in found.values()]


def story_of(name: str) -> str:
    """Return that what follows a table is about its first partition."""
    return f"what follows is the story of {name}; --format json has that of each"


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table of a group.

    Attributes:
        name: its heading.
        cell: the text for a partition, "" for what its finding does not name.
        varies: the column is left out where all its cells that have text are the same.
        spare: no step needs it, so it is left out where there is no room.
    """

    name: str
    cell: Callable[[Finding], str]
    varies: bool = False
    spare: bool = False


def _offsets(lead: Finding) -> str:
    if lead.offsets:
        return span_text(lead.offsets[:RANGES])
    return f"from {lead.open_from} on" if lead.open_from is not None else ""


def _replicas(lead: Finding) -> str:
    """Return the replicas that the finding is about, unless another column names the leader that lacked records."""
    return "" if _new_leader(lead) else all_of([str(one) for one in lead.replicas])


def _new_leader(lead: Finding) -> str:
    """Return the broker that led without the records, and its leader epoch."""
    begun = (fact.broker for fact in lead.facts if fact.states is States.EPOCH_START)
    broker = next((one for one in begun if one is not None), None)
    return f"{broker} (epoch {lead.epochs[-1]})" if broker is not None and lead.epochs else ""


def _epochs(lead: Finding) -> str:
    """Return the leader epochs of the finding: where a new leader lacked records, those in which they were written."""
    return all_of([str(one) for one in (lead.epochs[:-1] if _new_leader(lead) else lead.epochs)])


def _written(lead: Finding) -> str:
    """Return the time in which the records were written, in whole seconds, outwards.

    >>> from forensics.rules.finding import Severity
    >>> _written(Finding("r", Severity.ERROR, "a", 0, "", written=(1_795_233_947_948_000, 1_795_233_951_001_000)))
    '04:05:47 to 04:05:52'
    """
    if lead.written is None:
        return ""
    begin, end = _whole_seconds(lead.written)
    form = "%H:%M:%S" if begin.date() == end.date() else "%m-%d %H:%M:%S"
    return f"{begin:{form}} to {end:{form}}"


def _whole_seconds(span: tuple[int, int]) -> tuple[datetime, datetime]:
    first, last = span
    return datetime.fromtimestamp(first // _SECOND, UTC), datetime.fromtimestamp(-(-last // _SECOND), UTC)


def _day(lead: Finding) -> str:
    return f"{_whole_seconds(lead.written)[0]:%Y-%m-%d}" if lead.written is not None else ""


_COLUMNS = (
    _Column("partition", name_of),
    _Column("offsets", _offsets),
    _Column("records", lambda lead: how_many(lead) if lead.offsets else ""),
    _Column("epochs", _epochs, spare=True),
    _Column("new leader", _new_leader, spare=True),
    _Column("broker", _replicas, spare=True),
    _Column("certainty", lambda lead: lead.confidence.value, varies=True),
    _Column("day written", _day, varies=True),
    _Column("reset to", lambda lead: str(lead.reset_to) if lead.reset_to is not None else ""),
    _Column("written (UTC)", _written, varies=True),
)


def alike(group: Sequence[Incident], room: int | None = None) -> list[tuple[str, ...]]:
    """Return a table of the partitions with one story, its head first, if what it would have of them differs.

    Args:
        group: incidents with one story.
        room: how wide the table may be, with ``GAP`` between columns: spare columns are left out, the first ones first.
            None for any width.
    """
    if not _differ(group):
        return []
    cells = ((one, [one.cell(incident.lead) for incident in group]) for one in _COLUMNS)
    used = [(one, [one.name, *texts]) for one, texts in cells if len({*filter(None, texts)}) > one.varies]
    while room is not None and sum(max(map(len, texts)) + GAP for _, texts in used) > room + GAP:
        spare = next((number for number, (one, _) in enumerate(used) if one.spare), None)
        if spare is None:
            break
        del used[spare]
    return [*zip(*(texts for _, texts in used), strict=True)]


def _differ(group: Sequence[Incident]) -> bool:
    """Return whether partitions with one story have other offsets, brokers or times at which records were written."""
    leads = (one.lead for one in group)
    return len({(lead.offsets, lead.open_from, lead.replicas, _written(lead)) for lead in leads}) > 1


def own_steps(group: Sequence[Incident]) -> list[Action]:
    """Return the steps of the other partitions of a group that the first has not, each with its partitions.

    What differs by the offsets or by the time alone, which the table of the group has, is no step of its own.

    Args:
        group: incidents with one story.
    """
    first, having = group[0].lead, dict[str, list[Finding]]()
    for lead in (one.lead for one in group[1:]):
        for general in lead.general_steps:
            if general not in first.general_steps:
                having.setdefault(general, []).append(lead)
    found = [_step_for(leads, general) for general, leads in having.items()]
    return found + _left_out([one.lead for one in group[1:]], first)


def _step_for(leads: Sequence[Finding], general: str) -> Action:
    """Return a step in the words for the first of some partitions, and which these are."""
    step, others = leads[0].general_steps[general], f", and likewise for {runs(leads[1:])}" if leads[1:] else ""
    return Action(f"for {name_of(leads[0])}{others}: {step.text}", step.command)


def _left_out(others: Sequence[Finding], first: Finding) -> list[Action]:
    """Return that partitions do without the commands of the first one, where they have none that the first lacks."""
    without: dict[str, list[Finding]] = {}
    for one in others:
        if any(step.command and general not in first.general_steps for general, step in one.general_steps.items()):
            continue
        for general, step in first.general_steps.items():
            if step.command and general not in one.general_steps:
                without.setdefault(step.command, []).append(one)
    texts = (
        f"for {runs(leads)}: leave out the step of {name_of(first)} that has a command, which is not for "
        f"{'it' if len(leads) == 1 else 'them'}"
        for leads in without.values()
    )
    return [Action(text) for text in dict.fromkeys(texts)]


def own_notes(group: Sequence[Incident]) -> list[str]:
    """Return the notes that hold for other partitions of a group and not for the first, each with these.

    A topic has settings of its own, so what acks=all was worth may differ.

    Args:
        group: incidents with one story.
    """
    first = {_general(one.fact) for one in story(group[0].findings).notes}
    having: dict[str, list[tuple[Finding, Fact]]] = {}
    for incident in group[1:]:
        for fact in (one.fact for one in story(incident.findings).notes):
            if _general(fact) not in first:
                having.setdefault(_general(fact), []).append((incident.lead, fact))
    found = [f"for {runs([lead for lead, _ in same])}: {same[0][1].text}" for same in having.values()]
    return found[:OWN_NOTES]


def _general(fact: Fact) -> str:
    return fact.general or fact.text


def repeat_text(others: int) -> str:
    """Return that the steps are to be repeated for the other partitions of a group.

    >>> repeat_text(1), repeat_text(2)
    ('do the same for the other partition', 'do the same for each of the 2 other partitions')
    """
    return f"do the same for {_whom(others)}"


def _whom(others: int) -> str:
    return "the other partition" if others == 1 else f"each of the {others:,} other partitions"


_TABLED = " (its values are in the table above)"
_IN_PLACE = '. Where a step begins with "for" and names partitions, take it for these instead of the step like it'


def each_step_text(others: int, tabled: str = "", *, own: bool = False) -> str:
    """Return that the step before is for all partitions of a group, and so is each one that follows.

    Args:
        others: how many there are.
        tabled: where their own values are.
        own: steps of some of them alone follow.

    >>> each_step_text(1)
    'do that for the other partition too before you go on, and likewise with each step below'
    """
    follow = f"do that for {_whom(others)} too{tabled} before you go on, and likewise with each step below"
    return f"{follow}{_IN_PLACE if own else ''}"


def steps_of(group: Sequence[Incident], steps: Iterable[Action]) -> list[Action]:
    """Return the steps of a group in order, and after the first of them what to do for the other partitions.

    A step for one may undo what another still needs, as the start of a broker does. So all of them get each step before
    the next one.

    Args:
        group: incidents with one story.
        steps: those of the first.
    """
    own, others, given = some_own(group), partitions_of(group) - 1, list(dict.fromkeys(steps))
    if not others or not given:
        return [*given, *own]
    if len(given) == 1:
        if all(one.lead.next_steps == group[0].lead.next_steps for one in group):
            return given  # it is about a broker or a disk that all of them have in common
        shared = any(group[0].lead.general_steps.keys() & one.lead.general_steps.keys() for one in group[1:])
        return [
            *given,
            *([Action(f"{repeat_text(others)}{_tabled(group)}")] if shared or not own else []),
            *own,
        ]
    return [given[0], Action(each_step_text(others, _tabled(group), own=bool(own))), *given[1:], *own]


def some_own(group: Sequence[Incident]) -> list[Action]:
    """Return the first of many ``own_steps``, and how many more there are."""
    own = own_steps(group)
    more = len(own) - OWN_STEPS
    rest = [Action(f"--format json has {more:,} more steps that are for some of them alone")] if more > 0 else []
    return [*own[:OWN_STEPS], *rest]


def _tabled(group: Sequence[Incident]) -> str:
    """Return that the steps name values which the table of a group has for each partition; "" where they name none."""
    generals = "".join(group[0].lead.general_steps)
    if not alike(group) or not any(value in generals for value in (WHEN, FIRST, LOST)):
        return ""
    return _TABLED
