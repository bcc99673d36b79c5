"""AdaRank: boosting by the weights of queries."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import get_tags

from sklrank._queries import Queries
from sklrank._sklearn import Interval, StrOptions
from sklrank.boosting._document_ranker import SupervisedDocumentRanker
from sklrank.boosting._objectives import METRICS, STEP_RULES, QueryObjective
from sklrank.boosting._weak_learners import SEARCHES, FeatureLearner

if TYPE_CHECKING:
    import numpy as np

__all__ = ["AdaRank"]


class AdaRank(SupervisedDocumentRanker):
    r"""AdaRank: document ranking by boosting weak rankers for a metric of whole queries.

    The loss is the mean of :math:`\exp(-E(q, F))` over queries, where the metric :math:`E(q, F)`,
    from 0 to 1, measures the ranking of a query. The weight :math:`p_q` of a query is its share of
    the loss ([1]_; Algorithm 4 of [2]_). A weak ranker f that performs well under these weights is
    added with the step

    .. math:: \alpha = \frac{1}{2} \ln \frac{\sum_q p_q (1 + E(q, f))}{\sum_q p_q (1 - E(q, f))}.

    Weak rankers are single features, or predictions of a classifier of relevance, for which the
    documents of a query have equal shares of its weight. Adding the best feature a second time does
    not change the ranking, so that the printed rule selects the same feature in all later rounds.
    By default all features are tried, with the step and with fractions of it, and the one that
    lowers the loss most is added; the rounds end when none lowers it (`search`).

    Parameters
    ----------
    estimator : classifier, default=None
        The weak ranker, a classifier of relevance whose predicted classes are the scores of the
        documents; relevance should have few values then. None: single features, in ascending or
        descending order.
    n_estimators : int, default=100
        Maximal number of rounds.
    metric : {"ndcg", "map"}, default="ndcg"
        The metric: NDCG or average precision, with ties at their expected value.
    k : int or None, default=None
        Number of documents of a query, from the top, on which the metric depends. None: all.
    search : {"greedy", "weighted"}, default="greedy"
        How a feature is selected: "greedy" as described above; "weighted" the feature of the best
        metric under the weights of the queries only, as printed, in which case the rounds end when
        it does not lower the loss.
    step_rule : {"xu-li", "printed"}, default="xu-li"
        The step above, or :math:`\frac{1}{2} \ln(\eta / (1 - \eta))` with
        :math:`\eta = \sum_q p_q E(q, f)`, as Algorithm 4 prints it.
    learning_rate : float, default=1.0
        Factor of each step.
    weighting : {"auto", "sample_weight", "resampling"}, default="resampling"
        Whether the classifier is given the weights ("sample_weight"), or documents drawn in
        proportion to them ("resampling"), as in [2]_. "auto": weights where its `fit` takes them.
        As the weights of queries change little from round to round, so may the classifiers.
    max_samples : int, float or None, default=None
        How many documents are drawn for a round, a number or a share of all; None: a fifth, at
        least 20. They are drawn up to ten times a round, until the weak learner is better than
        chance.
    n_iter_no_change : int or None, default=None
        Stop when the metric of held-out queries has not risen by more than `tol` for this number of
        rounds. None: no queries are held out.
    validation_fraction : float, default=0.1
        Fraction of the queries that is held out for early stopping.
    tol : float, default=1e-4
        Tolerance of early stopping; see `n_iter_no_change`.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, held-out queries, and the seeds of the weak learners.
    verbose : int, default=0
        1: print some rounds, 2: print all.

    Attributes
    ----------
    estimators_ : list
        The weak rankers: classifiers, or named tuples with a `feature` and its `factor`.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each weak learner.
    loss_curve_ : ndarray of shape (n_rounds + 1,)
        The loss before the first round and after each. With single features it never rises.
    stop_reason_ : str
        The reason why the rounds ended.
    validation_scores_ : ndarray of shape (n_rounds,)
        The metric of the held-out queries after each round; empty without early stopping.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, if they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if `X` had names that are strings.

    See Also
    --------
    NDCGBoost : Weights documents, not only queries, and needs no feature that ranks by itself.
    sklrank.model_selection.QueryKFold : Folds of whole queries, and how searches pass `qid` on.

    Notes
    -----
    Features are added without scaling. They should be comparable across the documents of a query,
    like those of LETOR, which are scaled to [0, 1] within each query.

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
        learner = super()._make_learner(X, objective)
        n_grades = objective.labels.max() + 1
        if n_grades > 2 and not get_tags(self.estimator).classifier_tags.multi_class:
            raise ValueError(
                f"estimator must distinguish the {n_grades} values of y, got {self.estimator!r}, "
                "which takes two classes only; use DecisionTreeClassifier(max_depth=1), for example"
            )
        return learner
