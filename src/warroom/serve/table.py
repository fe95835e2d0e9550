"""Seats of one incident as a caller outside plays them: texts come out, calls by name go in."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from warroom.core.env import EPISODE_OVER
from warroom.core.errors import UnknownName
from warroom.core.renderer import PlainRenderer, Renderer
from warroom.core.types import Message, ToolCall
from warroom.envs import environments
from warroom.policies import PolicySet
from warroom.session import Session, together

ENDED = "The incident is over."


class View(NamedTuple):
    """What the caller is told: before its first call, and in answer to each."""

    seat: str
    """Whose turn it is now; after the end, the last one's."""
    text: str
    """What that seat is shown; on its first turn the brief stands before the page."""
    done: bool
    refused: bool = False
    """Whether the last call was wrong; the text of the seat's next page says what was."""
    points: float = 0.0
    """What the last call brought, and what colleagues did until this view."""


class Table:
    """An incident in which the caller plays some seats through a renderer. Single use, like the session within."""

    def __init__(
        self,
        scenario: str,
        tier: str,
        seed: int,
        seats: Collection[str] = (),
        policy_set: PolicySet | None = None,
        renderer: str = "plain",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """Errors are those of `Session`, and a `ValueError` for an unknown renderer."""
        self.session = Session(scenario, tier, seed, seats, policy_set, options)
        env = self.session.env
        spoken = environments()[env.name].renderers
        if renderer not in spoken:
            raise UnknownName(f"renderer of {env.name}", renderer, spoken)
        make = spoken[renderer]
        self.renderers: dict[str, Renderer] = {seat: make(env.brief(seat)) for seat in self.session.seats}
        self._met: set[str] = set()
        together([self.session.begin()])
        self.view = self._look(False, 0.0)
        """What the caller was told last."""
        self.calls = 0
        """Calls made before the end."""

    @property
    def done(self) -> bool:
        """Whether the incident is over."""
        return self.session.done

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> View:
        """Play one call of the acting seat; whatever is wrong with it costs its turn and is answered in the view.

        A text in place of arguments is refused, and quoted in the refusal.
        """
        if self.done:
            return self._closing(self.view.seat, Message(EPISODE_OVER))
        before = self.session.env.total
        turn = together([self.session.play(self._understood(name, arguments))])[0]
        self.calls += 1
        points = self.session.env.total - before
        if self.session.env.done:
            ended = Message(f"{turn.result.render()} {ENDED}")
            self.view = self._closing(turn.seat, ended, turn.refused, points)
        else:
            self.view = self._look(turn.refused, points)
        return self.view

    def tools(self, seat: str) -> tuple[dict[str, Any], ...]:
        """Function schemas of a seat's tools as the renderer words them."""
        return self.renderers[seat].tool_schemas()

    def _understood(self, name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
        if isinstance(arguments, str):  # no renderer puts that into words; the environment says what is wrong
            return ToolCall(name, arguments)  # type: ignore[arg-type]
        return self.renderers[self.session.seat].parse_call(name, arguments)

    def _look(self, refused: bool, points: float) -> View:
        if self.done:  # colleagues ended it before the caller had a turn
            return self._closing(self.session.seats[-1], Message(ENDED))
        seat = self.session.env.seat
        renderer = self.renderers[seat]
        plain = type(renderer) is PlainRenderer  # its words are the rendering, which the record has anyway
        text = self.session.observation_text() if plain else renderer.render_observation(self.session.observe())
        if seat not in self._met:
            self._met.add(seat)
            text = "\n".join(part for part in (renderer.opening(), text) if part)
        return View(seat, text, False, refused, points)

    def _closing(self, seat: str, notice: Message, refused: bool = False, points: float = 0.0) -> View:
        return View(seat, self.renderers[seat].render_observation(notice), True, refused, points)
