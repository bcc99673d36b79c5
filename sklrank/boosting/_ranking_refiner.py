"""Ranking refinement: boosting by the order of a base ranker and by few judgements."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklrank._queries import Queries, check_qid
from sklrank._relevance import check_relevance
from sklrank._sklearn import HasMethods, Interval, StrOptions, _fit_context, _safe_indexing
from sklrank._validation import as_numbers, unchanged_on_error
from sklrank.boosting._document_ranker import DocumentRanker
from sklrank.boosting._objectives import ProductObjective, SumObjective
from sklrank.boosting._pair_losses import (
    AllPairLoss,
    BaseRankerLoss,
    ExplicitPairLoss,
    GradedPairLoss,
    JudgementLoss,
)
from sklrank.metrics import ndcg_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["RankingRefiner"]

# With a larger balance the judgements have no effect anyway.
MAX_BALANCE = 1e100

# confidence="auto" uses the standard deviation of the scores of so many top documents.
N_TOP_DOCUMENTS = 10


class RankingRefiner(DocumentRanker):
    r"""Ranking refinement: improve the ranking of a base ranker by few judgements.

    Chapter 4 of [1]_. A base ranker, such as a retrieval function or a collaborative filter, gives
    all documents scores :math:`g_i`; a user judges a few of them. Both sources have errors. The
    loss of the learned scores :math:`F` is defined for each of them,

    .. math:: err_w = \sum_{i,j} W_{ij} e^{F_j - F_i}, \quad
              err_t = \sum_{i,j} T_{ij} e^{F_j - F_i}, \quad
              W_{ij} = \frac{e^{\lambda g_i}}{e^{\lambda g_i} + e^{\lambda g_j}},

    with :math:`T_{ij} = 1 - \eta/2` if i was judged to be better than j, else :math:`\eta/2`
    (Equations 4.1 to 4.7). Boosting lowers their product (MRR, Equation 4.10), in which the two
    need no weight, or their weighted sum (LRR, Equation 4.9). In each round every document, judged
    or not, has a label, 1 if its score should rise, and a weight, and a classifier is fitted to
    them (Algorithm 6). The objective never rises.

    :math:`F` starts at 0: the order of the base ranker is learned, too, and the base ranker is
    needed in `fit` only. With several queries one :math:`F` is learned for all, and a loss is the
    sum over the pairs of documents of the same query, of all queries. The dissertation fits a model
    for each query: use one refiner for each query, if the judgements of one query carry no
    information about another.

    Parameters
    ----------
    base_ranker : int, str, fitted estimator or None, default=None
        The ranker whose scores (higher = ranked earlier) are refined: a feature of `X`, by its
        index or its name, or an estimator whose ``decision_function``, or else ``predict``, scores
        samples. The estimator is not fitted again; if the refiner is cloned, as in a grid search,
        wrap it in :class:`~sklearn.frozen.FrozenEstimator`. None: `fit` must be given
        `base_scores`.
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises the criterion
        of the dissertation (Equation 4.13).
    n_estimators : int, default=100
        Maximal number of rounds.
    combination : {"product", "sum"}, default="product"
        The objective: :math:`err_w \times err_t`, or :math:`\gamma\, err_w + err_t`.
    balance : float, default=1.0
        Weight :math:`\gamma` of the base ranker in the sum, from 0 to 1e100; the product has none.
    confidence : {"auto"} or float, default="auto"
        Confidence in the base ranker, :math:`\lambda \geq 0`. 0 ignores it; with ``np.inf`` only
        its order counts (Equation 4.2). "auto": for each query, 1 divided by the standard deviation
        of the scores of its ten top documents; infinite if these are equal.
    noise : {"auto"} or float, default=0.5
        Error rate of the judgements :math:`\eta`, from 0 to 1. Larger values keep the scores closer
        together. "auto": the value with which the judged pairs make up half of the sum of
        :math:`T`, however few of the documents are judged; see the notes.
    learning_rate : float, default=1.0
        Factor of each step. Up to 2 the objective never rises; 1 minimises its bound.
    response_method : {"predict", "predict_proba"}, default="predict"
        Method of the weak learner whose output is added to the scores: the class (1 raises the
        document), or the probability of class 1. The latter is an extension, see the notes, and
        needs an `estimator` with `predict_proba`, such as the default stump or
        ``DecisionTreeClassifier(max_depth=2)``.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given the weights ("sample_weight"), or documents drawn in
        proportion to them ("resampling"), as in the dissertation's experiments. "auto": weights
        where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn for a round, from all queries together, a number or a share of
        all; None: a fifth, at least 20. They are drawn up to ten times a round, until the weak
        learner is better than chance.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, and the seeds of the weak learners.
    verbose : int, default=0
        1: print some rounds, 2: print all.

    Attributes
    ----------
    estimators_ : list of classifiers
        The weak learners; they predict 1 for documents to be raised, else 0.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each weak learner.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Equation 4.10, or 4.9, before the first round and after each.
    confidence_ : ndarray of shape (n_queries,)
        :math:`\lambda` of each query, in the order of the sorted ids.
    noise_ : float
        :math:`\eta`.
    stop_reason_ : str
        The reason why the rounds ended.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, if they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` had names that are strings.

    See Also
    --------
    NDCGBoost : Learns from judgements alone, for NDCG.
    RankBoost : Learns from judgements alone, for pairs.
    sklrank.datasets.make_recommender : Generates ratings and base scores.

    Notes
    -----
    :math:`F` is a function of the features alone: it can follow the base ranker as far as they
    determine its order. Let the score of the base ranker be one of the features.

    The constant :math:`\eta/2` is added for all pairs of a query, judged or not. Where few of many
    documents are judged, the default of the dissertation, 0.5, outweighs the judgements, and the
    ranking of the base ranker hardly changes; steps as long as the bound allows add to that. A tree
    fitted to few drawn documents varies, and the sum of many such trees ranks better than trees
    fitted to all documents. In the experiments of ``examples/ranking_refinement.py``
    ``DecisionTreeClassifier(max_depth=2)`` with ``response_method="predict_proba",
    learning_rate=0.2, noise="auto", weighting="resampling", max_samples=10`` ranks better; where
    items are judged at random, rather than from the top of a ranking, trees of depth 1 rank better
    still.

    With ``response_method="predict_proba"``, an extension of the dissertation, a document is raised
    with its probability :math:`h_i \in [0, 1]`. In the step the pairs that are ranked correctly and
    incorrectly then count by their expected weights, if each document is raised independently with
    that probability, :math:`\sum \gamma_{ij} h_i (1 - h_j)` and
    :math:`\sum \gamma_{ij} (1 - h_i) h_j`, which are those of Algorithm 6 where h is 0 or 1. As the
    exponential is convex, the bound holds: the objective never rises.

    In a search leave out `scoring`: :meth:`score` considers judged documents only, while
    :data:`~sklrank.metrics.ndcg_scorer` refuses NaN.

    With n documents of a query a round takes :math:`O(n^2)` for the pairs of the base ranker, none
    of which is stored, and :math:`O(n)` for the judgements.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 4.

    Examples
    --------
    A user rated 20 items. The base ranker follows the tastes of other users; its scores are the
    last feature.

    >>> import numpy as np
    >>> from sklrank.boosting import RankingRefiner
    >>> from sklrank.datasets import make_recommender
    >>> from sklrank.metrics import ndcg_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, ratings, relevance, _, base_scores = make_recommender(1, n_rated=20, random_state=3)
    >>> X = np.column_stack([X, base_scores])
    >>> refiner = RankingRefiner(
    ...     5, DecisionTreeClassifier(max_depth=2), noise="auto", learning_rate=0.2, random_state=0,
    ...     response_method="predict_proba", weighting="resampling", max_samples=10,
    ... )
    >>> scores = refiner.fit(X, ratings).predict(X)
    >>> rest = np.isnan(ratings)
    >>> print(f"base ranker: {ndcg_score(relevance[rest], base_scores[rest], k=10):.2f}")
    base ranker: 0.43
    >>> print(f"refined: {ndcg_score(relevance[rest], scores[rest], k=10):.2f}")
    refined: 0.58
    """

    __metadata_request__fit = {"qid": True, "base_scores": True}

    _parameter_constraints = {
        **DocumentRanker._parameter_constraints,
        "base_ranker": [
            Interval(Integral, 0, None, closed="left"),
            str,
            HasMethods("decision_function"),
            HasMethods("predict"),
            None,
        ],
        "combination": [StrOptions({"product", "sum"})],
        "balance": [Interval(Real, 0, MAX_BALANCE, closed="both")],
        "confidence": [StrOptions({"auto"}), Interval(Real, 0, None, closed="both")],
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
        confidence: Literal["auto"] | float = "auto",
        noise: Literal["auto"] | float = 0.5,
        learning_rate: float = 1.0,
        response_method: Literal["predict", "predict_proba"] = "predict",
        weighting: Literal["auto", "sample_weight", "resampling"] = "auto",
        max_samples: int | float | None = None,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.base_ranker = base_ranker
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.combination = combination
        self.balance = balance
        self.confidence = confidence
        self.noise = noise
        self.learning_rate = learning_rate
        self.response_method = response_method
        self.weighting = weighting
        self.max_samples = max_samples
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        base_scores: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
    ) -> RankingRefiner:
        """Fit the ranker to the scores of the base ranker and the judgements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, judged ones and others. A sparse matrix is accepted if the weak learner
            accepts it.
        y : array-like of shape (n_samples,), default=None
            Judgements: graded relevance, NaN for documents that are not judged. Only the order
            counts; -1 is a grade like any other.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order. None: all documents are of one query; from 500
            documents on this warns, as `qid` has probably been forgotten
            (``qid=np.zeros(len(X))`` does not).
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker, in place of those of `base_ranker`.
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Judgements in place of `y`: the indices of two samples of a query in each row, the
            better document first.

        Returns
        -------
        RankingRefiner
            The fitted estimator.

        Raises
        ------
        ValueError
            If there is no base ranker; if there are no judgements, or both `y` and `pairs`; if no
            documents of a query are judged differently and `noise` is 0; if pairs are not of one
            query; if lengths differ or the input holds infinities.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, qid, base_scores, pairs)

    def _fit(self, X_given, y, qid, base_scores, pairs):
        X = self._check_X(X_given, reset=not self._is_warm_start)
        queries = Queries.from_qid(qid, X.shape[0])
        judgements = check_judgements(y, pairs, queries)
        if base_scores is None:
            names = getattr(self, "feature_names_in_", None)
            base_scores = scores_of_base_ranker(self.base_ranker, X_given, X, names)
        base_scores = check_base_scores(base_scores, X.shape[0])
        if self.noise == 0 and judgements.is_empty:
            raise ValueError(
                "noise=0, but no query has documents of different judgements: there is nothing to "
                "learn; judge more documents, or let noise be above 0"
            )
        self._set_fitted_with_qid(qid, X.shape[0])
        self._start_rounds()
        self.confidence_ = (
            auto_confidence(base_scores, queries)
            if self.confidence == "auto"
            else np.full(queries.n_queries, float(self.confidence))
        )
        self.noise_ = auto_noise(judgements, queries) if self.noise == "auto" else float(self.noise)
        objective = self._make_objective(base_scores, judgements, queries)
        self._boost(objective, self._make_learner(X, objective))
        return self

    def _start_rounds(self):
        super()._start_rounds()
        if not self.estimators_:
            # A warm start continues with the method of the first rounds.
            self._response_method = self.response_method

    def _make_objective(self, base_scores, judgements, queries):
        base_loss = BaseRankerLoss(base_scores, self.confidence_, queries)
        judgement_loss = JudgementLoss(judgements, self.noise_, queries)
        if self.combination == "product":
            return ProductObjective(base_loss, judgement_loss, queries)
        return SumObjective(base_loss, judgement_loss, queries, self.balance)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG of the judged documents, over queries with a relevant one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance, 0 or more; documents of relevance NaN are left out.
        qid : array-like of shape (n_samples,), default=None
            Query of each document. None: all documents are of one query, if that was so in `fit`;
            from 500 documents on this warns, as `qid` has probably been forgotten.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. The weight of a query is the mean of those of its samples.

        Returns
        -------
        float
            From 0 to 1; see :func:`sklrank.metrics.ndcg_score` for other conventions.

        Raises
        ------
        ValueError
            If `qid` is None although the ranker was fitted with queries; if nothing is judged, or
            lengths differ.
        """
        scores = self._scores_by_query(X, qid)
        grades = check_relevance(y, len(scores), judgements=True)
        check_qid(qid, len(scores))
        check_consistent_length(scores, sample_weight)
        judged = np.flatnonzero(~np.isnan(grades))
        qid, weights = (
            values if values is None else _safe_indexing(values, judged)
            for values in (qid, sample_weight)
        )
        return ndcg_score(grades[judged], scores[judged], qid=qid, sample_weight=weights)


# -- The scores of the base ranker.


def scores_of_base_ranker(ranker, X_given, X, names):
    """Return a feature of the checked `X`, or the scores of an estimator for `X_given`."""
    if ranker is None:
        raise ValueError(
            "base_ranker=None and base_scores=None: there is no ranking to refine; name a feature "
            "of X or a fitted estimator as base_ranker, or pass the scores of the samples, "
            "fit(X, y, base_scores=...)"
        )
    if isinstance(ranker, (bool, np.bool_)):
        raise ValueError(
            f"base_ranker={ranker} is a truth value: name a feature of X, or a fitted estimator"
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
    """Return the values of a feature, given by its index or its name."""
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


def check_base_scores(scores, n_samples):
    """Return the scores of the base ranker as float64 of shape (n_samples,)."""
    scores = as_numbers(scores, "base_scores")
    scores = check_array(scores, ensure_2d=False, input_name="base_scores")
    if scores.shape != (n_samples,):
        raise ValueError(
            f"the base ranker must give one score for each of the {n_samples} samples of X, got an "
            f"array of shape {scores.shape}"
        )
    return scores


def auto_confidence(scores, queries):
    """Return 1 divided by the standard deviation of the top scores of each query."""
    best_first = scores[np.lexsort((-scores, queries.codes))]
    deviations = np.array(
        [
            standard_deviation(best_first[first : min(first + N_TOP_DOCUMENTS, last)])
            for first, last in zip(queries.starts[:-1], queries.starts[1:])
        ]
    )
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / deviations


def standard_deviation(values):
    """Return the standard deviation, also of values whose squares overflow or underflow."""
    unit = np.abs(values).max() or 1.0
    return (values / unit).std() * unit


# -- The judgements.


def check_judgements(y, pairs, queries):
    """Return the loss of the judgements `y` or `pairs`."""
    if y is None and pairs is None:
        raise ValueError(
            "RankingRefiner requires y to be passed, but the target y is None; pass judgements, "
            "as y or as pairs"
        )
    if pairs is None:
        return GradedPairLoss(check_relevance(y, len(queries.codes), judgements=True), queries)
    if y is not None:
        raise ValueError(
            "y and pairs are both given as judgements; pass one of them, the other None"
        )
    return ExplicitPairLoss(check_pairs(pairs, queries))


def check_pairs(pairs, queries):
    """Return distinct pairs of samples of the same query, `(n_pairs, 2)` of intp."""
    try:
        pairs = np.asarray(pairs)
    except ValueError as error:
        raise ValueError(f"pairs must hold two indices of samples in each row: {error}") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise ValueError(
            "pairs must hold two indices of samples in each row, the better document first, as "
            f"integers of shape (n_pairs, 2); got {pairs.dtype} of shape {pairs.shape}"
        )
    n_samples = len(queries.codes)
    outside = (pairs < 0) | (pairs >= n_samples)
    if outside.any():
        raise ValueError(
            f"pairs must hold indices of samples, from 0 to {n_samples - 1}; got "
            f"{pairs[outside][0]}"
        )
    first, second = queries.codes[pairs].T
    if (first != second).any():
        bad = pairs[first != second][0].tolist()
        raise ValueError(
            f"pairs must be of documents of one query, but the samples {bad} have different qid; "
            "leave such pairs out"
        )
    if (pairs[:, 0] == pairs[:, 1]).any():
        sample = pairs[pairs[:, 0] == pairs[:, 1]][0, 0]
        raise ValueError(f"pairs must be of two documents; got the sample {sample} twice")
    return np.unique(pairs, axis=0).astype(np.intp)


def auto_noise(judgements, queries):
    """Return eta with which the judged pairs make up half of the sum of T; 1 without any."""
    exp_zero = np.ones((2, len(queries.codes)))
    n_judged, _ = judgements.loss_and_negative_gradient(*exp_zero)
    n_all, _ = AllPairLoss(queries).loss_and_negative_gradient(*exp_zero)
    return float(2 * n_judged / (2 * n_judged + n_all)) if n_judged else 1.0
