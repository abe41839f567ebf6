"""What a broker says of itself, among all that it prints."""

from __future__ import annotations

import polars as pl

from parsers.schema import Kind

_SENT = ("C-04", "C-11")
"""Messages with which a controller tells that it sends a LeaderAndIsr request to a broker: to itself, too."""

SENT = (pl.col("kind") == Kind.LEADER_AND_ISR.value) & pl.col("message").cast(pl.String).is_in(_SENT).fill_null(False)
"""Requests as their controller tells them; their receiver says when it got them."""

OF_ITSELF = (pl.col("replica").is_null() | (pl.col("replica") == pl.col("broker"))) & ~SENT
"""What a broker says of its own replica or process."""
