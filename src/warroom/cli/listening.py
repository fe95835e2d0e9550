"""Where a server listens; opened before anything slow is imported."""

import os
import socket

BACKLOG = 4096
"""Connections that may wait to be accepted: clients of a training arrive all at once."""
LAST_PORT = 65535


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. A `ValueError` says why it cannot be had."""
    if not 0 <= port <= LAST_PORT:
        raise ValueError(f"a port must lie in 0..{LAST_PORT}, got {port}; choose another --port")
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ValueError(f"no such host {host!r}: choose another --host; 127.0.0.1 is this machine only") from error
    made = socket.socket(family, kind)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        reason = os.strerror(error.errno) if error.errno else error
        raise ValueError(f"cannot listen on {host} port {port}: {reason}; choose another --port or --host") from error
    return made


def address(bound: socket.socket) -> str:
    """What to type into a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
