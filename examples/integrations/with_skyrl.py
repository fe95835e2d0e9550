"""Play a seat through SkyRL-gym, as its generator does, and compare the scores with an evaluation's.

    pip install warroom skyrl-gym
    python examples/integrations/with_skyrl.py

SkyRL's trainer takes the same registered name as `env_class` of each row of its data.
"""

import skyrl_gym
from scripted_model import ScriptedModel, check

import warroom

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:4]
SEAT = "oversight"


def main() -> None:
    """Register the environment, then play a row of data for each incident."""
    skyrl_gym.register(id="warroom", entry_point="warroom.integrations.skyrl:SeatTextEnv")
    model, scores = ScriptedModel(SPECS, "expert", [SEAT]), {}
    for spec in SPECS:
        row = {"extra_info": {"spec": spec, "seat": SEAT, "teammates": "expert"}}
        env = skyrl_gym.make("warroom", env_config={}, extras=row)
        messages, _ = env.init([])
        done = False
        while not done:
            action = model.text(messages)
            output = env.step(action)
            messages += [{"role": "assistant", "content": action}, *output["observations"]]
            done = output["done"]
        scores[spec] = output["reward"]
        print(env.get_metrics())
        env.close()
    check(model, scores)


if __name__ == "__main__":
    main()
