"""The summary for a ticket: word by word for one case, and nothing in it steers Markdown or a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.reports.markdown import code, escaped, render
from forensics.result import Result
from tests.cli.conftest import Run, run
from tests.incident import Incident
from tests.rules.problem_lines import SHOWN

__all__ = ["run"]

NAME = "kip101-0.10.2.2"
UPDATE = os.environ.get("FORENSICS_UPDATE_GOLDEN") == "1"


def test_a_ticket_reads_like_this(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    ran = run("scan", f"sample_traces/{NAME}", "--format", "markdown")
    assert (ran.code, ran.err) == (1, "")
    golden = repository / "tests" / "golden" / f"{NAME}.md"
    if UPDATE:
        golden.write_text(ran.out, encoding="utf-8")
    assert ran.out == golden.read_text(encoding="utf-8"), "if this is meant, see tests/golden/README.md"


def test_what_to_collect_is_a_command(sample_traces: Path, tmp_path: Path) -> None:
    log = (sample_traces / NAME / "broker-3" / "logs" / "server.log").read_bytes()
    (tmp_path / "broker-3").mkdir()
    (tmp_path / "broker-3" / "server.log").write_bytes(log)
    text = render(scan([str(tmp_path)]))
    assert text.startswith(("# INCONCLUSIVE", "# SUSPECTED"))
    part = text.partition("## Collect this to get an answer\n")[2]
    assert re.search(r"^- on broker 3: `tar czf broker-3\.tgz .*`$", part, re.MULTILINE)


def test_known_problems_of_pasted_lines_are_in_it(tmp_path: Path) -> None:
    (tmp_path / "ticket.txt").write_text("\n".join(["We see:", "```", *SHOWN["truncation-refused"].lines, "```", ""]))
    text = render(scan([str(tmp_path / "ticket.txt")]))
    assert "## What the lines say" in text
    assert "- **error** " in text
    assert "  - Means: " in text
    assert "  - Do first: " in text


def test_nothing_steers_markdown_or_a_terminal(sample_traces: Path, scanned: Callable[[Path], Result]) -> None:
    result = scanned(sample_traces / NAME)
    evil = "x](http://evil) <script> **b** `c` \x1b[31m| __d__"
    findings = [replace(one, summary=evil, keep=evil, topic="__t*") for one in result.findings]
    text = render(replace(result, findings=findings))
    assert "\x1b" not in text
    prose = re.sub(r"(`+).*?\1", "", text)
    assert "<script>" not in prose
    assert re.search(r"(?<!\\)\]\(http", prose) is None
    assert r"\_\_t\*-0" in text
    assert r"X\](http://evil) \<script\> \*\*b\*\*" in text


def test_code_holds_any_text() -> None:
    assert code("a") == "`a`"
    assert code("a``b") == "```a``b```"
    assert code("`") == "`` ` ``"
    assert escaped("orders_v2-0 a_b") == "orders_v2-0 a_b"


def test_several_clusters_are_named(sample_traces: Path) -> None:
    text = render(scan([str(sample_traces / NAME), str(sample_traces / "unclean-3.9.1")]))
    headings = [line for line in text.splitlines() if line.startswith("## orders-0")]
    assert len(headings) == 2
    assert all(line.startswith("## orders-0 of cluster ") for line in headings)


def test_a_ticket_names_truncations_of_uncommitted_records(tmp_path: Path) -> None:
    """Owners of producers with acks=1 would not hear of them else."""
    incident = Incident(tmp_path)
    incident.begins(50)
    incident.elects(20, 1, 1, [1, 2, 3])
    incident[1].leads(20, 1, 50, 50, [1, 2, 3])
    incident[2].follows(20, 1, 1, 53, 50).cuts(21, 50)
    incident[3].follows(20, 1, 1, 50, 50)
    quiet = [one for one in incident.scan().findings if one.rule == "uncommitted-truncation"]
    assert quiet
    ticket = render(incident.scan())
    assert "## Information" in ticket
    assert all(f"- orders-0: {one.summary[:20]}" in ticket for one in quiet)
