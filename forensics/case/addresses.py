"""Addresses at which brokers and ZooKeeper are reached, as the settings of brokers state them.

Commands of reports name them. An operator may paste these into a shell, and anybody may have made the settings. So an
address has only characters that mean nothing to a shell, or it is none. The brackets of IPv6 are a pattern to some
shells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

ADVERTISED: Final = "advertised.listeners"
LISTENERS: Final = "listeners"
OF_CONTROLLERS: Final = "controller.listener.names"
ZOOKEEPER: Final = "zookeeper.connect"
SETTINGS: Final = frozenset({ADVERTISED, LISTENERS, OF_CONTROLLERS, ZOOKEEPER})

_HOST: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}"
_LISTENER: Final = re.compile(rf"(?P<name>[A-Za-z0-9_.-]+)://(?P<host>{_HOST}):(?P<port>[0-9]{{1,5}})")
_EVERY_INTERFACE: Final = "0.0.0.0"
"""The host of a listener that stands for all addresses of a machine, and leads nowhere from another one."""

_LOOPBACK: Final = re.compile(r"localhost$|127\.")

_ENSEMBLE: Final = re.compile(rf"{_HOST}:[0-9]{{1,5}}(?:,{_HOST}:[0-9]{{1,5}})*(?:/[A-Za-z0-9._/-]*)?")


def of_broker(settings: Mapping[str, str]) -> str | None:
    """Return the address at which clients reach a broker (``kafka.server.KafkaConfig``, 0.9 to 4.1).

    That is the first advertised listener, else the first listener. Those of controllers are left out, as commands of
    clients cannot use them.

    Args:
        settings: of one broker, by name.

    Returns:
        Host and port, as ``kafka-1:9092``; None if no setting states a host.

    >>> of_broker({"advertised.listeners": "INTERNAL://kafka-1:9092,EXTERNAL://203.0.113.7:443"})
    'kafka-1:9092'
    >>> of_broker({"listeners": "PLAINTEXT://:9092"})
    """
    controllers = {name.strip() for name in settings.get(OF_CONTROLLERS, "").strip("[]").split(",")}
    return next((f"{host}:{port}" for name, host, port in _listeners(settings) if name not in controllers), None)


def host(settings: Mapping[str, str]) -> str | None:
    """Return the host of a broker or a controller, by its first listener of any kind that states one.

    Without those that lead nowhere from another machine.

    >>> host({"listeners": "CONTROLLER://ctl-1:9093", "controller.listener.names": "CONTROLLER"})
    'ctl-1'
    """
    return next((host for _, host, _ in _listeners(settings) if not _LOOPBACK.match(host)), None)


def _listeners(settings: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, host and port of each listener that leads to the machine, the advertised ones first."""
    for key in (ADVERTISED, LISTENERS):
        for one in settings.get(key, "").strip("[]").split(","):
            found = _LISTENER.fullmatch(one.strip())
            if found is not None and found["host"] != _EVERY_INTERFACE:
                yield found["name"], found["host"], found["port"]


def of_zookeeper(settings: Mapping[str, str]) -> str | None:
    """Return where a broker finds ZooKeeper, with the path of its cluster there; None if it states none.

    >>> of_zookeeper({"zookeeper.connect": "zk-1:2181,zk-2:2181/kafka"})
    'zk-1:2181,zk-2:2181/kafka'
    """
    value = settings.get(ZOOKEEPER, "").strip()
    return value if _ENSEMBLE.fullmatch(value) else None
