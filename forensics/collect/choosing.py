"""The choice of files of a host that are evidence, and the form in which each is packed."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from parsers import read
from parsers.containers import Memory, expand
from parsers.files.sources import Source
from parsers.formats.dump_log_text import NAME as DUMP
from parsers.formats.log_directory import DELETED_SEGMENT, split_directory
from parsers.formats.segment import NAME as SEGMENT


class Form(StrEnum):
    """The form in which a file is packed."""

    WHOLE = "whole"  # byte for byte
    HEADERS = "headers"  # of a segment: its batch headers, without records
    MASKED = "masked"  # of settings, and of a text with secrets in its lines: without these
    REDACTED = "redacted"  # of a text: each line, with other names
    STATEMENTS = "statements"  # of a file that is no text: what it shows, as lines of a trace
    LEFT_OUT = "left out"


_FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        **{taker.format: Form.WHOLE for taker in read.BUILT_IN},
        "pointer": Form.LEFT_OUT,  # stands for a file that is elsewhere
        read.IRRELEVANT: Form.LEFT_OUT,
        read.GC_LOG: Form.LEFT_OUT,
        SEGMENT: Form.HEADERS,
        DELETED_SEGMENT: Form.HEADERS,
        "server-properties": Form.MASKED,
        "log4j-config": Form.LEFT_OUT,  # appenders of mail and databases have passwords
        DUMP: Form.LEFT_OUT,  # with --print-data-log it has users' records
    }
)
"""The form of each format; what is of none, or of a plugin's, is left out: it may hold users' records."""

_INTERNAL: Final = frozenset(
    ("__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata", "__cluster_metadata")
)
"""Topics of Kafka's own."""
_OF_METADATA: Final = ("metadata-log", "metadata-snapshot")
_COMPRESSED: Final = (".gz", ".tgz", ".zst", ".bz2", ".xz", ".lz4", ".zip", ".tar")


NOT_RECOGNISED = "not recognised"
"""Why a file is left out that no reader knows."""


def form_of(source: Source, *, with_segments: bool, metadata: bool) -> tuple[Form, str]:
    """Return the form in which a file is packed, and what it is.

    Args:
        source: the file.
        with_segments: segments are packed whole, with the users' records.
        metadata: the metadata log of KRaft is packed.

    Raises:
        OSError: it cannot be read.
    """
    if source.problem:
        return Form.LEFT_OUT, source.problem
    if source.name.endswith(_COMPRESSED):
        return _of_compressed(source, with_segments=with_segments)
    head = source.head()
    form = next((taker.format for taker in read.TAKERS if taker.claims(source, head)), None)
    if form is None:
        return Form.LEFT_OUT, NOT_RECOGNISED
    if form in _OF_METADATA and not metadata:
        return Form.LEFT_OUT, f"{form}, not wanted"
    if form in (SEGMENT, DELETED_SEGMENT) and (with_segments or _is_internal(source)):
        return Form.WHOLE, form
    return (_FORMS[form], form) if form in _FORMS else (Form.LEFT_OUT, f"{form}, a format of a plugin")


def _of_compressed(source: Source, *, with_segments: bool) -> tuple[Form, str]:
    """Return the form of a compressed file: a rotated log is packed as it is, an archive may hold users' records."""
    found = list(expand(source, Memory()))
    if any(one.container for one in found):
        return (Form.WHOLE, "archive") if with_segments else (Form.LEFT_OUT, "archive, which may hold users' records")
    heads = [(one, one.head()) for one in found if not one.problem]
    if heads and all(read.TAKERS[-1].claims(one, head) for one, head in heads):
        return Form.WHOLE, read.TAKERS[-1].format
    return Form.LEFT_OUT, NOT_RECOGNISED


def _is_internal(source: Source) -> bool:
    """Return whether a segment is of a topic of Kafka's own, such as the offsets of groups: no user's records."""
    directory = split_directory(source.parent)
    return directory is not None and directory.topic in _INTERNAL
