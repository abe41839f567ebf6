"""The answers of the rules for the metadata log: a majority of voters elects its leaders, and there is no ISR."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from forensics.case import Case
from forensics.replay.committed.proof import losses, possible_losses
from forensics.replay.history import History
from forensics.replay.lineage import UNKNOWN, Range
from forensics.replay.quorum.voting import Quorum
from forensics.rules import (
    committed_data_lost,
    leo_regression,
    replica_divergence,
    segment_damage,
    truncation_below_committed,
    two_leaders_one_epoch,
)
from forensics.rules.finding import Judgement, Rule, Verdict, judgement
from forensics.rules.story import went_back
from forensics.rules.wants import Artefact, Question, Reason, Shows, Want, anywhere, of, offsets_of

NOT_ASKED: Final = "the metadata log has no ISR, no settings of a topic and no checkpoint of its high watermark"
"""Why a rule is not applicable to it."""


def _lines(history: History, quorum: Quorum) -> Iterator[Want]:
    """Yield what would show what the voters did of which no line is in the evidence."""
    without = quorum.without_lines if quorum.voters else sorted(history.facts.disks)
    if none := [node for node in without if node not in quorum.early]:
        yield Want(Question.ITS_LINES, (of(none, Artefact.SERVER_LOG),))
    for node, last in quorum.early.items():
        said = f"its copy has records of a later leader epoch than {last}, the last one that its lines name"
        yield Want(Question.LATER_LINES, (of([node], Artefact.SERVER_LOG),), because=Reason(Shows.LINES, text=said))


def _shorter(history: History, quorum: Quorum) -> Iterator[Want]:
    """Yield what would show whether a log became shorter: a copy that ends below its node's lines does not."""
    yield from _lines(history, quorum)
    for node, since in quorum.late.items():
        said = f"they name no role of it before leader epoch {since}"
        yield Want(Question.EARLIER_LINES, (of([node], Artefact.SERVER_LOG),), because=Reason(Shows.LINES, text=said))
    if quorum.older:
        yield Want(Question.ITS_FILES, (of(sorted(quorum.older), Artefact.DATA_DIRECTORY),))


def _kept(history: History, quorum: Quorum) -> Iterator[Want]:
    """Yield what would show whether each leader had what was committed before it, as far as lines go back."""
    if history.epoch_rollbacks:
        yield went_back(history)
    if quorum.first is None:  # no node has lines that can be relied upon
        yield from _lines(history, quorum)
        return
    unclear = losses(history)[1]
    open_ = [one for one in possible_losses(history) if one.before.epoch >= quorum.first]
    if unclear or open_:
        yield from _open(history, quorum, unclear)
    else:
        yield from _truncated_unseen(history, quorum)


def _truncated_unseen(history: History, quorum: Quorum) -> Iterator[Want]:
    """Yield what would show who wrote the records that a node truncated, if its lines begin after they were written."""
    truncated = {
        one.replica: one
        for one in reversed(history.truncations_of_unknown_extent)
        if quorum.since.get(one.replica) == one.epoch and one.lineage.epoch_at(one.target) == UNKNOWN
    }
    for node, first in sorted(truncated.items()):
        said = f"they name no role of it before it truncated its log to {first.target} in leader epoch {first.epoch}"
        yield Want(Question.EARLIER_LINES, (of([node], Artefact.SERVER_LOG),), because=Reason(Shows.LINES, text=said))


def _open(history: History, quorum: Quorum, unclear: Sequence[Range]) -> Iterator[Want]:
    """Yield what would show what some leaders had."""
    yield from _lines(history, quorum)
    without = sorted(quorum.voters - {node for node, disk in history.facts.disks.items() if disk.end is not None})
    if without:
        yield Want(Question.ITS_FILES, (of(without, Artefact.DATA_DIRECTORY),))
    if quorum.shortened:
        shortened = tuple(sorted({voter for voter, _ in quorum.shortened}))
        yield Want(Question.VOTERS_HAD, (anywhere(Artefact.OPERATORS),), replicas=shortened)
    elif unclear or not (quorum.without_lines or without):
        ways = (of(sorted(quorum.voters), Artefact.SERVER_LOG),)
        yield Want(Question.WRITER_OF_RECORDS, ways, offsets=offsets_of(unclear))


_ASKED: Final[Mapping[str, Callable[[History, Quorum], Iterator[Want]]]] = MappingProxyType(
    {
        committed_data_lost.ID: _kept,
        replica_divergence.ID: _kept,
        truncation_below_committed.ID: _kept,
        two_leaders_one_epoch.ID: _lines,
        leo_regression.ID: _shorter,
    }
)
"""The rules that are asked about the metadata log, and what leaves their answers open. The others ask about an ISR, a
checkpoint of a high watermark or a topic's settings, which it does not have."""


def judged(history: History, case: Case, quorum: Quorum, rule: Rule) -> Judgement:
    """Return the answer of a rule for the metadata log."""
    if rule.id == segment_damage.ID:
        return rule.judge(history, case)
    open_ = _ASKED.get(rule.id)
    if open_ is None:
        return Judgement(rule.id, Verdict.NOT_APPLICABLE)
    controllers = tuple(sorted(history.controllers))
    missing = [replace(want, controllers=controllers) for want in open_(history, quorum)]
    return judgement(rule.id, rule.judge(history, case).findings, missing)
