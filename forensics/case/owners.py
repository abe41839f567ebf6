"""Which broker a file belongs to: what it says of itself first, then what lies beside it, folder names last."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import polars as pl

from forensics.case.printers import several
from parsers.read import FileReading
from parsers.schema import Kind
from parsers.sources import Source

_FOLDER = re.compile(
    r"(?:broker|kafka|(?<![a-z])(?:node|controller|server))[-_.]?([0-9]{1,9})"
    r"(?:(?:\.(?:tar|tgz|zip|gz|zst|lz4|bz2|xz|tbz2|txz|tzst))+!)?$",
    re.IGNORECASE,
)
"""Folder of a broker, or an archive in place of one. A ``kraftcontroller-0`` of Confluent for Kubernetes has another
id, a ``webserver-1`` is none."""
_LOG_DIR = re.compile(r"/data(?:-[0-9]{1,4})?/kafka-log([0-9]{1,9})(?:/|$)")
"""Log directory of a broker that Strimzi runs, named after its id."""
_POD = re.compile(r"^[a-z0-9.-]+_([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-[0-9]{1,9})_[0-9a-f-]{32,36}$")
"""Folder of a pod's logs on its node: namespace_pod_uid, of a stateful pod with its number."""

_ENDINGS = re.compile(
    r"(?:[-_.](?:kafka|previous|prev|current|stdout|stderr|console|server|properties|config))?"
    r"(?:\.(?:log|txt|out|cfg|conf|properties|previous|prev|old)|\.[0-9]{1,3}|\.[0-9]{4}-[0-9-]+)*$",
    re.IGNORECASE,
)
_INSTALLED = frozenset(
    ("etc", "var", "opt", "srv", "usr", "home", "mnt", "data", "config", "conf", "configs", "logs", "log", "kafka")
)
"""Folders of one host or of one installation: what lies in two of them, side by side, is of one broker."""


def owners(files: Sequence[tuple[Source, FileReading]]) -> tuple[list[int | None], list[str | None]]:
    """The broker and the cluster of each file; None where nothing tells.

    Evidence, strongest first: ``meta.properties`` of the directory (KIP-78 cluster.id, broker.id or node.id), the ids a
    log prints of its own broker, ``server.properties`` beside it, a file of the same pod (``my-cluster-kafka-2.cfg``,
    ``my-cluster-kafka-2-kafka.log.0`` as Strimzi's report.sh calls them), settings elsewhere on the same host
    (``host/etc``, ``host/var``), another log in the same folder, the name of folder, pod or file.
    """
    own = [_own_word(reading) for _, reading in files]
    shared = [_shared(reading) for _, reading in files]
    meta: dict[str, tuple[int | None, str | None]] = {}
    config: dict[str, set[int]] = {}
    spoken: dict[str, set[int]] = {}
    pods: dict[str, set[int]] = {}
    hosts: dict[str, set[int]] = {}
    for (source, reading), word in zip(files, own, strict=True):
        folder = str(PurePosixPath(source.path).parent)
        if reading.format == "meta-properties":
            meta[folder] = (_id(reading.properties), reading.properties.get("cluster.id"))
        elif reading.format == "server-properties":
            number = _id(reading.properties)
            if number is not None:
                config.setdefault(folder, set()).add(number)
                pods.setdefault(_stem(source), set()).add(number)
                for host, inside in _hosts(source):
                    if inside in _INSTALLED:
                        hosts.setdefault(host, set()).add(number)
        elif word is not None:
            spoken.setdefault(folder, set()).add(word)
            pods.setdefault(_stem(source), set()).add(word)
    brokers: list[int | None] = []
    clusters: list[str | None] = []
    for (source, reading), word, everyones in zip(files, own, shared, strict=True):
        above = [str(folder) for folder in PurePosixPath(source.path).parents]
        broker, cluster = next((meta[folder] for folder in above if folder in meta), (None, None))
        if reading.format == "server-properties":
            broker = _id(reading.properties)
        if cluster is None:
            cluster = _own_cluster(reading)
        if broker is None:
            broker = word
        if broker is None:
            broker = next(_guesses(source, above, config, pods, hosts, spoken), None)
        brokers.append(None if everyones else broker)
        clusters.append(cluster)
    return brokers, _spread(files, brokers, clusters)


def _spread(
    files: Sequence[tuple[Source, FileReading]], brokers: Sequence[int | None], clusters: Sequence[str | None]
) -> list[str | None]:
    """The cluster of each file: as said, else that of what lies nearest, else that of its broker's other files.

    One cluster in the case is everyone's; of several, a file that nothing places belongs to none.
    """
    everyone = {cluster for cluster in clusters if cluster is not None}
    if len(everyone) < 2:
        return [next(iter(everyone), None)] * len(clusters)
    below: dict[str, set[str]] = {}
    mine: dict[int | None, set[str]] = {}
    for (source, _), broker, cluster in zip(files, brokers, clusters, strict=True):
        if cluster is not None:
            mine.setdefault(broker, set()).add(cluster)
            for folder in PurePosixPath(source.path).parents:
                below.setdefault(str(folder), set()).add(cluster)
    result: list[str | None] = []
    for (source, _), broker, cluster in zip(files, brokers, clusters, strict=True):
        if cluster is None:
            above = (str(folder) for folder in PurePosixPath(source.path).parents)
            near = next((below[folder] for folder in above if folder in below), set())
            choice = near if len(near) == 1 else mine.get(broker, set()) & near if broker is not None else set()
            cluster = next(iter(choice)) if len(choice) == 1 else None
        result.append(cluster)
    return result


def _guesses(
    source: Source,
    above: Sequence[str],
    config: dict[str, set[int]],
    pods: dict[str, set[int]],
    hosts: dict[str, set[int]],
    spoken: dict[str, set[int]],
) -> Iterator[int]:
    """Whose a file is by what lies around it, and at last by its name; the likeliest first."""
    installed = [host for host, inside in _hosts(source) if inside in _INSTALLED]
    for told in (
        _nearest(above, config),
        _nearest([_stem(source)], pods),
        _nearest(installed, hosts),
        _nearest(above[:1], spoken),
        _nearest(above, spoken),
        int(found[1]) if (found := _LOG_DIR.search(source.path)) else None,
        next((int(m[1]) for f in above if (m := _FOLDER.search(PurePosixPath(f).name))), None),
        next((int(m[1].rpartition("-")[2]) for f in above if (m := _POD.match(PurePosixPath(f).name))), None),
        _named(source),
    ):
        if told is not None:
            yield told


def _stem(source: Source) -> str:
    """Path without what tells one file of a pod, or of one log, from another."""
    path = PurePosixPath(source.path)
    folder = path.parent.parent if path.parent.name in ("podlogs", "configs") else path.parent
    return str(folder / _ENDINGS.sub("", source.name, count=1))


def _named(source: Source) -> int | None:
    """The number of a stateful pod that a file is named after: ``my-cluster-kafka-2.log``, or of any pool of brokers
    where the container is named too, ``my-cluster-pool-2-kafka.log``.
    """
    stem = _ENDINGS.sub("", source.name, count=1)
    found = re.search(r"(?:broker|kafka|(?<![a-z])(?:node|controller))-([0-9]{1,4})$", stem)
    if found is None and source.name.startswith(f"{stem}-kafka."):
        found = re.search(r"-([0-9]{1,4})$", stem)
    return int(found[1]) if found and not re.match(r"(?:19|20)[0-9]{2}$", found[1]) else None  # a year is no broker


def _hosts(source: Source) -> Iterator[tuple[str, str]]:
    """Each folder above a file, the nearest first, with the folder in it that leads to the file."""
    below = PurePosixPath(source.path).parent
    for folder in below.parents:
        yield str(folder), below.name
        below = folder


def _id(properties: dict[str, str]) -> int | None:
    for key in ("node.id", "broker.id"):
        value = properties.get(key, "").strip()
        if value.isdigit():
            return int(value)
    return None


def _own_word(reading: FileReading) -> int | None:
    """The broker whose output a log is: the id in its lines' prefixes, or in its dump of the configuration."""
    rows = reading.observations
    if reading.format != "broker-log" or rows.is_empty() or several(rows):
        return None
    dumped = rows.filter(pl.col("kind") == Kind.BROKER_CONFIG.value).get_column("detail").to_list()
    votes: Counter[int] = Counter()
    for detail in dumped:
        key, _, value = detail.partition("=")
        if key in ("broker.id", "node.id") and value.strip().isdigit():
            votes[int(value)] += 1
    if votes:
        return votes.most_common(1)[0][0]
    printed = rows.get_column("witness").drop_nulls()
    return int(printed.value_counts(sort=True).row(0)[0]) if printed.len() else None


def _shared(reading: FileReading) -> bool:
    """Whether a log holds the lines of several brokers: then it is no one's."""
    return reading.format == "broker-log" and not reading.observations.is_empty() and several(reading.observations)


def _own_cluster(reading: FileReading) -> str | None:
    """The cluster whose id a log prints, or a trace states; None where it prints none, or several."""
    rows = reading.observations
    if reading.format not in ("broker-log", "trace") or rows.is_empty():
        return None
    told = rows.filter(pl.col("kind") == Kind.BROKER_CLUSTER.value).get_column("detail").drop_nulls().unique()
    return str(told[0]) if told.len() == 1 else None


def _nearest(folders: Sequence[str], known: dict[str, set[int]]) -> int | None:
    for folder in folders:
        found = known.get(folder)
        if found is not None:
            return next(iter(found)) if len(found) == 1 else None
    return None
