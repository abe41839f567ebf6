"""The paths from which advice salvages lost records: those of the evidence that was scanned.

A rule sees one partition and knows no paths that the user gave. So it leaves their place open (``Action.on_evidence``).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from posixpath import commonpath

import polars as pl

from forensics.case import Case
from forensics.rules.finding import EVIDENCE, Action, Finding, Judgement, with_each
from parsers.containers import INSIDE
from parsers.files.remote import is_remote
from parsers.formats.log_directory import DELETED_SEGMENT
from parsers.formats.segment import NAME as SEGMENT
from parsers.read import ARCHIVE, UNKNOWN

_MOST = 20
"""Paths in one command; with more, no path is named."""

_BESIDE = (UNKNOWN, ARCHIVE)
"""Files that are of no cluster: what is in an archive counts by itself."""


class SalvagePaths:
    """Fills in commands that read the evidence of a scan.

    Args:
        inputs: paths as the user gave them; none if rows were judged.
        case: the evidence.
    """

    def __init__(self, inputs: Sequence[str], case: Case) -> None:
        self._inputs = sorted(set(inputs))
        self._case = case
        self._of_clusters: dict[str | None, str | None] = {}

    def filled(self, judgements: Iterable[Judgement]) -> list[Judgement]:
        """Return judgements with the commands of all their findings filled in."""
        return with_each(judgements, self._finding)

    def _finding(self, one: Finding) -> Finding:
        if all(step.on_evidence is None for step in one.next_steps):
            return one
        paths = self._paths(one.cluster) if (one.cluster, one.topic, one.partition) in self._with_records else None
        return replace(one, next_steps=tuple(_step(step, paths) for step in one.next_steps))

    @cached_property
    def _with_records(self) -> frozenset[tuple[str | None, str, int]]:
        """Partitions, with their clusters, whose segments are in the evidence: headers of batches hold no records."""
        whole = pl.col("format").is_in([SEGMENT, DELETED_SEGMENT])
        return frozenset(self._case.sources.filter(whole).select("cluster", "topic", "partition").unique().iter_rows())

    def _paths(self, cluster: str | None) -> str | None:
        """Return the paths of a cluster's evidence for a shell, and its id where others are there; None without."""
        if cluster not in self._of_clusters:
            self._of_clusters[cluster] = self._shell(cluster)
        return self._of_clusters[cluster]

    def _shell(self, cluster: str | None) -> str | None:
        if not self._inputs or "-" in self._inputs:
            return None
        owners = self._case.sources.filter(~pl.col("format").is_in(_BESIDE)).select("path", "cluster")
        if cluster is None or owners["cluster"].drop_nulls().n_unique() < 2:
            return _quoted(self._inputs)
        paths = [narrow for given in self._inputs if (narrow := _narrowed(given, owners, cluster)) is not None]
        named = _quoted(paths)
        return f"{named} --cluster {shlex.quote(cluster)}" if named is not None else None


def _quoted(paths: Sequence[str]) -> str | None:
    """Return paths for a shell; None for too many.

    >>> _quoted(["of monday", "-x"])
    "'of monday' ./-x"
    """
    if not 0 < len(paths) <= _MOST:
        return None
    return " ".join(shlex.quote(f"./{path}" if path.startswith("-") else path) for path in paths)


def _narrowed(given: str, owners: pl.DataFrame, cluster: str) -> str | None:
    """Return the part of an input with all files of one cluster; None if it has only files of others.

    An input of which some files are of no known cluster stays whole: they may show what happened.

    Args:
        given: as the user gave it.
        owners: path and cluster of each file.
        cluster: which cluster.
    """
    root = given.rstrip("/")
    below = pl.col("path").str.starts_with(f"{root}/") | pl.col("path").str.starts_with(f"{root}{INSIDE}")
    mine = owners.filter(below | pl.col("path").is_in([given, root]))
    if is_remote(given) or mine.is_empty() or mine["cluster"].null_count():
        return given
    paths = mine.filter(pl.col("cluster") == cluster)["path"].to_list()
    if not paths or len(paths) == mine.height:
        return given if paths else None
    folder = commonpath([path.partition(f"{INSIDE}/")[0] for path in paths])
    return folder if folder.startswith(root) else given


def _step(step: Action, paths: str | None) -> Action:
    """Return a step with its command: over the evidence if there are paths, else over a copy to be named."""
    if paths is None or step.on_evidence is None:
        return replace(step, on_evidence=None)
    return replace(step, command=step.on_evidence.replace(EVIDENCE, paths), on_evidence=None)
