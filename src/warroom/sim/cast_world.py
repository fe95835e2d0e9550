"""The running system of a casting: every change that can do anything, and nature where no change is the cause."""

from random import Random

from warroom.sim.casting import Casting, Site
from warroom.sim.effects import NATURE, READ_AT_RESTART, Force, Rollout, land
from warroom.sim.formulas import Terms
from warroom.sim.handbook import predict
from warroom.sim.incident import draw_traffic
from warroom.sim.request_mix import RequestMix
from warroom.sim.service_world import MANNERS, ServiceWorld
from warroom.sim.topology import ServiceSystem

HISTORY_MINUTES = 120
"""Minutes before the page of which there are records."""
PASSES_AFTER = 60
"""Seconds after the page at which a transient failure has passed."""
_NO_TERMS = Terms(0.0, 0.0, 0.0, 1.0, 1.0)


def world_of(system: ServiceSystem, casting: Casting, rng: Random, minutes: int) -> ServiceWorld:
    """A world that has been played up to the page, and can be played for so many minutes more.

    How errors show is drawn for each service in trouble, whatever the cause is.
    """
    page = casting.page // 60
    manners = {system.names.index(site.service): MANNERS[int(rng.random() * len(MANNERS))] for site in casting.sites}
    traffic = draw_traffic(rng, HISTORY_MINUTES + minutes + 1)
    world = ServiceWorld(system, traffic, page - HISTORY_MINUTES, rollouts_of(system, casting), manners)
    world.advance(page - 1)
    return world


def rollouts_of(system: ServiceSystem, casting: Casting) -> tuple[Rollout, ...]:
    """The changes that do anything by themselves, wait for a restart, or add to the load of a store; and nature."""
    states, charters = casting.facts.states, casting.facts.charters
    found = [_nature(system, site, casting.page) for site in casting.sites if site.hit is None]
    for change in [dossier.change for dossier in casting.dossiers]:
        charter = charters.get(change.signer)
        rollout = land(change, states, system.names, 60 * charter.reapplied_after if charter else None)
        waits = rollout.waits_for_restart and change.family in READ_AT_RESTART
        if waits or rollout.force.extra_load() or predict(change, states).share:
            found.append(rollout)
    return tuple(found)


def _nature(system: ServiceSystem, site: Site, page: int) -> Rollout:
    place = system.names.index(site.service)
    force = Force(NATURE, "", place, site.target, site.harm, _NO_TERMS, site.share)
    return Rollout(force, site.onset, live_until=page + PASSES_AFTER if site.mechanism == "transient" else None)


def mixes_of(system: ServiceSystem, casting: Casting) -> tuple[RequestMix, ...]:
    """The request mix of each service, with its hosts."""
    return tuple([casting.facts.states[name].mix for name in system.names])
