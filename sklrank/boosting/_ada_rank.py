"""AdaRank: document ranking by boosting weak rankers with weights of queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sklrank._boosters import ROUNDING, Learner, Objective, of_boosters
from sklrank._checks import check_entries
from sklrank._estimators import Interval, StrOptions
from sklrank._typing import Self
from sklrank.boosting._base import (
    SupervisedDocumentRanker,
    explains_peer_names,
    of_document_rankers,
)
from sklrank.metrics._document_values import (
    average_precision_of_queries,
    metric_options,
    ndcg_of_queries,
)

METRICS = {"ndcg": ndcg_of_queries, "map": average_precision_of_queries}


class Rule(NamedTuple):
    """How a single feature and its step are chosen."""

    n_tried: int | None
    """Number of features that are tried, in descending order of performance; None for all."""
    fractions: tuple
    """Fractions of the step that are tried. (The full step of a second feature often gives a worse
    ranking than the first feature alone.)"""
    step_weights: Callable
    """The step weights, from the weight and the performance of each query."""


def xu_li_step_weights(query_weights, performance):
    return query_weights @ (1 + performance), query_weights @ (1 - performance)


def printed_step_weights(query_weights, performance):
    return query_weights @ performance, query_weights @ (1 - performance)


RULES = {
    "greedy": Rule(None, (1.0, 0.5, 0.25, 0.125), xu_li_step_weights),
    "xu-li": Rule(1, (1.0,), xu_li_step_weights),
    "printed": Rule(1, (1.0,), printed_step_weights),
}


class QueryObjective(Objective):
    r"""The loss of AdaRank.

    It is the mean of :math:`\exp(-E(q, F))` over queries q, which may have weights. E, the
    *performance*, is a metric of the ranking of a query. In a round, the weight of a query is the
    proportion of the loss that is due to it (Algorithm 4 of Valizadegan 2010, line 7), divided
    equally among its documents, whose labels are their relevance. Queries without a relevant
    document are ignored. No bound guarantees that a step decreases the objective.

    With `must_beat_chance`, the step of a hypothesis is 0 if its weighted mean performance is not
    above that of constant scores, which usually have a positive step. (A single feature that ranks
    worse by itself may still decrease the objective together with others.)
    """

    def __init__(self, target, metric, k, step_weights, *, must_beat_chance=False):
        y, queries = target.y, target.queries
        self._queries = queries
        options = metric_options("standard", gain="exponential")
        self._metric = METRICS[metric](queries, y, options, k)
        self._step_weights = step_weights
        self._must_beat_chance = must_beat_chance
        chance = self._metric(np.zeros(len(y)))
        self._is_counted = ~np.isnan(chance)
        if not self._is_counted.any():
            raise ValueError(
                f"y has no document whose gain differs from 0 under metric={metric!r}, its largest "
                f"grade is {y.max():g}: let the grades be 1 or more where relevant"
            )
        self._chance = chance[self._is_counted]
        if not (self.performance(y) > self._chance).any():
            warnings.warn(
                f"metric={metric!r} is the same for all rankings of each query: use grades of 0 "
                "where documents are not relevant, a smaller k, or metric='ndcg'",
                stacklevel=7,
            )
        weights = target.query_weights[self._is_counted]
        self._shares = weights / weights.sum()
        self.labels = np.unique(y, return_inverse=True)[1]

    def performance(self, scores):
        """Return the metric, from 0 to 1, of each query that has a relevant document."""
        return self._metric(scores)[self._is_counted]

    def set_scores(self, scores):
        self.scores = scores
        losses = self._shares * np.exp(-self.performance(scores))
        self.value = losses.sum()
        self.query_weights = losses / self.value if scores.any() else self._shares
        weights = np.zeros(self._queries.n_queries)
        weights[self._is_counted] = self.query_weights / self._queries.sizes[self._is_counted]
        self.weights = weights[self._queries.codes]

    def step(self, hypothesis):
        performance = self.performance(hypothesis)
        if self._must_beat_chance and not self.query_weights @ (performance - self._chance) > 0:
            return 0.0
        return self.step_by_performance(performance)

    def step_by_performance(self, performance):
        """Return the step of a hypothesis whose performance is known."""
        return self.step_size(*self._step_weights(self.query_weights, performance))

    def value_at(self, scores):
        return self._shares @ np.exp(-self.performance(scores))


class FeatureRanker(NamedTuple):
    """Weak ranker that scores documents by one feature."""

    feature: int
    factor: float
    """Factor of the feature; negative where smaller values rank earlier."""
    n_features: int

    def predict(self, X):
        """Return the feature times the factor."""
        return self.factor * X[:, self.feature]

    @property
    def feature_importances_(self):
        """Absolute value of the factor for the feature, 0 for the others."""
        importances = np.zeros(self.n_features)
        importances[self.feature] = abs(self.factor)
        return importances


class FeatureLearner(Learner):
    """Learner that selects the feature and the fraction of its step that decrease the loss most.

    The :class:`Rule` tells which are tried; boosting stops when none of them decreases it. The
    performance of each feature is computed once.
    """

    def __init__(self, X, objective, rule):
        n_features = X.shape[1]
        self.X, self.rule = X, rule
        self.rankers = [
            FeatureRanker(feature, sign, n_features)
            for feature in range(n_features)
            for sign in (1.0, -1.0)
        ]
        self.performances = np.array(
            [objective.performance(ranker.predict(X)) for ranker in self.rankers]
        )

    def fit(self, objective, random_state):
        """Return the best feature ranker and its hypothesis, times the fraction of the step."""
        # A smaller relative decrease is rounding.
        best, least = None, objective.value * (1 - ROUNDING)
        # If all scores are 0, all fractions of a feature give the same ranking.
        fractions = self.rule.fractions if objective.scores.any() else self.rule.fractions[:1]
        weighted = self.performances @ objective.query_weights
        for index in np.argsort(-weighted, kind="stable")[: self.rule.n_tried]:
            ranker = self.rankers[index]
            hypothesis = ranker.predict(self.X)
            step = objective.step_by_performance(self.performances[index])
            for fraction in fractions:
                value = objective.value_at(objective.scores + fraction * step * hypothesis)
                if value < least:
                    least = value
                    best = ranker._replace(factor=fraction * ranker.factor), fraction * hypothesis
        return best


@of_boosters
@of_document_rankers
class AdaRank(SupervisedDocumentRanker):
    r"""AdaRank document ranker: boosting of weak rankers for a ranking metric.

    The loss is the mean of :math:`\exp(-E(q, F))` over queries, where :math:`E(q, F)` is a metric
    from 0 to 1 of the ranking of query q by the scores F. The weight :math:`p_q` of a query is the
    proportion of the loss that is due to it, at first 1/n ([1]_; Algorithm 4 of [2]_). In each
    round, a weak ranker f that performs well under these weights is added with the step

    .. math:: \alpha = \frac{1}{2} \ln \frac{\sum_q p_q (1 + E(q, f))}{\sum_q p_q (1 - E(q, f))}.

    Weak rankers are single features, or classifiers that predict relevance, among whose documents
    the weight of a query is divided equally.

    Parameters
    ----------
    estimator : classifier, default=None
        Weak ranker: a classifier of the relevance, of few distinct values, whose predicted classes
        are scores. If None, the weak rankers are single features, in either order.
    n_estimators : int, default=100
        Maximum number of rounds.
    metric : {"ndcg", "map"}, default="ndcg"
        Metric E: NDCG or average precision, expected over the orders of tied documents.
    k : int or None, default=None
        Number of top-ranked documents of each query in the metric, and in the NDCG that `score`
        returns. If None, all documents are included.
    rule : {"greedy", "xu-li", "printed"}, default="greedy"
        Rule that selects a feature and its step; see the notes. For classifiers, "greedy" is the
        same as "xu-li".
    weighting : {"auto", "resampling"}, default="resampling"
        {weighting}
    {random_state}

    Attributes
    ----------
    estimators_ : list
        Weak rankers: classifiers, or named tuples with the fields `feature` and `factor`.
    {rounds}

    See Also
    --------
    NDCGBoost : Document ranker that weights documents; single features need not rank well.

    Notes
    -----
    Features are added without scaling. Those of LETOR are scaled to [0, 1] within each query.

    =========  ====================================================================================
    rule       Feature and step
    =========  ====================================================================================
    "greedy"   Of all features in both orders, with the step and with three fractions of it, those
               that decrease the loss most. Boosting stops if none does.
    "xu-li"    The feature of the best metric under the weights of the queries, with the step [1]_.
    "printed"  The same feature, with the step :math:`\frac{1}{2} \ln(\eta / (1 - \eta))`,
               :math:`\eta = \sum_q p_q E(q, f)`, as printed in Algorithm 4 of [2]_.
    =========  ====================================================================================

    With the last two, boosting stops after few rounds: if a feature is added twice, no ranking and
    so no weight changes, and the same feature would be selected again.

    References
    ----------
    .. [1] Xu and Li, "AdaRank: a boosting algorithm for information retrieval", SIGIR 2007.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, section 3.3.2.

    Examples
    --------
    {example}
    >>> from sklrank.boosting import AdaRank
    >>> ranker = AdaRank().fit(X, y, qid=qid)
    >>> ranker.score(X, y, qid=qid)
    1.0
    >>> ranker.stop_reason_
    'no weak learner lowers the objective'
    """

    _parameter_constraints = {
        **SupervisedDocumentRanker._parameter_constraints,
        "metric": [StrOptions(set(METRICS))],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions(set(RULES))],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        metric: Literal["ndcg", "map"] = "ndcg",
        k: int | None = None,
        rule: Literal["greedy", "xu-li", "printed"] = "greedy",
        weighting: Literal["auto", "resampling"] = "resampling",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.metric = metric
        self.k = k
        self.rule = rule
        self.weighting = weighting
        self.random_state = random_state

    @explains_peer_names
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        query_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the ranker.

        Documents have no weights: the loss is a function of the rankings of whole queries.

        {documents}
        {query_weight}

        {returns_self}
        """
        return super().fit(X, y, qid, query_weight=query_weight)

    def _make_objective(self, target):
        return QueryObjective(
            target,
            self.metric,
            self.k,
            RULES[self.rule].step_weights,
            must_beat_chance=self.estimator is not None,
        )

    def _weak_learner(self):
        return self.estimator

    def _check_X(self, X, *, reset=False):
        X = super()._check_X(X, reset=reset)
        if self.estimator is not None:
            return X
        # Sums of features are the scores, of which none may overflow.
        check_entries(X)
        return X.toarray() if sparse.issparse(X) else X

    @property
    def _accepts_sparse(self):
        return self.estimator is None or super()._accepts_sparse

    def _make_learner(self, X, objective):
        if self.estimator is None:
            return FeatureLearner(X, objective, RULES[self.rule])
        return super()._make_learner(X, objective)

    def _n_labels(self, objective):
        return objective.labels.max() + 1
