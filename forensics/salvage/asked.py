"""The offsets of a partition that are to be salvaged: those that the user names, or those that findings name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from forensics.case import Case
from forensics.errors import NothingMatched
from forensics.replay.committed.proof import Loss, losses
from forensics.replay.history import History
from forensics.replay.lineage import Range, intersect, merge, subtract
from forensics.result import Result
from forensics.rules.finding import Finding, Judgement, Severity, Verdict
from forensics.salvage.copies import ANY_TOPIC, Batch, Copy, Holding, OneTopic, Side, copies, holding
from parsers.formats.log_directory import DirectoryState, split_directory

LOSS: Final = "committed-data-lost"
TRUNCATION: Final = "truncation-below-committed"
OF_LOSS: Final = (LOSS, "replica-divergence", TRUNCATION)
"""Rules whose findings name records that a partition lost, or that its copies have in two versions."""

AT_RISK: Final = "hw-above-leo"
"""The rule whose findings name committed records that a replica lacks, before the partition has lost them."""

OF_REPLICAS: Final = ("hw-above-isr-member", "leo-regression", "segment-damage")
"""Rules whose findings name other records that a replica lacks, or cannot read. Another copy may have them."""

_BY_DEFAULT: Final = ((*OF_LOSS, AT_RISK), OF_REPLICAS)
"""Rules whose findings are salvaged if none is named: those of the first group of which there is a finding."""


def split_name(name: str) -> tuple[str, int]:
    """Return topic and number of a partition.

    Raises:
        NothingMatched: it is no name of a partition.

    >>> split_name("orders-eu-12")
    ('orders-eu', 12)
    """
    found = split_directory(name)
    if found is None or found.state is not DirectoryState.CURRENT:
        raise NothingMatched(f"{name!r} is no partition; use a topic and a number like orders-0")
    return found.topic, found.partition


def in_copies(
    case: Case,
    topic: str,
    partition: int,
    offsets: Sequence[Range],
    cluster: str | None = None,
    topic_id: str | None = None,
) -> Holding:
    """Return what the evidence holds of some offsets that the user names.

    Args:
        case: the evidence.
        topic, partition: which partition.
        offsets: half-open ranges; those that end at ``TO_THE_END`` end with the longest copy.
        cluster: only copies of this cluster.
        topic_id: only copies of the topic with this id.

    Raises:
        NothingMatched: the copies are of several topics, or none is of this one, or all end before the offsets begin.
    """
    held = holding(case, topic, partition, _ending(case, topic, partition, offsets), cluster, OneTopic(topic_id))
    there = _by_topic_id(held.copies)
    if topic_id is None and len(there) > 1:
        raise NothingMatched(
            f"several topics had the name {topic} in turn; name one with --topic-id: {_each_topic(there)}"
        )
    if topic_id is not None and topic_id not in there:
        ids = _by_topic_id(held.others)
        hint = f"; there is {_each_topic(ids)}" if ids else ""
        raise NothingMatched(f"no copy of {held.name} with topic id {topic_id}{hint}")
    return held


TO_THE_END: Final = 2**63 - 1
"""The end of a range that names no end: no offset is as high, as offsets are a Java long."""


def _ending(case: Case, topic: str, partition: int, offsets: Sequence[Range]) -> list[Range]:
    """Return ranges of offsets with the end of the longest copy in place of ``TO_THE_END``."""
    last = max((first for first, end in offsets if end == TO_THE_END), default=None)
    if last is None:
        return [*offsets]
    longest = max((one.end for one in copies(case, topic, partition, ())), default=0)
    if longest <= last:
        raise NothingMatched(f"no copy of {topic}-{partition} has offset {last}: the longest ends before {longest}")
    return [(first, longest if end == TO_THE_END else end) for first, end in offsets]


def _by_topic_id(every: Iterable[Copy]) -> dict[str, list[Copy]]:
    """Return copies by their topic ids, without those that state none."""
    found: dict[str, list[Copy]] = {}
    for one in every:
        if one.topic_id is not None:
            found.setdefault(one.topic_id, []).append(one)
    return found


def _each_topic(ids: dict[str, list[Copy]]) -> str:
    """Return topic ids in words, each with the first of its copies."""
    return ", ".join(f"{one} ({every[0].directory})" for one, every in ids.items())


def in_result(
    result: Result,
    topic: str,
    partition: int,
    finding: str | None = None,
    cluster: str | None = None,
    topic_id: str | None = None,
) -> tuple[Holding, Lost | None]:
    """Return what the evidence holds of the records that findings name, and of those that the partition lost.

    Args:
        result: of a scan.
        topic, partition: which partition.
        finding: the beginning of a fingerprint, or a rule; None for all that name records which a replica lacks.
        cluster: only copies of this cluster. Default: the one that the findings name, if it is one.
        topic_id: only findings about the topic with this id, of those that had the name in turn.

    Raises:
        NothingMatched: there is no such finding, or there are some of several topics with this name.
    """
    findings = of_findings(result, topic, partition, finding, cluster, topic_id)
    named = {one.cluster for one in findings}
    only = cluster or (named.pop() if len(named) == 1 else None)
    of = _topic_of(result, findings)
    held = holding(result.case, topic, partition, offsets_of(result, findings), only, of)
    return held, lost(result, held, _of_losses(result, topic, partition, only))


def _topic_of(result: Result, findings: Sequence[Finding]) -> OneTopic:
    """Return the topic of some findings, of those that had the name in turn.

    Raises:
        NothingMatched: they are of several.
    """
    places = {(one.cluster, one.topic_id, one.incarnation): one for one in findings}
    if len({one.cluster for one in findings}) < len(places):
        found = ", ".join(f"{one.fingerprint} ({one.rule}, {_which(one)})" for one in places.values())
        raise NothingMatched(
            f"several topics had the name {findings[0].topic} in turn; name a finding of one with --finding: {found}"
        )
    if len(places) > 1:
        return ANY_TOPIC
    one = findings[0]
    live = [copy for copy in copies(result.case, one.topic, one.partition, ()) if copy.state == DirectoryState.CURRENT]
    ids = _by_topic_id(copy for copy in live if one.cluster in (copy.cluster, None))
    if one.topic_id is None and one.incarnation == 0 and len(ids) == 1:
        return OneTopic(next(iter(ids)))
    return OneTopic(one.topic_id, one.incarnation > 0)


def _which(one: Finding) -> str:
    """Return the topic of a finding in words."""
    state = "the last topic" if one.incarnation == 0 else "an earlier topic"
    return f"{state}, id {one.topic_id}" if one.topic_id is not None else state


def of_findings(
    result: Result,
    topic: str,
    partition: int,
    finding: str | None = None,
    cluster: str | None = None,
    topic_id: str | None = None,
) -> list[Finding]:
    """Return the findings whose records are to be salvaged.

    Args:
        result: of a scan.
        topic, partition: which partition.
        finding: the beginning of a fingerprint, or a rule; None for all that name records which a replica lacks.
        cluster: only findings about this cluster; None for all.
        topic_id: only findings about the topic with this id; None for all.

    Raises:
        NothingMatched: there is none.
    """
    mine = [one for one in result.whole().findings if (one.topic, one.partition) == (topic, partition)]
    mine = [one for one in mine if cluster in (None, one.cluster) and topic_id in (None, one.topic_id)]
    named = [one for one in mine if one.offsets or one.open_from is not None]
    chosen = _chosen(named, finding)
    if chosen:
        return chosen
    name = f"{topic}-{partition}"
    names = _partitions(result)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise NothingMatched(f"no partition {name} in the evidence{hint}")
    asked = finding or "of lost, forked or missing records"
    raise NothingMatched(f"no finding {asked} in {name}{_instead(result, name, named)}")


def _chosen(named: Sequence[Finding], finding: str | None) -> list[Finding]:
    """Return the findings that are asked for; without a name those of the first group of rules that found any."""
    if finding is not None:
        return [one for one in named if one.rule == finding or one.fingerprint.startswith(finding)]
    groups = ([one for one in named if one.rule in rules] for rules in _BY_DEFAULT)
    return next((group for group in groups if group), [])


def _partitions(result: Result) -> list[str]:
    """Return the names of all partitions in the evidence, also of topics that were not judged."""
    names = {one.history.name for one in result.partitions}
    for frame in (result.case.sources, result.case.observations):
        every = frame.select("topic", "partition").drop_nulls().unique()
        names.update(f"{topic}-{partition}" for topic, partition in every.iter_rows())
    return sorted(names)


def _instead(result: Result, name: str, named: Sequence[Finding]) -> str:
    """Return what findings there are, what may be lost although none names it, and how to name offsets."""
    there = ", ".join(f"{one.rule} ({one.fingerprint})" for one in named)
    also = f"; there is: {there}" if there else ""
    histories = [one.history for one in result.partitions if one.history.name == name]
    unknown = _unknown(result, name)
    first = min((start for one in unknown for want in one.missing for start, _ in want.offsets), default=None)
    if first is not None:
        every = copies(result.case, histories[0].topic, histories[0].partition, ())
        end = max((one.end for one in every), default=0)
        also += f". But a loss cannot be ruled out from offset {first} on"
        return f"{also}. Name offsets yourself: --offsets {first}..{end if end > first else 'B'}"
    if unknown:
        also += ". But a loss cannot be ruled out, and the evidence does not show at which offsets"
    return f"{also}. Name offsets yourself: --offsets A..B"


def _unknown(result: Result, name: str) -> list[Judgement]:
    """Return the answers of the rules about loss that the evidence leaves open."""
    mine = [one.judgements for one in result.partitions if one.history.name == name]
    answers = [answer for judgements in mine for rule, answer in judgements.items() if rule in (LOSS, TRUNCATION)]
    return [one for one in answers if one.verdict is Verdict.UNKNOWN]


def _of_losses(result: Result, topic: str, partition: int, cluster: str | None) -> list[Finding]:
    """Return the findings of losses of a partition, whichever of its findings was asked for."""
    mine = [one for one in result.whole().findings if (one.topic, one.partition) == (topic, partition)]
    return [one for one in mine if _is_of_loss(one) and cluster in (None, one.cluster)]


def offsets_of(result: Result, findings: Sequence[Finding]) -> list[Range]:
    """Return the offsets that findings name. Where the end is unknown, they go up to the end of the longest copy."""
    found: list[Range] = []
    for one in findings:
        found += one.offsets
        if one.open_from is not None:
            ends = [copy.end for copy in copies(result.case, one.topic, one.partition, ())]
            found += [(one.open_from, end) for end in ends if end > one.open_from]
    return found


@dataclass(frozen=True, slots=True)
class Lost:
    """The part of the records that a partition lost which each side holds.

    Attributes:
        offsets: of all lost records that were asked for, by the findings.
        held: for each side, those of them that it is known to hold.
        leaders: for each side, the last leader that took the partition up, if its live copy is on this side.
    """

    offsets: tuple[Range, ...]
    held: tuple[tuple[Range, ...], ...]
    leaders: tuple[int | None, ...]

    @property
    def gone(self) -> list[Range]:
        """Lost offsets that no side is known to hold, although it may hold other records there."""
        return subtract(self.offsets, [span for held in self.held for span in held])


def lost(result: Result, holding: Holding, of_loss: Sequence[Finding]) -> Lost | None:
    """Return what each side holds of the records that the partition lost; None where none of these was asked for.

    A loss that is only suspected counts, too: then no copy is known to hold the records.

    Args:
        result: of a scan.
        holding: the sides.
        of_loss: the findings of losses of the partition.
    """
    offsets = intersect(merge(offsets_of(result, of_loss)), holding.wanted)
    if not offsets:
        return None
    known = list(_known(result, of_loss))
    held = (merge(span for history, loss in known for span in _held(side, history, loss)) for side in holding.sides)
    leaders = tuple(_leader(result, holding, side) for side in holding.sides)
    return Lost(tuple(offsets), tuple(tuple(intersect(spans, offsets)) for spans in held), leaders)


def _leader(result: Result, holding: Holding, side: Side) -> int | None:
    """Return the last leader of the partition that took it up, if its live copy is on a side."""
    for partition in result.partitions:
        history = partition.history
        cluster = {one.cluster for one in side.copies} | {holding.cluster}
        leads = history.current if (history.name, history.incarnation) == (holding.name, 0) else None
        if leads is not None and history.cluster in cluster and leads.leader in _live(side.copies, history):
            return leads.leader
    return None


def _known(result: Result, findings: Sequence[Finding]) -> Iterator[tuple[History, Loss]]:
    """Yield the losses of the partitions of some findings that replay is sure of."""
    places = {(one.cluster, one.topic, one.topic_id, one.partition, one.incarnation) for one in findings}
    for partition in result.partitions:
        if _place(partition.history) in places:
            yield from ((partition.history, loss) for loss in losses(partition.history)[0])


def _is_of_loss(one: Finding) -> bool:
    """Return whether a finding is of a loss: also a truncation that is not known to have been made good."""
    return one.rule == LOSS or (one.rule == TRUNCATION and one.severity.rank <= Severity.ERROR.rank)


def _place(history: History) -> tuple[str | None, str, str | None, int, int]:
    return history.cluster, history.topic, history.topic_id, history.partition, history.incarnation


def _held(side: Side, history: History, loss: Loss) -> list[Range]:
    """Return the records of a loss that a side holds: by the epochs of its batches, else by whose copies it is."""
    of = OneTopic(history.topic_id, history.incarnation > 0)
    copies_ = [one for one in side.copies if of.may_be(one)]
    mine = [one for one in side.batches if intersect([one.offsets], loss.ranges)]
    if not copies_:
        return []
    if any(one.leader_epoch is not None for one in mine):
        return [span for one in mine for span in _in_lineage(one, loss)]
    spans = [span for broker in _live(copies_, history) for span in loss.holders.get(broker, ())]
    return intersect(side.held(loss.ranges), spans)


def _live(copies_: Sequence[Copy], history: History) -> set[int]:
    """Return the brokers whose live directory is among some copies."""
    live = {(broker, replica.directory) for broker, replica in history.replicas.items()}
    return {one.broker for one in copies_ if one.broker is not None and (one.broker, one.directory) in live}


def _in_lineage(batch: Batch, loss: Loss) -> list[Range]:
    """Return the offsets of a batch that are those of lost records: they were written in the same leader epoch."""
    spans = loss.lineage.pieces(intersect([batch.offsets], loss.ranges))
    return [span for span in spans if loss.lineage.epoch_at(span[0]) == batch.leader_epoch]
