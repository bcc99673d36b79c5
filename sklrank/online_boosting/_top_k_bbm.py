"""Top-k BBM: OnlineBMR from top-k feedback."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval
from sklrank.online_boosting._costs import PotentialCosts
from sklrank.online_boosting._top_k_booster import TopKBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures, RandomizationName

__all__ = ["TopKBBM"]


class TopKBBM(TopKBooster):
    """Boost-by-majority for multilabel ranking from top-k feedback (Top-k BBM).

    Shows `k` labels of each sample and learns only from the relevance of these. The costs are
    unbiased estimates of those of :class:`OnlineBMR`: a pair of a relevant and an irrelevant label
    shown has the weight ``1 / Pr[both shown]`` ([1]_, Eqs. 1 and 3, Algorithm 2). Since the number
    of relevant labels is unknown, losses are not normalized, and the potential of a pair assumes
    learners with an edge towards its relevant label only.

    Labels are shown by `explore`, and the feedback on them is learned by `partial_fit_feedback`.
    `fit`, `partial_fit` and `progressive_fit` simulate both on samples with known labels, and use
    only the relevance of the labels shown.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - None: the recommended learners, ``recommended_learners(feedback="top-k")``; they learn the
          relevance of the labels shown directly.
        - "trees": Hoeffding trees with loose random parameters, which split early and have at most
          256 leaves each.
        - A classifier with ``partial_fit(X, y, classes, sample_weight)``: clones of it.
        - A list of such classifiers: learner i is a clone of entry i modulo the length of the list.

        Classifiers of this package run compiled. Missing values (NaN) are accepted if all weak
        learners accept them, as trees do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. "auto": 8 recommended learners, 100 trees, 100 clones of one
        classifier, or the length of the list.
    k : int, default=3
        Number of labels to show, from 2 to the number of labels. If the target are class labels and
        there are fewer than `k` classes, all of them are shown.
    edge : float, default=0.1
        Edge of the weak learners, in (0, 1): the difference that is assumed between a learner's
        vote for a relevant label and for an irrelevant one. The edge has no effect on the default
        learners, except in samples of which all labels are shown. For learners that use costs or
        importance weights, such as ``estimator="trees"``, it is worth a search.
    exploration : float, default=0.05
        Probability rho, in (0, 1], that a sample explores: it shows random labels instead of the
        best ones. Use 0.05 to 0.1 if users see the labels, since exploration shows them worse ones.
        Explore more, with 0.5, if there are many rare labels to learn and it does no harm to show
        bad ones; this takes many samples or passes. The parameter may change between calls: a
        record of labels shown keeps the propensities of its time. `score` ranks by the scores, so
        a search by `score` does not see the price of exploration.
    randomization : str, default="uniform"
        Name of the exploration scheme, see :mod:`sklrank.feedback`.
    propensity_clip : tuple of two floats, default=(0.005, 0.995)
        Bounds to which propensities are clipped before weights are divided by them, as in the
        experiments of [1]_. A larger lower bound gives less variance and more bias; (0, 1) gives no
        bias. Like `edge`, the bounds matter only to learners that use costs or importance weights.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner sees, drawn at random once for each: an int (all
        features if there are fewer), a fraction, their square root or logarithm, or None for all.
        "auto": 20 for trees, all for other weak learners.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Source of the labels shown, the features, the parameters of trees, the seeds of the weak
        learners and the order of the samples. Pass an int for reproducible results.
    verbose : int, default=0
        If positive, print a line after every 1000 rounds.
    n_jobs : int or None, default=None
        Number of threads, which share the weak learners while learning and the samples while
        predicting; -1 means all processors. The model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or names of the columns of an indicator matrix.
    n_estimators_ : int
        Number of weak learners, with "auto" resolved.
    max_features_ : int, float, {"sqrt", "log2"} or None
        Number of features of each weak learner, with "auto" resolved.
    estimators_ : list of estimators
        Weak learners. Their classes are 0, 1, ..., n_labels - 1.
    estimators_features_ : list of ndarray of shape (n_features_i,)
        Indices of the features that each weak learner sees.
    estimator_weights_ : ndarray of shape (n_estimators,)
        The weights alpha, all of them 1.
    expert_weights_ : ndarray of shape (n_estimators,)
        1 for the last expert, which always ranks the labels, and 0 for the others.
    n_rounds_ : int
        Number of rounds: of samples of positive weight.
    n_iter_ : int
        Number of passes in the last call of `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features; defined only if all of them are strings.

    See Also
    --------
    TopKAdaptive : Adapts to learners of unknown and different edges.
    OnlineBMR : Learns from the relevance of all labels.

    Notes
    -----
    Settings as printed in [1]_: ``estimator="trees"`` with the `n_estimators` (20 to 50),
    `exploration` (0.02 to 0.04) and `max_iter` (10 or 20) of its Table 5, and the best of four
    edges.

    Parameters are read when a model is started, by `fit` or by the first call of another method;
    `k`, `exploration`, `randomization`, `propensity_clip`, `n_jobs` and `verbose` are read in each
    call.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.

    Examples
    --------
    Show a user three of eight labels, and learn which of them are relevant:

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
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        k: int = 3,
        edge: float = 0.1,
        exploration: float = 0.05,
        randomization: RandomizationName = "uniform",
        propensity_clip: tuple[float, float] = (0.005, 0.995),
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
        self.exploration = exploration
        self.randomization = randomization
        self.propensity_clip = propensity_clip
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return PotentialCosts(n_labels, n_learners, self.edge, "hinge")
