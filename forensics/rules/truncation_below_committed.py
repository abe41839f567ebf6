"""A replica truncated records from its log that were committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from forensics.case import Case, Origin
from forensics.replay.committed.proof import losses
from forensics.replay.committed.vanished_tails import gone_unseen, vanished_tails
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.deleted_segments import kept_in
from forensics.replay.facts.deletions import may_be_deleted, seems_emptied
from forensics.replay.facts.stale_dirs import left_behind
from forensics.replay.history import History, HwSource, Truncation, TruncationReason
from forensics.replay.inferences import joined
from forensics.replay.lineage import Range, intersect, size
from forensics.replay.truncations.removals import SETTLED, Fate, Outcome, Removal, outcome, removals
from forensics.rules.copying import copy_all
from forensics.rules.finding import (
    HERE,
    LOG,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    brokers_text,
    counted_text,
    epoch_text,
    judgement,
    place,
    sourced,
)
from forensics.rules.story import (
    BOTH_LOGS,
    CAUSE_OF,
    committed_facts,
    emptied_text,
    held_facts,
    held_texts,
    leader_fact,
    missing_logs,
    possible_loss_of,
    repeats_facts,
    times_stated,
    truncation_fact,
    truncations_of_unknown_extent,
)
from forensics.rules.wants import Artefact, Question, Want, from_offset, of, offsets_of

ID = "truncation-below-committed"

HELP = Help(
    finds=(
        """\
A replica truncated its log, and at least one truncated record (offset, leader epoch) was below
a high watermark that had been reached before.""",
        """\
The high watermark is one of the leader that wrote the record. Or the replica itself stated it
in the same leader epoch, for records that it had fetched from the leader of that epoch.""",
    ),
    matters=(
        """\
Producers with acks=all received an acknowledgement for committed records, and consumers may
have read them. If the new leader also lacked the records, the partition lost them, or is about
to lose them.""",
        """\
If the new leader had the records, the replica fetched them again. Until it had them again, its
election as leader would have lost them.""",
    ),
    evidence=(
        """\
Truncation lines of the log (``Truncating log .. to offset``, ``Truncating to offset``) show the
new log end offset. Load lines and role lines show the one before. High watermarks come from role lines,
restarts, checkpoint files and, before 0.11, from truncations to the high watermark.""",
        """\
If no log line gives the log end offset, the protocol implies a lower bound. A replica in the
ISR holds everything below a high watermark that is reached then (confidence: inferred).""",
    ),
    not_when=(
        """\
A leader wrote the records but they were never committed (acks=0 or acks=1 and a failover). The
partition's high watermark may have passed these offsets in a later leader epoch: then the same
offset is another record.""",
        """\
A follower truncates below a high watermark of the same leader epoch before it has appended
anything from its leader. It takes over the leader's high watermark before it compares logs
(KAFKA-14704).""",
        """\
A line asks for a truncation beyond the end of the log, which removes nothing (logged up to
0.10.2).""",
    ),
    versions=(
        """\
All. Before 0.11, every follower truncates to its own high watermark. This also holds for an
inter-broker protocol or message format before 0.11. It is routine on restart, and a warning if
the replica fetched the records again.""",
        """\
The broker's own warning ``below high watermark`` is reliable in 2.0 to 2.3 and since 4.2. In
the versions between, the broker cannot log it (KAFKA-19474).""",
    ),
    to_do=(
        """\
If the finding is critical and names a copy under Keep, copy that directory to another disk. Do
this before you restart, reassign or delete anything.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Judge every truncation of the partition."""
    removed = removals(history)
    findings = [_finding(history, one, outcome(history, one)) for one in removed if one.ranges]
    if history.played is not None:
        return judgement(ID, findings, [])
    unclear = [possible_loss_of(history, one.truncation) for one in removed if not one.decided]
    missing = [
        *(want for want in unclear if want is not None),
        *truncations_of_unknown_extent(history),
        *_vanished(history),
        *_untruncated(history),
    ]
    return judgement(ID, findings, [*missing, *missing_logs(history)])


def _untruncated(history: History) -> list[Want]:
    """Return what would show whether a replica that lost records truncated them, if no line shows how they went."""
    return [
        Want(
            Question.TRUNCATED_LOST,
            (of([one.replica], Artefact.DATA_DIRECTORY), of([one.replica], Artefact.SERVER_LOG)),
            offsets=offsets_of(one.ranges),
        )
        for one in gone_unseen(history)
    ]


OUTCOMES: Mapping[Fate, str] = MappingProxyType(
    {
        Fate.LOST: "{log} has lost them",
        Fate.THERE_AGAIN: "the broker has them again",
        Fate.FETCHED_AGAIN: "{leader} still had them, and they were fetched again",
        Fate.LEADER_HAD: "{leader} still had them",
        Fate.KEPT: "{log} kept them",
        Fate.LEADER_HAD_THEN: "{leader} still had them then; whether {log} kept them is unknown",
        Fate.UNKNOWN: "whether {log} kept them is unknown",
    }
)
"""Words for what became of the records."""

_OF_THE_LOG = frozenset({Fate.LOST, Fate.KEPT, Fate.UNKNOWN})
"""Outcomes that are alike for all replicas that truncated the records."""


def _facts(history: History, removed: Removal, became: Outcome) -> tuple[Fact, ...]:
    """The facts in order: a leader without the records began before this truncation of its follower, or after it."""
    truncation = removed.truncation
    known = committed_facts(removed.statements, removed.ranges[-1][1])
    cut = (
        *held_facts(truncation),
        truncation_fact(history, truncation),
        *repeats_facts(history, truncation, committed=True),
    )
    if became.loss is None:
        return (*known, *cut)
    leads = leader_fact(became.loss.epoch, became.lost)
    steps = (*cut, leads) if truncation.epoch < became.loss.epoch.epoch else (leads, *cut)
    return (*known, *steps)


def _severity(truncation: Truncation, fate: Fate) -> Severity:
    """Return how bad a truncation of committed records is.

    Before 0.11 every follower truncates to its high watermark; without evidence of a loss it is not reported as one.
    """
    if fate is Fate.LOST:
        return Severity.CRITICAL
    routine = fate in SETTLED or truncation.reason is TruncationReason.HIGH_WATERMARK
    return Severity.WARNING if routine else Severity.ERROR


def _next(history: History, became: Outcome) -> tuple[str, ...]:
    """Return what to do about the records, if the partition is not known to have them."""
    if became.fate is Fate.LOST:
        return (_where_to_read(history, became.lost),)
    return () if became.fate in SETTLED else (_before(history),)


def _finding(history: History, removed: Removal, became: Outcome) -> Finding:
    truncation, ranges, statement = removed.truncation, removed.ranges, removed.statements[0]
    replicas = (truncation.replica,)
    times = times_stated(history, truncation, committed=True)
    again = f" (logged {times:,} times)" if times > 1 else ""
    deleted = may_be_deleted(history, truncation.lineage, ranges, truncation.epoch)
    emptied = deleted and seems_emptied(history, truncation.replica, truncation.epoch, ranges)
    weak = {
        Weakness.END_BOUNDED: _bounded(truncation),
        Weakness.HIGH_WATERMARK_IMPLIED: statement.implied,
        Weakness.READ_BY_GROUP_ALONE: statement.group is not None,
        Weakness.SCRAPED_ALONE: statement.how is HwSource.SCRAPED,
        # In the process before, the follower may have taken over a high watermark too early (KAFKA-14704).
        Weakness.NOT_KNOWN_AS_COMMITTED: removed.read_back_alone,
        Weakness.MAYBE_DELETED: deleted,
        Weakness.OTHERWISE_EXPLAINED: emptied,
    }
    written = truncation.lineage.epoch_at(ranges[0][0])
    outcome_text = OUTCOMES[became.fate].format(
        leader=_leader_of(history, truncation), log=LOG[history.quorum is not None]
    )
    cut = f"truncated committed {counted_text(ranges)}"
    outcome_text = f"in {epoch_text(truncation.epoch)}{again}: {outcome_text}"
    return Finding(
        rule=ID,
        severity=_severity(truncation, became.fate),
        weak=weak_points(weak),
        **place(history),
        replicas=replicas,
        epochs=tuple(sorted({e for e in (written, truncation.epoch) if e >= 0})),
        offsets=ranges,
        records=(size(ranges), size(ranges)),
        summary=f"{brokers_text(replicas, history.controllers)} {cut} from its log {outcome_text}",
        did=f"{cut} {outcome_text}" if times == 1 and became.fate in _OF_THE_LOG else "",
        facts=_facts(history, removed, became),
        before={"log_end_offset": truncation.end},
        after={"log_end_offset": truncation.target},
        inferences=(*held_texts(history, truncation), *_below_answer(truncation, history.origin)),
        rests_on=joined(statement.by, truncation.before.by),
        uncertain=(*_why_below_answer(history, truncation), *emptied_text(truncation.replica if emptied else None)),
        not_because=(
            "the leader epochs show that the removed records are the committed ones, not others at the same offsets",
        ),
        cause=CAUSE_OF[became.why],
        **advised(history.name, next_steps=(*_next(history, became), *_what_shows(history, truncation))),
        count=times,
    )


def _is_below_answer(truncation: Truncation) -> bool:
    """Return whether a replica truncated to less than its leader had answered."""
    return truncation.answer is not None and truncation.target < truncation.answer.end


def _below_answer(truncation: Truncation, origin: Origin) -> tuple[str, ...]:
    """Return why a replica truncates below its leader's answer."""
    answer = truncation.answer
    if answer is None or not _is_below_answer(truncation):
        return ()
    text = (
        f"a follower truncates to the smaller of two ends of leader epoch {answer.epoch}: {answer.end} in its "
        f"leader's answer, {truncation.target} by its own {_EPOCH_FILE[origin.of_kafka]}"
    )
    return (sourced(text, "KIP-279", origin),)


_EPOCH_FILE: Mapping[bool, str] = MappingProxyType({True: "leader-epoch-checkpoint", False: "epoch entries"})
"""The place where a broker notes which leader epoch begins where: one of Kafka, and one of another system."""


def _why_below_answer(history: History, truncation: Truncation) -> tuple[str, ...]:
    """Return the two possible causes of a truncation below the leader's answer."""
    answer = truncation.answer
    if answer is None or not _is_below_answer(truncation):
        return ()
    replica, target = truncation.replica, truncation.target
    return (
        (
            f"the {_EPOCH_FILE[history.origin.of_kafka]} of broker {replica} may be wrong: leader epoch "
            f"{answer.epoch} did not end at {target} there"
        ),
        (
            f"broker {replica} may have had records of a later leader epoch from offset {target} on, which "
            f"{_leader_of(history, truncation)} does not have"
        ),
    )


def _what_shows(history: History, truncation: Truncation) -> tuple[str, ...]:
    """Return what would show which of the two possible causes it was."""
    if not _is_below_answer(truncation):
        return ()
    target = truncation.target
    if not history.origin.of_kafka:
        return (f"compare the leader epochs of the records from offset {target} on of every replica of {HERE}",)
    return (
        (
            f"find an older copy of {HERE} of broker {truncation.replica}: its batches from offset {target} on "
            "name their leader epoch, and leader-epoch-checkpoint may name another"
        ),
        (
            f"read the leader epochs from offset {target} on in the segments of {_leader_of(history, truncation)} "
            "and of the other replicas: forensics inspect shows them"
        ),
    )


def _leader_of(history: History, truncation: Truncation) -> str:
    """Return the leader that a replica followed, in words."""
    return brokers_text([truncation.leader], history.controllers) if truncation.leader is not None else "its leader"


def _bounded(truncation: Truncation) -> bool:
    """Return whether only the protocol bounds the log end offset: a stated high watermark of its own would do so
    too.
    """
    return not truncation.before.is_exact and truncation.own_hw is None


def _vanished(history: History) -> list[Want]:
    """Return what would show whether replicas truncated records that they may have held, without a line about it."""
    return [
        Want(Question.HELD_BEYOND, (of([broker], *BOTH_LOGS),), offsets=from_offset(offset))
        for broker, offset in sorted(vanished_tails(history).items())
    ]


def _before(history: History) -> str:
    """Return what to do while it is unknown whether the records are lost."""
    return f"{copy_all(history.origin)}. Then collect the missing evidence"


def _where_to_read(history: History, lost: Sequence[Range]) -> str:
    """Return which finding describes the lost records, and whether a copy of them is left."""
    held = any(
        loss.holders
        or left_behind(history, loss.lineage, loss.ranges)
        or kept_in(history.facts.deleted_segments, loss.lineage, loss.ranges)
        for loss in losses(history)[0]
        if intersect(loss.ranges, lost)
    )
    copy = "it names the copy to keep" if held else "no copy in the evidence still has the records"
    return f"read the finding committed-data-lost of {HERE}: {copy}"


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="A replica truncated records from its log that were committed.",
    help=HELP,
)
