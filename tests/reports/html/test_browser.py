"""The page in Chromium, opened from a file: nothing complains, nothing is asked for, everything works."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from forensics.reports.html import lanes, render
from forensics.reports.redaction import redact
from forensics.result import Result
from tests.conftest import EVERYTHING, SHARE, in_full
from tests.reports.html.conftest import LOSS, LOSS_AND_FORK, PATIENCE, PHONE, SAMPLES, WIDE, Opener, Watched, axis
from tools.samples import unpacked

pytestmark = pytest.mark.browser

SIZES = {
    "wide": WIDE,
    "phone": PHONE,
    "tablet": {"width": 768, "height": 1024},
    "huge": {"width": 2560, "height": 1300},
}


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
            const panel = report.panel;
            if (report.zone !== "UTC") document.getElementById("zone").click();
            panel.scale = "offsets";
            panel.off.clear();
            panel.node.querySelector("input[value=offsets]").checked = true;
            for (const key of panel.node.querySelectorAll(".keys button")) key.setAttribute("aria-pressed", "true");
            panel.logs.slider.value = panel.logs.slider.max;
            panel.logs.draw();
            await panel.zoom("all");
            await panel.draw();
        }"""
    )
    return page


def overlapping(page: Page) -> list[str]:
    """Words of the chart that stand on each other, or stick out of it."""
    return page.evaluate(
        """() => {
            const chart = document.querySelector('.panel .chart');
            const whole = chart.getBoundingClientRect();
            const boxes = Array.from(
                chart.querySelectorAll('.annotation'), one => [one.textContent, one.getBoundingClientRect()]);
            const outside = ([, b]) => b.left < whole.left - 1 || b.right > whole.right + 1;
            const found = boxes.filter(outside).map(([text]) => text);
            boxes.forEach(([text, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const tall = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 2 && tall > 4) found.push(text + ' | ' + other);
            }));
            return found;
        }"""
    )


COLOURS = ("color-contrast", "link-in-text-block")
"""Rules of axe-core that look at colours: no other can hold in the light and fail in the dark."""


def shut_out(page: Page, *rules: str) -> list[tuple[str, list[str]]]:
    """What axe-core says shuts people out, with everything unfolded; by all rules, unless some are named."""
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [(one["id"], [node["html"][:90] for node in one["nodes"][:3]]) for one in found]


OTHERS = sorted({path.name for path in unpacked().iterdir() if path.is_dir()} - set(SAMPLES))
IN_ALL_WAYS = SAMPLES if EVERYTHING else (LOSS_AND_FORK,)


@pytest.mark.parametrize(
    ("name", "viewport"),
    [
        *(pytest.param(name, WIDE, id=f"{name}-wide") for name in IN_ALL_WAYS),
        *(pytest.param(name, PHONE, id=f"{name}-phone") for name in IN_ALL_WAYS),
        *(
            pytest.param(name, PHONE if place % 2 else WIDE, id=name)
            for place, name in enumerate(OTHERS if EVERYTHING else OTHERS[:: 2 * SHARE])
        ),
    ],
)
def test_it_opens_for_everyone_without_complaint_or_request(
    name: str, viewport: dict[str, int], pages: Callable[[str], Path], watch: Opener
) -> None:
    path = pages(name)
    with watch(viewport) as watched:
        page = watched.open(path)
        watched.chart()
        assert page.locator(".panel .chart .main-svg").count() >= 1
        drawn = "document.querySelector('.panel .chart')._fullData.filter(t => t.visible === true).length"
        assert page.evaluate(drawn) >= 3
        assert page.locator(".panel .bars svg text.who").count() >= 1
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "nothing sticks out"
        assert "Share" not in page.locator("main").inner_text(), "plotly's button that sends the figure out"
        assert page.locator(".modebar-btn").count() == 0
        assert watched.requests == [path.as_uri()]
        assert watched.complaints == []
        assert shut_out(page) == []
        assert overlapping(page) == []
        if name in IN_ALL_WAYS and viewport == WIDE:
            page.emulate_media(color_scheme="dark")
            assert shut_out(page, *COLOURS) == [], "dark"


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
        page.wait_for_function("() => report.panel.busy === false")
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
    page.wait_for_function("() => report.panel.busy === false")
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
    page.get_by_text("relative to high watermark").first.click()
    page.wait_for_selector(".chart[data-drawn=distance]")
    assert set(page.evaluate(ends)) == {0}, "the committed bound is the measure, so it lies at 0"
    key = page.locator(".keys button[data-group=hw]").first
    key.click()
    expect(key).to_have_attribute("aria-pressed", "false")
    shown = "document.querySelector('.chart').data.filter(t => t.meta.group === 'hw' && t.visible).length"
    page.wait_for_function(f"() => {shown} === 0")
    assert shared.complaints == []


def test_distances_are_values_less_the_committed_bound(
    loss: Page, shared: Watched, results: Callable[[str], Result]
) -> None:
    page = loss
    result = results(LOSS_AND_FORK)
    chart, _ = lanes.chart(result.case, result.partitions[0])
    page.locator("input[value=distance]").first.check(force=True)
    page.wait_for_selector(".chart[data-drawn=distance]")
    traces = page.evaluate(
        "document.querySelector('.chart').data"
        ".filter(t => t.mode === 'lines' && ['end', 'floor', 'hw'].includes(t.meta.group))"
        ".map(t => [t.yaxis, t.meta.group, Array.from(t.x, x => x && Date.parse(x + 'Z')), Array.from(t.y)])"
    )
    checked = 0
    for place, lane in enumerate(chart.lanes):
        for groups, value in ((("end", "floor"), "log_end"), (("hw",), "high_watermark")):
            stretches = [
                (x0 - chart.zero // 1000, x1 - chart.zero // 1000, y0)
                for axis, group, xs, ys in traces
                if axis == f"y{place + 2}" and group in groups
                for (x0, y0), (x1, y1) in pairwise(zip(xs, ys, strict=True))
                if None not in (y0, y1) and x0 < x1
                if y0 == y1 or pytest.fail("a slope")
            ]
            corners = {y for axis, group, _, ys in traces if axis == f"y{place + 2}" and group in groups for y in ys}
            expected: set[int | None] = {None}
            for state in lane.states:
                worth = getattr(state, value)
                steps = [at for at, _ in chart.bound if state.start < at < state.end]
                for at, end in pairwise([state.start, *steps, state.end]):
                    if at == end:
                        continue
                    bound = max((hw for time, hw in chart.bound if time <= at), default=None)
                    expected |= {worth - bound} if worth is not None and bound is not None else set()
                    told = {y for x0, x1, y in stretches if x0 <= at and x1 >= end}
                    assert told == (set() if worth is None or bound is None else {worth - bound})
                    checked += bool(told)
            assert corners <= expected, "no spike where value and bound change at once"
    assert checked > 5
    assert shared.complaints == []


def test_a_click_into_the_timeline_chooses_the_moment_of_the_logs(loss: Page, shared: Watched) -> None:
    page = loss
    chart = page.locator(".chart").first
    chart.scroll_into_view_if_needed()
    lines = "document.querySelector('.chart').layout.shapes.filter(s => s.line.dash === 'dash').map(s => s.x0)"
    page.locator(".logs input[type=range]").focus()
    page.keyboard.press("End")
    page.wait_for_function(f"() => {lines}.length === 0")  # what lies on disk has no time
    box = chart.bounding_box()
    assert box is not None
    chart.click(position={"x": box["width"] * 0.5, "y": box["height"] * 0.4})
    page.wait_for_function(f"() => {lines}.length === 1")
    clicked, moment, later = page.evaluate(
        """() => {
            const panel = report.panel, view = panel.logs.view.moments, at = Number(panel.logs.slider.value);
            const plot = panel.target._fullLayout._size;
            const share = (panel.target.clientWidth * 0.5 - plot.l) / plot.w;
            const time = panel.told.zero + panel.range[0] + share * (panel.range[1] - panel.range[0]);
            return [time, view[at].time / 1000, view[at + 1].time === null ? null : view[at + 1].time / 1000];
        }"""
    )
    assert moment <= clicked
    assert later is None or later > clicked
    said = page.locator(".logs output").inner_text()
    assert re.fullmatch(r"[\d:.]+, as it was since [\d:.]+ UTC", said), (
        "the time that was clicked, and what it rests on"
    )
    first = page.evaluate(lines)
    page.locator(".logs [data-step='-1']").click()
    page.wait_for_function(f"() => {lines}[0] !== {first[0]!r}")
    assert shared.complaints == []


def test_labels_follow_what_is_shown(loss: Page, shared: Watched) -> None:
    page = loss
    words = "Array.from(document.querySelectorAll('.chart .annotation'), one => one.textContent)"
    whole = page.evaluate(words)
    assert any("leads" in text for text in whole)
    page.get_by_role("button", name="The finding").first.click()
    page.wait_for_function("() => report.panel.busy === false")
    assert overlapping(page) == []
    shown = page.evaluate(words)
    assert sum("epoch" in text for text in shown) == 3, "each where a part of it is shown"
    page.evaluate("report.panel.range = [0, 1500]")
    page.locator(".chart").first.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => !{words}.some(text => text.includes('epoch'))")
    assert overlapping(page) == []
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


@in_full("every partition is found and drawn without it")
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
        place = 37
        anchor, name, _ = page.evaluate(f"report.data.panels[{place}]")
        page.locator("#pick").select_option(str(place))
        page.wait_for_function(f"() => report.panel.number === {place}")
        watched.chart()
        assert page.locator("#panel-title").inner_text() == name
        assert page.locator(".panel").get_attribute("id") == anchor
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
        for view in SIZES.values():
            page.set_viewport_size(view)  # type: ignore[arg-type]
            page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
        assert watched.requests == [path.as_uri()]
        assert watched.complaints == []


def test_it_prints(loss: Page, shared: Watched) -> None:
    page = loss
    page.emulate_media(color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    paper = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')").strip()
    assert paper == "#f7f6f3", "light on paper, whatever the screen"
    page.emulate_media(media="print")
    assert page.locator(".bar").is_hidden()
    assert page.locator("#headline").is_visible()
    assert page.locator("details:not([open]):visible").count() == 0, "what is folded is not needed on paper"
    assert 3 <= sheets(page) <= 4
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="light")
    assert page.locator("html[data-print]").count() == 0


def sheets(page: Page) -> int:
    """How many pages of A4 the page prints on."""
    return len(re.findall(rb"/Type\s*/Page[^s]", page.pdf(format="A4", print_background=True)))


@pytest.mark.parametrize("name", IN_ALL_WAYS)
def test_it_prints_on_few_sheets(name: str, pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = watched.open(pages(name))
        watched.chart()
        affected = page.evaluate("report.data.panels.filter(one => !['clean', 'open'].includes(one[2])).length")
        assert sheets(page) <= 4 * max(affected, 1)
        assert watched.complaints == []


@in_full("the number of sheets is tried without it")
def test_it_prints_its_chart_unseen(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch({"width": 1440, "height": 300}) as watched:
        page = watched.open(pages(LOSS))
        page.wait_for_selector(".panel .chart[data-drawn]", timeout=PATIENCE)
        assert page.evaluate("scrollY") == 0, "nobody has scrolled to it"
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("document.querySelector('.chart').layout.width") <= 700, "as wide as a page of paper"
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        page.wait_for_function("() => document.querySelector('.chart')._fullLayout.width > 900")
        assert watched.complaints == []


def test_paper_gets_the_table_where_the_chart_is_not_drawn_yet(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch() as watched:
        page = watched.open(pages(LOSS))
        watched.chart()
        table = page.locator(".panel details.table").first
        page.evaluate(
            """() => {
                delete document.querySelector('.panel .chart').dataset.drawn;
                dispatchEvent(new Event('beforeprint'));
            }"""
        )
        expect(table).to_have_attribute("open", "")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        expect(table).not_to_have_attribute("open", "")
        assert watched.complaints == []


def test_it_reads_without_scripts(pages: Callable[[str], Path], watch: Opener) -> None:
    with watch(java_script_enabled=False) as watched:
        page = watched.open(pages(LOSS))
        assert page.locator("#headline").is_visible()
        assert page.locator(".steps li").count() >= 3
        page.locator(".chart-table > summary").click()
        assert page.locator(".chart-table[open] table").first.is_visible()
        assert page.locator("#grid tbody tr").count() >= 1
