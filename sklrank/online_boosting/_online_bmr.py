"""OnlineBMR: potentials, equal weights, the last expert."""

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

    Labels are ranked by the plain sum of the weak learners' votes. In every round learner i is
    taught with the potential ([1]_, Eqs. 1 and 2): the loss to be expected if the learners after it
    voted at random with the given edge. So it is taught most where the outcome hangs on its vote.
    With learners of that edge the number of them is optimal (Theorem 4). The potentials are exact:
    they come from a table of the law of a random walk, one for each number of relevant labels.

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
    edge : float, default=0.1
        By how much a weak learner's vote for a relevant label is assumed to exceed that for an
        irrelevant one, in (0, 1). In a round with many relevant labels 1 over their number takes
        its place where that is less. Worth a search; small values suit many labels.
    loss : {"hinge", "rank"}, default="hinge"
        Loss behind the potentials. "rank" is for votes for single labels: then the whole vote of a
        learner goes to its favourite one.
    max_features : int, float, {"sqrt", "log2"} or None, default=20
        Features that each weak learner sees, drawn once for each: a number (all, where there are
        fewer), a share of them, or all.
    max_iter : int, default=1
        Passes over the rows that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` draws a new order of the rows for each pass.
    random_state : int, RandomState instance or None, default=None
        Decides the features, the parameters of the default trees, the seeds of the weak
        learners, and the order of the rows. An int makes every result repeatable.
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
        The alpha, all of them 1.
    expert_weights_ : ndarray of shape (n_estimators,)
        1 for the last expert, which always decides, 0 for the others.
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
    AdaOLMR : Adapts to learners of unknown and different edges.

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
    >>> from sklrank.online_boosting import OnlineBMR
    >>> X, Y = make_multilabel_classification(1000, n_classes=6, random_state=0)
    >>> model = OnlineBMR(n_estimators=50, edge=0.05, random_state=0).fit(X[:700], Y[:700])
    >>> bool(model.score(X[700:], Y[700:]) > 0.8)
    True
    """

    _parameter_constraints: dict = {
        **OnlineBooster._parameter_constraints,
        "edge": [Interval(Real, 0, 1, closed="neither")],
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        edge: float = 0.1,
        loss: Literal["hinge", "rank"] = "hinge",
        max_features: MaxFeatures = 20,
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

    def _make_cost_rule(self, n_labels):
        return PotentialCosts(n_labels, self.n_estimators, self.edge, self.loss)
