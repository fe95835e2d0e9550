"""Certificates in full: every incident is fair, and the checks see it when one is not."""

import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from warroom.cli.certify import certify_command
from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.envs import make, suite
from warroom.envs.fleet import oracle
from warroom.envs.fleet.env import FleetEnv
from warroom.envs.logs.env import LogsEnv
from warroom.evals.audit.certify import aggregate, run_certify
from warroom.evals.audit.fleet.certify import (
    MIN_DISTANCE,
    alternatives,
    certify,
    changes_of_victim,
    distance,
    mechanisms,
    persists_or_recovers,
    physics,
    telemetry,
)
from warroom.evals.audit.logs import alternative_causes
from warroom.evals.audit.logs.certify import ALTERNATIVE_CHECK, rebuild, renamed, service_topology_of
from warroom.evals.audit.logs.certify import certify as certify_logs
from warroom.evals.audit.outcomes import narrowed
from warroom.evals.audit.spec import AuditSpec, find_audit_spec
from warroom.sim.faults import (
    BAD_RELEASE,
    BLIP,
    CERTIFICATE_EXPIRED,
    CERTIFICATE_MISISSUED,
    MISROUTE,
    NOISY_NEIGHBOUR,
    QUOTA,
    SLOW_RELEASE,
)
from warroom.sim.incident import DeployRecord
from warroom.sim.topology import draw_service_topology
from warroom.sim.wordings import SERVICES


def fleet(scenario: str, tier: str = "hard", seed: int = 0) -> FleetEnv:
    env = make(f"fleet/{scenario}", tier, seed)
    assert isinstance(env, FleetEnv)
    return env


@pytest.mark.slow
@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize(
    "audit_spec", [find_audit_spec("fleet"), find_audit_spec("logs")], ids=lambda audit_spec: audit_spec.env
)
def test_every_incident_is_fair(audit_spec: AuditSpec, tier: str) -> None:
    rows = run_certify(audit_spec.certify, suite(audit_spec.env, "full"), [tier], [0])
    assert [row for row in rows if not row.valid] == []


@pytest.mark.slow
def test_nearly_all_innocents_do_no_harm() -> None:
    summary = aggregate(run_certify(certify, suite("fleet", "core"), TIERS, [0], split="test"))
    assert [tier["n"] for tier in summary] == [len(suite("fleet", "core"))] * 3
    assert all(tier["shares"]["innocents harmless"]["mean"] > 0.97 for tier in summary)


def test_a_false_alarm_passes_and_a_failure_that_passes_is_not_certified() -> None:
    incident = fleet("no_incident").incident
    assert persists_or_recovers(incident)
    failing = fleet("network_delay").incident
    fault = replace(failing.cause, mechanism=replace(BLIP, name="passing"), onset=-1)
    assert persists_or_recovers(failing)
    assert not persists_or_recovers(replace(failing, faults=(fault,)))


def test_mechanisms_of_one_physics_look_the_same_to_every_instrument() -> None:
    assert physics(BAD_RELEASE) == physics(QUOTA) and physics(CERTIFICATE_EXPIRED) == physics(
        CERTIFICATE_MISISSUED
    ) != physics(MISROUTE)
    incident = fleet("slow_release").incident
    twin = replace(incident, faults=(replace(incident.cause, mechanism=NOISY_NEIGHBOUR),))
    views = [telemetry(oracle.at_page(i)) for i in (incident, twin)]
    assert incident.cause.mechanism is SLOW_RELEASE and distance(views[0], views[1], 0.1) == 0
    assert len({physics(m) for m in mechanisms()}) == len(mechanisms())


def test_no_alternative_is_the_cause_itself_and_each_strikes_a_fitting_service() -> None:
    incident = fleet("rogue_bystander").incident
    tried = list(alternatives(incident))
    assert len(tried) > 50
    for fault, other in tried:
        assert (physics(fault.mechanism), fault.target) != (physics(incident.cause.mechanism), incident.cause.target)
        assert incident.system.kinds[fault.target] in fault.mechanism.kinds
        assert other.faults[1:] == incident.faults[1:]


def test_a_second_change_in_the_onset_minute_breaks_the_join() -> None:
    incident = fleet("rogue_deploy_bot").incident
    cause = incident.cause
    assert changes_of_victim(incident) == (1, True)
    pushed = replace(incident, deploys=(DeployRecord(cause.onset, "mira", cause.target, 7), *incident.deploys))
    assert changes_of_victim(pushed) == (2, False)


def test_a_cause_of_nature_has_no_author_and_a_colleagues_exactly_one() -> None:
    assert changes_of_victim(fleet("cascade").incident) == (0, True)
    assert changes_of_victim(fleet("bad_config_push").incident) == (1, True)


@pytest.mark.slow
def test_hardly_any_incident_of_log_triage_has_a_rival_elsewhere() -> None:
    (tier,) = aggregate(run_certify(certify_logs, suite("logs", "core"), ["hard"], range(4)))
    assert tier["shares"][ALTERNATIVE_CHECK]["mean"] > 0.9


def test_logs_tell_a_cause_from_all_others_elsewhere_and_from_itself_not_at_all() -> None:
    env = narrowed(make("logs/double_fault", "medium", 2), LogsEnv)
    own = alternative_causes.readings(env.incident, env.world)
    assert alternative_causes.distance(own, own, env.incident.tier_config) == 0
    tried = list(alternative_causes.alternatives(env.incident))
    roots = {(fault.mechanism.name, fault.target) for fault in env.incident.faults}
    assert len(tried) > 20 and not roots & {(mechanism.name, target) for mechanism, target in tried}
    found = alternative_causes.find_nearest_alternatives(env)
    assert found.elsewhere.service not in env.truth()["roots"] and found.here.service in env.truth()["roots"]


def test_a_row_is_valid_only_if_everything_holds() -> None:
    row = certify(fleet("autoscaler_cost_cut"), "fleet/autoscaler_cost_cut")
    assert row.valid and row.harm is not None and row.innocents == row.harmless
    broken = (
        {"user_visible": False},
        {"oracle_turns": None},
        {"persists": False},
        {"harm": 0.1},
        {"distance": MIN_DISTANCE},
        {"change_matches_cause": False},
    )
    assert not any(replace(row, **change).valid for change in broken)  # type: ignore[arg-type]


def test_an_imported_system_is_certified_as_well() -> None:
    rng = stream(0, "test")
    names = next(iter(SERVICES.values()))
    options = {"topology": draw_service_topology(rng, 12, names).to_json()}
    assert run_certify(certify, ["fleet/cascade"], ["easy"], [0], options=options)[0].valid
    assert run_certify(certify_logs, ["logs/cascading_failure"], ["easy"], [0], options=options)[0].valid


def test_a_system_under_other_names_is_the_same_system() -> None:
    env = narrowed(make("logs/double_fault", "hard", 5, topology="drawn"), LogsEnv)
    own = service_topology_of(env.incident.system)
    other = renamed(own, "unit")
    assert (other.kinds, other.calls) == (own.kinds, own.calls) and not set(other.names) & set(own.names)
    assert rebuild(env, "logs/double_fault").observe().render() != env.observe().render()
    assert own.names == rebuild(env, "logs/double_fault").incident.system.names


def test_a_row_of_log_triage_is_valid_only_if_everything_holds() -> None:
    row = certify_logs(make("logs/cascading_failure", "easy", 3), "logs/cascading_failure")
    assert row.valid and row.persists
    broken = ({"clear": False}, {"seen": False}, {"solved": False}, {"persists": False}, {"same_observations": False})
    assert not any(replace(row, **change).valid for change in broken)  # type: ignore[arg-type]
    assert row.alternative_causes is not None
    near = row.alternative_causes._replace(
        elsewhere=row.alternative_causes.elsewhere._replace(distance=alternative_causes.MIN_DISTANCE)
    )
    assert replace(row, alternative_causes=near).checks()[ALTERNATIVE_CHECK] == [False]
    vendor = certify_logs(make("logs/third_party_outage", "easy", 3), "logs/third_party_outage")
    assert vendor.valid and vendor.persists is None and vendor.checks()["persists"] == []


def test_progress_is_told_of_every_incident() -> None:
    counted: list[int] = []
    run_certify(certify, ["fleet/cascade"], ["easy"], [0, 1], progress=counted.append)
    assert counted == [1, 1]


def test_the_command_prints_rows_and_shares() -> None:
    app = typer.Typer()
    app.command()(certify_command)
    result = CliRunner().invoke(app, ["--scenarios", "cascade", "--tiers", "easy", "--seeds", "2", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert len(found["rows"]) == 2 and found["tiers"][0]["shares"]["valid"]["mean"] == 1
    shown = CliRunner().invoke(app, ["--scenarios", "cascade", "--tiers", "easy", "--seeds", "1"])
    assert "nearest alternative" in shown.stdout
