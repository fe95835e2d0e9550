"""A model at a seat: token for token the conversation that it was trained in.

The prompt is the chat template of the first message, what the model writes is kept as it is, and what it is answered is
appended as the template renders it: nothing is ever rendered and read again. A message without a call, and a
conversation that is as long as those of the training, leave the rest of the incident to the colleagues.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from warroom.core.errors import UnknownName
from warroom.core.types import Brief, Observation, ToolCall
from warroom.envs import environments
from warroom.policies.checkpoint import Checkpoint
from warroom.policies.dialogue import Dialogue
from warroom.policies.generation import GenerationRequest, LikelihoodQuery, generate, is_small, log_likelihoods
from warroom.policies.prompt import read_message, tool_schemas

MessageDict = dict[str, Any]
UNKNOWN_SHARE = 0.5
"""Share of a first message's tokens that a tokenizer may not know; above it the manifest names a wrong renderer."""


class HfPolicy:
    """One seat of one episode."""

    def __init__(self, model: "HfModel", temperature: float, brief: Brief, draws: Random) -> None:
        self.thinker, self.brief, self.temperature, self.draws = model, brief, temperature, draws
        self.dialogue = Dialogue(model.renderer(brief.env)(brief))
        self.tools = tool_schemas(self.dialogue.renderer)
        self.ids: list[int] = []
        """The whole conversation so far."""
        self.prompt = 0
        """Tokens of its first message."""
        self.over = False
        """Whether the model has said its last."""
        self._calls: list[MessageDict] = []
        self._results: list[MessageDict] = []

    def act(self, observation: Observation) -> ToolCall:
        """The model's next call."""
        return self.thinker.answer([(self, observation)])[0]

    def observe(self, observation: Observation) -> ToolCall | None:
        """Take in what the seat is shown; None if the model has to write before there is a call."""
        if self.over:
            return self.brief.noop_call
        self.dialogue.add_observation(observation)
        if not self.ids:
            self.ids = self.thinker.opening(self.dialogue.messages, self.tools)
            self.prompt = len(self.ids)
            return None
        self._results.append(self.dialogue.messages[-1])
        if self._calls:
            return self._next()
        suffix, self._results = self.thinker.suffix(self._results), []
        longer = len(self.ids) + len(suffix)
        if longer - self.prompt >= self.thinker.longest or longer >= self.thinker.positions:
            self.over = True
            return self.brief.noop_call
        self.ids = self.ids + suffix
        return None

    def generation_request(self) -> GenerationRequest:
        """The conversation as it waits for the model."""
        max_new_tokens = min(self.thinker.turn_tokens, self.thinker.longest - (len(self.ids) - self.prompt))
        return GenerationRequest(self.ids, max_new_tokens, self.temperature, self.draws)

    def parse_output(self, written: list[int]) -> ToolCall:
        """What the model's words mean; several calls of one message are played one after another."""
        message = read_message(self.thinker.tokenizer, written, self.ids, self.tools) if written else {}
        self._calls = list(message.get("tool_calls", ()))
        self.ids = self.ids + written
        if not self._calls:
            self.over = True
            return self.brief.noop_call
        return self._next()

    def _next(self) -> ToolCall:
        function = self._calls.pop(0)["function"]
        return self.dialogue.call(function["name"], function["arguments"])


class HfModel:
    """A loaded model, shared by all seats that it plays."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint, self.status, self.tokenizer = checkpoint, checkpoint.status, checkpoint.tokenizer
        manifest = checkpoint.manifest
        self.longest = int(manifest["max_completion_length"])
        self.turn_tokens = int(manifest["turn_tokens"])
        self.positions = int(checkpoint.model.config.max_position_embeddings)
        self.watch: Callable[[Sequence[HfPolicy]], None] | None = None
        """Told which seats are about to have the model write."""
        self._prefixes: dict[str, list[int]] = {}

    def answer(self, asked: Sequence[tuple[HfPolicy, Observation]]) -> list[ToolCall]:
        """The next call of each seat."""
        observed = [seat.observe(observation) for seat, observation in asked]
        waiting = [seat for (seat, _), call in zip(asked, observed, strict=True) if call is None]
        if self.watch is not None and waiting:
            self.watch(waiting)
        outputs = iter(self.write([seat.generation_request() for seat in waiting]))
        return [
            seat.parse_output(next(outputs)) if call is None else call
            for (seat, _), call in zip(asked, observed, strict=True)
        ]

    def write(self, rows: Sequence[GenerationRequest]) -> list[list[int]]:
        """What the model writes next in each conversation."""
        return generate(self.checkpoint.model, rows, self.tokenizer.pad_token_id, self.checkpoint.ends)

    def likelihoods(self, queries: Sequence[LikelihoodQuery]) -> list[list[float]]:
        """Log-probabilities of given ways to go on."""
        return log_likelihoods(self.checkpoint.model, queries, self.tokenizer.pad_token_id)

    @property
    def small(self) -> bool:
        """Whether every process may hold a copy of it."""
        return is_small(self.checkpoint.model)

    def renderer(self, env: str) -> Callable[[Brief], Any]:
        """The renderer that it was trained with, of this environment."""
        name, spoken = self.checkpoint.manifest["renderer"], environments()[env].renderers
        if name not in spoken:
            raise UnknownName(f"renderer of {env}", name, spoken)
        return spoken[name]

    def render(self, messages: Sequence[MessageDict], prompt: bool, tools: Sequence[Any] = ()) -> list[int]:
        """Token ids of messages; with `prompt`, up to where the model goes on."""
        found: Mapping[str, list[int]] = self.tokenizer.apply_chat_template(
            list(messages), tools=list(tools) or None, add_generation_prompt=prompt, tokenize=True, return_dict=True
        )
        return list(found["input_ids"])

    def opening(self, messages: Sequence[MessageDict], tools: Sequence[Any]) -> list[int]:
        """The prompt of a conversation."""
        ids = self.render(messages, True, tools)
        if len(ids) >= self.positions:
            raise ValueError(f"the first page is {len(ids)} tokens long, and the model reads {self.positions}")
        strange = self.tokenizer.unk_token_id
        if strange is not None and ids.count(strange) > UNKNOWN_SHARE * len(ids):
            renderer = self.checkpoint.manifest["renderer"]
            raise ValueError(
                f"{self.status['path']} does not know the words of {renderer!r}: {ids.count(strange)} of {len(ids)} "
                "tokens are unknown to it; its warroom.json is missing, or names another renderer"
            )
        return ids

    def suffix(self, results: Sequence[MessageDict]) -> list[int]:
        """What follows the model's words when its calls were answered, as the trainer computes it."""
        name = results[0]["name"]
        call = {"type": "function", "function": {"name": name, "arguments": {}}}
        before: list[MessageDict] = [
            {"role": "user", "content": "dummy"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
        ]
        if name not in self._prefixes:
            ids, end = self.render(before, False), self.tokenizer.eos_token_id
            # Some templates write a line break after the end mark, which the model itself never does.
            self._prefixes[name] = ids[: len(ids) - ids[::-1].index(end)] if end in ids else ids
        prefix, whole = self._prefixes[name], self.render([*before, *results], True)
        if whole[: len(prefix)] != prefix:
            raise ValueError(
                f"the chat template of {self.status['path']} changes what was said when a result follows; "
                "save the model with the template that it was trained with"
            )
        return whole[len(prefix) :]
