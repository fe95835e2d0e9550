"""Policies that weigh no evidence, and ones that know the truth and make one mistake.

Each does one thing that the rubric might pay for by mistake. A table of recipes gives each a name and a story.
"""

from warroom.core.tools import LONGEST_TEXT
from warroom.core.types import ToolCall
from warroom.envs.logs.oncall import SEATS
from warroom.envs.logs.views import SEVERITIES, TEAMS
from warroom.evals.logs.moves import (
    IGNORE,
    LOOK,
    RESOLVE,
    Plan,
    ToldPlan,
    always,
    ask,
    broken_arguments,
    burn,
    constant,
    each,
    five_remedies,
    gateway,
    lottery,
    mend,
    name,
    page,
    planned,
    say,
    security_first,
    severe,
    spam,
    told,
    too_many,
    wait_it_out,
)
from warroom.evals.logs.spoilt import (
    after_waits,
    closes_at_once,
    every_remedy,
    every_wrong_root,
    ignores,
    mends_first,
    never_closes,
    spoilt,
    wrong_root,
    wrong_severity,
    wrong_team,
)
from warroom.evals.recipes import Recipe, blind
from warroom.policies.random import Random


def _blind(story: str, plan: Plan) -> Recipe:
    return Recipe(story, dict.fromkeys(SEATS, blind(planned(plan))))


def _told(story: str, plan: ToldPlan, worthless: bool = False) -> Recipe:
    return Recipe(story, dict.fromkeys(SEATS, told(plan)), spoilt=True, worthless=worthless)


BLIND: dict[str, Recipe] = {
    "noop": _blind("asks for all logs, turn after turn", always(LOOK)),
    "read_everything": _blind("asks for the logs of one service after another, then resolves", each(ask)),
    "ignore_at_once": _blind("ignores every incident", say(IGNORE)),
    "resolve_at_once": _blind("resolves every incident", say(RESOLVE)),
    "wait_it_out": _blind("resolves in the last turn", wait_it_out),
    "constant_p1": _blind("P1, the first database, dba, a restart", constant("P1", "db", "dba")),
    "constant_p2": _blind("P2, the first database, dba, a killed query", constant("P2", "db", "dba", "kill-query")),
    "constant_p3": _blind("P3, the first database, dba, an emptied cache", constant("P3", "db", "dba", "flush-cache")),
    "constant_backend": _blind("P1, the first service, a rollback", constant("P1", "service", "backend", "rollback")),
    "constant_vendor": _blind("P2, the first service, sre, and wait", constant("P2", "service", "sre", "", waits=5)),
    "constant_abuse": _blind("P2, the first service, security", constant("P2", "service", "security", "", waits=3)),
    "name_gateway": _blind("P1, the gateway, sre, a restart", constant("P1", "gateway", "sre")),
    "name_everyone": _blind("names one service after another", each(name)),
    "say_nothing": _blind("restarts the gateway and resolves without a declaration", gateway),
    "severity_only": _blind("declares P1 and resolves", say(severe("P1"), RESOLVE)),
    "repeat_severity": _blind("declares the same severity for ever", always(severe("P1"))),
    "every_severity": _blind("declares all severities and resolves", say(*map(severe, SEVERITIES), RESOLVE)),
    "repeat_escalation": _blind("pages the same team for ever", always(page("backend"))),
    "escalate_everyone": _blind("pages every team and resolves", say(*map(page, TEAMS), RESOLVE)),
    "security_first": _blind("pages security at once, waits, resolves", security_first),
    "restart_everything": _blind("restarts one service after another", each(lambda service: mend("restart", service))),
    "rollback_everything": _blind("rolls back one after another", each(lambda service: mend("rollback", service))),
    "scale_everything": _blind("scales one service after another", each(lambda service: mend("scale", service))),
    "five_remedies": _blind("tries every remedy on the first database", five_remedies),
    "budget_burner": _blind("asks for all logs to the end, then answers as always", burn),
    "lottery": _blind("draws every answer by lot", lottery),
    "random_legal": Recipe("draws a fitting act by lot", dict.fromkeys(SEATS, blind(Random))),
    "spam_declarations": _blind("declares as much as a turn takes, in every turn", spam),
    "too_many_declarations": _blind("declares more than a turn takes, in every turn", too_many),
    "unknown_tool": _blind("calls a tool that does not exist", always(ToolCall("reboot_universe"))),
    "wrong_types": _blind("sends a number for a severity", always(ToolCall("classify_severity", {"severity": 1}))),
    "wrong_vocabulary": _blind("asks for a list", always(ToolCall("request_more_logs", {"service": ["a"]}))),
    "extra_arguments": _blind("adds an argument", always(ToolCall("resolve", {"force": True}))),
    "huge_text": _blind("names a service of far too many letters", always(name("x" * 100 * LONGEST_TEXT))),
    "broken_arguments": _blind("sends arguments that are no object", broken_arguments),
}  # fmt: skip
"""Told nothing."""

SPOILT: dict[str, Recipe] = {
    "other_order": _told("the oracle, its declarations in the reverse order", spoilt(lambda env, said: said.all[::-1])),
    "mends_first": _told("mends, then declares", mends_first),
    "after_waits": _told("the oracle, three turns late", after_waits),
    "never_closes": _told("declares and mends, and never closes", never_closes),
    "closes_at_once": _told("declares rightly and resolves what is not mended", closes_at_once),
    "ignores": _told("declares rightly and ignores", ignores),
    "every_remedy": _told("declares rightly and tries every remedy on the root", every_remedy),
    "without_severity": _told("declares no severity", spoilt(lambda env, said: [*said.roots, *said.teams])),
    "wrong_severity": _told(
        "a wrong severity first, then the right one", spoilt(lambda env, said: [wrong_severity(env), *said.all])
    ),
    "says_twice": _told("declares everything twice", spoilt(lambda env, said: [*said.all, *said.all])),
    "without_root": _told(
        "names no root", spoilt(lambda env, said: [*said.severity, *said.teams]), worthless=True
    ),
    "without_team": _told(
        "pages no team", spoilt(lambda env, said: [*said.severity, *said.roots]), worthless=True
    ),
    "wrong_team": _told(
        "pages a wrong team in place of the right one",
        spoilt(lambda env, said: [*said.severity, *said.roots, wrong_team(env)]), worthless=True,
    ),
    "wrong_team_first": _told(
        "pages a wrong team, then the right one", spoilt(lambda env, said: [wrong_team(env), *said.all]), worthless=True
    ),
    "every_team": _told(
        "pages every team", spoilt(lambda env, said: [*said.severity, *said.roots, *map(page, TEAMS)]), worthless=True
    ),
    "wrong_root_first": _told(
        "names a wrong root, then the right one", spoilt(lambda env, said: [wrong_root(env), *said.all]), worthless=True
    ),
    "every_root": _told(
        "names every service, the right ones last",
        spoilt(lambda env, said: [*every_wrong_root(env), *said.all]), worthless=True,
    ),
}  # fmt: skip
"""Told the truth; one mistake each, or a harmless liberty."""

DEGENERATE: dict[str, Recipe] = {**BLIND, **SPOILT}
"""Every degenerate policy by name."""
