"""Who calls whom, who owns what, and where users arrive: from a compose file or topology file, else from the lines."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from warroom.core.errors import unknown_name_message
from warroom.envs.logs.views import Catalogue, ServiceEntry
from warroom.importers.text_files import read_text
from warroom.importers.topology.compose import read_compose
from warroom.importers.topology.files import Service, read_project
from warroom.importers.topology.graph import Edge, drop_cycles, reachable, topological_order
from warroom.importers.topology.roles import FRONTENDS, assign, classify_service, matches_role
from warroom.sim.service_topology import STORES, ServiceTopology
from warroom.triage.service_names import abbreviate

OWNERS = {"gateway": "sre", "service": "backend", "db": "dba", "queue": "sre", "cache": "sre"}
"""Kind of service to the team that owns it, where no owners file says otherwise."""
MAX_OWNERS_BYTES = 1_000_000
"""The largest owners file that is read."""


@dataclass(frozen=True)
class KnownTopology:
    """What a file says of a system."""

    source: str
    kinds: Mapping[str, str]
    """Services to their kinds; the gateway is one of them."""
    calls: frozenset[Edge]
    """May have cycles where those of a compose file do."""
    gateway: str
    """Empty where the file does not determine it."""
    infrastructure: Mapping[str, str] = field(default_factory=dict)
    """Services on no request's path, with the reason: their lines are ignored."""


def read_topology(path: Path) -> KnownTopology:
    """Read a file of `warroom import topology`, or a compose file. A `ValueError` says what is wrong with it."""
    if not path.is_file():
        raise ValueError(
            f"no topology file {str(path)!r}: give a compose file, or one that `warroom import topology` wrote"
        )
    written = _written_topology(path)
    if written is not None:
        return _acyclic(written, str(path), {})
    services = read_project([path]).services
    infrastructure = assign(services).infrastructure
    waits = [(service.name, other) for service in services.values() for other in service.depends_on]
    try:
        topological_order(services, waits)
    except ValueError:
        return _with_cycle(path, services, infrastructure, waits)
    return _acyclic(read_compose([path]).service_topology, str(path), infrastructure)


def _written_topology(path: Path) -> ServiceTopology | None:
    """The topology in a file of `warroom import topology`; None where it is another file."""
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        return None
    return ServiceTopology.from_json(json.dumps(data)) if isinstance(data, dict) and "names" in data else None


def _acyclic(service_topology: ServiceTopology, source: str, infrastructure: Mapping[str, str]) -> KnownTopology:
    names = [name.lower() for name in service_topology.names]
    calls = frozenset((names[i], names[j]) for i, j in service_topology.calls)
    return KnownTopology(source, dict(zip(names, service_topology.kinds, strict=True)), calls, names[0], infrastructure)


def _with_cycle(
    path: Path, services: Mapping[str, Service], infrastructure: Mapping[str, str], waits: list[Edge]
) -> KnownTopology:
    """A project that docker could not start, since its depends_on form a cycle: its calls as they are."""
    kinds = {
        name.lower(): classify_service(service).kind for name, service in services.items() if name not in infrastructure
    }
    lowered = {(caller.lower(), callee.lower()) for caller, callee in waits}
    calls = frozenset(edge for edge in lowered if edge[0] in kinds and edge[1] in kinds)
    return KnownTopology(str(path), kinds, calls, "", infrastructure)


def kind_of(name: str) -> str:
    """The kind by the name alone: `user-db` is a db."""
    return classify_service(_named(name)).kind


def infrastructure_reason(name: str) -> str:
    """Why a service of this name is on no request's path, or empty."""
    return classify_service(_named(name)).infrastructure


def _named(name: str) -> Service:
    return Service(name, "", frozenset(), {}, {}, {}, published=False)


@dataclass(frozen=True)
class ServiceGraph:
    """The catalogue with which a log is read, and the decisions that were made for it."""

    catalogue: Catalogue
    source: str
    notes: tuple[str, ...]
    inferred: bool
    """Whether no file says who calls whom."""


def build_service_graph(
    topology: KnownTopology | None, mentions: Mapping[Edge, int], services: Iterable[str], owners: Mapping[str, str]
) -> ServiceGraph:
    """The catalogue of all services: the calls of the topology, and those that lines mention where it knows nothing.

    `mentions` counts the lines in which a caller mentions a callee. Of calls that form a cycle, the one with the
    fewest mentions is left out.
    """
    names = set(services) | (set(topology.kinds) if topology else set())
    kinds = {name: kind_of(name) for name in names} | (dict(topology.kinds) if topology else {})
    known = topology.calls if topology else frozenset()
    candidates = known | _mentioned_calls(topology, mentions, kinds)
    acyclic = drop_cycles([], candidates, lambda edge: (edge not in known, -mentions.get(edge, 0)))
    gateway = (topology.gateway if topology else "") or _gateway(names, acyclic.calls, kinds, mentions)
    calls = {edge for edge in acyclic.calls if edge[1] != gateway}
    kinds |= {name: "service" for name, kind in kinds.items() if kind == "gateway"} | {gateway: "gateway"}
    order = [gateway, *(name for name in topological_order(names, calls) if name != gateway)]
    callees = {name: tuple(sorted(b for a, b in calls if a == name)) for name in order}
    return ServiceGraph(
        Catalogue(
            tuple(
                ServiceEntry(name, kinds[name], owners.get(name, OWNERS[kinds[name]]), callees[name]) for name in order
            )
        ),
        _source(topology, calls, gateway),
        (*map(_cycle_note, acyclic.dropped), *_owner_notes(owners, names)),
        topology is None,
    )


def _mentioned_calls(
    topology: KnownTopology | None, mentions: Iterable[Edge], kinds: Mapping[str, str]
) -> frozenset[Edge]:
    """Calls that lines mention, unless a file lists both services; stores call no service."""
    listed = set(topology.kinds) if topology else set()
    return frozenset(edge for edge in mentions if kinds[edge[0]] not in STORES and not set(edge) <= listed)


def _gateway(names: set[str], calls: Iterable[Edge], kinds: Mapping[str, str], mentions: Mapping[Edge, int]) -> str:
    """Where users arrive: a frontend by its name, else the root of the call graph that reaches most services."""
    called = {callee for _, callee in calls}
    roots = [name for name in names if name not in called and kinds[name] not in STORES] or sorted(names)
    lines = Counter({name: sum(n for edge, n in mentions.items() if edge[0] == name) for name in roots})
    return min(
        roots, key=lambda name: (not matches_role(FRONTENDS, name), -len(reachable(name, calls)), -lines[name], name)
    )


def _source(topology: KnownTopology | None, calls: set[Edge], gateway: str) -> str:
    if topology is not None:
        return f"{topology.source}; users arrive at {gateway}"
    listed = ", ".join(f"{a} -> {b}" for a, b in sorted(calls)[:12]) + (" ..." if len(calls) > 12 else "")
    seen = listed or "no call was seen"
    return f"inferred from the lines, which may miss calls: {seen}; users arrive at {gateway} (guessed)"


def _cycle_note(edge: Edge) -> str:
    return f"the calls form a cycle: left out {edge[0]} -> {edge[1]}, which the fewest lines mention"


# -- owners -----------------------------------------------------------------------------------------------


def read_owners(path: Path) -> dict[str, str]:
    """Read `service: team` from YAML or JSON, or `service,team` lines from CSV. A `ValueError` says what is wrong."""
    text = read_text(path, "owners file", MAX_OWNERS_BYTES)
    try:
        pairs = _csv_pairs(text, path) if path.suffix.lower() == ".csv" else yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(pairs, dict) or not pairs or not all(isinstance(team, str) and team for team in pairs.values()):
        got = type(pairs).__name__ if not isinstance(pairs, dict) else repr(dict(list(pairs.items())[:2]))
        raise ValueError(f"{path}: want one team for each service, e.g. 'user-db: dba'; got {got}")
    return {str(name).lower(): team for name, team in pairs.items()}


def _csv_pairs(text: str, path: Path) -> dict[str, str]:
    rows = [row for row in csv.reader(text.splitlines()) if row and not row[0].startswith("#")]
    if rows and [cell.strip().lower() for cell in rows[0]] == ["service", "team"]:
        rows = rows[1:]
    wrong = next((row for row in rows if len(row) != 2), None)
    if wrong is not None:
        raise ValueError(f"{path}: want two columns, service and team; got {','.join(wrong)!r}")
    return {service.strip(): team.strip() for service, team in rows}


def _owner_notes(owners: Mapping[str, str], names: set[str]) -> list[str]:
    unknown = sorted(set(owners) - names)
    return [f"owners file: {unknown_name_message('service', unknown[0], names)}"] if unknown else []


def check_shared(topology: KnownTopology, writers: Iterable[str]) -> None:
    """Refuse a topology of another system."""
    writing = set(writers)
    if not writing & set(topology.kinds):
        raise ValueError(
            f"{topology.source} and the log share no service: it has {abbreviate(topology.kinds)}; "
            f"the log has {abbreviate(writing)}; leave --topology out, or give that of this system"
        )
