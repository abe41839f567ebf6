"""Examples at the end of help texts, which are never wrapped: they can be pasted."""

from __future__ import annotations


def example(*lines: str) -> str:
    """Return commands as the end of a help text."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])
