"""The widgets of the page and where they stand. What they do is wired in `app`."""

from dataclasses import dataclass
from typing import Literal

from warroom.core.errors import MissingExtra
from warroom.core.scenario import TIERS
from warroom.core.splits import Split
from warroom.core.types import JsonObject
from warroom.envs import environments, make
from warroom.view.ui import form, pages
from warroom.view.ui.match import playable
from warroom.view.ui.policy_choice import AllowedPolicies

try:
    import gradio as gr
    from gradio.blocks import Block
    from gradio.components import Component
except ImportError as error:
    raise MissingExtra("serve", error) from error

SURPRISE = "a surprise"
PACES = {"slowly": 1.5, "steadily": 0.6, "at once": 0.0}
"""Seconds between two calls of a run, so that a person can follow."""
MODES = ("multi", "single")
"""How a ticket is played: with searches, or with its documents at hand."""
TYPED = (
    "A seat takes a name of its list, or a model of yours: type <code>hf:FOLDER</code>, or <code>llm:MODEL</code> "
    "behind a server."
)
FIRST_TIER = "hard"
FIRST_POLICY = "expert"
BUTTONS = {"call": "One call", "turn": "One turn", "run": "Run to the end", "stop": "Stop", "restart": "Restart"}
Variant = Literal["primary", "secondary", "stop"]
KINDS = ("choice", "text", "number", "flag")


@dataclass(frozen=True)
class SetupWidgets:
    """What is to be played, and by whom."""

    panel: gr.Accordion
    env: gr.Radio
    scenario: gr.Dropdown
    tier: gr.Radio
    split: gr.Radio
    index: gr.Number
    mode: gr.Radio
    seats: list[gr.Dropdown]
    start: gr.Button
    surprise: gr.Button

    @property
    def all(self) -> list[Component]:
        """What a start reads, in the order in which it reads it."""
        return [self.env, self.scenario, self.tier, self.split, self.index, self.mode, *self.seats]


@dataclass(frozen=True)
class ControlWidgets:
    """What makes it go on, and how one looks at it."""

    call: gr.Button
    turn: gr.Button
    run: gr.Button
    stop: gr.Button
    restart: gr.Button
    pace: gr.Radio
    spoilers: gr.Checkbox
    moment: gr.Slider
    who: gr.Radio


@dataclass(frozen=True)
class FormWidgets:
    """The form of a person at a seat: a pool of fields of every kind, of which a tool shows those that it needs."""

    panel: gr.Column
    turn_panel: gr.HTML
    tool: gr.Radio
    help: gr.HTML
    slots: list[dict[str, Component]]
    """One field of each kind, for each question of the longest form."""
    send: gr.Button

    @property
    def fields(self) -> list[Component]:
        """All fields of the pool, in the order in which a call reads them."""
        return [field for slot in self.slots for field in slot.values()]


@dataclass(frozen=True)
class DisplayWidgets:
    """What is drawn."""

    notice: gr.HTML
    status: gr.HTML
    result: gr.HTML
    graph: gr.HTML
    conversation: gr.HTML
    points_chart: gr.HTML
    sections: gr.HTML
    debrief: gr.HTML


@dataclass(frozen=True)
class Widgets:
    """All of the page."""

    setup_widgets: SetupWidgets
    controls: ControlWidgets
    form_widgets: FormWidgets
    display: DisplayWidgets

    @property
    def changing(self) -> list[Block]:
        """Whatever an event may change."""
        setup_widgets, controls, form_widgets = self.setup_widgets, self.controls, self.form_widgets
        return [
            setup_widgets.panel, setup_widgets.scenario, setup_widgets.index, setup_widgets.mode, *setup_widgets.seats,
            controls.call, controls.turn, controls.run, controls.stop, controls.moment, controls.who, controls.spoilers,
            form_widgets.panel, form_widgets.turn_panel, form_widgets.tool, form_widgets.help, *form_widgets.fields,
            *vars(self.display).values(),
        ]  # fmt: skip


def build_widgets(allowed_policies: AllowedPolicies) -> Widgets:
    """Put the widgets on the page, in reading order: choose, move, look, and what came of it."""
    _html(pages.header())
    setup_widgets = _choosing(allowed_policies)
    notice, status = _html(elem_id="wr-notice"), _html(elem_id="wr-status")
    buttons = _buttons()
    result = _html(elem_id="wr-result")
    with gr.Row(elem_classes="wr-main"):
        with gr.Column(scale=11, min_width=340):
            graph = _html(elem_id="wr-graph")
        with gr.Column(scale=9, min_width=340):
            form_widgets = _answering(allowed_policies)
            who = gr.Radio([pages.EVERYONE], value=pages.EVERYONE, show_label=False, container=False, elem_id="wr-who",
                           elem_classes="wr-pills")  # fmt: skip
            conversation = _html(elem_id="wr-talk")
    with gr.Column(elem_id="wr-time"):
        points_chart = _html(elem_id="wr-fall")
        moment = gr.Slider(0, 1, value=0, step=1, label="Look back, call by call", elem_id="wr-moment", buttons=[])
    debrief, sections = _html(elem_id="wr-debrief"), _html(elem_id="wr-sections")
    return Widgets(
        setup_widgets, ControlWidgets(**buttons, moment=moment, who=who), form_widgets,
        DisplayWidgets(notice, status, result, graph, conversation, points_chart, sections, debrief),
    )  # fmt: skip


def scenario_choices(env: str) -> list[tuple[str, str]]:
    """What the list of scenarios shows and means: a surprise first."""
    return [(SURPRISE, SURPRISE), *[(form.display_name(id.partition("/")[2]), id) for id in playable(env)]]


def seat_update(env: str, number: int, allowed_policies: AllowedPolicies) -> JsonObject:
    """What the chooser of seat `number` shows for `env`."""
    seats = environments()[env].seats
    if number >= len(seats):
        return {"visible": False}
    names = allowed_policies.names(env)
    first = FIRST_POLICY if FIRST_POLICY in names else names[0]
    return {"visible": True, "label": seats[number], "choices": names, "value": first}


def _html(text: str = "", elem_id: str | None = None) -> gr.HTML:
    return gr.HTML(
        text, elem_id=elem_id, elem_classes="wr-block", apply_default_css=False, visible=bool(text) or "hidden"
    )


def _choosing(allowed_policies: AllowedPolicies) -> SetupWidgets:
    first, seats_at_most = (
        allowed_policies.envs[0],
        max(len(environments()[env].seats) for env in allowed_policies.envs),
    )
    with gr.Accordion("Choose an incident, and who plays it", open=False, elem_id="wr-choose") as panel:
        with gr.Row():
            env = gr.Radio(
                list(allowed_policies.envs),
                value=first,
                label="Environment",
                visible=len(allowed_policies.envs) > 1,
                elem_id="wr-env",
            )
            scenario = gr.Dropdown(
                scenario_choices(first), value=playable(first)[0], label="Scenario", elem_id="wr-scenario"
            )
            tier = gr.Radio(list(TIERS), value=FIRST_TIER, label="Tier", elem_id="wr-tier")
        with gr.Row():
            split = gr.Radio([part.value for part in Split], value="dev", label="Split")
            index = gr.Number(0, label="Incident of the split", precision=0, minimum=0, elem_id="wr-index")
            mode = gr.Radio(list(MODES), value=MODES[0], label="Mode", visible=first == "tickets", elem_id="wr-mode")
        with gr.Row():
            seats = [_seat(number, allowed_policies) for number in range(seats_at_most)]
        if allowed_policies.allow_typed_models:
            _html(f'<p class="wr-help">{TYPED}</p>')
        with gr.Row(elem_classes="wr-bar"):
            start = gr.Button("Start", variant="primary", size="sm", elem_id="wr-start")
            surprise = gr.Button("A random incident", size="sm", elem_id="wr-random")
    return SetupWidgets(panel, env, scenario, tier, split, index, mode, seats, start, surprise)


def _seat(number: int, allowed_policies: AllowedPolicies) -> gr.Dropdown:
    shown = seat_update(allowed_policies.envs[0], number, allowed_policies)
    return gr.Dropdown(
        **shown, allow_custom_value=allowed_policies.allow_typed_models, min_width=150, elem_id=f"wr-seat-{number}"
    )


def _buttons() -> JsonObject:
    with gr.Row(elem_classes="wr-bar"):
        made: JsonObject = {name: _button(name, text) for name, text in BUTTONS.items()}
        made["pace"] = gr.Radio(
            list(PACES), value="steadily", show_label=False, container=False, elem_id="wr-pace", elem_classes="wr-pills"
        )
        made["spoilers"] = gr.Checkbox(
            False, label="Spoilers", container=False, visible=False, elem_id="wr-spoilers", min_width=90
        )
    return made


def _button(name: str, text: str) -> gr.Button:
    variants: dict[str, Variant] = {"run": "primary", "stop": "stop"}
    return gr.Button(text, variant=variants.get(name, "secondary"), size="sm", min_width=84, elem_id=f"wr-{name}")


def _answering(allowed_policies: AllowedPolicies) -> FormWidgets:
    with gr.Column(visible=False, elem_id="wr-answer") as panel:
        turn_panel = _html(elem_id="wr-desk")
        tool = gr.Radio([], label="Your call", elem_id="wr-tool", elem_classes="wr-pills")
        help_ = _html(elem_id="wr-help")
        slots = [_slot(number) for number in range(_longest_form(allowed_policies))]
        send = gr.Button("Send", variant="primary", elem_id="wr-send")
    return FormWidgets(panel, turn_panel, tool, help_, slots, send)


def _longest_form(allowed_policies: AllowedPolicies) -> int:
    """Questions of the longest form of any environment that is offered."""
    return max(
        form.most_fields(list(make(playable(env)[0], "easy", 0).tools.values())) for env in allowed_policies.envs
    )


def _slot(number: int) -> dict[str, Component]:
    made = {"choice": gr.Dropdown, "text": gr.Textbox, "number": gr.Number, "flag": gr.Checkbox}
    return {kind: made[kind](visible=False, elem_id=f"wr-field-{number}-{kind}") for kind in KINDS}
