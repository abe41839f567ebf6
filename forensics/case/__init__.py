"""What was taken in, from which broker, and what is missing."""

from __future__ import annotations

from forensics.case.case import Case, Reading, assemble

__all__ = ["Case", "Reading", "assemble"]
