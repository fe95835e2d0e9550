"""Which service wrote a line and which one its text mentions, by the names that writers and platforms use."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

from warroom.triage.facts import status_span

_POD = re.compile(r"-[a-f0-9]{6,10}-[a-z0-9]{5}$")
"""What a Kubernetes deployment adds to the name of a pod."""
_REPLICA = re.compile(r"[-_]\d{1,3}$")
"""What docker compose and stateful sets add to the name of a copy."""
_TITLES = re.compile(r"[-_.]?(?:service|svc|api|server|app)$")
"""Suffixes that people omit when they mention a service."""


def _phrases(text: str) -> str:
    """Words as one alternation."""
    return "|".join(text.split())


_OF_A_CALL = _phrases("request rpc query connection connect connected connecting publish published read write sent")
_BEFORE_CALLEE = _phrases(
    "from upstream downstream callee target host peer backend dependency towards against dial dialing"
)
_CALLING = re.compile(
    rf"(?:\b(?:calls?(?: to| of)?|call(?:ed|ing)(?: to)?|(?:{_OF_A_CALL}) (?:to|towards|with|on|from)|reach(?:ing)?"
    rf"|waiting for|refused by|error in|gave up on|{_BEFORE_CALLEE})[\s=:]*|//|->|→|=|@)[\"'\[(<]*$",
    re.IGNORECASE,
)
"""What precedes the name of a service that is called."""
_HAS_DONE = _phrases("answered timed timeout returned refused failed replied responded closed silent unavailable took")
_CALLED = re.compile(
    rf"[\"'\])>]*(?:[-.\w]*:(?:\d{{2,5}}\b|<n>)|:? (?:{_HAS_DONE}|(?:did|does|has|is) not|is (?:down|slow|unavailable)"
    r"|unreachable|slow|still owes|i/o|call|request|query|connection|lookup)\b)",
    re.IGNORECASE,
)
"""What follows it."""
_ASKED = _phrases("requests? called calls? requested order job work messages? traffic clients? login")
_CALLER = re.compile(
    rf"(?:\b(?:(?:{_ASKED}) (?:from|by)|received (?:\w+ ){{0,2}}from|caller|client|on behalf of|consumed by|source"
    r"|origin|user[- ]agent)[\s=:]*)[\"'\[(<]*$",
    re.IGNORECASE,
)
"""What precedes the name of a service that calls: it is no callee."""
_ROLES = _phrases("service svc db database cache queue api gateway broker store redis kafka postgres mysql mongo")
_STORES = _phrases("redis postgres postgresql mysql mariadb kafka rabbitmq mongodb memcached elasticsearch cassandra")
_LIKELY_SERVICE = re.compile(rf"(?<![\w.-])((?:[a-z][a-z0-9]*-)+(?:{_ROLES})|{_STORES})(?![\w-])")
"""Names that look like those of services; they count where a text says that they are called."""
_ASKED_OF_ME = re.compile(r"\b(?:get|post|put|patch|delete|head) /")
"""A request, by its method and path; one of another service is written with that service's address."""
_OUTGOING = re.compile(
    r"\b(?:call(?:s|ed|ing)?|request to|outgoing|outbound|upstream|http[- ]?client|retry(?:ing)?|fetch(?:ing)?)\b"
)
"""What precedes a request that the writer sends to another service."""


class CalleeMention(NamedTuple):
    """A service that a text mentions as called."""

    name: str
    start: int
    """Where in the text."""


class _Vocabulary(NamedTuple):
    """Words that mean services."""

    pattern: re.Pattern[str]
    services: dict[str, str]
    """The service that each word means."""


class _Candidate(NamedTuple):
    """A possible mention of a callee; the smallest one is the best."""

    not_called: bool
    """Whether the words around it are not those of a call."""
    negative_length: int
    start: int
    name: str


class ServiceNames:
    """The services that are known: those of a topology, and those that write."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.listed = frozenset(known)
        """Services of the topology; empty where there is none."""
        self.writers: set[str] = set()
        self.known: dict[str, str] = {}
        """Names as written to the services that they mean, as a cache."""
        self._by_length = sorted(self.listed, key=lambda name: (-len(name), name))

    def canonical(self, written: str) -> str:
        """The service of a name as a line writes it: `shop-auth-service-1` and `auth-service-7d9f8b6c5-x2x9q` too."""
        found = self.known.get(written)
        if found is None:
            found = self.known[written] = self._resolve(written.strip("/").lower())
            self.writers.add(found)
            self.__dict__.pop("_vocabulary", None)
        return found

    def _resolve(self, name: str) -> str:
        if name in self.listed:
            return name
        for known in self._by_length:
            if re.search(rf"(?:^|[-_./]){re.escape(known)}(?:$|[-_./])", name):
                return known
        plain = _REPLICA.sub("", _POD.sub("", name))
        titled = [known for known in self._by_length if _TITLES.sub("", known) == _TITLES.sub("", plain)]
        return titled[0] if len(titled) == 1 else plain

    @cached_property
    def _vocabulary(self) -> _Vocabulary:
        """All names and their usual variants."""
        names = self.listed | self.writers
        services: dict[str, str] = {}
        for name in sorted(names, key=lambda name: (-len(name), name)):
            short = _TITLES.sub("", name)
            for other in (short, f"{short}-service", f"{short}service", f"{short}-svc"):
                if other and other not in names:
                    services.setdefault(other, name)
        services |= {name: name for name in names}
        ordered = sorted(services, key=lambda name: (-len(name), name))
        pattern = re.compile(rf"(?<![a-z0-9_-])(?:{'|'.join(map(re.escape, ordered))})(?![a-z0-9])")
        return _Vocabulary(pattern, services)

    def callee_in(self, service: str, text: str) -> str:
        """The service that a text of `service` says it called; empty if it mentions none."""
        mention = self._mention(service, text.lower())
        return mention.name if mention is not None else ""

    def states_own_request(self, service: str, text: str) -> bool:
        """Whether a text of `service` that mentions a call states, before that, a request of its own or its answer.

        `GET /checkout 504 upstream cart timed out` is a request that failed and a call that failed at once;
        `cart answered 504` is a call alone.
        """
        lowered = text.lower()
        mention = self._mention(service, lowered)
        head = lowered[: mention.start] if mention is not None else ""
        asked, status = _ASKED_OF_ME.search(head), status_span(head)
        if asked is None and (status is None or head.rstrip().endswith(" from")):
            return False
        return not _OUTGOING.search(head[: asked.start() if asked else status.start if status else 0])

    def summary_words(self, service: str, text: str) -> str:
        """The shortest text that reports the same request and call as this one."""
        callee = self.callee_in(service, text)
        own = "GET / and " if callee and self.states_own_request(service, text) else ""
        return f"{own}call to {callee}" if callee else ""

    def _mention(self, service: str, lowered: str) -> CalleeMention | None:
        """The callee that a text mentions: the longest name, then the earliest.

        A name that could be a plain word (`cart`) counts only where the words around it are those of a call.
        """
        vocabulary, candidates = self._vocabulary, list[_Candidate]()
        for match in vocabulary.pattern.finditer(lowered):
            name = vocabulary.services[match[0]]
            before, after = lowered[: match.start()], lowered[match.end() :]
            if name == service or _CALLER.search(before):
                continue
            called = bool(_CALLING.search(before) or _CALLED.match(after))
            if called or "-" in match[0] or "_" in match[0]:
                candidates.append(_Candidate(not called, -len(match[0]), match.start(), name))
        if candidates:
            best = min(candidates)
            return CalleeMention(best.name, best.start)
        return self._unlisted_mention(service, lowered)

    def _unlisted_mention(self, service: str, lowered: str) -> CalleeMention | None:
        """A callee that wrote no line, where no topology lists the services."""
        if self.listed:
            return None
        for match in _LIKELY_SERVICE.finditer(lowered):
            before, after = lowered[: match.start()], lowered[match.end() :]
            if match[1] != service and not _CALLER.search(before) and (_CALLING.search(before) or _CALLED.match(after)):
                return CalleeMention(_REPLICA.sub("", match[1]), match.start())
        return None


def abbreviate(names: Iterable[str], limit: int = 8) -> str:
    """Some names, for an error."""
    ordered = sorted(names)
    more = f" and {len(ordered) - limit} more" if len(ordered) > limit else ""
    return ", ".join(ordered[:limit]) + more
