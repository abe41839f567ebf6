"""What is known of each broker: which of its processes its own lines leave out."""

from __future__ import annotations

import polars as pl
import pytest

from forensics.case.brokers import brokers
from parsers.schema import Kind

ROWS = {
    "broker": pl.Int32(),
    "kind": pl.String(),
    "message": pl.String(),
    "replica": pl.Int32(),
    "offset": pl.Int64(),
    "detail": pl.String(),
    "time": pl.Int64(),
    "starts_run": pl.Boolean(),
    "line": pl.Int64(),
    "topic": pl.String(),
    "partition": pl.Int32(),
    "log_dir": pl.String(),
}
OWN, METADATA = "V-04a", "metadata-log"


def registered(message: str, epoch: int, process: str | None = None, *, replica: int = 1) -> dict[str, object]:
    detail = None if process is None else f"fenced incarnation={process}"
    told = {"kind": Kind.BROKER_REGISTERED.value, "message": message, "replica": replica, "offset": epoch}
    return {"broker": replica if message == OWN else 100, "detail": detail, **told}


FIRST, SECOND = (registered(METADATA, 42, "a"), registered(METADATA, 164, "b"))


@pytest.mark.parametrize(
    ("rows", "unseen_process"),
    [
        ([registered(OWN, 42), FIRST, SECOND], 164),
        ([registered(OWN, 42), FIRST, SECOND, registered(METADATA, 300, "c")], 164),
        ([registered(OWN, 42), FIRST, SECOND, registered(OWN, 164)], None),
        ([registered(OWN, 164), FIRST, SECOND], None),  # its lines begin later
        ([registered(OWN, 42), FIRST, registered(METADATA, 51, "a")], None),  # the same process, once more
        ([FIRST, SECOND], None),  # none of its lines tell of any
        ([registered(OWN, 42), FIRST, registered(METADATA, 164, "b", replica=2)], None),
    ],
)
def test_processes_of_which_only_controllers_tell(rows: list[dict[str, object]], unseen_process: int | None) -> None:
    blank = dict.fromkeys(ROWS)
    observations = pl.DataFrame([blank | row for row in rows], schema=ROWS)
    assert brokers(observations, {}, {1: None})[1].unseen_process == unseen_process
