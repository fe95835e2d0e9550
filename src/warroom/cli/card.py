"""`warroom card`."""

from pathlib import Path
from typing import Annotated

import typer

from warroom.train.card import write_card


def card_command(
    run: Annotated[Path, typer.Argument(help="The folder of a training run.")],
    evaluation: Annotated[
        list[Path] | None,
        typer.Option("--evaluation", help="A folder of `warroom eval` on the test split. May be given several times."),
    ] = None,
) -> None:
    """Write a trained model's card again, with the results of its evaluations.

    Example: warroom card runs/nano --evaluation runs/eval-nano
    """
    print(write_card(run, evaluation or ()))
