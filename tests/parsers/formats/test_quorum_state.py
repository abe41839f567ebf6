"""``quorum-state``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.quorum_state import read_quorum_state

V0 = (
    b'{"clusterId":"","leaderId":100,"leaderEpoch":7,"votedId":-1,"appliedOffset":0,'
    b'"currentVoters":[{"voterId":100},{"voterId":101}],"data_version":0}'
)
V1 = b'{"leaderId":-1,"leaderEpoch":8,"votedId":2,"votedDirectoryId":"HUtcAGfmHaIcHtzKOTKkBQ","data_version":1}'


def test_both_versions() -> None:
    first, second = read_quorum_state(V0), read_quorum_state(V1)
    assert first.notices.is_empty()
    assert second.notices.is_empty()
    assert (first.version, first.leader, first.leader_epoch, first.voted, first.voters) == (0, 100, 7, None, (100, 101))
    assert (second.version, second.leader, second.leader_epoch, second.voted, second.voters) == (1, None, 8, 2, ())


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/__cluster_metadata-0/quorum-state"))
    if not paths:
        pytest.skip("no KRaft quorum in this version")
    for path in paths:
        found = read_quorum_state(path.read_bytes())
        assert found.notices.is_empty(), path
        assert found.leader == json.loads(path.read_text())["leaderId"]


def test_cut_at_every_byte() -> None:
    for cut in range(len(V0)):
        found = read_quorum_state(V0[:cut])
        assert not found.notices.is_empty(), cut
        assert found.leader is None


@pytest.mark.parametrize(
    "data",
    [
        bytes(60),
        b'{"leaderId":"a","leaderEpoch":7,"data_version":0}',
        b'{"leaderId":1,"leaderEpoch":7,"data_version":4}',
        b'{"leaderId":1,"leaderEpoch":true,"data_version":0}',
    ],
)
def test_damage_is_noted(data: bytes) -> None:
    assert len(read_quorum_state(data).notices) == 1


@pytest.mark.parametrize("data", [b"0\n1\n", b"[]", b'{"version":0,"brokerEpoch":5}', b"node.id=1\n"])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_quorum_state(data)


@given(st.integers(1, len(V0) - 1), st.binary(min_size=1, max_size=6))
def test_overwritten_bytes_never_stop_the_reader(place: int, garbage: bytes) -> None:
    try:
        found = read_quorum_state(V0[:place] + garbage + V0[place + len(garbage) :])
    except NotThisFormat:
        return
    assert found.leader_epoch is not None or not found.notices.is_empty()
