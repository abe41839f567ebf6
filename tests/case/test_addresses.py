"""Addresses of brokers and ZooKeeper by the settings of brokers, and what is none."""

from __future__ import annotations

import pytest

from forensics.case.addresses import host, of_broker, of_zookeeper

KRAFT = {"controller.listener.names": "CONTROLLER"}


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"listeners": "PLAINTEXT://kafka-1:9092"}, "kafka-1:9092"),
        ({"listeners": "[PLAINTEXT://kafka-1:9092]"}, "kafka-1:9092"),  # as a list prints it
        ({"listeners": "PLAINTEXT://:9092", "advertised.listeners": "null"}, None),
        (
            {"listeners": "PLAINTEXT://0.0.0.0:9092", "advertised.listeners": "SSL://k1.example.com:93"},
            "k1.example.com:93",
        ),
        ({"advertised.listeners": "IN://10.0.0.1:9092, OUT://203.0.113.7:443"}, "10.0.0.1:9092"),
        (KRAFT | {"listeners": "CONTROLLER://kafka-1:9093,PLAINTEXT://kafka-1:9092"}, "kafka-1:9092"),
        (KRAFT | {"listeners": "[CONTROLLER://kafka-1:9093]"}, None),
        ({"listeners": "PLAINTEXT://localhost:9092"}, "localhost:9092"),
        ({"listeners": "PLAINTEXT://[2001:db8::1]:9092"}, None),
        ({}, None),
    ],
)
def test_clients_reach_a_broker_at_its_first_listener_with_a_host(
    settings: dict[str, str], address: str | None
) -> None:
    assert of_broker(settings) == address


@pytest.mark.parametrize(
    "evil", ["$(reboot)", "`reboot`", "a;reboot", "a b", "a|b", "{topic}", "-oProxyCommand=x", "a\nb"]
)
def test_what_a_shell_would_run_is_no_address(evil: str) -> None:
    settings = {
        "listeners": f"PLAINTEXT://{evil}:9092",
        "advertised.listeners": f"PLAINTEXT://k1:{evil}",
        "zookeeper.connect": f"zk-1:2181/{evil}" if evil[0] != "-" else f"{evil}:2181",
    }
    assert (of_broker(settings), host(settings), of_zookeeper(settings)) == (None, None, None)


def test_a_host_is_one_that_another_machine_can_reach() -> None:
    assert host(KRAFT | {"listeners": "CONTROLLER://ctl-1:9093"}) == "ctl-1"
    assert host({"listeners": "PLAINTEXT://127.0.0.1:9092,REPLICATION://kafka-1:9094"}) == "kafka-1"
    assert host({"listeners": "PLAINTEXT://localhost:9092"}) is None
    assert host({"listeners": "PLAINTEXT://localhost.example.com:9092"}) == "localhost.example.com"


@pytest.mark.parametrize(
    ("stated", "address"),
    [("zk-1:2181,zk-2:2181/kafka", "zk-1:2181,zk-2:2181/kafka"), ("127.0.0.1:2181", "127.0.0.1:2181"), ("zk-1", None)],
)
def test_zookeeper_is_where_brokers_connect(stated: str, address: str | None) -> None:
    assert of_zookeeper({"zookeeper.connect": stated}) == address
