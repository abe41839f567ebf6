"""One line for each finding, as ACME's ticket system takes them."""

from __future__ import annotations

from forensics.plugins import Report, Result


def render(result: Result) -> str:
    """Return the lines, the worst finding first."""
    lines = [f"ACME|{one.severity.value}|{one.rule}|{one.topic}-{one.partition}" for one in result.findings]
    return "".join(f"{line}\n" for line in lines)


REPORT = Report("acme-ticket", "one line for each finding, for ACME's ticket system", render)
