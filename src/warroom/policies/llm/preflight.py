"""One call before a run: whether the server is there, takes the key, knows the model, and how the model calls tools.

What is decided here is decided once, noted in the run, and never changed while it goes.
"""

from typing import Any

from warroom.core.env import Env
from warroom.policies.llm import Place, model_of
from warroom.policies.llm.exchange import Exchange
from warroom.policies.llm.formats import api_calls, text_calls
from warroom.policies.llm.requests import LIMITS, Answer, Decision, Overflow
from warroom.policies.llm.seat import LlmSeat


def decide(exchange: Exchange, name: str, env: Env) -> Decision:
    """Ask for the first call of this incident's first seat, and note how the model is to be asked.

    The answer is not played. A `ValueError` says what is wrong with the server, the key, the model or the way of
    calling tools; `env` is not changed.
    """
    exchange.decisions[name] = exchange.run(_decided(exchange, name, env)).result()
    return exchange.decisions[name]


async def _decided(exchange: Exchange, name: str, env: Env) -> Decision:
    wanted = exchange.api.tool_calls
    decision = Decision("text" if wanted == "text" else "api")
    for number in range(1, 4):  # at most: the name of the limit, then tools, are learnt from a refusal
        try:
            answer = await _asked(exchange, name, env, decision, number)
        except Overflow as error:
            raise ValueError(f"the first page is too long for {name}: {error}") from error
        except ValueError as error:
            learnt = _learnt(decision, wanted, str(error))
            if learnt is None:
                raise
            decision = learnt
        else:
            break
    decision = decision._replace(answered_as=answer.model)
    if wanted == "auto" and decision.tool_calls == "api" and not api_calls(answer.message, 0):
        raise ValueError(_in_words(name, answer))
    return decision


async def _asked(exchange: Exchange, name: str, env: Env, decision: Decision, number: int) -> Answer:
    place = Place(name, "preflight", env.tier, env.seed, 0, env.seat)
    seat = LlmSeat(exchange.model(name), decision, place, env.brief(env.seat))
    seat.conversation.hear(seat.dialogue.see(env.observe()))
    answer = await exchange.complete(seat.thinker.request(decision, seat.conversation, place, number))
    seat.thinker.count(seat.conversation, answer)
    return answer


def _learnt(decision: Decision, wanted: str, refusal: str) -> Decision | None:
    """Another way of asking, where a refusal says that this one is not known."""
    if LIMITS[1] in refusal and decision.limit != LIMITS[1]:
        return decision._replace(limit=LIMITS[1])
    if wanted == "auto" and decision.tool_calls == "api" and "tool" in refusal.lower() and "it answered 4" in refusal:
        return decision._replace(tool_calls="text", why=f"the server refuses tools: {refusal}")
    return None


def _in_words(name: str, answer: Answer) -> str:
    said = answer.message.get("content")
    hint = ", which holds a call that the server did not see" if isinstance(said, str) and text_calls(said) else ""
    cut = "; it was cut at --max-output-tokens" if answer.cut else ""
    return (
        f"the server took the tools, and {model_of(name)} answered its first page by text{hint}{cut}, so it is unclear "
        "how it calls them: choose --tool-calls text to have calls read from its text, or --tool-calls api if it will "
        "call by the API"
    )


def status(exchange: Exchange, name: str) -> dict[str, Any]:
    """What a run notes of a model: what was asked for, and who answered how."""
    decision = exchange.decisions[name]
    return {
        "name": name,
        "asked": model_of(name),
        "answered_as": decision.answered_as,
        "base_url": exchange.api.base_url,
        "tool_calls": decision.tool_calls,
        "limit": decision.limit,
        **({"why": decision.why} if decision.why else {}),
        "language": exchange.api.language,
        "decoding": exchange.api.decoding,
        "replayed": exchange.api.replay is not None,
    }


def remember(exchange: Exchange, name: str, noted: dict[str, Any]) -> None:
    """Go on with what a run has noted."""
    exchange.decisions[name] = Decision(noted["tool_calls"], noted["limit"], noted.get("why", ""), noted["answered_as"])
