"""The page in Chromium, opened from a file: nothing complains, nothing is asked for, everything works."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from forensics.reports.html import render
from forensics.reports.redaction import redact
from forensics.result import Result
from tests.reports.html.conftest import LOSS, LOSS_AND_FORK, SAMPLES

pytestmark = pytest.mark.browser

WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
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
        target = self.page.locator(".panel:not([hidden]) .chart").first
        target.scroll_into_view_if_needed()
        self.page.wait_for_selector(".panel:not([hidden]) .chart[data-drawn]", timeout=PATIENCE)


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


@pytest.fixture(scope="module")
def shared(browser: Browser, pages: Callable[[str], Path]) -> Iterator[Watched]:
    """One page of the loss for all that only looks at it and turns its knobs."""
    context = browser.new_context(viewport=WIDE, timezone_id="Asia/Kathmandu")  # type: ignore[arg-type]
    watched = Watched(context.new_page())
    watched.open(pages(LOSS_AND_FORK))
    watched.chart()
    yield watched
    context.close()


@pytest.fixture
def loss(shared: Watched) -> Page:
    """The page of the loss, as it was opened."""
    page = shared.page
    shared.complaints.clear()
    page.evaluate(
        """async () => {
            const panel = report.panels[0];
            if (report.zone !== "UTC") document.getElementById("zone").click();
            panel.scale = "offsets";
            panel.off.clear();
            panel.node.querySelector("input[value=offsets]").checked = true;
            for (const key of panel.node.querySelectorAll(".keys button")) key.setAttribute("aria-pressed", "true");
            await panel.zoom("all");
            await panel.draw();
        }"""
    )
    return page


def axis(page: Page) -> list[str]:
    """What the time axis shows."""
    return page.evaluate("document.querySelector('.panel:not([hidden]) .chart')._fullLayout.xaxis.range.map(String)")


def shut_out(page: Page) -> list[tuple[str, list[str]]]:
    """What axe-core says shuts people out, with everything unfolded."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [(one["id"], [node["html"][:90] for node in one["nodes"][:3]]) for one in found]


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("name", SAMPLES)
def test_it_opens_for_everyone_without_complaint_or_request(
    name: str, viewport: dict[str, int], pages: Callable[[str], Path], watch: Opener
) -> None:
    path = pages(name)
    with watch(viewport) as watched:
        page = watched.open(path)
        watched.chart()
        assert page.locator(".panel:not([hidden]) .chart .main-svg").count() >= 1
        drawn = "document.querySelector('.panel:not([hidden]) .chart')._fullData.filter(t => t.visible === true).length"
        assert page.evaluate(drawn) >= 3
        assert page.locator(".panel:not([hidden]) .bars svg text.who").count() >= 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "nothing sticks out"
        assert "Share" not in page.locator("main").inner_text(), "plotly's button that sends the figure out"
        assert page.locator(".modebar-btn").count() == 0
        assert watched.requests == [path.as_uri()]
        assert watched.complaints == []
        assert shut_out(page) == []
        if name == LOSS_AND_FORK:
            page.emulate_media(color_scheme="dark")
            assert shut_out(page) == [], "dark"


def test_times_change_their_zone_at_a_click(loss: Page, shared: Watched) -> None:
    page = loss
    first = page.locator(".fact time").first
    utc, before = first.inner_text(), axis(page)
    page.get_by_role("button", name="Times: UTC").click()
    page.wait_for_function(
        "before => document.querySelector('.chart')._fullLayout.xaxis.range[0] !== before", arg=before[0]
    )
    there = first.inner_text()
    hours, minutes = (int(part) for part in utc.split(":")[:2])
    assert [int(part) for part in there.split(":")[:2]] == [
        (hours + 5 + (minutes + 45) // 60) % 24,
        (minutes + 45) % 60,
    ]
    expect(page.locator(".zone-name").first).to_have_text(re.compile("Kathmandu|Katmandu"))
    page.locator("#zone").click()
    assert first.inner_text() == utc


def test_the_chart_is_moved_by_keys_and_buttons(loss: Page, shared: Watched) -> None:
    page = loss
    whole = axis(page)
    page.locator(".chart").first.focus()
    seen = [whole]
    for key in ("+", "ArrowRight", "ArrowLeft", "-", "f", "0"):
        page.keyboard.press(key)
        page.wait_for_function("report.panels[0].busy === false")
        seen.append(axis(page))
    _, closer, right, left, wider, focus, reset = seen
    assert whole[0] < closer[0] < closer[1] < whole[1]
    assert right[0] > closer[0]
    assert left == closer
    assert wider[0] < closer[0]
    assert focus != whole
    assert reset == whole
    page.get_by_role("button", name="Zoom in").first.click()
    expect(page.locator(".status").first).not_to_contain_text("?")
    page.wait_for_function("report.panels[0].busy === false")
    assert axis(page) == closer
    lanes = page.evaluate(
        "Object.entries(document.querySelector('.chart')._fullLayout)"
        ".filter(([name, axis]) => /^yaxis/.test(name) && axis.tickformat).map(([, axis]) => axis.anchor)"
    )
    assert len(lanes) == 3
    assert set(lanes) == {"x"}, "all lanes share the time axis, so they are zoomed together"
    assert shared.complaints == []


def test_distance_to_committed_and_the_key(loss: Page, shared: Watched) -> None:
    page = loss
    ends = (
        "document.querySelector('.chart').data.filter(t => t.meta.group === 'bound')"
        ".flatMap(t => Array.from(t.y)).filter(y => y !== null)"
    )
    assert max(page.evaluate(ends)) > 0
    page.get_by_text("distance to committed").first.click()
    page.wait_for_selector(".chart[data-drawn=distance]")
    assert set(page.evaluate(ends)) == {0}, "the committed bound is the measure, so it lies at 0"
    key = page.locator(".keys button[data-group=hw]").first
    key.click()
    expect(key).to_have_attribute("aria-pressed", "false")
    shown = "document.querySelector('.chart').data.filter(t => t.meta.group === 'hw' && t.visible).length"
    page.wait_for_function(f"{shown} === 0")
    assert shared.complaints == []


def test_pointing_at_a_mark_shows_its_evidence(loss: Page, shared: Watched) -> None:
    page = loss
    mark = page.locator(".chart .scatterlayer .textpoint").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    label = page.locator(".chart .hoverlayer .hovertext").first
    label.wait_for()
    assert re.search(r"server\.log:\d+|state-change\.log:\d+", label.text_content() or "")


def test_the_logs_follow_the_slider(loss: Page, shared: Watched) -> None:
    page = loss
    bars = page.locator(".logs .bars")
    bars.scroll_into_view_if_needed()
    expect(bars.locator("text.fork-text")).to_have_text(re.compile("fork at offset 50"))
    slider = page.locator(".logs input[type=range]")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator(".logs output")).to_contain_text("UTC")
    expect(bars.locator("text.fork-text")).to_have_count(0)
    assert page.locator(".logs .moment-caption").text_content() == page.locator(".logs output").inner_text()
    page.keyboard.press("End")
    expect(bars).to_have_attribute("aria-label", re.compile("Fork at offset 50"))


def test_the_map_is_filtered_sorted_and_shown_whole(many: Result, tmp_path: Path, watch: Opener) -> None:
    path = tmp_path / "many.html"
    path.write_text(render(many), encoding="utf-8")
    with watch() as watched:
        page = watched.open(path)
        rows = page.locator("#grid tbody tr")
        status = page.locator("#shown")
        expect(status).to_have_text(re.compile("100 of 2.000 shown"))
        page.locator("#show").select_option("v")
        expect(status).to_have_text(re.compile("2.000 in all"))
        assert page.locator("#grid tbody tr:not(:has(td.v))").count() == 0
        page.locator("#show").select_option("")
        page.locator("#find").fill("payments-3")
        names = rows.locator("th").all_inner_texts()
        assert names
        assert all("payments-3" in name for name in names)
        page.locator("#find").fill("")
        sort = page.get_by_role("button", name="Partition", exact=True)
        sort.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#grid th.name").first).to_have_attribute("aria-sort", "ascending")
        names = rows.locator("th").all_inner_texts()
        assert names[0].startswith("audit.events-0")
        page.keyboard.press("Enter")
        expect(page.locator("#grid th.name").first).to_have_attribute("aria-sort", "descending")
        assert rows.locator("th").all_inner_texts()[0] > names[0]
        page.locator("#more-rows").click()
        expect(rows).to_have_count(600)
        page.locator("#pick").select_option("3")
        watched.chart()
        assert page.locator("#panel-3").is_visible()
        assert page.locator("#panel-0").is_hidden()
        assert watched.complaints == []
        assert watched.requests == [path.as_uri()]


@pytest.mark.parametrize("redacted", [False, True], ids=["open", "redacted"])
def test_hostile_text_stays_text(hostile: Result, redacted: bool, tmp_path: Path, watch: Opener) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render(redact(hostile) if redacted else hostile), encoding="utf-8")
    with watch() as watched:
        page = watched.open(path)
        watched.chart()
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        for mark in page.locator(".chart .scatterlayer .textpoint").all()[:2]:
            mark.hover(force=True)
            page.wait_for_timeout(300)
        assert page.evaluate("window.pwned") is None
        assert page.locator("img, iframe, object, embed, form[action]").count() == 0
        if not redacted:
            assert "onerror=window.pwned=1" in page.locator("body").inner_text()
        assert watched.requests == [path.as_uri()]
        assert watched.complaints == []


def test_it_prints(loss: Page, shared: Watched) -> None:
    page = loss
    page.emulate_media(color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    paper = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip()
    assert paper == "#f7f6f3", "light on paper, whatever the screen"
    assert page.locator("details.story:not([open])").count() == 0
    page.emulate_media(media="print")
    assert page.locator(".bar").is_hidden()
    assert page.locator("#headline").is_visible()
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="light")
    assert page.locator("html[data-print]").count() == 0


def test_it_reads_without_scripts(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch(java_script_enabled=False) as watched:
        page = watched.open(pages(LOSS))
        assert page.locator("#headline").is_visible()
        assert page.locator(".steps li").count() >= 3
        page.locator("details.table > summary").first.click()
        assert page.locator("details.table[open] table").first.is_visible()
        assert page.locator("#grid tbody tr").count() >= 1
