"""Policies that weigh no evidence: what they get, and that the audit sees it when they get too much."""

import json
from functools import partial

import pytest
import typer
from typer.testing import CliRunner

from warroom.commands.auditing import audit_command
from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.envs import suite
from warroom.envs.fleet import rubric
from warroom.envs.fleet.env import Fleet
from warroom.evals.audit import BARS, Audit, Standing, repeated_payments, run_audit
from warroom.evals.degenerate import DEGENERATE, degenerate_team
from warroom.evals.outcomes import Entrant, incidents, play_all, play_out
from warroom.evals.search import Effort, Script, candidates, search
from warroom.policies import team

LITTLE = Effort(scripts=12, rungs=(1,), finalists=2)


@pytest.fixture(scope="module")
def audit() -> Audit:
    return run_audit(TIERS, [0], workers=1, effort=LITTLE)


def weighing_nothing(audit: Audit) -> list[Standing]:
    return [row for row in audit.standings if row.kind != "reference"]


def test_there_are_many_degenerate_policies_and_each_has_a_story() -> None:
    assert len(DEGENERATE) >= 24
    assert all(recipe.story for recipe in DEGENERATE.values())


def test_every_degenerate_policy_plays_to_the_end_in_every_tier(audit: Audit) -> None:
    played = {(row.tier, row.policy): row.n for row in audit.standings if row.kind in ("degenerate", "naive")}
    assert {policy for _, policy in played} >= set(DEGENERATE)
    assert all(played[tier, policy] == len(suite("fleet", "full")) for tier in TIERS for policy in DEGENERATE)


def test_no_bar_fails(audit: Audit) -> None:
    assert audit.violations == ()


def test_who_does_nothing_gets_exactly_what_waiting_gets_and_solves_nothing(audit: Audit) -> None:
    idle = {row.tier: row.points.mean for row in audit.standings if row.policy == "noop"}
    passive = [row for row in audit.standings if row.passive]
    assert {row.policy for row in passive} >= {"noop", "filler", "read_everything", "broken_arguments", "huge_text"}
    assert all(row.points.mean == idle[row.tier] and row.solved.mean == 0 and row.score.mean == 0 for row in passive)


def test_the_expert_is_far_above_all_of_them(audit: Audit) -> None:
    expert = {row.tier: row.points.mean for row in audit.standings if row.policy == "expert"}
    assert all(row.points.mean < expert[row.tier] - 100 for row in weighing_nothing(audit))


def test_a_mean_on_the_wrong_side_of_a_bar_is_named_even_within_chance(audit: Audit) -> None:
    heuristic = {row.tier: row.points.mean for row in audit.standings if row.policy == "heuristic"}
    above = {
        (row.tier, row.policy)
        for row in audit.standings
        if row.kind in ("degenerate", "searched") and row.points.mean > heuristic[row.tier] + 1e-9
    }
    named = {(f.tier, f.policy) for f in (*audit.violations, *audit.within_chance) if f.bar == "below heuristic"}
    assert above == named


def test_an_audit_is_json(audit: Audit) -> None:
    data = json.loads(json.dumps(audit.to_json()))
    assert len(data["rows"]) == len(audit.standings)
    assert set(data["rows"][0]["points"]) == {"mean", "lo", "hi"}


def test_a_credit_that_pays_again_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    incident = incidents(["fleet/rogue_deploy_bot"], "easy", "dev", [0])[0]
    assert repeated_payments(team("fleet", "expert"), incident) == []
    monkeypatch.setattr(rubric, "PER_TURN", 2.0)
    rubric.fleet_rubric.cache_clear()
    found = repeated_payments(team("fleet", "expert"), incident)
    rubric.fleet_rubric.cache_clear()
    assert any("mttr again" in detail for detail in found)


def test_points_above_the_oracle_are_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fleet, "bounds", lambda self: (-1000.0, -900.0))
    found = run_audit(["easy"], [0], workers=1, effort=LITTLE)
    assert {failure.bar for failure in found.violations} == {"ceiling"}
    assert set(BARS) > {"ceiling"}


def test_a_search_finds_the_same_scripts_again() -> None:
    found = search("easy", LITTLE)
    assert found == search("easy", LITTLE)
    assert len({script.name for script in found}) == len(found)


def test_candidates_are_different_and_as_many_as_asked() -> None:
    drawn = candidates(stream(0, "test"), 200)
    assert len(set(drawn)) == len(drawn) == 200
    assert Script() in candidates(stream(0, "test"), 100) or Script(close="when well") in drawn


def test_processes_change_nothing() -> None:
    entrants = [Entrant(name, partial(degenerate_team, name)) for name in ("restart_worst", "random_legal")]
    todo = incidents(suite("fleet")[:8], "easy", "dev", [0])
    counted: list[int] = []
    assert play_all(entrants, todo, 2, counted.append) == play_all(entrants, todo)
    assert sum(counted) == len(entrants) * len(todo)


def test_an_outcome_says_whether_anything_was_wrong() -> None:
    idle = team("fleet", "noop")
    calm, wrong = (
        play_out("noop", idle, incidents([f"fleet/{name}"], "easy", "dev", [0])[0])
        for name in ("no_incident", "cascade")
    )
    assert not calm.wrong and wrong.wrong and wrong.passive and wrong.score == 0


def test_the_command_prints_json_and_succeeds_where_nothing_fails() -> None:
    app = typer.Typer()
    app.command()(audit_command)
    arguments = ["--tiers", "easy", "--seeds", "1", "--suite", "core", "--scripts", "12", "--workers", "1", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["violations"] == [] and found["leaks"]["leaks"] == []


def test_the_command_refuses_an_unknown_tier_before_it_plays() -> None:
    app = typer.Typer()
    app.command()(audit_command)
    result = CliRunner().invoke(app, ["--tiers", "hrad"])
    assert isinstance(result.exception, ValueError) and "did you mean 'hard'" in str(result.exception)
