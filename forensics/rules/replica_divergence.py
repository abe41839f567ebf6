"""Two replicas hold different records at the same committed offsets."""

from __future__ import annotations

from collections.abc import Iterable

from forensics.case import Case
from forensics.replay.committed.divergence import (
    Divergence,
    WeighedFork,
    divergences,
    doubts,
    possibly_committed,
    weighed_forks,
)
from forensics.replay.confidence import weak_points
from forensics.replay.history import History
from forensics.replay.lineage import intersect, size
from forensics.replay.omissions.last_leader import last_leader
from forensics.rules.copying import KEEP_BOTH, copy_from
from forensics.rules.finding import (
    HERE,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    brokers_text,
    counted_text,
    judgement,
    offsets_text,
    place,
    sentence,
)
from forensics.rules.story import fork_cause, missing_data, replicas_not_named, unless_deleted, where_deleted
from forensics.rules.wants import Artefact, Question, Reason, Shows, Want, of, offsets_of
from parsers.schema import DamageKind

ID = "replica-divergence"

HELP = Help(
    finds=(
        """\
The segments of two replicas hold different records at the same offsets. The records have
different leader epochs, or batches of equal offsets have different checksums. Both records were
committed: each is below the high watermark of its replica, or of another one with the same record.""",
    ),
    matters=(
        """\
Consumers read one record or the other, depending on which replica leads. At least one of the
two records was committed, and some consumers cannot read it.""",
        """\
Kafka does not notice this: a follower compares offsets or leader epochs only at the end of its
log.""",
    ),
    evidence=(
        """\
The record batch headers of both replicas show the first and last offset, the leader epoch
(message format v2) and the checksum. A follower appends the batches of its leader unchanged, so
batches with equal offsets must be equal.""",
        """\
With one copy the answer is unknown, unless the evidence shows that the partition had only one
replica.""",
        """\
Without a high watermark, or above it, two differences are suspected, and the answer is unknown. Both
replicas have a batch of one leader epoch: its leader writes each offset once. Or both have the same
batch behind the difference: a replica that truncates to follow its leader removes all from there on.
No replica will truncate such records, and the high watermark passes them.""",
    ),
    not_when=(
        """\
One replica has no batch at these offsets: compaction, retention, delete-records, or it has not
caught up. Compaction rewrote a batch of the same leader epoch, or noted in it when its tombstones
may go (KIP-534). One of the records was not committed: an old leader keeps such records up to the
end of its log, and truncates them when it follows the new leader.""",
        """\
A batch is damaged: ``segment-damage`` reports it. It cannot be compared, so the answer is unknown.""",
    ),
    versions=(
        """\
Mostly before 0.11, where a former leader keeps uncommitted records when it returns (KIP-101).
In later versions only if leader epoch files are lost.""",
    ),
    to_do=(
        """\
Keep both copies. The finding names the replica that has the record that was committed first:
producers received an acknowledgement for that one.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Judge the differences between the replicas' segments, or what a complete trace states of their records."""
    weighed = weighed_forks(history)
    found = divergences(history, weighed)
    leader = last_leader(history, case.with_data) if found else None
    findings = [unless_deleted(history, one.forks, _finding(history, one, leader)) for one in found]
    if history.played is not None:
        return judgement(ID, findings, [])
    forks = [fork for one in found for fork in one.forks]
    return judgement(ID, findings, [*where_deleted(history, forks), *_missing(history, case, weighed)])


def _missing(history: History, case: Case, weighed: Iterable[WeighedFork]) -> list[Want]:
    """Return what would show whether segments differ at committed offsets."""
    unclear = [want for one in weighed for want in _unclear(history, one)]
    missing = [*unclear, *_cut_short(history), *_damaged(history), *missing_data(history, case)]
    return missing or replicas_not_named(history)


def _unclear(history: History, one: WeighedFork) -> list[Want]:
    """Return what would show which of two differing records were committed."""
    offsets = offsets_of(one.fork.ranges)
    if one.without_hw:
        return [Want(Question.HIGH_WATERMARK, (of(one.without_hw, Artefact.HW_CHECKPOINT),), offsets=offsets)]
    found = _undecided(history, one)
    if one.maybe_higher and one.rest:
        ways = (of(one.maybe_higher, Artefact.HW_CHECKPOINT),)
        found.insert(0, Want(Question.HIGH_WATERMARK_REACHED, ways, offsets=offsets))
    if lasting := intersect(one.fork.lasting, one.rest):
        ways = (of((one.fork.left, one.fork.right), Artefact.HW_CHECKPOINT, Artefact.SERVER_LOG),)
        found.append(Want(Question.HIGH_WATERMARK_LATER, ways, offsets=offsets_of(lasting)))
    return found


def _cut_short(history: History) -> list[Want]:
    """Return a want for replicas whose segments end below their checkpoint, torn or empty: the rest cannot be
    compared.
    """
    return [
        Want(
            Question.UNTORN_SEGMENTS,
            (of([broker], Artefact.SEGMENTS),),
            offsets=((replica.end, replica.checkpoint[0]),),
        )
        for broker, replica in sorted(history.replicas.items())
        if replica.on_disk and replica.end is not None and replica.checkpoint is not None
        if replica.end < replica.checkpoint[0]
        if history.facts.disks[broker].damage
        or history.facts.disks[broker].bases[-1:] == (replica.end,)  # its last file is empty
    ]


_UNREADABLE = frozenset(
    {
        DamageKind.BAD_CRC,
        DamageKind.BAD_LENGTH,
        DamageKind.BAD_MAGIC,
        DamageKind.BAD_HEADER,
        DamageKind.BAD_WRAPPER,
    }
)
"""Kinds of damage behind which a replica's records are not those of its leader, or cannot be read."""


def _damaged(history: History) -> list[Want]:
    """Return a want for replicas with damaged batches: these cannot be compared with those of other replicas."""
    found = []
    for broker, disk in sorted(history.facts.disks.items()):
        worst = next((damage for damage in disk.damage if damage.kind in _UNREADABLE), None)
        others = any(other.end is not None for number, other in history.facts.disks.items() if number != broker)
        if worst is not None and others:
            because = Reason(Shows.DAMAGE, worst.kind.value, worst.text)
            found.append(Want(Question.SAME_RECORDS, (of([broker], Artefact.SEGMENTS),), because=because))
    return found


def _undecided(history: History, one: WeighedFork) -> list[Want]:
    """Return a want if one side may have been committed without a high watermark in the evidence."""
    possible_loss = possibly_committed(history, one)
    if possible_loss is None:
        return []
    before = possible_loss.before
    ways = (of([before.leader], Artefact.SERVER_LOG, Artefact.HW_CHECKPOINT),)
    offsets, epochs = offsets_of(one.rest), ((before.epoch, before.leader),)
    return [Want(Question.COMMITTED_APART, ways, offsets=offsets, epochs=epochs)]


def _batch_fact(divergence: Divergence, broker: int) -> Fact:
    """Return the first record batch of a replica that another one does not have."""
    (base, last, epoch), ref = divergence.first_batch(broker)
    dated = f" of leader epoch {epoch}" if epoch is not None and epoch >= 0 else ""
    where = offsets_text([(base, last + 1)])
    return Fact(f"has a different record batch at {where}{dated}", broker=broker, refs=(ref,))


def _finding(history: History, divergence: Divergence, leader: int | None) -> Finding:
    """Return a finding for two groups of replicas; the current leader, if it is known, is in the second one."""
    ranges, brokers, nodes = divergence.ranges, divergence.brokers, history.controllers
    even, odd = divergence.sides if leader not in divergence.sides[1] else divergence.sides[::-1]
    follows = f". {sentence(brokers_text(even, nodes))[:-1]} {_have(even)} the records of the current leader"
    epochs = {epoch for fork in divergence.forks for _, _, epoch in (fork.left_batch, fork.right_batch)}
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        weak=weak_points(doubts(history, divergence.forks)),
        **place(history),
        replicas=brokers,
        epochs=tuple(sorted(epoch for epoch in epochs if epoch is not None and epoch >= 0)),
        offsets=ranges,
        records=(size(ranges), size(ranges)),
        summary=(
            f"{brokers_text(odd, nodes)} {_have(odd)} other records than {brokers_text(even, nodes)} at committed "
            f"{counted_text(ranges)}{follows if leader in even else ''}"
        ),
        facts=tuple(_batch_fact(divergence, broker) for broker in brokers),
        not_because=(
            "both replicas have an undamaged batch there, below the high watermark of both"
            if history.played is None
            else "the trace states every append: both replicas have a record there, and the offset is committed",
        ),
        cause=fork_cause(history, ranges),
        **advised(
            history.name,
            keep=f"both versions of {HERE}: {brokers_text(odd, nodes)}, and {brokers_text(even, nodes)}",
            next_steps=(copy_from(brokers, history.origin),),
            do_not=(KEEP_BOTH,),
        ),
    )


def _have(brokers: tuple[int, ...]) -> str:
    return "has" if len(brokers) == 1 else "have"


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="Two replicas hold different records at the same committed offsets.",
    help=HELP,
    about_records=True,
)
