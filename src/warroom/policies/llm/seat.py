"""An API model at a seat: the same conversation as in training, message by message, through a server.

All calls of a message are played, in order. A message without one is answered by a reminder, since nobody has trained
these models to call a tool each time; once reminders are used up the seat's part ends, as it does for models of ours.
"""

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from warroom.core.errors import Unknown
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import environments
from warroom.policies.dialogue import Dialogue
from warroom.policies.llm import Place, model_of
from warroom.policies.llm.conversation import Conversation
from warroom.policies.llm.formats import Call
from warroom.policies.llm.ledger import Tokens
from warroom.policies.llm.requests import Answer, Decision, Overflow, Request
from warroom.policies.prompt import tool_schemas

if TYPE_CHECKING:
    from warroom.policies.llm.exchange import Exchange


class Model:
    """A model behind a server, shared by all seats that it plays."""

    def __init__(self, name: str, exchange: "Exchange") -> None:
        self.name, self.exchange = name, exchange
        self.frames: dict[str, int] = {}
        """By the tools that go with them: the fewest tokens that a request was counted, so at least its frame's."""

    def seat(self, place: Place, brief: Brief) -> "LlmSeat":
        """A fresh seat; how the model calls tools must have been said or found out."""
        decision, said = self.exchange.decisions.get(self.name), self.exchange.api.tool_calls
        if decision is None and said == "auto":
            raise ValueError(f"nobody has found out yet how {self.name} calls tools: choose api or text, or ask it")
        return LlmSeat(self, decision or Decision(said), place, brief)

    def promise(self, seat: "LlmSeat", observation: Observation) -> "Future[ToolCall]":
        """The next call of a seat, once there is one; its errors are those of `Exchange.complete`."""
        return self.exchange.run(seat.decide(observation))

    def answer(self, asked: Sequence[tuple["LlmSeat", Observation]]) -> list[ToolCall]:
        """The next call of each seat."""
        promises = [self.promise(seat, observation) for seat, observation in asked]
        return [promise.result() for promise in promises]

    def request(self, decision: Decision, conversation: Conversation, place: Place, number: int) -> Request:
        """What the server is sent next in a conversation."""
        api = self.exchange.api
        body: dict[str, Any] = {"model": model_of(self.name), "messages": conversation.messages}
        body[decision.limit] = api.max_output_tokens
        if api.temperature is not None:
            body["temperature"] = api.temperature
        if not conversation.as_text:
            body["tools"] = conversation.tools
        bound = conversation.bound(self.frames.get(conversation.frame))
        return Request(place, number, body, Tokens(bound, api.max_output_tokens))

    def count(self, conversation: Conversation, answer: Answer) -> None:
        """Note how many tokens the server counted of what it was sent."""
        if answer.tokens is not None:
            prompt, frame = answer.tokens.prompt, conversation.frame
            conversation.counted(prompt)
            self.frames[frame] = min(self.frames.get(frame, prompt), prompt)


class LlmSeat:
    """One seat of one episode."""

    def __init__(self, model: Model, decision: Decision, place: Place, brief: Brief) -> None:
        self.thinker, self.decision, self.place, self.brief = model, decision, place, brief
        name, spoken = model.exchange.api.language, environments()[brief.env].languages
        if name not in spoken:
            raise Unknown(f"language of {brief.env}", name, spoken)
        self.dialogue = Dialogue(spoken[name](brief))
        self.conversation = Conversation(tool_schemas(self.dialogue.language), decision.tool_calls == "text")
        self.requests = 0
        self.over = False
        """Whether the model has left the rest of the incident to its colleagues."""
        self._calls: list[Call] = []
        self._silent = 0
        """Messages without a call, the last ones in a row."""

    def act(self, observation: Observation) -> ToolCall:
        """The model's next call."""
        return self.thinker.answer([(self, observation)])[0]

    async def decide(self, observation: Observation) -> ToolCall:
        """The model's next call, after as many requests as it takes."""
        if not self.over:
            self.conversation.hear(self.dialogue.see(observation))
        while not self._calls and not self.over:
            await self._ask()
        if self.over:
            return self.brief.idle
        call = self._calls.pop(0)
        return self.dialogue.call(call.name, call.arguments)

    async def _ask(self) -> None:
        """One message of the model's."""
        exchange, conversation = self.thinker.exchange, self.conversation
        self.requests += 1
        request = self.thinker.request(self.decision, conversation, self.place, self.requests)
        try:
            self._take(await exchange.complete(request))
        except Overflow:
            exchange.ledger.note("overflow", self.place)
            if not conversation.forget():
                self._leave("overflow")

    def _take(self, answer: Answer) -> None:
        exchange = self.thinker.exchange
        self.thinker.count(self.conversation, answer)
        self._calls = self.conversation.say(answer.message, self.requests)
        for call in self._calls:
            if call.wrong:
                exchange.ledger.note("unreadable", self.place, why=call.wrong)
        self._silent = 0 if self._calls else self._silent + 1
        if self._silent > exchange.api.reminders:
            self._leave("silence")
        elif self._silent:
            exchange.ledger.note("reminder", self.place, cut=answer.cut)
            self.conversation.remind(answer.cut)

    def _leave(self, why: str) -> None:
        self.over = True
        self.thinker.exchange.ledger.note("left", self.place, why=why)
