"""The evidence: which files were read, which broker they belong to, and what is missing."""

from __future__ import annotations

from forensics.case.case import Case, Reading, assemble
from forensics.case.origin import Origin

__all__ = ["Case", "Origin", "Reading", "assemble"]
