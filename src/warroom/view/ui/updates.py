"""What an event changes on the page, for one visitor: drawings, buttons, and the form of a person at a seat."""

from warroom.core.errors import MissingExtra
from warroom.core.types import JsonObject
from warroom.view.ui import form, pages
from warroom.view.ui.drawing import draw
from warroom.view.ui.lobby import Visit
from warroom.view.ui.match import Match
from warroom.view.ui.widgets import DisplayWidgets, FormWidgets, Widgets

try:
    import gradio as gr
    from gradio.blocks import Block
except ImportError as error:
    raise MissingExtra("serve", error) from error

Update = dict[Block, JsonObject]
"""What changes of each widget."""


def notice_update(widgets: Widgets, text: str, kind: str = "info") -> Update:
    """One line to the visitor."""
    return {widgets.display.notice: _shown(pages.notice(text, kind))}


def drawing_update(widgets: Widgets, visit: Visit) -> Update:
    """The match as its visitor looks at it, and which buttons do something now."""
    match, controls = visit.match, widgets.controls
    last, can = len(match.steps), match.can_move and not match.playing
    watched = match.visibility(visit.spoilers).seat is None
    return {
        **_pictures(widgets.display, visit),
        controls.who: gr.update(value=visit.seat, visible=watched and len(match.env.SEATS) > 1),
        controls.moment: gr.update(
            maximum=max(1, last), value=last if visit.at is None else visit.at, visible=last > 0
        ),
        **{button: gr.update(interactive=can) for button in (controls.call, controls.turn, controls.run)},
        controls.stop: gr.update(interactive=match.playing),
    }


def opened_update(widgets: Widgets, visit: Visit) -> Update:
    """What changes with another incident, besides what is drawn."""
    match = visit.match
    hides = bool(match.human_seats) or match.setup.surprise
    return {
        **drawing_update(widgets, visit),
        **form_update(widgets.form_widgets, match),
        widgets.setup_widgets.panel: gr.update(open=False),
        widgets.controls.spoilers: gr.update(value=False, visible=hides),
        widgets.controls.who: gr.update(
            choices=[pages.EVERYONE, *match.env.SEATS],
            value=pages.EVERYONE,
            visible=not match.human_seats and len(match.env.SEATS) > 1,
        ),
    }


def form_update(form_widgets: FormWidgets, match: Match) -> Update:
    """The form of the person whose turn it is, empty; hidden if it is nobody's."""
    if not match.human_turn:
        return {form_widgets.panel: gr.update(visible=False)}
    tools = form.available_tools(match.env)
    labels = [(f"{form.display_name(tool.name)}{'' if tool.ends_turn else ' · read'}", tool.name) for tool in tools]
    return {
        form_widgets.panel: gr.update(visible=True),
        form_widgets.turn_panel: _shown(pages.turn_panel(match)),
        form_widgets.tool: gr.update(choices=labels, value=tools[0].name),
        **fields_update(form_widgets, match, tools[0].name),
    }


def fields_update(form_widgets: FormWidgets, match: Match, name: str) -> Update:
    """The fields of a tool; none where it is not to be had."""
    tool = next((tool for tool in form.available_tools(match.env) if tool.name == name), None)
    fields = form.fields(tool, match.env.allowed_values) if tool is not None else []
    out: Update = {form_widgets.help: _shown(pages.hint(tool) if tool is not None else "")}
    for number, slot in enumerate(form_widgets.slots):
        field = fields[number] if number < len(fields) else None
        out |= {box: _box(kind, field) for kind, box in slot.items()}
    return out


def _pictures(display: DisplayWidgets, visit: Visit) -> Update:
    match = visit.match
    made = draw(match, visit.at, visit.spoilers, visit.seat)
    # What a person's colleagues do is not shown; that they are at it is.
    busy = f"{match.thinking} is thinking …" if match.thinking is not None and match.human_seats else ""
    return {
        display.notice: _shown(pages.notice(busy, "busy")),
        display.status: _shown(made.status),
        display.result: _shown(made.result),
        display.graph: _shown(made.graph),
        display.conversation: _shown(made.conversation),
        display.points_chart: _shown(made.points_chart),
        display.sections: _shown(made.sections),
        display.debrief: _shown(made.debrief),
    }


def _shown(text: str) -> JsonObject:
    return gr.update(value=text, visible=bool(text) or "hidden")


def _box(kind: str, field: form.Field | None) -> JsonObject:
    """A field of the pool as the question needs it; hidden where it is not asked for."""
    empty = {"flag": False, "text": ""}.get(kind)
    if field is None or field.kind != kind:
        return gr.update(visible=False, value=empty)
    label = form.display_name(field.name) + ("" if field.required else " (optional)")
    more: JsonObject = {}
    if kind == "choice":
        more = {"choices": list(field.choices)}
    elif kind == "text":
        more = {"lines": field.lines}
    return gr.update(visible=True, value=empty, label=label, info=field.help, **more)
