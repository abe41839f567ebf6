"""The Spark session: the one that is there, or one of our own; a clear sentence where there can be none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from forensics.errors import NoSpark
from parsers import limits

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
_UNKNOWN_SLOTS = 16

_DEFAULTS: Mapping[str, str] = {
    # No setting here changes an answer; a user's own session needs none of them.
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    # Rows go to the files of their tables and days as they come, without being sorted by them first.
    "spark.sql.maxConcurrentOutputFileWriters": "64",
    # Spark runs a task on each core; threads of Polars within one would only fight for the same cores.
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
}


_PACKAGES: Final = "'pyspark>=4.0,<5' 'pandas>=2.2,<3'"
"""The packages that an installation without Spark lacks, for pip. PySpark's Arrow calls need pandas."""


def session(
    spark: SparkSession | None = None, *, master: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Return a session to work in.

    Args:
        spark: an existing session, classic or Spark Connect; it is used unchanged.
        master: where to run a new one, e.g. ``spark://host:7077``. Without it the setting ``spark.master`` or the
            environment decides (``spark-submit``, ``SPARK_REMOTE``, ``spark-defaults.conf``), else ``local[*]``.
        conf: more settings of a new one.

    Raises:
        NoSpark: PySpark or Java is missing or too old, or the master cannot be reached.
    """
    _require_packages()
    if spark is not None:
        return _within_limits(spark)
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise NoSpark(f"PySpark cannot be imported ({error}); install it again: pip install {_PACKAGES}") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return _within_limits(active)
    settings = {**_DEFAULTS, **(conf or {})}
    remote = os.environ.get("SPARK_REMOTE") or settings.get("spark.remote") or ""
    if (master or "").startswith("sc://"):
        remote = str(master)
    if not remote.startswith("sc://"):  # Spark Connect's own server may well be started here: SPARK_REMOTE=local[*]
        _prepare(master or settings.get("spark.master") or _chosen() or "local")
    builder = SparkSession.builder.appName("forensics")
    for key, value in settings.items():
        builder = builder.config(key, value)
    if (master or "").startswith("sc://"):
        builder = builder.remote(str(master))
    elif master is not None:
        builder = builder.master(master)  # without one Spark takes its own settings, and local[*] where they name none
    try:
        return _within_limits(builder.getOrCreate())
    except (PySparkException, RuntimeError, OSError) as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise NoSpark(
            f"Spark cannot be started: {said[0]}; look at the lines above, and at --master and --conf"
        ) from None


def slots(spark: SparkSession) -> int:
    """Return how many tasks run at the same time, about; of Spark Connect, which does not show it, a guess."""
    context = context_of(spark)
    return _UNKNOWN_SLOTS if context is None else int(context.defaultParallelism)


def context_of(spark: SparkSession) -> SparkContext | None:
    """Return the session's way to its JVM; None with Spark Connect, which has none."""
    from pyspark.errors import PySparkException

    try:
        context = spark.sparkContext
    except (PySparkException, RuntimeError, AttributeError):
        return None
    return context if hasattr(context, "environment") else None


def _require_packages() -> None:
    """Make sure that the packages are there that an installation without Spark lacks (ADR 8).

    Raises:
        NoSpark: a package is missing.
    """
    missing = [name for name in ("pyspark", "pandas") if find_spec(name) is None]
    if missing:
        lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'}"
        raise NoSpark(f"{lacks} not installed; a batch needs Java 17 and these: pip install {_PACKAGES}")


def _prepare(master: str) -> None:
    """Set the environment for a JVM that starts on this machine.

    Args:
        master: where its work runs.

    Raises:
        NoSpark: Java is missing or too old.
    """
    if (why := why_no_java()) is not None:
        raise NoSpark(why)
    # Workers on this machine must run the Python that has our libraries.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def _within_limits(spark: SparkSession) -> SparkSession:
    """Return the session, whose workers read within the limits that hold here.

    Raises:
        NoSpark: limits were moved, and a Spark Connect session cannot hand them to its workers.
    """
    moved = limits.said()
    context = context_of(spark)
    if context is None:
        if moved:
            told = f"set {limits.ENVIRONMENT}={moved!r} where they run"
            raise NoSpark(f"Spark Connect cannot hand --limit to its workers: {told}")
        return spark
    environment = context.environment
    if moved:
        environment[limits.ENVIRONMENT] = moved
    else:
        environment.pop(limits.ENVIRONMENT, None)
    return spark


def _chosen() -> str:
    """Return the master that the environment chooses, as far as it is visible here; "" for none."""
    if "PYSPARK_GATEWAY_PORT" in os.environ or "--master" in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        return "spark-submit"
    if "MASTER" in os.environ:
        return os.environ["MASTER"]
    folder = os.environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if (home := os.environ.get("SPARK_HOME")) else "")
    try:
        text = Path(folder, "spark-defaults.conf").read_text("utf-8", "replace") if folder else ""
    except OSError:
        return ""
    found = re.findall(r"^[ \t]*spark\.master[ \t=:]+(\S+)", text, re.MULTILINE)
    return str(found[-1]) if found else ""


def why_no_java() -> str | None:
    """Why no Java that Spark needs can be run here, or None where one can."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    asked = f"install Java {LEAST_JAVA} or newer, or set JAVA_HOME to it"
    if java is None:
        return f"no Java found on the PATH, and JAVA_HOME is not set: Spark needs it; {asked}"
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=60).stderr
    except (OSError, subprocess.SubprocessError) as error:
        return f"`{java} -version` failed ({error}): Spark needs Java; {asked}"
    found = re.search(r'version "([0-9]+)', said)
    if found is not None and int(found[1]) < LEAST_JAVA:
        return f"{java} is Java {found[1]}: Spark needs {LEAST_JAVA} or newer; {asked}"
    return None
