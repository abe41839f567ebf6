"""The page on traces shows the tables that the reader goes by, and its examples are sound traces."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import jsonschema

from parsers.formats.trace_jsonl import json_schema
from parsers.formats.trace_kinds import header_table, statements_table
from parsers.read import read
from tests.parsers.handing_over import source

TABLES = {"header": header_table, "kinds": statements_table}


def test_the_tables_are_those_of_the_code(repository: Path) -> None:
    page = repository / "docs" / "trace-format.md"
    text = page.read_text(encoding="utf-8")
    made = text
    for name, table in TABLES.items():
        shown = f"<!-- {name} -->\n{table()}\n<!-- end -->"
        made = re.sub(rf"<!-- {name} -->\n.*?<!-- end -->", lambda _, shown=shown: shown, made, flags=re.DOTALL)
    if os.environ.get("FORENSICS_UPDATE_GOLDEN") == "1":
        page.write_text(made, encoding="utf-8")
    assert made == page.read_text(encoding="utf-8"), "run this test with FORENSICS_UPDATE_GOLDEN=1"


def test_its_examples_and_the_written_traces_are_sound(repository: Path) -> None:
    page = (repository / "docs" / "trace-format.md").read_text(encoding="utf-8")
    texts = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert len(texts) == 2
    texts += [path.read_text("utf-8") for path in sorted(repository.glob("sample_traces/written/*/trace.jsonl"))]
    validator = jsonschema.Draft202012Validator(json_schema())
    for text in texts:
        reading = read(source(text.encode(), "trace.jsonl"))
        assert reading.notices.is_empty(), reading.notices.get_column("reason").to_list()
        for line in text.splitlines():
            assert not list(validator.iter_errors(json.loads(line)))
