"""Confidential names, replaced by stable pseudonyms: topics, hosts, paths, ids, clients.

A result is redacted before it is reported, so every report and everything embedded in it names ``topic1`` and
``host2``. Pseudonyms are numbered, in the order of the sorted names, so the same evidence gives the same ones. They are
no hashes, against which anyone could try names. Broker ids, offsets, epochs, times, releases and hashes of files stay,
because a reader needs them. Kafka's own internal topics and the names of its own files stay too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import polars as pl

from forensics.case import Case, addresses, quotes
from forensics.case.brokers import version_of
from forensics.case.quotes import Place
from forensics.repaired.since import Checked, Repair, Since
from forensics.replay.history import History
from forensics.result import Partition, Result
from forensics.rules.finding import Action, Evidence, Finding
from forensics.rules.stated_problems import Problem
from forensics.rules.wants import Want
from parsers.schema import Kind

WITHHELD = "(withheld)"
"""Replaces text that was not understood, because it may contain names."""

_INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__cluster_metadata", "__share_group_state"})
_HARMLESS = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "::1"})

# Parts of a path that do not identify the machine.
_PLAIN_PART = re.compile(
    r"""(?x)
    \.{0,2} | \*(?:\.[a-z]+)? | [0-9]{20}(?:-[0-9a-f]+)?\.[a-z]+(?:\.deleted)?(?:\.headers\.txt)?
    | (?:broker|kafka|node|controller|server)[-_.]?[0-9]{0,9}
    | (?:data|logs?|config|etc|opt|srv|var|tmp|home|mnt|kafka-logs)[0-9]{0,3}
    | (?:server|controller|state-change|kafka-request|log-cleaner|kafka-authorizer|kafkaServer)
      (?:\.log|-gc\.log|\.properties)?(?:[.-][0-9][0-9.-]*)?(?:\.log)?(?:\.(?:gz|zst|bz2|xz))?
    | (?:replication-offset|recovery-point-offset|log-start-offset|cleaner-offset|leader-epoch)-checkpoint
    | meta\.properties | partition\.metadata | quorum-state | bootstrap\.checkpoint | \.kafka_cleanshutdown | \.lock
    | __(?:consumer_offsets|transaction_state|cluster_metadata|share_group_state)-[0-9]+ | topic[0-9]+-[0-9]+(?:[.-].*)?
    """
)
_PATH = re.compile(r"""(?<![\w./:-])(?:[A-Za-z]:)?(?:[^\s/,;:'"()\[\]{}=<>|!]*/)+[^\s/,;:'"()\[\]{}=<>|!]*""")
_ADDRESS = re.compile(
    r"""(?x)(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.])
    | \[(?=[^\]]*:[^\]]*:)[0-9a-fA-F:]*:[0-9a-fA-F:.]+(?:%\w+)?\]
    | (?<![\w:.])(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}(?:%\w+)?(?=:[0-9]{1,5}(?![\w:]))
    | (?<![\w:.])(?:[0-9a-fA-F]{1,4}:){5,7}[0-9a-fA-F]{1,4}(?:%\w+)?(?![\w:])
    | (?<![\w:.])(?:[0-9a-fA-F]{1,4}:)+(?::[0-9a-fA-F]{1,4})+(?:%\w+)?(?![\w:])"""
)
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
_HOSTS = (
    re.compile(rf"://({_HOST})(?=[:/,\s]|$)"),
    re.compile(rf"(?<![\w./:-])({_HOST})(?=/(?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}})"),
    re.compile(rf"(?<![\w./:-])((?=[A-Za-z0-9_.-]*[A-Za-z])(?=[A-Za-z0-9_]*[0-9.-]){_HOST})(?=:[0-9]{{4,5}}(?![0-9]))"),
    re.compile(rf"\bhost(?:name|\.name)?\s*[=:]\s*\"?({_HOST})"),
    re.compile(rf"\bBrokerEndPoint\([0-9]+,\s*({_HOST}),"),
    re.compile(rf"\bEndPoint\(({_HOST}),[0-9]+,"),
    re.compile(rf"(?<![\w./:-])({_HOST}):[0-9]{{4,5}} \(id: "),
    re.compile(rf"\bUnknownHostException: ({_HOST})"),
    # No class of Java and no setting of Kafka ends like these.
    re.compile(
        r"(?<![\w./-])((?:[A-Za-z0-9_-]+\.){2,}(?:com|net|org|edu|gov|io|dev|app|cloud|local|localdomain|internal|intranet"
        r"|lan|corp|home|example|test|invalid|arpa|de|uk|eu|us|fr|nl|ch|at|ru|cn|jp|br|ca|au|se|dk|fi|pl|it|es|be|cz))"
        r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
    ),
)
_CLIENTS = re.compile(
    r"""\b(clientId|client\.id|clientName|principal|groupId|group\.id|transactionalId|transactional\.id|username|user"""
    r"""|clusterId|cluster\.id|rackId|rack|broker\.rack|client\.rack|authenticationID|authorizationID)"""
    r"""("?\s*[=:]\s*"?)((?:User:)?(?:[^,"'()\[\]{}=]+(?=,\s\w+=|[\])])|[^\s,;"'()\[\]{}]+))"""
)
"""A name may have spaces where another key, or the end of a list, follows it: Kafka allows any client id."""
# "Initialized transactionalId payments-1 with producerId 2000"
_CALLED = re.compile(r"""\b(clientId|groupId|transactionalId)(\s+)((?!is\b|was\b|with\b)[^\s,;"'()\[\]{}=:]+)""")
# "[GroupCoordinator 1]: Preparing to rebalance group payroll in state Empty"; members are named after clients.
_OF_GROUPS_LOG = re.compile(r"\[?Group(?:Coordinator|MetadataManager)\b")
_MEMBERS = re.compile(
    r"""\b([Gg]roup|[Mm]ember(?: id)?)(\s+)"""
    r"""((?!(?:in|is|was|with|id|and|for|from|metadata)\b)[^\s,;"'()\[\]{}=:]+)"""
)
# Topics of which nothing else is known: "topics=[FetchTopic(topic=orders", "Topic:LITERAL:orders" of an authorizer.
_TOPICS = re.compile(r"""(\btopic\s*=\s*'?|\bTopic:(?:LITERAL|PREFIXED):)([A-Za-z0-9._-]+)""")
# A row of kafka-consumer-groups: group, topic and partition, three or four numbers, member, host and client.
_GROUP_ROW = re.compile(
    r"(?m)^([ \t]*)((?:\S+ )*\S+)([ \t]+\S+[ \t]+[0-9]+(?:[ \t]+(?:-|-?[0-9]+)){3,4}[ \t]+)(\S+)"
    r"(?:([ \t]+/?)(\S+))?(?:([ \t]+)(\S+))?(?=[ \t]*$)"
)
_SECRETS = re.compile(r"""\b(\w*(?:password|secret|token))("?\s*[=:]\s*"?)([^\s,;"'()\[\]{}]+)""", re.IGNORECASE)
# The subject of a certificate: "CN=broker,OU=kafka,O=A House".
_SUBJECT = re.compile(
    r"""\b(?:(?:CN|OU|O|L|ST|C|DC|UID)=[^,;"'()\[\]{}=]+,\s*)*(?:CN|OU|O|ST|DC|UID)=[^\s,;"'()\[\]{}]+"""
    r"""(?:,\s*(?:CN|OU|O|L|ST|C|DC|UID)=[^\s,;"'()\[\]{}]+)*"""
)
_PEOPLE = re.compile(r"\bUser:[^\s,;\"'()\[\]{}]+")
_LISTENERS = re.compile(
    r"""\b(ListenerName\(|listenerName=|listener\.name\s*=\s*)([A-Za-z0-9_-]+)|(?<![\w./:-])()([A-Z][A-Z0-9_-]*)(?=://)"""
)
_PLAIN_LISTENER = re.compile(
    r"(?:SASL_)?(?:PLAINTEXT|SSL)|(?:IN|EX)TERNAL|CONTROLLER|REPLICATION|CLIENTS?|BROKER|LOCAL|PUBLIC|PRIVATE",
    re.IGNORECASE,
)
"""Names of listeners that many houses have."""
_FULL = re.compile(r"(?=.*[A-Za-z])[^.]+(?:\.[^.]+){2,}")
_ENDPOINTS = re.compile(r"listeners|zookeeper\.connect|bootstrap|quorum\.voters|host")


_NUMBERS = ("broker.id", "node.id")
"""Settings whose value is a number, and in a damaged file may be anything."""
_PUBLIC_BUILD = re.compile(r"unknown|[0-9]*(?:[.-](?:[0-9]+|ccs|ce|cp[0-9]*|SNAPSHOT|rc[0-9]*|IV[0-9]+))*")
"""A version whose builder is no secret: Kafka's own, or a vendor's. AppInfoParser prints ``unknown`` without one."""


def _versions(case: Case) -> set[str]:
    """Return the versions that brokers printed."""
    printed = case.observations.filter(pl.col("kind") == Kind.BROKER_VERSION.value).get_column("detail")
    return {version for version in (*printed, *(broker.version for broker in case.everyone)) if version}


def _builds(versions: Iterable[str]) -> dict[str, str]:
    """Return the versions that name a private build, each with its release and a pseudonym, as ``3.9.1-build1``."""
    named = _numbered("build", (version for version in versions if not _PUBLIC_BUILD.fullmatch(version)))
    return {version: "-".join(filter(None, (_release(version), build))) for version, build in named.items()}


def _release(version: str) -> str:
    release = version_of(version)
    return ".".join(map(str, release)) if release is not None else ""


def _log_dirs(case: Case) -> set[str]:
    """The directories of logs that brokers name, former ones too."""
    last = {str(broker.settings.get("log.dirs") or "") for broker in case.everyone}
    return last.union(*({dirs for _, dirs in broker.log_dirs} for broker in case.everyone))


def _odd_paths(known: set[str]) -> re.Pattern[str] | None:
    """Return a pattern for known paths, and their folders, at which the pattern for paths stops; None without any.

    That pattern stops at blanks and brackets. A text that is known to be a path is replaced as a whole, also as a
    command quotes it.
    """
    known = {"/".join(parts[:end]) for parts in (path.split("/") for path in known) for end in range(1, len(parts) + 1)}
    known |= {shlex.quote(path)[1:-1] for path in known if "'" in path}
    odd = sorted((path for path in known if re.search(r"[^\w./~+@%-]", path)), key=lambda path: (-len(path), path))
    return re.compile("|".join(map(re.escape, odd))) if odd else None


def _bare(paths: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for paths without a folder, which nothing else shows to be paths."""
    names = sorted((path for path in {*paths} if path and "/" not in path), key=lambda path: (-len(path), path))
    return _words(names, r"(?![\w/-]|\.\w)")


def _endpoints(value: str) -> Iterator[str]:
    """Yield the hosts in a setting that lists endpoints."""
    for part in re.split(r"[,\s]+", value):
        if found := re.search(rf"(?:://|@|^)({_HOST})(?::[0-9]+)?", part):
            yield found[1]


def _neighbours(hosts: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for names in the domains of known hosts.

    The neighbours of a machine have similar names, often without a port by which they could be recognised.
    """
    domains = sorted({re.escape(name.partition(".")[2]) for name in hosts if _FULL.fullmatch(name)})
    return re.compile(
        rf"(?<![\w./-])((?:[A-Za-z0-9_-]+\.)+(?:{'|'.join(domains)}))(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
        if domains
        else r"(?!)()"
    )


class Redactor:
    """Knows the names of one result and their pseudonyms.

    Args:
        result: a finished scan, not yet redacted.
        id_named: gives the pseudonym of the id of a cluster or topic by its number.
    """

    def __init__(self, result: Result, *, id_named: Callable[[int], str] = "id{}".format) -> None:
        self._result = result
        case = result.case
        self._topics = _numbered("topic", _topics(result) - _INTERNAL)
        versions = _versions(case)
        self._releases = set(map(_release, versions))  # as 0.10.2.2, which looks like an address
        ids = {name: id_named(number) for number, name in enumerate(sorted(_ids(result)), start=1)}
        self._ids = ids | _builds(versions)
        self._hosts: dict[str, str] = {}
        self._bare: dict[str, str] = {}  # what machines are called without their domain
        self._parts: dict[str, str] = {}
        self._clients: dict[str, str] = {}
        self._others: dict[str, str] = {}  # topics of which only a word is known
        self._listeners: dict[str, str] = {}
        # A topic may be as short as a letter: whole words only, or before a partition's number.
        names = sorted(self._topics, key=lambda name: (-len(name), name))
        self._topic_words = _words(names, r"(?=-[0-9]+(?![A-Za-z0-9_-])|(?![A-Za-z0-9_-]))")
        self._id_words = _words(sorted(self._ids, key=lambda name: (-len(name), name)), r"(?![A-Za-z0-9_-])")
        self._groups = _numbered("group", _groups(case))
        groups = sorted(self._groups, key=lambda name: (-len(name), name))
        # Elsewhere a group may be called like any word.
        named = "|".join(map(re.escape, groups)) or r"(?!)"
        before = "|".join(f"(?<={word})" for word in ("group ", "group '", 'group="', 'group_id="'))
        self._group_words = re.compile(rf"(?:{before})(?:{named})(?![A-Za-z0-9_-])")
        self._odd_paths = _odd_paths({*result.inputs, *case.paths, *_log_dirs(case)})
        self._bare_files = _bare(case.paths)
        self._bare_inputs = _bare(result.inputs)
        for broker in case.everyone:
            for key, value in sorted(broker.settings.items()):
                for name in _endpoints(value) if _ENDPOINTS.search(key) else ():
                    self._host(name)
        self._neighbours = _neighbours(self._hosts)

    # -- single texts -----------------------------------------------------------------------------------------------

    def topic(self, name: str) -> str:
        """Pseudonym of a topic."""
        return self._topics.get(name, name)

    def partition(self, name: str) -> str:
        """Return the pseudonym of a partition, as ``topic1-0``."""
        topic, _, number = name.rpartition("-")
        return f"{self.topic(topic)}-{number}"

    def cluster(self, name: str) -> str:
        """Return the pseudonym of a cluster."""
        return self._ids.get(name, name)

    def path(self, path: str) -> str:
        """Return a path with its parts replaced, except names of Kafka's own files and common names."""
        return "/".join(self._part(part) for part in path.split("/"))

    def text(self, text: str) -> str:
        """Any text, foreign or the tool's own."""
        if not text:
            return text
        text = _SECRETS.sub(lambda m: m[1] + m[2] + WITHHELD, text)
        text = _GROUP_ROW.sub(self._group_row, text)
        text = _SUBJECT.sub(lambda m: self._client(m[0]), text)
        text = _TOPICS.sub(lambda m: m[1] + self._seen_topic(m[2]), text)
        for pattern in (_CLIENTS, _CALLED, *((_MEMBERS,) if _OF_GROUPS_LOG.search(text) else ())):
            text = pattern.sub(lambda m: m[1] + m[2] + self._client(m[3]), text)
        text = _LISTENERS.sub(self._listener, text)
        text = _PEOPLE.sub(lambda m: "User:" + self._client(m[0]), text)
        for pattern in (*_HOSTS, self._neighbours):
            for found in pattern.finditer(text):
                self._host(found[1])
        text = _ADDRESS.sub(self._addressed, text)
        if self._odd_paths is not None:
            text = self._odd_paths.sub(lambda m: self.path(m[0]), text)
        text = self._bare_files.sub(lambda m: self.path(m[0]), text)
        text = _PATH.sub(self._slashed, text)
        if self._hosts:
            hosts = self._bare | self._hosts
            text = _words(sorted(hosts, key=lambda h: (-len(h), h)), r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])").sub(
                lambda m: hosts[m[0]], text
            )
        text = self._group_words.sub(lambda m: self._groups[m[0]], text)
        text = self._topic_words.sub(lambda m: self._topics[m[0]], text)
        return self._id_words.sub(lambda m: self._ids[m[0]], text)

    def _addressed(self, found: re.Match[str]) -> str:
        return found[0] if found[0] in self._releases else self._host(found[0].strip("[]"))

    def _slashed(self, found: re.Match[str]) -> str:
        token = found[0]
        if re.fullmatch(r"[\d.,]+/[\d.,]+|/+", token):
            return token  # a fraction
        first, _, rest = token.partition("/")
        if first in self._hosts and re.match(r"host[0-9]", rest):
            return f"{self._hosts[first]}/{rest}"
        return self.path(token)

    def _part(self, part: str) -> str:
        if _PLAIN_PART.fullmatch(part):
            return part
        changed = self._topic_words.sub(lambda m: self._topics[m[0]], part)
        if changed != part and re.fullmatch(r"topic[0-9]+-[0-9]+(?:\.(?:[0-9a-f]{32}|\*)-\w+)?", changed):
            return changed
        # An archive and what is in it: "bundle.tar!".
        bare, mark, _ = part.partition("!")
        return self._parts.setdefault(bare, f"dir{len(self._parts) + 1}") + mark

    def _host(self, name: str) -> str:
        if name.lower() in _HARMLESS or not name:
            return name
        made = self._hosts.setdefault(name, f"host{len(self._hosts) + 1}")
        bare = name.partition(".")[0]
        # "kafka.example.com" must not take the word "kafka" out of every line.
        if _FULL.fullmatch(name) and re.search("[0-9-]", bare) and not _PLAIN_PART.fullmatch(bare):
            self._bare.setdefault(bare, made)
        return made

    def _listener(self, found: re.Match[str]) -> str:
        before, name = found[1] or "", found[2] or found[4]
        if _PLAIN_LISTENER.fullmatch(name):
            return found[0]
        return before + self._listeners.setdefault(name, f"LISTENER{len(self._listeners) + 1}")

    def _group_row(self, found: re.Match[str]) -> str:
        indent, group, between, member, at, host, gap, client = found.groups(default="")
        name = self._groups.get(group) or self._client(group)
        where = host if host == "-" else self._host(host)
        return f"{indent}{name}{between}{self._client(member)}{at}{where}{gap}{self._client(client)}"

    def _seen_topic(self, name: str) -> str:
        """Return a topic that has a pseudonym as it is, to be replaced with the others, and one for any other."""
        known = name in self._topics or name in _INTERNAL or name.rpartition("-")[0] in self._topics
        return name if known else self._others.setdefault(name, f"other-topic{len(self._others) + 1}")

    def _client(self, name: str) -> str:
        if name in ("null", "None", "-", "") or name in self._ids:
            return name
        return self._clients.setdefault(name.removeprefix("User:"), f"client{len(self._clients) + 1}")

    # -- a whole result ---------------------------------------------------------------------------------------------

    def result(self) -> Result:
        """The result with every name replaced; fingerprints of findings change with their names."""
        result = self._result
        made: dict[int, Finding] = {}

        def finding(one: Finding) -> Finding:
            return made.setdefault(id(one), self.finding(one))

        partitions = [
            Partition(
                self.history(partition.history),
                {
                    rule: replace(
                        judgement,
                        findings=tuple(finding(one) for one in judgement.findings),
                        missing=tuple(self._want(want) for want in judgement.missing),
                    )
                    for rule, judgement in partition.judgements.items()
                },
            )
            for partition in result.partitions
        ]
        return replace(
            result,
            inputs=tuple(self.path(path) for path in result.inputs),
            case=self.case(result.case),
            partitions=partitions,
            findings=[finding(one) for one in result.findings],
            quote=self.quote,
            known=[finding(one) for one in result.known],
            problems=[self._problem(one) for one in result.problems],
            changes=replace(
                result.changes,
                config=self.path(result.changes.config) if result.changes.config is not None else None,
                topics=tuple(WITHHELD for _ in result.changes.topics),
                skipped_topics=tuple(WITHHELD for _ in result.changes.skipped_topics),
                baseline=self.path(result.changes.baseline) if result.changes.baseline is not None else None,
            ),
            repair=self._repair(result.repair) if result.repair is not None else None,
            redacted=True,
        )

    def _repair(self, repair: Repair) -> Repair:
        # Names of the earlier scan need not be in this evidence, and then have no pseudonym.
        def cluster(name: str | None) -> str | None:
            return None if name is None else self._ids.get(name, WITHHELD)

        def former(one: Since) -> Since:
            was = one.former
            topic = None if was.topic is None else self._topics.get(was.topic, WITHHELD)
            return replace(one, former=replace(was, cluster=cluster(was.cluster), topic=topic))

        def checked(one: Checked) -> Checked:
            points = (replace(p, text=self.text(p.text), evidence=self._pieces(p.evidence)) for p in one.points)
            topic = self._topics.get(one.topic, WITHHELD)
            return replace(one, cluster=cluster(one.cluster), topic=topic, points=tuple(points))

        return Repair(
            self.path(repair.baseline),
            since=tuple(map(former, repair.since)),
            partitions=tuple(map(checked, repair.partitions)),
            clusters=None
            if repair.clusters is None
            else (
                tuple(self._ids.get(name, WITHHELD) for name in repair.clusters[0]),
                tuple(self._ids.get(name, WITHHELD) for name in repair.clusters[1]),
            ),
        )

    def quote(self, case: Case, wanted: Iterable[Place]) -> dict[Place, str]:
        """Return the result of ``quotes.quote``, redacted: for reports that read evidence again."""
        return {place: self._quoted(text) for place, text in quotes.quote(case, wanted).items()}

    def _quoted(self, text: str) -> str:
        # A line that was shortened may end within a name.
        if len(text) >= quotes.LONGEST:
            text = re.sub(r"\S*\Z", "", text)
        return self.text(text)

    def _action(self, step: Action) -> Action:
        command = step.command
        if command is not None:
            command = self.text(self._bare_inputs.sub(lambda m: self.path(m[0]), command))
        return replace(step, text=self.text(step.text), command=command, on_evidence=None)

    def _want(self, want: Want) -> Want:
        reason = want.because
        because = replace(reason, text=self.text(reason.text)) if reason is not None else None
        return replace(want, topic=self.topic(want.topic), because=because)

    def finding(self, one: Finding) -> Finding:
        """Return a finding with pseudonyms."""

        def every(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(self.text(text) for text in texts)

        return replace(
            one,
            topic=self.topic(one.topic),
            topic_id=self._ids.get(one.topic_id or "", one.topic_id),
            cluster=self._ids.get(one.cluster or "", one.cluster),
            summary=self.text(one.summary),
            when=self.text(one.when),
            did=self.text(one.did),
            facts=tuple(replace(fact, text=self.text(fact.text)) for fact in one.facts),
            inferences=every(one.inferences),
            uncertain=every(one.uncertain),
            unproven=every(one.unproven),
            subject=self.text(one.subject),
            not_because=every(one.not_because),
            keep=self.text(one.keep) if one.keep is not None else None,
            next_steps=tuple(self._action(step) for step in one.next_steps),
            do_not=every(one.do_not),
            groups=tuple(replace(group, group=self._groups.get(group.group, group.group)) for group in one.groups),
            advice=tuple(self.text(text) if text is not None else None for text in one.advice),
            evidence=self._pieces(one.evidence),
        )

    def _value(self, value: str) -> str:
        """Return a value that a line states, which may be the name of a group as a whole."""
        return self._groups.get(value) or self.text(value)

    def _problem(self, one: Problem) -> Problem:
        return replace(
            one,
            topic=self.topic(one.topic) if one.topic is not None else None,
            states=self.text(one.states),
            means=self.text(one.means),
            fetch=tuple(self.text(step) for step in one.fetch),
            do_not=tuple(self.text(step) for step in one.do_not),
            values={name: self._value(v) if isinstance(v, str) else v for name, v in one.values.items()},
            evidence=self._pieces(one.evidence),
        )

    def _pieces(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        return tuple(
            replace(
                e,
                path=self.path(e.path),
                text=self._quoted(e.text),
                note=self.text(e.note),
                beside=tuple(map(self.path, e.beside)),
            )
            for e in evidence
        )

    def history(self, history: History) -> History:
        """Return a partition with pseudonyms."""
        facts = replace(
            history.facts,
            topic=self.topic(history.topic),
            topic_id=self._ids.get(history.topic_id or "", history.topic_id),
            cluster=self._ids.get(history.cluster or "", history.cluster),
            deleted_segments=tuple(
                replace(one, path=self.path(one.path), topic_id=self._ids.get(one.topic_id or "", one.topic_id))
                for one in history.facts.deleted_segments
            ),
        )
        return replace(
            history,
            facts=facts,
            replicas={
                broker: replace(
                    replica, directory=self.path(replica.directory) if replica.directory is not None else None
                )
                for broker, replica in history.replicas.items()
            },
        )

    def case(self, case: Case) -> Case:
        """Return the evidence, with pseudonyms in all that reports and traces show."""
        topics, ids = self._topics, self._ids
        paths = [self.path(path) for path in case.paths]
        sources = case.sources.with_columns(
            pl.Series("path", paths, dtype=pl.String), _mapped("topic", topics), _mapped("cluster", ids)
        )
        observations = case.observations.with_columns(_mapped("topic", topics), _mapped("topic_id", ids))
        groups = _mapped("detail", self._groups)
        detail = _mapped("detail", _table(observations.filter(~_OF_GROUPS).get_column("detail"), self.text))
        observations = observations.with_columns(
            pl.when(_OF_GROUPS).then(groups).otherwise(detail).alias("detail"),
            _mapped("log_dir", _table(observations.get_column("log_dir"), self.text)),
        )
        notices = case.notices.with_columns(
            _mapped("reason", _table(case.notices.get_column("reason"), self.text)),
            pl.when(pl.col("excerpt").is_not_null()).then(pl.lit(WITHHELD)).alias("excerpt"),
        )
        everyone = tuple(
            replace(
                broker,
                cluster=ids.get(broker.cluster or "", broker.cluster),
                version=ids.get(broker.version or "", broker.version),
                settings={key: self.setting(key, value) for key, value in broker.settings.items()},
                log_dirs=[(time, self.setting("log.dirs", dirs)) for time, dirs in broker.log_dirs],
            )
            for broker in case.everyone
        )
        return replace(
            case,
            sources=sources,
            observations=observations,
            batches=case.batches.with_columns(_mapped("topic", topics)),
            notices=notices,
            lives=case.lives.with_columns(_mapped("cluster", ids)),
            divided=case.divided.with_columns(_mapped("cluster", ids)),
            brokers={broker.id: broker for broker in everyone},
            everyone=everyone,
            files=[replace(source, path=path, called="") for source, path in zip(case.files, paths, strict=False)],
        )

    def setting(self, key: str, value: str) -> str:
        """Return the value of a setting with pseudonyms; of one with addresses that it is withheld."""
        if key in addresses.SETTINGS or (key in _NUMBERS and not value.lstrip("-").isdecimal()):
            return WITHHELD
        if key.endswith(("log.dir", "log.dirs", ".dir", ".location", ".path")):
            return ",".join(self.path(part) for part in value.split(","))
        return self.text(value)


def redact(result: Result) -> Result:
    """Return a result without names: every report of it uses pseudonyms, also for evidence that it reads again."""
    return Redactor(result).result()


def _numbered(kind: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{kind}{number}" for number, name in enumerate(sorted(names), start=1)}


def _words(names: list[str], right: str) -> re.Pattern[str]:
    """Return a pattern that matches any of the names as whole words; without names, a pattern that matches nothing."""
    if not names:
        return re.compile(r"(?!)")
    return re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(map(re.escape, names))}){right}")


def _topics(result: Result) -> set[str]:
    case = result.case
    found = {partition.history.topic for partition in result.partitions}
    for frame in (case.observations, case.sources, case.batches):
        found |= set(frame.get_column("topic").drop_nulls().unique().to_list())
    return {name for name in found if name}


_OF_GROUPS = pl.col("kind").is_in([Kind.GROUP_COMMITTED.value, Kind.GROUP_SCRAPED.value, Kind.GROUP_DESCRIBED.value])
"""Rows whose detail is the name of a consumer group."""


def _groups(case: Case) -> set[str]:
    return set(case.observations.filter(_OF_GROUPS).get_column("detail").drop_nulls().unique().to_list())


def _ids(result: Result) -> set[str]:
    case = result.case
    found = set(case.observations.get_column("topic_id").drop_nulls().unique().to_list())
    found |= set(case.sources.get_column("cluster").drop_nulls().unique().to_list())
    found |= {broker.cluster for broker in case.everyone if broker.cluster}
    return {name for name in found if name}


def _mapped(column: str, table: dict[str, str]) -> pl.Expr:
    """A column of texts with those in the table replaced."""
    return pl.col(column).replace(list(table), list(table.values())) if table else pl.col(column)


def _table(column: pl.Series, change: Callable[[str], str]) -> dict[str, str]:
    return {
        text: changed for text in column.drop_nulls().unique().sort().to_list() if (changed := change(text)) != text
    }


__all__ = ["WITHHELD", "Redactor", "redact"]
