"""Logs that go on while clusters come and go: each line is of the cluster of the process that printed it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from forensics.case import Case
from forensics.case.lives import UNKNOWN
from forensics.engines import local
from forensics.engines.pipeline.stored import Stored
from forensics.reports import json_report
from tests.conftest import EVERYTHING
from tests.engines.without_spark import run

LIVES = ("kip101-0.10.2.2", "unclean-0.10.2.2")
"""Recorded clusters whose brokers have the same ids and whose topics the same names."""

KRAFT = ("unclean-3.9.1", "emptydisk-3.9.1")
"""The same without ZooKeeper."""

SERVER = "kafka.server.KafkaServer"
START, ID = f"INFO Connecting to zookeeper on zk:2181 ({SERVER})", f"INFO Cluster ID = {{}} ({SERVER})"
SETTINGS = "INFO KafkaConfig values: \n\tbroker.id = {}\n\tlog.dirs = {}\n (kafka.server.KafkaConfig)"
ENDED = f"INFO [KafkaServer id={{}}] shut down completed ({SERVER})"
ELECTED = (
    "INFO [Controller id={0}] Ready to serve as the new controller with epoch {1} (kafka.controller.KafkaController)"
)
LEADS = (
    "INFO [Partition {}-0 broker=1] {}-0 starts at leader epoch {} from offset {} with high watermark {}. Previous "
    "leader epoch was -1. (kafka.cluster.Partition)"
)

ROLE = (
    "INFO [Broker id={0}] Leader {1}-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1,2] "
    "addingReplicas [] removingReplicas []. Previous leader epoch was -1. (state.change.logger)"
)


def printed(*lines: tuple[str, str]) -> str:
    """A log of lines, each with its time on one day or with a date of its own."""
    return "".join(f"[{'2026-03-02 ' * (len(when) < 12)}{when},000] {text}\n" for when, text in lines)


def written(folder: Path, texts: dict[str, str]) -> Case:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return local.take_in([str(folder)])


def told(case: Case) -> dict[str | None, set[str]]:
    """The topics that are spoken of, by cluster."""
    found: dict[str | None, set[str]] = {}
    for part in case.parts:
        names = part.sources.get_column("cluster").unique().to_list()
        assert len(names) == 1
        topics = part.observations.get_column("topic").drop_nulls()
        found[names[0]] = set(topics.to_list())
    return found


def answers(paths: list[Path]) -> list[str]:
    document = json_report.document(local.scan([str(path) for path in paths]))
    return sorted(
        json.dumps(
            {
                "place": [p[key] for key in ("cluster", "topic", "partition", "incarnation") if key in p],
                "verdicts": {rule: (v["verdict"], v["missing"]) for rule, v in p["verdicts"].items()},
                "findings": [
                    [f["rule"], f["offsets"], f["replicas"], f["summary"], [e["text"] for e in f["evidence"]]]
                    for f in document["findings"]
                    if (f["cluster"], f["topic"], f["partition"]) == (p["cluster"], p["topic"], p["partition"])
                ],
            },
            sort_keys=True,
        )
        for p in document["partitions"]
    )


@pytest.mark.parametrize(("rotated", "lives"), [(True, LIVES), (False, LIVES), (False, KRAFT)])
def test_two_lives_in_the_same_logs_are_judged_as_if_apart(
    rotated: bool, lives: tuple[str, str], sample_traces: Path, tmp_path: Path
) -> None:
    """Only server.log prints the id; rotated or not, the other logs are of the process that ran at their time."""
    apart = [tmp_path / name for name in lives]
    for at, name in enumerate(lives):
        for log in sorted((sample_traces / name).glob("broker-[1-3]/logs/*.log")):
            place = log.relative_to(sample_traces / name)
            turn = f".2026-11-21-{at:02}" if rotated and at == 0 else ""
            for folder in (apart[at], tmp_path / "both"):
                file = folder / place.parent / f"{place.name}{turn}"
                file.parent.mkdir(parents=True, exist_ok=True)
                with file.open("a") as whole:
                    whole.write(log.read_text())
    alone = sorted(answer for folder in apart for answer in answers([folder]))
    assert any('"violated"' in answer for answer in alone)
    assert answers([tmp_path / "both"]) == alone
    case = local.take_in([str(tmp_path / "both")])
    assert sum(part.observations.height for part in case.parts) == case.observations.height
    found = run(str(tmp_path / "both"), tmp_path / "out")
    assert json_report.render(found) == json_report.render(local.scan([str(tmp_path / "both")]))
    again = Stored(tmp_path / "out").result(whole=True).case
    assert [part.observations.height for part in again.parts] == [part.observations.height for part in case.parts]


def test_logs_of_two_kraft_clusters_in_one_folder_are_not_compared(sample_traces: Path, tmp_path: Path) -> None:
    """Container logs have no meta.properties beside them: each start of a broker prints the id of its cluster."""
    apart = [tmp_path / name for name in KRAFT]
    for folder, name in zip(apart, KRAFT, strict=True):
        for log in sorted((sample_traces / name).glob("broker-[1-3]/logs/server.log")):
            for place in (folder, tmp_path / "both"):
                place.mkdir(exist_ok=True)
                (place / f"{name}.{log.parts[-3]}.log").write_text(log.read_text())
    assert answers([tmp_path / "both"]) == sorted(answer for folder in apart for answer in answers([folder]))


def test_a_cluster_that_begins_anew_under_the_same_id_has_other_topics(sample_traces: Path, tmp_path: Path) -> None:
    """Compose files name the cluster id, so emptied volumes keep it; container logs lack state-change.log."""
    names = ("unclean-3.9.1", "flap-3.9.1")
    meta = [(sample_traces / name / "broker-1/data/meta.properties").read_text() for name in names]
    first, second = (text.split("cluster.id=")[1].split()[0] for text in meta)
    for broker in (1, 2, 3):
        folder = tmp_path / f"broker-{broker}"
        folder.mkdir()
        logs = [(sample_traces / name / f"broker-{broker}/logs/server.log").read_text() for name in names]
        (folder / "server.log").write_text("".join(logs).replace(first, second))
    found = local.scan([str(tmp_path)])
    lives = [one.history.incarnation for one in found.partitions if one.history.name == "orders-0"]
    assert len(lives) == len(names)
    assert [one for one in found.findings if "created again" in one.summary] == []


ZOOKEEPER = (
    ("kip101-0.10.2.2", "unclean-0.10.2.2"),
    ("zombie-1.1.1", "bitflip-1.1.1"),
    ("acks1-2.8.2", "epochgarbled-2.8.2"),
)
"""Recorded clusters with ZooKeeper of which the second began after the first had ended."""


@pytest.mark.parametrize("names", ZOOKEEPER if EVERYTHING else ZOOKEEPER[-1:], ids="+".join)
def test_a_zookeeper_cluster_that_begins_anew_under_the_same_id(
    names: tuple[str, str], sample_traces: Path, tmp_path: Path
) -> None:
    """Its data directories were emptied, so no line shows a deletion, and roles do not name a topic id."""
    lives = [sample_traces / name for name in names]
    both = tmp_path / "both"
    ids = [re.findall(r"Cluster ID = (\S+)", (life / "broker-1/logs/server.log").read_text())[0] for life in lives]
    shutil.copytree(lives[1], both, ignore=shutil.ignore_patterns("logs"))
    for at, life in enumerate(lives):
        for log in sorted(life.glob("broker-*/logs/*.log")):
            text = log.read_text().replace(ids[0], ids[1]) if at == 0 else log.read_text()
            for folder in (tmp_path / str(at), both):
                place = folder / log.relative_to(life)
                place.parent.mkdir(parents=True, exist_ok=True)
                with place.open("a") as file:
                    file.write(text)
    apart = [*alarms(tmp_path / "0", 1), *alarms(lives[1], 0)]
    assert alarms(both, 0) == sorted(apart)


def alarms(folder: Path, incarnation: int) -> list[tuple[int, str, str, str, str]]:
    """All but the notes on what is not at hand, each with the incarnation: those given are later ones' by so many."""
    found = [one for one in local.scan([str(folder)]).findings if one.rule != "evidence-gap"]
    return sorted(
        (
            one.incarnation + incarnation,
            one.rule,
            f"{one.topic}-{one.partition}",
            str(one.offsets),
            one.confidence.value,
        )
        for one in found
    )


def two_lives(*between: tuple[str, str]) -> str:
    return printed(
        ("08:00:00", START),
        ("08:00:01", ID.format("blue")),
        ("08:00:02", SETTINGS.format(1, "/srv/a")),
        ("08:10:00", LEADS.format("pears", "pears", 3, 70, 70)),
        *between,
        ("12:00:00", START),
        ("12:00:01", ID.format("green")),
        ("12:00:02", SETTINGS.format(1, "/srv/b")),
        ("12:10:00", LEADS.format("plums", "plums", 0, 0, 0)),
    )


def test_a_process_that_ends_ends_its_cluster(tmp_path: Path) -> None:
    """After it another ran of which neither start nor id is at hand: its lines are of neither cluster."""
    log = two_lives(("09:00:00", ENDED.format(1)), ("10:00:00", LEADS.format("figs", "figs", 9, 4, 4)))
    roles = printed(("10:00:03", LEADS.format("nuts", "nuts", 9, 4, 4)), ("11:00:00", ELECTED.format(1, 4)))
    case = written(tmp_path, {"server.log": log, "state-change.log": roles})
    assert told(case) == {"blue": {"pears"}, "green": {"plums"}, f"{UNKNOWN}1": {"figs", "nuts"}}
    reasons = case.notices.get_column("reason").to_list()
    assert [reason for reason in reasons if "no line prints the id of the cluster" in reason]


def test_without_such_an_end_it_is_the_same_process(tmp_path: Path) -> None:
    log = two_lives(("10:00:00", LEADS.format("figs", "figs", 9, 4, 4)))
    roles = printed(
        ("11:59:59", LEADS.format("nuts", "nuts", 9, 4, 4)), ("12:00:00", LEADS.format("limes", "limes", 1, 1, 1))
    )
    case = written(tmp_path, {"server.log": log, "state-change.log": roles})
    assert told(case) == {"blue": {"pears", "figs", "nuts"}, "green": {"plums", "limes"}}
    assert case.notices.is_empty()


def test_a_controller_epoch_that_falls_is_another_cluster(tmp_path: Path) -> None:
    """Its server.log is not at hand: between two lives of printed ids lies one that nothing names."""
    controller = printed(
        ("08:00:05", ELECTED.format(1, 6)),
        ("09:30:00", ELECTED.format(1, 7)),
        ("10:30:00", ELECTED.format(1, 2)),
        ("12:00:05", ELECTED.format(1, 1)),
    )
    roles = printed(
        ("09:31:00", LEADS.format("nuts", "nuts", 9, 4, 4)),
        ("10:29:59", LEADS.format("figs", "figs", 0, 0, 0)),
        ("10:31:00", LEADS.format("figs", "figs", 0, 0, 0)),
    )
    texts = {"server.log": two_lives(), "controller.log": controller, "state-change.log": roles}
    found = told(written(tmp_path, texts))
    assert found == {"blue": {"pears", "nuts", "figs"}, "green": {"plums"}, f"{UNKNOWN}1": {"figs"}}


def test_one_that_goes_on_rising_is_of_the_cluster_before(tmp_path: Path) -> None:
    """The same cluster id before and after, and no line of a start between: nothing was begun anew."""
    log = two_lives() + printed(
        ("13:00:00", ENDED.format(1)),
        ("14:00:00", LEADS.format("figs", "figs", 1, 4, 4)),
        ("15:00:00", START),
        ("15:00:01", ID.format("green")),
    )
    assert told(written(tmp_path, {"server.log": log})) == {"blue": {"pears"}, "green": {"plums", "figs"}}


def test_a_start_whose_process_never_learned_its_cluster_is_of_the_process_before(tmp_path: Path) -> None:
    log = two_lives(("09:00:00", START))
    assert told(written(tmp_path, {"server.log": log})) == {"blue": {"pears"}, "green": {"plums"}}


def test_a_folder_of_one_id_is_not_divided(tmp_path: Path) -> None:
    for name, cluster in (("a", "blue"), ("b", "green")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "server.log").write_text(printed(("08:00:00", START), ("08:00:01", ID.format(cluster))))
        (folder / "state-change.log").write_text(printed(("07:00:00", LEADS.format("figs", "figs", 1, 4, 4))))
    case = local.take_in([str(tmp_path)])
    assert case.lives.is_empty()
    assert set(case.sources.get_column("cluster")) == {"blue", "green"}


def test_each_part_has_the_brokers_and_settings_of_its_own_processes(tmp_path: Path) -> None:
    case = written(tmp_path, {"server.log": two_lives()})
    assert [(b.cluster, b.settings["log.dirs"]) for b in case.everyone] == [("blue", "/srv/a"), ("green", "/srv/b")]
    spans = {
        part.sources.get_column("cluster")[0]: part.sources.select("first_time", "last_time").row(0)
        for part in case.parts
    }
    assert spans["blue"][1] < spans["green"][0]
    assert case.sources.get_column("cluster").to_list() == ["green"]


def test_two_brokers_of_two_clusters_in_one_folder_are_told_by_broker(tmp_path: Path) -> None:
    """They print in turn to a folder, so that its time alone tells no cluster; each file is of one broker."""
    texts = {}
    for broker, name, topic in ((1, "blue", "pears"), (2, "green", "plums")):
        texts[f"server-{broker}.log"] = printed(
            (f"08:0{broker}:00", START),
            (f"08:0{broker}:01", ID.format(name)),
            (f"08:0{broker}:02", SETTINGS.format(broker, f"/srv/{broker}")),
            (f"09:0{broker}:00", START),
            (f"09:0{broker}:01", ID.format(name)),
            (f"09:0{broker}:03", LEADS.format(topic, topic, 0, 0, 0).replace("broker=1", f"broker={broker}")),
        )
    assert told(written(tmp_path, texts)) == {"blue": {"pears"}, "green": {"plums"}}


def test_lines_without_a_cluster_stay_together(tmp_path: Path) -> None:
    case = written(tmp_path, {"server.log": two_lives()[:400]})
    assert case.parts == (case,)
    assert case.divided.is_empty()
    assert isinstance(case.lives, pl.DataFrame)


def test_one_that_goes_back_to_a_former_cluster_is_no_second_broker(tmp_path: Path) -> None:
    """Beside it lie a log of several brokers, and one whose broker is not known: they are of the same processes."""
    again = printed(
        ("13:00:00", START), ("13:00:01", ID.format("blue")), ("13:00:02", SETTINGS.format(1, "/srv/a")),
        ("13:10:00", LEADS.format("pears", "pears", 4, 70, 70)),
    )  # fmt: skip
    roles = printed(("08:20:00", ROLE.format(1, "figs")), ("08:20:01", ROLE.format(2, "figs")))
    roles += printed(("12:20:00", ROLE.format(1, "nuts")), ("12:20:01", ROLE.format(2, "nuts")))
    case = written(tmp_path, {"server.log": two_lives() + again, "state-change.log": roles})
    assert told(case) == {"blue": {"pears", "figs"}, "green": {"plums", "nuts"}}
