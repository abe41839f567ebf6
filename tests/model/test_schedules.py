"""A user's own schedule: the documented examples under every protocol, and what is told of wrong ones."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from forensics.cli.simulate import simulate
from forensics.engines.local import scan
from forensics.errors import BadConfiguration, UnreadableInput, UnwritableOutput
from forensics.model import EVERY, BadSchedule, Run, StepRefused, schedule, what_if
from forensics.model.schedule_steps import STEPS
from tests.model.batches import compared

FOLDER = Path(__file__).parents[2] / "docs" / "schedules"
EXAMPLES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".yaml", ".json"))
NAMES = [path.name for path in EXAMPLES]


def call(*arguments: object) -> Result:
    return CliRunner().invoke(simulate, [str(argument) for argument in arguments])


def written(folder: Path, *steps: Any, **others: Any) -> Path:
    """A schedule of two brokers with these steps."""
    file = folder / "mine.json"
    file.write_text(json.dumps({"brokers": [1, 2], "steps": list(steps), **others}))
    return file


def refusal(file: Path, protocol: str = "hw") -> str:
    with pytest.raises(BadSchedule) as caught:
        schedule(file).scenario().run(protocol)
    assert str(caught.value).startswith(f"{file}: ")
    return str(caught.value).removeprefix(f"{file}: ")


def test_the_documentation_has_every_step_and_example() -> None:
    page = (FOLDER / "README.md").read_text()
    rows = page.partition("<!-- steps -->\n")[2].partition("<!-- end -->")[0].splitlines()[2:]
    told = []
    for kind in STEPS:
        fields = "; ".join(f"`{f.name}`{' (needed)' if f.required else ''}: {f.what}" for f in kind.fields)
        told.append(f"| `{kind.name}` | {kind.what} | {fields or '-'} |")
    assert rows == told
    assert all(f"]({name})" in page for name in NAMES)
    assert len({kind.name for kind in STEPS}) == len(STEPS)


LOST = {("fork.yaml", protocol.name) for protocol in EVERY} | {("no-answer.yaml", "hw")}
FORKED = {("fork.yaml", "hw"), ("no-answer.yaml", "hw")}


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_the_examples_come_out_as_they_say(path: Path) -> None:
    """What an example expects of its states holds under every protocol, or a step would be refused."""
    outcomes = what_if(schedule(path).scenario())
    for row in outcomes:
        assert row["refused"] == ""
        assert (row["committed data lost"] == "[1, 2)") == ((path.name, row["protocol"]) in LOST)
        assert (row["fork"] == "[1, 2)") == ((path.name, row["protocol"]) in FORKED)


# Not answered from the trace today; may only become less. Another leader than that of the records had committed them.
UNSAID = {("high-watermark-behind.yaml", "hw"), ("no-answer.yaml", "hw")}


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
@pytest.mark.parametrize("protocol", ["hw", "fetch"])
def test_the_trace_of_an_example_is_judged_alone(path: Path, protocol: str, tmp_path: Path) -> None:
    result = call("--schedule", path, "--protocol", protocol, "--trace", tmp_path / "trace.jsonl")
    assert result.exit_code == 0, result.output
    first = json.loads((tmp_path / "trace.jsonl").read_text().splitlines()[0])
    assert (first["kind"], first["complete"], bool(first["cluster"])) == ("trace", True, True)
    truth = schedule(path).scenario().run(protocol).truth()
    (partition,) = scan([str(tmp_path / "trace.jsonl")]).partitions
    for answer in compared([partition.judgements], truth):
        assert not answer.wrong, answer
    undecided = {rule for rule, judged in partition.judgements.items() if judged.verdict.value == "unknown"}
    unsaid = (path.name, protocol) in UNSAID
    assert undecided <= ({"truncation-below-committed", "uncommitted-truncation"} if unsaid else set())


@pytest.mark.parametrize("logging", ["default", "replication"])
def test_a_loss_settles_whether_what_was_truncated_had_been_committed(logging: str, tmp_path: Path) -> None:
    """The partition lost the offset as the follower that had truncated it led next (KIP-101): nothing is left open."""
    example = FOLDER / "no-answer.yaml"
    made = call("--schedule", example, "--protocol", "hw", "-o", tmp_path / "one", "--logging", logging)
    assert made.exit_code == 0
    (partition,) = scan([str(path) for path in sorted((tmp_path / "one").glob("broker-*"))]).partitions
    judged = partition.judgements["truncation-below-committed"]
    (finding,) = judged.findings
    assert (judged.verdict.value, finding.severity.value, finding.confidence.value) == (
        "violated",
        "critical",
        "inferred",
    )
    assert (finding.replicas, finding.offsets) == ((2,), ((1, 2),))
    assert partition.judgements["committed-data-lost"].findings[0].offsets == finding.offsets
    assert partition.judgements["uncommitted-truncation"].verdict.value == "clean"


def test_a_schedule_is_written_as_a_scenario_is(tmp_path: Path) -> None:
    fork = FOLDER / "fork.yaml"
    assert call("--schedule", fork, "--protocol", "hw", "-o", tmp_path / "one").exit_code == 0
    assert (
        call("--schedule", fork, "--protocol", "hw", "-o", tmp_path / "loud", "--logging", "replication").exit_code == 0
    )
    log = Path("broker-1") / "logs" / "server.log"
    assert (tmp_path / "one" / log).stat().st_size < (tmp_path / "loud" / log).stat().st_size
    truth = json.loads((tmp_path / "one" / "truth.json").read_text())
    assert (truth["scenario"], truth["replica_ends"], truth["diverged_below_hw"]) == (
        "fork",
        {"1": 2, "2": 2},
        [[1, 2]],
    )
    (partition,) = scan([str(path) for path in sorted((tmp_path / "one").glob("broker-*"))]).partitions
    assert partition.judgements["replica-divergence"].verdict.value == "violated"
    result = call("--schedule", fork, "--what-if", "--steps", 7)
    assert result.exit_code == 0
    assert "1:2 2:1" in result.output.splitlines()[2]
    seeds = [schedule(fork).scenario().run("fetch", seed=seed).observations() for seed in (0, 0, 1)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_schedule_may_name_its_protocol_and_its_names(tmp_path: Path) -> None:
    file = written(
        tmp_path, {"produce": 3}, protocol="fetch", topic="pay", cluster_id="abc", name="mine", controller=20
    )
    result = call("--schedule", file, "--trace", tmp_path / "own.jsonl")
    assert result.exit_code == 0, result.output
    lines = [json.loads(line) for line in (tmp_path / "own.jsonl").read_text().splitlines()]
    assert (lines[0]["cluster"], lines[0]["release"]) == ("abc", "3.9.1")
    assert {line["topic"] for line in lines if "topic" in line} == {"pay"}
    assert lines[1]["witness"] == 20
    over = call("--schedule", file, "--protocol", "hw", "--trace", tmp_path / "other.jsonl")
    assert over.exit_code == 0
    assert '"release":"0.10.2.2"' in (tmp_path / "other.jsonl").read_text()


def test_ids_of_brokers_do_not_meet_that_of_the_controller(tmp_path: Path) -> None:
    file = written(tmp_path, {"produce": 1}, "catch-up", brokers=[9, 100])
    for protocol in ("hw", "fetch"):
        assert schedule(file).scenario().run(protocol).cluster.controller.id == 101


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"fecth": 2}], 'step 1: no step "fecth" is known; "fetch" may be meant'),
        (["catch-up", {"fetch": {"brokr": 2}}], 'step 2, fetch: no field "brokr" is known; "broker" may be meant'),
        ([{"fetch": {"rounds": 2}}], 'step 1, fetch: "broker" is missing: the broker, or a list of brokers'),
        (["fetch"], 'step 1, fetch: "broker" is missing'),
        ([{"fetch": 3}], 'step 1, fetch: "broker": no broker 3; there are 1, 2'),
        ([{"fetch": True}], 'step 1, fetch: "broker": no broker true; there are 1, 2'),
        ([{"fetch": [2, 2]}], "without repetition"),
        ([{"produce": {"count": -1}}], 'step 1, produce: "count" is a whole number from 1 to 100,000, not -1'),
        ([{"produce": {"count": 1.5}}], "not 1.5"),
        ([{"produce": {"count": 10**30}}], "not a number far too large"),
        ([{"produce": {"count": [1]}}], "not a list"),
        ([{"produce": {"acks": "al"}}], '"acks" is none of the known: \'al\'; "all" may be meant'),
        ([{"produce": {"records": "m1"}}], '"records" is a list of names'),
        ([{"produce": {"count": 2, "records": ["m1"]}}], '"count" is 2, and "records" names 1'),
        ([{"wait": {"ms": 10**9}}], "from 1 to 3,600,000, not 1000000000"),
        ([{"wait": {"ms": 5, "fetching": "no"}}], "\"fetching\" is true or false, not 'no'"),
        ([{"settle": 3}], "step 1, settle has no fields, and 3 is given"),
        ([{"cut-link": [1, 1]}], '"between" names one node twice'),
        ([{"cut-link": [1, 7]}], "no broker 7; there are 0, 1, 2"),
        ([{"cut-link": 1}], "is a list of two brokers, 0 for the controller; not 1"),
        ([{"crash": 1, "fetch": 2}], "step 1 has two steps, crash and fetch; each is an item of its own"),
        ([{"note": "x"}], "step 1 names no step"),
        ([{"crash": 1, "note": 3}], 'step 1, crash: "note" is a text'),
        ([{"crash": 1, "under": "h2"}], 'step 1, crash: "under" is none of the known: \'h2\'; "hw" may be meant'),
        ([7], "step 1 is a step's name with its fields, such as {fetch: 2}, not 7"),
        ([{"lose-checkpoint": {"broker": 1, "file": "x"}}], "there are replication-offset-checkpoint, "),
    ],
)
def test_a_bad_step_is_told_before_anything_is_played(steps: list[Any], told: str, tmp_path: Path) -> None:
    assert told in refusal(written(tmp_path, *steps))


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"brokers": []}, '"brokers" is a list of 1 to 50 broker ids'),
        ({"brokers": [0, 1]}, '"brokers" is a whole number from 1 to'),
        ({"brokers": [1, 1]}, '"brokers" names a broker twice'),
        ({"brokers": None}, '"brokers" is a list'),
        ({"step": []}, 'no field "step" is known; "steps" may be meant'),
        ({"settings": {"min.insync.replica": 1}}, 'no setting "min.insync.replica" is known; "min.insync.replicas"'),
        ({"settings": {"min.insync.replicas": 0}}, '"min.insync.replicas" is a whole number from 1 to'),
        ({"settings": {"unclean.leader.election.enable": "yes"}}, "is true or false, not 'yes'"),
        ({"settings": []}, '"settings" is a mapping of names to values, not a list'),
        ({"protocol": "epoch-278"}, '"protocol" is none of the known: \'epoch-278\'; "epoch-279" may be meant'),
        ({"topic": "a b"}, '"topic" is a topic\'s name'),
        ({"name": ""}, '"name" is a text of at most 100 characters'),
        ({"controller": 2}, '"controller": 2 is among "brokers"'),
    ],
)
def test_a_bad_head_is_told(others: dict[str, Any], told: str, tmp_path: Path) -> None:
    assert told in refusal(written(tmp_path, "catch-up", **others))


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([{"crash": 2}, {"fetch": 2}], "step 2, fetch, cannot be done under hw: broker 2 is down; restart it first"),
        ([{"crash": 2}, {"elect": 2}], "step 2, elect, cannot be done under hw: broker 2 is down; restart it first"),
        ([{"crash": 1}, {"fetch": 2}], "broker 1, which broker 2 follows, is down; elect another leader or restart it"),
        ([{"crash": 1}, {"produce": 1}], "broker 1 is down"),
        ([{"fetch": 1}], "broker 1 leads, and a leader does not fetch"),
        ([{"cut-link": [1, 2]}, {"fetch": 2}], "the link between brokers 2 and 1 is down; heal it first"),
        ([{"cut-link": [1, 2]}, {"cut-link": [2, 1]}], "the link is down already"),
        ([{"heal-link": [1, 2]}], "the link is up"),
        ([{"receive": 2}], "no answer is on its way to broker 2"),
        (
            [{"produce": {"count": 1, "offset": 4}}],
            "the next record has offset 0, not 4: the log of broker 1 ends there",
        ),
        ([{"fetch": {"broker": 2, "offset": 4}}], "broker 2 fetches at 0, not 4"),
        ([{"produce": {"to": 2}}], "broker 2 does not lead"),
        ([{"restart": 1}], "broker 1 runs; crash or stop it first"),
        ([{"crash": 1}, {"crash": 1}], "broker 1 is down already"),
        ([{"resume": 1}], "broker 1 is not paused"),
        ([{"pause": 2}, {"fetch": 2}], "broker 2 is paused; resume it first"),
        ([{"session-ends": 1}], "broker 1 runs and reaches the controller"),
        ([{"reconnect": 1}], "broker 1 has its session"),
        ([{"shrink-isr": 1}], "broker 1 leads, and a leader does not leave its own ISR"),
        ([{"shrink-isr": 2}, {"shrink-isr": 2}], "broker 2 is not in the ISR 1"),
        ([{"expand-isr": 2}], "broker 2 is in the ISR 1, 2 already"),
        ([{"crash": 2}, {"session-ends": 2}, {"produce": 1}], "the ISR is 1 and min.insync.replicas is 2"),
        ([{"crash": 2}, {"session-ends": 2}, {"restart": 2}, {"elect": 2}], "no other is elected"),
        ([{"new-disk": 1}], "broker 1 runs"),
        ([{"crash": 1}, {"lose-checkpoint": {"broker": 1, "file": "leader-epoch-checkpoint"}}], "has no leader-epoch-"),
        ([{"end-transaction": 7}, {"controller-failover": 2}], "2 is a broker that holds the partition"),
        ([{"controller-failover": {"epoch": 9}}], "the next controller has epoch 2, not 9"),
        ([{"expect": {"broker": 1, "log_end_offset": 3}}], "log_end_offset of broker 1 is 0, not 3"),
        (
            [{"crash": 1}, {"expect": {"broker": 1, "high_watermark": 0}}],
            "high_watermark of broker 1 is not known, not 0",
        ),
    ],
)
def test_a_step_that_cannot_be_done_is_refused_with_why(steps: list[Any], told: str, tmp_path: Path) -> None:
    settings = {"min.insync.replicas": 2, "unclean.leader.election.enable": False}
    assert told in refusal(written(tmp_path, *steps, settings=settings))


def test_refusals_that_depend_on_the_protocol(tmp_path: Path) -> None:
    file = written(tmp_path, {"produce": 1}, "catch-up", {"shrink-isr": 2})
    assert "step 3, shrink-isr, cannot be done under fetch: broker 2 stays in the ISR" in refusal(file, "fetch")
    result = call("--schedule", file, "--what-if", "-o", tmp_path / "all")
    assert result.exit_code == 0
    assert "cannot be done under epoch-279: " in result.output
    assert "cannot be done under hw: " not in result.output
    assert (tmp_path / "all" / "fetch" / "trace.jsonl").exists()
    none = written(tmp_path, {"crash": 1}, {"crash": 1})
    assert isinstance(call("--schedule", none, "--what-if").exception, BadConfiguration)
    with pytest.raises(StepRefused) as caught:
        schedule(none).scenario().run("fetch")
    assert caught.value.step == 2


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.json", "{", "line 1: no JSON: "),
        ("a.json", '{"brokers": [1], "brokers": [2]}', '"brokers" is given twice in one object'),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '{"brokers": [' + "9" * 5_000 + "]}", "digits"),
        ("a.json", "[]", 'a schedule is a mapping with "brokers" and "steps", not a list'),
        ("a.yaml", "", "not nothing"),
        ("a.yaml", "brokers: [1, 2]", '"steps" is a list of steps'),
        ("a.yaml", "brokers: [1, 2]\nsteps: [", "line 2: no YAML: "),
        ("a.yaml", "brokers: [1]\nsteps:\n- fetch: 1\n  fetch: 1\n", 'line 4: "fetch" is given twice in one mapping'),
        ("a.yaml", "steps: !!python/object:os.system {}", "line 1: no YAML: "),
        ("a.yaml", "? [a]\n: b", "no YAML: "),
        ("a.yaml", "a: \x00", "no YAML: "),
        ("a.yaml", "steps: 2024-99-99", "month"),
        ("a.yaml", "[" * 600, "nested too deeply"),
        ("a.yml", "&a [*a]", "not a list"),
        ("a.yaml", "brokers: &a [*a]\nsteps: []", '"brokers" is a whole number'),
    ],
)
def test_a_file_that_is_no_schedule(name: str, text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert told in refusal(tmp_path / name)


def test_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("brokers: [1, 2]\nsteps:\n  - produce: 3\n    note: three\n  - fecth: 2\n")
    assert refusal(file) == 'line 5: step 2: no step "fecth" is known; "fetch" may be meant'
    file.write_text("steps:\n  - crash: 2\n\n  - fetch: 2\nbrokers: [1, 2]\n")
    assert refusal(file).startswith("line 4: step 2, fetch, cannot be done under hw: broker 2 is down")
    file.write_text("brokers: [1, 2]\nsteps: {fetch: 2}\n")
    assert refusal(file).startswith('"steps" is a list of steps')


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "wide.yaml").write_bytes("brokers: [1]".encode("utf-16"))
    assert "no text in UTF-8" in refusal(tmp_path / "wide.yaml")
    (tmp_path / "large.yaml").write_bytes(b"#" * (1 << 20) + b"##")
    assert "larger than 1 MiB" in refusal(tmp_path / "large.yaml")
    assert isinstance(call("--schedule", tmp_path / "none.yaml", "--what-if").exception, UnreadableInput)
    assert isinstance(call("--schedule", tmp_path / "large.yaml", "--what-if").exception, BadConfiguration)


def test_wrong_use_is_told(tmp_path: Path) -> None:
    fork = FOLDER / "fork.yaml"
    for arguments, told in (
        (["fork", "--schedule", fork], "give the name of a scenario or --schedule, not both"),
        (["--schedule", fork], "--protocol, and -o or --trace, are needed"),
        (["--schedule", fork, "--protocol", "hw"], "--protocol, and -o or --trace, are needed"),
        (["--schedule", fork, "--protocol", "hw", "--what-if"], "leave out --protocol"),
    ):
        result = call(*arguments)
        assert (result.exit_code, told in " ".join(result.output.split())) == (2, True), result.output


@pytest.mark.parametrize("option", ["-o", "--trace"])
def test_a_full_disk_is_told_and_leaves_nothing(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Run, "observations", full)
    monkeypatch.setattr(Run, "write", full)
    error = call("--schedule", FOLDER / "fork.yaml", "--protocol", "hw", option, tmp_path / "new").exception
    assert isinstance(error, UnwritableOutput)
    assert str(error).startswith(f"{tmp_path / 'new'}: No space left on device; name a ")
    assert [*tmp_path.iterdir()] == []
