"""The mutable state of an incident: one exact sweep a minute, callees first for latency and errors, then loads down.

Loads of a minute follow from the failures of that minute, latency from the load of the minute before: the one-minute
lag makes retry feedback explicit, with no fixed point to iterate.
"""

from collections.abc import Sequence
from typing import NamedTuple

from warroom.sim.blueprint import STORES
from warroom.sim.automation import NEED, SURGE, Deed, Planned, detail
from warroom.sim.faults import RETRY_BUDGET, Fault, stays
from warroom.sim.incident import HISTORY, Incident
from warroom.sim.topology import QUEUEING_LIMIT

COLD = 0.45
"""Capacity of a restarted service until it is warm, as a share of the full one."""
COLD_MINUTES = {"restart": 2, "rollback": 1, "scale": 0, "escalate": 0}
"""Minutes that people's actions leave a service cold; stores take one more, for a scale too."""
FELT = 0.03
"""Burn below which users notice nothing."""
SATURATED = 1.0 + 1.0 / (QUEUEING_LIMIT - 1.0)
"""Factor on own latency when the processor is full."""
STILL = 2e-3
"""Relative change of load from one minute to the next below which it counts as unmoved."""
STRIKE_AGAIN = 3
"""Minutes after a repair at which an unsuspended rogue strikes again."""


Failing = tuple[int, int, float, float, float]
"""A call edge in trouble in some minute: (caller, callee, share of attempts that fail, share of those that are timeouts,
first attempts per second). A bare tuple: a world makes thousands."""


class Snapshot(NamedTuple):
    """Everything that a text about this minute may need. Lists are owned by the snapshot; nobody writes to them."""

    load: list[float]
    latency: list[float]
    error: list[float]
    cpu: list[float]
    slots: list[float]
    memory: list[float]
    disk: list[float]
    replicas: list[int]
    astray: float
    """Requests per second that were lost on the way; misrouted ones are in the receiver's load."""
    failing: list[Failing]
    burn: float
    active: tuple[bool, ...]
    """Which faults are in force."""
    flow: Sequence[Sequence[float]]
    """Attempts per accepted request on each outgoing call, in the order of `System.calls`, before `fan_out`."""
    fan_out: list[float]


class World:
    """One unfolding incident. All chance was drawn before: two worlds differ only by what people do and what is skipped."""

    def __init__(self, incident: Incident, without: frozenset[str] = frozenset()) -> None:
        """`without` names agents whose deeds are left out and whose duties people do: for counterfactuals."""
        self.incident, self.system, self.without = incident, incident.system, without
        system, n = incident.system, incident.system.size
        self.minute = -HISTORY
        self.replicas, self.memory, self.disk = list(system.replicas), list(system.memory), list(system.disk)
        self.slowdown, self.work, self.slots_left = [1.0] * n, [1.0] * n, [1.0] * n
        self.own_error, self.wrong, self.lost, self.unmet = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
        self.lookup_loss, self.wire, self.outside = [0.0] * n, [0.0] * n, [0.0] * n
        self.retry_budget, self.fan_out = [RETRY_BUDGET] * n, [1.0] * n
        self.room = [r * u for r, u in zip(system.replicas, system.unit, strict=True)]
        """Requests per second that each service can work off now."""
        self.cold: dict[int, int] = {}
        self.load, self.latency, self.error = list(system.load), list(system.latency), [0.0] * n
        self.active = [False] * len(incident.faults)
        self.begun = [0] * len(incident.faults)
        self.healed: list[int | None] = [None] * len(incident.faults)
        self.suspended: set[str] = set()
        self.repaired: dict[int, int] = {}
        """When people last changed each service."""
        self.trace: list[Deed] = []
        self.snapshots: dict[int, Snapshot] = {}
        self.touched = True
        """Whether anything has changed since the last sweep, or loads are still on the move."""
        self.astray = 0.0
        """Requests per second that are lost on the way now."""
        self.swept: Sweep
        self.records = True
        """Whether minutes leave snapshots behind."""
        self.burn, self.total_burn, self.quiet = 0.0, 0.0, 0
        self._next = 0

    def copy(self) -> "World":
        """An independent world in the same state, to try things on; it has no past minutes of its own."""
        twin = World.__new__(World)
        twin.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():
            if type(value) in (list, dict, set):
                twin.__dict__[name] = {} if name == "snapshots" else value.copy()
        twin.records = False
        return twin

    # -- what happens to services -----------------------------------------------------------------

    def resize(self, i: int) -> None:
        """Recompute the room of a service after its replicas, work or warmth changed."""
        self.touched = True
        self.room[i] = self.replicas[i] * self.system.unit[i] / self.work[i] * (COLD if i in self.cold else 1.0)

    def set_replicas(self, i: int, replicas: int) -> None:
        """Give a service that many replicas."""
        self.replicas[i] = replicas
        self.resize(i)

    def begin(self, k: int) -> None:
        """Let fault `k` take effect."""
        fault = self.incident.faults[k]
        self.active[k], self.begun[k], self.healed[k], self.touched = True, self.minute, None, True
        fault.mechanism.begin(self, fault)

    def heal(self, fault: Fault) -> None:
        """End a fault's effect."""
        k = self.incident.faults.index(fault)
        self.active[k], self.healed[k], self.touched = False, self.minute, True
        fault.mechanism.end(self, fault)

    def contained(self) -> bool:
        """Whether every rogue is suspended."""
        return all(f.agent is None or f.agent in self.suspended for f in self.incident.faults)

    def quiet_faults(self) -> bool:
        """Whether no fault is in force."""
        return not any(self.active)

    # -- what people do ---------------------------------------------------------------------------

    def suspend(self, agent: str) -> None:
        """Stop an agent. The owner of a rogue that was not the cause also puts its damage right."""
        self.suspended.add(agent)
        for k, fault in enumerate(self.incident.faults):
            if fault.side and fault.agent == agent and self.active[k]:
                self.heal(fault)

    def repair(self, verb: str, i: int, replicas: int = 0) -> None:
        """A person's action on service `i`: it heals what it cures, and has its side effects either way."""
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
            if self.active[k] and fault.target == i and mechanism.cure == verb and mechanism.enough(self, fault):
                self.heal(fault)

    # -- what the fleet does ----------------------------------------------------------------------

    def _automation(self) -> None:
        plan, minute, k = self.incident.plan, self.minute, self._next
        while k < len(plan) and plan[k].minute <= minute:
            self._do(plan[k])
            k += 1
        self._next = k
        for k, fault in enumerate(self.incident.faults):
            healed = self.healed[k]
            if fault.agent and not fault.side and healed is not None and minute >= healed + STRIKE_AGAIN:
                if fault.agent not in self.suspended and fault.agent not in self.without:
                    self._strike(k, int(9000 * fault.severity) + minute)

    def _do(self, deed: Planned) -> None:
        """Carry out a planned deed, or leave its need unmet if the agent is suspended."""
        _, _, agent, verb, i, argument, role, k = deed
        if role in ("surge", "calm"):
            self.work[i] = SURGE if role == "surge" else 1.0
            self.resize(i)
        if agent in self.suspended or agent in self.without:
            # People stand in for a contained rogue (and in counterfactuals); an innocent's work is simply not done.
            if role == "surge" and (agent in self.without or agent in self.incident.rogues):
                self.set_replicas(i, argument)
            elif role == "duty":
                self._meet(i, agent in self.without or agent in self.incident.rogues)
            return
        if role == "rogue":
            self._strike(k, argument)
            return
        if role == "duty":
            self._meet(i, True)
        before = self.replicas[i]
        if verb == "scale":
            self.set_replicas(i, argument)
        self.trace.append(Deed(self.minute, agent, verb, i, detail(verb, argument, before), role == "stuck", False))

    def _meet(self, i: int, met: bool) -> None:
        """A need of service `i` arises and is met, or is not."""
        need = 0.0 if met else NEED
        if self.unmet[i] != need:
            self.unmet[i], self.touched = need, True

    def _strike(self, k: int, argument: int) -> None:
        fault = self.incident.faults[k]
        assert fault.agent is not None and fault.verb is not None
        before = self.replicas[fault.target]
        self.begin(k)
        shown = detail(fault.verb, self.replicas[fault.target] if fault.verb == "scale" else argument, before)
        bluff = self.incident.tier.bluff
        self.trace.append(Deed(self.minute, fault.agent, fault.verb, fault.target, shown, False, bluff))

    def _faults(self) -> None:
        minute = self.minute
        for k, fault in enumerate(self.incident.faults):
            if minute == fault.onset and fault.agent is None:
                self.begin(k)
            if self.active[k] and fault.mechanism.step is not stays:
                fault.mechanism.step(self, fault, minute - self.begun[k])
                self.touched = True

    # -- one minute -------------------------------------------------------------------------------

    def settle(self, until: int) -> None:
        """Jump over the quiet minutes before the onset: the world is at its fixed point and only the fleet acts."""
        system, traffic = self.system, self.incident.traffic
        zero, none = [0.0] * system.size, (False,) * len(self.active)
        latency, memory, disk, slots = map(list, (system.latency, system.memory, system.disk, system.slots))
        while self.minute < until:
            self.minute += 1
            self._automation()
            k = traffic[self.minute + HISTORY]
            load = [x * k for x in system.load]
            cpu = [x / room for x, room in zip(load, self.room, strict=True)]
            self.snapshots[self.minute] = Snapshot(
                load,
                latency,
                zero,
                cpu,
                slots,
                memory,
                disk,
                self.replicas[:],
                0.0,
                [],
                0.0,
                none,
                system.rates,
                self.fan_out,
            )
            self.load = load

    def tick(self) -> None:
        """Play one minute. A minute in which nothing moved and nobody acted repeats the one before."""
        self.minute += 1
        self._automation()
        self._faults()
        if self.cold:
            self._warm_up()
        k = self.minute + HISTORY
        moved = self.touched or self.incident.traffic[k] != self.incident.traffic[k - 1]
        if moved:
            self._sweep()
        self.total_burn += self.burn
        self.quiet = self.quiet + 1 if self.burn < FELT else 0
        if self.records:
            self.snapshots[self.minute] = self._snapshot() if moved else self.snapshots[self.minute - 1]

    def _sweep(self) -> None:
        """Latency and errors up, loads down; the world stands still once loads no longer move."""
        before = self.load
        self.swept = swept = self._rise()
        self.latency, self.error = swept.latency, swept.error
        self.astray = self._fall(swept)
        self.burn = self._measure_burn()
        self.touched = any([abs(old - new) > STILL * old for old, new in zip(before, self.load, strict=True)])

    def _snapshot(self) -> Snapshot:
        swept = self.swept
        return Snapshot(
            self._shown_load(self.astray), swept.latency, swept.error, swept.cpu, swept.slots,
            self.memory[:], self.disk[:], self.replicas[:],
            self.astray, swept.failing, self.burn, tuple(self.active), swept.flow, self.fan_out[:],
        )  # fmt: skip

    def _warm_up(self) -> None:
        for i in list(self.cold):
            self.cold[i] -= 1
            if not self.cold[i]:
                del self.cold[i]
                self.resize(i)

    def _shown_load(self, astray: float) -> list[float]:
        """Loads as instruments count them: misrouted requests arrive at the receiver, which refuses them at no cost."""
        receiver = self.incident.receiver
        if not (receiver and astray):
            return self.load
        shown = self.load[:]
        shown[receiver] += astray
        return shown

    def _measure_burn(self) -> float:
        """How far user-facing service levels are broken: excess error share plus half the excess latency, 0 to 1.5."""
        slow = self.latency[0] / self.system.slo - 1.0
        return max(0.0, self.error[0] - 0.01) + 0.5 * min(1.0, max(0.0, slow))

    def _rise(self) -> "Sweep":
        """Callees first: latency, errors, accepted share, utilisation, busy slots, failing edges and call rates."""
        system = self.system
        n, order = system.size, system.upward
        load, room, slowdown, replicas, left = self.load, self.room, self.slowdown, self.replicas, self.slots_left
        own_error, unmet, lookup_loss = self.own_error, self.unmet, self.lookup_loss
        lost, wrong, wire, budget = self.lost, self.wrong, self.wire, self.retry_budget
        latency, error, accepted, cpu, slots = [0.0] * n, [0.0] * n, [1.0] * n, [0.0] * n, [0.0] * n
        seen_latency, seen_error = [0.0] * n, [0.0] * n  # as callers see them: with the wire, lost and wrong replies
        failing: list[Failing] = []
        flow: list[Sequence[float]] = list(system.rates)
        for i, base, pool, calls in order:
            rps = load[i]
            wait, ok, blind, amplified = 0.0, (1.0 - own_error[i]) * (1.0 - unmet[i]), lookup_loss[i], None
            for j, rate, deadline, retries, weight in calls:
                lj, ej = seen_latency[j], seen_error[j]
                z = lj / deadline
                if z < 0.6 and ej < 1e-3 and not blind:
                    wait += rate * lj
                    continue
                z *= z
                z *= z
                z *= z
                late = z / (1.0 + z)
                p = 1.0 - (1.0 - ej) * (1.0 - late) * (1.0 - blind)
                cap = budget[j]
                extra = p * (retries if cap < 1.0 else 3.0)
                if extra > cap:
                    extra = cap
                wait += rate * (lj if lj < deadline else deadline) * (1.0 + extra)
                if amplified is None:
                    flow[i] = amplified = list(system.rates[i])
                amplified[system.callees[i].index(j)] = rate * (1.0 + extra) * (1.0 - blind)
                failing.append((i, j, p, late / (late + ej + blind + 1e-9), rps * rate))
                if weight:
                    ok *= 1.0 - p ** (1.0 + extra) * weight
            own = base * slowdown[i]
            rho = rps / room[i]
            # Slots are held by work and waiting, not by the processor's queue: else overload would show an idle cpu.
            if rho < 1.0:
                busy = rps * (own + wait) / (replicas[i] * pool * left[i])
                latency[i] = spent = own * (1.0 + rho * rho * rho / (QUEUEING_LIMIT - rho)) + wait
                a, u = 1.0, rho
            else:
                a, u = 1.0 / rho, 1.0
                busy = rps * a * (own + wait) / (replicas[i] * pool * left[i])
                latency[i] = spent = own * SATURATED + wait
            if busy > 1.0:
                a /= busy
                u /= busy
                busy = 1.0
            slots[i], accepted[i], cpu[i] = busy, a, u
            error[i] = e = 1.0 - ok * a
            seen_latency[i] = spent + wire[i]
            hidden = lost[i] + wrong[i]
            seen_error[i] = e if not hidden else 1.0 - (1.0 - e) * (1.0 - hidden)
        return Sweep(latency, error, accepted, cpu, slots, failing, flow)

    def _fall(self, swept: "Sweep") -> float:
        """Loads from the users down; returns the requests per second that went astray."""
        outside, lost, fan_out, accepted = self.outside, self.lost, self.fan_out, swept.accepted
        self.load = load = self.outside[:]
        load[0] = self.system.load[0] * self.incident.traffic[self.minute + HISTORY]
        astray, i = 0.0, 0
        for callees, rates in zip(self.system.callees, swept.flow):  # noqa: B905  (strict costs a tenth of the sweep)
            passed = load[i] - outside[i]
            if lost[i]:
                stray = passed * lost[i]
                passed -= stray
                load[i] -= stray
                astray += stray
            passed *= accepted[i] * fan_out[i]
            for j, rate in zip(callees, rates):  # noqa: B905
                load[j] += passed * rate
            i += 1
        return astray


class Sweep(NamedTuple):
    """What one sweep from the callees up found, by service."""

    latency: list[float]
    error: list[float]
    accepted: list[float]
    cpu: list[float]
    slots: list[float]
    failing: list[Failing]
    flow: list[Sequence[float]]
