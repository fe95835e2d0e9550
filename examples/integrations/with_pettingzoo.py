"""Play all seats of incidents through PettingZoo's API, with its own checkers before; compare with an evaluation.

    pip install warroom pettingzoo
    python examples/integrations/with_pettingzoo.py

Every agent is a seat, and has a conversation of its own.
"""

import warnings

from pettingzoo.test import api_test, seed_test
from scripted_model import ScriptedModel, check

import warroom
from warroom.integrations.pettingzoo import SeatsEnv

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:4]


def main() -> None:
    """Check the API, then play."""
    env = SeatsEnv(specs=SPECS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # texts where it expects arrays, and seats that have names
        api_test(env, num_cycles=20)
        seed_test(lambda: SeatsEnv(specs=SPECS), num_cycles=20)
    model, scores = ScriptedModel(SPECS, "expert", env.possible_agents), {}
    for spec in SPECS:
        env.reset(options={"spec": spec})
        messages: dict[str, list[dict[str, str]]] = {seat: [] for seat in env.possible_agents}
        for seat in env.agent_iter():
            text, reward, done, _, _ = env.last()
            if done:
                scores[spec] = reward
                env.step(None)
                continue
            messages[seat].append({"role": "user", "content": text})
            env.step(action := model.text(messages[seat]))
            messages[seat].append({"role": "assistant", "content": action})
    check(model, scores)


if __name__ == "__main__":
    main()
