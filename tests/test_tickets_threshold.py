"""Knowing when one does not know: laws of the fitted threshold, and what it is worth on real alerts and runbooks."""

from pathlib import Path
from random import Random
from statistics import mean

import pytest
from escalation_threshold import (
    DecidedPolicy,
    EscalationDecision,
    TopHit,
    answer_always,
    by_ticket,
    cross_fit,
    fit_logistic,
    fit_rule,
    top_hits,
)

from warroom.core.splits import seed_of
from warroom.envs import make
from warroom.envs.tickets.env import TicketsEnv
from warroom.envs.tickets.imported import playable_knowledge_base
from warroom.envs.tickets.storage import write_knowledge_base
from warroom.importers.knowledge.alerts import import_alerts
from warroom.importers.knowledge.rules import rule_files
from warroom.importers.knowledge.runbooks import find_runbooks, import_runbooks


def match(score: float, answerable: bool, right: bool | None = None, ticket: str = "t") -> TopHit:
    return TopHit(ticket, "text", "a", "A", score, answerable if right is None else right, answerable)


def drawn(count: int, seed: int = 0) -> list[TopHit]:
    """Tickets whose score tells something."""
    rng = Random(seed)
    able = [rng.random() < 0.7 for _ in range(count)]
    return [match(rng.betavariate(4, 3) if a else rng.betavariate(2, 5), a, ticket=str(k)) for k, a in enumerate(able)]


def test_a_threshold_lies_between_what_it_tells_apart() -> None:
    found = [match(score / 10, score > 5) for score in range(1, 10)]
    rule = fit_rule(found)
    assert 0.5 < rule.threshold <= 0.6
    assert all(rule.decision(m).escalate is not m.answerable for m in found)


def test_confidence_rises_with_what_deserves_it_and_is_flat_where_nothing_tells() -> None:
    found = drawn(400)
    rising = fit_logistic([m.score for m in found], [m.answerable for m in found])
    assert rising(0.1) < rising(0.5) < rising(0.9)
    said = mean(rising(m.score) for m in found)
    assert said == pytest.approx(mean(m.answerable for m in found), abs=0.03)
    flat = fit_logistic([0.1, 0.9], [True, True])
    assert flat(0.0) == flat(1.0) == pytest.approx(2.5 / 3)


def test_no_ticket_decides_about_itself() -> None:
    found = drawn(60)
    changed = [m._replace(right=not m.right, answerable=not m.answerable) if k % 2 else m for k, m in enumerate(found)]
    before, after = cross_fit(found), cross_fit(changed)
    own = [(a.escalate, a.confidence) == (b.escalate, b.confidence) for a, b in zip(before, after, strict=True)]
    assert all(own[1::2]) and not all(own[0::2])


def test_always_means_always() -> None:
    assert all(d.confidence == 1.0 and not d.escalate for d in answer_always(drawn(20)))


@pytest.fixture(scope="module")
def alerts(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """prometheus-operator's runbooks with kube-prometheus' alerts as tickets."""
    source, folder = realdata / "alert_runbooks", tmp_path_factory.mktemp("real") / "kb"
    stored = import_runbooks(find_runbooks(source / "kb"))
    found = import_alerts(rule_files([source / "rules"]), "rules", stored.base)
    write_knowledge_base(stored.with_tickets(found.cases, found.source), folder)
    return str(folder)


def scores(folder: str, decisions: list[EscalationDecision]) -> list[float]:
    """What the decisions score when they are played, ticket by ticket."""
    chosen, out = by_ticket(decisions), []
    for number in range(len(decisions)):
        env = make("tickets/imported", "medium", seed_of("test", number), kb=folder)
        assert isinstance(env, TicketsEnv)
        policy = DecidedPolicy(chosen[env.case.id])
        while not env.done:
            env.step(policy.act(env.observe()))
        out.append(env.score())
    return out


def test_on_real_runbooks_whoever_is_always_certain_scores_below_one_with_a_threshold(alerts: str) -> None:
    found = top_hits(playable_knowledge_base(alerts))
    certain, fitted = scores(alerts, answer_always(found)), scores(alerts, cross_fit(found))
    assert len(found) == 133 and mean(fitted) >= mean(certain) + 0.1
    assert mean(fitted) >= 0.75


@pytest.mark.parametrize("mode", ["single", "multi"])
def test_the_oracle_solves_every_real_ticket(alerts: str, mode: str) -> None:
    for number in range(0, 133, 7):
        env = make("tickets/imported", "medium", seed_of("test", number), kb=alerts, mode=mode)
        while not env.done:
            env.step(env.oracle())
        assert env.score() == 1.0 and env.outcome()["solved"]


def test_a_real_ticket_comes_with_its_article_among_others(alerts: str) -> None:
    for number in range(40):
        env = make("tickets/imported", "medium", seed_of("test", number), kb=alerts, mode="single")
        assert isinstance(env, TicketsEnv)
        assert set(env.case.gold) <= set(env.case.context) and len(env.case.context) == 8
        assert list(env.case.context) == sorted(env.case.context)
