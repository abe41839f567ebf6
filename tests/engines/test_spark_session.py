"""Where a session of our own runs."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from forensics.engines.spark import session as module
from forensics.engines.spark.session import session
from forensics.errors import NoSpark
from parsers import limits

pytestmark = pytest.mark.spark  # it imports PySpark


class Builder:
    """Takes down what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def ask(*arguments: Any) -> Builder:
            self.asked.append((name, arguments))
            return self

        return ask


@pytest.mark.parametrize(
    ("master", "conf", "defaults", "chosen", "loopback"),
    [
        (None, {}, "", [], True),  # Spark's own default: local[*]
        ("local[2]", {"spark.master": "spark://other:7077"}, "", [("master", ("local[2]",))], True),
        (None, {"spark.master": "spark://host:7077"}, "", [("config", ("spark.master", "spark://host:7077"))], False),
        (None, {}, "# of the gateway\nspark.master                     yarn\n", [], False),
    ],
)
def test_a_master_that_is_named_elsewhere_stands(
    master: str | None,
    conf: dict[str, str],
    defaults: str,
    chosen: list[tuple[str, tuple[str, ...]]],
    loopback: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pyspark.sql import SparkSession

    for name in ("SPARK_LOCAL_IP", "SPARK_REMOTE", "MASTER", "PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.setenv(name, "")  # put back afterwards, also where the session sets it
        monkeypatch.delenv(name)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_PYTHON", "python3")
    (tmp_path / "spark-defaults.conf").write_text(defaults)
    builder = Builder()
    monkeypatch.setattr(SparkSession, "builder", builder)
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda _: None))
    session(master=master, conf=conf)
    masters = [one for one in builder.asked if one[0] == "master" or one[1][:1] == ("spark.master",)]
    assert [one for one in masters if one in chosen] == chosen
    assert any(name == "master" for name, _ in masters) == (master is not None)
    assert (os.environ.get("SPARK_LOCAL_IP") == "127.0.0.1") == loopback


def test_a_session_that_cannot_hand_limits_on_says_so() -> None:
    class Connect:
        @property
        def sparkContext(self) -> None:
            raise RuntimeError("not supported")

    with limits.moved({"line": 4096}), pytest.raises(NoSpark, match="FORENSICS_LIMITS='line=4096' where they run"):
        session(Connect())  # type: ignore[arg-type]
    assert session(found := Connect()) is found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("missing", "says"), [(("pandas",), "pandas is not"), (("pandas", "pyspark"), "pyspark and pandas are not")]
)
def test_what_a_light_installation_lacks_is_named_with_how_to_install_it(
    missing: tuple[str, ...], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> object | None:
        return None if name in missing else object()

    monkeypatch.setattr(module, "find_spec", found)
    with pytest.raises(NoSpark) as raised:
        session()
    assert str(raised.value) == (
        f"{says} installed; a batch needs Java 17 and these: pip install 'pyspark>=4.0,<5' 'pandas>=2.2,<3'"
    )


def test_what_is_to_be_installed_is_what_the_project_declares(repository: Path) -> None:
    text = (repository / "pyproject.toml").read_text("utf-8")
    declared = re.findall(r'(?m)^ {4}"((?:pyspark|pandas)[<>=][^"]*)"', text)
    assert sorted(shlex.split(module._PACKAGES)) == sorted(declared)
