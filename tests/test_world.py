"""Laws of the world: causes make symptoms, cures heal by mechanism, and looking changes nothing."""

import pytest

from warroom.core.rng import stream
from warroom.core.splits import Split, held_out, seed_of, split_of
from warroom.envs import find, make, scenarios, suite
from warroom.envs.fleet import oracle
from warroom.envs.fleet.env import FleetEnv, failures
from warroom.sim import faults
from warroom.sim.automation import VERBS
from warroom.sim.incident import TIERS, FaultSpec, draw_incident
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.telemetry import Telemetry
from warroom.sim.topology import draw_service_topology, size_system
from warroom.sim.wordings import PEOPLE, SERVICES, SIGNATURES, TIMEOUT
from warroom.sim.world import USER_VISIBLE, World

MECHANISMS = sorted({f.fault_spec.mechanism.name for f in failures().values()})
REPAIRS = ("restart", "rollback", "scale", "escalate")


def fleet(scenario: str, tier: str = "medium", seed: int = 0, **options: object) -> FleetEnv:
    env = make(scenario, tier, seed, **options)
    assert isinstance(env, FleetEnv)
    return env


def fault_spec_of(name: str) -> FaultSpec:
    return next(f.fault_spec for f in failures().values() if f.fault_spec.mechanism.name == name)


@pytest.mark.parametrize("name", MECHANISMS)
def test_each_mechanism_is_healed_by_its_cure_and_by_nothing_else(name: str) -> None:
    for seed in range(6):
        world = oracle.at_page(draw_incident(fault_spec_of(name), "easy", seed))
        if not oracle.certify(world).valid:
            continue
        fault = world.incident.cause
        world.suspended |= world.incident.rogues
        for verb in REPAIRS:
            tried = world.copy()
            tried.repair(verb, fault.target, oracle.enough_replicas(world, 0))
            for _ in range(6):
                tried.tick()
            assert tried.active[0] == (verb != fault.mechanism.fix), (seed, verb)


@pytest.mark.parametrize("scenario", suite("fleet", "full"))
def test_a_rogue_strikes_again_unless_it_is_suspended(scenario: str) -> None:
    env = fleet(scenario)
    if not env.incident.cause.agent:
        return
    for suspended in (True, False):
        world = env.world.copy()
        if suspended:
            world.suspend(env.incident.cause.agent)
        world.repair(env.incident.cause.mechanism.fix, env.incident.cause.target, oracle.enough_replicas(world, 0))
        for _ in range(6):
            world.tick()
        assert world.active[0] is not suspended


def test_a_healthy_world_breaks_no_service_level() -> None:
    for seed in range(40):
        world = oracle.at_page(draw_incident(FaultSpec(faults.BLIP), "hard", seed))
        for _ in range(4):
            world.tick()
        for _ in range(15):
            world.tick()
            assert world.slo_violation < USER_VISIBLE


def test_suspending_an_innocent_agent_leaves_needs_unmet() -> None:
    """Most innocents do work that users miss: somewhere, service levels break without it."""
    worse = total = 0
    for seed in range(30):
        env = fleet("fleet/no_incident", "medium", seed)
        for agent in env.incident.roster:
            world = env.world.copy()
            world.suspend(agent)
            for _ in range(14):
                world.tick()
            total += 1
            worse += world.slo_violation >= USER_VISIBLE
    assert worse / total > 0.3


@pytest.mark.slow
def test_harm_by_replay_tells_rogues_from_innocents() -> None:
    rogue, innocent = [], []
    for scenario in suite("fleet", "full"):
        for seed in range(4):
            env = fleet(scenario, "hard", seed)
            for agent in env.incident.roster:
                (rogue if agent in env.incident.rogues else innocent).append(oracle.harm(env.incident, agent))
    assert sum(h > oracle.HARM for h in rogue) / len(rogue) >= 0.99
    assert sum(h <= oracle.HARM for h in innocent) / len(innocent) >= 0.99


def test_a_minute_reads_the_same_late_as_early_with_a_repair_between() -> None:
    for scenario in ("fleet/memory_leak", "fleet/misrouted_traffic", "fleet/cascade"):
        for seed in range(5):
            early, late = fleet(scenario, "hard", seed), fleet(scenario, "hard", seed)
            read = [early.telemetry.lines(m) for m in (-1, 0)], early.telemetry.alerts()[:], early.telemetry.readings()
            cause = late.incident.cause
            late.world.repair("restart", cause.target)
            telemetry = Telemetry(late.world)
            for _ in range(3):
                late.world.tick()
            assert [telemetry.lines(m) for m in (-1, 0)] == read[0]
            assert telemetry.alerts()[: len(read[1])] == read[1]


def test_looking_changes_nothing() -> None:
    blind, curious = fleet("fleet/db_deadlock", "hard", 3), fleet("fleet/db_deadlock", "hard", 3)
    for _ in range(6):
        for seat in curious.SEATS:
            curious.view(seat)
        for service in curious.allowed_values["service"]:
            curious.metrics(service=service), curious.traces(service=service), curious.logs(service=service)
        blind.step(blind.oracle())
        curious.step(curious.oracle())
    assert blind.telemetry.readings() == curious.telemetry.readings()
    assert (blind.total, blind.world.slo_violation) == (curious.total, curious.world.slo_violation)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_any_fitting_service_can_be_the_root(name: str) -> None:
    """Over many seeds the victim stands at every place of the graph where the mechanism can strike."""
    places, chances = set(), set()
    for seed in range(150):
        incident = draw_incident(fault_spec_of(name), "easy", seed)
        system, mechanism = incident.system, incident.cause.mechanism
        places.add((system.size, incident.cause.target))
        chances |= {
            (system.size, i)
            for i in system.services(mechanism.kinds)
            if mechanism.fits(system, i) and system.reach[i] > 0.3
        }
    assert len(places) >= 0.6 * len(chances)


def test_sizing_meets_its_own_steady_state() -> None:
    """A drawn system at its healthy load runs at the utilisation and latency it was sized for."""
    for seed in range(30):
        rng = stream(seed, "sizing")
        system = size_system(rng, draw_service_topology(rng, 8 + seed % 7, SERVICES[Split.TRAIN]))
        for i in range(system.size):
            assert system.load[i] / (system.replicas[i] * system.unit[i]) == pytest.approx(system.cpu[i])
            inflow = sum(
                system.load[c] * call.rate for c in range(system.size) for call in system.calls[c] if call.callee == i
            )
            assert i == 0 or inflow == pytest.approx(system.load[i])
            assert all(call.deadline > 2 * system.latency[call.callee] for call in system.calls[i])


def test_an_imported_topology_carries_incidents() -> None:
    shape = ServiceTopology(
        ("front", "shop", "pay", "mail", "shop-cache", "shop-db"),
        ("gateway", "service", "service", "service", "cache", "db"),
        ((0, 1), (0, 2), (1, 4), (1, 5), (2, 3), (2, 5), (3, 5)),
    )
    env = fleet("fleet/memory_leak", "easy", 1, topology=shape.to_json())
    assert env.allowed_values["service"] == shape.names
    with pytest.raises(ValueError, match="no service of this topology can carry 'cache_flush'"):
        fleet("fleet/cache_janitor_flush", "easy", 1, topology=shape.to_json())


@pytest.mark.parametrize(
    ("names", "kinds", "calls", "complaint"),
    [
        (("a",), ("gateway",), (), "2 to 64"),
        (("a", "b"), ("service", "db"), ((0, 1),), "one gateway"),
        (("a", "b"), ("gateway", "blob"), ((0, 1),), "kinds must be"),
        (("a", "a"), ("gateway", "db"), ((0, 1),), "no name twice"),
        (("a", "b", "c"), ("gateway", "db", "db"), ((0, 1),), "no request reaches c"),
        (("a", "b"), ("gateway", "db"), ((1, 0),), "earlier service to a later"),
    ],
)
def test_a_broken_topology_is_refused_with_its_reason(
    names: tuple[str, ...], kinds: tuple[str, ...], calls: tuple[tuple[int, int], ...], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        ServiceTopology(names, kinds, calls)


def test_splits_share_no_seed_no_name_and_no_wording() -> None:
    assert {split_of(seed_of(split, 12)) for split in Split} == set(Split)
    assert not set(SERVICES[Split.TRAIN]) & set(SERVICES[Split.TEST])
    for phrases in (*SIGNATURES.values(), TIMEOUT):
        assert not set(phrases[Split.TRAIN]) & set(phrases[Split.TEST])
    train, test = (
        fleet("fleet/cascade", "hard", seed_of("train", 0)),
        fleet("fleet/cascade", "hard", seed_of("test", 0)),
    )
    bare = {name.split("-")[0] for name in test.allowed_values["service"]} - {"gateway"}
    assert bare <= set(SERVICES[Split.TEST])
    assert {name.split("-")[0] for name in train.allowed_values["service"]} - {"gateway"} <= set(SERVICES[Split.TRAIN])
    assert any(held_out(id) == "rogue" for id in scenarios()) and any(held_out(id) == "failure" for id in scenarios())


def test_names_collide_nowhere() -> None:
    agents = {agent for holders in VERBS.values() for agent in holders}
    words = set(SERVICES[Split.TRAIN]) | set(SERVICES[Split.TEST])
    assert not words & agents and not words & set(PEOPLE) and not words & {find(id)[1].name for id in scenarios()}


def test_the_dial_turns_one_way() -> None:
    easy, medium, hard = (TIERS[t] for t in ("easy", "medium", "hard"))
    for name in (
        "budget",
        "noise",
        "gap",
        "alternate_agent",
        "silent_fault",
        "hot",
        "decoys",
        "imitation",
        "wrong_callee",
        "false_alert",
        "missing_logs",
        "deploys",
    ):
        assert getattr(easy, name) <= getattr(medium, name) <= getattr(hard, name), name
    assert easy.signature_rate >= medium.signature_rate >= hard.signature_rate and easy.cause_alert >= hard.cause_alert


def test_error_lines_are_as_rare_as_in_recordings() -> None:
    """Recorded incidents: ERROR is 0 to 3.1 per cent of a faulty minute, and the root often logs none."""
    shares, silent = [], 0
    count = 0
    for scenario in failures():
        for seed in range(6):
            env = fleet(f"fleet/{scenario}", "medium", seed)
            info, warn, error = env.telemetry.log_counts(0)
            shares.append(error / (info + warn + error))
            root = env.incident.cause.target
            silent += not any(
                line[1] == root and line[2] == "ERROR" for m in (-1, 0) for line in env.telemetry.lines(m)
            )
            count += 1
    shares.sort()
    assert shares[len(shares) // 2] < 0.02 and shares[-1] < 0.06
    assert silent / count > 0.4


def test_a_world_is_a_function_of_its_incident() -> None:
    incident = draw_incident(fault_spec_of("bad_release"), "hard", 4)
    first, second = World(incident), World(incident)
    for world in (first, second):
        world.warm_up(incident.cause.onset - 1)
        for _ in range(12):
            world.tick()
    assert first.snapshots == second.snapshots
