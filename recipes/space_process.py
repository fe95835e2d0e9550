"""Runs a Space's server in a process of this machine, where OpenEnv's validation would run its image.

It starts the command of the Space's own Dockerfile on another port. Nothing is built or isolated: this shows that the
server does what its manifest says, not that its image does.
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import IO, Any

from openenv.validation.manifest import ExecutionDeclaration
from openenv.validation.providers import ExecResult, ProviderError, StartupError
from openenv.validation.runtime.contracts import LaunchSpec
from openenv.validation.types import ProviderCapability

PORT = "8000"
"""Where OpenEnv expects the server of an image."""
COMMAND = "CMD "


class RunningProcess:
    """A server that runs until `stop`."""

    def __init__(self, command: list[str], root: Path, environment: dict[str, str], timeout: float) -> None:
        """Start it and wait until it answers; a `StartupError` says what it printed instead."""
        port = _free_port()
        self.base_url = f"http://127.0.0.1:{port}"
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._command = [sys.executable, "-m", "warroom"] if command[0] == "warroom" else command[:1]
        self._command += [str(port) if word == PORT else word for word in command[1:]]
        self._process = subprocess.Popen(
            self._command,
            cwd=root,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            stdout=self._log,
            stderr=self._log,
        )
        self._wait(timeout)

    def inspect(self) -> dict[str, Any]:
        """How it was started."""
        return {"provider": SubprocessProvider.name, "pid": self._process.pid, "command": self._command}

    def logs(self, max_bytes: int = 65536) -> str:
        """The end of what it printed."""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - max_bytes))
        return self._log.read().decode("utf-8", "replace")

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        """Not supported."""
        raise ProviderError("a process of this machine offers no exec")

    def stop(self) -> None:
        """Interrupt it, and kill it if it does not end."""
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(timeout=10)
        self._log.close()

    def _wait(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while not _healthy(self.base_url):
            if self._process.poll() is not None or time.monotonic() > deadline:
                printed = self.logs(2000)
                self.stop()
                raise StartupError(f"the server did not start: {printed or 'it printed nothing'}")
            time.sleep(0.1)


class SubprocessProvider:
    """A provider for `run_validation(path, provider=...)` in place of Docker."""

    name = "subprocess"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def __init__(self) -> None:
        self._root, self._command = Path(), [""]

    def build(self, root: Path, execution: ExecutionDeclaration) -> str:
        """Read the Dockerfile's command; the reference is a hash of the Dockerfile, in place of that of an image."""
        text = (root / execution.dockerfile).read_text(encoding="utf-8")
        self._root, self._command = root.resolve(), command_of(text)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def start(self, spec: LaunchSpec) -> RunningProcess:
        """Start the server."""
        return RunningProcess(self._command, self._root, spec.env_vars, spec.startup_timeout_s)


def command_of(dockerfile: str) -> list[str]:
    """The command that an image made by this Dockerfile runs."""
    lines = [line for line in dockerfile.splitlines() if line.startswith(COMMAND)]
    try:
        words = json.loads(lines[-1].removeprefix(COMMAND))
    except (IndexError, ValueError) as error:
        raise ProviderError('the Dockerfile has no command of the form CMD ["word", ...]') from error
    return [str(word) for word in words]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
