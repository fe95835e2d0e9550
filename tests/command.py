"""The console command as the tests call it: in this process mostly, with what it printed and how it ended."""

import subprocess
import sys

from click.testing import Result
from typer.testing import CliRunner

from warroom.cli.app import app

PROGRESS = " planned -> "


def run(*words: object, stdin: str | bytes | None = None) -> Result:
    """The command of these words, come to its end; an exception that it does not catch is the test's."""
    return CliRunner().invoke(app, [str(word) for word in words], input=stdin, catch_exceptions=False)


def printed(*words: object) -> str:
    """What a command that does as it is told prints."""
    done = run(*words)
    assert done.exit_code == 0, done.output
    return done.stdout


def refused_without(library: str, *words: str) -> str:
    """The one line of a command in a process where a library is not installed."""
    code = (
        f"import sys; sys.modules[{library!r}] = None; sys.argv = {['warroom', *words]}; "
        "from warroom.cli.app import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    return done.stderr.strip()


def refused(*words: object, stdin: str | bytes | None = None) -> str:
    """The one line of a refused command."""
    done = run(*words, stdin=stdin)
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    (line,) = [line for line in done.stderr.strip().splitlines() if PROGRESS not in line]
    assert line.startswith("error: ")
    return line
