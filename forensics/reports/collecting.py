"""The files to collect to answer open questions: each want once, and a command for each broker."""

from __future__ import annotations

import fnmatch
import itertools
import shlex
import string
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import polars as pl

from forensics.case import Origin, addresses
from forensics.case.brokers import Broker
from forensics.case.trace_clusters import cluster_text
from forensics.replay import protocol
from forensics.replay.protocol import Answer
from forensics.reports.titles import first_names, node_name
from forensics.result import Partition, Result
from forensics.rules.finding import Verdict, all_of, brokers_text
from forensics.rules.wants import Artefact, Collect, Question, Want
from forensics.rules.wording import names_partition, saved_means, want_text
from parsers.formats.consumer_offsets import TOPIC as POSITIONS

LOGS, DATA = "LOG_FOLDER", "DATA_FOLDER"
"""Folders that the evidence does not name; the operator writes the real ones."""

NAMED = 8  # partitions in one command
HOSTS = 8  # in one command

_File = tuple[str, str]
"""A folder, and what is collected from it: a name or a pattern of a shell."""

_EVERY_CHECKPOINT: _File = (DATA, "*-checkpoint")

_WITH_EPOCHS = (2, 1)
"""The first release whose groups commit a leader epoch with a position (KIP-320)."""

_FILES: Mapping[Artefact, _File] = {
    Artefact.SERVER_LOG: (LOGS, "server.log*"),
    Artefact.STATE_CHANGE_LOG: (LOGS, "state-change.log*"),
    Artefact.METADATA_LOG: (DATA, "__cluster_metadata-0"),
    Artefact.HW_CHECKPOINT: (DATA, "replication-offset-checkpoint"),
    Artefact.RECOVERY_CHECKPOINT: (DATA, "recovery-point-offset-checkpoint"),
    Artefact.CLEANER_CHECKPOINT: (DATA, "cleaner-offset-checkpoint"),
    Artefact.CHECKPOINTS: _EVERY_CHECKPOINT,
    Artefact.GROUP_POSITIONS: (DATA, f"{POSITIONS}-*"),
}
"""Files that do not belong to one partition."""

_OF_PARTITION = frozenset({Artefact.SEGMENTS, Artefact.DATA_DIRECTORY, Artefact.EPOCH_CHECKPOINT, Artefact.LISTING})
"""Files in the folder of the partition."""

_BESIDE_PARTITION = _OF_PARTITION | {Artefact.CHECKPOINTS, Artefact.HW_CHECKPOINT, Artefact.RECOVERY_CHECKPOINT}
"""The same, and what is kept beside such folders."""


_FAILED = Artefact.FAILED_LOG_DIRECTORY
_OF_THEN = frozenset({Artefact.PARTITION_LOGGER, Artefact.FETCHER_LOGGER})
"""Lines that a broker logs only if somebody had set the level before. What else would answer is gone too."""

_NAMED = 4
"""Partitions that are named behind what they need; of more, the first."""

_OPTIONAL = "Optional: the high watermark in each checkpoint is 0, so there is most likely nothing in it"
COLLECT, SAVED = (
    "Collect this to get an answer:",
    "This helps too, only if somebody saved it at that time:",
)
"""Headings of what brokers still have, and of what may not exist."""


def only_if_saved(want: Want) -> bool:
    """Return whether an answer is in logs or copies of that time, which cannot be made now."""
    of_then = not _OF_THEN.isdisjoint(want.artefacts) and Artefact.SERVER_LOG not in want.artefacts
    return of_then and want.origin is Origin.FILES


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something to collect, and the partitions that need it.

    Attributes:
        want: what, and for which question.
        partitions: who needs it.
        empty: each of them is empty by its checkpoints, so it can wait.
    """

    want: Want
    partitions: Sequence[Partition]
    empty: bool = False

    @property
    def by_use(self) -> tuple[object, ...]:
        """Sort key: what most partitions need comes first."""
        return (self.empty, _of_kafka(self.partitions), -len(self.partitions))

    def text(self, names: Sequence[str], count: str = "", *, alone: bool = False) -> str:
        """Return what to collect, or ``alone`` what is unknown, as a sentence about one partition or several.

        Args:
            names: of the partitions, each once.
            count: how many these are, if not as ``1,234``.
            alone: only the question, of what exists only if somebody saved it.
        """
        several = (f"{count or f'{len(names):,}'} partitions", "it")
        return want_text(self.want, *(several if len(names) > 1 else names[:1]), alone=alone)

    def named(self, names: Sequence[str], *, alone: bool = False) -> str:
        """Return the same, with the names of the partitions behind it unless the sentence has the only one."""
        text = self.text(names, alone=alone)
        told = len(names) == 1 and names_partition(self.want, alone=alone)
        named = text if told else f"{text} ({first_names(names, _NAMED)})"
        return f"{named}. {_OPTIONAL}" if self.empty and not alone else named


@dataclass(frozen=True, slots=True)
class Saved:
    """The questions that only what somebody saved answers, and what that may be.

    Attributes:
        means: what somebody may have saved, each once, by a letter.
        asked: the letters of what answers some questions, any one of it, and these questions.
    """

    means: Mapping[str, str]
    asked: Sequence[tuple[tuple[str, ...], Sequence[Wanted]]]


def still(found: Iterable[Wanted]) -> list[Wanted]:
    """Return what brokers still have, of what is wanted."""
    return [one for one in found if not only_if_saved(one.want)]


def saved(found: Iterable[Wanted]) -> Saved:
    """Return what exists only if somebody saved it, and the questions that it answers."""
    gone = [one for one in found if only_if_saved(one.want)]
    means = saved_means(_without_still(one.want) for one in gone)
    letters = dict(zip(means, string.ascii_lowercase, strict=False))
    asked: dict[tuple[str, ...], list[Wanted]] = {}
    for one in gone:
        named = (letters[way.artefacts] for way in _without_still(one.want).ways if way.artefacts in letters)
        asked.setdefault(tuple(sorted(named)), []).append(one)
    return Saved({letters[kinds]: text for kinds, text in means.items()}, [*asked.items()])


def _without_still(want: Want) -> Want:
    """Return a want of what somebody saved, without what brokers still have."""
    ways = (replace(way, artefacts=tuple(a for a in way.artefacts if a is not _FAILED)) for way in want.ways)
    return replace(want, ways=tuple(ways))


def answered(letters: Sequence[str], questions: int) -> str:
    """Return that any one of some things answers questions.

    >>> answered(("a",), 1), answered(("b", "c"), 2)
    ('Only a answers this question', 'Either b or c answers each of these questions')
    """
    some = {1: "Only {0}", 2: "Either {0} or {1}"}.get(len(letters), f"Any one of {all_of(letters)}").format(*letters)
    return f"{some} answers {'each of these questions' if questions > 1 else 'this question'}"


def wanted(result: Result) -> list[Wanted]:
    """Return what would answer the open questions, what most partitions need first, Kafka's own topics last."""
    asking: dict[Want, list[int]] = {}
    for number, same in enumerate(result.same_answers):
        for want in _wants(result, same.first):
            asking.setdefault(want, []).append(number)
    gone = [(want, groups) for want, groups in asking.items() if only_if_saved(want)]
    positions, empty = with_positions(result), _without_commits(result)
    for want, groups in gone:
        for number in groups:
            for other in kept(positions, result.same_answers[number].first, want):
                asking.setdefault(other, []).append(number)
    members = {want: result.members(tuple(sorted({*groups}))) for want, groups in asking.items()}
    every = [Wanted(want, found, _empty(found, empty)) for want, found in members.items()]
    return sorted(every, key=lambda one: (*one.by_use, one.want.order))


_KEPT: Mapping[Artefact, tuple[Question, Artefact]] = {
    Artefact.CLIENTS: (Question.GROUPS_HAD_READ, Artefact.GROUP_POSITIONS),
    _FAILED: (Question.FAILED_DISK_HAS, _FAILED),
}
"""Evidence that brokers still have and that may answer a question about that time: by what the question asks for."""


def kept(positions: Mapping[str | None, tuple[int, ...]], partition: Partition, want: Want) -> Iterable[Want]:
    """Return what brokers still have that may answer a question, which else only what somebody saved does.

    Args:
        positions: ``with_positions``.
        partition: what the question is about.
        want: the question.
    """
    of_groups = positions.get(partition.history.cluster, ())
    for way, (asked, (question, artefact)) in itertools.product(want.ways, _KEPT.items()):
        brokers = of_groups if asked is Artefact.CLIENTS else way.brokers
        if asked in way.artefacts and brokers:
            yield Want(question, (Collect((artefact,), brokers),))


def with_positions(result: Result) -> dict[str | None, tuple[int, ...]]:
    """Return brokers of each cluster that may have positions of groups with leader epochs (KIP-320: 2.1).

    There are none of a cluster of which the evidence has such positions: each replica of a partition of
    ``__consumer_offsets`` has the same commits, until compaction removes them. Nor are there any of a cluster whose
    checkpoints show that no group committed.
    """
    case = result.case
    of_topic = pl.col("path").str.contains(f"/{POSITIONS}-[0-9]+/[0-9]+[.]log")
    there = {*case.sources.filter(of_topic).get_column("cluster").to_list()}
    none = there | _without_commits(result)
    found: dict[str | None, tuple[int, ...]] = {}
    for one in case.everyone:
        if not one.only_controls and one.cluster not in none and (one.release or _WITH_EPOCHS) >= _WITH_EPOCHS:
            found[one.cluster] = (*found.get(one.cluster, ()), one.id)
    return found


def _without_commits(result: Result) -> set[str | None]:
    """Return the clusters in which each replica of ``__consumer_offsets`` is empty, by checkpoints, logs and lines."""
    used: dict[str | None, bool] = {}
    for one in (part.history for part in result.partitions if _holds_positions(part)):
        known = [(of.checkpoint[0] if of.checkpoint else None, of.held_end or 0) for of in one.replicas.values()]
        empty = bool(known) and all(high_watermark == 0 == end for high_watermark, end in known)
        used[one.cluster] = used.get(one.cluster, False) or not empty
    return {cluster for cluster, commits in used.items() if not commits}


def _holds_positions(partition: Partition) -> bool:
    """Return whether a partition keeps the positions of groups now."""
    return partition.history.topic == POSITIONS and not partition.history.incarnation


def _empty(partitions: Iterable[Partition], clusters: Set[str | None]) -> bool:
    """Return whether all partitions keep positions of clusters in which no group has committed any."""
    return all(_holds_positions(one) and one.history.cluster in clusters for one in partitions)


def _wants(result: Result, partition: Partition) -> list[Want]:
    """Return what would answer the open questions about a partition, each once.

    Of an earlier incarnation of a topic nothing is wanted: its files are legitimately gone.
    """
    if partition.history.incarnation:
        return []
    open_ = (one for one in partition.judgements.values() if one.verdict is Verdict.UNKNOWN)
    every = dict.fromkeys(want for one in open_ for want in one.missing)
    return [want for want in every if not renamed(result, partition, want)]


def renamed(result: Result, partition: Partition, want: Want) -> bool:
    """Return whether a want is about directories that brokers have renamed: what they hold is in the advice."""
    facts, artefacts = partition.history.facts, want.artefacts
    finders = {one.broker for one in facts.stray_replicas}
    if not finders or facts.disks or not artefacts or not {*artefacts} <= _BESIDE_PARTITION:
        return False
    known = [_known(result, partition.history.cluster or "", broker) for broker in sorted(finders)]
    return all(protocol.of(one).keeps_stray_replicas is Answer.YES for one in known)


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
    of_files = [
        one for one in found if one.want.origin is Origin.FILES and not only_if_saved(one.want) and not one.empty
    ]
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
    return next((one for one in result.case.by_id.get(node, ()) if (one.cluster or "") == cluster), None)


def _node(result: Result, cluster: str, node: int) -> str:
    """Return the name of a node, with its host if that is known: a controller of KRaft is no broker."""
    known = _known(result, cluster, node)
    if known is None:
        return brokers_text([node])
    host = addresses.host(known.settings)
    return f"{node_name(known)}{f' ({host})' if host else ''}"


def _folders(result: Result, cluster: str, broker: int) -> list[str]:
    """Return the data folders of a broker that its evidence states, as a shell reads them; none without names."""
    node = _known(result, cluster, broker)
    return [] if node is None or result.redacted else [shlex.quote(folder) for folder in node.folders]


def log_folders(result: Result, *, controllers: bool) -> list[str]:
    """Return the log directories of all brokers that the evidence states, each path once; or of controllers too."""
    nodes = [one for one in result.case.everyone if controllers or not one.only_controls]
    every = (_folders(result, one.cluster or "", one.id) for one in nodes)
    return list(dict.fromkeys(itertools.chain.from_iterable(every)))


def script(result: Result) -> str:
    """Return the command that prints a script which copies the data directories of all brokers and controllers.

    It names their hosts if the evidence states one for each, and their directory if it is the same on all of them.

    Returns:
        The command; "" if the evidence states no directory, as it may be a trace of another system.
    """
    folders = log_folders(result, controllers=True)
    if not folders:
        return ""
    nodes = [*result.case.everyone]
    hosts = list(dict.fromkeys(filter(None, (addresses.host(one.settings) for one in nodes))))
    named = hosts if len(hosts) == len(nodes) <= HOSTS else ["HOST"]
    options = [f"--host {one}" for one in named]
    options += [f"--data-dir {one}" for one in folders] if len(folders) == 1 else []
    return " ".join(("forensics collect --plan", *options))


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
        f"{which} the files above that are on brokers. This is not a backup. {run} named, perhaps as root (sudo -i). "
        "A broker may run meanwhile: it does not matter if tar says that a file changed. Then scan this evidence "
        f"again, with the .tgz {archive} as further arguments{f'. {folders}' if folders else ''}:"
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
    patterns = [one for one in files if "*" in one[1]]
    return [one for one in files if not any(_covers(pattern, one) for pattern in patterns if pattern != one)]


def _covers(pattern: _File, one: _File) -> bool:
    """Return whether a pattern of a shell finds a file or folder too."""
    return pattern[0] == one[0] and fnmatch.fnmatchcase(one[1], pattern[1])


def _of_kafka(partitions: Sequence[Partition]) -> bool:
    return all(one.history.topic.startswith("__") for one in partitions)
