"""Log directories of one broker that hold the same partitions, and evidence of which one was used last.

A broker may have left a directory behind: on an older machine, after a change of settings, or by another start script.
What distinguishes them applies to a whole directory, not to each partition in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from parsers.file_reading import FileReading
from parsers.files.sources import Source
from parsers.formats.meta_properties import NAME as META_PROPERTIES
from parsers.formats.meta_properties import WRITTEN
from parsers.takers.metadata_files import TOPIC as METADATA_TOPIC

_CURRENT = "current"


@dataclass(slots=True)
class LogDirectory:
    """A log directory in the evidence, of a broker that has several with the same partitions in them.

    Attributes:
        written: date of its ``meta.properties``, as printed in it, or None.
        settings: the settings in its ``meta.properties``, with the date; none if it has no such file. Two directories
            of equal settings may be one directory, copied at two times.
        ahead: number of partitions whose log ends later here than in each other directory.
        shared: number of its partitions that another directory has too.
        first: the first of these by name; one that is not Kafka's own, if there is any.
    """

    written: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    ahead: int = 0
    shared: int = 0
    first: tuple[str, int] | None = None


def log_directories(
    files: Sequence[tuple[Source, FileReading]], owner: Sequence[int | None], mine: Iterable[int]
) -> dict[int, dict[str, LogDirectory]]:
    """By broker, the log directories that share partitions, by their paths in the evidence.

    Args:
        files, owner: of the whole case.
        mine: which of the files are of the cluster.
    """
    ends: dict[tuple[int, str, int], dict[str, int]] = {}
    known: dict[str, Mapping[str, str]] = {}
    for number in mine:
        broker, (source, found) = owner[number], files[number]
        if broker is None:
            continue
        folder = _folder(source.path)
        if found.format == META_PROPERTIES and found.properties:
            known[folder] = found.properties
        elif found.topic is not None and found.partition is not None and found.directory_state == _CURRENT:
            reached = ends.setdefault((broker, found.topic, found.partition), {})
            root = _folder(folder)
            reached[root] = max(reached.get(root, -1), -1 if found.log_end is None else found.log_end)
    made: dict[int, dict[str, LogDirectory]] = {}
    for (broker, topic, partition), reached in sorted(ends.items(), key=lambda one: _own_last(one[0])):
        if len(reached) > 1 and topic != METADATA_TOPIC:
            _count(made.setdefault(broker, {}), (topic, partition), reached, known)
    return made


def _own_last(place: tuple[int, str, int]) -> tuple[object, ...]:
    """Sort key of partitions: those of Kafka's own topics come last."""
    broker, topic, partition = place
    return broker, topic.startswith("__"), topic, partition


def _count(
    found: dict[str, LogDirectory],
    place: tuple[str, int],
    reached: Mapping[str, int],
    known: Mapping[str, Mapping[str, str]],
) -> None:
    """Count the directory in which the log of one partition reaches farthest.

    Args:
        found: directories of the broker by path; more are added.
        place: topic and partition.
        reached: log end offset in each directory, -1 if unknown.
        known: settings in the ``meta.properties`` of each directory that has one.
    """
    for root in sorted(reached):
        told = known.get(root, {})
        one = found.setdefault(root, LogDirectory(told.get(WRITTEN), dict(told), first=place))
        one.shared += 1
    farthest = [root for root, end in reached.items() if end == max(reached.values())]
    if len(farthest) == 1:
        found[farthest[0]].ahead += 1


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
