"""Named random streams: every draw is a pure function of (seed, names)."""

import hashlib
import random


def stream(seed: int, *names: str | int) -> random.Random:
    """An independent generator for `names` under `seed`.

    The state is derived by a hash, never by `seed + i`: neighbouring seeds share no draws, so splits cannot overlap.
    """
    return random.Random(int.from_bytes(digest(8, seed, *names)))


def digest(size: int, seed: int, *names: str | int) -> bytes:
    """`size` bytes (at most 64) that depend on `seed` and `names` alone: same in every process and on every Python."""
    return hashlib.blake2b(repr((seed, *names)).encode(), digest_size=size).digest()
