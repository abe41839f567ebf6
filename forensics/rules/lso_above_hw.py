"""A last stable offset is above the high watermark, or falls while one process leads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.history import History
from forensics.replay.signs.last_stable import UnstableOffset
from forensics.rules.causes import CauseId
from forensics.rules.finding import (
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    Verdict,
    advised,
    judgement,
    place,
)
from forensics.rules.story import missing_logs
from forensics.rules.wants import Artefact, Question, Want, of

ID = "lso-above-hw"

HELP = Help(
    finds=(
        """\
The last stable offset of a replica is above its high watermark at the same moment. Or it falls
while one process leads in one leader epoch.""",
    ),
    matters=(
        """\
Consumers with isolation.level=read_committed read up to the last stable offset. If it is above
the high watermark, they read records that a new leader may not have. If it falls, the broker
lost the state of transactions that had ended (KIP-98).""",
    ),
    evidence=(
        """\
Traces that state last_stable_offset, and kafka.request.logger. The response to a consumer's
fetch has both values, read from one snapshot of the log (``LogOffsetSnapshot``). If no line
states a last stable offset, the rule is not applicable.""",
    ),
    not_when=(
        """\
A process begins or a new leader begins: it starts from its own log. A follower truncates, and
its last stable offset falls with its log. The last stable offset stays behind the high
watermark: a transaction is open.""",
    ),
    versions=(
        """\
0.11 and later. In request logs, only if consumers with read_committed fetched.""",
    ),
    to_do=(
        """\
Keep the *.snapshot files and the request log of the leader. Compare what transactional
consumers read with the records on disk.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Report each replica once for each of the two signs."""
    found = history.signs.last_stable
    if not found.stated:
        return Judgement(ID, Verdict.NOT_APPLICABLE)
    coverage = history.coverage
    certain = [one for one in found.fell if coverage.whole(one.replica) and one.replica not in coverage.unclaimed]
    open_ = [
        Want(Question.LAST_STABLE_ORDER, (of([one.replica], Artefact.SERVER_LOG),), offsets=((one.value, one.before),))
        for one in found.maybe_fell
    ]
    return judgement(ID, [_finding(history, one) for one in (*found.above, *certain)], [*open_, *missing_logs(history)])


_STEP: Mapping[bool, str] = MappingProxyType(
    {
        True: "copy the *.snapshot files of {name} on broker {replica} before a restart",
        False: "copy the log of {name} on broker {replica} before a restart",
    }
)
"""The first step: for brokers of Kafka, and for another system."""


def _finding(history: History, one: UnstableOffset) -> Finding:
    epoch = f" in leader epoch {one.epoch}" if one.epoch >= 0 else ""
    if one.fell:
        summary = (
            f"the last stable offset of broker {one.replica}, the leader, fell from {one.before} to {one.value}{epoch}"
        )
        what = f"had last stable offset {one.before}, then {one.value}"
        before, after = {"last_stable_offset": one.before}, {"last_stable_offset": one.value}
        offsets = (one.value, one.before)
    else:
        summary = (
            f"broker {one.replica} had last stable offset {one.value}, above its high watermark {one.before}{epoch}"
        )
        what = f"had high watermark {one.before} and last stable offset {one.value}"
        before, after = {"high_watermark": one.before}, {"last_stable_offset": one.value}
        offsets = (one.before, one.value)
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=(one.replica,),
        epochs=(one.epoch,) if one.epoch >= 0 else (),
        offsets=(offsets,),
        subject="fell" if one.fell else "",
        summary=summary,
        facts=(Fact(what, broker=one.replica, time=one.time, refs=one.refs),),
        before=before,
        after=after,
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(_STEP[history.origin.of_kafka].format(name=history.name, replica=one.replica),),
        ),
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="last stable offset above high watermark",
    summary="A last stable offset is above the high watermark, or falls while one process leads.",
    help=HELP,
    not_applicable="no line states a last stable offset of a running broker",
)
