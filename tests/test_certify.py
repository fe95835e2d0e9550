"""Certificates in full: every incident is fair, and the checks see it when one is not."""

import json
from dataclasses import replace

import pytest
import typer
from typer.testing import CliRunner

from warroom.commands.auditing import certify_command
from warroom.core.rng import stream
from warroom.core.scenario import TIERS
from warroom.envs import make, suite
from warroom.envs.fleet import oracle
from warroom.envs.fleet.env import Fleet
from warroom.evals.certify import aggregate, run_certify
from warroom.evals.fleet.certify import (
    APART,
    alternatives,
    certify,
    change_record,
    distance,
    mechanisms,
    physics,
    stays_or_passes,
    telemetry,
)
from warroom.evals.logs import rivals
from warroom.evals.logs.certify import RIVAL, again, blueprint_of, renamed
from warroom.evals.logs.certify import certify as certify_logs
from warroom.evals.logs.moves import triage_of
from warroom.evals.probes import Probes, probes_of
from warroom.sim.faults import BAD_RELEASE, BLIP, EXPIRED, MISISSUED, MISROUTE, NEIGHBOUR, QUOTA, SLOW_RELEASE
from warroom.sim.topology import draw_blueprint
from warroom.sim.wordings import SERVICES


def fleet(scenario: str, tier: str = "hard", seed: int = 0) -> Fleet:
    env = make(f"fleet/{scenario}", tier, seed)
    assert isinstance(env, Fleet)
    return env


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("probes", [probes_of("fleet"), probes_of("logs")], ids=lambda probes: probes.env)
def test_every_incident_is_fair(probes: Probes, tier: str) -> None:
    rows = run_certify(probes.certify, suite(probes.env, "full"), [tier], [0, 1], "dev")
    assert [row for row in rows if not row.valid] == []


def test_nearly_all_innocents_do_no_harm() -> None:
    summary = aggregate(run_certify(certify, suite("fleet", "core"), TIERS, [0], "test"))
    assert [tier["n"] for tier in summary] == [len(suite("fleet", "core"))] * 3
    assert all(tier["shares"]["innocents harmless"]["mean"] > 0.97 for tier in summary)


def test_a_false_alarm_passes_and_a_failure_that_passes_is_not_certified() -> None:
    incident = fleet("no_incident").incident
    assert stays_or_passes(incident)
    failing = fleet("network_delay").incident
    fault = replace(failing.cause, mechanism=replace(BLIP, name="passing"), onset=-1)
    assert stays_or_passes(failing)
    assert not stays_or_passes(replace(failing, faults=(fault,)))


def test_mechanisms_of_one_physics_look_the_same_to_every_instrument() -> None:
    assert physics(BAD_RELEASE) == physics(QUOTA) and physics(EXPIRED) == physics(MISISSUED) != physics(MISROUTE)
    incident = fleet("slow_release").incident
    twin = replace(incident, faults=(replace(incident.cause, mechanism=NEIGHBOUR),))
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
    assert change_record(incident) == (1, True)
    pushed = replace(incident, pushes=((cause.onset, "mira", cause.target, 7), *incident.pushes))
    assert change_record(pushed) == (2, False)


def test_a_cause_of_nature_has_no_author_and_a_colleagues_exactly_one() -> None:
    assert change_record(fleet("cascade").incident) == (0, True)
    assert change_record(fleet("bad_config_push").incident) == (1, True)


def test_hardly_any_incident_of_log_triage_has_a_rival_elsewhere() -> None:
    (tier,) = aggregate(run_certify(certify_logs, suite("logs", "core"), ["hard"], range(6), "dev"))
    assert tier["shares"][RIVAL]["mean"] > 0.9


def test_logs_tell_a_cause_from_all_others_elsewhere_and_from_itself_not_at_all() -> None:
    env = triage_of(make("logs/double_fault", "medium", 2))
    own = rivals.readings(env.incident, env.world)
    assert rivals.distance(own, own, env.incident.dial) == 0
    tried = list(rivals.alternatives(env.incident))
    roots = {(fault.mechanism.name, fault.target) for fault in env.incident.faults}
    assert len(tried) > 20 and not roots & {(mechanism.name, target) for mechanism, target in tried}
    found = rivals.nearest_rivals(env)
    assert found.elsewhere.service not in env.truth()["roots"] and found.here.service in env.truth()["roots"]


def test_a_row_is_valid_only_if_everything_holds() -> None:
    row = certify(fleet("autoscaler_cost_cut"), "fleet/autoscaler_cost_cut")
    assert row.valid and row.harm is not None and row.innocents == row.harmless
    broken = (
        {"felt": False},
        {"oracle_turns": None},
        {"lasts": False},
        {"harm": 0.1},
        {"distance": APART},
        {"joined": False},
    )
    assert not any(replace(row, **change).valid for change in broken)  # type: ignore[arg-type]


def test_an_imported_system_is_certified_as_well() -> None:
    rng = stream(0, "test")
    names = next(iter(SERVICES.values()))
    options = {"topology": draw_blueprint(rng, 12, names).to_json()}
    assert run_certify(certify, ["fleet/cascade"], ["easy"], [0], "dev", options)[0].valid
    assert run_certify(certify_logs, ["logs/cascading_failure"], ["easy"], [0], "dev", options)[0].valid


def test_a_system_under_other_names_is_the_same_system() -> None:
    env = triage_of(make("logs/double_fault", "hard", 5, topology="drawn"))
    own = blueprint_of(env.incident.system)
    other = renamed(own, "unit")
    assert (other.kinds, other.calls) == (own.kinds, own.calls) and not set(other.names) & set(own.names)
    assert again(env, "logs/double_fault").observe().render() != env.observe().render()
    assert own.names == again(env, "logs/double_fault").incident.system.names


def test_a_row_of_log_triage_is_valid_only_if_everything_holds() -> None:
    row = certify_logs(make("logs/cascading_failure", "easy", 3), "logs/cascading_failure")
    assert row.valid and row.lasts
    broken = ({"clear": False}, {"seen": False}, {"solved": False}, {"lasts": False}, {"alike": False})
    assert not any(replace(row, **change).valid for change in broken)  # type: ignore[arg-type]
    assert row.rivals is not None
    near = row.rivals._replace(elsewhere=row.rivals.elsewhere._replace(distance=rivals.APART))
    assert replace(row, rivals=near).checks()[RIVAL] == [False]
    vendor = certify_logs(make("logs/third_party_outage", "easy", 3), "logs/third_party_outage")
    assert vendor.valid and vendor.lasts is None and vendor.checks()["lasts"] == []


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
    assert "nearest rival" in shown.stdout
