"""What MkDocs calls while it builds the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel
from mkdocs.utils import get_relative_url

from tools.site import figures, github, outside, reference

REPOSITORY = Path(__file__).resolve().parents[2]
ORIGINS: dict[str, str] = {}
"""By page: the file of the repository to which its links are relative."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made, the pages of linked files outside docs/, and Plotly."""
    from plotly.offline import get_plotlyjs

    ORIGINS.clear()
    texts: dict[str, str] = {}
    for file in list(files.documentation_pages()):
        ORIGINS[file.src_uri] = f"docs/{file.src_uri}"
        texts[file.src_uri] = file.content_string
    for name, (origin, text) in reference.pages(REPOSITORY).items():
        ORIGINS[name], texts[name] = origin, text
        files.append(File.generated(config, name, content=text))
    _add_linked(files, config, texts)
    files.append(File.generated(config, figures.SCRIPT, content=get_plotlyjs()))
    return files


def _add_linked(files: Any, config: Any, texts: dict[str, str]) -> None:
    """Add a page for each file outside docs/ that a page links to, and for what these link to."""
    waiting = list(texts)
    while waiting:
        page = waiting.pop()
        for path in outside.linked(texts[page], ORIGINS[page]):
            there = outside.place(path, REPOSITORY)
            if not (REPOSITORY / path).exists() or there in texts or files.get_file_from_path(there) is not None:
                continue
            source = path if (REPOSITORY / path).is_file() else f"{path}/README.md"
            if source.endswith(".md") and (REPOSITORY / source).is_file():
                text, origin = (REPOSITORY / source).read_text("utf-8"), source
                waiting.append(there)
            else:
                text, origin = outside.shown(path, REPOSITORY), f"docs/{there}"
            texts[there], ORIGINS[there] = text, origin
            files.append(File.generated(config, there, content=text, inclusion=InclusionLevel.NOT_IN_NAV))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Return the page with links that lead somewhere, lists as MkDocs reads them, and figures."""
    uri = page.file.src_uri
    folder, _, name = uri.removesuffix(".md").rpartition("/")
    if folder == "walkthroughs" and name != "README":
        markdown = figures.asking(markdown, name)
    text = github.adapted(outside.moved(markdown, ORIGINS[uri], uri, REPOSITORY))
    return figures.with_figures(text, get_relative_url(figures.SCRIPT, page.url), REPOSITORY)
