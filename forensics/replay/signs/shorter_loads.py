"""Signs in loads of a log: it is shorter than its broker had stated before, and no line shows what removed its end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from forensics.replay.history import History, Role
from forensics.replay.roles.steps import RoleSpan, Step, StepKind
from forensics.replay.signs.sign import Sign, Suspicion


def loaded_shorter(history: History) -> Iterator[Suspicion]:
    """Yield logs that were loaded twice with no other change in between, the second time shorter.

    Retention and compaction remove nothing from the end of a log, and a leader in between only appends.
    """
    for broker, spans in sorted(history.role_spans.items()):
        for one, at, two in _pairs(history, spans):
            yield Suspicion(
                Sign.LOADED_SHORTER, broker, broker, spans[at].epoch, -1, two.target, one.target,
                two.time, (*one.refs, *two.refs),
            )  # fmt: skip


def led_after_loading_shorter(history: History) -> Iterator[Suspicion]:
    """Yield the same logs if their broker led next, beginning where the second load had ended."""
    for broker, spans in sorted(history.role_spans.items()):
        for one, at, two in _pairs(history, spans):
            led = next((span for span in spans[at : at + 2] if span.role is Role.LEADER and span.epoch >= 0), None)
            if led is not None and led.start_end == two.target:
                yield Suspicion(
                    Sign.LED_AFTER_LOADING_SHORTER, broker, broker, led.epoch, -1, two.target, one.target,
                    two.time, (*one.refs, *two.refs, *led.refs[:1]),
                )  # fmt: skip


def _pairs(history: History, spans: list[RoleSpan]) -> Iterator[tuple[Step, int, Step]]:
    """Yield two loads with no other change in between, the second one shorter, and the number of its role span."""
    known = {one.refs for one in history.shortened_logs}
    steps = [(at, step) for at, role_span in enumerate(spans) for step in role_span.steps]
    for (at, one), (then, two) in itertools.pairwise(steps):
        both = one.kind is StepKind.LOADED is two.kind
        led = all(span.role is Role.LEADER for span in spans[at + 1 : then + 1])
        if both and led and two.target < one.target and two.refs not in known:
            yield one, then, two


def loaded_below_stated(history: History) -> Iterator[Suspicion]:
    """Yield logs of which pasted lines state a log end offset, and then a load with a lower one.

    Only of brokers of which the evidence has no log beside the excerpt: there other rules judge a load.
    """
    known = {one.refs for one in history.shortened_logs}
    silent = (broker for broker in sorted(history.role_spans) if history.coverage.is_silent(broker))
    steps = (
        (broker, span.epoch, step) for broker in silent for span in history.role_spans[broker] for step in span.steps
    )
    for broker, epoch, step in steps:
        stated = step.end_ref if step.kind is StepKind.LOADED and step.refs not in known else None
        if stated is not None and step.target < step.known_end:
            yield Suspicion(
                Sign.LOADED_BELOW_STATED, broker, broker, -1, epoch, step.target, step.known_end, step.time,
                (stated, *step.refs),
            )  # fmt: skip
