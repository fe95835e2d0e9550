"""Play all seats through an OpenEnv server and OpenEnv's own client; compare the scores with an evaluation's.

    pip install '.[serve]'
    python examples/integrations/with_openenv.py

The server is started here, on a free port of this machine, as `warroom serve --env fleet` starts it.
"""

import re
import subprocess
import sys

from openenv import GenericEnvClient
from scripted_model import ScriptedModel, check

import warroom

SPECS = [str(spec) for spec in warroom.tasks("fleet", split="dev", tiers=["hard"], seeds=1)][:3]


def main() -> None:
    """Reset to each incident by its spec, and call the acting seat's tools."""
    seats = list(warroom.Chat(SPECS[0]).conversations)
    model, scores = ScriptedModel(SPECS, "expert", seats), {}
    serve = [sys.executable, "-m", "warroom", "serve", "--env", "fleet", "--port", "0"]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr
        url = re.search(r"http://[\d.:]+", server.stderr.readline())
        assert url, server.stderr.read()
        with GenericEnvClient(base_url=url.group()).sync() as client:
            for spec in SPECS:
                result = client.reset(spec=spec)
                told: dict[str, list[dict[str, str]]] = {seat: [] for seat in seats}
                while not result.done:
                    seat = result.observation["seat"]
                    told[seat].append({"role": "user", "content": result.observation["text"]})
                    call = model.next_call(told[seat])
                    told[seat].append({"role": "assistant", "content": ""})
                    result = client.step({"tool": call["name"], "arguments": call["arguments"]})
                scores[spec] = result.observation["score"]
        server.terminate()
    check(model, scores)


if __name__ == "__main__":
    main()
