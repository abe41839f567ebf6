"""Which tests go to the same worker, and which are left to CI."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest
from tests.conftest import SITE, SPARK, group


def test_tests_that_share_go_together(repository: Path) -> None:
    starting = {
        str(path.relative_to(repository))
        for path in repository.glob("tests/engines/test_*.py")
        if "sessions: Sessions" in path.read_text("utf-8")
    }
    assert starting
    assert starting <= set(SPARK)
    assert {group(f"{file}::test_one[local[2]]") for file in SPARK if (repository / file).is_file()} == {"spark"}
    assert (repository / SITE).is_file()
    assert group(f"{SITE}::test_one") == group(f"{SITE}::test_two[x]") == "site"
    for test, wanted in (
        ("tests/a/test_b.py::test_c[sample_traces/kip101-2.8.2-ibp0.10.2]", "kip101-2.8.2-ibp0.10.2"),
        ("tests/a/test_b.py::test_c[7-sample_traces/kip101-0.10.2.2-True]", "kip101-0.10.2.2"),
    ):
        assert group(test) == wanted
    assert group("tests/a/test_b.py::test_c[kip101-0.10.2.2]") == "tests/a/test_b.py::test_c"
    alone = "tests/model/test_b.py::test_c[kip101-0.10.2.2]"
    assert group(alone) == alone


def test_one_in_six_of_the_variants_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"tests/cases/test_a.py::test_many[{number}]" for number in range(12)]
    pair = [f"tests/cases/test_a.py::test_pair[{number}]" for number in range(2)]
    few = [f"tests/replay/test_a.py::test_few[{number}]" for number in range(3)]
    rows = [f"tests/parsers/messages/test_a.py::test_row[{number}]" for number in range(12)]
    told: list[Any] = []

    def deselected(items: list[Any]) -> None:
        told.extend(items)

    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=deselected))
    for everything in (True, False):
        monkeypatch.setattr(conftest, "EVERYTHING", everything)
        items: list[Any] = [SimpleNamespace(nodeid=name) for name in (*many, *pair, *few, *rows)]
        conftest.pytest_collection_modifyitems(config, items)
        kept = [one.nodeid for one in items]
        assert [name for name in kept if name not in (*many, *pair)] == [*few, *rows]
        assert len([name for name in kept if name in many]) == (12 if everything else 2)
        assert len([name for name in kept if name in pair]) == (2 if everything else 1)
    assert len(told) == 11


def test_half_of_the_tests_of_recorded_clusters_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"tests/cases/test_a.py::test_number_{number}" for number in range(40)]
    others = [f"tests/rules/test_a.py::test_number_{number}" for number in range(40)]
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    kept = {}
    for everything in (True, False):
        monkeypatch.setattr(conftest, "EVERYTHING", everything)
        items: list[Any] = [SimpleNamespace(nodeid=name) for name in (*names, *others)]
        conftest.pytest_collection_modifyitems(config, items)
        kept[everything] = [one.nodeid for one in items]
        assert [name for name in kept[everything] if name not in names] == others
    assert kept[True] == [*names, *others]
    assert 10 < len(kept[False]) - len(others) < 30
