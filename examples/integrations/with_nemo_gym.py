"""Play a seat through the NeMo Gym resources server, as its simple agent does; compare with an evaluation.

    pip install warroom nemo-gym
    python examples/integrations/with_nemo_gym.py

`gym` finds the server by the name `warroom` in a folder of the package:

    export NEMO_GYM_EXTRA_ROOTS=$(python -c 'from warroom.integrations import nemo_gym as n; print(n.EXTRA_ROOT)')
    gym list resources-servers
"""

from typing import Any
from unittest.mock import MagicMock

from fastapi.testclient import TestClient
from nemo_gym.base_resources_server import BaseResourcesServerConfig
from nemo_gym.server_utils import ServerClient
from scripted_model import ScriptedModel, check

import warroom
from warroom.integrations.nemo_gym import IncidentServer, row

SPECS = [str(spec) for spec in warroom.tasks("fleet", tiers=["hard"], seeds=1)][:4]
SEAT = "developer"


def response(calls: int) -> dict[str, object]:
    """What an agent gives to `/verify` beside the row."""
    written = {"id": "r", "created_at": 0, "model": "scripted", "object": "response", "output": [], "tools": []}
    return written | {"parallel_tool_calls": False, "tool_choice": "auto", "metadata": {"calls": str(calls)}}


def main() -> None:
    """Begin a session for each row, call tools by their routes, and verify."""
    config = BaseResourcesServerConfig(host="127.0.0.1", port=0, entrypoint="app.py", name="warroom")
    server = IncidentServer(config=config, server_client=MagicMock(spec=ServerClient))
    model, scores = ScriptedModel(SPECS, "expert", [SEAT]), {}
    for spec in SPECS:
        data: dict[str, Any] = row(spec, SEAT)
        client = TestClient(server.setup_webserver())
        client.post("/seed_session", json=data).raise_for_status()
        messages = list(data["responses_create_params"]["input"])
        said = ""
        while "The incident is over" not in said:
            call = model.next_call(messages)
            said = client.post(f"/{call['name']}", json=call["arguments"]).raise_for_status().text
            messages += [{"role": "assistant", "content": ""}, {"role": "tool", "content": said}]
        verified = client.post("/verify", json={**data, "response": response(len(messages))}).raise_for_status().json()
        print({key: verified[key] for key in ("reward", "score", "calls", "refused_calls", "left_early")})
        scores[spec] = verified["reward"]
    check(model, scores)


if __name__ == "__main__":
    main()
