"""Measurements: how right and how fast. Run with ``make accuracy`` and ``make bench``."""
