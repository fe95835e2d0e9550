"""What a fleet scenario file declares: the cause that its incidents are named after."""

from dataclasses import dataclass

from warroom.envs.scenario_file import read_header

CORE, FULL = "core", "full"


@dataclass(frozen=True)
class FleetScenario:
    """A family of incidents with one kind of cause."""

    name: str
    story: str
    cause: str
    suites: tuple[str, ...] = (FULL,)


def scenario(module: str, doc: str | None, *, core: bool = False) -> FleetScenario:
    """A scenario named after its file; call it with `__name__` and `__doc__`."""
    header = read_header(module, doc)
    return FleetScenario(header.name, header.story, header.name, (CORE, FULL) if core else (FULL,))
