"""Whether a replica's files, and what others say, agree with what its lines lead to; if not, lines are missing.

Nothing here changes what is known: each answer comes with the missing lines that explain a contradiction, and replay
lowers the coverage by them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from forensics.replay.committed import at_most
from forensics.replay.coverage import MissingLines, Omission, Printed, Span
from forensics.replay.epoch_start import NO_DISK
from forensics.replay.history import Epoch, History, HwSource, HwStatement, ShortenedLog
from forensics.replay.isr_removal_epochs import accounted
from forensics.replay.lineage import UNKNOWN, Lineage, differences, same
from forensics.replay.steps import REMOVES, RoleSpan, StepKind

OTHER_RECORDS_ON_DISK = Omission(
    "other-records-on-disk",
    Span.WITHIN,
    "its files hold other records from offset {first} on than its lines imply",
    "a log changes below its end only by a truncation, which Log.truncateTo prints",
)
FOLLOWED_UNTRUNCATED = Omission(
    "followed-untruncated",
    Span.WITHIN,
    (
        "its leader's log has another leader epoch from offset {first} on, but no line shows that it "
        "truncated its own of {end}"
    ),
    "KIP-101: a follower truncates to where its leader's epoch ends before it fetches",
)
LEADER_OF_OLDER_EPOCH = Omission(
    "leader-of-older-epoch",
    Span.WITHIN,
    ("from offset {undated_from} on its log seems to be of an older epoch than its follower's, which did not truncate"),
    "KIP-101: a follower truncates to where its leader's epoch ends before it fetches",
)

OMISSIONS = (OTHER_RECORDS_ON_DISK, FOLLOWED_UNTRUNCATED, LEADER_OF_OLDER_EPOCH)
"""What contradictions between lines and files, or between a follower and its leader, show."""


def borne_out(history: History, statement: HwStatement) -> tuple[HwStatement, MissingLines | None]:
    """A high watermark as far as the files of who stated it agree, and the lines that are missing where they do not.

    Who states a high watermark held the records below it. Where its files hold others and no line says that it
    truncated its log since, lines are missing, and it may speak of the log that the files show.
    """
    at = _parts_from_files(history, statement.replica, statement.lineage, statement.high_watermark)
    if at is None or _removed(history, statement, at):
        return statement, None
    if any(statement.replica in (f.left, f.right) and f.ranges[0][0] <= at for f in history.forks):
        return statement, None  # a follower that kept a tail of its own learns its leader's high watermark all the same
    missing = OTHER_RECORDS_ON_DISK.of(statement.replica, {"first": at}, ref=statement.refs[0])
    if at == history.disks[statement.replica].log_start:
        # Nothing bears out what its lines say of the records below: they may part from its log there already.
        at = max((start for _, start in statement.lineage.entries if start <= at), default=0)
    return replace(statement, epoch=UNKNOWN, lineage=statement.lineage.truncated(at).begin(UNKNOWN, at)), missing


def found_shorter_unexplained(
    history: History, shortened: ShortenedLog, row: int | None
) -> tuple[bool, MissingLines | None]:
    """Whether lines on a log that came back shorter are missing, and which.

    They are where some of the replica are known to be missing, or of an epoch in between; or where what it came back
    with is on its disk of other epochs than its lines lead to: it was truncated in between and fetched again.
    """
    later = [
        role_span.epoch for role_span in history.role_spans[shortened.replica] if role_span.epoch > shortened.epoch
    ]
    unnamed = history.coverage.unnamed
    if any(shortened.epoch < number < min(later, default=number + 1) for number in unnamed):
        return True, None  # of an epoch that no line names no replica's lines are there
    if not history.coverage.has(shortened.replica, Printed.LOG):
        return True, None
    at = _parts_from_files(history, shortened.replica, shortened.lineage, shortened.target)
    if at is None or _cut_since(history, shortened.replica, at, row):
        return False, None
    return True, OTHER_RECORDS_ON_DISK.of(shortened.replica, {"first": at}, ref=shortened.refs[0])


def _parts_from_files(history: History, broker: int, log: Lineage, end: int) -> int | None:
    """The first offset below an end where a replica's files hold another record than its lines lead to."""
    disk = history.disks.get(broker, NO_DISK)
    if disk.end is None or not disk.lineage.entries or history.truncates_to_hw or history.epoch_rollbacks:
        return None
    first, last = disk.log_start, min(end, disk.end)
    differ = differences(log, disk.lineage, first, last)[0] if first < last else []
    return differ[0][0] if differ else None


def as_it_was(log: Lineage, leaders: Lineage, target: int, end: int) -> Lineage:
    """A follower's log before a truncation by leader epoch: what agrees with its leader's from the target on is not
    what it had, since it is cut where the two differ and not before (KIP-101, OffsetsForLeaderEpoch).
    """
    return log.truncated(target).begin(UNKNOWN, target) if same(log, leaders, [(target, end)]) else log


def not_truncated(
    history: History, role_span: RoleSpan, log: Lineage, leaders: Lineage, *, fenced: bool = False
) -> list[MissingLines]:
    """The lines that are missing where a follower that fetched from its leader had to truncate its log before, and no
    line says that it did.

    It asks where its last leader epoch ends there, and truncates its log to that (KIP-101); from 2.0 on the leader
    answers with the last epoch of its own that is no later, and what is of later ones goes (KIP-279). Either the
    follower's lines on that are missing, or the leader's on how its log came to be of an older epoch.

    Args:
        history: the partition.
        role_span: the follower's.
        log: its log as it came.
        leaders: its leader's.
        fenced: both are of 2.5 or later, where nobody fetches in an epoch that it was not told of.
    """
    at, end = _had_to_truncate_to(history, role_span, log, leaders, fenced=fenced), role_span.start_end
    if at is None or not history.coverage.has(role_span.replica, Printed.LOG):
        return []
    found = [FOLLOWED_UNTRUNCATED.of(role_span.replica, {"first": at, "end": end}, ref=role_span.refs[0])]
    if leaders.epoch_at(at) < log.epoch_at(at) and role_span.leader in history.replicas:
        found.append(
            LEADER_OF_OLDER_EPOCH.of(role_span.leader, ref=role_span.refs[0], epoch=role_span.epoch, undated_from=at)
        )
    return found


def _had_to_truncate_to(
    history: History, role_span: RoleSpan, log: Lineage, leaders: Lineage, *, fenced: bool
) -> int | None:
    """To what a follower had to truncate its log before it fetched; None where it had not to, or nothing tells."""
    end, last = role_span.start_end, log.entries[-1][0] if log.entries else UNKNOWN
    if history.truncates_to_hw or not history.protocol_known or end is None or last < 0:
        return None
    if any(epoch < 0 for epoch, _ in leaders.entries):
        return None
    answer = next((start for epoch, start in leaders.entries if epoch > last), None)
    if answer is None or leaders.entries[0][0] > last:
        return None  # of an epoch before its own first one a leader to 1.1 knows no end
    if fenced:
        known = max(epoch for epoch, _ in leaders.entries if epoch <= last)
        answer = min([answer, *(start for epoch, start in log.entries if epoch > known)])
    return answer if answer < end else None


def beyond_lines(history: History, statement: HwStatement) -> int | None:
    """Where an epoch that a replica's lines do not tell of began below what it stated last: of which of the two logs it
    speaks is not known. None where its lines go on to the end, and it was in no later ISR.
    """
    broker = statement.replica
    unseen = _before_another_process(history, statement)
    if unseen is not None:
        return unseen
    other = _unlike_its_leader(history, statement)
    if other is not None:
        return other
    told = max((role_span.epoch for role_span in history.role_spans.get(broker, ())), default=UNKNOWN)
    if statement.epoch != told or statement.earlier:
        return None
    later = [e for n, e in sorted(history.epochs.items()) if n > told and e.leader_took_up]
    # Whoever was in its ISR was told of it: lines are missing.
    untold = any(broker in isr for e in later for isr, _ in e.isr)
    if not untold and not history.coverage.is_shown_missing(broker, Span.AFTER):
        return None
    starts = (e.start if e.start is not None else e.start_low for e in later)
    return next((start for start in starts if start < statement.high_watermark), None)


def _unlike_its_leader(history: History, statement: HwStatement) -> int | None:
    """The same of a checkpoint beyond the log end of the leader whose log it would speak of, from where their segments
    differ, though nothing tells of a later role of that leader.
    """
    epoch = history.epochs.get(statement.epoch)
    leader = epoch.leader if epoch is not None else None
    if statement.how is not HwSource.CHECKPOINT or leader is None or leader == statement.replica:
        return None
    spans, end = history.role_spans.get(leader, ()), history.disks.get(leader, NO_DISK).end
    if not spans or spans[-1].epoch != statement.epoch or spans[-1].steps:
        return None
    if end is None or end >= statement.high_watermark:
        return None  # who kept a tail of its own learns its leader's high watermark all the same
    return min((start for start, _ in history.diverging_ranges(statement.replica, leader)), default=None)


def _removed(history: History, statement: HwStatement, at: int) -> bool:
    """Whether a line tells that a replica lost what it had from an offset on, after it stated a high watermark."""
    if not statement.refs or statement.refs[0].row is None or statement.how is HwSource.CHECKPOINT:
        return False
    return _cut_since(history, statement.replica, at, statement.refs[0].row)


def _before_another_process(history: History, statement: HwStatement) -> int | None:
    """The same of a replica whose next process was told of an epoch into whose ISR it had been elected before: the one
    that speaks had been told of it too.
    """
    if history.truncates_to_hw or statement.earlier:
        return None
    for one, two in itertools.pairwise(history.role_spans.get(statement.replica, ())):
        if one.epoch != statement.epoch or two.run == one.run or two.epoch <= one.epoch:
            continue
        for number, epoch in sorted(history.epochs.items()):
            start = epoch.start if epoch.start is not None else epoch.start_low
            led = epoch.leader == statement.replica  # that the next process tells itself
            if (
                led
                or not one.epoch < number <= two.epoch
                or not epoch.leader_took_up
                or start >= statement.high_watermark
            ):
                continue
            if epoch.isr_elected and statement.replica in (epoch.first_isr or ()):
                return start
    return None


def _cut_since(history: History, broker: int, at: int, row: int | None) -> bool:
    """Whether a line from a row of a replica on tells that what it had from an offset on went."""
    return any(
        step.target <= at
        and (step.kind in REMOVES or step.kind is StepKind.LOADED)
        and (step.refs[-1].row or 0) >= (row or 0)
        for role_span in history.role_spans.get(broker, ())
        for step in role_span.steps
        if step.kind is not StepKind.UNKNOWN_CHANGE
    )


def may_have_left_isr(history: History, epoch: Epoch, broker: int) -> bool:
    """Whether a replica may have left a leader's ISR, in its epoch or in a later one that it led, though no line of the
    leader says so: its lines are not whole, others state it, or the next epoch is one that nobody names, with whatever
    ISR. A replica that is elected next as the last one in the ISR was in it to the end, in whatever epochs.
    """
    if not history.coverage.whole(epoch.leader):
        return True
    return _left_by_others(history, epoch, broker)


def _left_by_others(history: History, epoch: Epoch, broker: int) -> bool:
    """The same of a leader whose lines are whole."""
    led = (one for n, one in sorted(history.epochs.items()) if n > epoch.epoch and one.leader not in (None, -1))
    if (follows := next(led, None)) is not None and follows.last_known and follows.leader == broker:
        return False
    after = sorted(n for n in history.epochs if n > epoch.epoch and n not in history.coverage.unnamed)
    if after and after[0] > epoch.epoch + 1 and not accounted(epoch, history.epochs[after[0]], history.removed):
        return True
    return _left_in_epoch(history, epoch, broker) or _left_after(history, epoch, broker, after)


def _left_in_epoch(history: History, epoch: Epoch, broker: int) -> bool:
    """Whether others state an ISR of an epoch without a replica, which its leader does not state."""
    if any(broker not in isr for isr in epoch.isrs_stated_by_others - {isr for isr, _ in epoch.isr}):
        return True
    _, isr = _last_state(history, epoch.epoch)
    return isr is not None and broker not in isr and broker in epoch.isr[-1][0]


def _left_after(history: History, epoch: Epoch, broker: int, after: Sequence[int]) -> bool:
    """The same of later epochs that the leader led as well, and of one without a leader.

    Args:
        after: numbers of later epochs, in order.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    own = {role_span.epoch for role_span in history.role_spans.get(leader, ())}
    for number in after:
        later = history.epochs[number]
        if history.kraft and later.leader == -1:
            return _left_before(history, epoch, broker, number)
        if later.leader != epoch.leader:
            return False
        if number not in own and (not later.isr or any(broker not in isr for isr, _ in later.isr)):
            return True
    return False


def _left_before(history: History, epoch: Epoch, broker: int, number: int) -> bool:
    """Whether a replica may have left long before a later epoch without a leader: it may have left as its process
    ended, but where changes of the state between have no line, it may have done so at any of them.
    """
    (last, _), (then, isr) = _last_state(history, epoch.epoch), _last_state(history, number)
    between = range(last, then) if last is not None and then is not None else ()
    return (isr is None or broker not in isr) and any(state not in history.states for state in between)


def _last_state(history: History, epoch: int) -> tuple[int | None, frozenset[int] | None]:
    """The last partition epoch (zkVersion) that anybody states of a leader epoch, and its ISR where it is stated."""
    last = max((state for state, (of, _) in history.states.items() if of == epoch), default=None)
    return last, history.states[last][1] if last is not None else None


def next_start(history: History, broker: int, number: int, hw: int) -> int | None:
    """Where the first later leader began that did so below a high watermark, and under which a replica may have reached
    it; None where its files tell which epochs its log is of (before message format v2 they do not).
    """
    disk = history.disks.get(broker, NO_DISK)
    if disk.end is not None and disk.lineage.entries:
        return None
    later = [e for n, e in sorted(history.epochs.items()) if n > number and e.leader_took_up]
    later = [e for e in later if (end := at_most(history, e.leader, e.epoch)) is None or end >= hw]
    starts = (
        e.start if e.start is not None else e.start_low for e in later if not _fetched_none(history, broker, hw, e)
    )
    return next((start for start in starts if start < hw), None)


def _fetched_none(history: History, broker: int, hw: int, epoch: Epoch) -> bool:
    """Whether a replica that holds other records than a later leader right below its high watermark did not reach it
    under that leader: a follower first cuts its log to its own high watermark (ReplicaManager.makeFollowers to 0.10),
    so all between that and a higher one it fetched.
    """
    leader = epoch.leader if epoch.leader is not None else -1
    ends = [history.disks.get(one, NO_DISK).end or 0 for one in (broker, leader)]
    last = min(hw, ends[1]) - 1
    return ends[0] >= hw and any(first <= last < end for first, end in history.diverging_ranges(broker, leader))


def agreed(log: Lineage, other: Lineage, end: int) -> Lineage:
    """A log as far as another one gives the same epochs; from there on it is not known."""
    differ, unknown = differences(log, other, 0, end)
    first = min((start for start, _ in (*differ, *unknown)), default=end)
    return log.truncated(first).begin(UNKNOWN, first) if first < end else log
