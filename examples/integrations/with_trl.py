"""Play every seat through the environment that TRL is given, as its trainer does; compare with an evaluation.

    pip install '.[train]'
    python examples/integrations/with_trl.py

`examples/train_with_trl.py` trains a model with TRL's own `GRPOTrainer`.
"""

from scripted_model import ScriptedModel, check

import warroom
from warroom.integrations.trl import rows, seat_environment

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:2]


def main() -> None:
    """Each seat of fleet, and a rollout whose model never calls a tool."""
    for seat in ("sre", "oversight", "developer", "manager"):
        model, scores = ScriptedModel(SPECS, "expert", [seat]), {}
        environment = seat_environment(seat)()
        for row in rows(SPECS):
            messages = [{"role": "user", "content": environment.reset(**row)}]
            said = ""
            while "The incident is over" not in said:
                call = model.next_call(messages)
                said = getattr(environment, call["name"])(**call["arguments"])
                messages += [{"role": "assistant"}, {"role": "tool", "content": said}]
            scores[row["spec"]] = environment.get_reward()
        print(seat)
        check(model, scores)
        environment.reset(spec=SPECS[0])
        assert environment.get_reward() < 0, "silence is paid"


if __name__ == "__main__":
    main()
