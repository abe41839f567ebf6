"""A check that evidence is not what an earlier scan read already."""

from __future__ import annotations

from forensics.case import Case
from forensics.repaired.former import FormerFile, FormerScan


def has_changed(case: Case, former: FormerScan) -> bool | None:
    """Return whether a file of the evidence is new, or has another size or hash, since an earlier scan.

    Only files count that show what a log holds or what a broker did. A file that is absent now is no change: a file
    that a broker removed looks like one that was not copied. Hashes are compared where the earlier scan has
    them, which is for each file that a finding cites. Other files of the same broker, folder, name and size count as
    the same.

    Returns:
        None if the earlier scan does not list its files.
    """
    if not former.files:
        return None
    return any(
        _differs(case, number, former.files.get(FormerFile.of(broker, path, size), frozenset()))
        for number, broker, path, size in case.showing.select("id", "broker", "path", "bytes").iter_rows()
    )


def clusters_of(case: Case) -> frozenset[str]:
    """Return the ids of the clusters that the evidence names."""
    return frozenset(case.sources.get_column("cluster").drop_nulls().to_list())


def _differs(case: Case, source: int, hashes: frozenset[str | None]) -> bool:
    """Return whether a file is none of those that may be it, by the hashes that are known of them."""
    if not hashes:
        return True
    if None in hashes:
        return False
    try:
        return case.files[source].sha256() not in hashes
    except OSError:
        return False  # reported when it was read
