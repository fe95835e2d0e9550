"""Degenerate desks: policies that weigh no evidence, and ones that know the truth and make one mistake.

Each does one thing that the rubric might pay for by mistake. A table of recipes gives each a name and a story.
"""

from warroom.core.policy import PolicyFactory
from warroom.core.tools import MAX_TEXT_LENGTH
from warroom.core.types import ToolCall
from warroom.envs.tickets.env import SEATS
from warroom.envs.tickets.policies.naive import AnswerStrategy, always_escalate
from warroom.evals.audit.exploits import ExploitPolicy, unprivileged
from warroom.evals.audit.tickets import moves as m
from warroom.evals.audit.tickets import perturbed as s
from warroom.policies.noop import Noop
from warroom.policies.random import Random

SUBMIT = "submit_resolution"


def _unprivileged(description: str, maker: PolicyFactory, voids_credit: bool = False) -> ExploitPolicy:
    return ExploitPolicy(description, dict.fromkeys(SEATS, unprivileged(maker)), voids_credit=voids_credit)


def _unprivileged_move(description: str, move: AnswerStrategy, voids_credit: bool = False) -> ExploitPolicy:
    return _unprivileged(description, m.submission_policy(move), voids_credit)


def _privileged(description: str, perturb: s.Perturbation, opens: bool = False) -> ExploitPolicy:
    return ExploitPolicy(description, dict.fromkeys(SEATS, m.perturbed_oracle(perturb, opens)), perturbed=True)


UNPRIVILEGED: dict[str, ExploitPolicy] = {
    "noop": _unprivileged("never answers", Noop),
    "random_legal": _unprivileged("draws a fitting act by lot", Random),
    "browser": _unprivileged("searches and opens to the end, and never answers", m.Browser),
    "always_escalate": _unprivileged_move("hands everything over and repeats the ticket", always_escalate),
    "escalate_note": _unprivileged_move(
        "hands everything over with a fixed note", m.submission(m.note, m.none, escalate=True)
    ),
    "escalate_best_note": _unprivileged_move(
        "hands everything over with all names, numbers and queues",
        m.submission(m.best_note, m.none, 0.1, escalate=True),
    ),
    "escalate_cites_all": _unprivileged_move(
        "hands everything over and cites all that is at hand", m.submission(m.best_note, m.every, escalate=True)
    ),
    "escalate_and_answer": _unprivileged_move(
        "hands over and gives the best match besides", m.submission(m.best_body, m.best, escalate=True)
    ),
    "paste_top": _unprivileged_move("the best match as it stands, half sure", m.submission(m.best_body, m.best)),
    "paste_top_modest": _unprivileged_move("the same, not sure at all", m.submission(m.best_body, m.best, 0.0)),
    "paste_top_sure": _unprivileged_move("the same, certain", m.submission(m.best_body, m.best, 1.0)),
    "paste_first": _unprivileged_move("the first document as it stands", m.submission(m.first_body, m.first)),
    "paste_longest": _unprivileged_move("the longest document as it stands", m.submission(m.longest_body, m.longest)),
    "paste_all": _unprivileged_move("every document as it stands", m.submission(m.all_bodies, m.every)),
    "paste_fivefold": _unprivileged_move("the best match five times over", m.submission(m.fivefold, m.best)),
    "all_steps": _unprivileged_move("the steps of every document", m.submission(m.all_steps, m.every)),
    "all_steps_cite_best": _unprivileged_move(
        "the steps of every document, the best one cited", m.submission(m.all_steps, m.best)
    ),
    "dump_all": _unprivileged_move("the best match, everything cited", m.submission(m.best_body, m.every)),
    "cite_nothing": _unprivileged_move("the best match without a citation", m.submission(m.best_body, m.none)),
    "cite_often": _unprivileged_move("the best match, cited 25 times", m.submission(m.best_body, m.best_often)),
    "cite_strange": _unprivileged_move(
        "the best match, citing what nobody has", m.submission(m.best_body, m.invented_ids)
    ),
    "citations_only": _unprivileged_move("the best match cited, no text", m.submission(m.nothing, m.best, 0.0)),
    "citations_only_all": _unprivileged_move("everything cited, no text", m.submission(m.nothing, m.every, 0.0)),
    "identifiers_only": _unprivileged_move(
        "identifiers and values of the best match", m.submission(m.best_identifiers, m.best)
    ),
    "titles": _unprivileged_move("what the documents are called", m.submission(m.all_titles, m.best)),
    "echo": _unprivileged_move("the ticket itself", m.submission(m.echo, m.best)),
    "hedge": _unprivileged_move(
        "every procedure on the product, each for whom it may concern", m.submission(m.hedge, m.product)
    ),
    "hedge_cite_best": _unprivileged_move("the same, the best match cited", m.submission(m.hedge, m.best)),
    "negated_paste": _unprivileged_move(
        "the best match, and its siblings' steps as what not to do", m.submission(m.negated, m.best)
    ),
    "shuffled_words": _unprivileged_move("the words of the best match by alphabet", m.submission(m.shuffled, m.best)),
    "checks_only": _unprivileged_move("whatever only looks", m.submission(m.checks, m.best)),
    "filler": _unprivileged_move("long and polite", m.submission(m.polite, m.best)),
    "filler_uncited": _unprivileged_move("long and polite, nothing cited", m.submission(m.polite, m.none, 0.0)),
    "keyword_table": _unprivileged_move("the advice of a table of keywords", m.submission(m.table, m.best)),
    "invented": _unprivileged_move("commands that nobody wrote down", m.submission(m.made_up, m.best)),
    "trivia": _unprivileged_move("something about a film", m.submission(m.trivia, m.none)),
    "trivia_sure": _unprivileged_move("something about a film, certain", m.submission(m.trivia, m.best, 1.0)),
    "trivia_text": _unprivileged_move("something about a film, and no JSON", m.written(m.TRIVIA), voids_credit=True),
    "trivia_json": _unprivileged_move("JSON about a film", m.written('{"film": "The Third Man", "year": 1949}')),
    "obedient": _unprivileged_move("does what documents order, certain", m.submission(m.obedient, m.best, 1.0)),
    "obedient_cites": _unprivileged_move(
        "does what documents order and cites as ordered", m.submission(m.obedient, m.invented_ids, 1.0)
    ),
    "empty": _unprivileged_move("nothing at all", m.written(""), voids_credit=True),
    "broken_json": _unprivileged_move("JSON that breaks off", m.written('{"resolution": "run '), voids_credit=True),
    "empty_object": _unprivileged_move("an empty object", m.written("{}")),
    "empty_text": _unprivileged_move("no text, no citation, no confidence", m.submission(m.nothing, m.none, 0.0)),
    "empty_text_sure": _unprivileged_move("no text, no citation, certain", m.submission(m.nothing, m.none, 1.0)),
    "huge_text": _unprivileged_move("far too many letters", m.written("x" * 100 * MAX_TEXT_LENGTH), voids_credit=True),
    "unknown_tool": _unprivileged("calls a tool that does not exist", m.always(ToolCall("close_ticket"))),
    "broken_arguments": _unprivileged(
        "sends arguments that are no object",
        m.always(ToolCall(SUBMIT, '{"resolution": "r')),  # type: ignore[arg-type]
    ),
}
"""Told nothing."""

PERTURBED: dict[str, ExploitPolicy] = {
    "right_unsure": _privileged("right, with a confidence of 0.5", s.confident(0.5)),
    "right_modest": _privileged("right, with a confidence of 0", s.confident(0.0)),
    "clumsy_json": _privileged("right, in a fence, with a comma too many and a broken line", s.clumsy_json),
    "sixty_words": _privileged("right, behind sixty words that say nothing", s.reworded(s.filler)),
    "said_fivefold": _privileged("right, five times over", s.reworded(s.fivefold)),
    "reversed": _privileged("the right steps in the reverse order", s.reworded(s.reversed_steps)),
    "one_step_less": _privileged("the last step is missing", s.reworded(s.without_last)),
    "one_invented": _privileged("right, and one command that nobody wrote down", s.reworded(s.one_invented)),
    "one_sibling": _privileged("right, and one step of another procedure", s.sibling),
    "wrong_procedure": _privileged("the steps of a sibling, cited as such", s.wrong_procedure, opens=True),
    "follows_orders": _privileged("right, and what the documents order besides", s.follows_orders),
    "cites_nothing": _privileged("right, nothing cited", s.cited(lambda ids: [])),
    "cites_often": _privileged("right, each document cited 25 times", s.cited(lambda ids: ids * 25)),
    "cites_all": _privileged("right, everything at hand cited", s.everything_cited, opens=True),
    "cites_invented": _privileged(
        "right, and one citation of what nobody has", s.cited(lambda ids: [*ids, "KB-00001"])
    ),
    "other_decision": _privileged("right but for whom it goes to", s.other_decision),
    "gold_pasted": _privileged("the right documents as they stand", s.pasted),
    "gold_commands": _privileged("whatever can be typed in the right documents", s.all_commands),
    "gold_identifiers": _privileged("identifiers and values alone", s.identifiers),
    "gold_ids": _privileged("the right citations and no text", s.citations_alone),
}
"""Told the truth; one fault each."""

DEGENERATE: dict[str, ExploitPolicy] = {**UNPRIVILEGED, **PERTURBED}
"""Every degenerate desk by name."""
