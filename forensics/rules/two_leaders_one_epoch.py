"""One leader epoch of a partition has two leaders."""

from __future__ import annotations

from dataclasses import replace

from forensics.case import Case
from forensics.replay.confidence import Bearers, Weakness
from forensics.replay.history import Epoch, History, Role
from forensics.replay.omissions.last_leader import roles_not_seen
from forensics.rules.causes import CauseId
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


def judge(history: History, case: Case) -> Judgement:
    """Compare all statements about each epoch's leader."""
    findings: list[Finding] = []
    wanted: list[Want] = []
    for _, epoch in sorted(history.epochs.items()):
        if epoch.other_leaders and epoch.leader is not None:
            found, wants = _of_epoch(history, epoch, (epoch.leader, *sorted(epoch.other_leaders)))
            findings += found
            wanted += wants
    led = any(e.leader is not None and e.leader >= 0 for e in history.epochs.values())
    if not led:
        wanted.append(any_leader())
    unseen = roles_not_seen(history)
    if led and unseen:
        wanted.append(Want(Question.EPOCH_GIVEN_TWICE, (of(unseen, Artefact.STATE_CHANGE_LOG),)))
    return judgement(ID, findings, wanted)


def _of_epoch(history: History, epoch: Epoch, leaders: tuple[int, ...]) -> tuple[list[Finding], list[Want]]:
    """Return what is found of an epoch with several leaders, and what would decide it."""
    number = epoch.epoch
    blind = tuple(broker for broker in sorted(history.members) if not history.coverage.whole(broker))
    if blind and not epoch.two_by_one and not _of_one_id(history, number, leaders):
        named = tuple((number, leader) for leader in leaders)
        return _suspected(history, epoch, leaders), [
            Want(Question.CREATED_AGAIN, (of(blind, *BOTH_LOGS),), epochs=named)
        ]
    if history.facts.lives > 1 and history.topic_id is None:
        return [], [Want(Question.WHICH_LIFE, (anywhere(*BOTH_LOGS),), epochs=((number, None),))]
    return [_finding(history, epoch, leaders[0])], []


_LINES = 8
"""Lines that a finding cites for each leader, at most."""
_ONE_LIFE = 24 * 3_600_000_000
"""Microseconds. Two leaders that began the same epoch further apart are more likely of two topics of one name."""


def _of_one_id(history: History, number: int, leaders: tuple[int, ...]) -> bool:
    """Return whether the leaders of an epoch all logged that they led, with the same topic id."""
    ids = {
        leader: {topic_id for at, broker, topic_id in history.facts.leaders_with_id if (at, broker) == (number, leader)}
        for leader in leaders
    }
    return all(ids.values()) and len(set().union(*ids.values())) == 1


def _suspected(history: History, epoch: Epoch, leaders: tuple[int, ...]) -> list[Finding]:
    """Return the suspicion that an epoch has two leaders, where the lines do not show whether it is one topic.

    Only if each of them logged that it led, within a day.
    """
    began = {
        span.replica: span.time
        for broker in leaders
        for span in history.role_spans.get(broker, ())
        if span.role is Role.LEADER and span.epoch == epoch.epoch and span.time is not None
    }
    if set(began) != set(leaders) or history.facts.lives > 1 or max(began.values()) - min(began.values()) > _ONE_LIFE:
        return []
    found = _finding(history, epoch, leaders[0])
    return [
        replace(
            found,
            severity=Severity.ERROR,
            summary=f"leader epoch {epoch.epoch} may have {len(leaders)} leaders: {brokers_text(leaders)}",
            weak=(Weakness.OTHERWISE_EXPLAINED,),
            uncertain=(f"perhaps {history.name} was deleted and created again, or these are two clusters",),
            **advised(
                history.name,
                next_steps=(
                    f"copy the directory {HERE} of {brokers_text(leaders)} to another disk",
                    "compare the topic id in partition.metadata of both directories: the same id means the same topic",
                ),
                do_not=found.do_not,
            ),
        )
    ]


def _finding(history: History, epoch: Epoch, leader: int) -> Finding:
    number = epoch.epoch
    leaders = tuple(sorted({leader, *epoch.other_leaders}))
    named = {leader: tuple(epoch.refs), **{other: (ref,) for other, ref in sorted(epoch.other_leaders.items())}}
    facts = [
        Fact(
            f"was leader in epoch {number}{'' if broker == leader else ' too'}",
            broker=broker,
            refs=tuple(dict.fromkeys((*refs, *epoch.leader_lines.get(broker, ()))))[:_LINES],
        )
        for broker, refs in named.items()
    ]
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        **place(history),
        replicas=leaders,
        epochs=(number,),
        summary=f"leader epoch {number} has {len(leaders)} leaders: {brokers_text(leaders)}",
        facts=tuple(facts),
        cause=CauseId.EPOCHS_PUT_BACK if history.epoch_rollbacks else CauseId.UNKNOWN,
        **advised(
            history.name,
            keep=f"the copies of {HERE} on {brokers_text(leaders)}",
            next_steps=(f"stop {brokers_text(leaders)} and copy the directory {HERE} of each to another disk",),
            do_not=(
                (
                    f"restart, reassign or wipe {brokers_text(leaders)} before that: a leader that becomes a follower "
                    "truncates its own records"
                ),
            ),
        ),
    )


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="One leader epoch of a partition has two leaders.",
    help=HELP,
    bearers=Bearers.AND_LINES,
)
