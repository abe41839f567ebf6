"""Ways to remove evidence: files, and lines of logs.

A selection is made from paths, line numbers and raw text alone, never from a reader's result: two versions of the
reader get the same bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from benchmarks.same.corpus import Files

Spans = tuple[tuple[int, int], ...]
"""First and last line of each span, the first line of a file being 1."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Evidence to remove.

    Attributes:
        name: description.
        files: paths of removed files.
        lines: by path, the removed lines.
    """

    name: str
    files: frozenset[str] = frozenset()
    lines: dict[str, Spans] = field(default_factory=dict)

    def left(self, files: Files) -> Files:
        """Return the remaining evidence. A file that loses all its lines stays, empty."""
        return {
            path: without_lines(content, self.lines[path]) if path in self.lines else content
            for path, content in files.items()
            if path not in self.files
        }


WHOLE = Cut("whole")


def without_lines(content: bytes, spans: Spans) -> bytes:
    """Return a file without some of its lines."""
    lines = content.splitlines(keepends=True)
    for first, last in sorted(spans, reverse=True):
        del lines[first - 1 : last]
    return b"".join(lines)


# -- kinds of files and lines ------------------------------------------------------------------------------------------

_STAMP = re.compile(rb"^\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3})")
_TELLING = re.compile(
    rb"LeaderAndIsr|[Tt]runcat|starts? at|[Ll]eader [Ee]poch|ISR|[Ll]oad|Added fetcher|Removed fetcher"
    rb"|[Hh]igh watermark|become-(?:leader|follower)|[Uu]nclean|[Rr]ecover|[Ss]hut|[Ss]tart(?:ed|ing)|[Ee]lect"
)
"""Words of lines about a role, a log or a process."""
_SEGMENT = re.compile(r"/data[^/]*/(?!__cluster_metadata)[^/]+-[0-9]+/[0-9]+\.log$")


def broker_of(path: str) -> str:
    """The folder of the broker a file is of."""
    return path.partition("/")[0]


def is_log(path: str) -> bool:
    """Return whether a file is a log that a broker's logger wrote."""
    return "/logs/" in path


def is_data(path: str) -> bool:
    """Return whether a file is in a log directory."""
    return "/data" in path


class Times:
    """When the lines of one log were printed; a line without a time belongs to the one before it."""

    def __init__(self, content: bytes) -> None:
        lines = content.splitlines()
        self.telling = [number for number, line in enumerate(lines, start=1) if _TELLING.search(line)]
        self.count = len(lines)
        self.at: list[bytes] = []
        last = b""
        for line in lines:
            found = _STAMP.match(line)
            # The greatest so far, so that what was printed out of order does not end a span.
            last = max(last, found[1].replace(b"T", b" ").replace(b".", b",")) if found else last
            self.at.append(last)

    def lines(self, first: bytes, after: bytes) -> Spans:
        """The span of lines printed from ``first`` to before ``after``."""
        begin, end = bisect_left(self.at, first), bisect_left(self.at, after)
        return ((begin + 1, end),) if begin < end else ()


EARLIEST, LATEST = b"", b"9999"


class Evidence:
    """Evidence from which removals are chosen."""

    def __init__(self, files: Files) -> None:
        self.paths = list(files)
        self.brokers = sorted({broker_of(path) for path in self.paths if is_log(path) or is_data(path)})
        self.logs = {path: Times(content) for path, content in files.items() if is_log(path)}
        self.telling = [(path, line) for path, log in self.logs.items() for line in log.telling]
        self.printed: dict[str, list[bytes]] = {broker_of(path): [] for path in self.logs}
        for path, log in self.logs.items():
            self.printed[broker_of(path)] += filter(None, log.at)
        self.moments = sorted(time for times in self.printed.values() for time in times)
        self.printing = sorted(self.printed)

    def share(self, part: float) -> bytes:
        """The time before which that part of all lines was printed."""
        return self.moments[min(int(part * len(self.moments)), len(self.moments) - 1)] if self.moments else LATEST

    def moment(self, random: Random, broker: str = "") -> bytes:
        """The time of a line, of that broker or of any: times in which much was printed come up more often."""
        times = self.printed[broker] if broker else self.moments
        return random.choice(times) if times else LATEST

    def between(self, random: Random, broker: str = "") -> tuple[bytes, bytes]:
        """Two such times, the earlier first."""
        first, after = sorted((self.moment(random, broker), self.moment(random, broker)))
        return first, after

    def during(self, brokers: Iterable[str], first: bytes, after: bytes) -> dict[str, Spans]:
        """The lines of some brokers' logs in a span of time."""
        chosen = set(brokers)
        spans = {path: log.lines(first, after) for path, log in self.logs.items() if broker_of(path) in chosen}
        return {path: found for path, found in spans.items() if found}

    def which(self, wanted: Callable[[str], bool]) -> frozenset[str]:
        """Paths for which that holds."""
        return frozenset(path for path in self.paths if wanted(path))


# -- the same removals for every case ----------------------------------------------------------------------------------

KINDS: dict[str, Callable[[str], bool]] = {
    "server.log": lambda path: path.endswith("/server.log"),
    "state-change.log": lambda path: path.endswith("/state-change.log"),
    "controller.log": lambda path: path.endswith("/controller.log"),
    "high watermarks": lambda path: path.endswith("replication-offset-checkpoint"),
    "epoch files": lambda path: path.endswith("leader-epoch-checkpoint"),
    "checkpoints": lambda path: path.endswith("checkpoint"),
    "segments": lambda path: _SEGMENT.search("/" + path) is not None,
    "metadata log": lambda path: "__cluster_metadata" in path,
    "server.properties": lambda path: path.endswith("/server.properties"),
    "meta.properties": lambda path: path.endswith("/meta.properties"),
}
"""Kinds of files that a collector may forget."""
ALONE = ("server.log", "state-change.log", "segments")


def systematic(evidence: Evidence) -> Iterator[Cut]:
    """Yield the removals that are made in every case."""
    which = evidence.which
    for broker in evidence.brokers:
        mine = which(lambda path, broker=broker: broker_of(path) == broker)
        yield Cut(f"without logs of {broker}", frozenset(filter(is_log, mine)))
        yield Cut(f"without data of {broker}", frozenset(filter(is_data, mine)))
        yield Cut(f"without {broker}", mine)
        yield Cut(f"{broker} alone", which(lambda path, mine=mine: path not in mine))
    yield Cut("without all logs", which(is_log))
    yield Cut("without all data", which(is_data))
    for path in evidence.logs:
        yield Cut(f"without {path}", frozenset([path]))
    for kind, of_kind in KINDS.items():
        yield Cut(f"without {kind}", which(of_kind))
    for kind in ALONE:
        yield Cut(f"{kind} alone", which(lambda path, of_kind=KINDS[kind]: not of_kind(path)))
    for eighths in (1, 3, 5, 7):
        moment = evidence.share(eighths / 8)
        yield Cut(f"logs before {eighths}/8 gone", lines=evidence.during(evidence.brokers, EARLIEST, moment))
        yield Cut(f"logs from {eighths}/8 on gone", lines=evidence.during(evidence.brokers, moment, LATEST))


# -- at random ---------------------------------------------------------------------------------------------------------


def span_of_one(evidence: Evidence, random: Random) -> Cut:
    """A span of time of one broker's logs."""
    broker = random.choice(evidence.printing)
    return Cut("span of one broker", lines=evidence.during([broker], *evidence.between(random, broker)))


def span_of_all(evidence: Evidence, random: Random) -> Cut:
    """A span of time of all logs."""
    return Cut("span of all", lines=evidence.during(evidence.brokers, *evidence.between(random)))


def span_of_each(evidence: Evidence, random: Random) -> Cut:
    """Another span of time of each of some brokers' logs; it may reach to the beginning or the end."""
    lines: dict[str, Spans] = {}
    for broker in evidence.printing:
        first, after = evidence.between(random, broker)
        edge = random.random()
        first, after = (EARLIEST if edge < 0.2 else first), (LATEST if edge > 0.8 else after)
        if random.random() < 0.6:
            lines |= evidence.during([broker], first, after)
    return Cut("a span of each", lines=lines)


def span_of_file(evidence: Evidence, random: Random) -> Cut:
    """Remove adjacent lines of one file."""
    path = random.choice(list(evidence.logs))
    first = random.randint(1, max(1, evidence.logs[path].count))
    return Cut("lines of one file", lines={path: ((first, first + random.choice((0, 3, 30, 300))),)})


def single_lines(evidence: Evidence, random: Random) -> Cut:
    """Remove up to four lines about a role, a log or a process."""
    if not evidence.telling:
        return WHOLE
    lines: dict[str, Spans] = {}
    for path, line in sorted(set(random.choices(evidence.telling, k=random.randint(1, 4)))):
        lines[path] = (*lines.get(path, ()), (line, line))
    return Cut("single lines", lines=lines)


def some_files(evidence: Evidence, random: Random) -> Cut:
    """Files that a collector forgot, and perhaps a span of time of all logs."""
    share = random.choice((0.05, 0.1, 0.3))
    gone = frozenset(path for path in evidence.paths if random.random() < share)
    return Cut("some files", gone, span_of_all(evidence, random).lines if random.random() < 0.3 else {})


def lost_host(evidence: Evidence, random: Random) -> Cut:
    """A broker's data, and its logs from some moment on."""
    host = random.choice(evidence.brokers)
    data = evidence.which(lambda path: broker_of(path) == host and is_data(path))
    return Cut("lost host", data, evidence.during([host], evidence.moment(random), LATEST))


def silent_broker(evidence: Evidence, random: Random) -> Cut:
    """A broker's logs, and a span of time of another's."""
    silent, other = random.choice(evidence.printing), random.choice(evidence.printing)
    gone = evidence.which(lambda path: broker_of(path) == silent and is_log(path))
    return Cut("silent broker", gone, evidence.during([other], *evidence.between(random, other)))


AT_RANDOM: tuple[Callable[[Evidence, Random], Cut], ...] = (
    span_of_one,
    single_lines,
    span_of_each,
    some_files,
    span_of_all,
    span_of_file,
    lost_host,
    silent_broker,
)
"""Drawn in turn."""


def drawn(evidence: Evidence, seed: str, number: int) -> Cut:
    """Return the random removal of a seed and number: the same on every machine."""
    if not evidence.brokers or not evidence.logs:
        return WHOLE
    cut = AT_RANDOM[number % len(AT_RANDOM)](evidence, Random(f"{seed}:{number}"))
    return Cut(f"random {number}: {cut.name}", cut.files, cut.lines)


def planned(files: Files, name: str, quick: bool) -> list[Cut]:
    """Return the removals for a case: none, then all systematic ones and 50 random ones, or a few of both."""
    evidence = Evidence(files)
    if not evidence.brokers:  # one archive, for example
        return [WHOLE]
    regular = list(systematic(evidence))
    if quick:
        first = Random(name).randrange(len(regular))
        step = max(1, len(regular) // QUICK_SYSTEMATIC)
        regular = [regular[(first + number * step) % len(regular)] for number in range(QUICK_SYSTEMATIC)]
    first = Random(name).randrange(len(AT_RANDOM)) if quick else 0
    count = QUICK_RANDOM if quick else RANDOM
    cuts = [*regular, *(drawn(evidence, name, first + number) for number in range(count))]
    different: dict[tuple[object, ...], Cut] = {}
    for cut in cuts:
        different.setdefault((cut.files, *cut.lines.items()), cut)
    return [WHOLE, *(cut for key, cut in different.items() if any(key))]


RANDOM = 50
QUICK_SYSTEMATIC, QUICK_RANDOM = 2, 2
