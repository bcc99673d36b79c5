"""Queries: which rows of a data set are ranked against each other.

A query id is given for each row, ``qid`` of shape `(n_samples,)`; rows with the same id belong to
one query, wherever they stand. Without ids all rows are one query. Loops over queries go through
their rows in the order of :attr:`Queries.order`, where the rows of a query stand together: ::

    queries = Queries.from_qid(qid, n_samples=len(y))
    grouped = y[queries.order]
    best = np.maximum.reduceat(grouped, queries.starts[:-1])  # of each query: none is empty
    for first, last in zip(queries.starts[:-1], queries.starts[1:]):
        grouped[first:last]  # one query
    back = np.empty_like(grouped)
    back[queries.order] = grouped  # in the order of the rows again
"""

from dataclasses import dataclass

import numpy as np

from sklrank._rankings import is_missing

__all__ = ["Queries", "check_qid"]


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows grouped by query."""

    codes: np.ndarray
    """Query of each row, `(n_samples,)` of intp: an index into `names`."""
    names: np.ndarray
    """The distinct ids, sorted: query ``i`` is the one of the i-th smallest id."""
    order: np.ndarray
    """Rows sorted by query, in their own order within each, `(n_samples,)` of intp."""
    starts: np.ndarray
    """Query ``i`` has the rows ``order[starts[i]:starts[i + 1]]``; `(n_queries + 1,)` of intp."""

    @classmethod
    def from_qid(cls, qid, n_samples: int) -> "Queries":
        """Group rows by their query ids; None makes one query of all rows."""
        codes, names = check_qid(qid, n_samples)
        ends = np.cumsum(np.bincount(codes, minlength=len(names)), dtype=np.intp)
        return cls(codes, names, np.argsort(codes, kind="stable"), np.append(np.intp(0), ends))

    @property
    def n_queries(self) -> int:
        """How many queries there are, each with one row at least."""
        return len(self.names)

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each query has, `(n_queries,)`."""
        return np.diff(self.starts)


def check_qid(qid, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Check query ids, numbers or texts; number the queries by the order of their ids.

    Returns
    -------
    codes : ndarray of intp, shape (n_samples,)
        The number of each row's query.
    names : ndarray of shape (n_queries,)
        The distinct ids, sorted; 0 for the one query that None stands for.
    """
    if qid is None:
        qid = np.zeros(n_samples, dtype=np.intp)
    qid = np.asarray(qid)
    if qid.shape != (n_samples,):
        raise ValueError(
            f"qid must be of shape ({n_samples},), got {qid.shape}: pass one query id per row."
        )
    try:
        missing = is_missing(qid)
        names, codes = np.unique(qid, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"qid must hold ids of one kind, numbers or texts, none of them missing: {error}."
        ) from error
    if missing.any():
        row = missing.argmax()
        raise ValueError(
            f"qid must be known for every row, got {qid[row]!r} in row {row}: leave such rows out, "
            "or give each an id of its own."
        )
    return codes.astype(np.intp, copy=False), names
