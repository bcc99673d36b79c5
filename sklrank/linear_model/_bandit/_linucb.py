"""LinUCBClassifier."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Literal

import numpy as np

from sklrank._estimators import (
    HasMethods,
    Interval,
    StrOptions,
    draw_frequencies,
    shares_text,
    unchanged_on_error,
)
from sklrank._online import of_exploring, of_online
from sklrank._typing import ExplorationRate
from sklrank.feedback import DecayingExploration, SelfTunedExploration
from sklrank.feedback._protocol import SCHEDULES
from sklrank.linear_model._bandit._base import TEXTS, BaseBanditClassifier
from sklrank.linear_model._bandit._linucb_model import DiagonalLinUCB, FullLinUCB, SharedLinUCB
from sklrank.linear_model._regression._estimators import DRIFT_TEXT

# The compiled model for each value of `covariance`.
COVARIANCES = {"full": FullLinUCB, "diagonal": DiagonalLinUCB}
# Random features, if "auto": as many as make the matrices of all classes as large as this, which is
# a fifth of a millisecond for each sample, and at most 200. With many classes or features, fewer
# are better, too: each class is shown too rarely to learn the weights of more.
MATRIX_ENTRIES = 500_000
MAX_COMPONENTS = 200
# Most features that are centered with "diagonal" covariances. To center makes all entries nonzero,
# and hashed texts, which have more features, would take hundreds of times as long.
MAX_CENTERED = 4096
# Rounding errors grow with the square of these features: from 1e6 on, scores may be NaN.
MAX_ITEM_FEATURE = 10_000
# Exploration, if "auto", for the schemes that draw classes by it alone. It was chosen on vowel,
# car, balance, mice_protein, satimage and optdigits, where twice as much usually has more mistakes.
EXPLORATIONS = {"inverse-gap": DecayingExploration(0.5, scale=0.25), "thompson": 0.25}
# The `bonus` and the largest `alpha` used if "auto", for each `covariance` and kernel. They have
# nearly the fewest mistakes on balance, car, nursery, shuttle, vowel, letter, pendigits, satimage,
# optdigits and mice_protein: three times or a third of `alpha` has more of them on most sets.
AUTO = {
    ("full", "linear"): (0.9, 0.2),
    ("full", "rbf"): (0.6, 0.15),
    ("diagonal", "linear"): (3.0, 0.4),
    ("diagonal", "rbf"): (3.0, 0.4),
}


@of_online
@of_exploring
@shares_text(**TEXTS, drift=DRIFT_TEXT)
class LinUCBClassifier(BaseBanditClassifier):
    r"""Classifier that learns from bandit feedback by upper confidence bounds (LinUCB).

    In each round, the classifier shows one class and observes only whether this class is correct.
    The reward :math:`r_t` of round t is 1 if the class shown is correct, and 0 otherwise. Each
    class k has a ridge regression of the reward on the features. Let :math:`S_k` be the set of
    rounds in which class k was shown, and :math:`\alpha` the L2 penalty. Then the regression has
    the matrix :math:`A_k` and the weights :math:`w_k`,

    .. math:: A_k = \alpha I + \sum_{t \in S_k} x_t x_t^T, \qquad
              w_k = A_k^{-1} \sum_{t \in S_k} r_t x_t.

    The class shown is the class with the largest upper confidence bound, which is the sum of the
    estimated reward and a multiple of its standard error (LinUCB with disjoint linear models [1]_,
    Algorithm 1):

    .. math:: \arg\max_k \; w_k \cdot x + \beta s \sqrt{x^T A_k^{-1} x}.

    The factor :math:`\beta` is the parameter `bonus`. The standard deviation s of the errors of the
    regressions is 1 in [1]_. Here, it is estimated from the previous rounds, later ones with larger
    weights, so that exploration decreases as the estimates become accurate. On dense data, LinUCB
    usually makes far fewer mistakes than :class:`BanditronClassifier`.

    Samples are standardized by the statistics of the samples so far: each feature is centered,
    clipped at plus and minus `clip` standard deviations, and divided by its range after clipping,
    so that results do not depend on its unit. Then samples are divided by their root mean squared
    norm. With "diagonal" covariances, samples of more than 4096 features are only divided by this
    norm, so that sparse ones remain sparse. Arrays and sparse matrices give the same model.

    With the "rbf" kernel, the default, the regressions also use random Fourier features [2]_, which
    approximate a Gaussian kernel, so that the model can learn rewards that are not linear in the
    features. After n rounds, they are multiplied by ``sqrt(n / (n + 100))``, so that the model is
    nearly linear as long as there are few samples, and `bonus` by ``1 + 50 / (n + 100)``.

    Let m be the number of features of the regressions, with the `n_components` of the "rbf" kernel.
    The cost of a round is proportional to ``n_classes * m**2`` for "full" and ``n_classes * m`` for
    "diagonal" covariances.

    {protocol}

    Parameters
    ----------
    covariance : {"full", "diagonal"}, default="full"
        Part of each matrix :math:`A_k` to store: all of its ``m**2`` entries, or the diagonal,
        whose inverse takes the place of :math:`A_k^{-1}`. "diagonal" is recommended for many
        features.
    kernel : {"auto", "linear", "rbf"}, default="auto"
        Features of the regressions: the standardized features ("linear"), or these and random
        features of a Gaussian kernel ("rbf"). "auto" is "rbf" for samples that are standardized,
        with "full" covariances and without `item_features`, and else "linear".
    n_components : int or "auto", default="auto"
        Number of random features for the "rbf" kernel. If "auto", it is 200, or fewer so that
        ``n_classes * m**2`` is at most 500,000: with many classes or features 0, a linear model.
    gamma : float, default=0.5
        Coefficient of the "rbf" kernel ``exp(-gamma * |z - z'|**2 / d)`` of `d` features that are
        centered, divided by their standard deviations and clipped at plus and minus `clip`. The
        value 1 corresponds to ``gamma="scale"`` in scikit-learn.
    bonus : float or "auto", default="auto"
        Factor :math:`\beta` of the standard error. See Notes for "auto".
    alpha : float or "auto", default="auto"
        L2 penalty :math:`\alpha` of the regressions, at least 1e-10, for samples whose mean squared
        norm is one. See Notes for "auto".
    clip : float or None, default=5.0
        Number of standard deviations from the mean of a feature at which values are clipped;
        smaller ones suit heavy tails. If None, samples are only divided by their root mean squared
        norm, and there is no "rbf" kernel.
    drift_threshold : float or None, default=25.0
        Threshold of the test for concept drift, see Notes. The losses are the squared errors of the
        predicted rewards. If None, there is no test.
    item_features : mapping, callable or None, default=None
        Features of the classes, such as the topics and the age of an article: an array of numbers
        of the order of one, at most 10,000, for each class label, all of the same length. Then all
        classes share one regression, see Notes. Requires "full" covariances.
    exploration : float, str, SelfTunedExploration or callable, default="auto"
        Amount of exploration beyond that of the confidence bounds: a number from 0 to 1, or a
        schedule, as in :class:`BanditronClassifier`. If "auto", it is ``t ** (-1 / 2) / 4`` in
        round t for "inverse-gap", 1/4 for "thompson" and functions, and 0 for others.
    randomization : str or callable, default="uniform"
        Scheme of :func:`sklrank.feedback.explore`, which draws the class to show by the confidence
        bounds, see Notes. With "uniform" and no exploration, that of the largest bound is shown,
        with the propensity 1.
    fit_intercept : bool, default=True
        Whether to add a constant feature. If False, samples are only divided by their root mean
        squared norm. The "rbf" kernel requires True.
    {max_iter}
    random_state : int, RandomState instance or None, default=None
        Controls the order of the samples in `fit`, the random draws of the classes to show, and the
        random features of the "rbf" kernel.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the features in their original units: the scores of samples without clipped
        values are ``X @ coef_.T + intercept_``. For two classes, the difference between those of
        the second and the first class. Not defined for the "rbf" kernel.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Intercepts; zero if `fit_intercept` is False. Not defined for the "rbf" kernel.
    n_drifts_ : int
        Number of concept drifts detected.
    {rounds}

    See Also
    --------
    BanditronClassifier : Classifier with first-order updates and a choice of mirror maps.
    sklrank.online_boosting.TopKBBM : Booster that shows several labels for each sample.
    OnlineRidgeClassifier : Classifier that learns from known classes.

    {classes_come_and_go}

    The weights :math:`w_k` are updated recursively. With "full", they are the exact solution of the
    ridge regression for the samples :math:`x_t`, each scaled by the statistics up to round t.

    If "auto", `bonus` and `alpha` are

    ==========  ========  =====  =====
    covariance  kernel    bonus  alpha
    ==========  ========  =====  =====
    "full"      "linear"  0.9    0.2
    "full"      "rbf"     0.6    0.15
    "diagonal"  "linear"  3      0.4
    "diagonal"  "rbf"     3      0.4
    ==========  ========  =====  =====

    With "full", `alpha` is at most ``500 / (n_classes * n_features)``, so that the samples of 500
    rounds outweigh the penalty. The constant feature of the intercept is 1/4 with "full" and 1/2
    with "diagonal" covariances: a penalty of ``16 * alpha`` or ``4 * alpha`` on the intercept.

    {drift}

    With `item_features`, the regression has the products of each feature of the sample and each of
    the class (and constants), the shared part of the hybrid model of [1]_. So a new class, whose
    features are read when it is added, is shown as classes with such features were received. The
    cost of a round is proportional to the square of the number of products.

    If each class must have a positive propensity, use ``randomization="inverse-gap"``: it makes
    about as few mistakes as the default, and draws the other classes in inverse proportion to the
    gaps between the bounds (as SquareCB [4]_ does with the estimated rewards). "uniform" with an
    exploration above 0 is epsilon-greedy. "thompson" is Thompson sampling: the class of the largest
    estimated reward after noise, whose standard deviation is `exploration` times the difference
    between the bound and the reward.

    References
    ----------
    .. [1] L. Li, W. Chu, J. Langford and R. E. Schapire, "A contextual-bandit approach to
       personalized news article recommendation", WWW 2010.
    .. [2] Rahimi and Recht, "Random features for large-scale kernel machines", NIPS 2007.
    .. [3] Page, "Continuous inspection schemes", Biometrika 41, 1954.
    .. [4] D. J. Foster and A. Rakhlin, "Beyond UCB: optimal and efficient contextual bandits with
       regression oracles", ICML 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklrank.linear_model import LinUCBClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LinUCBClassifier(random_state=0).partial_fit(X, y)
    >>> print(f"{model.error_rate_:.1f} of the digits shown were wrong")
    0.1 of the digits shown were wrong

    Real feedback may arrive later:

    >>> shown = model.explore(X[:3])
    >>> rewards = y[:3] == model.classes_[shown.actions]
    >>> model.partial_fit_feedback(X[:3], shown, rewards).n_rounds_
    1800
    """

    _parameter_constraints: dict = {
        **BaseBanditClassifier._parameter_constraints,
        "covariance": [StrOptions(set(COVARIANCES))],
        "kernel": [StrOptions({"auto", "linear", "rbf"})],
        "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "exploration": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions({*SCHEDULES, "auto"}),
            SelfTunedExploration,
            callable,
        ],
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "bonus": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        # If features are collinear, rounding errors would outweigh a smaller penalty.
        "alpha": [Interval(Real, 1e-10, None, closed="left"), StrOptions({"auto"})],
        "clip": [Interval(Real, 0, None, closed="neither"), None],
        "drift_threshold": [Interval(Real, 0, None, closed="neither"), None],
        "item_features": [HasMethods(["keys", "__getitem__"]), callable, None],
    }

    def __init__(
        self,
        *,
        covariance: Literal["full", "diagonal"] = "full",
        kernel: Literal["auto", "linear", "rbf"] = "auto",
        n_components: int | Literal["auto"] = "auto",
        gamma: float = 0.5,
        bonus: float | Literal["auto"] = "auto",
        alpha: float | Literal["auto"] = "auto",
        clip: float | None = 5.0,
        drift_threshold: float | None = 25.0,
        item_features: Mapping | Callable | None = None,
        exploration: ExplorationRate | Literal["auto"] = "auto",
        randomization: str | Callable[..., np.ndarray] = "uniform",
        fit_intercept: bool = True,
        max_iter: int = 5,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.covariance = covariance
        self.kernel = kernel
        self.n_components = n_components
        self.gamma = gamma
        self.bonus = bonus
        self.alpha = alpha
        self.clip = clip
        self.drift_threshold = drift_threshold
        self.item_features = item_features
        self.exploration = exploration
        self.randomization = randomization
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state

    def _make_model(self, classes, random_state):
        n_classes, items = len(classes), self._item_table(classes)
        n_features = self.n_features_in_
        standardize = self.clip is not None and self.fit_intercept
        if self.covariance == "diagonal" and self.kernel != "rbf":
            standardize = standardize and n_features <= MAX_CENTERED
        if self.kernel == "rbf" and not standardize:
            raise ValueError(
                "kernel='rbf' requires standardized samples: set clip to a number and "
                "fit_intercept=True, or use kernel='linear'"
            )
        kernel = self.kernel
        if kernel == "auto":
            curved = standardize and self.covariance == "full" and items is None
            kernel = "rbf" if curved else "linear"
        n_components = self.n_components
        if n_components == "auto":
            # The matrix of a shared regression has a row for each pair of features.
            n_matrices = n_classes if items is None else items.shape[1] ** 2
            n_components = int((MATRIX_ENTRIES / n_matrices) ** 0.5) - n_features - 1
            n_components = max(0, min(n_components, MAX_COMPONENTS))
        if kernel == "linear" or n_components == 0:
            kernel, n_components = "linear", 0
        bonus, alpha = AUTO[self.covariance, kernel]
        # The bound was chosen on 26 generated classes in 617 columns, where a tenth to a third of
        # alpha is best. It lowers alpha only if there are thousands of weights. Diagonals gain
        # nothing.
        if self.covariance == "full":
            alpha = min(alpha, 500 / ((n_classes if items is None else 1) * n_features))
        make = COVARIANCES[self.covariance]
        return (make if items is None else partial(SharedLinUCB, items))(
            n_features,
            n_classes,
            n_features + n_components + self.fit_intercept,
            alpha if self.alpha == "auto" else self.alpha,
            bonus if self.bonus == "auto" else self.bonus,
            self.clip if standardize else 0.0,
            *draw_frequencies(n_features, n_components, self.gamma, random_state),
            self.drift_threshold,
        )

    def _item_table(self, classes):
        """Return the features of the classes, and a constant, or None if there are none."""
        if self.item_features is None:
            return None
        if self.covariance != "full":
            raise ValueError("item_features require covariance='full'")
        features_of = self.item_features
        features_of = features_of if callable(features_of) else features_of.__getitem__
        rows = []
        for name in classes.tolist():
            try:
                rows.append(np.asarray(features_of(name), dtype=np.float64).ravel())
            except (LookupError, TypeError, ValueError) as error:
                raise ValueError(f"item_features have no array for class {name!r}") from error
        largest = np.abs(np.concatenate(rows)).max(initial=0.0)
        if len({len(row) for row in rows}) > 1 or not np.isfinite(largest):
            raise ValueError("item_features must have as many finite numbers for each class")
        if largest > MAX_ITEM_FEATURE:
            raise ValueError(
                f"item_features must be numbers from {-MAX_ITEM_FEATURE} to {MAX_ITEM_FEATURE}, "
                f"got one of the size {largest:g}: scale them to the order of one"
            )
        return np.column_stack([np.array(rows), np.ones(len(rows))])

    def _set_classes(self, classes, labels):
        items, has_items = self._item_table(classes), isinstance(self._rounds.model, SharedLinUCB)
        if has_items != (items is not None) and (min(labels) < 0 or not has_items):
            raise ValueError(
                "item_features of the model were set or removed after it had started: restore them "
                "before labels change, or call fit"
            )
        with unchanged_on_error(self, draws=False):
            super()._set_classes(classes, labels)
            if items is not None:
                self._rounds.model.set_items(items)

    def _start_exploring(self):
        super()._start_exploring()
        if isinstance(self.exploration, str) and self.exploration == "auto":
            is_function = callable(self.randomization)
            self._exploration = 0.25 if is_function else EXPLORATIONS.get(self.randomization, 0.0)

    @property
    def n_drifts_(self) -> int:
        """Number of concept drifts detected."""
        return self._fitted("_rounds").model.drift_test.n_drifts

    def _weights(self, name):
        if self._fitted("_rounds").model.n_components:
            raise AttributeError(
                f"{name} is not available for models with the kernel 'rbf', whose weights are "
                "those of random features: use kernel='linear'"
            )
        return super()._weights(name)
