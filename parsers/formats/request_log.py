"""The request log (``kafka.request.logger``): each request a broker answered, with its answer (1.0+).

It is written when the answer has been sent. A follower's FETCH shows its log end offset (the fetch offset), the answer
the leader's high watermark. From 2.7 on the answer also shows where a diverging follower must truncate. Fetches are
incremental from 1.1 on (KIP-227): a request names only partitions whose offset changed since the one before in its
session, an answer only those with news. A partition that a request leaves out is still fetched from the same offset.
``finish`` adds a row for that, at the last request of such a stretch.

A producer's request shows the requested acks and, if it was answered, the offset of its first record.

There are two formats, recognised by the text: structs as text up to 2.7 (``request_log_text``), JSON from 2.8
(``request_log_json``). 0.8 to 0.11 write no answers. Sources: ``RequestChannel.updateRequestMetrics``,
``RequestConvertToJson``, ``FetchSession``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from parsers.encodings.request_tables import ANSWERED, ASKED, FETCHES, FORGOTTEN, STATED, Requests
from parsers.filled import filled
from parsers.formats import request_log_json, request_log_text
from parsers.schema import NOTICES, OBSERVATIONS, Kind, conform, empty

NAME: Final = "request-log"
MARK: Final = "Completed request:"
MESSAGES: Final = "request-"
"""Beginning of the message ids of its rows."""

_KIND: Final = OBSERVATIONS["kind"]
_PARTITION: Final = ["topic", "topic_id", "partition"]
_FENCED: Final = 74
_SESSION_ERRORS: Final = (70, 71)


@dataclass(slots=True)
class RequestLog:
    """Collects the requests of one file, block by block.

    Attributes:
        relevant: requests about replication.
        understood: those of them that could be read.
    """

    relevant: int = 0
    understood: int = 0
    _parts: list[Requests] = field(default_factory=list)

    def add(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read the requests of one block.

        Args:
            rows: columns line, time, message; other messages are passed over.

        Returns:
            Notices, for requests that could not be read.
        """
        rows = rows.filter(pl.col("message").str.starts_with(MARK)).select(
            "line", "time", pl.col("message").str.slice(len(MARK)).alias("request")
        )
        if rows.is_empty():
            return empty(NOTICES)
        is_json = pl.col("request").str.starts_with('{"')
        notices = []
        for reader, chosen in (
            (request_log_json.read, rows.filter(is_json)),
            (request_log_text.read, rows.filter(~is_json)),
        ):
            if chosen.is_empty():
                continue
            found = reader(chosen)
            self.relevant += found.relevant
            self.understood += found.understood
            self._parts.append(found)
            notices.append(found.notices)
        return pl.concat(notices)

    @property
    def lines(self) -> pl.Series:
        """Numbers of the lines that stated something."""
        told = [part.get_column("line") for each in self._parts for part in (each.fetches, each.stated)]
        return pl.concat(told).unique() if told else pl.Series("line", [], dtype=pl.Int64)

    def finish(self) -> pl.DataFrame:
        """Observations of the whole file, schema ``OBSERVATIONS``, by line."""
        if not self._parts:
            return empty(OBSERVATIONS)
        fetches = pl.concat([part.fetches for part in self._parts]).sort("line", maintain_order=True)
        asked = pl.concat([part.asked for part in self._parts])
        answered = pl.concat([part.answered for part in self._parts])
        forgotten = pl.concat([part.forgotten for part in self._parts])
        stated = pl.concat([part.stated for part in self._parts])
        rows = [*_fetched(fetches, asked, answered, forgotten), _stated(stated)]
        return pl.concat(rows).sort("line", maintain_order=True)


def _row(rows: pl.DataFrame, kind: Kind, message: str) -> pl.DataFrame:
    return conform(
        rows.with_columns(pl.lit(kind.value, dtype=_KIND).alias("kind"), pl.lit(message).alias("message")), OBSERVATIONS
    )


def _fetched(
    fetches: pl.DataFrame, asked: pl.DataFrame, answered: pl.DataFrame, forgotten: pl.DataFrame
) -> list[pl.DataFrame]:
    by_follower = asked.join(fetches, on="line", how="inner", maintain_order="left").filter(pl.col("follower") >= 0)
    errors = answered.filter(pl.col("error") != 0).select("line", *_PARTITION, "error")
    by_follower = by_follower.join(
        errors, on=["line", *_PARTITION], how="left", nulls_equal=True, maintain_order="left"
    )
    by_follower = by_follower.with_columns(pl.col("follower").alias("replica"))
    sound = by_follower.filter(pl.col("error").is_null() & (pl.col("fetch_offset") >= 0))
    sound = sound.with_columns(pl.col("fetch_offset").alias("leo"))
    told = answered.join(fetches, on="line", how="inner", maintain_order="left").join(
        asked.select("line", *_PARTITION, "leader_epoch"),
        on=["line", *_PARTITION],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    diverging = told.filter(pl.col("diverging_epoch").is_not_null() & (pl.col("follower") >= 0))
    return [
        _row(sound, Kind.REMOTE_LEO, "request-fetch"),
        _row(_still(fetches, sound, errors, forgotten), Kind.REMOTE_LEO, "request-fetch"),
        _row(by_follower.filter(pl.col("error") == _FENCED), Kind.FETCH_FENCED, "request-fetch"),
        _row(told.filter((pl.col("error") == 0) & (pl.col("hw") >= 0)), Kind.HW, "request-fetch"),
        _row(
            diverging.with_columns(
                pl.col("follower").alias("replica"),
                pl.col("diverging_epoch").alias("leader_epoch"),
                pl.col("diverging_end").alias("offset"),
                pl.lit("diverging").alias("detail"),
            ),
            Kind.EPOCH_REPLY,
            "request-fetch",
        ),
    ]


def _still(fetches: pl.DataFrame, sound: pl.DataFrame, errors: pl.DataFrame, forgotten: pl.DataFrame) -> pl.DataFrame:
    """Return followers that continued to fetch from an offset without naming it again."""
    in_session = fetches.filter(pl.col("session") > 0)
    if in_session.is_empty() or sound.is_empty():
        return sound.clear()
    lines = in_session.select("line", "session")
    # End of a request's validity for a partition: the next that names it, forgets it, or an error on it.
    marks = pl.concat(
        [
            sound.select("line", "session", *_PARTITION),
            forgotten.join(lines, on="line").select("line", "session", *_PARTITION),
            errors.join(lines, on="line").select("line", "session", *_PARTITION),
        ]
    ).unique()
    marks = marks.sort("session", *_PARTITION, "line").with_columns(
        pl.col("line").shift(-1).over("session", *_PARTITION).alias("_next")
    )
    open_until = sound.filter(pl.col("session") > 0).join(
        marks, on=["line", "session", *_PARTITION], how="left", nulls_equal=True, maintain_order="left"
    )
    limit = pl.col("_next").fill_null(pl.col("line").max().over("session") + (1 << 40)) - 1
    last = in_session.select(pl.col("line").alias("_last"), pl.col("time").alias("_last_time"), "session").sort("_last")
    stretched = (
        open_until.with_columns(limit.alias("_limit"))
        .sort("_limit", "line")
        .join_asof(last, left_on="_limit", right_on="_last", by="session", strategy="backward", check_sortedness=False)
        .filter(pl.col("_last") > pl.col("line"))
    )
    return stretched.with_columns(
        filled("unchanged since line {}", "line").alias("detail"),
        pl.col("_last").alias("line"),
        pl.col("_last_time").alias("time"),
    ).sort("line", *_PARTITION)


def _stated(stated: pl.DataFrame) -> pl.DataFrame:
    return conform(stated.with_columns(pl.col("kind").cast(_KIND)), OBSERVATIONS)


__all__ = ["ANSWERED", "ASKED", "FETCHES", "FORGOTTEN", "MARK", "NAME", "STATED", "RequestLog"]
