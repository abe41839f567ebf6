"""Pages for what the docs link to outside docs/: source files, folders, READMEs of samples."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from tools.site.github import lines_outside_code

LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#]+)(?P<anchor>#[^)\s]*)?(?=\))")
FOLDER = "project"
"""Where such pages are on the site."""
LANGUAGES = {".py": "python", ".json": "json", ".yaml": "yaml", ".toml": "toml", ".js": "javascript"}


def place(path: str, repository: Path) -> str:
    """Return where a file or folder of the repository is on the site, as a path below docs/."""
    if path.startswith("docs/") and (repository / path).is_file():
        return path.removeprefix("docs/")
    if (repository / path).is_dir():
        name = "README.md" if (repository / path / "README.md").is_file() else "index.md"
        return f"{place(f'{path}/{name}', repository)}" if name == "README.md" else f"{FOLDER}/{path}/{name}"
    return f"{FOLDER}/{path}" if path.endswith(".md") else f"{FOLDER}/{path}.md"


def linked(text: str, origin: str) -> Iterator[str]:
    """Yield what a Markdown file links to, as paths from the root of the repository.

    Args:
        text: what the file says.
        origin: its own path.
    """
    for line, outside in lines_outside_code(text):
        for found in LINK.finditer(line) if outside else ():
            if "://" not in found["path"] and not found["path"].startswith("mailto:"):
                yield posixpath.normpath(posixpath.join(posixpath.dirname(origin), found["path"]))


def moved(text: str, origin: str, page: str, repository: Path) -> str:
    """Return the text with links that lead where things are on the site.

    Args:
        text: a Markdown file.
        origin: its path in the repository.
        page: its path on the site, below docs/.
        repository: the root of the checkout.
    """

    def link(found: re.Match[str]) -> str:
        if "://" in found["path"] or found["path"].startswith("mailto:"):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), found["path"]))
        if not (repository / path).exists():
            return found[0]  # MkDocs names it
        there = posixpath.relpath(place(path, repository), posixpath.dirname(page) or ".")
        return there + (found["anchor"] or "")

    return "\n".join(LINK.sub(link, line) if outside else line for line, outside in lines_outside_code(text))


def shown(path: str, repository: Path) -> str:
    """Return a page that shows a file or a folder which is no Markdown."""
    if (repository / path).is_dir():
        return f"{UNSEARCHED}# {path}\n\n| file | what it is |\n|---|---|\n" + "".join(_listed(repository / path))
    text = (repository / path).read_text("utf-8")
    fence = "`" * 5
    return f"{UNSEARCHED}# {path}\n\n{fence}{LANGUAGES.get(Path(path).suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


UNSEARCHED = "---\nsearch:\n  exclude: true\nhide: [toc]\n---\n\n"


def _listed(folder: Path) -> Iterator[str]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(("__pycache__", ".")):
            continue
        says = ""
        module = path / "__init__.py" if path.is_dir() else path
        if module.suffix == ".py" and module.is_file():
            says = (ast.get_docstring(ast.parse(module.read_text("utf-8"))) or "").partition("\n\n")[0]
        elif path.suffix == ".md":
            says = path.read_text("utf-8").partition("\n")[0].lstrip("# ")
        yield f"| `{path.name}` | {' '.join(says.split()).replace('``', '`').replace('|', chr(92) + '|')} |\n"
