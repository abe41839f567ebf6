"""A replica from outside the ISR was elected leader.

## What it finds
A change of leader to a replica that was not in the in-sync replica set: by the controller's own
words, by the RECOVERING mark of its partition, or by the last ISR known before the election.

## Why it matters
Such a leader may lack committed records. Whether it did is the business of the rule on lost data.

## Evidence
Controller lines (``No broker in ISR is alive``, ``using an unclean election``, ``UNCLEAN partition
change``), the line ``was marked as RECOVERING``, metadata records, ISR lines of the leader before
and the ISR the new leader started with.

## Not a finding when
The leader came from the eligible leader replicas of KIP-966, which the controller prints as UNCLEAN
too; after an empty ISR that takes the word of whoever elected it. The last ISR is not known, or
leader epochs ran backwards: a lone leader in the ISR may be the last member that was in sync.

## Versions
All. In ZooKeeper mode 1.1 to 3.9 print no line that says so; there it is derived from the ISR.

## What to do
Set unclean.leader.election.enable=false where data matters more than availability, and read the
finding on lost data.
"""

from __future__ import annotations

from forensics.case import Case
from forensics.replay.committed import from_nowhere, outside_isr
from forensics.replay.history import Confidence, Epoch, History
from forensics.rules.finding import Fact, Finding, Judgement, Rule, Severity, Verdict, place
from forensics.rules.story import leader_fact, went_back

ID = "unclean-election"


def judge(history: History, case: Case) -> Judgement:
    """Look at each change of leader."""
    led = [e for _, e in sorted(history.epochs.items()) if e.leader is not None and e.leader >= 0]
    findings = []
    missing: list[str] = []
    for position, epoch in enumerate(led):
        if history.backwards and not epoch.unclean:
            missing.append(went_back(history))
            continue
        if outside_isr(history, epoch):
            findings.append(_finding(history, epoch))
            continue
        if position == 0:
            continue
        if from_nowhere(history, epoch):
            missing.append(
                f"whether leader {epoch.leader} of epoch {epoch.epoch} was an eligible leader replica (the ISR was "
                "empty): the controller's log or the metadata log of then"
            )
        before = led[position - 1]
        if before.last_isr is None and epoch.leader != before.leader and not _company(epoch):
            missing.append(
                f"the ISR before leader {epoch.leader} began epoch {epoch.epoch}: broker "
                f"{before.leader}'s server.log or the "
                "controller's log"
            )
    if not led:
        missing.append(f"any line about the leaders of {history.name}: state-change.log or the controller's log")
    verdict = Verdict.VIOLATED if findings else Verdict.UNKNOWN if missing else Verdict.CLEAN
    return Judgement(ID, verdict, tuple(findings), tuple(dict.fromkeys(missing)))


def _company(epoch: Epoch) -> bool:
    first = epoch.first_isr
    return first is not None and len(first) > 1


def _finding(history: History, epoch: Epoch) -> Finding:
    earlier = [e for n, e in sorted(history.epochs.items()) if n < epoch.epoch and e.last_isr is not None]
    last = earlier[-1] if earlier else None
    facts = []
    members = ""
    inferences: tuple[str, ...] = ()
    if last is not None and last.last_isr is not None:
        members = ",".join(map(str, sorted(last.last_isr))) or "empty"
        known = last.leader if last.leader is not None and last.leader >= 0 else None
        facts.append(Fact(f"last ISR of leader epoch {last.epoch}: {members}", broker=known, refs=(last.isr[-1][1],)))
    facts.append(leader_fact(epoch))
    facts += [Fact("the election is called unclean", refs=(ref,)) for ref in epoch.unclean[:1]]
    if not epoch.unclean:
        inferences = ("no line calls the election unclean; the new leader was not in the last ISR",)
    named = last is not None and last.last_isr is not None and epoch.leader not in last.last_isr
    members = f" (last ISR {members})" if named else ""
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        confidence=Confidence.PROVEN if epoch.unclean else Confidence.INFERRED,
        **place(history),
        replicas=(epoch.leader,) if epoch.leader is not None else (),
        epochs=(epoch.epoch,),
        summary=f"broker {epoch.leader} was elected leader of epoch {epoch.epoch} from outside the ISR{members}",
        facts=tuple(facts),
        inferences=inferences,
        cause="unclean-election",
        next_steps=("check unclean.leader.election.enable of the topic and of the brokers",),
    )


RULE = Rule(ID, Severity.ERROR, "UNCLEAN ELECTION", judge, __doc__ or "")
