"""The Spark engine: the parser, replay and rules of the local engine, with Spark's splitting, shuffle and retries."""

from __future__ import annotations
