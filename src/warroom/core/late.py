"""Modules that are imported when they are first used: slow ones, and those of an optional library."""

from importlib import import_module
from types import ModuleType

from warroom.core.errors import MissingExtra, NotInstalled


class LateModule(ModuleType):
    """Stands for a module and imports it when one of its attributes is first read.

    Type checkers are shown the module itself, so that the rest of the file uses it like any other:

        if TYPE_CHECKING:
            import openai
        else:
            openai = LateModule("openai", extra="llm")

    With an `extra`, a library that is missing raises a `MissingExtra`, whose message is the command that installs it.
    """

    def __init__(self, name: str, extra: str | None = None) -> None:
        super().__init__(name)
        self._extra = extra

    def __getattr__(self, attribute: str) -> object:
        try:
            module = import_module(self.__name__)
        except ImportError as error:
            ours = isinstance(error, NotInstalled) or str(error.name).startswith("warroom")
            if self._extra is None or ours:
                raise
            raise MissingExtra(self._extra, error) from error
        return getattr(module, attribute)
