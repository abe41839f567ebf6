"""A pasted text line by line: the kind of each line, without its dressing, joined if it was wrapped.

A log as a program wrote it is no excerpt: something that only people do must be around its lines (``signs``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.excerpts import wraps
from parsers.excerpts.catalogue import speaks
from parsers.excerpts.dressings import COLLECTED, Dressing, Undressed, off, undressed
from parsers.excerpts.escapes import OBJECTS, unescaped
from parsers.excerpts.headings import heading, labels_output, typed
from parsers.excerpts.kinds import (
    Kind,
    broken_of,
    event_of,
    fence_of,
    goes_on,
    has_logger_first,
    left_out,
    may_be_inside,
    message_in,
    message_of,
    names_printer,
    said,
    spoken,
    torn_of,
    whole,
)
from parsers.text.cut_wordings import is_beginning

_FIRST = (Kind.EVENT, Kind.MESSAGE, Kind.BROKEN)
"""Kinds that may be the first piece of a wrapped line."""


@dataclass(slots=True)
class Line:
    """A line of a text.

    Attributes:
        text: undressed.
        kind: its kind.
        writer: its writer, or "".
        stretch: number of its stretch between fences and prose; 0 for fences, prose and blank lines.
    """

    text: str
    kind: Kind
    writer: str = ""
    stretch: int = 0

    @property
    def begins(self) -> bool:
        """True if it begins an event."""
        return self.kind in (Kind.EVENT, Kind.MESSAGE)


@dataclass(slots=True)
class Excerpt:
    """A text line by line.

    Attributes:
        lines: all of them; if escapes were undone there may be more than the text had.
        signs: evidence that it is an excerpt; empty without any.
        ambiguous: numbers of lines that may be joined in two ways, and are left out.
    """

    lines: list[Line]
    signs: set[str] = field(default_factory=set)
    ambiguous: list[int] = field(default_factory=list)


def dissected(text: str) -> Excerpt:
    """A text line by line."""
    text, escapes = unescaped(text)
    reader = _Reader([line.rstrip("\r") for line in text.removesuffix("\n").split("\n")])
    found = reader.read()
    if any(line.begins for line in found.lines):
        found.signs.update(name for name in escapes if name != OBJECTS)
    else:
        found.signs.clear()
    return found


class _Reader:
    """Reads a text line by line; ``dressed`` is what was around each line, ``timed`` means that any has a level."""

    def __init__(self, physical: Sequence[str]) -> None:
        self.physical = physical
        self.signs: set[str] = set()
        self.ambiguous: list[int] = []
        self.around: tuple[Dressing, ...] = ()
        self.indent = ""
        self.timed = False
        self.names: set[str] = set()
        self.worn: set[tuple[Dressing, ...]] = set()
        self.dressed: list[tuple[Dressing, ...]] = []
        self.lines: list[Line] = []

    def read(self) -> Excerpt:
        """The whole text."""
        events = [undressed(line) for line in self.physical]
        self.timed = any(found is not None for found in events)
        begun = [found or undressed(line, broken_of) for line, found in zip(self.physical, events, strict=True)]
        self.names = {name for found in begun if found is not None for name in found.names}
        self.worn = {found.dressings for found in begun if found is not None}
        for line, found in zip(self.physical, events, strict=True):
            self.dressed.append(())
            self.lines.append(self._line(line, found))
        self._join()
        _tell_prose(self.lines)
        _give_stretches(self.lines)
        self._sign()
        return Excerpt(self.lines, self.signs, self.ambiguous)

    def _line(self, line: str, found: Undressed | None) -> Line:
        if not line.strip():
            return Line("", Kind.BLANK)
        if fence_of(line) is not None:
            return Line(line, Kind.FENCE)
        if found is not None:
            if found.event.sign and found.event.sign != "no level":
                self.signs.add(found.event.sign)
            return self._begun(line, found, Kind.EVENT)
        text, writer = off(line, self.around, self.indent, self.names)
        if fence_of(text) is not None:
            return Line(text, Kind.FENCE)
        if left_out(text):
            return Line(text.strip(), Kind.LEFT_OUT, writer)
        for begins, kind in ((message_of, Kind.MESSAGE), (broken_of, Kind.BROKEN)):
            found = undressed(line, begins)
            if found is not None:
                return self._begun(line, found, kind)
        found = undressed(line, torn_of)
        if found is not None and (names_printer(found.line) or (not self.timed and self._as_others(found))):
            return self._begun(line, found, Kind.BROKEN)
        return Line(text, Kind.GOES_ON, writer)

    def _as_others(self, found: Undressed) -> bool:
        """Return whether a line is dressed as beginnings with a level are, if there are any.

        ``1:org.apache.kafka...`` may be a numbered line. It may also be a piece of ``to broker 1:org.apache.kafka...``.
        """
        return not self.worn or found.dressings in self.worn

    def _begun(self, line: str, found: Undressed, kind: Kind) -> Line:
        """Return a line that begins an event; text around it may be around the lines behind it too."""
        self.around = self.dressed[-1] = found.dressings
        self.indent = line[: len(line) - len(line.lstrip(" \t"))]
        return Line(found.line, kind, found.writer)

    # -- wrapped lines ------------------------------------------------------------------------------------------------

    def _join(self) -> None:
        """Make lines whole that were wrapped; the lines of their further pieces become blank."""
        broken = {at: rest for at, line in enumerate(self.lines) if line.kind in _FIRST and (rest := self._behind(at))}
        width = wraps.width_of([length for at, rest in broken.items() for length in self._lengths(at, rest)])
        for at, rest in broken.items():
            found = self._whole(at, rest, width)
            if found is not None:
                self._put(at, found)
        for line in self.lines:
            line.kind = Kind.GOES_ON if line.kind is Kind.BROKEN else line.kind
        self._join_exceptions()

    def _join_exceptions(self) -> None:
        """Make the texts of exceptions below events whole that are known only with further lines."""
        for at, line in enumerate(self.lines):
            if line.kind is not Kind.GOES_ON or not wraps.may_be_torn(line.text):
                continue
            rest = self._behind(at)
            lengths = [len(one) for one in self.physical[at : at + len(rest) + 1]]
            found = wraps.joined_exception(line.text, rest, lengths)
            if found is not None:
                self._put(at, found)
                line.kind = Kind.GOES_ON

    def _lengths(self, at: int, rest: Sequence[str]) -> list[int]:
        """Return the lengths of the pieces of one line, as in the text, except the last."""
        found = self._whole(at, rest, None)
        return [] if found is None else [len(self.physical[at + piece]) for piece in range(found.pieces)]

    def _put(self, at: int, found: wraps.Joined) -> None:
        """Put a whole line in the place of its pieces."""
        self.signs.add("wrapped")
        self.lines[at].text = found.text
        self.lines[at].kind = Kind.EVENT if event_of(found.text) is not None else Kind.MESSAGE
        if not found.text:
            self.ambiguous.append(at + 1)
            self.lines[at].kind = Kind.BLANK
        for piece in self.lines[at + 1 : at + 1 + found.pieces]:
            piece.text, piece.kind = "", Kind.BLANK

    def _behind(self, at: int) -> list[str]:
        """Lines behind the first line of an event that may be pieces of it."""
        found: list[str] = []
        # Two known messages are never pieces of one.
        pieces = (Kind.GOES_ON,) if self.lines[at].kind is Kind.MESSAGE else (Kind.GOES_ON, Kind.MESSAGE)
        for line in self.lines[at + 1 : at + 1 + wraps.MOST_PIECES]:
            if line.kind not in pieces and not (line.kind is Kind.BROKEN and may_be_inside(line.text)):
                break
            found.append(line.text)
        return found

    def _whole(self, at: int, rest: Sequence[str], width: wraps.Width | None) -> wraps.Joined | None:
        if self.lines[at].kind not in _FIRST:
            return None  # it became a piece of a line before
        lengths = [len(line) for line in self.physical[at : at + len(rest) + 1]]
        found = wraps.joined(self.lines[at].text, rest, lengths, width)
        found = found or wraps.joined_without_end(self.lines[at].text, rest, lengths, width)
        found = found or wraps.joined_by_message(self.lines[at].text, rest, lengths, width)
        if found is None and wraps.cut_number(self.lines[at].text, rest[0]):
            return wraps.Joined("", 1)
        return found

    # -- signs --------------------------------------------------------------------------------------------------------

    def _sign(self) -> None:
        """Collect evidence that the text is an excerpt."""
        events = [at for at, line in enumerate(self.lines) if line.begins]
        self.signs.update(dressing.name for at in events for dressing in self.dressed[at] if dressing.sign)
        self.signs.update(sign for sign, shown in self._shapes(events).items() if shown)
        told = [line for line in self.lines if line.kind is not Kind.BLANK]
        self.signs.update(_sign_of(line, first=at == 0) for at, line in enumerate(told))
        self.signs.discard("")

    def _shapes(self, events: Sequence[int]) -> dict[str, bool]:
        """Return which shapes of all lines together people alone give a text."""
        dressed = [{dressing.name for dressing in self.dressed[at]} for at in events]
        return {
            "indented": bool(events) and all("indented" in names for names in dressed),
            "several collectors": self._several_collectors(events),
            "cut": any(self._is_cut(at) for at in events),
            "message alone": all(self.lines[at].kind is Kind.MESSAGE for at in events),
        }

    def _several_collectors(self, events: Sequence[int]) -> bool:
        """Return whether the lines have prefixes of several collectors: each of them writes a file of its own."""
        outermost = (next((one.name for one in self.dressed[at] if one.name in COLLECTED), None) for at in events)
        return len({*outermost} - {None}) > 1

    def _is_cut(self, at: int) -> bool:
        """Return whether a line about replication ends at the width of the text, or in dots, and not as it should."""
        text = self.lines[at].text
        width = max(map(len, self.physical))
        return (
            not whole(text)
            and speaks(text)
            and said(text) is None
            and (text.endswith(("...", "…")) or len(self.physical[at]) == width)
            and is_beginning(message_in(text))
        )


def _sign_of(line: Line, *, first: bool) -> str:
    """Return the evidence in a line that is no log line, or ""; the first line of a text is stronger evidence."""
    if line.kind is Kind.FENCE:
        fence = fence_of(line.text)
        return "fence" if first or (fence is not None and fence.sign) else ""
    if line.kind is Kind.PROSE:
        return "prose" if spoken(line.text) else "heading" if heading(line.text) else ""
    return "left out" if line.kind is Kind.LEFT_OUT else ""


def _tell_prose(lines: Sequence[Line]) -> None:
    """Distinguish prose from continuation lines: before all events everything is prose, in a fence hardly anything.

    A known message without a time is an event in a fence or among others like it, not behind a line that has a time.
    """
    fenced = begun = alone = unended = False
    timed = any(line.kind is Kind.EVENT for line in lines)
    loggers = any(line.begins and whole(line.text) for line in lines)
    for line in lines:
        if line.kind is Kind.MESSAGE and timed and begun and not alone:
            line.kind = Kind.GOES_ON
        if line.kind is Kind.FENCE:
            fenced, begun = _fenced(line.text, fenced), False
        elif line.begins:
            begun, alone = True, line.kind is Kind.MESSAGE
            unended = _may_be_unended(line.text, loggers=loggers)
        elif line.kind is Kind.GOES_ON and begun and _may_go_on(line.text, inside=fenced or unended):
            unended = unended and not whole(line.text)
        elif line.kind is Kind.GOES_ON:
            line.kind, begun, unended = Kind.PROSE, fenced, False


def _may_be_unended(text: str, *, loggers: bool) -> bool:
    """Return whether an event's line may lack its end: no logger is behind it, and others have one, or it is before."""
    return (loggers and not whole(text)) or has_logger_first(text)


def _may_go_on(text: str, *, inside: bool) -> bool:
    """Return whether a line may continue an event; inside of a block, or of a line, everything except speech."""
    return not (spoken(text) or typed(text)) and ((inside and not heading(text)) or goes_on(text))


def _fenced(text: str, fenced: bool) -> bool:
    """Return whether the lines behind a fence are inside of a block."""
    fence = fence_of(text)
    if fence is None or fence.toggles:
        return not fenced
    found = fence.pattern.match(text)
    return found is not None and not found["end"]


def _give_stretches(lines: Sequence[Line]) -> None:
    """Number the stretches of lines between fences and prose, and give each the writer that its heading names.

    Between a command and what it printed, ends of blocks may be, and a word for output.
    """
    number, named, told, broken, last = 0, "", False, True, ""
    ran = ""  # whose lines the last command prints, if they are not there yet
    for line in lines:
        if line.kind is Kind.PROSE:
            name = heading(line.text)
            named = name or (ran if labels_output(line.text) else "")
            ran = named if typed(line.text) or not name else ""
            told, broken = False, True
        elif line.kind is Kind.FENCE:
            named, told, broken = "" if told else named, False, True
        elif line.kind is not Kind.BLANK:
            number += broken
            broken, told, ran = False, True, ""
            line.stretch = number
            line.writer = line.writer or (last if line.kind is Kind.GOES_ON else "") or named
            last = line.writer
