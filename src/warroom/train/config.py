"""Everything that decides a GRPO run, in one place; a run folder holds it whole."""

from dataclasses import dataclass, field, fields
from typing import Any

from warroom.core.options import Options
from warroom.reward import RewardSource, load_reward

CONTROLS = ("frozen", "shuffled-reward")
SCHEDULES = ("constant", "linear")
OPTIMIZERS = ("adamw", MUON := "muon")
SNAPSHOT = "snapshot"
"""Name of the colleagues that are the model's own start."""


@dataclass(frozen=True)
class TrainConfig:
    """The resolved configuration of a GRPO run. Sizes are in rollouts, lengths in tokens."""

    model: str
    """`nano`, a Hub name or a folder."""
    env: str = "fleet"
    renderer: str = "plain"
    """`plain` for language models; `compact` for the nano."""
    seats: tuple[str, ...] = ()
    """Seats that are trained, all with the same weights; empty: all of the environment's."""
    teammates: str = "expert"
    """Who plays the other seats: a team text of scripted policies, or `snapshot` for the model's frozen start."""
    suite: str = "full"
    task: str = "all"
    """Scenarios of the suite to train on, by comma; `all` of them."""
    curriculum: str = "easy:200,medium:200,hard:200"
    """`TIER:STEPS` parts in order, or `adaptive:STEPS`."""
    rogue_multiplier: str = "1.0"
    """A number, or `FROM:TO` to move from one to the other, linearly over the steps."""
    learning_rate: float = 2e-5
    schedule: str = "constant"
    """Of the learning rate: `constant`, or `linear`, which falls to nothing over the run."""
    optimizer: str = "adamw"
    """`adamw`, or `muon` for the matrices inside the layers."""
    temperature: float = 1.0
    group_size: int = 8
    """Rollouts of one incident that are compared with one another."""
    groups: int = 8
    """Incidents per optimizer step."""
    beta: float = 0.0
    """Weight of the KL divergence from the start."""
    loss_type: str = "dr_grpo"
    scale_rewards: str = "none"
    entropy_coefficient: float = 0.0
    confidence_steps: int = 0
    """Steps after the last, that teach only how sure to be, by the exact gradient (`train/confidence.py`)."""
    max_completion_length: int = 4096
    """Tokens of a whole conversation after its first page, tool results included."""
    turn_tokens: int = 256
    """Tokens that the model may write at once."""
    lora_rank: int = 0
    """0 trains all weights."""
    lora_alpha: int = 0
    """0: twice the rank."""
    load_in_4bit: bool = False
    micro_batch: int = 0
    """Rollouts that pass through the model at once; 0: all of a step."""
    seed: int = 0
    control: str | None = None
    """`frozen` or `shuffled-reward`: runs that must not learn."""
    report_to: tuple[str, ...] = ()
    vllm: str | None = None
    """`colocate` or `server`."""
    vllm_server: str = "http://127.0.0.1:8000"
    unsloth: bool = False
    push_to_hub: str | None = None
    """Repository to push the trained weights to."""
    save_every: int = 50
    max_kl: float = 5.0
    """Divergence from the start at which a run stops; the last good checkpoint is kept."""
    min_entropy: float = 0.01
    min_calls: float = 1.0
    """Tool calls per rollout below which a run counts as collapsed."""
    patience: int = 5
    """Steps in a row that a rule has to be broken before it stops the run."""
    reward: str | None = None
    """`FILE.py:FUNCTION`; None is the team's score less a penalty for leaving early."""
    options: Options = field(default_factory=Options)
    """What incidents are built from besides, in the environment's own type."""

    def reward_source(self) -> RewardSource:
        """The reward function; a `ValueError` says why there is none."""
        return RewardSource() if self.reward is None else load_reward(self.reward)

    def to_json(self) -> dict[str, Any]:
        """The configuration as `run.json` holds it."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        return plain | {"options": self.options.to_json()}
