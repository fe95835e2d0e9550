"""What an event changes on the page, for one visitor: drawings, buttons, and the form of a person at a seat."""

from typing import Any

from warroom.core.errors import MissingExtra
from warroom.view.ui import form, pages
from warroom.view.ui.drawing import draw
from warroom.view.ui.lobby import Visit
from warroom.view.ui.match import Match
from warroom.view.ui.widgets import Answering, Showing, Widgets

try:
    import gradio as gr
except ImportError as error:
    raise MissingExtra("serve", error) from error

Update = dict[Any, Any]


def told(widgets: Widgets, text: str, kind: str = "info") -> Update:
    """One line to the visitor."""
    return {widgets.showing.notice: _shown(pages.notice(text, kind))}


def drawn(widgets: Widgets, visit: Visit) -> Update:
    """The match as its visitor looks at it, and which buttons do something now."""
    match, moving = visit.match, widgets.moving
    last, can = len(match.steps), match.can_move and not match.playing
    watched = match.sight(visit.spoilers).seat is None
    return {
        **_pictures(widgets.showing, visit),
        moving.who: gr.update(value=visit.seat, visible=watched and len(match.env.SEATS) > 1),
        moving.moment: gr.update(maximum=max(1, last), value=last if visit.at is None else visit.at, visible=last > 0),
        **{button: gr.update(interactive=can) for button in (moving.call, moving.turn, moving.run)},
        moving.stop: gr.update(interactive=match.playing),
    }


def opened(widgets: Widgets, visit: Visit) -> Update:
    """What changes with another incident, besides what is drawn."""
    match = visit.match
    hides = bool(match.persons) or match.setup.surprise
    return {
        **drawn(widgets, visit),
        **asked(widgets.answering, match),
        widgets.choosing.panel: gr.update(open=False),
        widgets.moving.spoilers: gr.update(value=False, visible=hides),
        widgets.moving.who: gr.update(
            choices=[pages.EVERYONE, *match.env.SEATS],
            value=pages.EVERYONE,
            visible=not match.persons and len(match.env.SEATS) > 1,
        ),
    }


def asked(answering: Answering, match: Match) -> Update:
    """The form of the person whose turn it is, empty; hidden if it is nobody's."""
    if not match.persons_turn:
        return {answering.panel: gr.update(visible=False)}
    tools = form.tools_now(match.env)
    labels = [(f"{form.words(tool.name)}{'' if tool.ends_turn else ' · read'}", tool.name) for tool in tools]
    return {
        answering.panel: gr.update(visible=True),
        answering.desk: _shown(pages.desk(match)),
        answering.tool: gr.update(choices=labels, value=tools[0].name),
        **questions(answering, match, tools[0].name),
    }


def questions(answering: Answering, match: Match, name: str) -> Update:
    """The fields of a tool; none where it is not to be had."""
    tool = next((tool for tool in form.tools_now(match.env) if tool.name == name), None)
    fields = form.fields(tool, match.env.vocabularies) if tool is not None else []
    out: Update = {answering.help: _shown(pages.hint(tool) if tool is not None else "")}
    for number, slot in enumerate(answering.slots):
        field = fields[number] if number < len(fields) else None
        out |= {box: _box(kind, field) for kind, box in slot.items()}
    return out


def _pictures(showing: Showing, visit: Visit) -> Update:
    match = visit.match
    made = draw(match, visit.at, visit.spoilers, visit.seat)
    # What a person's colleagues do is not shown; that they are at it is.
    busy = f"{match.thinking} is thinking …" if match.thinking is not None and match.persons else ""
    return {
        showing.notice: _shown(pages.notice(busy, "busy")),
        showing.status: _shown(made.status),
        showing.result: _shown(made.result),
        showing.graph: _shown(made.graph),
        showing.talk: _shown(made.talk),
        showing.fall: _shown(made.fall),
        showing.sections: _shown(made.sections),
        showing.debrief: _shown(made.debrief),
    }


def _shown(text: str) -> Any:
    return gr.update(value=text, visible=bool(text) or "hidden")


def _box(kind: str, field: form.Field | None) -> Any:
    """A field of the pool as the question needs it; hidden where it is not asked for."""
    empty = {"flag": False, "text": ""}.get(kind)
    if field is None or field.kind != kind:
        return gr.update(visible=False, value=empty)
    label = form.words(field.name) + ("" if field.required else " (optional)")
    more: dict[str, Any] = {}
    if kind == "choice":
        more = {"choices": list(field.choices)}
    elif kind == "text":
        more = {"lines": field.lines}
    return gr.update(visible=True, value=empty, label=label, info=field.help, **more)
