"""Checks of the lines of a trace: each line is checked against its kind.

A line that names the ``message`` it was made from repeats a log line. It is read unchanged; it is only refused if no
reader could use it.
"""

from __future__ import annotations

import difflib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import polars as pl

from parsers.details import Claim
from parsers.formats.trace_kinds import (
    ACKS,
    BROKERS,
    CLAIMED_BY,
    COUNTED,
    FIELD_OF,
    FIELDS,
    HEADER,
    NO_TOPICS,
    NOT_NEGATIVE,
    OF_FILES,
    OF_ITSELF,
    OF_KIND,
    OF_PROCESS,
    OF_PRODUCER,
    PLACE,
    STATEMENTS,
    TIME,
    TOPIC,
    TYPES,
    fields_of,
)
from parsers.schema import Kind

_KNOWN: Final = ("schema", *FIELDS)
_KIND_NAMES: Final = frozenset(kind.value for kind in Kind)
_NUMBERS: Final = "|".join(name for name in FIELDS if TYPES[name].is_integer())
_WORDS: Final = "|".join(name for name in FIELDS if not TYPES[name].is_integer())
_NO_NUMBER: Final = rf'"({_NUMBERS})"\s*:\s*(?:true|false|-?[0-9]+(?:\.[0-9]*[1-9]|(?:\.0+)?[eE])|-?[0-9]{{16,}}\.)'
"""No whole number. A program may write 7 as 7.0, as JSON Schema allows; of a number with more digits some are lost."""
_NO_WORD: Final = rf'"({_WORDS})"\s*:\s*(?:true|false|[-0-9])'
OF_ALL: Final[pl.Expr] = pl.col("detail").is_in(["acks=all", "acks=-1"]).fill_null(False)
"""An acknowledgement shows that the records are below the high watermark."""
BACKWARDS: Final = '"time" runs backwards: lines of one witness must be in the order of their times'
_STARTS: Final = (Kind.PROCESS_START.value, Kind.CLEAN_RESTART.value, Kind.UNCLEAN_RESTART.value)
_OWN: Final = pl.col("message").is_null() & (pl.col("kind") != Kind.TRACE.value)
"""A line that was written as a trace, and quotes no log."""


class Wrong(NamedTuple):
    """Lines with the same error.

    Attributes:
        rows: the lines, with ``line`` and ``text``.
        reason: the error, with the field's name.
        counts: they are read nevertheless.
        unclaimed: they are read, but what the trace claims does not count: their order is unknown, or a value in them
            was not read.
    """

    rows: pl.DataFrame
    reason: str
    counts: bool = False
    unclaimed: bool = False


def wrong(found: pl.DataFrame) -> Iterator[Wrong]:
    """Yield errors in lines of known kinds.

    Args:
        found: ``line``, ``text`` and the fields of each line, times as ``_time``.
    """
    large = list(_too_large(found))
    yield from large
    found = found.filter(~pl.col("line").is_in([line for one in large for line in one.rows.get_column("line")]))
    for name in FIELDS:
        if TYPES[name] == pl.Int32:
            fits = pl.col(name).is_between(-(1 << 31), (1 << 31) - 1).fill_null(True)
            yield Wrong(found.filter(~fits), f'a number beyond its column: "{name}"')
        elif TYPES[name].is_integer():
            last = (pl.col(name) == (1 << 63) - 1).fill_null(False)  # an end must fit behind the last offset
            yield Wrong(found.filter(last & _OWN), f'a number beyond its column: "{name}"')
    for pattern, wanted in ((_NO_NUMBER, "a whole number"), (_NO_WORD, "a string")):
        yield from _of_type(found, pattern, wanted)
    for name in ("isr", "isr_before"):
        said = ~pl.col(name).str.contains(BROKERS).fill_null(True)
        yield Wrong(found.filter(said), f'"{name}" is no list of broker ids joined by commas, as in "1,2,3"')
    for kind, needs in OF_FILES.items():
        of_file = found.filter((pl.col("kind") == kind.value) & pl.col("message").is_not_null())
        for name in needs:
            yield Wrong(of_file.filter(pl.col(name).is_null()), f'a line of kind {kind.value} needs "{name}"')
    own = found.filter(_OWN)
    if own.is_empty():
        return
    yield from _missing(own)
    if own.get_column("witness").null_count() < own.height:
        yield Wrong(own.filter(pl.col("witness").is_null()), 'a line needs a "witness": the broker that states it')
    no_topic = ~pl.col("topic").str.contains(TOPIC) | pl.col("topic").is_in(NO_TOPICS)
    reason = '"topic" is no name of a topic: 1 to 249 of the characters a-z, A-Z, 0-9, ".", "_" and "-"'
    yield Wrong(own.filter(no_topic.fill_null(False)), reason)
    # Answers of Kafka to requests have -1 for none, but no broker has a negative id.
    counted = own.filter(pl.col("kind").is_in(COUNTED))
    for name in NOT_NEGATIVE:
        rows = own if name in (*PLACE, "witness", "replica") else counted
        yield Wrong(rows.filter((pl.col(name) < 0).fill_null(False)), f'"{name}" is negative')
    yield from _twice(own)
    yield from _refuted(own)
    yield from _odd_isr(own)
    yield from _acks(own)
    yield from _null(own)
    yield from _misspelt(own)
    yield from _disordered(own)
    timed = own.filter(pl.col("kind").is_in(OF_ITSELF) & ~pl.col("kind").is_in(OF_PROCESS))
    without = timed.filter(pl.col("time").is_null() & pl.col("_time").is_not_null().any())
    yield Wrong(
        without, 'no "time", which other lines have: it may have happened at any time between its neighbours', True
    )


def _of_type(found: pl.DataFrame, pattern: str, wanted: str) -> Iterator[Wrong]:
    """Fields of another type than they have, which a lenient reader would take."""
    rows = found.with_columns(pl.col("text").str.extract(pattern).alias("_name")).filter(pl.col("_name").is_not_null())
    for (field,), part in rows.partition_by("_name", as_dict=True, maintain_order=True).items():
        yield Wrong(part, f'"{field}" is not {wanted}')


def _missing(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines without a field that their kind needs."""
    required = dict(OF_FILES) | {statement.kind: statement.required for statement in STATEMENTS}
    for kind, names in required.items():
        of_kind = own.filter(pl.col("kind") == kind.value)
        for name in names if of_kind.height else ():
            for row in of_kind.filter(pl.col(name).is_null()).select("line", "text").rows(named=True):
                one = pl.DataFrame([{"line": row["line"], "text": row["text"]}])
                yield Wrong(one, f'a line of kind {kind.value} needs "{name}"{_instead(row["text"], name)}')


def _instead(text: str, name: str) -> str:
    """The field of a line that may be meant as one that is missing, in words; "" without one."""
    near = next((odd for odd in _unknown(text) if _meant(odd, [name])), None)
    return f': "{near}" may be meant as it' if near else ""


def _refuted(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines that contradict themselves."""
    ends = pl.col("offset") >= pl.col("log_end_offset")
    rows = own.filter((pl.col("kind") == Kind.APPEND.value) & ends.fill_null(False))
    yield Wrong(rows, 'a line of kind append has an "offset" that is not below its "log_end_offset"')
    for name in ("log_end_offset", "last_stable_offset"):
        below = (pl.col(name) < pl.col("log_start_offset")).fill_null(False)
        yield Wrong(own.filter(below), f'"{name}" is below "log_start_offset"')
    # Only records below the high watermark are deleted (UnifiedLog.maybeIncrementLogStartOffset). Up to 2.4.0 a
    # follower that truncated its whole log kept its high watermark (KAFKA-9491), so the line counts.
    below = (pl.col("high_watermark") < pl.col("log_start_offset")).fill_null(False)
    reason = '"high_watermark" is below "log_start_offset": no replica deletes records that are not committed'
    yield Wrong(own.filter(below), reason, True)
    above = (pl.col("offset") > pl.col("log_end_offset")).fill_null(False)
    rows = own.filter((pl.col("kind") == Kind.TRUNCATE.value) & above)
    yield Wrong(rows, 'a line of kind truncate has an "offset" above its "log_end_offset", which is its end before')
    of_state = OF_KIND[Kind.STATE].may
    empty = (pl.col("kind") == Kind.STATE.value) & pl.all_horizontal(pl.col(name).is_null() for name in of_state)
    yield Wrong(own.filter(empty), f"a line of kind state has none of its fields: {', '.join(of_state)}")
    itself = pl.col("leader") == pl.coalesce("replica", "witness")
    rows = own.filter((pl.col("kind") == Kind.BECOME_FOLLOWER.value) & itself.fill_null(False))
    yield Wrong(rows, 'a line of kind become_follower names its own "witness" as "leader"')
    for name in ("isr", "isr_before"):
        ids = pl.col(name).str.split(",")
        twice = (ids.list.n_unique() < ids.list.len()).fill_null(False)
        yield Wrong(own.filter(twice), f'"{name}" names a broker twice')


_ISR_OF: Final = (
    (Kind.ISR_SHRINK, "isr", "isr_before", '"isr" has a broker that is not in "isr_before"'),
    (Kind.ISR_EXPAND, "isr_before", "isr", '"isr" lacks a broker of "isr_before"'),
)
"""Lines that change an ISR: the field whose brokers are all in the other one, and what is wrong otherwise."""


def _odd_isr(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines whose ISR cannot be: a smaller one with more brokers, a larger one with fewer, and one without its leader.

    They count, because the next line about the ISR may be right.
    """
    for kind, less, more, reason in _ISR_OF:
        without = pl.col(less).str.split(",").list.set_difference(pl.col(more).str.split(",")).list.len() > 0
        rows = own.filter((pl.col("kind") == kind.value) & without.fill_null(False))
        yield Wrong(rows, f"a line of kind {kind.value}: {reason}", True)
    leader = pl.coalesce("replica", "witness").cast(pl.String)
    away = ~pl.col("isr").str.split(",").list.contains(leader)
    rows = own.filter((pl.col("kind") == Kind.BECOME_LEADER.value) & away.fill_null(False) & (pl.col("isr") != ""))
    yield Wrong(rows, 'a line of kind become_leader: "isr" lacks the leader', True)


def _twice(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines with a field that is there twice."""
    names = own.select("line", "text", pl.col("text").str.extract_all(r'"[a-z_]+"\s*:').alias("_names"))
    names = names.explode("_names").with_columns(pl.col("_names").str.extract(r'"([a-z_]+)"').alias("_name"))
    several = names.group_by("line", "text", "_name", maintain_order=True).len().filter(pl.col("len") > 1)
    for (field,), part in several.partition_by("_name", as_dict=True, maintain_order=True).items():
        yield Wrong(part, f'"{field}" is there twice')


def _acks(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines about a producer's records with ``acks`` of another form."""
    of_producer = pl.col("kind").is_in([kind.value for kind in OF_PRODUCER])
    rows = own.filter(of_producer & ~pl.col("detail").str.contains(ACKS).fill_null(True))
    yield Wrong(rows, '"detail" is not acks=0, acks=1 or acks=all', True)
    apart = own.filter(of_producer & pl.col("detail").is_null() & pl.col("text").str.contains(r'"acks"\s*:'))
    yield Wrong(apart, 'no field "acks" is known: "detail" has it, as in "acks=all"', True, True)
    acked = own.filter(pl.col("kind") == Kind.PRODUCED.value, pl.col("high_watermark").is_not_null(), ~OF_ALL)
    yield Wrong(acked, '"high_watermark" of an acknowledgement is read with "detail":"acks=all" only', True)


def _too_large(found: pl.DataFrame) -> Iterator[Wrong]:
    """Numbers that no column can hold."""
    for name in FIELDS:
        if TYPES[name].is_integer():
            lost = pl.col(name).is_null() & pl.col("text").str.contains(rf'"{name}"\s*:\s*-?[0-9]{{19,}}')
            yield Wrong(found.filter(lost), f'a number beyond its column: "{name}"')


def unknown_kind(text: str) -> str:
    """Why a line of no known kind is left out."""
    kind = _object(text).get("kind")
    if not isinstance(kind, str):
        return 'a line needs a "kind"'
    return f'an unknown kind "{kind[:40]}"{_may_be(kind.lower(), [one.value for one in OF_KIND])}'


def _null(own: pl.DataFrame) -> Iterator[Wrong]:
    """Fields that are null: one without a value is left out."""
    name = pl.col("text").str.extract(r'"([a-z_]+)"\s*:\s*null')
    rows = own.with_columns(name.alias("_name")).filter(pl.col("_name").is_not_null())
    for (field,), part in rows.partition_by("_name", as_dict=True, maintain_order=True).items():
        yield Wrong(part, f'"{field}" is null: leave a field without a value out', True)


def _misspelt(own: pl.DataFrame) -> Iterator[Wrong]:
    """Fields that are not in the format, and named nearly as one that is.

    If the kind has that one, the line may state a value of it, so its absence proves nothing.
    """
    names = pl.col("text").str.extract_all(r'"([A-Za-z_]+)"\s*:').list.eval(pl.element().str.extract(r'"([A-Za-z_]+)"'))
    odd = own.filter(names.list.set_difference(list(_KNOWN)).list.len() > 0)
    for row in odd.select("line", "text", *FIELDS).rows(named=True):
        for name in _unknown(row["text"]):
            near = _meant(name, [one for one in _KNOWN if row.get(one) is None])
            if near:
                one = pl.DataFrame([{"line": row["line"], "text": row["text"]}])
                reason = f'no field "{name}" is known: "{near}" may be meant'
                yield Wrong(one, reason, True, unclaimed=near in fields_of(row["kind"]))


_SHORT: Final = FIELD_OF | {"epoch": "leader_epoch", "log_end": "log_end_offset"}
"""Names that many write for a field, which are spelt unlike it."""


def _meant(name: str, fields: Sequence[str]) -> str | None:
    """The field whose name another one is most like; None without one."""
    if _SHORT.get(name.lower()) in fields:
        return _SHORT[name.lower()]
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    near = difflib.get_close_matches(snake, fields, n=1, cutoff=0.65)
    return near[0] if near else None


def _unknown(text: str) -> list[str]:
    """Names in a line that the format does not have."""
    return [name for name in _object(text) if name not in _KNOWN]


def _object(text: str) -> dict[str, Any]:
    """A JSON object; an empty one where the text is none."""
    try:
        content = json.loads(text, parse_float=_number)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _number(text: str) -> int | float:
    """A number with a point; a whole one as such."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def _disordered(own: pl.DataFrame) -> Iterator[Wrong]:
    """Lines with a time before that of a line above them, of the same witness."""
    back = _backwards(own, "witness")
    of_partition = _backwards(own, "witness", "topic", "partition").get_column("line").to_list()
    # What is within the lines of one replica, replay can see; one witness of several replicas has an order of its own.
    of_itself = pl.col("kind").is_in(OF_ITSELF) & pl.col("replica").is_not_null()
    replicas = own.with_columns(pl.when(of_itself).then("replica").otherwise("witness").alias("_replica"))
    of_replica = _backwards(replicas, "_replica", "topic", "partition").get_column("line").to_list()
    # Which process stated a line of a partition is unknown if the order of the two is.
    misplaced = {*of_partition} - {*of_replica} | ({*_across_starts(replicas)} if back.height else set[int]())
    unseen = pl.col("line").is_in(sorted(misplaced))
    for rows, unclaimed in ((back.filter(unseen), True), (back.filter(~unseen), False)):
        yield Wrong(rows, BACKWARDS, True, unclaimed)


def _across_starts(own: pl.DataFrame) -> Iterator[int]:
    """Yield lines with a time before that of a start of their witness above them, and starts before a line above them.

    The other lines of the witness count as far as they are in the order of their times.
    """
    timed = own.filter(pl.col("_time").is_not_null(), pl.col("_replica").is_not_null())
    begun = timed.filter(pl.col("kind").is_in(_STARTS).any().over("_replica"))
    for part in begun.partition_by("_replica"):
        columns = part.select("line", pl.col("_time").cast(pl.Int64), pl.col("kind").is_in(_STARTS))
        rows = [_Timed(*row) for row in columns.iter_rows()]
        others = [one for one in rows if not one.starts]
        sound = [others[at] for at in rising([one.time for one in others])]
        yield from (line for one in rows if one.starts for line in _out_of_place(one, sound))


def _out_of_place(start: _Timed, others: Sequence[_Timed]) -> Iterator[int]:
    """Yield a start if a line above it is of a later time, and the lines below it that are of an earlier one."""
    if any(one.line < start.line and one.time > start.time for one in others):
        yield start.line
    yield from (one.line for one in others if one.line > start.line and one.time < start.time)


class _Timed(NamedTuple):
    line: int
    time: int
    starts: bool


def rising(values: Sequence[int]) -> list[int]:
    """Return the positions of a longest part of some values that does not fall.

    >>> rising([1, 9, 2, 3, 3])
    [0, 2, 3, 4]
    """
    found, lengths = list[int](), rising_lengths(values)
    wanted = max(lengths, default=0)
    for at in reversed(range(len(values))):
        if lengths[at] == wanted - len(found) and (not found or values[at] <= values[found[-1]]):
            found.append(at)
    return found[::-1]


def rising_lengths(values: Sequence[int]) -> list[int]:
    """Return how many values a longest part has that does not fall and ends with each of them.

    >>> rising_lengths([1, 9, 2, 3, 3])
    [1, 2, 2, 3, 4]
    """
    ends: list[int] = []  # the least last value of a part of each length
    found: list[int] = []
    for value in values:
        length = bisect_right(ends, value)
        ends[length : length + 1] = [value]
        found.append(length + 1)
    return found


def _backwards(own: pl.DataFrame, *of: str) -> pl.DataFrame:
    """Lines with a time before that of a line above them with equal values in some columns."""
    latest = pl.col("_time").cum_max().forward_fill().shift(1).over(*of)
    return own.filter((pl.col("_time") < latest).fill_null(False))


def type_of(text: str) -> str:
    """Why a line could not be decoded: the first field of another type than it has."""
    content = _object(text)
    if not content:
        return "no JSON object of a trace"
    for name, value in content.items():
        if name in FIELDS and value is not None and not _fits(name, value):
            wanted = "a whole number" if TYPES[name].is_integer() else "a string"
            return f'"{name}" is not {wanted}'
    return "no JSON object of a trace"


def _fits(name: str, value: Any) -> bool:
    if TYPES[name].is_integer():
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, str)


class Claimed(NamedTuple):
    """A claim to state every change of one replica.

    Attributes:
        replica: broker id.
        about: its log, its roles, or both.
        since, until: the span, as stated; None where it has no bound.
    """

    replica: int
    about: tuple[Claim, ...]
    since: str | None = None
    until: str | None = None


class Header(NamedTuple):
    """The first line of a trace, which is about all that follow.

    Attributes:
        system, release, protocol, cluster: as stated, or None.
        replicas: ids of the brokers.
        settings: of the brokers, by name.
        complete: what is stated of each broker without gaps.
        reasons: errors in it.
        files: what was read in files follows, and each trace among them with its own claim.
    """

    system: str | None = None
    release: str | None = None
    protocol: str | None = None
    cluster: str | None = None
    replicas: tuple[int, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    complete: tuple[Claimed, ...] = ()
    reasons: tuple[str, ...] = ()
    files: bool = False


def header(text: str) -> Header:
    """Read a line of kind ``trace``."""
    content = _object(text)
    reasons = [reason for name, value in content.items() if (reason := _header_field(name, value)) is not None]
    bad = {name for name, value in content.items() if _header_field(name, value) is not None}
    given = {name: value for name, value in content.items() if name in HEADER and name not in bad}
    replicas = tuple(given.get("replicas", ()))
    complete = given.get("complete", False)
    claims = [{}] if complete is True else complete or []
    claimed = tuple(one for claim in claims for one in _claimed(claim, replicas))
    reasons += _claims_nothing(replicas) if claims and not claimed else _of_others(claimed, replicas)
    settings = tuple((key, _setting(value)) for key, value in given.get("settings", {}).items())
    system, release, protocol, cluster = map(given.get, ("system", "release", "protocol", "cluster"))
    return Header(
        system, release, protocol, cluster, replicas, settings, claimed, tuple(reasons), given.get("files", False)
    )


_GROUPS: Final = "; ".join(f"the {what}: {', '.join(kinds)}" for what, kinds in CLAIMED_BY.items())
"""The kinds of each group, in words."""


def _claims_nothing(replicas: Sequence[int]) -> list[str]:
    """Return why what a trace claims is nothing."""
    if not replicas:
        return ['a trace that is "complete" names its "replicas"']
    return [f'"complete" names only a part of the kinds of a group, so it claims nothing: {_GROUPS}']


def _of_others(claimed: Sequence[Claimed], replicas: Sequence[int]) -> list[str]:
    """Return the errors in claims about brokers that are not among the replicas."""
    others = sorted({one.replica for one in claimed} - {*replicas}) if replicas else []
    return [f'"complete" names broker {one}, which is not in "replicas"' for one in others]


def _claimed(claim: int | dict[str, Any], replicas: Sequence[int]) -> Iterator[Claimed]:
    """Yield one claim for each replica; nothing for kinds that leave changes out."""
    if isinstance(claim, int):
        yield Claimed(claim, (Claim.ALL,))
        return
    kinds = claim.get("kinds")
    if kinds is None or OF_KIND.keys() <= {*kinds}:
        about: tuple[Claim, ...] = (Claim.ALL,)
    else:
        about = tuple(what for what, needs in CLAIMED_BY.items() if {*needs} <= {*kinds})
    for replica in claim.get("replicas", replicas) if about else ():
        yield Claimed(replica, about, claim.get("from"), claim.get("to"))


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _header_field(name: str, value: Any) -> str | None:
    """Return the error in a field of the header; None without one."""
    if name in ("schema", "kind", "time", "witness", "detail"):
        return None
    if name not in HEADER:
        near = difflib.get_close_matches(name, HEADER, n=1, cutoff=0.65)
        return f'no field "{name}" is known: "{near[0]}" may be meant' if near else None
    if not _HEADER[name](value):
        return _wrong_claim(value) if name == "complete" else f'"{name}" is not {_WANTED[name]}'
    odd = [key for key, pattern in _SETTINGS.items() if key in value] if name == "settings" else []
    wrong = [key for key in odd if not re.fullmatch(_SETTINGS[key], _setting(value[key]))]
    return f'"settings" has {wrong[0]}={_setting(value[wrong[0]])[:40]}, which is no value of it' if wrong else None


_SETTINGS: Final = {
    "min.insync.replicas": "[1-9][0-9]{0,8}",
    "unclean.leader.election.enable": "true|false",
}
"""Values of settings that rules read, as a regular expression."""


_WANTED: Final = {
    "system": "a text",
    "release": 'a release of Kafka, as in "3.9.1"',
    "protocol": '"hw" or "epoch"',
    "cluster": "a text of one or more characters",
    "replicas": "a list of broker ids, as in [1,2,3]",
    "settings": "an object of settings by name, each a text, a whole number, true or false",
    "files": "true or false",
    "complete": 'true, false, or a list of broker ids and of objects with "replicas", "kinds", "from" and "to"',
}
"""The values of each field, in words."""

_CLAIM: Final = ("replicas", "kinds", "from", "to")
"""Fields of a claim."""


def _wrong_claim(value: Any) -> str:
    """Return the first error in "complete"."""
    claims = value if isinstance(value, list) else []
    errors = (error for claim in claims if isinstance(claim, dict) for error in _errors_of_claim(claim))
    return '"complete" ' + next(errors, f"is not {_WANTED['complete']}")


def _errors_of_claim(claim: dict[str, Any]) -> Iterator[str]:
    """Yield the errors in a claim, in words."""
    for name in claim.keys() - {*_CLAIM}:
        yield f'has the unknown field "{name}"{_may_be(name, _CLAIM)}'
    if not _ids(claim.get("replicas", [])):
        yield f'has "replicas" that are not {_WANTED["replicas"]}'
    kinds = claim.get("kinds", [])
    if not isinstance(kinds, list):
        yield 'has "kinds" that are not a list of kinds, as in ["become_leader","become_follower"]'
    elif unknown := [kind for kind in kinds if not isinstance(kind, str) or kind not in _KIND_NAMES]:
        yield f"names the unknown kind {json.dumps(unknown[0])[:40]}{_may_be(str(unknown[0]), [*map(str, OF_KIND)])}"
    times = [claim[name] for name in ("from", "to") if name in claim]
    if not all(isinstance(time, str) and re.match(TIME, time) for time in times):
        yield 'has "from" or "to" that is not ISO 8601 with a zone'
    elif not _in_order(times):
        yield 'has "from" that is after "to", or a time that does not exist'


def _may_be(name: str, known: Sequence[str]) -> str:
    """Return which name may be meant by another one, as the end of a sentence; "" without one."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.65)
    return f': "{near[0]}" may be meant' if near else ""


def _is_claim(value: Any) -> bool:
    return next(_errors_of_claim(value), None) is None if isinstance(value, dict) else _ids([value])


def _in_order(times: Sequence[str]) -> bool:
    """Return whether the first moment of a span is not after the last."""
    try:
        moments = [datetime.fromisoformat(time).astimezone(UTC) for time in times]
    except (ValueError, OverflowError):
        return False
    return moments == sorted(moments)


def _ids(value: Any) -> bool:
    most = (1 << 31) - 1
    return isinstance(value, list) and all(type(one) is int and 0 <= one <= most for one in value)


_HEADER: Final[dict[str, Callable[[Any], bool]]] = {
    "system": lambda value: isinstance(value, str),
    "release": lambda value: isinstance(value, str) and value[:1].isdigit() and "." in value,
    "protocol": lambda value: value in ("hw", "epoch"),
    "cluster": lambda value: isinstance(value, str) and bool(value),
    "replicas": _ids,
    "settings": lambda value: isinstance(value, dict) and all(isinstance(one, str | int) for one in value.values()),
    "files": lambda value: isinstance(value, bool),
    "complete": lambda value: isinstance(value, bool) or (isinstance(value, list) and all(map(_is_claim, value))),
}
