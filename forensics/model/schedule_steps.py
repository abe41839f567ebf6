"""The steps of a schedule: one table of what brokers, clients, operators and the controller may do.

Unlike an operation of a random run, a step that cannot be done is refused, with the reason: its author meant it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from forensics.model import faults, random_runs
from forensics.model.cluster import ACKS, Cluster
from forensics.model.controller import NO_LEADER
from forensics.model.run import view
from forensics.model.state import CHECKPOINTS

Facts = dict[str, Any]
Form = Literal["broker", "brokers", "nodes", "number", "name", "names", "flag"]


class Refused(Exception):
    """The model cannot do a step in its present state. The text says why."""


class Field(NamedTuple):
    """One field of a step.

    Attributes:
        form: how its value is written. ``nodes`` are two brokers, or a broker and 0 for the controller.
        least, most: bounds of a number.
        choices: the names there are, if only some are allowed.
    """

    name: str
    form: Form
    what: str
    required: bool = False
    least: int = 0
    most: int = 2**31 - 1
    choices: tuple[str, ...] = ()


class StepKind(NamedTuple):
    """One kind of step. A value without a name, as in ``fetch: 2``, is that of the first field."""

    name: str
    what: str
    fields: tuple[Field, ...]
    do: Callable[[Cluster, Facts], None]


# -- reasons for a refusal --------------------------------------------------------------------------------------------


def _ids(brokers: Sequence[int]) -> str:
    return ", ".join(map(str, brokers)) or "nobody"


def _running(cluster: Cluster, broker: int) -> None:
    node = cluster.brokers[broker]
    if not node.up:
        raise Refused(f"broker {broker} is down; restart it first")
    if node.paused:
        raise Refused(f"broker {broker} is paused; resume it first")


def _down(cluster: Cluster, broker: int) -> None:
    if cluster.brokers[broker].up:
        raise Refused(f"broker {broker} runs; crash or stop it first")


def _leader(cluster: Cluster, wanted: int | None = None) -> int:
    """Return the broker to which producers send: the leader, or the one that they believe to lead."""
    if wanted is None:
        state = cluster.controller.state
        if state is None or state.leader == NO_LEADER:
            raise Refused("the partition has no leader; restart a broker of the ISR, or allow unclean elections")
        wanted = state.leader
    _running(cluster, wanted)
    if cluster.replica(wanted).role != "leader":
        raise Refused(f"broker {wanted} does not lead")
    return wanted


def _fetcher(cluster: Cluster, broker: int) -> int:
    """Return the leader from which the broker can fetch now."""
    _running(cluster, broker)
    replica = cluster.replica(broker)
    if replica.role == "leader":
        raise Refused(f"broker {broker} leads, and a leader does not fetch")
    leader = replica.leader
    if replica.role != "follower" or leader is None or leader == NO_LEADER:
        raise Refused(f"broker {broker} follows no leader: the controller has named none to it")
    if not cluster.brokers[leader].up:
        raise Refused(f"broker {leader}, which broker {broker} follows, is down; elect another leader or restart it")
    if cluster.brokers[leader].paused:
        raise Refused(f"broker {leader}, which broker {broker} follows, is paused; resume it first")
    if not cluster.reaches(broker, leader):
        raise Refused(f"the link between brokers {broker} and {leader} is down; heal it first")
    return leader


# -- clients ----------------------------------------------------------------------------------------------------------


def _same_end(cluster: Cluster, broker: int, facts: Facts, what: str) -> None:
    end = cluster.replica(broker).log.end
    if facts.get("offset", end) != end:
        raise Refused(f"{what} {end}, not {facts['offset']}: the log of broker {broker} ends there")


def _produce(cluster: Cluster, facts: Facts) -> None:
    leader = _leader(cluster, facts.get("to"))
    _same_end(cluster, leader, facts, "the next record has offset")
    names = tuple(facts.get("records", ()))
    if names and facts.get("count", len(names)) != len(names):
        raise Refused(f'"count" is {facts["count"]}, and "records" names {len(names)}')
    isr = cluster.replica(leader).isr
    acks = str(facts.get("acks", "all"))
    if ACKS[acks] == "all" and len(isr) < cluster.min_isr:
        raise Refused(f"the ISR is {_ids(isr)} and min.insync.replicas is {cluster.min_isr}; acks=1 would be taken")
    cluster.produce(
        facts.get("count", 1), acks, to=facts.get("to"), producer=facts.get("transaction", -1), values=names
    )


def _end_transaction(cluster: Cluster, facts: Facts) -> None:
    leader = _leader(cluster)
    producer = facts["transaction"]
    running = [t.producer for t in cluster.replica(leader).transactions() if t.marker is None]
    if cluster.protocol.epochs and producer not in running:
        raise Refused(f"producer {producer} has no open transaction on broker {leader}")
    cluster.end_transaction(producer, commit=facts.get("commit", True))


# -- replication ------------------------------------------------------------------------------------------------------


def _fetch(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _fetcher(cluster, broker)
        _same_end(cluster, broker, facts, f"broker {broker} fetches at")
        cluster.fetch(broker, facts.get("rounds", 1))


def _send_fetch(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _fetcher(cluster, broker)
        _same_end(cluster, broker, facts, f"broker {broker} fetches at")
        if cluster.replica(broker).truncating:
            raise Refused(f"broker {broker} must reconcile with its leader first: ask-epoch, or a whole fetch")
        cluster.send_fetch(broker)


def _receive(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _running(cluster, broker)
        if cluster.brokers[broker].answer is None:
            raise Refused(
                f"no answer is on its way to broker {broker}; send-fetch comes first, and its leader must run"
            )
        if not cluster.receive(broker):
            raise Refused(f"the answer to broker {broker} cannot arrive: its leader does not run, or the link is down")


def _ask_epoch(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _fetcher(cluster, broker)
        cluster.ask_epoch(broker)


def _catch_up(cluster: Cluster, facts: Facts) -> None:
    for broker in facts.get("broker", ()):
        _fetcher(cluster, broker)
    cluster.catch_up(*facts.get("broker", ()))


def _shrink_isr(cluster: Cluster, facts: Facts) -> None:
    """The others fetch in every quarter of the lag limit until these have left."""
    out = facts["broker"]
    leader = _leader(cluster)
    replica = cluster.replica(leader)
    for broker in out:
        if broker == leader:
            raise Refused(f"broker {broker} leads, and a leader does not leave its own ISR")
        if broker not in replica.isr:
            raise Refused(f"broker {broker} is not in the ISR {_ids(replica.isr)}")
    others = [broker for broker in cluster.assigned if broker not in out]
    for _ in range(8):
        cluster.wait(cluster.lag_ms // 4 + 1, fetching=False)
        for broker in others:
            cluster.fetch(broker)
    left = [broker for broker in out if broker in replica.isr]
    if left and not cluster.reaches(leader, cluster.CONTROLLER):
        raise Refused(f"broker {leader} does not reach the controller, so the ISR stays {_ids(replica.isr)}")
    if left:
        raise Refused(
            f"broker {left[0]} stays in the ISR: it is at the end of the leader's log, "
            f"and from 2.1 such a follower never lags; produce first"
        )


def _expand_isr(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        leader = cluster.replica(_fetcher(cluster, broker))
        if broker in leader.isr:
            raise Refused(f"broker {broker} is in the ISR {_ids(leader.isr)} already")
        cluster.catch_up(broker)
        if broker not in leader.isr:
            why = "the leader does not reach the controller"
            if cluster.reaches(leader.broker, cluster.CONTROLLER):
                why = f"its log ends at {cluster.replica(broker).log.end}, the leader's at {leader.log.end}"
            raise Refused(f"broker {broker} does not enter the ISR {_ids(leader.isr)}: {why}")


def _checkpoint(cluster: Cluster, facts: Facts) -> None:
    for broker in facts.get("broker", [b for b in cluster.assigned if cluster.runs(b)]):
        _running(cluster, broker)
        cluster.checkpoint(broker)


def _flush(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _running(cluster, broker)
        cluster.flush(broker)


def _slow(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        faults.slow(cluster, broker, facts.get("batches", 1))


def _wait(cluster: Cluster, facts: Facts) -> None:
    cluster.wait(facts["ms"], fetching=facts.get("fetching", True))


# -- processes, disks and links ---------------------------------------------------------------------------------------


def _crash(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        if not faults.crash(cluster, broker):
            raise Refused(f"broker {broker} is down already")


def _power_loss(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        if not faults.power_loss(cluster, broker, facts.get("keep")):
            raise Refused(f"broker {broker} is down already")


def _stop(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _running(cluster, broker)
        faults.stop(cluster, broker)


def _restart(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _down(cluster, broker)
        if not cluster.restart(broker):
            raise Refused(f"broker {broker} does not start: its {CHECKPOINTS['epochs']} cannot be read")


def _session_ends(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        if broker not in cluster.controller.live:
            raise Refused(f"the controller counts broker {broker} as dead already")
        if not faults.notice(cluster, broker):
            raise Refused(f"broker {broker} runs and reaches the controller: crash or pause it first")


def _pause(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _running(cluster, broker)
        faults.pause(cluster, broker)


def _resume(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        if not faults.resume(cluster, broker):
            raise Refused(f"broker {broker} is not paused")


def _reconnect(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _running(cluster, broker)
        if not faults.reconnect(cluster, broker):
            raise Refused(f"broker {broker} has its session, or does not reach the controller")


def _cut_link(cluster: Cluster, facts: Facts) -> None:
    if not faults.cut_link(cluster, *facts["between"]):
        raise Refused("the link is down already")


def _heal_link(cluster: Cluster, facts: Facts) -> None:
    if not faults.heal_link(cluster, *facts["between"]):
        raise Refused("the link is up")


def _new_disk(cluster: Cluster, facts: Facts) -> None:
    for broker in facts["broker"]:
        _down(cluster, broker)
        faults.wipe(cluster, broker)


def _damage(fault: Callable[[Cluster, int, Any], bool], fails: str) -> Callable[[Cluster, Facts], None]:
    """A fault of a checkpoint of a broker that is down."""

    def do(cluster: Cluster, facts: Facts) -> None:
        for broker in facts["broker"]:
            _down(cluster, broker)
            name = facts.get("file", CHECKPOINTS["hw"])
            checkpoint = next(key for key, file in CHECKPOINTS.items() if file == name)
            if not fault(cluster, broker, checkpoint):
                raise Refused(fails.format(broker=broker, file=name))

    return do


def _each(fault: Callable[[Cluster, int], bool], fails: str) -> Callable[[Cluster, Facts], None]:
    """A fault of the directories of some brokers."""

    def do(cluster: Cluster, facts: Facts) -> None:
        for broker in facts["broker"]:
            if fault is faults.put_back:
                _down(cluster, broker)
            if not fault(cluster, broker):
                raise Refused(fails.format(broker=broker))

    return do


# -- the controller ---------------------------------------------------------------------------------------------------


def _elect(cluster: Cluster, facts: Facts) -> None:
    """The controller makes a broker leader. The session of a leader that died ends first, as without that nothing
    happens.
    """
    broker = facts["broker"]
    state = cluster.controller.state
    assert state is not None
    _running(cluster, broker)
    if broker not in cluster.controller.live:
        raise Refused(f"the controller counts broker {broker} as dead; heal its link or reconnect it first")
    if state.leader == broker:
        return
    outside = f"broker {broker} is not in the ISR {_ids(state.isr)}"
    if state.leader != NO_LEADER and cluster.reaches(state.leader, cluster.CONTROLLER):
        if not faults.prefer(cluster, broker):
            raise Refused(f"{outside}, and while broker {state.leader} leads no other is elected")
        return
    if broker not in state.isr and not cluster.unclean:
        raise Refused(f"{outside}, and unclean.leader.election.enable is false")
    if state.leader != NO_LEADER:
        faults.notice(cluster, state.leader)
    now = cluster.controller.state
    assert now is not None
    if now.leader != broker:
        chosen = "nobody" if now.leader == NO_LEADER else f"broker {now.leader}"
        raise Refused(f"the controller elects {chosen}: the first of the ISR {_ids(state.isr)} that runs comes first")


def _controller_failover(cluster: Cluster, facts: Facts) -> None:
    new = facts.get("controller", cluster.controller.id + 1)
    if new in cluster.brokers:
        raise Refused(f"{new} is a broker that holds the partition; give a spare broker another id")
    epoch = cluster.controller.epoch + 1
    if facts.get("epoch", epoch) != epoch:
        raise Refused(f"the next controller has epoch {epoch}, not {facts['epoch']}")
    faults.controller_failover(cluster, new)


def _settle(cluster: Cluster, _facts: Facts) -> None:
    random_runs.settle(cluster)


# -- checks -----------------------------------------------------------------------------------------------------------


def _expect(cluster: Cluster, facts: Facts) -> None:
    """Compare what is stated with the state; nothing happens to the cluster."""
    broker = facts["broker"]
    seen = view(cluster, broker)
    state = cluster.controller.state
    assert state is not None
    found: Facts = {
        "log_end_offset": seen.log_end_offset,
        "high_watermark": seen.high_watermark,
        "checkpoint": seen.checkpointed_hw,
        "leader_epoch": seen.leader_epoch,
        "role": seen.role if seen.up else "down",
        "isr": sorted(state.isr),
        "records": list(seen.values),
        "controller_epoch": cluster.controller.epoch,
    }
    for name, wanted in facts.items():
        if name == "broker":
            continue
        wanted = sorted(wanted) if name == "isr" else wanted
        if found[name] != wanted:
            raise Refused(f"{name} of broker {broker} is {_shown(found[name])}, not {_shown(wanted)}")


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "empty"
    return "not known" if value is None else str(value)


# -- the table --------------------------------------------------------------------------------------------------------

_ONE = Field("broker", "broker", "the broker", required=True)
_MANY = Field("broker", "brokers", "the broker, or a list of brokers", required=True)
_SOME = Field("broker", "brokers", "the broker, or a list of brokers; all if left out")
_OFFSET = Field("offset", "number", "where this happens; the step is refused if the log ends elsewhere")
_ACKS = Field("acks", "name", "0, 1 or all (the default)", choices=tuple(ACKS))
_TRANSACTION = Field("transaction", "number", "a number of your choice for a transactional producer (from 0.11)")
_BETWEEN = Field("between", "nodes", "two brokers, or a broker and 0 for the controller", required=True)
_FILE = Field(
    "file",
    "name",
    "name of the checkpoint file; replication-offset-checkpoint if left out",
    choices=tuple(CHECKPOINTS.values()),
)

STEPS: tuple[StepKind, ...] = (
    StepKind(
        "produce",
        "A producer writes records in one request.",
        (
            Field("count", "number", "how many records; 1 if left out", least=1, most=100_000),
            Field("records", "names", "the records by name, instead of a count"),
            _ACKS,
            Field("to", "broker", "the broker that the producer believes to lead; else the leader"),
            _OFFSET,
            _TRANSACTION,
        ),
        _produce,
    ),
    StepKind(
        "end-transaction",
        "The marker that decides a producer's transaction is written.",
        (_TRANSACTION._replace(required=True), Field("commit", "flag", "true (the default), or false to abort")),
        _end_transaction,
    ),
    StepKind(
        "fetch",
        "A follower's whole round trip: it reconciles with its leader if it must, asks, and takes the answer.",
        (_MANY, Field("rounds", "number", "how many; 1 if left out", least=1, most=1_000), _OFFSET),
        _fetch,
    ),
    StepKind(
        "send-fetch",
        "Only the request of a fetch: the leader learns where the follower's log ends.",
        (_MANY, _OFFSET),
        _send_fetch,
    ),
    StepKind("receive", "The answer to that request arrives, with records and high watermark.", (_MANY,), _receive),
    StepKind("ask-epoch", "A follower asks its leader where an epoch ends, and truncates.", (_MANY,), _ask_epoch),
    StepKind("catch-up", "Followers fetch in turn until nothing changes.", (_SOME,), _catch_up),
    StepKind(
        "slow",
        "Each fetch of the broker brings few batches.",
        (_MANY, Field("batches", "number", "how many; 1 if left out, 0 for all", most=100_000)),
        _slow,
    ),
    StepKind(
        "shrink-isr",
        "The broker does not fetch until the lag limit has passed and its leader drops it from the ISR; the others "
        "fetch meanwhile.",
        (_MANY,),
        _shrink_isr,
    ),
    StepKind("expand-isr", "The broker fetches until its leader takes it into the ISR.", (_MANY,), _expand_isr),
    StepKind("checkpoint", "The broker writes its high watermark to its checkpoint file.", (_SOME,), _checkpoint),
    StepKind("flush", "The broker flushes its log to disk.", (_MANY,), _flush),
    StepKind(
        "wait",
        "Time passes: idle followers fetch, checkpoints are written every 5 s, lagging followers leave the ISR.",
        (
            Field("ms", "number", "milliseconds", required=True, least=1, most=3_600_000),
            Field("fetching", "flag", "false if no follower fetches meanwhile"),
        ),
        _wait,
    ),
    StepKind("crash", "The process is killed. The controller does not know until the session ends.", (_MANY,), _crash),
    StepKind(
        "power-loss",
        "The machine loses power: of the log only what was flushed is left.",
        (_MANY, Field("keep", "number", "offset up to which the system happened to have written the log")),
        _power_loss,
    ),
    StepKind("stop", "A controlled shutdown.", (_MANY,), _stop),
    StepKind("restart", "A broker that is down starts again.", (_MANY,), _restart),
    StepKind(
        "session-ends",
        "A broker that is down, paused or out of reach counts as dead for the controller.",
        (_MANY,),
        _session_ends,
    ),
    StepKind("pause", "The process makes no progress, as in a long garbage collection.", (_MANY,), _pause),
    StepKind("resume", "The paused process continues.", (_MANY,), _resume),
    StepKind("reconnect", "A running broker that counted as dead gets a session again.", (_MANY,), _reconnect),
    StepKind("cut-link", "Two nodes do not reach each other any more.", (_BETWEEN,), _cut_link),
    StepKind("heal-link", "They do again.", (_BETWEEN,), _heal_link),
    StepKind(
        "elect",
        "The controller makes the broker leader; the session of a leader that died ends first.",
        (_ONE,),
        _elect,
    ),
    StepKind(
        "controller-failover",
        "Another controller takes over, with the next controller epoch.",
        (
            Field("controller", "number", "its id; the next one if left out", least=1),
            Field("epoch", "number", "its controller epoch; the step is refused if that is another", least=1),
        ),
        _controller_failover,
    ),
    StepKind("new-disk", "The disk of a broker that is down is replaced by an empty one.", (_MANY,), _new_disk),
    StepKind(
        "lose-checkpoint",
        "A checkpoint file of a broker that is down is deleted.",
        (_MANY, _FILE),
        _damage(faults.lose_checkpoint, "broker {broker} has no {file}"),
    ),
    StepKind(
        "garble-checkpoint",
        "A checkpoint file of a broker that is down becomes unreadable.",
        (_MANY, _FILE),
        _damage(faults.garble_checkpoint, "broker {broker} has no {file}"),
    ),
    StepKind(
        "restore-checkpoint",
        "A checkpoint file of a broker that is down is replaced by its contents before the last change.",
        (_MANY, _FILE),
        _damage(faults.restore_checkpoint, "broker {broker} has no older {file}"),
    ),
    StepKind(
        "copy-directory",
        "An operator copies the data directory of a broker, running or not.",
        (_MANY,),
        _each(faults.back_up, "broker {broker} has no data directory"),
    ),
    StepKind(
        "put-back-directory",
        "The data directory of a broker that is down is replaced by the copy made of it before.",
        (_MANY,),
        _each(faults.put_back, "there is no copy of the data directory of broker {broker}"),
    ),
    StepKind("settle", "All faults end: every broker is up, and the followers catch up.", (), _settle),
    StepKind(
        "expect",
        "Nothing happens; the step is refused if the state is another.",
        (
            _ONE,
            Field("log_end_offset", "number", "of its log"),
            Field("high_watermark", "number", "in its memory"),
            Field("checkpoint", "number", "high watermark in its checkpoint file"),
            Field("leader_epoch", "number", "which it knows"),
            Field("role", "name", "leader, follower or down", choices=("leader", "follower", "down")),
            Field("isr", "brokers", "which the controller has committed"),
            Field("records", "names", "all records of its log, in order"),
            Field("controller_epoch", "number", "of the controller"),
        ),
        _expect,
    ),
)
"""Every kind of step, in the order of the documentation."""
