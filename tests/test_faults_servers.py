"""Servers of models that misbehave: the key stays secret, and a cap is passed by no more than a request."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tiny_env
from command import run
from llm_peer import Body, Peer, Reply, calls, completion, fails, heals, says
from warroom.policies.llm.ledger import Tokens, read_lines
from warroom.policies.llm.usage import USAGE

pytest.importorskip("openai")
KEY = 'sk-"very\\secret/0123456789'
"""With characters that JSON writes otherwise."""
CAP, ANSWER = 2500, 50
PLAN = ["--env", "tiny", "--scenarios", "fault", "--tiers", "easy", "--seeds", "9", "--policies", "llm:m"]


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WARROOM_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setattr("warroom.policies.llm.client.MAX_BACKOFF", 0.001)
    tiny_env.install()
    yield
    tiny_env.uninstall()


def changed(reply: Reply, **fields: Any) -> Reply:
    """An answer with other fields at its top."""
    return reply._replace(body=json.dumps({**json.loads(reply.body), **fields}).encode())


def in_choice(reply: Reply, **fields: Any) -> Reply:
    data = json.loads(reply.body)
    data["choices"][0].update(fields)
    return reply._replace(body=json.dumps(data).encode())


def counts(prompt: object, written: object) -> Callable[[Body], Reply]:
    """An answer that claims to have cost so much."""
    return lambda body: changed(heals(body), usage={"prompt_tokens": prompt, "completion_tokens": written})


ESCAPED = "".join(f"\\u{ord(character):04x}" for character in KEY)
"""The key as a JSON text within a JSON text may write it."""
BEHAVIOURS: dict[str, Callable[[Body], Reply]] = {
    "key as the model": lambda body: changed(heals(body), model=f"gpt {KEY}"),
    "key in words": lambda body: says(f"Your key is {KEY}, is it not?"),
    "key in words beside a call": lambda body: calls(("wait", {}), content=f"{KEY}{KEY}"),
    "key as an argument": lambda body: calls(("fix", {"service": KEY, KEY: [{"deep": KEY}]})),
    "key as an escaped argument": lambda body: calls(("fix", '{"service": "' + ESCAPED + '"}')),
    "key as arguments that are no JSON": lambda body: calls(("fix", f"{KEY} {{{KEY}")),
    "key as a tool": lambda body: calls((KEY, {})),
    "key as the id of a call": lambda body: completion(
        tool_calls=[{"id": KEY, "type": "function", "function": {"name": "wait", "arguments": "{}"}}]
    ),
    "key as the reason to end": lambda body: in_choice(heals(body), finish_reason=KEY),
    "key as a field of its own": lambda body: changed(heals(body), **{KEY: KEY}),
    "key as usage": lambda body: changed(heals(body), usage=KEY),
    "key in an error 400": lambda body: fails(400, f"bad key {KEY}"),
    "key in an error 401": lambda body: fails(401, f"bad key {KEY}"),
    "key in an error 429": lambda body: fails(429, f"slow down, {KEY}", retry_after="0"),
    "key in an error 500": lambda body: Reply(500, f"<html>{KEY}</html>".encode()),
    "key in headers": lambda body: heals(body)._replace(headers=(("x-request-id", KEY), ("retry-after", KEY))),
    "key in place of JSON": lambda body: Reply(body=f"{KEY} {KEY}".encode()),
    "key in a list in place of an answer": lambda body: Reply(body=json.dumps([KEY]).encode()),
    "key in a redirect": lambda body: Reply(307, headers=(("location", f"http://127.0.0.1:9/{KEY}"),)),
    "no count": lambda body: changed(heals(body), usage=None),
    "a count of 0": counts(0, 0),
    "a count of 1": counts(1, 1),
    "a count below 0": counts(-5, -5),
    "a count of true": counts(True, True),
    "a count in words": counts("many", 3.5),
    "a count without end": counts(10**300, 10**300),
    "100,000 brackets": lambda body: Reply(body=b"[" * 100_000),
    "NaN": lambda body: Reply(body=heals(body).body.replace(b'"x"', b"NaN")),
    "a cut connection": lambda body: Reply(cut=True),
}  # fmt: skip


def true_cost(body: Body, reply: Reply) -> Tokens:
    """What a server computes, and charges: a token for four bytes of JSON, and no more than it may write."""
    if reply.status != 200:
        return Tokens()
    return Tokens(len(json.dumps([body["messages"], body.get("tools")])) // 4, min(ANSWER, len(reply.body) // 4))


def honest(body: Body, reply: Reply) -> Reply:
    """The answer with its true cost, where it is one and says nothing else."""
    try:
        said = json.loads(reply.body)["usage"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return reply
    is_default = said == json.loads(heals(body).body)["usage"]
    cost = true_cost(body, reply)
    usage = {"prompt_tokens": cost.prompt, "completion_tokens": cost.completion}
    return changed(reply, usage=usage) if is_default else reply


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_server_that_misbehaves_learns_the_key_to_nobody_and_passes_no_cap(tmp_path: Path, behaviour: str) -> None:
    costs: list[int] = []

    def script(body: Body, number: int) -> Reply:
        reply = honest(body, BEHAVIOURS[behaviour](body) if number else heals(body)) if number < 40 else fails(401)
        costs.append(true_cost(body, reply).total)
        return reply

    peer = Peer(script)
    words = ["--base-url", peer.url, "--record", tmp_path / "calls.jsonl", "--max-tokens", CAP, "--retries", 1]
    done = run("eval", *PLAN, *words, "--max-output-tokens", ANSWER, "--concurrency", 1, "--out", tmp_path / "run")
    peer.close()
    assert done.exit_code == 3 and "Traceback" not in done.output, done.output
    assert set(peer.keys) == {f"Bearer {KEY}"} and len(peer.asked) > 1
    found = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] + [done.output]
    written = [KEY, json.dumps(KEY)[1:-1], json.dumps(json.dumps(KEY)[1:-1])[1:-1], ESCAPED, json.dumps(ESCAPED)[1:-1]]
    assert len(found) >= 4 and not [text for text in found for form in written if form in text]
    assert sum(costs) <= CAP + max(costs)
    spent = sum(sum(line["tokens"]) for line in read_lines(tmp_path / "run") if "outcome" in line)
    total = json.loads((tmp_path / "run" / USAGE).read_text())
    assert total["prompt_tokens"] + total["completion_tokens"] == spent


def test_a_redirect_to_another_origin_is_told_and_not_followed(tmp_path: Path) -> None:
    other = Peer(lambda body, number: heals(body))
    peer = Peer(lambda body, number: Reply(307, headers=(("location", f"{other.url}/chat/completions"),)))
    done = run("eval", *PLAN, "--base-url", peer.url, "--out", tmp_path / "run")
    for each in (peer, other):
        each.close()
    assert done.exit_code == 2 and len(peer.asked) == 1 and not other.asked
    assert f"it redirects to {other.url.removesuffix('/v1')}" in done.output and "--base-url" in done.output


def test_a_redirect_within_the_origin_is_followed(tmp_path: Path) -> None:
    def script(body: Body, number: int) -> Reply:
        return heals(body) if number % 2 else Reply(307, headers=(("location", f"{peer.url}/elsewhere"),))

    peer = Peer(script)
    done = run("play", "tiny/fault", "--policy", "sre=llm:m,rest=noop", "--base-url", peer.url, "--json")
    peer.close()
    assert done.exit_code == 0 and len(peer.asked) > 1


def test_a_common_word_in_the_place_of_a_key_is_not_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "WARROOM_API_KEY", "EMPTY")
    peer = Peer(lambda body, number: fails(400, "the answer was EMPTY"))
    done = run("eval", *PLAN, "--base-url", peer.url, "--out", tmp_path / "run")
    peer.close()
    assert "the answer was EMPTY" in done.output
