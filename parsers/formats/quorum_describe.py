"""Output of ``kafka-metadata-quorum describe``: the quorum of a KRaft cluster, and how far each node's copy reaches.

``--status`` prints one name and value per line, ``--replication`` a table of nodes, voters and observers (KIP-836;
``MetadataQuorumCommand``, 3.3+). One text may contain both, one after the other and many times.
"""

from __future__ import annotations

import re
from typing import Any, Final

from parsers.errors import NotThisFormat
from parsers.reading import Notices, Reading, observations
from parsers.schema import Kind

NAME: Final = "quorum-describe"

_TOPIC: Final = "__cluster_metadata"
_STATUS: Final = re.compile(
    r"^(?P<key>ClusterId|LeaderId|LeaderEpoch|HighWatermark|MaxFollowerLag|MaxFollowerLagTimeMs|CurrentVoters|"
    r"CurrentObservers):\s+(?P<value>.*?)\s*$"
)
_HEAD: Final = re.compile(r"^NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s+LastFetchTimestamp\s+")
_NODE: Final = re.compile(
    r"^(?P<replica>[0-9]{1,10})\s+(?:[A-Za-z0-9_-]{22}\s+)?(?P<leo>[0-9]{1,19})\s+(?P<lag>-?[0-9]+)\s+"
    r"(?P<fetched>-?[0-9]+|[0-9]+ ms ago|unknown)\s+(?P<caught_up>-?[0-9]+|[0-9]+ ms ago|unknown)\s+"
    r"(?P<status>Leader|Follower|Observer)\s*$"
)
_FIRST: Final = re.compile(rb"(?m)^(?:ClusterId:[^\n]*\r?\nLeaderId:|NodeId\s+(?:DirectoryId\s+)?LogEndOffset\s+Lag\s)")


def is_quorum(head: bytes) -> bool:
    """Return whether the first bytes of a text are of this format."""
    return _FIRST.search(head) is not None


def read_quorum(text: str) -> Reading:
    """Read all of it: QUORUM_DESCRIBED rows, one for a status and one for each node of a table.

    Raises:
        NotThisFormat: it holds neither.
    """
    rows: list[dict[str, Any]] = []
    notices = Notices()
    status: dict[str, str] = {}
    begun = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _STATUS.match(line):
            if found["key"] == "ClusterId" and status:
                rows.append(_status(status, begun))
                status = {}
            begun = begun if status else number
            status[found["key"]] = found["value"]
        elif node := _NODE.match(line):
            rows.append(_node(node, number))
        elif line.strip() and not _HEAD.match(line):
            notices.add("no line of kafka-metadata-quorum describe", excerpt=line, line=number)
    if status:
        rows.append(_status(status, begun))
    if not rows:
        raise NotThisFormat("neither a status nor a node of a metadata quorum")
    rows.sort(key=lambda row: row["line"])
    return Reading(observations(rows), notices.frame())


def _node(found: re.Match[str], line: int) -> dict[str, Any]:
    said = f"{found['status']} lag={found['lag']} last_fetch={found['fetched']} last_caught_up={found['caught_up']}"
    replica = int(found["replica"])
    leads = {"leader": replica} if found["status"] == "Leader" else {}
    return _row(line, replica=replica, leo=int(found["leo"]), detail=said, **leads)


def _status(said: dict[str, str], line: int) -> dict[str, Any]:
    numbers = {
        column: int(said[key])
        for column, key in (("leader", "LeaderId"), ("leader_epoch", "LeaderEpoch"), ("hw", "HighWatermark"))
        if re.fullmatch(r"-?[0-9]{1,19}", said.get(key, ""))
    }
    lags = [f"max_lag={said[key]}" for key in ("MaxFollowerLag",) if key in said]
    nodes = [
        f"{name}={','.join(_ids(said[key]))}"
        for name, key in (("voters", "CurrentVoters"), ("observers", "CurrentObservers"))
        if key in said
    ]
    cluster = [f"cluster={said['ClusterId']}"] if said.get("ClusterId") else []
    return _row(line, detail=" ".join([*cluster, *nodes, *lags]), **numbers)


def _ids(text: str) -> list[str]:
    """Node ids of ``[1,2]`` (3.3 to 3.8) or of a list of objects (3.9+)."""
    return re.findall(r'"id":\s*([0-9]+)', text) if '"id"' in text else re.findall(r"[0-9]+", text)


def _row(line: int, **values: Any) -> dict[str, Any]:
    kind = Kind.QUORUM_DESCRIBED
    return {"kind": kind, "message": NAME, "topic": _TOPIC, "partition": 0, "line": line, **values}
