"""OnlineBMR: boosting by potentials with learners of equal weight."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._online_booster import OnlineBooster
from sklrank.online_boosting._potentials import LOSSES, TABULATED, potential_costs

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["OnlineBMR"]


class OnlineBMR(OnlineBooster):
    """Online boost-by-majority for multilabel ranking (OnlineBMR).

    Labels are ranked by the sum of the votes of weak learners, where a vote is a distribution over
    the labels. In each round, the costs of learner i are potentials ([1]_, Eqs. 1 and 2). A
    potential is the expected loss if the learners after learner i vote at random with the given
    edge. Thus learner i learns most from samples whose loss depends on its vote. If the weak
    learners have this edge, the number of learners that a given loss requires is optimal
    (Theorem 4). The potentials are exact: they are computed from tables of the distribution of a
    random walk, with one table for each number of relevant labels.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - If None, trees are used. The algorithm assumes that all weak learners have one known edge,
          which does not hold for the recommended learners of the other boosters.
        - If "trees", Hoeffding trees are used. Their parameters are drawn at random so that they
          split early. Each tree has at most 256 leaves.
        - If a classifier with ``partial_fit(X, y, classes, sample_weight)``, clones of it are used.
        - If a list of such classifiers, learner i is a clone of entry i modulo the length of the
          list.

        A classifier without ``predict_proba`` votes for the label that it predicts. If its
        ``predict`` returns rows of an indicator matrix, each represents a set of labels, among
        which the vote is divided equally; if the set is empty, among all labels. Other weak
        learners are possible too, such as classifiers of two classes, classifiers of indicator
        matrices, rankers, and learners of costs: see :mod:`sklrank.online_boosting`.

        :class:`~sklrank.linear_model.OnlineLogisticRegression`,
        :class:`~sklrank.linear_model.OnlineRidgeClassifier` and
        :class:`~sklrank.tree.HoeffdingTreeClassifier` run in compiled code. Missing values (NaN)
        are accepted if all weak learners accept them, as trees do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. If "auto", the number is 100 for trees or clones of one classifier,
        and the length of the list if `estimator` is a list.
    edge : float, default=0.1
        Assumed edge of the weak learners, in (0, 1). The edge is the expected difference between a
        learner's vote for a relevant label and its vote for an irrelevant label. For a sample with
        more than ``1 / edge`` relevant labels, the inverse of their number is used instead. The
        edge should be tuned; small values are suitable if there are many labels.
    loss : {"hinge", "rank", "logistic"} or callable, default="hinge"
        Loss of a pair of labels, whose expectation is the potential.

        - "hinge" : ``max(1 + z, 0)``, where z is the score of the irrelevant label minus the score
          of the relevant label.
        - "rank" : 1 if z is positive, 0.5 if z is 0.
        - "logistic" : ``log(1 + exp(z))``.
        - A callable maps an array of differences z from ``-n_estimators`` to ``n_estimators`` to
          an array of losses. It must not decrease in z, and must be smooth except at multiples of
          1/64. Its potentials have a relative error below 1e-9. Like those of "logistic", they
          are tables of polynomials, which take about ``200 * n_estimators**2`` bytes for each
          number of relevant labels, or up to 16 times as much if the loss is less smooth than the
          logistic loss.

        If the loss is not convex, such as "rank", each learner votes for a single label: its whole
        vote is given to the label with the largest vote ([1]_, Theorem 2).
    pair_weights : {"uniform", "dcg"}, default="uniform"
        Weights of the pairs of a relevant and an irrelevant label. If "uniform", all pairs of a
        sample have the same weight, as in [1]_. If "dcg", the weight is proportional to the DCG
        discount ``1 / log2(1 + position)`` of the label that the current scores rank first among
        the two. Thus the first positions of the ranking count most. The sum of the weights of a
        sample is the same in both cases.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner uses: an int, a fraction of the features, "sqrt",
        "log2", or None for all features. An int larger than the number of features selects all of
        them. If "auto", trees use 20 features and other weak learners use all features. The
        features of a learner are drawn at random once.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the features, the parameters of trees, the seeds of the weak
        learners and the order of the samples. Pass an int for reproducible results.
    verbose : int, default=0
        If positive, `fit` and the other methods that learn print the mean rank loss so far, of
        samples before they are learned, and the number of rounds, after each batch of up to 1000
        samples.
    n_jobs : int or None, default=None
        Number of threads; -1 means all processors. They work on the weak learners in parallel
        during training, and on the samples during prediction. Training becomes faster only if a
        round takes at least some hundred microseconds, that is, with many learners or labels. The
        model does not depend on `n_jobs`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or the names of the columns if the target is an indicator matrix.
    n_estimators_ : int
        Number of weak learners, where "auto" is replaced by its value.
    max_features_ : int, float, {"sqrt", "log2"} or None
        Parameter `max_features`, where "auto" is replaced by its value.
    estimators_ : list of estimators
        Weak learners. Their classes are 0, ..., n_labels - 1, the indices into `classes_`.
    estimators_features_ : list of ndarray of shape (n_features_i,)
        Indices of the features used by each weak learner.
    estimator_weights_ : ndarray of shape (n_estimators,)
        Weights of the weak learners, which are all 1.
    expert_weights_ : ndarray of shape (n_estimators,)
        Weights of the experts, where expert i sums the votes of the first i learners. The last one
        always ranks the labels: its weight is 1, and the other weights are 0.
    empirical_edges_ : ndarray of shape (n_estimators,)
        Empirical edge of each weak learner, with the costs c and the votes h of all rounds:
        ``sum(mean(c) - c @ h)`` divided by the sum of ``mean(c) - c[l]`` over the relevant labels l
        that are known. Random votes with an edge gamma towards these labels have the empirical edge
        gamma. If the costs sum to zero, this is Eq. 10 of [1]_.
    n_rounds_ : int
        Number of rounds. Each sample of positive weight is one round in each pass.
    n_iter_ : int
        Number of passes over the samples in the last call of `fit`.
    n_features_in_ : int
        Number of features seen during training.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features. Defined only if `X` has feature names that are all strings.

    See Also
    --------
    AdaOLMR : Adapts to weak learners whose edges are unknown and differ. It usually ranks better
        with default parameters.

    Notes
    -----
    The experiments of [1]_ correspond to the default parameters, 100 trees with random parameters
    and 20 random features each, and the best of four edges.

    Most parameters are read in `fit` and, if the model is not fitted, in the first call of
    `partial_fit` or `progressive_fit`. Later changes do not affect the model until `fit` is called.
    `pair_weights`, `n_jobs` and `verbose` are read in each call.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari, "Online boosting algorithms for multi-label ranking",
       AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.online_boosting import OnlineBMR
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = OnlineBMR(n_estimators=50, edge=0.05, random_state=0).fit(X[:700], Y[:700])
    >>> bool(model.score(X[700:], Y[700:]) > 0.8)
    True
    """

    _default_learners = "trees"
    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
        "loss": [StrOptions({*LOSSES, *TABULATED}), callable],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        edge: float = 0.1,
        loss: Literal["hinge", "rank", "logistic"] | Callable[[np.ndarray], np.ndarray] = "hinge",
        pair_weights: Literal["uniform", "dcg"] = "uniform",
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.edge = edge
        self.loss = loss
        self.pair_weights = pair_weights
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return potential_costs(n_labels, n_learners, self.edge, self.loss)
