"""What components write when a resource fails that no change touched: at least eight lines a mechanism and group.

`state` lines name the resource itself as used up, expired, gone or out of reach. `strain` lines tell of requests that
wait for it or take long over it, as they do behind any other trouble as well.
"""

import re
from functools import cache, lru_cache
from itertools import chain
from typing import Literal, NamedTuple

from warroom.core.splits import Split
from warroom.sim.family import Arena, Mechanism
from warroom.sim.streams.template import Level, figure_pattern

Tells = Literal["state", "strain"]
"""What a line tells of a resource: that it is used up, expired, gone or out of reach; or that requests wait for it."""


class SymptomLine(NamedTuple):
    """One kind of line about a resource. Slots in braces are figures, and `callee` for what a caller writes."""

    level: Level
    text: str


class Wordings(NamedTuple):
    """How one mechanism is told of in one group of splits."""

    state: tuple[SymptomLine, ...]
    strain: tuple[SymptomLine, ...]


def _lines(*rows: str) -> tuple[SymptomLine, ...]:
    """Lines as they are written in the tables: E or W for the level, then the text."""
    levels: dict[str, Level] = {"E": "ERROR", "W": "WARN"}
    return tuple([SymptomLine(levels[row[0]], row[2:]) for row in rows])


SYMPTOMS: dict[Split, dict[Mechanism, Wordings]] = {
    Split.TRAIN: {
        "memory": Wordings(
            _lines(
                "E heap exhausted, allocation of {kb} kB refused",
                "E worker {n} killed by the kernel: out of memory",
                "W no memory left after {n} full collections in a row",
                "W resident memory has reached the ceiling of the container",
                "E cannot fork a worker: memory is used up",
            ),
            _lines(
                "W collector held up requests for {ms} ms",
                "W request waits for a buffer, {n} before it",
                "E buffer not ready after {ms} ms, request given up",
            ),
        ),
        "connections": Wordings(
            _lines(
                "E connection pool exhausted, all slots leased and none returned",
                "E no file descriptors left for another socket",
                "W connection {seq} was leased an hour ago and never came back",
                "E accept failed: too many open sockets",
                "W maximum of client sessions reached, new ones are turned away",
            ),
            _lines(
                "W waited {ms} ms for a pooled connection",
                "W {n} requests queue for a connection",
                "E gave up waiting for a connection after {ms} ms",
            ),
        ),
        "contention": Wordings(
            _lines(
                "W processor time stolen by another tenant of the machine, sequence {request}",
                "E cpu quota of the machine is used up by neighbours, threads are not run",
                "W a neighbour on this machine holds all cores, ours are taken away",
                "E machine oversubscribed: our share of the processors is gone",
                "W hypervisor gave our cores to another guest",
            ),
            _lines(
                "W thread was runnable for {ms} ms before it ran",
                "W {n} tasks in the run queue wait for a core",
                "E timer fired {ms} ms late, task dropped",
            ),
        ),
        "capacity": Wordings(
            _lines(
                "E all workers are busy, more demand arrives than this deployment can serve",
                "W demand is above the rated capacity, load shedding is on",
                "E admission closed: arrivals exceed what the workers can take",
                "W surge of requests from users, workers at their limit",
                "E overload: request {request} shed, no worker is free",
            ),
            _lines(
                "W request stood in the accept queue for {ms} ms",
                "W backlog of {n} requests before a worker",
                "E request left the backlog unserved after {ms} ms",
            ),
        ),
        "retry_storm": Wordings(
            _lines(
                "E most arrivals are repeats of requests that had failed, attempt {n}",
                "W clients repeat faster than we can answer, repeats crowd out first attempts",
                "E retry budget of all clients spent, and they go on repeating",
                "W request {request} is here again, unchanged, and not for the first time",
                "E flood of resent statements, the same keys again and again",
            ),
            _lines(
                "W answer ready after {ms} ms, its client had already asked again",
                "W duplicate of a request that still waits its turn",
                "E {n} answers thrown away, nobody waited for them any more",
            ),
        ),
        "disk_space": Wordings(
            _lines(
                "E no space left on device, write of {kb} kB refused",
                "E data volume is full, going read-only",
                "W volume has {n} MB left and no segment that may be deleted",
                "E could not extend file: disk full",
                "W out of inodes on the data volume",
            ),
            _lines(
                "W write waited {ms} ms for the volume",
                "W {n} writes queue for the disk",
                "E flush not done after {ms} ms, write given up",
            ),
        ),
        "locks": Wordings(
            _lines(
                "E deadlock detected between {n} holders, each waits for the other",
                "E lock on row group {seq} held by an idle session that never lets go",
                "W circular wait found, victim {seq} chosen and ended",
                "E lock table is full, no lock can be given out",
                "W session {seq} has held an exclusive lock since before the hour",
            ),
            _lines(
                "W waited {ms} ms for a row lock",
                "W {n} sessions queue for the same lock",
                "E lock wait of {ms} ms exceeded, statement given up",
            ),
        ),
        "certificate": Wordings(
            _lines(
                "E certificate of {callee} has expired, handshake refused",
                "W {callee} presents a certificate whose validity is over",
                "E chain of {callee} not trusted: not after lies in the past",
                "E verification of {callee} failed, its certificate ran out",
                "W tls alert from our side to {callee}: certificate expired",
            ),
            _lines(
                "W handshake with {callee} took {ms} ms",
                "W {n} handshakes with {callee} are pending",
                "E handshake with {callee} given up after {ms} ms",
            ),
        ),
        "name_resolution": Wordings(
            _lines(
                "E lookup of {callee} failed: no such host",
                "E resolver has no address for {callee}",
                "W address of {callee} unknown, the zone is not served",
                "E name {callee} cannot be resolved, servfail from all resolvers",
                "W cached record of {callee} ran out, and no resolver has another",
            ),
            _lines(
                "W lookup of {callee} took {ms} ms",
                "W {n} lookups of {callee} wait for an answer",
                "E lookup of {callee} repeated, first query unanswered after {ms} ms",
            ),
        ),
        "link_latency": Wordings(
            _lines(
                "W link to {callee} degraded, segments are lost on the way",
                "E packet loss towards {callee}, path rerouted over a long detour",
                "W retransmissions to {callee}, the network drops our segments",
                "E network path to {callee} impaired, round trips far above the distance",
                "W interface towards {callee} reports errors on the wire",
            ),
            _lines(
                "W bytes for {callee} stood in the send buffer for {ms} ms",
                "W {n} replies of {callee} still under way",
                "E stream to {callee} idle for {ms} ms, closed",
            ),
        ),
        "transient": Wordings(
            _lines(
                "W leader lost, election {part} under way",
                "E primary stepped down, failover to the standby has begun",
                "W node leaves for planned maintenance, its work moves over",
                "E short break while virtual machine {seq} migrates",
                "W switch of the standby in progress, back within a minute",
            ),
            _lines(
                "W request held for {ms} ms until the new leader is known",
                "W {n} requests parked during the handover",
                "E parked request dropped at {ms} ms, handover not over",
            ),
        ),
    },
    Split.TEST: {
        "memory": Wordings(
            _lines(
                "E [oom] process {seq} killed, no memory left",
                "E [alloc] {kb}k denied: arena exhausted",
                "W [gc] cycle {n} freed nothing, old generation stays full",
                "E [cgroup] hard cap of RAM hit",
                "W [mmap] mapping denied, address space of the process is spent",
            ),
            _lines(
                "W [gc] stop of the world, {ms}ms",
                "W [slab] {n} callers in line for a chunk",
                "E [slab] chunk came {ms}ms too late",
            ),
        ),
        "connections": Wordings(
            _lines(
                "E [pool] drained, every handle is out on loan and stays out",
                "E [net] EMFILE: table of descriptors is full",
                "W [pool] handle {seq} leaked, borrower ended",
                "E [net] dial denied, ceiling on simultaneous sessions met",
                "W [pool] zero handles free, zero returned",
            ),
            _lines(
                "W [pool] borrower stood in line {ms}ms",
                "W [pool] {n} borrowers wait",
                "E [pool] borrower gave up at {ms}ms",
            ),
        ),
        "contention": Wordings(
            _lines(
                "W [host] steal time high: co-located job {seq} eats our cycles",
                "E [host] another workload has seized the cores of this box",
                "W [sched] we are throttled, the box runs somebody else's batch",
                "E [host] cycles promised to us are spent by a co-tenant",
                "W [host] noisy guest {seq} on the same box, our slice has vanished",
            ),
            _lines(
                "W [sched] ready for {ms}ms, not yet dispatched",
                "W [sched] {n} coroutines stuck in ready state",
                "E [sched] tick overdue by {ms}ms, skipped",
            ),
        ),
        "capacity": Wordings(
            _lines(
                "E [admit] arrivals above rated capacity, rejecting",
                "W [admit] traffic peak, every executor occupied",
                "E [exec] saturated: item {seq} sent away",
                "W [admit] request rate at the configured ceiling",
                "E [exec] zero idle executors, inflow still climbing",
            ),
            _lines(
                "W [inbox] item aged {ms}ms before pickup",
                "W [inbox] depth {n}, executors catching up",
                "E [inbox] item expired unhandled, {ms}ms",
            ),
        ),
        "retry_storm": Wordings(
            _lines(
                "E [ingress] one more copy of a request that is being served, copy no. {n}",
                "W [ingress] idempotency key {seq} repeated",
                "E [ingress] callers hammer us with second and third tries, no backoff seen",
                "W [ingress] re-sent calls outnumber first ones",
                "E [ingress] amplification: every failed call comes back several times",
            ),
            _lines(
                "W [egress] reply after {ms}ms found that its asker had re-asked",
                "W [inbox] twin of an item not yet picked up",
                "E [egress] {n} replies dropped, client gone",
            ),
        ),
        "disk_space": Wordings(
            _lines(
                "E [io] ENOSPC at block {seq}",
                "E [store] mount is full, writes barred",
                "W [store] {n} MB to go, nothing eligible for cleanup",
                "E [io] growing the file was denied, storage is filled up",
                "W [store] temp area has overflowed its partition",
            ),
            _lines(
                "W [io] fsync lasted {ms}ms",
                "W [io] {n} pages waiting for the disk",
                "E [io] fsync abandoned, {ms}ms",
            ),
        ),
        "locks": Wordings(
            _lines(
                "E [lk] cycle of {n} transactions, one has to die",
                "E [lk] latch {seq} stays held: its owner sleeps and keeps it",
                "W [lk] cyclic dependency broken by force, loser {seq}",
                "E [lk] out of latch entries",
                "W [lk] owner {seq} of an exclusive latch has gone silent",
            ),
            _lines(
                "W [lk] latch granted after {ms}ms",
                "W [lk] {n} behind the same latch",
                "E [lk] latch not granted in {ms}ms, backing out",
            ),
        ),
        "certificate": Wordings(
            _lines(
                "E [tls {callee}] X509: past its end date",
                "W [tls {callee}] leaf is outdated, peer rejected",
                "E [tls {callee}] peer shows papers no longer valid",
                "E [tls {callee}] notAfter passed, session refused",
                "W [tls {callee}] trust denied: credential of the peer has lapsed",
            ),
            _lines(
                "W [tls {callee}] session set up in {ms}ms",
                "W [tls {callee}] {n} sessions in setup",
                "E [tls {callee}] setup abandoned, {ms}ms",
            ),
        ),
        "name_resolution": Wordings(
            _lines(
                "E [dns] NXDOMAIN {callee}",
                "E [dns] {callee}: empty answer by every resolver",
                "W [dns] authority for {callee} is down",
                "E [dns] REFUSED for {callee} by each server on the list",
                "W [dns] {callee}: record gone since the last lookup",
            ),
            _lines(
                "W [dns] {callee} answered in {ms}ms",
                "W [dns] {n} questions about {callee} open",
                "E [dns] query for {callee} repeated, {ms}ms",
            ),
        ),
        "link_latency": Wordings(
            _lines(
                "W [tcp {callee}] dup acks, frames go missing en route",
                "E [route {callee}] cable fault, traffic runs around the globe",
                "W [tcp {callee}] resent frames, carrier drops them",
                "E [route {callee}] hop {n} sick, rtt many times its norm",
                "W [nic] crc faults on the port that leads to {callee}",
            ),
            _lines(
                "W [tcp {callee}] outbox not flushed for {ms}ms",
                "W [tcp {callee}] {n} replies in flight",
                "E [tcp {callee}] quiet for {ms}ms, hung up",
            ),
        ),
        "transient": Wordings(
            _lines(
                "W [raft] term {part} starts, nobody leads yet",
                "E [ha] active member stepped back, deputy elected",
                "W [ha] host enters a service window, tenants being moved",
                "E [vm] live move {seq}: frozen for an instant",
                "W [ha] role swap running, done in seconds",
            ),
            _lines(
                "W [raft] proposal waited {ms}ms for a leader",
                "W [ha] {n} calls on hold during the swap",
                "E [ha] call on hold let go at {ms}ms",
            ),
        ),
    },
}


AT_CALLERS: frozenset[Mechanism] = frozenset({"certificate", "link_latency", "name_resolution"})
"""Failures between a service and its callers: the callers write of them."""


class Consequences(NamedTuple):
    """What runs short behind a kind of harm, whatever made it."""

    state: tuple[Mechanism, ...]
    strain: tuple[Mechanism, ...]


CONSEQUENCES: dict[Arena, Consequences] = {
    "service errors": Consequences(
        ("connections", "memory", "retry_storm", "disk_space"), ("connections", "memory", "capacity", "link_latency")
    ),
    "service late": Consequences(
        ("connections", "memory", "retry_storm"), ("connections", "contention", "capacity", "name_resolution")
    ),
    "store errors": Consequences(
        ("connections", "disk_space", "locks", "retry_storm"), ("connections", "disk_space", "locks", "memory")
    ),
}

FOLLOWS: frozenset[Mechanism] = frozenset([m for follows in CONSEQUENCES.values() for m in follows.state])
"""Resources that run out behind harm of any cause; of all others `state` lines rise only if they are the cause."""


class ReadSymptom(NamedTuple):
    """What a line tells of a resource."""

    mechanism: Mechanism
    tells: Tells
    callee: str
    """Empty if it is about the component that wrote it."""


class _Pattern(NamedTuple):
    line: re.Pattern[str]
    mechanism: Mechanism
    tells: Tells


def _pattern(text: str) -> re.Pattern[str]:
    escaped = re.escape(text).replace(r"\{callee\}", r"(?P<callee>[\w-]+)")
    return re.compile(re.sub(r"\\\{(\w+)\\\}", lambda slot: figure_pattern(slot[1]), escaped))


@cache
def _patterns() -> tuple[_Pattern, ...]:
    found = []
    for mechanism, wordings in chain.from_iterable(table.items() for table in SYMPTOMS.values()):
        found += [_Pattern(_pattern(line.text), mechanism, "state") for line in wordings.state]
        found += [_Pattern(_pattern(line.text), mechanism, "strain") for line in wordings.strain]
    return tuple(found)


@lru_cache(maxsize=4096)
def read_symptom(message: str) -> ReadSymptom | None:
    """The inverse of the tables: what a line tells of a resource; None if it tells of none."""
    for pattern, mechanism, tells in _patterns():
        if match := pattern.fullmatch(message):
            return ReadSymptom(mechanism, tells, match.groupdict().get("callee", ""))
    return None
