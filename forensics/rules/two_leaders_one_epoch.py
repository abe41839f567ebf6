"""One leader epoch of a partition has two leaders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.confidence import Bearers, Weakness
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.leadership.contested_epochs import Contest, ContestedEpoch, contested_epochs
from forensics.replay.omissions.last_leader import roles_not_seen
from forensics.rules.causes import CauseId
from forensics.rules.copying import stop_and_copy
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
    judgement,
    place,
)
from forensics.rules.story import BOTH_LOGS, any_leader
from forensics.rules.wants import Artefact, Question, Want, anywhere, of

ID = "two-leaders-one-epoch"

HELP = Help(
    finds=(
        """\
The evidence names two brokers as leader of the same topic id, partition and leader epoch.""",
    ),
    matters=(
        """\
A leader epoch names one leader: leader epochs protect a partition only because of that
(KIP-101). Two leaders can write different records in the same epoch, and no replica notices.""",
    ),
    evidence=(
        """\
Role lines of the brokers, LeaderAndIsr requests, controller lines and metadata records. Each
broker logs only its own roles. If role lines of a replica are missing, the answer is violated
or unknown, never clean.""",
        """\
Two observations are enough on their own. One process follows a leader and then leads in the
same leader epoch. Two brokers lead in one leader epoch of the same topic id.""",
    ),
    not_when=(
        """\
Two brokers lead at the same time in different leader epochs: an old leader has not yet received
the change (lost session, long pause). The topic was deleted and created again: it has another
topic id then.""",
    ),
    versions=(
        """\
All. It is never legal.""",
    ),
    to_do=(
        """\
Keep the logs of both brokers and of every controller. Stop all producers of the partition.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


_LINES = 8
"""Lines that a finding cites for each leader, at most."""


def judge(history: History, case: Case) -> Judgement:
    """Compare all statements about each epoch's leader."""
    contested = contested_epochs(history)
    findings = [_FINDINGS[one.contest](history, one) for one in contested if one.contest in _FINDINGS]
    missing = [_WANTS[one.contest](one) for one in contested if one.contest in _WANTS]
    led = any(e.leader is not None and e.leader >= 0 for e in history.epochs.values())
    unseen = roles_not_seen(history)
    if not led:
        missing.append(any_leader())
    elif unseen:
        missing.append(Want(Question.EPOCH_GIVEN_TWICE, (of(unseen, Artefact.STATE_CHANGE_LOG),)))
    return judgement(ID, findings, missing)


def _created_again(one: ContestedEpoch) -> Want:
    """Return what would show whether the topic was deleted and created again."""
    named = tuple((one.epoch.epoch, leader) for leader in one.leaders)
    return Want(Question.CREATED_AGAIN, (of(one.partly_seen or sorted(one.leaders), *BOTH_LOGS),), epochs=named)


def _which_topic(one: ContestedEpoch) -> Want:
    """Return what would show which of two topics of one name lines are about."""
    return Want(Question.WHICH_LIFE, (anywhere(*BOTH_LOGS),), epochs=((one.epoch.epoch, None),))


_WANTS: Mapping[Contest, Callable[[ContestedEpoch], Want]] = MappingProxyType(
    {
        Contest.SUSPECTED: _created_again,
        Contest.UNDECIDED: _created_again,
        Contest.TWO_TOPICS: _which_topic,
    }
)
"""The evidence that would decide, for each answer that is open."""


_SAME_TOPIC: Mapping[bool, Callable[[tuple[int, ...]], tuple[str, ...]]] = MappingProxyType(
    {
        True: lambda leaders: (
            f"copy the directory {HERE} of {brokers_text(leaders)} to another disk",
            "compare the topic id in partition.metadata of both directories: the same id means the same topic",
        ),
        False: lambda leaders: (
            f"copy the log of {HERE} of {brokers_text(leaders)} to another disk",
            f"find out whether both logs are of the same {HERE}: a trace names it by cluster and topic_id",
        ),
    }
)
"""Steps that show whether several leaders are of one topic: for brokers of Kafka, and for another system."""


def _suspected(history: History, one: ContestedEpoch) -> Finding:
    """Return the suspicion that an epoch has two leaders, where the lines do not show whether it is one topic."""
    found, leaders = _finding(history, one), tuple(sorted(one.leaders))
    return replace(
        found,
        severity=Severity.ERROR,
        summary=f"leader epoch {one.epoch.epoch} may have {len(leaders)} leaders: {brokers_text(leaders)}",
        weak=(Weakness.OTHERWISE_EXPLAINED,),
        uncertain=(f"perhaps {history.name} was deleted and created again, or these are two clusters",),
        **advised(
            history.name,
            next_steps=_SAME_TOPIC[history.origin.of_kafka](leaders),
            do_not=found.do_not,
        ),
    )


def _naming(refs: Sequence[Ref], lines: Sequence[Ref]) -> tuple[Ref, ...]:
    """Return the lines that name a leader: an entry for the epoch in a file shows where it began, not who led.

    Args:
        refs: evidence of the epoch, of which the first names the leader.
        lines: evidence of the leader.
    """
    rows = {line.row for line in lines}
    return tuple(dict.fromkeys((*refs[:1], *(ref for ref in refs[1:] if ref.row in rows), *lines)))[:_LINES]


def _finding(history: History, one: ContestedEpoch) -> Finding:
    epoch, number, leader = one.epoch, one.epoch.epoch, one.leaders[0]
    leaders = tuple(sorted({*one.leaders}))
    named = {leader: tuple(epoch.refs), **{other: (ref,) for other, ref in sorted(epoch.other_leaders.items())}}
    facts = [
        Fact(
            f"was leader in epoch {number}",
            broker=broker,
            refs=_naming(refs, epoch.leader_lines.get(broker, ())),
        )
        for broker, refs in named.items()
    ]
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        **place(history),
        replicas=leaders,
        epochs=(number,),
        summary=f"leader epoch {number} has {len(leaders)} leaders: {brokers_text(leaders, history.controllers)}",
        facts=tuple(facts),
        cause=CauseId.EPOCHS_PUT_BACK if history.epoch_rollbacks else CauseId.UNKNOWN,
        **advised(
            history.name,
            keep=f"the copies of {HERE} on {brokers_text(leaders, history.controllers)}",
            next_steps=(stop_and_copy(leaders, history.origin),),
            do_not=(
                (
                    f"restart, reassign or wipe {brokers_text(leaders, history.controllers)} before that: a leader "
                    "that becomes a follower truncates its own records"
                ),
            ),
        ),
    )


_FINDINGS: Mapping[Contest, Callable[[History, ContestedEpoch], Finding]] = MappingProxyType(
    {Contest.PROVEN: _finding, Contest.SUSPECTED: _suspected}
)
"""The finding for each answer by which an epoch had several leaders, or may have had them."""


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="One leader epoch of a partition has two leaders.",
    help=HELP,
    bearers=Bearers.AND_LINES,
)
