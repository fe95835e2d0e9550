"""A group of commands that imports a command when it runs, shows its help or completes its options."""

import os
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from warroom.core.docstrings import function_docstring

COMPLETING = "_WARROOM_COMPLETE"
"""Environment variable by which a shell asks for completions."""


_STYLE = re.compile(r"\[[a-z#/@][^\[]*?\]")
"""What typer's help pages would read as a style and leave out, such as the extra in `warroom[train]`."""


class Verb(NamedTuple):
    """Where a command is, and what the list of commands says about it."""

    target: str
    """`module:function`."""
    help: str
    """One sentence: the first line of the function's docstring."""
    settings: Mapping[str, object] = {}
    """Settings of its click context."""

    def load(self, name: str) -> TyperCommand:
        """Import the command."""
        module, _, function = self.target.partition(":")
        callback = getattr(import_module(module), function)
        if COMPLETING in os.environ:
            import_module("warroom.cli.completion").complete_names(callback)
        single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        single.command(name, help=function_docstring(callback), context_settings=dict(self.settings))(callback)
        command = typer.main.get_command(single)
        assert isinstance(command, TyperCommand)
        command.help = _as_written(command.help)
        for parameter in command.params:
            assert isinstance(parameter, TyperOption | TyperArgument)
            parameter.help = _as_written(parameter.help)
        return command


def _as_written(text: str | None) -> str | None:
    """A help text whose words in brackets are shown; completions are never marked up."""
    return text if text is None or COMPLETING in os.environ else _STYLE.sub(r"\\\g<0>", text)


class LazyGroup(TyperGroup):
    """A group that lists its verbs from a table and imports the one that is called."""

    verbs: ClassVar[Mapping[str, Verb]] = {}
    panels: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The names under each heading of the help; without any all stand under one."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        listed = {name: TyperCommand(name, help=verb.help) for name, verb in self.verbs.items()}
        self.commands = {**listed, **self.commands}
        for panel, names in self.panels.items():
            for name in names:
                found: Any = self.commands.pop(name)
                found.rich_help_panel = panel
                self.commands[name] = found

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As click does it, with the command itself in place of its entry in the table."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is not None and name in self.verbs:
            command = self.verbs[name].load(name)
        return name, command, rest
