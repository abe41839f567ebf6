"""Names of partitions and titles of findings, as every report for people writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress

from forensics.case.brokers import Broker, version_of
from forensics.case.trace_clusters import cluster_text
from forensics.replay.confidence import Bearers, Confidence
from forensics.reports.incidents import Incident, seconds_apart
from forensics.result import Result
from forensics.rules import RULES, rule_of
from forensics.rules.causes import Cause, CauseId
from forensics.rules.finding import (
    FIRST,
    WHEN,
    Action,
    Finding,
    Severity,
    States,
    all_of,
    brokers_text,
    count_text,
    offsets_text,
    perhaps_text,
    records_text,
    sentence,
    span_text,
)

RANGES = 3  # of offsets in a headline
NODES = 5  # controllers named beside their number
RUNS = 8  # of partitions of a topic, named together


def name_of(finding: Finding) -> str:
    """Return the partition, and which incarnation of its topic it was."""
    return f"{finding.topic}-{finding.partition}{earlier(finding.incarnation)}"


def earlier(incarnation: int) -> str:
    """Return which earlier topic of the same name it was; "" for the present one."""
    return f" ({deleted(incarnation)})" if incarnation else ""


def deleted(incarnation: int) -> str:
    """Return which deleted topic of its name it was: there is a new one since.

    >>> deleted(1), deleted(2)
    ('earlier topic of this name', 'earlier topic of this name, 2 topics ago')
    """
    return f"earlier topic of this name{'' if incarnation == 1 else f', {incarnation} topics ago'}"


def rule_name(finding: Finding) -> str:
    """Return the rule of a finding by its id, after a few words if the id has abbreviations."""
    return next((rule.name for rule in RULES if rule.id == finding.rule), finding.rule)


def headline(incident: Incident) -> str:
    """Return the title of an incident in one line."""
    return "   ".join(title_of(incident))


def title_of(incident: Incident) -> list[str]:
    """Return the parts of a title: the rule, the offsets if there are any, the severity and the confidence."""
    lead = incident.lead
    titles = [rule.title for rule in RULES if rule.id == lead.rule]
    offsets = []
    if lead.offsets:
        rest = f" and {len(lead.offsets) - RANGES:,} more ranges" if len(lead.offsets) > RANGES else ""
        offsets = [f"{offsets_text(lead.offsets[:RANGES])}{rest} ({how_many(lead)})"]
    elif lead.open_from is not None:
        offsets = [f"from offset {lead.open_from} on"]
    doubt = "SUSPECTED: " if lead.confidence is Confidence.SUSPECTED else ""
    first = [f"{doubt}{titles[0]}", *offsets]
    return [*first[:-1], f"{first[-1]}{times(lead)}", f"{lead.severity.value}, {lead.confidence.value}"]


def listed(found: Iterable[Incident], title: Callable[[Incident], str]) -> dict[str, list[Incident]]:
    """Return incidents by their title, in the order of the first of each."""
    rows: dict[str, list[Incident]] = {}
    for one in found:
        rows.setdefault(title(one), []).append(one)
    return rows


def how_many(lead: Finding) -> str:
    """Return how many records, or how many offsets if it is not known that they hold any."""
    if lead.records is None:
        return count_text(lead.offsets)
    least, most = lead.records
    perhaps = "" if most is not None else perhaps_text(lead.maybe_to)
    return f"{records_text(least, most or least) if least or most == 0 else count_text(lead.offsets)}{perhaps}"


_MEANS = {
    Confidence.PROVEN: "two independent files show each fact",
    Confidence.INFERRED: "a fact follows from the protocol, or only one file shows it; act as if it were proven",
}
"""The meaning of a confidence, for a reader who meets the word first; the answer itself explains a suspicion."""


_OF_DAMAGE = {**_MEANS, Confidence.PROVEN: "two independent files show each fact, or a file on disk shows it by itself"}
_OF_TRACES = {**_MEANS, Confidence.PROVEN: "the trace states each fact"}


def confidence_text(result: Result) -> str:
    """Return what the words for the confidence of findings mean, those that occur; "" without findings."""
    loud = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    named = {finding.confidence for finding in loud}
    alone = any(rule_of(one.rule).bearers is Bearers.ONE and one.confidence is Confidence.PROVEN for one in loud)
    means = _OF_TRACES if result.case.traces_alone else _OF_DAMAGE if alone else _MEANS
    said = [f"{one.value} means: {text}." for one, text in means.items() if one in named]
    return f"In the headings below, {' And '.join(said)}" if said else ""


def node_name(node: Broker) -> str:
    """Return the name of a broker; a controller of KRaft is no broker."""
    return brokers_text([node.id], [node.id] if node.only_controls else [])


def nodes_text(everyone: Sequence[Broker]) -> str:
    """Return how many brokers there are, the controllers beside them, and the versions of Kafka that they printed.

    >>> from forensics.case.brokers import Broker
    >>> nodes_text([Broker(1), Broker(2), Broker(100, settings={"process.roles": "controller"})])
    '2 brokers, 1 controller (100)'
    >>> nodes_text([Broker(1, version="2.8.2"), Broker(2, version="3.9.1"), Broker(3, version="2.8.2")])
    '3 brokers, Kafka 2.8.2 and 3.9.1'
    """
    printed = sorted({node.version for node in everyone if node.version}, key=lambda one: (version_of(one) or (), one))
    return ", ".join([" ".join(counted_nodes(everyone)), *([f"Kafka {all_of(printed)}"] if printed else [])])


def counted_nodes(everyone: Sequence[Broker]) -> tuple[str, str]:
    """Return the number of brokers, and the words that follow it in ``nodes_text``."""
    controllers = [node.id for node in everyone if node.only_controls]
    count = len(everyone) - len(controllers)
    beside = ""
    if controllers:
        many = len(controllers) > 1
        named = first_names([str(one) for one in controllers], NODES)
        beside = f", {len(controllers):,} controller{'s' if many else ''} ({named})"
    return f"{count:,}", f"broker{'' if count == 1 else 's'}{beside}"


def times(finding: Finding) -> str:
    """Return how often it happened, if more than once."""
    return f", {finding.count:,} times" if finding.count > 1 else ""


def of_cluster(cluster: str | None) -> str:
    """Return the cluster of something, for evidence of several clusters."""
    return f" of {cluster_text(cluster)}"


def same_elsewhere(group: Sequence[Incident]) -> str:
    """Return a sentence about the other partitions with the story of the first, or ""."""
    others = [one.lead for one in group[1:]]
    if not others:
        return ""
    apart = seconds_apart(group)
    when = f", up to {apart:,} seconds earlier or later" if apart > 1 else ""
    if _differ(group):
        return f"The same in {len(group):,} partitions{when}{_total([one.lead for one in group])}"
    where = f"{len(others):,} other partition{'' if len(others) == 1 else 's'}"
    named = runs(others)
    if any(one.epochs != group[0].lead.epochs for one in others):
        where = f"{where}, in other leader epochs"
    same = ", the same offsets" if group[0].lead.offsets else ""
    return f"The same in {where}{same}{when}{_total(others)}: {named}{earlier(others[0].incarnation)}"


def _total(leads: Sequence[Finding]) -> str:
    """Return how many records partitions lost together, in brackets; "" where there may be none."""
    counts = [finding.records for finding in leads if finding.records is not None]
    least, tops = sum(low for low, _ in counts), [high for _, high in counts if high is not None]
    if not least:
        return ""
    exact = len(tops) == len(counts)
    return f" ({records_text(least, sum(tops)) if exact else f'at least {records_text(least, least)}'})"


_COLUMNS = ("partition", "offsets", "records", "broker", "leader epochs")


def alike(group: Sequence[Incident]) -> list[tuple[str, ...]]:
    """Return a table of the partitions with one story, its head first, if their offsets or brokers differ."""
    if not _differ(group):
        return []
    rows = [_row(one.lead) for one in group]
    used = [any(column) for column in zip(*rows, strict=True)]
    return [tuple(compress(row, used)) for row in (_COLUMNS, *rows)]


def _differ(group: Sequence[Incident]) -> bool:
    """Return whether the offsets or the brokers of partitions with one story are not the same."""
    return len({(one.lead.offsets, one.lead.open_from, one.lead.replicas) for one in group}) > 1


def _row(lead: Finding) -> tuple[str, ...]:
    """Return the cells of one partition, "" for what it does not name."""
    return (
        name_of(lead),
        span_text(lead.offsets[:RANGES]) if lead.offsets else _from(lead),
        how_many(lead) if lead.offsets else "",
        all_of([str(one) for one in lead.replicas or _led(lead)]),
        all_of([str(one) for one in lead.epochs]),
    )


def _from(lead: Finding) -> str:
    return f"from {lead.open_from} on" if lead.open_from is not None else ""


def _led(lead: Finding) -> tuple[int, ...]:
    """Return the broker that led without the records."""
    begun = (fact.broker for fact in lead.facts if fact.states is States.EPOCH_START)
    return tuple(broker for broker in dict.fromkeys(begun) if broker is not None)


def own_steps(group: Sequence[Incident], most: int) -> list[Action]:
    """Return the steps of the other partitions of a group that are not those of the first, each with its partition.

    Args:
        group: incidents with one story.
        most: other partitions whose steps are shown.
    """
    first = group[0].lead
    found = [
        Action(f"for {name_of(one.lead)}: {step.text}", step.command)
        for one in group[1 : most + 1]
        for general, step in one.lead.general_steps.items()
        if general not in first.general_steps or _has_other_values(general, one.lead, first)
    ]
    found += [step for one in group[1 : most + 1] for step in _left_out(one.lead, first)]
    more = len(group) - 1 - most
    return found + ([Action(f"--format json has the steps of {more:,} more")] if found and more > 0 else [])


def _has_other_values(general: str, one: Finding, first: Finding) -> bool:
    """Return whether a step of two partitions names another span of time, or another offset to begin at."""
    return (WHEN in general and one.when != first.when) or (FIRST in general and one.offsets[:1] != first.offsets[:1])


def _left_out(one: Finding, first: Finding) -> list[Action]:
    """Return that a partition does without the commands of the first one, where it has none that the first lacks."""
    own = [step for general, step in one.general_steps.items() if step.command and general not in first.general_steps]
    without = [
        step.command
        for general, step in first.general_steps.items()
        if step.command and general not in one.general_steps
    ]
    text = f"for {name_of(one)}: leave out the step of {name_of(first)} with this command, which is not for it:"
    return [] if own else [Action(text, command) for command in without]


def repeat_text(others: int, *, own: bool = False) -> str:
    """Return that the steps are to be repeated for the other partitions of a group.

    Args:
        others: how many there are.
        own: steps of their own follow.

    >>> repeat_text(1), repeat_text(2)
    ('do the same for the other partition', 'do the same for each of the 2 other partitions')
    """
    whom = "the other partition" if others == 1 else f"each of the {others:,} other partitions"
    return f"do the same for {whom}{', except for these steps' if own else ''}"


def each_step_text(others: int) -> str:
    """Return that a step is for all partitions of a group before the next one is.

    >>> each_step_text(1)
    'take each step for the other partition too, before you take the next one'
    """
    whom = "the other partition" if others == 1 else f"the {others:,} other partitions"
    return f"take each step for {whom} too, before you take the next one"


def steps_of(group: Sequence[Incident], steps: Sequence[Action], most: int) -> list[Action]:
    """Return the steps of a group in order, with what to do for the partitions after the first.

    A step for one may undo what another still needs, as the start of a broker does. So where all have the same steps,
    all of them get each step before the next one.

    Args:
        group: incidents with one story.
        steps: those of the first.
        most: other partitions whose own steps are shown.
    """
    own, others, given = own_steps(group, most), len(group) - 1, list(dict.fromkeys(steps))
    if not others or not given:
        return [*given, *own]
    if len(given) > 1 and not own:
        return [Action(each_step_text(others)), *given]
    first, second = (set(one.lead.general_steps) for one in group[:2])
    same = [Action(repeat_text(others, own=bool(own)))] if not own or first & second else []
    return [*given, *same, *own]


def others_texts(incident: Incident) -> list[str]:
    """Return a sentence for each further finding; one for all replicas that did the same."""
    lead, alike = incident.lead, dict[tuple[object, ...], list[Finding]]()
    for one in incident.others:
        key = (one.rule, one.confidence, one.did) if one.did else (one.fingerprint,)
        alike.setdefault(key, []).append(one)
    return [_other_text(lead, same) for same in alike.values()]


def _other_text(lead: Finding, same: Sequence[Finding]) -> str:
    first = same[0]
    doubt = "" if first.confidence is lead.confidence else f", {first.confidence.value}"
    alike = ", for the same offsets" if first.offsets and all(one.offsets == lead.offsets for one in same) else ""
    replicas = sorted({replica for one in same for replica in one.replicas})
    summary = f"{brokers_text(replicas, first.controllers)} {first.did}" if len(same) > 1 else first.summary
    return sentence(f"{rule_name(first)}{doubt}{alike}: {summary}{times(first)}", capital=False)


def open_texts(incident: Incident) -> list[tuple[str, list[str]]]:
    """Return what the findings of an incident leave open, and what else would explain those that are suspected.

    Each comes with its label.
    """
    labels = ("Unknown", False), ("Otherwise", True)
    return [
        (label, list(dict.fromkeys(text for f in incident.findings if _is_suspected(f) is of for text in f.uncertain)))
        for label, of in labels
    ]


def _is_suspected(finding: Finding) -> bool:
    return finding.confidence is Confidence.SUSPECTED


def why_inferred(incident: Incident) -> list[str]:
    """Return why the findings of an incident are inferred: what the protocol implies, and what one file alone shows."""
    implied = [text for finding in incident.findings for text in finding.inferences]
    of_rules = {finding.rule: finding.unproven for finding in reversed(incident.findings) if finding.unproven}
    alone = [text for texts in reversed(of_rules.values()) for text in texts]
    return list(dict.fromkeys((*implied, *alone)))


def causes_of(incident: Incident) -> list[Cause]:
    """Return each cause of an incident once.

    A suspected one without a known cause gives none: ``open_texts`` has what else would explain it.
    """
    named = [cause for f in incident.findings if (cause := f.known_cause) is not None]
    known = [cause for cause in named if cause.id is not CauseId.UNKNOWN]
    known = known or ([] if _is_suspected(incident.lead) else named[:1])
    return list(dict.fromkeys(known))


def source_of(cause: Cause) -> str:
    """Return the source of a cause and the versions that it affects, in words; "" where there is none."""
    see = f"See {cause.reference}." if cause.reference else ""
    versions = f"Affects {cause.versions}." if cause.versions else ""
    return " ".join(filter(None, (see, versions))).removesuffix(".")


def runs(findings: Sequence[Finding]) -> str:
    """Return partitions by name, consecutive ones of a topic together.

    >>> from forensics.rules.finding import Finding, Severity
    >>> runs([Finding("r", Severity.ERROR, "a", n, "") for n in (1, 2, 3, 7)])
    'a-1 to a-3, a-7'
    """
    numbers: dict[str, list[int]] = {}
    for finding in findings:
        numbers.setdefault(finding.topic, []).append(finding.partition)
    runs = []
    for topic, partitions in numbers.items():
        ordered = sorted(set(partitions))
        starts = [one for place, one in enumerate(ordered) if place == 0 or ordered[place - 1] != one - 1]
        ends = [one for place, one in enumerate(ordered) if place + 1 == len(ordered) or ordered[place + 1] != one + 1]
        runs += [
            f"{topic}-{first}" if first == last else f"{topic}-{first} to {topic}-{last}"
            for first, last in zip(starts, ends, strict=True)
        ]
    return first_names(runs, RUNS)


def first_names(names: Sequence[str], most: int, *, of: int | None = None) -> str:
    """Return the first names of many, and how many more there are.

    Args:
        names: all of them, or the first.
        most: how many are named.
        of: how many there are in all, where only the first are given.
    """
    every = len(names) if of is None else of
    rest = f" and {every - most:,} more" if every > most else ""
    return ", ".join(names[:most]) + rest
