"""`warroom import`: real systems as material for incidents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from warroom.commands.common import Json, console, print_json, progress, say

if TYPE_CHECKING:
    from warroom.importers.incidents.recording import Shelf

app = typer.Typer(no_args_is_help=True, help="Read a real system into files that the other commands take.")


@app.command()
def topology(
    compose: Annotated[
        list[Path] | None, typer.Argument(help="Compose files, each laid over the ones before it.")
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option("--file", "-f", help="More compose files, as docker takes them.")
    ] = None,
    env_file: Annotated[Path | None, typer.Option(help="Variables. Default: .env beside the first file.")] = None,
    out: Annotated[Path, typer.Option(help="Where the topology goes.")] = Path("topology.json"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
    json: Json = False,
) -> None:
    """Read services and calls from docker-compose files, so that incidents happen on that system.

    Example: warroom import topology compose.yaml -f compose.prod.yaml --out shop.json
    """
    from warroom.importers.topology.compose import describe, read_compose

    paths = [*(compose or []), *(file or [])]
    imported = read_compose(paths, env_file)
    if out.exists() and not force:
        raise ValueError(f"{out} exists; choose another --out, or overwrite it with --force")
    _write(out, imported.blueprint.to_json())
    if json:
        print_json(_as_json(imported, out))
    else:
        print(describe(imported))
        print(f"wrote {out}; play on it: warroom eval --topology {out}")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from error


def _as_json(imported: Any, out: Path) -> dict[str, Any]:
    names = ("dependencies", "calls", "plumbing", "left_out", "warnings")
    return {
        "out": str(out),
        "services": list(imported.blueprint.names),
        **{name: [list(x) if isinstance(x, tuple) else x for x in getattr(imported, name)] for name in names},
    }


@app.command()
def incidents(
    source: Annotated[str, typer.Argument(help="Where they come from: nezha.")],
    folder: Annotated[Path, typer.Argument(help="The folder that the source fills.")],
    out: Annotated[Path, typer.Option(help="The folder of recordings that is made.")] = Path("recordings"),
    force: Annotated[
        bool, typer.Option("--force", help="Import all again, over the recordings that are there.")
    ] = False,
    json: Json = False,
) -> None:
    """Read recorded incidents (logs, traces, metrics, answers) into a folder that the environment `logs` plays.

    What was imported is kept whatever comes after it: an import that broke off goes on where it stopped.

    Example: warroom import incidents nezha nezha_trainticket --out recordings
    """
    from warroom.importers.incidents.recording import import_incidents, open_source

    found = open_source(source, folder)
    with progress("incidents", len(found.ids)) as watch:
        shelf = import_incidents(found, source, out, force, watch)
    if json:
        print_json(_shelf_as_json(shelf))
    else:
        _print_shelf(shelf)
    if shelf.broken:
        raise typer.Exit(1)


def _print_shelf(shelf: "Shelf") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"{len(shelf.incidents)} incidents, {len(shelf.kinds)} services", title_justify="left")
    table.add_column("incident")
    for heading in ("lines", "spans", "samples", "warnings"):
        table.add_column(heading, justify="right")
    for id, row in shelf.incidents.items():
        table.add_row(id, *(f"{count:,}" for count in row["counts"].values()), str(len(row["warnings"])))
    for id in shelf.broken:
        table.add_row(id, "broken", "", "", "", style="red")
    warnings = Table(title="warnings", title_justify="left")
    for heading in ("kind", "count", "what"):
        warnings.add_column(heading, justify="right" if heading == "count" else "left")
    for warned in shelf.warnings:
        warnings.add_row(warned.kind, f"{warned.count:,}", warned.message)
    screen = console()
    screen.print(table)
    screen.print(warnings)
    for id, reason in shelf.broken.items():
        say(f"{id} could not be read: {reason}", "red")
    screen.print(
        Text(f"wrote {shelf.folder}; play: warroom eval --env logs --suite recorded --recording {shelf.folder}")
    )


def _shelf_as_json(shelf: "Shelf") -> dict[str, Any]:
    return {
        "out": str(shelf.folder),
        "incidents": [{"id": id, "counts": row["counts"]} for id, row in shelf.incidents.items()],
        "services": list(shelf.kinds),
        "warnings": [{"kind": w.kind, "count": w.count, "message": w.message} for w in shelf.warnings],
        "broken": shelf.broken,
    }
