"""Ada.OLMR: logistic gradients, learnt weights, an expert chosen by Hedge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklrank.online_boosting._costs import LogisticCosts
from sklrank.online_boosting._online_booster import OnlineBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["AdaOLMR"]


class AdaOLMR(OnlineBooster):
    """Adaptive online boosting for multilabel ranking (Ada.OLMR).

    Labels are ranked by the weighted votes of weak learners, each of which distributes one vote
    over the labels. In every round learner i is taught with the gradient of the logistic rank loss
    at the score of the learners before it ([1]_, Eq. 8): a relevant label l comes with the
    importance weight ``max(c) - c[l]``. Its weight alpha_i takes the step ``1 / sqrt(t)`` down the
    same gradient, within [-2, 2]. Expert i is the sum of the first i learners; Hedge keeps a weight
    for each by its rank loss so far (Algorithm 3). `predict` and `decision_function` follow the
    expert of greatest weight; `progressive_fit` draws one in each round, as the paper does.

    Nothing needs to be known of the weak learners, and with good ones nothing needs tuning.

    Parameters
    ----------
    estimator : estimator, list of estimators or None, default=None
        The weak learners: a classifier with `partial_fit(X, y, classes, sample_weight)`, or a list
        of them; learner i is a clone of entry i modulo the list's length. Those of this package
        run compiled. A search takes whole lists as values. Rows with NaN are taken where all weak
        learners take them. None: Hoeffding trees with loose random parameters, which do, split
        early and have 256 leaves at the most. :func:`recommended_learners` gives a list that ranks
        better, and faster.
    n_estimators : int, default=100
        Number of weak learners.
    max_features : int, float, {"sqrt", "log2"} or None, default=20
        Features that each weak learner sees, drawn once for each: a number (all, where there are
        fewer), a share of them, or all.
    max_iter : int, default=1
        Passes over the rows that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` draws a new order of the rows for each pass.
    random_state : int, RandomState instance or None, default=None
        Decides the features, the parameters of the default trees, the seeds of the weak
        learners, the draws of experts and the order of the rows. An int makes every result
        repeatable.
    verbose : int, default=0
        Above 0 a line is printed after every 1000 rounds.
    n_jobs : int or None, default=None
        Threads that share the weak learners while learning, and the rows while predicting; -1 for
        all processors. The model does not depend on it. Learning gains where a round takes some
        hundred microseconds: with many learners or labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Class labels, or names of the columns of an indicator.
    estimators_ : list of n_estimators estimators
        The weak learners; to them the labels are 0, 1, ..., n_labels - 1.
    estimators_features_ : list of ndarray of shape (n_features_i,)
        The columns that each of them sees.
    estimator_weights_ : ndarray of shape (n_estimators,)
        The alpha, in [-2, 2].
    expert_weights_ : ndarray of shape (n_estimators,)
        Hedge's weights of the experts, summing to one.
    n_rounds_ : int
        Rounds played: rows of positive weight.
    n_iter_ : int
        Passes that the last `fit` made.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where `X` had string ones.

    See Also
    --------
    OnlineBMR : Optimal when the edge of the weak learners is known.

    Notes
    -----
    Parameters are read when a model is started, by `fit` or the first call of another method;
    `n_jobs` and `verbose` at each call.

    References
    ----------
    .. [1] Y. H. Jung and A. Tewari, "Online boosting algorithms for multi-label ranking",
       AISTATS 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import AdaOLMR, recommended_learners
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = AdaOLMR(
    ...     recommended_learners(), n_estimators=22, max_features=None, random_state=0
    ... )
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
        n_estimators: int = 100,
        *,
        max_features: MaxFeatures = 20,
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

    def _make_cost_rule(self, n_labels):
        return LogisticCosts(n_labels, self.n_estimators)
