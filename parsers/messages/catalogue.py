"""Types of the entries of the message catalogue. The entries are in one file per family beside this one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from parsers.schema import Kind


@dataclass(frozen=True, slots=True)
class Example:
    """A message text and the values that must be read from it.

    Attributes:
        text: the message without frame (no time, level or logger), prefix included, first line only.
        values: one dict per observation the text gives, in order; keys are columns of ``OBSERVATIONS`` (``kind`` only
            where it differs from the message's).
        origin: ``real`` (a broker printed it) or ``rendered`` (made by hand from the source's template).
    """

    text: str
    values: tuple[dict[str, int | str | None], ...]
    origin: str = "rendered"


@dataclass(frozen=True, slots=True)
class Each:
    """A repeated part of a message, e.g. one entry of a partition map: every match gives one observation.

    Attributes:
        regex: named groups as in :class:`Variant`; applied to the text of the message.
        kind: kind of the rows it gives; None = that of the message.
    """

    regex: str
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording of a message.

    Attributes:
        since: first Kafka minor release that prints it, e.g. "1.0".
        until: last one, or None while it still does.
        regex: anchored at the start of the message text. Named groups are columns of ``OBSERVATIONS``, or ``tp`` (a
            directory name, split at its last "-"), or ``bracketed`` ("topic,partition"). Only what Python's ``re`` and
            Rust's ``regex`` both accept: ``(?P<n>)``, ``[0-9]``, no look-around, no back-references, no ``$``.
        source_ref: place of the text in Kafka's source, e.g. "3.6.2 UnifiedLog:1712".
        examples: at least one.
        fixed: values the wording implies without printing them, e.g. ``{"detail": "leader: start"}``.
        each: repeated parts; the groups of ``regex`` are copied to every row of them.
        own_row: whether ``regex`` itself gives a row beside those of ``each``.
        quoted: as people quote it, without the prefix of its printer. If text in brackets precedes it, that is another
            prefix, or a damaged one: then the line does not match.
    """

    since: str
    until: str | None
    regex: str
    source_ref: str
    examples: tuple[Example, ...]
    fixed: dict[str, int | str] = field(default_factory=dict)
    each: tuple[Each, ...] = ()
    own_row: bool = True
    quoted: bool = False


class Says(StrEnum):
    """Meaning of a message beside its kind and its values."""

    SENT = "a controller sends this to a broker"  # perhaps to itself; the receiver logs when it received it
    OWN_EPOCH = "a broker states its own broker epoch"
    HANDED_OVER = "an ISR change was handed over"  # logged perhaps after its answer
    NAMES_DIRECTORY = "the directory of the log that was loaded"  # so it is not one that waits for deletion
    UNFLUSHED = "a segment of the log is recovered that was not flushed"  # no process had stopped cleanly
    CORRUPT_BYTES = "log recovery found bytes that are no record, and removes them with all that follows in the segment"
    RESTATED = "the state of a partition, as one of its replicas goes offline"  # it may have been so before


@dataclass(frozen=True, slots=True)
class Message:
    """One fact that brokers print, in all its wordings.

    Attributes:
        id: id in the catalogue, e.g. "L-21".
        kind: kind of the rows.
        literal: text that each wording contains; lines without it are never examined again. A line that has it but fits
            no variant is a notice. A tuple if the wordings share no text.
        level: level at which brokers print it.
        stock: whether a default log4j configuration shows it.
        variants: tried in order, the first match wins.
        thrown: the text is that of an exception. It follows the name of its class, in a continuation line of an event.
        says: what its kind and its values do not say, or None.
    """

    id: str
    kind: Kind
    literal: str | tuple[str, ...]
    level: str
    stock: bool
    variants: tuple[Variant, ...]
    thrown: bool = False
    says: Says | None = None

    @property
    def literals(self) -> tuple[str, ...]:
        """The literals as a tuple."""
        return (self.literal,) if isinstance(self.literal, str) else self.literal


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of a message that is known and adds nothing to other lines.

    Attributes:
        since, until, regex, source_ref: as in :class:`Variant`.
        text: an example.
        origin: as in :class:`Example`.
    """

    since: str
    until: str | None
    regex: str
    source_ref: str
    text: str
    origin: str = "rendered"


def routine(
    id: str, kind: Kind, literal: str | tuple[str, ...], level: str, stock: bool, *wordings: Wording
) -> Message:
    """A message whose lines are understood and give no row.

    Args:
        id, kind, literal, level, stock: as in :class:`Message`; the kind is its subject.
        wordings: tried in order.
    """
    return Message(
        id=id,
        kind=kind,
        literal=literal,
        level=level,
        stock=stock,
        variants=tuple(
            Variant(w.since, w.until, w.regex, w.source_ref, (Example(w.text, (), w.origin),), own_row=False)
            for w in wordings
        ),
    )
