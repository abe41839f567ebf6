"""High watermarks that fell: what could explain a fall without an error."""

from __future__ import annotations

from forensics.replay.coverage import Printed, Span
from forensics.replay.history import History, Regression, RegressionKind


def may_have_followed(history: History, regression: Regression) -> bool:
    """Return whether a replica may no longer have led when the high watermark of its log fell.

    That is so if the fall is in the last role that its lines name, and they may end before a later role.
    """
    spans = history.role_spans.get(regression.replica, ())
    last = max((role_span.epoch for role_span in spans), default=-1)
    ends_early = not history.coverage.has(regression.replica, Printed.ROLES, Span.AFTER)
    return regression.kind is RegressionKind.LEADER and ends_early and regression.epoch == last
