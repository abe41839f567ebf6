"""Type of an entry of ``suspected.SUSPECTS``, and words that several of them share."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.replay.signs.sign import Sign
from forensics.rules.causes import CauseId

HW, LEO, LSO = "high_watermark", "log_end_offset", "last_stable_offset"
OWN_COPY = "copy broker {witness}'s directory of {name}: it may have the only copy of these records"
ELECTION = "collect controller.log around that time, and server.log of broker {witness} up to then: they show the ISR"
KEEP = (
    "start or wipe broker {witness}, or move {name} away from it, before you have a copy of its directory: it "
    "truncates to follow broker {replica}"
)
COMPARE = "compare the segments of all replicas of {name} from offset {first} on: forensics compare shows differences"


@dataclass(frozen=True, slots=True)
class Suspect:
    """The suspicion of a rule that follows from a sign.

    Attributes:
        sign: the sign.
        rule: id of the rule.
        summary: one sentence, with the names of the suspicion's attributes in braces, and ``span`` and ``role``.
        shows: what the line states, in a few words.
        cause: the cause, unless it follows from how the log became shorter.
        had: what the first line states of the witness, if that is no high watermark and has a line of its own.
        otherwise: other possible explanations of the line.
        before: name of the value ``end``, which the first line states: a high watermark or another offset. "" for none.
        after: name of the value ``first``. "" for none.
        settle: what would decide, beside the evidence that the rule asks for.
        do_not: actions that would destroy evidence or the last copy.
        usual: such lines are common where nothing that was committed is lost, so it is a warning.
    """

    sign: Sign
    rule: str
    summary: str
    shows: str
    otherwise: tuple[str, ...]
    before: str = HW
    after: str = LEO
    settle: tuple[str, ...] = ()
    do_not: tuple[str, ...] = ()
    had: str = ""
    cause: CauseId = CauseId.UNKNOWN
    usual: bool = False


TWO_CLUSTERS = "these are lines of two clusters"
TWO_TOPICS = "the copies are of two topics or clusters that have the same name"
ELIGIBLE = "broker {replica} was an eligible leader replica, which has all committed records"
MIN_ISR = "min.insync.replicas was above 1, so that no producer with acks=all got an answer for them"
GREW_AGAIN = "the ISR grew to have broker {replica} before that, and the line is not in the evidence"
REMADE = "the topic was deleted and created again in between, and no log line in the evidence shows it"
BY_EPOCH = "the brokers truncate by leader epoch, as from 0.11 on, and no line names the epochs"
COPIED = "it had copied the high watermark from its leader before it truncated its own log"
TAKEN_OVER = "the high watermark was its leader's, taken over before the log was reconciled"
REPLACED = "the log directory was replaced or emptied on purpose"
OF_OTHER = {
    COMPARE: "compare the records of all replicas of {name} from offset {first} on",
    REPLACED: "the log was replaced or emptied on purpose",
    OWN_COPY: "copy the log of {name} of broker {witness}: it may have the only copy of these records",
    MIN_ISR: "a leader alone in the ISR may not commit, so that no client got an answer for them",
    KEEP: ("start, wipe or replace broker {witness} before its log is copied: it truncates to follow broker {replica}"),
}
"""Steps and explanations in the words of another system than Kafka."""
IN_TRACES = {
    ELECTION: (
        "collect lines of the kinds election and isr_commit around that time, and of broker {witness} up to then: they "
        "show the ISR"
    ),
}
"""Steps where traces are the only evidence."""
LATE = "the leader had just been elected, and stated its high watermark late"
STALE_EPOCH = (
    "retention had deleted {written}, of which the position is, from its leader's log: that is answered as out of range"
)
SOURCES = {
    LATE: "KIP-207",
    COPIED: "KAFKA-14704",
    TAKEN_OVER: "KAFKA-14704",
    ELIGIBLE: "KIP-966",
    STALE_EPOCH: "KAFKA-19902",
}
"""Sources in Kafka of other explanations."""
CLOCKS = "the clocks of the two brokers differ, and the high watermark was reached later"
