"""The version of the package. Modules within do not import the package itself, which exports functions of theirs."""

from __future__ import annotations

__version__ = "0.1.0"
