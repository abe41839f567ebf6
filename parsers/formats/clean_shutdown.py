"""``.kafka_cleanshutdown``: the marker of a broker that stopped cleanly.

Empty up to 3.6; from 3.7 JSON with the broker epoch (``CleanShutdownFileHandler``). It is written last at shutdown and
deleted when the logs are loaded next. So in a copy it means: stopped cleanly, not started since. Up to 2.7 it was
deleted only after the load, and a crash in between left a false one.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

import polars as pl

from parsers.errors import NotThisFormat
from parsers.reading import Notices

NAME: Final = "clean-shutdown"
FILE: Final = ".kafka_cleanshutdown"


class CleanShutdown(NamedTuple):
    """Contents of the marker.

    Attributes:
        broker_epoch: epoch of the broker that stopped; None up to 3.6, or if it had none (-1).
        notices: rows of ``NOTICES``.
    """

    broker_epoch: int | None
    notices: pl.DataFrame


def read_clean_shutdown(data: bytes) -> CleanShutdown:
    """Read the marker; that it exists is its main message.

    Raises:
        NotThisFormat: the content is neither empty nor JSON with a broker epoch, nor the beginning of that.
    """
    notices = Notices()
    if not data.strip():
        return CleanShutdown(None, notices.frame())
    text = data.decode("utf-8", errors="replace")
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        if data.strip(b"\0") and not text.startswith("{"):
            raise NotThisFormat("the marker is empty or one line of JSON") from None
        notices.add("the JSON is truncated or damaged", excerpt=text, line=1)
        return CleanShutdown(None, notices.frame())
    if not isinstance(content, dict) or "brokerEpoch" not in content:
        raise NotThisFormat("the marker's JSON has a brokerEpoch")
    if content.get("version") != 0:
        notices.add(f"version {content.get('version')!r} is unknown, only 0 is", excerpt=text, line=1)
    epoch = content["brokerEpoch"]
    if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < -1:
        notices.add("brokerEpoch is not a number that can be", excerpt=text, line=1)
        epoch = None
    return CleanShutdown(None if epoch == -1 else epoch, notices.frame())
