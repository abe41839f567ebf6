"""Coverage: what the absence of a log line proves, for each replica. The only licence for "no line says …".

A line that is in the evidence counts as it stands, wherever it is. A line that is absent proves something only where
all lines are there. "Broker 2 did not truncate its log in leader epoch 3, because no line says so" needs every line
that broker 2 printed about its replica in that span. Whoever concludes something from an absent line asks here first:

* **whole**: the broker's lines are in the evidence, and nothing shows that one is missing of this span. Silence is
  proof.
* **partly**: the broker's lines are in the evidence, and something shows that others are missing of this span. Lines
  that are there count, silence does not.
* **silent**: no line of this broker is in the evidence. Nothing follows from that.

A span is one of three: *within* is from the replica's first line in the evidence to its last; *before* and *after* are
the times that lie outside. "Before is whole" therefore says: nothing shows that the broker printed anything about the
replica before its first line here, so that line is taken for the first that there was. Within, Kafka prints two things
about a replica: which roles it was given (``state-change.log``) and what became of its log (``server.log``). Both have
to be there. Before and after ask only whether something is known to be missing.

What shows that lines are missing is an :class:`Omission`: a broker that prints one thing has always printed another,
earlier or later, and the other is not there. All of them stand in one table,
``forensics.replay.omissions.OMISSIONS``, each beside the function that looks for it. Coverage only ever falls: when
replay meets a contradiction that missing lines would explain, it lowers the coverage of that replica and starts again
(``forensics.replay.reconstruct``). So conclusions do not depend on the order in which contradictions are found.

A doubt is less than an omission: lines may be missing, and nothing proves it. It lowers no coverage. Whoever has one
asks the coverage first and then concludes less about that one epoch (``epoch_start``, ``elections``).

A trace may claim that it states each change of some replicas. Inside that claim an absent line is proof, whatever
Kafka would have printed besides, so no omission counts for such a replica.

What rests on files (segments, checkpoints) needs no coverage: a file states what it holds.

So there are two questions, and each has methods of its own:

* *May I conclude something from an absent line?* ``whole``, ``throughout`` and ``has`` say so, and ``whole_replicas``
  and ``replicas_with`` of which replicas I may. For a silent broker they say no.
* *What shows that lines are missing?* ``shown_missing`` and ``shown_by`` say so, to word what is asked for, and
  ``is_shown_missing`` says whether anything does. Their silence proves nothing: nothing shows that lines of a silent
  broker are missing either. A house test lists the modules that may ask this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from forensics.replay.directory import Ref


class Extent(StrEnum):
    """How much of what a broker printed about its replica is in the evidence."""

    WHOLE = "whole"
    PARTLY = "partly"
    SILENT = "silent"


class Span(StrEnum):
    """Which lines of a replica: those before its first line in the evidence, between first and last, or after that."""

    BEFORE = "before"
    WITHIN = "within"
    AFTER = "after"


class Printed(StrEnum):
    """The two things that a broker prints about its replica.

    The value is the name of the file to which stock logging writes it, for texts that name the file.
    """

    ROLES = "state-change.log"  # which leader epochs it was given a role in
    LOG = "server.log"  # loads, truncations, fetchers: what became of its log


BOTH = frozenset(Printed)
"""Roles and log: with one of them alone, nothing follows from silence on the replica as a whole."""


@dataclass(frozen=True, slots=True)
class Omission:
    """One way in which evidence shows that lines are missing: a broker that prints one thing always prints another.

    Attributes:
        id: its name.
        span: where the missing lines stood.
        says: the sentence, with the names of its values in braces.
        source: the class of Kafka that prints both, or the KIP that says so.
    """

    id: str
    span: Span
    says: str
    source: str

    def of(
        self,
        replica: int,
        values: Mapping[str, object] = MappingProxyType({}),
        *,
        ref: Ref | None = None,
        epoch: int | None = None,
        undated_from: int | None = None,
    ) -> MissingLines:
        """Lines of a replica that are missing in this way.

        Args:
            replica: broker id.
            values: what the sentence names besides ``epoch`` and ``undated_from``.
            ref: what shows it.
            epoch: leader epoch at which the lines are missing, where that is known.
            undated_from: see ``MissingLines``.
        """
        text = self.says.format_map({"epoch": epoch, "undated_from": undated_from, **values})
        return MissingLines(replica, self.span, self.id, text, ref, epoch, undated_from)


@dataclass(frozen=True, slots=True)
class MissingLines:
    """Lines of one replica that are not in the evidence although its broker printed them.

    Attributes:
        replica: broker id.
        span: where they stood.
        shown_by: id of the omission that shows it.
        text: what shows it, in words.
        ref: the line or file that shows it.
        epoch: leader epoch at which they are missing, or None where nothing says. It says where to look; the whole span
            counts as partly covered all the same.
        undated_from: because these lines are missing, it is not known which leader wrote the records from this offset
            on; None where that is known.
    """

    replica: int
    span: Span
    shown_by: str
    text: str
    ref: Ref | None = None
    epoch: int | None = None
    undated_from: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What silence proves, for each replica of one partition.

    Attributes:
        printed: what each broker's lines about its replica are about: roles, log or both.
        missing: what shows that lines of a replica are missing, in the order in which replay found it.
        unnamed: leader epochs that must have existed and that no line of any broker names. A conclusion about several
            epochs asks for them beside the extent: a replica's own lines can be whole and skip an epoch in which it
            had no role.
        claimed: replicas of which a trace claims to state each change.
    """

    printed: Mapping[int, frozenset[Printed]] = field(default_factory=dict)
    missing: Mapping[int, tuple[MissingLines, ...]] = field(default_factory=dict)
    unnamed: frozenset[int] = frozenset()
    claimed: frozenset[int] = frozenset()

    def extent(self, replica: int | None, span: Span = Span.WITHIN) -> Extent:
        """How much of a span of a replica's lines is in the evidence.

        A broker of which nothing is in the evidence is silent; so is None, a replica that nothing names.
        """
        printed = self.printed.get(replica, frozenset()) if replica is not None else frozenset()
        if not printed:
            return Extent.SILENT
        if span is Span.WITHIN and printed != BOTH:
            return Extent.PARTLY
        return Extent.PARTLY if self.is_shown_missing(replica, span) else Extent.WHOLE

    def whole(self, replica: int | None, *spans: Span) -> bool:
        """Whether an absent line of a replica is proof in all of these spans; if none is given, within its lines."""
        return all(self.extent(replica, span) is Extent.WHOLE for span in spans or (Span.WITHIN,))

    def throughout(self, replica: int | None) -> bool:
        """Whether silence proves something in all three spans, so at any time."""
        return self.whole(replica, *Span)

    def has(self, replica: int | None, what: Printed) -> bool:
        """Whether a replica's lines on one thing are in the evidence, and nothing shows that a line of it is missing.

        That licenses silence about this one thing: "no truncation" of the log, "no other role" of the roles.
        """
        printed = self.printed.get(replica, frozenset()) if replica is not None else frozenset()
        return what in printed and not self.is_shown_missing(replica, Span.WITHIN)

    def whole_replicas(self, *spans: Span) -> frozenset[int]:
        """Replicas of which an absent line is proof in all of these spans; if none is given, within their lines."""
        return frozenset(replica for replica in self.printed if self.whole(replica, *spans))

    def replicas_with(self, what: Printed) -> frozenset[int]:
        """Replicas whose lines on one thing license silence about it, as ``has`` says of each."""
        return frozenset(replica for replica in self.printed if self.has(replica, what))

    def is_silent(self, replica: int | None) -> bool:
        """Whether no line of this broker about its replica is in the evidence."""
        return self.extent(replica) is Extent.SILENT

    def is_shown_missing(self, replica: int | None, span: Span, *spans: Span) -> bool:
        """Whether something shows that lines of a replica are missing in any of these spans.

        False is no licence: nothing shows that of a silent broker either.
        """
        return (
            any(one.span in (span, *spans) for one in self.missing.get(replica, ())) if replica is not None else False
        )

    def shown_missing(self, span: Span, *spans: Span) -> dict[int, MissingLines]:
        """Replicas of which something shows that lines are missing in any of these spans, and what does, first found.

        A replica that is not among them may be silent, so nothing follows from that.
        """
        found = {replica: self._first(replica, (span, *spans)) for replica in sorted(self.missing)}
        return {replica: one for replica, one in found.items() if one is not None}

    def shown_by(self, *omissions: Omission) -> dict[int, MissingLines]:
        """Replicas of which one of these omissions shows that lines are missing, and the first of them found."""
        ids = {omission.id for omission in omissions}
        found = ((replica, one) for replica, known in self.missing.items() for one in reversed(known))
        return {replica: one for replica, one in found if one.shown_by in ids}

    def _first(self, replica: int, spans: tuple[Span, ...]) -> MissingLines | None:
        return next((one for one in self.missing[replica] if one.span in spans), None)

    def lowered(self, found: Iterable[MissingLines]) -> Coverage:
        """The coverage with more lines known to be missing. An omission counts once for a replica, where first met."""
        missing = {replica: list(known) for replica, known in self.missing.items()}
        for one in found:
            if one.replica in self.claimed:
                continue
            known = missing.setdefault(one.replica, [])
            if all(other.shown_by != one.shown_by for other in known):
                known.append(one)
        ordered = {replica: tuple(known) for replica, known in sorted(missing.items())}
        return Coverage(self.printed, ordered, self.unnamed, self.claimed)

    def with_unnamed(self, epochs: Iterable[int]) -> Coverage:
        """The coverage where some leader epochs must have existed and no line names them."""
        return Coverage(self.printed, self.missing, frozenset(epochs), self.claimed)
