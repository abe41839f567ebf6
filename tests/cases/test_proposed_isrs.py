"""A leader that was frozen beyond its session proposes an ISR that nobody commits (``zoo201-2.8.2``)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from tests.cases.test_recorded import unpacked

UNCLEAN = "unclean-election"


@pytest.mark.parametrize("without", ["nothing", "broker-9/logs", "broker-9"])
def test_an_isr_that_was_proposed_and_not_committed_makes_no_election_unclean(without: str, tmp_path: Path) -> None:
    """Broker 3 leads pay-0 and is frozen; broker 4 is elected from the ISR of both. Awake, and not told yet, broker 3
    proposes to lead alone. Of pay-1 broker 3 is elected from outside the ISR, as the controller tells.
    """
    folder = unpacked("zoo201-2.8.2", tmp_path)
    shutil.rmtree(folder / without, ignore_errors=True)
    judged = {one.history.name: one.judgements[UNCLEAN].verdict for one in scan([str(folder)]).partitions}
    whole = without == "nothing"
    assert judged["pay-0"] == ("clean" if whole else "unknown")
    assert judged["pay-1"] == ("violated" if whole else "unknown")


def test_the_number_of_a_later_isr_does_not_confirm_what_was_proposed(tmp_path: Path) -> None:
    """The controller's lines of the election are missing: the first number of epoch 1 is that of the ISR of both."""
    folder = unpacked("zoo201-2.8.2", tmp_path)
    for data in folder.glob("broker-*/data"):
        shutil.rmtree(data)
    for log in (folder / "broker-9" / "logs").iterdir():
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(line for line in lines if not "[2026-11-24 01:53:15" <= line < "[2026-11-24 01:53:25"))
    judged = {one.history.name: one.judgements[UNCLEAN].verdict for one in scan([str(folder)]).partitions}
    assert (judged["pay-0"], judged["pay-1"]) == ("unknown", "violated")


def test_an_isr_that_was_committed_says_who_was_outside_it(tmp_path: Path) -> None:
    """The same lines, had the broker been told that what it proposed was committed."""
    folder = unpacked("zoo201-2.8.2", tmp_path)
    shutil.rmtree(folder / "broker-9")
    refused = "WARN Broker had a stale broker epoch (92), retrying. (kafka.server.DefaultAlterIsrManager)"
    told = "INFO [Partition pay-0 broker=3] ISR updated to 3 and version updated to [1] (kafka.cluster.Partition)"
    for broker, text, instead in ((3, refused, told), (4, "version updated to [2]", "version updated to [3]")):
        log = folder / f"broker-{broker}" / "logs" / "server.log"
        assert text in log.read_text()
        log.write_text(log.read_text().replace(text, instead, 1))
    judged = {one.history.name: one.judgements[UNCLEAN].verdict for one in scan([str(folder)]).partitions}
    assert judged["pay-0"] == "violated"
