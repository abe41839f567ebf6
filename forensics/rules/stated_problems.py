"""Known problems that the lines of a case state, with counts, values and the first lines."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from forensics.case import Case
from forensics.case.partial import excerpts_alone
from forensics.case.shared_directories import opens_caseless, shared_directories
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.lines_of_brokers import removed_topics, removes_topic
from forensics.replay.lineage import Range
from forensics.replay.roles.role_spans import ROLES
from forensics.rules.finding import Evidence
from forensics.rules.known_problems import BY_ID, KNOWN_PROBLEMS
from forensics.rules.problem_entry import KnownProblem, Row
from parsers.details import cause_in, exception_in
from parsers.formats.command_output import NAME as DESCRIBED
from parsers.formats.dump_log_text import NAME as DUMPED
from parsers.schema import FAILURES, Kind
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC
from parsers.text.broker_log import NAME as LOG

FIRST = 3
"""Lines shown for one problem at one place."""

_LATE = 1 << 62
"""Later than any time."""

NEAR = 4
"""Lines between an event and the exception that belongs to it, at most."""

_VALUES = (
    "leader", "leader_epoch", "previous_epoch", "partition_epoch", "offset", "hw", "hw_before", "leo", "log_start",
)  # fmt: skip
_COLUMNS = (
    "row", "source", "line", "kind", "message", "broker", "topic", "partition", "topic_id", "time", *_VALUES,
    "isr", "isr_before", "log_dir", "detail", "shares", "replica",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Problem:
    """A known problem at one place: a broker, a partition, or both.

    Attributes:
        known: the entry that recognises it.
        broker: broker that logged the line, or None if unknown.
        topic, partition: partition that the line names, or None.
        count: how many lines state it.
        states: the sentence about the first of them.
        means: what it means.
        fetch: the next steps.
        do_not: what would destroy records or their last copy.
        offsets: at stake, ``[first, end)``.
        values: of the first line, by column.
        time: of the first line, microseconds since 1970 UTC, or None.
        refs: the first lines.
        evidence: text of these lines.
    """

    known: KnownProblem
    broker: int | None
    topic: str | None
    partition: int | None
    count: int
    states: str
    means: str
    fetch: tuple[str, ...]
    offsets: tuple[Range, ...]
    values: dict[str, int | str]
    time: int | None
    refs: tuple[Ref, ...]
    evidence: tuple[Evidence, ...] = ()
    do_not: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The partition, as ``orders-0``."""
        return None if self.topic is None or self.partition is None else f"{self.topic}-{self.partition}"


def stated(case: Case) -> list[Problem]:
    """Return known problems that the lines of logs state, in the order of the table.

    For whole directories, only those that replay does not judge by itself, and some of brokers whose replicas it
    cannot judge; routine lines only for excerpts.
    """
    found: dict[tuple[object, ...], _Place] = {}
    excerpt = excerpts_alone(case)
    held = _held(case) if excerpt else {}
    for row in _rows(case, excerpt=excerpt):
        known = _known(row)
        if known is TO_ZERO and (_removes(row) or _before(held, row)):
            known = BY_ID["truncation"]
        if known is not None:
            key = (known.id, row["broker"], row["topic"], row["partition"])
            found.setdefault(key, _Place(known, row)).add(row)
    order = {known.id: number for number, known in enumerate(KNOWN_PROBLEMS)}
    said: set[tuple[object, ...]] = {(known, broker) for known, broker, _, _ in found}
    places = sorted(found.values(), key=lambda one: (order[one.known.id], *_place_order(one)))
    return [one.problem() for one in places if not said & one.whole() and not found.keys() & one.beside()]


def _place_order(one: _Place) -> tuple[int, int, int]:
    """Return by what the places of a problem are put in order: failed directories in time, others as in the files."""
    time = _when(one.first)[0] if one.known.of_directory else 0
    return time, one.first["source"], one.first["line"]


def _when(row: Row) -> tuple[int, bool]:
    """Return by what the first line about a directory is chosen: its time, then whether it names no cause."""
    return _LATE if row["time"] is None else row["time"], cause_in(row["detail"]) is None


def looked_at(rows: pl.LazyFrame, *, excerpt: bool) -> pl.LazyFrame:
    """Return the observations that ``stated`` looks at, some of them twice; from them alone it finds the same.

    Args:
        rows: observations.
        excerpt: as ``excerpts_alone`` has it; then all of them.
    """
    if excerpt:
        return rows
    kind = pl.col("kind").cast(pl.String)
    role = kind.is_in([one.value for one in ROLES]) & (pl.col("topic") != METADATA_TOPIC)
    wanted = pl.any_horizontal(
        kind.is_in(_asked(excerpt=False)),
        opens_caseless(),
        removes_topic(),
        pl.col("broker").is_null() & kind.is_in([one.value for one in _CHANGES]),
    )
    # A filter by itself, which leaves nearly all rows on disk.
    roles = rows.filter(role & ~wanted.fill_null(False)).filter(pl.struct("kind", "broker").is_first_distinct())
    failures = rows.filter(pl.col("topic").is_null() & kind.is_in([one.value for one in FAILURES]))
    lines = failures.select("source", "line").drop_nulls().unique().collect()
    found = [rows.filter(wanted), roles]
    if lines.height:
        near = pl.concat(lines.with_columns(pl.col("line") - back) for back in range(1, NEAR + 1)).unique().lazy()
        found.append(rows.join(near, on=["source", "line"], how="semi", maintain_order="left"))
    return pl.concat(found)


def _looked_for(*, excerpt: bool) -> list[KnownProblem]:
    return [known for known in KNOWN_PROBLEMS if excerpt or known.always or known.unjudged]


def _asked(*, excerpt: bool) -> list[str]:
    """Return the kinds of line that entries recognise, apart from that about shared directories."""
    return sorted({kind.value for known in _looked_for(excerpt=excerpt) if known is not SHARED for kind in known.kinds})


SHARED = BY_ID["shared-directory"]
"""Two lines show it, each of another topic."""

TO_ZERO = BY_ID["truncation-to-zero"]
"""Routine for a replica that is empty, and for no other."""


def _removes(row: Row) -> bool:
    """Return whether a truncation removed something, as it did if the line names its directory (1.0 and later)."""
    return bool(row["kind"] == Kind.TRUNCATE.value and row["log_dir"] is not None)


def _held(case: Case) -> dict[tuple[int, str, int], tuple[int | None, int]]:
    """Return replicas with records, as lines say: broker, topic and partition, with time and row of the first line."""
    fetches = (pl.col("kind") == Kind.FETCHER_ADDED.value) & (pl.col("offset") > 0)
    rows = case.observations.filter(fetches | (pl.col("leo") > 0) | (pl.col("hw") > 0))
    own = rows.select("broker", "topic", "partition", pl.col("time").dt.epoch("us"), "row").drop_nulls("broker")
    own = own.sort("time", "row", nulls_last=True).unique(["broker", "topic", "partition"], keep="first")
    return {(one["broker"], one["topic"], one["partition"]): (one["time"], one["row"]) for one in own.to_dicts()}


def _before(held: Mapping[tuple[int, str, int], tuple[int | None, int]], row: Row) -> bool:
    """Return whether a line before this one, or at the same time, states that its replica has records."""
    time, number = held.get((row["broker"], row["topic"], row["partition"]), (None, row["row"] + 1))
    return bool(time <= row["time"] if time is not None and row["time"] is not None else number <= row["row"])


def _with_roles(case: Case) -> frozenset[int]:
    """Return brokers of which a line states a role of a replica; roles in the metadata quorum do not count."""
    roles = case.observations.filter(
        pl.col("kind").is_in([kind.value for kind in ROLES]), pl.col("topic") != METADATA_TOPIC
    )
    return frozenset(roles.get_column("broker").drop_nulls().unique().to_list())


def _rows(case: Case, *, excerpt: bool) -> Iterator[Row]:
    """Lines of logs that an entry may recognise, in the order of the files."""
    # A dump of a known broker is judged as its segment is.
    nobodys = (pl.col("format") == DUMPED) & pl.col("broker").is_null()
    logs = case.sources.filter(pl.col("format").is_in([LOG, DESCRIBED]) | nobodys).get_column("id")
    of_logs = pl.col("source").is_in(logs.implode()) & pl.col("line").is_not_null()
    wanted = pl.col("kind").cast(pl.String).is_in(_asked(excerpt=excerpt)) | opens_caseless()
    rows = case.observations.filter(of_logs & wanted)
    if rows.is_empty():
        return
    judged = _with_roles(case)
    rows = _with_shared(_with_deletions(rows, case), case)
    # A controller logs whose directory is offline.
    failed = pl.col("kind").is_in([Kind.STORAGE_ERROR.value, Kind.DIR_FAILED.value])
    rows = rows.with_columns(pl.when(failed).then(pl.coalesce("replica", "broker")).otherwise("broker").alias("broker"))
    rows = rows.with_columns(
        pl.col("time").dt.epoch("us"), pl.col("kind").cast(pl.String), pl.col("message").cast(pl.String)
    )
    rows = _with_leaders_start(_with_reset(_with_isr_before(_with_change_before(rows, case)), case), case)
    rows = _with_later_leader(_with_member_behind(_without_vain_plans(rows, case), case), case)
    events = _named(case, logs) if rows.filter(pl.col("topic").is_null() | pl.col("offset").is_null()).height else {}
    for row in rows.select(_COLUMNS).sort("source", "line", "row").iter_rows(named=True):
        known = _known(row)
        unjudged = known is not None and known.unjudged and row["broker"] not in judged
        if known is not None and (excerpt or known.always or unjudged):
            yield _with_event(row, events) if row["kind"] in FAILURES and _is_open(row) else row


def _with_deletions(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which a replica is no stray one if a controller removed its topic: it was to be deleted."""
    removed = pl.col("topic_id").is_in(removed_topics(case.observations))
    deleted = removed & (pl.col("kind") == Kind.LOG_DELETED.value)
    return rows.with_columns(pl.when(deleted).then(None).otherwise("detail").alias("detail"))


def _with_shared(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows with ``shares``: the other partitions in the directory of a log that a line opens.

    Only for the first of these partitions by name, so that each directory is reported once.
    """
    found = [
        (broker, name, " and ".join(others))
        for part in case.parts
        for broker, shared in shared_directories(part.observations).items()
        for name, others in shared.items()
        if name < others[0]
    ]
    if not found:
        return rows.with_columns(pl.lit(None, pl.String).alias("shares"))
    named = pl.DataFrame(
        found, {"broker": rows.schema["broker"], "_name": pl.String, "shares": pl.String}, orient="row"
    )
    name = pl.when(opens_caseless()).then(pl.concat_str("topic", pl.lit("-"), "partition")).alias("_name")
    named = named.unique(["broker", "_name"], keep="first", maintain_order=True)
    return rows.with_columns(name).join(
        named, on=["broker", "_name"], how="left", nulls_equal=True, maintain_order="left"
    )


def _with_isr_before(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows in which a described partition has the ISR of its last description in the same file before it."""
    described = pl.col("kind") == Kind.TOPIC_DESCRIBED.value
    before = rows.filter(described, pl.col("isr") != "")
    if before.is_empty():
        return rows
    before = before.sort("source", "line", "row").select(
        "row", pl.col("isr").shift(1).over("source", "topic", "partition").alias("_isr")
    )
    rows = rows.join(before, on="row", how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("isr_before", "_isr").alias("isr_before")).drop("_isr")


def _with_reset(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which a position out of range has the offset to which its consumer was reset next, as ``leo``."""
    place = ["source", "topic", "partition"]
    kinds = (Kind.CONSUMER_OUT_OF_RANGE, Kind.CONSUMER_RESET, Kind.CONSUMER_SET)
    lines = case.observations.filter(pl.col("kind").is_in([one.value for one in kinds]), pl.col("offset").is_not_null())
    if lines.is_empty():
        return rows
    after = (
        lines.sort(*place, "line", "row")
        .with_columns(
            pl.when(pl.col("kind").shift(-1).over(place) == Kind.CONSUMER_RESET.value)
            .then(pl.col("offset").shift(-1).over(place))
            .alias("_reset")
        )
        .filter(pl.col("kind") == Kind.CONSUMER_OUT_OF_RANGE.value, pl.col("_reset").is_not_null())
    )
    rows = rows.join(after.select("row", "_reset"), on="row", how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("leo", "_reset").alias("leo")).drop("_reset")


def _with_later_leader(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which a partition without a leader has the one that the same log names next, as ``leader``."""
    place = ["source", "topic", "partition"]
    elected = pl.col("kind").is_in([Kind.ELECTION.value, Kind.UNCLEAN_ELECTION.value]) & (pl.col("leader") >= 0)
    lines = case.observations.filter(elected | (pl.col("kind") == Kind.PARTITION_OFFLINE.value))
    if lines.filter(elected).is_empty():
        return rows
    after = lines.sort(*place, "line", "row").select(
        "row", pl.when(elected).then("leader").backward_fill().over(place).alias("_later")
    )
    offline = pl.col("kind") == Kind.PARTITION_OFFLINE.value
    rows = rows.join(after, on="row", how="left", maintain_order="left")
    return rows.with_columns(
        pl.when(offline).then(pl.coalesce("leader", "_later")).otherwise("leader").alias("leader")
    ).drop("_later")


def _with_leaders_start(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which a fetch offset has as ``log_start`` its leader's log start, if it was set to that.

    The line before it of the same replica states that (``reset its fetch offset from ... to current leader's start``).
    """
    place = ["source", "topic", "partition"]
    kinds = (Kind.FETCH_RESET, Kind.FETCH_OFFSET_SET)
    lines = case.observations.filter(pl.col("kind").is_in([one.value for one in kinds]))
    if lines.filter(pl.col("kind") == Kind.FETCH_OFFSET_SET.value).is_empty():
        return rows
    lines = lines.filter(
        (pl.col("kind") != Kind.FETCH_RESET.value) | pl.any_horizontal(pl.col("log_start", "leo").is_not_null())
    )
    before = (
        lines.sort(*place, "line", "row")
        .with_columns(pl.col("log_start").shift(1).over(place).alias("_start"))
        .filter(pl.col("kind") == Kind.FETCH_OFFSET_SET.value, pl.col("_start") == pl.col("leo"))
    )
    rows = rows.join(before.select("row", "_start"), on="row", how="left", maintain_order="left")
    return rows.with_columns(pl.coalesce("log_start", "_start").alias("log_start")).drop("_start")


_TRUNCATES = (Kind.TRUNCATE_PLAN, Kind.TRUNCATE, Kind.TRUNCATE_FULL, Kind.TRUNCATE_NOOP)


def _without_vain_plans(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows without plans to truncate that had no effect, as the next such line about the log states."""
    place = ["source", "topic", "partition"]
    lines = case.observations.filter(pl.col("kind").is_in([one.value for one in _TRUNCATES]))
    if lines.filter(pl.col("kind") == Kind.TRUNCATE_NOOP.value).is_empty():
        return rows
    following = lines.sort(*place, "line", "row").with_columns(
        pl.col(name).shift(-1).over(place).alias(f"_{name}") for name in ("kind", "offset")
    )
    vain = following.filter(
        pl.col("kind") == Kind.TRUNCATE_PLAN.value,
        pl.col("_kind") == Kind.TRUNCATE_NOOP.value,
        pl.col("_offset") == pl.col("offset"),
    )
    return rows.join(vain.select("row"), on="row", how="anti", maintain_order="left")


def _with_member_behind(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which an ISR that shrinks has as offset the lowest log end offset of a replica that it loses.

    Only if that is below the high watermark: a member of the ISR lacked committed records then.
    """
    place = ["source", "line", "topic", "partition"]
    shrinks = pl.col("kind") == Kind.ISR_SHRINK.value
    if rows.filter(shrinks).is_empty():
        return rows
    ends = case.observations.filter(pl.col("kind") == Kind.REMOTE_LEO.value, pl.col("leo") >= 0)
    rows = rows.join(
        ends.group_by(place).agg(pl.col("leo").min().alias("_end")), on=place, how="left", maintain_order="left"
    )
    behind = pl.when(shrinks & (pl.col("_end") < pl.col("hw"))).then("_end")
    return rows.with_columns(pl.coalesce(behind, "offset").alias("offset")).drop("_end")


_CHANGES = (
    Kind.LOG_LOADED,
    Kind.LOG_CREATED,
    Kind.LOG_DELETED,
    Kind.TRUNCATE,
    Kind.TRUNCATE_FULL,
    Kind.CORRUPTION_CUT,
)
"""Kinds of line about a log as a whole, or about its end."""


_AFTER = ((Kind.LOG_LOADED, Kind.LOG_LOADED, "leo"), (Kind.HW_REGRESSED, Kind.TRUNCATE, "offset"))
"""Kinds of line about a log, of the line about it before, and the value of that one which counts."""


def _with_change_before(rows: pl.DataFrame, case: Case) -> pl.DataFrame:
    """Return rows in which some lines of an unknown broker have as offset what the line about the log before states.

    A load has the log end offset of the load before, and a high watermark that fell has the offset of a truncation.
    Only if no line of the same file shows another change of that log in between. Replay judges known brokers.
    """
    place = ["source", "topic", "partition"]
    kinds = {*_CHANGES, Kind.HW_REGRESSED}
    changes = case.observations.filter(
        pl.col("broker").is_null(), pl.col("kind").is_in([one.value for one in kinds]), pl.col("topic").is_not_null()
    )
    if changes.is_empty():
        return rows
    changes = (
        changes.sort(*place, "line", "row")
        .with_columns(
            *(pl.col(name).shift(1).over(place).alias(f"_{name}") for name in ("kind", "leo", "offset", "log_dir"))
        )
        .filter(pl.col("log_dir") == pl.col("_log_dir"))
    )
    before = pl.concat(
        changes.filter(pl.col("kind") == one.value, pl.col("_kind") == other.value).select(
            "row", pl.col(f"_{value}").alias("_before")
        )
        for one, other, value in _AFTER
    )
    return rows.join(before, on="row", how="left", maintain_order="left").with_columns(
        pl.coalesce("offset", "_before").alias("offset")
    )


def _known(row: Row) -> KnownProblem | None:
    return next((known for known in _by_kind()[row["kind"]] if known.recognises(row)), None)


@functools.cache
def _by_kind() -> dict[str, list[KnownProblem]]:
    found: dict[str, list[KnownProblem]] = {}
    for known in KNOWN_PROBLEMS:
        for kind in known.kinds:
            found.setdefault(kind.value, []).append(known)
    return found


def _named(case: Case, logs: pl.Series) -> dict[tuple[int, int], Row]:
    """Return lines that name a partition, by source and line: an exception right behind one is about that partition."""
    rows = case.observations.filter(
        pl.col("source").is_in(logs.implode()) & pl.col("topic").is_not_null() & pl.col("line").is_not_null()
    )
    named = rows.select("source", "line", "broker", "topic", "partition", "offset", "leo", "kind")
    return {(row["source"], row["line"]): row for row in named.iter_rows(named=True)}


def _is_open(row: Row) -> bool:
    """Return whether a line names no partition, or no offset."""
    return row["topic"] is None or row["offset"] is None


def _with_event(row: Row, events: Mapping[tuple[int, int], Row]) -> Row:
    """Return an exception without partition or offset, with those of the event that it belongs to."""
    place = (None, None) if row["topic"] is None else (row["topic"], row["partition"])
    last = row["line"] - (row["topic"] is not None)  # a line may name its own cause
    for line in range(last, last - NEAR, -1):
        event = events.get((row["source"], line))
        if event is not None and place in ((None, None), (event["topic"], event["partition"])):
            offset = event["offset"] if event["kind"] in FAILURES else event["leo"]
            own = {"topic": event["topic"], "partition": event["partition"]}
            return {**row, **own, "offset": offset if row["offset"] is None else row["offset"]}
    return row


@dataclass(slots=True)
class _Place:
    """A problem at one place, while its lines are read."""

    known: KnownProblem
    first: Row
    lines: dict[tuple[int, int], int] = field(default_factory=dict)
    log_dirs: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        """Count a line. What it states is taken from the first one that names an offset, or of a directory a cause."""
        self.lines.setdefault((row["source"], row["line"]), row["row"])
        self.log_dirs |= {row["log_dir"]} - {None}
        if self.known.of_directory and _when(row) < _when(self.first):
            self.first = row
            self.lines = {(row["source"], row["line"]): row["row"], **self.lines}
        if row["kind"] in FAILURES and self.first["offset"] is None and row["offset"] is not None:
            self.first = row

    def whole(self) -> set[tuple[object, ...]]:
        """Problems of the same broker of which this may be a step, with the broker."""
        return {(known, self.first["broker"]) for known in self.known.part_of}

    def beside(self) -> set[tuple[object, ...]]:
        """Problems of the same replica that say more than this one."""
        row = self.first
        return {(known, row["broker"], row["topic"], row["partition"]) for known in self.known.beside}

    def problem(self) -> Problem:
        """Return the finished problem."""
        row, known = self.first, self.known
        if known.of_directory and row["log_dir"] is None and len(self.log_dirs) == 1:
            row = {**row, "log_dir": next(iter(self.log_dirs))}
        stake = _stake(row, known)
        words = _words(row, stake)
        before = known.unless_named if cause_in(row["detail"]) is None else ()
        return Problem(
            known=known,
            broker=row["broker"],
            topic=row["topic"],
            partition=row["partition"],
            count=len(self.lines),
            states=_sentence(known.states, words),
            means=_sentence(known.means, words),
            fetch=tuple(_sentence(step, words) for step in (*before, *known.fetch)),
            do_not=tuple(_sentence(step, words) for step in known.do_not),
            offsets=stake,
            values={name: row[name] for name in (*_VALUES, "isr", "log_dir", "detail") if row[name] is not None},
            time=row["time"],
            refs=tuple(Ref(row=number) for number in list(self.lines.values())[:FIRST]),
        )


def _stake(row: Row, known: KnownProblem) -> tuple[Range, ...]:
    if known.stake is None:
        return ()
    first, end = (row[name] for name in known.stake)
    return ((first, end),) if first is not None and end is not None and first < end else ()


def _words(row: Row, stake: Iterable[Range]) -> dict[str, Any]:
    """Return the values of the placeholders in braces."""
    named = row["topic"] is not None and row["partition"] is not None
    ranges = list(stake)
    offset = row["offset"]
    words: dict[str, Any] = {
        name: _or_unknown(row[name])
        for name in (*_VALUES, "topic_id", "isr", "isr_before", "log_dir", "detail", "shares")
    }
    words |= {
        "who": f"broker {row['broker']}" if row["broker"] is not None else "the broker that logged this",
        "where": f"{row['topic']}-{row['partition']}" if named else "a partition (not named in full)",
        "directory": f"the directory {row['topic']}-{row['partition']}" if named else "the directory of the partition",
        "leader": f"leader {row['leader']}" if row["leader"] is not None else "its leader",
        "in_directory": f" in {row['log_dir']}" if row["log_dir"] else "",
        "log_dir": row["log_dir"] or "its log directory",
        "at": f"offset {offset}" if offset is not None else "that place",
        "from_offset": f", from offset {offset} on" if offset is not None else "",
        "at_offset": f" at offset {offset}" if offset is not None else "",
        "stake": _span(ranges),
        "fetched": f" from offset {row['leo']}" if row["kind"] == Kind.FETCH_REFUSED and row["leo"] is not None else "",
        "error": exception_in(row["detail"]) or "an error",
        "uncommitted": f"Offsets {_span(ranges)} are not committed yet: only this replica has them." if ranges else "",
    }
    return words


def _or_unknown(value: int | str | None) -> int | str:
    return "(not printed)" if value is None else value


def _span(ranges: list[Range]) -> str:
    """Offsets at stake with both ends, in words."""
    if not ranges:
        return "that are not printed"
    first, end = ranges[0]
    count = end - first
    return f"{first} to {end - 1} ({count:,} record{'' if count == 1 else 's'} at most)"


def _sentence(text: str, words: Mapping[str, Any]) -> str:
    return text.format_map(words).strip()
