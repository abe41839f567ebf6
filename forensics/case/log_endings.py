"""Files by their endings: finds which of very many files that begin alike are the beginning of another one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from parsers.files.sources import Source

_STEP = 1 << 10
"""Bytes between two places at which what precedes is hashed."""
_BLOCK = 1 << 20

Content = tuple[int, str]
"""Length and hash of what is in a file."""


@dataclass(slots=True)
class Endings:
    """Files by their endings: a hash of their whole steps, and the bytes of the step in which they end.

    A file is read once to find those that begin it, however many there are.

    Attributes:
        ends: by that hash, the contents by their last bytes.
        lengths: by that hash, how many last bytes there are.
    """

    ends: dict[bytes, dict[bytes, Content]] = field(default_factory=dict)
    lengths: dict[bytes, set[int]] = field(default_factory=dict)

    @staticmethod
    def of(sources: Sequence[Source], first: Mapping[Content, int]) -> Endings:
        """Read files to their ends.

        Args:
            sources: all sources of the case.
            first: position of a file with each content.
        """
        made = Endings()
        for content, number in first.items():
            before, rest = b"", bytes(_STEP)
            for before, rest in _steps(sources[number]):  # noqa: B007 - the last one counts
                pass
            if len(rest) < _STEP:  # it could be read to its end
                made.ends.setdefault(before, {})[rest] = content
                made.lengths.setdefault(before, set()).add(len(rest))
        return made

    def within(self, source: Source) -> Iterator[Content]:
        """Yield the contents that a file begins with, its own among them, the shortest first."""
        for before, block in _steps(source):
            for length in sorted(self.lengths.get(before, ())):
                content = self.ends[before].get(block[:length])
                if content is not None and length <= len(block):
                    yield content


def _steps(source: Source) -> Iterator[tuple[bytes, bytes]]:
    """Yield the steps of a file, each with a hash of all before it; the last one is shorter than a step, or empty.

    What cannot be read ends without the last one.
    """
    digest, held = hashlib.sha256(), b""
    try:
        with source.open() as stream:
            while data := stream.read(_BLOCK):
                held += data
                whole = len(held) - len(held) % _STEP
                for at in range(0, whole, _STEP):
                    yield digest.digest(), held[at : at + _STEP]
                    digest.update(held[at : at + _STEP])
                held = held[whole:]
    except OSError:
        return
    yield digest.digest(), held
