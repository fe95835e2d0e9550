"""What a scenario file of the ticket desk declares: what its tickets test."""

from dataclasses import dataclass

from warroom.core.docstrings import module_docstring

CORE, FULL, IMPORTED = "core", "full", "imported"


@dataclass(frozen=True)
class TicketScenario:
    """A family of tickets. The test is the file's own name: the generator has one of each in every knowledge base."""

    name: str
    story: str
    suites: tuple[str, ...] = (CORE, FULL)


def scenario(file: str, doc: str | None, suites: tuple[str, ...] = (CORE, FULL)) -> TicketScenario:
    """Tickets named after their file; call it with `__name__` and `__doc__`."""
    doc = module_docstring(file, doc)
    if not doc:
        raise ValueError("a scenario file opens with its story: a docstring whose first paragraph says what happens")
    name = file.rpartition(".")[2].removeprefix("warroom_scenario_")
    return TicketScenario(name, " ".join(doc.split("\n\n")[0].split()), suites)
