"""What the Spark engine is made of, without Spark."""

from __future__ import annotations

import io
import os
import random
import tarfile
import threading
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from forensics.case import Reading
from forensics.case.case import SOURCES
from forensics.engines import codec, local
from forensics.engines.local import Step
from forensics.engines.pipeline import shuffling
from forensics.engines.pipeline.batch import Batch
from forensics.engines.pipeline.finishing import Waiting
from forensics.engines.pipeline.output import Output
from forensics.engines.pipeline.shuffling import by_size
from forensics.engines.pipeline.stored import Stored
from forensics.engines.pipeline.watching import Judged, sentence, watched
from forensics.engines.stages.deriving import TABLES
from forensics.engines.stages.files import Sink, put
from forensics.engines.stages.judging import Judge, whole_partitions
from forensics.engines.stages.listing import listed, looked
from forensics.engines.stages.packing import packed
from forensics.engines.stages.plan import Piece, Unit, planned
from forensics.engines.stages.reading import opened
from forensics.engines.stages.rows import narrowed
from forensics.engines.stages.table import Rows, Table, is_whole, shortened
from forensics.engines.stages.thinning import headers, thinned
from forensics.engines.stages.work import DIGESTS
from forensics.errors import UnreadableInput, UnusableOutput, UnwritableOutput
from forensics.replay.committed.record_counts import records_held
from forensics.replay.lineage import size
from forensics.replay.omissions.own_lines import FOLLOWS, JUMPED
from forensics.replay.partitions import histories
from forensics.result import Result
from parsers.schema import Kind
from tests.conftest import alike
from tests.incident import Incident, Node, batch


def test_histories_and_judgements_survive_the_way(sample: Path, scanned: Callable[[Path], Result]) -> None:
    for partition in scanned(sample).partitions:
        assert codec.decode_history(codec.encode(partition.history)) == partition.history
        judgements = list(partition.judgements.values())
        assert codec.decode_judgements(codec.encode_judgements(judgements)) == judgements


@pytest.mark.parametrize("name", ["rolling-3.9.1-replication", "unclean-3.9.1-request", "powerloss-2.8.2-replication"])
def test_thinning_changes_no_history(evidence: Path, name: str) -> None:
    """Rows thinned as they come, some at a time, give what all rows give."""
    case = local.take_in([str(evidence / name)])
    whole = histories(case)
    for step in alike((300, 40, 5000)):
        # values that fall and rise, which real high watermarks rarely do
        chance = random.Random(step)
        falls = pl.Series([chance.choice([0, 0, 0, 1, 7]) for _ in range(case.observations.height)], dtype=pl.Int64)
        moving = case.observations.with_columns(
            pl.when(pl.col("kind") == Kind.HW.value).then((pl.col("hw") - falls).clip(0)).otherwise("hw").alias("hw")
        )
        for rows, known in (
            (case.observations, whole),
            (moving, histories(replace(case, observations=moving))),
        ):
            ordered = rows.with_columns(pl.lit("c").alias("cluster"), pl.col("kind").cast(pl.String))
            ordered = ordered.sort("topic", "partition", "broker", "row", nulls_last=True)
            left = ordered.clear()
            for begin in range(0, ordered.height, step):
                left = thinned(pl.concat([left, ordered.slice(begin, step)]))
            less = left.drop("cluster").sort("row").with_columns(pl.col("kind").cast(rows.schema["kind"]))
            assert less.height < rows.height
            assert histories(replace(case, observations=less)) == known, step


@pytest.mark.parametrize("kinds", [(Kind.HW, Kind.LEO), (Kind.EPOCH_REPLY, Kind.REMOTE_LEO)])
def test_thinning_leaves_as_much_whatever_the_traffic(kinds: tuple[Kind, Kind]) -> None:
    def rows(count: int) -> pl.DataFrame:
        return pl.DataFrame(
            {
                "cluster": ["c"] * count,
                "topic": ["t"] * count,
                "partition": [0] * count,
                "broker": [1] * count,
                "replica": pl.Series([None] * count, dtype=pl.Int32),
                "kind": [kind.value for kind in kinds] * (count // 2),
                "message": pl.Series([None] * count, dtype=pl.String),
                "topic_id": pl.Series([None] * count, dtype=pl.String),
                "source": [0] * count,
                "line": range(count),
                "time": range(count),
                "hw": range(count),
                "lso": pl.Series([None] * count, dtype=pl.Int64),
                "offset": range(count),
                "leo": range(1, count + 1),
                "detail": pl.Series([None] * count, dtype=pl.String),
            }
        )

    assert thinned(rows(100)).height == thinned(rows(20_000)).height < 10


@pytest.mark.parametrize("step", [3, 7, 40])
def test_thinning_keeps_where_an_append_is_missing(step: int) -> None:
    """Of appends in a row the first and the last are left, and one that does not follow on the one before it."""
    begins = [*range(0, 200, 10), *range(310, 400, 10)]
    rows = pl.DataFrame({"offset": begins, "leo": [begin + 10 for begin in begins]}).with_columns(
        *(pl.lit(value).alias(name) for name, value in {"cluster": "c", "topic": "t", "partition": 0}.items()),
        *(pl.lit(value).alias(name) for name, value in {"broker": 1, "kind": "append", "message": "L-32"}.items()),
        *(pl.lit(None, pl.String).alias(name) for name in ("topic_id", "detail")),
        *(pl.lit(None, pl.Int64).alias(name) for name in ("replica", "hw", "lso")),
        pl.lit(0).alias("source"),
        pl.int_range(pl.len()).alias("line"),
        pl.int_range(pl.len()).alias("time"),
    )
    left = rows.clear()
    for begin in range(0, rows.height, step):
        left = thinned(pl.concat([left, rows.slice(begin, step)]))
    assert left.select("offset", "detail").rows() == [(0, None), (310, JUMPED), (390, FOLLOWS)]


def test_thinning_keeps_where_the_last_segment_began(sample_traces: Path) -> None:
    """No snapshot that is taken later stands for it: by where it began is told whether a copy lacks a segment."""
    case = local.take_in([str(sample_traces / "unclean-3.9.1")])
    one = case.observations.filter(pl.col("topic") == "orders").tail(1)
    roll, snapshot = (Kind.ROLLED, "L-38"), (Kind.PRODUCER_SNAPSHOT, "PS-01")
    rolls = [(*roll, 100), (*snapshot, 100), (*roll, 200), (*snapshot, 200), (*snapshot, 250)]
    added = [
        one.with_columns(
            (pl.col("row") + number).cast(one.schema["row"]).alias("row"),
            (pl.col("line") + number).cast(one.schema["line"]).alias("line"),
            pl.lit(kind.value).cast(one.schema["kind"]).alias("kind"),
            pl.lit(message).cast(one.schema["message"]).alias("message"),
            pl.lit(offset, pl.Int64).alias("offset"),
            pl.lit(None, pl.Int32).alias("replica"),
            pl.lit(None, pl.String).alias("topic_id"),
        )
        for number, (kind, message, offset) in enumerate(rolls, 1)
    ]
    rows = pl.concat(added).with_columns(pl.lit("c").alias("cluster"), pl.col("kind").cast(pl.String))
    kept = thinned(rows).select("message", "offset").rows()
    assert ("L-38", 200) in kept
    assert ("L-38", 100) not in kept


@pytest.mark.parametrize(("name", "size"), [("kip101-0.10.2.2", 30), ("unclean-3.9.1", 7), ("oldcopies-3.9.1", 5000)])
def test_headers_of_batches_that_cannot_matter(sample_traces: Path, name: str, size: int) -> None:
    """Headers thinned as they come give what all headers give, whatever differs between replicas."""
    case = local.take_in([str(sample_traces / name)])
    chance = random.Random(size)

    def sometimes(values: pl.Series) -> pl.Series:
        return pl.Series([value if value is None or chance.random() < 0.97 else value + 1 for value in values])

    for column in (None, "crc", "leader_epoch", "last_offset", "base_offset", "crc_ok"):
        batches = case.batches
        if column == "crc_ok":
            cut = pl.Series("crc_ok", [chance.random() < 0.97 for _ in range(batches.height)])
            batches = batches.with_columns(cut)
        elif column is not None:
            changed = sometimes(batches.get_column(column)).cast(batches.schema[column]).alias(column)
            batches = batches.with_columns(changed)
        left = []
        rows = batches.sort("base_offset", "source", "byte", nulls_last=True, maintain_order=True)
        for part in rows.partition_by("topic", "partition"):
            held = part.clear()
            for begin in range(0, part.height, size):
                held = pl.concat([held, part.slice(begin, size)])
                held = held.filter(headers(held))
            left.append(held)
        less = pl.concat(left)
        assert histories(replace(case, batches=less)) == histories(replace(case, batches=batches)), column


def test_what_is_left_of_headers_does_not_grow_with_a_log() -> None:
    def rows(first: int, count: int) -> pl.DataFrame:
        return pl.DataFrame(
            [
                ("c", "t", 0, n, broker, broker, n * 100, n, n + 1, n // 5000, n * 7, 2, 2, None, False, 200)
                for n in range(2 * first, 2 * (first + count), 2)
                for broker in (1, 2, 3)
            ],
            schema={
                **dict.fromkeys(("cluster", "topic"), pl.String),
                **dict.fromkeys(("partition", "ordered", "broker", "source", "byte", "base_offset"), pl.Int64),
                **dict.fromkeys(("last_offset", "leader_epoch", "crc", "records", "magic"), pl.Int64),
                "crc_ok": pl.Boolean,
                "control": pl.Boolean,
                "size": pl.Int64,
            },
            orient="row",
        )

    left = rows(0, 0)
    most = 0
    for begin in range(0, 10_000, 500):
        left = pl.concat([left, rows(begin, 500)])
        left = left.filter(headers(left))
        most = max(most, left.height)
    assert most == 36, "of each replica two where an epoch begins, and the last of each"
    ends = left.group_by("broker", "leader_epoch").agg(pl.col("base_offset").min().alias("first"), last="last_offset")
    assert ends.select("first", pl.col("last").list.max()).unique().sort("first").rows() == [
        (0, 4999),
        (5000, 9999),
        (10000, 14999),
        (15000, 19999),
    ]


def test_a_shared_batch_behind_a_difference_is_left(tmp_path: Path) -> None:
    """Its epoch begins there on one replica only, and the logs end at different offsets."""
    for number, epoch, end in ((1, 0, 200), (2, 1, 120)):
        path = Node(tmp_path, number, "orders-0").segment(())
        path.write_bytes(
            b"".join(
                batch(at, at, epoch if 50 <= at < 80 else int(at >= 80), salt=b"%d" % (50 <= at < 80 and number))
                for at in range(end)
            )
        )
    case = local.take_in([str(tmp_path)])
    rows = case.batches.sort("base_offset", "source", "byte")
    for many in (7, 30, 1000):
        left = rows.clear()
        for begin in range(0, rows.height, many):
            left = pl.concat([left, rows.slice(begin, many)])
            left = left.filter(headers(left))
        assert left.height < 140
        ((fork,),) = (one.facts.forks for one in histories(replace(case, batches=left.sort("source", "byte"))))
        assert fork.enclosed is not None
        assert fork.enclosed.ranges == ((50, 80),)


def test_headers_left_out_count_as_all_headers_do(tmp_path: Path) -> None:
    """A loss in a log with markers of transactions, with offsets that compaction emptied, and long full stretches."""
    incident = Incident(tmp_path)
    incident.begins(400)
    chance = random.Random(5)
    spans: list[tuple[int, int, int]] = []
    at = 0
    while at < 400:
        count = chance.randrange(1, 4)
        spans.append((at, min(at + count, 400) - 1, 0))
        at += count + (chance.random() < 0.1)
    emptied = {first: last - first for first, last, _ in spans[::9]}
    for number in (1, 2, 3):
        incident[number].segment(spans, counts=emptied, markers={first for first, _, _ in spans[::7]})
    ranges = [(0, 37), (90, 91), (111, 340), (390, 400)]
    history, case = incident.history(), incident.scan().case
    wanted = [records_held(history, case, 1, [one]) for one in ranges]
    assert 0 < sum(high for _, high in wanted) < size(ranges) - 30
    rows = case.batches.sort("base_offset", "source", "byte")
    left = rows.clear()
    for begin in range(0, rows.height, 11):
        left = pl.concat([left, rows.slice(begin, 11)])
        left = left.filter(headers(left))
    assert left.height < rows.height
    less = replace(case, batches=left.sort("source", "byte"))
    assert less.headers != case.headers
    assert [records_held(history, less, 1, [one]) for one in ranges] == wanted


@pytest.mark.parametrize("together", [1, 10, 1000])
def test_partitions_come_whole(together: int) -> None:
    keys = [("c", f"t{topic}", partition) for topic in range(5) for partition in range(3)]
    rows = pl.DataFrame(
        [(*key, tag, n) for key in keys for tag in (0, 2) for n in range(4)],
        schema=["cluster", "topic", "partition", "tag", "n"],
        orient="row",
    )
    parts = list(whole_partitions((rows.slice(at, 7) for at in range(0, rows.height, 7)), together=together, most=1000))
    assert pl.concat(parts).equals(rows)
    seen = [set(part.select("cluster", "topic", "partition").iter_rows()) for part in parts]
    assert sum(map(len, seen)) == len(set.union(*seen)) == len(keys), "no partition in two parts"


def test_what_concerns_a_whole_cluster_is_what_its_answers_depend_on() -> None:
    def digests(*stops: tuple[str, int, int], path: str = "east/replication-offset-checkpoint") -> dict[str, str]:
        """Digests of two partitions, one of each cluster, by cluster; a stop is cluster, source and line."""
        told = {"cluster": "east", "format": "offset-checkpoint", "path": path, "notices": 0}
        sources = pl.DataFrame([told], schema={name: dtype for name, dtype in SOURCES.items() if name in told})
        lines = pl.DataFrame(list(stops), schema=["cluster", "source", "line"], orient="row")
        with_data = dict.fromkeys(("east", "west"), frozenset[int]())
        judge = Judge(Reading(), packed(sources), packed(narrowed(lines, TABLES["observations"])), (), 2, with_data)
        rows = [(name, "t", 0, 5, 1, 2) for name in with_data]
        found = Batch._digests(None, pl.DataFrame(rows, schema=DIGESTS, orient="row"), judge)  # type: ignore[arg-type]
        return dict(found.select("cluster", "digest").iter_rows())

    one, other = digests(("east", 0, 7)), digests(("east", 0, 7), ("west", 1, 9))
    assert one["east"] == other["east"]
    assert one["west"] != other["west"]
    assert digests(("east", 3, 7)) == one, "the number of a source may be another in each run"
    assert digests(("east", 0, 8))["east"] != one["east"]
    moved = digests(("east", 0, 7), path="east/other")
    assert (moved["east"] == one["east"], moved["west"] == one["west"]) == (False, True), "high watermarks at hand"


def test_a_worker_that_knows_an_archive_sees_that_it_was_replaced(tmp_path: Path) -> None:
    def said() -> list[bytes]:
        (file,) = listed([str(tmp_path)])
        units = [Unit(n, file, look) for n, look in enumerate(looked(file, None)) if not look.container]
        texts = []
        for unit in units:
            with opened(Piece.of(Piece((unit,)).row()).units[0]).open() as stream:
                texts.append(stream.read())
        return texts

    for kind in ("tar.gz", "zip"):
        path = tmp_path / f"all.{kind}"
        for text in (b"one\n", b"two\n"):
            if kind == "zip":
                with zipfile.ZipFile(path, "w") as archive:
                    archive.writestr("a/server.log", text)
            else:
                with tarfile.open(path, "w:gz") as tar:
                    member = tarfile.TarInfo("a/server.log")
                    member.size = len(text)
                    tar.addfile(member, io.BytesIO(text))
            os.utime(path, (1_700_000_000, 1_700_000_000))
            assert said() == [text]
        path.unlink()


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UnusableOutput, match=r"holds thesis\.txt, which no batch wrote"):
        Output(tmp_path).manifest()
    with pytest.raises(UnreadableInput, match="forensics batch -o"):
        Output(tmp_path / "none").open()
    (tmp_path / "manifest.json").write_text('{"format": "other/1"}')
    with pytest.raises(UnusableOutput, match=r"forensics\.batch/1"):
        Output(tmp_path).open()


def test_only_a_whole_run_counts(tmp_path: Path) -> None:
    output = Output(tmp_path)
    assert output.manifest() is None
    for run in (1, 2, 3):
        output.reads(run).mkdir(parents=True)
    output.keep_run(1, "parser 1")
    output.keep_run(2, "parser 2")
    assert output.runs("parser 2") == [2]
    assert output.waves(2) == [output.reads(2) / "wave-00000"]
    assert output.next_run() == 4
    output.commit({"generation": 1}, live={2})
    assert sorted(path.name for path in (tmp_path / "reads").iterdir()) == ["000002", "000002.00000.json"]
    output.keep_run(2, "parser 2", 1)
    assert output.waves(2) == [output.reads(2) / "wave-00000", output.reads(2) / "wave-00001"]
    assert output.runs("parser 2") == [2]


def test_a_folder_has_one_batch_at_a_time(tmp_path: Path) -> None:
    output = Output(tmp_path / "out")
    with output.alone():
        with pytest.raises(UnusableOutput, match="another batch is at work in it"), Output(tmp_path / "out").alone():
            pass
        assert output.manifest() is None, "its lock is not taken for something else"
    with output.alone():
        pass
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(UnwritableOutput, match="name a folder"), Output(path).alone():
            pass


def test_evidence_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "archive" / "months").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "archive")
    for inside in ("archive", "archive/out", "archive/months/out", "link/out"):
        with pytest.raises(UnusableOutput, match="lies in the archive"):
            Output(tmp_path / inside).apart_from(["s3://bucket/months", str(tmp_path / "archive")])
    Output(tmp_path / "archive-out").apart_from([str(tmp_path / "archive")])


def test_any_name_may_be_written_to(tmp_path: Path) -> None:
    output = Output(tmp_path / "out[1]*?")
    frame = pl.DataFrame({"a": [1, 2]})
    for number in range(2):
        output.write_table(1, "small", frame, number)
    assert output.read_table(1, "small").equals(pl.concat([frame, frame]))
    names = ["a" * 300, "a" * 301, "\N{GREEK SMALL LETTER ALPHA}/" * 150, "s.p"]
    folders = [shortened(name) for name in names]
    assert len(set(folders)) == 4
    assert [is_whole(name) for name in names] == [False, False, False, True]
    large = Table(output.folder / "large", {"in": pl.String(), "n": pl.Int64()}, ("in",))
    sink = Sink(large, "part")
    sink.add(pl.DataFrame({"in": folders, "n": range(4)}))
    assert sink.close() == 4
    rows = Rows([large], ["n"])
    assert len(rows.files()) == 4
    assert pl.concat(map(rows.read, rows.files())).get_column("n").sort().to_list() == [0, 1, 2, 3]


def test_what_waits_comes_in_the_order_of_its_keys(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path / "deep" / "waiting")
    assert list(waiting) == []
    waiting.add([((2, "b"), b"third"), ((1, "z"), b"first")])
    waiting.add([((1, "z"), b"second"), ((3, ""), b"")])
    assert list(waiting) == [b"first", b"second", b"third", b""]


@pytest.mark.parametrize("tasks", [None, 3])
def test_buckets_hold_about_as_many_rows(tasks: int | None) -> None:
    chance = random.Random(7)
    keys = pl.DataFrame(
        [("c", f"t{n:05}", 0, chance.randrange(1, 2000)) for n in range(2000)] + [("c", "hot", 0, 900_000)],
        schema=["cluster", "topic", "partition", "n"],
        orient="row",
    )
    large, others = by_size(keys, tasks)
    assert (large.get_column("topic").to_list(), others.height) == (["hot"], 2000)
    rows = others.join(keys, on=["cluster", "topic", "partition"]).group_by("bucket").agg(pl.col("n").sum())
    assert sorted(rows.get_column("bucket")) == list(
        range(tasks or -(-int(keys[:2000]["n"].sum()) // shuffling._TOGETHER))
    )
    counts = rows.get_column("n").to_list()
    assert max(counts) - min(counts) < 4001


def test_tasks_are_about_as_long(tmp_path: Path) -> None:
    """Many small files are spread, and bytes of segments count less than those of logs."""
    for number in range(400):
        (tmp_path / f"topic-{number}").mkdir()
        (tmp_path / f"topic-{number}" / "leader-epoch-checkpoint").write_text("0\n0\n")
    (tmp_path / "server.log").write_text("[2026-03-01 12:00:00,000] INFO nothing of note (kafka.Nothing)\n" * 40_000)
    (tmp_path / "topic-0" / "00000000000000000000.log").write_bytes(bytes(2_000_000))

    def tasks(least: int) -> list[list[str]]:
        looks = [(file, look) for file in listed([str(tmp_path)]) for look in looked(file, None)]
        plan = planned([Unit(number, *one) for number, one in enumerate(looks)], least=least)
        return [[unit.look.path.rpartition("/")[2] for piece in task for unit in piece.units] for task in plan.tasks]

    assert [sum(map(len, tasks(least))) for least in (1, 8, 1000)] == [402] * 3
    assert [len(tasks(least)) for least in (1, 8)] == [2, 9], "100 MB, for opening files alone"
    assert len(tasks(1000)) > 400
    (with_segment,) = (task for task in tasks(8) if "00000000000000000000.log" in task)
    assert len(with_segment) > 40


def test_tables_of_another_version_are_not_misread(tmp_path: Path) -> None:
    said = {"generation": 1, "shape": "0" * 16, "judge": "0.1+abc", "tables": "parquet", "zone": None, "skew": []}
    Output(tmp_path).commit(said, live=set())
    with pytest.raises(UnusableOutput, match=r"was written by another version of forensics \(0\.1\+abc\)"):
        Stored(tmp_path)


def test_how_far_a_stage_is_is_told_once_it_changed(tmp_path: Path) -> None:
    look, told, seen = Judged(Table(tmp_path, {}), 7), [], threading.Event()
    assert look() == Step(0, 7, judging=True)
    running = tmp_path / "_temporary" / "0" / "_temporary" / "attempt_1" / "part-0.parquet"
    put(running, pl.DataFrame({"findings": [9]}))
    assert look() == Step(0, 7, judging=True), "a task of Spark's writer that is not done"

    def tell(step: Step) -> None:
        told.append(step)
        seen.set()

    with watched(look, tell, every=0.01):
        put(tmp_path / "a.parquet", pl.DataFrame({"findings": [0, 2, 1]}))
        (tmp_path / "b.parquet").write_bytes(b"PAR1 half")
        assert not seen.wait(0.2), "what cannot be read yet is not told"
        (tmp_path / "b.parquet").unlink()
        assert seen.wait(60)
    assert told == [Step(3, 7, judging=True, found=3)]
    assert sentence(told[0]) == "judged 3 of 7 partitions, 3 findings so far"
