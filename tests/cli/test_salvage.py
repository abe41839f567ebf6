"""``forensics salvage``: the bytes and the records that real brokers wrote come back, and what is gone is said."""

from __future__ import annotations

import json
import os
import re
import shutil
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.engines.local import take_in
from forensics.salvage.copies import Copy, holding
from tests.cli.conftest import Ran, Run
from tests.conftest import NO_EVIDENCE, evidence_root
from tests.incident import batch
from tools.samples import unpacked

SAMPLES = unpacked()
KIP101 = SAMPLES / "kip101-0.10.2.2"
SEGMENT = "00000000000000000000.log"


def records(folder: Path) -> list[dict[str, Any]]:
    """The records that were written for one side."""
    return [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]


def salvaged(run: Run, *arguments: object, code: int = 0) -> dict[str, Any]:
    """What ``--format json`` prints."""
    ran: Ran = run("salvage", *arguments, "--format", "json")
    assert ran.code == code, ran.err
    return ran.document


# -- what real brokers left --------------------------------------------------------------------------------------------


def test_lost_records_come_back_byte_for_byte(run: Run, tmp_path: Path) -> None:
    into = tmp_path / "recovered"
    document = salvaged(run, KIP101, "-p", "orders-0", "-o", into)
    truth = json.loads((KIP101 / "truth.json").read_text())
    lost = [offset for first, end in truth["lost_acked"] for offset in range(first, end)]
    original = (KIP101 / "broker-1" / "data" / "orders-0" / SEGMENT).read_bytes()
    written = (into / "broker-1" / "orders-0" / "00000000000000000050.log").read_bytes()
    assert original.count(written) == 1
    assert original.index(written) == 1840
    found = records(into / "broker-1")
    assert [one["offset"] for one in found] == lost
    assert {tuple(one["copies"]) for one in found} == {(1,)}
    assert found[0]["origin"]["byte"] == 1840
    assert document["lost"] == {"offsets": truth["lost_acked"], "gone": []}
    assert [side["lost"] for side in document["sides"]] == [truth["lost_acked"], []]
    assert json.loads((into / "manifest.json").read_text()) == document
    # The other side of the fork, which brokers 2 and 3 hold alike.
    other = records(into / "broker-2")
    assert [one["offset"] for one in other] == lost
    assert {tuple(one["copies"]) for one in other} == {(2, 3)}
    assert not {one["value"] for one in other} & {one["value"] for one in found}


def test_what_a_salvaged_segment_holds_is_what_a_scan_reads_there(run: Run, tmp_path: Path) -> None:
    into = tmp_path / "recovered"
    salvaged(run, KIP101, "-p", "orders-0", "-o", into)
    case = take_in([str(into / "broker-1" / "orders-0")])
    assert case.batches.get_column("crc_ok").all()
    assert case.batches.get_column("base_offset").to_list() == list(range(50, 80))
    assert case.notices.is_empty()


@pytest.mark.parametrize("version", ["0.10.2.2", "1.1.1", "3.9.1"])
def test_records_of_every_codec_are_those_that_were_produced(run: Run, tmp_path: Path, version: str) -> None:
    root = evidence_root()
    if root is None:
        pytest.skip(NO_EVIDENCE)
    evidence = root / f"codecs-{version}"
    truth = json.loads((evidence / "truth.json").read_text())
    topics = sorted({one["topic"] for one in truth["records"]})
    assert len(topics) >= 4
    for topic in topics:
        wanted = {one["offset"]: one["value"] for one in truth["records"] if one["topic"] == topic}
        into = tmp_path / topic
        (side,) = salvaged(run, evidence, "-p", f"{topic}-0", "--offsets", f"0..{max(wanted) + 1}", "-o", into)["sides"]
        found = {one["offset"]: one["value"] for one in records(into / side["folder"])}
        assert {offset: found.get(offset) for offset in wanted} == wanted, topic


def test_transactions_are_told_apart(run: Run, tmp_path: Path) -> None:
    case = SAMPLES / "txn-4.1.1"
    truth = json.loads((case / "truth.json").read_text())
    (side,) = salvaged(run, case, "-p", "orders-0", "--offsets", "0..100", "-o", tmp_path / "r")["sides"]
    found = records(tmp_path / "r" / side["folder"])
    by_state: dict[str | None, list[int]] = {}
    for one in found:
        by_state.setdefault(one["transaction"], []).append(one["offset"])
    assert by_state["aborted"] == truth["expect"]["aborted_offsets"]
    assert by_state["open"] == truth["expect"]["open_offsets"]
    assert len(found) == truth["readable"]
    # The last stable offset is where the open transaction begins: read_committed reads no further.
    stable = [one for one in found if one["offset"] < 90 and one["transaction"] != "aborted"]
    assert len(stable) == truth["expect"]["read_committed"]
    assert side["transactions"] == {"aborted": 25, "committed": len(by_state["committed"]), "open": 4}
    # Offsets within the batches that are no record: the markers.
    assert sum(end - first for first, end in side["without_record"]) == 15


def test_lost_records_of_which_no_copy_is_left_are_not_taken_for_the_later_ones(run: Run) -> None:
    case = SAMPLES / "unclean-3.9.1"
    truth = json.loads((case / "truth.json").read_text())
    document = salvaged(run, case, "-p", "orders-0", "--finding", "committed-data-lost", "--dry-run", code=1)
    assert document["lost"]["offsets"] == document["lost"]["gone"] != []
    assert all(side["lost"] == [] for side in document["sides"])
    assert truth["expect"]["lost_committed"]
    text = run("salvage", case, "-p", "orders-0", "--dry-run")
    assert text.code == 1
    assert "the records that the partition serves now at these offsets (leader: broker " in text.out
    assert "forensics produce" not in text.out


def test_an_archive_gives_what_a_folder_gives(run: Run, tmp_path: Path) -> None:
    packed = tmp_path / "bundle.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(KIP101, "bundle")
    salvaged(run, KIP101, "-p", "orders-0", "-o", tmp_path / "a")
    salvaged(run, packed, "-p", "orders-0", "-o", tmp_path / "b")
    for name in ("broker-1", "broker-2"):
        one, other = (tmp_path / where / name / "orders-0" / "00000000000000000050.log" for where in "ab")
        assert one.read_bytes() == other.read_bytes()
        assert [one["value"] for one in records(tmp_path / "a" / name)] == [
            one["value"] for one in records(tmp_path / "b" / name)
        ]


def test_a_finding_is_named_by_its_fingerprint(run: Run) -> None:
    (fork,) = [
        one
        for one in run("scan", KIP101, "--format", "json").document["findings"]
        if one["rule"] == "replica-divergence"
    ]
    document = salvaged(run, KIP101, "-p", "orders-0", "--finding", fork["fingerprint"][:8], "--dry-run")
    assert document["offsets"] == fork["offsets"]
    healthy = run("salvage", SAMPLES / "txn-4.1.1", "-p", "orders-0", "--dry-run")
    assert healthy.code == 2
    assert "no finding of lost, forked or missing records in orders-0" in healthy.err
    assert "--offsets A..B" in healthy.err


@pytest.mark.parametrize("name", ["orders-1", "invoices-0"])
def test_a_partition_that_is_not_there_is_called_so_and_those_that_are_are_named(run: Run, name: str) -> None:
    ran = run("salvage", KIP101, "-p", name, "--dry-run")
    assert ran.code == 2
    assert f"no partition {name} in the evidence; there is orders-0" in ran.err


def power_loss() -> Path:
    """Three brokers after power loss; the test is skipped without the folder of incidents."""
    root = evidence_root()
    evidence = root.parent / "incidents" / "rackloss-3.9.1" if root is not None else None
    if evidence is None or not evidence.is_dir():
        pytest.skip(NO_EVIDENCE)
    return evidence


def test_offsets_without_an_end_go_to_that_of_the_longest_copy(run: Run) -> None:
    """A copy may hold more than is known to be lost. Each one here ends at 95."""
    document = salvaged(run, KIP101, "-p", "orders-0", "--offsets", "3..5", "--offsets", "50..", "--dry-run")
    assert document["offsets"] == [[3, 5], [50, 95]]
    ran = run("salvage", KIP101, "-p", "orders-0", "--offsets", "95..", "--dry-run")
    assert (ran.code, "no copy of orders-0 has offset 95: the longest ends before 95" in ran.err) == (2, True)


def test_where_a_loss_cannot_be_ruled_out_the_offsets_at_stake_are_named(run: Run) -> None:
    """Only the lines of brokers show that records of orders-2 went: which of them were committed, nothing shows."""
    ran = run("salvage", power_loss(), "-p", "orders-2", "--dry-run")
    assert ran.code == 2
    (options,) = re.findall(r"a loss cannot be ruled out from offset 204 on\. Name offsets yourself: (.+)", ran.err)
    assert run("salvage", power_loss(), "-p", "orders-2", *options.split(), "--dry-run").code == 0


def test_the_offsets_of_a_suspected_loss_are_wanted_and_no_copy_has_them(run: Run) -> None:
    """Clients had acknowledgements for orders-0 201 to 212: truth.json names them as lost."""
    ran = run("salvage", power_loss(), "-p", "orders-0", "--dry-run")
    assert ran.code == 1
    assert "orders-0: offsets 201 to 212 (12 offsets) wanted" in ran.out
    assert "No copy is known to have the lost records at offsets 201 to 212" in ran.out


def test_whole_batches_that_reach_beyond_what_was_asked_for_are_said(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "broker-1" / "data" / "orders-0"
    folder.mkdir(parents=True)
    (folder / SEGMENT).write_bytes(batch(0, 4, 0) + batch(5, 9, 1) + batch(10, 12, 1))
    asked = (tmp_path / "broker-1", "-p", "orders-0", "--offsets")
    (side,) = salvaged(run, *asked, "3..8", "-o", tmp_path / "r")["sides"]
    case = take_in([str(tmp_path / "r" / side["folder"] / "orders-0")])
    read = [case.batches.get_column("base_offset").min(), case.batches.get_column("last_offset").max()]
    assert read == [0, 9]
    assert (side["offsets"], side["segment_offsets"]) == ([[3, 8]], [[0, 10]])
    text = run("salvage", *asked, "3..8", "--dry-run").out
    assert "the segment has offsets 0 to 9, so also 0 to 2, 8 to 9, which were not asked for" in text
    assert "not asked for" not in run("salvage", *asked, "0..10", "--dry-run").out


def test_the_manifest_names_the_cluster_of_its_copies(run: Run) -> None:
    document = salvaged(run, SAMPLES / "txn-4.1.1", "-p", "orders-0", "--offsets", "0..10", "--dry-run")
    named = {copy["cluster"] for side in document["sides"] for copy in side["copies"]}
    assert {document["cluster"]} == named != {None}


def test_the_end_beyond_which_no_copy_goes_is_called_so(run: Run) -> None:
    ran = run("salvage", KIP101, "-p", "orders-0", "--offsets", "500..600", "--dry-run")
    (end,) = re.findall(
        r"Beyond the end of every copy \(the longest has log end offset (\d+)\): offsets 500 to 599", ran.out
    )
    replicas = run("scan", KIP101, "--format", "json").document["partitions"][0]["replicas"]
    assert int(end) == max(one["log_end_offset"] for one in replicas)


@pytest.mark.parametrize("finding", [(), ("--finding", "replica-divergence")])
def test_each_side_of_a_fork_is_called_what_it_is(run: Run, finding: tuple[str, ...]) -> None:
    asked = (KIP101, "-p", "orders-0", *finding, "--dry-run")
    text = run("salvage", *asked).out
    assert "broker 1  offsets 50 to 79 (30 offsets): the lost records" in text
    assert "brokers 2 and 3  offsets 50 to 79 (30 offsets): the records that the partition serves now" in text
    document = salvaged(run, *asked)
    epochs = run("scan", KIP101, "--format", "json").document["partitions"][0]["epochs"]
    assert [side["served_by"] for side in document["sides"]] == [None, epochs[-1]["leader"]]


def test_without_a_copy_of_the_leader_no_side_is_called_what_it_serves(run: Run, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    epochs = run("scan", KIP101, "--format", "json").document["partitions"][0]["epochs"]
    shutil.rmtree(evidence / f"broker-{epochs[-1]['leader']}" / "data" / "orders-0")
    ran = run("salvage", evidence, "-p", "orders-0", "--dry-run", "--format", "json")
    assert {side["served_by"] for side in ran.document["sides"]} == {None}


# -- damage ------------------------------------------------------------------------------------------------------------


def test_a_damaged_batch_is_taken_from_another_copy(run: Run, tmp_path: Path) -> None:
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    segment = evidence / "broker-2" / "data" / "orders-0" / SEGMENT
    data = bytearray(segment.read_bytes())
    at = 1840 + 5 * 36 + 30  # within the value of a message that brokers 2 and 3 hold alike
    data[at] ^= 1
    segment.write_bytes(data)
    asked = (evidence, "-p", "orders-0", "--offsets", "50..80")
    document = salvaged(run, *asked, "-o", tmp_path / "recovered")
    (bad,) = document["damaged"]
    assert (bad["broker"], bad["byte"], bad["offsets"]) == (2, 2020, [55, 56])
    (side,) = (one for one in document["sides"] if {2, 3} == {copy["broker"] for copy in one["copies"]})
    assert side["offsets"] == [[50, 80]]
    found = {one["offset"]: one for one in records(tmp_path / "recovered" / side["folder"])}
    assert found[55]["copies"] == [3]
    assert found[54]["copies"] == [2, 3]
    # Without the other copy it is gone, and that is said.
    shutil.rmtree(evidence / "broker-3")
    shutil.rmtree(evidence / "broker-1")
    document = salvaged(run, *asked, "--dry-run", code=1)
    assert document["gone"] == [[55, 56]]
    text = run("salvage", *asked, "--dry-run").out
    assert "In no copy of this evidence: offset 55 (1 offset)" in text
    assert "byte 2020: wrong checksum (offsets 55 to 55)" in text


def test_a_batch_of_which_the_records_cannot_be_read_is_still_a_segment(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "broker-1" / "data" / "orders-0"
    folder.mkdir(parents=True)
    (folder / SEGMENT).write_bytes(batch(0, 4, 0) + batch(5, 9, 1))
    (side,) = salvaged(run, tmp_path / "broker-1", "-p", "orders-0", "--offsets", "3..8", "-o", tmp_path / "r")["sides"]
    assert (tmp_path / "r" / side["folder"] / "orders-0" / SEGMENT).read_bytes() == (folder / SEGMENT).read_bytes()
    assert [one["reason"].startswith("after 0 records") for one in side["unread"]] == [True, True]
    assert side["records"] == 0


def test_evidence_that_changed_since_it_was_read_is_no_record(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    segment = evidence / "broker-1" / "data" / "orders-0" / SEGMENT

    def cut(*given_: Any, **named: Any) -> Any:
        found = holding(*given_, **named)
        os.truncate(segment, 1900)
        return found

    monkeypatch.setattr("forensics.salvage.asked.holding", cut)
    ran = run("salvage", evidence, "-p", "orders-0", "--offsets", "50..80", "-o", tmp_path / "recovered")
    assert ran.code == 2
    assert "does not hold the batch any more" in ran.err
    assert not list(tmp_path.glob("*recovered*"))


def test_a_lost_record_in_a_damaged_batch_is_gone(run: Run, tmp_path: Path) -> None:
    """Replay knows nothing of what a damaged batch holds: the findings say what was lost."""
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    segment = evidence / "broker-1" / "data" / "orders-0" / SEGMENT
    data = bytearray(segment.read_bytes())
    data[1840 + 4 * 36 + 30] ^= 1
    segment.write_bytes(data)
    document = salvaged(run, evidence, "-p", "orders-0", "--dry-run", code=1)
    assert document["lost"] == {"offsets": [[50, 80]], "gone": [[54, 55]]}
    text = run("salvage", evidence, "-p", "orders-0", "--dry-run").out
    assert "No copy is known to have the lost records at offset 54" in text
    assert "Damaged batches may hold some of them" in text


@pytest.mark.parametrize("gone", [(1,), (2, 3)])
def test_without_a_broker_nothing_is_called_found_that_is_not(run: Run, tmp_path: Path, gone: tuple[int, ...]) -> None:
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    for broker in gone:
        shutil.rmtree(evidence / f"broker-{broker}" / "data" / "orders-0")
    ran = run("salvage", evidence, "-p", "orders-0", "--dry-run", "--format", "json")
    lost = {tuple(one) for one in ran.document["lost"]["offsets"]}
    assert lost == {(50, 80)}
    held = [span for side in ran.document["sides"] for span in side["lost"]]
    assert held == ([] if 1 in gone else held)
    assert ran.code == (0 if held == [[50, 80]] else 1)


def test_a_copy_in_another_directory_of_the_same_broker_is_not_the_lost_one(run: Run, tmp_path: Path) -> None:
    """Without leader epochs it is by its directory that a copy is known as the one with the lost records."""
    evidence = tmp_path / "evidence"
    shutil.copytree(KIP101, evidence)
    other = evidence / "broker-1" / "data2"
    shutil.copytree(evidence / "broker-2" / "data" / "orders-0", other / "orders-0")
    shutil.copy(evidence / "broker-1" / "data" / "meta.properties", other)
    ran = run("salvage", evidence, "-p", "orders-0", "--dry-run", "--format", "json")
    sides = {
        frozenset(Path(copy["directory"]).parent.name for copy in side["copies"]): side["lost"]
        for side in ran.document["sides"]
    }
    assert sum(bool(lost) for lost in sides.values()) <= 1
    assert not next(lost for names, lost in sides.items() if "data2" in names)


def test_a_log_of_a_topic_that_was_made_again_holds_nothing_that_was_lost_before(run: Run) -> None:
    root = evidence_root()
    incidents = root.parent / "incidents" if root is not None else None
    if incidents is None or not (incidents / "incarn-4.1.1").is_dir():
        pytest.skip(NO_EVIDENCE)
    document = salvaged(run, incidents / "incarn-4.1.1", "-p", "cart-1", "--dry-run", code=1)
    for side in document["sides"]:
        if any(copy["state"] == "current" for copy in side["copies"]):
            assert side["lost"] == []


# -- the command line --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-p", "orders-0"), "-o DIR"),
        (("-p", "orders", "-o", "x"), "'orders' is no partition"),
        (("-p", "orders-0", "--offsets", "80..50", "-o", "x"), "holds no offset"),
        (("-p", "orders-0", "--offsets", "50-80", "-o", "x"), "is no range of offsets"),
        (("-p", "orders-0", "--offsets", "1..2", "--finding", "a", "-o", "x"), "give one of them"),
        (("-p", "order-0", "--offsets", "1..2", "--dry-run"), "there is orders-0"),
        (("-p", "orders-0", "--finding", "hw-regression", "--dry-run"), "no finding hw-regression in orders-0"),
    ],
)
def test_a_wrong_command_is_answered_in_one_sentence(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run("salvage", KIP101, *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_nothing_is_written_over_and_nothing_into_evidence(run: Run, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine").write_text("mine")
    ran = run("salvage", KIP101, "-p", "orders-0", "-o", there)
    assert (ran.code, (there / "mine").read_text()) == (2, "mine")
    assert "is there already" in ran.err
    ran = run("salvage", KIP101, "-p", "orders-0", "-o", KIP101 / "recovered")
    assert ran.code == 2
    assert "is in the evidence" in ran.err
    assert not (KIP101 / "recovered").exists()
    folder = KIP101 / "broker-1" / "data" / "orders-0"
    ran = run("salvage", folder / SEGMENT, "-p", "orders-0", "--offsets", "50..80", "-o", folder / "y")
    assert (ran.code, (folder / "y").exists()) == (2, False)


def test_several_clusters_are_not_mixed(run: Run) -> None:
    asked = (SAMPLES / "txn-4.1.1", KIP101, "-p", "orders-0", "--offsets", "50..60", "--dry-run")
    ran = run("salvage", *asked)
    assert ran.code == 2
    assert "name one with --cluster" in ran.err
    cluster = ran.err.rpartition(": ")[2].split(", ")[0].strip()
    found = salvaged(run, *asked, "--cluster", cluster)
    assert {copy["cluster"] for side in found["sides"] for copy in side["copies"]} == {cluster}


# -- sides -------------------------------------------------------------------------------------------------------------

LOG = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), min_size=1, max_size=5)
"""A log: for each batch its number of offsets, and which of two versions it is."""


@given(logs=st.lists(LOG, min_size=1, max_size=4))
def test_each_sound_batch_is_on_one_side_without_contradiction(
    tmp_path_factory: pytest.TempPathFactory, logs: list[list[tuple[int, int]]]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    for broker, log in enumerate(logs, 1):
        place = folder / f"broker-{broker}" / "data" / "orders-0"
        place.mkdir(parents=True)
        base, data = 0, b""
        for count, salt in log:
            data += batch(base, base + count - 1, 0, salt=bytes([salt]))
            base += count
        (place / SEGMENT).write_bytes(data)
    found = holding(take_in([str(folder)]), "orders", 0, [(0, 100)])
    shutil.rmtree(folder)
    assert Counter(copy.directory for side in found.sides for copy in side.copies) == Counter(
        copy.directory for copy in found.copies
    )
    for side in found.sides:
        for one, other in zip(side.batches, side.batches[1:], strict=False):
            assert one.last < other.first
        every = {one.identity for copy in side.copies for one in _within(copy)}
        assert {one.identity for one in side.batches} == every


def _within(copy: Copy) -> list[Any]:
    return copy.within([(0, 100)])
