"""What tasks do, as functions of Arrow batches that carry all they need with them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from forensics.case.quotes import line_texts
from forensics.engines.spark import reading
from forensics.engines.spark.listing import File, hashed, looked
from forensics.engines.spark.plan import Piece
from forensics.engines.spark.rows import RAW, batches

LOOKED: Final = {"order": pl.Int64(), "sha256": pl.String(), "looks": pl.String()}
QUOTED: Final = {"path": pl.String(), "line": pl.Int64(), "text": pl.String(), "sha256": pl.String()}


@dataclass(frozen=True, slots=True)
class LookInto:
    """Hash files and say what is in them.

    Attributes:
        known: files whose hash is at hand need not be hashed again, by path.
    """

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``LOOKED`` for files as JSON: position, path, place, size, time and problem."""
        for text in _pieces(incoming):
            order, *fields = json.loads(text)
            file = File(*fields)
            digest = hashed(file)
            looks = json.dumps([look.row() for look in looked(file, digest)])
            yield from batches(
                pl.DataFrame({"order": [order], "sha256": [digest], "looks": [looks]}, schema=LOOKED), LOOKED
            )


@dataclass(frozen=True, slots=True)
class Read:
    """Read pieces.

    Attributes:
        zone: zone of printed times that name none.
    """

    zone: str

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``RAW`` for pieces."""
        for rows in reading.rows(_pieces(incoming), self.zone):
            yield from batches(rows, RAW)


@dataclass(frozen=True, slots=True)
class Quote:
    """Read what findings cite."""

    def __call__(self, incoming: Iterable[Any]) -> Iterator[Any]:
        """Rows of ``QUOTED`` for pieces with the lines that are wanted of each; line 0 gives the hash alone."""
        for text in _pieces(incoming):
            piece, wanted = json.loads(text)
            source = reading.opened(Piece.of(piece).units[0])
            try:
                digest = source.sha256()
            except OSError:
                digest = None
            texts = line_texts(source, set(wanted)) if wanted else {}
            rows = [(source.path, 0, "", digest), *[(source.path, line, said, digest) for line, said in texts.items()]]
            yield from batches(pl.DataFrame(rows, schema=QUOTED, orient="row"), QUOTED)


def _pieces(incoming: Iterable[Any]) -> Iterator[str]:
    for batch in incoming:
        yield from batch.column("piece").to_pylist()
