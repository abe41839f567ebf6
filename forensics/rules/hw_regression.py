"""A high watermark fell although it may only rise."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.coverage import Printed, Span
from forensics.replay.history import History, Regression, RegressionKind
from forensics.rules.causes import CauseId
from forensics.rules.finding import Fact, Finding, Help, Judgement, Rule, Severity, advised, judgement, place
from forensics.rules.story import BOTH_LOGS, missing_logs
from forensics.rules.wants import Question, Want, lines_missing, of

ID = "hw-regression"

HELP = Help(
    finds=(
        """\
A leader's high watermark falls within one leader epoch and one process of its broker.""",
        """\
Or a replica restarts with records but without a checkpointed high watermark, so it begins at 0:
its file was lost or emptied. Or it restarts after a clean stop with a lower high watermark than
it had as leader: its file was restored from an older copy.""",
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
A follower's high watermark falls: it takes over its leader's high watermark, which is lower for
a while after a failover. The high watermark is lower after a crash: the checkpoint is up to
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
    for regression in history.regressions:
        if _another_role(history, regression):
            unclear.append(regression)
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
    return judgement(ID, findings, [*wishes, *missing_logs(history)])


def _another_role(history: History, regression: Regression) -> bool:
    """Return whether a replica may no longer have led: its files have later epochs than its last line."""
    spans = history.role_spans.get(regression.replica, ())
    last = max((role_span.epoch for role_span in spans), default=-1)
    ends_early = not history.coverage.has(regression.replica, Printed.ROLES, Span.AFTER)
    return regression.kind is RegressionKind.LEADER and ends_early and regression.epoch == last


def _finding(history: History, group: list[Regression]) -> Finding:
    first = group[0]
    known = f"; it was {first.before} or higher before" if first.before else ""
    if first.kind is RegressionKind.MOVED:
        summary = (
            f"broker {first.replica} restarted with its log in another directory. The checkpoint file there has no "
            f"high watermark of this partition{known}"
        )
        told = first.refs[-1].note
        step = "move replicas between log directories with kafka-reassign-partitions.sh (KIP-113, from 1.1 on)"
    elif first.kind is RegressionKind.CHECKPOINT:
        if first.after:
            summary = f"broker {first.replica} restarted after a clean stop with high watermark {first.after}{known}"
            told = f"restarted with high watermark {first.after}; before the stop it was {first.before} or higher"
        else:
            summary = (
                f"broker {first.replica} restarted with records but without its checkpointed high watermark{known}"
            )
            told = "restarted without a checkpointed high watermark, although its log has records"
        step = f"find out what happened to replication-offset-checkpoint on broker {first.replica}"
    else:
        summary = (
            f"the high watermark of broker {first.replica}, the leader, fell from {first.before} to {first.after} "
            f"within leader epoch {first.epoch}"
        )
        told = f"had high watermark {first.before}, then {first.after}"
        step = "keep the logs of this broker and report the Kafka version: this should not happen"
    return Finding(
        rule=ID,
        severity=Severity.WARNING if first.kind is RegressionKind.MOVED else Severity.ERROR,
        **place(history),
        replicas=(first.replica,),
        epochs=(first.epoch,) if first.epoch >= 0 else (),
        summary=summary,
        facts=(Fact(told, broker=first.replica, time=first.time, refs=first.refs),),
        before={"high_watermark": first.before},
        after={"high_watermark": first.after},
        cause=CauseId.UNKNOWN if first.kind is RegressionKind.LEADER else CauseId.MANUAL_EDIT,
        **advised(history.name, next_steps=(step,)),
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
