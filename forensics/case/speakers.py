"""Lines of a broker about itself, among all that it logs."""

from __future__ import annotations

import polars as pl

from parsers.schema import Kind

_SENT = ("C-04", "C-11")
"""Messages in which a controller logs that it sends a LeaderAndIsr request to a broker, also to itself."""

SENT = (pl.col("kind") == Kind.LEADER_AND_ISR.value) & pl.col("message").cast(pl.String).is_in(_SENT).fill_null(False)
"""Requests as their controller logs them; the receiver logs when it received them."""

OF_ITSELF = (pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))) & ~SENT
"""Lines of a broker about its own replica or process."""
