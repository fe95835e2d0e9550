"""Policies that weigh no evidence, and ones that know the truth and make one mistake.

Each does one thing that the rubric might pay for by mistake. A table of recipes gives each a name and a story.
"""

from warroom.core.tools import MAX_TEXT_LENGTH
from warroom.core.types import ToolCall
from warroom.envs.logs.base_env import SEATS
from warroom.envs.logs.views import SEVERITIES, TEAMS
from warroom.evals.audit.exploits import ExploitPolicy, unprivileged
from warroom.evals.audit.logs.moves import (
    IGNORE,
    REQUEST_ALL_LOGS,
    RESOLVE,
    Plan,
    PrivilegedPlan,
    always,
    broken_arguments,
    classify_severity,
    constant,
    each,
    escalate_to,
    five_remedies,
    fix,
    gateway,
    identify_root,
    planned_policy,
    privileged_policy,
    random_answers,
    request_logs,
    security_first,
    sequence,
    spam,
    too_many,
    wait_until_last_turn,
    waste_budget,
)
from warroom.evals.audit.logs.perturbed import (
    after_waits,
    closes_at_once,
    every_remedy,
    every_wrong_root,
    fixes_first,
    ignores,
    never_closes,
    perturbed,
    wrong_root,
    wrong_severity,
    wrong_team,
)
from warroom.policies.random import Random


def _unprivileged(description: str, plan: Plan) -> ExploitPolicy:
    return ExploitPolicy(description, dict.fromkeys(SEATS, unprivileged(planned_policy(plan))))


def _privileged(description: str, plan: PrivilegedPlan, voids_credit: bool = False) -> ExploitPolicy:
    return ExploitPolicy(
        description, dict.fromkeys(SEATS, privileged_policy(plan)), perturbed=True, voids_credit=voids_credit
    )


UNPRIVILEGED: dict[str, ExploitPolicy] = {
    "noop": _unprivileged("asks for all logs, turn after turn", always(REQUEST_ALL_LOGS)),
    "read_everything": _unprivileged(
        "asks for the logs of one service after another, then resolves", each(request_logs)
    ),
    "ignore_at_once": _unprivileged("ignores every incident", sequence(IGNORE)),
    "resolve_at_once": _unprivileged("resolves every incident", sequence(RESOLVE)),
    "wait_it_out": _unprivileged("resolves in the last turn", wait_until_last_turn),
    "constant_p1": _unprivileged("P1, the first database, dba, a restart", constant("P1", "db", "dba")),
    "constant_p2": _unprivileged(
        "P2, the first database, dba, a killed query", constant("P2", "db", "dba", "kill-query")
    ),
    "constant_p3": _unprivileged(
        "P3, the first database, dba, an emptied cache", constant("P3", "db", "dba", "flush-cache")
    ),
    "constant_backend": _unprivileged(
        "P1, the first service, a rollback", constant("P1", "service", "backend", "rollback")
    ),
    "constant_vendor": _unprivileged(
        "P2, the first service, sre, and wait", constant("P2", "service", "sre", "", wait_turns=5)
    ),
    "constant_abuse": _unprivileged(
        "P2, the first service, security", constant("P2", "service", "security", "", wait_turns=3)
    ),
    "name_gateway": _unprivileged("P1, the gateway, sre, a restart", constant("P1", "gateway", "sre")),
    "name_everyone": _unprivileged("names one service after another", each(identify_root)),
    "say_nothing": _unprivileged("restarts the gateway and resolves without a declaration", gateway),
    "severity_only": _unprivileged("declares P1 and resolves", sequence(classify_severity("P1"), RESOLVE)),
    "repeat_severity": _unprivileged("declares the same severity for ever", always(classify_severity("P1"))),
    "every_severity": _unprivileged(
        "declares all severities and resolves", sequence(*map(classify_severity, SEVERITIES), RESOLVE)
    ),
    "repeat_escalation": _unprivileged("pages the same team for ever", always(escalate_to("backend"))),
    "escalate_everyone": _unprivileged("pages every team and resolves", sequence(*map(escalate_to, TEAMS), RESOLVE)),
    "security_first": _unprivileged("pages security at once, waits, resolves", security_first),
    "restart_everything": _unprivileged(
        "restarts one service after another", each(lambda service: fix("restart", service))
    ),
    "rollback_everything": _unprivileged(
        "rolls back one after another", each(lambda service: fix("rollback", service))
    ),
    "scale_everything": _unprivileged("scales one service after another", each(lambda service: fix("scale", service))),
    "five_remedies": _unprivileged("tries every remedy on the first database", five_remedies),
    "budget_burner": _unprivileged("asks for all logs to the end, then answers as always", waste_budget),
    "lottery": _unprivileged("draws every answer by lot", random_answers),
    "random_legal": ExploitPolicy("draws a fitting act by lot", dict.fromkeys(SEATS, unprivileged(Random))),
    "spam_declarations": _unprivileged("declares as much as a turn takes, in every turn", spam),
    "too_many_declarations": _unprivileged("declares more than a turn takes, in every turn", too_many),
    "unknown_tool": _unprivileged("calls a tool that does not exist", always(ToolCall("reboot_universe"))),
    "wrong_types": _unprivileged(
        "sends a number for a severity", always(ToolCall("classify_severity", {"severity": 1}))
    ),
    "wrong_vocabulary": _unprivileged("asks for a list", always(ToolCall("request_more_logs", {"service": ["a"]}))),
    "extra_arguments": _unprivileged("adds an argument", always(ToolCall("resolve", {"force": True}))),
    "huge_text": _unprivileged(
        "names a service of far too many letters", always(identify_root("x" * 100 * MAX_TEXT_LENGTH))
    ),
    "broken_arguments": _unprivileged("sends arguments that are no object", broken_arguments),
}
"""Told nothing."""

PERTURBED: dict[str, ExploitPolicy] = {
    "other_order": _privileged(
        "the oracle, its declarations in the reverse order", perturbed(lambda env, said: said.all[::-1])
    ),
    "mends_first": _privileged("mends, then declares", fixes_first),
    "after_waits": _privileged("the oracle, three turns late", after_waits),
    "never_closes": _privileged("declares and mends, and never closes", never_closes),
    "closes_at_once": _privileged("declares rightly and resolves what is not mended", closes_at_once),
    "ignores": _privileged("declares rightly and ignores", ignores),
    "every_remedy": _privileged("declares rightly and tries every remedy on the root", every_remedy),
    "without_severity": _privileged("declares no severity", perturbed(lambda env, said: [*said.roots, *said.teams])),
    "wrong_severity": _privileged(
        "a wrong severity first, then the right one", perturbed(lambda env, said: [wrong_severity(env), *said.all])
    ),
    "says_twice": _privileged("declares everything twice", perturbed(lambda env, said: [*said.all, *said.all])),
    "without_root": _privileged(
        "names no root", perturbed(lambda env, said: [*said.severity, *said.teams]), voids_credit=True
    ),
    "without_team": _privileged(
        "pages no team", perturbed(lambda env, said: [*said.severity, *said.roots]), voids_credit=True
    ),
    "wrong_team": _privileged(
        "pages a wrong team in place of the right one",
        perturbed(lambda env, said: [*said.severity, *said.roots, wrong_team(env)]),
        voids_credit=True,
    ),
    "wrong_team_first": _privileged(
        "pages a wrong team, then the right one",
        perturbed(lambda env, said: [wrong_team(env), *said.all]),
        voids_credit=True,
    ),
    "every_team": _privileged(
        "pages every team",
        perturbed(lambda env, said: [*said.severity, *said.roots, *map(escalate_to, TEAMS)]),
        voids_credit=True,
    ),
    "wrong_root_first": _privileged(
        "names a wrong root, then the right one",
        perturbed(lambda env, said: [wrong_root(env), *said.all]),
        voids_credit=True,
    ),
    "every_root": _privileged(
        "names every service, the right ones last",
        perturbed(lambda env, said: [*every_wrong_root(env), *said.all]),
        voids_credit=True,
    ),
}
"""Told the truth; one mistake each, or a harmless liberty."""

DEGENERATE: dict[str, ExploitPolicy] = {**UNPRIVILEGED, **PERTURBED}
"""Every degenerate policy by name."""
