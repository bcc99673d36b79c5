"""Queries: the samples that are ranked against each other.

A query id is given for each sample, ``qid`` of shape `(n_samples,)`. Samples with the same id are
the documents of one query; they need not be contiguous. Without ids, all samples belong to one
query. Loops over queries go through the samples in the order of :attr:`Queries.order`, in which the
documents of a query are contiguous: ::

    queries = Queries.from_qid(qid, n_samples=len(y))
    grouped = y[queries.order]
    # The maximum of each query. No query is empty.
    best = np.maximum.reduceat(grouped, queries.starts[:-1])
    for first, last in zip(queries.starts[:-1], queries.starts[1:]):
        grouped[first:last]  # one query
    restored = np.empty_like(grouped)
    restored[queries.order] = grouped  # in the order of the samples again
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from sklrank._rankings import is_missing
from sklrank._validation import as_names, check_weights

# Smallest number of samples for which a ranker warns if `qid` is None.
MANY_SAMPLES = 500


@dataclass(frozen=True, eq=False)
class Queries:
    """Samples grouped by query."""

    codes: np.ndarray
    """Query of each sample, `(n_samples,)` of intp: an index into `names`."""
    names: np.ndarray
    """The distinct ids, sorted: query ``i`` has the i-th smallest id."""
    order: np.ndarray
    """Indices of the samples sorted by query, `(n_samples,)` of intp.

    The samples of the same query keep their order.
    """
    starts: np.ndarray
    """The samples of query ``i`` are ``order[starts[i]:starts[i + 1]]``; `(n_queries + 1,)`."""

    @classmethod
    def from_qid(cls, qid, n_samples: int, name: str = "qid") -> "Queries":
        """Group samples by their query ids. If `qid` is None, all samples belong to one query.

        Errors call the ids `name`.
        """
        codes, names = check_qid(qid, n_samples, name)
        ends = np.cumsum(np.bincount(codes, minlength=len(names)), dtype=np.intp)
        order = np.argsort(sort_keys(codes, len(names)), kind="stable")
        return cls(codes, names, order, np.append(np.intp(0), ends))

    @property
    def n_queries(self) -> int:
        """Number of queries, each of which has at least one sample."""
        return len(self.names)

    @property
    def sizes(self) -> np.ndarray:
        """Number of samples of each query, `(n_queries,)`."""
        return np.diff(self.starts)


def sort_keys(codes: np.ndarray, n_queries: int) -> np.ndarray:
    """Return codes of queries as 16-bit integers, if possible. NumPy sorts them in linear time."""
    return codes.astype(np.uint16) if n_queries <= 2**16 else codes


def check_qid(qid, n_samples: int, name: str = "qid") -> tuple[np.ndarray, np.ndarray]:
    """Check the query ids, which are numbers or strings, and encode them as integers.

    Errors call the ids `name`.

    Returns
    -------
    codes : ndarray of intp, shape (n_samples,)
        Query of each sample, as an index into `names`.
    names : ndarray of shape (n_queries,)
        The distinct ids, sorted. If `qid` is None, the only id is 0.
    """
    if qid is None:
        qid = np.zeros(n_samples, dtype=np.intp)
    qid = as_names(qid)
    if qid.shape != (n_samples,):
        raise ValueError(
            f"{name} must be of shape ({n_samples},), got {qid.shape}: pass one query id per "
            "sample."
        )
    try:
        # Integers and booleans are never missing.
        missing = np.zeros(n_samples, dtype=bool) if qid.dtype.kind in "biu" else is_missing(qid)
        if qid.dtype.kind == "f":
            missing |= np.isinf(qid)
        names, codes = distinct_ids(qid)
    except TypeError as error:
        raise ValueError(
            f"{name} must hold ids of one kind, numbers or strings, none of them missing: {error}."
        ) from error
    if missing.any():
        sample = missing.argmax()
        raise ValueError(
            f"{name} must be known for every sample, got {qid[sample]} for sample {sample}: leave "
            "such samples out, or give each an id of its own."
        )
    return codes.astype(np.intp, copy=False), names


def distinct_ids(qid):
    """Return the sorted distinct ids and the index of each id, as `numpy.unique` does.

    Integers from a small range are counted, which takes less time than sorting.
    """
    if qid.dtype.kind in "iu" and len(qid):
        least, most = int(qid.min()), int(qid.max())
        if most - least < 2 * len(qid) and most <= np.iinfo(np.int64).max:
            shifted = qid.astype(np.int64) - least
            is_id = np.bincount(shifted) > 0
            codes = (np.cumsum(is_id) - 1)[shifted]
            return (np.flatnonzero(is_id) + least).astype(qid.dtype), codes
    return np.unique(qid, return_inverse=True)


def warn_without_qid(qid, n_samples: int) -> None:
    """Warn if `qid` is None for so many samples that it has probably been forgotten."""
    if qid is None and n_samples >= MANY_SAMPLES:
        warnings.warn(
            f"qid is None: all {n_samples} samples count as the documents of one query. Pass the "
            "query of each sample, qid=...; if all samples do belong to one query, pass "
            "qid=np.zeros(len(X))",
            UserWarning,
            stacklevel=3,
        )


def check_query_weights(query_weight, queries) -> np.ndarray:
    """Return the weight of each query, given that of the query of each sample, or None."""
    weights = check_weights(query_weight, len(queries.codes), positive=True, name="query_weight")
    of_queries = weights[queries.order[queries.starts[:-1]]]
    different = np.flatnonzero(weights != of_queries[queries.codes])
    if len(different):
        name = queries.names[queries.codes[different[0]]]
        raise ValueError(
            "query_weight must be the same for all documents of a query, but the query "
            f"{name!r} has several weights; weights of documents are sample_weight"
        )
    return of_queries


def qid_argument(ranker, qid) -> dict:
    """Return the argument by which `fit` of a ranker, a pipeline or a search gets `qid`."""
    name, last = "qid", ranker
    if isinstance(ranker, Pipeline):
        step, last = ranker.steps[-1]
        if not get_config()["enable_metadata_routing"]:
            name = f"{step}__qid"
    takes_qid = qid is not None and (has_fit_parameter(last, "qid") or _is_routed(last))
    return {name: qid} if takes_qid else {}


def _is_routed(ranker):
    try:
        return bool(get_routing_for_object(ranker).consumes("fit", {"qid"}))
    except NotImplementedError:  # Some estimators do not support metadata routing.
        return False
