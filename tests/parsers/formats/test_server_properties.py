"""``server.properties``."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.errors import NotThisFormat
from parsers.formats.server_properties import read_server_properties

ZK = b"""
# a broker of 2.8
broker.id=3
log.dirs=/srv/a, /srv/b
log.dir=/srv/old
zookeeper.connect=zk:2181
unclean.leader.election.enable=TRUE
min.insync.replicas=2
replica.lag.time.max.ms=thirty
"""


def test_typed_access() -> None:
    found = read_server_properties(ZK)
    assert found.notices.is_empty()
    assert found.broker_id == 3
    assert found.roles == ()
    assert found.log_dirs == ("/srv/a", "/srv/b")
    assert found.metadata_log_dir == "/srv/a"
    assert found.boolean("unclean.leader.election.enable") is True
    assert found.boolean("auto.leader.rebalance.enable") is None
    assert found.integer("min.insync.replicas") == 2
    assert found.integer("replica.lag.time.max.ms") is None
    assert found.lines["broker.id"] == 3


def test_kraft() -> None:
    found = read_server_properties(
        b"process.roles=broker,controller\nnode.id=9\nlog.dir=/srv/a\nmetadata.log.dir=/srv/m\n"
    )
    assert (found.broker_id, found.roles) == (9, ("broker", "controller"))
    assert (found.log_dirs, found.metadata_log_dir) == (("/srv/a",), "/srv/m")


def test_generated_ids_stand_elsewhere() -> None:
    found = read_server_properties(b"broker.id=-1\nlog.dirs=/srv/a\n")
    assert found.broker_id is None
    assert found.notices.is_empty()
    assert read_server_properties(b"broker.id=x\n").notices["line"].to_list() == [1]


def test_real_files(evidence_case: Path) -> None:
    paths = sorted(evidence_case.glob("broker-*/server.properties"))
    assert paths
    for path in paths:
        found = read_server_properties(path.read_bytes())
        assert found.notices.is_empty(), path
        if found.broker_id is not None:
            assert found.broker_id == int(path.parent.name.removeprefix("broker-"))


@pytest.mark.parametrize("data", [b"", b"log4j.rootLogger=INFO\n", b"0\n1\norders 0 1\n", bytes(50)])
def test_foreign_files_are_refused(data: bytes) -> None:
    with pytest.raises(NotThisFormat):
        read_server_properties(data)
