"""What one does on the page: search it, follow links, play the steps, zoom, choose a theme, copy the summary."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from forensics.engines import local
from forensics.reports import markdown
from forensics.reports.html import figures, render
from forensics.result import Result
from tests.conftest import alike, in_full
from tests.reports.html.conftest import CALM, CLEAN, LOSS, LOSS_AND_FORK, PHONE, WIDE, Opener, Watched, axis

pytestmark = pytest.mark.browser

LANES = (
    "Object.entries(document.querySelector('.chart')._fullLayout)"
    ".filter(([name, axis]) => /^yaxis/.test(name) && axis.tickformat)"
    ".map(([, axis]) => Array.from(axis.range, Number))"
)
"""The part of the offsets that each lane shows."""

DASHED = "document.querySelector('.chart').layout.shapes.filter(one => one.line.dash === 'dash').map(one => one.x0)"
"""Where the moment of the logs is marked."""


def opened(watched: Watched, path: Path, anchor: str = "") -> Page:
    page = watched.page
    page.goto(f"{path.as_uri()}{anchor}")
    watched.chart()
    return page


def settle(page: Page) -> None:
    page.wait_for_function("() => report.panel.busy === false")


# -- search and links -------------------------------------------------------------------------------------------------


def test_a_slash_searches_from_anywhere(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        page.locator("#method").scroll_into_view_if_needed()
        page.keyboard.press("/")
        expect(page.locator("#search-text")).to_be_focused()
        page.keyboard.type("replica divergence broker 1")
        options = page.locator("#search-found li")
        expect(options).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("#search")).to_be_hidden()
        assert re.search("#finding-[0-9a-f]+$", page.url)
        expect(page.locator(".story .also.found")).to_contain_text("Replica divergence")
        page.keyboard.press("/")
        page.keyboard.type("broker")
        page.keyboard.press("ArrowDown")
        expect(options.nth(1)).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        expect(page.locator("#search")).to_be_hidden()
        page.locator("#find").click()
        page.keyboard.type("a/b")
        expect(page.locator("#find")).to_have_value("a/b")
        assert watched.complaints == []


def test_every_partition_is_found_and_drawn(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = opened(watched, pages(CALM))
        names = [name for _, name, _ in page.evaluate("report.data.panels")]
        assert len(names) > 2
        page.keyboard.press("/")
        page.keyboard.type(names[2])
        page.keyboard.press("Enter")
        page.wait_for_function("() => report.panel.number === 2")
        expect(page.locator("#panel-title")).to_have_text(names[2])
        settle(page)
        table = page.locator(".chart-table")
        table.locator("summary").click()
        assert table.locator("tbody tr").count() > 2
        assert watched.complaints == []


def test_links_lead_to_a_partition_a_finding_and_a_step(
    pages: Callable[[str], Path], results: Callable[[str], Result], watch: Opener
) -> None:
    with watch() as watched:
        page = opened(watched, pages(CALM))
        anchor, name, _ = page.evaluate("report.data.panels[1]")
    with watch() as watched:
        page = opened(watched, pages(CALM), f"#{anchor}")
        page.wait_for_function("() => report.panel.number === 1")
        expect(page.locator("#panel-title")).to_have_text(name)
        expect(page.locator("#timeline-title")).to_be_in_viewport()
        assert watched.complaints == []
    lead = results(LOSS_AND_FORK).findings[0]
    with watch() as watched:
        page = watched.page
        page.goto(f"{pages(LOSS_AND_FORK).as_uri()}#step-{lead.fingerprint}-4")
        expect(page.locator(".found .what")).to_contain_text("restarted and read back high watermark 80")
        expect(page.locator(".found")).to_be_in_viewport()
        page.evaluate("document.querySelector('.story').open = false")
        page.evaluate(f"location.hash = 'finding-{lead.fingerprint}'")
        expect(page.locator(f"#finding-{lead.fingerprint}")).to_have_attribute("open", "")
        page.locator(".to a").first.click()
        expect(page.locator("#timeline-title")).to_be_in_viewport()
        assert watched.complaints == []


# -- the timeline -----------------------------------------------------------------------------------------------------


def test_zooming_rescales_all_lanes_together(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        whole = page.evaluate(LANES)
        assert len(whole) == 3
        page.evaluate("report.panel.go(report.panel.told.length - 4000, report.panel.told.length + 1000)")
        settle(page)
        near = page.evaluate(LANES)
        assert all(one == near[0] for one in near), "one scale"
        low, high = near[0]
        assert low > whole[0][0] + 20, "no replica's log is that short at the end"
        assert low < 50 < 80 < high < 95, "the least log end offset that is drawn there, and the greatest"
        page.get_by_role("button", name="All", exact=True).click()
        settle(page)
        assert page.evaluate(LANES) == whole
        assert watched.complaints == []


@in_full("zooming is tried without it")
def test_a_strip_shows_which_part_is_seen_and_moves_it(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        strip = page.locator(".overview")
        expect(strip).to_be_hidden()
        page.get_by_role("button", name="Zoom in").click()
        expect(strip).to_be_visible()
        settle(page)
        before = page.evaluate("report.panel.range.slice()")
        strip.scroll_into_view_if_needed()
        box = strip.locator(".window").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 150, y, steps=4)
        page.mouse.up()
        page.wait_for_function("left => report.panel.range[0] > left + 1000", arg=before[0])
        settle(page)
        after = page.evaluate("report.panel.range.slice()")
        assert after[1] - after[0] == pytest.approx(before[1] - before[0])
        assert watched.complaints == []


def test_steps_move_all_lanes_and_the_logs(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        steps = page.evaluate("report.panel.told.steps")
        assert len(steps) == 6
        said, logs = page.locator(".playing"), page.locator(".logs output")
        moments = []
        for step in steps:
            page.locator("[data-play='1']").click()
            expect(said).to_contain_text(f"Step {step['number']} of 6")
            expect(said).to_contain_text(step["text"])
            settle(page)
            moments.append((page.evaluate(DASHED), logs.inner_text()))
        timed = [step for step in steps if step["time"] is not None]
        assert len({text for _, text in moments[: len(timed)]}) == len(timed), "the logs move with each step"
        assert all(len(marks) == 1 for marks, _ in moments[: len(timed)])
        assert all(marks == [] and text.startswith("On disk") for marks, text in moments[len(timed) :])
        page.locator(".chart").focus()
        for _ in range(3):
            page.keyboard.press("p")
        expect(said).to_contain_text("Step 3 of 6")
        settle(page)
        assert (page.evaluate(DASHED), logs.inner_text()) == moments[2]
        page.evaluate("report.panel.go(0, 3000)")
        settle(page)
        page.keyboard.press("n")
        page.wait_for_function("at => report.panel.range[0] <= at && at <= report.panel.range[1]", arg=steps[3]["time"])
        play = page.locator("[data-play=run]")
        play.click()
        expect(play).to_have_attribute("aria-pressed", "true")
        expect(said).to_contain_text("Step 5 of 6")
        play.click()
        expect(play).to_have_text("Play")
        assert watched.complaints == []


def test_the_legend_is_short_and_the_rest_says_what_it_is(pages: Callable[[str], Path], watch: Opener) -> None:
    assert len(figures.KEYS) <= 6
    grouped = {key.group for key in figures.KEYS} | {group for key in figures.KEYS for group in key.also}
    with watch() as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        traces = page.evaluate("document.querySelector('.chart').data.map(t => [t.meta.group, t.hoverinfo])")
        assert {group for group, _ in traces} - {"epoch"} <= grouped, "each can be hidden by an entry"
        explained = {group for group, hover in traces if hover == "text"}
        assert {group for group, _ in traces} - explained <= {"floor", "band"}, "drawn with a mark, or named in words"
        colours = page.evaluate(
            "document.querySelector('.chart').data.filter(t => t.meta.group === 'cut' && t.marker)"
            ".map(t => [t.marker.symbol, t.marker.color])"
        )
        assert {symbol for symbol, _ in colours} == {"triangle-down"}
        assert watched.complaints == []


RED = "getComputedStyle(document.documentElement).getPropertyValue('--bad').trim()"


@pytest.mark.parametrize(("name", "red"), [(LOSS_AND_FORK, True), (CLEAN, False)])
def test_red_is_only_where_something_is_wrong(
    name: str, red: bool, pages: Callable[[str], Path], watch: Opener
) -> None:
    with watch() as watched:
        page = opened(watched, pages(name))
        drawn = page.evaluate(
            "JSON.stringify([document.querySelector('.chart').data, document.querySelector('.chart').layout])"
        )
        assert (page.evaluate(RED) in drawn) is red


def test_the_wide_screen_is_used(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch({"width": 2560, "height": 1300}) as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        assert page.locator(".chart").evaluate("one => one.clientWidth") > 1_900
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


# -- theme and summary ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "viewport", alike([PHONE, WIDE]), ids=lambda viewport: "phone" if viewport is PHONE else "wide"
)
def test_the_theme_can_be_chosen(viewport: dict[str, int], pages: Callable[[str], Path], watch: Opener) -> None:
    with watch(viewport, color_scheme="dark") as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        ground = "getComputedStyle(document.body).backgroundColor"
        line = (
            "document.querySelector('.chart').data.find(t => t.meta.group === 'end' && t.mode === 'lines').line.color"
        )
        button = page.locator("#theme")
        seen = []
        for name in ("auto", "light", "dark", "auto"):
            expect(button).to_have_text(f"Theme: {name}")
            settle(page)
            page.wait_for_timeout(100)
            seen.append((page.evaluate(ground), page.evaluate(line)))
            button.click()
        auto, light, dark, again = seen
        assert auto == dark == again, "the reader's own scheme is dark"
        assert light[0] != dark[0]
        assert light[1] != dark[1], "the chart follows"
        assert watched.complaints == []


def test_the_summary_is_copied_in_markdown(
    pages: Callable[[str], Path], results: Callable[[str], Result], watch: Opener
) -> None:
    with watch(permissions=["clipboard-read", "clipboard-write"]) as watched:
        page = opened(watched, pages(LOSS_AND_FORK))
        page.get_by_role("button", name="Copy as Markdown").click()
        expect(page.locator("#copied")).to_contain_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == markdown.render(results(LOSS_AND_FORK))
        assert watched.complaints == []


@in_full("zooming is tried without it")
def test_the_axis_is_the_readers_own_after_all_that(pages: Callable[[str], Path], watch: Opener) -> None:
    """Another partition, another zone and the steps: nothing of the one before is left."""
    with watch() as watched:
        page = opened(watched, pages(CALM))
        first = axis(page)
        page.locator("#zone").click()
        page.evaluate("report.show(1)")
        page.wait_for_function("() => report.panel.number === 1")
        page.evaluate("report.show(0)")
        page.wait_for_function("() => report.panel.number === 0")
        settle(page)
        page.locator("#zone").click()
        page.wait_for_function(
            "first => document.querySelector('.chart')._fullLayout.xaxis.range[0] === first", arg=first[0]
        )
        assert axis(page) == first
        assert watched.complaints == []


@in_full("the number of sheets is tried without it")
def test_paper_tells_the_story_of_the_partition_that_is_shown(
    sample_traces: Path, tmp_path: Path, watch: Opener
) -> None:
    path = tmp_path / "two.html"
    result = local.scan([str(sample_traces / name) for name in (LOSS_AND_FORK, LOSS)])
    path.write_text(render(result), encoding="utf-8")
    with watch() as watched:
        page = opened(watched, path)
        told = "[...document.querySelectorAll('.story')].map(one => one.open)"
        about = "[...document.querySelectorAll('.story .to a')].map(one => one.hash === '#' + report.panel.node.id)"
        assert page.evaluate(told) == [True, False]
        for place in (1, 0):
            page.evaluate(f"report.show({place})")
            page.wait_for_function(f"() => report.panel.number === {place}")
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            expected = page.evaluate(about)
            assert sorted(expected) == [False, True]
            assert page.evaluate(told) == expected
            page.evaluate("dispatchEvent(new Event('afterprint'))")
            assert page.evaluate(told) == [True, False]
        assert watched.complaints == []
