"""The rows of a run as a data frame."""

from collections.abc import Sequence

from warroom.core.errors import MissingExtra
from warroom.evals.export import ExportRow

try:
    import pandas
except ImportError as error:
    raise MissingExtra("pandas", error) from error


def data_frame(rows: Sequence[ExportRow]) -> pandas.DataFrame:
    """A data frame with the columns of `episode_rows`."""
    return pandas.DataFrame(rows)
