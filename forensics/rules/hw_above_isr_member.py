"""The high watermark of a leader is above the log end offset of a replica in the ISR."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.history import History, HwAboveIsrMember
from forensics.rules.causes import CauseId
from forensics.rules.finding import NO_ISR, Fact, Finding, Help, Judgement, Rule, Severity, advised, judgement, place
from forensics.rules.story import missing_logs, other_kinds

ID = "hw-above-isr-member"

HELP = Help(
    finds=(
        """\
A leader removes a replica from the ISR, and the log line shows that the high watermark is
already above the replica's log end offset. Until that line, a member of the ISR lacked
committed records. A complete trace shows the same after any of its lines.""",
    ),
    matters=(
        """\
A controller may elect any member of the ISR. If the leader had failed before it shrank the ISR,
a clean election could have lost committed records.""",
    ),
    evidence=(
        """\
``Shrinking ISR .. Leader: (highWatermark: .., endOffset: ..). Out of sync replicas: (brokerId: .., endOffset: ..)``
(2.2 and later).""",
    ),
    not_when=(
        """\
The replica is only behind the leader's log end offset, not behind the high watermark. The
leader does not know the replica's log end offset (-1 or unknown, since the leader started).""",
    ),
    versions=(
        """\
2.2 and later log both values. Earlier versions do not show it.""",
    ),
    to_do=(
        """\
Compare the replicas with ``forensics compare``. If it happens again, report it to the Kafka
project with the leader's log.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Report each leader and member once."""
    groups: dict[tuple[int, int, int], list[HwAboveIsrMember]] = {}
    for members_behind in history.members_behind:
        groups.setdefault((members_behind.leader, members_behind.epoch, members_behind.replica), []).append(
            members_behind
        )
    findings = tuple(_finding(history, group) for _, group in sorted(groups.items()))
    missing = () if history.played is not None else (*missing_logs(history), *other_kinds(history))
    return judgement(ID, findings, missing)


def _finding(history: History, group: list[HwAboveIsrMember]) -> Finding:
    first = group[0]
    values = f"high watermark {first.high_watermark}, above the log end offset {first.end} of broker {first.replica}"
    until = " until then" if first.removed else ""
    stated = (
        (
            f"removed broker {first.replica} from the ISR: its own high watermark was {first.high_watermark}, the log "
            f"end offset of broker {first.replica} was {first.end}"
        )
        if first.removed
        else f"had {values}, a member of the ISR"
    )
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        **place(history),
        replicas=(first.leader, first.replica),
        epochs=(first.epoch,),
        offsets=((first.end, first.high_watermark),),
        summary=f"broker {first.leader}, the leader, had {values}. Broker {first.replica} was in the ISR{until}",
        facts=(Fact(stated, broker=first.leader, time=first.time, refs=first.refs),),
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(
                (
                    f"before you stop broker {first.leader}, check that broker {first.replica} has fetched past "
                    f"{first.high_watermark}"
                ),
            ),
        ),
        count=len(group),
    )


RULE = Rule(
    id=ID,
    severity=Severity.WARNING,
    judge=judge,
    words="high watermark above a member of the ISR",
    summary="The high watermark of a leader is above the log end offset of a replica in the ISR.",
    help=HELP,
    about_isr=True,
    not_applicable=NO_ISR,
)
