"""Refiners: their base class, and boosting with the losses of a base ranking and judgements."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._boosters import Objective, of_boosters
from sklrank._checks import (
    Queries,
    as_numbers,
    check_qid,
    check_relevance,
    check_scored,
    is_integer,
    is_qid_given,
)
from sklrank._estimators import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _safe_indexing,
    shares_text,
    unchanged_on_error,
)
from sklrank._rankers import DocumentRankerMixin
from sklrank._typing import Self
from sklrank.boosting._base import DocumentRanker, DocumentTarget, of_document_rankers
from sklrank.boosting._pair_losses import (
    AllPairLoss,
    BaseRankerLoss,
    ExplicitPairLoss,
    GradedPairLoss,
    JudgementLoss,
    weighted_exp,
)

# Texts that the docstrings of the refiners share.
of_refiners = shares_text(
    base_ranker="""
Parameters
----------
base_ranker : int, str, fitted estimator or None, default=None
    Ranker whose scores are refined: the index or the name of a feature of `X`, or a fitted
    estimator with `decision_function` or `predict`, in a
    :class:`~sklearn.frozen.FrozenEstimator` if the refiner is cloned, as by a search. If None,
    and `fit` gets no `base_scores`, these are 0, with a warning.
""",
    judgements="""
Parameters
----------
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    Documents, both judged and not judged. :class:`RankingRefiner` accepts a sparse matrix if
    the weak learner accepts it.
y : array-like of shape (n_samples,)
    Judgements: the graded relevance of each document, or NaN if it is not judged. Only the
    order of the grades is used; -1 is a valid grade.
{qid}
{base_scores}
""",
    base_scores="""
base_scores : array-like of shape (n_samples,), default=None
    Scores of the base ranker. If given, they are used instead of `base_ranker`.
""",
    of_score="""
{rows}
y : array-like of shape (n_samples,)
    Judgements: the graded relevance of each document, or NaN if it is not judged. Documents
    that are not judged are ignored.
{score_qid}
""",
    ndcg="""
Returns
-------
float
    Mean NDCG, from 0 to 1. The gain is exponential; if there are grades that are negative or
    above 31, the gain of a document is the number of distinct lower grades in `y`.

{value_error}
    If `qid` is None although it was given in `fit`, or if no judged document has a gain.
""",
)


class RefinerMixin(DocumentRankerMixin):
    """Base class of document rankers that refine the scores of a base ranker."""

    __metadata_request__fit = {"qid": True, "base_scores": True}

    _parameter_constraints = {
        "base_ranker": [
            Interval(Integral, 0, None, closed="left"),
            str,
            HasMethods("decision_function"),
            HasMethods("predict"),
            None,
        ]
    }

    def _check_base(self, base_scores):
        """Warn in `fit` if there is no ranking to refine."""
        self._lacks_base = base_scores is None and self.base_ranker is None
        if self._lacks_base:
            warnings.warn(
                "base_ranker=None and base_scores=None: there is no ranking to refine, and all "
                "base scores are 0; name a feature of X or a fitted estimator as base_ranker, or "
                "pass the scores of the samples as base_scores",
                stacklevel=3,
            )

    def _base_scores(self, X_given, X, base_scores, ranker):
        """Return the base scores, which are those of the base ranker if `base_scores` is None."""
        name = "base_scores"
        if base_scores is None and ranker is None and self._lacks_base:
            return np.zeros(X.shape[0])
        if base_scores is None:
            name = "the scores of base_ranker"
            base_scores = self._scores_of_base_ranker(X_given, X, ranker)
        scores = check_array(as_numbers(base_scores, name), ensure_2d=False, input_name=name)
        if scores.shape != (X.shape[0],):
            raise ValueError(
                f"{name} must be one score for each of the {X.shape[0]} samples of X, got an array "
                f"of shape {scores.shape}"
            )
        return scores

    def _scores_of_base_ranker(self, X_given, X, ranker):
        if ranker is None:
            raise ValueError(
                "base_scores=None, but base_scores were given to fit, and base_ranker is None: "
                "pass the base scores of the samples"
            )
        if not isinstance(ranker, (Integral, str)):
            if hasattr(ranker, "fit"):
                check_is_fitted(ranker)
            score = getattr(ranker, "decision_function", None) or ranker.predict
            return score(X_given)
        names = list(getattr(self, "feature_names_in_", []))
        if isinstance(ranker, str):
            if ranker not in names:
                raise ValueError(
                    f"base_ranker={ranker!r} is not a feature of X, which has "
                    f"{', '.join(names) or 'no names'}: pass a data frame, or an index"
                )
            ranker = names.index(ranker)
        if ranker >= X.shape[1]:
            raise ValueError(
                f"base_ranker={ranker} is not a feature of X, which has n_features={X.shape[1]}: "
                f"the indices are 0 to {X.shape[1] - 1}"
            )
        return X[:, [ranker]].toarray().ravel() if sparse.issparse(X) else X[:, ranker]

    def _score_of_judged(self, X, y, qid, sample_weight, **arguments):
        """Return the mean NDCG of the judged documents over the queries."""
        check_scored(self, X, y, qid=qid, sample_weight=sample_weight, **arguments)
        scores = self._scores_by_query(X, qid, **arguments)
        grades = check_relevance(y, len(scores), judgements=True)
        check_qid(qid, len(scores))
        check_consistent_length(scores, sample_weight)
        judged = np.flatnonzero(~np.isnan(grades))
        qid, weights = (
            values if values is None else _safe_indexing(values, judged)
            for values in (qid, sample_weight)
        )
        return self._mean_ndcg(grades[judged], scores[judged], qid, weights)


class RefinementObjective(Objective):
    r"""Product or weighted sum of two losses, for ranking refinement.

    The losses are err_w of the base ranker and err_t of the judgements. The sum is L_a of Equation
    4.9 (linear ranking refinement), where `balance` is called gamma. If that is None, the objective
    is the product, L_p of Equation 4.10 (multiplicative ranking refinement). The weight of a pair
    is then :math:`\gamma_{ij} = a_{ij} + b_{ij}`, its terms in the two losses, divided by the
    losses (4.11, 4.12), whose sums are 1. The bound of `_boosters/rounds.py` holds for the
    logarithm. With the step weights :math:`\mu = c` and :math:`\nu = w`, it decreases by at least
    :math:`(\sqrt\mu - \sqrt\nu)^2` in a round (Theorem 9). Theorem 10 states a larger decrease,
    :math:`\eta = \mu - \nu`, which does not always hold; one of :math:`\eta^2 / 4` does, since
    :math:`\mu + \nu \leq 2`.
    """

    def __init__(self, base_loss, judgement_loss, target, balance=None):
        self._base_loss, self._judgement_loss = base_loss, judgement_loss
        self._target, self._balance = target, balance

    def set_scores(self, scores):
        self._exp_scores = weighted_exp(scores, self._target)
        base, base_gradient = self._base_loss.loss_and_negative_gradient(*self._exp_scores)
        judged, judged_gradient = self._judgement_loss.loss_and_negative_gradient(*self._exp_scores)
        if self._balance is None:
            self.value = base * judged
            self._factors = 1 / base, 1 / judged
        else:
            self.value = self._balance * base + judged
            # Only the ratio of the factors matters. They are scaled to at most 1, since weak
            # learners sum squares of the weights, which could overflow.
            largest = max(self._balance, 1.0)
            self._factors = self._balance / largest, 1 / largest
        a, b = self._factors
        self._set_gradient(a * base_gradient + b * judged_gradient)

    def step_weights(self, hypothesis):
        a, b = self._factors
        base = self._base_loss.step_weights(*self._exp_scores, hypothesis)
        judged = self._judgement_loss.step_weights(*self._exp_scores, hypothesis)
        return a * base[0] + b * judged[0], a * base[1] + b * judged[1]


@of_boosters
@of_document_rankers
@of_refiners
class RankingRefiner(RefinerMixin, DocumentRanker):
    r"""Ranking refiner: boosting of a classifier for a base ranking and a few judgements.

    A base ranker, such as a retrieval function or a collaborative filter, gives a score :math:`g_i`
    to each document i. A user judges a few of them. Both have errors. The learned scores :math:`F`
    have a loss for each of the two sources (chapter 4 of [1]_),

    .. math:: err_w = \sum_{i,j} W_{ij} e^{F_j - F_i}, \quad
              err_t = \sum_{i,j} T_{ij} e^{F_j - F_i}, \quad
              W_{ij} = \frac{e^{\lambda g_i}}{e^{\lambda g_i} + e^{\lambda g_j}},

    where :math:`T_{ij}` is :math:`1 - \eta/2` if document i was judged to be better than document
    j, and :math:`\eta/2` otherwise (Equations 4.1 to 4.7). For each query, :math:`\lambda` is 1
    divided by the standard deviation of its ten highest base scores. Boosting decreases the product
    of the two losses (MRR, Equation 4.10), which does not depend on their scale, or their weighted
    sum (LRR, Equation 4.9). In each round, a classifier is fitted to the labels and weights of all
    documents, judged or not: 1 if the score should increase, else 0 (Algorithm 6). The objective
    never increases.

    The scores :math:`F` are a function of the features alone. Hence the order of the base ranker is
    learned as well, the base ranker is needed in `fit` only, and its score should be among the
    features. With some ten judgements of a query, :class:`ResidualRefiner` is faster and needs no
    choice of a weak learner. One function is learned for all queries; the dissertation, and users
    whose judgements of one query carry no information about another, fit one to each.

    The defaults are settings for few judgements of a query. Those printed in [1]_ are
    ``noise=0.5, learning_rate=1.0, response_method="predict"``.

    {base_ranker}
    {stump_and_rounds}
    combination : {"product", "sum"}, default="product"
        Objective: :math:`err_w \times err_t` ("product") or :math:`\gamma\, err_w + err_t` ("sum").
    balance : float, default=1.0
        Weight :math:`\gamma` of the loss of the base ranker, from 0 to 1e100. It is used only if
        `combination` is "sum".
    noise : {"auto"} or float, default="auto"
        Noise :math:`\eta` of the judgements, from 0 (all of them are right) to 1 (they carry no
        information). If "auto", the judged pairs contribute half of the sum of :math:`T`; 0.5, the
        value of the dissertation, outweighs few judgements of many documents.
    learning_rate : float, default=0.2
        Learning rate that multiplies each step. With values up to 2, the objective does not
        increase; with 1, each step minimizes a bound on the objective.
    response_method : {"predict", "predict_proba"}, default="predict_proba"
        Method of the weak learner whose output times the step is added to the scores: the class, 0
        or 1, as in the dissertation, or the probability of class 1 (see the notes).
    weighting : {"auto", "resampling"}, default="resampling"
        {weighting}
    {random_state}

    Attributes
    ----------
    estimators_ : list of classifiers
        Weak learners, which predict 1 for documents whose scores should increase, else 0.
    confidence_ : ndarray of shape (n_queries,)
        Confidence :math:`\lambda` in the base ranker for each query, in the order of the sorted
        query ids. It is infinite if the ten highest base scores are equal.
    noise_ : float
        Noise :math:`\eta` of the judgements that was used.
    {rounds}

    See Also
    --------
    ResidualRefiner : Linear correction of the base scores.
    NDCGBoost : Document ranker for NDCG that learns from judgements alone.
    RankBoost : Document ranker for pairs that learns from judgements alone.
    sklrank.datasets.make_recommender : Generate ratings and base scores.

    Notes
    -----
    With ``response_method="predict_proba"``, an extension of the dissertation, the weak learner
    raises document i, with its copies by weight, with the predicted probability, independently of
    others, and the step is computed from expected values. The objective never increases, as the
    exponential is convex.

    In a search, do not set `scoring`: the default, :meth:`score`, considers judged documents only,
    while :data:`~sklrank.metrics.ndcg_scorer` raises an error for NaN.

    For a query with n documents, the time of a round is :math:`O(n^2)` for the pairs of the base
    ranker and :math:`O(n)` for the judgements. The pairs are not stored.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 4.

    Examples
    --------
    A user rated 20 items. The base scores are computed from the ratings of other users.

    >>> import numpy as np
    >>> from sklrank.boosting import RankingRefiner
    >>> from sklrank.datasets import make_recommender
    >>> from sklrank.metrics import ndcg_score
    >>> X, ratings, relevance, _, base_scores = make_recommender(1, n_rated=20, random_state=3)
    >>> X = np.column_stack([X, base_scores])
    >>> refiner = RankingRefiner(base_ranker=5, random_state=0)
    >>> scores = refiner.fit(X, ratings).predict(X)
    >>> rest = np.isnan(ratings)
    >>> print(f"base ranker: {ndcg_score(relevance[rest], base_scores[rest], k=10):.2f}")
    base ranker: 0.43
    >>> print(f"refined: {ndcg_score(relevance[rest], scores[rest], k=10):.2f}")
    refined: 0.59
    """

    __metadata_request__score = {"qid": True}

    _parameter_constraints = {
        **DocumentRanker._parameter_constraints,
        **RefinerMixin._parameter_constraints,
        "combination": [StrOptions({"product", "sum"})],
        # With a larger balance, the judgements would have no effect.
        "balance": [Interval(Real, 0, 1e100, closed="both")],
        "noise": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "response_method": [StrOptions({"predict", "predict_proba"})],
    }

    def __init__(
        self,
        base_ranker: Any = None,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        combination: Literal["product", "sum"] = "product",
        balance: float = 1.0,
        noise: Literal["auto"] | float = "auto",
        learning_rate: float = 0.2,
        response_method: Literal["predict", "predict_proba"] = "predict_proba",
        weighting: Literal["auto", "resampling"] = "resampling",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.base_ranker = base_ranker
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.combination = combination
        self.balance = balance
        self.noise = noise
        self.learning_rate = learning_rate
        self.response_method = response_method
        self.weighting = weighting
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        base_scores: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker to the scores of the base ranker and the judgements.

        {judgements}
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Judgements instead of `y`: in each row, the indices of two samples of the same query,
            the better document first. Weights of 0 are then not possible.
        {weights}

        {returns_self}
        """
        with unchanged_on_error(self):
            X_given, X = X, self._check_training_X(X)
            queries = Queries.from_qid(qid, X.shape[0])
            judgements = check_judgements(y, pairs, queries)
            self._check_base(base_scores)
            base_scores = self._base_scores(X_given, X, base_scores, self.base_ranker)
            grades = np.zeros(X.shape[0]) if y is None else judgements.grades
            target, seen = DocumentTarget.check(grades, queries, sample_weight, query_weight)
            if seen is not None:
                if pairs is not None:
                    raise ValueError(
                        "sample_weight and query_weight must be positive if pairs are given, which "
                        "name documents by their indices; leave out documents of weight 0"
                    )
                X, base_scores, queries = X[seen], base_scores[seen], target.queries
                judgements = GradedPairLoss(target.y, queries)
            if self.noise == 0 and judgements.is_empty:
                raise ValueError(
                    "noise=0, but no query has documents of different judgements: there is nothing "
                    "to learn; judge more documents, or let noise be above 0"
                )
            self._fitted_with_qid = is_qid_given(qid, X.shape[0])
            self._start_rounds()
            self._response_method = self.response_method
            auto = self.noise == "auto"
            self.noise_ = auto_noise(judgements, target) if auto else float(self.noise)
            self.confidence_ = base_confidence(base_scores, target)
            objective = RefinementObjective(
                BaseRankerLoss(base_scores, self.confidence_, queries),
                JudgementLoss(judgements, self.noise_, queries),
                target,
                self.balance if self.combination == "sum" else None,
            )
            self._boost(objective, self._make_learner(X, objective), self._initial_scores(X))
        return self

    @property
    def _accepts_nan(self):
        # A feature that holds the base scores must not have missing values.
        return super()._accepts_nan and not is_integer(self.base_ranker)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG of the judged documents over queries with a relevant document.

        {of_score}

        {ndcg}
        """
        return self._score_of_judged(X, y, qid, sample_weight)


def check_judgements(y, pairs, queries):
    """Check the judgements, which are either `y` or `pairs`, and return their loss."""
    if pairs is None:
        return GradedPairLoss(check_relevance(y, len(queries.codes), judgements=True), queries)
    if y is not None:
        raise ValueError(
            "y and pairs are both given as judgements; pass one of them, the other None"
        )
    return ExplicitPairLoss(pairs, queries)


def base_confidence(scores, target):
    """Return lambda, 1 / (standard deviation of the ten highest scores), of each query.

    The weights of the documents are their numbers of copies.
    """
    queries = target.queries
    order = np.lexsort((-scores, queries.codes))
    best_first, weights = scores[order], target.weights[order]
    deviations = np.array(
        [
            standard_deviation(best_first[first:last], weights[first:last])
            for first, last in zip(queries.starts[:-1], queries.starts[1:])
        ]
    )
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / deviations


def standard_deviation(values, weights, n_counted=10):
    """Return the standard deviation of the first values without overflow of the squares."""
    counted = np.diff(np.minimum(np.cumsum(weights), n_counted), prepend=0)
    values, counted = values[counted > 0], counted[counted > 0]
    unit = np.abs(values).max() or 1.0
    values = values / unit
    mean = np.average(values, weights=counted)
    return np.sqrt(np.average((values - mean) ** 2, weights=counted)) * unit


def auto_noise(judgements, target):
    """Return the eta for which the judged pairs contribute half of the sum of T; 1 if none is."""
    # The losses at scores of 0, where e^F and e^-F are 1.
    weights = target.all_weights, target.weights
    n_judged, _ = judgements.loss_and_negative_gradient(*weights)
    n_all, _ = AllPairLoss(target.queries).loss_and_negative_gradient(*weights)
    return float(2 * n_judged / (2 * n_judged + n_all)) if n_judged else 1.0
