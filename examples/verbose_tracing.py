"""A flag agent turns on full tracing in a service: every reply waits until its trace is on the volume.

The first paragraph of this docstring is the story. The file's name is that of the root cause, which the SRE has to
declare, so it must be none that ships. Nothing is installed or registered: the file is named where a scenario is.

    warroom play fleet/examples/verbose_tracing.py --tier hard --policy oracle    # watch who knows the truth
    warroom play fleet/examples/verbose_tracing.py --policy sre=human,rest=expert # take a seat
    warroom certify --scenarios fleet/examples/verbose_tracing.py --seeds 20      # is every incident of it fair?
    warroom eval --scenarios fleet/examples/verbose_tracing.py --policies heuristic,expert,oracle

No script and no shipped model was taught this cause, so all but the oracle fail at it: that is what it can measure.
"""

from warroom.envs.fleet.scenario import scenario
from warroom.sim.incident import FaultSpec
from warroom.sim.mechanism import SERVICE, Fault, Mechanism
from warroom.sim.world import World


# 1. What breaks. A mechanism changes causes (how slow a service is, what its volume holds), never symptoms: latency,
#    errors, retries and alerts follow by the world's physics, along the call graph. `severity` (0 to 1) is drawn anew
#    for each incident.
def turn_on(world: World, fault: Fault) -> None:
    """Replies take several times as long."""
    world.slowdown[fault.target] = 6 + 6 * fault.severity


def fill(world: World, fault: Fault, age: int) -> None:
    """Each minute traces take room: the trail by which it can be told from a lock that others hold."""
    world.disk[fault.target] = min(0.95, world.disk[fault.target] + 0.06)


def turn_off(world: World, fault: Fault) -> None:
    """Undo exactly what the two above did, so that the cure leaves a healthy service."""
    world.slowdown[fault.target] = 1.0
    world.disk[fault.target] = world.system.disk[fault.target]


TRACING = Mechanism(
    name="verbose_tracing",
    kinds=SERVICE,  # 2. Where it can strike: services with code of their own, no stores.
    fix="rollback",  # 3. Which repair of the Developer or the Manager undoes it: restart, rollback, scale or escalate.
    signature="overload",  # 4. What the victim seldom writes about itself, a key of warroom.sim.wordings.SIGNATURES.
    begin=turn_on,
    step=fill,
    end=turn_off,
)

# 5. Who caused it: `verb` makes it the action of a rogue agent, which repeats it until Oversight suspends it.
#    `person=True` would make it a colleague's change, neither of the two a fault without an author. Innocent agents who
#    do things that look like it come by themselves.
SCENARIO = scenario(__name__, __doc__, FaultSpec(TRACING, verb="toggle"))
