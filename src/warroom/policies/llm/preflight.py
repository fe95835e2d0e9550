"""One call before a run: whether the server is there, takes the key, knows the model, and how the model calls tools.

What is decided here is decided once, noted in the run, and never changed while it goes.
"""

from typing import Any

from warroom.core.env import Env
from warroom.policies.llm import RequestOrigin, model_of
from warroom.policies.llm.client import LLMClient
from warroom.policies.llm.formats import api_calls, text_calls
from warroom.policies.llm.llm_policy import LlmPolicy
from warroom.policies.llm.requests import LIMITS, ApiResponse, CallFormat, ContextOverflow


def detect_call_format(client: LLMClient, name: str, env: Env) -> CallFormat:
    """Ask for the first call of this incident's first seat, and note how the model is to be asked.

    The answer is not played. A `ValueError` says what is wrong with the server, the key, the model or the way of
    calling tools; `env` is not changed.
    """
    client.call_formats[name] = client.run(_decided(client, name, env)).result()
    return client.call_formats[name]


async def _decided(client: LLMClient, name: str, env: Env) -> CallFormat:
    wanted = client.api.tool_calls
    call_format = CallFormat("text" if wanted == "text" else "api")
    for number in range(1, 4):  # at most: the name of the limit, then tools, are learnt from a refusal
        try:
            answer = await _asked(client, name, env, call_format, number)
        except ContextOverflow as error:
            raise ValueError(f"the first page is too long for {name}: {error}") from error
        except ValueError as error:
            learnt = _learnt(call_format, wanted, str(error))
            if learnt is None:
                raise
            call_format = learnt
        else:
            break
    call_format = call_format._replace(answered_as=answer.model)
    if wanted == "auto" and call_format.tool_calls == "api" and not api_calls(answer.message, 0):
        raise ValueError(_in_words(name, answer))
    return call_format


async def _asked(client: LLMClient, name: str, env: Env, call_format: CallFormat, number: int) -> ApiResponse:
    place = RequestOrigin(name, "preflight", env.seat)
    seat = LlmPolicy(client.model(name), call_format, place, env.brief(env.seat))
    seat.conversation.add_observation(seat.text_of(env.observe()))
    answer = await client.complete(seat.model.request(call_format, seat.conversation, place, number))
    seat.model.count(seat.conversation, answer)
    return answer


def _learnt(call_format: CallFormat, wanted: str, refusal: str) -> CallFormat | None:
    """Another way of asking, where a refusal says that this one is not known."""
    if LIMITS[1] in refusal and call_format.limit != LIMITS[1]:
        return call_format._replace(limit=LIMITS[1])
    if (
        wanted == "auto"
        and call_format.tool_calls == "api"
        and "tool" in refusal.lower()
        and "it answered 4" in refusal
    ):
        return call_format._replace(tool_calls="text", why=f"the server refuses tools: {refusal}")
    return None


def _in_words(name: str, answer: ApiResponse) -> str:
    said = answer.message.get("content")
    hint = ", which holds a call that the server did not see" if isinstance(said, str) and text_calls(said) else ""
    cut = "; it was cut at --max-output-tokens" if answer.cut else ""
    return (
        f"the server took the tools, and {model_of(name)} answered its first page by text{hint}{cut}, so it is unclear "
        "how it calls them: choose --tool-calls text to have calls read from its text, or --tool-calls api if it will "
        "call by the API"
    )


def status(client: LLMClient, name: str) -> dict[str, Any]:
    """What a run notes of a model: what was asked for, and who answered how."""
    call_format = client.call_formats[name]
    return {
        "name": name,
        "asked": model_of(name),
        "answered_as": call_format.answered_as,
        "base_url": client.api.base_url,
        "tool_calls": call_format.tool_calls,
        "limit": call_format.limit,
        **({"why": call_format.why} if call_format.why else {}),
        "renderer": client.api.renderer,
        "decoding": client.api.decoding,
        "replayed": client.api.replay is not None,
    }


def restore_call_format(client: LLMClient, name: str, noted: dict[str, Any]) -> None:
    """Go on with what a run has noted."""
    client.call_formats[name] = CallFormat(
        noted["tool_calls"], noted["limit"], noted.get("why", ""), noted["answered_as"]
    )
