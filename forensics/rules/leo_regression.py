"""A replica's log became shorter, and no truncation explains it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.committed.aftermath import (
    Aftermath,
    Regained,
    aftermath,
    flushed_tails,
    unmeasured_leaders,
    unnamed_between_roles,
)
from forensics.replay.committed.new_logs import begun_empty, replaced_unmeasured
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.facts.log_dirs import Moved, moved_before
from forensics.replay.history import History, ShortenedBy, ShortenedLog
from forensics.replay.signs.stated import LogFell
from forensics.rules.causes import CauseId
from forensics.rules.copying import copy_all
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
    epoch_text,
    judgement,
    place,
)
from forensics.rules.other_directories import look_in
from forensics.rules.story import (
    BOTH_LOGS,
    held_texts,
    missing_logs,
    shortened_cause,
    shortened_facts,
)
from forensics.rules.wants import Artefact, Question, Want, from_offset, of
from forensics.rules.wording import bound_text

ID = "leo-regression"

HELP = Help(
    finds=(
        """\
A broker loads or recovers a log with a lower log end offset than the replica is known to have
reached. Or it finds an empty log where there were records. In a trace,
a leader's log end offset falls while it leads, or that of any replica if the trace states each
change.""",
    ),
    matters=(
        """\
This replica had acknowledged the records at the end of the log, as leader or as a member of the
ISR. If it becomes leader next, committed records may be lost.""",
    ),
    evidence=(
        """\
Load lines (``Completed load of``), recovery lines (``Corruption found in segment``) and lines
about new logs show the log end offset now. The replica's own log lines show the one before. Or
a high watermark implies it, if the replica was in the ISR when it was reached.""",
        """\
Brokers before 2.2 log neither value in between at the default log level. There, a follower may
have restarted with a shorter log and left no trace.""",
    ),
    not_when=(
        """\
A truncation, a deletion of the topic or of the replica, a move to another directory or tiered
storage explains it.""",
        """\
A log directory failed, so the broker created the replica again in another directory, and the
replica has fetched everything again (KIP-112). A replica that has fetched the records again is
a warning.""",
    ),
    versions=(
        """\
All. If only the process is killed, nothing is lost: the operating system still writes the data.
A host without power loses what was not flushed. A clean stop flushes the log
(LogManager.shutdown), so a shorter log after a clean stop implies that another log replaced it.""",
    ),
    to_do=(
        """\
Check the host (power, kernel, disk, mounts) before you trust this replica again.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""

_EMPTY = (ShortenedBy.NEW_LOG, ShortenedBy.DIR_FAILURE)
"""Causes that leave an empty log."""

_HOW = {
    ShortenedBy.CLEAN_RESTART: "loaded",
    ShortenedBy.UNCLEAN_RESTART: "loaded",
    ShortenedBy.VOTER_RESTART: "loaded",
    ShortenedBy.RECOVERY: "recovered",
    ShortenedBy.NEW_LOG: "created again",
    ShortenedBy.DIR_FAILURE: "created again",
    ShortenedBy.LATER_LOOK: "found",
    ShortenedBy.NO_LINE: "stated",
}


_HARDWARE = "check {broker}'s host for a power failure, a kernel crash or a disk error at that time"

_HOST: Mapping[ShortenedBy, str] = MappingProxyType(
    {
        ShortenedBy.CLEAN_RESTART: (
            "find out who restored, remounted or copied {broker}'s data directory while it was stopped: the "
            "clean stop had flushed its whole log"
        ),
        ShortenedBy.UNCLEAN_RESTART: (
            "ask whether somebody put back {broker}'s data directory from a backup or a snapshot. If not, " + _HARDWARE
        ),
        ShortenedBy.VOTER_RESTART: (
            "find out who restored, remounted or copied {broker}'s data directory while it was stopped: a controller "
            "flushes what it has"
        ),
        ShortenedBy.RECOVERY: _HARDWARE,
        ShortenedBy.NEW_LOG: "find out who wiped, replaced or unmounted the disk of {broker}",
        ShortenedBy.LATER_LOOK: _HARDWARE,
        ShortenedBy.DIR_FAILURE: (
            "find out whether {broker}'s failed log directory can be read, before its disk is discarded"
        ),
        ShortenedBy.NO_LINE: "find out what removed the end of {broker}'s log, and why no line states it",
    }
)
"""Words for where to look for the reason, for each event after which a log is shorter."""

_HOST_OF_OTHER: Mapping[ShortenedBy, str] = MappingProxyType(
    {
        **_HOST,
        ShortenedBy.CLEAN_RESTART: "find out who replaced the log of {broker} while it was stopped",
        ShortenedBy.UNCLEAN_RESTART: (
            "ask whether somebody put back the log of {broker} from a backup. If not, " + _HARDWARE
        ),
        ShortenedBy.DIR_FAILURE: "find out whether {broker}'s failed disk can be read, before it is discarded",
    }
)
"""The same for another system than Kafka."""

_REGAINED: Mapping[Regained, str] = MappingProxyType(
    {
        Regained.NOT: "",
        Regained.FETCHED: ". It fetched the records again later",
        Regained.REJOINED: ". It rejoined the ISR later, so it has all committed records",
        Regained.AS_LONG: ". It fetched from its leader until its log was as long again",
    }
)
"""Words for how a replica has the records again, as the end of a sentence."""


def judge(history: History, case: Case) -> Judgement:
    """Report each log that was found shorter."""
    found = [aftermath(history, shortened) for shortened in history.shortened_logs]
    findings = [
        *(_finding(history, one) for one in found if not (one.whole_again and _failed(one.shortened))),
        *(_fell(history, one) for one in history.stated.log_fell if not _is_known(history, one)),
    ]
    missing = [*_replaced(history), *_begun_empty(history), *_unmeasured(history), *_flushed(history)]
    missing += missing_logs(history)
    return judgement(ID, findings, missing or _unknown_ends(history))


def _replaced(history: History) -> list[Want]:
    """Return a want for each log that was found empty, with an unknown log end offset before."""
    return [
        Want(
            Question.HELD_BEFORE_NEW_LOG,
            (of([broker], Artefact.PARTITION_LOGGER), of([broker], Artefact.SEGMENTS)),
        )
        for broker in replaced_unmeasured(history)
    ]


def _begun_empty(history: History) -> list[Want]:
    """Return a want for each log that begins empty in a later epoch, while another replica has earlier records."""
    return [
        Want(Question.HELD_BEFORE_EPOCH, (of([one.replica], *BOTH_LOGS),), epochs=((one.epoch, None),))
        for one in begun_empty(history)
    ]


def _unmeasured(history: History) -> list[Want]:
    """Return a want for each log loaded after an unclean stop whose broker led next, with an unknown former end."""
    return [
        Want(
            Question.END_BEFORE_LEADING,
            (of([epoch.leader], Artefact.SEGMENTS), of([epoch.leader], Artefact.PARTITION_LOGGER)),
            offsets=from_offset(epoch.start) if epoch.start is not None else (),
            epochs=((epoch.epoch, epoch.leader),),
        )
        for epoch in unmeasured_leaders(history)
    ]


def _flushed(history: History) -> list[Want]:
    """Return a want for each log that was loaded below its own recovery point without a logged removal."""
    return [
        Want(Question.TAIL_REMOVED, (of([one.replica], *BOTH_LOGS),), offsets=one.ranges)
        for one in flushed_tails(history)
    ]


def _unknown_ends(history: History) -> list[Want]:
    """Return a want for leader epochs that no line names between two roles of a replica."""
    return [
        Want(Question.UNNAMED_EPOCHS, (of([broker], *BOTH_LOGS),), epochs=tuple((number, None) for number in epochs))
        for broker, epochs in unnamed_between_roles(history)
    ]


def _check(history: History, one: Aftermath) -> str:
    """Return what to do first about a shorter log."""
    broker = brokers_text([one.shortened.replica], history.controllers)
    host = (_HOST if history.origin.of_kafka else _HOST_OF_OTHER)[one.shortened.cause].format(broker=broker)
    if not one.others or one.shortened.cause not in _EMPTY:
        return host
    what = "partition's directory" if history.origin.of_kafka else "log"
    return f"copy the {what} from a replica that still has the records before {broker} leads, and {host}"


def _never(history: History, shortened: ShortenedLog, others: tuple[int, ...]) -> str:
    broker = brokers_text([shortened.replica], history.controllers)
    if not others:
        return f"start {broker} first: it would lead without the records"
    return (
        f"let {broker} lead without the records, or start {brokers_text(others, history.controllers)} while it leads: "
        "its followers truncate them"
    )


def _why(shortened: ShortenedLog, moved: Moved | None) -> str:
    """Return the reason why a log is shorter, in words."""
    if moved is not None:
        return f"log.dirs had changed from {moved.before} to {moved.now}"
    if shortened.dir_failed:
        return "its log directory had failed"
    return "its log directory held no log" if shortened.dir_empty else "no log line explains the difference"


def _may_lead_empty(history: History, shortened: ShortenedLog) -> bool:
    """Return whether a replica with an empty log would lead instead of another one if it is started first."""
    alone = history.quorum is not None and history.quorum.sole_voter is not None
    return shortened.cause in _EMPTY and not alone


def _rests_on_clocks(history: History, one: Aftermath) -> bool:
    """Return whether only the times of two files show that the new log followed what is known of the former one.

    A process that found its log directory empty, or a node of the quorum, states both in one file.
    """
    in_one_file = history.quorum is not None or one.shortened.dir_empty is not None
    return one.shortened.cause is ShortenedBy.NEW_LOG and not in_one_file and not one.stated_twice


def _failed(shortened: ShortenedLog) -> bool:
    return shortened.cause is ShortenedBy.DIR_FAILURE


def _epochs(one: Aftermath) -> tuple[int, ...]:
    """Return the leader epochs of the records that the log had; of a log without known epochs, its replica's last."""
    shortened = one.shortened
    pieces = shortened.lineage.pieces([(one.first, shortened.end)])
    wrote = {shortened.lineage.epoch_at(first) for first, _ in pieces}
    known = wrote if wrote and min(wrote) >= 0 else {shortened.epoch}
    return tuple(sorted(epoch for epoch in known if epoch >= 0))


def _finding(history: History, one: Aftermath) -> Finding:
    shortened, others, again = one.shortened, one.others, one.regained is not Regained.NOT
    regained = _REGAINED[one.regained] + ("; whether it had more is unknown" if again and not one.measured else "")
    moved = moved_before(history, shortened) if shortened.cause is ShortenedBy.NEW_LOG else None
    whose = brokers_text([shortened.replica], history.controllers)
    return Finding(
        rule=ID,
        severity=Severity.WARNING if again else Severity.ERROR,
        weak=weak_points(
            {
                Weakness.END_IMPLIED: shortened.before.implied,
                Weakness.ORDER_BY_CLOCK: _rests_on_clocks(history, one),
                Weakness.LINES_BETWEEN: not history.coverage.whole(shortened.replica),
            }
        ),
        **place(history),
        replicas=(shortened.replica,),
        epochs=_epochs(one),
        offsets=((one.first, shortened.end),),
        records=(shortened.end - one.first, shortened.end - one.first if shortened.before.is_exact else None),
        summary=(
            f"{whose}'s log was {_HOW[shortened.cause]} with log end offset {shortened.target}; "
            f"before, it was {bound_text(shortened.before)}; {_why(shortened, moved)}{regained}"
        ),
        facts=shortened_facts(shortened),
        before={"log_end_offset": shortened.end},
        after={"log_end_offset": shortened.target},
        inferences=held_texts(history, shortened),
        rests_on=shortened.before.by,
        cause=shortened_cause(history, shortened),
        **advised(
            history.name,
            keep=f"{brokers_text(others, history.controllers)}'s {'copy' if len(others) == 1 else 'copies'} of {HERE}"
            if others
            else None,
            next_steps=(
                _check(history, one),
                *((look_in(shortened.replica, moved),) if moved is not None else ()),
            ),
            do_not=(
                *((_never(history, shortened, others),) if _may_lead_empty(history, shortened) and not again else ()),
                *(
                    (f"format or discard the failed disk of broker {shortened.replica} before that",)
                    if _failed(shortened)
                    else ()
                ),
            ),
        ),
    )


def _is_known(history: History, fell: LogFell) -> bool:
    """Return whether a log that was found shorter explains that a leader's log end offset fell."""
    return any(one.replica == fell.replica and one.target <= fell.after for one in history.shortened_logs)


def _fell(history: History, fell: LogFell) -> Finding:
    broker = fell.replica
    earlier, later = fell.refs
    return Finding(
        rule=ID,
        severity=Severity.ERROR,
        **place(history),
        replicas=(broker,),
        epochs=(fell.epoch,) if fell.epoch >= 0 else (),
        offsets=((fell.after, fell.before),),
        records=(fell.before - fell.after, None),
        summary=(
            f"broker {broker} was the leader in {epoch_text(fell.epoch)}, and its log end offset fell from "
            f"{fell.before} to {fell.after}. No log line explains it: a leader only appends"
            if fell.leads
            else f"the log end offset of broker {broker} fell from {fell.before} to {fell.after}. The trace claims to "
            "state each change in between, and none explains it"
        ),
        facts=(
            Fact(f"had log end offset {fell.before}", broker=broker, refs=(earlier,)),
            Fact(f"had log end offset {fell.after}", broker=broker, time=fell.time, refs=(later,)),
        ),
        before={"log_end_offset": fell.before},
        after={"log_end_offset": fell.after},
        cause=CauseId.UNKNOWN,
        **advised(
            history.name,
            next_steps=(copy_all(history.origin),),
        ),
    )


RULE = Rule(
    id=ID,
    severity=Severity.ERROR,
    judge=judge,
    words="log became shorter",
    summary="A replica's log became shorter, and no truncation explains it.",
    help=HELP,
)
