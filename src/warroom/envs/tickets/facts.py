"""What an article knows: commands, settings and groups, as data apart from any wording, and for whom it holds."""

from typing import NamedTuple

Version = tuple[int, ...]
"""Numbers of a release, most significant first: (4, 12, 3)."""


class Fact(NamedTuple):
    """One thing that a procedure has a person do.

    `command`: run `words[0] words[1] words[2]` (a tool, a verb, an identifier).
    `setting`: set the key `words[0]` to the value `words[1]`, in the unit `words[2]`.
    `group`: ask for, or add somebody to, the identifier `words[0]`.
    """

    kind: str
    words: tuple[str, ...]

    @property
    def token(self) -> str:
        """The word that is not written by chance: the identifier or the value."""
        return self.words[1] if self.kind == "setting" else self.words[-1]


class Configuration(NamedTuple):
    """What the person who writes a ticket has, or says; empty is unsaid."""

    version: Version
    hardware: str
    site: str


class Precondition(NamedTuple):
    """For whom an article holds. An empty field asks nothing."""

    below: Version = ()
    """Releases below this one."""
    since: Version = ()
    """This release and later ones."""
    hardware: str = ""
    site: str = ""

    def holds(self, configuration: Configuration) -> bool:
        """Whether a configuration meets it."""
        return (
            (not self.below or configuration.version < self.below)
            and (not self.since or configuration.version >= self.since)
            and self.hardware in ("", configuration.hardware)
            and self.site in ("", configuration.site)
        )


def release(version: Version) -> str:
    """As people write it: 4.12.3."""
    return ".".join(map(str, version))
