"""Broker of each file: what the file states itself comes first, then files near it, folder names last."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

import polars as pl

from forensics.case.printers import printer
from forensics.case.trace_clusters import OTHER_FILES, ToldApart, told_apart
from parsers.encodings.checkpoint_file import INT32_MAX, integer
from parsers.excerpts.pieces import is_piece
from parsers.files.sources import Source, folder_of, folders_of, name_of
from parsers.formats.dump_log_text import NAME as DUMP
from parsers.read import FileReading
from parsers.schema import Kind
from parsers.text.shared_output import is_part

_T = TypeVar("_T")

_FOLDER = re.compile(
    r"(?:broker|kafka|(?<![a-z])(?:node|controller|server))[-_.]?([0-9]{1,9})"
    r"(?:(?:\.(?:tar|tgz|zip|gz|zst|lz4|bz2|xz|tbz2|txz|tzst))+!)?$",
    re.IGNORECASE,
)
"""Folder of a broker, or an archive in place of one. A ``kraftcontroller-0`` of Confluent for Kubernetes has another
id, a ``webserver-1`` is none.
"""
_TICKET = re.compile(r"KAFKA-?[0-9]{4,5}(?![0-9])")
"""Folder of what was collected for a ticket of Kafka's, which is written in capitals, or copied out of one."""
_LOG_DIR = re.compile(r"/data(?:-[0-9]{1,4})?/kafka-log([0-9]{1,9})(?:/|$)")
"""Log directory of a broker that Strimzi runs, named after its id."""
_POD = re.compile(r"^[a-z0-9.-]+_([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?-[0-9]{1,9})_[0-9a-f-]{32,36}$")
"""Folder of a pod's logs on its node: namespace_pod_uid, of a stateful pod with its number."""

_ENDINGS = re.compile(
    r"(?:[-_.](?:kafka|previous|prev|current|stdout|stderr|console|server|properties|config))?"
    r"(?:\.(?:log|txt|out|cfg|conf|properties|previous|prev|old)|\.[0-9]{1,3}|\.[0-9]{4}-[0-9-]+)*$",
    re.IGNORECASE,
)
_WRITER = re.compile(r"(?:broker|kafka|node|server|controller|replica)[-_. #]?([0-9]{1,4})(?![0-9])", re.IGNORECASE)
"""A broker's number in what people call the source of a line."""
_DUMPED_ON = re.compile(rf"{_WRITER.pattern}(?!\.[0-9])", re.IGNORECASE)
"""The same in the name of a file, where it is no release: ``kafka-3.9.1.txt``."""
_INSTALLED = frozenset(
    ("etc", "var", "opt", "srv", "usr", "home", "mnt", "data", "config", "conf", "configs", "logs", "log", "kafka")
)
"""Folders of one host or installation: files in two of them, side by side, are of one broker."""


def owners(files: Sequence[tuple[Source, FileReading]]) -> tuple[list[int | None], list[str | None]]:
    """Return the broker and the cluster of each file; None if unknown.

    Evidence, strongest first: ``meta.properties`` of the directory (KIP-78 cluster.id, broker.id or node.id), then the
    ids that a log prints of its own broker, then ``server.properties`` beside it. After these come a file of the same
    pod (``my-cluster-kafka-2.cfg``, ``my-cluster-kafka-2-kafka.log.0`` from Strimzi's report.sh) and settings elsewhere
    on the same host (``host/etc``, ``host/var``). The last are another log in the same folder, and the name of folder,
    pod or file. The output of kafka-dump-log states nothing of its broker, so any name with the broker's number counts.
    """
    words = _words(files)
    folders = [_above(source) for source, _ in files]
    meta = {
        above[0]: (_id(reading.properties), reading.properties.get("cluster.id"))
        for (_, reading), above in zip(files, folders, strict=True)
        if reading.format == "meta-properties"
    }
    around = _Around.of(files, words, folders)
    brokers: list[int | None] = []
    clusters: list[str | None] = []
    for (source, reading), word, above in zip(files, words, folders, strict=True):
        of_directory, cluster = next((meta[folder] for folder in above if folder in meta), (None, None))
        stated = _id(reading.properties) if reading.format == "server-properties" else of_directory
        known = around.owner(source, above, stated, word)
        brokers.append(_of_dump(source, reading) if known is None and not word.shared else known)
        clusters.append(word.cluster if cluster is None else cluster)
    return brokers, _spread(files, brokers, told_apart(files, brokers, clusters))


def _spread(
    files: Sequence[tuple[Source, FileReading]], brokers: Sequence[int | None], told: ToldApart
) -> list[str | None]:
    """Return the cluster of each file: its own, else that of the nearest files, else that of its broker's other files.

    If the case has one cluster, it is everyone's. If it has several, a file without evidence belongs to none. A trace
    that is told apart by its file shows no cluster of the files around it.
    """
    clusters = told.clusters
    everyone = {cluster for cluster in clusters if cluster is not None}
    if len(everyone) < 2 and not told.named:
        return [next(iter(everyone), None)] * len(clusters)
    known = _Known.of(files, brokers, told)
    found = [
        known.likely(source, broker) if cluster is None else cluster
        for (source, _), broker, cluster in zip(files, brokers, clusters, strict=True)
    ]
    rest = OTHER_FILES if len({*found} - {None}) < 2 else None
    return [rest if cluster is None else cluster for cluster in found]


@dataclass(slots=True)
class _Known:
    """The clusters of files that name theirs.

    A cluster that no file names is that of the folder of its traces alone.

    Attributes:
        by_folder: clusters of the files below each folder.
        by_broker: clusters of the files of each known broker.
        brokers: known brokers of each cluster.
        homes: folders that all files of a cluster are below.
    """

    by_folder: dict[str, set[str]] = field(default_factory=dict)
    by_broker: dict[int, set[str]] = field(default_factory=dict)
    brokers: dict[str, set[int]] = field(default_factory=dict)
    homes: dict[str, set[str]] = field(default_factory=dict)

    @staticmethod
    def of(files: Sequence[tuple[Source, FileReading]], brokers: Sequence[int | None], told: ToldApart) -> _Known:
        """Collect what all files name."""
        known = _Known()
        for number, ((source, _), broker, cluster) in enumerate(zip(files, brokers, told.clusters, strict=True)):
            if cluster is None or number in told.alone:
                continue
            if broker is not None:
                known.by_broker.setdefault(broker, set()).add(cluster)
                known.brokers.setdefault(cluster, set()).add(broker)
            above = _above(source)
            known.homes.setdefault(cluster, {*above}).intersection_update(above)
            for folder in above[: 1 if number in told.named else None]:
                known.by_folder.setdefault(folder, set()).add(cluster)
        return known

    def likely(self, source: Source, broker: int | None) -> str | None:
        """Return the only cluster of the nearest files; if they are of several, the only one that its broker is in too.

        Not one of several brokers with a folder of its own: that has its own files of the broker, and this is not one.
        """
        above = _above(source)
        near = next((self.by_folder[folder] for folder in above if folder in self.by_folder), set())
        if len(near) == 1 or broker is None:
            return _only(near)
        both = self.by_broker.get(broker, set()) & near
        return _only({one for one in both if len(self.brokers[one]) < _SEVERAL or self.homes[one] <= {*above}})


_SEVERAL: Final = 2


def _only(found: set[_T]) -> _T | None:
    """Return the member of a set of one; None for any other set."""
    return next(iter(found)) if len(found) == 1 else None


@dataclass(slots=True)
class _Around:
    """Evidence about files that do not name their broker.

    Attributes:
        config, spoken: brokers named by settings and by logs, by folder.
        pods: brokers named by files of a pod, by their common path.
        hosts: brokers named by settings of a host, by folder.
        misleading: texts of several writers whose names have other numbers than their brokers.
    """

    config: dict[str, set[int]] = field(default_factory=dict)
    spoken: dict[str, set[int]] = field(default_factory=dict)
    pods: dict[str, set[int]] = field(default_factory=dict)
    hosts: dict[str, set[int]] = field(default_factory=dict)
    misleading: set[str] = field(default_factory=set)

    @staticmethod
    def of(
        files: Sequence[tuple[Source, FileReading]], words: Sequence[_Word], folders: Sequence[Sequence[str]]
    ) -> _Around:
        """Collect what all files show about those around them."""
        around = _Around(misleading=_misleading(files, words))
        for (source, reading), word, (folder, *_) in zip(files, words, folders, strict=True):
            if reading.format == "server-properties":
                around._configured(source, folder, _id(reading.properties))
            elif reading.format != "meta-properties" and word.broker is not None and not _of_several(source):
                around.spoken.setdefault(folder, set()).add(word.broker)
                around.pods.setdefault(_stem(source), set()).add(word.broker)
        return around

    def _configured(self, source: Source, folder: str, number: int | None) -> None:
        if number is None:
            return
        self.config.setdefault(folder, set()).add(number)
        self.pods.setdefault(_stem(source), set()).add(number)
        for host, inside in _hosts(source):
            if inside in _INSTALLED:
                self.hosts.setdefault(host, set()).add(number)

    def owner(self, source: Source, above: tuple[str, ...], stated: int | None, word: _Word) -> int | None:
        """Return the broker of a file, or None. A log of several brokers has none.

        Args:
            source: the file.
            above: its folders, the nearest first.
            stated: broker that the properties of its directory, or its own settings, state.
            word: statements of the file about itself.
        """
        if word.shared:
            return None
        known = word.broker if stated is None else stated
        return self.broker(source, above) if known is None else known

    def broker(self, source: Source, above: tuple[str, ...]) -> int | None:
        """Return the most likely broker of a file, or None.

        Other parts of the same text are no evidence for a part. Its name is no evidence if names mislead.
        """
        several = _of_several(source)
        named = not (several and _container(source) in self.misleading)
        if not named:
            above = tuple(folder for folder in above if "!" not in folder)
        beside: dict[str, set[int]] = {} if several else self.spoken
        pods: dict[str, set[int]] = {} if several else self.pods
        guesses: tuple[Callable[[], int | None], ...] = (
            lambda: _nearest(above, self.config),
            lambda: _nearest([_stem(source)], pods) if pods else None,
            lambda: _nearest(_installed_below(source.folder), self.hosts),
            lambda: _nearest(above[:1], beside),
            lambda: _nearest(above, beside),
            lambda: _of_log_directory(source),
            lambda: by_folder(above),
            lambda: _of_pod(above),
            lambda: _named(source) if named else None,
        )
        return next((told for guess in guesses if (told := guess()) is not None), None)


def _of_log_directory(source: Source) -> int | None:
    found = _LOG_DIR.search(source.path)
    return int(found[1]) if found is not None else None


@functools.lru_cache(maxsize=1024)
def _of_pod(above: tuple[str, ...]) -> int | None:
    """Return the broker whose pod the nearest folder above a file is named after."""
    pods = (_POD.match(name_of(folder)) for folder in above)
    return next((int(found[1].rpartition("-")[2]) for found in pods if found is not None), None)


@functools.lru_cache(maxsize=1024)
def by_folder(above: tuple[str, ...]) -> int | None:
    """Return the broker that the nearest folder above a file is named after; cached, because many files share one."""
    names = [name for name in map(name_of, above) if not _TICKET.match(name)]
    return next((int(m[1]) for name in names if (m := _FOLDER.search(name))), None)


def _stem(source: Source) -> str:
    """Return the path without what distinguishes files of one pod, or of one log."""
    folder = folder_of(source.folder) if source.parent in ("podlogs", "configs") else source.folder
    return f"{folder}/{_ENDINGS.sub('', source.name, count=1)}"


def _named(source: Source) -> int | None:
    """The number of a stateful pod that a file is named after: ``my-cluster-kafka-2.log``, or of any pool of brokers
    where the container is named too, ``my-cluster-pool-2-kafka.log``. Else the number in the name of the writer of
    all its lines, by a collector's prefix.
    """
    if is_piece(source):
        writer = _WRITER.search(source.path.rpartition("!/")[2]) if "!/" in source.path else None
        return int(writer[1]) if writer is not None else None
    stem = _ENDINGS.sub("", source.name, count=1)
    found = re.search(r"(?:broker|kafka|(?<![a-z])(?:node|controller))-([0-9]{1,4})$", stem)
    if found is None and source.name.startswith(f"{stem}-kafka."):
        found = re.search(r"-([0-9]{1,4})$", stem)
    if found is None:
        found = _WRITER.search(source.writer)
    return int(found[1]) if found and not re.match(r"(?:19|20)[0-9]{2}$", found[1]) else None  # a year is no broker


def _of_dump(source: Source, reading: FileReading) -> int | None:
    """Return the broker that a text of kafka-dump-log is named after, as ``broker1-orders-0.txt``, or None."""
    if reading.format != DUMP:
        return None
    name = name_of(source.path.rpartition("!/")[0] or source.path)
    if reading.topic is not None:  # a topic may be called so
        name = name.replace(f"{reading.topic}-{reading.partition}", "")
    return _only({int(number) for number in _DUMPED_ON.findall(name)})


def _of_several(source: Source) -> bool:
    """Return whether it is a part of a text with several writers: ids in other parts are no evidence for it."""
    return is_piece(source) or is_part(source)


def _container(source: Source) -> str | None:
    """The text that a part was taken from; None for a file."""
    return source.path.rpartition("!/")[0] or None if _of_several(source) else None


def _misleading(files: Sequence[tuple[Source, FileReading]], words: Sequence[_Word]) -> set[str]:
    """Return texts whose writers' names have numbers that are not their brokers' ids: a part states another id."""
    found: set[str] = set()
    for (source, _), word in zip(files, words, strict=True):
        text = _container(source) if word.broker is not None else None
        if text is None:
            continue
        above = tuple(folder for folder in _above(source) if "!" in folder)
        called = by_folder(above) if by_folder(above) is not None else _named(source)
        if called not in (None, word.broker):
            found.add(text)
    return found


def _hosts(source: Source) -> tuple[tuple[str, str], ...]:
    """Each folder above a file, the nearest first, with the folder in it that leads to the file."""
    return _hosts_of(_above(source)[0])


@functools.lru_cache(maxsize=1024)
def _hosts_of(folder: str) -> tuple[tuple[str, str], ...]:
    folders = folders_of(folder)
    return tuple((above, name_of(below)) for below, above in pairwise(folders))


@functools.lru_cache(maxsize=1024)
def _installed_below(folder: str) -> tuple[str, ...]:
    """Return the folders above those of an installation through which a path leads to its files."""
    return tuple(host for host, inside in _hosts_of(folder) if inside in _INSTALLED)


def _above(source: Source) -> tuple[str, ...]:
    """Return the folders above a file, the nearest first."""
    return folders_of(source.folder)


def _id(properties: dict[str, str]) -> int | None:
    for key in ("node.id", "broker.id"):
        value = properties.get(key, "").strip()
        if (number := integer(value, most=INT32_MAX)) is not None:
            return number
    return None


class _Word(NamedTuple):
    """Statements of a log about itself.

    Attributes:
        broker: broker that wrote it: the id in its dump of the configuration, or in its lines' prefixes.
        shared: it holds the lines of several brokers.
        cluster: the one cluster whose id it prints.
    """

    broker: int | None = None
    shared: bool = False
    cluster: str | None = None


def _words(files: Sequence[tuple[Source, FileReading]]) -> list[_Word]:
    """Return the statements of each file; computed together, as there may be thousands of small ones."""
    found = [_Word()] * len(files)
    logs = [n for n, (_, reading) in enumerate(files) if reading.format in ("broker-log", "trace")]
    readings = {n: files[n][1].observations for n in logs}
    logs = [n for n in logs if readings[n].height]
    if not logs:
        return found
    rows = pl.DataFrame([pl.concat([readings[n].get_column(name) for n in logs]) for name in _WORD_COLUMNS])
    number = pl.DataFrame({"file": logs, "rows": [readings[n].height for n in logs]})
    rows = rows.with_columns(number.select(pl.col("file").repeat_by("rows").explode()).to_series())
    kinds = (Kind.BROKER_CONFIG.value, Kind.BROKER_CLUSTER.value)
    said = rows.filter(pl.col("kind").is_in(kinds)).select("file", "kind", "detail").drop_nulls()
    printers, ids, clusters = _printers(rows), _printed_ids(said), _printed_clusters(said)
    for n in logs:
        cluster = _only(clusters.get(n, set()))
        if files[n][1].format == "trace":
            found[n] = _Word(cluster=cluster)
        else:
            found[n] = _word_of_log(printers.get(n, set()), ids.get(n), cluster)
    return found


def _word_of_log(printers: set[int], ids: Counter[int] | None, cluster: str | None) -> _Word:
    """Return what a broker's log says about itself.

    Args:
        printers: brokers that the prefixes of its lines name.
        ids: how often it states each broker id in its settings; None if it states none.
        cluster: the one cluster whose id it prints.
    """
    if len(printers) > 1:
        return _Word(shared=True, cluster=cluster)
    return _Word(_only(printers) if ids is None else ids.most_common(1)[0][0], cluster=cluster)


_WORD_COLUMNS = ("kind", "witness", "detail")
"""Columns of observations that hold what a log says about itself."""


def _printers(rows: pl.DataFrame) -> dict[int, set[int]]:
    """Return, by file, the brokers that the prefixes of its lines name; ``rows`` has ``file`` and the columns above."""
    found: dict[int, set[int]] = {}
    named = rows.select("file", printer().alias("printer")).drop_nulls().unique()
    for file, broker in named.iter_rows():
        found.setdefault(file, set()).add(broker)
    return found


def _printed_ids(said: pl.DataFrame) -> dict[int, Counter[int]]:
    """Return, by file, how often its dumps of the configuration state each broker id."""
    found: dict[int, Counter[int]] = {}
    for file, detail in _details(said, Kind.BROKER_CONFIG).iter_rows():
        key, _, value = detail.partition("=")
        if key in ("broker.id", "node.id") and (own := integer(value, most=INT32_MAX)) is not None:
            found.setdefault(file, Counter())[own] += 1
    return found


def _printed_clusters(said: pl.DataFrame) -> dict[int, set[str]]:
    """Return, by file, the cluster ids that it prints."""
    found: dict[int, set[str]] = {}
    for file, cluster in _details(said, Kind.BROKER_CLUSTER).iter_rows():
        found.setdefault(file, set()).add(cluster)
    return found


def _details(said: pl.DataFrame, kind: Kind) -> pl.DataFrame:
    return said.filter(pl.col("kind") == kind.value).select("file", "detail")


def _nearest(folders: Sequence[str], known: dict[str, set[int]]) -> int | None:
    return next((_only(known[folder]) for folder in folders if folder in known), None)
