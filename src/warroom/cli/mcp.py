"""`warroom mcp`."""

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from warroom.cli import heavy
from warroom.cli.flags import env_options, with_env_options
from warroom.cli.listening import address, listen
from warroom.cli.options import Split, Tier
from warroom.cli.output import command_line, say
from warroom.core.errors import UnknownName
from warroom.core.scenario import TIERS
from warroom.core.splits import parse_split
from warroom.envs import environments, find
from warroom.evals.selection import SUITES
from warroom.policies import PolicySet, hf, policy_set
from warroom.runs import Record, git_commit, now, open_run
from warroom.serve.mcp_config import EpisodeWriter, McpConfig
from warroom.serve.tasks import playable

HOST, PORT = "127.0.0.1", 8765
USUAL, USUAL_TEAM = "fleet", "expert"
ALL = "all"


@with_env_options
def mcp_command(
    given: Mapping[str, Any],
    env: Annotated[str | None, typer.Option(help="Which environment. Default: the scenario's, else fleet.")] = None,
    seat: Annotated[
        str | None, typer.Option(help="What the client plays: a seat, several by comma, or all. Default: the first.")
    ] = None,
    teammates: Annotated[
        str | None,
        typer.Option(help="Who plays the other seats, such as manager=oracle,rest=expert. Default: expert."),
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Only this scenario of `warroom list`; its name is told. Default: any, untold.")
    ] = None,
    tier: Tier = "easy",
    split: Split = "dev",
    seed: Annotated[int, typer.Option(help="The first incident of the split, from 0.")] = 0,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of standard input and output.")] = False,
    host: Annotated[str | None, typer.Option(help=f"With --http: where to listen. Default: {HOST}.")] = None,
    port: Annotated[int | None, typer.Option(help=f"With --http: the port, 0 for a free one. Default: {PORT}.")] = None,
    out: Annotated[Path | None, typer.Option(help="Record finished episodes in this run folder.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, if there is one.")] = False,
    player: Annotated[str, typer.Option(help="The name under which episodes are recorded.")] = "mcp",
    debrief: Annotated[bool, typer.Option("--debrief", help="Tell the truth once an incident is over.")] = False,
    open_values: Annotated[
        bool,
        typer.Option(
            "--open-values",
            help="Leave the incident's own names out of the tools' schemas, for a client that lists its tools once.",
        ),
    ] = False,
) -> None:
    """Let a coding agent, or any other client of the Model Context Protocol, take a seat.

    Example: warroom mcp --env fleet --seat sre --teammates expert --out runs/agent --resume
    """
    if not http and (host, port) != (None, None):
        raise ValueError("--host and --port are for --http; without it the client speaks on standard input and output")
    if resume and out is None:
        raise ValueError("--resume goes on with the run in --out; name the folder")
    config = mcp_config_of(
        env, seat, teammates, scenario, player,
        tier=tier, split=split, index=seed, given=given, debrief=debrief, open_values=open_values,
    )  # fmt: skip
    config.table(config.tier, config.index)  # a server that cannot offer its first incident does not begin
    _serve(config, out, resume, (host or HOST, PORT if port is None else port) if http else None)


def mcp_config_of(
    env: str | None,
    seat: str | None,
    teammates: str | None,
    scenario: str | None,
    player: str,
    given: Mapping[str, Any],
    **more: Any,
) -> McpConfig:
    """What is offered to clients; a `ValueError` says which name is unknown, or has nobody who plays it."""
    full = scenario if scenario is None or "/" in scenario else f"{env or USUAL}/{scenario}"
    name = find(full)[0].name if full else env or USUAL
    if env not in (None, name):
        raise ValueError(f"{full} is a scenario of {name}, and --env says {env}; leave one out")
    options = env_options(name, given)
    named_suite = next((suite for option, suite in SUITES.items() if option in given), None)
    scenarios = (full,) if full else tuple(playable(name, more["split"], named_suite))
    known = environments()[name].seats
    wanted = known if seat == ALL else (seat or known[0]).split(",")
    for one in wanted:
        if one not in known:
            raise UnknownName(f"seat of {name}", one, (*known, ALL))
    seats = tuple(one for one in known if one in wanted)
    policy_set = _policy_set(name, teammates, alone=len(seats) == len(known))
    return McpConfig(
        name,
        seats,
        scenarios,
        named=full is not None,
        team=policy_set,
        player=_played_by(player, seats, policy_set),
        options=options,
        **more,
    )


def _policy_set(env: str, teammates: str | None, alone: bool) -> PolicySet | None:
    if alone and teammates is not None:
        raise ValueError("the client plays every seat, so nobody can be a teammate: leave --teammates out")
    if "human" in [part.rpartition("=")[2] for part in (teammates or "").split(",")]:
        raise ValueError("a person cannot sit beside a client: warroom play has a seat for people")
    return None if alone else policy_set(env, teammates or USUAL_TEAM)


def _played_by(player: str, seats: tuple[str, ...], policy_set: PolicySet | None) -> str:
    """The name of the whole team, as other commands would write it."""
    if not player or set(player) & set("=,; "):
        raise ValueError(f"--player must be a name without blanks and any of = , ; got {player!r}")
    if policy_set is None:
        return player
    rest = (
        policy_set.name
        if "=" in policy_set.name and not policy_set.name.startswith("hf:")
        else f"rest={policy_set.name}"
    )
    return ",".join([*(f"{seat}={player}" for seat in seats), rest])


def _serve(config: McpConfig, out: Path | None, resume: bool, place: tuple[str, int] | None) -> None:
    serving = heavy.mcp
    with ExitStack() as stack:
        listening = stack.enter_context(listen(*place)) if place else None
        episode_writer = None
        if out is not None:
            run = stack.enter_context(open_run(out, record_of(config), resume))
            for note in run.notes:
                say(f"note: {note}", "yellow")
            episode_writer = EpisodeWriter(run)
        made = serving.server(config, episode_writer)
        if listening is None:
            if sys.stdin.isatty():
                say("A client speaks here, and nobody has started one: add this command to an agent, or use --http.")
            serving.serve_stdio(made)
            return
        say(f"Clients connect to {address(listening)}{serving.PATH}   (Ctrl-C ends it)")
        serving.serve_http(made, listening)


def record_of(config: McpConfig) -> Record:
    """What `run.json` says of the episodes that clients will play."""
    models = [name for seat, name in config.team.models.items() if seat not in config.seats] if config.team else []
    status = hf.policy_status(models)
    return Record(
        kind="mcp",
        command=command_line(),
        # Tier and index are the client's to choose, and no part of what makes one run go on with another.
        config={
            "env": config.env,
            "seats": list(config.seats),
            "teammates": config.team.name if config.team else None,
            "scenarios": list(config.scenarios),
            "tiers": list(TIERS),
            "split": parse_split(config.split).value,
            "player": config.player,
            "options": config.options.to_json(),
        },
        split=config.split,
        seeds=[config.index],
        policies=[config.player],
        planned=0,  # clients play as many as they like: any number is whole
        started=now(),
        commit=git_commit(),
        versions=hf.versions() if status else {},
        policy_status=status,
    )
