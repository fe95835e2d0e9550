"""Checks before any training: that the model is shown its tools, is understood, and has room to play an incident."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from warroom.core.env import Env
from warroom.core.policy import Policy
from warroom.core.scenario import TIERS
from warroom.core.schemas import tool_schemas
from warroom.core.splits import Split, seed_of
from warroom.core.types import Observation, ToolCall
from warroom.policies import PolicySet, policy_names, policy_set
from warroom.policies.prompt import read_message
from warroom.train.config import SNAPSHOT, TrainConfig
from warroom.train.curriculum import Curriculum, parse_multiplier
from warroom.train.seat import Host, Rollout, SeatRollout
from warroom.train.tools import multiplier_option

OK, WARN, FAIL = "ok", "warn", "fail"
SAMPLE_TEXT = 'all well; "it" is fixed'
"""A message with the letters that a parser trips over."""
MAX_UNKNOWN_SHARE = 0.02
"""Share of a prompt's tokens that a tokenizer may not know."""


class PreflightCheck(NamedTuple):
    """What one check found."""

    name: str
    status: str
    """`ok`, `warn` or `fail`."""
    sentence: str


@dataclass(frozen=True)
class PreflightReport:
    """All checks, and one prompt as the model reads it."""

    checks: tuple[PreflightCheck, ...]
    prompt: str

    def render(self) -> str:
        """The checks, one a line."""
        return "\n".join(f"{check.status:>4}  {check.name}: {check.sentence}" for check in self.checks)

    def require(self) -> None:
        """Raise a `ValueError` that names every failed check."""
        failed = [f"{check.name}: {check.sentence}" for check in self.checks if check.status == FAIL]
        if failed:
            raise ValueError("training would fail or teach nothing; " + "; ".join(failed))


def preflight(
    config: TrainConfig,
    model: Any,
    tokenizer: Any,
    incidents: int = 2,
    sampled_groups: int = 0,
    host: Host | None = None,
) -> PreflightReport:
    """Check a run before it begins.

    `incidents` per tier and seat are played by scripts to measure lengths, always in this process: `host_check` says
    whether a host plays the same. `sampled_groups` groups, if any, are played by the model itself where the run will
    play, which takes as long as that part of a training step.
    """
    rollouts = list(_openings(config))
    checks = [
        _prompt_check(config, tokenizer, rollouts),
        _parser_check(tokenizer, rollouts),
        _prefix_check(tokenizer),
        _end_check(config),
    ]
    readable = all(check.status != FAIL for check in checks)
    if readable:
        checks += _length_checks(config, model, tokenizer, incidents)
    if readable and sampled_groups:
        checks.append(_variance_check(config, model, tokenizer, sampled_groups, host))
    return PreflightReport(tuple(checks), tokenizer.decode(prompt_ids(tokenizer, rollouts[0])))


# -- who plays the incidents ---------------------------------------------------------------------------------


def host_check(config: TrainConfig, host: Host) -> PreflightCheck:
    """That a host plays the incidents of a run as this process does: every scenario, tier and seat at least once.

    What the host refuses is its own error, and that a model plays its own colleagues is a `ValueError`.
    """
    if config.teammates == SNAPSHOT:
        raise ValueError(
            f"--teammates {SNAPSHOT} is the model itself, which no server has; name scripts, or leave --server out"
        )
    curriculum, ends = Curriculum(config), parse_multiplier(config.rogue_multiplier)
    axes = curriculum.scenarios, _tiers(curriculum), tuple(dict.fromkeys(curriculum.seats)), ends
    played = max(map(len, axes))
    others = _policy_set(config)
    for number in range(played):
        scenario, tier, seat, multiplier = (axis[number % len(axis)] for axis in axes)
        options = {**config.options, **multiplier_option(config.env, float(multiplier))}
        incident = str(scenario), str(tier), seed_of(Split.TRAIN, number)
        there = Rollout(str(seat), host.place(str(seat), *incident, options))
        here = SeatRollout(*incident, str(seat), others, config.language, options)
        if _end_of(there) != _end_of(here):
            sentence = f"{scenario} {tier} goes another way there than in this process"
            models = f"; {config.teammates} may round otherwise on another machine" if others.models else ""
            wrong = f"{sentence}{models or ', so it is not the same Warroom: install one version on both sides'}"
            return PreflightCheck("server", WARN if models else FAIL, wrong)
    return PreflightCheck("server", OK, f"{played} incidents are played there as in this process, hash for hash")


def _end_of(rollout: Rollout) -> tuple[str, float, dict[str, float], str]:
    """What a seat is shown first, and what comes of its leaving at once."""
    return rollout.opening(), rollout.reward(), dict(rollout.terms()), rollout.trajectory_hash()


# -- what the model reads and writes ----------------------------------------------------------------------


def _policy_set(config: TrainConfig) -> PolicySet:
    """Colleagues of the rehearsals: scripts, since a snapshot has not been taken yet."""
    return policy_set(config.env, "expert" if config.teammates == SNAPSHOT else config.teammates)


def _openings(config: TrainConfig) -> Iterator[SeatRollout]:
    curriculum = Curriculum(config)
    for seat in dict.fromkeys(curriculum.seats):
        yield _rollout(config, curriculum.scenarios[0], "easy", seed_of(Split.TRAIN, 0), seat)


def _rollout(config: TrainConfig, scenario: str, tier: str, seed: int, seat: str) -> SeatRollout:
    rollout = SeatRollout(scenario, tier, seed, seat, _policy_set(config), config.language, config.options)
    rollout.opening()
    return rollout


def prompt_ids(tokenizer: Any, rollout: SeatRollout) -> list[int]:
    """The tokens that a rollout begins with."""
    return _render(tokenizer, rollout.dialogue.messages[:1], rollout, prompt=True)


def _render(tokenizer: Any, messages: Sequence[Any], rollout: SeatRollout | None, prompt: bool) -> list[int]:
    tools = None if rollout is None else tool_schemas(rollout.dialogue.renderer)
    ids: list[int] = tokenizer.apply_chat_template(
        list(messages), tools=tools, add_generation_prompt=prompt, tokenize=True, return_dict=False
    )
    return ids


def _text(tokenizer: Any, rollout: SeatRollout, tools: Any) -> str:
    return str(tokenizer.apply_chat_template(rollout.dialogue.messages[:1], tools=tools, tokenize=False))


def call_tokens(tokenizer: Any, name: str, arguments: dict[str, Any]) -> list[int]:
    """The tokens in which a model makes a call: what the template writes for it, up to the end of the message."""
    user = {"role": "user", "content": "dummy"}
    call = {"type": "function", "function": {"name": name, "arguments": arguments}}
    before = _render(tokenizer, [user], None, prompt=True)
    ids = _render(tokenizer, [user, {"role": "assistant", "content": "", "tool_calls": [call]}], None, prompt=False)
    if ids[: len(before)] != before:
        raise ValueError("the chat template opens an answer in another way than it shows one; choose another model")
    end = tokenizer.eos_token_id
    return ids[len(before) : len(ids) - ids[::-1].index(end)] if end in ids[len(before) :] else ids[len(before) :]


def _prompt_check(config: TrainConfig, tokenizer: Any, rollouts: Sequence[SeatRollout]) -> PreflightCheck:
    """That every tool's name is in the prompt, and that the tokenizer knows the words of the language."""
    absent, unknown, total = [], 0, 0
    for rollout in rollouts:
        ids = prompt_ids(tokenizer, rollout)
        unknown, total = unknown + ids.count(tokenizer.unk_token_id), total + len(ids)
        shown, without = (_text(tokenizer, rollout, tools) for tools in (tool_schemas(rollout.dialogue.renderer), None))
        names = [schema["name"] for schema in rollout.dialogue.renderer.tool_schemas()]
        # A page may hold a tool's name as well: what counts is what the tools add.
        absent += [name for name in names if shown.count(name) <= without.count(name)]
    if unknown > MAX_UNKNOWN_SHARE * total:
        return PreflightCheck(
            "prompt", FAIL, f"the tokenizer does not know {unknown} of {total} tokens of {config.language}"
        )
    if not absent:
        return PreflightCheck("prompt", OK, f"every tool of {len(rollouts)} seats is in its prompt")
    if config.language == "shorthand":
        return PreflightCheck("prompt", WARN, "the template shows no schemas; the model has to know its tools already")
    return PreflightCheck("prompt", FAIL, f"the template does not show the tools {', '.join(sorted(set(absent)))}")


def _parser_check(tokenizer: Any, rollouts: Sequence[SeatRollout]) -> PreflightCheck:
    """That a call of every tool, written as the template writes it, is read as that call."""
    from trl.chat_template_utils import add_response_schema

    if getattr(tokenizer, "response_template", None) is None:
        try:
            add_response_schema(tokenizer)  # as the trainer would
        except ValueError as error:
            return PreflightCheck("parser", FAIL, f"calls in this chat template cannot be read: {error}")
    try:
        wrong, count = _misread(tokenizer, rollouts)
    except ValueError as error:
        return PreflightCheck("parser", FAIL, str(error))
    if wrong:
        return PreflightCheck("parser", FAIL, f"calls are not read as they were written: {', '.join(wrong)}")
    return PreflightCheck("parser", OK, f"calls of all {count} tools are read as they were written")


def _misread(tokenizer: Any, rollouts: Sequence[SeatRollout]) -> tuple[list[str], int]:
    """Tools whose calls are read as others, and how many tools were tried."""
    wrong, count = [], 0
    for rollout in rollouts:
        language, before = rollout.dialogue.renderer, prompt_ids(tokenizer, rollout)
        for schema in rollout.env.brief(rollout.seat).tools:
            name, arguments = language.format_call(_example(schema))
            written = call_tokens(tokenizer, name, arguments)
            read = read_message(tokenizer, written, before, tool_schemas(language)).get("tool_calls", [])
            count += 1
            if [call["function"] for call in read] != [{"name": name, "arguments": arguments}]:
                wrong.append(f"{rollout.seat}'s {name}")
    return wrong, count


def _example(schema: dict[str, Any]) -> ToolCall:
    def value(name: str, field: dict[str, Any]) -> Any:
        if "enum" in field:
            return field["enum"][0]
        return {"string": SAMPLE_TEXT, "integer": 2, "number": 0.5, "boolean": True, "array": [SAMPLE_TEXT]}[
            field["type"]
        ]

    properties = schema["parameters"]["properties"]
    return ToolCall(schema["name"], {name: value(name, field) for name, field in properties.items()})


def _prefix_check(tokenizer: Any) -> PreflightCheck:
    from trl.chat_template_utils import get_training_chat_template, is_chat_template_prefix_preserving

    if is_chat_template_prefix_preserving(tokenizer):
        return PreflightCheck("prefix", OK, "the template leaves what was said before as it was")
    try:
        get_training_chat_template(tokenizer)
    except ValueError as error:
        return PreflightCheck("prefix", FAIL, f"the template changes what was said before a result: {error}")
    return PreflightCheck(
        "prefix", WARN, "the template changes what was said before; TRL's own version of it takes its place"
    )


# -- how long a conversation gets --------------------------------------------------------------------------


class Length(NamedTuple):
    """Tokens of one conversation."""

    prompt: int
    rest: int
    """After the first page, results included."""
    turn: int
    """The longest message of the seat."""


def _length_checks(config: TrainConfig, model: Any, tokenizer: Any, incidents: int) -> list[PreflightCheck]:
    """Worst cases per seat of good, naive and slow play, against what the run and the model allow."""
    curriculum = Curriculum(config)
    scenarios, tiers = curriculum.scenarios, _tiers(curriculum)
    played = [(scenarios[k % len(scenarios)], tiers[k % len(tiers)], k) for k in range(incidents * len(tiers))]
    checks = []
    for seat in dict.fromkeys(curriculum.seats):
        lengths = {
            policy: [conversation(config, tokenizer, *incident, seat, policy) for incident in played]
            for policy in _players(config)
        }
        checks.append(_length_check(config, int(model.config.max_position_embeddings), seat, lengths))
    return checks


def _tiers(curriculum: Curriculum) -> tuple[str, ...]:
    """The tiers that a run may play."""
    return TIERS if curriculum.adaptive else tuple(dict.fromkeys(stage.tier for stage in curriculum.schedule.stages))


def _players(config: TrainConfig) -> tuple[str, ...]:
    return (*[name for name in ("expert", "heuristic") if name in policy_names(config.env)], "reader")


def _length_check(config: TrainConfig, positions: int, seat: str, lengths: dict[str, list[Length]]) -> PreflightCheck:
    worst = {policy: max(one.rest for one in played) for policy, played in lengths.items()}
    played = [one for ones in lengths.values() for one in ones]
    whole = max(one.prompt + min(one.rest, config.max_completion_length) for one in played)
    turn = max(one.turn for one in played)
    words = ", ".join(f"{policy} {tokens}" for policy, tokens in worst.items())
    good, name = next(iter(worst.values())), f"length of {seat}"
    if whole >= positions:
        return PreflightCheck(
            name, FAIL, f"a conversation takes {whole} tokens, and the model has {positions} positions"
        )
    if turn > config.turn_tokens:
        return PreflightCheck(name, FAIL, f"a message takes {turn} tokens, above turn_tokens {config.turn_tokens}")
    if good > config.max_completion_length:
        return PreflightCheck(
            name, FAIL, f"worst cases ({words}) pass max_completion_length {config.max_completion_length}"
        )
    slow = max(worst.values()) > config.max_completion_length
    above = f"slow play is cut at max_completion_length {config.max_completion_length}" if slow else "all fit"
    return PreflightCheck(
        name,
        WARN if slow else OK,
        f"worst cases in tokens: {words}; prompt {max(one.prompt for one in played)}; {above}",
    )


def conversation(
    config: TrainConfig, tokenizer: Any, scenario: str, tier: str, index: int, seat: str, policy: str
) -> Length:
    """The length of a conversation in which a script plays the seat."""
    rollout = _rollout(config, scenario, tier, seed_of(Split.TRAIN, index), seat)
    player: Policy = (
        VerbosePolicy(rollout.env, seat)
        if policy == "reader"
        else policy_set(config.env, policy).seat(rollout.env, seat)
    )
    prompt, longest = len(prompt_ids(tokenizer, rollout)), 0
    while not rollout.done:
        name, arguments = rollout.dialogue.renderer.format_call(player.act(rollout.env.observe()))
        longest = max(longest, len(call_tokens(tokenizer, name, arguments)))
        rollout.call(name, arguments)
    rest = len(_render(tokenizer, rollout.dialogue.messages[1:], None, prompt=True))
    return Length(prompt, rest, longest)


class VerbosePolicy:
    """Reads all that it may in every turn, talks, and waits: the longest conversation that an incident can give."""

    def __init__(self, env: Env, seat: str) -> None:
        self.env, brief = env, env.brief(seat)
        looks = [schema for schema in brief.tools if schema["name"] not in brief.acts]
        self.looks = [
            ToolCall(schema["name"], {key: choice})
            for schema in looks
            for key, field in schema["parameters"]["properties"].items()
            for choice in field.get("enum", ())
        ]
        self.noop_call, self.made = brief.noop_call, 0

    def act(self, observation: Observation) -> ToolCall:
        """The next look, or after the last one of a turn the idle act."""
        if not self.looks or self.env.reads >= self.env.READS_PER_TURN:
            return self.noop_call
        self.made += 1
        return self.looks[self.made % len(self.looks)]


# -- the end, and what there is to learn --------------------------------------------------------------------


def _end_check(config: TrainConfig) -> PreflightCheck:
    rollout = next(_openings(config))
    reward, name = rollout.reward(), rollout.env.brief(rollout.seat).acts[0]
    texts = {rollout.call(name, {}) for _ in range(2)}
    if len(texts) > 1 or rollout.reward() != reward:
        return PreflightCheck("end", FAIL, f"calls after the end change something: {sorted(texts)}")
    return PreflightCheck("end", OK, f"a call after the end changes nothing and is answered {texts.pop()!r}")


def _variance_check(config: TrainConfig, model: Any, tokenizer: Any, groups: int, host: Host | None) -> PreflightCheck:
    """The share of groups in which all rollouts earn the same: from those nothing is learnt."""
    from accelerate.utils import is_peft_model

    from warroom.train.grpo import make_trainer

    tier = Curriculum(config).rows(0)[0]["tier"]
    # Without the reference, which an adapter would keep: the model is to be left as it was.
    brief = replace(config, curriculum=f"{tier}:1", groups=groups, micro_batch=0, report_to=(), beta=0.0)
    inner = model.get_base_model() if is_peft_model(model) else model
    before = vars(inner).get("forward")
    with tempfile.TemporaryDirectory() as folder:
        step = make_trainer(brief, Path(folder), model, tokenizer, host=host).dry_run()
    vars(inner).pop("forward", None)  # TRL's own, whose copies would call this very model
    if before is not None:
        inner.forward = before
    share = step["zero_variance_groups"]
    words = f"{share:.0%} of {groups} groups earn the same throughout; mean reward {step['reward']:.2f}"
    return PreflightCheck("variance", FAIL if share == 1 else WARN if share > 0.7 else OK, words)
