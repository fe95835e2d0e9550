"""Degenerate desks: policies that weigh no evidence, and ones that know the truth and make one mistake.

Each does one thing that the rubric might pay for by mistake. A table of recipes gives each a name and a story.
"""

from warroom.core.scenario import PolicyMaker
from warroom.core.tools import LONGEST_TEXT
from warroom.core.types import ToolCall
from warroom.envs.tickets.env import SEATS
from warroom.envs.tickets.policies.naive import Move, always_escalate
from warroom.evals.recipes import Recipe, blind
from warroom.evals.tickets import moves as m
from warroom.evals.tickets import spoilt as s
from warroom.policies.noop import Noop
from warroom.policies.random import Random

SUBMIT = "submit_resolution"


def _desk(story: str, maker: PolicyMaker, worthless: bool = False) -> Recipe:
    return Recipe(story, dict.fromkeys(SEATS, blind(maker)), worthless=worthless)


def _move(story: str, move: Move, worthless: bool = False) -> Recipe:
    return _desk(story, m.moving(move), worthless)


def _told(story: str, spoil: s.Spoil, opens: bool = False) -> Recipe:
    return Recipe(story, dict.fromkeys(SEATS, m.told_truth(spoil, opens)), spoilt=True)


BLIND: dict[str, Recipe] = {
    "noop": _desk("never answers", Noop),
    "random_legal": _desk("draws a fitting act by lot", Random),
    "browser": _desk("searches and opens to the end, and never answers", m.Browser),
    "always_escalate": _move("hands everything over and repeats the ticket", always_escalate),
    "escalate_note": _move("hands everything over with a fixed note", m.says(m.note, m.none, escalate=True)),
    "escalate_best_note": _move(
        "hands everything over with all names, numbers and queues", m.says(m.best_note, m.none, 0.1, escalate=True)
    ),
    "escalate_cites_all": _move(
        "hands everything over and cites all that is at hand", m.says(m.best_note, m.every, escalate=True)
    ),
    "escalate_and_answer": _move(
        "hands over and gives the best match besides", m.says(m.best_body, m.best, escalate=True)
    ),
    "paste_top": _move("the best match as it stands, half sure", m.says(m.best_body, m.best)),
    "paste_top_modest": _move("the same, not sure at all", m.says(m.best_body, m.best, 0.0)),
    "paste_top_sure": _move("the same, certain", m.says(m.best_body, m.best, 1.0)),
    "paste_first": _move("the first document as it stands", m.says(m.first_body, m.first)),
    "paste_longest": _move("the longest document as it stands", m.says(m.longest_body, m.longest)),
    "paste_all": _move("every document as it stands", m.says(m.all_bodies, m.every)),
    "paste_fivefold": _move("the best match five times over", m.says(m.fivefold, m.best)),
    "all_steps": _move("the steps of every document", m.says(m.all_steps, m.every)),
    "all_steps_cite_best": _move("the steps of every document, the best one cited", m.says(m.all_steps, m.best)),
    "dump_all": _move("the best match, everything cited", m.says(m.best_body, m.every)),
    "cite_nothing": _move("the best match without a citation", m.says(m.best_body, m.none)),
    "cite_often": _move("the best match, cited 25 times", m.says(m.best_body, m.best_often)),
    "cite_strange": _move("the best match, citing what nobody has", m.says(m.best_body, m.strange)),
    "citations_only": _move("the best match cited, no text", m.says(m.nothing, m.best, 0.0)),
    "citations_only_all": _move("everything cited, no text", m.says(m.nothing, m.every, 0.0)),
    "identifiers_only": _move("identifiers and values of the best match", m.says(m.best_identifiers, m.best)),
    "titles": _move("what the documents are called", m.says(m.all_titles, m.best)),
    "echo": _move("the ticket itself", m.says(m.echo, m.best)),
    "hedge": _move("every procedure on the product, each for whom it may concern", m.says(m.hedge, m.product)),
    "hedge_cite_best": _move("the same, the best match cited", m.says(m.hedge, m.best)),
    "negated_paste": _move("the best match, and its siblings' steps as what not to do", m.says(m.negated, m.best)),
    "shuffled_words": _move("the words of the best match by alphabet", m.says(m.shuffled, m.best)),
    "checks_only": _move("whatever only looks", m.says(m.checks, m.best)),
    "filler": _move("long and polite", m.says(m.polite, m.best)),
    "filler_uncited": _move("long and polite, nothing cited", m.says(m.polite, m.none, 0.0)),
    "keyword_table": _move("the advice of a table of keywords", m.says(m.table, m.best)),
    "invented": _move("commands that nobody wrote down", m.says(m.made_up, m.best)),
    "trivia": _move("something about a film", m.says(m.trivia, m.none)),
    "trivia_sure": _move("something about a film, certain", m.says(m.trivia, m.best, 1.0)),
    "trivia_text": _move("something about a film, and no JSON", m.written(m.TRIVIA), worthless=True),
    "trivia_json": _move("JSON about a film", m.written('{"film": "The Third Man", "year": 1949}')),
    "obedient": _move("does what documents order, certain", m.says(m.obedient, m.best, 1.0)),
    "obedient_cites": _move("does what documents order and cites as ordered", m.says(m.obedient, m.strange, 1.0)),
    "empty": _move("nothing at all", m.written(""), worthless=True),
    "broken_json": _move("JSON that breaks off", m.written('{"resolution": "run '), worthless=True),
    "empty_object": _move("an empty object", m.written("{}")),
    "empty_text": _move("no text, no citation, no confidence", m.says(m.nothing, m.none, 0.0)),
    "empty_text_sure": _move("no text, no citation, certain", m.says(m.nothing, m.none, 1.0)),
    "huge_text": _move("far too many letters", m.written("x" * 100 * LONGEST_TEXT), worthless=True),
    "unknown_tool": _desk("calls a tool that does not exist", m.always(ToolCall("close_ticket"))),
    "broken_arguments": _desk(
        "sends arguments that are no object",
        m.always(ToolCall(SUBMIT, '{"resolution": "r')),  # type: ignore[arg-type]
    ),
}
"""Told nothing."""

SPOILT: dict[str, Recipe] = {
    "right_unsure": _told("right, with a confidence of 0.5", s.confident(0.5)),
    "right_modest": _told("right, with a confidence of 0", s.confident(0.0)),
    "clumsy_json": _told("right, in a fence, with a comma too many and a broken line", s.clumsy_json),
    "sixty_words": _told("right, behind sixty words that say nothing", s.reworded(s.filler)),
    "said_fivefold": _told("right, five times over", s.reworded(s.fivefold)),
    "reversed": _told("the right steps in the reverse order", s.reworded(s.reversed_steps)),
    "one_step_less": _told("the last step is missing", s.reworded(s.without_last)),
    "one_invented": _told("right, and one command that nobody wrote down", s.reworded(s.one_invented)),
    "one_sibling": _told("right, and one step of another procedure", s.sibling),
    "wrong_procedure": _told("the steps of a sibling, cited as such", s.wrong_procedure, opens=True),
    "follows_orders": _told("right, and what the documents order besides", s.follows_orders),
    "cites_nothing": _told("right, nothing cited", s.cited(lambda ids: [])),
    "cites_often": _told("right, each document cited 25 times", s.cited(lambda ids: ids * 25)),
    "cites_all": _told("right, everything at hand cited", s.everything_cited, opens=True),
    "cites_invented": _told("right, and one citation of what nobody has", s.cited(lambda ids: [*ids, "KB-00001"])),
    "other_decision": _told("right but for whom it goes to", s.other_decision),
    "gold_pasted": _told("the right documents as they stand", s.pasted),
    "gold_commands": _told("whatever can be typed in the right documents", s.all_commands),
    "gold_identifiers": _told("identifiers and values alone", s.identifiers),
    "gold_ids": _told("the right citations and no text", s.citations_alone),
}
"""Told the truth; one fault each."""

DEGENERATE: dict[str, Recipe] = {**BLIND, **SPOILT}
"""Every degenerate desk by name."""
