"""Lines of a broker about itself, among all that it logs."""

from __future__ import annotations

import polars as pl

from parsers.messages.catalogue import Says
from parsers.messages.logs import SAYS
from parsers.schema import Kind


def saying(says: Says) -> pl.Expr:
    """Rows of messages that say something beside their kind and their values; null where no message gave the row."""
    return pl.col("message").cast(pl.String).is_in(sorted(SAYS[says]))


SENT = (pl.col("kind") == Kind.LEADER_AND_ISR.value) & saying(Says.SENT).fill_null(False)
"""Requests as their controller logs them; the receiver logs when it received them."""

OF_ITSELF = (pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))) & ~SENT
"""Lines of a broker about its own replica or process."""
