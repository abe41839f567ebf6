"""Every question has its sentence, and the sentence asks for what is to be collected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forensics.replay.history import HwSource, HwStatement
from forensics.replay.lineage import Lineage
from forensics.result import Result
from forensics.rules import RULES
from forensics.rules.causes import CAUSES, CauseId
from forensics.rules.wants import Artefact, Collect, Question, Reason, Shows, Want, anywhere, from_offset, of
from forensics.rules.wording import SENTENCES, STATED, names_partition, stated_text, want_text

Scanned = Callable[[Path], Result]

CALLED = {
    Artefact.LISTING: ("a listing of", "list it"),
    Artefact.DATA_DIRECTORY: ("data director", "the files of"),
    Artefact.CLIENTS: ("offsets", "how far consumers can read"),
    Artefact.OPERATORS: ("what was done to",),
    Artefact.SEGMENTS: ("segment",),
    Artefact.SERVER_LOG: ("server.log", "complete logs"),
    Artefact.STATE_CHANGE_LOG: ("state-change.log", "complete logs"),
    Artefact.PARTITION_LOGGER: ("kafka.cluster.Partition", "server.log at TRACE"),
}
"""Words for an artefact where a sentence does not use its name."""


def test_every_source_of_a_high_watermark_has_words() -> None:
    clients = {
        HwSource.ACKNOWLEDGED: "acknowledged offset 49",
        HwSource.CONSUMED: "sent offset 49",
        HwSource.READ_BY_GROUP: "consumer group billing read offset 49",
        HwSource.SCRAPED: "an exporter of metrics printed 50",
    }
    assert {*STATED} == {*HwSource} - {*clients}
    log = Lineage(((3, 0),))
    for source in HwSource:
        told = stated_text(HwStatement(1, 3, log, 50, source, None, (), group="billing"))
        of_clients = f"{clients.get(source)} (leader epoch 3)"
        of_brokers = "log end offset 50" if source is HwSource.ALONE_IN_ISR else "high watermark 50"
        assert (of_clients if source in clients else of_brokers) in told


def test_every_cause_is_explained() -> None:
    assert [cause.id for cause in CAUSES] == [*CauseId]


def test_every_question_has_a_sentence() -> None:
    assert list(SENTENCES) == [*Question]


def test_a_sentence_names_what_it_asks_for(sample_traces: Path, scanned: Scanned) -> None:
    asked: dict[Want, str] = {}
    for folder in sorted(path.parent for path in sample_traces.glob("*/truth.json")):
        for partition in scanned(folder).partitions:
            for judgement in partition.judgements.values():
                asked |= {want: want_text(want, partition.history.name) for want in judgement.missing}
    assert len({want.question for want in asked}) > 10
    for want, text in asked.items():
        for artefact in want.artefacts:
            assert any(word in text for word in CALLED.get(artefact, (artefact.value,))), (want, text)
        for broker in want.brokers:
            assert f" {broker}" in text, (want, text)


def test_a_sentence_names_its_partition_once_and_then_says_it() -> None:
    want = Want(
        Question.COMMITTED_BEFORE_NEW_LOG,
        (of([1], Artefact.HW_CHECKPOINT), of([1], Artefact.PARTITION_LOGGER), anywhere(Artefact.CLIENTS)),
        epochs=((3, 1),),
    )
    assert want_text(want, "2 partitions", "it") == (
        "how far broker 1 (leader of epoch 3) had committed before its log was created again. Any one of these shows "
        "it. Brokers may still have: __consumer_offsets-*, with the positions of groups in 2 partitions. Only if "
        "somebody saved it: broker 1's replication-offset-checkpoint or segments of then; its log of then with "
        "kafka.cluster.Partition at DEBUG; offsets that producers had acknowledged; metrics"
    )
    assert names_partition(want)
    assert want_text(want, "2 partitions", "it", alone=True) == (
        "how far broker 1 (leader of epoch 3) had committed before its log was created again"
    )
    assert not names_partition(want, alone=True)
    assert not names_partition(Want(Question.ITS_LINES, (of([1], Artefact.SERVER_LOG),)))


@pytest.mark.parametrize("foreign", ["{partition}", "{", "%s", "orders-0"])
def test_what_evidence_says_stays_as_it_is(foreign: str) -> None:
    because = Reason(Shows.LINES, text=foreign)
    want = Want(Question.LATER_LINES, (of([1], Artefact.SERVER_LOG, Artefact.STATE_CHANGE_LOG),), because=because)
    assert want_text(want, "orders-0", "it").endswith(f"state-change.log: {foreign}")


def test_brokers_that_are_not_known_are_left_out() -> None:
    assert of([None, -1, 2], Artefact.SEGMENTS) == Collect((Artefact.SEGMENTS,), (2,))
    want = Want(Question.EPOCH_START, (of([None], Artefact.SERVER_LOG, Artefact.SEGMENTS),), epochs=((4, None),))
    assert (want.brokers, want.artefacts) == ((), (Artefact.SERVER_LOG, Artefact.SEGMENTS))
    assert want_text(want, "orders-0").endswith(": the log end offset with which the leader of epoch 4 began")


def test_wants_of_two_partitions_that_lack_the_same_are_equal() -> None:
    one, other = (
        Want(Question.END_BEFORE_TRUNCATION, (of([1], Artefact.FETCHER_LOGGER),), offsets=from_offset(at))
        for at in (5, 5)
    )
    assert one == other
    assert len({one, other}) == 1


def test_headings_keep_their_abbreviations() -> None:
    headings = {rule.id: rule.heading for rule in RULES}
    assert headings["committed-data-lost"] == "Committed data lost"
    assert headings["hw-above-isr-member"] == "High watermark above a member of the ISR (hw-above-isr-member)"
    assert {heading.upper() for heading in headings.values()} == {rule.title.upper() for rule in RULES}
