"""A model that plays a script: an OpenAI-compatible server on this machine, to try an integration without a model.

It answers each conversation with the calls that a policy made in the same incident and seat. Everything here is
deterministic, so that a framework that drives an incident rightly ends with the very score of `warroom.evaluate`.
"""

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import warroom

Message = Mapping[str, Any]
Call = dict[str, Any]


class ScriptedModel:
    """What a policy calls at some seats of some incidents, by the first message of each conversation."""

    def __init__(self, specs: Iterable[str], policy: str, seats: Collection[str]) -> None:
        self.scripts: dict[str, list[Call]] = {}
        self.scores: dict[str, float] = {}
        """The score of the policy by incident, as every evaluation gives it."""
        for spec in specs:
            episode = warroom.play(spec, policy)
            chat = warroom.Chat(spec, seats=seats, teammates=policy)
            played: dict[str, list[Call]] = {seat: [] for seat in chat.conversations}
            for step in episode.steps:
                if step.seat in played:
                    chat.call(step.tool, step.arguments)
                    played[step.seat].append({"name": step.tool, "arguments": dict(step.arguments)})
            for seat, calls in played.items():
                self.scripts[str(chat.conversations[seat].messages[0]["content"])] = calls
            self.scores[spec] = episode.score

    def next_call(self, messages: Sequence[Message]) -> Call:
        """The call that comes next in a conversation; waiting where the script has ended."""
        first = _text(next(message for message in messages if message["role"] == "user"))
        script = next((calls for opening, calls in self.scripts.items() if opening in first), None)
        if script is None:
            raise ValueError(f"no script begins like this: {first[-200:]!r}")
        number = sum(message["role"] == "assistant" for message in messages)
        return script[number] if number < len(script) else {"name": "wait", "arguments": {}}

    def text(self, messages: Sequence[Message]) -> str:
        """The next call as text."""
        return f"<tool_call>{json.dumps(self.next_call(messages))}</tool_call>"

    def message(self, request: Message) -> dict[str, Any]:
        """The answer to a request: a call of a tool if it names tools, else the same as text."""
        messages = request["messages"]
        if not request.get("tools"):
            return {"role": "assistant", "content": self.text(messages)}
        call = self.next_call(messages)
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        id_ = f"call_{len(messages)}"
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id_, "type": "function", "function": function}],
        }

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The base URL of a server that answers as the model does."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()


def check(model: ScriptedModel, scores: Mapping[str, float]) -> None:
    """Print what a framework measured beside what an evaluation does; exit with an error if they differ."""
    for spec, expected in model.scores.items():
        found = scores.get(spec)
        print(f"{spec}: {'no score' if found is None else f'{found:.4f}'} here, {expected:.4f} by warroom eval")
    if scores.keys() != model.scores.keys() or any(abs(scores[spec] - model.scores[spec]) > 1e-9 for spec in scores):
        raise SystemExit("the scores differ")


def _text(message: Message) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message, streams = model.message(request), bool(request.get("stream"))
            choice: dict[str, Any] = {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            answer = {"id": "scripted", "created": 0, "model": request["model"], "usage": usage}
            if streams:
                calls = [{"index": k, **call} for k, call in enumerate(message.get("tool_calls", []))]
                choice |= {"delta": message | ({"tool_calls": calls} if calls else {})}
                answer |= {"object": "chat.completion.chunk", "choices": [choice]}
                body = f"data: {json.dumps(answer)}\n\ndata: [DONE]\n\n"
            else:
                body = json.dumps(answer | {"object": "chat.completion", "choices": [choice | {"message": message}]})
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    return Handler
