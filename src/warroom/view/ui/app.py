"""The page itself: events read the widgets and move a visitor's match; `updates` says what changes on the page."""

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from warroom.core.checks import check_type
from warroom.core.errors import MissingExtra, NotInstalled, UnknownName
from warroom.core.splits import Split, seed_of
from warroom.core.types import JsonObject
from warroom.envs import environments, episode_spec
from warroom.view.ui import form, pages
from warroom.view.ui.lobby import Lobby, Visit
from warroom.view.ui.match import Match, PlayUntil, Setup, playable, random_index, random_scenario
from warroom.view.ui.page_guard import PageBlocks
from warroom.view.ui.policy_choice import PERSON, AllowedPolicies, model_names
from warroom.view.ui.updates import Update, drawing_update, fields_update, form_update, notice_update, opened_update
from warroom.view.ui.widgets import (
    FIRST_POLICY,
    FIRST_TIER,
    KINDS,
    MODES,
    PACES,
    SURPRISE,
    Widgets,
    build_widgets,
    scenario_choices,
    seat_update,
)

try:
    import gradio as gr
    from gradio.components import Component
except ImportError as error:
    raise MissingExtra("serve", error) from error

STYLE = Path(__file__).with_name("style.css")
BUSY = 32
"""Events that are served at the same moment, of all visitors."""
BROKEN = "Something of ours broke; the server's log has it. Start another incident."
GONE = "This incident is no longer kept. Start one."
Event = Callable[..., Iterator[Update]]


@dataclass(frozen=True)
class Choice:
    """What a visitor chose to start: the values of `SetupWidgets.all`, not yet checked."""

    env: str
    scenario: str
    tier: str
    split: str
    index: float | None
    mode: str
    policies: tuple[str | None, ...]
    """By seat, in the order of the environment's seats."""

    @classmethod
    def of(cls, values: Sequence[Any]) -> Self:
        """The choice from the values in the order of `SetupWidgets.all`."""
        env, scenario, tier, split, index, mode, *policies = values
        for name, value in (("environment", env), ("scenario", scenario), ("tier", tier), ("split", split)):
            check_type(f"the {name}", value, str)
        return cls(env, scenario, tier, split, index, mode, tuple(policies))


class Page:
    """One page for all visitors; what belongs to one of them is in the lobby."""

    def __init__(self, widgets: Widgets, lobby: Lobby, allowed_policies: AllowedPolicies) -> None:
        self.widgets, self.lobby, self.allowed_policies = widgets, lobby, allowed_policies

    # -- choosing -----------------------------------------------------------------------------------

    def welcome(self, visitor: str) -> Iterator[Update]:
        """An incident lies on the table already, so that there is something to see."""
        env = self.allowed_policies.envs[0]
        names = self.allowed_policies.names(env)
        first = FIRST_POLICY if FIRST_POLICY in names else names[0]
        seats = dict.fromkeys(environments()[env].seats, first)
        if model_names([first]) or first == PERSON:
            return  # nothing is loaded that nobody asked for
        yield from self._open(visitor, Setup(episode_spec(playable(env)[0], FIRST_TIER, seed_of(Split.DEV, 0)), seats))

    def choose_env(self, visitor: str, env: str) -> Iterator[Update]:
        """Scenarios and seats of another environment."""
        setup_widgets = self.widgets.setup_widgets
        scenario = gr.update(choices=scenario_choices(env), value=playable(env)[0])
        updates: Update = {setup_widgets.scenario: scenario, setup_widgets.mode: gr.update(visible=env == "tickets")}
        for i, box in enumerate(setup_widgets.seats):
            updates[box] = gr.update(**seat_update(env, i, self.allowed_policies))
        yield updates

    def start(self, visitor: str, *chosen: Any) -> Iterator[Update]:
        """The incident that was chosen."""
        yield from self._open(visitor, self._setup(Choice.of(chosen)))

    def random(self, visitor: str, *chosen: Any) -> Iterator[Update]:
        """Another incident of the environment; the choice is shown, unlike a surprise."""
        choice = Choice.of(chosen)
        choice = replace(choice, scenario=random_scenario(choice.env), index=random_index())
        boxes = self.widgets.setup_widgets
        yield {boxes.scenario: gr.update(value=choice.scenario), boxes.index: gr.update(value=choice.index)}
        yield from self._open(visitor, self._setup(choice))

    def restart(self, visitor: str) -> Iterator[Update]:
        """The same incident from its beginning, by the same policies."""
        yield from self._open(visitor, self._visit(visitor).match.setup)

    def _setup(self, choice: "Choice") -> Setup:
        env, hidden = choice.env, choice.scenario == SURPRISE
        chosen = random_scenario(env) if hidden else str(choice.scenario)
        if chosen not in playable(env):
            raise UnknownName("scenario", chosen, playable(env))
        if choice.mode not in MODES or choice.index is None:
            raise ValueError("choose a mode, and the number of an incident")
        names = zip(environments()[env].seats, choice.policies, strict=False)
        seats = {seat: str(name or "").strip() for seat, name in names}
        for name in seats.values():
            self.allowed_policies.check(env, name)
        options = {"mode": choice.mode} if env == "tickets" else {}
        spec = episode_spec(chosen, choice.tier, seed_of(choice.split, int(choice.index)), options)
        return Setup(spec, seats, hidden)

    def _open(self, visitor: str, setup: Setup) -> Iterator[Update]:
        slow = model_names(setup.seats.values())
        if slow:
            yield notice_update(self.widgets, f"Loading {', '.join(slow)} …", "busy")
        before = self.lobby.find(visitor)
        visit = Visit(
            Match(setup, self.allowed_policies.client), pace=PACES["steadily"] if before is None else before.pace
        )
        self.lobby.enter(visitor, visit)
        yield opened_update(self.widgets, visit)
        if visit.match.human_seats and visit.match.can_move:
            yield from self._play(visitor, visit, "end")

    # -- moving -------------------------------------------------------------------------------------

    def move(self, visitor: str, until: PlayUntil) -> Iterator[Update]:
        """Let policies play."""
        visit = self._visit(visitor)
        visit.at = None
        yield from self._play(visitor, visit, until)

    def stop(self, visitor: str) -> Iterator[Update]:
        """End a run after the call that is being made."""
        match = self._visit(visitor).match
        match.stopping = True
        yield notice_update(self.widgets, "Stopping after this call …" if match.playing else "", "busy")

    def _play(self, visitor: str, visit: Visit, until: PlayUntil) -> Iterator[Update]:
        """Draw after each call. A visitor who has begun something else is drawn no more of this."""
        for _ in visit.match.play(until):
            if self.lobby.find(visitor) is not visit:
                return
            yield drawing_update(self.widgets, visit)
            if until == "end" and visit.match.thinking is None and not visit.match.human_seats:
                visit.match.pause(visit.pace)
        if self.lobby.find(visitor) is visit:
            yield {**drawing_update(self.widgets, visit), **form_update(self.widgets.form_widgets, visit.match)}

    # -- a person at a seat ---------------------------------------------------------------------------

    def choose_tool(self, visitor: str, name: str) -> Iterator[Update]:
        """The questions of another tool."""
        yield fields_update(self.widgets.form_widgets, self._visit(visitor).match, name)

    def send(self, visitor: str, name: str, *values: object) -> Iterator[Update]:
        """A person's call, then its colleagues until a person's next turn."""
        visit = self._visit(visitor)
        match = visit.match
        if not match.human_turn:
            raise ValueError("it is not your turn")
        tool = next((tool for tool in form.available_tools(match.env) if tool.name == name), None)
        if tool is None:
            raise ValueError("choose what to do first")
        fields = form.fields(tool, match.env.allowed_values)
        rows = [values[i * len(KINDS) : (i + 1) * len(KINDS)] for i in range(len(fields))]
        answers = {field.name: row[KINDS.index(field.kind)] for field, row in zip(fields, rows, strict=True)}
        match.submit(form.call_of(tool, answers))
        visit.at = None
        yield {**drawing_update(self.widgets, visit), **form_update(self.widgets.form_widgets, match)}
        if match.can_move:
            yield from self._play(visitor, visit, "end")

    # -- looking ------------------------------------------------------------------------------------

    def look(self, visitor: str, moment: float, spoilers: bool, who: str, pace: str) -> Iterator[Update]:
        """Another moment, another seat, more or less of the truth."""
        check_type("a moment", moment, float)
        visit = self._visit(visitor)
        visit.at = None if moment >= len(visit.match.steps) else int(moment)
        visit.spoilers, visit.pace = bool(spoilers), PACES.get(pace, 0.0)
        visit.seat = who if who in visit.match.env.SEATS else pages.EVERYONE
        update = drawing_update(self.widgets, visit)
        del update[self.widgets.controls.moment]  # it is in the visitor's hand
        yield update

    def _visit(self, visitor: str) -> Visit:
        visit = self.lobby.find(visitor)
        if visit is None:
            raise ValueError(GONE)
        return visit


def build(allowed_policies: AllowedPolicies | None = None, lobby: Lobby | None = None) -> gr.Blocks:
    """The page. Where strangers can reach it, offer no typed models: `Offer(typed=False)`.

    Give it to Gradio's `launch` or `mount_gradio_app` together with `look()`, or use `server.mounted`.
    """
    offered = allowed_policies or AllowedPolicies()
    # Gradio sums up its own events anew after each of them, the longer it runs the slower; nobody reads it here.
    os.environ.setdefault("GRADIO_ANALYTICS_CACHE_FREQUENCY", "1000000000")
    with PageBlocks(title="Warroom", analytics_enabled=False, fill_width=True) as blocks:
        page = Page(build_widgets(offered), Lobby() if lobby is None else lobby, offered)
        _wire(blocks, page)
    blocks.space_id = None  # where this is a Space, Gradio would draw a header of the Hub's, with fonts from elsewhere
    made: gr.Blocks = blocks.queue(api_open=False, default_concurrency_limit=BUSY)
    return made


def look() -> JsonObject:
    """Theme and style, as Gradio's `launch` and `mount_gradio_app` take them. Fonts are those of the system."""
    theme = gr.themes.Base(
        primary_hue="blue", neutral_hue="slate", text_size="md", spacing_size="sm", radius_size="md",
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "Menlo", "Consolas", "monospace"],
    ).set(
        body_text_color_subdued="*neutral_600", block_info_text_color="*neutral_600",
        input_placeholder_color="*neutral_500",
    )  # fmt: skip
    return {"theme": theme, "css": STYLE.read_text(encoding="utf-8"), "footer_links": []}


def _wire(blocks: gr.Blocks, page: Page) -> None:
    setup_widgets, controls, form_widgets = page.widgets.setup_widgets, page.widgets.controls, page.widgets.form_widgets
    outputs = page.widgets.changing

    def on(trigger: Callable[..., object], event: Event, inputs: Sequence[Component] = (), **more: str) -> None:
        trigger(_guarded(page, event), list(inputs), outputs, show_progress="hidden", api_visibility="private", **more)

    on(blocks.load, page.welcome)
    on(setup_widgets.env.input, page.choose_env, [setup_widgets.env])
    on(setup_widgets.start.click, page.start, setup_widgets.all)
    on(setup_widgets.surprise.click, page.random, setup_widgets.all)
    on(controls.call.click, lambda visitor: page.move(visitor, "call"))
    on(controls.turn.click, lambda visitor: page.move(visitor, "turn"))
    on(controls.run.click, lambda visitor: page.move(visitor, "end"))
    on(controls.stop.click, page.stop)
    on(controls.restart.click, page.restart)
    looks: list[Component] = [controls.moment, controls.spoilers, controls.who, controls.pace]
    on(controls.moment.input, page.look, looks, trigger_mode="always_last")
    for changed in (controls.spoilers.input, controls.who.input, controls.pace.input):
        on(changed, page.look, looks)
    on(form_widgets.tool.input, page.choose_tool, [form_widgets.tool])
    on(form_widgets.send.click, page.send, [form_widgets.tool, *form_widgets.fields])
    blocks.unload(_leaving(page))


def _guarded(page: Page, event: Event) -> Event:
    """An event of one visitor's. What is wrong is said in a line; a defect of ours goes to the log, not to the page."""

    def run(request: gr.Request, *values: object) -> Iterator[Update]:
        try:
            yield from event(str(request.session_hash), *values)
        except (ValueError, NotInstalled) as error:
            yield notice_update(page.widgets, str(error), "wrong")
        except Exception:  # whoever looks at the page must never read a traceback
            traceback.print_exc(file=sys.stderr)
            yield notice_update(page.widgets, BROKEN, "wrong")

    return run


def _leaving(page: Page) -> Callable[[gr.Request], None]:
    def leave(request: gr.Request) -> None:
        page.lobby.remove(str(request.session_hash))

    return leave
