"""After the end: what came of it, what it truly was, what would have been, and what the oracle would have done."""

from collections.abc import Sequence
from html import escape
from itertools import groupby, zip_longest

from warroom.core.words import value_in_words
from warroom.episode import Step
from warroom.view.ui import pages
from warroom.view.ui.form import signed
from warroom.view.ui.match import Match

INTERNAL = ("redraws",)
"""Parts of the truth that tell nobody anything of the incident."""
LONGEST_CALL = 160
"""Characters of a call in the table."""


def headline(match: Match) -> str:
    """What came of it, in two lines."""
    episode, (low, high) = match.episode, match.env.bounds()
    solved = episode.outcome.get("solved")
    said = "Over" if solved is None else "Solved" if solved else "Not solved"
    tone = {None: "unknown", True: "healthy"}.get(solved if solved is None else bool(solved), "critical")
    turns = f"{match.env.turn} turn{'s' if match.env.turn != 1 else ''}"
    return (
        f'<section class="wr-result" style="--tone:var(--wr-{tone})" role="status">'
        f"<h2>{said} in {turns}: {signed(episode.total)} points</h2>"
        f"<p>Score {episode.score:.2f}: 0 is doing nothing ({signed(low)} points), 1 is the oracle, who is told the "
        f"truth ({signed(high)}). Played by {escape(_players(match))}. What it was stands below.</p></section>"
    )


def debriefing(match: Match) -> str:
    """Everything that was hidden, and what was done beside what the oracle would have done."""
    debrief = match.debrief
    truth = {name: value for name, value in debrief.truth.items() if name not in INTERNAL}
    otherwise = "".join(f"<p>{escape(sentence)}</p>" for sentence in debrief.counterfactual)
    cards = [
        pages.facts("What it was", truth),
        pages.facts("What came of it", dict(match.episode.outcome)),
        f'<section class="wr-card"><h3>What would have been</h3>{otherwise}</section>' if otherwise else "",
        _oracle_table(match, debrief.oracle, debrief.oracle_total),
    ]
    return f'<div class="wr-debrief">{"".join(cards)}</div>'


def _players(match: Match) -> str:
    """Who played, each with its seats where there are several."""
    seats = match.setup.seats
    named = {name: [seat for seat in seats if seats[seat] == name] for name in seats.values()}
    if len(named) == 1:
        return next(iter(named))
    return ", ".join(f"{name} ({', '.join(own)})" for name, own in named.items())


def _oracle_table(match: Match, oracle: Sequence[Step], total: float) -> str:
    """Turn by turn: seats move in the same order, so that turns of one number belong to one seat."""
    done, best = _by_turn(match.steps), _by_turn(oracle)
    nothing: list[Step] = []
    rows = "".join(
        f"<tr><td>{number}</td><td>{escape((ours or theirs)[0].seat)}</td>"
        f"<td>{_calls(ours)}</td><td>{_calls(theirs)}</td></tr>"
        for number, (ours, theirs) in enumerate(zip_longest(done, best, fillvalue=nothing), 1)
    )
    return (
        '<section class="wr-card wr-table"><h3>What was done, and what the oracle would have done</h3><div><table>'
        f"<thead><tr><th>turn</th><th>seat</th><th>done ({signed(match.env.total)} points)</th>"
        f"<th>oracle ({signed(total)} points)</th></tr></thead><tbody>{rows}</tbody></table></div></section>"
    )


def _by_turn(steps: Sequence[Step]) -> list[list[Step]]:
    return [list(played) for _, played in groupby(steps, key=lambda step: step.turn)]


def _calls(steps: Sequence[Step]) -> str:
    return "<br>".join(_call(step) for step in steps) or '<span class="wr-quiet">over</span>'


def _call(step: Step) -> str:
    arguments = " ".join(value_in_words(value) for name, value in step.arguments.items() if name != "say")
    text = arguments if len(arguments) <= LONGEST_CALL else f"{arguments[: LONGEST_CALL - 1]}…"
    mark = ' class="wr-bad"' if step.refused else ""
    return f"<code{mark}>{escape(str(step.tool))}</code> {escape(text)}"
