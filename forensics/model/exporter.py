"""Exporters of metrics, and the server that scrapes them.

One is as kafka_exporter: it asks for the end of the partition. It keeps the leader that it last found. It prints this
one and asks it. If that one refuses, it looks for the leader. The JMX exporter of each broker prints the log end offset
of the broker's replica. While a broker does not answer, the server repeats its last value for five minutes. The clock
of the server is minutes apart from those of the brokers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from forensics.model.trace import epoch_ms

if TYPE_CHECKING:
    from forensics.model.cluster import Cluster
    from forensics.model.state import Replica

FOLDER = "metrics"
WAITS_FOR_START = "2.2"
"""First release whose leader answers only once its high watermark has reached the start of its epoch (KIP-207)."""
_SECOND, _MINUTE = 1_000, 60_000
_LOOKBACK = 5 * _MINUTE
"""How old a value may be that the server repeats (``query.lookback-delta`` of Prometheus)."""
_GROUP = "kafka_consumergroup_current_offset"
LOG_END = "kafka_log_log_logendoffset"
"""Name of the series of log end offsets."""


class Scraped(NamedTuple):
    """One scrape.

    Attributes:
        at: logical milliseconds.
        end: the partition's end, as a consumer gets it.
        leader: the leader that it believed in before it asked.
        positions: what groups had committed last.
        log_ends: log end offset of each broker's replica, where its exporter answered in the last minutes.
    """

    at: int
    end: int
    leader: int
    positions: tuple[tuple[str, int], ...]
    log_ends: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Exporter:
    """The exporter and the server that scrapes it.

    Attributes:
        scrapes: what was printed, in order.
        skew: how many milliseconds the server's clock is ahead; drawn with the first scrape.
    """

    scrapes: list[Scraped] = field(default_factory=list)
    skew: int | None = None
    _leader: int | None = None
    _log_ends: dict[int, tuple[int, int]] = field(default_factory=dict)

    def scrape(self, cluster: Cluster, number: int, believes: int | None = None) -> bool:
        """Scrape once. Return whether there was an answer.

        Args:
            cluster: the cluster.
            number: draws the clock.
            believes: the broker that other brokers named as leader just before, rightly or not; None for whom it
                believed in before.
        """
        if self.skew is None:
            self.skew = (number - 4) * _MINUTE
        current = cluster.leader()
        if believes is not None or self._leader is None:
            self._leader = believes if believes is not None else current.broker if current is not None else None
        cluster.wait(_SECOND, fetching=False)
        asked = printed = self._leader
        end = _answer(cluster, asked)
        if end is None and current is not None:
            self._leader = current.broker
            end = _answer(cluster, current.broker)
        if end is None or printed is None:
            return False
        last = {one.group: one.position for one in cluster.groups.commits}
        self.scrapes.append(Scraped(cluster.now, end, printed, tuple(sorted(last.items())), self._ends(cluster)))
        return True

    def _ends(self, cluster: Cluster) -> tuple[tuple[int, int], ...]:
        """Return the log end offset of each broker's replica, or its last one if the broker does not answer."""
        for broker in cluster.assigned:
            replica: Replica = cluster.replica(broker)
            if cluster.runs(broker) and (replica.role or replica.log.end):
                self._log_ends[broker] = (cluster.now, replica.log.end)
        known = sorted(self._log_ends.items())
        return tuple((broker, end) for broker, (at, end) in known if at >= cluster.now - _LOOKBACK)


def _answer(cluster: Cluster, broker: int | None) -> int | None:
    """Return what a broker answers to a consumer that asks for the end of the partition; None if it refuses."""
    if broker is None or not cluster.runs(broker):
        return None
    replica: Replica = cluster.replica(broker)
    if replica.role != "leader" or replica.hw is None:
        return None
    if cluster.protocol.kafka >= WAITS_FOR_START and cluster.protocol.epochs:
        start = max((start for epoch, start in replica.epochs.entries if epoch == replica.leader_epoch), default=0)
        if replica.hw < start:
            return None
    return max(replica.hw, 0)


def metrics_text(exporter: Exporter, topic: str, partition: int) -> str:
    """Return the scrapes as text, one after the other, with the times of the server."""
    place = f'topic="{topic}",partition="{partition}"'
    lines = ["# TYPE kafka_topic_partition_current_offset gauge"]
    for one in exporter.scrapes:
        at = epoch_ms(one.at + (exporter.skew or 0))
        lines.append(f"kafka_topic_partition_leader{{{place}}} {one.leader} {at}")
        lines.append(f"kafka_topic_partition_current_offset{{{place}}} {one.end} {at}")
        lines += [f'{_GROUP}{{consumergroup="{group}",{place}}} {position} {at}' for group, position in one.positions]
        lines += [f'{LOG_END}{{broker="{broker}",{place}}} {end} {at}' for broker, end in one.log_ends]
    return "\n".join(lines) + "\n"
