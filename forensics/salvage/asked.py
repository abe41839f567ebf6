"""The offsets of a partition that are to be salvaged: those that the user names, or those that findings name."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from forensics.errors import NothingMatched
from forensics.replay.committed.proof import Loss, losses
from forensics.replay.history import History
from forensics.replay.lineage import Range, intersect, merge, subtract
from forensics.result import Result
from forensics.rules.finding import Finding, Judgement, Severity, Verdict
from forensics.salvage.copies import Batch, Copy, Holding, Side, copies, holding
from parsers.formats.log_directory import DirectoryState, split_directory

LOSS: Final = "committed-data-lost"
TRUNCATION: Final = "truncation-below-committed"
OF_LOSS: Final = (LOSS, "replica-divergence", TRUNCATION)
"""Rules whose findings name records that a partition lost, or that its copies have in two versions."""


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


def in_result(
    result: Result, topic: str, partition: int, finding: str | None = None, cluster: str | None = None
) -> tuple[Holding, Lost | None]:
    """Return what the evidence holds of the records that findings name, and of those that the partition lost.

    Args:
        result: of a scan.
        topic, partition: which partition.
        finding: the beginning of a fingerprint, or a rule; None for all that name lost or forked records.
        cluster: only copies of this cluster. Default: the one that the findings name, if it is one.

    Raises:
        NothingMatched: there is no such finding.
    """
    findings = of_findings(result, topic, partition, finding, cluster)
    named = {one.cluster for one in findings}
    only = cluster or (named.pop() if len(named) == 1 else None)
    held = holding(result.case, topic, partition, offsets_of(result, findings), only)
    return held, lost(result, held, _of_losses(result, topic, partition, only))


def of_findings(
    result: Result, topic: str, partition: int, finding: str | None = None, cluster: str | None = None
) -> list[Finding]:
    """Return the findings whose records are to be salvaged.

    Args:
        result: of a scan.
        topic, partition: which partition.
        finding: the beginning of a fingerprint, or a rule; None for all that name lost or forked records.
        cluster: only findings about this cluster; None for all.

    Raises:
        NothingMatched: there is none.
    """
    mine = [one for one in result.whole().findings if (one.topic, one.partition) == (topic, partition)]
    mine = [one for one in mine if cluster in (None, one.cluster)]
    named = [one for one in mine if one.offsets or one.open_from is not None]
    chosen = [one for one in named if _is_asked(one, finding)]
    if chosen:
        return chosen
    name = f"{topic}-{partition}"
    names = _partitions(result)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.3) or names[:5]
        hint = f"; there is {', '.join(near)}" if near else ""
        raise NothingMatched(f"no partition {name} in the evidence{hint}")
    asked = finding or "of lost or forked records"
    raise NothingMatched(f"no finding {asked} in {name}{_instead(result, name, named)}")


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


def _is_asked(one: Finding, finding: str | None) -> bool:
    if finding is None:
        return one.rule in OF_LOSS
    return one.rule == finding or one.fingerprint.startswith(finding)


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
    copies_ = [one for one in side.copies if _of_incarnation(one, history)]
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


def _of_incarnation(copy: Copy, history: History) -> bool:
    """Return whether a copy may be of a topic's incarnation: of an earlier one only deleted directories are left."""
    return history.incarnation == 0 or copy.state == DirectoryState.DELETE


def _in_lineage(batch: Batch, loss: Loss) -> list[Range]:
    """Return the offsets of a batch that are those of lost records: they were written in the same leader epoch."""
    spans = loss.lineage.pieces(intersect([batch.offsets], loss.ranges))
    return [span for span in spans if loss.lineage.epoch_at(span[0]) == batch.leader_epoch]
