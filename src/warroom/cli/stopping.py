"""What a command says when it is stopped."""

from pathlib import Path

from warroom.cli.output import say
from warroom.runs import RECORD


def say_stopped(folder: Path, kept: str, again: str) -> None:
    """What is left of a run that was stopped, and the command that resumes it if it had begun."""
    if (folder / RECORD).is_file():
        say(f"\nStopped; {kept}. Resume with:\n  {again}", "yellow")
    else:
        say("\nStopped before the run began: nothing was written.", "yellow")
