"""A replica from outside the ISR was elected leader."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from forensics.case import Case
from forensics.replay import protocol
from forensics.replay.committed.failed_directories import failed_logs
from forensics.replay.committed.lost_by import elected_by
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.coverage import Doubt, Printed
from forensics.replay.facts.isr import isr_text
from forensics.replay.history import History, ShortenedBy
from forensics.replay.leader_epochs import Epoch
from forensics.replay.leadership.elections import isr_changed_without_lines, shows_ineligible
from forensics.replay.leadership.judged_elections import (
    Elected,
    LastIsr,
    LoadedAgain,
    is_last_member_again,
    judged_elections,
    last_isr,
    loaded_again,
)
from forensics.replay.omissions.last_leader import elections_complete, led_unnamed, maybe_controllers, roles_not_seen
from forensics.replay.traces.in_sync_replicas import InSync, OutsideIsr
from forensics.rules.electable import change_of, change_text, electable_facts, isrs_of
from forensics.rules.failed_disks import do_not_discard, find_and_copy
from forensics.rules.finding import (
    HERE,
    NO_ISR,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    advised,
    judgement,
    place,
)
from forensics.rules.story import (
    CAUSE_OF,
    any_leader,
    leader_fact,
    other_kinds,
    shortened_facts,
    went_back,
)
from forensics.rules.unclean_setting import allowed_facts, check
from forensics.rules.wants import Artefact, Collect, Question, Want, anywhere, lines_missing, of

ID = "unclean-election"

HELP = Help(
    finds=(
        """\
The leader changes to a replica that was not in the ISR. The controller's log lines, the
RECOVERING mark of the partition or the last ISR before the election show it.""",
    ),
    matters=(
        """\
Such a leader may lack committed records. The rule ``committed-data-lost`` reports whether it
did.""",
    ),
    evidence=(
        """\
Controller lines (``No broker in ISR is alive``, ``using an unclean election``,
``UNCLEAN partition change``), the line ``was marked as RECOVERING`` and metadata records. ISR
lines of the leader before, and the ISR with which the new leader began.""",
        """\
The answer is unknown if no evidence shows the ISR of an election. These show it: the partition
epoch, a former leader whose log lines are complete, or all replicas.""",
    ),
    not_when=(
        """\
The leader was an eligible leader replica (KIP-966). Or the election was the last step of a
reassignment, which the controller also logs as UNCLEAN (PartitionChangeBuilder). In KRaft mode
the controller's lines or the leader's lines decide this: an uncleanly elected leader is
RECOVERING.""",
        """\
The last ISR before the election is not known, or leader epochs decreased. A leader that is alone
in the ISR may have been its last member then.""",
        """\
Up to 1.0, a controller that allows unclean elections empties the ISR when its last member
stops. It warns of data loss when that replica returns, although the replica has all committed
records.""",
        """\
With eligible leader replicas, that replica is in neither set after an unclean stop. A
controller elects it as the last known leader and logs the election as unclean. The finding is a
warning then, because no other replica was in sync after it.""",
    ),
    versions=(
        """\
All. In ZooKeeper mode, 1.1 to 3.9 do not log that an election is unclean. There the rule
derives it from the ISR.""",
    ),
    to_do=(
        """\
Set unclean.leader.election.enable=false if data matters more than availability. Read the
finding ``committed-data-lost``, if there is one.""",
        """\
A command can force the election although the setting is false (KIP-460); no setting prevents
that. The finding states it if the controller's log shows the command. It also does if the
metadata log and the controller's settings show that the setting was false.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Look at each change of leader."""
    unseen = roles_not_seen(history)
    judged = judged_elections(history, unseen)
    findings = [_finding(history, case, epoch) for epoch, elected in judged if elected is Elected.OUTSIDE_ISR]
    missing = [_WANTS[elected](history, epoch, unseen) for epoch, elected in judged if elected in _WANTS]
    missing += [*_leaders_unknown(history, unseen), *other_kinds(history)]
    missing += _later(history, [epoch for epoch, _ in judged], unseen, maybe_controllers(history, case.with_data))
    if not judged:
        missing.append(any_leader())
    return judgement(ID, findings, missing)


def decide(history: History, case: Case) -> Judgement:
    """Return the answer of a complete trace, else that of the lines.

    Nodes of ZooKeeper beside a trace may name a later leader epoch. Then all lines answer together.
    """
    isr = history.played.isr if history.played is not None else None
    newest = max((number for number, epoch in history.epochs.items() if epoch.leader is not None), default=-1)
    return judge(history, case) if isr is None or newest > isr.epoch else _of_trace(history, case, isr)


def _of_trace(history: History, case: Case, isr: InSync) -> Judgement:
    """Return what a complete trace decides; an election before which no ISR is stated stays open.

    Leaders come from eligible leader replicas only where the trace names a release that has them (KIP-966).
    """
    known = [broker for broker in case.brokers.values() if broker.release is not None]
    has_elr = any(protocol.of(broker).elects_from_elr is not protocol.Answer.NO for broker in known)
    led = [history.epochs[epoch] for epoch in sorted(isr.outside) if has_elr and epoch in history.epochs]
    eligible = {epoch.epoch: epoch for epoch in led if not shows_ineligible(history, epoch)}
    found = [_outside(history, case, one) for epoch, one in sorted(isr.outside.items()) if epoch not in eligible]
    missing = [
        Want(Question.ISR_BEFORE, (anywhere(Artefact.CONTROLLER_LOG),), epochs=((epoch, None),))
        for epoch in sorted(isr.open - isr.outside.keys())
    ]
    # A line states an election that is not unclean: the leader was in the ISR, or an eligible leader replica.
    open_ = (epoch for epoch in eligible.values() if not epoch.elected)
    return judgement(ID, found, [*missing, *(_maybe_eligible(history, epoch, []) for epoch in open_)])


def _outside(history: History, case: Case, one: OutsideIsr) -> Finding:
    epoch = history.epochs.get(one.epoch)
    if epoch is not None and epoch.leader == one.leader:
        return _finding(history, case, epoch)
    members = f" ({_isr_before(one.isr)})" if one.isr is not None else ""
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=(one.leader,),
        epochs=(one.epoch,),
        summary=f"broker {one.leader} was elected leader of epoch {one.epoch} from outside the ISR{members}",
        facts=(Fact(f"was elected leader of epoch {one.epoch}", broker=one.leader, refs=(one.ref,)),),
        **advised(history.name, next_steps=(check(history, case),)),
    )


def _electors(history: History) -> Collect:
    """Return where the controllers' lines about elections would be."""
    return anywhere(Artefact.METADATA_LOG if history.protocol.kraft else Artefact.CONTROLLER_LOG)


def _later(history: History, led: list[Epoch], unseen: list[int], electors: list[int]) -> list[Want]:
    """Return what would show whether another leader followed the known ones."""
    if not led:
        return []
    unnamed = led_unnamed(history)
    if unnamed:
        ways = (of(sorted({*unnamed, *unseen}), Artefact.STATE_CHANGE_LOG), _electors(history))
        last = ((max(history.epochs), None),)
        return [Want(Question.LEADER_AFTER, ways, epochs=last, because=lines_missing(unnamed[min(unnamed)]))]
    if not unseen or elections_complete(history, led[-1].leader, electors):
        return []
    return [Want(Question.LATER_LEADER, (of(unseen, Artefact.STATE_CHANGE_LOG), _electors(history)))]


def _wish(history: History, epoch: Epoch, unseen: list[int]) -> Want:
    """Return what would show the ISR from which an epoch's leader was elected."""
    earlier = (one.leader for one in reversed(history.epochs.before(epoch.epoch)) if one.leader is not None)
    before = [*itertools.islice(earlier, 1)]
    changed = isr_changed_without_lines(history, epoch)
    coverage = history.coverage
    silent = {b for b in before if changed or (b in history.replicas and not coverage.has(b, Printed.LOG))}
    silent = silent - {-1} | {*unseen}
    own = (of(sorted(silent), Artefact.STATE_CHANGE_LOG, Artefact.SERVER_LOG),) if silent else ()
    electors = (
        (Artefact.METADATA_LOG, Artefact.CONTROLLER_LOG) if history.protocol.kraft else (Artefact.CONTROLLER_LOG,)
    )
    ways = (*own, *(anywhere(one) for one in electors))
    return Want(Question.ISR_BEFORE, ways, epochs=((epoch.epoch, epoch.leader),))


def _maybe_eligible(history: History, epoch: Epoch, unseen: list[int]) -> Want:
    """Return what would show whether an epoch's leader was an eligible leader replica."""
    ways = (anywhere(Artefact.METADATA_LOG), anywhere(Artefact.CONTROLLER_LOG))
    return Want(Question.ELIGIBLE, ways, epochs=((epoch.epoch, epoch.leader),))


_WANTS: Mapping[Elected, Callable[[History, Epoch, list[int]], Want]] = MappingProxyType(
    {
        Elected.OUT_OF_ORDER: lambda history, epoch, unseen: went_back(history),
        Elected.UNKNOWN: _wish,
        Elected.MAYBE_ELIGIBLE: _maybe_eligible,
    }
)
"""The evidence that would show how a leader was elected, for each answer that leaves it open."""


def _leaders_unknown(history: History, unseen: list[int]) -> list[Want]:
    """The evidence that would show who led where no line names the leader, past the last known leader too."""
    silent = sorted({*history.coverage.doubtful(Doubt.LEADER), *history.coverage.unnamed})
    # Default logging of KRaft brokers may skip epochs without a leader; with ZooKeeper controllers send each of them.
    if not silent or history.epoch_rollbacks or (history.protocol.kraft and not unseen):
        return []
    own = (of(unseen, Artefact.STATE_CHANGE_LOG),) if unseen else ()
    epochs = tuple((number, None) for number in silent)
    return [Want(Question.LEADERS_OF_EPOCHS, (*own, anywhere(Artefact.CONTROLLER_LOG)), epochs=epochs)]


def _isr_facts(last: LastIsr) -> list[Fact]:
    """Return the last ISR before an election as a fact, if any is known."""
    if last.epoch is None or last.isr is None:
        return []
    if not last.of_epoch:  # unknown who led when the ISR changed to this
        return [Fact(f"the ISR just before the election was {isr_text(last.isr)}, by the partition epoch")]
    members, leader, number = isr_text(last.isr), last.epoch.leader, last.epoch.epoch
    named = (tuple(sorted(last.isr)),)
    refs = tuple(ref for isr, ref in last.epoch.isr if isr == last.isr)[-1:]
    how = "" if refs else ", by the partition epoch"
    if leader is not None and leader >= 0:
        return [
            Fact(
                f"led epoch {number}; the last ISR of that epoch was {members}{how}",
                broker=leader,
                refs=refs,
                isrs=named,
            )
        ]
    whose = f"of leader epoch {number}"
    text = f"the last ISR {whose} was {members}" if last.isr else f"the ISR {whose} was empty, so no broker led"
    return [Fact(f"{text}{how}", refs=refs, isrs=named)]


def _as_changed(history: History, fact: Fact) -> Fact:
    """Return the last ISR in the words, and with the time, of the change that made it so, if a controller states it."""
    change = change_of(history, (ref.row for ref in fact.refs))
    if change is None or change.by_leader is not None or fact.broker is not None:
        return fact
    return replace(fact, text=change_text(history, change), time=change.time, isrs=isrs_of(change))


def _before(changes: list[Fact], stated: list[Fact]) -> list[Fact]:
    """Return what led to an election: changes of leader and ISR, then the last ISR, unless the election names it.

    A broker may log that ISR after the controller logs the election, which would then precede what it follows from.
    """
    if not changes or not stated or stated[0].broker is not None or changes[-1].isrs[:1] != stated[0].isrs[:1]:
        return [*changes, *stated]
    return [*changes[:-1], replace(changes[-1], refs=(*changes[-1].refs, *stated[0].refs))]


_IMPLIED: tuple[tuple[Callable[[Epoch], bool], str], ...] = (
    (
        lambda epoch: not epoch.unclean and not epoch.asked,
        "no log line calls the election unclean, but the new leader was not in the last ISR",
    ),
    (
        lambda epoch: epoch.forced and not epoch.asked,
        "unclean.leader.election.enable was false, so a command forced the election",
    ),
)
"""Conclusions from the protocol on which a finding rests, and when."""


_WHO_FORCED = "ask who forced it: kafka-leader-election.sh --election-type UNCLEAN, or electLeaders of an admin client"


def _named_unclean(epoch: Epoch) -> list[Fact]:
    """Return the fact that a line names an election unclean, if one does."""
    if epoch.recovering is not None and epoch.unclean[0] == epoch.recovering:
        text = "was marked as recovering from an unclean election"
        return [Fact(text, broker=epoch.leader, refs=(epoch.recovering,))]
    whom = f"broker {epoch.leader}" if epoch.leader is not None else "a leader"
    text = f"the controller elected {whom} (leader epoch {epoch.epoch}) and logged the election as unclean"
    return [Fact(text, refs=(ref,)) for ref in epoch.unclean[:1]]


def _finding(history: History, case: Case, epoch: Epoch) -> Finding:
    last = last_isr(history, epoch)
    stated = [_as_changed(history, fact) for fact in _isr_facts(last)]
    shown = {ref for fact in stated for ref in fact.refs}
    since = last.epoch.epoch if last.epoch is not None else epoch.epoch
    facts = [
        *_before([one for one in electable_facts(history, since, epoch) if shown.isdisjoint(one.refs)], stated),
        *(Fact("a command requested an unclean election", refs=(ref,)) for ref in epoch.asked[:1]),
        *_named_unclean(epoch),
        leader_fact(epoch),
    ]
    if is_last_member_again(history, epoch):
        return _last_known(history, epoch, facts)
    members = f" ({_isr_before(last.isr)})" if last.isr is not None and epoch.leader not in last.isr else ""
    failed = _left_on_failed_disk(history, case, epoch, last.epoch)
    cause = CAUSE_OF[elected_by(epoch)]
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        weak=weak_points({Weakness.UNCLEAN_IMPLIED: not (epoch.unclean or epoch.asked)}),
        **place(history),
        replicas=(epoch.leader,) if epoch.leader is not None else (),
        epochs=(epoch.epoch,),
        summary=f"broker {epoch.leader} was elected leader of epoch {epoch.epoch} from outside the ISR{members}",
        facts=(*facts, *failed.facts, *allowed_facts(history, cause)),
        inferences=tuple(text for applies, text in _IMPLIED if applies(epoch)),
        cause=cause,
        **advised(
            history.name,
            next_steps=(*failed.steps, _WHO_FORCED if epoch.forced else check(history, case)),
            do_not=failed.do_not,
        ),
    )


def _isr_before(isr: frozenset[int]) -> str:
    return f"last ISR {isr_text(isr)}" if isr else "the ISR was empty"


@dataclass(frozen=True, slots=True)
class _FailedDisk:
    """A failed log directory with the log of the leader before, and what to do about it."""

    facts: tuple[Fact, ...] = ()
    steps: tuple[str, ...] = ()
    do_not: tuple[str, ...] = ()


def _left_on_failed_disk(history: History, case: Case, epoch: Epoch, last: Epoch | None) -> _FailedDisk:
    """Return what to do about the log of the leader before, if its log directory failed.

    It may have committed records that only this log has.
    """
    leader = last.leader if last is not None else None
    failed = failed_logs(history, case, epoch.start) if leader is not None and epoch.start is not None else ()
    of_leader = [one for one in failed if one.broker == leader]
    if not of_leader:
        return _FailedDisk()
    gone = [one for one in history.shortened_logs if one.replica == leader and one.cause is ShortenedBy.DIR_FAILURE]
    return _FailedDisk(
        tuple(itertools.chain.from_iterable(map(shortened_facts, gone))),
        find_and_copy(of_leader, [f"it may have records that broker {epoch.leader} lacks"]),
        (f"{do_not_discard(of_leader)}: no other copy may have these records",),
    )


def _last_known(history: History, epoch: Epoch, facts: list[Fact]) -> Finding:
    """Return a finding: the last ISR member led again (ReplicationControlManager, KIP-966); no other was in sync after
    it.
    """
    again = loaded_again(history, epoch)
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        weak=weak_points({Weakness.UNCLEAN_IMPLIED: not epoch.unclean}),
        **place(history),
        replicas=(epoch.leader,) if epoch.leader is not None else (),
        epochs=(epoch.epoch,),
        summary=(
            f"broker {epoch.leader} was elected leader of epoch {epoch.epoch} after it had stopped uncleanly: the ISR "
            "was empty, and it was the last known leader"
        ),
        facts=(*facts[:-1], *_loaded_facts(history, epoch, again), facts[-1]),
        not_because=(
            (
                "no lagging replica was elected: the ISR was empty after broker "
                f"{epoch.leader} left it, and the controller elected the last known leader (KIP-966)"
            ),
        ),
        **advised(history.name, next_steps=((_COMPARE if again is None else _HOST).format(broker=epoch.leader),)),
    )


def _loaded_facts(history: History, epoch: Epoch, again: LoadedAgain | None) -> Iterator[Fact]:
    """Yield the fact with which log the leader had returned, and how far it had committed by its lines.

    A log that had become shorter is a finding of its own, with that fact.
    """
    if again is None or any(again.refs[0] in one.refs for one in history.shortened_logs):
        return
    text = (
        f"loaded its log with log end offset {again.end}; the highest high watermark in its lines until then is "
        f"{again.high_watermark}"
    )
    yield Fact(text, broker=epoch.leader, time=again.time, refs=again.refs)


_COMPARE: Final = (
    f"compare the log end offset with which broker {{broker}} loaded {HERE}, by its server.log, with the high "
    "watermark before: if it is lower, a crash of its host removed records that were not flushed"
)
_HOST: Final = (
    "find out whether the host of broker {broker} lost power or its kernel crashed before: only then can records at "
    "the end of its log be gone, because a broker whose process alone is killed keeps its log"
)
"""The next step where lines do not state both values, and where they do."""


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=decide,
    summary="A replica from outside the ISR was elected leader.",
    help=HELP,
    about_isr=True,
    not_applicable=NO_ISR,
)
