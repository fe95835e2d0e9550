"""How fast importers and the log reader take adversarial text: the cases of tests/test_linear_time.py, at one size.

python recipes/import_speed.py [--bytes 300000] [WORDS IN THE NAME OF A CASE]

Prints megabytes a second of processor time, the slowest first.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from test_linear_time import CASES

MEGA = 1e6


class Timing(NamedTuple):
    """What a case took."""

    megabytes_a_second: float
    seconds: float
    case: str
    refused: str
    """Why it was not read to its end, if so."""


def timing(case: str, read: Callable[[Path, str], object], text: str) -> Timing:
    """Read the text once."""
    with TemporaryDirectory() as folder:
        start, refused = time.process_time(), ""
        try:
            read(Path(folder), text)
        except ValueError as error:
            refused = str(error).rpartition(folder)[2][:60]
        seconds = time.process_time() - start
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return Timing(size / MEGA / seconds, seconds, case, refused)


def main() -> None:
    """Time the cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--bytes", type=int, default=300_000)
    asked = parser.parse_args()
    found = [
        timing(case, read, around(unit * (asked.bytes // len(unit))))
        for case, (read, around, unit, _) in CASES.items()
        if all(word in case for word in asked.words)
    ]
    for row in sorted(found):
        print(f"{row.megabytes_a_second:8.2f} MB/s {row.seconds:6.2f} s  {row.case[:70]}  {row.refused}")


if __name__ == "__main__":
    main()
