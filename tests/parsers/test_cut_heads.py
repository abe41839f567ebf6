"""Lines whose beginning was cut off, and often their end: as a narrow terminal or a careful author leaves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forensics.engines.local import scan
from parsers.excerpts.dissect import dissected
from parsers.excerpts.kinds import Kind

FOLLOWER = (
    "[Broker id=1] Follower orders-0 starts at leader epoch 3 from offset 58000 with partition epoch 6 and high "
    "watermark 58000. Current leader is 2."
)
TRUNCATION = (
    "[ReplicaFetcher replicaId=1, leaderId=2] Truncating partition orders-0 with TruncationState(offset=31000, "
    "completed=true) due to leader epoch and offset"
)
UNCLEAN = (
    "[QuorumController id=1] UNCLEAN partition change for orders-0: isr: [1] -> [2], leader: 1 -> 2, "
    "leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6"
)
DRILL = f"""The controller's own record of it:

```
{UNCLEAN.replace(": isr", ":{}isr").replace(", leaderR", ",{}leaderR")}
```

And broker 1, on return:

```
{FOLLOWER.replace(" with", "{}with")}
{TRUNCATION.replace(" TruncationS", "{}TruncationS")}
WARN [UnifiedLog partition=orders-0] Truncating orders-0 to offset 31000
```
""".replace("{}", "\n        ")


def rules(content: str, folder: Path) -> dict[str, list[tuple[int, int | None]]]:
    """Rules that found something else than missing evidence, with the offsets."""
    path = folder / "ticket.txt"
    path.write_text(content, encoding="utf-8")
    return {one.rule: [*one.offsets] for one in scan([str(path)]).findings if one.rule != "evidence-gap"}


def test_a_drill_that_was_written_down_without_heads_is_judged(tmp_path: Path) -> None:
    found = rules(DRILL, tmp_path)
    assert found["truncation-below-committed"] == [(31000, 58000)]
    assert "unclean-election" in found


def test_lines_without_head_and_end_state_what_they_still_have(tmp_path: Path) -> None:
    assert rules(f"{FOLLOWER}\n{TRUNCATION}\n", tmp_path) == {"truncation-below-committed": [(31000, 58000)]}


HEAD = "[2026-03-01 03:12:10,001] INFO "
LOGGERS = (" Previous leader Some(1) and previous leader epoch was 2. (state.change.logger)", " (kafka.server.X)")
END = " EpochEndOffset(errorCode=0, partition=0, leaderEpoch=2, endOffset=31000)"
WHOLE = (f"{HEAD}{FOLLOWER}{LOGGERS[0]}", f"{HEAD}{TRUNCATION}{END}{LOGGERS[1]}")


@pytest.mark.parametrize("cut", [1, 3, 6, 11, 15, 20, 24, 25, 26, 27, 29, 31])
def test_a_head_may_be_cut_anywhere(cut: int, tmp_path: Path) -> None:
    content = "".join(f"{line[cut:]}\n" for line in WHOLE)
    assert rules(content, tmp_path) == {"truncation-below-committed": [(31000, 58000)]}


@pytest.mark.parametrize(
    "line",
    [
        "[Broker id=1] is the one that we restarted",
        "[Broker id=1] Follower orders-0 starts late",
        "O Truncating it was no good idea",
        "41] is the first of them",
        "starts at leader epoch 3 from offset 58000 with partition epoch 6",
    ],
)
def test_words_that_look_like_a_cut_line_are_none(line: str) -> None:
    assert {one.kind for one in dissected(f"{line}\n").lines} <= {Kind.PROSE, Kind.BLANK, Kind.GOES_ON}


@pytest.mark.parametrize(
    "lines",
    [
        # A number that a narrow terminal broke, joined in the only way that is a message.
        [FOLLOWER[:72], FOLLOWER[72:], TRUNCATION],
        [FOLLOWER[:72], FOLLOWER[72:120], FOLLOWER[120:], TRUNCATION],
    ],
)
def test_pieces_of_a_line_without_its_end_are_joined(lines: list[str], tmp_path: Path) -> None:
    assert lines[0].endswith("offset 580")
    found = rules("".join(f"{line}\n" for line in lines), tmp_path)
    assert found == {"truncation-below-committed": [(31000, 58000)]}


def test_a_number_that_may_lack_digits_is_not_used(tmp_path: Path) -> None:
    cut = FOLLOWER[: FOLLOWER.index("58000. ") + 2]
    assert "truncation-below-committed" not in rules(f"{cut}\n\nand then\n\n{TRUNCATION}\n", tmp_path)


BELOW = "WARN [UnifiedLog partition=orders-0] Truncating orders-0 to offset 31000{}below high watermark 58000"


@pytest.mark.parametrize("broken", [" ", "\n", "\n              ", " \n  "])
def test_a_line_that_is_known_by_its_second_piece_is_joined(broken: str, tmp_path: Path) -> None:
    content = f"It ended with this on broker 1:\n\n```\n{BELOW.format(broken)}\n```\n"
    (problem,) = scan([str(_pasted(content, tmp_path))]).problems
    assert (problem.known.id, problem.offsets) == ("truncation-below-high-watermark", ((31000, 58000),))


def test_a_line_whose_last_number_may_go_on_is_not_joined(tmp_path: Path) -> None:
    content = f"We saw this on broker 1:\n\n```\n{BELOW.format(chr(10))[:-2]}\n00\n{TRUNCATION}\n```\n"
    result = scan([str(_pasted(content, tmp_path))])
    assert [one.known.id for one in result.problems] == ["truncation"]


def test_a_notice_says_that_a_line_without_its_end_was_read(tmp_path: Path) -> None:
    result = scan([str(_pasted(f"{FOLLOWER}\n{TRUNCATION}\n", tmp_path))])
    reasons = result.case.notices.drop_nulls("line").get_column("reason").unique().to_list()
    assert reasons == ["its end is missing: read as far as it goes"]


def _pasted(content: str, folder: Path) -> Path:
    path = folder / "ticket.txt"
    path.write_text(content, encoding="utf-8")
    return path
