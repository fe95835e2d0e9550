"""An API model at a seat: the same conversation as in training, message by message, through a server.

All calls of a message are played, in order. A message without one is answered by a reminder, since nobody has trained
these models to call a tool each time; once reminders are used up the seat's part ends, as it does for models of ours.
"""

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from warroom.core.errors import UnknownName
from warroom.core.messages import tool_schema
from warroom.core.policy import AsyncPolicy
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import environments
from warroom.policies.llm import RequestOrigin, model_of
from warroom.policies.llm.conversation import ApiConversation
from warroom.policies.llm.formats import ParsedCall, said
from warroom.policies.llm.ledger import Tokens
from warroom.policies.llm.requests import ApiResponse, CallFormat, ContextOverflow, Request

if TYPE_CHECKING:
    from warroom.policies.llm.client import LLMClient


class LlmModel:
    """A model behind a server, shared by all seats that it plays."""

    def __init__(self, name: str, client: "LLMClient") -> None:
        self.name, self.client = name, client
        self.frames: dict[str, int] = {}
        """By the tools that go with them: the fewest tokens that a request was counted, so at least its frame's."""

    def seat(self, place: RequestOrigin, brief: Brief) -> "LlmPolicy":
        """A fresh seat; how the model calls tools must have been said or found out."""
        call_format, said = self.client.call_formats.get(self.name), self.client.api.tool_calls
        if call_format is None and said == "auto":
            raise ValueError(f"nobody has found out yet how {self.name} calls tools: choose api or text, or ask it")
        return LlmPolicy(self, call_format or CallFormat(said), place, brief)

    def request(
        self, call_format: CallFormat, conversation: ApiConversation, place: RequestOrigin, number: int
    ) -> Request:
        """What the server is sent next in a conversation."""
        api = self.client.api
        body: dict[str, Any] = {"model": model_of(self.name), "messages": conversation.messages}
        body[call_format.limit] = api.max_output_tokens
        if api.temperature is not None:
            body["temperature"] = api.temperature
        if not conversation.as_text:
            body["tools"] = conversation.tools
        bound = conversation.bound(self.frames.get(conversation.frame))
        return Request(place, number, body, Tokens(bound, api.max_output_tokens))

    def count(self, conversation: ApiConversation, answer: ApiResponse) -> None:
        """Note how many tokens the server counted of what it was sent."""
        if answer.tokens is not None:
            prompt, frame = answer.tokens.prompt, conversation.frame
            conversation.record_token_count(prompt)
            self.frames[frame] = min(self.frames.get(frame, prompt), prompt)


class LlmPolicy(AsyncPolicy):
    """One seat of one episode."""

    def __init__(self, model: LlmModel, call_format: CallFormat, place: RequestOrigin, brief: Brief) -> None:
        self.model, self.call_format, self.place, self.brief = model, call_format, place, brief
        name, spoken = model.client.api.renderer, environments()[brief.env].renderers
        if name not in spoken:
            raise UnknownName(f"renderer of {brief.env}", name, spoken)
        self.renderer = spoken[name](brief)
        self.conversation = ApiConversation(
            [tool_schema(schema) for schema in self.renderer.tool_schemas(closed=True)],
            call_format.tool_calls == "text",
        )
        self.requests = 0
        self.over = False
        """Whether the model has left the rest of the incident to its colleagues."""
        self._calls: list[ParsedCall] = []
        self._messages_without_call = 0
        """Messages without a call, the last ones in a row."""
        self._last_message = ""

    @property
    def last_message(self) -> str:
        """The text that the model wrote beside its last call; empty for a further call of the same message."""
        return self._last_message

    def submit(self, observation: Observation) -> Future[ToolCall]:
        """Ask for the model's next call; its errors are those of `LLMClient.complete`."""
        return self.model.client.run(self.next_call(observation))

    async def next_call(self, observation: Observation) -> ToolCall:
        """The model's next call, after as many requests as it takes."""
        self._last_message = ""
        if not self.over:
            self.conversation.add_observation(self.text_of(observation))
        while not self._calls and not self.over:
            await self._ask()
        if self.over:
            return self.brief.noop_call
        call = self._calls.pop(0)
        return self.renderer.parse_call(call.name, call.arguments)

    def text_of(self, observation: Observation) -> str:
        """What the model reads; the brief stands before the first observation."""
        text = self.renderer.render_observation(observation)
        return text if self.conversation.opening else f"{self.renderer.opening()}\n{text}"

    async def _ask(self) -> None:
        """One message of the model's."""
        client, conversation = self.model.client, self.conversation
        self.requests += 1
        request = self.model.request(self.call_format, conversation, self.place, self.requests)
        try:
            self._handle_response(await client.complete(request))
        except ContextOverflow:
            client.ledger.note("overflow", self.place)
            if not conversation.drop_history():
                self._end_play("overflow")

    def _handle_response(self, answer: ApiResponse) -> None:
        client = self.model.client
        self.model.count(self.conversation, answer)
        self._last_message = said(answer.message)
        self._calls = self.conversation.add_model_message(answer.message, self.requests)
        for call in self._calls:
            if call.wrong:
                client.ledger.note("unreadable", self.place, why=call.wrong)
        self._messages_without_call = 0 if self._calls else self._messages_without_call + 1
        if self._messages_without_call > client.api.reminders:
            self._end_play("silence")
        elif self._messages_without_call:
            client.ledger.note("reminder", self.place, cut=answer.cut)
            self.conversation.add_reminder(answer.cut)

    def _end_play(self, why: str) -> None:
        self.over = True
        self.model.client.ledger.note("left", self.place, why=why)
