"""Partitions known from checkpoints alone: the answers are those of replaying and judging each of them by itself."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from forensics import rules
from forensics.case import Case
from forensics.engines import local
from forensics.replay.bare import Bare
from forensics.replay.history import History
from forensics.replay.partitions import histories
from forensics.result import finish
from forensics.rules import judgements
from forensics.rules.finding import Judgement, Rule, Verdict

FILES = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint", "cleaner-offset-checkpoint")


def written(folder: Path, chance: Random, topics: int) -> None:
    for broker in (1, 2):
        data = folder / f"broker-{broker}" / "data"
        data.mkdir(parents=True)
        (data / "meta.properties").write_text(f"version=0\nbroker.id={broker}\n")
        for name in FILES:
            rows = [f"topic{n} 0 {chance.choice((0, 5, 5, 8))}" for n in range(topics) if chance.random() < 0.7]
            (data / name).write_text("\n".join(["0", str(len(rows)), *rows, ""]))
    epochs = folder / "broker-1" / "data" / "topic0-0"
    epochs.mkdir()
    (epochs / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    (folder / "broker-1" / "server.log").write_text(
        "[2024-05-06 07:08:09,000] INFO [Partition topic1-0 broker=1] topic1-0 starts at leader epoch 3 from offset 5"
        " with high watermark 5. Previous leader epoch was 2. (kafka.cluster.Partition)\n"
    )


def answers(case: Case) -> list[tuple[str, object, object]]:
    result = finish([], case, local.judged(case))
    return [(one.history.topic, one.history, one.judgements) for one in result.partitions]


@pytest.mark.parametrize("seed", range(6))
def test_sharing_changes_no_answer(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, Random(seed), 40)
    case = local.take_in([str(tmp_path)])
    shared = answers(case)
    made = sum(one.alike is not None for one in histories(case))
    assert made > 30
    monkeypatch.setattr(Bare, "like", lambda *_args: None)
    monkeypatch.setattr(local, "judgements", lambda history, part, _shared: judgements(history, part))
    assert answers(case) == shared


def test_of_many_alike_partitions_few_are_replayed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "\n".join(f"topic{number} 0 {number}" for number in range(300))
    (tmp_path / "meta.properties").write_text("version=0\nbroker.id=1\n")
    (tmp_path / "replication-offset-checkpoint").write_text(f"0\n300\n{body}\n")
    replayed: list[History] = []
    add = Bare.add

    def counted(self: Bare, history: History) -> None:
        replayed.append(history)
        add(self, history)

    monkeypatch.setattr(Bare, "add", counted)
    found = histories(local.take_in([str(tmp_path)]))
    assert len(found) == 300
    assert len(replayed) == 2, "offset 0 and any other"
    of_last = next(one for one in found if one.topic == "topic299")
    assert [replica.checkpoint[0] for replica in of_last.replicas.values() if replica.checkpoint] == [299]


def test_partitions_with_anything_more_are_like_no_other(tmp_path: Path) -> None:
    written(tmp_path, Random(1), 10)
    found = {one.topic: one.alike for one in histories(local.take_in([str(tmp_path)]))}
    assert found["topic0"] is None, "it has an epoch file"
    assert found["topic1"] is None, "a line is about it"
    assert found["topic2"] == ("topic2", 0)


def test_of_many_alike_partitions_few_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "\n".join(f"topic{number} 0 {number}" for number in range(300))
    (tmp_path / "meta.properties").write_text("version=0\nbroker.id=1\n")
    (tmp_path / "replication-offset-checkpoint").write_text(f"0\n300\n{body}\n")
    asked: list[str] = []

    def counted(rule: Rule, history: History, case: Case) -> Judgement:
        asked.append(history.name)
        return judged_by(rule, history, case)

    judged_by = rules._answer
    monkeypatch.setattr(rules, "_answer", counted)
    result = finish([], (case := local.take_in([str(tmp_path)])), local.judged(case))
    assert set(asked) == {"topic0-0", "topic1-0"}
    last = next(one for one in result.findings if one.topic == "topic299")
    assert "topic299" in last.summary
    assert "topic1-0" not in f"{last.summary} {last.next_steps}"
    groups = {len(same.places) for same in result.same_answers}
    assert groups in ({300}, {1, 299})


@pytest.mark.parametrize("seed", range(3))
def test_groups_of_partitions_are_those_that_answers_give(seed: int, tmp_path: Path) -> None:
    written(tmp_path, Random(seed), 40)
    result = finish([], (case := local.take_in([str(tmp_path)])), local.judged(case))
    assert sorted(place for same in result.same_answers for place in same.places) == list(range(len(result.partitions)))
    for rule in rules.RULES:
        for verdict in Verdict:
            expected = [one for one in result.partitions if one.judgements[rule.id].verdict is verdict]
            found = result.having(lambda one, name=rule.id, which=verdict: one.judgements[name].verdict is which)  # type: ignore[misc]
            assert found == expected
