"""Sentences about a scan as a whole, for every report for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import polars as pl

from forensics.case import Case
from forensics.case.dates import EpochDate
from forensics.case.partial import excerpts_alone
from forensics.case.producers import asked
from forensics.case.restarts import Together, controllers_too, together
from forensics.case.restarts import apart as restarts_apart
from forensics.case.trace_clusters import cluster_text
from forensics.result import Result
from forensics.rules.finding import Severity, all_of, brokers_text, sentence
from forensics.rules.stated_problems import Problem
from parsers.schema import Kind

APART = 1_000_000  # microseconds between clocks that are worth a sentence
SURELY = 60_000_000  # the same if only effects that are usually fast show it
STOPS = 3  # brokers whose stops are named
DATED = 20  # sentences on epochs, the last ones
ZONE = 15 * 60 * 1_000_000  # time zones differ by multiples of it,
FARTHEST = 26 * 3_600 * 1_000_000  # and by no more than this: from UTC-12 to UTC+14


def changed(result: Result) -> list[str]:
    """Return the changes by a user's settings in a result, a sentence each; empty if they changed nothing."""
    changes, known = result.changes, len(result.known)
    said = []
    if changes.disabled:
        said.append(f"not asked: {', '.join(changes.disabled)}")
    if changes.severities:
        said.append("severity set: " + ", ".join(f"{rule} {level.value}" for rule, level in changes.severities.items()))
    if changes.topics:
        said.append(f"only topics like {', '.join(changes.topics)}")
    if changes.skipped_topics:
        said.append(f"without topics like {', '.join(changes.skipped_topics)}")
    texts = [f"configured by {changes.config or 'options'}: {'; '.join(said)}"] if said else []
    if changes.baseline is not None:
        gone = f"; {changes.gone:,} of it not found any more" if changes.gone else ""
        texts.append(f"{known:,} known finding{'' if known == 1 else 's'} hidden by baseline {changes.baseline}{gone}")
    return [*texts, *added(result)]


def added(result: Result) -> list[str]:
    """Return what plugins added, a sentence for each plugin, and one for each thing that could not be used."""
    texts = [f"plugin {plugin.title} adds {', '.join(plugin.adds)}" for plugin in result.plugins]
    return [*texts, *result.left_out]


def after_repair(result: Result) -> str:
    """Return how a later scan can check a repair, or "" where there is nothing to repair, or nothing to compare."""
    broken = any(one.severity in (Severity.CRITICAL, Severity.ERROR) for one in result.findings)
    compared = result.repair is not None or result.changes.baseline is not None
    if not broken or compared or result.redacted or result.case.traces_alone or excerpts_alone(result.case):
        return ""
    return (
        "a later scan can say whether the repair is complete, and whether producers can go back. For that keep this "
        "answer now: forensics scan EVIDENCE --format json -o before.json. See forensics explain after-repair"
    )


def restarted(result: Result) -> list[str]:
    """Return sentences on the restarts of each cluster: no incident shows that all brokers restarted together.

    Restarts of single brokers are steps of an incident, so they are named only where there is none.
    """
    several = len(result.case.parts) > 1
    told = any(one.severity is not Severity.INFO for one in result.findings)
    said: list[str] = []
    for case in result.case.parts:
        of, found = f" of {cluster_text(case.cluster)}" if several else "", together(case)
        if found:
            said += _restarted(case, found, of)
        elif not told and not case.traces_alone and (besides := restarts_apart(case, ())):
            said.append(
                f"restarts{of} on {_utc(besides[0][0]):%Y-%m-%d} (UTC): {_each(case, besides, _stop_lines(case))}"
            )
    return said


def _each(case: Case, restarts: Sequence[tuple[int, int]], logged: _StopLines) -> str:
    """Return the first of some restarts with how each broker had stopped, and how many more there are."""
    more = f", and {len(restarts) - STOPS:,} more restarts" if len(restarts) > STOPS else ""
    return f"{'; '.join(_also(case, restarts[:STOPS], logged))}{more}"


def _restarted(case: Case, found: Sequence[Together], of: str) -> list[str]:
    """Return that all brokers of a cluster restarted together, and how others restarted besides."""
    last = found[-1]
    having = " with replicas" if last.others else ""
    times = f"together {len(found):,} times, the last time " if len(found) > 1 else ""
    when = f"{times}between {_utc(last.first)} and {_utc(last.last):%H:%M:%S} UTC"
    starting = f"{_all(len(last.brokers))}{having}{of} started again {when}"
    if case.traces_alone:  # without log lines
        return [starting]
    logged = _stop_lines(case)
    said = [f"{starting}: {_stops(case, last, logged)}"]
    if nodes := controllers_too(case, last):
        said.append(f"{brokers_text(nodes, nodes)} started again within the same minute")
    besides = restarts_apart(case, found)
    return [*said, *([f"besides, {_each(case, besides, logged)}"] if besides else [])]


def _also(case: Case, besides: Sequence[tuple[int, int]], logged: _StopLines) -> list[str]:
    """Return which brokers started once more and how they had stopped, in words; those without a stop together."""
    stopped = {one: _stopped(case, *one, logged) for one in besides}
    silent = [one for one in besides if not stopped[one]]
    started = {(time, broker): f"broker {broker} started at {_utc(time):%H:%M:%S}" for time, broker in besides}
    which = "it" if len(silent) == 1 else "either" if len(silent) < 3 else "any of them"
    together_ = f"{all_of([started[one] for one in silent])}, and no line before shows a clean stop of {which}"
    return [together_ if one in silent else f"{started[one]}{stopped[one]}" for one in besides if one not in silent[1:]]


def _stopped(case: Case, time: int, broker: int, logged: _StopLines) -> str:
    """Return how a broker had stopped before it started, in words; "" where no line shows it."""
    stop, begun = (_last_before(case, broker, time, logged[kind]) for kind in _OF_STOPS)
    if stop is not None:
        return f" after a clean stop at {_utc(stop):%H:%M:%S}"
    if begun is not None:
        return f" after it began to shut down at {_utc(begun):%H:%M:%S}, and no line shows that it ended that cleanly"
    return " after an unclean stop" if _found_unclean(case, broker, time, logged) else ""


def _stops(case: Case, one: Together, logged: _StopLines) -> str:
    """Return how brokers had stopped before they started together, as the end of a sentence."""
    said: list[str] = []
    rest: Sequence[int] = one.brokers
    for kind, did in _DONE.items():
        times = _last_stops(case, rest, one, logged[kind])
        if len(times) > STOPS:
            said.append(f"{len(times):,} of them {did}")
        else:
            said += [f"broker {broker} {did} at {_utc(time):%H:%M:%S}" for broker, time in times.items()]
        rest = [broker for broker in rest if broker not in times]
    return ", ".join([*said, *_unclean(case, rest, one, logged)])


def _unclean(case: Case, brokers: Sequence[int], one: Together, logged: _StopLines) -> Iterator[str]:
    """Yield which brokers had stopped uncleanly before they started together, and of which no line shows how."""
    unclean = [broker for broker in brokers if _found_unclean(case, broker, one.first, logged)]
    if unclean:
        yield f"{_which(unclean, one, 'all of them')} had stopped uncleanly"
    if rest := [broker for broker in brokers if broker not in unclean]:
        yield f"no line before shows a clean stop of {_which(rest, one)}"


def _last_stops(
    case: Case, brokers: Iterable[int], one: Together, logged: Mapping[int, Sequence[int]]
) -> dict[int, int]:
    """Return the last of some logged times before brokers started together, of those brokers that have one."""
    found = {broker: _last_before(case, broker, one.first, logged) for broker in brokers}
    return {broker: time for broker, time in found.items() if time is not None}


def _found_unclean(case: Case, broker: int, since: int, logged: _StopLines) -> bool:
    """Return whether the process that a broker began from a time on reports an unclean stop of the one before."""
    starts = [time for time in sorted(case.brokers[broker].starts) if time >= since]
    until = starts[1] if len(starts) > 1 else None
    return any(
        starts[0] <= time and (until is None or time < until) for time in logged[Kind.UNCLEAN_RESTART].get(broker, ())
    )


def _which(brokers: Sequence[int], one: Together, everyone: str = "any of them") -> str:
    if len(brokers) == len(one.brokers):
        return everyone
    return brokers_text(brokers) if len(brokers) <= STOPS else f"{len(brokers):,} of them"


_OF_STOPS: Final = (Kind.SHUTDOWN_COMPLETE, Kind.SHUTDOWN_BEGIN)
"""Kinds of line about a clean stop: that it has ended, and that it begins."""
_DONE: Final = {Kind.SHUTDOWN_COMPLETE: "had shut down cleanly", Kind.SHUTDOWN_BEGIN: "had begun to shut down"}
"""Words for each of them. From 4.0 on the last lines of a clean stop are not logged."""
_StopLines = Mapping[Kind, Mapping[int, Sequence[int]]]
"""Times at which brokers logged one of these, in microseconds since 1970 UTC, by kind and broker."""


def _stop_lines(case: Case) -> _StopLines:
    """Return the times of all lines about stops."""
    kinds = (*_OF_STOPS, Kind.UNCLEAN_RESTART)
    found: dict[Kind, dict[int, list[int]]] = {kind: {} for kind in kinds}
    asked = pl.col("kind").is_in([kind.value for kind in kinds])
    rows = case.observations.filter(asked, pl.all_horizontal(pl.col("broker", "time").is_not_null()))
    for kind, broker, time in rows.select("kind", "broker", pl.col("time").cast(pl.Int64)).iter_rows():
        found[Kind(kind)].setdefault(broker, []).append(time)
    return found


def _last_before(case: Case, broker: int, since: int, times: Mapping[int, Sequence[int]]) -> int | None:
    """Return the last of some times of a broker before its first start from a time on, but after the start before that:
    the process that stopped then logged it. None if there is none.
    """
    starts = sorted(case.brokers[broker].starts)
    place = next(place for place, time in enumerate(starts) if time >= since)
    low, high = starts[max(place - 1, 0)], starts[place]
    return max((time for time in times.get(broker, ()) if low <= time <= high), default=None)


def _all(brokers: int) -> str:
    return "both brokers" if brokers == 2 else f"all {brokers:,} brokers"


def _utc(time: int) -> datetime:
    return datetime.fromtimestamp(time // 1_000_000, UTC).replace(tzinfo=None)


def one_folder(result: Result) -> list[str]:
    """A sentence for topics whose names differ in capital letters alone: where a file system takes these for the same,
    as on Windows and macOS, their partitions share directories, and one topic's records are the other's.
    """
    topics = {partition.history.topic for partition in result.partitions}
    of_folder = Counter(map(str.casefold, topics))
    if len(of_folder) == len(topics):
        return []
    alike: dict[str, list[str]] = {}
    for topic in sorted(topics):
        if of_folder[topic.casefold()] > 1:
            alike.setdefault(topic.casefold(), []).append(topic)
    return [
        f"topics {' and '.join(names)} differ in capital letters alone: on Windows and macOS their partitions "
        "share directories, and what is found of one may be of the other"
        for _, names in sorted(alike.items())
    ]


def acknowledged(result: Result) -> list[str]:
    """Return a sentence about the acks that producers requested, if there is a request log."""
    levels = [
        f"acks={level.acks}" + (f" ({listed(level.topics)})" if level.topics else "") for level in asked(result.case)
    ]
    return [f"producers asked for {', '.join(levels)}"] if levels else []


def on_the_whole(result: Result) -> tuple[list[str], ...]:
    """Return the sentences that are of no partition, by what they are about."""
    return one_folder(result), acknowledged(result), apart(result), changed(result)


def by_problem(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Problems at all places of one entry together, in the order of the table."""
    groups: dict[str, list[Problem]] = {}
    for one in problems:
        groups.setdefault(one.known.id, []).append(one)
    return list(groups.values())


def shown_of(group: Sequence[Problem], most: int) -> list[Problem]:
    """Return the places of a known problem that are shown: of failed directories the first in time of each broker."""
    if not group[0].known.of_directory:
        return [*group[:most]]
    first: dict[int | None, Problem] = {}
    for one in group:
        first.setdefault(one.broker, one)
    return list(first.values())


def first_steps(group: Sequence[Problem]) -> list[str]:
    """Return what to do first about a known problem: of failed directories for each broker."""
    return list(dict.fromkeys(step for one in shown_of(group, 1) for step in one.fetch))


def repeated(group: Sequence[Problem]) -> int:
    """Return for how many partitions besides the first one the steps of a known problem are to be repeated."""
    names = {one.name for one in group if one.name is not None}
    return 0 if group[0].known.of_directory else max(len(names) - 1, 0)


def worst_of(problems: Iterable[Problem]) -> Problem | None:
    """The worst known problem that is not routine."""
    loud = (one for one in problems if not one.known.routine)
    return min(loud, key=lambda one: one.known.severity.rank, default=None)


def headline_of(result: Result) -> str:
    """Return the worst known problem; that all are routine; or "" without any."""
    if not result.problems:
        return ""
    worst = worst_of(result.problems)
    if worst is not None:
        level = worst.known.severity.value.upper()
        return f"{level} stated by a log line: {worst.known.title}. {sentence(worst.states)}"
    sources = result.case.sources
    unread = int(sources.get_column("relevant").sum()) - int(sources.get_column("understood").sum())
    rest = f"; {unread:,} line{' was' if unread == 1 else 's were'} not understood" if unread else ""
    return f"ROUTINE: no log line shows a loss, and what these lines state is routine{rest}. They do not show the rest"


def listed(topics: Sequence[str], most: int = 8) -> str:
    """Topics by name, of many the first ones and how many more."""
    more = len(topics) - most
    return ", ".join(topics[:most]) + (f" and {more} more topic{'' if more == 1 else 's'}" if more > 0 else "")


def _shown(row: Mapping[str, Any]) -> bool:
    """Return whether the bounds of a clock exclude that it agrees with the other."""
    return (row["low"] is not None and row["low"] > 0) or (row["high"] is not None and row["high"] < 0)


def apart(result: Result) -> list[str]:
    """A sentence for each broker whose clock is far from the others', with the option that lines its times up."""
    said = []
    for row in result.case.skew.iter_rows(named=True):
        broker, other, ahead = row["broker"], row["reference"], row["estimate"]
        pairs = f"{row['pairs']:,} pair{'' if row['pairs'] == 1 else 's'} of cause and effect"
        bounds = [
            f"{word} {bound / 1e6:+,g} s"
            for word, bound in (("at least", row["low"]), ("at most", row["high"]))
            if bound is not None
        ]
        if not row["consistent"]:
            said.append(
                f"clocks: the difference between the log times of brokers {broker} and {other} changes "
                f"({', '.join((*bounds, pairs))}): a clock was changed, or a --tz is wrong for part of the logs"
            )
        elif ahead is not None and abs(ahead) >= (APART if _shown(row) else SURELY):
            where = "ahead of" if ahead > 0 else "behind"
            shift = result.case.reading.skew.get(broker, 0) - ahead
            far, zone = _far(ahead)
            said.append(
                f"clocks: broker {broker}'s log times are {far} {where} broker {other}'s{zone} "
                f"({', '.join((*bounds, pairs))}). No verdict depends on it; --skew {broker}={shift / 1e6:+.3f}s "
                "corrects them"
            )
    return said


def _far(ahead: int) -> tuple[str, str]:
    """Return a difference between clocks in words, and the question about the time zone if it may be one."""
    zones = round(ahead / ZONE)
    if not 0 < abs(zones) * ZONE <= FARTHEST or abs(ahead - ZONE * zones) >= APART:
        return f"{abs(ahead) / 1e6:,g} s", ""
    hours, minutes = divmod(abs(zones) * ZONE // 60_000_000, 60)
    return f"{hours} h {minutes} m", ": wrong --tz?"


def _epoch_date(date: EpochDate, bound: int | None) -> str:
    """Return what record times show about the start of one leader epoch; "" if nothing.

    Args:
        date: the epoch.
        bound: time after which the epoch before it began, which is not repeated.
    """
    parts = []
    if date.not_before is not None and (date.not_before != bound or date.first is not None):
        parts.append(f"last record before it: {_moment(date.not_before)}")
    if date.first is not None and date.last is not None:
        first, last = _moment(date.first), _moment(date.last)
        parts.append(f"its records: {first}" if date.first == date.last else f"its records: {first} to {last}")
    source = " (producer snapshot)" if date.by_snapshot else ""
    return f"epoch {date.epoch} from {date.start:,}: {'; '.join(parts)}{source}" if parts else ""


def dated(dates: Mapping[int, Sequence[EpochDate]]) -> list[str]:
    """Return what record times show about the starts of leader epochs, a sentence each.

    A broker counts only if its directories agree.

    Args:
        dates: by broker.
    """
    said: dict[tuple[int, str], list[int]] = {}
    for broker, mine in sorted(dates.items()):
        bound = None
        for date in mine:
            if text := _epoch_date(date, bound):
                said.setdefault((date.epoch, text), []).append(broker)
            bound = date.not_before
    ordered = sorted(said.items(), key=lambda item: (item[0][0], item[1]))
    told = [f"{brokers_text(brokers)}: {text}" for (_, text), brokers in ordered]
    rest = len(told) - DATED
    return [f"{rest:,} more of earlier epochs: compare --format json has them", *told[-DATED:]] if rest > 0 else told


def _moment(time: int) -> str:
    """A record's time; a producer may have set any number."""
    try:
        return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    except (OverflowError, ValueError, OSError):
        return f"{time} ms"
