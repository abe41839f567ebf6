"""The same engine through Spark Connect, where its client is installed: no test needs the network."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from forensics.engines import local
from forensics.reports import json_report
from tests.conftest import EVERYTHING
from tests.engines.conftest import QUIET

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not EVERYTHING, reason="with CI=1: another session of Spark gives the same without it"),
]

CLIENT = ("grpc", "grpc_status", "google.protobuf", "google.rpc", "zstandard")
"""What PySpark's Connect client imports; ``pip install 'pyspark[connect]'`` brings it."""

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
sample, out, conf = sys.argv[1:]
builder = SparkSession.builder.remote("local[1]")
for key, value in json.loads(conf).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()  # a server in this process, a client beside it
from forensics import spark as forensics
from forensics.reports import json_report
result = forensics.batch(spark, [sample], out)
line = "[2026-03-01 12:00:00,000] INFO Truncating log orders-0 to offset 5. (kafka.log.Log)"
lines = spark.createDataFrame([("a.log", 1, line)], "path string, line int, text string")
print(json.dumps({
    "session": type(spark).__module__,
    "report": json_report.render(result),
    "findings": forensics.table(spark, out, "findings").count(),
    "checkpoints": forensics.read(spark, sample, table="checkpoints").filter("topic = 'orders'").count(),
    "lines": [tuple(row) for row in forensics.from_lines(lines).select("topic", "partition", "offset").collect()],
}))
"""


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # the package it would be in
        return False


def test_spark_connect_gives_the_same(sample_traces: Path, tmp_path: Path, repository: Path) -> None:
    import pyspark

    missing = [module for module in CLIENT if not _is_there(module)]
    if missing:
        pytest.skip(f"the client of Spark Connect needs {', '.join(missing)}: pip install 'pyspark[connect]'")
    if not list((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*.jar")):
        pytest.skip("this PySpark has no server of Spark Connect among its jars")
    sample = str(sample_traces / "kip101-0.10.2.2")
    env = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    env |= {
        "PYTHONPATH": os.pathsep.join([str(repository), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [sys.executable, "-c", SCRIPT, sample, str(tmp_path / "out"), json.dumps(QUIET)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout.splitlines()[-1])
    expected = local.scan([sample])
    assert said["session"].startswith("pyspark.sql.connect")
    assert said["report"] == json_report.render(expected)
    assert said["findings"] == len(expected.findings)
    assert said["checkpoints"] > 0
    assert said["lines"] == [["orders", 0, 5]]
