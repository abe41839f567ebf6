"""Which tests go to the same worker."""

from __future__ import annotations

from pathlib import Path

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
