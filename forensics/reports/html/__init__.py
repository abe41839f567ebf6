"""The incident report as one HTML file: it loads nothing from the network and answers before it shows a chart."""

from __future__ import annotations

from forensics.result import Result


def render(result: Result) -> str:
    """The whole page.

    Args:
        result: a finished scan; redact it first (``forensics.reports.redaction``) where names must not leave the house.

    Returns:
        HTML of at most ``page.LARGEST`` bytes in UTF-8; the same bytes for the same evidence.
    """
    from forensics.reports.html.page import render as whole

    return whole(result)
