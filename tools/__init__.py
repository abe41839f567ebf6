"""Programs for those who work on the project; no part of an installation."""

from __future__ import annotations
