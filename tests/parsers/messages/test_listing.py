"""The page of messages is that of today's catalogue, and knows what recorded brokers printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import traces
from tests.parsers.messages.listing import PAGE, VERSION, every, load, name, page, released, seen_in


def test_the_page_is_that_of_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(load()), "run: python -m tests.parsers.messages.listing"


def test_what_was_seen_is_in_the_catalogue() -> None:
    variants = {name(message, number): variant for message, number, variant in every()}
    for wording, found in load().items():
        assert wording in variants
        assert found["versions"] == sorted(found["versions"], key=released)


@pytest.mark.parametrize("folder", traces(), ids=lambda folder: folder.name)
def test_what_recorded_brokers_print_is_known_as_printed(folder: Path) -> None:
    assert VERSION.search(folder.name)
    seen = load()
    printed = set(seen_in(folder))
    assert len({wording for wording, _, _ in printed}) > 10
    unknown = [
        (wording, version, logger)
        for wording, version, logger in sorted(printed)
        if version not in seen.get(wording, {}).get("versions", ()) or logger not in seen[wording]["loggers"]
    ]
    assert unknown == [], "run: python -m tests.parsers.messages.listing FOLDER"


def test_a_wording_is_printed_only_by_releases_that_have_it() -> None:
    """The range of releases given for a wording holds on every real broker that was seen to print it."""
    variants = {name(message, number): variant for message, number, variant in every()}
    outside = []
    for wording, found in load().items():
        variant = variants[wording]
        for version in found["versions"]:
            minor = released(version)[:2]
            if minor < released(variant.since) or (variant.until is not None and minor > released(variant.until)):
                outside.append(f"{wording} ({variant.since} - {variant.until}): {version}")
    assert outside == []
