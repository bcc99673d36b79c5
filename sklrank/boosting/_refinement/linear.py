"""Residual refinement: base scores plus a linear correction learned from few judgements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import Queries, check_relevance, check_rows, is_qid_given
from sklrank._estimators import BaseEstimator, _fit_context, unchanged_on_error
from sklrank._typing import Self
from sklrank.boosting._base import DocumentTarget, of_document_rankers
from sklrank.boosting._pair_losses import GradedPairLoss
from sklrank.boosting._refinement.boosted import RefinerMixin, of_refiners

# Slopes of the standardized judgements as functions of the standardized base scores, which are the
# correlations of the two. Often only documents that the base ranker ranks high were judged, for
# which the best slope is lower. Hence the smallest slope is not 0.
SLOPES = (0.25, 0.5, 1.0)
# Ratios of the variance of the correction to that of the errors: those between which the ranking of
# judgements changes, from nearly the base ranking to nearly the judgements alone.
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0)


@of_document_rankers
@of_refiners
class ResidualRefiner(RefinerMixin, BaseEstimator):
    r"""Residual refiner: document ranker that corrects a base ranking by few judgements.

    A base ranker, such as a retrieval function or a collaborative filter, gives a score :math:`g_i`
    to each document i. A user judges a few of them. The learned scores are the base scores plus a
    linear function of the features,

    .. math:: F_i = \rho g_i + w^\top x_i,

    which is fitted to the part of the judgements that the base scores do not explain. There is
    nothing to tune: the strength of the correction is averaged over the values that the judgements
    support. If the features do not help to predict these, the base ranking hardly changes.

    Use one refiner for each query if the judgements of one query carry no information about
    another. With several queries, one correction is learned for all of them.

    {base_ranker}

    Attributes
    ----------
    base_weight_ : float
        Factor :math:`\rho` of the base scores; 0 if all base scores of each query are equal.
    coef_ : ndarray of shape (n_features,)
        Coefficients :math:`w` of the features.
    correction_probability_ : float
        Probability that the base scores need a correction, given the judgements.
    {n_features_in}

    See Also
    --------
    RankingRefiner : Ranking refinement by boosting any classifier.
    sklrank.datasets.make_recommender : Generate ratings and base scores.

    Notes
    -----
    Let :math:`y_i` be the number of documents that are worse than document i according to the
    judgements, minus the number of those that are better, standardized for each query. The model is
    Bayesian linear regression [1]_,

    .. math:: y_i = c_q + \rho g_i + w^\top x_i + \varepsilon_i,

    with features and base scores that are standardized by all documents, and a constant :math:`c_q`
    for each query. The weights :math:`w` are independent and normal, with variance :math:`\tau`
    times that of the errors, which has an inverse gamma prior. The slope :math:`\rho`, the strength
    :math:`\tau`, and whether there is a correction at all, of prior probability 1/2, are averaged
    in proportion to the marginal likelihood of the judgements. The fit takes a singular value
    decomposition of the dense matrix of the judged documents.

    References
    ----------
    .. [1] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press, 2006, chapters 2 and 5.

    Examples
    --------
    A user rated 20 items. The base scores are computed from the ratings of other users.

    >>> import numpy as np
    >>> from sklrank.boosting import ResidualRefiner
    >>> from sklrank.datasets import make_recommender
    >>> from sklrank.metrics import ndcg_score
    >>> X, ratings, relevance, _, base_scores = make_recommender(1, n_rated=20, random_state=3)
    >>> refiner = ResidualRefiner().fit(X, ratings, base_scores=base_scores)
    >>> scores = refiner.predict(X, base_scores=base_scores)
    >>> rest = np.isnan(ratings)
    >>> print(f"base ranker: {ndcg_score(relevance[rest], base_scores[rest], k=10):.2f}")
    base ranker: 0.43
    >>> print(f"refined: {ndcg_score(relevance[rest], scores[rest], k=10):.2f}")
    refined: 0.53
    """

    __metadata_request__predict = {"base_scores": True}
    __metadata_request__score = {"qid": True, "base_scores": True}
    _accepts_sparse = True

    def __init__(self, base_ranker: Any = None) -> None:
        self.base_ranker = base_ranker

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        base_scores: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the correction of the base scores to the judgements.

        {judgements}
        {weights}

        {returns_self}
        """
        with unchanged_on_error(self):
            X_given, X = X, check_rows(self, X, reset=True, dtype=[np.float64, np.float32])
            queries = Queries.from_qid(qid, X.shape[0])
            grades = check_relevance(y, X.shape[0], judgements=True)
            self._base_ranker = self.base_ranker
            self._check_base(base_scores)
            base_scores = self._base_scores(X_given, X, base_scores, self._base_ranker)
            self._fitted_with_qid = is_qid_given(qid, X.shape[0])
            target, seen = DocumentTarget.check(grades, queries, sample_weight, query_weight)
            if seen is not None:
                X, base_scores = X[seen], base_scores[seen]
            judged, wins = standardized_wins(target)
            names, codes = np.unique(target.queries.codes[judged], return_inverse=True)
            # Copies of a sample have the weight of its square root in a least-squares problem.
            weights = target.all_weights
            counts = weights[judged]
            unit = inverse_deviation(base_scores, target)
            scale = scales_of(X, weights)
            scale *= np.sqrt(max(1, np.isfinite(scale).sum()))
            rows = X[judged].toarray() if sparse.issparse(X) else X[judged]
            values = np.column_stack([unit * base_scores[judged], rows / scale])
            sums = np.zeros((len(names), values.shape[1]))
            np.add.at(sums, codes, counts[:, np.newaxis] * values)
            values -= (sums / np.bincount(codes, counts)[:, np.newaxis])[codes]
            residuals = wins[:, np.newaxis] - values[:, :1] * SLOPES
            root = np.sqrt(counts)[:, np.newaxis]
            n_contrasts = counts.sum() - target.query_weights[names].sum()
            slope, weights, self.correction_probability_ = posterior_means(
                root * values[:, 1:], root * residuals, n_contrasts
            )
            self.base_weight_ = slope * unit
            self.coef_ = weights / scale
        return self

    def predict(self, X: ArrayLike, base_scores: ArrayLike | None = None) -> np.ndarray:
        """Score documents.

        {rows}
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker. If given, they are used instead of `base_ranker`.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Scores, which do not depend on other documents; higher ones are ranked earlier.
        """
        check_is_fitted(self)
        X_given, X = X, check_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        base_scores = self._base_scores(X_given, X, base_scores, self._base_ranker)
        return self.base_weight_ * base_scores + X @ self.coef_

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_scores: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG of the judged documents over queries with a relevant document.

        {of_score}
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker, as in :meth:`predict`.

        {ndcg}
        """
        return self._score_of_judged(X, y, qid, sample_weight, base_scores=base_scores)


def posterior_means(features, residuals, n_contrasts):
    """Return the posterior means of the slope and weights, and the probability of a correction.

    `residuals` `(n_judged, n_slopes)` is what the base scores leave unexplained, for each slope;
    `n_contrasts` is the number of judgements minus that of queries.
    """
    left, values, right = np.linalg.svd(features, full_matrices=False)
    strengths = np.array(STRENGTHS)[:, np.newaxis]
    shrinkage = 1 + strengths * values**2
    projections = residuals.T @ left * values
    shrunken = (strengths / shrinkage)[:, np.newaxis] * projections
    total = (residuals**2).sum(axis=0)
    explained = (shrunken * projections).sum(axis=2)
    # The errors have the inverse gamma prior with shape 1 and scale 0.5, the weight of two
    # judgements. The first row is the model without a correction.
    squares = 0.5 + np.maximum(total - np.vstack([0 * total, explained]), 0.0) / 2
    volume = np.append(0.0, np.log(shrinkage).sum(axis=1) / 2)[:, np.newaxis]
    prior = np.log([1.0] + [1 / len(STRENGTHS)] * len(STRENGTHS))[:, np.newaxis]
    models = softmax(prior - (1 + n_contrasts / 2) * np.log(squares) - volume)
    weights = np.tensordot(models[1:], shrunken, axes=2) @ right
    return float(models.sum(axis=0) @ SLOPES), weights, float(models[1:].sum())


def standardized_wins(target):
    """Return the judged documents, and their wins minus losses, standardized for each query.

    Documents of queries in which no document was judged to be better than another are left out.
    """
    # Squares of large weights would overflow.
    queries, weights = target.queries, target.weights / target.weights.max()
    judged = np.flatnonzero(~np.isnan(target.y))
    # The pairs of a document with the copies of others.
    pairs = GradedPairLoss(target.y, queries)
    wins = pairs.loss_and_negative_gradient(weights, weights)[1][judged] / weights[judged]
    codes, weights = queries.codes[judged], weights[judged]
    variances = np.bincount(codes, weights * wins**2)[codes] / np.bincount(codes, weights)[codes]
    compared = variances > 0
    return judged[compared], wins[compared] / np.sqrt(variances[compared])


def inverse_deviation(scores, target):
    """Return 1 / (standard deviation of the scores within queries), or 0 if it is 0."""
    codes, weights = target.queries.codes, target.weights
    unit = np.abs(scores).max() or 1.0
    means = np.bincount(codes, weights * (scores / unit)) / np.bincount(codes, weights)
    squares = (scores / unit - means[codes]) ** 2
    deviation = np.sqrt(np.average(squares, weights=target.all_weights))
    # Equal scores may differ by rounding. Below 1e-305 the inverse overflows.
    are_equal = deviation <= 1e-12 or unit * deviation < 1e-305
    return 0.0 if are_equal else float(1 / unit / deviation)


def scales_of(X, weights):
    """Return the standard deviations of the features, infinite if constant or not representable."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if sparse.issparse(X):
            means, variances = mean_variance_axis(X.tocsr(), axis=0, weights=weights)
        else:
            X = X.astype(np.float64)
            means = np.average(X, axis=0, weights=weights)
            variances = np.average((X - means) ** 2, axis=0, weights=weights)
        scales = np.sqrt(variances)
        # The square of a scale below 1e-150 is 0.
        used = np.isfinite(scales) & (scales > np.maximum(1e-12 * np.abs(means), 1e-150))
    return np.where(used, scales, np.inf)
