"""A high watermark fell although it may only rise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forensics.case import Case
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.coverage import Span
from forensics.replay.high_watermarks.regressions import may_have_followed
from forensics.replay.history import History, Regression, RegressionKind
from forensics.rules.causes import CauseId
from forensics.rules.finding import Fact, Finding, Help, Judgement, Rule, Severity, advised, judgement, place
from forensics.rules.story import BOTH_LOGS, missing_logs, other_kinds
from forensics.rules.wants import Artefact, Question, Want, lines_missing, of

ID = "hw-regression"

HELP = Help(
    finds=(
        """\
A leader's high watermark falls within one leader epoch and one process of its broker. Or it falls
as the same process takes up the next leader epoch: only a complete trace shows that.""",
        """\
Or a replica restarts with records but without a checkpointed high watermark, so it begins at 0:
its file was lost or emptied. Or it restarts after a clean stop with a lower high watermark than
it had as leader: its file was restored from an older copy.""",
        """\
A complete trace shows three more. A leader goes below what its process had before it led. A
follower goes below what it received in the same leader epoch. A process that was killed begins
below what its checkpoint file had.""",
    ),
    matters=(
        """\
Within a leader epoch, a leader's high watermark only rises (Partition.maybeIncrementLeaderHW).
Where followers truncate to their high watermark, a lost checkpoint makes a replica truncate its
whole log.""",
        """\
A replica that was moved by hand to another log directory also begins at 0, because that
directory's file does not name it. The finding is a warning then.""",
    ),
    evidence=(
        """\
High watermark lines of the leader, and ``Non-monotonic update of high watermark`` (2.7.1 and
later). ``No checkpointed highwatermark is found`` after a broker loaded a log with records. The
high watermark with which a new process begins (``Log loaded for partition``, role lines).""",
    ),
    not_when=(
        """\
A new follower's high watermark falls: it takes over that of its leader, which is lower for a
while after a failover. The high watermark is lower after a crash: the checkpoint is up to
five seconds old. A clean stop writes it (ReplicaManager.shutdown).""",
        """\
The partition's high watermark is lower after a failover: the new leader begins with its own. A
new, empty replica has no checkpointed high watermark.""",
    ),
    versions=(
        """\
All.""",
    ),
    to_do=(
        """\
Find out who removed or restored ``replication-offset-checkpoint``. With brokers before 0.11,
copy the other replicas before this broker starts again.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Report each regression; the same one repeated is one finding."""
    groups: dict[tuple[int, int, str], list[Regression]] = {}
    unclear: list[Regression] = []
    unordered: list[Regression] = []
    for regression in history.regressions:
        if may_have_followed(history, regression):
            unclear.append(regression)
        elif regression.maybe_reordered:
            unordered.append(regression)
        else:
            groups.setdefault((regression.replica, regression.epoch, regression.kind), []).append(regression)
    findings = tuple(_finding(history, group) for _, group in sorted(groups.items()))
    ends_early = history.coverage.shown_missing(Span.AFTER)
    wishes = [
        Want(
            Question.STILL_LED,
            (of([one.replica], *BOTH_LOGS),),
            offsets=((one.after, one.before),),
            epochs=((one.epoch, None),),
            because=lines_missing(ends_early[one.replica]) if one.replica in ends_early else None,
        )
        for one in unclear
    ]
    wishes += [
        Want(
            Question.HIGH_WATERMARK_ORDER,
            (of([one.replica], Artefact.PARTITION_LOGGER),),
            offsets=((one.after, one.before),),
        )
        for one in unordered[:1]
    ]
    return judgement(ID, findings, [*wishes, *other_kinds(history), *missing_logs(history)])


@dataclass(frozen=True, slots=True)
class _Words:
    """Words for one way in which a high watermark went back, with the names of its values in braces.

    Attributes:
        summary: what happened, in one sentence.
        fact: the same as a step of the story.
        step: what to do.
        step_of_other: the same for another system than Kafka, if it differs.
        severity: how bad.
        cause: see ``causes.CAUSES``.
    """

    summary: str
    fact: str
    step: str
    step_of_other: str = ""
    severity: Severity = Severity.ERROR
    cause: CauseId = CauseId.MANUAL_EDIT


_WORDS: tuple[tuple[Callable[[Regression], bool], _Words], ...] = (
    (
        lambda one: one.kind is RegressionKind.MOVED,
        _Words(
            summary="broker {replica} restarted with its log in another directory. The checkpoint file there has no "
            "high watermark of this partition{known}",
            fact="{note}",
            step="move replicas between log directories with kafka-reassign-partitions.sh (KIP-113, from 1.1 on)",
            severity=Severity.WARNING,
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.CHECKPOINT and one.after > 0,
        _Words(
            summary="broker {replica} restarted after a clean stop with high watermark {after}{known}",
            fact="restarted with high watermark {after}; before the stop it was {before} or higher",
            step="find out what happened to replication-offset-checkpoint on broker {replica}",
            step_of_other="find out what happened to the high watermark that broker {replica} had stored",
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.CHECKPOINT,
        _Words(
            summary="broker {replica} restarted with records but without its checkpointed high watermark{known}",
            fact="restarted without a checkpointed high watermark, although its log has records",
            step="find out what happened to replication-offset-checkpoint on broker {replica}",
            step_of_other="find out what happened to the high watermark that broker {replica} had stored",
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.CHECKPOINT_FILE,
        _Words(
            summary="broker {replica} restarted with high watermark {after}; its checkpoint file had {before}",
            fact="restarted with high watermark {after}; its checkpoint file had {before}",
            step="find out what happened to replication-offset-checkpoint on broker {replica}",
            step_of_other="find out what happened to the high watermark that broker {replica} had stored",
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.PROCESS,
        _Words(
            summary="the high watermark of broker {replica} fell from {before} to {after} within one process; it did "
            "not follow a leader in between",
            fact="had high watermark {before}, then {after}",
            step="keep the logs of this broker and report the Kafka version: this should not happen",
            step_of_other="keep the logs of this broker: this should not happen",
            cause=CauseId.UNKNOWN,
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.FOLLOWER,
        _Words(
            summary="the high watermark of broker {replica}, a follower, fell from {before} to {after} within leader "
            "epoch {epoch}; that of its leader did not fall",
            fact="had received high watermark {before} from its leader, then had {after}",
            step="keep the logs of this broker and report the Kafka version: this should not happen",
            step_of_other="keep the logs of this broker: this should not happen",
            cause=CauseId.UNKNOWN,
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.LED_ON,
        _Words(
            summary="the high watermark of broker {replica} fell from {before} to {after} as it led on, in leader "
            "epoch {epoch}",
            fact="had high watermark {before}, then {after} as it took up leader epoch {epoch}",
            step="keep the logs of this broker and report the Kafka version: this should not happen",
            step_of_other="keep the logs of this broker: this should not happen",
            cause=CauseId.UNKNOWN,
        ),
    ),
    (
        lambda one: one.kind is RegressionKind.LEADER,
        _Words(
            summary="the high watermark of broker {replica}, the leader, fell from {before} to {after} within leader "
            "epoch {epoch}",
            fact="had high watermark {before}, then {after}",
            step="keep the logs of this broker and report the Kafka version: this should not happen",
            step_of_other="keep the logs of this broker: this should not happen",
            cause=CauseId.UNKNOWN,
        ),
    ),
)
"""The words for each regression: the first that fit."""


def _finding(history: History, group: list[Regression]) -> Finding:
    first = group[0]
    words = next(words for fit, words in _WORDS if fit(first))
    values = {
        "replica": first.replica,
        "epoch": first.epoch,
        "before": first.before,
        "after": first.after,
        "known": f"; it was {first.before} or higher before" if first.before else "",
        "note": first.refs[-1].note if first.refs else "",
    }
    step = words.step if history.origin.of_kafka else words.step_of_other or words.step
    return Finding(
        rule=ID,
        severity=words.severity,
        weak=weak_points({Weakness.ORDER_BY_CLOCK: first.role_by_clock}),
        **place(history),
        replicas=(first.replica,),
        epochs=(first.epoch,) if first.epoch >= 0 else (),
        summary=words.summary.format_map(values),
        facts=(Fact(words.fact.format_map(values), broker=first.replica, time=first.time, refs=first.refs),),
        before={"high_watermark": first.before},
        after={"high_watermark": first.after},
        cause=words.cause,
        **advised(history.name, next_steps=(step.format_map(values),)),
        count=len(group),
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="high watermark went back",
    summary="A high watermark fell although it may only rise.",
    help=HELP,
)
