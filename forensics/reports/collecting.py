"""The files to collect to answer open questions: each want once, and a command for each broker."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forensics.case import Origin
from forensics.case.brokers import Broker
from forensics.case.trace_clusters import cluster_text
from forensics.reports.titles import node_name
from forensics.result import Partition, Result
from forensics.rules.finding import Verdict, brokers_text
from forensics.rules.wants import Artefact, Collect, Want

LOGS, DATA = "LOG_FOLDER", "DATA_FOLDER"
"""Folders that the evidence does not name; the operator writes the real ones."""

NAMED = 8  # partitions in one command

_File = tuple[str, str]
"""A folder, and what is collected from it: a name or a pattern of a shell."""

_EVERY_CHECKPOINT: _File = (DATA, "*-checkpoint")

_FILES: Mapping[Artefact, _File] = {
    Artefact.SERVER_LOG: (LOGS, "server.log*"),
    Artefact.STATE_CHANGE_LOG: (LOGS, "state-change.log*"),
    Artefact.METADATA_LOG: (DATA, "__cluster_metadata-0"),
    Artefact.HW_CHECKPOINT: (DATA, "replication-offset-checkpoint"),
    Artefact.RECOVERY_CHECKPOINT: (DATA, "recovery-point-offset-checkpoint"),
    Artefact.CLEANER_CHECKPOINT: (DATA, "cleaner-offset-checkpoint"),
    Artefact.CHECKPOINTS: _EVERY_CHECKPOINT,
}
"""Files that do not belong to one partition."""

_OF_PARTITION = frozenset({Artefact.SEGMENTS, Artefact.DATA_DIRECTORY, Artefact.EPOCH_CHECKPOINT, Artefact.LISTING})
"""Files in the folder of the partition."""


_OF_THEN = frozenset({Artefact.PARTITION_LOGGER, Artefact.FETCHER_LOGGER})
"""Lines that a broker logs only if somebody had set the level before. What else would answer is gone too."""

COLLECT, SAVED = (
    "Collect this to get an answer:",
    "This helps too, only if somebody saved it at that time:",
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
    partitions: Sequence[Partition]

    @property
    def by_use(self) -> tuple[object, ...]:
        """Sort key: what most partitions need comes first."""
        return (_of_kafka(self.partitions), -len(self.partitions))


def wanted(result: Result) -> list[Wanted]:
    """Return what would answer the open questions, what most partitions need first, Kafka's own topics last."""
    asking: dict[Want, list[int]] = {}
    for number, same in enumerate(result.same_answers):
        for want in _wants(same.first):
            asking.setdefault(want, []).append(number)
    every = [Wanted(want, result.members(tuple(groups))) for want, groups in asking.items()]
    return sorted(every, key=lambda one: (*one.by_use, one.want.order))


def _wants(partition: Partition) -> list[Want]:
    """Return what would answer the open questions about a partition, each once.

    Of an earlier incarnation of a topic nothing is wanted: its files are legitimately gone.
    """
    if partition.history.incarnation:
        return []
    open_ = (one for one in partition.judgements.values() if one.verdict is Verdict.UNKNOWN)
    return list(dict.fromkeys(want for one in open_ for want in one.missing))


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
    files: dict[tuple[str, int], dict[_File, None]] = {}
    of_files = [one for one in found if one.want.origin is Origin.FILES and not only_if_saved(one.want)]
    fetched = {(way, id(one.partitions)): one.partitions for one in of_files for way in one.want.ways[:1]}
    for (way, _), partitions in fetched.items():
        for broker, partition in itertools.product(way.brokers, _named(way, partitions)):
            mine = files.setdefault((partition.history.cluster or "", broker), {})
            mine.update(dict.fromkeys(_files(way.artefacts, partition)))
    several = len({cluster for cluster, _ in files}) > 1
    return [
        Command(
            f"on {_node(result, cluster, broker)}{f' of {cluster_text(cluster)}' if several else ''}",
            _line(f"broker-{broker}.tgz", _shortened(sorted(named)), _folders(result, cluster, broker)),
        )
        for (cluster, broker), named in sorted(files.items())
        if named
    ]


def _named(way: Collect, partitions: Sequence[Partition]) -> Iterable[Partition]:
    """Return the partitions that a command names because of one way to an answer: of each cluster the first ones.

    There is one more than a command names, which then packs the whole folder.
    """
    most = NAMED + 1 if _OF_PARTITION.intersection(way.artefacts) else 1
    if len(partitions) <= most:
        return partitions
    of_cluster: dict[str, list[Partition]] = {}
    for one in partitions:
        of_cluster.setdefault(one.history.cluster or "", []).append(one)
    return [one for found in of_cluster.values() for one in _first_named(found, most)]


def _first_named(partitions: Sequence[Partition], most: int) -> list[Partition]:
    """Return the first partitions with different names: those of earlier topics of one name share a folder."""
    found: dict[str, Partition] = {}
    for one in partitions:
        found.setdefault(one.history.name, one)
        if len(found) == most:
            break
    return list(found.values())


def _known(result: Result, cluster: str, node: int) -> Broker | None:
    return next((one for one in result.case.everyone if one.id == node and (one.cluster or "") == cluster), None)


def _node(result: Result, cluster: str, node: int) -> str:
    """Return the name of a node: a controller of KRaft is no broker."""
    known = _known(result, cluster, node)
    return node_name(known) if known is not None else brokers_text([node])


def _folders(result: Result, cluster: str, broker: int) -> list[str]:
    """Return the data folders of a broker that its evidence states, all of them, as a shell reads them.

    That is ``log.dirs`` as it printed it last, else of its configuration, where without it ``log.dir`` holds
    (kafka.server.KafkaConfig, logDirs); and ``metadata.log.dir``, if it is set. A report without names has none.
    """
    node = _known(result, cluster, broker)
    if node is None or result.redacted:
        return []
    configured = [node.settings.get(name, "null") for name in ("log.dirs", "log.dir", "metadata.log.dir")]
    printed, beside = [value for _, value in node.log_dirs[-1:]], configured.pop()
    stated = [value for value in (*printed, *configured) if value != "null"][:1]
    stated += [beside] if beside != "null" else []
    folders = dict.fromkeys(folder.strip() for value in stated for folder in value.split(","))
    return [shlex.quote(folder) for folder in folders if folder]


def log_folders(result: Result, *, controllers: bool) -> list[str]:
    """Return the log directories of all brokers that the evidence states, each path once; or of controllers too."""
    nodes = [one for one in result.case.everyone if controllers or not one.only_controls]
    every = (_folders(result, one.cluster or "", one.id) for one in nodes)
    return list(dict.fromkeys(itertools.chain.from_iterable(every)))


def _line(archive: str, files: Sequence[_File], folders: Sequence[str]) -> str:
    """Return the command that packs files of one broker: of each of its data folders those that are there.

    Args:
        archive: name of the file that it makes.
        files: what to collect.
        folders: the broker's data folders, if they are known.
    """
    names = [name for folder, name in files if folder == DATA]
    others = [f"{folder}/{name}" for folder, name in files if folder != DATA]
    if len(folders) == 1 or not names or "" in names:
        inside = [f"{folder}/{name}".rstrip("/") for folder in folders or [DATA] for name in names]
        return f"tar czf {archive} {' '.join((*others, *inside))}"
    which = " -o ".join(f"-name {shlex.quote(name)}" for name in names)
    found = rf"find {' '.join(folders) or DATA} -maxdepth 1 \( {which} \) -print0"
    return f"{found} | tar czf {' '.join((archive, '--null -T -', *others))}"


_FOLDERS = (
    (DATA, "the folder in log.dirs of server.properties; of several, all of them with spaces between them"),
    (LOGS, "the folder of server.log"),
)
"""The folders of a broker for which a command has a name."""


def where(shell: Sequence[Command]) -> str:
    """Return how to run commands that collect evidence, as a sentence."""
    which, run, archive = (
        ("This command collects", "Run it on the host", "file")
        if len(shell) == 1
        else ("These commands collect", "Run each on the host", "files")
    )
    folders = "; ".join(f"{name} is {what}" for name, what in _FOLDERS if any(name in one.line for one in shell))
    return (
        f"{which} the files above that are on brokers, which is no full copy. {run} named, perhaps with sudo; a broker "
        f"may run meanwhile. Then put the .tgz {archive} beside this evidence, and scan both"
        f"{f'. {folders}' if folders else ''}:"
    )


def _files(artefacts: Sequence[Artefact], partition: Partition) -> list[_File]:
    named = [_FILES[what] for what in artefacts if what in _FILES]
    if _OF_PARTITION.intersection(artefacts):
        named += [(DATA, shlex.quote(partition.history.name)), _EVERY_CHECKPOINT]
    return named


def _shortened(files: Sequence[_File]) -> list[_File]:
    """Return the files, of many partitions the data folder itself, and no file that a pattern covers too."""
    whole = [one for one in files if one[0] == DATA and not one[1].endswith("-checkpoint")]
    if len(whole) > NAMED:
        return [*(one for one in files if one[0] != DATA), (DATA, "")]
    everything = _EVERY_CHECKPOINT in files
    return [one for one in files if not (everything and one[1].endswith("-checkpoint") and one != _EVERY_CHECKPOINT)]


def _of_kafka(partitions: Sequence[Partition]) -> bool:
    return all(one.history.topic.startswith("__") for one in partitions)
