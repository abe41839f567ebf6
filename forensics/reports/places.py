"""The folder or archive in which all evidence of a scan is: a report names it once, and not at each place."""

from __future__ import annotations

from forensics.case import Case


def below(case: Case) -> str:
    """Return what the paths of all files begin with, to its last slash; "" where they have nothing in common.

    It ends inside an archive where each file is a member of one.
    """
    archives = {path.rpartition("!/")[0] for path in case.paths if "!/" in path}
    folders = [path.rpartition("/")[0].split("/") for path in case.paths if path not in archives]
    if not folders:
        return ""
    first, last = min(folders), max(folders)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return "/".join([*first[:same], ""]) if same else ""
