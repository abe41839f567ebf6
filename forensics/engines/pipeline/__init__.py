"""One run over an archive: list, read, place, bring together, judge, finish. Who runs its tasks is an executor."""

from __future__ import annotations
