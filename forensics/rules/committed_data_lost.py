"""The log of the partition's current leader lacks records that were committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from types import MappingProxyType

from forensics.case import Case
from forensics.replay.committed.divergence import have_nothing_in_common, is_maybe_replaced
from forensics.replay.committed.lost_by import truncated_before
from forensics.replay.committed.new_logs import last_leader_replaced_log
from forensics.replay.committed.open_losses import MoreLost, Unbounded, may_have_committed_unseen, more_lost
from forensics.replay.committed.proof import (
    Loss,
    PossibleLoss,
    losses,
    possible_losses,
    unserved,
)
from forensics.replay.committed.record_counts import records_lost, with_records
from forensics.replay.committed.short_current_leader import in_no_copy, in_no_log, left_with_less
from forensics.replay.committed.unknown_topics import left_without_topic
from forensics.replay.confidence import Weakness, weak_points
from forensics.replay.coverage import Printed, Span
from forensics.replay.facts.compaction import NOT_CLEANED
from forensics.replay.facts.deletions import may_be_deleted, seems_emptied
from forensics.replay.facts.log_dirs import moved_until
from forensics.replay.history import History, HwSource, HwStatement, ShortenedLog
from forensics.replay.inferences import joined
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Range, intersect, size
from forensics.replay.omissions.last_leader import maybe_controllers
from forensics.replay.traces.results import ServedAgain
from forensics.rules.acks import acks_facts
from forensics.rules.causes import CauseId
from forensics.rules.electable import electable_facts, with_changes
from forensics.rules.finding import (
    HERE,
    LOG,
    Fact,
    Finding,
    Help,
    Judgement,
    Rule,
    Severity,
    States,
    advised,
    all_of,
    brokers_text,
    count_text,
    judgement,
    offsets_text,
    perhaps_text,
    place,
    records_text,
    sentence,
)
from forensics.rules.group_resets import NamedReset, named_resets
from forensics.rules.other_directories import explained
from forensics.rules.quorum_advice import METADATA, metadata_advice
from forensics.rules.rescue import advice, copies_text, on_disk, outside_text
from forensics.rules.story import (
    BOTH_LOGS,
    CAUSE_OF,
    committed_facts,
    committed_ways,
    earlier_segments,
    emptied_text,
    found_shorter,
    leader_fact,
    leader_text,
    loss_cause,
    maybe_cleaned,
    more_lines,
    truncation_fact,
    went_back,
)
from forensics.rules.unclean_setting import allowed_facts, forbidden
from forensics.rules.wants import (
    Artefact,
    Question,
    Reason,
    Shows,
    Want,
    anywhere,
    from_offset,
    of,
    offsets_of,
)
from parsers.schema import DamageKind

ID = "committed-data-lost"

SERVED_AGAIN = "served_again_in_epoch"
"""Name of the value that states since which leader epoch the partition serves the records again."""

HELP = Help(
    finds=(
        """\
Records were below a high watermark, so they were committed. The log of the partition's current
leader does not hold them. A record is named by its offset and the leader epoch in which it was
written.""",
        """\
This happens in three ways. A later leader began to write at a lower offset, so other records,
or none, are at these offsets. The leader has no segment for these offsets, or a segment that
skips them although no log cleaner ran. The last leader restarted without the records, and no
other replica in the ISR has them.""",
    ),
    matters=(
        """\
Producers with acks=all received an acknowledgement for these records, and consumers may have
read them. No consumer can read them while this leader leads, even if a copy is left on a disk.""",
        """\
From 0.11 on, a replica that still has the records truncates them when it follows the current
leader. Retention, an operator or a reassignment can also delete that copy. Save it before you
start anything.""",
    ),
    evidence=(
        """\
A high watermark in a log line or a checkpoint file shows what was committed. Lines of
state-change.log about a new leader show its log end offset at that time. So do entries of
leader-epoch-checkpoint, and the first batch of a leader epoch.
Before 0.11, the offset at which the leader's segments differ from an older log implies it.""",
        """\
If a leader epoch was used twice, epochs do not show the order of leaders. This happens when
ZooKeeper or the metadata log was restored from an older copy. The rule then reports only what a
leader truncated when it followed another leader: its own log lines and both segments show it.""",
        """\
The number of records comes from the batch headers of a copy that still has them. Transaction
markers and offsets that compaction emptied do not count. Without such a copy, each offset counts
as one record. With transactions or compaction, the true number may be lower, even 0.""",
        """\
Even producers with acks=all got an acknowledgement if the ISR then had at least
min.insync.replicas members.""",
        """\
Consumers get only what is below the high watermark. A group's position in `__consumer_offsets`
shows that the records before it were committed, if the commit states a leader epoch (KIP-320,
Kafka 2.1 and later). A position that somebody sets by hand states none, so it shows nothing.
A loss that only such a commit shows is inferred.""",
    ),
    not_when=(
        """\
After a failover, a former leader truncated records that were never committed (acks=0 or
acks=1). One replica truncated a record while its leader still had it. Retention, compaction,
delete-records or the deletion of the topic removed the records.""",
    ),
    versions=(
        """\
All. Before 0.11 a clean election can lose committed records (KIP-101). In all versions an
unclean election, a lost disk or a power failure can lose them.""",
        """\
From 0.11 to 1.1, two changes of leader in quick succession can leave other records on a follower
than on its leader (KIP-279). If that follower leads later, committed records may be lost.""",
        """\
Before 2.0.1, a replica could join the ISR before it had all committed records, and be elected
(KAFKA-7128). If the version is not known, the rule does not exclude that.""",
    ),
    to_do=(
        """\
Do not start or restart a broker, or move a partition, before the copy is made. A broker that you
stop keeps its own log. But others become leader of what it leads, and then replicas may truncate.
Copy the directory that the finding names under Keep.""",
        """\
If the finding names none, no copy in the evidence has the records: look in backups, mirrored
clusters and the systems that consumed them.""",
    ),
)
"""The text that ``forensics explain`` prints of the rule."""


def judge(history: History, case: Case) -> Judgement:
    """Compare every committed record with the current leader's log."""
    found = (_lost, _unserved, _lost_with_leader, _lost_everywhere)
    findings = [one for each in found for one in each(history, case)]
    return judgement(ID, findings, [want for wants in _WANTS for want in wants(history, case)])


def _lost(history: History, case: Case) -> Iterator[Finding]:
    """Yield a finding for each leader that lacked committed records."""
    found = losses(history)[0]
    for loss in found:
        held = replace(loss, holders=with_records(history, case, loss.holders))
        finding = _finding(history, case, held, last=loss is found[-1])
        yield finding if loss.served_by is None else _served_again(history, finding, loss, loss.served_by)


def _served_again(history: History, finding: Finding, loss: Loss, served: ServedAgain) -> Finding:
    """Return the finding about records that a later leader had: they could not be read until it led."""
    until, offsets = f"until leader epoch {served.epoch}", offsets_text(loss.ranges)
    has = f"Broker {served.leader} had them when it became leader"
    if served.holder is not None:
        has = f"Broker {served.holder}, the last leader, has them"
    check = (
        f"check the consumers of {HERE}: from leader epoch {loss.epoch.epoch} {until}, they got other records at "
        "these offsets, or none"
    )
    keep = f"broker {served.holder}'s copy of {HERE}, which has them" if served.holder is not None else ""
    return replace(
        finding,
        severity=Severity.WARNING,
        after={**finding.after, SERVED_AGAIN: served.epoch},
        summary=(
            f"{until}, the partition could not serve committed {offsets} ({count_text(loss.ranges)}): "
            f"{_how(history, loss)}. {has}"
        ),
        **advised(history.name, keep=keep, next_steps=(check,)),
    )


def _unserved(history: History, case: Case) -> Iterator[Finding]:
    """Yield a finding for committed records in a hole of the current leader's log."""
    lacking = unserved(history)
    if lacking is not None:
        yield _lacking(history, case, lacking)


def _lost_with_leader(history: History, case: Case) -> Iterator[Finding]:
    """Yield a finding for records that the last leader restarted without, if every other replica was looked at."""
    left = left_with_less(history)
    if left is not None and not _unseen(history):
        yield _gone_with_leader(history, case, *left)


def _lost_everywhere(history: History, case: Case) -> Iterator[Finding]:
    """Yield a finding for records that no replica has at the end of a complete trace, without a leader after that."""
    loss = in_no_log(history)
    if loss is None:
        return
    cut = (one for one in history.truncations if intersect(loss.ranges, [(one.target, one.end)]))
    shortened = [one for one in history.shortened_logs if intersect(loss.ranges, [(one.target, one.end)])]
    yield _served_no_more(
        history,
        case,
        loss,
        "each replica that had them truncated its log or lost its end",
        [*(truncation_fact(history, one) for one in cut), *chain.from_iterable(map(found_shorter, shortened))],
        subject="log",
        not_because=("the trace states each change of every replica",),
        cause=CAUSE_OF[shortened[-1].cause] if shortened else CauseId.UNKNOWN,
    )


def _unseen(history: History) -> list[int]:
    """Return replicas without files, or without all lines, in the evidence: they may hold other records."""
    seen = {b for b in history.members if history.coverage.throughout(b) and on_disk(history, b)}
    return sorted(history.members - seen)


def _held_elsewhere(history: History, case: Case) -> list[Want]:
    """Return what would show whether a copy is left of the records that the last leader restarted without."""
    left = left_with_less(history)
    if left is not None:
        unseen = _unseen(history)
        ways = (of(unseen, Artefact.DATA_DIRECTORY, *BOTH_LOGS),)
        offsets = offsets_of(left[0].ranges)
        return [Want(Question.HELD_ELSEWHERE, ways, replicas=(left[1].replica,), offsets=offsets)] if unseen else []
    gone = in_no_copy(history)
    ways = (anywhere(Artefact.DATA_DIRECTORY),)
    return [Want(Question.READ_WHILE_RUNNING, ways, offsets=offsets_of(gone))] if gone else []


def _no_leader(history: History, case: Case) -> list[Want]:
    """Return what would show the current leader, if no line names one."""
    files = (Artefact.STATE_CHANGE_LOG, Artefact.CONTROLLER_LOG, Artefact.SEGMENTS)
    ways = tuple(anywhere(file) for file in files)
    return [Want(Question.CURRENT_LEADER, ways)] if history.current is None else []


def _no_high_watermark(history: History, case: Case) -> list[Want]:
    """Return what would show any high watermark, if none is known and records may have been committed."""
    if not may_have_committed_unseen(history):
        return []
    return [Want(Question.ANY_HIGH_WATERMARK, (anywhere(Artefact.HW_CHECKPOINT), anywhere(Artefact.SERVER_LOG)))]


def _possible(history: History, case: Case) -> list[Want]:
    """Return what would show whether records that may have been committed were."""
    return [_open(history, possible_loss) for possible_loss in possible_losses(history)]


def _order_or_writer(history: History, case: Case) -> list[Want]:
    """Return what would show the order of the leaders, or who wrote records whose writer is unknown."""
    if history.epoch_rollbacks:
        return [went_back(history)]
    unclear = losses(history)[1]
    return [_undated(history, unclear)] if unclear else []


def _of_leaders_files(history: History, case: Case) -> list[Want]:
    """Return what the current leader's files leave open."""
    leader = history.current.leader if history.current is not None else None
    if leader is None:
        return []
    cleaned = maybe_cleaned(history, [leader] if leader in history.facts.disks else [])
    return [*_unreadable(history, leader), *earlier_segments(history, leader), *cleaned]


def _open(history: History, possible_loss: PossibleLoss) -> Want:
    """Return what would show how far one leader had committed when the next began, or where that one began."""
    before, after = possible_loss.before, possible_loss.after
    if after.start is not None:
        roles = (_role(before), _role(after))
        return Want(
            Question.COMMITTED_BEFORE,
            committed_ways(history, before.leader),
            offsets=from_offset(after.start),
            epochs=roles,
        )
    if history.whole_with_files(after.leader):
        way = of([after.leader], Artefact.PARTITION_LOGGER, Artefact.FETCHER_LOGGER)
    else:
        way = of([after.leader], Artefact.SERVER_LOG, Artefact.SEGMENTS)
    return Want(Question.EPOCH_START, (way,), epochs=(_role(after),))


def _role(epoch: Epoch) -> tuple[int, int | None]:
    return (epoch.epoch, epoch.leader)


def _created_again(history: History, case: Case) -> list[Want]:
    """Return a want if the last leader, alone in its ISR, got a new log after it had led."""
    epoch = last_leader_replaced_log(history)
    if epoch is None:
        return []
    return [Want(Question.COMMITTED_BEFORE_NEW_LOG, committed_ways(history, epoch.leader), epochs=(_role(epoch),))]


def _topic_unknown(history: History, case: Case) -> list[Want]:
    """Return a want if brokers found that the controllers do not know the topic, and nothing shows its deletion."""
    found = tuple(one.broker for one in left_without_topic(history))
    ways = (anywhere(Artefact.OPERATORS),)
    return [Want(Question.TOPIC_DELETED, ways, replicas=found, topic=history.topic)] if found else []


def _undated(history: History, unclear: list[Range]) -> Want:
    """Return what would show which leader wrote the records in ``unclear``, among the evidence that is missing."""
    offsets = offsets_of(unclear)
    if history.contested:
        epochs = ((min(history.contested), None),)
        return Want(Question.WENT_ON_WITH, (anywhere(Artefact.CLIENTS),), offsets=offsets, epochs=epochs)
    without = tuple(
        b for b in sorted(history.members) if b not in history.facts.disks or not history.facts.disks[b].lineage.entries
    )
    if without and not history.protocol.truncates_to_hw:
        ways = (of(without, Artefact.SEGMENTS), of(without, Artefact.EPOCH_CHECKPOINT))
        return Want(Question.EPOCHS_OF_RECORDS, ways, offsets=offsets)
    old = history.protocol.truncates_to_hw
    question = Question.WRITER_OF_OLD_RECORDS if old else Question.WRITER_OF_RECORDS
    return Want(question, (of(history.coverage.shown_missing(*Span), *BOTH_LOGS),), offsets=offsets)


def _unreadable(history: History, leader: int) -> list[Want]:
    """Return a want for damage in the log that the partition serves, unless it is known that it lacks records."""
    disk = history.facts.disks.get(leader)
    if disk is None or not disk.damage or unserved(history) is not None:
        return []
    if disk.gaps:
        ways = (of([leader], Artefact.LISTING), of([leader], Artefact.SERVER_LOG))
    else:
        ways = (of([leader], Artefact.SEGMENTS), anywhere(Artefact.CLIENTS))
    worst = disk.damage[0]
    damaged = Reason(Shows.DAMAGE, worst.kind.value, worst.text)
    return [Want(Question.STILL_SERVED, ways, replicas=(leader,), because=damaged)]


def _later_leaders(history: History, case: Case) -> list[Want]:
    """Return brokers that may know of a later leader, if no line of a controller is in the evidence."""
    if history.coverage.elections:
        silent = maybe_controllers(history, case.with_data)
    else:
        silent = [b for b in sorted(history.members) if history.coverage.is_silent(b)]
    return [Want(Question.LATER_LEADER_UNSEEN, (of([broker], Artefact.STATE_CHANGE_LOG),)) for broker in silent]


def _leader_unseen(history: History, case: Case) -> list[Want]:
    """Return a want for the log of the last leader, if neither its segments nor all lines on its roles are there.

    Alone in the ISR it may have restarted without its records: no other replica noticed.
    """
    current = history.current
    if current is None or current.leader is None or history.played is not None or on_disk(history, current.leader):
        return []
    others = (current.last_isr or frozenset()) - {current.leader}
    if others or history.coverage.has(current.leader, Printed.ROLES, Span.WITHIN, Span.AFTER):
        return []
    return [Want(Question.ITS_FILES, (of([current.leader], Artefact.DATA_DIRECTORY),))]


def _missing_lines(history: History, case: Case) -> list[Want]:
    """Return wants for lines that are shown to be missing."""
    return [*more_lines(history)]


_WANTS: tuple[Callable[[History, Case], list[Want]], ...] = (
    _held_elsewhere,
    _no_leader,
    _no_high_watermark,
    _possible,
    _created_again,
    _topic_unknown,
    _order_or_writer,
    _of_leaders_files,
    _later_leaders,
    _leader_unseen,
    _missing_lines,
)
"""Everything that may leave the answer open, in the order in which reports name it."""


def _weak(history: History, loss: Loss) -> tuple[Weakness, ...]:
    """Return why a loss is not proven."""
    statement, epoch = loss.statements[0], loss.epoch
    of_leader = [one for one in history.facts.forks if epoch.leader in one.brokers]
    weak = {
        Weakness.HIGH_WATERMARK_IMPLIED: statement.implied,
        Weakness.READ_BY_GROUP_ALONE: statement.group is not None,
        Weakness.SCRAPED_ALONE: statement.how is HwSource.SCRAPED,
        Weakness.EPOCH_START_IMPLIED: epoch.begins.implied,
        Weakness.MAYBE_DELETED: may_be_deleted(history, loss.lineage, loss.ranges, epoch.epoch),
        Weakness.OTHERWISE_EXPLAINED: _emptied(history, loss),
        Weakness.DAMAGED: is_maybe_replaced(history, of_leader),
        Weakness.STRANGERS: have_nothing_in_common(history.facts.forks),
    }
    return weak_points(weak)


def _emptied(history: History, loss: Loss) -> bool:
    """Return whether the replica that had the records seems to have deleted them with all of its log."""
    replica, epoch = loss.statements[0].replica, loss.epoch.epoch
    deleted = may_be_deleted(history, loss.lineage, loss.ranges, epoch)
    return deleted and seems_emptied(history, replica, epoch, loss.ranges)


def _finding(history: History, case: Case, loss: Loss, *, last: bool) -> Finding:
    statement, epoch = loss.statements[0], loss.epoch
    first = loss.ranges[0][0]
    cause = loss_cause(history, epoch, first, statement.epoch)
    holders = tuple(loss.holders)
    written = tuple(sorted({e for a, b in loss.ranges for e in _epochs(loss, a, b) if e >= 0}))
    facts = committed_facts(loss.statements, loss.ranges[-1][1])
    since = statement.epoch
    shorter = (
        s
        for s in history.shortened_logs
        if s.replica == epoch.leader and since <= s.epoch <= epoch.epoch and s.target <= first < s.end
    )
    facts += chain.from_iterable(map(found_shorter, shorter))
    facts += [truncation_fact(history, one) for one in truncated_before(history, epoch, first, since)]
    facts = with_changes(facts, electable_facts(history, since, epoch))
    facts.append(leader_fact(epoch, () if loss.while_leading else loss.ranges))
    facts += [
        truncation_fact(history, c)
        for c in history.truncations
        if c.replica != epoch.leader and c.epoch >= epoch.epoch and c.target <= first < c.end
    ]
    for broker, ranges in loss.holders.items():
        facts.append(_holder_fact(history, broker, ranges))
    least, most, unknown = records_lost(history, case, loss.ranges, loss.holders)
    facts += acks_facts(history, case, written, loss.statements)
    facts += [*allowed_facts(history, cause), *_at_stake(history)]
    resets = named_resets(history, loss)
    facts = [*facts, *_affected_facts(resets, facts)]
    more = more_lost(history, loss)
    changed = moved_until(history, epoch.leader, epoch.time) if epoch.leader is not None and epoch.start == 0 else None
    perhaps = perhaps_text(more.end) if more.any_near else ""
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        weak=_weak(history, loss),
        **place(history),
        replicas=holders,
        epochs=tuple(sorted({*written, epoch.epoch})),
        offsets=loss.ranges,
        records=(least, None if more.any_near else most),
        maybe_to=more.end if more.any_near else None,
        summary=(
            f"{LOG[history.quorum is not None]} lost committed {offsets_text(loss.ranges)} "
            f"({_count(loss, least, most)}{perhaps}) of {_written_text(history, loss, written)}: "
            f"{_how(history, loss)}. "
            + sentence(copies_text(history, loss) if holders else outside_text(history, case, loss))
        ),
        facts=tuple(facts),
        before={"high_watermark": statement.high_watermark},
        after={"log_end_offset": epoch.start} if epoch.start is not None and not loss.while_leading else {},
        rests_on=joined(statement.by, epoch.begins.by),
        inferences=(
            *_read_alone(statement),
            *([explained(epoch.leader, changed)] if epoch.leader is not None and changed is not None else []),
        ),
        uncertain=(
            *_uncertain(history, loss, more),
            *_maybe_deleted(history, loss),
            *emptied_text(loss.statements[0].replica if _emptied(history, loss) else None),
            *([_later(history, more.later)] if last and more.later is not None else []),
            *_no_records(unknown),
            *([_maybe_unflushed(loss)] if more.unflushed and cause is CauseId.UNKNOWN else []),
        ),
        not_because=(
            (
                "the leader that wrote the records had already marked them committed, so this is not the normal "
                "removal of uncommitted records"
            ),
        ),
        cause=cause,
        groups=tuple(one.values for one in resets),
        **(
            metadata_advice(history, loss)
            if history.quorum
            else advice(history, case, loss, groups=resets, last=forbidden(history, case, cause))
        ),
    )


def _at_stake(history: History) -> list[Fact]:
    return [Fact(METADATA, states=States.CONTEXT)] if history.quorum is not None else []


def _affected_facts(resets: Sequence[NamedReset], facts: Sequence[Fact]) -> Iterator[Fact]:
    """Yield the last commits of groups, as far as no fact before is about them."""
    known = {ref for fact in facts for ref in fact.refs}
    for one in (reset.group for reset in resets):
        if known.isdisjoint(one.refs):
            gone = f"the records from offset {one.restart} on are lost"
            text = f"consumer group {one.group} committed position {one.position} last: {gone}"
            yield Fact(text, time=one.time, refs=one.refs, states=States.CONTEXT)


def _read_alone(statement: HwStatement) -> tuple[str, ...]:
    """Return why what a client saw shows that records were committed, where nothing else does."""
    if statement.how is HwSource.SCRAPED:
        shown = "only an exporter of metrics shows that the records were committed"
        return (f"{shown}: it printed what the leader answers a consumer that asks for the partition's end",)
    if statement.group is None:
        return ()
    shown = f"only a commit of consumer group {statement.group} shows that the records were committed"
    return (f"{shown}: it states the leader epoch that was read, and a position that is set by hand states none",)


def _written_text(history: History, loss: Loss, written: Sequence[int]) -> str:
    """Return the leader epochs of lost records, in words.

    If only lines exist and the next epochs have no known leader, the writing epoch is one of several.
    """
    if not written:
        latest = max(statement.epoch for statement in loss.statements)
        if latest < 0:
            return "an unknown leader epoch"
        return f"leader epoch {latest}{' or an earlier one' if latest else ''}"
    dated = any(history.facts.disks[broker].lineage.entries for broker in loss.holders if broker in history.facts.disks)
    later = bool(history.coverage.unnamed_between(written[-1], loss.epoch.epoch))
    some = f"leader epoch{'' if len(written) == 1 else 's'} {all_of([str(number) for number in written])}"
    return some + (" or a later one" if later and not dated else "")


def _lacking(history: History, case: Case, loss: Loss) -> Finding:
    """Records that are in the leader's lineage, and in none of its segments."""
    leader = loss.epoch.leader
    assert leader is not None
    disk = history.facts.disks[leader]
    damage = next((d for d in disk.damage if d.kind in (DamageKind.GAP, DamageKind.SKIPPED)), None)
    why = history.copies[leader].inner_why
    not_because = [NOT_CLEANED] if disk.lacking else []
    not_because += [f"no segment file was left out of the copy: {why}"] if why else []
    return _served_no_more(
        history,
        case,
        loss,
        f"broker {leader}, the current leader, has no {'batch' if disk.lacking else 'segment'} with them",
        [Fact(damage.text, broker=leader, refs=(damage.ref,), states=States.HOLE)] if damage is not None else [],
        subject="segment",
        not_because=tuple(not_because),
    )


def _gone_with_leader(history: History, case: Case, loss: Loss, shortened: ShortenedLog) -> Finding:
    """Return a finding for records that the last leader restarted without, before any other broker led without them."""
    leader = loss.epoch.leader
    isr = loss.epoch.last_isr or frozenset()
    alone = ", the only replica in the ISR," if isr == {leader} else ""
    stop = f"stop broker {leader}, if it runs: once it leads, each follower truncates what broker {leader} lacks"
    never = f"start {brokers_text(tuple(loss.holders))} while broker {leader} runs" if loss.holders else ""
    return _served_no_more(
        history,
        case,
        loss,
        f"broker {leader}, the leader{alone or ','} restarted with log end offset {shortened.target}",
        [*found_shorter(shortened)],
        subject="leader",
        not_because=("no other member of the ISR has them, so no clean election brings them back",),
        cause=CAUSE_OF[shortened.cause],
        stop=(stop,),
        never=(never,) if never else (),
    )


def _served_no_more(
    history: History,
    case: Case,
    loss: Loss,
    how: str,
    facts: list[Fact],
    *,
    subject: str,
    not_because: tuple[str, ...],
    cause: CauseId = CauseId.UNKNOWN,
    stop: tuple[str, ...] = (),
    never: tuple[str, ...] = (),
) -> Finding:
    """Return a finding for records that no later leader overwrote, and that no broker serves any more."""
    statement, holders = loss.statements[0], tuple(loss.holders)
    least, most, unknown = records_lost(history, case, loss.ranges, loss.holders)
    written = sorted({e for a, b in loss.ranges for e in _epochs(loss, a, b) if e >= 0})
    facts = [*committed_facts(loss.statements, loss.ranges[-1][1]), *facts]
    facts += [_holder_fact(history, broker, ranges) for broker, ranges in loss.holders.items()]
    facts += acks_facts(history, case, written, loss.statements)
    resets = named_resets(history, loss)
    facts = [*facts, *_affected_facts(resets, facts)]
    held = copies_text(history, loss) if holders else outside_text(history, case, loss)
    return Finding(
        rule=ID,
        severity=Severity.CRITICAL,
        weak=weak_points(
            {
                Weakness.HIGH_WATERMARK_IMPLIED: statement.implied,
                Weakness.READ_BY_GROUP_ALONE: statement.group is not None,
                Weakness.SCRAPED_ALONE: statement.how is HwSource.SCRAPED,
                Weakness.MAYBE_DELETED: may_be_deleted(history, loss.lineage, loss.ranges, loss.epoch.epoch + 1),
            }
        ),
        **place(history),
        replicas=holders,
        epochs=tuple(sorted({*written, loss.epoch.epoch})),
        offsets=loss.ranges,
        records=(least, most),
        subject=subject,
        summary=(
            f"the partition can no longer serve committed {offsets_text(loss.ranges)} "
            f"({_count(loss, least, most)}): {how}. {sentence(held)}"
        ),
        facts=tuple(facts),
        before={"high_watermark": statement.high_watermark},
        rests_on=statement.by,
        uncertain=_no_records(unknown),
        not_because=not_because,
        cause=cause,
        groups=tuple(one.values for one in resets),
        **advice(history, case, loss, stop, never, resets),
    )


def _count(loss: Loss, least: int, most: int) -> str:
    """Return how many offsets are gone, and how many records if some offsets held none or may have held none."""
    if least == size(loss.ranges):
        return records_text(least, most)
    if not least and most:  # ``_no_records`` says why the number of records is unknown
        return count_text(loss.ranges)
    return f"{count_text(loss.ranges)}, {records_text(least, most)}"


def _no_records(ranges: list[Range]) -> tuple[str, ...]:
    """Return why the number of records is not exact."""
    if not ranges:
        return ()
    why = "transaction markers and compacted records have offsets too"
    return (f"how many of the {offsets_text(ranges)} were records is unknown: {why}",)


def _how(history: History, loss: Loss) -> str:
    """Return which leader began without the records, in words."""
    statement, epoch = loss.statements[0], loss.epoch
    who = brokers_text([epoch.leader], history.controllers) if epoch.leader is not None else "an unknown broker"
    if loss.while_leading:
        return f"the log of {who} became shorter while it led (leader epoch {epoch.epoch})"
    if epoch.epoch <= statement.epoch and not loss.became_leader:
        return (
            f"{brokers_text([statement.replica], history.controllers)} wrote them as leader, and later followed {who} "
            f"(leader epoch {epoch.epoch}), which has other records at these offsets"
        )
    begun = f" at offset {epoch.start}" if epoch.start is not None else ""
    return f"{who} became leader (epoch {epoch.epoch}){begun} without them"


def _uncertain(history: History, loss: Loss, more: MoreLost) -> tuple[str, ...]:
    """Return why more may be lost than is proven, in words."""
    if more.unordered:
        return ("more may be lost: the leader epochs do not show the order of the leaders",)
    unknown, last = "more may be lost: the evidence does not show", loss.ranges[-1][1] - 1
    why = f", because {_UNBOUNDED[more.why]}" if more.why is not None and more.why in _UNBOUNDED else ""
    beyond = f"{unknown} how far {{}} had committed beyond offset {last}{why}{_truncated_too(more)}"
    return (
        *([beyond.format(leader_text(history, more.beyond))] if more.beyond is not None else []),
        *(f"{unknown} whether {leader_text(history, loss.epoch)} had {offsets_text([piece])}" for piece in more.below),
    )


_UNBOUNDED: Mapping[Unbounded, str] = MappingProxyType(
    {
        Unbounded.NO_FILES: "not all of its log is in the evidence",
        Unbounded.CREATED: "it began with an empty log later",
        Unbounded.SHORTENED: "the end of its log is gone",
        Unbounded.NO_LINES: "its log lines begin after it led",
    }
)
"""The reason for which the end of what may be lost is unknown; a log with more records is a reason by itself."""


def _maybe_deleted(history: History, loss: Loss) -> tuple[str, ...]:
    """Return why fewer records may be lost, in words; a quorum deletes none of its log that no snapshot covers."""
    if history.quorum is not None or not may_be_deleted(history, loss.lineage, loss.ranges, loss.epoch.epoch):
        return ()
    shown = "only the leader's server.log of that time states it, and not all of it is in the evidence"
    return (f"fewer may be lost: retention or a client may have deleted the first of them before; {shown}",)


def _truncated_too(more: MoreLost) -> str:
    """Return which offsets beyond the lost ones their leader truncated later, as the end of a sentence."""
    if not more.truncated:
        return ""
    verb, was = ("was", "it was") if size(more.truncated) == 1 else ("were", "they were")
    return f". {sentence(offsets_text(more.truncated))[:-1]} {verb} truncated too: whether {was} committed is unknown"


def _maybe_unflushed(loss: Loss) -> str:
    """Return that an unclean stop may be the cause."""
    return (
        f"the cause may be a crash or a power failure: broker {loss.epoch.leader} had not stopped cleanly before it "
        "led, so records that it had not flushed may be gone"
    )


def _later(history: History, one: PossibleLoss) -> str:
    """Return which later records may be lost too, without proof."""
    begun = f" at offset {one.after.start}" if one.after.start is not None else ""
    return (
        f"other records may be lost too: the evidence does not show how far {leader_text(history, one.before)} had "
        f"committed when {leader_text(history, one.after)} began{begun}"
    )


def _epochs(loss: Loss, first: int, end: int) -> set[int]:
    inside = {epoch for epoch, start in loss.lineage.entries if first <= start < end}
    return inside | {loss.lineage.epoch_at(first)}


def _holder_fact(history: History, broker: int, ranges: tuple[tuple[int, int], ...]) -> Fact:
    forks = [f for f in history.facts.forks if broker in (f.left, f.right) and intersect(f.ranges, ranges)]
    refs = tuple(dict.fromkeys(f.left_ref if broker == f.left else f.right_ref for f in forks))
    others = tuple(sorted({f.right if broker == f.left else f.left for f in forks}))
    have = "has" if len(others) == 1 else "have"
    differs = f"; {brokers_text(others, history.controllers)} {have} other records there" if others else ""
    text, disk = f"still has {offsets_text(ranges)}{differs}", history.facts.disks.get(broker)
    if not refs and disk is not None and disk.end_ref is not None:
        return Fact(text, broker=broker, refs=(disk.end_ref,), states=States.CONTEXT)
    return Fact(text, broker=broker, refs=refs)


RULE = Rule(
    id=ID,
    severity=Severity.CRITICAL,
    judge=judge,
    summary="The log of the partition's current leader lacks records that were committed.",
    help=HELP,
)
