"""Ada.OLMR: logistic gradients, learned weights, an expert chosen by Hedge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sklrank.online_boosting._costs import LogisticCosts
from sklrank.online_boosting._online_booster import OnlineBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["AdaOLMR"]


class AdaOLMR(OnlineBooster):
    """Adaptive online boosting for multilabel ranking (Ada.OLMR).

    Labels are ranked by the weighted votes of weak learners; a vote is a distribution over the
    labels. In each round, learner i learns from the gradient c of the logistic rank loss at the
    score of the learners before it ([1]_, Eq. 8): each relevant label l has the importance weight
    ``max(c) - c[l]``. The weight alpha_i of the learner is in [-2, 2] and takes a step of
    ``1 / sqrt(t)`` down the same gradient. Expert i is the sum of the first i learners; Hedge
    weights the experts by their rank losses (Algorithm 3). `predict` and `decision_function` use
    the expert of largest weight; `progressive_fit` draws an expert in each round, as in the paper.

    The algorithm adapts to learners of unknown edge. The default learners need no tuning.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - None: the recommended learners, see :func:`recommended_learners`.
        - "trees": Hoeffding trees with loose random parameters, which split early and have at most
          256 leaves each.
        - A classifier with ``partial_fit(X, y, classes, sample_weight)``: clones of it.
        - A list of such classifiers: learner i is a clone of entry i modulo the length of the list.

        Classifiers of this package run compiled. Missing values (NaN) are accepted if all weak
        learners accept them, as trees do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. "auto": 22 recommended learners, 100 trees, 100 clones of one
        classifier, or the length of the list.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner sees, drawn at random once for each: an int (all
        features if there are fewer), a fraction, their square root or logarithm, or None for all.
        "auto": 20 for trees, all for other weak learners.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Source of the features, the parameters of trees, the seeds of the weak learners, the draws
        of experts and the order of the samples. Pass an int for reproducible results.
    verbose : int, default=0
        If positive, print a line after every 1000 rounds.
    n_jobs : int or None, default=None
        Number of threads, which share the weak learners while learning and the samples while
        predicting; -1 means all processors. The model does not depend on it. Learning becomes
        faster if a round takes some hundred microseconds: with many learners or labels.

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
        The weights alpha, in [-2, 2].
    expert_weights_ : ndarray of shape (n_estimators,)
        Hedge's weights of the experts, which sum to one.
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
    OnlineBMR : Optimal if the edge of the weak learners is known.
    TopKAdaptive : Learns from the relevance of the labels shown only.

    Notes
    -----
    Settings as printed in [1]_: ``estimator="trees"``, that is 100 trees with random parameters,
    each on 20 random features. The default ranks better and is faster.

    Parameters are read when a model is started, by `fit` or by the first call of another method;
    `n_jobs` and `verbose` are read in each call.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari, "Online boosting algorithms for multi-label ranking",
       AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import AdaOLMR
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = AdaOLMR(random_state=0)
    >>> scores = model.progressive_fit(X, Y)
    >>> bool(rank_loss(Y[500:], scores[500:]) < 0.12)
    True
    >>> model.predict_topk(X[:2], k=2).shape
    (2, 2)
    """

    _hedge = True

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        max_features: MaxFeatures | Literal["auto"] = "auto",
        max_iter: int = 1,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return LogisticCosts(n_labels, n_learners)
