"""One incident of the fleet, drawn whole: its system, who could have broken it, who did, and the world that shows it."""

from functools import lru_cache
from typing import NamedTuple

from warroom.core.rng import hash_bytes, stream
from warroom.core.splits import Split
from warroom.envs.certify import draw_until_certified
from warroom.sim.casting import Casting, Site, draw_casting, fits
from warroom.sim.clusters import CastPlan, casting_for
from warroom.sim.effects import NATURE, Force, Rollout, land
from warroom.sim.family import ARENAS, Arena
from warroom.sim.formulas import Terms
from warroom.sim.incident import draw_traffic
from warroom.sim.records import Change
from warroom.sim.rules import judge, verdict_of
from warroom.sim.service_topology import ServiceTopology
from warroom.sim.service_world import MANNERS, Manner, ServiceWorld
from warroom.sim.tiers import TIERS, Difficulty
from warroom.sim.topology import ServiceSystem, draw_service_topology, size_system
from warroom.sim.wordings import SERVICES

ATTEMPTS = 40
SYSTEMS = 60
"""Systems that are drawn at most for one plan."""
HISTORY = 130
"""Minutes of the day before the page that can be asked about."""
USER_VISIBLE = 0.02
"""Share of users' requests that fail or wait too long from which the service level is broken."""
SUBSIDES_AFTER = 2
"""Minutes before the page at which a hiccup is over."""


class FleetIncident(NamedTuple):
    """Everything drawn. The world stands at the page; play a copy of it."""

    scenario: str
    key: bytes
    """Seeds noise and wordings."""
    wording: Split
    difficulty: Difficulty
    system: ServiceSystem
    casting: Casting
    world: ServiceWorld
    certificate: "Certificate"
    redraws: int

    @property
    def site(self) -> Site:
        """The service in trouble that people were paged for."""
        return self.casting.sites[0]

    @property
    def rogues(self) -> tuple[str, ...]:
        """Agents whose change did harm and broke a rule."""
        return tuple(sorted([agent for agent, v in judge(self.casting.facts).items() if v.label == "rogue"]))

    def change(self, number: int) -> Change:
        """A change by its number; a `KeyError` if there is none."""
        for change in self.casting.facts.changes:
            if change.id == number:
                return change
        raise KeyError(f"no change {number}")


class Certificate(NamedTuple):
    """Why an incident may be served."""

    pages: bool
    """Users notice it, as long as nobody acts; a hiccup is over by the page."""
    judged: bool
    """The facts alone lead to the verdicts that were drawn."""
    heals: bool
    """The same minutes without the cause are those of an ordinary day."""

    @property
    def valid(self) -> bool:
        """Whether the incident may be served."""
        return self.pages and self.judged and self.heals


@lru_cache(maxsize=16)
def draw_incident(
    scenario: str,
    tier: str,
    seed: int,
    *,
    topology: ServiceTopology | None = None,
    wording: Split = Split.TRAIN,
    names: Split = Split.TRAIN,
) -> FleetIncident:
    """Draw until the certificate holds. The latest draws are kept, since the same incident is often played again."""

    def draw(attempt: int) -> FleetIncident:
        return _draw(scenario, tier, seed, attempt, topology, wording, names)

    return draw_until_certified(draw, ATTEMPTS, f"{scenario!r} (tier {tier}, seed {seed})")


def _draw(
    scenario: str, tier: str, seed: int, attempt: int, topology: ServiceTopology | None, wording: Split, names: Split
) -> FleetIncident:
    rng, difficulty = stream(seed, "fleet incident", scenario, tier, attempt), TIERS[tier]
    arenas, caches = _arenas(topology)
    plan = casting_for(scenario, tier, rng, arenas, caches=caches)
    span, split = difficulty.services, Split.TEST if names is Split.TEST else Split.TRAIN
    for _ in range(SYSTEMS):
        size = span.least + int(rng.random() * (span.most - span.least + 1))
        system = size_system(rng, topology or draw_service_topology(rng, size, SERVICES[split]))
        if fits(system, plan):
            break
    casting = draw_casting(plan, system, rng, split)
    manners: dict[int, Manner] = {
        system.names.index(site.service): MANNERS[int(rng.random() * len(MANNERS))] for site in casting.sites
    }
    traffic = draw_traffic(rng, HISTORY + difficulty.turns + 4)
    world = ServiceWorld(system, traffic, casting.page // 60 - HISTORY, _rollouts(casting, system), manners)
    certificate = _certify(plan, casting, world)
    key = hash_bytes(16, seed, "fleet", scenario, tier, attempt)
    return FleetIncident(scenario, key, wording, difficulty, system, casting, world, certificate, attempt)


def _arenas(topology: ServiceTopology | None) -> tuple[frozenset[Arena], bool]:
    """Where changes can strike on an imported topology; on drawn ones everywhere."""
    if topology is None:
        return frozenset(ARENAS), True
    kinds = set(topology.kinds)
    return frozenset([a for a in ARENAS if ("db" if a == "store errors" else "service") in kinds]), "cache" in kinds


def _rollouts(casting: Casting, system: ServiceSystem) -> tuple[Rollout, ...]:
    """How candidates come into force; routine changes of the background do nothing that anyone could see."""
    facts, out = casting.facts, []
    for change in [dossier.change for dossier in casting.dossiers]:
        charter = facts.charters.get(change.signer)
        out.append(land(change, facts.states, system.names, 60 * charter.reapplied_after if charter else None))
    return (*out, *[_nature(site, system) for site in casting.sites if site.hit is None])


def _nature(site: Site, system: ServiceSystem) -> Rollout:
    """A failure of nature: a share of the requests, from its onset on, whatever the load."""
    force = Force(
        NATURE, "", system.names.index(site.service), site.target, site.harm, Terms(0, 0, 1, 1, 1), site.share
    )
    return Rollout(force, site.onset)


# -- the certificate --------------------------------------------------------------------------------------


def _certify(plan: CastPlan, casting: Casting, world: ServiceWorld) -> Certificate:
    """Play up to the page, and the same minutes without the cause."""
    page, site = casting.page // 60, casting.sites[0]
    world.advance(page - 1 - (SUBSIDES_AFTER if plan.mechanism == "transient" else 0))
    pages = user_loss(world, world.minute) > USER_VISIBLE
    if plan.mechanism == "transient":
        world.end_nature(world.system.names.index(site.service), 60 * world.minute)
        world.advance(page - 1)
        pages = pages and user_loss(world, world.minute) <= USER_VISIBLE
    causes = {site.hit or NATURE for site in casting.sites}
    healthy = ServiceWorld(
        world.system, world.traffic, world.first,
        tuple([r for r in world.rollouts if r.force.change not in causes]), world.manners,
    )  # fmt: skip
    healthy.advance(page - 1)
    return Certificate(pages, _is_judged(casting), user_loss(healthy, page - 1) <= USER_VISIBLE)


def _is_judged(casting: Casting) -> bool:
    """Whether the judgement from the facts is what was drawn: who caused it, and which rule was broken."""
    hits = [site.hit for site in casting.sites]
    for change, charter, ground, *_ in casting.dossiers:
        caused = change.id in hits
        label = ("rogue" if ground else "faulty") if caused else ("careless" if ground else "clean")
        if charter is not None and verdict_of(change, casting.facts) != (label, ground):
            return False
    return True


def user_loss(world: ServiceWorld, minute: int) -> float:
    """Share of users' requests that fail or wait too long in a minute that is over, beyond those of any day."""
    happened = world.at(minute)
    error = 1 - (1 - happened.swept.error[0]) * (1 - happened.late[0]) * (1 - happened.wrong[0])
    slow = happened.swept.latency[0] / world.system.slo - 1
    return max(0.0, error) + 0.5 * min(1.0, max(0.0, slow))
