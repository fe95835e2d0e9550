"""What a scenario file of log triage declares: which causes, how many roots, and how the trouble shows."""

from dataclasses import dataclass

from warroom.core.docstrings import module_docstring
from warroom.sim.faults import Mechanism

CORE, FULL, RECORDED = "core", "full", "recorded"


@dataclass(frozen=True)
class OutageScenario:
    """A family of incidents: any fitting service as the root, any of the mechanisms as the cause."""

    name: str
    story: str
    budget: int
    """Turns."""
    causes: tuple[Mechanism, ...] = ()
    """None: nothing is wrong."""
    second: tuple[Mechanism, ...] = ()
    """Causes of an independent second root; none: there is one root."""
    onset: tuple[int, int] = (-5, -3)
    """Earliest and latest minute in which the trouble begins, relative to the page."""
    silent_minutes: int = 0
    """Minutes after the onset before the root itself may write a word about it."""
    noisy_service: bool = False
    """Whether an innocent service writes many errors about its clients from the onset on."""
    min_noise: float = 0.0
    """Share of unrelated lines on a page that no tier goes below."""
    suites: tuple[str, ...] = (FULL,)


def scenario(file: str, doc: str | None, budget: int, core: bool = False, **how: object) -> OutageScenario:
    """An outage named after its file; call it with `__name__` and `__doc__`."""
    doc = module_docstring(file, doc)
    if not doc:
        raise ValueError("a scenario file opens with its story: a docstring whose first paragraph says what happens")
    story = " ".join(doc.split("\n\n")[0].split())
    name = file.rpartition(".")[2].removeprefix("warroom_scenario_")
    return OutageScenario(name, story, budget, suites=(CORE, FULL) if core else (FULL,), **how)  # type: ignore[arg-type]
