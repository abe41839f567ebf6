"""Folders with a handful of lines, as an operator has them: one log of one broker, without state-change.log."""

from __future__ import annotations

from pathlib import Path

from forensics.engines.local import scan
from forensics.replay.confidence import Weakness
from forensics.result import Result
from forensics.rules.finding import Finding

LOSS, CUT = "committed-data-lost", "truncation-below-committed"
ID = "q7JxVn2kTbW0dYh5sLr3Ag"


def scanned(folder: Path, **logs: str) -> Result:
    """What a scan makes of logs: ``b2_server`` is server.log of broker 2.

    A line begins with its minute and second; an exception below a line begins with ``|``.
    """
    for name, text in logs.items():
        broker, _, log = name.partition("_")
        path = folder / f"broker-{broker[1:]}" / f"{log.replace('_', '-')}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (line.strip().split(" ", 1) for line in text.strip().splitlines())
        path.write_text("".join(f"{line}\n" if at == "|" else f"[2024-06-11 08:{at}] {line}\n" for at, line in lines))
    return scan([str(folder)])


def found(result: Result, rule: str) -> list[Finding]:
    """What a rule finds."""
    return [finding for finding in result.findings if finding.rule == rule]


def verdict(result: Result, rule: str) -> str:
    """What a rule says of the only partition."""
    (partition,) = result.partitions
    return partition.judgements[rule].verdict.value


# -- a follower that truncates below the high watermark that it read back ----------------------------------------------


def answered(*, hw: int = 900, target: int = 300, answer: int = 420, topic_id: str = ID, version: str = "3.6.1") -> str:
    """Broker 2 loads a log of 900 records and follows broker 4, whose answer makes it truncate."""
    loaded, added = (f"topicId={topic_id}, ", f"Some({topic_id}),") if topic_id else ("", "None,")
    return f"""
        00:01,000 INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)
        00:03,000 INFO Completed load of Log(dir=/srv/k/clicks-3, {loaded}topic=clicks, partition=3, highWatermark={hw}, lastStableOffset={hw}, logStartOffset=0, logEndOffset=900) with 1 segments in 7ms (1/1 loaded in /srv/k) (kafka.log.LogManager)
        00:04,000 INFO [Partition clicks-3 broker=2] Log loaded for partition clicks-3 with initial high watermark {hw} (kafka.cluster.Partition)
        00:04,100 INFO [ReplicaFetcherManager on broker 2] Added fetcher to broker 4 for partitions HashMap(clicks-3 -> InitialFetchState({added}BrokerEndPoint(id=4, host=k4:9092),21,900)) (kafka.server.ReplicaFetcherManager)
        00:04,300 INFO [ReplicaFetcher replicaId=2, leaderId=4, fetcherId=0] Truncating partition clicks-3 with TruncationState(offset={target}, completed=true) due to leader epoch and offset EpochEndOffset(errorCode=0, partition=3, leaderEpoch=17, endOffset={answer}) (kafka.server.ReplicaFetcherThread)
        00:04,301 INFO [UnifiedLog partition=clicks-3, dir=/srv/k] Truncating to offset {target} (kafka.log.UnifiedLog)
    """  # noqa: E501


def test_a_truncation_below_the_high_watermark_read_back_is_one_and_names_both_causes(tmp_path: Path) -> None:
    result = scanned(tmp_path, b2_server=answered())
    (finding,) = found(result, CUT)
    assert (verdict(result, CUT), finding.confidence, finding.severity) == ("violated", "inferred", "error")
    assert (finding.offsets, finding.epochs, finding.replicas) == (((300, 900),), (21,), (2,))
    assert any("of leader epoch 17: 420 in" in one and "KIP-279" in one for one in finding.inferences)
    causes = [one for one in finding.uncertain if " may " in one]
    assert ["leader-epoch-checkpoint" in one for one in causes] == [True, False]
    assert "later leader epoch from offset 300 on, which broker 4" in causes[1]
    assert not [fact for fact in finding.facts if "where that leader epoch ends" in fact.text]


def test_a_truncation_to_the_answer_names_no_such_causes(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b2_server=answered(target=420)), CUT)
    assert finding.offsets == ((420, 900),)
    assert not [one for one in finding.uncertain if " may have had records" in one]


def test_a_truncation_at_the_high_watermark_read_back_is_routine(tmp_path: Path) -> None:
    assert found(scanned(tmp_path, b2_server=answered(hw=300)), CUT) == []


def test_without_a_topic_id_the_topic_may_be_another_one(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b2_server=answered(topic_id="", version="2.7.2")), CUT)
    assert finding.confidence == "suspected"


# -- two leaders of one epoch, each in its own log --------------------------------------------------------------------

TWO = "two-leaders-one-epoch"


def leads(epoch: int, start: int, *, topic_id: str | None, at: str = "03:00,000") -> str:
    """A broker begins to lead; with a topic id as from 3.3 on, without one as before."""
    if topic_id is None:
        named, rest = "", f"high watermark {start} ISR [1] addingReplicas [] removingReplicas []"
        before = "Previous leader epoch was 3."
    else:
        named = f" with topic id Some({topic_id})"
        rest = f"partition epoch 8, high watermark {start}, ISR [1], adding replicas [] and removing replicas [] "
        before = "Previous leader Some(3) and previous leader epoch was 3."
    return (
        f"{at} INFO [Broker id=1] Leader clicks-3{named} starts at leader epoch {epoch} from offset {start} with "
        f"{rest}. {before} (state.change.logger)"
    )


def two(folder: Path, one: str, other: str) -> Result:
    """What brokers 1 and 2 logged of their roles; the line of broker 2 names it."""
    return scanned(folder, b1_state_change=one, b2_state_change=other.replace("id=1]", "id=2]"))


def test_two_leaders_of_one_epoch_of_one_topic_id_decide_by_themselves(tmp_path: Path) -> None:
    result = two(tmp_path, leads(4, 70, topic_id=ID), leads(4, 60, topic_id=ID, at="03:02,000"))
    (finding,) = found(result, TWO)
    # One digit of either line makes such a contradiction, and one line alone names each of the two leaders.
    assert (verdict(result, TWO), finding.confidence, finding.replicas) == ("violated", "inferred", (1, 2))
    assert finding.weak == (Weakness.ONE_LINE,)


def test_two_leaders_are_proven_where_two_lines_name_each(tmp_path: Path) -> None:
    one, other = (leads(4, start, topic_id=ID) for start in (70, 60))
    server = "03:00,100 INFO [Partition clicks-3 broker=1] clicks-3 starts at leader epoch 4 from offset {} with high watermark {}. Previous leader epoch was 3. (kafka.cluster.Partition)"  # noqa: E501
    two(tmp_path, one, other)
    result = scanned(
        tmp_path,
        b1_state_change=one,
        b2_state_change=other.replace("id=1]", "id=2]"),
        b1_server=server.format(70, 70),
        b2_server=server.format(60, 60).replace("broker=1", "broker=2"),
    )
    (finding,) = found(result, TWO)
    assert (finding.confidence, finding.weak) == ("proven", ())


def test_two_leaders_are_inferred_where_one_file_names_one_of_them(tmp_path: Path) -> None:
    """Two lines of it do, as where somebody replaced a broker id in one file."""
    one, other = (leads(4, start, topic_id=ID) for start in (70, 60))
    again = leads(4, 60, topic_id=ID, at="03:05,000")
    server = "03:00,100 INFO [Partition clicks-3 broker=1] clicks-3 starts at leader epoch 4 from offset 70 with high watermark 70. Previous leader epoch was 3. (kafka.cluster.Partition)"  # noqa: E501
    result = scanned(
        tmp_path,
        b1_state_change=one,
        b1_server=server,
        b2_state_change=f"{other}\n{again}".replace("id=1]", "id=2]"),
    )
    (finding,) = found(result, TWO)
    assert (finding.confidence, finding.weak) == ("inferred", (Weakness.ONE_BEARER,))
    assert finding.unproven == (f"{TWO}: only broker 2's state-change.log shows that broker 2 was leader in epoch 4",)


def test_without_a_topic_id_two_leaders_of_one_epoch_are_suspected(tmp_path: Path) -> None:
    result = two(tmp_path, leads(4, 70, topic_id=None), leads(4, 60, topic_id=None, at="03:02,000"))
    (finding,) = found(result, TWO)
    assert (verdict(result, TWO), finding.confidence, finding.severity) == ("unknown", "suspected", "error")
    assert "created again" in finding.uncertain[0]


def test_two_leaders_of_different_epochs_or_topics_or_years_are_none(tmp_path: Path) -> None:
    another = "A" + ID[1:]
    cases = {
        "epochs": (leads(4, 70, topic_id=ID), leads(5, 60, topic_id=ID)),
        "topics": (leads(4, 70, topic_id=ID), leads(4, 60, topic_id=another)),
    }
    for name, logs in cases.items():
        assert found(two(tmp_path / name, *logs), TWO) == []
    folder = tmp_path / "years"
    two(folder, leads(4, 70, topic_id=None), leads(4, 60, topic_id=ID))
    log = folder / "broker-1" / "state-change.log"
    log.write_text(log.read_text().replace("2024-06-11", "2022-06-11"))
    assert [finding.confidence for finding in found(scan([str(folder)]), TWO)] == []


# -- a consumer beyond the end of the log ------------------------------------------------------------------------------


def consumed(*, seek: int | None) -> str:
    """A consumer asks for offset 640 and goes back to 15; before that its application may have set a position."""
    at = "currentLeader=LeaderAndEpoch{leader=Optional[k4:9092 (id: 4 rack: null)], epoch=7}}"
    who = "INFO [Consumer clientId=mail-1, groupId=mail]"
    sought = f"05:01,000 {who} Seeking to offset {seek} for partition clicks-3 (o.a.k.c.consumer.KafkaConsumer)\n"
    return f"""{sought if seek is not None else ""}
        05:02,000 {who} Fetch position FetchPosition{{offset=640, offsetEpoch=Optional.empty, {at} is out of range for partition clicks-3, resetting offset (o.a.k.c.consumer.internals.Fetcher)
        05:03,000 {who} Resetting offset for partition clicks-3 to position FetchPosition{{offset=15, offsetEpoch=Optional.empty, {at}. (o.a.k.c.consumer.internals.SubscriptionState)
    """.replace("\n\n", "\n")  # noqa: E501


def test_a_position_that_the_application_set_shows_no_loss(tmp_path: Path) -> None:
    assert found(scanned(tmp_path / "set", b9_app=consumed(seek=640)), LOSS) == []
    for name, seek in (("read", None), ("elsewhere", 80)):
        (finding,) = found(scanned(tmp_path / name, b9_app=consumed(seek=seek)), LOSS)
        assert (finding.confidence, finding.offsets) == ("suspected", ((15, 640),))


# -- a log that is shorter than before, outside of replication ---------------------------------------------------------


def recovered(*, start: int = 520, hw: int = 610, kept: int = 0) -> str:
    """Log recovery truncates to 520, the broker reads back a high watermark and leads."""
    return f"""
        00:01,000 INFO [Log partition=clicks-3, dir=/srv/k] Recovering unflushed segment 500 (kafka.log.Log)
        00:01,100 WARN [Log partition=clicks-3, dir=/srv/k] Corruption found in segment 500, truncating to offset 520 (kafka.log.Log)
        00:02,000 INFO Completed load of Log(dir=/srv/k/clicks-3, topic=clicks, partition=3, highWatermark={hw}, lastStableOffset={hw}, logStartOffset={kept}, logEndOffset={start}) with 1 segments in 7ms (1/1 loaded in /srv/k) (kafka.log.LogManager)
        00:03,000 INFO [Partition clicks-3 broker=1] Log loaded for partition clicks-3 with initial high watermark {hw} (kafka.cluster.Partition)
        {leads(4, start, topic_id=None)}
    """  # noqa: E501


def test_a_leader_that_recovery_left_below_its_own_high_watermark_is_suspected(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b1_server=recovered()), LOSS)
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", "error", ((520, 610),))
    assert any("Corruption found" in one.text for one in finding.evidence)


def test_a_leader_that_begins_at_the_high_watermark_it_read_back_is_not(tmp_path: Path) -> None:
    assert found(scanned(tmp_path / "all", b1_server=recovered(hw=520)), LOSS) == []
    assert found(scanned(tmp_path / "deleted", b1_server=recovered(start=610, kept=610)), LOSS) == []


def loaded(*ends: int, between: str = "") -> str:
    """One log, loaded several times within an hour; no line shows a start of the broker."""
    lines = [
        f"{10 * at:02}:00,000 INFO Completed load of Log(dir=/srv/k/clicks-3, topicId={ID}, topic=clicks, partition=3, "
        f"highWatermark={end}, lastStableOffset={end}, logStartOffset=0, logEndOffset={end}) with {1 + end // 200} "
        "segments in 7ms (1/1 loaded in /srv/k) (kafka.log.LogManager)"
        for at, end in enumerate(ends)
    ]
    return "\n".join([*lines[:1], *([between] if between else []), *lines[1:]])


def test_a_log_that_is_loaded_shorter_than_before_is_suspected(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b1_server=loaded(800, 600)), "leo-regression")
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", "warning", ((600, 800),))


def test_a_log_that_is_loaded_as_long_or_truncated_in_between_is_not(tmp_path: Path) -> None:
    cut = "05:00,000 INFO [UnifiedLog partition=clicks-3, dir=/srv/k] Truncating to offset 600 (kafka.log.UnifiedLog)"
    for name, log in (("same", loaded(800, 800)), ("more", loaded(600, 800)), ("cut", loaded(800, 600, between=cut))):
        assert found(scanned(tmp_path / name, b1_server=log), "leo-regression") == []


OLD_LOAD = (
    "{at} INFO Completed load of log clicks-3 with 3 log segments, log start offset 0 and log end offset {end} in 5 ms "
    "(kafka.log.Log)"
)
"""Up to 2.5; a log that waits for deletion is loaded under the same name, and logged as empty."""
OLD_LEAD = (
    "{at} INFO [Partition clicks-3 broker=1] clicks-3 starts at Leader Epoch {epoch} from offset {start}. Previous "
    "Leader Epoch was: {before} (kafka.cluster.Partition)"
)


def loaded_and_led(first: int, then: int, start: int, *, between: str = "") -> str:
    lines = [
        OLD_LOAD.format(at="00:00,000", end=first),
        *([between] if between else []),
        OLD_LOAD.format(at="10:00,000", end=then),
        OLD_LEAD.format(at="10:01,000", epoch=4, start=start, before=3),
    ]
    return "\n".join(lines)


def test_a_broker_that_leads_after_it_loaded_its_log_shorter_is_a_suspected_loss(tmp_path: Path) -> None:
    result = scanned(tmp_path, b1_server=loaded_and_led(800, 600, 600))
    (loss,), (shorter,) = found(result, LOSS), found(result, "leo-regression")
    assert (loss.confidence, loss.severity, loss.offsets) == ("suspected", "error", ((600, 800),))
    assert (shorter.confidence, shorter.offsets) == ("suspected", ((600, 800),))


def test_a_broker_that_leads_with_what_it_loaded_before_is_not(tmp_path: Path) -> None:
    cut = "05:00,000 INFO [Log partition=clicks-3, dir=/srv/k] Truncating to offset 600 (kafka.log.Log)"
    logs = {
        "same": loaded_and_led(800, 800, 800),
        "doomed": loaded_and_led(800, 0, 800),
        "cut": loaded_and_led(800, 600, 600, between=cut),
        "fetched again": loaded_and_led(800, 600, 800),
    }
    for name, log in logs.items():
        assert found(scanned(tmp_path / name, b1_server=log), LOSS) == [], name


def test_a_leader_that_begins_below_the_start_of_the_epoch_before_is_a_suspected_loss(tmp_path: Path) -> None:
    """Up to 2.3 these lines state no high watermark."""
    older = OLD_LEAD.replace("broker=1", "broker=2").format(at="00:00,000", epoch=4, start=9000, before=3)
    for name, start, expected in (("below", 0, [((0, 9000),)]), ("above", 9000, [])):
        newer = OLD_LEAD.format(at="10:01,000", epoch=6, start=start, before=5)
        result = scanned(tmp_path / name, b1_server=newer, b2_server=older)
        assert [(one.offsets) for one in found(result, LOSS)] == expected


# -- a broker whose only directory failed, and that leads with an empty log --------------------------------------------


def emptied(*, failed: bool = True, isr: str = "1") -> str:
    """Broker 1 comes back with a new log, and leads from 0."""
    line = "00:05,000 ERROR Shutdown broker because all log dirs in /srv/k have failed (kafka.log.LogManager)"
    return f"""{line if failed else ""}
        09:05,000 INFO Created log for partition clicks-3 in /srv/k/clicks-3 with properties {{}} (kafka.log.LogManager)
        {leads(4, 0, topic_id=None, at="09:06,000").replace("ISR [1]", f"ISR [{isr}]")}
    """.lstrip()


FELL = (
    "09:07,000 WARN [Log partition=clicks-3, dir=/srv/k] Non-monotonic update of high watermark from "
    "(offset={hw} segment=[0:9]) to (offset={to} segment=[0:0]) (kafka.log.Log)"
)


def test_a_failed_directory_of_the_only_member_is_the_cause_where_others_truncate(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b1_server=emptied(), b2_server=FELL.format(hw=77, to=0)), LOSS)
    assert (finding.confidence, finding.severity, finding.offsets) == ("suspected", "error", ((0, 77),))
    assert finding.cause == "wiped-disk"
    assert any("directory of broker 1 had failed" in one for one in finding.inferences)


def test_an_empty_leader_without_a_failed_directory_or_not_alone_is_no_such_loss(tmp_path: Path) -> None:
    fell = FELL.format(hw=77, to=0)
    cases = (
        (emptied(failed=False), fell),
        (emptied(isr="1,2"), fell),
        (emptied(), FELL.format(hw=77, to=60)),
    )
    for at, (one, other) in enumerate(cases):
        assert found(scanned(tmp_path / str(at), b1_server=one, b2_server=other), LOSS) == []


# -- a refusal of which the exception below the line gives the numbers -----------------------------------------------


def asked_for(offset: int, *, below: int) -> str:
    """A leader of 1.1 was asked for an offset; its log holds 40 to 300. The exception names no partition."""
    return f"""
        02:00,000 ERROR [ReplicaManager broker=1] Error processing fetch operation on partition clicks-3, offset {offset} (kafka.server.ReplicaManager)
        | org.apache.kafka.common.errors.OffsetOutOfRangeException: Request for offset {below} but we only have log segments in the range 40 to 300.
    """  # noqa: E501


def test_an_exception_without_a_partition_is_about_that_of_the_line_above(tmp_path: Path) -> None:
    (finding,) = found(scanned(tmp_path, b1_server=asked_for(350, below=350)), LOSS)
    assert (finding.confidence, finding.offsets, finding.topic) == ("suspected", ((300, 350),), "clicks")


def test_an_exception_about_another_offset_or_the_start_of_the_log_is_not(tmp_path: Path) -> None:
    for at, log in enumerate((asked_for(350, below=360), asked_for(20, below=20))):
        assert found(scanned(tmp_path / str(at), b1_server=log), LOSS) == []


def test_records_that_a_follower_refuses_are_heard_in_another_order_of_words(tmp_path: Path) -> None:
    log = """
        02:00,000 ERROR [ReplicaFetcher replicaId=2, leaderId=4, fetcherId=0] Unexpected error occurred while processing data for partition clicks-3 at offset 90 (kafka.server.ReplicaFetcherThread)
        | kafka.common.UnexpectedAppendOffsetException: Unexpected offset in append to clicks-3. First offset or last offset of the first 3 records List(84, 85, 86) are less than the next offset 90. First offset in append: 84, last offset in append: 93. Log start offset = 0
    """  # noqa: E501
    (finding,) = found(scanned(tmp_path, b2_server=log), "replica-divergence")
    assert (finding.confidence, finding.offsets) == ("suspected", ((84, 90),))


# -- a high watermark that a line prints, whatever role its broker had -------------------------------------------------


def pasted(folder: Path, *lines: str) -> Result:
    """What a scan makes of lines in one file. A line begins with its minute and second."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ticket.txt"
    split = (line.split(" ", 1) for line in lines)
    path.write_text("".join(f"[2024-06-11 08:{at}] {line}\n" for at, line in split))
    return scan([str(path)])


def shrunk(at: str, *, broker: int = 1, hw: int = 830, isr: str = "") -> str:
    """A leader removes others from the ISR; all of them if no ISR is given."""
    return (
        f"{at} INFO [Partition clicks-3 broker={broker}] Shrinking ISR from 1,2,3 to {isr or broker}. Leader: "
        f"(highWatermark: {hw}, endOffset: {hw + 40}). Out of sync replicas: (brokerId: 3, endOffset: {hw}). "
        "(kafka.cluster.Partition)"
    )


def follows(at: str, *, broker: int = 2, epoch: int = 3, end: int = 860, hw: int = 830) -> str:
    """A broker begins to follow."""
    return (
        f"{at} INFO [Broker id={broker}] Follower clicks-3 starts at leader epoch {epoch} from offset {end} with "
        f"partition epoch 7 and high watermark {hw}. Current leader is 5. Previous leader epoch was {epoch - 1}. "
        "(state.change.logger)"
    )


def begins(start: int, *, at: str = "09:00,000", epoch: int = 4) -> str:
    """Broker 2 begins to lead."""
    return leads(epoch, start, topic_id=ID, at=at).replace("id=1]", "id=2]").replace("ISR [1]", "ISR [2]")


def ranges(result: Result, rule: str) -> list[tuple[tuple[int, int], ...]]:
    """The offsets of what a rule suspects."""
    assert {finding.confidence for finding in found(result, rule)} <= {"suspected"}
    return [finding.offsets for finding in found(result, rule)]


def test_a_leader_below_a_high_watermark_printed_before_is_suspected(tmp_path: Path) -> None:
    loaded = "02:00,000 INFO [Partition clicks-3 broker=3] Log loaded for partition clicks-3 with initial high watermark 830 (kafka.cluster.Partition)"  # noqa: E501
    advanced = "02:00,000 DEBUG [Partition clicks-3 broker=2] High watermark updated from (offset=800 segment=[0:9100]) to (offset=830 segment=[0:9200]) (kafka.cluster.Partition)"  # noqa: E501
    before = {
        "isr": shrunk("02:00,000"),
        "own": shrunk("02:00,000", broker=2),
        "follower": follows("02:00,000"),
        "other": follows("02:00,000", broker=3),
        "entering": follows("02:00,000", broker=3, epoch=4).replace("leader is 5", "leader is 2"),
        "loaded": loaded,
        "advanced": advanced,
    }
    for name, line in before.items():
        assert ranges(pasted(tmp_path / name, line, begins(510)), LOSS) == [((510, 830),)], name


def test_a_leader_at_the_high_watermark_or_before_it_was_printed_is_not(tmp_path: Path) -> None:
    deleted = "05:00,000 INFO Log for partition clicks-3 is renamed to /srv/k/clicks-3.5d0b7e3a9c1f4e62b8a7d6c5f4e3b2a1-delete and is scheduled for deletion (kafka.log.LogManager)"  # noqa: E501
    quiet = {
        "as long": (shrunk("02:00,000", isr="1,2"), begins(830)),
        "later": (begins(510), shrunk("12:00,000", broker=2)),
        "later of another": (begins(510), shrunk("12:00,000")),
        "later epoch": (begins(510), follows("12:00,000", broker=3, epoch=5)),
        "same epoch of another leader": (follows("02:00,000", broker=3, epoch=4), begins(510)),
        "epoch told twice": (begins(510, at="01:00,000"), shrunk("02:00,000", broker=2), begins(510)),
        "deleted": (shrunk("02:00,000", broker=2), deleted, begins(0)),
        "first epoch": (shrunk("02:00,000", broker=2), begins(0, epoch=0)),
        "another partition": (shrunk("02:00,000").replace("clicks-3", "clicks-4"), begins(510)),
    }
    for name, lines in quiet.items():
        assert ranges(pasted(tmp_path / name, *lines), LOSS) == [], name


def test_clocks_of_two_files_do_not_order_lines(tmp_path: Path) -> None:
    result = scanned(tmp_path, b1_server=shrunk("02:00,000"), b2_server=begins(510))
    assert ranges(result, LOSS) == []


def truncated(target: int, *, at: str = "05:00,300") -> tuple[str, str]:
    """Broker 1 truncates as a follower of broker 2."""
    fetcher = "[ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0]"
    answer = f"EpochEndOffset(errorCode=0, partition=3, leaderEpoch=3, endOffset={target})"
    planned = (
        f"{at} INFO {fetcher} Truncating partition clicks-3 with TruncationState(offset={target}, completed=true) due "
        f"to leader epoch and offset {answer} (kafka.server.ReplicaFetcherThread)"
    )
    log = "[UnifiedLog partition=clicks-3, dir=/srv/k]"
    return planned, f"{at} INFO {log} Truncating to offset {target} (kafka.log.UnifiedLog)"


def test_a_truncation_below_a_high_watermark_that_the_broker_printed_is_suspected(tmp_path: Path) -> None:
    added = f"05:00,000 INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 2 for partitions HashMap(clicks-3 -> InitialFetchState(Some({ID}),BrokerEndPoint(id=2, host=k2:9092),4,870)) (kafka.server.ReplicaFetcherManager)"  # noqa: E501
    first = shrunk("02:00,000")
    assert ranges(pasted(tmp_path / "below", first, added, *truncated(310)), CUT) == [((310, 830),)]
    assert ranges(pasted(tmp_path / "at", first, added, *truncated(830)), CUT) == []
    again = (*truncated(310), *truncated(300, at="06:00,000"))
    assert ranges(pasted(tmp_path / "twice", first, added, *again), CUT) == [((310, 830),)]
    other = shrunk("02:00,000", broker=3)
    assert ranges(pasted(tmp_path / "other", other, added, *truncated(310)), CUT) == []


def test_a_line_about_a_truncation_below_the_high_watermark_is_suspected_by_itself(tmp_path: Path) -> None:
    warned = "05:00,000 WARN [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] Truncating clicks-3 to offset 310 {} (kafka.server.ReplicaFetcherThread)"  # noqa: E501
    result = pasted(tmp_path / "below", warned.format("below high watermark 830"))
    (finding,) = found(result, CUT)
    assert (finding.confidence, finding.offsets, finding.replicas) == ("suspected", ((310, 830),), (2,))
    assert found(pasted(tmp_path / "start", warned.format("below high watermark 310")), CUT) == []


def test_a_high_watermark_that_falls_with_a_truncation_is_suspected(tmp_path: Path) -> None:
    _, cut = truncated(310)
    fetcher = "05:01,000 INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Partition clicks-3 has an older epoch (5) than the current leader. Will await the new LeaderAndIsr state before resuming fetching. (kafka.server.ReplicaFetcherThread)"  # noqa: E501
    fell = "{} WARN [UnifiedLog partition=clicks-3, dir=/srv/k] Non-monotonic update of high watermark from (offset=315, segment=[0:6011]) to (offset={}, segment=[0:5800]) (kafka.log.UnifiedLog)"  # noqa: E501
    assert ranges(pasted(tmp_path / "with", cut, fell.format("05:00,300", 310), fetcher), CUT) == [((310, 315),)]
    assert ranges(pasted(tmp_path / "to", cut, fell.format("05:00,300", 312), fetcher), CUT) == []
    assert ranges(pasted(tmp_path / "later", cut, fell.format("05:40,000", 310), fetcher), CUT) == []


def test_a_follower_that_ends_below_its_own_high_watermark_is_suspected(tmp_path: Path) -> None:
    first = follows("02:00,000")
    assert ranges(pasted(tmp_path / "below", first, follows("04:00,000", epoch=4, end=510, hw=500)), CUT) == [
        ((510, 830),)
    ]
    assert ranges(pasted(tmp_path / "at", first, follows("04:00,000", epoch=4, end=830, hw=830)), CUT) == []
    assert ranges(pasted(tmp_path / "new", first, follows("04:00,000", epoch=4, end=0, hw=0)), CUT) == []


# -- a member of the ISR with less than the high watermark -------------------------------------------------------------


def left_behind(end: int, *, role: str = "") -> str:
    """Broker 4, the leader, removes broker 2 from the ISR."""
    return f"""
        {role}
        07:40,112 INFO [Partition clicks-3 broker=4] Shrinking ISR from 4,2,7 to 4,7. Leader: (highWatermark: 900, endOffset: 905). Out of sync replicas: (brokerId: 2, endOffset: {end}). (kafka.cluster.Partition)
    """  # noqa: E501


def test_one_line_shows_a_member_of_the_isr_below_the_high_watermark(tmp_path: Path) -> None:
    result = scanned(tmp_path, b4_server=left_behind(870))
    (finding,) = found(result, "hw-above-isr-member")
    assert (finding.confidence, finding.offsets, finding.replicas) == ("suspected", ((870, 900),), (2,))
    assert finding.summary.startswith(
        "broker 4, the leader, had high watermark 900 when it removed broker 2 from the ISR, whose log ended at 870"
    )
    assert not found(result, LOSS)


def test_the_same_is_stated_where_lines_of_the_leader_are_missing(tmp_path: Path) -> None:
    leads = (
        "05:00,000 INFO [Broker id=4] Leader clicks-3 starts at leader epoch 6 from offset 880 with high watermark 880 "
        "ISR [4,2,7] addingReplicas [] removingReplicas []. Previous leader epoch was 5. (state.change.logger)"
    )
    (finding,) = found(scanned(tmp_path, b4_server=left_behind(870, role=leads)), "hw-above-isr-member")
    assert finding.offsets == ((870, 900),)
    assert finding.epochs in ((), (6,))


def test_a_member_that_is_only_behind_the_log_end_lacks_nothing(tmp_path: Path) -> None:
    for end in (900, 904, -1):
        assert not found(scanned(tmp_path, b4_server=left_behind(end)), "hw-above-isr-member")
