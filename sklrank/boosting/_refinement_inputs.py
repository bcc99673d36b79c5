"""What a refiner of rankings is given: scores of a base ranker, and judgements."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklrank._relevance import check_relevance
from sklrank._validation import as_numbers
from sklrank.boosting._pair_orders import AllPairLoss, ExplicitPairLoss, GradedPairLoss

__all__ = [
    "check_base_scores",
    "check_judgements",
    "confidence_by_spread",
    "noise_by_number",
    "scores_by",
]

# By the spread of so many retrieved documents the dissertation judges how sure a base ranker is.
N_RETRIEVED = 10


def scores_by(ranker, given_X, X, names):
    """What a base ranker says of rows: an estimator of those given, a column of the checked `X`."""
    if ranker is None:
        raise ValueError(
            "base_ranker=None and base_scores=None: there is no ranking to refine; name a column "
            "of X or a fitted estimator as base_ranker, or pass the scores of the rows, "
            "fit(X, y, base_scores=...)"
        )
    if isinstance(ranker, (bool, np.bool_)):
        raise ValueError(
            f"base_ranker={ranker} is neither true nor false: name a column of X, or a fitted "
            "estimator"
        )
    if isinstance(ranker, (Integral, str)):
        return column_of(X, ranker, names)
    try:
        if hasattr(ranker, "fit"):
            check_is_fitted(ranker)
    except NotFittedError as error:
        raise ValueError(
            f"base_ranker={ranker!r} is not fitted; fit it before, and wrap it in "
            "sklearn.frozen.FrozenEstimator, which stays fitted where the refiner is cloned"
        ) from error
    score = ranker.decision_function if hasattr(ranker, "decision_function") else ranker.predict
    return score(given_X)


def column_of(X, column, names):
    """A column by its number or its name."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(
                f"base_ranker={column!r} is the name of a column, but X has no names; pass a "
                "DataFrame, or the number of the column"
            )
        if column not in names:
            raise ValueError(
                f"base_ranker={column!r} is not a column of X, which has {', '.join(names)}"
            )
        column = int(np.flatnonzero(names == column)[0])
    if column >= X.shape[1]:
        raise ValueError(
            f"base_ranker={column} is not a column of X, which has n_features={X.shape[1]}: they "
            f"are numbered from 0 to {X.shape[1] - 1}"
        )
    return X[:, [column]].toarray().ravel() if sparse.issparse(X) else X[:, column]


def check_base_scores(scores, n_samples):
    """Scores of the base ranker `(n_samples,)`, float64."""
    scores = as_numbers(scores, "base_scores")
    scores = check_array(scores, ensure_2d=False, input_name="base_scores")
    if scores.shape != (n_samples,):
        raise ValueError(
            f"the base ranker must give one score for each of the {n_samples} rows of X, got an "
            f"array of shape {scores.shape}"
        )
    return scores


def check_judgements(y, pairs, queries):
    """The order that `y` or `pairs` tells, as an error of scores."""
    if y is None and pairs is None:
        raise ValueError(
            "RankingRefiner requires y to be passed, but the target y is None; pass judgements, "
            "as y or as pairs"
        )
    if pairs is None:
        return GradedPairLoss(check_relevance(y, len(queries.codes), judgements=True), queries)
    if y is not None:
        raise ValueError("y and pairs both tell the judgements; pass one of them, the other None")
    return ExplicitPairLoss(check_pairs(pairs, queries))


def check_pairs(pairs, queries):
    """Pairs of rows of a query `(n_pairs, 2)`, each once."""
    try:
        pairs = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"pairs must hold two row numbers a line: {error}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            "pairs must hold two row numbers a line, the better document first, as integers of "
            f"shape (n_pairs, 2); got {pairs.dtype} of shape {pairs.shape}"
        )
    n_samples = len(queries.codes)
    outside = (pairs < 0) | (pairs >= n_samples)
    if outside.any():
        raise ValueError(
            f"pairs must name rows of X, from 0 to {n_samples - 1}; got {pairs[outside][0]}"
        )
    first, second = queries.codes[pairs].T
    if (first != second).any():
        bad = pairs[first != second][0].tolist()
        raise ValueError(
            f"pairs must be of documents of one query, but the rows {bad} have different qid; "
            "leave such pairs out"
        )
    if (pairs[:, 0] == pairs[:, 1]).any():
        row = pairs[pairs[:, 0] == pairs[:, 1]][0, 0]
        raise ValueError(f"pairs must be of two documents; got the row {row} twice")
    return np.unique(pairs, axis=0).astype(np.intp)


def confidence_by_spread(scores, queries):
    """Lambda of each query: one by the standard deviation of the best scores."""
    best_first = scores[np.lexsort((-scores, queries.codes))]
    spreads = np.array(
        [
            deviation(best_first[first : min(first + N_RETRIEVED, last)])
            for first, last in zip(queries.starts[:-1], queries.starts[1:])
        ]
    )
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / spreads


def deviation(values):
    """Standard deviation, of numbers as well whose squares are none."""
    unit = np.abs(values).max() or 1.0
    return (values / unit).std() * unit


def noise_by_number(judgements, queries):
    """Eta by which the pairs judged make half of the sum of T; 1 where there are none."""
    zero_scores = np.ones((2, len(queries.codes)))
    n_judged, _ = judgements.demand(*zero_scores)
    n_all, _ = AllPairLoss(queries).demand(*zero_scores)
    return float(2 * n_judged / (2 * n_judged + n_all)) if n_judged else 1.0
