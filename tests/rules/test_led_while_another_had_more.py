"""Lines of a search, which name leader epochs: a replica truncated and led next, and another one then removed more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.signs.sign import Sign
from forensics.replay.signs.suspicions import suspicions
from forensics.rules.finding import Finding
from tests.incident import Incident
from tests.parsers.test_exports import lines

LOSS, TRUNCATED = "committed-data-lost", "truncation-below-committed"
Change = Callable[[str, str], str]


def same(_broker: str, line: str) -> str:
    return line


def found(trace: Path, folder: Path, *, words: str = "", change: Change = same, rule: str = LOSS) -> list[Finding]:
    """Return what is found in the lines of a search that found more than it handed out."""
    entries = [(broker, change(broker, line)) for broker, line in lines(trace) if words in line]
    hits = [{"_source": {"message": line, "host": {"name": broker}}} for broker, line in entries]
    page = {"hits": {"total": {"value": len(hits), "relation": "gte"}, "hits": hits}}
    (folder / "hits.json").write_text(json.dumps(page))
    (partition,) = scan([str(folder / "hits.json")]).partitions
    assert partition.judgements[rule].verdict.value == "unknown"
    return list(partition.judgements[rule].findings)


@pytest.mark.parametrize("words", ["", "orders"])
@pytest.mark.parametrize("rule", [LOSS, TRUNCATED])
def test_what_the_lines_state_is_suspected(rule: str, words: str, sample_traces: Path, tmp_path: Path) -> None:
    """Broker 3 truncated to 50 in the ISR, and led next. Broker 2 had 80, and truncated to 50 to follow it."""
    (one,) = found(sample_traces / "kip101-0.10.2.2", tmp_path, words=words, rule=rule)
    assert (one.confidence.value, one.offsets) == ("suspected", ((50, 80),))
    assert "broker 2 had log end offset 80" in one.summary.lower()


def _no_more(broker: str, line: str) -> str:
    return line.replace("log end offset 80", "log end offset 50") if broker == "broker-2" else line


def _out_of_isr(_broker: str, line: str) -> str:
    line = re.sub(r"(leaderEpoch=1, isr=)\[2, 3\]", r"\1[2]", line)
    return re.sub(r'("leader_epoch":1,"isr":)\[2,3\]', r"\1[2]", line)


def _less_far(broker: str, line: str) -> str:
    return line.replace("orders-0 to offset 50", "orders-0 to offset 60") if broker == "broker-2" else line


@pytest.mark.parametrize("change", [_no_more, _out_of_isr, _less_far])
def test_near_misses_stay_quiet(change: Change, sample_traces: Path, tmp_path: Path) -> None:
    """The other replica had no more; the leader was not in the ISR; or it truncated less far than the leader had."""
    assert found(sample_traces / "kip101-0.10.2.2", tmp_path, change=change) == []


@pytest.mark.parametrize(("target", "led_from", "suspected"), [(30, 30, False), (27, 32, True), (27, 33, False)])
def test_to_truncate_to_where_the_leaders_epoch_begins_is_no_sign(
    target: int, led_from: int, suspected: bool, tmp_path: Path
) -> None:
    """Broker 3 moved its leadership to broker 2 while it shut down. Broker 1 truncated what broker 2 had not fetched,
    and led next. Broker 3 had it too. If broker 1 truncates further, then perhaps to its own high watermark, but then
    its log was as long again when it led.
    """
    incident = Incident(tmp_path)
    incident.begins(20)
    incident.elects(10, 1, 3, [1, 2, 3])
    incident[3].leads(10, 1, 20, 20, [1, 2, 3])
    for broker in (1, 2):
        incident[broker].follows(10, 1, 3, 20, 20)
    incident.elects(20, 2, 2, [1, 2])
    incident[2].leads(20, 2, 30, 27, [1, 2])
    incident[1].follows(20, 2, 2, 33, 27).cuts(20, target)
    incident.elects(30, 3, 1, [1])
    incident[1].leads(30, 3, led_from, 27, [1])
    incident[3].starts(40).loads(40, 33).follows(41, 3, 1, 33, 27).cuts(41, target)
    signs = {one.sign for one in suspicions(incident.history())}
    assert (Sign.LED_WHILE_ANOTHER_HAD_MORE in signs) is suspected
