"""The answer of a scan in one to three sentences: what every report for people begins with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Final

import polars as pl

from forensics.case.coverage import period
from forensics.case.order import METADATA_TOPIC
from forensics.case.partial import excerpts_alone
from forensics.replay.confidence import decides
from forensics.replay.facts.isr import broker_set
from forensics.replay.signs.sign import Sign
from forensics.reports.collecting import log_folders, script
from forensics.reports.incidents import incarnation_of
from forensics.reports.remarks import headline_of
from forensics.reports.tally import unanswered, without_violation
from forensics.reports.titles import first_names, name_of, of_cluster, runs_of_lives, together
from forensics.result import Partition, Result
from forensics.rules import RULES, rule_of
from forensics.rules.committed_data_lost import ID as LOSS
from forensics.rules.finding import Finding, Rule, Severity, States, Verdict, all_of
from forensics.rules.hw_above_leo import ID as ABOVE_END
from forensics.rules.replica_divergence import ID as FORK
from parsers.details import assigned
from parsers.schema import Kind

NAMED, PLACES = 4, 2  # rules in a sentence, and partitions named for each
LISTED = 8  # partitions named of those with an open question
FOLDERS = 4  # log directories named
MANY = 2  # clusters, from which on each has a sentence of its own


class Tone(StrEnum):
    """The meaning of an answer for its reader."""

    VIOLATED = "violated"
    DOUBT = "doubt"
    CLEAN = "clean"


@dataclass(frozen=True, slots=True)
class Answer:
    """One sentence of the answer."""

    tone: Tone
    text: str


def answers(result: Result) -> list[Answer]:
    """Return the answer, the worst first: violated, suspected, cannot be ruled out, or clean."""
    if not result.partitions:
        return [Answer(Tone.DOUBT, headline_of(result) or _nothing_judged(result))]
    loud = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    found = [*_violated(result, loud), *_suspected(result, loud)]
    if _doubt_is_worse(loud):
        found = [*_suspected(result, loud), *_violated(result, loud)]
    stated = headline_of(result)
    if not found and stated:
        found = [Answer(Tone.DOUBT, stated)]
    found += _open(result, told=bool(loud))
    return found or [Answer(Tone.CLEAN, _clean(result))]


def _doubt_is_worse(loud: Sequence[Finding]) -> bool:
    """Return whether a loss or a fork is suspected, and what is sure is neither."""
    asked = [one for one in loud if one.rule in (LOSS, FORK)]
    return bool(asked) and not any(decides(one.confidence) for one in asked)


def _violated(result: Result, loud: Sequence[Finding]) -> list[Answer]:
    return [one for part in _by_cluster(result, loud) for one in _violated_in(*part)]


def _violated_in(result: Result, loud: Sequence[Finding]) -> list[Answer]:
    decided = [finding for finding in loud if decides(finding.confidence)]
    grave = [finding for finding in decided if finding.severity is not Severity.WARNING]
    told = {(finding.rule, incarnation_of(finding)) for finding in grave}
    mild = [finding for finding in decided if (finding.rule, incarnation_of(finding)) not in told]
    found = []
    if grave:
        said = f"VIOLATED in {_where(result, grave)}: {_rules(grave)}{_of_loss(result, grave)}"
        found.append(Answer(Tone.VIOLATED, said))
    if mild:
        known = "" if {LOSS, FORK}.intersection(one.rule for one in mild) else f". {_of_mild(result, mild)}"
        found.append(Answer(Tone.DOUBT, f"WARNING in {_where(result, mild)}: {_rules(mild)}{known}"))
    return found


def _of_mild(result: Result, mild: Sequence[Finding]) -> str:
    """Return what is known of a loss where only warnings were found: what is open must not seem to be excluded."""
    places = {incarnation_of(one) for one in mild}
    judged = [one for one in result.partitions if _key(one) in places]
    if not any(_is(one, LOSS, Verdict.UNKNOWN) for one in judged):
        return "No loss is known from this"
    some = "" if all(_is(one, LOSS, Verdict.UNKNOWN) for one in judged) else "some of "
    return f"Whether {some}{'it' if len(judged) == 1 else 'them' if some else 'these'} lost committed data is unknown"


def _of_loss(result: Result, grave: Sequence[Finding]) -> str:
    """Return when committed data was lost; or that none was, if that is known. Another sentence says what is open."""
    if times := [time for one in grave if (time := lost_at(one)) is not None]:
        first, last = (datetime.fromtimestamp(time // 1_000_000, UTC) for time in (min(times), max(times)))
        until = f" to {last:%H:%M:%S}" if first.date() == last.date() else f" to {last:%Y-%m-%d %H:%M:%S}"
        lost = [one for one in grave if one.rule == LOSS]
        count = together(lost) if len(lost) > 1 else ""
        span = f"{first:%Y-%m-%d %H:%M:%S}{until if last > first else ''} UTC"
        return f". Committed data was lost at {span}{count and f': {count}'}"
    if not {LOSS, FORK}.isdisjoint({one.rule for one in grave} | {*result.changes.disabled}):
        return ""
    places = present(result) or result.partitions
    if any(_is(one, rule, Verdict.UNKNOWN) for one in places for rule in (LOSS, FORK)):
        return ""
    return ". No committed data was lost or forked so far"


def lost_at(finding: Finding) -> int | None:
    """Return when a leader began without the records that a finding calls lost; None where no line shows it.

    Returns:
        Microseconds since 1970 UTC.
    """
    if finding.rule != LOSS or not decides(finding.confidence):
        return None
    return next((fact.time for fact in finding.facts if fact.states is States.EPOCH_START), None)


def _suspected(result: Result, loud: Sequence[Finding]) -> list[Answer]:
    return [one for part in _by_cluster(result, loud) for one in _suspected_in(*part)]


def _suspected_in(result: Result, loud: Sequence[Finding]) -> list[Answer]:
    unsure = [finding for finding in loud if not decides(finding.confidence)]
    if not unsure:
        return []
    text = f"SUSPECTED in {_where(result, unsure)}: {_rules(unsure)}. Not proven: something else may explain it"
    return [Answer(Tone.DOUBT, text)]


def _open(result: Result, *, told: bool) -> list[Answer]:
    """Return what cannot be ruled out in the partitions where the same was not found."""
    open_ = open_rules(result)
    if not open_:
        return []
    first, places = next(iter(open_.items()))
    what = "loss of committed data" if first.id == LOSS else first.id
    known = any(one.known.severity is not Severity.INFO for one in result.problems)
    head = "Also: " if told or known else f"INCONCLUSIVE: {_none_lost(result)}"
    others = [rule for rule in unanswered(result) if rule != first]
    have = "has" if len(others) == 1 else "have"
    more = f"; {_count(len(others), 'other rule')} {have} no answer in some partitions" if others else ""
    more_of = any(one.rule == first.id and one.severity is not Severity.INFO for one in result.findings)
    where = _of_clusters(result, places, more=more_of)
    warned = f"{_names(result, places)}{_warned_too(result, places)}"
    text = f"{head}{what} cannot be ruled out in {where}{warned}{more}{_listed(result)}"
    return [Answer(Tone.DOUBT, text)]


def _none_lost(result: Result) -> str:
    """Return that no partition lost committed data, before what is open of other rules; "" if one may have."""
    places = present(result)
    return "no committed data was lost, but " if places and all(_is(one, LOSS, Verdict.CLEAN) for one in places) else ""


def _names(result: Result, places: Sequence[Partition]) -> str:
    """Return the names of partitions, in brackets; "" where they are all, or of one of several clusters."""
    if not 0 < len(places) < len(present(result)) or len(result.case.parts) >= MANY:
        return ""
    return f" ({first_names([one.history.name for one in places], LISTED)})"


def _warned_too(result: Result, places: Sequence[Partition]) -> str:
    """Return that partitions with no more than a warning are among those of an open question, if all of them are."""
    loud = [one for one in result.findings if one.severity is not Severity.INFO]
    graver = {incarnation_of(one) for one in loud if one.severity is not Severity.WARNING}
    warned = {incarnation_of(one) for one in loud} - graver
    open_ = {_key(one) for one in places}
    if not warned or not warned <= open_:
        return ""
    return ", those with the warning" if warned == open_ else ", among them those with the warning"


def caution(result: Result) -> str:
    """Return what not to do before anything else, if committed data is lost or forked, or a restart may lose it.

    Returns:
        The sentence; "" if nothing is at stake.
    """
    asked = [one for one in result.findings if one.rule in (LOSS, FORK, ABOVE_END)]
    grave = [one for one in asked if one.severity.rank < Severity.WARNING.rank]
    grave = grave or [one for one in asked if one.rule == LOSS and not decides(one.confidence)]
    if not grave:
        return ""
    if kept := [one for one in grave if one.keep]:
        if all(one.subject == Sign.TOPIC_GONE.name for one in kept):
            return _CAUTION.format(copied=_stray(result), while_running="")
        return _CAUTION.format(copied=f"what is named under Keep of {runs_of_lives(kept)}", while_running="")
    whole = _whole({incarnation_of(one) for one in grave}, result)
    copied = _of_logs(result, controllers=any(one.controllers for one in grave))
    command = script(result)
    how = _SCRIPT.format(command=command) if command else ""
    shown = any(decides(one.confidence) for one in grave)
    return f"{_CAUTION.format(copied=copied, while_running=f'{how}{_RUNNING}')}. {_ELSEWHERE[shown, whole]}"


def _stray(result: Result) -> str:
    """Return in words which directories to copy of topics that the controllers do not know, with paths if known."""
    named = log_folders(result, controllers=False)
    paths = f" ({all_of([f'{one}/*-stray' for one in named])})" if 0 < len(named) <= FOLDERS else ""
    return f"each directory of all brokers whose name ends in -stray{paths}"


_CAUTION: Final = (
    "before anything else: copy {copied} to another disk{while_running}. Do not start or restart a broker, or delete "
    "or move its data, before that"
)
_RUNNING: Final = ". Brokers may run meanwhile"
_SCRIPT: Final = " ({command} prints a script for it, see --help)"
_ELSEWHERE: Final = MappingProxyType(
    {
        (True, True): "No copy in the evidence has the records",
        (True, False): "The evidence has no copy of the records, but brokers whose data is not in it may",
        (False, True): "If records are lost, no copy in the evidence has them",
        (False, False): "If records are lost, brokers whose data is not in the evidence may have them",
    }
)
"""Places where the records may be if no copy in the evidence has them: by whether a loss is shown, and whether the
evidence has the data of every replica."""


def _whole(places: Collection[tuple[object, ...]], result: Result) -> bool:
    """Return whether the segments of every replica of some partitions are in the evidence, as far as they exist."""
    histories = [one.history for one in present(result) if _key(one) in places]
    return all(broker in one.replicas and one.replicas[broker].on_disk for one in histories for broker in one.members)


def _of_logs(result: Result, *, controllers: bool) -> str:
    """Return the log directories of all brokers in words, with their paths if they are few and known.

    Args:
        result: a finished scan.
        controllers: those of controllers too, which have what the metadata log lost.
    """
    named = log_folders(result, controllers=controllers)
    paths = f" ({all_of(named)})" if 0 < len(named) <= FOLDERS else ""
    return f"the data directories of all brokers{' and controllers' if controllers else ''}{paths}"


def _of_clusters(result: Result, places: Sequence[Partition], *, more: bool) -> str:
    """Return how many partitions of how many, for each cluster if there are several.

    Args:
        result: a finished scan.
        places: the partitions.
        more: there are others, in which something was found.
    """
    names = list(dict.fromkeys(one.history.cluster for one in places))
    if len(result.case.parts) < MANY or len(names) > NAMED:
        return f"{len(places):,} more of {everywhere(result)}" if more else f"{len(places):,} of {existing(result)}"
    return ", ".join(
        f"{sum(one.history.cluster == name for one in places):,} of "
        f"{_partitions(sum(one.history.cluster == name for one in present(result)))}{of_cluster(name)}"
        for name in names
    )


def _listed(result: Result) -> str:
    """Return that a list of files to collect follows; an excerpt has one only if nothing else names what to fetch."""
    return "" if excerpts_alone(result.case) else ". What to collect is listed below"


def counted(result: Result) -> str:
    """Return how many partitions were judged, those of topics that were deleted and created again apart."""
    gone = len(result.partitions) - len(present(result))
    if not gone:
        return _partitions(len(result.partitions))
    return f"{existing(result)} and {gone:,} of earlier topics of the same name"


def everywhere(result: Result) -> str:
    """Return how many partitions were judged: what counts of findings are out of, and what adds to them."""
    return _partitions(len(result.partitions))


def existing(result: Result) -> str:
    """Return how many partitions exist, without those of topics that were deleted and created again."""
    count = len(present(result))
    return _partitions(count) if count == len(result.partitions) else f"{_partitions(count)} that exist now"


def open_rules(result: Result) -> dict[Rule, Sequence[Partition]]:
    """Return the rules that more evidence would answer, with the partitions that exist and where they found nothing.

    The loss of committed data comes first, then the gravest. Every report takes from here whether a scan is
    inconclusive.
    """
    loud = [finding for finding in result.findings if finding.severity is not Severity.INFO]
    open_ = _unanswered(result, {(finding.rule, incarnation_of(finding)) for finding in loud})
    return dict(sorted(open_.items(), key=lambda one: (one[0].id != LOSS, one[0].severity.rank)))


def _unanswered(result: Result, found: Collection[tuple[str, tuple[object, ...]]]) -> dict[Rule, Sequence[Partition]]:
    """Return the rules that more evidence would answer, with the partitions where they found nothing."""
    asked = [rule for rule in RULES if rule.severity is not Severity.INFO and rule.id not in result.changes.disabled]
    with_findings = {rule for rule, _ in found}
    left: dict[Rule, Sequence[Partition]] = {}
    for rule in asked:
        places = result.having(partial(_is_open, rule=rule.id))
        if rule.id in with_findings:
            places = [one for one in places if (rule.id, _key(one)) not in found]
        if places:
            left[rule] = places
    return left


def _is_open(partition: Partition, *, rule: str) -> bool:
    return not partition.history.incarnation and _is(partition, rule, Verdict.UNKNOWN)


def present(result: Result) -> list[Partition]:
    """Return the partitions without earlier incarnations of a topic."""
    return [one for one in result.partitions if not one.history.incarnation]


def _is(partition: Partition, rule: str, verdict: Verdict) -> bool:
    judgement = partition.judgements.get(rule)
    return judgement is not None and judgement.verdict is verdict


def _key(partition: Partition) -> tuple[object, ...]:
    one = partition.history
    return (one.cluster, one.topic, one.topic_id, one.partition, one.incarnation)


def _clean(result: Result) -> str:
    places = existing(result) if present(result) else _partitions(len(result.partitions))
    if result.known:
        return f"NOTHING NEW in {places}: the baseline hides {_count(len(result.known), 'known finding')}"
    if any(_is(one, rule, Verdict.VIOLATED) for one in present(result) for rule in result.changes.severities):
        return f"NOTHING above the severities that you set, in {places}"
    clean = without_violation(result, present(result) or result.partitions)
    off = f"; {len(result.changes.disabled)} switched off" if result.changes.disabled else ""
    sure = "" if LOSS in result.changes.disabled else ": no committed data was lost, truncated or forked"
    if not clean:
        return f"NOTHING asked: every rule is switched off, in {places}"
    names = first_names([one.history.name for one in present(result) or result.partitions], PLACES)
    said = f"{_count(len(clean), 'rule')} found no violation in {places} ({names})"
    return f"CLEAN: {said}{sure}{off}{_covered(result)}"


def _covered(result: Result) -> str:
    """Return the time that the lines of the evidence cover, as the end of a sentence; "" without any."""
    covered = period_text(result)
    return f". The log lines cover {covered}, nothing before and nothing after" if covered else ""


def period_text(result: Result) -> str:
    """Return the time that the evidence covers, such as ``2024-03-01 10:22:41 to 10:23:05 UTC``; "" without any."""
    covered = period(result.case.sources)
    if covered is None:
        return ""
    first, last = covered
    end = f"{last:%H:%M:%S}" if first.date() == last.date() else f"{last:%Y-%m-%d %H:%M:%S}"
    return f"{first:%Y-%m-%d %H:%M:%S} to {end} UTC"


_STATED: Final = ("leader", "leader_epoch", "offset", "hw", "leo", "log_start", "isr")
"""Columns of what the rules ask for."""


def _nothing_judged(result: Result) -> str:
    if result.case.unattributed:
        return "NOT JUDGED: no partition was judged, because nothing shows which broker logged these lines"
    left_out = bool(result.changes.topics or result.changes.skipped_topics)
    of_topics = (pl.col("topic").is_not_null(), pl.col("topic") != METADATA_TOPIC)
    if not left_out and result.case.sources.filter(*of_topics, pl.col("broker").is_null()).height:
        return (
            "NOT JUDGED: no partition was judged, because nothing shows which broker each copy of its log is of. Put "
            "the files of each broker in a folder that has its id in its name, such as broker-1"
        )
    stating = result.case.observations.filter(*of_topics, pl.any_horizontal(pl.col(*_STATED).is_not_null()))
    if not left_out and stating.height and (stating["kind"] == Kind.TOPIC_DESCRIBED.value).all():
        return _described_alone(stating)
    if left_out or stating.height:
        return "NOT JUDGED: none of the topics in the evidence was to be judged"
    if result.case.observations.filter(pl.col("topic") == METADATA_TOPIC).height:
        return (
            "NOT JUDGED: the evidence is about the metadata log alone, and shows no second controller to compare with. "
            "Add the logs of all controllers, or server.log and the data directories of the brokers"
        )
    return (
        "NOT JUDGED: no line and no file in the evidence states the role of a replica, its leader, or an offset of its "
        "log. Add server.log, state-change.log or the data directories of the brokers"
    )


def _described_alone(described: pl.DataFrame) -> str:
    """Return the answer to descriptions of partitions alone: how many of them, by the last one, lacked replicas."""
    last = described.unique(["topic", "partition"], keep="last").select("isr", "detail").rows()
    lacking = sum(not {*assigned(detail)} <= (broker_set(isr) or frozenset()) for isr, detail in last)
    health = f"{lacking} of them with a replica out of the ISR" if lacking else "all replicas in the ISR"
    return (
        f"NOT JUDGED: {_count(len(last), 'partition')} described, {health}. A description shows the leader and the ISR "
        "at one moment, and no offset. Add server.log, state-change.log or the data directories of the brokers"
    )


def _by_cluster(result: Result, loud: Sequence[Finding]) -> list[tuple[Result, list[Finding]]]:
    """Return the result and the findings of each cluster: no sentence about several may be false for one of them."""
    clusters = list(dict.fromkeys(finding.cluster for finding in loud))
    if len(result.case.parts) < MANY:
        return [(result, list(loud))]
    return [
        (
            replace(result, partitions=[one for one in result.partitions if one.history.cluster == cluster]),
            [finding for finding in loud if finding.cluster == cluster],
        )
        for cluster in clusters
    ]


def _where(result: Result, findings: Sequence[Finding]) -> str:
    places = {incarnation_of(finding) for finding in findings}
    of = of_cluster(findings[0].cluster) if len(result.case.parts) >= MANY else ""
    return f"{len(places):,} of {_partitions(len(result.partitions))}{of}"


def _rules(findings: Collection[Finding]) -> str:
    """Return the rules of findings in the order of the rules, with the partitions; rules with the same ones together.

    >>> from forensics.rules.finding import Finding, Severity
    >>> _rules([Finding("committed-data-lost", Severity.ERROR, "a", n, "") for n in (0, 1, 2)])
    'committed-data-lost in a-0, a-1 and 1 more'
    """
    found: dict[tuple[str, ...], list[str]] = {}
    ids = [rule.id for rule in RULES if any(finding.rule == rule.id for finding in findings)]
    for one in ids[:NAMED]:
        names = tuple(dict.fromkeys(name_of(finding) for finding in findings if finding.rule == one))
        found.setdefault(names, []).append(one)
    rest = len(ids) - NAMED
    several = len(found) > 1
    said = [
        f"{', '.join(rule_of(rule).name for rule in rules)} in {_places(names, several=several)}"
        for names, rules in found.items()
    ]
    return "; ".join(said) + (f"; and {_count(rest, 'more rule')}" if rest > 0 else "")


def _places(names: Sequence[str], *, several: bool) -> str:
    """Return partitions by name, with their number if rules have several numbers of them."""
    named = first_names(names, PLACES)
    return f"{_partitions(len(names))} ({named})" if several and len(names) > PLACES else named


def _partitions(count: int) -> str:
    return _count(count, "partition")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
