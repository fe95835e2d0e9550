"""How a router hands connections to its workers: open sockets one way, reports of how many are open the other.

A connection stays with its worker until it is closed, and nothing stands between the two: the router passes on the
socket itself, not what travels through it.
"""

import re
import socket
import struct
from typing import NamedTuple

_REPORT = struct.Struct("!QI")
_NAMED = re.compile(rb'session_id(?:=|"\s*:\s*")w(\d{1,4})-')
_MARK = b"c"
"""The byte that a socket travels with."""


class WorkerReport(NamedTuple):
    """What a worker says of itself."""

    received: int
    """Connections that it was ever handed."""
    open: int
    """Connections that are open now."""


def named_worker(start: bytes) -> int | None:
    """The worker whose session a request names, by its first bytes; see `session_id`."""
    found = _NAMED.search(start)
    return int(found[1]) if found else None


def session_id(worker: int | None, unique: str) -> str:
    """The id of a session: where there are several workers it says which one has it."""
    return unique if worker is None else f"w{worker}-{unique}"


def hand_over(channel: socket.socket, connection: socket.socket) -> None:
    """Give a worker a connection; `BlockingIOError` if it takes none at present, `OSError` if it is gone."""
    socket.send_fds(channel, [_MARK], [connection.fileno()])


def take_over(channel: socket.socket) -> socket.socket | None:
    """The next connection, `BlockingIOError` if none is waiting; None once the router is gone."""
    mark, descriptors, _, _ = socket.recv_fds(channel, len(_MARK), 1)
    return socket.socket(fileno=descriptors[0]) if mark and descriptors else None


def send_report(channel: socket.socket, report: WorkerReport) -> None:
    """Tell the router; it reads faster than any worker reports, so a full channel means that it is gone."""
    channel.send(_REPORT.pack(*report))


class ReportReader:
    """Reads the reports of one worker as they come."""

    def __init__(self) -> None:
        self._rest = b""

    def read(self, data: bytes) -> WorkerReport | None:
        """The newest report in what was read so far; None if none is complete."""
        self._rest += data
        whole = len(self._rest) // _REPORT.size * _REPORT.size
        if not whole:
            return None
        newest = WorkerReport(*_REPORT.unpack_from(self._rest, whole - _REPORT.size))
        self._rest = self._rest[whole:]
        return newest
