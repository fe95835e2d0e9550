"""Where the page listens; found out before anything slow is loaded."""

import socket


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one. A `ValueError` says why it cannot be had."""
    made = None
    try:
        family, kind, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen()
    except OSError as error:
        if made is not None:
            made.close()
        reason = error.strerror or str(error)
        raise ValueError(f"cannot listen on {host} port {port}: {reason}; choose another --host or --port") from error
    return made


def address(bound: socket.socket) -> str:
    """What to type into a browser."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
