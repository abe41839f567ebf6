"""From lines to observations: the message catalogue as expressions over frames.

Each line is read twice at most. One Aho-Corasick pass over all literals selects the lines that may be about
replication. Then the anchored pattern of each wording reads the values from those alone. A line with a literal that
fits no wording becomes a notice, so a new wording is seen and not lost. So does a warning of a replication logger
without any literal.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from parsers.details import LOADING, RENAME_FAILED, SENT_DAMAGED, UNNAMED_ERROR
from parsers.filled import filled
from parsers.messages import MESSAGES
from parsers.messages.catalogue import Message, Variant
from parsers.schema import NO_TOPIC_ID, NOTICES, OBSERVATIONS, Kind, conform, empty
from parsers.text import frames, unknown_wordings
from parsers.text.frames import Frame
from parsers.text.lines import Block

EXCERPT = unknown_wordings.EXCERPT
CONFIG_HEAD = "KafkaConfig values:"
CONFIG_KEYS = frozenset(
    {
        "broker.id",
        "node.id",
        "process.roles",
        "log.dir",
        "log.dirs",
        "inter.broker.protocol.version",
        "log.message.format.version",
        "log.cleanup.policy",
        "min.insync.replicas",
        "unclean.leader.election.enable",
        "default.replication.factor",
        "replica.lag.time.max.ms",
        "replica.high.watermark.checkpoint.interval.ms",
        "replica.fetch.wait.max.ms",
        "log.flush.interval.messages",
        "log.flush.interval.ms",
        "listeners",
        "advertised.listeners",
        "controller.listener.names",
        "zookeeper.connect",
    }
)
"""Settings of a broker that change a verdict or belong in a report; the rest of the dump is left out."""


@dataclass(frozen=True, slots=True)
class Extract:
    """Result of one block of lines.

    Attributes:
        observations: schema ``OBSERVATIONS``, in the order of the lines.
        notices: schema ``NOTICES``.
        events: lines that start an event of the layout.
        relevant: lines with a literal of the catalogue.
        understood: relevant lines that fitted a wording.
        first_time, last_time: times of the first and last event, as printed, microseconds since 1970.
        inside_config: the block ended inside a dump of ``KafkaConfig`` (pass it to the next block).
        read: numbers of the lines that were understood; of one text read by itself.
        unknown: numbers of the lines in a wording that the catalogue does not know; likewise.
    """

    observations: pl.DataFrame
    notices: pl.DataFrame
    events: int
    relevant: int
    understood: int
    first_time: int | None
    last_time: int | None
    inside_config: bool
    read: pl.Series
    unknown: pl.Series


@functools.cache
def _table(*, thrown: bool = False) -> tuple[list[str], dict[str, tuple[Message, ...]]]:
    """Literals of what is printed, or of what is thrown, and the messages that each may be of."""
    by_literal: dict[str, list[Message]] = {}
    for message in MESSAGES:
        for literal in message.literals if message.thrown is thrown else ():
            by_literal.setdefault(literal, []).append(message)
    return list(by_literal), {literal: tuple(messages) for literal, messages in by_literal.items()}


_PER_TEXT = 1 << 32
"""Line numbers of one text if several are read together: the number of the text times this is added to each."""


def extract(block: Block, frame: Frame, *, inside_config: bool = False) -> Extract:
    """Read the observations of one block.

    Args:
        block: lines of one source.
        frame: its layout.
        inside_config: the block before ended inside a dump of ``KafkaConfig``.
    """
    return _extracts(block.frame(), [block.notices], [block.unended], frame, inside_config)[0]


def extracts(blocks: Sequence[Block], frame: Frame) -> list[Extract]:
    """Read the observations of several short texts of one layout, one block each: far cheaper than one by one."""
    lines = [block.frame().with_columns(pl.col("line") + number * _PER_TEXT) for number, block in enumerate(blocks)]
    unended = [block.unended for block in blocks]
    return _extracts(pl.concat(lines), [block.notices for block in blocks], unended, frame, False)


def _extracts(
    lines: pl.DataFrame, noticed: Sequence[pl.DataFrame], unended: Sequence[bool], frame: Frame, inside_config: bool
) -> list[Extract]:
    literals, _ = _table()
    heads = lines.get_column("text").str.contains(frame.head)
    hits = (
        lines.filter(heads)
        .with_columns(pl.col("text").str.extract_many(literals, overlapping=True).alias("literal"))
        .filter(pl.col("literal").list.len() > 0)
    )
    unknown = unknown_wordings.find(lines, heads, hits.get_column("line"), frame)
    torn = _torn(lines, heads, unended, frame)
    if torn.height:
        unknown = unknown.join(torn, on="line", how="anti", maintain_order="left")
    # The last number of an incomplete line may lack digits.
    sound = hits.join(torn, on="line", how="anti", maintain_order="left") if torn.height else hits
    sound, run_on = _run_on(sound, frame)
    torn = pl.concat([torn, run_on])
    rows = frames.split(sound, frame).with_columns(pl.col("literal").list.unique(maintain_order=True))
    parts: list[pl.DataFrame] = []
    fitted: list[pl.Series] = []
    _wordings(rows, parts, fitted)
    lines_read = _lines_of(fitted)
    if lines_read.len() < rows.height:
        _bare_wordings(rows.join(lines_read.to_frame("line"), on="line", how="anti"), parts, fitted)
        lines_read = _lines_of(fitted)
    printed = lines_read.len()
    events, others = lines.filter(heads), lines.filter(~heads)
    thrown = _thrown(events, others, frame)
    if thrown.height:
        _wordings(thrown, parts, fitted, thrown=True)
        lines_read = _lines_of(fitted)
    observations = _named_by_event(values(pl.concat(parts, how="diagonal"))) if parts else empty(OBSERVATIONS)
    observations = _with_causes(_with_errors(_named_once(observations), lines, heads), lines, heads)
    observations = _with_senders(observations, events)
    strays = _strays(others, frame)
    missed = pl.concat([strays, torn, unknown_wordings.notices(unknown, _PER_TEXT)])
    missed = missed.sort("line", maintain_order=True)
    if printed < sound.height or lines_read.len() < printed + thrown.height:
        both = pl.concat([table.select("line", "text", "literal") for table in (rows, thrown)])
        unread = _unread(both.join(lines_read.to_frame("line"), on="line", how="anti"))
        missed = pl.concat([missed, unread]).sort("line", maintain_order=True)
    config, inside = _config(lines, heads, frame, inside_config)
    order = ["line", "time"] if run_on.height else ["line"]
    observations = pl.concat([observations, config]).sort(order, maintain_order=True)
    return [
        Extract(
            mine,
            pl.concat([notices, theirs]) if theirs.height else notices,
            heads_here,
            relevant,
            understood,
            first,
            last,
            inside,
            lines_read,
            unknown.get_column("line"),
        )
        for notices, mine, theirs, heads_here, relevant, understood, (first, last) in zip(
            noticed,
            _by_text(observations, len(noticed)),
            _by_text(missed, len(noticed)),
            _counts(events.get_column("line"), len(noticed)),
            _counts(_lines_of([told.get_column("line") for told in (hits, strays, thrown, unknown)]), len(noticed)),
            _counts(lines_read, len(noticed)),
            _spans(events, len(noticed), frame),
            strict=True,
        )
    ]


def _named_once(rows: pl.DataFrame) -> pl.DataFrame:
    """Keep lines that only name their broker if nothing else in their text does: the first line of each broker."""
    named = pl.col("kind") == Kind.BROKER_NAMED.value
    lines = rows.filter(named)
    if lines.is_empty():
        return rows
    text = pl.col("line") // _PER_TEXT
    others = rows.filter(~named)
    told = others.filter(pl.col("witness").is_not_null()).select(text.unique()).to_series()
    first = lines.filter(~text.is_in(told.implode())).sort("line").unique([text, "witness"], keep="first")
    return pl.concat([others, first])


def _by_text(rows: pl.DataFrame, texts: int) -> list[pl.DataFrame]:
    """The rows of each text, with its own line numbers."""
    if texts == 1 or rows.is_empty():
        return [rows] * texts
    number = (pl.col("line") // _PER_TEXT).alias("_text")
    parts = rows.with_columns(number, pl.col("line") % _PER_TEXT).partition_by("_text", as_dict=True, include_key=False)
    none = rows.clear()
    return [parts.get((text,), none) for text in range(texts)]


def _counts(lines: pl.Series, texts: int) -> list[int]:
    if texts == 1:
        return [lines.len()]
    counts = dict((lines // _PER_TEXT).value_counts().iter_rows())
    return [counts.get(text, 0) for text in range(texts)]


def _spans(events: pl.DataFrame, texts: int, frame: Frame) -> list[tuple[int | None, int | None]]:
    """Times of the first and last event of each text."""
    if events.is_empty():
        return [(None, None)] * texts
    text = events.get_column("line") // _PER_TEXT
    ends = events.filter((text != text.shift(1)).fill_null(True) | (text != text.shift(-1)).fill_null(True))
    timed = frames.split(ends, frame).select(pl.col("line") // _PER_TEXT, pl.col("time").cast(pl.Int64))
    found: dict[int, tuple[int | None, int | None]] = {}
    for number, time in timed.iter_rows():
        found[number] = (found[number][0] if number in found else time, time)
    return [found.get(number, (None, None)) for number in range(texts)]


def relevant(lines: pl.Series) -> pl.Series:
    """Return which of the lines contain text that only lines about replication contain."""
    literals, _ = _table()
    text = pl.col("text")
    speaks = text.str.contains_any(literals) | text.str.contains(CONFIG_HEAD, literal=True)
    return lines.to_frame("text").select(speaks).to_series()


_LOGGER = rf"\[?{frames.LOGGER}\]?(?::[0-9]+)?(?: ?:| --?)?"
_BEFORE = rf"^(?:[0-9]+ --- )?(?:{frames.THREAD} +)?(?:(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) +)?(?:{_LOGGER} +)?"
_BEHIND = rf" \({frames.LOGGER}\) \[[^\]]+\]$"
_LOGGER_ELSEWHERE = rf"^\[[^\]]*\] +[A-Z]+ +(?:[0-9]+ --- )?(?:{frames.THREAD} +)?{_LOGGER} |{_BEHIND}"


def _lines_of(fitted: Sequence[pl.Series]) -> pl.Series:
    return pl.concat(fitted).unique() if fitted else pl.Series("line", [], dtype=pl.Int64)


def _bare_wordings(rows: pl.DataFrame, parts: list[pl.DataFrame], fitted: list[pl.Series]) -> None:
    """Read rows that fitted no wording without what other layouts that begin alike print beside the message."""
    bare = pl.col("message").str.replace(_BEFORE, "").str.replace(_BEHIND, "").alias("_bare")
    rows = rows.with_columns(bare).filter(pl.col("_bare") != pl.col("message"))
    if rows.height:
        _wordings(rows.with_columns(pl.col("_bare").alias("message")).drop("_bare"), parts, fitted, bared=True)


def _wordings(
    rows: pl.DataFrame,
    parts: list[pl.DataFrame],
    fitted: list[pl.Series],
    *,
    thrown: bool = False,
    bared: bool = False,
) -> None:
    """Read rows with their literals; where something was taken off before the message, not as quoted without it."""
    _, by_literal = _table(thrown=thrown)
    pairs = rows.explode("literal", empty_as_null=True, keep_nulls=True)
    for (literal,), group in pairs.group_by(["literal"], maintain_order=True):
        _messages(group, by_literal[str(literal)], parts, fitted, bared=bared)


def _messages(
    group: pl.DataFrame,
    messages: Sequence[Message],
    parts: list[pl.DataFrame],
    fitted: list[pl.Series],
    *,
    bared: bool,
) -> None:
    """Read the rows with one literal; a wording may fit and still give no row (a list that is empty)."""
    rest = group.select("line", "time", "message")
    wordings = [(message, one) for message in messages for one in message.variants if not (bared and one.quoted)]
    for message, variant in wordings:
        if rest.is_empty():
            return
        groups = _groups(rest, "message", _marked(variant.regex))
        fits = groups.get_column("_m")
        if fits.null_count() == rest.height:
            continue
        read = rest.hstack(groups.drop("_m").get_columns())
        if fits.null_count():
            read, rest = read.filter(fits.is_not_null()), rest.filter(fits.is_null())
        else:
            rest = rest.clear()
        read = _coherent(read, variant)
        fitted.append(read.get_column("line"))
        parts.extend(_rows(read, message, variant))


def _coherent(read: pl.DataFrame, variant: Variant) -> pl.DataFrame:
    """The events of one wording without those that contradict themselves."""
    if not variant.own_row or "?P<leader>" not in variant.regex:
        return read
    return read.filter(~_contradicts_itself(pl.col("message")))


def _contradicts_itself(text: pl.Expr) -> pl.Expr:
    """Return whether an event names a leader that is none of the replicas it names: one of its digits is damaged.

    A leader is a replica (PartitionStateMachine, ReplicationControlManager). Up to 0.11 brokers print what they cached
    as ``(Leader:1,ISR:1,2),ReplicationFactor:2),AllReplicas:1,2)`` (PartitionStateInfo).
    """
    leader = text.str.extract(r"[(, ](?:leader=|Leader:)([0-9]+)[,)]")
    replicas = text.str.extract(rf"{_REPLICAS}\[?([0-9]+(?:, ?[0-9]+)*)").str.extract_all("[0-9]+")
    one = text.str.count_matches(_REPLICAS, literal=False) == 1
    return (one & leader.is_not_null() & ~replicas.list.contains(leader)).fill_null(value=False)


_REPLICAS = r"[(, ](?:replicas=|AllReplicas:)"


@functools.cache
def _marked(regex: str) -> str:
    # An empty group that takes part in every match distinguishes a match with all-optional values from no match.
    return regex.replace("^", "^(?P<_m>)", 1)


@functools.cache
def _unnamed(regex: str) -> str:
    return re.sub(r"\(\?P<[a-z_]+>", "(?:", regex)


@functools.cache
def _in_groups(column: str, regex: str) -> pl.Expr:
    return pl.col(column).str.extract_groups(regex)


def _groups(rows: pl.DataFrame, column: str, regex: str) -> pl.DataFrame:
    return rows.select(_in_groups(column, regex)).to_series().struct.unnest()


def _rows(read: pl.DataFrame, message: Message, variant: Variant) -> list[pl.DataFrame]:
    """Rows as one wording gives them: what is printed is still text, under the names of the groups."""
    parts: list[pl.DataFrame] = []
    if variant.own_row:
        parts.append(stated(read, message, variant, message.kind))
    elif not variant.each and "witness" in read.columns:
        parts.append(stated(read.select("line", "time", "witness"), message, variant, Kind.BROKER_NAMED))
    for each in variant.each:
        many = read.with_columns(pl.col("message").str.extract_all(_unnamed(each.regex)).alias("_part"))
        many = many.explode("_part", empty_as_null=False, keep_nulls=False)
        groups = _groups(many, "_part", each.regex)
        many = many.drop("_part", *groups.columns, strict=False).hstack(groups.get_columns())
        parts.append(stated(many, message, variant, each.kind or message.kind))
    return [part for part in parts if part.height]


def stated(rows: pl.DataFrame, message: Message, variant: Variant, kind: Kind) -> pl.DataFrame:
    """Add the values that the wording of the rows implies without printing them."""
    implied = {name: str(value) for name, value in variant.fixed.items() if name not in rows.columns}
    said = {"kind": kind.value, "message": message.id, **implied}
    return rows.with_columns([pl.lit(value).alias(name) for name, value in said.items()])


def values(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of all wordings at once, with the values that their texts stand for; schema ``OBSERVATIONS``."""
    for name, mark in (("tp", "-"), ("bracketed", ",")):
        if name in rows.columns:
            rows = _split_partition(rows, name, mark)
    for name in ("isr", "isr_before"):
        if name in rows.columns:
            rows = _mapped(rows, name)
    changes = []
    if "topic" in rows.columns:
        # The metadata log had another name in 2.8 (KafkaRaftServer.MetadataTopic).
        changes.append(pl.col("topic").replace("@metadata", "__cluster_metadata"))
    if "topic_id" in rows.columns:
        changes.append(_named_id(pl.col("topic_id").str.extract(r"([A-Za-z0-9_-]{22})")))
    for name, dtype in OBSERVATIONS.items():
        if dtype.is_integer() and rows.schema.get(name) == pl.String:
            changes.append(pl.col(name).cast(dtype, strict=False))
    rows = rows.with_columns(changes)
    if "last" in rows.columns:
        # Some lines print the last offset instead of the end.
        end = pl.col("last").cast(pl.Int64, strict=False) + 1
        rows = rows.with_columns((pl.coalesce(end, "leo") if "leo" in rows.columns else end).alias("leo"))
    return conform(rows, OBSERVATIONS)


def _named_id(topic_id: pl.Expr) -> pl.Expr:
    """Return a topic id; null for Uuid.ZERO_UUID, with which a broker fetches topics that have none yet (KIP-516)."""
    return pl.when(topic_id != NO_TOPIC_ID).then(topic_id)


def _split_partition(rows: pl.DataFrame, name: str, mark: str) -> pl.DataFrame:
    """The partitions that some wordings print in one with their topic; no wording prints them in several ways."""
    pattern = rf"^(?P<topic>.+){mark} ?(?P<partition>[0-9]+)"
    distinct = rows.select(pl.col(name).unique())
    distinct = distinct.hstack(_groups(distinct, name, pattern).get_columns())
    apart = [column for column in ("topic", "partition") if column in rows.columns]
    rows = rows.join(distinct, on=name, how="left", maintain_order="left", suffix="_of_it").drop(name)
    return rows.with_columns([pl.coalesce(f"{column}_of_it", column).alias(column) for column in apart]).drop(
        [f"{column}_of_it" for column in apart]
    )


def _mapped(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    distinct = [value for value in rows.get_column(name).unique().to_list() if value is not None]
    return rows.with_columns(
        pl.col(name).replace_strict(distinct, [broker_ids(v) for v in distinct], default=None, return_dtype=pl.String)
    )


def broker_ids(text: str) -> str:
    """Broker ids of any printed collection, joined by ",": ``List(1, 2)``, ``[1,2]``, ``1,2``, ``BrokerState(..)``.

    >>> broker_ids("isrWithBrokerEpoch=List(BrokerState(brokerId=1, brokerEpoch=-1), BrokerState(brokerId=3, ..))")
    '1,3'
    """
    named = re.findall(r"(?:brokerId=|ReplicaId: |replicaId=)([0-9]+)", text)
    return ",".join(named or re.findall(r"[0-9]+", text))


_BROKERS_LOGGER = r" \((?:kafka|org\.apache\.kafka|state\.change\.logger)[A-Za-z0-9_.$]*\)$"


def beheaded(lines: pl.Series) -> pl.Series:
    """Return which of the lines end as the stock layout's events do."""
    return lines.str.contains(_BROKERS_LOGGER)


def _strays(others: pl.DataFrame, frame: Frame) -> pl.DataFrame:
    """Return notices for lines that end like an event about replication, and do not begin like one.

    Their beginning was lost or overwritten. A continuation line may contain any text, but no logger.
    """
    if frame is not frames.STOCK or others.is_empty():
        return empty(NOTICES)
    literals, _ = _table()
    found = others.filter(beheaded(others.get_column("text")))
    return conform(
        found.filter(pl.col("text").str.contains_any(literals)).with_columns(
            pl.lit("a line about replication whose beginning is truncated or overwritten").alias("reason"),
            pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        ),
        NOTICES,
    )


_EXCEPTION_CLASS = r"(?:[A-Za-z_][A-Za-z0-9_]*\.)+[A-Za-z_][A-Za-z0-9_$]*"
_EXCEPTION = rf"^\s*(?:Caused by: |Suppressed: )?{_EXCEPTION_CLASS}: "
_CLASS = r"(?:java|sun)\.(?:[a-z][a-z0-9_]*\.)+[A-Z][A-Za-z0-9_$]*Exception"


def _thrown(heads: pl.DataFrame, others: pl.DataFrame, frame: Frame) -> pl.DataFrame:
    """Return exceptions in continuation lines, with the time of their event.

    Args:
        heads: lines that start an event.
        others: continuation lines.
        frame: the layout.

    Returns:
        Columns ``line``, ``text``, ``literal``, ``message`` (behind the name of the exception) and ``time``, which is
        null if the event is missing.
    """
    literals, _ = _table(thrown=True)
    text = pl.col("text")
    found = others.select("line", "text").filter(text.str.contains_any(literals))
    found = found.filter(text.str.contains(_EXCEPTION)).with_columns(text.str.replace(_EXCEPTION, "").alias("message"))
    inside = [_causes_inside(heads), _causes_inside(others, "Caused by"), _of_loading(heads)]
    found = pl.concat([found, *inside]).sort("line", maintain_order=True)
    found = found.with_columns(
        pl.col("message").str.extract_many(literals, overlapping=True).list.unique(maintain_order=True).alias("literal")
    ).select("line", "text", "literal", "message")
    if found.is_empty():
        return found.with_columns(pl.lit(None, dtype=pl.Datetime("us")).alias("time"))
    events = heads.select("line", pl.col("line").alias("event"), text.alias("event_text"))
    found = found.join_asof(events, on="line", strategy="backward")
    mine = pl.col("event") // _PER_TEXT == pl.col("line") // _PER_TEXT
    times = frames.split(found.select(pl.col("event").alias("line"), pl.col("event_text").alias("text")), frame)
    timed = found.with_columns(times.get_column("time"))
    return timed.with_columns(pl.when(mine).then("time").alias("time")).drop("event", "event_text")


@functools.cache
def _causes() -> list[str]:
    """Return the literals of exceptions in the words of the operating system."""
    kinds = (Kind.DISK_FULL, Kind.DISK_ERROR)
    return [literal for one in MESSAGES if one.thrown and one.kind in kinds for literal in one.literals]


def _causes_inside(lines: pl.DataFrame, behind: str = "") -> pl.DataFrame:
    """Return lines that name behind other words an exception of the operating system: the cause of what they state.

    Examples: ``... due to java.io.IOException: No space left on device``, ``... Caused by: java.io.IOException: ...``.
    """
    text = pl.col("text")
    found = lines.select("line", "text").filter(text.str.contains(f"{behind}: java" if behind else "Exception: "))
    found = found.filter(text.str.contains_any(_causes()))
    inside = text.str.extract(rf"^.*\S.*?[ :()]{_CLASS}: (.*)$")
    return found.with_columns(inside.alias("message")).drop_nulls("message")


def _of_loading(heads: pl.DataFrame) -> pl.DataFrame:
    """Return events that name the exception by which loading the logs ended (LogManager.loadLogs).

    It ends the start of the broker. Those in the words of the operating system are found by :func:`_causes_inside`.
    """
    text = pl.col("text")
    found = heads.select("line", "text").filter(text.str.contains(f" threads during {LOADING}", literal=True))
    found = found.filter(text.str.contains_any(_table(thrown=True)[0]), ~text.str.contains_any(_causes()))
    inside = text.str.extract(rf" threads during {LOADING}{_EXCEPTION_CLASS}: (.*)$")
    return found.with_columns(inside.alias("message")).drop_nulls("message")


def _named_by_event(rows: pl.DataFrame) -> pl.DataFrame:
    """Name the partition of exceptions whose text names none, from the line right above.

    That line must name the same offset: up to 1.1 a leader prints the partition and the offset asked for, and the
    exception below it the offset and the range of its log (ReplicaManager.readFromLocalLog, Log.read).
    """
    unnamed = (pl.col("kind") == Kind.OUT_OF_RANGE.value) & pl.col("topic").is_null()
    if not rows.select(unnamed.any()).item():
        return rows
    above = rows.filter(pl.col("topic").is_not_null(), pl.col("offset").is_not_null()).select(
        pl.col("line") + 1, "offset", pl.col("topic").alias("_topic"), pl.col("partition").alias("_partition")
    )
    found = rows.join(
        above.unique(["line", "offset"], keep="first"), on=["line", "offset"], how="left", maintain_order="left"
    )
    return found.with_columns(
        pl.when(unnamed).then("_topic").otherwise("topic").alias("topic"),
        pl.when(unnamed).then("_partition").otherwise("partition").alias("partition"),
    ).drop("_topic", "_partition")


_ERROR_CLASS = r"^\s*((?:[A-Za-z_][A-Za-z0-9_]*\.)+[A-Za-z_][A-Za-z0-9_$]*(?:Exception|Error))(?::|\s*$)"


def _with_errors(rows: pl.DataFrame, lines: pl.DataFrame, heads: pl.Series) -> pl.DataFrame:
    """Name the error with which a leader answered a fetch, from the exception in the line below.

    Up to 1.0 the class of the exception is in the line itself (AbstractFetcherThread.processFetchRequest).
    """
    unnamed = (pl.col("kind") == Kind.FETCH_REFUSED.value) & (pl.col("detail") == UNNAMED_ERROR)
    if not rows.select(unnamed.any()).item():
        return rows
    below = pl.when(~heads.shift(-1, fill_value=True)).then(pl.col("text").shift(-1))
    errors = lines.select("line", below.str.extract(_ERROR_CLASS).alias("_error"))
    found = rows.join(errors.unique("line", keep="last"), on="line", how="left", maintain_order="left")
    named = pl.when(unnamed).then(pl.coalesce("_error", "detail")).otherwise("detail")
    return found.with_columns(named.alias("detail")).drop("_error")


_CAUSE = r"^\s*(?:Caused by: )?(?:[A-Za-z_][A-Za-z0-9_]*\.)+([A-Za-z_][A-Za-z0-9_$]*(?:Exception|Error): .*\S)"
_FAILED_ACCESS = (Kind.STORAGE_ERROR.value, Kind.CHECKPOINT_ERROR.value)


def _with_causes(rows: pl.DataFrame, lines: pl.DataFrame, heads: pl.Series) -> pl.DataFrame:
    """Add to what could not be read or written the exception in the lines below, with its message.

    A KafkaStorageException says no more than the line. The exception of the operating system that caused it follows.
    """
    failed = pl.col("kind").is_in(_FAILED_ACCESS) & pl.col("detail").ne_missing(RENAME_FAILED)
    if not rows.select(failed.any()).item():
        return rows
    text = pl.col("text")
    below = pl.when(~heads.shift(-1, fill_value=True)).then(text.shift(-1))
    second = ~heads.shift(-1, fill_value=True) & ~heads.shift(-2, fill_value=True)
    caused = pl.when(second).then(text.shift(-2)).str.extract(_CAUSE.replace("(?:Caused by: )?", "Caused by: "))
    causes = lines.select("line", pl.coalesce(caused, below.str.extract(_CAUSE)).alias("_cause"))
    found = rows.join(causes.unique("line", keep="last"), on="line", how="left", maintain_order="left")
    named = pl.concat_str("detail", "_cause", separator=": ", ignore_nulls=True)
    return found.with_columns(
        pl.when(failed & pl.col("_cause").is_not_null()).then(named).otherwise("detail").alias("detail")
    ).drop("_cause")


def _with_senders(rows: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Mark damaged records that a producer sent: the event is that the leader could not append them.

    Log.append checks each batch before it writes (Log.analyzeAndValidateMessageSet in 0.8): nothing of it is on disk.
    """
    damaged = pl.col("kind") == Kind.RECORD_CORRUPT.value
    refusals = rows.filter(pl.col("kind") == Kind.APPEND_FAILED.value).get_column("line")
    if refusals.is_empty() or not rows.select(damaged.any()).item():
        return rows
    of_events = events.select("line", pl.col("line").alias("_event"))
    found = rows.filter(damaged).select(pl.col("line").unique().sort()).join_asof(of_events, on="line")
    mine = pl.col("_event") // _PER_TEXT == pl.col("line") // _PER_TEXT
    sent = found.filter(mine & pl.col("_event").is_in(refusals.implode())).get_column("line")
    said = pl.when(damaged & pl.col("line").is_in(sent.implode())).then(pl.lit(SENT_DAMAGED)).otherwise("detail")
    return rows.with_columns(said.alias("detail"))


_MOST_TORN = 10


def _torn(lines: pl.DataFrame, heads: pl.Series, unended: Sequence[bool], frame: Frame) -> pl.DataFrame:
    """Return notices for events of one line that end before their logger: the rest was never written, or overwritten.

    The last line of a text continues in no other; without a line end, it is whole only if its logger is there.
    """
    if frame is not frames.STOCK or lines.is_empty():
        return empty(NOTICES)
    text = lines.get_column("line") // _PER_TEXT
    last = (text != text.shift(-1)).fill_null(True)
    alone = heads & heads.shift(-1, fill_value=False) & ~last
    if any(unended):
        alone |= heads & last & text.is_in([number for number, cut in enumerate(unended) if cut])
    ended = lines.get_column("text").str.contains(r" \([A-Za-z_][A-Za-z0-9_.$]*\)$")
    torn = lines.filter(alone & ~ended).filter(~pl.col("text").str.contains(_LOGGER_ELSEWHERE))
    if torn.is_empty():
        return empty(NOTICES)
    of_text = text.filter(heads).value_counts().rename({"line": "_text"})
    torn = torn.with_columns((pl.col("line") // _PER_TEXT).alias("_text")).join(
        of_text, on="_text", how="left", maintain_order="left"
    )
    few = torn.filter(pl.len().over("_text") <= _MOST_TORN + pl.col("count") // 20)  # else its layout prints no logger
    return conform(
        few.with_columns(
            pl.lit("a line whose end is truncated or overwritten").alias("reason"),
            pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        ),
        NOTICES,
    )


_RUN_ON = (
    r"(.)(\[[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3}\] +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) )"
)


def _run_on(hits: pl.DataFrame, frame: Frame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the events of lines with several events, each by itself, and notices for these lines.

    A process that dies within a line leaves it without an end, and the next process appends to it.
    """
    if frame is not frames.STOCK and frame is not frames.MUTE:
        return hits, empty(NOTICES)
    several = hits.get_column("text").str.contains(_RUN_ON)
    if not several.any():
        return hits, empty(NOTICES)
    literals, _ = _table()
    text = pl.col("text")
    events = (
        hits.filter(several)
        .with_columns(text.str.replace_all(_RUN_ON, "$1\n$2").str.split("\n"))
        .explode("text", empty_as_null=True, keep_nulls=True)
        .filter(text.str.contains(r" \([A-Za-z_][A-Za-z0-9_.$]*\)$"))
        .with_columns(text.str.extract_many(literals, overlapping=True).alias("literal"))
        .filter(pl.col("literal").list.len() > 0)
    )
    noticed = hits.filter(several).with_columns(
        pl.lit("another event begins within the line; its incomplete part is left out").alias("reason"),
        text.str.slice(0, EXCERPT).alias("excerpt"),
    )
    sound = pl.concat([hits.filter(~several), events]).sort("line", maintain_order=True)
    return sound, conform(noticed, NOTICES)


def _unread(missed: pl.DataFrame) -> pl.DataFrame:
    found = missed.select(
        filled('recognised by "{}" but not understood', pl.col("literal").list.first()).alias("reason"),
        pl.col("text").str.slice(0, EXCERPT).alias("excerpt"),
        pl.col("line"),
    )
    return conform(found, NOTICES)


def _config(lines: pl.DataFrame, heads: pl.Series, frame: Frame, inside_config: bool) -> tuple[pl.DataFrame, bool]:
    """Settings from dumps of ``KafkaConfig`` (kafka.server.KafkaConfig, printed at each start since 0.9)."""
    starts = lines.get_column("text").str.contains(CONFIG_HEAD, literal=True) & heads
    if not inside_config and not starts.any():
        return empty(OBSERVATIONS), False
    text = lines.get_column("line") // _PER_TEXT
    begins = (text != text.shift(1)).fill_null(False)  # another text, in which no dump continues
    state = pl.when(pl.Series(starts)).then(True).when(pl.Series(heads | begins)).then(False).otherwise(None)
    marked = lines.with_columns(state.alias("_in")).with_columns(
        pl.col("_in").forward_fill().fill_null(inside_config), pl.Series("_head", heads)
    )
    inside = bool(marked.get_column("_in")[-1])
    dump = (
        marked.filter(pl.col("_in") & ~pl.col("_head"))
        .with_columns(pl.col("text").str.extract_groups(r"^\s*(?P<key>[a-z][a-z0-9._]*) = (?P<value>.*)").alias("_g"))
        .unnest("_g")
        .filter(pl.col("key").is_in(list(CONFIG_KEYS)))
    )
    times = frames.split(lines.filter(starts), frame).select("line", "time")
    dump = dump.join_asof(times.sort("line"), on="line", strategy="backward").with_columns(
        pl.lit(Kind.BROKER_CONFIG.value, dtype=OBSERVATIONS["kind"]).alias("kind"),
        pl.lit("V-02").alias("message"),
        filled("{}={}", "key", "value").alias("detail"),
    )
    return conform(dump, OBSERVATIONS), inside
