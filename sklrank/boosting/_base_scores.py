"""Scores of the base ranker of ranking refinement."""

from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklrank._validation import as_numbers

__all__ = [
    "KnownScores",
    "check_base_scores",
    "feature_of",
    "scores_of_base_ranker",
]

# Factor of a function that mixes the 64 bits of a number.
MIXER = np.uint64(0xD6E8FEB86659FD93)


def scores_of_base_ranker(ranker, X_given, X, names):
    """Return the base scores, `(n_samples,)`.

    If `ranker` is an index or a name, the scores are that feature of the checked matrix `X`, whose
    features are called `names`. Otherwise they are the scores of the estimator `ranker` for the
    matrix `X_given` that the user passed.
    """
    if ranker is None:
        raise ValueError(
            "base_ranker=None and base_scores=None: there is no ranking to refine; name a feature "
            "of X or a fitted estimator as base_ranker, or pass the scores of the samples, "
            "fit(X, y, base_scores=...)"
        )
    if isinstance(ranker, (Integral, str)):
        return feature_of(X, ranker, names)
    try:
        if hasattr(ranker, "fit"):
            check_is_fitted(ranker)
    except NotFittedError as error:
        raise ValueError(
            f"base_ranker={ranker!r} is not fitted; fit it before, and wrap it in "
            "sklearn.frozen.FrozenEstimator, which stays fitted when the refiner is cloned"
        ) from error
    score = ranker.decision_function if hasattr(ranker, "decision_function") else ranker.predict
    return score(X_given)


def feature_of(X, feature, names):
    """Return the values of a feature, which is given by its index or its name, `(n_samples,)`."""
    if isinstance(feature, str):
        if names is None:
            raise ValueError(
                f"base_ranker={feature!r} is the name of a feature, but X has no names; pass a "
                "DataFrame, or the index of the feature"
            )
        if feature not in names:
            raise ValueError(
                f"base_ranker={feature!r} is not a feature of X, which has {', '.join(names)}"
            )
        feature = int(np.flatnonzero(names == feature)[0])
    if feature >= X.shape[1]:
        raise ValueError(
            f"base_ranker={feature} is not a feature of X, which has n_features={X.shape[1]}: the "
            f"indices are 0 to {X.shape[1] - 1}"
        )
    return X[:, [feature]].toarray().ravel() if sparse.issparse(X) else X[:, feature]


def check_base_scores(scores, n_samples, name="base_scores"):
    """Check base scores, and return them as float64 of shape (n_samples,).

    Errors call them `name`.
    """
    scores = as_numbers(scores, name)
    scores = check_array(scores, ensure_2d=False, input_name=name)
    if scores.shape != (n_samples,):
        raise ValueError(
            f"{name} must be one score for each of the {n_samples} samples of X, got an array of "
            f"shape {scores.shape}"
        )
    return scores


class KnownScores:
    """Base scores of the training samples, which are found by the features of a sample.

    Only a hash of 64 bits is stored for each sample.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training samples.
    scores : ndarray of shape (n_samples,)
        Base scores.
    """

    def __init__(self, X, scores):
        self.hashes = hashes_of_rows(X)
        self.scores = scores

    def __call__(self, X):
        """Return the base scores of samples that are among the training samples."""
        hashes = hashes_of_rows(X)
        if np.array_equal(hashes, self.hashes):
            return self.scores
        order = np.lexsort((self.scores, self.hashes))
        ordered, scores = self.hashes[order], self.scores[order]
        first = np.searchsorted(ordered, hashes)
        last = np.searchsorted(ordered, hashes, side="right") - 1
        if (last < first).any():
            what = f"the sample {(last < first).argmax()} of X is not among the training samples"
        elif (scores[first] != scores[last]).any():
            sample = (scores[first] != scores[last]).argmax()
            what = f"the training samples equal to sample {sample} of X have different base scores"
        else:
            return scores[first]
        raise ValueError(
            f"base_scores is None, fit was given base_scores and no base ranker, and {what}: pass "
            "the scores of the base ranker for X, base_scores=..., or fit with base_ranker, the "
            "index of a feature or a fitted estimator"
        )


def hashes_of_rows(X):
    """Return a hash of the numbers of each row, `(n_samples,)` of uint64.

    Zeros do not contribute to it, so that sparse and dense matrices have the same hashes.
    """
    factors = np.random.RandomState(0).randint(0, 2**64, X.shape[1], dtype=np.uint64) | 1
    if sparse.issparse(X):
        X = X.tocsr()
        terms = mixed_bits(X.data) * factors[X.indices]
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    return (mixed_bits(X) * factors).sum(axis=1, dtype=np.uint64)


def mixed_bits(values):
    """Return integers in which each bit of the numbers affects many bits; 0 for zeros."""
    # The sum turns -0.0 into 0.0.
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    for _ in range(2):
        bits = (bits ^ (bits >> np.uint64(32))) * MIXER
    return bits ^ (bits >> np.uint64(32))
