"""Which version of a library is installed."""

from importlib import metadata


def version_of(library: str) -> str | None:
    """The installed version; None if it is not installed."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return None
