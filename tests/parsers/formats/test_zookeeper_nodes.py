"""Nodes of ZooKeeper: as a shell prints them, as one JSON object and as files in folders of their names."""

from __future__ import annotations

import json

import pytest

from parsers.errors import NotThisFormat
from parsers.formats.zookeeper_nodes import read_nodes
from parsers.read import read
from tests.parsers.handing_over import source

STATE = '{"controller_epoch":3,"leader":2,"version":1,"leader_epoch":5,"isr":[2,3]}'
OFFLINE = '{"controller_epoch":3,"leader":-1,"version":1,"leader_epoch":6,"isr":[]}'
PRINTED = f"""Connecting to localhost:2181

WATCHER::

WatchedEvent state:SyncConnected type:None path:null
get /controller
{{"version":1,"brokerid":1,"timestamp":"1700000000000"}}
get /controller_epoch
3
[zk: localhost:2181(CONNECTED) 2] get -s /brokers/topics/a.b-c/partitions/0/state
{STATE}
cZxid = 0x1a
ctime = Fri Mar 01 10:00:00 UTC 2024
mtime = Fri Mar 01 10:20:00 UTC 2024
dataVersion = 7
get /brokers/topics/a.b-c/partitions/1/state
{OFFLINE}
"""
COLUMNS = ("topic", "partition", "replica", "leader", "leader_epoch", "partition_epoch", "isr", "detail")
ROWS = [
    (None, None, 1, None, None, None, None, "controller"),
    (None, None, None, None, None, None, None, "controller_epoch=3"),
    ("a.b-c", 0, None, 2, 5, 7, "2,3", "controller_epoch=3"),
    ("a.b-c", 1, None, -1, 6, None, "", "controller_epoch=3"),
]


def test_as_a_shell_prints_them() -> None:
    reading = read(source(PRINTED.encode(), "zk.txt"))
    assert (reading.format, reading.notices.height) == ("zookeeper-nodes", 0)
    assert reading.observations.select(COLUMNS).rows() == ROWS
    assert reading.observations.get_column("line").to_list() == [7, 9, 11, 17]


NODES = {
    "/controller": {"version": 1, "brokerid": 1},
    "/controller_epoch": 3,
    "/brokers/topics/a.b-c/partitions/0/state": STATE,
    "/brokers/topics/a.b-c/partitions/1/state": json.loads(OFFLINE),
    "/brokers/ids/1": {},
}


@pytest.mark.parametrize("chroot", ["", "/kafka", "/kafka/one"])
@pytest.mark.parametrize("indent", [None, 2])
def test_as_one_object_of_paths(indent: int | None, chroot: str) -> None:
    """The connect string of a cluster may end with a chroot, as ``zk1:2181/kafka``."""
    nodes = {chroot + path: content for path, content in NODES.items()}
    reading = read(source(json.dumps(nodes, indent=indent).encode(), "zk.json"))
    assert reading.format == "zookeeper-nodes"
    without_version = [(*row[:5], None, *row[6:]) for row in ROWS]
    assert reading.observations.select(COLUMNS).rows() == without_version


@pytest.mark.parametrize("indent", [None, 2])
def test_nodes_of_two_clusters_in_one_object_are_not_put_together(indent: int | None) -> None:
    nodes = {chroot + path: content for chroot in ("/one", "/two") for path, content in NODES.items()}
    assert read(source(json.dumps(nodes, indent=indent).encode(), "zk.json")).observations.is_empty()


@pytest.mark.parametrize("ending", ["", ".json"])
def test_as_a_file_in_the_folders_of_its_node(ending: str) -> None:
    reading = read(source(STATE.encode(), f"saved/brokers/topics/a.b-c/partitions/0/state{ending}"))
    assert reading.observations.select("topic", "partition", "leader", "leader_epoch").rows() == [("a.b-c", 0, 2, 5)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "no JSON object"),
        ("{}", '"leader" is no broker id, or -1'),
        (STATE.replace("2,", '"2",'), '"leader" is no broker id, or -1'),
        (STATE.replace('"leader":2', '"leader":true'), '"leader" is no broker id, or -1'),
        (STATE.replace("5", "99999999999"), '"leader_epoch" is no leader epoch'),
        (STATE.replace("[2,3]", '"2,3"'), '"isr" is no list of broker ids'),
        (STATE.replace("[2,3]", "[null]"), '"isr" is no list of broker ids'),
        ("[" * 9, "no JSON object"),
    ],
)
def test_contents_of_another_form_are_a_notice(content: str, why: str) -> None:
    reading = read_nodes(json.dumps({"/brokers/topics/t/partitions/0/state": content}), "zk.json")
    assert reading.observations.height == 0
    (reason,) = reading.notices.get_column("reason")
    assert reason == f"a node of ZooKeeper with contents of another form: {why}"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("get /controller_epoch\nxx", "no number"),
        ("[zk: localhost:2181(CONNECTED) 3] get /controller\n\n{}", '"brokerid" is no broker id'),
        ("get -s /brokers/topics/b/partitions/1/state\nnonsense\ncZxid = 0x1a", "no JSON object"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_bad_node_beside_a_good_one_is_a_notice(bad: str, why: str, first: bool) -> None:
    good = f"get /brokers/topics/a/partitions/0/state\n{STATE}"
    text = "\n".join([bad, good] if first else [good, bad])
    reading = read(source(text.encode(), "zk.txt"))
    assert reading.observations.get_column("topic").to_list() == ["a"]
    (reason,) = reading.notices.get_column("reason")
    assert reason == f"a node of ZooKeeper with contents of another form: {why}"


def test_a_node_that_does_not_exist_is_no_bad_one() -> None:
    text = f"get /controller\nNode does not exist: /controller\nget /brokers/topics/a/partitions/0/state\n{STATE}\n"
    reading = read(source(text.encode(), "zk.txt"))
    assert (reading.observations.height, reading.notices.height) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "get /brokers/topics/a/partitions/0/state",
        "get /controller_epoch_old\n3\n",
        "[2024-03-01 10:00:00,000] INFO Updated /controller_epoch (kafka.controller.KafkaController)\n3\n",
        "[2024-03-01 10:00:00,000] DEBUG read /brokers/topics/a/partitions/0/state (kafka.zk.KafkaZkClient)\n" + STATE,
    ],
)
def test_what_names_no_node_or_is_a_log_is_none_of_them(text: str) -> None:
    assert read(source(text.encode(), "some.txt")).format != "zookeeper-nodes"


def test_the_reader_refuses_a_text_without_nodes() -> None:
    with pytest.raises(NotThisFormat):
        read_nodes("nothing", "zk.txt")


@pytest.mark.parametrize("ending", ["", ".json", ".txt"])
@pytest.mark.parametrize(
    ("name", "content", "row"),
    [
        ("controller", '{"version":1,"brokerid":3,"timestamp":"1700000000000"}\n', (3, "controller")),
        ("controller_epoch", "7\n", (None, "controller_epoch=7")),
    ],
)
def test_a_file_of_the_controller(name: str, content: str, row: tuple[object, ...], ending: str) -> None:
    """With and without what a shell prints before it."""
    for before in ("", "Connecting to localhost:2181\n\nWATCHER::\n\nWatchedEvent state:SyncConnected path:null\n"):
        reading = read(source((before + content).encode(), f"saved/zookeeper/{name}{ending}"))
        assert (reading.format, reading.notices.height) == ("zookeeper-nodes", 0)
        assert reading.observations.select("replica", "detail").rows() == [row]


@pytest.mark.parametrize(("name", "content"), [("controller", "started\n"), ("controller_epoch", "7 8\n")])
def test_another_file_of_that_name(name: str, content: str) -> None:
    assert read(source(content.encode(), f"saved/{name}")).format != "zookeeper-nodes"


def test_an_object_in_several_lines() -> None:
    """As jq prints it, in a file of the node and behind the command of a shell."""
    shown = json.dumps(json.loads(STATE), indent=4)
    path = "brokers/topics/a.b-c/partitions/0/state"
    for name, content in ((path, shown), ("zk.txt", f"get -s /{path}\n{shown}\ncZxid = 0x1a\ndataVersion = 7\n")):
        reading = read(source(content.encode(), name))
        assert (reading.format, reading.notices.height) == ("zookeeper-nodes", 0)
        assert reading.observations.select("topic", "leader", "leader_epoch", "isr").rows() == [("a.b-c", 2, 5, "2,3")]
        assert reading.observations.get_column("partition_epoch").to_list() == [7 if name == "zk.txt" else None]


def test_an_object_that_does_not_end_is_a_notice() -> None:
    shown = json.dumps(json.loads(STATE), indent=4)
    reading = read(source(shown[:-2].encode(), "brokers/topics/a.b-c/partitions/0/state"))
    assert reading.observations.is_empty()
    assert "contents of another form" in reading.notices.get_column("reason")[0]


@pytest.mark.parametrize(
    "path",
    [
        "a.b-c-0.json",
        "zk/a.b-c-0-state.txt",
        "a.b-c-0",
        "saved/a.b-c-0.state.json",
        "a.b-c-0-zookeeper.txt",
        "topics/a.b-c/0/state.json",
        "topics/a.b-c/partitions/0/state.json",
        "saved/a.b-c-0/state.json",
        "saved/a.b-c-0/zk-state.txt",
        "brokers_topics_a.b-c_partitions_0_state",
        "brokers-topics-a.b-c-partitions-0-state.json",
    ],
)
def test_as_a_file_that_is_named_after_its_partition(path: str) -> None:
    """What a shell prints around it does not matter."""
    printed = f"Connecting to localhost:2181\n\nWATCHER::\n{STATE}\ncZxid = 0x1a\ndataVersion = 7\n"
    for text, version in ((STATE, None), (printed, 7), (json.dumps(json.loads(STATE), indent=2), None)):
        reading = read(source(text.encode(), path))
        assert (reading.format, reading.notices.height) == ("zookeeper-nodes", 0)
        expected = ("a.b-c", 0, None, 2, 5, version, "2,3", "controller_epoch=3")
        assert reading.observations.select(COLUMNS).rows() == [expected]


@pytest.mark.parametrize(
    "path",
    ["state.json", "broker-1/state.json", "broker-1.json", "prod-1/out.txt", "two-0.json", "case/12/state.txt"],
)
def test_a_state_without_the_name_of_its_partition_is_a_notice(path: str) -> None:
    reading = read(source((STATE if path != "two-0.json" else f"{STATE}\n{OFFLINE}").encode(), path))
    assert (reading.format, reading.observations.height) == ("zookeeper-nodes", 0)
    (reason,) = reading.notices.get_column("reason")
    assert reason.startswith(
        "the state of a partition in ZooKeeper (leader 2, leader epoch 5, ISR [2, 3]), and no name"
    )
    assert reason.endswith("call the file after it, as in orders-0.json")
