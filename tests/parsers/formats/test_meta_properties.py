"""``meta.properties``."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsers.errors import NotThisFormat
from parsers.formats.meta_properties import read_meta_properties

KRAFT = (
    b"#\n#Sat Nov 21 04:11:06 UTC 2026\nnode.id=1\ndirectory.id=HUtcAGfmHaIcHtzKOTKkBQ\nversion=1\n"
    b"cluster.id=JS7dasDgSdqRtsr8nIkGOw\n"
)


def test_version_1() -> None:
    found = read_meta_properties(KRAFT)
    assert found.notices.is_empty()
    assert (found.version, found.broker_id) == (1, 1)
    assert found.cluster_id == "JS7dasDgSdqRtsr8nIkGOw"
    assert found.directory_id == "HUtcAGfmHaIcHtzKOTKkBQ"
    assert found.written == "Sat Nov 21 04:11:06 UTC 2026"
    assert found.values["node.id"] == "1"


def test_version_0_and_none() -> None:
    for data in (b"broker.id=7\nversion=0\n", b"broker.id=7\n"):
        found = read_meta_properties(data)
        assert found.notices.is_empty()
        assert (found.version, found.broker_id, found.cluster_id, found.directory_id) == (0, 7, None, None)


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/data/meta.properties"))
    assert paths
    for path in paths:
        found = read_meta_properties(path.read_bytes())
        assert found.notices.is_empty(), path
        assert found.broker_id == int(path.parent.parent.name.removeprefix("broker-"))


def test_cut_at_every_byte() -> None:
    for cut in range(len(KRAFT)):
        found = read_meta_properties(KRAFT[:cut])
        # A file that ends with a line may be whole: brokers have written fewer keys.
        assert not found.notices.is_empty() or KRAFT[:cut].endswith(b"\n"), cut
        assert found.broker_id in (None, 1), cut
        assert found.broker_id == 1 or not found.notices.is_empty(), cut


@pytest.mark.parametrize(
    "data",
    [b"", bytes(80), b"version=0\ncluster.id=x\n", b"broker.id=one\n", b"broker.id=-1\n", b"node.id=1\nversion=9\n"],
)
def test_damage_is_noted(data: bytes) -> None:
    assert not read_meta_properties(data).notices.is_empty()


@pytest.mark.parametrize("data", [b"0\n1\norders 0 1\n", b"log4j.rootLogger=INFO\n", b'{"version":0}'])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_meta_properties(data)


@given(st.binary(max_size=100))
def test_any_bytes(data: bytes) -> None:
    found = read_meta_properties(b"broker.id=3\n" + data)
    assert (
        found.broker_id == 3 or not found.notices.is_empty() or "broker.id" in found.values or "node.id" in found.values
    )
