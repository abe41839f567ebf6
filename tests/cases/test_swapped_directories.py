"""``swapdisks-3.6.2``: brokers 2 and 3, stopped cleanly, started on each other's data directory.

Broker 3 had left the ISR before. Broker 2 led what broker 3 had, and all others followed it.
"""

from __future__ import annotations

from pathlib import Path

from forensics.engines.local import scan
from forensics.rules.committed_data_lost import ID as LOST
from tests.cases.test_recorded import unpacked


def test_a_log_of_another_broker_shows_no_second_loss(tmp_path: Path) -> None:
    """Broker 3 loads 354 records of ``pay``. Its last epoch ended at 225: they are of the log of broker 2."""
    result = scan([str(unpacked("swapdisks-3.6.2", tmp_path))])
    found = [(f"{one.topic}-{one.partition}", one.offsets) for one in result.findings if one.rule == LOST]
    assert sorted(found) == [
        *(("mix-0", ((0, 360),)), ("mix-2", ((120, 360),)), ("mix-3", ((0, 360),))),
        *((f"pay-{number}", ((first, 354),)) for number, first in enumerate((114, 117, 117, 114))),
    ]
