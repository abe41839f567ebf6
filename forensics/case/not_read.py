"""The files and folders of the evidence that could not be read: what they state is missing from every answer."""

from __future__ import annotations

import polars as pl

from forensics.case.case import Case
from parsers import read


def not_read(case: Case) -> list[tuple[str, str]]:
    """Return the path of each file or folder that could not be read, with the reason, in the order of the evidence."""
    unread = case.sources.filter(pl.col("format").is_in(read.NOT_READ)).get_column("id").to_list()
    if not unread:
        return []
    noted = case.notices.filter(pl.col("source").is_in(unread)).unique("source", keep="first", maintain_order=True)
    reasons = dict(noted.select("source", "reason").iter_rows())
    return [(case.path(source), reasons.get(source, "")) for source in unread]
