"""Pages to look at: samples as they are, two with brokers missing, one of hostile text, and large ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Browser, Page

from forensics.engines import local
from forensics.reports.html import render
from forensics.result import Partition, Result
from forensics.rules.finding import Finding, Verdict

LOSS_AND_FORK, LOSS, CALM, CLEAN = "kip101-0.10.2.2", "unclean-3.9.1", "traps-0.10.2.2", "flap-3.9.1"
SUSPECTED, MISSING = "broker-missing", "brokers-missing"
"""The first without the files of one broker, so that a loss is suspected, and of two, so that nothing is."""

REMOVED = {SUSPECTED: ("broker-1",), MISSING: ("broker-1", "broker-3")}
SAMPLES = (LOSS_AND_FORK, LOSS, CALM, SUSPECTED, MISSING, CLEAN)

HOSTILE = "<img src=x onerror=window.pwned=1></script><script>window.pwned=1</script>{{7*7}}'\"&amp;\u202e"
"""Tries to leave an element, a script, an attribute, a template and the reading order."""


@pytest.fixture(scope="session")
def results(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Scans of the samples, each made once."""
    made: dict[str, Result] = {}

    def result(name: str) -> Result:
        if name not in made:
            if name in REMOVED:
                folder = tmp_path_factory.mktemp("missing") / "case"
                shutil.copytree(sample_traces / LOSS_AND_FORK, folder)
                for broker in REMOVED[name]:
                    shutil.rmtree(folder / broker)
            else:
                folder = sample_traces / name
            made[name] = local.scan([str(folder)])
        return made[name]

    return result


@pytest.fixture(scope="session")
def pages(results: Callable[[str], Result], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Files with the pages of the samples, each made once."""
    folder = tmp_path_factory.mktemp("pages")

    def page(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(render(results(name)), encoding="utf-8")
        return path

    return page


@pytest.fixture(scope="session")
def many(results: Callable[[str], Result]) -> Result:
    """Two thousand partitions: a loss, a calm one and an unknown one, over and over under other names."""
    loss, unknown = results(LOSS_AND_FORK), results(MISSING)
    calm = results(CALM)
    case = loss.case
    partitions: list[Partition] = []
    findings: list[Finding] = []
    rows = []
    for number in range(2_000):
        source = loss if number % 40 == 0 else unknown if number % 9 == 0 else calm
        model = source.partitions[0 if source is not calm else -1]
        name = f"{('orders', 'payments', 'audit.events', 'clicks')[number % 4]}-{number // 100}"
        judgements = {
            rule: replace(j, findings=tuple(replace(f, topic=name, partition=number) for f in j.findings))
            for rule, j in model.judgements.items()
        }
        partitions.append(
            Partition(
                replace(model.history, facts=replace(model.history.facts, topic=name, partition=number)), judgements
            )
        )
        findings += [f for j in judgements.values() for f in j.findings]
        if source is loss and len(rows) < 20:
            renamed = case.observations.filter(pl.col("topic") == model.history.topic)
            rows.append(renamed.with_columns(topic=pl.lit(name), partition=pl.lit(number, dtype=pl.Int32)))
    partitions.sort(key=lambda p: (p.worst, p.history.topic, p.history.partition))
    observations = pl.concat([case.observations, *rows]).sort("row", maintain_order=True)
    observations = observations.drop("row").with_row_index("row").select(case.observations.columns)
    return Result(
        loss.inputs,
        replace(case, observations=observations),
        partitions,
        sorted(findings, key=lambda finding: finding.order),
    )


@pytest.fixture(scope="session")
def long(results: Callable[[str], Result]) -> Callable[[int], Result]:
    """A partition whose leader printed every append, so many observations long."""
    result = results(LOSS_AND_FORK)

    def make(count: int) -> Result:
        case = result.case
        rows = case.observations
        topic = result.partitions[0].history.topic
        anchor = rows.filter((pl.col("topic") == topic) & (pl.col("kind") == "log_created")).head(1)
        half = count // 2
        columns = {
            name: pl.repeat(anchor[name][0], half, dtype=anchor[name].dtype, eager=True) for name in rows.columns
        }
        appends = pl.DataFrame(columns).with_columns(
            kind=pl.lit("append").cast(rows.schema["kind"]),
            time=pl.col("time") + pl.duration(microseconds=pl.int_range(half)),
            leo=pl.int_range(half, dtype=pl.Int64) + 1,
            offset=pl.int_range(half, dtype=pl.Int64),
        )
        kept = appends.with_columns(
            kind=pl.lit("hw").cast(rows.schema["kind"]), hw=pl.col("leo"), leo=pl.lit(None, dtype=pl.Int64)
        )
        first = anchor["row"][0]
        whole = pl.concat(
            [
                rows.filter(pl.col("row") <= first),
                pl.concat([appends, kept]).sort("time", maintain_order=True),
                rows.filter(pl.col("row") > first),
            ]
        )
        whole = whole.drop("row").with_row_index("row").select(rows.columns)
        # Findings cite rows by number, and those have moved: a page without findings is drawn from the same rows.
        calm = [
            Partition(
                p.history,
                {rule: replace(j, verdict=Verdict.CLEAN, findings=()) for rule, j in p.judgements.items()},
            )
            for p in result.partitions
        ]
        return replace(result, case=replace(case, observations=whole), findings=[], partitions=calm)

    return make


@pytest.fixture(scope="session")
def hostile(sample_traces: Path, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A sample whose paths, settings, lines and damage try to become part of the page."""
    folder = tmp_path_factory.mktemp("hostile") / HOSTILE.replace("/", "\u2215")
    shutil.copytree(sample_traces / LOSS_AND_FORK, folder)
    for log in folder.glob("broker-*/logs/server.log"):
        text = log.read_text(encoding="utf-8")
        text = text.replace("(kafka.log.Log)", f"{HOSTILE} (kafka.log.Log)")
        text = text.replace("min.insync.replicas = 1", f"min.insync.replicas = {HOSTILE}{'A' * 3_000}")
        # Recognised, and then not understood: a notice with an excerpt.
        text += (
            f"[2026-11-21 04:06:50,000] INFO Partition [orders,0] on broker {HOSTILE}: Shrinking ISR (kafka.cluster)\n"
        )
        log.write_text(text, encoding="utf-8")
    for properties in folder.glob("broker-*/server.properties"):
        with properties.open("a", encoding="utf-8") as stream:
            stream.write(f"\nmin.insync.replicas={HOSTILE}\n")
    return local.scan([str(folder)])


WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 360, "height": 780}
PATIENCE = 60_000  # milliseconds: a busy machine is not a bug


class Watched:
    """A page with everything it complained of or asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", lambda request: self.requests.append(request.url))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', e => console.error('CSP', e.violatedDirective, e.blockedURI))"
        )
        page.set_default_timeout(PATIENCE)

    def open(self, path: Path) -> Page:
        self.page.goto(path.as_uri())
        return self.page

    def chart(self) -> None:
        """Wait until the chart of the chosen partition is drawn."""
        target = self.page.locator(".panel .chart").first
        target.scroll_into_view_if_needed()
        self.page.wait_for_selector(".panel .chart[data-drawn]", timeout=PATIENCE)


Opener = Callable[..., Any]


@pytest.fixture
def watch(browser: Browser) -> Opener:
    """Gives a fresh, watched page."""

    @contextmanager
    def opened(viewport: dict[str, int] = WIDE, **options: Any) -> Iterator[Watched]:
        options.setdefault("timezone_id", "Asia/Kathmandu")
        context = browser.new_context(viewport=viewport, **options)  # type: ignore[arg-type]
        try:
            yield Watched(context.new_page())
        finally:
            context.close()

    return opened


def axis(page: Page) -> list[str]:
    """What the time axis shows."""
    return page.evaluate("document.querySelector('.panel .chart')._fullLayout.xaxis.range.map(String)")
