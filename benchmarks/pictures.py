"""The pictures in the README: pieces of the report of a sample, as Chromium shows them.

python -m benchmarks.pictures
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = "sample_traces/kip101-0.10.2.2"
PICTURES = (("report-answer.png", "#answer"), ("report-timeline.png", ".panel"))
"""File in docs/images, and what of the page it shows."""


def main() -> int:
    """Write them."""
    from playwright.sync_api import sync_playwright

    from forensics.engines import local
    from forensics.reports.html import render

    os.chdir(ROOT)  # a path that is the same on every machine
    page_text = render(local.scan([SAMPLE]))
    images = ROOT / "docs" / "images"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(page_text, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": 1000, "height": 900},
            color_scheme="light",
            reduced_motion="reduce",
            device_scale_factor=1,
        )
        page.goto(path.as_uri())
        page.locator(".chart").first.scroll_into_view_if_needed()
        page.wait_for_selector(".chart[data-drawn]")
        # Room at the sides, and no bar across the picture.
        page.add_style_tag(
            content=".bar, .panel .intro, .panel .table, .panel .status { display: none }"
            "#answer { padding: 1.5rem; margin: 0 -1.5rem } .panel { border: 0 }"
        )
        for name, part in PICTURES:
            page.locator(part).first.screenshot(path=images / name, animations="disabled")
            print(f"{name}: {(images / name).stat().st_size:,} bytes")
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
