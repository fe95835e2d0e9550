"""The mutable state of an outage: what breaks, what people do about it, and one exact sweep a minute."""

from warroom.sim.incident import HISTORY, Incident
from warroom.sim.mechanism import Fault, no_step
from warroom.sim.service_topology import STORES
from warroom.sim.snapshot import MinuteOutcome, Snapshot
from warroom.sim.sweep import ServiceParams, Sweep, initial_sweep, load_changed, propagate_latency, propagate_load
from warroom.sim.topology import ServiceSystem

COLD_CAPACITY = 0.45
"""Capacity of a restarted service until it is warm, as a share of the full one."""
COLD_MINUTES = {"restart": 2, "rollback": 1, "scale": 0, "escalate": 0, "flush-cache": 2, "kill-query": 0}
"""Minutes that people's actions leave a service cold; stores take one more, for a scale too."""
RETRY_BUDGET = 0.1
"""Extra attempts per call that clients allow themselves. At 0.3 per edge a chain of four amplifies 2.2 times and
every fault becomes metastable."""
USER_VISIBLE = 0.03
"""Violation of service levels below which users notice nothing."""
PARTIAL_SCALE = 0.7
"""Share of the replicas that a fix needs from which a scale counts as an attempt at it."""


class World:
    """One unfolding outage. All chance was drawn before: worlds differ only by what people do."""

    def __init__(self, incident: Incident) -> None:
        system, n = incident.system, incident.system.size
        self.incident = incident
        self.system: ServiceSystem = system
        self.minute = -HISTORY
        self.replicas: list[int] = list(system.replicas)
        self.slowdown, self.own_error, self.external_load = [1.0] * n, [0.0] * n, [0.0] * n
        self.capacity = [r * u for r, u in zip(system.replicas, system.unit, strict=True)]
        """Requests per second that each service can work off now."""
        self.cold: dict[int, int] = {}
        self.active = [False] * len(incident.faults)
        self.started_at: list[int | None] = [None] * len(incident.faults)
        """When each fault began; None: not yet."""
        self.repaired: dict[int, int] = {}
        """When people last changed each service."""
        self.snapshots: dict[int, Snapshot] = {}
        self.keep_history = True
        """Whether minutes leave snapshots behind."""
        self.load: list[float] = list(system.load)
        self.swept = initial_sweep(system)
        self.stale: set[int] = set()
        """Services of which anything that a sweep depends on has changed since the last one, loads apart."""
        self.moving = True
        """Whether loads were still on the move in the last sweep."""
        self.slo_violation, self.total_slo_violation, self.quiet_minutes = 0.0, 0.0, 0
        self.outcome_cache: dict[int, MinuteOutcome] = {}
        """What each minute comes to while no person acts; shared with all copies, so that it is computed once."""
        self._params: list[ServiceParams] = [self._service_params(i) for i in range(n)]

    def copy(self) -> "World":
        """An independent world in the same state, to try things on; it has no past minutes of its own.

        What is replaced and never written to (`load`, `swept`), and the outcomes of minutes, are shared.
        """
        twin = World.__new__(World)
        twin.__dict__.update(self.__dict__)
        twin.replicas, twin.capacity = self.replicas[:], self.capacity[:]
        twin.slowdown, twin.own_error, twin.external_load = self.slowdown[:], self.own_error[:], self.external_load[:]
        twin.active, twin.started_at = self.active[:], self.started_at[:]
        twin.cold, twin.repaired, twin.stale = self.cold.copy(), self.repaired.copy(), self.stale.copy()
        twin._params = self._params[:]
        twin.snapshots, twin.keep_history = {}, False
        return twin

    def copy_with_history(self) -> "World":
        """An independent world in the same state and with the same past, to be played in its place."""
        twin = self.copy()
        twin.snapshots, twin.keep_history = dict(self.snapshots), self.keep_history
        return twin

    # -- what happens to services -----------------------------------------------------------------

    def resize(self, i: int) -> None:
        """Recompute the capacity of a service after its replicas or warmth changed."""
        self.stale.add(i)
        self.capacity[i] = self.replicas[i] * self.system.unit[i] * (COLD_CAPACITY if i in self.cold else 1.0)

    def begin(self, k: int) -> None:
        """Let fault `k` take effect."""
        fault = self.incident.faults[k]
        self.active[k], self.started_at[k] = True, self.minute
        self.stale.add(fault.target)
        fault.mechanism.begin(self, fault)

    def clear_fault(self, fault: Fault) -> None:
        """End a fault's effect."""
        self.active[self.incident.faults.index(fault)] = False
        self.stale.add(fault.target)
        fault.mechanism.end(self, fault)

    def no_active_fault(self) -> bool:
        """Whether no fault is in force."""
        return not any(self.active)

    def fixes_fault(self, verb: str, i: int, replicas: int = 0) -> bool:
        """Whether a repair of service `i` by that verb fits a fault that is or was in force, with enough replicas."""
        faults = zip(self.incident.faults, self.started_at, strict=True)
        return any(
            f.target == i
            and f.mechanism.fix == verb
            and begun is not None
            and (verb != "scale" or replicas >= PARTIAL_SCALE * f.mechanism.replica_factor * self.system.replicas[i])
            for f, begun in faults
        )

    def repair(self, verb: str, i: int, replicas: int = 0) -> None:
        """A person's repair of service `i`: it ends what it fixes, and has its side effects either way."""
        store = self.system.kinds[i] in STORES
        self.repaired[i] = self.minute
        cold = COLD_MINUTES[verb] + (store and verb != "escalate")
        if cold:
            self.cold[i] = max(self.cold.get(i, 0), cold)
        if verb == "scale":
            self.replicas[i] = replicas
        self.resize(i)
        for k, fault in enumerate(self.incident.faults):
            mechanism = fault.mechanism
            if self.active[k] and fault.target == i and mechanism.fix == verb and mechanism.is_sufficient(self, fault):
                self.clear_fault(fault)

    # -- one minute -------------------------------------------------------------------------------

    def _faults(self) -> None:
        for k, fault in enumerate(self.incident.faults):
            begun = self.started_at[k]
            if begun is None and self.minute == fault.onset:
                self.begin(k)
                begun = self.minute
            if self.active[k] and begun is not None and fault.mechanism.step is not no_step:
                self._step(fault, self.minute - begun)

    def _step(self, fault: Fault, age: int) -> None:
        """A minute of a fault that ramps; one at its full effect moves nothing and needs no sweep."""
        fault.mechanism.step(self, fault, age)
        if self._service_params(fault.target) != self._params[fault.target]:
            self.stale.add(fault.target)

    def warm_up(self, until: int) -> None:
        """Jump over the quiet minutes before the onset, in which the world is at its fixed point."""
        traffic, level = self.incident.traffic, 0.0
        while self.minute < until:
            self.minute += 1
            steady = traffic[self.minute + HISTORY] == level
            if not steady:
                level = traffic[self.minute + HISTORY]
                self.load = [load * level for load in self.system.load]
            if self.keep_history:
                self.snapshots[self.minute] = self.snapshots[self.minute - 1] if steady else self._steady_snapshot()

    def _steady_snapshot(self) -> Snapshot:
        zero = [0.0] * self.system.size
        return Snapshot(self.load, list(self.system.latency), zero, [], (False,) * len(self.active))

    def tick(self) -> None:
        """Play one minute. A minute in which nothing moved and no one acted repeats the one before."""
        self.minute += 1
        self._faults()
        if self.cold:
            self._update_cold()
        k = self.minute + HISTORY
        moved = self.moving or bool(self.stale) or self.incident.traffic[k] != self.incident.traffic[k - 1]
        if moved:
            self._sweep()
        self.total_slo_violation += self.slo_violation
        self.quiet_minutes = self.quiet_minutes + 1 if self.slo_violation < USER_VISIBLE else 0
        if self.keep_history:
            self.snapshots[self.minute] = self._snapshot() if moved else self.snapshots[self.minute - 1]

    def _sweep(self) -> None:
        """Latency and errors up, loads down; the world is steady once loads no longer move."""
        for i in self.stale:
            self._params[i] = self._service_params(i)
        outcome = None if self.repaired else self.outcome_cache.get(self.minute)
        if outcome is None:
            outcome = self._compute_minute()
            if not self.repaired:
                self.outcome_cache[self.minute] = outcome
        self.swept, self.load, self.slo_violation, self.moving = outcome
        self.stale.clear()

    def _compute_minute(self) -> MinuteOutcome:
        system, before, n = self.system, self.load, self.system.size
        users = system.load[0] * self.incident.traffic[self.minute + HISTORY]
        swept = propagate_latency(
            system, self._params, budget=[RETRY_BUDGET] * n, load=before, last=self.swept, stale=self.stale
        )
        load, _ = propagate_load(
            system, swept, users, external_load=self.external_load, drop_rate=[0.0] * n, fan_out=[1.0] * n
        )
        return MinuteOutcome(swept, load, self._measure_slo_violation(swept), load_changed(before, load))

    def _service_params(self, i: int) -> ServiceParams:
        """What the sweep has to know of service `i`."""
        system = self.system
        return (
            i, system.base[i] * self.slowdown[i], 1.0 - self.own_error[i], 0.0, self.capacity[i],
            self.replicas[i] * system.pool[i], 0.0, 0.0, system.edges[i],
        )  # fmt: skip

    def _snapshot(self) -> Snapshot:
        swept = self.swept
        failing = [edge for edges in reversed(swept.failing_calls) for edge in edges]
        return Snapshot(self.load, swept.latency, swept.error, failing, tuple(self.active))

    def _update_cold(self) -> None:
        for i in list(self.cold):
            self.cold[i] -= 1
            if not self.cold[i]:
                del self.cold[i]
                self.resize(i)

    def _measure_slo_violation(self, swept: Sweep) -> float:
        """How far service levels of users are broken: excess error share plus half the excess latency, 0 to 1.5."""
        slow = swept.latency[0] / self.system.slo - 1.0
        return max(0.0, swept.error[0] - 0.01) + 0.5 * min(1.0, max(0.0, slow))
