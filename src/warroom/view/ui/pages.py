"""A match as HTML. Whatever an incident says is text here: everything is escaped, nothing of it is ever markup."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from warroom.core.scene import Scene, Section
from warroom.core.tools import Tool
from warroom.core.types import JsonObject
from warroom.core.words import value_in_words
from warroom.episode import Step
from warroom.view.ui.form import display_name, reads_left, signed
from warroom.view.ui.match import Match, Visibility
from warroom.view.ui.policy_choice import PERSON

SENTENCE = "Production incidents, played by agents, models and you: who broke it, what fixes it, who must be told."
EVERYONE = "everyone"
"""The conversation of all seats."""
SHOWN_POINTS = 5.0
"""Points from which a call has its points beside it; what each turn costs is in the picture of points."""
SPEECH_ARGUMENTS = ("say", "resolution")
"""Arguments that are speech."""
SHORT = 120
"""Characters of an answer that stands beside its call; a longer one is unfolded."""
LONGEST_LINES = 60
"""Lines of a section that are shown, the last ones."""
TONES = (
    ("critical", ("critical", "ERROR", "FATAL")),
    ("degraded", ("degraded", "WARN", "no data")),
)
"""How a line is coloured, by words that it holds; one that holds words of both is a table."""


def header() -> str:
    """The name and one sentence."""
    return f'<header class="wr-head"><h1>Warroom</h1><p>{escape(SENTENCE)}</p></header>'


def notice(text: str, kind: str = "info") -> str:
    """One line to the visitor: `info`, `wrong` or `busy`; nothing for an empty text."""
    mark = '<span class="wr-spin"></span>' if kind == "busy" else ""
    role = "alert" if kind == "wrong" else "status"
    return f'<div class="wr-notice wr-{kind}" role="{role}">{mark}{escape(text)}</div>' if text else ""


def status(match: Match, at: int, spoilers: bool = False) -> str:
    """Which incident, how far it is, what it brought, and who sits where."""
    setup, visibility = match.setup, match.visibility(spoilers)
    hidden = setup.surprise and not visibility.truth
    name = "a surprise" if hidden else display_name(setup.spec.name)
    facts = [
        f"<b>{escape(setup.spec.env)} · {escape(name)}</b>",
        escape(f"{setup.spec.tier} · {setup.spec.split} {setup.spec.index}"),
        escape(match.scene(at, visibility).clock),
    ]
    if visibility.seat is None:
        facts.append(f'<b class="wr-total">{signed(_total(match, at))} points</b>')
    chips = "".join(f"<span>{fact}</span>" for fact in facts)
    return (
        f'<div class="wr-top"><div class="wr-status">{chips}</div><div class="wr-seats">{_seat_list(match)}</div></div>'
    )


def unavailable(match: Match) -> str:
    """That a model is missing, why, and that nobody plays in its place; empty where all are there."""
    lines = [
        f"<p><b>{escape(seat)}: {escape(match.setup.seats[seat])} is UNAVAILABLE.</b> {escape(reason)}</p>"
        for seat, reason in match.unavailable.items()
    ]
    explanation = "Nothing was played in its place" + ("; the incident stays where it was." if match.steps else ".")
    return f'<section class="wr-missing" role="alert">{"".join(lines)}<p>{explanation}</p></section>' if lines else ""


def conversation(match: Match, at: int, visibility: Visibility, seat: str = EVERYONE) -> str:
    """What seats saw, did and said, turn by turn, up to the call number `at`."""
    steps = [step for step in match.steps[:at] if seat in (EVERYONE, step.seat)]
    if visibility.seat is not None:
        steps = [step for step in steps if step.seat == visibility.seat]
    paid = visibility.seat is None
    # The last turn comes first: the box runs upwards, so that it opens at its end without a script.
    turns = [_turn(match, list(played), paid) for _, played in groupby(steps, key=lambda step: step.turn)][::-1]
    if match.thinking is not None and at == len(match.steps) and visibility.seat is None:
        turns.insert(0, _thinking(match, match.thinking))
    own = "" if visibility.seat is None else " wr-own"
    return f'<div class="wr-talk{own}" tabindex="0">{"".join(turns) or _no_messages(match)}</div>'


def sections(scene: Scene) -> str:
    """What is told of the incident: alerts, log lines, actions of agents, the ticket."""
    return f'<div class="wr-sections">{"".join(map(_section, scene.sections))}</div>' if scene.sections else ""


def turn_panel(match: Match) -> str:
    """What the person whose turn it is has in front of it: its page or its last reading, and what it was told first."""
    env = match.env
    left = reads_left(env)
    reads = any(not tool.ends_turn for tool in env.tools_of(env.seat))
    allowance = f"{left} of {env.reads_per_turn} readings left, then one act" if reads else "every call takes a turn"
    last = match.steps[-1] if match.steps and match.steps[-1].seat == env.seat else None
    refused = f'<p class="wr-refused">{escape(last.result)}</p>' if last is not None and last.refused else ""
    return (
        f'<section class="wr-desk" style="--seat:{_color(match, env.seat)}">'
        f"<h2>You are {escape(env.seat)} <small>turn {env.turn + 1} of {env.budget} · {escape(allowance)}</small></h2>"
        f"{refused}<pre>{escape(env.observe().render())}</pre>"
        f"<details><summary>What you were told at the start</summary><pre>{escape(env.brief(env.seat).render())}</pre>"
        "</details></section>"
    )


def hint(tool: Tool) -> str:
    """What a tool does, and what it costs."""
    cost = "An act: it ends your turn." if tool.ends_turn else "A reading: it leaves your turn open."
    return f'<p class="wr-help"><b>{cost}</b> {escape(tool.description)}</p>'


def facts(title: str, known: JsonObject) -> str:
    """Names and values in two columns."""
    rows = "".join(
        f"<dt>{escape(display_name(name))}</dt><dd>{escape(value_in_words(value))}</dd>"
        for name, value in known.items()
        if value is not None
    )
    return f'<section class="wr-card"><h3>{escape(title)}</h3><dl class="wr-facts">{rows}</dl></section>'


# -- parts ------------------------------------------------------------------------------------------


def _total(match: Match, at: int) -> float:
    return sum(step.points_gained for step in match.steps[:at])


def _color(match: Match, seat: str) -> str:
    return f"var(--wr-seat-{match.env.SEATS.index(seat)})"


def _seat_list(match: Match) -> str:
    out = ""
    for seat in match.env.SEATS:
        name, acting = match.setup.seats[seat], not match.done and match.env.seat == seat
        missing = ' <b class="wr-bad">UNAVAILABLE</b>' if seat in match.unavailable else ""
        out += (
            f'<span class="wr-chair{" wr-acting" if acting else ""}" style="--seat:{_color(match, seat)}">'
            f"{escape(seat)} <em>{escape('you' if name == PERSON else name)}</em>{missing}</span>"
        )
    return out


def _no_messages(match: Match) -> str:
    if match.unavailable:
        return '<p class="wr-quiet">Nothing was played.</p>'
    if match.human_seats and not match.done:
        return '<p class="wr-quiet">What you do will stand here.</p>'
    return '<p class="wr-quiet">Nobody has said or done anything yet. Take a step, or run the incident to its end.</p>'


def _thinking(match: Match, seat: str) -> str:
    who = escape(f"{match.setup.seats[seat]} at {seat} is thinking")
    return (
        f'<article class="wr-turn" style="--seat:{_color(match, seat)}"><span class="wr-spin"></span>{who} …</article>'
    )


def _turn(match: Match, played: list[Step], paid: bool) -> str:
    """One seat's turn: the page that it saw, its readings, its act, what it said and what came of it."""
    first = played[0]
    calls = "".join(_call(step, paid) for step in played)
    return (
        f'<article class="wr-turn" style="--seat:{_color(match, first.seat)}">'
        f"<h4>{escape(first.seat)} <small>turn {first.turn + 1}</small></h4>"
        f"{calls}<details><summary>what {escape(first.seat)} saw</summary>"
        f"<pre>{escape(first.observation)}</pre></details>"
        "</article>"
    )


def _call(step: Step, paid: bool) -> str:
    speech = "".join(
        f'<blockquote title="{escape(name)}">{escape(str(step.arguments[name]))}</blockquote>'
        for name in SPEECH_ARGUMENTS
        if str(step.arguments.get(name) or "").strip()
    )
    arguments = " ".join(
        f"<i>{escape(str(name))}</i> {escape(value_in_words(value))}"
        for name, value in step.arguments.items()
        if name not in SPEECH_ARGUMENTS
    )
    points = _points(step.points_gained) if paid else ""
    return (
        f'{speech}<div class="wr-call{" wr-wrong" if step.refused else ""}">'
        f"<code>{escape(str(step.tool))}</code> {arguments} {points}{_answer(step)}</div>"
    )


def _answer(step: Step) -> str:
    if step.refused or ("\n" not in step.result and len(step.result) <= SHORT):
        return f' <span class="wr-answer">→ {escape(step.result)}</span>'
    head, _, _ = step.result.partition("\n")
    return f"<details><summary>{escape(head[:90])}</summary><pre>{escape(step.result)}</pre></details>"


def _points(value: float) -> str:
    if abs(value) < SHOWN_POINTS:
        return ""
    return f'<b class="{"wr-good" if value > 0 else "wr-bad"}">{signed(value)}</b>'


def _section(section: Section) -> str:
    lines: Sequence[str] = section.lines[-LONGEST_LINES:]
    shown = "".join(f'<li class="{_tone(line)}">{escape(line)}</li>' for line in lines)
    body = f"<ul>{shown}</ul>" if shown else '<p class="wr-quiet">nothing</p>'
    return f'<section class="wr-card"><h3>{escape(section.title)}</h3>{body}</section>'


def _tone(line: str) -> str:
    found = [tone for tone, signs in TONES if any(sign in line for sign in signs)]
    return f"wr-{found[0]}" if len(found) == 1 else ""
