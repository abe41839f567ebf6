"""Differences of the brokers' clocks, estimated from causes and effects that two brokers logged.

An effect follows its cause, so a cause at broker A and its effect at broker B bound the difference of their clocks from
one side. B's clock minus A's is at most the effect's time minus the cause's. Pairs in both directions bound it from
both sides, and pairs with other brokers bound it through them. If effects follow at once, the least difference in each
direction is nearly the latency of one message. The estimate is the middle, as in NTP (RFC 5905, section 8).

It is only for presentation: order between brokers comes from epochs, offsets and partition epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from forensics.case.speakers import OF_ITSELF, saying
from parsers.filled import filled
from parsers.messages.catalogue import Says
from parsers.messages.logs import WITH_ZOOKEEPER
from parsers.schema import ROLES, Kind

SKEW: dict[str, pl.DataType] = {
    "cluster": pl.String(),
    "broker": pl.Int32(),
    "reference": pl.Int32(),  # the broker with the most pairs, most often a controller
    "estimate": pl.Int64(),  # microseconds that the broker's clock is ahead of the reference's; below 0: behind
    "low": pl.Int64(),  # lower bound, null without a pair for it
    "high": pl.Int64(),
    "pairs": pl.Int64(),  # pairs of cause and effect in which the broker takes part
    "consistent": pl.Boolean(),  # false: the bounds contradict each other, so a clock was set or runs at another speed
}
"""One row per broker except the reference."""

_METADATA = ("metadata-log", "metadata-snapshot")
COLUMNS = (
    "kind", "message", "time", "broker", "topic", "topic_id", "partition", "replica", "leader", "leader_epoch",
    "partition_epoch", "isr", "isr_before", "offset", "leo", "run", "detail",
)  # fmt: skip
"""Columns of observations that are read, beside ``row``."""
_FAR = 1_000_000  # microseconds
_NO_LEADER = -1
_HOPS = 4  # brokers that a bound may pass through

Pairs = pl.DataFrame
"""Columns cause, effect (brokers) and delay (microseconds by their clocks)."""


@dataclass(frozen=True, slots=True)
class Link:
    """One kind of cause and effect.

    Attributes:
        name: description of cause and effect.
        pairs: finds them.
        prompt: the effect follows at once, within milliseconds on a healthy network.
        strict: the line of the cause is logged before the effect can happen; else the two are only close.
    """

    name: str
    pairs: Callable[[pl.DataFrame], Pairs]
    prompt: bool
    strict: bool = True


def skew(observations: pl.DataFrame, cluster: str | None = None) -> pl.DataFrame:
    """Estimate the skew of every broker that shares a pair with others.

    Args:
        observations: of a case of one cluster.
        cluster: its name.

    Returns:
        Schema ``SKEW``, ordered by broker; empty where no two brokers logged a cause and its effect.
    """
    if observations.get_column("broker").drop_nulls().n_unique() < 2:
        return pl.DataFrame(schema=SKEW)
    return estimated([paired(observations)], cluster)


def controllers(observations: pl.DataFrame) -> frozenset[int]:
    """Return the brokers that logged, not in the metadata log, that they became the active controller."""
    active = observations.filter(_is(Kind.CONTROLLER_ACTIVE) & ~pl.col("message").is_in(_METADATA) & _dated())
    return frozenset(active.get_column("broker").to_list())


def went_back(observations: pl.DataFrame) -> dict[int, int]:
    """Return when the metadata log of a node was first shorter than its own lines had shown it (KRaft).

    A disk that was formatted, replaced or put back from a copy does that; so does a truncation. Leader epochs,
    partition epochs and offsets are then used again. The epoch of a broker is the offset of the record that
    registered it (ClusterControlManager.registerBroker). A controller becomes active once in each epoch.

    Args:
        observations: rows about brokers are enough.

    Returns:
        Times by the node's own clock, microseconds since 1970 UTC, by node. Nodes whose log grew are not there.
    """
    kinds = (Kind.METADATA_LOADED, Kind.BROKER_REGISTERED, Kind.CONTROLLER_ACTIVE)
    rows = observations.filter(_is(*kinds) & _dated() & ~pl.col("message").is_in(_METADATA)).sort("broker", "row")
    loaded, registered, active = (_is(kind) for kind in kinds)
    # A process states 0 before it states where its log ends.
    again = loaded & (pl.col("kind").shift(-1).over("broker") == Kind.METADATA_LOADED.value) & (pl.col("leo") == 0)
    rows = rows.filter(~again.fill_null(False))
    ends = pl.when(loaded).then(pl.col("leo")).when(registered).then(pl.col("offset") + 1)
    epochs = pl.when(active).then(pl.col("detail").cast(pl.String).cast(pl.Int64, strict=False))
    before = [each.cum_max().forward_fill().shift(1).over("broker") for each in (ends, epochs)]
    shorter = (loaded & (pl.col("leo") < before[0])) | (active & (epochs <= before[1]))
    found = rows.filter(shorter).group_by("broker").agg(pl.col("time").cast(pl.Int64).min())
    return dict(found.iter_rows())


def topic_ids(observations: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return each topic with each of its ids: ``topic``, ``topic_id``."""
    return observations.lazy().filter(pl.col("topic_id").is_not_null()).select("topic", "topic_id").unique().collect()


def paired(
    observations: pl.DataFrame,
    ids: pl.DataFrame | None = None,
    active: frozenset[int] | None = None,
    back: Mapping[int, int] | None = None,
) -> pl.DataFrame:
    """Return the pairs of causes and effects in some observations, those of the same two brokers together.

    Args:
        observations: rows about whole topics, or about brokers; rows that ``may_pair`` are enough.
        ids: as of ``topic_ids``, from all observations of a cluster.
        active: as of ``controllers``, likewise.
        back: as of ``went_back``, likewise.

    Returns:
        Columns cause, effect, prompt, strict, ``delay`` (the least) and ``n``.
    """
    since = went_back(observations) if back is None else back
    rows = _wanted(observations, ids, active, since)
    found = []
    for link in LINKS:
        pairs = link.pairs(rows).filter(pl.col("cause") != pl.col("effect"))
        found.append(pairs.with_columns(pl.lit(link.prompt).alias("prompt"), pl.lit(link.strict).alias("strict")))
    every = pl.concat(found).drop_nulls()
    return every.group_by("cause", "effect", "prompt", "strict").agg(pl.col("delay").min(), pl.len().alias("n"))


def estimated(parts: Iterable[pl.DataFrame], cluster: str | None) -> pl.DataFrame:
    """Return the skew of every broker, schema ``SKEW``.

    Args:
        parts: results of ``paired``.
        cluster: name of the cluster.
    """
    every = pl.concat(parts)
    if every.is_empty():
        return pl.DataFrame(schema=SKEW)
    both = pl.concat([every.select("cause", "n"), every.select(pl.col("effect").alias("cause"), "n")])
    counts = dict(both.group_by("cause").agg(pl.col("n").sum()).iter_rows())
    reference = min(counts, key=lambda broker: (-counts[broker], broker))
    strict = _least(every.filter(pl.col("strict")))
    guess = _guesses(_least(every.filter(pl.col("prompt"))), strict)
    # If most clocks agree and the reference's does not, the reference is wrong.
    apart = _walk(guess, counts, reference)
    middle = sorted(apart.values())[len(apart) // 2]
    if abs(middle) > _FAR:
        reference = min(apart, key=lambda broker: (abs(apart[broker] - middle), -counts[broker], broker))
        apart = _walk(guess, counts, reference)
    highs = _reach(strict, reference)
    lows = _reach({(b, a): delay for (a, b), delay in strict.items()}, reference)
    out = []
    for broker in sorted(counts.keys() - {reference}):
        high, low = highs.get(broker), lows.get(broker)
        low = -low if low is not None else None
        ahead = apart.get(broker)
        consistent = low is None or high is None or low <= high
        if consistent:
            ahead = _within(ahead, low, high)
        else:
            low, high = high, low
        out.append((cluster, broker, reference, ahead, low, high, counts[broker], consistent))
    return pl.DataFrame(out, schema=SKEW, orient="row")


# -- from pairs to one number a broker ------------------------------------------------------------------------------

Edges = dict[tuple[int, int], int]
"""(broker of the cause, broker of the effect) to the least delay."""


def _least(pairs: pl.DataFrame) -> Edges:
    least = pairs.group_by("cause", "effect").agg(pl.col("delay").min()).sort("cause", "effect")
    return {(a, b): delay for a, b, delay in least.iter_rows()}


def _reach(edges: Edges, start: int) -> dict[int, int]:
    """The least sum of delays from one broker to each, over at most so many hops (bounds add up along a way)."""
    best = {start: 0}
    for _ in range(_HOPS):
        for (a, b), delay in sorted(edges.items()):
            if a in best and b != start and best[a] + delay < best.get(b, 2**62):
                best[b] = best[a] + delay
    return best


def _within(ahead: int | None, low: int | None, high: int | None) -> int | None:
    """Return the value moved into its bounds, as far as it and they are known."""
    if ahead is None:
        return None
    at_least = ahead if low is None else max(ahead, low)
    return at_least if high is None else min(at_least, high)


def _guesses(prompt: Edges, strict: Edges) -> Edges:
    """How far the second clock is ahead of the first, for every two brokers with a pair."""
    guess: Edges = {}
    for a, b in {(min(pair), max(pair)) for pair in (*prompt, *strict)}:
        delays = prompt if (a, b) in prompt or (b, a) in prompt else strict
        there, back = delays.get((a, b)), delays.get((b, a))
        if delays is strict:
            # A slow effect shows a clock difference only if it comes before its cause.
            there, back = _negative(there), _negative(back)
        ahead = _ahead(there, back)
        guess[a, b], guess[b, a] = ahead, -ahead
    return guess


def _negative(delay: int | None) -> int | None:
    """Return a delay, or 0 for one that is positive; None if there is none."""
    return None if delay is None else min(0, delay)


def _ahead(there: int | None, back: int | None) -> int:
    """Return how far the second of two clocks is ahead, from the least delays there and back; one of them may be None.

    The true delay is taken to be the same in both directions, or 0 if only one direction is known.
    """
    if there is None:
        return -(back or 0)
    return there if back is None else (there - back) // 2


def _walk(guess: Edges, counts: dict[int, int], start: int) -> dict[int, int]:
    """How far each clock is ahead of one, by the guesses along the shortest way, over brokers with many pairs first."""
    near: dict[int, list[tuple[int, int]]] = {}
    for (a, b), ahead in sorted(guess.items()):
        near.setdefault(a, []).append((b, ahead))
    at = {start: 0}
    edge = [start]
    while edge:
        further: list[int] = []
        for broker in sorted(edge, key=lambda b: (-counts[b], b)):
            for other, ahead in near.get(broker, ()):
                if other not in at:
                    at[other] = at[broker] + ahead
                    further.append(other)
        edge = further
    return at


# -- causes and effects ---------------------------------------------------------------------------------------------

_PLACE = ["topic", "partition"]
_DECIDING = (Kind.ELECTION, Kind.UNCLEAN_ELECTION, Kind.PARTITION_CREATED)
_PROPOSED = (Kind.ISR_SHRINK, Kind.ISR_EXPAND)
_READ = (
    *_DECIDING,
    *ROLES,
    *_PROPOSED,
    Kind.PARTITION_CHANGED,
    Kind.ISR_COMMIT,
    Kind.METADATA_CACHED,
    Kind.BROKER_REGISTERED,
    Kind.PROCESS_START,
    Kind.CONTROLLER_ACTIVE,
    Kind.METADATA_LOADED,
)


def _is(*kinds: Kind) -> pl.Expr:
    return pl.col("kind").is_in([kind.value for kind in kinds])


def _set(name: str) -> pl.Expr:
    """An ISR without its order."""
    return pl.col(name).str.split(",").list.sort().list.join(",")


def _dated() -> pl.Expr:
    return pl.col("time").is_not_null() & pl.col("broker").is_not_null()


def may_pair() -> pl.Expr:
    """Filter for observations that ``paired`` reads."""
    return _is(*_READ, Kind.LOG_DELETED)


def _wanted(
    observations: pl.DataFrame,
    ids: pl.DataFrame | None = None,
    active: frozenset[int] | None = None,
    back: Mapping[int, int] | None = None,
) -> pl.DataFrame:
    """Return dated rows that may be a cause or an effect, without topics that were deleted and created again.

    Epochs of such a topic restart at 0, so statements about two incarnations could be confused.
    """
    rows = observations.filter(_is(*_READ) & _dated()).with_columns(
        pl.col("time").cast(pl.Int64).alias("at"), _set("isr"), _set("isr_before")
    )
    rows = rows.with_columns(_used_again(back or {}))
    # A metadata log batch has the time of the active controller; a snapshot restates at a time of its own.
    one = controllers(observations) if active is None else active
    foreign = pl.col("broker").is_in(sorted(one)).not_() if len(one) == 1 else pl.lit(True)
    rows = rows.filter(~saying(Says.HANDED_OVER))
    rows = rows.filter(~(pl.col("message").is_in(_METADATA) & foreign) & (pl.col("message") != _METADATA[1]))
    ids = topic_ids(observations) if ids is None else ids
    several = ids.group_by("topic").len().filter(pl.col("len") > 1).select("topic")
    place = ["broker", *_PLACE]
    gone = pl.when(_is(Kind.LOG_DELETED)).then(True).forward_fill().over(place)
    anew = (
        observations.filter(may_pair() & pl.col("topic").is_not_null())
        .sort(*place, "row")
        .with_columns(gone.alias("gone"))
        .filter(pl.col("gone") & (pl.col("leader_epoch") == 0))
        .select("topic")
    )
    again = pl.concat([several, anew.join(ids, on="topic", how="anti")]).unique()
    return rows.join(again, on="topic", how="anti", maintain_order="left")


def _used_again(since: Mapping[int, int]) -> pl.Expr:
    """Column ``again``: the row is of a node whose metadata log had become shorter by then (see ``went_back``).

    Its epochs and offsets may have been used before. So it is no cause: another node may state the former use.
    """
    own = [(pl.col("broker") == node) & (pl.col("at") >= moment) for node, moment in sorted(since.items())]
    return pl.any_horizontal(*own, pl.lit(False)).alias("again")


def _pairs(cause: pl.DataFrame, effect: pl.DataFrame, keys: list[str]) -> Pairs:
    """Pair the first cause and the first effect of each broker with the same key; later ones are repeats."""
    first = cause.filter(~pl.col("again")).drop_nulls(keys).group_by(*keys, "broker").agg(pl.col("at").min())
    then = effect.drop_nulls(keys).group_by(*keys, "broker").agg(pl.col("at").min())
    both = first.join(then, on=keys, how="inner", suffix="_effect")
    late = (pl.col("broker") == pl.col("broker_effect")) & (pl.col("at_effect") < pl.col("at"))
    both = both.join(both.filter(late).select(*keys, "broker"), on=[*keys, "broker"], how="anti")
    return both.select(
        pl.col("broker").alias("cause"),
        pl.col("broker_effect").alias("effect"),
        (pl.col("at_effect") - pl.col("at")).alias("delay"),
    )


def _sent(rows: pl.DataFrame) -> Pairs:
    """Pair a LeaderAndIsr request as its controller sent it with the receiver's line (state-change.log up to 2.x).

    A new controller sends every broker the state that it received from the former one. So requests sent or received
    twice pair with nothing.
    """
    keys = [*_PLACE, "leader_epoch", "isr", "receiver"]
    sent = rows.filter(_is(Kind.LEADER_AND_ISR) & ~OF_ITSELF).with_columns(pl.col("replica").alias("receiver"))
    received = rows.filter(_is(Kind.LEADER_AND_ISR) & OF_ITSELF).with_columns(pl.col("broker").alias("receiver"))
    once = [one.group_by(keys).len().filter(pl.col("len") == 1).select(keys) for one in (sent, received)]
    return _pairs(sent.join(once[0], on=keys, how="semi"), received.join(once[1], on=keys, how="semi"), keys)


def _decided(rows: pl.DataFrame, *, alone: bool) -> Pairs:
    """Pair a leader epoch as its controller began it with the first line of another broker about it.

    Args:
        rows: dated.
        alone: use only epochs that one broker logged as its decision. Otherwise use those that several replayed, as in
            a quorum of controllers: one of them decided, the others followed.
    """
    keys = [*_PLACE, "leader_epoch"]
    decided = rows.filter(_is(*_DECIDING) | (_is(Kind.PARTITION_CHANGED) & pl.col("leader").is_not_null()))
    heard = rows.filter(_is(*ROLES, Kind.METADATA_CACHED) & OF_ITSELF)
    twice = decided.join(_led_twice(pl.concat([decided, heard])), on=_PLACE, how="inner")
    twice = twice.filter(pl.col("leader_epoch") >= pl.col("first")).select(keys).unique()
    decided = decided.join(twice, on=keys, how="anti")
    count = pl.col("broker").n_unique().over(keys)
    # A controller with ZooKeeper repeats the decisions of the former one.
    repeated = pl.col("message").cast(pl.String).is_in(sorted(WITH_ZOOKEEPER)).fill_null(False)
    replayed = (count > 1) & ~repeated.any().over(keys)
    return _pairs(decided.filter((count == 1) if alone else replayed), heard, keys)


def _led_twice(stated: pl.DataFrame) -> pl.DataFrame:
    """Return the first leader epoch with two leaders, as after ZooKeeper or the metadata log was put back from a copy.

    Everything later may be of either history. A leader below -1 is none: the topic is being deleted (LeaderAndIsr).
    """
    keys = [*_PLACE, "leader_epoch"]
    given = stated.filter(pl.col("leader") >= _NO_LEADER)
    several = given.group_by(keys).agg(pl.col("leader").n_unique().alias("leaders")).filter(pl.col("leaders") > 1)
    return several.group_by(_PLACE).agg(pl.col("leader_epoch").min().alias("first"))


def _elected(rows: pl.DataFrame) -> Pairs:
    return _decided(rows, alone=True)


def _replayed(rows: pl.DataFrame) -> Pairs:
    return _decided(rows, alone=False)


def _proposals(rows: pl.DataFrame) -> pl.DataFrame:
    """ISR changes of leaders: as proposed and, by the next line of the same partition, as committed."""
    lines = rows.filter(_is(*_PROPOSED) | (_is(Kind.ISR_COMMIT) & pl.col("leader").is_null()))
    after = {name: pl.col(name).shift(-1).over("broker", *_PLACE) for name in ("kind", "isr", "partition_epoch", "at")}
    return (
        lines.with_columns(
            [expression.alias(f"next_{name}") for name, expression in after.items()],
        )
        .filter(
            _is(*_PROPOSED) & (pl.col("next_kind") == Kind.ISR_COMMIT.value) & (pl.col("next_isr") == pl.col("isr"))
        )
        .with_columns(pl.col("next_partition_epoch").alias("partition_epoch"))
    )


def _recorded(rows: pl.DataFrame) -> pl.DataFrame:
    """ISR changes as a controller recorded them (AlterPartition, KIP-497)."""
    committed = _is(Kind.ISR_COMMIT) & pl.col("leader").is_not_null() & ~saying(Says.RESTATED)
    return rows.filter((_is(Kind.PARTITION_CHANGED) | committed) & pl.col("partition_epoch").is_not_null())


def _isr_asked(rows: pl.DataFrame) -> Pairs:
    return _pairs(_proposals(rows), _recorded(rows), [*_PLACE, "partition_epoch", "isr"])


def _isr_answered(rows: pl.DataFrame) -> Pairs:
    committed = rows.filter(_is(Kind.ISR_COMMIT) & pl.col("leader").is_null())
    return _pairs(_recorded(rows), committed, [*_PLACE, "partition_epoch", "isr"])


def _of_epoch(rows: pl.DataFrame) -> pl.DataFrame:
    """ISR changes of leaders with the leader epoch in which they were proposed."""
    lines = rows.filter((_is(*ROLES) & OF_ITSELF) | _is(*_PROPOSED)).sort("broker", *_PLACE, "row")
    role = pl.when(_is(*ROLES)).then(pl.col("leader_epoch"))
    return lines.with_columns(role.forward_fill().over("broker", *_PLACE).alias("leader_epoch")).filter(_is(*_PROPOSED))


def _isr_seen(rows: pl.DataFrame) -> Pairs:
    """Pair an ISR that a leader proposed once with others that receive it (through ZooKeeper, before KIP-497)."""
    keys = [*_PLACE, "leader_epoch", "isr"]
    proposed = _of_epoch(rows).drop_nulls(keys)
    once = proposed.group_by(keys).len().filter(pl.col("len") == 1)
    begun = rows.filter(_is(*_DECIDING, *ROLES)).select(keys).unique()
    heard = rows.filter(_is(Kind.METADATA_CACHED))
    return _pairs(proposed.join(once, on=keys, how="semi").join(begun, on=keys, how="anti"), heard, keys)


def _registered(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return registrations as brokers and as controllers log them, with the key of each pair in ``registration``.

    KRaft numbers each registration by its broker epoch. With ZooKeeper the controller logs no number: they pair by
    their order, if both sides have the same number of them.
    """
    lines = rows.filter(_is(Kind.BROKER_REGISTERED, Kind.PROCESS_START)).sort("broker", "row")
    starts = pl.when(_is(Kind.PROCESS_START)).then(pl.col("at")).forward_fill().over("broker", "run").alias("started")
    lines = lines.with_columns(starts).filter(_is(Kind.BROKER_REGISTERED) & ~pl.col("message").is_in(_METADATA))
    own = lines.filter(pl.col("replica") == pl.col("broker"))
    other = lines.filter(pl.col("replica") != pl.col("broker"))
    epoch = filled("epoch {}", "offset")
    numbered = other.get_column("offset").is_not_null().any()
    if numbered:
        return own.with_columns(epoch.alias("registration")), other.with_columns(epoch.alias("registration"))
    turn = (pl.int_range(pl.len()).over("replica")).cast(pl.String)
    many = pl.len().over("replica").cast(pl.String)
    order = (pl.lit("turn ") + turn + " of " + many).alias("registration")
    several = other.get_column("broker").n_unique() > 1  # unknown which of two controllers logged it first
    return own.with_columns(order), other.with_columns(order).clear() if several else other.with_columns(order)


def _started(rows: pl.DataFrame) -> Pairs:
    own, other = _registered(rows)
    return _pairs(own.with_columns(pl.col("started").alias("at")), other, ["replica", "registration"])


def _announced(rows: pl.DataFrame) -> Pairs:
    own, other = _registered(rows)
    return _pairs(own, other.filter(pl.col("offset").is_null()), ["replica", "registration"])


def _admitted(rows: pl.DataFrame) -> Pairs:
    own, other = _registered(rows)
    return _pairs(other.filter(pl.col("offset").is_not_null()), own, ["replica", "registration"])


LINKS: tuple[Link, ...] = (
    Link("a LeaderAndIsr request is sent and received", _sent, prompt=True),
    Link("a leader is elected and others hear of it", _elected, prompt=True),
    Link("an election is replayed by several controllers and others hear of it", _replayed, prompt=True, strict=False),
    Link("a leader asks to change the ISR and the controller records it", _isr_asked, prompt=True),
    Link("the controller records an ISR and its leader is answered", _isr_answered, prompt=True),
    Link("a leader changes the ISR and others hear of it", _isr_seen, prompt=False),
    Link("a broker starts and the controller registers it", _started, prompt=False),
    Link("the controller registers a broker and informs it", _admitted, prompt=True),
    # The line follows the registration, which the controller may see first.
    Link("a broker registers and the controller hears of it", _announced, prompt=True, strict=False),
)
"""Every kind of pair from which a skew is estimated."""
