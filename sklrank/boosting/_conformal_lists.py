"""Lists of documents whose expected risk is limited, for any document ranker."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from sklrank._checks import (
    MAX_FACTOR,
    Queries,
    check_outputs,
    check_relevance,
    check_rows,
    document_scores,
    input_tags_of,
    is_frame,
    is_qid_given,
    places,
    qid_argument,
    sums_of_queries,
)
from sklrank._estimators import (
    BaseEstimator,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _safe_indexing,
    draw_seed,
    unchanged_on_error,
)
from sklrank._typing import Self
from sklrank.boosting._base import of_document_rankers, split_queries


@of_document_rankers
class ConformalDocumentList(MetaEstimatorMixin, BaseEstimator):
    r"""Lists of the documents of queries with a limit of their expected risk.

    The ranker is fitted to a part of the queries. The other queries calibrate a threshold t: the
    list of a query contains the documents whose scores, minus the mean score of the documents of
    the query, are at least t. If the queries are exchangeable, the following holds for any ranker.

    - With ``risk="recall"``, the risk of a query is the fraction of its relevant documents that are
      not in the list. It decreases with the threshold, so that conformal risk control [1]_ applies:
      t is the largest threshold with

      .. math:: \frac{n}{n + 1} \hat R(t) + \frac{1}{n + 1} \leq \alpha,

      where :math:`\hat R(t)` is the mean risk of the n held-out queries that have a relevant
      document. The expected risk of a new query that has one is at most `alpha`. The lists are the
      shortest ones, as few documents as this threshold allows.
    - With ``risk="false-discovery"``, the risk is the fraction of the documents in the list that
      are not relevant, 0 for an empty list. As it need not decrease with the threshold, thresholds
      are tested [2]_, from the largest down to the first one for which the hypothesis that the
      expected risk exceeds `alpha` is not rejected, with the p-value of Hoeffding and Bentkus. The
      lists are the longest ones. With the probability `confidence_level` over the held-out queries,
      the expected risk of a new query is at most `alpha`.

    Parameters
    ----------
    ranker : estimator
        Ranker or regressor whose `predict` scores documents, or classifier of their grades. It, the
        last step of a pipeline or the estimator of a search gets `qid` if its `fit` has this
        parameter. One in a :class:`~sklearn.frozen.FrozenEstimator` is not fitted again, and all
        queries calibrate.
    alpha : float, default=0.1
        Largest expected risk, between 0 and 1.
    risk : {"recall", "false-discovery"}, default="recall"
        Risk: missed relevant documents, or documents in the list that are not relevant.
    confidence_level : float, default=0.9
        Probability of the guarantee with ``risk="false-discovery"``, between 0 and 1.
    calibration_size : float, default=0.3
        Fraction of the queries, or of the documents of a single one, held out for calibration.
    random_state : int, RandomState instance or None, default=None
        Controls which queries are held out.

    Attributes
    ----------
    ranker_ : estimator
        Fitted ranker.
    threshold_ : float
        The threshold t. If there are too few held-out queries for `alpha`, it is -inf for recall,
        so that lists contain all documents, and inf for false discoveries, so that they are empty.
    n_calibration_queries_ : int
        Number n of held-out queries; for recall, of those with a relevant document.
    {n_features_in}

    See Also
    --------
    sklrank.label_ranking.ConformalTopLabels : Sets that contain the best labels.

    References
    ----------
    .. [1] Angelopoulos et al., "Conformal risk control", ICLR 2024.
    .. [2] A. N. Angelopoulos, S. Bates, E. J. Candes, M. I. Jordan and L. Lei, "Learn then test:
       calibrating predictive algorithms to achieve risk control", 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklrank.boosting import ConformalDocumentList
    >>> random = np.random.RandomState(0)
    >>> X, qid = random.normal(size=(3000, 2)), np.repeat(np.arange(300), 10)
    >>> y = X[:, 0] + 0.2 * random.normal(size=3000) > 1
    >>> lists = ConformalDocumentList(Ridge(), alpha=0.1, random_state=0).fit(X, y, qid=qid)
    >>> lists.predict([[2.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], qid=[0, 0, 0])
    array([ True, False, False])
    """

    __metadata_request__fit = {"qid": True}
    __metadata_request__predict = {"qid": True}

    _parameter_constraints: dict = {
        "ranker": [HasMethods(["fit", "predict"])],
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "risk": [StrOptions({"recall", "false-discovery"})],
        "confidence_level": [Interval(Real, 0, 1, closed="neither")],
        "calibration_size": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    _failed_checks = {
        "check_methods_subset_invariance": "a list depends on all documents of the query"
    }

    def __init__(
        self,
        ranker: Any,
        *,
        alpha: float = 0.1,
        risk: Literal["recall", "false-discovery"] = "recall",
        confidence_level: float = 0.9,
        calibration_size: float = 0.3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ranker = ranker
        self.alpha = alpha
        self.risk = risk
        self.confidence_level = confidence_level
        self.calibration_size = calibration_size
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = input_tags_of(self.ranker)
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Fit the ranker, and calibrate the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance, 0 (not relevant) or more.
        {qid}

        {returns_self}

        Warns
        -----
        UserWarning
            If there are too few held-out queries for lists that are neither complete nor empty. The
            warning states the number that is needed.
        """
        with unchanged_on_error(self):
            X = self._check_rows(X, reset=True)
            y = check_relevance(y, X.shape[0])
            queries = Queries.from_qid(qid, len(y))
            self._fitted_with_qid = is_qid_given(qid, len(y))
            train, held_out = self._split(queries)
            self.ranker_ = clone(self.ranker)
            if len(train):
                part = None if qid is None else queries.names[queries.codes[train]]
                arguments = qid_argument(self.ranker_, part)
                self.ranker_.fit(_safe_indexing(X, train), y[train], **arguments)
            X, relevant = _safe_indexing(X, held_out), y[held_out] > 0
            queries = Queries.from_qid(queries.codes[held_out], len(held_out))
            scores = self._centered_scores(X, queries)
            calibrate = missed_threshold if self.risk == "recall" else discovery_threshold
            self.threshold_, self.n_calibration_queries_, needed = calibrate(
                scores, relevant, queries, self.alpha, 1 - self.confidence_level
            )
            if self.n_calibration_queries_ < needed:
                some = "some relevant document" if self.risk == "recall" else "any documents"
                warnings.warn(
                    f"alpha={self.alpha} needs at least {needed} held-out queries with {some}, got "
                    f"{self.n_calibration_queries_}: all lists will be "
                    f"{'complete' if self.risk == 'recall' else 'empty'}. Pass more queries, or "
                    "increase alpha or calibration_size",
                    stacklevel=2,
                )
        return self

    def predict(self, X: ArrayLike, qid: ArrayLike | None = None) -> np.ndarray:
        """Return which documents are in the lists of their queries.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            Documents. All documents of a query must be passed in one call.
        qid : array-like of shape (n_samples,), default=None
            Query id of each document. If None, all documents belong to one query; this is allowed
            only if `fit` was called without `qid`.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True for the documents in the list.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if qid is None and self._fitted_with_qid:
            raise ValueError("qid is None, but was passed to fit: pass the queries of X")
        return self._centered_scores(X, Queries.from_qid(qid, X.shape[0])) >= self.threshold_

    def _check_rows(self, X, *, reset):
        # The ranker checks the values of a frame, whose columns it may select by name.
        if is_frame(X):
            return check_rows(self, X, reset=reset, skip_check_array=True)
        return check_rows(self, X, reset=reset)

    def _split(self, queries):
        """Return the samples to which the ranker is fitted, and those of held-out queries."""
        if isinstance(self.ranker, FrozenEstimator):
            samples = np.arange(len(queries.codes))
            return samples[:0], samples
        return split_queries(queries, self.calibration_size, draw_seed(self.random_state))

    def _centered_scores(self, X, queries):
        """Return the scores minus their means over the documents of each query."""
        scores = np.asarray(document_scores(self.ranker_, X), dtype=np.float64)
        if scores.shape != queries.codes.shape:
            raise ValueError(
                f"ranker must predict one score for each document, got the shape {scores.shape} "
                f"for {len(queries.codes)} documents"
            )
        scores = check_outputs(scores, self.ranker_)
        if np.abs(scores).max() > MAX_FACTOR:
            raise ValueError(
                f"ranker predicts scores beyond {MAX_FACTOR:g}, whose sums may overflow: scale them"
            )
        means = sums_of_queries(queries, scores[queries.order]) / queries.sizes
        return scores - means[queries.codes]


def missed_threshold(scores, relevant, queries, alpha, delta):
    """Calibrate the expected fraction of missed documents by conformal risk control.

    Return the largest threshold that satisfies the condition, the number of queries with a relevant
    document, and the least number for a threshold above -inf.
    """
    n_relevant = np.bincount(queries.codes, relevant, queries.n_queries)
    n_queries = np.count_nonzero(n_relevant)
    order = np.flatnonzero(relevant)
    order = order[np.argsort(scores[order], kind="stable")]
    lost = np.cumsum(1 / n_relevant[queries.codes[order]])
    # A threshold at a score keeps all documents of this score: the risk is that of the lower ones.
    ordered = scores[order]
    total = np.append(0.0, lost)[np.searchsorted(ordered, ordered)]
    # The tolerance keeps sums of fractions that are equal to the limit up to rounding.
    feasible = np.flatnonzero(total + 1 <= alpha * (n_queries + 1) * (1 + 1e-9))
    threshold = ordered[feasible[-1]] if len(feasible) else -np.inf
    return float(threshold), int(n_queries), int(np.ceil(np.round(1 / alpha - 1, 9)))


def discovery_threshold(scores, relevant, queries, alpha, delta):
    """Calibrate the expected fraction of false discoveries by fixed-sequence tests.

    Thresholds from infinity down are tested at the scores, where the mean risk changes. Return the
    smallest one before the first that is not rejected at the level `delta`, the number of queries,
    and the least number for which the first hypothesis may be rejected.
    """
    n_queries = queries.n_queries
    order = np.argsort(-scores, kind="stable")
    codes, right, ordered = queries.codes[order], relevant[order], scores[order]
    by_query = np.argsort(codes, kind="stable")
    # The list of each query grows by one document; `change` is the change of its risk.
    wrong = np.cumsum(~right[by_query])
    starts = queries.starts[:-1]
    before = np.repeat(wrong[starts] - ~right[by_query][starts], queries.sizes)
    risks = (wrong - before) / places(queries)
    change = np.diff(risks, prepend=0.0)
    change[starts] = risks[starts]
    in_order = np.empty_like(change)
    in_order[by_query] = change
    mean_risk = np.cumsum(in_order) / n_queries
    # All documents of the same score enter together.
    last = np.append(ordered[1:] < ordered[:-1], True)
    thresholds, mean_risk = ordered[last], mean_risk[last].clip(0, 1)
    # Above the largest score, all lists are empty.
    rejected = risk_p_value(np.append(0.0, mean_risk), n_queries, alpha) <= delta
    n_rejected = rejected.argmin() if not rejected.all() else len(rejected)
    threshold = thresholds[n_rejected - 2] if n_rejected > 1 else np.inf
    return float(threshold), n_queries, int(np.ceil(np.log(delta) / np.log1p(-alpha)))


def risk_p_value(mean_risk, n_queries, alpha):
    """Return the p-value of Hoeffding and Bentkus that the expected risk exceeds `alpha`."""
    risk = np.minimum(mean_risk, alpha)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(risk > 0, risk * np.log(risk / alpha), 0.0)
    divergence += (1 - risk) * np.log((1 - risk) / (1 - alpha))
    bentkus = np.e * binom.cdf(np.ceil(np.round(n_queries * mean_risk, 9)), n_queries, alpha)
    return np.minimum(np.exp(-n_queries * divergence), bentkus).clip(0, 1)
