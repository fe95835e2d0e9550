"""`warroom import`: real systems as material for incidents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from warroom.commands.common import Json, print_json

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
    from warroom.importers.compose import describe, read_compose

    paths = [*(compose or []), *(file or [])]
    if out.exists() and not force:
        raise ValueError(f"{out} exists; choose another --out, or overwrite it with --force")
    imported = read_compose(paths, env_file)
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
