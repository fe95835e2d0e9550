"""A server of chat completions on this machine that answers by a script: what real servers do on a bad day."""

import json
import re
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Body = dict[str, Any]


class Reply(NamedTuple):
    """What is answered to one request."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    """Before the answer."""
    cut: bool = False
    """Close the connection instead of an answer."""


Script = Callable[[Body, int], Reply]
"""(request, how many came before it) -> the reply."""


class Peer:
    """The server; remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self.asked: list[Body] = []
        self.keys: list[str] = []
        self.together = self.most_together = 0
        """Requests at this moment, and the most there ever were."""
        owner, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    number = len(owner.asked)
                    owner.asked.append(body)
                    owner.keys.append(self.headers["Authorization"])
                    owner.together += 1
                    owner.most_together = max(owner.together, owner.most_together)
                reply = script(body, number)
                time.sleep(reply.seconds)
                with lock:
                    owner.together -= 1
                if reply.cut:
                    self.close_connection = True
                    return
                with suppress(OSError):  # whoever asked may have given up
                    self.send_response(reply.status)
                    for name, value in reply.headers:
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the tests' output is no place for it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()


def completion(prompt: int = 200, completion: int = 10, finish: str = "tool_calls", **message: Any) -> Reply:
    """A chat completion."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return Reply(body=json.dumps({"id": "x", "model": "peer-1", "choices": [choice], "usage": usage}).encode())


def calls(*named: tuple[str, Any], **more: Any) -> Reply:
    """A message that calls tools: (name, arguments), arguments as a text or as what JSON makes a text of."""
    written = [
        {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(named)
    ]
    return completion(tool_calls=written, **more)


def says(text: str, **more: Any) -> Reply:
    """A message in words."""
    return completion(content=text, finish=more.pop("finish", "stop"), **more)


def fails(status: int, message: str = "no", **headers: str) -> Reply:
    """An error as servers word them."""
    body = json.dumps({"error": {"message": message, "code": None}}).encode()
    return Reply(status, body, tuple((name.replace("_", "-"), value) for name, value in headers.items()))


def heals(body: Body, number: int = 0) -> Reply:
    """Plays the tiny game: fixes what its page names, and waits where it cannot."""
    words = json.dumps(body["messages"])
    seen = re.search(r"(cart|mail|pay) looks ill", words)
    assert seen is not None
    sre = "You are sre" in words
    return calls(("fix", {"service": seen[1]}) if sre else ("wait", {}))
