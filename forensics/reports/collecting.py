"""The files to collect to answer open questions: each want once, and a command for each broker."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forensics.case import Origin
from forensics.case.trace_clusters import cluster_text
from forensics.reports.titles import node_name
from forensics.result import Partition, Result
from forensics.rules.finding import Verdict, brokers_text
from forensics.rules.wants import Artefact, Want

LOGS, DATA = "LOG_FOLDER", "DATA_FOLDER"
"""Folders that the evidence does not name; the operator writes the real ones."""

NAMED = 8  # partitions in one command

_PATHS: Mapping[Artefact, str] = {
    Artefact.SERVER_LOG: f"{LOGS}/server.log*",
    Artefact.STATE_CHANGE_LOG: f"{LOGS}/state-change.log*",
    Artefact.METADATA_LOG: f"{DATA}/__cluster_metadata-0",
    Artefact.HW_CHECKPOINT: f"{DATA}/replication-offset-checkpoint",
    Artefact.RECOVERY_CHECKPOINT: f"{DATA}/recovery-point-offset-checkpoint",
    Artefact.CLEANER_CHECKPOINT: f"{DATA}/cleaner-offset-checkpoint",
    Artefact.CHECKPOINTS: f"{DATA}/*-checkpoint",
}
"""Files that do not belong to one partition."""

_OF_PARTITION = frozenset({Artefact.SEGMENTS, Artefact.DATA_DIRECTORY, Artefact.EPOCH_CHECKPOINT, Artefact.LISTING})
"""Files in the folder of the partition."""


_OF_THEN = frozenset({Artefact.PARTITION_LOGGER, Artefact.FETCHER_LOGGER})
"""Lines that a broker logs only if somebody had set the level before. What else would answer is gone too."""

COLLECT, SAVED = (
    "Collect this to get an answer:",
    "This helps too, if somebody saved it then:",
)
"""Headings of what can still be collected, and of what may not exist."""


def only_if_saved(want: Want) -> bool:
    """Return whether an answer is in logs or copies of that time, which cannot be made now."""
    of_then = not _OF_THEN.isdisjoint(want.artefacts) and Artefact.SERVER_LOG not in want.artefacts
    return of_then and want.origin is Origin.FILES


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something to collect, and the partitions that need it."""

    want: Want
    partitions: tuple[Partition, ...]

    @property
    def by_use(self) -> tuple[object, ...]:
        """Sort key: what most partitions need comes first."""
        return (_of_kafka(self.partitions), -len(self.partitions))


def wanted(result: Result) -> list[Wanted]:
    """Return what would answer the open questions, what most partitions need first, Kafka's own topics last."""
    found: dict[Want, dict[tuple[object, ...], Partition]] = {}
    for partition in result.partitions:
        if partition.history.incarnation:
            continue  # an earlier incarnation of a topic: its files are legitimately gone
        key = partition.order
        for judgement in partition.judgements.values():
            if judgement.verdict is Verdict.UNKNOWN:
                for want in judgement.missing:
                    found.setdefault(want, {})[key] = partition
    every = [Wanted(want, tuple(uses.values())) for want, uses in found.items()]
    return sorted(every, key=lambda one: (*one.by_use, one.want.order))


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command that collects evidence.

    Attributes:
        where: the broker to run it on.
        line: the command.
    """

    where: str
    line: str


def commands(result: Result, found: Sequence[Wanted]) -> list[Command]:
    """Return a shell command for each broker that packs what is wanted of it, to be run on that broker.

    There is none for a partition of which traces are the only evidence: its wants are lines of a trace.
    """
    paths: dict[tuple[str, int], dict[str, None]] = {}
    of_files = [one for one in found if one.want.origin is Origin.FILES]
    fetched = [(one, way) for one in of_files if not only_if_saved(one.want) for way in one.want.ways[:1]]
    each = [(part, way, broker) for one, way in fetched for part in one.partitions for broker in way.brokers]
    for partition, way, broker in each:
        mine = paths.setdefault((partition.history.cluster or "", broker), {})
        mine.update(dict.fromkeys(_paths(way.artefacts, partition)))
    several = len({cluster for cluster, _ in paths}) > 1
    return [
        Command(
            f"on {_node(result, cluster, broker)}{f' of {cluster_text(cluster)}' if several else ''}",
            f"tar czf broker-{broker}.tgz {' '.join(_shortened(tuple(named)))}",
        )
        for (cluster, broker), named in sorted(paths.items())
        if named
    ]


def _node(result: Result, cluster: str, node: int) -> str:
    """Return the name of a node: a controller of KRaft is no broker."""
    return next(
        (node_name(one) for one in result.case.everyone if one.id == node and (one.cluster or "") == cluster),
        brokers_text([node]),
    )


_FOLDERS = (
    (DATA, "each folder in log.dirs of server.properties"),
    (LOGS, "the folder of server.log"),
)
"""The folders of a broker for which a command has a name."""


def where(shell: Sequence[Command]) -> str:
    """Return how to run commands that collect evidence, as a sentence."""
    one = len(shell) == 1
    which = f"{'This command collects' if one else 'These commands collect'} the files above that are on brokers"
    run = "Run it on the broker or controller that it names" if one else "Run each on the broker or controller named"
    folders = "; ".join(f"{name} is {what}" for name, what in _FOLDERS if any(name in one.line for one in shell))
    return f"{which}. {run}. {folders}:"


def _paths(artefacts: Sequence[Artefact], partition: Partition) -> list[str]:
    named = [_PATHS[what] for what in artefacts if what in _PATHS]
    if _OF_PARTITION.intersection(artefacts):
        named += [f"{DATA}/{shlex.quote(partition.history.name)}", f"{DATA}/*-checkpoint"]
    return named


def _shortened(paths: tuple[str, ...]) -> list[str]:
    """Return the paths, of many partitions all of the data folder, and no file that a pattern covers too."""
    ordered = sorted(paths)
    folders = [path for path in ordered if path.startswith(DATA) and not path.endswith("-checkpoint")]
    if len(folders) > NAMED:
        return [*(path for path in ordered if not path.startswith(DATA)), DATA]
    everything = f"{DATA}/*-checkpoint" in ordered
    return [
        path for path in ordered if not (everything and path.endswith("-checkpoint") and path != f"{DATA}/*-checkpoint")
    ]


def _of_kafka(partitions: Sequence[Partition]) -> bool:
    return all(one.history.topic.startswith("__") for one in partitions)
