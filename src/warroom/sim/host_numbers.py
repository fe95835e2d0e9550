"""The numbers that a host gives to what it works on: they rise with its requests, and not like a clock."""

from typing import NamedTuple

SERIALS_A_REQUEST = 40, 160
"""Bounds of the numbers that a host gives out for each request that it usually gets: so many that two lines of it that
fall into one millisecond hardly ever have the same."""
UNEVEN = 0.7
"""Share by which a host gives out more numbers than usual, then as many fewer."""
UNEVEN_FOR = 7, 60
"""Bounds of the seconds that both take together."""
PART_EVERY = 20
"""Seconds between two files, terms or batches of a host."""


class HostNumbers(NamedTuple):
    """How a host numbers what it works on."""

    first: int
    pace: float
    """Numbers a second."""
    period: float
    """Seconds in which it is fast, then slow."""
    part: int
    """The first file, term or batch."""

    def after(self, passed: float) -> dict[str, int]:
        """The figures of a line that is written after so many seconds."""
        whole, rest = divmod(passed, self.period)
        half = self.period / 2
        counted = whole * self.period + (1 + UNEVEN) * min(rest, half) + (1 - UNEVEN) * max(0.0, rest - half)
        return {"serial": self.first + int(self.pace * counted), "part": self.part + int(passed) // PART_EVERY}


def host_numbers(draw: bytes, requests: float) -> HostNumbers:
    """Those of a host that usually gets so many requests a second, by six bytes."""
    return HostNumbers(
        10_000 + int.from_bytes(draw[:3]) % 900_000,
        max(1.0, requests) * between(SERIALS_A_REQUEST, draw[4]),
        between(UNEVEN_FOR, draw[5]),
        100 + int.from_bytes(draw[2:4]) % 9_000,
    )


def between(bounds: tuple[int, int], draw: int) -> float:
    """A number from the lower to the upper bound, by a byte."""
    return bounds[0] + (bounds[1] - bounds[0]) * draw / 256
