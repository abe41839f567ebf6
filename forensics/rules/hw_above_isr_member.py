"""A leader's high watermark is above the log end of a replica that it counts as in sync."""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.history import History, HwAboveIsrMember
from forensics.rules.causes import CauseId
from forensics.rules.finding import Fact, Finding, Help, Judgement, Rule, Severity, advised, judgement, place
from forensics.rules.story import missing_logs

ID = "hw-above-isr-member"

HELP = Help(
    finds=(
        """\
A line in which a leader takes a replica out of the ISR while its high watermark is already above
that replica's log end offset: until that line, a member of the ISR lacked committed records.""",
    ),
    matters=(
        """\
Any member of the ISR may be elected. Had the leader failed before it shrank the ISR, a clean
election could have lost committed records.""",
    ),
    evidence=(
        """\
``Shrinking ISR .. Leader: (highWatermark: .., endOffset: ..). Out of sync replicas: (brokerId: ..,
endOffset: ..)`` (2.2+).""",
    ),
    not_when=(
        """\
The replica is behind the leader's log end only. Its log end offset is not known to the leader (-1
or unknown, since the leader's start).""",
    ),
    versions=("2.2 and later print both values; earlier ones do not show it.",),
    to_do=("Compare the replicas; report it with the leader's log if it repeats.",),
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
    return judgement(ID, findings, missing_logs(history))


def _finding(history: History, group: list[HwAboveIsrMember]) -> Finding:
    first = group[0]
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        **place(history),
        replicas=(first.leader, first.replica),
        epochs=(first.epoch,),
        offsets=((first.end, first.high_watermark),),
        summary=(
            f"broker {first.leader}, the leader, had high watermark {first.high_watermark}, above the log end offset "
            f"{first.end} of broker {first.replica}. Broker {first.replica} was in the ISR until then"
        ),
        facts=(
            Fact(
                f"removed broker {first.replica} from the ISR: its own high watermark was {first.high_watermark}, the "
                f"log end offset of broker {first.replica} was {first.end}",
                broker=first.leader,
                time=first.time,
                refs=first.refs,
            ),
        ),
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
    summary="A leader's high watermark is above the log end of a replica that it counts as in sync.",
    help=HELP,
)
