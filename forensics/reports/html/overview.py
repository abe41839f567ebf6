"""The map of all partitions and rules, what the evidence covers, settings that mattered, and the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from forensics.case import Case, Origin
from forensics.case.brokers import Broker
from forensics.case.coverage import coverage
from forensics.case.producers import asked
from forensics.case.trace_clusters import cluster_text
from forensics.reports.html.wording import human_bytes, in_code, micros, namer, number, plain, plural, shortener
from forensics.reports.remarks import listed
from forensics.reports.titles import earlier
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.finding import Judgement, Rule, Severity, Verdict
from forensics.version import __version__
from parsers.schema import Kind

MAPPED, WRITTEN, COVERED, LISTED, NOTED = 5_000, 60, 240, 400, 40
"""Partitions in the map, of them written as HTML, rows of coverage, of inputs and of notices."""

LONGEST = 300
"""Characters of a setting's value: one that is longer is no value that Kafka would take."""

HASHED = 4_000_000_000
"""Bytes that are read again for the hashes of files that no finding cites: a page must not take longer than a scan."""

VIOLATED, WARNED, NOTED_ONLY, UNKNOWN, CLEAN, NOT_APPLICABLE = LETTERS = "vwnucx"
"""Cells of the map: violated, a warning, info, unknown, clean, not applicable."""

SETTINGS = {
    "unclean.leader.election.enable": "true lets replicas outside the ISR lead; what only the ISR had is then lost",
    "min.insync.replicas": (
        "smallest ISR with which a leader accepts acks=all. All members of the ISR must have the record; with 1, a "
        "leader that is alone in the ISR acknowledges it"
    ),
    "default.replication.factor": "copies of a topic that was created without saying how many",
    "inter.broker.protocol.version": "below 0.11 a follower truncates its log to its own high watermark (KIP-101)",
    "log.message.format.version": "below 0.11 records carry no leader epoch, so it cannot show a fork",
    "replica.lag.time.max.ms": "how long a follower may lag before the leader takes it out of the ISR",
    "log.flush.interval.messages": "records that a broker may hold unflushed: a power failure removes them",
    "log.flush.interval.ms": "time that records may stay unflushed: a power failure removes them",
    "replica.high.watermark.checkpoint.interval.ms": "how old a high watermark in a checkpoint file may be",
}
"""Settings that decide whether records can be lost, in the order shown, and what each decides."""

_NEVER = {"9223372036854775807": "never", "null": "not set"}
"""Values with a meaning that differs from their look."""


@dataclass(frozen=True, slots=True)
class MapRow:
    """One partition in the map."""

    name: str
    letters: str
    panel: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Passage:
    """Text under one heading of a rule's explanation, or before the first heading.

    Attributes:
        paragraphs: each in pieces, of which every second is code.
    """

    heading: str
    paragraphs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class RuleColumn:
    """One rule in the map."""

    id: str
    title: str
    severity: str
    counts: dict[str, int]
    doc: tuple[Passage, ...]

    @property
    def told(self) -> str:
        """Its counts in words."""
        words = {
            VIOLATED: "violated",
            WARNED: "with a warning",
            NOTED_ONLY: "info",
            UNKNOWN: "unknown",
            CLEAN: "clean",
            NOT_APPLICABLE: "not applicable",
        }
        return ", ".join(
            f"{number(self.counts[letter])} {word}" for letter, word in words.items() if self.counts[letter]
        )


@dataclass(frozen=True, slots=True)
class Map:
    """All partitions by rules."""

    rules: tuple[RuleColumn, ...]
    rows: tuple[MapRow, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Cover:
    """One broker and kind of file with lines, or all of its kinds without: ``kind`` then lists them."""

    broker: str
    kind: str
    files: str
    lines: int
    understood: int
    relevant: int
    first: int | None
    last: int | None
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage of the evidence."""

    rows: tuple[Cover, ...]
    more: int
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a broker compared with that of another.

    Attributes:
        apart: between which bounds it is ahead of or behind the other, in words.
        pairs: number of causes and effects.
    """

    broker: str
    apart: str
    pairs: int


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting.

    Attributes:
        values: each value, and the brokers that have it.
        decides: why it matters.
    """

    name: str
    values: tuple[tuple[str, str], ...]
    decides: str


@dataclass(frozen=True, slots=True)
class Input:
    """One file taken in."""

    path: str
    format: str
    broker: str
    size: str
    sha256: str
    notices: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was damaged or not understood."""

    place: str
    reason: str
    excerpt: str


@dataclass(frozen=True, slots=True)
class Method:
    """How the answer came about."""

    version: str
    paths: tuple[str, ...]
    zone: str
    skews: tuple[tuple[int, str], ...]
    inputs: tuple[Input, ...]
    inputs_more: int
    files: int
    size: str
    notices: tuple[Notice, ...]
    notices_count: int
    unknown_files: int


def verdict_map(result: Result, number_of: Mapping[int, int], anchors: Mapping[int, str]) -> Map:
    """Partitions by rules, worst first.

    Args:
        result: a finished scan.
        number_of: place of each partition with a chart among these, by its position in the result.
        anchors: the ids of their elements.
    """
    letters = [
        "".join(_letter(partition.judgements.get(rule.id)) for rule in RULES if rule.id not in result.changes.disabled)
        for partition in result.partitions
    ]
    asked = [rule for rule in RULES if rule.id not in result.changes.disabled]
    columns = [
        RuleColumn(
            rule.id,
            rule.heading,
            result.changes.severities.get(rule.id, rule.severity).value,
            {letter: sum(row[place] == letter for row in letters) for letter in LETTERS},
            passages(rule),
        )
        for place, rule in enumerate(asked)
    ]
    rows = []
    called = namer([p.history.cluster for p in result.partitions])
    for position, partition in enumerate(result.partitions[:MAPPED]):
        rows.append(
            MapRow(called(partition.history), letters[position], number_of.get(position, -1), anchors.get(position, ""))
        )
    return Map(tuple(columns), tuple(rows), len(result.partitions))


def passages(rule: Rule) -> tuple[Passage, ...]:
    """The texts that explain a rule: its summary, and each part under its heading."""
    parts = [("", (rule.summary,)), *((part.value, told) for part, told in rule.help.parts.items())]
    return tuple(Passage(heading, tuple(in_code(told) for told in paragraphs)) for heading, paragraphs in parts)


def _letter(judgement: Judgement | None) -> str:
    """The verdict, and of a violation how much it matters: information is no reason for red."""
    if judgement is None or judgement.verdict is Verdict.UNKNOWN:
        return UNKNOWN
    if judgement.verdict is Verdict.NOT_APPLICABLE:
        return NOT_APPLICABLE
    worst = min((finding.severity.rank for finding in judgement.findings), default=None)
    if worst is None:
        return VIOLATED if judgement.verdict is Verdict.VIOLATED else CLEAN
    if worst <= Severity.ERROR.rank:
        return VIOLATED
    return WARNED if worst == Severity.WARNING.rank else NOTED_ONLY


def covered(case: Case) -> Coverage:
    """Return the time coverage of each broker's files."""
    parts = [(part, coverage(part).filter(pl.col("kind") != "unknown")) for part in case.parts]
    frame = pl.concat([found for _, found in parts])
    first, last = micros(frame.get_column("first_time").min()), micros(frame.get_column("last_time").max())  # type: ignore[arg-type]
    rows: list[Cover] = []
    span = max((last or 0) - (first or 0), 1)
    for part, found in parts:
        named = part.sources.get_column("cluster").drop_nulls().to_list()
        where = _cluster(case, named[0] if named else None)
        for (broker,), mine in found.group_by("broker", maintain_order=True):
            name = (str(broker) if broker is not None else "?") + where
            rows += _timed(mine.filter(pl.col("first_time").is_not_null()), name, first, span)
            still = mine.filter(pl.col("first_time").is_null())
            if not still.is_empty():
                kinds = [f"{n} {kind}" for kind, n in still.select("kind", "files").iter_rows()]
                size = human_bytes(int(still.get_column("bytes").sum() or 0))
                rows.append(Cover(name, ", ".join(kinds), size, 0, 0, 0, None, None, 0, 0))
    return Coverage(tuple(rows[:COVERED]), max(len(rows) - COVERED, 0), first, last)


def _timed(frame: pl.DataFrame, broker: str, first: int | None, span: int) -> list[Cover]:
    rows = []
    for row in frame.iter_rows(named=True):
        start, end = micros(row["first_time"]), micros(row["last_time"])
        left = width = 0.0
        if start is not None and end is not None and first is not None:
            left, width = 100 * (start - first) / span, 100 * (end - start) / span
        rows.append(
            Cover(
                broker=broker,
                kind=row["kind"],
                files=f"{plural(row['files'], 'file')}, {human_bytes(row['bytes'] or 0)}",
                lines=row["lines"] or 0,
                understood=row["understood"] or 0,
                relevant=row["relevant"] or 0,
                first=start,
                last=end,
                left=round(left, 2),
                width=round(max(width, 0.6), 2),
            )
        )
    return rows


def clocks(case: Case) -> tuple[Clock, ...]:
    """Return the differences of the brokers' clocks, from causes and effects that two of them logged."""
    rows = []
    for row in case.skew.head(COVERED).iter_rows(named=True):
        where = _cluster(case, row["cluster"])
        other = row["reference"]
        words = f"at no one distance from broker {other}'s: a clock was set, or they run at different speeds"
        if row["consistent"]:
            words = _apart(row["low"], row["high"], f"broker {other}'s")
        rows.append(Clock(f"{row['broker']}{where}", words, row["pairs"] or 0))
    return tuple(rows)


def _apart(low: int | None, high: int | None, whose: str) -> str:
    """Return how far a clock may be from another one, in words.

    Args:
        low, high: bounds in microseconds, above zero for ahead; None for no bound.
        whose: the other clock.

    >>> _apart(-198_000, 36_000, "b's"), _apart(5_000, 36_000, "b's"), _apart(None, -3_000, "b's")
    ("between 198 ms behind and 36 ms ahead of b's", "5 ms to 36 ms ahead of b's", "at least 3 ms behind b's")
    >>> _apart(-9_000, None, "b's"), _apart(4_000, None, "b's"), _apart(None, None, "b's")
    ("at most 9 ms behind b's", "at least 4 ms ahead of b's", 'unknown')
    """
    if low is None and high is None:
        return "unknown"
    if low is None or high is None:
        bound = low if low is not None else high or 0
        ahead, least = bound >= 0, (low is not None) == (bound >= 0)
        return f"at {'least' if least else 'most'} {_span(abs(bound))} {'ahead of' if ahead else 'behind'} {whose}"
    if low < 0 <= high:
        return f"between {_span(-low)} behind and {_span(high)} ahead of {whose}"
    near, far = sorted((abs(low), abs(high)))
    return f"{_span(near)} to {_span(far)} {'ahead of' if low >= 0 else 'behind'} {whose}"


def _cluster(case: Case, name: str | None) -> str:
    """Return the cluster, if the evidence has several: their brokers share ids."""
    return f" of {plain(cluster_text(name))}" if len(case.parts) > 1 else ""


def _span(micros_: int) -> str:
    return f"{number(round(micros_ / 1_000))} ms" if micros_ < 10_000_000 else f"{micros_ / 1e6:,.1f} s"


def settings(result: Result) -> tuple[Setting, ...]:
    """Return settings and versions by broker, and what topics set for themselves: each value names its scope."""
    case = result.case
    brokers = sorted(case.everyone, key=lambda b: (b.cluster or "", b.id))
    made = []
    versions = [(f"{b.id}{_cluster(case, b.cluster)}", b.version) for b in brokers if b.version]
    if versions:
        decides = "which protocol keeps replicas equal, and which lines a broker prints"
        made.append(Setting("Kafka version", _grouped(versions), decides))
    made += [
        Setting(name, values, decides)
        for name, decides in SETTINGS.items()
        if (values := _scoped(result, brokers, name))
    ]
    own = [
        (_spoken(detail), f"topic {plain(topic)}{_OF_DELETED if deleted else ''}" if topic else "the cluster")
        for topic, detail, deleted in _own_settings(case).iter_rows()
    ]
    if own:
        made.append(
            Setting("Own settings of topics and of the cluster", tuple(own), "these override the settings of brokers")
        )
    return (*made, _acks(case))


_OF_DELETED = " (deleted; this name may be of another topic now)"


def _own_settings(case: Case) -> pl.DataFrame:
    """Return the own settings of topics and clusters (topic None), and whether a later record deletes the topic."""
    kind = pl.col("kind")
    rows = case.observations.filter(kind.is_in([Kind.TOPIC_CONFIG.value, Kind.CLUSTER_CONFIG.value]))
    gone = case.observations.filter(kind == Kind.TOPIC_REMOVED.value, pl.col("detail").is_not_null())
    last = gone.group_by("source", pl.col("detail").alias("topic")).agg(pl.col("row").max().alias("removed"))
    told = rows.join(last, on=["source", "topic"], how="left", maintain_order="left")
    deleted = (pl.col("removed") > pl.col("row")).fill_null(value=False).alias("deleted")
    told = told.select("topic", "detail", deleted).drop_nulls("detail")
    # A topic that exists has the setting, whichever copy of the log ends before it was deleted.
    return told.group_by("topic", "detail", maintain_order=True).agg(pl.col("deleted").all()).head(40)


def _scoped(result: Result, brokers: Sequence[Broker], name: str) -> tuple[tuple[str, str], ...]:
    """Return the values of a setting: of topics, if they have their own, then of brokers."""
    case = result.case
    stated = ((b, b.own_settings.get(name)) for b in brokers)
    by_broker = [(f"{b.id}{_cluster(case, b.cluster)}", value) for b, value in stated if value is not None]
    own = _of_topics(result, name)
    values = _grouped(by_broker) if by_broker else ()
    return (*own, *((value, f"default, {who}") for value, who in values)) if own else values


TOPICS = 4
"""Topics named beside a value of their own."""

_OF_TOPICS = frozenset({"min.insync.replicas", "unclean.leader.election.enable"})
"""Settings that a log's properties, as printed when it was created, state for its topic."""


def _of_topics(result: Result, name: str) -> tuple[tuple[str, str], ...]:
    """Return the values that topics have of a setting, if they differ from their brokers' default."""
    if name not in _OF_TOPICS:
        return ()
    values: dict[str, dict[str, None]] = {}
    for partition in result.partitions:
        history = partition.history
        value = history.facts.properties.get(name)
        defaults = {broker.settings.get(name) for broker in result.case.everyone if broker.cluster == history.cluster}
        if value is not None and defaults != {value}:
            where = f"{plain(history.topic)}{earlier(history.incarnation)}{_cluster(result.case, history.cluster)}"
            values.setdefault(value, {})[where] = None
    found = []
    for value, topics in sorted(values.items()):
        named = ", ".join(list(topics)[:TOPICS])
        rest = f" and {number(len(topics) - TOPICS)} more" if len(topics) > TOPICS else ""
        found.append((_spoken(value), f"topic{'s' if len(topics) > 1 else ''} {named}{rest}"))
    return tuple(found)


def _acks(case: Case) -> Setting:
    """Return the acks that producers requested, by request logs; only for ``all`` does a leader wait for its ISR."""
    decides = "with all, a producer is told once the ISR has a record; with 1 or 0 a tail may go without any fault"
    values = []
    for level in asked(case):
        where = f"for {listed([plain(topic) for topic in level.topics])}" if level.topics else "its log names no topics"
        values.append((plain(level.acks), where + (", refused at times" if level.refused else "")))
    waits = (
        case.observations.filter(pl.col("kind") == Kind.ACKS_AWAITED.value)
        .get_column("topic")
        .drop_nulls()
        .unique()
        .sort()
    )
    if waits.len() and not any(acks == "all" for acks, _ in values):
        topics = listed([plain(topic) for topic in waits.to_list()])
        values.append(("all", f"seen for {topics}: a leader waited for its ISR"))
    shown_by = "the request log (kafka.request.logger) at DEBUG would tell"
    if case.origin is not Origin.FILES:
        shown_by = "lines of kind produced show it"
    unseen = ("not seen", f"in this evidence; {shown_by}")
    return Setting("acks of producers", tuple(values) or (unseen,), decides)


def _grouped(by_broker: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    values: dict[str, list[str]] = {}
    for broker, value in by_broker:
        values.setdefault(value, []).append(broker)
    if len(values) == 1:
        count = len(by_broker)
        who = "same on every broker that reports it" if count > 1 else _brokers([by_broker[0][0]])
        return ((_spoken(next(iter(values))), who),)
    return tuple((_spoken(value), _brokers(brokers)) for value, brokers in list(values.items())[:8])


def _spoken(value: str) -> str:
    return _NEVER.get(value) or (plain(value) if len(value) <= LONGEST else f"{plain(value[:LONGEST])} …")


def _brokers(brokers: list[str]) -> str:
    shown = ", ".join(brokers[:12])
    more = f" and {len(brokers) - 12} more" if len(brokers) > 12 else ""
    return f"broker{'s' if len(brokers) > 1 else ''} {shown}{more}"


def method(result: Result) -> Method:
    """Inputs with their hashes, how times were read, what was not understood."""
    case = result.case
    # By path, so that the page is the same in whatever order the folders were named.
    rows = case.sources.filter(pl.col("format") != "irrelevant").sort("path", "id")
    return Method(
        version=__version__,
        paths=tuple(plain(path) for path in sorted(result.inputs)),
        zone=case.reading.assumed,
        skews=tuple((broker, f"{shift / 1000:+,.0f} ms") for broker, shift in sorted(case.reading.skew.items())),
        inputs=_inputs(result, rows.head(LISTED)),
        inputs_more=max(rows.height - LISTED, 0),
        files=case.sources.height,
        size=human_bytes(int(case.sources.get_column("bytes").sum())),
        notices=_notices(result),
        notices_count=case.notices.height,
        unknown_files=case.sources.filter(pl.col("format") == "unknown").height,
    )


def _inputs(result: Result, rows: pl.DataFrame) -> tuple[Input, ...]:
    """Return files taken in, with their hashes as far as no more than ``HASHED`` bytes are read again for them."""
    short = shortener(result.inputs)
    known = {piece.path: piece.sha256 for f in result.findings for piece in f.evidence if piece.sha256}
    inputs, left = [], HASHED
    for row in rows.iter_rows(named=True):
        size = row["bytes"] or 0
        sha256 = row["sha256"] or known.get(row["path"])
        if sha256 is None and size <= left:
            sha256, left = _hash(result.case, row["id"]), left - size
        broker = str(row["broker"]) if row["broker"] is not None else ""
        path = plain(short(row["path"]))
        inputs.append(Input(path, row["format"], broker, human_bytes(size), sha256 or "", row["notices"] or 0))
    return tuple(inputs)


def _notices(result: Result) -> tuple[Notice, ...]:
    """Return the first places that were damaged or not understood, by path."""
    case, short = result.case, shortener(result.inputs)
    named = case.notices.join(case.sources.select("id", "path"), left_on="source", right_on="id", how="left")
    order = ("path", "line", "byte", "reason", "excerpt")
    rows = named.sort(order, nulls_last=True, maintain_order=True).head(NOTED)
    return tuple(
        Notice(
            plain(short(case.path(row["source"]))) + _at(row["line"], row["byte"]),
            plain(row["reason"] or ""),
            plain(row["excerpt"] or ""),
        )
        for row in rows.iter_rows(named=True)
    )


def _at(line: int | None, byte: int | None) -> str:
    """Return a place within a file, in words.

    >>> _at(3, None), _at(None, 1840), _at(None, None)
    (':3', ' byte 1\u202f840', '')
    """
    if line is not None:
        return f":{line}"
    return f" byte {number(byte)}" if byte is not None else ""


def _hash(case: Case, source: int) -> str:
    try:
        return case.files[source].sha256()
    except (OSError, IndexError):
        return ""  # moved since it was read; the path still names it
