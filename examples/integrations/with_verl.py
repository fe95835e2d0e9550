"""Play a seat through verl's agent loop, token by token, and compare the rewards with an evaluation's scores.

    pip install warroom verl
    python examples/integrations/with_verl.py

The loop gets its tokens from a server of the script, in place of vLLM; verl itself merges and masks them.
"""

import asyncio
from typing import Any

import hydra
from omegaconf import OmegaConf
from scripted_model import ScriptedModel, check
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
from verl.experimental.agent_loop.agent_loop import DictConfigWrap, _agent_loop_registry
from verl.workers.rollout.replica import TokenOutput

import warroom

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:2]
SEAT = "manager"
BEGIN, END = "<|im_start|>", "<|im_end|>"
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A token for each byte, in the format of ChatML."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: k for k, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokens = {"eos_token": END, "additional_special_tokens": [BEGIN]}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, chat_template=TEMPLATE, **tokens)


class ScriptServer:
    """Generates the tokens of the script's next message."""

    def __init__(self, model: ScriptedModel, tokenizer: PreTrainedTokenizerFast) -> None:
        self.model, self.tokenizer = model, tokenizer

    async def generate(self, request_id: str, prompt_ids: list[int], **options: Any) -> TokenOutput:
        """The tokens, and log-probabilities of 0."""
        *turns, _ = str(self.tokenizer.decode(prompt_ids)).split(BEGIN)[1:]
        messages = [dict(zip(("role", "content"), turn.split("\n", 1), strict=True)) for turn in turns]
        tokens = self.tokenizer.encode(self.model.text(messages) + END)
        return TokenOutput(token_ids=tokens, log_probs=[0.0] * len(tokens))


def main() -> None:
    """Run the registered loop on a row of data for each incident."""
    rollout = {"prompt_length": 40_000, "response_length": 400_000}
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": rollout}, "data": {}})
    model, scores, tokenizer = ScriptedModel(SPECS, "expert", [SEAT]), {}, byte_tokenizer()
    for spec in SPECS:
        loop = hydra.utils.instantiate(
            _agent_loop_registry["warroom"],
            trainer_config=DictConfigWrap(config), data_config=DictConfigWrap(config.data),
            server_manager=ScriptServer(model, tokenizer), tokenizer=tokenizer, processor=None, dataset_cls=None,
        )  # fmt: skip
        row = {"raw_prompt": [], "extra_info": {"spec": spec, "seat": SEAT, "teammates": "expert"}}
        output = loop.loop.run_until_complete(loop.run({}, **row))
        written = [token for token, own in zip(output.response_ids, output.response_mask, strict=True) if own]
        print(f"{len(output.response_ids)} tokens, {len(written)} of the model: {tokenizer.decode(written)[:60]}...")
        assert len(output.response_logprobs or []) == len(output.response_ids)
        scores[spec] = output.reward_score
    check(model, scores)


if __name__ == "__main__":
    asyncio.set_event_loop(asyncio.new_event_loop())
    main()
