"""Reads what `compose` wrote, sentence by sentence."""

import re
from functools import lru_cache

from warroom.envs.tickets.domains import domains
from warroom.envs.tickets.wording.grammar import STEP_KINDS, Reading, kinds, read

_BREAK = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n+")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [part for part in _BREAK.split(text) if part]


@lru_cache(maxsize=16384)
def read_sentence(sentence: str) -> Reading | None:
    """The one meaning of a sentence; None if no frame gives it."""
    wanted = tuple(dict.fromkeys(k for split in ("train", "dev", "test") for k in kinds(split) if k not in STEP_KINDS))
    found = [reading for reading in read(sentence, wanted) if _known(reading)]
    return found[0] if found else None


def _known(reading: Reading) -> bool:
    known = _phrases()
    return all(
        str(v).lower() in known
        for k, v in reading.values.items()
        if k in ("complaint", "clue", "belief", "finding", "technical", "cause")
    )


@lru_cache(maxsize=1)
def _phrases() -> set[str]:
    out = set()
    for domain in domains().values():
        for c in domain.complaints:
            rows = [
                c.plain,
                c.technical,
                *[x for cause in c.causes for x in (cause.name, cause.clue, cause.finding, cause.belief)],
            ]
            out |= {text.lower() for row in rows for texts in row.values() for text in texts}
    return out
