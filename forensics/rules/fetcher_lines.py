"""Lines about followers that stopped fetching: entries of ``known_problems``."""

from __future__ import annotations

from forensics.rules.finding import Severity
from forensics.rules.problem_entry import KnownProblem, Records
from parsers.schema import Kind

FETCHERS: tuple[KnownProblem, ...] = (
    KnownProblem(
        id="fetcher-stopped",
        title="Follower stopped fetching",
        severity=Severity.WARNING,
        kinds=(Kind.FETCH_FAILED,),
        states="a replica no longer fetches {where}: its fetcher met an error",
        records=Records.NOTHING_LOST,
        means=(
            "Up to 2.2 the whole thread stops with each partition that it fetches, until the broker restarts. "
            "Since 2.3 one partition stops, until it gets a new leader epoch. The replica then leaves the ISR."
        ),
        fetch=(
            "collect the exception below the line: it names the cause and the offset",
            "check the ISR of {where}: while this follower has stopped, there are fewer copies",
            "after you know the cause, restart the follower or move leadership, to start its fetcher again",
        ),
        issues=("KIP-461 (2.3: one partition fails, not the thread)",),
        part_of=(
            "truncation-refused",
            "out-of-order-append",
            "fetch-offset-mismatch",
            "append-refused",
            "log-start-above-high-watermark",
        ),
    ),
)
"""Followers that stopped, and why."""
