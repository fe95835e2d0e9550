#!/usr/bin/env python3
"""End with 0 if the server of this container answers: `healthy [PORT] [PATH]`. The token is that of WARROOM_TOKEN."""

import os
import sys
import urllib.request


def main(port: str = "8000", path: str = "/health") -> None:
    """Ask once; what went wrong is the message."""
    token = os.environ.get("WARROOM_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
        urllib.request.urlopen(request, timeout=4).close()
    except OSError as error:
        raise SystemExit(f"port {port}: {error}") from error


if __name__ == "__main__":
    main(*sys.argv[1:])
