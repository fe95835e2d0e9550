"""Laws of the worlds that incidents run in: causes make symptoms, cures heal them, and looking changes nothing."""

import pytest

from warroom.core.rng import stream
from warroom.core.splits import Split, held_out, seed_of, split_of
from warroom.envs import find, make, scenarios, suite
from warroom.envs.fleet.env import FleetEnv
from warroom.envs.fleet.incident import USER_VISIBLE, user_loss
from warroom.envs.fleet.oracle import call_of
from warroom.envs.fleet.remedies import REMEDIES
from warroom.envs.fleet.situation import Act, Situation, enough_replicas, remedy_of
from warroom.sim import outages
from warroom.sim import world as outage_world
from warroom.sim.families import AGENTS
from warroom.sim.incident import HISTORY, Incident, draw_traffic
from warroom.sim.mechanism import Fault, Mechanism
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.topology import draw_service_topology, size_system
from warroom.sim.wordings import PEOPLE, SERVICES
from warroom.sim.world import World

MECHANISMS = {found.name: found for found in vars(outages).values() if isinstance(found, Mechanism) and found.fix}


def fleet(scenario: str, tier: str = "medium", seed: int = 0, **options: object) -> FleetEnv:
    env = make(scenario, tier, seed, **options)
    assert isinstance(env, FleetEnv)
    return env


# -- the world of outages: log triage ---------------------------------------------------------------------


def outage(mechanism: Mechanism, seed: int) -> Incident:
    """An outage of a mechanism at a service that it fits, five minutes old at the page."""
    rng = stream(seed, "outage", mechanism.name)
    while True:
        system = size_system(rng, draw_service_topology(rng, 9, SERVICES[Split.TRAIN]))
        places = [i for i in system.services(mechanism.kinds) if mechanism.fits(system, i) and system.reach[i] > 0.2]
        if places:
            fault = Fault(mechanism, rng.choice(places), -5, 0.8)
            return Incident(b"key", Split.TRAIN, system, (fault,), draw_traffic(rng, HISTORY + 30))


def at_page(incident: Incident) -> World:
    world = World(incident)
    world.warm_up(incident.faults[0].onset - 1)
    while world.minute < 0:
        world.tick()
    return world


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_outage_is_healed_by_its_cure_and_by_nothing_else(name: str) -> None:
    for seed in range(4):
        world = at_page(outage(MECHANISMS[name], seed))
        fault = world.incident.faults[0]
        for verb in outage_world.COLD_MINUTES:
            tried = world.copy()
            tried.repair(verb, fault.target, 4 * world.system.replicas[fault.target])
            for _ in range(6):
                tried.tick()
            assert tried.active[0] == (verb != fault.mechanism.fix), (seed, verb)


def test_a_healthy_world_breaks_no_service_level_and_stands_still() -> None:
    for seed in range(20):
        world = World(outage(outages.CRASH, seed))
        world.incident = Incident(b"key", Split.TRAIN, world.system, (), world.incident.traffic)
        world.active, world.started_at = [], []
        for _ in range(15):
            world.tick()
            assert world.slo_violation < outage_world.USER_VISIBLE


def test_a_world_is_a_function_of_its_incident_and_copies_are_independent() -> None:
    incident = outage(outages.RELEASE, 4)
    first, second = at_page(incident), at_page(incident)
    twin = second.copy()
    twin.repair("rollback", incident.faults[0].target)
    for world in (first, second, twin):
        for _ in range(6):
            world.tick()
    assert first.snapshots == second.snapshots and first.total_slo_violation > twin.total_slo_violation


# -- the world of changes: the fleet ------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", suite("fleet", "full"))
def test_a_cause_ends_by_its_remedy_and_by_no_other_repair(scenario: str) -> None:
    incident = fleet(scenario, "hard", 1).incident
    site = incident.site
    remedy = remedy_of(incident, site)
    acts = [Act(repair, site.service, None, 99) for repair in ("restart", "scale", "escalate")]
    for act in [*acts, *([remedy] if remedy else [])]:
        tried = Situation(incident)
        tried.carry_out(act)
        tried.advance()
        cured = act == remedy or (site.hit is None and REMEDIES[site.mechanism] in (act.tool, None))
        family = incident.change(site.hit).family if site.hit else ""
        waits = family == "scale" == act.tool or (family == "config" and act.tool == "restart")
        assert waits or tried.in_force(site) != cured, str(act)


def test_what_was_undone_comes_back_unless_the_agent_is_suspended_or_the_service_frozen() -> None:
    for seed in range(6):
        incident = fleet("fleet/autoscaler_cost_cut", "easy", seed).incident
        change = incident.change(incident.site.hit or 0)
        for stop in ("nobody", "suspend", "freeze"):
            situation = Situation(incident)
            if stop != "nobody":
                getattr(situation, stop)(change.signer if stop == "suspend" else change.service)
            situation.carry_out(Act("rollback", change.service, change.id))
            for _ in range(10):
                situation.advance()
            again = situation.in_force(incident.site)
            assert again == (stop == "nobody"), (seed, stop)


def test_before_the_onset_users_lose_nothing_and_after_the_oracle_neither() -> None:
    for seed, scenario in enumerate(suite("fleet", "full")):
        env = fleet(scenario, "hard", seed)
        world, first = env.situation.world, min(site.onset for site in env.incident.casting.sites) // 60
        assert user_loss(world, first - 1) <= USER_VISIBLE < user_loss(world, world.minute)
        while not env.done:
            env.step(call_of(env.situation, env.seat, declared=bool(env.declared)))
        assert env.situation.loss() <= USER_VISIBLE


def test_a_scale_that_suffices_is_known_from_the_usual_replicas() -> None:
    env = fleet("fleet/traffic_surge", "easy", 0)
    usual = {service.name: service.replicas for service in env.map.services}
    assert enough_replicas(env.incident, env.incident.site.service) == 2 * usual[env.incident.site.service]


def test_looking_changes_nothing() -> None:
    blind, curious = fleet("fleet/db_deadlock", "hard", 3), fleet("fleet/db_deadlock", "hard", 3)
    for _ in range(6):
        for service in curious.allowed_values["service"]:
            curious.sources.metrics(service, ""), curious.sources.traces(service), curious.sources.logs(service, "", "")
        curious.scene()
        assert blind.step(blind.oracle()).result == curious.step(curious.oracle()).result
        if not blind.done:
            assert blind.observe() == curious.observe()
    assert (blind.total, blind.situation.loss()) == (curious.total, curious.situation.loss())


# -- systems --------------------------------------------------------------------------------------------------


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
    with pytest.raises(ValueError, match="evict by an agent cannot happen on this topology: it needs a cache in front"):
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


def test_splits_share_no_seed_and_no_name() -> None:
    assert {split_of(seed_of(split, 12)) for split in Split} == set(Split)
    assert not set(SERVICES[Split.TRAIN]) & set(SERVICES[Split.TEST])
    train, test = (fleet("fleet/cascade", "hard", seed_of(split, 0)) for split in (Split.TRAIN, Split.TEST))
    bare = {name.split("-")[0] for name in test.allowed_values["service"]} - {"gateway"}
    assert bare <= set(SERVICES[Split.TEST])
    assert {name.split("-")[0] for name in train.allowed_values["service"]} - {"gateway"} <= set(SERVICES[Split.TRAIN])
    assert any(held_out(id) == "rogue" for id in scenarios()) and any(held_out(id) == "failure" for id in scenarios())


def test_names_collide_nowhere() -> None:
    words = set(SERVICES[Split.TRAIN]) | set(SERVICES[Split.TEST])
    assert not words & set(AGENTS) and not words & set(PEOPLE) and not words & {find(id)[1].name for id in scenarios()}
