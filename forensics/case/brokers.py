"""What is known of each broker: version, protocol, settings, when its processes ran."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import polars as pl

from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.schema import Kind


@dataclass(slots=True)
class Broker:
    """One broker of the case.

    Attributes:
        id: broker id.
        cluster: cluster id, or None.
        version: Kafka version it printed last, e.g. "3.9.1", or None.
        releases: every release that its processes printed, as (major, minor): it may have been upgraded meanwhile.
        old_runs: its processes whose version, inter-broker protocol or message format is from before KIP-101.
        settings: settings that matter, last printed or from ``server.properties``.
        starts: times at which its processes began, microseconds since 1970 UTC.
        server_log, state_log: whether anything it printed to server.log, or to state-change.log, is in the evidence,
            whatever the files are called.
        unheard: broker epoch of a process that controllers registered and of which its own lines, which tell of an
            earlier one, say nothing; or None.
    """

    id: int
    cluster: str | None = None
    version: str | None = None
    releases: set[tuple[int, int]] = field(default_factory=set)
    old_runs: set[int] = field(default_factory=set)
    settings: dict[str, str] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    server_log: bool = False
    state_log: bool = False
    unheard: int | None = None

    def number(self, *keys: str) -> tuple[int, int] | None:
        """A setting that holds a version, as (major, minor); the first of the keys that is set."""
        for key in keys:
            found = version_of(self.settings.get(key))
            if found is not None:
                return found
        return None

    @property
    def release(self) -> tuple[int, int] | None:
        """Its release as (major, minor), for 0.x (0, x).

        Up to 0.10.2 the version goes to standard output only; then the inter-broker protocol it starts with, which
        defaults to its own version, stands for it.
        """
        return version_of(self.version) or self.number("inter.broker.protocol.version")

    @property
    def oldest(self) -> tuple[int, int] | None:
        """The least release of any of its processes."""
        return min(self.releases, default=self.release)

    @property
    def hw_protocol(self) -> bool | None:
        """Whether its followers truncate to their high watermark (before KIP-101); None where nothing tells."""
        known = [
            v
            for v in (
                version_of(self.version),
                *(self.number(key) for key in _PROTOCOL),
            )
            if v is not None
        ]
        return min(known) < (0, 11) if known else None

    @property
    def kraft(self) -> bool:
        """Whether it follows the metadata log, not a controller's requests: from 4.0 on every broker does (KIP-833)."""
        release = self.release
        roles = self.settings.get("process.roles", "").strip("[] ")
        return bool(roles) or (release is not None and release >= (4, 0))

    @property
    def initial_offset(self) -> str | None:
        """What the offset in ``Added fetcher`` is (ReplicaManager.makeFollowers): to 1.0 the log end offset, 1.1 to 2.6
        the high watermark, later either; None where it was upgraded from one to the other too.
        """
        release, oldest = self.release, self.oldest
        if release is None or oldest is None or oldest < (1, 1) <= release:
            return None
        if release < (1, 1):
            return "end"
        return "hw" if release < (2, 7) else None


_PROTOCOL = ("inter.broker.protocol.version", "log.message.format.version")
"""Settings that make a broker follow the protocol of an older release."""


def version_of(text: str | None) -> tuple[int, int] | None:
    """(major, minor) of a printed version; ``0.10.2-IV0`` gives (0, 10).

    >>> version_of("0.10.2-IV0"), version_of("3.9.1"), version_of("")
    ((0, 10), (3, 9), None)
    """
    found = re.match(r"([0-9]+)\.([0-9]+)", text or "")
    return (int(found[1]), int(found[2])) if found else None


def brokers(
    observations: pl.DataFrame, settings: dict[int, dict[str, str]], clusters: dict[int, str | None]
) -> dict[int, Broker]:
    """Collect the brokers of a case.

    Args:
        observations: the case's observations, ordered.
        settings: settings from properties files, by broker.
        clusters: cluster of each broker.
    """
    found = {number: Broker(number, cluster) for number, cluster in clusters.items()}
    for number, values in settings.items():
        found.setdefault(number, Broker(number)).settings.update(values)
    # Counted here: not all that is asked has counted them, and rows without a topic are enough for it.
    run = pl.col("starts_run").cast(pl.Int32).cum_sum().over("broker").alias("run")
    rows = (
        observations.with_columns(run)
        .filter(
            pl.col("kind").is_in([Kind.BROKER_VERSION.value, Kind.BROKER_CONFIG.value]) & pl.col("broker").is_not_null()
        )
        .select("broker", "kind", "detail", "run")
    )
    for number, kind, detail, run in rows.unique(maintain_order=True).iter_rows():
        broker = found.setdefault(number, Broker(number))
        if detail is None:
            continue
        key, _, value = detail.partition("=")
        if kind == Kind.BROKER_VERSION.value:
            key, value = "", detail
            broker.version = detail
        else:
            broker.settings[key] = value
        release = version_of(value) if key in ("", *_PROTOCOL) else None
        if release is not None and key == "":
            broker.releases.add(release)
        if release is not None and release < (0, 11) and run is not None:
            broker.old_runs.add(run)
    starts = observations.filter(pl.col("starts_run")).select("broker", "time")
    for number, time in starts.with_columns(pl.col("time").cast(pl.Int64)).iter_rows():
        if number in found and time is not None:
            found[number].starts.append(time)
    for number, message in _spoken(observations).iter_rows():
        if number in found:
            _heard(found[number], message)
    for number, epoch in _unheard(observations):
        if number in found:
            found[number].unheard = epoch
    return dict(sorted(found.items()))


def _unheard(observations: pl.DataFrame) -> list[tuple[int, int]]:
    """Brokers and the first broker epoch each that only others tell of, of those later than one that it tells itself.

    A process that registers again keeps its incarnation (KRaft, RegisterBrokerRecord).
    """
    rows = observations.filter(pl.col("kind") == Kind.BROKER_REGISTERED.value, pl.col("offset") >= 0)
    incarnation = pl.col("detail").str.extract(r"incarnation=(\S+)").max().over("replica", "offset")
    rows = rows.drop_nulls("replica").select(
        "replica",
        "offset",
        pl.col("message").is_in(_OWN_WORD).alias("own"),
        pl.coalesce(incarnation, pl.col("offset").cast(pl.String)).alias("process"),
    )
    told = rows.with_columns(
        pl.col("own").any().over("replica", "process").alias("told"),
        pl.col("offset").filter(pl.col("own")).min().over("replica").alias("first"),
    )
    later = told.filter(~pl.col("told") & (pl.col("offset") > pl.col("first")))
    return [(number, epoch) for number, epoch in later.group_by("replica").agg(pl.col("offset").min()).iter_rows()]


_OWN_WORD = ("V-04a", "V-05")
"""Messages with which a broker tells under which epoch it is registered."""
_SERVER_LOG = re.compile(r"(?:[EFLMPRV]|FM|RM)-")
"""Entries of the message catalogue that a stock broker prints to server.log: log layer, fetchers, process."""
_STATE_LOG = re.compile(r"S-")
"""Entries that it prints to state-change.log: the roles it was told and took."""


def _spoken(observations: pl.DataFrame) -> pl.DataFrame:
    spoken = observations.filter(pl.col("line").is_not_null() & pl.col("broker").is_not_null())
    return spoken.select("broker", pl.col("message").cast(pl.String)).unique().sort("broker", "message")


def _heard(broker: Broker, message: str | None) -> None:
    if message == TRACE:
        # A trace states everything there is to state.
        broker.server_log = broker.state_log = True
    elif message is not None:
        broker.server_log = broker.server_log or bool(_SERVER_LOG.match(message))
        broker.state_log = broker.state_log or bool(_STATE_LOG.match(message))
