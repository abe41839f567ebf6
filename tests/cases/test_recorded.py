"""Recorded clusters of more kinds, whole and with a part of them gone.

What each is: ``retained-2.4.1``, healthy, with retention by size and a follower that was away longer than it keeps;
``moved-2.8.2`` and ``moved-3.5.2``, healthy, a partition that is reassigned away and back under ZooKeeper;
``heldcopy-0.10.2.2``, a loss by an unclean election, taken while the old leader is down; ``retloss-2.6.3``, the same
with the old leader back and retention at work; ``flaps-0.10.2.2``, healthy, brokers frozen beyond their session and
lag; ``ibpup-2.4.1``, healthy, an upgrade of the inter-broker protocol from 0.10.2; ``rf1-0.10.2.2``, one replica that
loses its unflushed tail; ``backforth-1.0.2``, two unclean elections in turn; ``heldtwo-0.10.2.2``, a loss of which two
copies hold more and less; ``putback1-2.8.2``, an old directory put back after a clean stop; ``wipeturn-2.3.1``, two
replicas wiped in turn that fetch all again; ``reassload-3.0.2``, healthy, reassigned under load with a kill;
``recreate-2.4.1``, two topics that are deleted and made again, with a loss in the first life of one and the second of
the other; ``fenced-4.1.1``, a leader elected from the eligible leader replicas; ``kip101-1.1.1``, followers of 1.1
that truncate to their high watermark, as they do with an inter-broker protocol before 0.11; ``forceun-2.8.2``, an
unclean election that somebody asked for; ``compun-3.9.1``, an unclean election where the cleaner took what stood on
both sides of the new leader's start; ``compacted-2.7.2``, healthy, with the same at each of four changes of leader;
``compacted-2.3.1``, a follower that gets records and the high watermark of its leader's next epoch before it is told of
that; ``delun-2.3.1``, records deleted by request, of which a broker still has others; ``crashloop-3.9.1``,
healthy, brokers that are killed again and again as they start; ``tiered-3.9.1``, healthy, with remote storage;
``unclean-0.8.2.2`` and ``kip101-0.9.0.1``, an unclean election and a truncation to the high watermark of the oldest
releases; ``powerloss-4.2.0``, whose brokers warn that they truncate below their high watermark; ``addparts-2.5.1`` and
``addparts-4.2.0``, healthy, a replica is reassigned away and its broker starts again while the directory waits for its
deletion; ``dcloss-2.3.1``, a power cut of all brokers and the controller; ``twice-3.8.1-replication``, a
replica that led by an unclean election and is wiped later; ``chaos14-1.1.1``, healthy,
a leader that stops slowly and would shrink the ISR of its successor; ``chaos7-0.10.2.2``, three
unclean elections in turn, so that two logs are lost to one leader; ``chaos2-3.5.2``, a broker
that is told of two leader epochs while it shuts down; ``chaos3-4.2.0``, elections by
the last known leader and from the eligible leader replicas in turn; ``delwhiledown-3.3.2``, healthy, a
topic deleted and made again while a broker is down; ``zklost-1.1.1-zk``, ZooKeeper's data was
lost, topics were made again over the logs that were there, and nothing was lost; ``chaos4-2.0.1``,
two unclean elections; ``chaos12-0.10.2.2``, healthy, leaders killed and stopped in turn; ``oldlead-3.3.2``,
a leader that got an older copy of its directory; ``threeway-2.3.1``, two unclean elections whose old
leaders stay dead; ``extents-0.10.2.2``, the same of three brokers that die one after another; ``wipedead2-0.10.2.2``, a
leader whose disk was wiped, and a follower that halts; ``threeway-0.10.2.2-request``, the two unclean elections at
TRACE; ``fates-1.1.1``, a power cut of two brokers of four that lost the ends of three logs;
``chaos51-0.10.2.2``, ``chaos54-4.2.0`` and ``chaos57-2.0.1``, unclean elections among kills, stops and pauses;
``chaos37-0.10.2.2``, a leader that was stopped for a while, and a wiped disk;
``chaos32-1.1.1``, two unclean elections, after the second of which a follower keeps what it had led;
``stagger-2.0.1``, healthy, brokers whose directories were copied one after another while they ran; ``jbod-1.1.1``,
``jbod-2.4.1-replication`` and ``jbod-2.6.3``, healthy, replicas that are moved between two log directories of brokers
that are killed soon after; ``rackloss-2.5.1``, two brokers of three and the controller killed at once, after which the
third is elected to lead two of the partitions.
"""

from __future__ import annotations

import re
import shutil
import tarfile
from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.replay.coverage import Printed, Span
from forensics.replay.history import HwSource
from forensics.result import Result
from tests.covering import missing_within
from tests.incident import wishes

DATA = Path(__file__).parent / "data"
LOSS = "committed-data-lost"
CUT = "truncation-below-committed"
UNKNOWN = "unknown"
BEFORE_011 = (LOSS, "truncation-below-committed", "leo-regression", "uncommitted-truncation")
"""What logs at their stock level leave open before leader epochs: how far a log went, and what was committed."""

WHOLE: dict[str, tuple[set[tuple[str, tuple[tuple[int, int], ...]]], tuple[str, ...]]] = {
    "retained-2.4.1": (set(), ()),
    "moved-2.8.2": (set(), ()),
    "jbod-2.6.3": (set(), ()),
    "jbod-2.4.1-replication": (set(), ()),
    "jbod-1.1.1": ({(CUT, ((40, 60),))}, ()),  # the new leader answers for its epochs with the end at its own move
    "moved-3.5.2": (set(), ()),
    "heldcopy-0.10.2.2": (
        {(LOSS, ((21, 38),)), ("replica-divergence", ((21, 37),)), ("unclean-election", ())},
        (),
    ),
    "retloss-2.6.3": (
        {(LOSS, ((20, 33),)), ("truncation-below-committed", ((20, 33),)), ("unclean-election", ())},
        (),
    ),
    "flaps-0.10.2.2": ({(CUT, ((32, 36),))}, BEFORE_011),  # a follower cut what leader 2 had counted as committed
    "ibpup-2.4.1": (set(), ()),
    "rf1-0.10.2.2": (set(), (LOSS, "leo-regression")),
    "backforth-1.0.2": (
        {
            (LOSS, ((16, 25),)),
            (LOSS, ((26, 33),)),
            (CUT, ((16, 25),)),
            (CUT, ((26, 33),)),
            ("unclean-election", ()),
        },
        (),
    ),
    "heldtwo-0.10.2.2": (
        {
            (LOSS, ((18, 28),)),
            (CUT, ((23, 28),)),
            ("replica-divergence", ((18, 23),)),
            ("replica-divergence", ((18, 28),)),
            ("replica-divergence", ((23, 28),)),
            ("unclean-election", ()),
        },
        (),
    ),
    "putback1-2.8.2": (
        {("leo-regression", ((0, 21),)), ("leo-regression", ((27, 39),)), (CUT, ((21, 27),))},
        (CUT, "uncommitted-truncation"),
    ),
    "wipeturn-2.3.1": ({("leo-regression", ((0, end),)) for end in (13, 31, 42)}, ()),
    "reassload-3.0.2": (set(), ()),
    "fenced-4.1.1": ({("uncommitted-truncation", ((21, 26),))}, ()),
    "kip101-1.1.1": ({(rule, ((35, 56),)) for rule in (LOSS, CUT, "replica-divergence")}, ()),
    "forceun-2.8.2": ({(LOSS, ((14, 23),)), (CUT, ((14, 23),)), ("unclean-election", ())}, ()),
    "crashloop-3.9.1": (set(), ()),
    "tiered-3.9.1": (set(), ()),
    "compacted-2.7.2": (set(), ()),
    "compacted-2.3.1": (set(), ()),
    "delun-2.3.1": ({(LOSS, ((25, 37),)), (CUT, ((29, 37),)), ("unclean-election", ())}, ()),
    "unclean-0.8.2.2": (
        {
            (LOSS, ((30, 50),)),
            (CUT, ((40, 50),)),
            ("replica-divergence", ((30, 40),)),
            ("unclean-election", ()),
        },
        (),
    ),
    "kip101-0.9.0.1": ({(rule, ((50, 80),)) for rule in (LOSS, CUT, "replica-divergence")}, ()),
    "powerloss-4.2.0": (
        {*((rule, ((10, 15),)) for rule in (LOSS, CUT, "leo-regression")), ("unclean-election", ())},
        (),
    ),
    "addparts-2.5.1": (set(), ()),
    "addparts-4.2.0": (set(), ()),
    "dcloss-2.3.1": (
        {("leo-regression", one) for one in (((13, 15),), ((14, 15),), ((16, 20),))},
        (LOSS, "leo-regression"),
    ),
    "fates-1.1.1": (
        {
            *((rule, one) for rule in (LOSS, CUT, "leo-regression") for one in (((6, 10),), ((7, 12),))),
            ("leo-regression", ((9, 16),)),  # no line gives its end; broker 3 had fetched up to 16 from it
        },
        (),
    ),
    "compun-3.9.1": ({(LOSS, ((80, 131),)), (CUT, ((80, 131),)), ("unclean-election", ())}, ()),
    "rackloss-2.5.1": (
        {(LOSS, ((30, 51),)), (CUT, ((30, 51),)), ("unclean-election", ())},
        (LOSS, "leo-regression", "uncommitted-truncation"),
    ),
}
CAUSES: dict[str, set[str | None]] = {
    "putback1-2.8.2": {"wiped-disk", "stale-directory", "unknown"},
    "wipeturn-2.3.1": {"wiped-disk"},
    "fenced-4.1.1": {"acks1-failover"},
    "kip101-1.1.1": {"hw-truncation"},
    "forceun-2.8.2": {"forced-election"},
    "kip101-0.9.0.1": {"hw-truncation"},
    "dcloss-2.3.1": {"unflushed-tail"},
    "fates-1.1.1": {"unflushed-tail"},
    "flaps-0.10.2.2": {"hw-truncation"},
    "jbod-1.1.1": {"unknown"},
    "rackloss-2.5.1": {"unclean-election", "forced-election"},
    "powerloss-4.2.0": {"unflushed-tail", None},  # its last known leader led again: nobody else was in sync
}


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / name


def alarms(result: Result) -> set[str]:
    """Rules that speak, but for the warning of what followers do before 0.11: they cut to their own high watermark, and
    fetch the same records again.
    """
    return {f.rule for f in result.findings if (f.rule, f.severity, f.cause) != (CUT, "warning", "hw-truncation")}


def open_questions(result: Result) -> set[str]:
    found = (one.judgements.items() for one in result.partitions)
    return {rule for judgements in found for rule, judged in judgements if judged.verdict == UNKNOWN}


@pytest.mark.parametrize("name", WHOLE)
def test_whole(name: str) -> None:
    result = scan([str(DATA / f"{name}.tar.xz")])
    findings, unknown = WHOLE[name]
    assert {(finding.rule, finding.offsets) for finding in result.findings} == findings
    assert open_questions(result) == {*unknown}
    assert {finding.cause for finding in result.findings} <= CAUSES.get(name, {"unclean-election"})


def test_epochs_that_begin_again_at_zero_order_nothing() -> None:
    """That the epochs fall is told; no log came back shorter, and what was committed is not known."""
    result = scan([str(DATA / "zklost-1.1.1-zk.tar.xz")])
    assert {finding.rule for finding in result.findings} == {"epoch-divergence", "evidence-gap"}
    assert {LOSS, "leo-regression"} <= open_questions(result)


def test_brokers_that_warn_tell_their_high_watermark(tmp_path: Path) -> None:
    """Since 4.2 the warning is printed again, by the log; nothing else is left that tells broker 1's of then."""
    folder = unpacked("powerloss-4.2.0", tmp_path)
    for log in folder.glob("broker-*/logs/*.log"):
        kept = [line for line in log.read_text().splitlines(keepends=True) if "Non-monotonic update" not in line]
        log.write_text("".join(re.sub("(initial|and) high watermark 15", r"\1 high watermark 10", one) for one in kept))
    (partition,) = scan([str(folder)]).partitions
    assert 15 in {one.high_watermark for one in partition.history.statements if one.replica == 1}


@pytest.mark.parametrize(
    ("name", "gone"),
    [
        ("retained-2.4.1", "broker-1/logs/server.log"),
        ("retained-2.4.1", "broker-1/data/orders-0/00000000000000000207.log"),
        ("retained-2.4.1", "broker-2/data/orders-0/00000000000000000207.log"),
        ("flaps-0.10.2.2", "broker-9/logs/controller.log"),
        ("ibpup-2.4.1", "broker-2/logs/state-change.log"),
    ],
)
def test_a_file_that_was_not_collected_makes_no_finding_of_a_healthy_cluster(
    name: str, gone: str, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path)
    (folder / gone).unlink()
    result = scan([str(folder)])
    # That something is missing may be said.
    assert alarms(result) <= {"evidence-gap", "segment-damage"}
    assert open_questions(result)


def test_replicas_taken_out_of_the_isr_at_once_need_no_controller_to_tell_of_it(tmp_path: Path) -> None:
    """The leader goes on from epoch 1 to 3, two replicas less in its ISR: one request, of which nothing else tells."""
    folder = unpacked("moved-2.8.2", tmp_path)
    (folder / "broker-9/logs/state-change.log").unlink()
    result = scan([str(folder)])
    assert not result.findings
    assert not open_questions(result)


def test_a_replica_that_has_all_again_is_a_warning() -> None:
    found = scan([str(DATA / "wipeturn-2.3.1.tar.xz")]).findings
    assert [finding.severity.value for finding in found] == ["warning"] * 4
    assert not any(finding.do_not for finding in found)


def test_a_life_of_a_topic_begins_once() -> None:
    """Broker 2 had led epoch 4 of the topic before: that it takes up epoch 0 is told by the request and by the role."""
    result = scan([str(DATA / "recreate-2.4.1.tar.xz")])
    lives = {(one.history.name, one.history.incarnation) for one in result.partitions}
    assert lives == {("orders-0", 0), ("orders-0", 1), ("pay-0", 0), ("pay-0", 1)}
    found = {(f.rule, f"{f.topic}-{f.partition}", f.incarnation, f.offsets) for f in result.findings}
    lost = {("orders-0", 1, ((14, 22),)), ("pay-0", 0, ((8, 15),))}
    assert found == {
        *((rule, *one) for rule in (LOSS, CUT) for one in lost),
        *(("unclean-election", name, life, ()) for name, life, _ in lost),
    }


def test_old_controllers_call_an_election_unclean() -> None:
    found = [f for f in scan([str(DATA / "backforth-1.0.2.tar.xz")]).findings if f.rule == "unclean-election"]
    assert [finding.confidence.value for finding in found] == ["proven"] * 2


def test_what_a_controller_says_of_one_election_is_not_said_of_the_next() -> None:
    """It names no epoch, and the metadata log tells of the election first. Epoch 4 of pay-1 is a clean one, of an
    eligible leader replica, though the partition was still recovering from the one before.
    """
    found = [f for f in scan([str(DATA / "chaos3-4.2.0.tar.xz")]).findings if f.rule == "unclean-election"]
    pay = {(f.partition, f.epochs) for f in found if f.topic == "pay"}
    assert pay == {(0, (3,)), (0, (7,)), (1, (2,)), (1, (6,))}
    assert {(f.severity.value, f.cause) for f in found if f.topic == "pay"} == {("warning", None)}


def test_a_broker_that_shuts_down_starts_no_fetcher() -> None:
    orders = [one for one in scan([str(DATA / "chaos2-3.5.2.tar.xz")]).partitions if one.history.topic == "orders"]
    assert [missing_within(one.history) for one in orders] == [set(), set()]


def test_a_leader_may_lack_records_of_two_logs() -> None:
    """Of [69, 126) leader 1 has the first part of epoch 5 itself; what broker 3 wrote there in epoch 9 is lost."""
    found = [
        f for f in scan([str(DATA / "chaos7-0.10.2.2.tar.xz")]).findings if f.topic == "orders" and not f.partition
    ]
    lost = {(f.offsets, f.epochs[0], (f.keep or "").partition(".")[0]) for f in found if f.rule == LOSS}
    assert lost == {
        (((27, 36),), 5, "broker 2's copy of orders-0 (broker 3 has the same records)"),
        (((69, 126),), 9, "broker 3's copy of orders-0"),
        (((116, 195),), 5, "broker 2's copy of orders-0"),
    }
    (cut,) = (f for f in found if f.rule == CUT and f.replicas == (3,))
    assert cut.summary.endswith("whether the partition kept them is unknown")


def test_what_a_dead_leader_had_committed_is_lost_where_another_wrote_later() -> None:
    """Before 0.11 nothing dates the records of broker 2, but that they are of its last epoch or earlier; the leader of
    a later one wrote others there, as the segments show.
    """
    found = scan([str(DATA / "extents-0.10.2.2.tar.xz")]).findings
    (loss,) = (f for f in found if f.rule == LOSS)
    assert loss.offsets == ((12, 26),)
    assert "of leader epoch 1 or an earlier one: broker 3 became leader (epoch 3) at offset 12" in loss.summary
    assert loss.keep is not None
    assert loss.keep.startswith("broker 2's copy of orders-0")


def test_who_halted_rather_than_cut_its_log_has_its_records() -> None:
    """Broker 1 led with a wiped disk, and broker 2 would have had to cut its log: to 1.1 it halts (unclean election is
    off). It was dead in the epoch of broker 1 in between, so nothing that it has is of that one.
    """
    found = scan([str(DATA / "wipedead2-0.10.2.2.tar.xz")]).findings
    (loss,) = (f for f in found if f.rule == LOSS)
    assert (loss.offsets, loss.cause) == (((0, 20),), "wiped-disk")
    assert loss.keep == "broker 2's copy of orders-0 (broker 3 has a part of the records)"


def test_three_histories_are_three_sides() -> None:
    """Broker 1 and broker 3, who leads, both differ from broker 2 at [12, 17), and from each other at [12, 20)."""
    found = scan([str(DATA / "threeway-2.3.1.tar.xz")]).findings
    forks = {(f.replicas, f.offsets, f.summary.partition(". ")[2]) for f in found if f.rule == "replica-divergence"}
    served = "Broker 3 has the records of the current leader"
    assert forks == {((1, 2), ((12, 17),), ""), ((2, 3), ((12, 17),), served), ((1, 3), ((12, 20),), served)}
    lost = {(f.offsets, (f.keep or "").partition(".")[0]) for f in found if f.rule == LOSS}
    assert lost == {(((12, 20),), "broker 1's copy of orders-0"), (((12, 17),), "broker 2's copy of orders-0")}


def test_a_leader_without_lines_is_not_known_to_lead_still(tmp_path: Path) -> None:
    """Broker 3 led last. Without its own lines another broker may have led after it, so nobody is said to serve."""
    folder = unpacked("threeway-2.3.1", tmp_path)
    shutil.rmtree(folder / "broker-3" / "logs")
    found = [f for f in scan([str(folder)]).findings if f.rule == "replica-divergence"]
    assert {f.replicas for f in found} == {(1, 2), (2, 3), (1, 3)}
    assert [f.summary for f in found if "current leader" in f.summary] == []


def test_an_isr_that_zookeeper_refused_is_none() -> None:
    found = scan([str(DATA / "chaos14-1.1.1.tar.xz")]).findings
    assert {finding.topic for finding in found} == {"__consumer_offsets"}  # its directories were not collected


def test_what_befell_a_log_later_is_no_cause_of_what_its_leader_lacked() -> None:
    found = [f for f in scan([str(DATA / "twice-3.8.1-replication.tar.xz")]).findings if f.topic == "orders"]
    assert {(f.offsets, f.cause) for f in found if f.rule in (LOSS, CUT)} == {(((11, 17),), "unclean-election")}


def test_who_printed_all_is_not_asked_for_more(tmp_path: Path) -> None:
    """Where the leader began its epoch is in its own log, which is gone; the others fetched as they say."""
    folder = unpacked("retained-2.4.1", tmp_path)
    (folder / "broker-1" / "logs" / "server.log").unlink()
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    coverage = partition.history.coverage
    assert missing_within(partition.history) == set(), "a file that is not there is no line that is missing"
    assert {broker for broker in (1, 2, 3) if not coverage.has(broker, Printed.LOG)} == {1}
    assert coverage.replicas_with(Printed.ROLES) >= {1, 2, 3}


def test_a_copy_may_be_older_than_what_others_tell(tmp_path: Path) -> None:
    """Broker 3's directory was copied first, while it ran; of its lines none are there."""
    folder = unpacked("stagger-2.0.1", tmp_path)
    shutil.rmtree(folder / "broker-3" / "logs")
    result = scan([str(folder)])
    assert not [f.summary for f in result.findings if f.severity in ("critical", "error")]
    assert LOSS in open_questions(result)


def test_the_last_member_of_the_isr_did_not_lack_records_because_it_was_elected(tmp_path: Path) -> None:
    """Without broker 2's lines nothing says why it came back without them; that it was elected (KIP-966) does not."""
    folder = unpacked("powerloss-4.2.0", tmp_path)
    shutil.rmtree(folder / "broker-2" / "logs")
    found = scan([str(folder)]).findings
    assert {f.cause for f in found if f.rule in (LOSS, CUT)} == {"unknown"}
    assert "unclean-election" in {f.rule for f in found}


def test_who_kept_a_tail_and_fetched_on_behind_it_holds_the_tail() -> None:
    """To 1.1 a leader answers for an epoch that it never had with the start of the next one (KIP-279): broker 2 kept
    what it had led in epoch 6, and took over older epochs behind it. Its epoch file is not damaged.
    """
    result = scan([str(DATA / "chaos32-1.1.1.tar.xz")])
    found = [f for f in result.findings if (f.topic, f.partition) == ("orders", 0)]
    (loss,) = (f for f in found if f.rule == LOSS)
    assert (loss.offsets, loss.keep) == (((42, 63),), "broker 2's copy of orders-0 (broker 3 has the same records)")
    epochs = {(f.subject, f.cause) for f in found if f.rule == "epoch-divergence"}
    assert {("fall", "unclean-election")} <= epochs
    assert "damaged-epoch-file" not in {f.cause for f in result.findings}


def test_an_isr_that_was_refused_is_none_though_its_leader_heard_of_its_successor_before() -> None:
    """Broker 2 was stopped for a while; its last change of the ISR is refused after it follows broker 1, of which the
    controller says that it was alive in the ISR.
    """
    (partition,) = (
        one for one in scan([str(DATA / "chaos37-0.10.2.2.tar.xz")]).partitions if one.history.name == "orders-1"
    )
    assert partition.judgements["unclean-election"].verdict == "clean"
    assert [sorted(isr) for isr, _ in partition.history.epochs[1].isr][-1] == [1, 2]
    assert partition.history.epochs[2].safe


def test_what_was_cut_before_a_restart_within_an_epoch_is_no_shorter_log() -> None:
    """Broker 3 had 99 in epoch 3, cut to 21 in epoch 7, and came back to that epoch with 93 after a clean stop."""
    found = scan([str(DATA / "chaos54-4.2.0.tar.xz")]).findings
    assert not [f.summary for f in found if f.rule == "leo-regression"]
    assert {f.offsets for f in found if (f.rule, f.partition) == (LOSS, 1)} == {((57, 99),), ((21, 57),), ((57, 84),)}


def test_a_log_that_is_made_anew_leaves_the_role_before_where_it_began() -> None:
    """Broker 1 led epoch 2 from offset 29, was killed and wiped, and led epoch 4 from 0: that one lacks the records."""
    (partition,) = (
        one for one in scan([str(DATA / "chaos108-4.0.0.tar.xz")]).partitions if one.history.name == "orders-0"
    )
    assert {epoch: one.start for epoch, one in partition.history.epochs.items() if one.leader == 1} == {
        0: 0,
        2: 29,
        4: 0,
        6: 61,
    }
    (lost,) = partition.judgements[LOSS].findings
    assert "broker 1 became leader (epoch 4) at offset 0" in lost.summary


@pytest.mark.parametrize(("least", "known"), [("1", True), ("2", False)])
def test_a_leader_alone_commits_from_3_7_on_where_min_insync_replicas_is_1(
    least: str, known: bool, tmp_path: Path
) -> None:
    """KIP-966: with less than min.insync.replicas in the ISR the high watermark stays (maybeIncrementLeaderHW)."""
    with tarfile.open(DATA / "chaos54-4.2.0.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    for log in tmp_path.rglob("server.log*"):
        log.write_text(log.read_text().replace("min.insync.replicas=1", f"min.insync.replicas={least}"))
    result = scan([str(tmp_path)])
    (partition,) = (p for p in result.partitions if p.history.name == "orders-1")
    assert partition.history.facts.min_insync_replicas == int(least)
    alone = [s.high_watermark for s in partition.history.statements if s.how is HwSource.ALONE_IN_ISR]
    assert (84 in alone) == known


def test_what_a_later_leader_made_a_replica_cut_was_lost_by_the_one_that_lacked_it_first() -> None:
    """Broker 3 was elected without the records in epoch 4; broker 2 came back in epoch 6, and cut them then."""
    found = scan([str(DATA / "chaos57-2.0.1.tar.xz")]).findings
    lost = [f for f in found if f.rule in (LOSS, CUT)]
    assert {(f.rule, f.offsets) for f in lost if f.partition == 0} == {(LOSS, ((24, 126),)), (CUT, ((24, 126),))}
    assert {f.cause for f in lost} == {"unclean-election"}


def test_a_leader_had_what_its_follower_fetched_from_it() -> None:
    result = scan([str(DATA / "fates-1.1.1.tar.xz")])
    (shorter,) = (f for f in result.findings if f.rule == "leo-regression" and f.partition == 3)
    assert (shorter.severity, shorter.confidence) == ("warning", "inferred")  # it has fetched the records again
    assert shorter.inferences == ("broker 1 held everything below 16: broker 3 had fetched that from it",)


TIME = re.compile(r"\[2026-11-2[23] ([0-9:,]+)\]")


def without(folder: Path, begin: str, end: str, broker: str = "broker-*") -> None:
    """Leave out what was printed in a span of time."""
    for log in folder.glob(f"{broker}/logs/*.log"):
        kept, gone = [], False
        for line in log.read_text().splitlines(keepends=True):
            found = TIME.match(line)
            gone = begin <= found[1] < end if found else gone
            kept += [] if gone else [line]
        log.write_text("".join(kept))


@pytest.mark.parametrize(
    ("name", "begin", "end", "why"),
    [
        ("retained-2.4.1", "20:32:03,510", "20:32:21,379", None),  # to 2.4 it may have fetched them in the next epoch
        ("ibpup-2.4.1", "20:43:44,043", "20:43:56,585", "broker 2's .*its log reached 748 before its first role"),
        ("ibpup-2.4.1", "20:42:36,833", "20:43:03,876", "broker 1's .*a role in leader epoch 3 came before"),
        (
            "ibpup-2.4.1",
            "20:42:16,629",
            "20:43:37,220",
            "broker 1's .*no line shows at which offset it began to lead epoch 6",
        ),
        ("moved-2.8.2", "20:37:17,910", "20:37:45,277", "broker 2's .*a new log was created"),
        (
            "flaps-0.10.2.2",
            "20:50:16,522",
            "20:51:19,517",
            "broker 1's .*it received metadata of leader epoch 5, but no line shows a role in it",
        ),
        ("flaps-0.10.2.2", "20:50:56,949", "20:51:17,570", "broker 1's .*no line names that epoch"),
        ("addparts-2.5.1", "09:53:33,328", "09:53:45,904", "broker 1's .*a role in leader epoch 1 came before"),
    ],
)
def test_lines_of_a_time_that_are_missing_make_no_finding_of_a_healthy_cluster(
    name: str, begin: str, end: str, why: str | None, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path)
    without(folder, begin, end)
    result = scan([str(folder)])
    assert alarms(result) <= {"evidence-gap"}
    (partition,) = (one for one in result.partitions if one.history.name == "orders-0")
    assert partition.judgements[LOSS].verdict == (UNKNOWN if why else "clean")
    asked = [wish for judged in partition.judgements.values() for wish in wishes(judged)]
    assert why is None or any(re.match(why, wish) for wish in asked)


@pytest.mark.parametrize(
    ("broker", "begin", "end"),
    [("broker-3", "20:50:39,543", "20:51:17,069"), ("broker-2", "20:50:41,726", "20:51:21,372")],
)
def test_a_replica_whose_roles_are_missing_tells_no_older_log(
    broker: str, begin: str, end: str, tmp_path: Path
) -> None:
    """What broker 3 had when it came back, and the high watermark of broker 2 then, are of epochs that it served in
    between: the leader had broker 3 in its ISR, and broker 2 led and let broker 1 in, as requests tell.
    """
    folder = unpacked("flaps-0.10.2.2", tmp_path)
    without(folder, begin, end, broker)
    assert alarms(scan([str(folder)])) <= {"evidence-gap"}


@pytest.mark.parametrize(
    ("name", "broker", "begin", "end", "lost"),
    [
        ("chaos4-2.0.1", "broker-2", "11:15:48,718", "11:16:10,538", {((84, 87),)}),
        # Broker 3 kept what the leader lacks, which is a suspicion; the whole evidence has both losses.
        ("chaos7-0.10.2.2", "broker-*", "11:17:54,059", "11:19:14,658", {((114, 126),), ((116, 126),)}),
        ("chaos12-0.10.2.2", "broker-3", "11:24:50,632", "11:25:20,087", set()),
        ("chaos12-0.10.2.2", "broker-*", "11:24:44,035", "11:25:04,806", set()),
    ],
)
def test_what_a_replica_returned_with_need_not_be_of_the_last_epoch_that_it_tells_of(
    name: str, broker: str, begin: str, end: str, lost: set[tuple[tuple[int, int], ...]], tmp_path: Path
) -> None:
    """It led a later one, as others tell or numbers leave open: the log of the earlier leader never was as long."""
    folder = unpacked(name, tmp_path)
    without(folder, begin, end, broker)
    found = [f for f in scan([str(folder)]).findings if f.topic in ("orders", "pay")]
    assert not [f.summary for f in found if f.rule == "leo-regression"]
    assert {f.offsets for f in found if f.rule == LOSS} == lost
    assert not [f for f in found if f.rule == LOSS and f.confidence.value == "proven"]


def test_a_leader_whose_lines_are_missing_need_not_begin_where_its_segments_part_from_another_log(
    tmp_path: Path,
) -> None:
    """Broker 3 led epoch 9 from offset 69 on, in a span without lines. Its segments differ from broker 1's already at
    27, so its high watermark of 126 shows nothing of epoch 9; that the two hold different records is proven.
    """
    folder = unpacked("chaos7-0.10.2.2", tmp_path)
    without(folder, "11:17:57", "11:18:53,6")
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    (loss,) = partition.judgements[LOSS].findings
    assert (loss.offsets, loss.epochs, loss.records) == (((27, 36), (116, 195)), (5, 11), (88, None))
    apart = {f.replicas: (f.offsets, f.cause) for f in partition.judgements["replica-divergence"].findings}
    assert apart[1, 3] == (((27, 36), (69, 126)), "unclean-election")
    assert partition.history.epochs[9].start is None


def test_a_checkpoint_of_a_time_without_lines_does_not_speak_of_a_leader_who_had_less(tmp_path: Path) -> None:
    """All lines end before broker 3 led; its checkpoint says 23, where the leader of its last role was dead with 20."""
    folder = unpacked("threeway-0.10.2.2-request", tmp_path)
    without(folder, "15:21:50", "16")
    (loss,) = (f for f in scan([str(folder)]).findings if f.rule == LOSS)
    assert (loss.offsets, loss.epochs[0]) == (((12, 20),), 2)


def test_what_a_leader_loaded_is_not_where_it_began_if_an_isr_is_untold(tmp_path: Path) -> None:
    """That broker 2 followed broker 3 in epoch 3, and came into its ISR, is in the span without lines: the numbers of
    the partition's state alone say that its ISR changed. So broker 3 had not all that it left committed, either.
    """
    folder = unpacked("chaos7-0.10.2.2", tmp_path)
    without(folder, "11:17:54,612", "11:18:05,446")
    result = scan([str(folder)])
    (pay,) = (one for one in result.partitions if one.history.name == "pay-0")
    assert pay.judgements[LOSS].verdict == UNKNOWN
    assert not [f.summary for judged in pay.judgements.values() for f in judged.findings]


def test_a_leader_that_follows_with_less_than_it_gave_lacks_lines(tmp_path: Path) -> None:
    """Broker 1's restart, with the load of a log that had lost its end, is in the span without lines."""
    folder = unpacked("fates-1.1.1", tmp_path)
    without(folder, "17:19:51,658", "17:20:08,400")
    (partition,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-3")
    assert partition.judgements["leo-regression"].verdict == UNKNOWN
    missing = partition.history.coverage.shown_missing(Span.WITHIN).get(1)
    assert missing is not None
    assert missing.text.startswith("a follower had fetched up to 16 from it in epoch 0")


def test_a_log_below_its_own_recovery_point_came_back_shorter_or_nobody_tells(tmp_path: Path) -> None:
    """An older directory was put back, and what had been in the log stands in the span without lines."""
    folder = unpacked("oldlead-3.3.2", tmp_path)
    (whole,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    assert [f.offsets for f in whole.judgements["leo-regression"].findings] == [((16, 31),)]
    without(folder, "10:39:32,970", "10:39:49,745")
    (found,) = (one for one in scan([str(folder)]).partitions if one.history.name == "orders-0")
    judged = found.judgements["leo-regression"]
    assert judged.verdict == UNKNOWN
    assert any("what removed the end of its log" in wish and "broker 1" in wish for wish in wishes(judged))


@pytest.mark.parametrize("broker", ["broker-1", "broker-*"])
def test_a_role_between_two_topics_of_a_name_is_of_the_one_it_is_nearer_to(broker: str, tmp_path: Path) -> None:
    """The line that it follows broker 2 bears no topic id; deletion and creation are in the span without lines."""
    folder = unpacked("delwhiledown-3.3.2", tmp_path)
    without(folder, "10:51:13,468", "10:52:00,980", broker)
    assert alarms(scan([str(folder)])) <= {"evidence-gap"}


@pytest.mark.parametrize("begin", ["09:54:09,149", "09:54:09,171"])
def test_a_replica_that_was_to_be_deleted_is_no_wiped_disk(begin: str, tmp_path: Path) -> None:
    """That the directory was renamed is in the span without lines; that the replica was to go is not."""
    folder = unpacked("addparts-2.5.1", tmp_path)
    without(folder, begin, "09:54:15,699")
    assert alarms(scan([str(folder)])) <= {"evidence-gap"}


def test_a_process_that_had_started_has_no_log_to_load(tmp_path: Path) -> None:
    """Another directory was put in the place of broker 1's, after a process of which little is told."""
    folder = unpacked("putback1-2.8.2", tmp_path)
    without(folder, "00:21:32,164", "00:21:40,749")
    (partition,) = scan([str(folder)]).partitions
    assert partition.judgements[LOSS].verdict == partition.judgements[CUT].verdict == UNKNOWN
    missing = partition.history.coverage.shown_missing(Span.WITHIN).get(1)
    assert missing is not None
    assert missing.text == "it had started without this log, and no line shows where the log came from"


def test_a_log_may_have_been_taken_away_in_an_epoch_that_nobody_names(tmp_path: Path) -> None:
    """Broker 1's replica was taken away and came back while lines are missing, and was killed before it had fetched."""
    folder = unpacked("reassload-3.0.2", tmp_path)
    without(folder, "00:50:56,782", "00:51:09,045")
    result = scan([str(folder)])
    assert alarms(result) <= {"evidence-gap"}
    assert "leo-regression" in open_questions(result)


def test_where_lines_of_all_end_early_another_may_have_been_elected(tmp_path: Path) -> None:
    """The controller tells of epochs 1 and 2, broker 1 that led in them does not: another leader may have followed."""
    folder = unpacked("heldcopy-0.10.2.2", tmp_path)
    without(folder, "20:58:53,557", "20:59:20,596")
    (partition,) = scan([str(folder)]).partitions
    assert partition.judgements["unclean-election"].verdict == UNKNOWN


def test_what_was_committed_after_the_last_line_is_not_held_against_a_load(sample_traces: Path, tmp_path: Path) -> None:
    """Broker 1's lines end with the load of its log; it came back to the epoch and fetched all the rest."""
    folder = tmp_path / "evidence"
    shutil.copytree(sample_traces / "flap-3.9.1", folder)
    for log in (folder / "broker-1" / "logs").iterdir():
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(line for line in lines if line[:1] != "[" or line[1:24] < "2026-11-21 08:08:12,600"))
    assert alarms(scan([str(folder)])) <= {"evidence-gap"}


def test_a_load_of_which_the_recovery_is_not_told_is_no_clean_stop(tmp_path: Path) -> None:
    """Broker 1 was killed, and read back the high watermark of a moment before."""
    folder = unpacked("ibpup-2.4.1", tmp_path)
    without(folder, "20:44:25,625", "20:44:26,337")
    assert alarms(scan([str(folder)])) <= {"evidence-gap"}
