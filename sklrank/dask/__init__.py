"""Training on dask collections, whose rows stay on the workers that have them."""

try:
    import distributed  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "sklrank.dask requires dask: pip install 'dask[distributed]'"
    ) from error

from sklrank.dask._partitions import fit_partitions
from sklrank.dask._trees import fit_ranker

__all__ = ["fit_partitions", "fit_ranker"]
