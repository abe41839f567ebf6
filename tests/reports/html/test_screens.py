"""The page looks as it did: screenshots at four widths against stored ones, with room for other fonts.

``FORENSICS_SCREENS=write`` stores new ones; look at each of them first.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from forensics.engines import local
from forensics.reports.html import render
from tests.conftest import ROOT
from tests.reports.html.conftest import LOSS_AND_FORK, PATIENCE

pytestmark = pytest.mark.browser

WIDTHS = (360, 768, 1440, 2560)
PARTS = {"answer": "#answer", "story": "#story", "timeline": ".panel", "map": "#map"}
STORED = Path(__file__).parent / "screens"

CELLS, DIFFERENT, SHARE, LENGTH = 8, 24, 0.08, 0.04
"""Pixels of a cell's side, how far two cells may be apart on a scale of 255, the share of cells that may be farther,
and the share by which the height may differ."""

OTHER_FONTS = 6
"""So many times as much may differ where the fonts are not those of the stored screenshots."""

QUARTER = """
async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.width / 4);
    canvas.height = Math.round(image.height / 4);
    const pen = canvas.getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
}
"""
"""A screenshot in a quarter of its size."""

APART = """
async ([one, other, cells]) => {
    const sizes = [], seen = [];
    for (const url of [one, other]) {
        const image = new Image();
        image.src = url;
        await image.decode();
        sizes.push([image.width, image.height]);
        seen.push(image);
    }
    const wide = Math.ceil(sizes[0][0] * 4 / cells), tall = Math.ceil(Math.min(sizes[0][1], sizes[1][1]) * 4 / cells);
    const values = seen.map((image) => {
        const canvas = document.createElement("canvas");
        canvas.width = wide;
        canvas.height = tall;
        const pen = canvas.getContext("2d");
        pen.imageSmoothingQuality = "high";
        pen.drawImage(image, 0, 0, image.width * 4 / cells, image.height * 4 / cells);
        return pen.getImageData(0, 0, wide, tall).data;
    });
    const far = (a, i, b, j) => Math.max(...[0, 1, 2].map((c) => Math.abs(a[i + c] - b[j + c])));
    const apart = [], ground = 4 * (wide + 1); // a cell near the corner has no words
    for (let at = 0; at < values[0].length; at += 4) {
        const inked = values.some((one) => far(one, at, one, ground) > 8);
        if (inked) apart.push(far(values[0], at, values[1], at));
    }
    return { sizes, apart };
}
"""
"""How far two screenshots are apart, by cells that are not empty in both."""

FONTS = """
() => {
    const pen = document.createElement("canvas").getContext("2d");
    return ["--sans", "--mono"].map((name) => {
        pen.font = "40px " + getComputedStyle(document.documentElement).getPropertyValue(name);
        return Math.round(pen.measureText("Committed data was lost in orders-0").width);
    });
}
"""
"""How wide some words are: other numbers, other fonts."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the loss, with paths that are the same on every machine."""
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        page = render(local.scan([f"sample_traces/{LOSS_AND_FORK}"]))
    finally:
        os.chdir(here)
    path = tmp_path_factory.mktemp("screens") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=WIDTHS)
def shown(request: pytest.FixtureRequest, browser: Browser, report: Path) -> Iterator[tuple[int, Page, Page]]:
    """A width, the page at it, and an empty page to compare in."""
    viewport = {"width": request.param, "height": 900}
    context = browser.new_context(viewport=viewport, reduced_motion="reduce", color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(report.as_uri())
    page.locator(".chart").scroll_into_view_if_needed()
    page.wait_for_selector(".chart[data-drawn]", timeout=PATIENCE)
    page.add_style_tag(content=".bar { position: static !important }")
    yield request.param, page, context.new_page()
    context.close()


def url(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


@pytest.mark.parametrize("part", PARTS)
def test_it_looks_as_it_did(part: str, shown: tuple[int, Page, Page]) -> None:
    width, page, empty = shown
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, "nothing sticks out"
    shot = page.locator(PARTS[part]).first.screenshot(animations="disabled")
    small: str = empty.evaluate(QUARTER, url(shot))
    fonts: list[int] = page.evaluate(FONTS)
    stored, known = STORED / f"{part}-{width}.png", STORED / "fonts.json"
    if os.environ.get("FORENSICS_SCREENS") == "write":
        STORED.mkdir(exist_ok=True)
        stored.write_bytes(base64.b64decode(small.split(",", 1)[1]))
        known.write_text(json.dumps(fonts) + "\n", encoding="utf-8")
    room = 1 if json.loads(known.read_text(encoding="utf-8")) == fonts else OTHER_FONTS
    found: dict[str, Any] = empty.evaluate(APART, [url(stored.read_bytes()), small, CELLS])
    (wide, tall), (now_wide, now_tall) = found["sizes"]
    assert abs(now_wide - wide) <= 1
    assert abs(now_tall - tall) <= max(tall * LENGTH * room, 2), "longer or shorter than it was"
    far = sum(one > DIFFERENT for one in found["apart"])
    assert far <= len(found["apart"]) * SHARE * room, f"{far} of {len(found['apart'])} cells differ"
