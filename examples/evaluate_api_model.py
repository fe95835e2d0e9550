"""Evaluate a model behind an OpenAI-compatible server from Python, beside a script, under a cap that holds.

    export WARROOM_API_KEY=...        # a server of your own by plain http may want none
    python examples/evaluate_api_model.py --base-url http://localhost:8000/v1 --model qwen3 --max-tokens 200000

`warroom eval --policies llm:MODEL,heuristic --base-url URL` does the same and more: a run folder that can be resumed,
intervals, a report. This file shows the parts, for an evaluation of your own (`pip install 'warroom[llm]'`).
"""

import argparse
from pathlib import Path

from warroom.core.errors import EpisodeAborted, RunStopped
from warroom.core.splits import seed_of
from warroom.envs import make, suite
from warroom.policies import policy_set
from warroom.policies.llm import ApiOptions, SpendingCaps
from warroom.policies.llm.client import LLMClient
from warroom.policies.llm.preflight import detect_call_format
from warroom.policies.llm.usage import in_words, summed
from warroom.rollout import Game, play_many, played


def parse() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--base-url", help="up to and without /chat/completions; default: OpenAI's own")
    parser.add_argument("--model", required=True, help="as the server calls it")
    parser.add_argument("--env", default="tickets")
    parser.add_argument("--scenarios", nargs="*", help="such as tickets/stale; default: the environment's first suite")
    parser.add_argument("--tier", default="easy")
    parser.add_argument("--seeds", type=int, default=2, help="incidents of each scenario")
    parser.add_argument("--max-tokens", type=int, default=200_000, help="for everything together")
    parser.add_argument("--record", type=Path, help="a file for all calls")
    return parser.parse_args()


def main() -> None:
    """Play the incidents and say what came of them."""
    given = parse()
    api = ApiOptions(
        base_url=given.base_url, caps=SpendingCaps(tokens=given.max_tokens), record=given.record, concurrency=4
    )
    scenarios = given.scenarios or suite(given.env)
    games = [Game(scenario, given.tier, seed_of("dev", seed)) for scenario in scenarios for seed in range(given.seeds)]
    scripted = play_many(games, policy_set(given.env, "heuristic"))
    name = f"llm:{given.model}"
    with LLMClient(api) as client:
        # One call before all others: is the server there, does it take the key, how does the model call tools?
        decision = detect_call_format(client, name, make(*games[0][:3]))
        print(f"{name} is {decision.answered_as} and calls tools by {decision.tool_calls}")
        try:
            for number, ended in played(games, policy_set(given.env, name, client), width=api.concurrency):
                game = games[number]
                if isinstance(
                    ended, EpisodeAborted
                ):  # the server's failure: it counts neither for nor against the model
                    print(f"{game.scenario} seed {game.seed}: not played, since {ended}")
                else:
                    said = f"score {ended.score:5.2f}, heuristic {scripted[number].score:5.2f}"
                    print(f"{game.scenario} seed {game.seed}: {said}")
        except RunStopped as stop:
            print(f"stopped: {stop}")
    print(in_words(summed(client.ledger.lines, api.caps, {})))


if __name__ == "__main__":
    main()
