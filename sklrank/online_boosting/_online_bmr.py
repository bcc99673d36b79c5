"""OnlineBMR: boost-by-majority potentials, learners of equal weight, the last expert."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._costs import LOSSES, PotentialCosts
from sklrank.online_boosting._online_booster import OnlineBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["OnlineBMR"]


class OnlineBMR(OnlineBooster):
    """Online boost-by-majority for multilabel ranking (OnlineBMR).

    Labels are ranked by the sum of the weak learners' votes; a vote is a distribution over the
    labels. In each round, learner i learns from the potential ([1]_, Eqs. 1 and 2): the loss
    expected if the learners after it vote at random with the given edge. Thus it learns most from
    samples whose loss depends on its vote. With learners of that edge the number of learners is
    optimal (Theorem 4). The potentials are exact: they come from tables of the law of a random
    walk, one for each number of relevant labels.

    Parameters
    ----------
    estimator : estimator, list of estimators, "trees" or None, default=None
        Weak learners.

        - None: the same as "trees". The algorithm assumes weak learners of one known edge, which
          the recommended learners of the other boosters are not.
        - "trees": Hoeffding trees with loose random parameters, which split early and have at most
          256 leaves each.
        - A classifier with ``partial_fit(X, y, classes, sample_weight)``: clones of it.
        - A list of such classifiers: learner i is a clone of entry i modulo the length of the list.

        Classifiers of this package run compiled. Missing values (NaN) are accepted if all weak
        learners accept them, as trees do.
    n_estimators : int or "auto", default="auto"
        Number of weak learners. "auto": 100 trees, 100 clones of one
        classifier, or the length of the list.
    edge : float, default=0.1
        Edge of the weak learners, in (0, 1): the difference that is assumed between a learner's
        vote for a relevant label and for an irrelevant one. If a sample has more than ``1 / edge``
        relevant labels, one over their number is used instead. The edge is worth a search; small
        values suit many labels.
    loss : {"hinge", "rank"}, default="hinge"
        Loss of the potentials. "rank" requires votes for single labels: the whole vote of a learner
        is given to the label that it votes for most.
    max_features : int, float, {"auto", "sqrt", "log2"} or None, default="auto"
        Number of features that each weak learner sees, drawn at random once for each: an int (all
        features if there are fewer), a fraction, their square root or logarithm, or None for all.
        "auto": 20 for trees, all for other weak learners.
    max_iter : int, default=1
        Number of passes over the samples in `fit`.
    shuffle : bool, default=False
        If True, `fit` shuffles the samples before each pass.
    random_state : int, RandomState instance or None, default=None
        Source of the features, the parameters of trees, the seeds of the weak learners and the
        order of the samples. Pass an int for reproducible results.
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
    AdaOLMR : Adapts to learners of unknown and different edges; ranks better by default.

    Notes
    -----
    Settings as printed in [1]_: the default, 100 trees with random parameters on 20 random features
    each, with the best of four edges.

    Parameters are read when a model is started, by `fit` or by the first call of another method;
    `n_jobs` and `verbose` are read in each call.

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
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int | Literal["auto"] = "auto",
        *,
        edge: float = 0.1,
        loss: Literal["hinge", "rank"] = "hinge",
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
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels, n_learners):
        return PotentialCosts(n_labels, n_learners, self.edge, self.loss)
