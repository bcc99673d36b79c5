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
from sklearn.utils import check_array, column_or_1d

from sklrank._rankings import is_missing
from sklrank._validation import as_numbers

__all__ = ["Queries", "check_qid", "check_relevance", "check_something_to_learn"]


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


def check_relevance(y, n_samples, *, judgements=False):
    """Relevance `(n_samples,)`, float64, 0 or more.

    As `judgements` it may be any numbers, and NaN where a document is not judged.
    """
    if y is None:
        raise ValueError("a ranker requires y to be passed, but the target y is None")
    y = as_numbers(y, "y", "numbers" if judgements else "relevance, numbers of 0 or more")
    finite = "allow-nan" if judgements else True
    y = check_array(y, ensure_2d=False, ensure_all_finite=finite, input_name="y")
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(f"y must have a value for each of the {n_samples} rows of X, got {len(y)}")
    if np.isnan(y).all():
        raise ValueError(
            "y is NaN in every row: nothing is judged; give the relevance of some documents"
        )
    if not judgements and y.min() < 0:
        raise ValueError(f"y must be relevance, 0 or more; got {y.min():g}")
    return y


def check_something_to_learn(y, queries, part="given"):
    """Some query must have documents of different relevance."""
    grouped = y[queries.order]
    first = queries.starts[:-1]
    if (np.maximum.reduceat(grouped, first) == np.minimum.reduceat(grouped, first)).all():
        raise ValueError(
            f"y has no query with documents of different relevance in the rows {part}: there is "
            f"nothing to learn from n_samples={len(y)} in {queries.n_queries} queries; check y, "
            "and qid, which must be the same for the documents of a query"
        )
