"""Facts in the same words for every finding: a high watermark, a truncation, a leader's start, the holders of a
record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.committed.divergence import may_have_deleted, seem_deleted
from forensics.replay.committed.failed_directories import failed_directories
from forensics.replay.committed.lost_by import LostBy, Why, ended_by, forked_by, lost_by
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.isr import isr_text
from forensics.replay.facts.partition_facts import Fork
from forensics.replay.history import (
    History,
    HwSource,
    HwStatement,
    ShortenedBy,
    ShortenedLog,
    Truncation,
    TruncationReason,
    once,
)
from forensics.replay.inferences import Inferred
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Range, differences, merge
from forensics.replay.omissions.files import NOT_READ
from forensics.replay.roles.steps import StepKind
from forensics.replay.truncations.removals import beyond_committed, open_truncation, removals
from forensics.rules.causes import CauseId
from forensics.rules.finding import Fact, Finding, Severity, States, brokers_text, epoch_text, offsets_text
from forensics.rules.wants import (
    Artefact,
    Collect,
    Question,
    Reason,
    Shows,
    Want,
    anywhere,
    copy_lacks,
    from_offset,
    lines_missing,
    of,
    offsets_of,
)
from forensics.rules.wording import bound_text, stated_text


def statement_fact(statement: HwStatement) -> Fact:
    """A high watermark and where it comes from."""
    return Fact(
        stated_text(statement),
        broker=statement.replica if statement.how not in (HwSource.READ_BY_GROUP, HwSource.SCRAPED) else None,
        time=statement.time,
        refs=statement.refs,
        states=States.COMMITTED,
    )


def held_texts(history: History, removal: Truncation | ShortenedLog) -> tuple[str, ...]:
    """Return why a replica held the records that it lost, where the protocol alone implies it."""
    fetched_by = removal.fetched_by if isinstance(removal, ShortenedLog) else None
    why = {
        Inferred.ISR_COVERS_HW: "it was in the ISR when that high watermark was reached",
        Inferred.HW_WITHIN_LOG: "it had stated that high watermark",
        Inferred.LEADER_HAS_WHAT_WAS_FETCHED: f"broker {fetched_by} had fetched that from it",
        Inferred.SCRAPED_LOG_END: "its exporter of metrics printed that log end offset",
    }
    held = f"{brokers_text([removal.replica], history.controllers)} held everything below {removal.end}"
    return tuple(f"{held}: {text}" for one, text in why.items() if one in removal.before.by)


def held_facts(removal: Truncation | ShortenedLog) -> tuple[Fact, ...]:
    """Return what an exporter printed of a log before something was removed from it, if its bound rests on that."""
    if Inferred.SCRAPED_LOG_END not in removal.before.by:
        return ()
    text = f"had log end offset {removal.end} or more, as an exporter of metrics printed it"
    return (Fact(text, broker=removal.replica, refs=removal.before.because, states=States.LOG_END),)


def committed_facts(statements: Sequence[HwStatement], end: int) -> list[Fact]:
    """Return the strongest statement of how far records were committed, and another one that reaches as far, if any,
    in the order in which they were made. What the protocol implies adds nothing to what a line states.

    Args:
        statements: the strongest first.
        end: offset up to which the records were committed, not included.
    """
    first, others = statements[0], statements[1:]
    again = (
        one
        for one in others
        if one.high_watermark >= end and (first.implied or not one.implied) and not {*one.refs} & {*first.refs}
    )
    found = [first, *islice(again, 1)]
    return [statement_fact(one) for one in sorted(found, key=lambda one: (one.time is None, one.time or 0))]


def truncation_fact(history: History, truncation: Truncation) -> Fact:
    """A truncation."""
    least = "" if truncation.before.is_exact else " at least"
    answer = truncation.answer
    known = [truncation.leader] if truncation.leader is not None and truncation.leader >= 0 else []
    whom = brokers_text(known, history.controllers)
    leader = f"{whom}'s log" if known else "its leader's log"
    reason = {
        TruncationReason.HIGH_WATERMARK: ", its own high watermark",
        TruncationReason.LEADER_EPOCH: f", up to where it agreed with {leader}",
        TruncationReason.LEADER_END_OFFSET: f", the end of {leader}",
    }.get(truncation.reason, "")
    if answer is not None and truncation.target < answer.end:
        reason = f", although its leader answered that leader epoch {answer.epoch} ends at {answer.end}"
    following = f"followed {whom}" if known else "was a follower"
    repeats = f" ({truncation.repeats + 1:,} times)" if truncation.repeats else ""
    return Fact(
        f"{following} in {epoch_text(truncation.epoch)} and truncated its log from{least} {truncation.end} to "
        f"{truncation.target}{reason}{repeats}",
        broker=truncation.replica,
        time=truncation.time,
        refs=truncation.refs,
        states=States.TRUNCATION,
    )


def times_stated(history: History, truncation: Truncation, *, committed: bool) -> int:
    """Return how often a truncation was logged: a replica may be in a loop of truncations.

    Args:
        history: the partition.
        truncation: the first of them.
        committed: it is reported for the committed records that it removed; else for the others.
    """
    return 1 + truncation.repeats + sum(1 + other.repeats for other in _again(history, truncation, committed))


def _again(history: History, truncation: Truncation, committed: bool) -> list[Truncation]:
    """The same truncation at later lines, unless it removed other records, or the same once they were committed."""
    row = truncation.refs[0].row or 0
    alike = _alike(history).get((truncation.replica, truncation.epoch, truncation.target), ())
    apart = frozenset[Ref]() if committed else _of_committed_alone(history)
    return [
        other
        for other in alike
        if (other.refs[0].row or 0) > row and other.refs[0] not in apart and not _removed_others(truncation, other)
    ]


@once
def _of_committed_alone(history: History) -> frozenset[Ref]:
    """Return the truncations that removed committed records and no others, by their lines."""
    of_others = {one.refs[0] for one in history.truncations if beyond_committed(history, one)}
    return frozenset({one.truncation.refs[0] for one in removals(history) if one.ranges} - of_others)


def _removed_others(one: Truncation, other: Truncation) -> bool:
    """Return whether two truncations to one offset are known to have removed records of different leader epochs."""
    end = min(one.before.low, other.before.low)
    return bool(differences(one.lineage, other.lineage, one.target, end)[0])


def repeats_facts(history: History, truncation: Truncation, *, committed: bool) -> list[Fact]:
    """Return how often a truncation was logged again, and when the last time."""
    times = times_stated(history, truncation, committed=committed)
    if times == 1:
        return []
    last = max((truncation, *_again(history, truncation, committed)), key=lambda other: other.refs[0].row or 0)
    time, ref = last.last if last.last is not None else (last.time, last.refs[0])
    text = f"truncated its log to {truncation.target} for the last of {times:,} times in {epoch_text(truncation.epoch)}"
    return [Fact(text, broker=truncation.replica, time=time, refs=(ref,))]


@once
def _alike(history: History) -> dict[tuple[int, int, int], list[Truncation]]:
    """Return truncations of one replica in one epoch to one offset."""
    found: dict[tuple[int, int, int], list[Truncation]] = {}
    for truncation in (*history.truncations, *history.truncations_of_unknown_extent):
        found.setdefault((truncation.replica, truncation.epoch, truncation.target), []).append(truncation)
    return found


OLDER_DIRECTORY = (
    "started with an older data directory: the metadata log in it ended before the record of the registration of an "
    "earlier process, which had read that record"
)


def shortened_fact(shortened: ShortenedLog) -> Fact:
    """Return a fact: a log that was found shorter."""
    end = f"{shortened.end}" if shortened.before.is_exact else f"at least {shortened.end}"
    what = {
        ShortenedBy.CLEAN_RESTART: (
            f"restarted after a clean stop with log end offset {shortened.target}; before the stop it was {end}"
        ),
        ShortenedBy.UNCLEAN_RESTART: (
            f"restarted after an unclean stop with log end offset {shortened.target}; before the stop it was {end}"
        ),
        ShortenedBy.VOTER_RESTART: (
            f"restarted with log end offset {shortened.target}; before the restart it was {end}"
        ),
        ShortenedBy.RECOVERY: (
            f"found corruption when it recovered its log after an unclean stop, and truncated it from {end} to "
            f"{shortened.target}"
        ),
        ShortenedBy.NEW_LOG: f"restarted with an empty log; before the restart its log end offset was {end}",
        ShortenedBy.LATER_LOOK: (
            f"had log end offset {shortened.target} when its log was looked at; before its process ended it was {end}"
        ),
        ShortenedBy.DIR_FAILURE: (
            f"restarted with an empty log, as its log directory had failed; before that its log end offset was {end}"
        ),
        ShortenedBy.NO_LINE: f"had log end offset {shortened.target}; by the lines before, it was {end}",
    }[shortened.cause]
    refs = shortened.refs[:-1] if shortened.failure is not None else shortened.refs
    return Fact(what, broker=shortened.replica, time=shortened.time, refs=refs, states=States.LOG_END)


def found_shorter(shortened: ShortenedLog) -> tuple[Fact, ...]:
    """The facts of a log that was found shorter, after the failure of its log directory, if one failed."""
    if shortened.failure is None:
        return (shortened_fact(shortened),)
    what = "its log directory failed, so it could not serve the partition any more"
    failed = Fact(what, broker=shortened.replica, refs=(shortened.failure,), states=States.LOG_END)
    return failed, shortened_fact(shortened)


def shortened_facts(shortened: ShortenedLog) -> tuple[Fact, ...]:
    """The facts of a log that was shorter after a restart, after the line that states its length before, if any.

    Lines about its directory as a whole give the reason, but are no proof: they name no partition.
    """
    before = next(iter(shortened.before.because), None)
    empty = (shortened.dir_empty,) if shortened.dir_empty is not None else ()
    why = tuple(
        Fact(what, broker=shortened.replica, refs=refs, states=States.CONTEXT)
        for what, refs in (
            ("found no log in its log directory as it started", empty),
            (OLDER_DIRECTORY, shortened.dir_older),
        )
        if refs
    )
    came_back = (*held_facts(shortened), *why, *found_shorter(shortened))
    if before is None or before in shortened.refs or shortened.before.implied:
        return came_back
    had = f"had log end offset {bound_text(shortened.before)}"
    return (Fact(had, broker=shortened.replica, refs=(before,), states=States.LOG_END), *came_back)


CAUSE_OF: Mapping[Why, CauseId] = MappingProxyType(
    {
        # A clean stop flushes the log (LogManager.shutdown), so this is another one.
        ShortenedBy.CLEAN_RESTART: CauseId.STALE_DIRECTORY,
        ShortenedBy.UNCLEAN_RESTART: CauseId.UNFLUSHED_TAIL,
        # A torn write and a damaged disk look alike to log recovery.
        ShortenedBy.RECOVERY: CauseId.CORRUPT_BATCH,
        ShortenedBy.VOTER_RESTART: CauseId.VOTERS_LOST_RECORDS,
        ShortenedBy.NEW_LOG: CauseId.WIPED_DISK,
        ShortenedBy.LATER_LOOK: CauseId.UNFLUSHED_TAIL,
        ShortenedBy.DIR_FAILURE: CauseId.WIPED_DISK,
        ShortenedBy.NO_LINE: CauseId.UNKNOWN,
        LostBy.HW_TRUNCATION: CauseId.HW_TRUNCATION,
        LostBy.UNCLEAN_ELECTION: CauseId.UNCLEAN_ELECTION,
        LostBy.FORCED_ELECTION: CauseId.FORCED_ELECTION,
        LostBy.LAGGING_ISR_MEMBER: CauseId.LAGGING_ISR_MEMBER,
        LostBy.VOTERS: CauseId.VOTERS_LOST_RECORDS,
        LostBy.EPOCHS_PUT_BACK: CauseId.EPOCHS_PUT_BACK,
        LostBy.UNKNOWN: CauseId.UNKNOWN,
    }
)
"""The cause that a finding names, for each reason why a log was shorter or lacked records."""


def flushed_cause(history: History, broker: int, end: int) -> CauseId:
    """Return the cause by which the log of a replica ends on disk at an offset; see ``ended_by``."""
    return CAUSE_OF[ended_by(history, broker, end)]


def leader_fact(epoch: Epoch, ranges: tuple[Range, ...] = ()) -> Fact:
    """Return a fact: a leader took up its epoch.

    Args:
        epoch: the leader epoch.
        ranges: offsets that its log lacked; if there are any, the finding rests on where the epoch began.
    """
    begin = f" at offset {epoch.start}" if epoch.start is not None else ""
    isr = epoch.first_isr
    members = f", ISR {isr_text(isr)}" if isr else ""
    refs = (*epoch.refs, *([epoch.isr[0][1]] if isr else []))
    lacking = f", without {offsets_text(ranges)}" if ranges else ""
    who = "became leader" if epoch.leader is not None else "an unknown broker became leader"
    return Fact(
        f"{who} (leader epoch {epoch.epoch}){begin}{lacking}{members}",
        broker=epoch.leader,
        time=epoch.time,
        refs=tuple(dict.fromkeys(refs)),
        states=States.EPOCH_START if ranges else States.STEP,
        isrs=(tuple(sorted(isr)),) if isr else (),
    )


def leader_text(history: History, epoch: Epoch) -> str:
    """A leader by broker and epoch, as far as it is known."""
    return (
        f"{brokers_text([epoch.leader], history.controllers)} (leader of epoch {epoch.epoch})"
        if epoch.leader is not None
        else f"the leader of epoch {epoch.epoch}"
    )


def shortened_cause(history: History, shortened: ShortenedLog) -> CauseId:
    """Return the cause by which a log became shorter; a controller's, which flushes what it has, by its disk alone."""
    return CauseId.VOTERS_LOST_RECORDS if history.quorum is not None else CAUSE_OF[shortened.cause]


def loss_cause(history: History, epoch: Epoch, offset: int, since: int) -> CauseId:
    """Return the cause by which the leader of an epoch lacked records from an offset on; see ``lost_by``."""
    return CAUSE_OF[lost_by(history, epoch, offset, since)]


def fork_cause(history: History, ranges: tuple[Range, ...]) -> CauseId:
    """Return the cause by which two logs parted; see ``forked_by``."""
    return CAUSE_OF[forked_by(history, ranges)]


def unless_deleted(history: History, forks: Sequence[Fork], found: Finding) -> Finding:
    """Return a finding that rests on differences between segments, with a deletion as another explanation.

    That is added if the epoch file of a replica suggests a deletion, or if no line and no epoch file excludes one.
    """
    brokers = seem_deleted(history, forks)
    if not brokers:
        return replace(found, uncertain=(*found.uncertain, *_maybe_deleted_text(may_have_deleted(history, forks))))
    text = (
        f"perhaps {brokers_text(brokers)} deleted these records from the start of its log before (DeleteRecords): "
        "its leader-epoch-checkpoint has no entry for their leader epochs"
    )
    lower = list(Severity)[min(found.severity.rank + 1, len(Severity) - 1)]
    return replace(found, severity=lower, uncertain=(*found.uncertain, text))


def _maybe_deleted_text(brokers: Sequence[int]) -> tuple[str, ...]:
    """Return that replicas may have deleted the records in which their segments differ; empty for none."""
    if not brokers:
        return ()
    text = "may have deleted these records from the start of a log before (DeleteRecords)"
    return (f"{brokers_text(brokers)} {text}: server.log or leader-epoch-checkpoint of that broker would show it",)


def emptied_text(replica: int | None) -> tuple[str, ...]:
    """Return how a replica may have deleted records with all of its log; empty for none."""
    if replica is None:
        return ()
    text = "deleted these records from the start of its log before (DeleteRecords): it then truncated like a replica"
    return (f"perhaps {brokers_text([replica])} {text} without leader epochs, as one has whose whole log was deleted",)


def where_deleted(history: History, forks: Iterable[Fork]) -> list[Want]:
    """Return what would show whether replicas deleted the records in which their segments differ."""
    brokers = seem_deleted(history, forks)
    if not brokers:
        return []
    return [*missing_logs(history)] or [Want(Question.ITS_LINES, (of(brokers, Artefact.SERVER_LOG),))]


def went_back(history: History) -> Want:
    """Return why the order of leaders is unknown, and what would show it."""
    ways = (anywhere(Artefact.OPERATORS, Artefact.CLIENTS),)
    return Want(Question.LEADERS_IN_ORDER, ways, because=Reason(Shows.EPOCHS, text=history.epoch_rollbacks[0].text))


def possible_loss_of(history: History, truncation: Truncation) -> Want | None:
    """Return what would show whether truncated records were committed; None if the protocol excludes it."""
    open_ = open_truncation(history, truncation)
    if open_ is None:
        return None
    offsets, replicas = from_offset(truncation.target), (truncation.replica,)
    if open_.before is None:
        return Want(Question.LEADER_FOLLOWED, (of(replicas, Artefact.STATE_CHANGE_LOG),), offsets=offsets)
    leader = open_.leader
    epochs = ((open_.before.epoch, leader),)
    return Want(
        Question.HIGH_WATERMARK_BEFORE,
        committed_ways(history, leader),
        replicas=replicas,
        offsets=offsets,
        epochs=epochs,
    )


def committed_ways(history: History, leader: int | None) -> tuple[Collect, ...]:
    """Return what would show how far a leader had committed, beyond the evidence about it so far."""
    if not history.whole_with_files(leader):
        own = leader is not None and history.coverage.whole(leader)
        log = () if own else (Artefact.SERVER_LOG,)
        replica = history.replicas.get(leader) if leader is not None else None
        checkpoint = () if replica is not None and replica.checkpoint is not None else (Artefact.HW_CHECKPOINT,)
        return (of([leader], *log, *checkpoint, Artefact.SEGMENTS),)
    failed = (Artefact.FAILED_LOG_DIRECTORY,) if leader in failed_directories(history) else ()
    return (
        of([leader], Artefact.HW_CHECKPOINT, *failed),
        of([leader], Artefact.SEGMENTS, *failed),
        of([leader], Artefact.PARTITION_LOGGER),
        anywhere(Artefact.CLIENTS),
    )


def truncations_of_unknown_extent(history: History) -> list[Want]:
    """Return what would show how many records truncations removed, if the log end offset before is unknown."""
    return [
        Want(
            Question.END_BEFORE_TRUNCATION,
            (of([truncation.replica], Artefact.FETCHER_LOGGER),),
            offsets=from_offset(truncation.target),
        )
        for truncation in history.truncations_of_unknown_extent
    ]


LOG_FILES = {Printed.LOG: Artefact.SERVER_LOG, Printed.ROLES: Artefact.STATE_CHANGE_LOG}
"""Files in which a broker logs what it does, in the order in which they are requested."""
BOTH_LOGS = (*LOG_FILES.values(),)


@once
def missing_logs(history: History) -> Sequence[Want]:
    """Return wants for replicas whose own lines are missing or end too early."""
    wanted = sorted(history.members)
    absent = [] if wanted else [Want(Question.ANY_LINES, (anywhere(*BOTH_LOGS),))]
    within, unread = history.coverage.shown_missing(Span.WITHIN), _unread(history)
    for broker in wanted:
        if broker not in within and broker not in unread and not history.coverage.whole(broker):
            files = [file for what, file in LOG_FILES.items() if not history.coverage.has(broker, what)]
            if _unclaimed_logs(history, broker):
                absent.append(Want(Question.ITS_LINES, (of([broker], *files),)))
    return (*absent, *more_lines(history))


@once
def more_lines(history: History) -> Sequence[Want]:
    """Replicas of whose lines some are missing, and which."""
    within, before, after = (history.coverage.shown_missing(span) for span in (Span.WITHIN, Span.BEFORE, Span.AFTER))
    unread = _unread(history)
    before = {broker: one for broker, one in before.items() if broker not in unread}
    asked = (
        *((Question.LINES_BETWEEN, broker, one) for broker, one in within.items()),
        *((Question.EARLIER_LINES, broker, one) for broker, one in before.items() if broker not in within),
        *((Question.LATER_LINES, broker, one) for broker, one in after.items() if broker not in within),
    )
    again = (Want(Question.READABLE_TRACE),) if unread else ()
    return again + tuple(
        Want(question, (of([broker], *files),), because=lines_missing(one))
        if files
        else Want(Question.WIDER_CLAIM, (of([broker]),))
        for question, broker, one in asked
        for files in [_unclaimed_logs(history, broker)]
    )


def _unclaimed_logs(history: History, broker: int) -> Sequence[Artefact]:
    """Return the logs of which lines of a broker may be missing: both, except those that a trace claims to state."""
    claimed = history.coverage.claimed_partly.get(broker, frozenset())
    return [file for what, file in LOG_FILES.items() if what not in claimed]


def other_kinds(history: History) -> list[Want]:
    """Return what would show that which a trace leaves open if it claims to state some kinds of line alone.

    No such claim is about the ISR, elections, or the high watermarks that are kept and read back.
    """
    partly = history.coverage.claimed_partly.keys() & history.members
    return [Want(Question.WIDER_CLAIM, (of([broker]),)) for broker in sorted(partly)]


def _unread(history: History) -> set[int]:
    """Return the replicas whose trace has lines that could not be read."""
    return set(history.coverage.shown_missing_by(NOT_READ))


def missing_data(history: History, case: Case) -> list[Want]:
    """Return wants for replicas whose data directory is not in the evidence."""
    return [
        want for broker, want in _of_data(history) if broker not in case.with_data or _lacks_segments(history, broker)
    ]


@once
def _of_data(history: History) -> Sequence[tuple[int, Want]]:
    """Return a want for the data directory of each replica."""
    return [(one, _data_of(history, one)) for one in sorted(history.members)]


def _data_of(history: History, broker: int) -> Want:
    """Return what would show the records of a replica.

    Where a trace claims to state each change of its log, it need not claim the roles, which show whose the records are.
    """
    if Printed.LOG in history.coverage.claimed_partly.get(broker, ()):
        roles = _unclaimed_logs(history, broker)
        return Want(Question.ITS_LINES if roles else Question.WIDER_CLAIM, (of([broker], *roles),))
    return Want(Question.ITS_FILES, (of([broker], Artefact.DATA_DIRECTORY),))


def unstated_data(history: History, case: Case) -> list[Want]:
    """Return wants for replicas without a data directory in the evidence and without a complete trace."""
    claimed = history.coverage.claimed
    return [want for want in missing_data(history, case) if not claimed.issuperset(want.brokers)]


def contradicted(history: History) -> list[Want]:
    """Return what would decide about a trace that contradicts itself."""
    found = history.doubted.contradiction if history.doubted is not None else None
    if found is None:
        return []
    return [Want(Question.CONSISTENT_TRACE, because=Reason(Shows.CONTRADICTION, text=found.text))]


def from_before(history: History) -> list[Want]:
    """Return what would show whether replicas have the same records from before the claim of a trace."""
    found = history.played.taken_as_alike if history.played is not None else ()
    by_ranges: dict[tuple[Range, ...], set[int]] = {}
    for one in found:
        by_ranges.setdefault(one.ranges, set()).update((one.left, one.right))
    return [
        Want(Question.EPOCHS_OF_RECORDS, (of(brokers, Artefact.SEGMENTS),), offsets=offsets_of(ranges))
        for ranges, brokers in by_ranges.items()
    ]


def all_claimed(history: History) -> bool:
    """Return whether traces claim to state every change of every replica of the partition."""
    named = history.members
    return bool(named) and named <= history.coverage.claimed


def replicas_not_named(history: History) -> list[Want]:
    """Return what would show whether the partition has more copies than those in the evidence."""
    on_disk = [broker for broker, replica in history.replicas.items() if replica.on_disk]
    first = history.epochs.get(0)
    if not on_disk:
        return [Want(Question.TWO_COPIES, (anywhere(Artefact.SEGMENTS),))]
    named = (Artefact.STATE_CHANGE_LOG, Artefact.CONTROLLER_LOG)
    if len(on_disk) > 1 and not any(epoch.isr or epoch.isrs_stated_by_others for epoch in history.epochs.values()):
        ways = tuple(anywhere(who, Artefact.SEGMENTS) for who in (*named, Artefact.TOPIC_DESCRIPTION))
        return [Want(Question.WHICH_REPLICAS, ways)]
    # The ISR with which a partition was created names all of its first replicas.
    if len(on_disk) == 1 and not (first is not None and first.isr_elected and first.first_isr):
        ways = tuple(anywhere(what) for what in (Artefact.SEGMENTS, *named))
        return [Want(Question.ANOTHER_COPY, ways, replicas=(on_disk[0],))]
    return []


def earlier_segments(history: History, broker: int) -> list[Want]:
    """Return a want for the first segments of a replica, if they are known to be missing from the evidence."""
    copy = history.copies.get(broker)
    if copy is None or not copy.earlier:
        return []
    first = history.facts.disks[broker].bases[0]
    ways = (of([broker], Artefact.SEGMENTS),)
    return [Want(Question.EARLIER_SEGMENTS, ways, offsets=((0, first),), because=copy_lacks(copy.earlier))]


def maybe_cleaned(history: History, brokers: Iterable[int]) -> list[Want]:
    """Return what would show whether a cleaner removed the offsets that segments of some replicas skip."""
    disks = {b: disk for b in brokers if (disk := history.facts.disks[b]).skipped and not disk.lacking}
    if not disks:
        return []
    return [
        Want(
            Question.COMPACTED,
            (anywhere(Artefact.CLEANER_CHECKPOINT, Artefact.SETTINGS, Artefact.SERVER_LOG),),
            replicas=tuple(disks),
            offsets=offsets_of(merge(span for disk in disks.values() for span, _ in disk.skipped)),
            topic=history.topic,
        )
    ]


def checkpoint_at_hand(history: History, case: Case, broker: int, name: str) -> bool:
    """Return whether a complete checkpoint file of that name is in the evidence, from a replica's log directory."""
    return f"{_log_directory(history, broker)}/{name}" in case.checkpointed


def log_directory_at_hand(history: History, case: Case, broker: int) -> bool:
    """Return whether a replica's log directory is in the evidence, and not only the partition's own folder."""
    root = _log_directory(history, broker)
    return any(path.rpartition("/")[0] == root for path in case.checkpointed)


def _log_directory(history: History, broker: int) -> str:
    return (history.replicas[broker].directory or "").rpartition("/")[0]


def any_leader() -> Want:
    """Return what would show which broker led, if no leader is known."""
    return Want(Question.ANY_LEADER, (anywhere(Artefact.STATE_CHANGE_LOG), anywhere(Artefact.CONTROLLER_LOG)))


def _lacks_segments(history: History, broker: int) -> bool:
    """Return whether a replica has no segment in its broker's data, and no line shows that it was deleted there."""
    replica, spans = history.replicas.get(broker), history.role_spans.get(broker)
    if replica is not None and replica.on_disk:
        return False
    return not spans or not any(step.kind is StepKind.DELETED for step in spans[-1].steps)
