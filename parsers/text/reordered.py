"""Logs in which a block of lines is there twice, or whose newest line comes first: rewritten before they are read.

``docker logs kafka >> kafka.log``, run twice, writes each line twice, and so do two exports that overlap. An event that
is there again, byte for byte and with the same time, after the times went back, is the same event: it counts once.
A viewer of logs often shows, and saves, the newest line first: such a text is read from its end. ``cat server.log
server.log.1`` and ``grep orders-0 server.log state-change.log`` put parts of one broker's log below each other: their
events are merged by time.

Only the order of the events changes, or lines become blank; what an event says does not. A text above the
limit ``reordered`` is read as it is, and so is a compressed one, which would have to be expanded once more.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from io import BytesIO
from typing import BinaryIO, Final, NamedTuple

from parsers import limits
from parsers.files.sources import Source
from parsers.files.streams import problem_of
from parsers.text.shared_output import is_part

NEWEST_FIRST: Final = "its newest line comes first: read from its end, and its lines are numbered from there"
MERGED: Final = "its parts are in another order than their times: read in the order of these, and numbered so"
REPEATED: Final = "{} lines are there again, with the same times: each counts once"

STAMP: Final = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]{1,9})?")
"""A time of a log line. A text without one in its first bytes need not be looked at."""
_SECOND: Final = 19  # bytes of a time up to its second
_LONGEST: Final = 29  # bytes of a whole time
_BEGINNING: Final = 120  # bytes of a line in which an event has its time
_SAMPLES: Final = 2000
_APART: Final = 64  # bytes between two of them: no line with a time is much shorter
_NEAR: Final = 4000  # bytes behind a sampled place in which a time must begin
_FEWEST: Final = 3
_EXCERPT: Final = 100
"""Events of a text that somebody may have pasted into a ticket."""
_RARELY: Final = 50
_LEAST_FALL: Final = timedelta(seconds=5)
"""Clocks are set back by less, and threads of one process print lines out of order by less."""
_SUMMER: Final = (timedelta(minutes=58), timedelta(minutes=60))
"""Printed times fall back by about an hour at the end of summer time."""
_OF_A_PART: Final = 3
"""Events that a part has on average, at least."""
_ROLES_FIRST: Final = b"(state.change.logger)"
_SPEAKER: Final = re.compile(
    rb"\[(?:(?:Broker|KafkaServer|BrokerServer|ControllerServer|SharedServer|BrokerLifecycleManager|Controller) id="
    rb"|(?:Kafka Server|Replica Manager on Broker|ReplicaFetcherManager on broker|Controller) "
    rb"|(?:ReplicaManager|LogDirFailureChannel|Log partition=\S+|Partition \S+) broker="
    rb"|ReplicaFetcher replicaId=)([0-9]+)"
    rb"|\b(?:broker|node)\.id = ([0-9]+)|\bBroker ([0-9]+) (?:received|handling|cached|completed|ignoring)"
)
"""The broker that logs a line."""
_GAP: Final = timedelta(minutes=10)
"""Even an idle broker logs a line by then."""
_ROLE_EPOCH: Final = re.compile(
    rb"([\w.-]+-[0-9]+) (?:with topic id \S+ )?starts at leader epoch ([0-9]+)"
    rb"|([\w.-]+-[0-9]+) -> (?:\(offset=-?[0-9]+, leaderEpoch="
    rb"|InitialFetchState\((?:Some\([\w-]+\),)?BrokerEndPoint\([^)]*\),)([0-9]+)"
)
"""A partition and the leader epoch in which a broker leads or follows it."""
_LOGGER: Final = re.compile(rb"\(([\w.$]+)\)[ \t]*\r?\n")
"""The logger at the end of a line, as in the layout of Kafka."""


class _Event(NamedTuple):
    """The lines of one event, and its time; b"" for lines before the first one."""

    time: bytes
    text: bytes


def reordered(source: Source) -> Source:
    """Return a text with each event once and the oldest first; the source itself if it is so already.

    Raises:
        OSError: it cannot be read.
    """
    # Else it is what somebody pasted, or the lines of one of its writers.
    packed = source.place is None and (source.stored or source.archive) and not is_part(source)
    if packed:
        return source
    if source.size > limits.REORDERED.value:
        return _noted(source)
    with source.open() as stream:
        data = stream.read(limits.REORDERED.value + 1)
    if not _goes_back(data):
        return source
    for rewrite in (_oldest_first, _in_order):
        if (found := rewrite(data)) is not None:
            notes, content = found
            return replace(
                source,
                size=len(content),
                open=_Content(source.open, rewrite),
                place=None,
                beginning=None,
                digest=source.digest or hashlib.sha256(data).hexdigest(),
                notes=(*source.notes, *notes),
            )
    return source


@dataclass(frozen=True, slots=True)
class _Content:
    """Opens a text as it is rewritten, so that it is in memory only while it is read."""

    stored: Callable[[], BinaryIO]
    rewrite: Callable[[bytes], tuple[tuple[str, ...], bytes] | None]

    def __call__(self) -> BinaryIO:
        with self.stored() as stream:
            data = stream.read()
            problem = problem_of(stream)
        found = self.rewrite(data)
        return _Text(data if found is None else found[1], problem)


class _Text(BytesIO):
    """A text in memory, and why it may not be whole, or "" (as ``parsers.files.streams`` has it)."""

    def __init__(self, data: bytes, problem: str) -> None:
        super().__init__(data)
        self.problem = problem


def _noted(source: Source) -> Source:
    """Return a text that is too large to be put in order; with a note, if the times of its first lines fall."""
    stamps = (STAMP.search(line, 0, _BEGINNING) for line in source.head().splitlines())
    times = [_second(stamp[0]) for stamp in stamps if stamp is not None]
    steps = [(one, two) for one, two in itertools.pairwise(times) if one != two]
    if 2 * sum(two < one for one, two in steps) <= len(steps):
        return source
    said = limits.REORDERED.told("its first lines are not in order, and it is larger than {}: not put in order")
    return replace(source, notes=(*source.notes, said))


def _goes_back(data: bytes) -> bool:
    """Return whether times go back, by some of them: most logs are told apart without looking at each line."""
    return any(later < earlier for earlier, later in itertools.pairwise(_sampled(data)))


def _sampled(data: bytes) -> Iterator[bytes]:
    """Yield the seconds of the first times behind places that are evenly apart, each time once.

    No byte is searched twice: what a place has found, or has not, holds for the places that follow it.
    """
    step = max(len(data) // _SAMPLES, _APART)
    searched = next_time = 0  # where the next search begins; no time begins between a place and the next one
    for at in range(0, len(data), step):
        if at < next_time:
            continue
        stamp = STAMP.search(data, max(at, searched), at + _NEAR)
        if stamp is None:
            searched = max(at, at + _NEAR - _LONGEST)
        else:
            searched = next_time = stamp.start() + 1
            yield _second(stamp[0])


def _second(time: bytes) -> bytes:
    return time[:_SECOND].replace(b"T", b" ")


def _events(data: bytes) -> Iterator[_Event]:
    time, lines = b"", list[bytes]()
    for line in data.splitlines(keepends=True):
        stamp = STAMP.search(line, 0, _BEGINNING)
        if stamp is not None:
            if lines:
                yield _Event(time, b"".join(lines))
            time, lines = stamp[0].replace(b"T", b" "), []
        lines.append(line)
    if lines:
        yield _Event(time, b"".join(lines))


def _oldest_first(data: bytes) -> tuple[tuple[str, ...], bytes] | None:
    """Return the events in reverse order; None if their times do not fall, or if they are few: see ``excerpts``."""
    events = list(_events(data))
    if len(events) <= _EXCERPT:
        return None
    falls, rises = _steps([event.time for event in events if event.time])
    if falls < _FEWEST or _RARELY * rises > falls:
        return None
    if not data.endswith(b"\n"):
        events[-1] = events[-1]._replace(text=events[-1].text + b"\n")
    return (NEWEST_FIRST,), b"".join(event.text for event in reversed(events))


def _in_order(data: bytes) -> tuple[tuple[str, ...], bytes] | None:
    """Return the text with each event once and its parts in order; None if it is so already."""
    notes: list[str] = []
    for rewrite in (_each_once, _merged):
        if (found := rewrite(data)) is not None:
            note, data = found
            notes.append(note)
    return (tuple(notes), data) if notes else None


def _steps(times: Sequence[bytes]) -> tuple[int, int]:
    """Return how many times are earlier than the one before, and how many are later."""
    pairs = [*itertools.pairwise(times)]
    return sum(later < earlier for earlier, later in pairs), sum(later > earlier for earlier, later in pairs)


def _each_once(data: bytes) -> tuple[str, bytes] | None:
    """Return the text with blank lines where an event is there again; None if none is.

    An event may be there several times in one moment. So it is the same one only if the times went back in between.
    """
    known: dict[bytes, _Seen] = {}
    latest, stretch, repeats, found = b"", 0, 0, list[bytes]()
    for event in _events(data):
        second = _second(event.time)
        stretch += second < latest
        latest = second if second < latest else max(latest, second)
        again = bool(event.time) and known.setdefault(event.text.rstrip(), _Seen()).is_known(stretch)
        lines = event.text.count(b"\n") or 1
        repeats += lines if again else 0
        found.append(b"\n" * lines if again else event.text)
    return (REPEATED.format(repeats), b"".join(found)) if repeats >= _FEWEST else None


def _merged(data: bytes) -> tuple[str, bytes] | None:
    """Return the events in the order of their times, if parts of one broker's log are in another order.

    No two parts are of the same time, or they are of different loggers, which log to files of their own. Otherwise the
    clock may have been set back, as at the end of summer time. Parts of several brokers stay as they are: most lines do
    not name theirs. So do parts of which lines name falling leader epochs then, or that are far apart and name none:
    such a clock was set back by more than the log is long.
    """
    events = list(_events(data if data.endswith(b"\n") else data + b"\n"))
    parts = _parts(events)
    few = 1 < len(parts) <= max(2, len(events) // _OF_A_PART)  # single lines in any order: see ``excerpts``
    if not few or not _fit(parts) or _of_several_brokers(events):
        return None
    # Of one moment, lines about roles come first, and then those of the earlier part.
    ordered = sorted(parts, key=lambda part: part.first)
    merged = sorted(
        (event for part in ordered for event in part.events),
        key=lambda event: (event.time, _ROLES_FIRST not in event.text),
    )
    falls = _falling_epochs(merged) - _falling_epochs(events)
    if falls > 0 or (falls == 0 and _far_apart(ordered)):
        return None
    untimed = (event.text for event in events if not event.time)
    return MERGED, b"".join([*untimed, *(event.text for event in merged)])


@dataclass(slots=True)
class _Part:
    """Events between two places where times fall back, with their first and last time."""

    first: bytes
    last: bytes
    events: list[_Event] = field(default_factory=list)

    def loggers(self) -> set[bytes]:
        """Return the loggers that the first lines of its events name."""
        return {name for one in self.events for name in _LOGGER.findall(one.text[: one.text.find(b"\n") + 1])}

    def fits(self, other: _Part) -> bool:
        """Return whether both can be parts of one log."""
        if _goes_on(self.last, other.first) or _goes_on(other.last, self.first):
            return True
        own, others = self.loggers(), other.loggers()
        return bool(own and others and not own & others)


def _far_apart(parts: Sequence[_Part]) -> bool:
    """Return whether two parts, by their times, are further apart than all of them are long: neither continues the
    other.

    Args:
        parts: in the order of their times.
    """
    ends = [(_moment(part.first), _moment(part.last)) for part in parts]
    known = [(first, last) for first, last in ends if first is not None and last is not None]
    most = max(_GAP, sum((last - first for first, last in known), timedelta()))
    return any(after[0] - before[1] > most for before, after in itertools.pairwise(known))


def _falling_epochs(events: Sequence[_Event]) -> int:
    """Return how many lines about a replica's role name a lower leader epoch of its partition than one before."""
    latest: dict[bytes, int] = {}
    falls = 0
    for found in itertools.chain.from_iterable(_ROLE_EPOCH.findall(event.text) for event in events):
        partition, epoch = found[0] or found[2], int(found[1] or found[3])
        falls += epoch < latest.get(partition, 0)
        latest[partition] = epoch
    return falls


def _of_several_brokers(events: Sequence[_Event]) -> bool:
    """Return whether the events name more than one broker that logs them."""
    return len({next(filter(None, found)) for event in events for found in _SPEAKER.findall(event.text)}) > 1


def _fit(parts: Sequence[_Part]) -> bool:
    """Return whether all can be parts of one log, and no clock was set back by an hour between two of them."""
    if any(_is_hour(one.last, other.first) for one, other in itertools.pairwise(parts)):
        return False
    return all(one.fits(other) for one, other in itertools.combinations(parts, 2))


def _parts(events: Sequence[_Event]) -> list[_Part]:
    """Return the parts of a text between the places where times fall back."""
    parts: list[_Part] = []
    for event in events:
        if not event.time:
            continue
        if not parts or not _goes_on(parts[-1].last, event.time):
            parts.append(_Part(event.time, event.time))
        part = parts[-1]
        part.events.append(event)
        part.first, part.last = min(part.first, event.time), max(part.last, event.time)
    return parts


def _goes_on(latest: bytes, time: bytes) -> bool:
    """Return whether a time does not fall back, by more than clocks and threads make it, behind the latest so far."""
    if time >= latest:
        return True
    before, now = _moment(latest), _moment(time)
    return before is None or now is None or before - now < _LEAST_FALL


def _is_hour(latest: bytes, time: bytes) -> bool:
    before, now = _moment(latest), _moment(time)
    return before is not None and now is not None and _SUMMER[0] <= before - now <= _SUMMER[1]


def _moment(time: bytes) -> datetime | None:
    """Return a time of a log line; None if no calendar has it."""
    try:
        return datetime.fromisoformat(time.decode().replace(",", ".")[:26])
    except ValueError:
        return None


@dataclass(slots=True)
class _Seen:
    """How often an event is in a stretch of rising times, and at most in one of those before."""

    stretch: int = 0
    count: int = 0
    before: int = 0

    def is_known(self, stretch: int) -> bool:
        """Count the event in a stretch, and return whether it is one of those that an earlier stretch has."""
        if stretch != self.stretch:
            self.stretch, self.count, self.before = stretch, 0, max(self.before, self.count)
        self.count += 1
        return self.count <= self.before
