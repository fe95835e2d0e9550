"""What the page draws of a match: one value per part of it, made in one place, so that every event draws alike."""

from typing import NamedTuple

from warroom.view.ui import pages, waterfall
from warroom.view.ui.debriefing import debriefing, headline
from warroom.view.ui.graph_view import graph
from warroom.view.ui.match import Match


class Drawing(NamedTuple):
    """HTML by part; empty where there is nothing to show."""

    status: str
    result: str
    graph: str
    conversation: str
    points_chart: str
    sections: str
    turn_panel: str
    debrief: str


def draw(match: Match, at: int | None = None, spoilers: bool = False, seat: str = pages.EVERYONE) -> Drawing:
    """The match as it was after `at` calls (now, without it), as far as it may be shown."""
    moment = len(match.steps) if at is None else max(0, min(at, len(match.steps)))
    visibility = match.visibility(spoilers)
    scene, steps, env = match.scene(moment, visibility), match.steps[:moment], match.env
    return Drawing(
        status=pages.status(match, moment, spoilers),
        result=pages.unavailable(match) or (headline(match) if match.done else ""),
        graph=graph(scene, match.layouts),
        conversation=pages.conversation(match, moment, visibility, seat),
        points_chart=waterfall.picture(steps, env.SEATS, env.budget, paid=visibility.seat is None),
        sections=pages.sections(scene),
        turn_panel=pages.turn_panel(match) if match.human_turn else "",
        debrief=debriefing(match) if match.done else "",
    )
