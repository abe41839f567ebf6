"""Spark for the tests: one session at a time, on this machine or on a cluster of processes on loopback."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a JVM of some minutes gains little by compiling well

QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.codegen.wholeStage": "false",  # compiling a query costs far more than running it over so few rows
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": _SHORT_LIVED,
    "spark.executor.extraJavaOptions": _SHORT_LIVED,
}

Sessions = Callable[..., "SparkSession"]


@pytest.fixture(scope="session")
def sessions() -> Iterator[Sessions]:
    """Gives a session for a master; the one before is stopped where the master is another."""
    from forensics.engines.spark.session import session

    now: list[tuple[str, SparkSession]] = []

    def give(master: str, **conf: str) -> SparkSession:
        if now and now[0][0] != master:
            now.pop()[1].stop()
        if not now:
            settings = {**QUIET, **{key.replace("__", "."): value for key, value in conf.items()}}
            spark = session(master=master, conf=settings)
            spark.sparkContext.setLogLevel("OFF")
            now.append((master, spark))
        return now[0][1]

    yield give
    if now:
        now.pop()[1].stop()


@dataclass
class Cluster:
    """A master and two workers.

    Attributes:
        url: of the master.
        workers: processes, each the leader of its group, executors included.
    """

    url: str
    master: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def kill(self, number: int) -> None:
        """Take a worker away, with all it runs."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A standalone cluster of processes on loopback. Its workers know nothing of this checkout."""
    import pyspark

    folder = tmp_path_factory.mktemp("cluster")
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "PYTHON"))}
    env |= {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_JAVA_OPTS": _SHORT_LIVED,
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def start(name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (folder / f"{name}.log").open("wb") as log:
            command = [str(spark_class), *arguments]
            return subprocess.Popen(
                command, cwd=folder, env=env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )

    host = ("--host", "127.0.0.1", "--webui-port", "0")
    master = start("master", "org.apache.spark.deploy.master.Master", "--port", str(port), *host)
    made = Cluster(f"spark://127.0.0.1:{port}", master)
    try:
        _wait_for(folder / "master.log", rf"Starting Spark master at {made.url}", master)
        for number in range(2):
            worker = "org.apache.spark.deploy.worker.Worker"
            made.workers.append(start(f"worker-{number}", worker, *host, "--cores", "1", "--memory", "1g", made.url))
        for number, process in enumerate(made.workers):
            _wait_for(folder / f"worker-{number}.log", r"Successfully registered with master", process)
        yield made
    finally:
        for process in (*made.workers, master):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(log: Path, pattern: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        text = log.read_text("utf-8", "replace") if log.exists() else ""
        if re.search(pattern, text):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise AssertionError(f"{log.name} never said {pattern!r}:\n{log.read_text('utf-8', 'replace')[-2000:]}")


@pytest.fixture(scope="session")
def code(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """Our two packages as one zip, as --py-files ships them."""
    path = tmp_path_factory.mktemp("code") / "shipped.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for package in ("forensics", "parsers"):
            for file in sorted((repository / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, file.relative_to(repository))
    return path


def code_of(spark: SparkSession) -> set[str]:
    """Where workers import our code from."""
    import pyarrow as pa

    def where(incoming):  # type: ignore[no-untyped-def]
        import forensics

        for _ in incoming:
            pass
        yield pa.record_batch({"path": [str(forensics.__file__)]})

    return {row["path"] for row in spark.range(0, 4, 1, 4).mapInArrow(where, "path string").collect()}
