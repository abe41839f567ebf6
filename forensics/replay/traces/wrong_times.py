"""Complete traces with times that run backwards or are missing: what they decide in each order of their lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import polars as pl

from forensics.replay.facts.directory import Ref
from forensics.replay.facts.statement_lines import Key
from forensics.replay.facts.trace_lines import OfBrokers
from forensics.replay.history import Truncation
from forensics.replay.traces.by_partition import lines_to_play, played_by
from forensics.replay.traces.line_orders import disordered, orders
from forensics.replay.traces.results import NO_DECISION, Contradiction, Played


def in_each_order(
    played: Mapping[Key, Played],
    rows: pl.DataFrame,
    complete: frozenset[int],
    claimed: Collection[int],
    brokers: OfBrokers,
) -> dict[Key, Played]:
    """Return what complete traces decide, where times run backwards too.

    Such a partition is played in each order in which its lines can have happened. An order in which the trace
    contradicts itself is none of them. If the others decide alike, that counts. Else what they have in common counts,
    and the line is a contradiction: so is one of a trace that claims something, but cannot be played.

    All times may also be right, and the lines be written in another order. So nothing is shown that the order of the
    times does not show.

    Args:
        played: what the traces decide in the order of their times.
        rows, complete, brokers: as ``play`` takes them.
        claimed: brokers of which a trace claims anything.
    """
    found = dict(played)
    back = disordered(rows.filter(pl.col("broker").is_in([*claimed]))) if claimed else {}
    lines = lines_to_play(rows, complete) if back else {}
    for key, one in back.items():
        each = orders(lines[key]) if key in lines else None
        results = [played_by(order, brokers) for order in each] if each is not None else []
        disorder = Contradiction(one.broker, one.text, None, Ref(row=one.row, note=one.text))
        found[key] = _common(results, disorder, played.get(key) if not one.untimed else None)
    return found


def _common(results: Sequence[Played | None], disorder: Contradiction, by_times: Played | None) -> Played:
    """Return what the orders have in common; with the disorder as a contradiction, if they do not decide alike.

    Args:
        results: what each order decides in which the lines of a witness are in the order of the file.
        disorder: the line whose time runs backwards or is missing.
        by_times: what the order of the times decides, if all have one.
    """
    known = [one for one in results if one is not None]
    if not known or len(known) < len(results):
        return replace(NO_DECISION, contradiction=disorder)
    sound = [one for one in known if one.contradiction is None]
    if not sound:
        return known[0]
    common = {name: _of_all(sound, name, by_times) for name in _ANSWERS}
    alike = all(value is not _UNLIKE for value in common.values())
    kept = {name: getattr(NO_DECISION, name) if value is _UNLIKE else value for name, value in common.items()}
    removed = [{*one.removed.items()} for one in sound]
    return Played(**kept, contradiction=None if alike else disorder, removed=dict(removed[0].intersection(*removed)))


_UNLIKE: Final = object()


def _of_all(played: Sequence[Played], name: str, by_times: Played | None) -> Any:
    """Return a field if all have the same in it, and if that is not refuted by the order of the times."""
    if by_times is not None and _refutes(by_times, played[0], name):
        return _UNLIKE
    answers = [_ANSWERS[name](one) for one in played]
    return getattr(played[0], name) if all(one == answers[0] for one in answers) else _UNLIKE


def _refutes(by_times: Played, found: Played, name: str) -> bool:
    """Return whether the order of the times shows nothing wrong where another order does."""
    return by_times.contradiction is None and _wrong(found, name) and not _wrong(by_times, name)


def _wrong(played: Played, name: str) -> bool:
    """Return whether a field holds anything wrong."""
    isr = played.isr
    return bool(getattr(played, name)) if name != "isr" else isr is not None and bool(isr.outside or isr.behind)


def _isr(played: Played) -> Any:
    isr = played.isr
    return None if isr is None else ({*isr.outside}, isr.open, {*isr.behind})


def _of(truncation: Truncation) -> tuple[int, ...]:
    return truncation.replica, truncation.epoch, truncation.target, truncation.end


_ANSWERS: Final[dict[str, Any]] = {
    "truncated": lambda one: [(_of(cut.truncation), cut.ranges) for cut in one.truncated],
    "led_without": lambda one: [
        (led.replica, led.epoch, led.ranges, led.holders, led.served_by) for led in one.led_without
    ],
    "apart": lambda one: [(pair.left, pair.right, pair.ranges) for pair in one.apart],
    "below_alike": lambda one: [(pair.left, pair.right, pair.ranges) for pair in one.below_alike],
    "written_twice": lambda one: [(pair.left, pair.right, pair.ranges) for pair in one.written_twice],
    "above": lambda one: [(hw.replica, hw.epoch, hw.high_watermark, hw.end) for hw in one.above],
    "fallen": lambda one: [(hw.replica, hw.epoch, hw.before, hw.after, hw.kind) for hw in one.fallen],
    "shortened": lambda one: [(log.replica, log.epoch, log.end, log.target, log.cause) for log in one.shortened],
    "epoch_starts": lambda one: [(start.epoch, [at for at, *_ in start.starts]) for start in one.epoch_starts],
    "isr": _isr,
    "falls": lambda one: [(fall.replica, fall.later[:2], fall.earlier[:2]) for fall in one.falls],
    "taken_as_alike": lambda one: one.taken_as_alike,
    "in_no_log": lambda one: one.in_no_log and one.in_no_log.ranges,
}
"""By field of ``Played``, its values without the lines that show them."""
