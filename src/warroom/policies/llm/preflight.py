"""One request before a run: whether the server is there, accepts the key, knows the model, and how it calls tools.

What is found is recorded in the run and does not change while it goes.
"""

from typing import Any

from warroom.core.env import Env
from warroom.core.messages import parse_calls, text_of
from warroom.policies.llm import PREFLIGHT, RequestOrigin, model_of
from warroom.policies.llm.client import LLMClient
from warroom.policies.llm.llm_policy import LlmPolicy
from warroom.policies.llm.requests import LIMITS, ApiResponse, CallFormat, ContextOverflow
from warroom.policies.llm.text_calls import parse_text_calls


def detect_call_format(client: LLMClient, name: str, env: Env) -> CallFormat:
    """Ask for the first call of this incident's first seat, and keep how the model is to be asked.

    The answer is not played. A `ValueError` says what is wrong with the server, the key, the model or the way of
    calling tools; `env` is not changed.
    """
    client.call_formats[name] = client.run(_detect(client, name, env)).result()
    return client.call_formats[name]


async def _detect(client: LLMClient, name: str, env: Env) -> CallFormat:
    option = client.api.tool_calls
    call_format = CallFormat("text" if option == "text" else "api")
    for number in range(1, 4):  # at most: the name of the limit, then tools, are learnt from a refusal
        try:
            answer = await _ask(client, name, env, call_format, number)
        except ContextOverflow as error:
            raise ValueError(f"the first observation is too long for {name}: {error}") from error
        except ValueError as error:
            learnt = _learn(call_format, option, str(error))
            if learnt is None:
                raise
            call_format = learnt
        else:
            break
    if option == "auto" and call_format.tool_calls == "api" and not parse_calls(answer.message):
        raise ValueError(_explain_text_answer(name, answer))
    return call_format._replace(answered_as=answer.model)


async def _ask(client: LLMClient, name: str, env: Env, call_format: CallFormat, number: int) -> ApiResponse:
    policy = LlmPolicy(client.model(name), call_format, RequestOrigin(name, PREFLIGHT, env.seat), env.brief(env.seat))
    policy.conversation.add_observation(env.observe())
    policy.requests = number - 1
    answer = await client.complete(policy.next_request())
    policy.model.count(policy.view, answer)
    return answer


def _learn(call_format: CallFormat, option: str, refusal: str) -> CallFormat | None:
    """Another way of asking, where a refusal says that this one is not known."""
    if LIMITS[1] in refusal and call_format.limit != LIMITS[1]:
        return call_format._replace(limit=LIMITS[1])
    refuses_tools = "tool" in refusal.lower() and "it answered 4" in refusal
    if option == "auto" and call_format.tool_calls == "api" and refuses_tools:
        return call_format._replace(tool_calls="text", why=f"the server refuses tools: {refusal}")
    return None


def _explain_text_answer(name: str, answer: ApiResponse) -> str:
    has_call = parse_text_calls(text_of(answer.message))
    hint = ", which holds a call that the server did not recognise" if has_call else ""
    truncated = "; it was cut at --max-output-tokens" if answer.truncated else ""
    return (
        f"the server accepted the tools, and {model_of(name)} answered the first observation by text{hint}{truncated}, "
        "so it is unclear how it calls them: choose --tool-calls text to have calls read from its text, or "
        "--tool-calls api if it will call by the API"
    )


def status(client: LLMClient, name: str) -> dict[str, Any]:
    """What a run records of a model: what was asked for, and what answered."""
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


def restore_call_format(client: LLMClient, name: str, recorded: dict[str, Any]) -> None:
    """Go on with what a run has recorded."""
    client.call_formats[name] = CallFormat(
        recorded["tool_calls"], recorded["limit"], recorded.get("why", ""), recorded["answered_as"]
    )
