"""Libraries that only some commands need."""


class MissingExtra(ImportError):
    """A library of an extra is not installed; the message is the line that installs it."""

    def __init__(self, extra: str, error: ImportError) -> None:
        super().__init__(f"{error.name or error} is not installed; run: pip install 'warroom[{extra}]'")
