"""A run is judged among many as a user's scan judges it alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from forensics.model import PROTOCOLS
from forensics.model.run import Logging
from tests.model import batches
from tests.model.batches import compared, drawn

SEEDS = range(8_000, 8_003)


@pytest.mark.parametrize(("protocol", "logging"), [(PROTOCOLS[0].name, "default"), (PROTOCOLS[-1].name, "replication")])
def test_a_run_in_company_is_judged_as_alone(protocol: str, logging: Logging, tmp_path: Path) -> None:
    runs = batches.played([drawn(seed) for seed in SEEDS], protocol, logging)
    alone = []
    for number, (run, content) in enumerate(runs):
        for path, data in content.items():
            (tmp_path / str(number) / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / str(number) / path).write_bytes(data)
        found = scan([str(tmp_path / str(number))])
        alone.append(compared([partition.judgements for partition in found.partitions], run.truth()))
    assert batches.answered(runs) == alone
