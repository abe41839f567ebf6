"""A disk that fills while a batch writes its tables."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from forensics.engines.pipeline.damage import reading
from forensics.engines.pipeline.output import Output
from forensics.engines.spark.frames import refusals
from forensics.errors import TaskFailed, UnwritableOutput


def test_a_full_disk_under_the_tables_is_no_defect(tmp_path: Path) -> None:
    def work() -> None:
        raise OSError(ENOSPC, "No space left on device")

    with pytest.raises(UnwritableOutput, match="No space left on device; name a folder that can be written"):
        reading(Output(tmp_path), work)


def test_an_error_of_java_says_what_the_system_refused() -> None:
    """Without a server of Spark Connect such errors are raised as Py4J has them."""
    said = "An error occurred while calling o1.save.\n: SparkException: TASK_WRITE_FAILED\n"
    with pytest.raises(TaskFailed, match="a task on a worker failed: No space left on device; mend that"), refusals():
        raise Py4JError(f"{said}Caused by: java.io.IOException: No space left on device\n\tat java.base/x\n")
    with pytest.raises(Py4JError), refusals():
        raise Py4JError(f"{said}Caused by: java.lang.IllegalStateException: what\n")
