"""Compose files laid over one another, as `docker compose -f a -f b` does: merge, `extends`, `include`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warroom.core.errors import unknown_name_message
from warroom.importers.topology.documents import Override, Reset, kind_of, read_documents, read_text
from warroom.importers.topology.variables import Variables, read_variables

ComposeLayer = dict[str, Any]
"""Services by name, each with the keys of `SHAPES` in their one canonical form."""

STARTED = "service_started"
COMPLETED = "service_completed_successfully"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Service:
    """What a project says of one service, all files merged and all variables filled in."""

    name: str
    image: str
    hosts: frozenset[str]
    """Every name under which others reach it, in lower case."""
    environment: Mapping[str, str]
    depends_on: Mapping[str, str]
    """Service to the condition that is waited for."""
    links: Mapping[str, str]
    """Service to the alias under which this one calls it."""
    published: bool
    """Whether a port of the machine is bound to it, so that users may reach it."""


@dataclass(frozen=True, slots=True)
class Project:
    """All services of the files, by name in alphabetical order, and what was odd about them."""

    services: Mapping[str, Service]
    warnings: tuple[str, ...]


def read_project(paths: Sequence[Path], env_file: Path | None = None) -> Project:
    """Read compose files, each over the ones before; variables come from `env_file` or `.env` beside the first."""
    if not paths:
        raise ValueError("no compose file given: name at least one, e.g. compose.yaml")
    reader = _ComposeReader(read_variables(paths[0].parent, env_file))
    merged: ComposeLayer = {}
    for path in paths:
        merged = reader.overlay(path, merged)
    names = ", ".join(str(path) for path in paths)
    if not merged:
        keys = ", ".join(sorted(reader.keys)) or "none"
        raise ValueError(
            f"{names}: no services; list them under the top-level key 'services:' (top-level keys: {keys})"
        )
    services = {name: reader.service(name, merged[name], merged) for name in sorted(merged)}
    missing = ", ".join(sorted(reader.variables.missing))
    notes = [f"variables without a value, taken as empty: {missing}"] if missing else []
    return Project(services, tuple(notes + reader.warnings))


def merge(below: Any, above: Any) -> Any:
    """One value laid over another: mappings merge by key, lists grow, anything else is replaced."""
    if isinstance(above, Override):
        return above.value
    if isinstance(above, dict):
        merged = dict(below) if isinstance(below, dict) else {}
        for key, value in above.items():
            if isinstance(value, Reset):
                merged.pop(key, None)
            else:
                merged[key] = merge(merged.get(key), value)
        return merged
    if isinstance(above, list) and isinstance(below, list):
        return below + [item for item in above if item not in below]
    return above


def _scalar(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"want a text, got a {kind_of(value)}")
    return "" if value is None else str(value)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise ValueError(f"want a list, got a {kind_of(value)}")
    return value or []


def _keyed(value: Any, of_item: Callable[[str], tuple[str, Any]]) -> dict[str, Any]:
    """A mapping as it is, or a list whose items `of_item` makes into keys and values."""
    if isinstance(value, dict):
        return {_scalar(key): item for key, item in value.items()}
    if not isinstance(value, list | None):
        raise ValueError(f"want a list or a mapping, got a {kind_of(value)}")
    return dict(of_item(_scalar(item)) for item in value or [])


def _environment(value: Any) -> dict[str, Any]:
    def pair(item: str) -> tuple[str, str | None]:
        key, equals, setting = item.partition("=")
        return key, setting if equals else None

    found = _keyed(value, pair)
    for key, setting in found.items():
        if isinstance(setting, dict | list):
            raise ValueError(f"the value of {key!r} is a {kind_of(setting)}, want a text")
    return found


def _depends_on(value: Any) -> dict[str, Any]:
    defaults = {"condition": STARTED, "required": "true"}
    found = _keyed(value, lambda name: (name, {}))
    for name, detail in found.items():
        if not isinstance(detail, dict | Reset | None):
            raise ValueError(f"{name!r} wants a mapping such as condition: {STARTED}, got a {kind_of(detail)}")
    return {name: item if isinstance(item, Reset) else defaults | (item or {}) for name, item in found.items()}


def _links(value: Any) -> dict[str, str]:
    pairs = [_scalar(item).partition(":") for item in _listed(value)]
    return {name: alias or name for name, _, alias in pairs}


def _extends(value: Any) -> dict[str, Any]:
    found = value if isinstance(value, dict) else {"service": _scalar(value)}
    if not found.get("service"):
        raise ValueError("want the name of a service, as in extends: {service: base, file: common.yaml}")
    return {key: _scalar(item) for key, item in found.items()}


def _files(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    return [item if isinstance(item, dict) else {"path": _scalar(item)} for item in items if item is not None]


SHAPES: dict[str, Callable[[Any], Any]] = {
    "image": _scalar,
    "container_name": _scalar,
    "hostname": _scalar,
    "environment": _environment,
    "env_file": _files,
    "depends_on": _depends_on,
    "links": _links,
    "networks": lambda value: _keyed(value, lambda name: (name, None)),
    "ports": _listed,
    "extends": _extends,
}
"""The keys of a service that tell something about the topology, and how each becomes canonical."""


@dataclass(slots=True)
class _ComposeReader:
    """Reads layers of one project, and remembers what was odd."""

    variables: Variables
    warnings: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def overlay(self, path: Path, below: ComposeLayer, trail: tuple[Path, ...] = ()) -> ComposeLayer:
        """The services `below` with one file laid over them, its includes first."""
        if path.resolve() in trail:
            raise ValueError(f"{path} includes itself: {' -> '.join(p.name for p in (*trail, path))}")
        for document in read_documents(path):
            self.keys.update(str(key) for key in document)
            for other in self._included(path, document):
                below = self.overlay(other, below, (*trail, path.resolve()))
            own = self._own(path, document)
            known = {name: body for name, body in {**below, **own}.items() if not isinstance(body, Reset)}
            below = merge(below, {name: self._extended(path, name, body, known) for name, body in own.items()})
        return below

    def _included(self, path: Path, document: ComposeLayer) -> list[Path]:
        items = _files(self._filled(path, document.get("include")))
        names = [name for item in items for name in _files(item.get("path"))]
        return [path.parent / _scalar(name.get("path")) for name in names]

    def _own(self, path: Path, document: ComposeLayer) -> ComposeLayer:
        services = document.get("services")
        services = services.value if isinstance(services, Override) else services
        if not isinstance(services, dict | None):
            raise ValueError(f"{path}: 'services' is a {kind_of(services)}, want a mapping of names to services")
        strange = [name for name in services or {} if not (isinstance(name, str) and _NAME.fullmatch(name))]
        if strange:
            raise ValueError(f"{path}: {strange[0]!r} is no service name: use letters, digits, '.', '_' and '-'")
        return {name: self._canonical(path, name, body) for name, body in (services or {}).items()}

    def _canonical(self, path: Path, name: str, body: Any) -> Any:
        """A service with its topology keys only, each in one form; reset and override marks stay."""
        if isinstance(body, Reset):
            return body
        if isinstance(body, Override):
            return Override(self._canonical(path, name, body.value))
        if not isinstance(body, dict):
            raise ValueError(f"{path}: the service {name!r} is a {kind_of(body)}, want a mapping with image, ...")
        filled = self._filled(path, {key: body[key] for key in SHAPES if key in body})
        shaped = {key: _shaped(path, name, key, value) for key, value in filled.items()}
        if isinstance(shaped.get("env_file"), list):
            shaped["env_file"] = [
                {**item, "path": path.parent / _scalar(item.get("path"))} for item in shaped["env_file"]
            ]
        return shaped

    def _filled(self, path: Path, value: Any) -> Any:
        try:
            return self.variables.fill(value)
        except RecursionError as error:
            raise ValueError(f"{path}: an alias that contains itself, or nesting too deep") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def _extended(
        self, path: Path, name: str, body: Any, known: ComposeLayer, trail: tuple[tuple[Path, str], ...] = ()
    ) -> Any:
        """The service over the one that it extends, and that one's own base, and so on."""
        if not (isinstance(body, dict) and isinstance(body.get("extends"), dict)):
            return body
        step, base, file = (path.resolve(), name), body["extends"]["service"], body["extends"].get("file")
        if step in trail:
            circle = " -> ".join(each for _, each in (*trail, step))
            raise ValueError(f"{path}: services extend one another in a circle: {circle}")
        source = path.parent / file if file else path
        others = self._base_services(source) if file else known
        if base not in others:
            raise ValueError(
                f"{path}: {name!r} extends a service that is missing: {unknown_name_message('service', base, others)}"
            )
        below = self._extended(source, base, others[base], others, (*trail, step))
        return merge(merge({}, below), {key: value for key, value in body.items() if key != "extends"})

    def _base_services(self, path: Path) -> ComposeLayer:
        found: ComposeLayer = {}
        for document in read_documents(path):
            found = merge(found, self._own(path, document))
        return found

    def service(self, name: str, body: Any, names: ComposeLayer) -> Service:
        """The merged keys of a service as a record."""
        body = merge({}, body)
        for link in body.get("links", {}):
            _check_name(name, "links to", link, names)
        aliases = [item["aliases"] for item in body.get("networks", {}).values() if _has_aliases(item)]
        hosts = [name, body.get("container_name"), body.get("hostname"), *(a for some in aliases for a in some)]
        return Service(
            name=name,
            image=body.get("image", ""),
            hosts=frozenset(str(host).lower() for host in hosts if host),
            environment=self._environment(name, body),
            depends_on=self._depends_on(name, body, names),
            links=body.get("links", {}),
            published=any(_published(port) for port in body.get("ports", [])),
        )

    def _depends_on(self, name: str, body: ComposeLayer, names: ComposeLayer) -> dict[str, str]:
        found = {}
        for other, detail in body.get("depends_on", {}).items():
            if other not in names and detail["required"] == "false":
                self.warnings.append(f"{name}: depends on {other!r}, which is optional and not in these files")
                continue
            _check_name(name, "depends on", other, names)
            found[other] = detail["condition"]
        return found

    def _environment(self, name: str, body: ComposeLayer) -> dict[str, str]:
        """Values of the service's env files, under those of `environment`; keys without one come from `.env`."""
        found: dict[str, str] = {}
        for item in body.get("env_file", []):
            if item["path"].is_file():
                found |= Variables(dict(self.variables.values)).read(read_text(item["path"], "env file"))
            elif item.get("required") != "false":
                self.warnings.append(f"{name}: no env file {str(item['path'])!r}, read as empty")
        for key, value in body.get("environment", {}).items():
            setting = self.variables.values.get(key) if value is None else _scalar(value)
            if setting is not None:
                found[key] = setting
        return found


def _shaped(path: Path, name: str, key: str, value: Any) -> Any:
    if isinstance(value, Reset):
        return value
    try:
        if isinstance(value, Override):
            return Override(SHAPES[key](value.value))
        return SHAPES[key](value)
    except ValueError as error:
        raise ValueError(f"{path}: {key!r} of the service {name!r}: {error}") from error


def _has_aliases(network: Any) -> bool:
    return isinstance(network, dict) and isinstance(network.get("aliases"), list)


def _published(port: Any) -> bool:
    """`8080:80` binds port 8080 of the machine; a lone `80` takes whichever port is free, for nobody in particular."""
    return bool(port.get("published")) if isinstance(port, dict) else ":" in str(port)


def _check_name(service: str, verb: str, other: str, names: ComposeLayer) -> None:
    if other not in names:
        hint = "fix the name or give the file that defines it as well"
        raise ValueError(
            f"{service!r} {verb} a service that no file defines: "
            f"{unknown_name_message('service', other, names)}; {hint}"
        )
