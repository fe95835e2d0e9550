"""`warroom replay`."""

import typer

from warroom.cli.options import Json, RunFolder
from warroom.cli.output import print_json, say
from warroom.runs import ReplayMismatch, read_episodes, replay


def replay_command(run: RunFolder, json: Json = False) -> None:
    """Replay every episode of a run from its recorded calls; fail if one diverges from the record.

    Example: warroom replay runs/hard
    """
    count, differing = 0, []
    for episode in read_episodes(run):
        count += 1
        try:
            replay(episode)
        except ReplayMismatch as mismatch:
            differing.append(str(mismatch))
            say(str(mismatch), "red")
    if json:
        print_json({"episodes": count, "differing": differing})
    else:
        print(f"{count - len(differing)} of {count} episodes match their record")
    if differing:
        raise typer.Exit(1)
