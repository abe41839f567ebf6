"""The exporter of the model, and what its scrapes decide: never wrong, and more than without them."""

from __future__ import annotations

import io

import pytest

from benchmarks.groups import LOSS, STEPS, whole
from benchmarks.metrics import JUDGED, without
from forensics.model import faults
from forensics.model.cluster import Cluster
from forensics.model.exporter import metrics_text
from forensics.model.protocol import named
from forensics.model.random_runs import SCRAPED, SCRAPED_ALONE
from parsers.files.sources import Source
from parsers.read import read
from tests.conftest import EVERYTHING
from tests.model import batches

SEEDS = (*range(9000, 9024),) if EVERYTHING else (*range(9000, 9003),)


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


def test_log_end_offsets_show_losses_of_leaders_that_were_alone_in_the_isr() -> None:
    """In both a leader alone in the ISR wrote records that no broker's line states, and then lost power."""
    schedules = [batches.drawn(seed, STEPS, SCRAPED_ALONE, settled=seed % 2 == 0) for seed in (40021, 40092)]
    runs = batches.played(schedules, "fetch", "default")
    found = {}
    for how, lose in JUDGED.items():
        given = batches.answered([(run, lose(number, content)) for number, (run, content) in enumerate(runs)])
        found[how] = [one.kind for answers in given for one in answers if one.rule == LOSS]
        assert [one.wrong for answers in given for one in answers if one.wrong] == []
    assert found["hw"] == ["violated in part", "unknown, violated"]
    assert found["with"] == ["violated", "violated in part"]


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
    ends = ((1, 5), (2, 3))
    assert [one[1:] for one in cluster.exporter.scrapes] == [
        (3, 1, (("slow", 2),), ends),
        (3, 2, (("slow", 2),), ends),
        (3, 1, (("slow", 2),), ends),
    ]
    assert cluster.exporter.skew == 120_000


def test_the_server_repeats_the_last_log_end_offset_of_a_broker_for_five_minutes() -> None:
    cluster = played()
    cluster.exporter.scrape(cluster, 4)
    faults.crash(cluster, 2)
    cluster.produce(1)
    cluster.wait(120_000)
    cluster.exporter.scrape(cluster, 4)
    cluster.wait(240_000)
    cluster.exporter.scrape(cluster, 4)
    assert [one.log_ends for one in cluster.exporter.scrapes] == [((1, 3), (2, 3)), ((1, 4), (2, 3)), ((1, 4),)]


def test_the_text_of_a_run_is_read_as_what_was_scraped() -> None:
    cluster = played()
    cluster.groups.read(cluster, "slow", 2)
    cluster.exporter.scrape(cluster, 4)
    data = metrics_text(cluster.exporter, "orders", 0).encode()
    reading = read(Source("metrics/orders.prom", len(data), lambda: io.BytesIO(data)))
    assert reading.notices.is_empty()
    rows = reading.observations.select("kind", "partition", "hw", "leader", "offset", "replica", "leo").rows()
    assert set(reading.observations.get_column("topic")) == {"orders"}
    assert sorted(rows, key=str) == [
        ("group_scraped", 0, None, None, 2, None, None),
        ("hw_scraped", 0, 3, None, None, None, None),
        ("leader_scraped", 0, None, 1, None, None, None),
        ("leo_scraped", 0, None, None, None, 1, 3),
        ("leo_scraped", 0, None, None, None, 2, 3),
    ]
