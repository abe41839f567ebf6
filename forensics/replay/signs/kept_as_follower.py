"""A sign of a loss: a follower kept all of its log by its own high watermark, and its leader had begun below that."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.replay.history import History, Role
from forensics.replay.roles.steps import RoleSpan, StepKind
from forensics.replay.signs.sign import Sign, Suspicion


def kept_more_than_its_leader(history: History) -> Iterator[Suspicion]:
    """Yield leaders that began below the high watermark to which a new follower truncated its log.

    Before 0.11 a follower truncates to its own high watermark (KIP-101). So the offsets from where its leader began are
    of earlier leader epochs, and were committed: it has not followed in this epoch before, by any of its lines.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for before, span in itertools.pairwise(spans):
            epoch = history.epochs.get(span.epoch)
            if span.kept is None or epoch is None or epoch.start is None or not _is_new(span, before):
                continue
            if epoch.leader == span.leader and epoch.leader_took_up and epoch.start < span.kept.value:
                refs = (span.kept.ref, *epoch.begins.because[:1])
                yield Suspicion(
                    Sign.BEGAN_BELOW_FOLLOWER, epoch.leader, broker, span.epoch, before.epoch, epoch.start,
                    span.kept.value, epoch.time, refs,
                )  # fmt: skip


def _is_new(span: RoleSpan, before: RoleSpan) -> bool:
    """Return whether a replica came from an earlier leader epoch, and truncated to nothing lower since."""
    cut = any(step.kind is StepKind.TRUNCATED for step in span.steps)
    return span.role is Role.FOLLOWER and 0 <= before.epoch < span.epoch and not cut
