"""``forensics collect``: a bundle without users' records and passwords that is judged like the host; and the script."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import zstandard

from forensics.collect.plan import RUNTIMES, runtime_of
from tests.cli.conftest import Run
from tests.conftest import ROOT
from tests.incident import batch
from tools.samples import unpacked

SAMPLES = unpacked()
KIP101 = SAMPLES / "kip101-0.10.2.2"


def members(bundle: Path) -> dict[str, bytes]:
    """The files of a bundle."""
    data = bundle.read_bytes()
    if bundle.name.endswith(".zst"):
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar.getmembers()}  # type: ignore[union-attr]


def verdicts(document: dict[str, Any]) -> dict[tuple[Any, ...], dict[str, str]]:
    """The verdicts of a scan."""
    return {
        (one["topic"], one["partition"], one["incarnation"]): {r: v["verdict"] for r, v in one["verdicts"].items()}
        for one in document["partitions"]
    }


def test_a_bundle_without_records_is_judged_like_the_host(run: Run, some_sample: Path, tmp_path: Path) -> None:
    if some_sample.name.startswith("bundle-"):
        pytest.skip("is an archive already")
    bundle = tmp_path / "host.tar.zst"
    ran = run("collect", some_sample, "-o", bundle)
    assert ran.code == 0, ran.err
    host, packed = (
        run("scan", path, "--format", "json", "--fail-on", "never").document for path in (some_sample, bundle)
    )
    assert verdicts(packed) == verdicts(host)
    assert [one["fingerprint"] for one in packed["findings"]] == [one["fingerprint"] for one in host["findings"]]


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tgz", ".tar.zst"])
def test_a_bundle_holds_no_record_of_a_user(run: Run, tmp_path: Path, ending: str) -> None:
    bundle = tmp_path / f"host{ending}"
    run("collect", KIP101, "-o", bundle)
    found = members(bundle)
    manifest = json.loads(found["collected.json"])
    segments = [one for one in manifest["files"] if one["what"] == "segment"]
    assert len(segments) == 3
    for one in segments:
        original = Path(one["path"]).read_bytes()
        assert one["form"] == "headers"
        assert b"baseOffset: 50 lastOffset: 50" in found[one["name"]]
        values = re.findall(rb"[ab][0-9]{2}", original)
        assert len(values) >= 40
        assert not any(re.search(rb"\b" + value + rb"\b", found[one["name"]]) for value in {*values[:20]})
    for one in manifest["files"]:
        if one["form"] == "whole":
            assert found[one["name"]] == Path(one["path"]).read_bytes()
    assert {"README.md", "truth.json"} == {
        Path(one["path"]).name for one in manifest["files"] if one["form"] == "left out"
    }
    assert set(found) == {"collected.json", *(one["name"] for one in manifest["files"] if one["name"])}
    assert {"name", "time", "zone"} <= manifest["host"].keys()
    assert manifest["kafka"] == ["0.10.2.2"]


def test_records_are_packed_only_if_asked_for(run: Run, tmp_path: Path) -> None:
    bundle = tmp_path / "host.tar"
    run("collect", KIP101, "-o", bundle, "--with-segments")
    found = members(bundle)
    (name,) = (one for one in found if one.endswith("broker-1/data/orders-0/00000000000000000000.log"))
    assert found[name] == (KIP101 / "broker-1/data/orders-0/00000000000000000000.log").read_bytes()


def test_no_secret_of_settings_is_packed_and_what_a_scan_needs_is(run: Run, tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.mkdir()
    text = (
        "broker.id=1\nlog.dirs = /d, /e\nmin.insync.replicas: 2\r\nunclean.leader.election.enable true\n"
        "log.retention.hours=\\\n   168\nlisteners=PLAINTEXT://:9092\ninter.broker.protocol.version=2.8\n"
        "ssl.keystore.password=hunter01\nssl.truststore.password hunter02\nssl.key.password\thunter03\n"
        'sasl.jaas.config=org.x.Login required \\\n   password="hunter04";\n#ssl.key.password=hunter05\n'
        '# sasl.jaas.config=a \\\n#   password="hunter06";\nlistener.name.a.scram.sasl.jaas.config: b hunter07\n'
        "connection.url=jdbc:x://h/d?user=a&password=hunter08\nbasic.auth.user.info=bob:hunter09\n"
        "http.proxy=http://joe:hunter10@proxy\nKAFKA_OPTS=-DkeyStorePassword=hunter11\nssl.passphrase=hunter12\n"
        "confluent.license=hunter13\nssl.keystore.pass\\\n  word=hunter14\npassw\\u006frd=hunter15\n"
        "-----BEGIN KEY-----\nhunter16\nlog.dirs.x=http://joe:hunter17@x\nnum.x.password=hunter18\n"
    )
    (host / "server.properties").write_text(text)
    (host / "log4j.properties").write_text("log4j.rootLogger=INFO\nlog4j.appender.M.SMTPPassword=hunter19\n")
    (host / "dump.txt").write_text("Dumping /d/orders-0/0.log\n| offset: 0 payload: hunter20\n")
    run("collect", host, "-o", tmp_path / "a.tar")
    found = members(tmp_path / "a.tar")
    for name, data in found.items():
        assert b"hunter" not in data, name
    (packed,) = (data.decode() for name, data in found.items() if name.endswith("server.properties"))
    for kept in (
        *("broker.id=1", "log.dirs=/d, /e", "min.insync.replicas=2", "unclean.leader.election.enable=true"),
        *("log.retention.hours=168", "listeners=PLAINTEXT://:9092", "inter.broker.protocol.version=2.8"),
    ):
        assert f"{kept}\n" in packed


SAID = (
    'sasl.jaas.config = org.x.Login required username="a" password="hunter01; hunter02"; more',
    "Connecting with {ssl.keystore.password=hunter03, ssl.key.password: 'hunter04, hunter05', a=1}",
    'request {"sasl":{"password": "hunter06","clientSecret":"hunter07"}}',
    "started -Djavax.net.ssl.keyStorePassword=hunter08 -Xmx1g",
    "registry http://joe:hunter09@registry:8081/subjects, Authorization: Bearer hunter10",
    "basic.auth.user.info=bob:hunter11 access.key=hunter12 ACCESS_TOKEN=hunter13",
    "started with --password hunter14 --proxy https://amy:hunter15@proxy.house.example/x token.master.key=hunter16",
)


@pytest.mark.parametrize("compressed", [False, True])
def test_secrets_that_others_print_into_a_log_are_masked_and_counted(
    run: Run, tmp_path: Path, compressed: bool
) -> None:
    host = tmp_path / "broker-1"
    shutil.copytree(KIP101 / "broker-1", host)
    log = host / "logs" / "server.log"
    log.chmod(0o644)
    clean = log.read_bytes()
    stamp = "[2026-11-21 04:06:43,000] INFO "
    kept = "\tssl.keystore.password = [hidden]\n\tssl.key.password = null\n\tsasl.jaas.config = [hidden]\n"
    lines = "".join(f"{stamp}{said} (com.acme.Plugin)\n" for said in SAID)
    log.write_bytes(clean + kept.encode() + lines.encode() + b"\xff\n")
    if compressed:
        (host / "logs" / "server.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
        log.unlink()
    ran = run("collect", host, "-o", tmp_path / "a.tar")
    assert "of 1 log all but 14 passwords and the like" in ran.out
    found = members(tmp_path / "a.tar")
    assert not any(b"hunter" in data for data in found.values())
    (packed,) = (data for name, data in found.items() if "server.log" in name)
    assert packed.startswith(clean + kept.encode())
    assert packed.count(b"\n") == (clean + kept.encode() + lines.encode()).count(b"\n") + 1
    assert packed.endswith(b"\xff\n")
    for words in (b"sasl.jaas.config = ***\n", b", a=1} (com.acme", b"http://joe:***@registry:8081/", b" -Xmx1g "):
        assert words in packed
    files = json.loads(found["collected.json"])["files"]
    (masked,) = (one for one in files if one["secrets"])
    assert json.loads(found["collected.json"])["kafka"] == ["0.10.2.2"]
    assert (masked["form"], masked["secrets"], masked["sha256"]) == ("masked", 14, None)
    assert run("collect", host, "-o", tmp_path / "b.tar", "--redact").code == 0
    assert not any(b"hunter" in data for data in members(tmp_path / "b.tar").values())
    scanned = [
        run("scan", path, "--format", "json", "--fail-on", "never").document for path in (host, tmp_path / "a.tar")
    ]
    assert verdicts(scanned[0]) == verdicts(scanned[1])


def test_no_line_of_a_real_log_is_taken_for_a_secret(run: Run, some_sample: Path, tmp_path: Path) -> None:
    if some_sample.name.startswith("bundle-"):
        pytest.skip("is an archive already")
    run("collect", some_sample, "-o", tmp_path / "a.tar")
    files = json.loads(members(tmp_path / "a.tar")["collected.json"])["files"]
    assert [one["path"] for one in files if one["secrets"]] == []


def test_a_rotated_log_is_packed_and_an_archive_is_not(run: Run, tmp_path: Path) -> None:
    host = tmp_path / "host"
    host.mkdir()
    log = (KIP101 / "broker-1/logs/server.log").read_bytes()
    (host / "server.log.1.gz").write_bytes(gzip.compress(log))
    (host / "notes.gz").write_bytes(gzip.compress(b"remember the milk\n"))
    with tarfile.open(host / "data.tar.gz", "w:gz") as tar:
        tar.add(KIP101 / "broker-1/data", "data")
    ran = run("collect", host, "-o", tmp_path / "a.tar")
    found = {Path(name).name for name in members(tmp_path / "a.tar")}
    assert found == {"collected.json", "server.log.1.gz"}
    assert "1 archive, which may hold users' records" in ran.out
    assert "1 not recognised" in ran.out


def test_the_metadata_log_can_be_left_out(run: Run, tmp_path: Path) -> None:
    ran = run("collect", SAMPLES / "unclean-3.9.1", "-o", tmp_path / "a.tar")
    assert "the metadata log as it is: it may hold dynamic settings and credentials" in ran.out
    assert any("__cluster_metadata-0/0" in name for name in members(tmp_path / "a.tar"))
    run("collect", SAMPLES / "unclean-3.9.1", "-o", tmp_path / "b.tar", "--without-metadata")
    assert not any(
        re.search(r"__cluster_metadata-0/[0-9]+\.(log|checkpoint)", name) for name in members(tmp_path / "b.tar")
    )


def test_damage_of_a_segment_is_told_by_its_headers(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "broker-1" / "data" / "orders-0"
    folder.mkdir(parents=True)
    bad = bytearray(batch(5, 9, 0))
    bad[-1] ^= 1
    (folder / "00000000000000000000.log").write_bytes(batch(0, 4, 0) + bad + batch(10, 11, 0)[:40])
    run("collect", tmp_path / "broker-1", "-o", tmp_path / "a.tar")
    document = run("scan", tmp_path / "a.tar", "--format", "json", "--fail-on", "never").document
    assert "segment-damage" in {one["rule"] for one in document["findings"]}
    told = run("inspect", tmp_path / "a.tar").out
    assert "batch checksum does not match" in told
    assert "torn tail" in told


def test_what_cannot_be_read_is_named_where_nothing_is_packed(run: Run, tmp_path: Path) -> None:
    (folder := tmp_path / "logs").mkdir()
    os.mkfifo(folder / "server.log")
    ran = run("collect", folder, "-o", tmp_path / "x.tar")
    assert (ran.code, f"({folder / 'server.log'}: not a regular file" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "x.tar"), "name folders of the host"),
        ((str(KIP101),), "name folders of the host"),
        ((str(KIP101), "-o", "x.rar"), "name it .tar, .tar.gz or .tar.zst"),
        (("no/such", "-o", "x.tar"), "no/such: no such file or folder"),
        ((str(ROOT / "docs" / "adr"), "-o", "x.tar"), "is evidence; name data directories and logs"),
        (("--plan",), "--plan needs the brokers"),
        (("--plan", str(KIP101)), "no PATH and no -o"),
        (("--plan", "--host", "a\ntouch x"), "is no name of a host"),
        (("--plan", "--host", "-oProxyCommand=x"), "is no name of a host"),
        (("--plan", "--host", "b1", "-n", "prod"), "--runtime systemd has no pods"),
        (("--plan", "--host", "b1", "--runtime", "docker", "-c", "kafka"), "--runtime docker has no pods"),
    ],
)
def test_a_wrong_command_is_answered_in_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("collect", *arguments)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_is_never_written_over(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_text("mine")
    assert run("collect", KIP101, "-o", tmp_path / "a.tar").code == 2
    assert (tmp_path / "a.tar").read_text() == "mine"


# -- the script --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("runtime", [one.name for one in RUNTIMES])
def test_the_script_collects_what_a_scan_reads(run: Run, tmp_path: Path, runtime: str) -> None:
    """Played with stand-ins for ssh, docker and kubectl: each host is a folder of a recorded cluster."""
    hosts = tmp_path / "hosts"
    text = run(
        "collect", "--plan", "--runtime", runtime, *(word for n in (1, 2, 3) for word in ("--host", f"broker-{n}")),
        "--data-dir", "data", "--log-dir", "logs", "--settings", "none", "--settings", "server.properties",
        "--command-config", "client's.properties", *(("-n", "a b") if runtime_of(runtime).of_pods else ()),
    ).out  # fmt: skip
    subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    assert text.count("--command-config") == 5
    assert not re.search(r"(?m)^[^#]*\b(?:--alter|restart|delete|rm )", text), "nothing is changed"
    stand_in = tmp_path / "bin" / runtime_of(runtime).run.partition(" ")[0]
    stand_in.parent.mkdir()
    stand_in.write_text(
        "#!/bin/sh\n"
        'case "$1" in exec|logs) [ "$1" = logs ] && exit 0; shift;; esac\n'
        f'cd {shlex.quote(str(KIP101))}/"$1" || exit 1; shift\n'
        '[ "$1" = -n ] && { [ "$2" = "a b" ] || exit 1; shift 2; }; [ "$1" = -c ] && shift 2\n'
        '[ "$1" = -- ] && shift\n[ "$1" = sh ] && shift && shift\n'
        'case "$*" in *journalctl*) exit 0;; tar*) exec "$@";; *) sh -c "$*";; esac\n'
    )
    stand_in.chmod(0o755)
    stand_ins = (
        *(("forensics", ""), ("sudo", 'exec "$@"\n'), ("sleep", ""), ("chronyc", "echo System time: 0.1 s fast\n")),
        *(("kafka-topics", 'echo "topics $*"\n'), ("kafka-log-dirs.sh", 'echo "dirs $*"\n')),
    )
    for name, does in stand_ins:
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}")
        (tmp_path / "bin" / name).chmod(0o755)
    subprocess.run(
        ["sh", "-s", str(hosts)],
        input=text, text=True, check=True, env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}, cwd=tmp_path,
    )  # fmt: skip
    found = run("scan", hosts, "--format", "json", "--fail-on", "never").document
    whole = run("scan", *(KIP101 / f"broker-{n}" for n in (1, 2, 3)), "--format", "json", "--fail-on", "never").document
    assert {one["fingerprint"] for one in found["findings"]} == {one["fingerprint"] for one in whole["findings"]}
    assert len((hosts / "host-1" / "clock.txt").read_text().splitlines()) == 5
    settings = (hosts / "host-2" / "server.properties").read_text()
    assert "broker.id=2\n" in settings
    assert not re.search("password|listener|connect", settings)
    config = "--bootstrap-server localhost:9092 --command-config client's.properties --describe"
    assert (hosts / "topics.txt").read_text() == f"topics {config}\n"  # of a package, which calls it so
    assert (hosts / "log-dirs.txt").read_text() == f"dirs {config}\n"
    assert (hosts / "version.txt").read_text() == "topics --version\n"


@pytest.mark.parametrize(
    ("runtime", "there"),
    [
        (
            "strimzi",
            ["exec my-kafka-0 -c kafka --", "-C /var/lib/kafka .", "/custom-config/server.config", "logs --previous"],
        ),
        (
            "cp-ansible",
            [
                "/var/lib/controller/data",
                "/var/log/controller",
                "/etc/controller/server.properties",
                "-u confluent-kcon",
            ],
        ),
    ],
)
def test_a_runtime_knows_where_its_brokers_have_what_is_to_be_copied(
    run: Run, tmp_path: Path, runtime: str, there: list[str]
) -> None:
    text = run("collect", "--plan", "--runtime", runtime, "--host", "my-kafka-0").out
    for words in there:
        assert words in text
    assert ("/var/log/kafka" in text) == (runtime == "cp-ansible"), "Strimzi's brokers write no log files"
    assert all(f"#   - {words}\n" in text for words in runtime_of(runtime).never)


def test_a_host_without_one_of_the_folders_gives_the_others(run: Run, tmp_path: Path) -> None:
    """A broker has no directory of controllers, which the script copies by default."""
    text = run(
        "collect", "--plan", "--runtime", "cp-ansible", "--host", "b1", "--data-dir", "no", "--data-dir", "data"
    ).out
    copied = "\n".join(line for line in text.splitlines() if "/data" in line and "ssh" in line and "mkdir" in line)
    (tmp_path / "bin").mkdir()
    for name, does in (
        ("ssh", f'shift; cd {shlex.quote(str(KIP101 / "broker-1"))} && sh -c "$*"\n'),
        ("sudo", 'exec "$@"\n'),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}")
        (tmp_path / "bin" / name).chmod(0o755)
    ran = subprocess.run(
        ["sh", "-c", f"set -e; OUT={shlex.quote(str(tmp_path))}\n{copied}"],
        capture_output=True, text=True, check=False, env={"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"},
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "no folder no here\n")
    assert list((tmp_path / "host-1" / "data").iterdir()) == []
    assert (tmp_path / "host-1" / "data-2" / "meta.properties").is_file()
