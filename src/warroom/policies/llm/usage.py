"""What a run's ledger sums up to: requests, tokens, money and waiting, of the run, of each team and of each episode."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import quantiles
from typing import Any

from warroom.policies.llm.ledger import DIGITS, Tokens
from warroom.policies.llm.options import SpendingCaps
from warroom.policies.llm.requests import LOST

USAGE = "usage.json"
PREFLIGHT = "preflight"
"""In the place of a scenario: requests that no episode made."""
Line = Mapping[str, Any]


def summed(lines: Sequence[Line], caps: SpendingCaps, notes: Mapping[str, Any]) -> dict[str, Any]:
    """The content of `usage.json`, beside `notes`; teams and episodes leave the preflight out. Empty without a line."""
    if not lines:
        return {}
    requests = _requests(lines)
    teams = dict.fromkeys(r["team"] for r in requests if r["scenario"] != PREFLIGHT)
    return {
        **notes,
        "seconds": max(line["at"] for line in lines),
        **_sums(requests, _events(lines), caps),
        "teams": {team: _sums(_of(requests, team), _events(lines, team), caps) for team in teams},
        "episodes": _episodes(requests, caps),
    }


def _requests(lines: Iterable[Line]) -> list[dict[str, Any]]:
    """One entry for each request that was sent; one without an end costs its worst case."""
    found: dict[int, dict[str, Any]] = {}
    for line in lines:
        if "reserved" in line:
            found[line["request"]] = {**line, "outcome": LOST, "tokens": line["reserved"]}
        elif "outcome" in line:
            found[line["request"]] |= line
    return list(found.values())


def _of(requests: Iterable[dict[str, Any]], team: str) -> list[dict[str, Any]]:
    return [r for r in requests if r["team"] == team and r["scenario"] != PREFLIGHT]


def _events(lines: Iterable[Line], team: str | None = None) -> Counter[str]:
    events = [line for line in lines if "team" in line and "event" in line and line["scenario"] != PREFLIGHT]
    return Counter(line["event"] for line in events if team in (None, line["team"]))


def _sums(requests: Sequence[Line], events: Mapping[str, int], caps: SpendingCaps) -> dict[str, Any]:
    ends = Counter(r["outcome"] for r in requests)
    total, lost = _tokens(requests), _tokens([r for r in requests if r["outcome"] == LOST])
    cost = caps.cost(*total)
    return {
        "requests": len(requests),
        "answered": ends["answered"],
        "failed": len(requests) - ends["answered"],
        "failures": {kind: count for kind, count in sorted(ends.items()) if kind != "answered"},
        "retries": sum(r["try"] > 0 for r in requests),
        "prompt_tokens": total.prompt,
        "completion_tokens": total.completion,
        "uncertain_tokens": lost.total,
        "dollars": None if cost is None else float(cost),
        "latency": latency([r["seconds"] for r in requests if "seconds" in r]),
        "answered_as": dict(Counter(r["model"] for r in requests if "model" in r)),
        "reminders": events.get("reminder", 0),
        "unreadable_calls": events.get("unreadable", 0),
        "conversations_cut": events.get("overflow", 0),
        "seats_left": events.get("left", 0),
        "unplayed": events.get("unplayed", 0),
    }


def _episodes(requests: Sequence[Line], caps: SpendingCaps) -> list[dict[str, Any]]:
    """What each episode cost, tries that did not come to its end included."""
    names = ("team", "scenario", "tier", "seed", "attempt")
    grouped: dict[tuple[Any, ...], list[Line]] = {}
    for r in requests:
        if r["scenario"] != PREFLIGHT:
            grouped.setdefault(tuple(r[name] for name in names), []).append(r)
    out = []
    for key, own in sorted(grouped.items()):
        total = _tokens(own)
        cost = caps.cost(*total)
        out.append(
            {
                **dict(zip(names, key, strict=True)),
                "requests": len(own),
                "prompt_tokens": total.prompt,
                "completion_tokens": total.completion,
                "dollars": None if cost is None else float(cost),
                "seconds_waited": round(sum(r.get("seconds", 0.0) for r in own), DIGITS),
            }
        )
    return out


def _tokens(requests: Iterable[Line]) -> Tokens:
    total = Tokens()
    for r in requests:
        total = total.plus(Tokens(*r["tokens"]))
    return total


def latency(seconds: Sequence[float]) -> dict[str, float] | None:
    """Seconds until the answer, median and 95th percentile; None without an answer."""
    if not seconds:
        return None
    cuts = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else [seconds[0]] * 99
    return {"p50": round(cuts[49], DIGITS), "p95": round(cuts[94], DIGITS)}


def in_words(usage: Mapping[str, Any]) -> str:
    """The sums in a line."""
    cost = "" if usage["dollars"] is None else f", ${usage['dollars']:.4f}"
    waited = usage["latency"]
    pace = "" if waited is None else f", {waited['p50']:.2f} s a request (p95 {waited['p95']:.2f} s)"
    odd = {
        "failed": "failed", "retries": "retries", "reminders": "reminders", "unreadable_calls": "unreadable calls",
        "conversations_cut": "conversations cut", "seats_left": "seats left",
    }  # fmt: skip
    told = "".join(f", {usage[name]} {words}" for name, words in odd.items() if usage[name])
    tokens = f"{usage['prompt_tokens']:,} tokens read and {usage['completion_tokens']:,} written"
    return f"{usage['requests']:,} requests, {tokens}{cost}{pace}{told}"
