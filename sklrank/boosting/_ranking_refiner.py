"""Ranking refinement: document ranking by boosting with a base ranker and few judgements."""

from __future__ import annotations

from itertools import islice
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import check_consistent_length

from sklrank._progress import print_progress
from sklrank._queries import Queries, check_qid
from sklrank._relevance import check_relevance
from sklrank._sklearn import HasMethods, Interval, StrOptions, _fit_context, _safe_indexing
from sklrank._validation import unchanged_on_error
from sklrank.boosting._base_scores import KnownScores, check_base_scores, scores_of_base_ranker
from sklrank.boosting._document_ranker import DocumentRanker
from sklrank.boosting._judgements import check_judgements
from sklrank.boosting._refinement_by_losses import auto_confidence, auto_noise, make_objective
from sklrank.boosting._refinement_by_residuals import CorrectedRanking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

__all__ = ["RankingRefiner"]

# With a larger balance, the judgements would have no effect.
MAX_BALANCE = 1e100


class RankingRefiner(DocumentRanker):
    r"""Ranking refiner: document ranker that improves a base ranking with few judgements.

    A base ranker, such as a retrieval function or a collaborative filter, gives a score :math:`g_i`
    to each document i. A user judges a few of the documents. Both the base scores and the
    judgements have errors.

    By default (``combination="residual"``), the learned scores are the base scores plus a
    correction,

    .. math:: F_i = \lambda g_i + \sum_k p_k f_k(x_i).

    Each :math:`f_k` is a function of the features that is fitted to the part of the judgements that
    the base scores do not explain: :math:`f_1` is linear, and :math:`f_2` is a sum of Gaussians.
    The weight :math:`p_k` is the probability that the correction k is needed, according to how well
    it predicts each judgement from the others. If no correction predicts them better than the base
    scores alone, the ranking of the base ranker hardly changes. There is nothing to tune.

    With a classifier as `estimator`, or with `combination` "product" or "sum", this class
    implements chapter 4 of [1]_. The learned scores :math:`F` have a loss for each of the two
    sources,

    .. math:: err_w = \sum_{i,j} W_{ij} e^{F_j - F_i}, \quad
              err_t = \sum_{i,j} T_{ij} e^{F_j - F_i}, \quad
              W_{ij} = \frac{e^{\lambda g_i}}{e^{\lambda g_i} + e^{\lambda g_j}},

    where :math:`T_{ij}` is :math:`1 - \eta/2` if document i was judged to be better than document
    j, and :math:`\eta/2` otherwise (Equations 4.1 to 4.7). The parameters :math:`\lambda` and
    :math:`\eta` are `confidence` and `noise`. Boosting decreases the product of the two losses
    (MRR, Equation 4.10), which does not depend on their scale, or their weighted sum (LRR, Equation
    4.9). In each round, every document has a weight and a label, whether it was judged or not. The
    label is 1 if the score of the document should increase, else 0. A classifier is fitted to these
    labels and weights (Algorithm 6). The objective never increases. The scores :math:`F` are 0
    before the first round. Hence the order of the base ranker is learned as well, and the base
    ranker is needed in `fit` only. With few judgements, the result often ranks worse than the base
    ranker.

    With several queries, one function is learned for all of them. The dissertation fits one model
    to each query. Use one refiner for each query if the judgements of one query carry no
    information about another.

    Parameters
    ----------
    base_ranker : int, str, fitted estimator or None, default=None
        Ranker whose scores are refined; documents with higher scores are ranked earlier. It is the
        index or the name of a feature of `X`, or a fitted estimator, whose `decision_function`
        computes the scores, or `predict` if it has no `decision_function`. The estimator is not
        fitted again. If the refiner is cloned, as in a grid search, wrap the estimator in
        :class:`~sklearn.frozen.FrozenEstimator`. If None, `base_scores` must be passed to `fit`.
    estimator : classifier, default=None
        Weak learner, which is cloned for each round of "product" and "sum". If None, a compiled
        :class:`~sklrank.tree.StumpClassifier` is used there. A stump with ``criterion="gain"``
        maximizes the criterion of the dissertation (Equation 4.13). Larger trees are fast, too, as
        :class:`~sklrank.tree.HistogramTreeClassifier`.
    n_estimators : int, default=100
        Maximum number of rounds; for "residual", of corrections, of which there are at most two.
    combination : {"auto", "residual", "product", "sum"}, default="auto"
        How base scores and judgements are combined: by corrections of the base scores ("residual"),
        or by boosting, where the objective is :math:`err_w \times err_t` ("product") or
        :math:`\gamma\, err_w + err_t` ("sum"). If "auto", it is "residual" if `estimator` is None,
        else "product". With "residual", only `confidence`, `random_state` and `verbose` are used of
        the parameters that follow.
    balance : float, default=1.0
        Weight :math:`\gamma` of the loss of the base ranker, from 0 to 1e100. It is used only if
        `combination` is "sum".
    confidence : {"auto"} or float, default="auto"
        Confidence :math:`\lambda \geq 0` in the base ranker (Equation 4.2). With 0, the base ranker
        is ignored; with ``np.inf``, only the order of its scores is used, not their differences,
        and "residual" does not correct it. If "auto", "residual" estimates one confidence for all
        queries. For "product" and "sum", the confidence for each query is 1 divided by the standard
        deviation of the ten highest base scores of the query, or infinite if these scores are
        equal.
    noise : {"auto"} or float, default=0.5
        Noise :math:`\eta` of the judgements, from 0 (all of them are right) to 1 (they carry no
        information): a judged pair is in the wrong order with probability :math:`\eta / 2`. With
        larger values, the learned scores are closer together. If "auto", the value is chosen such
        that the judged pairs contribute half of the sum of :math:`T`, even if few documents are
        judged; see the notes.
    learning_rate : float, default=1.0
        Learning rate that multiplies each step. With values up to 2, the objective does not
        increase; with 1, each step minimizes a bound on the objective.
    response_method : {"predict", "predict_proba"}, default="predict"
        Method of the weak learner whose output, multiplied by the step, is added to the scores: the
        predicted class, 0 or 1, or the probability of class 1. The probability is an extension of
        the dissertation (see the notes). It requires an `estimator` with `predict_proba`, such as
        the default stump or ``DecisionTreeClassifier(max_depth=2)``.
    weighting : {"auto", "sample_weight", "resampling"}, default="auto"
        How the weights are passed to the weak learner: as `sample_weight`, or by fitting it to
        documents that are drawn in proportion to them ("resampling"), as in the experiments of the
        dissertation. If "auto", `sample_weight` is used if the `fit` method of the weak learner
        accepts it, otherwise resampling.
    max_samples : int, float or None, default=None
        Number of documents drawn in each round, from all queries together, if the weak learner is
        fitted by resampling: an int, a fraction of all documents, or None for one fifth of them,
        but at least 20. In each round, documents are drawn up to ten times, until the weak learner
        is better than chance.
    warm_start : bool, default=False
        If True, `fit` keeps the rounds of the last call and adds rounds up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of documents and the randomness of the weak learners. For
        "residual", it has an effect only if there are more than 500 judgements.
    verbose : int, default=0
        Verbosity. If 1, print the first nine rounds and every tenth one; if 2, print all rounds.

    Attributes
    ----------
    estimators_ : list of objects
        Weak learners, which predict 1 for documents whose scores should increase, else 0; for
        "residual", the corrections. The list is empty if there is nothing to correct, because no
        document was judged to be better than another or all features are constant.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Step of each weak learner, by which its predictions are multiplied; for "residual", the
        probability of each correction. The remaining probability is that of no correction.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Objective (Equation 4.10 or 4.9) before the first round and after each round; for
        "residual", the sum of the squared residuals of the judged documents.
    confidence_ : ndarray of shape (n_queries,)
        Confidence :math:`\lambda` for each query, in the order of the sorted query ids.
    noise_ : float
        Noise :math:`\eta` of the judgements that was used.
    stop_reason_ : str
        Reason why boosting stopped.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importance of each feature over the weak learners, weighted by the steps. Defined only
        if the weak learners have `feature_importances_`, which corrections do not.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    NDCGBoost : Document ranker for NDCG that learns from judgements alone.
    RankBoost : Document ranker for pairs that learns from judgements alone.
    sklrank.datasets.make_recommender : Generate ratings and base scores.

    Notes
    -----
    Let :math:`y_i` be the number of documents that are worse than document i according to the
    judgements, minus the number of those that are better, standardized for each query. The
    corrections are the posterior means of the Gaussian process models

    .. math:: y_i = c_q + \rho g_i + f(x_i) + \varepsilon_i,

    with standardized base scores :math:`g_i` and a constant :math:`c_q` for each query. The
    covariance of :math:`f` is a multiple of a linear or a Gaussian kernel of the standardized
    features. The correlation :math:`\rho`, the kernel, the multiple, and whether there is a
    correction at all are averaged in proportion to the marginal likelihood of the judgements [2]_.
    Half of the prior probability is that of no correction. The standardization uses all documents,
    judged or not.

    With "residual", `predict` needs the base scores of the documents that it ranks: from
    `base_ranker`, or as an argument. If only `fit` was given base scores, they are known for the
    documents of the training data.

    With "product" and "sum", the scores :math:`F` are a function of the features alone. They can
    reproduce the ranking of the base ranker only as far as the features determine it. Therefore,
    include the score of the base ranker among the features. The constant :math:`\eta/2` is added
    for all pairs of a query, judged or not. If only few of many documents are judged,
    :math:`\eta = 0.5`, the value of the dissertation, outweighs the judgements, and the ranking of
    the base ranker changes little. Large steps strengthen this effect. In the experiments of
    ``examples/ranking_refinement.py``, "product" ranks better with
    ``DecisionTreeClassifier(max_depth=2)`` and ``response_method="predict_proba",
    learning_rate=0.2, noise="auto", weighting="resampling", max_samples=10`` than with the default
    parameters.

    The option ``response_method="predict_proba"`` is an extension of the dissertation. The weak
    learner then raises document i with the predicted probability :math:`h_i \in [0, 1]`,
    independently of the other documents. The weights of the pairs that are ranked correctly and
    incorrectly, from which the step is computed, are replaced by their expected values
    :math:`\sum \gamma_{ij} h_i (1 - h_j)` and :math:`\sum \gamma_{ij} (1 - h_i) h_j`. If all
    :math:`h_i` are 0 or 1, these are the weights of Algorithm 6. The bound holds because the
    exponential is convex, so that the objective never increases.

    In a hyperparameter search, do not set `scoring`. The default, :meth:`score`, considers judged
    documents only, while :data:`~sklrank.metrics.ndcg_scorer` raises an error for NaN.

    For a query with n documents, the time of a round of "product" and "sum" is :math:`O(n^2)` for
    the pairs of the base ranker and :math:`O(n)` for the judgements. The pairs are not stored.

    References
    ----------
    .. [1] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, chapter 4.
    .. [2] C. E. Rasmussen and C. K. I. Williams, "Gaussian processes for machine learning", MIT
       Press, 2006, chapters 2 and 5.

    Examples
    --------
    A user rated 20 items. The base scores are computed from the ratings of other users.

    >>> import numpy as np
    >>> from sklrank.boosting import RankingRefiner
    >>> from sklrank.datasets import make_recommender
    >>> from sklrank.metrics import ndcg_score
    >>> X, ratings, relevance, _, base_scores = make_recommender(1, n_rated=20, random_state=3)
    >>> refiner = RankingRefiner().fit(X, ratings, base_scores=base_scores)
    >>> scores = refiner.predict(X, base_scores=base_scores)
    >>> rest = np.isnan(ratings)
    >>> print(f"base ranker: {ndcg_score(relevance[rest], base_scores[rest], k=10):.2f}")
    base ranker: 0.43
    >>> print(f"refined: {ndcg_score(relevance[rest], scores[rest], k=10):.2f}")
    refined: 0.54
    """

    __metadata_request__fit = {"qid": True, "base_scores": True}
    __metadata_request__predict = {"base_scores": True}
    __metadata_request__score = {"qid": True, "base_scores": True}

    _parameter_constraints = {
        **DocumentRanker._parameter_constraints,
        "base_ranker": [
            Interval(Integral, 0, None, closed="left"),
            str,
            HasMethods("decision_function"),
            HasMethods("predict"),
            None,
        ],
        "combination": [StrOptions({"auto", "residual", "product", "sum"})],
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
        combination: Literal["auto", "residual", "product", "sum"] = "auto",
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
            Documents, both judged and not judged. A sparse matrix is accepted if the weak learner
            accepts it.
        y : array-like of shape (n_samples,), default=None
            Judgements: the graded relevance of each document, or NaN if it is not judged. Only the
            order of the grades is used; -1 is a valid grade.
        qid : array-like of shape (n_samples,), default=None
            Query id of each document, in any order. If None, all documents belong to one query; for
            500 or more documents a warning is given, as `qid` has probably been forgotten. If all
            documents belong to one query, pass ``qid=np.zeros(len(X))`` to avoid the warning.
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker. If given, they are used instead of `base_ranker`.
        pairs : array-like of int of shape (n_pairs, 2), default=None
            Judgements, which are given instead of `y`. Each row contains the indices of two samples
            of the same query, the better document first.

        Returns
        -------
        RankingRefiner
            The fitted estimator.

        Raises
        ------
        ValueError
            If neither `base_ranker` nor `base_scores` is given; if both or neither of `y` and
            `pairs` are given; if `noise` is 0 and no query has documents with different judgements;
            if a pair contains documents of different queries; or if the lengths of the arguments
            differ or the input contains infinities.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, qid, base_scores, pairs)

    def _fit(self, X_given, y, qid, base_scores, pairs):
        X = self._check_training_X(X_given)
        queries = Queries.from_qid(qid, X.shape[0])
        judgements = check_judgements(y, pairs, queries)
        ranker = self.base_ranker
        if base_scores is None:
            base_scores = self._scores_of_base_ranker(ranker, X_given, X)
        else:
            ranker = None
        base_scores = check_base_scores(base_scores, X.shape[0])
        by_residuals = self._corrects_residuals()
        if self.noise == 0 and judgements.is_empty:
            raise ValueError(
                "noise=0, but no query has documents of different judgements: there is nothing to "
                "learn; judge more documents, or let noise be above 0"
            )
        if by_residuals and self.estimator is not None:
            raise ValueError(
                f"combination='residual' fits corrections of its own, got the estimator "
                f"{self.estimator!r}; use combination='product' or 'sum', or estimator=None"
            )
        self._set_fitted_with_qid(qid, X.shape[0])
        self._start_rounds()
        self._base = None
        self.noise_ = auto_noise(judgements, queries) if self.noise == "auto" else float(self.noise)
        if by_residuals:
            self._base = KnownScores(X, base_scores) if ranker is None else ranker
            self._fit_corrections(X, base_scores, judgements, queries)
            return self
        self.confidence_ = (
            auto_confidence(base_scores, queries)
            if self.confidence == "auto"
            else np.full(queries.n_queries, float(self.confidence))
        )
        objective = make_objective(
            self.combination,
            base_scores,
            judgements,
            queries,
            confidence=self.confidence_,
            noise=self.noise_,
            balance=self.balance,
        )
        self._boost(objective, self._make_learner(X, objective))
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Tags are computed before parameters are checked.
        tags.input_tags.sparse = tags.input_tags.sparse or self._corrects_residuals()
        return tags

    def _corrects_residuals(self):
        """Return True if the scores are base scores plus a correction (combination="residual")."""
        if self.combination == "auto":
            return self.estimator is None
        return self.combination == "residual"

    def _is_warm_start(self):
        # Corrections are not fitted in rounds.
        by_rounds = not self._corrects_residuals() and getattr(self, "_base", None) is None
        return by_rounds and super()._is_warm_start()

    def _start_rounds(self):
        super()._start_rounds()
        if not self.estimators_:
            # A warm start continues with the method of the first rounds.
            self._response_method = self.response_method

    def _scores_of_base_ranker(self, ranker, X_given, X):
        names = getattr(self, "feature_names_in_", None)
        scores = scores_of_base_ranker(ranker, X_given, X, names)
        return check_base_scores(scores, X.shape[0], "the scores of base_ranker")

    def _fit_corrections(self, X, base_scores, judgements, queries):
        """Fit corrections to the part of the judgements that the base scores do not explain."""
        fitted = CorrectedRanking.fit(
            X,
            base_scores,
            judgements,
            queries,
            confidence=None if self.confidence == "auto" else self.confidence,
            random_state=self._random_state,
        )
        self.confidence_ = np.full(queries.n_queries, fitted.confidence)
        corrections = fitted.corrections[: self.n_estimators]
        models, probabilities = [], []
        residuals = fitted.residuals
        losses = [residuals @ residuals]

        def so_far():
            return {
                "estimators_": list(models),
                "estimator_weights_": np.array(probabilities),
                "loss_curve_": np.array(losses),
            }

        for i in self._track(range(len(corrections)), "round", state=so_far):
            correction, probability = corrections[i]
            residuals = fitted.residuals_after(X, correction, probability, residuals)
            models.append(correction)
            probabilities.append(probability)
            losses.append(residuals @ residuals)
        vars(self).update(so_far())
        if not corrections:
            self.stop_reason_ = "there is nothing to correct"
        elif len(models) < len(corrections):
            self.stop_reason_ = "a callback requested to stop"
        else:
            self.stop_reason_ = "all corrections were fitted"
        if self.verbose:
            figures = {
                "judgements": len(fitted.judged),
                "probability of corrections": float(sum(probabilities)),
            }
            print_progress(type(self).__name__, self.stop_reason_, figures)

    def predict(self, X: ArrayLike, base_scores: ArrayLike | None = None) -> np.ndarray:
        """Score documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker. If None, they are those of `base_ranker`. If `fit` was given
            `base_scores` instead, they are known for the documents of the training data only. With
            `combination` "product" or "sum", they are not used.

        Returns
        -------
        ndarray of float64 of shape (n_samples,)
            Scores; documents with higher scores are ranked earlier. The score of a document does
            not depend on the other documents.

        Raises
        ------
        ValueError
            If the base scores are needed, but neither given nor known.
        """
        checked = self._check_X(X)
        *_, scores = self._stages(X, checked, base_scores)
        return scores

    def staged_predict(
        self, X: ArrayLike, base_scores: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Score documents after each round of boosting, or after each correction.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker, as in :meth:`predict`.

        Returns
        -------
        iterator of ndarray of float64 of shape (n_samples,)
            Scores after the first round, after the second round, and so on.
        """
        stages = self._stages(X, self._check_X(X), base_scores)
        return (scores.copy() for scores in islice(stages, 1, None))

    def _stages(self, X_given, X, base_scores):
        """Return an iterator over the scores at the start and after each round or correction."""
        start = None
        if self._base is not None:
            if base_scores is None:
                base_scores = (
                    self._base(X)
                    if isinstance(self._base, KnownScores)
                    else self._scores_of_base_ranker(self._base, X_given, X)
                )
            start = self.confidence_[0] * check_base_scores(base_scores, X.shape[0])
        return self._staged_scores(X, start)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        base_scores: ArrayLike | None = None,
    ) -> float:
        """Return the mean NDCG of the judged documents over queries with a relevant document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents.
        y : array-like of shape (n_samples,)
            Judgements: the graded relevance of each document, or NaN if it is not judged. Documents
            that are not judged are ignored.
        qid : array-like of shape (n_samples,), default=None
            Query id of each document. If None, all documents belong to one query; this is allowed
            only if `qid` was None in `fit`. For 500 or more documents a warning is given, as `qid`
            has probably been forgotten.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples. The weight of a query is the mean of the weights of its
            judged samples.
        base_scores : array-like of shape (n_samples,), default=None
            Scores of the base ranker, as in :meth:`predict`.

        Returns
        -------
        float
            Mean NDCG, from 0 to 1. The gain is exponential; if there are grades that are negative,
            or so large that it would overflow (about 1000), the gain of a document is the number of
            distinct lower grades in `y`. See :func:`sklrank.metrics.ndcg_score` for other
            conventions.

        Raises
        ------
        ValueError
            If `qid` is None although it was given in `fit`; if no document is judged, or all of
            them have the gain 0; or if the lengths of the arguments differ.
        """
        scores = self._scores_by_query(X, qid, base_scores=base_scores)
        grades = check_relevance(y, len(scores), judgements=True)
        check_qid(qid, len(scores))
        check_consistent_length(scores, sample_weight)
        judged = np.flatnonzero(~np.isnan(grades))
        qid, weights = (
            values if values is None else _safe_indexing(values, judged)
            for values in (qid, sample_weight)
        )
        return self._mean_ndcg(grades[judged], scores[judged], qid, weights)
