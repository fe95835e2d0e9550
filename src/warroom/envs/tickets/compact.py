"""Temporary."""

from warroom.core.renderer import Vocab
from warroom.envs.compact import LineRenderer, make_vocab


def compact_vocab() -> Vocab:
    """All."""
    return make_vocab(("submit_resolution", "d0", "c0"), ("submit_resolution",), ("d0",), ("c0",))


class TicketsCompactRenderer(LineRenderer):
    """Temporary."""
