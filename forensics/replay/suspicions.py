"""Lines that speak of a loss or a truncation by themselves, where the evidence is too thin to prove or exclude it.

A verdict may be *unknown* because lines are missing, and still a line that is there says that something is wrong: a
leader begins below a high watermark that was stated before, a replica truncates below its own. Each such sign is one
entry of ``SIGNS``. It proves nothing: what else could explain it stands with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from forensics.replay.directory import Ref
from forensics.replay.history import History, Role
from forensics.replay.lineage import Range
from forensics.replay.log_dirs import Moved, moved
from forensics.replay.steps import RoleSpan, Sample, Step, StepKind


class Sign(StrEnum):
    """What a line says that speaks of a loss or a truncation."""

    EPOCH_BELOW_HIGH_WATERMARK = "a leader began below a high watermark stated before"
    TRUNCATED_BELOW_OWN_HIGH_WATERMARK = "a replica truncated its log below its own high watermark"
    RECOVERY_TRUNCATED_LEADER = "recovery truncated the log of a replica that then led"


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One sign on one replica.

    Attributes:
        sign: what the line says.
        replica: broker id of the replica that lacks or removed the records.
        witness: broker id that stated the high watermark; the replica itself for what it says of its own.
        epoch: leader epoch in which the replica began to lead, or truncated.
        since: leader epoch in which the high watermark was stated; -1 where no line names it.
        first, end: offsets at stake, ``[first, end)``; ``end`` is None where no line says how far the log reached.
        time: microseconds since 1970 UTC, or None.
        refs: the lines, the high watermark first.
        moved: the change of ``log.dirs`` of the broker in between, or None.
    """

    sign: Sign
    replica: int
    witness: int
    epoch: int
    since: int
    first: int
    end: int | None
    time: int | None
    refs: tuple[Ref, ...]
    moved: Moved | None = None

    @property
    def offsets(self) -> tuple[Range, ...]:
        """Offsets at stake, where both ends are known."""
        return ((self.first, self.end),) if self.end is not None else ()


def suspicions(history: History) -> list[Suspicion]:
    """All signs, in the order of ``SIGNS`` and of leader epochs."""
    return [found for look in SIGNS.values() for found in look(history)]


def _began_below(history: History) -> Iterator[Suspicion]:
    """Leaders that say that they begin below a high watermark that a replica stated in an earlier leader epoch, or an
    earlier process in the same epoch. What is committed stays in the log of each leader (KIP-101), so records are gone
    from the partition, unless the topic was made anew in between.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for at, role_span in enumerate(spans):
            if role_span.role is not Role.LEADER or role_span.start_end is None or role_span.start_ref is None:
                continue
            stated = _stated_before(history, broker, spans[:at], role_span)
            if stated is None or stated[1].value <= role_span.start_end:
                continue
            before, sample = stated
            refs = (sample.ref, role_span.start_ref)
            yield Suspicion(
                Sign.EPOCH_BELOW_HIGH_WATERMARK, broker, before.replica, role_span.epoch, before.epoch,
                role_span.start_end, sample.value, role_span.time, tuple(dict.fromkeys(refs)),
                moved(history, broker, before.time, role_span.time),
            )  # fmt: skip


def _stated_before(
    history: History, broker: int, own: Sequence[RoleSpan], role_span: RoleSpan
) -> tuple[RoleSpan, Sample] | None:
    """The highest high watermark that a leader stated before another role began, by epochs or in its own lines."""
    earlier = [one for one in own if one.epoch == role_span.epoch and one.run != role_span.run]
    for spans in history.role_spans.values():
        earlier += [one for one in spans if 0 <= one.epoch < role_span.epoch]
    stated = [
        (one, sample)
        for one in earlier
        if one.role is Role.LEADER
        for sample in (one.hw, one.start_hw)
        if sample is not None and _in_that_role(history, one, sample)
    ]
    return max(stated, key=lambda found: found[1].value, default=None)


def _in_that_role(history: History, role_span: RoleSpan, sample: Sample) -> bool:
    """Whether a high watermark was stated in a role: the line of the role states it, or no line of the replica is
    missing, so that no later role can have gone unseen.
    """
    return sample.ref.row in {ref.row for ref in role_span.refs} or history.coverage.whole(role_span.replica)


def _truncated_below_own(history: History) -> Iterator[Suspicion]:
    """Followers that truncate below a high watermark that they printed or read back in the same role."""
    for broker, spans in sorted(history.role_spans.items()):
        for role_span in spans:
            stated = [sample for sample in (role_span.hw, role_span.start_hw) if sample is not None]
            known = max(stated, key=lambda sample: sample.value, default=None)
            step = _truncation_below(role_span, known) if known is not None else None
            if known is not None and step is not None:
                yield Suspicion(
                    Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK, broker, broker, role_span.epoch, -1,
                    step.target, known.value, step.time, tuple(dict.fromkeys((known.ref, *step.refs))),
                )  # fmt: skip


def _truncation_below(role_span: RoleSpan, known: Sample) -> Step | None:
    """The first truncation of a role below a high watermark that was stated before it."""
    below = (step for step in role_span.steps if step.kind is StepKind.TRUNCATED and step.target < known.value)
    return next((step for step in below if (known.ref.row or 0) <= (step.refs[-1].row or 0)), None)


def _recovered_shorter(history: History) -> Iterator[Suspicion]:
    """Leaders whose log recovery truncated, of which no line says how long it had been, and that led next."""
    for broker, spans in sorted(history.role_spans.items()):
        led = [role_span for role_span in spans if role_span.role is not Role.OFFLINE]
        for one, two in itertools.pairwise(led):
            truncation = next((s for s in one.steps if s.kind is StepKind.RECOVERY_TRUNCATED and s.end is None), None)
            if truncation is not None and one.role is Role.LEADER is two.role:
                yield Suspicion(
                    Sign.RECOVERY_TRUNCATED_LEADER, broker, broker, two.epoch, one.epoch,
                    truncation.target, None, truncation.time, truncation.refs,
                )  # fmt: skip


SIGNS: dict[Sign, Callable[[History], Iterator[Suspicion]]] = {
    Sign.EPOCH_BELOW_HIGH_WATERMARK: _began_below,
    Sign.TRUNCATED_BELOW_OWN_HIGH_WATERMARK: _truncated_below_own,
    Sign.RECOVERY_TRUNCATED_LEADER: _recovered_shorter,
}
"""Every sign, and what finds it."""
