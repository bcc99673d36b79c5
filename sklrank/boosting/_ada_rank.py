"""AdaRank: queries, weighed by how badly they are ranked."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from sklearn.utils import get_tags

from sklrank._queries import Queries
from sklrank._sklearn import Interval, StrOptions
from sklrank.boosting._feature_ranker import SEARCHES, FeatureLearner
from sklrank.boosting._query_objective import METRICS, STEPS, QueryObjective
from sklrank.boosting._supervised_document_ranker import SupervisedDocumentRanker

if TYPE_CHECKING:
    import numpy as np

__all__ = ["AdaRank"]


class AdaRank(SupervisedDocumentRanker):
    r"""AdaRank: document ranking by boosting weak rankers for a metric of whole queries.

    The metric :math:`E(q, F)` of the ranking of each query, from 0 to 1, enters an exponential
    loss, the mean of :math:`\exp(-E(q, F))` over queries. A query weighs as much as its part of it
    ([1]_; Algorithm 4 of [2]_), and a weak ranker f that does well under these weights :math:`p_q`
    joins with the step

    .. math:: \alpha = \frac{1}{2} \ln \frac{\sum_q p_q (1 + E(q, f))}{\sum_q p_q (1 - E(q, f))}.

    Weak rankers are single features, or predictions of a classifier of relevance whose rows have
    equal shares of the weight of their query. Of features, the best one does not change the
    ranking when it is taken again, so that the plain rule goes on taking it for ever. Here all
    features are tried, with the step and with shares of it, and the one is taken that lowers the
    loss most; the rounds end when none lowers it (`search`).

    Parameters
    ----------
    estimator : classifier, default=None
        The weak ranker, a classifier of relevance whose classes score the documents; relevance
        should have few values then. None: single features, of either direction.
    n_estimators : int, default=100
        Number of rounds at most.
    metric : {"ndcg", "map"}, default="ndcg"
        What is measured: NDCG or average precision, with ties at their expected value.
    k : int or None, default=None
        How many documents of a query count, from the top. None: all.
    search : {"greedy", "weighted"}, default="greedy"
        How a feature is chosen: as told above, or the best under the weights of the queries and
        that alone, as printed; the rounds end when it does not lower the loss.
    step_rule : {"xu-li", "printed"}, default="xu-li"
        The step above, or :math:`\frac{1}{2} \ln(\eta / (1 - \eta))` with
        :math:`\eta = \sum_q p_q E(q, f)`, as Algorithm 4 prints it.
    learning_rate : float, default=1.0
        Each step is multiplied by it.
    weighting : {"auto", "sample_weight", "resampling"}, default="resampling"
        Whether the classifier is given weights, or documents drawn in proportion to them, as [2]_
        has it. "auto": weights where its `fit` takes them; as those of queries change little from
        round to round, so may what it learns.
    max_samples : int, float or None, default=None
        How many documents are drawn, a number or a share of all; None: a fifth, at least 20. They
        are drawn up to ten times a round, until the weak learner is better than chance.
    n_iter_no_change : int or None, default=None
        Stop when `metric` of queries held out has not risen by more than `tol` for so many rounds.
        None: no queries are held out.
    validation_fraction : float, default=0.1
        Share of the queries held out.
    tol : float, default=1e-4
        See `n_iter_no_change`.
    warm_start : bool, default=False
        Whether `fit` adds rounds to those of the last `fit`, up to `n_estimators`.
    random_state : int, RandomState instance or None, default=None
        Draws documents, the queries held out, and the seeds of the weak learners.
    verbose : int, default=0
        1: some rounds are reported, 2: all.

    Attributes
    ----------
    estimators_ : list
        The weak rankers: classifiers, or named tuples of a `feature` and the `factor` of its step.
    estimator_weights_ : ndarray of shape (n_rounds,)
        The step of each.
    objective_ : ndarray of shape (n_rounds + 1,)
        The loss before the first round and after each. With features it never rises.
    stop_reason_ : str
        Why there are no more rounds.
    validation_scores_ : ndarray of shape (n_rounds,)
        `metric` of the queries held out, after each round; empty without.
    feature_importances_ : ndarray of shape (n_features,)
        Importances of the weak learners, weighted by the steps, where they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had names.

    See Also
    --------
    NDCGBoost : Weighs documents, not only queries, and needs no feature that ranks by itself.
    sklrank.model_selection.QueryKFold : Folds of whole queries; `qid` gets there through searches.

    Notes
    -----
    Features are added as they are. They should be comparable across the documents of a query, as
    those of LETOR are, which are scaled to [0, 1] within each query.

    References
    ----------
    .. [1] J. Xu and H. Li, "AdaRank: a boosting algorithm for information retrieval",
       SIGIR 2007.
    .. [2] H. Valizadegan, "Boosting and online learning for classification and ranking",
       PhD thesis, Michigan State University, 2010, section 3.3.2.

    Examples
    --------
    Two queries of four documents; the second feature tells what is relevant.

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
        "step_rule": [StrOptions(set(STEPS))],
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

    def _objective(self, y, queries):
        beats_chance = self.estimator is not None
        return QueryObjective(
            y, queries, self.metric, self.k, self.step_rule, beats_chance=beats_chance
        )

    def _quality(self, y, qid):
        objective = self._objective(y, Queries.from_qid(qid, len(y)))
        return lambda scores: objective.performance(scores).mean()

    def _learner(self, X, objective):
        if self.estimator is None:
            return FeatureLearner(X, objective, self.learning_rate, self.search)
        learner = super()._learner(X, objective)
        n_grades = objective.labels.max() + 1
        if n_grades > 2 and not get_tags(self.estimator).classifier_tags.multi_class:
            raise ValueError(
                f"estimator must tell the {n_grades} values of y apart, got {self.estimator!r}, "
                "which takes two classes only; use a DecisionTreeClassifier(max_depth=1), say"
            )
        return learner
