"""Ids that stay what they are from one import to the next, and that no two things share."""

from collections import Counter


class UniqueIds:
    """The ids given so far; no two differ in case only."""

    def __init__(self) -> None:
        self._taken = set[str]()
        # Kept by wanted id, so that a column that is the same in every row costs no search through all copies.
        self._copies = Counter[str]()

    def allocate(self, wanted: str) -> str:
        """The id that is wanted, or with ~2, ~3 where that is taken."""
        id, key = wanted, wanted.casefold()
        while id.casefold() in self._taken:
            self._copies[key] += 1
            id = f"{wanted}~{self._copies[key] + 1}"
        self._taken.add(id.casefold())
        return id
