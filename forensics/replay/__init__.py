"""Rows to histories: one timeline a replica, one committed bound a lineage."""

from __future__ import annotations
