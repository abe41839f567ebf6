"""The exporter of the model, and what its scrapes decide: never wrong, and more than without them."""

from __future__ import annotations

import io

import pytest

from benchmarks.groups import LOSS, STEPS, whole
from benchmarks.metrics import without
from forensics.model.cluster import Cluster
from forensics.model.exporter import metrics_text
from forensics.model.protocol import named
from forensics.model.random_runs import SCRAPED
from parsers.files.sources import Source
from parsers.read import read
from tests.conftest import EVERYTHING
from tests.model import batches

SEEDS = (*range(9000, 9024),) if EVERYTHING else (*range(9000, 9006),)


@pytest.mark.parametrize("protocol", ["fetch", "epoch-279-2.0", "hw"])
def test_no_answer_is_wrong(protocol: str) -> None:
    """The clock of the server is up to four minutes apart, and some scrapes ask a broker that does not lead."""
    schedules = [batches.drawn(seed, STEPS, SCRAPED, settled=seed % 2 == 0) for seed in SEEDS]
    runs = batches.played(schedules, protocol, "default")
    before, after = (
        batches.answered([(run, lose(number, content)) for number, (run, content) in enumerate(runs)])
        for lose in (without, whole)
    )
    assert [one.wrong for answers in after for one in answers if one.wrong] == []
    decided = [
        sum(one.verdict != "unknown" for given in found for one in given if one.rule == LOSS)
        for found in (before, after)
    ]
    assert decided[0] <= decided[1]


def played() -> Cluster:
    cluster = Cluster(named("fetch"), (1, 2), topic="orders")
    cluster.create_topic()
    cluster.produce(3)
    cluster.fetch(2, rounds=3)
    return cluster


def test_a_scrape_prints_the_high_watermark_and_the_leader_that_it_asked_first() -> None:
    cluster = played()
    cluster.produce(2)  # above the high watermark: no follower has them yet
    cluster.groups.read(cluster, "slow", 2)
    assert cluster.exporter.scrape(cluster, 6)
    assert cluster.exporter.scrape(cluster, 0, believes=2)  # broker 2 follows and refuses
    assert cluster.exporter.scrape(cluster, 0)
    assert [one[1:] for one in cluster.exporter.scrapes] == [
        (3, 1, (("slow", 2),)),
        (3, 2, (("slow", 2),)),
        (3, 1, (("slow", 2),)),
    ]
    assert cluster.exporter.skew == 120_000


def test_the_text_of_a_run_is_read_as_what_was_scraped() -> None:
    cluster = played()
    cluster.groups.read(cluster, "slow", 2)
    cluster.exporter.scrape(cluster, 4)
    data = metrics_text(cluster.exporter, "orders", 0).encode()
    reading = read(Source("metrics/orders.prom", len(data), lambda: io.BytesIO(data)))
    assert reading.notices.is_empty()
    rows = reading.observations.select("kind", "topic", "partition", "hw", "leader", "offset").rows()
    assert sorted(rows, key=str) == [
        ("group_scraped", "orders", 0, None, None, 2),
        ("hw_scraped", "orders", 0, 3, None, None),
        ("leader_scraped", "orders", 0, None, 1, None),
    ]
