"""Traces that name no cluster: if the same witness states lines in two folders, these are of two clusters."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import polars as pl

from parsers.file_reading import FileReading, note
from parsers.files.sources import Source
from parsers.formats.trace_jsonl import OF_HEADER


def told_apart_by_folder(
    files: Sequence[tuple[Source, FileReading]], clusters: Sequence[str | None]
) -> list[str | None]:
    """Return the cluster of each file, named after the folder for traces without a cluster that cannot be of one.

    Brokers of one cluster have different ids, and each writes one trace. So if the same witness states lines in two
    folders, the folders are of two clusters, and each such file gets a notice. This also holds if the trace in the
    other folder names its cluster. If all witnesses differ, the files are of one cluster. A broker that only the first
    line names is no witness.

    Args:
        files: sources with their contents; notices are added.
        clusters: of each file, if named.
    """
    folders: dict[int, str] = {}
    witnesses: dict[str, set[int]] = {}
    for number, ((source, found), cluster) in enumerate(zip(files, clusters, strict=True)):
        if found.format == "trace":
            folder = str(PurePosixPath(source.path).parent)
            witnesses.setdefault(folder, set()).update(speaking(found.observations))
            if cluster is None:
                folders[number] = folder
    result = list(clusters)
    for number, folder in folders.items():
        shared = _shared(witnesses, folder)
        if shared:
            result[number] = f"folder {_short(folder, witnesses)}"
            found = files[number][1]
            found.notices = pl.concat([found.notices, _notice(shared, witnesses)])
    return result


def speaking(rows: pl.DataFrame) -> list[int]:
    """Return the witnesses of the lines of a trace but the first one."""
    own = rows.filter(~OF_HEADER.fill_null(False))
    return own.get_column("witness").drop_nulls().unique().to_list()


def _shared(witnesses: Mapping[str, set[int]], folder: str) -> dict[str, set[int]]:
    """Return the other folders that have witnesses of a folder, and which ones."""
    others = {other: theirs & witnesses[folder] for other, theirs in witnesses.items() if other != folder}
    return {other: both for other, both in others.items() if both}


def _short(folder: str, folders: Iterable[str]) -> str:
    """The name of a folder without what all have in common."""
    common = os.path.commonpath([f"/{one}" for one in folders])
    return os.path.relpath(f"/{folder}", common)


def _notice(shared: Mapping[str, set[int]], folders: Iterable[str]) -> pl.DataFrame:
    other, both = min(shared.items())
    return note(
        f"this trace names no cluster, and broker {min(both)} is a witness in the folder {_short(other, folders)} too: "
        "the traces of each folder are taken as those of a cluster of their own. If they are of one cluster, name it "
        'in the first line ("cluster")'
    )
