"""How an API model is asked and what it may cost: what the options of a command say, checked."""

import os
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warroom.core.errors import UnknownName

KEYS = ("WARROOM_API_KEY", "OPENAI_API_KEY")
"""Environment variables that may hold the server's key, the first that is set counts; it is written nowhere."""
URL = "OPENAI_BASE_URL"
"""Environment variable that says where the server is, if nothing else does."""
DEFAULT_URL = "https://api.openai.com/v1"
TOOL_CALLS = ("auto", "api", "text")
RENDERERS = ("plain", "compact")
MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class SpendingCaps:
    """What all requests of a run may cost together, those of its resumptions included; None is no limit."""

    tokens: int | None = None
    """Prompt and completion tokens."""
    dollars: Decimal | None = None
    minutes: Decimal | None = None
    """Time spent playing."""
    price_in: Decimal | None = None
    """Dollars per million prompt tokens."""
    price_out: Decimal | None = None
    """Dollars per million completion tokens."""

    def __post_init__(self) -> None:
        for name in ("tokens", "dollars", "minutes"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and isfinite(value)):
                raise ValueError(f"--max-{name} must be above 0, got {value}")
        for name in ("price_in", "price_out"):
            value = getattr(self, name)
            if value is not None and not (value >= 0 and isfinite(value)):
                raise ValueError(f"--{name.replace('_', '-')} must be at least 0 dollars a million, got {value}")
        if (self.price_in is None) != (self.price_out is None):
            raise ValueError("a price needs both --price-in and --price-out, in dollars per million tokens")
        if self.dollars is not None and self.price_in is None:
            raise ValueError("--max-dollars needs prices: add --price-in and --price-out (dollars per million tokens)")

    def cost(self, prompt: int, completion: int) -> Decimal | None:
        """Dollars for so many tokens; None where no prices are known."""
        if self.price_in is None or self.price_out is None:
            return None
        return (prompt * self.price_in + completion * self.price_out) / MILLION


@dataclass(frozen=True)
class ApiOptions:
    """A server of chat completions, and how models are asked there."""

    base_url: str | None = None
    """Up to and without `/chat/completions`; None is `URL`'s, else OpenAI's own; in a replay that of the recording."""
    temperature: float | None = None
    """None sends none: the server's own default."""
    max_output_tokens: int = 2048
    """Tokens that a model may write in one message."""
    tool_calls: str = "auto"
    """`api`, `text`, or `auto`: one call before the run decides."""
    renderer: str = "plain"
    reminders: int = 1
    """How often in a row a message without a call is answered by a reminder before it ends the seat's part."""
    concurrency: int = 8
    """Requests under way at once, and episodes side by side."""
    request_timeout: float = 120.0
    """Seconds for one request, from its first byte to its last."""
    retries: int = 5
    first_wait: float = 1.0
    """Seconds before the first retry; each further one waits twice as long, up to a minute."""
    caps: SpendingCaps = field(default_factory=SpendingCaps)
    record: Path | None = None
    """Where calls are written as they are made."""
    replay: Path | None = None
    """Whence calls are answered instead of by a server."""

    def __post_init__(self) -> None:
        if self.tool_calls not in TOOL_CALLS:
            raise UnknownName("way of calling tools", self.tool_calls, TOOL_CALLS)
        if self.renderer not in RENDERERS:
            raise UnknownName("renderer", self.renderer, RENDERERS)
        if self.temperature is not None and not (self.temperature >= 0 and isfinite(self.temperature)):
            raise ValueError(f"--temperature must be at least 0, got {self.temperature}")
        for name, least in (("max_output_tokens", 1), ("concurrency", 1), ("retries", 0), ("reminders", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"--{name.replace('_', '-')} must be at least {least}, got {getattr(self, name)}")
        if not (self.request_timeout > 0 and isfinite(self.request_timeout)):
            raise ValueError(f"--request-timeout must be above 0 seconds, got {self.request_timeout}")
        if self.record is not None and self.replay is not None:
            raise ValueError("--record and --replay exclude each other: a replay makes no calls to record")
        if self.base_url is not None:
            _check_url(self.base_url)

    @property
    def play(self) -> dict[str, Any]:
        """What decides the play: equal in a run and its resumptions, a recording and its replays."""
        names = ("base_url", "temperature", "max_output_tokens", "tool_calls", "renderer", "reminders")
        return {name: getattr(self, name) for name in names}

    @property
    def decoding(self) -> str:
        """The temperature in words."""
        return "the server's default" if self.temperature is None else f"temperature {self.temperature:g}"


def key_for(url: str) -> str:
    """The key from the environment; a server by plain http, which is mostly one's own, may want none."""
    for name in KEYS:
        if os.environ.get(name):
            return os.environ[name]
    if urlsplit(url).scheme == "http":
        return "none"
    raise ValueError(f"no key for {url}: set {' or '.join(KEYS)} (a server that wants none takes any text)")


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"--base-url is like http://localhost:8000/v1, got {url!r}")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"--base-url holds no password, since it is recorded; put the key into {KEYS[0]}")
