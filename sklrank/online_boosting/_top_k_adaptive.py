"""Top-k Adaptive: Ada.OLMR from top-k feedback."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._gradients import GRADIENTS
from sklrank.online_boosting._top_k_booster import TopKBooster
from sklrank.online_boosting._weak_learners import are_trees

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from sklrank._typing import MaxFeatures
    from sklrank.feedback._randomization import RandomizationName

__all__ = ["TopKAdaptive"]


class TopKAdaptive(TopKBooster):
    """Adaptive online boosting from top-k feedback (Top-k Adaptive).

    The ranker shows `k` labels of each sample and learns only from the relevance of these labels.
    The costs, gradients and losses are unbiased estimates of the costs, gradients and losses of
    :class:`AdaOLMR`. Each pair of a relevant and an irrelevant label that are both shown has the
    weight ``1 / Pr[both shown]`` ([1]_, Eqs. 1 and 4, Algorithm 3). The estimates are not
    normalized by the number of pairs, which is unknown.

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
    exploration : float, "decay" or callable, default=0.05
        Amount of exploration, in (0, 1]. With "uniform" and "single-swap", it is the probability
        that a sample explores instead of showing the k labels of largest score. Values from 0.05 to
        0.1 are suitable if users see the labels, since exploration shows them less relevant labels.
        Larger values such as 0.5 are suitable if many labels are rare and showing irrelevant labels
        does no harm; they require many samples or passes. The parameter may change between calls,
        since each record of labels shown has the propensities with which the labels were drawn.
        `score` evaluates the ranking by the scores without exploration, so a parameter search that
        maximizes `score` ignores the cost of showing less relevant labels. If
        ``learning_rate="theory"``, the learning rate is proportional to the value at the start of
        the training.
        "decay" is ``t ** -0.25`` in round t = 1, 2, ..., the rate for which the bounds of [1]_
        decrease fastest, up to a constant factor; it is not the schedule "decay" of the bandit
        classifiers, ``t ** (-1 / 3) / 2``. A callable maps t to the amount. `explore` uses
        the amount of the next round for all samples.
    randomization : str, default="uniform"
        Name of an exploration scheme of :mod:`sklrank.feedback`, such as "uniform" (a sample that
        explores shows k random labels) or "single-swap" (it shows the k best labels after up to two
        of them were swapped with random others). "plackett-luce" shows k labels drawn by the
        softmax of their scores, and "softmax" always does so.
    loss : {"logistic", "exponential"}, default="logistic"
        Loss of a pair of labels, whose gradient gives the costs: ``log(1 + exp(z))`` or ``exp(z)``,
        where z is the score of the irrelevant label minus the score of the relevant label. The
        bounds of [1]_ hold for "logistic". The gradients of "exponential" are not bounded, see
        `gradient_clip`; a difference z above 30 counts as 30.
    learning_rate : float or "theory", default="theory"
        Learning rate of the weights of the learners. In round t, the step size is the learning rate
        divided by the square root of t. If "theory", the learning rate is
        ``8 sqrt(2) rho / n_labels**2``, where rho is `exploration`, that of the first round if it
        changes (line 13 of Algorithm 3). The bound on the loss in [1]_ is proved for this value and
        a constant rho.
    initial_weight : float or "auto", default="auto"
        Weight of each learner before the first round, in [-2, 2]. With the learning rate of the
        theory, the weights hardly change in streams of a few thousand samples. If they start at 0,
        as in [1]_, their signs are then random. "auto" means 0 for trees, and 1 for other learners.
    gradient_clip : float or None, default=1.0
        Bound to which the absolute values of the gradients are clipped in the steps of the weights
        of the learners, as in the experiments of [1]_. If None, the gradients are not clipped.
    cost_estimate : {"pairs", "labels", "doubly-robust"}, default="pairs"
        Estimate of the costs. It affects the weights of the learners, but not the votes of the
        default learners unless all labels of a sample are shown.

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
        and increases their bias; with (0, 1) the estimates are unbiased. Like `cost_estimate`, the
        bounds do not affect the votes of the default learners unless all labels of a sample are
        shown.
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
        seeds of the weak learners, the experts and the order of the samples. Pass an int for
        reproducible results.
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
        Weights alpha of the weak learners, in [-2, 2].
    expert_weights_ : ndarray of shape (n_estimators,)
        Weights that Hedge gives to the experts, which sum to one. Expert i is the weighted sum of
        the votes of the first i learners.
    empirical_edges_ : ndarray of shape (n_estimators,)
        Empirical edge of each weak learner, with the estimated costs c and the votes h of all
        rounds: ``sum(mean(c) - c @ h)`` divided by the sum of ``mean(c) - c[l]`` over the relevant
        labels l that are known. Random votes with an edge gamma towards these labels have the
        empirical edge gamma. Since the costs sum to zero, this is Eq. 5 of [1]_.
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
    TopKBBM : Assumes weak learners of a known edge, which all have the same weight.
    AdaOLMR : Learns from the relevance of all labels.

    Notes
    -----
    The experiments of [1]_ correspond to ``estimator="trees"`` with the values of `n_estimators`
    (50 or 60), `exploration` (0.02 to 0.06) and `max_iter` (10 or 20) in its Table 5.

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
    >>> from sklrank.online_boosting import TopKAdaptive
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = TopKAdaptive(k=3, exploration=0.2, random_state=0)
    >>> for batch in np.array_split(np.arange(500), 50):
    ...     shown = model.explore(X[batch], classes=range(8))
    ...     rewards = np.take_along_axis(Y[batch], shown.actions, axis=1)
    ...     model = model.partial_fit_feedback(X[batch], shown, rewards)

    Simulate the same feedback on labeled samples, one at a time:

    >>> scores = model.progressive_fit(X[500:], Y[500:])
    >>> bool(rank_loss(Y[500:], scores) < 0.15)
    True
    """

    _hedge = True
    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"theory"})],
        "initial_weight": [Interval(Real, -2, 2, closed="both"), StrOptions({"auto"})],
        "loss": [StrOptions(set(GRADIENTS))],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        k: int = 3,
        exploration: float | Literal["decay"] | Callable[[int], float] = 0.05,
        randomization: RandomizationName = "uniform",
        loss: Literal["logistic", "exponential"] = "logistic",
        learning_rate: float | Literal["theory"] = "theory",
        initial_weight: float | Literal["auto"] = "auto",
        gradient_clip: float | None = 1.0,
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
        self.exploration = exploration
        self.randomization = randomization
        self.loss = loss
        self.learning_rate = learning_rate
        self.initial_weight = initial_weight
        self.gradient_clip = gradient_clip
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
        rate = self.learning_rate
        if rate == "theory":
            # Raman et al. 2020, Algorithm 3, line 13: eta_t without its factor 1 / sqrt(t).
            rate = 8 * 2**0.5 * self._exploration_rate(1) / n_labels**2
        clip = float("inf") if self.gradient_clip is None else self.gradient_clip
        start = self.initial_weight
        if start == "auto":
            start = 0.0 if are_trees(self.estimator, self._default_learners) else 1.0
        return GRADIENTS[self.loss](n_labels, n_learners, rate, clip, 1.0, start)
