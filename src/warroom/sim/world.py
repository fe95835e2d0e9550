"""The mutable state of an incident: what people and the fleet do to it, and one exact sweep a minute."""

from warroom.core.rng import hash_bytes
from warroom.sim.automation import PENDING_TASK_ERROR, SURGE_WORK, ActionRecord, PlannedAction
from warroom.sim.faults import RETRY_BUDGET
from warroom.sim.incident import HISTORY, Incident
from warroom.sim.mechanism import SECOND_ORDER_MINUTES, Fault, no_step
from warroom.sim.service_topology import STORES
from warroom.sim.snapshot import MinuteOutcome, Snapshot
from warroom.sim.sweep import ServiceParams, Sweep, initial_sweep, load_changed, propagate_latency, propagate_load
from warroom.sim.topology import ServiceSystem

COLD_CAPACITY = 0.45
"""Capacity of a restarted service until it is warm, as a share of the full one."""
COLD_MINUTES = {"restart": 2, "rollback": 1, "scale": 0, "escalate": 0, "flush-cache": 2, "kill-query": 0}
"""Minutes that people's actions leave a service cold; stores take one more, for a scale too."""
USER_VISIBLE = 0.03
"""Violation of service levels below which users notice nothing."""
PARTIAL_SCALE = 0.7
"""Share of the replicas that a fix needs from which a scale counts as an attempt at it."""
RECURRENCE_MINUTES = 3
"""Minutes after a repair at which an unsuspended rogue strikes again."""


class World:
    """One unfolding incident. All chance was drawn before: worlds differ only by what people do and what is skipped."""

    def __init__(self, incident: Incident, excluded: frozenset[str] = frozenset()) -> None:
        """`excluded` agents do nothing, and people do their routine work: for counterfactuals."""
        system, n = incident.system, incident.system.size
        self.incident, self.excluded = incident, excluded
        self.system: ServiceSystem = system
        self.minute = -HISTORY
        self.replicas: list[int] = list(system.replicas)
        self.memory, self.disk = list(system.memory), list(system.disk)
        self.slowdown, self.work, self.slots_left = [1.0] * n, [1.0] * n, [1.0] * n
        self.own_error, self.silent_error = [0.0] * n, [0.0] * n
        self.drop_rate, self.pending_task = [0.0] * n, [0.0] * n
        self.lookup_failure, self.link_delay, self.external_load = [0.0] * n, [0.0] * n, [0.0] * n
        self.retry_budget, self.fan_out = [RETRY_BUDGET] * n, [1.0] * n
        self.capacity = [r * u for r, u in zip(system.replicas, system.unit, strict=True)]
        """Requests per second that each service can work off now."""
        self.cold: dict[int, int] = {}
        self.active = [False] * len(incident.faults)
        self.started_at: list[int | None] = [None] * len(incident.faults)
        """When each fault last began; None: not yet."""
        self.cleared_at: dict[int, int] = {}
        """When each fault was last cleared, unless it is back in force."""
        self.suspended: set[str] = set()
        self.repaired: dict[int, int] = {}
        """When people last changed each service."""
        self.action_log: list[ActionRecord] = []
        self.snapshots: dict[int, Snapshot] = {}
        self.keep_history = True
        """Whether minutes leave snapshots behind, and actions a record."""
        self.load: list[float] = list(system.load)
        self.swept = initial_sweep(system)
        self.stale: set[int] = set()
        """Services of which anything that a sweep depends on has changed since the last one, loads apart."""
        self.moving = True
        """Whether loads were still on the move in the last sweep."""
        self.dropped_load = 0.0
        """Requests per second that are lost on the way now."""
        self.slo_violation, self.total_slo_violation, self.quiet_minutes = 0.0, 0.0, 0
        self.outcome_cache: dict[int, MinuteOutcome] = {}
        """What each minute comes to while no person acts; shared with all copies, so that it is computed once."""
        self._params: list[ServiceParams] = [self._service_params(i) for i in range(n)]
        self._next = 0

    def copy(self) -> "World":
        """An independent world in the same state, to try things on; it has no past minutes of its own.

        What is replaced and never written to (`load`, `swept`), and the outcomes of minutes, are shared.
        """
        twin = World.__new__(World)
        twin.__dict__.update(self.__dict__)
        twin.replicas, twin.memory, twin.disk = self.replicas[:], self.memory[:], self.disk[:]
        twin.slowdown, twin.work, twin.slots_left = self.slowdown[:], self.work[:], self.slots_left[:]
        twin.own_error, twin.silent_error = self.own_error[:], self.silent_error[:]
        twin.drop_rate, twin.pending_task = self.drop_rate[:], self.pending_task[:]
        twin.lookup_failure, twin.link_delay = self.lookup_failure[:], self.link_delay[:]
        twin.external_load, twin.capacity = self.external_load[:], self.capacity[:]
        twin.retry_budget, twin.fan_out = self.retry_budget[:], self.fan_out[:]
        twin.active, twin.started_at, twin.cleared_at = self.active[:], self.started_at[:], self.cleared_at.copy()
        twin.cold, twin.repaired = self.cold.copy(), self.repaired.copy()
        twin.suspended, twin.stale = self.suspended.copy(), self.stale.copy()
        twin._params = self._params[:]
        twin.snapshots, twin.action_log, twin.keep_history = {}, [], False
        return twin

    def copy_with_history(self) -> "World":
        """An independent world in the same state and with the same past, to be played in its place."""
        twin = self.copy()
        twin.snapshots, twin.action_log = dict(self.snapshots), list(self.action_log)
        twin.keep_history = self.keep_history
        return twin

    @property
    def latency(self) -> list[float]:
        """Mean latency of each service now, in milliseconds, callees included."""
        return self.swept.latency

    @property
    def error(self) -> list[float]:
        """Share of requests that each service fails now."""
        return self.swept.error

    # -- what happens to services -----------------------------------------------------------------

    def resize(self, i: int) -> None:
        """Recompute the capacity of a service after its replicas, work or warmth changed."""
        self.stale.add(i)
        self.capacity[i] = (
            self.replicas[i] * self.system.unit[i] / self.work[i] * (COLD_CAPACITY if i in self.cold else 1.0)
        )

    def set_replicas(self, i: int, replicas: int) -> None:
        """Give a service that many replicas."""
        self.replicas[i] = replicas
        self.resize(i)

    def begin(self, k: int) -> None:
        """Let fault `k` take effect."""
        fault = self.incident.faults[k]
        self.active[k], self.started_at[k] = True, self.minute
        self.cleared_at.pop(k, None)
        self.stale.add(fault.target)
        fault.mechanism.begin(self, fault)

    def clear_fault(self, fault: Fault) -> None:
        """End a fault's effect."""
        k = self.incident.faults.index(fault)
        self.active[k], self.cleared_at[k] = False, self.minute
        self.stale.add(fault.target)
        fault.mechanism.end(self, fault)

    def rogues_suspended(self) -> bool:
        """Whether every rogue is suspended."""
        return all(f.agent is None or f.agent in self.suspended for f in self.incident.faults)

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

    # -- what people do ---------------------------------------------------------------------------

    def suspend(self, agent: str) -> None:
        """Stop an agent. The owner of a rogue that was not the cause also puts its damage right."""
        self.suspended.add(agent)
        for k, fault in enumerate(self.incident.faults):
            if fault.secondary and fault.agent == agent and self.active[k]:
                self.clear_fault(fault)

    def repair(self, verb: str, i: int, replicas: int = 0) -> None:
        """A person's repair of service `i`: it ends what it fixes, and has its side effects either way."""
        store = self.system.kinds[i] in STORES
        self.repaired[i] = self.minute
        cold = COLD_MINUTES[verb] + (store and verb != "escalate")
        if cold:
            self.cold[i] = max(self.cold.get(i, 0), cold)
        if verb == "restart":
            self.memory[i] = min(self.memory[i], self.system.memory[i])
        if verb == "scale":
            self.disk[i] *= min(1.0, self.replicas[i] / replicas)
            self.replicas[i] = replicas
        self.resize(i)
        for k, fault in enumerate(self.incident.faults):
            mechanism = fault.mechanism
            if self.active[k] and fault.target == i and mechanism.fix == verb and mechanism.is_sufficient(self, fault):
                self.clear_fault(fault)

    # -- what the fleet does ----------------------------------------------------------------------

    def _automation(self) -> None:
        plan, minute, k, first = self.incident.plan, self.minute, self._next, len(self.action_log)
        while k < len(plan) and plan[k].minute <= minute:
            self._act(plan[k])
            k += 1
        self._next = k
        if self.cleared_at:
            for k in [k for k, cleared_at in self.cleared_at.items() if minute >= cleared_at + RECURRENCE_MINUTES]:
                self._trigger_again(k, first)

    def _act(self, planned: PlannedAction) -> None:
        """Carry out a planned action, or leave its routine task undone if the agent is suspended."""
        _, _, agent, verb, i, argument, role, k = planned
        if role in ("surge", "calm"):
            self.work[i] = SURGE_WORK if role == "surge" else 1.0
            self.resize(i)
        if agent in self.suspended or agent in self.excluded:
            self._skip(agent, i, argument, role)
        elif role == "rogue":
            self._trigger(k, argument)
        else:
            before = self.replicas[i]
            if verb == "scale":
                self.set_replicas(i, argument)
            elif self.pending_task[i] and role == "routine":
                self._set_pending_task(i, True)
            if self.keep_history:
                self.action_log.append(ActionRecord(self.minute, agent, verb, i, argument, before, role))

    def _skip(self, agent: str, i: int, argument: int, role: str) -> None:
        """People stand in for a suspended rogue (and in counterfactuals); an innocent's work is simply not done."""
        stand_in = agent in self.excluded or agent in self.incident.rogues
        if role == "surge" and stand_in:
            self.set_replicas(i, argument)
        elif role == "routine":
            self._set_pending_task(i, stand_in)

    def _set_pending_task(self, i: int, met: bool) -> None:
        """A routine task of service `i` is done, or is left pending."""
        error_share = 0.0 if met else PENDING_TASK_ERROR
        if self.pending_task[i] != error_share:
            self.pending_task[i] = error_share
            self.stale.add(i)

    def _trigger(self, k: int, argument: int) -> None:
        fault = self.incident.faults[k]
        assert fault.agent is not None and fault.verb is not None
        before = self.replicas[fault.target]
        self.begin(k)
        observed = self.replicas[fault.target] if fault.verb == "scale" else argument
        if self.keep_history:
            record = ActionRecord(self.minute, fault.agent, fault.verb, fault.target, observed, before, "rogue")
            self.action_log.append(record)

    def _trigger_again(self, k: int, first: int) -> None:
        """A rogue that is not suspended undoes the repair of what it had broken.

        The action is put at a random place among those of the minute, which begin at `first`: always last would tell.
        """
        fault = self.incident.faults[k]
        if fault.agent and not fault.secondary and fault.agent not in self.suspended | self.excluded:
            self._trigger(k, int(9000 * fault.severity) + self.minute)
            if self.keep_history:
                chance = hash_bytes(1, self.minute, "place", self.incident.key.hex())[0]
                self.action_log.insert(first + chance * (len(self.action_log) - first) // 256, self.action_log.pop())

    def _faults(self) -> None:
        minute = self.minute
        for k, fault in enumerate(self.incident.faults):
            begun = self.started_at[k]
            due = begun is None and fault.agent is None and minute == fault.onset
            if due or (begun is None and fault.second_order and self._overdue()):
                self.begin(k)
                begun = minute
            if self.active[k] and begun is not None and fault.mechanism.step is not no_step:
                self._step(fault, minute - begun)

    def _step(self, fault: Fault, age: int) -> None:
        """A minute of a fault that ramps; one at its full effect moves nothing and needs no sweep."""
        i = fault.target
        before = self.memory[i], self.disk[i]
        fault.mechanism.step(self, fault, age)
        if before != (self.memory[i], self.disk[i]) or self._service_params(i) != self._params[i]:
            self.stale.add(i)

    def _overdue(self) -> bool:
        """Whether the cause has been in force so long that it brings others down."""
        begun = self.started_at[0]
        return self.active[0] and begun is not None and self.minute >= begun + SECOND_ORDER_MINUTES

    # -- one minute -------------------------------------------------------------------------------

    def warm_up(self, until: int) -> None:
        """Jump over the quiet minutes before the onset: the world is at its fixed point and only the fleet acts."""
        traffic, level, changed = self.incident.traffic, 0.0, set()
        while self.minute < until:
            self.minute += 1
            self._automation()
            steady = not self.stale and traffic[self.minute + HISTORY] == level
            if not steady:
                level = traffic[self.minute + HISTORY]
                self.load = [load * level for load in self.system.load]
                changed |= self.stale
                self.stale.clear()
            if self.keep_history:
                self.snapshots[self.minute] = self.snapshots[self.minute - 1] if steady else self._steady_snapshot()
        self.stale = changed

    def _steady_snapshot(self) -> Snapshot:
        system, zero = self.system, [0.0] * self.system.size
        cpu = [load / capacity for load, capacity in zip(self.load, self.capacity, strict=True)]
        return Snapshot(
            load=self.load, latency=list(system.latency), error=zero, cpu=cpu, slots=list(system.slots),
            memory=self.memory[:], disk=self.disk[:], replicas=self.replicas[:], dropped_load=0.0, failing=[],
            slo_violation=0.0, active=(False,) * len(self.active), attempts=system.rates, fan_out=self.fan_out[:],
            link_ranges=system.link_ranges,
        )  # fmt: skip

    def tick(self) -> None:
        """Play one minute. A minute in which nothing moved and no one acted repeats the one before."""
        self.minute += 1
        self._automation()
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
        untouched = not self.suspended and not self.repaired
        outcome = self.outcome_cache.get(self.minute) if untouched else None
        if outcome is None:
            outcome = self._compute_minute()
            if untouched:
                self.outcome_cache[self.minute] = outcome
        self.swept, self.load, self.dropped_load, self.slo_violation, self.moving = outcome
        self.stale.clear()

    def _compute_minute(self) -> MinuteOutcome:
        system, before = self.system, self.load
        users = system.load[0] * self.incident.traffic[self.minute + HISTORY]
        swept = propagate_latency(
            system, self._params, budget=self.retry_budget, load=before, last=self.swept, stale=self.stale
        )
        load, dropped_load = propagate_load(
            system, swept, users, external_load=self.external_load, drop_rate=self.drop_rate, fan_out=self.fan_out
        )
        moving = load_changed(before, load)
        return MinuteOutcome(swept, load, dropped_load, self._measure_slo_violation(swept), moving)

    def _service_params(self, i: int) -> ServiceParams:
        """What the sweep has to know of service `i`."""
        system = self.system
        return (
            i, system.base[i] * self.slowdown[i], (1.0 - self.own_error[i]) * (1.0 - self.pending_task[i]),
            self.lookup_failure[i], self.capacity[i], self.replicas[i] * system.pool[i] * self.slots_left[i],
            self.link_delay[i], self.drop_rate[i] + self.silent_error[i], system.edges[i],
        )  # fmt: skip

    def _snapshot(self) -> Snapshot:
        swept = self.swept
        failing = [edge for edges in reversed(swept.failing_calls) for edge in edges]
        return Snapshot(
            load=self._observed_load(self.dropped_load), latency=swept.latency, error=swept.error, cpu=swept.cpu,
            slots=swept.slots, memory=self.memory[:], disk=self.disk[:], replicas=self.replicas[:],
            dropped_load=self.dropped_load, failing=failing, slo_violation=self.slo_violation,
            active=tuple(self.active), attempts=swept.flow, fan_out=self.fan_out[:],
            link_ranges=self.system.link_ranges,
        )  # fmt: skip

    def _update_cold(self) -> None:
        for i in list(self.cold):
            self.cold[i] -= 1
            if not self.cold[i]:
                del self.cold[i]
                self.resize(i)

    def _observed_load(self, dropped_load: float) -> list[float]:
        """Loads as instruments count them: misrouted requests arrive at the receiver, which refuses them at no cost."""
        receiver = self.incident.receiver
        if not (receiver and dropped_load):
            return self.load
        observed = self.load[:]
        observed[receiver] += dropped_load
        return observed

    def _measure_slo_violation(self, swept: Sweep) -> float:
        """How far service levels of users are broken: excess error share plus half the excess latency, 0 to 1.5."""
        slow = swept.latency[0] / self.system.slo - 1.0
        return max(0.0, swept.error[0] - 0.01) + 0.5 * min(1.0, max(0.0, slow))
