"""`warroom play`."""

from typing import Annotated

import typer

from warroom.cli.api import api_model_names, connect, prepare_models, with_api
from warroom.cli.options import (
    Articles,
    Json,
    Knowledge,
    Mode,
    Recordings,
    RogueMultiplier,
    Split,
    Tier,
    Topology,
    check_options,
    options_of,
)
from warroom.cli.output import console
from warroom.core.splits import seed_of
from warroom.envs import find, make
from warroom.policies import policy_set
from warroom.policies.llm import ApiOptions
from warroom.rollout import play
from warroom.view.debrief import debrief
from warroom.view.terminal import TerminalSeats, closing_view, is_interactive, open_display


@with_api
def play_command(
    api: ApiOptions | None,
    scenario: Annotated[str, typer.Argument(help="Scenario id from `warroom list`, or ENV/your_file.py.")],
    tier: Tier = "easy",
    seed: Annotated[int, typer.Option(help="Index of the incident in the split, from 0.")] = 0,
    split: Split = "dev",
    policy: Annotated[
        str,
        typer.Option(help="Policy for all seats, or one per seat: oversight=human,rest=llm:MODEL."),
    ] = "human",
    topology: Topology = None,
    recording: Recordings = None,
    rogue_multiplier: RogueMultiplier = None,
    mode: Mode = None,
    articles: Articles = None,
    kb: Knowledge = None,
    pause: Annotated[float, typer.Option(min=0.0, help="Seconds between calls on the live board.")] = 0.5,
    json: Json = False,
) -> None:
    """Play one incident: watch policies on a live board, or take a seat yourself.

    Example: warroom play fleet/autoscaler_cost_cut --tier hard --policy oracle
    """
    env = find(scenario)[0].name
    human = "human" in [part.rpartition("=")[2] for part in policy.split(",")]
    if json and human:
        raise ValueError(
            "--json prints nothing but the episode, and a person needs to see the observations: leave one out"
        )
    names = api_model_names([policy_set(env, policy)], api)
    number = seed_of(split, seed)
    options = options_of(
        rogue_multiplier=rogue_multiplier, topology=topology, recording=recording, mode=mode, articles=articles, kb=kb,
    )  # fmt: skip
    check_options(env, options)
    with connect(names, api) as client:
        if client is not None:
            prepare_models(client, names, make(scenario, tier, number, **options), {})
        players = policy_set(env, policy, client)
        if json:
            print(play(scenario, tier, number, players, options=options).to_json())
            return
        screen = console()
        seating = TerminalSeats(players, screen, is_interactive())
        if human:
            # Nobody watches over a person's shoulder: a transcript would show other seats' readings, and what paid.
            episode = play(scenario, tier, number, seating.policy_set, options=options)
            # No page follows the last call, so nobody was shown yet what it was answered.
            print(f"\n{episode.steps[-1].result}")
        else:
            with open_display(screen, is_interactive(), pause) as watcher:
                episode = play(scenario, tier, number, seating.policy_set, watcher.on_step, options)
        assert seating.env is not None
        screen.print(closing_view(episode, debrief(seating.env, scenario, options)))
