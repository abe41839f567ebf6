"""From rows to histories: one timeline for each replica, one committed bound for each lineage."""

from __future__ import annotations
