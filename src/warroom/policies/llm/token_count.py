"""What a request cost: as the server counts, unless that is less than the text itself must have been.

A cap that believed every count would be no cap with a server that reports nothing, or too little.
"""

from collections.abc import Mapping
from typing import NamedTuple

from warroom.core.messages import MessageDict, text_of
from warroom.policies.llm.ledger import Tokens
from warroom.policies.llm.requests import ApiResponse, Request

BYTES_PER_TOKEN = 4
"""Of an estimate: English prose has a few more, what an observation is made of has fewer."""
MAX_DISPARITY = 2
"""A count that is smaller than the estimate by more than this factor is not one of these texts."""
MAX_TOKENS = 2**53
"""More than any request has; JSON allows numbers that no sum can hold."""


class TokenCount(NamedTuple):
    """What a request counts as."""

    tokens: Tokens
    """At least the estimate."""
    believed: bool
    """Whether the server's own count was near enough; if not, the worst case counts."""


def count_tokens(request: Request, answer: ApiResponse) -> TokenCount:
    """The larger of the server's count and an estimate from the text; the worst case if the count cannot be right."""
    reported = answer.reported
    prompt = sum(map(_estimate, request.body["messages"]))
    estimated = Tokens(prompt, _estimate(answer.message))
    if reported is None or any(
        said * MAX_DISPARITY < own or said > MAX_TOKENS for said, own in zip(reported, estimated, strict=True)
    ):
        return TokenCount(request.worst, False)
    return TokenCount(Tokens(*map(max, reported, estimated)), True)


def _estimate(message: MessageDict) -> int:
    """Tokens of a message's text and calls, without the frame that a server puts around them."""
    calls = message.get("tool_calls")
    functions = [call.get("function") for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    texts = [str(function.get(part) or "") for function in functions if isinstance(function, Mapping)
             for part in ("name", "arguments")]  # fmt: skip
    return len("".join([text_of(message), *texts]).encode(errors="replace")) // BYTES_PER_TOKEN
