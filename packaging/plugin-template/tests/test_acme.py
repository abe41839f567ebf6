"""The entries of this package; ``pytest --forensics-rule acme-volume-detached`` checks the rule further."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forensics_acme.messages
import forensics_acme.ticket
import pytest

EXAMPLES = Path(__file__).parent / "examples"
Scan = Callable[[Path], Any]


def test_the_file_is_read_whole(forensics_scan: Scan) -> None:
    rows = forensics_scan(EXAMPLES / "acme-volume-detached" / "clean" / "attached").case.observations
    told = rows.filter(rows["message"] == "acme-volumes").select("broker", "topic", "partition", "detail")
    assert told.rows() == [(1, "orders", 0, "vol-7 attached"), (2, "orders", 0, "vol-8 attached")]


def test_a_damaged_line_is_a_notice(forensics_scan: Scan, tmp_path: Path) -> None:
    (tmp_path / "acme-volumes").write_text("acme-volumes 1 broker 1\norders-0 vol-7 attached\norders-1 vol-")
    case = forensics_scan(tmp_path).case
    assert case.notices.select("line", "reason").rows() == [(3, "no line of acme-volumes")]


@pytest.mark.parametrize("message", forensics_acme.messages.MESSAGES, ids=lambda one: one.id)
def test_each_example_gives_its_values(message: Any) -> None:
    for variant in message.variants:
        for example in variant.examples:
            found = re.match(variant.regex, example.text)
            assert found is not None
            values = found.groupdict()
            (wanted,) = example.values
            topic, _, partition = values.pop("tp").rpartition("-")
            assert {**values, "topic": topic, "partition": partition} == {k: str(v) for k, v in wanted.items()}


def test_the_ticket_has_a_line_for_each_finding(forensics_scan: Scan) -> None:
    result = forensics_scan(EXAMPLES / "acme-volume-detached" / "violated" / "detached")
    assert "ACME|warning|acme-volume-detached|orders-0\n" in forensics_acme.ticket.render(result)
