"""The same functions, run locally or on Spark."""

from __future__ import annotations
