"""Replicas of a topic that the controllers no longer know: see ``committed.unknown_topics``."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.replay.committed.unknown_topics import without_any_replica
from forensics.replay.facts.directory import Ref
from forensics.replay.history import History
from forensics.replay.signs.sign import Sign, Suspicion


def topic_gone(history: History) -> Iterator[Suspicion]:
    """Yield that every replica found its topic gone: what it had is out of reach."""
    found = without_any_replica(history)
    if not found:
        return
    first = min(found, key=lambda one: (one.time is None, one.time, one.row))
    start, end = min(one.log_start or 0 for one in found), max(one.leo or 0 for one in found)
    epoch = max((span.epoch for spans in history.role_spans.values() for span in spans), default=-1)
    yield Suspicion(
        Sign.TOPIC_GONE, first.broker, first.broker, epoch, epoch, start, end, first.time,
        tuple(Ref(row=one.row, note=f"log end offset {one.leo}") for one in found), stray=found,
    )  # fmt: skip
