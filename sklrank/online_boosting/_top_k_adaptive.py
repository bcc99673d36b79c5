"""Top-k Adaptive: Ada.OLMR from top-k feedback."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from sklrank._sklearn import Interval, StrOptions
from sklrank.online_boosting._costs import LogisticCosts
from sklrank.online_boosting._top_k_booster import TopKBooster

if TYPE_CHECKING:
    import numpy as np

    from sklrank._typing import MaxFeatures

__all__ = ["TopKAdaptive"]


class TopKAdaptive(TopKBooster):
    """Adaptive online boosting from top-k feedback (Top-k Adaptive).

    Shows `k` labels of each row and learns only whether those were relevant. It is
    :class:`AdaOLMR` on estimates: each pair of a relevant and an irrelevant label shown stands for
    ``1 / Pr[both shown]`` pairs, so that costs, slopes and losses are right in the mean ([1]_,
    Eqs. 1 and 4, Algorithm 3). They are not normalised by the number of pairs, which stays unknown.

    Show with `explore`, learn with `partial_fit_feedback`; or let `fit`, `partial_fit` and
    `progressive_fit` simulate both on rows whose labels are known, of which they look only at those
    shown.

    Parameters
    ----------
    estimator : estimator, list of estimators or None, default=None
        The weak learners: a classifier with `partial_fit(X, y, classes, sample_weight)`, or a list
        of them; learner i is a clone of entry i modulo the list's length. Those of this package
        run compiled. A search takes whole lists as values. Rows with NaN are taken where all weak
        learners take them. None: Hoeffding trees with loose random parameters, which do, split
        early and have 256 leaves at the most. :func:`recommended_learners` with
        ``feedback="top-k"`` gives a list that ranks far better: it learns the relevance of the
        labels shown directly.
    n_estimators : int, default=100
        Number of weak learners.
    k : int, default=3
        Labels to show, from 2 to their number. In a problem of class labels with fewer classes
        than that all of them are shown.
    exploration : float, default=0.05
        Probability rho with which a row explores, in (0, 1]. Less exploration shows better labels,
        more of it makes estimates of less variance. It may change between calls: the record of what
        was shown has the propensities of its time. `score` is that of the greedy ranking: what
        exploring costs those who are shown its labels, a search by `score` does not see.
    randomization : {"uniform", "single-swap"}, default="uniform"
        What a row that explores shows: see :class:`~sklrank.feedback.UniformRandomization` and
        :class:`~sklrank.feedback.SingleSwapRandomization`.
    learning_rate : float or "theory", default="theory"
        The weights of the learners take steps of this over the root of the round. "theory":
        ``8 sqrt(2) rho / n_labels**2`` (line 13 of Algorithm 3), for which the bound on the loss
        is proved.
    gradient_clip : float or None, default=1.0
        The slopes of those steps are cut off at plus and minus this, as in the paper's experiments;
        None: they are not.
    propensity_clip : tuple of two floats, default=(0.005, 0.995)
        Bounds at which the propensities are cut off before they divide, as in the paper's
        experiments. A higher lower bound means less variance and more bias; (0, 1): no bias.
    max_features : int, float, {"sqrt", "log2"} or None, default=20
        Features that each weak learner sees, drawn once for each: a number (all, where there are
        fewer), a share of them, or all.
    max_iter : int, default=1
        Passes over the rows that `fit` makes.
    shuffle : bool, default=False
        Whether `fit` draws a new order of the rows for each pass.
    random_state : int, RandomState instance or None, default=None
        Decides what is shown, the features, the parameters of the default trees, the seeds of the
        weak learners, the draws of experts and the order of the rows. An int makes every result
        repeatable.
    verbose : int, default=0
        Above 0 a line is printed after every 1000 rounds.
    n_jobs : int or None, default=None
        Threads that share the weak learners while learning, and the rows while predicting; -1 for
        all processors. The model does not depend on it.

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
    TopKBBM : For learners of a known edge; all have one vote.
    AdaOLMR : Where all labels become known.

    Notes
    -----
    Parameters are read when a model is started, by `fit` or the first call of another method; `k`,
    `exploration`, `randomization`, `propensity_clip`, `n_jobs` and `verbose` at each call.

    References
    ----------
    .. [1] V. Raman, D. T. Zhang, Y. H. Jung and A. Tewari, "Online boosting for multilabel ranking
       with top-k feedback", 2020.

    Examples
    --------
    A user is shown three of eight labels, and tells which of them are relevant:

    >>> import numpy as np
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklrank.metrics import rank_loss
    >>> from sklrank.online_boosting import TopKAdaptive, recommended_learners
    >>> X, Y = make_multilabel_classification(1000, n_classes=8, random_state=0)
    >>> model = TopKAdaptive(
    ...     recommended_learners(feedback="top-k"), n_estimators=8, max_features=None, k=3,
    ...     exploration=0.2, random_state=0
    ... )
    >>> for rows in np.array_split(np.arange(500), 50):
    ...     shown = model.explore(X[rows], classes=range(8))
    ...     rewards = np.take_along_axis(Y[rows], shown.actions, axis=1)
    ...     model = model.partial_fit_feedback(X[rows], shown, rewards)

    The same in simulation, row by row:

    >>> scores = model.progressive_fit(X[500:], Y[500:])
    >>> bool(rank_loss(Y[500:], scores) < 0.15)
    True
    """

    _hedge = True
    _parameter_constraints: dict = {
        **TopKBooster._parameter_constraints,
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"theory"})],
        "gradient_clip": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        k: int = 3,
        exploration: float = 0.05,
        randomization: Literal["uniform", "single-swap"] = "uniform",
        learning_rate: float | Literal["theory"] = "theory",
        gradient_clip: float | None = 1.0,
        propensity_clip: tuple[float, float] = (0.005, 0.995),
        max_features: MaxFeatures = 20,
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
        self.learning_rate = learning_rate
        self.gradient_clip = gradient_clip
        self.propensity_clip = propensity_clip
        self.max_features = max_features
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _make_cost_rule(self, n_labels):
        rate = self.learning_rate
        if rate == "theory":
            # Raman et al. 2020, Algorithm 3, line 13: eta_t, less its factor 1 / sqrt(t).
            rate = 8 * 2**0.5 * self.exploration / n_labels**2
        clip = float("inf") if self.gradient_clip is None else self.gradient_clip
        return LogisticCosts(n_labels, self.n_estimators, rate, clip)
