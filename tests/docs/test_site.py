"""The documentation site: it builds without a warning, has every page, and asks the network for nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser

import forensics
from forensics.cli import COMMANDS
from forensics.replay.inferences import INFERENCES
from forensics.rules import RULES
from forensics.tables import TABLES
from parsers.formats import FORMATS
from tools.site import figures, github, outside, reference

ROOT = Path(__file__).resolve().parents[2]
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""Elements whose address a browser fetches by itself."""


def build(config: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False, timeout=600)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


class Loaded(HTMLParser):
    """Gathers what a page makes a browser fetch, and the links of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.ids.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADS and values.get("rel") not in ("canonical", "next", "prev"):
            self.fetched += [values[LOADS[tag]]] if LOADS[tag] in values else []


# -- the site --------------------------------------------------------------------------------------


def test_no_page_asks_the_network(site: Path) -> None:
    far = re.compile(r"(?i)^(?:https?:)?//")
    asked = {}
    for page in site.rglob("*.html"):
        if found := [url for url in Loaded(page.read_text("utf-8")).fetched if far.match(url)]:
            asked[str(page.relative_to(site))] = found
    for style in site.rglob("*.css"):
        if found := re.findall(r"(?:@import|url\()\s*['\"]?(?:https?:)?//[^)'\"]+", style.read_text("utf-8")):
            asked[str(style.relative_to(site))] = found
    assert asked == {}
    assert (site / figures.SCRIPT).stat().st_size > 1_000_000


def test_each_link_leads_to_a_page_and_a_place(site: Path) -> None:
    read = {page.resolve(): Loaded(page.read_text("utf-8")) for page in site.rglob("*.html") if page.name != "404.html"}
    dead = []
    for page, loaded in read.items():
        for link in loaded.links:
            path, _, anchor = link.partition("#")
            if "://" in link or link.startswith("mailto:"):
                continue
            there = (page.parent / path).resolve() if path else page
            if not there.exists() or (anchor and there in read and anchor not in read[there].ids):
                dead.append(f"{page.relative_to(site.resolve())}: {link}")
    assert dead == []
    assert len(read) > 100


def test_each_page_of_the_docs_is_in_the_navigation(site: Path) -> None:
    def listed(one: object) -> list[str]:
        if isinstance(one, str):
            return [one]
        parts = one.values() if isinstance(one, dict) else one
        return [name for part in parts for name in listed(part)]  # type: ignore[attr-defined]

    nav = yaml.load((ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[2], yaml.SafeLoader)
    named = listed(nav)
    there = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert sorted(named) == sorted(there | set(reference.NAMES))
    assert [
        name for name in named if not (site / name.replace("README.md", "index.md")).with_suffix(".html").exists()
    ] == []


def test_the_reference_is_that_of_the_code(site: Path) -> None:
    ids = {name: Loaded((site / "reference" / f"{name}.html").read_text("utf-8")).ids for name in (
        "rules", "commands", "tables", "formats", "api")}  # fmt: skip
    assert {rule.id for rule in RULES} <= ids["rules"]
    assert {f"forensics-{name}" for name in COMMANDS} <= ids["commands"]
    assert {table.name for table in TABLES} <= ids["tables"]
    assert {module.NAME for module in FORMATS} <= ids["formats"]
    assert {name.lower() for name in forensics.__all__} <= ids["api"]
    text = (site / "reference" / "inferences.html").read_text("utf-8")
    assert [one.id for one in INFERENCES if one.id.value not in text] == []


def test_each_place_for_a_figure_has_one(site: Path) -> None:
    for name in ("tutorial", "high-watermark-and-leader-epoch"):
        asked = (ROOT / "docs" / f"{name}.md").read_text("utf-8").count("<!-- figure of: ")
        text = (site / f"{name}.html").read_text("utf-8")
        assert asked > 0
        assert text.count('<div class="figure">') == asked
        assert "figure of:" not in text
    walks = [page for page in (site / "walkthroughs").glob("*.html") if page.name != "index.html"]
    assert len(walks) == len([*(ROOT / "docs" / "walkthroughs").glob("*.md")]) - 1
    assert [page.name for page in walks if '<div class="figure">' not in page.read_text("utf-8")] == []


@pytest.mark.browser
def test_figures_are_drawn_and_move(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    errors: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "high-watermark-and-leader-epoch.html").as_uri())
    page.wait_for_selector("#figure-2 .slider-container")
    before = page.text_content("#figure-2 .gtitle")
    page.evaluate("Plotly.animate('figure-2', ['5'], {mode: 'immediate', frame: {duration: 0, redraw: true}})")
    page.wait_for_function(f"document.querySelector('#figure-2 .gtitle').textContent !== {before!r}")
    assert "A becomes leader" in (page.text_content("#figure-2 .gtitle") or "")
    page.close()
    assert errors == []
    assert [url for url in asked if not url.startswith("file:")] == []


# -- each guard can fail ---------------------------------------------------------------------------


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# x\n\n[a](gone.md) and [b](#nowhere)\n", "utf-8")
    whole = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    whole = re.sub(r"(?m)^(hooks|extra_css): .*\n", "", whole)
    (tmp_path / "mkdocs.yml").write_text(whole, "utf-8")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "out")
    assert done.returncode != 0
    assert "gone.md" in done.stderr
    assert "#nowhere" in done.stderr


def test_what_a_page_fetches_is_seen() -> None:
    text = (
        '<link rel="canonical" href="https://a"><script src="//b/c.js"></script><img src="d.png"><a href="e#f" id="g">'
    )
    loaded = Loaded(text)
    assert loaded.fetched == ["//b/c.js", "d.png"]
    assert (loaded.links, loaded.ids) == (["e#f"], {"g"})


# -- pieces ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a:\n- b\n- c\n", "a:\n\n- b\n- c\n"),
        ("a\n| b |\n|---|\n", "a\n\n| b |\n|---|\n"),
        ("1. a\n   b\n\n   ```sh\n   c\n   ```\n2. d\n", "1. a\n    b\n\n    ```sh\n    c\n    ```\n2. d\n"),
        ("- a\n  - b\n\nc\n", "- a\n    - b\n\nc\n"),
        ("```\na:\n- b\n```\n", "```\na:\n- b\n```\n"),
    ],
)
def test_lists_and_tables_as_mkdocs_reads_them(text: str, wanted: str) -> None:
    assert github.adapted(text) == wanted


def test_links_lead_where_things_are_on_the_site() -> None:
    text = "[a](../forensics/cli/scan.py) [b](how-it-judges.md#x) [c](../sample_traces/written) [d](https://e)\n```\n[f](g)\n```"
    assert outside.moved(text, "docs/salvage.md", "salvage.md", ROOT) == (
        "[a](project/forensics/cli/scan.py.md) [b](how-it-judges.md#x) [c](project/sample_traces/written/README.md)"
        " [d](https://e)\n```\n[f](g)\n```"
    )
    assert list(outside.linked("[a](../CONTRIBUTING.md#tests)", "docs/x.md")) == ["CONTRIBUTING.md"]


def test_a_docstring_becomes_markdown() -> None:
    def one() -> None:
        """Return a thing.

        Args:
            first: what ``x`` is,
                and more.

        >>> one()
        """

    assert reference.documented(one) == (
        "Return a thing.\n\n*Args:*\n\n- `first`: what `x` is, and more.\n\n```pycon\n>>> one()\n```\n"
    )


def test_a_section_of_the_readme_ends_where_the_next_begins() -> None:
    text = "# a\n\n## b\nx\n\n### c\ny\n\n### d\nz\n\n## e\n"
    assert reference.section(text, "c") == "## c\ny\n\n"
    assert reference.section(text, "b") == "## b\nx\n\n### c\ny\n\n### d\nz\n\n"
    with pytest.raises(LookupError):
        reference.section(text, "f")


def test_a_figure_of_a_story_shows_each_step() -> None:
    run = figures.run("loss", "hw")
    drawn = figures.story(run)
    assert len(drawn["frames"]) == len(run.steps) == len(drawn["layout"]["sliders"][0]["steps"])
    records, marks, _ = drawn["frames"][-1]["data"]
    assert records["text"] == ["m1", "m3", "m1", "m3"]
    assert records["marker"]["color"] == [figures.EPOCHS[0], figures.EPOCHS[1]] * 2
    assert marks["x"][0] == 1.5
