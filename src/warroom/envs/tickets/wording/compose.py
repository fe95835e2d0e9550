"""Messages put together: a ticket as somebody writes it, an article, the thread of a closed ticket."""

from collections.abc import Sequence
from typing import NamedTuple

from warroom.envs.tickets.rules import Step
from warroom.envs.tickets.wording.grammar import write
from warroom.envs.tickets.wording.steps import Message, say_step
from warroom.sim.wording.template import Draws


class Instruction(NamedTuple):
    """A step within a document, and how it is told."""

    step: Step
    told: str = "instruction"
    """`instruction`, `first` (told last, done first), `assistant_step` (addressed to assistants, and part of the
    procedure), `aside` (not to be done), `thread_tried`, `thread_done`."""


class DocumentPlan(NamedTuple):
    """What a document says, before it is put into words."""

    header: tuple[Message, ...] = ()
    """`meta` of an article; nothing for a thread."""
    about: tuple[Message, ...] = ()
    """`about`, `finding`, `cause` of an article; `thread_opening`, `thread_clue` of a thread."""
    scope: tuple[Message, ...] = ()
    steps: tuple[Instruction, ...] = ()
    notes: tuple[Message, ...] = ()
    """What it says of other documents, teams, sources and queues; `thread_closed` of a thread."""


def compose_ticket(messages: Sequence[Message], name: str, split: str, draws: Draws) -> str:
    """A ticket by a person of that name: these messages in the order and manner of one writer."""
    return " ".join([*[write(m.kind, split, m.values, draws) for m in messages], name])


def compose_article(plan: DocumentPlan, split: str, draws: Draws) -> str:
    """An article in one of several layouts."""
    return _joined(plan, split, draws)


def compose_thread(plan: DocumentPlan, split: str, draws: Draws) -> str:
    """A closed ticket or an incident as a thread."""
    return _joined(plan, split, draws)


def _joined(plan: DocumentPlan, split: str, draws: Draws) -> str:
    def said(messages: Sequence[Message]) -> list[str]:
        return [write(m.kind, split, m.values, draws) for m in messages]

    steps = [write(each.told, split, {"step": say_step(each.step, split, draws)}, draws) for each in plan.steps]
    return "\n".join([*said(plan.header), *said(plan.about), *said(plan.scope), *steps, *said(plan.notes)])
