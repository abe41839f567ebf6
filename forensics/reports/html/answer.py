"""The top of the page: was committed data lost or forked, where, what to keep, what to do first, what never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from forensics.replay.confidence import decides
from forensics.replay.lineage import Range, size
from forensics.reports import remarks, repair
from forensics.reports.advice import FORKED, LOST, advisers, copies, each_first, merged, none_left
from forensics.reports.answer import caution, everywhere, existing, lost_at, open_rules, present
from forensics.reports.groups import alike, only_some, same_elsewhere, some_own
from forensics.reports.html.missing import Missing, missing
from forensics.reports.html.story import tone_of
from forensics.reports.html.wording import Namer, clock, namer, number, offsets, open_offsets, plain, plural, sentence
from forensics.reports.incidents import Incident, incarnation_of, incidents, nearly
from forensics.reports.titles import counted_nodes
from forensics.result import Partition, Result
from forensics.rules import rule_of
from forensics.rules.causes import Cause, CauseId
from forensics.rules.epoch_divergence import ID as EPOCHS
from forensics.rules.finding import Action, Finding, Severity, Verdict, perhaps_text

CARDS, MEMBERS, CLUSTERS, LISTED, ROOM = 8, 500, 20, 24, 90
"""How many kinds of damage get a card, how many partitions each names, and how many clusters get a line. The list
before the cards has so many partitions, and the table of a card has room for so many characters.
"""


_OFF: dict[tuple[str, ...], str] = {
    (LOST, FORKED): f"The rules that answer it, {LOST} and {FORKED}, are switched off.",
    (LOST,): f"Whether committed data was lost was not asked: the rule {LOST} is switched off.",
    (FORKED,): f"Whether replicas differ was not asked: the rule {FORKED} is switched off.",
}
_UNASKED: dict[tuple[str, ...], tuple[str, str]] = {
    (LOST, FORKED): ("Nobody asked whether committed data was lost or forked", " Nothing here says that data is safe."),
    (LOST,): ("No fork was found; nobody asked for loss", " Nothing here says that no record is gone."),
    (FORKED,): ("No loss was found; nobody asked for forks", " Nothing here says that the replicas agree."),
}
"""Text for a disabled rule that would answer one of the two questions: a sentence, and a headline."""


@dataclass(frozen=True, slots=True)
class Card:
    """One partition with findings, worst first in each field.

    Attributes:
        anchor: id of its element in the timeline, or "" if it has no chart.
        rules: ids of the rules in ``titles``.
        lost_at: time at which a leader began without the records, or None.
        first, last: times of the first and of the last line that shows it, or None.
        causes: of all findings on the card, without unknown ones.
        keep: each copy to keep, with the offsets for it if they are not all in one.
        groups: for each incident the number of its group: one story stands for all of a group.
        others: partitions to which the same happened; ``more`` is how many of those are not listed.
        same: how far it is the same for them, as a sentence.
        columns: of the table of what differs, without the name of a partition; none where nothing does.
        rows: of that table: the name of a partition, its anchor, and the cells.
        only: sentences about what was found in some of them alone.
    """

    name: str
    anchor: str
    tone: str
    titles: tuple[str, ...]
    rules: tuple[str, ...]
    summary: str
    offsets: str
    count: int
    records: str
    lost_at: int | None
    first: int | None
    last: int | None
    causes: tuple[Cause, ...]
    confidence: str
    keep: tuple[tuple[str, str], ...]
    steps: tuple[Action, ...]
    never: tuple[str, ...]
    groups: tuple[int, ...]
    others: tuple[Card, ...] = ()
    more: int = 0
    same: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with its noun."""

    value: str
    what: str


@dataclass(frozen=True, slots=True)
class OfCluster:
    """The answer for one of several clusters."""

    name: str
    tone: str
    headline: str
    lead: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The top of the page.

    Attributes:
        listed: the partitions that lost or forked committed data or have a copy to keep, a line each if there are
            several; ``unlisted`` is how many are left out.
        clusters: the answer of each cluster, if the evidence has several; ``clusters_more`` is how many are left out.
        span: first and last time of the evidence.
        caution: what not to do before anything else, or "".
        unwritten: the first partitions with findings that have no card.
        after: how to check a repair, or "".
    """

    tone: str
    headline: str
    lead: str
    tiles: tuple[Tile, ...]
    listed: tuple[Card, ...]
    unlisted: int
    cards: tuple[Card, ...]
    more: int
    clusters: tuple[OfCluster, ...]
    clusters_more: int
    missing: Missing
    span: tuple[int | None, int | None]
    caution: str
    unwritten: tuple[Card, ...]
    after: str


def answer(result: Result, anchors: Mapping[int, str]) -> Answer:
    """Return the answer.

    Args:
        result: a finished scan.
        anchors: ids of the elements of partitions with a chart, by their position in the result.
    """
    parts = _clusters(result)
    called = namer([p.history.cluster for p in result.partitions])
    found = _Found.of(result)
    summed = _headline(result, found, called) if len(parts) < 2 else _of_clusters(result, parts, found)
    tone, headline, lead = _by_lines(result, summed, [*found.bad, *found.other])
    loud = [
        (position, partition)
        for position, partition in enumerate(result.partitions)
        if partition.worst <= Severity.WARNING.rank or _judged_bad(partition)
    ]
    cards = _cards([(partition, anchors.get(position, "")) for position, partition in loud], called)
    listed = _listed(cards)
    sources = result.case.sources
    first, last = sources.get_column("first_time").min(), sources.get_column("last_time").max()
    return Answer(
        tone,
        headline,
        lead + _restarts(result, tone),
        _tiles(found, result, len(parts)),
        tuple(listed[:LISTED]) if len(listed) > 1 else (),
        max(len(listed) - LISTED, 0),
        tuple(cards[:CARDS]),
        sum(1 + len(card.others) + card.more for card in cards[CARDS:]),
        tuple(_of_cluster(name, part) for name, part in parts[:CLUSTERS]) if len(parts) > 1 else (),
        max(len(parts) - CLUSTERS, 0) if len(parts) > 1 else 0,
        missing(result),
        (_time(first), _time(last)),
        sentence(caution(result)).removesuffix("."),
        tuple(one for card in cards[CARDS:] for one in (card, *card.others))[:LISTED],
        sentence(remarks.after_repair(result)),
    )


_ASKED = frozenset({LOST, FORKED})


def _listed(cards: Sequence[Card]) -> list[Card]:
    """Return the partitions that lost or forked committed data, and those of which a copy is to be kept."""
    return [one for card in cards for one in (card, *card.others) if _ASKED.intersection(one.rules) or one.keep]


@dataclass(frozen=True, slots=True)
class _Found:
    """Partitions by their answers to the two questions, and findings of other rules."""

    total: int
    lost: list[Partition]
    forked: list[Partition]
    bad: list[Partition]
    open: list[Partition]
    unchecked: dict[str, Sequence[Partition]]
    suspected: list[Partition]
    other: list[Finding]

    @classmethod
    def of(cls, result: Result) -> _Found:
        partitions = result.partitions
        open_ = {rule.id: places for rule, places in open_rules(result).items()}
        return cls(
            len(partitions),
            _violating(partitions, LOST),
            _violating(partitions, FORKED),
            list(filter(_judged_bad, partitions)),
            list(filter(_undecided, present(result))),
            {rule: places for rule, places in open_.items() if rule not in _ASKED},
            list(filter(_doubtful, partitions)),
            _others(partitions),
        )


def _violating(partitions: Sequence[Partition], rule: str) -> list[Partition]:
    return [partition for partition in partitions if _is(partition, rule, Verdict.VIOLATED)]


def _others(partitions: Sequence[Partition]) -> list[Finding]:
    """Return the findings of the rules that answer neither question, without mere information."""
    findings = (f for p in partitions for j in p.judgements.values() for f in j.findings)
    return [f for f in findings if f.rule not in _ASKED and f.severity.rank <= Severity.WARNING.rank]


def _may_be_lost(partition: Partition) -> bool:
    """Return whether a loss cannot be ruled out."""
    return _is(partition, LOST, Verdict.UNKNOWN)


def _undecided(partition: Partition) -> bool:
    """Return whether a loss or a fork cannot be ruled out."""
    return _may_be_lost(partition) or _forks(partition) is Verdict.UNKNOWN


def _doubtful(partition: Partition) -> bool:
    """Return whether a loss or a fork is no more than suspected."""
    asked = [judgement for rule, judgement in partition.judgements.items() if rule in _ASKED]
    return not _judged_bad(partition) and any(judgement.findings for judgement in asked)


def _clusters(result: Result) -> list[tuple[str | None, Result]]:
    """Return the clusters with a result of their own partitions each, the worst first."""
    parts: dict[str | None, list[Partition]] = {}
    for partition in result.partitions:
        parts.setdefault(partition.history.cluster, []).append(partition)
    return [
        (
            name,
            replace(result, partitions=mine, findings=[f for f in result.findings if f.cluster == name], problems=[]),
        )
        for name, mine in parts.items()
    ]


_EACH = "Each cluster has its own answer:"


def _of_clusters(result: Result, parts: Sequence[tuple[str | None, Result]], found: _Found) -> tuple[str, str, str]:
    """Return tone, headline and lead for several clusters: no sentence is about two that differ."""
    count = plural(len(parts), "cluster")
    if found.bad:
        clusters = [
            f"{words} in {number(len({p.history.cluster for p in where}))}"
            for words, where in (("lost", found.lost), ("forked", found.forked))
            if where
        ]
        return "bad", f"Committed data was {', and '.join(clusters)} of {count}", _EACH
    if found.open and not _not_asked(result):
        some = number(len({p.history.cluster for p in found.open}))
        return "unknown", f"Loss cannot be ruled out in {some} of {count}", _EACH
    tone, headline, _ = _headline(result, found, namer([None]))
    return tone, headline, _EACH


def _of_cluster(name: str | None, part: Result) -> OfCluster:
    called = namer([None])
    return OfCluster(plain(name or "unknown"), *_headline(part, _Found.of(part), called))


def said_of_settings(result: Result) -> tuple[str, ...]:
    """Return what the reader's own settings left out or changed, a sentence each, to show beside the answer.

    Args:
        result: a finished scan, with findings of a baseline still separate.
    """
    reading, changes = result.case.reading, result.changes
    said = remarks.changed(replace(result, changes=replace(changes, baseline=None)))
    if changes.baseline is not None:
        gone = f"; {number(changes.gone)} of it not found any more" if changes.gone else ""
        said.append(
            f"{plural(len(result.known), 'finding')} known before, by the baseline {changes.baseline}, told here all "
            f"the same{gone}"
        )
    if result.repair is not None:
        said.append(repair.headline(result.repair))
    ends = [
        f"{word} {clock(time, date=True)} UTC"
        for word, time in (("from", reading.since), ("to", reading.until))
        if time is not None
    ]
    if ends:
        said.append(f"only lines printed {' '.join(ends)} count; files that hold a state count whatever their age")
    return tuple(sentence(plain(text)) for text in said)


def _not_asked(result: Result) -> list[str]:
    """Return the questions whose rules are disabled."""
    asked = {rule for p in result.partitions for rule in p.judgements}
    return [rule for rule in (LOST, FORKED) if rule in result.changes.disabled or rule not in asked]


def _forks(partition: Partition) -> Verdict | None:
    """Return whether replicas hold different records.

    A trace has no records to compare. There the leader epochs of each offset answer: two replicas with the same leader
    epoch at an offset have the same record there (KIP-101). Where epochs contradict, the records are not known.
    """
    judgement = partition.judgements.get(FORKED)
    if judgement is None or judgement.verdict is not Verdict.NOT_APPLICABLE:
        return judgement.verdict if judgement is not None else None
    return Verdict.CLEAN if _is(partition, EPOCHS, Verdict.CLEAN) else Verdict.UNKNOWN


def _settled(partition: Partition, rule: str) -> bool:
    """Return whether a question has the answer that nothing is wrong."""
    return (_forks(partition) is Verdict.CLEAN) if rule == FORKED else _is(partition, rule, Verdict.CLEAN)


def _is(partition: Partition, rule: str, verdict: Verdict) -> bool:
    judgement = partition.judgements.get(rule)
    return judgement is not None and judgement.verdict is verdict


def _judged_bad(partition: Partition) -> bool:
    return any(_is(partition, rule, Verdict.VIOLATED) for rule in (LOST, FORKED))


def _time(value: object) -> int | None:
    return round(value.timestamp() * 1_000_000) if hasattr(value, "timestamp") else None


def _by_lines(result: Result, said: tuple[str, str, str], found: Sequence[object]) -> tuple[str, str, str]:
    """Tone, headline and lead: where nothing was found, a line that states a problem comes before what is open."""
    worst = remarks.worst_of(result.problems)
    if worst is None or found:
        return said
    return "warn", worst.known.title, f"{sentence(plain(worst.states))} {said[2]}"


def _headline(result: Result, found: _Found, called: Namer) -> tuple[str, str, str]:
    if not found.total:
        return "none", "There is no partition to judge", "Nothing in the evidence speaks of a replica of a topic."
    off = _not_asked(result)
    silent = f" {_OFF[tuple(off)]}" if off else ""
    if found.bad:
        return "bad", *_damage(result, found, called, silent)
    if found.open:
        words, lead = _inconclusive(result, found, called)
        return "unknown", words, lead + silent
    if off:
        words, kept = _UNASKED[tuple(off)]
        also = f" {sentence(plural(len(found.other), 'other finding') + ' should be looked at')}" if found.other else ""
        return "unknown", words, f"{_OFF[tuple(off)]}{kept}{also}"
    return _both_clean(result, found, called)


def _inconclusive(result: Result, found: _Found, called: Namer) -> tuple[str, str]:
    """Return headline and lead where a loss or a fork cannot be ruled out: of a loss, if it is that anywhere."""
    total = len(present(result) or result.partitions)
    lost = list(filter(_may_be_lost, found.open))
    suspected = found.suspected
    open_, doubt = (lost, "Loss") if lost else (found.open, "A fork")
    reach = f"{number(total)} of " if len(open_) == total and total > 1 else ""
    words = f"{doubt} cannot be ruled out in {reach}{_where(open_, called)}"
    if suspected:
        words = f"{_doubted(suspected)} suspected in {_where(suspected, called)}"
    if grave := _grave(found, called):
        words += f"; {grave}"
    left = [one for one in found.open if not _doubtful(one)]
    known = _left_open(left, total, more=bool(suspected)) if left else ""
    return words, f"It is not proven that data was lost or forked.{known} Collect the evidence named below."


def _left_open(left: Sequence[Partition], total: int, *, more: bool) -> str:
    """Return for how many partitions it is unknown whether data was lost or forked, as a sentence.

    Args:
        left: these partitions, at least one.
        total: how many partitions there are.
        more: the sentence before is about others, of which it is suspected.
    """
    asked, count, forked = "lost or forked", len(left), ""
    of_loss = sum(map(_may_be_lost, left))
    if not of_loss:
        asked = "forked"
    elif of_loss < len(left):
        asked, count, forked = "lost", of_loss, f", and whether it was forked for {number(len(left) - of_loss)} more"
    share = f"{'all' if count == total else number(count) + ' of'} {plural(total, 'partition')}"
    if more:
        share = f"{number(count)} more"
    elif count == total == 1:
        share = "it"
    return f" Whether data was {asked} is unknown for {share}{forked}."


def _doubted(suspected: Sequence[Partition]) -> str:
    """Return which of the two questions has a suspicion, in words."""
    lost = any(partition.judgements[LOST].findings for partition in suspected if LOST in partition.judgements)
    return "Loss" if lost else "Fork"


def _grave(found: _Found, called: Namer) -> str:
    """Return the violated rules that answer neither question, with their partitions; "" without errors."""
    places: dict[str, dict[str, None]] = {}
    for one in found.other:
        if one.severity.rank <= Severity.ERROR.rank and decides(one.confidence):
            places.setdefault(one.rule, {})[called(one)] = None
    said = [f"{rule_of(rule).phrase} in {_named(list(names))}" for rule, names in places.items()]
    return "; ".join(said[:2]) + (f"; and {plural(len(said) - 2, 'more rule')}" if len(said) > 2 else "")


def _both_clean(result: Result, found: _Found, called: Namer) -> tuple[str, str, str]:
    """Return tone, headline and lead where neither loss nor fork is possible."""
    total = len(present(result) or result.partitions)
    every = f"All {plural(total, 'partition')}" if total > 1 else "The one partition in the evidence"
    if total < found.total:
        every += " that exist now" if total > 1 else " of a topic that exists now"
    words = "No committed data was lost or forked"
    if grave := _grave(found, called):
        words += f" so far. Error: {grave}"
    left = []
    if found.other:
        worst = min(found.other, key=lambda one: one.order)
        rest = f" {sentence(plural(len(found.other) - 1, 'more finding'))}" if len(found.other) > 1 else ""
        left.append(f"{called(worst)}: {sentence(plain(worst.summary))}{rest}")
    left += [
        f"{rule} cannot be ruled out in {number(len(places))} of {existing(result)}."
        for rule, places in list(found.unchecked.items())[:1]
    ]
    if left:
        return "warn", words, " ".join(left)
    have = "have" if total > 1 else "has"
    lead = (
        f"{every} {have} every record that a high watermark covered in the log of the leader, and no two replicas hold "
        f"different {_compared(result)} at one committed offset."
    )
    return "good", words, lead


def _damage(result: Result, found: _Found, called: Namer, silent: str) -> tuple[str, str]:
    """Return headline and lead where a question is answered with a violation."""
    where = _where(found.bad, called)
    if found.lost and found.forked:
        words = f"Committed data was lost and forked in {where}"
    elif found.lost:
        words = f"Committed data was lost in {where}"
    else:
        words = f"Replicas of {where} hold different committed data"
    first = next(f for f in result.findings if f.rule in _ASKED and decides(f.confidence))
    lead = sentence(plain(first.summary))
    if len(found.bad) > 1:
        lead = f"First in the table, {called(first)}: {sentence(plain(first.summary))}"
    rest = len(open_rules(result).get(rule_of(LOST), ()))
    if rest:
        also = f" It is suspected in {_where(found.suspected, called)}." if found.suspected else ""
        lead += f" Loss cannot be ruled out in {number(rest)} more of {everywhere(result)}.{also}"
    return words, lead + silent


def _compared(result: Result) -> str:
    by_epochs = any(_is(p, FORKED, Verdict.NOT_APPLICABLE) for p in result.partitions)
    return "leader epochs" if by_epochs else "records"


def _where(partitions: Sequence[Partition], called: Namer) -> str:
    return _named(list(dict.fromkeys(called(p.history) for p in partitions)))


def _named(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) <= 2 else plural(len(names), "partition")


def _tiles(found: _Found, result: Result, clusters: int) -> tuple[Tile, ...]:
    total = plural(len(result.partitions), "partition")
    if not found.bad:
        files = result.case.sources
        count, rest = counted_nodes(result.case.everyone)
        return (
            _open_tile(result),
            Tile(count, f"{rest} in the evidence"),
            Tile(number(int(files.get_column("lines").sum() or 0)), f"lines in {plural(files.height, 'file')}"),
        )
    rule = LOST if found.lost else FORKED
    findings = [f for p in found.bad if rule in p.judgements for f in p.judgements[rule].findings]
    gone = sum(size(f.offsets) for f in findings)
    least = "at least " if found.lost and any(map(_may_be_more, findings)) else ""
    what = "committed offsets lost" if found.lost else "committed offsets differ"
    first = Tile(f"{least}{number(gone)}", what)
    if clusters > 1:
        affected = len({p.history.cluster for p in found.bad})
        first = Tile(number(affected), f"of {plural(clusters, 'cluster')} affected")
    return (
        first,
        Tile(number(len(found.bad)), f"of {total} {_did(found)} committed data"),
        Tile(_confidence(findings), "confidence"),
    )


def _did(found: _Found) -> str:
    """Return what happened in the partitions of which something is proven."""
    return " or ".join(word for word, where in (("lost", found.lost), ("forked", found.forked)) if where)


def _may_be_more(finding: Finding) -> bool:
    """Return whether more offsets may be lost than a finding names."""
    return finding.records is not None and finding.records[1] is None


def _open_tile(result: Result) -> Tile:
    """Return how many partitions are clean, or how many are not."""
    judged = present(result) or result.partitions
    total = plural(len(judged), "partition")
    asked = [rule for rule in (LOST, FORKED) if rule not in _not_asked(result)]
    if not asked:
        return Tile("0", "of 2 rules asked: whether data was lost, and whether replicas differ")
    clean = sum(all(_settled(p, rule) for rule in asked) for p in judged)
    if clean < len(judged):
        also = " or suspected" if any(_doubtful(partition) for partition in judged) else ""
        return Tile(number(len(judged) - clean), f"of {total} unknown{also}")
    what = {LOST: "loss", FORKED: "fork"}
    return Tile(number(clean), f"of {total} without {' or '.join(what[rule] for rule in asked)}")


def _restarts(result: Result, tone: str) -> str:
    """Return that all brokers restarted together, unless nothing is wrong."""
    return "" if tone == "good" else "".join(f" {sentence(plain(one))}" for one in remarks.restarted(result))


_Numbered = Sequence[tuple[int, Incident]]
"""The incidents of a partition, each with the number of its group: one story stands for all of a group."""


def _cards(loud: Sequence[tuple[Partition, str]], called: Namer) -> list[Card]:
    """Return one card for all partitions to which the same happened, in the order of the worst of each kind."""
    found = incidents(finding for partition, _ in loud for finding in _shown(partition))
    of_partition: dict[tuple[object, ...], list[tuple[int, Incident]]] = {}
    for number_, group in enumerate(nearly(found)):
        for one in group:
            of_partition.setdefault(incarnation_of(one.lead), []).append((number_, one))
    kinds: dict[tuple[int, ...], list[tuple[Card, _Numbered]]] = {}
    for partition, anchor in loud:
        mine = of_partition[_key(partition)]
        card = _card(partition, anchor, called, tuple(place for place, _ in mine))
        kinds.setdefault(card.groups, []).append((card, mine))
    return [_card_of_all(same) for same in kinds.values()]


def _key(partition: Partition) -> tuple[object, ...]:
    one = partition.history
    return (one.cluster, one.topic, one.topic_id, one.partition, one.incarnation)


def _card_of_all(same: Sequence[tuple[Card, _Numbered]]) -> Card:
    """Return the card of the first of some partitions to which the same happened, with what differs in the others."""
    (first, mine), *others = same
    if not others:
        return first
    groups = [[numbered[place][1] for _, numbered in same] for place in range(len(mine))]
    rule = mine[0][1].lead.rule
    told = [[one for _, one in numbered if one.lead.rule == rule] for _, numbered in same[: MEMBERS + 1]]
    head, *rows = alike([one for some in told for one in some], ROOM) or [()]
    of_rows = [card for (card, _), some in zip(same, told, strict=False) for _ in some]
    return replace(
        first,
        others=tuple(card for card, _ in others[:MEMBERS]),
        more=max(len(others) - MEMBERS, 0),
        same=plain(same_elsewhere(groups[0])) if len(groups) == 1 else "",
        columns=head[1:],
        rows=tuple((card.name, card.anchor, row[1:]) for card, row in zip(of_rows, rows, strict=False)),
        only=tuple(sentence(plain(text)) for group in groups for text in only_some(group)),
        steps=tuple(dict.fromkeys((*first.steps, *(_plain_step(one) for group in groups for one in some_own(group))))),
    )


def _card(partition: Partition, anchor: str, called: Namer, groups: tuple[int, ...] = ()) -> Card:
    findings = _shown(partition)
    head, told = findings[0], advisers(findings)
    of_head = [f for f in told if f.rule == head.rule]
    ranges, count = _extent(of_head)
    firsts, lasts = zip(*(f.span for f in findings), strict=True)
    rules = tuple(dict.fromkeys(f.rule for f in findings))
    return Card(
        name=called(partition.history),
        anchor=anchor,
        tone="bad" if head.rule in _ASKED and decides(head.confidence) else tone_of(head),
        titles=tuple(label(rule, [f for f in findings if f.rule == rule]) for rule in rules),
        rules=rules,
        summary=sentence(plain(head.summary)),
        offsets=offsets(ranges) or open_offsets(head),
        count=count,
        records=_records(of_head),
        lost_at=lost_at(head),
        first=min(filter(_known, firsts), default=None),
        last=max(filter(_known, lasts), default=None),
        causes=_causes(told, findings),
        confidence=_confidence(of_head),
        keep=_keep(told),
        steps=tuple(map(_plain_step, each_first(f.next_steps for f in told))),
        never=tuple(plain(word) for word in each_first(f.do_not for f in told)),
        groups=groups,
    )


def label(rule: str, findings: Sequence[Finding]) -> str:
    """Return the name of a rule in words, after "Suspected" if its findings are no more than that."""
    sure = any(decides(f.confidence) for f in findings)
    return rule_of(rule).label if sure else f"Suspected: {rule_of(rule).phrase}"


def _shown(partition: Partition) -> list[Finding]:
    """Return the findings of a card: of the two questions all, of other rules none that is mere information."""
    asked = (LOST, FORKED)
    found = (f for judgement in partition.judgements.values() for f in judgement.findings)
    shown = (f for f in found if f.severity.rank <= Severity.WARNING.rank or f.rule in asked)
    return sorted(shown, key=lambda f: (asked.index(f.rule) if f.rule in asked else len(asked), f.order))


def _extent(findings: Sequence[Finding]) -> tuple[list[Range], int]:
    """Return the offsets that findings of one rule are about, and how many there are.

    Two logs may have lost the same offsets, but two pairs that differ there differ at one place.
    """
    if findings[0].rule == LOST:
        return sorted({r for f in findings for r in f.offsets}), sum(size(f.offsets) for f in findings)
    every = merged(findings)
    return every, size(every)


def _causes(told: Sequence[Finding], findings: Sequence[Finding]) -> tuple[Cause, ...]:
    """Return the known causes of the findings whose advice is shown; if there are none, the first of any finding."""
    known = [cause for f in told if (cause := f.known_cause) is not None and cause.id is not CauseId.UNKNOWN]
    every = [cause for f in findings if (cause := f.known_cause) is not None]
    return tuple(dict.fromkeys(known or every[:1]))


def _plain_step(step: Action) -> Action:
    return Action(plain(step.text), plain(step.command) if step.command is not None else None)


def _known(time: int | None) -> TypeGuard[int]:
    return time is not None


def _confidence(findings: Sequence[Finding]) -> str:
    """Only what no more than one kind of confidence covers may carry its name."""
    ranks = {f.confidence.value for f in findings}
    if len(ranks) == 1:
        return ranks.pop()
    return "in part suspected" if "suspected" in ranks else "in part inferred"


def _records(findings: Sequence[Finding]) -> str:
    """How many records, of all together; nothing where it does not apply to each."""
    counts = [f.records for f in findings if f.records is not None]
    if len(counts) < len(findings):
        return ""
    low, tops = sum(least for least, _ in counts), [most for _, most in counts if most is not None]
    several = len(findings) > 1
    more = perhaps_text(None if several else findings[0].maybe_to) if len(tops) < len(counts) else ""
    if not low:  # there may be none
        return f"{plural(sum(size(f.offsets) for f in findings), 'offset')}{more}"
    if more:
        return f"{plural(low, 'record')}{more}"
    return plural(low, "record") if low == sum(tops) else f"{number(low)} to {plural(sum(tops), 'record')}"


def _keep(findings: Sequence[Finding]) -> tuple[tuple[str, str], ...]:
    """Each copy to keep, with the offsets that are in it where there is more than one."""
    if gone := none_left(findings):
        return (("", gone),)
    found = copies(findings)
    return tuple((offsets(ranges) if len(found) > 1 else "", plain(text)) for text, ranges in found)
