"""Queries, the samples that are ranked against each other, and relevance, by which they are ranked.

Samples with the same id are the documents of one query; they need not be contiguous. Without ids,
all samples belong to one query. Loops over queries go through the samples in the order of
:attr:`Queries.order`, in which the documents of a query are contiguous: ::

    queries = Queries.from_qid(qid, n_samples=len(y))
    grouped = y[queries.order]
    # The maximum of each query. No query is empty.
    best = np.maximum.reduceat(grouped, queries.starts[:-1])
    for first, last in zip(queries.starts[:-1], queries.starts[1:]):
        grouped[first:last]  # one query
    restored = np.empty_like(grouped)
    restored[queries.order] = grouped  # in the order of the samples again

*Relevance* is a number for each document of a query, in an array of shape `(n_samples,)`, or for
each label of a sample, in an array of shape `(n_samples, n_labels)`. The value 0 means not
relevant, and a higher value means more relevant. *Judgements* are relevance values for which only
the order matters. They may be any numbers, and they are NaN for documents that were not judged.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

from sklrank._checks.numbers import as_numbers, check_exact, check_weights
from sklrank._checks.samples import check_container, check_given, check_labeled, is_missing
from sklrank._checks.targets import as_names

# Smallest number of samples for which a ranker warns if `qid` is None.
MANY_SAMPLES = 500
# The gain of a document as a function of its grade.
GAINS = {"exponential": lambda grades: np.exp2(grades) - 1, "linear": lambda grades: grades}
# The sum of gains above this value may overflow.
_MAX_GAIN = 1e300
# A document of a greater grade has an exponential gain beside which most others are rounded away in
# single precision. XGBoost and LightGBM refuse such grades.
MAX_GRADE = 31

NUMBERS = "relevance, numbers of 0 or more"


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
        """Group samples by their query ids; see `check_qid`."""
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
    """Return the query of each sample, as an index into the sorted distinct ids, and these.

    Ids are numbers or strings; the only one is 0 if `qid` is None. Errors call them `name`.
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
    check_exact(names, name)
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


def is_qid_given(qid, n_samples: int) -> bool:
    """Return whether `qid` is not None; warn if it has probably been forgotten, of many samples."""
    if qid is None and n_samples >= MANY_SAMPLES:
        warnings.warn(
            f"qid is None: all {n_samples} samples count as the documents of one query. Pass the "
            "query of each sample, qid=...; if all samples do belong to one query, pass "
            "qid=np.zeros(len(X))",
            stacklevel=3,
        )
    return qid is not None


def check_query_weights(query_weight, queries) -> np.ndarray:
    """Return the weight of each query, given that of the query of each sample, or None."""
    if np.shape(query_weight) == (queries.n_queries,) != queries.codes.shape:
        raise ValueError(
            "query_weight has an entry for each query: pass one for each document, such as "
            "query_weight[np.unique(qid, return_inverse=True)[1]]"
        )
    weights = check_weights(query_weight, len(queries.codes), positive=True, name="query_weight")
    of_queries = weights[queries.order[queries.starts[:-1]]]
    different = np.flatnonzero(weights != of_queries[queries.codes])
    if len(different):
        name = queries.names.tolist()[queries.codes[different[0]]]
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


def places(queries):
    """Return the place of each sample in its query, from 1, if the samples are sorted by query."""
    return np.arange(1, len(queries.order) + 1) - np.repeat(queries.starts[:-1], queries.sizes)


def group_starts(queries, listed):
    """Return the indices at which a group of equal values starts, of values sorted by query."""
    new = np.ones(len(listed), dtype=bool)
    new[1:] = listed[1:] != listed[:-1]
    new[queries.starts[:-1]] = True
    return np.flatnonzero(new)


def sums_of_queries(queries, terms):
    """Return the sum of the terms of each query, which are sorted by query."""
    return np.add.reduceat(terms, queries.starts[:-1])


# -- Relevance.


def check_relevance(y, n_samples, *, judgements=False, signed=False, names=("y", "X")):
    """Check the relevance of documents; return it as float64 of shape `(n_samples,)`.

    If `judgements` is True, negative numbers and NaN are allowed; if `signed` is True, negative
    numbers. `names` are those of the relevance and of the samples, for errors.
    """
    name, of_samples = names
    check_given(y)
    given, finite = y, "allow-nan" if judgements else True
    try:
        y = as_numbers(y, name, "numbers" if judgements or signed else NUMBERS)
        y = check_array(y, ensure_2d=False, ensure_all_finite=finite, input_name=name)
    except ValueError:
        if not judgements:
            check_labeled(given, name=name, remedy="refiners take them as not judged")
        raise
    y = column_or_1d(y, warn=True)
    if len(y) != n_samples:
        raise ValueError(
            f"{name} must have a value for each of the {n_samples} rows of {of_samples}, "
            f"got {len(y)}"
        )
    if np.isnan(y).all():
        raise ValueError(
            "y is NaN for all samples: nothing is judged; pass the relevance of some documents"
        )
    if not (judgements or signed):
        _check_not_negative(y, name)
    return y


def check_label_relevance(y, n_samples):
    """Check the relevance of labels; return it as float64 of shape `(n_samples, n_labels)`."""
    check_given(y)
    check_container(y, "y")
    y = as_numbers(y.toarray() if sparse.issparse(y) else y, "y", NUMBERS)
    if y.ndim != 2:
        raise ValueError(
            "y must be the relevance of labels, of shape (n_samples, n_labels); got the shape "
            f"{y.shape}. Reshape y: y.reshape(-1, 1) is one label; class labels are for "
            "PredtronClassifier"
        )
    y = check_array(y, input_name="y")
    if len(y) != n_samples:
        raise ValueError(f"y has {len(y)} rows and X has {n_samples}")
    _check_not_negative(y)
    return y


def gains_of(gain, grades):
    """Return the gains of the documents, non-negative float64 values of shape `(n_samples,)`."""
    if callable(gain):
        gains = call_on_array("gain", gain, grades)
    else:
        with np.errstate(over="ignore"):
            gains = GAINS[gain](grades)
    bad = ~((gains >= 0) & (gains <= _MAX_GAIN))
    if bad.any():
        i = bad.argmax()
        raise ValueError(
            f"gain must be from 0 to {_MAX_GAIN:g}, got {gains[i]} for the grade {grades[i]} with "
            f"gain={gain!r}: use grades from 0 (not relevant) up, and small numbers if the gain is "
            "exponential. With qid, gain='linear' of NDCG takes negative relevance."
        )
    if isinstance(gain, str) and gain == "exponential":
        warn_of_steep_gains(
            grades, "Use gain='linear', or HistGradientBoostingRanker(loss='spearman')"
        )
    return gains


def warn_of_steep_gains(grades, remedy):
    """Warn if there are grades so large that, by exponential gains, few documents count."""
    if grades.size and grades.max() > MAX_GRADE:
        warnings.warn(
            f"the relevance {grades.max():g} has the exponential gain 2**{grades.max():g} - 1, "
            "beside which documents of smaller relevance hardly count; grades are usually from 0 "
            f"to 4. {remedy}",
            stacklevel=3,
        )


def counted_from_least(grades, queries):
    """Return the grades, minus the least one of the query if this is negative."""
    least = np.minimum.reduceat(grades[queries.order], queries.starts[:-1])
    return grades - np.minimum(least, 0)[queries.codes]


def has_exponential_gains(grades):
    """Return True if no grade is negative or too large for exponential gains."""
    return bool(0 <= grades.min() and grades.max() <= MAX_GRADE)


def gain_by_order(grades):
    """Return the number of distinct lower grades, a gain that depends on the order only."""
    return np.unique(grades, return_inverse=True)[1]


def call_on_array(name, function, values):
    """Return the results of a function, which is the argument `name`, for an array of values."""
    results = np.asarray(function(values.copy()), dtype=np.float64)
    if results.shape != values.shape:
        raise ValueError(
            f"{name} must return a number for each entry of an array of shape {values.shape}, got "
            f"shape {results.shape}."
        )
    return results


def check_something_to_learn(y, queries, part="given", *, names=("y", "qid")):
    """Raise if no query has documents of different relevance in "the samples {part}".

    `names` are those of the relevance and of the query ids.
    """
    name, of_queries = names
    grouped = y[queries.order]
    first = queries.starts[:-1]
    if (np.maximum.reduceat(grouped, first) == np.minimum.reduceat(grouped, first)).all():
        raise ValueError(
            f"{name} has no query with documents of different relevance in the samples {part}: "
            f"there is nothing to learn from n_samples={len(y)} in {queries.n_queries} queries; "
            f"check {name}, and {of_queries}, which must be the same for the documents of a query"
        )


def _check_not_negative(y, name="y"):
    if y.min() < 0:
        raise ValueError(f"{name} must be relevance, 0 or more; got {y.min():g}")
