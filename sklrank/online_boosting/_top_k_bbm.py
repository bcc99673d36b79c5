"""Top-k BBM: OnlineBMR from top-k feedback."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._potentials import LOSSES, TABULATED, potential_costs
from sklrank.online_boosting._top_k_booster import TopKBooster

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from sklrank._typing import MaxFeatures
    from sklrank.feedback._randomization import RandomizationName

__all__ = ["TopKBBM"]


class TopKBBM(TopKBooster):
    """Boost-by-majority for multilabel ranking from top-k feedback (Top-k BBM).

    The ranker shows `k` labels of each sample and learns only from the relevance of these labels.
    The costs are unbiased estimates of the costs of :class:`OnlineBMR`. Each pair of a relevant and
    an irrelevant label that are both shown has the weight ``1 / Pr[both shown]`` ([1]_, Eqs. 1 and
    3, Algorithm 2). The number of relevant labels is unknown. Therefore losses are not normalized,
    and the potential of a pair assumes that learners have an edge only towards its relevant label.

    The method `explore` draws the labels to show, and `partial_fit_feedback` learns from their
    relevance. `fit`, `partial_fit` and `progressive_fit` simulate both steps on samples with known
    labels, and use only the relevance of the labels shown.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - If None, the learner of ``recommended_learners(feedback="top-k")`` is used, a weighted
          vote of linear models. They learn from the relevance of the labels shown instead of the
          estimated costs, so that `TopKBBM` and `TopKAdaptive` rank the labels in the same way.
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
        :class:`~sklrank.linear_model.OnlineRidgeClassifier`,
        :class:`~sklrank.tree.HoeffdingTreeClassifier` and :class:`OnlineVotingClassifier` run in
        compiled code. Missing values (NaN) are accepted if all weak learners accept them, as trees
        do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. If "auto", the number is 1 if `estimator` is None, 100 for trees
        or clones of one classifier, and the length of the list if `estimator` is a list.
    k : int, default=3
        Number of labels to show, from 2 to the number of labels, or from 1 with
        ``cost_estimate="labels"``. If the target consists of class
        labels and there are fewer than `k` classes, all classes are shown.
    edge : float, default=0.1
        Assumed edge of the weak learners, in (0, 1). The edge is the expected difference between a
        learner's vote for a relevant label and its vote for an irrelevant label. This parameter has
        no effect on the default learners unless all labels of a sample are shown. Tune it for
        learners that use costs or importance weights, such as ``estimator="trees"``.
    loss : {"hinge", "rank", "logistic"} or callable, default="hinge"
        Loss of a pair of labels, whose expectation is the potential.

        - "hinge" : ``max(1 + z, 0)``, where z is the score of the irrelevant label minus the score
          of the relevant label.
        - "rank" : 1 if z is positive, 0.5 if z is 0.
        - "logistic" : ``log(1 + exp(z))``.
        - A callable maps an array of differences z from ``-n_estimators`` to ``n_estimators`` to
          an array of losses. It must not decrease in z, and must be smooth except at multiples of
          1/64. Its potentials have a relative error below 1e-9. Like those of "logistic", they
          are tables of polynomials, which take about ``200 * n_estimators**2`` bytes, or up to 16
          times as much if the loss is less smooth than the logistic loss.

        If the loss is not convex, such as "rank", each learner votes for a single label: its whole
        vote is given to the label with the largest vote.
    exploration : float, "decay" or callable, default=0.05
        Amount of exploration, in (0, 1]. With "uniform" and "single-swap", it is the probability
        that a sample explores instead of showing the k labels of largest score. Values from 0.05 to
        0.1 are suitable if users see the labels, since exploration shows them less relevant labels.
        Larger values such as 0.5 are suitable if many labels are rare and showing irrelevant labels
        does no harm; they require many samples or passes. The parameter may change between calls,
        since each record of labels shown has the propensities with which the labels were drawn.
        `score` evaluates the ranking by the scores without exploration, so a parameter search that
        maximizes `score` ignores the cost of showing less relevant labels.
        "decay" is ``t ** -0.25`` in round t = 1, 2, ..., the rate for which the bounds of [1]_
        decrease fastest, up to a constant factor; it is not the schedule "decay" of the bandit
        classifiers, ``t ** (-1 / 3) / 2``. A callable maps t to the amount. `explore` uses
        the amount of the next round for all samples.
    randomization : str, default="uniform"
        Name of an exploration scheme of :mod:`sklrank.feedback`, such as "uniform" (a sample that
        explores shows k random labels) or "single-swap" (it shows the k best labels after up to two
        of them were swapped with random others). "plackett-luce" shows k labels drawn by the
        softmax of their scores, and "softmax" always does so.
    cost_estimate : {"pairs", "labels", "doubly-robust"}, default="pairs"
        Estimate of the costs. It has no effect on the default learners unless all labels of a
        sample are shown.

        - "pairs" : sum over the pairs of a relevant and an irrelevant label that are both shown,
          each divided by the probability that both are shown ([1]_, Eq. 1).
        - "labels" : sum over the relevant labels shown, each divided by the probability that it is
          shown. Each is compared with all other labels. This estimates a bound on the positions of
          the relevant labels, on which DCG and precision depend. It allows ``k=1``.
        - "doubly-robust" : sum over all pairs by a direct model of the relevance, plus "pairs" of
          its errors. The direct model is an online logistic regression for each label, which learns
          from the labels shown. The variance is smaller, and so is the bias due to
          `propensity_clip`. The time is proportional to the square of the number of labels.
          Missing values are refused, since the direct model is linear.

    propensity_clip : tuple of two floats, default=(0.005, 0.995)
        Lower and upper bound to which propensities are clipped before weights are divided by them,
        as in the experiments of [1]_. A larger lower bound decreases the variance of the estimates
        and increases their bias; with (0, 1) the estimates are unbiased. Like `edge`, the bounds
        affect learners that use costs or importance weights, and the default learners only if all
        labels of a sample are shown.
    pair_weights : {"uniform", "dcg"}, default="uniform"
        Weights of the pairs of a relevant and an irrelevant label. If "uniform", all pairs of a
        sample have the same weight, as in [1]_. If "dcg", the weight is proportional to the DCG
        discount ``1 / log2(1 + position)`` of the label that the current scores rank first among
        the two. Thus the first positions of the ranking count most.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner uses: an int, a fraction of the features, "sqrt",
        "log2", or None for all features. An int larger than the number of features selects all of
        them. If "auto", trees use 20 features and other weak learners use all features. The
        features of a learner are drawn at random once.
    max_iter : int, default=1
        Number of passes over the samples in `fit`. If `estimator` is None, the penalties of the
        ridge regressions are proportional to this number.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Controls the random choice of the labels shown, the features, the parameters of trees, the
        seeds of the weak learners and the order of the samples. Pass an int for reproducible
        results.
    verbose : int, default=0
        If positive, `fit` and the other methods that learn print the mean rank loss so far, of
        samples before they are learned, and the number of rounds, after each batch of up to 1000
        samples. The loss of a record of labels shown is that of these labels.
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
        Empirical edge of each weak learner, with the estimated costs c and the votes h of all
        rounds: ``sum(mean(c) - c @ h)`` divided by the sum of ``mean(c) - c[l]`` over the relevant
        labels l that are known. Random votes with an edge gamma towards these labels have the
        empirical edge gamma. If the costs sum to zero, this is Eq. 5 of [1]_.
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
    TopKAdaptive : Adapts to weak learners whose edges are unknown and differ.
    OnlineBMR : Learns from the relevance of all labels.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"`` with the values of `n_estimators`
    (20 to 50), `exploration` (0.02 to 0.04) and `max_iter` (10 or 20) in its Table 5, and with the
    best of four edges.

    The parameters `k`, `exploration`, `randomization`, `cost_estimate`, `propensity_clip`,
    `pair_weights`, `n_jobs` and `verbose` are read in each call. The others are read in `fit` and,
    if the model is not fitted, in the first call of `partial_fit`, `progressive_fit`, `explore` or
    `partial_fit_feedback`. Later changes of these do not affect the model until `fit` is called.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.

    Examples
    --------
    Show three of eight labels to a user, and learn which of them are relevant:

    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import TopKBBM
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = TopKBBM(k=3, exploration=0.2, random_state=0)
    >>> for batch in np.array_split(np.arange(800), 80):
    ...     shown = model.explore(X[batch], classes=range(8))
    ...     rewards = np.take_along_axis(Y[batch], shown.actions, axis=1)
    ...     model = model.partial_fit_feedback(X[batch], shown, rewards)
    >>> bool(rank_loss(Y[800:], model.decision_function(X[800:])) < 0.15)
    True
    """

    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
        "loss": [StrOptions({*LOSSES, *TABULATED}), callable],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        k: int = 3,
        edge: float = 0.1,
        loss: Literal["hinge", "rank", "logistic"] | Callable[[np.ndarray], np.ndarray] = "hinge",
        exploration: float | Literal["decay"] | Callable[[int], float] = 0.05,
        randomization: RandomizationName = "uniform",
        cost_estimate: Literal["pairs", "labels", "doubly-robust"] = "pairs",
        propensity_clip: tuple[float, float] = (0.005, 0.995),
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
        self.k = k
        self.edge = edge
        self.loss = loss
        self.exploration = exploration
        self.randomization = randomization
        self.cost_estimate = cost_estimate
        self.propensity_clip = propensity_clip
        self.pair_weights = pair_weights
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return potential_costs(n_labels, n_learners, self.edge, self.loss)
