"""Names of partitions and titles of findings, as every report for people writes them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from forensics.case.brokers import Broker, version_of
from forensics.case.trace_clusters import cluster_text
from forensics.replay.confidence import Bearers, Confidence
from forensics.reports.incidents import Incident
from forensics.result import Result
from forensics.rules import RULES, rule_of
from forensics.rules.causes import Cause, CauseId
from forensics.rules.finding import (
    Finding,
    Severity,
    all_of,
    brokers_text,
    count_text,
    offsets_text,
    perhaps_text,
    records_text,
    sentence,
)

RANGES = 3  # of offsets in a headline
NODES = 5  # controllers named beside their number
RUNS = 8  # of partitions of a topic, named together
_PAIR = 2  # consecutive partitions, which are named one by one


def name_of(finding: Finding) -> str:
    """Return the partition, and which incarnation of its topic it was."""
    return f"{finding.topic}-{finding.partition}{earlier(finding.incarnation)}"


def earlier(incarnation: int) -> str:
    """Return which earlier topic of the same name it was; "" for the present one."""
    return f" ({deleted(incarnation)})" if incarnation else ""


def deleted(incarnation: int) -> str:
    """Return which deleted topic of its name it was: there is a new one since.

    >>> deleted(1), deleted(2)
    ('earlier topic', 'earlier topic, 2 topics ago')
    """
    return f"earlier topic{'' if incarnation == 1 else f', {incarnation} topics ago'}"


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


def how_many(lead: Finding) -> str:
    """Return how many records, or how many offsets if it is not known that they hold any."""
    if lead.records is None:
        return count_text(lead.offsets)
    least, most = lead.records
    perhaps = "" if most is not None else perhaps_text(lead.maybe_to)
    return f"{records_text(least, most or least) if least or most == 0 else count_text(lead.offsets)}{perhaps}"


def together(leads: Iterable[Finding]) -> str:
    """Return how many records several findings are about together; "" where there may be none.

    >>> from forensics.rules.finding import Finding, Severity
    >>> found = [Finding("r", Severity.ERROR, "a", n, "", records=(2, most)) for n, most in enumerate((2, 3))]
    >>> together(found), together([*found, Finding("r", Severity.ERROR, "a", 2, "", records=(1, None))])
    ('4 to 5 records', 'at least 5 records')
    """
    counts = [finding.records for finding in leads if finding.records is not None]
    least, tops = sum(low for low, _ in counts), [high for _, high in counts if high is not None]
    if not least:
        return ""
    return records_text(least, sum(tops)) if len(tops) == len(counts) else f"at least {records_text(least, least)}"


_MEANS = {
    Confidence.PROVEN: "two independent files show each fact",
    Confidence.INFERRED: "it follows from the protocol, or only one file shows it. Treat it as certain",
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
    >>> runs([Finding("r", Severity.ERROR, "a", n, "") for n in (1, 2)])
    'a-1, a-2'
    """
    numbers: dict[str, list[int]] = {}
    for finding in findings:
        numbers.setdefault(finding.topic, []).append(finding.partition)
    named = (f"{topic}-{text}" for topic, partitions in numbers.items() for text in _consecutive(partitions, topic))
    return first_names([*named], RUNS)


def runs_of_lives(findings: Iterable[Finding]) -> str:
    """Return the same of topics that had one name in turn, with which of them it was.

    >>> from forensics.rules.finding import Finding, Severity
    >>> old = [Finding("r", Severity.ERROR, "a", n, "", incarnation=1) for n in (1, 2, 3)]
    >>> runs_of_lives([*old, Finding("r", Severity.ERROR, "b", 7, "")])
    'a-1 to a-3 (earlier topic), b-7'
    """
    lives: dict[int, list[Finding]] = {}
    for finding in findings:
        lives.setdefault(finding.incarnation, []).append(finding)
    return ", ".join(f"{runs(mine)}{earlier(life)}" for life, mine in lives.items())


def _consecutive(partitions: Iterable[int], topic: str) -> Iterator[str]:
    """Yield the numbers of partitions in order, three or more consecutive ones as one text."""
    ordered = sorted(set(partitions))
    for _, same in itertools.groupby(enumerate(ordered), key=lambda one: one[1] - one[0]):
        run = [number for _, number in same]
        yield from [f"{run[0]} to {topic}-{run[-1]}"] if len(run) > _PAIR else map(str, run)


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
