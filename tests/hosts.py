"""Hosts for tests: an incident whose seats several clients play, on a free port of this machine, in a thread of this
process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from live import listening
from warroom.chat import Chat
from warroom.policies import policy_set
from warroom.serve import shared_server
from warroom.serve.access import ServerAccess
from warroom.serve.shared import SharedIncident, SharedRules
from warroom.serve.shared_client import SharedSeat

SPEC = "fleet/cascade@easy#dev:1"
SOON = 30.0
"""Seconds that nothing here takes unless it hangs."""


def incident(
    *seats: str, patience: float = SOON, absent: str = "noop", spec: str = SPEC, **more: Any
) -> SharedIncident:
    policies = policy_set(spec.partition("/")[0], absent)
    return SharedIncident(Chat(spec, seats=seats, teammates=policies), SharedRules(patience, policies, **more))


class Host:
    """A host in a thread of this process."""

    def __init__(self, shared: SharedIncident, url: str) -> None:
        self.shared, self.url = shared, url
        self.error: BaseException | None = None

    def take(self, seat: str, code: str | None = None) -> SharedSeat:
        return SharedSeat(self.url, code or self.shared.code, seat)


@contextmanager
def hosting(shared: SharedIncident, access: ServerAccess | None = None) -> Iterator[Host]:
    """The host of an incident; it has ended, with the incident, when the block has."""
    taken = listening()
    host = Host(shared, f"http://127.0.0.1:{taken.getsockname()[1]}")

    def run() -> None:
        try:
            shared_server.serve(shared, taken, access or ServerAccess())
        except BaseException as error:
            host.error = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield host  # after a failure nobody plays on, and the host would be waited for in vain
    thread.join(timeout=SOON)
    taken.close()
    assert not thread.is_alive(), "the host did not end"
