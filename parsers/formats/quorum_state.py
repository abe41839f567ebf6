"""``quorum-state``: a node's last state of the metadata quorum, one line of JSON (KRaft).

Version 0 up to 3.8, version 1 (with ``votedDirectoryId``, without voters) from 3.9 with ``kraft.version`` 1
(``FileBasedStateStore``, then ``FileQuorumStateStore``, ``QuorumStateData``). Its ``appliedOffset`` is always 0 and has
no meaning.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from parsers.errors import NotThisFormat
from parsers.reading import Notices

NAME: Final = "quorum-state"
FILE: Final = "quorum-state"


@dataclass(frozen=True, slots=True)
class QuorumState:
    """Contents of ``quorum-state``; a value is None if it names no node or is damaged.

    Attributes:
        version: ``data_version``.
        leader: active controller this node knew.
        leader_epoch: controller epoch.
        voted: node it voted for in that epoch.
        voters: ids of the voters; empty in version 1.
        notices: rows of ``NOTICES``.
    """

    version: int | None
    leader: int | None
    leader_epoch: int | None
    voted: int | None
    voters: tuple[int, ...]
    notices: pl.DataFrame


def read_quorum_state(data: bytes) -> QuorumState:
    """Read ``quorum-state``.

    Raises:
        NotThisFormat: the content is no JSON object with a leader epoch, nor the beginning of one.
    """
    notices = Notices()
    text = data.decode("utf-8", errors="replace")
    values = _values(data, text, notices)
    version = _number(values, "data_version", notices)
    if version not in (0, 1, None):
        notices.add(f"data_version {version} is unknown, 0 and 1 are known", excerpt=text, line=1)
    return QuorumState(
        version=version,
        leader=_node(values, "leaderId", notices),
        leader_epoch=_number(values, "leaderEpoch", notices),
        voted=_node(values, "votedId", notices),
        voters=_voters(values.get("currentVoters")),
        notices=notices.frame(),
    )


def _values(data: bytes, text: str, notices: Notices) -> dict[str, Any]:
    """Return the members of the JSON object; none of one that is incomplete or damaged, which is noted.

    Raises:
        NotThisFormat: it is another text.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        if data.strip(b"\0") and not text.startswith('{"'[: len(text)]):
            raise NotThisFormat("quorum-state is one line of JSON") from None
        notices.add("the JSON is truncated or damaged", excerpt=text, line=1)
        return {}
    if content is None:
        return {}
    if not isinstance(content, dict) or "leaderEpoch" not in content:
        raise NotThisFormat("quorum-state is a JSON object with a leaderEpoch")
    return content


def _number(values: dict[str, Any], key: str, notices: Notices) -> int | None:
    """Return a number; None if it is absent or something else, which is noted."""
    value = values.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if value is not None:
        notices.add(f"{key} is not a number", excerpt=str(value), line=1)
    return None


def _node(values: dict[str, Any], key: str, notices: Notices) -> int | None:
    """Return the id of a node; None for -1, which names no node."""
    value = _number(values, key, notices)
    return None if value == -1 else value


def _voters(listed: object) -> tuple[int, ...]:
    """Return the ids of the voters, as far as they can be read."""
    voters = listed if isinstance(listed, list) else []
    ids = [voter.get("voterId") for voter in voters if isinstance(voter, dict)]
    return tuple(voter for voter in ids if isinstance(voter, int))
