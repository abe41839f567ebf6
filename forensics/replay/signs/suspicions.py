"""Lines that suggest a loss or a truncation by themselves, if the evidence can neither prove nor exclude it.

A verdict may be *unknown* because lines are missing, while a line in the evidence shows that something is wrong. For
example, a leader begins below a high watermark stated before, or a replica truncates below its own. Each such sign is
one entry of ``SIGNS``. It proves nothing: other possible explanations are listed with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from forensics.replay.committed.surviving_copies import holders
from forensics.replay.facts.deletions import log_start_at
from forensics.replay.facts.directory import LiveBy, Ref
from forensics.replay.facts.log_dirs import moved
from forensics.replay.facts.printed_hws import PrintedHw
from forensics.replay.highest_until import HighestUntil
from forensics.replay.history import History, Role, ShortenedLog, once
from forensics.replay.leader_epochs import Epoch
from forensics.replay.lineage import Lineage, differences, intersect, subtract
from forensics.replay.roles.steps import REMOVES, LogBefore, RoleSpan, Sample, Step, StepKind, came_back
from forensics.replay.signs.group_signs import beyond_last_leader
from forensics.replay.signs.isr_signs import (
    fell_to_recovered_leader,
    fell_to_unclean_leader,
    lacks_records_of_last_isr,
    led_from_outside,
)
from forensics.replay.signs.kept_as_follower import kept_more_than_its_leader
from forensics.replay.signs.led_after_truncating import (
    end_may_be_gone,
    led_after_truncating,
    led_while_another_had_more,
    member_came_back_shorter,
    recovered_while_another_had_more,
)
from forensics.replay.signs.printed_before import (
    answered_ahead,
    first_lines,
    highest_printed,
    printed_above,
    printed_before,
)
from forensics.replay.signs.refusal_signs import (
    append_refused,
    beyond_the_end,
    committed_beyond,
    leader_is_shorter,
    line_of,
    reader_diverges,
    refused_to_truncate,
    set_back,
    starts_above,
)
from forensics.replay.signs.shorter_loads import led_after_loading_shorter, loaded_below_stated, loaded_shorter
from forensics.replay.signs.sign import Sign, Suspicion
from forensics.replay.signs.stray_signs import topic_gone
from forensics.replay.signs.truncation_signs import (
    highest_stated,
    truncated_below_own,
    truncated_below_printed,
)
from forensics.replay.signs.unclean_elections import last_isr_truncated, truncated_for_last_known
from forensics.replay.signs.unlike_copies import differ_in_one_epoch, differ_within
from parsers.schema import Kind


def suspicions(history: History) -> list[Suspicion]:
    """Return all signs, in the order of ``SIGNS`` and of leader epochs."""
    return [found for look in SIGNS.values() for found in look(history)]


def _began_below(history: History) -> Iterator[Suspicion]:
    """Yield leaders that begin below a high watermark stated before, in an earlier epoch or an earlier process.

    Committed records stay in the log of every leader (KIP-101). So records are gone from the partition, unless the
    topic was created again in between. Each loss is reported once: later leaders are compared only with statements made
    since.
    """
    since = (-1, -1)
    for broker, at, role_span in _begun(history):
        start = role_span.start_end
        if start is None or role_span.start_ref is None or _highest_by_leaders(history).until(role_span.epoch) <= start:
            continue
        stated = _stated_before(history, at, role_span, since)
        if stated is None:
            continue
        if max(start, log_start_at(history.facts.log_starts, stated[0].replica, stated[1].ref.row)) >= stated[1].value:
            continue  # all of it had been deleted from the start of the log
        since = (role_span.epoch, at)
        before, sample = stated
        shortened = _shortened(history, broker, role_span)
        refs = (sample.ref, role_span.start_ref, *(shortened.refs if shortened is not None else ()))
        yield Suspicion(
            Sign.EPOCH_BELOW_HIGH_WATERMARK, broker, before.replica, role_span.epoch, before.epoch,
            _kept_from(history, before.replica, sample, start), sample.value, role_span.time,
            tuple(dict.fromkeys(refs)), moved(history, broker, before.time, role_span.time), shortened, start,
        )  # fmt: skip


def _shortened(history: History, broker: int, role_span: RoleSpan) -> ShortenedLog | None:
    """Return how a leader's log was shortened to the offset at which it began to lead, if its own lines show it."""
    own = [one for one in history.shortened_logs if one.replica == broker and one.target == role_span.start_end]
    until = role_span.start_ref.row if role_span.start_ref is not None else None
    before = [one for one in own if until is not None and (one.refs[0].row or 0) <= until]
    return before[-1] if before else None


@once
def _begun(history: History) -> Sequence[tuple[int, int, RoleSpan]]:
    """Return role spans of leaders with a known start, by leader epoch: broker, position among its spans, and span."""
    found = [
        (broker, at, one)
        for broker, spans in history.role_spans.items()
        for at, one in enumerate(spans)
        if one.role is Role.LEADER and one.start_end is not None and one.start_ref is not None
    ]
    return sorted(found, key=lambda item: (item[2].epoch, item[0], item[1]))


@once
def _highest_by_leaders(history: History) -> HighestUntil:
    """Return how high leaders stated their high watermark up to each leader epoch."""
    return HighestUntil((one.epoch, sample.value) for _, one, sample in _stated_by_leaders(history))


def _stated_before(
    history: History, at: int, role_span: RoleSpan, since: tuple[int, int]
) -> tuple[RoleSpan, Sample] | None:
    """Return the highest high watermark that a leader stated before a role began.

    The order comes from the leader epochs, or from the leader's own lines, whatever its role then.

    Args:
        history: the partition.
        at: position of the role among the role spans of its broker.
        role_span: the role.
        since: leader epoch, and position among the leader's spans, from which on statements count.
    """
    for place, one, sample in _stated_by_leaders(history):
        counts = (one.epoch, place) >= since and (
            0 <= one.epoch < role_span.epoch or _precedes(one, place, role_span, at)
        )
        if counts and (_stated_in_order(one, role_span) or _in_that_role(history, one, sample)):
            return one, sample
    return None


def _precedes(one: RoleSpan, place: int, role_span: RoleSpan, at: int) -> bool:
    """Return whether a role is an earlier one of the same broker in the same leader epoch."""
    same = one.replica == role_span.replica and one.epoch == role_span.epoch
    return same and place < at and not one.replica_removed


@once
def _stated_by_leaders(history: History) -> Sequence[tuple[int, RoleSpan, Sample]]:
    """Return the high watermarks of leaders, the highest first: position among the broker's spans, role, statement."""
    found = [
        (place, one, sample)
        for spans in history.role_spans.values()
        for place, one in enumerate(spans)
        for sample in (one.hw, one.start_hw)
        if one.role is Role.LEADER and sample is not None
    ]
    return sorted(found, key=lambda stated: (-stated[2].value, -stated[1].epoch))


def _stated_in_order(one: RoleSpan, role_span: RoleSpan) -> bool:
    """Return whether the order of one broker's lines shows that a statement came before a leader began empty."""
    return one.replica == role_span.replica and role_span.start_end == 0 and one.role is Role.LEADER


def _in_that_role(history: History, role_span: RoleSpan, sample: Sample) -> bool:
    """Return whether a high watermark was stated in a role.

    It was if the line of the role states it, or if no line of the replica is missing, so that no later role is unseen.
    """
    return sample.ref.row in {ref.row for ref in role_span.refs} or history.coverage.whole(role_span.replica)


def _last_came_back(history: History) -> Iterator[Suspicion]:
    """Yield leaders that were alone in the ISR and restarted with a log that ends below their stated high watermark.

    Only if no other copy in the evidence has the missing records, and no other leader since. The finding says that a
    replica whose files are not in the evidence may have them.
    """
    for one in history.shortened_logs:
        found = _stated_alone(history, one)
        gone = max((deletion.log_start for deletion in history.deletions), default=0)
        gone = max(gone, log_start_at(history.facts.log_starts, one.replica, one.refs[0].row))
        if not history.coverage.whole(one.replica):
            continue  # in an unseen role others may have joined the ISR
        if found is not None and gone < found[1].value and not _held(history, one, found[1].value):
            last, known = found
            yield Suspicion(
                Sign.LAST_IN_ISR_CAME_BACK_SHORTER, one.replica, one.replica, last.epoch, last.epoch,
                _kept_from(history, one.replica, known, one.target), known.value, one.time, (known.ref, *one.refs),
                shortened=one, target=one.target,
            )  # fmt: skip


def _leader_came_back(history: History) -> Iterator[Suspicion]:
    """Yield leaders that restarted with a shorter log and led next, while the other ISR members had more.

    What all ISR members have is committed as soon as the leader has seen their next fetches. If a line states a high
    watermark there, the loss is known and this is no sign.
    """
    for one in history.shortened_logs:
        epoch, after = history.epochs.get(one.epoch), _led_next(history, one.epoch)
        if epoch is None or after is None or {epoch.leader, after.leader} != {one.replica}:
            continue
        members = sorted((epoch.last_isr or frozenset()) - {one.replica})
        known = [(sample, broker) for broker in members if (sample := _end_after(history, broker, one.epoch))]
        least, member = min(known, key=lambda found: (found[0].value, found[1]), default=(None, None))
        if least is not None and member is not None and after.start == one.target < min(least.value, one.end):
            yield Suspicion(
                Sign.LEADER_CAME_BACK_SHORTER, one.replica, member, after.epoch, one.epoch, one.target,
                min(least.value, one.end), one.time, (least.ref, *one.refs), shortened=one, target=one.target,
                more=end_may_be_gone(history, member, least.value, least.ref),
            )  # fmt: skip


def _led_next(history: History, number: int) -> Epoch | None:
    """Return the first later epoch that a broker led; None if no line names an epoch in between."""
    after = next((epoch for epoch in history.epochs.after(number) if epoch.leader_took_up), None)
    named = after is not None and not history.coverage.unnamed_between(number, after.epoch)
    return after if named else None


def _end_after(history: History, broker: int, number: int) -> Sample | None:
    """Return the log end offset with which a follower left a leader epoch, if nothing was removed from its log then."""
    for one, two in itertools.pairwise(history.role_spans.get(broker, ())):
        if (
            one.epoch == number
            and one.role is Role.FOLLOWER
            and two.start_end is not None
            and two.start_ref is not None
        ):
            kept = len(one.loads) == len(one.steps)
            return Sample(two.start_end, two.start_ref, two.time) if kept else None
    return None


def _held(history: History, shortened: ShortenedLog, end: int) -> bool:
    """Return whether other replicas hold everything that a log lacks below an offset.

    Their files show it, or the start of a later epoch that one of them led: it had all offsets below.
    """
    epoch = history.epochs.get(shortened.epoch)
    lineage = shortened.lineage if shortened.lineage.entries or epoch is None else epoch.lineage
    lacks = [(shortened.target, end)] if shortened.target < end else []
    held = holders(history, lineage, lacks)
    others = [piece for broker, pieces in held.items() if broker != shortened.replica for piece in pieces]
    for later in _led_by_others(history, shortened):
        had = intersect(lacks, [(0, later.begins.low)])
        others += [p for piece in had for p in subtract([piece], differences(lineage, later.lineage, *piece)[0])]
    return not subtract(lacks, others)


def _led_by_others(history: History, shortened: ShortenedLog) -> list[Epoch]:
    """Return the later epochs that another broker led."""
    later = history.epochs.after(shortened.epoch)
    return [one for one in later if one.leader_took_up and one.leader not in (None, -1, shortened.replica)]


def _stated_alone(history: History, shortened: ShortenedLog) -> tuple[RoleSpan, Sample] | None:
    """Return the high watermark that a replica stated as the only ISR member, before its log was found shorter."""
    at = shortened.refs[0].row or 0
    spans = [span for span in history.role_spans.get(shortened.replica, ()) if span.refs]
    led = [span for span in spans if (span.refs[0].row or 0) < at and span.role is Role.LEADER and span.isr]
    if not led or led[-1].isr[-1][0] != {shortened.replica}:
        return None
    stated = [sample for sample in (led[-1].hw, led[-1].start_hw) if sample is not None and (sample.ref.row or 0) < at]
    known = max(stated, key=lambda sample: sample.value, default=None)
    return (led[-1], known) if known is not None else None


def _kept_from(history: History, broker: int, known: Sample, start: int) -> int:
    """Return the first offset that can be lost: records that its leader had deleted from the start of the log do not
    count.
    """
    kept = log_start_at(history.facts.log_starts, broker, known.ref.row)
    return kept if start < kept < known.value else start


def _began_empty_after_failure(history: History) -> Iterator[Suspicion]:
    """Yield leaders alone in the ISR that begin with a new, empty log after their log directory failed.

    Only if a follower had more committed and then has nothing: its high watermark fell to 0, or it truncated to 0.
    """
    fell = [
        one
        for one in history.facts.complaints
        if one.kind == Kind.HW_REGRESSED and one.hw == 0 and one.hw_before and one.broker is not None
    ]
    for broker, at, role_span in _begun(history):
        created = _made_after_failure(history, broker, at)
        known = max(
            [
                (one.hw_before or 0, one.broker or 0, line_of(one, f"high watermark {one.hw_before}"))
                for one in fell
                if one.broker != broker
            ]
            or _committed_before(history, broker, role_span),
            key=lambda found: found[:2],
            default=None,
        )
        if created is None or known is None or role_span.start_ref is None:
            continue
        end, witness, ref = known
        shortened = came_back(created, broker, role_span.epoch, Lineage())
        yield Suspicion(
            Sign.BEGAN_EMPTY_AFTER_FAILURE, broker, witness, role_span.epoch, -1, 0, end, role_span.time,
            tuple(dict.fromkeys((ref, *created.refs, role_span.start_ref))), None, shortened,
        )  # fmt: skip


def _began_empty_alone(history: History) -> Iterator[Suspicion]:
    """Yield the same where the lines are of that broker alone: what was committed before is not known."""
    if len(history.role_spans) > 1 or history.facts.complaints:
        return
    for broker, at, role_span in _begun(history):
        alone = bool(role_span.isr) and role_span.isr[0][0] == {broker}
        created = _made_after_failure(history, broker, at)
        if (
            created is None
            or role_span.epoch <= 0
            or role_span.start_end != 0
            or not alone
            or role_span.start_ref is None
        ):
            continue
        yield Suspicion(
            Sign.BEGAN_EMPTY_ALONE, broker, broker, role_span.epoch, -1, 0, None, role_span.time,
            (*created.refs, role_span.start_ref),
        )  # fmt: skip


def _began_new_alone(history: History) -> Iterator[Suspicion]:
    """Yield leaders alone in the ISR of a later epoch than 0 that had just created their log, by lines of one broker.

    A log is created with its topic, in leader epoch 0, or for a replica that is added, which is in no ISR yet. So this
    one is the second of its replica, or was elected from outside the ISR. If a directory failed before, the other sign
    reports it.
    """
    if len(history.role_spans) > 1 or history.facts.complaints:
        return
    for broker, at, role_span in _begun(history):
        alone = bool(role_span.isr) and role_span.isr[0][0] == {broker}
        first = at == 0 and role_span.epoch > 0 and role_span.start_end == 0
        if (
            alone
            and first
            and history.replicas[broker].starts_empty
            and _made_after_failure(history, broker, at) is None
        ):
            refs = (*((role_span.start_ref,) if role_span.start_ref is not None else ()), *role_span.refs)
            yield Suspicion(
                Sign.BEGAN_NEW_ALONE, broker, broker, role_span.epoch, -1, 0, None, role_span.time,
                tuple(dict.fromkeys(refs))[:2],
            )  # fmt: skip


@once
def _removed_all(history: History) -> Sequence[tuple[int, int]]:
    """Return the replicas that truncated all of their log, each with the time, or 0 without one."""
    return [
        (broker, step.time or 0)
        for broker, spans in history.role_spans.items()
        for span in spans
        for step in span.steps
        if step.kind is StepKind.TRUNCATED and step.target == 0
    ]


def _committed_before(history: History, broker: int, role_span: RoleSpan) -> list[tuple[int, int, Ref]]:
    """Return high watermarks stated before a leader began empty, each with its witness and line.

    Only if another replica truncated all of its log, at that time or later.
    """
    began, removed = role_span.time or 0, (time for other, time in _removed_all(history) if other != broker)
    if role_span.start_ref is None or not any(time >= began for time in removed):
        return []
    others = [span for other, spans in history.role_spans.items() if other != broker for span in spans]
    samples = [
        (sample.value, span.replica, sample.ref)
        for span in others
        for sample in (span.hw, span.start_hw)
        if sample is not None and sample.value and 0 <= span.epoch < role_span.epoch
    ]
    return [*_shrunk_with(history, broker, role_span.start_ref.row or 0), *samples]


def _shrunk_with(history: History, broker: int, until: int) -> list[tuple[int, int, Ref]]:
    """Return the high watermarks with which a leader shrank the ISR before a row."""
    shrunk = (one for one in history.facts.complaints if one.kind == Kind.ISR_SHRINK and one.broker == broker)
    return [(one.hw, broker, line_of(one, f"high watermark {one.hw}")) for one in shrunk if one.hw and one.row < until]


def _made_after_failure(history: History, broker: int, at: int) -> Step | None:
    """Return the new log, made after a log directory failed, with which a replica alone in the ISR began to lead."""
    spans = history.role_spans[broker]
    leads = spans[at]
    if not leads.isr or leads.isr[0][0] != {broker} or leads.start_end != 0:
        return None
    if leads.dir_failed is not None:
        because = (leads.dir_failed,)
        return Step(StepKind.LOADED, 0, None, 0, None, leads.time, because, before=LogBefore.DIR_FAILED)
    last = next((span.steps[-1] for span in reversed(spans[: at + 1]) if span.steps), None)
    return last if last is not None and last.before is LogBefore.DIR_FAILED else None


def _left_had_more(history: History) -> Iterator[Suspicion]:
    """Yield brokers whose new log directory has a log that ends below the high watermark of the former directory.

    Only if no other replica's files reach as far.
    """
    farthest = max((disk.end for disk in history.facts.disks.values() if disk.end is not None), default=0)
    for broker, disk in sorted(history.facts.disks.items()):
        if disk.live_by not in (LiveBy.LOG_DIRS, LiveBy.WRITTEN) or disk.end is None:
            continue
        for left in disk.left_by_this_topic():
            if left.checkpoint is not None and left.checkpoint[0] > farthest and history.facts.lives == 1:
                high_watermark, ref = left.checkpoint
                refs = (ref, *((disk.end_ref,) if disk.end_ref is not None else ()), left.ref)
                first = max(farthest, left.log_start)
                yield Suspicion(
                    Sign.LEFT_DIRECTORY_HAD_MORE, broker, broker, -1, -1, first, high_watermark, None, refs,
                    target=disk.end,
                )  # fmt: skip


def _led_after(sign: Sign, shortens: Callable[[Step], bool], history: History) -> Iterator[Suspicion]:
    """Yield replicas that led next after a step that may have shortened their log from an unknown log end offset.

    Args:
        sign: of these replicas.
        shortens: whether a step is of this kind.
        history: the partition.
    """
    for broker, spans in sorted(history.role_spans.items()):
        served = [role_span for role_span in spans if role_span.role is not Role.OFFLINE or role_span.epoch < 0]
        found = [
            (one, two, step)
            for one, two in itertools.zip_longest(served, served[1:])
            for step in one.steps
            if shortens(step)
        ]
        for one, two, step in found:
            epoch = _next_led(history, one, two, step)
            if epoch is not None:
                yield Suspicion(
                    sign, broker, broker, epoch, one.epoch,
                    step.target, None, step.time, (*step.refs, *step.dir_older),
                )  # fmt: skip


def _next_led(history: History, one: RoleSpan, two: RoleSpan | None, truncation: Step) -> int | None:
    """Return the leader epoch that a replica led next after its log was shortened, or None if it did not lead next.

    If its own lines name a later role, they have to show that it led before too: a follower has no more than its leader
    had. Or that role is the first that they name, so that it fetched nothing since. If they name none, it started no
    fetcher. Then lines of other brokers may name it as leader.
    """
    if two is not None:
        first = one.epoch < 0 and two.start_end in (None, truncation.target)
        led = one.role is Role.LEADER or (first and not _read_back(history, one.replica, truncation))
        return two.epoch if two.role is Role.LEADER and led else None
    since = history.epochs.after(one.epoch)
    later = [epoch for epoch in since if (epoch.time or 0) > (truncation.time or 0) and epoch.leader not in (None, -1)]
    return later[0].epoch if later and later[0].leader == one.replica else None


def _read_back(history: History, broker: int, step: Step) -> bool:
    """Return whether a process read back a high watermark within what log recovery left."""
    loaded = (one for one in history.facts.printed_hws if one.kind == Kind.HW_LOADED and one.broker == broker)
    return any(
        one.row > (step.refs[-1].row or 0) and one.value is not None and one.value <= step.target for one in loaded
    )


def _began_below_read_back(history: History) -> Iterator[Suspicion]:
    """Yield leaders whose process read back a high watermark above the offset at which they begin.

    Log recovery had removed committed records, for example, or files of the log were gone.
    """
    for broker, _, role_span in _begun(history):
        start, known = role_span.start_end, role_span.start_hw
        if known is None or start is None or role_span.start_ref is None or start >= known.value:
            continue
        own = {ref.row for ref in role_span.refs}
        if known.ref.row in own or role_span.start_ref.row not in own:
            continue  # the role line prints both, or the start is of an earlier line
        if (known.ref.row or 0) > (role_span.start_ref.row or 0):
            continue  # of a later role that no line names
        if max(start, log_start_at(history.facts.log_starts, broker, known.ref.row)) >= known.value:
            continue  # all of it had been deleted from the start of the log
        shortened = _shortened(history, broker, role_span)
        refs = (known.ref, *_recovery_before(history, broker, start), role_span.start_ref)
        yield Suspicion(
            Sign.BEGAN_BELOW_READ_BACK, broker, broker, role_span.epoch, -1,
            _kept_from(history, broker, known, start), known.value, role_span.time,
            tuple(dict.fromkeys(refs)), None, shortened, start,
        )  # fmt: skip


def _recovery_before(history: History, broker: int, start: int) -> tuple[Ref, ...]:
    """Return the lines by which log recovery truncated a replica's log to the offset at which it begins to lead."""
    steps = [step for span in history.role_spans[broker] for step in span.steps]
    recovered = (step for step in steps if step.kind is StepKind.RECOVERY_TRUNCATED and step.target == start)
    return next((step.refs for step in recovered), ())


def _began_earlier(history: History) -> Iterator[Suspicion]:
    """Yield leaders that began below the start of the leader epoch before, of which no high watermark is stated.

    The leader before had the records in between. Where a line states its high watermark, or what it truncated later,
    that decides.
    """
    begun = [(broker, span) for broker, _, span in _begun(history) if span.epoch >= 0]
    cut = {one.replica for one in (*history.truncations, *history.truncations_of_unknown_extent)}
    for (before, one), (broker, two) in itertools.pairwise(begun):
        first, end = two.start_end, one.start_end
        if first is None or end is None or first >= end or one.epoch == two.epoch or cut & {before, broker}:
            continue
        if history.facts.lives > 1 or one.hw is not None or one.start_hw is not None:
            continue
        if not _came_first(history, one, two):
            continue
        refs = tuple(ref for ref in (one.start_ref, two.start_ref) if ref is not None)
        yield Suspicion(
            Sign.EPOCH_BEGAN_EARLIER, broker, before, two.epoch, one.epoch, first, end, two.time, refs
        )  # fmt: skip


def _came_first(history: History, one: RoleSpan, two: RoleSpan) -> bool:
    """Return whether a role with a lower leader epoch came before another.

    The lines of one broker are in order, whatever the epochs. If epochs went back, those of two brokers are in order by
    their times alone.
    """
    if one.replica == two.replica and one.start_ref is not None and two.start_ref is not None:
        return (one.start_ref.row or 0) < (two.start_ref.row or 0)
    return not history.epoch_rollbacks or (one.time or 0) < (two.time or 0)


def _began_below_printed(history: History) -> Iterator[Suspicion]:
    """Yield leaders that begin below a high watermark that a line of any replica printed before.

    The high watermark of a follower is at most that of its leader, so it was committed too. What was
    printed after the leader began is no evidence.
    """
    led = first_lines(history)
    for broker, _, role_span in _begun(history):
        start, ref = role_span.start_end, role_span.start_ref
        if start is None or ref is None:
            continue
        began = led.get((role_span.replica, role_span.epoch))
        if highest_printed(history).before(role_span, began) <= start:
            continue
        before = _printed_above_start(history, role_span, start)
        known, value = next((one for one in before if not _deleted_since(history, one[0], ref.row)), (None, 0))
        if known is None or max(start, log_start_at(history.facts.log_starts, known.broker, known.row)) >= value:
            continue
        sample = Sample(value, Ref(row=known.row, note=f"high watermark {value}"), known.time)
        yield Suspicion(
            Sign.BEGAN_BELOW_PRINTED, broker, known.broker, role_span.epoch,
            -1, _kept_from(history, known.broker, sample, start), value, role_span.time, (sample.ref, ref),
            moved(history, broker, known.time, role_span.time), _shortened(history, broker, role_span), start,
        )  # fmt: skip


def _printed_above_start(history: History, role_span: RoleSpan, start: int) -> Iterator[tuple[PrintedHw, int]]:
    """Yield lines that print a high watermark above the start of a leader's role before that, the highest first."""
    led = first_lines(history)
    for known, value in printed_above(history, start, role_span.epoch):
        if printed_before(known, role_span, led) and not answered_ahead(history, known, role_span):
            yield known, value


def _deleted_since(history: History, known: PrintedHw, until: int | None) -> bool:
    """Return whether the broker that printed a high watermark deleted its replica afterwards, as with its topic.

    A line after the role that ``until`` is about does not count if the same broker printed both.
    """
    deleted = (one for one in history.facts.printed_hws if one.kind == Kind.LOG_DELETED and one.broker == known.broker)
    own = any(one.row == until and one.broker == known.broker for one in history.facts.printed_hws)
    return any(one.row > known.row and not (own and until is not None and one.row > until) for one in deleted)


def _followed_below(history: History) -> Iterator[Suspicion]:
    """Yield followers whose log ends below the high watermark with which the same process had begun a role before.

    Only if no line shows another change of the log in between.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for one, two in itertools.pairwise(spans):
            known, start, ref = highest_stated(one), two.start_end, two.start_ref
            if known is None or start is None or ref is None or two.role is not Role.FOLLOWER or one.run != two.run:
                continue
            first = max(start, log_start_at(history.facts.log_starts, broker, known.ref.row))
            changed = any(step.kind in REMOVES for step in one.steps) or history.coverage.missing_in(
                one.replica, one.epoch, one.run
            )
            if start > 0 and first < known.value and not changed and (known.ref.row or 0) < (ref.row or 0):
                yield Suspicion(
                    Sign.FOLLOWED_BELOW_OWN_HIGH_WATERMARK, broker, broker, two.epoch, one.epoch,
                    first, known.value, two.time, (known.ref, ref), target=start,
                )  # fmt: skip


def _high_watermark_fell(history: History) -> Iterator[Suspicion]:
    """Yield falls of a leader's high watermark within one leader epoch, the first of each replica and epoch.

    A fall with a truncation is none of these: a leader does not truncate, so the replica followed another leader by
    then.
    """
    known: set[tuple[int, int]] = set()
    doubted = history.regressions_in_doubt
    truncated = {ref.row for found in truncated_below_printed(history) for ref in found.refs} if doubted else set()
    for one in doubted:
        if one.refs[0].row in truncated:
            continue
        if one.after < one.before and (one.replica, one.epoch) not in known:
            known.add((one.replica, one.epoch))
            yield Suspicion(
                Sign.HIGH_WATERMARK_FELL, one.replica, one.replica, one.epoch, one.epoch, one.after, one.before,
                one.time, one.refs, target=one.after,
            )  # fmt: skip
    yield from _stated_lower(Sign.HIGH_WATERMARK_FELL, history)


def _removed_below(history: History) -> Iterator[Suspicion]:
    """Yield replicas that a leader removed from the ISR with less than its high watermark, each in its first line.

    One line states both values, so it counts without the lines around it, also where no line names the role.
    """
    known: set[tuple[int, int]] = set()
    for one in history.members_in_doubt if history.facts.lives == 1 else ():
        if (one.leader, one.replica) not in known:
            known.add((one.leader, one.replica))
            yield Suspicion(
                Sign.REMOVED_BELOW_HIGH_WATERMARK, one.replica, one.leader, one.epoch, one.epoch, one.end,
                one.high_watermark, one.time, one.refs,
            )  # fmt: skip


def _last_stable_fell(history: History) -> Iterator[Suspicion]:
    """Yield falls of a leader's last stable offset within one leader epoch, the first of each replica."""
    for one in history.signs.last_stable.fell if history.facts.lives == 1 else ():
        yield Suspicion(
            Sign.LAST_STABLE_FELL, one.replica, one.replica, one.epoch, one.epoch, one.value, one.before,
            one.time, one.refs, target=one.value,
        )  # fmt: skip


def _stated_lower(sign: Sign, history: History) -> Iterator[Suspicion]:
    """Yield values that a witness states below ones that it stated before."""
    for one in history.signs.disagreements if history.facts.lives == 1 else ():
        if one.sign is not sign:
            continue
        first, end = max(one.after, log_start_at(history.facts.log_starts, one.replica, one.refs[0].row)), one.before
        if sign in _WITHOUT_OFFSETS:
            yield Suspicion(
                sign, one.replica, one.witness, one.epoch, one.since, 0, None, one.time, one.refs, isr=one.isr,
            )  # fmt: skip
        elif first < end:
            yield Suspicion(
                sign, one.replica, one.witness, one.epoch, one.since, first, end, one.time, one.refs, target=one.after,
            )  # fmt: skip


_WITHOUT_OFFSETS = (Sign.LED_EARLIER_EPOCH, Sign.ELECTED_TWICE, Sign.LED_FROM_OUTSIDE_ISR)
"""Signs of statements that are about no offsets."""


def _led_from_outside(history: History) -> Iterator[Suspicion]:
    """Yield leaders that are not in the last ISR stated before, by the lines of logs and of traces."""
    yield from led_from_outside(history)
    yield from _stated_lower(Sign.LED_FROM_OUTSIDE_ISR, history)


def _appends_disagree(sign: Sign, history: History) -> Iterator[Suspicion]:
    """Yield pairs of replicas with different records below both high watermarks: of two leader epochs, or of one."""
    for one in history.signs.unlike_appends if history.facts.lives == 1 else ():
        (earlier, epoch), place = one.epochs, (one.first, one.end)
        if (earlier == epoch) is (sign is Sign.BATCHES_DISAGREE):
            yield Suspicion(sign, one.left, one.right, epoch, earlier, *place, one.time, one.refs)


SIGNS: dict[Sign, Callable[[History], Iterable[Suspicion]]] = {
    Sign.EPOCH_BELOW_HIGH_WATERMARK: _began_below,
    Sign.LAST_IN_ISR_CAME_BACK_SHORTER: _last_came_back,
    Sign.LEADER_CAME_BACK_SHORTER: _leader_came_back,
    Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK: truncated_below_own,
    Sign.TRUNCATED_BELOW_PRINTED: truncated_below_printed,
    Sign.FOLLOWED_BELOW_OWN_HIGH_WATERMARK: _followed_below,
    Sign.BEGAN_EMPTY_AFTER_FAILURE: _began_empty_after_failure,
    Sign.BEGAN_EMPTY_ALONE: _began_empty_alone,
    Sign.BEGAN_NEW_ALONE: _began_new_alone,
    Sign.LEFT_DIRECTORY_HAD_MORE: _left_had_more,
    Sign.BEGAN_BELOW_PRINTED: _began_below_printed,
    Sign.BEGAN_BELOW_READ_BACK: _began_below_read_back,
    Sign.LOADED_SHORTER: loaded_shorter,
    Sign.LOADED_BELOW_STATED: loaded_below_stated,
    Sign.LED_AFTER_LOADING_SHORTER: led_after_loading_shorter,
    Sign.RECOVERY_TRUNCATED_LEADER: partial(
        _led_after, Sign.RECOVERY_TRUNCATED_LEADER, lambda step: step.recovered_from_unknown_end
    ),
    Sign.LED_WITH_OLDER_DIRECTORY: partial(
        _led_after, Sign.LED_WITH_OLDER_DIRECTORY, lambda step: step.older_with_unknown_end
    ),
    Sign.RECOVERED_WHILE_ANOTHER_HAD_MORE: recovered_while_another_had_more,
    Sign.LED_AFTER_TRUNCATING: led_after_truncating,
    Sign.LED_WHILE_ANOTHER_HAD_MORE: led_while_another_had_more,
    Sign.BEGAN_BELOW_FOLLOWER: kept_more_than_its_leader,
    Sign.LAST_ISR_TRUNCATED: last_isr_truncated,
    Sign.MEMBER_CAME_BACK_SHORTER: member_came_back_shorter,
    Sign.TRUNCATED_FOR_LAST_KNOWN: truncated_for_last_known,
    Sign.FELL_TO_UNCLEAN_LEADER: fell_to_unclean_leader,
    Sign.FELL_TO_RECOVERED_LEADER: fell_to_recovered_leader,
    Sign.TRUNCATION_REFUSED: refused_to_truncate,
    Sign.LEADER_ENDS_BELOW_FOLLOWER: leader_is_shorter,
    Sign.READER_DIVERGES: reader_diverges,
    Sign.READER_BEYOND_LOG_END: beyond_the_end,
    Sign.READER_SET_BACK: set_back,
    Sign.POSITION_BEYOND_LOG_END: committed_beyond,
    Sign.GROUP_BEYOND_LAST_LEADER: beyond_last_leader,
    Sign.LOG_START_ABOVE_HIGH_WATERMARK: starts_above,
    Sign.EPOCH_BEGAN_EARLIER: _began_earlier,
    Sign.APPEND_REFUSED: append_refused,
    Sign.TRUNCATED_BELOW_STATED: partial(_stated_lower, Sign.TRUNCATED_BELOW_STATED),
    Sign.APPENDS_DISAGREE: partial(_appends_disagree, Sign.APPENDS_DISAGREE),
    Sign.BATCHES_DISAGREE: partial(_appends_disagree, Sign.BATCHES_DISAGREE),
    Sign.COPIES_DIFFER_IN_ONE_EPOCH: differ_in_one_epoch,
    Sign.COPIES_DIFFER_WITHIN: differ_within,
    Sign.HIGH_WATERMARK_FELL: _high_watermark_fell,
    Sign.LAST_STABLE_FELL: _last_stable_fell,
    Sign.END_BELOW_HIGH_WATERMARK: partial(_stated_lower, Sign.END_BELOW_HIGH_WATERMARK),
    Sign.LOG_END_FELL: partial(_stated_lower, Sign.LOG_END_FELL),
    Sign.EPOCH_ENTRIES_FALL: partial(_stated_lower, Sign.EPOCH_ENTRIES_FALL),
    Sign.LED_EARLIER_EPOCH: partial(_stated_lower, Sign.LED_EARLIER_EPOCH),
    Sign.ELECTED_TWICE: partial(_stated_lower, Sign.ELECTED_TWICE),
    Sign.MEMBER_BELOW_HIGH_WATERMARK: partial(_stated_lower, Sign.MEMBER_BELOW_HIGH_WATERMARK),
    Sign.REMOVED_BELOW_HIGH_WATERMARK: _removed_below,
    Sign.READ_BACK_LESS: partial(_stated_lower, Sign.READ_BACK_LESS),
    Sign.LED_WITHOUT_LAST_RECORDS: lacks_records_of_last_isr,
    Sign.LED_FROM_OUTSIDE_ISR: _led_from_outside,
    Sign.TOPIC_GONE: topic_gone,
}
"""Every sign, and the function that finds it."""
