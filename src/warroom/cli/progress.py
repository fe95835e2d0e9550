"""Bars of progress: on a screen, nothing elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

PATIENCE = 2.0
"""Seconds that reading may take before a bar of bytes shows."""


@contextmanager
def progress(what: str, planned: int, already: int = 0) -> Iterator[Callable[[int], None]]:
    """A bar on a screen, nothing elsewhere; yields what is to be called with the number just done."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return

    with Progress(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=planned, completed=already)
        yield lambda count: bar.advance(task, count)


@contextmanager
def bytes_bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar of bytes on a screen once reading has taken a while; nothing elsewhere. Yields what counts bytes."""
    if not sys.stderr.isatty():
        yield lambda count: None
        return

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task, begun = bar.add_task("reading", total=total), time.monotonic()

    def watch(count: int) -> None:
        bar.advance(task, count)
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()

    try:
        yield watch
    finally:
        bar.stop()
