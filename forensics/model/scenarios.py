"""The known stories of Kafka's replication, each a short script. Registration is the tuple at the end."""

from __future__ import annotations

from forensics.model import faults, random_runs
from forensics.model.protocol import UnknownName
from forensics.model.run import Scenario, Stage


def two_replicas(stage: Stage) -> None:
    """One record takes two fetch rounds to be committed on both sides."""
    cluster = stage.cast(1, 2)
    stage.note("start")
    cluster.produce(1)
    stage.note("a producer writes record 0")
    cluster.fetch(2)
    stage.note("the follower fetches at 0, gets record 0 with HW 0, appends")
    cluster.send_fetch(2)
    stage.note("the follower fetches at 1: the leader now knows its LEO 1, and raises the HW")
    cluster.receive(2)
    stage.note("the response carries HW 1")
    cluster.wait(5_000)
    stage.note("five seconds later both have checkpointed their HW")


def three_replicas(stage: Stage) -> None:
    """Followers receive the HW in the order in which they fetch."""
    cluster = stage.cast(1, 2, 3)
    stage.note("start")
    cluster.produce(1)
    stage.note("a producer writes record 0: LEO 1, HW 0")
    cluster.fetch(2)
    stage.note("F1 fetches at 0 and appends: its LEO is 1, which the leader does not know yet")
    cluster.fetch(2)
    stage.note("F1 fetches at 1: remote LEOs {1, 0}, the HW stays 0")
    cluster.fetch(3)
    stage.note("F2 fetches at 0 and appends")
    cluster.fetch(3)
    stage.note("F2 fetches at 1: remote LEOs {1, 1}, the leader's HW is 1, and the response to F2 has it")
    cluster.fetch(2)
    stage.note("F1 receives HW 1 with its next response")
    cluster.wait(5_000)
    stage.note("five seconds later all have checkpointed their HW")


def loss(stage: Stage) -> None:
    """A follower truncates to its old HW, then becomes leader: a committed record is lost."""
    cluster = stage.cast(2, 1, min_isr=1)
    stage.note("A is broker 1, a follower; B is broker 2, the leader; min.insync.replicas is 1")
    cluster.produce(1)
    cluster.fetch(1, rounds=2)
    cluster.produce(1)
    cluster.fetch(1)
    cluster.send_fetch(1)
    for broker in (1, 2):
        cluster.checkpoint(broker)
    stage.note("both have m1 and m2; B's HW is 2, A's is still 1: the second response has not arrived")
    faults.crash(cluster, 1)
    stage.note("A's process dies")
    cluster.restart(1)
    cluster.ask_epoch(1)
    stage.note("A restarts before its session ended, so it is still in the ISR; the controller sends it B as leader")
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    stage.note("B dies before A fetches again; A becomes leader")
    cluster.restart(2)
    cluster.catch_up()
    stage.note("B restarts as a follower; its log must not be longer than its leader's")
    cluster.produce(1)
    cluster.catch_up()
    cluster.wait(6_000)
    stage.note("a producer writes one more record")


def fork(stage: Stage) -> None:
    """Both brokers die, and the one with fewer records restarts first: one offset has two records."""
    cluster = stage.cast(1, 2, min_isr=1)
    cluster.produce(1)
    cluster.catch_up()
    cluster.flush(2)
    stage.note("A is broker 1, the leader; B is broker 2; both have m1 on disk")
    cluster.produce(1)
    cluster.catch_up()
    for broker in (1, 2):
        cluster.checkpoint(broker)
    stage.note("record m2 is committed: A has it, and B only in its page cache")
    faults.crash(cluster, 1)
    faults.power_loss(cluster, 2)
    stage.note("both die; B's machine lost power, and B lost m2")
    faults.notice(cluster, 1)
    cluster.restart(2)
    stage.note("A's session ends, so B is the only member of the ISR; B restarts and leads from offset 1")
    cluster.produce(1)
    stage.note("B appends m3 at offset 1: LEO 2, HW 2")
    cluster.restart(1)
    cluster.catch_up()
    stage.note("A restarts as a follower and truncates as its version does")
    cluster.produce(1)
    cluster.catch_up()
    cluster.wait(6_000)
    stage.note("a producer writes one more record")


def failover_truncation(stage: Stage) -> None:
    """The leader dies. A follower truncates to its old HW under a new leader, that dies too, the follower leads."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(50)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("50 records are committed everywhere, HW 50 is checkpointed")
    cluster.produce(30)
    cluster.fetch(2)
    cluster.fetch(3)
    cluster.send_fetch(2)
    cluster.send_fetch(3)
    cluster.checkpoint(1)
    stage.note("all three have 30 more, which are acknowledged; the followers have not yet received HW 80")
    faults.crash(cluster, 1)
    faults.crash(cluster, 2)
    faults.notice(cluster, 1)
    stage.note("broker 1 dies; the controller elects broker 2, which is dead too (its session has not ended)")
    faults.notice(cluster, 2)
    stage.note("the session of broker 2 ends: broker 3 is the last member of the ISR, and becomes leader")
    cluster.restart(2)
    cluster.catch_up()
    cluster.produce(40)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 2 restarts; 40 records are written and committed")
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 1 restarts; 5 more records")


def isr_member_below_hw(stage: Stage) -> None:
    """An ISR member truncates to its old HW at a leader change. Until it fetches, its LEO is below the leader's HW."""
    cluster = stage.cast(1, 2, 3, min_isr=1, unclean=False)
    cluster.produce(1)
    cluster.catch_up()
    cluster.wait(5_500)
    cluster.produce(1)
    cluster.fetch(2)
    cluster.fetch(3)
    cluster.send_fetch(2)
    cluster.send_fetch(3)
    cluster.receive(2)
    stage.note("all three have m1 and m2, which are committed; broker 2 has received HW 2, broker 3 has not")
    faults.prefer(cluster, 2)
    cluster.ask_epoch(3)
    end = cluster.replica(3).log.end
    below = "below" if end < 2 else "at"
    stage.note(
        f"broker 2 becomes leader; broker 3, in the ISR, follows it: its LEO is {end}, {below} the leader's HW 2"
    )
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    stage.note("brokers 1 and 2 die before broker 3 fetches and before the lag limit; broker 3 is elected")
    cluster.produce(1)
    cluster.restart(2)
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(1)
    cluster.catch_up()
    cluster.wait(6_000)
    stage.note("producers continue, and brokers 1 and 2 restart")


def unclean_election(stage: Stage) -> None:
    """The ISR shrinks to the leader, which takes writes and dies; a replica from outside the ISR is elected."""
    cluster = stage.cast(1, 2, 3, min_isr=1, unclean=True)
    cluster.produce(30)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("30 records are committed on all three")
    for broker in (2, 3):
        faults.crash(cluster, broker)
        faults.notice(cluster, broker)
    cluster.produce(20)
    cluster.wait(5_500)
    stage.note("brokers 2 and 3 die, the ISR is {1}; broker 1 alone acknowledges 20 records")
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    stage.note("broker 1 dies: the partition has no leader")
    cluster.restart(2)
    stage.note("broker 2 restarts and is elected although it is not in the ISR")
    cluster.produce(10)
    cluster.wait(5_500)
    stage.note("broker 2 appends 10 records")
    cluster.restart(1)
    cluster.restart(3)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("brokers 1 and 3 restart; 5 more records")


def acks1_failover(stage: Stage) -> None:
    """The leader acknowledges records no follower has (acks=1) and dies: the tail is truncated. Legal."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(30)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("30 records are committed on all three")
    for broker in (2, 3):
        faults.pause(cluster, broker)
    cluster.produce(12, acks="1")
    faults.crash(cluster, 1)
    stage.note("the followers pause; the leader alone acknowledges 12 records, and dies")
    for broker in (2, 3):
        faults.resume(cluster, broker)
    faults.notice(cluster, 1)
    cluster.catch_up()
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 2 becomes leader; 10 records are written and committed")
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 1 restarts and truncates its last records, none of which was committed")


def power_loss(stage: Stage) -> None:
    """All replicas stop, and one loses the records that it had not flushed. It restarts first and becomes leader."""
    cluster = stage.cast(1, 2, min_isr=1, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.flush(2)
    cluster.wait(5_500)
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("15 records are committed and HW 15 is checkpointed; broker 2 has the last 5 only in its page cache")
    faults.crash(cluster, 1)
    faults.power_loss(cluster, 2)
    faults.notice(cluster, 1)
    faults.notice(cluster, 2)
    stage.note("both stop; broker 2, the last of the ISR, lost its last records")
    cluster.restart(2)
    cluster.produce(10, acks="1")
    cluster.wait(5_500)
    stage.note("broker 2 restarts, becomes leader, and appends 10 records")
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 1 restarts with all 15 records; 5 more records")


def crash_scene(stage: Stage) -> None:
    """The same, seen before anything is restarted: a checkpointed HW above the end of its log."""
    cluster = stage.cast(1, 2, min_isr=1, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.flush(2)
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("15 records are committed and HW 15 is checkpointed; broker 2 has the last 5 only in its page cache")
    faults.crash(cluster, 1)
    faults.power_loss(cluster, 2)
    stage.note("both stop, and neither restarts: broker 1 still has everything")


def premature_isr(stage: Stage) -> None:
    """A replica that lacks committed records enters the ISR of a leader whose own HW is late (KAFKA-7128)."""
    cluster = stage.cast(1, 2, 3, min_isr=1, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    faults.cut_link(cluster, 1, 3)
    cluster.produce(5)
    cluster.wait(cluster.lag_ms - 1_000)
    stage.note("10 records are committed; broker 3 loses its link to the leader; 1 and 2 have 5 more, the HW waits")
    faults.pause(cluster, 2)
    cluster.wait(cluster.lag_ms // 2 + 1_000)
    faults.resume(cluster, 2)
    stage.note(
        "broker 2 pauses past the lag limit: broker 3 leaves the ISR, the HW is 15, broker 2 has not received it"
    )
    faults.prefer(cluster, 2)
    stage.note("leadership moves to broker 2: its LEO is 15 but its HW is 10, and broker 1 has not fetched yet")
    cluster.ask_epoch(3)
    cluster.send_fetch(3)
    stage.note("broker 3 fetches at 10 first: up to 2.0.0 that is enough to join the ISR, later it must reach 15")
    faults.cut_link(cluster, 2, 3)
    stage.note("the link from broker 2 to broker 3 fails, and the response is lost")
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    said = "broker 3, in the ISR, becomes leader" if cluster.leader() else "broker 3 is not in the ISR: no leader"
    stage.note(f"broker 1 dies, then broker 2: {said}")
    faults.heal_link(cluster, 2, 3)
    faults.heal_link(cluster, 1, 3)
    cluster.produce(3)
    cluster.restart(2)
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(3)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("all restart, and producers continue")


def zombie_leader(stage: Stage) -> None:
    """A leader that lost its link to the controller still leads for clients that contact it."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("10 records are committed on all three")
    faults.cut_link(cluster, cluster.CONTROLLER, 1)
    faults.notice(cluster, 1)
    stage.note("broker 1 loses its link to the controller; broker 2 is elected, and broker 1 receives none of this")
    cluster.produce(4, acks="1", to=1)
    cluster.produce(2, acks="all", to=1)
    stage.note("broker 1 still accepts records: it acknowledges acks=1, never acks=all: no follower fetches")
    cluster.produce(6)
    cluster.catch_up(2, 3)
    stage.note("broker 2 appends records at the same offsets in its epoch; broker 3 fetches them: committed")
    faults.heal_link(cluster, cluster.CONTROLLER, 1)
    cluster.catch_up()
    cluster.produce(2)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 1 receives its new role and truncates the records that were never committed")


def fast_failover(stage: Stage) -> None:
    """Leadership moves away and back before any replica fetched: the answer of KIP-101 names a wrong end."""
    cluster = stage.cast(1, 2, min_isr=1, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("both have 10 records of epoch 0")
    cluster.produce(2, acks="1")
    stage.note("broker 1 appends 2 more, which broker 2 does not fetch")
    faults.prefer(cluster, 2)
    for _ in range(5):
        cluster.produce(1, acks="1")
    stage.note(
        "broker 2 becomes leader and appends 5 records at the same offsets; broker 1, in the ISR, has not fetched"
    )
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    cluster.produce(3)
    kept = ", with 2 records of epoch 0 where broker 2 has epoch 1," if cluster.replica(1).log.end > 13 else ""
    stage.note(f"broker 2 dies; broker 1 leads again{kept} and appends 3")
    cluster.restart(2)
    cluster.catch_up()
    cluster.produce(2)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note(
        {
            "hw": "broker 2 restarts and truncates to its high watermark",
            "fetch": "broker 2 restarts and fetches with epoch 1, which broker 1 never had",
        }.get(stage.protocol.truncates_by, "broker 2 restarts and asks for the end of epoch 1; broker 1 never had it")
    )


def rolling_restart(stage: Stage) -> None:
    """Healthy: every broker is stopped and started in turn under load, one is killed, one pauses."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(20)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("20 records are committed on all three")
    for broker in (1, 2, 3):
        faults.stop(cluster, broker)
        cluster.catch_up()
        cluster.produce(10)
        cluster.catch_up()
        cluster.wait(5_500)
        cluster.restart(broker)
        cluster.catch_up()
        cluster.wait(5_500)
        stage.note(f"broker {broker} stops, 10 records are written, broker {broker} restarts")
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    cluster.restart(2)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 2 is killed, 10 records are written, broker 2 restarts")
    faults.pause(cluster, 3)
    cluster.produce(10)
    cluster.wait(cluster.lag_ms * 2)
    faults.resume(cluster, 3)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 3 pauses beyond the lag limit, leaves the ISR and rejoins it")


def open_transaction(stage: Stage) -> None:
    """The last stable offset: what a transactional reader sees stops at the first open transaction."""
    cluster = stage.cast(1, 2, min_isr=1)
    known = stage.protocol.epochs  # transactions came with message format 2

    def note(told: str, otherwise: str) -> None:
        stage.note(told if known else otherwise)

    cluster.produce(3)
    cluster.catch_up()
    note("3 records outside transactions: HW 3, LSO 3", "3 records: HW 3")
    cluster.produce(2, producer=7)
    cluster.produce(1)
    cluster.catch_up()
    note(
        "a transaction of 2 records is open, one plain record follows: the HW is 6, the LSO stays 3",
        "2 records and one more: HW 6. This version knows no transactions, everything below the HW can be read",
    )
    cluster.end_transaction(7, commit=True)
    note("the commit marker is appended but not committed itself: the LSO is still 3", "there are no markers")
    cluster.catch_up()
    note("the HW passes the marker: the LSO moves to the HW", "nothing changes")
    cluster.produce(2, producer=8)
    cluster.end_transaction(8, commit=False)
    cluster.catch_up()
    cluster.wait(5_500)
    note(
        "an aborted transaction: its records are below the LSO, yet no transactional reader sees them",
        "2 more records: HW 8",
    )


def controller_failover(stage: Stage) -> None:
    """The controller dies: a new one with a higher controller epoch takes over and repeats the state."""
    cluster = stage.cast(1, 2, 3, min_isr=2, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    stage.note("10 records are committed on all three")
    faults.controller_failover(cluster)
    stage.note("a new controller starts and sends all brokers the state that they already have")
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    cluster.produce(5)
    cluster.catch_up()
    stage.note("broker 1 dies; the new controller elects broker 2")
    cluster.restart(1)
    cluster.catch_up()
    cluster.produce(5)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 1 restarts as a follower")


def lost_disk(stage: Stage) -> None:
    """The last replica of the ISR restarts with an empty disk and becomes leader: no protocol can prevent that."""
    cluster = stage.cast(1, 2, min_isr=1, unclean=False)
    cluster.produce(10)
    cluster.catch_up()
    cluster.wait(5_500)
    faults.crash(cluster, 2)
    faults.notice(cluster, 2)
    cluster.produce(5)
    cluster.wait(5_500)
    stage.note("broker 2 is down, the ISR is {1}; 15 records are committed")
    faults.crash(cluster, 1)
    faults.notice(cluster, 1)
    faults.wipe(cluster, 1)
    cluster.restart(1)
    stage.note("broker 1 dies, gets a new disk, restarts, and leads from offset 0: it was the only member of the ISR")
    cluster.produce(4)
    cluster.restart(2)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 2 restarts with 10 records as a follower")


def slow_follower(stage: Stage) -> None:
    """A follower falls behind, leaves the ISR when the lag limit passes, and returns when it has caught up."""
    cluster = stage.cast(1, 2, 3, min_isr=1)
    cluster.produce(10)
    cluster.catch_up()
    stage.note("10 records are committed on all three")
    faults.slow(cluster, 3)
    for _ in range(6):
        cluster.produce(5)
        cluster.fetch(2, rounds=2)
        cluster.fetch(3)
    stage.note("broker 3 gets one batch with each fetch: the HW waits for it as long as it is in the ISR")
    faults.pause(cluster, 3)
    cluster.wait(cluster.lag_ms * 2)
    stage.note("broker 3 pauses; the lag limit passes, the ISR shrinks, the HW rises")
    faults.resume(cluster, 3)
    faults.slow(cluster, 3, 0)
    cluster.catch_up()
    cluster.wait(5_500)
    stage.note("broker 3 catches up and rejoins the ISR")


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("two-replicas", "one record, two replicas, step by step", two_replicas),
    Scenario("three-replicas", "one record, three replicas: when each receives the high watermark", three_replicas),
    Scenario("loss", "data loss by truncation to the high watermark, min.insync.replicas=1", loss),
    Scenario("fork", "two records at one offset after both replicas crashed", fork),
    Scenario(
        "failover-truncation",
        "a follower truncates to its old high watermark, then leads",
        failover_truncation,
    ),
    Scenario(
        "isr-member-below-hw",
        "an ISR member truncated: the high watermark is above its log end",
        isr_member_below_hw,
    ),
    Scenario("unclean-election", "a replica from outside the ISR is elected", unclean_election),
    Scenario("acks1-failover", "uncommitted records are truncated at a failover: legal", acks1_failover),
    Scenario("power-loss", "all replicas stop, and one loses records that it had not flushed", power_loss),
    Scenario("crash-scene", "the same before any restart: checkpointed high watermark above the log end", crash_scene),
    Scenario("premature-isr", "a replica joins the ISR without all committed records (up to 2.0.0)", premature_isr),
    Scenario("zombie-leader", "a leader that does not know of its successor", zombie_leader),
    Scenario("fast-failover", "leadership moves away and back: why KIP-279", fast_failover),
    Scenario("rolling-restart", "healthy restarts under load", rolling_restart),
    Scenario("open-transaction", "the last stable offset of an open transaction", open_transaction),
    Scenario("controller-failover", "a new controller takes over", controller_failover),
    Scenario("lost-disk", "the last ISR member restarts with an empty disk", lost_disk),
    Scenario("slow-follower", "a follower leaves and re-enters the ISR", slow_follower),
    Scenario("random", "a random schedule of faults, by seed", random_runs.tell),
)


def scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        UnknownName: There is none; the message lists those there are.
    """
    for one in SCENARIOS:
        if one.name == name:
            return one
    raise UnknownName(f"no scenario {name!r}; there are {', '.join(one.name for one in SCENARIOS)}")
