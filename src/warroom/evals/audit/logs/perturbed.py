"""Plans of one who is told the truth and makes one mistake: what single steps are worth, and what a wrong one voids."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from warroom.core.env import Env
from warroom.core.types import ToolCall
from warroom.envs.logs.views import REMEDIES, SEVERITIES, TEAMS
from warroom.evals.audit.logs.moves import (
    IGNORE,
    REQUEST_ALL_LOGS,
    Calls,
    PrivilegedPlan,
    classify_severity,
    escalate_to,
    fix,
    identify_root,
    triage_of,
)


class Declarations(NamedTuple):
    """Declarations by kind, in the order of the oracle."""

    severity: Sequence[ToolCall]
    roots: Sequence[ToolCall]
    teams: Sequence[ToolCall]

    @property
    def all(self) -> list[ToolCall]:
        """Severity, roots, teams."""
        return [*self.severity, *self.roots, *self.teams]


def correct_declarations(truth: dict[str, Any]) -> Declarations:
    """The right declarations; none but a severity where nothing is wrong."""
    roots, teams = truth["roots"], truth["teams"]
    return Declarations(
        [classify_severity(truth["severity"])],
        [identify_root(root) for root in roots],
        [escalate_to(team) for team in teams],
    )


def perturbed(declared: Callable[[Env, Declarations], Sequence[ToolCall]]) -> PrivilegedPlan:
    """Declares what `declared` makes of the right answers, then acts as the oracle does."""

    def plan(env: Env) -> Calls:
        answers = correct_declarations(env.truth())
        yield from spread_over_turns(env, declared(env, answers))
        yield from acts(env)

    return plan


def spread_over_turns(env: Env, calls: Sequence[ToolCall]) -> Calls:
    """Declarations, and a look where a turn has no room for more of them."""
    for place, call in enumerate(calls):
        if place and place % env.READS_PER_TURN == 0:
            yield REQUEST_ALL_LOGS
        yield call


def acts(env: Env) -> Calls:
    """The oracle's acts without its declarations."""
    if not env.truth()["roots"]:
        yield IGNORE
    while True:
        yield triage_of(env).best_action()


def wrong_of(allowed: Sequence[str], true: Sequence[str]) -> str:
    """The first of a list that is not true."""
    return next(value for value in allowed if value not in true)


def wrong_root(env: Env) -> ToolCall:
    """A root that is none."""
    return identify_root(wrong_of(env.allowed_values["service"][1:], env.truth()["roots"]))


def every_wrong_root(env: Env) -> list[ToolCall]:
    """All roots that are none."""
    return [identify_root(service) for service in env.allowed_values["service"] if service not in env.truth()["roots"]]


def wrong_team(env: Env) -> ToolCall:
    """A team that need not know."""
    return escalate_to(wrong_of(TEAMS, env.truth()["teams"]))


def wrong_severity(env: Env) -> ToolCall:
    """A severity that is not the incident's."""
    return classify_severity(wrong_of(SEVERITIES, [env.truth()["severity"]]))


def after_waits(env: Env) -> Calls:
    """The oracle, three turns late."""
    yield from [REQUEST_ALL_LOGS] * 3
    while True:
        yield env.oracle()


def never_closes(env: Env) -> Calls:
    """Declares and mends, and does not close."""
    while True:
        call = env.oracle()
        yield REQUEST_ALL_LOGS if call.name in ("resolve", "ignore") else call


def closes_at_once(env: Env) -> Calls:
    """Declares rightly and resolves without a remedy."""
    yield from spread_over_turns(env, correct_declarations(env.truth()).all)
    yield ToolCall("resolve")


def ignores(env: Env) -> Calls:
    """Declares rightly and ignores."""
    yield from spread_over_turns(env, correct_declarations(env.truth()).all)
    yield IGNORE


def every_remedy(env: Env) -> Calls:
    """Declares rightly, then tries every remedy on the root, and closes."""
    truth = env.truth()
    yield from spread_over_turns(env, correct_declarations(truth).all)
    yield from [fix(action, root) for root in truth["roots"] for action in REMEDIES]
    yield from acts(env)


def fixes_first(env: Env) -> Calls:
    """Mends before it declares anything; the declarations come with the closing."""
    triage, roots = triage_of(env), env.truth()["roots"]
    while roots and triage.best_action().name != "resolve":
        yield triage.best_action()
    if roots:
        yield from spread_over_turns(env, correct_declarations(env.truth()).all)
    yield from acts(env)
