"""RankingRefiner: a given ranking, made better by few judgements."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import check_consistent_length

from sklrank._queries import Queries, check_qid
from sklrank._relevance import check_relevance
from sklrank._sklearn import (
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
    _safe_indexing,
)
from sklrank._validation import unchanged_on_error
from sklrank.boosting._document_ranker import DocumentRanker
from sklrank.boosting._refinement_errors import BaseRankerLoss, JudgementLoss
from sklrank.boosting._refinement_inputs import (
    check_base_scores,
    check_judgements,
    confidence_by_spread,
    noise_by_number,
    scores_by,
)
from sklrank.boosting._refinement_objectives import ProductObjective, SumObjective
from sklrank.metrics import ndcg_score

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["RankingRefiner"]

# Long before that the judgements count for nothing.
MAX_BALANCE = 1e100


class RankingRefiner(DocumentRanker):
    r"""Ranking refinement: learn from a base ranker and from few judgements to rank better.

    Chapter 4 of [1]_. A base ranker (a retrieval function, other users' taste) scores all
    documents, :math:`g_i`; a user judges a few. Neither is right everywhere. Both are errors of the
    scores :math:`F` that are learnt,

    .. math:: err_w = \sum_{i,j} W_{ij} e^{F_j - F_i}, \quad
              err_t = \sum_{i,j} T_{ij} e^{F_j - F_i}, \quad
              W_{ij} = \frac{e^{\lambda g_i}}{e^{\lambda g_i} + e^{\lambda g_j}},

    with :math:`T_{ij} = 1 - \eta/2` if i was judged to be better than j, else :math:`\eta/2`
    (Equations 4.1 to 4.7). Boosting lowers their product (MRR, Equation 4.10), for which the two
    need no weight, or their weighted sum (LRR, Equation 4.9): each round tells every document,
    judged or not, whether it should rise and how much that matters, and a classifier learns it
    (Algorithm 6). The objective never rises.

    :math:`F` starts at 0: it learns the base ranker's order, too, and needs the base ranker in
    `fit` only. With several queries one :math:`F` is learnt for all, and an error is the sum over
    pairs of the same query, of all queries. The dissertation fits each query by itself: use one
    refiner per query where judgements of one tell nothing about another.

    Parameters
    ----------
    base_ranker : int, str, fitted estimator or None, default=None
        Whose scores (higher = ranked earlier) are refined: a column of `X` by its number or its
        name, or an estimator whose ``decision_function``, or else ``predict``, scores rows. It is
        used as it is; where the refiner is cloned, as in a grid search, wrap it in
        :class:`~sklearn.frozen.FrozenEstimator`. None: `fit` must be given `base_scores`.
    estimator : classifier, default=None
        The weak learner, cloned for each round. None: a compiled
        :class:`~sklrank.tree.StumpClassifier`; with ``criterion="gain"`` it maximises what the
        dissertation prints (Equation 4.13).
    n_estimators : int, default=100
        Number of rounds at most.
    combination : {"product", "sum"}, default="product"
        What is minimised: :math:`err_w \times err_t`, or :math:`\gamma\, err_w + err_t`.
    balance : float, default=1.0
        Weight :math:`\gamma` of the base ranker in the sum, from 0 to 1e100; the product has none.
    confidence : {"auto"} or float, default="auto"
        How sure the base ranker is, :math:`\lambda \geq 0`. 0 ignores it; with ``np.inf`` only its
        order counts (Equation 4.2). "auto": for each query, one by the standard deviation of the
        scores of its first ten documents; infinite if these are equal.
    noise : {"auto"} or float, default=0.5
        Error rate of the judgements :math:`\eta`, from 0 to 1. More of it keeps the scores closer
        together. "auto": the one by which the pairs judged make half of the sum of :math:`T`,
        however few of the documents are judged; see the notes.
    learning_rate : float, default=1.0
        Each step is multiplied by it. Up to 2 the objective never rises; 1 lowers its bound most.
    response : {"predict", "predict_proba"}, default="predict"
        What the scores are moved along: whether a document rises, or the probability of it, by the
        weak learner. The latter is an extension, see the notes, and needs an `estimator` with
        `predict_proba`, as the default stump has, or ``DecisionTreeClassifier(max_depth=2)``.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        Whether the weak learner is given weights, or documents drawn in proportion to them, as in
        the dissertation's experiments. "auto": weights where its `fit` takes them.
    max_samples : int, float or None, default=None
        How many documents are drawn for a round, of all queries together: a number, or a share of
        all; None: a fifth, at least 20. They are drawn up to ten times a round, until the weak
        learner is better than chance.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, and the seeds of the weak learners.
    verbose : int, default=0
        1: some rounds are reported, 2: all.

    Attributes
    ----------
    estimators_ : list of classifiers
        The weak learners, which predict 1 for documents that rise, else 0.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each.
    objective_ : ndarray of shape (n_rounds + 1,)
        Equation 4.10, or 4.9, before the first round and after each.
    confidence_ : ndarray of shape (n_queries,)
        :math:`\lambda` of each query, in the order of the sorted ids.
    noise_ : float
        :math:`\eta`.
    stop_reason_ : str
        Why there are no more rounds.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, where they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had names.

    See Also
    --------
    NDCGBoost : Learns from judgements alone, for NDCG.
    RankBoost : Learns from judgements alone, for pairs.
    sklrank.datasets.make_recommender : Ratings to try it on.

    Notes
    -----
    :math:`F` is learnt from the features alone: it can follow the base ranker as far as these tell
    its order. Let its score be one of them.

    The constant :math:`\eta/2` stands for all pairs of a query, judged or not. Where few of many
    documents are judged, the default of the dissertation, 0.5, outweighs the judgements, and the
    base ranker is nearly repeated; steps as long as the bound allows add to that. One tree of few
    documents drawn varies, and the sum of many ranks better than trees of all documents. What
    ranked better in the experiments of ``examples/ranking_refinement.py`` is
    ``DecisionTreeClassifier(max_depth=2)`` with ``response="predict_proba", learning_rate=0.2,
    noise="auto", weighting="resampling", max_samples=10``; where items are judged at random, rather
    than from the top of a ranking, trees of depth 1 rank better still.

    With ``response="predict_proba"``, which is ours and not the dissertation's, a document rises by
    its probability :math:`h_i \in [0, 1]`. In the step the pairs set right and wrong then count by
    their expected weights if each document rose by itself with that chance,
    :math:`\sum \gamma_{ij} h_i (1 - h_j)` and :math:`\sum \gamma_{ij} (1 - h_i) h_j`, which are
    those of Algorithm 6 where h is 0 or 1. As the exponential is convex, the bound holds: the
    objective never rises.

    In a search leave out `scoring`: :meth:`score` looks at judged documents only, where
    :data:`~sklrank.metrics.ndcg_scorer` refuses NaN.

    With n documents of a query a round costs :math:`O(n^2)` for the base ranker's pairs, none of
    which is stored, and :math:`O(n)` for the judgements.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 4.

    Examples
    --------
    A user rated 20 items. The tastes of other users make the base ranker, whose scores become the
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
    ...     response="predict_proba", weighting="resampling", max_samples=10,
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
        "response": [StrOptions({"predict", "predict_proba"})],
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
        response: Literal["predict", "predict_proba"] = "predict",
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
        self.response = response
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
        """Learn from the base ranker and the judgements.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents, judged ones and others. Sparse where the weak learner takes it.
        y : array-like of shape (n_samples,), default=None
            Judgements: graded relevance, NaN for documents not judged. Only the order counts, so
            that -1 is a grade like others.
        qid : array-like of shape (n_samples,), default=None
            Query of each document, in any order; None: all are of one query.
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker, in place of those of `base_ranker`.
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Judgements in place of `y`: numbers of two rows of a query, the better document first.

        Returns
        -------
        RankingRefiner
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no base ranker; if nothing is judged, or by `y` and `pairs` both; if the
            judgements order no documents and `noise` is 0; if pairs are not of a query; if lengths
            differ or the input holds infinities.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, qid, base_scores, pairs)

    def _fit(self, given_X, y, qid, base_scores, pairs):
        X = self._checked(given_X, reset=not self._is_warm_start)
        queries = Queries.from_qid(qid, X.shape[0])
        judgements = check_judgements(y, pairs, queries)
        if base_scores is None:
            names = getattr(self, "feature_names_in_", None)
            base_scores = scores_by(self.base_ranker, given_X, X, names)
        base_scores = check_base_scores(base_scores, X.shape[0])
        if self.noise == 0 and judgements.is_empty:
            raise ValueError(
                "noise=0, but no query has documents of different judgements: nothing is told; "
                "judge more, or let noise be above 0"
            )
        self._knows_queries = qid is not None
        self._begin()
        self.confidence_ = (
            confidence_by_spread(base_scores, queries)
            if self.confidence == "auto"
            else np.full(queries.n_queries, float(self.confidence))
        )
        self.noise_ = (
            noise_by_number(judgements, queries) if self.noise == "auto" else float(self.noise)
        )
        self._boost_rows(X, self._objective(base_scores, judgements, queries))
        return self

    def _begin(self):
        super()._begin()
        if not self.estimators_:
            self._response = self.response

    def _objective(self, base_scores, judgements, queries):
        base = BaseRankerLoss(base_scores, self.confidence_, queries)
        judged = JudgementLoss(judgements, self.noise_, queries)
        if self.combination == "product":
            return ProductObjective(base, judged, queries)
        return SumObjective(base, judged, queries, self.balance)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Mean NDCG of the documents that are judged, over queries with a relevant one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Relevance, 0 or more; documents of relevance NaN are left out.
        qid : array-like of shape (n_samples,), default=None
            Query of each document. None: all are of one query, if that was so in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a query weighs as much as its rows do on average.

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
        rows = np.flatnonzero(~np.isnan(grades))
        qid, weights = (
            values if values is None else _safe_indexing(values, rows)
            for values in (qid, sample_weight)
        )
        return ndcg_score(grades[rows], scores[rows], qid=qid, sample_weight=weights)
