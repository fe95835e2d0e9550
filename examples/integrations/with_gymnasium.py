"""Play a seat through Gymnasium's API, with its own checker before; compare the scores with an evaluation's.

    pip install warroom gymnasium
    python examples/integrations/with_gymnasium.py

An action is a message with a call in its text, and an observation what the seat was shown since its last one.
"""

import gymnasium
from gymnasium.utils.env_checker import check_env
from scripted_model import ScriptedModel, check

import warroom

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:4]


def main() -> None:
    """Check the API, then play."""
    env = gymnasium.make("warroom.integrations.gymnasium:warroom/fleet-v0", seat="sre", specs=SPECS)
    check_env(env.unwrapped)
    model, scores = ScriptedModel(SPECS, "expert", ["sre"]), {}
    for spec in SPECS:
        text, _ = env.reset(options={"spec": spec})
        messages, done, reward = [{"role": "user", "content": text}], False, 0.0
        while not done:
            action = model.text(messages)
            text, paid, done, _, _ = env.step(action)
            reward = float(paid)
            messages += [{"role": "assistant", "content": action}, {"role": "user", "content": text}]
        scores[spec] = reward
    check(model, scores)


if __name__ == "__main__":
    main()
