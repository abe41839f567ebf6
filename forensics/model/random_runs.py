"""Random fault schedules by seed, and the promises of a protocol checked on each.

A schedule is a list of plain operations, so that a failing one can be shrunk and shown as a story. An operation that
makes no sense at its moment does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from forensics.model import faults
from forensics.model.cluster import Cluster
from forensics.model.protocol import Protocol
from forensics.model.run import Scenario, Stage
from forensics.model.state import CHECKPOINTS, Checkpoint


class Op(NamedTuple):
    """One operation: its name, up to two brokers (0 is the controller in links) and a number."""

    name: str
    one: int = 0
    two: int = 0
    number: int = 0


def back(cluster: Cluster, broker: int) -> bool:
    """A broker starts again once its old session is over; before that its registration would be refused."""
    faults.notice(cluster, broker)
    return cluster.restart(broker)


def while_down(cluster: Cluster, op: Op, fault: Callable[[Cluster, Op], bool]) -> bool:
    """A broker is ended, cleanly or not, something is done to its directory, and it starts again."""
    (faults.stop if op.number % 2 else faults.crash)(cluster, op.one)
    done = fault(cluster, op)
    back(cluster, op.one)
    return done


def swap(cluster: Cluster, op: Op) -> bool:
    """Two brokers are ended, cleanly or not, and start again, each with the directory of the other one."""
    if op.one == op.two:
        return False
    for broker in (op.one, op.two):
        (faults.stop if op.number % 2 else faults.crash)(cluster, broker)
    done = faults.swap_directories(cluster, op.one, op.two)
    for broker in (op.one, op.two):
        back(cluster, broker)
    return done


def file_of(op: Op) -> Checkpoint:
    """Return the checkpoint of an operation."""
    return tuple(CHECKPOINTS)[op.number % len(CHECKPOINTS)]


IDLE_MS = 12 * 60_000
"""How long nothing happens: more than the clocks of a server that scrapes and of a broker may be apart."""

FIRST_PRODUCER = 4_000
"""Id of the first of the two transactional producers."""

OPERATIONS: dict[str, Callable[[Cluster, Op], object]] = {
    "produce": lambda c, op: c.produce(1 + op.number % 3, "all"),
    "produce-1": lambda c, op: c.produce(1 + op.number % 3, "1"),
    "produce-zombie": lambda c, op: c.produce(1, "1", to=op.one),
    "produce-open": lambda c, op: c.produce(1 + op.number % 3, "all", producer=FIRST_PRODUCER + op.number % 2),
    "decide": lambda c, op: c.end_transaction(FIRST_PRODUCER + op.number % 2, commit=op.number < 5),
    "fetch": lambda c, op: c.fetch(op.one),
    "send-fetch": lambda c, op: c.send_fetch(op.one),
    "receive": lambda c, op: c.receive(op.one),
    "ask-epoch": lambda c, op: c.ask_epoch(op.one),
    "catch-up": lambda c, op: c.catch_up(),
    "checkpoint": lambda c, op: c.checkpoint(op.one),
    "flush": lambda c, op: c.flush(op.one),
    "crash": lambda c, op: faults.crash(c, op.one),
    "power-loss": lambda c, op: faults.power_loss(c, op.one, op.number),
    "stop": lambda c, op: faults.stop(c, op.one),
    "restart": lambda c, op: back(c, op.one),
    "restart-at-once": lambda c, op: faults.restart(c, op.one),
    "notice": lambda c, op: faults.notice(c, op.one),
    "end": lambda c, op: (faults.crash(c, op.one), faults.notice(c, op.one)),
    "pause": lambda c, op: faults.pause(c, op.one),
    "resume": lambda c, op: faults.resume(c, op.one),
    "reconnect": lambda c, op: faults.reconnect(c, op.one),
    "cut": lambda c, op: faults.cut_link(c, op.one, op.two),
    "heal": lambda c, op: faults.heal_link(c, op.one, op.two),
    "slow": lambda c, op: faults.slow(c, op.one, op.number % 3),
    "lag": lambda c, op: c.wait(c.lag_ms * 3 // 2 + 1, fetching=op.number % 2 == 0),
    "prefer": lambda c, op: faults.prefer(c, op.one),
    "controller": lambda c, op: faults.controller_failover(c),
    "wipe": lambda c, op: faults.wipe(c, op.one),
    "lose-hw": lambda c, op: faults.lose_checkpoint(c, op.one),
    "damage-epochs": lambda c, op: faults.damage_epochs(c, op.one, op.number % 3),
    "lose-file": lambda c, op: faults.lose_checkpoint(c, op.one, file_of(op)),
    "garble-file": lambda c, op: faults.garble_checkpoint(c, op.one, file_of(op)),
    "old-file": lambda c, op: faults.restore_checkpoint(c, op.one, file_of(op)),
    "lie-epochs": lambda c, op: while_down(c, op, lambda c, op: faults.lie_about_epochs(c, op.one, 1 + op.number)),
    "consume": lambda c, op: c.groups.read(c, f"group-{op.number % 2}", 1 if op.number % 2 else 0),
    "consume-from": lambda c, op: c.groups.read(c, f"group-{op.number % 2}", from_broker=op.one),
    "consume-old": lambda c, op: c.groups.read(c, "old-client", epoch=0),
    "set-group": lambda c, op: c.groups.set_by_hand(c, f"group-{op.number % 3}", op.number * 3),
    "scrape": lambda c, op: c.exporter.scrape(c, op.number),
    "scrape-told": lambda c, op: c.exporter.scrape(c, op.number, op.one),
    "idle": lambda c, op: c.wait(IDLE_MS),
    "back-up": lambda c, op: faults.back_up(c, op.one),
    "put-back": lambda c, op: while_down(c, op, lambda c, op: faults.put_back(c, op.one)),
    "swap": swap,
}
"""Operations of a schedule."""

GENTLE: dict[str, int] = {
    "produce": 16,
    "produce-1": 6,
    "fetch": 22,
    "send-fetch": 6,
    "receive": 6,
    "ask-epoch": 4,
    "checkpoint": 6,
    "crash": 5,
    "stop": 2,
    "restart": 9,
    "notice": 7,
    "pause": 2,
    "resume": 3,
    "reconnect": 3,
    "cut": 2,
    "heal": 4,
    "slow": 1,
    "lag": 2,
    "prefer": 3,
    "controller": 1,
    "catch-up": 2,
    "produce-zombie": 1,
}
"""Faults under which committed records must survive clean elections: processes die, networks split, disks hold."""

CRUEL: dict[str, int] = GENTLE | {"flush": 3, "power-loss": 3, "wipe": 1, "lose-hw": 1, "damage-epochs": 1}
"""Those and what no protocol can heal: lost page caches, disks and files."""

RUINOUS: dict[str, int] = CRUEL | {"lose-file": 4, "garble-file": 4, "old-file": 4, "crash": 8, "restart": 14}
"""Those, and every checkpoint may be lost, unreadable or an older copy when its broker starts."""


RESTORED: dict[str, int] = CRUEL | {"back-up": 6, "put-back": 5, "lie-epochs": 5}
"""Those, and directories may be older copies, and epoch files wrong, when a broker starts."""


SWAPPED: dict[str, int] = RESTORED | {"swap": 6}
"""Those, and two brokers may have each other's directory when they start."""


OPEN_ENDED: dict[str, int] = CRUEL | {"produce-open": 12, "decide": 6}
"""Those, while producers have transactions open that hold the last stable offset back."""


AT_ONCE: dict[str, int] = CRUEL | {"restart-at-once": 14, "power-loss": 8, "restart": 4}
"""Those, in a system where a broker may start before its session ends: it leads on in the same leader epoch."""


CHANGING: dict[str, int] = {
    "produce": 14,
    "fetch": 24,
    "end": 20,
    "restart": 14,
    "checkpoint": 2,
    "prefer": 2,
    "power-loss": 1,
    "wipe": 1,
}
"""One broker after the other dies and starts again. If any of them may lead, a later leader often has what one before
it lacked.
"""


READ: dict[str, int] = CRUEL | {
    "consume": 16,
    "consume-from": 4,
    "set-group": 2,
    "produce": 20,
    "power-loss": 8,
    "restart": 14,
}
"""Those, with more power lost, while consumer groups read and commit. One reads a record at a time, and each may be
reset by hand.
"""


SCRAPED: dict[str, int] = CRUEL | {
    "scrape": 40,
    "scrape-told": 4,
    "idle": 16,
    "produce": 20,
    "power-loss": 8,
    "restart": 14,
}
"""Those, with more power lost, while an exporter of metrics is scraped. Some scrapes believe in a wrong leader."""


SCRAPED_ALONE: dict[str, int] = SCRAPED | {
    "power-loss": 20,
    "crash": 10,
    "produce": 30,
    "notice": 16,
    "fetch": 10,
    "wipe": 0,
    "flush": 1,
}
"""Those, with even more power lost: leaders are often alone in the ISR then."""


READ_BY_OLD: dict[str, int] = READ | {"consume-old": 16}
"""Those, and a group whose client states leader epoch 0 whatever it has read."""


def schedule(seed: int, steps: int, brokers: tuple[int, ...] = (1, 2, 3), weights: dict[str, int] = CRUEL) -> list[Op]:
    """A random schedule. The same arguments give the same schedule on every machine."""
    random = Random(seed)
    names = list(weights)
    cumulative = []
    total = 0
    for name in names:
        total += weights[name]
        cumulative.append(total)
    picked = random.choices(names, cum_weights=cumulative, k=steps)
    nodes = (0, *brokers)
    made = []
    for name in picked:
        one = random.choice(nodes if name in ("cut", "heal") else brokers)
        two = random.choice(brokers) if name in ("cut", "heal", "swap") else 0
        made.append(Op(name, one, two, random.randrange(8)))
    return made


def play(cluster: Cluster, ops: Iterable[Op]) -> None:
    """Runs a schedule on a cluster."""
    for op in ops:
        OPERATIONS[op.name](cluster, op)


def settle(cluster: Cluster) -> None:
    """Ends all faults: links are whole, every broker is up and knows the state, followers have caught up, HWs are on
    disk.
    """
    cluster.broken.clear()
    for broker in cluster.assigned:
        faults.resume(cluster, broker)
    for broker in cluster.assigned:
        faults.notice(cluster, broker)
        _readable_files(cluster, broker)
        cluster.restart(broker)
        faults.reconnect(cluster, broker)
        cluster.deliver(broker)
    for broker in cluster.assigned:
        faults.slow(cluster, broker, 0)
    for _ in range(3):
        cluster.catch_up()
        for broker in cluster.assigned:  # one that had to halt is started once more
            cluster.restart(broker)
    cluster.catch_up()
    for broker in cluster.assigned:
        cluster.checkpoint(broker)


def _readable_files(cluster: Cluster, broker: int) -> None:
    """Somebody deletes the files that keep a broker from serving; one that runs without the partition is restarted."""
    node = cluster.brokers[broker]
    blocking = [name for name, damage in node.replica.disk.damage.items() if damage == "garbled"]
    if "hw" in blocking and node.up and not node.replica.role:
        faults.crash(cluster, broker)
        faults.notice(cluster, broker)
    for name in blocking:
        faults.lose_checkpoint(cluster, broker, name)


class Setting(NamedTuple):
    """The configuration of a random run, drawn from its seed."""

    brokers: tuple[int, ...]
    min_isr: int
    unclean: bool


def setting(seed: int, *, unclean: bool | None = None) -> Setting:
    """Two or three replicas, min.insync.replicas of 1 or 2, unclean elections in one run of four."""
    random = Random(seed ^ 0x5EED)
    brokers = (1, 2, 3) if random.random() < 0.7 else (1, 2)
    return Setting(brokers, random.choice((1, 1, 2)), random.random() < 0.25 if unclean is None else unclean)


def random_cluster(
    protocol: Protocol, seed: int, steps: int = 40, weights: dict[str, int] = CRUEL, *, unclean: bool | None = None
) -> Cluster:
    """Plays one random schedule without a trace and settles it: for promises on thousands of runs."""
    drawn = setting(seed, unclean=unclean)
    cluster = Cluster(protocol, drawn.brokers, min_isr=drawn.min_isr, unclean=drawn.unclean)
    cluster.create_topic()
    play(cluster, schedule(seed, steps, drawn.brokers, weights))
    settle(cluster)
    return cluster


def tell(stage: Stage) -> None:
    """The ``random`` scenario: each operation is a step of the story. ``steps`` sets the length of the schedule."""
    drawn = setting(stage.seed)
    length = stage.limit or 40
    stage.limit = None
    tell_schedule(stage, drawn, schedule(stage.seed, length, drawn.brokers))


def as_scenario(name: str, drawn: Setting, ops: Iterable[Op]) -> Scenario:
    """A schedule as a scenario: how a shrunk counter-example becomes a named case."""
    kept = tuple(ops)
    return Scenario(name, f"{len(kept)} operations", lambda stage: tell_schedule(stage, drawn, kept))


def tell_schedule(stage: Stage, drawn: Setting, ops: Iterable[Op], *, settled: bool = True, **names: Any) -> None:
    """Plays a schedule on a stage, a step an operation, and ends all faults unless the scene is to stay as it is.
    ``names``: see ``Cluster``.
    """
    cluster = stage.cast(*drawn.brokers, min_isr=drawn.min_isr, unclean=drawn.unclean, **names)
    stage.note(f"{len(drawn.brokers)} replicas, min.insync.replicas={drawn.min_isr}, unclean elections {drawn.unclean}")
    for op in ops:
        before = len(cluster.trace.events)
        OPERATIONS[op.name](cluster, op)
        if len(cluster.trace.events) > before:
            stage.note(f"{op.name} {op.one or ''} {op.two or ''}".strip())
    if settled:
        settle(cluster)
        cluster.wait(5_500)
        stage.note("all faults end")


# -- promises ---------------------------------------------------------------------------------------------------------


def broken_promises(cluster: Cluster) -> list[str]:
    """Return the promises of a protocol that a settled run broke. Empty if replication kept all of them:

    * committed records of a leader are in the log of every later leader that was elected cleanly;
    * records acknowledged by acks=all can be read afterwards;
    * no two replicas differ below their HWs;
    * no HW is beyond its log's end.
    """
    from forensics.model import truth

    found = [
        f"epoch {lost.epoch} on broker {lost.broker} begins without {len(lost.records)} committed records"
        for lost in cluster.witness.losses
        if lost.clean
    ]
    if gone := _lost_acked(cluster):
        found.append(f"acknowledged by all, now gone: {truth.ranges(gone)}")
    replicas = [node.replica for node in cluster.brokers.values()]
    if forked := truth.diverged((replica.log, replica.hw) for replica in replicas):
        found.append(f"replicas differ at {truth.ranges(forked)}")
    found += [f"broker {replica.broker} skips offsets" for replica in replicas if truth.holes(replica.log)]
    if not cluster.protocol.hw_survives_truncation:
        found += [
            f"broker {replica.broker}: HW {replica.hw} beyond end {replica.log.end}"
            for replica in replicas
            if replica.hw > replica.log.end
        ]
    return found


def _lost_acked(cluster: Cluster) -> Sequence[int]:
    """Return offsets that acks=all confirmed and the leader lacks, unless an unclean election explains that."""
    leader = cluster.leader()
    if leader is None or not all(loss.clean for loss in cluster.witness.losses):
        return []
    from forensics.model import truth

    return truth.lost_acked((b for b in cluster.witness.acked if b.acks == "all"), leader.log)
