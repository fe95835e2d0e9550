"""What the words of a log line point to: stems that hold for a kind of trouble in general, whatever the product.

The stems come from common error messages of databases, runtimes, brokers and gateways, and from the environment's own
list of marks; no whole sentence is known here.
"""

import re
from collections import Counter
from functools import cache, lru_cache

from warroom.envs.logs.wordings import KEYWORDS

GENERAL: dict[str, str] = {
    "crash": r"panic|segfault|sig(?:nal|kill|segv|abrt|term)\b|core dump|crash|exit code|terminated|respawn|oom",
    "release": r"missing (?:key|setting|column|property)|unknown (?:key|option|version|field)|after update|"
    r"since the update|migration|incompatible|null ?pointer|type error|this build expects|configuration property",
    "lock": r"deadlock|\blocks?\b|blocked|mutex|contention",
    "saturation": r"overload|capacity|\bshed|turned away|too many requests in|no free|all workers|in flight|throttled",
    "plan_cache": r"plan cache|\bplans?\b|stale plan|churn|page reads|disk reads|miss ratio|slow statement|statistics",
    "report": r"long(?:-running)? (?:query|statement)|full table|sequential scan|analytic|report\b|still active",
    "leak": r"\bgc\b|garbage|out of memory|allocation|allocator|old gen|resident",
    "backlog": r"\blag\b|backlog|depth|oldest message|unacked|undelivered|not consumed",
    "vendor": r"third[- ]party|outside api|remote api|supplier|acquirer|partner",
    "abuse": r"log-in|sign-?in|brute|stuffing|stolen|leaked|replay|new country|captcha|usernames",
    "slow_release": r"round trips?|code path|serializ|lazy loading|new stage|extra (?:copy|call|query)",
    "client": r"malformed|validation|invalid|cannot (?:be )?parse|bad signature|unsupported api|answered 4\d\d",
}
"""Class of trouble -> a pattern of general stems. `client` is no trouble of ours: the request itself was wrong."""
CLIENT, UNFAMILIAR = "client", "unfamiliar"
"""The class of wrong requests, and what new words of no class are called."""
_JOB = r"job|batch|nightly|cron|task|scheduled|backup|export|report"
_COMPLAINT = (
    r"time[d ]?-? ?out|deadline|no answer|did not answer|upstream|downstream|connection (?:refused|reset)|"
    r"(?:error|failed|status|code)\W*\b(?:5\d\d|unavailable)|answered with an error|error from|rpc to|call to|"
    r"bad (?:response|reply)|internal (?:server )?error"
)


def keyword_counts(text: str) -> Counter[str]:
    """How many different stems of each class stand in a text."""
    return Counter({name: len(set(pattern.findall(text.lower()))) for name, pattern in _patterns().items()})


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled when first used: most programs that load this never read a line."""
    return {
        name: re.compile("|".join([*map(re.escape, KEYWORDS.get(name, ())), stems]), re.IGNORECASE)
        for name, stems in GENERAL.items()
    }


@lru_cache(maxsize=4096)
def class_of(text: str) -> str | None:
    """The class with most stems in a text; None for ordinary words."""
    found = keyword_counts(text)
    name = max(found, key=lambda name: found[name])
    return name if found[name] else None


def is_job(started: str) -> bool:
    """Whether what started is a job; else it is a build."""
    return re.search(_JOB, started, re.IGNORECASE) is not None


def is_complaint(text: str) -> bool:
    """Whether a line speaks of a call of another service that failed or came late, not of the writer itself."""
    return re.search(_COMPLAINT, text, re.IGNORECASE) is not None
