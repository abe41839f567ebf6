"""Output of ``kafka-topics --describe``: leader, replicas and ISR of each partition at one moment.

Fields are separated by tabs since 0.8 (``kafka.admin.TopicCommand``); 2.8 added the topic's id, 3.7 the eligible leader
replicas. It has neither time nor epoch.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from parsers.details import REPLICAS
from parsers.errors import NotThisFormat
from parsers.reading import EXCERPT, Reading
from parsers.schema import NOTICES, OBSERVATIONS, Kind, conform

NAME: Final = "topics-describe"

_PARTITION: Final = (
    r"^\s*Topic: ?(?P<topic>[A-Za-z0-9._-]+)\s+Partition: ?(?P<partition>[0-9]+)\s+"
    r"Leader: ?(?P<leader>none|-?[0-9]+)\s+Replicas: ?(?P<replicas>[0-9,]*)"
    r"\s+Isr: ?(?P<isr>[0-9,]*)(?:\s+Elr: ?(?P<elr>[0-9,]*|N/A))?"
)
_TOPIC: Final = (
    r"^Topic: ?(?P<topic>[A-Za-z0-9._-]+)\s+(?:TopicId: ?(?P<topic_id>[A-Za-z0-9_-]{22})\s+)?PartitionCount: ?[0-9]+"
)


def read_describe(lines: pl.Series) -> Reading:
    """Read all of its lines.

    Raises:
        NotThisFormat: no line gives a partition.
    """
    rows = lines.alias("text").to_frame().with_row_index("line", offset=1)
    text = pl.col("text")
    found = rows.filter(text.str.contains(_PARTITION)).with_columns(text.str.extract_groups(_PARTITION).alias("_g"))
    if found.is_empty():
        raise NotThisFormat("no partition as kafka-topics --describe prints it")
    topics = rows.filter(text.str.contains(_TOPIC)).select(text.str.extract_groups(_TOPIC).alias("_g")).unnest("_g")
    found = found.unnest("_g").join(topics.unique("topic"), on="topic", how="left", maintain_order="left")
    found = found.with_columns(
        pl.lit(Kind.TOPIC_DESCRIBED.value, dtype=OBSERVATIONS["kind"]).alias("kind"),
        pl.lit(NAME).alias("message"),
        pl.col("leader").replace("none", "-1").cast(pl.Int32, strict=False),
        pl.col("partition").cast(pl.Int32, strict=False),
        pl.format(f"{REPLICAS}{{}}", "replicas").alias("detail"),
    )
    other = rows.filter(~text.str.contains(_PARTITION) & ~text.str.contains(_TOPIC) & (text.str.strip_chars() != ""))
    notices = other.select(
        pl.lit("no line of kafka-topics --describe").alias("reason"),
        text.str.slice(0, EXCERPT).alias("excerpt"),
        "line",
    )
    return Reading(conform(found, OBSERVATIONS), conform(notices, NOTICES))
