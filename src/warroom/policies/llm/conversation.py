"""The messages of one seat as a server is sent them, and how many tokens they can be at most."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from warroom.policies.llm.formats import ParsedCall, api_calls, api_message, introduction, said, sendable, text_calls

MessageDict = dict[str, Any]
OWN_TEXT = 512
"""Tokens that a server may add of its own: the system text of a chat template, the frame around tools."""
FORGOTTEN = "(Your earlier calls and their results were left out here: the conversation was too long for you.)"
REMINDER = "Your message called no tool. Call one now; a message without a call ends your part in the incident."
CUT = "Your message was cut at the longest that it may be, before it called a tool. Call one now, in fewer words."
WRONG = "Your call could not be read: {}."


class ApiConversation:
    """The first page, then rounds: what the model said, and what it was answered.

    A text is at most as many tokens as it has bytes, whatever the tokenizer. What a server has counted of the
    conversation is known better, so only what came after is estimated.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]], as_text: bool) -> None:
        self.tools, self.as_text = list(tools), as_text
        self.opening: MessageDict = {}
        self.rounds: list[list[MessageDict]] = []
        self._unanswered: list[ParsedCall] = []
        self._counted = (0, 0)
        """Messages that a server has counted, and their tokens."""

    @property
    def messages(self) -> list[MessageDict]:
        """All that is sent."""
        return [self.opening, *(message for round_ in self.rounds for message in round_)]

    def add_observation(self, text: str) -> None:
        """Take in what the seat is shown: the first page, or the answer to the oldest call that has none."""
        text = sendable(text)
        if not self.opening:
            text = f"{introduction(self.tools)}\n\n{text}" if self.as_text else text
            self.opening = {"role": "user", "content": text}
            return
        call = self._unanswered.pop(0)
        if call.wrong:
            text = f"{WRONG.format(call.wrong)}\n{text}"
        if not self.as_text:
            self.rounds[-1].append({"role": "tool", "tool_call_id": call.identity, "content": text})
        else:
            self._append_text(text)

    def add_model_message(self, message: Mapping[str, Any], number: int) -> list[ParsedCall]:
        """Take in what the model said and return its calls."""
        text = said(message)
        calls = text_calls(text) if self.as_text else api_calls(message, number)
        spoken = {"role": "assistant", "content": text or "(nothing)"} if self.as_text else api_message(message, calls)
        self.rounds.append([spoken])
        self._unanswered = list(calls)
        return calls

    def add_reminder(self, cut: bool) -> None:
        """Answer a message that called nothing."""
        self._append_text(CUT if cut else REMINDER)

    def _append_text(self, text: str) -> None:
        """As the user; what follows a user's message at once belongs to it, since servers want roles to alternate."""
        last = self.rounds[-1][-1]
        if last["role"] == "user":
            last["content"] += f"\n\n{text}"
        else:
            self.rounds[-1].append({"role": "user", "content": text})

    def drop_history(self) -> bool:
        """Leave out the older half of the rounds; False if there is nothing left to leave out."""
        if len(self.rounds) < 2:
            return False
        if not self.opening["content"].endswith(FORGOTTEN):
            self.opening = {**self.opening, "content": f"{self.opening['content']}\n\n{FORGOTTEN}"}
        self.rounds = self.rounds[(len(self.rounds) + 1) // 2 :]
        self._counted = (0, 0)
        return True

    def record_token_count(self, tokens: int) -> None:
        """Note that a server counted the messages that it was just sent."""
        self._counted = (len(self.messages), tokens)

    @property
    def frame(self) -> str:
        """What requests have in common that a server adds the same text to."""
        return json.dumps(None if self.as_text else self.tools)

    def bound(self, frame: int | None) -> int:
        """Prompt tokens that the messages can be at most; `frame` are those of a request with the same frame."""
        messages, tokens = self._counted
        if not messages:
            tokens = frame or OWN_TEXT + (0 if self.as_text else _bytes(self.tools))
        return tokens + sum(_bytes(message) for message in self.messages[messages:])


def _bytes(data: Any) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode())
