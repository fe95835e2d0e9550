"""A docker-compose project as a blueprint: which services there are, who calls whom, and what was only plumbing."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warroom.importers.topology.files import Service, read_project
from warroom.importers.topology.graph import Edge, drop_cycles, reachable, topological_order
from warroom.importers.topology.roles import Roles, assign, hosts_in
from warroom.sim.service_topology import KINDS, STORES, ServiceTopology

MAX_SERVICES = 64
"""As many as a blueprint holds."""
MAX_READ = 1000
"""As many as the files may define, plumbing included."""


@dataclass(frozen=True, slots=True)
class ImportedTopology:
    """A blueprint, and what became of everything else that the files say.

    Every service is in the blueprint or in `left_out`; every dependency is in `calls` or in `plumbing`, or touches a
    service that was left out.
    """

    service_topology: ServiceTopology
    dependencies: tuple[Edge, ...]
    """Every `depends_on` of the files (service, what it waits for), sorted, before any filtering."""
    calls: tuple[Edge, ...]
    """The call edges of the blueprint by name, sorted; from `depends_on`, `links` and addresses in environments."""
    infrastructure: tuple[tuple[str, str, str], ...]
    """Edges that carry no request of a user, with the reason, sorted."""
    omitted: tuple[tuple[str, str], ...]
    """Services that the blueprint lacks, with the reason, sorted."""
    warnings: tuple[str, ...]
    """What was odd, for a person to read."""


def read_compose(paths: Sequence[Path], env_file: Path | None = None) -> ImportedTopology:
    """Import the project that `docker compose -f paths[0] -f paths[1] ...` would start, all profiles included.

    Variables come from `env_file`, else from `.env` beside the first file; the shell's own are not looked at.
    A `ValueError` says what is wrong with a file and what to do.
    """
    project = read_project(paths, env_file)
    services, roles = project.services, assign(project.services)
    waits = _startup_edges(services)
    named = _named(services) - set(waits)
    infrastructure = {edge: why for edge in (*waits, *named) if (why := _reason_not_a_call(edge, roles))}
    calls, closing = drop_cycles(
        [edge for edge in waits if edge not in infrastructure],
        [edge for edge in named if edge not in infrastructure],
        lambda edge: _doubt(edge, services, roles),
    )
    roots = {name: len(reachable(name, calls)) - 1 for name in _roots(services, roles, calls)}
    entry = _entry(services, roles, roots)
    kept = reachable(entry, calls)
    service_topology = _blueprint(entry, kept, calls, roles)
    return ImportedTopology(
        service_topology=service_topology,
        dependencies=tuple(waits),
        calls=tuple(sorted((service_topology.names[i], service_topology.names[j]) for i, j in service_topology.calls)),
        infrastructure=tuple(sorted((caller, callee, why) for (caller, callee), why in infrastructure.items())),
        omitted=tuple(
            (name, _reason_omitted(name, entry, roles, infrastructure, calls)) for name in services if name not in kept
        ),
        warnings=(*project.warnings, *_entry_notes(entry, services, roles, roots), *map(_closing_note, closing)),
    )


def _startup_edges(services: Mapping[str, Service]) -> list[Edge]:
    """Every `depends_on`, sorted. Docker starts services in this order, so a cycle is an error."""
    waits = sorted((service.name, other) for service in services.values() for other in service.depends_on)
    if len(services) > MAX_READ:
        raise ValueError(f"{len(services)} services; at most {MAX_READ} are read: give fewer files")
    try:
        topological_order(services, waits)
    except ValueError as error:
        raise ValueError(f"depends_on goes in a circle, which docker cannot start: {error}; take one out") from error
    return waits


def _named(services: Mapping[str, Service]) -> set[Edge]:
    """Edges beyond `depends_on`: links, and environment entries that name another service's host."""
    owners = {host: name for name in sorted(services, reverse=True) for host in services[name].hosts}
    owners |= {name.lower(): name for name in services}
    found = set()
    for name, service in services.items():
        known = owners | {alias.lower(): other for other, alias in service.links.items()}
        hosts = {host for key, value in service.environment.items() for host in hosts_in(key, value)}
        found |= {(name, known[host]) for host in hosts if host in known}
        found |= {(name, other) for other in service.links}
    return {(caller, callee) for caller, callee in found if caller != callee}


def _reason_not_a_call(edge: Edge, roles: Roles) -> str:
    """Why an edge carries no request, or "" for a real call."""
    caller, callee = edge
    for end in (callee, caller):
        if end in roles.infrastructure:
            return f"{end} is {roles.infrastructure[end]}"
    if roles.kinds[caller] in STORES and roles.kinds[callee] not in STORES:
        return f"{caller} is a {roles.kinds[caller]}, which calls no service"
    return ""


def _doubt(edge: Edge, services: Mapping[str, Service], roles: Roles) -> tuple[bool, ...]:
    """How likely an address is no call: of `web -> api` and `api -> web` the second may be for a link in a mail."""
    caller, callee = edge
    return (
        callee in roles.frontends,
        caller not in roles.frontends,
        services[callee].published,
        not services[caller].published,
    )


def _closing_note(edge: Edge) -> str:
    return f"{edge[0]} names {edge[1]} in its environment or links, but that call would close a circle: not taken"


def _roots(services: Mapping[str, Service], roles: Roles, calls: Iterable[Edge]) -> list[str]:
    """Services that none but load generators and the like call, stores aside."""
    called = {callee for _, callee in calls}
    return [n for n in services if n not in called and n not in roles.infrastructure and roles.kinds[n] not in STORES]


def _entry(services: Mapping[str, Service], roles: Roles, roots: Mapping[str, int]) -> str:
    """Of the roots that call anything, a front if there is one, then the one from which most services are reached."""
    ranked = _ranked(services, roles, roots)
    if not ranked:
        left = [name for name in services if name not in roles.infrastructure]
        raise ValueError(
            f"no service here calls another ({len(services)} services; without plumbing: {', '.join(left) or 'none'}); "
            "a topology needs two at least: add depends_on, links or addresses in the environment"
        )
    return ranked[0]


def _ranked(services: Mapping[str, Service], roles: Roles, roots: Mapping[str, int]) -> list[str]:
    callers = [name for name, reached in roots.items() if reached]
    frontends = [name for name in callers if name in roles.frontends or services[name].published]
    return sorted(frontends or callers, key=lambda name: (-roots[name], not services[name].published, name))


def _entry_notes(entry: str, services: Mapping[str, Service], roles: Roles, roots: Mapping[str, int]) -> Iterator[str]:
    ranked = _ranked(services, roles, roots)
    if len(ranked) > 1:
        listed = ", ".join(f"{name} (reaches {roots[name]})" for name in ranked)
        yield f"users could arrive at {listed}: took {entry}"
    for name in roots:
        if name in roles.frontends and not roots[name]:
            yield f"{name} looks like an entry, but nothing here says whom it calls: add depends_on to it if it does"


def _blueprint(entry: str, kept: set[str], calls: Iterable[Edge], roles: Roles) -> ServiceTopology:
    """The kept services in topological order, ties by name."""
    if len(kept) > MAX_SERVICES:
        raise ValueError(f"{len(kept)} services are reached from {entry}, at most {MAX_SERVICES} fit: give fewer files")
    edges = [edge for edge in calls if edge[0] in kept]
    names = topological_order(kept, edges)
    place = {name: index for index, name in enumerate(names)}
    kinds = ("gateway" if name == entry else roles.kinds[name] for name in names)
    return ServiceTopology(tuple(names), tuple(kinds), tuple(sorted((place[a], place[b]) for a, b in edges)))


def _reason_omitted(
    name: str, entry: str, roles: Roles, infrastructure: Mapping[Edge, str], calls: Sequence[Edge]
) -> str:
    if name in roles.infrastructure:
        return roles.infrastructure[name]
    users = sorted({caller for caller, callee in infrastructure if callee == name})
    if users and not any(name in edge for edge in calls):
        return f"only used by {', '.join(users)}, not by a request from {entry}"
    queues = sorted(callee for caller, callee in calls if caller == name and roles.kinds[callee] == "queue")
    consumer = f" (it works from {', '.join(queues)})" if queues else ""
    return f"no request from {entry} reaches it{consumer}"


def describe(imported: ImportedTopology) -> str:
    """A short report in plain text: what was taken, what was left out, and why."""
    service_topology = imported.service_topology
    total = len(service_topology.names) + len(imported.omitted)
    head = (
        f"{len(service_topology.names)} of {total} services, {len(imported.calls)} calls "
        f"({len(imported.dependencies)} depends_on edges, {len(imported.infrastructure)} edges of plumbing)"
    )
    kinds = {
        k: [n for n, kind in zip(service_topology.names, service_topology.kinds, strict=True) if kind == k]
        for k in KINDS
    }
    callees = {caller: [b for a, b in imported.calls if a == caller] for caller in service_topology.names}
    why = {
        reason: [f"{a} -> {b}" for a, b, r in imported.infrastructure if r == reason]
        for *_, reason in imported.infrastructure
    }
    sections = [
        ("services", [_line(kind, names) for kind, names in kinds.items() if names]),
        ("calls", [_line(f"{caller} ->", names) for caller, names in callees.items() if names]),
        ("plumbing", [_line(f"{reason}:", edges) for reason, edges in sorted(why.items())]),
        ("left out", [f"{name}: {reason}" for name, reason in imported.omitted]),
        ("warnings", list(imported.warnings)),
    ]
    return "\n".join([head, *(_section(title, lines) for title, lines in sections if lines)])


def _line(head: str, items: Iterable[str]) -> str:
    return f"{head} {', '.join(items)}"


def _section(title: str, lines: Iterable[str]) -> str:
    wrapped = [
        textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
        for line in lines
    ]
    return "\n".join([f"\n{title}", *wrapped])
