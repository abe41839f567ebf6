"""What producers with acks=all had received for records that are gone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.coverage import Printed
from forensics.replay.facts.directory import Ref
from forensics.replay.facts.partition_facts import PartitionFacts
from forensics.replay.history import History
from forensics.replay.leader_epochs import Epoch
from forensics.rules.acks import acks_fact
from tests.covering import holed, whole, without


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("all", "are not affected: min.insync.replicas was 3 and the ISR was smaller"),
        ("some missing", "may have received an acknowledgement for these records: min.insync.replicas was 3"),
        ("no server.log", "may have received an acknowledgement for these records: min.insync.replicas was 3"),
    ],
)
def test_the_isr_was_too_small_all_along_only_by_all_lines_of_the_leader(
    lines: str, said: str, sample_traces: Path
) -> None:
    """The leader logs each change of the ISR to server.log, so without its lines the ISR may have grown unseen."""
    coverage = {
        "all": whole(1, 2),
        "some missing": holed(whole(1, 2), 1),
        "no server.log": without(whole(1, 2), 1, Printed.LOG),
    }
    history = History(PartitionFacts("orders", 0, properties={"min.insync.replicas": "3"}), coverage=coverage[lines])
    isr = [(frozenset({1, 2}), Ref(row=1))]
    history.epochs[0] = Epoch(0, leader=1, isr=isr, isr_from_leader=True, isr_elected=True, leader_took_up=True)
    fact = acks_fact(history, scan([str(sample_traces / "crashscene-1.1.1")]).case, [0], [])
    assert said in fact.text


def test_an_isr_that_only_others_state_counts_too(sample_traces: Path, tmp_path: Path) -> None:
    """The leader's lines about the ISR are gone; other brokers and the metadata log state what it shrank to."""
    folder = Path(shutil.copytree(sample_traces / "unclean-3.9.1", tmp_path / "case"))
    for log in folder.glob("broker-1/logs/*.log"):
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(line for line in lines if not _ABOUT_ISR.search(line)))
    found = {finding.rule: finding for finding in scan([str(folder)]).findings}
    texts = [fact.text for fact in found["committed-data-lost"].facts]
    (acks,) = (text for text in texts if "acks=all" in text)
    assert acks.endswith("The ISR was [1,2,3], then [1,3], then [1], and min.insync.replicas was 1")
    last = "led epoch 0; the last ISR of that epoch was [1], by the partition epoch"
    assert [fact.text for fact in found["unclean-election"].facts if "last ISR" in fact.text] == [last]


_ABOUT_ISR = re.compile(rb"Shrinking ISR|Expanding ISR|ISR updated|Skipped the become-leader")
