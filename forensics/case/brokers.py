"""Facts about each broker: version, protocol, settings, times of its processes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from forensics.case.log_directories import LogDirectory
from forensics.case.shared_directories import Shared, shared_directories
from forensics.case.speakers import saying
from parsers.details import Claim
from parsers.formats.trace_jsonl import BELOW_HEADER
from parsers.formats.trace_jsonl import NAME as TRACE
from parsers.messages.catalogue import Says
from parsers.messages.logs import LOG_OF, WITH_ZOOKEEPER, Log
from parsers.schema import Kind

Release = tuple[int, ...]
"""A release, or a protocol or format named after one: (3, 9, 1) for 3.9.1, (3, 9) where only that much is stated."""

INTER_BROKER = "inter.broker.protocol.version"
"""Setting that makes brokers use the inter-broker protocol of an older release."""
MESSAGE_FORMAT = "log.message.format.version"
"""Setting that makes a broker write batches as an older release does."""


@dataclass(frozen=True, slots=True)
class PartClaim:
    """A claim of a trace to state changes of a broker's replicas.

    Attributes:
        everything: every change of any kind.
        log: every change of their logs and high watermarks.
        roles: every change of their roles.
    """

    everything: bool = True
    log: bool = True
    roles: bool = True


@dataclass(slots=True)
class Process:
    """Version facts that one process of a broker logged.

    Attributes:
        release: its Kafka version; like the other two, None if it logged none, and the lowest of several.
        inter_broker: its ``inter.broker.protocol.version``.
        message_format: its ``log.message.format.version``.
    """

    release: Release | None = None
    inter_broker: Release | None = None
    message_format: Release | None = None


@dataclass(slots=True)
class Broker:
    """One broker of the case.

    Attributes:
        id: broker id.
        cluster: cluster id, or None.
        version: Kafka version it printed last, e.g. "3.9.1", or None.
        system: the system that its trace names, in words, or None.
        releases: every release that its processes printed: it may have been upgraded.
        processes: version facts of each of its processes, by run.
        settings: settings that matter, last printed or from ``server.properties``.
        configured: all that it was set up with is in the evidence: its ``server.properties``, or the first line of a
            trace that states its release. So a setting that is not stated has its default.
        log_dirs: each new value of ``log.dirs`` that its processes printed: time (microseconds since 1970 UTC) and
            value.
        directories: by path, its log directories in the evidence that hold the same partitions as another.
        shared: its partitions that have one directory with a partition of another topic, and those others.
        starts: times at which its processes began, microseconds since 1970 UTC.
        server_log, state_log: whether anything it printed to server.log, or to state-change.log, is in the evidence,
            whatever the names of the files.
        logged: lines of its logs are in the evidence, or a trace that repeats some.
        complete: its trace claims to state every change of its replicas, so an absent line proves something.
        claim: the same of its logs, its roles or both, and of nothing else; or None.
        listed: a trace lists it and claims nothing of it, and no line is of it: it may have any replica.
        unread: lines of its trace could not be read, or not in their order, so what that claims does not count.
        log_within: first and last moment of the span in which its trace claims to state every change of its logs; None
            without such a claim. A moment is in microseconds since 1970 UTC, or None for no bound.
        unseen_process: broker epoch of a process that controllers registered and that has no line of its own here,
            while an earlier process has; or None.
    """

    id: int
    cluster: str | None = None
    version: str | None = None
    system: str | None = None
    releases: set[Release] = field(default_factory=set)
    processes: dict[int, Process] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    configured: bool = False
    log_dirs: list[tuple[int, str]] = field(default_factory=list)
    directories: dict[str, LogDirectory] = field(default_factory=dict)
    shared: Shared = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    server_log: bool = False
    state_log: bool = False
    unseen_process: int | None = None
    logged: bool = False
    complete: bool = False
    claim: PartClaim | None = None
    listed: bool = False
    unread: bool = False
    log_within: tuple[int | None, int | None] | None = None

    @property
    def of_other_system(self) -> bool:
        """Return whether a trace shows that it is no broker of Kafka: it names another system, and no release."""
        return self.system is not None and "kafka" not in self.system.lower() and not self.releases

    @property
    def own_settings(self) -> dict[str, str]:
        """Its settings; without those of Kafka that stand for the protocol that a trace of another system names."""
        left_out = (INTER_BROKER, MESSAGE_FORMAT) if self.of_other_system else ()
        return {name: value for name, value in sorted(self.settings.items()) if name not in left_out}

    @property
    def only_controls(self) -> bool:
        """It is a controller of KRaft and no broker, so it has no replica of a topic."""
        return self.settings.get("process.roles", "").strip("[]") == "controller"

    @property
    def folders(self) -> tuple[str, ...]:
        """Its data folders as its evidence states them: none if it states none.

        That is ``log.dirs`` as it printed it last, else of its configuration, where without it ``log.dir`` holds
        (kafka.server.KafkaConfig, logDirs); and ``metadata.log.dir``, if it is set.
        """
        configured = [self.settings.get(name, "null") for name in ("log.dirs", "log.dir", "metadata.log.dir")]
        printed, beside = [value for _, value in self.log_dirs[-1:]], configured.pop()
        stated = [value for value in (*printed, *configured) if value != "null"][:1]
        stated += [beside] if beside != "null" else []
        return tuple(dict.fromkeys(name for value in stated for folder in value.split(",") if (name := folder.strip())))

    @property
    def release(self) -> Release | None:
        """Its release, the one that it printed last; None if it printed none.

        Its inter-broker protocol and message format are no substitute. A broker refuses those of later releases than
        its own (KafkaConfig), so they only say what it is at least.
        """
        return version_of(self.version)


def version_of(text: str | None) -> Release | None:
    """The numbers that a printed version begins with.

    >>> version_of("0.10.2-IV0"), version_of("3.9.1"), version_of("")
    ((0, 10, 2), (3, 9, 1), None)
    """
    found = re.match(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", text or "")
    return tuple(int(number) for number in found[0].split(".")) if found else None


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
        broker = found.setdefault(number, Broker(number))
        broker.settings.update(values)
        broker.configured = True
    for number, run, kind, detail in _statements(observations).iter_rows():
        broker = found.setdefault(number, Broker(number))
        if detail is not None:
            _stated(broker, run, kind, detail)
    starts = observations.filter(pl.col("starts_run")).select("broker", pl.col("time").cast(pl.Int64))
    for number, time in starts.drop_nulls("time").iter_rows():
        if number in found:
            found[number].starts.append(time)
    _add_log_dirs(found, observations)
    for number, message in _spoken(observations).iter_rows():
        if number in found:
            _heard(found[number], message)
    _claim(found, observations)
    _add_shared(found, observations)
    for number, epoch in _unheard(observations):
        if number in found:
            found[number].unseen_process = epoch
    return dict(sorted(found.items()))


def _add_shared(found: dict[int, Broker], observations: pl.DataFrame) -> None:
    """Note in the brokers which of their partitions share a directory."""
    for broker, shared in shared_directories(observations).items():
        if broker in found:
            found[broker].shared = shared


def _claim(found: dict[int, Broker], observations: pl.DataFrame) -> None:
    """Mark the brokers for which a trace claims to state every change, and those of which it states the release."""
    is_claim = (pl.col("kind") == Kind.TRACE.value).fill_null(False)  # of what a broker has logged only the message
    claims = observations.filter(is_claim)
    claimed = found.keys() & set(claims.get_column("broker").drop_nulls().to_list())
    lines = observations.filter(~is_claim & (pl.col("message") == TRACE)) if claimed else claims
    spans = _spans(found, lines)
    claims = of_own_traces(claims, lines)
    told = set(lines.filter(BELOW_HEADER).get_column("broker").to_list())
    for number in claimed:
        of_cluster = spans.get(found[number].cluster, (None, None))
        claim, found[number].log_within = _part(claims.filter(pl.col("broker") == number), *of_cluster)
        found[number].complete = claim is not None and claim.everything
        found[number].claim = None if found[number].complete else claim
        found[number].listed = claim is None and number not in told and not found[number].logged
    of_release = (pl.col("kind") == Kind.BROKER_VERSION.value) & (pl.col("message") == TRACE)
    for number in found.keys() & set(observations.filter(of_release).get_column("broker").drop_nulls().to_list()):
        found[number].configured = True


def of_own_traces(claims: pl.DataFrame, lines: pl.DataFrame) -> pl.DataFrame:
    """Return claims without those that only list a broker: nothing is claimed of it, and no line of its trace is of it.

    Such a trace takes no claim of another one away, for instance where each broker writes its own and names all.
    """
    if claims.is_empty():
        return claims
    told = lines.filter(BELOW_HEADER).select("source", "broker").unique()
    silent = claims.filter(pl.col("detail") == Claim.NOTHING.value).join(told, on=["source", "broker"], how="anti")
    of_others = claims.filter(pl.col("detail") != Claim.NOTHING.value).select("broker").unique()
    lists = silent.join(of_others, on="broker", how="semi").select("source", "line", "broker")
    return claims.join(lists, on=["source", "line", "broker"], how="anti")


def _spans(found: Mapping[int, Broker], lines: pl.DataFrame) -> dict[str | None, tuple[int, int]]:
    """Return the first and the last time that lines state, by cluster."""
    time = pl.col("time").cast(pl.Int64)
    of_broker = lines.drop_nulls("time").group_by("broker").agg(time.min().alias("first"), time.max().alias("last"))
    spans: dict[str | None, tuple[int, int]] = {}
    for number, first, last in of_broker.iter_rows():
        if number in found:
            cluster = found[number].cluster
            before = spans.get(cluster, (first, last))
            spans[cluster] = min(before[0], first), max(before[1], last)
    return spans


def _part(
    claims: pl.DataFrame, first: int | None, last: int | None
) -> tuple[PartClaim | None, tuple[int | None, int | None] | None]:
    """Return the claim of traces about one broker, and the span in which it is about its logs.

    A claim for a span holds for the whole history if no line of its cluster's traces is outside of the span, whichever
    broker it is about. Else the first is None: what is missing of the broker is not a line that could be looked at.
    Where several traces have a first line about the broker, only what each of them claims is claimed.
    """
    stated = dict(claims.select("detail", pl.col("time").cast(pl.Int64)).iter_rows())
    since, until = stated.get(Claim.SINCE.value), stated.get(Claim.UNTIL.value)
    heads = claims.group_by("source", "line").agg(pl.col("detail")).get_column("detail").to_list()
    everything, log, roles = (
        all(Claim.ALL.value in head or what.value in head for head in heads)
        for what in (Claim.ALL, Claim.LOG, Claim.ROLES)
    )
    within = (since, until) if log else None
    before = since is not None and first is not None and first < since
    after = until is not None and last is not None and last > until
    nothing = before or after or not (everything or log or roles)
    return None if nothing else PartClaim(everything, log, roles), within


def _statements(observations: pl.DataFrame) -> pl.DataFrame:
    """Return what brokers logged about their releases and settings, once for each process, in the order of the lines.

    Returns:
        Columns ``broker``, ``run``, ``kind``, ``detail``.
    """
    # Counted here, because not every caller has counted them; rows without a topic are enough.
    run = pl.col("starts_run").cast(pl.Int32).cum_sum().over("broker").alias("run")
    kinds = [Kind.BROKER_VERSION.value, Kind.BROKER_SYSTEM.value, Kind.BROKER_CONFIG.value]
    rows = observations.select("broker", run, "kind", "detail")
    rows = rows.filter(pl.col("kind").is_in(kinds) & pl.col("broker").is_not_null())
    return rows.unique(maintain_order=True)


def _stated(broker: Broker, run: int | None, kind: str, detail: str) -> None:
    """Note the release or the setting that one process of a broker logged, or the system that a trace names."""
    if kind == Kind.BROKER_SYSTEM.value:
        broker.system = detail
        return
    key, _, value = detail.partition("=")
    if kind == Kind.BROKER_VERSION.value:
        key, value = "", detail
        broker.version = detail
    else:
        broker.settings[key] = value
    release = version_of(value) if key in _OF_VERSION else None
    if release is not None:
        _ran(broker, run, key, release)


def _ran(broker: Broker, run: int | None, key: str, release: Release) -> None:
    """Notes a release, protocol or message format that one process of a broker logged."""
    if key == "":
        broker.releases.add(release)
    if run is not None:
        process = broker.processes.setdefault(run, Process())
        before: Release | None = getattr(process, _OF_VERSION[key])
        setattr(process, _OF_VERSION[key], release if before is None else min(before, release))


_OF_VERSION = {"": "release", INTER_BROKER: "inter_broker", MESSAGE_FORMAT: "message_format"}
"""Field of ``Process`` by the setting that states it; "" is the line with the version itself."""


def _add_log_dirs(found: dict[int, Broker], observations: pl.DataFrame) -> None:
    """Note each change of ``log.dirs`` in the brokers."""
    for number, time, dirs in _log_dirs(observations):
        broker = found.get(number)
        if broker is not None and (not broker.log_dirs or broker.log_dirs[-1][1] != dirs):
            broker.log_dirs.append((time, dirs))


def _log_dirs(observations: pl.DataFrame) -> list[tuple[int, int, str]]:
    """Brokers, times and the directories of their logs, one for each dump of settings, in the order of the lines.

    Where ``log.dirs`` is not set, ``log.dir`` holds (kafka.server.KafkaConfig, logDirs).
    """
    dump = ["broker", "time"]
    rows = observations.filter(
        (pl.col("kind") == Kind.BROKER_CONFIG.value)
        & pl.col("line").is_not_null()
        & pl.all_horizontal(pl.col(dump).is_not_null())
    )
    if rows.is_empty():
        return []
    several, one = (pl.col("detail").str.extract(rf"^log\.{name}=(.+)$") for name in ("dirs", "dir"))
    told = pl.coalesce(pl.when(several != "null").then(several).drop_nulls().last(), one.drop_nulls().last())
    found = rows.group_by(dump, maintain_order=True).agg(told.alias("dirs")).drop_nulls("dirs")
    return list(found.with_columns(pl.col("time").cast(pl.Int64)).iter_rows())


def _unheard(observations: pl.DataFrame) -> list[tuple[int, int]]:
    """Return brokers and the first later broker epoch that only other brokers name.

    Later than a broker epoch that the broker itself names. A process that registers again keeps its incarnation (KRaft,
    RegisterBrokerRecord).
    """
    rows = observations.filter(pl.col("kind") == Kind.BROKER_REGISTERED.value, pl.col("offset") >= 0)
    if rows.is_empty():
        return []
    incarnation = pl.col("detail").str.extract(r"incarnation=(\S+)").max().over("replica", "offset")
    rows = rows.drop_nulls("replica").select(
        "replica",
        "offset",
        saying(Says.OWN_EPOCH).alias("own"),
        pl.coalesce(incarnation, pl.col("offset").cast(pl.String)).alias("process"),
    )
    told = rows.with_columns(
        pl.col("own").any().over("replica", "process").alias("told"),
        pl.col("offset").filter(pl.col("own")).min().over("replica").alias("first"),
    )
    later = told.filter(~pl.col("told") & (pl.col("offset") > pl.col("first")))
    return [(number, epoch) for number, epoch in later.group_by("replica").agg(pl.col("offset").min()).iter_rows()]


def _spoken(observations: pl.DataFrame) -> pl.DataFrame:
    spoken = observations.filter(pl.col("line").is_not_null() & pl.col("broker").is_not_null())
    return spoken.select("broker", pl.col("message").cast(pl.String)).unique().sort("broker", "message")


def _heard(broker: Broker, message: str | None) -> None:
    if message == TRACE:
        # A trace states everything.
        broker.server_log = broker.state_log = True
    elif message is not None:
        broker.logged = True
        log = LOG_OF.get(message)
        broker.server_log = broker.server_log or log is Log.SERVER
        broker.state_log = broker.state_log or (log is Log.STATE_CHANGE and message not in WITH_ZOOKEEPER)
