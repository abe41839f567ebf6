"""Sentences that several reports share."""

from __future__ import annotations

from forensics.case.dates import EpochDate
from forensics.reports.remarks import DATED, dated

MINUTE = 60_000


def dates(*times: tuple[int | None, int | None]) -> list[EpochDate]:
    """Epochs with the time before them and the one in them."""
    return [EpochDate(n, 10 * n, before, own, own, True) for n, (before, own) in enumerate(times)]


def test_brokers_that_say_the_same_share_a_sentence() -> None:
    found = dated({2: dates((None, 0), (0, MINUTE)), 1: dates((None, 0), (0, None)), 3: dates((None, 0), (0, MINUTE))})
    zero, one = "1970-01-01 00:00:00.000", "1970-01-01 00:01:00.000"
    began = f"epoch 1 from 10: last record before it: {zero}"
    assert found == [
        f"brokers 1, 2 and 3: epoch 0 from 0: its records: {zero} (producer snapshot)",
        f"broker 1: {began} (producer snapshot)",
        f"brokers 2 and 3: {began}; its records: {one} (producer snapshot)",
    ]


def test_an_epoch_that_adds_nothing_is_not_told() -> None:
    found = dated({1: dates((None, 0), (0, None), (0, None), (0, MINUTE))})
    assert [text.split(":")[1] for text in found] == [" epoch 0 from 0", " epoch 1 from 10", " epoch 3 from 30"]


def test_of_many_epochs_the_last_are_told() -> None:
    found = dated({1: dates(*((n * MINUTE, (n + 1) * MINUTE) for n in range(DATED + 5)))})
    assert found[0].startswith("5 more of earlier epochs")
    assert len(found) == DATED + 1
    assert f"epoch {DATED + 4} from" in found[-1]


def test_a_time_that_no_calendar_has_is_told_as_a_number() -> None:
    (text,) = dated({1: [EpochDate(0, 0, None, 1 << 62, 1 << 62, False)]})
    assert f"{1 << 62} ms" in text
