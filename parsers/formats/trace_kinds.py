"""Fields of a line of a trace, and those that its kind requires: the one table.

The JSON Schema (``trace.schema.json``) and the tables of ``docs/trace-format.md`` are made from it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import polars as pl

from parsers.details import Claim
from parsers.schema import OBSERVATIONS, Kind

SCHEMA: Final = "forensics.trace/1"

COLUMN_OF: Final = {
    "high_watermark": "hw",
    "high_watermark_before": "hw_before",
    "last_stable_offset": "lso",
    "leader_high_watermark": "leader_hw",
    "log_end_offset": "leo",
    "log_start_offset": "log_start",
}
"""Fields that are named as in Kafka, with the column of ``OBSERVATIONS`` that each fills."""

FIELD_OF: Final = {column: field for field, column in COLUMN_OF.items()}
"""The same by column."""

FIELDS: Final = tuple(FIELD_OF.get(name, name) for name in OBSERVATIONS if name not in ("line", "byte"))
"""Fields that a line may have. Its place is its own line in the trace."""

TYPES: Final = {name: OBSERVATIONS[COLUMN_OF.get(name, name)] for name in FIELDS}
"""Type of each field."""

PLACE: Final = ("topic", "partition")


class Statement(NamedTuple):
    """A kind of line that a producer of traces writes.

    Attributes:
        kind: the kind.
        needs: fields without which the line has no meaning.
        may: optional fields.
        says: what the line states, in one sentence.
        of_partition: it is about a replica of a partition, and needs ``topic`` and ``partition``.
    """

    kind: Kind
    needs: tuple[str, ...]
    may: tuple[str, ...]
    says: str
    of_partition: bool = True

    @property
    def required(self) -> tuple[str, ...]:
        """All fields that it needs."""
        return (*PLACE, *self.needs) if self.of_partition else self.needs


STATEMENTS: tuple[Statement, ...] = (
    Statement(Kind.PROCESS_START, (), (), "A process of the witness begins.", of_partition=False),
    Statement(Kind.CLEAN_RESTART, (), (), "The process before had stopped cleanly.", of_partition=False),
    Statement(Kind.UNCLEAN_RESTART, (), (), "The process before was killed or crashed.", of_partition=False),
    Statement(Kind.SHUTDOWN_BEGIN, (), (), "The process begins to stop.", of_partition=False),
    Statement(Kind.LOG_CREATED, (), (), "The replica begins with a new, empty log."),
    Statement(Kind.LOG_DELETED, (), (), "The replica was deleted on purpose, as after a reassignment: it has no log."),
    Statement(Kind.LOG_LOADED, ("log_end_offset",), ("log_start_offset",), "The log as the process found it."),
    Statement(Kind.HW_LOADED, ("high_watermark",), (), "The high watermark read back after a start."),
    Statement(Kind.HW_MISSING, (), (), "No high watermark of it was in the checkpoint file after a start."),
    Statement(
        Kind.BECOME_LEADER,
        ("leader_epoch",),
        ("log_end_offset", "high_watermark", "isr"),
        "The witness leads; `log_end_offset` is where the epoch starts.",
    ),
    Statement(
        Kind.BECOME_FOLLOWER,
        ("leader_epoch",),
        ("leader", "log_end_offset", "high_watermark"),
        "The witness follows `leader`; `log_end_offset` and `high_watermark` are its own, before it truncates.",
    ),
    Statement(
        Kind.TRUNCATE,
        ("offset",),
        ("log_end_offset", "detail"),
        "The replica truncated its log to `offset`; `log_end_offset` is its end before, `detail` says why.",
    ),
    Statement(
        Kind.TRUNCATE_FULL,
        ("offset",),
        ("log_start_offset",),
        "The replica removed its whole log, which begins again at `offset`. With `log_start_offset` it holds what is "
        "below that offset otherwise, as in a snapshot from its leader.",
    ),
    Statement(
        Kind.APPEND,
        ("log_end_offset",),
        ("offset", "leader_epoch", "checksum", "high_watermark", "detail"),
        "Records from `offset` on were appended; the log now ends at `log_end_offset`. `leader_epoch` is that of the "
        "records. With a `checksum` they are one record batch, which a truncation removes as a whole. `detail` is "
        "`acks=0`, `acks=1` or `acks=all`.",
    ),
    Statement(
        Kind.STATE,
        (),
        (
            "high_watermark",
            "log_end_offset",
            "log_start_offset",
            "last_stable_offset",
            "leader_epoch",
            "isr",
        ),
        "The replica at this moment: any of these fields.",
    ),
    Statement(
        Kind.FOLLOWER_FETCHED,
        ("log_end_offset",),
        ("leader", "leader_epoch", "leader_high_watermark"),
        "A fetch round of a follower: it asked from `log_end_offset` on, and the response had the high watermark "
        "`leader_high_watermark`.",
    ),
    Statement(
        Kind.LEADER_HW,
        ("leader_high_watermark",),
        ("high_watermark",),
        "A follower received `leader_high_watermark` from its leader, and has `high_watermark` now.",
    ),
    Statement(
        Kind.REMOTE_LEO,
        ("replica", "log_end_offset"),
        (),
        "The leader believes that the log of the follower `replica` ends at `log_end_offset`.",
    ),
    Statement(
        Kind.EPOCH_REQUEST,
        ("leader_epoch",),
        ("leader",),
        "A follower asked its leader where `leader_epoch` ends.",
    ),
    Statement(
        Kind.EPOCH_REPLY,
        ("leader_epoch", "offset"),
        ("leader",),
        "The answer: `leader_epoch` ends at `offset` in the log of the leader; -1 and -1 for an unknown epoch.",
    ),
    Statement(
        Kind.LEO,
        ("log_end_offset",),
        ("high_watermark",),
        "The log end offset at this moment, with `high_watermark` the high watermark too.",
    ),
    Statement(
        Kind.HW,
        ("high_watermark",),
        ("log_end_offset",),
        "The high watermark at this moment, with `log_end_offset` the log end offset too.",
    ),
    Statement(
        Kind.HW_CHECKPOINT,
        ("high_watermark",),
        (),
        "The high watermark was written to the checkpoint file, or was found in it.",
    ),
    Statement(
        Kind.RECOVERY_POINT, ("offset",), (), "The checkpoint file says that records below `offset` are flushed."
    ),
    Statement(Kind.LOG_START_CHECKPOINT, ("log_start_offset",), (), "The log start offset in its checkpoint file."),
    Statement(
        Kind.EPOCH_ASSIGNED, ("leader_epoch", "offset"), (), "The replica noted that the epoch starts at `offset`."
    ),
    Statement(
        Kind.EPOCH_ENTRY, ("leader_epoch", "offset"), (), "An entry of the epoch file: the epoch starts at `offset`."
    ),
    Statement(
        Kind.LOG_END, ("log_end_offset",), ("log_start_offset",), "What the log held when it was looked at last."
    ),
    Statement(Kind.LOG_START, ("log_start_offset",), (), "Records below `log_start_offset` were deleted."),
    Statement(
        Kind.ISR_SHRINK,
        ("isr",),
        ("isr_before", "log_end_offset", "high_watermark"),
        "The leader proposes a smaller ISR.",
    ),
    Statement(
        Kind.ISR_EXPAND,
        ("isr",),
        ("isr_before", "log_end_offset", "high_watermark"),
        "The leader proposes a larger ISR.",
    ),
    Statement(Kind.ISR_REJECTED, (), (), "The ISR proposed last was refused."),
    Statement(Kind.ISR_COMMIT, (), ("isr", "partition_epoch"), "The ISR proposed last is committed."),
    Statement(
        Kind.CONTROLLER_ACTIVE,
        (),
        ("detail",),
        "The witness is the controller; `detail` is the controller epoch.",
        of_partition=False,
    ),
    Statement(Kind.PARTITION_CREATED, (), ("leader", "leader_epoch", "isr"), "The controller made the partition."),
    Statement(Kind.ELECTION, ("leader", "leader_epoch"), ("isr",), "The controller elected `leader`."),
    Statement(Kind.UNCLEAN_ELECTION, ("leader",), ("leader_epoch", "isr"), "The leader came from outside the ISR."),
    Statement(
        Kind.PRODUCED,
        ("offset",),
        ("high_watermark", "detail"),
        "The leader acknowledged records to a producer: `offset` is the first one. With `acks=all` in `detail`, "
        "`high_watermark` is the least that this implies: the offset after the last one. Left out, it is that after "
        "`offset`.",
    ),
    Statement(
        Kind.CONSUMED,
        ("offset",),
        ("leader_epoch",),
        "A consumer read records from the witness, `offset` the last one: all up to it were below its high watermark.",
    ),
)
"""Kinds that a producer of traces writes. The other kinds of ``parsers.schema.Kind`` come from logs of Kafka."""

_OF_OTHERS: Final = (
    Kind.REMOTE_LEO,
    Kind.CONTROLLER_ACTIVE,
    Kind.PARTITION_CREATED,
    Kind.ELECTION,
    Kind.UNCLEAN_ELECTION,
)
"""Kinds in which a leader or a controller states something of other brokers."""

OF_ITSELF: Final = tuple(one.kind.value for one in STATEMENTS if one.kind not in _OF_OTHERS)
"""Kinds in which a replica states something of itself. With ``replica`` another witness states it of that replica."""

OF_FILES: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.HW_CHECKPOINT: ("high_watermark",),
    Kind.EPOCH_ENTRY: ("leader_epoch", "offset"),
    Kind.LOG_START_CHECKPOINT: ("log_start_offset",),
    Kind.RECOVERY_POINT: ("offset",),
    Kind.CLEANER_CHECKPOINT: ("offset",),
    Kind.LOG_END: ("log_end_offset",),
}
"""Fields that a line from a file requires, whatever its source: a checkpoint file has no entry without its value."""

OF_KIND: Final = {statement.kind: statement for statement in STATEMENTS}

OF_EACH: Final = ("time", "witness", "replica", "topic_id", *PLACE)
"""Fields that a line of any kind may have."""


def fields_of(kind: str) -> tuple[str, ...]:
    """Return the fields that a scan reads in a line of a kind: all of them for one that no producer writes."""
    statement = next((one for one in STATEMENTS if one.kind.value == kind), None)
    return FIELDS if statement is None else (*OF_EACH, *statement.needs, *statement.may)


OF_PROCESS: Final = tuple(statement.kind.value for statement in STATEMENTS if not statement.of_partition)
"""Kinds about a process of a broker, or about a broker as a whole: no partition belongs to them."""

COUNTED: Final = tuple(statement.kind.value for statement in STATEMENTS if statement.kind is not Kind.EPOCH_REPLY)
"""Kinds without negative numbers. An answer about an unknown epoch is -1."""

NOT_NEGATIVE: Final = (
    "partition",
    "leader_epoch",
    "offset",
    "high_watermark",
    "high_watermark_before",
    "leader_high_watermark",
    "log_end_offset",
    "log_start_offset",
    "last_stable_offset",
    "partition_epoch",
    "witness",
    "replica",
)
OF_PRODUCER: Final = (Kind.APPEND, Kind.PRODUCED)
"""Kinds whose ``detail`` says which acknowledgement a producer asked for."""

ACKS: Final = r"^acks=(0|1|-1|all)$"
BROKERS: Final = r"^([0-9]{1,9}(,[0-9]{1,9})*)?$"
TOPIC: Final = r"^[a-zA-Z0-9._-]{1,249}$"
NO_TOPICS: Final = (".", "..")
"""Names of topics (``org.apache.kafka.common.internals.Topic.validate``)."""
TIME: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$"

HEADER: Final[dict[str, dict[str, Any]]] = {
    "system": {
        "type": "string",
        "description": "what wrote the trace, in words. Unless the name contains Kafka or a release is given, a scan "
        "names no file, tool or release of Kafka",
    },
    "release": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)+", "description": "release of Kafka of all replicas"},
    "protocol": {
        "enum": ["hw", "epoch"],
        "description": 'how a new follower truncates: "hw" to its high watermark, "epoch" by leader epoch (KIP-101)',
    },
    "cluster": {
        "type": "string",
        "minLength": 1,
        "description": "cluster id: traces of two clusters are never compared",
    },
    "replicas": {"type": "array", "items": {"type": "integer", "minimum": 0}, "description": "ids of the brokers"},
    "settings": {
        "type": "object",
        "additionalProperties": {"type": ["string", "integer", "boolean"]},
        "description": "settings of the brokers by their names in Kafka, such as min.insync.replicas",
    },
    "files": {"type": "boolean", "description": "true if what was read in files follows, as `forensics trace` writes"},
    "complete": {
        "type": ["boolean", "array"],
        "items": {
            "type": ["integer", "object"],
            "minimum": 0,
            "additionalProperties": False,
            "properties": {
                "replicas": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                "kinds": {"type": "array", "items": {"type": "string"}},
                "from": {"type": "string", "pattern": TIME},
                "to": {"type": "string", "pattern": TIME},
            },
        },
        "description": (
            "true, or what each change is stated of: broker ids, or objects with `replicas`, `kinds`, `from` and `to`, "
            "each of which may be left out. There an absent line proves something"
        ),
    },
}
"""Fields of a line of kind ``trace``, the first of a file, beside ``schema`` and ``kind``."""

FILE_LINES: Final = ("file", "batches", "damage")
"""Kinds of line about a file of a broker, in a trace that is made from evidence (``parsers.takers.trace_files``)."""

OF_FILE_LINES: Final[dict[str, dict[str, Any]]] = {
    "path": {"type": "string", "description": "of a file: where it was"},
    "holds": {"type": "integer", "description": "of a file: how many batches, damages and statements of it follow"},
    "format": {"type": "string", "description": "of a file: what a reader took it for"},
    "directory_state": {"type": "string"},
    "base_offset": {"type": "integer", "description": "of a segment: the offset in its name"},
    "valid_bytes": {"type": "integer"},
    "magic": {"type": "integer", "description": "of a segment: its highest message format"},
    "log_end": {
        "type": "integer",
        "description": "of a segment: the offset after its last batch; of a whole snapshot: that in its name",
    },
    "properties": {"type": "object", "additionalProperties": {"type": "string"}},
    "columns": {"type": "array", "items": {"type": "string"}, "description": "names of the values of each batch"},
    "rows": {"type": "array", "items": {"type": "array"}, "description": "the header of each batch"},
    "damage": {"type": "string", "description": "what is wrong in a segment"},
    "reason": {"type": "string"},
    "excerpt": {"type": "string"},
    "line": {"type": "integer"},
    "byte": {"type": "integer", "description": "of a statement from a binary file: where it is in it"},
}
"""Fields of these lines, and of the statements among them, beside those of other lines."""

CLAIMED_BY: Final = {
    Claim.LOG: (Kind.LOG_CREATED, Kind.LOG_LOADED, Kind.APPEND, Kind.TRUNCATE, Kind.HW),
    Claim.ROLES: (Kind.BECOME_LEADER, Kind.BECOME_FOLLOWER),
}
"""Kinds that a claim must name to be about every change of a log, or of a role."""

_SAYS: Final = {
    "topic": "left out where the fact concerns a whole broker",
    "topic_id": "22 characters, where known",
    "replica": "broker that the line is about; left out where it is the witness itself",
    "witness": "broker that states it",
    "kind": "what it states",
    "message": "name of the message or source it was taken from; left out in a trace that is written as such",
    "time": "ISO 8601 with a zone",
    "offset": "see the kind",
    "high_watermark": "high watermark: first offset that is not committed",
    "leader_high_watermark": "high watermark that a leader sent",
    "log_end_offset": "log end offset: next offset to be written",
    "log_start_offset": "first offset that is kept",
    "isr": "broker ids joined by commas",
    "last_stable_offset": "last stable offset: first offset of an undecided transaction, else the high watermark",
    "checksum": "of one record batch: any text by which two batches differ if their records do",
    "detail": "see the kind",
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a line."""
    properties: dict[str, Any] = {"schema": {"const": SCHEMA}}
    for name in FIELDS:
        properties[name] = _type(name) | ({"description": _SAYS[name]} if name in _SAYS else {})
    own = {"not": {"required": ["message"]}}
    rules: list[dict[str, Any]] = [
        {
            "if": {"properties": {"kind": {"const": Kind.TRACE.value}}},
            "else": {"propertyNames": {"enum": ["schema", *FIELDS, *OF_FILE_LINES]}},
        },
        {
            "if": {"properties": {"kind": {"enum": list(COUNTED)}}, **own},
            "then": {"properties": {name: {"minimum": 0} for name in NOT_NEGATIVE}},
        },
    ]
    for file, needs in OF_FILES.items():
        of_file = {"properties": {"kind": {"const": file.value}}}
        rules.append({"if": of_file, "then": {"required": list(needs)}})
    of_state = {"properties": {"kind": {"const": Kind.STATE.value}}, **own}
    rules.append({"if": of_state, "then": {"anyOf": [{"required": [name]} for name in OF_KIND[Kind.STATE].may]}})
    of_producer = {"properties": {"kind": {"enum": [kind.value for kind in OF_PRODUCER]}}, **own}
    rules.append({"if": of_producer, "then": {"properties": {"detail": {"pattern": ACKS}}}})
    named = {"properties": {"topic": {"pattern": TOPIC, "not": {"enum": list(NO_TOPICS)}}}}
    rules.append({"if": own, "then": named})
    for statement in STATEMENTS:
        if statement.required:
            kind = {"properties": {"kind": {"const": statement.kind.value}}, **own}
            rules.append({"if": kind, "then": {"required": list(statement.required)}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "One line of a forensics trace",
        "type": "object",
        "required": ["schema", "kind"],
        "additionalProperties": False,
        "properties": properties | HEADER | OF_FILE_LINES,
        "dependentRequired": {"partition": ["topic"]},
        "allOf": rules,
    }


def _type(name: str) -> dict[str, Any]:
    if name == "kind":
        return {"enum": [*(kind.value for kind in Kind), *FILE_LINES]}
    if name == "time":
        return {"type": "string", "pattern": TIME}
    if name in ("isr", "isr_before"):
        return {"type": "string", "pattern": BROKERS}
    if TYPES[name].is_integer():
        bits = 31 if TYPES[name] == pl.Int32 else 63
        return {"type": "integer", "minimum": -(1 << bits), "maximum": (1 << bits) - 1}
    return {"type": "string"}


def statements_table() -> str:
    """The kinds as a table in Markdown."""
    rows = ["| kind | needs | may have | states |", "|---|---|---|---|"]
    for one in STATEMENTS:
        needs, may = (", ".join(f"`{name}`" for name in names) or "-" for names in (one.needs, one.may))
        rows.append(f"| `{one.kind.value}` | {needs} | {may} | {one.says} |")
    return "\n".join(rows)


def header_table() -> str:
    """The fields of the first line as a table in Markdown."""
    rows = ["| field | what it says |", "|---|---|"]
    rows += [f"| `{name}` | {field['description']} |" for name, field in HEADER.items()]
    return "\n".join(rows)
