"""``.kafka_cleanshutdown``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.clean_shutdown import read_clean_shutdown

JSON = b'{"version":0,"brokerEpoch":87}'


@pytest.mark.parametrize(("data", "epoch"), [(b"", None), (JSON, 87), (b'{"version":0,"brokerEpoch":-1}', None)])
def test_marker(data: bytes, epoch: int | None) -> None:
    found = read_clean_shutdown(data)
    assert found.broker_epoch == epoch
    assert found.notices.is_empty()


def test_cut_at_every_byte() -> None:
    for cut in range(1, len(JSON)):
        found = read_clean_shutdown(JSON[:cut])
        assert found.broker_epoch is None
        assert len(found.notices) == 1, cut


@pytest.mark.parametrize("data", [bytes(30), b'{"version":1,"brokerEpoch":87}', b'{"version":0,"brokerEpoch":"x"}'])
def test_damage_is_noted(data: bytes) -> None:
    assert len(read_clean_shutdown(data).notices) == 1


@pytest.mark.parametrize("data", [b"0\n1\n", b'{"leaderEpoch":1}', b"[1]", b"node.id=1\n"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_clean_shutdown(data)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    try:
        found = read_clean_shutdown(b"{" + data)
    except NotThisFormat:
        return
    assert found.broker_epoch is not None or not found.notices.is_empty() or b"-1" in data
