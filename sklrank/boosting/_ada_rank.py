"""AdaRank: document ranking by boosting weak rankers with weights of queries."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from sklrank._queries import Queries
from sklrank._sklearn import Interval, StrOptions
from sklrank.boosting._document_ranker import SupervisedDocumentRanker
from sklrank.boosting._objectives import METRICS, STEP_RULES, QueryObjective
from sklrank.boosting._single_features import SEARCHES, FeatureLearner

if TYPE_CHECKING:
    import numpy as np

__all__ = ["AdaRank"]


class AdaRank(SupervisedDocumentRanker):
    r"""AdaRank document ranker: boosting of weak rankers for a ranking metric.

    The loss is the mean of :math:`\exp(-E(q, F))` over queries, where :math:`E(q, F)` is a metric
    from 0 to 1 of the ranking of query q by the scores F. The weight :math:`p_q` of a query is the
    proportion of the loss that is due to it ([1]_; Algorithm 4 of [2]_). In each round, a weak
    ranker f that performs well under these weights is added with the step

    .. math:: \alpha = \frac{1}{2} \ln \frac{\sum_q p_q (1 + E(q, f))}{\sum_q p_q (1 - E(q, f))}.

    The weak rankers are either single features or classifiers that predict relevance. For a
    classifier, the weight of a query is divided equally among its documents. Adding the best
    feature a second time does not change the ranking, so that the rule printed in [1]_ and [2]_
    selects the same feature in all later rounds. By default, all features are tried, with the step
    and with fractions of it, and the feature that decreases the loss most is added. Boosting stops
    if no feature decreases the loss; see `search`.

    Parameters
    ----------
    estimator : classifier, default=None
        Weak ranker: a classifier that is fitted to the relevance of documents, and whose predicted
        classes are used as their scores. Relevance should then have few distinct values. If None,
        the weak rankers are single features, in ascending or descending order.
    n_estimators : int, default=100
        Maximum number of rounds.
    metric : {"ndcg", "map"}, default="ndcg"
        Metric E: NDCG or average precision. For tied documents, the expected value over their
        random orders is used.
    k : int or None, default=None
        Number of top-ranked documents of each query to include in the metric, and in the NDCG that
        `score` returns. If None, all documents are included.
    search : {"greedy", "weighted"}, default="greedy"
        Rule that selects a feature. "greedy" selects it as described above. "weighted" selects the
        feature with the best metric under the weights of the queries, as printed in [1]_ and [2]_;
        boosting stops if this feature does not decrease the loss.
    step_rule : {"xu-li", "printed"}, default="xu-li"
        Rule of the step. "xu-li" is the step above; "printed" is :math:`\frac{1}{2} \ln(\eta / (1 -
        \eta))` with :math:`\eta = \sum_q p_q E(q, f)`, as printed in Algorithm 4 of [2]_.
    learning_rate : float, default=1.0
        Learning rate that multiplies each step.
    weighting : {"auto", "sample_weight", "resampling"}, default="resampling"
        How the weights are passed to the classifier: as `sample_weight`, or by fitting it to
        documents that are drawn in proportion to them ("resampling"), as in [2]_. If "auto",
        `sample_weight` is used if the `fit` method of the classifier accepts it, otherwise
        resampling. The weights of queries change little from round to round; with `sample_weight`,
        the classifiers may therefore be nearly the same in all rounds.
    max_samples : int, float or None, default=None
        Number of documents drawn in each round if the weak learner is fitted by resampling: an int,
        a fraction of all documents, or None for one fifth of them, but at least 20. In each round,
        documents are drawn up to ten times, until the weak learner is better than chance.
    n_iter_no_change : int or None, default=None
        Boosting stops when the metric of held-out queries has not increased by more than `tol` for
        this number of rounds, and `predict` uses the rounds up to the largest metric. If None, no
        queries are held out, and all rounds are used. If `X_val` is passed to `fit`, its queries
        take the place of the held-out queries; without `n_iter_no_change`, they are only scored.
    validation_fraction : float, default=0.1
        Fraction of the queries that are held out for early stopping.
    tol : float, default=1e-4
        Tolerance of early stopping; see `n_iter_no_change`.
    warm_start : bool, default=False
        If True, `fit` keeps the rounds of the last call and adds rounds up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of documents and of held-out queries, and the randomness of the
        weak learners.
    verbose : int, default=0
        Verbosity. If 1, print the objective, the step and the validation score, if any, of the
        first nine rounds and of every tenth one; if 2, those of all rounds.

    Attributes
    ----------
    estimators_ : list
        Weak rankers: classifiers, or named tuples with the fields `feature` and `factor`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        Step of each weak learner, by which its predictions are multiplied.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        Loss before the first round and after each round. With single features, it never increases.
    stop_reason_ : str
        Reason why boosting stopped.
    validation_scores_ : ndarray of shape (n_rounds,)
        Metric of the held-out queries or of `X_val` after each round; empty without early stopping
        and `X_val`.
    best_n_rounds_ : int
        Number of rounds that `predict` uses. With early stopping, these are the rounds up to the
        first one with the largest validation score; otherwise all rounds. The later rounds are in
        `estimators_`, too, and a warm start adds rounds to them.
    feature_importances_ : ndarray of shape (n_features,)
        Mean importance of each feature over the weak learners, weighted by the steps. Defined only
        if the weak learners have `feature_importances_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    NDCGBoost : Document ranker that weights documents; single features need not rank well.
    sklrank.model_selection.QueryKFold : Cross-validation whose folds consist of whole queries.

    Notes
    -----
    Features are added without scaling. They should be comparable across the documents of a query,
    like those of LETOR, which are scaled to [0, 1] within each query.

    With `search` "greedy", a round ranks all documents by up to eight candidates for each feature
    (four fractions of the step, in ascending and in descending order). The metric of each query for
    each feature and order is stored.

    References
    ----------
    .. [1] J. Xu and H. Li, "AdaRank: a boosting algorithm for information retrieval",
       SIGIR 2007.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, section 3.3.2.

    Examples
    --------
    Two queries of four documents, whose relevance depends on the second feature.

    >>> from sklrank.boosting import AdaRank
    >>> X = [[1, 9], [2, 3], [3, 5], [4, 1], [1, 2], [2, 6], [3, 8], [4, 4]]
    >>> y = [2, 0, 1, 0, 0, 1, 2, 0]
    >>> qid = [7, 7, 7, 7, 8, 8, 8, 8]
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
        "search": [StrOptions(set(SEARCHES))],
        "step_rule": [StrOptions(set(STEP_RULES))],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        metric: Literal["ndcg", "map"] = "ndcg",
        k: int | None = None,
        search: Literal["greedy", "weighted"] = "greedy",
        step_rule: Literal["xu-li", "printed"] = "xu-li",
        learning_rate: float = 1.0,
        weighting: Literal["auto", "sample_weight", "resampling"] = "resampling",
        max_samples: int | float | None = None,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.metric = metric
        self.k = k
        self.search = search
        self.step_rule = step_rule
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.max_samples = max_samples
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _make_objective(self, y, queries):
        return QueryObjective(
            y,
            queries,
            self.metric,
            self.k,
            self.step_rule,
            must_beat_chance=self.estimator is not None,
        )

    def _validation_metric(self, y, qid):
        objective = self._make_objective(y, Queries.from_qid(qid, len(y)))
        return lambda scores: objective.performance(scores).mean()

    def _make_learner(self, X, objective):
        if self.estimator is None:
            return FeatureLearner(X, objective, self.learning_rate, self.search)
        return super()._make_learner(X, objective)

    def _n_labels(self, objective):
        return objective.labels.max() + 1
